// einsums.c - turns Einsum of f32 into MatMul, with transposes and reshapes around it; or into Mul if nothing is
// summed.
//
// Operands are multiplied from left to right, as einsum.c does, but each product is rounded to f32. A node stays if a
// name occurs twice in a term (a diagonal), if sizes of one name differ (1 and another), or if a Reshape that it needs
// cannot be written because several sizes are open.
#include "ops/standard/einsum.h"
#include "passes/build.h"

#include <string.h>

typedef struct Names {
    int    count;
    int8_t name[HOLO_EINSUM_NAMES];
} Names;

typedef struct Operand { // a value whose dimensions have names
    HoloValue *value;
    Names      names;
} Operand;

typedef struct Einsum {
    HoloRewrite *rewrite;
    HoloDim      dim[HOLO_EINSUM_NAMES];
    bool         refused; // a step cannot be written
} Einsum;

// ---- names

static int position(const Names *names, int name)
{
    const void *at = memchr(names->name, name, (size_t)names->count);
    return at ? (int)((const int8_t *)at - names->name) : -1;
}

static bool has(const Operand *x, int name)
{
    return position(&x->names, name) >= 0;
}

static void add(Names *names, int name)
{
    names->name[names->count++] = (int8_t)name;
}

static bool same(const Names *a, const Names *b)
{
    return a->count == b->count && !memcmp(a->name, b->name, (size_t)a->count);
}

// ---- steps; *x has no value if there is no memory, or if e->refused

static void type_of(const Einsum *e, const Operand *x, const Names *names, HoloTensor *out)
{
    *out      = x->value->type;
    out->rank = (int8_t)names->count;
    for (int d = 0; d < names->count; d++) out->dim[d] = e->dim[(int)names->name[d]];
}

static void reorder(Einsum *e, Operand *x, const Names *to)
{
    int64_t perm[HOLO_MAX_RANK];
    if (!x->value || same(&x->names, to)) return;
    for (int d = 0; d < to->count; d++) perm[d] = position(&x->names, to->name[d]);
    x->value = holo_build_transpose(e->rewrite, x->value, perm);
    x->names = *to;
}

// ReduceSum, Squeeze or Unsqueeze.
static HoloValue *axes_node(Einsum *e, HoloValue *x, HoloOpId id, int count, const int64_t *axes, const HoloTensor *out)
{
    bool       sums = id == HOLO_ID_ReduceSum;
    HoloValue *ints = holo_build_ints(e->rewrite, count, axes);
    HoloNode  *node = ints ? holo_build_node(e->rewrite, x->name, id, 13, 2, sums, out) : NULL;
    if (!node) return NULL;
    node->in[0] = x;
    node->in[1] = ints;
    if (sums) node->attr[0] = (HoloAttr){.name = "keepdims", .kind = HOLO_ATTR_INT, .count = 1};
    return node->out[0];
}

// Sums over names that are not needed any more.
static void sum_away(Einsum *e, Operand *x, const bool *needed)
{
    int64_t    axes[HOLO_MAX_RANK];
    int        count = 0;
    Names      left  = {0};
    HoloTensor type;
    for (int d = 0; x->value && d < x->names.count; d++)
        if (needed[(int)x->names.name[d]])
            add(&left, x->names.name[d]);
        else
            axes[count++] = d;
    if (!count) return;
    type_of(e, x, &left, &type);
    x->value = axes_node(e, x->value, HOLO_ID_ReduceSum, count, axes, &type);
    x->names = left;
}

// Inserts dimensions of size 1. `axes` are indices of the result, ascending.
static HoloValue *unsqueeze(Einsum *e, HoloValue *x, int count, const int64_t *axes)
{
    HoloTensor type;
    if (!x || !count) return x;
    type      = x->type;
    type.rank = (int8_t)(x->type.rank + count);
    for (int d = 0, k = 0, from = 0; d < type.rank; d++) {
        bool is_new = k < count && axes[k] == d;
        type.dim[d] = is_new ? 1 : x->type.dim[from++];
        k += is_new;
    }
    return axes_node(e, x, HOLO_ID_Unsqueeze, count, axes, &type);
}

