// check_expression.c - names, elements, choices; the rest of expressions is in check_operator.c and check_call.c.

#include "lang/check.h"
#include "lang/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

HoloCheckVar *holo_check_find(HoloCheck *c, const char *name)
{
    for (int i = c->var_count; i-- > c->base;)
        if (!strcmp(c->var[i].name, name)) return &c->var[i];
    return NULL;
}

// ---- names

static bool constant(const char *name, HoloCheckValue *out)
{
    static const struct {
        const char *name;
        double      value;
    } rows[] = {{"inf", INFINITY}, {"nan", NAN}, {"pi", 3.141592653589793}};
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        if (strcmp(rows[i].name, name)) continue;
        *out = (HoloCheckValue){.type = HOLO_LITERAL_OF_FLOAT, .number = rows[i].value};
        return true;
    }
    return false;
}

static HoloStatus name(HoloCheck *c, const HoloAst *at, HoloCheckValue *out)
{
    HoloCheckVar *v = holo_check_find(c, at->name);
    if (!v && constant(at->name, out)) return HOLO_OK;
    if (!v && holo_lang_word(at->name) >= 0)
        return HOLO_CHECK_FAIL(c, at, "call it, with ( and )", "'%s' is a function", at->name);
    if (!v) return HOLO_CHECK_FAIL(c, at, "assign to it first", "there is no variable '%s'", at->name);
    if (v->kind != HOLO_VAR_NUMBER)
        return HOLO_CHECK_FAIL(c, at, "take an element: a[i]", "'%s' is an array", at->name);
    if (v->value < 0)
        return HOLO_CHECK_FAIL(c, at, "give it a value before the 'if' or the loop", "'%s' may have no value here",
                               at->name);
    *out = (HoloCheckValue){.type = v->type, .node = v->value};
    return HOLO_OK;
}

HoloStatus holo_check_array(HoloCheck *c, const HoloAst *at, int access, HoloCheckVar **out)
{
    if (at->kind != HOLO_AST_VAR) return HOLO_CHECK_FAIL(c, at, "as in: a[i]", "the name of an array is expected here");
    HoloCheckVar *v = holo_check_find(c, at->name);
    if (!v)
        return HOLO_CHECK_FAIL(c, at, "arrays are parameters: a: DeviceArray[f32]", "there is no array '%s'", at->name);
    if (v->kind == HOLO_VAR_NUMBER)
        return HOLO_CHECK_FAIL(c, at, "arrays are parameters, or made by local(f32, 8) and shared(f32, 256)",
                               "'%s' is a number and has no elements", at->name);
    if (v->kind == HOLO_VAR_PARAM && access & HOLO_ISA_OUT && c->kernel->params[v->value].is_const)
        return HOLO_CHECK_FAIL(c, at, "remove 'const' where it is declared", "'%s' is const", at->name);
    if (v->kind == HOLO_VAR_PARAM) c->access[v->value] |= (uint8_t)access;
    *out = v;
    return HOLO_OK;
}

static HoloStatus element(HoloCheck *c, const HoloAst *at, HoloCheckValue *out)
{
    static const uint16_t ops[] = {
        [HOLO_VAR_PARAM] = HOLO_ISA_LD, [HOLO_VAR_SHARED] = HOLO_ISA_LDS, [HOLO_VAR_LOCAL] = HOLO_ISA_LDL};
    HoloCheckVar *v = NULL;
    int           index;
    HOLO_TRY(holo_check_array(c, at->a, HOLO_ISA_IN, &v));
    HOLO_TRY(holo_check_index(c, at->b, &index));
    out->type = v->type;
    out->node = holo_ssa_add(&c->ssa, (HoloSsaNode){.op    = ops[v->kind],
                                                    .kind  = HOLO_SSA_PINNED,
                                                    .type  = v->type,
                                                    .array = (uint16_t)v->value,
                                                    .in    = {index, -1, -1},
                                                    .owner = -1,
                                                    .epoch = c->ssa.epoch});
    return HOLO_OK;
}

// ---- choices

// Both sides of a choice must have one type: each is computed in its branch and converted there. A literal takes the
// type of the other side, which is therefore checked twice if the literal comes first.
static HoloStatus choice(HoloCheck *c, const HoloAst *at, HoloCheckValue *out)
{
    int             condition, value[2];
    HoloCheckBranch branch;
    HoloCheckValue  a, b;
    HOLO_TRY(holo_check_condition(c, at->a, &condition));
    HOLO_TRY(holo_check_branch(c, at, condition, &branch));
    HOLO_TRY(holo_check_expression(c, at->b, &a));
    int then_region = c->ssa.here;
    HOLO_TRY(holo_check_else(c, &branch));
    HOLO_TRY(holo_check_expression(c, at->c, &b));
    uint8_t type = HOLO_BOOL;
    if (a.type != HOLO_BOOL || b.type != HOLO_BOOL) HOLO_TRY(holo_check_join(c, at, a, b, &type));
    HOLO_TRY(holo_check_coerce(c, at->c, b, type, &value[1]));
    int here    = c->ssa.here;
    c->ssa.here = then_region; // conversions are pure and need no place
    HOLO_TRY(holo_check_coerce(c, at->b, a, type, &value[0]));
    c->ssa.here = here;
    *out        = (HoloCheckValue){.type = type};
    return holo_check_join_branches(c, &branch, value, &out->node);
}

static HoloStatus literal(HoloCheck *c, const HoloAst *at, HoloCheckValue *out)
{
    *out = (HoloCheckValue){.type = HOLO_LITERAL_OF_INT, .integer = at->integer, .number = at->number};
    switch (at->literal) {
    case HOLO_LITERAL_INT: return HOLO_OK;
    case HOLO_LITERAL_FLOAT: out->type = HOLO_LITERAL_OF_FLOAT; return HOLO_OK;
    case HOLO_LITERAL_BOOL:
        *out = (HoloCheckValue){.type = HOLO_BOOL, .node = holo_ssa_int(&c->ssa, HOLO_BOOL, at->integer)};
        return HOLO_OK;
    default: return HOLO_CHECK_FAIL(c, at, NULL, "a string is not a number");
    }
}

static HoloStatus expression(HoloCheck *c, const HoloAst *at, HoloCheckValue *out)
{
    switch ((HoloAstKind)at->kind) {
    case HOLO_AST_VAR: return name(c, at, out);
    case HOLO_AST_LITERAL: return literal(c, at, out);
    case HOLO_AST_BINARY: return holo_check_binary(c, at, out);
    case HOLO_AST_UNARY: return holo_check_unary(c, at, out);
    case HOLO_AST_INDEX: return element(c, at, out);
    case HOLO_AST_CALL: return holo_check_call(c, at, false, out);
    case HOLO_AST_CHOICE: return choice(c, at, out);
    default: return HOLO_CHECK_FAIL(c, at, NULL, "a value is expected here");
    }
}

HoloStatus holo_check_expression(HoloCheck *c, const HoloAst *at, HoloCheckValue *out)
{
    HoloSourcePlace around = c->ssa.where;
    *out                   = (HoloCheckValue){.type = HOLO_NONE};
    if (c->ssa.full || ++c->steps > HOLO_CHECK_STEPS)
        return HOLO_CHECK_FAIL(c, at, "split the kernel", "the kernel is too large");
    c->ssa.where = at->place;
    HOLO_TRY(expression(c, at, out));
    c->ssa.where = around;
    return HOLO_OK;
}
