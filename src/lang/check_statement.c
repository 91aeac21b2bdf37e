// check_statement.c - statements: variables, elements, branches, arrays.

#include "lang/check.h"

#include <stdio.h>
#include <string.h>

// ---- variables

HoloStatus holo_check_declare(HoloCheck *c, const HoloAst *at, const char *name, uint8_t type, HoloCheckVar **out)
{
    if (c->var_count == HOLO_CHECK_VARS)
        return HOLO_CHECK_FAIL(c, at, "use an array", "more than %d variables", HOLO_CHECK_VARS);
    *out  = &c->var[c->var_count++];
    **out = (HoloCheckVar){.name = name, .kind = HOLO_VAR_NUMBER, .type = type, .value = -1};
    return HOLO_OK;
}

HoloStatus holo_check_set(HoloCheck *c, const HoloAst *at, const char *name, uint8_t type, HoloCheckValue value)
{
    HoloCheckVar *v = holo_check_find(c, name);
    if (v && v->kind != HOLO_VAR_NUMBER)
        return HOLO_CHECK_FAIL(c, at, "assign to an element: a[i] = x", "'%s' is an array", name);
    if (v && type != HOLO_NONE && type != v->type)
        return HOLO_CHECK_FAIL(c, at, "a variable has one type", "'%s' is %s already", name, holo_dtype_name(v->type));
    if (!v) {
        if (type == HOLO_NONE) {
            HOLO_TRY(holo_check_settle(c, at, value, &value));
            type = value.type;
        }
        if (type == HOLO_NONE) return HOLO_CHECK_FAIL(c, at, NULL, "there is no value here");
        HOLO_TRY(holo_check_declare(c, at, name, type, &v));
    }
    int       node;
    HoloAst   place = *at;
    char      advice[HOLO_LANG_NAME + 60];
    uint8_t   wanted = v->type;
    HoloError first = {0}, *error = c->error;
    c->error          = &first; // with better advice than that for any value
    HoloStatus status = holo_check_coerce(c, &place, value, v->type, &node);
    c->error          = error;
    if (status && value.type == HOLO_LITERAL_OF_INT) return holo_check_coerce(c, at, value, wanted, &node);
    if (status) {
        snprintf(advice, sizeof advice, "say %s where it comes first, or convert: %s(x)",
                 value.type >= HOLO_LITERAL_OF_INT ? "f32" : holo_dtype_name(value.type), holo_dtype_name(wanted));
        return HOLO_CHECK_FAIL(c, at, advice, "'%s' is %s, and this is %s", name, holo_dtype_name(wanted),
                               holo_check_type_name(value.type));
    }
    v->value = node;
    return HOLO_OK;
}

void holo_check_store(HoloCheck *c, const HoloCheckVar *array, int index, int value)
{
    static const uint16_t ops[] = {
        [HOLO_VAR_PARAM] = HOLO_ISA_ST, [HOLO_VAR_SHARED] = HOLO_ISA_STS, [HOLO_VAR_LOCAL] = HOLO_ISA_STL};
    holo_ssa_add(&c->ssa, (HoloSsaNode){.op    = ops[array->kind],
                                        .kind  = HOLO_SSA_EFFECT,
                                        .type  = array->type,
                                        .array = (uint16_t)array->value,
                                        .in    = {index, value, -1},
                                        .owner = -1});
    holo_ssa_writes(&c->ssa);
}

static HoloStatus assign(HoloCheck *c, const HoloAst *at)
{
    HoloCheckValue value;
    HoloCheckVar  *array = NULL;
    int            index, node;
    if (at->kind == HOLO_AST_LET) {
        HOLO_TRY(holo_check_expression(c, at->b, &value));
        return holo_check_set(c, at, at->name, holo_check_resolve(c, at->dtype), value);
    }
    if (at->a->kind == HOLO_AST_VAR) {
        HOLO_TRY(holo_check_expression(c, at->b, &value));
        return holo_check_set(c, at->a, at->a->name, HOLO_NONE, value);
    }
    if (at->a->kind != HOLO_AST_INDEX)
        return HOLO_CHECK_FAIL(c, at->a, "assign to a variable or to an element: a[i] = x",
                               "nothing can be assigned to this");
    HOLO_TRY(holo_check_array(c, at->a->a, HOLO_ISA_OUT, &array));
    HOLO_TRY(holo_check_index(c, at->a->b, &index));
    HOLO_TRY(holo_check_expression(c, at->b, &value));
    HOLO_TRY(holo_check_coerce(c, at->b, value, array->type, &node));
    holo_check_store(c, array, index, node);
    return HOLO_OK;
}

