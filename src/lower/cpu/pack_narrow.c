// pack_narrow.c - stores packed weights in fewer bytes if that loses nothing: all of them are numbers of f16 or bf16,
// as in models that were once stored in these types; or they have few different numbers, and become 4-bit codes.
#include "base/bits.h"
#include "kernels/kernels.h"
#include "lower/cpu/choose.h"

#include <string.h>

enum {
    CHUNK = 1024,    // numbers that are converted at a time
    SMALL = 1 << 14, // a book is not worth it for fewer weights
};

static void narrow(uint32_t type, int64_t n, const float *x, uint16_t *out)
{
    const HoloKernelTable *k = holo_kernels(0);
    (type == HOLO_WEIGHTS_F16 ? k->narrow_f16 : k->narrow_bf16)(n, x, out);
}

static void widen(uint32_t type, int64_t n, const uint16_t *x, float *out)
{
    const HoloKernelTable *k = holo_kernels(0);
    (type == HOLO_WEIGHTS_F16 ? k->widen_f16 : k->widen_bf16)(n, x, out);
}

// Do all numbers survive the conversion, to the bit?
static bool is_of_type(uint32_t type, const HoloTensor *w)
{
    const float *data  = w->data;
    int64_t      count = holo_tensor_count(w);
    uint16_t     small[CHUNK];
    float        back[CHUNK];
    for (int64_t at = 0; at < count; at += CHUNK) {
        int64_t n = count - at < CHUNK ? count - at : CHUNK;
        narrow(type, n, data + at, small);
        widen(type, n, small, back);
        if (memcmp(data + at, back, (size_t)n * sizeof *back)) return false;
    }
    return true;
}

// ---- books of few numbers

static int book_find(const float *book, int count, float x)
{
    int i = 0;
    while (i < count && memcmp(&book[i], &x, sizeof x)) i++; // compared by their bits
    return i;
}

bool holo_lower_book(const HoloTensor *w, float out_book[HOLO_BOOK])
{
    const float *data  = w->data;
    int64_t      count = holo_tensor_count(w);
    int          known = 0, last = 0; // the number before: the next one is often the same
    for (int64_t i = 0; i < count; i++) {
        if (known && !memcmp(&out_book[last], &data[i], sizeof *data)) continue;
        last = book_find(out_book, known, data[i]);
        if (last < known) continue;
        if (known == HOLO_BOOK) return false;
        out_book[known++] = data[i];
    }
    for (int i = known; i < HOLO_BOOK; i++) out_book[i] = out_book[0];
    return known > 0;
}

// Are codes worth it? With few rows and weights that no cache holds, reading takes the time, and codes have an eighth
// of the bytes. With many rows, all rows share one lookup. In between, or if a cache holds the weights, codes cost up
// to a fifth of the time.
static bool codes_pay(const HoloTensor *w, int64_t rows)
{
    enum { FEW_ROWS = 6, MANY_ROWS = 96, FAR = 1 << 20 }; // FAR: numbers
    int64_t count = holo_tensor_count(w);
    return rows >= MANY_ROWS ? count >= SMALL : rows && rows <= FEW_ROWS && count >= FAR;
}

uint32_t holo_lower_narrow_type(const HoloTensor *w, int64_t rows, float out_book[HOLO_BOOK])
{
    if (w->dtype != HOLO_F32) return w->dtype == HOLO_F16 ? HOLO_WEIGHTS_F16 : HOLO_WEIGHTS_BF16;
    if (codes_pay(w, rows) && holo_lower_book(w, out_book)) return HOLO_WEIGHTS_CODES;
    if (is_of_type(HOLO_WEIGHTS_BF16, w)) return HOLO_WEIGHTS_BF16; // faster to widen
    return is_of_type(HOLO_WEIGHTS_F16, w) ? HOLO_WEIGHTS_F16 : 0;
}

// How many different numbers the weights have, if there are at most NUMBERS and there are enough weights. 0: more, or
// the kernel reads no codes in any case.
static int numbers_of(const HoloLowering *lowering, const HoloTensor *w)
{
    enum { NUMBERS = 256, ROOM = 4 * NUMBERS };
    bool     reads = lowering->kernel == HOLO_KERNEL_matmul_f32 || lowering->kernel == HOLO_KERNEL_conv_nhwc_f32;
    int64_t  count = holo_tensor_count(w);
    uint32_t known[ROOM];
    bool     is[ROOM] = {false};
    int      numbers  = 0;
    if (!reads || w->dtype != HOLO_F32 || count < SMALL) return 0;
    for (int64_t i = 0; i < count && numbers <= NUMBERS; i++) {
        uint32_t bits = holo_bits_of_f32(((const float *)w->data)[i]);
        uint32_t at   = (bits * UINT32_C(0x9E3779B1)) >> 16 & (ROOM - 1);
        while (is[at] && known[at] != bits) at = (at + 1) & (ROOM - 1);
        numbers += !is[at];
        is[at]    = true;
        known[at] = bits;
    }
    return numbers <= NUMBERS ? numbers : 0;
}

