// filters_list.c - the filters of templates that work on lists and dicts.
#include "text/render.h"

#include <string.h>

static bool is_given(HoloDatum d)
{
    return d.kind != HOLO_D_ABSENT && d.kind != HOLO_D_NONE;
}

static HoloDatum copied(HoloRender *r, HoloDatum from)
{
    const HoloSeries *items = holo_d_items(r, from);
    HoloDatum         list  = holo_d_series(r, HOLO_D_LIST, items->count);
    for (uint32_t i = 0; i < items->count && holo_render_spend(r, 1); i++)
        holo_series_add(r, list.series, items->item[i]);
    return list;
}

static HoloDatum run_list(HoloRender *r, const HoloDatum *arg)
{
    return copied(r, arg[0]);
}

static HoloDatum run_length(HoloRender *r, const HoloDatum *arg)
{
    int64_t length = holo_d_length(r, arg[0]);
    return length < 0 ? holo_render_fail(r, "a %s has no length", holo_d_type(arg[0])) : holo_d_int(length);
}

static HoloDatum run_first(HoloRender *r, const HoloDatum *arg)
{
    const HoloSeries *s = holo_d_items(r, arg[0]);
    return s->count ? s->item[0] : holo_d_undefined((HoloString){"the first item of nothing", 25});
}
static HoloDatum run_last(HoloRender *r, const HoloDatum *arg)
{
    const HoloSeries *s = holo_d_items(r, arg[0]);
    return s->count ? s->item[s->count - 1] : holo_d_undefined((HoloString){"the last item of nothing", 24});
}

static HoloDatum run_reverse(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum parts[3] = {{0}, {0}, holo_d_int(-1)};
    if (arg[0].kind == HOLO_D_STRING) return holo_d_slice(r, arg[0], parts);
    HoloDatum list = copied(r, arg[0]);
    return r->status ? list : holo_d_slice(r, list, parts);
}

static HoloDatum run_items(HoloRender *r, const HoloDatum *arg)
{
    HoloCallArgs none = {0};
    if (arg[0].kind == HOLO_D_UNDEFINED) return holo_d_series(r, HOLO_D_LIST, 0);
    if (arg[0].kind != HOLO_D_DICT) return holo_render_fail(r, "items needs a dict, and not a %s", holo_d_type(arg[0]));
    return holo_function_call(r, holo_function_find(HOLO_DICT_METHODS, (HoloString){"items", 5}), &arg[0], &none);
}

static HoloDatum run_attr(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum name = holo_d_to_string(r, arg[1]);
    if (arg[0].kind == HOLO_D_NAMESPACE) return holo_d_attribute(r, arg[0], holo_d_text(name));
    if (arg[0].kind == HOLO_D_DICT) return holo_d_undefined(holo_d_text(name)); // keys are no attributes
    return r->status ? name : holo_d_attribute(r, arg[0], holo_d_text(name));
}

// ---- map, select, reject

// What these filters go through. Whatever is false has no items for them.
static const HoloSeries *items_of(HoloRender *r, HoloDatum input)
{
    return holo_d_items(r, holo_d_truth(input) ? input : holo_d_undefined((HoloString){0}));
}

static HoloCallArgs args_from(HoloDatum list, uint32_t begin, HoloDatum named)
{
    HoloCallArgs args = {0};
    if (list.series->count > begin)
        args.list = (HoloSeries){list.series->item + begin, list.series->count - begin, list.series->count - begin};
    if (named.kind == HOLO_D_DICT) args.named = *named.entries;
    return args;
}

static HoloDatum map_attribute(HoloRender *r, HoloDatum input, HoloDatum path, const HoloDatum *otherwise)
{
    const HoloSeries *items = items_of(r, input);
    HoloDatum         list  = holo_d_series(r, HOLO_D_LIST, items->count);
    for (uint32_t i = 0; i < items->count && holo_render_spend(r, 1); i++) {
        HoloDatum value = holo_d_path(r, items->item[i], path);
        holo_series_add(r, list.series, value.kind == HOLO_D_UNDEFINED && otherwise ? *otherwise : value);
    }
    return list;
}

