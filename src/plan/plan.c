// plan.c - turns a graph into steps: who runs each node, and how long memory lives, as records of the file.
//
// places.c decides how each value is stored. A node whose outputs share the bytes of its input has no step. Subgraphs
// are planned after the graph that holds them, so a plan refers only to later plans.
#include "plan/plan.h"

#include "base/hash.h"
#include "base/pack.h"
#include "plan/places.h"

#include <string.h>

typedef struct Record { // for a value of the graph, or for its packed form
    HoloValueRecord value;
    uint64_t        bytes; // for an arena value whose size is a number
    uint32_t        root;  // the value that owns the bytes: views and parts have none of their own
    bool            is_sized;
} Record;

typedef struct Planning { // for one graph
    HoloPlanner      *planner;
    const HoloGraph  *graph;
    HoloPlaces        places;
    Record           *records;
    uint32_t          record_count;
    int               record_room;
    const HoloValue **way; // from a value to the one that owns its bytes
    int               way_room;
    uint32_t         *number; // by id of a value: 1 + the number of its record; 0: none yet
    HoloStepRecord   *steps;
    uint32_t          step_count;
    HoloPlanBuffer    operands; // of all steps
} Planning;

static HoloStatus plan_graph(HoloPlanner *planner, const HoloGraph *graph, const HoloPlaces *outer, uint32_t number);

// ---- values

static bool contents_are_known(Planning *p, const HoloValue *v)
{
    if (!v->contents || (v->type.dtype != HOLO_I64 && v->type.dtype != HOLO_I32)) return false;
    int64_t count = holo_tensor_count(&v->type);
    for (int64_t i = 0; i < count; i++)
        if (!holo_places_know(&p->places, v->contents[i])) return false;
    return count >= 0;
}

static uint32_t root_of(const Planning *p, uint32_t number)
{
    return p->records[number].root;
}

// Adds the sizes of a value. For a part, its first element follows them; for an input, its least sizes.
static HoloStatus sizes_add(Planning *p, const HoloValue *v, HoloStorage storage, Record *r)
{
    const HoloTensor *t     = &v->type;
    int               count = t->rank > 0 ? t->rank : 0;
    HoloDim           size[2 * HOLO_MAX_RANK];
    for (int d = 0; d < count; d++) size[d] = t->dim[d];
    if (storage == HOLO_STORE_PART) size[count++] = p->places.place[v->id].offset;
    r->is_sized = t->rank >= 0;
    for (int d = 0; d < count; d++) r->is_sized = r->is_sized && !holo_dim_is_symbolic(size[d]);
    for (int d = 0; d < t->rank && v->least && storage == HOLO_STORE_INPUT; d++) size[count++] = v->least[d];
    return holo_planner_sizes(p->planner, count, size, &r->value.size_first);
}

static HoloStatus record_new(Planning *p, const HoloValue *v, HoloStorage storage, uint32_t *out)
{
    if (!HOLO_GROW(&p->planner->arena, p->records, (int)p->record_count, p->record_room))
        return holo_fail_memory(p->planner->error);
    const HoloTensor *t = &v->type;
    Record           *r = &p->records[p->record_count];
    r->value =
        (HoloValueRecord){.dtype = t->dtype, .kind = t->kind, .inner = t->inner, .rank = t->rank, .storage = storage};
    if (storage == HOLO_STORE_ARENA || v->is_state)
        r->value.space = (uint16_t)holo_lowered_space(p->planner->lowered, v);
    HOLO_TRY(holo_planner_text(p->planner, v->name, &r->value.name));
    HOLO_TRY(sizes_add(p, v, storage, r));
    r->bytes = holo_tensor_bytes(t);
    r->root  = p->record_count;
    *out     = p->record_count++;
    return HOLO_OK;
}

