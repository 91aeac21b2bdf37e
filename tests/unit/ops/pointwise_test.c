// pointwise_test.c - pointwise operators: broadcasting of every kind against index-by-index evaluation, and the
// numbers at the edges.
#include "unit/ops/pointwise_case.h"

// ---- broadcasting

static void fill(HoloTensor *t, HoloRandom *random)
{
    for (int64_t i = 0; i < holo_tensor_count(t); i++) holo_put_f(t, i, (double)(holo_random_next(random) % 5));
}

static int64_t source(const HoloTensor *t, const HoloWalk *walk)
{
    int64_t stride[HOLO_MAX_RANK];
    holo_strides_broadcast(t, walk->rank, walk->dim, stride);
    return holo_walk_at(walk, stride);
}

static void check_shape(HoloRandom *random, HoloDtype dtype, int rank, const int64_t *dim)
{
    HoloTensor t[3], out;
    for (int k = 0; k < 3; k++) { // each drops some leading dimensions and has 1 in some others
        int     skip = (int)(holo_random_next(random) % (uint64_t)(rank + 1));
        int64_t own[HOLO_MAX_RANK];
        if (holo_random_next(random) % 2) skip = 0;
        for (int i = skip; i < rank; i++) own[i - skip] = holo_random_next(random) % 3 ? dim[i] : 1;
        t[k] = make(k ? dtype : HOLO_BOOL, rank - skip, own);
        fill(&t[k], random);
    }
    const HoloTensor *in[3] = {&t[0], &t[1], &t[2]};
    assert_int_equal(run("", "Add", 14, 2, in + 1, &out, 0, NULL), HOLO_OK);
    HoloWalk walk = holo_walk(out.rank, out.dim);
    for (int64_t i = 0; holo_walk_next(&walk); i++)
        assert_true(holo_get_f(&out, i) ==
                    holo_get_f(&t[1], source(&t[1], &walk)) + holo_get_f(&t[2], source(&t[2], &walk)));
    assert_int_equal(run("", "Max", 13, 2, in + 1, &out, 0, NULL), HOLO_OK);
    walk = holo_walk(out.rank, out.dim);
    for (int64_t i = 0; holo_walk_next(&walk); i++)
        assert_true(holo_get_f(&out, i) ==
                    fmax(holo_get_f(&t[1], source(&t[1], &walk)), holo_get_f(&t[2], source(&t[2], &walk))));
    assert_int_equal(run("", "Less", 13, 2, in + 1, &out, 0, NULL), HOLO_OK);
    walk = holo_walk(out.rank, out.dim);
    for (int64_t i = 0; holo_walk_next(&walk); i++)
        assert_true(((const uint8_t *)out.data)[i] ==
                    (holo_get_f(&t[1], source(&t[1], &walk)) < holo_get_f(&t[2], source(&t[2], &walk))));
    assert_int_equal(run("", "Where", 16, 3, in, &out, 0, NULL), HOLO_OK);
    walk = holo_walk(out.rank, out.dim);
    for (int64_t i = 0; holo_walk_next(&walk); i++) {
        const HoloTensor *chosen = holo_get_i(&t[0], source(&t[0], &walk)) ? &t[1] : &t[2];
        assert_true(holo_get_f(&out, i) == holo_get_f(chosen, source(chosen, &walk)));
    }
}

// ---- elements as they are stored

static double compared(const char *op, double x, double y)
{
    if (!strcmp(op, "Equal")) return x == y;
    if (!strcmp(op, "Less")) return x < y;
    if (!strcmp(op, "Greater")) return x > y;
    return !strcmp(op, "LessOrEqual") ? x <= y : x >= y;
}

static int64_t combined(const char *op, int64_t x, int64_t y)
{
    if (!strcmp(op, "Add")) return x + y;
    if (!strcmp(op, "Sub")) return x - y;
    if (!strcmp(op, "Mul")) return (int64_t)((uint64_t)x * (uint64_t)y);
    return !strcmp(op, "Max") ? (x > y ? x : y) : x < y ? x : y;
}

