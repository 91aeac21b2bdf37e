// executor_kernels_test.c - executors with kernels: parts of buffers, programs of the standard library and of archives,
// and operations on whole rows in every type that they have.
#include "hologram.h"
#include "hologram_compiler.h"
#include "ops/op.h"
#include "support/models.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define OK(expression)                              \
    do {                                            \
        HoloError error = {0};                      \
        if (expression) fail_msg("%s", error.text); \
    } while (0)
#define REFUSED(words, expression)                                                              \
    do {                                                                                        \
        HoloError error = {0};                                                                  \
        assert_int_equal(expression, HOLO_BAD_ARGUMENT);                                        \
        if (!strstr(error.text, words)) fail_msg("\"%s\" is not in \"%s\"", words, error.text); \
    } while (0)

static HoloExecutor *executor(HoloPool *pool)
{
    HoloExecutor *e = NULL;
    OK(holo_executor_create("cpu", pool, &e, &error));
    return e;
}

static HoloBuffer *buffer(HoloExecutor *e, HoloDtype dtype, int64_t count)
{
    HoloBuffer *b = NULL;
    OK(holo_buffer_create(e, dtype, count, &b, &error));
    return b;
}

// ---- linear pools

// Two megabytes through a pool of 36 KiB: into one part, by a program to another, and out.
static void test_streams_through_a_pool(void **state)
{
    (void)state;
    enum { POOL = 36 << 10, PART = POOL / 2 / sizeof(float), ALL = 1 << 19 };
    HoloExecutor *e    = executor(NULL);
    HoloBuffer   *pool = buffer(e, HOLO_U8, POOL), *in = NULL, *out = NULL;
    HoloPortable *program = NULL;
    float        *from = malloc(ALL * sizeof *from), *to = calloc(ALL, sizeof *to);
    assert_true(from && to);
    for (int i = 0; i < ALL; i++) from[i] = (float)(i % 1001 - 500);
    OK(holo_buffer_create_part(pool, 0, HOLO_F32, PART, &in, &error));
    OK(holo_buffer_create_part(pool, POOL / 2, HOLO_F32, PART, &out, &error));
    OK(holo_portable_find(e, NULL, "activation_relu_f32", &program, &error));
    for (int at = 0; at < ALL; at += PART) {
        int64_t      count  = ALL - at < (int)PART ? ALL - at : (int)PART;
        HoloArgument args[] = {{.buffer = in}, {.buffer = out}, {.integer = count}};
        OK(holo_buffer_write(in, 0, count, from + at, &error));
        OK(holo_executor_run(e, program, args, 3, 0, &error));
        OK(holo_buffer_read(out, 0, count, to + at, &error));
    }
    for (int i = 0; i < ALL; i++)
        if (to[i] != (from[i] > 0 ? from[i] : 0)) fail_msg("element %d is %g", i, (double)to[i]);
    assert_ptr_equal(holo_buffer_map(out), (char *)holo_buffer_map(pool) + POOL / 2);
    free(from), free(to);
    holo_portable_destroy(program);
    holo_buffer_destroy(in), holo_buffer_destroy(out), holo_buffer_destroy(pool);
    holo_executor_destroy(e);
}

static void test_parts_stay_inside(void **state)
{
    (void)state;
    HoloExecutor *e    = executor(NULL);
    HoloBuffer   *pool = buffer(e, HOLO_U8, 100), *part = NULL, *inner = NULL;
    int           classes = holo_executor_free_classes(e);
    REFUSED("not aligned for f64", holo_buffer_create_part(pool, 4, HOLO_F64, 1, &part, &error));
    REFUSED("do not fit into a buffer of 100", holo_buffer_create_part(pool, 96, HOLO_F32, 2, &part, &error));
    REFUSED("do not fit into a buffer of 100", holo_buffer_create_part(pool, 104, HOLO_F32, 0, &part, &error));
    REFUSED("do not fit into a buffer of 100", holo_buffer_create_part(pool, SIZE_MAX - 3, HOLO_F32, 1, &part, &error));
    REFUSED("a buffer cannot have", holo_buffer_create_part(pool, 0, HOLO_F32, -1, &part, &error));
    OK(holo_buffer_create_part(pool, 48, HOLO_F32, 13, &part, &error));
    OK(holo_buffer_create_part(part, 48, HOLO_I32, 1, &inner, &error));
    *(int32_t *)holo_buffer_map(inner) = 77;
    assert_int_equal(((int32_t *)holo_buffer_map(pool))[24], 77);
    HoloBufferInfo info;
    holo_buffer_info(part, &info);
    assert_int_equal(info.class_id, HOLO_CLASS_FREE); // the classes are those of the whole
    assert_int_equal(info.bytes, 52);
    holo_buffer_destroy(inner), holo_buffer_destroy(part);
    assert_int_equal(holo_executor_free_classes(e), classes);
    holo_buffer_destroy(pool);
    holo_executor_destroy(e);
}

