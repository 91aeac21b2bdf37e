// tables.c - a function of one 8- or 16-bit element is its table: chains of pointwise operators become one Lookup.
//
// A chain is all that lies between a value of such a type, its root, and a value that others use: operators that work
// element by element on the root, on what follows from it, and on constants of one number. Its entries are what `eval`
// gives for every pattern of the root's bits, so a table changes no result by one bit; and where tables are not wanted,
// the chain is left to `eval` (Plain). Tables are made where looking up is cheaper than computing, within a budget.
//
// Constants of channels and functions of two values are not looked at.
#include "passes/build.h"

#include <string.h>

enum {
    CHAIN_MAX  = 512,     // nodes of a chain
    COUNT_8    = 256,     // elements from which a table of 256 entries is made
    COUNT_16   = 1 << 15, // and one of 65,536
    COUNT_OPEN = 16,      // what a size that is open counts
};

typedef struct Tables {
    HoloRewrite rewrite;
    HoloValue **root;   // by value id: the value that it is a function of; NULL: none
    bool       *is_end; // by value id: it has a root, and others than nodes of that root use it
    int         count;  // of values that the two know
} Tables;

// ---- what operators cost, an element, in additions of f32

enum { HEAVY = 10 };

typedef struct Cost {
    const char *name;
    int         cost;
} Cost;

// What is not here costs 1, if it is pointwise at all.
static const Cost costs[] = {
    {"Acos", HEAVY},       {"Acosh", HEAVY},     {"Asin", HEAVY},  {"Asinh", HEAVY},        {"Atan", HEAVY},
    {"Atanh", HEAVY},      {"Celu", HEAVY},      {"Cos", HEAVY},   {"Cosh", HEAVY},         {"DequantizeLinear", 1},
    {"Elu", HEAVY},        {"Erf", HEAVY},       {"Exp", HEAVY},   {"FastGelu", HEAVY},     {"Gelu", HEAVY},
    {"Log", HEAVY},        {"Mish", HEAVY},      {"Pow", HEAVY},   {"QLinearLeakyRelu", 4}, {"QLinearSigmoid", HEAVY},
    {"QuantizeLinear", 2}, {"QuickGelu", HEAVY}, {"Selu", HEAVY},  {"Sigmoid", HEAVY},      {"Sin", HEAVY},
    {"Sinh", HEAVY},       {"Softplus", HEAVY},  {"Swish", HEAVY}, {"Tan", HEAVY},          {"Tanh", HEAVY},
};

// 0: it does not work element by element.
static int cost_of(const HoloNode *node)
{
    const uint32_t unfit = HOLO_OP_RANDOM | HOLO_OP_CONTROL | HOLO_OP_DYNAMIC | HOLO_OP_KINDS;
    if (!node->op || !node->op->eval || node->op->flags & unfit || !strcmp(node->domain, "hologram")) return 0;
    for (int i = 0; i < HOLO_COUNT(costs); i++)
        if (!strcmp(costs[i].name, node->type)) return costs[i].cost;
    return (node->op->flags & HOLO_OP_POINTWISE) != 0;
}

// ---- chains

static bool is_tensor(const HoloValue *value)
{
    if (value->type.kind != HOLO_TENSOR || value->type.rank < 0) return false;
    for (int d = 0; d < value->type.rank; d++)
        if (value->type.dim[d] == HOLO_DIM_UNKNOWN) return false;
    return true;
}

static bool is_16(const HoloValue *value)
{
    return value->type.dtype == HOLO_F16 || value->type.dtype == HOLO_BF16;
}

static bool is_root(const HoloValue *value)
{
    return !value->is_constant && is_tensor(value) && (is_16(value) || holo_dtype_size(value->type.dtype) == 1);
}

static bool is_one_number(const HoloValue *value)
{
    double number;
    return value->is_constant && (holo_tensor_count(&value->type) == 1 || holo_value_number(value, &number));
}

static HoloValue *root_of(const Tables *t, HoloValue *value)
{
    HoloValue *root = value->id < t->count ? t->root[value->id] : NULL;
    return root ? root : is_root(value) ? value : NULL;
}

