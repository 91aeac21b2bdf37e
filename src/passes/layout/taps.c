// taps.c - removes places of a convolution's constant filters that lie in the padding for every pixel.
//
// A 3x3 filter with places 36 pixels apart sees only its middle place in an image of 33x33: it is a 1x1 filter. This is
// done if sizes are known, for every kind of convolution. Places that only some pixels see in the padding are skipped
// during the run. Filters with NaN or infinities stay whole: times the zeros of the padding, they give NaN.
#include "graph/facts.h"
#include "ops/move.h"
#include "ops/window.h"
#include "passes/build.h"

#include <string.h>

typedef struct Taps {
    int     rank;
    int64_t first[HOLO_MAX_SPATIAL], count[HOLO_MAX_SPATIAL]; // places that see the image
    int64_t pads[2 * HOLO_MAX_SPATIAL];                       // the pads with these places alone
} Taps;

static bool is_number(int64_t size)
{
    return !holo_dim_is_symbolic(size) && size >= 0 && size <= INT32_MAX;
}

// The places of one dimension; all if its sizes are open. False: no place sees the image, or the rest cannot be written
// as a convolution.
static bool taps_along(const HoloWindow *w, int d, Taps *t)
{
    if (!is_number(w->kernel[d]) || !is_number(w->pad_begin[d]) || !is_number(w->pad_end[d])) return false;
    t->count[d]          = w->kernel[d];
    t->pads[d]           = w->pad_begin[d];
    t->pads[d + t->rank] = w->pad_end[d];
    if (!is_number(w->in[d]) || !is_number(w->out[d])) return true;
    int64_t first = -1, last = -1, reach = (w->out[d] - 1) * w->stride[d] - w->pad_begin[d];
    for (int64_t k = 0; k < w->kernel[d]; k++) {
        // From the first pixel to the last, the place sees -pad to reach, in steps. Steps that jump over the whole
        // image are not considered.
        int64_t from = k * w->dilation[d] - w->pad_begin[d], to = k * w->dilation[d] + reach;
        if (to < 0 || from >= w->in[d]) continue;
        if (first < 0) first = k;
        last = k;
    }
    if (first < 0) return false;
    t->first[d]    = first;
    t->count[d]    = last - first + 1;
    int64_t before = w->pad_begin[d] - first * w->dilation[d], behind = reach + last * w->dilation[d] + 1 - w->in[d];
    if (behind < 0) behind = 0; // with a stride, some pixels at the end are not used; they must not be too many
    int64_t steps        = before + w->in[d] + behind - (t->count[d] - 1) * w->dilation[d] - 1;
    t->pads[d]           = before;
    t->pads[d + t->rank] = behind;
    return before >= 0 && steps / w->stride[d] + 1 == w->out[d];
}

// False: every place sees the image, or sizes are open.
static bool taps_of(HoloGraph *graph, const HoloNode *conv, const HoloTensor *w, Taps *t)
{
    const HoloTensor *x       = &conv->in[0]->type;
    HoloError         ignored = {0};
    HoloCall          call    = holo_node_call(conv);
    HoloWindow        window;
    bool              fewer = false;
    call.dims               = graph->dims;
    call.error              = &ignored;
    *t                      = (Taps){.rank = x->rank - 2};
    if (x->rank < 3 || w->rank != x->rank || t->rank > HOLO_MAX_SPATIAL ||
        holo_window_init(&call, t->rank, x->dim + 2, w->dim + 2, false, &window))
        return false;
    for (int d = 0; d < t->rank; d++) {
        if (window.kernel[d] != w->dim[2 + d] || window.stride[d] < 1 || window.stride[d] > INT32_MAX ||
            window.dilation[d] < 1 || window.dilation[d] > INT32_MAX || !taps_along(&window, d, t))
            return false;
        fewer = fewer || t->count[d] < w->dim[2 + d];
    }
    return fewer;
}

// The filters with only the places that see the image. NULL: no memory.
static HoloValue *filters_cut(HoloRewrite *r, const HoloValue *filters, const Taps *t)
{
    const HoloTensor *w    = &filters->type;
    HoloTensor        out  = *w;
    size_t            size = holo_dtype_size((HoloDtype)w->dtype);
    int64_t           from[HOLO_MAX_RANK], to[HOLO_MAX_RANK], start = 0;
    holo_strides(w->rank, w->dim, from);
    for (int d = 0; d < t->rank; d++) {
        out.dim[2 + d] = t->count[d];
        start += t->first[d] * from[2 + d];
    }
    holo_strides(out.rank, out.dim, to);
    out.data = holo_arena_take(r->graph->arena, holo_tensor_bytes(&out) + 1);
    if (!out.data) return NULL;
    holo_move(out.rank, out.dim, size, out.data, to, (const char *)w->data + (size_t)start * size, from);
    return holo_graph_constant(r->graph, filters->name, &out);
}

// Sets the attributes for the new filter and pads.
static bool attrs_set(HoloRewrite *r, HoloNode *conv, const Taps *t)
{
    static const char *const gone[] = {"auto_pad", "pads", "kernel_shape"};
    HoloAttr                *attr   = HOLO_NEW(r->graph->arena, HoloAttr, conv->attr_count + 2);
    int                      kept   = 0;
    if (!attr) return false;
    for (int i = 0; i < conv->attr_count; i++) {
        bool is_gone = false;
        for (int k = 0; k < HOLO_COUNT(gone); k++) is_gone = is_gone || !strcmp(conv->attr[i].name, gone[k]);
        if (!is_gone) attr[kept++] = conv->attr[i];
    }
    if (!holo_build_list(r->graph, "kernel_shape", t->rank, t->count, &attr[kept++]) ||
        !holo_build_list(r->graph, "pads", 2 * t->rank, t->pads, &attr[kept++]))
        return false;
    conv->attr       = attr;
    conv->attr_count = kept;
    return true;
}

bool holo_rewrite_taps(HoloRewrite *rewrite, HoloNode *conv, int weights, bool *failed)
{
    HoloValue *w = holo_node_in(conv, weights), *cut;
    Taps       taps;
    if (!holo_node_in(conv, 0) || !w || !w->is_constant || !w->type.data ||
        !taps_of(rewrite->graph, conv, &w->type, &taps) || !holo_tensor_is_finite(&w->type))
        return false;
    if (!(cut = filters_cut(rewrite, w, &taps)) || !attrs_set(rewrite, conv, &taps)) {
        *failed = true;
        return false;
    }
    conv->in[weights] = cut;
    rewrite->changes++;
    return true;
}
