// simplify.c - removes nodes that change nothing, joins views of views and transposes of transposes, and moves a Pad
// into the convolution behind it.
//
// A rule says which value equals output 0 of a node, or rewrites the node in place. holo_rewrite checks for all rules
// that consumers do not see another dtype or shape.
#include "passes/build.h"

#include <string.h>

typedef struct Simplify {
    HoloRewrite rewrite;
    const int  *uses;   // by value id, before the pass
    bool        failed; // there was no memory
} Simplify;

// The value that equals output 0; NULL: the rule does not apply.
typedef HoloValue *Rule(Simplify *s, HoloNode *node);

static bool same_type(const HoloNode *node)
{
    return holo_node_in(node, 0) && holo_type_equal(&node->in[0]->type, &node->out[0]->type);
}

// ---- arithmetic with a neutral element

static bool is_all(const HoloValue *value, double x)
{
    double number;
    return holo_value_number(value, &number) && number == x;
}

// x op neutral; and neutral op x if the operator commutes.
static HoloValue *neutral(const HoloNode *node, double element, bool commutes)
{
    if (node->in_count != 2 || !node->in[0] || !node->in[1]) return NULL;
    if (is_all(node->in[1], element) && same_type(node)) return node->in[0];
    if (commutes && is_all(node->in[0], element) && holo_type_equal(&node->in[1]->type, &node->out[0]->type))
        return node->in[1];
    return NULL;
}

static HoloValue *add_zero(Simplify *s, HoloNode *node)
{
    (void)s;
    return neutral(node, 0, true);
}

static HoloValue *subtract_zero(Simplify *s, HoloNode *node)
{
    (void)s;
    return neutral(node, 0, false);
}

static HoloValue *times_one(Simplify *s, HoloNode *node)
{
    (void)s;
    return neutral(node, 1, true);
}

static HoloValue *over_one(Simplify *s, HoloNode *node)
{
    (void)s;
    return neutral(node, 1, false);
}

// An exponent of another type, or one that is the same number everywhere, becomes one number of the base's type:
// kernels look for that. Types other than f32 stay as they are.
static HoloValue *power(Simplify *s, HoloNode *node)
{
    HoloValue *base = holo_node_in(node, 0), *exponent = holo_node_in(node, 1), *same = neutral(node, 1, false);
    double     x;
    if (same || !base || base->type.dtype != HOLO_F32 || !same_type(node)) return same;
    if (!holo_value_number(exponent, &x) || (double)(float)x != x) return NULL;
    if (exponent->type.dtype == HOLO_F32 && holo_tensor_count(&exponent->type) == 1) return NULL;
    HoloValue *number = holo_build_number(&s->rewrite, HOLO_F32, x);
    s->failed         = s->failed || !number;
    if (!number) return NULL;
    node->in[1] = number;
    s->rewrite.changes++;
    return NULL;
}

// ---- operators that do nothing

static HoloValue *same(Simplify *s, HoloNode *node)
{
    (void)s;
    return holo_node_in(node, 0);
}

static HoloValue *same_if_typed_so(Simplify *s, HoloNode *node)
{
    (void)s;
    return same_type(node) ? node->in[0] : NULL;
}

static HoloValue *only_one(Simplify *s, HoloNode *node)
{
    (void)s;
    return node->in_count == 1 && same_type(node) ? node->in[0] : NULL;
}

static HoloValue *no_bounds(Simplify *s, HoloNode *node)
{
    (void)s;
    bool has_bounds =
        holo_node_in(node, 1) || holo_node_in(node, 2) || holo_node_attr(node, "min") || holo_node_attr(node, "max");
    return has_bounds ? NULL : holo_node_in(node, 0);
}

// If the mask is used, the node stays.
static HoloValue *dropout(Simplify *s, HoloNode *node)
{
    (void)s;
    for (int i = 1; i < node->out_count; i++)
        if (node->out[i]) return NULL;
    return holo_dropout_is_off(node) ? holo_node_in(node, 0) : NULL;
}

