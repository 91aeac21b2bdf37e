// flops.c - counts the floating-point operations of a run, if that is possible before the run.
//
// It counts products, each as a multiplication and an addition: they take the time. If the size of one product is
// symbolic, it counts nothing.
#include "graph/facts.h"
#include "plan/plan.h"

static double count_of(const HoloTensor *t)
{
    double count = t->rank < 0 ? -1 : 1;
    for (int d = 0; d < t->rank; d++) count *= holo_dim_is_symbolic(t->dim[d]) ? -1 : (double)t->dim[d];
    return count;
}

// The number of terms in one output element.
static double terms_matmul(const HoloNode *node)
{
    const HoloTensor *a = &node->in[0]->type;
    return a->rank > 0 ? (double)a->dim[a->rank - 1] : -1;
}

static double terms_gemm(const HoloNode *node)
{
    const HoloTensor *a = &node->in[0]->type;
    return a->rank == 2 ? (double)a->dim[holo_node_int(node, "transA", 0) ? 0 : 1] : -1;
}

static double filter_terms(const HoloTensor *w)
{
    return w->rank > 0 && w->dim[0] > 0 ? count_of(w) / (double)w->dim[0] : -1;
}

static double terms_conv(const HoloNode *node)
{
    return filter_terms(&node->in[1]->type);
}

static double terms_qlinear_conv(const HoloNode *node)
{
    const HoloValue *w = holo_node_in(node, 3);
    return w ? filter_terms(&w->type) : -1;
}

// For one element of the output: its share of the scores, and the sum over the keys.
static double terms_attention(const HoloNode *node)
{
    const HoloTensor *q = &node->in[0]->type, *k = &node->in[1]->type, *out = &node->out[0]->type;
    if (q->rank < 3 || q->rank != k->rank) return 0; // an Attention of another domain
    if (holo_dim_is_symbolic(k->dim[q->rank - 2])) return -1;
    double size = (double)q->dim[q->rank - 1], v_size = (double)out->dim[q->rank - 1];
    return v_size > 0 ? (double)k->dim[q->rank - 2] * (size / v_size + 1) : -1;
}

static const struct {
    HoloOpId id;
    double (*terms)(const HoloNode *node);
} products[] = {
    {HOLO_ID_MatMul, terms_matmul},
    {HOLO_ID_HOLOGRAM_MatMul, terms_matmul},
    {HOLO_ID_MatMulInteger, terms_matmul},
    {HOLO_ID_MICROSOFT_MatMulIntegerToFloat, terms_matmul},
    {HOLO_ID_MICROSOFT_MatMulNBits, terms_matmul},
    {HOLO_ID_HOLOGRAM_MatMulNBits, terms_matmul},
    {HOLO_ID_HOLOGRAM_MatMulBlocks, terms_matmul},
    {HOLO_ID_HOLOGRAM_MatMulFloat8, terms_matmul},
    {HOLO_ID_Gemm, terms_gemm},
    {HOLO_ID_Conv, terms_conv},
    {HOLO_ID_HOLOGRAM_Conv, terms_conv},
    {HOLO_ID_ConvInteger, terms_conv},
    {HOLO_ID_QLinearConv, terms_qlinear_conv},
    {HOLO_ID_MICROSOFT_QLinearConv, terms_qlinear_conv},
    {HOLO_ID_QLinearMatMul, terms_matmul},
    {HOLO_ID_MICROSOFT_QGemm, terms_gemm},
    {HOLO_ID_HOLOGRAM_ConvIntegerToFloat, terms_conv},
    {HOLO_ID_Attention, terms_attention},
    {HOLO_ID_MICROSOFT_Attention, terms_attention},
};

uint64_t holo_plan_flops(const HoloGraph *graph)
{
    double flops = 0;
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        for (int k = 0; k < HOLO_COUNT(products); k++) {
            if (node->op_id != products[k].id || node->in_count < 2 || !node->in[0] || !node->in[1] || !node->out[0])
                continue;
            double out = count_of(&node->out[0]->type), terms = products[k].terms(node);
            if (out < 0 || terms < 0) return 0;
            flops += 2 * out * terms;
        }
    }
    return flops < 1e18 ? (uint64_t)flops : 0;
}