// What the record of an input says of it.
static uint64_t input_at(const Planning *p, const HoloValue *v)
{
    uint64_t at = v->fill | (v->is_index ? HOLO_INPUT_INDEX : 0) | (v->is_state ? HOLO_INPUT_STATE : 0) |
                  (v->least ? HOLO_INPUT_LEAST : 0);
    if (at & ~HOLO_INPUT_FILL) p->planner->plan->flags_must |= HOLO_FLAG_STATES;
    return at;
}

// Adds a value. If it has a base, that has its record already.
static HoloStatus value_add(Planning *p, const HoloValue *v)
{
    const HoloPlace *place = &p->places.place[v->id];
    uint32_t         number, at = 0;
    if (place->storage == HOLO_STORE_EXPRESSION && !contents_are_known(p, v))
        return holo_fail(p->planner->error, HOLO_INTERNAL, "value %s has neither a producer nor contents", v->name);
    HOLO_TRY(record_new(p, v, place->storage, &number));
    p->number[v->id] = number + 1;
    if (place->storage == HOLO_STORE_CONSTANT) HOLO_TRY(holo_planner_constant(p->planner, &v->type, NULL, 0, &at));
    if (place->storage == HOLO_STORE_EXPRESSION)
        HOLO_TRY(holo_planner_sizes(p->planner, (int)holo_tensor_count(&v->type), v->contents, &at));
    if (place->base) {
        at                             = p->number[place->base->id] - 1;
        p->records[number].value.space = p->records[at].value.space;
        p->records[number].root        = p->records[at].root;
    }
    if (place->storage == HOLO_STORE_PART) p->planner->plan->flags_must |= HOLO_FLAG_PARTS;
    p->records[number].value.at = place->storage == HOLO_STORE_INPUT ? input_at(p, v) : at;
    return HOLO_OK;
}

static HoloStatus value_plan(Planning *p, const HoloValue *v, uint32_t *out)
{
    int count = 0;
    for (const HoloValue *at = v; at && !p->number[at->id]; at = p->places.place[at->id].base) {
        if (!HOLO_GROW(&p->planner->arena, p->way, count, p->way_room)) return holo_fail_memory(p->planner->error);
        p->way[count++] = at;
    }
    while (count) HOLO_TRY(value_add(p, p->way[--count])); // from the value that owns the bytes to this one
    *out = p->number[v->id] - 1;
    return HOLO_OK;
}

// Adds the packed form of a constant for one kernel, as a value of its own.
static HoloStatus packed_plan(Planning *p, const HoloValue *v, const HoloLoweredNode *of, int input, uint32_t *out)
{
    uint32_t at;
    HOLO_TRY(holo_planner_constant(p->planner, &v->type, of, input, &at));
    HoloPlanConstant *constant = &p->planner->plan->constants[at];
    if (!constant->name) constant->name = v->name;
    for (uint32_t i = 0; i < p->record_count; i++) {
        const HoloValueRecord *r = &p->records[i].value;
        if (r->storage == HOLO_STORE_CONSTANT && r->at == at) {
            *out = i;
            return HOLO_OK;
        }
    }
    HOLO_TRY(record_new(p, v, HOLO_STORE_CONSTANT, out));
    p->records[*out].value.at = at;
    return HOLO_OK;
}

// ---- steps

static HoloStatus subgraphs_plan(Planning *p, const HoloNode *node, uint32_t *plans)
{
    HoloPlanBuffer *section = &p->planner->plan->section[HOLO_SECTION_PLANS];
    for (int i = 0; i < node->attr_count; i++) {
        if (node->attr[i].kind != HOLO_ATTR_GRAPH) continue;
        HoloPlanRecord empty = {0};
        *plans               = (uint32_t)(section->size / sizeof empty);
        HOLO_TRY(holo_buffer_add(section, &empty, sizeof empty, p->planner->error));
        HOLO_TRY(plan_graph(p->planner, node->attr[i].graph, &p->places, *plans++));
    }
    return HOLO_OK;
}

