// tflite_hlo.c - operators of StableHLO, which files have where TensorFlow Lite has none of its own. Sizes are those of the
// file: they are never open there.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

#include <string.h>

int holo_tf_hlo_longs(HoloTfOp *op, int field, int64_t *out, int room)
{
    HoloFlatList list = holo_flat_list(op->options, field, 8);
    if (list.count > (size_t)room) return holo_tf_fail(op, "a list of its options is too long"), -1;
    for (size_t i = 0; i < list.count; i++) out[i] = holo_flat_list_i64(list, i);
    return (int)list.count;
}

// The sizes that the file gives to output 0.
static const HoloTensor *out_shape(HoloTfOp *op)
{
    const HoloTfTensor *t = holo_tf_tensor_out(op, 0);
    for (int d = 0; t && d < t->shape.rank; d++)
        if (t->shape.dim[d] == HOLO_DIM_UNKNOWN) return holo_tf_fail(op, "the sizes of its output are open");
    return t ? &t->shape : NULL;
}

// ---- shapes

void holo_tf_hlo_reshape(HoloTfOp *op)
{
    HoloValue        *x = holo_tf_moved(op, 0);
    const HoloTensor *t = out_shape(op);
    if (x && t) holo_tf_give_moved(op, 0, holo_emit_reshape(op->e, x, t->dim, t->rank));
}

void holo_tf_hlo_transpose(HoloTfOp *op)
{
    int64_t    perm[HOLO_MAX_RANK];
    HoloValue *x    = holo_tf_moved(op, 0);
    int        rank = holo_tf_hlo_longs(op, HLO_TRANSPOSE_PERM, perm, HOLO_MAX_RANK);
    bool       ok   = x && rank == x->type.rank;
    for (int d = 0; ok && d < rank; d++) ok = perm[d] >= 0 && perm[d] < rank;
    if (!x || rank < 0) return;
    if (!ok) return (void)holo_tf_fail(op, "its dimensions are wrong");
    holo_tf_give_moved(op, 0, holo_tf_transpose(op, x, perm, rank));
}

void holo_tf_hlo_concat(HoloTfOp *op)
{
    HoloValue *in[64];
    if (op->in.count > 64) return (void)holo_tf_fail(op, "it has too many inputs");
    for (size_t i = 0; i < op->in.count; i++)
        if (!(in[i] = holo_tf_in(op, (int)i))) return;
    int64_t axis = holo_flat_i64(op->options, HLO_CONCAT_DIMENSION, 0);
    holo_tf_give(
        op, 0,
        holo_emit(op->e, "Concat", (HoloEmitIn){(int)op->in.count, in}, HOLO_ATTRS(holo_with_int("axis", axis))));
}

// Each dimension of the input becomes the one of the output that is named for it.
void holo_tf_hlo_broadcast(HoloTfOp *op)
{
    int64_t           at[HOLO_MAX_RANK];
    HoloDim           sizes[HOLO_MAX_RANK];
    HoloValue        *x     = holo_tf_moved(op, 0);
    const HoloTensor *t     = out_shape(op);
    int               count = holo_tf_hlo_longs(op, HLO_BROADCAST_DIMENSIONS, at, HOLO_MAX_RANK);
    if (!x || !t || count < 0) return;
    if (count != x->type.rank) return (void)holo_tf_fail(op, "it names other dimensions than there are");
    for (int d = 0; d < t->rank; d++) sizes[d] = 1;
    for (int d = 0; d < count; d++) {
        if (at[d] < 0 || at[d] >= t->rank || (d && at[d] <= at[d - 1]))
            return (void)holo_tf_fail(op, "its dimensions are wrong");
        sizes[at[d]] = x->type.dim[d];
    }
    x = holo_emit_reshape(op->e, x, sizes, t->rank);
    holo_tf_give_moved(op, 0, holo_tf_two(op, "Expand", x, holo_emit_sizes(op->e, t->dim, t->rank)));
}

