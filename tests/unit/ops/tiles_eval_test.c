// tiles_eval_test.c - evals that compute with elements as they are stored, by loops for each CPU: against the same
// number by number, for sizes around those of vectors, rows and columns that come again, ties, infinities and NaN.
#include "support/op_run.h"

#include <math.h>

static const HoloDtype types[] = {HOLO_I8,  HOLO_I16, HOLO_I32, HOLO_I64, HOLO_U8,
                                  HOLO_U16, HOLO_U32, HOLO_U64, HOLO_F32, HOLO_F64};

static HoloClass class_of(HoloDtype t)
{
    return holo_dtype_class(t);
}

// Few different numbers, so that there are ties; of floats infinities and -0 too, and NaN where asked for.
static HoloTensor some(HoloDtype dtype, int rank, const int64_t *dim, uint32_t seed, bool with_nan)
{
    static const double strange[] = {INFINITY, -INFINITY, -0.0, 0.5, -1e300, NAN};
    HoloTensor          t         = test_tensor(dtype, rank, dim);
    for (int64_t i = 0; i < holo_tensor_count(&t); i++) {
        seed = seed * 1664525u + 1013904223u;
        if (class_of(dtype) == HOLO_CLASS_FLOAT && seed >> 28 == 3)
            holo_put_f(&t, i, strange[(seed >> 10) % (with_nan ? 6 : 5)]);
        else if (seed >> 28 == 5)
            holo_put_i(&t, i, seed >> 10 & 1 ? INT64_MIN + 1 : INT64_MAX - 2);
        else
            holo_put_i(&t, i, (int64_t)(seed >> 16) % 200 - 100);
    }
    return t;
}

static void expect_bits(const HoloTensor *got, int64_t at, const HoloTensor *want, int64_t want_at)
{
    uint64_t a = holo_get_bits(got, at), b = holo_get_bits(want, want_at);
    if (a != b)
        fail_msg("element %lld is %.17g, expected %.17g", (long long)at, holo_get_f(got, at),
                 holo_get_f(want, want_at));
}

// ---- pointwise

// Where element `at` of `out` comes from, of an input that is broadcast to it.
static int64_t source(const HoloTensor *in, const HoloTensor *out, int64_t at)
{
    int64_t stride[HOLO_MAX_RANK], from = 0;
    holo_strides_broadcast(in, out->rank, out->dim, stride);
    for (int d = out->rank - 1; d >= 0; at /= out->dim[d--]) from += at % out->dim[d] * stride[d];
    return from;
}

// What two numbers come to, by wide types: kept apart from what is tested.
static void plainly(const char *name, const HoloTensor *a, int64_t i, const HoloTensor *b, int64_t k, HoloTensor *out)
{
    HoloClass kind = class_of((HoloDtype)a->dtype);
    double    x = holo_get_f(a, i), y = holo_get_f(b, k);
    int64_t   p = holo_get_i(a, i), q = holo_get_i(b, k);
    uint64_t  u = (uint64_t)p, v = (uint64_t)q;
    bool      less = kind == HOLO_CLASS_FLOAT ? x < y : kind == HOLO_CLASS_UINT ? u < v : p < q;
    bool      same = kind == HOLO_CLASS_FLOAT ? x == y : p == q;
    if (!strcmp(name, "Less") || !strcmp(name, "Greater")) // of numbers in the other order
        holo_put_i(out, 0, *name == 'L' ? less : kind == HOLO_CLASS_FLOAT ? x > y : !less && !same);
    else if (!strcmp(name, "LessOrEqual") || !strcmp(name, "GreaterOrEqual"))
        holo_put_i(out, 0, *name == 'L' ? less || same : kind == HOLO_CLASS_FLOAT ? x >= y : !less);
    else if (!strcmp(name, "Equal"))
        holo_put_i(out, 0, same);
    else if (kind == HOLO_CLASS_FLOAT)
        holo_put_f(out, 0,
                   *name == 'A'       ? x + y
                   : *name == 'S'     ? x - y
                   : name[1] == 'u'   ? x * y
                   : x != x || y != y ? NAN
                   : name[1] == 'a'   ? (x > y ? x : y)
                                      : (x < y ? x : y));
    else
        holo_put_i(out, 0,
                   (int64_t)(*name == 'A'               ? u + v
                             : *name == 'S'             ? u - v
                             : name[1] == 'u'           ? u * v
                             : (name[1] == 'a') == less ? v
                                                        : u));
}

