// resize.c - Resize and Upsample of any rank. Axes are resized one after the other, in double; `nearest` moves
// elements of any type instead, and `linear` has its own way with integers (resize_whole.c).
#include "ops/standard/resize.h"

#include "ops/spread.h"

#include <math.h>
#include <string.h>

// Which inputs a version has; -1: none.
typedef struct Inputs {
    int roi, scales, sizes;
} Inputs;

static bool is_upsample(const HoloCall *call)
{
    return call->op->row != NULL;
}

static Inputs inputs_of(const HoloCall *call)
{
    if (is_upsample(call) ? call->version >= 9 : call->version == 10) return (Inputs){-1, 1, -1};
    return is_upsample(call) ? (Inputs){-1, -1, -1} : (Inputs){1, 2, 3};
}

// In older versions an empty tensor means that an input is not given.
static const HoloTensor *given(const HoloCall *call, int input)
{
    const HoloTensor *t = input < 0 ? NULL : holo_in(call, input);
    return t && t->rank == 1 && t->dim[0] == 0 ? NULL : t;
}

// ---- what the attributes say

static HoloStatus read_how(const HoloCall *call, HoloResizeHow *how)
{
    static const char *const    modes[]   = {"nearest", "linear", "bilinear", "cubic", NULL};
    static const HoloResizeMode mode_of[] = {HOLO_RESIZE_NEAREST, HOLO_RESIZE_LINEAR, HOLO_RESIZE_LINEAR,
                                             HOLO_RESIZE_CUBIC};
    static const char *const    places[] = {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                            "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize", NULL};
    static const char *const    rounds[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};
    int                         mode, place, round;
    HOLO_TRY(holo_attr_choice(call, "mode", modes[0], modes, &mode));
    HOLO_TRY(holo_attr_choice(call, "coordinate_transformation_mode", places[0], places, &place));
    HOLO_TRY(holo_attr_choice(call, "nearest_mode", rounds[0], rounds, &round));
    bool old = is_upsample(call) || call->version < 11;
    *how     = (HoloResizeHow){
            .mode            = mode_of[mode],
            .place           = old ? HOLO_RESIZE_ASYMMETRIC : (HoloResizePlace)place,
            .round           = old ? HOLO_RESIZE_SIMPLE : (HoloResizeRound)round,
            .antialias       = holo_attr_int(call, "antialias", 0) != 0,
            .exclude_outside = holo_attr_int(call, "exclude_outside", 0) != 0,
            .cubic           = holo_attr_float(call, "cubic_coeff_a", -0.75),
            .extrapolation   = holo_attr_float(call, "extrapolation_value", 0),
    };
    return HOLO_OK;
}

// The axes that scales, sizes and roi speak of, in their order.
static HoloStatus read_axes(const HoloCall *call, int *axes, int *out_count)
{
    int     rank = call->in[0]->rank, count;
    int64_t list[HOLO_MAX_RANK];
    bool    seen[HOLO_MAX_RANK] = {false};
    count                       = holo_attr_ints(call, "axes", list, HOLO_MAX_RANK);
    *out_count                  = count < 0 ? rank : count;
    if (*out_count > rank) return holo_call_fail(call, HOLO_BAD_MODEL, "more axes than dimensions");
    for (int i = 0; i < *out_count; i++) {
        HOLO_TRY(holo_axis(call, count < 0 ? i : list[i], rank, &axes[i]));
        if (seen[axes[i]]) return holo_call_fail(call, HOLO_BAD_MODEL, "axis %d is given twice", axes[i]);
        seen[axes[i]] = true;
    }
    return HOLO_OK;
}

// Scales from an attribute or an input; *out_known is false where the input's values are not there yet.
static HoloStatus read_scales(const HoloCall *call, int count, float *out, bool *out_known)
{
    const HoloTensor *t    = given(call, inputs_of(call).scales);
    const HoloAttr   *attr = holo_attr_find(call, "scales");
    *out_known             = true;
    if (t) {
        *out_known = t->data != NULL;
        if (t->rank != 1 || holo_dims_differ(t->dim[0], count))
            return holo_call_fail(call, HOLO_BAD_MODEL, "scales must have %d entries", count);
        HOLO_TRY(holo_expect_types(call, inputs_of(call).scales, HOLO_BIT(F32)));
        for (int i = 0; *out_known && i < count; i++) out[i] = (float)holo_get_f(t, i);
    } else if (attr) {
        if (attr->kind != HOLO_ATTR_FLOATS || attr->count != count)
            return holo_call_fail(call, HOLO_BAD_MODEL, "scales must have %d entries", count);
        memcpy(out, attr->floats, (size_t)count * sizeof *out);
    } else { // the first Upsample
        for (int i = 0; i < count; i++) out[i] = 1;
        if (count != 4 || !holo_attr_find(call, "height_scale") || !holo_attr_find(call, "width_scale"))
            return holo_call_fail(call, HOLO_BAD_MODEL, "neither scales nor sizes are given");
        out[2] = (float)holo_attr_float(call, "height_scale", 1);
        out[3] = (float)holo_attr_float(call, "width_scale", 1);
    }
    for (int i = 0; *out_known && i < count; i++)
        if (!(out[i] > 0 && out[i] < 0x1p31f))
            return holo_call_fail(call, HOLO_BAD_INPUT, "scale %g of entry %d", (double)out[i], i);
    return HOLO_OK;
}

