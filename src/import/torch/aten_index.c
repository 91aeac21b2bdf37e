// aten_index.c - elements by their indices: reading, writing, sorting, searching.
#include "import/torch/aten.h"

#include <string.h>

// Of a script that does not tell its inputs: one that is used as an index has whole numbers, one that is used as a mask has
// bools. It is noted, and the script is imported again.
static void learn(HoloTorch *t, const HoloValue *x, HoloDtype dtype)
{
    for (int i = 0; x && x->producer && x->producer->in_count && i < 32; i++) x = x->producer->in[0];
    if (!x || !x->is_input || t->e->status) return;
    char *name = holo_arena_text(t->arena, x->name, strlen(x->name));
    void *type = (void *)holo_dtype_name(dtype); // compared as a pointer
    if (name && holo_name_map_set(&t->learned, t->arena, (HoloString){name, strlen(name)}, type)) t->has_learned = true;
    holo_emit_fail(t->e, HOLO_UNSUPPORTED, "an index of numbers that are not whole, or a mask of numbers");
}

static void learn_whole(HoloTorch *t, const HoloValue *x)
{
    learn(t, x, HOLO_I64);
}

void holo_torch_learn_mask(HoloTorch *t, const HoloValue *x)
{
    static const char *const plain[] = {"Unsqueeze", "Squeeze", "Reshape", "Expand", "Transpose", "Cast", "Identity"};
    const HoloValue         *at      = t->is_guess ? x : NULL;
    for (int i = 0; at && at->producer && i < 32; i++) {
        bool is_plain = false;
        for (int k = 0; k < HOLO_COUNT(plain); k++) is_plain |= !strcmp(at->producer->type, plain[k]);
        if (!is_plain || !at->producer->in_count) return;
        at = at->producer->in[0];
    }
    if (at && at->is_input && holo_torch_is_float(holo_emit_dtype(at))) learn(t, at, HOLO_BOOL);
}

void holo_torch_learn_count(HoloTorch *t, const HoloValue *x)
{
    static const char *const plain[] = {"ReduceMax", "ReduceMin", "Gather", "Reshape", "Squeeze",
                                        "Slice",     "Cast",      "TopK",   "Identity"};
    const HoloValue         *at      = t->is_guess ? x : NULL;
    for (int i = 0; at && at->producer && i < 32; i++) {
        bool is_plain = false;
        for (int k = 0; k < HOLO_COUNT(plain); k++) is_plain |= !strcmp(at->producer->type, plain[k]);
        if (!is_plain || !at->producer->in_count || at != at->producer->out[0]) return;
        at = at->producer->in[0];
    }
    if (at && at->is_input && holo_torch_is_float(holo_emit_dtype(at))) learn_whole(t, x);
}

HoloValue *holo_torch_as_index(HoloTorch *t, HoloValue *x)
{
    if (t->is_guess && x && holo_torch_is_float(DTYPE(x))) learn_whole(t, x);
    return holo_emit_cast(t->e, x, HOLO_I64);
}

// Indices below 0 count from the end; ONNX's scatters know that, too.
ONE(gather)
{
    HoloValue *x = V(0), *index = holo_torch_as_index(t, V(2));
    int        rank = holo_torch_rank(t, x), axis = holo_torch_axis(t, &a[1], 0, rank);
    if (rank == 0) return holo_torch_shape_as(t, x, index);
    return holo_emit(t->e, "GatherElements", HOLO_IN(x, index), HOLO_ATTRS(holo_with_int("axis", axis)));
}

ONE(take_along_dim)
{
    HoloTv args[3] = {a[0], a[2], a[1]};
    HOLO_TORCH_CHECK(t, !holo_tv_is_none(&a[2]), "take_along_dim without a dimension");
    return gather(t, args);
}

ONE(index_select)
{
    HoloValue *x    = V(0);
    int        rank = holo_torch_rank(t, x);
    if (!rank) return OP1("Identity", x);
    return holo_torch_gather(t, x, holo_torch_flat(t, holo_torch_as_index(t, V(2))),
                             holo_torch_axis(t, &a[1], 0, rank));
}

ONE(take)
{
    return holo_torch_gather(t, holo_torch_flat(t, V(0)), holo_torch_as_index(t, V(1)), 0);
}

