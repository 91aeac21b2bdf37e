// widen.c - computes operators on f16 and bf16 in f32, and keeps the values between them in f32.
//
// Narrow types save memory, but few CPUs compute in them. A node that can is given f32: constants are converted, other
// inputs are cast, and its output is cast back only for those who need it narrow: outputs of the graph, and nodes that
// stay narrow. Roundings between nodes disappear, so the pass does not run in class exact. A Cast of the model to a
// narrow type counts as such a rounding, too; only a Cast straight back, and operators that move the rounded numbers,
// keep it.
//
// A Cast of narrow constants to f32 is computed here, and only here (see fold.c). Weights that are numbers of a narrow
// type are stored in it if a kernel packs them (see lower/cpu/pack_narrow.c), whatever their type in the graph. Large
// weights of products stay as they are, with a Cast behind them that the pass `stored` removes. Rows of a table are first
// taken and then cast.
#include "format/small_float.h"
#include "ops/contract.h"
#include "passes/narrow/integers.h"

#include <string.h>

typedef struct Widen {
    HoloRewrite rewrite;
    HoloValue **wide;     // by value id: what nodes of f32 read instead; NULL: nothing yet
    bool       *is_made;  // by value id: it was computed in f32 and is not a copy of the narrow value
    bool       *is_table; // by value id: a Gather takes rows of it
    bool       *is_other; // by value id: something else than a product reads it as weights
} Widen;

static bool is_narrow(const HoloTensor *t)
{
    return t->kind == HOLO_TENSOR && (t->dtype == HOLO_F16 || t->dtype == HOLO_BF16);
}

// ---- which nodes

static bool is_tensor(const HoloValue *value)
{
    return !value || (value->type.kind == HOLO_TENSOR && value->type.rank >= 0 && value->type.dtype);
}

// Can the pass change the node, and is it worth it? Operators that only move or compare are widened if their input is
// wide already: a table of constants stays small.
static bool is_wanted(const Widen *w, const HoloNode *node)
{
    bool reads = false, has_wide = false, writes = false, moves = node->op->flags & HOLO_OP_MOVES;
    for (int i = 0; i < node->in_count; i++) {
        const HoloValue *value = node->in[i];
        if (!is_tensor(value)) return false;
        if (!value || !is_narrow(&value->type)) continue;
        reads    = true;
        has_wide = has_wide || w->is_made[value->id] || (!moves && !value->is_constant && w->wide[value->id]);
    }
    for (int i = 0; i < node->out_count; i++) {
        if (!is_tensor(node->out[i])) return false;
        writes = writes || (node->out[i] && is_narrow(&node->out[i]->type));
    }
    return reads && (has_wide || (writes && !moves));
}

static bool is_kept(const HoloNode *node)
{
    const uint32_t flags = HOLO_OP_RANDOM | HOLO_OP_CONTROL | HOLO_OP_KINDS | HOLO_OP_DYNAMIC | HOLO_OP_TYPED;
    if (!node->op || !node->op->infer || node->op->flags & flags) return true;
    for (int i = 0; i < node->attr_count; i++)
        if (node->attr[i].kind == HOLO_ATTR_TENSOR && is_narrow(node->attr[i].tensor)) return true;
    return false;
}

// Does the operator take f32 instead of its narrow inputs, give f32 instead of narrow outputs, and change nothing else?
// It does not see the contents of narrow inputs, which are not f32.
static HoloStatus takes_f32(const Widen *w, const HoloNode *node, bool *out_takes, HoloError *error)
{
    HoloArena         *scratch  = w->rewrite.scratch;
    int                in_count = node->in_count, out_count = node->out_count;
    HoloTensor        *types    = HOLO_NEW(scratch, HoloTensor, in_count + out_count);
    const HoloTensor **in       = HOLO_NEW(scratch, const HoloTensor *, in_count + 1);
    HoloTensor       **out      = HOLO_NEW(scratch, HoloTensor *, out_count + 1);
    const HoloDim    **contents = HOLO_NEW(scratch, const HoloDim *, in_count + 1);
    if (!types || !in || !out || !contents) return holo_fail_memory(error);
    for (int i = 0; i < in_count; i++) {
        if (!node->in[i]) continue;
        types[i]    = node->in[i]->type;
        contents[i] = node->in[i]->contents;
        in[i]       = &types[i];
        if (!is_narrow(&types[i])) continue;
        types[i].dtype = HOLO_F32;
        types[i].data  = NULL;
    }
    for (int i = 0; i < out_count; i++) {
        types[in_count + i].rank = -1;
        if (node->out[i]) out[i] = &types[in_count + i];
    }
    HoloError why  = {0};
    HoloCall  call = {.op         = node->op,
                      .node       = node->name,
                      .version    = node->version,
                      .in_count   = in_count,
                      .out_count  = out_count,
                      .in         = in,
                      .out        = out,
                      .attr       = node->attr,
                      .attr_count = node->attr_count,
                      .contents   = contents,
                      .dims       = w->rewrite.graph->dims,
                      .error      = &why};
    *out_takes     = holo_op_infer(&call) == HOLO_OK;
    for (int i = 0; i < out_count && *out_takes; i++) {
        if (!out[i]) continue;
        const HoloTensor *was = &node->out[i]->type;
        *out_takes            = out[i]->dtype == (is_narrow(was) ? HOLO_F32 : was->dtype) && out[i]->kind == was->kind;
    }
    return HOLO_OK;
}

