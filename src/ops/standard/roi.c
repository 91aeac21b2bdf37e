// roi.c - RoiAlign, MaxRoiPool, and CropAndResize of com.microsoft: regions of a feature map in a fixed size.
#include "ops/samples.h"
#include "ops/spread.h"

#include <math.h>

typedef struct Region Region;

typedef struct Roi {
    const HoloTensor *x, *rois;
    const int64_t    *batch; // of each region; checked
    HoloTensor       *y;
    int64_t           height, width, channels, out_height, out_width;
    double            scale, offset;
    int64_t           ratio; // samples a bin and direction; 0: as many as the bin is long
    bool              max, clamp_small;
    Region           *region; // for each worker
} Roi;

// Sizes: of both operators.
static HoloStatus set_out(HoloCall *call, HoloDim regions, int64_t height, int64_t width)
{
    const HoloTensor *x = call->in[0];
    if (height < 1 || width < 1)
        return holo_call_fail(call, HOLO_BAD_MODEL, "an output of %lld by %lld", (long long)height, (long long)width);
    return holo_out_type(call, 0, (HoloDtype)x->dtype, 4, (HoloDim[]){regions, x->dim[1], height, width});
}

static HoloStatus expect_columns(const HoloCall *call, int64_t columns)
{
    HOLO_TRY(holo_expect_rank(call, 0, 4, 4));
    HOLO_TRY(holo_expect_rank(call, 1, 2, 2));
    HOLO_TRY(holo_expect_types(call, 1, UINT64_C(1) << call->in[0]->dtype));
    HoloDim have = call->in[1]->dim[1];
    if (holo_dims_differ(have, columns))
        return holo_call_fail(call, HOLO_BAD_MODEL, "a region has %lld numbers, expected %lld", (long long)have,
                              (long long)columns);
    return HOLO_OK;
}

static HoloStatus check_batch(const HoloCall *call, int64_t batch)
{
    if (batch < 0 || batch >= call->in[0]->dim[0])
        return holo_call_fail(call, HOLO_BAD_INPUT, "batch index %lld is outside 0 to %lld", (long long)batch,
                              (long long)call->in[0]->dim[0] - 1);
    return HOLO_OK;
}

// Regions are rows of 4, and input 2 has the image of each.
static HoloStatus expect_images(const HoloCall *call, uint64_t types)
{
    const HoloTensor *batch = call->in[2], *rois = call->in[1];
    HOLO_TRY(expect_columns(call, 4));
    HOLO_TRY(holo_expect_rank(call, 2, 1, 1));
    HOLO_TRY(holo_expect_types(call, 2, types));
    if (holo_dims_differ(batch->dim[0], rois->dim[0]))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld regions, but %lld batch indices", (long long)rois->dim[0],
                              (long long)batch->dim[0]);
    return HOLO_OK;
}

// ---- RoiAlign

static HoloStatus infer_align(HoloCall *call)
{
    const HoloTensor *rois = call->in[1];
    HOLO_TRY(expect_images(call, HOLO_BIT(I64)));
    HOLO_TRY(holo_attr_choice(call, "mode", "avg", (const char *const[]){"avg", "max", NULL}, NULL));
    HOLO_TRY(holo_attr_choice(call, "coordinate_transformation_mode", "half_pixel",
                              (const char *const[]){"half_pixel", "output_half_pixel", NULL}, NULL));
    return set_out(call, rois->dim[0], holo_attr_int(call, "output_height", 1), holo_attr_int(call, "output_width", 1));
}

typedef struct Corners { // of the cell around a sample: two rows or columns and the weight of each
    int64_t low, high;
    double  low_weight, high_weight;
} Corners;

static bool find_corners(double at, int64_t size, Corners *out)
{
    if (!(at >= -1 && at <= (double)size) || size < 1) return false;
    at               = at > 0 ? at : 0;
    int64_t low      = (int64_t)at;
    bool    last     = low >= size - 1;
    out->low         = last ? size - 1 : low;
    out->high        = last ? size - 1 : low + 1;
    out->high_weight = last ? 0 : at - (double)low;
    out->low_weight  = 1 - out->high_weight;
    return true;
}

// A direction of a region: where it starts, how long a bin is, and how many samples a bin has.
typedef struct Span {
    double  start, bin;
    int64_t samples;
} Span;

