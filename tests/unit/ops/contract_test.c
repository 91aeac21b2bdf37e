// contract_test.c - products of matrices by `eval`, of sizes around those of its tiles, against the plain sums.
#include "ops/op.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static HoloArena arena;

static HoloTensor make(HoloDtype dtype, int64_t rows, int64_t columns)
{
    HoloTensor t = {.dtype = (uint8_t)dtype, .rank = 2, .dim = {rows, columns}};
    t.data       = holo_arena_take(&arena, holo_tensor_bytes(&t) + 1);
    assert_non_null(t.data);
    return t;
}

static void fill(HoloTensor *t, HoloRandom *random)
{
    bool is_float = t->dtype == HOLO_F64;
    for (int64_t i = 0; i < holo_tensor_count(t); i++) {
        uint64_t bits = holo_random_next(random);
        if (is_float)
            holo_put_f(t, i, (double)(int64_t)bits * 0x1p-60);
        else
            holo_put_i(t, i, (int64_t)bits); // of all sizes: sums wrap around
    }
}

// From the first product on, each added to the sum of those before.
static void expect(const HoloTensor *a, const HoloTensor *b, const HoloTensor *y, int64_t row, int64_t column)
{
    HoloTensor want  = make((HoloDtype)y->dtype, 1, 1);
    uint64_t   sum   = 0;
    double     sum_f = 0;
    for (int64_t k = 0; k < a->dim[1]; k++) {
        sum += (uint64_t)holo_get_i(a, row * a->dim[1] + k) * (uint64_t)holo_get_i(b, k * b->dim[1] + column);
        sum_f += holo_get_f(a, row * a->dim[1] + k) * holo_get_f(b, k * b->dim[1] + column);
    }
    if (y->dtype == HOLO_F64)
        assert_true(holo_get_f(y, row * y->dim[1] + column) == sum_f);
    else {
        holo_put_i(&want, 0, (int64_t)sum);
        assert_int_equal(holo_get_i(y, row * y->dim[1] + column), holo_get_i(&want, 0));
    }
}

static void *take(const HoloHost *host, size_t size)
{
    (void)host;
    return holo_arena_take(&arena, size);
}

static void test_products(void **state)
{
    (void)state;
    static const HoloDtype types[]    = {HOLO_I32, HOLO_U32, HOLO_I64, HOLO_U64, HOLO_F64};
    static const int64_t   sizes[][3] = {{1, 1, 1},  {3, 5, 7},  {32, 32, 128}, {1, 300, 1},   {35, 100, 3},
                                         {7, 33, 4}, {2, 70, 5}, {33, 31, 129}, {31, 70, 127}, {65, 33, 260}};
    const HoloHost         host       = {.temp = take, .keep = take, .workers = 1};
    HoloRandom             random     = {7};
    for (int t = 0; t < HOLO_COUNT(types); t++)
        for (int s = 0; s < HOLO_COUNT(sizes); s++) {
            HoloTensor a = make(types[t], sizes[s][0], sizes[s][1]), b = make(types[t], sizes[s][1], sizes[s][2]);
            HoloTensor y     = make(types[t], sizes[s][0], sizes[s][2]);
            HoloError  error = {0};
            HoloCall   call  = {.op        = holo_op_find("", "MatMul", 13),
                                .node      = "test",
                                .version   = 13,
                                .in_count  = 2,
                                .out_count = 1,
                                .in        = (const HoloTensor *[]){&a, &b},
                                .out       = (HoloTensor *[]){&y},
                                .host      = &host,
                                .error     = &error};
            fill(&a, &random);
            fill(&b, &random);
            assert_int_equal(holo_op_eval(&call), HOLO_OK);
            for (int64_t i = 0; i < y.dim[0] * y.dim[1]; i += 3) expect(&a, &b, &y, i / y.dim[1], i % y.dim[1]);
            holo_arena_deinit(&arena);
            arena = (HoloArena){0};
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
