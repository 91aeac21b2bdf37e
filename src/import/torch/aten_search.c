// aten_search.c - searching and sorting.
#include "import/torch/aten.h"

// How many of the boundaries are below (or not above) each number.
static HoloValue *search_in(HoloTorch *t, HoloValue *bounds, HoloValue *x, bool right, bool is_i32)
{
    int       rank = holo_torch_rank(t, bounds), x_rank = holo_torch_rank(t, x);
    HoloDtype dtype = holo_torch_promote(DTYPE(bounds), DTYPE(x));
    bounds          = holo_emit_cast(t->e, bounds, dtype);
    x               = holo_torch_unsqueeze(t, holo_emit_cast(t->e, x, dtype), x_rank);
    if (rank > 1) bounds = holo_torch_unsqueeze(t, bounds, rank - 1);
    HoloValue *is_past = right ? OP2("GreaterOrEqual", x, bounds) : OP2("Greater", x, bounds);
    HoloValue *y =
        holo_torch_reduce(t, "ReduceSum", holo_emit_cast(t->e, is_past, HOLO_I64), (int64_t[]){x_rank}, 1, false);
    return holo_emit_cast(t->e, y, is_i32 ? HOLO_I32 : HOLO_I64);
}

ONE(bucketize)
{
    return search_in(t, V(1), V(0), holo_torch_bool(t, &a[3], false), holo_torch_bool(t, &a[2], false));
}

ONE(searchsorted)
{
    bool right = holo_torch_bool(t, &a[3], false) || holo_torch_text_is(t, &a[4], "", "right");
    return search_in(t, V(0), V(1), right, holo_torch_bool(t, &a[2], false));
}

ONE(isin)
{
    HoloValue *x = V(0), *set = holo_torch_flat(t, V(1));
    int        rank  = holo_torch_rank(t, x);
    HoloDtype  dtype = holo_torch_result(t, a, 2);
    HoloValue *same =
        OP2("Equal", holo_torch_unsqueeze(t, holo_emit_cast(t->e, x, dtype), rank), holo_emit_cast(t->e, set, dtype));
    HoloValue *any =
        holo_torch_reduce(t, "ReduceMax", holo_emit_cast(t->e, same, HOLO_U8), (int64_t[]){rank}, 1, false);
    any = holo_emit_cast(t->e, any, HOLO_BOOL);
    return holo_torch_bool(t, &a[3], false) ? OP1("Not", any) : any;
}

// ---- sorting

static void top_of(HoloTorch *t, HoloValue *x, HoloValue *k, int axis, bool largest, bool sorted, HoloValue **y)
{
    bool is_bool = DTYPE(x) == HOLO_BOOL;
    if (is_bool) x = holo_emit_cast(t->e, x, HOLO_U8);
    holo_emit_many(
        t->e, "TopK", HOLO_IN(x, k),
        HOLO_ATTRS(holo_with_int("axis", axis), holo_with_int("largest", largest), holo_with_int("sorted", sorted)), y,
        2);
    if (is_bool) y[0] = holo_emit_cast(t->e, y[0], HOLO_BOOL);
}

static void sort_by(HoloTorch *t, HoloValue *x, int64_t dim, bool descending, HoloValue **y)
{
    int    rank = holo_torch_rank(t, x);
    HoloTv v    = holo_tv_int(dim);
    if (!rank) {
        y[0] = x;
        y[1] = holo_emit_int(t->e, 0);
        return;
    }
    int axis = holo_torch_axis(t, &v, -1, rank);
    top_of(t, x, holo_torch_dim(t, x, axis), axis, descending, true, y);
}

ANY(topk)
{
    HoloValue *x = V(0), *y[2] = {NULL};
    int        axis = holo_torch_axis(t, &a[2], -1, holo_torch_rank(t, x));
    top_of(t, x, holo_torch_size1(t, &a[1]), axis, holo_torch_bool(t, &a[3], true), true, y);
    *out = holo_torch_tuple(t, 2, y);
}

ANY(sort)
{
    HoloValue *y[2] = {NULL};
    sort_by(t, V(0), holo_torch_int(t, &a[1], -1), holo_torch_bool(t, &a[2], false), y);
    *out = holo_torch_tuple(t, 2, y);
}