static double rounded(const Roi *v, double x)
{
    return v->rois->dtype == HOLO_F32 ? (float)x : x;
}

// Of f32 in steps of f32, as models were trained: a rounding decides whether a bin has one sample or two.
static Span find_span(const Roi *v, double from, double to, int64_t bins, int64_t size)
{
    Span   span   = {.start = rounded(v, rounded(v, from * v->scale) - v->offset)};
    double length = rounded(v, rounded(v, rounded(v, to * v->scale) - v->offset) - span.start);
    if (v->clamp_small) length = length > 1 ? length : 1;
    span.bin       = rounded(v, length / (double)bins);
    double samples = v->ratio > 0 ? (double)v->ratio : ceil(span.bin);
    double limit   = 4 * ((double)size + 2); // a bin that is far longer than the map needs no more samples
    span.samples   = samples >= 1 ? (int64_t)(v->ratio > 0 ? samples : fmin(samples, limit)) : 0;
    return span;
}

// A direction of a region: the elements that its bins read, one bin behind the other.
typedef struct Side {
    HoloTap *taps;
    int64_t *end;     // of the taps of each bin
    bool    *outside; // does a bin have samples outside of the map?
} Side;

struct Region { // what a worker needs for one
    Side    rows, columns;
    double *line[2], *sums; // of out_width bins: rows of the map, an even one and an odd one; all of them
};

static void find_spans(const Roi *v, int64_t n, Span *h, Span *w)
{
    double at[4];
    holo_read_f(v->rois, n * 4, 1, 4, at);
    *w = find_span(v, at[0], at[2], v->out_width, v->width);
    *h = find_span(v, at[1], at[3], v->out_height, v->height);
}

static void find_taps(const Span *span, int64_t bins, int64_t size, const Side *out)
{
    int64_t count = 0;
    Corners at;
    for (int64_t p = 0; p < bins; p++) {
        out->outside[p] = false;
        for (int64_t i = 0; i < span->samples; i++) {
            double place = span->start + (double)p * span->bin + ((double)i + 0.5) * span->bin / (double)span->samples;
            if (!find_corners(place, size, &at)) {
                out->outside[p] = true;
                continue;
            }
            out->taps[count++] = (HoloTap){at.low, at.low_weight};
            out->taps[count++] = (HoloTap){at.high, at.high_weight};
        }
        out->end[p] = count;
    }
}

// One row of the map in the bins' columns. Samples that are close together meet the same two rows again: *held says
// which row the line is of.
static const double *pool_line(const Roi *v, const Region *r, int64_t plane, int64_t row, int64_t *held)
{
    double *line = r->line[row % 2];
    if (held[row % 2] == row) return line;
    held[row % 2] = row;
    for (int64_t pw = 0; v->max && pw < v->out_width; pw++) line[pw] = NAN;
    (v->max ? holo_samples_max : holo_samples_sum)(v->x, plane + row * v->width, v->out_width, r->columns.end,
                                                   r->columns.taps, line);
    return line;
}

static void add_line(double weight, const double *restrict line, int64_t count, double *restrict sums)
{
    for (int64_t k = 0; k < count; k++) sums[k] += weight * line[k];
}

// NaN is what there is before the first number, and what is passed over then.
static void raise_sums(double weight, const double *restrict line, int64_t count, double *restrict sums)
{
    for (int64_t k = 0; k < count; k++) {
        double part = weight * line[k];
        double most = sums[k] >= part ? sums[k] : part;
        sums[k]     = part == part ? most : sums[k];
    }
}

// One row of bins of one channel, of `count` samples each. The maximum is that of the weighted corners, as the standard
// has it; a sample outside of the map is 0.
static void pool_row(const Roi *v, const Region *r, double count, int64_t plane, int64_t ph)
{
    int64_t held[2] = {-1, -1};
    double *sums    = r->sums;
    for (int64_t pw = 0; pw < v->out_width; pw++)
        sums[pw] = !v->max || !count || r->rows.outside[ph] || r->columns.outside[pw] ? 0 : NAN;
    for (int64_t t = ph ? r->rows.end[ph - 1] : 0; t < r->rows.end[ph]; t++) {
        double        weight = r->rows.taps[t].weight;
        const double *line   = pool_line(v, r, plane, r->rows.taps[t].offset, held);
        (v->max ? raise_sums : add_line)(weight, line, v->out_width, sums);
    }
    double scale = count > 1 ? 1 / count : 1;
    for (int64_t pw = 0; !v->max && pw < v->out_width; pw++) sums[pw] *= scale;
}

