// layout_resize.c - the rules of the pass `layout` for Resize and Upsample.
//
// They follow their input if something behind them wants channels last. Otherwise, an image that grows is transposed
// before it grows.
#include "ops/hologram/formula.h"
#include "passes/layout/layout.h"

#include <string.h>

enum { BEHIND = 8 }; // pointwise operators that are skipped on the way

// Does the operator not care about the order of channels, so that its result is transposed back?
static bool is_plain(const HoloNode *node)
{
    return HOLO_IS(node, Softmax) || HOLO_IS(node, LogSoftmax) || HOLO_IS(node, Cast);
}

// Is there a rule for the operator that would have to transpose its input?
static bool has_rule(const HoloNode *node)
{
    for (int i = 0; holo_layout_rules[i]; i++)
        for (const HoloLayoutRule *rule = holo_layout_rules[i]; rule->id; rule++)
            if (rule->id == node->op_id) return true;
    return false;
}

// Does something want the value with channels last: a direct reader, or one behind pointwise operators?
static bool is_wanted(const HoloLayout *l, const HoloValue *value, int depth)
{
    for (int i = 0; i < l->graph->node_count; i++) {
        const HoloNode *node  = l->graph->nodes[i];
        int             is_in = 0, others = 0;
        for (int k = 0; k < node->in_count; k++) {
            is_in += node->in[k] == value;
            others += node->in[k] && node->in[k] != value && node->in[k]->type.rank == value->type.rank &&
                      !node->in[k]->is_constant;
        }
        if (!is_in || !node->op || !node->out_count || !holo_layout_is_image(l, node->out[0])) continue;
        bool is_pointwise = is_plain(node) || (holo_formula_has(node->domain, node->type) && !others);
        if (is_pointwise ? depth == BEHIND || is_wanted(l, node->out[0], depth + 1)
                         : has_rule(node) || holo_formula_has(node->domain, node->type))
            return true;
    }
    return false;
}

// May it enlarge an image that nothing behind it wants with channels last?
static bool only_grows(const HoloLayout *l, const HoloNode *node)
{
    const HoloTensor *x = &node->in[0]->type, *y = &node->out[0]->type;
    for (int d = 2; d < x->rank; d++)
        if (!holo_dim_is_symbolic(x->dim[d]) && !holo_dim_is_symbolic(y->dim[d]) && y->dim[d] < x->dim[d]) return false;
    return !is_wanted(l, node->out[0], 0);
}

// A constant list with an entry for each dimension, in the order of channels last. NULL: it is not such a list, or no
// memory.
static HoloValue *list_last(HoloLayout *l, const HoloValue *list, int rank)
{
    size_t size = list->type.dtype == HOLO_F32 ? sizeof(float) : list->type.dtype == HOLO_I64 ? sizeof(int64_t) : 0;
    if (!list->is_constant || !list->type.data || !size || list->type.rank != 1 || list->type.dim[0] != rank)
        return NULL;
    char *data = HOLO_NEW(l->graph->arena, char, size *(size_t)rank);
    if (!data) return NULL;
    for (int d = 0; d < rank; d++)
        memcpy(data + (size_t)d * size, (const char *)list->type.data + (size_t)holo_layout_before(rank, d) * size,
               size);
    HoloTensor t = list->type;
    t.data       = data;
    return holo_graph_constant(l->graph, list->name, &t);
}

// Scales are an attribute, or, since opset 9, an input.
static bool upsample(HoloLayout *l, HoloNode *node)
{
    const HoloAttr *scales = holo_node_attr(node, "scales");
    int             rank   = node->in[0]->type.rank;
    HoloValue      *in[2]  = {NULL};
    HoloAttr       *attr   = node->attr;
    if (!holo_layout_is_last(l, node->in[0]) || node->in_count > 2 || only_grows(l, node)) return true;
    if (node->in_count == 2 && (!node->in[1] || !(in[1] = list_last(l, node->in[1], rank)))) return true;
    if (!in[1]) {
        if (!scales || scales->kind != HOLO_ATTR_FLOATS || scales->count != rank) return true;
        HoloAttr moved = *scales;
        float   *list  = HOLO_NEW(l->graph->arena, float, rank);
        for (int d = 0; list && d < rank; d++) list[d] = scales->floats[holo_layout_before(rank, d)];
        moved.floats = list;
        if (!list || !(attr = holo_layout_with_attr(l, node, &moved))) return false;
    }
    in[0] = holo_layout_last(l, node->in[0]);
    return in[0] && holo_layout_replace(l, node, in, node->in_count, attr, node->attr_count);
}

// With constant scales or sizes, and for the whole image.
static bool resize(HoloLayout *l, HoloNode *node)
{
    if (node->version < 11) return upsample(l, node);
    int        rank  = node->in[0]->type.rank;
    HoloValue *in[4] = {NULL};
    if (!holo_layout_is_last(l, node->in[0]) || holo_node_attr(node, "axes") || node->in_count > 4) return true;
    if (only_grows(l, node)) return true;
    const HoloValue *roi = node->in_count > 1 ? node->in[1] : NULL;
    if (roi && holo_tensor_count(&roi->type) != 0) return true;
    for (int i = 2; i < node->in_count; i++) {
        if (!node->in[i] || holo_tensor_count(&node->in[i]->type) == 0) continue;
        if (!(in[i] = list_last(l, node->in[i], rank))) return true;
    }
    in[0] = holo_layout_last(l, node->in[0]);
    return in[0] && holo_layout_replace(l, node, in, node->in_count, node->attr, node->attr_count);
}

const HoloLayoutRule holo_layout_resize[] = {
    {HOLO_ID_Resize, resize},
    {HOLO_ID_Upsample, upsample},
    {0},
};
