// block_grid.c - blocks of 256 elements whose codes are entries of a table: eight or four numbers at a time.
#include "format/block_read.h"

#include "format/block_grids.h"

// Signs of eight numbers from seven bits: the eighth makes their number even.
static unsigned even_signs(unsigned seven)
{
    unsigned odd = seven ^ seven >> 4;
    odd ^= odd >> 2;
    return seven | ((odd ^ odd >> 1) & 1) << 7;
}

static void eight(unsigned entry, unsigned signs, int8_t *out)
{
    static const int8_t value[4] = {8, 25, 43, 43};
    for (int i = 0; i < 8; i++) {
        int x  = value[entry >> 2 * i & 3];
        out[i] = (int8_t)(signs >> i & 1 ? -x : x);
    }
}

static void four(unsigned entry, const int8_t *values, unsigned signs, int8_t *out)
{
    for (int i = 0; i < 4; i++) {
        int x  = values[entry >> 3 * i & 7];
        out[i] = (int8_t)(signs >> i & 1 ? -x : x);
    }
}

// The scale of 16 elements of iq2_xs and iq2_s: 4 bits of a byte for each.
static void half_scales(float scale, const uint8_t *bytes, HoloBlockNumbers *out)
{
    holo_block_scale(scale * 0.125f, out);
    for (int g = 0; g < 16; g++) out->scales[g] = (int8_t)(1 + 2 * (bytes[g / 2] >> g % 2 * 4 & 15));
}

void holo_block_read_iq2_xxs(const uint8_t *block, HoloBlockNumbers *out)
{
    holo_block_scale(holo_block_f16(block) * 0.125f, out);
    for (int g = 0; g < 8; g++) {
        const uint8_t *codes = block + 2 + g * 8;
        uint32_t       rest  = holo_block_u32(codes + 4); // four times seven bits of signs, and four of the scale
        out->scales[g]       = (int8_t)(1 + 2 * (rest >> 28));
        for (int i = 0; i < 4; i++)
            eight(holo_block_grid_2_xxs[codes[i]], even_signs(rest >> 7 * i & 127), out->number + g * 32 + i * 8);
    }
}

void holo_block_read_iq2_xs(const uint8_t *block, HoloBlockNumbers *out)
{
    half_scales(holo_block_f16(block), block + 66, out);
    for (int i = 0; i < 32; i++) {
        unsigned code = holo_block_u16(block + 2 + i * 2);
        eight(holo_block_grid_2_xs[code & 511], even_signs(code >> 9), out->number + i * 8);
    }
}

void holo_block_read_iq2_s(const uint8_t *block, HoloBlockNumbers *out)
{
    const uint8_t *codes = block + 2, *signs = block + 34, *high = block + 66;
    half_scales(holo_block_f16(block), block + 74, out);
    for (int i = 0; i < 32; i++)
        eight(holo_block_grid_2_s[codes[i] | (high[i / 4] >> i % 4 * 2 & 3) << 8], signs[i], out->number + i * 8);
}

void holo_block_read_iq3_xxs(const uint8_t *block, HoloBlockNumbers *out)
{
    static const int8_t values[8] = {4, 12, 20, 28, 36, 44, 52, 62};
    const uint8_t      *codes     = block + 2;
    holo_block_scale(holo_block_f16(block) * 0.25f, out);
    for (int g = 0; g < 8; g++) {
        uint32_t rest  = holo_block_u32(block + 66 + g * 4);
        out->scales[g] = (int8_t)(1 + 2 * (rest >> 28));
        for (int i = 0; i < 8; i++)
            four(holo_block_grid_3_xxs[codes[g * 8 + i]], values, even_signs(rest >> i / 2 * 7 & 127) >> i % 2 * 4,
                 out->number + g * 32 + i * 4);
    }
}

void holo_block_read_iq3_s(const uint8_t *block, HoloBlockNumbers *out)
{
    static const int8_t values[8] = {1, 3, 5, 7, 9, 11, 13, 15};
    const uint8_t      *codes = block + 2, *high = block + 66, *signs = block + 74, *scales = block + 106;
    holo_block_scale(holo_block_f16(block), out);
    for (int g = 0; g < 8; g++) {
        out->scales[g] = (int8_t)(1 + 2 * (scales[g / 2] >> g % 2 * 4 & 15));
        for (int i = 0; i < 8; i++)
            four(holo_block_grid_3_s[codes[g * 8 + i] | (high[g] >> i & 1) << 8], values,
                 (unsigned)signs[g * 4 + i / 2] >> i % 2 * 4, out->number + g * 32 + i * 4);
    }
}

// ---- one of three values, moved by an eighth up or down: numbers are eighths

static void thirds(unsigned entry, bool is_down, int8_t *out)
{
    for (int i = 0; i < 8; i++) out[i] = (int8_t)(((int)(entry >> 2 * i & 3) - 1) * 8 + (is_down ? -1 : 1));
}

void holo_block_read_iq1_s(const uint8_t *block, HoloBlockNumbers *out)
{
    holo_block_scale(holo_block_f16(block) * 0.125f, out);
    for (int g = 0; g < 8; g++) {
        unsigned high  = holo_block_u16(block + 34 + g * 2); // three high bits of four codes, the scale, the direction
        out->scales[g] = (int8_t)(2 * (high >> 12 & 7) + 1);
        for (int i = 0; i < 4; i++)
            thirds(holo_block_grid_1[block[2 + g * 4 + i] | (high >> 3 * i & 7) << 8], high >> 15,
                   out->number + g * 32 + i * 8);
    }
}

void holo_block_read_iq1_m(const uint8_t *block, HoloBlockNumbers *out)
{
    const uint8_t *high = block + 32, *scales = block + 48;
    unsigned       bits = 0; // the scale of the block: the upper four bits of each pair of bytes
    for (int i = 0; i < 4; i++) bits |= holo_block_u16(scales + 2 * i) >> 12 << 4 * i;
    holo_block_scale(holo_f16_decode((uint16_t)bits) * 0.125f, out);
    for (int g = 0; g < 16; g++)
        out->scales[g] = (int8_t)(2 * (holo_block_u16(scales + g / 4 * 2) >> g % 4 * 3 & 7) + 1);
    for (int i = 0; i < 32; i++) {
        unsigned four = (unsigned)high[i / 2] >> i % 2 * 4 & 15; // three high bits of the code, and the direction
        thirds(holo_block_grid_1[block[i] | (four & 7) << 8], four >> 3, out->number + i * 8);
    }
}
