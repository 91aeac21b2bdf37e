// aten_create.c - tensors that are made, copied or given another type; numbers of Python.
#include "import/torch/aten.h"

#include <string.h>

static HoloValue *filled(HoloTorch *t, HoloValue *sizes, HoloValue *number)
{
    return holo_torch_expand(t, number, sizes);
}

static HoloDtype dtype_of_number(const HoloTv *v)
{
    if (v->kind == HOLO_TORCH_NUMBER)
        return holo_torch_is_float(holo_emit_dtype(v->number)) ? HOLO_F32 : holo_emit_dtype(v->number);
    return v->kind == HOLO_TORCH_BOOL ? HOLO_BOOL : v->kind == HOLO_TORCH_INT ? HOLO_I64 : HOLO_F32;
}

ONE(full)
{
    HoloDtype dtype = holo_torch_dtype(t, &a[2], dtype_of_number(&a[1]));
    return filled(t, holo_torch_sizes(t, &a[0]), holo_torch_scalar(t, &a[1], dtype));
}

ONE(zeros)
{
    return filled(t, holo_torch_sizes(t, &a[0]), holo_emit_number(t->e, holo_torch_dtype(t, &a[1], HOLO_F32), 0));
}

ONE(empty_permuted)
{
    HoloTv args[2] = {a[0], a[2]};
    return zeros(t, args);
}

ONE(ones)
{
    return filled(t, holo_torch_sizes(t, &a[0]), holo_emit_number(t->e, holo_torch_dtype(t, &a[1], HOLO_F32), 1));
}

static HoloValue *like(HoloTorch *t, const HoloTv *x, const HoloTv *dtype, double number)
{
    HoloValue *from = holo_torch_value(t, x);
    return filled(t, holo_emit_shape(t->e, from),
                  holo_emit_number(t->e, holo_torch_dtype(t, dtype, DTYPE(from)), number));
}

ONE(zeros_like)
{
    return like(t, &a[0], &a[1], 0);
}

ONE(ones_like)
{
    return like(t, &a[0], &a[1], 1);
}

ONE(full_like)
{
    HoloValue *from = V(0);
    return filled(t, holo_emit_shape(t->e, from), holo_torch_scalar(t, &a[1], holo_torch_dtype(t, &a[2], DTYPE(from))));
}

ONE(new_full)
{
    HoloValue *from = V(0);
    return filled(t, holo_torch_sizes(t, &a[1]), holo_torch_scalar(t, &a[2], holo_torch_dtype(t, &a[3], DTYPE(from))));
}

static HoloValue *new_filled(HoloTorch *t, const HoloTv *a, double number)
{
    HoloValue *from = V(0);
    return filled(t, holo_torch_sizes(t, &a[1]),
                  holo_emit_number(t->e, holo_torch_dtype(t, &a[2], DTYPE(from)), number));
}

ONE(new_zeros)
{
    return new_filled(t, a, 0);
}

ONE(new_ones)
{
    return new_filled(t, a, 1);
}

// fill_ and zero_
ONE(fill)
{
    HoloValue *x = V(0);
    return filled(t, holo_emit_shape(t->e, x), holo_torch_scalar_of(t, holo_torch_scalar(t, &a[1], DTYPE(x))));
}

ONE(zero)
{
    HoloValue *x = V(0);
    return filled(t, holo_emit_shape(t->e, x), NUM(x, 0));
}

// copy_: the source is broadcast, and gets the type of what it is written to.
ONE(copy)
{
    HoloValue *x = V(0);
    return holo_torch_expand(t, holo_torch_scalar(t, &a[1], DTYPE(x)), holo_emit_shape(t->e, x));
}

// ---- ranges

