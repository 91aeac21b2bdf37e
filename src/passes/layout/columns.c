// columns.c - turns ConvTranspose of f32 with computed filters into a product and Col2Im of it. DeformConv becomes a
// product, too (see columns_deform.h).
//
// With constant filters, ConvTranspose becomes another convolution (see transposed.h), which is better. Nodes with
// groups, or with dynamic sizes other than the number of images, stay.
#include "ops/window.h"
#include "passes/build.h"
#include "passes/layout/columns_deform.h"

typedef struct Columns {
    HoloWindow window;
    int64_t    channels, outs, taps, blocks; // blocks: pixels of the input
} Columns;

static bool is_f32(const HoloValue *value, int from)
{
    if (!holo_value_is_of(value, HOLO_F32, 1, HOLO_MAX_RANK)) return false;
    for (int d = from; d < value->type.rank; d++)
        if (holo_dim_is_symbolic(value->type.dim[d]) || value->type.dim[d] < 1) return false;
    return true;
}

// Has the image, cut into blocks, as many blocks in dimension d as the input has pixels?
static bool fits(const HoloWindow *w, int d)
{
    if (holo_dim_is_symbolic(w->out[d]) || holo_dim_is_symbolic(w->pad_begin[d]) || holo_dim_is_symbolic(w->pad_end[d]))
        return false;
    int64_t padded = w->out[d] + w->pad_begin[d] + w->pad_end[d], length = (w->kernel[d] - 1) * w->dilation[d] + 1;
    return w->pad_begin[d] >= 0 && w->pad_end[d] >= 0 && w->out[d] > 0 && padded >= length &&
           (padded - length) / w->stride[d] + 1 == w->in[d];
}

static bool read(HoloGraph *graph, const HoloNode *node, Columns *out)
{
    if (!node->op || !HOLO_IS(node, ConvTranspose) || node->in_count < 2 || !is_f32(node->in[0], 1) ||
        !is_f32(node->in[1], 0) || node->in[1]->is_constant || !is_f32(node->out[0], 1))
        return false;
    const HoloTensor *x = &node->in[0]->type, *w = &node->in[1]->type;
    HoloError         ignored = {0};
    HoloCall          call    = holo_node_call(node);
    call.dims                 = graph->dims;
    call.error                = &ignored;
    if (holo_attr_int(&call, "group", 1) != 1 || x->rank < 3 || w->rank != x->rank || x->dim[0] == HOLO_DIM_UNKNOWN ||
        holo_window_init_transposed(&call, x->rank - 2, x->dim + 2, w->dim + 2, &out->window))
        return false;
    out->channels = w->dim[0];
    out->outs     = w->dim[1];
    out->taps     = holo_product(w->rank - 2, w->dim + 2);
    out->blocks   = holo_product(x->rank - 2, x->dim + 2);
    for (int d = 0; d < x->rank - 2; d++)
        if (!fits(&out->window, d)) return false;
    return true;
}

// The transpose of [channels, outs * taps], times [images, channels, blocks]. NULL: no memory.
static HoloValue *product(HoloRewrite *rewrite, const HoloNode *node, const Columns *c)
{
    const HoloDim images  = node->in[0]->type.dim[0];
    const int64_t flat[2] = {c->channels, c->outs * c->taps}, pixels[3] = {0, c->channels, c->blocks};
    HoloValue    *w = holo_build_reshape(rewrite, node->in[1], 2, flat, flat);
    HoloValue    *x = holo_build_reshape(rewrite, node->in[0], 3, pixels, (HoloDim[]){images, c->channels, c->blocks});
    w               = w ? holo_build_transpose(rewrite, w, (int64_t[]){1, 0}) : NULL;
    if (!w || !x) return NULL;
    HoloTensor type      = x->type;
    type.dim[1]          = flat[1];
    HoloNode *multiplied = holo_build_node(rewrite, node->name, HOLO_ID_MatMul, 13, 2, 0, &type);
    if (!multiplied) return NULL;
    multiplied->in[0] = w;
    multiplied->in[1] = x;
    return multiplied->out[0];
}

static HoloValue *image(HoloRewrite *rewrite, const HoloNode *node, const Columns *c, HoloValue *blocks)
{
    const HoloWindow *w = &c->window;
    int64_t           pads[2 * HOLO_MAX_SPATIAL];
    for (int d = 0; d < w->rank; d++) {
        pads[d]           = w->pad_begin[d];
        pads[w->rank + d] = w->pad_end[d];
    }
    HoloGraph *graph = rewrite->graph;
    HoloValue *size  = holo_build_ints(rewrite, w->rank, w->out);
    HoloValue *block = holo_build_ints(rewrite, w->rank, w->kernel);
    HoloNode  *made  = holo_build_node(rewrite, node->name, HOLO_ID_Col2Im, 18, 3, 3, &node->out[0]->type);
    if (!blocks || !size || !block || !made || !holo_build_list(graph, "pads", 2 * w->rank, pads, &made->attr[0]) ||
        !holo_build_list(graph, "strides", w->rank, w->stride, &made->attr[1]) ||
        !holo_build_list(graph, "dilations", w->rank, w->dilation, &made->attr[2]))
        return NULL;
    made->in[0] = blocks;
    made->in[1] = size;
    made->in[2] = block;
    return made->out[0];
}

static HoloValue *with_bias(HoloRewrite *rewrite, const HoloNode *node, const Columns *c, HoloValue *y)
{
    HoloValue *bias = node->in_count > 2 ? node->in[2] : NULL;
    int64_t    shape[HOLO_MAX_RANK];
    int        rank = c->window.rank + 1;
    if (!bias || !y) return y;
    for (int d = 0; d < rank; d++) shape[d] = d ? 1 : c->outs;
    bias          = holo_build_reshape(rewrite, bias, rank, shape, shape);
    HoloNode *sum = bias ? holo_build_node(rewrite, node->name, HOLO_ID_Add, 14, 2, 0, &node->out[0]->type) : NULL;
    if (!sum) return NULL;
    sum->in[0] = y;
    sum->in[1] = bias;
    return sum->out[0];
}

HoloStatus holo_pass_columns(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloRewrite rewrite;
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, changes, error));
    for (int i = 0, count = graph->node_count; i < count && holo_rewrite_more(&rewrite); i++) {
        HoloNode *node = graph->nodes[i];
        Columns   c;
        holo_rewrite_inputs(&rewrite, node);
        HoloValue *y;
        if (!holo_columns_deform(&rewrite, node, &y)) return holo_fail_memory(error);
        if (!y && read(graph, node, &c)) {
            y = with_bias(&rewrite, node, &c, image(&rewrite, node, &c, product(&rewrite, node, &c)));
            if (!y) return holo_fail_memory(error);
        }
        if (y) holo_rewrite(&rewrite, node->out[0], y);
    }
    return holo_rewrite_end(&rewrite, error);
}
