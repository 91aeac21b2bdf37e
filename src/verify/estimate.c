// estimate.c - walks through the reference node by node without its numbers: see estimate.h.
#include "verify/estimate.h"

#include "graph/facts.h"

#include <math.h>

static double count_of(const HoloTensor *t)
{
    double count = t->kind == HOLO_TENSOR && t->rank >= 0;
    for (int d = 0; d < t->rank && count > 0; d++) count *= holo_dim_is_symbolic(t->dim[d]) ? 0 : (double)t->dim[d];
    return count;
}

static double bytes_of(const HoloValue *v)
{
    return v && !v->is_constant ? count_of(&v->type) * (double)holo_dtype_size((HoloDtype)v->type.dtype) : 0;
}

// A product multiplies for each output element as often as terms are summed. With two operands that is the root of the
// product of all three sizes.
static double work_of(const HoloNode *node)
{
    double           out       = 0;
    bool             is_scaled = HOLO_IS(node, QLinearConv) || HOLO_IS(node, QLinearMatMul); // scales are between
    const HoloValue *a = holo_node_in(node, 0), *b = holo_node_in(node, is_scaled ? 3 : 1);
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i]) out += count_of(&node->out[i]->type);
    bool is_product = node->op && node->op->at && a && b && b->type.rank > 0;
    if (!is_product) return out;
    bool is_conv = HOLO_IS(node, Conv) || HOLO_IS(node, ConvInteger) || HOLO_IS(node, QLinearConv);
    is_conv      = is_conv && b->type.rank >= 3 && b->type.dim[0] > 0;
    return out + (is_conv ? out * count_of(&b->type) / (double)b->type.dim[0]
                          : sqrt(count_of(&a->type) * count_of(&b->type) * out));
}

// The bytes of an input that its node takes over as its output: nobody else reads what a view views.
static double bytes_taken(const HoloNode *node, const int *uses)
{
    const HoloValue *v = holo_node_in(node, 0);
    bool is_taken = node->op && node->op->flags & HOLO_OP_VIEW && v && v->producer && v->type.kind == HOLO_TENSOR &&
                    uses[v->id] == 1;
    return is_taken ? bytes_of(v) : 0;
}

HoloStatus holo_verify_estimate(const HoloGraph *sized, HoloEstimate *out, HoloError *error)
{
    HoloArena scratch = {0};
    int      *uses    = holo_graph_uses(sized, &scratch);
    double    held    = 0;
    *out              = (HoloEstimate){0};
    if (!uses) return holo_fail_memory(error);
    // Little is kept of outputs.
    for (int i = 0; i < sized->output_count; i++) uses[sized->outputs[i]->id]--;
    for (int i = 0; i < sized->input_count; i++) held += bytes_of(sized->inputs[i]);
    out->bytes = held;
    for (int i = 0; i < sized->node_count; i++) {
        const HoloNode *node = sized->nodes[i];
        for (int k = 0; k < node->out_count; k++) held += bytes_of(node->out[k]);
        double most = held - bytes_taken(node, uses);
        if (most > out->bytes) {
            out->bytes = most;
            out->most  = node;
        }
        out->work += work_of(node);
        for (int k = 0; k < node->out_count; k++)
            if (node->out[k] && !uses[node->out[k]->id]) held -= bytes_of(node->out[k]);
        for (int k = 0; k < node->in_count; k++)
            if (node->in[k] && !--uses[node->in[k]->id] && node->in[k]->producer) held -= bytes_of(node->in[k]);
    }
    holo_arena_deinit(&scratch);
    return HOLO_OK;
}
