// one_hot.c - a one-hot matrix times a constant matrix is rows of the constant. OneHot, or Equal with 0, 1, 2 ...,
// followed by a MatMul or Gemm, becomes HotRows.
//
// A sum of one weight and zeros is that weight, to the bit, if all weights are finite. A weight of -0 gives +0, so it
// is stored as +0. If the one-hot matrix has other users, it stays for them.
#include "passes/build.h"

#include <string.h>

typedef struct OneHot {
    HoloRewrite rewrite;
    HoloError  *error;
} OneHot;

typedef struct Hot { // what a one-hot matrix is made of
    HoloValue *at;   // the indices
    bool       wraps;
    bool       is_column; // the indices have a last dimension of 1, which is dropped
} Hot;

static bool is_index(const HoloValue *value)
{
    return value && value->type.kind == HOLO_TENSOR && value->type.rank >= 0 &&
           (value->type.dtype == HOLO_I64 || value->type.dtype == HOLO_I32);
}

// ---- one-hot matrices

static bool hot_of_op(const HoloNode *node, Hot *out)
{
    const HoloValue *values = holo_node_in(node, 2), *y = node->out[0];
    int64_t          axis = holo_node_int(node, "axis", -1);
    if (!HOLO_IS(node, OneHot) || !is_index(holo_node_in(node, 0)) || !values || !values->is_constant ||
        holo_tensor_count(&values->type) != 2)
        return false;
    *out = (Hot){.at = node->in[0], .wraps = true};
    return (axis == -1 || axis == y->type.rank - 1) && holo_get_f(&values->type, 0) == 0 &&
           holo_get_f(&values->type, 1) == 1;
}

// Is it 0, 1, 2 ... in the last dimension, with 1 for all other dimensions?
static bool is_range(const HoloValue *value)
{
    if (!is_index(value) || !value->is_constant || !value->type.data || value->type.rank < 1) return false;
    int64_t count = holo_tensor_count(&value->type);
    if (count != value->type.dim[value->type.rank - 1]) return false;
    for (int64_t i = 0; i < count; i++)
        if (holo_get_i(&value->type, i) != i) return false;
    return true;
}

static bool hot_of_equal(const HoloNode *node, Hot *out)
{
    if (!HOLO_IS(node, Equal) || node->in_count != 2) return false;
    for (int side = 0; side < 2; side++) {
        HoloValue       *at = node->in[side];
        const HoloValue *to = node->in[1 - side];
        if (!is_index(at) || !is_range(to) || at->type.rank < to->type.rank || at->type.dim[at->type.rank - 1] != 1)
            continue;
        *out = (Hot){.at = at, .is_column = true};
        return true;
    }
    return false;
}

static bool hot_find(const HoloValue *value, Hot *out)
{
    const HoloNode *node = value->producer;
    bool            cast = node && HOLO_IS(node, Cast) && node->in[0];
    if (cast) node = node->in[0]->producer;
    if (!node || node->out_count != 1 || !node->out[0] || node->out[0]->type.rank < 1) return false;
    return hot_of_op(node, out) || (cast && hot_of_equal(node, out));
}

// ---- the table

static void note(const OneHot *o, const HoloNode *node, HoloVerdict verdict, uint64_t bytes, const char *why)
{
    char what[HOLO_NOTE_TEXT];
    holo_notes_add(o->rewrite.all->notes, &(HoloNote){.pass  = "onehot",
                                                      .place = node->out[0]->name,
                                                      .what  = holo_note_text(what, "a one-hot matrix, %s", node->type),
                                                      .why   = why,
                                                      .verdict = verdict,
                                                      .bytes   = bytes});
}

// The weights, row by row, with each -0 as +0. NULL: no memory.
static HoloValue *table_make(OneHot *o, const HoloValue *w, bool is_transposed)
{
    HoloTensor  t    = w->type;
    size_t      size = holo_dtype_size((HoloDtype)t.dtype);
    const char *from = t.data;
    t.dim[0]         = w->type.dim[is_transposed];
    t.dim[1]         = w->type.dim[!is_transposed];
    t.data           = holo_arena_take(o->rewrite.graph->arena, holo_tensor_bytes(&t));
    if (!t.data) return NULL;
    for (int64_t i = 0; i < t.dim[0]; i++)
        for (int64_t k = 0; k < t.dim[1]; k++) {
            int64_t at = i * t.dim[1] + k, of = is_transposed ? k * t.dim[0] + i : at;
            memcpy((char *)t.data + (size_t)at * size, from + (size_t)of * size, size);
            if (holo_get_f(&t, at) == 0) holo_put_f(&t, at, 0);
        }
    return holo_graph_constant(o->rewrite.graph, w->name, &t);
}