static HoloDatum run_map(HoloRender *r, const HoloDatum *arg)
{
    const HoloDatum *path = holo_entries_find_text(r, arg[2].entries, (HoloString){"attribute", 9});
    if (path && !arg[1].series->count) {
        const HoloDatum *otherwise = holo_entries_find_text(r, arg[2].entries, (HoloString){"default", 7});
        return map_attribute(r, arg[0], *path, otherwise);
    }
    if (!arg[1].series->count || arg[1].series->item[0].kind != HOLO_D_STRING)
        return holo_render_fail(r, "map needs the name of a filter, or attribute=");
    HoloString        name  = holo_d_text(arg[1].series->item[0]);
    HoloCallArgs      args  = args_from(arg[1], 1, arg[2]);
    const HoloSeries *items = items_of(r, arg[0]);
    HoloDatum         list  = holo_d_series(r, HOLO_D_LIST, items->count);
    for (uint32_t i = 0; i < items->count && holo_render_spend(r, 1); i++) {
        HoloDatum value = holo_render_apply(r, HOLO_FILTERS, name, items->item[i], &args);
        if (!r->status) holo_series_add(r, list.series, value);
    }
    return list;
}

// The items for which a test has the wanted answer. With an attribute, it is the item's attribute that is tested.
static HoloDatum selected(HoloRender *r, const HoloDatum *arg, bool has_path, bool wanted)
{
    const HoloSeries *given = arg[1].series, *items = items_of(r, arg[0]);
    HoloDatum         list = holo_d_series(r, HOLO_D_LIST, 0);
    uint32_t          at   = has_path;
    if (given->count < at) return holo_render_fail(r, "the name of an attribute is missing");
    bool         has_test = given->count > at;
    HoloCallArgs args     = args_from(arg[1], at + 1, arg[2]);
    if (has_test && given->item[at].kind != HOLO_D_STRING) return holo_render_fail(r, "a test is named by a text");
    for (uint32_t i = 0; i < items->count && holo_render_spend(r, 1); i++) {
        HoloDatum item = items->item[i], value = has_path ? holo_d_path(r, item, given->item[0]) : item;
        if (has_test && !r->status)
            value = holo_render_apply(r, HOLO_TESTS, holo_d_text(given->item[at]), value, &args);
        if (!r->status && holo_d_truth(value) == wanted) holo_series_add(r, list.series, item);
    }
    return list;
}
static HoloDatum run_select(HoloRender *r, const HoloDatum *arg)
{
    return selected(r, arg, false, true);
}
static HoloDatum run_reject(HoloRender *r, const HoloDatum *arg)
{
    return selected(r, arg, false, false);
}
static HoloDatum run_selectattr(HoloRender *r, const HoloDatum *arg)
{
    return selected(r, arg, true, true);
}
static HoloDatum run_rejectattr(HoloRender *r, const HoloDatum *arg)
{
    return selected(r, arg, true, false);
}

// ---- order

// What an item is compared by: one attribute or several, and strings without regard to case unless asked for.
static HoloDatum key_part(HoloRender *r, HoloDatum item, HoloDatum path, HoloDatum minds_case)
{
    HoloDatum key = is_given(path) ? holo_d_path(r, item, path) : item;
    if (key.kind != HOLO_D_STRING || holo_d_truth(minds_case)) return key;
    HoloGrowing out = {0};
    holo_render_spend(r, key.size / 16);
    holo_case_write(HOLO_LOWER, holo_d_text(key), &out);
    return holo_d_grown(r, &out);
}

static HoloDatum key_of(HoloRender *r, HoloDatum item, HoloDatum path, HoloDatum minds_case)
{
    if (path.kind != HOLO_D_STRING || !memchr(path.text, ',', path.size)) return key_part(r, item, path, minds_case);
    HoloDatum keys = holo_d_series(r, HOLO_D_TUPLE, 2);
    for (HoloString left = holo_d_text(path); left.size && !r->status;) {
        const char *comma = memchr(left.data, ',', left.size);
        size_t      size  = comma ? (size_t)(comma - left.data) : left.size;
        HoloDatum   part  = holo_d_view((HoloString){left.data, size});
        holo_series_add(r, keys.series, key_part(r, item, part, minds_case));
        left = (HoloString){left.data + size + (comma != NULL), left.size - size - (comma != NULL)};
    }
    return keys;
}

