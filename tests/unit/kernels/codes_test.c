// codes_test.c - weights of few different numbers, which are stored as codes and a book: the same bits as with weights
// of f32, on every table of kernels and on shapes that hurt; and which weights are stored so.
#include "lower/cpu/choose.h"
#include "support/kernel_case.h"

#include <float.h>

// So many different numbers, some of them special.
static void few(float *x, int64_t count, int numbers, bool special)
{
    static const float odd[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-140f, -0x1.8p-15f, FLT_MAX};
    float              book[HOLO_BOOK];
    for (int i = 0; i < numbers; i++)
        book[i] = special && i < HOLO_COUNT(odd) ? odd[i] : (float)(holo_random_unit(&random_state) * 2 - 1);
    for (int64_t i = 0; i < count; i++) x[i] = book[(int)(holo_random_unit(&random_state) * numbers)];
}

// ---- the matrix product

static void *coded(uint32_t type, const float *panels, int64_t count, float book[HOLO_BOOK])
{
    (void)type;
    uint8_t *out   = calloc((size_t)(count / 2 + 1), 1);
    int      known = 0;
    assert_non_null(out);
    for (int64_t i = 0; i < count; i++) {
        int code = 0, lane = (int)(i % HOLO_PANEL);
        while (code < known && memcmp(&book[code], &panels[i], sizeof *book)) code++;
        if (code == known && known < HOLO_BOOK) book[known++] = panels[i];
        out[i / HOLO_PANEL * 8 + holo_code_byte(lane)] |= (uint8_t)(code % HOLO_BOOK << holo_code_shift(lane));
    }
    for (int i = known; i < HOLO_BOOK; i++) book[i] = NAN; // nobody asks for these
    return out;
}

static void expect_coded(const HoloKernelTable *kernels, int64_t m, int64_t n, int64_t k, int numbers)
{
    float *weights = floats(k * n);
    few(weights, k * n, numbers, numbers == 9);
    expect_same_product(kernels, m, n, k, weights, HOLO_WEIGHTS_CODES, coded);
}

static void gemm_codes(void **state)
{
    (void)state;
    static const int64_t m[] = {1, 2, 3, 6, 7, 12, 13, 25, 145, 151}, n[] = {1, 15, 16, 17, 33, 64, 65, 100},
                         k[]         = {0, 1, 2, 17, 255, 256, 257, 600};
    static const int       numbers[] = {1, 2, 9, 15, 16};
    const HoloKernelTable *kernels;
    for (int t = 0; (kernels = holo_kernels_at(t)); t++)
        for (int i = 0, j = 0, p = 0; i < HOLO_COUNT(m) * HOLO_COUNT(n); i++, j = (j + 3) % HOLO_COUNT(n), p++)
            expect_coded(kernels, m[i % HOLO_COUNT(m)], n[j], k[p % HOLO_COUNT(k)], n[j] % 16 ? 9 : numbers[i % 5]);
}

// ---- whole kernels

// As the compiler packs the weights, and in f32: the same bits.
static void expect_codes(Case *c, int numbers)
{
    few(c->in[1].data, holo_tensor_count(&c->in[1]), numbers, false);
    HoloLowering codes = case_lowering(c, true), wide = codes;
    assert_true(codes.kernel);
    assert_int_equal(codes.matmul.flags & HOLO_WEIGHTS_NARROW, HOLO_WEIGHTS_CODES); // at the same place in all blocks
    wide.matmul.flags &= ~(uint32_t)HOLO_WEIGHTS_NARROW;
    assert_int_equal((holo_cpu_packing(&codes, &c->in[1]).bytes - HOLO_BOOK_BYTES) * 8,
                     holo_cpu_packing(&wide, &c->in[1]).bytes);
    expect_packings_agree(c, &wide, &codes);
}

