// base96.c - whole numbers of any size, from bytes to digits of base 96 and back.
//
// Both are one change of radix. Three bytes, and four digits, form a limb. Limbs of one radix are the coefficients of a
// polynomial that is evaluated in limbs of the other: blocks of 16 directly; then neighbors are joined, high *
// radix^(limbs of low) + low, with Karatsuba products, until one is left.
#include "base/base.h"
#include "hologram_atlas.h"

#include <string.h>

typedef struct Base {
    const char *name;
    uint32_t    unit, group; // a limb is so many units
    uint32_t    radix;       // unit ^ group, below 2^27
    uint32_t    block;       // limbs in which BLOCK limbs of the other base fit
} Base;

static const Base bytes_base  = {"bytes", 256, 3, 16777216, 18}; // 96^64 < 2^432
static const Base digits_base = {"digits", 96, 4, 84934656, 15}; // 2^384 < 96^60

enum {
    BLOCK      = 16, // limbs that are evaluated directly
    DIRECT_MAX = 64, // limbs of factors that are multiplied directly: 64 products of less than 2^54 are less than 2^64
};

// ---- arithmetic on numbers of n limbs, least first, below `radix`

// a += b, where b is not longer; there is room for the carry.
static void add(uint32_t *a, size_t n, const uint32_t *b, size_t bn, uint32_t radix)
{
    uint32_t carry = 0;
    for (size_t i = 0; i < n && (i < bn || carry); i++) {
        uint32_t sum = a[i] + carry + (i < bn ? b[i] : 0);
        carry        = sum >= radix;
        a[i]         = carry ? sum - radix : sum;
    }
}

// a -= b, where b is neither longer nor larger.
static void subtract(uint32_t *a, size_t n, const uint32_t *b, size_t bn, uint32_t radix)
{
    uint32_t borrow = 0;
    for (size_t i = 0; i < n && (i < bn || borrow); i++) {
        uint32_t less = borrow + (i < bn ? b[i] : 0);
        borrow        = a[i] < less;
        a[i]          = a[i] - less + (borrow ? radix : 0);
    }
}

// out = |a - b|; true when a < b.
static bool difference(uint32_t *out, const uint32_t *a, const uint32_t *b, size_t n, uint32_t radix)
{
    size_t i = n;
    while (i > 0 && a[i - 1] == b[i - 1]) i--;
    bool less = i > 0 && a[i - 1] < b[i - 1];
    memcpy(out, less ? b : a, n * sizeof *out);
    subtract(out, n, less ? a : b, n, radix);
    return less;
}

static void multiply_direct(uint32_t *out, const uint32_t *a, const uint32_t *b, size_t n, uint32_t radix)
{
    uint64_t column[2 * DIRECT_MAX] = {0}, carry = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) column[i + j] += (uint64_t)a[i] * b[j];
    for (size_t i = 0; i < 2 * n; i++) {
        carry += column[i];
        out[i] = (uint32_t)(carry % radix);
        carry /= radix;
    }
}

// out = a * b, of 2n limbs; it is neither a nor b. Above DIRECT_MAX, n is even at every level. Scratch has 2n + 1
// limbs.
static void multiply(uint32_t *out, const uint32_t *a, const uint32_t *b, size_t n, uint32_t radix, uint32_t *scratch)
{
    if (n <= DIRECT_MAX) {
        multiply_direct(out, a, b, n, radix);
        return;
    }
    size_t    h     = n / 2;
    uint32_t *cross = scratch, *middle = scratch + n; // |a0 - a1| * |b0 - b1|, and a0 * b1 + a1 * b0
    bool      minus = difference(out, a, a + h, h, radix) == difference(out + h, b, b + h, h, radix);
    multiply(cross, out, out + h, h, radix, scratch + n);
    multiply(out, a, b, h, radix, scratch + n);
    multiply(out + n, a + h, b + h, h, radix, scratch + n);
    memcpy(middle, out, n * sizeof *out);
    middle[n] = 0;
    add(middle, n + 1, out + n, n, radix);
    (minus ? subtract : add)(middle, n + 1, cross, n, radix);
    add(out + h, n + h, middle, n + 1, radix);
}

// a = a * factor + term; there is room for it.
static void step(uint32_t *a, size_t n, uint32_t factor, uint32_t term, uint32_t radix)
{
    uint64_t carry = term;
    for (size_t i = 0; i < n; i++) {
        carry += (uint64_t)a[i] * factor;
        a[i] = (uint32_t)(carry % radix);
        carry /= radix;
    }
}

// ---- from one radix to another

static uint32_t limb(const Base *base, const uint8_t *units, size_t count, size_t index)
{
    uint32_t value = 0;
    for (size_t k = base->group; k-- > 0;) {
        size_t at = index * base->group + k;
        value     = value * base->unit + (at < count ? units[at] : 0);
    }
    return value;
}