// ---- programs by name

static void expect_sums(HoloExecutor *e, HoloPortable *program)
{
    enum { COUNT = 1000 };
    HoloBuffer  *a = buffer(e, HOLO_F32, COUNT), *b = buffer(e, HOLO_F32, COUNT), *c = buffer(e, HOLO_F32, COUNT + 8);
    HoloArgument args[] = {{.buffer = a}, {.buffer = b}, {.buffer = c}, {.integer = COUNT}};
    for (int i = 0; i < COUNT; i++)
        ((float *)holo_buffer_map(a))[i] = (float)i, ((float *)holo_buffer_map(b))[i] = 0.5f;
    OK(holo_executor_run(e, program, args, 4, 0, &error));
    for (int i = 0; i < COUNT; i++) assert_true(((float *)holo_buffer_map(c))[i] == (float)i + 0.5f);
    for (int i = COUNT; i < COUNT + 8; i++) assert_true(((float *)holo_buffer_map(c))[i] == 0);
    args[3].integer = 0; // no lanes
    OK(holo_executor_run(e, program, args, 4, 0, &error));
    REFUSED("3 arguments for 4", holo_executor_run(e, program, args, 3, 0, &error));
    holo_buffer_destroy(a), holo_buffer_destroy(b), holo_buffer_destroy(c);
}

static void test_programs_by_name(void **state)
{
    (void)state;
    HoloExecutor *e       = executor(NULL);
    HoloPortable *program = NULL;
    HoloKernels  *kernels = NULL;
    HoloModel    *model   = NULL;
    const char   *path    = temp_path("kernels.holo");
    OK(holo_portable_find(e, NULL, "vector_add_f32", &program, &error));
    assert_int_equal(holo_portable_param_count(program), 4);
    expect_sums(e, program);
    holo_portable_destroy(program);
    OK(holo_kernels_open("kernels/stdlib/vector/vector_add.py", HOLO_FUSED, &kernels, &error));
    OK(holo_kernels_write(kernels, path, &error));
    holo_kernels_close(kernels);
    OK(holo_model_open(path, &model, &error));
    OK(holo_portable_find(e, model, "vector_add_f32", &program, &error));
    REFUSED("there is no program 'vector_sub_f32'", holo_portable_find(e, model, "vector_sub_f32", &program, &error));
    holo_model_close(model); // the program stays
    expect_sums(e, program);
    holo_portable_destroy(program);
    REFUSED("there is no program 'vector_add'", holo_portable_find(e, NULL, "vector_add", &program, &error));
    holo_executor_destroy(e);
    unlink(path);
}

// A program without a whole number does not say how many lanes it has.
static void test_lanes_of_a_program(void **state)
{
    (void)state;
    static const char text[] = "program p\nout y: i32[]\nvalue x: f32\nspecial.i32 r0, global_id\nst.i32 y[r0], r0\n";
    static const char with[] =
        "program p\nout y: i32[]\nvalue x: f32\nvalue n: u8\nspecial.i32 r0, global_id\nst.i32 y[r0], r0\n";
    HoloExecutor *e = executor(NULL);
    HoloPortable *a = NULL, *b = NULL;
    HoloBuffer   *y      = buffer(e, HOLO_I32, 200);
    HoloArgument  args[] = {{.buffer = y}, {.real = 1}, {.integer = 200}};
    HoloError     error  = {0};
    OK(holo_portable_create(e, text, sizeof text - 1, &a, &error));
    OK(holo_portable_create(e, with, sizeof with - 1, &b, &error));
    assert_int_equal(holo_executor_run(e, a, args, 2, 0, &error), HOLO_BAD_INPUT);
    assert_non_null(strstr(error.text, "no whole number"));
    OK(holo_executor_run(e, b, args, 3, 0, &error));
    for (int i = 0; i < 200; i++) assert_int_equal(((int32_t *)holo_buffer_map(y))[i], i);
    holo_portable_destroy(a), holo_portable_destroy(b);
    holo_buffer_destroy(y);
    holo_executor_destroy(e);
}