// Many patterns of bits, those around 0, infinity and the largest numbers among them.
static HoloTensor patterns(HoloDtype dtype, bool down)
{
    enum { COUNT = 1200 };
    HoloTensor t    = make(dtype, 2, down ? (int64_t[]){COUNT, 1} : (int64_t[]){1, COUNT});
    size_t     size = holo_dtype_size(dtype);
    for (int64_t i = 0; i < COUNT; i++) {
        uint64_t bits = (uint64_t)i * 0x9e3779b97f4a7c15; // of all kinds
        if (i < 64) bits = (uint64_t)i - 32;
        if (i >= 64 && i < 128) bits = (uint64_t)i - 96 + (size == 4 ? 0x80000000 : size == 2 ? 0x8000 : 0x80);
        if (i >= 128 && i < 192) bits = (uint64_t)(i % 2 ? 0x7c00 : 0xfc00) + (uint64_t)i - 160;
        if (i >= 192 && i < 256) bits = (uint64_t)(i % 2 ? 0x7f80 : 0xff80) + (uint64_t)i - 224;
        memcpy((char *)t.data + (size_t)i * size, &bits, size);
    }
    return t;
}

static void test_stored(void **state)
{
    (void)state;
    static const char *const predicates[] = {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"};
    static const char *const arithmetic[] = {"Add", "Sub", "Mul", "Max", "Min"};
    static const HoloDtype   types[]      = {HOLO_F16, HOLO_BF16, HOLO_BOOL, HOLO_I8,  HOLO_U8,
                                             HOLO_I16, HOLO_U16,  HOLO_I32,  HOLO_U32, HOLO_I64};
    for (int t = 0; t < (int)HOLO_COUNT(types); t++) {
        bool       is_int = types[t] != HOLO_F16 && types[t] != HOLO_BF16 && types[t] != HOLO_BOOL;
        HoloTensor a = patterns(types[t], true), b = patterns(types[t], false), out, one = make(types[t], 0, NULL);
        const HoloTensor *in[2] = {&a, &b};
        int64_t           n     = b.dim[1];
        for (int p = 0; p < (types[t] == HOLO_BOOL ? 1 : (int)HOLO_COUNT(predicates)); p++) {
            assert_int_equal(run("", predicates[p], 16, 2, in, &out, 0, NULL), HOLO_OK);
            for (int64_t i = 0; i < n * n; i += 7) // 7 divides no size: all columns are met
                assert_true(((const uint8_t *)out.data)[i] ==
                            compared(predicates[p], holo_get_f(&a, i / n), holo_get_f(&b, i % n)));
        }
        for (int p = 0; is_int && p < (int)HOLO_COUNT(arithmetic); p++) {
            assert_int_equal(run("", arithmetic[p], 14, 2, in, &out, 0, NULL), HOLO_OK);
            for (int64_t i = 0; i < n * n; i += 7) {
                if (types[t] == HOLO_I64 && p < 2) continue; // the sum itself may overflow here
                holo_put_i(&one, 0, combined(arithmetic[p], holo_get_i(&a, i / n), holo_get_i(&b, i % n)));
                assert_int_equal(holo_get_i(&out, i), holo_get_i(&one, 0));
            }
        }
        holo_arena_deinit(&test_arena);
        test_arena = (HoloArena){0};
    }
}

// Three of them, of which the second is one number, and each may be the largest.
static void test_folds(void **state)
{
    (void)state;
    static const HoloDtype types[] = {HOLO_I8, HOLO_U16, HOLO_I32, HOLO_I64, HOLO_F32};
    const int64_t          dim[1]  = {5000};
    for (int t = 0; t < (int)HOLO_COUNT(types); t++) {
        HoloTensor        a = make(types[t], 1, dim), b = scalar(types[t], 50), c = make(types[t], 1, dim), out;
        const HoloTensor *in[3] = {&a, &b, &c};
        for (int64_t i = 0; i < dim[0]; i++) {
            holo_put_i(&a, i, i % 101);
            holo_put_i(&c, i, i % 97);
        }
        for (int count = 1; count <= 3; count++) {
            assert_int_equal(run("", "Max", 13, count, in, &out, 0, NULL), HOLO_OK);
            for (int64_t i = 0; i < dim[0]; i++) {
                int64_t want = i % 101;
                if (count > 1 && want < 50) want = 50;
                if (count > 2 && want < i % 97) want = i % 97;
                assert_int_equal(holo_get_i(&out, i), want);
            }
        }
    }
}

// Rows of several tiles: the first of the largest, wherever it is, and the first NaN before all.
static void test_hardmax(void **state)
{
    (void)state;
    const int64_t     n       = 3 * HOLO_TILE + 5;
    HoloTensor        x       = make(HOLO_F32, 2, (int64_t[]){8, n}), out;
    const HoloTensor *in[1]   = {&x};
    const int64_t     best[8] = {0, 1, HOLO_TILE - 1, HOLO_TILE, HOLO_TILE + 1, 2 * HOLO_TILE + 9, n - 1, 17};
    float            *data    = x.data;
    for (int64_t i = 0; i < 8 * n; i++) data[i] = (float)(i % 7) - 20;
    for (int64_t r = 0; r < 8; r++)
        for (int64_t k = best[r]; k < n; k += 50) data[r * n + k] = r == 7 ? NAN : 3; // again and again
    data[7 * n + 4] = INFINITY;
    for (int64_t i = 0; i < n; i++) data[i] = -INFINITY;
    assert_int_equal(run("", "Hardmax", 13, 1, in, &out, 0, NULL), HOLO_OK);
    for (int64_t i = 0; i < 8 * n; i++) assert_true(((const float *)out.data)[i] == (i % n == best[i / n]));
}

static void test_broadcast(void **state)
{
    (void)state;
    static const int64_t   sizes[]  = {0, 1, 1, 2, 3, 15, 16, 17, 255, 256, 257};
    static const HoloDtype dtypes[] = {HOLO_F32, HOLO_F64, HOLO_I32, HOLO_F16, HOLO_U8, HOLO_I64};
    HoloRandom             random   = {3};
    for (int round = 0; round < 400; round++) {
        int     rank = (int)(holo_random_next(&random) % 5);
        int64_t dim[4], count = 1;
        for (int i = 0; i < rank; i++) {
            dim[i] = sizes[holo_random_next(&random) % 11];
            if (count * dim[i] > 20000) dim[i] = 2;
            count *= dim[i] ? dim[i] : 1;
        }
        check_shape(&random, dtypes[round % 6], rank, dim);
        holo_arena_reset(&test_arena, (HoloArenaMark){0});
    }
    const int64_t large[2] = {3, 70001}; // more than a thread takes at a time
    check_shape(&random, HOLO_F32, 2, large);
}

// Sizes that do not fit are refused.
static void test_mismatch(void **state)
{
    (void)state;
    const int64_t     three[1] = {3}, four[1] = {4};
    HoloTensor        a = make(HOLO_F32, 1, three), b = make(HOLO_F32, 1, four), out;
    HoloTensor        d     = make(HOLO_I32, 1, three);
    const HoloTensor *ab[2] = {&a, &b}, *ad[2] = {&a, &d};
    assert_int_equal(run("", "Add", 14, 2, ab, &out, 0, NULL), HOLO_BAD_MODEL);
    assert_int_equal(run("", "PRelu", 16, 2, ab, &out, 0, NULL), HOLO_BAD_MODEL);
    assert_int_equal(run("", "Add", 14, 2, ad, &out, 0, NULL), HOLO_BAD_MODEL);
}

// Where lanes are stored as they are computed, too, a NaN is the positive one; and it is computed, not folded.
static void test_one_nan(void **state)
{
    (void)state;
    const int64_t one[1] = {1};
    for (int d = 0; d < 2; d++) {
        HoloTensor        x = make(d ? HOLO_F64 : HOLO_F32, 1, one), y = x, out;
        const HoloTensor *in[2] = {&x, &y};
        holo_put_f(&x, 0, INFINITY);
        assert_int_equal(run("", "Sub", 14, 2, in, &out, 0, NULL), HOLO_OK);
        assert_true(isnan(holo_get_f(&out, 0)) && !signbit(holo_get_f(&out, 0)));
    }
}

// Before opset 7 the second shape may begin at any axis.
static void test_legacy_axis(void **state)
{
    (void)state;
    const int64_t     abc[3] = {2, 3, 4}, b[1] = {3};
    HoloTensor        x = make(HOLO_F32, 3, abc), y = make(HOLO_F32, 1, b), out;
    const HoloTensor *in[2] = {&x, &y};
    for (int i = 0; i < 24; i++) holo_put_f(&x, i, i);
    for (int i = 0; i < 3; i++) holo_put_f(&y, i, 100 * i);
    const HoloAttr attr[2] = {{.name = "broadcast", .kind = HOLO_ATTR_INT, .i = 1},
                              {.name = "axis", .kind = HOLO_ATTR_INT, .i = 1}};
    assert_int_equal(run("", "Add", 6, 2, in, &out, 2, attr), HOLO_OK);
    for (int i = 0; i < 24; i++) assert_true(holo_get_f(&out, i) == i + 100 * (i / 4 % 3));
    for (int i = 0; i < 24; i++) holo_put_f(&x, i, -1);
    assert_int_equal(run("", "PRelu", 6, 2, in, &out, 0, NULL), HOLO_OK);
    for (int i = 0; i < 24; i++) assert_true(holo_get_f(&out, i) == -100 * (i / 4 % 3));
}

// ---- edges

#define NONE 12345678.0 // no such input

// clang-format off
static const struct Edge {
    const char *name;
    int         version;
    HoloDtype   dtype;
    double      x, y, z, want;
    const char *attr;
    int64_t     value;
} edges[] = {
    {"Div", 14, HOLO_I32, 7, -2, NONE, -3, NULL, 0},
    {"Div", 14, HOLO_I32, 7, 0, NONE, 0, NULL, 0},
    {"Div", 14, HOLO_I32, INT32_MIN, -1, NONE, INT32_MIN, NULL, 0},
    {"Div", 14, HOLO_I64, (double)INT64_MIN, -1, NONE, (double)INT64_MIN, NULL, 0},
    {"Div", 14, HOLO_U8, 7, 0, NONE, 0, NULL, 0},
    {"Div", 14, HOLO_F32, 1, 0, NONE, INFINITY, NULL, 0},
    {"Add", 14, HOLO_U8, 200, 100, NONE, 44, NULL, 0},
    {"Add", 14, HOLO_F32, 1e-45, 1e-45, NONE, 0x1p-148, NULL, 0},
    {"Add", 14, HOLO_F16, 65504, 65504, NONE, INFINITY, NULL, 0},
    {"Mul", 14, HOLO_I16, 300, 300, NONE, 24464, NULL, 0},
    {"Mod", 13, HOLO_I32, -7, 3, NONE, 2, NULL, 0},
    {"Mod", 13, HOLO_I32, 7, -3, NONE, -2, NULL, 0},
    {"Mod", 13, HOLO_I32, -7, 3, NONE, -1, "fmod", 1},
    {"Mod", 13, HOLO_I32, 7, 0, NONE, 0, NULL, 0},
    {"Mod", 13, HOLO_I64, (double)INT64_MIN, -1, NONE, 0, NULL, 0},
    {"Mod", 13, HOLO_F32, -7.5, 3, NONE, -1.5, "fmod", 1},
    {"Pow", 15, HOLO_I32, 3, 4, NONE, 81, NULL, 0},
    {"Pow", 15, HOLO_I64, -2, 63, NONE, (double)INT64_MIN, NULL, 0},
    {"Pow", 15, HOLO_I32, 2, -1, NONE, 0, NULL, 0},
    {"Pow", 15, HOLO_I32, -1, -3, NONE, -1, NULL, 0},
    {"Pow", 15, HOLO_F32, -2, 0.5, NONE, NAN, NULL, 0},
    {"Max", 13, HOLO_F32, NAN, 1, NONE, NAN, NULL, 0},
    {"Min", 13, HOLO_F32, 1, NAN, 2, NAN, NULL, 0},
    {"Max", 13, HOLO_U64, 0x1p63, 1, NONE, 0x1p63, NULL, 0},
    {"Mean", 13, HOLO_F16, 65504, 65504, 65504, 65504, NULL, 0},
    {"Clip", 13, HOLO_F32, 5, 3, 1, 1, NULL, 0},
    {"Clip", 13, HOLO_F32, NAN, 0, 1, NAN, NULL, 0},
    {"Clip", 13, HOLO_I8, -5, 0, NONE, 0, NULL, 0},
    {"Clip", 13, HOLO_U64, 0x1p63, NONE, NONE, 0x1p63, NULL, 0},
    {"Round", 22, HOLO_F32, 2.5, NONE, NONE, 2, NULL, 0},
    {"Round", 22, HOLO_F32, -3.5, NONE, NONE, -4, NULL, 0},
    {"Abs", 13, HOLO_I8, -128, NONE, NONE, -128, NULL, 0},
    {"Neg", 13, HOLO_I64, (double)INT64_MIN, NONE, NONE, (double)INT64_MIN, NULL, 0},
    {"Sign", 13, HOLO_F32, NAN, NONE, NONE, NAN, NULL, 0},
    {"Relu", 14, HOLO_F32, NAN, NONE, NONE, NAN, NULL, 0},
    {"Sigmoid", 13, HOLO_F32, -1000, NONE, NONE, 0, NULL, 0},
    {"Softplus", 22, HOLO_F32, 1000, NONE, NONE, 1000, NULL, 0},
    {"IsInf", 20, HOLO_F32, -INFINITY, NONE, NONE, 0, "detect_negative", 0},
    {"IsNaN", 20, HOLO_F8E4M3FN, NAN, NONE, NONE, 1, NULL, 0},
    {"Less", 13, HOLO_F32, NAN, 1, NONE, 0, NULL, 0},
    {"Less", 13, HOLO_U64, 1, 0x1p63, NONE, 1, NULL, 0},
    {"BitwiseNot", 18, HOLO_U8, 1, NONE, NONE, 254, NULL, 0},
    {"Cast", 21, HOLO_F32, 1e9, NONE, NONE, 127, "to", HOLO_I8},
    {"Cast", 21, HOLO_I16, 200, NONE, NONE, -56, "to", HOLO_I8},
    {"Cast", 21, HOLO_F32, 1000, NONE, NONE, 448, "to", HOLO_F8E4M3FN},
    {"Cast", 24, HOLO_F32, 3, NONE, NONE, 4, "to", HOLO_F8E8M0},
    {"Cast", 21, HOLO_U64, 0x1p63, NONE, NONE, 0x1p63, "to", HOLO_F32},
};
// clang-format on

static void test_edges(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(edges); i++) {
        const struct Edge *e    = &edges[i];
        const double       x[3] = {e->x, e->y, e->z};
        HoloTensor         t[3], out;
        const HoloTensor  *in[3] = {NULL};
        int                count = 0;
        for (int k = 0; k < 3; k++) {
            t[k] = scalar(e->dtype, x[k]);
            if (x[k] != NONE) in[k] = &t[k], count = k + 1;
        }
        HoloAttr attr = {.name = e->attr, .kind = HOLO_ATTR_INT, .count = 1, .i = e->value};
        assert_int_equal(run("", e->name, e->version, count, in, &out, e->attr != NULL, &attr), HOLO_OK);
        double got = holo_get_f(&out, 0);
        if (!(got == e->want || (isnan(got) && isnan(e->want))))
            fail_msg("%s (row %d): %g, not %g", e->name, i, got, e->want);
    }
}

