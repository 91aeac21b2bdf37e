// q4_blob.c - MatMulFpQ4 of com.microsoft: a product with weights of 4 bits that are one blob of bytes.
//
// The blob has the columns of B one behind the other, each in blocks along K: a scale of f32, with type 1 a zero point
// of a byte, and then 4 bits for each weight. Sixteen bytes hold 32 weights, the first 16 in the low halves. Without a
// zero point it is 8.
#include "ops/contract.h"
#include "ops/spread.h"

#include <string.h>

enum { A, BLOB, SHAPE };
enum { SIZE_LIMIT = 1 << 28 }; // of K and N: products of them fit

typedef struct Blob {
    HoloContract   contract;
    const uint8_t *bytes;
    int64_t        k, n, length, head; // length: weights of a block; head: bytes before them
} Blob;

static int64_t column_size(const Blob *b)
{
    return ((b->k + b->length - 1) / b->length) * (b->head + b->length / 2);
}

static HoloStatus read_type(const HoloCall *call, Blob *b)
{
    int64_t type = holo_attr_int(call, "blk_quant_type", 1);
    b->length    = type == 2 ? 64 : 32;
    b->head      = type == 1 ? 5 : 4;
    if (type >= 0 && type <= 2) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "blk_quant_type is %lld, expected 0, 1 or 2", (long long)type);
}

static HoloStatus infer(HoloCall *call)
{
    HoloDim shape[2] = {HOLO_DIM_UNKNOWN, HOLO_DIM_UNKNOWN};
    Blob    b;
    HOLO_TRY(read_type(call, &b));
    HOLO_TRY(holo_expect_rank(call, A, 2, HOLO_MAX_RANK));
    HOLO_TRY(holo_expect_types(call, BLOB, HOLO_BIT(U8)));
    HOLO_TRY(holo_expect_types(call, SHAPE, HOLO_BIT(I64)));
    HOLO_TRY(holo_expect_rank(call, BLOB, 1, 1));
    int count = holo_in_ints(call, SHAPE, shape, 2);
    if (count >= 0 && count != 2) return holo_call_fail(call, HOLO_BAD_MODEL, "B_shape must have 2 numbers");
    if (count < 0) shape[0] = shape[1] = HOLO_DIM_UNKNOWN;
    for (int d = 0; d < 2; d++)
        if (!holo_dim_is_symbolic(shape[d]) && (shape[d] < 0 || shape[d] > SIZE_LIMIT))
            return holo_call_fail(call, HOLO_BAD_MODEL, "B_shape has a size of %lld", (long long)shape[d]);
    return holo_contract_infer(call, shape[0], shape[1]);
}

static double weight(const Blob *b, int64_t k, int64_t column)
{
    const uint8_t *block = b->bytes + column * column_size(b) + k / b->length * (b->head + b->length / 2);
    int64_t        at    = k % b->length;
    int            code  = block[b->head + at / 32 * 16 + at % 16] >> (at % 32 < 16 ? 0 : 4) & 15;
    float          scale;
    memcpy(&scale, block, sizeof scale);
    return (double)scale * (code - (b->head > (int64_t)sizeof scale ? block[sizeof scale] : 8));
}

static void read_b(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count, HoloCell *out)
{
    (void)batch;
    for (int64_t j = 0; j < count; j++) out[j].f = weight(c->arg, k, col + j);
}

static HoloStatus eval(HoloCall *call)
{
    Blob b = {.bytes = call->in[BLOB]->data};
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(read_type(call, &b));
    b.k          = call->in[A]->dim[call->in[A]->rank - 1];
    b.n          = call->out[0]->dim[call->out[0]->rank - 1];
    int64_t size = b.n * column_size(&b);
    if (holo_tensor_count(call->in[BLOB]) != size)
        return holo_call_fail(call, HOLO_BAD_INPUT, "%lld by %lld weights take %lld bytes, and there are %lld",
                              (long long)b.k, (long long)b.n, (long long)size,
                              (long long)holo_tensor_count(call->in[BLOB]));
    b.contract   = holo_contract_rows(call, b.k, b.n, &b);
    b.contract.b = read_b;
    holo_contract(call, &b.contract);
    return HOLO_OK;
}

const HoloOp holo_ops_q4_blob[] = {
    {.name    = "MatMulFpQ4",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 3,
     .in_max  = 3,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(F32),
     .infer   = infer,
     .eval    = eval},
    {0},
};
