// datum_ask.c - what values are to each other: truth, equality, order, length, iteration, as Python has them.
#include "text/render.h"

#include "base/bytes.h"

#include <math.h>
#include <string.h>

const char *holo_d_type(HoloDatum d)
{
    static const char *const names[HOLO_D_KINDS] = {"missing argument",
                                                    "undefined value",
                                                    "None",
                                                    "bool",
                                                    "int",
                                                    "float",
                                                    "str",
                                                    "list",
                                                    "tuple",
                                                    "dict",
                                                    "namespace",
                                                    "loop",
                                                    "cycler",
                                                    "macro",
                                                    "function",
                                                    "method"};
    return d.kind < HOLO_D_KINDS ? names[d.kind] : "value";
}

bool holo_d_truth(HoloDatum d)
{
    switch ((HoloDatumKind)d.kind) {
    case HOLO_D_ABSENT:
    case HOLO_D_UNDEFINED:
    case HOLO_D_NONE: return false;
    case HOLO_D_BOOL:
    case HOLO_D_INT: return d.whole != 0;
    case HOLO_D_FLOAT: return d.real != 0;
    case HOLO_D_STRING: return d.size != 0;
    case HOLO_D_LIST:
    case HOLO_D_TUPLE: return d.series->count != 0;
    case HOLO_D_DICT: return d.entries->count != 0;
    default: return true;
    }
}

// ---- equality and order

static bool series_equal(HoloRender *r, const HoloSeries *a, const HoloSeries *b)
{
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count && !r->status; i++)
        if (!holo_d_equal(r, a->item[i], b->item[i])) return false;
    return true;
}

static bool entries_equal(HoloRender *r, const HoloEntries *a, const HoloEntries *b)
{
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count && !r->status; i++) {
        const HoloDatum *other = holo_entries_find(r, b, a->item[2 * i]);
        if (!other || !holo_d_equal(r, a->item[2 * i + 1], *other)) return false;
    }
    return true;
}

static bool equal_inside(HoloRender *r, HoloDatum a, HoloDatum b)
{
    if (!holo_render_enter(r)) return false;
    bool same = a.kind == HOLO_D_DICT ? entries_equal(r, a.entries, b.entries) : series_equal(r, a.series, b.series);
    r->depth--;
    return same;
}

bool holo_d_equal(HoloRender *r, HoloDatum a, HoloDatum b)
{
    if (!holo_render_spend(r, 1)) return false;
    if (holo_d_is_whole(a) && holo_d_is_whole(b)) return a.whole == b.whole;
    if (holo_d_is_number(a) && holo_d_is_number(b)) return holo_d_real(a) == holo_d_real(b);
    if (a.kind != b.kind) return false;
    switch ((HoloDatumKind)a.kind) {
    case HOLO_D_STRING: return a.size == b.size && holo_render_spend(r, a.size / 64) && !memcmp(a.text, b.text, a.size);
    case HOLO_D_LIST:
    case HOLO_D_TUPLE:
    case HOLO_D_DICT: return equal_inside(r, a, b);
    case HOLO_D_UNDEFINED:
    case HOLO_D_NONE: return true;
    default: return a.loop == b.loop;
    }
}

static int series_order(HoloRender *r, const HoloSeries *a, const HoloSeries *b)
{
    uint32_t count = a->count < b->count ? a->count : b->count;
    for (uint32_t i = 0; i < count && !r->status; i++)
        if (!holo_d_equal(r, a->item[i], b->item[i])) return holo_d_order(r, a->item[i], b->item[i]);
    return (a->count > b->count) - (a->count < b->count);
}

int holo_d_order(HoloRender *r, HoloDatum a, HoloDatum b)
{
    if (!holo_render_spend(r, 1)) return 0;
    if (holo_d_is_whole(a) && holo_d_is_whole(b)) return (a.whole > b.whole) - (a.whole < b.whole);
    if (holo_d_is_number(a) && holo_d_is_number(b)) {
        double x = holo_d_real(a), y = holo_d_real(b);
        return (x > y) - (x < y);
    }
    if (a.kind == HOLO_D_STRING && b.kind == HOLO_D_STRING) {
        uint32_t size = a.size < b.size ? a.size : b.size;
        if (!holo_render_spend(r, size / 64)) return 0;
        int order = memcmp(a.text, b.text, size); // code points in UTF-8 have the order of their bytes
        return order ? (order > 0) - (order < 0) : (a.size > b.size) - (a.size < b.size);
    }
    if (a.kind == b.kind && (a.kind == HOLO_D_LIST || a.kind == HOLO_D_TUPLE)) {
        if (!holo_render_enter(r)) return 0;
        int order = series_order(r, a.series, b.series);
        r->depth--;
        return order;
    }
    holo_render_fail(r, "a %s and a %s have no order", holo_d_type(a), holo_d_type(b));
    return 0;
}

