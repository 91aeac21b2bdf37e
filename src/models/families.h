// families.h - graphs of models that come as weights and a description without a graph.
//
// A family is a text in this folder, NAME.family, in the language of docs/model-families.md: what its config may say, what its
// weights are called, and how they make up the graph. The build puts the texts into the library. Whose file the weights come from
// is not known here.
#ifndef HOLO_MODELS_FAMILIES_H
#define HOLO_MODELS_FAMILIES_H

#include "graph/graph.h"

typedef struct HoloFamilyRequest {
    const char *family;       // "bert"; NULL: the architecture alone tells
    const char *architecture; // "BertForMaskedLM", which has the head; NULL: the family's first
    const HoloAttr
             *config; // numbers, texts and lists of whole numbers by name, those inside of others as "outer.inner"
    int       config_count;
    HoloDtype dtype; // of the weights, and so of constants with a point and of inputs that are `float`
    // The weight of a name: its type, and its data, which is borrowed. False: there is none.
    bool (*weight)(void *context, const char *name, HoloTensor *out);
    void *context;
} HoloFamilyRequest;

// Builds the graph. All that is not in the family's text, and config that does not fit, is refused by name.
HOLO_MUST HoloStatus holo_family_build(HoloArena *arena, const HoloFamilyRequest *request, HoloGraph **out,
                                       HoloError *error);

// The same of texts that are given: those of blocks, then that of the family. For tests.
typedef struct HoloFamilyText {
    const char *name, *text; // "bert.family"
} HoloFamilyText;
HOLO_MUST HoloStatus holo_family_build_text(HoloArena *arena, const HoloFamilyText *texts, int count,
                                            const HoloFamilyRequest *request, HoloGraph **out, HoloError *error);

extern const HoloFamilyText holo_family_texts[]; // that of the blocks first; ended by one without a name

#endif
