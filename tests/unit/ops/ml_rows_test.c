// ml_rows_test.c - operators of ai.onnx.ml on many rows at once against the same rows one by one, and lists with many
// keys.
#include "support/op_run.h"

#include <math.h>
#include <string.h>

enum { FEATURES = 37, VECTORS = 140, MOST = 70 };

static HoloAttr floats_attr(const char *name, const HoloTensor *t)
{
    return (HoloAttr){
        .name = name, .kind = HOLO_ATTR_FLOATS, .count = (int32_t)holo_tensor_count(t), .floats = t->data};
}

static HoloAttr text_attr(const char *name, const char *text)
{
    return (HoloAttr){.name = name, .kind = HOLO_ATTR_STRING, .count = 1, .s = {text, strlen(text)}};
}

// Output `out` for all rows is what it is for each.
static void expect_rows(TestOp *op, const HoloTensor *x, int out)
{
    op->in[0]    = x;
    op->in_count = 1;
    assert_int_equal(test_run(op), HOLO_OK);
    HoloTensor all = op->out[out];
    for (int64_t r = 0; r < x->dim[0]; r++) {
        HoloTensor one = *x;
        one.dim[0]     = 1;
        one.data       = (float *)x->data + r * FEATURES;
        op->in[0]      = &one;
        assert_int_equal(test_run(op), HOLO_OK);
        int64_t size = holo_tensor_count(&op->out[out]);
        for (int64_t k = 0; k < size; k++) {
            double got = holo_get_f(&all, r * size + k), want = holo_get_f(&op->out[out], k);
            assert_true(fabs(got - want) <= 1e-6 * (1 + fabs(want)));
        }
    }
}

static void vectors(void **state)
{
    (void)state;
    static const char *const kernels[] = {"LINEAR", "POLY", "SIGMOID", "RBF"};
    static float             params[]  = {0.1f, 0.2f, 2};
    static const int64_t     per[] = {50, 50, 40}, labels[] = {5, 6, 7};
    HoloTensor               support = test_noise(HOLO_F32, 1, TEST_DIM(VECTORS * FEATURES), 1);
    HoloTensor               weights = test_noise(HOLO_F32, 1, TEST_DIM(2 * VECTORS), 2),
               rho                   = test_noise(HOLO_F32, 1, TEST_DIM(3), 3);
    HoloTensor one                   = weights;
    one.dim[0]                       = VECTORS;
    for (int k = 0; k < HOLO_COUNT(kernels); k++)
        for (int64_t rows = 1; rows <= MOST; rows += rows == 3 ? 61 : 1) {
            HoloTensor x = test_noise(HOLO_F32, 2, TEST_DIM(rows, FEATURES), (uint32_t)rows);
            TestOp r  = {.domain = "ai.onnx.ml", .name = "SVMRegressor", .version = 3, .out_count = 1, .attr_count = 6};
            r.attr[0] = text_attr("kernel_type", kernels[k]);
            r.attr[1] = (HoloAttr){.name = "kernel_params", .kind = HOLO_ATTR_FLOATS, .count = 3, .floats = params};
            r.attr[2] = floats_attr("support_vectors", &support);
            r.attr[3] = floats_attr("coefficients", &one);
            r.attr[4] = floats_attr("rho", &rho);
            r.attr[5] = (HoloAttr)TEST_INT("n_supports", VECTORS);
            expect_rows(&r, &x, 0);
            TestOp c     = r;
            c.name       = "SVMClassifier";
            c.out_count  = 2;
            c.attr[3]    = floats_attr("coefficients", &weights);
            c.attr[5]    = (HoloAttr){.name = "vectors_per_class", .kind = HOLO_ATTR_INTS, .count = 3, .ints = per};
            c.attr[6]    = (HoloAttr){.name = "classlabels_ints", .kind = HOLO_ATTR_INTS, .count = 3, .ints = labels};
            c.attr_count = 7;
            expect_rows(&c, &x, 1);
        }
    holo_arena_deinit(&test_arena);
}

static void linear(void **state)
{
    (void)state;
    static const int64_t sets[] = {1, 3, 9, 40};
    for (int s = 0; s < HOLO_COUNT(sets); s++)
        for (int64_t rows = 1; rows <= 2 * MOST; rows += rows == 3 ? 61 : 1) {
            HoloTensor weights = test_noise(HOLO_F32, 1, TEST_DIM(sets[s] * FEATURES), 1);
            HoloTensor bias    = test_noise(HOLO_F32, 1, TEST_DIM(sets[s]), 2),
                       x       = test_noise(HOLO_F32, 2, TEST_DIM(rows, FEATURES), 4);
            TestOp op          = {
                         .domain = "ai.onnx.ml", .name = "LinearRegressor", .version = 1, .out_count = 1, .attr_count = 3};
            op.attr[0] = floats_attr("coefficients", &weights);
            op.attr[1] = floats_attr("intercepts", &bias);
            op.attr[2] = (HoloAttr)TEST_INT("targets", sets[s]);
            expect_rows(&op, &x, 0);
            for (int64_t i = 0; i < sets[s]; i++) { // of the first row, as it is defined
                double sum = holo_get_f(&bias, i);
                op.in[0]   = &x;
                for (int64_t k = 0; k < FEATURES; k++)
                    sum += holo_get_f(&weights, i * FEATURES + k) * holo_get_f(&x, k);
                assert_int_equal(test_run(&op), HOLO_OK);
                assert_true(fabs(holo_get_f(&op.out[0], i) - sum) <= 1e-6 * (1 + fabs(sum)));
            }
        }
    holo_arena_deinit(&test_arena);
}

// Keys in steps, so that some crowd; of equal ones the last counts.
static void keys(void **state)
{
    (void)state;
    enum { KEYS = 1000 };
    static int64_t key[KEYS + 1], value[KEYS + 1];
    for (int64_t step = 1; step < INT64_C(1) << 60; step = step * 37 + 1) {
        for (int64_t i = 0; i < KEYS; i++) key[i] = (int64_t)((uint64_t)(i - 500) * (uint64_t)step), value[i] = 3 * i;
        key[KEYS] = key[7], value[KEYS] = -7;
        HoloTensor x = test_tensor(HOLO_I64, 1, TEST_DIM(2 * KEYS));
        for (int64_t i = 0; i < 2 * KEYS; i++) holo_put_i(&x, i, i < KEYS ? key[i] : key[i - KEYS] ^ INT64_C(1) << 62);
        TestOp op  = {.domain     = "ai.onnx.ml",
                      .name       = "LabelEncoder",
                      .version    = 2,
                      .in         = {&x},
                      .in_count   = 1,
                      .out_count  = 1,
                      .attr_count = 3};
        op.attr[0] = (HoloAttr){.name = "keys_int64s", .kind = HOLO_ATTR_INTS, .count = KEYS + 1, .ints = key};
        op.attr[1] = (HoloAttr){.name = "values_int64s", .kind = HOLO_ATTR_INTS, .count = KEYS + 1, .ints = value};
        op.attr[2] = (HoloAttr)TEST_INT("default_int64", -1);
        assert_int_equal(test_run(&op), HOLO_OK);
        for (int64_t i = 0; i < 2 * KEYS; i++) {
            int64_t want = -1;
            for (int64_t k = 0; k <= KEYS; k++)
                if (key[k] == holo_get_i(&x, i)) want = value[k];
            assert_int_equal(holo_get_i(&op.out[0], i), want);
        }
    }
    holo_arena_deinit(&test_arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors), cmocka_unit_test(linear), cmocka_unit_test(keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
