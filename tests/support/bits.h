// bits.h - records what was computed in class exact in the file that HOLO_TEST_BITS names, if any. tests/isa.sh
// compares the records of all levels and machines.
#ifndef HOLO_TESTS_BITS_H
#define HOLO_TESTS_BITS_H

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static inline void bits_note_text(const char *what, const char *text)
{
    const char *path = getenv("HOLO_TEST_BITS");
    FILE       *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fprintf(file, "%s: %s\n", what, text);
    fclose(file);
}

static inline void bits_note(const char *what, const void *data, size_t size)
{
    char     text[40];
    HoloHash hash = holo_hash(data, size);
    snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, hash.word[0], hash.word[1]);
    bits_note_text(what, text);
}

// All NaNs count as the same, whatever their bits.
static inline void bits_note_floats(const char *what, const float *x, int64_t count)
{
    float *plain = malloc((size_t)(count ? count : 1) * sizeof *plain);
    for (int64_t i = 0; plain && i < count; i++) plain[i] = x[i] == x[i] ? x[i] : __builtin_nanf("");
    if (plain) bits_note(what, plain, (size_t)count * sizeof *plain);
    free(plain);
}

#endif
