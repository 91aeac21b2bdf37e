// bits_tiles.h - what products with weights of 4 or 8 bits share: how panels are read, and where sums go.
//
// Weights lie in the order in which they are read: a lane holds eight 4-bit weights of one column, the first in its
// lowest bits.
#ifndef HOLO_KERNELS_BITS_TILES_H
#define HOLO_KERNELS_BITS_TILES_H

#include "kernels/kernels.h"
#include "kernels/vec/vec_bytes.h"
#include "kernels/vec/vec_narrow.h"

enum { BITS_WIDE = NATIVE == 64 ? 4 : 2, BITS_PANELS = NATIVE == 64 ? 2 : 1, WORD = 8 };

// The next number of each lane, of 4 bits.
INL f32v v_nibble(f32v *words)
{
    f32v v;
    EACH(r)
    {
        v.r[r]      = n_nibble((i32n)words->r[r]);
        words->r[r] = (f32n)((u32n)words->r[r] >> 4);
    }
    return v;
}

INL int64_t bits_panel(int64_t k, int bits) // bytes
{
    return bits == 4 ? (k + WORD - 1) / WORD * LANES * 4 : k * LANES;
}

// Row p of a panel: of 8 bits.
INL f32v bits_row(const uint8_t *panel, int64_t p)
{
    return v_load_i8((const int8_t *)panel + p * LANES);
}

// Eight weights of each column, for 4 bits: row p is the first of them.
INL f32v bits_words(const uint8_t *panel, int64_t p)
{
    return v_load((const float *)(const void *)(panel + p / WORD * LANES * 4));
}

// Where the sums of a tile go.
typedef struct BitsOut {
    const float *bias;
    float       *c; // at the first row
    int64_t      c_row, n, column;
    int          rows, panels;
} BitsOut;

static NOINLINE void bits_store(const BitsOut *o, f32v total[6][BITS_WIDE])
{
    for (int i = 0; i < o->rows; i++)
        for (int j = 0; j < o->panels; j++) {
            int64_t column = o->column + j * LANES;
            int     lanes  = lanes_left(column, o->n);
            f32v    y      = total[i][j];
            if (o->bias) y = v_add(y, v_load_lanes(o->bias + column, lanes));
            v_store_lanes(o->c + i * o->c_row + column, y, lanes);
        }
}

enum { one, wide }; // how many panels a tile has

#endif
