// reduce.c - ReduceSum, ReduceMax and their kin, and ReduceSumInteger of com.microsoft: axes folded into one value
// each.
//
// An operator is a row of a table: the value to start from, how an element is folded in, what is done
// at the end. Floats are folded as double, integers as 64-bit numbers that wrap around; roots and
// logarithms of integers are computed as floats. Elements are folded by turns of eight, always the same. What needs no
// wider type is left to reduce_tiles.c.
#include "ops/standard/reduce.h"
#include "base/math/math.h"
#include "ops/op.h"

#include <math.h>

// ---- kept and reduced axes

static void push_axis(HoloReduceBox *box, bool merge, int64_t dim, int64_t stride)
{
    if (merge) {
        box->dim[box->rank - 1] *= dim;
        box->stride[box->rank - 1] = stride;
    } else {
        box->dim[box->rank]      = dim;
        box->stride[box->rank++] = stride;
    }
}

HoloParting holo_part(const HoloTensor *t, const int *axes, int count)
{
    HoloParting part = {0};
    int64_t     stride[HOLO_MAX_RANK];
    holo_strides(t->rank, t->dim, stride);
    int next = 0, last = -1; // last: the kind of the axis before, -1: none yet
    for (int axis = 0; axis < t->rank; axis++) {
        bool reduced = next < count && axes[next] == axis;
        next += reduced;
        if (t->dim[axis] == 1) continue;
        push_axis(reduced ? &part.reduced : &part.kept, last == (int)reduced, t->dim[axis], stride[axis]);
        last = reduced;
    }
    if (last == -1) push_axis(&part.reduced, false, 1, 1); // one element
    part.lanes = last == 0;
    return part;
}

// ---- folds

typedef union Tile {
    double   f[HOLO_TILE];
    int64_t  i[HOLO_TILE];
    uint64_t u[HOLO_TILE];
} Tile;

enum { CHAINS = 8 }; // elements of a tile are folded by turns, so that one need not wait for the other

// Folds x into acc: element by element where `lanes`, else all of them into acc[0].
typedef void Fold(Tile *acc, const Tile *x, int count, bool lanes);

#define FOLD(name, type, member, zero, expression, joined)                                             \
    static inline type name##_one(type a, type x)                                                      \
    {                                                                                                  \
        return expression;                                                                             \
    }                                                                                                  \
    static inline type name##_join(type a, type x)                                                     \
    {                                                                                                  \
        return joined;                                                                                 \
    }                                                                                                  \
    static void name(Tile *acc, const Tile *x, int count, bool lanes)                                  \
    {                                                                                                  \
        if (lanes) {                                                                                   \
            for (int k = 0; k < count; k++) acc->member[k] = name##_one(acc->member[k], x->member[k]); \
            return;                                                                                    \
        }                                                                                              \
        type a = acc->member[0], part[CHAINS];                                                         \
        int  k = 0;                                                                                    \
        for (int j = 0; j < CHAINS; j++) part[j] = zero;                                               \
        for (; k + CHAINS <= count; k += CHAINS)                                                       \
            for (int j = 0; j < CHAINS; j++) part[j] = name##_one(part[j], x->member[k + j]);          \
        for (int j = 0; j < CHAINS; j++) a = name##_join(a, part[j]);                                  \
        for (; k < count; k++) a = name##_one(a, x->member[k]);                                        \
        acc->member[0] = a;                                                                            \
    }

// Extremes of floats: a NaN stays. Comparisons that NaN fails are one instruction each, so NaN is looked for beside
// them.
#define EXTREME(name, better)                                                                              \
    static void name(Tile *acc, const Tile *x, int count, bool lanes)                                      \
    {                                                                                                      \
        if (lanes) {                                                                                       \
            for (int k = 0; k < count; k++) {                                                              \
                double a = acc->f[k], v = x->f[k], b = v better a ? v : a;                                 \
                acc->f[k] = v == v ? b : v;                                                                \
            }                                                                                              \
            return;                                                                                        \
        }                                                                                                  \
        double  a   = acc->f[0], part[CHAINS];                                                             \
        int64_t nan = 0;                                                                                   \
        int     k   = 0;                                                                                   \
        for (int j = 0; j < CHAINS; j++) part[j] = x->f[0];                                                \
        for (; k + CHAINS <= count; k += CHAINS)                                                           \
            for (int j = 0; j < CHAINS; j++) part[j] = x->f[k + j] better part[j] ? x->f[k + j] : part[j]; \
        for (int j = 0; j < CHAINS; j++) a = part[j] better a ? part[j] : a;                               \
        for (; k < count; k++) a = x->f[k] better a ? x->f[k] : a;                                         \
        for (k = 0; k < count; k++) nan |= x->f[k] != x->f[k];                                             \
        acc->f[0] = nan ? (double)NAN : a;                                                                 \
    }

