// nbits.h - the sizes of MatMulNBits and how it rounds, for its kernel as well.
#ifndef HOLO_OPS_MICROSOFT_NBITS_H
#define HOLO_OPS_MICROSOFT_NBITS_H

#include "ops/op.h"

enum { HOLO_NBITS_A, HOLO_NBITS_B, HOLO_NBITS_SCALES, HOLO_NBITS_ZEROS, HOLO_NBITS_GROUPS, HOLO_NBITS_BIAS };

typedef struct HoloNBits { // A [..., depth] times the transposed B [cols][blocks][block * bits / 8]
    int64_t depth, cols, block, blocks;
    int64_t column, zero_bytes; // bytes of a column of B, and of its packed zero points
    int     bits;
} HoloNBits;

// MatMulNBits of domain hologram has A in 8 bits: blocks of A that meet blocks of B are rounded to whole steps.
enum { HOLO_NBITS_ROUNDED_LEAST = 16, HOLO_NBITS_ROUNDED_MOST = 256 }; // sizes of a block

// Is it that one?
bool holo_nbits_is_rounded(const HoloCall *call);
// Numbers of a block, `count` at most HOLO_NBITS_ROUNDED_MOST of them, and their step: the largest magnitude is 127
// steps, ties go to even. Where it is not finite, or so small that 127 of its reciprocal are not, numbers are 0.
void holo_nbits_round(int64_t count, const float *a, int8_t *out, float *out_step);

// From the attributes: each within limits, so that products of two of them fit.
HOLO_MUST HoloStatus holo_nbits_sizes(const HoloCall *call, HoloNBits *out);
// Refuses B, scales, zero points and a bias of other numbers of elements.
HOLO_MUST HoloStatus holo_nbits_entries(const HoloCall *call, const HoloNBits *sizes);

// Number i of a run of `bits`-bit numbers, packed from the low bits of each byte on.
static inline unsigned holo_nbits_at(const uint8_t *bytes, int64_t i, int bits)
{
    int64_t  at = i * bits, byte = at / 8;
    unsigned low = bytes[byte], spill = at % 8 + bits > 8 ? (unsigned)bytes[byte + 1] << 8 : 0;
    return ((low | spill) >> at % 8) & ((1u << bits) - 1);
}

// The zero point of a block: as `zeros` has it, packed or not, or the middle of the numbers.
static inline double holo_nbits_zero(const HoloNBits *sizes, const HoloTensor *zeros, int64_t col, int64_t block)
{
    if (!zeros) return 1 << (sizes->bits - 1);
    if (zeros->dtype == HOLO_U8)
        return holo_nbits_at((const uint8_t *)zeros->data + col * sizes->zero_bytes, block, sizes->bits);
    return holo_get_f(zeros, col * sizes->blocks + block);
}

#endif
