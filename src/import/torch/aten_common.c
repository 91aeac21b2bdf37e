// aten_common.c - parts that emitters of ATen operators share.
#include "import/torch/aten.h"

HoloValue *holo_torch_op1(HoloTorch *t, const char *op, HoloValue *x)
{
    return holo_emit(t->e, op, HOLO_IN(x), NULL);
}

HoloValue *holo_torch_op2(HoloTorch *t, const char *op, HoloValue *x, HoloValue *y)
{
    return holo_emit(t->e, op, HOLO_IN(x, y), NULL);
}

HoloValue *holo_torch_like(HoloTorch *t, HoloValue *x, double number)
{
    HoloDtype dtype = holo_emit_dtype(x);
    return holo_emit_number(t->e, dtype ? dtype : HOLO_F32, number);
}

HoloTv holo_torch_tuple(HoloTorch *t, int count, HoloValue *const *values)
{
    HoloTv out = holo_tv_list(t, HOLO_TORCH_TUPLE, 0, NULL);
    for (int i = 0; i < count && !t->e->status; i++) holo_tv_append(t, out.list, holo_tv_tensor(t, values[i]));
    return out;
}

HoloDtype holo_torch_pair(HoloTorch *t, const HoloTv *a, HoloValue **out_x, HoloValue **out_y)
{
    HoloDtype dtype = holo_torch_result(t, a, 2);
    *out_x          = holo_torch_scalar(t, &a[0], dtype);
    *out_y          = holo_torch_scalar(t, &a[1], dtype);
    return dtype;
}

bool holo_torch_size_known(HoloValue *x, int axis, int64_t *out)
{
    if (!x || axis < 0 || axis >= x->type.rank || holo_dim_is_symbolic(x->type.dim[axis])) return false;
    *out = x->type.dim[axis];
    return true;
}

HoloValue *holo_torch_dim(HoloTorch *t, HoloValue *x, int axis)
{
    int64_t known, index = axis;
    if (holo_torch_size_known(x, axis, &known)) return holo_emit_ints(t->e, &known, 1);
    return holo_emit(t->e, "Shape", HOLO_IN(x),
                     HOLO_ATTRS(holo_with_int("start", index), holo_with_int("end", index + 1)));
}

HoloValue *holo_torch_flat(HoloTorch *t, HoloValue *x)
{
    int64_t all = -1;
    if (holo_emit_rank(x) == 1) return x;
    return holo_emit_reshape(t->e, x, &all, 1);
}

// True if all sizes are numbers.
static bool known_shape(const HoloValue *x)
{
    if (!x || x->type.rank < 0) return false;
    for (int i = 0; i < x->type.rank; i++)
        if (holo_dim_is_symbolic(x->type.dim[i])) return false;
    return true;
}

HoloValue *holo_torch_shape_as(HoloTorch *t, HoloValue *x, HoloValue *like)
{
    HoloValue *sizes =
        known_shape(like) ? holo_emit_ints(t->e, like->type.dim, like->type.rank) : holo_emit_shape(t->e, like);
    return holo_emit(t->e, "Reshape", HOLO_IN(x, sizes), HOLO_ATTRS(holo_with_int("allowzero", 1)));
}

HoloValue *holo_torch_concat(HoloTorch *t, HoloValue *const *part, int count, int axis)
{
    if (count == 1) return part[0];
    if (!count) return holo_emit_fail(t->e, HOLO_BAD_MODEL, "nothing to concatenate");
    return holo_emit(t->e, "Concat", (HoloEmitIn){count, part}, HOLO_ATTRS(holo_with_int("axis", axis)));
}

HoloValue *holo_torch_reduce(HoloTorch *t, const char *op, HoloValue *x, const int64_t *axes, int count, bool keep)
{
    if (holo_emit_rank(x) == 0) return x;
    return holo_emit(t->e, op, HOLO_IN(x, holo_emit_ints(t->e, axes, count)),
                     HOLO_ATTRS(holo_with_int("keepdims", keep), holo_with_int("noop_with_empty_axes", 1)));
}

HoloValue *holo_torch_where(HoloTorch *t, HoloValue *c, HoloValue *x, HoloValue *y)
{
    return holo_emit(t->e, "Where", HOLO_IN(holo_emit_cast(t->e, c, HOLO_BOOL), x, y), NULL);
}

HoloValue *holo_torch_expand(HoloTorch *t, HoloValue *x, HoloValue *sizes)
{
    return holo_torch_op2(t, "Expand", x, sizes);
}

HoloValue *holo_torch_unsqueeze(HoloTorch *t, HoloValue *x, int64_t axis)
{
    return holo_emit_unsqueeze(t->e, x, &axis, 1);
}