ONE(embedding)
{
    HoloValue *index = V(1);
    if (t->is_guess) index = holo_torch_as_index(t, index);
    HOLO_TORCH_CHECK(t, !t->e->status, "an embedding of numbers that are not whole");
    return holo_torch_gather(t, V(0), index, 0);
}

// ---- bags of rows: their sum, mean or largest elements

enum { WEIGHT, INDICES, OFFSETS, MODE = 4, SHARES = 6, HAS_LAST, PADDING }; // parameters of embedding_bag

// Which rows of `index` count: all but those of the padding. NULL: all do.
static HoloValue *counted(HoloTorch *t, const HoloTv *a, HoloValue *index)
{
    int64_t padding = holo_torch_int(t, &a[PADDING], -1);
    if (padding < 0) return NULL;
    return OP1("Not", OP2("Equal", index, holo_emit_cast(t->e, holo_emit_int(t->e, padding), DTYPE(index))));
}

// Bag b has the rows from offset b up to the next.
static HoloValue *bags_by_offsets(HoloTorch *t, const HoloTv *a, HoloValue *index, HoloValue *rows, HoloValue **out_bag)
{
    int64_t    mode = holo_torch_int(t, &a[MODE], 0), axes[] = {1};
    HoloValue *offsets = holo_torch_as_index(t, V(OFFSETS)), *is_kept = counted(t, a, index);
    if (holo_torch_bool(t, &a[HAS_LAST], false)) offsets = holo_emit_slice(t->e, offsets, 0, 0, -1, 1);
    if (!holo_tv_is_none(&a[SHARES])) rows = OP2("Mul", rows, holo_torch_unsqueeze(t, V(SHARES), 1));
    HoloValue *place = holo_torch_unsqueeze(t, holo_torch_range(t, holo_torch_dim(t, index, 0)), 0);
    HoloValue *later =
        holo_emit_cast(t->e, OP2("GreaterOrEqual", place, holo_torch_unsqueeze(t, offsets, 1)), HOLO_I64);
    HoloValue *bag =
        OP2("Sub", holo_torch_reduce(t, "ReduceSum", later, (int64_t[]){0}, 1, false), holo_emit_int(t->e, 1));
    HoloValue *is_in =
        OP2("Equal", holo_torch_unsqueeze(t, holo_torch_range(t, holo_torch_dim(t, offsets, 0)), 1), bag);
    if (is_kept) is_in = OP2("And", is_in, is_kept);
    HoloValue *which = holo_emit_cast(t->e, is_in, DTYPE(rows)), *y = OP2("MatMul", which, rows); // [bags, rows]
    HoloValue *count = holo_torch_reduce(t, "ReduceSum", which, axes, 1, true);
    *out_bag         = bag;
    if (mode == 1) y = OP2("Div", y, OP2("Max", count, NUM(y, 1)));
    if (mode < 2) return y;
    // the largest of the rows that are in the bag; 0 of an empty one
    HoloValue *each = holo_torch_where(t, holo_torch_unsqueeze(t, is_in, 2), rows, NUM(y, -__builtin_inf()));
    y               = holo_torch_reduce(t, "ReduceMax", each, axes, 1, false);
    return holo_torch_where(t, OP2("Equal", count, NUM(y, 0)), NUM(y, 0), y);
}

// A 2-dimensional index lists the bags, all of the same size.
static HoloValue *bags_of_rows(HoloTorch *t, const HoloTv *a, HoloValue *index, HoloValue *rows)
{
    int64_t    mode = holo_torch_int(t, &a[MODE], 0), axes[] = {1};
    HoloValue *is_kept = counted(t, a, index);
    if (!holo_tv_is_none(&a[SHARES])) rows = OP2("Mul", rows, holo_torch_unsqueeze(t, V(SHARES), 2));
    if (!is_kept)
        return holo_torch_reduce(t,
                                 mode == 0   ? "ReduceSum"
                                 : mode == 1 ? "ReduceMean"
                                             : "ReduceMax",
                                 rows, axes, 1, false);
    HoloValue *count = holo_torch_reduce(t, "ReduceSum", holo_emit_cast(t->e, is_kept, DTYPE(rows)), axes, 1, true);
    HoloValue *none = NUM(rows, mode > 1 ? -__builtin_inf() : 0), *zero = NUM(rows, 0);
    rows         = holo_torch_where(t, holo_torch_unsqueeze(t, is_kept, 2), rows, none);
    HoloValue *y = holo_torch_reduce(t, mode > 1 ? "ReduceMax" : "ReduceSum", rows, axes, 1, false);
    if (mode == 1) return OP2("Div", y, OP2("Max", count, NUM(y, 1)));
    return mode ? holo_torch_where(t, OP2("Equal", count, zero), zero, y) : y;
}