// Operators have overloads by what is left out: (end), (start, end), (start, end, step), and then the type.
static HoloValue *range_of(HoloTorch *t, const HoloTv *start, const HoloTv *end, const HoloTv *step, const HoloTv *type)
{
    HoloTv    zero = holo_tv_int(0), one = holo_tv_int(1);
    HoloTv    all[3] = {holo_tv_is_none(start) ? zero : *start, *end, holo_tv_is_none(step) ? one : *step};
    HoloDtype found  = HOLO_I64;
    for (int i = 0; i < 3; i++) {
        HoloDtype dtype =
            all[i].kind == HOLO_TORCH_TENSOR ? DTYPE(holo_torch_value(t, &all[i])) : dtype_of_number(&all[i]);
        if (holo_torch_is_float(dtype)) found = HOLO_F32;
    }
    HoloDtype want = holo_torch_dtype(t, type, found), in = want;
    if (in == HOLO_F16 || in == HOLO_BF16 || in == HOLO_I8 || in == HOLO_U8 || in == HOLO_BOOL)
        in = holo_torch_is_float(in) ? HOLO_F32 : HOLO_I64;
    if (found == HOLO_F32 && !holo_torch_is_float(in)) in = HOLO_F32;
    HoloValue *v[3];
    for (int i = 0; i < 3; i++) v[i] = holo_torch_scalar_of(t, holo_torch_scalar(t, &all[i], in));
    return holo_emit_cast(t->e, holo_emit(t->e, "Range", HOLO_IN(v[0], v[1], v[2]), NULL), want);
}

ANY(arange)
{
    // TorchScript has positions: the type is the first that comes by its name; `end` alone is at place 0
    const HoloTv *start = &a[0], *end = &a[1], *step = &a[2];
    HoloTv        none = {0};
    if (holo_tv_is_none(end)) {
        end   = start;
        start = &none;
    }
    *out = holo_tv_tensor(t, range_of(t, start, end, step, &a[3]));
}

ONE(linspace)
{
    int64_t   count = holo_torch_int(t, &a[2], 100);
    HoloDtype dtype = holo_torch_dtype(t, &a[3], HOLO_F32);
    HOLO_TORCH_CHECK(t, count >= 0, "linspace of %lld numbers", (long long)count);
    HoloValue *from = holo_torch_scalar(t, &a[0], HOLO_F64), *to = holo_torch_scalar(t, &a[1], HOLO_F64);
    HoloValue *place = holo_emit_cast(t->e, holo_torch_range(t, holo_emit_int(t->e, count)), HOLO_F64);
    HoloValue *step  = OP2("Div", OP2("Sub", to, from), NUM(from, count > 1 ? (double)(count - 1) : 1));
    return holo_emit_cast(t->e, OP2("Add", from, OP2("Mul", place, step)), dtype);
}

ONE(eye)
{
    bool       is_wide = a[1].kind == HOLO_TORCH_INT || a[1].kind == HOLO_TORCH_NUMBER;
    HoloDtype  dtype   = holo_torch_dtype(t, &a[2], HOLO_F32);
    HoloValue *rows    = holo_torch_range(t, holo_torch_size1(t, &a[0]));
    HoloValue *columns = is_wide ? holo_torch_range(t, holo_torch_size1(t, &a[1])) : rows;
    return holo_emit_cast(t->e, OP2("Equal", holo_torch_unsqueeze(t, rows, 1), columns), dtype);
}

static HoloValue *triangle_indices(HoloTorch *t, const HoloTv *a, bool upper)
{
    int64_t rows = holo_torch_int(t, &a[0], 0), columns = holo_torch_int(t, &a[1], 0),
            offset = holo_torch_int(t, &a[2], 0);
    int64_t all    = 0;
    HOLO_TORCH_CHECK(t, rows >= 0 && columns >= 0 && holo_mul(rows, columns, &all) && holo_torch_step(t, all),
                     "too many indices");
    int64_t *place = HOLO_NEW(t->arena, int64_t, 2 * all + 2), count = 0;
    if (!place) return holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            if (upper ? j - i >= offset : j - i <= offset) place[count++] = i * columns + j;
    for (int64_t i = count; i-- > 0;) {
        place[count + i] = place[i] % columns;
        place[i] /= columns;
    }
    HoloTensor both = {.dtype = HOLO_I64, .rank = 2, .dim = {2, count}, .data = place};
    return holo_emit_constant(t->e, NULL, &both);
}

ONE(tril_indices)
{
    return triangle_indices(t, a, false);
}

ONE(triu_indices)
{
    return triangle_indices(t, a, true);
}

