// safetensors_test.c - the reader of SafeTensors files: what it gives, and what it refuses.
#include "import/importer.h"
#include "import/wire/safetensors.h"
#include "support/models.h"
#include "support/safetensors_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static HoloStatus read_file(HoloArena *arena, const char *header, size_t data_size, HoloSafeTensors *out,
                            HoloError *error)
{
    static const char data[64];
    size_t            size;
    unsigned char    *bytes = safe_bytes(header, data, data_size, &size), *kept = holo_arena_take(arena, size);
    memcpy(kept, bytes, size); // as long as the arena, and with a red zone behind it where that is watched
    free(bytes);
    return holo_safetensors_read(arena, "x.safetensors", kept, size, out, error);
}

static void test_what_it_gives(void **state)
{
    (void)state;
    HoloArena       arena = {0};
    HoloSafeTensors all;
    EXPECT_OK(read_file(&arena,
                        "{\"__metadata__\":{\"format\":\"pt\"},"
                        "\"b\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[8,20]},"
                        "\"a\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[0,8]},"
                        "\"none\":{\"dtype\":\"F32\",\"shape\":[0,7],\"data_offsets\":[8,8]},"
                        "\"four\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[20,22]}}  ",
                        22, &all, &error));
    assert_int_equal(all.count, 4);
    assert_int_equal(all.meta_count, 1);
    assert_string_equal(all.meta[0], "format");
    assert_string_equal(all.meta[1], "pt");
    static const char *const names[]  = {"a", "none", "b", "four"}; // in the order of their bytes
    static const HoloDtype   dtypes[] = {HOLO_I64, HOLO_F32, HOLO_F16, HOLO_F4E2M1};
    static const int         counts[] = {1, 0, 6, 3};
    for (int i = 0; i < all.count; i++) {
        assert_string_equal(all.entry[i].name, names[i]);
        assert_int_equal(all.entry[i].tensor.dtype, dtypes[i]);
        assert_int_equal(all.entry[i].count, counts[i]);
    }
    assert_int_equal(all.entry[2].tensor.rank, 2);
    assert_int_equal(all.entry[2].tensor.dim[1], 3);
    assert_int_equal((const char *)all.entry[2].tensor.data - (const char *)all.entry[0].tensor.data, 8);
    holo_arena_deinit(&arena);
}

#define ONE(dtype, shape, offsets) "{\"w\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static void test_what_it_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t      data;
        HoloStatus  status;
        const char *words;
    } files[] = {
        {"", 0, HOLO_BAD_MODEL, "not JSON"},
        {"[1]", 0, HOLO_BAD_MODEL, "another kind of JSON"},
        {"{\"a\":1,\"a\":2}", 0, HOLO_BAD_MODEL, "duplicate"},
        {"{\"__metadata__\":3}", 0, HOLO_BAD_MODEL, "__metadata__ is not an object of texts"},
        {"{\"__metadata__\":{\"a\":[1]}}", 0, HOLO_BAD_MODEL, "__metadata__ is not an object of texts"},
        {"{\"w\":{\"dtype\":\"U8\",\"dtype\":\"I8\"}}", 0, HOLO_BAD_MODEL, "duplicate"},
        {"{\"w\":3}", 0, HOLO_BAD_MODEL, "'w': it is not described by an object"},
        {ONE("\"F33\"", "[1]", "[0,4]"), 4, HOLO_UNSUPPORTED, "'w' has the element type 'F33'"},
        {ONE("7", "[1]", "[0,4]"), 4, HOLO_UNSUPPORTED, "element type"},
        {ONE("\"F32\"", "1", "[0,4]"), 4, HOLO_BAD_MODEL, "no shape"},
        {ONE("\"F32\"", "[-1]", "[0,4]"), 4, HOLO_BAD_MODEL, "a whole number of 0 or more"},
        {ONE("\"F32\"", "[1.5]", "[0,4]"), 4, HOLO_BAD_MODEL, "a whole number of 0 or more"},
        {ONE("\"F32\"", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, HOLO_BAD_MODEL, "more than 16"},
        {ONE("\"F32\"", "[4294967296,4294967296]", "[0,4]"), 4, HOLO_BAD_MODEL, "more elements than can be counted"},
        {ONE("\"U8\"", "[9223372036854775807]", "[0,4]"), 4, HOLO_BAD_MODEL, "'w'"},
        {ONE("\"F32\"", "[99999999999999999999]", "[0,4]"), 4, HOLO_BAD_MODEL, "too big integer"},
        {ONE("\"F32\"", "[1]", "[0]"), 4, HOLO_BAD_MODEL, "not two whole numbers"},
        {ONE("\"F32\"", "[1]", "{}"), 4, HOLO_BAD_MODEL, "not two whole numbers"},
        {ONE("\"F32\"", "[1]", "[-4,0]"), 4, HOLO_BAD_MODEL, "not in the file"},
        {ONE("\"F32\"", "[1]", "[4,0]"), 4, HOLO_BAD_MODEL, "not in the file"},
        {ONE("\"F32\"", "[2]", "[0,8]"), 4, HOLO_BAD_MODEL, "not in the file"},
        {ONE("\"F32\"", "[1]", "[9223372036854775803,9223372036854775807]"), 4, HOLO_BAD_MODEL, "not in the file"},
        {ONE("\"F32\"", "[2]", "[0,4]"), 4, HOLO_BAD_MODEL, "do not fit its type and shape"},
        {ONE("\"F4\"", "[3]", "[0,1]"), 1, HOLO_BAD_MODEL, "do not fit its type and shape"},
        {ONE("\"F32\"", "[1]", "[4,8]"), 8, HOLO_BAD_MODEL, "before its bytes are some of no tensor"},
        {ONE("\"F32\"", "[1]", "[0,4]"), 8, HOLO_BAD_MODEL, "4 bytes at its end are of no tensor"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
         "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}",
         4, HOLO_BAD_MODEL, "'b': its bytes are those of another tensor, too"},
    };
    for (int i = 0; i < HOLO_COUNT(files); i++) {
        HoloArena       arena = {0};
        HoloSafeTensors all;
        EXPECT_FAIL(read_file(&arena, files[i].header, files[i].data, &all, &error), files[i].status, files[i].words);
        holo_arena_deinit(&arena);
    }
}