// `of` NULL: an output, which is never packed.
static HoloStatus operand_add(Planning *p, const HoloValue *v, const HoloLoweredNode *of, int input)
{
    uint32_t            number   = HOLO_NO_VALUE;
    const HoloLowering *lowering = of ? &of->lowering : NULL;
    bool                packed   = v && lowering && lowering->kernel &&
                  (input == lowering->pack_input || (input < 32 && lowering->pack_also >> input & 1));
    if (packed)
        HOLO_TRY(packed_plan(p, v, of, input, &number));
    else if (v)
        HOLO_TRY(value_plan(p, v, &number));
    return holo_buffer_add(&p->operands, &number, sizeof number, p->planner->error);
}

static HoloStatus params_add(Planning *p, const HoloLowering *lowering, HoloStepRecord *step)
{
    HoloPlanBuffer *bytes = &p->planner->plan->section[HOLO_SECTION_BYTES];
    HOLO_TRY(holo_buffer_align(bytes, 8, p->planner->error));
    step->params      = (uint32_t)bytes->size;
    step->params_size = lowering->params_size;
    return holo_buffer_add(bytes, lowering->params, lowering->params_size, p->planner->error);
}

static HoloStatus step_plan(Planning *p, const HoloNode *node)
{
    HoloPlanner           *planner  = p->planner;
    const HoloLoweredNode *of       = holo_lowered_find(planner->lowered, node);
    const HoloLowering    *lowering = &of->lowering;
    HoloStepRecord        *step     = &p->steps[p->step_count];
    uint32_t              *plans    = HOLO_NEW(&planner->arena, uint32_t, node->attr_count + 1);
    if (!plans) return holo_fail_memory(planner->error);
    if (node->in_count > UINT16_MAX || node->out_count > UINT16_MAX || node->attr_count > UINT16_MAX)
        return holo_fail(planner->error, HOLO_UNSUPPORTED, "node %s has more than 65,535 inputs, outputs or attributes",
                         node->name);
    *step = (HoloStepRecord){
        .kernel        = (uint16_t)lowering->kernel,
        .target        = (uint16_t)of->target,
        .in_count      = (uint16_t)node->in_count,
        .out_count     = (uint16_t)node->out_count,
        .capture_count = (uint16_t)node->capture_count,
        .operand_first = (uint32_t)(p->operands.size / sizeof(uint32_t)),
    };
    HOLO_TRY(holo_planner_op(planner, node, &step->op));
    HOLO_TRY(holo_planner_text(planner, node->name, &step->name));
    HOLO_TRY(subgraphs_plan(p, node, plans));
    HOLO_TRY(holo_planner_attrs(planner, node, plans, &step->attr_first, &step->attr_count));
    HOLO_TRY(params_add(p, lowering, step));
    HOLO_TRY(holo_planner_program(planner, of, &step->program));
    for (int i = 0; i < node->in_count; i++) HOLO_TRY(operand_add(p, node->in[i], of, i));
    for (int i = 0; i < node->out_count; i++) HOLO_TRY(operand_add(p, node->out[i], NULL, i));
    p->step_count++;
    planner->plan->device_steps += planner->is_device;
    planner->plan->steps += !planner->is_device;
    planner->plan->kernel_steps += !planner->is_device && lowering->kernel;
    return HOLO_OK;
}

static bool has_output(const HoloNode *node)
{
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i]) return true;
    return false;
}

// Do the outputs of the node share the bytes of its input?
static bool is_view(const Planning *p, const HoloNode *node)
{
    for (int i = 0; i < node->out_count; i++) {
        const HoloPlace *place = node->out[i] ? &p->places.place[node->out[i]->id] : NULL;
        if (!place) continue;
        return (node->op->flags & HOLO_OP_VIEW || (node->op->place && !(node->op->flags & HOLO_OP_JOINS))) &&
               holo_store_is_shared(place->storage) && place->base == node->in[0];
    }
    return false;
}

