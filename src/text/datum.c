// datum.c - the values of templates: making them, lists and dicts, and the budget that they are made from.
#include "text/render.h"

#include <stdio.h>
#include <string.h>

// ---- failures, budget, memory

HoloDatum holo_render_fail(HoloRender *r, const char *format, ...)
{
    if (!r->status) {
        char    text[1000];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        r->status = r->line ? holo_fail(r->error, HOLO_BAD_INPUT, "template, line %u: %s", r->line, text)
                            : holo_fail(r->error, HOLO_BAD_INPUT, "%s", text);
    }
    return (HoloDatum){.kind = HOLO_D_UNDEFINED};
}

bool holo_render_spend(HoloRender *r, uint64_t steps)
{
    if (r->status) return false;
    r->steps += steps;
    if (r->steps <= r->limits->steps) return true;
    r->status = holo_fail(r->error, HOLO_REFUSED, "template, line %u: rendering takes more than %llu steps", r->line,
                          (unsigned long long)r->limits->steps);
    return false;
}

bool holo_render_search(HoloRender *r, size_t size, size_t wanted)
{
    return holo_render_spend(r, size / 16 * (1 + wanted / 256));
}

void *holo_render_take(HoloRender *r, size_t size)
{
    if (r->status) return NULL;
    if (size > r->limits->memory - r->memory) {
        r->status =
            holo_fail(r->error, HOLO_REFUSED, "template, line %u: rendering takes more than %zu bytes of memory",
                      r->line, r->limits->memory);
        return NULL;
    }
    void *memory = holo_arena_take_raw(&r->arena, size ? size : 1);
    r->memory += size;
    if (!memory) r->status = holo_fail_memory(r->error);
    return memory;
}

bool holo_render_enter(HoloRender *r)
{
    enum { DEPTH = 1000 };
    if (r->status) return false;
    if (r->depth < DEPTH) return r->depth++, true;
    holo_render_fail(r, "macros or values lie in each other more than %d levels deep", DEPTH);
    return false;
}

// ---- making values

HoloDatum holo_d_undefined(HoloString name)
{
    return (HoloDatum){.kind = HOLO_D_UNDEFINED, .size = (uint32_t)name.size, .text = name.data};
}
HoloDatum holo_d_none(void)
{
    return (HoloDatum){.kind = HOLO_D_NONE};
}
HoloDatum holo_d_bool(bool truth)
{
    return (HoloDatum){.kind = HOLO_D_BOOL, .whole = truth};
}
HoloDatum holo_d_int(int64_t number)
{
    return (HoloDatum){.kind = HOLO_D_INT, .whole = number};
}
HoloDatum holo_d_float(double number)
{
    return (HoloDatum){.kind = HOLO_D_FLOAT, .real = number};
}
HoloDatum holo_d_view(HoloString text)
{
    return (HoloDatum){.kind = HOLO_D_STRING, .size = (uint32_t)text.size, .text = text.data ? text.data : ""};
}

HoloDatum holo_d_string(HoloRender *r, const void *text, size_t size)
{
    char *copy = size < UINT32_MAX / 2 ? holo_render_take(r, size) : NULL;
    if (!copy) return holo_render_fail(r, "a text is too long");
    holo_render_spend(r, size / 64);
    if (size) memcpy(copy, text, size);
    return holo_d_view((HoloString){copy, size});
}

HoloDatum holo_d_grown(HoloRender *r, HoloGrowing *text)
{
    if (text->is_failed && !r->status) r->status = holo_fail_memory(r->error);
    HoloDatum d = holo_d_string(r, text->data, text->size);
    holo_growing_deinit(text);
    return d;
}

// Strings are often made longer bit by bit. The one that was made last has room behind it, so that this takes no time
// that grows with the square of its length. Its beginning stays what it was, for whoever has it.
HoloDatum holo_d_joined(HoloRender *r, HoloDatum left, HoloDatum right)
{
    size_t size = (size_t)left.size + right.size;
    if (!right.size) return left;
    if (size >= UINT32_MAX / 2) return holo_render_fail(r, "a text is too long");
    if (!holo_render_spend(r, right.size / 64)) return left;
    if (!left.size || left.text + left.size != r->tail || r->tail_room < right.size) {
        size_t room = size > 256 ? size * 2 : size;
        char  *text = holo_render_take(r, room);
        if (!text || !holo_render_spend(r, left.size / 64)) return left;
        memcpy(text, left.text, left.size);
        left.text    = text;
        r->tail      = text + left.size;
        r->tail_room = room - left.size;
    }
    memcpy(r->tail, right.text, right.size);
    r->tail += right.size;
    r->tail_room -= right.size;
    left.size = (uint32_t)size;
    return left;
}

HoloDatum holo_d_series(HoloRender *r, HoloDatumKind kind, size_t room)
{
    HoloSeries *series = holo_render_take(r, sizeof *series);
    HoloDatum  *item   = room < UINT32_MAX / 64 ? holo_render_take(r, room * sizeof *item) : NULL;
    if (!series || !item) return holo_render_fail(r, "a list is too long");
    *series = (HoloSeries){item, 0, (uint32_t)room};
    return (HoloDatum){.kind = (uint8_t)kind, .series = series};
}