void holo_tf_hlo_slice(HoloTfOp *op)
{
    int64_t    from[HOLO_MAX_RANK], to[HOLO_MAX_RANK], by[HOLO_MAX_RANK], axes[HOLO_MAX_RANK];
    HoloValue *x = holo_tf_moved(op, 0);
    int        n = holo_tf_hlo_longs(op, HLO_SLICE_STARTS, from, HOLO_MAX_RANK),
        m        = holo_tf_hlo_longs(op, HLO_SLICE_LIMITS, to, HOLO_MAX_RANK),
        k        = holo_tf_hlo_longs(op, HLO_SLICE_STRIDES, by, HOLO_MAX_RANK);
    if (!x || n < 0 || m != n || k != n || n != x->type.rank)
        return (void)holo_tf_fail(op, "its lists have different lengths");
    for (int d = 0; d < n; d++) axes[d] = d;
    holo_tf_give_moved(op, 0,
                       holo_emit(op->e, "Slice",
                                 HOLO_IN(x, holo_emit_ints(op->e, from, n), holo_emit_ints(op->e, to, n),
                                         holo_emit_ints(op->e, axes, n), holo_emit_ints(op->e, by, n)),
                                 NULL));
}

// Elements between two are put in first; pads less than 0 cut off.
void holo_tf_hlo_pad(HoloTfOp *op)
{
    int64_t    low[HOLO_MAX_RANK], high[HOLO_MAX_RANK], between[HOLO_MAX_RANK], pads[2 * HOLO_MAX_RANK];
    HoloValue *x = holo_tf_in(op, 0), *by = holo_tf_in(op, 1);
    int        n = holo_tf_hlo_longs(op, HLO_PAD_LOW, low, HOLO_MAX_RANK),
        m        = holo_tf_hlo_longs(op, HLO_PAD_HIGH, high, HOLO_MAX_RANK),
        k        = holo_tf_hlo_longs(op, HLO_PAD_INTERIOR, between, HOLO_MAX_RANK);
    if (!x || !by) return;
    if (n != x->type.rank || m != n || k != n) return (void)holo_tf_fail(op, "its lists have different lengths");
    if (by->type.rank > 0) by = holo_emit_reshape(op->e, by, NULL, 0);
    for (int d = 0; d < n && x; d++) {
        pads[d]     = low[d];
        pads[n + d] = high[d];
        x           = holo_tf_spread(op, x, d, between[d] + 1, by);
    }
    holo_tf_give(op, 0,
                 x && by ? holo_emit(op->e, "Pad", HOLO_IN(x, holo_emit_ints(op->e, pads, 2 * n), by), NULL) : NULL);
}

void holo_tf_hlo_iota(HoloTfOp *op)
{
    const HoloTfTensor *y    = holo_tf_tensor_out(op, 0);
    const HoloTensor   *t    = out_shape(op);
    int64_t             axis = holo_flat_i64(op->options, HLO_IOTA_DIMENSION, 0);
    HoloDim             sizes[HOLO_MAX_RANK];
    if (!t || !y) return;
    if (axis < 0 || axis >= t->rank) return (void)holo_tf_fail(op, "its dimension is wrong");
    for (int d = 0; d < t->rank; d++) sizes[d] = d == axis ? t->dim[d] : 1;
    HoloValue *x =
        holo_emit(op->e, "Range",
                  HOLO_IN(holo_emit_int(op->e, 0), holo_emit_int(op->e, t->dim[axis]), holo_emit_int(op->e, 1)), NULL);
    x = x ? holo_emit_cast(op->e, holo_emit_reshape(op->e, x, sizes, t->rank), y->dtype) : NULL;
    holo_tf_give(op, 0, holo_tf_two(op, "Expand", x, holo_emit_sizes(op->e, t->dim, t->rank)));
}

