// turned.c - moves a Transpose of the rows of a product into the product's constant weights.
//
// After convolutions with channels last, a Transpose restores the order for a Flatten and a Gemm, or similar operators.
// If it moves elements only within a row, the product can take the rows in their current order, with weights whose rows
// are moved once.
#include "passes/build.h"

typedef struct Product {
    HoloOpId    id;
    int         weights;    // which input; the rows are input 0
    const char *transposed; // the attribute that says that weights are [columns][rows]; NULL: they never are
} Product;

static const Product products[] = {
    {HOLO_ID_MatMul, 1, NULL},
    {HOLO_ID_Gemm, 1, "transB"},
    {HOLO_ID_MatMulInteger, 1, NULL},
    {HOLO_ID_QLinearMatMul, 3, NULL},
    {HOLO_ID_MICROSOFT_QGemm, 3, "transB"},
    {HOLO_ID_MICROSOFT_MatMulIntegerToFloat, 1, NULL},
};

// What was found: `x`, transposed from dimension `first` on, is a row of `rows`.
typedef struct Turned {
    HoloValue     *rows, *weights;
    HoloValue     *x;
    const int64_t *perm;
    int            first, along; // along: the dimension of the weights that is as long as a row
} Turned;

typedef struct Turns {
    HoloRewrite rewrite;
    int        *uses;
} Turns;

static const Product *product_of(const HoloNode *node)
{
    for (int i = 0; i < HOLO_COUNT(products); i++)
        if (products[i].id == node->op_id) return &products[i];
    return NULL;
}

// The node that produces a value, if nothing else reads the value.
static const HoloNode *maker(const Turns *t, const HoloValue *value)
{
    const HoloNode *node = value->id < t->rewrite.room ? value->producer : NULL;
    if (!node || !node->op || t->uses[value->id] != 1 || t->rewrite.is_output[value->id]) return NULL;
    return node->in_count && node->in[0] ? node : NULL;
}

// Does a Transpose move only the last dimensions, which hold `count` elements? *out: the first of these.
static bool moves_rows(const HoloTensor *x, const int64_t *perm, int64_t count, int *out)
{
    int64_t all = 1;
    for (int d = x->rank - 1; d >= 0; d--) {
        if (x->dim[d] < 1 || !holo_mul(all, x->dim[d], &all) || all > count)
            return false; // dynamic sizes are less than 1
        bool is_apart = all == count;
        for (int i = 0; i < d && is_apart; i++) is_apart = perm[i] == i;
        *out = d;
        if (is_apart) return true;
    }
    return false;
}

static bool turned_of(const Turns *t, const HoloNode *node, const Product *product, Turned *out)
{
    HoloValue *rows = node->in[0], *weights = node->in_count > product->weights ? node->in[product->weights] : NULL;
    bool       is_over = product->transposed && holo_node_int(node, product->transposed, 0);
    if (!rows || rows->type.rank < 2 || !weights || !weights->is_constant || !weights->type.data ||
        weights->type.rank != 2 || holo_node_int(node, "transA", 0))
        return false;
    *out               = (Turned){.rows = rows, .weights = weights, .along = is_over ? 1 : 0};
    const HoloNode *by = maker(t, rows);
    while (by && by->op->flags & HOLO_OP_VIEW) by = maker(t, by->in[0]);
    if (!by || !HOLO_IS(by, Transpose) || by->in[0]->type.rank < 2) return false;
    const HoloAttr *perm = holo_node_attr(by, "perm");
    int64_t         k    = weights->type.dim[out->along];
    out->x               = holo_rewrite_find(&t->rewrite, by->in[0]);
    if (!perm || perm->kind != HOLO_ATTR_INTS || perm->count != out->x->type.rank) return false;
    out->perm = perm->ints;
    return k == rows->type.dim[rows->type.rank - 1] && moves_rows(&out->x->type, out->perm, k, &out->first);
}

// The weights in the order of x. NULL: no memory.
static HoloValue *weights_turn(Turns *t, const Turned *turned)
{
    const HoloTensor *x = &turned->x->type, *w = &turned->weights->type;
    int               parts = x->rank - turned->first, rank = parts + 1, before = turned->along;
    int64_t           dim[HOLO_MAX_RANK + 1], from[HOLO_MAX_RANK + 1], to[HOLO_MAX_RANK + 1];
    HoloTensor        out = *w;
    // The dimensions of the weights, with the dimensions of a row instead of their product, first in the order of the
    // Transpose.
    dim[before ? 0 : parts] = w->dim[1 - turned->along];
    for (int i = 0; i < parts; i++) dim[before + i] = x->dim[turned->perm[turned->first + i]];
    int64_t strides[HOLO_MAX_RANK + 1];
    holo_strides(rank, dim, strides);
    from[before ? 0 : parts] = strides[before ? 0 : parts];
    for (int i = 0; i < parts; i++) {
        int d            = (int)turned->perm[turned->first + i] - turned->first;
        dim[before + d]  = x->dim[turned->first + d];
        from[before + d] = strides[before + i];
    }
    holo_strides(rank, dim, to);
    size_t size = holo_dtype_size((HoloDtype)w->dtype);
    out.data    = holo_arena_take(t->rewrite.graph->arena, holo_tensor_bytes(w) + 1);
    if (!out.data) return NULL;
    holo_move(rank, dim, size, out.data, to, w->data, from);
    return holo_graph_constant(t->rewrite.graph, turned->weights->name, &out);
}

// False: no memory.
static bool apply(Turns *t, HoloNode *node)
{
    const Product *product = node->op ? product_of(node) : NULL;
    Turned         turned;
    int64_t        shape[HOLO_MAX_RANK];
    if (!product || !turned_of(t, node, product, &turned)) return true;
    const HoloTensor *rows = &turned.rows->type;
    if (!holo_build_shape(rows->rank, rows->dim, shape)) return true;
    HoloValue *weights = weights_turn(t, &turned);
    HoloValue *x       = holo_build_reshape(&t->rewrite, turned.x, rows->rank, shape, rows->dim);
    if (!weights || !x) return false;
    node->in[0]                = x;
    node->in[product->weights] = weights;
    t->rewrite.changes++;
    return true;
}

HoloStatus holo_pass_turned(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    Turns t = {.uses = NULL};
    HOLO_TRY(holo_rewrite_begin(&t.rewrite, graph, scratch, changes, error));
    if (!(t.uses = holo_graph_uses(graph, scratch))) return holo_fail_memory(error);
    int count = graph->node_count;
    for (int i = 0; i < count && holo_rewrite_more(&t.rewrite); i++) {
        holo_rewrite_inputs(&t.rewrite, graph->nodes[i]);
        if (!apply(&t, graph->nodes[i])) return holo_fail_memory(error);
    }
    return holo_rewrite_end(&t.rewrite, error);
}
