// family_expression.c - expressions of a family's text: numbers, texts, lists, weights, and calls of operators and
// blocks.
#include "models/family.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- arithmetic

typedef enum Sign {
    OR,
    AND,
    EQUAL,
    NOT_EQUAL,
    AT_MOST,
    AT_LEAST,
    BELOW,
    ABOVE,
    PLUS,
    MINUS,
    TIMES,
    FLOOR,
    DIVIDE,
    REST
} Sign;

static const struct {
    const char *token;
    Sign        sign;
    int         level; // higher ones bind more tightly
} signs[] = {
    {"or", OR, 1},       {"and", AND, 2},  {"==", EQUAL, 3}, {"!=", NOT_EQUAL, 3}, {"<=", AT_MOST, 3},
    {">=", AT_LEAST, 3}, {"<", BELOW, 3},  {">", ABOVE, 3},  {"+", PLUS, 4},       {"-", MINUS, 4},
    {"*", TIMES, 5},     {"//", FLOOR, 5}, {"/", DIVIDE, 5}, {"%", REST, 5},
};

enum { NOT_LEVEL = 2 }; // it applies to a whole comparison

static HoloItem item_int(int64_t i)
{
    return (HoloItem){.kind = HOLO_ITEM_INT, .i = i};
}

static HoloStatus compute_ints(HoloFamilyReader *r, Sign sign, int64_t a, int64_t b, int64_t *out)
{
    bool fits = true;
    if ((sign == FLOOR || sign == REST) && b <= 0)
        return holo_family_wrong(r, "%lld is divided by %lld", (long long)a, (long long)b);
    switch (sign) {
    case PLUS: fits = holo_add(a, b, out); break;
    case MINUS: fits = !__builtin_sub_overflow(a, b, out); break;
    case TIMES: fits = holo_mul(a, b, out); break;
    case FLOOR: *out = a / b - (a % b < 0); break;
    default: *out = a % b; break;
    }
    return fits ? HOLO_OK : holo_family_wrong(r, "a number does not fit into 64 bits");
}

static HoloStatus compare(HoloFamilyReader *r, Sign sign, const HoloItem *a, const HoloItem *b, HoloItem *out)
{
    double order;
    if (a->kind == HOLO_ITEM_TEXT && b->kind == HOLO_ITEM_TEXT)
        order = strcmp(a->text, b->text);
    else if (holo_item_is_number(a) && holo_item_is_number(b))
        order = holo_item_number(a) - holo_item_number(b);
    else
        return holo_family_wrong(r, "values of different kinds are compared");
    bool holds[] = {[EQUAL]     = order == 0,
                    [NOT_EQUAL] = order != 0,
                    [AT_MOST]   = order <= 0,
                    [AT_LEAST]  = order >= 0,
                    [BELOW]     = order<0, [ABOVE] = order> 0};
    *out         = item_int(holds[sign]);
    return HOLO_OK;
}

static HoloStatus apply(HoloFamilyReader *r, Sign sign, const HoloItem *a, const HoloItem *b, HoloItem *out)
{
    if (sign == OR || sign == AND) {
        bool x = holo_item_is_true(a), y = holo_item_is_true(b);
        *out = item_int(sign == OR ? x || y : x && y);
        return HOLO_OK;
    }
    if (sign <= ABOVE) return compare(r, sign, a, b, out);
    if (!holo_item_is_number(a) || !holo_item_is_number(b))
        return holo_family_wrong(r, "only numbers can be computed with");
    bool is_whole = a->kind == HOLO_ITEM_INT && b->kind == HOLO_ITEM_INT;
    if (is_whole && sign != DIVIDE) {
        *out = item_int(0);
        return compute_ints(r, sign, a->i, b->i, &out->i);
    }
    double x = holo_item_number(a), y = holo_item_number(b);
    if (sign == FLOOR || sign == REST) return holo_family_wrong(r, "// and %% are for whole numbers");
    *out = (HoloItem){.kind = HOLO_ITEM_FLOAT,
                      .f    = sign == PLUS    ? x + y
                              : sign == MINUS ? x - y
                              : sign == TIMES ? x * y
                                              : x / y};
    return HOLO_OK;
}

// ---- the simplest parts

static HoloStatus read_number(HoloFamilyReader *r, HoloItem *out)
{
    const char *c = r->scan.at;
    while (isdigit((unsigned char)*c)) c++;
    if (*c != '.' && *c != 'e') {
        *out = item_int(0);
        return holo_scan_int(&r->scan, &out->i);
    }
    *out = (HoloItem){.kind = HOLO_ITEM_FLOAT};
    return holo_scan_float(&r->scan, &out->f);
}

