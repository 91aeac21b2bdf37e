// linear_attention_gate.c - LinearAttentionGate of com.microsoft: the two gates of LinearAttention,
//
//     decay = scale * softplus(a + bias)        beta = sigmoid(b)
//
// with a bias and a scale for each head.
#include "base/math/math.h"
#include "ops/standard/attention.h"

enum { A, BIAS, SCALE, B };
enum { DECAY, BETA };

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *a = call->in[A], *b = holo_in(call, B);
    HoloDim           heads = HOLO_DIM_UNKNOWN, same;
    HOLO_TRY(holo_expect_rank(call, A, 1, HOLO_MAX_RANK));
    for (int i = BIAS; i <= SCALE; i++) {
        HOLO_TRY(holo_expect_types(call, i, HOLO_BIT(F32)));
        HOLO_TRY(holo_expect_rank(call, i, 1, 1));
        HOLO_TRY(holo_agree(call, "heads of dt_bias and decay_scale", call->in[i]->dim[0], heads, &heads));
    }
    HOLO_TRY(holo_agree(call, "heads of a and dt_bias", a->dim[a->rank - 1], heads, &heads));
    if (holo_out(call, BETA) && !b) return holo_call_fail(call, HOLO_BAD_MODEL, "beta is wanted, but b is missing");
    if (b) {
        HOLO_TRY(holo_expect_types(call, B, UINT64_C(1) << a->dtype));
        HOLO_TRY(holo_expect_rank(call, B, a->rank, a->rank));
        for (int d = 0; d < a->rank; d++) HOLO_TRY(holo_agree(call, "sizes of a and b", a->dim[d], b->dim[d], &same));
        HOLO_TRY(holo_out_like(call, BETA, b));
    }
    return holo_out_like(call, DECAY, a);
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *a     = call->in[A];
    HoloTensor       *decay = holo_out(call, DECAY), *beta = holo_out(call, BETA);
    int64_t           count = holo_tensor_count(a), heads = a->dim[a->rank - 1];
    double            x[HOLO_TILE], bias[HOLO_TILE], scale[HOLO_TILE];
    for (int64_t i = 0, n; i < count; i += n) { // parts of a row
        int64_t head = i % heads;
        n            = heads - head < HOLO_TILE ? heads - head : HOLO_TILE;
        holo_read_f(a, i, 1, n, x);
        holo_read_f(call->in[BIAS], head, 1, n, bias);
        holo_read_f(call->in[SCALE], head, 1, n, scale);
        for (int64_t k = 0; k < n; k++) x[k] = scale[k] * holo_softplus(x[k] + bias[k]);
        if (decay) holo_write_f(decay, i, 1, n, x);
        if (!beta) continue;
        holo_read_f(call->in[B], i, 1, n, x);
        for (int64_t k = 0; k < n; k++) x[k] = holo_sigmoid(x[k]);
        holo_write_f(beta, i, 1, n, x);
    }
    return HOLO_OK;
}

const HoloOp holo_ops_linear_attention_gate[] = {
    {.name    = "LinearAttentionGate",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 3,
     .in_max  = 4,
     .out_min = 1,
     .out_max = 2,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer,
     .eval    = eval},
    {0},
};
