// pooling.c - MaxPool, AveragePool, LpPool, their global forms, and the quantized ones of com.microsoft.
//
// A tile of outputs is computed tap by tap: the elements that a tap meets are merged into the tile. The global forms
// have loops of their own, because their window is the whole plane.
#include "base/math/math.h"
#include "ops/spread.h"
#include "ops/window.h"

#include <math.h>

typedef enum PoolKind { AVERAGE, MAX, LP } PoolKind;

typedef struct PoolRow {
    PoolKind kind;
    bool     nhwc;      // channels last, always
    bool     quantized; // x, x_scale, x_zero, y_scale, y_zero; channels last where the attribute says so
} PoolRow;

typedef struct Pool {
    PoolKind          kind;
    HoloWindow        window; // as the attributes say
    HoloWindow        met;    // without the taps that meet no element under any output
    const HoloTensor *x;
    HoloTensor       *y, *indices;
    bool              channels_last, count_pads, column_major;
    double            p;                                // of LpPool
    double            x_zero, x_scale, y_zero, y_scale; // x_scale 0: not quantized
    int64_t           channels, ins, outs, taps, tiles;
} Pool;

// ---- types

static bool is_channels_last(const HoloCall *call)
{
    const PoolRow *row = call->op->row;
    return row->nhwc || (row->quantized && holo_attr_int(call, "channels_last", 0));
}

static HoloStatus init_window(const HoloCall *call, HoloWindow *out)
{
    const HoloTensor *x = call->in[0];
    HOLO_TRY(holo_expect_rank(call, 0, 3, HOLO_MAX_RANK));
    return holo_window_init(call, x->rank - 2, x->dim + (is_channels_last(call) ? 1 : 2), NULL,
                            holo_attr_int(call, "ceil_mode", 0) != 0, out);
}

static HoloStatus infer(HoloCall *call)
{
    const PoolRow    *row = call->op->row;
    const HoloTensor *x   = call->in[0];
    HoloWindow        window;
    HoloDim           dim[HOLO_MAX_RANK];
    HOLO_TRY(init_window(call, &window));
    for (int d = 0; d < x->rank; d++) dim[d] = x->dim[d];
    for (int d = 0; d < window.rank; d++) dim[(is_channels_last(call) ? 1 : 2) + d] = window.out[d];
    HOLO_TRY(holo_out_type(call, 0, (HoloDtype)x->dtype, x->rank, dim));
    return row->kind == MAX ? holo_out_type(call, 1, HOLO_I64, x->rank, dim) : HOLO_OK;
}

static HoloStatus infer_global(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloDim           dim[HOLO_MAX_RANK];
    HOLO_TRY(holo_expect_rank(call, 0, 2, HOLO_MAX_RANK));
    int first = is_channels_last(call) ? 1 : 2;
    for (int d = 0; d < x->rank; d++) dim[d] = d >= first && d < first + x->rank - 2 ? 1 : x->dim[d];
    return holo_out_type(call, 0, (HoloDtype)x->dtype, x->rank, dim);
}

// ---- values

// |x|^p, for LpPool. The square of a narrow float is exact in double, and its cube rounded once, as holo_pow does it.
static void raise_to(double *x, int64_t count, double p, bool narrow)
{
    if (p == 2)
        for (int64_t j = 0; j < count; j++) x[j] = x[j] * x[j];
    else if (p == 1)
        for (int64_t j = 0; j < count; j++) x[j] = fabs(x[j]);
    else if (p == 3 && narrow)
        for (int64_t j = 0; j < count; j++) x[j] = fabs(x[j] * x[j] * x[j]);
    else
        for (int64_t j = 0; j < count; j++) x[j] = holo_pow(fabs(x[j]), p);
}

// NaN wins, and the first one of several. These are selections rather than branches, which would be mispredicted half
// of the time.
static double select_greater(double x, double than, double if_greater, double if_not)
{
    double plain = x > than ? if_greater : if_not, first = than == than ? if_greater : if_not;
    return x == x ? plain : first;
}

