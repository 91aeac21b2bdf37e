// separate.c - does a graph compute each image of a batch by itself?
//
// A symbol counts the images: it is the first size of inputs and of every output. Each value that depends on images has
// one dimension for them, whose size is the symbol or a multiple of it. An operator keeps images apart if its result
// for an image depends only on that image and on values that are the same for all images. A table has a rule for each
// kind of operator. An operator without a rule counts as one that mixes images.
#include "graph/facts.h"
#include "plan/plan.h"

enum { SAME = -1, MIXED = -2 }; // the same for all images, or mixed; else the dimension of the images

typedef struct Images {
    const HoloGraph *graph;
    HoloDim          count; // the symbol
    int             *axis;  // by value id: SAME, MIXED, or the dimension
} Images;

// Does a size depend on how many images there are?
static bool has_images(const Images *s, HoloDim d)
{
    if (!holo_dim_is_symbolic(d)) return false;
    if (d == HOLO_DIM_UNKNOWN || d == s->count) return true;
    const HoloDimNode *node = holo_dims_node(s->graph->dims, holo_dim_entry(d));
    return node->op != HOLO_DIM_SYMBOL && (has_images(s, node->a) || has_images(s, node->b));
}

// Is it the count, or a multiple of it by a size that does not depend on it?
static bool counts_images(const Images *s, HoloDim d)
{
    if (d == s->count) return true;
    HoloDim each = holo_dim_div(s->graph->dims, d, s->count);
    return has_images(s, d) && !has_images(s, each) && holo_dim_mul(s->graph->dims, each, s->count) == d;
}

static int axis_of(const Images *s, const HoloValue *value)
{
    return value ? s->axis[value->id] : SAME;
}

// Are all inputs from `first` on the same for all images?
static bool are_same(const Images *s, const HoloNode *node, int first)
{
    for (int i = first; i < node->in_count; i++)
        if (axis_of(s, node->in[i]) != SAME) return false;
    return true;
}

// Broadcast to `rank` dimensions: does the value have its images at dimension `axis`, or is it the same for all images?
static bool meets(const Images *s, const HoloValue *value, int rank, int axis)
{
    if (!value) return true;
    int at = axis - (rank - value->type.rank), own = axis_of(s, value);
    if (own == SAME) return at < 0 || value->type.dim[at] == 1;
    return own >= 0 && own == at;
}

static bool all_meet(const Images *s, const HoloNode *node, int first, int axis)
{
    for (int i = first; i < node->in_count; i++)
        if (!meets(s, node->in[i], node->out[0]->type.rank, axis)) return false;
    return true;
}

// The attribute `axis`, counted from the front.
static int64_t axis_attr(const HoloNode *node, int64_t fallback, int rank)
{
    int64_t axis = holo_node_int(node, "axis", fallback);
    return axis < 0 ? axis + rank : axis;
}

// ---- rules: each gives the dimension of the images in the outputs, or MIXED

static int pointwise(const Images *s, const HoloNode *node)
{
    int rank = node->out[0]->type.rank, axis = MIXED;
    for (int i = 0; i < node->in_count && axis < 0; i++)
        if (axis_of(s, node->in[i]) >= 0) axis = axis_of(s, node->in[i]) + rank - node->in[i]->type.rank;
    bool is_old = holo_node_attr(node, "broadcast") != NULL;
    return axis >= 0 && !is_old && all_meet(s, node, 0, axis) ? axis : MIXED;
}

// The images come first, and everything else is the same for all. A second output may count elements over all images.
static int first_alone(const Images *s, const HoloNode *node)
{
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return MIXED;
    return axis_of(s, node->in[0]) == 0 && are_same(s, node, 1) ? 0 : MIXED;
}

static int conv(const Images *s, const HoloNode *node)
{
    bool is_ours = HOLO_IS(node, HOLOGRAM_Conv);
    for (int i = 1; i < node->in_count && (i < 3 || !is_ours); i++)
        if (axis_of(s, node->in[i]) != SAME) return MIXED;
    return axis_of(s, node->in[0]) == 0 && (!is_ours || all_meet(s, node, 3, 0)) ? 0 : MIXED;
}

