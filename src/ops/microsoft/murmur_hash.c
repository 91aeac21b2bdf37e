// murmur_hash.c - MurmurHash3 of com.microsoft: 32 bits of hash of each element, a number's bytes or a string's.
#include "ops/op.h"

enum { FIRST = 0xcc9e2d51u, SECOND = 0x1b873593u };

static HoloStatus infer(HoloCall *call)
{
    return holo_out_shape_like(call, 0, holo_attr_int(call, "positive", 1) == 1 ? HOLO_U32 : HOLO_I32, call->in[0]);
}

static uint32_t turn(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

// At most four bytes, the first lowest, mixed.
static uint32_t mix(const uint8_t *bytes, size_t count)
{
    uint32_t word = 0;
    for (size_t i = 0; i < count; i++) word |= (uint32_t)bytes[i] << (8 * i);
    return turn(word * (uint32_t)FIRST, 15) * (uint32_t)SECOND;
}

static uint32_t hash(const uint8_t *bytes, size_t size, uint32_t seed)
{
    uint32_t h = seed;
    size_t   i = 0;
    for (; i + 4 <= size; i += 4) h = turn(h ^ mix(bytes + i, 4), 13) * 5 + 0xe6546b64u;
    if (i < size) h ^= mix(bytes + i, size - i);
    h ^= (uint32_t)size;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *x     = call->in[0];
    int64_t           count = holo_tensor_count(x);
    uint32_t          seed  = (uint32_t)holo_attr_int(call, "seed", 0);
    size_t            size  = holo_dtype_size((HoloDtype)x->dtype);
    for (int64_t i = 0; call->out[0] && i < count; i++) {
        uint32_t h;
        if (x->dtype == HOLO_STRING) {
            const HoloString *text = (const HoloString *)x->data + i;
            h                      = hash((const uint8_t *)text->data, text->size, seed);
        } else {
            uint8_t bytes[8];
            for (size_t k = 0; k < size; k++) bytes[k] = (uint8_t)(holo_get_bits(x, i) >> (8 * k));
            h = hash(bytes, size, seed);
        }
        holo_put_i(call->out[0], i, call->out[0]->dtype == HOLO_U32 ? (int64_t)h : (int64_t)(int32_t)h);
    }
    return HOLO_OK;
}

#define TYPES \
    (HOLO_BIT(U32) | HOLO_BIT(I32) | HOLO_BIT(U64) | HOLO_BIT(I64) | HOLO_BIT(F32) | HOLO_BIT(F64) | HOLO_BIT(STRING))

const HoloOp holo_ops_murmur_hash[] = {
    {.name    = "MurmurHash3",
     .domain  = "com.microsoft",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = TYPES,
     .infer   = infer,
     .eval    = eval},
    {0},
};
