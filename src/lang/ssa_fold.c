// ssa_fold.c - simpler nodes in place of others: constants computed, operations that do nothing left out, dear ones
// replaced by cheap ones. Every rule gives the same bits as the instruction that it replaces, for every operand but for
// which NaN a NaN is.

#include "isa/isa_number.h"
#include "isa/isa_scalar.h"
#include "lang/ssa.h"

#include <math.h>

static bool is_float(uint8_t type)
{
    return type == HOLO_F16 || type == HOLO_BF16 || type == HOLO_F32 || type == HOLO_F64;
}

static bool is_signed(uint8_t type)
{
    return type == HOLO_I8 || type == HOLO_I16 || type == HOLO_I32 || type == HOLO_I64;
}

// ---- constants alone: what the interpreter makes of them

// False where it would fail, or give a NaN, of which there are many.
static bool compute(const HoloSsaNode *n, uint64_t a, uint64_t b, uint64_t *out)
{
    const HoloIsaInst inst = {.op = n->op, .type = n->type, .how = n->how};
    if (!holo_isa_scalar(&inst, a, b, 0, out)) return false;
    return n->op == HOLO_ISA_SET || !is_float(n->type) ||
           !isnan(holo_f64_of_bits(holo_isa_convert_bits(HOLO_F64, n->type, *out)));
}

// ---- one constant

static bool power_of_two(int64_t value, int *out_log)
{
    if (value <= 0 || (value & (value - 1))) return false;
    *out_log = __builtin_ctzll((uint64_t)value);
    return true;
}

static int by_int(HoloSsa *s, const HoloSsaNode *n, int64_t y)
{
    HoloDtype type = n->type;
    int       a = n->in[0], log = 0;
    bool      shifts = power_of_two(y, &log), is_unsigned = !is_signed(n->type);
    switch (n->op) {
    case HOLO_ISA_ADD:
    case HOLO_ISA_SUB:
    case HOLO_ISA_OR:
    case HOLO_ISA_XOR:
    case HOLO_ISA_SHL:
    case HOLO_ISA_SHR: return y == 0 ? a : -1;
    case HOLO_ISA_MUL:
        if (y == 0) return holo_ssa_int(s, type, 0);
        if (y == 1) return a;
        return shifts ? holo_ssa_pure(s, HOLO_ISA_SHL, type, a, holo_ssa_int(s, type, log), -1) : -1;
    case HOLO_ISA_DIV:
    case HOLO_ISA_FLOORDIV:
        if (y == 1) return a;
        if (!shifts || (n->op == HOLO_ISA_DIV && !is_unsigned)) return -1;
        return holo_ssa_pure(s, HOLO_ISA_SHR, type, a, holo_ssa_int(s, type, log), -1);
    case HOLO_ISA_REM:
    case HOLO_ISA_MOD:
        if (!shifts || (n->op == HOLO_ISA_REM && !is_unsigned)) return -1;
        return holo_ssa_pure(s, HOLO_ISA_AND, type, a, holo_ssa_int(s, type, y - 1), -1);
    default: return -1;
    }
}

static int by_float(HoloSsa *s, const HoloSsaNode *n, double y)
{
    int exponent;
    if ((n->op == HOLO_ISA_MUL || n->op == HOLO_ISA_DIV) && y == 1) return n->in[0];
    if (n->op == HOLO_ISA_SUB && y == 0 && !signbit(y)) return n->in[0];
    // by a power of two: its reciprocal has the same bits of fraction, so the product rounds as the quotient does
    if (n->op != HOLO_ISA_DIV || (n->type != HOLO_F32 && n->type != HOLO_F64)) return -1;
    if (fabs(frexp(y, &exponent)) != 0.5 || exponent < -100 || exponent > 100) return -1;
    return holo_ssa_pure(s, HOLO_ISA_MUL, n->type, n->in[0], holo_ssa_float(s, n->type, 1 / y), -1);
}

static int by_bool(const HoloSsaNode *n, bool y, int constant)
{
    if (n->op == HOLO_ISA_AND) return y ? n->in[0] : constant;
    if (n->op == HOLO_ISA_OR) return y ? constant : n->in[0];
    return -1;
}

// ---- by instruction

static bool is_commutative(uint16_t op)
{
    return op == HOLO_ISA_ADD || op == HOLO_ISA_MUL || op == HOLO_ISA_AND || op == HOLO_ISA_OR || op == HOLO_ISA_XOR;
}

static int fold_binary(HoloSsa *s, const HoloSsaNode *n)
{
    uint64_t a = 0, b = 0, out;
    bool     has_a = holo_ssa_is_const(s, n->in[0], &a), has_b = holo_ssa_is_const(s, n->in[1], &b);
    if (has_a && has_b && n->type != HOLO_BOOL && compute(n, a, b, &out)) return holo_ssa_const(s, n->type, out);
    // constants stand on the right; of others the older
    if (is_commutative(n->op) && (has_a != has_b ? has_a : n->in[0] > n->in[1]))
        return holo_ssa_pure(s, n->op, n->type, n->in[1], n->in[0], -1);
    if (!has_b) return -1;
    if (n->type == HOLO_BOOL) return by_bool(n, b != 0, n->in[1]);
    if (!is_float(n->type)) return by_int(s, n, holo_isa_to_i64(n->type, b));
    return by_float(s, n, holo_f64_of_bits(holo_isa_convert_bits(HOLO_F64, n->type, b)));
}

