// bnb4.c - MatMulBnb4 of com.microsoft: a product with 4-bit weights, each of which is the index of one of sixteen
// values.
//
// The weights are [N][K], flattened and cut into blocks that have one scale each. Two make a byte, the first in its
// high half.
#include "ops/contract.h"
#include "ops/spread.h"

enum { A, B, SCALES };
enum { SIZE_LIMIT = 1 << 28 }; // of K and N: products of them fit

static const float FP4[] = {0,  5.208333333e-03f,  0.66666667f,  1,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
                            -0, -5.208333333e-03f, -0.66666667f, -1, -0.33333333f, -0.5f, -0.16666667f, -0.25f};
// Quantiles of the normal distribution.
static const float NF4[] = {-1,
                            -0.6961928009986877f,
                            -0.5250730514526367f,
                            -0.39491748809814453f,
                            -0.28444138169288635f,
                            -0.18477343022823334f,
                            -0.09105003625154495f,
                            0,
                            0.07958029955625534f,
                            0.16093020141124725f,
                            0.24611230194568634f,
                            0.33791524171829224f,
                            0.44070982933044434f,
                            0.5626170039176941f,
                            0.7229568362236023f,
                            1};

typedef struct Bnb4 {
    HoloContract      contract;
    const HoloTensor *scales;
    const uint8_t    *b;
    const float      *values;
    int64_t           k, n, block;
    bool              transposed; // the product is with the transposed weights, as usual
} Bnb4;

static HoloStatus read_attributes(const HoloCall *call, Bnb4 *v)
{
    int64_t kind  = holo_attr_int(call, "quant_type", -1);
    v->k          = holo_attr_int(call, "K", 0);
    v->n          = holo_attr_int(call, "N", 0);
    v->block      = holo_attr_int(call, "block_size", 0);
    v->values     = kind == 0 ? FP4 : NF4;
    v->transposed = holo_attr_int(call, "transB", 1) != 0;
    if (v->k < 1 || v->n < 1 || v->k > SIZE_LIMIT || v->n > SIZE_LIMIT)
        return holo_call_fail(call, HOLO_BAD_MODEL, "K and N are %lld and %lld", (long long)v->k, (long long)v->n);
    if (v->block < 1) return holo_call_fail(call, HOLO_BAD_MODEL, "block_size is %lld", (long long)v->block);
    if (kind != 0 && kind != 1)
        return holo_call_fail(call, HOLO_BAD_MODEL, "quant_type is %lld, expected 0 (FP4) or 1 (NF4)", (long long)kind);
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    Bnb4 v;
    HOLO_TRY(read_attributes(call, &v));
    HOLO_TRY(holo_expect_rank(call, A, 1, HOLO_MAX_RANK));
    HOLO_TRY(holo_expect_types(call, B, HOLO_BIT(U8)));
    HOLO_TRY(holo_expect_types(call, SCALES, HOLO_TYPES_FLOAT));
    return v.transposed ? holo_contract_infer(call, v.k, v.n) : holo_contract_infer(call, v.n, v.k);
}

static void read_b(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count, HoloCell *out)
{
    (void)batch;
    const Bnb4 *v = c->arg;
    for (int64_t j = 0; j < count; j++) {
        int64_t at   = v->transposed ? (col + j) * v->k + k : k * v->k + col + j;
        int     code = v->b[at / 2] >> (at % 2 ? 0 : 4) & 15;
        out[j].f     = (double)v->values[code] * holo_get_f(v->scales, at / v->block);
    }
}

static HoloStatus eval(HoloCall *call)
{
    Bnb4 v = {.b = call->in[B]->data, .scales = call->in[SCALES]};
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(read_attributes(call, &v));
    int64_t all = v.k * v.n, blocks = all / v.block + (all % v.block != 0);
    if (holo_tensor_count(call->in[B]) < (all + 1) / 2 || holo_tensor_count(v.scales) < blocks)
        return holo_call_fail(call, HOLO_BAD_INPUT, "%lld weights need %lld bytes and %lld scales", (long long)all,
                              (long long)((all + 1) / 2), (long long)blocks);
    v.contract   = v.transposed ? holo_contract_rows(call, v.k, v.n, &v) : holo_contract_rows(call, v.n, v.k, &v);
    v.contract.b = read_b;
    holo_contract(call, &v.contract);
    return HOLO_OK;
}

const HoloOp holo_ops_bnb4[] = {
    {.name    = "MatMulBnb4",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 3,
     .in_max  = 3,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_FLOAT,
     .infer   = infer,
     .eval    = eval},
    {0},
};
