// check_call.c - calls: conversions, functions of the language, and helpers, which are inlined.

#include "lang/check.h"
#include "lang/words.h"

#include <string.h>

enum { ARGS_MAX = 32 };

typedef struct Args {
    const HoloAst *at[ARGS_MAX];
    int            count;
} Args;

static HoloStatus collect(HoloCheck *c, const HoloAst *at, Args *out)
{
    out->count = 0;
    for (const HoloAst *a = at->list; a; a = a->next) {
        if (out->count == ARGS_MAX) return HOLO_CHECK_FAIL(c, a, NULL, "more than %d arguments", ARGS_MAX);
        out->at[out->count++] = a;
    }
    return HOLO_OK;
}

static HoloStatus count_is(HoloCheck *c, const HoloAst *at, const Args *args, int low, int high)
{
    if (args->count >= low && args->count <= high) return HOLO_OK;
    return HOLO_CHECK_FAIL(c, at, NULL, "%s takes %d%s argument%s, not %d", at->name, low,
                           low == high ? "" : " or more", low == 1 && high == 1 ? "" : "s", args->count);
}

static int pinned(HoloCheck *c, HoloIsaOp op, int how, uint8_t type, int a)
{
    return holo_ssa_add(&c->ssa, (HoloSsaNode){.op    = (uint16_t)op,
                                               .kind  = HOLO_SSA_PINNED,
                                               .type  = type,
                                               .how   = (uint8_t)how,
                                               .in    = {a, -1, -1},
                                               .owner = -1,
                                               .epoch = c->ssa.epoch});
}

// ---- functions of numbers

// Converts all arguments to their common type.
static HoloStatus common(HoloCheck *c, const HoloAst *at, const Args *args, uint8_t *type, int *node)
{
    HoloCheckValue v[ARGS_MAX], all;
    for (int i = 0; i < args->count; i++) HOLO_TRY(holo_check_expression(c, args->at[i], &v[i]));
    all = v[0];
    for (int i = 1; i < args->count; i++) {
        bool first = holo_check_is_literal(all), second = holo_check_is_literal(v[i]);
        if (first && !second)
            all = v[i];
        else if (first)
            all.type = v[i].type > all.type ? v[i].type : all.type; // of two literals, the one with a point
        else if (!second)
            HOLO_TRY(holo_check_join(c, at, all, v[i], &all.type));
    }
    HOLO_TRY(holo_check_settle(c, at, all, &all));
    *type = all.type;
    for (int i = 0; i < args->count; i++) HOLO_TRY(holo_check_coerce(c, args->at[i], v[i], *type, &node[i]));
    return HOLO_OK;
}

static HoloStatus math(HoloCheck *c, const HoloAst *at, const HoloWordRow *word, const Args *args, HoloCheckValue *out)
{
    int  node[ARGS_MAX] = {0};
    bool many           = word->op == HOLO_ISA_MIN || word->op == HOLO_ISA_MAX;
    HOLO_TRY(count_is(c, at, args, word->count, many ? ARGS_MAX : word->count));
    HOLO_TRY(common(c, at, args, &out->type, node));
    bool is_float = holo_type_is_float(out->type), is_int = holo_type_is_int(out->type);
    if (word->group == HOLO_GROUP_MATH && !is_float)
        return HOLO_CHECK_FAIL(c, at, "convert it: f32(x)", "%s is a function of floats; this is %s", word->name,
                               holo_check_type_name(out->type));
    if ((word->group == HOLO_GROUP_BITS && !is_int) || (!is_int && !is_float))
        return HOLO_CHECK_FAIL(c, at, NULL, "there is no %s for %s", word->name, holo_check_type_name(out->type));
    bool is_unsigned = out->type == HOLO_U8 || out->type == HOLO_U16 || out->type == HOLO_U32 || out->type == HOLO_U64;
    out->node        = node[0];
    if (is_unsigned && word->op == HOLO_ISA_ABS) return HOLO_OK;
    if (is_unsigned && word->op == HOLO_ISA_SIGN) {
        out->node = holo_ssa_pure(&c->ssa, HOLO_ISA_MIN, out->type, node[0], holo_ssa_int(&c->ssa, out->type, 1), -1);
        return HOLO_OK;
    }
    for (int i = 1; many && i < args->count; i++)
        out->node = holo_ssa_pure(&c->ssa, word->op, out->type, out->node, node[i], -1);
    if (!many)
        out->node = holo_ssa_pure(&c->ssa, word->op, out->type, node[0], args->count > 1 ? node[1] : -1,
                                  args->count > 2 ? node[2] : -1);
    return HOLO_OK;
}

// ---- where the lane is

