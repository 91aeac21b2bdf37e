// grid_sample.c - GridSample reads a tensor at positions that are data; AffineGrid makes such positions.
//
// Any number of spatial dimensions. A sample is a product of one-dimensional ones: each dimension gives up to four
// elements and their weights. The nearest element is copied as it is, of whatever type.
#include "ops/move.h"
#include "ops/samples.h"
#include "ops/spread.h"

#include <math.h>

#define TYPES (HOLO_TYPES_NUMBER | HOLO_TYPES_COMPLEX | HOLO_BIT(BOOL) | HOLO_BIT(STRING))

enum { SPATIAL = HOLO_MAX_RANK - 2 };
typedef enum Mode { NEAREST, LINEAR, CUBIC } Mode;
typedef enum Padding { ZEROS, BORDER, REFLECTION } Padding;

typedef struct Sampler {
    HoloTensor        x, y; // of complex numbers that are summed: as their parts
    const HoloTensor *grid;
    int               parts;
    size_t            size;    // bytes of an element
    const void       *outside; // an element of padding
    int               rank;
    Mode              mode;
    Padding           padding;
    bool              align_corners;
    int64_t           places, ins; // of one plane of the output, of the input
    int64_t           step, steps; // places of a part, parts of a plane
    int64_t           most;        // taps of a place
    HoloTap          *taps;        // for the parts of each worker
    int64_t           stride[SPATIAL];
} Sampler;

static HoloStatus read_modes(const HoloCall *call, Sampler *s)
{
    static const char *const modes[]    = {"linear", "bilinear", "nearest", "cubic", "bicubic", NULL};
    static const Mode        mode_of[]  = {LINEAR, LINEAR, NEAREST, CUBIC, CUBIC};
    static const char *const paddings[] = {"zeros", "border", "reflection", NULL};
    int                      mode, padding;
    HOLO_TRY(holo_attr_choice(call, "mode", modes[0], modes, &mode));
    HOLO_TRY(holo_attr_choice(call, "padding_mode", paddings[0], paddings, &padding));
    s->mode          = mode_of[mode];
    s->padding       = (Padding)padding;
    s->align_corners = holo_attr_int(call, "align_corners", 0) != 0;
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *grid = call->in[1];
    HoloDim           dim[HOLO_MAX_RANK];
    Sampler           s;
    HOLO_TRY(holo_expect_rank(call, 0, 3, HOLO_MAX_RANK));
    HOLO_TRY(holo_expect_rank(call, 1, x->rank, x->rank));
    HOLO_TRY(holo_expect_types(call, 1, HOLO_TYPES_FLOAT));
    HOLO_TRY(read_modes(call, &s));
    if (s.mode != NEAREST) HOLO_TRY(holo_expect_types(call, 0, TYPES & ~HOLO_BIT(STRING)));
    HoloDim last = grid->dim[grid->rank - 1];
    if (holo_dims_differ(last, x->rank - 2))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the grid has %lld coordinates, expected %d", (long long)last,
                              x->rank - 2);
    if (holo_dims_differ(x->dim[0], grid->dim[0]))
        return holo_call_fail(call, HOLO_BAD_MODEL, "batches of %lld and %lld", (long long)x->dim[0],
                              (long long)grid->dim[0]);
    dim[0] = x->dim[0];
    dim[1] = x->dim[1];
    for (int d = 2; d < x->rank; d++) dim[d] = grid->dim[d - 1];
    return holo_out_type(call, 0, (HoloDtype)x->dtype, x->rank, dim);
}

