// window.c - geometry of sliding windows. It reads elements under a window, but sums nothing.
#include "ops/window.h"

enum { PARAM_MAX = INT32_MAX }; // of strides, dilations, kernel sizes and paddings

// ---- from attributes

// An attribute with one number in [low, PARAM_MAX] for each dimension; `fallback` everywhere if it is not given.
static HoloStatus read_ints(const HoloCall *call, const char *name, int count, int64_t low, int64_t fallback,
                            int64_t *out)
{
    int given = holo_attr_ints(call, name, out, count);
    if (given < 0)
        for (int d = 0; d < count; d++) out[d] = fallback;
    else if (given != count)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%s must have %d entries", name, count);
    for (int d = 0; d < count; d++)
        if (out[d] < low || out[d] > PARAM_MAX)
            return holo_call_fail(call, HOLO_BAD_MODEL, "%s has %lld, expected %lld to %lld", name, (long long)out[d],
                                  (long long)low, (long long)PARAM_MAX);
    return HOLO_OK;
}

static HoloStatus read_kernel(const HoloCall *call, const HoloDim *kernel, HoloWindow *w)
{
    int64_t given[HOLO_MAX_SPATIAL];
    if (!holo_attr_find(call, "kernel_shape")) {
        if (!kernel) return holo_call_fail(call, HOLO_BAD_MODEL, "kernel_shape is missing");
        for (int d = 0; d < w->rank; d++) given[d] = kernel[d];
    } else {
        HOLO_TRY(read_ints(call, "kernel_shape", w->rank, 1, 1, given));
    }
    for (int d = 0; d < w->rank; d++) {
        w->kernel[d] = given[d];
        if (!kernel) continue;
        if (holo_dims_differ(kernel[d], given[d]))
            return holo_call_fail(call, HOLO_BAD_MODEL,
                                  "kernel_shape is %lld in dimension %d, but the weights have %lld",
                                  (long long)given[d], d, (long long)kernel[d]);
        if (!holo_dim_is_symbolic(kernel[d]) && (kernel[d] < 1 || kernel[d] > PARAM_MAX))
            return holo_call_fail(call, HOLO_BAD_MODEL, "a kernel of size %lld", (long long)kernel[d]);
    }
    int64_t taps = 1;
    for (int d = 0; d < w->rank; d++)
        if (!holo_dim_is_symbolic(w->kernel[d]) && !holo_mul(taps, w->kernel[d], &taps))
            return holo_call_fail(call, HOLO_BAD_MODEL, "the kernel is too large");
    return HOLO_OK;
}

static HoloStatus read_params(const HoloCall *call, int rank, const HoloDim *in, const HoloDim *kernel, HoloWindow *w)
{
    int64_t pads[2 * HOLO_MAX_SPATIAL];
    if (rank < 1 || rank > HOLO_MAX_SPATIAL)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%d spatial dimensions, expected 1 to %d", rank, HOLO_MAX_SPATIAL);
    *w = (HoloWindow){.rank = rank};
    HOLO_TRY(read_kernel(call, kernel, w));
    HOLO_TRY(read_ints(call, "strides", rank, 1, 1, w->stride));
    HOLO_TRY(read_ints(call, "dilations", rank, 1, 1, w->dilation));
    HOLO_TRY(read_ints(call, "pads", 2 * rank, -PARAM_MAX, 0, pads));
    for (int d = 0; d < rank; d++) {
        w->in[d]        = in[d];
        w->pad_begin[d] = pads[d];
        w->pad_end[d]   = pads[rank + d];
    }
    return HOLO_OK;
}

typedef enum AutoPad { NOTSET, VALID, SAME_UPPER, SAME_LOWER } AutoPad;

