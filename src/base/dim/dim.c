// dim.c - symbolic whole numbers in a normal form.
//
// An expression is a polynomial with integer coefficients over atoms: symbols, quotients, minima and maxima. Its entry
// is built from the sorted terms by one rule: a sum is a chain of ADD from the first term to the last, a term is
// MUL(coefficient, product), a product is a chain of MUL of atoms. Entries with the same content are shared. So equal
// polynomials are one entry, and the polynomial of an entry can be read back from its chain. Each entry also has
// bounds, which simplify minima, maxima and quotients.
//
// What exceeds the limits becomes HOLO_DIM_UNKNOWN.
#include "base/dim/dim.h"

#include "base/dim/dim_poly.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

enum {
    ENTRY_MAX  = 1 << 20,
    DEPTH_MAX  = 64,   // atoms nested in atoms
    WEIGHT_MAX = 4096, // symbols and numbers in the written expression
};

typedef struct Entry {
    HoloDimNode node;
    int64_t     low, high; // INT64_MIN, INT64_MAX: no bound
    int         depth, weight;
    bool        is_fresh;
} Entry;

struct HoloDims {
    HoloArena   *arena;
    Entry       *entries;
    int         *table; // open addressing: 1 + entry; 0 is free
    const char **symbols;
    int          count, room, table_room, symbol_count, symbol_room;
    int          fresh;
};

// ---- the table

HoloDims *holo_dims_create(HoloArena *arena)
{
    HoloDims *dims = HOLO_NEW(arena, HoloDims, 1);
    if (dims) dims->arena = arena;
    return dims;
}

int holo_dims_count(const HoloDims *dims)
{
    return dims ? dims->count : 0;
}

const HoloDimNode *holo_dims_node(const HoloDims *dims, int entry)
{
    return &dims->entries[entry].node;
}

int holo_dims_symbol_count(const HoloDims *dims)
{
    return dims ? dims->symbol_count : 0;
}

