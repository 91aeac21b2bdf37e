// gguf_file_test.c - the reader of GGUF files: what it gives, and what it refuses.
#include "import/wire/gguf.h"
#include "support/gguf_writer.h"
#include "support/models.h"

#include <stdlib.h>
#include <string.h>

// The bytes as long as the arena, and with a red zone behind them where that is watched.
static HoloStatus read_bytes(HoloArena *arena, const void *bytes, size_t size, HoloGguf *out, HoloError *error)
{
    unsigned char *kept = holo_arena_take(arena, size);
    memcpy(kept, bytes, size);
    return holo_gguf_read(arena, "x.gguf", kept, size, out, error);
}

static HoloStatus read_file(HoloArena *arena, GgufFile *file, HoloGguf *out, HoloError *error)
{
    size_t         size;
    unsigned char *bytes  = gguf_bytes(file, 3, &size);
    HoloStatus     status = read_bytes(arena, bytes, size, out, error);
    free(bytes);
    return status;
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        uint32_t kind;
        uint64_t bits;
        size_t   size;
        int64_t  whole;
    } rows[] = {
        {0, 200, 1, 200}, {1, 200, 1, -56}, {2, 65535, 2, 65535}, {3, 65535, 2, -1}, {4, ~0u, 4, ~0u},
        {5, ~0u, 4, -1},  {7, 3, 1, 1},     {7, 0, 1, 0},         {10, 1, 8, 1},     {11, UINT64_MAX, 8, -1},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        HoloArena arena = {0};
        GgufFile  file  = {0};
        HoloGguf  gguf;
        int64_t   whole = 7;
        gguf_key(&file, "n", rows[i].kind);
        gguf_put_number(&file.meta, rows[i].bits, rows[i].size);
        EXPECT_OK(read_file(&arena, &file, &gguf, &error));
        assert_true(holo_gguf_find_int(&gguf, "n", &whole));
        assert_int_equal(whole, rows[i].whole);
        assert_false(holo_gguf_find_text(&gguf, "n", &(HoloString){0}));
        assert_int_equal(holo_gguf_find_bool(&gguf, "n", &(bool){0}), rows[i].kind == 7);
        holo_arena_deinit(&arena);
    }
}

static void test_kinds(void **state)
{
    (void)state;
    HoloArena  arena = {0};
    GgufFile   file  = {0};
    HoloGguf   gguf;
    double     real  = 0;
    int64_t    whole = 7;
    HoloString text;
    gguf_f32(&file, "single", 0.5f);
    gguf_key(&file, "double", 12);
    gguf_put(&file.meta, &(double){-1.25}, 8);
    gguf_text(&file, "text", "hello");
    gguf_u32(&file, "whole", 9);
    gguf_key(&file, "huge", 10);
    gguf_put_number(&file.meta, UINT64_MAX, 8);
    EXPECT_OK(read_file(&arena, &file, &gguf, &error));
    assert_int_equal(gguf.entry_count, 5);
    assert_true(holo_gguf_find_real(&gguf, "single", &real) && real == 0.5);
    assert_true(holo_gguf_find_real(&gguf, "double", &real) && real == -1.25);
    assert_true(holo_gguf_find_real(&gguf, "whole", &real) && real == 9);
    assert_false(holo_gguf_find_int(&gguf, "single", &whole));
    assert_false(holo_gguf_find_int(&gguf, "huge", &whole)); // it does not fit
    assert_false(holo_gguf_find_int(&gguf, "text", &whole));
    assert_false(holo_gguf_find_int(&gguf, "none", &whole));
    assert_int_equal(whole, 7);
    assert_true(holo_gguf_find_text(&gguf, "text", &text));
    assert_int_equal(text.size, 5);
    assert_memory_equal(text.data, "hello", 5);
    holo_arena_deinit(&arena);
}

