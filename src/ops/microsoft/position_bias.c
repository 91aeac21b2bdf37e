// position_bias.c - what attention adds to scores for the distance of key and query, of com.microsoft:
// RelativePositionBias, a table of numbers by distance, and GatedRelativePositionBias, which weighs such numbers by the
// query.
#include "base/math/math.h"
#include "ops/move.h"
#include "ops/standard/attention.h"

// ---- RelativePositionBias

enum { TABLE, QUERIES, KEYS };

// The table is said to be [bucket][head] and lies as [head][bucket].
static HoloStatus infer(HoloCall *call)
{
    HoloDim dim[4] = {1, HOLO_DIM_UNKNOWN, HOLO_DIM_UNKNOWN, HOLO_DIM_UNKNOWN};
    HOLO_TRY(holo_expect_rank(call, TABLE, 2, 2));
    for (int i = QUERIES; i <= KEYS; i++) {
        HoloNumbers length;
        HOLO_TRY(holo_expect_types(call, i, HOLO_BIT(I64)));
        HOLO_TRY(holo_numbers_needed(call, NULL, i, 1, &length));
        if (length.known && length.count == 1) dim[i + 1] = holo_number(&length, 0);
        if (!holo_dim_is_symbolic(dim[i + 1]) && dim[i + 1] < 0)
            return holo_call_fail(call, HOLO_BAD_INPUT, "a length is %lld", (long long)dim[i + 1]);
    }
    int64_t most = holo_attr_int(call, "max_distance", 0);
    if (most < 1) return holo_call_fail(call, HOLO_BAD_MODEL, "max_distance is %lld", (long long)most);
    dim[1] = call->in[TABLE]->dim[1];
    return holo_out_type(call, 0, call->in[TABLE]->dtype, 4, dim);
}

// Half of the buckets are for one distance each, the others for ranges that grow with the logarithm up to `most`, and
// the last for all that are further. Keys behind the query have the upper half of all where both directions count, else
// the first.
static int64_t bucket_of(int64_t distance, int64_t buckets, int64_t most, bool is_bidirectional)
{
    int64_t first = 0;
    if (is_bidirectional) {
        buckets /= 2;
        first    = distance > 0 ? buckets : 0;
        distance = distance > 0 ? distance : -distance;
    } else {
        distance = distance > 0 ? 0 : -distance;
    }
    int64_t exact = buckets / 2, last = first + (buckets > 0 ? buckets - 1 : 0);
    if (distance < exact) return first + distance;
    if (exact == 0 || most <= exact) return last;
    float far = (float)holo_log((float)distance / (float)exact), range = (float)holo_log((float)most / (float)exact);
    float steps = far / range * (float)(buckets - exact);
    return steps < (float)(last - first - exact) ? first + exact + (int64_t)steps : last;
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *table   = call->in[TABLE];
    HoloTensor       *y       = call->out[0];
    int64_t           buckets = table->dim[0], heads = y->dim[1], queries = y->dim[2], keys = y->dim[3];
    int64_t           most             = holo_attr_int(call, "max_distance", 0);
    bool              is_bidirectional = holo_attr_int(call, "is_bidirectional", 0) == 1;
    if (buckets < 1 && holo_tensor_count(y) > 0) return holo_call_fail(call, HOLO_BAD_MODEL, "the table is empty");
    for (int64_t q = 0; q < queries && !holo_call_is_over(call); q++)
        for (int64_t k = 0; k < keys; k++) {
            int64_t bucket = bucket_of(k - q, buckets, most, is_bidirectional);
            for (int64_t h = 0; h < heads; h++)
                holo_put_f(y, (h * queries + q) * keys + k, holo_get_f(table, h * buckets + bucket));
        }
    return HOLO_OK;
}

// ---- GatedRelativePositionBias

enum { QUERY, QUERY_BIAS, POSITIONS, WEIGHT, BIAS, ECO, OFFSET };

