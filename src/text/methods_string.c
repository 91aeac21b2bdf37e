// methods_string.c - the methods of strings, as Python has them.
#include "text/render.h"

#include "base/bytes.h"

#include <string.h>

// A part of a string; it shares the bytes.
static HoloDatum part(HoloDatum s, size_t from, size_t to)
{
    s.text += from;
    s.size = (uint32_t)(to - from);
    return s;
}

// Whether an argument is a string; None and what is absent are not. Fails for anything else.
static bool has_text(HoloRender *r, HoloDatum d)
{
    if (d.kind == HOLO_D_STRING) return true;
    if (d.kind != HOLO_D_ABSENT && d.kind != HOLO_D_NONE)
        holo_render_fail(r, "a text is needed, and not a %s", holo_d_type(d));
    return false;
}

static HoloString needed(HoloRender *r, HoloDatum d)
{
    if (d.kind == HOLO_D_STRING) return holo_d_text(d);
    holo_render_fail(r, "a text is needed, and not a %s", holo_d_type(d));
    return (HoloString){"", 0};
}

static int64_t number_or(HoloRender *r, HoloDatum d, int64_t otherwise)
{
    int64_t n = otherwise;
    if (d.kind != HOLO_D_ABSENT && d.kind != HOLO_D_NONE) holo_d_int_of(r, d, "an argument", &n);
    return n;
}

// ---- stripping

static bool is_space(uint32_t code)
{
    return holo_is_white(code) || (code >= 0x1C && code <= 0x1F);
}

// Whether a code point is one of `set`, or white space if there is no set.
static bool strips(uint32_t code, const HoloString *set)
{
    int step;
    if (!set) return is_space(code);
    for (size_t at = 0; at < set->size; at += (size_t)step)
        if (holo_code_read((const uint8_t *)set->data + at, set->size - at, &step) == code) return true;
    return false;
}

static HoloDatum stripped(HoloRender *r, const HoloDatum *arg, bool left, bool right)
{
    HoloDatum         s     = arg[0];
    HoloString        chars = {0};
    const HoloString *set   = NULL;
    int               step;
    size_t            from = 0, to = s.size;
    if (has_text(r, arg[1])) chars = holo_d_text(arg[1]), set = &chars;
    if (!holo_render_spend(r, s.size / 64 + (uint64_t)s.size / 64 * chars.size)) return s;
    while (left && from < to && strips(holo_code_read((const uint8_t *)s.text + from, to - from, &step), set))
        from += (size_t)step;
    while (right && to > from) {
        size_t last = to - 1;
        while (last > from && ((uint8_t)s.text[last] & 0xC0) == 0x80) last--;
        if (!strips(holo_code_read((const uint8_t *)s.text + last, to - last, &step), set)) break;
        to = last;
    }
    return part(s, from, to);
}

static HoloDatum run_strip(HoloRender *r, const HoloDatum *arg)
{
    return stripped(r, arg, true, true);
}
static HoloDatum run_lstrip(HoloRender *r, const HoloDatum *arg)
{
    return stripped(r, arg, true, false);
}
static HoloDatum run_rstrip(HoloRender *r, const HoloDatum *arg)
{
    return stripped(r, arg, false, true);
}

static bool begins(HoloDatum s, HoloString with)
{
    return s.size >= with.size && !memcmp(s.text, with.data, with.size);
}
static bool ends(HoloDatum s, HoloString with)
{
    return s.size >= with.size && !memcmp(s.text + s.size - with.size, with.data, with.size);
}

static HoloDatum run_removeprefix(HoloRender *r, const HoloDatum *arg)
{
    HoloString with = needed(r, arg[1]);
    return begins(arg[0], with) ? part(arg[0], with.size, arg[0].size) : arg[0];
}
static HoloDatum run_removesuffix(HoloRender *r, const HoloDatum *arg)
{
    HoloString with = needed(r, arg[1]);
    return ends(arg[0], with) ? part(arg[0], 0, arg[0].size - with.size) : arg[0];
}