static void test_arrays(void **state)
{
    (void)state;
    HoloArena     arena = {0};
    GgufFile      file  = {0};
    HoloGguf      gguf;
    HoloGgufValue outer, inner, item;
    HoloString    text;
    int64_t       whole;
    gguf_key(&file, "nested", 9);
    gguf_put_number(&file.meta, 9, 4); // arrays
    gguf_put_number(&file.meta, 2, 8);
    gguf_put_number(&file.meta, 5, 4); // of two i32,
    gguf_put_number(&file.meta, 2, 8);
    gguf_put_number(&file.meta, 11, 4);
    gguf_put_number(&file.meta, (uint64_t)-12, 4);
    gguf_put_number(&file.meta, 8, 4); // and of a text
    gguf_put_number(&file.meta, 1, 8);
    gguf_put_text(&file.meta, "ab");
    gguf_u32(&file, "behind", 5);
    EXPECT_OK(read_file(&arena, &file, &gguf, &error));
    outer = *holo_gguf_find(&gguf, "nested");
    assert_true(holo_gguf_next(&outer, &inner));
    assert_true(holo_gguf_next(&inner, &item) && holo_gguf_int(&item, &whole) && whole == 11);
    assert_true(holo_gguf_next(&inner, &item) && holo_gguf_int(&item, &whole) && whole == -12);
    assert_false(holo_gguf_next(&inner, &item));
    assert_false(holo_gguf_next(&item, &inner)); // no array
    assert_true(holo_gguf_next(&outer, &inner) && holo_gguf_next(&inner, &item) && holo_gguf_text(&item, &text));
    assert_int_equal(text.size, 2);
    assert_false(holo_gguf_next(&outer, &inner));
    assert_true(holo_gguf_find_int(&gguf, "behind", &whole) && whole == 5);
    holo_arena_deinit(&arena);
}

static void test_tensors(void **state)
{
    (void)state;
    static const float numbers[6] = {1, 2, 3, 4, 5, 6};
    for (uint32_t version = 2; version <= 3; version++) {
        HoloArena arena = {0};
        GgufFile  file  = {0};
        HoloGguf  gguf;
        size_t    size;
        gguf_u32(&file, "general.alignment", 32);
        gguf_tensor(&file, "a", 0, (const uint64_t[]){3, 2, 0}, numbers, sizeof numbers);
        gguf_tensor(&file, "b", 2, (const uint64_t[]){32, 0}, numbers, 18);
        unsigned char *bytes = gguf_bytes(&file, version, &size);
        EXPECT_OK(read_bytes(&arena, bytes, size, &gguf, &error));
        const HoloGgufTensor *a = holo_gguf_tensor(&gguf, "a"), *b = holo_gguf_tensor(&gguf, "b");
        assert_non_null(a);
        assert_non_null(b);
        assert_null(holo_gguf_tensor(&gguf, "c"));
        assert_int_equal(gguf.version, version);
        assert_int_equal(a->rank, 2);
        assert_int_equal(a->dim[0], 2); // the innermost is the last
        assert_int_equal(a->dim[1], 3);
        assert_int_equal(a->count, 6);
        assert_int_equal(a->size, 32);
        assert_int_equal(b->type, 2);
        assert_int_equal(b->size, 18);
        assert_int_equal(b->offset, a->offset + 32);
        assert_memory_equal(a->data, numbers, sizeof numbers);
        free(bytes);
        holo_arena_deinit(&arena);
    }
}

static GgufFile sample(void)
{
    GgufFile file = {0};
    gguf_text(&file, "general.architecture", "llama");
    gguf_key(&file, "list", 9);
    gguf_put_number(&file.meta, 8, 4);
    gguf_put_number(&file.meta, 2, 8);
    gguf_put_text(&file.meta, "ab");
    gguf_put_text(&file.meta, "");
    gguf_tensor(&file, "t", 0, (const uint64_t[]){8, 0}, "01234567890123456789012345678901", 32);
    return file;
}

// A file that ends anywhere in its header is refused, with the byte.
static void test_cut(void **state)
{
    (void)state;
    GgufFile       file = sample();
    size_t         size;
    unsigned char *bytes = gguf_bytes(&file, 3, &size);
    for (size_t cut = 0; cut < size - 32; cut++) {
        HoloArena arena = {0};
        HoloGguf  gguf;
        EXPECT_FAIL(read_bytes(&arena, bytes, cut, &gguf, &error), HOLO_BAD_MODEL, "at byte");
        holo_arena_deinit(&arena);
    }
    free(bytes);
}