// ---- elements as they are stored

// A run of elements is cast as each of them is by itself.
static void check_cast(HoloDtype from, HoloDtype to)
{
    static const double numbers[] = {0,
                                     -0.0,
                                     1,
                                     -1,
                                     0.5,
                                     -0.5,
                                     1.5,
                                     127,
                                     128,
                                     -128,
                                     -129,
                                     254.9,
                                     255,
                                     256,
                                     65535,
                                     -32769,
                                     0x1p31,
                                     1e-42,
                                     -0x1p31,
                                     0x1.fffffep30,
                                     NAN,
                                     0x1p63,
                                     0x1p64,
                                     -0x1p63,
                                     INFINITY,
                                     -INFINITY,
                                     1e300,
                                     3e38,
                                     -2147483904.0,
                                     16777217,
                                     2,
                                     9223371487098961920.0};
    enum { COUNT = 5000 };
    const int64_t     dim[1] = {COUNT};
    HoloTensor        x = make(from, 1, dim), want = make(to, 1, dim), out;
    const HoloTensor *in[1] = {&x};
    HoloAttr          attr  = {.name = "to", .kind = HOLO_ATTR_INT, .count = 1, .i = to};
    bool              by_f =
        holo_dtype_class(from) == HOLO_CLASS_FLOAT || (from == HOLO_U64 && holo_dtype_class(to) == HOLO_CLASS_FLOAT);
    for (int i = 0; i < COUNT; i++) holo_put_f(&x, i, numbers[i * 7 % HOLO_COUNT(numbers)]);
    for (int i = 0; i < COUNT; i++) {
        if (by_f)
            holo_put_f(&want, i, holo_get_f(&x, i));
        else
            holo_put_i(&want, i, holo_get_i(&x, i));
    }
    assert_int_equal(run("", "Cast", 21, 1, in, &out, 1, &attr), HOLO_OK);
    if (memcmp(out.data, want.data, holo_tensor_bytes(&out)))
        fail_msg("cast from %s to %s differs", holo_dtype_name(from), holo_dtype_name(to));
}

