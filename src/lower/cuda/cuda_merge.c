// cuda_merge.c - steps that a later step does along with its own work if rows are few, as when a language model generates a token:
// then launches are what a run waits for.
//
// - A norm whose result only products read: each of them normalises the rows that it reads.
// - Rotary embeddings of a query and of a key, and the writing of caches, which only the attention reads.
//
// Sizes are known when they are bound, so both ways stay in the plan. The steps keep their operands and their meaning; the later one
// gets what the earlier ones read, behind its own inputs, from that of number "along" on. The earlier ones say that they are "later", and
// launch nothing if rows are few. What this decides, kernels must be able to do: cuda_product.c, cuda_cache.c.
#include "graph/facts.h"
#include "lower/cuda/cuda_target.h"

typedef struct Merging {
    HoloGraph *graph;
    const int *target; // of each node
    int        number; // of this target
    HoloArena  scratch;
    int       *uses;  // by id of a value: who reads it, the graph's outputs too
    int       *takes; // of those, products that could normalise it
} Merging;

static bool is_ours(const Merging *m, const HoloNode *node)
{
    return node && m->target[node->id] == m->number;
}

static bool is_constant(const HoloValue *v)
{
    const HoloValue *from = holo_cuda_origin(v);
    return from && from->is_constant && from->type.data;
}

// ---- what a node gets

static bool attr_add(const Merging *m, HoloNode *node, HoloAttr attr)
{
    HoloAttr *all = HOLO_NEW(m->graph->arena, HoloAttr, node->attr_count + 1);
    if (!all) return false;
    for (int i = 0; i < node->attr_count; i++) all[i] = node->attr[i];
    all[node->attr_count++] = attr;
    node->attr              = all;
    return true;
}

static bool later(const Merging *m, HoloNode *node)
{
    return attr_add(m, node, (HoloAttr){.name = "later", .kind = HOLO_ATTR_INT, .count = 1, .i = 1});
}

// Inputs behind those that the node has, which are `first` at least.
static bool along(const Merging *m, HoloNode *node, int first, HoloValue *const *values, int count)
{
    if (first < node->in_count) first = node->in_count;
    HoloValue **all = HOLO_NEW(m->graph->arena, HoloValue *, first + count);
    if (!all) return false;
    for (int i = 0; i < node->in_count; i++) all[i] = node->in[i];
    for (int i = 0; i < count; i++) all[first + i] = values[i];
    node->in       = all;
    node->in_count = first + count;
    return attr_add(m, node, (HoloAttr){.name = "along", .kind = HOLO_ATTR_INT, .count = 1, .i = first});
}

// ---- norms

// Along the last axis, of what a step computed, with parameters that are known.
static bool is_norm(const Merging *m, const HoloNode *node)
{
    if (!is_ours(m, node) || (!HOLO_IS(node, RMSNormalization) && !HOLO_IS(node, LayerNormalization))) return false;
    HoloCall         call = holo_node_call(node);
    const HoloValue *x    = node->in[0];
    int64_t          axis = holo_attr_int(&call, "axis", -1);
    const HoloValue *bias = holo_node_in(node, 2);
    return (axis == -1 || axis == x->type.rank - 1) && !is_constant(x) && is_constant(node->in[1]) &&
           (!bias || is_constant(bias));
}

// With packed weights and an end that the kernel for few rows has.
static bool is_product(const Merging *m, const HoloNode *node)
{
    if (!is_ours(m, node) || (!HOLO_IS(node, HOLOGRAM_MatMul) && !HOLO_IS(node, MatMul))) return false;
    HoloCall         call = holo_node_call(node);
    const HoloValue *bias = holo_node_in(node, 2), *more = holo_node_in(node, 3);
    return is_constant(node->in[1]) && node->in[1]->type.rank == 2 && !holo_attr_int(&call, "transA", 0) &&
           (!bias || is_constant(bias)) && (!more || !is_constant(more));
}

