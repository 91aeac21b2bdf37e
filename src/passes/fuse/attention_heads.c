// attention_heads.c - lets Attention take its inputs before heads are split, transposed or repeated.
//
// A rule rewrites a node that the model has or that attention_fuse.c made. It adds nodes that undo a Transpose or a
// Reshape; the pass simplify joins them with these.
#include "passes/fuse/attention_pass.h"

#include <string.h>

enum { Q, K, V, MASK };

static const int64_t heads_second[] = {0, 2, 1, 3}, heads_first[] = {1, 0, 2};

static bool is_number(HoloDim d)
{
    return !holo_dim_is_symbolic(d);
}

// Q, K and V are given with that rank, only the first output is used, and there is no cache.
static bool is_plain(const HoloNode *node, int rank)
{
    for (int i = Q; i <= V; i++)
        if (i >= node->in_count || !node->in[i] || node->in[i]->type.rank != rank) return false;
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return false;
    for (int i = MASK + 1; i < node->in_count; i++)
        if (node->in[i]) return false;
    return node->out[0] && node->out[0]->type.rank == rank;
}

static const HoloNode *producer(const HoloValue *value, HoloOpId id)
{
    const HoloNode *node = value ? value->producer : NULL;
    return node && node->op_id == id && node->in_count && node->in[0] ? node : NULL;
}

static bool has_perm(const HoloNode *node, int rank, const int64_t *perm)
{
    const HoloAttr *attr = holo_node_attr(node, "perm");
    return attr && attr->kind == HOLO_ATTR_INTS && attr->count == rank &&
           !memcmp(attr->ints, perm, (size_t)rank * sizeof *perm);
}

// A node like `node` with other inputs and `more` attributes, which come last. NULL: no memory.
static HoloNode *make_like(HoloRewrite *rewrite, const HoloNode *node, HoloValue *const *in, int more,
                           const HoloTensor *type)
{
    int       count = node->in_count > MASK ? MASK + 1 : MASK;
    HoloNode *to =
        holo_build_node(rewrite, node->name, HOLO_ID_Attention, node->version, count, node->attr_count + more, type);
    if (!to) return NULL;
    for (int i = 0; i < count; i++) to->in[i] = i == MASK ? node->in[i] : in[i];
    if (node->attr_count) memcpy(to->attr, node->attr, (size_t)node->attr_count * sizeof *to->attr);
    return to;
}

static void set_int(HoloAttr *attr, const char *name, int64_t i)
{
    *attr = (HoloAttr){.name = name, .kind = HOLO_ATTR_INT, .count = 1, .i = i};
}

// ---- heads that are repeated

// x in Reshape(Expand(view of x)) where each head of x is repeated; NULL: the value is not made so.
static HoloValue *unrepeated(const HoloValue *value)
{
    const HoloNode *view   = producer(value, HOLO_ID_Reshape),
                   *expand = view ? producer(view->in[0], HOLO_ID_Expand) : NULL;
    if (!expand || !expand->in[0]->producer || !expand->in[0]->producer->op) return NULL;
    const HoloNode   *before = expand->in[0]->producer;
    const HoloTensor *wide = &expand->out[0]->type, *narrow = &expand->in[0]->type, *all = &value->type;
    HoloValue        *x = before->op->flags & HOLO_OP_VIEW ? before->in[0] : NULL;
    if (!x || x->type.rank != 4 || wide->rank != 5 || narrow->rank != 5 || narrow->dim[2] != 1) return NULL;
    const HoloDim kept[] = {x->type.dim[0], x->type.dim[1], x->type.dim[2], x->type.dim[3]};
    for (int d = 0; d < 4; d++) {
        int     at   = d < 2 ? d : d + 1;
        bool    same = wide->dim[at] == kept[d] && narrow->dim[at] == kept[d] && kept[d] != HOLO_DIM_UNKNOWN;
        HoloDim want = d == 1 ? all->dim[1] : kept[d];
        if (!same || all->dim[d] != want) return NULL;
    }
    if (!is_number(kept[1]) || !is_number(wide->dim[2]) || !is_number(all->dim[1])) return NULL;
    return kept[1] > 0 && all->dim[1] % kept[1] == 0 && all->dim[1] / kept[1] == wide->dim[2] ? x : NULL;
}

