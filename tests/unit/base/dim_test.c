// dim_test.c - symbolic sizes: normal form, text, numbers for symbols, limits.
#include "base/dim/dim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static HoloArena arena;
static HoloDims *dims;

static int setup(void **state)
{
    (void)state;
    dims = holo_dims_create(&arena);
    return dims ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    holo_arena_deinit(&arena);
    return 0;
}

// Each left side must come out as the right one, and the right one as itself.
static void test_normal_form(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"n+1-1", "n"},
        {"0*x", "0"},
        {"s//1", "s"},
        {"x//x", "1"},
        {"(2*n)//2", "n"},
        {"(4*n+2)//2", "2*n+1"},
        {"(4*n+3)//2", "2*n+1"},
        {"(2*n+5)//6", "(n+2)//3"},
        {"(batch*seq*768)//(12*64)", "batch*seq"},
        {"(b*(s+1)*768)//(s+1)", "768*b"},
        {"(n*m)//(m*k)", "n//k"},
        {"(12*n*n)//(4*n)", "3*n"},
        {"(n+6)//(-1)", "-n-6"},
        {"(n-m)*(n+m)", "n*n-m*m"},
        {"((h+1)//2+1)//2", "(h+3)//4"},
        {"(h+2*3-7)//2+1", "(h+1)//2"},
        {"2*(n//2)", "2*(n//2)"},
        {"5-(n//2)*3", "-3*(n//2)+5"},
        {"min(n,n)", "n"},
        {"min(n,n+1)", "n"},
        {"max(n,0)", "n"},
        {"max(n+3,0)", "n+3"},
        {"max(max(n,1),1)", "max(n,1)"},
        {"max(n,min(n,1))", "n"},
        {"min(n,min(1,n))", "min(n,1)"},
        {"min(1,min(n,min(n,512)))", "min(n,1)"},
        {"min(min(n,9999),512)", "min(n,512)"},
        {"min(512,min(n,9999))", "min(n,512)"},
        {"max(3,max(m,7))", "max(m,7)"},
        {"min(max(n,m),n)", "n"},
        {"max(min(n,m),max(n,m))", "max(n,m)"},
        {"min(512,n)-min(n,512)", "0"},
        {"max(-1,n)", "n"},
        {"\"a b\"+1", "\"a b\"+1"},
        {"\"a\\\"b\"", "\"a\\\"b\""},
        {"?+1", "?"},
        {"-7", "-7"},
        {"n//0", "?"},
    };
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        HoloDim d, again;
        char    text[200];
        assert_true(holo_dim_parse(dims, cases[i][0], &d));
        assert_int_equal(holo_dim_print(dims, d, text, sizeof text), (int)strlen(cases[i][1]));
        assert_string_equal(text, cases[i][1]);
        assert_true(holo_dim_parse(dims, text, &again));
        assert_int_equal(again, d);
    }
}

static void test_bad_text(void **state)
{
    (void)state;
    static const char *const cases[] = {"",    "n+", "(n", "n)", "n n", "\"n", "min(n)", "99999999999999999999",
                                        "n/2", "*"};
    HoloDim                  d;
    for (int i = 0; i < HOLO_COUNT(cases); i++) assert_false(holo_dim_parse(dims, cases[i], &d));
    char deep[1000];
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_false(holo_dim_parse(dims, deep, &d));
}

static void test_ordinary_numbers(void **state)
{
    (void)state;
    assert_int_equal(holo_dim_div(NULL, -7, 2), -4);
    assert_int_equal(holo_dim_div_ceil(NULL, 7, 2), 4);
    assert_int_equal(holo_dim_div_ceil(NULL, -7, 2), -3);
    assert_int_equal(holo_dim_add(NULL, INT64_MAX, 1), HOLO_DIM_UNKNOWN);
    assert_int_equal(holo_dim_mul(NULL, INT64_MAX, 2), HOLO_DIM_UNKNOWN);
    assert_int_equal(holo_dim_sub(NULL, INT64_MIN, 1), HOLO_DIM_UNKNOWN);
    assert_int_equal(holo_dim_div(NULL, 1, 0), HOLO_DIM_UNKNOWN);
    assert_int_equal(holo_dim_div(NULL, INT64_MIN, -1), HOLO_DIM_UNKNOWN);
    assert_int_equal(holo_dim_add(dims, HOLO_DIM_BASE - 1, 5), HOLO_DIM_UNKNOWN);          // falls into the band
    assert_int_equal(holo_dim_add(dims, holo_dim_of_entry(1 << 29), 1), HOLO_DIM_UNKNOWN); // no such entry
    assert_int_equal(holo_dim_add(NULL, holo_dims_symbol(dims, "n"), 1), HOLO_DIM_UNKNOWN);
}

static void test_symbols(void **state)
{
    (void)state;
    HoloDim n = holo_dims_symbol(dims, "n"), u = holo_dims_fresh(dims, "u"), v = holo_dims_fresh(dims, "u");
    assert_int_equal(n, holo_dims_symbol(dims, "n"));
    assert_true(u != v);
    assert_true(holo_dim_is_fresh(dims, u));
    assert_false(holo_dim_is_fresh(dims, n));
    assert_false(holo_dim_is_fresh(dims, holo_dim_add(dims, u, 1)));
    HoloDim taken = holo_dims_symbol(dims, "w3");
    for (int i = 0; i < 8; i++) assert_true(holo_dims_fresh(dims, "w") != taken);
}

