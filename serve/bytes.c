// bytes.c - memory of the server. See bytes.h.
#include "bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *must(void *memory)
{
    if (memory) return memory;
    fputs("hologram-serve: out of memory\n", stderr);
    abort();
}

void *take(size_t size)
{
    return must(calloc(1, size ? size : 1));
}

char *take_text(const char *text)
{
    return must(strdup(text));
}

char *take_format(const char *format, ...)
{
    va_list args;
    char   *text = NULL;
    va_start(args, format);
    int size = vasprintf(&text, format, args);
    va_end(args);
    return must(size < 0 ? NULL : text);
}

bool bytes_reserve(Bytes *b, size_t more)
{
    if (b->failed) return false;
    if (more < SIZE_MAX / 4 && b->size + more < b->room) return true;
    size_t room = b->size + more + 1;
    if (more >= SIZE_MAX / 4 || room < b->size) return b->failed = true, false;
    if (room < b->room * 2) room = b->room * 2;
    if (room < 256) room = 256;
    char *data = realloc(b->data, room);
    if (!data) return b->failed = true, false;
    b->data = data;
    b->room = room;
    return true;
}

bool bytes_add(Bytes *b, const void *data, size_t size)
{
    if (!bytes_reserve(b, size)) return false;
    if (size) memcpy(b->data + b->size, data, size);
    b->data[b->size += size] = 0;
    return true;
}

bool bytes_add_text(Bytes *b, const char *text)
{
    return bytes_add(b, text, strlen(text));
}

bool bytes_format(Bytes *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int  size = vsnprintf(NULL, 0, format, args);
    bool is   = size >= 0 && bytes_reserve(b, (size_t)size);
    if (is) {
        vsnprintf(b->data + b->size, (size_t)size + 1, format, again);
        b->size += (size_t)size;
    }
    va_end(again);
    va_end(args);
    return is;
}

// The length of the UTF-8 sequence at `s`, of which `size` bytes are there; 0: it is none.
static size_t utf8_size(const unsigned char *s, size_t size)
{
    size_t n = *s < 0x80                 ? 1
               : *s >= 0xc2 && *s < 0xe0 ? 2
               : *s >= 0xe0 && *s < 0xf0 ? 3
               : *s >= 0xf0 && *s < 0xf5 ? 4
                                         : 0;
    if (!n || n > size) return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))) return 0;
    if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))) return 0;
    return n;
}

bool bytes_json(Bytes *b, const char *text, size_t size)
{
    static const char *const short_forms[] = {['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f",
                                              ['\r'] = "\\r", ['"'] = "\\\"", ['\\'] = "\\\\"};
    bytes_add(b, "\"", 1);
    for (size_t i = 0, n; i < size; i += n) {
        unsigned char c = (unsigned char)text[i];
        n               = utf8_size((const unsigned char *)text + i, size - i);
        if (!n)
            n = 1, bytes_add_text(b, "\\ufffd");
        else if (c < sizeof short_forms / sizeof *short_forms && short_forms[c])
            bytes_add_text(b, short_forms[c]);
        else if (c < 0x20 || c == 0x7f)
            bytes_format(b, "\\u%04x", c);
        else
            bytes_add(b, text + i, n);
    }
    return bytes_add(b, "\"", 1);
}

bool bytes_base64(Bytes *b, const void *data, size_t size)
{
    static const char    digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *p        = data;
    if (!bytes_reserve(b, size / 3 * 4 + 4)) return false;
    for (size_t i = 0; i < size; i += 3) {
        size_t   left    = size - i;
        uint32_t word    = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (left > 2 ? p[i + 2] : 0);
        char     four[4] = {digits[word >> 18], digits[word >> 12 & 63], left > 1 ? digits[word >> 6 & 63] : '=',
                        left > 2 ? digits[word & 63] : '='};
        bytes_add(b, four, 4);
    }
    return !b->failed;
}

void bytes_drop(Bytes *b, size_t size)
{
    if (!size) return;
    memmove(b->data, b->data + size, b->size - size);
    b->data[b->size -= size] = 0;
}

void bytes_free(Bytes *b)
{
    free(b->data);
    *b = (Bytes){0};
}

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

uint64_t unix_nano(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