// ---- shapes

// floor(dim * scale), the product rounded to float as the standard's own shape inference does.
static HoloDim scale_dim(const HoloCall *call, HoloDim dim, float scale)
{
    if (!holo_dim_is_symbolic(dim))
        return (float)dim * scale < 0x1p62f ? (HoloDim)floorf((float)dim * scale) : HOLO_DIM_UNKNOWN;
    float whole = scale;
    for (int64_t divisor = 1; divisor <= 1024; divisor *= 2, whole *= 2)
        if (whole == floorf(whole))
            return holo_dim_div(call->dims, holo_dim_mul(call->dims, dim, (HoloDim)whole), divisor);
    return HOLO_DIM_UNKNOWN;
}

typedef enum Policy { STRETCH, NOT_LARGER, NOT_SMALLER } Policy;

static HoloStatus read_policy(const HoloCall *call, Policy *out)
{
    static const char *const names[] = {"stretch", "not_larger", "not_smaller", NULL};
    int                      policy;
    HOLO_TRY(holo_attr_choice(call, "keep_aspect_ratio_policy", names[0], names, &policy));
    *out = (Policy)policy;
    return HOLO_OK;
}

// The one scale that keeps the aspect ratio; 0: not known.
static double common_scale(const HoloCall *call, Policy policy, int count, const int *axes, const HoloDim *sizes)
{
    double best = 0;
    for (int i = 0; i < count; i++) {
        HoloDim in = call->in[0]->dim[axes[i]];
        if (holo_dim_is_symbolic(in) || holo_dim_is_symbolic(sizes[i]) || in < 1) return 0;
        double scale = (double)sizes[i] / (double)in;
        if (i == 0 || (policy == NOT_LARGER ? scale < best : scale > best)) best = scale;
    }
    return best;
}

static HoloStatus apply_sizes(const HoloCall *call, int count, const int *axes, HoloDim *dim, double *scale)
{
    const HoloTensor *x     = call->in[0];
    int               input = inputs_of(call).sizes;
    HoloDim           sizes[HOLO_MAX_RANK];
    Policy            policy;
    HOLO_TRY(read_policy(call, &policy));
    int have = holo_in_ints(call, input, sizes, HOLO_MAX_RANK);
    for (int i = 0; have < 0 && i < count; i++) sizes[i] = HOLO_DIM_UNKNOWN;
    if (have >= 0 && have != count)
        return holo_call_fail(call, HOLO_BAD_MODEL, "sizes has %d entries, expected %d", have, count);
    double common = policy == STRETCH ? 0 : common_scale(call, policy, count, axes, sizes);
    for (int i = 0; i < count; i++) {
        HoloDim in = x->dim[axes[i]], *out = &dim[axes[i]];
        bool    known = !holo_dim_is_symbolic(sizes[i]) && !holo_dim_is_symbolic(in);
        if (known && sizes[i] < 0)
            return holo_call_fail(call, HOLO_BAD_INPUT, "size %lld of entry %d", (long long)sizes[i], i);
        if (policy == STRETCH)
            *out = sizes[i];
        else
            *out = known && common > 0 && common * (double)in < 0x1p62 ? (HoloDim)floor(common * (double)in + 0.5)
                                                                       : HOLO_DIM_UNKNOWN;
        scale[axes[i]] = policy != STRETCH ? common : known && in > 0 ? (double)sizes[i] / (double)in : 1;
    }
    return HOLO_OK;
}

