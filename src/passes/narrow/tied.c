// tied.c - lets lookups read the weights of a product that multiplies with the same table.
//
// Many language models use one table twice: for the words that they read, and for the scores of those that they write. The product
// packs it. A lookup that needs it as it was would store it a second time, so it becomes TakeRows, whose kernel reads packed weights.
// A target that reads rows of blocks from packed weights alone gets every lookup in such a table as TakeRows.
// The encoder of a translator may look up the table of the decoder's product: entries before it have noted that.
#include "ops/hologram/rows_op.h"
#include "passes/narrow/integers.h"

#include <string.h>

typedef struct Tied {
    HoloRewrite rewrite;
    bool       *is_weight; // by value id: its rows are taken from packed weights, as a product of the CPU has them
    int        *uses;      // by value id
} Tied;

// The constant whose rows are the columns of a product; NULL: there is none.
static const HoloValue *weights_of(const HoloNode *node)
{
    const HoloValue *w = node->in_count > 1 ? node->in[1] : NULL;
    if (!w || !holo_stored_is_large(w)) return NULL;
    if (HOLO_IS(node, HOLOGRAM_MatMulBlocks)) return w;
    if (!HOLO_IS(node, HOLOGRAM_MatMul) && !HOLO_IS(node, Gemm)) return NULL;
    return holo_node_int(node, "transB", 0) ? w : NULL;
}

static bool is_lookup(const Tied *t, const HoloNode *node)
{
    if (!HOLO_IS(node, Gather) || node->in_count != 2 || !node->in[0] || !node->in[1] || !node->out[0]) return false;
    return holo_node_int(node, "axis", 0) == 0 && node->in[0]->is_constant && t->is_weight[node->in[0]->id] &&
           node->in[1]->type.rank >= 0;
}

// The lookup that gives rows of f32: `node` itself, or what it casts or decodes and nobody else reads.
static const HoloNode *lookup_of(const Tied *t, const HoloNode *node)
{
    bool is_cast = HOLO_IS(node, Cast) && node->out[0] && node->out[0]->type.dtype == HOLO_F32;
    if (is_lookup(t, node)) return node->in[0]->type.dtype == HOLO_F32 ? node : NULL;
    if ((!is_cast && !HOLO_IS(node, HOLOGRAM_DecodeBlocks)) || !node->in[0] || !node->in[0]->producer) return NULL;
    const HoloNode *lookup = node->in[0]->producer;
    if (!is_lookup(t, lookup) || t->uses[node->in[0]->id] != 1) return NULL;
    return (lookup->in[0]->type.dtype == HOLO_U8) == !is_cast ? lookup : NULL;
}

// ---- tables of other entries

static bool is_same(const HoloTensor *a, const HoloTensor *b)
{
    return a->dtype == b->dtype && a->rank == 2 && b->rank == 2 && a->dim[0] == b->dim[0] && a->dim[1] == b->dim[1] &&
           (a->data == b->data || !memcmp(a->data, b->data, holo_tensor_bytes(a)));
}

static bool is_tied(const HoloTied *tied, const HoloValue *table)
{
    for (int i = 0; tied && i < tied->count; i++)
        if (holo_stored_is_large(table) && is_same(&tied->table[i], &table->type)) return true;
    return false;
}

static void tied_note(HoloTied *tied, const HoloValue *table)
{
    if (tied && !is_tied(tied, table) && tied->count < HOLO_TIED_MAX) tied->table[tied->count++] = table->type;
}

static HoloValue *rows_take(Tied *t, const HoloNode *node, bool *failed)
{
    const HoloNode *lookup = lookup_of(t, node);
    if (!lookup) return NULL;
    int       attrs = HOLO_IS(node, HOLOGRAM_DecodeBlocks) ? node->attr_count : 0;
    HoloNode *take =
        holo_build_node(&t->rewrite, node->name, HOLO_ID_HOLOGRAM_TakeRows, 1, 2, attrs, &node->out[0]->type);
    if (!take) {
        *failed = true;
        return NULL;
    }
    take->in[HOLO_ROWS_TABLE] = lookup->in[0];
    take->in[HOLO_ROWS_AT]    = lookup->in[1];
    if (attrs) memcpy(take->attr, node->attr, sizeof *take->attr * (size_t)attrs);
    return take->out[0];
}

// ---- targets that take rows of blocks from packed weights

static bool packs_rows(const HoloTargets *targets)
{
    bool packs = false;
    for (int i = 0; targets && i < targets->count; i++) packs = packs || targets->list[i]->packs_rows;
    return packs;
}

// The constant whose rows are looked up and then decoded; NULL: it is something else.
static const HoloValue *decoded_table(const HoloNode *node)
{
    const HoloNode *from = HOLO_IS(node, HOLOGRAM_DecodeBlocks) && node->in[0] ? node->in[0]->producer : NULL;
    if (!from || !HOLO_IS(from, Gather) || !from->in[0] || !from->in[0]->is_constant || !from->in[0]->type.data)
        return NULL;
    return from->in[0]->type.rank == 2 ? from->in[0] : NULL;
}

HoloStatus holo_pass_tied(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    Tied t = {.is_weight = HOLO_NEW(scratch, bool, graph->value_count + 1), .uses = holo_graph_uses(graph, scratch)};
    bool failed = !t.is_weight || !t.uses, is_any = false;
    for (int i = 0; i < graph->node_count && !failed; i++) {
        const HoloValue *w = weights_of(graph->nodes[i]);
        if (!w || holo_targets_number(changes->targets, graph->nodes[i]) != 0) continue;
        t.is_weight[w->id] = is_any = true;
    }
    for (int i = 0; i < graph->node_count && !failed; i++) {
        const HoloValue *table = packs_rows(changes->targets) ? decoded_table(graph->nodes[i]) : NULL;
        if (table) t.is_weight[table->id] = is_any = true;
    }
    for (int i = 0; i < graph->node_count && !failed; i++) {
        const HoloValue *table = HOLO_IS(graph->nodes[i], Gather) ? graph->nodes[i]->in[0] : NULL;
        if (!table || t.is_weight[table->id] || !is_tied(changes->tied, table)) continue;
        t.is_weight[table->id] = is_any = true;
    }
    if (failed) return holo_fail_memory(error);
    if (!is_any) return HOLO_OK;
    HOLO_TRY(holo_rewrite_begin(&t.rewrite, graph, scratch, changes, error));
    for (int i = 0, count = graph->node_count; i < count && holo_rewrite_more(&t.rewrite) && !failed; i++) {
        HoloNode *node = graph->nodes[i];
        holo_rewrite_inputs(&t.rewrite, node);
        HoloValue *to = rows_take(&t, node, &failed);
        if (to) tied_note(changes->tied, lookup_of(&t, node)->in[0]);
        if (to) holo_rewrite(&t.rewrite, node->out[0], to);
    }
    return failed ? holo_fail_memory(error) : holo_rewrite_end(&t.rewrite, error);
}
