// block_simple.c - blocks of 32 elements with one scale. Codes of 4 bits lie in 16 bytes: elements 0 to 15 in the low
// halves, 16 to 31 in the high ones.
#include "format/block_read.h"

const int8_t holo_block_iq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

const int8_t holo_block_fp4[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

static void halves(const uint8_t *codes, int less, HoloBlockNumbers *out)
{
    for (int i = 0; i < 16; i++) {
        out->number[i]      = (int8_t)((codes[i] & 15) - less);
        out->number[i + 16] = (int8_t)((codes[i] >> 4) - less);
    }
}

static void coded(const uint8_t *codes, const int8_t *book, HoloBlockNumbers *out)
{
    for (int i = 0; i < 16; i++) {
        out->number[i]      = book[codes[i] & 15];
        out->number[i + 16] = book[codes[i] >> 4];
    }
}

// The fifth bits of all elements, in order.
static void fifths(const uint8_t *bits, HoloBlockNumbers *out)
{
    uint32_t fifth = holo_block_u32(bits);
    for (int i = 0; i < 32; i++) out->number[i] = (int8_t)(out->number[i] + (int)(fifth >> i & 1) * 16);
}

static void scale(const uint8_t *scale, const uint8_t *offset, HoloBlockNumbers *out)
{
    holo_block_scale(holo_block_f16(scale), out);
    if (offset) out->offset = holo_block_f16(offset);
    out->offsets[0] = 1;
}

void holo_block_read_q4_0(const uint8_t *block, HoloBlockNumbers *out)
{
    scale(block, NULL, out);
    halves(block + 2, 8, out);
}

void holo_block_read_q4_1(const uint8_t *block, HoloBlockNumbers *out)
{
    scale(block, block + 2, out);
    halves(block + 4, 0, out);
}

void holo_block_read_q5_0(const uint8_t *block, HoloBlockNumbers *out)
{
    scale(block, NULL, out);
    halves(block + 6, 16, out);
    fifths(block + 2, out);
}

void holo_block_read_q5_1(const uint8_t *block, HoloBlockNumbers *out)
{
    scale(block, block + 2, out);
    halves(block + 8, 0, out);
    fifths(block + 4, out);
}

void holo_block_read_q8_0(const uint8_t *block, HoloBlockNumbers *out)
{
    scale(block, NULL, out);
    memcpy(out->number, block + 2, 32);
}

void holo_block_read_iq4_nl(const uint8_t *block, HoloBlockNumbers *out)
{
    scale(block, NULL, out);
    coded(block + 2, holo_block_iq4, out);
}

void holo_block_read_mxfp4(const uint8_t *block, HoloBlockNumbers *out)
{
    // The scale is a power of two, 2^(code - 127), halved because the numbers are doubled. The two smallest halves are
    // subnormal. Code 255 is a number here, too, as in ggml.
    uint32_t bits = *block < 2 ? UINT32_C(0x00200000) << *block : (uint32_t)(*block - 1) << 23;
    float    scale;
    memcpy(&scale, &bits, sizeof scale);
    holo_block_scale(scale, out);
    coded(block + 1, holo_block_fp4, out);
}
