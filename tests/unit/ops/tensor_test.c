// tensor_test.c - elements of every dtype read and written, and boxes moved, against index-by-index copies.
#include "ops/tensor.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_small_numbers_in_every_type(void **state)
{
    (void)state;
    for (int d = 1; d < HOLO_DTYPE_COUNT; d++) {
        uint64_t   memory[8] = {0};
        HoloTensor t         = {.dtype = (uint8_t)d, .rank = 1, .dim = {4}, .data = memory};
        if (d == HOLO_STRING || d == HOLO_F8E8M0) continue;
        const double  f[3] = {0, 1, 1};
        const int64_t i[3] = {1, 0, 1};
        double        got_f[3];
        int64_t       got_i[3];
        holo_write_f(&t, 1, 1, 3, f);
        holo_read_i(&t, 1, 1, 3, got_i);
        for (int k = 0; k < 3; k++) assert_true((double)got_i[k] == f[k]);
        holo_write_i(&t, 0, 1, 3, i);
        holo_read_f(&t, 2, -1, 3, got_f); // backwards
        for (int k = 0; k < 3; k++) assert_true(got_f[k] == (double)i[2 - k]);
        assert_true(holo_get_f(&t, 3) == 1); // not touched by the second write
    }
}

static void test_conversions(void **state)
{
    (void)state;
    // clang-format off
    static const struct {
        HoloDtype dtype;
        double    x;
        int64_t   want;
    } floats[] = {
        {HOLO_I8, 127.9, 127},  {HOLO_I8, 300, 127},     {HOLO_I8, -1e30, -128},     {HOLO_I8, -1.9, -1},
        {HOLO_U8, -1, 0},       {HOLO_U8, 256, 255},     {HOLO_I32, 1e10, INT32_MAX}, {HOLO_I64, 1e30, INT64_MAX},
        {HOLO_I64, -1e30, INT64_MIN}, {HOLO_U64, 1e30, -1}, {HOLO_U64, -5, 0},       {HOLO_I4, 100, 7},
        {HOLO_I4, -100, -8},    {HOLO_U4, 16, 15},       {HOLO_I2, 5, 1},            {HOLO_U2, 9, 3},
        {HOLO_BOOL, 0.25, 1},   {HOLO_BOOL, -0.0, 0},    {HOLO_U16, 65536, 65535},   {HOLO_U64, 0x1p63, INT64_MIN},
    };
    static const struct {
        HoloDtype dtype;
        int64_t   x, want;
    } integers[] = {
        {HOLO_I8, 200, -56}, {HOLO_U8, -1, 255}, {HOLO_I4, 9, -7}, {HOLO_U4, -1, 15}, {HOLO_I2, 2, -2},
        {HOLO_U2, 7, 3},     {HOLO_BOOL, 2, 1},  {HOLO_U32, -1, UINT32_MAX}, {HOLO_F16, 2049, 2048},
    };
    // clang-format on
    uint64_t memory = 0;
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) {
        HoloTensor t = {.dtype = (uint8_t)floats[k].dtype, .data = &memory};
        holo_put_f(&t, 0, floats[k].x);
        assert_int_equal(holo_get_i(&t, 0), floats[k].want);
        holo_put_f(&t, 0, (double)NAN);
        assert_int_equal(holo_get_i(&t, 0), floats[k].dtype == HOLO_BOOL);
    }
    for (size_t k = 0; k < sizeof integers / sizeof *integers; k++) {
        HoloTensor t = {.dtype = (uint8_t)integers[k].dtype, .data = &memory};
        holo_put_i(&t, 0, integers[k].x);
        assert_int_equal(holo_get_i(&t, 0), integers[k].want);
    }
    HoloTensor t = {.dtype = HOLO_U64, .data = &memory};
    holo_put_i(&t, 0, -1);
    assert_true(holo_get_f(&t, 0) == 0x1p64);
}

// ---- boxes

enum { ROOM = 4096 };