// Begins are inputs of their own, one for each dimension from input `first` on; what would reach beyond the end begins
// earlier. NULL: a failure.
static HoloValue *starts(HoloTfOp *op, int first, const HoloValue *x, const int64_t *sizes)
{
    HoloValue *part[HOLO_MAX_RANK];
    int        rank = x->type.rank;
    if (op->in.count != (size_t)(first + rank) || rank < 1) return holo_tf_fail(op, "it has %zu inputs", op->in.count);
    for (int d = 0; d < rank; d++) {
        HoloValue *at = holo_tf_i64(op, first + d);
        if (!at || holo_dim_is_symbolic(x->type.dim[d]))
            return at ? holo_tf_fail(op, "the sizes of its input are not known") : NULL;
        at      = holo_tf_two(op, "Min", holo_emit_reshape(op->e, at, (HoloDim[]){1}, 1),
                              holo_emit_int(op->e, x->type.dim[d] - sizes[d]));
        part[d] = holo_tf_two(op, "Max", at, holo_emit_int(op->e, 0));
        if (!part[d]) return NULL;
    }
    return holo_emit(op->e, "Concat", (HoloEmitIn){rank, part}, HOLO_ATTRS(holo_with_int("axis", 0)));
}

void holo_tf_hlo_dynamic_slice(HoloTfOp *op)
{
    int64_t    sizes[HOLO_MAX_RANK], axes[HOLO_MAX_RANK];
    HoloValue *x = holo_tf_moved(op, 0);
    int        n = holo_tf_hlo_longs(op, HLO_DYNAMIC_SIZES, sizes, HOLO_MAX_RANK);
    if (!x || n < 0) return;
    if (n != x->type.rank) return (void)holo_tf_fail(op, "it names other dimensions than there are");
    for (int d = 0; d < n; d++) axes[d] = d;
    HoloValue *from = starts(op, 1, x, sizes), *to = holo_tf_two(op, "Add", from, holo_emit_ints(op->e, sizes, n));
    x = from && to ? holo_emit(op->e, "Slice", HOLO_IN(x, from, to, holo_emit_ints(op->e, axes, n)), NULL) : NULL;
    holo_tf_give_moved(op, 0, x ? holo_emit_reshape(op->e, x, sizes, n) : NULL);
}

void holo_tf_hlo_dynamic_update(HoloTfOp *op) // x, part, a place for each dimension
{
    HoloValue *x    = holo_tf_moved(op, 0), *part[HOLO_MAX_RANK];
    int        rank = x ? x->type.rank : 0;
    if (!x) return;
    if (op->in.count != (size_t)(2 + rank)) return (void)holo_tf_fail(op, "it has %zu inputs", op->in.count);
    if (!rank) return holo_tf_give_moved(op, 0, holo_tf_in(op, 1));
    for (int d = 0; d < rank; d++) {
        HoloValue *at = holo_tf_i64(op, 2 + d);
        if (!at || !(part[d] = holo_emit_reshape(op->e, at, (HoloDim[]){1}, 1))) return;
    }
    holo_tf_update(op, x, holo_tf_in(op, 1),
                   holo_emit(op->e, "Concat", (HoloEmitIn){rank, part}, HOLO_ATTRS(holo_with_int("axis", 0))));
}

// ---- elements

void holo_tf_hlo_compare(HoloTfOp *op)
{
    static const char *const names[] = {"Equal", NULL, "GreaterOrEqual", "Greater", "LessOrEqual", "Less"};
    int64_t                  which   = holo_flat_u32(op->options, HLO_COMPARE_DIRECTION, 0);
    HoloValue               *a = holo_tf_real(op, 0), *b = holo_tf_real(op, 1);
    if (which >= HOLO_COUNT(names)) return (void)holo_tf_fail(op, "comparison %lld is not known", (long long)which);
    if (which == 1)
        holo_tf_give(op, 0, holo_tf_one(op, "Not", holo_tf_two(op, "Equal", a, b)));
    else
        holo_tf_give(op, 0, holo_tf_two(op, names[which], a, b));
}

// ---- products

