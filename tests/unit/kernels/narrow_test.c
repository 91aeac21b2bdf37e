// narrow_test.c - weights that are stored in f16 and bf16: the same bits as with weights of f32, on every table of
// kernels and on shapes that hurt; and which weights are stored so.
#include "support/kernel_case.h"

#include "format/dtype.h"

static const uint32_t narrow_types[] = {HOLO_WEIGHTS_F16, HOLO_WEIGHTS_BF16};

// Rounds to numbers of the type, and makes some of them special.
static void round_to(uint32_t type, float *x, int64_t count, bool special)
{
    static const float odd[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-24f, -0x1.8p-15f, 65504.0f, 1.0f};
    for (int64_t i = 0; i < count; i++) {
        if (special && i % 7 == 3) x[i] = odd[i / 7 % HOLO_COUNT(odd)];
        x[i] = type == HOLO_WEIGHTS_F16 ? holo_f16_to_f32(holo_f32_to_f16(x[i]))
                                        : holo_bf16_to_f32(holo_f64_to_bf16((double)x[i]));
    }
}

static void *narrowed(uint32_t type, const float *x, int64_t count, float book[HOLO_BOOK])
{
    (void)book;
    uint16_t              *out = malloc((size_t)(count + 1) * sizeof *out);
    const HoloKernelTable *k   = holo_kernels(0);
    assert_non_null(out);
    (type == HOLO_WEIGHTS_F16 ? k->narrow_f16 : k->narrow_bf16)(count, x, out);
    return out;
}

// ---- the matrix product

static void expect_rounded(const HoloKernelTable *kernels, uint32_t type, int64_t m, int64_t n, int64_t k, bool special)
{
    float *weights = floats(k * n);
    round_to(type, weights, k * n, special);
    expect_same_product(kernels, m, n, k, weights, type, narrowed);
}

static void gemm_narrow(void **state)
{
    (void)state;
    static const int64_t m[] = {1, 2, 3, 6, 7, 12, 13, 25, 145, 151}, n[] = {1, 15, 16, 17, 33, 64, 65, 100},
                         k[] = {1, 2, 17, 255, 256, 257, 600};
    const HoloKernelTable *kernels;
    for (int t = 0; (kernels = holo_kernels_at(t)); t++)
        for (int i = 0, j = 0, p = 0; i < HOLO_COUNT(m) * HOLO_COUNT(n); i++, j = (j + 3) % HOLO_COUNT(n), p++)
            expect_rounded(kernels, narrow_types[i % 2], m[i % HOLO_COUNT(m)], n[j], k[p % HOLO_COUNT(k)], i % 3 == 0);
}

// ---- whole kernels

// As the compiler packs the weights, and in f32: the same bits.
static void expect_narrow(Case *c, uint32_t type, bool is_narrow)
{
    round_to(type, c->in[1].data, holo_tensor_count(&c->in[1]), false);
    HoloLowering narrow = case_lowering(c, true), wide = narrow;
    assert_true(narrow.kernel);
    assert_int_equal(narrow.matmul.flags & HOLO_WEIGHTS_NARROW, is_narrow ? type : 0);
    wide.matmul.flags &= ~(uint32_t)HOLO_WEIGHTS_NARROW; // flags are at the same place in all blocks
    if (is_narrow)
        assert_int_equal(holo_cpu_packing(&narrow, &c->in[1]).bytes * 2, holo_cpu_packing(&wide, &c->in[1]).bytes);
    expect_packings_agree(c, &wide, &narrow);
}

static void matmul_narrow(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        Case c  = {.op = "MatMul", .version = 13, .in_count = 2};
        c.in[0] = i % 2 ? TENSOR(3, 1, 70) : TENSOR(3, 50, 70);
        c.in[1] = i / 2 ? TENSOR(3, 70, 40) : TENSOR(70, 40);
        expect_narrow(&c, narrow_types[i % 2], true);
    }
    // A part of the packed form is less than a panel.
    Case c  = {.op = "MatMul", .version = 13, .in_count = 2};
    c.in[0] = TENSOR(1, 20000);
    c.in[1] = TENSOR(20000, 17);
    expect_narrow(&c, HOLO_WEIGHTS_F16, true);
}

