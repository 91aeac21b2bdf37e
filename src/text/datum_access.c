// datum_access.c - attributes, items, slices and arithmetic of values.
#include "text/render.h"

#include <math.h>
#include <string.h>

// ---- attributes and items

static HoloDatum bound(HoloRender *r, HoloDatum object, const HoloFunction *function)
{
    HoloMethod *method = holo_render_take(r, sizeof *method);
    if (!method) return holo_d_none();
    *method = (HoloMethod){object, function};
    return (HoloDatum){.kind = HOLO_D_METHOD, .method = method};
}

static HoloDatum loop_attribute(HoloDatum object, HoloString name)
{
    const HoloLoopState *loop = object.loop;
    const HoloSeries    *s    = loop->items;
    int64_t              at = loop->at, count = s->count;
    const struct {
        const char *name;
        HoloDatum   value;
    } attributes[] = {
        {"index", holo_d_int(at + 1)},
        {"index0", holo_d_int(at)},
        {"revindex", holo_d_int(count - at)},
        {"revindex0", holo_d_int(count - at - 1)},
        {"first", holo_d_bool(at == 0)},
        {"last", holo_d_bool(at + 1 >= count)},
        {"length", holo_d_int(count)},
        {"depth", holo_d_int(loop->depth + 1)},
        {"depth0", holo_d_int(loop->depth)},
        {"previtem", at > 0 && at <= count ? s->item[at - 1] : holo_d_undefined(name)},
        {"nextitem", at + 1 < count ? s->item[at + 1] : holo_d_undefined(name)},
    };
    for (int i = 0; i < HOLO_COUNT(attributes); i++)
        if (strlen(attributes[i].name) == name.size && !memcmp(attributes[i].name, name.data, name.size))
            return attributes[i].value;
    return holo_d_undefined(name);
}

// The methods of a kind of value; HOLO_FUNCTION_GROUPS: it has none.
static HoloFunctionGroup methods_of(HoloDatum d)
{
    switch ((HoloDatumKind)d.kind) {
    case HOLO_D_STRING: return HOLO_STRING_METHODS;
    case HOLO_D_LIST: return HOLO_LIST_METHODS;
    case HOLO_D_TUPLE: return HOLO_TUPLE_METHODS;
    case HOLO_D_DICT: return HOLO_DICT_METHODS;
    case HOLO_D_LOOP: return HOLO_LOOP_METHODS;
    case HOLO_D_CYCLER: return HOLO_CYCLER_METHODS;
    default: return HOLO_FUNCTION_GROUPS;
    }
}

static HoloDatum undefined_failure(HoloRender *r, HoloDatum object)
{
    return holo_render_fail(r, "'%.*s' is undefined: it has no attributes and items", (int)object.size,
                            object.text ? object.text : "");
}

static HoloDatum group_attribute(HoloDatum object, HoloString name)
{
    if (name.size == 7 && !memcmp(name.data, "grouper", 7)) return object.series->item[0];
    if (name.size == 4 && !memcmp(name.data, "list", 4)) return object.series->item[1];
    return holo_d_undefined(name);
}

// A method or another attribute; undefined: there is none.
static HoloDatum own_attribute(HoloRender *r, HoloDatum object, HoloString name)
{
    HoloFunctionGroup   group    = methods_of(object);
    const HoloFunction *function = group < HOLO_FUNCTION_GROUPS ? holo_function_find(group, name) : NULL;
    if (function) return bound(r, object, function);
    if (object.kind == HOLO_D_LOOP) return loop_attribute(object, name);
    if (object.kind == HOLO_D_TUPLE && object.flags & HOLO_D_GROUP) return group_attribute(object, name);
    if (object.kind == HOLO_D_CYCLER && !object.cycle->is_joiner && name.size == 7 && !memcmp(name.data, "current", 7))
        return object.cycle->items->item[object.cycle->at];
    if (object.kind == HOLO_D_MACRO && name.size == 4 && !memcmp(name.data, "name", 4)) {
        uint32_t macro = object.macro->name;
        if (macro == HOLO_NO_NODE) return holo_d_none();
        return holo_d_view((HoloString){r->t->text + r->t->name[macro].start, r->t->name[macro].count});
    }
    return holo_d_undefined(name);
}

