// families.h - builds graphs of models that come as weights and a description without a graph.
//
// A family is a text in this folder, NAME.family, in the language of docs/model-families.md. It says what the config
// may contain, what the weights are called, and how they form the graph. The build puts the texts into the library.
// This room does not know from which format the weights come.
#ifndef HOLO_MODELS_FAMILIES_H
#define HOLO_MODELS_FAMILIES_H

#include "graph/graph.h"

typedef struct HoloFamilyWeight {
    HoloTensor  tensor;    // its type and sizes; its data, which is borrowed
    const char *blocks;    // the type of its blocks (format/blocks.h), row after row. NULL: elements lie one by one
    int64_t     row_bytes; // of blocks; a row is the last size of the tensor, whose type is f32 then
} HoloFamilyWeight;

typedef struct HoloFamilyRequest {
    const char     *family;       // "bert"; NULL: only the architecture is known
    const char     *architecture; // "BertForMaskedLM", which includes the head; NULL: the family's first
    const HoloAttr *config;       // numbers, texts and lists of whole numbers by name; nested ones are "outer.inner"
    int             config_count;
    // Of the weights, and so of constants with a point and of inputs of type `float`. If it is f32, floats of other
    // types, and blocks, are read as f32.
    HoloDtype dtype;
    // Finds a weight by name. False: there is none.
    bool (*weight)(void *context, const char *name, HoloFamilyWeight *out);
    void *context;
} HoloFamilyRequest;

enum { HOLO_FAMILY_ENTRIES = 8 };

// The graphs of a model. The first has no name; most models have no other.
typedef struct HoloFamilyModel {
    int count;
    struct {
        const char *name;
        HoloGraph  *graph;
    } entry[HOLO_FAMILY_ENTRIES];
} HoloFamilyModel;

// Builds the graphs. If the config has something that the text does not describe, or that does not fit, it is refused by
// name.
HOLO_MUST HoloStatus holo_family_build(HoloArena *arena, const HoloFamilyRequest *request, HoloFamilyModel *out,
                                       HoloError *error);

// The same with given texts: first those of blocks, then that of the family. For tests.
typedef struct HoloFamilyText {
    const char *name, *text; // "bert.family"
} HoloFamilyText;
HOLO_MUST HoloStatus holo_family_build_text(HoloArena *arena, const HoloFamilyText *texts, int count,
                                            const HoloFamilyRequest *request, HoloFamilyModel *out, HoloError *error);

extern const HoloFamilyText holo_family_texts[]; // the shared ones come first; the last one has no name

#endif
