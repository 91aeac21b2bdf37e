// arena_test.c - arenas: aligned, zeroed, given back to a mark, and unimpressed by sizes that do not exist.
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void expect_zeroed(const char *memory, size_t size)
{
    for (size_t i = 0; i < size; i++) assert_int_equal(memory[i], 0);
}

static void test_memory_is_aligned_zeroed_and_apart(void **state)
{
    (void)state;
    enum { COUNT = 600 };
    HoloArena  arena  = {0};
    HoloRandom random = {5};
    char      *memory[COUNT];
    size_t     sizes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        sizes[i]  = holo_random_next(&random) % (i % 50 ? 300 : 200000);
        memory[i] = holo_arena_take(&arena, sizes[i]);
        assert_non_null(memory[i]);
        assert_int_equal((uintptr_t)memory[i] % (sizes[i] >= 64 ? 64 : 16), 0);
        expect_zeroed(memory[i], sizes[i]);
        memset(memory[i], i % 251 + 1, sizes[i]);
    }
    for (int i = 0; i < COUNT; i++) // nobody has written into another's
        for (size_t k = 0; k < sizes[i]; k++) assert_int_equal((uint8_t)memory[i][k], i % 251 + 1);
    holo_arena_deinit(&arena);
    assert_int_equal(arena.total, 0);
    holo_arena_deinit(&arena); // of nothing
}

// What is taken after a mark goes, what was there stays, and no round needs more than the first.
static void test_marks(void **state)
{
    (void)state;
    HoloArena arena = {0};
    char     *kept  = holo_arena_take(&arena, 100);
    memset(kept, 'k', 100);
    HoloArenaMark mark  = holo_arena_mark(&arena);
    size_t        total = 0;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 50; i++) {
            size_t size  = (size_t)i * 997;
            char  *again = holo_arena_take(&arena, size);
            expect_zeroed(again, size);
            memset(again, 'x', size);
        }
        if (!round) total = arena.total;
        assert_int_equal(arena.total, total);
        holo_arena_reset(&arena, mark);
    }
    for (int i = 0; i < 100; i++) assert_int_equal(kept[i], 'k');
    holo_arena_reset(&arena, (HoloArenaMark){0}); // all of it
    expect_zeroed(holo_arena_take(&arena, 100), 100);
    assert_int_equal(arena.total, total);
    holo_arena_deinit(&arena);
}

// What grows from round to round leaves no block of every size behind.
static void test_growing_rounds(void **state)
{
    (void)state;
    HoloArena arena = {0};
    for (size_t size = 100000; size < 2000000; size += 10000) {
        assert_non_null(holo_arena_take(&arena, size));
        assert_non_null(holo_arena_take(&arena, size / 2));
        assert_true(arena.total <= 3 * size);
        holo_arena_reset(&arena, (HoloArenaMark){0});
    }
    holo_arena_deinit(&arena);
}

static void test_sizes_that_do_not_exist(void **state)
{
    (void)state;
    HoloArena arena = {0};
    assert_null(holo_arena_take(&arena, SIZE_MAX));
    assert_null(holo_arena_take(&arena, SIZE_MAX - 64));
    assert_null(holo_arena_take(&arena, SIZE_MAX / 2));
    assert_null(holo_arena_take_array(&arena, SIZE_MAX / 4, 8));
    assert_null(HOLO_NEW(&arena, int64_t, -1));
    assert_null(holo_arena_text(&arena, "", SIZE_MAX));
    assert_non_null(holo_arena_take(&arena, 0));
    assert_non_null(HOLO_NEW(&arena, int64_t, 0));
    assert_non_null(holo_arena_take(&arena, 10)); // none of that has hurt it
    holo_arena_deinit(&arena);
}

// A list keeps what it has when it moves, and moves as often as it doubles.
static void test_lists_grow(void **state)
{
    (void)state;
    HoloArena arena = {0};
    int      *list = NULL, room = 0, moves = 0;
    for (int count = 0; count < 1000; count++) {
        const int *before = list;
        assert_true(HOLO_GROW(&arena, list, count, room));
        assert_true(room > count);
        moves += list != before;
        list[count] = count;
        for (int i = 0; i <= count; i++) assert_int_equal(list[i], i);
    }
    assert_int_equal(moves, 7); // 16 to 1,024
    int many = INT32_MAX;
    assert_false(holo_arena_grow(&arena, &list, many, &many, sizeof *list)); // twice as many cannot be counted
    assert_int_equal(list[999], 999);
    holo_arena_deinit(&arena);
}

static void test_texts(void **state)
{
    (void)state;
    HoloArena arena = {0};
    assert_string_equal(holo_arena_text(&arena, "abcdef", 3), "abc");
    assert_string_equal(holo_arena_text(&arena, NULL, 0), "");
    assert_string_equal(holo_arena_format(&arena, "%s-%d", "x", 12), "x-12");
    char *text = holo_arena_format(&arena, "%2000d", 7);
    assert_int_equal(strlen(text), 2000);
    holo_arena_deinit(&arena);
}

static void test_the_first_error_wins(void **state)
{
    (void)state;
    HoloError error = {0};
    assert_int_equal(holo_fail(&error, HOLO_BAD_MODEL, "node %d", 1), HOLO_BAD_MODEL);
    assert_int_equal(holo_fail(&error, HOLO_NO_FILE, "node %d", 2), HOLO_NO_FILE);
    assert_string_equal(error.text, "node 1");
    assert_int_equal(error.status, HOLO_BAD_MODEL);
    assert_int_equal(holo_fail(NULL, HOLO_NO_MEMORY, "nobody listens"), HOLO_NO_MEMORY);
    HoloError long_one = {0};
    assert_int_equal(holo_fail(&long_one, HOLO_BAD_MODEL, "%9000d", 1), HOLO_BAD_MODEL);
    assert_true(strlen(long_one.text) < sizeof long_one.text);
    for (int s = 0; s <= HOLO_INTERNAL; s++) assert_true(*holo_status_text((HoloStatus)s));
    assert_non_null(holo_status_text((HoloStatus)99));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_is_aligned_zeroed_and_apart),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_growing_rounds),
        cmocka_unit_test(test_sizes_that_do_not_exist),
        cmocka_unit_test(test_lists_grow),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_the_first_error_wins),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