ANY(embedding_bag)
{
    HoloValue *index = t->is_guess ? holo_torch_as_index(t, V(INDICES)) : V(INDICES), *bag = index;
    HoloValue *rows = holo_torch_gather(t, V(WEIGHT), index, 0);
    HoloValue *y =
        holo_emit_rank(index) == 1 ? bags_by_offsets(t, a, index, rows, &bag) : bags_of_rows(t, a, index, rows);
    HoloValue *all[4] = {y, bag, bag, bag};
    *out              = holo_torch_tuple(t, 4, all);
}

// ---- x[i, j], with tensors of indices

typedef struct Where {
    HoloValue *index[HOLO_MAX_RANK]; // i64, broadcast together; NULL: all of the dimension
    int        first, count;         // of the dimensions that have an index
    bool       is_adjacent;          // they follow one another
    int        rank, index_rank;     // of x; of the indices together
} Where;

// Masks become the places where they are true.
static HoloValue *expand_mask(HoloTorch *t, HoloValue *mask, int *in_out_axis, Where *w)
{
    int        rank   = holo_torch_rank(t, mask);
    HoloValue *places = OP1("NonZero", mask); // [rank, count]
    for (int d = 0; d < rank && !t->e->status; d++) {
        if (*in_out_axis >= w->rank) return holo_emit_fail(t->e, HOLO_BAD_MODEL, "a mask has too many dimensions");
        w->index[(*in_out_axis)++] = holo_torch_gather(t, places, holo_emit_int(t->e, d), 0);
    }
    return NULL;
}

static void find_places(HoloTorch *t, HoloValue *x, const HoloTv *list, Where *w)
{
    int axis = 0;
    *w       = (Where){.rank = holo_torch_rank(t, x), .first = -1};
    if (t->e->status || !holo_tv_is_list(list)) {
        holo_emit_fail(t->e, HOLO_UNSUPPORTED, "indices that are %s", holo_tv_kind(list));
        return;
    }
    for (int i = 0; i < list->list->count && !t->e->status; i++) {
        HoloValue *index = holo_torch_value(t, &list->list->item[i]);
        if (axis >= w->rank) {
            holo_emit_fail(t->e, HOLO_BAD_MODEL, "there are more indices than dimensions");
            return;
        }
        if (!index)
            axis++;
        else if (DTYPE(index) == HOLO_BOOL || DTYPE(index) == HOLO_U8)
            expand_mask(t, index, &axis, w);
        else
            w->index[axis++] = holo_torch_as_index(t, index);
    }
    int last = -1;
    for (int i = 0; i < w->rank; i++) {
        if (!w->index[i]) continue;
        if (w->first < 0) w->first = i;
        last = i;
        w->count++;
        int rank = holo_torch_rank(t, w->index[i]);
        if (rank > w->index_rank) w->index_rank = rank;
    }
    w->is_adjacent = w->count && last - w->first + 1 == w->count;
}

// All indices in one tensor [..., count], broadcast, none below 0.
static HoloValue *join_places(HoloTorch *t, HoloValue *x, const Where *w)
{
    HoloValue *part[HOLO_MAX_RANK], *sum = NULL;
    int        count = 0;
    for (int i = 0; i < w->rank; i++)
        if (w->index[i]) {
            HoloValue *zero = OP2("Sub", w->index[i], w->index[i]);
            sum             = sum ? OP2("Add", sum, zero) : zero;
        }
    for (int i = 0; i < w->rank; i++) {
        if (!w->index[i]) continue;
        HoloValue *index = w->count > 1 ? OP2("Add", w->index[i], sum) : w->index[i];
        index            = holo_torch_where(t, OP2("Less", index, holo_emit_int(t->e, 0)),
                                            OP2("Add", index, holo_torch_dim(t, x, i)), index);
        part[count++]    = holo_torch_unsqueeze(t, index, w->index_rank);
    }
    return holo_torch_concat(t, part, count, w->index_rank);
}