static void merge(PoolKind kind, double *restrict into, const double *restrict x, int64_t count)
{
    if (kind == MAX) {
        for (int64_t j = 0; j < count; j++) into[j] = select_greater(x[j], into[j], x[j], into[j]);
    } else {
        for (int64_t j = 0; j < count; j++) into[j] += x[j];
    }
}

// Where x is greater, the best so far is from `tap`.
static void note(double tap, const double *restrict x, const double *restrict than, int64_t count,
                 double *restrict best)
{
    for (int64_t j = 0; j < count; j++) best[j] = select_greater(x[j], than[j], tap, best[j]);
}

// Averages of quantized numbers, each step in float. Halves are common there, and this rounds them as every kernel
// does.
static void merge_quantized(const Pool *v, double *into, const double *x, int64_t count)
{
    for (int64_t j = 0; j < count; j++) into[j] = (float)into[j] + (float)x[j] * (float)v->x_scale;
}

static double finish_quantized(const Pool *v, double x, double n)
{
    return rintf((float)x / (float)n / (float)v->y_scale + (float)v->y_zero);
}

// The global form sums whole numbers, and scales and shifts the sum.
static double finish_plane(const Pool *v, double x, double n)
{
    return rintf((float)x * ((float)v->x_scale / ((float)v->y_scale * (float)n))) + (float)v->y_zero;
}

// The output for the merged value of `n` elements.
static double finish(const Pool *v, double x, double n)
{
    if (v->kind == LP) return v->p == 2 ? sqrt(x) : v->p == 1 ? x : holo_pow(x, 1 / v->p);
    return v->kind == AVERAGE ? x / n : x;
}

// What was read, before it is merged.
static void prepare(const Pool *v, double *x, int64_t count)
{
    if (v->kind == LP) raise_to(x, count, v->p, v->x->dtype != HOLO_F64);
    if (v->x_zero != 0)
        for (int64_t j = 0; j < count; j++) x[j] -= v->x_zero;
}

// How many taps of the window at output o of dimension d are inside, padding counted or not.
static int64_t taps_inside(const Pool *v, int d, int64_t o)
{
    const HoloWindow *w     = &v->window;
    int64_t           first = o * w->stride[d] - w->pad_begin[d], step = w->dilation[d];
    int64_t           low = v->count_pads ? -w->pad_begin[d] : 0, high = w->in[d] + (v->count_pads ? w->pad_end[d] : 0);
    int64_t           from = first < low ? (low - first + step - 1) / step : 0;
    int64_t           to   = first < high ? (high - 1 - first) / step + 1 : 0;
    to                     = to < w->kernel[d] ? to : w->kernel[d];
    return to > from ? to - from : 0;
}

static double count_inside(const Pool *v, int64_t o)
{
    double count = 1;
    if (v->x_scale != 0 && v->count_pads) return (double)holo_window_taps(&v->window); // also beyond the padding
    for (int d = v->window.rank - 1; d >= 0; d--) {
        count *= (double)taps_inside(v, d, o % v->window.out[d]);
        o /= v->window.out[d];
    }
    return count;
}

// Where the maximum lies, as MaxPool's second output says it: in the whole tensor, each plane row- or column-major.
static int64_t max_index(const Pool *v, int64_t plane, int64_t o, int64_t tap)
{
    const HoloWindow *w     = &v->met;
    int64_t           place = tap < 0 ? -1 : holo_window_meet(w, o, tap);
    for (int64_t t = 0; place < 0 && t < v->taps; t++) // nothing was above -inf: the first element it is
        place = holo_window_meet(w, o, t);
    if (place < 0) return -1;
    if (v->column_major) {
        int64_t at[HOLO_MAX_SPATIAL], flat = 0;
        for (int d = w->rank - 1; d >= 0; d--) {
            at[d] = place % w->in[d];
            place /= w->in[d];
        }
        for (int d = w->rank - 1; d >= 0; d--) flat = flat * w->in[d] + at[d];
        place = flat;
    }
    return plane * v->ins + place;
}

static void write_indices(const Pool *v, int64_t plane, int64_t start, int64_t count, const double *best)
{
    for (int64_t j = 0; j < count; j++)
        holo_put_i(v->indices, plane * v->outs + start + j, max_index(v, plane, start + j, (int64_t)best[j]));
}