HoloDatum holo_d_attribute(HoloRender *r, HoloDatum object, HoloString name)
{
    if (r->status) return holo_d_none();
    if (object.kind == HOLO_D_UNDEFINED) return undefined_failure(r, object);
    HoloDatum found = own_attribute(r, object, name);
    if (found.kind != HOLO_D_UNDEFINED || (object.kind != HOLO_D_DICT && object.kind != HOLO_D_NAMESPACE)) return found;
    const HoloDatum *value = holo_entries_find_text(r, object.entries, name);
    return value ? *value : found;
}

static HoloDatum series_item(HoloDatum object, int64_t at)
{
    const HoloSeries *s = object.series;
    if (at < 0) at += s->count;
    if (at < 0 || at >= s->count) return holo_d_undefined((HoloString){"item of a list", 14});
    return s->item[at];
}

static HoloDatum text_item(HoloRender *r, HoloString text, int64_t at)
{
    int step;
    if (at < 0) at += (int64_t)holo_text_length(r, text);
    size_t from = at < 0 ? text.size : holo_text_offset(text, (size_t)at);
    holo_render_spend(r, from / 64);
    if (from >= text.size) return holo_d_undefined((HoloString){"character of a text", 19});
    holo_code_read((const uint8_t *)text.data + from, text.size - from, &step);
    return holo_d_view((HoloString){text.data + from, (size_t)step});
}

HoloDatum holo_d_item(HoloRender *r, HoloDatum object, HoloDatum which)
{
    if (r->status) return holo_d_none();
    if (object.kind == HOLO_D_UNDEFINED) return undefined_failure(r, object);
    if (object.kind == HOLO_D_DICT) {
        const HoloDatum *value = holo_entries_find(r, object.entries, which);
        if (value) return *value;
    }
    bool is_series = object.kind == HOLO_D_LIST || object.kind == HOLO_D_TUPLE;
    if (is_series && holo_d_is_whole(which)) return series_item(object, which.whole);
    if (object.kind == HOLO_D_STRING && holo_d_is_whole(which)) return text_item(r, holo_d_text(object), which.whole);
    if (which.kind != HOLO_D_STRING) return holo_d_undefined((HoloString){"item", 4});
    if (object.kind == HOLO_D_NAMESPACE) return holo_d_attribute(r, object, holo_d_text(which));
    return own_attribute(r, object, holo_d_text(which));
}

// Start, stop and step of a slice as numbers within a length, as Python's slice.indices.
static bool slice_bounds(HoloRender *r, const HoloDatum part[3], int64_t length, int64_t bound[3])
{
    bool has[3];
    for (int i = 0; i < 3; i++) {
        has[i] = part[i].kind != HOLO_D_ABSENT && part[i].kind != HOLO_D_NONE;
        if (has[i] && !holo_d_int_of(r, part[i], "a part of a slice", &bound[i])) return false;
    }
    if (!has[2]) bound[2] = 1;
    if (!bound[2]) return holo_render_fail(r, "the step of a slice is 0"), false;
    bool    back = bound[2] < 0;
    int64_t low = back ? -1 : 0, high = back ? length - 1 : length;
    for (int i = 0; i < 2; i++) {
        if (!has[i]) bound[i] = (i == 0) == back ? high : low;
        if (has[i] && bound[i] < 0) bound[i] = bound[i] + length < low ? low : bound[i] + length;
        if (bound[i] > high) bound[i] = high;
    }
    return true;
}

HoloDatum holo_d_slice(HoloRender *r, HoloDatum object, const HoloDatum part[3])
{
    int64_t bound[3];
    bool    is_text = object.kind == HOLO_D_STRING;
    if (object.kind == HOLO_D_UNDEFINED) return undefined_failure(r, object);
    if (!is_text && object.kind != HOLO_D_LIST && object.kind != HOLO_D_TUPLE)
        return holo_render_fail(r, "a %s has no slices", holo_d_type(object));
    if (!slice_bounds(r, part, holo_d_length(r, object), bound)) return holo_d_none();
    if (is_text && bound[2] == 1) {
        HoloString text = holo_d_text(object);
        size_t     from = holo_text_offset(text, (size_t)bound[0]);
        size_t     to   = bound[1] > bound[0] ? holo_text_offset(text, (size_t)bound[1]) : from;
        object.text += from;
        object.size = (uint32_t)(to - from);
        return object;
    }
    const HoloSeries *s    = holo_d_items(r, object);
    HoloDatum         list = holo_d_series(r, is_text ? HOLO_D_LIST : (HoloDatumKind)object.kind, 0);
    for (int64_t at = bound[0]; !r->status && (bound[2] > 0 ? at < bound[1] : at > bound[1]);) {
        holo_render_spend(r, 1);
        holo_series_add(r, list.series, s->item[at]);
        if (!holo_add(at, bound[2], &at)) break;
    }
    if (!is_text || r->status) return list;
    HoloGrowing out = {0};
    for (uint32_t i = 0; i < list.series->count; i++)
        holo_growing_add(&out, list.series->item[i].text, list.series->item[i].size);
    return holo_d_grown(r, &out);
}

