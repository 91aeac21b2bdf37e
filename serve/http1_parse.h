// http1_parse.h - reads the head of a request of HTTP/1.1, and bodies in chunks. It knows no connections.
//
// It is strict: what two servers in a row could read in two ways is refused (RFC 9112). Nothing is copied.
#ifndef HOLO_SERVE_HTTP1_PARSE_H
#define HOLO_SERVE_HTTP1_PARSE_H

#include "bytes.h"

enum { HTTP1_HEADERS = 100, HTTP1_HEAD_MAX = 32768 };

typedef struct Http1Span { // a place in the bytes that were read
    uint32_t at, size;
} Http1Span;

typedef struct Http1Head {
    Http1Span   method, target;
    int         minor; // of HTTP/1.minor
    Http1Span   name[HTTP1_HEADERS], value[HTTP1_HEADERS];
    int         count;
    int64_t     length;                           // of the body; -1: there is none, or it comes in chunks
    bool        is_chunked, keeps_alive, expects; // expects: a word before it sends the body
    int         status;                           // why it is refused
    const char *why;
} Http1Head;

// Returns the size of the head; 0: it is not complete; -1: it is refused, with `status` and `why`.
int http1_parse(const char *data, size_t size, Http1Head *out);

typedef struct Http1Chunks { // zero-initialize
    int      step;
    uint64_t left; // of the chunk
    int      digits;
    size_t   line; // bytes of extensions and trailers so far
} Http1Chunks;

// Reads chunks and adds what they hold to `out`. Returns how many bytes were read: all of them, unless the body ended. -1:
// they are no chunks, or the body would have more than `limit` bytes (then *out_status is 413).
int64_t http1_chunks(Http1Chunks *c, const char *data, size_t size, size_t limit, Bytes *out, bool *out_done,
                     int *out_status);

#endif
