// filters_text.c - the filters of templates that make text.
#include "text/render.h"

#include <string.h>

// Many filters are methods of strings that take anything.
static HoloDatum method(HoloRender *r, const char *name, const HoloDatum *arg, uint32_t count)
{
    HoloDatum    text = holo_d_to_string(r, arg[0]);
    HoloCallArgs args = {0};
    if (r->status) return text;
    for (uint32_t i = 1; i <= count && arg[i].kind != HOLO_D_ABSENT; i++) holo_series_add(r, &args.list, arg[i]);
    return holo_function_call(r, holo_function_find(HOLO_STRING_METHODS, (HoloString){name, strlen(name)}), &text,
                              &args);
}

static HoloDatum run_trim(HoloRender *r, const HoloDatum *arg)
{
    return method(r, "strip", arg, 1);
}
static HoloDatum run_upper(HoloRender *r, const HoloDatum *arg)
{
    return method(r, "upper", arg, 0);
}
static HoloDatum run_lower(HoloRender *r, const HoloDatum *arg)
{
    return method(r, "lower", arg, 0);
}
static HoloDatum run_capitalize(HoloRender *r, const HoloDatum *arg)
{
    return method(r, "capitalize", arg, 0);
}
static HoloDatum run_split(HoloRender *r, const HoloDatum *arg)
{
    return method(r, "split", arg, 2);
}

static HoloDatum run_replace(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum texts[4] = {arg[0], holo_d_to_string(r, arg[1]), holo_d_to_string(r, arg[2]), arg[3]};
    return method(r, "replace", texts, 3);
}

// A word begins behind white space, a hyphen and some brackets. That is Jinja's rule, and not Python's.
static HoloDatum run_title(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum   s      = holo_d_to_string(r, arg[0]);
    HoloGrowing out    = {0};
    bool        begins = true;
    int         step;
    if (r->status || !holo_render_spend(r, s.size / 16)) return s;
    for (size_t at = 0; at < s.size; at += (size_t)step) {
        uint32_t code = holo_code_read((const uint8_t *)s.text + at, s.size - at, &step);
        holo_case_write(begins ? HOLO_UPPER : HOLO_LOWER, (HoloString){s.text + at, (size_t)step}, &out);
        begins = holo_is_white(code) || (code < 128 && code && strchr("-({[<", (int)code));
    }
    return holo_d_grown(r, &out);
}

static HoloDatum run_string(HoloRender *r, const HoloDatum *arg)
{
    return holo_d_to_string(r, arg[0]);
}

static HoloDatum run_safe(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum text = holo_d_to_string(r, arg[0]);
    text.flags |= HOLO_D_SAFE;
    return text;
}

static HoloDatum run_escape(HoloRender *r, const HoloDatum *arg)
{
    return holo_d_escape(r, arg[0]);
}

static HoloDatum run_join(HoloRender *r, const HoloDatum *arg)
{
    const HoloSeries *items = holo_d_items(r, arg[0]);
    HoloDatum         all = holo_d_view((HoloString){"", 0}), between = holo_d_view((HoloString){"", 0});
    if (arg[1].kind != HOLO_D_ABSENT) between = holo_d_to_string(r, arg[1]);
    bool has_path = arg[2].kind != HOLO_D_ABSENT && arg[2].kind != HOLO_D_NONE;
    for (uint32_t i = 0; i < items->count && holo_render_spend(r, 1); i++) {
        HoloDatum item = has_path ? holo_d_path(r, items->item[i], arg[2]) : items->item[i];
        item           = holo_d_to_string(r, item);
        if (r->status) return all;
        if (i) all = holo_d_joined(r, all, between);
        all = holo_d_joined(r, all, item);
    }
    all.flags = 0;
    return all;
}

// What is put in front of lines: so many blanks, or a text.
static HoloDatum indentation(HoloRender *r, HoloDatum width, int64_t otherwise)
{
    if (width.kind == HOLO_D_STRING) return width;
    int64_t count = otherwise;
    if (width.kind != HOLO_D_ABSENT) holo_d_int_of(r, width, "a width", &count);
    return holo_d_binary(r, HOLO_TO_MUL, holo_d_view((HoloString){" ", 1}), holo_d_int(count));
}