// The norm that the product would do along; NULL: there is none.
static HoloNode *norm_of(const Merging *m, const HoloNode *node)
{
    HoloNode *norm = is_product(m, node) && node->in[0] ? node->in[0]->producer : NULL;
    return norm && is_norm(m, norm) && norm->out[0] == node->in[0] ? norm : NULL;
}

static bool norm_take(const Merging *m, HoloNode *node, const HoloNode *norm)
{
    enum { PRODUCT = 3 }; // inputs that a product may have: its tail's are behind them
    HoloCall         call      = holo_node_call(norm);
    HoloValue *const inputs[3] = {norm->in[0], norm->in[1], norm->in_count > 2 ? norm->in[2] : NULL};
    if (HOLO_IS(node, MatMul)) holo_node_become(node, HOLO_ID_HOLOGRAM_MatMul, 1);
    return along(m, node, PRODUCT, inputs, 3) &&
           attr_add(m, node,
                    (HoloAttr){.name  = "epsilon",
                               .kind  = HOLO_ATTR_FLOAT,
                               .count = 1,
                               .f     = holo_attr_float(&call, "epsilon", 1e-5)}) &&
           attr_add(m, node,
                    (HoloAttr){
                        .name = "centred", .kind = HOLO_ATTR_INT, .count = 1, .i = HOLO_IS(norm, LayerNormalization)});
}

static bool norms_merge(const Merging *m)
{
    const HoloGraph *graph = m->graph;
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *norm = norm_of(m, graph->nodes[i]);
        if (norm) m->takes[norm->out[0]->id]++;
    }
    for (int i = 0; i < graph->node_count; i++) {
        HoloNode *node = graph->nodes[i], *norm = norm_of(m, node);
        if (norm && m->takes[norm->out[0]->id] == m->uses[norm->out[0]->id] && !norm_take(m, node, norm)) return false;
    }
    for (int i = 0; i < graph->node_count; i++) {
        HoloNode *node = graph->nodes[i];
        bool      is   = is_norm(m, node) && m->takes[node->out[0]->id];
        if (is && m->takes[node->out[0]->id] == m->uses[node->out[0]->id] && !later(m, node)) return false;
    }
    return true;
}

// ---- attention over a cache

enum { QUERY, KEYS, VALUES, SLOTS, LENGTHS }; // inputs of CachedAttention
enum { PIECE = 8 };                           // numbers of 16 bytes, or of two such pieces

// Who makes a value that nothing else reads.
static HoloNode *maker_of(const Merging *m, const HoloValue *v, HoloOpId id)
{
    HoloNode *node = v ? v->producer : NULL;
    return node && node->op_id == id && is_ours(m, node) && m->uses[v->id] == 1 ? node : NULL;
}

// The step that puts new keys or values into a cache, for this attention alone.
static HoloNode *write_of(const Merging *m, const HoloNode *node, int input)
{
    enum { CACHE, FRESH, ROWS, WRITTEN };
    HoloNode *write = maker_of(m, node->in[input], HOLO_ID_HOLOGRAM_CacheWrite);
    bool      same  = write && write->in[ROWS] == node->in[SLOTS] && write->in[WRITTEN] == node->in[LENGTHS];
    return same && write->in[CACHE]->is_state && !is_constant(write->in[FRESH]) ? write : NULL;
}

// The step that turns a query or a key by angles of its place. Tables of angles are not for it.
static HoloNode *rotary_of(const Merging *m, const HoloValue *v)
{
    HoloNode *node = maker_of(m, v, HOLO_ID_RotaryEmbedding);
    return node && node->in[0]->type.rank == 3 && !holo_node_in(node, 3) && !is_constant(node->in[0]) ? node : NULL;
}

