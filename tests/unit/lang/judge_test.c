// judge_test.c - kernels in the reference: a wrong one is found, wherever it is wrong, and threads change nothing.
#include "support/models.h"

#include "kernels/kernels.h"
#include "ops/tensor.h"
#include "verify/products.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS_MAX = 4 };

typedef struct Case { // a graph with one output, computed with kernels that are judged
    HoloArena        arena;
    HoloGraph       *graph;
    HoloTensor       in[INPUTS_MAX], out;
    bool             blurs;
    HoloVerifyResult result;
    HoloError        error;
} Case;

static void case_open(Case *c, const char *text)
{
    HoloRandom random = {7};
    *c                = (Case){0};
    EXPECT_OK(holo_graph_parse(&c->arena, text, &c->graph, &error));
    EXPECT_OK(holo_graph_infer(c->graph, &error));
    for (int i = 0; i < c->graph->input_count; i++) {
        HoloTensor *t = &c->in[i];
        *t            = c->graph->inputs[i]->type;
        t->data       = holo_arena_take(&c->arena, holo_tensor_bytes(t));
        assert_non_null(t->data);
        bool is_float = holo_dtype_class((HoloDtype)t->dtype) == HOLO_CLASS_FLOAT;
        for (int64_t k = 0; k < holo_tensor_count(t); k++)
            if (is_float)
                holo_put_f(t, k, (double)((float)holo_random_normal(&random) / 4));
            else
                holo_put_i(t, k, (int64_t)(holo_random_next(&random) % 100));
    }
}

static HoloStatus case_run(Case *c, const HoloKernelTable *kernels, int threads)
{
    const HoloTensor *list[INPUTS_MAX] = {&c->in[0], &c->in[1], &c->in[2], &c->in[3]};
    HoloPool         *pool;
    HoloProducts      products;
    assert_int_equal(holo_pool_create(threads, &pool), HOLO_OK);
    HoloVerifyOptions options = {.relative = 1e-4, .absolute = 1e-6, .pool = pool};
    c->result                 = (HoloVerifyResult){0};
    c->error                  = (HoloError){0};
    HoloLowered lowered;
    assert_int_equal(holo_lower_graph(c->graph, NULL, &lowered, &c->error), HOLO_OK);
    holo_products_init(&products, c->graph, &lowered, kernels, &options, &c->result);
    products.blurs         = c->blurs;
    HoloEvalOptions eval   = holo_products_options(&products);
    HoloStatus      status = holo_graph_eval(c->graph, list, &c->out, &c->arena, &eval, &c->error);
    holo_products_deinit(&products);
    holo_lowered_deinit(&lowered);
    holo_pool_destroy(pool);
    return status;
}

// ---- kernels that are wrong

static const float mark = 50; // a row that begins with it comes out wrong

static void softmax_wrong(int64_t rows, int64_t columns, const float *x, float *out)
{
    for (int64_t r = 0; r < rows; r++) {
        bool is_marked = x[r * columns] == mark;
        holo_kernels(0)->softmax_f32(1, columns, x + r * columns, out + r * columns);
        if (is_marked) out[r * columns + columns - 1] += 0.01F;
    }
}

static void lstm_step_wrong(const HoloCellStep *step)
{
    holo_kernels(0)->lstm_step_f32(step);
    step->y[0] += 0.01F;
}

static void narrow_wrong(int64_t count, const float *x, uint16_t *out)
{
    holo_kernels(0)->narrow_f16(count, x, out);
    for (int64_t i = 0; i < count; i++) out[i] ^= 1 << 9; // the first bit behind the exponent
}

static HoloKernelTable kernels_wrong(void)
{
    HoloKernelTable kernels = *holo_kernels(0);
    kernels.narrow_f16      = narrow_wrong;
    kernels.softmax_f32     = softmax_wrong;
    kernels.lstm_step_f32   = lstm_step_wrong;
    return kernels;
}

// ---- tests

