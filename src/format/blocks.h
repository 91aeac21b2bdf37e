// blocks.h - weights in blocks. A block holds a fixed number of elements in a fixed number of bytes, with its scales.
//
// A row of the table is a type of block. Every type is read in the same way: as small whole numbers in groups. A group
// has a whole scale and offset, and the block has real ones for these. An element is number * (scale * that of its
// group) + offset * that of its group. What files call these types is the matter of importers.
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
    float  scale, offset;
    int8_t scales[HOLO_BLOCK_GROUPS], offsets[HOLO_BLOCK_GROUPS]; // of groups; no offsets if the type has none
} HoloBlockNumbers;

// How scales are packed. PLAIN: a number of f16 for 32 elements. POWER: an exponent of 8 bits. Others have a number of
// f16 for the block. WHOLE: nothing else. SUPER: a byte for each group. PAIRS: a byte for each group, with the scale in
// its lower half and the offset, whose sign is the other, in its upper half. SIXES: 6 bits for each of 16 groups, and the
// scale is 32 less. The 4 lower bits are in the lower halves of eight bytes and then in the upper ones, and the others
// are in bits 0 and 1 of four bytes, then in bits 2 and 3, and so on.
enum { HOLO_BLOCK_PLAIN, HOLO_BLOCK_SUPER, HOLO_BLOCK_POWER, HOLO_BLOCK_WHOLE, HOLO_BLOCK_PAIRS, HOLO_BLOCK_SIXES };

// Types whose blocks say more than planes of bits could in the same space are packed as slices, see below. THREES: five
// codes of three values in a byte, as a fraction in base 3. All others have a grid: see block_slices.h.
enum {
    HOLO_SLICE_NONE,
    HOLO_SLICE_THREES,
    HOLO_SLICE_IQ1_S,
    HOLO_SLICE_IQ1_M,
    HOLO_SLICE_IQ2_XXS,
    HOLO_SLICE_IQ2_XS,
    HOLO_SLICE_IQ2_S,
    HOLO_SLICE_IQ3_XXS,
    HOLO_SLICE_IQ3_S,
};

typedef struct HoloBlockType {
    const char   *name;         // "q4_k"
    int           count, bytes; // elements and bytes of a block
    int           group;        // elements that share a scale: 16 or 32
    int           low, high;    // the least and the largest number that a block can have
    int           bits;         // of a code: 2, 3, 4, 5, 6 or 8. Its number is code + low, or that of the book
    int           scale;        // HOLO_BLOCK_PLAIN and so on
    bool          has_offset;   // then `low` is 0
    float         unit;         // a power of two: scale / unit is a number of f16
    const int8_t *book;         // NULL: none; else 16 numbers, of which codes of 3 bits use the first eight
    void (*read)(const uint8_t *block, HoloBlockNumbers *out);
    int most; // the largest whole scale of a group, where the type can be written and groups have such
    void (*write)(const HoloBlockNumbers *block, uint8_t *out); // NULL: it cannot be written
    int             slice;                                      // HOLO_SLICE_*
    int             scale_at; // slices: the byte of a block where its scale of f16 is; -1: it is elsewhere, in pieces
    const uint16_t *grid; // slices: NULL: there is none; else the numbers that codes stand for, eight or four at a time
} HoloBlockType;

const HoloBlockType *holo_block_type_find(const char *name); // NULL: there is none
const HoloBlockType *holo_block_type_at(int index);          // in the order of the table; NULL: past its end

// The bytes of a row of `count` elements; -1: it is not whole blocks, or too large.
int64_t holo_block_row_bytes(const HoloBlockType *type, int64_t count);
// One block that was read to type->count floats: number * scale, rounded, plus the offset, rounded.
void holo_block_floats(const HoloBlockType *type, const HoloBlockNumbers *block, float *out);
// `n` blocks to n * type->count floats.
void holo_block_decode(const HoloBlockType *type, int64_t n, const uint8_t *blocks, float *out);
// n * type->count floats to blocks, with scales that lose little. Numbers that are not finite become any. False: the
// type cannot be written.
bool holo_block_encode(const HoloBlockType *type, int64_t n, const float *x, uint8_t *out);

