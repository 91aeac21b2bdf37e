// executor_test.c - executors: the pool of classes, buffers, launches and single operations.
#include "hologram.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static HoloExecutor *executor(HoloPool *pool)
{
    HoloExecutor *e     = NULL;
    HoloError     error = {0};
    if (holo_executor_create("auto", pool, &e, &error)) fail_msg("%s", error.text);
    assert_string_equal(holo_executor_backend(e), "cpu");
    return e;
}

static HoloBuffer *buffer(HoloExecutor *e, HoloDtype dtype, int64_t count)
{
    HoloBuffer *b     = NULL;
    HoloError   error = {0};
    if (holo_buffer_create(e, dtype, count, &b, &error)) fail_msg("%s", error.text);
    return b;
}

static HoloBufferInfo info(const HoloBuffer *b)
{
    HoloBufferInfo i;
    holo_buffer_info(b, &i);
    return i;
}

#define OK(expression)                              \
    do {                                            \
        HoloError error = {0};                      \
        if (expression) fail_msg("%s", error.text); \
    } while (0)

static void test_classes(void **state)
{
    (void)state;
    HoloExecutor *e = executor(NULL);
    HoloBuffer   *a = buffer(e, HOLO_F32, 3072), *b = buffer(e, HOLO_F32, 3073), *c = buffer(e, HOLO_U8, 0);
    assert_int_equal(info(a).class_id, 0); // the first is class 0
    assert_int_equal(info(a).class_count, 1);
    assert_int_equal(info(b).class_id, 1); // two that follow each other
    assert_int_equal(info(b).class_count, 2);
    assert_int_equal(info(c).class_count, 1);
    assert_int_equal(holo_executor_free_classes(e), 92);
    HoloBuffer *large = buffer(e, HOLO_U8, 788480); // 65 classes: none
    assert_int_equal(info(large).class_id, HOLO_CLASS_FREE);
    assert_int_equal(info(large).class_count, 0);
    HoloBuffer *wide = buffer(e, HOLO_U8, 48 * HOLO_CLASS_BYTES);
    assert_int_equal(info(wide).class_count, 48);
    HoloBuffer *again =
        buffer(e, HOLO_U8, 48 * HOLO_CLASS_BYTES); // there are not so many left: it goes on all the same
    assert_int_equal(info(again).class_id, HOLO_CLASS_FREE);
    memset(holo_buffer_map(a), 1, info(a).bytes);
    holo_buffer_destroy(a);
    a = buffer(e, HOLO_U8, 5); // the class that was freed last, zeroed
    assert_int_equal(info(a).class_id, 0);
    for (int i = 0; i < 5; i++) assert_int_equal(((uint8_t *)holo_buffer_map(a))[i], 0);
    assert_true(info(a).id > info(again).id);
    HoloBuffer *all[200];
    for (int i = 0; i < 200; i++) all[i] = buffer(e, HOLO_U8, 1);
    assert_int_equal(holo_executor_free_classes(e), 0);
    assert_int_equal(info(all[199]).class_id, HOLO_CLASS_FREE);
    for (int i = 0; i < 200; i++) holo_buffer_destroy(all[i]);
    HoloBuffer *rest[] = {a, b, c, large, wide, again};
    for (int i = 0; i < 6; i++) holo_buffer_destroy(rest[i]);
    assert_int_equal(holo_executor_free_classes(e), 96);
    holo_executor_destroy(e);
}