// The dimensions of a factor: those of the batch, those of its own, those that are summed up.
typedef struct Factor {
    HoloValue *x;
    int64_t    batch[HOLO_MAX_RANK], sum[HOLO_MAX_RANK];
    int        batches, sums, owns;
    HoloDim    own[HOLO_MAX_RANK], own_size, sum_size;
} Factor;

// Brings a factor to [batch ..., own, sum], or [batch ..., sum, own] if `last` is its own.
static bool factor_make(HoloTfOp *op, Factor *f, bool own_last)
{
    bool      used[HOLO_MAX_RANK] = {false};
    int64_t   perm[HOLO_MAX_RANK], own[HOLO_MAX_RANK];
    HoloDim   sizes[HOLO_MAX_RANK];
    int       n = 0, rank = f->x->type.rank;
    HoloDims *dims = op->e->graph->dims;
    f->own_size = f->sum_size = 1;
    for (int i = 0; i < f->batches + f->sums; i++) {
        int64_t d = i < f->batches ? f->batch[i] : f->sum[i - f->batches];
        if (d < 0 || d >= rank || used[d]) return holo_tf_fail(op, "its dimensions are wrong"), false;
        used[d] = true;
    }
    for (int d = 0; d < rank; d++)
        if (!used[d]) {
            own[f->owns]      = d;
            f->own[f->owns++] = f->x->type.dim[d];
            f->own_size       = holo_dim_mul(dims, f->own_size, f->x->type.dim[d]);
        }
    for (int i = 0; i < f->sums; i++) f->sum_size = holo_dim_mul(dims, f->sum_size, f->x->type.dim[f->sum[i]]);
    for (int i = 0; i < f->batches; i++) sizes[n] = f->x->type.dim[f->batch[i]], perm[n++] = f->batch[i];
    for (int k = 0; k < 2; k++) {
        bool is_own = (k == 1) == own_last;
        for (int i = 0; i < (is_own ? f->owns : f->sums); i++) perm[n++] = is_own ? own[i] : f->sum[i];
    }
    sizes[f->batches]     = own_last ? f->sum_size : f->own_size;
    sizes[f->batches + 1] = own_last ? f->own_size : f->sum_size;
    f->x                  = holo_tf_transpose(op, f->x, perm, rank);
    f->x                  = f->x ? holo_emit_reshape(op->e, f->x, sizes, f->batches + 2) : NULL;
    return f->x != NULL;
}

void holo_tf_hlo_dot(HoloTfOp *op)
{
    Factor  a = {.x = holo_tf_real(op, 0)}, b = {.x = holo_tf_real(op, 1)};
    HoloDim sizes[HOLO_MAX_RANK];
    int     n = 0;
    a.batches = holo_tf_hlo_longs(op, HLO_DOT_BATCH_A, a.batch, HOLO_MAX_RANK);
    b.batches = holo_tf_hlo_longs(op, HLO_DOT_BATCH_B, b.batch, HOLO_MAX_RANK);
    a.sums    = holo_tf_hlo_longs(op, HLO_DOT_SUM_A, a.sum, HOLO_MAX_RANK);
    b.sums    = holo_tf_hlo_longs(op, HLO_DOT_SUM_B, b.sum, HOLO_MAX_RANK);
    if (!a.x || !b.x || a.batches < 0 || a.sums < 0) return;
    if (a.batches != b.batches || a.sums != b.sums || a.batches > HOLO_MAX_RANK - 2)
        return (void)holo_tf_fail(op, "its dimensions are wrong");
    const HoloValue *first = a.x;
    for (int i = 0; i < a.batches; i++)
        sizes[n++] = a.batch[i] >= 0 && a.batch[i] < first->type.rank ? first->type.dim[a.batch[i]] : 1;
    if (!factor_make(op, &a, false) || !factor_make(op, &b, true)) return;
    if (n + a.owns + b.owns > HOLO_MAX_RANK) return (void)holo_tf_fail(op, "its result has too many dimensions");
    for (int i = 0; i < a.owns; i++) sizes[n++] = a.own[i];
    for (int i = 0; i < b.owns; i++) sizes[n++] = b.own[i];
    HoloValue *y = holo_tf_two(op, "MatMul", a.x, b.x);
    holo_tf_give_real(op, 0, y ? holo_emit_reshape(op->e, y, sizes, n) : NULL);
}

