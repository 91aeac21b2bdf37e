// tables.c - a function of one element of 8 or 16 bits, or of two elements of 8 bits, is its table: chains of pointwise
// operators become one Lookup or LookupPair.
//
// A chain lies between values of such types, its roots, and a value that others use. Its operators work element by
// element on the roots, on values computed from them, and on constants of one number. `eval` computes the entries for
// every bit pattern of the roots, so a table changes no bit of a result. If tables are turned off, `eval` computes the
// chain (Plain). Tables are made if looking up is cheaper than computing, within a budget.
//
// Two passes share this code: for `pairs` every 8-bit value is a root; for `tables` a chain has one root and goes on
// through 8-bit values. Constants for each channel are not handled.
#include "passes/build.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHAIN_MAX  = 512,     // most nodes of a chain
    COUNT_8    = 256,     // fewest elements for a table of 256 entries
    COUNT_16   = 1 << 15, // and for one of 65,536 entries
    COUNT_PAIR = 1 << 16, // and for one of 65,536 entries for two bytes
    COUNT_OPEN = 16,      // how much a dynamic size counts
};

enum { ROOTS = 2 };

typedef struct Roots { // the values that a value is a function of; all NULL: none
    HoloValue *of[ROOTS];
} Roots;

typedef struct Tables {
    HoloRewrite rewrite;
    int         width;  // roots of a chain: 1 or 2
    Roots      *roots;  // by value id
    bool       *is_end; // by value id: it has roots, and something else than nodes with these roots uses it
    int        *chain;  // by value id: the number of the last chain whose nodes compute it
    int        *place;  // by value id: which node of that chain does
    int         count;  // number of values that these arrays have
    int         chains; // found so far
} Tables;

// ---- what operators cost for each element, in additions of f32

// Types that no kernel has: 8-bit and 4-bit floats, 4-bit and 2-bit integers.
static bool is_odd(const HoloValue *value)
{
    return value && (HOLO_TYPES_F8 | HOLO_TYPES_NARROW) >> value->type.dtype & 1;
}

// Is it computed one element at a time, whatever the operator costs? This is true of quotients of integers.
static bool is_slow(const HoloNode *node)
{
    const HoloValue *y = node->out_count ? node->out[0] : NULL;
    bool             is_quotient =
        HOLO_IS(node, Mod) || (HOLO_IS(node, Div) && y && (HOLO_TYPES_INT | HOLO_TYPES_UINT) >> y->type.dtype & 1);
    for (int i = 0; i < node->in_count; i++)
        if (is_odd(node->in[i]) && !node->in[i]->is_constant) return true;
    return is_quotient || is_odd(y);
}

// 0: it does not work element by element.
static int cost_of(const HoloNode *node)
{
    const uint32_t unfit = HOLO_OP_RANDOM | HOLO_OP_CONTROL | HOLO_OP_DYNAMIC | HOLO_OP_KINDS;
    if (!node->op || !node->op->eval || node->op->flags & unfit || !strcmp(node->domain, "hologram")) return 0;
    if (!node->op->cost && !(node->op->flags & HOLO_OP_POINTWISE)) return 0;
    return is_slow(node) ? HOLO_COST_HEAVY : node->op->cost ? node->op->cost : 1;
}

// ---- chains

static bool is_16(const HoloValue *value)
{
    return holo_dtype_size((HoloDtype)value->type.dtype) == 2;
}

static bool is_root(const Tables *t, const HoloValue *value)
{
    if (value->is_constant || !holo_value_is_sized(value)) return false;
    return holo_dtype_size(value->type.dtype) == 1 || (t->width == 1 && is_16(value));
}

static bool is_one_number(const HoloValue *value)
{
    double number;
    return value->is_constant && (holo_tensor_count(&value->type) == 1 || holo_value_number(value, &number));
}

static Roots roots_of(const Tables *t, HoloValue *value)
{
    Roots known = value->id < t->count ? t->roots[value->id] : (Roots){{NULL}};
    if (known.of[0] && t->width == 1) return known;
    return is_root(t, value) ? (Roots){{value}} : known;
}

// False: there would be too many roots.
static bool root_add(const Tables *t, Roots *roots, HoloValue *root)
{
    for (int i = 0; i < t->width; i++) {
        if (!roots->of[i]) roots->of[i] = root;
        if (roots->of[i] == root) return true;
    }
    return false;
}