// startswith and endswith take a text, or a tuple of texts.
static HoloDatum any_of(HoloRender *r, const HoloDatum *arg, bool (*is)(HoloDatum, HoloString))
{
    if (arg[1].kind != HOLO_D_TUPLE) return holo_d_bool(is(arg[0], needed(r, arg[1])));
    for (uint32_t i = 0; i < arg[1].series->count && holo_render_spend(r, 1); i++)
        if (is(arg[0], needed(r, arg[1].series->item[i]))) return holo_d_bool(true);
    return holo_d_bool(false);
}
static HoloDatum run_startswith(HoloRender *r, const HoloDatum *arg)
{
    return any_of(r, arg, begins);
}
static HoloDatum run_endswith(HoloRender *r, const HoloDatum *arg)
{
    return any_of(r, arg, ends);
}

// ---- splitting

// Splits at white space, from the left or the right, at most so many times; -1: no limit.
static HoloDatum split_white(HoloRender *r, HoloDatum s, int64_t most, bool from_right)
{
    HoloDatum list = holo_d_series(r, HOLO_D_LIST, 0), trimmed, arg[2] = {s};
    while (!r->status && (trimmed = stripped(r, arg, !from_right, from_right)).size) {
        size_t from = 0, to = trimmed.size, last;
        int    step;
        bool   is_last = most == 0;
        if (!is_last && !from_right) {
            for (to = 0; to < trimmed.size; to += (size_t)step)
                if (is_space(holo_code_read((const uint8_t *)trimmed.text + to, trimmed.size - to, &step))) break;
        } else if (!is_last) {
            for (from = trimmed.size; from > 0; from = last) {
                for (last = from - 1; last > 0 && ((uint8_t)trimmed.text[last] & 0xC0) == 0x80;) last--;
                if (is_space(holo_code_read((const uint8_t *)trimmed.text + last, from - last, &step))) break;
            }
        }
        HoloDatum word = part(trimmed, from, to);
        if (is_last) word = stripped(r, (HoloDatum[2]){word}, !from_right, from_right);
        if (from_right)
            holo_series_insert(r, list.series, 0, word);
        else
            holo_series_add(r, list.series, word);
        if (is_last || !holo_render_spend(r, 1)) break;
        arg[0] = from_right ? part(trimmed, 0, from) : part(trimmed, to, trimmed.size);
        most -= most > 0;
    }
    return list;
}

// The last place of a text; NULL: it is not there.
static const char *find_last(const char *text, size_t size, HoloString what)
{
    for (size_t at = size < what.size ? 0 : size - what.size + 1; at > 0; at--)
        if (!memcmp(text + at - 1, what.data, what.size)) return text + at - 1;
    return NULL;
}

static HoloDatum split(HoloRender *r, const HoloDatum *arg, bool from_right)
{
    HoloDatum s    = arg[0];
    int64_t   most = number_or(r, arg[2], -1);
    if (!has_text(r, arg[1])) return r->status ? s : split_white(r, s, most, from_right);
    HoloString by   = holo_d_text(arg[1]);
    HoloDatum  list = holo_d_series(r, HOLO_D_LIST, 0);
    if (!by.size) return holo_render_fail(r, "a text cannot be split at nothing");
    if (!holo_render_search(r, s.size, by.size)) return s;
    for (; holo_render_spend(r, 1); most -= most > 0) {
        const char *found = NULL;
        if (most && from_right) found = find_last(s.text, s.size, by);
        if (most && !from_right) found = holo_bytes_find(s.text, s.size, by.data, by.size);
        if (!found) break;
        size_t at = (size_t)(found - s.text);
        if (from_right)
            holo_series_add(r, list.series, part(s, at + by.size, s.size)), s = part(s, 0, at);
        else
            holo_series_add(r, list.series, part(s, 0, at)), s = part(s, at + by.size, s.size);
    }
    if (r->status) return list;
    holo_series_add(r, list.series, s);
    for (uint32_t i = 0, k = list.series->count - 1; from_right && i < k; i++, k--) {
        HoloDatum swap       = list.series->item[i];
        list.series->item[i] = list.series->item[k];
        list.series->item[k] = swap;
    }
    return list;
}
static HoloDatum run_split(HoloRender *r, const HoloDatum *arg)
{
    return split(r, arg, false);
}
static HoloDatum run_rsplit(HoloRender *r, const HoloDatum *arg)
{
    return split(r, arg, true);
}

static bool ends_line(uint32_t code)
{
    return (code >= 10 && code <= 13) || (code >= 0x1C && code <= 0x1E) || code == 0x85 || code == 0x2028 ||
           code == 0x2029;
}