// ---- reductions

int64_t holo_tf_hlo_body_code(HoloTfOp *op, int64_t subgraph, HoloFlatTable *out)
{
    HoloTf       *im   = op->im;
    HoloFlatTable body = holo_flat_list_table(im->subgraphs, subgraph < 0 ? SIZE_MAX : (size_t)subgraph);
    HoloFlatList  list = holo_flat_list(body, SUBGRAPH_OPERATORS, 4);
    *out               = holo_flat_list_table(list, 0);
    HoloFlatTable code = holo_flat_list_table(im->codes, (size_t)holo_flat_u32(*out, OPERATOR_CODE, 0));
    int64_t       old = holo_flat_i8(code, CODE_OLD, 0), new = holo_flat_i32(code, CODE_BUILTIN, 0);
    return list.count == 1 ? (old > new ? old : new) : -1;
}

static const struct {
    int64_t     code;
    const char *reduce, *join, *scatter;
} bodies[] = {
    {0, "ReduceSum", "Add", "add"},    {163, "ReduceSum", "Add", "add"}, {18, "ReduceProd", "Mul", "mul"},
    {165, "ReduceProd", "Mul", "mul"}, {55, "ReduceMax", "Max", "max"},  {166, "ReduceMax", "Max", "max"},
    {57, "ReduceMin", "Min", "min"},   {181, "ReduceMin", "Min", "min"}, {86, "ReduceMin", "And", NULL},
    {176, "ReduceMin", "And", NULL},   {84, "ReduceMax", "Or", NULL},    {183, "ReduceMax", "Or", NULL},
};

static int body_find(HoloTfOp *op, int64_t subgraph)
{
    HoloFlatTable table;
    int64_t       code = holo_tf_hlo_body_code(op, subgraph, &table);
    for (int i = 0; i < HOLO_COUNT(bodies); i++)
        if (bodies[i].code == code) return i;
    return holo_tf_fail(op, "its subgraph is not one sum, product, largest or smallest"), -1;
}

const char *holo_tf_hlo_join(HoloTfOp *op, int64_t subgraph)
{
    int body = body_find(op, subgraph);
    return body < 0 ? NULL : bodies[body].join;
}

void holo_tf_hlo_reduce(HoloTfOp *op)
{
    int64_t    axes[HOLO_MAX_RANK];
    HoloValue *x = holo_tf_in(op, 0), *first = holo_tf_in(op, 1);
    int        n = holo_tf_hlo_longs(op, HLO_REDUCE_DIMENSIONS, axes, HOLO_MAX_RANK),
        body     = body_find(op, holo_flat_i32(op->options, HLO_REDUCE_BODY, -1));
    if (!x || !first || n < 0 || body < 0) return;
    if (op->in.count != 2) return (void)holo_tf_fail(op, "several inputs at once are not supported");
    bool       is_truth = holo_emit_dtype(x) == HOLO_BOOL;
    HoloValue *y        = holo_emit(op->e, bodies[body].reduce,
                                    HOLO_IN(is_truth ? holo_emit_cast(op->e, x, HOLO_I32) : x, holo_emit_ints(op->e, axes, n)),
                                    HOLO_ATTRS(holo_with_int("keepdims", 0), holo_with_int("noop_with_empty_axes", 1)));
    if (is_truth && y) y = holo_emit_cast(op->e, y, HOLO_BOOL);
    if (first->type.rank > 0) first = holo_emit_reshape(op->e, first, NULL, 0);
    holo_tf_give(op, 0, holo_tf_two(op, bodies[body].join, y, first));
}

