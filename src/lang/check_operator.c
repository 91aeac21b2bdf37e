// check_operator.c - operators: literals are computed with 64 bits, other values in the common type of both sides.

#include "lang/check.h"

#include <math.h>

enum { POWER_MAX = 64 }; // products that a power of a whole number may become

static double as_double(HoloCheckValue v)
{
    return v.type == HOLO_LITERAL_OF_INT ? (double)v.integer : v.number;
}

// ---- literals

// Sets *done where the two literals make a third.
static HoloStatus literals(HoloCheck *c, const HoloAst *at, HoloCheckValue a, HoloCheckValue b, HoloCheckValue *out,
                           bool *done)
{
    HoloAstOp op = at->op;
    *done        = op <= HOLO_OP_POW || (op >= HOLO_OP_BIT_AND && op <= HOLO_OP_TRUNC_MOD);
    if (!*done) return HOLO_OK;
    *out      = (HoloCheckValue){.type = HOLO_LITERAL_OF_INT};
    bool ints = a.type == HOLO_LITERAL_OF_INT && b.type == HOLO_LITERAL_OF_INT && op != HOLO_OP_DIV;
    if (ints && holo_literal_ints(op, a.integer, b.integer, &out->integer)) return HOLO_OK;
    if (ints) return HOLO_CHECK_FAIL(c, at, NULL, "this has no value that fits into 64 bits");
    double x = as_double(a), y = as_double(b);
    out->type = HOLO_LITERAL_OF_FLOAT;
    switch (op) {
    case HOLO_OP_ADD: out->number = x + y; return HOLO_OK;
    case HOLO_OP_SUB: out->number = x - y; return HOLO_OK;
    case HOLO_OP_MUL: out->number = x * y; return HOLO_OK;
    case HOLO_OP_DIV:
    case HOLO_OP_TRUNC_DIV: out->number = x / y; return HOLO_OK;
    default: *done = false; return HOLO_OK;
    }
}

// ---- powers

static int times(HoloCheck *c, uint8_t type, int a, int b)
{
    return holo_ssa_pure(&c->ssa, HOLO_ISA_MUL, type, a, b, -1);
}

// x to the n by squaring.
static int power(HoloCheck *c, uint8_t type, int x, int64_t n)
{
    int result = -1;
    for (; n > 0; n /= 2) {
        if (n % 2) result = result < 0 ? x : times(c, type, result, x);
        if (n > 1) x = times(c, type, x, x);
    }
    return result < 0 ? holo_ssa_int(&c->ssa, type, 1) : result;
}

static HoloStatus check_power(HoloCheck *c, const HoloAst *at, HoloCheckValue a, HoloCheckValue b, HoloCheckValue *out)
{
    bool    whole = b.type == HOLO_LITERAL_OF_INT && b.integer >= -POWER_MAX && b.integer <= POWER_MAX;
    uint8_t type;
    HOLO_TRY(holo_check_join(c, at, a, b, &type));
    if (holo_check_is_literal(a) && !holo_check_is_literal(b) && holo_type_is_int(b.type))
        return HOLO_CHECK_FAIL(c, at, "write 1 << n, or convert: 2.0 ** f32(n)",
                               "an integer exponent must be a constant");
    if (holo_type_is_int(type) && (!whole || b.integer < 0))
        return HOLO_CHECK_FAIL(c, at, "convert it: f32(x) ** y",
                               "an integer can only be raised to a constant from 0 to %d", POWER_MAX);
    *out = (HoloCheckValue){.type = type};
    int x, y;
    HOLO_TRY(holo_check_coerce(c, at->a, a, type, &x));
    if (whole) {
        int n = power(c, type, x, b.integer < 0 ? -b.integer : b.integer);
        out->node =
            b.integer < 0 ? holo_ssa_pure(&c->ssa, HOLO_ISA_DIV, type, holo_ssa_int(&c->ssa, type, 1), n, -1) : n;
        return HOLO_OK;
    }
    HOLO_TRY(holo_check_coerce(c, at->b, b, type, &y));
    out->node = holo_ssa_pure(&c->ssa, HOLO_ISA_POW, type, x, y, -1);
    return HOLO_OK;
}

// ---- arithmetic

