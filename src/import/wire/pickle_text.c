// pickle_text.c - texts of protocol 0: in quotes with Python's escapes, or with escapes of Unicode alone.
#include "import/wire/pickle.h"

#include <string.h>

// The number that `digits` hexadecimal digits make; -1: they are not all there.
static int64_t hexadecimal(const char *at, const char *end, int digits)
{
    int64_t value = 0;
    if (end - at < digits) return -1;
    for (int i = 0; i < digits; i++) {
        const char *all = "0123456789abcdef", *found = memchr(all, at[i] | 32, 16);
        bool        is_digit = (at[i] >= '0' && at[i] <= '9') || (at[i] | 32) >= 'a';
        if (!found || !is_digit) return -1;
        value = value * 16 + (found - all);
    }
    return value;
}

static char *put_utf8(char *to, uint32_t code)
{
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    if (!more) return *to++ = (char)code, to;
    *to++ = (char)((0xF00 >> (more + 1)) | (code >> (6 * more)));
    while (more--) *to++ = (char)(0x80 | ((code >> (6 * more)) & 0x3F));
    return to;
}

// Escapes of one letter.
static const struct {
    char letter, meaning;
} escapes[] = {{'\\', '\\'}, {'\'', '\''}, {'"', '"'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}};

// What follows a backslash at *at, which moves behind it. NULL: it is no escape.
static char *put_quoted(char *to, const char **at, const char *end)
{
    for (int i = 0; i < HOLO_COUNT(escapes); i++)
        if (**at == escapes[i].letter) return ++*at, *to = escapes[i].meaning, to + 1;
    int64_t code = **at == 'x' ? hexadecimal(*at + 1, end, 2) : -1;
    if (code < 0) return NULL;
    *at += 3;
    *to = (char)code;
    return to + 1;
}

// In such texts a backslash is one, unless u and digits follow.
static char *put_unicode(char *to, const char **at, const char *end)
{
    int     digits = **at == 'u' ? 4 : **at == 'U' ? 8 : 0;
    int64_t code   = digits ? hexadecimal(*at + 1, end, digits) : '\\';
    if (code < 0 || code > 0x10FFFF) return NULL;
    *at += digits ? digits + 1 : 0;
    return put_utf8(to, (uint32_t)code);
}

HoloString holo_pickle_unescape(HoloArena *arena, HoloString line, bool is_quoted, bool *out_is_wrong)
{
    const char *at = line.data, *end = line.data + line.size;
    *out_is_wrong = false;
    if (is_quoted) {
        *out_is_wrong = line.size < 2 || (*at != '\'' && *at != '"') || end[-1] != *at;
        if (*out_is_wrong) return (HoloString){0};
        at++, end--;
    }
    char *text = holo_arena_take(arena, 2 * (size_t)(end - at) + 1), *to = text; // a byte of Latin-1 becomes two
    while (text && to && at < end) {
        char c = *at++;
        if (c == '\\' && at < end)
            to = is_quoted ? put_quoted(to, &at, end) : put_unicode(to, &at, end);
        else if (is_quoted)
            *to++ = c;
        else
            to = put_utf8(to, (uint8_t)c);
    }
    *out_is_wrong = text && !to;
    return to ? (HoloString){text, (size_t)(to - text)} : (HoloString){0};
}
