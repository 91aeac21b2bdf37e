// cumulative.c - CumSum and CumProd: each element with all before it along an axis.
#include "ops/op.h"
#include "ops/rows.h"

typedef union Tile {
    double   f[HOLO_TILE];
    int64_t  i[HOLO_TILE];
    uint64_t u[HOLO_TILE];
} Tile;

// Replaces each element by what was gathered up to it (without itself where `exclusive`), and leaves in
// carry[0] what was gathered by the end.
typedef void Scan(Tile *x, int count, bool exclusive, Tile *carry);

#define SCAN(name, type, member, expression)                             \
    static void name(Tile *tile, int count, bool exclusive, Tile *carry) \
    {                                                                    \
        type a = carry->member[0];                                       \
        for (int k = 0; k < count; k++) {                                \
            type x = tile->member[k], next = (expression);               \
            tile->member[k] = exclusive ? a : next;                      \
            a               = next;                                      \
        }                                                                \
        carry->member[0] = a;                                            \
    }

SCAN(sum_f, double, f, a + x)
SCAN(sum_u, uint64_t, u, a + x)
SCAN(prod_f, double, f, (a * x))
SCAN(prod_u, uint64_t, u, (a * x))

typedef struct Cumulation {
    Scan *floats, *integers;
    int   first;
} Cumulation;

static HoloStatus infer(HoloCall *call)
{
    HOLO_TRY(holo_expect_types(call, 1, HOLO_BIT(I32) | HOLO_BIT(I64)));
    return holo_infer_same(call);
}

static void scan_row(const HoloTensor *in, HoloTensor *out, int64_t start, int64_t step, int64_t size, bool exclusive,
                     const Cumulation *how)
{
    bool is_float = holo_dtype_class((HoloDtype)in->dtype) == HOLO_CLASS_FLOAT;
    Tile x, carry;
    if (is_float)
        carry.f[0] = how->first;
    else
        carry.i[0] = how->first;
    for (int64_t k = 0; k < size; k += HOLO_TILE, start += step * HOLO_TILE) {
        int n = (int)(size - k < HOLO_TILE ? size - k : HOLO_TILE);
        if (is_float) {
            holo_read_f(in, start, step, n, x.f);
            how->floats(&x, n, exclusive, &carry);
            holo_write_f(out, start, step, n, x.f);
        } else {
            holo_read_i(in, start, step, n, x.i);
            how->integers(&x, n, exclusive, &carry);
            holo_write_i(out, start, step, n, x.i);
        }
    }
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *in        = call->in[0];
    HoloTensor       *out       = holo_out(call, 0);
    bool              reverse   = holo_attr_int(call, "reverse", 0) != 0;
    bool              exclusive = holo_attr_int(call, "exclusive", 0) != 0;
    int64_t           given     = 0;
    int               axis      = 0;
    if (!out) return HOLO_OK;
    if (holo_in_ints(call, 1, &given, 1) != 1)
        return holo_call_fail(call, HOLO_BAD_INPUT, "the axis (input 1) is not a single number");
    if (in->rank > 0) HOLO_TRY(holo_axis(call, given, in->rank, &axis));
    HoloRows rows = in->rank > 0 ? holo_rows(in, axis, axis + 1) : (HoloRows){1, 1, 1};
    for (int64_t row = 0; row < holo_row_count(rows) && rows.size > 0; row++) {
        int64_t start = holo_row_start(rows, row);
        if (reverse) start += (rows.size - 1) * rows.inner;
        scan_row(in, out, start, reverse ? -rows.inner : rows.inner, rows.size, exclusive, call->op->row);
    }
    return HOLO_OK;
}

static const Cumulation sum  = {sum_f, sum_u, 0};
static const Cumulation prod = {prod_f, prod_u, 1};

#define CUMULATIVE(text, version, how)                                                                             \
    {                                                                                                              \
        .name = text, .domain = "", .since = version, .in_min = 2, .in_max = 2, .out_min = 1, .out_max = 1,        \
        .types = HOLO_TYPES_FLOAT | HOLO_BIT(I32) | HOLO_BIT(I64) | HOLO_BIT(U32) | HOLO_BIT(U64), .infer = infer, \
        .eval = eval, .row = &how                                                                                  \
    }

const HoloOp holo_ops_cumulative[] = {
    CUMULATIVE("CumSum", 11, sum),
    CUMULATIVE("CumProd", 26, prod),
    {0},
};
