// system_test.c - folders, temporary places, commands and processes, on the system that the test was built for.
#include "base/system.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096 };

static void path_in(char *out, const char *folder, const char *name)
{
    assert_true(snprintf(out, ROOM, "%s/%s", folder, name) < ROOM);
}

static void file_write(const char *path, const char *text)
{
    HoloFileWriter *file;
    assert_int_equal(holo_file_writer_open(path, &file, NULL), HOLO_OK);
    assert_int_equal(holo_file_write(file, text, strlen(text), NULL), HOLO_OK);
    assert_int_equal(holo_file_writer_close(file, true, NULL), HOLO_OK);
}

static void test_folders(void **state)
{
    static const char *const names[] = {"b", ".hidden", "a10", "a9", "\xC3\xA4", "C"};
    static const char *const order[] = {".hidden", "C", "a10", "a9", "b", "\xC3\xA4"};
    char                     folder[ROOM], path[ROOM];
    HoloFolder               list;
    HoloError                error = {0};
    (void)state;
    assert_true(holo_temporary_folder(folder, sizeof folder));
    assert_true(holo_path_is_folder(folder));
    assert_int_equal(holo_folder_list(folder, &list, NULL), HOLO_OK);
    assert_int_equal(list.count, 0);
    holo_folder_free(&list);
    for (int i = 0; i < HOLO_COUNT(names); i++) {
        path_in(path, folder, names[i]);
        assert_true(holo_folder_make(path, i % 2));
    }
    assert_false(holo_folder_make(path, false));
    assert_int_equal(errno, EEXIST);
    assert_int_equal(holo_folder_list(folder, &list, NULL), HOLO_OK);
    assert_int_equal(list.count, HOLO_COUNT(order));
    for (int i = 0; i < list.count; i++) {
        assert_string_equal(list.name[i], order[i]);
        path_in(path, folder, list.name[i]);
        holo_folder_remove(path);
    }
    holo_folder_free(&list);
    holo_folder_remove(folder);
    assert_false(holo_path_exists(folder));
    assert_int_equal(holo_folder_list(folder, &list, &error), HOLO_NO_FILE);
    assert_non_null(strstr(error.text, "cannot be read"));
    assert_int_equal(list.count, 0);
}

static void test_many_names(void **state)
{
    enum { COUNT = 100 };
    char       folder[ROOM], path[ROOM], name[16];
    HoloFolder list;
    (void)state;
    assert_true(holo_temporary_folder(folder, sizeof folder));
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "%02d", (i * 37) % COUNT);
        path_in(path, folder, name);
        assert_true(holo_folder_make(path, false));
    }
    assert_int_equal(holo_folder_list(folder, &list, NULL), HOLO_OK);
    assert_int_equal(list.count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(atoi(list.name[i]), i);
        path_in(path, folder, list.name[i]);
        holo_folder_remove(path);
    }
    holo_folder_free(&list);
    holo_folder_remove(folder);
}

static void test_files(void **state)
{
    char        folder[ROOM], one[ROOM], two[ROOM], again[ROOM];
    HoloMapping mapping;
    (void)state;
    assert_true(holo_temporary_folder(folder, sizeof folder));
    path_in(one, folder, "one \xC3\xA4");
    path_in(two, folder, "two");
    path_in(again, folder, "./two");
    file_write(one, "1");
    file_write(two, "before");
    file_write(two, "after");
    assert_int_equal(holo_file_map(two, &mapping, NULL), HOLO_OK);
    assert_int_equal(mapping.size, 5);
    assert_memory_equal(mapping.data, "after", 5);
    holo_file_unmap(&mapping);
    assert_true(holo_path_same(two, again));
    assert_false(holo_path_same(one, two));
    assert_false(holo_path_same(one, folder));
    int file = holo_file_open(one);
    assert_true(file >= 0);
    FILE *stream = fdopen(file, "rb");
    assert_int_equal(fgetc(stream), '1');
    fclose(stream);
    assert_int_equal(holo_file_open("there-is-no-such-file"), -1);
    assert_int_equal(errno, ENOENT);
    HoloFolder list;
    assert_int_equal(holo_folder_list(folder, &list, NULL), HOLO_OK);
    assert_int_equal(list.count, 2); // and nothing temporary
    holo_folder_free(&list);
    assert_true(holo_file_remove(one) && holo_file_remove(two));
    assert_false(holo_file_remove(two));
    holo_folder_remove(folder);
}

// What was written can be read before the file has its name, and outlives one that gets none.
static void test_written_view(void **state)
{
    char            path[ROOM];
    HoloFileWriter *file;
    HoloMapping     mapping;
    (void)state;
    holo_temporary_path("system-test", path, sizeof path);
    assert_int_equal(holo_file_writer_open(path, &file, NULL), HOLO_OK);
    assert_int_equal(holo_file_write(file, "0123456789", 10, NULL), HOLO_OK);
    assert_int_equal(holo_file_write_at(file, 2, "xy", 2, NULL), HOLO_OK);
    assert_int_equal(holo_file_writer_map(file, &mapping, NULL), HOLO_OK);
    assert_int_equal(holo_file_writer_close(file, false, NULL), HOLO_OK);
    assert_false(holo_path_exists(path));
    assert_int_equal(mapping.size, 10);
    assert_memory_equal(mapping.data, "01xy456789", 10);
    holo_file_unmap(&mapping);
}

