// hologram_executor.h - a part of hologram.h, which includes it: computing without a model.
//
// An executor owns buffers, runs portable programs on them, and does single operations.
#ifndef HOLOGRAM_EXECUTOR_H
#define HOLOGRAM_EXECUTOR_H

#include "hologram.h"

#ifdef __cplusplus
extern "C" {
#endif

// An executor is a place to compute without a model. It owns buffers and programs and belongs to one thread at a time.
// Destroy its buffers and programs first.
typedef struct HoloExecutor HoloExecutor;
typedef struct HoloBuffer   HoloBuffer;
typedef struct HoloPortable HoloPortable;

// `backend` is the name of a device, such as "cpu", or "auto" for the best there is. `pool` must outlive the executor;
// NULL: the calling thread alone.
HOLO_API HOLO_MUST HoloStatus holo_executor_create(const char *backend, HoloPool *pool, HoloExecutor **out_executor,
                                                   HoloError *error);
// The same in a context (NULL: none).
HOLO_API HOLO_MUST HoloStatus holo_executor_create_in(HoloContext *context, const char *backend, HoloPool *pool,
                                                      HoloExecutor **out_executor, HoloError *error);
HOLO_API void                 holo_executor_destroy(HoloExecutor *executor);
HOLO_API const char          *holo_executor_backend(const HoloExecutor *executor); // "cpu" ...

// Small buffers come from a pool of 96 classes of 12,288 bytes: they take one class, or up to 48 neighboring ones.
// Larger buffers, and all buffers when no classes are left, have memory of their own and class 255. Memory is zeroed
// and 64-byte aligned.
enum { HOLO_CLASS_BYTES = 12288, HOLO_CLASS_FREE = 255 };

typedef struct HoloBufferInfo {
    HoloDtype dtype;
    int64_t   count; // elements
    size_t    bytes;
    uint64_t  id;          // unique to this buffer, from 1 on
    int       class_id;    // its first class, 0 to 95; HOLO_CLASS_FREE: none
    int       class_count; // 0: none
    bool      is_boundary;
} HoloBufferInfo;

HOLO_API HOLO_MUST HoloStatus holo_buffer_create(HoloExecutor *executor, HoloDtype dtype, int64_t count,
                                                 HoloBuffer **out_buffer, HoloError *error);
// Takes one class of your choice, which must be free, completely: `pages` (1 to 48) of `bytes` (1 to 256) each. Page p
// begins at byte 256 * p of the class, so there are gaps between pages of fewer bytes. Elements are counted over all
// 256 bytes of each page.
HOLO_API HOLO_MUST HoloStatus holo_buffer_create_boundary(HoloExecutor *executor, HoloDtype dtype, int class_id,
                                                          int pages, int bytes, HoloBuffer **out_buffer,
                                                          HoloError *error);
// Makes a buffer inside another one, a linear pool of type u8: `count` elements from byte `byte` on, which must be a
// multiple of their size. Parts may overlap. Destroy them before the whole.
HOLO_API HOLO_MUST HoloStatus holo_buffer_create_part(HoloBuffer *whole, size_t byte, HoloDtype dtype, int64_t count,
                                                      HoloBuffer **out_buffer, HoloError *error);
HOLO_API void                 holo_buffer_destroy(HoloBuffer *buffer);
HOLO_API void                 holo_buffer_info(const HoloBuffer *buffer, HoloBufferInfo *out_info);
// The memory itself, to read and write between launches without a copy. NULL: the host cannot touch the device's
// memory.
HOLO_API void *holo_buffer_map(HoloBuffer *buffer);
// Copies elements first <= i < first + count, of the buffer's type, from your memory or to it.
HOLO_API HOLO_MUST HoloStatus holo_buffer_write(HoloBuffer *buffer, int64_t first, int64_t count, const void *data,
                                                HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_buffer_read(const HoloBuffer *buffer, int64_t first, int64_t count, void *out_data,
                                               HoloError *error);
HOLO_API int                  holo_executor_free_classes(const HoloExecutor *executor); // 0 to 96

// Makes a portable program (docs/isa.md) from its text or its bytes. It is checked completely before anything runs.
HOLO_API HOLO_MUST HoloStatus holo_portable_create(HoloExecutor *executor, const void *text_or_bytes, size_t size,
                                                   HoloPortable **out_program, HoloError *error);
// Finds a program by its name: in an archive of kernels (`hologram compile kernels/ -o FILE`) or, if `model` is NULL,
// in the standard library, such as "vector_add_f32"; `hologram kernel list kernels/stdlib` lists it. HOLO_BAD_ARGUMENT:
// there is none.
HOLO_API HOLO_MUST HoloStatus holo_portable_find(HoloExecutor *executor, const HoloModel *model, const char *name,
                                                 HoloPortable **out_program, HoloError *error);
HOLO_API void                 holo_portable_destroy(HoloPortable *program);

typedef struct HoloPortableParam { // lives as long as the program
    const char *name;
    HoloDtype   dtype; // of its elements
    bool        is_array, is_read, is_written;
} HoloPortableParam;
HOLO_API const char *holo_portable_name(const HoloPortable *program);
HOLO_API int         holo_portable_param_count(const HoloPortable *program);
HOLO_API bool        holo_portable_param(const HoloPortable *program, int index,
                                         HoloPortableParam *out_param); // false: there is none

typedef struct HoloArgument {
    HoloBuffer *buffer;  // for an array
    int64_t     integer; // for a scalar of integers or bool
    double      real;    // for a scalar of floats
} HoloArgument;

typedef struct HoloLaunch {
    uint32_t grid[3], block[3]; // blocks, and lanes of each block; 0 counts as 1
    int64_t  turns;             // turns of loops that a lane may take in all; 0: any number
} HoloLaunch;

// Runs the program once for each lane, with one argument for each parameter, in order. An index out of range, an
// integer division by zero, or too many turns of loops end it with HOLO_BAD_INPUT. What was written before stays.
HOLO_API HOLO_MUST HoloStatus holo_executor_launch(HoloExecutor *executor, HoloPortable *program,
                                                   const HoloLaunch *launch, const HoloArgument *args, int arg_count,
                                                   HoloError *error);

// The same with as many lanes as the program asks for. A kernel's source says how many; for any other program it is the
// first whole number among the arguments. `turns` is as in HoloLaunch.
HOLO_API HOLO_MUST HoloStatus holo_executor_run(HoloExecutor *executor, HoloPortable *program, const HoloArgument *args,
                                                int arg_count, int64_t turns, HoloError *error);

// Single operations on the first n elements of buffers of one type. The output may be one of the inputs.
// clang-format off
#define HOLO_OPERATION_MAP(X)                                                                                  \
    X(ADD, 0, 2) X(SUB, 1, 2) X(MUL, 2, 2) X(DIV, 3, 2) X(MIN, 4, 2) X(MAX, 5, 2) X(POW, 6, 2)                 \
    X(ABS, 20, 1) X(NEG, 21, 1) X(SQRT, 22, 1) X(RSQRT, 23, 1) X(EXP, 24, 1) X(LOG, 25, 1) X(SIN, 26, 1)       \
    X(COS, 27, 1) X(RELU, 28, 1) X(SIGMOID, 29, 1) X(TANH, 30, 1) X(GELU, 31, 1)
// clang-format on

typedef enum HoloOperation {
#define X(id, value, operands) HOLO_OPERATION_##id = value,
    HOLO_OPERATION_MAP(X)
#undef X
} HoloOperation;

typedef enum HoloReduction {
    HOLO_REDUCTION_SUM  = 0,
    HOLO_REDUCTION_MEAN = 1,
    HOLO_REDUCTION_MIN  = 2,
    HOLO_REDUCTION_MAX  = 3,
} HoloReduction;

typedef enum HoloLoss {
    HOLO_LOSS_MSE                  = 0, // mean of (a - b)^2
    HOLO_LOSS_CROSS_ENTROPY        = 1, // -sum of b * log(a)
    HOLO_LOSS_BINARY_CROSS_ENTROPY = 2, // -mean of b * log(a) + (1 - b) * log(1 - a)
} HoloLoss;

// out[i] = op(a[i]), for operations with one operand. GELU is the form with tanh.
HOLO_API HOLO_MUST HoloStatus holo_executor_map(HoloExecutor *executor, HoloOperation op, const HoloBuffer *a,
                                                HoloBuffer *out, int64_t n, HoloError *error);
// out[i] = op(a[i], b[i / inner % period]). Period 0 means n: one b for each a. For a vector along rows, period is the
// length of a row and inner is 1. For one number for each channel of [n][c][h][w], period is c and inner is h * w. For
// one number for all, period is 1.
HOLO_API HOLO_MUST HoloStatus holo_executor_combine(HoloExecutor *executor, HoloOperation op, const HoloBuffer *a,
                                                    const HoloBuffer *b, int64_t inner, int64_t period, HoloBuffer *out,
                                                    int64_t n, HoloError *error);
// out[i] = op(a[i], x).
HOLO_API HOLO_MUST HoloStatus holo_executor_combine_scalar(HoloExecutor *executor, HoloOperation op,
                                                           const HoloBuffer *a, double x, HoloBuffer *out, int64_t n,
                                                           HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_executor_clip(HoloExecutor *executor, const HoloBuffer *a, double low, double high,
                                                 HoloBuffer *out, int64_t n, HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_executor_copy(HoloExecutor *executor, const HoloBuffer *a, HoloBuffer *out,
                                                 int64_t n, HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_executor_fill(HoloExecutor *executor, double x, HoloBuffer *out, int64_t n,
                                                 HoloError *error);
// For f32, the kernels that models run compute it. For f64, f16, bf16, and for sums, minima, maxima and products of i32
// and i64, the standard library does. The result of a reduction or a loss is out[0]. n is at least 1.
HOLO_API HOLO_MUST HoloStatus holo_executor_reduce(HoloExecutor *executor, HoloReduction op, const HoloBuffer *a,
                                                   HoloBuffer *out, int64_t n, HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_executor_loss(HoloExecutor *executor, HoloLoss op, const HoloBuffer *a,
                                                 const HoloBuffer *b, HoloBuffer *out, int64_t n, HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_executor_softmax(HoloExecutor *executor, const HoloBuffer *a, HoloBuffer *out,
                                                    int64_t rows, int64_t columns, HoloError *error);
// out[m][n] = a[m][k] b[k][n]; out must not be a or b.
HOLO_API HOLO_MUST HoloStatus holo_executor_gemm(HoloExecutor *executor, const HoloBuffer *a, const HoloBuffer *b,
                                                 HoloBuffer *out, int64_t m, int64_t n, int64_t k, HoloError *error);
// out[m] = a[m][n] x[n]
HOLO_API HOLO_MUST HoloStatus holo_executor_matvec(HoloExecutor *executor, const HoloBuffer *a, const HoloBuffer *x,
                                                   HoloBuffer *out, int64_t m, int64_t n, HoloError *error);

#ifdef __cplusplus
}
#endif
#endif
