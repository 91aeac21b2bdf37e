// block_decode.cuh - weights of few bits as a lane reads them: a struct for each type of block (format/blocks.h), of one of three
// shapes. Plain C++, for the host as well.
//
// Weights lie in panels of 16 columns, the same as on the CPU. A unit is 32 elements of k of all columns. A lane has, of a unit,
// eight elements of four neighbouring columns: two quads of four elements each, `half` 0 and 1. Lane `i`, 0 to 3, of columns `four`, 0 to 3,
// has the quads that `quad` names. What it reads are whole pieces of 16 bytes or less beside those of its neighbours.
//
// A type has: load, which reads a lane's part of a unit; numbers, the whole numbers of a quad of one column; scale and offset.
// An element is number * scale, rounded, plus the offset, rounded. If MOVED is not 0, `moved` gives numbers that are so much larger, for less.
#ifndef HOLO_DEVICES_CUDA_CODE_BLOCK_DECODE_CUH
#define HOLO_DEVICES_CUDA_CODE_BLOCK_DECODE_CUH

#include "device.cuh"

#define HOLO_BLOCK_GRID static __device__ const uint16_t
#include "../../../format/block_grids.h"

// ---- bits

// Byte j of the result is byte (select >> 4 * j & 7) of the eight bytes of y and x, x first.
INL uint32_t bytes_pick(uint32_t x, uint32_t y, uint32_t select)
{
#ifdef __CUDA_ARCH__
    return __byte_perm(x, y, select);
#else
    uint64_t all = (uint64_t)y << 32 | x;
    uint32_t out = 0;
    for (int j = 0; j < 4; j++) out |= (uint32_t)(all >> 8 * (select >> 4 * j & 7) & 255) << 8 * j;
    return out;
#endif
}

INL float f16_of(uint32_t bits)
{
    uint16_t half = (uint16_t)bits;
    return __half2float(*(const __half *)&half);
}

INL uint32_t word_of(const uint4 &v, int c)
{
    return c == 0 ? v.x : c == 1 ? v.y : c == 2 ? v.z : v.w;
}

// The f16 number of column c of four.
INL float half_of(const uint2 &v, int c)
{
    return f16_of((c < 2 ? v.x : v.y) >> c % 2 * 16);
}

INL float byte_of(uint32_t v, int c)
{
    return (float)(int8_t)(v >> 8 * c);
}

// Four bytes without sign as numbers, plus `low`: exact, since a number of 2^23 and more has whole steps.
INL void bytes_float(float (&x)[4], uint32_t bytes, int low)
{
#pragma unroll
    for (int j = 0; j < 4; j++)
        x[j] = __uint_as_float(bytes_pick(bytes, 0x4B000000, 0x7440 | j)) - (float)(8388608 - low);
}

// A book: 16 numbers, each plus 128, as bytes.
struct Book {
    uint32_t word[4];
};

INL constexpr uint32_t book_word(int a, int b, int c, int d)
{
    return (uint32_t)(a + 128) | (uint32_t)(b + 128) << 8 | (uint32_t)(c + 128) << 16 | (uint32_t)(d + 128) << 24;
}

// The bytes of the book that four codes, of up to 4 bits in a byte each, stand for.
INL uint32_t book_look(const Book &book, uint32_t codes)
{
    uint32_t select = codes & 0x07070707, high = (codes >> 3 & 0x01010101) * 255;
    select = (select | select >> 4) & 0x00FF00FF;
    select = (select | select >> 8) & 0xFFFF;
    return (bytes_pick(book.word[0], book.word[1], select) & ~high) |
           (bytes_pick(book.word[2], book.word[3], select) & high);
}

struct NoBook {
    enum { HAS = 0 };
    INL static Book book() { return {{0, 0, 0, 0}}; }
};
struct Iq4Book {
    enum { HAS = 1 };
    INL static Book book()
    {
        return {{book_word(-127, -104, -83, -65), book_word(-49, -35, -22, -10), book_word(1, 13, 25, 38),
                 book_word(53, 69, 89, 113)}};
    }
};
struct Fp4Book {
    enum { HAS = 1 };
    INL static Book book()
    {
        return {{book_word(0, 1, 2, 3), book_word(4, 6, 8, 12), book_word(0, -1, -2, -3), book_word(-4, -6, -8, -12)}};
    }
};

// ---- codes in planes of bits

enum { SCALE_PLAIN, SCALE_SUPER, SCALE_POWER, SCALE_WHOLE, SCALE_PAIRS, SCALE_SIXES };

