// programs_test.c - programs in archives: the standard library that is part of the library, and what is broken.
#include "runtime/programs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_standard_library(void **state)
{
    (void)state;
    HoloArena         arena = {0};
    HoloError         error = {0};
    HoloArchive       archive;
    HoloStoredProgram add;
    float             a[5] = {1, 2, 3, 4, 5}, b[5] = {10, 20, 30, 40, 50}, c[5] = {0};
    assert_int_equal(holo_stdlib_open(&arena, &archive, &error), HOLO_OK);
    assert_true(archive.PROGRAMS_count > 200);
    for (size_t i = 0; i < archive.PROGRAMS_count; i++) {
        HoloStoredProgram one;
        if (holo_program_get(&archive, i, &arena, &one, &error)) fail_msg("%s", error.text);
        assert_true(one.doc[0] && one.lanes.count > 0);
        assert_string_equal(one.program.name, one.name);
    }
    assert_int_equal(holo_program_find(&archive, "vector_add_f32", &arena, &add, &error), HOLO_OK);
    HoloIsaArg    args[] = {{.data = a, .count = 5}, {.data = b, .count = 5}, {.data = c, .count = 5}, {.bits = 5}};
    HoloIsaLaunch launch = {{1, 1, 1}, {5, 1, 1}, 0};
    assert_int_equal(holo_isa_reference(&add.program, &launch, args, &error), HOLO_OK);
    for (int i = 0; i < 5; i++) assert_true(c[i] == 11 * (float)(i + 1));
    assert_int_equal(holo_program_find(&archive, "frob", &arena, &add, &error), HOLO_BAD_ARGUMENT);
    holo_arena_deinit(&arena);
}

// A program whose bytes are wrong is refused when it is taken; the archive itself holds them as bytes.
static void test_broken_program(void **state)
{
    (void)state;
    HoloArena         arena = {0};
    HoloError         error = {0};
    HoloArchive       archive;
    HoloStoredProgram one;
    assert_int_equal(holo_stdlib_open(&arena, &archive, &error), HOLO_OK);
    HoloProgramRecord record = archive.PROGRAMS_at[0];
    archive.PROGRAMS_at      = &record;
    archive.PROGRAMS_count   = 1;
    record.program_size -= 3;
    assert_int_not_equal(holo_program_get(&archive, 0, &arena, &one, &error), HOLO_OK);
    assert_true(error.text[0]);
    assert_int_equal(holo_program_get(&archive, 1, &arena, &one, NULL), HOLO_BAD_ARGUMENT);
    holo_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standard_library),
        cmocka_unit_test(test_broken_program),
    };
    return cmocka_run_group_tests_name("programs", tests, NULL, NULL);
}