// No byte of a file that is set to something else makes the reader leave the file.
static void test_changed(void **state)
{
    (void)state;
    static const unsigned char values[] = {0, 1, 9, 127, 128, 255};
    GgufFile                   file     = sample();
    size_t                     size;
    unsigned char             *bytes = gguf_bytes(&file, 3, &size);
    for (size_t i = 0; i < size - 32; i++)
        for (int k = 0; k < HOLO_COUNT(values); k++) {
            unsigned char before = bytes[i];
            HoloArena     arena  = {0};
            HoloError     error  = {0};
            HoloGguf      gguf;
            bytes[i] = values[k];
            if (read_bytes(&arena, bytes, size, &gguf, &error))
                assert_true(error.text[0]);
            else
                for (int t = 0; t < gguf.tensor_count; t++)
                    assert_true(gguf.tensor[t].offset + gguf.tensor[t].size <= size);
            bytes[i] = before;
            holo_arena_deinit(&arena);
        }
    free(bytes);
}

static void refuse(GgufFile *file, uint32_t version, HoloStatus expected, const char *words)
{
    HoloArena      arena = {0};
    HoloGguf       gguf;
    size_t         size;
    unsigned char *bytes = gguf_bytes(file, version, &size);
    EXPECT_FAIL(read_bytes(&arena, bytes, size, &gguf, &error), expected, words);
    free(bytes);
    holo_arena_deinit(&arena);
}

static void test_refused(void **state)
{
    (void)state;
    GgufFile file = {0};
    refuse(&file, 1, HOLO_UNSUPPORTED, "version 1 of GGUF");
    refuse(&file, 4, HOLO_UNSUPPORTED, "version 4 of GGUF");
    refuse(&file, 3u << 24, HOLO_UNSUPPORTED, "big-endian");
    file.tensors = UINT64_MAX;
    refuse(&file, 3, HOLO_BAD_MODEL, "more tensors than it has room for");
    file.entries = UINT64_MAX / 2;
    refuse(&file, 3, HOLO_BAD_MODEL, "more metadata than it has room for");
    gguf_u32(&file, "a", 1);
    gguf_u32(&file, "a", 1);
    refuse(&file, 3, HOLO_BAD_MODEL, "'a': the key is there twice");
    gguf_key(&file, "a", 13);
    gguf_put_number(&file.meta, 0, 8);
    refuse(&file, 3, HOLO_BAD_MODEL, "at byte 33: there is no such kind");
    gguf_u32(&file, "general.alignment", 24);
    refuse(&file, 3, HOLO_BAD_MODEL, "not a power of 2");
    gguf_key(&file, "a", 9);
    gguf_put_number(&file.meta, 11, 4);
    gguf_put_number(&file.meta, (uint64_t)1 << 61, 8); // times 8 is 0
    refuse(&file, 3, HOLO_BAD_MODEL, "more items than the file");
    gguf_key(&file, "deep", 9);
    for (int i = 0; i < 64; i++) {
        gguf_put_number(&file.meta, 9, 4);
        gguf_put_number(&file.meta, 1, 8);
    }
    refuse(&file, 3, HOLO_BAD_MODEL, "nested too deep");
    gguf_tensor(&file, "t", 0, (const uint64_t[]){1, 0}, "", 1);
    gguf_tensor(&file, "t", 0, (const uint64_t[]){1, 0}, "", 1);
    refuse(&file, 3, HOLO_BAD_MODEL, "'t': the tensor is there twice");
    gguf_tensor(&file, "t", 0, (const uint64_t[]){(uint64_t)1 << 40, (uint64_t)1 << 40, 0}, "", 1);
    refuse(&file, 3, HOLO_BAD_MODEL, "more elements than can be counted");
    gguf_tensor(&file, "t", 0, (const uint64_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0}, "", 1);
    refuse(&file, 3, HOLO_BAD_MODEL, "more than 16 dimensions");
    gguf_tensor(&file, "t", 0, (const uint64_t[]){1, 0}, "", 1);
    file.infos.data[file.infos.size - 8] = 1;
    refuse(&file, 3, HOLO_BAD_MODEL, "'t': its offset is not aligned");
    gguf_tensor(&file, "t", 0, (const uint64_t[]){1, 0}, "", 1);
    file.infos.data[file.infos.size - 7] = 1;
    refuse(&file, 3, HOLO_BAD_MODEL, "'t': it begins behind the end of the file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_kinds), cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_tensors), cmocka_unit_test(test_cut),   cmocka_unit_test(test_changed),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests_name("gguf_file", tests, NULL, NULL);
}