// The sizes of the output, and the scales where they are known.
static HoloStatus find_shape(const HoloCall *call, HoloDim *dim, double *scale)
{
    const HoloTensor *x = call->in[0];
    int               axes[HOLO_MAX_RANK], count;
    float             scales[HOLO_MAX_RANK];
    bool              known;
    HOLO_TRY(read_axes(call, axes, &count));
    for (int d = 0; d < x->rank; d++) {
        dim[d]   = x->dim[d];
        scale[d] = 1;
    }
    if (given(call, inputs_of(call).sizes)) return apply_sizes(call, count, axes, dim, scale);
    HOLO_TRY(read_scales(call, count, scales, &known));
    for (int i = 0; i < count; i++) {
        dim[axes[i]]   = known ? scale_dim(call, x->dim[axes[i]], scales[i]) : HOLO_DIM_UNKNOWN;
        scale[axes[i]] = known ? scales[i] : 1;
    }
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloDim           dim[HOLO_MAX_RANK];
    double            scale[HOLO_MAX_RANK];
    HoloResizeHow     how;
    HOLO_TRY(read_how(call, &how));
    if (how.mode != HOLO_RESIZE_NEAREST) HOLO_TRY(holo_expect_types(call, 0, HOLO_TYPES_NUMBER | HOLO_BIT(BOOL)));
    HOLO_TRY(find_shape(call, dim, scale));
    return holo_out_type(call, 0, (HoloDtype)x->dtype, x->rank, dim);
}

// ---- values

typedef struct Resize {
    HoloResize        is; // axes before the first that changes make planes
    const HoloTensor *x;
    HoloTensor       *y;
    int64_t           rest_in, rest_out; // elements behind it
    double           *work;              // two buffers for each worker
    int64_t           work_size;         // of one buffer
    bool              twice, outside;    // nearest: the last axis has each element twice; has some outside
    int64_t           steps;             // nearest: parts of a plane
} Resize;

enum { LINES = 32 }; // nearest: of a part

// The sum of taps of a run of `count` elements: those of tap t begin at element index[t] * inner of `from`.
static void sum_taps(const Resize *r, const HoloResizeAxis *a, int64_t o, int64_t count, const double *from, double *to)
{
    const int64_t *index  = a->index + o * a->taps;
    const double  *weight = a->weight + o * a->taps;
    for (int64_t j = 0; j < count; j++) to[j] = index[0] < 0 ? r->is.how.extrapolation : 0;
    for (int64_t t = 0; index[0] >= 0 && t < a->taps; t++) {
        const double *x = from + index[t] * count;
        double        w = weight[t];
        for (int64_t j = 0; j < count; j++) to[j] += w * x[j];
    }
}

// The same for runs of one element.
static void sum_lines(const Resize *r, const HoloResizeAxis *a, const double *from, double *to)
{
    const int64_t *index  = a->index;
    const double  *weight = a->weight;
    for (int64_t o = 0; o < a->out; o++, index += a->taps, weight += a->taps) {
        double sum = index[0] < 0 ? r->is.how.extrapolation : 0;
        for (int64_t t = 0; index[0] >= 0 && t < a->taps; t++) sum += weight[t] * from[index[t]];
        to[o] = sum;
    }
}

// Resizes axis d of a part whose later axes are still as they were in the input.
static void resize_axis(const Resize *r, int d, int64_t outer, int64_t inner, const double *from, double *to)
{
    const HoloResizeAxis *a = &r->is.axis[d];
    for (int64_t i = 0; i < outer; i++, from += a->in * inner, to += a->out * inner) {
        if (inner == 1)
            sum_lines(r, a, from, to);
        else
            for (int64_t o = 0; o < a->out; o++) sum_taps(r, a, o, inner, from, to + o * inner);
    }
}

// Output o of the first axis of a plane, its later axes as they are in the input.
static void first_axis(const Resize *r, int64_t plane, int64_t o, double *to)
{
    const HoloResizeAxis *a      = &r->is.axis[r->is.first];
    const int64_t        *index  = a->index + o * a->taps;
    const double         *weight = a->weight + o * a->taps;
    double                x[HOLO_TILE];
    for (int64_t k = 0, run; k < r->rest_in; k += run, to += run) {
        run = r->rest_in - k < HOLO_TILE ? r->rest_in - k : HOLO_TILE;
        for (int64_t j = 0; j < run; j++) to[j] = index[0] < 0 ? r->is.how.extrapolation : 0;
        for (int64_t t = 0; index[0] >= 0 && t < a->taps; t++) {
            double w = weight[t];
            holo_read_f(r->x, (plane * a->in + index[t]) * r->rest_in + k, 1, run, x);
            for (int64_t j = 0; j < run; j++) to[j] += w * x[j];
        }
    }
}

