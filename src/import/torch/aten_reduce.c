// aten_reduce.c - sums, means, extremes and other numbers of many.
#include "import/torch/aten.h"

#include <math.h>

// The axes that are given, or all of them; an empty list is all, too. Returns how many.
static int axes_of(HoloTorch *t, HoloValue *x, const HoloTv *v, int64_t *out)
{
    HoloTv all = {0};
    return holo_torch_axes(t, holo_tv_is_list(v) && !v->list->count ? &all : v, holo_torch_rank(t, x), out);
}

// Reduces all elements of a tensor whose rank is not known, too.
static HoloValue *reduce_all(HoloTorch *t, const char *op, HoloValue *x)
{
    return holo_emit(t->e, op, HOLO_IN(x), HOLO_ATTRS(holo_with_int("keepdims", 0)));
}

static HoloValue *reduce(HoloTorch *t, const char *op, HoloValue *x, const HoloTv *dim, const HoloTv *keep)
{
    int64_t axes[HOLO_MAX_RANK];
    if (holo_tv_is_none(dim) && holo_emit_rank(x) < 0) return reduce_all(t, op, x);
    int count = axes_of(t, x, dim, axes);
    return holo_torch_reduce(t, op, x, axes, count, holo_torch_bool(t, keep, false));
}

// Sums of whole numbers are i64.
static HoloValue *summable(HoloTorch *t, const HoloTv *x, const HoloTv *dtype)
{
    HoloValue *v    = holo_torch_value(t, x);
    HoloDtype  have = DTYPE(v);
    return holo_emit_cast(t->e, v, holo_torch_dtype(t, dtype, holo_torch_is_float(have) ? have : HOLO_I64));
}

// sum(self, dtype) and sum(self, dim, keepdim, dtype)
ONE(sum)
{
    return reduce(t, "ReduceSum", summable(t, &a[0], &a[3]), &a[1], &a[2]);
}

ONE(nansum)
{
    HoloValue *x = summable(t, &a[0], &a[3]);
    if (holo_torch_is_float(DTYPE(x))) x = holo_torch_where(t, OP1("IsNaN", x), NUM(x, 0), x);
    return reduce(t, "ReduceSum", x, &a[1], &a[2]);
}

ONE(prod)
{
    return reduce(t, "ReduceProd", summable(t, &a[0], &a[3]), &a[1], &a[2]);
}

ONE(mean)
{
    HoloValue *x = V(0);
    return reduce(t, "ReduceMean", holo_emit_cast(t->e, x, holo_torch_dtype(t, &a[3], holo_torch_float_of(DTYPE(x)))),
                  &a[1], &a[2]);
}

HoloValue *holo_torch_mean(HoloTorch *t, HoloValue *x, const int64_t *axes, int count, bool keep)
{
    return holo_torch_reduce(t, "ReduceMean", x, axes, count, keep);
}

// How many elements are reduced, as a number of x's type.
static HoloValue *reduced_count(HoloTorch *t, HoloValue *x, const int64_t *axes, int count)
{
    HoloValue *all = NULL;
    for (int i = 0; i < count; i++) {
        HoloValue *size = holo_torch_dim(t, x, (int)axes[i]);
        all             = all ? OP2("Mul", all, size) : size;
    }
    if (!all) return NUM(x, 1);
    return holo_emit_cast(t->e, holo_torch_scalar_of(t, all), DTYPE(x));
}

HoloValue *holo_torch_variance(HoloTorch *t, HoloValue *x, const int64_t *axes, int count, double correction, bool keep,
                               HoloValue **out_mean)
{
    HoloValue *mean = holo_torch_mean(t, x, axes, count, true), *off = OP2("Sub", x, mean);
    HoloValue *sum = holo_torch_reduce(t, "ReduceSum", OP2("Mul", off, off), axes, count, keep);
    HoloValue *all = reduced_count(t, x, axes, count);
    if (correction != 0) all = OP2("Max", OP2("Sub", all, NUM(x, correction)), NUM(x, 0));
    if (out_mean) *out_mean = keep ? mean : holo_torch_mean(t, x, axes, count, false);
    return OP2("Div", sum, all);
}

