// json_read.c - reads JSON without a tree. See json_read.h.
#include "json_read.h"

#include <stdlib.h>
#include <string.h>

JsonReader reader_of(const char *data, size_t size)
{
    return (JsonReader){.begin = data, .p = data, .end = data + size};
}

bool reader_wrong(JsonReader *r, const char *why)
{
    if (!r->why) r->why = why;
    r->p = r->end;
    return false;
}

static void space(JsonReader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\r' || *r->p == '\t')) r->p++;
}

char reader_peek(JsonReader *r)
{
    space(r);
    return r->p < r->end ? *r->p : 0;
}

bool reader_open(JsonReader *r, char kind)
{
    if (reader_peek(r) != kind) return reader_wrong(r, kind == '{' ? "an object is expected" : "an array is expected");
    r->p++;
    r->is_fresh = true;
    return true;
}

// The comma before an element, or the end.
static bool next(JsonReader *r, char close)
{
    char c      = reader_peek(r);
    bool fresh  = r->is_fresh;
    r->is_fresh = false;
    if (c == close) return r->p++, false;
    if (fresh) return c || reader_wrong(r, "it ends in the middle");
    if (c != ',') return reader_wrong(r, c ? "a comma is expected" : "it ends in the middle");
    r->p++;
    return true;
}

bool reader_element(JsonReader *r)
{
    if (!next(r, ']')) return false;
    return reader_peek(r) != ']' || reader_wrong(r, "a value is expected");
}

// ---- strings

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static long unit(JsonReader *r) // four digits behind \u
{
    long code = 0;
    if (r->end - r->p < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(*r->p++);
        if (digit < 0) return -1;
        code = code * 16 + digit;
    }
    return code;
}

static bool add_code(Bytes *out, long c)
{
    char   b[4];
    size_t n = 0;
    if (c < 0x80)
        b[n++] = (char)c;
    else if (c < 0x800)
        b[n++] = (char)(0xc0 | c >> 6), b[n++] = (char)(0x80 | (c & 63));
    else if (c < 0x10000)
        b[n++] = (char)(0xe0 | c >> 12), b[n++] = (char)(0x80 | (c >> 6 & 63)), b[n++] = (char)(0x80 | (c & 63));
    else
        b[n++] = (char)(0xf0 | c >> 18), b[n++] = (char)(0x80 | (c >> 12 & 63)), b[n++] = (char)(0x80 | (c >> 6 & 63)),
        b[n++] = (char)(0x80 | (c & 63));
    return bytes_add(out, b, n);
}

static bool escape(JsonReader *r, Bytes *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char              c     = r->p < r->end ? *r->p++ : 0;
    const char       *found = c ? strchr(from, c) : NULL;
    if (found) return bytes_add(out, to + (found - from), 1);
    if (c != 'u') return reader_wrong(r, "a string has an escape that JSON does not have");
    long code = unit(r);
    if (code >= 0xd800 && code < 0xdc00 && r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u') {
        r->p += 2;
        long low = unit(r);
        if (low < 0xdc00 || low > 0xdfff) return reader_wrong(r, "a string has half of a character");
        return add_code(out, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
    }
    if (code < 0 || (code >= 0xd800 && code < 0xe000)) return reader_wrong(r, "a string has half of a character");
    return add_code(out, code);
}

bool reader_string(JsonReader *r, Bytes *out)
{
    if (reader_peek(r) != '"') return reader_wrong(r, "a string is expected");
    r->p++;
    for (;;) {
        const char *begin = r->p;
        while (r->p < r->end && *r->p != '"' && *r->p != '\\' && (unsigned char)*r->p >= ' ') r->p++;
        if (!bytes_add(out, begin, (size_t)(r->p - begin))) return reader_wrong(r, "out of memory");
        if (r->p == r->end || (unsigned char)*r->p < ' ') return reader_wrong(r, "a string does not end");
        if (*r->p++ == '"') return true;
        if (!escape(r, out)) return reader_wrong(r, "out of memory");
    }
}

bool reader_key(JsonReader *r, char *key, size_t room)
{
    Bytes b = {0};
    if (!next(r, '}')) return false;
    bool is = reader_string(r, &b);
    if (is && reader_peek(r) != ':') is = reader_wrong(r, "a colon is expected");
    if (is) r->p++;
    size_t size =
        is && b.size < room && !memchr(b.data, 0, b.size) ? b.size : 0; // a longer key is none that anyone knows
    if (is) memcpy(key, b.data, size);
    if (room) key[size] = 0;
    bytes_free(&b);
    return is;
}

// ---- numbers

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// What the number is, by JSON's grammar. Digits go to `mantissa` as long as they are exact (`*digits` counts them all).
static bool scan(JsonReader *r, bool *negative, uint64_t *mantissa, int *digits, int *exponent)
{
    const char *p = r->p, *end = r->end;
    int         power = 0, sign = 1;
    *negative = p < end && *p == '-';
    if (*negative) p++;
    if (p == end || *p < '0' || *p > '9') return reader_wrong(r, "a number is expected");
    if (*p == '0' && end - p > 1 && p[1] >= '0' && p[1] <= '9') return reader_wrong(r, "a number begins with 0");
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (*digits || *p != '0') *digits += 1, *mantissa = *mantissa * 10 + (uint64_t)(*p - '0');
    if (p < end && *p == '.') {
        const char *dot = p++;
        for (; p < end && *p >= '0' && *p <= '9'; p++, *exponent -= 1)
            if (*digits || *p != '0') *digits += 1, *mantissa = *mantissa * 10 + (uint64_t)(*p - '0');
        if (p == dot + 1) return reader_wrong(r, "a number has no digits behind its point");
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) sign = *p++ == '-' ? -1 : 1;
        const char *first = p;
        for (; p < end && *p >= '0' && *p <= '9'; p++)
            if (power < 100000) power = power * 10 + (*p - '0');
        if (p == first) return reader_wrong(r, "a number has no digits in its exponent");
    }
    *exponent += sign * power;
    r->p = p;
    return true;
}

