// plan.h - a graph as a list of steps, with order, memory and operands, in the records of the file format.
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

enum { HOLO_USER_ENTRY = 1, HOLO_USER_DEVICE = 2 }; // plans of entries, and second ones of them for devices

typedef struct HoloPlanConstant { // a constant as it will be stored
    HoloTensor        tensor;     // borrowed: data is the graph's
    const HoloTarget *target;     // the target it is packed for; NULL: it is plain
    uint32_t          kernel;     // 0: plain; else packed for this kernel
    HoloLowering      lowering;   // of the step that it is packed for
    int               input;      // which input of that step it is
    uint64_t          size;       // stored bytes
    uint32_t          users;      // HOLO_USER_*: plans that read it
    const char       *name;       // the first value that it is packed for; NULL: it is plain
} HoloPlanConstant;

typedef struct HoloPlan {
    HoloPlanBuffer    section[HOLO_SECTION_LIMIT]; // by id; all sections except CONSTANTS, WEIGHTS and the memo
    HoloPlanConstant *constants;
    uint32_t          constant_count, constant_room;
    uint32_t          flags_must, flags_may;

    // For the report.
    uint32_t steps, kernel_steps, device_steps, deduplicated; // device_steps: those of second plans, for devices
    uint64_t deduplicated_bytes, arena_bytes, naive_bytes;
} HoloPlan;

typedef struct HoloPlanEntry { // what callers run under a name
    const char        *name;
    const HoloGraph   *graph;
    const HoloLowered *lowered;
    bool is_device; // it is the second plan of an entry, for all targets; these come last, in the order of the
                    // entries, which are lowered for the CPU alone then
} HoloPlanEntry;

// Plans the lowered graph and its subgraphs. The graph must not change while the plan is used.
HOLO_MUST HoloStatus holo_plan_create(const HoloGraph *graph, const HoloLowered *lowered, HoloPlan *out,
                                      HoloError *error);
// The same for several graphs, of which each is an entry or the second plan of one. They share constants.
HOLO_MUST HoloStatus holo_plan_create_all(const HoloPlanEntry *entries, int count, HoloPlan *out, HoloError *error);
void                 holo_plan_deinit(HoloPlan *plan);
HOLO_MUST HoloStatus holo_plan_meta(HoloPlan *plan, const char *key, const char *value, HoloError *error);
HOLO_MUST HoloStatus holo_plan_notes(HoloPlan *plan, const HoloNotes *notes, HoloError *error);

// Adds bytes that go with the model. Names must differ.
HOLO_MUST HoloStatus holo_plan_asset(HoloPlan *plan, const char *name, const void *data, size_t size, HoloError *error);

// Adds code for the device of a target.
HOLO_MUST HoloStatus holo_plan_code(HoloPlan *plan, uint32_t target, const HoloTargetCode *code, HoloError *error);

typedef struct HoloPlanProgram { // see HoloProgramRecord
    const char *name, *doc;
    const void *program, *lanes;
    size_t      program_size, lanes_size;
    int         block[3];
} HoloPlanProgram;
HOLO_MUST HoloStatus holo_plan_program(HoloPlan *plan, const HoloPlanProgram *program, HoloError *error);

// Floating-point operations of a run, counting products only; 0: they depend on symbolic sizes, or there are none.
uint64_t holo_plan_flops(const HoloGraph *graph);

// Is each image of a batch computed by itself? The first size of input 0 counts the images. Other inputs begin with the
// same size or do not depend on it; all outputs begin with it.
bool holo_plan_is_separate(const HoloGraph *graph, HoloArena *scratch);
// Sets the only number that callers may give for the first size of input 0, which is a symbol.
void holo_plan_fix(HoloPlan *plan, int64_t number);

// ---- for the files of this folder

HOLO_MUST HoloStatus holo_buffer_add(HoloPlanBuffer *buffer, const void *data, size_t size, HoloError *error);
HOLO_MUST HoloStatus holo_buffer_align(HoloPlanBuffer *buffer, size_t align, HoloError *error);

typedef struct HoloPlanner { // the state of one holo_plan_create; what depends on the graph is set for each entry
    HoloPlan               *plan;
    const HoloLowered      *lowered;
    const HoloDims         *dims;
    HoloArena               arena;
    int32_t                *dim_number;    // by entry of dims: its number in the file; -1: not in the file
    int                     dim_room;      // entries of dim_number; planning may add expressions to dims
    int32_t                *symbol_number; // by symbol
    struct HoloTextMap     *texts;
    struct HoloConstantMap *constants;
    bool                    is_device; // it plans for devices, not an entry
    HoloError              *error;
} HoloPlanner;

HOLO_MUST HoloStatus holo_planner_text(HoloPlanner *planner, const char *text, uint32_t *out);
HOLO_MUST HoloStatus holo_planner_sizes(HoloPlanner *planner, int count, const HoloDim *dim, uint32_t *out_first);
HOLO_MUST HoloStatus holo_planner_op(HoloPlanner *planner, const HoloNode *node, uint32_t *out);
// Adds a constant as input `input` of a node that packs it; `of` NULL: plain. Equal content is stored once.
HOLO_MUST HoloStatus holo_planner_constant(HoloPlanner *planner, const HoloTensor *tensor, const HoloLoweredNode *of,
                                           int input, uint32_t *out);
// Adds the attributes of a node. The k-th graph attribute refers to plans[k].
HOLO_MUST HoloStatus holo_planner_attrs(HoloPlanner *planner, const HoloNode *node, const uint32_t *plans,
                                        uint32_t *out_first, uint16_t *out_count);
// Adds what the step does to each element, as a portable program. *out is 1 + its number; 0: none. Equal programs near
// each other are stored once.
HOLO_MUST HoloStatus holo_planner_program(HoloPlanner *planner, const HoloLoweredNode *of, uint32_t *out);

#endif