// The dimensions with an index first.
static int indexed_first(const Where *w, int64_t *perm)
{
    int next = 0;
    for (int i = 0; i < w->rank; i++)
        if (w->index[i]) perm[next++] = i;
    for (int i = 0; i < w->rank; i++)
        if (!w->index[i]) perm[next++] = i;
    return next;
}

HoloValue *holo_torch_index(HoloTorch *t, HoloValue *x, const HoloTv *indices)
{
    Where   w;
    int64_t perm[HOLO_MAX_RANK * 2];
    find_places(t, x, indices, &w);
    if (t->e->status) return NULL;
    if (!w.count) return OP1("Identity", x);
    if (w.count == 1) return holo_torch_gather(t, x, w.index[w.first], w.first);
    indexed_first(&w, perm);
    HoloValue *y = holo_emit_transpose(t->e, x, perm, w.rank);
    y            = OP2("GatherND", y, join_places(t, x, &w));
    if (!w.is_adjacent || !w.first) return y;
    // the dimensions of the indices go where the indexed ones were
    int rank = w.index_rank + w.rank - w.count;
    for (int i = 0; i < rank; i++)
        perm[i] = i < w.first ? w.index_rank + i : i < w.first + w.index_rank ? i - w.first : i;
    return holo_emit_transpose(t->e, y, perm, rank);
}

ONE(index_of)
{
    return holo_torch_index(t, V(0), &a[1]);
}

// x with elements at the indices replaced, or added to.
ONE(index_put)
{
    HoloValue *x = V(0), *values = NULL;
    Where      w;
    int64_t    perm[HOLO_MAX_RANK * 2], back[HOLO_MAX_RANK];
    bool       adds = holo_torch_bool(t, &a[3], false);
    find_places(t, x, &a[1], &w);
    values = holo_torch_scalar(t, &a[2], DTYPE(x));
    if (t->e->status) return NULL;
    if (!w.count) return holo_torch_expand(t, values, holo_emit_shape(t->e, x));
    bool is_mask = a[1].list->count == 1 && DTYPE(V(1 - 1)) && a[1].list->item[0].kind == HOLO_TORCH_TENSOR &&
                   DTYPE(holo_torch_value(t, &a[1].list->item[0])) == HOLO_BOOL && holo_emit_rank(values) == 0 && !adds;
    if (is_mask) { // x[mask] = number
        HoloValue *mask = holo_torch_value(t, &a[1].list->item[0]);
        int64_t    axes[HOLO_MAX_RANK];
        int        rank = holo_emit_rank(mask);
        for (int i = rank; i < w.rank; i++) axes[i - rank] = i;
        return holo_torch_where(t, holo_emit_unsqueeze(t->e, mask, axes, w.rank - rank), values, x);
    }
    indexed_first(&w, perm);
    HoloValue *y = holo_emit_transpose(t->e, x, perm, w.rank), *places = join_places(t, x, &w);
    HoloValue *shape = holo_emit_shape(t->e, OP2("GatherND", y, places));
    if (w.is_adjacent &&
        w.first) { // values are as x[indices] would be: bring the dimensions of the indices to the front
        int     rank = w.index_rank + w.rank - w.count, given = holo_torch_rank(t, values);
        int64_t front[HOLO_MAX_RANK], ones[HOLO_MAX_RANK];
        for (int i = 0; i < rank; i++) {
            front[i] = i < w.index_rank ? w.first + i : i < w.index_rank + w.first ? i - w.index_rank : i;
            ones[i]  = i;
        }
        if (given < rank) values = holo_emit_unsqueeze(t->e, values, ones, rank - given);
        values = holo_emit_transpose(t->e, values, front, rank);
    }
    values = holo_torch_expand(t, values, shape);
    y      = holo_emit(t->e, "ScatterND", HOLO_IN(y, places, values),
                       HOLO_ATTRS(holo_with_text("reduction", adds ? "add" : "none")));
    for (int i = 0; i < w.rank; i++) back[perm[i]] = i;
    return holo_emit_transpose(t->e, y, back, w.rank);
}

