// check_value.c - types of values: which conversions are implicit, and which must be written.
//
// An integer implicitly becomes a wider one that holds all its values, or a float; a float becomes a wider one. Beside
// a signed integer, u64 becomes i64. Every other conversion must be written.

#include "lang/check.h"

#include <math.h>
#include <stdio.h>

typedef struct TypeRow {
    uint8_t type, bits;
    bool    is_float, is_signed;
} TypeRow;

static const TypeRow rows[] = {
    {HOLO_I8, 8, false, true},    {HOLO_I16, 16, false, true},  {HOLO_I32, 32, false, true},
    {HOLO_I64, 64, false, true},  {HOLO_U8, 8, false, false},   {HOLO_U16, 16, false, false},
    {HOLO_U32, 32, false, false}, {HOLO_U64, 64, false, false}, {HOLO_F16, 16, true, true},
    {HOLO_BF16, 16, true, true},  {HOLO_F32, 32, true, true},   {HOLO_F64, 64, true, true},
};

static const TypeRow *row_of(uint8_t type) // NULL: bool, or none
{
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        if (rows[i].type == type) return &rows[i];
    return NULL;
}

bool holo_type_is_float(uint8_t type)
{
    const TypeRow *row = row_of(type);
    return type == HOLO_LITERAL_OF_FLOAT || (row && row->is_float);
}

bool holo_type_is_int(uint8_t type)
{
    const TypeRow *row = row_of(type);
    return type == HOLO_LITERAL_OF_INT || (row && !row->is_float);
}

const char *holo_check_type_name(uint8_t type)
{
    return type == HOLO_LITERAL_OF_INT     ? "a whole number"
           : type == HOLO_LITERAL_OF_FLOAT ? "a number with a point"
           : type == HOLO_NONE             ? "nothing"
                                           : holo_dtype_name(type);
}

uint8_t holo_check_widened(uint8_t type)
{
    return type == HOLO_F16 || type == HOLO_BF16 ? (uint8_t)HOLO_F32 : type;
}

uint8_t holo_check_resolve(const HoloCheck *c, uint8_t type)
{
    if (type == HOLO_TYPE_WIDE) return holo_check_widened(c->type);
    return type == HOLO_TYPE_VAR ? c->type : type;
}

// ---- conversions

static bool fits(int64_t value, const TypeRow *row)
{
    if (row->bits == 64) return row->is_signed || value >= 0;
    int64_t high = (INT64_C(1) << (row->bits - row->is_signed)) - 1;
    return value <= high && value >= (row->is_signed ? -high - 1 : 0);
}

static HoloStatus literal(HoloCheck *c, const HoloAst *at, HoloCheckValue v, uint8_t type, int *out)
{
    const TypeRow *row = row_of(type);
    if (!row) return HOLO_CHECK_FAIL(c, at, "write True or False, or compare: x != 0", "a number is not a bool");
    if (row->is_float) {
        *out = v.type == HOLO_LITERAL_OF_INT ? holo_ssa_int(&c->ssa, type, v.integer)
                                             : holo_ssa_float(&c->ssa, type, v.number);
        return HOLO_OK;
    }
    if (v.type == HOLO_LITERAL_OF_FLOAT)
        return HOLO_CHECK_FAIL(c, at, "write a whole number, or convert the other value: f32(x)",
                               "%s cannot be a number with a point", holo_dtype_name(type));
    if (!fits(v.integer, row))
        return HOLO_CHECK_FAIL(c, at, "convert the other operand to a wider type, for example i64(x)",
                               "%lld does not fit into %s", (long long)v.integer, holo_dtype_name(type));
    *out = holo_ssa_int(&c->ssa, type, v.integer);
    return HOLO_OK;
}

static bool widens(uint8_t from, uint8_t to)
{
    const TypeRow *f = row_of(from), *t = row_of(to);
    if (!f || !t) return false;
    if (t->is_float) return !f->is_float || f->bits < t->bits;
    if (f->is_float) return false;
    if (from == HOLO_U64 && to == HOLO_I64) return true;
    return f->bits < t->bits && (t->is_signed || !f->is_signed);
}

HoloStatus holo_check_coerce(HoloCheck *c, const HoloAst *at, HoloCheckValue v, uint8_t type, int *out)
{
    if (holo_check_is_literal(v)) return literal(c, at, v, type, out);
    if (v.type == type) {
        *out = v.node;
        return HOLO_OK;
    }
    char advice[80];
    if (v.type == HOLO_BOOL)
        snprintf(advice, sizeof advice, "write: %s(x)", holo_dtype_name(type));
    else if (type == HOLO_BOOL)
        snprintf(advice, sizeof advice, "compare: x != 0");
    else
        snprintf(advice, sizeof advice, "convert it: %s(x)", holo_dtype_name(type));
    if (!widens(v.type, type))
        return HOLO_CHECK_FAIL(c, at, advice, "this is %s, but %s is needed", holo_check_type_name(v.type),
                               holo_dtype_name(type));
    *out = holo_ssa_convert(&c->ssa, type, v.node);
    return HOLO_OK;
}