// The roots of a node's output, if it has any.
static Roots node_roots(const Tables *t, const HoloNode *node)
{
    const Roots none = {{NULL}};
    Roots       all  = none;
    HoloValue  *y    = node->out_count == 1 ? node->out[0] : NULL;
    if (!y || !holo_value_is_sized(y) || y->type.dtype == HOLO_STRING || !cost_of(node)) return none;
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i] || is_one_number(node->in[i])) continue;
        Roots other = roots_of(t, node->in[i]);
        if (!other.of[0]) return none;
        for (int k = 0; k < ROOTS && other.of[k]; k++)
            if (!root_add(t, &all, other.of[k])) return none;
    }
    for (int k = 0; k < ROOTS && all.of[k]; k++)
        if (!holo_shape_equal(&y->type, &all.of[k]->type)) return none;
    if (all.of[1] && all.of[1]->id < all.of[0]->id) all = (Roots){{all.of[1], all.of[0]}}; // always in the same order
    return all;
}

static void roots_find(Tables *t)
{
    HoloGraph *graph = t->rewrite.graph;
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node  = graph->nodes[i];
        Roots           roots = node_roots(t, node);
        if (roots.of[0]) t->roots[node->out[0]->id] = roots;
    }
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node  = graph->nodes[i];
        Roots           roots = node->out_count == 1 && node->out[0] ? t->roots[node->out[0]->id] : (Roots){{NULL}};
        for (int k = 0; k < node->in_count; k++)
            if (node->in[k] && memcmp(&t->roots[node->in[k]->id], &roots, sizeof roots))
                t->is_end[node->in[k]->id] = true;
    }
    for (int i = 0; i < graph->output_count; i++) t->is_end[graph->outputs[i]->id] = true;
}

typedef struct Chain {
    Roots      roots;
    HoloValue *end;
    HoloNode  *nodes[CHAIN_MAX]; // in order
    int        count, cost;
} Chain;

static bool is_chain_root(const Chain *chain, const HoloValue *value)
{
    return value == chain->roots.of[0] || value == chain->roots.of[1];
}

// Which node of the chain computes the value; -1: none.
static int place_of(const Tables *t, const HoloValue *value)
{
    return value->id < t->count && t->chain[value->id] == t->chains ? t->place[value->id] : -1;
}

