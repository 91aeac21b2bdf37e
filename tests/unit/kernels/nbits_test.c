// nbits_test.c - MatMulNBits by its kernel, with plain and with packed weights, on every table against eval; and the
// one that rounds its first input.
#include "support/kernel_case.h"

#include "ops/microsoft/nbits.h"

static HoloTensor bytes(int64_t count)
{
    HoloTensor t    = {.dtype = HOLO_U8, .rank = 1, .dim = {count}, .data = malloc((size_t)count)};
    uint8_t   *data = t.data;
    assert_non_null(data);
    for (int64_t i = 0; i < count; i++) data[i] = (uint8_t)(holo_random_unit(&random_state) * 256);
    return t;
}

static Case rounding(Case c)
{
    c.domain = "hologram";
    return c;
}

enum { NO_ZEROS, PACKED_ZEROS, REAL_ZEROS, ZEROS };

static Case nbits(int64_t m, int64_t k, int64_t n, int bits, int64_t block, int zeros, bool has_bias)
{
    int64_t blocks = (k + block - 1) / block;
    Case    c      = {.op = "MatMulNBits", .domain = "com.microsoft", .version = 1, .in_count = has_bias ? 6 : 4};
    attr_int(&c, "K", k);
    attr_int(&c, "N", n);
    attr_int(&c, "bits", bits);
    attr_int(&c, "block_size", block);
    c.in[HOLO_NBITS_A]      = TENSOR(m, k);
    c.in[HOLO_NBITS_B]      = bytes(n * blocks * block * bits / 8);
    c.in[HOLO_NBITS_SCALES] = TENSOR(n * blocks);
    for (int64_t i = 0; i < n * blocks; i++) ((float *)c.in[HOLO_NBITS_SCALES].data)[i] *= 0.05f / (float)(1 << bits);
    if (zeros == PACKED_ZEROS) c.in[HOLO_NBITS_ZEROS] = bytes(n * ((blocks * bits + 7) / 8));
    if (zeros == REAL_ZEROS) c.in[HOLO_NBITS_ZEROS] = TENSOR(n, blocks);
    if (has_bias) c.in[HOLO_NBITS_BIAS] = TENSOR(n);
    return c;
}

// The packed form of an input in place of the plain one, which is given back.
static void *packed_in(Case *c, const HoloLowering *lowering, int input)
{
    HoloLowering of    = *lowering;
    void        *plain = c->in[input].data;
    of.pack_input      = input;
    c->in[input].data  = packed_weights(&of, &c->in[input]);
    return plain;
}

static void expect_packed(Case *c)
{
    HoloLowering lowering = case_lowering(c, false);
    float       *want = run_eval(c), *exact = NULL;
    int64_t      count    = holo_tensor_count(&c->out);
    void        *plain[4] = {NULL};
    assert_int_equal(lowering.kernel, HOLO_KERNEL_matmul_nbits_f32);
    lowering.matmul_nbits.flags |= HOLO_MATMUL_NBITS_PACKED;
    c->kernel = lowering.kernel;
    memcpy(&c->params, lowering.params, sizeof lowering.params);
    for (int i = HOLO_NBITS_B; i <= HOLO_NBITS_ZEROS; i++)
        if (c->in[i].dtype) plain[i] = packed_in(c, &lowering, i);
    const HoloKernelTable *kernels;
    for (int t = 0; (kernels = holo_kernels_at(t)); t++) {
        float *one = run_kernel(c, kernels, 1), *three = run_kernel(c, kernels, 3);
        for (int64_t i = 0; i < count; i++)
            expect_near((double)one[i], (double)want[i], 2e-5 + 1e-5 * fabs((double)want[i]));
        expect_same(one, three, count);
        if (kernels->exact && exact) expect_same(one, exact, count);
        free(three);
        if (kernels->exact && !exact)
            exact = one;
        else
            free(one);
    }
    free(want), free(exact);
    for (int i = 0; i < c->in_count; i++) free(c->in[i].data);
    for (int i = 0; i < 4; i++) free(plain[i]);
}

static const int64_t shapes[][3] = {{1, 64, 64},  {1, 1, 1},     {2, 17, 100}, {3, 100, 31},  {6, 130, 17},
                                    {7, 257, 40}, {13, 600, 65}, {1, 515, 70}, {150, 40, 33}, {5, 33, 16}};
static const struct {
    int     bits;
    int64_t block;
} forms[] = {{4, 32},  {4, 16}, {8, 32}, {2, 16}, {4, 128},  {3, 32},
             {8, 128}, {5, 16}, {6, 64}, {7, 16}, {4, 1024}, {4, 8}};

static void weights_packed(void **state)
{
    (void)state;
    for (int i = 0, s = 0; i < HOLO_COUNT(forms) * ZEROS * 2; i++, s = (s + 3) % HOLO_COUNT(shapes)) {
        int  f = i / ZEROS % HOLO_COUNT(forms);
        Case c = nbits(shapes[s][0], shapes[s][1], shapes[s][2], forms[f].bits, forms[f].block, i % ZEROS, i % 2);
        expect_packed(&c);
    }
}