static void matmul_codes(void **state)
{
    (void)state;
    const HoloTensor a[] = {TENSOR(2, 100, 170), TENSOR(3, 100, 170), TENSOR(1, 1100), TENSOR(2, 3, 20000),
                            TENSOR(130, 300)};
    const HoloTensor b[] = {TENSOR(170, 140), TENSOR(3, 170, 40), TENSOR(1100, 1000), TENSOR(20000, 53),
                            TENSOR(300, 77)};
    for (int i = 0; i < HOLO_COUNT(a); i++) {
        Case c  = {.op = "MatMul", .version = 13, .in_count = 2};
        c.in[0] = a[i];
        c.in[1] = b[i];
        expect_codes(&c, 16 - i);
    }
    Case c  = {.op = "Gemm", .version = 13, .in_count = 3};
    c.in[0] = TENSOR(170, 100);
    c.in[1] = TENSOR(130, 170);
    c.in[2] = TENSOR(130);
    attr_int(&c, "transA", 1);
    attr_int(&c, "transB", 1);
    expect_codes(&c, 3);
    free(c.in[2].data);
}

static void conv_codes(void **state)
{
    (void)state;
    static const int64_t pads[] = {1, 1, 1, 1}, strides[] = {2, 2};
    const struct {
        HoloTensor x, w;
        bool       strided;
    } cases[] = {
        {TENSOR(2, 19, 19, 40), TENSOR(50, 40, 3, 3), true}, // by rows
        {TENSOR(1, 12, 12, 300), TENSOR(70, 300, 1, 1), false},
        {TENSOR(1, 20, 20, 1900), TENSOR(1, 1900, 3, 3), true}, // few filters
    };
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        Case c = {.op = "Conv", .domain = "hologram", .version = 1, .in_count = 2};
        if (cases[i].w.dim[3] == 3) attr_ints(&c, "pads", 4, pads);
        if (cases[i].strided) attr_ints(&c, "strides", 2, strides);
        c.in[0] = cases[i].x;
        c.in[1] = cases[i].w;
        expect_codes(&c, 16 - i);
    }
}

// ---- which weights

static uint32_t type_of(HoloTensor a, HoloTensor b, int numbers)
{
    Case c  = {.op = "MatMul", .version = 13, .in_count = 2};
    c.in[0] = a;
    c.in[1] = b;
    few(b.data, holo_tensor_count(&b), numbers > HOLO_BOOK ? HOLO_BOOK : numbers, false);
    if (numbers > HOLO_BOOK) ((float *)b.data)[holo_tensor_count(&b) - 1] = 0.1f;
    uint32_t type = case_lowering(&c, true).matmul.flags & HOLO_WEIGHTS_NARROW;
    free(a.data), free(b.data);
    return type;
}

static void which_weights(void **state)
{
    (void)state;
    assert_int_equal(type_of(TENSOR(1, 1024), TENSOR(1024, 1024), 16), HOLO_WEIGHTS_CODES);
    assert_int_equal(type_of(TENSOR(1, 1024), TENSOR(1024, 1024), 17), 0);  // one number too many
    assert_int_equal(type_of(TENSOR(1, 512), TENSOR(512, 512), 16), 0);     // a cache keeps them
    assert_int_equal(type_of(TENSOR(20, 1024), TENSOR(1024, 1024), 16), 0); // neither few rows nor many
    assert_int_equal(type_of(TENSOR(100, 128), TENSOR(128, 128), 2), HOLO_WEIGHTS_CODES);
    assert_int_equal(type_of(TENSOR(100, 64), TENSOR(64, 128), 2), 0); // small
    // 0 and -0 are two numbers, and so are NaNs of other bits.
    float      numbers[] = {0.0f, -0.0f, NAN, -NAN, 0.0f, NAN}, book[HOLO_BOOK];
    HoloTensor w         = {.dtype = HOLO_F32, .rank = 1, .dim = {6}, .data = numbers};
    assert_true(holo_lower_book(&w, book));
    assert_memory_equal(book, numbers, 4 * sizeof *book);
}

// ---- what an archive may not say

static void refused(void **state)
{
    (void)state;
    static const uint32_t flags[] = {HOLO_WEIGHTS_CODES, HOLO_MATMUL_PACKED_B | HOLO_WEIGHTS_CODES | HOLO_WEIGHTS_F16,
                                     HOLO_MATMUL_PACKED_B | HOLO_WEIGHTS_NARROW};
    expect_matmul_refuses(HOLO_COUNT(flags), flags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_codes),    cmocka_unit_test(matmul_codes), cmocka_unit_test(conv_codes),
        cmocka_unit_test(which_weights), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