const char *holo_dims_symbol_name(const HoloDims *dims, int symbol)
{
    return dims->symbols[symbol];
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

static uint64_t node_hash(const HoloDims *dims, const HoloDimNode *node)
{
    uint64_t h = (uint64_t)node->op + 1;
    if (node->op != HOLO_DIM_SYMBOL) return mix(mix(h, (uint64_t)node->a), (uint64_t)node->b);
    return holo_hash_name(dims->symbols[node->a], strlen(dims->symbols[node->a]));
}

static bool node_equal(const HoloDims *dims, const HoloDimNode *x, const HoloDimNode *y)
{
    if (x->op != y->op) return false;
    if (x->op == HOLO_DIM_SYMBOL) return strcmp(dims->symbols[x->a], dims->symbols[y->a]) == 0;
    return x->a == y->a && x->b == y->b;
}

// The slot of the node in the hash table, or the free slot where it belongs.
static int *table_find(const HoloDims *dims, const HoloDimNode *node)
{
    uint64_t i = node_hash(dims, node);
    for (;; i++) {
        int *slot = &dims->table[i & (uint64_t)(dims->table_room - 1)];
        if (!*slot || node_equal(dims, &dims->entries[*slot - 1].node, node)) return slot;
    }
}

static bool grow(HoloDims *dims)
{
    if (dims->count < dims->room) return true;
    int    room    = dims->room ? dims->room * 2 : 64;
    Entry *entries = HOLO_NEW(dims->arena, Entry, room);
    int   *table   = HOLO_NEW(dims->arena, int, room * 2);
    if (!entries || !table) return false;
    if (dims->count) memcpy(entries, dims->entries, (size_t)dims->count * sizeof *entries);
    dims->entries    = entries;
    dims->table      = table;
    dims->room       = room;
    dims->table_room = room * 2;
    for (int i = 0; i < dims->count; i++) *table_find(dims, &entries[i].node) = i + 1;
    return true;
}

static bool valid(const HoloDims *dims, HoloDim d)
{
    return !holo_dim_is_symbolic(d) || (dims && (uint32_t)d < (uint32_t)dims->count);
}

// ---- bounds

typedef struct Bounds {
    int64_t low, high;
} Bounds;

static const Bounds no_bounds = {INT64_MIN, INT64_MAX};

static Bounds bounds_of(const HoloDims *dims, HoloDim d)
{
    if (!holo_dim_is_symbolic(d)) return (Bounds){d, d};
    const Entry *e = &dims->entries[holo_dim_entry(d)];
    return (Bounds){e->low, e->high};
}

static int64_t bound_add(int64_t a, int64_t b, int64_t none)
{
    int64_t sum;
    return a == none || b == none || !holo_add(a, b, &sum) ? none : sum;
}

// For two numbers that are not negative.
static int64_t bound_mul(int64_t a, int64_t b)
{
    int64_t product;
    if (a == 0 || b == 0) return 0;
    return a == INT64_MAX || b == INT64_MAX || !holo_mul(a, b, &product) ? INT64_MAX : product;
}

static Bounds bounds_mul(Bounds a, Bounds b)
{
    if (a.low == a.high && a.low < 0 && b.low >= 0 && a.low > INT64_MIN) { // a negative coefficient
        int64_t low = bound_mul(-a.low, b.high), high = bound_mul(-a.low, b.low);
        return (Bounds){low == INT64_MAX ? INT64_MIN : -low, -high};
    }
    if (a.low < 0 || b.low < 0) return no_bounds;
    return (Bounds){bound_mul(a.low, b.low), bound_mul(a.high, b.high)};
}

static Bounds bounds_div(Bounds a, Bounds b)
{
    if (b.low == b.high && b.low > 0) {
        return (Bounds){a.low == INT64_MIN ? INT64_MIN : holo_floor_div(a.low, b.low),
                        a.high == INT64_MAX ? INT64_MAX : holo_floor_div(a.high, b.low)};
    }
    if (a.low >= 0 && b.low >= 0) return (Bounds){0, a.high};
    return no_bounds;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static Bounds node_bounds(const HoloDims *dims, const HoloDimNode *node)
{
    if (node->op == HOLO_DIM_SYMBOL) return (Bounds){0, INT64_MAX};
    Bounds a = bounds_of(dims, node->a), b = bounds_of(dims, node->b);
    switch (node->op) {
    case HOLO_DIM_ADD: return (Bounds){bound_add(a.low, b.low, INT64_MIN), bound_add(a.high, b.high, INT64_MAX)};
    case HOLO_DIM_MUL: return bounds_mul(a, b);
    case HOLO_DIM_DIV: return bounds_div(a, b);
    case HOLO_DIM_MIN: return (Bounds){least(a.low, b.low), least(a.high, b.high)};
    default: return (Bounds){most(a.low, b.low), most(a.high, b.high)};
    }
}

// ---- entries

static int depth_of(const HoloDims *dims, HoloDim d)
{
    return holo_dim_is_symbolic(d) ? dims->entries[holo_dim_entry(d)].depth : 0;
}

static int weight_of(const HoloDims *dims, HoloDim d)
{
    return holo_dim_is_symbolic(d) ? dims->entries[holo_dim_entry(d)].weight : 1;
}

static bool is_atom(int32_t op)
{
    return op != HOLO_DIM_ADD && op != HOLO_DIM_MUL;
}

// The entry of a node, new or known. UNKNOWN if a limit is reached.
static HoloDim entry_of(HoloDims *dims, int32_t op, HoloDim a, HoloDim b)
{
    if (a == HOLO_DIM_UNKNOWN || b == HOLO_DIM_UNKNOWN || !grow(dims)) return HOLO_DIM_UNKNOWN;
    HoloDimNode node = {op, a, b};
    int        *slot = table_find(dims, &node);
    if (*slot) return holo_dim_of_entry(*slot - 1);
    Entry  e      = {.node = node, .depth = 1, .weight = 1};
    Bounds bounds = node_bounds(dims, &node);
    e.low         = bounds.low;
    e.high        = bounds.high;
    if (op != HOLO_DIM_SYMBOL) {
        e.depth  = (int)most(depth_of(dims, a), depth_of(dims, b)) + (is_atom(op) ? 1 : 0);
        e.weight = weight_of(dims, a) + weight_of(dims, b);
    }
    if (dims->count >= ENTRY_MAX || e.depth > DEPTH_MAX || e.weight > WEIGHT_MAX) return HOLO_DIM_UNKNOWN;
    dims->entries[dims->count++] = e;
    *slot                        = dims->count;
    return holo_dim_of_entry(dims->count - 1);
}

HoloDim holo_dims_symbol(HoloDims *dims, const char *name)
{
    if (!HOLO_GROW(dims->arena, dims->symbols, dims->symbol_count, dims->symbol_room)) return HOLO_DIM_UNKNOWN;
    int before                        = dims->count; // the name is looked up as if it were the next symbol's
    dims->symbols[dims->symbol_count] = name;
    HoloDim d                         = entry_of(dims, HOLO_DIM_SYMBOL, dims->symbol_count, 0);
    if (dims->count == before) return d;
    const char *copy = holo_arena_text(dims->arena, name, strlen(name));
    if (!copy) {
        *table_find(dims, &dims->entries[--dims->count].node) = 0;
        return HOLO_DIM_UNKNOWN;
    }
    dims->symbols[dims->symbol_count++] = copy;
    return d;
}

HoloDim holo_dims_fresh(HoloDims *dims, const char *prefix)
{
    for (;;) {
        char name[80];
        int  before = dims->symbol_count;
        snprintf(name, sizeof name, "%.60s%d", prefix, dims->fresh++);
        HoloDim d = holo_dims_symbol(dims, name);
        if (d == HOLO_DIM_UNKNOWN) return d;
        if (dims->symbol_count == before) continue; // the name is taken
        dims->entries[holo_dim_entry(d)].is_fresh = true;
        return d;
    }
}

bool holo_dim_is_fresh(const HoloDims *dims, HoloDim d)
{
    return holo_dim_is_symbolic(d) && valid(dims, d) && dims->entries[holo_dim_entry(d)].is_fresh;
}

// ---- polynomials

// One term of a chain: a number, MUL(number, product), a product or an atom.
static HoloTerm term_of(const HoloDims *dims, HoloDim d)
{
    HoloTerm t = {.coefficient = 1};
    if (!holo_dim_is_symbolic(d)) {
        t.coefficient = d;
        return t;
    }
    const HoloDimNode *node = holo_dims_node(dims, holo_dim_entry(d));
    if (node->op == HOLO_DIM_MUL && !holo_dim_is_symbolic(node->a)) {
        t.coefficient = node->a;
        d             = node->b;
        node          = holo_dims_node(dims, holo_dim_entry(d));
    }
    for (; node->op == HOLO_DIM_MUL; node = holo_dims_node(dims, holo_dim_entry(d))) { // from the last factor on
        t.atom[t.degree++] = holo_dim_entry(node->b);
        d                  = node->a;
    }
    t.atom[t.degree++] = holo_dim_entry(d);
    for (int i = 0; i < t.degree / 2; i++) {
        int swap                 = t.atom[i];
        t.atom[i]                = t.atom[t.degree - 1 - i];
        t.atom[t.degree - 1 - i] = swap;
    }
    return t;
}

static void poly_of(const HoloDims *dims, HoloDim d, HoloPoly *out)
{
    out->count = 0;
    for (;;) {
        const HoloDimNode *node   = holo_dim_is_symbolic(d) ? holo_dims_node(dims, holo_dim_entry(d)) : NULL;
        bool               is_sum = node && node->op == HOLO_DIM_ADD;
        HoloTerm           t      = term_of(dims, is_sum ? node->b : d);
        bool               fits   = holo_poly_add(out, &t);
        (void)fits; // an entry's polynomial fitted when it was made
        if (!is_sum) return;
        d = node->a;
    }
}

static HoloDim number_or_unknown(int64_t x)
{
    return holo_dim_is_symbolic(x) ? HOLO_DIM_UNKNOWN : x; // a number that happens to lie in the band of symbols
}

static HoloDim term_entry(HoloDims *dims, const HoloTerm *t)
{
    if (t->degree == 0) return number_or_unknown(t->coefficient);
    HoloDim d = holo_dim_of_entry(t->atom[0]);
    for (int i = 1; i < t->degree; i++) d = entry_of(dims, HOLO_DIM_MUL, d, holo_dim_of_entry(t->atom[i]));
    if (t->coefficient == 1) return d;
    return entry_of(dims, HOLO_DIM_MUL, number_or_unknown(t->coefficient), d);
}

static HoloDim poly_entry(HoloDims *dims, const HoloPoly *p)
{
    if (p->count == 0) return 0;
    HoloDim d = term_entry(dims, &p->term[0]);
    for (int i = 1; i < p->count && d != HOLO_DIM_UNKNOWN; i++)
        d = entry_of(dims, HOLO_DIM_ADD, d, term_entry(dims, &p->term[i]));
    return d;
}

// ---- arithmetic

static bool floor_div_checked(int64_t a, int64_t b, int64_t *out)
{
    if (b == 0 || (a == INT64_MIN && b == -1)) return false;
    *out = holo_floor_div(a, b);
    return true;
}

bool holo_dim_apply(int32_t op, int64_t a, int64_t b, int64_t *out)
{
    switch (op) {
    case HOLO_DIM_ADD: return holo_add(a, b, out);
    case HOLO_DIM_MUL: return holo_mul(a, b, out);
    case HOLO_DIM_DIV: return floor_div_checked(a, b, out);
    case HOLO_DIM_MIN: return *out = least(a, b), true;
    case HOLO_DIM_MAX: return *out = most(a, b), true;
    default: return false;
    }
}

static bool are_numbers(HoloDim a, HoloDim b)
{
    return !holo_dim_is_symbolic(a) && !holo_dim_is_symbolic(b);
}

static HoloDim apply_numbers(int32_t op, int64_t a, int64_t b)
{
    int64_t x;
    return holo_dim_apply(op, a, b, &x) ? number_or_unknown(x) : HOLO_DIM_UNKNOWN;
}

// a + factor * b
static HoloDim add_scaled(HoloDims *dims, HoloDim a, HoloDim b, int64_t factor)
{
    if (!valid(dims, a) || !valid(dims, b)) return HOLO_DIM_UNKNOWN;
    HoloPoly p, q;
    poly_of(dims, a, &p);
    poly_of(dims, b, &q);
    for (int i = 0; i < q.count; i++) {
        if (!holo_mul(q.term[i].coefficient, factor, &q.term[i].coefficient)) return HOLO_DIM_UNKNOWN;
        if (!holo_poly_add(&p, &q.term[i])) return HOLO_DIM_UNKNOWN;
    }
    return poly_entry(dims, &p);
}

HoloDim holo_dim_add(HoloDims *dims, HoloDim a, HoloDim b)
{
    return are_numbers(a, b) ? apply_numbers(HOLO_DIM_ADD, a, b) : add_scaled(dims, a, b, 1);
}

HoloDim holo_dim_sub(HoloDims *dims, HoloDim a, HoloDim b)
{
    int64_t x;
    if (are_numbers(a, b)) return __builtin_sub_overflow(a, b, &x) ? HOLO_DIM_UNKNOWN : number_or_unknown(x);
    return add_scaled(dims, a, b, -1);
}

HoloDim holo_dim_mul(HoloDims *dims, HoloDim a, HoloDim b)
{
    if (are_numbers(a, b)) return apply_numbers(HOLO_DIM_MUL, a, b);
    if (!valid(dims, a) || !valid(dims, b)) return HOLO_DIM_UNKNOWN;
    HoloPoly p, q, product;
    poly_of(dims, a, &p);
    poly_of(dims, b, &q);
    product.count = 0;
    for (int i = 0; i < p.count; i++) {
        for (int k = 0; k < q.count; k++) {
            HoloTerm t;
            if (!holo_term_mul(&p.term[i], &q.term[k], &t) || !holo_poly_add(&product, &t)) return HOLO_DIM_UNKNOWN;
        }
    }
    return poly_entry(dims, &product);
}

// ---- quotients

// (x//j + c)//k = (x + c*j)//(j*k). True if `rest` has that form.
static bool nested_quotient(HoloDims *dims, const HoloPoly *rest, int64_t k, HoloDim *out)
{
    if (rest->count == 0 || rest->count > 2 || rest->term[0].degree != 1 || rest->term[0].coefficient != 1)
        return false;
    if (rest->count == 2 && rest->term[1].degree != 0) return false;
    HoloDimNode atom = *holo_dims_node(dims, rest->term[0].atom[0]);
    if (atom.op != HOLO_DIM_DIV || holo_dim_is_symbolic(atom.b) || atom.b <= 0) return false;
    HoloDim more  = rest->count == 2 ? apply_numbers(HOLO_DIM_MUL, rest->term[1].coefficient, atom.b) : 0;
    HoloDim below = apply_numbers(HOLO_DIM_MUL, atom.b, k);
    *out          = holo_dim_div(dims, holo_dim_add(dims, atom.a, more), below);
    return true;
}

static HoloDim div_number(HoloDims *dims, HoloDim a, int64_t k)
{
    if (k < 0) return k == INT64_MIN ? HOLO_DIM_UNKNOWN : div_number(dims, holo_dim_sub(dims, 0, a), -k);
    if (k == 0 || !valid(dims, a)) return HOLO_DIM_UNKNOWN;
    HoloPoly p, quotient, rest;
    poly_of(dims, a, &p);
    if (!holo_poly_split(&p, k, &quotient, &rest)) return HOLO_DIM_UNKNOWN;
    k             = holo_poly_reduce(&rest, k);
    HoloDim whole = poly_entry(dims, &quotient), part = poly_entry(dims, &rest), nested;
    if (whole == HOLO_DIM_UNKNOWN || part == HOLO_DIM_UNKNOWN) return HOLO_DIM_UNKNOWN;
    Bounds b = bounds_of(dims, part);
    if (k == 1) return holo_dim_add(dims, whole, part);
    if (b.low > INT64_MIN && b.high < INT64_MAX && holo_floor_div(b.low, k) == holo_floor_div(b.high, k))
        return holo_dim_add(dims, whole, holo_floor_div(b.low, k));
    if (nested_quotient(dims, &rest, k, &nested)) return holo_dim_add(dims, whole, nested);
    return holo_dim_add(dims, whole, entry_of(dims, HOLO_DIM_DIV, part, k));
}

HoloDim holo_dim_div(HoloDims *dims, HoloDim a, HoloDim b)
{
    if (are_numbers(a, b)) return apply_numbers(HOLO_DIM_DIV, a, b);
    if (!valid(dims, a) || !valid(dims, b)) return HOLO_DIM_UNKNOWN;
    if (!holo_dim_is_symbolic(b)) return div_number(dims, a, b);
    if (a == 0) return 0;
    HoloPoly p, q, quotient, rest;
    poly_of(dims, a, &p);
    poly_of(dims, b, &q);
    if (holo_poly_divide(&p, &q, &quotient, &rest) && (rest.count == 0 || q.count == 1)) {
        if (rest.count == 0) return poly_entry(dims, &quotient);
        HoloDim whole = poly_entry(dims, &quotient);
        holo_poly_cancel(&rest, &q);
        HoloDim above = poly_entry(dims, &rest), below = poly_entry(dims, &q);
        if (below == HOLO_DIM_UNKNOWN || above == HOLO_DIM_UNKNOWN) return HOLO_DIM_UNKNOWN;
        if (!holo_dim_is_symbolic(below)) return holo_dim_add(dims, whole, holo_dim_div(dims, above, below));
        return holo_dim_add(dims, whole, entry_of(dims, HOLO_DIM_DIV, above, below));
    }
    return entry_of(dims, HOLO_DIM_DIV, a, b);
}

HoloDim holo_dim_div_ceil(HoloDims *dims, HoloDim a, HoloDim b)
{
    if (!are_numbers(a, b)) return holo_dim_div(dims, holo_dim_add(dims, a, holo_dim_sub(dims, b, 1)), b);
    HoloDim down = holo_dim_div(dims, a, b);
    return down == HOLO_DIM_UNKNOWN || a % b == 0 ? down : holo_dim_add(dims, down, 1);
}

// ---- minima and maxima

// The operands of a minimum or a maximum. False: `d` is neither.
static bool split_extreme(const HoloDims *dims, int32_t op, HoloDim d, HoloDim out[2])
{
    if (!holo_dim_is_symbolic(d)) return false;
    const HoloDimNode *node = holo_dims_node(dims, holo_dim_entry(d));
    out[0]                  = node->a;
    out[1]                  = node->b;
    return node->op == op;
}

// Is a <= b for all values of the symbols? False: not known, or not found within `depth` operands.
static bool is_at_most(HoloDims *dims, HoloDim a, HoloDim b, int depth)
{
    HoloDim part[2], difference = holo_dim_sub(dims, a, b);
    if (a == b || (valid(dims, difference) && bounds_of(dims, difference).high <= 0)) return true;
    if (depth == 0) return false;
    if (split_extreme(dims, HOLO_DIM_MIN, b, part))
        return is_at_most(dims, a, part[0], depth - 1) && is_at_most(dims, a, part[1], depth - 1);
    if (split_extreme(dims, HOLO_DIM_MAX, a, part))
        return is_at_most(dims, part[0], b, depth - 1) && is_at_most(dims, part[1], b, depth - 1);
    if (split_extreme(dims, HOLO_DIM_MIN, a, part))
        return is_at_most(dims, part[0], b, depth - 1) || is_at_most(dims, part[1], b, depth - 1);
    if (split_extreme(dims, HOLO_DIM_MAX, b, part))
        return is_at_most(dims, a, part[0], depth - 1) || is_at_most(dims, a, part[1], depth - 1);
    return false;
}

static HoloDim extreme(HoloDims *dims, int32_t op, HoloDim a, HoloDim b)
{
    enum { DEPTH = 3 };
    HoloDim part[2];
    if (are_numbers(a, b)) return apply_numbers(op, a, b);
    if (!valid(dims, a) || !valid(dims, b)) return HOLO_DIM_UNKNOWN;
    if (is_at_most(dims, b, a, DEPTH)) return op == HOLO_DIM_MAX ? a : b;
    if (is_at_most(dims, a, b, DEPTH)) return op == HOLO_DIM_MAX ? b : a;
    for (int i = 0; i < 2; i++) { // numbers come last, and two numbers become one
        HoloDim number = i ? a : b;
        if (!holo_dim_is_symbolic(number) && split_extreme(dims, op, i ? b : a, part) && !holo_dim_is_symbolic(part[1]))
            return extreme(dims, op, part[0], apply_numbers(op, part[1], number));
    }
    bool in_order = !holo_dim_is_symbolic(b) || (holo_dim_is_symbolic(a) && a < b);
    return entry_of(dims, op, in_order ? a : b, in_order ? b : a);
}

HoloDim holo_dim_min(HoloDims *dims, HoloDim a, HoloDim b)
{
    return extreme(dims, HOLO_DIM_MIN, a, b);
}

HoloDim holo_dim_max(HoloDims *dims, HoloDim a, HoloDim b)
{
    return extreme(dims, HOLO_DIM_MAX, a, b);
}