// ---- arrays

static HoloStatus array(HoloCheck *c, const HoloAst *at)
{
    HoloCheckValue size;
    HoloCheckVar  *v      = NULL;
    int           *count  = at->shared ? &c->shared_count : &c->local_count;
    HoloIsaArray  *arrays = at->shared ? c->shared : c->local;
    uint8_t        type   = holo_check_resolve(c, at->dtype);
    HOLO_TRY(holo_check_expression(c, at->a, &size));
    int64_t limit = (at->shared ? HOLO_ISA_MAX_SHARED : HOLO_ISA_MAX_LOCAL) / (int64_t)holo_dtype_size(type);
    if (size.type != HOLO_LITERAL_OF_INT)
        return HOLO_CHECK_FAIL(c, at->a, "use a number, or a constant of the module", "the size of an array is fixed");
    if (size.integer < 1 || size.integer > limit)
        return HOLO_CHECK_FAIL(c, at->a, NULL, "%s arrays of %s have 1 to %lld elements",
                               at->shared ? "shared" : "local", holo_dtype_name(type), (long long)limit);
    if (c->loop || c->ssa.region[c->ssa.here].depth || c->calls)
        return HOLO_CHECK_FAIL(c, at, "make arrays at the start of the kernel", "an array cannot be made here");
    if (holo_check_find(c, at->name)) return HOLO_CHECK_FAIL(c, at, NULL, "there is a '%s' already", at->name);
    if (*count == HOLO_ISA_MAX_ARRAYS)
        return HOLO_CHECK_FAIL(c, at, "use one for several things", "more than %d arrays", HOLO_ISA_MAX_ARRAYS);
    HOLO_TRY(holo_check_declare(c, at, at->name, type, &v));
    v->kind        = at->shared ? HOLO_VAR_SHARED : HOLO_VAR_LOCAL;
    v->value       = *count;
    arrays[*count] = (HoloIsaArray){at->name, type, (uint32_t)size.integer};
    *count += 1;
    return HOLO_OK;
}

// ---- control

static HoloStatus if_statement(HoloCheck *c, const HoloAst *at)
{
    HoloCheckBranch branch;
    int             condition;
    HOLO_TRY(holo_check_condition(c, at->a, &condition));
    HOLO_TRY(holo_check_branch(c, at, condition, &branch));
    HOLO_TRY(holo_check_block(c, at->list));
    HOLO_TRY(holo_check_else(c, &branch));
    HOLO_TRY(holo_check_block(c, at->other));
    return holo_check_join_branches(c, &branch, NULL, NULL);
}

static HoloStatus return_statement(HoloCheck *c, const HoloAst *at)
{
    if (c->calls)
        return HOLO_CHECK_FAIL(c, at, "choose with: a if condition else b", "a helper has one return, at its end");
    if (at->a) return HOLO_CHECK_FAIL(c, at, "write it into an array", "a kernel gives no value back");
    holo_ssa_effect(&c->ssa, HOLO_ISA_EXIT, -1);
    c->dead = true;
    return HOLO_OK;
}

// ---- all of them

static HoloStatus statement(HoloCheck *c, const HoloAst *at)
{
    HoloCheckValue ignored;
    switch ((HoloAstKind)at->kind) {
    case HOLO_AST_LET:
    case HOLO_AST_ASSIGN: return assign(c, at);
    case HOLO_AST_IF: return if_statement(c, at);
    case HOLO_AST_FOR: return holo_check_for(c, at);
    case HOLO_AST_WHILE: return holo_check_while(c, at);
    case HOLO_AST_RETURN: return return_statement(c, at);
    case HOLO_AST_BREAK:
    case HOLO_AST_CONTINUE: return holo_check_leave(c, at);
    case HOLO_AST_ARRAY: return array(c, at);
    case HOLO_AST_CALL: return holo_check_call(c, at, true, &ignored);
    default: return holo_check_parallel(c, at);
    }
}

HoloStatus holo_check_block(HoloCheck *c, const HoloAst *list)
{
    for (; list; list = list->next) {
        if (c->dead) return HOLO_CHECK_FAIL(c, list, "remove it", "this is never reached");
        if (c->ssa.full) return HOLO_CHECK_FAIL(c, list, "split the kernel", "the kernel is too large");
        c->ssa.where = list->place;
        HOLO_TRY(statement(c, list));
    }
    return HOLO_OK;
}