static HoloIsaOp instruction_of(HoloAstOp op)
{
    switch (op) {
    case HOLO_OP_ADD: return HOLO_ISA_ADD;
    case HOLO_OP_SUB: return HOLO_ISA_SUB;
    case HOLO_OP_MUL: return HOLO_ISA_MUL;
    case HOLO_OP_FLOOR_DIV: return HOLO_ISA_FLOORDIV;
    case HOLO_OP_MOD: return HOLO_ISA_MOD;
    case HOLO_OP_TRUNC_MOD: return HOLO_ISA_REM;
    case HOLO_OP_BIT_AND: return HOLO_ISA_AND;
    case HOLO_OP_BIT_OR: return HOLO_ISA_OR;
    case HOLO_OP_BIT_XOR: return HOLO_ISA_XOR;
    case HOLO_OP_SHL: return HOLO_ISA_SHL;
    case HOLO_OP_SHR: return HOLO_ISA_SHR;
    default: return HOLO_ISA_DIV;
    }
}

// A division of integers may fail, so it stays where it is written, unless the divisor is a constant.
static int divide(HoloCheck *c, HoloIsaOp op, uint8_t type, int a, int b)
{
    int64_t value;
    bool    safe = holo_type_is_float(type) || (holo_ssa_int_value(&c->ssa, b, &value) && value != 0);
    if (safe) return holo_ssa_pure(&c->ssa, op, type, a, b, -1);
    return holo_ssa_add(
        &c->ssa,
        (HoloSsaNode){.op = (uint16_t)op, .kind = HOLO_SSA_PINNED, .type = type, .in = {a, b, -1}, .owner = -1});
}

static bool divides(HoloIsaOp op)
{
    return op == HOLO_ISA_DIV || op == HOLO_ISA_REM || op == HOLO_ISA_FLOORDIV || op == HOLO_ISA_MOD;
}

static HoloStatus arithmetic(HoloCheck *c, const HoloAst *at, HoloCheckValue a, HoloCheckValue b, HoloCheckValue *out)
{
    HoloAstOp op      = at->op;
    bool      shifts  = op == HOLO_OP_SHL || op == HOLO_OP_SHR;
    bool      of_bits = op >= HOLO_OP_BIT_AND && op <= HOLO_OP_SHR;
    if (of_bits && !shifts && a.type == HOLO_BOOL && b.type == HOLO_BOOL) {
        *out = (HoloCheckValue){.type = HOLO_BOOL,
                                .node = holo_ssa_pure(&c->ssa, instruction_of(op), HOLO_BOOL, a.node, b.node, -1)};
        return HOLO_OK;
    }
    uint8_t type;
    HOLO_TRY(holo_check_join(c, at, a, b, &type));
    if (shifts) { // the left side says how wide
        HOLO_TRY(holo_check_settle(c, at->a, a, &a));
        type = a.type;
        if (holo_type_is_int(b.type) && !holo_check_is_literal(b))
            b.node = holo_ssa_convert(&c->ssa, type, b.node), b.type = type;
    }
    if (of_bits && !holo_type_is_int(type))
        return HOLO_CHECK_FAIL(c, at, "convert it: i32(x)", "bit operations need integers; this is %s",
                               holo_check_type_name(type));
    if (op == HOLO_OP_DIV && holo_type_is_int(type)) type = type == HOLO_I64 || type == HOLO_U64 ? HOLO_F64 : HOLO_F32;
    int x, y;
    HOLO_TRY(holo_check_coerce(c, at->a, a, type, &x));
    HOLO_TRY(holo_check_coerce(c, at->b, b, type, &y));
    HoloIsaOp isa = instruction_of(op);
    *out          = (HoloCheckValue){.type = type};
    out->node     = divides(isa) ? divide(c, isa, type, x, y) : holo_ssa_pure(&c->ssa, isa, type, x, y, -1);
    return HOLO_OK;
}

static HoloStatus comparison(HoloCheck *c, const HoloAst *at, HoloCheckValue a, HoloCheckValue b, HoloCheckValue *out)
{
    static const uint8_t conds[] = {HOLO_ISA_COND_LT, HOLO_ISA_COND_LE, HOLO_ISA_COND_GT,
                                    HOLO_ISA_COND_GE, HOLO_ISA_COND_EQ, HOLO_ISA_COND_NE};
    *out                         = (HoloCheckValue){.type = HOLO_BOOL};
    if (a.type == HOLO_BOOL && b.type == HOLO_BOOL && (at->op == HOLO_OP_EQ || at->op == HOLO_OP_NE)) {
        int differ = holo_ssa_pure(&c->ssa, HOLO_ISA_XOR, HOLO_BOOL, a.node, b.node, -1);
        out->node  = at->op == HOLO_OP_NE ? differ : holo_ssa_not(&c->ssa, differ);
        return HOLO_OK;
    }
    uint8_t type;
    int     x, y;
    HOLO_TRY(holo_check_join(c, at, a, b, &type));
    HOLO_TRY(holo_check_coerce(c, at->a, a, type, &x));
    HOLO_TRY(holo_check_coerce(c, at->b, b, type, &y));
    out->node = holo_ssa_compare(&c->ssa, conds[at->op - HOLO_OP_LT], x, y);
    return HOLO_OK;
}

