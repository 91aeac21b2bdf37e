// cse.c - merges duplicates: constants with the same content, values that are the same expressions, and nodes of the
// same operator with the same inputs and attributes.
//
// Large constants are first compared by a sample of their bytes. Only if the samples are equal are all bytes compared.
#include "passes/rewrite.h"

#include "base/hash.h"

#include <string.h>

typedef struct Table { // of values or nodes, by hash; equal hashes form a chain
    struct Item {
        uint64_t     hash;
        void        *thing;
        struct Item *next;
    } * *slot;
    size_t     room;
    HoloArena *scratch;
} Table;

static bool table_init(Table *table, HoloArena *scratch, int count)
{
    table->room    = 64;
    table->scratch = scratch;
    while (table->room < (size_t)count * 2) table->room *= 2;
    table->slot = HOLO_NEW(scratch, struct Item *, table->room);
    return table->slot;
}

enum { LIKE_MAX = 64 }; // unequal things of one hash that are compared with another; so many are made to take time

// The first thing in the table that equals `thing`. If there is none, adds `thing` and returns it.
static void *table_join(Table *table, uint64_t hash, void *thing, bool (*equal)(const void *a, const void *b))
{
    struct Item **at = &table->slot[hash & (table->room - 1)];
    for (int like = 0; *at; at = &(*at)->next) {
        if ((*at)->hash != hash) continue;
        if (equal((*at)->thing, thing)) return (*at)->thing;
        if (++like == LIKE_MAX) return thing;
    }
    *at = HOLO_NEW(table->scratch, struct Item, 1);
    if (!*at) return NULL;
    (*at)->hash  = hash;
    (*at)->thing = thing;
    return thing;
}

static uint64_t mix(uint64_t hash, uint64_t x)
{
    hash = (hash ^ x) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static uint64_t mix_bytes(uint64_t hash, const void *data, size_t size)
{
    return size ? mix(hash, holo_hash(data, size).word[0]) : mix(hash, 1);
}

// ---- values without a producer

static uint64_t type_hash(const HoloTensor *t)
{
    uint64_t hash = mix(mix(t->dtype, t->kind), (uint64_t)t->rank);
    for (int i = 0; i < t->rank; i++) hash = mix(hash, (uint64_t)t->dim[i]);
    return hash;
}

// Hashes some bytes from everywhere: equal constants have equal samples.
static uint64_t sample_hash(uint64_t hash, const char *data, size_t size)
{
    enum { PIECE = 256, PIECES = 16 };
    if (size <= (size_t)PIECE * PIECES) return mix_bytes(hash, data, size);
    size_t step = (size - PIECE) / (PIECES - 1);
    for (size_t i = 0; i < PIECES; i++) hash = mix_bytes(hash, data + i * step, PIECE);
    return hash;
}

static uint64_t leaf_hash(const HoloValue *value)
{
    uint64_t hash = type_hash(&value->type);
    if (value->is_constant) return sample_hash(hash, value->type.data, holo_tensor_bytes(&value->type));
    return mix_bytes(hash, value->contents, (size_t)holo_tensor_count(&value->type) * sizeof(HoloDim));
}

static bool leaf_equal(const void *x, const void *y)
{
    const HoloValue *a = x, *b = y;
    if (a->is_constant != b->is_constant || !holo_type_equal(&a->type, &b->type)) return false;
    size_t size = holo_tensor_bytes(&a->type), count = (size_t)holo_tensor_count(&a->type);
    if (!a->is_constant) return memcmp(a->contents, b->contents, count * sizeof(HoloDim)) == 0;
    return size == 0 || a->type.data == b->type.data || memcmp(a->type.data, b->type.data, size) == 0;
}

static HoloStatus merge_leaves(HoloRewrite *rewrite, HoloError *error)
{
    const HoloGraph *graph = rewrite->graph;
    Table            table;
    if (!table_init(&table, rewrite->scratch, graph->value_count)) return holo_fail_memory(error);
    for (int i = 0; i < graph->value_count && holo_rewrite_more(rewrite); i++) {
        HoloValue *value = graph->values[i];
        bool       is_other =
            value->producer || value->is_input || value->type.kind != HOLO_TENSOR || value->type.dtype == HOLO_STRING;
        if (is_other) continue;
        HoloValue *first = table_join(&table, leaf_hash(value), value, leaf_equal);
        if (!first) return holo_fail_memory(error);
        if (first == value || !holo_rewrite(rewrite, value, first) || !value->is_constant) continue;
        holo_notes_add(rewrite->all->notes, &(HoloNote){.pass = "cse",
                                                        .what = "constant",
                                                        .why = "another constant has the same bytes: it is stored once",
                                                        .bytes = holo_tensor_bytes(&value->type)});
    }
    return HOLO_OK;
}

// ---- nodes

static uint64_t attr_hash(const HoloAttr *attr)
{
    uint64_t hash = mix_bytes((uint64_t)attr->kind, attr->name, strlen(attr->name));
    hash          = mix(hash, (uint64_t)attr->count);
    switch (attr->kind) {
    case HOLO_ATTR_INT: return mix(hash, (uint64_t)attr->i);
    case HOLO_ATTR_INTS: return mix_bytes(hash, attr->ints, (size_t)attr->count * sizeof *attr->ints);
    case HOLO_ATTR_STRING: return mix_bytes(hash, attr->s.data, attr->s.size);
    case HOLO_ATTR_TENSOR: return mix(hash, type_hash(attr->tensor));
    default: return hash; // the rest is compared later
    }
}

static uint64_t node_hash(const HoloNode *node)
{
    uint64_t hash = mix_bytes((uint64_t)node->version, node->type, strlen(node->type));
    hash          = mix(mix(hash, (uint64_t)node->out_count), (uint64_t)node->attr_count);
    for (int i = 0; i < node->in_count; i++) hash = mix(hash, (uint64_t)(uintptr_t)node->in[i]);
    for (int i = 0; i < node->attr_count; i++) hash = mix(hash, attr_hash(&node->attr[i]));
    return hash;
}

// Can the outputs of `a`, which comes first, replace those of `b`?
static bool node_equal(const void *x, const void *y)
{
    const HoloNode *a = x, *b = y;
    if (!holo_node_same_op(a, b)) return false;
    for (int i = 0; i < a->in_count; i++)
        if (a->in[i] != b->in[i]) return false;
    for (int i = 0; i < a->out_count; i++)
        if (b->out[i] && !a->out[i]) return false;
    return true;
}

static HoloStatus merge_nodes(HoloRewrite *rewrite, HoloError *error)
{
    const HoloGraph *graph = rewrite->graph;
    Table            table;
    if (!table_init(&table, rewrite->scratch, graph->node_count)) return holo_fail_memory(error);
    for (int i = 0; i < graph->node_count && holo_rewrite_more(rewrite); i++) {
        HoloNode *node = graph->nodes[i];
        holo_rewrite_inputs(rewrite, node);
        if (!node->op || node->op->flags & (HOLO_OP_RANDOM | HOLO_OP_CONTROL)) continue;
        HoloNode *first = table_join(&table, node_hash(node), node, node_equal);
        if (!first) return holo_fail_memory(error);
        if (first == node) continue;
        for (int k = 0; k < node->out_count; k++)
            if (node->out[k]) holo_rewrite(rewrite, node->out[k], first->out[k]);
    }
    return HOLO_OK;
}

HoloStatus holo_pass_cse(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloRewrite rewrite;
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, changes, error));
    HOLO_TRY(merge_leaves(&rewrite, error));
    HOLO_TRY(merge_nodes(&rewrite, error));
    return holo_rewrite_end(&rewrite, error);
}