static void plain_weights(void **state)
{
    (void)state;
    for (int i = 0, s = 0; i < HOLO_COUNT(forms) * ZEROS; i++, s = (s + 3) % HOLO_COUNT(shapes)) {
        int  f = i / ZEROS;
        Case c = nbits(shapes[s][0], shapes[s][1], shapes[s][2], forms[f].bits, forms[f].block, i % ZEROS, i % 2);
        check_lowered(&c, HOLO_KERNEL_matmul_nbits_f32);
    }
}

static bool is_rounded(int form)
{
    return forms[form].block >= HOLO_NBITS_ROUNDED_LEAST && forms[form].block <= HOLO_NBITS_ROUNDED_MOST;
}

static void rounded_input(void **state)
{
    (void)state;
    for (int i = 0, s = 0; i < HOLO_COUNT(forms) * ZEROS * 2; i++, s = (s + 3) % HOLO_COUNT(shapes)) {
        int f = i / ZEROS % HOLO_COUNT(forms);
        if (!is_rounded(f)) continue;
        const int64_t *size = shapes[s];
        Case           c = rounding(nbits(size[0], size[1], size[2], forms[f].bits, forms[f].block, i % ZEROS, i % 2));
        expect_packed(&c);
        c = rounding(nbits(size[0], size[1], size[2], forms[f].bits, forms[f].block, i % ZEROS, i % 2));
        check_lowered(&c, HOLO_KERNEL_matmul_nbits_f32);
    }
}

// Halves go to even numbers; a block of zeros, and one too small for steps, give nothing; NaN and infinity are told.
static void rounded_numbers(void **state)
{
    (void)state;
    const float a[]    = {127, -127, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 126.5f, 3.49f, 3.51f};
    const int   want[] = {127, -127, 0, 2, 2, 0, -2, 126, 3, 4};
    int8_t      number[HOLO_COUNT(a)];
    float       step, tiny[] = {0x1p-140f, 0, -0x1p-140f}, huge[] = {1, INFINITY, 2}, none[] = {NAN, 1, 2};
    holo_nbits_round(HOLO_COUNT(a), a, number, &step);
    for (int i = 0; i < HOLO_COUNT(a); i++) assert_int_equal(number[i], want[i]);
    assert_true(step == 1);
    holo_nbits_round(3, tiny, number, &step);
    assert_true(!number[0] && !number[1] && !number[2] && step >= 0 && step < 0x1p-140f);
    holo_nbits_round(3, huge, number, &step);
    assert_true(!number[0] && !number[1] && !number[2] && step == INFINITY);
    holo_nbits_round(3, none, number, &step);
    assert_true(!number[0] && !number[1] && !number[2] && step != step);
}

static void no_rows(void **state)
{
    (void)state;
    Case c = nbits(0, 64, 20, 4, 32, PACKED_ZEROS, false);
    expect_packed(&c);
}

// NaN and infinity of A reach the elements of their row, and no others.
static void special_values(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        Case   c = nbits(i / 2 ? 8 : 2, 64, 40, 4, 32, NO_ZEROS, false);
        float *a = c.in[0].data;
        if (i % 2) c = rounding(c);
        a[3]  = NAN;
        a[64] = INFINITY;
        a[65] = 0x1p-140f;
        expect_packed(&c);
    }
}

// ---- what an archive may not say

static void refused(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        Case              c        = nbits(3, 64, 20, 4, 32, PACKED_ZEROS, true);
        HoloLowering      lowering = case_lowering(&c, false);
        Host              host     = host_make(holo_kernels(0), 1);
        HoloError         error    = {0};
        const HoloTensor *in[IN_MAX];
        HoloTensor       *out[1];
        size_t            scratch;
        memcpy(&c.params, lowering.params, sizeof lowering.params);
        HoloMatmulNbitsParams *params = (void *)&c.params;
        HoloCall               call   = call_init(&c, &host, in, out, &error);
        const HoloCpuKernel   *kernel = holo_cpu_kernel_find(HOLO_KERNEL_matmul_nbits_f32);
        assert_int_equal(kernel_check(kernel->id, &call, &scratch), HOLO_OK);
        if (i == 0) params->bits = 8;
        if (i == 1) params->k = 32;
        if (i == 2) params->n = 4;
        if (i == 3) params->flags = 4;
        if (i == 8) params->flags = HOLO_MATMUL_NBITS_INT8;
        if (i == 9) params->flags = HOLO_MATMUL_NBITS_INT8 | HOLO_MATMUL_NBITS_PACKED;
        if (i == 4) c.in[HOLO_NBITS_B].dim[0]--;
        if (i == 5) c.in[HOLO_NBITS_SCALES].dim[0]--;
        if (i == 6) c.in[HOLO_NBITS_ZEROS].dim[0]--;
        if (i == 7) c.in[HOLO_NBITS_BIAS].dim[0]--;
        assert_true(kernel_check(kernel->id, &call, &scratch));
        for (int k = 0; k < c.in_count; k++) free(c.in[k].data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_packed),  cmocka_unit_test(plain_weights), cmocka_unit_test(no_rows),
        cmocka_unit_test(special_values),  cmocka_unit_test(refused),       cmocka_unit_test(rounded_input),
        cmocka_unit_test(rounded_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
