// even.c - takes a part that is the same at every pixel out of a convolution of single pixels.
//
// Networks that look at the whole picture, too, put what they found behind the channels of each pixel: a Resize of one
// pixel, joined with others, goes into a convolution of 1x1. Its share of the sums is the same everywhere, so it is computed
// once and added.
#include "passes/build.h"

#include <string.h>

typedef struct Evens {
    HoloRewrite rewrite;
    int        *uses;
} Evens;

// The node that produces a value, if nothing else reads the value.
static const HoloNode *maker(const Evens *v, const HoloValue *value)
{
    const HoloNode *node = value->id < v->rewrite.room ? value->producer : NULL;
    return node && node->op && v->uses[value->id] == 1 && !v->rewrite.is_output[value->id] ? node : NULL;
}

// What a value has at each of its pixels, as an image of one pixel. NULL: it is not known to be the same everywhere.
static HoloValue *pixel_of(const HoloValue *value)
{
    const HoloNode *node = value->producer;
    if (!node || !HOLO_IS(node, Resize) || node->version < 11 || !holo_node_in(node, 0)) return NULL;
    HoloCall          call = {.attr = node->attr, .attr_count = node->attr_count};
    const HoloTensor *x = &node->in[0]->type, *y = &value->type;
    bool mixes = holo_attr_is(&call, "mode", "nearest", "linear") || holo_attr_is(&call, "mode", "nearest", "nearest");
    if (!mixes || holo_attr_is(&call, "coordinate_transformation_mode", "half_pixel", "tf_crop_and_resize"))
        return NULL;
    if (x->rank != y->rank || x->rank < 3 || x->dim[0] != y->dim[0] || x->dim[x->rank - 1] != y->dim[x->rank - 1])
        return NULL;
    for (int d = 1; d + 1 < x->rank; d++)
        if (x->dim[d] != 1) return NULL;
    return node->in[0];
}

// Is it a convolution of single pixels with constant weights, and without a tail?
static bool is_plain(const HoloNode *conv)
{
    static const struct {
        const char *name;
        int64_t     number;
    } must[]           = {{"strides", 1}, {"pads", 0}, {"group", 1}};
    const HoloValue *w = holo_node_in(conv, 1);
    if (!HOLO_IS(conv, HOLOGRAM_Conv) || !holo_node_in(conv, 0) || !w || !w->is_constant || !w->type.data) return false;
    if (w->type.dtype != HOLO_F32 || holo_node_attr(conv, "program") || holo_node_attr(conv, "auto_pad")) return false;
    for (int d = 2; d < w->type.rank; d++)
        if (w->type.dim[d] != 1) return false;
    for (int i = 0; i < HOLO_COUNT(must); i++) {
        const HoloAttr *attr = holo_node_attr(conv, must[i].name);
        if (attr && attr->kind == HOLO_ATTR_INT && attr->i != must[i].number) return false;
        for (int k = 0; attr && attr->kind == HOLO_ATTR_INTS && k < attr->count; k++)
            if (attr->ints[k] != must[i].number) return false;
    }
    return holo_tensor_is_finite(&w->type);
}

// The weights of `count` channels from `first` on; or those of all others. NULL: no memory.
static HoloValue *channels_cut(HoloRewrite *r, const HoloValue *weights, int64_t first, int64_t count, bool others)
{
    const HoloTensor *w    = &weights->type;
    HoloTensor        out  = *w;
    const float      *from = w->data;
    int64_t           all  = w->dim[1];
    out.dim[1]             = others ? all - count : count;
    float *to              = holo_arena_take(r->graph->arena, holo_tensor_bytes(&out) + 1);
    if (!to) return NULL;
    out.data = to;
    for (int64_t o = 0; o < w->dim[0]; o++, from += all)
        for (int64_t c = 0; c < all; c++)
            if ((c >= first && c < first + count) != others) *to++ = from[c];
    return holo_graph_constant(r->graph, weights->name, &out);
}