enum { CHANNELS = 32 }; // of a task

static void run_align(void *arg, int64_t i, int worker)
{
    const Roi    *v     = arg;
    int64_t       parts = (v->channels + CHANNELS - 1) / CHANNELS, n = i / parts, c = i % parts * CHANNELS;
    int64_t       end = v->channels - c < CHANNELS ? v->channels : c + CHANNELS;
    const Region *r   = &v->region[worker];
    Span          h, w;
    find_spans(v, n, &h, &w);
    find_taps(&w, v->out_width, v->width, &r->columns);
    find_taps(&h, v->out_height, v->height, &r->rows);
    double count = (double)h.samples * (double)w.samples;
    for (; c < end; c++)
        for (int64_t ph = 0; ph < v->out_height; ph++) {
            pool_row(v, r, count, (v->batch[n] * v->channels + c) * v->height * v->width, ph);
            holo_write_f(v->y, ((n * v->channels + c) * v->out_height + ph) * v->out_width, 1, v->out_width, r->sums);
        }
}

static HoloStatus take_side(const HoloCall *call, int64_t bins, int64_t samples, Side *out)
{
    int64_t taps;
    if (!holo_mul(2 * bins, samples, &taps)) return holo_call_fail(call, HOLO_NO_MEMORY, "too many samples");
    HOLO_TRY(holo_call_temp(call, (size_t)taps, sizeof *out->taps, (void **)&out->taps));
    HOLO_TRY(holo_call_temp(call, (size_t)bins, sizeof *out->end, (void **)&out->end));
    return holo_call_temp(call, (size_t)bins, sizeof *out->outside, (void **)&out->outside);
}

// Memory for each worker, enough for any of the regions.
static HoloStatus take_regions(const HoloCall *call, Roi *v)
{
    int     workers = call->host && call->host->workers > 1 ? call->host->workers : 1;
    int64_t rows = 0, columns = 0;
    for (int64_t n = 0; n < v->rois->dim[0]; n++) {
        Span h, w;
        find_spans(v, n, &h, &w);
        rows    = h.samples > rows ? h.samples : rows;
        columns = w.samples > columns ? w.samples : columns;
    }
    HOLO_TRY(holo_call_temp(call, (size_t)workers, sizeof *v->region, (void **)&v->region));
    for (Region *r = v->region; r < v->region + workers; r++) {
        HOLO_TRY(take_side(call, v->out_height, rows, &r->rows));
        HOLO_TRY(take_side(call, v->out_width, columns, &r->columns));
        HOLO_TRY(holo_call_temp(call, (size_t)v->out_width, 3 * sizeof(double), (void **)&r->sums));
        r->line[0] = r->sums + v->out_width;
        r->line[1] = r->line[0] + v->out_width;
    }
    return HOLO_OK;
}

static void init(const HoloCall *call, Roi *v)
{
    *v            = (Roi){.x = call->in[0], .rois = call->in[1], .y = call->out[0]};
    v->channels   = v->x->dim[1];
    v->height     = v->x->dim[2];
    v->width      = v->x->dim[3];
    v->out_height = v->y->dim[2];
    v->out_width  = v->y->dim[3];
    v->scale      = holo_attr_float(call, "spatial_scale", 1);
}

// The image of each region, which must be there.
static HoloStatus read_batch(const HoloCall *call, Roi *v)
{
    int64_t regions = v->rois->dim[0];
    void   *batch;
    HOLO_TRY(holo_call_temp(call, (size_t)regions, sizeof(int64_t), &batch));
    if (regions) holo_read_i(call->in[2], 0, 1, regions, batch);
    v->batch = batch;
    for (int64_t n = 0; n < regions; n++) HOLO_TRY(check_batch(call, v->batch[n]));
    return HOLO_OK;
}