static void test_casts(void **state)
{
    (void)state;
    static const HoloDtype dtypes[] = {HOLO_F32, HOLO_F64, HOLO_F16, HOLO_I64, HOLO_I32, HOLO_I16,
                                       HOLO_I8,  HOLO_U8,  HOLO_U32, HOLO_U64, HOLO_BOOL};
    for (int i = 0; i < HOLO_COUNT(dtypes); i++)
        for (int k = 0; k < HOLO_COUNT(dtypes); k++)
            if (i != k) check_cast(dtypes[i], dtypes[k]);
}

// A caller may give any byte as a bool; what comes out is 0 or 1.
static void test_bytes_as_bool(void **state)
{
    (void)state;
    static const char *const names[] = {"And", "Or", "Xor", "Not"};
    const int64_t            dim[1]  = {300};
    HoloTensor               x = make(HOLO_BOOL, 1, dim), y = make(HOLO_BOOL, 1, dim), out;
    const HoloTensor        *in[2] = {&x, &y};
    uint8_t                 *a = x.data, *b = y.data;
    for (int i = 0; i < 300; i++) a[i] = (uint8_t)(i % 4 * 85), b[i] = (uint8_t)(i / 4 % 4);
    for (int o = 0; o < HOLO_COUNT(names); o++) {
        assert_int_equal(run("", names[o], 7, o < 3 ? 2 : 1, in, &out, 0, NULL), HOLO_OK);
        for (int i = 0; i < 300; i++) {
            int want = o == 0 ? a[i] && b[i] : o == 1 ? a[i] || b[i] : o == 2 ? !a[i] != !b[i] : !a[i];
            assert_int_equal(((const uint8_t *)out.data)[i], want);
        }
    }
}