// One output of the first axis, with all that belongs to it.
static void run_part(void *arg, int64_t part, int worker)
{
    const Resize *r    = arg;
    double       *from = r->work + 2 * worker * r->work_size, *to = from + r->work_size;
    int64_t       outer = 1, outs = r->is.axis[r->is.first].out;
    first_axis(r, part / outs, part % outs, from);
    for (int d = r->is.first + 1; d < r->x->rank; d++) {
        if (r->is.axis[d].index) {
            resize_axis(r, d, outer, holo_product(r->x->rank - d - 1, r->x->dim + d + 1), from, to);
            double *swap = from;
            from         = to;
            to           = swap;
        }
        outer *= r->is.axis[d].out;
    }
    // Whole numbers are what is before the point; what is just below one counts as it.
    bool is_whole = holo_dtype_class((HoloDtype)r->y->dtype) != HOLO_CLASS_FLOAT;
    for (int64_t i = 0; is_whole && i < r->rest_out; i++) from[i] = (float)from[i];
    holo_write_f(r->y, part * r->rest_out, 1, r->rest_out, from);
}

static HoloStatus eval_parts(HoloCall *call, Resize *r)
{
    int64_t largest = r->rest_in, size = r->rest_in, parts = holo_product(r->is.first + 1, r->y->dim);
    int     workers = call->host->workers > 1 ? call->host->workers : 1;
    void   *work;
    for (int d = r->is.first + 1; d < r->x->rank; d++) {
        size = size / (r->is.axis[d].in ? r->is.axis[d].in : 1);
        if (!holo_mul(size, r->is.axis[d].out, &size))
            return holo_call_fail(call, HOLO_NO_MEMORY, "an intermediate is too large");
        largest = size > largest ? size : largest;
    }
    HOLO_TRY(holo_call_temp(call, (size_t)largest, 2 * (size_t)workers * sizeof(double), &work));
    r->work      = work;
    r->work_size = largest;
    holo_spread(call, parts, (double)parts * (double)r->rest_out * 8, run_part, r);
    return HOLO_OK;
}

typedef struct Sixteen { // bytes
    uint64_t half[2];
} Sixteen;

// Where every element is repeated twice, vectors do it.
#define GATHER(type)                                                                             \
    case sizeof(type): {                                                                         \
        const type *from = src;                                                                  \
        type       *to   = dst;                                                                  \
        for (int64_t i = 0; twice && i < count / 2; i++) to[2 * i] = to[2 * i + 1] = from[i];    \
        for (int64_t i = 0; !twice && i < count; i++) to[i] = from[index[i] < 0 ? 0 : index[i]]; \
        return;                                                                                  \
    }

static void gather(const void *src, void *dst, size_t size, const int64_t *index, bool twice, int64_t count)
{
    switch (size) {
        GATHER(uint8_t)
        GATHER(uint16_t)
        GATHER(uint32_t)
        GATHER(uint64_t)
        GATHER(Sixteen)
    }
}

// One line along the last axis, from element `from` on; -1: it is outside.
static void nearest_line(const Resize *r, int64_t from, int64_t to)
{
    const HoloResizeAxis *line = &r->is.axis[r->x->rank - 1];
    size_t                size = holo_dtype_size((HoloDtype)r->x->dtype);
    const char           *src  = (const char *)r->x->data + (from < 0 ? 0 : (size_t)from * size);
    char                 *dst  = (char *)r->y->data + (size_t)to * size;
    if (line->index)
        gather(src, dst, size, line->index, r->twice, line->out);
    else
        memcpy(dst, src, (size_t)line->out * size);
    for (int64_t o = 0; (from < 0 || r->outside) && o < line->out; o++)
        if (from < 0 || line->index[o] < 0) holo_put_f(r->y, to + o, r->is.how.extrapolation);
}

// Some lines, which differ in the last axis but one. Those that are made of the same line are copied.
static void nearest_lines(void *arg, int64_t part, int worker)
{
    (void)worker;
    const Resize         *r    = arg;
    int                   rank = r->x->rank;
    const HoloResizeAxis *rows = &r->is.axis[rank - 2];
    int64_t               last = r->y->dim[rank - 1], stride = r->x->dim[rank - 1] * rows->in, base = 0, held = -2;
    int64_t               number = part / r->steps, first = part % r->steps * LINES;
    size_t                bytes  = (size_t)last * holo_dtype_size((HoloDtype)r->x->dtype);
    bool                  inside = true;
    for (int64_t d = rank - 3, rest = number; d >= 0; rest /= r->y->dim[d--]) {
        int64_t i = rest % r->y->dim[d];
        if (r->is.axis[d].index) i = r->is.axis[d].index[i];
        inside = inside && i >= 0;
        base += i * stride;
        stride *= r->x->dim[d];
    }
    for (int64_t o = first; o < rows->out && o < first + LINES; o++) {
        int64_t i = rows->index ? rows->index[o] : o, to = (number * rows->out + o) * last;
        char   *dst = (char *)r->y->data + (size_t)(number * rows->out + o) * bytes;
        if (i == held)
            memcpy(dst, dst - bytes, bytes);
        else
            nearest_line(r, inside && i >= 0 ? base + i * r->x->dim[rank - 1] : -1, to);
        held = i;
    }
}