static bool are_zero(const HoloValue *value)
{
    if (!value || !value->contents || !holo_contents_are_numbers(value)) return false;
    for (int64_t i = 0; i < holo_tensor_count(&value->type); i++)
        if (value->contents[i]) return false;
    return true;
}

// Equal sizes are not enough. Beside a size of 4, any size that is not known yet is assumed to broadcast. If it does
// not, the node must be there to report it.
static HoloValue *expand_nothing(Simplify *s, HoloNode *node)
{
    (void)s;
    const HoloValue  *shape = holo_node_in(node, 1);
    const HoloTensor *x     = same_type(node) ? &node->in[0]->type : NULL;
    if (!x || !shape || !shape->contents) return NULL;
    int64_t count = holo_tensor_count(&shape->type);
    for (int64_t i = 0; i < count; i++) {
        HoloDim wanted = shape->contents[i];
        if (wanted != 1 && (i + x->rank < count || wanted != x->dim[i + x->rank - count])) return NULL;
    }
    return node->in[0];
}

// Equal sizes are not enough: it may remove at one end what it adds at the other.
static HoloValue *pad_nothing(Simplify *s, HoloNode *node)
{
    (void)s;
    const HoloAttr *pads =
        holo_node_attr(node, "pads") ? holo_node_attr(node, "pads") : holo_node_attr(node, "paddings");
    if (!same_type(node)) return NULL;
    if (holo_node_in(node, 1)) return are_zero(holo_node_in(node, 1)) ? node->in[0] : NULL;
    if (!pads || pads->kind != HOLO_ATTR_INTS) return NULL;
    for (int i = 0; i < pads->count; i++)
        if (pads->ints[i]) return NULL;
    return node->in[0];
}

static HoloValue *slice_all(Simplify *s, HoloNode *node)
{
    (void)s;
    return holo_slice_takes_all(node) ? node->in[0] : NULL;
}

// ---- views

static bool is_view(const HoloNode *node)
{
    return node && node->op && node->op->flags & HOLO_OP_VIEW && holo_node_in(node, 0) && node->out_count &&
           node->out[0] && node->in[0]->type.dtype == node->out[0]->type.dtype && node->in[0]->type.kind == HOLO_TENSOR;
}

// Reshape takes sizes of 0 from its input, so the input must stay if there may be one.
static bool reads_input_sizes(const HoloNode *node)
{
    const HoloValue *shape = holo_node_in(node, 1);
    if (!shape || !shape->contents) return true;
    for (int64_t i = 0; i < holo_tensor_count(&shape->type); i++)
        if (shape->contents[i] == 0 || shape->contents[i] == HOLO_DIM_UNKNOWN) return true;
    return false;
}

static bool unmove(Simplify *s, HoloNode *node);

// If a view has the elements and the shape of something up the chain of views, it is that thing.
static HoloValue *view(Simplify *s, HoloNode *node)
{
    enum { CHAIN_MAX = 16 };
    if (!is_view(node)) return NULL;
    HoloValue *source = node->in[0];
    for (int i = 0; i < CHAIN_MAX; i++) {
        if (holo_type_equal(&source->type, &node->out[0]->type)) return source;
        if (!is_view(source->producer)) break;
        source = holo_rewrite_find(&s->rewrite, source->producer->in[0]);
    }
    HoloValue *product = holo_rewrite_rows(&s->rewrite, node, s->uses, &s->failed);
    if (product || s->failed) return product;
    if (HOLO_IS(node, Reshape) && is_view(node->in[0]->producer) && !reads_input_sizes(node)) {
        node->in[0] = holo_rewrite_find(&s->rewrite, node->in[0]->producer->in[0]);
        s->rewrite.changes++;
    }
    unmove(s, node);
    return NULL;
}

// ---- transposes

