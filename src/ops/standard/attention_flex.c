// attention_flex.c - FlexAttention: attention whose scores and weights pass through subgraphs.
#include "ops/body.h"
#include "ops/standard/attention.h"

// The call without the values that the subgraphs capture.
static HoloCall without_captures(const HoloCall *call)
{
    HoloCall own = *call;
    own.in_count -= call->capture_count;
    own.capture_count = 0;
    return own;
}

static HoloStatus find_sizes(const HoloCall *call, HoloAttentionSizes *s)
{
    HoloCall own = without_captures(call);
    if (own.in_count != 3) return holo_call_fail(call, HOLO_BAD_MODEL, "has %d inputs, expected 3", own.in_count);
    for (int i = 0; i < own.in_count; i++) HOLO_TRY(holo_expect_rank(&own, i, 4, 4));
    return holo_attention_sizes(&own, s);
}

// The type in which scores and weights are computed, as the subgraphs see it.
static HoloStatus find_precision(const HoloCall *call, HoloDtype *out)
{
    HoloDtype usual = call->in[0]->dtype == HOLO_F64 ? HOLO_F64 : HOLO_F32;
    return holo_attr_dtype(call, "softmax_precision", usual, HOLO_TYPES_FLOAT, out);
}

static HoloStatus infer(HoloCall *call)
{
    HoloAttentionSizes s;
    HoloDtype          precision;
    HOLO_TRY(find_sizes(call, &s));
    HOLO_TRY(find_precision(call, &precision));
    HoloDim dim[4] = {s.batch, s.q_heads, s.queries, s.v_size};
    return holo_out_type(call, 0, (HoloDtype)call->in[0]->dtype, 4, dim);
}

// Passes the cells through the subgraph `attr`, if there is one, as a tensor like `like`.
static HoloStatus modify(const HoloCall *call, const char *attr, HoloTensor *like, HoloCell *cells)
{
    HoloBody body;
    int64_t  count = holo_tensor_count(like);
    if (!holo_attr_find(call, attr)) return HOLO_OK;
    holo_write_f(like, 0, 1, count, &cells->f);
    HOLO_TRY(holo_body_init(&body, call, attr, 1, 1));
    body.in[0] = like;
    HOLO_TRY(holo_body_run(&body));
    const HoloTensor *got  = &body.result[0];
    bool              same = got->kind == HOLO_TENSOR && got->dtype == like->dtype && got->rank == like->rank;
    for (int d = 0; d < like->rank; d++) same = same && got->dim[d] == like->dim[d];
    if (!same) return holo_call_fail(call, HOLO_BAD_MODEL, "%s does not keep the type and shape of its input", attr);
    holo_read_f(got, 0, 1, count, &cells->f);
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    HoloAttentionSizes s;
    HoloAttention      a;
    HoloTensor         all = {.rank = 4};
    HoloDtype          precision;
    void              *cells, *sums, *bytes;
    HOLO_TRY(infer(call));
    HOLO_TRY(holo_out_alloc(call, 0));
    if (!holo_is_wanted(holo_out(call, 0))) return HOLO_OK;
    HOLO_TRY(find_sizes(call, &s));
    HOLO_TRY(find_precision(call, &precision));
    holo_attention_init(call, &s, &a);
    a.precision = precision;
    all.dtype   = (uint8_t)precision;
    memcpy(all.dim, (int64_t[4]){s.batch, s.q_heads, s.queries, s.keys}, 4 * sizeof all.dim[0]);
    int64_t count = holo_tensor_count(&all);
    if (count < 0) return holo_fail_memory(call->error);
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof(HoloCell), &cells));
    HOLO_TRY(holo_call_temp(call, (size_t)count, holo_dtype_size(precision), &bytes));
    HOLO_TRY(holo_call_temp(call, (size_t)holo_tensor_count(a.y), sizeof(HoloCell), &sums));
    all.data = bytes;

    HoloAttentionPart whole = {.heads = s.batch * s.q_heads, .rows = s.queries};
    holo_attention_scores(call, &a, &whole, cells);
    HOLO_TRY(modify(call, "score_mod", &all, cells));
    holo_attention_weights(call, &a, &whole, cells);
    HOLO_TRY(modify(call, "prob_mod", &all, cells));
    holo_attention_sums(call, &a, &whole, cells, sums);
    return HOLO_OK;
}

const HoloOp holo_ops_attention_flex[] = {
    {.name    = "FlexAttention",
     .domain  = "ai.onnx.preview",
     .since   = 1,
     .in_min  = 3,
     .in_max  = -1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .flags   = HOLO_OP_CONTROL,
     .infer   = infer,
     .eval    = eval},
    {0},
};
