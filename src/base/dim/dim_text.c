// dim_text.c - symbolic numbers as text: "2*n+1", "(n+3)//4", "max(n,1)", and back.
//
//     sum     = ["-"] product { ("+" | "-") product }
//     product = unit { ("*" | "//") unit }
//     unit    = number | name | '"' any text '"' | ("min" | "max") "(" sum "," sum ")" | "(" sum ")" | "?"
//
// A name is a letter or "_" and then letters, digits, "_" and "."; other names of symbols are quoted.
#include "base/dim/dim.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// ---- printing

typedef struct Printer {
    const HoloDims *dims;
    char           *text;
    size_t          size;
    int             length;
} Printer;

static void put(Printer *p, char c)
{
    if ((size_t)p->length + 1 < p->size) p->text[p->length] = c;
    p->length++;
}

static void put_text(Printer *p, const char *text)
{
    while (*text) put(p, *text++);
}

static void put_number(Printer *p, int64_t x)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)x);
    put_text(p, digits);
}

static bool is_plain_name(const char *name)
{
    if (!isalpha((unsigned char)*name) && *name != '_') return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && *name != '_' && *name != '.') return false;
    return true;
}

static void put_name(Printer *p, const char *name)
{
    if (is_plain_name(name)) {
        put_text(p, name);
        return;
    }
    put(p, '"');
    for (; *name; name++) {
        if (*name == '"' || *name == '\\') put(p, '\\');
        put(p, *name);
    }
    put(p, '"');
}

// How tightly the context binds. An operand that binds less tightly gets parentheses.
enum { IN_SUM, IN_PRODUCT, IN_QUOTIENT };

static void put_dim(Printer *p, HoloDim d, int around);

static void put_sum(Printer *p, const HoloDimNode *node)
{
    put_dim(p, node->a, IN_SUM);
    HoloDim b           = node->b;
    bool    is_negative = !holo_dim_is_symbolic(b) && b < 0;
    if (holo_dim_is_symbolic(b)) {
        const HoloDimNode *term = holo_dims_node(p->dims, holo_dim_entry(b));
        is_negative             = term->op == HOLO_DIM_MUL && !holo_dim_is_symbolic(term->a) && term->a < 0;
    }
    if (!is_negative) put(p, '+');
    put_dim(p, b, IN_SUM);
}

static void put_product(Printer *p, const HoloDimNode *node)
{
    if (node->a == -1) {
        put(p, '-');
    } else {
        put_dim(p, node->a, IN_PRODUCT);
        put(p, '*');
    }
    put_dim(p, node->b, IN_PRODUCT);
}

static void put_node(Printer *p, const HoloDimNode *node)
{
    switch (node->op) {
    case HOLO_DIM_SYMBOL: put_name(p, holo_dims_symbol_name(p->dims, (int)node->a)); return;
    case HOLO_DIM_ADD: put_sum(p, node); return;
    case HOLO_DIM_MUL: put_product(p, node); return;
    case HOLO_DIM_DIV:
        put_dim(p, node->a, IN_QUOTIENT);
        put_text(p, "//");
        put_dim(p, node->b, IN_QUOTIENT);
        return;
    default:
        put_text(p, node->op == HOLO_DIM_MIN ? "min(" : "max(");
        put_dim(p, node->a, IN_SUM);
        put(p, ',');
        put_dim(p, node->b, IN_SUM);
        put(p, ')');
    }
}

static void put_dim(Printer *p, HoloDim d, int around)
{
    if (!holo_dim_is_symbolic(d)) {
        bool bracket = d < 0 && around == IN_QUOTIENT;
        if (bracket) put(p, '(');
        put_number(p, d);
        if (bracket) put(p, ')');
        return;
    }
    if (!p->dims || d == HOLO_DIM_UNKNOWN || holo_dim_entry(d) >= holo_dims_count(p->dims) || holo_dim_entry(d) < 0) {
        put(p, '?');
        return;
    }
    const HoloDimNode *node = holo_dims_node(p->dims, holo_dim_entry(d));
    bool               loose =
        node->op == HOLO_DIM_ADD || node->op == HOLO_DIM_DIV || (node->op == HOLO_DIM_MUL && around == IN_QUOTIENT);
    bool bracket = around != IN_SUM && loose;
    if (bracket) put(p, '(');
    put_node(p, node);
    if (bracket) put(p, ')');
}

static int finish(const Printer *p)
{
    if (p->size) p->text[(size_t)p->length < p->size ? (size_t)p->length : p->size - 1] = '\0';
    return p->length;
}

