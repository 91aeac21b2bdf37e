// image_plain.c - formats that are little more than pixels: BMP and the portable formats PBM, PGM and PPM.
#include "ops/standard/image.h"

#include <string.h>

// ---- bytes that are there; behind the end they are 0

static uint32_t byte_at(const HoloImage *image, uint64_t at)
{
    return at < image->size ? image->bytes[at] : 0;
}

static uint32_t u16_at(const HoloImage *image, uint64_t at)
{
    return byte_at(image, at) | byte_at(image, at + 1) << 8;
}

static uint32_t u32_at(const HoloImage *image, uint64_t at)
{
    return u16_at(image, at) | u16_at(image, at + 2) << 16;
}

// ---- BMP

enum { PLAIN = 0, RLE8 = 1, RLE4 = 2, FIELDS = 3, FIELDS_ALPHA = 6 }; // compression

typedef struct Bmp {
    HoloImage *image;
    uint32_t   bits, compression;
    uint32_t   mask[3];             // of red, green and blue, for 16 and 32 bits
    uint64_t   palette, pixels;     // where they begin
    uint32_t   colors, color_bytes; // of the palette
    bool       is_down;             // the first row is the top one
} Bmp;

static bool read_header(Bmp *b, int64_t *width, int64_t *height)
{
    HoloImage *image  = b->image;
    uint32_t   header = u32_at(image, 14);
    bool       is_old = header == 12;
    b->pixels         = u32_at(image, 10);
    if (image->size < 26 || (!is_old && (header < 40 || header > 124))) return false;
    *width         = is_old ? (int64_t)u16_at(image, 18) : (int32_t)u32_at(image, 18);
    *height        = is_old ? (int64_t)u16_at(image, 20) : (int32_t)u32_at(image, 22);
    b->bits        = u16_at(image, is_old ? 24 : 28);
    b->compression = is_old ? PLAIN : u32_at(image, 30);
    b->colors      = is_old ? 0 : u32_at(image, 46);
    b->color_bytes = is_old ? 3 : 4;
    b->palette     = 14 + (uint64_t)header;
    b->is_down     = *height < 0;
    if (b->is_down) *height = -*height;
    if (b->bits <= 8 && (b->colors == 0 || b->colors > 1u << b->bits)) b->colors = 1u << b->bits;
    return true;
}

static void read_masks(Bmp *b)
{
    static const uint32_t plain[2][3] = {{0x7C00, 0x03E0, 0x001F}, {0xFF0000, 0x00FF00, 0x0000FF}};
    bool                  is_given    = b->compression == FIELDS || b->compression == FIELDS_ALPHA;
    for (int c = 0; c < 3; c++)
        b->mask[c] = is_given ? u32_at(b->image, 54 + 4 * (uint64_t)c) : plain[b->bits == 32][c];
}

static uint8_t masked(uint32_t value, uint32_t mask)
{
    if (!mask) return 0;
    int      shift = __builtin_ctz(mask);
    uint64_t top   = mask >> shift;
    return (uint8_t)(((uint64_t)((value & mask) >> shift) * 255 + top / 2) / top);
}

static void put_color(const Bmp *b, uint32_t index, uint8_t *rgb)
{
    uint64_t at = b->palette + (uint64_t)index * b->color_bytes;
    for (int c = 0; c < 3; c++) rgb[c] = index < b->colors ? (uint8_t)byte_at(b->image, at + (uint64_t)(2 - c)) : 0;
}

static uint8_t *row_of(const Bmp *b, int64_t row)
{
    const HoloImage *image = b->image;
    return image->rgb + (b->is_down ? row : image->height - 1 - row) * image->width * 3;
}

static void read_rows(const Bmp *b)
{
    const HoloImage *image  = b->image;
    uint64_t         stride = ((uint64_t)image->width * b->bits + 31) / 32 * 4;
    for (int64_t y = 0; y < image->height; y++) {
        uint8_t *rgb = row_of(b, y);
        uint64_t row = b->pixels + (uint64_t)y * stride;
        for (int64_t x = 0; x < image->width; x++, rgb += 3) {
            uint64_t bit = (uint64_t)x * b->bits, at = row + bit / 8;
            if (b->bits <= 8) {
                put_color(b, byte_at(image, at) >> (8 - b->bits - bit % 8) & ((1u << b->bits) - 1), rgb);
            } else if (b->bits == 24) {
                for (int c = 0; c < 3; c++) rgb[c] = (uint8_t)byte_at(image, at + (uint64_t)(2 - c));
            } else {
                uint32_t value = b->bits == 16 ? u16_at(image, at) : u32_at(image, at);
                for (int c = 0; c < 3; c++) rgb[c] = masked(value, b->mask[c]);
            }
        }
    }
}

