// template_globals.c - the functions that templates find by name, methods of loops, and the tests behind `is`.
#include "text/render.h"

#include "base/system.h"

#include <stdio.h>
#include <string.h>

// ---- functions

static HoloDatum run_range(HoloRender *r, const HoloDatum *arg)
{
    enum { MOST = 100000 }; // as in Jinja's sandbox
    int64_t begin = 0, end, step = 1;
    bool    has_begin = arg[1].kind != HOLO_D_ABSENT;
    if (!holo_d_int_of(r, arg[has_begin], "a part of a range", &end)) return holo_d_none();
    if (has_begin && !holo_d_int_of(r, arg[0], "a part of a range", &begin)) return holo_d_none();
    if (arg[2].kind != HOLO_D_ABSENT && !holo_d_int_of(r, arg[2], "a part of a range", &step)) return holo_d_none();
    if (!step) return holo_render_fail(r, "the step of a range is 0");
    HoloDatum list = holo_d_series(r, HOLO_D_LIST, 0);
    while (!r->status && (step > 0 ? begin < end : begin > end)) {
        if (list.series->count == MOST) return holo_render_fail(r, "a range has more than %d numbers", MOST);
        holo_render_spend(r, 1);
        holo_series_add(r, list.series, holo_d_int(begin));
        if (!holo_add(begin, step, &begin)) break;
    }
    return list;
}

// Puts the pairs of a dict, or of a list of pairs, into another dict.
static void put_all(HoloRender *r, HoloEntries *into, HoloDatum from)
{
    if (from.kind == HOLO_D_DICT || from.kind == HOLO_D_NAMESPACE) {
        for (uint32_t i = 0; i < from.entries->count && !r->status; i++)
            holo_entries_set(r, into, from.entries->item[2 * i], from.entries->item[2 * i + 1]);
        return;
    }
    const HoloSeries *items = holo_d_items(r, from);
    for (uint32_t i = 0; i < items->count && !r->status; i++) {
        const HoloSeries *pair = holo_d_items(r, items->item[i]);
        if (!r->status && pair->count != 2) holo_render_fail(r, "a dict is made from pairs");
        if (!r->status) holo_entries_set(r, into, pair->item[0], pair->item[1]);
    }
}

static HoloDatum make_entries(HoloRender *r, const HoloDatum *arg, HoloDatumKind kind)
{
    HoloDatum dict = holo_d_entries(r, kind);
    if (!r->status && arg[0].kind != HOLO_D_ABSENT) put_all(r, dict.entries, arg[0]);
    if (!r->status) put_all(r, dict.entries, arg[1]);
    return dict;
}
static HoloDatum run_dict(HoloRender *r, const HoloDatum *arg)
{
    return make_entries(r, arg, HOLO_D_DICT);
}
static HoloDatum run_namespace(HoloRender *r, const HoloDatum *arg)
{
    return make_entries(r, arg, HOLO_D_NAMESPACE);
}

static HoloDatum run_raise(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum text = holo_d_to_string(r, arg[0]);
    return r->status ? text : holo_render_fail(r, "%.*s", (int)text.size, text.text);
}

static HoloDatum run_lipsum(HoloRender *r, const HoloDatum *arg)
{
    (void)arg;
    return holo_render_fail(r, "lipsum gives other text each time, and is not supported");
}

static HoloDatum make_cycle(HoloRender *r, HoloSeries *items, bool is_joiner)
{
    HoloCycle *cycle = holo_render_take(r, sizeof *cycle);
    if (!cycle) return holo_d_none();
    *cycle = (HoloCycle){items, 0, is_joiner};
    return (HoloDatum){.kind = HOLO_D_CYCLER, .cycle = cycle};
}

static HoloDatum run_joiner(HoloRender *r, const HoloDatum *arg)
{
    HoloDatum items = holo_d_series(r, HOLO_D_LIST, 1);
    if (r->status) return items;
    holo_series_add(r, items.series, arg[0].kind == HOLO_D_ABSENT ? holo_d_view((HoloString){", ", 2}) : arg[0]);
    return make_cycle(r, items.series, true);
}