static bool take_repeated(HoloRewrite *rewrite, HoloNode *node)
{
    HoloValue *in[] = {node->in[Q], unrepeated(node->in[K]), unrepeated(node->in[V])};
    if (!in[K] || !in[V] || in[K]->type.dim[1] != in[V]->type.dim[1]) return true;
    HoloNode *to = make_like(rewrite, node, in, 0, &node->out[0]->type);
    if (to) holo_rewrite(rewrite, node->out[0], to->out[0]);
    return to != NULL;
}

// ---- masks that hide later positions

// Does each of the `rows` queries see itself and everything before it, and does the mask do nothing else?
static bool is_triangle(const HoloTensor *t, int64_t rows)
{
    const double low = -1e4; // no weight is left, since each query sees something
    for (int64_t i = 0; i < rows * rows; i++) {
        bool   is_seen = i % rows <= i / rows;
        double x       = holo_get_f(t, i);
        if (t->dtype == HOLO_BOOL ? (x != 0) != is_seen : is_seen ? x != 0 : x > low || x != x) return false;
    }
    return true;
}

static bool take_causal(HoloRewrite *rewrite, HoloNode *node)
{
    const HoloValue *mask = node->in_count > MASK ? node->in[MASK] : NULL;
    HoloDim          rows = node->in[Q]->type.dim[2];
    if (!mask || !mask->is_constant || !mask->type.data || !is_number(rows) || node->in[K]->type.dim[2] != rows)
        return true;
    if (mask->type.dtype != HOLO_BOOL && mask->type.dtype != HOLO_F32) return true;
    int rank = mask->type.rank;
    if (rank < 2 || mask->type.dim[rank - 1] != rows || mask->type.dim[rank - 2] != rows) return true;
    if (holo_product(rank - 2, mask->type.dim) != 1 || !is_triangle(&mask->type, rows)) return true;
    if (holo_node_attr(node, "is_causal")) return true;
    HoloValue *in[] = {node->in[Q], node->in[K], node->in[V]};
    HoloNode  *to   = make_like(rewrite, node, in, 1, &node->out[0]->type);
    if (!to) return false;
    to->in_count = MASK;
    set_int(&to->attr[node->attr_count], "is_causal", 1);
    holo_rewrite(rewrite, node->out[0], to->out[0]);
    return true;
}

// ---- heads that are split and transposed

typedef struct Flat { // a value [batch][head][position][size] as [batch][position][head * size]
    HoloValue *from;
    int64_t    shape[3];
    bool       saves;    // it saves a Transpose
    bool       is_alone; // it has three dimensions and one batch
} Flat;

static bool flatten(HoloValue *value, Flat *out)
{
    const HoloDim  *dim  = value->type.dim; // batch, heads, positions, size
    const HoloNode *node = producer(value, HOLO_ID_Transpose);
    if (!is_number(dim[1]) || !is_number(dim[3])) return false;
    int64_t width = dim[1] * dim[3];
    if (node && has_perm(node, 4, heads_second)) {
        *out = (Flat){node->in[0], {0, 0, width}, true, false};
        return true;
    }
    // One batch; its positions come before the heads.
    const HoloNode *view = value->producer;
    node = view && view->op && view->op->flags & HOLO_OP_VIEW ? producer(view->in[0], HOLO_ID_Transpose) : NULL;
    if (node && dim[0] == 1 && has_perm(node, 3, heads_first) && node->out[0]->type.rank == 3 &&
        !memcmp(node->out[0]->type.dim, dim + 1, 3 * sizeof *dim)) {
        *out = (Flat){node->in[0], {1, -1, width}, true, true};
        return width > 0;
    }
    if (dim[2] != 1 && dim[1] != 1) return false; // otherwise both have the same order in memory
    *out = (Flat){value, {0, dim[2] == 1 ? 1 : -1, width}, false, false};
    return width > 0;
}

static HoloValue *make_flat(HoloRewrite *rewrite, const HoloValue *value, const Flat *flat)
{
    const HoloDim *dim    = value->type.dim;
    const HoloDim  out[3] = {dim[0], dim[2], dim[1] * dim[3]};
    return holo_build_reshape(rewrite, flat->from, 3, flat->shape, out);
}

