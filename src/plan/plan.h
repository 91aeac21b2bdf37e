// plan.h - a graph as a list of steps: order, memory, operands; in the records of the file format.
#ifndef HOLO_PLAN_H
#define HOLO_PLAN_H

#include "format/holo.h"
#include "graph/graph.h"
#include "graph/notes.h"
#include "lower/lower.h"

// A growing array of bytes.
typedef struct HoloPlanBuffer {
    uint8_t *data;
    size_t   size, room;
} HoloPlanBuffer;

typedef struct HoloPlanConstant { // a constant as it will be stored
    HoloTensor        tensor;     // borrowed: data is the graph's
    const HoloTarget *target;     // that it is packed for; NULL: it is plain
    uint32_t          kernel;     // 0: plain; else packed for this kernel
    HoloLowering      lowering;   // of the step it is packed for
    int               input;      // which input of that step it is
    uint64_t          size;       // stored bytes
    const char       *name;       // of the first value that it is packed for; NULL where it is plain
} HoloPlanConstant;

typedef struct HoloPlan {
    HoloPlanBuffer    section[HOLO_SECTION_LIMIT]; // by id: all but CONSTANTS, WEIGHTS and the memo
    HoloPlanConstant *constants;
    uint32_t          constant_count, constant_room;
    uint32_t          flags_must;

    // What was done, for the report.
    uint32_t steps, kernel_steps, deduplicated;
    uint64_t deduplicated_bytes, arena_bytes, naive_bytes;
} HoloPlan;

// Plans the graph and its subgraphs as they were lowered. The graph stays as it is and must live as long as the plan.
HOLO_MUST HoloStatus holo_plan_create(const HoloGraph *graph, const HoloLowered *lowered, HoloPlan *out,
                                      HoloError *error);
void                 holo_plan_deinit(HoloPlan *plan);
HOLO_MUST HoloStatus holo_plan_meta(HoloPlan *plan, const char *key, const char *value, HoloError *error);
HOLO_MUST HoloStatus holo_plan_notes(HoloPlan *plan, const HoloNotes *notes, HoloError *error);

typedef struct HoloPlanProgram { // see HoloProgramRecord
    const char *name, *doc;
    const void *program, *lanes;
    size_t      program_size, lanes_size;
    int         block[3];
} HoloPlanProgram;
HOLO_MUST HoloStatus holo_plan_program(HoloPlan *plan, const HoloPlanProgram *program, HoloError *error);

// Floating-point operations of a run, its products counted; 0: they depend on symbolic sizes, or there are none.
uint64_t holo_plan_flops(const HoloGraph *graph);

// Is each image of a batch computed by itself? Its inputs begin with as many as the first of them does, or with none, its
// outputs with as many.
bool holo_plan_is_separate(const HoloGraph *graph, HoloArena *scratch);
// Callers may give only this number for the first size of input 0, which is a symbol.
void holo_plan_fix(HoloPlan *plan, int64_t number);

// ---- for the files of this folder

HOLO_MUST HoloStatus holo_buffer_add(HoloPlanBuffer *buffer, const void *data, size_t size, HoloError *error);
HOLO_MUST HoloStatus holo_buffer_align(HoloPlanBuffer *buffer, size_t align, HoloError *error);

typedef struct HoloPlanner { // the state of one holo_plan_create
    HoloPlan               *plan;
    const HoloLowered      *lowered;
    const HoloDims         *dims;
    HoloArena               arena;
    int32_t                *dim_number;    // by entry of dims: its number in the file, -1: not in it
    int                     dim_room;      // entries of dim_number; planning may add to dims
    int32_t                *symbol_number; // by symbol
    struct HoloTextMap     *texts;
    struct HoloConstantMap *constants;
    HoloError              *error;
} HoloPlanner;

HOLO_MUST HoloStatus holo_planner_text(HoloPlanner *planner, const char *text, uint32_t *out);
HOLO_MUST HoloStatus holo_planner_sizes(HoloPlanner *planner, int count, const HoloDim *dim, uint32_t *out_first);
HOLO_MUST HoloStatus holo_planner_op(HoloPlanner *planner, const HoloNode *node, uint32_t *out);
// A constant, stored once for equal content: input `input` of a node for which it is packed. `of` NULL: plain.
HOLO_MUST HoloStatus holo_planner_constant(HoloPlanner *planner, const HoloTensor *tensor, const HoloLoweredNode *of,
                                           int input, uint32_t *out);
// The attributes of a node; a graph attribute becomes plans[k] for its k-th graph.
HOLO_MUST HoloStatus holo_planner_attrs(HoloPlanner *planner, const HoloNode *node, const uint32_t *plans,
                                        uint32_t *out_first, uint16_t *out_count);
// What the step does to each element: 1 + the number of a portable program, stored once for equal ones near each other; 0: none.
HOLO_MUST HoloStatus holo_planner_program(HoloPlanner *planner, const HoloLoweredNode *of, uint32_t *out);

#endif