static HoloStatus gated_infer(HoloCall *call)
{
    const HoloTensor *offset = holo_in(call, OFFSET), *query = call->in[QUERY], *weight = call->in[WEIGHT];
    HoloDim           heads  = holo_attr_int(call, "num_heads", 0), size, same, dim[4];
    const int         rank[] = {offset ? 2 : 3, 1, 4, 2, 1, 4};
    for (int i = QUERY; i <= ECO; i++) {
        HOLO_TRY(holo_expect_types(call, i, UINT64_C(1) << query->dtype));
        HOLO_TRY(holo_expect_rank(call, i, rank[i], rank[i]));
    }
    if (offset) {
        HOLO_TRY(holo_expect_types(call, OFFSET, HOLO_BIT(I32)));
        HOLO_TRY(holo_expect_rank(call, OFFSET, 2, 2));
    }
    HOLO_TRY(holo_split(call, "the query", query->dim[rank[QUERY] - 1], heads, &size));
    HOLO_TRY(
        holo_agree(call, "the query and its bias", query->dim[rank[QUERY] - 1], call->in[QUERY_BIAS]->dim[0], &same));
    HOLO_TRY(holo_agree(call, "rows of the weight and the size of a head", weight->dim[0], size, &same));
    HOLO_TRY(holo_agree(call, "columns of the weight and the bias", weight->dim[1], call->in[BIAS]->dim[0], &same));
    if (!holo_dim_is_symbolic(weight->dim[1]) && weight->dim[1] % 2)
        return holo_call_fail(call, HOLO_BAD_MODEL, "the weight has %lld columns, expected an even number",
                              (long long)weight->dim[1]);
    dim[0] = offset ? offset->dim[0] : query->dim[0];
    dim[1] = heads;
    dim[2] = offset ? offset->dim[1] : query->dim[1];
    dim[3] = dim[2];
    HOLO_TRY(holo_agree(call, "heads of the positions", call->in[POSITIONS]->dim[1], heads, &same));
    HOLO_TRY(holo_agree(call, "first of the positions and 1", call->in[POSITIONS]->dim[0], 1, &same));
    HOLO_TRY(holo_agree(call, "heads of eco_a", call->in[ECO]->dim[1], heads, &same));
    for (int i = 2; i < 4; i++)
        HOLO_TRY(
            holo_agree(call, "sizes of the positions and the length", call->in[POSITIONS]->dim[i], dim[i], &dim[i]));
    return holo_out_type(call, 0, query->dtype, 4, dim);
}

// The two gates of one head of a token: sums of halves of its product with the weight. `row` is that of the query; -1:
// padding.
static void gates_of(const HoloCall *call, int64_t row, int64_t head, double *out)
{
    const HoloTensor *query = call->in[QUERY], *shift = call->in[QUERY_BIAS], *weight = call->in[WEIGHT];
    int64_t           size = weight->dim[0], columns = weight->dim[1], width = shift->dim[0];
    out[0] = out[1] = 0;
    for (int64_t c = 0; c < columns; c++) {
        double sum = holo_get_f(call->in[BIAS], c);
        for (int64_t i = 0; i < size; i++) {
            double x = holo_get_f(shift, head * size + i);
            if (row >= 0) x += holo_get_f(query, row * width + head * size + i);
            sum += x * holo_get_f(weight, i * columns + c);
        }
        out[c >= columns / 2] += sum;
    }
    for (int i = 0; i < 2; i++) out[i] = holo_sigmoid(out[i]);
}

// The row of the packed query at which each token lies; -1: padding.
static HoloStatus rows_find(const HoloCall *call, int64_t tokens, int64_t *row)
{
    const HoloTensor *offset = holo_in(call, OFFSET);
    int64_t           packed = call->in[QUERY]->dim[0];
    if (packed > tokens) return holo_call_fail(call, HOLO_BAD_INPUT, "there are more tokens than places for them");
    for (int64_t i = 0; i < tokens; i++) row[i] = offset ? -1 : i;
    for (int64_t i = 0; offset && i < packed; i++) {
        int64_t at = ((const int32_t *)offset->data)[i];
        if (at < 0 || at >= tokens)
            return holo_call_fail(call, HOLO_BAD_INPUT, "token_offset has %lld, expected 0 to %lld", (long long)at,
                                  (long long)(tokens - 1));
        row[at] = i;
    }
    return HOLO_OK;
}

static HoloStatus gated_eval(HoloCall *call)
{
    HoloTensor *y     = call->out[0];
    int64_t     heads = y->dim[1], length = y->dim[2], tokens = y->dim[0] * length, *row;
    HOLO_TRY(holo_call_temp(call, (size_t)tokens, sizeof *row, (void **)&row));
    HOLO_TRY(rows_find(call, tokens, row));
    for (int64_t t = 0; t < tokens; t++)
        for (int64_t h = 0; h < heads; h++) {
            double  gate[2];
            int64_t from = (h * length + t % length) * length, to = (t / length * heads * length * length) + from;
            gates_of(call, row[t], h, gate);
            double by = gate[0] * (gate[1] * holo_get_f(call->in[ECO], h) - 1) + 2;
            for (int64_t k = 0; k < length; k++) holo_put_f(y, to + k, by * holo_get_f(call->in[POSITIONS], from + k));
        }
    return HOLO_OK;
}

#define ROW(id, least, most, how, what)                                                                   \
    {                                                                                                     \
        .name = id, .domain = "com.microsoft", .since = 1, .in_min = least, .in_max = most, .out_min = 1, \
        .out_max = 1, .types = HOLO_TYPES_FLOAT, .infer = how, .eval = what                               \
    }

const HoloOp holo_ops_position_bias[] = {
    ROW("RelativePositionBias", 3, 3, infer, eval),
    ROW("GatedRelativePositionBias", 6, 7, gated_infer, gated_eval),
    {0},
};
