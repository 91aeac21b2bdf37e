// gguf_model.h - a model in GGUF files: what the gguf_*.c files of this folder share.
//
// gguf_model.c opens the files and builds the graph. gguf_types.c knows the types of tensors, gguf_names.c what tensors
// are called, gguf_config.c what metadata mean, gguf_architectures.c the architectures. Families (src/models/) describe
// the models themselves, with the names and layouts of their authors; what GGUF files do otherwise is known here alone.
#ifndef HOLO_IMPORT_GGUF_MODEL_H
#define HOLO_IMPORT_GGUF_MODEL_H

#include "format/blocks.h"
#include "import/importer.h"
#include "import/wire/gguf.h"
#include "models/families.h"

typedef struct HoloGgufModel HoloGgufModel;

// ---- tensors

typedef struct HoloGgufWeight {
    struct HoloGgufWeight *next; // in the order of the files
    const HoloGgufTensor  *tensor;
    HoloDtype              dtype;     // f32, if it is in blocks
    const HoloBlockType   *blocks;    // NULL: elements lie one by one
    int64_t                row_bytes; // of the last dimension
    const void            *data;      // aligned
    bool                   is_used;
} HoloGgufWeight;

// The type of a tensor, and that all its bytes are there. `file` is for errors.
HOLO_MUST HoloStatus holo_gguf_weight_init(HoloImport *import, const char *file, const HoloGgufTensor *tensor,
                                           HoloGgufWeight *out);

typedef enum HoloGgufPart { // which part of a tensor a name stands for
    HOLO_GGUF_WHOLE,
    HOLO_GGUF_ITEM,    // of a stack: the one with the second number of the name
    HOLO_GGUF_FIRST,   // the first half of such an item,
    HOLO_GGUF_SECOND,  // and the other
    HOLO_GGUF_QUERIES, // of queries, keys and values, which lie behind one another
    HOLO_GGUF_KEYS,
    HOLO_GGUF_VALUES,
} HoloGgufPart;

typedef struct HoloGgufName {
    const char  *wanted; // by a family, without ".weight" or ".bias"; # is a number
    const char  *tensor; // the name in the file; # is the same number
    HoloGgufPart part;
    int          rank, one_at; // with fewer dimensions than rank, one of size 1 is added there
} HoloGgufName;

// Finds a weight by the name that a family has for it: HoloFamilyRequest.weight.
bool            holo_gguf_weight(void *model, const char *name, HoloFamilyWeight *out);
HoloGgufWeight *holo_gguf_weight_find(const HoloGgufModel *model, const char *tensor); // NULL: there is none

// ---- architectures

typedef struct HoloGgufFixed { // a key of the config that follows from the architecture
    const char *key;
    double      value;
} HoloGgufFixed;

typedef struct HoloGgufArchitecture {
    const char          *name;                  // general.architecture
    const char          *family, *graph;        // of src/models/: "llama", "LlamaForCausalLM"
    const HoloGgufName  *names;                 // its own; NULL: only the common ones
    const HoloGgufFixed *fixed;                 // NULL: nothing
    bool (*fits)(const HoloGgufModel *model);   // NULL: always. Of rows with one name the first that fits is taken
    HoloStatus (*config)(HoloGgufModel *model); // adds what must be computed; NULL: nothing
} HoloGgufArchitecture;

extern const HoloGgufArchitecture holo_gguf_architectures[]; // ends with a row without a name
extern const HoloGgufName         holo_gguf_common_names[];

struct HoloGgufModel {
    HoloImport                 *import;
    HoloGguf                    file; // the first, which has the metadata
    const char                 *architecture_name;
    const HoloGgufArchitecture *architecture;
    HoloNameMap                 weights; // to HoloGgufWeight
    HoloGgufWeight             *first, *last;
    HoloAttr                   *config;
    int                         config_count, config_room;
    int64_t                     heads, key_heads, head_size; // 0: unknown
};

// ---- config

// The value of a key of the architecture: "block_count" is "llama.block_count". NULL: there is none.
const HoloGgufValue *holo_gguf_own(const HoloGgufModel *model, const char *key);
// The number of such a key; `otherwise` if there is none.
int64_t holo_gguf_own_int(const HoloGgufModel *model, const char *key, int64_t otherwise);
double  holo_gguf_own_real(const HoloGgufModel *model, const char *key, double otherwise);

// Add a key to the config. One that is there already stays as it is.
HOLO_MUST HoloStatus holo_gguf_put_int(HoloGgufModel *model, const char *key, int64_t value);
HOLO_MUST HoloStatus holo_gguf_put_real(HoloGgufModel *model, const char *key, double value);
HOLO_MUST HoloStatus holo_gguf_put_text(HoloGgufModel *model, const char *key, const char *value);
HOLO_MUST HoloStatus holo_gguf_config(HoloGgufModel *model); // the whole config, from the metadata

#endif
