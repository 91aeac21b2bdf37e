// integers_conv.c - for the pass `integers`: turns a ConvInteger with groups, above all a depthwise one, whose sums are
// read as real numbers, into a convolution of real numbers. Models that quantize while running have these. f32 has the
// faster kernels, and its sums are the same: whole numbers that f32 can hold. A ConvInteger without groups stays: its
// kernel is faster, and f32 might compute by tiles, whose sums are not exact.
#include "passes/narrow/integers.h"

enum {
    RANK_LEAST = 3,
    EACH_MOST  = (1 << 24) / (255 * 255)
}; // RANK_LEAST: of filters; EACH_MOST: numbers of a filter,
    // so that sums are exact

typedef struct Filters {
    const HoloTensor *w, *zero; // zero NULL: 0
    int64_t           each;     // numbers of a filter
} Filters;

static bool filters_find(const HoloNode *node, Filters *out)
{
    *out = (Filters){.w = holo_node_constant(node, 1), .zero = holo_node_constant(node, 3)};
    if (!out->w || out->w->rank < RANK_LEAST || holo_tensor_count(out->w) <= 0) return false;
    if (node->in_count > 3 && node->in[3] && !out->zero) return false;
    out->each     = holo_product(out->w->rank - 1, out->w->dim + 1);
    int64_t zeros = out->zero ? holo_tensor_count(out->zero) : 1;
    return out->each <= EACH_MOST && (zeros == 1 || zeros == out->w->dim[0]);
}

// The filters as real numbers, without their zero points.
static HoloValue *filters_make(HoloIntegers *s, const HoloNode *node, const Filters *filters)
{
    int64_t count = holo_tensor_count(filters->w), zeros = filters->zero ? holo_tensor_count(filters->zero) : 0;
    float  *data = HOLO_NEW(s->rewrite.graph->arena, float, count);
    if (!data) return NULL;
    for (int64_t i = 0; i < count; i++) {
        double zero = zeros ? holo_get_f(filters->zero, zeros == 1 ? 0 : i / filters->each) : 0;
        data[i]     = (float)(holo_get_f(filters->w, i) - zero);
    }
    HoloTensor t = *filters->w;
    t.dtype      = HOLO_F32;
    t.data       = data;
    return holo_graph_constant(s->rewrite.graph, node->in[1]->name, &t);
}

// The input as real numbers, minus its zero point.
static HoloValue *input_make(HoloIntegers *s, const HoloNode *node)
{
    HoloScaled one  = {.scale = 1};
    HoloValue *zero = node->in_count > 2 ? node->in[2] : NULL;
    HoloNode  *number =
        holo_integers_node(s, node, HOLO_ID_DequantizeLinear, 13, zero ? 3 : 2, NULL, 0, HOLO_F32, &node->in[0]->type);
    if (!number) return NULL;
    number->in[0] = node->in[0];
    number->in[1] = holo_integers_scale(s, &one);
    if (zero) number->in[2] = zero;
    return number->out[0];
}

HoloValue *holo_integers_conv(HoloIntegers *s, HoloNode *node)
{
    const HoloAttr *to  = HOLO_IS(node, Cast) ? holo_node_attr(node, "to") : NULL;
    HoloNode       *sum = to && node->in_count == 1 && node->in[0] ? node->in[0]->producer : NULL;
    Filters         filters;
    if (!sum || node->out[0]->type.dtype != HOLO_F32 || !HOLO_IS(sum, ConvInteger) || !sum->in[0] ||
        sum->in_count < 2 || !holo_integers_is_private(s, node->in[0]) || !filters_find(sum, &filters))
        return NULL;
    const HoloAttr *group = holo_node_attr(sum, "group");
    if (!group || group->i < 2 || (sum->in_count > 2 && sum->in[2] && sum->in[2]->type.rank != 0)) return NULL;
    HoloValue *x = input_make(s, sum), *w = filters_make(s, sum, &filters);
    HoloNode  *made =
        holo_integers_node(s, sum, HOLO_ID_Conv, 11, 2, sum->attr, sum->attr_count, HOLO_F32, &node->out[0]->type);
    if (!x || !w || !made || s->failed) return s->failed = true, NULL;
    made->in[0] = x;
    made->in[1] = w;
    return made->out[0];
}
