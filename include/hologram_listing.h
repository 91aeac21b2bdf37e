// hologram_listing.h - looking at graphs: the nodes and values of a model, before and after the compiler, and what steps do. It is
// a part of hologram_compiler.h, which includes it.
#ifndef HOLOGRAM_LISTING_H
#define HOLOGRAM_LISTING_H

#include "hologram_compiler.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HoloListingValue {
    const char *name;
    HoloTensor  type;     // data NULL; dim -1: not a number
    const char *shape;    // "f32[batch, 3, 224, 224]"
    int         producer; // number of the node; -1: an input or a constant
    bool        is_constant, is_input, is_output;
    int64_t     offset; // in the arena; -1: not in the arena, or not decided yet
} HoloListingValue;

typedef struct HoloListingNode {
    const char *name, *op, *domain;
    const char *detail; // attributes as text, "kernel_shape=[3, 3] pads=[1, 1, 1, 1]"; "" if there are none
    const char *runs;   // in a planned graph the kernel, or "eval" for the plain implementation; else ""
    int         parent; // the node whose subgraph has this node; -1: the model itself
    int         in_count, out_count;
    const int  *in, *out; // values; -1: left out
} HoloListingNode;

typedef struct HoloListing {
    const char             *name;
    int                     node_count, value_count, input_count, output_count;
    const HoloListingNode  *nodes; // in the order in which they run
    const HoloListingValue *values;
    const int              *inputs, *outputs; // values
} HoloListing;

typedef enum HoloStage {
    HOLO_STAGE_IMPORTED = 0, // as the model's file describes it
    HOLO_STAGE_PLANNED  = 1, // as it runs
} HoloStage;

// The graph of a model at a stage. An archive has only the planned one. `compiler` NULL: defaults.
HOLO_API HOLO_MUST HoloStatus holo_listing_open(const HoloCompiler *compiler, const char *path, HoloStage stage,
                                                HoloListing **out_listing, HoloError *error);
// The planned graph of an open model.
HOLO_API HOLO_MUST HoloStatus holo_listing_model(const HoloModel *model, HoloListing **out_listing, HoloError *error);
HOLO_API void                 holo_listing_close(HoloListing *listing);

// What a step does, as a portable program (docs/isa.md), for steps that can be written so.
typedef struct HoloStepProgram {
    const char *step, *op, *domain, *runs; // as in HoloListingNode; for a stored program its name, and ""
    // "pointwise": all that the step does; "tail": what it does to its result; "kernel": the user's kernel that it
    // runs; "stored": a program of an archive of kernels, which belongs to no step
    const char *role;
    const char *text;
} HoloStepProgram;

typedef struct HoloStepPrograms {
    int                    count;
    const HoloStepProgram *programs; // in the order in which they run
} HoloStepPrograms;

HOLO_API HOLO_MUST HoloStatus holo_step_programs_open(const HoloModel *model, HoloStepPrograms **out_programs,
                                                      HoloError *error);
HOLO_API void                 holo_step_programs_close(HoloStepPrograms *programs);

#ifdef __cplusplus
}
#endif
#endif
