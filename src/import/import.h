// import.h - bytes of other formats to graphs and tensors.
#ifndef HOLO_IMPORT_H
#define HOLO_IMPORT_H

#include "graph/graph.h"

// What a model says of itself. Strings live in the arena of the import.
typedef struct HoloModelMeta {
    const char *key, *value;
    bool        is_own; // the author put it in; else it is the format's own key, "producer" for example
} HoloModelMeta;

typedef struct HoloModelSource {
    HoloGraph     *graph;
    const char    *format; // "ONNX": the name of its importer
    int            meta_count, meta_room;
    HoloModelMeta *meta;
    uint64_t       bytes; // of all its files
    uint64_t
        hash[2];    // XXH3-128 of the model's file, not of what it refers to; of a folder, of all files that were read
    int file_count; // mapped files, for holo_import_close
    struct HoloMapping **files;
} HoloModelSource;

// Reads the model at a path, a file or a folder, of whatever format. Weights stay in the mapped files where their form allows.
// The source is closed with holo_import_close after the graph is no longer used.
HOLO_MUST HoloStatus holo_import_open(HoloArena *arena, const char *path, HoloModelSource *out, HoloError *error);
// The same from bytes, which must stay. A model that refers to other files is refused.
HOLO_MUST HoloStatus holo_import_memory(HoloArena *arena, const void *bytes, size_t size, HoloModelSource *out,
                                        HoloError *error);
void                 holo_import_close(HoloModelSource *source);

// What stands at a path, or in bytes: a row of the table of importers (importer.h). NULL: nothing that is known.
typedef struct HoloImporter HoloImporter;
HOLO_MUST HoloStatus        holo_import_find(const char *path, const HoloImporter **out, HoloError *error);
const HoloImporter         *holo_import_find_memory(const void *bytes, size_t size);
const char                 *holo_importer_name(const HoloImporter *importer);     // "ONNX", "text"; NULL of NULL
bool                        holo_importer_is_model(const HoloImporter *importer); // if it can be read or not
// In words what it is, and what to do about it: "gzip-compressed data: unpack it first".
typedef struct HoloFormWords {
    char text[256];
} HoloFormWords;
HoloFormWords holo_importer_words(const HoloImporter *importer);

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