static HoloDatum run_cycler(HoloRender *r, const HoloDatum *arg)
{
    if (!arg[0].series->count) return holo_render_fail(r, "a cycler needs a value");
    return make_cycle(r, arg[0].series, false);
}

static HoloDatum cycler_next(HoloRender *r, const HoloDatum *arg)
{
    HoloCycle *cycle = arg[0].cycle;
    HoloDatum  value = cycle->items->item[cycle->at];
    if (cycle->is_joiner) return holo_render_fail(r, "a joiner has no next()");
    cycle->at = (cycle->at + 1) % cycle->items->count;
    return value;
}

static HoloDatum cycler_reset(HoloRender *r, const HoloDatum *arg)
{
    (void)r;
    arg[0].cycle->at = 0;
    return holo_d_none();
}

// ---- time

static void time_part(HoloGrowing *out, const struct tm *t, char letter, bool is_bare)
{
    static const char    months[]   = "JanuaryFebruaryMarchAprilMayJuneJulyAugustSeptemberOctoberNovemberDecember";
    static const char    days[]     = "SundayMondayTuesdayWednesdayThursdayFridaySaturday";
    static const uint8_t month_at[] = {0, 7, 15, 20, 25, 28, 32, 36, 42, 51, 58, 66, 74};
    static const uint8_t day_at[]   = {0, 6, 12, 19, 28, 36, 42, 50};
    int                  month      = t->tm_mon < 0 || t->tm_mon > 11 ? 0 : t->tm_mon,
        day                         = t->tm_wday < 0 || t->tm_wday > 6 ? 0 : t->tm_wday;
    const struct {
        char letter;
        int  wide, number;
    } numbers[] = {{'Y', 4, t->tm_year + 1900},
                   {'m', 2, t->tm_mon + 1},
                   {'d', 2, t->tm_mday},
                   {'H', 2, t->tm_hour},
                   {'I', 2, t->tm_hour % 12 ? t->tm_hour % 12 : 12},
                   {'M', 2, t->tm_min},
                   {'S', 2, t->tm_sec},
                   {'j', 3, t->tm_yday + 1},
                   {'y', 2, (t->tm_year + 1900) % 100},
                   {'w', 1, t->tm_wday}};
    char text[24];
    for (int i = 0; i < HOLO_COUNT(numbers); i++) {
        if (numbers[i].letter != letter) continue;
        int size = snprintf(text, sizeof text, "%0*d", is_bare ? 1 : numbers[i].wide, numbers[i].number);
        return holo_growing_add(out, text, (size_t)size);
    }
    if (letter == 'B') return holo_growing_add(out, months + month_at[month], month_at[month + 1] - month_at[month]);
    if (letter == 'b' || letter == 'h') return holo_growing_add(out, months + month_at[month], 3);
    if (letter == 'A') return holo_growing_add(out, days + day_at[day], day_at[day + 1] - day_at[day]);
    if (letter == 'a') return holo_growing_add(out, days + day_at[day], 3);
    if (letter == 'p') return holo_growing_add(out, t->tm_hour < 12 ? "AM" : "PM", 2);
    if (letter == '%') return holo_growing_add_byte(out, '%');
    holo_growing_add_byte(out, '%'); // as libc leaves what it does not know
    holo_growing_add_byte(out, (uint8_t)letter);
}

