// random_bits.c - RandomBits: numbers that follow from a state, and the next state, as RngBitGenerator of StableHLO.
//
// The state is u64[2] or u64[3]: a key, and a counter whose low half grows by one for each block. Both ways, Philox 4x32
// with 10 rounds and Threefry 2x32 with 20, are of "Parallel random numbers: as easy as 1, 2, 3" (Salmon et al., 2011).
#include "ops/op.h"

#include <string.h>

enum { WORDS_MAX = 4 };

// Blocks of 4 numbers.
static void philox(const uint32_t *key, uint32_t *c)
{
    uint32_t a = key[0], b = key[1];
    for (int i = 0; i < 10; i++, a += 0x9e3779b9, b += 0xbb67ae85) {
        uint64_t p = (uint64_t)0xd2511f53 * c[0], q = (uint64_t)0xcd9e8d57 * c[2];
        uint32_t first = (uint32_t)(q >> 32) ^ c[1] ^ a, third = (uint32_t)(p >> 32) ^ c[3] ^ b;
        c[0] = first;
        c[1] = (uint32_t)q;
        c[2] = third;
        c[3] = (uint32_t)p;
    }
}

// Blocks of 2 numbers.
static void threefry(const uint32_t *key, uint32_t *c)
{
    static const int turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    uint32_t         k[3]        = {key[0], key[1], key[0] ^ key[1] ^ 0x1bd11bda};
    c[0] += k[0];
    c[1] += k[1];
    for (uint32_t i = 0; i < 5; i++) {
        for (int t = 0; t < 4; t++) {
            int by = turns[i % 2][t];
            c[0] += c[1];
            c[1] = (c[1] << by | c[1] >> (32 - by)) ^ c[0];
        }
        c[0] += k[(i + 1) % 3];
        c[1] += k[(i + 2) % 3] + i + 1;
    }
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *state = call->in[0];
    int64_t           shape[HOLO_MAX_RANK], dtype = holo_attr_int(call, "dtype", HOLO_U32);
    int               rank = holo_attr_ints(call, "shape", shape, HOLO_MAX_RANK);
    HOLO_TRY(holo_expect_rank(call, 0, 1, 1));
    if (!holo_dim_is_symbolic(state->dim[0]) && state->dim[0] != 2 &&
        (state->dim[0] != 3 || holo_attr_int(call, "threefry", 0)))
        return holo_call_fail(call, HOLO_BAD_MODEL, "its state has another size than its way to count needs");
    if (dtype != HOLO_U32 && dtype != HOLO_I32 && dtype != HOLO_U64 && dtype != HOLO_I64)
        return holo_call_fail(call, HOLO_UNSUPPORTED, "it gives integers of 32 or 64 bits alone");
    if (rank < 0 || rank > HOLO_MAX_RANK) return holo_call_fail(call, HOLO_BAD_MODEL, "its shape is wrong");
    for (int d = 0; d < rank; d++)
        if (shape[d] < 0) return holo_call_fail(call, HOLO_BAD_MODEL, "its shape is wrong");
    HOLO_TRY(holo_out_shape_like(call, 0, HOLO_U64, state));
    return holo_out_type(call, 1, (HoloDtype)dtype, rank, shape);
}

static HoloStatus eval(HoloCall *call)
{
    bool              is_threefry = holo_attr_int(call, "threefry", 0);
    const HoloTensor *in          = call->in[0];
    HoloTensor       *next = holo_out(call, 0), *y = holo_out(call, 1);
    uint32_t          state[6];
    size_t            size = (size_t)in->dim[0] * sizeof(uint64_t);
    memcpy(state, in->data, size);
    int64_t count = y ? holo_tensor_count(y) * (int64_t)(holo_dtype_size((HoloDtype)y->dtype) / sizeof(uint32_t)) : 0;
    int     high = in->dim[0] == 3 ? 4 : 0, block = is_threefry ? 2 : WORDS_MAX;
    for (int64_t i = 0; i < count; i += block) {
        uint32_t c[WORDS_MAX] = {state[2], state[3], state[high], state[high + 1]};
        if (is_threefry)
            threefry(state, c);
        else
            philox(state, c);
        memcpy((uint32_t *)y->data + i, c, sizeof *c * (size_t)(count - i < block ? count - i : block));
        if (!++state[2]) ++state[3];
    }
    if (next) memcpy(next->data, state, size);
    return HOLO_OK;
}

const HoloOp holo_ops_random_bits[] = {
    {.name    = "RandomBits",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 2,
     .types   = HOLO_BIT(U64),
     .infer   = infer,
     .eval    = eval},
    {0},
};
