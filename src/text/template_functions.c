// template_functions.c - finds the functions that templates call, and gives them their arguments.
#include "text/render.h"

#include <string.h>

static const HoloFunction *const groups[HOLO_FUNCTION_GROUPS][3] = {
    [HOLO_FILTERS]        = {holo_filters_text, holo_filters_list, holo_filters_number},
    [HOLO_TESTS]          = {holo_template_tests},
    [HOLO_GLOBALS]        = {holo_template_globals},
    [HOLO_STRING_METHODS] = {holo_string_methods, holo_string_questions},
    [HOLO_LIST_METHODS]   = {holo_list_methods},
    [HOLO_TUPLE_METHODS]  = {holo_tuple_methods},
    [HOLO_DICT_METHODS]   = {holo_dict_methods},
    [HOLO_LOOP_METHODS]   = {holo_loop_methods},
    [HOLO_CYCLER_METHODS] = {holo_cycler_methods},
};

static bool is_name(const char *name, HoloString text)
{
    return strlen(name) == text.size && !memcmp(name, text.data, text.size);
}

const HoloFunction *holo_function_find(HoloFunctionGroup group, HoloString name)
{
    for (int i = 0; i < 3 && groups[group][i]; i++)
        for (const HoloFunction *f = groups[group][i]; f->name; f++)
            if (is_name(f->name, name)) return f;
    return NULL;
}

// The next name of a list with commas. False: there is none.
static bool next_param(const char **at, HoloString *out)
{
    if (!**at) return false;
    const char *comma = strchr(*at, ',');
    size_t      size  = comma ? (size_t)(comma - *at) : strlen(*at);
    *out              = (HoloString){*at, size};
    *at += size + (comma != NULL);
    return true;
}

// Arguments that no parameter takes, in a list or a dict.
static HoloDatum rest_of(HoloRender *r, const HoloCallArgs *args, uint32_t begin)
{
    HoloDatum list = holo_d_series(r, HOLO_D_TUPLE, 0);
    for (uint32_t i = begin; i < args->list.count && holo_render_spend(r, 1); i++)
        holo_series_add(r, list.series, args->list.item[i]);
    return list;
}

static HoloDatum all_named(HoloRender *r, const HoloCallArgs *args)
{
    HoloDatum dict = holo_d_entries(r, HOLO_D_DICT);
    for (uint32_t i = 0; i < args->named.count && !r->status; i++)
        holo_entries_set(r, dict.entries, args->named.item[2 * i], args->named.item[2 * i + 1]);
    return dict;
}

HoloDatum holo_function_call(HoloRender *r, const HoloFunction *f, const HoloDatum *self, const HoloCallArgs *args)
{
    HoloDatum   arg[HOLO_FUNCTION_PARAMS + 1] = {{0}}, *next = arg;
    const char *at   = f->params;
    uint32_t    used = 0, named = 0;
    HoloString  param;
    if (r->status) return holo_d_none();
    if (self) *next++ = *self;
    for (; next_param(&at, &param) && !r->status; next++) {
        bool is_needed = *param.data == '!';
        if (is_needed) param.data++, param.size--;
        if (is_name("*", param)) {
            *next = rest_of(r, args, used);
            used  = args->list.count;
        } else if (is_name("**", param)) {
            *next = all_named(r, args);
            named = args->named.count;
        } else {
            const HoloDatum *given = holo_entries_find_text(r, &args->named, param);
            named += given != NULL;
            if (used < args->list.count && !given)
                *next = args->list.item[used++];
            else if (given)
                *next = *given;
            else if (is_needed)
                holo_render_fail(r, "%s needs an argument '%.*s'", f->name, (int)param.size, param.data);
        }
    }
    if (r->status) return holo_d_none();
    if (used < args->list.count) return holo_render_fail(r, "%s is given too many arguments", f->name);
    if (named < args->named.count)
        return holo_render_fail(r, "%s is given a named argument that it does not have", f->name);
    return f->run(r, arg);
}