ONE(masked_select)
{
    HoloValue *x = V(0), *mask = V(1), *zero = OP2("And", mask, OP1("Not", mask));
    // both get the shape that they have together
    HoloValue *shape = holo_emit_shape(
        t->e, OP2("Add", holo_emit_cast(t->e, OP2("Equal", x, x), HOLO_I32), holo_emit_cast(t->e, zero, HOLO_I32)));
    return OP2("Compress", holo_torch_flat(t, holo_torch_expand(t, x, shape)),
               holo_torch_flat(t, holo_torch_expand(t, mask, shape)));
}

// Elements of the source, in order, where the mask is true.
ONE(masked_scatter)
{
    HoloValue *x = V(0), *mask = holo_torch_expand(t, V(1), holo_emit_shape(t->e, x)), *flat = holo_torch_flat(t, mask);
    HoloValue *order =
        holo_emit(t->e, "CumSum", HOLO_IN(holo_emit_cast(t->e, flat, HOLO_I64), holo_emit_int(t->e, 0)), NULL);
    HoloValue *place = OP2("Max", OP2("Sub", order, holo_emit_int(t->e, 1)), holo_emit_int(t->e, 0));
    HoloValue *from  = holo_torch_gather(t, holo_torch_flat(t, V(2)), place, 0);
    return holo_torch_where(t, mask, holo_torch_shape_as(t, from, x), x);
}

ANY(nonzero)
{
    HoloValue *places = OP1("NonZero", V(0));
    *out              = holo_tv_tensor(t, OP1("Transpose", places));
}

ANY(nonzero_list)
{
    HoloValue *x = V(0), *places = OP1("NonZero", x);
    int        rank = holo_torch_rank(t, x);
    *out            = holo_tv_list(t, HOLO_TORCH_LIST, 0, NULL);
    for (int i = 0; i < rank && !t->e->status; i++)
        holo_tv_append(t, out->list, holo_tv_tensor(t, holo_torch_gather(t, places, holo_emit_int(t->e, i), 0)));
}

// where(condition) alone is nonzero_list
ANY(where_any)
{
    if (holo_tv_is_none(&a[1])) {
        nonzero_list(t, a, out);
        return;
    }
    HoloDtype dtype = holo_torch_result(t, a + 1, 2);
    holo_torch_learn_mask(t, V(0));
    *out = holo_tv_tensor(
        t, holo_torch_where(t, V(0), holo_torch_scalar(t, &a[1], dtype), holo_torch_scalar(t, &a[2], dtype)));
}

// ---- scatters

static HoloValue *scatter_by(HoloTorch *t, const HoloTv *a, HoloValue *source, const char *reduction)
{
    HoloValue *x = V(0), *index = holo_torch_as_index(t, V(2)), *shape = holo_emit_shape(t->e, index);
    int        rank = holo_torch_rank(t, x), axis = holo_torch_axis(t, &a[1], 0, rank);
    if (holo_emit_rank(source) == 0 && rank) {
        source = holo_torch_expand(t, source, shape);
    } else if (rank) { // only as much of it as there are indices
        int64_t zeros[HOLO_MAX_RANK] = {0}, axes[HOLO_MAX_RANK], same = 1, s, i;
        for (int d = 0; d < rank; d++) {
            axes[d] = d;
            same &= holo_torch_size_known(source, d, &s) && holo_torch_size_known(index, d, &i) && s == i;
        }
        if (!same)
            source = holo_emit(
                t->e, "Slice",
                HOLO_IN(source, holo_emit_ints(t->e, zeros, rank), shape, holo_emit_ints(t->e, axes, rank)), NULL);
    }
    if (!rank) return holo_torch_shape_as(t, source, x);
    return holo_emit(t->e, "ScatterElements", HOLO_IN(x, index, source),
                     HOLO_ATTRS(holo_with_int("axis", axis), holo_with_text("reduction", reduction)));
}

static const struct {
    const char *torch, *onnx;
} reductions[] = {{"add", "add"},  {"sum", "add"},  {"multiply", "mul"},
                  {"prod", "mul"}, {"amax", "max"}, {"amin", "min"}};