// In memory it is the same: what is written before and behind, and the end of it all.
static void test_written_memory(void **state)
{
    HoloFileWriter *file;
    HoloMapping     view, taken;
    (void)state;
    assert_int_equal(holo_file_writer_memory(&file, NULL), HOLO_OK);
    assert_int_equal(holo_file_writer_map(file, &view, NULL), HOLO_OK);
    assert_int_equal(view.size, 0);
    assert_int_equal(holo_file_write(file, "0123456789", 10, NULL), HOLO_OK);
    assert_int_equal(holo_file_write_at(file, 99999, "", 1, NULL), HOLO_OK);
    assert_int_equal(holo_file_writer_map(file, &view, NULL), HOLO_OK);
    assert_int_equal(holo_file_write_at(file, 2, "xy", 2, NULL), HOLO_OK);
    assert_int_equal(view.size, 100000);
    assert_memory_equal(view.data, "01xy456789\0\0", 12);
    holo_file_unmap(&view);
    assert_int_equal(holo_file_write(file, "end", 3, NULL), HOLO_OK);
    assert_int_equal(holo_file_writer_take(file, &taken, NULL), HOLO_OK);
    assert_int_equal(holo_file_writer_close(file, false, NULL), HOLO_OK);
    assert_int_equal(taken.size, 100003);
    assert_memory_equal((const char *)taken.data + 99999, "\0end", 4);
    holo_file_unmap(&taken);
}

static void test_temporary(void **state)
{
    char one[ROOM], two[ROOM];
    (void)state;
    int   file = holo_temporary_file(one, sizeof one), stream = holo_temporary_stream(two, sizeof two);
    FILE *written = fdopen(stream, "w+b");
    assert_true(file >= 0 && stream >= 0);
    assert_string_not_equal(one, two);
    assert_true(holo_path_exists(one));
    fputs("kept", written);
    rewind(written);
    assert_int_equal(fgetc(written), 'k');
    fclose(written);
    assert_false(holo_path_exists(two));
    fclose(fdopen(file, "wb"));
    assert_true(holo_file_remove(one));
}

static void test_command(void **state)
{
    char text[16];
    (void)state;
    assert_int_equal(holo_command_run("echo 1 2", "a b's", text, sizeof text), 0);
    assert_non_null(strstr(text, "a b's"));
    assert_int_equal(holo_command_run("exit 3 ||", "x", text, sizeof text), 3);
    assert_string_equal(text, "");
    assert_int_equal(
        holo_command_run("echo a line that is longer than its room, and ends with", "17", text, sizeof text), 0);
    assert_non_null(strstr(text, "17"));
}

typedef struct Squares {
    int done, sum;
} Squares;

static void square(void *context, int index, void *result)
{
    (void)context;
    assert_int_equal(*(int *)result, 0);
    *(int *)result = index * index;
}

static void square_done(void *context, int index, void *result, const HoloEnded *end)
{
    Squares *squares = context;
    assert_int_equal(end->how, HOLO_END_RETURNED);
    assert_int_equal(*(int *)result, index * index);
    assert_true(end->seconds >= 0);
    squares->done++;
    squares->sum += *(int *)result;
}

static void test_work(void **state)
{
    Squares  squares = {0};
    HoloWork work    = {10, 3, 60, sizeof(int), square, square_done, &squares};
    (void)state;
    assert_true(holo_work_run(&work));
    assert_int_equal(squares.done, 10);
    assert_int_equal(squares.sum, 285);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(holo_path_name("a/b/c.onnx"), "c.onnx");
    assert_string_equal(holo_path_name("c.onnx"), "c.onnx");
    assert_string_equal(holo_path_name("/c"), "c");
    assert_string_equal(holo_path_name("a/"), "");
}

static void test_machine(void **state)
{
    (void)state;
    char **entry = holo_environment();
    while (*entry && strncmp(*entry, "PATH=", 5)) entry++;
    assert_non_null(*entry);
    assert_true(holo_process_id() > 0);
    assert_true(holo_memory_peak() > 1 << 16);
    double before = holo_time_now();
    assert_true(holo_time_now() >= before);
    assert_true(holo_cpu_count() > 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folders),      cmocka_unit_test(test_many_names),     cmocka_unit_test(test_files),
        cmocka_unit_test(test_written_view), cmocka_unit_test(test_written_memory), cmocka_unit_test(test_temporary),
        cmocka_unit_test(test_command),      cmocka_unit_test(test_work),           cmocka_unit_test(test_names),
        cmocka_unit_test(test_machine),
    };
    holo_program_begin(&argc, &argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
