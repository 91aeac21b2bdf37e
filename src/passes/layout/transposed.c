// transposed.c - turns a transposed convolution into a convolution whose channels are then interleaved, or overlap.
//
// With a stride of s, output o of a dimension gets input i by tap t if i * s + t = o + pad. From o + pad = q * s + r
// follows t = j * s + r and i = q - j: the outputs of one r are a plain convolution with every s-th tap, backwards. All
// r together are one convolution with s times as many filters. What is computed beyond the output is cropped.
//
// This works if s divides the number of taps. Otherwise some filters must be padded with zeros, which cost work and
// turn an infinity into NaN. If these filters would have at most two taps in each dimension, each pixel is multiplied
// with all taps instead, and results for the same place are added. Longer filters are transformed
// (devices/cpu/winograd.c), which gains more than the zeros cost.
#include "passes/layout/transposed.h"

#include "ops/window.h"
#include "passes/build.h"

typedef struct Shape {
    int64_t rank, group, in, out, blocks, taps; // in, out: channels of a group; taps: of the new filters
    int64_t old_taps;
    int64_t kernel[HOLO_MAX_SPATIAL], block[HOLO_MAX_SPATIAL], size[HOLO_MAX_SPATIAL]; // size: new kernel
    int64_t pads[2 * HOLO_MAX_SPATIAL], crops[2 * HOLO_MAX_SPATIAL];
    int64_t overlap_pads[2 * HOLO_MAX_SPATIAL];
    bool    overlaps, is_long; // filters have different numbers of taps; a filter has more than two in a dimension
    bool    is_outside;        // pads would have to be negative
} Shape;

// One dimension. False: this does not work.
static bool shape_dim(HoloGraph *graph, const HoloWindow *w, int d, Shape *s)
{
    int64_t step = w->stride[d], pad = w->pad_begin[d], kernel = w->kernel[d];
    // How much longer than step * in the output is.
    HoloDim extra = holo_dim_sub(graph->dims, w->out[d], holo_dim_mul(graph->dims, w->in[d], step));
    if (w->dilation[d] != 1 || holo_dim_is_symbolic(pad) || pad < 0 || holo_dim_is_symbolic(extra)) return false;
    int64_t after = holo_dim_div_ceil(graph->dims, pad + extra, step), before;
    s->kernel[d]  = kernel;
    s->block[d]   = step;
    s->size[d]    = kernel / step + (kernel % step != 0);
    before        = s->size[d] - 1 - pad / step;
    s->is_outside |= before < 0 || after < 0;
    s->pads[d]            = before;
    s->pads[s->rank + d]  = after;
    s->crops[d]           = pad % step;
    s->crops[s->rank + d] = step * after - pad - extra;
    s->overlaps |= kernel % step != 0;
    s->is_long |= s->size[d] > 2;
    s->overlap_pads[d]           = pad;
    s->overlap_pads[s->rank + d] = kernel - step - pad - extra;
    s->blocks *= step;
    s->taps *= s->size[d];
    s->old_taps *= kernel;
    return true;
}

static bool shape_of(HoloGraph *graph, const HoloNode *node, Shape *s)
{
    enum { BLOCKS_MAX = 4096 };
    const HoloTensor *x = &node->in[0]->type, *w = &node->in[1]->type, *y = &node->out[0]->type;
    HoloError         ignored = {0};
    HoloCall          call    = holo_node_call(node);
    call.dims                 = graph->dims;
    call.error                = &ignored;
    HoloWindow window;
    *s       = (Shape){.rank = x->rank - 2, .blocks = 1, .taps = 1, .old_taps = 1};
    s->group = holo_attr_int(&call, "group", 1);
    if (w->rank != x->rank || y->rank != x->rank || s->group < 1 || holo_tensor_count(w) < 1) return false;
    if (holo_window_init_transposed(&call, x->rank - 2, x->dim + 2, w->dim + 2, &window)) return false;
    s->in  = w->dim[0] / s->group;
    s->out = w->dim[1];
    for (int d = 0; d < s->rank; d++)
        if (!shape_dim(graph, &window, d, s) || s->blocks > BLOCKS_MAX) return false;
    s->overlaps = s->overlaps && !s->is_long;
    return s->overlaps || !s->is_outside;
}

// The old tap of tap `t` of the new filter at place `r`, both counted over all dimensions; -1: there is none.
static int64_t old_tap(const Shape *s, int64_t r, int64_t t)
{
    int64_t at = 0, stride = 1;
    for (int64_t d = s->rank - 1; d >= 0; d--) {
        int64_t j = s->size[d] - 1 - t % s->size[d], tap = j * s->block[d] + r % s->block[d];
        if (tap >= s->kernel[d]) return -1;
        at += tap * stride;
        stride *= s->kernel[d];
        t /= s->size[d];
        r /= s->block[d];
    }
    return at;
}