// 24 elements of each type, as wide as the format has them.
static void test_types(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        HoloDtype   dtype;
        int         bytes;
    } types[] = {
        {"F64", HOLO_F64, 192},       {"F32", HOLO_F32, 96},
        {"F16", HOLO_F16, 48},        {"BF16", HOLO_BF16, 48},
        {"I64", HOLO_I64, 192},       {"I32", HOLO_I32, 96},
        {"I16", HOLO_I16, 48},        {"I8", HOLO_I8, 24},
        {"U64", HOLO_U64, 192},       {"U32", HOLO_U32, 96},
        {"U16", HOLO_U16, 48},        {"U8", HOLO_U8, 24},
        {"BOOL", HOLO_BOOL, 24},      {"F8_E4M3", HOLO_F8E4M3FN, 24},
        {"F8_E5M2", HOLO_F8E5M2, 24}, {"F8_E8M0", HOLO_F8E8M0, 24},
        {"F6_E2M3", HOLO_F6E2M3, 18}, {"F6_E3M2", HOLO_F6E3M2, 18},
        {"F4", HOLO_F4E2M1, 12},      {"C64", HOLO_C64, 192},
    };
    static const char data[193];
    for (int i = 0; i < HOLO_COUNT(types); i++)
        for (int more = 0; more < 2; more++) { // a byte too many is refused
            HoloArena       arena = {0};
            HoloSafeTensors all;
            char            header[200];
            size_t          size, data_size = (size_t)(types[i].bytes + more);
            snprintf(header, sizeof header, "{\"w\":{\"dtype\":\"%s\",\"shape\":[4,6],\"data_offsets\":[0,%zu]}}",
                     types[i].name, data_size);
            unsigned char *bytes = safe_bytes(header, data, data_size, &size);
            if (more) {
                EXPECT_FAIL(holo_safetensors_read(&arena, "x", bytes, size, &all, &error), HOLO_BAD_MODEL,
                            "do not fit");
            } else {
                EXPECT_OK(holo_safetensors_read(&arena, "x", bytes, size, &all, &error));
                assert_int_equal(all.entry[0].tensor.dtype, types[i].dtype);
                assert_int_equal(all.entry[0].count, 24);
            }
            free(bytes);
            holo_arena_deinit(&arena);
        }
}

static void test_header_lengths(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {1, 9, 100000001, UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63};
    HoloArena             arena     = {0};
    HoloSafeTensors       all;
    for (size_t size = 0; size < 8; size++)
        EXPECT_FAIL(holo_safetensors_read(&arena, "x", "\2\0\0\0\0\0\0\0{}", size, &all, &error), HOLO_BAD_MODEL,
                    "cut off");
    for (int i = 0; i < HOLO_COUNT(lengths); i++) {
        char bytes[] = "        {}      ";
        memcpy(bytes, &lengths[i], 8);
        EXPECT_FAIL(holo_safetensors_read(&arena, "x", bytes, sizeof bytes - 1, &all, &error), HOLO_BAD_MODEL, "x");
    }
    EXPECT_OK(holo_safetensors_read(&arena, "x", "\2\0\0\0\0\0\0\0{}", 10, &all, &error));
    assert_int_equal(all.count, 0);
    holo_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_it_gives),
        cmocka_unit_test(test_what_it_refuses),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_header_lengths),
    };
    return cmocka_run_group_tests_name("safetensors", tests, NULL, NULL);
}