static HoloStatus place(HoloCheck *c, const HoloAst *at, HoloWord word, const Args *args, HoloCheckValue *out)
{
    static const struct {
        uint8_t word, alone, first; // what it is without an axis, and for x
    } rows[] = {
        {HOLO_WORD_GLOBAL_ID, HOLO_ISA_SPECIAL_GLOBAL_ID, HOLO_ISA_SPECIAL_GLOBAL_X},
        {HOLO_WORD_LOCAL_ID, HOLO_ISA_SPECIAL_LANE_ID, HOLO_ISA_SPECIAL_LANE_X},
        {HOLO_WORD_BLOCK_ID, HOLO_ISA_SPECIAL_BLOCK_X, HOLO_ISA_SPECIAL_BLOCK_X},
        {HOLO_WORD_BLOCK_DIM, HOLO_ISA_SPECIAL_BLOCK_DIM_X, HOLO_ISA_SPECIAL_BLOCK_DIM_X},
        {HOLO_WORD_GRID_DIM, HOLO_ISA_SPECIAL_GRID_DIM_X, HOLO_ISA_SPECIAL_GRID_DIM_X},
    };
    HOLO_TRY(count_is(c, at, args, 0, 1));
    const HoloAst *axis = args->count ? args->at[0] : NULL;
    if (axis &&
        (axis->kind != HOLO_AST_LITERAL || axis->literal != HOLO_LITERAL_INT || axis->integer < 0 || axis->integer > 2))
        return HOLO_CHECK_FAIL(c, axis, "as in: local_id(1)", "an axis is 0, 1 or 2");
    int which = 0;
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        if (rows[i].word == word) which = axis ? rows[i].first + (int)axis->integer : rows[i].alone;
    *out      = (HoloCheckValue){.type = HOLO_I64};
    out->node = holo_ssa_add(
        &c->ssa, (HoloSsaNode){
                     .op = HOLO_ISA_SPECIAL, .type = HOLO_I64, .how = (uint8_t)which, .in = {-1, -1, -1}, .owner = -1});
    return HOLO_OK;
}

static HoloStatus length(HoloCheck *c, const HoloAst *at, const Args *args, HoloCheckValue *out)
{
    HoloCheckVar *v = NULL;
    HOLO_TRY(count_is(c, at, args, 1, 1));
    HOLO_TRY(holo_check_array(c, args->at[0], 0, &v));
    *out = (HoloCheckValue){.type = HOLO_I64};
    if (v->kind != HOLO_VAR_PARAM) {
        const HoloIsaArray *arrays = v->kind == HOLO_VAR_SHARED ? c->shared : c->local;
        out->node                  = holo_ssa_int(&c->ssa, HOLO_I64, arrays[v->value].count);
        return HOLO_OK;
    }
    out->node = holo_ssa_add(
        &c->ssa,
        (HoloSsaNode){
            .op = HOLO_ISA_LENGTH, .type = HOLO_I64, .array = (uint16_t)v->value, .in = {-1, -1, -1}, .owner = -1});
    return HOLO_OK;
}

static HoloStatus widen(HoloCheck *c, const HoloAst *at, const Args *args, HoloCheckValue *out)
{
    HoloCheckValue v;
    HOLO_TRY(count_is(c, at, args, 1, 1));
    HOLO_TRY(holo_check_expression(c, args->at[0], &v));
    HOLO_TRY(holo_check_settle(c, at, v, &v));
    return holo_check_cast(c, at, v, holo_check_widened(v.type), out);
}

// ---- lanes together

static HoloStatus together(HoloCheck *c, const HoloAst *at, const HoloWordRow *word, const Args *args,
                           HoloCheckValue *out)
{
    HoloCheckValue v;
    HOLO_TRY(count_is(c, at, args, 1, 1));
    HOLO_TRY(holo_check_expression(c, args->at[0], &v));
    HOLO_TRY(holo_check_settle(c, args->at[0], v, out));
    if (!holo_type_is_int(out->type) && !holo_type_is_float(out->type))
        return HOLO_CHECK_FAIL(c, at, "convert it: i32(x)", "there is no %s of %s", word->name,
                               holo_check_type_name(out->type));
    out->node =
        pinned(c, word->group == HOLO_GROUP_SCAN ? HOLO_ISA_SCAN : HOLO_ISA_REDUCE, word->op, out->type, out->node);
    return HOLO_OK;
}

