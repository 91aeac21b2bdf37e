// blocks_test.c - weights in blocks: numbers that ggml gives for the same bytes, the limits of types, and panels.
#include "base/base.h"
#include "format/blocks.h"
#include "format/dtype.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 16, BYTES_MOST = 256 };

// 16 blocks of bytes from a simple generator, whose seed is the row. Where the upper byte of a scale or an offset is,
// bit 6 is cleared: it is then a number. The first and the last element of the first block, and a hash of all.
static const struct {
    const char *name;
    int         scale, offset;
    float       first, last;
    uint64_t    hash;
} known[] = {
    {"q4_0", 1, 0, -0x1.5d2p-5f, -0x1.2b4p-6f, UINT64_C(0x2952b51585d70f25)},
    {"q4_1", 1, 3, 0x1.fc8p-1f, 0x1.55p-1f, UINT64_C(0x9a7f6d41b3d55847)},
    {"q5_0", 1, 0, -0x1.968p-11f, -0x1.968p-11f, UINT64_C(0xef71712fed0fdd25)},
    {"q5_1", 1, 3, -0x1.53e38p-3f, -0x1.10238p-3f, UINT64_C(0x1e4d7f441fe35e24)},
    {"q8_0", 1, 0, -0x1.c088p+5f, -0x1.783p+6f, UINT64_C(0x1cbe9272a5b5d1a5)},
    {"q2_k", 81, 83, -0x1.281p-1f, -0x1.f66ap+4f, UINT64_C(0xd55e3e9e1c220283)},
    {"q3_k", 109, 0, -0x1.e54p-6f, -0x1.6bfp-6f, UINT64_C(0xb401f64724839525)},
    {"q4_k", 1, 3, 0x1.df7e5ep+2f, 0x1.300ca4p+0f, UINT64_C(0x7492c782a6def2b0)},
    {"q5_k", 1, 3, 0x1.3a861cp-1f, 0x1.f8f68ep-1f, UINT64_C(0x00e4ddcd174061ad)},
    {"q6_k", 209, 0, 0x1.e342fp+3f, -0x1.a3c72p+3f, UINT64_C(0x893d5a0f0807e9e3)},
    {"iq1_s", 1, 0, -0x1.c128p-14f, 0x1.4464p-13f, UINT64_C(0xac10716a814eaca5)},
    {"iq1_m", 55, 0, -0x1.f314p-9f, -0x1.40d6p-8f, UINT64_C(0xe2a483e9b5881725)},
    {"iq2_xxs", 1, 0, 0x1.6821cp+3f, 0x1.1adep+3f, UINT64_C(0xba9f7637f850d5c9)},
    {"iq2_xs", 1, 0, 0x1.2361cp-7f, 0x1.f74bcp-7f, UINT64_C(0xef7733fb252b713d)},
    {"iq2_s", 1, 0, 0x1.2188p-4f, -0x1.3002p-2f, UINT64_C(0xdd60fc9984640e89)},
    {"iq3_xxs", 1, 0, 0x1.a559p+6f, 0x1.23d28p+7f, UINT64_C(0xd882e1eaf750c225)},
    {"iq3_s", 1, 0, 0x1.12a8p-7f, 0x1.974d8p-3f, UINT64_C(0xb79691fb34351965)},
    {"iq4_nl", 1, 0, 0x1.00dep+1f, -0x1.1098p-1f, UINT64_C(0x0c59bc97baf3bba5)},
    {"iq4_xs", 1, 0, -0x1.00b8p-8f, 0x1.93p-8f, UINT64_C(0x407d505cca67bc83)},
    {"tq1_0", 53, 0, -0x1.3ap-10f, 0x0p+0f, UINT64_C(0x24298bacc70be325)},
    {"tq2_0", 65, 0, 0x1.524p-9f, 0x1.524p-9f, UINT64_C(0x0d796d3b57c76325)},
    {"mxfp4", 0, 0, 0x1p-63f, 0x1p-66f, UINT64_C(0x1c3c84be51854b25)},
};

