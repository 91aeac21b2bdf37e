// blocks_op.h - the sizes of DecodeBlocks and MatMulBlocks, for their passes and kernels as well.
#ifndef HOLO_OPS_HOLOGRAM_BLOCKS_OP_H
#define HOLO_OPS_HOLOGRAM_BLOCKS_OP_H

#include "format/blocks.h"
#include "ops/op.h"

enum { HOLO_BLOCKS_X, HOLO_BLOCKS_W, HOLO_BLOCKS_BIAS }; // inputs of MatMulBlocks

// With the attribute `rounds`, MatMulBlocks takes x in 8 bits: every 32 numbers of a row are rounded to whole steps, as
// holo_nbits_round does it.
enum { HOLO_BLOCKS_ROUNDED = 32 };

typedef struct HoloBlocks {
    const HoloBlockType *type;
    int64_t              count, bytes; // elements and bytes of a row
    bool                 rounds;
} HoloBlocks;

// From the attributes type, count and rounds: whole blocks, whose bytes can be counted.
HOLO_MUST HoloStatus holo_blocks_sizes(const HoloCall *call, HoloBlocks *out);

#endif