FOLD(sum_f, double, f, 0, a + x, a + x)
FOLD(prod_f, double, f, 1, (a * x), (a * x))
EXTREME(max_f, >)
EXTREME(min_f, <)
FOLD(abs_f, double, f, 0, a + fabs(x), a + x)
FOLD(square_f, double, f, 0, a + x * x, a + x)
FOLD(max_i, int64_t, i, INT64_MIN, x > a ? x : a, x > a ? x : a)
FOLD(min_i, int64_t, i, INT64_MAX, x < a ? x : a, x < a ? x : a)
FOLD(sum_u, uint64_t, u, 0, a + x, a + x)
FOLD(prod_u, uint64_t, u, 1, (a * x), (a * x))
FOLD(max_u, uint64_t, u, 0, x > a ? x : a, x > a ? x : a)
FOLD(min_u, uint64_t, u, UINT64_MAX, x < a ? x : a, x < a ? x : a)
FOLD(abs_u, uint64_t, u, 0, a + (x >> 63 ? -x : x), a + x) // of signed numbers
FOLD(square_u, uint64_t, u, 0, a + x * x, a + x)

typedef enum Start { START_0, START_1, START_LOWEST, START_HIGHEST } Start;

typedef struct Reduction {
    Start start;
    Fold *fold_f, *fold_i, *fold_u; // of floats, signed, unsigned; fold_i NULL: integers go as floats
    double (*finish)(double);       // of floats; NULL: nothing
    bool mean;                      // divide by the number of elements
    bool exponent;                  // fold exp(x - max), and add max at the end
    bool wide;                      // results of bytes have 32 bits
} Reduction;

// A reduction of one tensor.
typedef struct Reducer {
    const Reduction  *how;
    const HoloTensor *in;
    HoloParting       part;
    Fold             *fold;
    int64_t           count; // elements of each result
    HoloClass class;         // FLOAT: computed as double
} Reducer;

static void fill(const Reducer *r, Start start, Tile *acc, int count)
{
    if (r->class == HOLO_CLASS_FLOAT) {
        static const double first[] = {0, 1, -INFINITY, INFINITY};
        for (int k = 0; k < count; k++) acc->f[k] = first[start];
        return;
    }
    int      bits    = holo_dtype_bits(r->in->dtype);
    uint64_t all     = r->class == HOLO_CLASS_BOOL ? 1 : ~UINT64_C(0) >> (64 - bits);
    uint64_t high    = r->class == HOLO_CLASS_INT ? all >> 1 : all;
    uint64_t low     = r->class == HOLO_CLASS_INT ? ~high : 0;
    uint64_t first[] = {0, 1, low, high};
    for (int k = 0; k < count; k++) acc->u[k] = first[start];
}

// Folds all elements of the results whose first elements are at `base`, `lanes` of them side by side.
static void fold_box(const Reducer *r, Fold *fold, int64_t base, int lanes, Tile *acc, const double *shift)
{
    const HoloReduceBox *box  = &r->part.reduced;
    bool                 wide = r->part.lanes;
    int64_t              run  = wide ? lanes : box->dim[box->rank - 1];
    Tile                 x;
    HoloWalk             walk = holo_walk(wide ? box->rank : box->rank - 1, box->dim);
    while (holo_walk_next(&walk)) {
        int64_t start = base + holo_walk_at(&walk, box->stride);
        for (int64_t k = 0; k < run; k += HOLO_TILE) {
            int n = (int)(run - k < HOLO_TILE ? run - k : HOLO_TILE);
            if (r->class == HOLO_CLASS_FLOAT)
                holo_read_f(r->in, start + k, 1, n, x.f);
            else
                holo_read_i(r->in, start + k, 1, n, x.i);
            for (int j = 0; shift && j < n; j++) x.f[j] = holo_exp(x.f[j] - shift[wide ? j : 0]);
            fold(acc, &x, n, wide);
        }
    }
}