// A Reshape that keeps the first `kept` dimensions and gives the others the sizes `dim`.
static HoloValue *reshape(Einsum *e, HoloValue *x, int kept, int count, const HoloDim *dim)
{
    int64_t shape[HOLO_MAX_RANK] = {0};
    HoloDim all[HOLO_MAX_RANK];
    if (!x) return NULL;
    for (int d = 0; d < kept; d++) all[d] = x->type.dim[d];
    for (int d = 0; d < count; d++) all[kept + d] = dim[d];
    if (!holo_build_shape(count, dim, shape + kept)) return e->refused = true, NULL;
    return holo_build_reshape(e->rewrite, x, kept + count, shape, all);
}

// ---- a product of two

// How two operands become a MatMul [stack, row, sums] x [stack, sums, columns].
typedef struct Plan {
    Names a, b, product; // the orders that are needed, and the order of the result
    int   stack, sums, columns;
    bool  has_row;
    int   shared; // how many names of the stack b has
} Plan;

static Plan plan(const Operand *a, const Operand *b, const Names *out)
{
    Plan p   = {.sums = 0};
    int  row = -1;
    for (int i = 0; i < out->count; i++)
        if (!has(b, out->name[i])) row = out->name[i];
    for (int i = 0; i < out->count; i++) {
        int name = out->name[i];
        if (!has(a, name) || name == row) continue;
        add(&p.a, name);
        if (has(b, name)) add(&p.b, name);
    }
    p.stack   = p.a.count;
    p.shared  = p.b.count;
    p.has_row = row >= 0;
    if (p.has_row) add(&p.a, row);
    p.product = p.a;
    for (int i = 0; i < a->names.count; i++) {
        int name = a->names.name[i];
        if (position(out, name) >= 0) continue;
        add(&p.a, name);
        add(&p.b, name);
        p.sums++;
    }
    for (int i = 0; i < out->count; i++)
        if (!has(a, out->name[i])) {
            add(&p.b, out->name[i]);
            add(&p.product, out->name[i]);
            p.columns++;
        }
    return p;
}

// How much must be moved. A product can also take its second operand transposed.
static int cost(const Plan *p, const Operand *a, const Operand *b, const Names *out)
{
    enum { MOVED = 2, TRANSPOSED = 1 };
    Names turned = {.count = p->b.count};
    for (int i = 0; i < p->b.count; i++) {
        int k          = i - p->shared;
        turned.name[i] = p->b.name[k < 0 ? i : k < p->columns ? p->shared + p->sums + k : p->shared + k - p->columns];
    }
    int of_b = same(&p->b, &b->names) ? 0 : same(&turned, &b->names) ? TRANSPOSED : MOVED;
    return (same(&p->a, &a->names) || a->value->is_constant ? 0 : MOVED) + (b->value->is_constant ? 0 : of_b) +
           (same(&p->product, out) ? 0 : MOVED);
}

static HoloDim merged(const Einsum *e, const int8_t *names, int count)
{
    HoloDim all = 1;
    for (int i = 0; i < count; i++) all = holo_dim_mul(e->rewrite->graph->dims, all, e->dim[(int)names[i]]);
    return all;
}

static HoloValue *first_factor(Einsum *e, const Plan *p, Operand a)
{
    reorder(e, &a, &p->a);
    if (p->sums > 1)
        a.value = reshape(e, a.value, p->stack + p->has_row, 1,
                          (HoloDim[]){merged(e, p->a.name + p->stack + p->has_row, p->sums)});
    return p->has_row ? a.value : unsqueeze(e, a.value, 1, (int64_t[]){p->stack});
}

static HoloValue *second_factor(Einsum *e, const Plan *p, Operand b)
{
    int64_t ones[HOLO_MAX_RANK];
    int     count = 0;
    bool    begun = false;
    reorder(e, &b, &p->b);
    if (p->sums > 1 || p->columns > 1)
        b.value = reshape(e, b.value, p->shared, 2,
                          (HoloDim[]){merged(e, p->b.name + p->shared, p->sums),
                                      merged(e, p->b.name + p->shared + p->sums, p->columns)});
    for (int i = 0, at = 0; i < p->stack; i++) { // dimensions before the first one are broadcast
        bool is_shared = position(&p->b, p->a.name[i]) >= 0;
        begun          = begun || is_shared;
        if (begun && !is_shared) ones[count++] = at;
        at += begun;
    }
    if (!p->columns && p->sums <= 1) ones[count] = p->shared + count + p->sums, count++;
    return unsqueeze(e, b.value, count, ones);
}

