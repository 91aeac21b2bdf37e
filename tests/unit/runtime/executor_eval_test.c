// executor_eval_test.c - the single operations of executors against `eval` of the operators that they are, for every
// type that they have and sizes around those of vectors.
#include "format/dtype.h"
#include "hologram.h"
#include "support/op_run.h"

#include <math.h>
#include <stdio.h>

static const int64_t sizes[] = {0, 1, 15, 16, 17, 1000};
enum { LARGEST = 1000 };

#define OK(expression)                              \
    do {                                            \
        HoloError error = {0};                      \
        if (expression) fail_msg("%s", error.text); \
    } while (0)

// ---- operators

static HoloTensor apply(const char *name, int version, const HoloTensor *x, const HoloTensor *y, HoloAttr attr)
{
    TestOp op = {.domain     = "",
                 .name       = name,
                 .version    = version,
                 .in         = {x, y},
                 .in_count   = y ? 2 : 1,
                 .out_count  = 1,
                 .attr       = {attr},
                 .attr_count = attr.name ? 1 : 0};
    if (test_run(&op)) fail_msg("%s of %s", name, holo_dtype_name((HoloDtype)x->dtype));
    return op.out[0];
}

static HoloTensor plain(const char *name, const HoloTensor *x, const HoloTensor *y)
{
    return apply(name, 20, x, y, (HoloAttr){0});
}

static HoloTensor all_of(const char *name, const HoloTensor *x)
{
    return apply(name, 20, x, NULL, (HoloAttr)TEST_INT("keepdims", 0));
}

// ---- numbers

// Ordinary numbers, and now and then one that hurts. Of integers, none is 0 where `is_divisor`.
static HoloTensor numbers(HoloDtype type, int64_t n, uint64_t seed, bool is_divisor)
{
    static const double special[] = {0,      -0.0, INFINITY, -INFINITY, NAN,   1e-40, -1e-310, 3e38,
                                     -60000, 1,    -1,       1e-7,      200.5, 2,     0.5,     1e300};
    HoloTensor          t         = test_tensor(type, 1, TEST_DIM(n));
    HoloRandom          random    = {seed};
    for (int64_t i = 0; i < n; i++) {
        uint64_t any = holo_random_next(&random);
        if (HOLO_TYPES_FLOAT >> type & 1)
            holo_put_f(&t, i, any % 5 ? holo_random_normal(&random) * 3 : special[(any >> 8) % HOLO_COUNT(special)]);
        else
            holo_put_i(&t, i,
                       is_divisor ? (int64_t)(any % 100) + 1 : (int64_t)(any % 200) - (type == HOLO_U8 ? 0 : 100));
    }
    return t;
}

static HoloBuffer *buffer_of(HoloExecutor *e, const HoloTensor *t)
{
    HoloBuffer *b = NULL;
    OK(holo_buffer_create(e, (HoloDtype)t->dtype, holo_tensor_count(t), &b, &error));
    OK(holo_buffer_write(b, 0, holo_tensor_count(t), t->data, &error));
    return b;
}

static HoloTensor tensor_of(HoloBuffer *b, int64_t n)
{
    HoloBufferInfo info;
    holo_buffer_info(b, &info);
    HoloTensor t = {.dtype = (uint8_t)info.dtype, .rank = 1, .dim = {n}, .data = holo_buffer_map(b)};
    return t;
}

static int digits_of(HoloDtype type)
{
    return type == HOLO_F64 ? 53 : type == HOLO_F32 ? 24 : type == HOLO_F16 ? 11 : 8;
}

// Within `ulps` of the larger of the two (with `of`: of the argument, where that is larger). Integers are the same.
static void expect(const char *what, const HoloTensor *got, const HoloTensor *want, const HoloTensor *of, double ulps)
{
    HoloDtype type = (HoloDtype)got->dtype;
    assert_int_equal(type, want->dtype);
    assert_int_equal(holo_tensor_count(got), holo_tensor_count(want));
    for (int64_t i = 0; i < holo_tensor_count(got); i++) {
        double a = holo_get_f(got, i), b = holo_get_f(want, i);
        double size  = fmax(fmax(fabs(a), fabs(b)), of ? fabs(holo_get_f(of, i)) : 0);
        double least = type == HOLO_F16 ? 0x1p-14 : type == HOLO_F64 ? 0x1p-1022 : 0x1p-126;
        if (a == b || (a != a && b != b)) continue;
        int exponent;
        frexp(fmax(size, least), &exponent);
        if (!(fabs(a - b) <= ldexp(ulps, exponent - digits_of(type))))
            fail_msg("%s of %s, %lld elements: element %lld is %.17g, not %.17g", what, holo_dtype_name(type),
                     (long long)holo_tensor_count(got), (long long)i, a, b);
    }
}