static int by_id(const void *a, const void *b)
{
    const HoloNode *x = *(HoloNode *const *)a, *y = *(HoloNode *const *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}

// The nodes between the roots and the end, producers before users. False: there are too many.
static bool chain_find(Tables *t, HoloValue *end, Chain *chain)
{
    t->chains++;
    chain->roots = t->roots[end->id], chain->end = end, chain->count = 1, chain->cost = 0;
    chain->nodes[0]   = end->producer;
    t->chain[end->id] = t->chains;
    for (int i = 0; i < chain->count; i++) { // the list grows
        HoloNode *node = chain->nodes[i];
        chain->cost += cost_of(node);
        for (int k = 0; k < node->in_count; k++) {
            HoloValue *in = node->in[k];
            if (!in || is_chain_root(chain, in) || in->id >= t->count || !t->roots[in->id].of[0]) continue;
            if (t->chain[in->id] == t->chains) continue;
            if (chain->count == CHAIN_MAX) return false;
            t->chain[in->id]             = t->chains;
            chain->nodes[chain->count++] = in->producer;
        }
    }
    qsort(chain->nodes, (size_t)chain->count, sizeof *chain->nodes, by_id);
    for (int i = 0; i < chain->count; i++) t->place[chain->nodes[i]->out[0]->id] = i;
    return true;
}

// ---- is it worth it?

static double count_of(const HoloValue *value)
{
    double count = 1;
    for (int d = 0; d < value->type.rank; d++)
        count *= holo_dim_is_symbolic(value->type.dim[d]) ? COUNT_OPEN : (double)value->type.dim[d];
    return count;
}

// Is a 16-bit value stored as such (integers are), or computed in f32 and used in f32 again?
static bool is_stored(const HoloValue *value)
{
    if (!(HOLO_TYPES_FLOAT >> value->type.dtype & 1)) return true;
    while (value->producer && value->producer->op && value->producer->op->flags & HOLO_OP_MOVES &&
           value->producer->in[0])
        value = value->producer->in[0];
    return !value->producer || HOLO_IS(value->producer, Cast);
}

// A lookup costs about as much as these many additions, including loads that miss the first cache. A result of f32
// without anything costly in the chain is better left to the programs that pointwise operators become. NULL: the table
// is worth it; else why it is not.
static const char *why_not(const Tables *t, const Chain *chain, char text[HOLO_NOTE_TEXT])
{
    const HoloValue *root = chain->roots.of[0];
    bool             wide = is_16(root), pair = chain->roots.of[1] != NULL,
         narrow_end  = holo_dtype_size(chain->end->type.dtype) == 1;
    const char *type = holo_dtype_name((HoloDtype)root->type.dtype);
    int few = pair ? COUNT_PAIR : wide ? COUNT_16 : COUNT_8, least = pair || wide || !narrow_end ? HOLO_COST_HEAVY : 3;
    if (t->rewrite.all->all_tables) return NULL;
    if (chain->cost < least)
        return holo_note_text(
            text,
            pair ? "nothing in it is costly: kernels compute it faster than a table of two inputs of %s is read"
            : wide || !narrow_end
                ? "nothing in it is costly: vectors of f32 compute it faster than a table of %s is read"
                : "this costs less than to read a table of %s",
            type);
    if (count_of(root) < few) return holo_note_text(text, "there are fewer than %d elements of %s", few, type);
    if (wide && !t->rewrite.all->is_exact && !is_stored(root))
        return holo_note_text(text, "the %s is computed in f32 just before, and is used as f32", type);
    return NULL;
}

static void note(const Tables *t, const Chain *chain, HoloVerdict verdict, uint64_t bytes, const char *why)
{
    char what[HOLO_NOTE_TEXT];
    holo_note_types(what, chain->nodes, chain->count);
    holo_notes_add(t->rewrite.all->notes, &(HoloNote){.pass    = chain->roots.of[1] ? "pairs" : "tables",
                                                      .place   = chain->end->name,
                                                      .what    = what,
                                                      .why     = why,
                                                      .verdict = verdict,
                                                      .bytes   = bytes});
}

// ---- the table

// One element for each bit pattern of one or two bytes. Types may have fewer patterns: the rest is 0, or true.
static HoloStatus patterns_make(const HoloTensor *root, HoloArena *arena, HoloTensor *out, HoloError *error)
{
    int64_t count = (int64_t)1 << 8 * holo_dtype_size((HoloDtype)root->dtype);
    int64_t all   = holo_dtype_patterns((HoloDtype)root->dtype);
    *out          = (HoloTensor){.dtype = root->dtype, .kind = HOLO_TENSOR, .rank = 1, .dim = {count}};
    if (!(out->data = holo_arena_take(arena, holo_tensor_bytes(out)))) return holo_fail_memory(error);
    if (root->dtype == HOLO_BOOL) memset(out->data, 1, (size_t)count);
    bool is_signed = holo_dtype_class((HoloDtype)root->dtype) == HOLO_CLASS_INT;
    for (int64_t i = 0; i < all; i++) { // an element is its own place; negative numbers of few bits fill their byte
        uint16_t bits = (uint16_t)(is_signed && i >= all / 2 ? i - all : i);
        if (count == 1 << 8)
            ((uint8_t *)out->data)[(uint8_t)bits] = (uint8_t)bits;
        else
            ((uint16_t *)out->data)[bits] = bits;
    }
    return HOLO_OK;
}

// The same for one of two roots: the first changes slowest.
static HoloStatus pair_make(const Chain *chain, int which, HoloArena *arena, HoloTensor *out, HoloError *error)
{
    HoloTensor one;
    HOLO_TRY(patterns_make(&chain->roots.of[which]->type, arena, &one, error));
    *out        = one;
    out->dim[0] = one.dim[0] * one.dim[0];
    uint8_t *to = out->data = holo_arena_take(arena, holo_tensor_bytes(out));
    if (!to) return holo_fail_memory(error);
    for (int64_t i = 0; i < out->dim[0]; i++) to[i] = ((const uint8_t *)one.data)[which ? i & 255 : i >> 8];
    return HOLO_OK;
}

static HoloStatus roots_make(const Chain *chain, HoloArena *arena, HoloTensor *results, HoloError *error)
{
    const HoloValue *root = chain->roots.of[0];
    if (!chain->roots.of[1]) return patterns_make(&root->type, arena, results, error);
    for (int i = 0; i < ROOTS; i++) HOLO_TRY(pair_make(chain, i, arena, &results[i], error));
    return HOLO_OK;
}

// The result of a root, or of a node of the chain; NULL: the value is something else.
static HoloTensor *result_of(const Tables *t, const Chain *chain, HoloTensor *results, const HoloValue *value)
{
    if (is_chain_root(chain, value)) return &results[value == chain->roots.of[1]];
    int place = place_of(t, value);
    return place < 0 ? NULL : &results[ROOTS + place];
}

// Computes each node for all patterns. *out_done: all could be computed.
static HoloStatus chain_eval(const Tables *t, const Chain *chain, HoloTensor *out, bool *out_done, HoloError *error)
{
    HoloArena  *scratch = t->rewrite.scratch;
    HoloTensor *results = HOLO_NEW(scratch, HoloTensor, ROOTS + chain->count);
    *out_done           = false;
    if (!results) return holo_fail_memory(error);
    HOLO_TRY(roots_make(chain, scratch, results, error));
    for (int i = 0; i < chain->count; i++) {
        const HoloNode    *node = chain->nodes[i];
        HoloTensor        *y = &results[ROOTS + i], *outs[1] = {y};
        HoloTensor        *constants = HOLO_NEW(scratch, HoloTensor, node->in_count);
        const HoloTensor **in        = HOLO_NEW(scratch, const HoloTensor *, node->in_count);
        if (!constants || !in) return holo_fail_memory(error);
        for (int k = 0; k < node->in_count; k++) {
            const HoloValue *value = node->in[k];
            if (!value) continue;
            in[k] = value->is_constant ? NULL : result_of(t, chain, results, value);
            if (in[k]) continue;
            constants[k]      = value->type; // one number
            constants[k].rank = 0;
            in[k]             = &constants[k];
        }
        if (holo_node_eval(node, in, outs, scratch, NULL) != HOLO_OK) return HOLO_OK;
        if (y->kind != HOLO_TENSOR || y->rank != 1 || y->dim[0] != results[0].dim[0]) return HOLO_OK;
    }
    *out      = results[ROOTS + place_of(t, chain->end)];
    *out_done = out->dtype == chain->end->type.dtype;
    return HOLO_OK;
}

// ---- the replacement of a chain

// Lets `node` produce the end. The old producer now produces another value that nobody may need.
static HoloStatus end_take(Tables *t, HoloNode *node, HoloValue *end, HoloError *error)
{
    HoloNode  *before = end->producer;
    HoloValue *value  = holo_graph_value(t->rewrite.graph, end->name);
    if (!value) return holo_fail_memory(error);
    value->type = end->type;
    holo_node_set_out(before, 0, value);
    holo_node_set_out(node, 0, end);
    t->rewrite.changes++;
    return HOLO_OK;
}

static HoloStatus table_build(Tables *t, const Chain *chain, const HoloTensor *result, HoloError *error)
{
    HoloGraph *graph = t->rewrite.graph;
    size_t     bytes = holo_tensor_bytes(result);
    HoloTensor table = *result;
    table.data       = holo_arena_take(graph->arena, bytes);
    if (!table.data) return holo_fail_memory(error);
    memcpy(table.data, result->data, bytes);
    HoloValue *constant = holo_graph_constant(graph, chain->end->name, &table);
    bool       pair     = chain->roots.of[1] != NULL;
    HoloOpId   id       = pair ? HOLO_ID_HOLOGRAM_LookupPair : HOLO_ID_HOLOGRAM_Lookup;
    HoloNode  *node     = holo_graph_op(graph, chain->end->producer->name, id, 1, 2 + pair, 1, 0);
    if (!constant || !node) return holo_fail_memory(error);
    node->in[0]        = chain->roots.of[0];
    node->in[pair]     = pair ? chain->roots.of[1] : node->in[0];
    node->in[1 + pair] = constant;
    return end_take(t, node, chain->end, error);
}

static HoloNode *plain_build(Tables *t, const HoloNode *node)
{
    HoloGraph *graph = t->rewrite.graph;
    int        more  = node->attr_count;
    HoloNode  *plain = holo_graph_op(graph, node->name, HOLO_ID_HOLOGRAM_Plain, 1, node->in_count, 1, more + 3);
    if (!plain) return NULL;
    if (more) memcpy(plain->attr, node->attr, (size_t)more * sizeof *node->attr);
    HoloString type = {node->type, strlen(node->type)}, domain = {node->domain, strlen(node->domain)};
    plain->attr[more]     = (HoloAttr){.name = "plain_op", .kind = HOLO_ATTR_STRING, .count = 1, .s = type};
    plain->attr[more + 1] = (HoloAttr){.name = "plain_domain", .kind = HOLO_ATTR_STRING, .count = 1, .s = domain};
    plain->attr[more + 2] = (HoloAttr){.name = "plain_version", .kind = HOLO_ATTR_INT, .count = 1, .i = node->version};
    return plain;
}

// Copies the nodes, each as Plain. Others may still use the original ones.
static HoloStatus plain_chain(Tables *t, const Chain *chain, HoloError *error)
{
    HoloValue **made = HOLO_NEW(t->rewrite.scratch, HoloValue *, chain->count);
    if (!made) return holo_fail_memory(error);
    for (int i = 0; i < chain->count; i++) {
        const HoloNode *node  = chain->nodes[i];
        HoloNode       *plain = plain_build(t, node);
        if (!plain) return holo_fail_memory(error);
        for (int k = 0; k < node->in_count; k++) {
            HoloValue *value = node->in[k];
            int        place = value && !is_chain_root(chain, value) ? place_of(t, value) : -1;
            plain->in[k]     = place < 0 ? value : made[place];
        }
        if (node->out[0] == chain->end) return end_take(t, plain, chain->end, error);
        HoloValue *value = made[i] = holo_graph_value(t->rewrite.graph, node->out[0]->name);
        if (!value) return holo_fail_memory(error);
        value->type = node->out[0]->type;
        holo_node_set_out(plain, 0, value);
    }
    return HOLO_OK;
}

static HoloStatus end_walk(Tables *t, HoloValue *end, Chain *chain, HoloError *error)
{
    HoloChanges *all = t->rewrite.all;
    HoloTensor   result;
    bool         done;
    char         text[HOLO_NOTE_TEXT];
    if (!chain_find(t, end, chain)) return HOLO_OK;
    const char *why = why_not(t, chain, text);
    if (why) {
        note(t, chain, HOLO_VERDICT_NOT_FASTER, 0, why);
        return HOLO_OK;
    }
    HOLO_TRY(chain_eval(t, chain, &result, &done, error));
    uint64_t bytes = done ? holo_tensor_bytes(&result) : 0;
    if (!done)
        note(t, chain, HOLO_VERDICT_FAILS, 0, "it cannot be computed for every element");
    else if (bytes > all->table_room)
        note(t, chain, HOLO_VERDICT_OVER_BUDGET, bytes, "the table is larger than what is left of --memory-budget");
    if (!done || bytes > all->table_room) return HOLO_OK;
    all->table_room -= bytes;
    if (all->no_tables) {
        note(t, chain, HOLO_VERDICT_TURNED_OFF, bytes, "computed plainly, because of --no-tables");
        return plain_chain(t, chain, error);
    }
    const HoloTensor *root = &chain->roots.of[0]->type;
    holo_note_text(text, "%s of %s can have %lld values: a table of %lld entries of %s",
                   chain->roots.of[1] ? "each of two elements" : "an element", holo_dtype_name((HoloDtype)root->dtype),
                   (long long)holo_dtype_patterns((HoloDtype)root->dtype), (long long)result.dim[0],
                   holo_dtype_name((HoloDtype)result.dtype));
    note(t, chain, HOLO_VERDICT_MADE, bytes, text);
    return table_build(t, chain, &result, error);
}

// Does the value end a chain with the wanted number of roots? Pairs only have tables of bytes.
static bool is_chain_end(const Tables *t, const HoloValue *value)
{
    if (!value || value->id >= t->count || !t->is_end[value->id] || !t->roots[value->id].of[t->width - 1]) return false;
    return t->width == 1 || holo_dtype_size(value->type.dtype) == 1;
}

static HoloStatus tables_make(HoloGraph *graph, int width, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    Tables t = {
        .width  = width,
        .roots  = HOLO_NEW(scratch, Roots, graph->value_count + 1),
        .is_end = HOLO_NEW(scratch, bool, graph->value_count + 1),
        .chain  = HOLO_NEW(scratch, int, graph->value_count + 1),
        .place  = HOLO_NEW(scratch, int, graph->value_count + 1),
        .count  = graph->value_count,
    };
    Chain *chain = HOLO_NEW(scratch, Chain, 1);
    if (!t.roots || !t.is_end || !t.chain || !t.place || !chain) return holo_fail_memory(error);
    HOLO_TRY(holo_rewrite_begin(&t.rewrite, graph, scratch, changes, error));
    holo_graph_number(graph);
    roots_find(&t);
    // Backwards: a chain that goes through the end of another chain finds it unchanged.
    for (int i = graph->node_count - 1; i >= 0 && holo_rewrite_more(&t.rewrite); i--) {
        HoloValue *value = graph->nodes[i]->out_count == 1 ? graph->nodes[i]->out[0] : NULL;
        if (!is_chain_end(&t, value)) continue;
        HoloArenaMark mark = holo_arena_mark(scratch);
        HOLO_TRY(end_walk(&t, value, chain, error));
        holo_arena_reset(scratch, mark);
    }
    return holo_rewrite_end(&t.rewrite, error);
}

HoloStatus holo_pass_tables(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    return tables_make(graph, 1, scratch, changes, error);
}

HoloStatus holo_pass_pairs(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    return tables_make(graph, ROOTS, scratch, changes, error);
}
