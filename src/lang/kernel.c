// kernel.c - turns a module into programs: one for each kernel, and for each type that its type variable stands for.

#include "lang/check.h"
#include "lang/lang.h"

#include <string.h>

HoloKernelLanguage holo_kernel_language_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot || strchr(dot, '/')) return HOLO_LANGUAGE_NONE;
    return !strcmp(dot, ".py")     ? HOLO_LANGUAGE_PYTHON
           : !strcmp(dot, ".c")    ? HOLO_LANGUAGE_C
           : !strcmp(dot, ".json") ? HOLO_LANGUAGE_JSON
                                   : HOLO_LANGUAGE_NONE;
}

HoloStatus holo_kernel_parse(HoloArena *arena, const HoloKernelSource *source, HoloKernelLanguage language,
                             HoloAstModule *out, HoloError *error)
{
    switch (language) {
    case HOLO_LANGUAGE_PYTHON: return holo_parse_python(arena, source, out, error);
    case HOLO_LANGUAGE_C: return holo_parse_c(arena, source, out, error);
    case HOLO_LANGUAGE_JSON: return holo_parse_json(arena, source, out, error);
    default: break;
    }
    return holo_fail(error, HOLO_BAD_MODEL, "%.200s: a kernel is in a file that ends with .py, .c or .json",
                     source->name);
}

// ---- one program

static HoloStatus params(HoloCheck *c)
{
    const HoloAstFunction *f = c->kernel;
    for (int i = 0; i < f->param_count; i++) {
        const HoloAstParam *p     = &f->params[i];
        HoloAst             place = {.place = p->place};
        HoloCheckVar       *v;
        uint8_t             type = holo_check_resolve(c, p->dtype);
        HOLO_TRY(holo_check_declare(c, &place, p->name, type, &v));
        v->kind  = p->is_array ? HOLO_VAR_PARAM : HOLO_VAR_NUMBER;
        v->value = i;
        if (!p->is_array)
            v->value = holo_ssa_add(
                &c->ssa,
                (HoloSsaNode){
                    .op = HOLO_ISA_PARAM, .type = type, .array = (uint16_t)i, .in = {-1, -1, -1}, .owner = -1});
    }
    return HOLO_OK;
}

static HoloStatus begin(HoloArena *arena, const HoloAstModule *module, const HoloAstFunction *f, uint8_t type,
                        uint32_t options, HoloError *error, HoloCheck **out)
{
    HoloCheck *c = HOLO_NEW(arena, HoloCheck, 1);
    if (!c || !holo_ssa_init(&c->ssa, arena)) return holo_fail_memory(error);
    c->arena  = arena;
    c->module = module;
    c->kernel = c->function = f;
    c->error                = error;
    c->type                 = type;
    c->ssa.fused            = !(options & HOLO_KERNEL_EXACT);
    *out                    = c;
    return params(c);
}

// Advice about what only the validator checks: where all lanes of a block must come together.
static const char *advice_of(const HoloIsaInst *inst)
{
    bool together = inst->op == HOLO_ISA_BARRIER || inst->op == HOLO_ISA_REDUCE || inst->op == HOLO_ISA_SCAN;
    return together ? "move it out of the 'if' or the loop, or let the condition be the same for all lanes of a block"
                    : NULL;
}

static HoloStatus finish(HoloCheck *c, const char *name, bool with_arrays, HoloIsaProgram *out,
                         const HoloSourcePlace **out_where)
{
    HoloAst        place = {.place = c->kernel->place};
    HoloIsaBuilder b;
    HoloError      problem = {0};
    if (c->ssa.full) return HOLO_CHECK_FAIL(c, &place, "split the kernel", "the kernel is too large");
    HOLO_TRY(holo_ssa_schedule(&c->ssa, c->error));
    holo_isa_begin(&b, c->arena, name);
    for (int i = 0; i < c->kernel->param_count; i++) {
        const HoloAstParam *p      = &c->kernel->params[i];
        HoloIsaAccess       access = c->access[i] ? c->access[i] : HOLO_ISA_IN;
        if (!p->is_array || with_arrays)
            holo_isa_param(&b, p->name, holo_check_resolve(c, p->dtype), p->is_array ? access : HOLO_ISA_VALUE);
    }
    if (!with_arrays) holo_isa_param(&b, "lanes", HOLO_I64, HOLO_ISA_OUT);
    for (int i = 0; i < c->shared_count; i++)
        holo_isa_shared(&b, c->shared[i].name, c->shared[i].type, c->shared[i].count);
    for (int i = 0; i < c->local_count; i++) holo_isa_local(&b, c->local[i].name, c->local[i].type, c->local[i].count);
    HOLO_TRY(holo_ssa_emit(&c->ssa, &b, out_where, c->error));
    HoloStatus status = holo_isa_finish(&b, out, &problem);
    if (!status) return HOLO_OK;
    if (status == HOLO_NO_MEMORY) return holo_fail_memory(c->error);
    if (b.at >= 0) place.place = (*out_where)[b.at];
    return HOLO_CHECK_FAIL(c, &place, b.at >= 0 ? advice_of(&b.code[b.at]) : NULL, "%s", problem.text);
}