static HoloStatus steps_plan(Planning *p)
{
    uint32_t number;
    for (int i = 0; i < p->graph->input_count; i++) HOLO_TRY(value_plan(p, p->graph->inputs[i], &number));
    for (int i = 0; i < p->graph->node_count; i++) {
        const HoloNode *node = p->graph->nodes[i];
        if (!has_output(node)) continue;
        if (!is_view(p, node))
            HOLO_TRY(step_plan(p, node));
        else
            for (int k = 0; k < node->out_count; k++)
                if (node->out[k]) HOLO_TRY(value_plan(p, node->out[k], &number));
    }
    return HOLO_OK;
}

// ---- memory

// Finds the first and last step that touch each arena value, also through its aliases.
static void lifetimes(Planning *p, const uint32_t *outputs, uint32_t output_count)
{
    const uint32_t *operands = (const void *)p->operands.data;
    for (uint32_t i = 0; i < p->record_count; i++) {
        p->records[i].value.step_from = UINT32_MAX;
        p->records[i].value.step_to   = 0;
    }
    for (uint32_t s = 0; s < p->step_count; s++) {
        const HoloStepRecord *step = &p->steps[s];
        for (uint32_t k = 0; k < (uint32_t)step->in_count + step->out_count; k++) {
            uint32_t number = operands[step->operand_first + k];
            if (number == HOLO_NO_VALUE) continue;
            HoloValueRecord *v = &p->records[root_of(p, number)].value;
            if (s < v->step_from) v->step_from = s;
            if (s > v->step_to) v->step_to = s;
        }
    }
    for (uint32_t i = 0; i < output_count; i++) p->records[root_of(p, outputs[i])].value.step_to = p->step_count;
    for (uint32_t i = 0; i < p->record_count; i++)
        if (p->records[i].value.step_from == UINT32_MAX) p->records[i].value.step_from = 0;
}

// The memory of everything that steps write in the host's memory, if each value had its own.
static uint64_t naive_bytes(const Planning *p)
{
    const uint32_t *operands = (const void *)p->operands.data;
    uint64_t        bytes    = 0;
    for (uint32_t s = 0; s < p->step_count; s++)
        for (uint32_t k = 0; k < p->steps[s].out_count; k++) {
            uint32_t number = operands[p->steps[s].operand_first + p->steps[s].in_count + k];
            if (number != HOLO_NO_VALUE && !p->records[number].value.space) bytes += p->records[number].bytes;
        }
    return bytes;
}

// Computes the offsets in the arena of one space.
static HoloStatus space_plan(Planning *p, int space, uint64_t *out_bytes)
{
    HoloBlock *blocks = HOLO_NEW(&p->planner->arena, HoloBlock, p->record_count + 1);
    if (!blocks) return holo_fail_memory(p->planner->error);
    for (uint32_t i = 0; i < p->record_count; i++) {
        const Record *r = &p->records[i];
        if (r->value.storage == HOLO_STORE_ARENA && r->value.space == space)
            blocks[i] = (HoloBlock){r->bytes, r->value.step_from, r->value.step_to, 0};
    }
    if (!holo_pack(blocks, (int)p->record_count, out_bytes)) return holo_fail_memory(p->planner->error);
    for (uint32_t i = 0; i < p->record_count; i++) {
        HoloValueRecord *v = &p->records[i].value;
        if (v->storage == HOLO_STORE_ARENA && v->space == space) v->at = blocks[i].offset;
    }
    return HOLO_OK;
}