// [group][in][out][taps] to [group][block][out][in][taps].
static HoloValue *make_weights(HoloGraph *graph, const HoloValue *w, const Shape *s)
{
    HoloTensor t = w->type;
    int64_t    filters, count;
    t.dim[0] = s->group * s->blocks * s->out;
    t.dim[1] = s->in;
    for (int d = 0; d < s->rank; d++) t.dim[2 + d] = s->size[d];
    if (!holo_mul(t.dim[0], s->in, &filters) || !holo_mul(filters, s->taps, &count)) return NULL;
    float       *to   = HOLO_NEW(graph->arena, float, count);
    const float *from = w->type.data;
    t.data            = to;
    if (!to) return NULL;
    for (int64_t r = 0; r < s->blocks; r++)
        for (int64_t tap = 0; tap < s->taps; tap++) {
            int64_t old = old_tap(s, r, tap);
            if (old < 0) continue; // arena memory is zero already
            for (int64_t g = 0; g < s->group; g++)
                for (int64_t o = 0; o < s->out; o++)
                    for (int64_t i = 0; i < s->in; i++)
                        to[(((g * s->blocks + r) * s->out + o) * s->in + i) * s->taps + tap] =
                            from[((g * s->in + i) * s->out + o) * s->old_taps + old];
        }
    return holo_graph_constant(graph, w->name, &t);
}

static HoloValue *make_bias(HoloGraph *graph, const HoloValue *bias, const Shape *s)
{
    HoloTensor t = bias->type;
    t.dim[0]     = s->group * s->blocks * s->out;
    float *to    = HOLO_NEW(graph->arena, float, t.dim[0]);
    t.data       = to;
    for (int64_t i = 0; to && i < t.dim[0]; i++)
        to[i] = ((const float *)bias->type.data)[i / (s->blocks * s->out) * s->out + i % s->out];
    return to ? holo_graph_constant(graph, bias->name, &t) : NULL;
}

static bool is_f32(const HoloValue *value)
{
    return value && value->is_constant && value->type.data && value->type.dtype == HOLO_F32;
}

static bool make_interleaved(HoloGraph *graph, const HoloValue *w, const HoloValue *bias, const Shape *s,
                             HoloTransposed *out)
{
    out->id   = HOLO_ID_HOLOGRAM_Interleave;
    out->w    = make_weights(graph, w, s);
    out->bias = bias ? make_bias(graph, bias, s) : NULL;
    return out->w && (!bias || out->bias) && holo_build_list(graph, "pads", 2 * s->rank, s->pads, &out->conv[0]) &&
           holo_build_list(graph, "blocks", s->rank, s->block, &out->rest[1]) &&
           holo_build_list(graph, "crops", 2 * s->rank, s->crops, &out->rest[2]);
}

static bool make_overlapping(HoloGraph *graph, const HoloValue *w, const Shape *s, HoloTransposed *out)
{
    int64_t none[2 * HOLO_MAX_SPATIAL] = {0};
    Shape   each                       = *s; // every tap is a place of its own, with a filter of one pixel
    each.blocks                        = s->old_taps;
    each.taps                          = 1;
    for (int d = 0; d < s->rank; d++) each.block[d] = s->kernel[d], each.size[d] = 1;
    out->id = HOLO_ID_HOLOGRAM_Overlap;
    out->w  = make_weights(graph, w, &each);
    return out->w && holo_build_list(graph, "pads", 2 * s->rank, none, &out->conv[0]) &&
           holo_build_list(graph, "kernel_shape", s->rank, s->kernel, &out->rest[1]) &&
           holo_build_list(graph, "strides", s->rank, s->block, &out->rest[2]) &&
           holo_build_list(graph, "pads", 2 * s->rank, s->overlap_pads, &out->rest[3]);
}

HoloStatus holo_transposed(HoloGraph *graph, const HoloNode *node, HoloTransposed *out, bool *out_fits,
                           HoloError *error)
{
    const HoloValue *w = node->in_count > 1 ? node->in[1] : NULL, *bias = node->in_count > 2 ? node->in[2] : NULL;
    Shape            s;
    *out      = (HoloTransposed){0};
    *out_fits = is_f32(w) && (!bias || is_f32(bias)) && shape_of(graph, node, &s);
    if (!*out_fits) return HOLO_OK;
    out->conv[1] = out->rest[0] = (HoloAttr){.name = "group", .kind = HOLO_ATTR_INT, .count = 1, .i = s.group};
    out->rest_count             = s.overlaps ? 4 : 3;
    if (s.overlaps ? !make_overlapping(graph, w, &s, out) : !make_interleaved(graph, w, bias, &s, out))
        return holo_fail_memory(error);
    const HoloTensor *x  = &node->in[0]->type;
    out->dim[0]          = x->dim[0];
    out->dim[1 + s.rank] = s.group * (s.overlaps ? s.old_taps : s.blocks) * s.out;
    for (int d = 0; d < s.rank; d++)
        out->dim[1 + d] =
            s.overlaps ? x->dim[2 + d]
                       : holo_dim_add(graph->dims, x->dim[2 + d], s.pads[d] + s.pads[s.rank + d] - s.size[d] + 1);
    return HOLO_OK;
}