// How many pairs both turn; 0: the kernel cannot do it. Pairs are whole pieces of 16 bytes, half a vector apart.
static int64_t pairs_of(const HoloNode *q, const HoloNode *k)
{
    HoloCall      a = holo_node_call(q), b = holo_node_call(k);
    const HoloDim half = q->in[1]->type.dim[q->in[1]->type.rank - 1];
    bool fits = q->in[1] == k->in[1] && q->in[2] == k->in[2] && q->in[1]->type.rank == 3 && q->in[2]->type.rank == 3 &&
                !is_constant(q->in[1]) && !is_constant(q->in[2]);
    fits = fits && !holo_attr_int(&a, "interleaved", 0) && !holo_attr_int(&b, "interleaved", 0) &&
           holo_attr_int(&a, "num_heads", 0) > 0 &&
           q->in[0]->type.dim[2] / holo_attr_int(&a, "num_heads", 1) % PIECE == 0;
    return fits && !holo_dim_is_symbolic(half) && half % PIECE == 0 ? half : 0;
}

static bool fits_decode(const HoloNode *node)
{
    enum { LONGEST = 128 };
    HoloCall call     = holo_node_call(node);
    int64_t  heads    = holo_attr_int(&call, "num_heads", 0);
    int64_t  kv_heads = holo_attr_int(&call, "kv_num_heads", heads);
    HoloDim  q = node->in[QUERY]->type.dim[2], v = node->in[VALUES]->type.dim[2];
    return heads > 0 && kv_heads > 0 && !holo_dim_is_symbolic(q) && !holo_dim_is_symbolic(v) && q / heads <= LONGEST &&
           v / kv_heads <= LONGEST;
}

static bool attention_merge(const Merging *m, HoloNode *node)
{
    enum { OWN = 7 }; // inputs that it may have
    if (!is_ours(m, node) || !HOLO_IS(node, HOLOGRAM_CachedAttention) || !fits_decode(node)) return true;
    HoloNode *keys = write_of(m, node, KEYS), *values = write_of(m, node, VALUES);
    if (!keys || !values || keys == values) return true;
    HoloNode  *q = rotary_of(m, node->in[QUERY]), *k = rotary_of(m, keys->in[1]);
    int64_t    pairs     = q && k ? pairs_of(q, k) : 0;
    HoloValue *inputs[5] = {node->in[QUERY], keys->in[1], values->in[1]};
    if (pairs) {
        inputs[0] = q->in[0], inputs[1] = k->in[0], inputs[3] = q->in[1], inputs[4] = q->in[2];
        HoloAttr turn = {.name = "pairs", .kind = HOLO_ATTR_INT, .count = 1, .i = pairs};
        if (!attr_add(m, node, turn) || !later(m, q) || !later(m, k)) return false;
    }
    return along(m, node, OWN, inputs, 5) && later(m, keys) && later(m, values);
}

bool holo_cuda_merge(HoloGraph *graph, const int *target, int number)
{
    Merging m = {.graph = graph, .target = target, .number = number};
    m.uses    = holo_graph_uses(graph, &m.scratch);
    m.takes   = HOLO_NEW(&m.scratch, int, graph->value_count + 1);
    bool ok   = m.uses && m.takes && norms_merge(&m);
    for (int i = 0; i < graph->node_count && ok; i++) ok = attention_merge(&m, graph->nodes[i]);
    holo_arena_deinit(&m.scratch);
    return ok;
}

// ---- how such nodes run

uint32_t holo_cuda_merged(const HoloCall *call, uint32_t kernel)
{
    static const struct {
        const char *attr;
        uint32_t    plain, merged;
    } rows[] = {
        {"later", HOLO_CUDA_STEP_ROWS, HOLO_CUDA_STEP_ROWS_LATER},
        {"along", HOLO_CUDA_STEP_PRODUCT, HOLO_CUDA_STEP_ROWS_ALONG},
        {"later", HOLO_CUDA_STEP_ROTARY, HOLO_CUDA_STEP_ROTARY_LATER},
        {"later", HOLO_CUDA_STEP_WRITE, HOLO_CUDA_STEP_WRITE_LATER},
        {"along", HOLO_CUDA_STEP_CACHED, HOLO_CUDA_STEP_CACHED_ALONG},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        if (kernel == rows[i].plain && holo_attr_int(call, rows[i].attr, 0)) return rows[i].merged;
    return kernel;
}