static const char *reduction_of(HoloTorch *t, const HoloTv *v)
{
    if (holo_tv_is_none(v)) return "none";
    for (int i = 0; i < HOLO_COUNT(reductions); i++)
        if (holo_torch_text_is(t, v, "", reductions[i].torch)) return reductions[i].onnx;
    holo_emit_fail(t->e, HOLO_UNSUPPORTED, "scatter by '%.*s'", HOLO_IMPORT_ARG(v->s));
    return "none";
}

ONE(scatter)
{
    HoloValue *x = V(0);
    return scatter_by(t, a, holo_torch_scalar(t, &a[3], DTYPE(x)), reduction_of(t, &a[4]));
}

ONE(scatter_add)
{
    HoloValue *x = V(0);
    return scatter_by(t, a, holo_torch_scalar(t, &a[3], DTYPE(x)), "add");
}

// Without `include_self` what was there before does not count: the neutral element stands there instead.
ONE(scatter_reduce)
{
    HoloValue  *x = V(0), *source = holo_torch_scalar(t, &a[3], DTYPE(x)), *count = NULL;
    bool        is_mean = holo_torch_text_is(t, &a[4], "", "mean"), has_self = holo_torch_bool(t, &a[5], true);
    HoloTv      sum = holo_tv_text("sum"), now[6] = {a[0], a[1], a[2], a[3]};
    const char *how = reduction_of(t, is_mean ? &sum : &a[4]);
    HoloValue  *one = NUM(x, 1), *zero = NUM(x, 0);
    if (!has_self) {
        bool       is_float = holo_torch_is_float(DTYPE(x));
        double     least    = !strcmp(how, "add")   ? 0
                              : !strcmp(how, "mul") ? 1
                              : !strcmp(how, "max") ? (is_float ? -__builtin_inf() : -2147483648.0)
                                                    : (is_float ? __builtin_inf() : 2147483647.0);
        HoloValue *fresh    = scatter_by(t, a, NUM(x, least), "none");
        now[0]              = holo_tv_tensor(t, fresh);
    }
    HoloValue *y = scatter_by(t, now, source, how);
    if (!is_mean) return y;
    HoloTv counts[4] = {
        holo_tv_tensor(t, holo_torch_expand(t, has_self ? one : zero, holo_emit_shape(t->e, x))), a[1], a[2], {0}};
    count = OP2("Max", scatter_by(t, counts, one, "add"), one);
    if (holo_torch_is_float(DTYPE(x))) return OP2("Div", y, count);
    return holo_torch_floor_div(t, y, count);
}

// Rows of a dimension by indices in one row.
static HoloValue *index_rows(HoloTorch *t, const HoloTv *a, HoloValue *source, const char *reduction)
{
    HoloValue *x = V(0), *index = holo_torch_flat(t, holo_torch_as_index(t, V(2)));
    int        rank = holo_torch_rank(t, x), axis = holo_torch_axis(t, &a[1], 0, rank);
    if (!rank) { // a tensor without dimensions is one of a single element
        HoloTv one[3] = {holo_tv_tensor(t, holo_torch_flat(t, x)), holo_tv_int(0), a[2]};
        return holo_torch_scalar_of(t, index_rows(t, one, source, reduction));
    }
    HoloValue *y = holo_torch_swap(t, x, 0, axis), *shape = holo_emit_shape(t->e, holo_torch_gather(t, y, index, 0));
    if (holo_emit_rank(source) == rank) source = holo_torch_swap(t, source, 0, axis);
    source = holo_torch_expand(t, source, shape);
    y      = holo_emit(t->e, "ScatterND", HOLO_IN(y, holo_torch_unsqueeze(t, index, 1), source),
                       HOLO_ATTRS(holo_with_text("reduction", reduction)));
    return holo_torch_swap(t, y, 0, axis);
}

ONE(index_add)
{
    HoloValue *x = V(0), *source = holo_torch_scalar(t, &a[3], DTYPE(x));
    if (!holo_tv_is_none(&a[4])) source = OP2("Mul", source, holo_torch_scalar(t, &a[4], DTYPE(x)));
    return index_rows(t, a, source, "add");
}

ONE(index_copy)
{
    HoloValue *x = V(0);
    return index_rows(t, a, holo_torch_scalar(t, &a[3], DTYPE(x)), "none");
}

