// normalization_norm.c - normalizations without learnt weights: LpNormalization,
// MeanVarianceNormalization, LRN.
#include "base/math/math.h"
#include "ops/rows.h"
#include "ops/spread.h"
#include "ops/standard/normalization.h"
#include "ops/standard/reduce.h"

#include <math.h>

// ---- LpNormalization

static HoloStatus lp_infer(HoloCall *call)
{
    int64_t p = holo_attr_int(call, "p", 2);
    int     axis;
    HOLO_TRY(holo_attr_axis(call, "axis", -1, call->in[0]->rank, &axis));
    if (p != 1 && p != 2) return holo_call_fail(call, HOLO_BAD_MODEL, "p is %lld, not 1 or 2", (long long)p);
    return holo_infer_same(call);
}

enum { CHAINS = 8 }; // sums that need not wait for each other

// The sum of squares, or of magnitudes.
static double lp_sum(const double *x, int64_t count, bool squares)
{
    double  part[CHAINS] = {0}, sum = 0;
    int64_t k = 0;
    for (; k + CHAINS <= count && squares; k += CHAINS)
        for (int j = 0; j < CHAINS; j++) part[j] += x[k + j] * x[k + j];
    for (; k + CHAINS <= count && !squares; k += CHAINS)
        for (int j = 0; j < CHAINS; j++) part[j] += fabs(x[k + j]);
    for (; k < count; k++) sum += squares ? x[k] * x[k] : fabs(x[k]);
    for (int j = 0; j < CHAINS; j++) sum += part[j];
    return sum;
}

typedef struct LpRows {
    const HoloTensor *in;
    HoloTensor       *out;
    HoloRows          rows;
    bool              squares;
    double           *memory; // a row for each worker
} LpRows;

static void lp_row(void *arg, int64_t row, int worker)
{
    const LpRows *l     = arg;
    int64_t       start = holo_row_start(l->rows, row), size = l->rows.size;
    double       *x = l->memory + worker * size;
    holo_read_f(l->in, start, l->rows.inner, size, x);
    double norm = lp_sum(x, size, l->squares);
    if (l->squares) norm = sqrt(norm);
    for (int64_t k = 0; k < size && norm == 0; k++) x[k] = 0;
    for (int64_t k = 0; k < size && norm != 0; k++) x[k] /= norm;
    holo_write_f(l->out, start, l->rows.inner, size, x);
}

static HoloStatus lp_eval(HoloCall *call)
{
    LpRows l       = {.in = call->in[0], .out = holo_out(call, 0), .squares = holo_attr_int(call, "p", 2) == 2};
    size_t workers = call->host && call->host->workers > 1 ? (size_t)call->host->workers : 1;
    int    axis    = 0;
    if (!l.out) return HOLO_OK;
    HOLO_TRY(holo_attr_axis(call, "axis", -1, l.in->rank, &axis));
    l.rows = holo_rows(l.in, axis, axis + 1);
    HOLO_TRY(holo_call_temp(call, (size_t)l.rows.size, workers * sizeof(double), (void **)&l.memory));
    holo_spread(call, holo_row_count(l.rows), 4 * (double)holo_tensor_count(l.in), lp_row, &l);
    return HOLO_OK;
}

// ---- MeanVarianceNormalization

static HoloStatus mvn_axes(const HoloCall *call, int *axes, int *count)
{
    bool known;
    HOLO_TRY(holo_axes(call, "axes", -1, call->in[0]->rank, axes, count, &known));
    if (*count >= 0) return HOLO_OK;
    static const int standard[] = {0, 2, 3};
    if (call->in[0]->rank < 4)
        return holo_call_fail(call, HOLO_BAD_MODEL, "the data has %d dimensions; without axes it has 4 or more",
                              call->in[0]->rank);
    for (*count = 0; *count < HOLO_COUNT(standard); ++*count) axes[*count] = standard[*count];
    return HOLO_OK;
}

static HoloStatus mvn_infer(HoloCall *call)
{
    int axes[HOLO_MAX_RANK], count;
    HOLO_TRY(mvn_axes(call, axes, &count));
    return holo_infer_same(call);
}

// Copies between a list and the elements that share a mean; `base` is the first of them.
typedef void Mover(const HoloTensor *t, int64_t start, int64_t stride, int64_t count, double *x);

static void put_run(const HoloTensor *t, int64_t start, int64_t stride, int64_t count, double *x)
{
    HoloTensor to = *t;
    holo_write_f(&to, start, stride, count, x);
}

static void move_box(const HoloTensor *t, const HoloReduceBox *box, int64_t base, double *x, Mover *mover)
{
    int      last = box->rank - 1;
    HoloWalk walk = holo_walk(last < 0 ? 0 : last, box->dim);
    int64_t  run  = last < 0 ? 1 : box->dim[last];
    for (; holo_walk_next(&walk); x += run)
        mover(t, base + holo_walk_at(&walk, box->stride), last < 0 ? 1 : box->stride[last], run, x);
}

