// hash_projection.c - HashProjection: bits that rows of x have by hashing, as LSH_PROJECTION of TensorFlow Lite.
//
// A bit belongs to a seed. Each row is hashed with the seed before it; the bit says whether the weighted sum of the hashes,
// as signed numbers, is above 0. With dense=1 the bits are the output, [seeds' rows * columns]; else the bits of a row of
// seeds are one number, and row k has k * 2^columns added.
#include "ops/hologram/fingerprint.h"
#include "ops/op.h"

#include <string.h>

enum { SEEDS, X, WEIGHT, BITS_MAX = 32 };

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *seeds = call->in[SEEDS], *x = call->in[X], *weight = holo_in(call, WEIGHT);
    HOLO_TRY(holo_expect_types(call, SEEDS, HOLO_BIT(F32)));
    HOLO_TRY(holo_expect_rank(call, SEEDS, 2, 2));
    HOLO_TRY(holo_expect_rank(call, X, 1, HOLO_MAX_RANK));
    if (x->dtype == HOLO_STRING) return holo_call_fail(call, HOLO_UNSUPPORTED, "texts are not supported");
    if (weight) {
        HOLO_TRY(holo_expect_types(call, WEIGHT, HOLO_BIT(F32)));
        HOLO_TRY(holo_expect_shape(call, WEIGHT, 1, x->dim));
    }
    if (!holo_dim_is_symbolic(seeds->dim[1]) && seeds->dim[1] > BITS_MAX)
        return holo_call_fail(call, HOLO_UNSUPPORTED, "a number has at most %d bits", BITS_MAX);
    HoloDim size =
        holo_attr_int(call, "dense", 0) ? holo_dim_mul(call->dims, seeds->dim[0], seeds->dim[1]) : seeds->dim[0];
    return holo_out_type(call, 0, HOLO_I32, 1, &size);
}

// Whether the sum of the rows' hashes is above 0. `key` has room for the seed and a row.
static bool bit_of(const HoloCall *call, float seed, uint8_t *key, size_t row)
{
    const HoloTensor *x = call->in[X], *weight = holo_in(call, WEIGHT);
    const uint8_t    *at    = x->data;
    double            score = 0;
    memcpy(key, &seed, sizeof seed);
    for (int64_t i = 0; i < x->dim[0]; i++, at += row) {
        if (row) memcpy(key + sizeof seed, at, row);
        double hash = (double)(int64_t)holo_fingerprint(key, sizeof seed + row);
        score += weight ? (double)((const float *)weight->data)[i] * hash : hash;
    }
    return score > 0;
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *seeds = call->in[SEEDS], *x = call->in[X];
    HoloTensor       *y    = call->out[0];
    int64_t           rows = seeds->dim[0], bits = seeds->dim[1];
    bool              dense = holo_attr_int(call, "dense", 0);
    size_t            row   = (size_t)holo_product(x->rank - 1, x->dim + 1) * holo_dtype_size((HoloDtype)x->dtype);
    void             *key;
    HOLO_TRY(holo_call_temp(call, 1, row + sizeof(float), &key));
    for (int64_t i = 0; i < rows; i++) {
        uint32_t number = 0;
        for (int64_t k = 0; k < bits; k++) {
            bool bit = bit_of(call, ((const float *)seeds->data)[i * bits + k], key, row);
            number   = number << 1 | bit;
            if (dense) holo_put_i(y, i * bits + k, bit);
        }
        number += bits < BITS_MAX ? (uint32_t)i << bits : 0;
        if (!dense) holo_put_i(y, i, (int32_t)number);
    }
    return HOLO_OK;
}

const HoloOp holo_ops_hash_projection[] = {
    {.name    = "HashProjection",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 2,
     .in_max  = 3,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(F32),
     .infer   = infer,
     .eval    = eval},
    {0},
};