// A lane has quads i and i + 4.
template <int BITS> struct PlaneCodes {
    enum { UNIT = 64 * BITS };
    uint4 plane[2]; // those of 8 bits: a quad each; else the first plane and the second
    INL static int quad(int i, int half) { return i + 4 * half; }
    INL void load(const uint8_t *unit, int i, int four)
    {
        unit += four * 16;
        plane[0] = *(const uint4 *)(unit + (BITS < 4 ? i % 2 : i) * 64);
        if (BITS == 8) plane[1] = *(const uint4 *)(unit + (i + 4) * 64);
        if (BITS == 6) plane[1] = *(const uint4 *)(unit + 256 + i % 2 * 64);
        if (BITS == 5) plane[1] = *(const uint4 *)(unit + 256);
        if (BITS == 3) plane[1] = *(const uint4 *)(unit + 128);
    }
    // The codes of a quad of column c, a byte each.
    INL uint32_t codes(int i, int half, int c) const
    {
        uint32_t first = word_of(plane[0], c), second = word_of(plane[1], c);
        int      q = i + 4 * half;
        if (BITS == 8) return half ? second : first;
        if (BITS < 4) first = first >> q / 2 * 2 & 0x03030303;
        if (BITS >= 4) first = first >> 4 * half & 0x0F0F0F0F;
        if (BITS == 6) first |= (second >> q / 2 * 2 & 0x03030303) << 4;
        if (BITS == 5) first |= (second >> q & 0x01010101) << 4;
        if (BITS == 3) first |= (second >> q & 0x01010101) << 2;
        return first;
    }
};

// Four codes of up to 6 bits plus 2^BITS: they become the upper bits of a mantissa, with the exponent above.
template <int BITS> INL void bytes_moved(float (&x)[4], uint32_t codes)
{
    enum { EXPONENT = 127 + BITS };
    codes = codes << (7 - BITS) | (EXPONENT % 2 ? 0x80808080 : 0);
#pragma unroll
    for (int j = 0; j < 4; j++)
        x[j] = __uint_as_float(bytes_pick(codes, (uint32_t)(EXPONENT / 2) << 24, 0x7044 | j << 8));
}

// A type of block whose codes lie in planes: bits, how scales lie, elements of a block and of a group, the least number, the book.
template <int BITS, int SCALE, int OFFSETS, int BLOCK, int GROUP, int LOW, class B = NoBook> struct Planes {
    enum {
        HAS_OFFSET   = OFFSETS,
        MOVED        = BITS < 8 && !B::HAS ? (1 << BITS) - LOW : 0,
        GROUP_SIZE   = GROUP,
        FLOATS       = OFFSETS ? 64 : 32,
        GROUPS       = BLOCK / GROUP,
        SCALE_BYTES  = SCALE == SCALE_POWER   ? 16
                       : SCALE == SCALE_SUPER ? FLOATS + 16 * GROUPS * (OFFSETS ? 2 : 1)
                       : SCALE == SCALE_PAIRS ? FLOATS + 16 * GROUPS
                       : SCALE == SCALE_SIXES ? FLOATS + 16 * 12
                                              : FLOATS,
        CHUNK_SCALES = (256 / BLOCK * SCALE_BYTES + 63) / 64 * 64,
        CHUNK        = CHUNK_SCALES + 8 * 64 * BITS,
    };
    PlaneCodes<BITS> own;
    uint2            scales, offsets; // of the block, f16, four columns
    uint32_t         group[4];        // of groups, four columns in a word; SIXES: low and high bits of both

    INL static int quad(int i, int half) { return i + 4 * half; }
    INL void       load(const uint8_t *chunk, int unit, int i, int four)
    {
        const uint8_t *s = chunk + unit * 32 / BLOCK * SCALE_BYTES, *g = s + FLOATS + four * 4;
        int            first = unit * 32 % BLOCK / GROUP; // group of the unit
        own.load(chunk + CHUNK_SCALES + unit * 64 * BITS, i, four);
        if (SCALE == SCALE_POWER)
            group[0] = *(const uint32_t *)(s + four * 4);
        else
            scales = *(const uint2 *)(s + four * 8);
        if (OFFSETS) offsets = *(const uint2 *)(s + 32 + four * 8);
        if (SCALE == SCALE_SUPER || SCALE == SCALE_PAIRS) {
            group[0] = *(const uint32_t *)(g + first * 16);
            if (GROUP == 16) group[1] = *(const uint32_t *)(g + (first + 1) * 16);
        }
        if (SCALE == SCALE_SUPER && OFFSETS) group[2] = *(const uint32_t *)(g + (GROUPS + first) * 16);
        if (SCALE == SCALE_SIXES)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                int at              = first + half;
                group[half]     = *(const uint32_t *)(g + at % 8 * 16) >> at / 8 * 4 & 0x0F0F0F0F;
                group[half] |= (*(const uint32_t *)(g + (8 + at % 4) * 16) >> at / 4 * 2 & 0x03030303) << 4;
            }
    }
    INL void numbers(float (&x)[4], int i, int half, int c) const
    {
        uint32_t codes = own.codes(i, half, c);
        if (B::HAS)
            bytes_float(x, book_look(B::book(), codes), -128);
        else
            bytes_float(x, codes, LOW);
    }
    INL void moved(float (&x)[4], int i, int half, int c) const
    {
        if (MOVED > 0)
            bytes_moved<BITS == 8 ? 6 : BITS>(x, own.codes(i, half, c));
        else
            numbers(x, i, half, c);
    }
    INL float scale(int half, int c) const
    {
        uint32_t g = group[GROUP == 16 ? half : 0];
        if (SCALE == SCALE_POWER) {
            uint32_t power = g >> 8 * c & 255;
            return __uint_as_float(power > 1 ? (power - 1) << 23 : 1u << (21 + power));
        }
        float whole = half_of(scales, c);
        if (SCALE == SCALE_SUPER) return whole * byte_of(g, c);
        if (SCALE == SCALE_PAIRS) return whole * (float)(g >> 8 * c & 15);
        if (SCALE == SCALE_SIXES) return whole * (float)((int)(g >> 8 * c & 63) - 32);
        return whole;
    }
    INL float offset(int half, int c) const
    {
        float whole = OFFSETS ? half_of(offsets, c) : 0;
        if (SCALE == SCALE_SUPER) return whole * byte_of(group[2], c);
        if (SCALE == SCALE_PAIRS) return whole * (float)-(int)(group[GROUP == 16 ? half : 0] >> (8 * c + 4) & 15);
        return whole;
    }
};