// Folds x back at the borders until it is between them.
static double reflect(double x, double low, double high)
{
    double range = high - low;
    if (x >= low && x <= high) return x;
    if (!(range > 0)) return low;
    double beyond = x < low ? low - x : x - high, times = floor(beyond / range), rest = beyond - times * range;
    bool   from_near = fmod(times, 2) == 0;
    return (x < low) == from_near ? low + rest : high - rest;
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

typedef struct Taps { // of one dimension: elements and weights; index -1: a zero
    int     count;
    int64_t index[4];
    double  weight[4];
} Taps;

static void borders(const Sampler *s, int64_t size, double *low, double *high)
{
    *low  = s->align_corners ? 0 : -0.5;
    *high = (double)size - (s->align_corners ? 1 : 0.5);
}

// The element at a whole position, after padding.
static int64_t element(const Sampler *s, int64_t i, int64_t size)
{
    if (i >= 0 && i < size) return i;
    if (s->padding == ZEROS || !size) return -1;
    if (s->padding == REFLECTION) {
        double low, high;
        borders(s, size, &low, &high);
        i = (int64_t)reflect((double)i, low, high);
    }
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}

static void cubic_weights(double x, double *w)
{
    const double a   = -0.75;
    double       far = x + 1, near = 1 - x, end = 2 - x;
    w[0] = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a;
    w[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
    w[2] = ((a + 2) * near - (a + 3)) * near * near + 1;
    w[3] = ((a * end - 5 * a) * end + 8 * a) * end - 4 * a;
}

static Taps find_taps(const Sampler *s, double normal, int64_t size)
{
    double low, high, n = (double)size;
    if (isnan(normal)) normal = -1; // the first border, as in PyTorch
    double x = s->align_corners ? (normal + 1) / 2 * (n - 1) : ((normal + 1) * n - 1) / 2;
    borders(s, size, &low, &high);
    if (!(fabs(x) < 0x1p52)) x = x > 0 ? 0x1p52 : -0x1p52; // far outside in any case
    if (s->mode == NEAREST) x = rint(x);
    bool is_folded = s->padding != ZEROS && s->mode != CUBIC; // cubic taps are treated one by one
    if (is_folded && s->padding == REFLECTION) x = reflect(x, low, high);
    if (is_folded && (s->mode == LINEAR || s->padding == BORDER)) x = clamp(x, 0, n - 1);
    Taps    taps  = {.count = s->mode == NEAREST ? 1 : s->mode == LINEAR ? 2 : 4};
    int64_t first = (int64_t)x;
    if (s->mode != NEAREST) first -= (double)first > x; // floor
    double rest = x - (double)first;
    if (s->mode == CUBIC) {
        cubic_weights(rest, taps.weight);
        first -= 1;
    } else {
        taps.weight[0] = s->mode == NEAREST ? 1 : 1 - rest;
        taps.weight[1] = rest;
    }
    for (int i = 0; i < taps.count; i++)
        taps.index[i] = is_folded && first + i == size ? size - 1 : element(s, first + i, size);
    return taps;
}

enum { PLACES = 64, TAPS = 4 * PLACES }; // at most so many places in a part, and about so many taps

// What all channels of a part read.
typedef struct Part {
    int64_t  places, end[PLACES];
    HoloTap *taps;
    double   values[PLACES]; // of one channel
} Part;

// Adds a place: all combinations of the dimensions' taps that lie inside. Each dimension multiplies the list; from the
// back, to read before writing.
static void add_place(const Sampler *s, const Taps *taps, Part *part)
{
    int64_t  count = 1, from = part->places ? part->end[part->places - 1] : 0;
    HoloTap *list = part->taps + from;
    list[0]       = (HoloTap){.weight = 1};
    for (int d = 0; d < s->rank; d++) {
        int64_t inside = 0, at[4] = {0};
        double  weight[4];
        for (int i = 0; i < taps[d].count; i++) {
            if (taps[d].index[i] < 0) continue;
            at[inside]       = taps[d].index[i] * s->stride[d] * s->parts;
            weight[inside++] = taps[d].weight[i];
        }
        for (int64_t k = count - 1; k >= 0; k--) {
            const HoloTap tap = list[k];
            for (int64_t i = inside - 1; i >= 0; i--)
                list[k * inside + i] = (HoloTap){tap.offset + at[i], tap.weight * weight[i]};
        }
        count *= inside;
    }
    part->end[part->places++] = from + count;
}

static void copy_nearest(Sampler *s, const Part *part, int64_t plane, int64_t to)
{
    for (int64_t p = 0, t = 0; p < part->places; t = part->end[p++])
        holo_move_one((char *)s->y.data + (size_t)(to + p) * s->size,
                      part->end[p] == t ? s->outside
                                        : (const char *)s->x.data + (size_t)(plane + part->taps[t].offset) * s->size,
                      s->size);
}

// Some positions, for all channels of one image.
static void run_part(void *arg, int64_t i, int worker)
{
    Sampler *s     = arg;
    int64_t  batch = i / s->steps, from = i % s->steps * s->step, channels = s->x.dim[1];
    Part     part;
    part.places = 0;
    part.taps   = s->taps + worker * s->step * s->most;
    for (int64_t p = from; p < s->places && p < from + s->step; p++) {
        double at[SPATIAL];
        Taps   taps[SPATIAL];
        holo_read_f(s->grid, (batch * s->places + p) * s->rank, 1, s->rank, at);
        for (int d = 0; d < s->rank; d++) // coordinates are written last dimension first
            taps[d] = find_taps(s, at[s->rank - 1 - d], s->x.dim[2 + d]);
        add_place(s, taps, &part);
    }
    for (int64_t c = batch * channels; c < (batch + 1) * channels; c++) {
        int64_t plane = c * s->ins, to = c * s->places + from;
        for (int k = 0; k < s->parts && s->mode != NEAREST; k++) {
            holo_samples_sum(&s->x, plane * s->parts + k, part.places, part.end, part.taps, part.values);
            holo_write_f(&s->y, to * s->parts + k, s->parts, part.places, part.values);
        }
        if (s->mode == NEAREST) copy_nearest(s, &part, plane, to);
    }
}

static HoloStatus eval(HoloCall *call)
{
    static const uint64_t   zero[2];
    static const HoloString no_text = {"", 0};
    if (holo_out_is_empty(call)) return HOLO_OK;
    int       workers = call->host && call->host->workers > 1 ? call->host->workers : 1;
    Sampler   s       = {.x = *call->in[0], .y = *call->out[0], .grid = call->in[1], .parts = 1};
    HoloDtype dtype   = (HoloDtype)s.x.dtype;
    HOLO_TRY(read_modes(call, &s));
    s.rank    = s.x.rank - 2;
    s.places  = holo_product(s.rank, s.y.dim + 2);
    s.ins     = holo_product(s.rank, s.x.dim + 2);
    s.size    = holo_dtype_size(dtype);
    s.outside = dtype == HOLO_STRING ? (const void *)&no_text : zero;
    if (holo_dtype_class(dtype) == HOLO_CLASS_COMPLEX && s.mode != NEAREST) {
        s.x.dtype = s.y.dtype = dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64;
        s.parts               = 2;
    }
    holo_strides(s.rank, s.x.dim + 2, s.stride);
    s.most = INT64_C(1) << (s.mode == NEAREST ? 0 : s.mode == LINEAR ? s.rank : 2 * s.rank);
    s.step = s.most < TAPS ? TAPS / s.most : 1;
    if (s.step > PLACES) s.step = PLACES;
    s.steps = (s.places + s.step - 1) / s.step;
    HOLO_TRY(holo_call_temp(call, (size_t)(s.step * s.most * workers), sizeof *s.taps, (void **)&s.taps));
    holo_spread(call, s.x.dim[0] * s.steps, (double)holo_tensor_count(&s.y) * 8, run_part, &s);
    return HOLO_OK;
}

// ---- AffineGrid

static HoloStatus infer_affine(HoloCall *call)
{
    const HoloTensor *theta = call->in[0];
    HoloDim           size[HOLO_MAX_RANK], dim[HOLO_MAX_RANK];
    HOLO_TRY(holo_expect_rank(call, 0, 3, 3));
    HOLO_TRY(holo_expect_types(call, 1, HOLO_BIT(I64)));
    int count = holo_in_ints(call, 1, size, HOLO_MAX_RANK);
    if (count < 0 && call->in[1]->rank == 1 && !holo_dim_is_symbolic(call->in[1]->dim[0])) {
        count = call->in[1]->dim[0] <= HOLO_MAX_RANK ? (int)call->in[1]->dim[0] : -1;
        for (int d = 0; d < count; d++) size[d] = HOLO_DIM_UNKNOWN;
    }
    if (count < 0) return holo_out_unknown(call, 0, (HoloDtype)theta->dtype);
    int rank = count - 2;
    if (rank < 1 || holo_dims_differ(theta->dim[1], rank) || holo_dims_differ(theta->dim[2], rank + 1))
        return holo_call_fail(call, HOLO_BAD_MODEL, "a size of %d entries does not fit matrices of %lld by %lld", count,
                              (long long)theta->dim[1], (long long)theta->dim[2]);
    if (holo_dims_differ(size[0], theta->dim[0]))
        return holo_call_fail(call, HOLO_BAD_MODEL, "batches of %lld and %lld", (long long)theta->dim[0],
                              (long long)size[0]);
    dim[0] = theta->dim[0];
    for (int d = 0; d < rank; d++) dim[1 + d] = size[2 + d];
    dim[1 + rank] = rank;
    return holo_out_type(call, 0, (HoloDtype)theta->dtype, rank + 2, dim);
}

// The normal coordinate of element i of n: -1 and 1 are the centers of the corner elements, or their outer edges.
static double normal(int64_t i, int64_t n, bool align_corners)
{
    if (align_corners) return n == 1 ? 0 : 2 * (double)i / (double)(n - 1) - 1;
    return (2 * (double)i + 1) / (double)n - 1;
}

static HoloStatus eval_affine(HoloCall *call)
{
    const HoloTensor *theta         = call->in[0];
    HoloTensor       *y             = call->out[0];
    int               rank          = y->rank - 2;
    bool              align_corners = holo_attr_int(call, "align_corners", 0) != 0;
    double            matrix[SPATIAL * (SPATIAL + 1)], line[SPATIAL], out[HOLO_TILE];
    int64_t           at = 0, width = y->dim[rank], most = HOLO_TILE / rank;
    if (holo_out_is_empty(call)) return HOLO_OK;
    for (int64_t n = 0; n < y->dim[0]; n++) {
        HoloWalk walk = holo_walk(rank - 1, y->dim + 1);
        holo_read_f(theta, n * rank * (rank + 1), 1, rank * (rank + 1), matrix);
        while (holo_walk_next(&walk)) { // a line: the same but for its first coordinate
            HOLO_TRY(holo_call_continue(call));
            for (int r = 0; r < rank; r++) {
                const double *row = matrix + r * (rank + 1);
                line[r]           = row[rank];
                for (int d = 0; d < rank - 1; d++)
                    line[r] += row[rank - 1 - d] * normal(walk.index[d], y->dim[1 + d], align_corners);
            }
            for (int64_t i = 0, count; i < width; i += count, at += count * rank) {
                count = width - i < most ? width - i : most;
                for (int64_t k = 0; k < count; k++) {
                    double x = normal(i + k, width, align_corners);
                    for (int r = 0; r < rank; r++) out[k * rank + r] = matrix[r * (rank + 1)] * x + line[r];
                }
                holo_write_f(y, at, 1, count * rank, out);
            }
        }
    }
    return HOLO_OK;
}

const HoloOp holo_ops_grid_sample[] = {
    {.name    = "GridSample",
     .domain  = "",
     .since   = 16,
     .in_min  = 2,
     .in_max  = 2,
     .out_min = 1,
     .out_max = 1,
     .types   = TYPES,
     .infer   = infer,
     .eval    = eval},
    {.name    = "GridSample",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 2,
     .in_max  = 2,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer,
     .eval    = eval},
    {.name    = "AffineGrid",
     .domain  = "",
     .since   = 20,
     .in_min  = 2,
     .in_max  = 2,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer_affine,
     .eval    = eval_affine},
    {0},
};