HoloDatum holo_d_path(HoloRender *r, HoloDatum object, HoloDatum path)
{
    if (holo_d_is_whole(path)) return holo_d_item(r, object, path);
    if (path.kind != HOLO_D_STRING) return holo_render_fail(r, "an attribute is named by a text");
    const char *at = path.text, *end = at + path.size;
    for (bool more = true; more && !r->status;) {
        const char *dot    = memchr(at, '.', (size_t)(end - at));
        const char *stop   = dot ? dot : end;
        int64_t     number = 0;
        bool        digits = stop > at;
        for (const char *p = at; p < stop; p++)
            digits = digits && *p >= '0' && *p <= '9' && holo_mul(number, 10, &number) &&
                     holo_add(number, *p - '0', &number);
        HoloString name = {at, (size_t)(stop - at)};
        object          = holo_d_item(r, object, digits ? holo_d_int(number) : holo_d_view(name));
        if (dot) at = dot + 1;
        more = dot != NULL;
    }
    return object;
}

// ---- arithmetic

static HoloDatum too_large(HoloRender *r)
{
    return holo_render_fail(r, "a number is too large: whole numbers have 64 bits");
}

static HoloDatum whole_power(HoloRender *r, int64_t base, int64_t exponent)
{
    int64_t result = 1;
    if (exponent < 0)
        return base ? holo_d_float(pow((double)base, (double)exponent)) : holo_render_fail(r, "0 has no such power");
    if (base == 0 || base == 1) return holo_d_int(exponent ? base : 1);
    if (base == -1) return holo_d_int(exponent % 2 ? -1 : 1);
    for (int64_t i = 0; i < exponent; i++)
        if (!holo_mul(result, base, &result)) return too_large(r);
    return holo_d_int(result);
}

static HoloDatum whole_math(HoloRender *r, HoloTemplateOp op, int64_t a, int64_t b)
{
    int64_t n = 0;
    if ((op == HOLO_TO_DIV || op == HOLO_TO_FLOOR_DIV || op == HOLO_TO_MOD) && !b)
        return holo_render_fail(r, "a division by 0");
    if ((op == HOLO_TO_FLOOR_DIV || op == HOLO_TO_MOD) && b == -1) { // INT64_MIN / -1 does not fit
        if (op == HOLO_TO_MOD) return holo_d_int(0);
        return holo_mul(a, -1, &n) ? holo_d_int(n) : too_large(r);
    }
    switch (op) {
    case HOLO_TO_ADD: return holo_add(a, b, &n) ? holo_d_int(n) : too_large(r);
    case HOLO_TO_SUB: return !__builtin_sub_overflow(a, b, &n) ? holo_d_int(n) : too_large(r);
    case HOLO_TO_MUL: return holo_mul(a, b, &n) ? holo_d_int(n) : too_large(r);
    case HOLO_TO_DIV: return holo_d_float((double)a / (double)b);
    case HOLO_TO_FLOOR_DIV: return holo_d_int(a / b - (a % b && (a < 0) != (b < 0)));
    case HOLO_TO_MOD: return holo_d_int(a % b && (a < 0) != (b < 0) ? a % b + b : a % b);
    default: return whole_power(r, a, b);
    }
}

// From the rest, as Python has it: 3 // 0.1 is 29.
static double floor_quotient(double a, double b)
{
    double rest = fmod(a, b), quotient = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
    double whole = floor(quotient);
    return quotient - whole > 0.5 ? whole + 1 : whole;
}