static int matmul(const Images *s, const HoloNode *node)
{
    const HoloValue *a = node->in[0], *b = node->in[1];
    int              rank = node->out[0]->type.rank, left = axis_of(s, a), axis = MIXED;
    if (a->type.rank < 2 || b->type.rank < 2 || axis_of(s, b) == MIXED) return MIXED;
    if (left == a->type.rank - 2 && axis_of(s, b) == SAME)
        axis = rank - 2;
    else if (left >= 0 && left < a->type.rank - 2 && meets(s, b, rank, left + rank - a->type.rank))
        axis = left + rank - a->type.rank;
    else if (left == SAME && axis_of(s, b) >= 0 && axis_of(s, b) < b->type.rank - 2 &&
             meets(s, a, rank, axis_of(s, b) + rank - b->type.rank))
        axis = axis_of(s, b) + rank - b->type.rank;
    return axis >= 0 && all_meet(s, node, 2, axis) ? axis : MIXED;
}

static int gemm(const Images *s, const HoloNode *node)
{
    if (holo_node_int(node, "transA", 0) || axis_of(s, node->in[0]) != 0 || axis_of(s, node->in[1]) != SAME)
        return MIXED;
    return all_meet(s, node, 2, 0) ? 0 : MIXED;
}

static int transpose(const Images *s, const HoloNode *node)
{
    const HoloAttr *perm = holo_node_attr(node, "perm");
    int             rank = node->in[0]->type.rank;
    for (int d = 0; d < rank; d++)
        if ((perm ? perm->ints[d] : rank - 1 - d) == axis_of(s, node->in[0])) return d;
    return MIXED;
}

// Elements keep their order: the images are at the dimension that has as many elements before it.
static int view(const Images *s, const HoloNode *node)
{
    const HoloTensor *x = &node->in[0]->type, *y = &node->out[0]->type;
    HoloDims         *dims   = s->graph->dims;
    HoloDim           before = 1, so_far = 1;
    for (int d = 0; d < axis_of(s, node->in[0]); d++) before = holo_dim_mul(dims, before, x->dim[d]);
    for (int d = 0; d < y->rank; so_far = holo_dim_mul(dims, so_far, y->dim[d++]))
        if (so_far == before && counts_images(s, y->dim[d])) return d;
    return MIXED;
}

// Over one dimension, or over it and all behind it.
static int softmax(const Images *s, const HoloNode *node)
{
    int     at   = axis_of(s, node->in[0]);
    int64_t axis = axis_attr(node, node->version < 13 ? 1 : -1, node->in[0]->type.rank);
    return (node->version < 13 ? at < axis : at != axis) ? at : MIXED;
}

static int layer_norm(const Images *s, const HoloNode *node)
{
    int at = axis_of(s, node->in[0]);
    return are_same(s, node, 1) && at < axis_attr(node, -1, node->in[0]->type.rank) ? at : MIXED;
}

static int along(const Images *s, const HoloNode *node)
{
    int     at   = axis_of(s, node->in[0]);
    int64_t axis = axis_attr(node, 0, node->in[0]->type.rank);
    if (at < 0 || at == axis || !are_same(s, node, 1)) return MIXED;
    return holo_node_int(node, "keepdims", 1) ? at : at - (axis < at);
}

static int concat(const Images *s, const HoloNode *node)
{
    int at = axis_of(s, node->in[0]);
    for (int i = 1; i < node->in_count; i++)
        if (axis_of(s, node->in[i]) != at) return MIXED;
    return at != axis_attr(node, 1, node->in[0]->type.rank) ? at : MIXED;
}

// Axes are an attribute or a constant input. Returns how many of them are before dimension `at`; -1: `at` is one of
// them, or they are unknown.
static int axes_before(const HoloNode *node, int input, int at)
{
    const HoloAttr   *attr  = holo_node_attr(node, "axes");
    const HoloTensor *given = holo_node_constant(node, input);
    const int64_t    *axes  = attr && attr->kind == HOLO_ATTR_INTS ? attr->ints : NULL;
    int64_t           count = axes ? attr->count : 0;
    int               rank = node->in[0]->type.rank, before = 0;
    if (!axes && given && given->dtype == HOLO_I64) axes = given->data, count = holo_tensor_count(given);
    for (int64_t i = 0; i < count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
        if (axis == at) return -1;
        before += axis < at;
    }
    return axes ? before : -1;
}

static int reduce(const Images *s, const HoloNode *node)
{
    int at = axis_of(s, node->in[0]), before = axes_before(node, 1, at);
    if (before < 0) return MIXED;
    return holo_node_int(node, "keepdims", 1) ? at : at - before;
}

