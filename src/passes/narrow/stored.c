// stored.c - lets products read large weights as the model has them: narrow, turned, or both.
//
// A product with a constant that is cast to f32 or turned becomes MatMul of domain hologram, which reads the constant as
// it is. Otherwise widen.c and fold.c would make a copy of every weight, and compiling would need memory for the whole
// model several times over. Small weights are left to them, since other passes know how to work on plain constants.
#include "passes/narrow/integers.h"

bool holo_stored_is_large(const HoloValue *value)
{
    enum { LARGE = 64 << 10 }; // bytes
    return value && value->is_constant && value->type.data && value->type.rank == 2 &&
           holo_tensor_bytes(&value->type) >= LARGE;
}

static bool is_turn(const HoloNode *node)
{
    const HoloAttr *perm = holo_node_attr(node, "perm");
    return HOLO_IS(node, Transpose) && node->in[0] && node->in[0]->type.rank == 2 &&
           (!perm || (perm->kind == HOLO_ATTR_INTS && perm->count == 2 && perm->ints[0] == 1));
}

static bool is_widening(const HoloNode *node)
{
    return HOLO_IS(node, Cast) && node->in[0] && node->out[0] && node->out[0]->type.dtype == HOLO_F32 &&
           (node->in[0]->type.dtype == HOLO_F16 || node->in[0]->type.dtype == HOLO_BF16);
}

HoloValue *holo_stored_of(HoloValue *value, bool *out_turned)
{
    *out_turned = false;
    for (int i = 0; i < 3 && value && value->producer; i++) {
        const HoloNode *node = value->producer;
        if (!is_turn(node) && !is_widening(node)) return NULL;
        *out_turned ^= is_turn(node);
        value = node->in[0];
    }
    return holo_stored_is_large(value) ? value : NULL;
}

static HoloStatus product_store(HoloGraph *graph, HoloNode *node, bool *out_done, HoloError *error)
{
    bool       turned;
    HoloValue *w = holo_product_is_plain(node, HOLO_F32) ? holo_stored_of(node->in[1], &turned) : NULL;
    *out_done    = w && w != node->in[1] && node->in[0]->type.rank > 1;
    if (!*out_done) return HOLO_OK;
    HoloValue  *bias = node->in_count > 2 ? node->in[2] : NULL;
    HoloValue **in   = HOLO_NEW(graph->arena, HoloValue *, 3);
    HoloAttr   *attr = HOLO_NEW(graph->arena, HoloAttr, 1);
    if (!in || !attr) return holo_fail_memory(error);
    turned ^= holo_node_int(node, "transB", 0) != 0;
    *attr = (HoloAttr){.name = "transB", .kind = HOLO_ATTR_INT, .count = 1, .i = 1};
    in[0] = node->in[0];
    in[1] = w;
    in[2] = bias;
    holo_node_become(node, HOLO_ID_HOLOGRAM_MatMul, 1);
    node->in         = in;
    node->in_count   = bias ? 3 : 2;
    node->attr       = attr;
    node->attr_count = turned;
    return HOLO_OK;
}

HoloStatus holo_pass_stored(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloRewrite rewrite;
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, changes, error));
    for (int i = 0; i < graph->node_count && holo_rewrite_more(&rewrite); i++) {
        bool done;
        HOLO_TRY(product_store(graph, graph->nodes[i], &done, error));
        rewrite.changes += done;
    }
    return holo_rewrite_end(&rewrite, error);
}