// ---- pointwise operations

typedef struct Row {
    HoloOperation op;
    const char   *name; // of the operator; NULL: see `wanted`
    bool          has_integers;
    double        f32, f64, small; // how far they may be apart, in units in the last place; small: f16 and bf16
    bool          of_argument;     // units of the argument
} Row;

static const Row rows[] = {
    {HOLO_OPERATION_ADD, "Add", true, 0, 0, 0, false},          {HOLO_OPERATION_SUB, "Sub", true, 0, 0, 0, false},
    {HOLO_OPERATION_MUL, "Mul", true, 0, 0, 0, false},          {HOLO_OPERATION_DIV, "Div", true, 0, 0, 0, false},
    {HOLO_OPERATION_MIN, "Min", true, 0, 0, 0, false},          {HOLO_OPERATION_MAX, "Max", true, 0, 0, 0, false},
    {HOLO_OPERATION_POW, "Pow", false, 1, 1, 1, false},         {HOLO_OPERATION_ABS, "Abs", true, 0, 0, 0, false},
    {HOLO_OPERATION_NEG, "Neg", true, 0, 0, 0, false},          {HOLO_OPERATION_SQRT, "Sqrt", false, 0, 0, 0, false},
    {HOLO_OPERATION_RSQRT, NULL, false, 0, 0, 2, false},        {HOLO_OPERATION_EXP, "Exp", false, 2, 0, 1, false},
    {HOLO_OPERATION_LOG, "Log", false, 2, 0, 1, false},         {HOLO_OPERATION_SIN, "Sin", false, 2, 0, 1, false},
    {HOLO_OPERATION_COS, "Cos", false, 2, 0, 1, false},         {HOLO_OPERATION_RELU, "Relu", true, 0, 0, 0, false},
    {HOLO_OPERATION_SIGMOID, "Sigmoid", false, 3, 0, 1, false}, {HOLO_OPERATION_TANH, "Tanh", false, 3, 0, 1, false},
    {HOLO_OPERATION_GELU, NULL, false, 8, 8, 4, true},
};

static int operands(HoloOperation op)
{
    return op < HOLO_OPERATION_ABS ? 2 : 1;
}

static HoloTensor wanted(const Row *row, const HoloTensor *x, const HoloTensor *y)
{
    if (row->op == HOLO_OPERATION_GELU) return apply("Gelu", 20, x, NULL, (HoloAttr)TEST_TEXT("approximate", "tanh"));
    if (row->op != HOLO_OPERATION_RSQRT) return plain(row->name, x, y);
    HoloTensor root = plain("Sqrt", x, NULL);
    return plain("Reciprocal", &root, NULL);
}

static double ulps_of(const Row *row, HoloDtype type)
{
    return type == HOLO_F32 ? row->f32 : type == HOLO_F64 ? row->f64 : row->small;
}

typedef struct Case {
    HoloExecutor *e;
    const Row    *row;
    HoloDtype     type;
    int64_t       n;
    HoloTensor    x, y;
} Case;

static void judge(const Case *c, HoloBuffer *out, const HoloTensor *y, const char *how)
{
    HoloTensor got = tensor_of(out, c->n), want = wanted(c->row, &c->x, y);
    char       what[60];
    snprintf(what, sizeof what, "operation %d, %s,", (int)c->row->op, how);
    expect(what, &got, &want, c->row->of_argument ? &c->x : NULL, ulps_of(c->row, c->type));
}

static void run_two(const Case *c, HoloBuffer *a, HoloBuffer *out)
{
    HoloBuffer *b = buffer_of(c->e, &c->y);
    OK(holo_executor_combine(c->e, c->row->op, a, b, 1, 0, out, c->n, &error));
    judge(c, out, &c->y, "pairs");
    HoloTensor spread = test_tensor(c->type, 1, TEST_DIM(c->n)), one = test_tensor(c->type, 0, NULL);
    size_t     size   = holo_dtype_size(c->type);
    int64_t    period = c->n < 3 ? 1 : 3;
    for (int64_t i = 0; i < c->n; i++)
        memcpy((uint8_t *)spread.data + (size_t)i * size, (uint8_t *)c->y.data + (size_t)(i / 5 % period) * size, size);
    if (c->n) {
        OK(holo_executor_combine(c->e, c->row->op, a, b, 5, period, out, c->n, &error));
        judge(c, out, &spread, "repeated");
    }
    holo_put_f(&one, 0, 3);
    OK(holo_executor_combine_scalar(c->e, c->row->op, a, 3, out, c->n, &error));
    judge(c, out, &one, "with a number");
    OK(holo_executor_combine(c->e, c->row->op, a, b, 1, 0, b, c->n, &error));
    judge(c, b, &c->y, "in the place of b");
    holo_buffer_destroy(b);
}

