// gemm.c - how close the f32 matrix product comes to what one core can do, at every level and class
// that this machine runs: best of many, B packed beforehand, one thread.
//
//     gemm [MxNxK ...]
//
// The share is of what the core's multiply-add units can do at most, measured by a loop that never
// leaves the registers. Both are wall time, best of many: other work on the machine can only make that
// longer, while a thread's own clock may run short over a small product and show more than the peak.
#include "base/base.h"
#include "base/files.h"
#include "kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Shape {
    int64_t m, n, k;
} Shape;

static const Shape shapes[] = {
    {1024, 1024, 1024}, {128, 768, 768}, {128, 3072, 768}, {3136, 64, 576}, {49, 2048, 512},
    {64, 3136, 576},    {13, 513, 100},  {1, 1024, 1024},  {1, 50257, 768},
};

static void *take(size_t size)
{
    void *memory = aligned_alloc(64, holo_align(size, 64));
    if (!memory) exit(1);
    return memory;
}

static float *random_floats(int64_t count)
{
    HoloRandom random = {1};
    float     *x      = take((size_t)count * sizeof *x);
    for (int64_t i = 0; i < count; i++) x[i] = (float)(holo_random_unit(&random) - 0.5);
    return x;
}

// Best rate of `seconds` of trying, in GFLOP/s. Columns go in strips, as a caller cuts them.
static double measure(const HoloKernels *kernels, Shape s, double seconds)
{
    enum { STRIP = 256 };
    int64_t panels = (s.n + HOLO_PANEL - 1) / HOLO_PANEL;
    float  *a = random_floats(s.m * s.k), *b = random_floats(s.k * s.n);
    float  *packed  = take((size_t)(panels * s.k * HOLO_PANEL) * sizeof *packed);
    float  *c       = take((size_t)(s.m * s.n) * sizeof *c);
    float  *scratch = take(HOLO_GEMM_SCRATCH * sizeof *scratch);
    kernels->pack_f32(s.k, s.n, b, s.n, 1, packed);
    double best = 1e9, start = holo_time_now(), last = start;
    do {
        for (int64_t j = 0; j < s.n; j += STRIP)
            kernels->gemm_f32(&(HoloGemm){.m        = s.m,
                                          .n        = s.n - j < STRIP ? s.n - j : STRIP,
                                          .k        = s.k,
                                          .a        = a,
                                          .a_row    = s.k,
                                          .a_column = 1,
                                          .b        = packed + j * s.k,
                                          .b_panel  = s.k * HOLO_PANEL,
                                          .b_step   = HOLO_PANEL,
                                          .c        = c + j,
                                          .c_row    = s.n,
                                          .alpha    = 1,
                                          .scratch  = scratch});
        double at = holo_time_now();
        if (at - last < best) best = at - last;
        last = at;
    } while (last - start < seconds);
    free(a), free(b), free(packed), free(c), free(scratch);
    return 2e-9 * (double)(s.m * s.n * s.k) / best;
}

// ---- the limit: chains of multiply-adds in registers, enough of them to hide the latency

enum { ROUNDS = 1 << 20 };

#define CHAINS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define START(i)  x##i = set((float)i),
#define STEP(i)   x##i = mad(x##i, scale, shift);
#define HIDE(i)   __asm__ volatile("" : "+" REGISTER(x##i)); // its value is no longer known: no chain is folded away

#define PEAK(name, Vector, attributes)                                       \
    attributes static double name(void)                                      \
    {                                                                        \
        Vector CHAINS(START) scale = set(0.999f), shift = set(0.001f);       \
        double best = 1e9;                                                   \
        CHAINS(HIDE)                                                         \
        for (int trial = 0; trial < 60; trial++) {                           \
            double start = holo_time_now();                                  \
            for (int r = 0; r < ROUNDS; r++) {                               \
                CHAINS(STEP)                                                 \
            }                                                                \
            double spent = holo_time_now() - start;                          \
            if (spent < best) best = spent;                                  \
        }                                                                    \
        CHAINS(HIDE)                                                         \
        return 2e-9 * (sizeof(Vector) / sizeof(float)) * 12 * ROUNDS / best; \
    }

#if defined __x86_64__
#include <immintrin.h>
#define REGISTER "v"
#define set      _mm512_set1_ps
#define mad      _mm512_fmadd_ps
PEAK(peak_avx512, __m512, __attribute__((target("avx512f"))))
#undef set
#undef mad
#define set _mm256_set1_ps
#define mad _mm256_fmadd_ps
PEAK(peak_avx2, __m256, __attribute__((target("avx2,fma"))))
#undef set
#undef mad
#define set          _mm_set1_ps
#define mad(a, b, c) _mm_add_ps(_mm_mul_ps(a, b), c)
PEAK(peak_sse2, __m128, )
static double peak(const char *level)
{
    return !strcmp(level, "avx512") ? peak_avx512() : !strcmp(level, "avx2") ? peak_avx2() : peak_sse2();
}
#elif defined __aarch64__
#include <arm_neon.h>
#define REGISTER     "w"
#define set          vdupq_n_f32
#define mad(a, b, c) vfmaq_f32(c, a, b)
PEAK(peak_neon, float32x4_t, )
static double peak(const char *level)
{
    (void)level;
    return peak_neon();
}
#endif

static void report(const HoloKernels *kernels, double limit, Shape s)
{
    double rate = measure(kernels, s, 0.4);
    printf("%-7s %-5s %5lldx%lldx%-6lld %7.1f GFLOP/s  %5.1f %% of the peak\n", kernels->level,
           kernels->exact ? "exact" : "fused", (long long)s.m, (long long)s.n, (long long)s.k, rate,
           100 * rate / limit);
}

int main(int argc, char **argv)
{
    const HoloKernels *kernels;
    for (int level = 0; (kernels = holo_kernels_at(level)); level++) {
        double limit = peak(kernels->level);
        for (int i = 1; i < argc; i++) {
            long long m, n, k;
            if (sscanf(argv[i], "%lldx%lldx%lld", &m, &n, &k) != 3 || m < 1 || n < 1 || k < 1) {
                fprintf(stderr, "gemm: '%s' is not a shape such as 128x768x768\n", argv[i]);
                return 2;
            }
            report(kernels, limit, (Shape){m, n, k});
        }
        for (int i = 0; argc < 2 && i < HOLO_COUNT(shapes); i++) report(kernels, limit, shapes[i]);
    }
    return 0;
}
