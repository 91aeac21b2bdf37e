// rows.c - turns a Gemm between views that only flatten and restore rows into MatMul, and Add of its bias.
//
// Its neighbors are then direct neighbors of the product and can become its tail.
#include "passes/build.h"

static bool is_set(const HoloNode *node, const char *name)
{
    const HoloAttr *attr = holo_node_attr(node, name);
    return attr && (attr->kind != HOLO_ATTR_INT || attr->i != 0);
}

static bool is_f32(const HoloValue *value, int rank)
{
    return holo_value_is_of(value, HOLO_F32, rank, rank);
}

// Is the bias the same for every row?
static bool is_row(const HoloValue *bias, HoloDim columns)
{
    const HoloTensor *t = &bias->type;
    for (int d = 0; d < t->rank - 1; d++)
        if (t->dim[d] != 1) return false;
    return is_f32(bias, t->rank) && t->rank >= 0 && t->rank <= 2 &&
           (!t->rank || t->dim[t->rank - 1] == 1 || t->dim[t->rank - 1] == columns);
}

static bool is_plain_gemm(const HoloNode *node)
{
    return node && node->op && HOLO_IS(node, Gemm) && node->in_count >= 2 && node->in[0] && node->in[1] &&
           is_f32(node->in[0], 2) && is_f32(node->in[1], 2) && is_f32(node->out[0], 2) &&
           holo_node_float(node, "alpha", 1) == 1 && holo_node_float(node, "beta", 1) == 1 && !is_set(node, "transA");
}

// The value whose rows `gemm` takes flattened and `out` restores; NULL: it is not so.
static HoloValue *rows_source(const HoloRewrite *rewrite, const HoloNode *gemm, const HoloTensor *out)
{
    const HoloNode *view = gemm->in[0]->producer;
    if (!view || !view->op || !(view->op->flags & HOLO_OP_VIEW) || !view->in_count || !view->in[0]) return NULL;
    HoloValue        *x      = holo_rewrite_find(rewrite, view->in[0]);
    const HoloTensor *matrix = &gemm->in[0]->type, *product = &gemm->out[0]->type;
    int               rank = x->type.rank;
    if (rank < 2 || !is_f32(x, out->rank) || x->type.dim[rank - 1] != matrix->dim[1] ||
        out->dim[rank - 1] != product->dim[1])
        return NULL;
    for (int d = 0; d < rank; d++)
        if (x->type.dim[d] == HOLO_DIM_UNKNOWN || (d < rank - 1 && x->type.dim[d] != out->dim[d])) return NULL;
    return x;
}

HoloValue *holo_rewrite_rows(HoloRewrite *rewrite, HoloNode *node, const int *uses, bool *failed)
{
    const HoloNode *gemm = node->in[0]->producer;
    HoloValue      *bias = is_plain_gemm(gemm) && gemm->in_count > 2 ? gemm->in[2] : NULL;
    HoloTensor      out  = node->out[0]->type;
    if (!is_plain_gemm(gemm) || node->in[0]->id >= rewrite->room || uses[node->in[0]->id] != 1 ||
        rewrite->is_output[node->in[0]->id] || (bias && !is_row(bias, gemm->out[0]->type.dim[1])))
        return NULL;
    HoloValue *x = rows_source(rewrite, gemm, &out), *w = gemm->in[1];
    if (!x) return NULL;
    if (is_set(gemm, "transB")) w = holo_build_transpose(rewrite, w, (int64_t[]){1, 0});
    HoloNode *product = w ? holo_build_node(rewrite, gemm->name, HOLO_ID_MatMul, 13, 2, 0, &out) : NULL;
    HoloNode *sum     = bias && product ? holo_build_node(rewrite, node->name, HOLO_ID_Add, 14, 2, 0, &out) : NULL;
    if (!product || (bias && !sum)) return *failed = true, NULL;
    product->in[0] = x;
    product->in[1] = w;
    if (!sum) return product->out[0];
    sum->in[0] = product->out[0];
    sum->in[1] = bias;
    return sum->out[0];
}
