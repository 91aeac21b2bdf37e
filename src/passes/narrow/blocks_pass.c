// blocks_pass.c - lets nodes read weights in blocks as they are: a product with DecodeBlocks of a constant becomes
// MatMulBlocks, and rows of a decoded table are decoded after they are taken.
//
// The pass `integers` makes the same products with the functions here, but has them round their other factor to 8 bits.
#include "ops/hologram/blocks_op.h"
#include "passes/narrow/integers.h"

#include <string.h>

// The DecodeBlocks of a constant that makes a value; NULL: something else does.
static const HoloNode *decode_of(const HoloValue *value)
{
    const HoloNode *node = value ? value->producer : NULL;
    if (!node || !HOLO_IS(node, HOLOGRAM_DecodeBlocks) || !node->in[0] || !node->in[0]->is_constant) return NULL;
    return node->in[0]->type.data ? node : NULL;
}

// The same for the rows [n][k] of weights that a product takes as [k][n].
static const HoloNode *rows_of(const HoloNode *product)
{
    const HoloValue *w          = product->in[1];
    const HoloNode  *node       = w->producer;
    bool             transposed = holo_node_int(product, "transB", 0) != 0;
    if (!node || w->type.rank != 2) return NULL;
    if (HOLO_IS(node, Transpose)) {
        const HoloAttr *perm = holo_node_attr(node, "perm");
        if (perm && (perm->kind != HOLO_ATTR_INTS || perm->count != 2 || perm->ints[0] != 1)) return NULL;
        transposed = !transposed;
        w          = node->in[0];
    }
    return transposed ? decode_of(w) : NULL;
}

bool holo_product_is_plain(const HoloNode *node, HoloDtype dtype)
{
    bool gemm = HOLO_IS(node, Gemm);
    if ((!gemm && !HOLO_IS(node, MatMul)) || !node->in[0] || !node->in[1] || !node->out[0]) return false;
    const HoloTensor *a = &node->in[0]->type, *y = &node->out[0]->type;
    if (a->dtype != dtype || a->rank < 1 || y->rank != a->rank) return false;
    if (!gemm) return true;
    const HoloTensor *c = node->in_count > 2 && node->in[2] ? &node->in[2]->type : NULL;
    if (holo_node_int(node, "transA", 0) || holo_node_float(node, "alpha", 1) != 1 ||
        holo_node_float(node, "beta", 1) != 1)
        return false;
    return !c || (c->dtype == dtype && c->rank == 1 && c->dim[0] == y->dim[1]);
}

HoloStatus holo_blocks_product(HoloGraph *graph, HoloNode *node, bool rounds, bool *out_done, HoloError *error)
{
    const HoloNode *decode = holo_product_is_plain(node, HOLO_F32) ? rows_of(node) : NULL;
    *out_done              = decode != NULL;
    if (!decode) return HOLO_OK;
    HoloValue  *bias = node->in_count > 2 ? node->in[2] : NULL;
    HoloValue **in   = HOLO_NEW(graph->arena, HoloValue *, 3);
    HoloAttr   *attr = HOLO_NEW(graph->arena, HoloAttr, decode->attr_count + 1);
    if (!in || !attr) return holo_fail_memory(error);
    in[HOLO_BLOCKS_X]    = node->in[0];
    in[HOLO_BLOCKS_W]    = decode->in[0];
    in[HOLO_BLOCKS_BIAS] = bias;
    memcpy(attr, decode->attr, sizeof *attr * (size_t)decode->attr_count);
    attr[decode->attr_count] = (HoloAttr){.name = "rounds", .kind = HOLO_ATTR_INT, .count = 1, .i = 1};
    holo_node_become(node, HOLO_ID_HOLOGRAM_MatMulBlocks, 1);
    node->in         = in;
    node->in_count   = bias ? 3 : 2;
    node->attr       = attr;
    node->attr_count = decode->attr_count + rounds;
    return HOLO_OK;
}

// ---- rows of a table

// Gather, then decode. NULL: it is something else, or *failed: no memory.
static HoloValue *rows_take(HoloRewrite *rewrite, const HoloNode *node, bool *failed)
{
    if (!HOLO_IS(node, Gather) || node->in_count != 2 || !node->in[1] || !node->out[0]) return NULL;
    const HoloNode *decode = decode_of(node->in[0]);
    if (!decode || holo_node_int(node, "axis", 0) != 0 || node->in[0]->type.rank != 2) return NULL;
    const HoloTensor *y    = &node->out[0]->type;
    HoloTensor        rows = {.dtype = HOLO_U8, .kind = HOLO_TENSOR, .rank = y->rank};
    if (y->rank < 1) return NULL;
    memcpy(rows.dim, y->dim, sizeof rows.dim);
    rows.dim[y->rank - 1] = decode->in[0]->type.dim[1];
    HoloNode *gather      = holo_build_node(rewrite, node->name, HOLO_ID_Gather, node->version, 2, 0, &rows);
    HoloNode *after = holo_build_node(rewrite, node->name, HOLO_ID_HOLOGRAM_DecodeBlocks, 1, 1, decode->attr_count, y);
    if (!gather || !after) {
        *failed = true;
        return NULL;
    }
    gather->in[0] = decode->in[0];
    gather->in[1] = node->in[1];
    after->in[0]  = gather->out[0];
    memcpy(after->attr, decode->attr, sizeof *after->attr * (size_t)decode->attr_count);
    return after->out[0];
}

HoloStatus holo_pass_blocks(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloRewrite rewrite;
    bool        failed = false;
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, changes, error));
    int count = graph->node_count;
    for (int i = 0; i < count && holo_rewrite_more(&rewrite) && !failed; i++) {
        HoloNode *node = graph->nodes[i];
        bool      done;
        holo_rewrite_inputs(&rewrite, node);
        HOLO_TRY(holo_blocks_product(graph, node, false, &done, error));
        rewrite.changes += done;
        HoloValue *to = done ? NULL : rows_take(&rewrite, node, &failed);
        if (to) holo_rewrite(&rewrite, node->out[0], to);
    }
    return failed ? holo_fail_memory(error) : holo_rewrite_end(&rewrite, error);
}