static void bytes_make(int row, const HoloBlockType *type, uint8_t *out)
{
    uint32_t state = (uint32_t)row + 1;
    for (int i = 0; i < BLOCKS * type->bytes; i++) {
        state  = state * 1664525u + 1013904223u;
        out[i] = (uint8_t)(state >> 24);
    }
    for (int b = 0; b < BLOCKS; b++) {
        out[b * type->bytes + known[row].scale] &= 0xBF;
        out[b * type->bytes + known[row].offset] &= 0xBF;
    }
}

static void test_known_numbers(void **state)
{
    static uint8_t bytes[BLOCKS * BYTES_MOST];
    static float   x[BLOCKS * HOLO_BLOCK_MOST];
    (void)state;
    for (int row = 0; row < HOLO_COUNT(known); row++) {
        const HoloBlockType *type = holo_block_type_find(known[row].name);
        uint64_t             hash = UINT64_C(0xcbf29ce484222325);
        assert_non_null(type);
        bytes_make(row, type, bytes);
        holo_block_decode(type, BLOCKS, bytes, x);
        if (x[0] != known[row].first || x[type->count - 1] != known[row].last)
            fail_msg("%s: %a and %a", type->name, (double)x[0], (double)x[type->count - 1]);
        for (int i = 0; i < BLOCKS * type->count; i++) {
            float    y = x[i] + 0.0f; // -0 is 0
            uint32_t bits;
            memcpy(&bits, &y, sizeof bits);
            hash = (hash ^ bits) * UINT64_C(0x100000001b3);
        }
        if (hash != known[row].hash) fail_msg("%s: some numbers differ", type->name);
    }
}

static void test_table(void **state)
{
    static uint8_t   bytes[BLOCKS * BYTES_MOST];
    HoloBlockNumbers block;
    (void)state;
    assert_null(holo_block_type_find("q9_9"));
    assert_null(holo_block_type_find(NULL));
    assert_null(holo_block_type_at(-1));
    assert_null(holo_block_type_at(HOLO_COUNT(known)));
    for (int row = 0; row < HOLO_COUNT(known); row++) {
        const HoloBlockType *type = holo_block_type_at(row);
        assert_string_equal(type->name, known[row].name);
        assert_true(!(type->count % type->group) && type->count / type->group <= HOLO_BLOCK_GROUPS);
        assert_true(type->count % HOLO_BLOCK_UNIT == 0 && type->bytes <= BYTES_MOST);
        assert_true(!type->has_offset || type->low == 0);
        assert_true(type->book || type->high - type->low < 1 << type->bits);
        assert_int_equal(holo_block_row_bytes(type, 3 * type->count), 3 * type->bytes);
        assert_int_equal(holo_block_row_bytes(type, type->count + 1), -1);
        assert_int_equal(holo_block_row_bytes(type, -type->count), -1);
        assert_int_equal(holo_block_panel_bytes(type, INT64_MAX / type->count * type->count), -1);
        bytes_make(row, type, bytes);
        for (int b = 0; b < BLOCKS; b++) {
            type->read(bytes + b * type->bytes, &block);
            for (int i = 0; i < type->count; i++) {
                bool is_coded = !type->book;
                for (int c = 0; type->book && c < 1 << type->bits; c++) is_coded |= type->book[c] == block.number[i];
                assert_true(is_coded && block.number[i] >= type->low && block.number[i] <= type->high);
            }
        }
    }
}

// The code of an element of a panel, by the words of the header.
static int code_at(const HoloBlockType *type, const uint8_t *unit, int column, int i)
{
    int quad = i / 4, at = column * 4 + i % 4;
    switch (type->bits) {
    case 2: return unit[quad % 2 * 64 + at] >> quad / 2 * 2 & 3;
    case 3: return (unit[quad % 2 * 64 + at] >> quad / 2 * 2 & 3) | (unit[128 + at] >> quad & 1) << 2;
    case 4: return unit[quad % 4 * 64 + at] >> quad / 4 * 4 & 15;
    case 5: return (unit[quad % 4 * 64 + at] >> quad / 4 * 4 & 15) | (unit[256 + at] >> quad & 1) << 4;
    case 6:
        return (unit[quad % 4 * 64 + at] >> quad / 4 * 4 & 15) | (unit[256 + quad % 2 * 64 + at] >> quad / 2 * 2 & 3)
                                                                     << 4;
    default: return unit[quad * 64 + at];
    }
}