static void of_two(void **state)
{
    (void)state;
    static const char *const names[] = {
        "Add", "Sub", "Mul", "Max", "Min", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"};
    static const struct {
        int     rank[2];
        int64_t dim[2][3];
    } shapes[] = {{{1, 1}, {{0}, {0}}},
                  {{1, 1}, {{1}, {1}}},
                  {{1, 0}, {{17}, {0}}},
                  {{1, 1}, {{33}, {33}}},
                  {{1, 0}, {{40000}, {0}}},
                  {{3, 1}, {{5, 3, 40}, {40}}},
                  {{3, 3}, {{5, 3, 40}, {5, 1, 1}}},
                  {{3, 3}, {{5, 3, 40}, {1, 3, 40}}},
                  {{2, 2}, {{70, 3}, {1, 3}}},
                  {{2, 2}, {{70, 1}, {1, 50}}},
                  {{2, 1}, {{3, 31}, {31}}},
                  {{3, 3}, {{4, 1, 64}, {4, 32, 1}}}};
    for (int n = 0; n < HOLO_COUNT(names); n++)
        for (int t = 0; t < HOLO_COUNT(types); t++)
            for (int s = 0; s < HOLO_COUNT(shapes); s++) {
                HoloTensor a  = some(types[t], shapes[s].rank[0], shapes[s].dim[0], 1u + (uint32_t)s, true);
                HoloTensor b  = some(types[t], shapes[s].rank[1], shapes[s].dim[1], 77u + (uint32_t)s, true);
                TestOp     op = {
                        .domain = "", .name = names[n], .version = 18, .in = {&a, &b}, .in_count = 2, .out_count = 1};
                assert_int_equal(test_run(&op), HOLO_OK);
                HoloTensor one = test_tensor((HoloDtype)op.out[0].dtype, 0, NULL);
                for (int64_t i = 0; i < holo_tensor_count(&op.out[0]); i++) {
                    plainly(names[n], &a, source(&a, &op.out[0], i), &b, source(&b, &op.out[0], i), &one);
                    if (names[n][0] == 'M' && holo_get_f(&one, 0) == 0) continue; // -0 and 0 are equal
                    expect_bits(&op.out[0], i, &one, 0);
                }
            }
    holo_arena_deinit(&test_arena);
}

static void quotients(void **state)
{
    (void)state;
    static const int32_t ends[] = {0, 1, -1, 2, -2, 3, 7, -7, INT32_MAX, INT32_MIN, INT32_MIN + 1, 65537, -65536};
    enum { ENDS = sizeof ends / sizeof *ends };
    HoloTensor a = test_tensor(HOLO_I32, 2, TEST_DIM(ENDS, 1)), b = test_tensor(HOLO_I32, 2, TEST_DIM(1, ENDS));
    memcpy(a.data, ends, sizeof ends);
    memcpy(b.data, ends, sizeof ends);
    for (int how = 0; how < 3; how++) {
        TestOp op = {.domain     = "",
                     .name       = how ? "Mod" : "Div",
                     .version    = 14,
                     .in         = {&a, &b},
                     .in_count   = 2,
                     .out_count  = 1,
                     .attr       = {TEST_INT("fmod", how == 2)},
                     .attr_count = how ? 1 : 0};
        assert_int_equal(test_run(&op), HOLO_OK);
        for (int i = 0; i < ENDS * ENDS; i++) {
            int64_t x = ends[i / ENDS], y = ends[i % ENDS], r = y ? x % y : 0;
            if (how == 1 && r && (r < 0) != (y < 0)) r += y;
            assert_int_equal(((int32_t *)op.out[0].data)[i], how ? (int32_t)r : y ? (int32_t)(uint32_t)(x / y) : 0);
        }
    }
    holo_arena_deinit(&test_arena);
}

static void remainders(void **state)
{
    (void)state;
    static const float ends[] = {0.0f,    -0.0f,    1.0f,          -1.0f,  0.1f,         3.0f, 1e30f, -1e-30f, 0x1p28f,
                                 0x1p29f, INFINITY, 0x1.fffffep0f, 1e-45f, -0x1.8p-126f, NAN,  7.5f,  1e10f};
    enum { ENDS = sizeof ends / sizeof *ends };
    HoloTensor a = test_tensor(HOLO_F32, 2, TEST_DIM(ENDS, 1)), b = test_tensor(HOLO_F32, 2, TEST_DIM(1, ENDS));
    HoloTensor want = test_tensor(HOLO_F32, 0, NULL);
    memcpy(a.data, ends, sizeof ends);
    memcpy(b.data, ends, sizeof ends);
    TestOp op = {.domain     = "",
                 .name       = "Mod",
                 .version    = 13,
                 .in         = {&a, &b},
                 .in_count   = 2,
                 .out_count  = 1,
                 .attr       = {TEST_INT("fmod", 1)},
                 .attr_count = 1};
    assert_int_equal(test_run(&op), HOLO_OK);
    for (int i = 0; i < ENDS * ENDS; i++) {
        holo_put_f(&want, 0, (double)fmodf(ends[i / ENDS], ends[i % ENDS]));
        expect_bits(&op.out[0], i, &want, 0);
    }
    holo_arena_deinit(&test_arena);
}

static void casts(void **state)
{
    (void)state;
    for (int f = 0; f < HOLO_COUNT(types); f++)
        for (int t = 0; t <= HOLO_COUNT(types); t++) {
            HoloDtype  to = t < HOLO_COUNT(types) ? types[t] : HOLO_BOOL;
            HoloTensor x = some(types[f], 1, TEST_DIM(1003), 5, true), want = test_tensor(to, 1, x.dim);
            TestOp     op = {.domain     = "",
                             .name       = "Cast",
                             .version    = 19,
                             .in         = {&x},
                             .in_count   = 1,
                             .out_count  = 1,
                             .attr       = {TEST_INT("to", to)},
                             .attr_count = 1};
            for (int i = 0; i < 64 && class_of(types[f]) == HOLO_CLASS_FLOAT; i++) { // around powers of two
                double power = ldexp(1, i / 2 + 1),
                       just  = types[f] == HOLO_F32 ? (double)nextafterf((float)power, 0) : nextafter(power, 0);
                holo_put_f(&x, 2 * i, i % 2 ? power : just);
                holo_put_f(&x, 2 * i + 1, i % 2 ? -power : -just - 1);
            }
            assert_int_equal(test_run(&op), HOLO_OK);
            for (int64_t i = 0; i < 1003; i++) {
                if (class_of(types[f]) == HOLO_CLASS_FLOAT ||
                    (types[f] == HOLO_U64 && class_of(to) == HOLO_CLASS_FLOAT))
                    holo_put_f(&want, i, holo_get_f(&x, i));
                else
                    holo_put_i(&want, i, holo_get_i(&x, i));
                expect_bits(&op.out[0], i, &want, i);
            }
        }
    holo_arena_deinit(&test_arena);
}

// ---- along axes

// x[before][n][after] and where the result for (before, after) is.
typedef struct Axis {
    int64_t before, n, after;
} Axis;

static Axis axis_of(const HoloTensor *x, int axis)
{
    return (Axis){holo_product(axis, x->dim), x->dim[axis], holo_product(x->rank - axis - 1, x->dim + axis + 1)};
}

static const int64_t sizes[][3] = {{3, 5, 40}, {2, 33, 17}, {1, 1, 1}, {40, 2, 3}, {2, 1500, 16}, {2, 3, 2100}};

static bool above(const HoloTensor *x, int64_t i, int64_t k) // a NaN is above all but another
{
    double    a = holo_get_f(x, i), b = holo_get_f(x, k);
    HoloClass kind = class_of((HoloDtype)x->dtype);
    if (kind == HOLO_CLASS_FLOAT) return a > b || (a != a && b == b);
    return kind == HOLO_CLASS_UINT ? (uint64_t)holo_get_i(x, i) > (uint64_t)holo_get_i(x, k)
                                   : holo_get_i(x, i) > holo_get_i(x, k);
}

static void extremes(void **state)
{
    (void)state;
    for (int t = 0; t < HOLO_COUNT(types); t++)
        for (int s = 0; s < HOLO_COUNT(sizes); s++)
            for (int how = 0; how < 3 * 2 * 2 * 2; how++) {
                int        axis     = how / 8;
                bool       smallest = how & 1, last = how & 2, nan = how & 4;
                HoloTensor x   = some(types[t], 3, sizes[s], 9u + (uint32_t)how, nan);
                Axis       a   = axis_of(&x, axis);
                TestOp     arg = {.domain     = "",
                                  .name       = smallest ? "ArgMin" : "ArgMax",
                                  .version    = 13,
                                  .in         = {&x},
                                  .in_count   = 1,
                                  .out_count  = 1,
                                  .attr       = {TEST_INT("axis", axis), TEST_INT("select_last_index", last)},
                                  .attr_count = 2};
                TestOp     top = {.domain    = "",
                                  .name      = smallest ? "ReduceMin" : "ReduceMax",
                                  .version   = 13,
                                  .in        = {&x},
                                  .in_count  = 1,
                                  .out_count = 1,
                                  .attr = {{.name = "axes", .kind = HOLO_ATTR_INTS, .count = 1, .ints = TEST_DIM(axis)}},
                                  .attr_count = 1};
                bool       has = types[t] != HOLO_I16 && types[t] != HOLO_U16;
                assert_int_equal(test_run(&arg), HOLO_OK);
                if (has) assert_int_equal(test_run(&top), HOLO_OK);
                for (int64_t r = 0; r < a.before * a.after; r++) {
                    int64_t first = r / a.after * a.n * a.after + r % a.after, best = 0;
                    for (int64_t k = 1; k < a.n; k++) {
                        int64_t at = first + k * a.after, so_far = first + best * a.after;
                        bool    is_nan = holo_get_f(&x, at) != holo_get_f(&x, at),
                             was_nan   = holo_get_f(&x, so_far) != holo_get_f(&x, so_far);
                        bool wins = smallest && !is_nan && !was_nan ? above(&x, so_far, at) : above(&x, at, so_far);
                        bool ties = !above(&x, at, so_far) && !above(&x, so_far, at);
                        if (wins || (last && ties)) best = k;
                    }
                    assert_int_equal(holo_get_i(&arg.out[0], r), best);
                    if (has && holo_get_f(&x, first + best * a.after) != 0)
                        expect_bits(&top.out[0], r, &x, first + best * a.after);
                }
            }
    holo_arena_deinit(&test_arena);
}

static void running(void **state)
{
    (void)state;
    static const HoloDtype of[] = {HOLO_I32, HOLO_I64, HOLO_U32, HOLO_U64, HOLO_F32, HOLO_F64};
    for (int t = 0; t < HOLO_COUNT(of); t++)
        for (int s = 0; s < HOLO_COUNT(sizes); s++)
            for (int how = 0; how < 3 * 2 * 2; how++) {
                int        axis      = how / 4;
                bool       exclusive = how & 1, reverse = how & 2, is_float = class_of(of[t]) == HOLO_CLASS_FLOAT;
                HoloTensor x = some(of[t], 3, sizes[s], 3u + (uint32_t)how, true), where = test_number(HOLO_I64, axis);
                HoloTensor want = test_tensor(of[t], 0, NULL);
                Axis       a    = axis_of(&x, axis);
                TestOp     op   = {.domain     = "",
                                   .name       = "CumSum",
                                   .version    = 14,
                                   .in         = {&x, &where},
                                   .in_count   = 2,
                                   .out_count  = 1,
                                   .attr       = {TEST_INT("exclusive", exclusive), TEST_INT("reverse", reverse)},
                                   .attr_count = 2};
                assert_int_equal(test_run(&op), HOLO_OK);
                for (int64_t r = 0; r < a.before * a.after; r++) {
                    double  sum   = 0;
                    int64_t whole = 0;
                    for (int64_t k = 0; k < a.n; k++) {
                        int64_t at = r / a.after * a.n * a.after + r % a.after + (reverse ? a.n - 1 - k : k) * a.after;
                        for (int half = 0; half < 2; half++) {
                            if (half != exclusive)
                                is_float ? holo_put_f(&want, 0, sum) : holo_put_i(&want, 0, whole),
                                    expect_bits(&op.out[0], at, &want, 0);
                            if (half == 0)
                                sum += holo_get_f(&x, at),
                                    whole = (int64_t)((uint64_t)whole + (uint64_t)holo_get_i(&x, at));
                        }
                    }
                }
            }
    holo_arena_deinit(&test_arena);
}

// ---- moves

static void turned(void **state)
{
    (void)state;
    static const HoloDtype of[]       = {HOLO_U8, HOLO_F16, HOLO_F32, HOLO_F64, HOLO_C128};
    static const int64_t   perms[][3] = {{0, 2, 1}, {1, 0, 2}, {2, 1, 0}, {2, 0, 1}, {1, 2, 0}};
    static const int64_t   dims[][3]  = {{1, 17, 33}, {16, 64, 15}, {4, 4, 4}, {3, 40, 4}, {2, 5, 66}};
    for (int t = 0; t < HOLO_COUNT(of); t++)
        for (int p = 0; p < HOLO_COUNT(perms); p++)
            for (int s = 0; s < HOLO_COUNT(dims); s++) {
                HoloTensor x  = some(of[t], 3, dims[s], 4, false);
                TestOp     op = {.domain     = "",
                                 .name       = "Transpose",
                                 .version    = 13,
                                 .in         = {&x},
                                 .in_count   = 1,
                                 .out_count  = 1,
                                 .attr       = {{.name = "perm", .kind = HOLO_ATTR_INTS, .count = 3, .ints = perms[p]}},
                                 .attr_count = 1};
                assert_int_equal(test_run(&op), HOLO_OK);
                for (int64_t i = 0; i < holo_tensor_count(&x); i++) {
                    int64_t at[3] = {i / (dims[s][1] * dims[s][2]), i / dims[s][2] % dims[s][1], i % dims[s][2]},
                            to    = 0;
                    for (int d = 0; d < 3; d++) to = to * op.out[0].dim[d] + at[perms[p][d]];
                    assert_true(holo_get_f(&x, i) == holo_get_f(&op.out[0], to));
                }
            }
    holo_arena_deinit(&test_arena);
}

static void picked(void **state)
{
    (void)state;
    static const HoloDtype of[] = {HOLO_U8, HOLO_F16, HOLO_F32, HOLO_F64, HOLO_C128};
    for (int t = 0; t < HOLO_COUNT(of); t++)
        for (int axis = 0; axis < 2; axis++) {
            HoloTensor x = some(of[t], 2, TEST_DIM(7, 600), 6, false), at = test_tensor(HOLO_I64, 2, TEST_DIM(7, 600));
            int64_t    size = x.dim[axis];
            for (int64_t i = 0; i < 7 * 600; i++) holo_put_i(&at, i, i * 37 % (2 * size) - size);
            TestOp op = {.domain     = "",
                         .name       = "GatherElements",
                         .version    = 13,
                         .in         = {&x, &at},
                         .in_count   = 2,
                         .out_count  = 1,
                         .attr       = {TEST_INT("axis", axis)},
                         .attr_count = 1};
            assert_int_equal(test_run(&op), HOLO_OK);
            for (int64_t i = 0; i < 7 * 600; i++) {
                int64_t index = holo_get_i(&at, i), k = index < 0 ? index + size : index;
                assert_true(holo_get_f(&op.out[0], i) == holo_get_f(&x, axis ? i / 600 * 600 + k : k * 600 + i % 600));
            }
            holo_put_i(&at, 4199, size);
            assert_int_equal(test_run(&op), HOLO_BAD_INPUT);
        }
    holo_arena_deinit(&test_arena);
}

static void sliced(void **state)
{
    (void)state;
    static const HoloDtype of[] = {HOLO_U8, HOLO_F16, HOLO_F32, HOLO_F64, HOLO_C128};
    for (int t = 0; t < HOLO_COUNT(of); t++)
        for (int step = -3; step <= 3; step++) {
            if (!step) continue;
            HoloTensor x = some(of[t], 2, TEST_DIM(3, 70), 8, false), axes = test_tensor(HOLO_I64, 1, TEST_DIM(1)),
                       by    = axes;
            HoloTensor begin = test_tensor(HOLO_I64, 1, TEST_DIM(1)), end = test_tensor(HOLO_I64, 1, TEST_DIM(1));
            by.data = holo_arena_take(&test_arena, 8);
            holo_put_i(&axes, 0, 1), holo_put_i(&by, 0, step), holo_put_i(&begin, 0, step > 0 ? 1 : 69),
                holo_put_i(&end, 0, step > 0 ? 70 : -100);
            TestOp op = {.domain    = "",
                         .name      = "Slice",
                         .version   = 13,
                         .in        = {&x, &begin, &end, &axes, &by},
                         .in_count  = 5,
                         .out_count = 1};
            assert_int_equal(test_run(&op), HOLO_OK);
            for (int64_t i = 0, n = op.out[0].dim[1]; i < 3 * n; i++)
                assert_true(holo_get_f(&op.out[0], i) ==
                            holo_get_f(&x, i / n * 70 + (step > 0 ? 1 : 69) + i % n * step));
        }
    holo_arena_deinit(&test_arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_two),  cmocka_unit_test(quotients), cmocka_unit_test(remainders),
        cmocka_unit_test(picked),  cmocka_unit_test(casts),     cmocka_unit_test(extremes),
        cmocka_unit_test(running), cmocka_unit_test(turned),    cmocka_unit_test(sliced),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    holo_arena_deinit(&test_arena);
    return failed;
}