static HoloDatum real_math(HoloRender *r, HoloTemplateOp op, double a, double b)
{
    if ((op == HOLO_TO_DIV || op == HOLO_TO_FLOOR_DIV || op == HOLO_TO_MOD) && b == 0)
        return holo_render_fail(r, "a division by 0");
    double rest;
    switch (op) {
    case HOLO_TO_ADD: return holo_d_float(a + b);
    case HOLO_TO_SUB: return holo_d_float(a - b);
    case HOLO_TO_MUL: return holo_d_float(a * b);
    case HOLO_TO_DIV: return holo_d_float(a / b);
    case HOLO_TO_FLOOR_DIV: return holo_d_float(floor_quotient(a, b));
    case HOLO_TO_MOD: rest = fmod(a, b); return holo_d_float(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
    default: return holo_d_float(pow(a, b));
    }
}

// A text or a list, so many times.
static HoloDatum repeated(HoloRender *r, HoloDatum what, int64_t times)
{
    if (what.kind == HOLO_D_STRING) {
        HoloDatum all = holo_d_view((HoloString){"", 0});
        for (int64_t i = 0; what.size && i < times && holo_render_spend(r, 1); i++) all = holo_d_joined(r, all, what);
        all.flags = what.flags;
        return all;
    }
    HoloDatum list = holo_d_series(r, (HoloDatumKind)what.kind, 0);
    for (int64_t i = 0; what.series->count && i < times && holo_render_spend(r, 1); i++)
        for (uint32_t k = 0, count = what.series->count; k < count && holo_render_spend(r, 1); k++)
            holo_series_add(r, list.series, what.series->item[k]);
    return list;
}

static HoloDatum added(HoloRender *r, HoloDatum a, HoloDatum b)
{
    if (a.kind == HOLO_D_STRING) {
        bool safe = (a.flags | b.flags) & HOLO_D_SAFE;
        if (safe) a = holo_d_escape(r, a), b = holo_d_escape(r, b);
        HoloDatum all = holo_d_joined(r, a, b);
        all.flags     = safe ? HOLO_D_SAFE : 0;
        return all;
    }
    HoloDatum list = holo_d_series(r, (HoloDatumKind)a.kind, (size_t)a.series->count + b.series->count);
    for (int i = 0; i < 2; i++) {
        const HoloSeries *s = i ? b.series : a.series;
        for (uint32_t k = 0; k < s->count && holo_render_spend(r, 1); k++) holo_series_add(r, list.series, s->item[k]);
    }
    return list;
}

HoloDatum holo_d_binary(HoloRender *r, HoloTemplateOp op, HoloDatum a, HoloDatum b)
{
    static const char *const signs[] = {"+", "-", "*", "/", "//", "%", "**"};
    bool                     a_row   = a.kind == HOLO_D_STRING || a.kind == HOLO_D_LIST || a.kind == HOLO_D_TUPLE;
    bool                     b_row   = b.kind == HOLO_D_STRING || b.kind == HOLO_D_LIST || b.kind == HOLO_D_TUPLE;
    if (r->status) return holo_d_none();
    if (op > HOLO_TO_POW) return holo_render_fail(r, "the compiled template is damaged: an operator");
    if (holo_d_is_whole(a) && holo_d_is_whole(b)) return whole_math(r, op, a.whole, b.whole);
    if (holo_d_is_number(a) && holo_d_is_number(b)) return real_math(r, op, holo_d_real(a), holo_d_real(b));
    if (op == HOLO_TO_ADD && a_row && a.kind == b.kind) return added(r, a, b);
    if (op == HOLO_TO_MUL && a_row && holo_d_is_whole(b)) return repeated(r, a, b.whole);
    if (op == HOLO_TO_MUL && b_row && holo_d_is_whole(a)) return repeated(r, b, a.whole);
    if (op == HOLO_TO_MOD && a.kind == HOLO_D_STRING) return holo_format_percent(r, holo_d_text(a), b);
    HoloDatum odd = a.kind == HOLO_D_UNDEFINED ? a : b;
    if (odd.kind == HOLO_D_UNDEFINED)
        return holo_render_fail(r, "'%.*s' is undefined, and %s needs a value", (int)odd.size, odd.text ? odd.text : "",
                                signs[op]);
    return holo_render_fail(r, "a %s %s a %s is not possible", holo_d_type(a), signs[op], holo_d_type(b));
}