static HoloDatum run_strftime(HoloRender *r, const HoloDatum *arg)
{
    struct tm        local = {0};
    const struct tm *t     = r->limits->time ? r->limits->time : &local;
    HoloGrowing      out   = {0};
    if (!r->limits->time) holo_local_time(&local);
    HoloDatum format = holo_d_to_string(r, arg[0]);
    if (!holo_render_spend(r, r->status ? 0 : format.size)) return format;
    for (uint32_t i = 0; i < format.size; i++) {
        bool is_bare = i + 2 < format.size && format.text[i + 1] == '-';
        if (format.text[i] != '%' || i + 1 >= format.size) {
            holo_growing_add_byte(&out, (uint8_t)format.text[i]);
            continue;
        }
        i += is_bare ? 2 : 1;
        time_part(&out, t, format.text[i], is_bare);
    }
    return holo_d_grown(r, &out);
}

const HoloFunction holo_template_globals[] = {
    {"range", "!a,b,c", run_range},
    {"dict", "from,**", run_dict},
    {"namespace", "from,**", run_namespace},
    {"raise_exception", "!message", run_raise},
    {"strftime_now", "!format", run_strftime},
    {"joiner", "sep", run_joiner},
    {"cycler", "*", run_cycler},
    {"lipsum", "*,**", run_lipsum},
    {0},
};
const HoloFunction holo_cycler_methods[] = {{"next", "", cycler_next}, {"reset", "", cycler_reset}, {0}};

// ---- methods of loops

static HoloDatum loop_cycle(HoloRender *r, const HoloDatum *arg)
{
    const HoloSeries *s = arg[1].series;
    if (!s->count) return holo_render_fail(r, "loop.cycle needs a value");
    return s->item[arg[0].loop->at % s->count];
}

static HoloDatum loop_changed(HoloRender *r, const HoloDatum *arg)
{
    HoloLoopState *loop = arg[0].loop;
    bool           same = loop->changed.kind != HOLO_D_ABSENT && holo_d_equal(r, loop->changed, arg[1]);
    loop->changed       = arg[1];
    return holo_d_bool(!same);
}

const HoloFunction holo_loop_methods[] = {{"cycle", "*", loop_cycle}, {"changed", "*", loop_changed}, {0}};

// ---- tests

static HoloDatum test_kind(HoloDatum d, HoloDatumKind kind)
{
    return holo_d_bool(d.kind == kind);
}
#define KIND_TEST(name, kind)                                         \
    static HoloDatum test_##name(HoloRender *r, const HoloDatum *arg) \
    {                                                                 \
        (void)r;                                                      \
        return test_kind(arg[0], kind);                               \
    }
KIND_TEST(undefined, HOLO_D_UNDEFINED)
KIND_TEST(none, HOLO_D_NONE)
KIND_TEST(boolean, HOLO_D_BOOL)
KIND_TEST(integer, HOLO_D_INT)
KIND_TEST(float, HOLO_D_FLOAT)
KIND_TEST(string, HOLO_D_STRING)
KIND_TEST(mapping, HOLO_D_DICT)

#define TRUTH_TEST(name, condition)                                   \
    static HoloDatum test_##name(HoloRender *r, const HoloDatum *arg) \
    {                                                                 \
        HoloDatum d = arg[0];                                         \
        (void)r;                                                      \
        return holo_d_bool(condition);                                \
    }
TRUTH_TEST(defined, d.kind != HOLO_D_UNDEFINED)
TRUTH_TEST(true, d.kind == HOLO_D_BOOL && d.whole)
TRUTH_TEST(false, d.kind == HOLO_D_BOOL && !d.whole)
TRUTH_TEST(number, holo_d_is_number(d))
TRUTH_TEST(callable, d.kind == HOLO_D_MACRO || d.kind == HOLO_D_FUNCTION || d.kind == HOLO_D_METHOD)
TRUTH_TEST(escaped, d.kind == HOLO_D_STRING && d.flags & HOLO_D_SAFE)
// An undefined value can be gone through, too: it has no items.
TRUTH_TEST(sequence, d.kind == HOLO_D_UNDEFINED || (d.kind >= HOLO_D_STRING && d.kind <= HOLO_D_DICT))
TRUTH_TEST(filter, d.kind == HOLO_D_STRING && holo_function_find(HOLO_FILTERS, holo_d_text(d)))
TRUTH_TEST(test, d.kind == HOLO_D_STRING && holo_function_find(HOLO_TESTS, holo_d_text(d)))