static HoloDatum keys_of(HoloRender *r, HoloDatum list, HoloDatum path, HoloDatum minds_case)
{
    HoloDatum keys = holo_d_series(r, HOLO_D_LIST, r->status ? 0 : list.series->count);
    for (uint32_t i = 0; !r->status && i < list.series->count && holo_render_spend(r, 1); i++)
        holo_series_add(r, keys.series, key_of(r, list.series->item[i], path, minds_case));
    return keys;
}

static HoloDatum run_sort(HoloRender *r, const HoloDatum *arg) // reverse, case_sensitive, attribute
{
    HoloDatum list = copied(r, arg[0]), keys = keys_of(r, list, arg[3], arg[2]);
    if (!r->status) holo_series_sort(r, list.series, keys.series, holo_d_truth(arg[1]));
    return list;
}

static HoloDatum run_unique(HoloRender *r, const HoloDatum *arg) // case_sensitive, attribute
{
    HoloDatum list = copied(r, arg[0]), keys = keys_of(r, list, arg[2], arg[1]);
    HoloDatum seen = holo_d_series(r, HOLO_D_LIST, 0), kept = holo_d_series(r, HOLO_D_LIST, 0);
    for (uint32_t i = 0; !r->status && i < list.series->count; i++) {
        if (holo_d_has(r, keys.series->item[i], seen)) continue;
        holo_series_add(r, seen.series, keys.series->item[i]);
        holo_series_add(r, kept.series, list.series->item[i]);
    }
    return kept;
}

static HoloDatum extreme(HoloRender *r, const HoloDatum *arg, int sign) // case_sensitive, attribute
{
    HoloDatum list = copied(r, arg[0]), keys = keys_of(r, list, arg[2], arg[1]);
    uint32_t  best = 0;
    for (uint32_t i = 1; !r->status && i < list.series->count; i++)
        if (holo_d_order(r, keys.series->item[i], keys.series->item[best]) * sign > 0) best = i;
    if (r->status || !list.series->count) return holo_d_undefined((HoloString){"the extreme item of nothing", 27});
    return list.series->item[best];
}
static HoloDatum run_min(HoloRender *r, const HoloDatum *arg)
{
    return extreme(r, arg, -1);
}
static HoloDatum run_max(HoloRender *r, const HoloDatum *arg)
{
    return extreme(r, arg, 1);
}

static HoloDatum run_dictsort(HoloRender *r, const HoloDatum *arg) // case_sensitive, by, reverse
{
    if (arg[0].kind != HOLO_D_DICT) return holo_render_fail(r, "dictsort needs a dict");
    HoloDatum pairs    = run_items(r, arg);
    bool      by_value = holo_d_is_text(arg[2], "value");
    if (is_given(arg[2]) && !by_value && !holo_d_is_text(arg[2], "key"))
        return holo_render_fail(r, "dictsort sorts by 'key' or by 'value'");
    HoloDatum keys = keys_of(r, pairs, holo_d_int(by_value), arg[1]);
    if (!r->status) holo_series_sort(r, pairs.series, keys.series, holo_d_truth(arg[3]));
    return pairs;
}