// The entries of a table with a number in place of each symbol; false: one has none.
static bool evaluate(const HoloDims *table, const int64_t *symbols, int64_t *out_values)
{
    for (int i = 0, count = holo_dims_count(table); i < count; i++) {
        const HoloDimNode *node  = holo_dims_node(table, i);
        int64_t            of[2] = {node->a, node->b};
        for (int k = 0; k < 2 && node->op != HOLO_DIM_SYMBOL; k++)
            if (holo_dim_is_symbolic(of[k])) of[k] = out_values[holo_dim_entry(of[k])];
        if (node->op == HOLO_DIM_SYMBOL)
            out_values[i] = symbols[node->a];
        else if (!holo_dim_apply(node->op, of[0], of[1], &out_values[i]))
            return false;
    }
    return true;
}

// Random expressions, simplified, have the value that plain arithmetic gives.
static void test_evaluate(void **state)
{
    (void)state;
    enum { SYMBOLS = 3, VALUES = 60 };
    HoloRandom random = {7};
    for (int round = 0; round < 200; round++) {
        HoloArena own   = {0};
        HoloDims *table = holo_dims_create(&own);
        int64_t   symbols[SYMBOLS], number[VALUES], values[4096];
        HoloDim   value[VALUES];
        for (int i = 0; i < SYMBOLS; i++) {
            char name[2] = {(char)('a' + i), 0};
            value[i]     = holo_dims_symbol(table, name);
            number[i] = symbols[i] = 1 + (int64_t)(holo_random_next(&random) % 40);
        }
        int count = SYMBOLS;
        while (count < VALUES) {
            uint64_t r  = holo_random_next(&random);
            int32_t  op = 1 + (int32_t)(r % 5);
            int      x = (int)(r >> 8) & 0xffff, y = (int)(r >> 24) & 0xffff;
            int64_t  small = (int64_t)(r >> 40) % 9 - 2, b_number = small;
            HoloDim  a = value[x % count], b = small, result;
            if (r >> 63 && op != HOLO_DIM_DIV) b = value[y % count], b_number = number[y % count];
            if (op == HOLO_DIM_DIV && b_number <= 0) continue;
            if (llabs(number[x % count]) > 1000000 || llabs(b_number) > 1000000) {
                value[count] = small, number[count++] = small;
                continue;
            }
            result = op == HOLO_DIM_ADD   ? holo_dim_add(table, a, b)
                     : op == HOLO_DIM_MUL ? holo_dim_mul(table, a, b)
                     : op == HOLO_DIM_DIV ? holo_dim_div(table, a, b)
                     : op == HOLO_DIM_MIN ? holo_dim_min(table, a, b)
                                          : holo_dim_max(table, a, b);
            if (result == HOLO_DIM_UNKNOWN)
                result = small, number[count] = small; // past a limit
            else
                assert_true(holo_dim_apply(op, number[x % count], b_number, &number[count]));
            value[count++] = result;
        }
        int entries = holo_dims_count(table);
        assert_true(entries <= 4096);
        if (evaluate(table, symbols, values)) {
            for (int i = 0; i < count; i++)
                assert_int_equal(holo_dim_is_symbolic(value[i]) ? values[holo_dim_entry(value[i])] : value[i],
                                 number[i]);
        }
        holo_arena_deinit(&own);
    }
}

static void test_limits(void **state)
{
    (void)state;
    HoloDim sum = 0, power = holo_dims_symbol(dims, "p"), nested = power;
    for (int i = 0; i < 100; i++) sum = holo_dim_add(dims, sum, holo_dims_fresh(dims, "t"));
    assert_int_equal(sum, HOLO_DIM_UNKNOWN);
    for (int i = 0; i < 40; i++) power = holo_dim_mul(dims, power, power);
    assert_int_equal(power, HOLO_DIM_UNKNOWN);
    for (int i = 0; i < 100; i++) nested = holo_dim_div(dims, 1000, holo_dim_add(dims, nested, 2));
    assert_int_equal(nested, HOLO_DIM_UNKNOWN);
}

static void test_bad_operations(void **state)
{
    (void)state;
    int64_t value;
    assert_false(holo_dim_apply(99, 1, 1, &value));
    assert_false(holo_dim_apply(HOLO_DIM_SYMBOL, 1, 1, &value));
    assert_false(holo_dim_apply(HOLO_DIM_DIV, 3, 0, &value));
    assert_false(holo_dim_apply(HOLO_DIM_DIV, INT64_MIN, -1, &value));
    assert_false(holo_dim_apply(HOLO_DIM_ADD, INT64_MAX, 1, &value));
    assert_false(holo_dim_apply(HOLO_DIM_MUL, INT64_MAX, 2, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal_form),    cmocka_unit_test(test_bad_text), cmocka_unit_test(test_ordinary_numbers),
        cmocka_unit_test(test_symbols),        cmocka_unit_test(test_evaluate), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_bad_operations),
    };
    return cmocka_run_group_tests_name("dim", tests, setup, teardown);
}