static HoloDatum run_splitlines(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum s = arg[0], list = holo_d_series(r, HOLO_D_LIST, 0);
    bool      keeps = holo_d_truth(arg[1]);
    int       step;
    for (size_t at = 0, begin = 0; at < s.size && holo_render_spend(r, 1); begin = at) {
        size_t end = s.size;
        for (; at < s.size; at += (size_t)step) {
            uint32_t code = holo_code_read((const uint8_t *)s.text + at, s.size - at, &step);
            if (!ends_line(code)) continue;
            end = at;
            at += (size_t)step + (code == '\r' && at + 1 < s.size && s.text[at + 1] == '\n');
            break;
        }
        holo_series_add(r, list.series, part(s, begin, keeps ? at : end));
    }
    return list;
}

static HoloDatum run_partition(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum  s = arg[0], list = holo_d_series(r, HOLO_D_TUPLE, 3);
    HoloString by = needed(r, arg[1]);
    if (!holo_render_search(r, s.size, by.size)) return list;
    const char *found = holo_bytes_find(s.text, s.size, by.data, by.size);
    size_t      at    = found ? (size_t)(found - s.text) : s.size;
    holo_series_add(r, list.series, part(s, 0, at));
    holo_series_add(r, list.series, part(s, at, at + (found ? by.size : 0)));
    holo_series_add(r, list.series, part(s, at + (found ? by.size : 0), s.size));
    return list;
}

// ---- finding

static int64_t find(HoloRender *r, const HoloDatum *arg, bool from_right)
{
    HoloString s = holo_d_text(arg[0]), what = needed(r, arg[1]);
    HoloDatum  bounds[3] = {arg[2], arg[3]};
    if (!holo_render_search(r, s.size, what.size)) return -1;
    HoloDatum   within = holo_d_slice(r, arg[0], bounds);
    const char *found  = r->status    ? NULL
                         : from_right ? find_last(within.text, within.size, what)
                                      : holo_bytes_find(within.text, within.size, what.data, what.size);
    return found ? (int64_t)holo_text_length(r, (HoloString){s.data, (size_t)(found - s.data)}) : -1;
}
static HoloDatum run_find(HoloRender *r, const HoloDatum *arg)
{
    return holo_d_int(find(r, arg, false));
}
static HoloDatum run_rfind(HoloRender *r, const HoloDatum *arg)
{
    return holo_d_int(find(r, arg, true));
}
static HoloDatum run_index(HoloRender *r, const HoloDatum *arg)
{
    int64_t at = find(r, arg, false);
    return at < 0 ? holo_render_fail(r, "index: the text is not there") : holo_d_int(at);
}
static HoloDatum run_rindex(HoloRender *r, const HoloDatum *arg)
{
    int64_t at = find(r, arg, true);
    return at < 0 ? holo_render_fail(r, "rindex: the text is not there") : holo_d_int(at);
}

static HoloDatum run_count(HoloRender *r, const HoloDatum *arg)
{
    HoloString  s = holo_d_text(arg[0]), what = needed(r, arg[1]);
    const char *at = s.data, *end = s.data + s.size, *found;
    int64_t     count = 0;
    if (!what.size) return holo_d_int((int64_t)holo_text_length(r, s) + 1);
    if (!holo_render_search(r, s.size, what.size)) return holo_d_none();
    for (; (found = holo_bytes_find(at, (size_t)(end - at), what.data, what.size)); at = found + what.size) count++;
    return holo_d_int(count);
}

// ---- making others

// Copies characters one by one, each with the text in front of it: Python's replace of nothing.
static void replace_nothing(HoloGrowing *out, HoloString s, HoloString by, int64_t most)
{
    int step;
    for (size_t at = 0; at <= s.size; at += (size_t)step) {
        if (most-- != 0) holo_growing_add(out, by.data, by.size);
        if (at == s.size) break;
        holo_code_read((const uint8_t *)s.data + at, s.size - at, &step);
        holo_growing_add(out, s.data + at, (size_t)step);
    }
}