static int slice(const Images *s, const HoloNode *node)
{
    int at = axis_of(s, node->in[0]);
    return are_same(s, node, 1) && axes_before(node, 3, at) >= 0 ? at : MIXED;
}

static int gather(const Images *s, const HoloNode *node)
{
    int at = axis_of(s, node->in[0]), of = axis_of(s, node->in[1]);
    int axis = (int)axis_attr(node, 0, node->in[0]->type.rank);
    if (at == SAME && of >= 0) return axis + of;
    if (of != SAME || at == axis) return MIXED;
    return at < axis ? at : at - 1 + node->in[1]->type.rank;
}

static int pad(const Images *s, const HoloNode *node)
{
    const HoloTensor *given = holo_node_constant(node, 1);
    const HoloAttr   *attr  = holo_node_attr(node, "pads");
    int               rank = node->in[0]->type.rank, at = axis_of(s, node->in[0]);
    const int64_t    *pads = attr && attr->kind == HOLO_ATTR_INTS && attr->count == 2 * rank ? attr->ints : NULL;
    if (given && given->dtype == HOLO_I64 && holo_tensor_count(given) == 2 * rank) pads = given->data;
    if (!pads || at < 0 || node->in_count > 3 || !are_same(s, node, 1)) return MIXED;
    return pads[at] == 0 && pads[at + rank] == 0 ? at : MIXED;
}

// Sizes may count the images. A crop could take one image out of the batch, so there must be none.
static int resize(const Images *s, const HoloNode *node)
{
    HoloCall call = holo_node_call(node);
    if (holo_attr_is(&call, "coordinate_transformation_mode", "half_pixel", "tf_crop_and_resize")) return MIXED;
    return axis_of(s, node->in[0]) == 0 && node->in[0]->type.dim[0] == node->out[0]->type.dim[0] ? 0 : MIXED;
}

static int expand(const Images *s, const HoloNode *node)
{
    const HoloTensor *y    = &node->out[0]->type;
    int               axis = axis_of(s, node->in[0]) + y->rank - node->in[0]->type.rank;
    if (axis_of(s, node->in[0]) == SAME)
        for (axis = 0; axis < y->rank && !has_images(s, y->dim[axis]);) axis++;
    return axis < y->rank && meets(s, node->in[0], y->rank, axis) ? axis : MIXED;
}

// The images come first in all inputs, except that a mask may be the same for all of them.
static int attention(const Images *s, const HoloNode *node)
{
    enum { MASK = 3, MASK_RANK = 4 };
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && i == MASK ? !meets(s, node->in[i], MASK_RANK, 0) : node->in[i] && axis_of(s, node->in[i]))
            return MIXED;
    return 0;
}

typedef struct Rule {
    HoloOpId id;
    int (*axis)(const Images *s, const HoloNode *node);
} Rule;

static const Rule rules[] = {
    {HOLO_ID_Conv, conv},
    {HOLO_ID_HOLOGRAM_Conv, conv},
    {HOLO_ID_ConvTranspose, conv},
    {HOLO_ID_HOLOGRAM_Interleave, first_alone},
    {HOLO_ID_MaxPool, first_alone},
    {HOLO_ID_HOLOGRAM_MaxPool, first_alone},
    {HOLO_ID_AveragePool, first_alone},
    {HOLO_ID_HOLOGRAM_AveragePool, first_alone},
    {HOLO_ID_MICROSOFT_NhwcMaxPool, first_alone},
    {HOLO_ID_GlobalAveragePool, first_alone},
    {HOLO_ID_GlobalMaxPool, first_alone},
    {HOLO_ID_GroupNormalization, first_alone},
    {HOLO_ID_HOLOGRAM_GroupNormalization, first_alone},
    {HOLO_ID_InstanceNormalization, first_alone},
    {HOLO_ID_DepthToSpace, first_alone},
    {HOLO_ID_SpaceToDepth, first_alone},
    {HOLO_ID_QLinearConv, first_alone},
    {HOLO_ID_MICROSOFT_QLinearConv, first_alone},
    {HOLO_ID_MatMul, matmul},
    {HOLO_ID_HOLOGRAM_MatMul, matmul},
    {HOLO_ID_Gemm, gemm},
    {HOLO_ID_Transpose, transpose},
    {HOLO_ID_Softmax, softmax},
    {HOLO_ID_LogSoftmax, softmax},
    {HOLO_ID_LayerNormalization, layer_norm},
    {HOLO_ID_RMSNormalization, layer_norm},
    {HOLO_ID_Split, along},
    {HOLO_ID_ArgMax, along},
    {HOLO_ID_ArgMin, along},
    {HOLO_ID_Concat, concat},
    {HOLO_ID_ReduceMean, reduce},
    {HOLO_ID_ReduceSum, reduce},
    {HOLO_ID_ReduceMax, reduce},
    {HOLO_ID_ReduceMin, reduce},
    {HOLO_ID_ReduceL2, reduce},
    {HOLO_ID_Slice, slice},
    {HOLO_ID_Gather, gather},
    {HOLO_ID_Pad, pad},
    {HOLO_ID_MICROSOFT_Pad, pad},
    {HOLO_ID_Resize, resize},
    {HOLO_ID_Upsample, resize},
    {HOLO_ID_Expand, expand},
    {HOLO_ID_Attention, attention},
    {HOLO_ID_MICROSOFT_Attention, attention},
};