// ---- numbers and lists as tensors

// torch.tensor(numbers): nested lists of numbers.
static HoloValue *tensor_of(HoloTorch *t, const HoloTv *v, HoloDtype dtype, int depth)
{
    if (!holo_tv_is_list(v)) return holo_torch_scalar(t, v, dtype);
    HOLO_TORCH_CHECK(t, depth < HOLO_MAX_RANK, "lists are nested too deep");
    int64_t     none = 0;
    HoloValue **part = HOLO_NEW(t->arena, HoloValue *, v->list->count + 1);
    if (!part) return holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
    if (!v->list->count) return holo_emit_cast(t->e, holo_emit_ints(t->e, &none, 0), dtype);
    for (int i = 0; i < v->list->count && !t->e->status; i++)
        part[i] = holo_torch_unsqueeze(t, tensor_of(t, &v->list->item[i], dtype, depth + 1), 0);
    return holo_torch_concat(t, part, v->list->count, 0);
}

// The type of the numbers in lists.
static HoloDtype dtype_in(HoloTorch *t, const HoloTv *v, int depth)
{
    HoloDtype dtype = HOLO_NONE;
    if (v->kind == HOLO_TORCH_TENSOR) return DTYPE(holo_torch_value(t, v));
    if (!holo_tv_is_list(v)) return dtype_of_number(v);
    for (int i = 0; depth < 16 && i < v->list->count; i++)
        dtype = holo_torch_promote(dtype, dtype_in(t, &v->list->item[i], depth + 1));
    return dtype ? dtype : HOLO_F32;
}

ONE(tensor)
{
    HoloDtype dtype = holo_torch_dtype(t, &a[1], dtype_in(t, &a[0], 0));
    return tensor_of(t, &a[0], dtype, 0);
}

ONE(scalar_tensor)
{
    return tensor_of(t, &a[0], holo_torch_dtype(t, &a[1], HOLO_F32), 0);
}

ONE(number_to_tensor)
{
    return holo_torch_scalar(t, &a[0], dtype_of_number(&a[0]));
}

ANY(item)
{
    HoloValue *x = V(0);
    *out         = holo_tv_is_number(&a[0]) ? a[0] : holo_tv_number(t, x);
}

// ---- types

// Numbers beyond the range of a narrow type keep their low bits, as PyTorch does it; ONNX would take the nearest.
static HoloValue *cast(HoloTorch *t, HoloValue *x, HoloDtype dtype)
{
    bool is_narrow = holo_torch_is_int(dtype) && holo_dtype_bits(dtype) < 32;
    if (is_narrow && holo_torch_is_float(DTYPE(x))) x = holo_emit_cast(t->e, x, HOLO_I64);
    return holo_emit_cast(t->e, x, dtype);
}

// The tensor itself if nothing changes, so that it still shares memory.
ANY(to_dtype)
{
    HoloValue *x     = V(0);
    HoloDtype  dtype = holo_torch_dtype(t, &a[1], DTYPE(x));
    *out             = dtype == DTYPE(x) ? a[0] : holo_tv_tensor(t, cast(t, x, dtype));
}

// to(self, dtype, ...), to(self, device, dtype, ...), to(self, other, ...): what is a number is the type.
ANY(to)
{
    HoloTv both[2] = {a[0], {0}};
    for (int i = 1; i < 5; i++) {
        if (a[i].kind == HOLO_TORCH_INT) {
            both[1] = a[i];
            break;
        }
        if (a[i].kind == HOLO_TORCH_TENSOR) {
            both[1] = holo_tv_int(holo_torch_scalar_type(DTYPE(holo_torch_value(t, &a[i]))));
            break;
        }
    }
    to_dtype(t, both, out);
}

ONE(to_copy)
{
    HoloValue *x = V(0);
    return cast(t, x, holo_torch_dtype(t, &a[1], DTYPE(x)));
}

ONE(type_as)
{
    HoloValue *x = V(0), *other = V(1);
    return cast(t, x, DTYPE(other));
}

static HoloValue *cast_to(HoloTorch *t, const HoloTv *a, HoloDtype dtype)
{
    HoloValue *x = V(0);
    return cast(t, x, dtype);
}