static HoloValue *matmul(Einsum *e, const Plan *p, HoloValue *a, HoloValue *b)
{
    HoloNode  *node;
    HoloTensor type;
    if (!a || !b) return NULL;
    type                    = a->type;
    type.dim[type.rank - 1] = b->type.dim[b->type.rank - 1];
    node                    = holo_build_node(e->rewrite, a->name, HOLO_ID_MatMul, 13, 2, 0, &type);
    if (!node) return NULL;
    node->in[0]  = a;
    node->in[1]  = b;
    HoloValue *y = node->out[0];
    HoloDim    dim[HOLO_MAX_RANK];
    for (int i = 0; i < p->columns; i++) dim[i] = e->dim[(int)p->product.name[p->stack + p->has_row + i]];
    if (p->columns > 1) y = reshape(e, y, p->stack + 1, p->columns, dim);
    int64_t axes[2] = {p->stack, p->stack + 1};
    int     count   = !p->has_row + !p->columns;
    if (!y || !count) return y;
    type      = y->type;
    type.rank = (int8_t)p->product.count;
    for (int i = 0; i < type.rank; i++) type.dim[i] = e->dim[(int)p->product.name[i]];
    return axes_node(e, y, HOLO_ID_Squeeze, count, p->has_row ? axes + 1 : axes, &type);
}

// The value with its dimensions in this order. Dimensions that it does not have get size 1.
static HoloValue *spread(Einsum *e, Operand x, const Names *names)
{
    Names   own = {0};
    int64_t ones[HOLO_MAX_RANK];
    int     count = 0;
    for (int i = 0; i < names->count; i++)
        if (has(&x, names->name[i]))
            add(&own, names->name[i]);
        else
            ones[count++] = i;
    reorder(e, &x, &own);
    return unsqueeze(e, x.value, count, ones);
}

// Multiplies element by element: the result has all names of both.
static Operand multiply(Einsum *e, const Operand *a, const Operand *b, const Names *names)
{
    Operand    out = {.names = *names};
    HoloTensor type;
    HoloValue *x = spread(e, *a, names), *y = spread(e, *b, names);
    type_of(e, a, names, &type);
    HoloNode *node = x && y ? holo_build_node(e->rewrite, a->value->name, HOLO_ID_Mul, 14, 2, 0, &type) : NULL;
    if (!node) return out;
    node->in[0] = x;
    node->in[1] = y;
    out.value   = node->out[0];
    return out;
}

// The product of two operands. `out` are all names of both that are not summed.
static Operand product(Einsum *e, Operand *a, Operand *b, const Names *out)
{
    Plan    p = plan(a, b, out), q = plan(b, a, out);
    Operand y;
    if (p.product.count == p.shared || !p.sums) { // there are no matrices
        Names all                       = *out;
        bool  needed[HOLO_EINSUM_NAMES] = {false};
        for (int i = 0; i < out->count; i++) needed[(int)out->name[i]] = true;
        for (int i = 0; i < p.sums; i++) add(&all, p.b.name[p.shared + i]);
        if (all.count > HOLO_MAX_RANK) return e->refused = true, (Operand){0};
        y = multiply(e, a, b, &all);
        sum_away(e, &y, needed);
        return y;
    }
    bool        turned = cost(&q, b, a, out) < cost(&p, a, b, out);
    const Plan *chosen = turned ? &q : &p;
    if (chosen->product.count + 2 > HOLO_MAX_RANK) return e->refused = true, (Operand){0};
    HoloValue *first = first_factor(e, chosen, turned ? *b : *a), *second = second_factor(e, chosen, turned ? *a : *b);
    y = (Operand){matmul(e, chosen, first, second), chosen->product};
    reorder(e, &y, out);
    return y;
}

// ---- the node

// Notes the sizes of an operand's names. False: a name occurs twice, or has another size elsewhere.
static bool note(Einsum *e, HoloValue *value, const HoloEinsumTerm *term, bool *known, Operand *out)
{
    *out = (Operand){.value = value};
    for (int d = 0; d < term->rank; d++) {
        int name = term->name[d];
        if (has(out, name) || (known[name] && e->dim[name] != value->type.dim[d])) return false;
        add(&out->names, name);
        e->dim[name] = value->type.dim[d];
        known[name]  = true;
    }
    return true;
}

