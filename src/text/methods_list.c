// methods_list.c - the methods of lists, tuples and dicts, as Python has them.
#include "text/render.h"

#include <string.h>

// ---- lists

static HoloDatum run_append(HoloRender *r, const HoloDatum *arg)
{
    holo_series_add(r, arg[0].series, arg[1]);
    return holo_d_none();
}

static HoloDatum run_extend(HoloRender *r, const HoloDatum *arg)
{
    const HoloSeries *items = holo_d_items(r, arg[1]);
    for (uint32_t i = 0, count = items->count; i < count && holo_render_spend(r, 1); i++)
        holo_series_add(r, arg[0].series, items->item[i]);
    return holo_d_none();
}

static HoloDatum run_insert(HoloRender *r, const HoloDatum *arg)
{
    int64_t at, count = arg[0].series->count;
    if (!holo_d_int_of(r, arg[1], "the place of an item", &at)) return holo_d_none();
    if (at < 0) at = at + count < 0 ? 0 : at + count;
    holo_series_insert(r, arg[0].series, (uint32_t)(at > count ? count : at), arg[2]);
    return holo_d_none();
}

static HoloDatum remove_at(HoloSeries *s, uint32_t at)
{
    HoloDatum item = s->item[at];
    s->count--;
    memmove(s->item + at, s->item + at + 1, (s->count - at) * sizeof item);
    return item;
}

static HoloDatum run_pop(HoloRender *r, const HoloDatum *arg)
{
    int64_t at = -1, count = arg[0].series->count;
    if (arg[1].kind != HOLO_D_ABSENT && !holo_d_int_of(r, arg[1], "the place of an item", &at)) return holo_d_none();
    if (at < 0) at += count;
    if (at < 0 || at >= count) return holo_render_fail(r, "pop: the list has no such item");
    holo_render_spend(r, (uint64_t)(count - at) / 8);
    return remove_at(arg[0].series, (uint32_t)at);
}

static int64_t find(HoloRender *r, HoloDatum list, HoloDatum item)
{
    for (uint32_t i = 0; i < list.series->count && !r->status; i++)
        if (holo_d_equal(r, list.series->item[i], item)) return i;
    return -1;
}

static HoloDatum run_remove(HoloRender *r, const HoloDatum *arg)
{
    int64_t at = find(r, arg[0], arg[1]);
    if (at < 0) return holo_render_fail(r, "remove: the list has no such item");
    remove_at(arg[0].series, (uint32_t)at);
    return holo_d_none();
}

static HoloDatum run_index(HoloRender *r, const HoloDatum *arg)
{
    int64_t at = find(r, arg[0], arg[1]);
    return at < 0 ? holo_render_fail(r, "index: the list has no such item") : holo_d_int(at);
}

static HoloDatum run_count(HoloRender *r, const HoloDatum *arg)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < arg[0].series->count && !r->status; i++)
        count += holo_d_equal(r, arg[0].series->item[i], arg[1]);
    return holo_d_int(count);
}

static HoloDatum run_reverse(HoloRender *r, const HoloDatum *arg)
{
    HoloSeries *s = arg[0].series;
    if (!s->count || !holo_render_spend(r, s->count / 8)) return holo_d_none();
    for (uint32_t i = 0, k = s->count - 1; i < k; i++, k--) {
        HoloDatum swap = s->item[i];
        s->item[i]     = s->item[k];
        s->item[k]     = swap;
    }
    return holo_d_none();
}

static HoloDatum run_clear(HoloRender *r, const HoloDatum *arg)
{
    (void)r;
    arg[0].series->count = 0;
    return holo_d_none();
}

static HoloDatum run_copy(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum copy = holo_d_series(r, HOLO_D_LIST, arg[0].series->count);
    if (!r->status) run_extend(r, (HoloDatum[2]){copy, arg[0]});
    return copy;
}

