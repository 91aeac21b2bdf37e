// import.h - reads other formats as graphs and tensors.
#ifndef HOLO_IMPORT_H
#define HOLO_IMPORT_H

#include "graph/graph.h"

// What a model says about itself. Strings are in the arena of the import.
typedef struct HoloModelMeta {
    const char *key, *value;
    bool        is_own; // the author added it; else it is a key of the format, such as "producer"
} HoloModelMeta;

// A graph that callers run under a name. Most models have one, without a name.
typedef struct HoloModelEntry {
    const char *name;
    HoloGraph  *graph;
} HoloModelEntry;

typedef struct HoloModelSource {
    HoloGraph      *graph; // of the first entry
    HoloModelEntry *entries;
    int             entry_count, entry_room;
    const char     *format; // "ONNX": the name of its importer
    int             meta_count, meta_room;
    HoloModelMeta  *meta;
    uint64_t        bytes; // of all its files
    uint64_t hash[2];      // XXH3-128 of the model's file without others it refers to; for a folder, of all files read
    int      file_count;   // mapped files, for holo_import_close
    struct HoloMapping **files;
} HoloModelSource;

// What the user says of an input: its name and sizes, -1 where they stay open. For formats that do not tell.
typedef struct HoloToldInput {
    const char *name;
    HoloTensor  type; // rank and sizes
} HoloToldInput;

typedef struct HoloImportRequest {
    const char          *path; // of a file or a folder; NULL: it is `bytes`, which must stay
    const void          *bytes;
    size_t               size;
    const HoloToldInput *told;
    int                  told_count;
    bool is_wide; // a model whose weights are of 16 bits computes in f32, if the format leaves that open
} HoloImportRequest;
HOLO_MUST HoloStatus holo_import_request(HoloArena *arena, const HoloImportRequest *request, HoloModelSource *out,
                                         HoloError *error);
// Reads the model at a path, a file or a folder, in any format. Weights stay in the mapped files if their form allows
// it. Close the source by holo_import_close when the graph is no longer used.
HOLO_MUST HoloStatus holo_import_open(HoloArena *arena, const char *path, HoloModelSource *out, HoloError *error);
// The same from bytes, which must stay. A model that refers to other files is refused.
HOLO_MUST HoloStatus holo_import_memory(HoloArena *arena, const void *bytes, size_t size, HoloModelSource *out,
                                        HoloError *error);
void                 holo_import_close(HoloModelSource *source);

// What is at a path, or in bytes: a row of the table of importers (importer.h). NULL: nothing known.
typedef struct HoloImporter HoloImporter;
HOLO_MUST HoloStatus        holo_import_find(const char *path, const HoloImporter **out, HoloError *error);
const HoloImporter         *holo_import_find_memory(const void *bytes, size_t size);
const char                 *holo_importer_name(const HoloImporter *importer);     // "ONNX", "text"; NULL for NULL
bool                        holo_importer_is_model(const HoloImporter *importer); // whether it can be read or not
// What it is, and what to do about it: "gzip-compressed data: unpack it first".
typedef struct HoloFormWords {
    char text[256];
} HoloFormWords;
HoloFormWords holo_importer_words(const HoloImporter *importer);

// A serialized TensorProto, SequenceProto, OptionalProto or MapProto. `want` says which: it gives the kind, and the
// dtype if the kind is not HOLO_TENSOR. Data is in the arena or the bytes.
HOLO_MUST HoloStatus holo_import_pb(HoloArena *arena, const void *bytes, size_t size, const HoloTensor *want,
                                    HoloTensor *out, const char **out_name, HoloError *error);

// Numbers as text, in rows or not, as one tensor with the type and shape of `want`. Open sizes follow from how many
// numbers there are. If `want` is NULL, or its rank is unknown, the shape follows from the rows. A first line of words
// is skipped.
HOLO_MUST HoloStatus holo_import_numbers(HoloArena *arena, const void *bytes, size_t size, const HoloTensor *want,
                                         HoloTensor *out, HoloError *error);

// NumPy's formats. Data is in the arena, or borrowed from the bytes if aligned.
HOLO_MUST HoloStatus holo_npy_read(HoloArena *arena, const void *bytes, size_t size, HoloTensor *out, HoloError *error);
typedef struct HoloNpzEntry {
    const char                *name; // without ".npy"
    HoloTensor                 tensor;
    const struct HoloZipEntry *file; // where its data is still to be read from; NULL: it is read
} HoloNpzEntry;
// First reads only names and types: nothing but headers is inflated. Then reads the data that is wanted.
HOLO_MUST HoloStatus holo_npz_open(HoloArena *arena, const void *bytes, size_t size, HoloNpzEntry **out, int *out_count,
                                   HoloError *error);
HOLO_MUST HoloStatus holo_npz_load(HoloArena *arena, HoloNpzEntry *entry, HoloError *error);
// Writes a temporary file and renames it.
HOLO_MUST HoloStatus holo_npy_write(const char *path, const HoloTensor *tensor, HoloError *error);

#endif