static void run_case(const Case *c)
{
    HoloBuffer *a = buffer_of(c->e, &c->x), *out = buffer_of(c->e, &c->x);
    if (operands(c->row->op) == 2) {
        run_two(c, a, out);
    } else {
        OK(holo_executor_map(c->e, c->row->op, a, out, c->n, &error));
        judge(c, out, NULL, "alone");
        OK(holo_executor_map(c->e, c->row->op, a, a, c->n, &error));
        judge(c, a, NULL, "in its place");
    }
    holo_buffer_destroy(a), holo_buffer_destroy(out);
}

static HoloExecutor *executor(void)
{
    HoloExecutor *e = NULL;
    OK(holo_executor_create("cpu", NULL, &e, &error));
    return e;
}

static void test_pointwise(void **state)
{
    (void)state;
    static const HoloDtype types[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_BF16, HOLO_I32, HOLO_I64, HOLO_U8};
    HoloExecutor          *e       = executor();
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        for (int t = 0; t < HOLO_COUNT(types); t++)
            for (int s = 0; s < HOLO_COUNT(sizes); s++) {
                bool is_float = HOLO_TYPES_FLOAT >> types[t] & 1, is_divisor = rows[i].op == HOLO_OPERATION_DIV;
                if (!is_float && !rows[i].has_integers) continue;
                if (types[t] == HOLO_U8 && operands(rows[i].op) == 1) continue; // without a sign
                run_case(&(Case){e, &rows[i], types[t], sizes[s], numbers(types[t], sizes[s], 3, false),
                                 numbers(types[t], sizes[s], 4, is_divisor && !is_float)});
                holo_arena_deinit(&test_arena);
            }
    holo_executor_destroy(e);
}

