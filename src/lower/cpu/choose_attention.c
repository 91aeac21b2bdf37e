// choose_attention.c - which nodes run by rotary_f32 (RotaryEmbedding of f32) and by attention_f32 (attention of f32,
// without the scores as an output).
#include "lower/cpu/choose.h"

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, VALID }; // as in ops/standard/attention.c
enum { Y, PRESENT_KEY, PRESENT_VALUE, SCORES };

static bool has_out(const HoloNode *node, int i)
{
    return i < node->out_count && node->out[i];
}

// The vectors of input i have a fixed size that is not too large.
static bool fits_size(const HoloNode *node, int i)
{
    HoloCall          call  = holo_node_call(node);
    const HoloTensor *t     = &node->in[i]->type;
    HoloDim           size  = t->dim[t->rank - 1];
    int64_t           heads = t->rank == 4 ? 1 : holo_attr_int(&call, i == Q ? "q_num_heads" : "kv_num_heads", 0);
    return !holo_dim_is_symbolic(size) && heads > 0 && size / heads >= 1 && size / heads <= HOLO_ATTENTION_SIZE;
}

// Old keys and values are joined with the new ones if the joined result is used.
static bool fits_past(const HoloNode *node)
{
    const HoloValue *key = holo_node_in(node, PAST_KEY), *value = holo_node_in(node, PAST_VALUE);
    if (!key && !value) return true;
    return holo_value_is_f32(key, 4, 4) && holo_value_is_f32(value, 4, 4) && has_out(node, PRESENT_KEY) &&
           has_out(node, PRESENT_VALUE);
}

bool holo_lower_attention(const HoloNode *node, HoloLowering *out)
{
    HoloCall         call = holo_node_call(node);
    const HoloValue *mask = holo_node_in(node, MASK), *valid = holo_node_in(node, VALID);
    int64_t          precision = holo_attr_int(&call, "softmax_precision", HOLO_F32);
    for (int i = Q; i <= V; i++)
        if (!holo_value_is_f32(holo_node_in(node, i), 3, 4) || !fits_size(node, i)) return false;
    if (mask && !holo_value_is_f32(mask, 1, 4) && !holo_value_is(mask, HOLO_BOOL, 1, 4)) return false;
    if (valid && !holo_value_is(valid, HOLO_I64, 1, 1)) return false;
    if (!fits_past(node) || has_out(node, SCORES) || (precision && precision != HOLO_F32)) return false;
    out->params_size = sizeof out->attention;
    return true;
}

// The operator's own eval finds queries, keys and values, and the kernel computes the rest.
bool holo_lower_attention_other(const HoloNode *node, HoloLowering *out)
{
    if (!holo_value_is_f32(holo_node_in(node, Q), 3, 5) || has_out(node, SCORES)) return false;
    out->params_size = sizeof out->attention;
    return true;
}

bool holo_lower_rotary(const HoloNode *node, HoloLowering *out)
{
    int table        = *node->domain ? 2 : 1; // com.microsoft's has the positions before the tables
    out->params_size = sizeof(HoloRotaryParams);
    return holo_value_is_f32(holo_node_in(node, 0), 3, 4) && holo_value_is_f32(holo_node_in(node, table), 2, 3) &&
           holo_value_is_f32(holo_node_in(node, table + 1), 2, 3);
}