// x [batch][position][head * size] as [batch][head][position][size]. What consumers do to undo this can be joined with
// it.
static HoloValue *make_heads(HoloRewrite *rewrite, HoloValue *x, int64_t heads, int64_t size, bool is_alone)
{
    const int64_t  shape[4] = {0, 0, heads, size}, alone[3] = {-1, heads, size};
    const HoloDim *old    = x->type.dim;
    const HoloDim  dim[4] = {old[0], old[1], heads, size};
    if (!is_alone) {
        x = holo_build_reshape(rewrite, x, 4, shape, dim);
        return x ? holo_build_transpose(rewrite, x, heads_second) : NULL;
    }
    const int64_t back_shape[4] = {1, heads, -1, size};
    const HoloDim back[4]       = {old[0], heads, old[1], size};
    x                           = holo_build_reshape(rewrite, x, 3, alone, dim + 1);
    if (x) x = holo_build_transpose(rewrite, x, heads_first);
    return x ? holo_build_reshape(rewrite, x, 4, back_shape, back) : NULL;
}

static bool take_flat(HoloRewrite *rewrite, HoloNode *node)
{
    Flat       flat[3];
    HoloValue *in[3];
    int        saved = 0;
    for (int i = Q; i <= V; i++) {
        if (!flatten(node->in[i], &flat[i])) return true;
        saved += flat[i].saves;
    }
    int64_t heads = node->in[Q]->type.dim[1], size = node->in[V]->type.dim[3];
    if (!saved || size < 1 || holo_node_attr(node, "q_num_heads") || holo_node_attr(node, "kv_num_heads")) return true;
    for (int i = Q; i <= V; i++)
        if (!(in[i] = make_flat(rewrite, node->in[i], &flat[i]))) return false;
    HoloTensor type = in[Q]->type;
    type.dim[2]     = heads * size;
    HoloNode *to    = make_like(rewrite, node, in, 2, &type);
    if (!to) return false;
    set_int(&to->attr[node->attr_count], "q_num_heads", heads);
    set_int(&to->attr[node->attr_count + 1], "kv_num_heads", node->in[K]->type.dim[1]);
    HoloValue *out = make_heads(rewrite, to->out[0], heads, size, flat[Q].is_alone);
    if (out) holo_rewrite(rewrite, node->out[0], out);
    return out != NULL;
}

// ---- MultiHeadAttention

static bool take_multihead(HoloRewrite *rewrite, HoloNode *node)
{
    enum { SCORE_BIAS = 5, VERSION = 23 };
    for (int i = MASK; i < node->in_count; i++)
        if (node->in[i] && i != SCORE_BIAS) return true;
    HoloValue *bias  = node->in_count > SCORE_BIAS ? node->in[SCORE_BIAS] : NULL;
    int64_t    heads = holo_node_int(node, "num_heads", 0);
    double     scale = holo_node_float(node, "scale", 0);
    for (int i = Q; i <= V; i++)
        if (i >= node->in_count || !node->in[i] || node->in[i]->type.rank != 3) return true;
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return true;
    HoloDim queries = node->in[Q]->type.dim[1];
    bool    causal  = holo_node_int(node, "unidirectional", 0) != 0;
    if (!node->out[0] || heads < 1 || (causal && !is_number(queries))) return true;
    // If there are more keys than queries, the last query sees all keys; Attention cannot express that.
    if (causal && queries > 1 && node->in[K]->type.dim[1] != queries) return true;
    if (bias && (bias->type.rank != 4 || bias->type.dim[3] != node->in[K]->type.dim[1])) return true;
    HoloNode *to = holo_build_node(rewrite, node->name, HOLO_ID_Attention, VERSION, bias ? 4 : 3, scale != 0 ? 4 : 3,
                                   &node->out[0]->type);
    if (!to) return false;
    for (int i = Q; i <= V; i++) to->in[i] = node->in[i];
    if (bias) to->in[MASK] = bias;
    set_int(&to->attr[0], "q_num_heads", heads);
    set_int(&to->attr[1], "kv_num_heads", heads);
    set_int(&to->attr[2], "is_causal", causal && queries > 1);
    if (scale != 0) to->attr[3] = (HoloAttr){.name = "scale", .kind = HOLO_ATTR_FLOAT, .count = 1, .f = scale};
    holo_rewrite(rewrite, node->out[0], to->out[0]);
    return true;
}

bool holo_attention_heads(HoloRewrite *rewrite, HoloNode *node)
{
    if (HOLO_IS(node, MICROSOFT_MultiHeadAttention)) return take_multihead(rewrite, node);
    if (!HOLO_IS(node, Attention) || !is_plain(node, 4)) return true;
    static bool (*const rules[])(HoloRewrite * rewrite, HoloNode * node) = {take_repeated, take_causal, take_flat};
    int before                                                           = rewrite->changes;
    for (int i = 0; i < HOLO_COUNT(rules) && rewrite->changes == before; i++)
        if (!rules[i](rewrite, node)) return false;
    return true;
}
