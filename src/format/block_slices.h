// block_slices.h - where the bits of blocks with a grid are: for kernels that read blocks which are packed as slices.
//
// Words are the 32-bit words of a block without its scale of f16; bit 0 is the lowest of the first word. An entry of a
// grid has places of 2 bits for eight numbers, or of 3 bits for four. What a number is, the book of the type says by its
// place and, above that, its sign.
#ifndef HOLO_FORMAT_BLOCK_SLICES_H
#define HOLO_FORMAT_BLOCK_SLICES_H

#include "format/blocks.h"

typedef struct HoloSliceField {     // some bits for each of several things, in sets; no set of them lies in two words
    int16_t at, inner, outer, bits; // thing i of set s has them at: at + i * inner + s * outer
} HoloSliceField;

typedef struct HoloSliceGrid {
    int            places;    // bits of a place
    HoloSliceField low, high; // bits of the number of an entry; a set is the four or eight entries for 32 elements
    HoloSliceField sign;      // signs of eight numbers: all, or 7 and their number is even, or one bit for all
    HoloSliceField scale;     // of groups, in sets of four. The scale is 1 + 2 times this
    HoloSliceField whole;     // the scale of the block, in four pieces of 4 bits, if it is not apart
} HoloSliceGrid;

// clang-format off
static const HoloSliceGrid holo_slice_grids[] = {
    [HOLO_SLICE_IQ1_S]   = {2, {0, 8, 32, 8},  {256, 3, 16, 3}, {271, 0, 16, 1}, {268, 16, 64, 3},  {0, 0, 0, 0}},
    [HOLO_SLICE_IQ1_M]   = {2, {0, 8, 32, 8},  {256, 4, 16, 3}, {259, 4, 16, 1}, {384, 3, 16, 3},   {396, 16, 0, 4}},
    [HOLO_SLICE_IQ2_XXS] = {2, {0, 8, 64, 8},  {0, 0, 0, 0},    {32, 7, 64, 7},  {60, 64, 256, 4},  {0, 0, 0, 0}},
    [HOLO_SLICE_IQ2_XS]  = {2, {0, 16, 64, 9}, {0, 0, 0, 0},    {9, 16, 64, 7},  {512, 4, 16, 4},   {0, 0, 0, 0}},
    [HOLO_SLICE_IQ2_S]   = {2, {0, 8, 32, 8},  {512, 2, 8, 2},  {256, 8, 32, 8}, {576, 4, 16, 4},   {0, 0, 0, 0}},
    [HOLO_SLICE_IQ3_XXS] = {3, {0, 8, 64, 8},  {0, 0, 0, 0},    {512, 7, 32, 7}, {540, 32, 128, 4}, {0, 0, 0, 0}},
    [HOLO_SLICE_IQ3_S]   = {3, {0, 8, 64, 8},  {512, 1, 8, 1},  {576, 8, 32, 8}, {832, 4, 16, 4},   {0, 0, 0, 0}},
};
// clang-format on

#endif
