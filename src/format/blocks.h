// blocks.h - weights in blocks: each block holds a fixed number of elements in a fixed number of bytes, with its scales.
//
// A row of the table is a type of block. Every type is read in the same way: as small whole numbers, and a scale and an
// offset for each group of them. An element is number * scale + offset. What files call these types is the matter of
// importers.
#ifndef HOLO_FORMAT_BLOCKS_H
#define HOLO_FORMAT_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    HOLO_BLOCK_MOST   = 256, // elements of the largest block
    HOLO_BLOCK_GROUPS = 16,  // groups of the block that has most
};

typedef struct HoloBlockNumbers { // one block, read
    int8_t number[HOLO_BLOCK_MOST];
    float  scale[HOLO_BLOCK_GROUPS];
    float  offset[HOLO_BLOCK_GROUPS]; // all 0, if the type has none
} HoloBlockNumbers;

typedef struct HoloBlockType {
    const char *name;         // "q4_k"
    int         count, bytes; // elements and bytes of a block
    int         group;        // elements that share a scale: 16 or 32
    int         low, high;    // the least and the largest number that a block can have
    bool        has_offset;
    void (*read)(const uint8_t *block, HoloBlockNumbers *out);
} HoloBlockType;

const HoloBlockType *holo_block_type_find(const char *name); // NULL: there is none
const HoloBlockType *holo_block_type_at(int index);          // in the order of the table; NULL: past its end

// The bytes of a row of `count` elements; -1: it is not whole blocks, or too large.
int64_t holo_block_row_bytes(const HoloBlockType *type, int64_t count);
// `n` blocks to n * type->count floats: number * scale, rounded, plus the offset, rounded.
void holo_block_decode(const HoloBlockType *type, int64_t n, const uint8_t *blocks, float *out);

#endif
