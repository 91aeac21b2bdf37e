// overlap.c - hologram::Overlap and hologram::Interleave: what each pixel gives to the pixels around it, with channels
// last.
//
// They turn [n, spatial ..., group * taps * m] into [n, spatial ..., group * m]: tap t of pixel q of a dimension goes
// to pixel q * stride + t - pad. `pads` are pixels left out at the begins, then at the ends; negative numbers add
// pixels. Overlap adds everything that goes to a pixel, and its second input, if given: what each channel begins with.
// It is the last half of a transposed convolution, and Col2Im with channels last. Interleave has as many taps as the
// stride, `blocks`, so one goes to each pixel, of any type; `crops` leave some out. It is DepthToSpace with channels
// last, and the last half of a transposed convolution whose filters do not overlap.
#include "ops/op.h"
#include "ops/spread.h"

#include <string.h>

enum { SPATIAL = HOLO_MAX_RANK - 2, LIMIT = 1 << 20 };

typedef struct Overlap {
    int               rank;           // spatial dimensions
    int64_t           group, taps, m; // taps: all dimensions together; m: channels of a group of the output
    int64_t           kernel[SPATIAL], stride[SPATIAL], begin[SPATIAL], end[SPATIAL];
    const HoloTensor *x, *bias;
    HoloTensor       *y;
} Overlap;

// `pads` are begins and ends, each at least `least`; `what` is for messages.
static HoloStatus set_taps(const HoloCall *call, const char *what, const int64_t *pads, int64_t least, Overlap *v)
{
    v->taps  = 1;
    v->group = holo_attr_int(call, "group", 1);
    for (int d = 0; d < v->rank; d++) {
        v->begin[d] = pads[d];
        v->end[d]   = pads[v->rank + d];
        if (v->kernel[d] < 1 || v->kernel[d] > LIMIT || v->stride[d] < 1 || v->stride[d] > LIMIT ||
            v->begin[d] < least || v->begin[d] > LIMIT || v->end[d] < least || v->end[d] > LIMIT ||
            !holo_mul(v->taps, v->kernel[d], &v->taps))
            return holo_call_fail(call, HOLO_BAD_MODEL, "%s are too small, or more than %d", what, LIMIT);
    }
    if (v->group < 1 || v->group > LIMIT)
        return holo_call_fail(call, HOLO_BAD_MODEL, "group is %lld", (long long)v->group);
    return HOLO_OK;
}

static HoloStatus read_overlap(const HoloCall *call, Overlap *v)
{
    int64_t pads[2 * SPATIAL];
    *v = (Overlap){.rank = call->in[0]->rank - 2, .x = call->in[0], .bias = holo_in(call, 1)};
    if (holo_attr_ints(call, "kernel_shape", v->kernel, SPATIAL) != v->rank ||
        holo_attr_ints(call, "strides", v->stride, SPATIAL) != v->rank ||
        holo_attr_ints(call, "pads", pads, HOLO_COUNT(pads)) != 2 * v->rank)
        return holo_call_fail(call, HOLO_BAD_MODEL, "kernel_shape, strides and pads are not of %d dimensions", v->rank);
    return set_taps(call, "kernel_shape, strides or pads", pads, -LIMIT, v);
}

static HoloStatus read_interleave(const HoloCall *call, Overlap *v)
{
    int64_t crops[2 * SPATIAL] = {0};
    *v                         = (Overlap){.rank = call->in[0]->rank - 2, .x = call->in[0]};
    int crop_count             = holo_attr_ints(call, "crops", crops, HOLO_COUNT(crops));
    if (holo_attr_ints(call, "blocks", v->kernel, SPATIAL) != v->rank)
        return holo_call_fail(call, HOLO_BAD_MODEL, "blocks must have %d entries", v->rank);
    if (crop_count >= 0 && crop_count != 2 * v->rank)
        return holo_call_fail(call, HOLO_BAD_MODEL, "crops must have %d entries", 2 * v->rank);
    memcpy(v->stride, v->kernel, sizeof v->stride);
    return set_taps(call, "blocks or crops", crops, 0, v);
}