static HoloDatum run_replace(HoloRender *r, const HoloDatum *arg)
{
    HoloString  s = holo_d_text(arg[0]), old = needed(r, arg[1]), by = needed(r, arg[2]);
    int64_t     most = number_or(r, arg[3], -1);
    HoloGrowing out  = {0};
    const char *at = s.data, *end = s.data + s.size, *found;
    if (!holo_render_search(r, s.size, old.size)) return holo_d_none();
    if (!old.size) {
        if (!holo_render_spend(r, s.size * (1 + by.size / 64))) return holo_d_none();
        replace_nothing(&out, s, by, most);
        return holo_d_grown(r, &out);
    }
    for (; most && (found = holo_bytes_find(at, (size_t)(end - at), old.data, old.size)); at = found + old.size) {
        if (!holo_render_spend(r, 1 + by.size / 64) || out.size > r->limits->output) break;
        holo_growing_add(&out, at, (size_t)(found - at));
        holo_growing_add(&out, by.data, by.size);
        most -= most > 0;
    }
    if (out.size > r->limits->output) holo_render_fail(r, "a text is too long");
    holo_growing_add(&out, at, (size_t)(end - at));
    return holo_d_grown(r, &out);
}

static HoloDatum cased(HoloRender *r, HoloDatum s, HoloLetterCase to)
{
    HoloGrowing out = {0};
    if (!holo_render_spend(r, s.size / 16)) return s;
    holo_case_write(to, holo_d_text(s), &out);
    HoloDatum d = holo_d_grown(r, &out);
    d.flags     = s.flags;
    return d;
}
static HoloDatum run_upper(HoloRender *r, const HoloDatum *arg)
{
    return cased(r, arg[0], HOLO_UPPER);
}
static HoloDatum run_lower(HoloRender *r, const HoloDatum *arg)
{
    return cased(r, arg[0], HOLO_LOWER);
}

// The first letter of every word large, or of the text alone.
static HoloDatum titled(HoloRender *r, HoloDatum s, bool every_word)
{
    HoloGrowing out    = {0};
    bool        begins = true;
    int         step;
    if (!holo_render_spend(r, s.size / 16)) return s;
    for (size_t at = 0; at < s.size; at += (size_t)step) {
        uint32_t code = holo_code_read((const uint8_t *)s.text + at, s.size - at, &step);
        holo_case_write(begins ? HOLO_TITLE : HOLO_LOWER, (HoloString){s.text + at, (size_t)step}, &out);
        int category = holo_unicode(code)->category;
        begins       = every_word && !(category >= HOLO_LU && category <= HOLO_LT);
    }
    return holo_d_grown(r, &out);
}
static HoloDatum run_title(HoloRender *r, const HoloDatum *arg)
{
    return titled(r, arg[0], true);
}
static HoloDatum run_capitalize(HoloRender *r, const HoloDatum *arg)
{
    return titled(r, arg[0], false);
}

static HoloDatum run_join(HoloRender *r, const HoloDatum *arg)
{
    const HoloSeries *items = holo_d_items(r, arg[1]);
    HoloDatum         all   = holo_d_view((HoloString){"", 0});
    for (uint32_t i = 0; i < items->count && holo_render_spend(r, 1); i++) {
        HoloString item = needed(r, items->item[i]);
        if (i) all = holo_d_joined(r, all, arg[0]);
        all = holo_d_joined(r, all, holo_d_view(item));
    }
    all.flags = 0;
    return all;
}

static HoloDatum run_zfill(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum s     = arg[0];
    int64_t   width = number_or(r, arg[1], 0), size = (int64_t)holo_text_length(r, holo_d_text(s));
    bool      sign = s.size && (*s.text == '-' || *s.text == '+');
    if (r->status || width <= size) return s;
    HoloDatum zeros = holo_d_binary(r, HOLO_TO_MUL, holo_d_view((HoloString){"0", 1}), holo_d_int(width - size));
    HoloDatum front = holo_d_joined(r, holo_d_string(r, s.text, sign), zeros);
    return r->status ? s : holo_d_joined(r, front, part(s, sign, s.size));
}

static HoloDatum run_format(HoloRender *r, const HoloDatum *arg)
{
    return holo_format_braces(r, holo_d_text(arg[0]), arg[1].series, arg[2].entries);
}