// "[a, b]"; `any` if a size may be any number.
static HoloStatus read_list(HoloFamilyReader *r, int64_t *list, int room, int *out_count)
{
    *out_count = 0;
    HOLO_TRY(holo_family_expect(r, "["));
    while (!holo_family_accept(r, "]")) {
        HoloItem item;
        if (*out_count) HOLO_TRY(holo_family_expect(r, ","));
        HOLO_TRY(holo_family_expression(r, &item));
        if (item.kind != HOLO_ITEM_INT || *out_count == room)
            return holo_family_wrong(r, "a list has at most %d whole numbers", room);
        list[(*out_count)++] = item.i;
    }
    return HOLO_OK;
}

static HoloStatus read_text(HoloFamilyReader *r, HoloItem *out)
{
    int64_t sizes[HOLO_MAX_RANK];
    int     rank;
    *out = (HoloItem){.kind = HOLO_ITEM_TEXT};
    HOLO_TRY(holo_family_quoted(r, &out->text));
    if (*r->scan.at != '[') return HOLO_OK;
    HOLO_TRY(read_list(r, sizes, HOLO_MAX_RANK, &rank));
    return holo_family_weight(r, out->text, sizes, rank, out);
}

static HoloStatus read_name(HoloFamilyReader *r, HoloItem *out)
{
    static const struct {
        const char *name;
        int64_t     value;
    } words[] = {{"true", 1}, {"false", 0}, {"any", -1}};
    const char *name;
    HOLO_TRY(holo_family_word(r, &name));
    const HoloItem *found = holo_family_find(r, name);
    *out                  = found ? *found : (HoloItem){0};
    if (found && *r->scan.at == '[' && holo_item_is_list(found)) return holo_family_index(r, out);
    if (found || !strcmp(name, "_")) return HOLO_OK;
    for (int i = 0; i < HOLO_COUNT(words); i++)
        if (!strcmp(name, words[i].name)) return *out = item_int(words[i].value), HOLO_OK;
    HoloDtype dtype = strcmp(name, "float") ? holo_dtype_find(name) : r->request->dtype;
    if (!dtype) return holo_family_wrong(r, "%s has no value", name);
    *out = item_int(dtype);
    return HOLO_OK;
}

static HoloStatus read_primary(HoloFamilyReader *r, HoloItem *out);
static HoloStatus read_level(HoloFamilyReader *r, int level, HoloItem *out);

static HoloStatus read_signed(HoloFamilyReader *r, bool is_not, HoloItem *out)
{
    HoloItem item, zero = item_int(0);
    HOLO_TRY(is_not ? read_level(r, NOT_LEVEL, &item) : read_primary(r, &item));
    if (!is_not) return apply(r, MINUS, &zero, &item, out);
    *out = item_int(!holo_item_is_true(&item));
    return HOLO_OK;
}

static HoloStatus read_constant_list(HoloFamilyReader *r, HoloItem *out)
{
    enum { LIST_MAX = 64 };
    HoloItem *items = HOLO_NEW(r->scan.arena, HoloItem, LIST_MAX);
    int       count = 0;
    if (!items) return holo_fail_memory(r->scan.error);
    HOLO_TRY(holo_family_expect(r, "["));
    while (!holo_family_accept(r, "]")) {
        if (count) HOLO_TRY(holo_family_expect(r, ","));
        if (count == LIST_MAX) return holo_family_wrong(r, "a list has at most %d items", LIST_MAX);
        HOLO_TRY(holo_family_expression(r, &items[count++]));
    }
    return holo_family_list(r, items, count, out);
}

static HoloStatus read_primary(HoloFamilyReader *r, HoloItem *out)
{
    holo_scan_skip(&r->scan);
    char c = *r->scan.at;
    if (c == '"') return read_text(r, out);
    if (c == '[') return read_constant_list(r, out);
    if (isdigit((unsigned char)c)) return read_number(r, out);
    if (holo_family_accept(r, "not")) return read_signed(r, true, out);
    if (holo_family_accept(r, "-")) return read_signed(r, false, out);
    if (holo_family_accept(r, "(")) {
        HOLO_TRY(holo_family_expression(r, out));
        return holo_family_expect(r, ")");
    }
    bool is_function = false;
    if (!holo_family_next_is_call(r)) return read_name(r, out);
    HOLO_TRY(holo_family_function(r, out, &is_function));
    if (is_function) return HOLO_OK;
    const char *name = r->result;
    return holo_family_call(r, r->scan.at == r->result_at ? &name : NULL, 1, out);
}

