// bytes.h - memory of the server: a growing piece of bytes, and allocation that cannot fail.
//
// What grows with a request is asked for by functions that may fail. Small things of a fixed size are not worth an error
// path of their own: without memory for them the server says so and ends, and whoever started it starts it again.
#ifndef HOLO_SERVE_BYTES_H
#define HOLO_SERVE_BYTES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVE_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
#define SERVE_PRINTF(a, b) __attribute__((format(printf, a, b)))

// Rows of tables leave out fields that do not apply.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

void *take(size_t size); // zeroed
char *take_text(const char *text);
char *take_format(const char *format, ...) SERVE_PRINTF(1, 2);

typedef struct Bytes { // zero-initialize; `data` has a 0 behind its `size` bytes, unless it is NULL
    char  *data;
    size_t size, room;
    bool   failed; // there was no memory for something that was added
} Bytes;

bool bytes_reserve(Bytes *b, size_t more); // room for this many more, and a 0
bool bytes_add(Bytes *b, const void *data, size_t size);
bool bytes_add_text(Bytes *b, const char *text);
bool bytes_format(Bytes *b, const char *format, ...) SERVE_PRINTF(2, 3);
bool bytes_json(Bytes *b, const char *text, size_t size); // as a string of JSON, in quotes
bool bytes_base64(Bytes *b, const void *data, size_t size);
void bytes_drop(Bytes *b, size_t size); // from the front
void bytes_free(Bytes *b);              // then it is as new

double   now(void);       // seconds, monotonic
uint64_t unix_nano(void); // nanoseconds since 1970

#endif