HoloValue *holo_torch_squeeze(HoloTorch *t, HoloValue *x, int64_t axis)
{
    return holo_emit_squeeze(t->e, x, &axis, 1);
}

HoloValue *holo_torch_scalar_of(HoloTorch *t, HoloValue *x)
{
    return holo_emit_rank(x) == 0 ? x : holo_emit_reshape(t->e, x, NULL, 0);
}

HoloValue *holo_torch_range(HoloTorch *t, HoloValue *count)
{
    count = holo_torch_scalar_of(t, count);
    return holo_emit(t->e, "Range", HOLO_IN(holo_emit_int(t->e, 0), count, holo_emit_int(t->e, 1)), NULL);
}

HoloValue *holo_torch_gather(HoloTorch *t, HoloValue *x, HoloValue *index, int axis)
{
    return holo_emit(t->e, "Gather", HOLO_IN(x, index), HOLO_ATTRS(holo_with_int("axis", axis)));
}

HoloValue *holo_torch_swap(HoloTorch *t, HoloValue *x, int a, int b)
{
    int64_t perm[HOLO_MAX_RANK];
    int     rank = holo_torch_rank(t, x);
    for (int i = 0; i < rank; i++) perm[i] = i == a ? b : i == b ? a : i;
    return holo_emit_transpose(t->e, x, perm, rank);
}

HoloValue *holo_torch_numel(HoloTorch *t, HoloValue *x)
{
    int64_t count = 1;
    if (known_shape(x)) {
        count = holo_tensor_count(&x->type);
        if (count < 0) return holo_emit_fail(t->e, HOLO_BAD_MODEL, "a tensor is too large");
        return holo_emit_int(t->e, count);
    }
    return holo_torch_op1(t, "Size", x);
}

HoloValue *holo_torch_slice(HoloTorch *t, HoloValue *x, int axis, HoloValue *start, HoloValue *end, int64_t step)
{
    int64_t place = axis;
    return holo_emit(t->e, "Slice",
                     HOLO_IN(x, start, end, holo_emit_ints(t->e, &place, 1), holo_emit_ints(t->e, &step, 1)), NULL);
}

HoloValue *holo_torch_trunc(HoloTorch *t, HoloValue *x)
{
    return OP2("Mul", OP1("Sign", x), OP1("Floor", OP1("Abs", x)));
}

// What is left of x after whole multiples of y, with the sign of y.
HoloValue *holo_torch_remainder(HoloTorch *t, HoloValue *x, HoloValue *y)
{
    if (!holo_torch_is_float(DTYPE(x))) return OP2("Mod", x, y);
    HoloValue *rest = holo_emit(t->e, "Mod", HOLO_IN(x, y), HOLO_ATTRS(holo_with_int("fmod", 1))), *zero = NUM(x, 0);
    HoloValue *is_other =
        OP2("And", OP1("Not", OP2("Equal", rest, zero)), OP2("Xor", OP2("Less", rest, zero), OP2("Less", y, zero)));
    return holo_torch_where(t, is_other, OP2("Add", rest, y), rest);
}

// By way of the remainder, which is exact: x / y may be rounded up to a whole number.
static HoloValue *float_floor_div(HoloTorch *t, HoloValue *x, HoloValue *y)
{
    HoloValue *zero = NUM(x, 0), *is_zero = OP2("Equal", y, zero);
    HoloValue *q = OP1("Round", OP2("Div", OP2("Sub", x, holo_torch_remainder(t, x, y)), y));
    return holo_torch_where(t, is_zero, OP2("Div", x, y), q);
}

// Rounds quotients of whole numbers down, as Python does; ONNX's Div rounds them to 0.
HoloValue *holo_torch_floor_div(HoloTorch *t, HoloValue *x, HoloValue *y)
{
    if (holo_torch_is_float(DTYPE(x))) return float_floor_div(t, x, y);
    HoloValue *q = OP2("Div", x, y);
    if (holo_dtype_class(DTYPE(x)) == HOLO_CLASS_UINT) return q;
    double number;
    if (holo_emit_known_number(t->e, y, &number) && number > 0 && x && x->contents) {
        // sizes are not below 0, and what is computed with them mostly is not: the plain form, which stays an expression
        return q;
    }
    HoloValue *rest = OP2("Sub", x, OP2("Mul", q, y)), *zero = NUM(x, 0);
    HoloValue *is_off =
        OP2("And", OP1("Not", OP2("Equal", rest, zero)), OP2("Xor", OP2("Less", rest, zero), OP2("Less", y, zero)));
    return OP2("Sub", q, holo_emit_cast(t->e, is_off, DTYPE(x)));
}
