// attention_batch.c - lets Attention have the batch as its first dimension, where a model puts positions first.
//
// Such a model swaps the first two dimensions before its projections, counts each batch's heads as heads of their own, and
// swaps back behind the last projection. Products, sums with a row and slices of rows do not care for the order of rows: they
// are made anew for the order before the swap, and the two swaps are not needed.
#include "passes/fuse/attention_pass.h"

#include <string.h>

enum { Q, K, V, MASK, DEPTH = 6, SEEN = 3 * (DEPTH + 1) };

static const int64_t swap[] = {1, 0, 2};

typedef struct Walk {
    const HoloRewrite *rewrite;
    const int         *uses;
    int                use_count;
    const HoloValue   *seen[SEEN]; // on the way up, once for each way
    int                count;
} Walk;

static bool is_swap(const HoloNode *node)
{
    const HoloAttr *perm = holo_node_attr(node, "perm");
    return HOLO_IS(node, Transpose) && node->in[0] && perm && perm->kind == HOLO_ATTR_INTS && perm->count == 3 &&
           !memcmp(perm->ints, swap, sizeof swap);
}

static bool is_row(const HoloValue *v)
{
    return v && v->is_constant && v->type.rank <= 1;
}

// The input whose rows the node works on one by one, or whose numbers; -1: it does something else.
static int rows_input(const HoloNode *node)
{
    if (!node->op || node->in_count < 2 || !node->in[0] || !node->in[1]) return -1;
    if (HOLO_IS(node, MatMul)) return node->in[1]->type.rank == 2 ? 0 : -1;
    if (HOLO_IS(node, Add)) return is_row(node->in[1]) ? 0 : is_row(node->in[0]) ? 1 : -1;
    if (!HOLO_IS(node, Slice) || node->version < 10 || node->in_count < 4 || !node->in[3]) return -1;
    const HoloTensor *axes = &node->in[3]->type;
    if (!node->in[3]->is_constant || !axes->data || axes->rank != 1 || axes->dim[0] != 1) return -1;
    int64_t axis = holo_get_i(axes, 0);
    return axis == 2 || axis == -1 ? 0 : -1;
}

// Are the rows of the value made from swapped ones, by nodes that work on rows?
static bool is_swapped(Walk *w, const HoloValue *v)
{
    for (int depth = 0; depth <= DEPTH; depth++) {
        const HoloNode *node = v->producer;
        if (!node || !node->op || v->type.rank != 3 || v->id >= w->use_count) return false;
        if (is_swap(node)) return true;
        int input = rows_input(node);
        if (input < 0 || w->rewrite->is_output[v->id] || w->count == SEEN) return false;
        w->seen[w->count++] = v;
        v                   = node->in[input];
    }
    return false;
}

// Nothing but the ways that were walked needs what is made anew.
static bool is_ours(const Walk *w)
{
    for (int i = 0; i < w->count; i++) {
        int times = 0;
        for (int k = 0; k < w->count; k++) times += w->seen[k] == w->seen[i];
        if (w->uses[w->seen[i]->id] > times) return false;
    }
    return true;
}

// The value in the order before the swap. What is made twice is merged later. NULL: no memory.
static HoloValue *unswapped(HoloRewrite *rewrite, HoloValue *v)
{
    HoloNode *chain[DEPTH + 1];
    int       count = 0;
    while (!is_swap(v->producer)) {
        chain[count++] = v->producer;
        v              = v->producer->in[rows_input(v->producer)];
    }
    v = holo_rewrite_find(rewrite, v->producer->in[0]);
    while (v && count--) {
        const HoloNode *from = chain[count];
        HoloTensor      type = from->out[0]->type;
        type.dim[0] = from->out[0]->type.dim[1], type.dim[1] = from->out[0]->type.dim[0];
        HoloNode *to =
            holo_build_node(rewrite, from->name, from->op_id, from->version, from->in_count, from->attr_count, &type);
        if (!to) return NULL;
        for (int i = 0; i < from->in_count; i++) to->in[i] = i == rows_input(from) ? v : from->in[i];
        if (from->attr_count) memcpy(to->attr, from->attr, (size_t)from->attr_count * sizeof *to->attr);
        v = to->out[0];
    }
    return v;
}

