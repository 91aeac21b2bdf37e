// target.h - what the compiler lowers for: a row of functions and facts for each target, and the table of them.
//
// A target is a place to run steps; the runtime's device of the same name runs what was lowered for it. The CPU is one like
// others, but that it can run everything. A target is a folder of src/lower/, or one that the build is given as EXTRA_TARGETS:
// its file NAME_target.c defines holo_target_NAME, and the build makes the table. Functions that may be NULL say what that means.
#ifndef HOLO_LOWER_TARGET_H
#define HOLO_LOWER_TARGET_H

#include "graph/graph.h"
#include "graph/notes.h"

typedef struct HoloLowering HoloLowering; // see lower.h

enum { HOLO_LOWER_WAYS = 8, HOLO_PACK_PART = 1 << 20 }; // ways to run a node at most; bytes of a packed part at most

typedef struct HoloPacking {
    uint64_t bytes;
    int64_t  part_count;
} HoloPacking;

typedef struct HoloBytes {
    uint8_t *data;
    size_t   size;
} HoloBytes;

typedef struct HoloTarget {
    const char *name;

    // ---- nodes, whose types are inferred; sizes may be symbolic

    // Can it run the node? Control flow, texts, lists and sizes that only a run finds are never asked about: they need the
    // host. NULL: every node.
    bool (*can_run)(const HoloNode *node);
    // How it runs a node that it can run. NULL: by the operator's eval.
    HoloLowering (*choose)(const HoloNode *node);
    // All ways to run a node, for one who measures which is fastest: what `choose` gives, and others. `out` has room for HOLO_LOWER_WAYS; returns how many there
    // are, at least 1. NULL: that one.
    int (*ways)(const HoloNode *node, HoloLowering *out);
    // May the kernel write its output over an input of the same size? NULL: none may.
    bool (*is_in_place)(uint32_t kernel);
    // What a step does to each element of its output, as a portable program (docs/isa.md) in bytes that belong to the arena.
    // Inputs of the program are x0, x1 ..., the node's; of a tail, which reads and writes y, x1 is the node's fourth. Size 0:
    // it is not pointwise, and has no tail. NULL: nothing is known of any.
    HoloStatus (*program)(const HoloNode *node, const HoloLowering *lowering, HoloArena *arena, HoloBytes *out,
                          HoloError *error);

    // ---- weights, for a target with lowerings that pack some

    // The packed form of input pack_input, whose plain contents are `w`. It is made part by part, so that nobody need hold
    // the whole: `pack` writes one to `out`, which has HOLO_PACK_PART bytes, and returns its size.
    HoloPacking (*packing)(const HoloLowering *lowering, const HoloTensor *w);
    size_t (*pack)(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out);
    // Does it store weights larger than they are, to save work? NULL: never.
    bool (*is_enlarged)(const HoloLowering *lowering);
    // What a run of such a node is worth in multiplications, in one of its ways: an estimate. Negative: in this way nobody
    // knows. NULL where is_enlarged is.
    double (*cost)(const HoloNode *node, const HoloLowering *way);
    // What is worth saying of how packed weights are stored, to `out` and `text`. False: nothing. NULL: never anything.
    bool (*note)(const HoloLowering *lowering, const HoloTensor *w, char text[HOLO_NOTE_TEXT], HoloNote *out);

    // ---- what passes ask

    uint64_t image_types; // HOLO_BIT of element types of which it has kernels for images with channels last
    int attention_size; // elements of a vector of a head that its kernel for Attention takes at most; 0: there is none
    // Is this convolution of f32, with constant filters, better with channels last? NULL: none is.
    bool (*wants_last)(const HoloNode *conv);
    // Has it a kernel for a pointwise operator on tensors of these types? NULL: for none.
    bool (*has_pointwise)(const HoloCall *call);
} HoloTarget;

extern const HoloTarget *const holo_targets[]; // all there are, the CPU first; ended by NULL
extern const HoloTarget        holo_target_cpu;

// NULL: there is none of that name.
const HoloTarget *holo_target_find(const char *name);

// The targets of a compile. The first, number 0, is the CPU, which gets what no other can run; before it the others are asked
// in order.
enum { HOLO_TARGETS_USED = 8 };
typedef struct HoloTargets {
    const HoloTarget *list[HOLO_TARGETS_USED];
    int               count;
} HoloTargets;

extern const HoloTargets holo_targets_cpu; // the CPU alone
// The number of the first that can run the node.
int holo_targets_number(const HoloTargets *targets, const HoloNode *node);
// The same target itself.
const HoloTarget *holo_targets_pick(const HoloTargets *targets, const HoloNode *node);

#endif
