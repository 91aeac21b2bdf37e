// text.c - makes text from files safe to show.
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// The character at `s`, and its number of bytes; 0: it is not UTF-8.
static int decode(const unsigned char *s, uint32_t *out)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int                   size    = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    if (s[0] > 0xF4) size = 0;
    *out = size < 2 ? s[0] : s[0] & (0xFFu >> (size + 1));
    for (int i = 1; i < size; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0; // the 0 at the end is not one either
        *out = *out << 6 | (s[i] & 0x3F);
    }
    bool is_none = *out < least[size] || (*out >= 0xD800 && *out < 0xE000) || *out > 0x10FFFF;
    return is_none ? 0 : size;
}

// Characters that a terminal or an editor obeys, or that hide something: controls, marks that change the direction of
// writing, line separators, characters without width, tags.
static bool is_shown(uint32_t c)
{
    static const uint32_t hidden[][2] = {
        {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},   {0x180E, 0x180E},   {0x200B, 0x200F},
        {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE0FFF},
    };
    for (int i = 0; i < HOLO_COUNT(hidden); i++)
        if (c >= hidden[i][0] && c <= hidden[i][1]) return false;
    return true;
}

size_t holo_text_safe(const char *text, char *out, size_t room)
{
    size_t used = 0, kept = 0; // kept: what fits, in whole characters
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        char     escape[16];
        uint32_t c;
        int      size = decode(s, &c), length = size;
        bool     is_plain = size && is_shown(c);
        if (!is_plain) length = snprintf(escape, sizeof escape, size && c > 0xFF ? "\\u{%x}" : "\\x%02x", c);
        if (!size) length = snprintf(escape, sizeof escape, "\\x%02x", s[0]);
        if (used == kept && used + (size_t)length < room) {
            memcpy(out + used, is_plain ? (const char *)s : escape, (size_t)length);
            kept += (size_t)length;
        }
        used += (size_t)length;
        s += size ? size : 1;
    }
    if (room) out[kept] = 0;
    return used;
}

void holo_text_short(const char *text, char *out, size_t room)
{
    size_t   size = strlen(text), tail = 0, head = 0;
    uint32_t sum = 2166136261u;     // FNV-1a
    enum { MARK = 10, LEAST = 24 }; // "...", "#123456" and the 0 at the end
    if (size >= room && room >= LEAST) {
        for (size_t i = 0; i < size; i++) sum = (sum ^ (unsigned char)text[i]) * 16777619u;
        head = (room - 1 - MARK) * 2 / 3;
        tail = size - (room - 1 - MARK - head);
        while (head && ((unsigned char)text[head] & 0xC0) == 0x80) head--; // not inside a character
        while (tail < size && ((unsigned char)text[tail] & 0xC0) == 0x80) tail++;
        snprintf(out, room, "%.*s...%s#%06x", (int)head, text, text + tail, (sum ^ sum >> 24) & 0xFFFFFF);
    } else if (room) {
        snprintf(out, room, "%s", text);
    }
}

static size_t name_size(size_t size)
{
    return size < HOLO_TEXT_NAME_MAX ? size : HOLO_TEXT_NAME_MAX;
}

int holo_text_distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    int row[HOLO_TEXT_NAME_MAX + 1];
    for (size_t k = 0; k <= name_size(b_size); k++) row[k] = (int)k;
    for (size_t i = 1; i <= name_size(a_size); i++) {
        int before = row[0];
        row[0]     = (int)i;
        for (size_t k = 1; k <= name_size(b_size); k++) {
            int change = before + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[k - 1]));
            int least  = row[k] < row[k - 1] ? row[k] : row[k - 1];
            before     = row[k];
            row[k]     = change < least + 1 ? change : least + 1;
        }
    }
    return row[name_size(b_size)];
}