static HoloStatus mvn_eval(HoloCall *call)
{
    const HoloTensor *in  = call->in[0];
    HoloTensor       *out = holo_out(call, 0);
    int               axes[HOLO_MAX_RANK], count = 0;
    void             *memory;
    if (!out || holo_tensor_count(in) == 0) return HOLO_OK;
    HOLO_TRY(mvn_axes(call, axes, &count));
    HoloParting part = holo_part(in, axes, count);
    int64_t     size = holo_product(part.reduced.rank, part.reduced.dim);
    HOLO_TRY(holo_call_temp(call, (size_t)size, sizeof(double), &memory));
    double  *x    = memory;
    HoloWalk walk = holo_walk(part.kept.rank, part.kept.dim);
    while (holo_walk_next(&walk)) {
        HOLO_TRY(holo_call_continue(call));
        int64_t base = holo_walk_at(&walk, part.kept.stride);
        move_box(in, &part.reduced, base, x, holo_read_f);
        HoloMoments m = holo_moments(x, size, true);
        for (int64_t k = 0; k < size; k++) x[k] = (x[k] - m.mean) / (sqrt(m.variance) + 1e-9);
        move_box(out, &part.reduced, base, x, put_run);
    }
    return HOLO_OK;
}

// ---- LRN: local response normalization across channels

static HoloStatus lrn_infer(HoloCall *call)
{
    HOLO_TRY(holo_expect_rank(call, 0, 2, HOLO_MAX_RANK));
    int64_t size = holo_attr_int(call, "size", 0);
    if (size < 1)
        return holo_call_fail(call, HOLO_BAD_MODEL, "size is %lld, not a number of channels", (long long)size);
    return holo_infer_same(call);
}

typedef struct Lrn {
    const HoloTensor *in;
    HoloTensor       *out;
    HoloRows          rows;
    int64_t           below, above;
    double            alpha, beta, bias; // alpha: of one channel
} Lrn;

// The usual exponents are roots.
static void lrn_divide(const Lrn *v, const double *sum, int64_t n, double *x)
{
    if (v->beta == 0.75)
        for (int64_t j = 0; j < n; j++) {
            double root = sqrt(v->bias + v->alpha * sum[j]);
            x[j] /= root * sqrt(root);
        }
    else if (v->beta == 0.5)
        for (int64_t j = 0; j < n; j++) x[j] /= sqrt(v->bias + v->alpha * sum[j]);
    else
        for (int64_t j = 0; j < n; j++) x[j] /= holo_pow(v->bias + v->alpha * sum[j], v->beta);
}

// One channel.
static void lrn_channel(void *arg, int64_t place, int worker)
{
    (void)worker;
    const Lrn *v = arg;
    int64_t    c = place % v->rows.size, inner = v->rows.inner, from = c < v->below ? 0 : c - v->below;
    int64_t    to = v->rows.size - 1 - c < v->above ? v->rows.size - 1 : c + v->above;
    for (int64_t k = 0; k < inner; k += HOLO_TILE) {
        int64_t n              = inner - k < HOLO_TILE ? inner - k : HOLO_TILE;
        double  sum[HOLO_TILE] = {0}, x[HOLO_TILE];
        for (int64_t d = from; d <= to; d++) {
            holo_read_f(v->in, (place - c + d) * inner + k, 1, n, x);
            for (int64_t j = 0; j < n; j++) sum[j] += x[j] * x[j];
        }
        holo_read_f(v->in, place * inner + k, 1, n, x);
        lrn_divide(v, sum, n, x);
        holo_write_f(v->out, place * inner + k, 1, n, x);
    }
}

static HoloStatus lrn_eval(HoloCall *call)
{
    int64_t size = holo_attr_int(call, "size", 1);
    Lrn     v    = {.in    = call->in[0],
                    .out   = holo_out(call, 0),
                    .below = (size - 1) / 2,
                    .above = size - 1 - (size - 1) / 2,
                    .alpha = holo_attr_float(call, "alpha", 1e-4) / (double)size,
                    .beta  = holo_attr_float(call, "beta", 0.75),
                    .bias  = holo_attr_float(call, "bias", 1)};
    if (holo_out_is_empty(call)) return HOLO_OK;
    v.rows = holo_rows(v.in, 1, 2);
    holo_spread(call, v.rows.outer * v.rows.size, (double)holo_tensor_count(v.in) * 16, lrn_channel, &v);
    return HOLO_OK;
}

#define ROW(text, version, family)                                                                          \
    {                                                                                                       \
        .name = text, .domain = "", .since = version, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1, \
        .types = HOLO_TYPES_FLOAT, .infer = family##_infer, .eval = family##_eval                           \
    }

const HoloOp holo_ops_normalization_norm[] = {
    ROW("LpNormalization", 1, lp),
    ROW("MeanVarianceNormalization", 9, mvn),
    ROW("LRN", 1, lrn),
    {0},
};
