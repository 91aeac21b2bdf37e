// utf8.h - code points of UTF-8 text, and their case.
#ifndef HOLO_OPS_UTF8_H
#define HOLO_OPS_UTF8_H

#include "hologram.h"

// The code point at text[*at], of `size` bytes; moves *at behind it. A byte that begins no code point is taken alone,
// as U+FFFD.
uint32_t holo_utf8_next(const char *text, size_t size, size_t *at);
// Writes a code point; returns how many bytes (1 to 4).
int holo_utf8_put(uint32_t code, char out[4]);

// The other case of a letter: one code point, with as many bytes. Letters without one stay.
uint32_t holo_lower(uint32_t code);
uint32_t holo_upper(uint32_t code);

#endif
