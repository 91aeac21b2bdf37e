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
    return kernel == HOLO_KERNEL_softmax_f32 || kernel == HOLO_KERNEL_map_f32 || kernel == HOLO_KERNEL_norm_f32;
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

// map_f32: a program of functions applied element by element to inputs that broadcast to the output.
// An operand is an input, the result of an earlier step, or the step's own number. The last result is
// the output.
enum { HOLO_MAP_INPUTS = 8, HOLO_MAP_STEPS = 14, HOLO_MAP_NUMBER = 255 };

typedef enum HoloMapOp {
#define HOLO_MAP_OP(id, name, operands) HOLO_MAP_##name = id,
#include "format/map_ops.def"
#undef HOLO_MAP_OP
    HOLO_MAP_OPS, // how many there are
} HoloMapOp;

typedef struct HoloMapStep {
    uint8_t op;
    uint8_t a, b; // input i: i; result of step i: HOLO_MAP_INPUTS + i; HOLO_MAP_NUMBER
    uint8_t zero;
    float   number;
} HoloMapStep;

typedef struct HoloMapParams {
    uint32_t    size;
    uint32_t    count; // of steps
    HoloMapStep step[HOLO_MAP_STEPS];
} HoloMapParams;

// norm_f32: LayerNormalization and its like over the last `axes` dimensions or, where `axes` is 0,
// normalisation of groups of channels. Inputs x, scale and, where there is one, bias.
typedef struct HoloNormParams {
    uint32_t size;
    uint32_t flags; // HOLO_NORM_*
    uint32_t axes;
    uint32_t groups; // of channels; 0: each is one
    float    epsilon;
    uint32_t zero;
} HoloNormParams;

enum { HOLO_NORM_CENTRED = 1 };

// reduce_f32: the last `axes` dimensions become one number.
typedef struct HoloReduceParams {
    uint32_t size;
    uint32_t op; // HOLO_REDUCE_*
    uint32_t axes;
    uint32_t zero;
} HoloReduceParams;

enum { HOLO_REDUCE_SUM = 0, HOLO_REDUCE_MEAN = 1, HOLO_REDUCE_MAX = 2, HOLO_REDUCE_MIN = 3, HOLO_REDUCE_OPS = 4 };

// pool_f32: MaxPool without indices and AveragePool.
typedef struct HoloPoolParams {
    uint32_t size;
    uint32_t flags; // HOLO_POOL_*
} HoloPoolParams;

enum {
    HOLO_POOL_MAX        = 1,
    HOLO_POOL_COUNT_PADS = 2,       // the mean is over padding, too
    HOLO_POOL_TAPS       = 1 << 14, // places of a window at most: larger ones, mostly padding, are left to eval
};

// lstm_f32: LSTM with the usual activations; no lengths, peepholes, clip or coupled gates.
typedef struct HoloLstmParams {
    uint32_t size;
    uint32_t flags; // HOLO_LSTM_*
} HoloLstmParams;

enum { HOLO_LSTM_PACKED_R = 1 }; // R, each matrix transposed, is stored as panels

// transpose_f32: Transpose; the permutation is the operator's.
typedef struct HoloTransposeParams {
    uint32_t size;
    uint32_t flags; // none yet
} HoloTransposeParams;

// matmul_i8: MatMulInteger with B of two dimensions; zero points are the operator's inputs.
typedef struct HoloMatmulI8Params {
    uint32_t size;
    uint32_t flags; // none yet
} HoloMatmulI8Params;

#endif
