// target.h - what the compiler lowers for: a row of functions and facts for each target, and the table of targets.
//
// A target is a place to run steps. The runtime's device of the same name runs what was lowered for it. The CPU is a
// target like the others, except that it can run everything. A target is a folder of src/lower/, or one that the build
// gets as EXTRA_TARGETS: its file NAME_target.c defines holo_target_NAME, and the build makes the table. Some functions
// may be NULL; the comment says what that means.
#ifndef HOLO_LOWER_TARGET_H
#define HOLO_LOWER_TARGET_H

#include "graph/graph.h"
#include "graph/notes.h"

typedef struct HoloLowering HoloLowering; // see lower.h
typedef struct HoloLowered  HoloLowered;

enum { HOLO_LOWER_WAYS = 8, HOLO_PACK_PART = 1 << 20 }; // most ways to run a node; most bytes of a packed part

typedef struct HoloPacking {
    uint64_t bytes;
    int64_t  part_count;
} HoloPacking;

typedef struct HoloBytes {
    uint8_t *data;
    size_t   size;
} HoloBytes;

// Code that a device needs to run steps.
typedef struct HoloTargetCode {
    const char *module, *kind; // see HoloCodeRecord of format/holo.h
    const void *data;
    size_t      size;
} HoloTargetCode;

enum { HOLO_TARGET_CODES = 96 }; // most of them

// What a target needs to know to make code.
typedef struct HoloTargetUse {
    const HoloLowered *const *lowered; // all graphs of an archive
    int                       count;
    const char               *kind; // of the machine, "sm_90"; "": all that are known
    HoloArena                *arena;
} HoloTargetUse;

typedef struct HoloTarget {
    const char *name;

    // The row for a numeric class, "tf32", "f16"; NULL: it has none. NULL in the row: it has the classes of the CPU.
    const struct HoloTarget *(*of_class)(const char *numeric);
    // Can it make code for machines of that kind? NULL: it needs no code, and takes no kind.
    bool (*has_kind)(const char *kind);
    // The code that the steps of these graphs need. `out` has room for HOLO_TARGET_CODES. NULL: none.
    HoloStatus (*code)(const HoloTargetUse *use, HoloTargetCode *out, int *out_count, HoloError *error);

    // ---- nodes, whose types are inferred; sizes may be symbolic

    // Can it run the node? It is not asked about control flow, texts, lists, and sizes that only a run finds: these
    // need the host. NULL: it can run every node.
    bool (*can_run)(const HoloNode *node);
    // Would it spoil the result of the node, which it can run, since it stores few digits? The host computes it then, if
    // only pointwise nodes lead to it. NULL: never.
    bool (*needs_digits)(const HoloNode *node);
    // How it runs a node that it can run. NULL: by the operator's eval.
    HoloLowering (*choose)(const HoloNode *node);
    // All ways to run a node, for code that measures which is fastest: first what `choose` gives, then others. `out`
    // has room for HOLO_LOWER_WAYS. Returns how many there are, at least 1. NULL: there is only one.
    int (*ways)(const HoloNode *node, HoloLowering *out);
    // How it brings a value, which is no constant, to its memory or back. A kernel other than 0: its elements lie
    // otherwise there. NULL: they lie there as on the host.
    HoloLowering (*transfer)(const HoloNode *node);
    // May the kernel write its output over an input of the same size? NULL: no kernel may.
    bool (*is_in_place)(uint32_t kernel);
    // Changes nodes of the cut graph, of which target[i] is the target of node i, so that one does along what others do: those
    // that run on this target, which has that number. What nodes mean stays. False: no memory left. NULL: it changes none.
    bool (*merge)(HoloGraph *graph, const int *target, int number);
    // What a step does to each element of its output, as a portable program (docs/isa.md); its bytes belong to the
    // arena. Inputs of the program are x0, x1 ..., those of the node. A tail reads and writes y, and its x1 is the
    // node's fourth input. Size 0: the step is not pointwise and has no tail. NULL: there are no such programs.
    HoloStatus (*program)(const HoloNode *node, const HoloLowering *lowering, HoloArena *arena, HoloBytes *out,
                          HoloError *error);

    // ---- weights, for targets that pack them

    // The packed form of input pack_input, whose plain contents are `w`. It is made part by part, so that nobody needs
    // memory for the whole. `pack` writes one part to `out`, which has HOLO_PACK_PART bytes, and returns its size.
    HoloPacking (*packing)(const HoloLowering *lowering, const HoloTensor *w);
    size_t (*pack)(const HoloLowering *lowering, const HoloTensor *w, int64_t part, void *out);
    // Changes a choice to one that takes all inputs plain. NULL if it packs none, or is the CPU. Of targets other than the
    // CPU, only constants that one node reads are packed.
    void (*unpack)(HoloLowering *lowering);
    // Changes a choice that packs weights to one that reads them as the CPU packs them by its choice `host`: then the
    // device gives them the form that its kernel reads when it brings them. False: it cannot. NULL: it never can.
    bool (*share)(HoloLowering *lowering, const HoloLowering *host, const HoloTensor *w);
    // Does it store weights larger than they are, to save work? NULL: never.
    bool (*is_enlarged)(const HoloLowering *lowering);
    // An estimate of what a run of such a node costs in one of its ways, in multiplications. Negative: unknown. NULL if
    // is_enlarged is.
    double (*cost)(const HoloNode *node, const HoloLowering *way);
    // Writes a note about how packed weights are stored to `out` and `text`. False: there is nothing to say. NULL:
    // there never is.
    bool (*note)(const HoloLowering *lowering, const HoloTensor *w, char text[HOLO_NOTE_TEXT], HoloNote *out);

    // ---- what passes ask

    uint64_t image_types; // HOLO_BIT of the element types for which it has kernels for images with channels last
    int attention_size;   // the longest vector of a head that its kernel for Attention takes; 0: it has no such kernel
    // Is this f32 convolution with constant filters faster with channels last? NULL: none is.
    bool (*wants_last)(const HoloNode *conv);
    bool packs_rows; // it runs TakeRows of blocks, from packed weights, and does not decode rows that were looked up
    // Does it have a kernel for a pointwise operator on tensors of these types? NULL: it has none.
    bool (*has_pointwise)(const HoloCall *call);
} HoloTarget;

extern const HoloTarget *const holo_targets[]; // all targets, the CPU first; ends with NULL
extern const HoloTarget        holo_target_cpu;

// NULL: there is no target of that name.
const HoloTarget *holo_target_find(const char *name);

// The targets of a compile. Number 0 is the CPU: it gets what no other target can run. The others are asked before it,
// in order.
enum { HOLO_TARGETS_USED = 8 };
typedef struct HoloTargets {
    const HoloTarget *list[HOLO_TARGETS_USED];
    int               count;
} HoloTargets;

extern const HoloTargets holo_targets_cpu; // the CPU alone
// The number of the first target that can run the node.
int holo_targets_number(const HoloTargets *targets, const HoloNode *node);
// The target itself.
const HoloTarget *holo_targets_pick(const HoloTargets *targets, const HoloNode *node);

#endif