// ---- packed for products: 16 rows of blocks as the columns of a panel, whose numbers lie as kernels read them
//
// A unit is 32 elements of each of the 16 columns, in eight quads. Quad q has elements 4 * q to 4 * q + 3 of each
// column, a byte for each: 64 bytes. The bits of codes lie in planes, one behind the other. Codes of 8 bits are a plane
// of eight quads. A plane of four bits has four times 64 bytes: the low halves of bytes are quad i, the high ones quad
// i + 4. A plane of two bits has twice 64: bits 0 and 1 are quad i, 2 and 3 quad i + 2, and so on. A plane of one bit
// has 64 bytes: bit q is quad q. Codes of 3, 5 and 6 bits are the planes of 2 and 1, 4 and 1, 4 and 2 bits; the lower
// bits are in the first plane.
//
// A panel is chunks of 256 elements, in the order in which they are read: the scales of eight units, then the units. The
// last chunk may have fewer units. PLAIN: for each unit 16 scales of f16, and 16 offsets if there are any. POWER: 16
// exponents. All others: for each block 16 scales of f16, and 16 offsets if there are any. Then SUPER: 16 bytes for each
// group, and 16 for the offsets of each group. PAIRS: 16 bytes for each group. SIXES: 16 bytes for each of twelve. Scales
// take a multiple of 64 bytes, the same in each chunk.
//
// A chunk of slices is a block of each column, with all its bits: 16 scales of f16, unless the type has none, and then
// for each word of 32 bits of the rest of the block the 16 words of the columns.
enum { HOLO_BLOCK_UNIT = 32, HOLO_BLOCK_COLUMNS = 16, HOLO_BLOCK_CHUNK = 8 }; // units of a chunk

// The bytes of the f16 number of a block that is packed as slices.
static inline int holo_block_slice_float(const HoloBlockType *type)
{
    return type->scale_at < 0 ? 0 : 2;
}

static inline int holo_block_unit_bytes(const HoloBlockType *type)
{
    if (type->slice) return (type->bytes - holo_block_slice_float(type)) * HOLO_BLOCK_COLUMNS / HOLO_BLOCK_CHUNK;
    return 64 * type->bits;
}

// The bytes of the scales of one block, for 16 columns.
static inline int holo_block_scale_bytes(const HoloBlockType *type)
{
    int floats = type->has_offset ? 64 : 32, groups = type->count / type->group;
    switch (type->scale) {
    case HOLO_BLOCK_POWER: return 16;
    case HOLO_BLOCK_SUPER: return floats + 16 * groups * (type->has_offset ? 2 : 1);
    case HOLO_BLOCK_PAIRS: return floats + 16 * groups;
    case HOLO_BLOCK_SIXES: return floats + 16 * 12;
    default: return floats; // PLAIN, WHOLE
    }
}

// The bytes of the scales of a chunk, and of a whole chunk.
static inline int holo_block_chunk_scales(const HoloBlockType *type)
{
    if (type->slice) return holo_block_slice_float(type) * HOLO_BLOCK_COLUMNS;
    return (HOLO_BLOCK_MOST / type->count * holo_block_scale_bytes(type) + 63) / 64 * 64;
}
static inline int holo_block_chunk_bytes(const HoloBlockType *type)
{
    return holo_block_chunk_scales(type) + HOLO_BLOCK_CHUNK * holo_block_unit_bytes(type);
}

// The bytes of a panel with columns of k elements, whole blocks; -1: too many.
int64_t holo_block_panel_bytes(const HoloBlockType *type, int64_t k);
// Packs up to 16 rows of k elements, `row` bytes apart, as the columns of a panel. Columns that are missing are 0.
void holo_block_panel_pack(const HoloBlockType *type, int64_t k, int columns, const uint8_t *rows, int64_t row,
                           uint8_t *out);
// The row that became a column of a panel, as holo_block_decode gives it.
void holo_block_panel_row(const HoloBlockType *type, int64_t k, const uint8_t *panel, int column, float *out);

#endif