static void conv_narrow(void **state)
{
    (void)state;
    static const int64_t strides[] = {2, 2};
    const struct {
        HoloTensor x, w;
        int64_t    groups;
        bool       strided, is_narrow;
        uint32_t   flag;
        int64_t    dilation;
    } cases[] = {
        {TENSOR(2, 9, 9, 10), TENSOR(20, 10, 3, 3), 1, true, true, 0, 1},
        {TENSOR(2, 9, 9, 10), TENSOR(20, 5, 3, 3), 2, true, true, 0, 1},
        {TENSOR(1, 33, 33, 512), TENSOR(512, 512, 3, 3), 1, false, true, HOLO_CONV_NHWC_TRANSFORM, 1},
        {TENSOR(1, 40, 40, 32), TENSOR(32, 32, 3, 3), 1, false, false, HOLO_CONV_NHWC_WINOGRAD, 1},
        {TENSOR(1, 9, 41, 64), TENSOR(64, 64, 5, 5), 1, false, true, 0, 1}, // by tiles of a row
        {TENSOR(1, 12, 60, 3), TENSOR(37, 3, 3, 3), 1, true, false, 0, 1},  // by bands, which need wide ones
        {TENSOR(1, 12, 60, 5), TENSOR(37, 5, 3, 3), 1, true, true, 0, 1},   // by bands, were they not narrow
        {TENSOR(1, 9, 9, 16), TENSOR(16, 4, 3, 3), 4, true, false, HOLO_CONV_NHWC_GROUPS, 1},
        // in regions of few pixels a line, and of more
        {TENSOR(1, 11, 11, 24), TENSOR(40, 24, 3, 3), 1, false, true, 0, 7},
        {TENSOR(2, 11, 11, 24), TENSOR(40, 24, 3, 3), 1, false, true, 0, 7},
        {TENSOR(1, 9, 36, 70), TENSOR(37, 70, 3, 3), 1, false, true, 0, 8},
        {TENSOR(1, 9, 36, 70), TENSOR(37, 70, 3, 3), 1, false, true, 0, 14},
    };
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        Case    c     = {.op = "Conv", .domain = "hologram", .version = 1, .in_count = 2};
        int64_t apart = cases[i].dilation;
        attr_ints(&c, "pads", 4, (int64_t[]){apart, apart, apart, apart});
        attr_ints(&c, "dilations", 2, (int64_t[]){apart, apart});
        if (cases[i].strided) attr_ints(&c, "strides", 2, strides);
        attr_int(&c, "group", cases[i].groups);
        c.in[0]               = cases[i].x;
        c.in[1]               = cases[i].w;
        HoloLowering lowering = case_lowering(&c, true);
        uint32_t     known    = HOLO_CONV_NHWC_TRANSFORM | HOLO_CONV_NHWC_WINOGRAD | HOLO_CONV_NHWC_GROUPS;
        assert_int_equal(lowering.conv_nhwc.flags & known, cases[i].flag);
        expect_narrow(&c, narrow_types[i % 2], cases[i].is_narrow);
    }
}

// One number that is of neither type, and all are stored in f32. Numbers of both are stored in bf16.
static void weights_of_neither(void **state)
{
    (void)state;
    Case c       = {.op = "MatMul", .version = 13, .in_count = 2};
    c.in[0]      = TENSOR(1, 64);
    c.in[1]      = TENSOR(64, 64);
    float  *w    = c.in[1].data;
    int64_t last = 64 * 64 - 1;
    for (int64_t i = 0; i <= last; i++) w[i] = (float)(i % 7) / 4;
    assert_int_equal(case_lowering(&c, true).matmul.flags & HOLO_WEIGHTS_NARROW, HOLO_WEIGHTS_BF16);
    w[last] = 1.001953125f; // 1 + 2^-9: of f16
    assert_int_equal(case_lowering(&c, true).matmul.flags & HOLO_WEIGHTS_NARROW, HOLO_WEIGHTS_F16);
    static const float neither[] = {0.1f, 65536.0f + 1.0f, 0x1p-25f + 0x1p-40f, 0x1.004p-15f};
    for (int i = 0; i < HOLO_COUNT(neither); i++) {
        w[0] = neither[i];
        assert_int_equal(case_lowering(&c, true).matmul.flags & HOLO_WEIGHTS_NARROW, 0);
    }
    HoloLowering lowering = case_lowering(&c, true);
    holo_cpu_unpack(&lowering);
    assert_int_equal(lowering.matmul.flags, 0);
    free(c.in[0].data), free(c.in[1].data);
}

// ---- what an archive may not say

static void refused(void **state)
{
    (void)state;
    static const uint32_t flags[] = {HOLO_WEIGHTS_F16, HOLO_MATMUL_PACKED_B | HOLO_WEIGHTS_NARROW};
    expect_matmul_refuses(HOLO_COUNT(flags), flags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_narrow),        cmocka_unit_test(matmul_narrow), cmocka_unit_test(conv_narrow),
        cmocka_unit_test(weights_of_neither), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