static HoloValue *conv_build(HoloRewrite *r, const HoloNode *conv, HoloValue *x, HoloValue *w, HoloValue *bias)
{
    HoloTensor type = conv->out[0]->type;
    for (int d = 1; d + 1 < type.rank; d++) type.dim[d] = x->type.dim[d];
    HoloNode *node =
        holo_build_node(r, conv->name, HOLO_ID_HOLOGRAM_Conv, conv->version, bias ? 3 : 2, conv->attr_count, &type);
    if (!node) return NULL;
    node->in[0] = x;
    node->in[1] = w;
    if (bias) node->in[2] = bias;
    if (conv->attr_count) memcpy(node->attr, conv->attr, (size_t)conv->attr_count * sizeof *conv->attr);
    return node->out[0];
}

// All inputs of a Concat but one, joined. NULL: no memory.
static HoloValue *joined(HoloRewrite *r, const HoloNode *concat, int without)
{
    HoloTensor type = concat->out[0]->type;
    if (concat->in_count == 2) return concat->in[1 - without];
    type.dim[type.rank - 1] -= concat->in[without]->type.dim[type.rank - 1];
    HoloNode *node = holo_build_node(r, concat->name, HOLO_ID_Concat, concat->version, concat->in_count - 1,
                                     concat->attr_count, &type);
    if (!node) return NULL;
    for (int i = 0, n = 0; i < concat->in_count; i++)
        if (i != without) node->in[n++] = concat->in[i];
    memcpy(node->attr, concat->attr, (size_t)concat->attr_count * sizeof *concat->attr);
    return node->out[0];
}

// Which input of a Concat of channels is the same at every pixel, and where its channels begin. -1: none.
static int even_input(const HoloNode *concat, int64_t *out_first)
{
    HoloCall call = {.attr = concat->attr, .attr_count = concat->attr_count};
    int      rank = concat->out[0]->type.rank, found = -1;
    int64_t  axis = holo_attr_int(&call, "axis", 1), first = 0;
    if (rank < 3 || concat->in_count < 2 || (axis != -1 && axis != rank - 1)) return -1;
    for (int i = 0; i < concat->in_count; i++) {
        if (!concat->in[i] || holo_dim_is_symbolic(concat->in[i]->type.dim[rank - 1])) return -1;
        if (found < 0 && pixel_of(concat->in[i])) {
            found      = i;
            *out_first = first;
        }
        first += concat->in[i]->type.dim[rank - 1];
    }
    return found;
}

// False: no memory.
static bool apply(Evens *v, HoloNode *conv)
{
    HoloRewrite *r = &v->rewrite;
    if (!is_plain(conv)) return true;
    const HoloNode *concat = maker(v, conv->in[0]);
    int64_t         first  = 0;
    int             even   = concat && HOLO_IS(concat, Concat) ? even_input(concat, &first) : -1;
    if (even < 0) return true;
    HoloValue *w = conv->in[1], *part = concat->in[even];
    int64_t    count = part->type.dim[part->type.rank - 1];
    HoloValue *some = channels_cut(r, w, first, count, false), *others = channels_cut(r, w, first, count, true),
              *rest = joined(r, concat, even);
    if (!some || !others || !rest) return false;
    HoloValue *once = conv_build(r, conv, pixel_of(part), some, holo_node_in(conv, 2)),
              *all  = conv_build(r, conv, rest, others, NULL);
    HoloNode *add   = holo_build_node(r, conv->name, HOLO_ID_Add, 14, 2, 0, &conv->out[0]->type);
    if (!once || !all || !add) return false;
    add->in[0] = all;
    add->in[1] = once;
    if (holo_rewrite(r, conv->out[0], add->out[0])) r->changes++;
    return true;
}

HoloStatus holo_pass_even(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    Evens v = {.uses = NULL};
    HOLO_TRY(holo_rewrite_begin(&v.rewrite, graph, scratch, changes, error));
    if (!(v.uses = holo_graph_uses(graph, scratch))) return holo_fail_memory(error);
    int count = graph->node_count;
    for (int i = 0; i < count && holo_rewrite_more(&v.rewrite); i++) {
        holo_rewrite_inputs(&v.rewrite, graph->nodes[i]);
        if (!apply(&v, graph->nodes[i])) return holo_fail_memory(error);
    }
    return holo_rewrite_end(&v.rewrite, error);
}
