// columns_deform.c - turns DeformConv into hologram::DeformColumns and a product. See columns_deform.h.
//
// Samples are taken with channels last: all channels of a pixel have the same position and weights. So filters are
// transposed to [group, taps * channels, outs], and the result is transposed back.
#include "passes/layout/columns_deform.h"
#include "passes/build.h"

#include <string.h>

enum { X, W, OFFSET, BIAS, MASK };

typedef struct Deform {
    HoloDim images;
    int64_t group, channels, outs, height, width, taps; // channels and outs of a group; height and width of the output
    int64_t kernel[2];
} Deform;

static bool is_image(const HoloValue *value, int from)
{
    if (!holo_value_is_of(value, HOLO_F32, 4, 4)) return false;
    for (int d = from; d < 4; d++)
        if (holo_dim_is_symbolic(value->type.dim[d]) || value->type.dim[d] < 1) return false;
    return value->type.dim[0] != HOLO_DIM_UNKNOWN;
}

static bool read(const HoloNode *node, Deform *out)
{
    const HoloAttr *group = holo_node_attr(node, "group");
    if (!node->op || !HOLO_IS(node, DeformConv) || node->in_count <= OFFSET || !is_image(node->in[X], 1) ||
        !is_image(node->in[W], 0) || !is_image(node->in[OFFSET], 1) || !is_image(node->out[0], 1) ||
        (holo_node_in(node, MASK) && !is_image(node->in[MASK], 1)))
        return false;
    const HoloTensor *x = &node->in[X]->type, *w = &node->in[W]->type, *y = &node->out[0]->type;
    *out = (Deform){.images = x->dim[0], .group = group && group->kind == HOLO_ATTR_INT ? group->i : 1};
    if (out->group < 1) return false;
    out->channels  = w->dim[1];
    out->outs      = w->dim[0] / out->group;
    out->height    = y->dim[2];
    out->width     = y->dim[3];
    out->taps      = w->dim[2] * w->dim[3];
    out->kernel[0] = w->dim[2];
    out->kernel[1] = w->dim[3];
    return true;
}

// The attributes are those of the convolution, with kernel_shape added if it followed from the filters.
static HoloValue *samples(HoloRewrite *rewrite, const HoloNode *node, const Deform *c, HoloValue *x)
{
    HoloGraph *graph  = rewrite->graph;
    int64_t   *kernel = HOLO_NEW(graph->arena, int64_t, 2);
    int        more   = node->attr_count;
    HoloValue *mask = holo_node_in(node, MASK), *out = holo_graph_value(graph, node->name);
    HoloNode  *made = holo_graph_op(graph, node->name, HOLO_ID_HOLOGRAM_DeformColumns, 1, mask ? 3 : 2, 1, more + 1);
    if (!x || !kernel || !out || !made) return NULL;
    memcpy(kernel, c->kernel, sizeof c->kernel);
    if (more) memcpy(made->attr, node->attr, (size_t)more * sizeof *node->attr);
    made->attr[more] = (HoloAttr){.name = "kernel_shape", .kind = HOLO_ATTR_INTS, .count = 2, .ints = kernel};
    if (holo_node_attr(node, "kernel_shape")) made->attr_count = more;
    made->in[0] = x;
    made->in[1] = node->in[OFFSET];
    if (mask) made->in[2] = mask;
    out->type = (HoloTensor){
        .dtype = HOLO_F32, .rank = 4, .dim = {c->images, c->group, c->height * c->width, c->taps * c->channels}};
    holo_node_set_out(made, 0, out);
    return out;
}

static HoloValue *filters(HoloRewrite *rewrite, HoloValue *w, const Deform *c)
{
    const int64_t apart[4] = {c->group, c->outs, c->channels, c->taps};
    const int64_t rows[3]  = {c->group, c->taps * c->channels, c->outs};
    w                      = holo_build_reshape(rewrite, w, 4, apart, apart);
    w                      = w ? holo_build_transpose(rewrite, w, (int64_t[]){0, 3, 2, 1}) : NULL;
    return w ? holo_build_reshape(rewrite, w, 3, rows, rows) : NULL;
}

static HoloValue *pair(HoloRewrite *rewrite, const HoloNode *node, HoloOpId id, int version, HoloValue *a, HoloValue *b,
                       const HoloTensor *out)
{
    HoloNode *made = a && b ? holo_build_node(rewrite, node->name, id, version, 2, 0, out) : NULL;
    if (!made) return NULL;
    made->in[0] = a;
    made->in[1] = b;
    return made->out[0];
}

static HoloValue *with_bias(HoloRewrite *rewrite, const HoloNode *node, const Deform *c, HoloValue *y)
{
    const int64_t shape[3] = {c->group, 1, c->outs};
    if (!y || !holo_node_in(node, BIAS)) return y;
    HoloValue *bias = holo_build_reshape(rewrite, node->in[BIAS], c->group == 1 ? 1 : 3,
                                         c->group == 1 ? shape + 2 : shape, c->group == 1 ? shape + 2 : shape);
    return pair(rewrite, node, HOLO_ID_Add, 14, y, bias, &y->type);
}

bool holo_columns_deform(HoloRewrite *rewrite, const HoloNode *node, HoloValue **out)
{
    Deform c;
    *out = NULL;
    if (!read(node, &c)) return true;
    HoloTensor type = node->out[0]->type;
    memcpy(type.dim, (HoloDim[]){c.images, c.group, c.height * c.width, c.outs}, 4 * sizeof(HoloDim));
    HoloValue *x = holo_build_transpose(rewrite, node->in[X], (int64_t[]){0, 2, 3, 1});
    HoloValue *w = filters(rewrite, node->in[W], &c);
    HoloValue *y = pair(rewrite, node, HOLO_ID_MatMul, 13, samples(rewrite, node, &c, x), w, &type);
    y            = with_bias(rewrite, node, &c, y);
    y            = y ? holo_build_transpose(rewrite, y, (int64_t[]){0, 1, 3, 2}) : NULL;
    if (!y) return false;
    const int64_t shape[4] = {0, c.group * c.outs, c.height, c.width};
    *out                   = holo_build_reshape(rewrite, y, 4, shape, node->out[0]->type.dim);
    return *out != NULL;
}