static void test_boundary_buffers_take_their_class(void **state)
{
    (void)state;
    HoloExecutor *e = executor(NULL);
    HoloBuffer   *b = NULL, *other = NULL;
    OK(holo_buffer_create_boundary(e, HOLO_F32, 0, 48, 256, &b, &error));
    assert_int_equal(info(b).class_id, 0);
    assert_int_equal(info(b).count, 3072);
    assert_true(info(b).is_boundary);
    assert_int_equal(holo_buffer_create_boundary(e, HOLO_F32, 0, 1, 1, &other, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_buffer_create_boundary(e, HOLO_F32, 96, 1, 1, &other, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_buffer_create_boundary(e, HOLO_F32, 1, 49, 1, &other, NULL), HOLO_BAD_ARGUMENT);
    other = buffer(e, HOLO_F32, 1);
    assert_int_equal(info(other).class_id, 1);
    holo_buffer_destroy(other);
    holo_buffer_destroy(b);
    holo_executor_destroy(e);
}

static void test_copies_stay_inside(void **state)
{
    (void)state;
    HoloExecutor *e    = executor(NULL);
    HoloBuffer   *b    = buffer(e, HOLO_I16, 10);
    int16_t       in[] = {1, 2, 3}, out[10];
    OK(holo_buffer_write(b, 7, 3, in, &error));
    OK(holo_buffer_read(b, 0, 10, out, &error));
    assert_int_equal(out[9], 3);
    assert_int_equal(out[6], 0);
    assert_int_equal(holo_buffer_write(b, 8, 3, in, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_buffer_write(b, -1, 3, in, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_buffer_read(b, 0, INT64_MAX, out, NULL), HOLO_BAD_ARGUMENT);
    HoloBuffer *none = NULL;
    assert_int_equal(holo_buffer_create(e, HOLO_STRING, 1, &none, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_buffer_create(e, HOLO_F32, INT64_MAX, &none, NULL), HOLO_BAD_ARGUMENT);
    holo_buffer_destroy(b);
    holo_executor_destroy(e);
    assert_int_equal(holo_executor_create("metal", NULL, &e, NULL), HOLO_UNSUPPORTED);
}

static const char text[] = "program axpy\nin x: f32[]\ninout y: f32[]\nvalue a: f32\nvalue n: i32\n"
                           "special.i32 r0, global_id\nparam.i32 r1, n\nset.lt.i32 p2, r0, r1\nif p2\nparam.f32 r3, a\n"
                           "ld.f32 r4, x[r0]\nld.f32 r5, y[r0]\nmad.f32 r6, r4, r3, r5\nst.f32 y[r0], r6\nend\n";

// With any number of threads, the same.
static void test_launches(void **state)
{
    (void)state;
    enum { N = 100000 };
    for (int threads = 1; threads <= 4; threads *= 2) {
        HoloPool *pool = NULL;
        assert_int_equal(holo_pool_create(threads, &pool), HOLO_OK);
        HoloExecutor *e = executor(pool);
        HoloPortable *p = NULL;
        OK(holo_portable_create(e, text, strlen(text), &p, &error));
        HoloPortableParam param;
        assert_string_equal(holo_portable_name(p), "axpy");
        assert_int_equal(holo_portable_param_count(p), 4);
        assert_true(holo_portable_param(p, 1, &param) && param.is_read && param.is_written && param.dtype == HOLO_F32);
        assert_false(holo_portable_param(p, 4, &param));
        HoloBuffer *x = buffer(e, HOLO_F32, N), *y = buffer(e, HOLO_F32, N);
        for (int i = 0; i < N; i++) ((float *)holo_buffer_map(x))[i] = (float)i;
        HoloArgument args[] = {{x, 0, 0}, {y, 0, 0}, {NULL, 0, 0.5}, {NULL, N, 0}};
        HoloLaunch   launch = {.grid = {(N + 255) / 256}, .block = {256}};
        for (int k = 0; k < 3; k++) OK(holo_executor_launch(e, p, &launch, args, 4, &error));
        for (int i = 0; i < N; i++) assert_true(((float *)holo_buffer_map(y))[i] == (float)i * 1.5f);
        HoloError error = {0};
        args[3].integer = N + 200; // lanes beyond the arrays
        assert_int_equal(holo_executor_launch(e, p, &launch, args, 4, &error), HOLO_BAD_INPUT);
        assert_string_equal(error.text,
                            "program axpy, instruction 5 (ld), block 390,0,0, lane 160,0,0: an index is out of "
                            "range: x[100000], which has 100000 elements");
        assert_int_equal(holo_executor_launch(e, p, &launch, args, 3, NULL), HOLO_BAD_ARGUMENT);
        args[0].buffer = NULL;
        assert_int_equal(holo_executor_launch(e, p, &launch, args, 4, NULL), HOLO_BAD_ARGUMENT);
        holo_portable_destroy(p);
        holo_buffer_destroy(x);
        holo_buffer_destroy(y);
        holo_executor_destroy(e);
        holo_pool_destroy(pool);
    }
}

// ---- single operations

static double expected(HoloOperation op, double a, double b)
{
    switch (op) {
    case HOLO_OPERATION_ADD: return a + b;
    case HOLO_OPERATION_SUB: return a - b;
    case HOLO_OPERATION_MUL: return a * b;
    case HOLO_OPERATION_DIV: return a / b;
    case HOLO_OPERATION_MIN: return fmin(a, b);
    case HOLO_OPERATION_MAX: return fmax(a, b);
    case HOLO_OPERATION_POW: return pow(a, b);
    case HOLO_OPERATION_ABS: return fabs(a);
    case HOLO_OPERATION_NEG: return -a;
    case HOLO_OPERATION_SQRT: return sqrt(a);
    case HOLO_OPERATION_RSQRT: return 1 / sqrt(a);
    case HOLO_OPERATION_EXP: return exp(a);
    case HOLO_OPERATION_LOG: return log(a);
    case HOLO_OPERATION_SIN: return sin(a);
    case HOLO_OPERATION_COS: return cos(a);
    case HOLO_OPERATION_RELU: return fmax(a, 0);
    case HOLO_OPERATION_SIGMOID: return 1 / (1 + exp(-a));
    case HOLO_OPERATION_TANH: return tanh(a);
    default: return 0.5 * a * (1 + tanh(0.7978845608028654 * (a + 0.044715 * a * a * a)));
    }
}

static void expect_near(float got, double want)
{
    if (!(fabs(got - want) <= 1e-5 * (1 + fabs(want)))) fail_msg("%.9g, not %.9g", got, want);
}

static void test_pointwise_operations(void **state)
{
    (void)state;
    static const int sizes[] = {0, 1, 15, 16, 17, 1000, 20000};
#define X(id, value, operands) {HOLO_OPERATION_##id, operands},
    static const struct {
        HoloOperation op;
        int           operands;
    } ops[] = {HOLO_OPERATION_MAP(X)};
#undef X
    HoloExecutor *e = executor(NULL);
    HoloBuffer   *a = buffer(e, HOLO_F32, 20000), *b = buffer(e, HOLO_F32, 20000), *c = buffer(e, HOLO_F32, 20000);
    float        *x = holo_buffer_map(a), *y = holo_buffer_map(b), *z = holo_buffer_map(c);
    for (int i = 0; i < 20000; i++) x[i] = 0.5f + (float)(i % 97) * 0.03f, y[i] = 1 + (float)(i % 31) * 0.1f;
    for (int k = 0; k < (int)(sizeof ops / sizeof *ops); k++)
        for (int s = 0; s < (int)(sizeof sizes / sizeof *sizes); s++) {
            int n = sizes[s];
            if (ops[k].operands == 1) {
                OK(holo_executor_map(e, ops[k].op, a, c, n, &error));
                for (int i = 0; i < n; i++) expect_near(z[i], expected(ops[k].op, x[i], 0));
                continue;
            }
            OK(holo_executor_combine(e, ops[k].op, a, b, 1, 0, c, n, &error));
            for (int i = 0; i < n; i++) expect_near(z[i], expected(ops[k].op, x[i], y[i]));
            OK(holo_executor_combine(e, ops[k].op, a, b, 4, 3, c, n, &error));
            for (int i = 0; i < n; i++) expect_near(z[i], expected(ops[k].op, x[i], y[i / 4 % 3]));
            OK(holo_executor_combine_scalar(e, ops[k].op, a, 1.25, c, n, &error));
            for (int i = 0; i < n; i++) expect_near(z[i], expected(ops[k].op, x[i], 1.25));
        }
    assert_int_equal(holo_executor_map(e, HOLO_OPERATION_ADD, a, c, 1, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_combine(e, HOLO_OPERATION_ABS, a, b, 1, 0, c, 1, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_map(e, HOLO_OPERATION_ABS, a, c, 20001, NULL), HOLO_BAD_ARGUMENT);
    OK(holo_executor_clip(e, a, 1, 2, c, 100, &error));
    for (int i = 0; i < 100; i++) assert_true(z[i] == fminf(fmaxf(x[i], 1), 2));
    OK(holo_executor_fill(e, -3, c, 10, &error));
    OK(holo_executor_copy(e, c, a, 5, &error));
    assert_true(x[4] == -3 && x[5] == 0.5f + 5 * 0.03f);
    holo_buffer_destroy(a), holo_buffer_destroy(b), holo_buffer_destroy(c);
    HoloBuffer *i = buffer(e, HOLO_I32, 3); // another type: integers wrap
    OK(holo_executor_fill(e, 2000000000, i, 3, &error));
    OK(holo_executor_combine(e, HOLO_OPERATION_ADD, i, i, 1, 0, i, 3, &error));
    assert_int_equal(((int32_t *)holo_buffer_map(i))[2], -294967296);
    assert_int_equal(holo_executor_map(e, HOLO_OPERATION_EXP, i, i, 1, NULL), HOLO_BAD_ARGUMENT);
    holo_buffer_destroy(i);
    holo_executor_destroy(e);
}

static void test_sums_products_and_losses(void **state)
{
    (void)state;
    HoloPool *pool = NULL;
    assert_int_equal(holo_pool_create(2, &pool), HOLO_OK);
    HoloExecutor *e = executor(pool);
    enum { M = 300, N = 33, K = 70 };
    HoloBuffer *a = buffer(e, HOLO_F32, M * K), *b = buffer(e, HOLO_F32, K * N), *c = buffer(e, HOLO_F32, M * N);
    float      *x = holo_buffer_map(a), *y = holo_buffer_map(b), *z = holo_buffer_map(c);
    for (int i = 0; i < M * K; i++) x[i] = (float)(i % 13) * 0.05f + 0.1f;
    for (int i = 0; i < K * N; i++) y[i] = (float)(i % 7) * 0.1f + 0.05f;
    OK(holo_executor_gemm(e, a, b, c, M, N, K, &error));
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < K; k++) sum += (double)x[i * K + k] * y[k * N + j];
            expect_near(z[i * N + j], sum);
        }
    assert_int_equal(holo_executor_gemm(e, a, b, a, M, N, K, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_gemm(e, a, b, c, M, N, K + 1, NULL), HOLO_BAD_ARGUMENT);
    OK(holo_executor_matvec(e, a, b, c, M, K, &error));
    double row = 0, sum = 0, least = 1e9, squares = 0, cross = 0, both = 0;
    for (int k = 0; k < K; k++) row += (double)x[K + k] * y[k];
    expect_near(z[1], row);
    enum { COUNT = 1000 };
    for (int i = 0; i < COUNT; i++) {
        double p = x[i], t = y[i];
        sum += p, least    = fmin(least, p), squares += (p - t) * (p - t), cross -= t * log(p);
        both -= t * log(p) + (1 - t) * log(1 - p);
    }
    OK(holo_executor_reduce(e, HOLO_REDUCTION_SUM, a, c, COUNT, &error));
    expect_near(z[0], sum);
    OK(holo_executor_reduce(e, HOLO_REDUCTION_MEAN, a, c, COUNT, &error));
    expect_near(z[0], sum / COUNT);
    OK(holo_executor_reduce(e, HOLO_REDUCTION_MIN, a, c, COUNT, &error));
    expect_near(z[0], least);
    OK(holo_executor_loss(e, HOLO_LOSS_MSE, a, b, c, COUNT, &error));
    expect_near(z[0], squares / COUNT);
    OK(holo_executor_loss(e, HOLO_LOSS_CROSS_ENTROPY, a, b, c, COUNT, &error));
    expect_near(z[0], cross);
    OK(holo_executor_loss(e, HOLO_LOSS_BINARY_CROSS_ENTROPY, a, b, c, COUNT, &error));
    expect_near(z[0], both / COUNT);
    OK(holo_executor_softmax(e, b, c, 2, 3, &error));
    for (int i = 0; i < 6; i++)
        expect_near(z[i], exp(y[i]) / (exp(y[i / 3 * 3]) + exp(y[i / 3 * 3 + 1]) + exp(y[i / 3 * 3 + 2])));
    assert_int_equal(holo_executor_reduce(e, HOLO_REDUCTION_SUM, a, c, 0, NULL), HOLO_BAD_ARGUMENT);
    holo_buffer_destroy(a), holo_buffer_destroy(b), holo_buffer_destroy(c);
    holo_executor_destroy(e);
    holo_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_boundary_buffers_take_their_class),
        cmocka_unit_test(test_copies_stay_inside),
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_pointwise_operations),
        cmocka_unit_test(test_sums_products_and_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