ONE(msort)
{
    HoloValue *y[2] = {NULL};
    sort_by(t, V(0), 0, false, y);
    return y[0];
}

ONE(argsort)
{
    HoloValue *y[2] = {NULL};
    sort_by(t, V(0), holo_torch_int(t, &a[1], -1), holo_torch_bool(t, &a[2], false), y);
    return y[1];
}

ANY(kthvalue)
{
    HoloValue *x = V(0), *y[2] = {NULL};
    int        axis = holo_torch_axis(t, &a[2], -1, holo_torch_rank(t, x));
    int64_t    k    = holo_torch_int(t, &a[1], 1) - 1;
    sort_by(t, x, axis, false, y);
    for (int i = 0; i < 2 && !t->e->status; i++) {
        y[i] = holo_torch_gather(t, y[i], holo_emit_int(t->e, k), axis);
        if (holo_torch_bool(t, &a[3], false)) y[i] = holo_torch_unsqueeze(t, y[i], axis);
    }
    *out = holo_torch_tuple(t, 2, y);
}

// The lower one of two in the middle.
ANY(median)
{
    HoloValue *x = V(0), *y[2] = {NULL};
    bool       is_all = holo_tv_is_none(&a[1]);
    if (is_all) x = holo_torch_flat(t, x);
    int        axis   = is_all ? 0 : holo_torch_axis(t, &a[1], -1, holo_torch_rank(t, x));
    HoloValue *last   = OP2("Sub", holo_torch_dim(t, x, axis), holo_emit_int(t->e, 1));
    HoloValue *middle = holo_torch_scalar_of(t, OP2("Div", last, holo_emit_int(t->e, 2)));
    sort_by(t, x, axis, false, y);
    for (int i = 0; i < 2 && !t->e->status; i++) {
        y[i] = holo_torch_gather(t, y[i], middle, axis);
        if (holo_torch_bool(t, &a[2], false)) y[i] = holo_torch_unsqueeze(t, y[i], axis);
    }
    *out = is_all ? holo_tv_tensor(t, y[0]) : holo_torch_tuple(t, 2, y);
}

// _unique2(self, sorted, return_inverse, return_counts), unique_consecutive is not here
ANY(unique)
{
    HoloValue *y[4] = {NULL}, *x = V(0);
    holo_emit_many(t->e, "Unique", HOLO_IN(holo_torch_flat(t, x)), HOLO_ATTRS(holo_with_int("sorted", 1)), y, 4);
    HoloValue *all[3] = {y[0], holo_torch_shape_as(t, y[2], x), y[3]};
    *out              = holo_torch_tuple(t, 3, all);
}

ANY(unique_dim)
{
    HoloValue *y[4] = {NULL}, *x = V(0);
    int64_t    axis = holo_torch_int(t, &a[1], 0);
    holo_emit_many(t->e, "Unique", HOLO_IN(x), HOLO_ATTRS(holo_with_int("sorted", 1), holo_with_int("axis", axis)), y,
                   4);
    HoloValue *all[3] = {y[0], y[2], y[3]};
    *out              = holo_torch_tuple(t, 3, all);
}

const HoloTorchOp holo_torch_searches[] = {
    ROW("bucketize", "self boundaries out_int32 right", bucketize),
    ROW("searchsorted", "sorted_sequence self out_int32 right side sorter", searchsorted),
    ROW("isin", "elements|element test_elements|test_element assume_unique invert", isin),
    MANY("topk", "self k dim largest sorted", topk),
    MANY("sort", "self dim descending stable", sort),
    ROW("argsort", "self dim descending stable", argsort),
    ROW("msort", "self", msort),
    MANY("kthvalue", "self k dim keepdim", kthvalue),
    MANY("median", "self dim keepdim", median),
    MANY("_unique2", "self sorted return_inverse return_counts", unique),
    MANY("_unique", "self sorted return_inverse", unique),
    MANY("unique_dim", "self dim sorted return_inverse return_counts", unique_dim),
    {0},
};