ONE(index_fill)
{
    HoloValue *x = V(0);
    return index_rows(t, a, holo_torch_scalar_of(t, holo_torch_scalar(t, &a[3], DTYPE(x))), "none");
}

// A part of x replaced: the part is found by the view that shows it.
static HoloValue *scatter_view(HoloTorch *t, const HoloTv *a, const char *name, int count)
{
    HoloValue *x       = V(0);
    HoloTv     args[8] = {holo_tv_tensor(t, x)};
    for (int i = 1; i < count; i++) args[i] = a[i + 1];
    HoloTv part = holo_torch_apply(t, name, count, args);
    if (t->e->status || part.kind != HOLO_TORCH_TENSOR) return NULL;
    HoloValue *shown = holo_torch_read(t, part.tensor);
    HoloValue *value = holo_torch_expand(t, holo_torch_scalar(t, &a[1], DTYPE(x)), holo_emit_shape(t->e, shown));
    holo_torch_write(t, part.tensor, value);
    return holo_torch_read(t, args[0].tensor);
}

ONE(slice_scatter)
{
    return scatter_view(t, a, "slice", 5);
}

ONE(select_scatter)
{
    return scatter_view(t, a, "select", 3);
}

ONE(diagonal_scatter)
{
    return scatter_view(t, a, "diagonal", 4);
}

ONE(as_strided_scatter)
{
    return scatter_view(t, a, "as_strided", 4);
}

ONE(one_hot)
{
    HoloValue *x     = holo_torch_as_index(t, V(0));
    int64_t    count = holo_torch_int(t, &a[1], -1);
    HOLO_TORCH_CHECK(t, count > 0, "one_hot needs the number of classes");
    return holo_emit_cast(t->e,
                          OP2("Equal", holo_torch_unsqueeze(t, x, holo_torch_rank(t, x)),
                              holo_torch_range(t, holo_emit_int(t->e, count))),
                          HOLO_I64);
}

const HoloTorchOp holo_torch_indexes[] = {
    ROW("gather", "self dim index sparse_grad", gather),
    ROW("take_along_dim", "self indices dim", take_along_dim),
    ROW("index_select", "self dim index", index_select),
    ROW("take", "self index", take),
    ROW("embedding", "weight indices padding_idx scale_grad_by_freq sparse", embedding),
    MANY("embedding_bag",
         "weight indices offsets scale_grad_by_freq mode sparse per_sample_weights include_last_offset padding_idx",
         embedding_bag),
    MANY("_embedding_bag",
         "weight indices offsets scale_grad_by_freq mode sparse per_sample_weights include_last_offset padding_idx",
         embedding_bag),
    MANY("_embedding_bag_forward_only",
         "weight indices offsets scale_grad_by_freq mode sparse per_sample_weights include_last_offset padding_idx",
         embedding_bag),
    ROW("index", "self indices", index_of),
    ROW("_unsafe_index", "self indices", index_of),
    ROW("index_put", "self indices values accumulate", index_put),
    ROW("_unsafe_index_put", "self indices values accumulate", index_put),
    ROW("_index_put_impl", "self indices values accumulate unsafe", index_put),
    ROW("masked_select", "self mask", masked_select),
    ROW("masked_scatter", "self mask source", masked_scatter),
    MANY("nonzero", "self", nonzero),
    MANY("nonzero_numpy", "self", nonzero_list),
    MANY("argwhere", "self", nonzero),
    MANY("where", "condition self other", where_any),
    ROW("scatter", "self dim index src|value reduce", scatter),
    ROW("scatter_add", "self dim index src", scatter_add),
    ROW("scatter_reduce", "self dim index src reduce include_self", scatter_reduce),
    ROW("index_add", "self dim index source alpha", index_add),
    ROW("index_copy", "self dim index source", index_copy),
    ROW("index_fill", "self dim index value", index_fill),
    ROW("slice_scatter", "self src dim start end step", slice_scatter),
    ROW("select_scatter", "self src dim index", select_scatter),
    ROW("diagonal_scatter", "self src offset dim1 dim2", diagonal_scatter),
    ROW("as_strided_scatter", "self src size stride storage_offset", as_strided_scatter),
    ROW("one_hot", "self num_classes", one_hot),
    {0},
};
