// block_case.h - random blocks of every type, for tests of kernels.
#ifndef HOLO_TESTS_BLOCK_CASE_H
#define HOLO_TESTS_BLOCK_CASE_H

#include "format/blocks.h"
#include "support/kernel_case.h"

// Where blocks have their scale and offset of f16; iq1_m and mxfp4 have none there.
static const struct {
    const char *name;
    int         at;
} scales[] = {{"q2_k", 80}, {"q3_k", 108}, {"q6_k", 208}, {"tq1_0", 52}, {"tq2_0", 64}};

static inline void f16_put(uint8_t *out, float x)
{
    uint16_t bits = holo_f32_to_f16(x);
    memcpy(out, &bits, sizeof bits);
}

// Blocks of random bytes whose numbers are about 1, or less.
static inline void block_make(const HoloBlockType *type, uint8_t *out)
{
    bool has_groups =
        type->scale == HOLO_BLOCK_SUPER || type->scale == HOLO_BLOCK_PAIRS || type->scale == HOLO_BLOCK_SIXES;
    float scale = 0.5f / (float)(type->high * (has_groups ? 32 : 1));
    int   at    = 0;
    for (int i = 0; i < type->bytes; i++) out[i] = (uint8_t)(holo_random_unit(&random_state) * 256);
    for (int i = 0; i < HOLO_COUNT(scales); i++)
        if (!strcmp(scales[i].name, type->name)) at = scales[i].at;
    if (type->scale == HOLO_BLOCK_POWER) {
        out[0] = (uint8_t)(124 + out[0] % 3);
        return;
    }
    if (!strcmp(type->name, "iq1_m")) { // in the upper halves of four pairs of bytes
        uint16_t bits = holo_f32_to_f16(scale);
        for (int i = 0; i < 4; i++) out[49 + 2 * i] = (uint8_t)((out[49 + 2 * i] & 15) | (bits >> 4 * i & 15) << 4);
        return;
    }
    f16_put(out + at, scale * (float)(0.5 + holo_random_unit(&random_state)));
    if (type->has_offset) f16_put(out + at + 2, scale * (float)holo_random_unit(&random_state));
}

#endif