typedef struct Work {
    size_t    limbs;   // of the source
    size_t    size;    // limbs of the target for a block
    size_t    all;     // and for all blocks, whose number is a power of two
    uint32_t *number;  // all
    uint32_t *power;   // all / 2: the source's radix to the power of a block's limbs
    uint32_t *product; // all
    uint32_t *scratch; // all + 1
} Work;

static HoloStatus work_take(Work *w, const Base *from, const Base *to, size_t count, HoloError *error)
{
    *w            = (Work){.limbs = count / from->group + 1, .size = to->block};
    size_t blocks = 2, room;
    while (blocks * BLOCK < w->limbs) blocks *= 2;
    w->all = blocks * w->size;
    if (!holo_size_mul(w->all, 4 * sizeof *w->number, &room)) return holo_fail_memory(error);
    w->number = holo_realloc(NULL, room);
    if (!w->number) return holo_fail_memory(error);
    memset(w->number, 0, room);
    w->power   = w->number + w->all;
    w->product = w->power + w->all / 2;
    w->scratch = w->product + w->all;
    return HOLO_OK;
}

// Blocks of `span` limbs of the source are numbers of n limbs of the target. Two of them become one.
static void join_blocks(Work *w, size_t span, size_t n, uint32_t radix)
{
    for (size_t at = 0; at + span < w->limbs; at += 2 * span) {
        uint32_t *low = w->number + at / span * n;
        multiply(w->product, low + n, w->power, n, radix, w->scratch);
        add(w->product, 2 * n, low, n, radix);
        memcpy(low, w->product, 2 * n * sizeof *low);
    }
}

static void evaluate(Work *w, const Base *from, const Base *to, const uint8_t *units, size_t count)
{
    for (size_t at = 0; at < w->limbs; at += BLOCK)
        for (size_t i = BLOCK; i-- > 0;)
            step(w->number + at / BLOCK * w->size, w->size, from->radix, limb(from, units, count, at + i), to->radix);
    w->power[0] = 1;
    for (int i = 0; i < BLOCK; i++) step(w->power, w->size, from->radix, 0, to->radix);
    for (size_t span = BLOCK, n = w->size; span < w->limbs; span *= 2, n *= 2) {
        join_blocks(w, span, n, to->radix);
        if (2 * span >= w->limbs) break;
        multiply(w->product, w->power, w->power, n, to->radix, w->scratch);
        memcpy(w->power, w->product, 2 * n * sizeof *w->power);
    }
}

static HoloStatus unpack(const Work *w, const Base *to, uint8_t *out, size_t room, size_t *out_count, HoloError *error)
{
    size_t at = 0, count = 1;
    for (size_t i = 0; i < w->all; i++) {
        uint32_t value = w->number[i];
        for (uint32_t k = 0; k < to->group; k++, at++, value /= to->unit) {
            if (value % to->unit) count = at + 1;
            if (at < room) out[at] = (uint8_t)(value % to->unit);
        }
    }
    *out_count = count;
    if (count <= room) return HOLO_OK;
    return holo_fail(error, HOLO_BAD_ARGUMENT, "the number has %zu %s, but there is room for %zu", count, to->name,
                     room);
}

static HoloStatus convert(const Base *from, const Base *to, const uint8_t *units, size_t count, uint8_t *out,
                          size_t room, size_t *out_count, HoloError *error)
{
    Work work;
    while (count > 0 && !units[count - 1]) count--;
    HOLO_TRY(work_take(&work, from, to, count, error));
    evaluate(&work, from, to, units, count);
    HoloStatus status = unpack(&work, to, out, room, out_count, error);
    holo_free(work.number);
    return status;
}

size_t holo_base96_digit_room(size_t byte_count)
{
    return byte_count + byte_count / 4 + 1; // 1.215 digits a byte
}

size_t holo_base96_byte_room(size_t digit_count)
{
    return digit_count - digit_count / 8 + 1; // 0.823 bytes a digit
}

HoloStatus holo_base96_from_bytes(const uint8_t *bytes, size_t byte_count, uint8_t *out_digits, size_t room,
                                  size_t *out_count, HoloError *error)
{
    return convert(&bytes_base, &digits_base, bytes, byte_count, out_digits, room, out_count, error);
}

HoloStatus holo_base96_to_bytes(const uint8_t *digits, size_t digit_count, uint8_t *out_bytes, size_t room,
                                size_t *out_count, HoloError *error)
{
    for (size_t i = 0; i < digit_count; i++)
        if (digits[i] >= digits_base.unit)
            return holo_fail(error, HOLO_BAD_ARGUMENT, "digit %zu is %d: digits of base 96 are 0 to 95", i, digits[i]);
    return convert(&digits_base, &bytes_base, digits, digit_count, out_bytes, room, out_count, error);
}