const HoloFunction holo_string_methods[] = {
    {"strip", "chars", run_strip},
    {"lstrip", "chars", run_lstrip},
    {"rstrip", "chars", run_rstrip},
    {"removeprefix", "!prefix", run_removeprefix},
    {"removesuffix", "!suffix", run_removesuffix},
    {"startswith", "!prefix", run_startswith},
    {"endswith", "!suffix", run_endswith},
    {"split", "sep,maxsplit", run_split},
    {"rsplit", "sep,maxsplit", run_rsplit},
    {"splitlines", "keepends", run_splitlines},
    {"partition", "!sep", run_partition},
    {"find", "!sub,start,end", run_find},
    {"rfind", "!sub,start,end", run_rfind},
    {"index", "!sub,start,end", run_index},
    {"rindex", "!sub,start,end", run_rindex},
    {"count", "!sub", run_count},
    {"replace", "!old,!new,count", run_replace},
    {"upper", "", run_upper},
    {"lower", "", run_lower},
    {"casefold", "", run_lower},
    {"title", "", run_title},
    {"capitalize", "", run_capitalize},
    {"join", "!items", run_join},
    {"zfill", "!width", run_zfill},
    {"format", "*,**", run_format},
    {0},
};

// ---- questions

// Whether a string has characters and all of them are so; `any` says whether one of them is what it is about.
static HoloDatum all_are(HoloRender *r, HoloDatum s, bool (*is)(const HoloUnicodeRecord *, uint32_t, bool *any))
{
    bool any = false;
    int  step;
    if (!holo_render_spend(r, s.size / 16)) return s;
    for (size_t at = 0; at < s.size; at += (size_t)step) {
        uint32_t code = holo_code_read((const uint8_t *)s.text + at, s.size - at, &step);
        if (!is(holo_unicode(code), code, &any)) return holo_d_bool(false);
    }
    return holo_d_bool(any);
}

static bool is_letter(const HoloUnicodeRecord *u, uint32_t code, bool *any)
{
    (void)code;
    return *any = u->category >= HOLO_LU && u->category <= HOLO_LO;
}
static bool is_digit(const HoloUnicodeRecord *u, uint32_t code, bool *any)
{
    bool raised = code == 0xB2 || code == 0xB3 || code == 0xB9 || (code >= 0x2070 && code <= 0x2089);
    return *any = u->category == HOLO_ND || (u->category == HOLO_NO && raised);
}
static bool is_decimal(const HoloUnicodeRecord *u, uint32_t code, bool *any)
{
    (void)code;
    return *any = u->category == HOLO_ND;
}
static bool is_number(const HoloUnicodeRecord *u, uint32_t code, bool *any)
{
    (void)code;
    return *any = u->category >= HOLO_ND && u->category <= HOLO_NO;
}
static bool is_either(const HoloUnicodeRecord *u, uint32_t code, bool *any)
{
    return is_letter(u, code, any) || is_number(u, code, any);
}
static bool is_blank(const HoloUnicodeRecord *u, uint32_t code, bool *any)
{
    (void)u;
    return *any = is_space(code);
}
static bool is_small(const HoloUnicodeRecord *u, uint32_t code, bool *any)
{
    (void)code;
    *any = *any || u->flags & HOLO_LOWERCASE;
    return !(u->flags & HOLO_UPPERCASE) && u->category != HOLO_LT;
}
static bool is_large(const HoloUnicodeRecord *u, uint32_t code, bool *any)
{
    (void)code;
    *any = *any || u->flags & HOLO_UPPERCASE;
    return !(u->flags & HOLO_LOWERCASE) && u->category != HOLO_LT;
}

#define QUESTION(name, is)                                           \
    static HoloDatum ask_##name(HoloRender *r, const HoloDatum *arg) \
    {                                                                \
        return all_are(r, arg[0], is);                               \
    }
QUESTION(alpha, is_letter)
QUESTION(digit, is_digit)
QUESTION(decimal, is_decimal)
QUESTION(numeric, is_number)
QUESTION(alnum, is_either)
QUESTION(space, is_blank)
QUESTION(lower, is_small)
QUESTION(upper, is_large)

const HoloFunction holo_string_questions[] = {
    {"isalpha", "", ask_alpha},     {"isdigit", "", ask_digit}, {"isdecimal", "", ask_decimal},
    {"isnumeric", "", ask_numeric}, {"isalnum", "", ask_alnum}, {"isspace", "", ask_space},
    {"islower", "", ask_lower},     {"isupper", "", ask_upper}, {0},
};