// ---- weights

// May the pass `stored` have the node read input i as it is stored? It reads what a Cast or Transpose of it makes so.
static bool is_weight_of(const Widen *w, const HoloNode *node, int i)
{
    bool turns = HOLO_IS(node, Transpose) || HOLO_IS(node, Cast);
    if (turns) return i == 0 && node->out[0] && !w->is_other[node->out[0]->id];
    if (i != 1 || !node->in[0] || node->in[0]->type.rank < 2) return false;
    return holo_product_is_plain(node, (HoloDtype)node->in[0]->type.dtype);
}

static void weights_find(Widen *w, const HoloGraph *graph)
{
    for (int i = 0; i < graph->output_count; i++) w->is_other[graph->outputs[i]->id] = true;
    for (int n = graph->node_count - 1; n >= 0; n--) {
        const HoloNode *node = graph->nodes[n];
        for (int i = 0; i < node->in_count; i++)
            if (node->in[i] && !is_weight_of(w, node, i)) w->is_other[node->in[i]->id] = true;
    }
}

static bool is_kept_narrow(const Widen *w, const HoloValue *constant)
{
    return holo_stored_is_large(constant) && !w->is_other[constant->id];
}

// ---- wide values

static HoloNode *cast_build(Widen *w, HoloValue *from, HoloDtype to)
{
    HoloNode *node = holo_graph_op(w->rewrite.graph, from->name, HOLO_ID_Cast, 13, 1, 1, 1);
    if (!node) return NULL;
    node->in[0]   = from;
    node->attr[0] = (HoloAttr){.name = "to", .kind = HOLO_ATTR_INT, .count = 1, .i = (int64_t)to};
    return node;
}

// A new f32 value with the sizes of `like`.
static HoloValue *wide_new(Widen *w, const HoloValue *like)
{
    HoloValue *value = holo_graph_value(w->rewrite.graph, like->name);
    if (!value) return NULL;
    value->type       = like->type;
    value->type.dtype = HOLO_F32;
    value->type.data  = NULL;
    return value;
}

static HoloValue *wide_constant(Widen *w, const HoloValue *narrow)
{
    HoloTensor t     = narrow->type;
    int64_t    count = holo_tensor_count(&t);
    t.dtype          = HOLO_F32;
    t.data           = NULL;
    if (count > 0 && narrow->type.data) {
        float *data = HOLO_NEW(w->rewrite.graph->arena, float, count);
        if (!data) return NULL;
        const uint16_t *from = narrow->type.data;
        bool            half = narrow->type.dtype == HOLO_F16;
        for (int64_t i = 0; i < count; i++) data[i] = half ? holo_f16_decode(from[i]) : holo_bf16_decode(from[i]);
        t.data = data;
    }
    return holo_graph_constant(w->rewrite.graph, narrow->name, &t);
}

// What a node of f32 reads instead of a narrow value; NULL: no memory.
static HoloValue *wide_of(Widen *w, HoloValue *narrow)
{
    HoloValue **wide = &w->wide[narrow->id];
    if (*wide) return *wide;
    if (narrow->is_constant && !is_kept_narrow(w, narrow)) return *wide = wide_constant(w, narrow);
    HoloNode  *cast  = cast_build(w, narrow, HOLO_F32);
    HoloValue *value = cast ? wide_new(w, narrow) : NULL;
    if (value) holo_node_set_out(cast, 0, value);
    return *wide = value;
}

// ---- the walk

static HoloStatus node_widen(Widen *w, HoloNode *node, HoloError *error)
{
    for (int i = 0; i < node->in_count; i++) {
        HoloValue *narrow = node->in[i];
        if (!narrow || !is_narrow(&narrow->type)) continue;
        node->in[i] = wide_of(w, narrow);
        if (!node->in[i]) return holo_fail_memory(error);
    }
    for (int i = 0; i < node->out_count; i++) {
        HoloValue *narrow = node->out[i];
        if (!narrow || !is_narrow(&narrow->type)) continue;
        HoloValue *wide = wide_new(w, narrow);
        HoloNode  *back = wide ? cast_build(w, wide, (HoloDtype)narrow->type.dtype) : NULL;
        if (!back) return holo_fail_memory(error);
        holo_node_set_out(node, i, wide);
        holo_node_set_out(back, 0, narrow); // if nobody needs it, the pass dead removes it
        w->wide[narrow->id]    = wide;
        w->is_made[narrow->id] = true;
    }
    w->rewrite.changes++;
    return HOLO_OK;
}