static HoloStatus read_auto_pad(const HoloCall *call, AutoPad *out)
{
    static const char *const names[] = {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER", NULL};
    int                      at;
    *out = NOTSET;
    if (holo_attr_is(call, "auto_pad", "NOTSET", "")) return HOLO_OK; // as some exporters write it
    HOLO_TRY(holo_attr_choice(call, "auto_pad", "NOTSET", names, &at));
    *out = (AutoPad)at;
    return HOLO_OK;
}

// Input positions from the first to the last tap, both included.
static HoloDim reach(HoloDims *dims, const HoloWindow *w, int d)
{
    return holo_dim_add(dims, holo_dim_mul(dims, holo_dim_sub(dims, w->kernel[d], 1), w->dilation[d]), 1);
}

// Splits the padding that makes `need` positions out of `have`. If it is odd, the end gets one more if `odd_at_end`.
static void split_padding(HoloDims *dims, HoloWindow *w, int d, HoloDim need, HoloDim have, bool odd_at_end)
{
    HoloDim total = holo_dim_max(dims, holo_dim_sub(dims, need, have), 0);
    HoloDim half = holo_dim_div(dims, total, 2), rest = holo_dim_sub(dims, total, half);
    w->pad_begin[d] = odd_at_end ? half : rest;
    w->pad_end[d]   = odd_at_end ? rest : half;
}

static HoloStatus check_out(const HoloCall *call, const HoloWindow *w, int d)
{
    if (w->out[d] == HOLO_DIM_UNKNOWN && !holo_dim_is_symbolic(w->in[d]) && !holo_dim_is_symbolic(w->kernel[d]))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the output size of spatial dimension %d is out of range", d);
    if (!holo_dim_is_symbolic(w->out[d]) && w->out[d] < (w->transposed ? 0 : 1))
        return holo_call_fail(call, HOLO_BAD_INPUT,
                              "the window (kernel %lld, dilation %lld) does not fit an input of %lld",
                              (long long)w->kernel[d], (long long)w->dilation[d], (long long)w->in[d]);
    return HOLO_OK;
}

HoloStatus holo_window_init(const HoloCall *call, int rank, const HoloDim *in, const HoloDim *kernel, bool ceil,
                            HoloWindow *w)
{
    HoloDims *dims = call->dims;
    AutoPad   pad;
    HOLO_TRY(read_params(call, rank, in, kernel, w));
    HOLO_TRY(read_auto_pad(call, &pad));
    for (int d = 0; d < rank; d++) {
        HoloDim span = reach(dims, w, d);
        if (pad == SAME_UPPER || pad == SAME_LOWER) {
            w->out[d]    = holo_dim_div_ceil(dims, in[d], w->stride[d]);
            HoloDim last = holo_dim_mul(dims, holo_dim_sub(dims, w->out[d], 1), w->stride[d]);
            split_padding(dims, w, d, holo_dim_add(dims, last, span), in[d], pad == SAME_UPPER);
        } else {
            if (pad == VALID) w->pad_begin[d] = w->pad_end[d] = 0;
            HoloDim begun = holo_dim_add(dims, in[d], w->pad_begin[d]);
            HoloDim free  = holo_dim_sub(dims, holo_dim_add(dims, begun, w->pad_end[d]), span);
            if (ceil && pad == NOTSET) { // but no window begins in the padding at the end
                HoloDim starts = holo_dim_div(dims, holo_dim_sub(dims, begun, 1), w->stride[d]);
                free           = holo_dim_min(dims, holo_dim_div_ceil(dims, free, w->stride[d]), starts);
            } else {
                free = holo_dim_div(dims, free, w->stride[d]);
            }
            w->out[d] = holo_dim_add(dims, free, 1);
        }
        HOLO_TRY(check_out(call, w, d));
    }
    return HOLO_OK;
}

HoloStatus holo_window_init_transposed(const HoloCall *call, int rank, const HoloDim *in, const HoloDim *kernel,
                                       HoloWindow *w)
{
    HoloDims *dims = call->dims;
    AutoPad   pad;
    int64_t   extra[HOLO_MAX_SPATIAL], shape[HOLO_MAX_RANK];
    HOLO_TRY(read_params(call, rank, in, kernel, w));
    HOLO_TRY(read_auto_pad(call, &pad));
    HOLO_TRY(read_ints(call, "output_padding", rank, 0, 0, extra));
    int given = holo_attr_ints(call, "output_shape", shape, HOLO_MAX_RANK);
    if (given > 0 && given != rank && given != rank + 2) // some exporters also write batch and channels
        return holo_call_fail(call, HOLO_BAD_MODEL, "output_shape must have %d entries", rank);
    w->transposed = true;
    for (int d = 0; d < rank; d++) {
        HoloDim last = holo_dim_mul(dims, holo_dim_sub(dims, in[d], 1), w->stride[d]);
        HoloDim full = holo_dim_add(dims, holo_dim_add(dims, last, reach(dims, w, d)), extra[d]);
        if (given > 0)
            w->out[d] = shape[given - rank + d];
        else if (pad == SAME_UPPER || pad == SAME_LOWER)
            w->out[d] = holo_dim_mul(dims, in[d], w->stride[d]);
        if (given > 0 || pad == SAME_UPPER || pad == SAME_LOWER) {
            split_padding(dims, w, d, full, w->out[d], pad == SAME_UPPER);
        } else {
            if (pad == VALID) w->pad_begin[d] = w->pad_end[d] = 0;
            w->out[d] = holo_dim_sub(dims, full, holo_dim_add(dims, w->pad_begin[d], w->pad_end[d]));
        }
        HOLO_TRY(check_out(call, w, d));
    }
    return HOLO_OK;
}

// ---- when evaluating

int64_t holo_window_taps(const HoloWindow *w)
{
    return holo_product(w->rank, w->kernel);
}
int64_t holo_window_ins(const HoloWindow *w)
{
    return holo_product(w->rank, w->in);
}
int64_t holo_window_outs(const HoloWindow *w)
{
    return holo_product(w->rank, w->out);
}

static void unflatten(int rank, const int64_t *dim, int64_t flat, int64_t *out)
{
    for (int d = rank - 1; d >= 0; d--) {
        out[d] = flat % dim[d];
        flat /= dim[d];
    }
}

static bool meet(const HoloWindow *w, int d, int64_t o, int64_t t, int64_t *out_i)
{
    if (w->transposed) {
        int64_t i = o + w->pad_begin[d] - t * w->dilation[d];
        *out_i    = i / w->stride[d];
        return i >= 0 && i % w->stride[d] == 0 && *out_i < w->in[d];
    }
    *out_i = o * w->stride[d] - w->pad_begin[d] + t * w->dilation[d];
    return *out_i >= 0 && *out_i < w->in[d];
}

int64_t holo_window_meet(const HoloWindow *w, int64_t o, int64_t t)
{
    int64_t at[HOLO_MAX_SPATIAL], tap[HOLO_MAX_SPATIAL], flat = 0, i;
    unflatten(w->rank, w->out, o, at);
    unflatten(w->rank, w->kernel, t, tap);
    for (int d = 0; d < w->rank; d++) {
        if (!meet(w, d, at[d], tap[d], &i)) return -1;
        flat = flat * w->in[d] + i;
    }
    return flat;
}

static void fill(double *out, int64_t from, int64_t to, double x)
{
    for (int64_t j = from; j < to; j++) out[j] = x;
}

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

// One line along the last dimension, whose first output is `o`; `line` is its element at input 0.
static void read_line(const HoloWindow *w, const HoloTensor *x, int64_t line, int64_t step, int64_t o, int64_t t,
                      int64_t count, double outside, double *out)
{
    int     d = w->rank - 1;
    int64_t s = w->stride[d], i = o * s - w->pad_begin[d] + t * w->dilation[d];
    int64_t low  = clamp(i < 0 ? (-i + s - 1) / s : 0, 0, count);
    int64_t high = i < w->in[d] ? clamp((w->in[d] - 1 - i) / s + 1, low, count) : low;
    fill(out, 0, low, outside);
    if (high > low) holo_read_f(x, line + (i + low * s) * step, s * step, high - low, out + low);
    fill(out, high, count, outside);
}

static void read_line_transposed(const HoloWindow *w, const HoloTensor *x, int64_t line, int64_t step, int64_t o,
                                 int64_t t, int64_t count, double outside, double *out)
{
    int     d = w->rank - 1;
    int64_t s = w->stride[d], place = o + w->pad_begin[d] - t * w->dilation[d];
    int64_t first = place > 0 ? (place + s - 1) / s : 0;                 // input of the first output that meets one
    int64_t end   = place + count > 0 ? (place + count - 1) / s + 1 : 0; // and one past the last
    double  got[HOLO_TILE];
    fill(out, 0, count, outside);
    end = clamp(end, 0, w->in[d]);
    if (end <= first) return;
    holo_read_f(x, line + first * step, step, end - first, got);
    for (int64_t i = first; i < end; i++) out[i * s - place] = got[i - first];
}

void holo_window_read(const HoloWindow *w, const HoloTensor *x, int64_t plane, int64_t step, int64_t t, int64_t start,
                      int64_t count, double outside, double *out)
{
    int64_t at[HOLO_MAX_SPATIAL], tap[HOLO_MAX_SPATIAL];
    int     last = w->rank - 1;
    unflatten(w->rank, w->out, start, at);
    unflatten(w->rank, w->kernel, t, tap);
    while (count > 0) {
        int64_t run = clamp(w->out[last] - at[last], 0, count), line = 0, i;
        bool    inside = true;
        for (int d = 0; d < last && inside; d++) {
            inside = meet(w, d, at[d], tap[d], &i);
            line   = line * w->in[d] + i;
        }
        line = plane + line * w->in[last] * step;
        if (!inside)
            fill(out, 0, run, outside);
        else
            (w->transposed ? read_line_transposed : read_line)(w, x, line, step, at[last], tap[last], run, outside,
                                                               out);
        out += run;
        count -= run;
        at[last] = 0;
        for (int d = last - 1; d >= 0 && ++at[d] == w->out[d]; d--) at[d] = 0;
    }
}