HoloDatum holo_d_entries(HoloRender *r, HoloDatumKind kind)
{
    HoloEntries *entries = holo_render_take(r, sizeof *entries);
    if (!entries) return (HoloDatum){.kind = HOLO_D_UNDEFINED};
    *entries = (HoloEntries){0};
    return (HoloDatum){.kind = (uint8_t)kind, .entries = entries};
}

HoloDatum holo_d_pair(HoloRender *r, HoloDatum first, HoloDatum second)
{
    HoloDatum pair = holo_d_series(r, HOLO_D_TUPLE, 2);
    if (r->status) return pair;
    holo_series_add(r, pair.series, first);
    holo_series_add(r, pair.series, second);
    return pair;
}

// ---- lists and dicts

static bool grow(HoloRender *r, HoloDatum **item, uint32_t count, uint32_t *room, uint32_t wide)
{
    if (count < *room) return true;
    if (count > UINT32_MAX / 256) return holo_render_fail(r, "a list is too long"), false;
    uint32_t   more = count * 2 + 4;
    HoloDatum *next = holo_render_take(r, (size_t)more * wide * sizeof *next);
    if (!next) return false;
    if (count) memcpy(next, *item, (size_t)count * wide * sizeof *next);
    *item = next;
    *room = more;
    return true;
}

bool holo_series_add(HoloRender *r, HoloSeries *series, HoloDatum item)
{
    if (r->status || !grow(r, &series->item, series->count, &series->room, 1)) return false;
    series->item[series->count++] = item;
    return true;
}

bool holo_series_insert(HoloRender *r, HoloSeries *series, uint32_t at, HoloDatum item)
{
    if (r->status || !holo_render_spend(r, series->count / 8) || !holo_series_add(r, series, item)) return false;
    memmove(series->item + at + 1, series->item + at, (series->count - 1 - at) * sizeof item);
    series->item[at] = item;
    return true;
}

HoloDatum *holo_entries_find(HoloRender *r, const HoloEntries *entries, HoloDatum key)
{
    if (key.kind == HOLO_D_STRING) return holo_entries_find_text(r, entries, holo_d_text(key));
    if (r->status || !holo_render_spend(r, entries->count / 8)) return NULL;
    for (uint32_t i = 0; i < entries->count && !r->status; i++)
        if (holo_d_equal(r, entries->item[2 * i], key)) return &entries->item[2 * i + 1];
    return NULL;
}

HoloDatum *holo_entries_find_text(HoloRender *r, const HoloEntries *entries, HoloString key)
{
    if (r->status || !holo_render_spend(r, entries->count / 8)) return NULL;
    for (uint32_t i = 0; i < entries->count; i++) {
        HoloDatum *at = &entries->item[2 * i];
        if (at->kind == HOLO_D_STRING && at->size == key.size && !memcmp(at->text, key.data, key.size)) return at + 1;
    }
    return NULL;
}

bool holo_entries_set(HoloRender *r, HoloEntries *entries, HoloDatum key, HoloDatum value)
{
    if (r->status) return false;
    if (key.kind == HOLO_D_LIST || key.kind == HOLO_D_DICT)
        return holo_render_fail(r, "a %s cannot be a key of a dict", holo_d_type(key)), false;
    HoloDatum *old = holo_entries_find(r, entries, key);
    if (old) *old = value;
    if (old || r->status) return !r->status;
    if (!grow(r, &entries->item, entries->count, &entries->room, 2)) return false;
    entries->item[2 * entries->count]     = key;
    entries->item[2 * entries->count + 1] = value;
    entries->count++;
    return true;
}

void holo_entries_remove(HoloEntries *entries, const HoloDatum *value)
{
    size_t at = (size_t)(value - entries->item) / 2;
    entries->count--;
    memmove(entries->item + 2 * at, entries->item + 2 * at + 2, (entries->count - at) * 2 * sizeof *value);
}

// ---- sorting

// Merges the sorted halves of items and their keys.
static void merge(HoloRender *r, HoloSeries *s, HoloSeries *key, HoloDatum *work, uint32_t begin, uint32_t end,
                  bool back)
{
    uint32_t   middle = begin + (end - begin) / 2, a = begin, b = middle, n = end - begin;
    HoloDatum *keys = work + n;
    for (uint32_t i = 0; i < n; i++) {
        int      order = a < middle && b < end ? holo_d_order(r, key->item[b], key->item[a]) : 0;
        bool     right = a == middle || (b < end && (back ? order > 0 : order < 0));
        uint32_t from  = right ? b++ : a++;
        work[i]        = s->item[from];
        keys[i]        = key->item[from];
    }
    memcpy(s->item + begin, work, n * sizeof *work);
    memcpy(key->item + begin, keys, n * sizeof *work);
}

static void sort(HoloRender *r, HoloSeries *s, HoloSeries *key, HoloDatum *work, uint32_t begin, uint32_t end,
                 bool back)
{
    if (end - begin < 2 || !holo_render_spend(r, end - begin)) return;
    uint32_t middle = begin + (end - begin) / 2;
    sort(r, s, key, work, begin, middle, back);
    sort(r, s, key, work, middle, end, back);
    if (!r->status) merge(r, s, key, work, begin, end, back);
}

void holo_series_sort(HoloRender *r, HoloSeries *series, HoloSeries *key, bool is_reverse)
{
    HoloDatum *work = holo_render_take(r, (size_t)series->count * 2 * sizeof *work);
    if (work) sort(r, series, key, work, 0, series->count, is_reverse);
}
