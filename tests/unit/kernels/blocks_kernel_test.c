// blocks_kernel_test.c - MatMulBlocks by its kernel, with plain and with packed weights, on every table against eval;
// rounding its rows and not.
#include "support/block_case.h"

#include "ops/hologram/blocks_op.h"

static Case product(const HoloBlockType *type, int64_t m, int64_t blocks, int64_t n, bool rounds, bool has_bias)
{
    int64_t  bytes = blocks * type->bytes;
    Case     c     = {.op = "MatMulBlocks", .domain = "hologram", .version = 1, .in_count = has_bias ? 3 : 2};
    uint8_t *w     = malloc((size_t)(n * bytes));
    assert_non_null(w);
    for (int64_t i = 0; i < n * blocks; i++) block_make(type, w + i * type->bytes);
    attr_text(&c, "type", type->name);
    attr_int(&c, "count", blocks * type->count);
    attr_int(&c, "rounds", rounds);
    c.in[HOLO_BLOCKS_X] = TENSOR(m, blocks * type->count);
    c.in[HOLO_BLOCKS_W] = (HoloTensor){.dtype = HOLO_U8, .rank = 2, .dim = {n, bytes}, .data = w};
    if (has_bias) c.in[HOLO_BLOCKS_BIAS] = TENSOR(n);
    return c;
}

static void expect_packed(Case *c)
{
    HoloLowering lowering = case_lowering(c, true);
    float       *want = run_eval(c), *exact = NULL;
    int64_t      count = holo_tensor_count(&c->out);
    void        *plain = c->in[HOLO_BLOCKS_W].data;
    assert_int_equal(lowering.kernel, HOLO_KERNEL_matmul_blocks);
    assert_int_equal(lowering.pack_input, HOLO_BLOCKS_W);
    c->kernel = lowering.kernel;
    memcpy(&c->params, lowering.params, sizeof lowering.params);
    c->in[HOLO_BLOCKS_W].data = packed_weights(&lowering, &c->in[HOLO_BLOCKS_W]);
    const HoloKernelTable *kernels;
    for (int t = 0; (kernels = holo_kernels_at(t)); t++) {
        float *one = run_kernel(c, kernels, 1), *three = run_kernel(c, kernels, 3);
        for (int64_t i = 0; i < count; i++)
            expect_near((double)one[i], (double)want[i], 1e-4 + 1e-5 * fabs((double)want[i]));
        expect_same(one, three, count);
        if (kernels->exact && exact) expect_same(one, exact, count);
        free(three);
        if (kernels->exact && !exact)
            exact = one;
        else
            free(one);
    }
    note_exact(c->op, exact, count);
    free(want), free(exact), free(plain);
    for (int i = 0; i < c->in_count; i++) free(c->in[i].data);
}

// Rows around the limits of tiles, columns around those of panels, one block and several.
static const int64_t shapes[][3] = {{1, 1, 16}, {2, 3, 17}, {15, 1, 33}, {16, 2, 15},  {17, 1, 1}, {5, 9, 40},
                                    {3, 2, 64}, {4, 1, 31}, {7, 5, 48},  {140, 1, 20}, {8, 3, 33}, {6, 2, 16}};

static void every_type(void **state)
{
    const HoloBlockType *type;
    (void)state;
    for (int t = 0; (type = holo_block_type_at(t)); t++)
        for (int s = 0; s < HOLO_COUNT(shapes); s++)
            for (int rounds = 0; rounds < 2; rounds++) {
                Case c = product(type, shapes[s][0], shapes[s][1], shapes[s][2], rounds, s % 2);
                expect_packed(&c);
            }
}

static void plain_weights(void **state)
{
    const HoloBlockType *type;
    (void)state;
    for (int t = 0; (type = holo_block_type_at(t)); t++)
        for (int i = 0; i < 2; i++) {
            Case c = product(type, 3 + 4 * i, 2, 37, i, i);
            check_lowered(&c, HOLO_KERNEL_matmul_blocks);
        }
}

