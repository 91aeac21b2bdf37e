// family_function.c - the functions of a family's text: has("name"), sqrt(x), count(list), f32(number) and so on.
#include "base/math/math.h"
#include "models/family.h"

#include <math.h>
#include <string.h>

static HoloItem item_float(double f)
{
    return (HoloItem){.kind = HOLO_ITEM_FLOAT, .f = f};
}

static HoloItem item_int(int64_t i)
{
    return (HoloItem){.kind = HOLO_ITEM_INT, .i = i};
}

// ---- weights and lists

static HoloStatus has(HoloFamilyReader *r, const HoloItem *args, HoloItem *out)
{
    HoloFamilyWeight weight;
    if (args->kind != HOLO_ITEM_TEXT) return holo_family_wrong(r, "has() takes a text");
    *out = item_int(holo_family_has_weight(r, args->text, &weight));
    return HOLO_OK;
}

// Size i of a weight.
static HoloStatus size_of(HoloFamilyReader *r, const HoloItem *args, HoloItem *out)
{
    HoloFamilyWeight weight;
    if (args[0].kind != HOLO_ITEM_TEXT || args[1].kind != HOLO_ITEM_INT)
        return holo_family_wrong(r, "size() takes the name of a weight and a number");
    if (!holo_family_has_weight(r, args[0].text, &weight) || args[1].i < 0 || args[1].i >= weight.tensor.rank)
        return holo_fail(r->scan.error, HOLO_BAD_MODEL, "%s needs the weight '%.200s', which is missing",
                         r->architecture, args[0].text);
    *out = item_int(weight.tensor.dim[args[1].i]);
    return HOLO_OK;
}

static HoloStatus count(HoloFamilyReader *r, const HoloItem *args, HoloItem *out)
{
    if (!holo_item_is_list(args)) return holo_family_wrong(r, "count() takes a list");
    *out = item_int(args->count);
    return HOLO_OK;
}

static HoloStatus contains(HoloFamilyReader *r, const HoloItem *args, HoloItem *out)
{
    if (!holo_item_is_list(args)) return holo_family_wrong(r, "contains() takes a list");
    *out = item_int(0);
    for (int i = 0; i < args[0].count && !out->i; i++) {
        HoloItem item = holo_item_at(&args[0], i);
        if (item.kind == HOLO_ITEM_TEXT && args[1].kind == HOLO_ITEM_TEXT)
            out->i = !strcmp(item.text, args[1].text);
        else if (holo_item_is_number(&item) && holo_item_is_number(&args[1]))
            out->i = holo_item_number(&item) == holo_item_number(&args[1]);
    }
    return HOLO_OK;
}

// Item i of a list. A list of one item has that for every i.
static HoloStatus each(HoloFamilyReader *r, const HoloItem *args, HoloItem *out)
{
    if (!holo_item_is_list(args) || args[1].kind != HOLO_ITEM_INT)
        return holo_family_wrong(r, "each() takes a list and a number");
    int64_t at = args[0].count == 1 ? 0 : args[1].i;
    if (at < 0 || at >= args[0].count)
        return holo_fail(r->scan.error, HOLO_BAD_MODEL, "the model's config has a list with too few items");
    *out = holo_item_at(&args[0], (int)at);
    return HOLO_OK;
}

static HoloStatus ends(HoloFamilyReader *r, const HoloItem *args, HoloItem *out)
{
    if (args[0].kind != HOLO_ITEM_TEXT || args[1].kind != HOLO_ITEM_TEXT)
        return holo_family_wrong(r, "ends() takes two texts");
    size_t size = strlen(args[0].text), end = strlen(args[1].text);
    *out = item_int(size >= end && !strcmp(args[0].text + size - end, args[1].text));
    return HOLO_OK;
}

// ---- numbers

static HoloStatus least(HoloFamilyReader *r, const HoloItem *args, HoloItem *out)
{
    (void)r;
    *out = args[holo_item_number(&args[1]) < holo_item_number(&args[0])];
    return HOLO_OK;
}