// Over its own input an operator gives what it gives elsewhere.
static void test_in_place(void **state)
{
    (void)state;
    static const HoloDtype dtypes[] = {HOLO_I32, HOLO_F32, HOLO_I64, HOLO_U8, HOLO_F16};
    const int64_t          dim[1]   = {9001};
    HoloRandom             random   = {5};
    for (int i = 0; i < HOLO_COUNT(dtypes); i++) {
        HoloTensor        x = make(dtypes[i], 1, dim), y = make(dtypes[i], 1, dim), want;
        const HoloTensor *in[2] = {&x, &y};
        fill(&x, &random), fill(&y, &random);
        assert_int_equal(run("", "Sub", 14, 2, in, &want, 0, NULL), HOLO_OK);
        HoloTensor *outs[1] = {&x};
        HoloError   error   = {0};
        HoloCall    call    = {.op        = holo_op_find("", "Sub", 14),
                               .node      = "test",
                               .version   = 14,
                               .in_count  = 2,
                               .out_count = 1,
                               .in        = in,
                               .out       = outs,
                               .host      = &test_host,
                               .error     = &error};
        assert_int_equal(call.op->eval(&call), HOLO_OK);
        assert_memory_equal(x.data, want.data, holo_tensor_bytes(&x));
    }
}

