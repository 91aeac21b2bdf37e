// user_places_test.c - places of instructions in a kernel's source: to bytes and back, and bytes that are none.
#include "support/models.h"

#include "ops/hologram/user_places.h"

#include <string.h>

static void test_there_and_back(void **state)
{
    (void)state;
    const uint32_t lines[] = {7, 0, 70000};
    HoloArena      arena   = {0};
    HoloString     places;
    HoloUserPlace  place;
    EXPECT_OK(holo_user_places_make(&arena, "/home/me/kernels/kernel.py", lines, 3, &places, &error));
    assert_int_equal(places.size, strlen("kernel.py") + 1 + sizeof lines);
    assert_true(holo_user_places_find(places, 0, &place));
    assert_string_equal(place.file, "kernel.py");
    assert_int_equal(place.line, 7);
    assert_false(holo_user_places_find(places, 1, &place)); // of no line
    assert_true(holo_user_places_find(places, 2, &place));
    assert_int_equal(place.line, 70000);
    holo_arena_deinit(&arena);
}

static void test_what_does_not_say(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t      size;
        int         at;
    } cases[] = {
        {"", 0, 0},             // nothing
        {"k.py", 4, 0},         // a name without an end
        {"k.py\0\1\0\0", 8, 0}, // part of a line
        {"k.py\0\1\0\0\0", 9, 1},
        {"k.py\0\1\0\0\0", 9, -1}, // no instruction
        {"k.py\0\1\0\0\0\2\0\0", 12, 1},
    };
    HoloUserPlace place;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_false(holo_user_places_find((HoloString){cases[i].bytes, cases[i].size}, cases[i].at, &place));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_what_does_not_say),
    };
    return cmocka_run_group_tests_name("user_places", tests, NULL, NULL);
}