static HoloDatum run_groupby(HoloRender *r, const HoloDatum *arg) // attribute, default, case_sensitive
{
    HoloDatum list = copied(r, arg[0]), groups = holo_d_series(r, HOLO_D_LIST, 0),
              keys = holo_d_series(r, HOLO_D_LIST, 0);
    for (uint32_t i = 0; !r->status && i < list.series->count && holo_render_spend(r, 1); i++) {
        HoloDatum key = key_of(r, list.series->item[i], arg[1], arg[3]);
        holo_series_add(r, keys.series, key.kind == HOLO_D_UNDEFINED && is_given(arg[2]) ? arg[2] : key);
    }
    if (!r->status) holo_series_sort(r, list.series, keys.series, false);
    for (uint32_t i = 0; !r->status && i < list.series->count; i++) {
        HoloDatum item = list.series->item[i];
        if (!i || !holo_d_equal(r, keys.series->item[i], keys.series->item[i - 1])) {
            HoloDatum own  = holo_d_path(r, item, arg[1]);
            HoloDatum pair = holo_d_pair(r, own.kind == HOLO_D_UNDEFINED && is_given(arg[2]) ? arg[2] : own,
                                         holo_d_series(r, HOLO_D_LIST, 0));
            pair.flags |= HOLO_D_GROUP;
            holo_series_add(r, groups.series, pair);
        }
        if (r->status) break;
        holo_series_add(r, groups.series->item[groups.series->count - 1].series->item[1].series, item);
    }
    return groups;
}

// ---- pieces

static HoloDatum run_batch(HoloRender *r, const HoloDatum *arg) // linecount, fill_with
{
    const HoloSeries *items = holo_d_items(r, arg[0]);
    HoloDatum         rows = holo_d_series(r, HOLO_D_LIST, 0), row = {0};
    int64_t           size;
    if (!holo_d_int_of(r, arg[1], "the size of a batch", &size)) return rows;
    if (size < 1) return holo_render_fail(r, "a batch has at least one item");
    for (uint32_t i = 0; i < items->count && holo_render_spend(r, 1); i++) {
        if (i % size == 0) {
            row = holo_d_series(r, HOLO_D_LIST, 0);
            if (!r->status) holo_series_add(r, rows.series, row);
        }
        if (!r->status) holo_series_add(r, row.series, items->item[i]);
    }
    while (!r->status && is_given(arg[2]) && row.kind && row.series->count < size && holo_render_spend(r, 1))
        holo_series_add(r, row.series, arg[2]);
    return rows;
}

static HoloDatum run_slice(HoloRender *r, const HoloDatum *arg) // slices, fill_with
{
    const HoloSeries *items = holo_d_items(r, arg[0]);
    HoloDatum         rows  = holo_d_series(r, HOLO_D_LIST, 0);
    int64_t           count;
    if (!holo_d_int_of(r, arg[1], "the number of slices", &count)) return rows;
    if (count < 1) return holo_render_fail(r, "there is at least one slice");
    int64_t each = items->count / count, more = items->count % count, at = 0;
    for (int64_t i = 0; i < count && holo_render_spend(r, 1); i++) {
        HoloDatum row = holo_d_series(r, HOLO_D_LIST, 0);
        for (int64_t k = 0; k < each + (i < more) && holo_render_spend(r, 1); k++)
            holo_series_add(r, row.series, items->item[at++]);
        if (!r->status && is_given(arg[2]) && i >= more) holo_series_add(r, row.series, arg[2]);
        if (!r->status) holo_series_add(r, rows.series, row);
    }
    return rows;
}

const HoloFunction holo_filters_list[] = {
    {"list", "", run_list},
    {"length", "", run_length},
    {"count", "", run_length},
    {"first", "", run_first},
    {"last", "", run_last},
    {"reverse", "", run_reverse},
    {"items", "", run_items},
    {"attr", "!name", run_attr},
    {"map", "*,**", run_map},
    {"select", "*,**", run_select},
    {"reject", "*,**", run_reject},
    {"selectattr", "*,**", run_selectattr},
    {"rejectattr", "*,**", run_rejectattr},
    {"sort", "reverse,case_sensitive,attribute", run_sort},
    {"unique", "case_sensitive,attribute", run_unique},
    {"min", "case_sensitive,attribute", run_min},
    {"max", "case_sensitive,attribute", run_max},
    {"dictsort", "case_sensitive,by,reverse", run_dictsort},
    {"groupby", "!attribute,default,case_sensitive", run_groupby},
    {"batch", "!linecount,fill_with", run_batch},
    {"slice", "!slices,fill_with", run_slice},
    {0},
};
