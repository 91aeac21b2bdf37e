// block_types.c - the table of the types of blocks.
#include "format/block_read.h"

#include <string.h>

// Books of types with a grid: what places stand for, and then the same with the sign.
static const int8_t places_1[16]     = {-7, 1, 9, 9, -9, -1, 7, 7};
static const int8_t places_2[16]     = {8, 25, 43, 43, -8, -25, -43, -43};
static const int8_t places_3_xxs[16] = {4, 12, 20, 28, 36, 44, 52, 62, -4, -12, -20, -28, -36, -44, -52, -62};
static const int8_t places_3_s[16]   = {1, 3, 5, 7, 9, 11, 13, 15, -1, -3, -5, -7, -9, -11, -13, -15};

// clang-format off
#define READ(type)  holo_block_read_##type
#define WRITE(type) holo_block_write_##type
enum { PLAIN = HOLO_BLOCK_PLAIN, SUPER = HOLO_BLOCK_SUPER, POWER = HOLO_BLOCK_POWER };
enum { WHOLE = HOLO_BLOCK_WHOLE, PAIRS = HOLO_BLOCK_PAIRS, SIXES = HOLO_BLOCK_SIXES };
#define GRID(type, at, grid) HOLO_SLICE_##type, at, holo_block_grid_##grid
#define PLANES               HOLO_SLICE_NONE, 0, NULL

static const HoloBlockType types[] = {
    // name, elements, bytes, group, numbers, bits of codes, scales, offset, unit, book, reading, writing, slices
    {"q4_0",    32,  18,  32, -8,   7,   4, PLAIN, false, 1,      NULL,           READ(q4_0), 0, WRITE(q4_0), PLANES},
    {"q4_1",    32,  20,  32, 0,    15,  4, PLAIN, true,  1,      NULL,           READ(q4_1), 0, WRITE(q4_1), PLANES},
    {"q5_0",    32,  22,  32, -16,  15,  5, PLAIN, false, 1,      NULL,           READ(q5_0), 0, WRITE(q5_0), PLANES},
    {"q5_1",    32,  24,  32, 0,    31,  5, PLAIN, true,  1,      NULL,           READ(q5_1), 0, WRITE(q5_1), PLANES},
    {"q8_0",    32,  34,  32, -128, 127, 8, PLAIN, false, 1,      NULL,           READ(q8_0), 0, WRITE(q8_0), PLANES},
    {"q2_k",    256, 84,  16, 0,    3,   2, PAIRS, true,  1,      NULL,           READ(q2_k), 0, NULL, PLANES},
    {"q3_k",    256, 110, 16, -4,   3,   3, SIXES, false, 1,      NULL,           READ(q3_k), 0, NULL, PLANES},
    {"q4_k",    256, 144, 32, 0,    15,  4, SUPER, true,  1,      NULL,           READ(q4_k), 63, WRITE(q4_k), PLANES},
    {"q5_k",    256, 176, 32, 0,    31,  5, SUPER, true,  1,      NULL,           READ(q5_k), 63, WRITE(q5_k), PLANES},
    {"q6_k",    256, 210, 16, -32,  31,  6, SUPER, false, 1,      NULL,           READ(q6_k), 127, WRITE(q6_k), PLANES},
    {"iq1_s",   256, 50,  32, -9,   9,   3, SUPER, false, 0.125f, places_1,       READ(iq1_s), 0, NULL, GRID(IQ1_S, 0, 1)},
    {"iq1_m",   256, 56,  16, -9,   9,   3, SUPER, false, 0.125f, places_1,       READ(iq1_m), 0, NULL, GRID(IQ1_M, -1, 1)},
    {"iq2_xxs", 256, 66,  32, -43,  43,  3, SUPER, false, 0.125f, places_2,       READ(iq2_xxs), 0, NULL, GRID(IQ2_XXS, 0, 2_xxs)},
    {"iq2_xs",  256, 74,  16, -43,  43,  3, SUPER, false, 0.125f, places_2,       READ(iq2_xs), 0, NULL, GRID(IQ2_XS, 0, 2_xs)},
    {"iq2_s",   256, 82,  16, -43,  43,  3, SUPER, false, 0.125f, places_2,       READ(iq2_s), 0, NULL, GRID(IQ2_S, 0, 2_s)},
    {"iq3_xxs", 256, 98,  32, -62,  62,  4, SUPER, false, 0.25f,  places_3_xxs,   READ(iq3_xxs), 0, NULL, GRID(IQ3_XXS, 0, 3_xxs)},
    {"iq3_s",   256, 110, 32, -15,  15,  4, SUPER, false, 1,      places_3_s,     READ(iq3_s), 0, NULL, GRID(IQ3_S, 0, 3_s)},
    {"iq4_nl",  32,  18,  32, -127, 113, 4, PLAIN, false, 1,      holo_block_iq4, READ(iq4_nl), 0, NULL, PLANES},
    {"iq4_xs",  256, 136, 32, -127, 113, 4, SUPER, false, 1,      holo_block_iq4, READ(iq4_xs), 0, NULL, PLANES},
    {"tq1_0",   256, 54,  32, -1,   1,   2, WHOLE, false, 1,      NULL,           READ(tq1_0), 0, NULL, HOLO_SLICE_THREES, 52, NULL},
    {"tq2_0",   256, 66,  32, -1,   2,   2, WHOLE, false, 1,      NULL,           READ(tq2_0), 0, NULL, PLANES},
    {"mxfp4",   32,  17,  32, -12,  12,  4, POWER, false, 1,      holo_block_fp4, READ(mxfp4), 0, NULL, PLANES},
};
// clang-format on

enum { TYPES = sizeof types / sizeof *types };

const HoloBlockType *holo_block_type_at(int index)
{
    return index >= 0 && index < TYPES ? &types[index] : NULL;
}

const HoloBlockType *holo_block_type_find(const char *name)
{
    for (int i = 0; name && i < TYPES; i++)
        if (!strcmp(types[i].name, name)) return &types[i];
    return NULL;
}

int64_t holo_block_row_bytes(const HoloBlockType *type, int64_t count)
{
    if (count < 0 || count % type->count || count / type->count > INT64_MAX / type->bytes) return -1;
    return count / type->count * type->bytes;
}

void holo_block_floats(const HoloBlockType *type, const HoloBlockNumbers *block, float *out)
{
    for (int g = 0; g < type->count / type->group; g++) {
        float scale  = block->scale * (float)block->scales[g];
        float offset = type->has_offset ? block->offset * (float)block->offsets[g] : 0;
        for (int i = g * type->group; i < (g + 1) * type->group; i++) {
            float x = (float)block->number[i] * scale;
            *out++  = type->has_offset ? x + offset : x;
        }
    }
}

void holo_block_decode(const HoloBlockType *type, int64_t n, const uint8_t *blocks, float *out)
{
    HoloBlockNumbers block;
    for (int64_t b = 0; b < n; b++, blocks += type->bytes, out += type->count) {
        type->read(blocks, &block);
        holo_block_floats(type, &block, out);
    }
}