#define CAST(f, d)               \
    ONE(f)                       \
    {                            \
        return cast_to(t, a, d); \
    }
CAST(to_float, HOLO_F32)
CAST(to_double, HOLO_F64)
CAST(to_half, HOLO_F16)
CAST(to_bfloat16, HOLO_BF16)
CAST(to_long, HOLO_I64)
CAST(to_int, HOLO_I32)
CAST(to_short, HOLO_I16)
CAST(to_char, HOLO_I8)
CAST(to_byte, HOLO_U8)
CAST(to_bool, HOLO_BOOL)

ANY(clone)
{
    *out = holo_tv_tensor(t, V(0));
}

// Memory that is laid out already is not copied.
ANY(contiguous)
{
    const HoloTorchTensor *v = a[0].kind == HOLO_TORCH_TENSOR ? a[0].tensor : NULL;
    while (v && v->base && v->view->flags & HOLO_TORCH_SAME) v = v->base;
    *out = v && v->base ? holo_tv_tensor(t, V(0)) : a[0];
}

ANY(same)
{
    (void)t;
    *out = a[0];
}

ANY(nothing)
{
    (void)t;
    (void)a;
    *out = (HoloTv){0};
}

// ---- sizes

// The size of a dimension, or all of them.
ANY(size)
{
    HoloValue *x    = V(0);
    int        rank = holo_torch_rank(t, x);
    if (t->e->status) return;
    if (!holo_tv_is_none(&a[1])) {
        *out = holo_tv_number(t, holo_torch_dim(t, x, holo_torch_axis(t, &a[1], 0, rank)));
        return;
    }
    *out = holo_tv_list(t, HOLO_TORCH_LIST, 0, NULL);
    for (int i = 0; i < rank && !t->e->status; i++)
        holo_tv_append(t, out->list, holo_tv_number(t, holo_torch_dim(t, x, i)));
}

ANY(numel)
{
    *out = holo_tv_number(t, holo_torch_numel(t, V(0)));
}

ANY(dim)
{
    *out = holo_tv_int(holo_torch_rank(t, V(0)));
}

ONE(shape_as_tensor)
{
    return holo_emit_shape(t->e, V(0));
}

// The strides of a tensor whose elements lie one behind the other.
ANY(stride)
{
    HoloValue *x    = V(0);
    int        rank = holo_torch_rank(t, x);
    HoloTv     one  = holo_tv_int(1), strides[HOLO_MAX_RANK];
    for (int i = rank - 1; i >= 0 && !t->e->status; i--) {
        strides[i]     = one;
        HoloTv pair[2] = {one, holo_tv_number(t, holo_torch_dim(t, x, i))};
        one            = holo_tv_number(
                       t, OP2("Mul", holo_torch_scalar(t, &pair[0], HOLO_I64), holo_torch_scalar(t, &pair[1], HOLO_I64)));
    }
    if (t->e->status) return;
    *out = holo_tv_is_none(&a[1]) ? holo_tv_list(t, HOLO_TORCH_LIST, rank, strides)
                                  : strides[holo_torch_axis(t, &a[1], 0, rank)];
}

ANY(zero_number)
{
    (void)t;
    (void)a;
    *out = holo_tv_int(0);
}

ANY(is_float)
{
    *out = holo_tv_bool(holo_torch_is_float(DTYPE(V(0))));
}

// Of torchvision: it was built without CUDA.
ANY(no_version)
{
    (void)t, (void)a;
    *out = holo_tv_int(-1);
}

ANY(is_false)
{
    (void)t;
    (void)a;
    *out = holo_tv_bool(false);
}

#define FIRST(n, p, f)                                              \
    {                                                               \
        .name = n, .params = p, .any = f, .flags = HOLO_TORCH_FIRST \
    }