// The root of what a node gives; NULL: it has none.
static HoloValue *node_root(const Tables *t, const HoloNode *node)
{
    HoloValue *root = NULL, *y = node->out_count == 1 ? node->out[0] : NULL;
    if (!y || !is_tensor(y) || y->type.dtype == HOLO_STRING || !cost_of(node)) return NULL;
    for (int i = 0; i < node->in_count; i++) {
        if (!node->in[i] || is_one_number(node->in[i])) continue;
        HoloValue *other = root_of(t, node->in[i]);
        if (!other || (root && other != root)) return NULL;
        root = other;
    }
    if (!root || y->type.rank != root->type.rank) return NULL;
    for (int d = 0; d < y->type.rank; d++)
        if (y->type.dim[d] != root->type.dim[d]) return NULL;
    return root;
}

static void roots_find(Tables *t)
{
    HoloGraph *graph = t->rewrite.graph;
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        HoloValue      *root = node_root(t, node);
        if (root) t->root[node->out[0]->id] = root;
    }
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode  *node = graph->nodes[i];
        const HoloValue *root = node->out_count == 1 && node->out[0] ? t->root[node->out[0]->id] : NULL;
        for (int k = 0; k < node->in_count; k++)
            if (node->in[k] && t->root[node->in[k]->id] != root) t->is_end[node->in[k]->id] = true;
    }
    for (int i = 0; i < graph->output_count; i++) t->is_end[graph->outputs[i]->id] = true;
}

typedef struct Chain {
    HoloValue *root, *end;
    HoloNode  *nodes[CHAIN_MAX]; // in order
    int        count, cost;
} Chain;

