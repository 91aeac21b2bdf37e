// step_programs.c - what steps of a plan do as portable programs: pointwise ones and tails, which plans hold in a form of
// their own, and the programs of users' kernels. Runs nothing.
#include "hologram_compiler.h"
#include "isa/isa_pointwise.h"
#include "ops/program.h"
#include "ops/user_kernel.h"
#include "runtime/kernel.h"
#include "runtime/model.h"
#include "runtime/programs.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

typedef struct Collector {
    HoloStepPrograms programs; // first, so that what is given out is its collector
    HoloArena        arena;
    HoloStepProgram *list;
    const HoloModel *model;
    HoloError       *error;
} Collector;

typedef struct Role {
    const char *name;
    bool        over_output; // x0 is the output
    int         first;       // the operator's input that comes next
} Role;

static const Role pointwise = {"pointwise", false, 0}, tail = {"tail", true, 3};

// Where kernels have a program among their parameters.
static const struct {
    uint32_t    kernel;
    size_t      offset;
    const Role *role;
} kernels[] = {
    {HOLO_KERNEL_map_f32, offsetof(HoloMapParams, program), &pointwise},
    {HOLO_KERNEL_matmul_f32, offsetof(HoloMatmulParams, tail), &tail},
    {HOLO_KERNEL_conv_nhwc_f32, offsetof(HoloConvNhwcParams, tail), &tail},
    {HOLO_KERNEL_group_norm_f32, offsetof(HoloGroupNormParams, tail), &tail},
};

// ---- a step

// The program of a step, from its parameters or, of eval, from its attribute. *out_role NULL: it has none.
static HoloStatus program_of(const HoloCall *call, uint32_t kernel, HoloProgram *out, const Role **out_role)
{
    *out      = (HoloProgram){0};
    *out_role = NULL;
    for (int i = 0; i < HOLO_COUNT(kernels); i++) {
        if (kernels[i].kernel != kernel) continue;
        if (!holo_kernel_has_params(call, kernels[i].offset + sizeof *out))
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of its kernel");
        memcpy(out, (const char *)call->params + kernels[i].offset, sizeof *out);
        *out_role = out->count ? kernels[i].role : NULL;
        return HOLO_OK;
    }
    if (strcmp(call->op->domain, "hologram") || !holo_attr_find(call, "program")) return HOLO_OK;
    HOLO_TRY(holo_program_read(call, out));
    if (out->count) *out_role = strcmp(call->op->name, "Pointwise") ? &tail : &pointwise;
    return HOLO_OK;
}

// The step's name as that of a program.
static void name_of(const HoloCall *call, char (*out)[HOLO_ISA_MAX_NAME + 1])
{
    const char *from = *call->node ? call->node : call->op->name;
    size_t      n    = 0;
    if (!isalpha((unsigned char)*from)) (*out)[n++] = '_';
    for (; *from && n < HOLO_ISA_MAX_NAME; from++)
        (*out)[n++] = isascii((unsigned char)*from) && isalnum((unsigned char)*from) ? *from : '_';
    (*out)[n] = 0;
}

static HoloStatus translate(Collector *c, const HoloCall *call, const HoloProgram *program, const Role *role,
                            const char **out_text)
{
    HoloIsaPointwise of = {.program = program, .over_output = role->over_output, .out = holo_out(call, 0)};
    HoloIsaProgram   portable;
    char             name[HOLO_ISA_MAX_NAME + 1];
    if (!of.out || !holo_program_is_valid(program, &of.inputs))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the pointwise program is not valid");
    for (int i = role->over_output; i < HOLO_MAP_INPUTS; i++)
        of.in[i] = holo_in(call, role->first + i - role->over_output);
    name_of(call, &name);
    HOLO_TRY(holo_isa_pointwise(&c->arena, name, &of, &portable, c->error));
    *out_text = holo_isa_print(&c->arena, &portable, NULL);
    return *out_text ? HOLO_OK : holo_fail_memory(c->error);
}

// One program, or none.
static HoloStatus step_add(Collector *c, const HoloCall *call, const HoloStepRecord *s)
{
    const HoloKernel *kernel = s->kernel ? holo_kernel_find(s->kernel) : NULL;
    HoloStepProgram   one = {.op = call->op->name, .domain = call->op->domain, .runs = kernel ? kernel->name : "eval"};
    HoloProgram       program;
    const Role       *role;
    if (!strcmp(call->op->domain, "hologram") && !strcmp(call->op->name, "Kernel")) {
        one.role = "kernel";
        HOLO_TRY(holo_user_kernel_print(call, &c->arena, &one.text));
    } else {
        HOLO_TRY(program_of(call, s->kernel, &program, &role));
        if (!role) return HOLO_OK;
        one.role = role->name;
        HOLO_TRY(translate(c, call, &program, role, &one.text));
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
    const HoloModel   *model    = c->model;
    const HoloArchive *a        = &model->archive;
    int                count    = s->in_count + s->out_count;
    HoloTensor       **operands = HOLO_NEW(&c->arena, HoloTensor *, count + 1);
    if (!operands) return holo_fail_memory(c->error);
    for (int i = 0; i < count; i++) {
        uint32_t value = a->OPERANDS_at[s->operand_first + (uint32_t)i];
        if (value == HOLO_NO_VALUE) continue;
        operands[i] = type_of(c, plan, value);
        if (!operands[i]) return holo_fail_memory(c->error);
    }
    HoloCall call = {
        .op          = model->ops[s->op],
        .node        = holo_model_text(model, s->name),
        .version     = (int)a->OPS_at[s->op].version,
        .in_count    = s->in_count,
        .out_count   = s->out_count,
        .in          = (const HoloTensor *const *)operands,
        .out         = operands + s->in_count,
        .attr        = model->attrs + s->attr_first,
        .attr_count  = s->attr_count,
        .params      = a->BYTES_at + s->params,
        .params_size = s->params_size,
        .error       = c->error,
    };
    return step_add(c, &call, s);
}

static HoloStatus collect(Collector *c)
{
    const HoloArchive *a    = &c->model->archive;
    size_t             room = a->PROGRAMS_count + 1;
    for (size_t i = 0; i < a->PLANS_count; i++) room += a->PLANS_at[i].step_count; // plans may share steps
    c->list              = HOLO_NEW(&c->arena, HoloStepProgram, room);
    c->programs.programs = c->list;
    if (!c->list) return holo_fail_memory(c->error);
    for (size_t i = 0; i < a->PLANS_count; i++)
        for (uint32_t k = 0; k < a->PLANS_at[i].step_count; k++)
            HOLO_TRY(step_call(c, &a->PLANS_at[i], &a->STEPS_at[a->PLANS_at[i].step_first + k]));
    for (size_t i = 0; i < a->PROGRAMS_count; i++) {
        HoloStoredProgram stored;
        HOLO_TRY(holo_program_get(a, i, &c->arena, &stored, c->error));
        HoloStepProgram one = {.step   = holo_arena_text(&c->arena, stored.name, strlen(stored.name)),
                               .op     = "",
                               .domain = "",
                               .runs   = "",
                               .role   = "stored"};
        one.text            = holo_isa_print(&c->arena, &stored.program, NULL);
        if (!one.step || !one.text) return holo_fail_memory(c->error);
        c->list[c->programs.count++] = one;
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
