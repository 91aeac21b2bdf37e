// block_encode.c - encodes f32 numbers as blocks: searches for the scales with the least squared error, for any type
// that can be written.
//
// First it finds the scale of each group separately: it tries some ranges, and computes the best scale and offset for
// the integers that each range gives. The scales of the block follow from these. Then the groups get integer scales,
// and all numbers are rounded again with them.
#include "format/block_read.h"
#include "format/dtype.h"

#include <math.h>

enum { TRIES = 20 }; // ranges, from a tenth of a step each

typedef struct Fit { // x is about number * scale + offset
    float scale, offset;
} Fit;

static int number_of(const HoloBlockType *type, float x) // the nearest; NaN is the least
{
    if (!(x > (float)type->low)) return type->low;
    return x < (float)type->high ? (int)rintf(x) : type->high;
}

// The scale alone, for numbers on both sides of 0. The largest magnitude is `reach` steps.
static double try_scale(const HoloBlockType *type, int count, const float *x, float reach, float top, float *out)
{
    double xn = 0, nn = 0;
    for (int i = 0; i < count; i++) {
        double n = number_of(type, x[i] * (reach / top));
        xn += n * (double)x[i];
        nn += n * n;
    }
    *out = nn > 0 ? (float)(xn / nn) : 0;
    return nn > 0 ? xn * xn / nn : 0; // what it explains of the squares
}

static Fit fit_scale(const HoloBlockType *type, int count, const float *x)
{
    float  top  = 0, scale;
    Fit    best = {0};
    double most = 0;
    for (int i = 0; i < count; i++)
        if (fabsf(x[i]) > fabsf(top)) top = x[i];
    if (top == 0 || !isfinite(top) || !isfinite((float)type->high / top)) return best;
    for (int side = 0; side < 2; side++)
        for (int i = -TRIES / 2; i < TRIES / 2; i++) {
            float  reach = (float)(side ? type->high : type->low) + 0.1f * (float)i;
            double gain  = try_scale(type, count, x, reach, top, &scale);
            if (gain <= most) continue;
            most       = gain;
            best.scale = scale;
        }
    return best;
}

// Scale and offset, by the line through the numbers that a range gives. *out_loss: the squares that are left.
static Fit try_line(const HoloBlockType *type, int count, const float *x, float low, float step, bool is_below,
                    double *out_loss)
{
    double n = 0, nn = 0, xs = 0, xn = 0, loss = 0, wide;
    int    number[HOLO_BLOCK_MOST];
    for (int i = 0; i < count; i++) {
        number[i] = number_of(type, (x[i] - low) / step);
        n += number[i];
        nn += (double)number[i] * number[i];
        xs += (double)x[i];
        xn += number[i] * (double)x[i];
    }
    wide       = nn * count - n * n;
    Fit fit    = {.scale = wide > 0 ? (float)((xn * count - n * xs) / wide) : 0};
    fit.offset = (float)((xs - (double)fit.scale * n) / count);
    if (is_below && fit.offset > 0) fit = (Fit){.scale = nn > 0 ? (float)(xn / nn) : 0};
    for (int i = 0; i < count; i++) {
        double off = (double)fit.scale * number[i] + (double)fit.offset - (double)x[i];
        loss += off * off;
    }
    *out_loss = loss;
    return fit;
}