// var(self, unbiased), var(self, dim, unbiased, keepdim), var(self, dim, *, correction, keepdim): a[1] is the dim or, if
// it is a bool, unbiased.
static HoloValue *spread_of(HoloTorch *t, const HoloTv *a, bool is_root, HoloValue **out_mean)
{
    HoloValue    *x    = holo_torch_real(t, &a[0]);
    HoloTv        none = {0};
    int64_t       axes[HOLO_MAX_RANK];
    bool          is_first_bool = a[1].kind == HOLO_TORCH_BOOL;
    const HoloTv *dim           = is_first_bool ? &none : &a[1];
    const HoloTv *unbiased      = is_first_bool ? &a[1] : a[2].kind == HOLO_TORCH_BOOL ? &a[2] : &none;
    double        correction    = holo_torch_float(t, &a[4], holo_torch_bool(t, unbiased, true));
    int           count         = axes_of(t, x, dim, axes);
    HoloValue    *y = holo_torch_variance(t, x, axes, count, correction, holo_torch_bool(t, &a[3], false), out_mean);
    return is_root ? OP1("Sqrt", y) : y;
}

ONE(var)
{
    return spread_of(t, a, false, NULL);
}

ONE(std_of)
{
    return spread_of(t, a, true, NULL);
}

ANY(var_mean)
{
    HoloValue *y[2];
    y[0] = spread_of(t, a, false, &y[1]);
    *out = holo_torch_tuple(t, 2, y);
}

ANY(std_mean)
{
    HoloValue *y[2];
    y[0] = spread_of(t, a, true, &y[1]);
    *out = holo_torch_tuple(t, 2, y);
}

// ---- extremes

// Bools are reduced as bytes.
static HoloValue *extreme(HoloTorch *t, const char *op, HoloValue *x, const HoloTv *dim, const HoloTv *keep)
{
    bool       is_bool = DTYPE(x) == HOLO_BOOL;
    HoloValue *y       = reduce(t, op, is_bool ? holo_emit_cast(t->e, x, HOLO_U8) : x, dim, keep);
    return is_bool ? holo_emit_cast(t->e, y, HOLO_BOOL) : y;
}

ONE(amax)
{
    return extreme(t, "ReduceMax", V(0), &a[1], &a[2]);
}

ONE(amin)
{
    return extreme(t, "ReduceMin", V(0), &a[1], &a[2]);
}

ANY(aminmax)
{
    HoloValue *y[2] = {amin(t, a), amax(t, a)};
    *out            = holo_torch_tuple(t, 2, y);
}

// Where the extreme is: along a dimension, or of all elements in a row.
static HoloValue *place_of(HoloTorch *t, const char *op, HoloValue *x, const HoloTv *dim, const HoloTv *keep)
{
    bool is_flat = holo_tv_is_none(dim), keeps = holo_torch_bool(t, keep, false);
    int  rank = holo_emit_rank(x);
    if (DTYPE(x) == HOLO_BOOL) x = holo_emit_cast(t->e, x, HOLO_U8);
    HoloValue *flat = is_flat || rank == 0 ? holo_emit_reshape(t->e, x, (int64_t[]){-1}, 1) : x;
    int        axis = is_flat || rank == 0 ? 0 : holo_torch_axis(t, dim, 0, holo_torch_rank(t, x));
    HoloValue *y =
        holo_emit(t->e, op, HOLO_IN(flat),
                  HOLO_ATTRS(holo_with_int("axis", axis), holo_with_int("keepdims", keeps && !is_flat && rank)));
    if (is_flat && keeps) {
        int64_t ones[HOLO_MAX_RANK];
        for (int i = 0; i < rank; i++) ones[i] = 1;
        y = holo_emit_reshape(t->e, y, ones, holo_torch_rank(t, x));
    }
    return y;
}