// The nodes between the root and the end, those of inputs before those of what they give; false: there are too many.
static bool chain_find(const Tables *t, HoloValue *end, Chain *chain)
{
    HoloGraph *graph = t->rewrite.graph;
    bool      *is_in = HOLO_NEW(t->rewrite.scratch, bool, t->count);
    if (!is_in) return false;
    chain->root = t->root[end->id], chain->end = end, chain->count = chain->cost = 0;
    is_in[end->id] = true;
    for (int i = end->producer->id; i >= 0; i--) { // backwards: users come before what they use
        HoloNode *node = graph->nodes[i];
        if (node->out_count != 1 || !node->out[0] || !is_in[node->out[0]->id]) continue;
        if (chain->count == CHAIN_MAX) return false;
        chain->nodes[chain->count++] = node;
        chain->cost += cost_of(node);
        for (int k = 0; k < node->in_count; k++)
            if (node->in[k] && node->in[k] != chain->root && t->root[node->in[k]->id] == chain->root)
                is_in[node->in[k]->id] = true;
    }
    for (int i = 0; i < chain->count / 2; i++) {
        HoloNode *node                     = chain->nodes[i];
        chain->nodes[i]                    = chain->nodes[chain->count - 1 - i];
        chain->nodes[chain->count - 1 - i] = node;
    }
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

// Does a value of f16 or bf16 come as such, or is it the result of a computation, which f32 does and goes on with?
static bool is_stored(const HoloValue *value)
{
    while (value->producer && value->producer->op && value->producer->op->flags & HOLO_OP_MOVES &&
           value->producer->in[0])
        value = value->producer->in[0];
    return !value->producer || holo_node_is(value->producer, "Cast");
}

// Looking up costs about as much as these many additions, loads that miss the first cache included. What becomes f32
// without anything heavy is better left to the programs that pointwise operators become. NULL: it is worth it; else why not.
static const char *why_not(const Tables *t, const Chain *chain, char text[HOLO_NOTE_TEXT])
{
    bool        wide = is_16(chain->root), narrow_end = holo_dtype_size(chain->end->type.dtype) == 1;
    const char *type = holo_dtype_name((HoloDtype)chain->root->type.dtype);
    int         few = wide ? COUNT_16 : COUNT_8, least = wide || !narrow_end ? HEAVY : 3;
    if (t->rewrite.all->all_tables) return NULL;
    if (chain->cost < least)
        return holo_note_text(text,
                              wide || !narrow_end
                                  ? "nothing in it is costly, and vectors of f32 compute it faster than %s is looked up"
                                  : "as little as this costs less than looking %s up",
                              type);
    if (count_of(chain->root) < few) return holo_note_text(text, "there are fewer than %d elements of %s", few, type);
    if (wide && !t->rewrite.all->is_exact && !is_stored(chain->root))
        return holo_note_text(text, "the %s is computed in f32 just before, and goes on as f32", type);
    return NULL;
}

static void note(const Tables *t, const Chain *chain, HoloVerdict verdict, uint64_t bytes, const char *why)
{
    char what[HOLO_NOTE_TEXT];
    holo_note_types(what, chain->nodes, chain->count);
    holo_notes_add(
        t->rewrite.all->notes,
        &(HoloNote){
            .pass = "tables", .place = chain->end->name, .what = what, .why = why, .verdict = verdict, .bytes = bytes});
}

// ---- the table

// An element for each pattern of a byte or two. Types may have fewer: the rest is 0, or true.
static HoloStatus patterns_make(const Chain *chain, HoloArena *arena, HoloTensor *out, HoloError *error)
{
    const HoloTensor *root  = &chain->root->type;
    int64_t           count = (int64_t)1 << 8 * holo_dtype_size((HoloDtype)root->dtype);
    int64_t           all   = holo_dtype_patterns((HoloDtype)root->dtype);
    *out                    = (HoloTensor){.dtype = root->dtype, .kind = HOLO_TENSOR, .rank = 1, .dim = {count}};
    if (!(out->data = holo_arena_take(arena, holo_tensor_bytes(out)))) return holo_fail_memory(error);
    if (root->dtype == HOLO_BOOL) memset(out->data, 1, (size_t)count);
    for (int64_t i = 0; i < all; i++) {
        HoloTensor one = {.dtype = root->dtype, .data = &(uint64_t){0}};
        holo_put_pattern(&one, 0, i);
        holo_put_pattern(out, (int64_t)holo_get_bits(&one, 0), i);
    }
    return HOLO_OK;
}

// What each node gives for all patterns. *out_done: all could be computed.
static HoloStatus chain_eval(const Tables *t, const Chain *chain, HoloTensor *out, bool *out_done, HoloError *error)
{
    HoloArena  *scratch = t->rewrite.scratch;
    HoloTensor *results = HOLO_NEW(scratch, HoloTensor, t->count);
    *out_done           = false;
    if (!results) return holo_fail_memory(error);
    HOLO_TRY(patterns_make(chain, scratch, &results[chain->root->id], error));
    for (int i = 0; i < chain->count; i++) {
        const HoloNode    *node = chain->nodes[i];
        HoloTensor        *y = &results[node->out[0]->id], *outs[1] = {y};
        HoloTensor        *constants = HOLO_NEW(scratch, HoloTensor, node->in_count);
        const HoloTensor **in        = HOLO_NEW(scratch, const HoloTensor *, node->in_count);
        if (!constants || !in) return holo_fail_memory(error);
        for (int k = 0; k < node->in_count; k++) {
            const HoloValue *value = node->in[k];
            if (!value) continue;
            in[k] = &results[value->id];
            if (!value->is_constant) continue;
            constants[k]      = value->type; // one number
            constants[k].rank = 0;
            in[k]             = &constants[k];
        }
        if (holo_node_eval(node, in, outs, scratch, NULL) != HOLO_OK) return HOLO_OK;
        if (y->kind != HOLO_TENSOR || y->rank != 1 || y->dim[0] != results[chain->root->id].dim[0]) return HOLO_OK;
    }
    *out      = results[chain->end->id];
    *out_done = out->dtype == chain->end->type.dtype;
    return HOLO_OK;
}

// ---- what stands in for a chain

// The end is made by `node`; what made it before goes on making a value that nobody may need.
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
    HoloNode  *node     = holo_graph_node(graph, chain->end->producer->name, "hologram", "Lookup", 1, 2, 1, 0);
    if (!constant || !node) return holo_fail_memory(error);
    node->op    = holo_op_find("hologram", "Lookup", 1);
    node->in[0] = chain->root;
    node->in[1] = constant;
    return end_take(t, node, chain->end, error);
}