static void no_rows(void **state)
{
    (void)state;
    Case c = product(holo_block_type_find("q4_k"), 0, 1, 20, true, false);
    expect_packed(&c);
}

// NaN and infinity of x reach the elements of their row, and no others.
static void special_values(void **state)
{
    (void)state;
    for (int m = 2; m < 9; m += 6) {
        Case   c = product(holo_block_type_find("q6_k"), m, 1, 20, true, false);
        float *x = c.in[0].data;
        x[3]     = NAN;
        x[256]   = INFINITY;
        if (m > 2) x[512] = 0x1p-140f;
        expect_packed(&c);
    }
}

// All codes and all numbers of x are the largest there are: sums that are in 16 bits for a while fit.
static void largest(void **state)
{
    const HoloBlockType *type;
    (void)state;
    for (int t = 0; (type = holo_block_type_at(t)); t++)
        for (int i = 0; type->write && i < 4; i++) {
            HoloBlockNumbers numbers = {.scale = 0x1p-6f};
            Case             c       = product(type, i % 2 ? 1 : 9, 512 / type->count, 20, true, false);
            uint8_t         *w       = c.in[HOLO_BLOCKS_W].data;
            memset(numbers.number, type->high, sizeof numbers.number);
            memset(numbers.scales, 1, sizeof numbers.scales);
            for (int b = 0; b < 20 * 512 / type->count; b++) type->write(&numbers, w + b * type->bytes);
            for (int64_t k = 0; k < holo_tensor_count(&c.in[0]); k++) ((float *)c.in[0].data)[k] = i < 2 ? 1 : -1;
            expect_packed(&c);
        }
}

// The result goes through a program with another operand.
static void tail(void **state)
{
    (void)state;
    for (int rounds = 0; rounds < 2; rounds++) {
        Case c = product(holo_block_type_find("q8_0"), 9, 3, 50, rounds, true);
        attr_text(&c, "program", "mul x0 x1; sigmoid r0");
        c.in[3]    = TENSOR(9, 50);
        c.in_count = 4;
        expect_packed(&c);
    }
}

// ---- what an archive may not say

static void refused(void **state)
{
    (void)state;
    for (int i = 0; i < 7; i++) {
        Case              c        = product(holo_block_type_find("q4_0"), 3, 2, 20, true, true);
        HoloLowering      lowering = case_lowering(&c, true);
        Host              host     = host_make(holo_kernels(0), 1);
        HoloError         error    = {0};
        const HoloTensor *in[IN_MAX];
        HoloTensor       *out[1];
        size_t            scratch;
        memcpy(&c.params, lowering.params, sizeof lowering.params);
        HoloMatmulBlocksParams *params = (void *)&c.params;
        HoloCall                call   = call_init(&c, &host, in, out, &error);
        assert_int_equal(kernel_check(HOLO_KERNEL_matmul_blocks, &call, &scratch), HOLO_OK);
        if (i == 0) params->flags = 4;
        if (i == 6) params->flags = HOLO_MATMUL_BLOCKS_APART;
        if (i == 1) params->size = 4;
        if (i == 2) c.in[HOLO_BLOCKS_W].dim[0]--;
        if (i == 3) c.in[HOLO_BLOCKS_W].dim[1]--;
        if (i == 4) c.in[HOLO_BLOCKS_BIAS].dim[0]--;
        if (i == 5) c.in[HOLO_BLOCKS_X].dim[1]--;
        assert_true(kernel_check(HOLO_KERNEL_matmul_blocks, &call, &scratch));
        for (int k = 0; k < c.in_count; k++) free(c.in[k].data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),     cmocka_unit_test(plain_weights), cmocka_unit_test(no_rows),
        cmocka_unit_test(special_values), cmocka_unit_test(tail),          cmocka_unit_test(refused),
        cmocka_unit_test(largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