ONE(argmax)
{
    return place_of(t, "ArgMax", V(0), &a[1], &a[2]);
}

ONE(argmin)
{
    return place_of(t, "ArgMin", V(0), &a[1], &a[2]);
}

// max(self), max(self, other), max(self, dim, keepdim)
static void max_or_min(HoloTorch *t, const HoloTv *a, bool is_max, HoloTv *out)
{
    const char *op = is_max ? "ReduceMax" : "ReduceMin";
    if (a[1].kind == HOLO_TORCH_TENSOR) {
        *out = holo_torch_apply(t, is_max ? "maximum" : "minimum", 2, a);
        return;
    }
    HoloValue *x = V(0), *y[2] = {extreme(t, op, x, &a[1], &a[2]), NULL};
    if (holo_tv_is_none(&a[1])) {
        *out = holo_tv_tensor(t, y[0]);
        return;
    }
    y[1] = place_of(t, is_max ? "ArgMax" : "ArgMin", x, &a[1], &a[2]);
    *out = holo_torch_tuple(t, 2, y);
}

ANY(max_of)
{
    max_or_min(t, a, true, out);
}

ANY(min_of)
{
    max_or_min(t, a, false, out);
}

// ---- truth

static HoloValue *truth(HoloTorch *t, const HoloTv *a, const char *op)
{
    HoloValue *x = holo_emit_cast(t->e, V(0), HOLO_BOOL);
    return holo_emit_cast(t->e, reduce(t, op, holo_emit_cast(t->e, x, HOLO_U8), &a[1], &a[2]), HOLO_BOOL);
}

ONE(any_of)
{
    return truth(t, a, "ReduceMax");
}

ONE(all_of)
{
    return truth(t, a, "ReduceMin");
}

ONE(count_nonzero)
{
    HoloTv none = {0};
    return reduce(t, "ReduceSum", holo_emit_cast(t->e, holo_emit_cast(t->e, V(0), HOLO_BOOL), HOLO_I64), &a[1], &none);
}

ONE(equal_all)
{
    HoloValue *same = OP2("Equal", V(0), V(1));
    return holo_emit_cast(t->e, reduce_all(t, "ReduceMin", holo_emit_cast(t->e, same, HOLO_U8)), HOLO_BOOL);
}

// ---- norms and logs

static HoloValue *norm_by(HoloTorch *t, HoloValue *x, const HoloTv *ord, const HoloTv *dim, const HoloTv *keep)
{
    double p = holo_torch_float(t, ord, 2);
    x        = holo_emit_cast(t->e, x, holo_torch_float_of(DTYPE(x)));
    if (p != 0 && holo_torch_rank(t, x) == 0) return OP1("Abs", x);
    if (p == 2) return reduce(t, "ReduceL2", x, dim, keep);
    if (p == 1) return reduce(t, "ReduceL1", x, dim, keep);
    HoloValue *size = OP1("Abs", x);
    if (isinf(p)) return reduce(t, p > 0 ? "ReduceMax" : "ReduceMin", size, dim, keep);
    if (p == 0)
        return reduce(t, "ReduceSum", holo_emit_cast(t->e, holo_emit_cast(t->e, x, HOLO_BOOL), DTYPE(x)), dim, keep);
    return OP2("Pow", reduce(t, "ReduceSum", OP2("Pow", size, NUM(x, p)), dim, keep), NUM(x, 1 / p));
}