static HoloNode *plain_build(Tables *t, const HoloNode *node)
{
    HoloGraph *graph = t->rewrite.graph;
    int        more  = node->attr_count;
    HoloNode  *plain = holo_graph_node(graph, node->name, "hologram", "Plain", 1, node->in_count, 1, more + 3);
    if (!plain) return NULL;
    plain->op = holo_op_find("hologram", "Plain", 1);
    if (more) memcpy(plain->attr, node->attr, (size_t)more * sizeof *node->attr);
    HoloString type = {node->type, strlen(node->type)}, domain = {node->domain, strlen(node->domain)};
    plain->attr[more]     = (HoloAttr){.name = "plain_op", .kind = HOLO_ATTR_STRING, .count = 1, .s = type};
    plain->attr[more + 1] = (HoloAttr){.name = "plain_domain", .kind = HOLO_ATTR_STRING, .count = 1, .s = domain};
    plain->attr[more + 2] = (HoloAttr){.name = "plain_version", .kind = HOLO_ATTR_INT, .count = 1, .i = node->version};
    return plain;
}

// The nodes once more, each Plain: others may use what the first ones give.
static HoloStatus plain_chain(Tables *t, const Chain *chain, HoloError *error)
{
    HoloValue **made = HOLO_NEW(t->rewrite.scratch, HoloValue *, t->count);
    if (!made) return holo_fail_memory(error);
    for (int i = 0; i < chain->count; i++) {
        const HoloNode *node  = chain->nodes[i];
        HoloNode       *plain = plain_build(t, node);
        if (!plain) return holo_fail_memory(error);
        for (int k = 0; k < node->in_count; k++) {
            HoloValue *value = node->in[k];
            plain->in[k]     = value && made[value->id] ? made[value->id] : value;
        }
        if (node->out[0] == chain->end) return end_take(t, plain, chain->end, error);
        HoloValue *value = made[node->out[0]->id] = holo_graph_value(t->rewrite.graph, node->out[0]->name);
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
    holo_note_text(text, "an element of %s can be %lld things: a table of %lld entries of %s",
                   holo_dtype_name((HoloDtype)chain->root->type.dtype),
                   (long long)holo_dtype_patterns((HoloDtype)chain->root->type.dtype), (long long)result.dim[0],
                   holo_dtype_name((HoloDtype)result.dtype));
    note(t, chain, HOLO_VERDICT_MADE, bytes, text);
    return table_build(t, chain, &result, error);
}

HoloStatus holo_pass_tables(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    Tables t = {
        .root   = HOLO_NEW(scratch, HoloValue *, graph->value_count + 1),
        .is_end = HOLO_NEW(scratch, bool, graph->value_count + 1),
        .count  = graph->value_count,
    };
    Chain *chain = HOLO_NEW(scratch, Chain, 1);
    if (!t.root || !t.is_end || !chain) return holo_fail_memory(error);
    HOLO_TRY(holo_rewrite_begin(&t.rewrite, graph, scratch, changes, error));
    holo_graph_number(graph);
    roots_find(&t);
    // From the last on: a chain that goes through another's end finds it as it was.
    for (int i = graph->node_count - 1; i >= 0 && holo_rewrite_more(&t.rewrite); i--) {
        HoloValue *value = graph->nodes[i]->out_count == 1 ? graph->nodes[i]->out[0] : NULL;
        if (!value || value->id >= t.count || !t.is_end[value->id] || !t.root[value->id]) continue;
        HoloArenaMark mark = holo_arena_mark(scratch);
        HOLO_TRY(end_walk(&t, value, chain, error));
        holo_arena_reset(scratch, mark);
    }
    return holo_rewrite_end(&t.rewrite, error);
}
