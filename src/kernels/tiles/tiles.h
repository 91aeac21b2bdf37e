// tiles.h - the loops behind the instructions of portable programs: each works on a run of lanes at once.
//
// As in kernels.h there is one table for each CPU level. All give the same bits, except that a NaN may be any NaN.
// Numbers lie beside each other; predicates are bytes, 0 or 1. The result may overwrite an operand. Operands need only
// the alignment of their elements.
#ifndef HOLO_KERNELS_TILES_TILES_H
#define HOLO_KERNELS_TILES_TILES_H

#include "base/base.h"
#include "hologram.h"

// The types that have loops of their own, and their C types. f16 and bf16 are computed in f32 (HoloKernelTable: widen,
// narrow).
#define HOLO_TILE_TYPE_MAP(X) \
    X(I8, int8_t)             \
    X(I16, int16_t)           \
    X(I32, int32_t)           \
    X(I64, int64_t)           \
    X(U8, uint8_t)            \
    X(U16, uint16_t)          \
    X(U32, uint32_t)          \
    X(U64, uint64_t)          \
    X(F32, float)             \
    X(F64, double)

// The number in a list's name is the number of operands. The divisor of an integer must not be 0. SET_*: results are
// predicates.
// clang-format off
#define HOLO_TILE_OP_MAP_1(X)                                                                                  \
    X(ABS) X(NEG) X(SIGN) X(FLOOR) X(CEIL) X(ROUND) X(TRUNC) X(NOT) X(POPC) X(CLZ) X(SQRT) X(RSQRT) X(RCP)     \
    X(EXP) X(LOG) X(LOG2) X(LOG10) X(SIN) X(COS) X(TAN) X(ASIN) X(ACOS) X(ATAN) X(TANH) X(SIGMOID) X(ERF)      \
    X(CLASS) X(MIRROR)
#define HOLO_TILE_OP_MAP_2(X)                                                                                  \
    X(ADD) X(SUB) X(MUL) X(DIV) X(REM) X(FLOORDIV) X(MOD) X(MIN) X(MAX) X(AND) X(OR) X(XOR) X(SHL) X(SHR)      \
    X(POW)
#define HOLO_TILE_SET_MAP(X)  X(SET_EQ) X(SET_NE) X(SET_LT) X(SET_LE)
#define HOLO_TILE_OP_MAP_3(X) X(MAD) X(FMA)
// Operations that no instruction has. CLIP: a, held between b and c; NaN stays, and c wins where b is above c.
// QUOTIENT: of floats and of i32. REMAINDER (as in C) and MODULO (with the divisor's sign): of i32 alone. An i32
// divided by 0 gives 0. SET_INF: a predicate.
#define HOLO_TILE_MORE_MAP(X) X(CLIP) X(QUOTIENT) X(REMAINDER) X(MODULO) X(SET_INF)

#define X(id, c) HOLO_TILE_##id,
typedef enum HoloTileType { HOLO_TILE_TYPE_MAP(X) HOLO_TILE_TYPES } HoloTileType;
#undef X
#define X(id) HOLO_TILE_##id,
typedef enum HoloTileOp { HOLO_TILE_OP_MAP_1(X) HOLO_TILE_OP_MAP_2(X) HOLO_TILE_OP_MAP_3(X) HOLO_TILE_SET_MAP(X) HOLO_TILE_MORE_MAP(X) HOLO_TILE_OPS } HoloTileOp;
#undef X
// clang-format on

enum { HOLO_TILE_REDUCES = 7 }; // add, mul, min, max, and, or, xor: as HoloIsaOper has them

// out[i] = op(a[i], b[i], c[i]) for 0 <= i < n. `ones` marks operands that are one number for every i: 1 for a, 2 for
// b, 4 for c.
typedef void HoloTile(int64_t n, const void *a, const void *b, const void *c, void *out, int ones);

// Several operations. Each takes the result v of the one before, and x and y.
// clang-format off
#define HOLO_LINK_MAP(X)                                                                                               \
    /* of v alone */                                                                                                   \
    X(ABS) X(NEG) X(SIGN) X(FLOOR) X(CEIL) X(ROUND) X(SQUARE) X(SQRT) X(RSQRT) X(RCP) X(EXP) X(TANH) X(SIGMOID) X(ERF) \
    X(LOG) X(LOG2) X(LOG10) X(SIN) X(COS) X(TAN) X(ASIN) X(ACOS) X(ATAN)                                               \
    /* x; v and x; x and v */                                                                                          \
    X(LOAD) X(ADD) X(SUB) X(SUB_FROM) X(MUL) X(DIV) X(DIV_INTO) X(MIN) X(MIN_OF) X(MAX) X(MAX_OF) X(POW) X(POW_OF)     \
    /* v * x + y; x * y + v */                                                                                         \
    X(MAD) X(MAD_TO) X(FMA) X(FMA_TO)