static HoloStatus most(HoloFamilyReader *r, const HoloItem *args, HoloItem *out)
{
    (void)r;
    *out = args[holo_item_number(&args[1]) > holo_item_number(&args[0])];
    return HOLO_OK;
}

static HoloStatus power(HoloFamilyReader *r, const HoloItem *args, HoloItem *out)
{
    (void)r;
    *out = item_float(holo_pow(holo_item_number(&args[0]), holo_item_number(&args[1])));
    return HOLO_OK;
}

// Whole numbers come out of these two.
static HoloStatus rounded(HoloFamilyReader *r, double x, HoloItem *out)
{
    if (!(fabs(x) < 9e18)) return holo_family_wrong(r, "%g does not fit into 64 bits", x);
    *out = item_int((int64_t)x);
    return HOLO_OK;
}

static HoloStatus down(HoloFamilyReader *r, const HoloItem *args, HoloItem *out)
{
    return rounded(r, floor(holo_item_number(args)), out);
}

static HoloStatus up(HoloFamilyReader *r, const HoloItem *args, HoloItem *out)
{
    return rounded(r, ceil(holo_item_number(args)), out);
}

static HoloStatus root(HoloFamilyReader *r, const HoloItem *args, HoloItem *out)
{
    (void)r;
    *out = item_float(sqrt(holo_item_number(args)));
    return HOLO_OK;
}

static HoloStatus logarithm(HoloFamilyReader *r, const HoloItem *args, HoloItem *out)
{
    (void)r;
    *out = item_float(holo_log(holo_item_number(args)));
    return HOLO_OK;
}

static const struct Function {
    const char *name;
    int         count;         // of arguments
    bool        is_of_numbers; // all of them must be
    HoloStatus (*apply)(HoloFamilyReader *r, const HoloItem *args, HoloItem *out);
} functions[] = {
    {"each", 2, false, each},         {"has", 1, false, has},   {"size", 2, false, size_of}, {"count", 1, false, count},
    {"contains", 2, false, contains}, {"ends", 2, false, ends}, {"min", 2, true, least},     {"max", 2, true, most},
    {"pow", 2, true, power},          {"floor", 1, true, down}, {"ceil", 1, true, up},       {"sqrt", 1, true, root},
    {"log", 1, true, logarithm},      {NULL, 0, false, NULL},
};

// f32(0.5), i64([1, 2]): a constant of that type.
static HoloStatus typed(HoloFamilyReader *r, HoloDtype dtype, const HoloItem *args, int count_, HoloItem *out)
{
    if (count_ != 1 || args->kind == HOLO_ITEM_VALUE)
        return holo_family_wrong(r, "a constant is made of one number or list");
    *out = (HoloItem){.kind = HOLO_ITEM_VALUE};
    return holo_family_constant(r, args, dtype, &out->value);
}

HoloStatus holo_family_function(HoloFamilyReader *r, HoloItem *out, bool *out_is)
{
    const char            *start = r->scan.at, *name;
    const struct Function *f     = functions;
    HoloItem               args[HOLO_FAMILY_ARGS];
    int                    given;
    *out_is = false;
    HOLO_TRY(holo_family_word(r, &name));
    while (f->name && strcmp(f->name, name)) f++;
    HoloDtype dtype = holo_dtype_find(name);
    if ((!f->name && !dtype) || *r->scan.at != '(') return r->scan.at = start, HOLO_OK;
    *out_is = true;
    HOLO_TRY(holo_family_args(r, args, &given));
    if (!f->name) return typed(r, dtype, args, given, out);
    if (given != f->count) return holo_family_wrong(r, "%s() takes %d arguments", name, f->count);
    for (int i = 0; i < given && f->is_of_numbers; i++)
        if (!holo_item_is_number(&args[i])) return holo_family_wrong(r, "%s() takes numbers", name);
    return f->apply(r, args, out);
}
