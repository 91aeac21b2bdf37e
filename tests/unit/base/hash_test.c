// hash_test.c - one hash for the same bytes: whole or in parts, by any vectors, at any address.
#include "support/models.h"

#include "base/hash.h"

#include <stdio.h>
#include <string.h>

static const char *program;

static HoloHash by_parts(const uint8_t *data, size_t size, size_t part)
{
    HoloHasher *hasher = holo_hasher_create();
    assert_non_null(hasher);
    for (size_t at = 0; at < size; at += part) holo_hasher_add(hasher, data + at, size - at < part ? size - at : part);
    HoloHash hash = holo_hasher_take(hasher);
    holo_hasher_destroy(hasher);
    return hash;
}

static void any_way_gives_one_hash(void **state)
{
    (void)state;
    static uint8_t      data[70000];
    static const size_t sizes[] = {0, 1, 16, 17, 128, 240, 241, 255, 256, 1023, 1024, 1025, 4096, 65535, 69990};
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 2654435761u >> 13);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t from = 0; from < 3; from++) {
            HoloHash whole = holo_hash(data + from, sizes[i]);
            assert_true(holo_hash_equal(whole, by_parts(data + from, sizes[i], 977)));
            assert_true(holo_hash_equal(whole, by_parts(data + from, sizes[i], sizeof data)));
        }
}

// What the specification of XXH3 says of no bytes: the hash is part of the format of archives and must not change.
static void the_hash_is_xxh3(void **state)
{
    (void)state;
    HoloHash empty = holo_hash("", 0);
    assert_true(empty.word[0] == 0x6001C324468D497F && empty.word[1] == 0x99AA06D3014798D8);
}

static void one_bit_changes_the_hash(void **state)
{
    (void)state;
    uint8_t data[2000] = {0};
    for (size_t i = 0; i < sizeof data; i += 61) {
        HoloHash before = holo_hash(data, sizeof data);
        data[i] ^= 1;
        assert_false(holo_hash_equal(before, holo_hash(data, sizeof data)));
    }
}

// Names of files choose no places in tables: in another process the same name has another number.
static void names_differ_by_process(void **state)
{
    char  command[4096], other[32] = "", own[32];
    FILE *out;
    (void)state;
    assert_true(holo_hash_name("name", 4) == holo_hash_name("name", 4));
    assert_true(holo_hash_name("name", 4) != holo_hash_name("nama", 4));
    snprintf(own, sizeof own, "%llx", (unsigned long long)holo_hash_name("name", 4));
    snprintf(command, sizeof command, "'%s' name", program);
    out = popen(command, "r");
    assert_non_null(out);
    assert_non_null(fgets(other, sizeof other, out));
    assert_int_equal(pclose(out), 0);
    assert_string_not_equal(own, other);
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc > 1) return printf("%llx", (unsigned long long)holo_hash_name(argv[1], strlen(argv[1]))) < 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_way_gives_one_hash),
        cmocka_unit_test(the_hash_is_xxh3),
        cmocka_unit_test(names_differ_by_process),
        cmocka_unit_test(one_bit_changes_the_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
