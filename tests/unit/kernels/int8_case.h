// int8_case.h - tensors of bytes, of scales and of integers.
#ifndef HOLO_TESTS_INT8_CASE_H
#define HOLO_TESTS_INT8_CASE_H

#include "support/kernel_case.h"

static inline HoloTensor bytes(HoloDtype dtype, int rank, const int64_t *dim)
{
    HoloTensor t = {.dtype = (uint8_t)dtype, .rank = (int8_t)rank};
    for (int d = 0; d < rank; d++) t.dim[d] = dim[d];
    int64_t  count = holo_product(rank, dim);
    uint8_t *data  = malloc((size_t)count + !count);
    assert_non_null(data);
    for (int64_t i = 0; i < count; i++) data[i] = (uint8_t)(holo_random_unit(&random_state) * 256);
    t.data = data;
    return t;
}

static inline HoloTensor scales(int rank, int64_t n, float least)
{
    HoloTensor t = tensor(rank, &n);
    for (int64_t i = 0; i < holo_tensor_count(&t); i++)
        ((float *)t.data)[i] = least + fabsf(((float *)t.data)[i]) * least;
    return t;
}

static inline HoloTensor integers(int64_t n)
{
    HoloTensor t = {.dtype = HOLO_I32, .rank = 1, .dim = {n}, .data = malloc((size_t)n * sizeof(int32_t))};
    assert_non_null(t.data);
    for (int64_t i = 0; i < n; i++) ((int32_t *)t.data)[i] = (int32_t)((holo_random_unit(&random_state) - 0.5) * 1e6);
    return t;
}

#endif