// ---- entries of a grid

struct Field { // see format/block_slices.h
    int at, inner, outer, bits;
};

INL int field_at(const Field &f, int thing, int set)
{
    return f.at + thing * f.inner + set * f.outer;
}

// A lane has eight neighbours: one entry of eight numbers, or two of four.
template <class G> struct Grid {
    enum {
        HAS_OFFSET = 0,
        MOVED      = 0,
        GROUP_SIZE = 32, // both quads of a lane have one scale
        FLOATS     = G::IN_PIECES ? 0 : 32,
        CHUNK      = G::BYTES * 16,
        EACH       = G::PLACES == 2 ? 1 : 2, // entries of a lane
    };
    uint4 low, high, sign, small, pieces[2]; // the words that have the fields, of four columns
    uint2 scales;
    int   unit, index;

    INL static int   quad(int i, int half) { return 2 * i + half; }
    INL static uint4 words(const uint8_t *chunk, int bit, int four)
    {
        return *(const uint4 *)(chunk + FLOATS + bit / 32 * 64 + four * 16);
    }
    INL static int group(int unit, int i) { return G::GROUP == 16 ? unit * 2 + i / 2 : unit; }
    INL void       load(const uint8_t *chunk, int at, int i, int four)
    {
        unit = at;
        low  = words(chunk, field_at(G::low(), i * EACH, unit), four);
        if (G::high().bits) high = words(chunk, field_at(G::high(), i * EACH, unit), four);
        sign  = words(chunk, field_at(G::sign(), i, unit), four);
        small = words(chunk, field_at(G::scale(), group(unit, i) % 4, group(unit, i) / 4), four);
        index = i;
        if (FLOATS > 0) scales = *(const uint2 *)(chunk + four * 8);
        if (FLOATS == 0) pieces[0] = words(chunk, G::whole().at, four);
        if (FLOATS == 0) pieces[1] = words(chunk, G::whole().at + 2 * G::whole().inner, four);
    }
    INL static uint32_t bits_of(const uint4 &w, int c, const Field &f, int thing, int set)
    {
        return word_of(w, c) >> field_at(f, thing, set) % 32 & ((1u << f.bits) - 1);
    }
    // Signs of eight numbers: all, seven whose number the eighth makes even, or one for all.
    INL uint32_t signs(int i, int c) const
    {
        uint32_t s = bits_of(sign, c, G::sign(), i, unit);
        if (G::sign().bits == 1) return s * 255;
        if (G::sign().bits == 7) s |= (uint32_t)(__popc(s) & 1) << 7;
        return s;
    }
    INL void numbers(float (&x)[4], int i, int half, int c) const
    {
        int      entry = G::PLACES == 2 ? i : 2 * i + half;
        uint32_t at    = bits_of(low, c, G::low(), entry, unit), s = signs(i, c) >> 4 * half & 15;
        if (G::high().bits) at |= bits_of(high, c, G::high(), entry, unit) << G::low().bits;
        uint32_t e = G::grid()[at], codes;
        if (G::PLACES == 2) e >>= 8 * half;
        if (G::PLACES == 2)
            codes = (e & 3) | (e & 0xC) << 6 | (e & 0x30) << 12 | (e & 0xC0) << 18;
        else
            codes = (e & 7) | (e & 0x38) << 5 | (e & 0x1C0) << 10 | (e & 0xE00) << 15;
        codes |= ((s & 1) | (s & 2) << 7 | (s & 4) << 14 | (s & 8) << 21) << G::PLACES;
        bytes_float(x, book_look(G::book(), codes), -128);
    }
    INL void  moved(float (&x)[4], int i, int half, int c) const { numbers(x, i, half, c); }
    INL float scale(int, int c) const
    {
        int      g     = group(unit, index);
        uint32_t whole = (c < 2 ? scales.x : scales.y) >> c % 2 * 16, n = bits_of(small, c, G::scale(), g % 4, g / 4);
        if (FLOATS == 0) {
            whole = 0;
#pragma unroll
            for (int k = 0; k < 4; k++) whole |= bits_of(pieces[k / 2], c, G::whole(), k, 0) << 4 * k;
        }
        return f16_of(whole) * G::unit() * (float)(1 + 2 * n);
    }
    INL float offset(int, int) const { return 0; }
};