// Computes the offsets in the arenas if every size is a number. The sizes of other spaces follow from their values.
static HoloStatus arena_plan(Planning *p, HoloPlanRecord *plan)
{
    uint64_t other;
    for (uint32_t i = 0; i < p->record_count; i++)
        if (!p->records[i].is_sized) return HOLO_OK;
    HOLO_TRY(space_plan(p, 0, &plan->arena_bytes));
    for (int space = 1; space < p->planner->lowered->targets.count; space++) HOLO_TRY(space_plan(p, space, &other));
    plan->flags |= HOLO_PLAN_STATIC;
    plan->naive_bytes = naive_bytes(p);
    return HOLO_OK;
}

// ---- the whole plan

// Operand numbers count within the plan; steps index them in the section that all plans share.
static HoloStatus sections_add(Planning *p, HoloPlanRecord *plan)
{
    HoloPlanBuffer *section = p->planner->plan->section;
    HoloError      *error   = p->planner->error;
    uint32_t        shift   = (uint32_t)(section[HOLO_SECTION_OPERANDS].size / sizeof(uint32_t));
    HOLO_TRY(holo_buffer_add(&section[HOLO_SECTION_OPERANDS], p->operands.data, p->operands.size, error));
    plan->value_first = (uint32_t)(section[HOLO_SECTION_VALUES].size / sizeof(HoloValueRecord));
    plan->value_count = p->record_count;
    for (uint32_t i = 0; i < p->record_count; i++)
        HOLO_TRY(holo_buffer_add(&section[HOLO_SECTION_VALUES], &p->records[i].value, sizeof(HoloValueRecord), error));
    plan->step_first = (uint32_t)(section[HOLO_SECTION_STEPS].size / sizeof(HoloStepRecord));
    plan->step_count = p->step_count;
    for (uint32_t i = 0; i < p->step_count; i++) {
        p->steps[i].operand_first += shift;
        HOLO_TRY(holo_buffer_add(&section[HOLO_SECTION_STEPS], &p->steps[i], sizeof *p->steps, error));
    }
    return HOLO_OK;
}

static HoloStatus ports_add(Planning *p, HoloValue *const *values, int count, uint32_t *numbers, uint32_t *first)
{
    HoloPlanBuffer *operands = &p->planner->plan->section[HOLO_SECTION_OPERANDS];
    *first                   = (uint32_t)(operands->size / sizeof(uint32_t));
    for (int i = 0; i < count; i++) {
        HOLO_TRY(value_plan(p, values[i], &numbers[i]));
        HOLO_TRY(holo_buffer_add(operands, &numbers[i], sizeof numbers[i], p->planner->error));
    }
    return HOLO_OK;
}

static HoloStatus plan_fill(Planning *p, uint32_t number)
{
    const HoloGraph *graph   = p->graph;
    HoloPlanner     *planner = p->planner;
    HoloPlanRecord plan = {.input_count = (uint32_t)graph->input_count, .output_count = (uint32_t)graph->output_count};
    uint32_t      *inputs  = HOLO_NEW(&planner->arena, uint32_t, graph->input_count + 1);
    uint32_t      *outputs = HOLO_NEW(&planner->arena, uint32_t, graph->output_count + 1);
    if (!inputs || !outputs) return holo_fail_memory(planner->error);
    HOLO_TRY(holo_planner_text(planner, graph->name, &plan.name));
    HOLO_TRY(steps_plan(p));
    HOLO_TRY(ports_add(p, graph->inputs, graph->input_count, inputs, &plan.input_first));
    HOLO_TRY(ports_add(p, graph->outputs, graph->output_count, outputs, &plan.output_first));
    lifetimes(p, outputs, plan.output_count);
    HOLO_TRY(arena_plan(p, &plan));
    HOLO_TRY(sections_add(p, &plan));
    if (number == 0) {
        planner->plan->arena_bytes = plan.arena_bytes;
        planner->plan->naive_bytes = plan.naive_bytes;
    }
    HoloPlanRecord *record = (HoloPlanRecord *)(void *)planner->plan->section[HOLO_SECTION_PLANS].data + number;
    plan.flags |= record->flags;
    *record = plan;
    return HOLO_OK;
}