static HoloStatus atomic(HoloCheck *c, const HoloAst *at, const HoloWordRow *word, const Args *args,
                         HoloCheckValue *out)
{
    HoloCheckVar  *v = NULL;
    HoloCheckValue value;
    int            index, node;
    HOLO_TRY(count_is(c, at, args, 3, 3));
    HOLO_TRY(holo_check_array(c, args->at[0], HOLO_ISA_INOUT, &v));
    if (v->kind == HOLO_VAR_LOCAL)
        return HOLO_CHECK_FAIL(c, args->at[0], "a[i] += x", "a local array belongs to one lane and needs no atomics");
    bool fits = v->type == HOLO_I32 || v->type == HOLO_U32 || v->type == HOLO_I64 || v->type == HOLO_U64 ||
                v->type == HOLO_F32 || v->type == HOLO_F64;
    bool bits = word->op == HOLO_ISA_OPER_AND || word->op == HOLO_ISA_OPER_OR || word->op == HOLO_ISA_OPER_XOR;
    if (!fits || (bits && holo_type_is_float(v->type)))
        return HOLO_CHECK_FAIL(c, at, "use an array of i32, u32, i64, u64, f32 or f64", "there is no %s of %s",
                               word->name, holo_dtype_name(v->type));
    HOLO_TRY(holo_check_index(c, args->at[1], &index));
    HOLO_TRY(holo_check_expression(c, args->at[2], &value));
    HOLO_TRY(holo_check_coerce(c, args->at[2], value, v->type, &node));
    *out      = (HoloCheckValue){.type = v->type};
    out->node = holo_ssa_add(&c->ssa, (HoloSsaNode){.op   = v->kind == HOLO_VAR_SHARED ? HOLO_ISA_ATOMS : HOLO_ISA_ATOM,
                                                    .kind = HOLO_SSA_EFFECT,
                                                    .type = v->type,
                                                    .how  = (uint8_t)word->op,
                                                    .array = (uint16_t)v->value,
                                                    .in    = {index, node, -1},
                                                    .owner = -1});
    holo_ssa_writes(&c->ssa);
    return HOLO_OK;
}

static HoloStatus word_call(HoloCheck *c, const HoloAst *at, HoloWord number, bool is_statement, const Args *args,
                            HoloCheckValue *out)
{
    const HoloWordRow *word = &holo_words[number];
    if (is_statement && word->group != HOLO_GROUP_ATOMIC && word->group != HOLO_GROUP_BARRIER)
        return HOLO_CHECK_FAIL(c, at, "assign it to a variable, or remove the line", "the result of %s is not used",
                               word->name);
    switch ((HoloWordGroup)word->group) {
    case HOLO_GROUP_MATH:
    case HOLO_GROUP_NUMBER:
    case HOLO_GROUP_BITS: return math(c, at, word, args, out);
    case HOLO_GROUP_ID: return place(c, at, number, args, out);
    case HOLO_GROUP_LENGTH: return length(c, at, args, out);
    case HOLO_GROUP_WIDEN: return widen(c, at, args, out);
    case HOLO_GROUP_REDUCE:
    case HOLO_GROUP_SCAN: return together(c, at, word, args, out);
    case HOLO_GROUP_ATOMIC: return atomic(c, at, word, args, out);
    case HOLO_GROUP_BARRIER: break;
    }
    HOLO_TRY(count_is(c, at, args, 0, 0));
    if (!is_statement) return HOLO_CHECK_FAIL(c, at, "write barrier() on a line of its own", "a barrier has no value");
    holo_ssa_effect(&c->ssa, HOLO_ISA_BARRIER, -1);
    holo_ssa_writes(&c->ssa); // of other lanes
    return HOLO_OK;
}

// ---- helpers

static HoloStatus bind(HoloCheck *c, const HoloAst *argument, const HoloAstParam *param, HoloCheckVar *out)
{
    HoloCheckVar *given = argument->kind == HOLO_AST_VAR ? holo_check_find(c, argument->name) : NULL;
    uint8_t       type  = holo_check_resolve(c, param->dtype);
    *out                = (HoloCheckVar){.name = param->name, .kind = HOLO_VAR_NUMBER, .type = type};
    if (given && given->kind != HOLO_VAR_NUMBER && (param->is_array || param->dtype == HOLO_NONE)) {
        if (type != HOLO_NONE && type != given->type)
            return HOLO_CHECK_FAIL(c, argument, NULL, "an array of %s is needed, not of %s", holo_dtype_name(type),
                                   holo_dtype_name(given->type));
        *out      = *given;
        out->name = param->name;
        return HOLO_OK;
    }
    if (param->is_array) return HOLO_CHECK_FAIL(c, argument, NULL, "the name of an array is needed here");
    HoloCheckValue v;
    HOLO_TRY(holo_check_expression(c, argument, &v));
    if (type != HOLO_NONE) return holo_check_coerce(c, argument, v, type, &out->value);
    HOLO_TRY(holo_check_settle(c, argument, v, &v));
    if (v.type == HOLO_NONE) return HOLO_CHECK_FAIL(c, argument, NULL, "there is no value here");
    out->type  = v.type;
    out->value = v.node;
    return HOLO_OK;
}