// Finds the names that are needed after operand `done`: by the output or by a later operand.
static void find_needed(const HoloEinsumTerm *terms, int count, int done, const HoloEinsumTerm *out, bool *needed)
{
    memset(needed, 0, HOLO_EINSUM_NAMES * sizeof *needed);
    for (int d = 0; d < out->rank; d++) needed[(int)out->name[d]] = true;
    for (int i = done + 1; i < count; i++)
        for (int d = 0; d < terms[i].rank; d++) needed[(int)terms[i].name[d]] = true;
}

// The names of a product. For the last product these are those of the output, in their order.
static Names names_of(const Operand *a, const Operand *b, const bool *needed, const HoloEinsumTerm *out)
{
    Names names = {0};
    for (int d = 0; out && d < out->rank; d++) add(&names, out->name[d]);
    for (int k = 0; k < 2 && !out; k++) {
        const Operand *x = k ? b : a;
        for (int d = 0; d < x->names.count; d++) {
            int name = x->names.name[d];
            if (needed[name] && position(&names, name) < 0) add(&names, name);
        }
    }
    return names;
}

static HoloValue *compute(Einsum *e, Operand *in, const HoloEinsumTerm *terms, int count, const HoloEinsumTerm *out)
{
    bool    needed[HOLO_EINSUM_NAMES], kept[HOLO_EINSUM_NAMES];
    Operand y = in[0];
    for (int i = 0; i < count; i++) {
        find_needed(terms, count, i, out, needed);
        if (!i) { // names that the second operand has, too, are summed together with it
            sum_away(e, &y, needed);
            continue;
        }
        memcpy(kept, needed, sizeof kept);
        for (int d = 0; d < y.names.count; d++) kept[(int)y.names.name[d]] = true;
        sum_away(e, &in[i], kept);
        Names names = names_of(&y, &in[i], needed, i == count - 1 ? out : NULL);
        if (names.count > HOLO_MAX_RANK) return e->refused = true, NULL;
        if (!in[i].value || !y.value) return NULL;
        y = product(e, &y, &in[i], &names);
    }
    Names names = names_of(&y, &y, needed, out);
    reorder(e, &y, &names);
    return y.value;
}

// The replacement of the node; NULL: there is none, or *failed: no memory.
static HoloValue *apply(HoloRewrite *rewrite, const HoloNode *node, bool *failed)
{
    enum { MOST = 16 };
    const HoloTensor *types[MOST];
    HoloEinsumTerm    terms[MOST], out;
    Operand           in[MOST]                 = {{0}};
    Einsum            e                        = {.rewrite = rewrite};
    bool              known[HOLO_EINSUM_NAMES] = {false};
    if (!node->op || !HOLO_IS(node, Einsum) || node->in_count > MOST ||
        !holo_value_is(node->out[0], HOLO_F32, 0, HOLO_MAX_RANK))
        return NULL;
    for (int i = 0; i < node->in_count; i++) {
        if (!holo_value_is(node->in[i], HOLO_F32, 0, HOLO_MAX_RANK)) return NULL;
        types[i] = &node->in[i]->type;
    }
    HoloCall call = holo_node_call(node);
    call.in       = types;
    call.in_count = node->in_count;
    call.dims     = rewrite->graph->dims;
    if (holo_einsum_read(&call, terms, &out)) return NULL;
    for (int i = 0; i < node->in_count; i++)
        if (!note(&e, node->in[i], &terms[i], known, &in[i])) return NULL;
    HoloValue *value = compute(&e, in, terms, node->in_count, &out);
    *failed          = !value && !e.refused;
    return value;
}

HoloStatus holo_pass_einsum(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloRewrite rewrite;
    bool        failed = false;
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, changes, error));
    for (int i = 0, count = graph->node_count; i < count && !failed && holo_rewrite_more(&rewrite); i++) {
        HoloNode *node = graph->nodes[i];
        holo_rewrite_inputs(&rewrite, node);
        HoloValue *value = apply(&rewrite, node, &failed);
        if (value) holo_rewrite(&rewrite, node->out[0], value);
    }
    return failed ? holo_fail_memory(error) : holo_rewrite_end(&rewrite, error);
}
