// unicode.c - questions about code points, UTF-8, and text that grows. See unicode.h.
#include "text/unicode.h"

#include <string.h>

// ---- maps

const uint32_t *holo_unicode_run_at(const HoloUnicodeMap *map, const HoloUnicodeRun *run, int index, uint32_t *room,
                                    int *out_count)
{
    *out_count = run->size ? run->size : 1;
    if (run->size) return map->pool + run->to + (ptrdiff_t)index * run->size;
    *room = run->first + (uint32_t)index * run->step + (uint32_t)run->to;
    return room;
}

const uint32_t *holo_unicode_mapped(const HoloUnicodeMap *map, uint32_t code, uint32_t *room, int *out_count)
{
    int low = 0, high = map->count; // the first run that begins behind the code
    while (low < high) {
        int middle = (low + high) / 2;
        if (map->run[middle].first <= code)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return NULL;
    const HoloUnicodeRun *run    = &map->run[low - 1];
    uint32_t              behind = code - run->first;
    if (behind % run->step || behind / run->step >= run->count) return NULL;
    return holo_unicode_run_at(map, run, (int)(behind / run->step), room, out_count);
}

// ---- questions

bool holo_is_white(uint32_t code)
{
    return holo_unicode(code)->flags & HOLO_WHITE;
}

bool holo_is_punctuation(uint32_t code)
{
    if (code < 128)
        return (code > 32 && code < 48) || (code > 57 && code < 65) || (code > 90 && code < 97) ||
               (code > 122 && code < 127);
    const HoloUnicodeRecord *r = holo_unicode(code);
    return (r->category >= HOLO_PC && r->category <= HOLO_PO && !(r->flags & HOLO_SINCE_9)) || code == 0x166D ||
           code == 0x111C9;
}

bool holo_is_control(uint32_t code)
{
    const HoloUnicodeRecord *r = holo_unicode(code);
    return (r->category == HOLO_CC || r->category == HOLO_CF || r->category == HOLO_CO) && !(r->flags & HOLO_SINCE_9);
}

bool holo_is_nonspacing(uint32_t code)
{
    const HoloUnicodeRecord *r = holo_unicode(code);
    if (code == 0x1734) return true;
    if (code == 0x1885 || code == 0x1886 || code == 0xA9BD || code == 0x111C9) return false;
    return r->category == HOLO_MN && !(r->flags & HOLO_SINCE_9);
}

bool holo_is_combining(uint32_t code)
{
    const HoloUnicodeRecord *r = holo_unicode(code);
    if (code == 0x1CF2 || code == 0x1CF3) return true;
    if (code == 0x111C9) return false;
    return r->category >= HOLO_MN && r->category <= HOLO_ME && !(r->flags & HOLO_SINCE_10);
}

bool holo_is_numeric(uint32_t code)
{
    int category = holo_unicode(code)->category;
    return category >= HOLO_ND && category <= HOLO_NO;
}

bool holo_is_mark(uint32_t code)
{
    int category = holo_unicode(code)->category;
    return category >= HOLO_MN && category <= HOLO_ME;
}

bool holo_is_word(uint32_t code)
{
    const HoloUnicodeRecord *r = holo_unicode(code);
    if (r->flags & HOLO_SINCE_17) return false;
    return r->flags & (HOLO_ALPHABETIC | HOLO_JOIN) || holo_is_mark(code) || r->category == HOLO_ND ||
           r->category == HOLO_PC;
}

// ---- UTF-8

// How many bytes a character that begins so has; 0: none begins so.
static int sequence_size(uint8_t first)
{
    return first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
}

// Whether the second byte of a character is one that may follow the first.
static bool second_fits(uint8_t first, uint8_t second)
{
    uint8_t low  = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high;
}

// How many bytes at the beginning of `text` belong to its first character, which should have `expected` bytes.
static int sequence_good(const uint8_t *text, size_t size, int expected)
{
    int good = 1;
    if (expected > 1 && size > 1 && second_fits(text[0], text[1])) good = 2;
    while (good > 1 && good < expected && (size_t)good < size && (text[good] & 0xC0) == 0x80) good++;
    return good;
}

uint32_t holo_code_read(const uint8_t *text, size_t size, int *out_size)
{
    int expected = sequence_size(text[0]);
    *out_size    = 1;
    if (expected == 1) return text[0];
    if (!expected || sequence_good(text, size, expected) < expected) return 0xFFFD;
    *out_size     = expected;
    uint32_t code = text[0] & (0x7Fu >> expected);
    for (int i = 1; i < expected; i++) code = code << 6 | (text[i] & 0x3F);
    return code;
}

int holo_code_write(uint32_t code, uint8_t out[4])
{
    if (code < 0x80) return out[0] = (uint8_t)code, 1;
    int size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = size - 1; i > 0; i--, code >>= 6) out[i] = (uint8_t)(0x80 | (code & 0x3F));
    out[0] = (uint8_t)((0xF00 >> size) | code);
    return size;
}

size_t holo_utf8_valid(const uint8_t *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        uint64_t eight;
        while (size - at >= 8 && (memcpy(&eight, text + at, 8), !(eight & UINT64_C(0x8080808080808080)))) at += 8;
        if (at == size) break;
        int expected = sequence_size(text[at]);
        if (!expected || sequence_good(text + at, size - at, expected) < expected) break;
        at += (size_t)expected;
    }
    return at;
}

size_t holo_utf8_bad(const uint8_t *text, size_t size, bool *out_is_cut)
{
    int expected = sequence_size(text[0]);
    int good     = expected ? sequence_good(text, size, expected) : 1;
    *out_is_cut  = expected && (size_t)good == size;
    return (size_t)good;
}

// ---- text that grows

void holo_growing_deinit(HoloGrowing *buffer)
{
    holo_free(buffer->data);
    *buffer = (HoloGrowing){0};
}

bool holo_growing_reserve(HoloGrowing *buffer, size_t more)
{
    size_t need, room = buffer->room ? buffer->room : 64;
    if (!holo_size_add(buffer->size, more, &need) || need > SIZE_MAX / 4) return buffer->is_failed = true, false;
    if (buffer->most && need > buffer->most) return buffer->is_failed = buffer->is_over = true, false;
    if (need <= buffer->room) return true;
    while (room < need) room *= 2;
    uint8_t *data = holo_realloc(buffer->data, room);
    if (!data) return buffer->is_failed = true, false;
    buffer->data = data;
    buffer->room = room;
    return true;
}

void holo_growing_add(HoloGrowing *buffer, const void *data, size_t size)
{
    if (!size || !holo_growing_reserve(buffer, size)) return;
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

void holo_growing_add_code(HoloGrowing *buffer, uint32_t code)
{
    if (!holo_growing_reserve(buffer, 4)) return;
    buffer->size += (size_t)holo_code_write(code, buffer->data + buffer->size);
}