// Runs of pixels: a count and a color (or two that alternate); or 0 and: end of row, end, a jump, pixels as they are.
static void read_runs(const Bmp *b)
{
    const HoloImage *image = b->image;
    int64_t          x = 0, y = 0;
    for (uint64_t at = b->pixels; at + 1 < image->size && y < image->height;) {
        uint32_t count = byte_at(image, at), value = byte_at(image, at + 1);
        bool     is_plain = count == 0 && value > 2;
        at += 2;
        if (count == 0 && value == 1) return;
        if (count == 0 && value == 0) {
            x = 0;
            y++;
        } else if (count == 0 && value == 2) {
            x += byte_at(image, at);
            y += byte_at(image, at + 1);
            at += 2;
        } else {
            uint32_t n = is_plain ? value : count;
            for (uint32_t k = 0; k < n; k++, x++) {
                uint32_t color = is_plain ? byte_at(image, at + (b->compression == RLE4 ? k / 2 : k)) : value;
                if (b->compression == RLE4) color = k % 2 ? color & 15 : color >> 4;
                if (x < image->width) put_color(b, color, row_of(b, y) + x * 3);
            }
            if (is_plain) at += ((b->compression == RLE4 ? (n + 1) / 2 : n) + 1) / 2 * 2;
        }
    }
}

bool holo_image_bmp(HoloImage *image)
{
    Bmp     b = {.image = image};
    int64_t width, height;
    if (!read_header(&b, &width, &height)) return false;
    bool is_run    = (b.compression == RLE8 && b.bits == 8) || (b.compression == RLE4 && b.bits == 4);
    bool is_fields = (b.compression == FIELDS || b.compression == FIELDS_ALPHA) && (b.bits == 16 || b.bits == 32);
    bool is_plain  = b.compression == PLAIN &&
                    (b.bits == 1 || b.bits == 4 || b.bits == 8 || b.bits == 16 || b.bits == 24 || b.bits == 32);
    if ((!is_run && !is_fields && !is_plain) || b.pixels >= image->size) return false;
    if (!is_run && width > 0 && height > (int64_t)image->size * 8 / width) return false; // shorter than its pixels
    if (!holo_image_begin(image, width, height)) return false;
    read_masks(&b);
    if (is_run)
        read_runs(&b);
    else
        read_rows(&b);
    return true;
}

// ---- PBM, PGM, PPM

// The next number of the text, after space and comments. -1: there is none.
static int64_t next_number(const HoloImage *image, size_t *at)
{
    int64_t value = -1;
    for (; *at < image->size; ++*at) {
        uint8_t c = image->bytes[*at];
        if (c == '#' && value < 0)
            while (*at + 1 < image->size && image->bytes[*at + 1] != '\n') ++*at;
        else if (c >= '0' && c <= '9')
            value = (value < 0 ? 0 : value) * 10 + (c - '0');
        else if (value >= 0 || !strchr(" \t\r\n\v\f", c))
            break;
        if (value > INT32_MAX) return -1;
    }
    return value;
}

// A sample of plain bitmaps is one digit; they need no space between them.
static int64_t next_bit(const HoloImage *image, size_t *at)
{
    while (*at < image->size && image->bytes[*at] != '0' && image->bytes[*at] != '1') ++*at;
    return *at < image->size ? image->bytes[(*at)++] - '0' : -1;
}

typedef struct Pnm {
    bool    is_bits, is_text;
    int     channels;
    int64_t top;
} Pnm;

// Sample c of pixel (x, y), as 0 to top. -1: there is none.
static int64_t sample(const HoloImage *image, const Pnm *p, size_t *at, int64_t x, int64_t y, int c)
{
    if (p->is_text) return p->is_bits ? next_bit(image, at) : next_number(image, at);
    size_t wide  = p->top > 255 ? 2 : 1;
    size_t where = *at + (size_t)((y * image->width + x) * p->channels + c) * wide;
    if (p->is_bits) where = *at + (size_t)(y * ((image->width + 7) / 8) + x / 8);
    if (where + wide > image->size) return -1;
    if (p->is_bits) return image->bytes[where] >> (7 - x % 8) & 1;
    return wide == 1 ? image->bytes[where] : image->bytes[where] << 8 | image->bytes[where + 1];
}

bool holo_image_pnm(HoloImage *image)
{
    int     kind  = image->bytes[1] - '0'; // 1 to 3 as text, 4 to 6 as bytes
    size_t  at    = 2;
    Pnm     p     = {.is_text = kind <= 3, .is_bits = kind % 3 == 1, .channels = kind % 3 == 0 ? 3 : 1};
    int64_t width = next_number(image, &at), height = next_number(image, &at);
    p.top = p.is_bits ? 1 : next_number(image, &at);
    if (p.top < 1 || p.top > 65535) return false;
    if (width > 0 && height > (int64_t)image->size * 8 / width) return false; // shorter than its pixels
    if (!holo_image_begin(image, width, height)) return false;
    if (!p.is_text) at++; // one space ends the header
    uint8_t *rgb = image->rgb;
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++)
            for (int c = 0; c < 3; c++, rgb++) {
                if (c >= p.channels) {
                    *rgb = rgb[-1];
                    continue;
                }
                int64_t value = sample(image, &p, &at, x, y, c);
                if (value < 0 || value > p.top) return false;
                *rgb = (uint8_t)((p.is_bits ? 1 - value : value) * 255 / p.top);
            }
    return true;
}