bool reader_number(JsonReader *r, double *out)
{
    uint64_t mantissa = 0;
    int      digits = 0, exponent = 0;
    bool     negative;
    reader_peek(r);
    const char *begin = r->p;
    if (!scan(r, &negative, &mantissa, &digits, &exponent)) return false;
    if (digits <= 15 && exponent >= -22 && exponent <= 22) { // both are exact, so one rounding is right
        double x = exponent < 0 ? (double)mantissa / powers[-exponent] : (double)mantissa * powers[exponent];
        *out     = negative ? -x : x;
        return true;
    }
    char   text[512];
    size_t size = (size_t)(r->p - begin);
    if (size >= sizeof text) return reader_wrong(r, "a number is too long");
    memcpy(text, begin, size);
    text[size] = 0;
    *out       = strtod(text, NULL);
    return true;
}

bool reader_integer(JsonReader *r, bool *out_negative, uint64_t *out)
{
    int digits = 0, exponent = 0;
    *out = 0;
    reader_peek(r);
    if (!scan(r, out_negative, out, &digits, &exponent)) return false;
    for (; exponent < 0 && *out && *out % 10 == 0; exponent++) *out /= 10; // 5.0 is whole
    for (; exponent > 0 && *out; exponent--) {
        if (*out > UINT64_MAX / 10) return reader_wrong(r, "a number is too large");
        *out *= 10;
    }
    if (exponent < 0 && *out) return reader_wrong(r, "a whole number is expected");
    if (digits > 19) return reader_wrong(r, "a number is too large");
    return true;
}

// ---- the rest

static bool word(JsonReader *r, const char *text)
{
    size_t size = strlen(text);
    if ((size_t)(r->end - r->p) < size || memcmp(r->p, text, size)) return false;
    r->p += size;
    return true;
}

bool reader_bool(JsonReader *r, bool *out)
{
    char c = reader_peek(r);
    *out   = c == 't';
    return (c == 't' && word(r, "true")) || (c == 'f' && word(r, "false")) ||
           reader_wrong(r, "true or false is expected");
}

static bool skip_string(JsonReader *r)
{
    for (r->p++; r->p < r->end && *r->p != '"'; r->p++)
        if (*r->p == '\\')
            r->p++;
        else if ((unsigned char)*r->p < ' ')
            break;
    if (r->p >= r->end || *r->p != '"') return reader_wrong(r, "a string does not end");
    r->p++;
    return true;
}

static bool skip_simple(JsonReader *r)
{
    uint64_t m      = 0;
    int      digits = 0, exponent = 0;
    bool     negative;
    char     c = reader_peek(r);
    if (c == '"') return skip_string(r);
    if (c == 't' || c == 'f' || c == 'n')
        return word(r, c == 't' ? "true" : c == 'f' ? "false" : "null") || reader_wrong(r, "this is no word of JSON");
    return scan(r, &negative, &m, &digits, &exponent);
}

// Brackets on a stack of its own: no recursion.
bool reader_skip(JsonReader *r, const char **out_begin, size_t *out_size)
{
    char stack[JSON_DEPTH], key[2];
    int  depth = 0;
    reader_peek(r);
    const char *begin = r->p;
    do {
        char c = reader_peek(r);
        if (c == '{' || c == '[') {
            if (depth == JSON_DEPTH) return reader_wrong(r, "it is nested too deeply");
            reader_open(r, c);
            stack[depth++] = c;
        } else if (!skip_simple(r)) {
            return false;
        }
        while (depth && !r->why && !(stack[depth - 1] == '{' ? reader_key(r, key, sizeof key) : reader_element(r)))
            depth--;
    } while (depth && !r->why);
    if (out_begin) *out_begin = begin, *out_size = (size_t)(r->p - begin);
    return !r->why;
}

bool reader_ended(JsonReader *r)
{
    if (reader_peek(r)) reader_wrong(r, "something follows the end");
    return !r->why;
}