static HoloStatus infer_taps(HoloCall *call, const Overlap *v)
{
    const HoloTensor *x = v->x;
    HoloDim           dim[HOLO_MAX_RANK];
    int64_t           part;
    HoloDim           channels = x->dim[x->rank - 1];
    if (!holo_mul(v->taps, v->group, &part) || (!holo_dim_is_symbolic(channels) && channels % part))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the channels do not split into groups and taps");
    dim[0]           = x->dim[0];
    dim[x->rank - 1] = holo_dim_div(call->dims, channels, v->taps);
    for (int d = 0; d < v->rank; d++) {
        HoloDim size = holo_dim_mul(call->dims, x->dim[1 + d], v->stride[d]);
        dim[1 + d]   = holo_dim_add(call->dims, size, v->kernel[d] - v->stride[d] - v->begin[d] - v->end[d]);
        if (!holo_dim_is_symbolic(dim[1 + d]) && dim[1 + d] < 0)
            return holo_call_fail(call, HOLO_BAD_MODEL, "pads leave nothing of dimension %d", 1 + d);
    }
    if (v->bias) {
        HOLO_TRY(holo_expect_types(call, 1, HOLO_BIT(F32)));
        HOLO_TRY(holo_expect_rank(call, 1, 1, 1));
        if (holo_dims_differ(v->bias->dim[0], dim[x->rank - 1]))
            return holo_call_fail(call, HOLO_BAD_MODEL, "%lld numbers to begin with for %lld channels",
                                  (long long)v->bias->dim[0], (long long)dim[x->rank - 1]);
    }
    return holo_out_type(call, 0, (HoloDtype)x->dtype, x->rank, dim);
}

static HoloStatus infer_overlap(HoloCall *call)
{
    Overlap v;
    HOLO_TRY(holo_expect_rank(call, 0, 3, HOLO_MAX_RANK));
    HOLO_TRY(read_overlap(call, &v));
    return infer_taps(call, &v);
}

static HoloStatus infer_interleave(HoloCall *call)
{
    Overlap v;
    HOLO_TRY(holo_expect_rank(call, 0, 3, HOLO_MAX_RANK));
    HOLO_TRY(read_interleave(call, &v));
    return infer_taps(call, &v);
}

// Rows of the output, each by itself.
static HoloStatus eval_rows(HoloCall *call, HoloStatus (*read)(const HoloCall *, Overlap *),
                            void (*row)(void *, int64_t, int))
{
    Overlap v;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(read(call, &v));
    v.y = call->out[0];
    v.m = v.y->dim[v.y->rank - 1] / v.group;
    holo_spread(call, holo_product(v.y->rank - 2, v.y->dim), (double)holo_tensor_count(v.x), row, &v);
    return HOLO_OK;
}

// ---- Overlap

// Adds `size` numbers of each of `count` pixels. If the size is a constant, the compiler removes the inner loop.
static inline void add_sized(float *restrict y, int64_t y_step, const float *restrict x, int64_t x_step, int64_t count,
                             int64_t size)
{
    enum { RUN = 8 }; // compilers vectorize these
    for (int64_t q = 0; q < count; q++, y += y_step, x += x_step) {
        int64_t i = 0;
        for (; i + RUN <= size; i += RUN)
            for (int j = 0; j < RUN; j++) y[i + j] += x[i + j];
        for (; i < size; i++) y[i] += x[i];
    }
}

static void add_pixels(float *y, int64_t y_step, const float *x, int64_t x_step, int64_t count, int64_t size)
{
    switch (size) {
    case 1: add_sized(y, y_step, x, x_step, count, 1); break;
    case 2: add_sized(y, y_step, x, x_step, count, 2); break;
    case 3: add_sized(y, y_step, x, x_step, count, 3); break;
    case 4: add_sized(y, y_step, x, x_step, count, 4); break;
    default: add_sized(y, y_step, x, x_step, count, size);
    }
}

// Adds tap (`outer`, all of the last dimension) of a row of input pixels to a row of the output.
static void add_row(const Overlap *v, float *y, const float *x, int64_t outer)
{
    int     last  = v->rank - 1;
    int64_t width = v->y->dim[1 + last], in = v->x->dim[1 + last], step = v->stride[last];
    int64_t channels = v->x->dim[1 + v->rank], outs = v->group * v->m;
    for (int64_t t = 0; t < v->kernel[last]; t++) {
        int64_t shift = t - v->begin[last], tap = outer * v->kernel[last] + t; // pixel q goes to q * step + shift
        int64_t from = shift < 0 ? (-shift + step - 1) / step : 0;
        int64_t to   = width - shift <= 0 ? 0 : (width - shift - 1) / step + 1;
        if (to > in) to = in;
        for (int64_t g = 0; g < v->group && from < to; g++)
            add_pixels(y + (from * step + shift) * outs + g * v->m, step * outs,
                       x + from * channels + (g * v->taps + tap) * v->m, channels, to - from, v->m);
    }
}

