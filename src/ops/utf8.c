// utf8.c - code points of UTF-8 text, and the simple case mapping of Latin, Greek, Cyrillic, Armenian and a few other
// letters. It leaves out mappings to several letters (German sharp s). See utf8.h.
#include "ops/utf8.h"

#include "base/base.h"

uint32_t holo_utf8_next(const char *text, size_t size, size_t *at)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint8_t               first   = (uint8_t)text[(*at)++];
    if (first < 0x80) return first;
    int more = first >= 0xC2 && first < 0xE0   ? 1
               : first >= 0xE0 && first < 0xF0 ? 2
               : first >= 0xF0 && first < 0xF5 ? 3
                                               : 0;
    if (more == 0 || size - *at < (size_t)more) return 0xFFFD;
    uint32_t code = first & (0x3Fu >> more);
    for (int i = 0; i < more; i++) {
        uint8_t next = (uint8_t)text[*at + (size_t)i];
        if ((next & 0xC0) != 0x80) return 0xFFFD;
        code = code << 6 | (next & 0x3F);
    }
    if (code < least[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return 0xFFFD;
    *at += (size_t)more;
    return code;
}

int holo_utf8_put(uint32_t code, char out[4])
{
    static const uint8_t lead[] = {0, 0xC0, 0xE0, 0xF0};
    int                  more   = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    for (int i = more; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(lead[more] | code);
    return more + 1;
}

// Capitals first..last, every step-th of them; the small letter is `delta` higher.
typedef struct CaseRange {
    uint32_t first, last;
    int32_t  step, delta;
} CaseRange;

// clang-format off
static const CaseRange ranges[] = {
    {0x0041, 0x005A, 1, 32},   {0x00C0, 0x00D6, 1, 32},   {0x00D8, 0x00DE, 1, 32}, {0x0100, 0x012E, 2, 1},
    {0x0132, 0x0136, 2, 1},    {0x0139, 0x0147, 2, 1},    {0x014A, 0x0176, 2, 1},  {0x0178, 0x0178, 1, -121},
    {0x0179, 0x017D, 2, 1},    {0x01CD, 0x01DB, 2, 1},    {0x01DE, 0x01EE, 2, 1},  {0x01F8, 0x021E, 2, 1},
    {0x0222, 0x0232, 2, 1},    {0x0386, 0x0386, 1, 38},   {0x0388, 0x038A, 1, 37}, {0x038C, 0x038C, 1, 64},
    {0x038E, 0x038F, 1, 63},   {0x0391, 0x03A1, 1, 32},   {0x03A3, 0x03AB, 1, 32}, {0x0400, 0x040F, 1, 80},
    {0x0410, 0x042F, 1, 32},   {0x0460, 0x0480, 2, 1},    {0x048A, 0x04BE, 2, 1},  {0x04C1, 0x04CD, 2, 1},
    {0x04D0, 0x052E, 2, 1},    {0x0531, 0x0556, 1, 48},   {0x1E00, 0x1E94, 2, 1},  {0x1EA0, 0x1EFE, 2, 1},
    {0x2160, 0x216F, 1, 16},   {0x24B6, 0x24CF, 1, 26},   {0x2C00, 0x2C2E, 1, 48}, {0xFF21, 0xFF3A, 1, 32},
    {0x10400, 0x10427, 1, 40},
};
// clang-format on

uint32_t holo_lower(uint32_t code)
{
    for (int i = 0; i < HOLO_COUNT(ranges); i++) {
        const CaseRange *r = &ranges[i];
        if (code >= r->first && code <= r->last && (code - r->first) % (uint32_t)r->step == 0)
            return code + (uint32_t)r->delta;
    }
    return code;
}

uint32_t holo_upper(uint32_t code)
{
    for (int i = 0; i < HOLO_COUNT(ranges); i++) {
        const CaseRange *r       = &ranges[i];
        uint32_t         capital = code - (uint32_t)r->delta;
        if (capital >= r->first && capital <= r->last && (capital - r->first) % (uint32_t)r->step == 0) return capital;
    }
    return code;
}