bool holo_d_compare(HoloRender *r, HoloTemplateOp op, HoloDatum a, HoloDatum b)
{
    bool is_odd = (a.kind == HOLO_D_FLOAT && isnan(a.real)) || (b.kind == HOLO_D_FLOAT && isnan(b.real));
    switch (op) {
    case HOLO_TO_EQ: return holo_d_equal(r, a, b);
    case HOLO_TO_NE: return !holo_d_equal(r, a, b);
    case HOLO_TO_IN: return holo_d_has(r, a, b);
    case HOLO_TO_NOT_IN: return !holo_d_has(r, a, b);
    case HOLO_TO_LT: return holo_d_order(r, a, b) < 0 && !is_odd;
    case HOLO_TO_LE: return holo_d_order(r, a, b) <= 0 && !is_odd;
    case HOLO_TO_GT: return holo_d_order(r, a, b) > 0 && !is_odd;
    case HOLO_TO_GE: return holo_d_order(r, a, b) >= 0 && !is_odd;
    default: return holo_render_fail(r, "the compiled template is damaged: an operator"), false;
    }
}

bool holo_d_has(HoloRender *r, HoloDatum what, HoloDatum in)
{
    switch ((HoloDatumKind)in.kind) {
    case HOLO_D_STRING:
        if (what.kind != HOLO_D_STRING)
            return holo_render_fail(r, "'in' a text looks for a text, and not for a %s", holo_d_type(what)), false;
        return holo_render_search(r, in.size, what.size) &&
               holo_bytes_find(in.text, in.size, what.text, what.size) != NULL;
    case HOLO_D_LIST:
    case HOLO_D_TUPLE:
        for (uint32_t i = 0; i < in.series->count && !r->status; i++)
            if (holo_d_equal(r, in.series->item[i], what)) return true;
        return false;
    case HOLO_D_DICT:
        if (what.kind == HOLO_D_LIST || what.kind == HOLO_D_DICT)
            return holo_render_fail(r, "a %s cannot be a key of a dict", holo_d_type(what)), false;
        return holo_entries_find(r, in.entries, what) != NULL;
    case HOLO_D_UNDEFINED: return false;
    default: return holo_render_fail(r, "'in' needs a text, a list or a dict, and not a %s", holo_d_type(in)), false;
    }
}

// ---- length and iteration

size_t holo_text_length(HoloRender *r, HoloString text)
{
    size_t count = 0;
    int    step;
    holo_render_spend(r, text.size / 64);
    for (size_t at = 0; at < text.size; at += (size_t)step, count++)
        holo_code_read((const uint8_t *)text.data + at, text.size - at, &step);
    return count;
}

size_t holo_text_offset(HoloString text, size_t index)
{
    size_t at = 0;
    int    step;
    for (; at < text.size && index; at += (size_t)step, index--)
        holo_code_read((const uint8_t *)text.data + at, text.size - at, &step);
    return at;
}

int64_t holo_d_length(HoloRender *r, HoloDatum d)
{
    switch ((HoloDatumKind)d.kind) {
    case HOLO_D_STRING: return (int64_t)holo_text_length(r, holo_d_text(d));
    case HOLO_D_LIST:
    case HOLO_D_TUPLE: return d.series->count;
    case HOLO_D_DICT: return d.entries->count;
    case HOLO_D_LOOP: return d.loop->items->count;
    case HOLO_D_UNDEFINED: return 0;
    default: return -1;
    }
}

// An empty list. After a failure there may be no memory for one: then it is part of the render.
static HoloSeries *no_items(HoloRender *r)
{
    r->nothing = (HoloSeries){0};
    return &r->nothing;
}

static HoloSeries *characters(HoloRender *r, HoloString text)
{
    int       step;
    HoloDatum list = holo_d_series(r, HOLO_D_LIST, text.size);
    for (size_t at = 0; at < text.size && holo_render_spend(r, 1); at += (size_t)step) {
        holo_code_read((const uint8_t *)text.data + at, text.size - at, &step);
        holo_series_add(r, list.series, holo_d_view((HoloString){text.data + at, (size_t)step}));
    }
    return r->status ? no_items(r) : list.series;
}

HoloSeries *holo_d_items(HoloRender *r, HoloDatum d)
{
    if (r->status) return no_items(r);
    if (d.kind == HOLO_D_LIST || d.kind == HOLO_D_TUPLE) return d.series;
    if (d.kind == HOLO_D_STRING) return characters(r, holo_d_text(d));
    if (d.kind == HOLO_D_UNDEFINED) return no_items(r);
    if (d.kind != HOLO_D_DICT) {
        holo_render_fail(r, "a %s has no items to go through", holo_d_type(d));
        return no_items(r);
    }
    HoloDatum list = holo_d_series(r, HOLO_D_LIST, d.entries->count);
    for (uint32_t i = 0; i < d.entries->count && holo_render_spend(r, 1); i++)
        holo_series_add(r, list.series, d.entries->item[2 * i]);
    return r->status ? no_items(r) : list.series;
}

bool holo_d_int_of(HoloRender *r, HoloDatum d, const char *what, int64_t *out)
{
    *out = 0;
    if (!holo_d_is_whole(d)) {
        holo_render_fail(r, "%s is a whole number, and not a %s", what, holo_d_type(d));
        return false;
    }
    *out = d.whole;
    return true;
}