// A type of block with a grid: its bytes, elements of a group, what scales are multiplied by, bits of a place, the grid, the book,
// and where things are (format/block_slices.h): the entry, its high bits, signs, scales of groups, pieces of the block's scale.
#define FIELD(name, ...) \
    INL static constexpr Field name() { return Field{__VA_ARGS__}; }
#define GRID_TYPE(type, bytes, group_size, by, places, table, ...)                                             \
    struct type##_GRID {                                                                                       \
        enum { BYTES = bytes, GROUP = group_size, PLACES = places, IN_PIECES = bytes % 4 == 0 };               \
        INL static constexpr float unit() { return by; }                                                       \
        INL static const uint16_t *grid() { return table; }                                                    \
        __VA_ARGS__                                                                                            \
    };                                                                                                         \
    using type = Grid<type##_GRID>;
#define BOOK(a, b, c, d) \
    INL static Book book() { return {{a, b, c, d}}; }
#define BOOK_1  BOOK(book_word(-7, 1, 9, 9), book_word(-9, -1, 7, 7), 0, 0)
#define BOOK_2  BOOK(book_word(8, 25, 43, 43), book_word(-8, -25, -43, -43), 0, 0)
#define BOOK_3X BOOK(book_word(4, 12, 20, 28), book_word(36, 44, 52, 62), book_word(-4, -12, -20, -28), book_word(-36, -44, -52, -62))
#define BOOK_3S BOOK(book_word(1, 3, 5, 7), book_word(9, 11, 13, 15), book_word(-1, -3, -5, -7), book_word(-9, -11, -13, -15))

// ---- five codes of three values in a byte, as a fraction in base 3

struct TQ1_0 {
    enum { HAS_OFFSET = 0, MOVED = 0, GROUP_SIZE = 32, CHUNK = 54 * 16 };
    uint4 word[2];
    uint2 scales;
    int   unit;

    INL static int quad(int i, int half) { return i + 4 * half; }
    // The word of a block that has a quad, and its digit of each byte.
    INL static int word_at(int unit, int q) { return unit < 5 ? q : unit == 7 && q > 3 ? 12 : 8 + q % 4; }
    INL static int digit_at(int unit, int q)
    {
        return unit < 5 ? unit : unit < 7 ? 2 * (unit - 5) + q / 4 : q < 4 ? 4 : q - 4;
    }
    INL void load(const uint8_t *chunk, int at, int i, int four)
    {
        unit   = at;
        scales = *(const uint2 *)(chunk + four * 8);
#pragma unroll
        for (int half = 0; half < 2; half++)
            word[half] = *(const uint4 *)(chunk + 32 + word_at(unit, i + 4 * half) * 64 + four * 16);
    }
    INL void numbers(float (&x)[4], int i, int half, int c) const
    {
        int      digit = digit_at(unit, i + 4 * half);
        uint32_t power = digit == 0 ? 1 : digit == 1 ? 3 : digit == 2 ? 9 : digit == 3 ? 27 : 81, w = word_of(word[half], c);
        uint32_t even = (w & 0x00FF00FF) * power & 0x00FF00FF, odd = (w >> 8 & 0x00FF00FF) * power & 0x00FF00FF;
        bytes_float(x, (even * 3 >> 8 & 0x00030003) | (odd * 3 & 0x03000300), -1);
    }
    INL void  moved(float (&x)[4], int i, int half, int c) const { numbers(x, i, half, c); }
    INL float scale(int, int c) const { return half_of(scales, c); }
    INL float offset(int, int) const { return 0; }
};