// ---- sums along an axis

static void test_cumulative(void **state)
{
    (void)state;
    const int64_t shapes[][3] = {{3, 5, 1},   {2, 300, 1},   {2, 7, 9},   {3, 40, 600},
                                 {1, 600, 3}, {70, 33, 257}, {2, 5, 1300}};
    HoloRandom    random      = {7};
    for (int s = 0; s < HOLO_COUNT(shapes); s++)
        for (int how = 0; how < 8; how++) {
            const int64_t    *d       = shapes[s];
            bool              reverse = how & 1, exclusive = how & 2;
            HoloTensor        x = make(how & 4 ? HOLO_I64 : HOLO_F32, 3, d), axis = scalar(HOLO_I64, 1), out;
            const HoloTensor *in[2]   = {&x, &axis};
            const HoloAttr    attr[2] = {{.name = "reverse", .kind = HOLO_ATTR_INT, .count = 1, .i = reverse},
                                         {.name = "exclusive", .kind = HOLO_ATTR_INT, .count = 1, .i = exclusive}};
            fill(&x, &random);
            assert_int_equal(run("", "CumSum", 14, 2, in, &out, 2, attr), HOLO_OK);
            for (int64_t row = 0; row < d[0] * d[2]; row++) {
                double sum = 0;
                for (int64_t k = 0; k < d[1]; k++) {
                    int64_t at   = (row / d[2] * d[1] + (reverse ? d[1] - 1 - k : k)) * d[2] + row % d[2];
                    double  x_at = holo_get_f(&x, at);
                    assert_true(holo_get_f(&out, at) == (exclusive ? sum : sum + x_at));
                    sum += x_at;
                }
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stored),        cmocka_unit_test(test_folds),    cmocka_unit_test(test_hardmax),
        cmocka_unit_test(test_broadcast),     cmocka_unit_test(test_mismatch), cmocka_unit_test(test_legacy_axis),
        cmocka_unit_test(test_one_nan),       cmocka_unit_test(test_edges),    cmocka_unit_test(test_casts),
        cmocka_unit_test(test_bytes_as_bool), cmocka_unit_test(test_in_place), cmocka_unit_test(test_cumulative),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