// Where the input row is that tap `outer` takes to the output row at `place`; -1: nowhere.
static int64_t row_of(const Overlap *v, const int64_t *place, int64_t image, int64_t outer)
{
    int64_t at = 0, stride = 1;
    for (int d = v->rank - 2; d >= 0; d--) {
        int64_t far = place[d] + v->begin[d] - outer % v->kernel[d], q = far / v->stride[d];
        if (far < 0 || far % v->stride[d] || q >= v->x->dim[1 + d]) return -1;
        at += q * stride;
        stride *= v->x->dim[1 + d];
        outer /= v->kernel[d];
    }
    return image * stride + at;
}

static void begin_row(const Overlap *v, float *y, int64_t count)
{
    int64_t outs = v->group * v->m, done = outs < count ? outs : count;
    if (!v->bias) {
        memset(y, 0, (size_t)count * sizeof *y);
        return;
    }
    memcpy(y, v->bias->data, (size_t)done * sizeof *y);
    for (int64_t more; done < count; done += more) { // doubles what is there
        more = done < count - done ? done : count - done;
        memcpy(y + done, y, (size_t)more * sizeof *y);
    }
}

// One row of the output: all pixels that differ only in the last spatial dimension.
static void overlap_row(void *arg, int64_t number, int worker)
{
    (void)worker;
    const Overlap *v    = arg;
    int            last = v->rank - 1;
    int64_t        outs = v->group * v->m, width = v->y->dim[1 + last], place[SPATIAL], rest = number;
    int64_t        line = v->x->dim[1 + last] * v->x->dim[1 + v->rank];
    float         *y    = (float *)v->y->data + number * width * outs;
    for (int d = last - 1; d >= 0; d--) {
        place[d] = rest % v->y->dim[1 + d];
        rest /= v->y->dim[1 + d];
    }
    begin_row(v, y, width * outs);
    if (!line) return;
    for (int64_t outer = 0; outer < v->taps / v->kernel[last]; outer++) {
        int64_t at = row_of(v, place, rest, outer);
        if (at >= 0) add_row(v, y, (const float *)v->x->data + at * line, outer);
    }
}

static HoloStatus eval_overlap(HoloCall *call)
{
    return eval_rows(call, read_overlap, overlap_row);
}

// ---- Interleave

static void interleave_row(void *arg, int64_t number, int worker)
{
    (void)worker;
    const Overlap *v    = arg;
    int            last = v->rank - 1;
    int64_t        from = 0, place = 0, stride = v->x->dim[v->rank], blocks = v->kernel[last], rest = number;
    for (int d = last - 1; d >= 0; d--) {
        int64_t at = rest % v->y->dim[1 + d] + v->begin[d];
        rest /= v->y->dim[1 + d];
        from += at / v->kernel[d] * stride;
        place += at % v->kernel[d] * blocks;
        stride *= v->x->dim[1 + d];
        blocks *= v->kernel[d];
    }
    from += rest * stride; // `rest` is the image
    size_t  size  = holo_dtype_size((HoloDtype)v->x->dtype);
    int64_t width = v->y->dim[v->rank], channels = v->x->dim[v->rank + 1], step = v->kernel[last],
            outs = v->group * v->m;
    for (int64_t r = 0; r < step; r++) {
        int64_t o = (r + step - v->begin[last] % step) % step, q = (o + v->begin[last]) / step;
        if (o >= width) continue;
        int64_t dim[3]       = {(width - o - 1) / step + 1, v->group, v->m};
        int64_t to_stride[3] = {step * outs, v->m, 1}, from_stride[3] = {channels, v->taps * v->m, 1};
        holo_move(3, dim, size, (char *)v->y->data + (size_t)((number * width + o) * outs) * size, to_stride,
                  (const char *)v->x->data + (size_t)((from + q) * channels + (place + r) * v->m) * size, from_stride);
    }
}

static HoloStatus eval_interleave(HoloCall *call)
{
    return eval_rows(call, read_interleave, interleave_row);
}

const HoloOp holo_ops_overlap[] = {
    {.name    = "Overlap",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 2,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(F32),
     .infer   = infer_overlap,
     .eval    = eval_overlap},
    {.name    = "Interleave",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_ALL,
     .infer   = infer_interleave,
     .eval    = eval_interleave},
    {0},
};