static HoloStatus eval_align(HoloCall *call)
{
    Roi v;
    if (holo_out_is_empty(call)) return HOLO_OK;
    init(call, &v);
    const char *fallback   = call->version < 16 ? "output_half_pixel" : "half_pixel";
    bool        half_pixel = holo_attr_is(call, "coordinate_transformation_mode", fallback, "half_pixel");
    int64_t     regions    = v.rois->dim[0];
    v.offset               = half_pixel ? 0.5 : 0;
    v.clamp_small          = !half_pixel;
    v.ratio                = holo_attr_int(call, "sampling_ratio", 0);
    v.max                  = holo_attr_is(call, "mode", "avg", "max");
    if (v.ratio < 0 || v.ratio > INT16_MAX)
        return holo_call_fail(call, HOLO_BAD_MODEL, "sampling_ratio is %lld", (long long)v.ratio);
    HOLO_TRY(read_batch(call, &v));
    HOLO_TRY(take_regions(call, &v));
    int64_t parts = regions * ((v.channels + CHANNELS - 1) / CHANNELS);
    holo_spread(call, parts, (double)holo_tensor_count(v.y) * 16, run_align, &v);
    return HOLO_OK;
}

// ---- MaxRoiPool

static HoloStatus infer_max(HoloCall *call)
{
    int64_t shape[2];
    HOLO_TRY(expect_columns(call, 5));
    if (holo_attr_ints(call, "pooled_shape", shape, 2) != 2)
        return holo_call_fail(call, HOLO_BAD_MODEL, "pooled_shape must have 2 entries");
    return set_out(call, call->in[1]->dim[0], shape[0], shape[1]);
}

static int64_t to_index(double x, int64_t low, int64_t high)
{
    return x > (double)low ? x < (double)high ? (int64_t)x : high : low;
}

// The elements of bin i: a whole number of rows or columns, from low up to high.
static void find_bin(double from, double to, int64_t bins, int64_t i, int64_t size, int64_t *low, int64_t *high)
{
    double start = round(from), length = fmax(round(to) - start + 1, 1), bin = length / (double)bins;
    *low  = to_index(floor((double)i * bin) + start, 0, size);
    *high = to_index(ceil((double)(i + 1) * bin) + start, 0, size);
}

typedef struct MaxPool {
    Roi      roi;
    int64_t *batch;
    int64_t *rows, *columns; // of each region and bin: from, and up to
    double  *line;           // for each worker, as long as a row of the map
} MaxPool;

// line[k] becomes the larger of it and an element of x; NaN is passed over.
static void raise_line(const HoloTensor *x, int64_t start, int64_t count, double *restrict line)
{
    if (x->dtype == HOLO_F32) {
        const float *from = (const float *)x->data + start;
        for (int64_t k = 0; k < count; k++) line[k] = from[k] > line[k] ? from[k] : line[k];
        return;
    }
    double part[HOLO_TILE];
    for (int64_t k = 0; k < count; k += HOLO_TILE) {
        int64_t n = count - k < HOLO_TILE ? count - k : HOLO_TILE;
        holo_read_f(x, start + k, 1, n, part);
        for (int64_t j = 0; j < n; j++) line[k + j] = part[j] > line[k + j] ? part[j] : line[k + j];
    }
}

// One row of bins of one channel.
static void pool_bins(const MaxPool *m, int64_t n, int64_t plane, int64_t ph, double *line, int64_t out)
{
    const Roi     *v    = &m->roi;
    const int64_t *rows = m->rows + (n * v->out_height + ph) * 2, *columns = m->columns + n * v->out_width * 2;
    int64_t        left = columns[0], right = columns[v->out_width * 2 - 1]; // bins go from left to right
    for (int64_t x = left; x < right; x++) line[x] = -INFINITY;
    for (int64_t y = rows[0]; y < rows[1]; y++)
        raise_line(v->x, plane + y * v->width + left, right - left, line + left);
    for (int64_t pw = 0; pw < v->out_width; pw++) {
        int64_t from = columns[pw * 2], to = columns[pw * 2 + 1];
        double  best = rows[1] > rows[0] && to > from ? -INFINITY : 0;
        for (int64_t x = from; rows[1] > rows[0] && x < to; x++) best = line[x] > best ? line[x] : best;
        holo_put_f(v->y, out + pw, best);
    }
}

// One channel of one region.
static void run_max(void *arg, int64_t i, int worker)
{
    const MaxPool *m = arg;
    const Roi     *v = &m->roi;
    int64_t        n = i / v->channels, plane = (m->batch[n] * v->channels + i % v->channels) * v->height * v->width;
    for (int64_t ph = 0; ph < v->out_height; ph++)
        pool_bins(m, n, plane, ph, m->line + worker * v->width, (i * v->out_height + ph) * v->out_width);
}