// The permutation of a Transpose. False: it is not valid.
static bool permutation(const HoloNode *node, int rank, int64_t *out)
{
    const HoloAttr *attr                = holo_node_attr(node, "perm");
    bool            seen[HOLO_MAX_RANK] = {false};
    for (int i = 0; i < rank; i++) {
        if (attr && (attr->kind != HOLO_ATTR_INTS || attr->count != rank)) return false;
        out[i] = attr ? attr->ints[i] : rank - 1 - i;
        if (out[i] < 0 || out[i] >= rank || seen[out[i]]) return false;
        seen[out[i]] = true;
    }
    return true;
}

static bool set_permutation(Simplify *s, HoloNode *node, const int64_t *perm, int rank)
{
    HoloAttr *attr = HOLO_NEW(s->rewrite.graph->arena, HoloAttr, 1);
    if (!attr || !holo_build_list(s->rewrite.graph, "perm", rank, perm, attr)) return false;
    node->attr       = attr;
    node->attr_count = 1;
    s->rewrite.changes++;
    return true;
}

// Joins the Transpose with the one that produces its input. False: no memory.
static bool join_transposes(Simplify *s, HoloNode *node, int64_t *perm, int rank)
{
    HoloNode *before = node->in[0]->producer;
    int64_t   first[HOLO_MAX_RANK];
    if (!before || !HOLO_IS(before, Transpose) || !before->in[0] || !permutation(before, rank, first)) return true;
    for (int i = 0; i < rank; i++) perm[i] = first[perm[i]];
    node->in[0] = holo_rewrite_find(&s->rewrite, before->in[0]);
    return set_permutation(s, node, perm, rank);
}

// Do the dimensions larger than 1 keep their order?
static bool moves_only_ones(const HoloTensor *type, const int64_t *perm)
{
    int64_t last = -1;
    for (int i = 0; i < type->rank; i++) {
        if (type->dim[perm[i]] == 1) continue;
        if (perm[i] < last) return false;
        last = perm[i];
    }
    return true;
}

// A constant shape for Reshape, with -1 for one size that is an expression. NULL: there are several such sizes, or it
// has no elements.
static HoloValue *shape_constant(Simplify *s, const HoloTensor *type)
{
    HoloArena *arena    = s->rewrite.graph->arena;
    int64_t   *data     = HOLO_NEW(arena, int64_t, type->rank);
    HoloDim   *contents = HOLO_NEW(arena, HoloDim, type->rank);
    int        open     = 0;
    if (!data || !contents) return s->failed = true, NULL;
    for (int i = 0; i < type->rank; i++) {
        bool is_open = holo_dim_is_symbolic(type->dim[i]);
        open += is_open;
        contents[i] = data[i] = is_open ? -1 : type->dim[i];
        if (data[i] == 0 || open > 1) return NULL;
    }
    HoloTensor t     = {.dtype = HOLO_I64, .rank = 1, .dim = {type->rank}, .data = data};
    HoloValue *value = holo_graph_constant(s->rewrite.graph, "sizes", &t);
    if (!value)
        s->failed = true;
    else
        value->contents = contents;
    return value;
}

static void make_reshape(Simplify *s, HoloNode *node)
{
    enum { VERSION = 13 };
    HoloValue  *shape = shape_constant(s, &node->out[0]->type);
    HoloValue **in    = HOLO_NEW(s->rewrite.graph->arena, HoloValue *, 2);
    if (!shape || !in) return;
    in[0]            = node->in[0];
    in[1]            = shape;
    node->in         = in;
    node->in_count   = 2;
    node->attr_count = 0;
    holo_node_become(node, HOLO_ID_Reshape, VERSION);
    s->rewrite.changes++;
}

// Joins transposes that cancel each other across views. True: the node is one view now.
static bool unmove(Simplify *s, HoloNode *node)
{
    HoloValue *source = holo_rewrite_unmoved(&s->rewrite, node);
    if (!source) return false;
    int        before = s->rewrite.changes;
    HoloValue *kept   = node->in[0];
    node->in[0]       = source;
    make_reshape(s, node);
    if (s->rewrite.changes == before) node->in[0] = kept;
    return s->rewrite.changes != before;
}

