// importer.h - what an importer is, and what all importers share. docs/adding-an-importer.md shows how to write one.
//
// A format is a folder, src/import/FORMAT/, with a table `holo_importers_FILE` in one of its files. The build lists the
// tables; nothing else has to know a format. The contents of a model tell its format, never its name.
#ifndef HOLO_IMPORT_IMPORTER_H
#define HOLO_IMPORT_IMPORTER_H

#include "base/system.h"
#include "import/import.h"
#include "import/name_map.h"

// What may be a model: the bytes of a file, or the names in a folder.
typedef struct HoloOffer {
    const char *path; // NULL: the bytes are not in a file
    bool        is_folder;
    HoloMapping file;  // its bytes
    HoloFolder  names; // of a folder
} HoloOffer;

// Does the file have these bytes there?
bool holo_offer_has_bytes(const HoloOffer *offer, size_t offset, const char *bytes);
// Does the file begin as text does, without control characters?
bool holo_offer_is_text(const HoloOffer *offer);
// Does the text occur in the first, or in the last, kilobytes of the file?
bool holo_offer_mentions(const HoloOffer *offer, const char *text);
// Does the folder have a file of this name?
bool holo_offer_has_name(const HoloOffer *offer, const char *name);
// Reads the first bytes of a file of the folder, or below it ("unet/config.json"), at most `room`. Returns how many; 0:
// it cannot be read.
size_t holo_offer_peek(const HoloOffer *offer, const char *name, void *out, size_t room);

typedef enum HoloSniff {
    HOLO_SNIFF_NONE    = 0,
    HOLO_SNIFF_PERHAPS = 1, // possible: it is tried if no other is sure
    HOLO_SNIFF_SURE    = 2,
} HoloSniff;

// An import in progress. Its memory lives as long as the model.
typedef struct HoloImport {
    HoloArena       *arena;
    HoloError       *error;
    const HoloOffer *from;
    HoloModelSource *out; // to fill in: the graph, and facts by holo_import_fact and holo_import_own; NULL: not a model
    const HoloToldInput *told; // what the user says of inputs
    int                  told_count;
    bool                 is_wide; // compute in f32, where weights of 16 bits would ask for 16 bits
    HoloNameMap          files;   // name to HoloMapping
    size_t               copied;  // bytes of tensors that could not be borrowed
    size_t               copied_max;
} HoloImport;

struct HoloImporter {
    const char *name;   // a short one: "ONNX"
    const char *words;  // "an ONNX model"
    const char *advice; // what to do with a file that nothing opens; NULL: there is nothing to say
    const char *magic;  // bytes that identify it; NULL: `sniff` decides
    size_t      magic_at;
    bool        is_model;
    HoloSniff (*sniff)(const HoloOffer *offer);
    HoloStatus (*open)(HoloImport *import); // NULL: the format is known, but cannot be read
};

// The tables of all files of src/import/, each ended by a row without a name. Ends with NULL.
extern const HoloImporter *const holo_importer_tables[];

// ---- what `open` may use

// Maps a file beside the model's own, or in its folder, for as long as the model is open. Names cannot lead elsewhere.
HOLO_MUST HoloStatus holo_import_map(HoloImport *import, HoloString name, HoloMapping **out);
char                *holo_import_text(HoloImport *import, HoloString text); // a copy with a 0 behind it; NULL: no
                                                                            // memory
// Adds a graph that runs under a name. An importer of one graph without a name may just set it.
HOLO_MUST HoloStatus holo_import_entry(HoloImport *import, const char *name, HoloGraph *graph);
// What the file says about the model with its format's own keys, such as "producer". Empty values are left out.
HOLO_MUST HoloStatus holo_import_fact(HoloImport *import, const char *key, const char *value);
// What the author of the model added.
HOLO_MUST HoloStatus holo_import_own(HoloImport *import, const char *key, const char *value);

// Sets how much may be copied for an import of so many bytes: a small file cannot ask for much memory.
void holo_import_limit(HoloImport *import, size_t size);
// Memory for a tensor that cannot be borrowed, within that limit. `name` is for the error.
HOLO_MUST HoloStatus holo_import_take(HoloImport *import, HoloString name, int64_t count, size_t size, void **out);
// How many bytes `count` elements take in a file. Elements of fewer than 8 bits are packed. The number is known to fit.
uint64_t holo_import_stored(HoloDtype dtype, int64_t count);
// Sets the data of a tensor, whose type and sizes are set, from little-endian bytes: borrows them if aligned, else
// copies.
HOLO_MUST HoloStatus holo_import_bytes(HoloImport *import, HoloString name, const void *bytes, int64_t count,
                                       HoloTensor *out);
// Unpacks elements of fewer than 8 bits, from the low bits of a byte on, to one byte each.
HOLO_MUST HoloStatus holo_import_unpack(HoloImport *import, HoloString name, const uint8_t *bytes, int64_t count,
                                        HoloTensor *out);

#define HOLO_IMPORT_ARG(s) (int)((s).size < 200 ? (s).size : 200), (s).size ? (s).data : "" // for "%.*s"

#endif
