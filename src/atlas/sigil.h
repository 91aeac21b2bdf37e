// sigil.h - a sigil expression as a tree: what the parser makes and the back ends read.
#ifndef HOLO_ATLAS_SIGIL_H
#define HOLO_ATLAS_SIGIL_H

#include "base/base.h"
#include "hologram_atlas.h"

typedef enum HoloGenerator { // in the order of holo_generator_names
    HOLO_GENERATOR_MARK,
    HOLO_GENERATOR_COPY,
    HOLO_GENERATOR_SWAP,
    HOLO_GENERATOR_MERGE,
    HOLO_GENERATOR_SPLIT,
    HOLO_GENERATOR_QUOTE,
    HOLO_GENERATOR_EVALUATE,
    HOLO_GENERATOR_COUNT
} HoloGenerator;

extern const char *const holo_generator_names[HOLO_GENERATOR_COUNT];

typedef enum HoloSigilKind {
    HOLO_SIGIL_LEAF,     // a generator at a class
    HOLO_SIGIL_PREFIX,   // a transform of its one child
    HOLO_SIGIL_SEQUENCE, // two children or more
    HOLO_SIGIL_PARALLEL, // two children or more
} HoloSigilKind;

typedef struct HoloSigilNode HoloSigilNode;
struct HoloSigilNode {
    HoloSigilKind  kind;
    HoloGenerator  generator;       // of a leaf
    int            class_id;        // as it is written
    int            page;            // -1: none
    HoloTransform  transform;       // of a leaf: what is written behind its class
    HoloSigilNode *first, *last;    // children
    HoloSigilNode *next, *previous; // of the same parent
};

typedef struct HoloSigilTree {
    HoloSigilNode *root;
    int            leaf_count;
    int            word_count; // at most
} HoloSigilTree;

// The tree lives in the arena. See holo_sigil_parse.
HOLO_MUST HoloStatus holo_sigil_tree(HoloArena *arena, const char *text, size_t size, HoloSigilTree *out_tree,
                                     size_t *out_at, HoloError *error);

#endif