// Of large values only slices of rows are judged, but always the first row and the last.
static void test_slices(void **state)
{
    (void)state;
    enum { ROWS = 400, COLUMNS = 512 };
    HoloKernelTable wrong = kernels_wrong();
    Case            c;
    case_open(&c, "graph g(x: f32[400,512]) -> (y) {\n    y = Softmax@13(x)\n}\n");
    EXPECT_OK(case_run(&c, &wrong, 2));
    assert_int_equal(c.result.judged, 4 * 64 * COLUMNS);
    float *x = c.in[0].data;
    for (int last = 0; last < 2; last++) {
        float *row = x + (last ? (ROWS - 1) * COLUMNS : 0), kept = row[0];
        row[0] = mark;
        assert_int_equal(case_run(&c, &wrong, 2), HOLO_VERIFY);
        assert_non_null(strstr(c.error.text, last ? "element 204799 is" : "element 511 is"));
        assert_int_equal(case_run(&c, holo_kernels(0), 2), HOLO_OK);
        row[0] = kept;
    }
    holo_arena_deinit(&c.arena);
}

// Rows of products of integers are as good as those of a softmax: plainly all of them would take much longer than the
// kernel.
static void test_rows_of_products(void **state)
{
    (void)state;
    static const char *const inputs[] = {"a: u8[600,64], b: i8[64,512]", "a: u8[2,3,100,64], b: u8[2,3,64,512]",
                                         "a: u8[40,16,64], b: i8[40,64,512]"};
    for (int i = 0; i < HOLO_COUNT(inputs); i++) {
        Case c;
        char text[200];
        snprintf(text, sizeof text, "graph g(%s) -> (y) {\n    y = MatMulInteger@10(a, b)\n}\n", inputs[i]);
        case_open(&c, text);
        EXPECT_OK(case_run(&c, holo_kernels(0), 2));
        assert_int_equal(c.result.judged, 4 * 64 * 512);
        holo_arena_deinit(&c.arena);
    }
}

// Products of f16 are run by the kernel for f32, and judged by exact elements.
static void test_narrow(void **state)
{
    (void)state;
    HoloKernelTable wrong = kernels_wrong();
    Case            c;
    case_open(&c, "graph g(a: f16[200,128], b: f16[128,160]) -> (y) {\n    y = MatMul@13(a, b)\n}\n");
    EXPECT_OK(case_run(&c, holo_kernels(0), 2));
    assert_int_equal(c.result.nodes, 1);
    assert_int_equal(c.result.judged, 64);
    assert_int_equal(case_run(&c, &wrong, 2), HOLO_VERIFY);
    holo_arena_deinit(&c.arena);
}

// Small values are judged whole.
static void test_whole(void **state)
{
    (void)state;
    HoloKernelTable wrong = kernels_wrong();
    Case            c;
    case_open(&c, "graph g(x: f32[9,33]) -> (y) {\n    y = Softmax@13(x)\n}\n");
    EXPECT_OK(case_run(&c, &wrong, 1));
    assert_int_equal(c.result.judged, 9 * 33);
    ((float *)c.in[0].data)[4 * 33] = mark;
    assert_int_equal(case_run(&c, &wrong, 1), HOLO_VERIFY);
    assert_non_null(strstr(c.error.text, "element 164 is"));
    holo_arena_deinit(&c.arena);
}

// A recurrence is judged by its first steps, in both directions and with all of its outputs.
static void test_steps(void **state)
{
    (void)state;
    HoloKernelTable wrong = kernels_wrong();
    for (int steps = 3; steps <= 40; steps += 37) {
        Case c;
        char text[500];
        snprintf(text, sizeof text,
                 "graph g(x: f32[%d,2,8], w: f32[2,96,8], r: f32[2,96,24]) -> (y) {\n"
                 "    y, h, c = LSTM@14(x, w, r) {direction=\"bidirectional\", hidden_size=24}\n}\n",
                 steps);
        case_open(&c, text);
        EXPECT_OK(case_run(&c, holo_kernels(0), 2));
        assert_int_equal(c.result.judged, (steps < 16 ? steps : 16) * 2 * 2 * 24 + 2 * (2 * 2 * 24));
        assert_int_equal(case_run(&c, &wrong, 2), HOLO_VERIFY);
        assert_non_null(strstr(c.error.text, "LSTM"));
        holo_arena_deinit(&c.arena);
    }
}

