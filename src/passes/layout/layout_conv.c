// layout_conv.c - rules of the pass `layout` for convolutions and what is made of their pixels. These begin a part of
// the graph with channels last, and all other rules follow.
#include "passes/build.h"
#include "passes/layout/layout.h"
#include "passes/layout/transposed.h"

#include <math.h>
#include <string.h>

// Filters with NaN or infinities meet the zeros of the padding in some ways of computing and not in others. They are
// looked for only where that costs nothing: almost nobody trains such filters.
static bool is_finite(const HoloTensor *w)
{
    enum { ELEMENTS_MAX = 1 << 16 };
    int64_t count = holo_tensor_count(w);
    for (int64_t i = 0; i < count && count <= ELEMENTS_MAX; i++)
        if (!isfinite(((const float *)w->data)[i])) return false;
    return true;
}

static bool conv(HoloLayout *l, HoloNode *node)
{
    const HoloValue *w = node->in_count > 1 ? node->in[1] : NULL;
    if (!holo_layout_is_image(l, node->in[0]) || !holo_layout_is_image(l, node->out[0]) || !w || !w->is_constant ||
        !w->type.data)
        return true;
    if (w->type.dtype != HOLO_F32 || !is_finite(&w->type)) return true;
    if (!l->target->wants_last || !l->target->wants_last(node)) return true;
    HoloValue *in[3] = {holo_layout_last(l, node->in[0]), node->in[1], node->in_count > 2 ? node->in[2] : NULL};
    holo_node_become(node, HOLO_ID_HOLOGRAM_Conv, 1);
    return in[0] && holo_layout_replace(l, node, in, in[2] ? 3 : 2, node->attr, node->attr_count);
}

// With a stride of 1 there is one output pixel for each, and none to leave out.
static bool moves_nothing(const HoloTransposed *t)
{
    if (t->id != HOLO_ID_HOLOGRAM_Interleave) return false;
    for (int i = 0; i < t->rest_count; i++) {
        const HoloAttr *a = t->rest + i;
        for (int64_t k = 0; a->kind == HOLO_ATTR_INTS && k < a->count; k++)
            if (a->ints[k] != !strcmp(a->name, "blocks")) return false;
    }
    return true;
}

static bool conv_transpose(HoloLayout *l, HoloNode *node)
{
    HoloTransposed   t;
    bool             fits;
    const HoloValue *w = node->in_count > 1 ? node->in[1] : NULL;
    if (!holo_layout_is_image(l, node->in[0]) || !w || !w->is_constant || !w->type.data) return true;
    if (w->type.dtype != HOLO_F32 || !is_finite(&w->type)) return true;
    if (holo_transposed(l->graph, node, &t, &fits, l->error)) return false;
    if (!fits) return true;
    HoloValue *x = holo_layout_last(l, node->in[0]), *mid = holo_graph_value(l->graph, node->out[0]->name);
    if (moves_nothing(&t)) {
        holo_node_become(node, HOLO_ID_HOLOGRAM_Conv, 1);
        return x && holo_layout_replace(l, node, (HoloValue *[]){x, t.w, t.bias}, t.bias ? 3 : 2, t.conv,
                                        HOLO_COUNT(t.conv));
    }
    HoloNode *copy = holo_graph_op(l->graph, node->name, HOLO_ID_HOLOGRAM_Conv, 1, t.bias ? 3 : 2, 1, 2);
    if (!x || !mid || !copy) return false;
    copy->in[0] = x;
    copy->in[1] = t.w;
    if (t.bias) copy->in[2] = t.bias;
    memcpy(copy->attr, t.conv, sizeof t.conv);
    mid->type = node->out[0]->type;
    memcpy(mid->type.dim, t.dim, sizeof t.dim);
    holo_node_set_out(copy, 0, mid);
    bool       overlaps = t.id == HOLO_ID_HOLOGRAM_Overlap;
    HoloValue *rest[2]  = {mid, overlaps && node->in_count > 2 ? node->in[2] : NULL};
    holo_node_become(node, t.id, 1);
    return holo_layout_replace(l, node, rest, rest[1] ? 2 : 1, t.rest, t.rest_count);
}

// The channels are [block, block, channel] or [channel, block, block]; in the second case these are groups of one
// channel.
static bool depth_to_space(HoloLayout *l, HoloNode *node)
{
    const HoloAttr *size = holo_node_attr(node, "blocksize"), *mode = holo_node_attr(node, "mode");
    HoloDim         channels = node->in[0]->type.dim[1];
    if (!holo_layout_is_last(l, node->in[0]) || node->in[0]->type.rank != 4 || node->in[0]->type.dtype != HOLO_F32 ||
        !size || size->kind != HOLO_ATTR_INT)
        return true;
    bool by_channel = mode && mode->kind == HOLO_ATTR_STRING && mode->s.size == 3 && !memcmp(mode->s.data, "CRD", 3);
    if (size->i < 1 || size->i > INT16_MAX || (by_channel && holo_dim_is_symbolic(channels))) return true;
    int64_t    group = by_channel ? channels / (size->i * size->i) : 1, blocks[2] = {size->i, size->i};
    HoloAttr   attr[2] = {{.name = "group", .kind = HOLO_ATTR_INT, .count = 1, .i = group}};
    HoloValue *in[1]   = {holo_layout_last(l, node->in[0])};
    if (group < 1) return true;
    if (!in[0] || !holo_build_list(l->graph, "blocks", 2, blocks, &attr[1])) return false;
    holo_node_become(node, HOLO_ID_HOLOGRAM_Interleave, 1);
    return holo_layout_replace(l, node, in, 1, attr, 2);
}

static bool pool(HoloLayout *l, HoloNode *node)
{
    if (!holo_layout_is_last(l, node->in[0])) return true;
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return true;
    HoloValue *in[1] = {holo_layout_last(l, node->in[0])};
    bool       is_8  = node->out[0]->type.dtype != HOLO_F32; // only MaxPool has this form
    HoloOpId   id    = is_8                     ? HOLO_ID_MICROSOFT_NhwcMaxPool
                       : HOLO_IS(node, MaxPool) ? HOLO_ID_HOLOGRAM_MaxPool
                                                : HOLO_ID_HOLOGRAM_AveragePool;
    holo_node_become(node, id, 1);
    return in[0] && holo_layout_replace(l, node, in, 1, node->attr, node->attr_count);
}

const HoloLayoutRule holo_layout_conv[] = {
    {HOLO_ID_Conv, conv},
    {HOLO_ID_ConvTranspose, conv_transpose},
    {HOLO_ID_DepthToSpace, depth_to_space},
    {HOLO_ID_MaxPool, pool},
    {HOLO_ID_AveragePool, pool},
    {0},
};
