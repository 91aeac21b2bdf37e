// stop_text.c - stop strings: finds them in text that arrives in pieces, and holds back what could begin one.
//
// Each string has the table of Knuth, Morris and Pratt: for each beginning of it, the longest shorter one that also ends it.
#include "text/unicode.h"

#include "hologram_text.h"

#include <string.h>

enum { STRINGS_MAX = 64, SIZE_MAX_OF_ONE = 4096 };

typedef struct StopString {
    uint8_t  *text;
    uint16_t *shorter; // [size + 1]
    size_t    size, matched;
} StopString;

struct HoloStopper {
    StopString *string;
    size_t      count;
    HoloGrowing held;  // not shown yet
    size_t      shown; // of `held`, by the last call
    bool        is_stopped;
};

static bool string_make(StopString *s, HoloString from)
{
    s->size    = from.size;
    s->text    = holo_realloc(NULL, from.size);
    s->shorter = holo_realloc(NULL, (from.size + 1) * sizeof *s->shorter);
    if (!s->text || !s->shorter) return false;
    memcpy(s->text, from.data, from.size);
    s->shorter[0] = s->shorter[1] = 0;
    for (size_t i = 1, k = 0; i < from.size; i++) {
        while (k && s->text[k] != s->text[i]) k = s->shorter[k];
        if (s->text[k] == s->text[i]) k++;
        s->shorter[i + 1] = (uint16_t)k;
    }
    return true;
}

HoloStatus holo_stopper_create(const HoloString *strings, size_t count, HoloStopper **out_stopper, HoloError *error)
{
    *out_stopper = NULL;
    if (count > STRINGS_MAX)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "%zu stop strings are too many: there may be %d", count,
                         STRINGS_MAX);
    for (size_t i = 0; i < count; i++)
        if (!strings[i].size || strings[i].size > SIZE_MAX_OF_ONE)
            return holo_fail(error, HOLO_BAD_ARGUMENT, "stop string %zu has %zu bytes: it must have from 1 to %d", i,
                             strings[i].size, SIZE_MAX_OF_ONE);
    HoloStopper *s    = holo_realloc(NULL, sizeof *s);
    StopString  *list = holo_realloc(NULL, count * sizeof *list);
    if (!s || !list) {
        holo_free(s);
        holo_free(list);
        return holo_fail_memory(error);
    }
    *s = (HoloStopper){.string = list, .count = count};
    if (count) memset(list, 0, count * sizeof *list);
    for (size_t i = 0; i < count; i++)
        if (!string_make(&list[i], strings[i])) {
            holo_stopper_destroy(s);
            return holo_fail_memory(error);
        }
    *out_stopper = s;
    return HOLO_OK;
}

void holo_stopper_destroy(HoloStopper *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->count; i++) {
        holo_free(s->string[i].text);
        holo_free(s->string[i].shorter);
    }
    holo_free(s->string);
    holo_growing_deinit(&s->held);
    holo_free(s);
}

void holo_stopper_reset(HoloStopper *s)
{
    for (size_t i = 0; i < s->count; i++) s->string[i].matched = 0;
    s->held.size = s->shown = 0;
    s->is_stopped           = false;
}

// One byte more. Returns the string that is complete now, the longest; -1: none.
static int step(HoloStopper *s, uint8_t byte)
{
    int found = -1;
    for (size_t i = 0; i < s->count; i++) {
        StopString *one = &s->string[i];
        if (one->matched == one->size) one->matched = one->shorter[one->matched];
        while (one->matched && one->text[one->matched] != byte) one->matched = one->shorter[one->matched];
        if (one->text[one->matched] == byte) one->matched++;
        if (one->matched == one->size && (found < 0 || one->size > s->string[found].size)) found = (int)i;
    }
    return found;
}

HoloStatus holo_stopper_add(HoloStopper *s, const char *text, size_t size, HoloString *out_text, int *out_stop,
                            HoloError *error)
{
    *out_text = (HoloString){"", 0};
    *out_stop = -1;
    if (s->held.size) memmove(s->held.data, s->held.data + s->shown, s->held.size - s->shown);
    s->held.size -= s->shown;
    s->shown = 0;
    if (s->is_stopped) return HOLO_OK;
    size_t before = s->held.size, hold = 0;
    holo_growing_add(&s->held, text, size);
    if (s->held.is_failed) return holo_fail_memory(error);
    for (size_t at = before; at < s->held.size; at++) {
        int found = step(s, s->held.data[at]);
        if (found < 0) continue;
        s->is_stopped = true;
        s->held.size  = at + 1;
        s->shown      = at + 1 - s->string[found].size;
        *out_stop     = found;
        *out_text     = (HoloString){(const char *)s->held.data, s->shown};
        return HOLO_OK;
    }
    for (size_t i = 0; i < s->count; i++)
        if (s->string[i].matched > hold) hold = s->string[i].matched;
    s->shown = s->held.size - hold;
    if (s->shown) *out_text = (HoloString){(const char *)s->held.data, s->shown};
    return HOLO_OK;
}

HoloString holo_stopper_end(HoloStopper *s)
{
    HoloString rest = {"", 0};
    if (!s->is_stopped && s->held.size > s->shown)
        rest = (HoloString){(const char *)s->held.data + s->shown, s->held.size - s->shown};
    holo_stopper_reset(s);
    return rest;
}