// The same values, numbers of checks and worst element, whoever computes them.
static void test_threads(void **state)
{
    (void)state;
    const char *const texts[] = {
        "graph g(x: f32[300,700]) -> (y) {\n    a = Erf@13(x)\n    b = Mul@14(a, x)\n    y = Softmax@13(b)\n}\n",
        "graph g(x: f32[70,300], w: f32[300,260]) -> (y) {\n    a = MatMul@13(x, w)\n    y = Tanh@13(a)\n}\n",
        "graph g(x: f32[1,16,40,40], w: f32[8,16,3,3]) -> (y) {\n    a = Conv@11(x, w)\n    y = Sigmoid@13(a)\n}\n",
        ("graph g(x: f32[30,3,8], w: f32[1,64,8], r: f32[1,64,16]) -> (y) {\n"
         "    y = LSTM@14(x, w, r) {hidden_size=16}\n}\n"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Case one, many;
        case_open(&one, texts[i]);
        case_open(&many, texts[i]);
        EXPECT_OK(case_run(&one, holo_kernels(0), 1));
        EXPECT_OK(case_run(&many, holo_kernels(0), 4));
        assert_memory_equal(one.out.data, many.out.data, holo_tensor_bytes(&one.out));
        assert_int_equal(one.result.judged, many.result.judged);
        assert_true(one.result.worst_absolute == many.result.worst_absolute);
        assert_string_equal(one.result.worst_at, many.result.worst_at);
        holo_arena_deinit(&one.arena);
        holo_arena_deinit(&many.arena);
    }
}

// The same graph as it is, and put off by roundings.
static void run_both(const char *text, Case *plain, Case *blurred)
{
    case_open(plain, text);
    case_open(blurred, text);
    blurred->blurs = true;
    EXPECT_OK(case_run(plain, holo_kernels(0), 1));
    EXPECT_OK(case_run(blurred, holo_kernels(0), 1));
}

// What is put off by roundings moves, but sizes that pass through floats do not.
static void test_blurred(void **state)
{
    (void)state;
    Case plain, blurred;
    run_both("graph g(x: f32[601]) -> (y) {\n"
             "    const zero: i64[] = {0}\n"
             "    const one: i64[] = {1}\n"
             "    const half: f32[] = {0.5}\n"
             "    const much: f32[] = {1000000}\n"
             "    a = Tanh@13(x)\n"
             "    s = Size@13(x)\n"
             "    r = Range@11(zero, s, one)\n"
             "    n = Cast@13(r) {to=1}\n"
             "    m = Cast@13(r) {to=1}\n"
             "    t = Add@14(n, n)\n"
             "    h = Mul@14(t, half)\n"
             "    c = Ceil@13(h)\n"
             "    d = Sub@14(c, m)\n"
             "    e = Mul@14(d, much)\n"
             "    y = Add@14(a, e)\n}\n",
             &plain, &blurred);
    const float *was = plain.out.data, *is = blurred.out.data;
    int          moved = 0;
    for (int i = 0; i < 601; i++) {
        moved += was[i] != is[i];
        assert_true(fabsf(was[i] - is[i]) < 1e-3F);
    }
    assert_true(moved > 300);
    holo_arena_deinit(&plain.arena);
    holo_arena_deinit(&blurred.arena);
}

// A sum that is near zero is off by roundings of what it is the sum of.
static void test_blurred_sums(void **state)
{
    (void)state;
    Case plain, blurred;
    run_both("graph g(x: f32[601,2]) -> (y) {\n"
             "    const w: f32[2,1] = {1, -1}\n"
             "    y = MatMul@13(x, w)\n}\n",
             &plain, &blurred);
    const float *was = plain.out.data, *is = blurred.out.data;
    float        most = 0;
    for (int i = 0; i < 601; i++)
        if (was[i] != 0) most = fmaxf(most, fabsf(was[i] - is[i]) / fabsf(was[i]));
    assert_true(most > 0x1p-20F && most < 1);
    holo_arena_deinit(&plain.arena);
    holo_arena_deinit(&blurred.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slices),  cmocka_unit_test(test_rows_of_products),
        cmocka_unit_test(test_narrow),  cmocka_unit_test(test_whole),
        cmocka_unit_test(test_steps),   cmocka_unit_test(test_threads),
        cmocka_unit_test(test_blurred), cmocka_unit_test(test_blurred_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