// What cannot be done is refused, and says why.
static void test_refused(void **state)
{
    (void)state;
    HoloExecutor *e = executor(), *other = executor();
    HoloTensor    x = numbers(HOLO_I32, 16, 3, true), f = numbers(HOLO_F32, 16, 3, false);
    HoloBuffer   *a = buffer_of(e, &x), *b = buffer_of(e, &x), *real = buffer_of(e, &f), *far = buffer_of(other, &x);
    HoloError     error                 = {0};
    ((int32_t *)holo_buffer_map(b))[11] = 0;
    assert_int_equal(holo_executor_combine(e, HOLO_OPERATION_DIV, a, b, 1, 0, a, 16, &error), HOLO_BAD_INPUT);
    assert_non_null(strstr(error.text, "lane 11,0,0"));
    OK(holo_executor_combine(e, HOLO_OPERATION_DIV, a, b, 1, 0, a, 11, &error)); // before that, all is well
    assert_int_equal(holo_executor_combine(e, HOLO_OPERATION_ADD, a, far, 1, 0, a, 16, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_combine(e, HOLO_OPERATION_ADD, a, real, 1, 0, a, 16, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_combine(e, HOLO_OPERATION_ADD, a, NULL, 1, 0, a, 16, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_combine(e, HOLO_OPERATION_ADD, a, b, 1, 17, a, 16, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_combine(e, HOLO_OPERATION_ADD, a, b, -1, 1, a, 16, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_combine(e, HOLO_OPERATION_ADD, a, b, 1, 0, a, -1, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_combine(e, HOLO_OPERATION_ADD, a, b, 1, 0, a, INT64_MAX, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_combine(e, (HoloOperation)7, a, b, 1, 0, a, 16, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_map(e, (HoloOperation)32, a, b, 16, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_softmax(e, real, real, 4, 0, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_softmax(e, real, real, INT64_MAX, 2, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_softmax(e, a, a, 4, 4, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_gemm(e, real, real, real, 4, 4, 4, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_gemm(e, real, real, a, INT64_MAX, 4, 4, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_loss(e, (HoloLoss)3, real, real, real, 4, NULL), HOLO_BAD_ARGUMENT);
    assert_int_equal(holo_executor_reduce(e, (HoloReduction)4, real, real, 4, NULL), HOLO_BAD_ARGUMENT);
    holo_buffer_destroy(a), holo_buffer_destroy(b), holo_buffer_destroy(real), holo_buffer_destroy(far);
    holo_executor_destroy(e), holo_executor_destroy(other);
}

static void test_clip(void **state)
{
    (void)state;
    HoloExecutor *e = executor();
    for (int s = 0; s < HOLO_COUNT(sizes); s++) {
        HoloTensor  x = numbers(HOLO_F32, sizes[s], 5, false), low = test_tensor(HOLO_F32, 0, NULL), high = low;
        HoloBuffer *a = buffer_of(e, &x);
        high          = test_tensor(HOLO_F32, 0, NULL);
        holo_put_f(&low, 0, -1.5), holo_put_f(&high, 0, 2);
        TestOp op = {
            .domain = "", .name = "Clip", .version = 13, .in = {&x, &low, &high}, .in_count = 3, .out_count = 1};
        assert_int_equal(test_run(&op), HOLO_OK);
        OK(holo_executor_clip(e, a, -1.5, 2, a, sizes[s], &error));
        HoloTensor got = tensor_of(a, sizes[s]);
        expect("clip", &got, &op.out[0], NULL, 0);
        holo_buffer_destroy(a);
    }
    holo_executor_destroy(e);
}

// ---- kernels of f32

static void expect_near(const char *what, HoloBuffer *out, const HoloTensor *want, double within)
{
    HoloTensor got = tensor_of(out, holo_tensor_count(want));
    for (int64_t i = 0; i < holo_tensor_count(want); i++) {
        double a = holo_get_f(&got, i), b = holo_get_f(want, i);
        if (!(fabs(a - b) <= within)) fail_msg("%s: element %lld is %.9g, not %.9g", what, (long long)i, a, b);
    }
}

static HoloTensor between(double low, double high, int rank, const int64_t *dim, uint32_t seed)
{
    HoloTensor t = test_noise(HOLO_F32, rank, dim, seed);
    for (int64_t i = 0; i < holo_tensor_count(&t); i++)
        holo_put_f(&t, i, low + (high - low) * (holo_get_f(&t, i) + 1) / 2);
    return t;
}

static void test_reductions(void **state)
{
    (void)state;
    static const struct {
        HoloReduction op;
        const char   *name;
        double        within; // for each element
    } reductions[]  = {{HOLO_REDUCTION_SUM, "ReduceSum", 1e-7},
                       {HOLO_REDUCTION_MEAN, "ReduceMean", 1e-9},
                       {HOLO_REDUCTION_MIN, "ReduceMin", 0},
                       {HOLO_REDUCTION_MAX, "ReduceMax", 0}};
    HoloExecutor *e = executor();
    for (int s = 0; s < HOLO_COUNT(sizes); s++) {
        int64_t     n = sizes[s];
        HoloTensor  x = between(-1, 1, 1, TEST_DIM(n), 8);
        HoloBuffer *a = buffer_of(e, &x), *out = NULL;
        OK(holo_buffer_create(e, HOLO_F32, 1, &out, &error));
        for (int i = 0; i < HOLO_COUNT(reductions); i++) {
            if (!n) {
                assert_int_equal(holo_executor_reduce(e, reductions[i].op, a, out, n, NULL), HOLO_BAD_ARGUMENT);
                continue;
            }
            OK(holo_executor_reduce(e, reductions[i].op, a, out, n, &error));
            HoloTensor want = all_of(reductions[i].name, &x);
            expect_near(reductions[i].name, out, &want, reductions[i].within * (double)(n + 15));
        }
        holo_buffer_destroy(a), holo_buffer_destroy(out);
    }
    holo_executor_destroy(e);
}

static HoloTensor loss_of(HoloLoss op, const HoloTensor *a, const HoloTensor *b)
{
    HoloTensor one = test_tensor(HOLO_F32, 0, NULL), difference = plain("Sub", a, b);
    holo_put_f(&one, 0, 1);
    if (op == HOLO_LOSS_MSE) {
        HoloTensor square = plain("Mul", &difference, &difference);
        return all_of("ReduceMean", &square);
    }
    HoloTensor log_a = plain("Log", a, NULL), each = plain("Mul", b, &log_a);
    if (op == HOLO_LOSS_BINARY_CROSS_ENTROPY) {
        HoloTensor rest_a = plain("Sub", &one, a), rest_b = plain("Sub", &one, b),
                   log_rest = plain("Log", &rest_a, NULL);
        HoloTensor other    = plain("Mul", &rest_b, &log_rest);
        each                = plain("Add", &each, &other);
    }
    HoloTensor joined = all_of(op == HOLO_LOSS_CROSS_ENTROPY ? "ReduceSum" : "ReduceMean", &each);
    return plain("Neg", &joined, NULL);
}

static void test_losses(void **state)
{
    (void)state;
    HoloExecutor *e = executor();
    for (int s = 1; s < HOLO_COUNT(sizes); s++)
        for (int op = HOLO_LOSS_MSE; op <= HOLO_LOSS_BINARY_CROSS_ENTROPY; op++) {
            HoloTensor  x = between(0.01, 0.99, 1, TEST_DIM(sizes[s]), 8), y = between(0, 1, 1, TEST_DIM(sizes[s]), 9);
            HoloBuffer *a = buffer_of(e, &x), *b = buffer_of(e, &y), *out = NULL;
            OK(holo_buffer_create(e, HOLO_F32, 1, &out, &error));
            OK(holo_executor_loss(e, (HoloLoss)op, a, b, out, sizes[s], &error));
            HoloTensor want = loss_of((HoloLoss)op, &x, &y);
            expect_near("a loss", out, &want, op == HOLO_LOSS_CROSS_ENTROPY ? 1e-6 * (double)sizes[s] : 1e-6);
            holo_buffer_destroy(a), holo_buffer_destroy(b), holo_buffer_destroy(out);
        }
    holo_executor_destroy(e);
}

static void test_softmax(void **state)
{
    (void)state;
    HoloExecutor *e = executor();
    for (int r = 0; r < HOLO_COUNT(sizes) - 1; r++)
        for (int s = 1; s < HOLO_COUNT(sizes); s++) {
            HoloTensor  x = between(-20, 20, 2, TEST_DIM(sizes[r], sizes[s]), 10);
            HoloBuffer *a = buffer_of(e, &x);
            OK(holo_executor_softmax(e, a, a, sizes[r], sizes[s], &error));
            HoloTensor want = apply("Softmax", 13, &x, NULL, (HoloAttr)TEST_INT("axis", -1));
            expect_near("softmax", a, &want, 1e-6);
            holo_buffer_destroy(a);
            holo_arena_deinit(&test_arena);
        }
    holo_executor_destroy(e);
}

static void product(HoloExecutor *e, int64_t m, int64_t n, int64_t k)
{
    HoloTensor  x = between(-1, 1, 2, TEST_DIM(m, k), 11), y = between(-1, 1, 2, TEST_DIM(k, n), 12);
    HoloTensor  want = plain("MatMul", &x, &y);
    HoloBuffer *a = buffer_of(e, &x), *b = buffer_of(e, &y), *out = buffer_of(e, &want);
    memset(holo_buffer_map(out), 0x55, holo_tensor_bytes(&want));
    OK(holo_executor_gemm(e, a, b, out, m, n, k, &error));
    expect_near("a product", out, &want, 1e-7 * (double)(k + 15));
    if (n == 1) {
        memset(holo_buffer_map(out), 0x55, holo_tensor_bytes(&want));
        OK(holo_executor_matvec(e, a, b, out, m, k, &error));
        expect_near("a product with a vector", out, &want, 1e-7 * (double)(k + 15));
    }
    holo_buffer_destroy(a), holo_buffer_destroy(b), holo_buffer_destroy(out);
    holo_arena_deinit(&test_arena);
}

static void test_products(void **state)
{
    (void)state;
    HoloExecutor *e = executor();
    for (int i = 0; i < HOLO_COUNT(sizes) - 1; i++)
        for (int j = 0; j < HOLO_COUNT(sizes) - 1; j++)
            for (int k = 1; k < HOLO_COUNT(sizes) - 1; k++) product(e, sizes[i], sizes[j], sizes[k]);
    product(e, LARGEST, 17, 15), product(e, 17, LARGEST, 15), product(e, 15, 17, LARGEST), product(e, LARGEST, 1, 17);
    holo_executor_destroy(e);
}

static int stop(void **state)
{
    (void)state;
    holo_arena_deinit(&test_arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pointwise),  cmocka_unit_test(test_refused), cmocka_unit_test(test_clip),
        cmocka_unit_test(test_reductions), cmocka_unit_test(test_losses),  cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_products),
    };
    return cmocka_run_group_tests(tests, NULL, stop);
}