static int outputs_axis(const Images *s, const HoloNode *node)
{
    bool any = false;
    if (!node->op || !node->out_count || !node->out[0] || node->op->flags & (HOLO_OP_CONTROL | HOLO_OP_RANDOM))
        return MIXED;
    for (int i = 0; i < node->in_count; i++) any = any || axis_of(s, node->in[i]) != SAME;
    if (!any) return SAME;
    // Rules look at the first input. The others may be sizes.
    if (node->op->flags & HOLO_OP_POINTWISE) return pointwise(s, node);
    if (node->op->flags & HOLO_OP_VIEW) return axis_of(s, node->in[0]) >= 0 ? view(s, node) : MIXED;
    for (int i = 0; i < HOLO_COUNT(rules); i++)
        if (rules[i].id == node->op_id) return node->in[0] ? rules[i].axis(s, node) : MIXED;
    return MIXED;
}

// Do the sizes of a value match its dimension of images?
static bool is_so(const Images *s, const HoloValue *value, int axis)
{
    const HoloTensor *t = &value->type;
    if (axis == MIXED || t->kind != HOLO_TENSOR || t->rank < 0 || axis >= t->rank) return false;
    for (int d = 0; d < t->rank; d++)
        if (d == axis ? !counts_images(s, t->dim[d]) : has_images(s, t->dim[d])) return false;
    return true;
}

// For values that no node computes. Contents that count the images are for operators that take sizes.
static int own_axis(const Images *s, const HoloValue *value)
{
    if (value->is_input) return value->type.rank > 0 && value->type.dim[0] == s->count ? 0 : SAME;
    int64_t count = value->contents ? holo_tensor_count(&value->type) : 0;
    for (int64_t i = 0; i < count && !value->is_constant; i++)
        if (has_images(s, value->contents[i])) return MIXED;
    return SAME;
}

bool holo_plan_is_separate(const HoloGraph *graph, HoloArena *scratch)
{
    Images s = {.graph = graph, .axis = HOLO_NEW(scratch, int, graph->value_count + 1)};
    if (!s.axis || !graph->input_count || graph->inputs[0]->type.rank < 1) return false;
    s.count = graph->inputs[0]->type.dim[0];
    if (!holo_dim_is_symbolic(s.count) || s.count == HOLO_DIM_UNKNOWN ||
        holo_dims_node(graph->dims, holo_dim_entry(s.count))->op != HOLO_DIM_SYMBOL)
        return false;
    for (int i = 0; i < graph->value_count; i++) {
        const HoloValue *v = graph->values[i];
        s.axis[v->id]      = v->producer ? MIXED : own_axis(&s, v);
        if (v->is_input && !is_so(&s, v, s.axis[v->id])) return false;
    }
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        int             axis = outputs_axis(&s, node);
        for (int k = 0; k < node->out_count; k++) {
            if (!node->out[k]) continue;
            if (!is_so(&s, node->out[k], axis)) return false;
            s.axis[node->out[k]->id] = axis;
        }
    }
    for (int i = 0; i < graph->output_count; i++)
        if (s.axis[graph->outputs[i]->id] != 0 || graph->outputs[i]->type.dim[0] != s.count) return false;
    return graph->output_count > 0;
}