bool holo_cpu_note(const HoloLowering *lowering, const HoloTensor *w, char text[HOLO_NOTE_TEXT], HoloNote *out)
{
    int  numbers = numbers_of(lowering, w);
    bool coded   = lowering->matmul.flags & HOLO_WEIGHTS_CODES;
    if (!numbers) return false;
    if (coded)
        holo_note_text(text, "they have %d different numbers: 4-bit codes take an eighth of the bytes of f32", numbers);
    else if (numbers <= HOLO_BOOK)
        holo_note_text(text,
                       "looking up codes for the %d different numbers would not be faster than reading so few weights, "
                       "or weights for so many rows",
                       numbers);
    else
        holo_note_text(text, "looking up codes for the %d different numbers would be slower than reading the weights",
                       numbers);
    *out = (HoloNote){.pass    = "codes",
                      .what    = "the weights of a product",
                      .why     = text,
                      .verdict = coded ? HOLO_VERDICT_MADE : HOLO_VERDICT_NOT_FASTER};
    return true;
}

// ---- packing

uint32_t holo_lower_narrow(const HoloLowering *lowering)
{
    switch (lowering->kernel) {
    case HOLO_KERNEL_matmul_f32: return lowering->matmul.flags & HOLO_WEIGHTS_NARROW;
    case HOLO_KERNEL_take_rows: return lowering->take_rows.flags & HOLO_WEIGHTS_NARROW;
    case HOLO_KERNEL_conv_nhwc_f32: return lowering->conv_nhwc.flags & HOLO_WEIGHTS_NARROW;
    }
    return 0;
}

void holo_lower_pack_wide(const HoloTensor *w, int64_t from, int64_t rows, int64_t columns, int64_t row, int64_t column,
                          float *out)
{
    const uint16_t *data = (const uint16_t *)w->data + from;
    uint32_t        type = w->dtype == HOLO_F16 ? HOLO_WEIGHTS_F16 : HOLO_WEIGHTS_BF16;
    for (int64_t panel = 0; panel < columns; panel += HOLO_PANEL)
        for (int64_t r = 0; r < rows; r++, out += HOLO_PANEL) {
            uint16_t few[HOLO_PANEL] = {0};
            for (int64_t c = 0; c < HOLO_PANEL && panel + c < columns; c++)
                few[c] = data[r * row + (panel + c) * column];
            widen(type, HOLO_PANEL, few, out);
        }
}

static size_t pack_halves(uint32_t type, size_t size, char *bytes)
{
    float    wide[CHUNK];
    uint16_t small[CHUNK];
    for (size_t at = 0; at < size; at += sizeof wide) {
        size_t n = size - at < sizeof wide ? size - at : sizeof wide;
        memcpy(wide, bytes + at, n);
        narrow(type, (int64_t)(n / sizeof *wide), wide, small);
        memcpy(bytes + at / 2, small, n / 2);
    }
    return size / 2;
}

// Numbers that are not in the book are the zeros behind the last column, which nobody reads.
static size_t pack_codes(const float *book, size_t size, char *bytes)
{
    float row[HOLO_PANEL];
    for (size_t at = 0; at < size; at += sizeof row) {
        uint8_t codes[HOLO_PANEL / 2] = {0};
        memcpy(row, bytes + at, sizeof row);
        for (int i = 0; i < HOLO_PANEL; i++)
            codes[holo_code_byte(i)] |= (uint8_t)(book_find(book, HOLO_BOOK, row[i]) % HOLO_BOOK << holo_code_shift(i));
        memcpy(bytes + at / 8, codes, sizeof codes);
    }
    return size / 8;
}

size_t holo_lower_pack_narrow(const HoloLowering *lowering, bool is_first, size_t size, void *part)
{
    uint32_t type = holo_lower_narrow(lowering);
    if (type != HOLO_WEIGHTS_CODES) return type ? pack_halves(type, size, part) : size;
    char *bytes = part;
    size        = pack_codes(lowering->pack_book, size, part);
    if (!is_first) return size;
    memmove(bytes + HOLO_BOOK_BYTES, bytes, size);
    memcpy(bytes, lowering->pack_book, HOLO_BOOK_BYTES);
    return size + HOLO_BOOK_BYTES;
}