static void test_panels(void **state)
{
    static uint8_t bytes[BLOCKS * BYTES_MOST];
    (void)state;
    for (int row = 0; row < HOLO_COUNT(known); row++) {
        const HoloBlockType *type   = holo_block_type_at(row);
        int                  blocks = 2, columns = 7;
        int64_t              k = blocks * type->count, size = holo_block_panel_bytes(type, k);
        if (type->slice) continue; // the next tests
        uint8_t         *panel = malloc((size_t)size);
        HoloBlockNumbers block;
        assert_true(panel && size % 64 == 0);
        memset(panel, 0xAA, (size_t)size);
        bytes_make(row, type, bytes);
        holo_block_panel_pack(type, k, columns, bytes, blocks * type->bytes, panel);
        for (int j = 0; j < HOLO_BLOCK_COLUMNS; j++)
            for (int64_t i = 0; i < k; i++) {
                int64_t        chunk = i / 256 * holo_block_chunk_bytes(type) + holo_block_chunk_scales(type);
                const uint8_t *unit  = panel + chunk + i % 256 / 32 * holo_block_unit_bytes(type);
                int            code  = code_at(type, unit, j, (int)(i % 32));
                if (j >= columns) assert_int_equal(code, 0);
                if (j >= columns) continue;
                type->read(bytes + (j * blocks + i / type->count) * type->bytes, &block);
                assert_int_equal(type->book ? type->book[code] : code + type->low, block.number[i % type->count]);
            }
        free(panel);
    }
}

// Slices have the bits of their blocks, each where the header says, and zeros for columns that are missing.
static void test_slices(void **state)
{
    static uint8_t bytes[BLOCKS * BYTES_MOST], panel[BLOCKS * BYTES_MOST];
    int            found = 0;
    (void)state;
    for (int row = 0; row < HOLO_COUNT(known); row++) {
        const HoloBlockType *type = holo_block_type_at(row);
        if (!type->slice) continue;
        int lead = type->scale_at < 0 ? 0 : 32, columns = 7;
        found++;
        assert_int_equal(holo_block_panel_bytes(type, type->count), 16 * type->bytes);
        memset(panel, 0xAA, sizeof panel);
        bytes_make(row, type, bytes);
        holo_block_panel_pack(type, type->count, columns, bytes, type->bytes, panel);
        for (int j = 0; j < HOLO_BLOCK_COLUMNS; j++)
            for (int i = 0, word = 0; i < type->bytes; i++) {
                bool is_scale = lead && i >= type->scale_at && i < type->scale_at + 2;
                int  at       = is_scale ? 2 * j + i - type->scale_at : lead + word / 4 * 64 + 4 * j + word % 4;
                word += !is_scale;
                assert_int_equal(panel[at], j < columns ? bytes[j * type->bytes + i] : 0);
            }
    }
    assert_int_equal(found, 8);
}

// Packed weights take hardly more than those of files.
static void test_sizes(void **state)
{
    const HoloBlockType *type;
    (void)state;
    for (int t = 0; (type = holo_block_type_at(t)); t++) {
        int64_t k = 4096, have = holo_block_panel_bytes(type, k), file = 16 * holo_block_row_bytes(type, k);
        if (have * 100 > file * 104) fail_msg("%s takes %g of the file", type->name, (double)have / (double)file);
    }
}

