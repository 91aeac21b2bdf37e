// step_programs.c - the portable programs of an archive, as text: what steps do to each element, the programs of users'
// kernels, and stored programs that belong to no step. It runs nothing.
#include "devices/cpu/kernel.h"
#include "hologram_compiler.h"
#include "ops/hologram/user_kernel.h"
#include "ops/op_id.h"
#include "runtime/model.h"
#include "runtime/programs.h"

#include <string.h>

typedef struct Stored {      // a program of the archive
    const char *name, *text; // NULL: not made yet
    bool        is_tail;     // it reads the result of its step and writes over it
} Stored;

typedef struct Collector {
    HoloStepPrograms programs; // first, so that a pointer to the programs is a pointer to their collector
    HoloArena        arena;
    HoloStepProgram *list;
    Stored          *stored; // by number
    const HoloModel *model;
    HoloError       *error;
} Collector;

// ---- a step

// Steps of equal layers share a program.
static HoloStatus stored_get(Collector *c, size_t number, const Stored **out)
{
    Stored           *stored = &c->stored[number];
    HoloStoredProgram found;
    *out = stored;
    if (stored->text) return HOLO_OK;
    HOLO_TRY(holo_program_get(&c->model->archive, number, &c->arena, &found, c->error));
    for (int i = 0; i < found.program.param_count; i++)
        stored->is_tail |= found.program.params[i].access == HOLO_ISA_INOUT;
    stored->name = holo_arena_text(&c->arena, found.name, strlen(found.name));
    stored->text = holo_isa_print(&c->arena, &found.program, NULL);
    return stored->name && stored->text ? HOLO_OK : holo_fail_memory(c->error);
}

// Adds the program of a step, if it has one.
static HoloStatus step_add(Collector *c, const HoloCall *call, const HoloStepRecord *s)
{
    const HoloCpuKernel *kernel = s->kernel ? holo_cpu_kernel_find(s->kernel) : NULL;
    HoloStepProgram one = {.op = call->op->name, .domain = call->op->domain, .runs = kernel ? kernel->name : "eval"};
    if (holo_op_is(call->op, HOLO_ID_HOLOGRAM_Kernel)) {
        one.role = holo_user_kernel_is_chain(call) ? "pointwise" : "kernel";
        HOLO_TRY(holo_user_kernel_print(call, &c->arena, &one.text));
    } else {
        const Stored *stored;
        if (!s->program) return HOLO_OK;
        HOLO_TRY(stored_get(c, s->program - 1, &stored));
        one.text = stored->text;
        one.role = stored->is_tail ? "tail" : "pointwise";
    }
    one.step = holo_arena_text(&c->arena, call->node, strlen(call->node));
    if (!one.step) return holo_fail_memory(c->error);
    c->list[c->programs.count++] = one;
    return HOLO_OK;
}

// ---- a plan

static HoloTensor *type_of(Collector *c, const HoloPlanRecord *plan, uint32_t value)
{
    const HoloArchive *a = &c->model->archive;
    HoloTensor        *t = HOLO_NEW(&c->arena, HoloTensor, 1);
    if (!t) return NULL;
    const HoloValueRecord *v = &a->VALUES_at[plan->value_first + value];
    *t                       = (HoloTensor){.dtype = v->dtype, .kind = v->kind, .inner = v->inner, .rank = v->rank};
    for (int d = 0; d < v->rank; d++) t->dim[d] = a->SIZES_at[v->size_first + (uint32_t)d];
    return t;
}

static HoloStatus step_call(Collector *c, const HoloPlanRecord *plan, const HoloStepRecord *s)
{
    const HoloArchive *a        = &c->model->archive;
    int                count    = s->in_count + s->out_count;
    HoloTensor       **operands = HOLO_NEW(&c->arena, HoloTensor *, count + 1);
    if (!operands) return holo_fail_memory(c->error);
    for (int i = 0; i < count; i++) {
        uint32_t value = a->OPERANDS_at[s->operand_first + (uint32_t)i];
        if (value == HOLO_NO_VALUE) continue;
        operands[i] = type_of(c, plan, value);
        if (!operands[i]) return holo_fail_memory(c->error);
    }
    HoloCall call = holo_model_call(c->model, s, operands);
    call.error    = c->error;
    return step_add(c, &call, s);
}

static HoloStatus collect(Collector *c)
{
    const HoloArchive *a    = &c->model->archive;
    size_t             room = a->PROGRAMS_count + 1;
    for (size_t i = 0; i < a->PLANS_count; i++) room += a->PLANS_at[i].step_count; // plans may share steps
    c->list              = HOLO_NEW(&c->arena, HoloStepProgram, room);
    c->stored            = HOLO_NEW(&c->arena, Stored, a->PROGRAMS_count + 1);
    c->programs.programs = c->list;
    if (!c->list || !c->stored) return holo_fail_memory(c->error);
    for (size_t i = 0; i < a->PLANS_count; i++)
        for (uint32_t k = 0; k < a->PLANS_at[i].step_count; k++)
            HOLO_TRY(step_call(c, &a->PLANS_at[i], &a->STEPS_at[a->PLANS_at[i].step_first + k]));
    for (size_t i = 0; i < a->PROGRAMS_count; i++) {
        const Stored *stored;
        if (!holo_program_is_named(a, i)) continue; // programs without a name belong to steps, which are listed already
        HOLO_TRY(stored_get(c, i, &stored));
        c->list[c->programs.count++] = (HoloStepProgram){
            .step = stored->name, .op = "", .domain = "", .runs = "", .role = "stored", .text = stored->text};
    }
    return HOLO_OK;
}

HoloStatus holo_step_programs_open(const HoloModel *model, HoloStepPrograms **out_programs, HoloError *error)
{
    Collector *c  = holo_realloc(NULL, sizeof *c);
    *out_programs = NULL;
    if (!c) return holo_fail_memory(error);
    *c                = (Collector){.model = model, .error = error};
    HoloStatus status = collect(c);
    if (status)
        holo_step_programs_close(&c->programs);
    else
        *out_programs = &c->programs;
    return status;
}

void holo_step_programs_close(HoloStepPrograms *programs)
{
    if (!programs) return;
    Collector *c = (Collector *)(void *)programs;
    holo_arena_deinit(&c->arena);
    holo_free(c);
}
