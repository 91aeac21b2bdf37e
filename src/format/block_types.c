// block_types.c - the table of the types of blocks.
#include "format/block_read.h"

#include <string.h>

// clang-format off
static const HoloBlockType types[] = {
    // name, elements, bytes, group, numbers, offset
    {"q4_0",    32,  18,  32, -8,   7,   false, holo_block_read_q4_0},
    {"q4_1",    32,  20,  32, 0,    15,  true,  holo_block_read_q4_1},
    {"q5_0",    32,  22,  32, -16,  15,  false, holo_block_read_q5_0},
    {"q5_1",    32,  24,  32, 0,    31,  true,  holo_block_read_q5_1},
    {"q8_0",    32,  34,  32, -128, 127, false, holo_block_read_q8_0},
    {"q2_k",    256, 84,  16, 0,    3,   true,  holo_block_read_q2_k},
    {"q3_k",    256, 110, 16, -4,   3,   false, holo_block_read_q3_k},
    {"q4_k",    256, 144, 32, 0,    15,  true,  holo_block_read_q4_k},
    {"q5_k",    256, 176, 32, 0,    31,  true,  holo_block_read_q5_k},
    {"q6_k",    256, 210, 16, -32,  31,  false, holo_block_read_q6_k},
    {"iq1_s",   256, 50,  32, -9,   9,   false, holo_block_read_iq1_s},
    {"iq1_m",   256, 56,  16, -9,   9,   false, holo_block_read_iq1_m},
    {"iq2_xxs", 256, 66,  32, -43,  43,  false, holo_block_read_iq2_xxs},
    {"iq2_xs",  256, 74,  16, -43,  43,  false, holo_block_read_iq2_xs},
    {"iq2_s",   256, 82,  16, -43,  43,  false, holo_block_read_iq2_s},
    {"iq3_xxs", 256, 98,  32, -62,  62,  false, holo_block_read_iq3_xxs},
    {"iq3_s",   256, 110, 32, -15,  15,  false, holo_block_read_iq3_s},
    {"iq4_nl",  32,  18,  32, -127, 113, false, holo_block_read_iq4_nl},
    {"iq4_xs",  256, 136, 32, -127, 113, false, holo_block_read_iq4_xs},
    {"tq1_0",   256, 54,  32, -1,   1,   false, holo_block_read_tq1_0},
    {"tq2_0",   256, 66,  32, -1,   2,   false, holo_block_read_tq2_0},
    {"mxfp4",   32,  17,  32, -12,  12,  false, holo_block_read_mxfp4},
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

void holo_block_decode(const HoloBlockType *type, int64_t n, const uint8_t *blocks, float *out)
{
    HoloBlockNumbers block;
    for (int64_t b = 0; b < n; b++, blocks += type->bytes) {
        type->read(blocks, &block);
        for (int g = 0; g < type->count / type->group; g++)
            for (int i = g * type->group; i < (g + 1) * type->group; i++) {
                float x = (float)block.number[i] * block.scale[g];
                *out++  = type->has_offset ? x + block.offset[g] : x;
            }
    }
}