const HoloTorchOp holo_torch_creates[] = {
    ROW("full", "size fill_value dtype", full),
    ROW("zeros", "size dtype", zeros),
    ROW("ones", "size dtype", ones),
    ROW("empty", "size dtype", zeros),
    ROW("empty_permuted", "size physical_layout dtype", empty_permuted),
    ROW("empty_strided", "size stride dtype", empty_permuted),
    ROW("zeros_like", "self dtype", zeros_like),
    ROW("ones_like", "self dtype", ones_like),
    ROW("empty_like", "self dtype", zeros_like),
    ROW("full_like", "self fill_value dtype", full_like),
    ROW("new_full", "self size fill_value dtype", new_full),
    ROW("new_zeros", "self size dtype", new_zeros),
    ROW("new_empty", "self size dtype", new_zeros),
    ROW("new_ones", "self size dtype", new_ones),
    ROW("fill", "self value", fill),
    ROW("zero", "self", zero),
    ROW("copy", "self src|other", copy),
    MANY("arange", "start end step dtype", arange),
    ROW("linspace", "start end steps dtype", linspace),
    ROW("eye", "n m dtype", eye),
    ROW("tril_indices", "row col offset dtype", tril_indices),
    ROW("triu_indices", "row col offset dtype", triu_indices),
    ROW("tensor", "data dtype", tensor),
    ROW("as_tensor", "data dtype", tensor),
    ROW("scalar_tensor", "s dtype", scalar_tensor),
    ROW("NumToTensor", "a", number_to_tensor),
    MANY("item", "self", item),
    MANY("_local_scalar_dense", "self", item),
    MANY("to", "self dtype|other device p2 p3", to),
    MANY("_autocast_to_full_precision", "self", same),
    MANY("_autocast_to_reduced_precision", "self", same),
    ROW("_to_copy", "self dtype", to_copy),
    ROW("type_as", "self other", type_as),
    ROW("float", "self", to_float),
    ROW("double", "self", to_double),
    ROW("half", "self", to_half),
    ROW("bfloat16", "self", to_bfloat16),
    ROW("long", "self", to_long),
    ROW("int", "self", to_int),
    ROW("short", "self", to_short),
    ROW("char", "self", to_char),
    ROW("byte", "self", to_byte),
    ROW("bool", "self", to_bool),
    ROW("_cast_Float", "self", to_float),
    ROW("_cast_Long", "self", to_long),
    ROW("_cast_Int", "self", to_int),
    MANY("clone", "self", clone),
    MANY("lift_fresh_copy", "self", clone),
    MANY("contiguous", "self", contiguous),
    MANY("alias", "self", same),
    MANY("alias_copy", "self", clone),
    MANY("detach", "self", same),
    MANY("detach_", "self", same),
    MANY("detach_copy", "self", clone),
    MANY("lift_fresh", "self", same),
    MANY("cpu", "self", same),
    MANY("cuda", "self", same),
    MANY("resolve_conj", "self", same),
    MANY("resolve_neg", "self", same),
    MANY("requires_grad_", "self requires_grad", same),
    MANY("data", "self", same),
    FIRST("set_grad_enabled", "val", nothing),
    FIRST("_set_grad_enabled", "val", nothing),
    MANY("_assert_tensor_metadata", "a size stride dtype", nothing),
    MANY("_assert_async", "self assert_msg", nothing),
    MANY("_assert_scalar", "self assert_msg", nothing),
    MANY("_functional_assert_async", "self assert_msg dep_token", nothing),
    MANY("sym_constrain_range", "size min max", nothing),
    MANY("sym_constrain_range_for_size", "size min max", nothing),
    MANY("_print", "s", nothing),
    MANY("size", "self dim", size),
    MANY("sym_size", "self dim", size),
    MANY("sym_numel", "self", numel),
    MANY("numel", "self", numel),
    MANY("dim", "self", dim),
    MANY("ndimension", "self", dim),
    ROW("_shape_as_tensor", "self", shape_as_tensor),
    MANY("stride", "self dim", stride),
    MANY("sym_stride", "self dim", stride),
    MANY("storage_offset", "self", zero_number),
    MANY("sym_storage_offset", "self", zero_number),
    MANY("is_floating_point", "self", is_float),
    MANY("is_complex", "self", is_false),
    MANY("is_cuda", "self", is_false),
    MANY("_cuda_version", "", no_version),
    MANY("is_nonzero", "self", item),
    {0},
};
