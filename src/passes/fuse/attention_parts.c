// attention_parts.c - for GPUs: queries, keys and values that are parts of one product become products of their own.
//
// The parts would have to be copied, since every value is dense; a GPU takes longer for that than three products take more than one.
#include "passes/fuse/attention_pass.h"

#include <string.h>

enum { Q, K, V, COUNT };

typedef struct Part {
    HoloValue *of;        // the product, or the sum of it and a row
    int64_t    from, end; // columns
} Part;

static bool is_for_gpu(const HoloRewrite *rewrite)
{
    const HoloTargets *targets = rewrite->all->targets;
    for (int i = 0; targets && i < targets->count; i++)
        if (!strcmp(targets->list[i]->name, "cuda")) return true;
    return false;
}

// The one number of a constant list.
static bool number(const HoloNode *node, int input, int64_t *out)
{
    const HoloValue *v = node->in_count > input ? node->in[input] : NULL;
    if (!v || !v->is_constant || !v->type.data || v->type.rank != 1 || v->type.dim[0] != 1) return false;
    *out = holo_get_i(&v->type, 0);
    return true;
}

static bool sliced(const HoloNode *node, Part *out)
{
    enum { STARTS = 1, ENDS, AXES, STEPS };
    int64_t axis, step = 1, rank = node->in[0]->type.rank, width = node->in[0]->type.dim[rank - 1];
    if (node->version < 10 || !number(node, STARTS, &out->from) || !number(node, ENDS, &out->end) ||
        !number(node, AXES, &axis))
        return false;
    if (node->in_count > STEPS && node->in[STEPS] && !number(node, STEPS, &step)) return false;
    out->of = node->in[0];
    if (out->end > width) out->end = width;
    return step == 1 && (axis == -1 || axis == rank - 1);
}

static bool split(const HoloNode *node, const HoloValue *v, Part *out)
{
    int64_t axis = holo_node_int(node, "axis", 0), rank = node->in[0]->type.rank, at = 0;
    if (axis != -1 && axis != rank - 1) return false;
    for (int i = 0; i < node->out_count; i++) {
        if (!node->out[i] || node->out[i]->type.rank != rank || holo_dim_is_symbolic(node->out[i]->type.dim[rank - 1]))
            return false;
        if (node->out[i] == v) *out = (Part){node->in[0], at, at + node->out[i]->type.dim[rank - 1]};
        at += node->out[i]->type.dim[rank - 1];
    }
    return out->of != NULL;
}

static bool part_of(HoloValue *v, Part *out)
{
    const HoloNode *node = v ? v->producer : NULL;
    *out                 = (Part){0};
    if (!node || !node->op || !node->in_count || !node->in[0] || v->type.rank < 2) return false;
    int rank = node->in[0]->type.rank;
    if (rank != v->type.rank || holo_dim_is_symbolic(node->in[0]->type.dim[rank - 1])) return false;
    if (HOLO_IS(node, Slice) ? !sliced(node, out) : !HOLO_IS(node, Split) || !split(node, v, out)) return false;
    return out->from >= 0 && out->from < out->end && out->end - out->from == v->type.dim[rank - 1];
}

static bool is_constant(const HoloValue *v, int rank)
{
    return v && v->is_constant && v->type.data && v->type.dtype == HOLO_F32 && v->type.rank == rank;
}

typedef struct Product {
    const HoloNode *node; // MatMul; NULL: it is something else
    const HoloNode *sum;  // the Add, or NULL
    HoloValue      *row;  // what it adds
} Product;

// The product with constant weights that the value is, or that it adds a row to.
static Product product_of(const HoloValue *v, const int *uses, int use_count)
{
    const HoloNode *node = v->producer;
    Product         p    = {0};
    if (node && node->op && HOLO_IS(node, Add) && node->in[0] && node->in[1]) {
        int of = is_constant(node->in[1], 1) ? 0 : 1;
        if (!is_constant(node->in[1 - of], 1) || node->in[of]->id >= use_count || uses[node->in[of]->id] != 1) return p;
        p.sum = node;
        p.row = node->in[1 - of];
        node  = node->in[of]->producer;
    }
    if (!node || !node->op || !HOLO_IS(node, MatMul) || !node->in[0] || !is_constant(node->in[1], 2)) return p;
    if (!p.row || p.row->type.dim[0] == node->in[1]->type.dim[1]) p.node = node;
    return p;
}

// Columns of constant weights, or of a row: the pass fold computes them.
static HoloValue *columns_of(HoloRewrite *rewrite, HoloValue *w, const Part *part)
{
    enum { INPUTS = 4 };
    HoloTensor type = w->type;
    int        axis = type.rank - 1;
    type.dim[axis]  = part->end - part->from;
    type.data       = NULL;
    HoloNode *node  = holo_build_node(rewrite, w->name, HOLO_ID_Slice, 13, INPUTS, 0, &type);
    if (!node) return NULL;
    node->in[0] = w;
    node->in[1] = holo_build_ints(rewrite, 1, &part->from);
    node->in[2] = holo_build_ints(rewrite, 1, &part->end);
    node->in[3] = holo_build_ints(rewrite, 1, &(int64_t){axis});
    return node->in[1] && node->in[2] && node->in[3] ? node->out[0] : NULL;
}

static HoloValue *part_make(HoloRewrite *rewrite, const Product *p, const HoloValue *v, const Part *part)
{
    HoloNode *to = holo_build_node(rewrite, v->name, HOLO_ID_MatMul, p->node->version, 2, 0, &v->type),
             *add =
                 p->sum && to ? holo_build_node(rewrite, v->name, HOLO_ID_Add, p->sum->version, 2, 0, &v->type) : NULL;
    if (!to || (p->sum && !add)) return NULL;
    to->in[0] = p->node->in[0];
    to->in[1] = columns_of(rewrite, p->node->in[1], part);
    if (!to->in[1] || !add) return to->in[1] ? to->out[0] : NULL;
    add->in[0] = to->out[0];
    add->in[1] = columns_of(rewrite, p->row, part);
    return add->in[1] ? add->out[0] : NULL;
}

bool holo_attention_parts(HoloRewrite *rewrite, const int *uses, int use_count, HoloNode *node)
{
    Part part[COUNT];
    if (!HOLO_IS(node, Attention) || node->in_count < COUNT || !is_for_gpu(rewrite)) return true;
    for (int i = Q; i <= V; i++) {
        const HoloValue *v = node->in[i];
        if (!part_of(node->in[i], &part[i]) || part[i].of != part[0].of || v->id >= use_count || uses[v->id] != 1 ||
            rewrite->is_output[v->id])
            return true;
    }
    HoloValue *of      = part[0].of;
    int        readers = HOLO_IS(node->in[Q]->producer, Split) ? 1 : COUNT; // what else reads it would need it whole
    Product    product = product_of(of, uses, use_count);
    if (!product.node || of->id >= use_count || uses[of->id] != readers || rewrite->is_output[of->id]) return true;
    for (int i = Q; i <= V; i++) {
        HoloValue *to = part_make(rewrite, &product, node->in[i], &part[i]);
        if (!to) return false;
        holo_rewrite(rewrite, node->in[i], to);
    }
    return true;
}