// ---- rows of every type

enum { M = 5, N = 33, K = 17, COUNT = 300 };

typedef struct Rows {
    HoloExecutor *e;
    HoloDtype     type;
    HoloBuffer   *a, *b, *out;
    double        x[COUNT], y[COUNT * 2]; // what is in a and b
} Rows;

static HoloTensor tensor(HoloBuffer *b, HoloDtype type, int64_t count)
{
    return (HoloTensor){
        .dtype = (uint8_t)type, .kind = HOLO_TENSOR, .rank = 1, .dim = {count}, .data = holo_buffer_map(b)};
}

static void rows_init(Rows *r, HoloExecutor *e, HoloDtype type)
{
    bool       is_float = type != HOLO_I32 && type != HOLO_I64;
    HoloRandom random   = {type};
    *r                  = (Rows){.e    = e,
                                 .type = type,
                                 .a    = buffer(e, type, COUNT),
                                 .b    = buffer(e, type, COUNT * 2),
                                 .out  = buffer(e, type, COUNT * 2)};
    HoloTensor a = tensor(r->a, type, COUNT), b = tensor(r->b, type, COUNT * 2);
    for (int i = 0; i < COUNT * 2; i++) {
        double x = 0.0625 + 0.875 * holo_random_unit(&random), y = 0.0625 + 0.875 * holo_random_unit(&random);
        if (i < COUNT) holo_put_f(&a, i, is_float ? x : floor(40 * x) - 20), r->x[i] = holo_get_f(&a, i);
        holo_put_f(&b, i, is_float ? y : floor(40 * y) - 20), r->y[i] = holo_get_f(&b, i);
    }
}

static void rows_deinit(Rows *r)
{
    holo_buffer_destroy(r->a), holo_buffer_destroy(r->b), holo_buffer_destroy(r->out);
}

static void expect(const Rows *r, int i, double want)
{
    static const double part[HOLO_DTYPE_COUNT] = {
        [HOLO_F32] = 1e-5, [HOLO_F64] = 1e-12, [HOLO_F16] = 3e-3, [HOLO_BF16] = 2e-2};
    HoloTensor out = tensor(r->out, r->type, COUNT * 2);
    double     got = holo_get_f(&out, i);
    if (fabs(got - want) > part[r->type] * fmax(1, fabs(want)))
        fail_msg("%s: element %d is %.9g and should be %.9g", holo_dtype_name(r->type), i, got, want);
}

static void reductions_and_products(const Rows *r)
{
    double sum = 0, least = INFINITY, most = -INFINITY;
    for (int i = 0; i < COUNT; i++) sum += r->x[i], least = fmin(least, r->x[i]), most = fmax(most, r->x[i]);
    OK(holo_executor_reduce(r->e, HOLO_REDUCTION_SUM, r->a, r->out, COUNT, &error));
    expect(r, 0, sum);
    OK(holo_executor_reduce(r->e, HOLO_REDUCTION_MIN, r->a, r->out, COUNT, &error));
    expect(r, 0, least);
    OK(holo_executor_reduce(r->e, HOLO_REDUCTION_MAX, r->a, r->out, COUNT, &error));
    expect(r, 0, most);
    OK(holo_executor_gemm(r->e, r->a, r->b, r->out, M, N, K, &error));
    for (int i = 0; i < M * N; i++) {
        double product = 0;
        for (int k = 0; k < K; k++) product += r->x[i / N * K + k] * r->y[k * N + i % N];
        expect(r, i, product);
    }
    OK(holo_executor_matvec(r->e, r->a, r->b, r->out, M, K, &error));
    for (int i = 0; i < M; i++) {
        double product = 0;
        for (int k = 0; k < K; k++) product += r->x[i * K + k] * r->y[k];
        expect(r, i, product);
    }
}