// Drops taps that are always outside, so that a large padding costs nothing.
static void trim(HoloWindow *w)
{
    for (int d = 0; d < w->rank; d++) {
        int64_t step = w->dilation[d], before = w->pad_begin[d] - (w->out[d] - 1) * w->stride[d];
        int64_t first = before > 0 ? (before + step - 1) / step : 0;
        int64_t end   = w->in[d] + w->pad_begin[d] > 0 ? (w->in[d] - 1 + w->pad_begin[d]) / step + 1 : 0;
        end           = end < w->kernel[d] ? end : w->kernel[d];
        w->kernel[d]  = end > first ? end - first : 1; // one is kept, be it outside
        w->pad_begin[d] -= end > first ? first * step : 0;
    }
}

static void run_tile(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Pool *v     = arg;
    int64_t     plane = i / v->tiles, start = i % v->tiles * HOLO_TILE;
    int64_t     count = v->outs - start < HOLO_TILE ? v->outs - start : HOLO_TILE;
    int64_t     step  = v->channels_last ? v->channels : 1;
    int64_t     stack = plane / (v->channels_last ? v->channels : 1), within = plane % step;
    double      sum[HOLO_TILE], x[HOLO_TILE], outside = v->kind == MAX ? -INFINITY : v->x_zero;
    double      best[HOLO_TILE]; // taps

    for (int64_t j = 0; j < count; j++) {
        sum[j]  = v->kind == MAX ? -INFINITY : 0;
        best[j] = -1;
    }
    for (int64_t t = 0; t < v->taps; t++) {
        holo_window_read(&v->met, v->x, stack * v->ins * step + within, step, t, start, count, outside, x);
        prepare(v, x, count);
        if (v->indices) note((double)t, x, sum, count, best);
        if (v->x_scale != 0)
            merge_quantized(v, sum, x, count);
        else
            merge(v->kind, sum, x, count);
    }
    for (int64_t j = 0; j < count; j++) {
        double n = v->kind == AVERAGE ? count_inside(v, start + j) : 1;
        sum[j]   = v->x_scale != 0 ? finish_quantized(v, sum[j], n) : finish(v, sum[j], n);
    }
    if (v->y) holo_write_f(v->y, stack * v->outs * step + within + start * step, step, count, sum);
    if (v->indices) write_indices(v, plane, start, count, best);
}

static void run_plane(void *arg, int64_t plane, int worker)
{
    (void)worker;
    const Pool *v     = arg;
    int64_t     step  = v->channels_last ? v->channels : 1;
    int64_t     first = plane / step * v->ins * step + plane % step;
    double      sum[HOLO_TILE], x[HOLO_TILE], start = v->kind == MAX ? -INFINITY : 0;
    for (int64_t j = 0; j < HOLO_TILE; j++) sum[j] = start;
    for (int64_t i = 0; i < v->ins; i += HOLO_TILE) {
        int64_t count = v->ins - i < HOLO_TILE ? v->ins - i : HOLO_TILE;
        holo_read_f(v->x, first + i * step, step, count, x);
        prepare(v, x, count);
        merge(v->kind, sum, x, count);
    }
    for (int half = HOLO_TILE / 2; half; half /= 2) merge(v->kind, sum, sum + half, half);
    sum[0] = v->x_scale != 0 ? finish_plane(v, sum[0], (double)v->ins) : finish(v, sum[0], (double)v->ins);
    holo_write_f(v->y, plane, 1, 1, sum);
}

// ---- eval

static HoloStatus read_quantization(const HoloCall *call, Pool *v)
{
    double *const into[] = {&v->x_scale, &v->x_zero, &v->y_scale, &v->y_zero};
    for (int i = 1; i <= 4; i++) {
        const HoloTensor *t = holo_in(call, i);
        if (t && holo_tensor_count(t) != 1)
            return holo_call_fail(call, HOLO_BAD_INPUT, "input %d must have one entry", i);
        *into[i - 1] = t ? holo_get_f(t, 0) : 0;
    }
    return HOLO_OK;
}

