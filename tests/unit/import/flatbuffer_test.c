// flatbuffer_test.c - FlatBuffers and FlexBuffers: fields, lists, texts, and offsets that lead nowhere.
#include "import/wire/flatbuffer.h"
#include "import/wire/flexbuffer.h"
#include "support/models.h"

#include <stdlib.h>
#include <string.h>

// A table with an i32 (7), a text ("abc"), a list of two i32, and nothing in field 3.
static const uint8_t sample[] = {
    24, 0, 0,  0, 'T', 'E', 'S', 'T',                                      // the root, the identifier
    12, 0, 16, 0, 4,   0,   8,   0,   12,   0,    0,    0,    0,  0, 0, 0, // at 8: the list of fields
    16, 0, 0,  0, 7,   0,   0,   0,   8,    0,    0,    0,    12, 0, 0, 0, // at 24: the table
    3,  0, 0,  0, 'a', 'b', 'c', 0,                                        // at 40: the text
    2,  0, 0,  0, 5,   0,   0,   0,   0xfe, 0xff, 0xff, 0xff,              // at 48: the list
};

static void test_fields(void **state)
{
    (void)state;
    HoloError error = {0};
    HoloFlat  flat;
    holo_flat_init(&flat, sample, sizeof sample, &error);
    HoloFlatTable root = holo_flat_root(&flat, "TEST");
    HoloFlatList  list = holo_flat_list(root, 2, 4);
    HoloString    text = holo_flat_text(root, 1);
    assert_true(holo_flat_is(root));
    assert_int_equal(holo_flat_i32(root, 0, -1), 7);
    assert_int_equal(text.size, 3);
    assert_memory_equal(text.data, "abc", 3);
    assert_int_equal(list.count, 2);
    assert_int_equal(holo_flat_list_i32(list, 1), -2);
    assert_int_equal(holo_flat_i32(root, 3, 9), 9);
    assert_int_equal(holo_flat_i32(root, 100, 9), 9);
    assert_false(holo_flat_is(holo_flat_table(root, 3)));
    assert_int_equal(flat.status, HOLO_OK);
}

// Whatever byte is another, and wherever the file ends: nothing outside of it is read (under a sanitizer), and what is
// noted comes with words.
static void test_damage(void **state)
{
    (void)state;
    for (size_t size = 0; size <= sizeof sample; size++)
        for (size_t at = 0; at < size; at++)
            for (int value = 0; value < 256; value += 17) {
                HoloError error = {0};
                HoloFlat  flat;
                uint8_t  *bytes = malloc(size + !size);
                memcpy(bytes, sample, size);
                bytes[at] = (uint8_t)value;
                holo_flat_init(&flat, bytes, size, &error);
                HoloFlatTable root = holo_flat_root(&flat, NULL);
                HoloFlatList  list = holo_flat_list(root, 2, 4);
                HoloString    text = holo_flat_text(root, 1);
                volatile int  sum  = (int)holo_flat_i32(root, 0, 0);
                for (size_t i = 0; i < list.count; i++) sum += (int)holo_flat_list_i32(list, i) & 1;
                for (size_t i = 0; i < text.size; i++) sum += text.data[i];
                HoloFlatTable inner = holo_flat_list_table(list, 0);
                sum += (int)holo_flat_i64(inner, 0, 0) & 1;
                assert_int_equal(!flat.status, !error.text[0]);
                free(bytes);
            }
}

// {"a": 3, "b": 0.5}
static const uint8_t map[] = {
    'a', 0, 'b', 0, 2, 0, 0, 0,    8,          0,          0,  0,          10, 0,
    0,   0, 8,   0, 0, 0, 4, 0,    0,          0,          2,  0,          0,  0, // keys at 8
    3,   0, 0,   0, 0, 0, 0, 0x3f, 1 << 2 | 2, 3 << 2 | 2, 10, 9 << 2 | 2, 1,
};

static void test_flexbuffer(void **state)
{
    (void)state;
    assert_float_equal(holo_flex_number(map, sizeof map, "a", -1), 3, 0);
    assert_float_equal(holo_flex_number(map, sizeof map, "b", -1), 0.5, 0);
    assert_float_equal(holo_flex_number(map, sizeof map, "c", -1), -1, 0);
    for (size_t size = 0; size < sizeof map; size++)
        for (int value = 0; value < 256; value++) {
            uint8_t *bytes = malloc(size + 1);
            memcpy(bytes, map + sizeof map - size, size);
            if (size) bytes[size / 2] = (uint8_t)value;
            volatile double x = holo_flex_number(bytes, size, "a", -1);
            (void)x;
            free(bytes);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_flexbuffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