int holo_dim_print(const HoloDims *dims, HoloDim d, char *text, size_t size)
{
    Printer p = {.dims = dims, .text = text, .size = size};
    put_dim(&p, d, IN_SUM);
    return finish(&p);
}

int holo_dim_print_name(const char *name, char *text, size_t size)
{
    Printer p = {.text = text, .size = size};
    put_name(&p, name);
    return finish(&p);
}

// ---- reading

enum { NAME_MAX_SIZE = 256, NESTING_MAX = 64 };

typedef struct Reader {
    HoloDims   *dims;
    const char *at;
    int         nesting;
    bool        failed;
} Reader;

static HoloDim read_sum(Reader *r);

static HoloDim wrong(Reader *r)
{
    r->failed = true;
    return HOLO_DIM_UNKNOWN;
}

static bool accept(Reader *r, const char *token)
{
    while (isspace((unsigned char)*r->at)) r->at++;
    size_t size = strlen(token);
    if (strncmp(r->at, token, size) != 0) return false;
    r->at += size;
    return true;
}

static HoloDim read_number(Reader *r)
{
    int64_t x = 0;
    for (; isdigit((unsigned char)*r->at); r->at++)
        if (!holo_mul(x, 10, &x) || !holo_add(x, *r->at - '0', &x)) return wrong(r);
    return holo_dim_is_symbolic(x) ? wrong(r) : x;
}

static HoloDim read_extreme(Reader *r, bool is_min)
{
    HoloDim a = read_sum(r);
    if (!accept(r, ",")) return wrong(r);
    HoloDim b = read_sum(r);
    if (!accept(r, ")")) return wrong(r);
    return is_min ? holo_dim_min(r->dims, a, b) : holo_dim_max(r->dims, a, b);
}

static HoloDim read_name(Reader *r)
{
    char name[NAME_MAX_SIZE];
    int  size = 0;
    for (; isalnum((unsigned char)*r->at) || *r->at == '_' || *r->at == '.'; r->at++) {
        if (size == NAME_MAX_SIZE - 1) return wrong(r);
        name[size++] = *r->at;
    }
    name[size]  = '\0';
    bool is_min = strcmp(name, "min") == 0;
    if ((is_min || strcmp(name, "max") == 0) && accept(r, "(")) return read_extreme(r, is_min);
    return holo_dims_symbol(r->dims, name);
}

static HoloDim read_quoted(Reader *r)
{
    char name[NAME_MAX_SIZE];
    int  size = 0;
    for (; *r->at && *r->at != '"'; r->at++) {
        if (*r->at == '\\' && r->at[1]) r->at++;
        if (size == NAME_MAX_SIZE - 1) return wrong(r);
        name[size++] = *r->at;
    }
    if (*r->at++ != '"') return r->at--, wrong(r);
    name[size] = '\0';
    return holo_dims_symbol(r->dims, name);
}

static HoloDim read_unit(Reader *r)
{
    if (accept(r, "(")) {
        HoloDim d = read_sum(r);
        return accept(r, ")") ? d : wrong(r);
    }
    if (accept(r, "\"")) return read_quoted(r);
    if (accept(r, "?")) return HOLO_DIM_UNKNOWN;
    if (isdigit((unsigned char)*r->at)) return read_number(r);
    if (isalpha((unsigned char)*r->at) || *r->at == '_') return read_name(r);
    return wrong(r);
}

static HoloDim read_product(Reader *r)
{
    HoloDim d = read_unit(r);
    while (!r->failed) {
        if (accept(r, "*"))
            d = holo_dim_mul(r->dims, d, read_unit(r));
        else if (accept(r, "//"))
            d = holo_dim_div(r->dims, d, read_unit(r));
        else
            break;
    }
    return d;
}

static HoloDim read_sum(Reader *r)
{
    if (r->nesting >= NESTING_MAX) return wrong(r);
    r->nesting++;
    HoloDim d = accept(r, "-") ? holo_dim_sub(r->dims, 0, read_product(r)) : read_product(r);
    while (!r->failed) {
        if (accept(r, "+"))
            d = holo_dim_add(r->dims, d, read_product(r));
        else if (accept(r, "-"))
            d = holo_dim_sub(r->dims, d, read_product(r));
        else
            break;
    }
    r->nesting--;
    return d;
}

bool holo_dim_parse(HoloDims *dims, const char *text, HoloDim *out_dim)
{
    Reader  r = {.dims = dims, .at = text};
    HoloDim d = read_sum(&r);
    accept(&r, "");
    if (r.failed || *r.at) return false;
    *out_dim = d;
    return true;
}