static void finish(const Reducer *r, Tile *acc, int lanes, const double *shift)
{
    const Reduction *how = r->how;
    for (int k = 0; k < lanes; k++) {
        if (r->class == HOLO_CLASS_FLOAT) {
            if (how->mean) acc->f[k] /= (double)r->count;
            if (how->finish) acc->f[k] = how->finish(acc->f[k]);
            if (shift) acc->f[k] += shift[k];
        } else if (how->mean && r->count > 0) {
            if (r->class == HOLO_CLASS_INT)
                acc->i[k] /= r->count;
            else
                acc->u[k] /= (uint64_t)r->count;
        }
    }
}

static void reduce_lanes(const Reducer *r, int64_t base, int lanes, Tile *acc)
{
    double shift[HOLO_TILE];
    if (r->how->exponent) {
        Tile top;
        fill(r, START_LOWEST, &top, lanes);
        fold_box(r, max_f, base, lanes, &top, NULL);
        for (int k = 0; k < lanes; k++) shift[k] = isinf(top.f[k]) ? 0 : top.f[k];
    }
    const double *by = r->how->exponent ? shift : NULL;
    fill(r, r->how->start, acc, lanes);
    fold_box(r, r->fold, base, lanes, acc, by);
    finish(r, acc, lanes, by);
}

static void reduce(const HoloCall *call, const Reducer *r, HoloTensor *out)
{
    const HoloReduceBox *kept = &r->part.kept;
    int64_t              run = r->part.lanes ? kept->dim[kept->rank - 1] : 1, done = 0;
    HoloWalk             walk = holo_walk(r->part.lanes ? kept->rank - 1 : kept->rank, kept->dim);
    while (holo_walk_next(&walk)) {
        int64_t base = holo_walk_at(&walk, kept->stride);
        for (int64_t k = 0; k < run && !holo_call_is_over(call); k += HOLO_TILE) {
            int  lanes = (int)(run - k < HOLO_TILE ? run - k : HOLO_TILE);
            Tile acc;
            reduce_lanes(r, base + k, lanes, &acc);
            if (r->class == HOLO_CLASS_FLOAT)
                holo_write_f(out, done, 1, lanes, acc.f);
            else
                holo_write_i(out, done, 1, lanes, acc.i);
            done += lanes;
        }
    }
}

// ---- the operators

// The axes to reduce; all where none are given, unless the model asks for none.
static HoloStatus reduced_axes(const HoloCall *call, int *axes, int *count, bool *known)
{
    int rank = call->in[0]->rank;
    HOLO_TRY(holo_axes(call, "axes", 1, rank, axes, count, known));
    if (!*known || *count > 0) return HOLO_OK;
    *count = holo_attr_int(call, "noop_with_empty_axes", 0) ? 0 : rank;
    for (int i = 0; i < *count; i++) axes[i] = i;
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *in   = call->in[0];
    bool              wide = ((const Reduction *)call->op->row)->wide;
    bool              keep = holo_attr_int(call, "keepdims", 1) != 0, known = true;
    int               axes[HOLO_MAX_RANK];
    int               count = 0;
    HOLO_TRY(holo_expect_types(call, 1, HOLO_BIT(I64)));
    HOLO_TRY(reduced_axes(call, axes, &count, &known));
    HoloDtype dtype = in->dtype == HOLO_I8 && wide ? HOLO_I32 : in->dtype == HOLO_U8 && wide ? HOLO_U32 : in->dtype;
    if (!known && !keep) return holo_out_unknown(call, 0, dtype);
    HoloDim dim[HOLO_MAX_RANK];
    int     rank = 0;
    for (int axis = 0, next = 0; axis < in->rank; axis++) {
        bool reduced = known && next < count && axes[next] == axis;
        next += reduced;
        if (!reduced || keep) dim[rank++] = !known ? HOLO_DIM_UNKNOWN : reduced ? 1 : in->dim[axis];
    }
    return holo_out_type(call, 0, dtype, rank, dim);
}

// Sums of what is narrower go through 64 bits or double; where these are the elements, as for extremes, they need not.
static const HoloTileFold folds[] = {HOLO_FOLD_ADD, HOLO_FOLD_MUL, HOLO_FOLD_MAX, HOLO_FOLD_MIN};

