// mirror_target.c - the target of the device for tests (mirror_device.c): a part of the operators, all by eval.
#include "lower/target.h"

static bool is_taken(const HoloNode *node)
{
    return node->op->flags & (HOLO_OP_POINTWISE | HOLO_OP_REDUCES) || HOLO_IS(node, Transpose) ||
           HOLO_IS(node, Concat) || HOLO_IS(node, Softmax) || HOLO_IS(node, MatMul) ||
           HOLO_IS(node, LayerNormalization) || HOLO_IS(node, HOLOGRAM_CacheWrite) ||
           HOLO_IS(node, HOLOGRAM_CachedAttention) || HOLO_IS(node, Gather) || HOLO_IS(node, ArgMax);
}

// f32, integers and truths.
static bool is_numbers(const HoloValue *v)
{
    HoloClass class = v ? holo_dtype_class((HoloDtype)v->type.dtype) : HOLO_CLASS_INT;
    return class == HOLO_CLASS_INT || class == HOLO_CLASS_UINT || class == HOLO_CLASS_BOOL || v->type.dtype == HOLO_F32;
}

static bool can_run(const HoloNode *node)
{
    const HoloOp *op = node->op;
    if (!op || !op->eval || op->prepare || op->flags & HOLO_OP_RANDOM) return false;
    if (!is_taken(node)) return false;
    for (int i = 0; i < node->in_count; i++)
        if (!is_numbers(node->in[i])) return false;
    for (int i = 0; i < node->out_count; i++)
        if (!is_numbers(node->out[i])) return false;
    return true;
}

const HoloTarget holo_target_mirror = {.name = "mirror", .can_run = can_run};
