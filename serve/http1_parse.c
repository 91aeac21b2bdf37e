// http1_parse.c - reads requests of HTTP/1.1. See http1_parse.h.
#include "http1_parse.h"

#include <string.h>
#include <strings.h>

// Bytes of methods and of names of headers.
static bool is_token(unsigned char c)
{
    static const uint32_t set[8] = {0, 0x03ff6cfa, 0xc7fffffe, 0x57ffffff}; // bit c % 32 of word c / 32
    return set[c >> 5] >> (c & 31) & 1;
}

static int refuse(Http1Head *h, int status, const char *why)
{
    h->status = status;
    h->why    = why;
    return -1;
}

// ---- the first line

static const char *first_line(const char *data, const char *p, const char *end, Http1Head *h)
{
    const char *begin = p;
    while (p < end && is_token((unsigned char)*p)) p++;
    h->method = (Http1Span){0, (uint32_t)(p - begin)};
    if (p == begin || p - begin > 15 || p == end || *p++ != ' ')
        return refuse(h, 400, "the request does not begin with a method"), NULL;
    begin = p;
    while (p < end && (unsigned char)*p > ' ' && *p != 0x7f) p++;
    h->target = (Http1Span){(uint32_t)(begin - data), (uint32_t)(p - begin)};
    if (p == begin || p == end || *p++ != ' ') return refuse(h, 400, "the request has no target"), NULL;
    if (h->target.size > 8192) return refuse(h, 414, "the target of the request is too long"), NULL;
    if (end - p < 10 || memcmp(p, "HTTP/", 5))
        return refuse(h, 400, "the request does not name its version of HTTP"), NULL;
    if (memcmp(p + 5, "1.1", 3) && memcmp(p + 5, "1.0", 3)) return refuse(h, 505, "this is HTTP/1.1 and HTTP/2"), NULL;
    h->minor = p[7] - '0';
    if (p[8] != '\r' || p[9] != '\n') return refuse(h, 400, "the first line does not end with CR LF"), NULL;
    return p + 10;
}

// ---- headers that say where the request ends

static bool is(const char *data, Http1Span s, const char *word)
{
    return strlen(word) == s.size && !strncasecmp(data + s.at, word, s.size);
}

// Is the word one of a list with commas?
static bool lists(const char *data, Http1Span s, const char *word)
{
    const char *p = data + s.at, *end = p + s.size;
    while (p < end) {
        while (p < end && (*p == ' ' || *p == '\t' || *p == ',')) p++;
        const char *begin = p;
        while (p < end && *p != ',') p++;
        size_t size = (size_t)(p - begin);
        while (size && (begin[size - 1] == ' ' || begin[size - 1] == '\t')) size--;
        if (size == strlen(word) && !strncasecmp(begin, word, size)) return true;
    }
    return false;
}

static bool read_length(const char *data, Http1Span s, int64_t *out)
{
    int64_t n = 0;
    if (!s.size || s.size > 18) return false;
    for (uint32_t i = 0; i < s.size; i++) {
        char c = data[s.at + i];
        if (c < '0' || c > '9') return false;
        n = n * 10 + (c - '0');
    }
    *out = n;
    return true;
}

static int understand(const char *data, Http1Head *h)
{
    int hosts      = 0;
    h->length      = -1;
    h->keeps_alive = h->minor == 1;
    for (int i = 0; i < h->count; i++) {
        Http1Span name = h->name[i], value = h->value[i];
        int64_t   length;
        if (is(data, name, "host")) hosts++;
        if (is(data, name, "content-length")) {
            if (!read_length(data, value, &length) || (h->length >= 0 && h->length != length))
                return refuse(h, 400, "content-length is not one number");
            h->length = length;
        }
        if (is(data, name, "transfer-encoding")) {
            if (h->is_chunked || !is(data, value, "chunked"))
                return refuse(h, 501, "the only transfer-encoding known here is chunked");
            h->is_chunked = true;
        }
        if (is(data, name, "connection") && lists(data, value, "close")) h->keeps_alive = false;
        if (is(data, name, "connection") && h->minor == 0 && lists(data, value, "keep-alive")) h->keeps_alive = true;
        if (is(data, name, "expect")) {
            if (!is(data, value, "100-continue"))
                return refuse(h, 417, "the only expectation known here is 100-continue");
            h->expects = true;
        }
    }
    if (h->is_chunked && (h->length >= 0 || h->minor == 0))
        return refuse(h, 400, "the request says in two ways where it ends");
    if (hosts > 1 || (!hosts && h->minor == 1)) return refuse(h, 400, "the request needs one header host");
    return 0;
}