static HoloStatus init(const HoloCall *call, Pool *v)
{
    const PoolRow  *row = call->op->row;
    const HoloAttr *p   = holo_attr_find(call, "p");
    *v                  = (Pool){.kind = row->kind, .x = call->in[0], .y = holo_out(call, 0)};
    v->p = p && p->kind == HOLO_ATTR_FLOAT ? p->f : (double)holo_attr_int(call, "p", 2); // version 1 had a float
    v->channels_last = is_channels_last(call);
    v->count_pads    = holo_attr_int(call, "count_include_pad", 0) != 0;
    v->column_major  = holo_attr_int(call, "storage_order", 0) != 0;
    v->channels      = v->x->dim[v->channels_last ? v->x->rank - 1 : 1];
    return row->quantized ? read_quantization(call, v) : HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    Pool v;
    HOLO_TRY(init(call, &v));
    if (v.x->dim[0] == 0 || v.channels == 0) return HOLO_OK;
    HOLO_TRY(init_window(call, &v.window));
    v.indices = v.kind == MAX ? holo_out(call, 1) : NULL;
    v.ins     = holo_window_ins(&v.window);
    v.outs    = holo_window_outs(&v.window);
    v.met     = v.window;
    trim(&v.met);
    v.taps         = holo_window_taps(&v.met);
    v.tiles        = (v.outs + HOLO_TILE - 1) / HOLO_TILE;
    int64_t planes = v.x->dim[0] * v.channels;
    holo_spread(call, planes * v.tiles, (double)planes * (double)v.outs * (double)v.taps, run_tile, &v);
    return HOLO_OK;
}

static HoloStatus eval_global(HoloCall *call)
{
    Pool v;
    HOLO_TRY(init(call, &v));
    if (!v.y || v.x->dim[0] == 0 || v.channels == 0) return HOLO_OK;
    v.ins          = holo_product(v.x->rank - 2, v.x->dim + (v.channels_last ? 1 : 2));
    int64_t planes = v.x->dim[0] * v.channels;
    holo_spread(call, planes, (double)planes * (double)v.ins, run_plane, &v);
    return HOLO_OK;
}

static const PoolRow average = {.kind = AVERAGE}, max = {.kind = MAX}, lp = {.kind = LP};
static const PoolRow max_nhwc = {.kind = MAX, .nhwc = true}, average_quantized = {.kind = AVERAGE, .quantized = true};

#define TYPES_8    (HOLO_BIT(I8) | HOLO_BIT(U8))
#define POOL(kind) .in_min = 1, .in_max = 1, .out_min = 1, .infer = infer, .eval = eval, .row = &(kind)
#define GLOBAL(kind)                                                                                           \
    .domain = "", .since = 1, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1, .types = HOLO_TYPES_FLOAT, \
    .infer = infer_global, .eval = eval_global, .row = &(kind)
#define QUANTIZED                                                                                                  \
    .domain = "com.microsoft", .since = 1, .in_min = 4, .in_max = 5, .out_min = 1, .out_max = 1, .types = TYPES_8, \
    .flags = HOLO_OP_SCALED, .row = &average_quantized

const HoloOp holo_ops_pooling[] = {
    {.name = "MaxPool", .domain = "", .since = 1, .out_max = 2, .types = HOLO_TYPES_FLOAT | TYPES_8, POOL(max)},
    {.name = "AveragePool", .domain = "", .since = 1, .out_max = 1, .types = HOLO_TYPES_FLOAT, POOL(average)},
    {.name = "LpPool", .domain = "", .since = 1, .out_max = 1, .types = HOLO_TYPES_FLOAT, POOL(lp)},
    {.name = "GlobalAveragePool", GLOBAL(average)},
    {.name = "GlobalMaxPool", GLOBAL(max)},
    {.name = "GlobalLpPool", GLOBAL(lp)},
    {.name = "NhwcMaxPool", .domain = "com.microsoft", .since = 1, .out_max = 1, .types = TYPES_8, POOL(max_nhwc)},
    {.name = "QLinearAveragePool", QUANTIZED, .infer = infer, .eval = eval},
    {.name = "QLinearGlobalAveragePool", QUANTIZED, .infer = infer_global, .eval = eval_global},
    {0},
};