static HoloStatus read_regions(const HoloCall *call, MaxPool *m)
{
    const Roi *v = &m->roi;
    double     at[5];
    for (int64_t n = 0; n < v->rois->dim[0]; n++) {
        holo_read_f(v->rois, n * 5, 1, 5, at);
        m->batch[n] = to_index(at[0], -1, v->x->dim[0]);
        HOLO_TRY(check_batch(call, m->batch[n]));
        int64_t *rows = m->rows + n * v->out_height * 2, *columns = m->columns + n * v->out_width * 2;
        for (int64_t i = 0; i < v->out_height; i++)
            find_bin(at[2] * v->scale, at[4] * v->scale, v->out_height, i, v->height, &rows[i * 2], &rows[i * 2 + 1]);
        for (int64_t i = 0; i < v->out_width; i++)
            find_bin(at[1] * v->scale, at[3] * v->scale, v->out_width, i, v->width, &columns[i * 2],
                     &columns[i * 2 + 1]);
    }
    return HOLO_OK;
}

static HoloStatus eval_max(HoloCall *call)
{
    MaxPool m       = {0};
    size_t  workers = call->host && call->host->workers > 1 ? (size_t)call->host->workers : 1;
    if (holo_out_is_empty(call)) return HOLO_OK;
    init(call, &m.roi);
    const Roi *v       = &m.roi;
    size_t     regions = (size_t)v->rois->dim[0], pair = 2 * sizeof(int64_t);
    HOLO_TRY(holo_call_temp(call, regions, sizeof(int64_t), (void **)&m.batch));
    HOLO_TRY(holo_call_temp(call, regions * (size_t)v->out_height, pair, (void **)&m.rows));
    HOLO_TRY(holo_call_temp(call, regions * (size_t)v->out_width, pair, (void **)&m.columns));
    HOLO_TRY(holo_call_temp(call, (size_t)v->width + 1, workers * sizeof(double), (void **)&m.line));
    HOLO_TRY(read_regions(call, &m));
    holo_spread(call, (int64_t)regions * v->channels, (double)holo_tensor_count(v->y) * 16, run_max, &m);
    return HOLO_OK;
}

// ---- CropAndResize

static HoloStatus infer_crop(HoloCall *call)
{
    HoloDim size[2] = {HOLO_DIM_UNKNOWN, HOLO_DIM_UNKNOWN};
    HOLO_TRY(expect_images(call, HOLO_BIT(I32)));
    HOLO_TRY(holo_expect_types(call, 3, HOLO_BIT(I32)));
    HOLO_TRY(holo_expect_rank(call, 3, 1, 1));
    if (holo_dims_differ(call->in[3]->dim[0], 2))
        return holo_call_fail(call, HOLO_BAD_MODEL, "crop_size must have 2 entries");
    HOLO_TRY(holo_attr_choice(call, "mode", "bilinear", (const char *const[]){"bilinear", "nearest", NULL}, NULL));
    if (holo_in_ints(call, 3, size, 2) == 2)
        for (int d = 0; d < 2; d++)
            if (!holo_dim_is_symbolic(size[d]) && size[d] < 1)
                return holo_call_fail(call, HOLO_BAD_INPUT, "a crop of %lld by %lld", (long long)size[0],
                                      (long long)size[1]);
    return holo_out_type(call, 0, (HoloDtype)call->in[0]->dtype, 4,
                         (HoloDim[]){call->in[1]->dim[0], call->in[0]->dim[1], size[0], size[1]});
}

// Where sample i of `count` from `from` to `to`, parts of the `size`, lies. Each step is rounded
// to the type of the boxes: what is a little outside gets another value.
static double crop_at(double from, double to, int64_t size, int64_t count, int64_t i, bool is_wide)
{
#define ROUNDED(x) (is_wide ? (x) : (double)(float)(x))
    double last = (double)(size - 1);
    if (count == 1) return ROUNDED(0.5 * ROUNDED(from + to) * last);
    if (i == 0) return ROUNDED(from * last);
    if (i == count - 1) return ROUNDED(to * last);
    double step = ROUNDED(ROUNDED(ROUNDED(to - from) * last) / (double)(count - 1));
    return ROUNDED(ROUNDED(from * last) + ROUNDED((double)i * step));
#undef ROUNDED
}