static bool is_table(const HoloValue *w)
{
    const uint32_t types = HOLO_TYPES_FLOAT | HOLO_TYPES_INT | HOLO_TYPES_UINT;
    return w && w->is_constant && w->type.data && w->type.rank == 2 && types >> w->type.dtype & 1;
}

// ---- the product

static bool is_product(const HoloNode *node)
{
    if (HOLO_IS(node, MatMul)) return node->in_count == 2;
    return HOLO_IS(node, Gemm) && !holo_node_int(node, "transA", 0) && holo_node_float(node, "alpha", 1) == 1 &&
           (!holo_node_in(node, 2) || holo_node_float(node, "beta", 1) == 1);
}

static HoloValue *indices_of(OneHot *o, const Hot *hot)
{
    HoloTensor type = hot->at->type;
    if (!hot->is_column) return hot->at;
    type.rank--;
    HoloValue *axes = holo_build_ints(&o->rewrite, 1, (const int64_t[]){type.rank});
    HoloNode  *node = axes ? holo_build_node(&o->rewrite, hot->at->name, HOLO_ID_Squeeze, 13, 2, 0, &type) : NULL;
    if (!node) return NULL;
    node->in[0] = hot->at;
    node->in[1] = axes;
    return node->out[0];
}

// HotRows of the table, and what a Gemm adds. NULL: no memory.
static HoloValue *rows_build(OneHot *o, const HoloNode *node, const Hot *hot, HoloValue *table)
{
    HoloRewrite *r  = &o->rewrite;
    HoloValue   *at = indices_of(o, hot), *y = holo_graph_value(r->graph, node->out[0]->name);
    HoloNode    *rows = holo_graph_op(r->graph, node->name, HOLO_ID_HOLOGRAM_HotRows, 1, 2, 1, hot->wraps);
    if (!at || !y || !rows) return NULL;
    y->type      = node->out[0]->type;
    y->type.data = NULL;
    rows->in[0]  = table;
    rows->in[1]  = at;
    if (hot->wraps) rows->attr[0] = (HoloAttr){.name = "wrap", .kind = HOLO_ATTR_INT, .count = 1, .i = 1};
    holo_node_set_out(rows, 0, y);
    HoloValue *c = HOLO_IS(node, Gemm) ? holo_node_in(node, 2) : NULL;
    if (!c) return y;
    HoloNode *add = holo_build_node(r, node->name, HOLO_ID_Add, 14, 2, 0, &node->out[0]->type);
    if (!add) return NULL;
    add->in[0] = y;
    add->in[1] = c;
    return add->out[0];
}

static HoloStatus node_walk(OneHot *o, HoloNode *node)
{
    Hot hot;
    holo_rewrite_inputs(&o->rewrite, node);
    if (!is_product(node) || !node->out[0] || !holo_node_in(node, 0) || !is_table(holo_node_in(node, 1)) ||
        !hot_find(node->in[0], &hot))
        return HOLO_OK;
    if (!holo_tensor_is_finite(&node->in[1]->type)) {
        note(o, node, HOLO_VERDICT_FAILS, 0, "a weight is not finite, and times 0 it is not a number");
        return HOLO_OK;
    }
    HoloValue *table = table_make(o, node->in[1], holo_node_int(node, "transB", 0) != 0);
    HoloValue *made  = table ? rows_build(o, node, &hot, table) : NULL;
    if (!made) return holo_fail_memory(o->error);
    if (holo_rewrite(&o->rewrite, node->out[0], made))
        note(o, node, HOLO_VERDICT_MADE, holo_tensor_bytes(&table->type),
             "each row of the product is a row of the matrix");
    return HOLO_OK;
}

HoloStatus holo_pass_one_hot(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    OneHot o = {.error = error};
    HOLO_TRY(holo_rewrite_begin(&o.rewrite, graph, scratch, changes, error));
    int count = graph->node_count;
    for (int i = 0; i < count && holo_rewrite_more(&o.rewrite); i++) HOLO_TRY(node_walk(&o, graph->nodes[i]));
    return holo_rewrite_end(&o.rewrite, error);
}
