// block_super.c - blocks of 256 elements: groups of 16 or 32 have small whole scales, the block has a scale for those.
#include "format/block_read.h"

// ---- two bits, of 32 bytes at a time: bits 0 and 1 of the bytes, then bits 2 and 3, and so on

static void twos(const uint8_t *codes, int less, HoloBlockNumbers *out)
{
    for (int part = 0; part < 8; part++)
        for (int i = 0; i < 32; i++)
            out->number[part * 32 + i] = (int8_t)((codes[part / 4 * 32 + i] >> part % 4 * 2 & 3) - less);
}

// Adds a higher bit: bit i / 32 of byte i % 32.
static void bits_add(const uint8_t *bits, int worth, HoloBlockNumbers *out)
{
    for (int part = 0; part < 8; part++)
        for (int i = 0; i < 32; i++)
            out->number[part * 32 + i] = (int8_t)(out->number[part * 32 + i] + (bits[i] >> part & 1) * worth);
}

void holo_block_read_q2_k(const uint8_t *block, HoloBlockNumbers *out)
{
    out->scale  = holo_block_f16(block + 80);
    out->offset = holo_block_f16(block + 82);
    for (int g = 0; g < 16; g++) {
        out->scales[g]  = block[g] & 15;
        out->offsets[g] = (int8_t) - (block[g] >> 4);
    }
    twos(block + 16, 0, out);
}

void holo_block_read_tq2_0(const uint8_t *block, HoloBlockNumbers *out)
{
    holo_block_scale(holo_block_f16(block + 64), out);
    twos(block, 1, out);
}

void holo_block_read_q3_k(const uint8_t *block, HoloBlockNumbers *out)
{
    const uint8_t *scales = block + 96;
    holo_block_scale(holo_block_f16(block + 108), out);
    for (int g = 0; g < 16; g++) { // 4 low bits from bytes 0 to 7, 2 high ones from bytes 8 to 11
        int low = g < 8 ? scales[g] & 15 : scales[g - 8] >> 4, high = scales[8 + g % 4] >> g / 4 * 2 & 3;
        out->scales[g] = (int8_t)((low | high << 4) - 32);
    }
    twos(block + 32, 4, out);
    bits_add(block, 4, out);
}

// ---- four bits, of 32 bytes at a time: the low halves, then the high ones

static void fours(const uint8_t *codes, HoloBlockNumbers *out)
{
    for (int part = 0; part < 8; part++)
        for (int i = 0; i < 32; i++) out->number[part * 32 + i] = codes[part / 2 * 32 + i] >> part % 2 * 4 & 15;
}

// Six bits for each of 8 scales and 8 offsets, in 12 bytes: the first four whole, the others in two pieces.
static void sixes(const uint8_t *block, HoloBlockNumbers *out)
{
    const uint8_t *bytes = block + 4;
    out->scale           = holo_block_f16(block);
    out->offset          = holo_block_f16(block + 2);
    for (int g = 0; g < 8; g++) {
        int a           = g < 4 ? bytes[g] & 63 : (bytes[g + 4] & 15) | bytes[g - 4] >> 6 << 4;
        int b           = g < 4 ? bytes[g + 4] & 63 : bytes[g + 4] >> 4 | bytes[g] >> 6 << 4;
        out->scales[g]  = (int8_t)a;
        out->offsets[g] = (int8_t)-b;
    }
}

void holo_block_read_q4_k(const uint8_t *block, HoloBlockNumbers *out)
{
    sixes(block, out);
    fours(block + 16, out);
}

void holo_block_read_q5_k(const uint8_t *block, HoloBlockNumbers *out)
{
    sixes(block, out);
    fours(block + 48, out);
    bits_add(block + 16, 16, out);
}

void holo_block_read_q6_k(const uint8_t *block, HoloBlockNumbers *out)
{
    const uint8_t *low = block, *high = block + 128, *scales = block + 192;
    holo_block_scale(holo_block_f16(block + 208), out);
    memcpy(out->scales, scales, 16);
    for (int part = 0; part < 8; part++) // halves of 128: low bits in 64 bytes, high bits in 32
        for (int i = 0; i < 32; i++) {
            int four = low[part / 4 * 64 + part % 2 * 32 + i] >> part % 4 / 2 * 4 & 15;
            int two  = high[part / 4 * 32 + i] >> part % 4 * 2 & 3;

            out->number[part * 32 + i] = (int8_t)((four | two << 4) - 32);
        }
}

void holo_block_read_iq4_xs(const uint8_t *block, HoloBlockNumbers *out)
{
    const uint8_t *low = block + 4, *codes = block + 8;
    unsigned       high = holo_block_u16(block + 2);
    holo_block_scale(holo_block_f16(block), out);
    for (int g = 0; g < 8; g++) {
        int six        = (low[g / 2] >> g % 2 * 4 & 15) | (int)(high >> 2 * g & 3) << 4;
        out->scales[g] = (int8_t)(six - 32);
    }
    for (int part = 0; part < 16; part++)
        for (int i = 0; i < 16; i++)
            out->number[part * 16 + i] = holo_block_iq4[codes[part / 2 * 16 + i] >> part % 2 * 4 & 15];
}

// ---- three values: five of them in a byte, read as a fraction of 256 in base 3

static int8_t digit(uint8_t byte, int place)
{
    static const uint8_t power[5] = {1, 3, 9, 27, 81};
    uint8_t              rest     = (uint8_t)(byte * power[place]); // what is left of the fraction
    return (int8_t)((rest * 3 >> 8) - 1);
}

void holo_block_read_tq1_0(const uint8_t *block, HoloBlockNumbers *out)
{
    holo_block_scale(holo_block_f16(block + 52), out);
    for (int i = 0; i < 160; i++) out->number[i] = digit(block[i % 32], i / 32);
    for (int i = 0; i < 80; i++) out->number[160 + i] = digit(block[32 + i % 16], i / 16);
    for (int i = 0; i < 16; i++) out->number[240 + i] = digit(block[48 + i % 4], i / 4);
}
