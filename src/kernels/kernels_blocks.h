// kernels_blocks.h - for kernels.h: products with weights in blocks.
#ifndef HOLO_KERNELS_BLOCKS_H
#define HOLO_KERNELS_BLOCKS_H

#include "format/blocks.h"

// gemm_blocks_i8: C = A B plus a bias for each column, with weights B in blocks, packed (see format/blocks.h).
//
// rows_blocks_i8 makes a row of A from f32, as rows_bits_i8 does it: every 32 numbers are whole, times a step. The row
// has the level's own form, is for this type of blocks, and takes HOLO_BLOCKS_ROW bytes, 8-byte aligned. Each element
// is a sum of groups in order. A group is the exact sum of its products times (step times scale), and then the sum of A
// times the offset. unpack_blocks_f32 gives rows first <= p < first + count of a panel of B in f32, whole units: the
// numbers that holo_block_decode gives.
typedef struct HoloGemmBlocks {
    const HoloBlockType *type;
    int64_t              m, n, k; // m is at most HOLO_BLOCKS_ROWS
    const void          *a;
    int64_t              a_row; // bytes
    const uint8_t       *b;     // its first panel
    const float         *bias;  // NULL: 0
    float               *c;
    int64_t              c_row;
    float               *scratch; // HOLO_BLOCKS_SCRATCH floats, 64-byte aligned
} HoloGemmBlocks;

#define HOLO_BLOCKS_ROW(k) ((k) / HOLO_BLOCK_UNIT * (2 * HOLO_BLOCK_UNIT + 16))

enum {
    HOLO_BLOCKS_ROWS    = 132,
    HOLO_BLOCKS_SCRATCH = (2 * HOLO_BLOCK_MOST / 4 + 4 * HOLO_BLOCK_GROUPS + 2 * HOLO_BLOCKS_ROWS) * HOLO_BLOCK_COLUMNS,
};

#endif