#define X(id) HOLO_LINK_##id,
typedef enum HoloTileLinkOp { HOLO_LINK_MAP(X) HOLO_LINKS } HoloTileLinkOp;
#undef X
// clang-format on

enum { HOLO_TILE_LINKS = 32 };

typedef struct HoloTileLink {
    const float *x, *y;
    float       *to; // where the result is stored; NULL: the next link alone needs it
    uint8_t      op;
    bool         x_is_one, y_is_one; // one number for every i
} HoloTileLink;

// The first link is a LOAD, and the last has a `to`. Later links may read what a link stores: all links handle element
// i before element i + 1.
typedef struct HoloTileChain {
    int          count;
    HoloTileLink links[HOLO_TILE_LINKS];
} HoloTileChain;

// sum[i][j] += a[i][k] * b[k][j] for 0 <= k < depth, in that order, each operation rounded by itself. The numbers of a
// row lie beside each other. `columns` is a multiple of HOLO_TILE_COLUMNS; the rows of b and sum have at least that
// many.
typedef struct HoloTileProducts {
    int64_t     rows, columns, depth;
    const void *a, *b;
    void       *sum;
    int64_t     a_row, b_row, sum_row; // numbers from one row to the next
} HoloTileProducts;

enum { HOLO_TILE_COLUMNS = 16 };

// Widths are log2 of the bytes of an element: 0 to 3. Indices are of 32 or 64 bits, [0] or [1].
typedef struct HoloTiles {
    const char *level;
    HoloTile   *op[HOLO_TILE_OPS][HOLO_TILE_TYPES];    // NULL: there is none
    HoloTile   *cvt[HOLO_TILE_TYPES][HOLO_TILE_TYPES]; // to, from
    HoloTile   *sel[4];                                // a: predicates, never one
    void (*plain[2])(int64_t n, void *x);              // of f32 and of f64: every NaN becomes the one that is stored

    // out[i] = x[index[i]]; x[index[i]] = values[i] in ascending order, where mask[i] (NULL: everywhere); `one`: one
    // value.
    void (*gather[4][2])(int64_t n, const void *x, const void *index, void *out);
    void (*scatter[4][2])(int64_t n, void *x, const void *index, const void *values, bool one, const uint8_t *mask);
    // The first lane whose index is not 0 <= index < count; n: there is none. [2] and [3]: signed indices, of 32 and 64
    // bits.
    int64_t (*outside[4])(int64_t n, const void *index, int64_t count);
    // out[i] = values[i] where mask[i].
    void (*merge[4])(int64_t n, const uint8_t *mask, const void *values, bool one, void *out);
    void (*fill[4])(int64_t n, uint64_t value, void *out);
    void (*iota[4])(int64_t n, uint64_t base, uint64_t step, void *out); // base + i * step, modulo the width
    int64_t (*zero[4])(int64_t n, const void *a);                        // the first that is 0; n: there is none
    int64_t (*count)(int64_t n, const uint8_t *mask);                    // that are not 0
    void (*boolean)(int64_t n, const uint8_t *a, uint8_t *out);          // whether bytes are not 0
    void (*chain)(int64_t n, const HoloTileChain *chain);
    // out[c][r] = x[r][c] for 0 <= r < rows and 0 <= c < columns; elements from one row to the next, of x and of out.
    void (*transpose[4])(int64_t rows, int64_t columns, const void *x, int64_t x_row, void *out, int64_t out_row);
    // One number of n > 0: number i goes to sum i % 16; then sums i and i + 8 are joined, i and i + 4 ...
    void (*reduce[HOLO_TILE_REDUCES][HOLO_TILE_TYPES])(int64_t n, const void *a, void *out);
    // Where the largest of n > 0 numbers, below 2^31, is, or the smallest; of equal ones the first, or the last. A NaN
    // is beyond all.
    int64_t (*extreme)(int64_t n, const float *x, bool smallest, bool last);
    void (*products[HOLO_TILE_TYPES])(const HoloTileProducts *p); // of U32, U64 and F64; NULL: there is none
} HoloTiles;

// The table for this machine, as HOLO_CPU allows; the one that runs on every machine; and all that HOLO_CPU allows, NULL
// after the last.
const HoloTiles *holo_tiles(void);
const HoloTiles *holo_tiles_plainest(void);
const HoloTiles *holo_tiles_at(int index);

// The type whose loops take such elements as they are stored; -1: there is none.
int holo_tile_type(HoloDtype dtype);

#endif