int http1_parse(const char *data, size_t size, Http1Head *h)
{
    const char *p = data, *end = data + size;
    h->count      = 0;
    h->minor      = 1;
    h->is_chunked = h->expects = false;
    const char *last           = memmem(data, size < HTTP1_HEAD_MAX ? size : HTTP1_HEAD_MAX, "\r\n\r\n", 4);
    if (!last) return size >= HTTP1_HEAD_MAX ? refuse(h, 431, "the headers are too long") : 0;
    end = last + 4;
    if (!(p = first_line(data, p, end, h))) return -1;
    while (p < end && *p != '\r') {
        const char *begin = p;
        while (p < end && is_token((unsigned char)*p)) p++;
        if (h->count == HTTP1_HEADERS) return refuse(h, 431, "there are too many headers");
        if (p == begin || p == end || *p != ':') return refuse(h, 400, "a header has no name, or no colon behind it");
        h->name[h->count] = (Http1Span){(uint32_t)(begin - data), (uint32_t)(p - begin)};
        for (p++; p < end && (*p == ' ' || *p == '\t');) p++;
        begin = p;
        while (p < end && ((unsigned char)*p >= ' ' || *p == '\t') && *p != 0x7f) p++;
        if (end - p < 2 || p[0] != '\r' || p[1] != '\n')
            return refuse(h, 400, "a header has a byte that none may have");
        const char *behind = p;
        while (behind > begin && (behind[-1] == ' ' || behind[-1] == '\t')) behind--;
        h->value[h->count++] = (Http1Span){(uint32_t)(begin - data), (uint32_t)(behind - begin)};
        p += 2;
    }
    return understand(data, h) ? -1 : (int)(end - data);
}

// ---- chunks

enum {
    STEP_SIZE,
    STEP_EXTENSION,
    STEP_SIZE_LF,
    STEP_DATA,
    STEP_DATA_CR,
    STEP_DATA_LF,
    STEP_TRAILER,
    STEP_TRAILER_LINE,
    STEP_TRAILER_LF,
    STEP_END_LF
};

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// One byte that is not data. False: it does not belong there.
static bool chunk_byte(Http1Chunks *c, char x, bool *out_done)
{
    int digit = hex_digit(x);
    if (++c->line > 8192) return false;
    switch (c->step) {
    case STEP_SIZE:
        if (digit >= 0 && c->digits++ < 15) return c->left = c->left * 16 + (uint64_t)digit, true;
        c->step = x == ';' ? STEP_EXTENSION : STEP_SIZE_LF;
        return c->digits && digit < 0 && (x == ';' || x == '\r');
    case STEP_EXTENSION:
        if (x == '\r') c->step = STEP_SIZE_LF;
        return x == '\r' || x == '\t' || ((unsigned char)x >= ' ' && x != 0x7f);
    case STEP_SIZE_LF: c->step = c->left ? STEP_DATA : STEP_TRAILER; return x == '\n';
    case STEP_DATA_CR: c->step = STEP_DATA_LF; return x == '\r';
    case STEP_DATA_LF:
        c->step   = STEP_SIZE;
        c->digits = 0;
        c->line   = 0;
        return x == '\n';
    case STEP_TRAILER:
        c->step = x == '\r' ? STEP_END_LF : STEP_TRAILER_LINE;
        return x == '\r' || is_token((unsigned char)x);
    case STEP_TRAILER_LINE:
        if (x == '\r') c->step = STEP_TRAILER_LF;
        return x == '\r' || x == '\t' || ((unsigned char)x >= ' ' && x != 0x7f);
    case STEP_TRAILER_LF: c->step = STEP_TRAILER; return x == '\n';
    default: *out_done = true; return x == '\n';
    }
}

int64_t http1_chunks(Http1Chunks *c, const char *data, size_t size, size_t limit, Bytes *out, bool *out_done,
                     int *out_status)
{
    size_t at = 0;
    *out_done = false;
    while (at < size && !*out_done) {
        *out_status = 400;
        if (c->step != STEP_DATA) {
            if (!chunk_byte(c, data[at++], out_done)) return -1;
            continue;
        }
        size_t n = c->left < size - at ? (size_t)c->left : size - at;
        if (c->left > limit || out->size > limit - c->left) return *out_status = 413, -1;
        if (!bytes_add(out, data + at, n)) return *out_status = 503, -1;
        at += n;
        c->left -= n;
        if (!c->left) c->step = STEP_DATA_CR;
    }
    return (int64_t)at;
}