static HoloStatus eval_nearest(HoloCall *call, Resize *r)
{
    const HoloResizeAxis *line = &r->is.axis[r->x->rank - 1];
    r->twice                   = line->index && line->out == 2 * line->in;
    for (int64_t o = 0; line->index && o < line->out; o++) {
        r->twice   = r->twice && line->index[o] == o / 2;
        r->outside = r->outside || line->index[o] < 0;
    }
    if (r->x->rank == 1) {
        nearest_line(r, 0, 0);
        return HOLO_OK;
    }
    r->steps      = (r->is.axis[r->x->rank - 2].out + LINES - 1) / LINES;
    int64_t parts = holo_product(r->y->rank - 2, r->y->dim) * r->steps;
    holo_spread(call, parts, (double)holo_tensor_count(r->y), nearest_lines, r);
    return HOLO_OK;
}

// The part of the input that tf_crop_and_resize takes: starts, then ends, in units of the axes' lengths.
static HoloStatus read_roi(const HoloCall *call, HoloResize *r)
{
    const HoloTensor *roi = given(call, inputs_of(call).roi);
    int               axes[HOLO_MAX_RANK], count;
    HOLO_TRY(read_axes(call, axes, &count));
    for (int d = 0; d < call->in[0]->rank; d++) r->axis[d].roi_to = 1;
    if (r->how.place != HOLO_RESIZE_TF_CROP_AND_RESIZE) return HOLO_OK;
    if (!roi) return HOLO_OK; // all of it
    if (holo_tensor_count(roi) != 2 * count)
        return holo_call_fail(call, HOLO_BAD_INPUT, "roi must have %d entries", 2 * count);
    for (int i = 0; i < count; i++) {
        r->axis[axes[i]].roi_from = holo_get_f(roi, i);
        r->axis[axes[i]].roi_to   = holo_get_f(roi, count + i);
    }
    return HOLO_OK;
}

HoloStatus holo_resize_read(const HoloCall *call, HoloResize *r)
{
    const HoloTensor *x = call->in[0], *y = call->out[0];
    int64_t           dim[HOLO_MAX_RANK];
    double            scale[HOLO_MAX_RANK];
    *r = (HoloResize){.first = x->rank};
    HOLO_TRY(read_how(call, &r->how));
    HOLO_TRY(find_shape(call, dim, scale));
    HOLO_TRY(read_roi(call, r));
    r->how.pairs = r->how.mode == HOLO_RESIZE_LINEAR && !r->how.antialias && !r->how.exclude_outside;
    for (int d = x->rank - 1; d >= 0; d--) {
        r->axis[d].in    = x->dim[d];
        r->axis[d].out   = y->dim[d];
        r->axis[d].scale = scale[d];
        HOLO_TRY(holo_resize_axis(call, &r->how, &r->axis[d]));
        r->first = r->axis[d].index ? d : r->first;
    }
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    Resize r = {.x = call->in[0], .y = call->out[0]};
    if (!r.y || holo_tensor_count(r.y) == 0) return HOLO_OK;
    HOLO_TRY(holo_resize_read(call, &r.is));
    int rank = r.x->rank, first = r.is.first;
    if (first == rank) {
        memcpy(r.y->data, r.x->data, holo_tensor_bytes(r.y));
        return HOLO_OK;
    }
    if (r.is.how.mode == HOLO_RESIZE_NEAREST) return eval_nearest(call, &r);
    if (r.is.how.pairs && holo_dtype_class((HoloDtype)r.x->dtype) != HOLO_CLASS_FLOAT)
        return holo_resize_whole(call, &r.is);
    r.rest_in  = holo_product(rank - first - 1, r.x->dim + first + 1);
    r.rest_out = holo_product(rank - first - 1, r.y->dim + first + 1);
    return eval_parts(call, &r);
}

#define ROW .domain = "", .in_min = 1, .out_min = 1, .out_max = 1, .types = HOLO_TYPES_ALL, .infer = infer, .eval = eval

const HoloOp holo_ops_resize[] = {
    {.name = "Resize", .since = 10, .in_max = 4, ROW},
    {.name = "Upsample", .since = 1, .in_max = 2, ROW, .row = "upsample"},
    {0},
};