static int sign_find(HoloFamilyReader *r, int level)
{
    const char *start = r->scan.at;
    for (int i = 0; i < HOLO_COUNT(signs); i++) {
        if (!holo_family_accept(r, signs[i].token)) continue;
        if (signs[i].level > level) return i;
        r->scan.at = start;
        return -1;
    }
    return -1;
}

static HoloStatus read_level(HoloFamilyReader *r, int level, HoloItem *out)
{
    int      sign;
    HoloItem right, result;
    HOLO_TRY(read_primary(r, out));
    while ((sign = sign_find(r, level)) >= 0) {
        HOLO_TRY(read_level(r, signs[sign].level, &right));
        HOLO_TRY(apply(r, signs[sign].sign, out, &right, &result));
        *out = result;
    }
    return HOLO_OK;
}

HoloStatus holo_family_expression(HoloFamilyReader *r, HoloItem *out)
{
    if (r->depth == HOLO_FAMILY_DEPTH) return holo_family_wrong(r, "too many nested parts");
    r->depth++;
    HoloStatus status = read_level(r, 0, out);
    r->depth--;
    return status;
}

// ---- calls

HoloStatus holo_family_args(HoloFamilyReader *r, HoloItem *args, int *out_count)
{
    *out_count = 0;
    HOLO_TRY(holo_family_expect(r, "("));
    while (!holo_family_accept(r, ")")) {
        if (*out_count) HOLO_TRY(holo_family_expect(r, ","));
        if (*out_count == HOLO_FAMILY_ARGS) return holo_family_wrong(r, "at most %d arguments", HOLO_FAMILY_ARGS);
        HOLO_TRY(holo_family_expression(r, &args[(*out_count)++]));
    }
    return HOLO_OK;
}

static HoloStatus read_attr(HoloFamilyReader *r, HoloAttr *out)
{
    HoloItem item;
    HOLO_TRY(holo_family_word(r, &out->name));
    HOLO_TRY(holo_family_expect(r, "="));
    if (holo_family_accept(r, "block")) {
        out->kind  = HOLO_ATTR_GRAPH;
        out->count = 1;
        return holo_family_body(r, (HoloGraph **)&out->graph);
    }
    HOLO_TRY(holo_family_expression(r, &item));
    out->count = 1;
    switch (item.kind) {
    case HOLO_ITEM_INT: return out->kind = HOLO_ATTR_INT, out->i = item.i, HOLO_OK;
    case HOLO_ITEM_FLOAT: return out->kind = HOLO_ATTR_FLOAT, out->f = item.f, HOLO_OK;
    case HOLO_ITEM_TEXT:
        out->kind = HOLO_ATTR_STRING;
        out->s    = (HoloString){item.text, strlen(item.text)};
        return HOLO_OK;
    case HOLO_ITEM_LIST:
        out->kind  = HOLO_ATTR_INTS;
        out->count = item.count;
        out->ints  = item.list;
        return HOLO_OK;
    case HOLO_ITEM_FLOATS:
        out->kind   = HOLO_ATTR_FLOATS;
        out->count  = item.count;
        out->floats = item.floats;
        return HOLO_OK;
    default: return holo_family_wrong(r, "attribute %s is no number, text or list", out->name);
    }
}

static HoloStatus call_operator(HoloFamilyReader *r, const char *type, const char *const *names, int wanted,
                                HoloItem *results)
{
    HoloFamilyCall call = {.type = type, .out_count = wanted};
    int64_t        version;
    HOLO_TRY(holo_scan_int(&r->scan, &version));
    if (version < 1 || version > 1000) return holo_family_wrong(r, "%s has no such version", type);
    call.version = (int)version;
    HOLO_TRY(holo_family_args(r, call.in, &call.in_count));
    if (holo_family_accept(r, "{"))
        while (!holo_family_accept(r, "}")) {
            if (call.attr_count) HOLO_TRY(holo_family_expect(r, ","));
            if (call.attr_count == HOLO_FAMILY_ARGS) return holo_family_wrong(r, "too many attributes");
            HOLO_TRY(read_attr(r, &call.attr[call.attr_count++]));
        }
    return holo_family_node(r, &call, names, results);
}

HoloStatus holo_family_call(HoloFamilyReader *r, const char *const *names, int wanted, HoloItem *results)
{
    const char *name;
    HOLO_TRY(holo_family_word(r, &name));
    if (holo_family_accept(r, "@")) return call_operator(r, name, names, wanted, results);
    return holo_family_block(r, name, names, wanted, results);
}