static void check_move(HoloRandom *random, size_t size)
{
    static uint8_t       src[ROOM * 16], got[ROOM * 16], want[ROOM * 16];
    static const int64_t sizes[] = {0, 1, 1, 2, 3, 5, 7, 16, 33};
    int                  rank    = (int)(holo_random_next(random) % 5), order[4];
    int64_t              dim[4], src_stride[4], dst_stride[4], count = 1, src_at = 0;
    for (int i = 0; i < rank; i++) {
        dim[i] = sizes[holo_random_next(random) % 9];
        if (count * dim[i] > 1500) dim[i] = 1;
        count *= dim[i] ? dim[i] : 1;
        order[i] = i;
    }
    holo_strides(rank, dim, dst_stride);
    for (int i = rank - 1; i > 0; i--) { // a transposed source, some of whose dimensions repeat or run backwards
        int k = (int)(holo_random_next(random) % (uint64_t)(i + 1)), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; i--) {
        int      k    = order[i];
        uint64_t kind = holo_random_next(random) % 6;
        src_stride[k] = kind == 0 ? 0 : kind == 1 ? -step : step;
        if (kind == 1 && dim[k]) src_at += (dim[k] - 1) * step;
        step *= dim[k] ? dim[k] : 1;
    }
    for (size_t i = 0; i < sizeof src; i++) src[i] = (uint8_t)(holo_random_next(random));
    memset(got, 0xAA, sizeof got);
    memset(want, 0xAA, sizeof want);
    HoloWalk walk = holo_walk(rank, dim);
    while (holo_walk_next(&walk))
        memcpy(want + (size_t)holo_walk_at(&walk, dst_stride) * size,
               src + (size_t)(src_at + holo_walk_at(&walk, src_stride)) * size, size);
    holo_move(rank, dim, size, got, dst_stride, src + (size_t)src_at * size, src_stride);
    assert_memory_equal(got, want, sizeof got);
}

static void test_one_nan(void **state)
{
    (void)state;
    static const struct {
        HoloDtype dtype;
        uint64_t  want;
    } rows[] = {
        {HOLO_F16, 0x7E00},     {HOLO_BF16, 0x7FC0},
        {HOLO_F32, 0x7FC00000}, {HOLO_F64, UINT64_C(0x7FF8000000000000)},
        {HOLO_F8E4M3FN, 0x7F},  {HOLO_F8E5M2FNUZ, 0x80},
    };
    const uint64_t bits = UINT64_C(0xFFF8000000001234); // negative, with a payload
    double         nan;
    memcpy(&nan, &bits, sizeof nan);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        uint64_t   memory = 0;
        HoloTensor t      = {.dtype = (uint8_t)rows[k].dtype, .data = &memory};
        holo_put_f(&t, 0, nan);
        assert_true(memory == rows[k].want);
    }
}

static void test_move(void **state)
{
    (void)state;
    HoloRandom random = {7};
    for (int round = 0; round < 300; round++) {
        static const size_t sizes[] = {1, 2, 4, 8, 16, 3};
        check_move(&random, sizes[round % 6]);
    }
}

static void test_walk(void **state)
{
    (void)state;
    const int64_t dim[2] = {2, 3}, none[2] = {2, 0}, stride[2] = {3, 1};
    HoloWalk      walk = holo_walk(2, dim);
    for (int64_t at = 0; at < 6; at++) {
        assert_true(holo_walk_next(&walk));
        assert_int_equal(holo_walk_at(&walk, stride), at);
    }
    assert_false(holo_walk_next(&walk));
    walk = holo_walk(2, none);
    assert_false(holo_walk_next(&walk));
    walk = holo_walk(0, NULL);
    assert_true(holo_walk_next(&walk));
    assert_false(holo_walk_next(&walk));
}

static void test_strings(void **state)
{
    (void)state;
    HoloString a = {"ab", 2}, b = {"abc", 3}, c = {"b", 1}, none = {NULL, 0};
    assert_true(holo_string_equal(a, a) && !holo_string_equal(a, b) && holo_string_equal(none, none));
    assert_true(holo_string_compare(a, b) < 0 && holo_string_compare(c, b) > 0 && holo_string_compare(none, a) < 0);
    assert_int_equal(holo_string_compare(b, b), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_numbers_in_every_type),
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_one_nan),
        cmocka_unit_test(test_move),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