// norm(self, p), norm(self, p, dim, keepdim, dtype), linalg_vector_norm(self, ord, dim, keepdim, dtype)
ONE(norm)
{
    HoloValue *x   = V(0);
    HoloTv     ord = a[1];
    if (ord.kind == HOLO_TORCH_TEXT && holo_torch_text_is(t, &ord, "", "nuc")) {
        HoloTv args[3] = {a[0], a[2], a[3]};
        HoloTv made    = holo_torch_apply(t, "nuclear_norm", holo_tv_is_none(&a[2]) ? 1 : 3, args);
        return holo_torch_value(t, &made);
    }
    if (ord.kind == HOLO_TORCH_TEXT) {
        HOLO_TORCH_CHECK(t, holo_torch_text_is(t, &ord, "", "fro"), "the norm '%.*s'", HOLO_IMPORT_ARG(ord.s));
        ord = holo_tv_float(2);
    }
    return norm_by(t, holo_emit_cast(t->e, x, holo_torch_dtype(t, &a[4], DTYPE(x))), &ord, &a[2], &a[3]);
}

ONE(frobenius_norm)
{
    HoloTv two = holo_tv_float(2);
    return norm_by(t, V(0), &two, &a[1], &a[2]);
}

ONE(logsumexp)
{
    return reduce(t, "ReduceLogSumExp", holo_torch_real(t, &a[0]), &a[1], &a[2]);
}

// ---- running sums

static HoloValue *running(HoloTorch *t, HoloValue *x, int axis)
{
    return holo_emit(t->e, "CumSum", HOLO_IN(x, holo_emit_int(t->e, axis)), NULL);
}

ONE(cumsum)
{
    HoloValue *x = summable(t, &a[0], &a[2]);
    if (holo_torch_rank(t, x) == 0) return OP1("Identity", x);
    return running(t, x, holo_torch_axis(t, &a[1], 0, holo_torch_rank(t, x)));
}

// Prefixes by doubling: after step s each element has the product of the last 2^s.
static HoloValue *prefixes(HoloTorch *t, HoloValue *x, int axis, const char *op)
{
    int64_t size, one = 0, most = INT64_MAX;
    HOLO_TORCH_CHECK(t, holo_torch_size_known(x, axis, &size), "running products of a size that only a run knows");
    for (int64_t step = 1; step < size && !t->e->status; step *= 2) {
        int64_t    last = -step;
        HoloValue *head =
            holo_torch_slice(t, x, axis, holo_emit_ints(t->e, &one, 1), holo_emit_ints(t->e, &step, 1), 1);
        HoloValue *from =
            holo_torch_slice(t, x, axis, holo_emit_ints(t->e, &one, 1), holo_emit_ints(t->e, &last, 1), 1);
        HoloValue *to = holo_torch_slice(t, x, axis, holo_emit_ints(t->e, &step, 1), holo_emit_ints(t->e, &most, 1), 1);
        HoloValue *both[2] = {head, OP2(op, from, to)};
        x                  = holo_torch_concat(t, both, 2, axis);
    }
    return x;
}

ONE(cumprod)
{
    HoloValue *x = summable(t, &a[0], &a[2]);
    if (holo_torch_rank(t, x) == 0) return OP1("Identity", x);
    return prefixes(t, x, holo_torch_axis(t, &a[1], 0, holo_torch_rank(t, x)), "Mul");
}

// The largest so far, and where it was: of equal ones the last.
static void cummax_or_cummin(HoloTorch *t, const HoloTv *a, bool is_max, HoloTv *out)
{
    HoloValue *x     = V(0);
    int        axis  = holo_torch_axis(t, &a[1], 0, holo_torch_rank(t, x));
    HoloValue *best  = prefixes(t, x, axis, is_max ? "Max" : "Min");
    HoloValue *place = holo_torch_range(t, holo_torch_dim(t, x, axis));
    int64_t    axes[HOLO_MAX_RANK], used = 0;
    for (int i = 1; i < holo_emit_rank(x) - axis; i++) axes[used++] = i;
    place              = holo_emit_unsqueeze(t->e, place, axes, (int)used);
    HoloValue *is_here = holo_torch_where(t, OP2("Equal", x, best), place, holo_emit_int(t->e, 0));
    HoloValue *y[2]    = {best, prefixes(t, is_here, axis, "Max")};
    *out               = holo_torch_tuple(t, 2, y);
}