#define COMPARE_TEST(name, op)                                        \
    static HoloDatum test_##name(HoloRender *r, const HoloDatum *arg) \
    {                                                                 \
        return holo_d_bool(holo_d_compare(r, op, arg[0], arg[1]));    \
    }
COMPARE_TEST(eq, HOLO_TO_EQ)
COMPARE_TEST(ne, HOLO_TO_NE)
COMPARE_TEST(lt, HOLO_TO_LT)
COMPARE_TEST(le, HOLO_TO_LE)
COMPARE_TEST(gt, HOLO_TO_GT)
COMPARE_TEST(ge, HOLO_TO_GE)
COMPARE_TEST(in, HOLO_TO_IN)

static HoloDatum rest_is(HoloRender *r, HoloDatum number, HoloDatum by, int64_t rest)
{
    HoloDatum left = holo_d_binary(r, HOLO_TO_MOD, number, by);
    return holo_d_bool(!r->status && holo_d_is_number(left) && holo_d_real(left) == (double)rest);
}
static HoloDatum test_even(HoloRender *r, const HoloDatum *arg)
{
    return rest_is(r, arg[0], holo_d_int(2), 0);
}
static HoloDatum test_odd(HoloRender *r, const HoloDatum *arg)
{
    return rest_is(r, arg[0], holo_d_int(2), 1);
}
static HoloDatum test_divisible(HoloRender *r, const HoloDatum *arg)
{
    return rest_is(r, arg[0], arg[1], 0);
}

static HoloDatum test_same(HoloRender *r, const HoloDatum *arg)
{
    bool is_shared = arg[0].kind >= HOLO_D_LIST && arg[0].kind <= HOLO_D_DICT;
    if (arg[0].kind != arg[1].kind) return holo_d_bool(false);
    return holo_d_bool(is_shared ? arg[0].series == arg[1].series : holo_d_equal(r, arg[0], arg[1]));
}

static HoloDatum test_case(HoloRender *r, HoloDatum d, const char *name)
{
    HoloCallArgs none = {0};
    d                 = holo_d_to_string(r, d);
    if (r->status) return d;
    return holo_function_call(r, holo_function_find(HOLO_STRING_METHODS, (HoloString){name, strlen(name)}), &d, &none);
}
static HoloDatum test_lower(HoloRender *r, const HoloDatum *arg)
{
    return test_case(r, arg[0], "islower");
}
static HoloDatum test_upper(HoloRender *r, const HoloDatum *arg)
{
    return test_case(r, arg[0], "isupper");
}

const HoloFunction holo_template_tests[] = {
    {"defined", "", test_defined},   {"undefined", "", test_undefined},
    {"none", "", test_none},         {"boolean", "", test_boolean},
    {"true", "", test_true},         {"false", "", test_false},
    {"integer", "", test_integer},   {"float", "", test_float},
    {"number", "", test_number},     {"string", "", test_string},
    {"mapping", "", test_mapping},   {"sequence", "", test_sequence},
    {"iterable", "", test_sequence}, {"callable", "", test_callable},
    {"escaped", "", test_escaped},   {"filter", "", test_filter},
    {"test", "", test_test},         {"lower", "", test_lower},
    {"upper", "", test_upper},       {"even", "", test_even},
    {"odd", "", test_odd},           {"divisibleby", "!num", test_divisible},
    {"sameas", "!other", test_same}, {"in", "!seq", test_in},
    {"eq", "!b", test_eq},           {"equalto", "!b", test_eq},
    {"ne", "!b", test_ne},           {"lt", "!b", test_lt},
    {"lessthan", "!b", test_lt},     {"le", "!b", test_le},
    {"gt", "!b", test_gt},           {"greaterthan", "!b", test_gt},
    {"ge", "!b", test_ge},           {0},
};
