// base96_test.c - digits of base 96 against long division, in both directions, around the sizes where the method
// changes.
#include "base/base.h"
#include "hologram_atlas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES_MAX = 40000, DIGITS_MAX = 60000 };

static uint8_t bytes[BYTES_MAX], back[DIGITS_MAX], digits[DIGITS_MAX], plain[DIGITS_MAX];

// The digits by dividing by 96 again and again, a byte at a time. `number` is used up.
static size_t divide(uint8_t *number, size_t size, uint8_t *out)
{
    size_t count = 0;
    while (size > 0 && !number[size - 1]) size--;
    do {
        unsigned rest = 0;
        for (size_t i = size; i-- > 0;) {
            rest      = rest << 8 | number[i];
            number[i] = (uint8_t)(rest / 96);
            rest %= 96;
        }
        while (size > 0 && !number[size - 1]) size--;
        out[count++] = (uint8_t)rest;
    } while (size > 0);
    return count;
}

// To digits, beside the plain method where that is not too slow, and back.
static void check(size_t size, bool with_plain)
{
    size_t    count, returned, significant = size;
    HoloError error = {0};
    assert_int_equal(holo_base96_from_bytes(bytes, size, digits, holo_base96_digit_room(size), &count, &error),
                     HOLO_OK);
    if (with_plain) {
        memcpy(back, bytes, size);
        assert_int_equal(divide(back, size, plain), count);
        assert_memory_equal(digits, plain, count);
    }
    assert_int_equal(holo_base96_to_bytes(digits, count, back, holo_base96_byte_room(count), &returned, &error),
                     HOLO_OK);
    while (significant > 1 && !bytes[significant - 1]) significant--;
    assert_int_equal(returned, significant ? significant : 1);
    assert_memory_equal(back, bytes, significant);
}

static void test_published(void **state)
{
    (void)state;
    static const struct {
        uint32_t number;
        size_t   count;
        uint8_t  digit[5];
    } rows[] = {
        {0, 1, {0}},
        {1, 1, {1}},
        {95, 1, {95}},
        {96, 2, {0, 1}},
        {1961, 2, {41, 20}},
        {12345, 3, {57, 32, 1}},
        {UINT32_MAX, 5, {63, 74, 49, 54, 50}},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        size_t   count;
        uint32_t n = rows[i].number, read = 0;
        uint8_t  four[4] = {(uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16), (uint8_t)(n >> 24)};
        assert_int_equal(holo_base96_from_bytes(four, 4, digits, 6, &count, NULL), HOLO_OK);
        assert_int_equal(count, rows[i].count);
        assert_memory_equal(digits, rows[i].digit, count);
        assert_int_equal(holo_base96_to_bytes(digits, count, back, 6, &count, NULL), HOLO_OK);
        for (size_t k = count; k-- > 0;) read = read << 8 | back[k];
        assert_int_equal(read, n);
    }
}

static void test_sizes(void **state)
{
    (void)state;
    HoloRandom random = {5};
    for (size_t size = 0; size < 1200; size += size < 200 ? 1 : 37) {
        for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)holo_random_next(&random);
        check(size, true);
        memset(bytes, 0xFF, size); // the largest of this size
        check(size, true);
        memset(bytes, 0, size); // a power of 256, and then zero
        if (size) bytes[size - 1] = 1;
        check(size, true);
        if (size) bytes[size - 1] = 0;
        check(size, true);
    }
}

static void test_large(void **state)
{
    (void)state;
    HoloRandom random = {6};
    for (size_t i = 0; i < BYTES_MAX; i++) bytes[i] = (uint8_t)holo_random_next(&random);
    check(6000, true);
    check(BYTES_MAX, false);
}

// 96^k is a one and k zeros; one less is k times 95.
static void test_powers(void **state)
{
    (void)state;
    for (size_t k = 1; k < 3000; k = k * 5 / 3 + 1) {
        size_t size, count;
        memset(plain, 0, k);
        plain[k] = 1;
        assert_int_equal(holo_base96_to_bytes(plain, k + 1, bytes, BYTES_MAX, &size, NULL), HOLO_OK);
        assert_int_equal(holo_base96_from_bytes(bytes, size, digits, DIGITS_MAX, &count, NULL), HOLO_OK);
        assert_int_equal(count, k + 1);
        assert_memory_equal(digits, plain, count);
        for (size_t i = 0; bytes[i]-- == 0;) i++;
        memset(plain, 95, k);
        assert_int_equal(holo_base96_from_bytes(bytes, size, digits, DIGITS_MAX, &count, NULL), HOLO_OK);
        assert_int_equal(count, k);
        assert_memory_equal(digits, plain, count);
    }
}

static void test_mistakes(void **state)
{
    (void)state;
    static const uint8_t bad[] = {1, 96, 3};
    HoloError            error = {0};
    size_t               count;
    assert_int_equal(holo_base96_to_bytes(bad, 3, back, 8, &count, &error), HOLO_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "digit 1 is 96"));
    error = (HoloError){0};
    memset(bytes, 0xFF, 10);
    memset(digits, 77, 14);
    assert_int_equal(holo_base96_from_bytes(bytes, 10, digits, 12, &count, &error), HOLO_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "the number has 13 digits, but there is room for 12"));
    assert_int_equal(digits[12], 77); // nothing behind the room is written
    assert_int_equal(holo_base96_from_bytes(bytes, 10, digits, 13, &count, NULL), HOLO_OK);
    assert_int_equal(holo_base96_from_bytes(bytes, 0, digits, 0, &count, NULL), HOLO_BAD_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published), cmocka_unit_test(test_sizes),    cmocka_unit_test(test_large),
        cmocka_unit_test(test_powers),    cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
