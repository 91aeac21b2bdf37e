// pt2_symbols.c - sizes as SymPy writes them, in either of its forms.
#include "import/torch/pt2.h"

#include <ctype.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

typedef struct Reader {
    HoloDims   *dims;
    const char *at;
    int         depth;
    bool        is_wrong;
} Reader;

static HoloDim sum(Reader *r);

static void blanks(Reader *r)
{
    while (*r->at == ' ') r->at++;
}

static bool accept(Reader *r, const char *sign)
{
    blanks(r);
    size_t size = strlen(sign);
    if (strncmp(r->at, sign, size)) return false;
    r->at += size;
    return true;
}

static HoloDim wrong(Reader *r)
{
    r->is_wrong = true;
    return HOLO_DIM_UNKNOWN;
}

static HoloDim number(Reader *r)
{
    int64_t value = 0;
    while (isdigit((unsigned char)*r->at))
        if (!holo_mul(value, 10, &value) || !holo_add(value, *r->at++ - '0', &value)) return wrong(r);
    return value;
}

// Symbol('s0', positive=True, integer=True): what follows the name is skipped.
static HoloDim symbol(Reader *r)
{
    char name[64];
    int  size = 0;
    if (!accept(r, "'")) return wrong(r);
    while (*r->at && *r->at != '\'' && size < 63) name[size++] = *r->at++;
    name[size] = 0;
    if (!size || *r->at != '\'') return wrong(r);
    while (*r->at && *r->at != ')') r->at++;
    if (*r->at) r->at++;
    return holo_dims_symbol(r->dims, name);
}

static HoloDim power(Reader *r, HoloDim base, HoloDim exponent)
{
    HoloDim result = 1;
    if (holo_dim_is_symbolic(exponent) || exponent < 0 || exponent > 8) return wrong(r);
    for (int i = 0; i < exponent; i++) result = holo_dim_mul(r->dims, result, base);
    return result;
}

static HoloDim apply(Reader *r, const char *name, const HoloDim *arg, int count)
{
    HoloDim (*many)(HoloDims *, HoloDim, HoloDim) = !strcmp(name, "Add")   ? holo_dim_add
                                                    : !strcmp(name, "Mul") ? holo_dim_mul
                                                    : !strcmp(name, "Max") ? holo_dim_max
                                                    : !strcmp(name, "Min") ? holo_dim_min
                                                                           : NULL;
    HoloDim result                                = arg[0];
    if (many) {
        for (int i = 1; i < count; i++) result = many(r->dims, result, arg[i]);
        return result;
    }
    if (count == 1 && (!strcmp(name, "Integer") || !strcmp(name, "Identity"))) return arg[0];
    if (count != 2) return wrong(r);
    if (!strcmp(name, "Pow") || !strcmp(name, "PowByNatural")) return power(r, arg[0], arg[1]);
    if (!strcmp(name, "FloorDiv") || !strcmp(name, "CleanDiv")) return holo_dim_div(r->dims, arg[0], arg[1]);
    if (!strcmp(name, "CeilDiv")) return holo_dim_div_ceil(r->dims, arg[0], arg[1]);
    if (!strcmp(name, "Mod") || !strcmp(name, "PythonMod"))
        return holo_dim_sub(r->dims, arg[0], holo_dim_mul(r->dims, arg[1], holo_dim_div(r->dims, arg[0], arg[1])));
    return wrong(r);
}

// A name, or a call: "s0", "Mod(s0, 2)", "torch.utils._sympy.functions.FloorDiv(...)"
static HoloDim word(Reader *r)
{
    char    name[64];
    int     size = 0, count = 0;
    HoloDim arg[8];
    while (isalnum((unsigned char)*r->at) || *r->at == '_' || *r->at == '.') {
        if (*r->at == '.') size = -1; // only what is behind the last point
        if (size == 63) return wrong(r);
        if (*r->at != '.') name[size] = *r->at;
        size++;
        r->at++;
    }
    name[size] = 0;
    if (!accept(r, "(")) return holo_dims_symbol(r->dims, name);
    if (!strcmp(name, "Symbol") || !strcmp(name, "Dummy")) return symbol(r);
    do {
        if (count == 8) return wrong(r);
        arg[count++] = sum(r);
    } while (!r->is_wrong && accept(r, ","));
    return accept(r, ")") ? apply(r, name, arg, count) : wrong(r);
}

static HoloDim atom(Reader *r)
{
    blanks(r);
    if (r->is_wrong || r->depth >= DEPTH_MAX) return wrong(r);
    if (isdigit((unsigned char)*r->at)) return number(r);
    if (accept(r, "-")) return holo_dim_sub(r->dims, 0, atom(r));
    if (accept(r, "(")) {
        HoloDim inside = sum(r);
        return accept(r, ")") ? inside : wrong(r);
    }
    return isalpha((unsigned char)*r->at) || *r->at == '_' ? word(r) : wrong(r);
}

static HoloDim product(Reader *r)
{
    HoloDim left = atom(r);
    while (!r->is_wrong) {
        if (accept(r, "**"))
            left = power(r, left, atom(r));
        else if (accept(r, "//"))
            left = holo_dim_div(r->dims, left, atom(r));
        else if (accept(r, "*"))
            left = holo_dim_mul(r->dims, left, atom(r));
        else
            break;
    }
    return left;
}

static HoloDim sum(Reader *r)
{
    r->depth++;
    HoloDim left = product(r);
    while (!r->is_wrong) {
        if (accept(r, "+"))
            left = holo_dim_add(r->dims, left, product(r));
        else if (accept(r, "-"))
            left = holo_dim_sub(r->dims, left, product(r));
        else
            break;
    }
    r->depth--;
    return left;
}

HoloDim holo_pt2_dim(HoloDims *dims, const char *text)
{
    Reader  r     = {.dims = dims, .at = text};
    HoloDim value = sum(&r);
    blanks(&r);
    return r.is_wrong || *r.at ? HOLO_DIM_UNKNOWN : value;
}