// Places of lanes and lengths are not negative, and nothing that is launched has a size of 0.
static int fold_place(HoloSsa *s, const HoloSsaNode *n)
{
    const HoloSsaNode *a = &s->node[n->in[0]];
    int64_t            b;
    bool               is_place = a->kind == HOLO_SSA_PURE && (a->op == HOLO_ISA_SPECIAL || a->op == HOLO_ISA_LENGTH);
    if (!is_place || n->type != HOLO_I64 || !holo_ssa_int_value(s, n->in[1], &b) || b != 0) return -1;
    bool is_size = a->op == HOLO_ISA_SPECIAL &&
                   ((a->how >= HOLO_ISA_SPECIAL_BLOCK_DIM_X && a->how <= HOLO_ISA_SPECIAL_GRID_DIM_Z) ||
                    (a->how >= HOLO_ISA_SPECIAL_GLOBAL_DIM_X && a->how <= HOLO_ISA_SPECIAL_GLOBAL_DIM_Z));
    if (n->how == HOLO_ISA_COND_LT) return holo_ssa_int(s, HOLO_BOOL, 0);
    if (n->how == HOLO_ISA_COND_GE || (n->how == HOLO_ISA_COND_GT && is_size)) return holo_ssa_int(s, HOLO_BOOL, 1);
    return -1;
}

static int fold_set(HoloSsa *s, const HoloSsaNode *n)
{
    uint64_t a, b, out;
    int      place = fold_place(s, n);
    if (place >= 0) return place;
    if (!holo_ssa_is_const(s, n->in[0], &a) || !holo_ssa_is_const(s, n->in[1], &b)) return -1;
    return compute(n, a, b, &out) ? holo_ssa_int(s, HOLO_BOOL, (int64_t)out) : -1;
}

static int fold_select(HoloSsa *s, const HoloSsaNode *n)
{
    uint64_t c, a, b;
    if (holo_ssa_is_const(s, n->in[0], &c)) return c ? n->in[1] : n->in[2];
    if (n->in[1] == n->in[2]) return n->in[1];
    if (n->type != HOLO_BOOL) return -1;
    bool has_a = holo_ssa_is_const(s, n->in[1], &a), has_b = holo_ssa_is_const(s, n->in[2], &b);
    if (has_a && a) return holo_ssa_pure(s, HOLO_ISA_OR, HOLO_BOOL, n->in[0], n->in[2], -1);
    if (has_b && !b) return holo_ssa_pure(s, HOLO_ISA_AND, HOLO_BOOL, n->in[0], n->in[1], -1);
    return -1;
}

static int fold_not(HoloSsa *s, const HoloSsaNode *n)
{
    static const uint8_t opposite[] = {HOLO_ISA_COND_NE, HOLO_ISA_COND_EQ, HOLO_ISA_COND_GE,
                                       HOLO_ISA_COND_GT, HOLO_ISA_COND_LE, HOLO_ISA_COND_LT};
    const HoloSsaNode   *a          = &s->node[n->in[0]];
    uint64_t             bits;
    if (n->type != HOLO_BOOL) return -1;
    if (holo_ssa_is_const(s, n->in[0], &bits)) return holo_ssa_int(s, HOLO_BOOL, !bits);
    if (a->kind != HOLO_SSA_PURE) return -1;
    if (a->op == HOLO_ISA_NOT) return a->in[0];
    bool exact = !is_float(a->type) || a->how == HOLO_ISA_COND_EQ || a->how == HOLO_ISA_COND_NE; // NaN
    if (a->op != HOLO_ISA_SET || !exact) return -1;
    return holo_ssa_compare(s, opposite[a->how], a->in[0], a->in[1]);
}

int holo_ssa_fold(HoloSsa *s, const HoloSsaNode *n)
{
    uint64_t bits;
    switch (n->op) {
    case HOLO_ISA_CVT:
        if (!holo_ssa_is_const(s, n->in[0], &bits)) return -1;
        return holo_ssa_const(s, n->type, holo_isa_convert_bits(n->type, n->how, bits));
    case HOLO_ISA_NEG:
        if (is_float(n->type) || !holo_ssa_is_const(s, n->in[0], &bits)) return -1;
        return holo_ssa_const(s, n->type, holo_isa_narrow(n->type, 0 - bits));
    case HOLO_ISA_ADD:
    case HOLO_ISA_SUB:
    case HOLO_ISA_MUL:
    case HOLO_ISA_DIV:
    case HOLO_ISA_REM:
    case HOLO_ISA_FLOORDIV:
    case HOLO_ISA_MOD:
    case HOLO_ISA_MIN:
    case HOLO_ISA_MAX:
    case HOLO_ISA_AND:
    case HOLO_ISA_OR:
    case HOLO_ISA_XOR:
    case HOLO_ISA_SHL:
    case HOLO_ISA_SHR: return fold_binary(s, n);
    case HOLO_ISA_SET: return fold_set(s, n);
    case HOLO_ISA_SEL: return fold_select(s, n);
    case HOLO_ISA_NOT: return fold_not(s, n);
    default: return -1;
    }
}