// A row that was packed comes back as it would be decoded, to the bit.
static void test_panel_rows(void **state)
{
    static uint8_t bytes[BLOCKS * BYTES_MOST];
    static float   want[2 * HOLO_BLOCK_MOST], have[2 * HOLO_BLOCK_MOST];
    (void)state;
    for (int row = 0; row < HOLO_COUNT(known); row++) {
        const HoloBlockType *type   = holo_block_type_at(row);
        int                  blocks = 2, columns = 7;
        int64_t              k     = blocks * type->count;
        uint8_t             *panel = malloc((size_t)holo_block_panel_bytes(type, k));
        assert_non_null(panel);
        bytes_make(row, type, bytes);
        holo_block_panel_pack(type, k, columns, bytes, blocks * type->bytes, panel);
        for (int j = 0; j < columns; j++) {
            holo_block_decode(type, blocks, bytes + j * blocks * type->bytes, want);
            holo_block_panel_row(type, k, panel, j, have);
            assert_memory_equal(have, want, (size_t)k * sizeof *want);
        }
        free(panel);
    }
}

// ---- writing

// Numbers as weights have them: most are small, and rows differ in size.
static void weights_make(int count, float *out)
{
    HoloRandom random = {5};
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int j = 0; j < 6; j++) sum += holo_random_unit(&random) - 0.5;
        out[i] = (float)(sum * 0.02 * (1 + i / 64 % 7 * 0.3));
    }
}

// The root of the mean square, relative to that of the numbers, stays below what a type can do. ggml's own rounding
// gives 0.083, 0.077, 0.042, 0.037, 0.0052, 0.070, 0.036 and 0.017 for such numbers.
static void test_writing(void **state)
{
    static const struct {
        const char *name;
        double      most;
    } bounds[] = {{"q4_0", 0.080}, {"q4_1", 0.071},  {"q5_0", 0.040}, {"q5_1", 0.034},
                  {"q8_0", 0.005}, {"q4_k", 0.0715}, {"q5_k", 0.036}, {"q6_k", 0.017}};
    enum { COUNT = 256 * 64 };
    static float   x[COUNT], y[COUNT];
    static uint8_t blocks[COUNT * 2];
    (void)state;
    weights_make(COUNT, x);
    for (int i = 0; i < HOLO_COUNT(bounds); i++) {
        const HoloBlockType *type = holo_block_type_find(bounds[i].name);
        double               off = 0, all = 0;
        assert_true(holo_block_encode(type, COUNT / type->count, x, blocks));
        holo_block_decode(type, COUNT / type->count, blocks, y);
        for (int j = 0; j < COUNT; j++) {
            off += ((double)y[j] - (double)x[j]) * ((double)y[j] - (double)x[j]);
            all += (double)x[j] * (double)x[j];
        }
        if (!(off <= all * bounds[i].most * bounds[i].most)) fail_msg("%s: %g", type->name, sqrt(off / all));
    }
    assert_false(holo_block_encode(holo_block_type_find("iq2_xxs"), 1, x, blocks));
}

// Blocks of one number, of tiny and huge ones, and of such that are none.
static void test_writing_extremes(void **state)
{
    static const float fill[] = {0, 1, -3, 1e-30f, -1e-42f, 3e38f, -3e38f, INFINITY, NAN};
    float              x[HOLO_BLOCK_MOST], y[HOLO_BLOCK_MOST];
    uint8_t            block[BYTES_MOST];
    (void)state;
    for (int t = 0; holo_block_type_at(t); t++)
        for (int f = 0; f < HOLO_COUNT(fill); f++) {
            const HoloBlockType *type = holo_block_type_at(t);
            for (int i = 0; i < type->count; i++) x[i] = fill[f];
            if (!holo_block_encode(type, 1, x, block)) continue;
            holo_block_decode(type, 1, block, y);
            for (int i = 0; f < 3 && i < type->count; i++)
                if (fabsf(y[i] - x[i]) > fabsf(x[i]) / 100) fail_msg("%s: %g is %g", type->name, x[i], y[i]);
            x[type->count / 2] = 1; // one among others
            holo_block_encode(type, 1, x, block);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_numbers), cmocka_unit_test(test_table),
        cmocka_unit_test(test_panels),        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_sizes),         cmocka_unit_test(test_panel_rows),
        cmocka_unit_test(test_writing),       cmocka_unit_test(test_writing_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