// Places of rows, as GatherND and ScatterND have them, if the last dimension of indices is one place each and names the
// first dimensions in order. False: it is another form.
static bool is_plain_index(HoloTfOp *op, const HoloValue *indices, const int64_t *map, int maps, int64_t vector)
{
    bool ok = indices && indices->type.rank == vector + 1 && indices->type.dim[vector] == maps;
    for (int i = 0; ok && i < maps; i++) ok = map[i] == i;
    if (!ok && indices) holo_tf_fail(op, "only whole rows, by their first dimensions, are supported");
    return ok;
}

// Whole rows of the first dimensions, which are gone in the result.
void holo_tf_hlo_gather(HoloTfOp *op)
{
    int64_t    map[HOLO_MAX_RANK], gone[HOLO_MAX_RANK], sizes[HOLO_MAX_RANK], kept[HOLO_MAX_RANK];
    HoloValue *x = holo_tf_moved(op, 0), *at = holo_tf_i64(op, 1);
    int        maps = holo_tf_hlo_longs(op, HLO_GATHER_MAP, map, HOLO_MAX_RANK),
        gones       = holo_tf_hlo_longs(op, HLO_GATHER_COLLAPSED, gone, HOLO_MAX_RANK),
        n           = holo_tf_hlo_longs(op, HLO_GATHER_SIZES, sizes, HOLO_MAX_RANK);
    int offsets     = holo_tf_hlo_longs(op, HLO_GATHER_OFFSETS, kept, HOLO_MAX_RANK);
    if (!x || !at || maps < 0 || !is_plain_index(op, at, map, maps, holo_flat_i64(op->options, HLO_GATHER_VECTOR, 0)))
        return;
    bool ok = gones == maps && n == x->type.rank && offsets == n - maps;
    for (int d = 0; ok && d < n; d++) ok = d < maps ? gone[d] == d && sizes[d] == 1 : sizes[d] == x->type.dim[d];
    for (int i = 0; ok && i < offsets; i++) ok = kept[i] == at->type.rank - 1 + i;
    if (!ok) return (void)holo_tf_fail(op, "only whole rows, by their first dimensions, are supported");
    holo_tf_give_moved(op, 0, holo_tf_two(op, "GatherND", x, at));
}

void holo_tf_hlo_scatter(HoloTfOp *op)
{
    int64_t    map[HOLO_MAX_RANK], gone[HOLO_MAX_RANK];
    HoloValue *x = holo_tf_in(op, 0), *at = holo_tf_i64(op, 1), *updates = holo_tf_in(op, 2);
    int        maps  = holo_tf_hlo_longs(op, HLO_SCATTER_MAP, map, HOLO_MAX_RANK),
        gones        = holo_tf_hlo_longs(op, HLO_SCATTER_INSERTED, gone, HOLO_MAX_RANK);
    int64_t subgraph = holo_flat_i32(op->options, HLO_SCATTER_BODY, -1);
    if (!x || !at || !updates || maps < 0 ||
        !is_plain_index(op, at, map, maps, holo_flat_i64(op->options, HLO_SCATTER_VECTOR, 0)))
        return;
    bool ok = gones == maps;
    for (int d = 0; ok && d < gones; d++) ok = gone[d] == d;
    if (!ok) return (void)holo_tf_fail(op, "only whole rows, by their first dimensions, are supported");
    bool replaces =
        subgraph >= 0 && (uint64_t)subgraph < op->im->subgraphs.count &&
        !holo_flat_list(holo_flat_list_table(op->im->subgraphs, (size_t)subgraph), SUBGRAPH_OPERATORS, 4).count;
    int body = replaces ? -1 : body_find(op, subgraph);
    if (!replaces && (body < 0 || !bodies[body].scatter))
        return (void)holo_tf_fail(op, "its subgraph is not supported");
    holo_tf_give(op, 0, holo_tf_scatter(op, x, at, updates, replaces ? "none" : bodies[body].scatter));
}