// ---- Attention

// x in a view [1][positions][batch * size] of x [positions][batch][size], of that batch.
static HoloValue *batches(const HoloValue *v, int64_t batch)
{
    const HoloNode *view = v ? v->producer : NULL;
    if (!view || !view->op || !(view->op->flags & HOLO_OP_VIEW) || !view->in_count || !view->in[0]) return NULL;
    HoloValue        *x = view->in[0];
    const HoloTensor *t = &v->type;
    if (t->rank != 3 || x->type.rank != 3 || t->dim[0] != 1 || x->type.dim[1] < 2) return NULL;
    for (int d = 0; d < 3; d++)
        if (holo_dim_is_symbolic(x->type.dim[d])) return NULL;
    bool same = t->dim[1] == x->type.dim[0] && t->dim[2] == x->type.dim[1] * x->type.dim[2];
    return same && (!batch || x->type.dim[1] == batch) ? x : NULL;
}

static bool is_plain(const HoloNode *node)
{
    for (int i = MASK; i < node->in_count; i++)
        if (node->in[i]) return false;
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return false;
    return node->in_count >= MASK && node->out[0] && node->out[0]->type.rank == 3;
}

// The attributes of `from`, with fewer heads.
static void attributes(const HoloNode *from, int64_t batch, HoloNode *to)
{
    for (int i = 0; i < from->attr_count; i++) {
        to->attr[i] = from->attr[i];
        if (!strcmp(from->attr[i].name, "q_num_heads") || !strcmp(from->attr[i].name, "kv_num_heads"))
            to->attr[i].i = from->attr[i].i / batch;
    }
}

static bool attention_swap(Walk *w, HoloRewrite *rewrite, HoloNode *node)
{
    HoloValue *x[3], *in[3];
    int64_t batch = 0, q_heads = holo_node_int(node, "q_num_heads", 0), heads = holo_node_int(node, "kv_num_heads", 0);
    if (!is_plain(node)) return true;
    for (int i = Q; i <= V; i++) {
        if (!(x[i] = batches(node->in[i], batch)) || !is_swapped(w, x[i])) return true;
        batch = x[i]->type.dim[1];
    }
    if (q_heads < 1 || heads < 1 || q_heads % batch || heads % batch || !is_ours(w)) return true;
    for (int i = Q; i <= V; i++)
        if (!(in[i] = unswapped(rewrite, x[i]))) return false;
    HoloTensor type = in[Q]->type;
    type.dim[2]     = node->out[0]->type.dim[2] / batch;
    HoloNode *to =
        holo_build_node(rewrite, node->name, HOLO_ID_Attention, node->version, MASK, node->attr_count, &type);
    if (!to) return false;
    for (int i = Q; i <= V; i++) to->in[i] = in[i];
    attributes(node, batch, to);
    HoloValue    *out     = holo_build_transpose(rewrite, to->out[0], swap);
    const int64_t shape[] = {1, -1, node->out[0]->type.dim[2]};
    if (out) out = holo_build_reshape(rewrite, out, 3, shape, node->out[0]->type.dim);
    if (out) holo_rewrite(rewrite, node->out[0], out);
    return out != NULL;
}

bool holo_attention_batch(HoloRewrite *rewrite, const int *uses, int use_count, HoloNode *node)
{
    Walk w = {.rewrite = rewrite, .uses = uses, .use_count = use_count};
    if (HOLO_IS(node, Attention)) return attention_swap(&w, rewrite, node);
    if (!is_swap(node) || !is_swapped(&w, node->in[0]) || !w.count || !is_ours(&w)) return true;
    HoloValue *out = unswapped(rewrite, node->in[0]);
    if (out) holo_rewrite(rewrite, node->out[0], out);
    return out != NULL;
}
