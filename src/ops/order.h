// order.h - turns numbers into keys with the same order, and sorts indices.
#ifndef HOLO_OPS_ORDER_H
#define HOLO_OPS_ORDER_H

#include "ops/tensor.h"

#include <string.h>

// out[k] = the key of t[start + k * stride]. Keys, as unsigned integers, have the same order as the numbers. -0 equals
// 0, and NaN is above all numbers. Any dtype but strings and complex numbers.
#define HOLO_KEY_NAN UINT64_MAX              // of a float; no other float has this key
static inline uint64_t holo_key_f32(float x) // without a branch
{
    uint32_t bits;
    x += 0.0f; // -0 becomes 0
    memcpy(&bits, &x, sizeof bits);
    bits ^= bits >> 31 ? UINT32_MAX : UINT32_C(1) << 31;
    return x != x ? HOLO_KEY_NAN : bits;
}
void holo_read_keys(const HoloTensor *t, int64_t start, int64_t stride, int64_t count, uint64_t *out);

// Sorts indices by their keys, byte by byte; equal ones keep their order. `scratch` has room for `count` indices.
void holo_sort_keys(int64_t *index, int64_t *scratch, int64_t count, const uint64_t *key);

typedef int HoloCompare(const void *context, int64_t a, int64_t b); // < 0, 0, > 0

// Sorts indices by merging; equal ones keep their order. `scratch` has room for `count` indices.
void holo_sort(int64_t *index, int64_t *scratch, int64_t count, HoloCompare *compare, const void *context);

#endif
