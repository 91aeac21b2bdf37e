// status.c - texts for statuses, search for bytes, and seeded random numbers.
#include "base/bytes.h"
#include "base/math/math.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STRING_(x) #x
#define STRING(x)  STRING_(x)

const void *holo_bytes_find(const void *bytes, size_t size, const void *part, size_t part_size)
{
    const char *at = bytes, *end = at + size;
    if (!part_size) return bytes;
    while ((size_t)(end - at) >= part_size) {
        at = memchr(at, *(const char *)part, (size_t)(end - at) - part_size + 1);
        if (!at) return NULL;
        if (!memcmp(at, part, part_size)) return at;
        at++;
    }
    return NULL;
}

const char *holo_version(void)
{
    return STRING(HOLO_VERSION_MAJOR) "." STRING(HOLO_VERSION_MINOR) "." STRING(HOLO_VERSION_PATCH);
}

const char *holo_status_text(HoloStatus status)
{
    switch (status) {
#define X(id, value, text) \
    case HOLO_##id: return text;
        HOLO_STATUS_MAP(X)
#undef X
    }
    return "no such status";
}

// Names in a message may hold anything. Only the message's own line breaks are kept; further lines are indented.
static void text_show(char *text, char *out, size_t room)
{
    for (char *line = text, *end; line && room; line = end) {
        end = strstr(line, "\n ");
        if (end) *end++ = 0;
        size_t used = holo_text_safe(line, out, room);
        if (used >= room || !end) return;
        out[used] = '\n';
        out += used + 1;
        room -= used + 1;
        if (room) *out = 0;
    }
}

HoloStatus holo_fail_v(HoloError *error, HoloStatus status, const char *format, va_list args)
{
    char reason[200] = "", text[sizeof error->text];
    if (status == HOLO_NO_MEMORY) holo_memory_reason(reason, sizeof reason);
    if (error && !error->status) {
        error->status = status;
        int size      = vsnprintf(text, sizeof text, format, args);
        if (size >= 0 && (size_t)size < sizeof text) snprintf(text + size, sizeof text - (size_t)size, "%s", reason);
        text_show(text, error->text, sizeof error->text);
    }
    return status;
}

HoloStatus holo_fail(HoloError *error, HoloStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status = holo_fail_v(error, status, format, args);
    va_end(args);
    return status;
}

HoloStatus holo_fail_memory(HoloError *error)
{
    char purpose[500];
    holo_memory_purpose(purpose, sizeof purpose);
    return holo_fail(error, HOLO_NO_MEMORY, "out of memory%s", purpose);
}

uint64_t holo_random_next(HoloRandom *random) // splitmix64
{
    uint64_t z = random->state += UINT64_C(0x9E3779B97F4A7C15);
    z          = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z          = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

double holo_random_unit(HoloRandom *random)
{
    return (double)(holo_random_next(random) >> 11) * 0x1p-53;
}

double holo_random_normal(HoloRandom *random) // Box-Muller, one number of the pair
{
    double radius = sqrt(-2 * holo_log(1 - holo_random_unit(random)));
    return radius * holo_cos(6.283185307179586 * holo_random_unit(random));
}