// The right side is evaluated only if the left side does not decide.
static HoloStatus logic(HoloCheck *c, const HoloAst *at, HoloCheckValue *out)
{
    int             left, value[2] = {0, 0};
    HoloCheckBranch branch;
    bool            is_and = at->op == HOLO_OP_AND;
    HOLO_TRY(holo_check_condition(c, at->a, &left));
    HOLO_TRY(holo_check_branch(c, at, left, &branch));
    if (is_and) HOLO_TRY(holo_check_condition(c, at->b, &value[0]));
    HOLO_TRY(holo_check_else(c, &branch));
    if (!is_and) HOLO_TRY(holo_check_condition(c, at->b, &value[1]));
    value[is_and ? 1 : 0] = holo_ssa_int(&c->ssa, HOLO_BOOL, !is_and);
    *out                  = (HoloCheckValue){.type = HOLO_BOOL};
    return holo_check_join_branches(c, &branch, value, &out->node);
}

HoloStatus holo_check_binary(HoloCheck *c, const HoloAst *at, HoloCheckValue *out)
{
    if (at->op == HOLO_OP_AND || at->op == HOLO_OP_OR) return logic(c, at, out);
    HoloCheckValue a, b;
    bool           done;
    HOLO_TRY(holo_check_expression(c, at->a, &a));
    HOLO_TRY(holo_check_expression(c, at->b, &b));
    if (holo_check_is_literal(a) && holo_check_is_literal(b)) {
        HOLO_TRY(literals(c, at, a, b, out, &done));
        if (done) return HOLO_OK;
    }
    if (at->op >= HOLO_OP_LT && at->op <= HOLO_OP_NE) return comparison(c, at, a, b, out);
    return at->op == HOLO_OP_POW ? check_power(c, at, a, b, out) : arithmetic(c, at, a, b, out);
}

HoloStatus holo_check_unary(HoloCheck *c, const HoloAst *at, HoloCheckValue *out)
{
    HoloCheckValue a;
    if (at->op == HOLO_OP_NOT) {
        *out = (HoloCheckValue){.type = HOLO_BOOL};
        HOLO_TRY(holo_check_condition(c, at->a, &out->node));
        out->node = holo_ssa_not(&c->ssa, out->node);
        return HOLO_OK;
    }
    HOLO_TRY(holo_check_expression(c, at->a, &a));
    *out         = a;
    bool is_int  = holo_type_is_int(a.type);
    bool numbers = is_int || holo_type_is_float(a.type);
    if (!numbers || (at->op == HOLO_OP_INV && !is_int))
        return HOLO_CHECK_FAIL(c, at, a.type == HOLO_BOOL ? "write: not x" : NULL, "there is no '%s' for %s",
                               holo_ast_op_names[at->op], holo_check_type_name(a.type));
    if (at->op == HOLO_OP_POS) return HOLO_OK;
    if (holo_check_is_literal(a)) {
        out->integer = at->op == HOLO_OP_INV ? ~a.integer : (int64_t)(0 - (uint64_t)a.integer);
        out->number  = -a.number;
        return HOLO_OK;
    }
    bool is_unsigned = a.type == HOLO_U8 || a.type == HOLO_U16 || a.type == HOLO_U32 || a.type == HOLO_U64;
    if (at->op == HOLO_OP_INV)
        out->node = holo_ssa_pure(&c->ssa, HOLO_ISA_NOT, a.type, a.node, -1, -1);
    else if (is_unsigned)
        out->node = holo_ssa_pure(&c->ssa, HOLO_ISA_SUB, a.type, holo_ssa_int(&c->ssa, a.type, 0), a.node, -1);
    else
        out->node = holo_ssa_pure(&c->ssa, HOLO_ISA_NEG, a.type, a.node, -1, -1);
    return HOLO_OK;
}
