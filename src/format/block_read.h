// block_read.h - the functions that read and write one block of each type, for the table of block_types.c.
#ifndef HOLO_FORMAT_BLOCK_READ_H
#define HOLO_FORMAT_BLOCK_READ_H

#include "format/blocks.h"
#include "format/small_float.h"

typedef void HoloBlockRead(const uint8_t *block, HoloBlockNumbers *out);

// block_simple.c: one scale for 32 elements.
HoloBlockRead holo_block_read_q4_0, holo_block_read_q4_1, holo_block_read_q5_0, holo_block_read_q5_1;
HoloBlockRead holo_block_read_q8_0, holo_block_read_iq4_nl, holo_block_read_mxfp4;
// block_super.c: 256 elements in groups with small scales of their own.
HoloBlockRead holo_block_read_q2_k, holo_block_read_q3_k, holo_block_read_q4_k, holo_block_read_q5_k;
HoloBlockRead holo_block_read_q6_k, holo_block_read_iq4_xs, holo_block_read_tq1_0, holo_block_read_tq2_0;
// block_grid.c: elements in eights or fours, each an entry of a table.
HoloBlockRead holo_block_read_iq1_s, holo_block_read_iq1_m, holo_block_read_iq2_xxs, holo_block_read_iq2_xs;
HoloBlockRead holo_block_read_iq2_s, holo_block_read_iq3_xxs, holo_block_read_iq3_s;

// block_encode.c
typedef void   HoloBlockWrite(const HoloBlockNumbers *block, uint8_t *out);
HoloBlockWrite holo_block_write_q4_0, holo_block_write_q4_1, holo_block_write_q5_0, holo_block_write_q5_1;
HoloBlockWrite holo_block_write_q8_0, holo_block_write_q4_k, holo_block_write_q5_k, holo_block_write_q6_k;

// Books: the numbers that codes stand for.
extern const int8_t holo_block_iq4[16]; // of iq4_nl and iq4_xs
extern const int8_t holo_block_fp4[16]; // of mxfp4: e2m1, twice as large

// Grids, with an entry more than codes can name: kernels may read 32 bits at an entry.
extern const uint16_t holo_block_grid_1[], holo_block_grid_2_xxs[], holo_block_grid_2_xs[], holo_block_grid_2_s[];
extern const uint16_t holo_block_grid_3_xxs[], holo_block_grid_3_s[];

static inline void holo_block_scale(float scale, HoloBlockNumbers *out) // one for all groups
{
    out->scale  = scale;
    out->offset = 0;
    for (int g = 0; g < HOLO_BLOCK_GROUPS; g++) out->scales[g] = 1;
}

// Numbers of files are little-endian, wherever they lie.
static inline unsigned holo_block_u16(const uint8_t *at)
{
    return at[0] | (unsigned)at[1] << 8;
}

static inline uint32_t holo_block_u32(const uint8_t *at)
{
    return holo_block_u16(at) | (uint32_t)holo_block_u16(at + 2) << 16;
}

static inline float holo_block_f16(const uint8_t *at)
{
    return holo_f16_decode((uint16_t)holo_block_u16(at));
}

#endif