ANY(cummax)
{
    cummax_or_cummin(t, a, true, out);
}

ANY(cummin)
{
    cummax_or_cummin(t, a, false, out);
}

ONE(logcumsumexp)
{
    HoloValue *x      = V(0);
    int        axis   = holo_torch_axis(t, &a[1], 0, holo_torch_rank(t, x));
    int64_t    axes[] = {axis};
    HoloValue *most   = holo_torch_reduce(t, "ReduceMax", x, axes, 1, true);
    return OP2("Add", OP1("Log", running(t, OP1("Exp", OP2("Sub", x, most)), axis)), most);
}

ONE(diff)
{
    HoloValue *x    = V(0);
    int        axis = holo_torch_axis(t, &a[2], -1, holo_torch_rank(t, x));
    int64_t    n = holo_torch_int(t, &a[1], 1), zero = 0, one = 1, most = INT64_MAX, last = -1;
    HOLO_TORCH_CHECK(t, n >= 0 && n < 16, "differences of order %lld", (long long)n);
    HoloValue *part[3];
    int        count = 0;
    if (!holo_tv_is_none(&a[3])) part[count++] = V(3);
    part[count++] = x;
    if (!holo_tv_is_none(&a[4])) part[count++] = V(4);
    x = holo_torch_concat(t, part, count, axis);
    for (; n > 0; n--)
        x = OP2("Sub", holo_torch_slice(t, x, axis, holo_emit_ints(t->e, &one, 1), holo_emit_ints(t->e, &most, 1), 1),
                holo_torch_slice(t, x, axis, holo_emit_ints(t->e, &zero, 1), holo_emit_ints(t->e, &last, 1), 1));
    return x;
}

const HoloTorchOp holo_torch_reduces[] = {
    ROW("sum", "self dim keepdim dtype", sum),
    ROW("nansum", "self dim keepdim dtype", nansum),
    ROW("prod", "self dim keepdim dtype", prod),
    ROW("mean", "self dim keepdim dtype", mean),
    ROW("var", "self dim unbiased keepdim correction", var),
    ROW("std", "self dim unbiased keepdim correction", std_of),
    MANY("var_mean", "self dim unbiased keepdim correction", var_mean),
    MANY("std_mean", "self dim unbiased keepdim correction", std_mean),
    ROW("amax", "self dim keepdim", amax),
    ROW("amin", "self dim keepdim", amin),
    MANY("aminmax", "self dim keepdim", aminmax),
    ROW("argmax", "self dim keepdim", argmax),
    ROW("argmin", "self dim keepdim", argmin),
    MANY("max", "self dim|other keepdim", max_of),
    MANY("min", "self dim|other keepdim", min_of),
    ROW("any", "self dim keepdim", any_of),
    ROW("all", "self dim keepdim", all_of),
    ROW("count_nonzero", "self dim", count_nonzero),
    ROW("equal", "self other", equal_all),
    ROW("norm", "self p dim keepdim dtype", norm),
    ROW("linalg_vector_norm", "self ord dim keepdim dtype", norm),
    ROW("linalg_norm", "self ord dim keepdim dtype", norm),
    ROW("frobenius_norm", "self dim keepdim", frobenius_norm),
    ROW("logsumexp", "self dim keepdim", logsumexp),
    ROW("cumsum", "self dim dtype", cumsum),
    ROW("cumprod", "self dim dtype", cumprod),
    MANY("cummax", "self dim", cummax),
    MANY("cummin", "self dim", cummin),
    ROW("logcumsumexp", "self dim", logcumsumexp),
    ROW("diff", "self n dim prepend append", diff),
    {0},
};
