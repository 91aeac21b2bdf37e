// unmoved.c - finds chains of transposes and views that together move nothing.
//
// It follows a value as sizes and strides into the memory of the chain's first value, as far as a view can express it
// without a copy. If the strides at the end are those of plain memory, the last value has the first one's elements in
// the same order.
#include "passes/rewrite.h"

typedef struct Strided {
    int     rank;
    HoloDim dim[HOLO_MAX_RANK], stride[HOLO_MAX_RANK];
} Strided;

static void plain_strides(HoloDims *dims, const HoloTensor *t, HoloDim *out)
{
    HoloDim stride = 1;
    for (int d = t->rank - 1; d >= 0; d--) {
        out[d] = stride;
        stride = holo_dim_mul(dims, stride, t->dim[d]);
    }
}

static bool is_known(const HoloTensor *t)
{
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d] == HOLO_DIM_UNKNOWN || t->dim[d] == 0) return false;
    return t->kind == HOLO_TENSOR && t->rank >= 0;
}

static bool transpose_step(const HoloNode *node, Strided *s)
{
    const HoloAttr *perm   = holo_node_attr(node, "perm");
    Strided         before = *s;
    if (perm && (perm->kind != HOLO_ATTR_INTS || perm->count != s->rank)) return false;
    for (int d = 0; d < s->rank; d++) {
        int64_t from = perm ? perm->ints[d] : s->rank - 1 - d;
        if (from < 0 || from >= s->rank) return false;
        s->dim[d]    = before.dim[from];
        s->stride[d] = before.stride[from];
    }
    return true;
}

// Takes sizes of both sides, from `a` and `b` on, until their products are equal. The ends are exclusive. Only numbers
// can be multiplied; a symbol must match itself.
static bool meet(const Strided *s, int a, const HoloTensor *to, int b, int *end_a, int *end_b)
{
    HoloDim x = s->dim[a], y = to->dim[b];
    *end_a = a + 1;
    *end_b = b + 1;
    while (x != y) {
        if (holo_dim_is_symbolic(x) || holo_dim_is_symbolic(y)) return false;
        HoloDim next;
        if (x < y) {
            if (*end_a == s->rank) return false;
            next = s->dim[(*end_a)++];
            if (holo_dim_is_symbolic(next) || !holo_mul(x, next, &x)) return false;
        } else {
            if (*end_b == to->rank) return false;
            next = to->dim[(*end_b)++];
            if (holo_dim_is_symbolic(next) || !holo_mul(y, next, &y)) return false;
        }
    }
    return true;
}

static void drop_ones(Strided *s)
{
    int rank = 0;
    for (int d = 0; d < s->rank; d++) {
        if (s->dim[d] == 1) continue;
        s->dim[rank]      = s->dim[d];
        s->stride[rank++] = s->stride[d];
    }
    s->rank = rank;
}

// False: the view would need a copy.
static bool view_step(HoloDims *dims, const HoloTensor *to, Strided *s)
{
    Strided out = {.rank = to->rank};
    int     a = 0, b = 0;
    drop_ones(s);
    while (b < to->rank) {
        out.dim[b] = to->dim[b];
        if (to->dim[b] == 1) {
            out.stride[b++] = 0;
            continue;
        }
        int end_a, end_b;
        if (a == s->rank || !meet(s, a, to, b, &end_a, &end_b)) return false;
        for (int i = a; i + 1 < end_a; i++)
            if (s->stride[i] != holo_dim_mul(dims, s->stride[i + 1], s->dim[i + 1])) return false;
        HoloDim stride = s->stride[end_a - 1];
        for (int i = end_b - 1; i >= b; i--) {
            out.dim[i]    = to->dim[i];
            out.stride[i] = stride;
            stride        = holo_dim_mul(dims, stride, to->dim[i]);
        }
        a = end_a;
        b = end_b;
    }
    if (a < s->rank) return false;
    *s = out;
    return true;
}

static bool is_plain(HoloDims *dims, const Strided *s)
{
    HoloDim stride = 1;
    for (int d = s->rank - 1; d >= 0; d--) {
        if (s->dim[d] == 1) continue;
        if (s->stride[d] != stride) return false;
        stride = holo_dim_mul(dims, stride, s->dim[d]);
    }
    return true;
}

static bool moves(const HoloNode *node)
{
    return HOLO_IS(node, Transpose);
}

static bool is_link(const HoloNode *node)
{
    return node && node->op && node->in_count && node->in[0] && node->out_count && node->out[0] &&
           (moves(node) || node->op->flags & HOLO_OP_VIEW) && node->in[0]->type.dtype == node->out[0]->type.dtype &&
           is_known(&node->in[0]->type) && is_known(&node->out[0]->type);
}

HoloValue *holo_rewrite_unmoved(const HoloRewrite *rewrite, HoloNode *node)
{
    enum { CHAIN_MAX = 8 };
    HoloNode *chain[CHAIN_MAX];
    int       count = 0, transposes = 0;
    HoloDims *dims = rewrite->graph->dims;
    while (count < CHAIN_MAX && is_link(node)) {
        chain[count++] = node;
        node           = holo_rewrite_find(rewrite, node->in[0])->producer;
    }
    for (int first = count - 1; first > 0; first--) {
        HoloValue *source = holo_rewrite_find(rewrite, chain[first]->in[0]);
        Strided    s      = {.rank = source->type.rank};
        for (int d = 0; d < s.rank; d++) s.dim[d] = source->type.dim[d];
        plain_strides(dims, &source->type, s.stride);
        bool follows = true;
        transposes   = 0;
        for (int i = first; i >= 0 && follows; i--) {
            transposes += moves(chain[i]);
            follows = moves(chain[i]) ? transpose_step(chain[i], &s) : view_step(dims, &chain[i]->out[0]->type, &s);
        }
        if (follows && transposes && is_plain(dims, &s)) return source;
    }
    return NULL;
}