static bool is_direct(const Reducer *r)
{
    const Reduction *how = r->how;
    if (how->start == START_LOWEST || how->start == START_HIGHEST) return true;
    bool is_plain = how->fold_f == sum_f || how->fold_f == prod_f;
    return is_plain && !how->finish && !how->exponent &&
           (r->in->dtype == HOLO_F64 || (r->class != HOLO_CLASS_FLOAT && !how->mean));
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *in  = call->in[0];
    HoloTensor       *out = holo_out(call, 0);
    int               axes[HOLO_MAX_RANK], count = 0;
    bool              known = true;
    if (!out) return HOLO_OK;
    HOLO_TRY(reduced_axes(call, axes, &count, &known));
    if (!known) return holo_call_fail(call, HOLO_BAD_INPUT, "more axes than dimensions");
    Reducer r = {.how = call->op->row, .in = in, .part = holo_part(in, axes, count), .count = 1};
    for (int i = 0; i < count; i++) r.count *= in->dim[axes[i]];
    r.class = r.how->fold_i ? holo_dtype_class(in->dtype) : HOLO_CLASS_FLOAT;
    r.fold  = r.class == HOLO_CLASS_FLOAT ? r.how->fold_f : r.class == HOLO_CLASS_INT ? r.how->fold_i : r.how->fold_u;
    if (is_direct(&r) && holo_reduce_by_tiles(call, &r.part, folds[r.how->start])) {
        for (int64_t k = 0, n = holo_tensor_count(out); r.how->mean && k < n; k++)
            ((double *)out->data)[k] /= (double)r.count;
        return HOLO_OK;
    }
    reduce(call, &r, out);
    return HOLO_OK;
}

static const Reduction sum         = {START_0, sum_f, sum_u, sum_u, NULL, false, false, false};
static const Reduction sum_wide    = {START_0, NULL, sum_u, sum_u, NULL, false, false, true};
static const Reduction mean        = {START_0, sum_f, sum_u, sum_u, NULL, true, false, false};
static const Reduction prod        = {START_1, prod_f, prod_u, prod_u, NULL, false, false, false};
static const Reduction max         = {START_LOWEST, max_f, max_i, max_u, NULL, false, false, false};
static const Reduction min         = {START_HIGHEST, min_f, min_i, min_u, NULL, false, false, false};
static const Reduction l1          = {START_0, abs_f, abs_u, sum_u, NULL, false, false, false};
static const Reduction l2          = {START_0, square_f, NULL, NULL, sqrt, false, false, false};
static const Reduction square      = {START_0, square_f, square_u, square_u, NULL, false, false, false};
static const Reduction log_sum     = {START_0, sum_f, NULL, NULL, holo_log, false, false, false};
static const Reduction log_sum_exp = {START_0, sum_f, NULL, NULL, holo_log, false, true, false};

#define WIDE (HOLO_TYPES_FLOAT | HOLO_BIT(I32) | HOLO_BIT(I64) | HOLO_BIT(U32) | HOLO_BIT(U64))
#define ANY  (WIDE | HOLO_BIT(I8) | HOLO_BIT(U8) | HOLO_BIT(BOOL))

#define REDUCE(text, how, dtypes)                                                                              \
    {                                                                                                          \
        .name = "Reduce" text, .domain = "", .since = 1, .in_min = 1, .in_max = 2, .out_min = 1, .out_max = 1, \
        .types = dtypes, .flags = HOLO_OP_REDUCES, .infer = infer, .eval = eval, .row = &how                   \
    }

const HoloOp holo_ops_reduce[] = {
    REDUCE("Sum", sum, WIDE),
    REDUCE("Mean", mean, WIDE),
    REDUCE("Prod", prod, WIDE),
    REDUCE("Max", max, ANY),
    REDUCE("Min", min, ANY),
    REDUCE("L1", l1, WIDE),
    REDUCE("L2", l2, WIDE),
    REDUCE("SumSquare", square, WIDE),
    REDUCE("LogSum", log_sum, WIDE),
    REDUCE("LogSumExp", log_sum_exp, WIDE),
    {.name    = "ReduceSumInteger",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(I8) | HOLO_BIT(U8),
     .infer   = infer,
     .eval    = eval,
     .row     = &sum_wide},
    {0},
};