// ---- the types: the table of format/block_types.c

// clang-format off
using Q4_0   = Planes<4, SCALE_PLAIN, 0, 32,  32, -8>;
using Q4_1   = Planes<4, SCALE_PLAIN, 1, 32,  32, 0>;
using Q5_0   = Planes<5, SCALE_PLAIN, 0, 32,  32, -16>;
using Q5_1   = Planes<5, SCALE_PLAIN, 1, 32,  32, 0>;
using Q8_0   = Planes<8, SCALE_PLAIN, 0, 32,  32, -128>;
using Q2_K   = Planes<2, SCALE_PAIRS, 1, 256, 16, 0>;
using Q3_K   = Planes<3, SCALE_SIXES, 0, 256, 16, -4>;
using Q4_K   = Planes<4, SCALE_SUPER, 1, 256, 32, 0>;
using Q5_K   = Planes<5, SCALE_SUPER, 1, 256, 32, 0>;
using Q6_K   = Planes<6, SCALE_SUPER, 0, 256, 16, -32>;
using IQ4_NL = Planes<4, SCALE_PLAIN, 0, 32,  32, 0, Iq4Book>;
using IQ4_XS = Planes<4, SCALE_SUPER, 0, 256, 32, 0, Iq4Book>;
using TQ2_0  = Planes<2, SCALE_WHOLE, 0, 256, 32, -1>;
using MXFP4  = Planes<4, SCALE_POWER, 0, 32,  32, 0, Fp4Book>;

GRID_TYPE(IQ1_S, 50, 32, 0.125f, 2, holo_block_grid_1, BOOK_1
          FIELD(low, 0, 8, 32, 8) FIELD(high, 256, 3, 16, 3) FIELD(sign, 271, 0, 16, 1) FIELD(scale, 268, 16, 64, 3) FIELD(whole, 0, 0, 0, 0))
GRID_TYPE(IQ1_M, 56, 16, 0.125f, 2, holo_block_grid_1, BOOK_1
          FIELD(low, 0, 8, 32, 8) FIELD(high, 256, 4, 16, 3) FIELD(sign, 259, 4, 16, 1) FIELD(scale, 384, 3, 16, 3) FIELD(whole, 396, 16, 0, 4))
GRID_TYPE(IQ2_XXS, 66, 32, 0.125f, 2, holo_block_grid_2_xxs, BOOK_2
          FIELD(low, 0, 8, 64, 8) FIELD(high, 0, 0, 0, 0) FIELD(sign, 32, 7, 64, 7) FIELD(scale, 60, 64, 256, 4) FIELD(whole, 0, 0, 0, 0))
GRID_TYPE(IQ2_XS, 74, 16, 0.125f, 2, holo_block_grid_2_xs, BOOK_2
          FIELD(low, 0, 16, 64, 9) FIELD(high, 0, 0, 0, 0) FIELD(sign, 9, 16, 64, 7) FIELD(scale, 512, 4, 16, 4) FIELD(whole, 0, 0, 0, 0))
GRID_TYPE(IQ2_S, 82, 16, 0.125f, 2, holo_block_grid_2_s, BOOK_2
          FIELD(low, 0, 8, 32, 8) FIELD(high, 512, 2, 8, 2) FIELD(sign, 256, 8, 32, 8) FIELD(scale, 576, 4, 16, 4) FIELD(whole, 0, 0, 0, 0))
GRID_TYPE(IQ3_XXS, 98, 32, 0.25f, 3, holo_block_grid_3_xxs, BOOK_3X
          FIELD(low, 0, 8, 64, 8) FIELD(high, 0, 0, 0, 0) FIELD(sign, 512, 7, 32, 7) FIELD(scale, 540, 32, 128, 4) FIELD(whole, 0, 0, 0, 0))
GRID_TYPE(IQ3_S, 110, 32, 1, 3, holo_block_grid_3_s, BOOK_3S
          FIELD(low, 0, 8, 64, 8) FIELD(high, 512, 1, 8, 1) FIELD(sign, 576, 8, 32, 8) FIELD(scale, 832, 4, 16, 4) FIELD(whole, 0, 0, 0, 0))
// clang-format on

#endif