// A Cast of the model to f32 is not needed if its input was computed in f32.
static void cast_skip(Widen *w, const HoloNode *node)
{
    if (!HOLO_IS(node, Cast) || !node->in[0] || !node->out[0]) return;
    if (is_narrow(&node->in[0]->type) && node->out[0]->type.dtype == HOLO_F32 && w->is_made[node->in[0]->id])
        holo_rewrite(&w->rewrite, node->out[0], w->wide[node->in[0]->id]);
}

// At a Cast of the model to a narrow type, nodes that compute read the value before rounding.
static HoloStatus cast_pass(Widen *w, const HoloNode *node, HoloError *error)
{
    if (!HOLO_IS(node, Cast) || !node->in[0] || !node->out[0] || !is_narrow(&node->out[0]->type)) return HOLO_OK;
    HoloValue *from = node->in[0], *to = node->out[0];
    if (from->type.kind != HOLO_TENSOR || is_narrow(&from->type) || from->is_constant) return HOLO_OK;
    w->wide[to->id] = from;
    if (from->type.dtype == HOLO_F32) return HOLO_OK;
    HoloNode *cast  = cast_build(w, from, HOLO_F32);
    w->wide[to->id] = cast ? wide_new(w, to) : NULL;
    if (!w->wide[to->id]) return holo_fail_memory(error);
    holo_node_set_out(cast, 0, w->wide[to->id]);
    return HOLO_OK;
}

// Is it a Cast of narrow constants to f32?
static bool is_cast_up(const HoloNode *node)
{
    return node && HOLO_IS(node, Cast) && node->in[0] && node->in[0]->is_constant && node->out[0] &&
           is_narrow(&node->in[0]->type) && node->out[0]->type.dtype == HOLO_F32;
}

static HoloStatus cast_fold(Widen *w, const HoloNode *node, HoloError *error)
{
    if (!is_cast_up(node) || w->is_table[node->out[0]->id] || is_kept_narrow(w, node->in[0])) return HOLO_OK;
    HoloValue *wide = wide_of(w, node->in[0]);
    if (!wide) return holo_fail_memory(error);
    holo_rewrite(&w->rewrite, node->out[0], wide);
    return HOLO_OK;
}

// Turns rows of a table that is cast into rows that are cast.
static HoloStatus table_keep(Widen *w, HoloNode *node, HoloError *error)
{
    if (!HOLO_IS(node, Gather) || !node->in[0] || !node->out[0] || !is_cast_up(node->in[0]->producer)) return HOLO_OK;
    HoloValue *table = node->in[0]->producer->in[0], *rows = wide_new(w, node->out[0]);
    HoloNode  *cast = rows ? cast_build(w, rows, HOLO_F32) : NULL;
    if (!cast) return holo_fail_memory(error);
    rows->type.dtype = table->type.dtype;
    holo_node_set_out(cast, 0, node->out[0]);
    holo_node_set_out(node, 0, rows);
    node->in[0] = table;
    w->rewrite.changes++;
    return HOLO_OK;
}

static HoloStatus node_walk(Widen *w, HoloNode *node, HoloError *error)
{
    bool takes = false;
    holo_rewrite_inputs(&w->rewrite, node);
    cast_skip(w, node);
    HOLO_TRY(cast_pass(w, node, error));
    HOLO_TRY(cast_fold(w, node, error));
    HOLO_TRY(table_keep(w, node, error));
    if (is_kept(node) || !is_wanted(w, node)) return HOLO_OK;
    HoloArenaMark mark = holo_arena_mark(w->rewrite.scratch);
    HOLO_TRY(takes_f32(w, node, &takes, error));
    holo_arena_reset(w->rewrite.scratch, mark);
    return takes ? node_widen(w, node, error) : HOLO_OK;
}

HoloStatus holo_pass_widen(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    if (changes->all_tables && !changes->is_late) return HOLO_OK; // tables of narrow types come first
    int   count = graph->value_count + 1;
    Widen w     = {
            .wide     = HOLO_NEW(scratch, HoloValue *, count),
            .is_made  = HOLO_NEW(scratch, bool, count),
            .is_table = HOLO_NEW(scratch, bool, count),
            .is_other = HOLO_NEW(scratch, bool, count),
    };
    if (!w.wide || !w.is_made || !w.is_table || !w.is_other) return holo_fail_memory(error);
    for (int i = 0; i < graph->node_count; i++)
        if (HOLO_IS(graph->nodes[i], Gather) && graph->nodes[i]->in[0]) w.is_table[graph->nodes[i]->in[0]->id] = true;
    weights_find(&w, graph);
    HOLO_TRY(holo_rewrite_begin(&w.rewrite, graph, scratch, changes, error));
    for (int i = 0, end = graph->node_count; i < end && holo_rewrite_more(&w.rewrite); i++)
        HOLO_TRY(node_walk(&w, graph->nodes[i], error));
    return holo_rewrite_end(&w.rewrite, error);
}