static HoloValue *transpose(Simplify *s, HoloNode *node)
{
    int     rank = node->in_count == 1 && node->in[0] ? node->in[0]->type.rank : -1;
    int64_t perm[HOLO_MAX_RANK];
    if (rank < 0 || node->out[0]->type.rank != rank || !permutation(node, rank, perm)) return NULL;
    if (!join_transposes(s, node, perm, rank)) return s->failed = true, NULL;
    bool is_identity = true;
    for (int i = 0; i < rank; i++) is_identity &= perm[i] == i;
    if (is_identity) return node->in[0];
    if (moves_only_ones(&node->in[0]->type, perm))
        make_reshape(s, node);
    else
        unmove(s, node);
    return NULL;
}

// Only the type of the second input matters, and it is known: the input need not be computed.
static HoloValue *cast_like(Simplify *s, HoloNode *node)
{
    HoloValue *value = same_if_typed_so(s, node);
    int        dtype = node->out[0]->type.dtype;
    if (value || !dtype) return value;
    HoloAttr *attr = HOLO_NEW(s->rewrite.graph->arena, HoloAttr, node->attr_count + 1);
    if (!attr) return s->failed = true, NULL;
    if (node->attr_count) memcpy(attr, node->attr, (size_t)node->attr_count * sizeof *attr);
    attr[node->attr_count++] = (HoloAttr){.name = "to", .kind = HOLO_ATTR_INT, .count = 1, .i = dtype};
    node->attr               = attr;
    node->in_count           = 1;
    holo_node_become(node, HOLO_ID_Cast, node->version);
    s->rewrite.changes++;
    return NULL;
}

// The window covers the whole image. In f64 sums in another order have other last bits, and no kernel is gained.
static HoloValue *average_all(Simplify *s, HoloNode *node)
{
    const HoloTensor *x = holo_node_in(node, 0) ? &node->in[0]->type : NULL, *y = &node->out[0]->type;
    const HoloAttr   *kernel = holo_node_attr(node, "kernel_shape"), *pads = holo_node_attr(node, "pads");
    const HoloAttr   *pad = holo_node_attr(node, "auto_pad"), *dilations = holo_node_attr(node, "dilations");
    if (!x || x->dtype == HOLO_F64 || x->rank < 3 || y->rank != x->rank || !kernel || kernel->kind != HOLO_ATTR_INTS ||
        kernel->count != x->rank - 2 || dilations || pad || (pads && pads->kind != HOLO_ATTR_INTS))
        return NULL;
    for (int d = 2; d < x->rank; d++)
        if (x->dim[d] != kernel->ints[d - 2] || y->dim[d] != 1) return NULL;
    for (int i = 0; pads && i < pads->count; i++)
        if (pads->ints[i]) return NULL;
    node->attr_count = 0;
    holo_node_become(node, HOLO_ID_GlobalAveragePool, 1);
    s->rewrite.changes++;
    return NULL;
}

static HoloValue *padded(Simplify *s, HoloNode *node)
{
    (void)holo_rewrite_padding(&s->rewrite, node, &s->failed);
    (void)holo_rewrite_taps(&s->rewrite, node, 1, &s->failed);
    return NULL;
}

static HoloValue *padded_integers(Simplify *s, HoloNode *node)
{
    (void)holo_rewrite_taps(&s->rewrite, node, HOLO_IS(node, QLinearConv) ? 3 : 1, &s->failed);
    return NULL;
}

// ---- the table

