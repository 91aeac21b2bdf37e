// long_rows_test.c - operators that look at rows by turns, in blocks or side by side, against plain loops: rows of
// every length around those of their blocks, with equal elements, infinities and NaN.
#include "support/op_run.h"

#include <math.h>
#include <stdlib.h>

static const int64_t lengths[] = {1, 7, 8, 9, 15, 16, 17, 40, 255, 256, 257, 1000};

// Small numbers, so that many are equal; some are strange.
static HoloTensor coarse(HoloDtype dtype, int64_t rows, int64_t columns, uint64_t seed, bool strange)
{
    HoloTensor t      = test_tensor(dtype, 2, TEST_DIM(rows, columns));
    HoloRandom random = {seed};
    for (int64_t i = 0; i < rows * columns; i++) {
        uint64_t bits = holo_random_next(&random) >> 20;
        double   x    = (double)(int64_t)(bits % 401) - 200;
        if (strange && bits % 997 == 0) x = bits % 2 ? INFINITY : NAN;
        holo_put_f(&t, i, x);
    }
    return t;
}

static HoloTensor run(const char *name, int version, const HoloTensor *x, const HoloTensor *more, int64_t axis,
                      int64_t flag, const char *flag_name, HoloTensor *second)
{
    TestOp op = {.domain     = "",
                 .name       = name,
                 .version    = version,
                 .in         = {x, more},
                 .in_count   = more ? 2 : 1,
                 .out_count  = second ? 2 : 1,
                 .attr       = {TEST_INT("axis", axis), TEST_INT(flag_name, flag)},
                 .attr_count = 2};
    assert_int_equal(test_run(&op), HOLO_OK);
    if (second) *second = op.out[1];
    return op.out[0];
}

// ---- reductions

static double fold(int how, double a, double x)
{
    switch (how) {
    case 0: return a + x;
    case 1: return a * x;
    case 2: return x > a || x != x ? x : a;
    case 3: return x < a || x != x ? x : a;
    case 4: return a + fabs(x);
    default: return a + x * x;
    }
}

static void reductions(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int         how;
        double      first;
        double (*finish)(double);
    } kinds[] = {{"ReduceSum", 0, 0, NULL},        {"ReduceProd", 1, 1, NULL}, {"ReduceMax", 2, -INFINITY, NULL},
                 {"ReduceMin", 3, INFINITY, NULL}, {"ReduceL1", 4, 0, NULL},   {"ReduceL2", 5, 0, sqrt},
                 {"ReduceSumSquare", 5, 0, NULL}};
    static const HoloDtype types[] = {HOLO_F32, HOLO_F64, HOLO_I32, HOLO_U64};
    HoloTensor             axes    = test_tensor(HOLO_I64, 1, TEST_DIM(1));
    holo_put_i(&axes, 0, 1);
    for (int k = 0; k < HOLO_COUNT(kinds); k++)
        for (int t = 0; t < HOLO_COUNT(types); t++)
            for (int n = 0; n < HOLO_COUNT(lengths); n++) {
                bool       is_float = types[t] == HOLO_F32 || types[t] == HOLO_F64;
                HoloTensor x        = coarse(types[t], 3, lengths[n], (uint64_t)(n + 1), false);
                for (int64_t i = 0; kinds[k].how == 1 && i < 3 * lengths[n]; i++) // products stay numbers
                    holo_put_f(&x, i, i % 5 == 2 && i < 40 ? 2 : 1);
                for (int64_t i = 0; types[t] == HOLO_U64 && i < 3 * lengths[n]; i++)
                    holo_put_i(&x, i, llabs(holo_get_i(&x, i)));
                if (is_float && kinds[k].how > 1 && n % 3 == 1) holo_put_f(&x, lengths[n] / 2, NAN);
                TestOp op = {.domain     = "",
                             .name       = kinds[k].name,
                             .version    = 18,
                             .in         = {&x, &axes},
                             .in_count   = 2,
                             .out_count  = 1,
                             .attr       = {TEST_INT("keepdims", 0)},
                             .attr_count = 1};
                assert_int_equal(test_run(&op), HOLO_OK);
                for (int64_t r = 0; r < 3; r++) {
                    double want = kinds[k].first;
                    for (int64_t i = 0; i < lengths[n]; i++)
                        want = fold(kinds[k].how, want, holo_get_f(&x, r * lengths[n] + i));
                    if (kinds[k].finish) want = kinds[k].finish(want);
                    double got = holo_get_f(&op.out[0], r);
                    if (!is_float) want = floor(want);
                    assert_true(want != want ? got != got : fabs(got - want) <= 1e-6 * (fabs(want) + 1));
                }
            }
}