HoloStatus holo_check_settle(HoloCheck *c, const HoloAst *at, HoloCheckValue v, HoloCheckValue *out)
{
    *out = v;
    if (!holo_check_is_literal(v)) return HOLO_OK;
    out->type = v.type == HOLO_LITERAL_OF_FLOAT                    ? HOLO_F32
                : v.integer >= INT32_MIN && v.integer <= INT32_MAX ? HOLO_I32
                                                                   : HOLO_I64;
    return literal(c, at, v, out->type, &out->node);
}

static uint8_t join_floats(const TypeRow *a, const TypeRow *b)
{
    if (a->type == HOLO_F64 || b->type == HOLO_F64) return HOLO_F64;
    return a->type == b->type ? a->type : HOLO_F32; // f16 and bf16 meet in f32
}

static uint8_t join_ints(const TypeRow *a, const TypeRow *b)
{
    static const uint8_t of_bits[] = {HOLO_I8, HOLO_I16, HOLO_I32, HOLO_I64};
    if (a->is_signed == b->is_signed) return a->bits >= b->bits ? a->type : b->type;
    int s = a->is_signed ? a->bits : b->bits, u = a->is_signed ? b->bits : a->bits;
    int bits = s > u ? s : 2 * u;
    return of_bits[bits >= 64 ? 3 : bits == 32 ? 2 : bits == 16 ? 1 : 0];
}

HoloStatus holo_check_join(HoloCheck *c, const HoloAst *at, HoloCheckValue a, HoloCheckValue b, uint8_t *out)
{
    if (holo_check_is_literal(a) && holo_check_is_literal(b)) {
        HoloCheckValue x, y;
        HOLO_TRY(holo_check_settle(c, at, a, &x));
        HOLO_TRY(holo_check_settle(c, at, b, &y));
        a.type = x.type, b.type = y.type;
    }
    if (holo_check_is_literal(a)) { // the other one decides
        HoloCheckValue swap = a;
        a                   = b;
        b                   = swap;
    }
    const TypeRow *x = row_of(a.type), *y = row_of(b.type);
    if (holo_check_is_literal(b)) y = x;
    if (!x || !y)
        return HOLO_CHECK_FAIL(c, at, "convert with i32(x), or use 'and', 'or', 'not'", "%s cannot be computed with %s",
                               holo_check_type_name(a.type), holo_check_type_name(b.type));
    if (x->is_float && y->is_float)
        *out = join_floats(x, y);
    else if (x->is_float || y->is_float)
        *out = x->is_float ? x->type : y->type;
    else
        *out = join_ints(x, y);
    return HOLO_OK;
}

HoloStatus holo_check_cast(HoloCheck *c, const HoloAst *at, HoloCheckValue v, uint8_t type, HoloCheckValue *out)
{
    const TypeRow *row = row_of(type);
    *out               = (HoloCheckValue){.type = type};
    if (holo_check_is_literal(v) && row && (row->is_float || (v.type == HOLO_LITERAL_OF_INT && fits(v.integer, row))))
        return literal(c, at, v, type, &out->node);
    if (v.type == HOLO_LITERAL_OF_FLOAT) { // cut as a float of the run would be
        v.node = holo_ssa_float(&c->ssa, HOLO_F64, v.number);
        v.type = HOLO_F64;
    }
    HOLO_TRY(holo_check_settle(c, at, v, &v));
    if (v.type == HOLO_NONE) return HOLO_CHECK_FAIL(c, at, NULL, "there is no value here");
    out->node = holo_ssa_convert(&c->ssa, type, v.node);
    return HOLO_OK;
}

HoloStatus holo_check_condition(HoloCheck *c, const HoloAst *at, int *out)
{
    HoloCheckValue v;
    HOLO_TRY(holo_check_expression(c, at, &v));
    if (v.type != HOLO_BOOL)
        return HOLO_CHECK_FAIL(c, at, "compare: x != 0", "a condition is true or false; this is %s",
                               holo_check_type_name(v.type));
    *out = v.node;
    return HOLO_OK;
}

HoloStatus holo_check_index(HoloCheck *c, const HoloAst *at, int *out)
{
    HoloCheckValue v;
    HOLO_TRY(holo_check_expression(c, at, &v));
    if (v.type == HOLO_LITERAL_OF_INT && v.integer < 0)
        return HOLO_CHECK_FAIL(c, at, "the last element of a is a[len(a) - 1]", "an index begins at 0");
    HOLO_TRY(holo_check_settle(c, at, v, &v));
    if (!holo_type_is_int(v.type))
        return HOLO_CHECK_FAIL(c, at, "convert it: i64(x)", "an index is a whole number; this is %s",
                               holo_check_type_name(v.type));
    bool narrow = row_of(v.type)->bits < 32;
    *out        = narrow ? holo_ssa_convert(&c->ssa, HOLO_I32, v.node) : v.node;
    return HOLO_OK;
}
