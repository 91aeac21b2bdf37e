// lines_test.c - gemm_f32 of one row, which reads its panels in another order than more rows do: the same bits. And
// numeric class bf16: the products of numbers of bf16.
#include "base/base.h"
#include "format/dtype.h"
#include "format/params.h"
#include "format/small_float.h"
#include "kernels/kernels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { K_MOST = 1030, N_MOST = 144, M_MOST = 150 };

typedef struct Case {
    float   *a, *b, *c, *d, *scratch; // b: as f32
    void    *packed;
    uint32_t type;
    int64_t  m, n, k;
} Case;

static uint32_t seed = 7;

static float next(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)((int32_t)(seed >> 8) - (1 << 23)) * 0x1p-23f;
}

static float *floats(int64_t count)
{
    float *x = aligned_alloc(64, (size_t)(count * 4 + 63) / 64 * 64);
    assert_non_null(x);
    for (int64_t i = 0; i < count; i++) x[i] = next();
    return x;
}

static Case case_make(void)
{
    Case c    = {.a = floats(M_MOST * K_MOST), .b = floats(N_MOST * K_MOST), .c = floats(M_MOST * N_MOST)};
    c.d       = floats(N_MOST);
    c.scratch = floats(HOLO_GEMM_SCRATCH);
    c.packed  = floats(N_MOST * K_MOST);
    return c;
}

static void case_free(Case *c)
{
    free(c->a), free(c->b), free(c->c), free(c->d), free(c->scratch), free(c->packed);
}

// Panels of the weights b[k][n], in the case's type; b becomes what is stored.
static void pack(Case *c)
{
    for (int64_t j = 0; j < c->n; j++)
        for (int64_t p = 0; p < c->k; p++) {
            float   *x  = &c->b[p * c->n + j];
            int64_t  at = j / HOLO_PANEL * HOLO_PANEL * c->k + p * HOLO_PANEL + j % HOLO_PANEL;
            uint16_t half;
            if (!c->type) {
                ((float *)c->packed)[at] = *x;
                continue;
            }
            half = c->type == HOLO_WEIGHTS_F16 ? holo_f32_to_f16(*x) : holo_f64_to_bf16((double)*x);
            *x   = c->type == HOLO_WEIGHTS_F16 ? holo_f16_decode(half) : holo_bf16_decode(half);
            ((uint16_t *)c->packed)[at] = half;
        }
}

static HoloGemm gemm_of(const Case *c, float *out)
{
    return (HoloGemm){.m        = c->m,
                      .n        = c->n,
                      .k        = c->k,
                      .a        = c->a,
                      .a_row    = c->k,
                      .a_column = 1,
                      .b        = c->packed,
                      .b_type   = c->type,
                      .b_panel  = c->k * HOLO_PANEL,
                      .b_step   = HOLO_PANEL,
                      .c        = out,
                      .c_row    = c->n,
                      .d        = c->d,
                      .d_column = 1,
                      .alpha    = 1,
                      .beta     = 1,
                      .scratch  = c->scratch};
}

static const uint32_t types[] = {0, HOLO_WEIGHTS_F16, HOLO_WEIGHTS_BF16};

// The first of two rows has the bits of that row alone.
static void test_lines(void **state)
{
    static const int64_t   depths[] = {1, 255, 256, 257, 259, 512, 777, 1030}, widths[] = {1, 16, 17, 63, 64, 65, 144};
    const HoloKernelTable *kernels;
    Case                   c   = case_make();
    float                 *one = floats(N_MOST);
    (void)state;
    for (int t = 0; t < HOLO_COUNT(types); t++)
        for (int i = 0; i < HOLO_COUNT(depths) * HOLO_COUNT(widths); i++) {
            c.type = types[t], c.k = depths[i % HOLO_COUNT(depths)], c.n = widths[i / HOLO_COUNT(depths)];
            pack(&c);
            for (int at = 0; (kernels = holo_kernels_at(at)); at++)
                for (int way = 0; way < 4; way++) { // with D; without; scaled; bounded and added to
                    c.m               = 2;
                    HoloFinish finish = {.has_low = true, .low = 0, .more = c.b};
                    HoloGemm   both   = gemm_of(&c, c.c), alone;
                    if (way == 1) both.d = NULL;
                    if (way == 2) both.alpha = 0.5f, both.beta = 3;
                    if (way == 3) both.finish = &finish;
                    alone   = both;
                    alone.m = 1;
                    alone.c = one;
                    kernels->gemm_f32(&both);
                    for (int far = 0; far < 2; far++) {
                        alone.is_far = far;
                        kernels->gemm_f32(&alone);
                        if (memcmp(c.c, one, (size_t)c.n * sizeof *one))
                            fail_msg("%s, type %x, k %d, n %d, way %d, far %d: other bits", kernels->level,
                                     (unsigned)c.type, (int)c.k, (int)c.n, way, far);
                    }
                }
        }
    free(one);
    case_free(&c);
}

// ---- class bf16

static void expect_products(const Case *c, const HoloKernelTable *kernels)
{
    HoloGemm g = gemm_of(c, c->c);
    kernels->gemm_f32(&g);
    for (int64_t i = 0; i < c->m; i++)
        for (int64_t j = 0; j < c->n; j++) {
            double sum = (double)c->d[j], size = fabs(sum);
            for (int64_t p = 0; p < c->k; p++) {
                double x =
                    (double)holo_bf16_decode(holo_f64_to_bf16((double)c->a[i * c->k + p])) * (double)c->b[p * c->n + j];
                sum += x;
                size += fabs(x);
            }
            if (!(fabs((double)c->c[i * c->n + j] - sum) <= 1e-6 * size))
                fail_msg("m %d, n %d, k %d: element %d, %d is %g, not %g", (int)c->m, (int)c->n, (int)c->k, (int)i,
                         (int)j, (double)c->c[i * c->n + j], sum);
        }
}

static void test_bf16(void **state)
{
    static const int64_t   rows[] = {6, 7, 12, 13, 25, 144, 145}, depths[] = {1, 2, 31, 511, 512, 513, 1025};
    static const int64_t   widths[] = {1, 16, 17, 33};
    const HoloKernelTable *kernels  = holo_kernels_bf16();
    Case                   c        = case_make();
    (void)state;
    c.type = HOLO_WEIGHTS_BF16;
    if (kernels != holo_kernels(0)) { // this CPU has products of bf16
        assert_int_equal(kernels->exact, 0);
        for (int i = 0; i < HOLO_COUNT(rows) * HOLO_COUNT(depths) * HOLO_COUNT(widths); i++) {
            c.m = rows[i % HOLO_COUNT(rows)];
            c.k = depths[i / HOLO_COUNT(rows) % HOLO_COUNT(depths)];
            c.n = widths[i / HOLO_COUNT(rows) / HOLO_COUNT(depths)];
            pack(&c);
            expect_products(&c, kernels);
        }
    }
    // Everything else is class fused's.
    for (int t = 0; t < 2; t++) {
        float *want = floats(13 * 33);
        c.type = types[t], c.m = 13, c.n = 33, c.k = 300;
        pack(&c);
        HoloGemm g = gemm_of(&c, c.c);
        kernels->gemm_f32(&g);
        g.c = want;
        holo_kernels(0)->gemm_f32(&g);
        assert_memory_equal(c.c, want, 13 * 33 * sizeof *want);
        free(want);
    }
    case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_bf16)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