// Only the scalars of a kernel, in order: `lanes` is computed from these.
static HoloStatus scalars(HoloArena *arena, const HoloAstFunction *f, HoloAstFunction *out, HoloError *error)
{
    *out             = *f;
    out->param_count = 0;
    out->params      = HOLO_NEW(arena, HoloAstParam, f->param_count + 1);
    if (!out->params) return holo_fail_memory(error);
    for (int i = 0; i < f->param_count; i++)
        if (!f->params[i].is_array) out->params[out->param_count++] = f->params[i];
    return HOLO_OK;
}

static HoloStatus compile_lanes(HoloArena *arena, const HoloAstModule *module, const HoloAstFunction *f, uint8_t type,
                                HoloIsaProgram *out, HoloError *error)
{
    HoloAstFunction *alone = HOLO_NEW(arena, HoloAstFunction, 1);
    HoloCheck       *c;
    HoloCheckValue   value;
    int              node;
    if (!alone) return holo_fail_memory(error);
    HOLO_TRY(scalars(arena, f, alone, error));
    HOLO_TRY(begin(arena, module, alone, type, 0, error, &c));
    HOLO_TRY(holo_check_expression(c, f->lanes, &value));
    if (!holo_type_is_int(value.type))
        return HOLO_CHECK_FAIL(c, f->lanes, "use // to divide", "the number of lanes is a whole number; this is %s",
                               holo_check_type_name(value.type));
    HOLO_TRY(holo_check_coerce(c, f->lanes, value, HOLO_I64, &node));
    HoloCheckVar lanes = {.kind = HOLO_VAR_PARAM, .type = HOLO_I64, .value = alone->param_count};
    holo_check_store(c, &lanes, holo_ssa_int(&c->ssa, HOLO_I32, 0), node);
    const HoloSourcePlace *where;
    return finish(c, "lanes", false, out, &where);
}

static HoloStatus compile_one(HoloArena *arena, const HoloAstModule *module, const HoloAstFunction *f, uint8_t type,
                              uint32_t options, HoloKernelProgram *out, HoloError *error)
{
    HoloCheck *c;
    *out      = (HoloKernelProgram){.function = f, .type = type};
    out->name = type == HOLO_NONE ? f->name : holo_arena_format(arena, "%s_%s", f->name, holo_dtype_name(type));
    if (!out->name) return holo_fail_memory(error);
    HOLO_TRY(begin(arena, module, f, type, options, error, &c));
    HOLO_TRY(holo_check_block(c, f->body));
    HOLO_TRY(finish(c, out->name, true, &out->program, &out->where));
    return f->lanes ? compile_lanes(arena, module, f, type, &out->lanes, error) : HOLO_OK;
}

// ---- all of them

static HoloStatus check_names(const HoloAstModule *module, HoloError *error)
{
    int compared = 0;
    for (const HoloAstFunction *f = module->functions; f; f = f->next)
        for (const HoloAstFunction *g = module->functions; g != f; g = g->next) {
            if (++compared > 1000000)
                return holo_fail(error, HOLO_BAD_MODEL, "%s: too many functions", module->source->name);
            if (!strcmp(f->name, g->name))
                return holo_source_fail(module->source, f->place, NULL, error, "there is a function '%s' already",
                                        f->name);
        }
    return HOLO_OK;
}

static int program_count(const HoloAstFunction *f)
{
    return f->is_inline ? 0 : f->types ? __builtin_popcount(f->types) : 1;
}

HoloStatus holo_kernel_compile(HoloArena *arena, const HoloAstModule *module, uint32_t options, HoloKernelProgram **out,
                               int *out_count, HoloError *error)
{
    int count = 0;
    HOLO_TRY(check_names(module, error));
    for (const HoloAstFunction *f = module->functions; f; f = f->next) count += program_count(f);
    *out_count = 0;
    *out       = HOLO_NEW(arena, HoloKernelProgram, count + 1);
    if (!*out) return holo_fail_memory(error);
    for (const HoloAstFunction *f = module->functions; f; f = f->next) {
        if (f->is_inline) continue;
        if (!f->types) HOLO_TRY(compile_one(arena, module, f, HOLO_NONE, options, &(*out)[(*out_count)++], error));
        for (int d = 1; d < HOLO_DTYPE_COUNT; d++)
            if (f->types >> d & 1)
                HOLO_TRY(compile_one(arena, module, f, (uint8_t)d, options, &(*out)[(*out_count)++], error));
    }
    if (!count)
        return holo_fail(error, HOLO_BAD_MODEL, "%.200s: there are helpers, but no kernel", module->source->name);
    return HOLO_OK;
}