static void lp(void **state)
{
    (void)state;
    for (int64_t p = 1; p <= 2; p++)
        for (int n = 0; n < HOLO_COUNT(lengths); n++)
            for (int64_t axis = 0; axis < 2; axis++) {
                int64_t    rows = axis ? 3 : lengths[n], columns = axis ? lengths[n] : 3, size = lengths[n];
                HoloTensor x    = coarse(HOLO_F32, rows, columns, (uint64_t)n, false);
                int64_t    step = axis ? 1 : columns, line = axis ? columns : 1;
                for (int64_t i = 0; i < size; i++) holo_put_f(&x, 2 * line + i * step, 0); // a row without length
                HoloTensor y = run("LpNormalization", 22, &x, NULL, axis, p, "p", NULL);
                for (int64_t r = 0; r < 3; r++) {
                    double sum = 0;
                    for (int64_t i = 0; i < size; i++)
                        sum = fold(p == 1 ? 4 : 5, sum, holo_get_f(&x, r * line + i * step));
                    if (p == 2) sum = sqrt(sum);
                    for (int64_t i = 0; i < size; i++) {
                        double want = sum ? holo_get_f(&x, r * line + i * step) / sum : 0;
                        assert_true(fabs(holo_get_f(&y, r * line + i * step) - want) <= 1e-7);
                    }
                }
            }
}

// ---- places

// Is a before b, where i < j are their places?
static bool is_before(double a, double b, bool largest)
{
    if (a != a || b != b) return largest ? a != a : b != b;
    return largest ? a >= b : a <= b;
}

// The place of the next best of a row that is not taken yet.
static int64_t next_best(const HoloTensor *x, int64_t start, int64_t step, int64_t size, bool largest, bool *taken)
{
    int64_t best = -1;
    for (int64_t i = 0; i < size; i++)
        if (!taken[i] &&
            (best < 0 || !is_before(holo_get_f(x, start + best * step), holo_get_f(x, start + i * step), largest)))
            best = i;
    taken[best] = true;
    return best;
}

static void expect_top(HoloDtype dtype, int64_t size, int64_t others, int64_t axis, int64_t k, bool largest)
{
    int64_t    rows = axis ? others : size, columns = axis ? size : others;
    HoloTensor x     = coarse(dtype, rows, columns, (uint64_t)(size + k), dtype == HOLO_F32),
               count = test_number(HOLO_I64, k);
    HoloTensor places, values = run("TopK", 11, &x, &count, axis, largest, "largest", &places);
    for (int64_t r = 0; r < others; r++) {
        bool    taken[4096] = {false};
        int64_t step = axis ? 1 : others, start = axis ? r * size : r, to = axis ? r * k : r;
        for (int64_t i = 0; i < k; i++) {
            int64_t want = next_best(&x, start, step, size, largest, taken);
            assert_int_equal(holo_get_i(&places, to + i * step), want);
            double got = holo_get_f(&values, to + i * step), is = holo_get_f(&x, start + want * step);
            assert_true(got == is || (got != got && is != is));
        }
    }
}

static void top(void **state)
{
    (void)state;
    for (int n = 0; n < HOLO_COUNT(lengths); n++)
        for (int largest = 0; largest < 2; largest++) {
            int64_t size = lengths[n];
            expect_top(HOLO_F32, size, 3, 1, 1, largest);
            expect_top(HOLO_F32, size, 3, 1, size < 20 ? size : 20, largest);
            expect_top(HOLO_F32, size, 19, 0, size < 5 ? size : 5, largest);
            expect_top(HOLO_F32, size, 19, 0, 1, largest);
            expect_top(HOLO_I32, size, 19, 0, size < 5 ? size : 5, largest);
        }
    for (int largest = 0; largest < 2; largest++) // in order, a heap, a bag that is filled again and again
        for (int64_t k = 15; k < 1200; k = k * 3 + 1) {
            expect_top(HOLO_F32, 4000, 2, 1, k, largest);
            expect_top(HOLO_I64, 4000, 1, 1, k, largest);
            expect_top(HOLO_F32, k + 1, 2, 1, k, largest);
        }
    for (int largest = 0; largest < 2; largest++) { // so many that they are sorted
        expect_top(HOLO_F32, 2048, 2, 1, 256, largest);
        expect_top(HOLO_F32, 3001, 1, 1, 3001, largest);
        expect_top(HOLO_I32, 2500, 1, 1, 700, largest);
        expect_top(HOLO_F64, 2500, 1, 1, 2500, largest);
    }
}

static void arg(void **state)
{
    (void)state;
    for (int n = 0; n < HOLO_COUNT(lengths); n++)
        for (int way = 0; way < 4; way++) {
            bool       largest = way & 1, last = way & 2;
            HoloTensor x = coarse(HOLO_F32, 4, lengths[n], (uint64_t)n, true);
            HoloTensor y = run(largest ? "ArgMax" : "ArgMin", 13, &x, NULL, 1, last, "select_last_index", NULL);
            for (int64_t r = 0; r < 4; r++) {
                int64_t best = 0;
                for (int64_t i = 1; i < lengths[n]; i++) {
                    double a = holo_get_f(&x, r * lengths[n] + best), b = holo_get_f(&x, r * lengths[n] + i);
                    bool   equal = a == b || (a != a && b != b),
                         above   = a != a ? false : b != b || (largest ? b > a : b < a);
                    if (above || (last && equal)) best = i;
                }
                assert_int_equal(holo_get_i(&y, r), best);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reductions), cmocka_unit_test(lp), cmocka_unit_test(top),
                                       cmocka_unit_test(arg)};
    int                     failed  = cmocka_run_group_tests(tests, NULL, NULL);
    holo_arena_deinit(&test_arena); // large blocks are pages of their own, in which nobody looks for what they point to
    return failed;
}