// The statements of a helper but for the last, which is its only return.
static HoloStatus helper_body(HoloCheck *c, const HoloAst *at, const HoloAstFunction *f, HoloCheckValue *out)
{
    const HoloAst *s = f->body;
    for (; s && s->next; s = s->next) {
        HoloAst one = *s;
        one.next    = NULL;
        HOLO_TRY(holo_check_block(c, &one));
    }
    if (!s || s->kind != HOLO_AST_RETURN || !s->a)
        return HOLO_CHECK_FAIL(c, s ? s : at, "end it with: return ...", "the helper '%s' gives no value", f->name);
    HOLO_TRY(holo_check_expression(c, s->a, out));
    return HOLO_OK;
}

static HoloStatus helper_call(HoloCheck *c, const HoloAst *at, const HoloAstFunction *f, const Args *args,
                              HoloCheckValue *out)
{
    HOLO_TRY(count_is(c, at, args, f->param_count, f->param_count));
    if (c->calls == HOLO_CHECK_CALLS || c->var_count + args->count > HOLO_CHECK_VARS)
        return HOLO_CHECK_FAIL(c, at, NULL, "helpers call helpers more than %d deep", HOLO_CHECK_CALLS);
    int          base = c->base, count = c->var_count;
    HoloCheckVar bound[ARGS_MAX];
    for (int i = 0; i < args->count; i++) HOLO_TRY(bind(c, args->at[i], &f->params[i], &bound[i]));
    memcpy(c->var + c->var_count, bound, (size_t)args->count * sizeof *bound);
    const HoloAstFunction *outer = c->function;
    HoloCheckLoop         *loop  = c->loop;
    c->base                      = count;
    c->function                  = f;
    c->loop                      = NULL;
    c->var_count += args->count;
    c->calls++;
    HOLO_TRY(helper_body(c, at, f, out));
    c->calls--;
    c->base      = base;
    c->var_count = count;
    c->function  = outer;
    c->loop      = loop;
    return HOLO_OK;
}

// Helpers can only be called below their definition, so none can call itself.
static HoloStatus find_helper(HoloCheck *c, const HoloAst *at, const HoloAstFunction **out)
{
    const HoloAstFunction *f = c->module->functions;
    for (*out = NULL; f && f != c->function; f = f->next)
        if (f->is_inline && !strcmp(f->name, at->name)) *out = f;
    if (*out) return HOLO_OK;
    if (!strcmp(c->function->name, at->name))
        return HOLO_CHECK_FAIL(c, at, "write a loop", "'%s' calls itself: there is no recursion", at->name);
    for (; f; f = f->next)
        if (!strcmp(f->name, at->name))
            return HOLO_CHECK_FAIL(c, at, "move it above, and mark it @inline", "'%s' is defined below", at->name);
    for (f = c->module->functions; f && f != c->function; f = f->next)
        if (!strcmp(f->name, at->name))
            return HOLO_CHECK_FAIL(c, at, "mark it @inline", "'%s' is a kernel: kernels are launched, not called",
                                   at->name);
    return HOLO_OK;
}

HoloStatus holo_check_call(HoloCheck *c, const HoloAst *at, bool is_statement, HoloCheckValue *out)
{
    const HoloAstFunction *helper;
    Args                   args;
    HoloCheckValue         v;
    *out = (HoloCheckValue){.type = HOLO_NONE};
    HOLO_TRY(collect(c, at, &args));
    bool    is_variable = c->kernel->type_name && !strcmp(at->name, c->kernel->type_name);
    uint8_t type        = is_variable ? c->type : (uint8_t)holo_lang_type(at->name);
    if (type != HOLO_NONE) {
        if (is_statement) return HOLO_CHECK_FAIL(c, at, "assign it to a variable", "this value is not used");
        HOLO_TRY(count_is(c, at, &args, 1, 1));
        HOLO_TRY(holo_check_expression(c, args.at[0], &v));
        return holo_check_cast(c, at, v, type, out);
    }
    HOLO_TRY(find_helper(c, at, &helper));
    if (helper && is_statement)
        return HOLO_CHECK_FAIL(c, at, "assign it to a variable", "the result of %s is not used", at->name);
    if (helper) return helper_call(c, at, helper, &args, out);
    int word = holo_lang_word(at->name);
    if (word >= 0) return word_call(c, at, word, is_statement, &args, out);
    if (!strcmp(at->name, "local") || !strcmp(at->name, "shared"))
        return HOLO_CHECK_FAIL(c, at, "on a line of its own: t = shared(f32, 256)", "an array cannot be made here");
    const char *nearest = holo_lang_nearest(at->name);
    return *nearest ? HOLO_CHECK_FAIL(c, at, "mark helpers @inline and put them above the kernel",
                                      "there is no function '%s'; did you mean %s?", at->name, nearest)
                    : HOLO_CHECK_FAIL(c, at, "mark helpers @inline and put them above the kernel",
                                      "there is no function '%s'", at->name);
}