static void functions(const Rows *r)
{
    double sum = 0, squares = 0, cross = 0, both = 0;
    for (int i = 0; i < COUNT; i++) {
        double p = r->x[i], t = r->y[i];
        sum += p, squares += (p - t) * (p - t), cross -= t * log(p), both -= t * log(p) + (1 - t) * log(1 - p);
    }
    OK(holo_executor_reduce(r->e, HOLO_REDUCTION_MEAN, r->a, r->out, COUNT, &error));
    expect(r, 0, sum / COUNT);
    OK(holo_executor_loss(r->e, HOLO_LOSS_MSE, r->a, r->b, r->out, COUNT, &error));
    expect(r, 0, squares / COUNT);
    OK(holo_executor_loss(r->e, HOLO_LOSS_CROSS_ENTROPY, r->a, r->b, r->out, COUNT, &error));
    expect(r, 0, cross);
    OK(holo_executor_loss(r->e, HOLO_LOSS_BINARY_CROSS_ENTROPY, r->a, r->b, r->out, COUNT, &error));
    expect(r, 0, both / COUNT);
    OK(holo_executor_softmax(r->e, r->a, r->out, COUNT / 100, 100, &error));
    for (int i = 0; i < COUNT; i++) {
        double all = 0;
        for (int k = 0; k < 100; k++) all += exp(r->x[i / 100 * 100 + k]);
        expect(r, i, exp(r->x[i]) / all);
    }
}

static void test_rows_of_every_type(void **state)
{
    (void)state;
    static const HoloDtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16, HOLO_I32, HOLO_I64};
    HoloPool              *pool    = NULL;
    assert_int_equal(holo_pool_create(2, &pool), HOLO_OK);
    HoloExecutor *e = executor(pool);
    for (int i = 0; i < HOLO_COUNT(types); i++) {
        Rows r;
        rows_init(&r, e, types[i]);
        reductions_and_products(&r);
        if (i < 4)
            functions(&r);
        else {
            REFUSED("there is no mean for i", holo_executor_reduce(e, HOLO_REDUCTION_MEAN, r.a, r.out, COUNT, &error));
            REFUSED("there is no loss for i", holo_executor_loss(e, HOLO_LOSS_MSE, r.a, r.b, r.out, COUNT, &error));
            REFUSED("there is no softmax for i", holo_executor_softmax(e, r.a, r.out, 3, 100, &error));
        }
        rows_deinit(&r);
    }
    holo_executor_destroy(e);
    holo_pool_destroy(pool);
}

// Rows are spread over threads, and give the same bits.
static void test_softmax_on_threads(void **state)
{
    (void)state;
    enum { ROWS = 301, COLUMNS = 257 };
    static float want[ROWS * COLUMNS];
    for (int threads = 1; threads <= 4; threads *= 2) {
        HoloPool *pool = NULL;
        assert_int_equal(holo_pool_create(threads, &pool), HOLO_OK);
        HoloExecutor *e = executor(pool);
        HoloBuffer   *a = buffer(e, HOLO_F32, ROWS * COLUMNS);
        for (int i = 0; i < ROWS * COLUMNS; i++) ((float *)holo_buffer_map(a))[i] = (float)(i * 7919 % 1000) * 0.01f;
        OK(holo_executor_softmax(e, a, a, ROWS, COLUMNS, &error));
        if (threads == 1) memcpy(want, holo_buffer_map(a), sizeof want);
        assert_memory_equal(holo_buffer_map(a), want, sizeof want);
        holo_buffer_destroy(a);
        holo_executor_destroy(e);
        holo_pool_destroy(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_through_a_pool), cmocka_unit_test(test_parts_stay_inside),
        cmocka_unit_test(test_programs_by_name),       cmocka_unit_test(test_lanes_of_a_program),
        cmocka_unit_test(test_rows_of_every_type),     cmocka_unit_test(test_softmax_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