static HoloStatus plan_graph(HoloPlanner *planner, const HoloGraph *graph, const HoloPlaces *outer, uint32_t number)
{
    Planning p = {
        .planner = planner,
        .graph   = graph,
        .number  = HOLO_NEW(&planner->arena, uint32_t, graph->value_count + 1),
        .steps   = HOLO_NEW(&planner->arena, HoloStepRecord, graph->node_count + 1),
    };
    if (!p.number || !p.steps) return holo_fail_memory(planner->error);
    HOLO_TRY(holo_places_find(graph, planner->lowered, outer, &planner->arena, &p.places, planner->error));
    HoloStatus status = plan_fill(&p, number);
    holo_free(p.operands.data);
    return status;
}

// Symbols and expressions belong to an entry.
static HoloStatus planner_use(HoloPlanner *planner, const HoloPlanEntry *entry)
{
    const HoloDims *dims    = entry->graph->dims;
    int             entries = holo_dims_count(dims), symbols = holo_dims_symbol_count(dims);
    planner->lowered       = entry->lowered;
    planner->is_device     = entry->is_device;
    planner->dims          = dims;
    planner->dim_number    = HOLO_NEW(&planner->arena, int32_t, entries + 1);
    planner->dim_room      = entries;
    planner->symbol_number = HOLO_NEW(&planner->arena, int32_t, symbols + 1);
    if (!planner->dim_number || !planner->symbol_number) return holo_fail_memory(planner->error);
    memset(planner->dim_number, 0xFF, (size_t)entries * sizeof(int32_t));
    memset(planner->symbol_number, 0xFF, (size_t)symbols * sizeof(int32_t));
    uint32_t empty;
    return holo_planner_text(planner, "", &empty);
}

// Adds the targets, if there are others than the CPU, once.
static HoloStatus targets_add(HoloPlanner *planner)
{
    const HoloTargets *targets = &planner->lowered->targets;
    if (planner->plan->section[HOLO_SECTION_TARGETS].size) return HOLO_OK;
    for (int i = 0; i < targets->count && targets->count > 1; i++) {
        HoloTargetRecord record = {0};
        HOLO_TRY(holo_planner_text(planner, targets->list[i]->name, &record.name));
        HOLO_TRY(
            holo_buffer_add(&planner->plan->section[HOLO_SECTION_TARGETS], &record, sizeof record, planner->error));
    }
    return HOLO_OK;
}

// Plans the graph of an entry under the next free number. A plan without a name that is alone needs no record.
static HoloStatus entry_add(HoloPlanner *planner, const HoloPlanEntry *entry, bool is_alone)
{
    HoloPlanBuffer *section = planner->plan->section;
    HoloArena       scratch = {0};
    bool is_here = entry->lowered->targets.count == 1; // only on the CPU does a batch run a few images at a time
    bool apart   = is_here && holo_plan_is_separate(entry->graph, &scratch);
    HoloPlanRecord  plan   = {.flags = apart ? HOLO_PLAN_SEPARATE : 0};
    HoloEntryRecord record = {.plan = (uint32_t)(section[HOLO_SECTION_PLANS].size / sizeof plan)};
    holo_arena_deinit(&scratch);
    HOLO_TRY(planner_use(planner, entry));
    HOLO_TRY(holo_buffer_add(&section[HOLO_SECTION_PLANS], &plan, sizeof plan, planner->error));
    HOLO_TRY(targets_add(planner));
    if (entry->is_device) {
        HOLO_TRY(
            holo_buffer_add(&section[HOLO_SECTION_DEVICE_PLANS], &record.plan, sizeof record.plan, planner->error));
    } else if (!is_alone || *entry->name) {
        HOLO_TRY(holo_planner_text(planner, entry->name, &record.name));
        HOLO_TRY(holo_buffer_add(&section[HOLO_SECTION_ENTRIES], &record, sizeof record, planner->error));
    }
    return plan_graph(planner, entry->graph, NULL, record.plan);
}