// To sizes that it has already. Scales could round to the same sizes, and move pixels.
static HoloValue *resize_same(Simplify *s, HoloNode *node)
{
    static const char *const modes[] = {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"};
    HoloCall                 call    = {.attr = node->attr, .attr_count = node->attr_count};
    bool                     known   = false;
    (void)s;
    if (node->version < 11 || !holo_node_in(node, 3) || holo_node_in(node, 2) || !same_type(node)) return NULL;
    for (int i = 0; i < HOLO_COUNT(modes); i++)
        known = known || holo_attr_is(&call, "coordinate_transformation_mode", "half_pixel", modes[i]);
    for (int d = 0; d < node->out[0]->type.rank; d++) known = known && !holo_dim_is_symbolic(node->out[0]->type.dim[d]);
    bool plain = holo_attr_is(&call, "mode", "nearest", "nearest") || holo_attr_is(&call, "mode", "nearest", "linear");
    return known && plain ? node->in[0] : NULL;
}

static const struct {
    HoloOpId id;
    Rule    *rule;
} rules[] = {
    {HOLO_ID_Add, add_zero},
    {HOLO_ID_Sub, subtract_zero},
    {HOLO_ID_Resize, resize_same},
    {HOLO_ID_Mul, times_one},
    {HOLO_ID_Div, over_one},
    {HOLO_ID_Pow, power},
    {HOLO_ID_Identity, same},
    {HOLO_ID_Dropout, dropout},
    {HOLO_ID_Cast, same_if_typed_so},
    {HOLO_ID_CastLike, cast_like},
    {HOLO_ID_Expand, expand_nothing},
    {HOLO_ID_Tile, same_if_typed_so},
    {HOLO_ID_Pad, pad_nothing},
    {HOLO_ID_Slice, slice_all},
    {HOLO_ID_Clip, no_bounds},
    {HOLO_ID_Concat, only_one},
    {HOLO_ID_Sum, only_one},
    {HOLO_ID_Mean, only_one},
    {HOLO_ID_Min, only_one},
    {HOLO_ID_Max, only_one},
    {HOLO_ID_Transpose, transpose},
    {HOLO_ID_Reshape, view},
    {HOLO_ID_Flatten, view},
    {HOLO_ID_Squeeze, view},
    {HOLO_ID_Unsqueeze, view},
    {HOLO_ID_AveragePool, average_all},
    {HOLO_ID_Conv, padded},
    {HOLO_ID_ConvInteger, padded_integers},
    {HOLO_ID_QLinearConv, padded_integers},
};

// Drops an Expand of an operand if broadcasting does the same anyway.
static void drop_expands(Simplify *s, HoloNode *node)
{
    if (!(node->op->flags & HOLO_OP_POINTWISE) || node->version < 7 || node->in_count != 2 || node->out_count != 1)
        return;
    for (int i = 0; i < 2; i++) {
        const HoloValue *other = node->in[1 - i];
        const HoloNode  *from  = node->in[i] ? node->in[i]->producer : NULL;
        if (!from || !HOLO_IS(from, Expand) || !other || !holo_type_equal(&other->type, &node->out[0]->type) ||
            from->in[0]->type.rank < 0)
            continue;
        node->in[i] = holo_rewrite_find(&s->rewrite, from->in[0]);
        s->rewrite.changes++;
    }
}

static HoloValue *apply(Simplify *s, HoloNode *node)
{
    if (!node->op || *node->domain || node->out_count < 1 || !node->out[0]) return NULL;
    drop_expands(s, node);
    for (int i = 0; i < HOLO_COUNT(rules); i++)
        if (rules[i].id == node->op_id) return rules[i].rule(s, node);
    return NULL;
}

HoloStatus holo_pass_simplify(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    Simplify s = {.failed = false};
    HOLO_TRY(holo_rewrite_begin(&s.rewrite, graph, scratch, changes, error));
    if (!(s.uses = holo_graph_uses(graph, scratch))) return holo_fail_memory(error);
    int count = graph->node_count;
    for (int i = 0; i < count && !s.failed && holo_rewrite_more(&s.rewrite); i++) {
        HoloNode *node = graph->nodes[i];
        holo_rewrite_inputs(&s.rewrite, node);
        HoloValue *value = apply(&s, node);
        if (value) holo_rewrite(&s.rewrite, node->out[0], value);
    }
    return s.failed ? holo_fail_memory(error) : holo_rewrite_end(&s.rewrite, error);
}