static HoloDatum run_indent(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum   s = arg[0], blanks = indentation(r, arg[1], 4);
    bool        first = holo_d_truth(arg[2]), blank = holo_d_truth(arg[3]);
    HoloGrowing out = {0};
    if (s.kind != HOLO_D_STRING) return holo_render_fail(r, "indent needs a text, and not a %s", holo_d_type(s));
    if (r->status) return s;
    for (size_t at = 0, line = 0; at <= s.size && holo_render_spend(r, 1 + blanks.size / 64); line++) {
        const char *end           = at < s.size ? memchr(s.text + at, '\n', s.size - at) : NULL;
        size_t      stop          = end ? (size_t)(end - s.text) : s.size;
        bool        is_last_empty = !end && stop == at && line && !blank;
        if (line ? (stop > at || blank) && !is_last_empty : first) holo_growing_add(&out, blanks.text, blanks.size);
        holo_growing_add(&out, s.text + at, stop - at);
        if (end) holo_growing_add_byte(&out, '\n');
        if (out.size > r->limits->output) holo_render_fail(r, "a text is too long");
        at = stop + 1;
    }
    return holo_d_grown(r, &out);
}

static HoloDatum run_tojson(HoloRender *r, const HoloDatum *arg)
{
    HoloJsonStyle style  = {{", ", 2}, {": ", 2}, {NULL, 0}, holo_d_truth(arg[4]), holo_d_truth(arg[1])};
    HoloGrowing   out    = {0};
    bool          is_set = arg[2].kind != HOLO_D_ABSENT && arg[2].kind != HOLO_D_NONE;
    if (is_set) {
        HoloDatum blanks = indentation(r, arg[2], 0);
        style.indent     = holo_d_text(blanks);
        style.item       = (HoloString){",", 1};
    }
    if (arg[3].kind == HOLO_D_LIST || arg[3].kind == HOLO_D_TUPLE) {
        const HoloSeries *pair = arg[3].series;
        bool              good = pair->count == 2 && pair->item[0].kind == HOLO_D_STRING;
        if (!good || pair->item[1].kind != HOLO_D_STRING) return holo_render_fail(r, "separators are two texts");
        style.item = holo_d_text(pair->item[0]);
        style.key  = holo_d_text(pair->item[1]);
    }
    if (!r->status) holo_d_json_write(r, &out, arg[0], &style);
    return holo_d_grown(r, &out);
}

static HoloDatum run_wordcount(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum s     = holo_d_to_string(r, arg[0]);
    int64_t   count = 0;
    bool      in    = false;
    int       step;
    if (r->status || !holo_render_spend(r, s.size / 16)) return s;
    for (size_t at = 0; at < s.size; at += (size_t)step) {
        uint32_t code = holo_code_read((const uint8_t *)s.text + at, s.size - at, &step);
        int      c    = holo_unicode(code)->category;
        bool     word = code == '_' || (c >= HOLO_LU && c <= HOLO_LO) || (c >= HOLO_ND && c <= HOLO_NO);
        count += word && !in;
        in = word;
    }
    return holo_d_int(count);
}

static HoloDatum run_format(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum s = holo_d_to_string(r, arg[0]);
    if (r->status) return s;
    return holo_format_percent(r, holo_d_text(s), arg[2].entries->count ? arg[2] : arg[1]);
}

static HoloDatum run_center(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum s     = holo_d_to_string(r, arg[0]);
    int64_t   width = 80, size = r->status ? 0 : (int64_t)holo_text_length(r, holo_d_text(s));
    if (arg[1].kind != HOLO_D_ABSENT && !holo_d_int_of(r, arg[1], "a width", &width)) return s;
    int64_t   more = width > size ? width - size : 0, left = more / 2 + (more & width & 1);
    HoloDatum front = indentation(r, holo_d_int(left), 0), behind = indentation(r, holo_d_int(more - left), 0);
    return r->status ? s : holo_d_joined(r, holo_d_joined(r, front, s), behind);
}

const HoloFunction holo_filters_text[] = {
    {"trim", "chars", run_trim},
    {"upper", "", run_upper},
    {"lower", "", run_lower},
    {"title", "", run_title},
    {"capitalize", "", run_capitalize},
    {"replace", "!old,!new,count", run_replace},
    {"join", "d,attribute", run_join},
    {"string", "", run_string},
    {"safe", "", run_safe},
    {"e", "", run_escape},
    {"escape", "", run_escape},
    {"indent", "width,first,blank", run_indent},
    {"tojson", "ensure_ascii,indent,separators,sort_keys", run_tojson},
    {"split", "sep,maxsplit", run_split},
    {"wordcount", "", run_wordcount},
    {"format", "*,**", run_format},
    {"center", "width", run_center},
    {0},
};