// is_below: offsets are not above 0, as where they are small numbers times one of the block.
static Fit fit_line(const HoloBlockType *type, int count, const float *x, bool is_below)
{
    float  low = x[0], high = x[0];
    double least = INFINITY, loss;
    for (int i = 1; i < count; i++) {
        low  = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    if (is_below && low > 0) low = 0;
    Fit best = {.offset = low};
    if (!(high > low) || !isfinite(high - low)) return best;
    for (int i = -TRIES / 2; i < TRIES / 2; i++) {
        float reach = (float)type->high + 0.1f * (float)i, step = (high - low) / reach;
        if (!(reach > 0) || !(step > 0)) continue;
        Fit fit = try_line(type, count, x, low, step, is_below, &loss);
        if (!(fit.scale > 0) || !(loss < least)) continue;
        least = loss;
        best  = fit;
    }
    return best;
}

static float as_f16(float x)
{
    const float most = 65504;
    return holo_f16_to_f32(holo_f32_to_f16(x > most ? most : x < -most ? -most : x));
}

// One scale of the block and whole ones of its groups. The largest magnitude becomes the largest whole scale.
static float whole_scales(int groups, const float *of, int most, int8_t *out)
{
    float top = 0;
    for (int g = 0; g < groups; g++)
        if (fabsf(of[g]) > fabsf(top)) top = of[g];
    float unit = as_f16(top / (float)most);
    for (int g = 0; g < groups; g++) {
        float whole = unit != 0 ? rintf(of[g] / unit) : 0;
        out[g]      = (int8_t)(whole > (float)most ? (float)most : whole < (float)-most ? (float)-most : whole);
    }
    return unit;
}

static void fit_block(const HoloBlockType *type, const float *x, HoloBlockNumbers *out)
{
    float scale[HOLO_BLOCK_GROUPS], offset[HOLO_BLOCK_GROUPS];
    int   groups = type->count / type->group;
    bool  is_one = type->scale != HOLO_BLOCK_SUPER;
    for (int g = 0; g < groups; g++) {
        const float *part = x + g * type->group;
        Fit fit   = type->has_offset ? fit_line(type, type->group, part, !is_one) : fit_scale(type, type->group, part);
        scale[g]  = fit.scale;
        offset[g] = -fit.offset;
    }
    if (is_one) {
        out->scales[0] = out->offsets[0] = 1;
        out->scale                       = as_f16(scale[0]);
        out->offset                      = type->has_offset ? as_f16(-offset[0]) : 0;
        return;
    }
    out->scale  = whole_scales(groups, scale, type->most, out->scales);
    out->offset = type->has_offset ? whole_scales(groups, offset, type->most, out->offsets) : 0;
    for (int g = 0; g < groups; g++) out->offsets[g] = (int8_t)-out->offsets[g];
}

bool holo_block_encode(const HoloBlockType *type, int64_t n, const float *x, uint8_t *out)
{
    HoloBlockNumbers block = {0};
    if (!type->write) return false;
    for (int64_t b = 0; b < n; b++, x += type->count, out += type->bytes) {
        fit_block(type, x, &block);
        for (int i = 0; i < type->count; i++) {
            float scale     = block.scale * (float)block.scales[i / type->group];
            float offset    = type->has_offset ? block.offset * (float)block.offsets[i / type->group] : 0;
            block.number[i] = (int8_t)(scale != 0 ? number_of(type, (x[i] - offset) / scale) : number_of(type, 0));
        }
        type->write(&block, out);
    }
    return true;
}

// ---- the bytes of blocks: the other way round than the functions that read them

static void f16_write(float x, uint8_t *out)
{
    uint16_t bits = holo_f32_to_f16(x);
    out[0]        = (uint8_t)bits;
    out[1]        = (uint8_t)(bits >> 8);
}

// Low bits of 32 numbers in 16 bytes, and the fifth bits in 4 more, if there is room for them.
static void halves_write(const int8_t *number, int less, uint8_t *out, uint8_t *fifths)
{
    uint32_t bits = 0;
    for (int i = 0; i < 16; i++) {
        int low = number[i] - less, high = number[i + 16] - less;
        out[i] = (uint8_t)((low & 15) | (high & 15) << 4);
        bits |= (uint32_t)(low >> 4 & 1) << i | (uint32_t)(high >> 4 & 1) << (i + 16);
    }
    for (int i = 0; fifths && i < 4; i++) fifths[i] = (uint8_t)(bits >> 8 * i);
}

void holo_block_write_q4_0(const HoloBlockNumbers *block, uint8_t *out)
{
    f16_write(block->scale, out);
    halves_write(block->number, -8, out + 2, NULL);
}

void holo_block_write_q4_1(const HoloBlockNumbers *block, uint8_t *out)
{
    f16_write(block->scale, out);
    f16_write(block->offset, out + 2);
    halves_write(block->number, 0, out + 4, NULL);
}

void holo_block_write_q5_0(const HoloBlockNumbers *block, uint8_t *out)
{
    f16_write(block->scale, out);
    halves_write(block->number, -16, out + 6, out + 2);
}

void holo_block_write_q5_1(const HoloBlockNumbers *block, uint8_t *out)
{
    f16_write(block->scale, out);
    f16_write(block->offset, out + 2);
    halves_write(block->number, 0, out + 8, out + 4);
}

void holo_block_write_q8_0(const HoloBlockNumbers *block, uint8_t *out)
{
    f16_write(block->scale, out);
    memcpy(out + 2, block->number, 32);
}

static void sixes_write(const HoloBlockNumbers *block, uint8_t *out)
{
    uint8_t *bytes = out + 4;
    f16_write(block->scale, out);
    f16_write(block->offset, out + 2);
    for (int g = 0; g < 4; g++) {
        int a = block->scales[g + 4], b = -block->offsets[g + 4];
        bytes[g]     = (uint8_t)(block->scales[g] | a >> 4 << 6);
        bytes[g + 4] = (uint8_t)(-block->offsets[g] | b >> 4 << 6);
        bytes[g + 8] = (uint8_t)((a & 15) | (b & 15) << 4);
    }
}

static void fours_write(const int8_t *number, uint8_t *out)
{
    for (int i = 0; i < 128; i++) {
        const int8_t *at = number + i / 32 * 64 + i % 32;
        out[i]           = (uint8_t)((at[0] & 15) | (at[32] & 15) << 4);
    }
}

void holo_block_write_q4_k(const HoloBlockNumbers *block, uint8_t *out)
{
    sixes_write(block, out);
    fours_write(block->number, out + 16);
}

void holo_block_write_q5_k(const HoloBlockNumbers *block, uint8_t *out)
{
    sixes_write(block, out);
    fours_write(block->number, out + 48);
    memset(out + 16, 0, 32);
    for (int i = 0; i < 256; i++) out[16 + i % 32] |= (uint8_t)((block->number[i] >> 4 & 1) << i / 32);
}

void holo_block_write_q6_k(const HoloBlockNumbers *block, uint8_t *out)
{
    memset(out, 0, 192);
    memcpy(out + 192, block->scales, 16);
    f16_write(block->scale, out + 208);
    for (int i = 0; i < 256; i++) {
        int half = i / 128, part = i / 32 % 4, code = block->number[i] + 32;
        out[half * 64 + i % 64] |= (uint8_t)((code & 15) << part / 2 * 4);
        out[128 + half * 32 + i % 32] |= (uint8_t)(code >> 4 << part * 2);
    }
}
