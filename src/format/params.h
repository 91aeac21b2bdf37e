// params.h - parameter blocks of the fast kernels, as they lie in an archive: little-endian, 8-byte
// aligned. A block starts with its own size; fields are only ever appended, and a reader takes those
// that an older, shorter block does not have as 0.
#ifndef HOLO_FORMAT_PARAMS_H
#define HOLO_FORMAT_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum HoloKernelId {
    HOLO_KERNEL_EVAL = 0,
#define HOLO_KERNEL(id, name) HOLO_KERNEL_##name = id,
#include "format/kernel_ids.def"
#undef HOLO_KERNEL
} HoloKernelId;

// May the kernel write its output over an input of the same size?
static inline int holo_kernel_is_in_place(uint32_t kernel)
{
    return kernel == HOLO_KERNEL_softmax_f32;
}

enum { HOLO_PARAMS_MAX = 128 }; // bytes that any block fits in

// matmul_f32: out = alpha * A B + beta * C for MatMul, Gemm and FusedMatMul. Inputs A, B and, where
// there is one, C; shapes are those of the operator.
typedef struct HoloMatmulParams {
    uint32_t size;
    uint32_t flags; // HOLO_MATMUL_*
    float    alpha, beta;
} HoloMatmulParams;

enum {
    HOLO_MATMUL_TRANS_A  = 1, // the last two dimensions of A change places
    HOLO_MATMUL_TRANS_B  = 2,
    HOLO_MATMUL_PACKED_B = 4, // B is stored as panels [stack][ceil(n / 16)][k][16]
};

// Bytes of `count` matrices [k][n] as panels [count][ceil(n / 16)][k][16] of f32; -1: too many.
static inline int64_t holo_panels_size(int64_t count, int64_t k, int64_t n)
{
    int64_t columns = n / 16 + (n % 16 != 0), size;
    bool    over    = __builtin_mul_overflow(count, k, &size);
    over |= __builtin_mul_overflow(size, columns, &size);
    over |= __builtin_mul_overflow(size, 64, &size);
    return over ? -1 : size;
}

// conv_f32: Conv with inputs X, W and, where there is one, B. Paddings are found from the sizes where
// auto_pad says so, as the operator does it.
typedef struct HoloConvParams {
    uint32_t size;
    uint32_t flags; // none yet
} HoloConvParams;

// softmax_f32: Softmax over the last `axes` dimensions taken together (more than one before opset 13).
typedef struct HoloSoftmaxParams {
    uint32_t size;
    uint32_t axes;
} HoloSoftmaxParams;

#endif
