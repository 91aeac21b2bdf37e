// peak.c - what the multiply-add units of one core can do at most.
//
// It is wall time, best of many, as the kernels are measured: other work on the machine can only make that longer.
#include "base/files.h"
#include "bench.h"

#include <string.h>

enum { ROUNDS = 1 << 18, TRIALS = 100 };

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
        for (int trial = 0; trial < TRIALS; trial++) {                       \
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
double peak(const char *level)
{
    return !strncmp(level, "avx512", 6) ? peak_avx512() : !strcmp(level, "avx2") ? peak_avx2() : peak_sse2();
}
#elif defined __aarch64__
#include <arm_neon.h>
#define REGISTER     "w"
#define set          vdupq_n_f32
#define mad(a, b, c) vfmaq_f32(c, a, b)
PEAK(peak_neon, float32x4_t, )
double peak(const char *level)
{
    (void)level;
    return peak_neon();
}
#endif
