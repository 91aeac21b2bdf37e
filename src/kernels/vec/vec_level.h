// vec_level.h - the properties of a level: its registers, how many of them kernels may fill, and hints for compilers.
#ifndef HOLO_KERNELS_VEC_VEC_LEVEL_H
#define HOLO_KERNELS_VEC_VEC_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// NATIVE: bytes of a register. ZIP_LOW, ZIP_HIGH: the lanes that interleave the halves of two registers; EVEN_ODD:
// the even ones of the first, then the odd ones of the second. GEMM_TILES: shapes of C held in registers by the
// matrix product, as rows x panels of 16 columns, one X for each; GEMM_ROWS, GEMM_PANELS is the shape for large
// products, and products of at most GEMM_WIDE_ROWS rows take GEMM_WIDE_PANELS panels at once. Tiles of more than
// GEMM_WHOLE rows compute the halves of their columns one after the other, where registers are few. DEPTHWISE_PIXELS:
// pixels whose sums a depthwise convolution holds, an even number. DIRECT_TILES: the same of a convolution of few
// channels, any number up to DIRECT_PIXELS. GROUPED_TILES: of one of groups of few channels: powers of two up to
// GROUPED_PIXELS.
// clang-format off
#if defined __AVX512F__
#include <immintrin.h>
enum { NATIVE = 64, GEMM_ROWS = 12, GEMM_PANELS = 2, GEMM_WIDE_ROWS = 6, GEMM_WIDE_PANELS = 4 };
enum { DEPTHWISE_PIXELS = 14, DIRECT_PIXELS = 8 };
#define DIRECT_TILES(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
enum { GROUPED_PIXELS = 8 };
#define GROUPED_TILES(X, Y) X(Y, 1) X(Y, 2) X(Y, 4) X(Y, 8)
#define GEMM_TILES(X)                                                                                                  \
    X(1, 1)                                                                                                            \
    X(2, 1)                                                                                                            \
    X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(7, 1) X(8, 1) X(9, 1) X(10, 1) X(11, 1) X(12, 1) X(1, 2) X(2, 2) X(3, 2) X(4, 2) \
        X(5, 2) X(6, 2) X(7, 2) X(8, 2) X(9, 2) X(10, 2) X(11, 2) X(12, 2) X(1, 4) X(2, 4) X(3, 4) X(4, 4) X(5, 4)     \
            X(6, 4)
#define GEMM_HALVES(X)                                                                                                 \
    X(1, 2) X(2, 2) X(3, 2) X(4, 2) X(5, 2) X(6, 2) X(7, 2) X(8, 2) X(9, 2) X(10, 2) X(11, 2) X(12, 2)