const HoloFunction holo_list_methods[] = {
    {"append", "!item", run_append},
    {"extend", "!items", run_extend},
    {"insert", "!at,!item", run_insert},
    {"pop", "at", run_pop},
    {"remove", "!item", run_remove},
    {"index", "!item", run_index},
    {"count", "!item", run_count},
    {"reverse", "", run_reverse},
    {"clear", "", run_clear},
    {"copy", "", run_copy},
    {0},
};
const HoloFunction holo_tuple_methods[] = {{"index", "!item", run_index}, {"count", "!item", run_count}, {0}};

// ---- dicts

static HoloDatum run_get(HoloRender *r, const HoloDatum *arg)
{
    const HoloDatum *value = holo_entries_find(r, arg[0].entries, arg[1]);
    return value ? *value : arg[2].kind != HOLO_D_ABSENT ? arg[2] : holo_d_none();
}

static HoloDatum listed(HoloRender *r, const HoloEntries *e, bool keys, bool values)
{
    HoloDatum list = holo_d_series(r, HOLO_D_LIST, e->count);
    for (uint32_t i = 0; i < e->count && holo_render_spend(r, 1); i++) {
        const HoloDatum *pair = &e->item[2 * i];
        holo_series_add(r, list.series, keys && values ? holo_d_pair(r, pair[0], pair[1]) : pair[values]);
    }
    return list;
}
static HoloDatum run_items(HoloRender *r, const HoloDatum *arg)
{
    return listed(r, arg[0].entries, true, true);
}
static HoloDatum run_keys(HoloRender *r, const HoloDatum *arg)
{
    return listed(r, arg[0].entries, true, false);
}
static HoloDatum run_values(HoloRender *r, const HoloDatum *arg)
{
    return listed(r, arg[0].entries, false, true);
}

static HoloDatum run_update(HoloRender *r, const HoloDatum *arg)
{
    for (int i = 1; i < 3; i++) {
        if (arg[i].kind == HOLO_D_ABSENT) continue;
        if (arg[i].kind != HOLO_D_DICT) return holo_render_fail(r, "update needs a dict");
        for (uint32_t k = 0; k < arg[i].entries->count && holo_render_spend(r, 1); k++)
            holo_entries_set(r, arg[0].entries, arg[i].entries->item[2 * k], arg[i].entries->item[2 * k + 1]);
    }
    return holo_d_none();
}

static HoloDatum run_pop_key(HoloRender *r, const HoloDatum *arg)
{
    const HoloDatum *value = holo_entries_find(r, arg[0].entries, arg[1]);
    if (!value && arg[2].kind == HOLO_D_ABSENT) return holo_render_fail(r, "pop: the dict has no such key");
    if (!value) return arg[2];
    HoloDatum popped = *value;
    holo_entries_remove(arg[0].entries, value);
    return popped;
}

static HoloDatum run_setdefault(HoloRender *r, const HoloDatum *arg)
{
    const HoloDatum *value = holo_entries_find(r, arg[0].entries, arg[1]);
    HoloDatum        given = arg[2].kind == HOLO_D_ABSENT ? holo_d_none() : arg[2];
    if (!value) holo_entries_set(r, arg[0].entries, arg[1], given);
    return value ? *value : given;
}

static HoloDatum run_clear_dict(HoloRender *r, const HoloDatum *arg)
{
    (void)r;
    arg[0].entries->count = 0;
    return holo_d_none();
}

static HoloDatum run_copy_dict(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum copy = holo_d_entries(r, HOLO_D_DICT);
    if (!r->status) run_update(r, (HoloDatum[3]){copy, arg[0]});
    return copy;
}

const HoloFunction holo_dict_methods[] = {
    {"get", "!key,default", run_get},
    {"items", "", run_items},
    {"keys", "", run_keys},
    {"values", "", run_values},
    {"update", "from,**", run_update},
    {"pop", "!key,default", run_pop_key},
    {"setdefault", "!key,default", run_setdefault},
    {"clear", "", run_clear_dict},
    {"copy", "", run_copy_dict},
    {0},
};