HoloStatus holo_plan_create_all(const HoloPlanEntry *entries, int count, HoloPlan *out, HoloError *error)
{
    *out                = (HoloPlan){0};
    HoloPlanner planner = {.plan = out, .error = error};
    HoloStatus  status  = HOLO_OK;
    int         own     = 0; // entries
    while (own < count && !entries[own].is_device) own++;
    for (int i = 0; i < count && !status; i++) status = entry_add(&planner, &entries[i], own == 1);
    holo_arena_deinit(&planner.arena);
    if (status) holo_plan_deinit(out);
    return status;
}

HoloStatus holo_plan_create(const HoloGraph *graph, const HoloLowered *lowered, HoloPlan *out, HoloError *error)
{
    return holo_plan_create_all(&(HoloPlanEntry){"", graph, lowered, false}, 1, out, error);
}

void holo_plan_fix(HoloPlan *plan, int64_t number)
{
    const HoloPlanRecord  *first = (const void *)plan->section[HOLO_SECTION_PLANS].data;
    const uint32_t        *of    = (const void *)plan->section[HOLO_SECTION_OPERANDS].data;
    const HoloValueRecord *value = (const void *)plan->section[HOLO_SECTION_VALUES].data;
    const HoloDim         *size  = (const void *)plan->section[HOLO_SECTION_SIZES].data;
    HoloDimRecord         *dims  = (void *)plan->section[HOLO_SECTION_DIMS].data;
    dims[holo_dim_entry(size[value[first->value_first + of[first->input_first]].size_first])].b = number;
}

void holo_plan_deinit(HoloPlan *plan)
{
    for (int i = 0; i < HOLO_SECTION_LIMIT; i++) holo_free(plan->section[i].data);
    holo_free(plan->constants);
    *plan = (HoloPlan){0};
}

HoloStatus holo_plan_meta(HoloPlan *plan, const char *key, const char *value, HoloError *error)
{
    HoloPlanBuffer *strings = &plan->section[HOLO_SECTION_STRINGS];
    HoloMetaRecord  record  = {.key = (uint32_t)strings->size};
    HOLO_TRY(holo_buffer_add(strings, key, strlen(key) + 1, error));
    record.value = (uint32_t)strings->size;
    HOLO_TRY(holo_buffer_add(strings, value, strlen(value) + 1, error));
    return holo_buffer_add(&plan->section[HOLO_SECTION_META], &record, sizeof record, error);
}

HoloStatus holo_plan_asset(HoloPlan *plan, const char *name, const void *data, size_t size, HoloError *error)
{
    HoloPlanBuffer *strings = &plan->section[HOLO_SECTION_STRINGS], *bytes = &plan->section[HOLO_SECTION_ASSET_DATA];
    HoloAssetRecord record = {.name = (uint32_t)strings->size, .size = size};
    HOLO_TRY(holo_buffer_add(strings, name, strlen(name) + 1, error));
    HOLO_TRY(holo_buffer_align(bytes, HOLO_WEIGHT_ALIGN, error));
    record.offset = bytes->size;
    HOLO_TRY(holo_buffer_add(bytes, data, size, error));
    return holo_buffer_add(&plan->section[HOLO_SECTION_ASSETS], &record, sizeof record, error);
}

static HoloStatus text_add(HoloPlan *plan, const char *text, uint32_t *out, HoloError *error)
{
    HoloPlanBuffer *strings = &plan->section[HOLO_SECTION_STRINGS];
    *out                    = (uint32_t)strings->size;
    return holo_buffer_add(strings, text, strlen(text) + 1, error);
}