#define ZIP_LOW  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define ZIP_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define EVEN_ODD 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31
#elif defined __AVX2__
#include <immintrin.h>
enum { NATIVE = 32, GEMM_ROWS = 6, GEMM_PANELS = 1, GEMM_WIDE_ROWS = 1, GEMM_WIDE_PANELS = 4 };
enum { DEPTHWISE_PIXELS = 8, DIRECT_PIXELS = 6 };
#define DIRECT_TILES(X) X(1) X(2) X(3) X(4) X(5) X(6)
enum { GROUPED_PIXELS = 4 };
#define GROUPED_TILES(X, Y) X(Y, 1) X(Y, 2) X(Y, 4)
#define GEMM_TILES(X) X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(1, 4)
#define ZIP_LOW       0, 8, 1, 9, 2, 10, 3, 11
#define ZIP_HIGH      4, 12, 5, 13, 6, 14, 7, 15
#define EVEN_ODD      0, 2, 4, 6, 9, 11, 13, 15
#elif defined __aarch64__
#include <arm_neon.h>
enum { NATIVE = 16, GEMM_ROWS = 6, GEMM_PANELS = 1, GEMM_WIDE_ROWS = 1, GEMM_WIDE_PANELS = 4 };
enum { DEPTHWISE_PIXELS = 14, DIRECT_PIXELS = 4 };
#define DIRECT_TILES(X) X(1) X(2) X(3) X(4)
enum { GROUPED_PIXELS = 4 };
#define GROUPED_TILES(X, Y) X(Y, 1) X(Y, 2) X(Y, 4)
#define GEMM_TILES(X) X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(5, 1) X(6, 1) X(1, 4)
#define ZIP_LOW       0, 4, 1, 5
#define ZIP_HIGH      2, 6, 3, 7
#define EVEN_ODD      0, 2, 5, 7
#elif defined __wasm_simd128__
#include <wasm_simd128.h>
enum { NATIVE = 16, GEMM_ROWS = 4, GEMM_PANELS = 1, GEMM_WIDE_ROWS = 1, GEMM_WIDE_PANELS = 2 };
#define GEMM_WHOLE 2
enum { DEPTHWISE_PIXELS = 6, DIRECT_PIXELS = 2 };
#define DIRECT_TILES(X) X(1) X(2)
enum { GROUPED_PIXELS = 2 };
#define GROUPED_TILES(X, Y) X(Y, 1) X(Y, 2)
#define GEMM_TILES(X) X(1, 1) X(2, 1) X(3, 1) X(4, 1) X(1, 2)
#define ZIP_LOW       0, 4, 1, 5
#define ZIP_HIGH      2, 6, 3, 7
#define EVEN_ODD      0, 2, 5, 7
#else // sse2, and any compiler with vector types
#if defined __SSE2__
#include <emmintrin.h>
#endif
// clang-format on
enum { NATIVE = 16, GEMM_ROWS = 3, GEMM_PANELS = 1, GEMM_WIDE_ROWS = 1, GEMM_WIDE_PANELS = 2 };
enum { DEPTHWISE_PIXELS = 6, DIRECT_PIXELS = 2 };
#define DIRECT_TILES(X)     X(1) X(2)
enum { GROUPED_PIXELS = 2 };
#define GROUPED_TILES(X, Y) X(Y, 1) X(Y, 2)
#define GEMM_TILES(X)       X(1, 1) X(2, 1) X(3, 1) X(1, 2)
#define ZIP_LOW             0, 4, 1, 5
#define ZIP_HIGH            2, 6, 3, 7
#define EVEN_ODD            0, 2, 5, 7
#endif
#ifndef GEMM_WHOLE
#define GEMM_WHOLE GEMM_ROWS
#endif
// Shapes whose last panel may have only half of its columns.
#ifndef GEMM_HALVES
#define GEMM_HALVES(X)
#endif

enum { LANES = 16, NATIVE_LANES = NATIVE / 4, REGISTERS = LANES / NATIVE_LANES };

typedef float    f32n __attribute__((vector_size(NATIVE)));
typedef int32_t  i32n __attribute__((vector_size(NATIVE)));
typedef uint32_t u32n __attribute__((vector_size(NATIVE)));
typedef float    f32u __attribute__((vector_size(NATIVE), aligned(4), may_alias)); // as it lies in memory
typedef struct {
    f32n r[REGISTERS];
} f32v;

#define INL static inline __attribute__((always_inline))

// For code that is slow anyway or rarely run, and would otherwise be copied into many functions.
#define NOINLINE __attribute__((noinline, unused))

#if defined __clang__
#define UNROLL      _Pragma("clang loop unroll(full)")
#define UNROLL_MANY UNROLL
#else
#define UNROLL      _Pragma("GCC unroll 16")
#define UNROLL_MANY _Pragma("GCC unroll 64")
#endif
#define EACH(i) UNROLL for (int i = 0; i < REGISTERS; i++)

// No load is moved across it. Compilers for ARM tend to load early, and would spill sums that fill the registers.
#if defined __aarch64__
#define HOLD __asm__ volatile("" ::: "memory")
#else
#define HOLD ((void)0)
#endif

// Compilers compute in advance what is the same in every iteration, and then have no registers for it, or load a vector
// again for each use. These hide the number x, or the vector, from the compiler.
#define FORGET(x) __asm__("" : "+r"(x))
#if defined __x86_64__
#define FORGET_VECTOR(x) __asm__("" : "+v"(x))
#elif defined __aarch64__
#define FORGET_VECTOR(x) __asm__("" : "+w"(x))
#else
#define FORGET_VECTOR(x) ((void)0)
#endif

#endif
