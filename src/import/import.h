// import.h - bytes of other formats to graphs and tensors.
#ifndef HOLO_IMPORT_H
#define HOLO_IMPORT_H

#include "graph/graph.h"

// What a model file says of itself. Strings live in the arena of the import.
typedef struct HoloModelSource {
    HoloGraph  *graph;
    const char *format;   // "ONNX"
    const char *producer; // "pytorch 2.1"
    const char *model_name, *description;
    int64_t     ir_version;
    int         opset_count;
    struct {
        const char *domain;
        int64_t     version;
    } opset[32];
    int meta_count; // metadata_props
    struct {
        const char *key, *value;
    } * meta;
    uint64_t             bytes;      // of the model file and its external data
    uint64_t             hash[2];    // XXH3-128 of the model file (not of external data)
    int                  file_count; // mapped files: the model and its external data, for holo_import_close
    struct HoloMapping **files;
} HoloModelSource;

// Reads an ONNX model. Weights stay in the mapped files where their form allows. The source is closed
// with holo_import_close after the graph is no longer used.
HOLO_MUST HoloStatus holo_import_onnx(HoloArena *arena, const char *path, HoloModelSource *out, HoloError *error);
// The same from bytes, which must stay; external data is looked for in `folder` (NULL: refused).
HOLO_MUST HoloStatus holo_import_onnx_memory(HoloArena *arena, const void *bytes, size_t size, const char *folder,
                                             HoloModelSource *out, HoloError *error);
void                 holo_import_close(HoloModelSource *source);

// In words, what bytes look like that are neither protobuf nor text of a known form; NULL: nothing known.
const char *holo_import_looks_like(const void *bytes, size_t size);
bool        holo_import_is_text(const void *bytes, size_t size);
bool holo_import_is_onnx(const void *bytes, size_t size); // a model; not its graph's contents, which are not read

// A serialized TensorProto, SequenceProto, OptionalProto or MapProto, as the type wanted says.
// `want` gives the kind (and dtype, where kind is not HOLO_TENSOR). Data is in the arena or the bytes.
HOLO_MUST HoloStatus holo_import_pb(HoloArena *arena, const void *bytes, size_t size, const HoloTensor *want,
                                    HoloTensor *out, const char **out_name, HoloError *error);

// Text of numbers, in rows or not, as one tensor: of the type and shape of `want`, with its open sizes found from how many numbers
// there are; where that is NULL, or its rank is not known, as they stand in rows. A first line of words is left out.
HOLO_MUST HoloStatus holo_import_numbers(HoloArena *arena, const void *bytes, size_t size, const HoloTensor *want,
                                         HoloTensor *out, HoloError *error);

// NumPy's formats. Data is in the arena or borrowed from the bytes (when aligned).
HOLO_MUST HoloStatus holo_npy_read(HoloArena *arena, const void *bytes, size_t size, HoloTensor *out, HoloError *error);
typedef struct HoloNpzEntry {
    const char                *name; // without ".npy"
    HoloTensor                 tensor;
    const struct HoloZipEntry *file; // where its data is still to be read; NULL: it is there
} HoloNpzEntry;
// The names and types alone: nothing is inflated but headers. Then the data of those that are wanted.
HOLO_MUST HoloStatus holo_npz_open(HoloArena *arena, const void *bytes, size_t size, HoloNpzEntry **out, int *out_count,
                                   HoloError *error);
HOLO_MUST HoloStatus holo_npz_load(HoloArena *arena, HoloNpzEntry *entry, HoloError *error);
// Writes a temporary file and renames it.
HOLO_MUST HoloStatus holo_npy_write(const char *path, const HoloTensor *tensor, HoloError *error);

#endif