HoloStatus holo_plan_code(HoloPlan *plan, uint32_t target, const HoloTargetCode *code, HoloError *error)
{
    HoloPlanBuffer *bytes  = &plan->section[HOLO_SECTION_CODE_DATA];
    HoloHash        hash   = holo_hash(code->data, code->size);
    HoloCodeRecord  record = {.target = target, .size = code->size, .hash = {hash.word[0], hash.word[1]}};
    HOLO_TRY(text_add(plan, code->module, &record.module, error));
    HOLO_TRY(text_add(plan, code->kind, &record.kind, error));
    HOLO_TRY(holo_buffer_align(bytes, HOLO_WEIGHT_ALIGN, error));
    record.offset = bytes->size;
    HOLO_TRY(holo_buffer_add(bytes, code->data, code->size, error));
    return holo_buffer_add(&plan->section[HOLO_SECTION_CODE], &record, sizeof record, error);
}

// Adds a text of notes. Equal texts are stored once; `from` is where the texts of notes begin.
static HoloStatus note_text(HoloPlan *plan, size_t from, const char *text, uint32_t *out, HoloError *error)
{
    HoloPlanBuffer *strings = &plan->section[HOLO_SECTION_STRINGS];
    *out                    = 0;
    if (!*text) return HOLO_OK;
    for (size_t at = from; at < strings->size; at += strlen((const char *)strings->data + at) + 1) {
        *out = (uint32_t)at;
        if (!strcmp((const char *)strings->data + at, text)) return HOLO_OK;
    }
    *out = (uint32_t)strings->size;
    return holo_buffer_add(strings, text, strlen(text) + 1, error);
}

HoloStatus holo_plan_notes(HoloPlan *plan, const HoloNotes *notes, HoloError *error)
{
    size_t from = plan->section[HOLO_SECTION_STRINGS].size;
    for (int i = 0; i < notes->count; i++) {
        const HoloNote *note   = &notes->list[i];
        HoloNoteRecord  record = {.verdict = note->verdict, .count = note->count, .bytes = note->bytes};
        HOLO_TRY(note_text(plan, from, note->pass, &record.pass, error));
        HOLO_TRY(note_text(plan, from, note->place, &record.place, error));
        HOLO_TRY(note_text(plan, from, note->what, &record.what, error));
        HOLO_TRY(note_text(plan, from, note->why, &record.why, error));
        HOLO_TRY(holo_buffer_add(&plan->section[HOLO_SECTION_NOTES], &record, sizeof record, error));
    }
    return HOLO_OK;
}

static HoloStatus program_bytes(HoloPlan *plan, const void *data, size_t size, uint32_t *out, HoloError *error)
{
    HoloPlanBuffer *bytes = &plan->section[HOLO_SECTION_BYTES];
    *out                  = 0;
    if (!size) return HOLO_OK;
    HOLO_TRY(holo_buffer_align(bytes, 8, error));
    if (bytes->size > UINT32_MAX - size) return holo_fail(error, HOLO_UNSUPPORTED, "programs of more than 4 GiB");
    *out = (uint32_t)bytes->size;
    return holo_buffer_add(bytes, data, size, error);
}

HoloStatus holo_plan_program(HoloPlan *plan, const HoloPlanProgram *program, HoloError *error)
{
    size_t            from   = plan->section[HOLO_SECTION_STRINGS].size;
    HoloProgramRecord record = {.program_size = (uint32_t)program->program_size,
                                .lanes_size   = (uint32_t)program->lanes_size};
    HOLO_TRY(note_text(plan, from, program->name, &record.name, error));
    HOLO_TRY(note_text(plan, from, program->doc, &record.doc, error));
    HOLO_TRY(program_bytes(plan, program->program, program->program_size, &record.program, error));
    HOLO_TRY(program_bytes(plan, program->lanes, program->lanes_size, &record.lanes, error));
    for (int i = 0; i < 3; i++) record.block[i] = (uint32_t)program->block[i];
    return holo_buffer_add(&plan->section[HOLO_SECTION_PROGRAMS], &record, sizeof record, error);
}