// The elements that a sample is made of. False: it is outside.
static bool find_crop(double at, int64_t size, bool is_nearest, Corners *out)
{
    if (!(at >= 0 && at <= (double)(size - 1))) return false;
    out->low         = (int64_t)(is_nearest ? round(at) : floor(at));
    out->high        = is_nearest ? out->low : (int64_t)ceil(at);
    out->high_weight = is_nearest ? 0 : at - (double)out->low;
    out->low_weight  = 1 - out->high_weight;
    return true;
}

typedef struct Crop {
    Roi      roi;
    bool     is_nearest;
    double   outside;
    Corners *columns; // for each worker: of a row
    bool    *inside;
} Crop;

static double sample(const HoloTensor *x, int64_t at, const Corners *c)
{
    double low = holo_get_f(x, at + c->low);
    return c->high == c->low ? low : low + (holo_get_f(x, at + c->high) - low) * c->high_weight;
}

static void crop_row(const Crop *p, int64_t plane, const Corners *row, const Corners *column, const bool *inside,
                     int64_t out)
{
    const Roi *v = &p->roi;
    for (int64_t i = 0; i < v->out_width; i++) {
        double y = p->outside;
        if (row && inside[i]) {
            double top = sample(v->x, plane + row->low * v->width, &column[i]), bottom = top;
            if (row->high != row->low) bottom = sample(v->x, plane + row->high * v->width, &column[i]);
            y = row->high == row->low ? top : top + (bottom - top) * row->high_weight;
        }
        holo_put_f(v->y, out + i, y);
    }
}

// One region.
static void run_crop(void *arg, int64_t n, int worker)
{
    const Crop *p       = arg;
    const Roi  *v       = &p->roi;
    Corners    *columns = p->columns + worker * v->out_width, row;
    bool       *inside = p->inside + worker * v->out_width, is_wide = v->rois->dtype == HOLO_F64;
    double      at[4]; // y, x, y, x
    holo_read_f(v->rois, n * 4, 1, 4, at);
    for (int64_t i = 0; i < v->out_width; i++)
        inside[i] =
            find_crop(crop_at(at[1], at[3], v->width, v->out_width, i, is_wide), v->width, p->is_nearest, &columns[i]);
    for (int64_t i = 0; i < v->out_height; i++) {
        bool met =
            find_crop(crop_at(at[0], at[2], v->height, v->out_height, i, is_wide), v->height, p->is_nearest, &row);
        for (int64_t c = 0; c < v->channels; c++)
            crop_row(p, (v->batch[n] * v->channels + c) * v->height * v->width, met ? &row : NULL, columns, inside,
                     ((n * v->channels + c) * v->out_height + i) * v->out_width);
    }
}

static HoloStatus eval_crop(HoloCall *call)
{
    Crop   p       = {.is_nearest = holo_attr_is(call, "mode", "bilinear", "nearest"),
                      .outside    = holo_attr_float(call, "extrapolation_value", 0)};
    size_t workers = call->host && call->host->workers > 1 ? (size_t)call->host->workers : 1;
    if (holo_out_is_empty(call)) return HOLO_OK;
    init(call, &p.roi);
    HOLO_TRY(read_batch(call, &p.roi));
    size_t width = (size_t)p.roi.out_width;
    HOLO_TRY(holo_call_temp(call, width, workers * sizeof *p.columns, (void **)&p.columns));
    HOLO_TRY(holo_call_temp(call, width, workers * sizeof *p.inside, (void **)&p.inside));
    holo_spread(call, p.roi.rois->dim[0], (double)holo_tensor_count(p.roi.y) * 16, run_crop, &p);
    return HOLO_OK;
}

const HoloOp holo_ops_roi[] = {
    {.name    = "RoiAlign",
     .domain  = "",
     .since   = 10,
     .in_min  = 3,
     .in_max  = 3,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer_align,
     .eval    = eval_align},
    {.name    = "CropAndResize",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 4,
     .in_max  = 4,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer_crop,
     .eval    = eval_crop},
    {.name    = "MaxRoiPool",
     .domain  = "",
     .since   = 1,
     .in_min  = 2,
     .in_max  = 2,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer_max,
     .eval    = eval_max},
    {0},
};
