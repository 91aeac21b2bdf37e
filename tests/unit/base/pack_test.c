// pack_test.c - blocks laid out in one piece of memory: none that live together overlap, and little is wasted.
#include "base/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void expect_apart(const HoloBlock *blocks, int count, uint64_t size)
{
    for (int i = 0; i < count; i++) {
        const HoloBlock *a = &blocks[i];
        if (!a->size) continue;
        assert_int_equal(a->offset % 64, 0);
        assert_true(a->offset + a->size <= size);
        for (int k = 0; k < i; k++) {
            const HoloBlock *b    = &blocks[k];
            bool             meet = a->from <= b->to && b->from <= a->to;
            if (!meet || !b->size || a->offset + a->size <= b->offset || b->offset + b->size <= a->offset) continue;
            fail_msg("blocks %d and %d, alive together, overlap", k, i);
        }
    }
}

// No layout can do with less than what is alive at one moment.
static uint64_t most_alive(const HoloBlock *blocks, int count, uint32_t moments)
{
    uint64_t most = 0;
    for (uint32_t m = 0; m <= moments; m++) {
        uint64_t now = 0;
        for (int i = 0; i < count; i++)
            if (blocks[i].from <= m && m <= blocks[i].to) now += blocks[i].size;
        if (now > most) most = now;
    }
    return most;
}

static void test_random_blocks(void **state)
{
    (void)state;
    enum { COUNT = 120, MOMENTS = 40 };
    HoloRandom random = {3};
    for (int round = 0; round < 60; round++) {
        HoloBlock blocks[COUNT], again[COUNT];
        uint64_t  size, other;
        int       count = (int)(holo_random_next(&random) % (COUNT + 1));
        for (int i = 0; i < count; i++) {
            uint32_t from = (uint32_t)(holo_random_next(&random) % MOMENTS),
                     life = (uint32_t)(holo_random_next(&random) % 8);
            blocks[i]     = (HoloBlock){holo_random_next(&random) % 5000, from, from + life, 77};
            if (i % 7 == 0) blocks[i].size = 0;
            again[i]        = blocks[i];
            again[i].offset = 1234; // whatever was there before does not count
        }
        assert_true(holo_pack(blocks, count, &size));
        assert_true(holo_pack(again, count, &other));
        assert_int_equal(size, other);
        for (int i = 0; i < count; i++) assert_int_equal(blocks[i].offset, again[i].offset);
        expect_apart(blocks, count, size);
        assert_true(size >= most_alive(blocks, count, MOMENTS + 8));
        assert_true(size <= 2 * most_alive(blocks, count, MOMENTS + 8) + 64 * COUNT);
    }
}

// A chain, each block alive with its neighbor alone, needs the memory of two.
static void test_chain(void **state)
{
    (void)state;
    HoloBlock blocks[50];
    uint64_t  size;
    for (uint32_t i = 0; i < 50; i++) blocks[i] = (HoloBlock){4096, i, i + 1, 0};
    assert_true(holo_pack(blocks, 50, &size));
    assert_int_equal(size, 2 * 4096);
}

// As many blocks as a hostile file may have: in a chain, and all alive together. Looking at all others for each would
// take minutes.
static void test_many(void **state)
{
    (void)state;
    enum { COUNT = 400000 };
    HoloBlock *blocks = calloc(COUNT, sizeof *blocks);
    uint64_t   size;
    assert_non_null(blocks);
    for (uint32_t i = 0; i < COUNT; i++) blocks[i] = (HoloBlock){4096, i, i + 1, 0};
    assert_true(holo_pack(blocks, COUNT, &size));
    assert_int_equal(size, 2 * 4096);
    for (uint32_t i = 0; i < COUNT; i++) blocks[i] = (HoloBlock){64, i % 7, COUNT - i % 5, 0};
    assert_true(holo_pack(blocks, COUNT, &size));
    assert_int_equal(size, (uint64_t)64 * COUNT);
    free(blocks);
}

static void test_none_and_empty(void **state)
{
    (void)state;
    HoloBlock empty = {0, 0, 5, 9};
    uint64_t  size  = 1;
    assert_true(holo_pack(NULL, 0, &size));
    assert_int_equal(size, 0);
    assert_true(holo_pack(&empty, 1, &size));
    assert_int_equal(size, 0);
}

static void test_sizes_beyond_all_memory(void **state)
{
    (void)state;
    uint64_t  size;
    HoloBlock huge = {UINT64_MAX - 10, 0, 1, 0};
    assert_false(holo_pack(&huge, 1, &size));
    HoloBlock many[8];
    for (int i = 0; i < 8; i++) many[i] = (HoloBlock){UINT64_MAX / 5, 0, 1, 0};
    assert_false(holo_pack(many, 8, &size));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_blocks),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_none_and_empty),
        cmocka_unit_test(test_sizes_beyond_all_memory),
    };
    return cmocka_run_group_tests_name("pack", tests, NULL, NULL);
}
