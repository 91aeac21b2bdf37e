// tflite_values.c - the values that an operator reads and gives, as the file has them or as real numbers, and nodes that
// many operators need.
#include "import/tflite/tflite.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void *holo_tf_fail(HoloTfOp *op, const char *format, ...)
{
    char    text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return holo_emit_fail(op->e, HOLO_UNSUPPORTED, "%s: %s", op->row->name, text);
}

// ---- tensors and values

static HoloTfTensor *tensor_of(const HoloTfOp *op, HoloFlatList list, int i)
{
    int64_t index = i < 0 || (size_t)i >= list.count ? -1 : holo_flat_list_i32(list, (size_t)i);
    return index < 0 || index >= op->scope->count ? NULL : &op->scope->tensor[index];
}

HoloTfTensor *holo_tf_tensor_in(const HoloTfOp *op, int i)
{
    return tensor_of(op, op->in, i);
}

HoloTfTensor *holo_tf_tensor_out(const HoloTfOp *op, int i)
{
    return tensor_of(op, op->out, i);
}

bool holo_tf_has(const HoloTfOp *op, int i)
{
    return holo_tf_tensor_in(op, i) != NULL;
}

HoloValue *holo_tf_value(HoloTfOp *op, HoloTfTensor *tensor)
{
    HoloTensor contents;
    if (!tensor || op->e->status) return NULL;
    if (tensor->value) return tensor->value;
    if (!tensor->is_constant && holo_tensor_count(&tensor->shape) != 0)
        return holo_emit_fail(op->e, HOLO_BAD_MODEL, "%s: it reads tensor '%.200s', which nothing has made yet",
                              op->row->name, tensor->name);
    HoloStatus status = holo_tf_contents(op->im, tensor, &contents);
    if (status) return op->e->status = status, NULL;
    return tensor->value = holo_emit_constant(op->e, tensor->name, &contents);
}

HoloValue *holo_tf_in(HoloTfOp *op, int i)
{
    return holo_tf_value(op, holo_tf_tensor_in(op, i));
}

HoloValue *holo_tf_i64(HoloTfOp *op, int i)
{
    return holo_emit_cast(op->e, holo_tf_in(op, i), HOLO_I64);
}

bool holo_tf_is_scaled(const HoloTfTensor *t)
{
    bool is_narrow = t && (t->type == TYPE_I8 || t->type == TYPE_U8 || t->type == TYPE_I16 || t->type == TYPE_U16 ||
                           t->type == TYPE_I4 || t->type == TYPE_U4 || t->type == TYPE_I2);
    if (!is_narrow) return false;
    if (t->scaled.count) return t->scaled.first > 0;
    int64_t details = holo_flat_u8(holo_flat_table(t->table, TENSOR_QUANTIZATION), QUANT_DETAILS_TYPE, 0);
    return details == DETAILS_BLOCKS || details == DETAILS_AXES;
}

bool holo_tf_same_scale(const HoloTfTensor *a, const HoloTfTensor *b)
{
    if (!holo_tf_is_scaled(a) && !holo_tf_is_scaled(b)) return true;
    return a && b && a->type == b->type && a->scaled.count == 1 && b->scaled.count == 1 &&
           a->scaled.first == b->scaled.first && a->scaled.first_zero == b->scaled.first_zero;
}

// ---- scales

// The scales, or the zero points, of a tensor as a constant: a number, or a list of them.
static HoloValue *scales_of(HoloTfOp *op, const HoloTfTensor *t, HoloDtype dtype, bool is_zero)
{
    const HoloTfScale *s    = &t->scaled;
    HoloTensor         list = {.dtype = (uint8_t)dtype, .rank = s->count > 1, .dim = {s->count}};
    if (op->e->status) return NULL;
    op->e->status =
        holo_import_take(op->im->import, (HoloString){t->name, strlen(t->name)}, s->count + 1, 8, &list.data);
    if (op->e->status) return NULL;
    for (int i = 0; i < s->count; i++) {
        size_t at = (size_t)(s->zero.count > 1 ? i : 0);
        if (is_zero)
            holo_put_i(&list, i, s->zero.count ? holo_flat_list_i64(s->zero, at) : 0);
        else
            holo_put_f(&list, i, (double)holo_flat_list_f32(s->scale, (size_t)i));
    }
    return holo_emit_constant(op->e, t->name, &list);
}

// Scales of blocks along the last dimension are tensors of their own.
static HoloValue *dequantize_blocks(HoloTfOp *op, const HoloTfTensor *t, HoloValue *value, int axis)
{
    HoloFlatTable q       = holo_flat_table(t->table, TENSOR_QUANTIZATION);
    HoloFlatTable details = holo_flat_table(q, QUANT_DETAILS);
    int64_t       scales = holo_flat_i32(details, BLOCKS_SCALES, -1), zeros = holo_flat_i32(details, BLOCKS_ZEROS, -1);
    int64_t       block = holo_flat_i32(details, BLOCKS_SIZE, 0);
    HoloTfScope  *scope = op->scope;
    if (scales < 0 || scales >= scope->count || zeros >= scope->count || block < 1)
        return holo_tf_fail(op, "tensor '%.200s' has scales of blocks that cannot be read", t->name);
    HoloValue *scale = holo_emit_cast(op->e, holo_tf_value(op, &scope->tensor[scales]), HOLO_F32);
    HoloValue *zero  = zeros < 0 ? NULL : holo_emit_cast(op->e, holo_tf_value(op, &scope->tensor[zeros]), t->dtype);
    return holo_emit(op->e, "DequantizeLinear", (HoloEmitIn){zero ? 3 : 2, (HoloValue *[]){value, scale, zero}},
                     HOLO_ATTRS(holo_with_int("axis", axis), holo_with_int("block_size", block)));
}

HoloValue *holo_tf_dequantize(HoloTfOp *op, const HoloTfTensor *t, HoloValue *value, int axis)
{
    if (!t->scaled.count)
        return dequantize_blocks(op, t, value, value && value->type.rank > 0 ? value->type.rank - 1 : 0);
    HoloDtype dtype = holo_emit_dtype(value);
    if (dtype == HOLO_I64) // biases of 16-bit models
        return holo_tf_two(op, "Mul", holo_emit_cast(op->e, value, HOLO_F32), scales_of(op, t, HOLO_F32, false));
    HoloValue *scale = scales_of(op, t, HOLO_F32, false), *zero = scales_of(op, t, dtype, true);
    return holo_emit(op->e, "DequantizeLinear", HOLO_IN(value, scale, zero),
                     t->scaled.count > 1 ? HOLO_ATTRS(holo_with_int("axis", axis)) : NULL);
}

HoloValue *holo_tf_quantize(HoloTfOp *op, const HoloTfTensor *t, HoloValue *value)
{
    if (!t->scaled.count) return holo_tf_fail(op, "tensor '%.200s' has scales of blocks, and is computed", t->name);
    value            = holo_emit_cast(op->e, value, HOLO_F32);
    HoloValue *scale = scales_of(op, t, HOLO_F32, false), *zero = scales_of(op, t, t->dtype, true);
    return holo_emit(op->e, "QuantizeLinear", HOLO_IN(value, scale, zero),
                     t->scaled.count > 1 ? HOLO_ATTRS(holo_with_int("axis", t->scaled.axis)) : NULL);
}

HoloValue *holo_tf_real(HoloTfOp *op, int i)
{
    HoloTfTensor *t     = holo_tf_tensor_in(op, i);
    HoloValue    *value = holo_tf_value(op, t);
    if (!value || !holo_tf_is_scaled(t)) return value;
    if (!t->real) t->real = holo_tf_dequantize(op, t, value, t->scaled.axis);
    return t->real;
}

// ---- results

void holo_tf_give(HoloTfOp *op, int i, HoloValue *value)
{
    HoloTfTensor *t = holo_tf_tensor_out(op, i);
    if (!t || op->e->status || !value) return;
    if (t->value) {
        holo_emit_fail(op->e, HOLO_BAD_MODEL, "%s: tensor '%.200s' is made twice", op->row->name, t->name);
        return;
    }
    bool is_pair = holo_dtype_class(t->dtype) == HOLO_CLASS_COMPLEX; // of real numbers
    if (t->dtype != HOLO_NONE && !is_pair && holo_emit_dtype(value) != t->dtype && holo_emit_dtype(value) != HOLO_NONE)
        value = holo_emit_cast(op->e, value, t->dtype);
    t->value = value;
}

void holo_tf_give_real(HoloTfOp *op, int i, HoloValue *value)
{
    HoloTfTensor *t = holo_tf_tensor_out(op, i);
    if (!t || op->e->status || !value) return;
    holo_tf_give(op, i, holo_tf_is_scaled(t) ? holo_tf_quantize(op, t, value) : value);
}

static const struct {
    double low, high;
} bounds[] = {[ACTIVATION_RELU] = {0, INFINITY}, [ACTIVATION_RELU_N1] = {-1, 1}, [ACTIVATION_RELU6] = {0, 6}};

static bool is_bound(int64_t activation)
{
    return activation == ACTIVATION_RELU || activation == ACTIVATION_RELU_N1 || activation == ACTIVATION_RELU6;
}

HoloValue *holo_tf_activate(HoloTfOp *op, HoloValue *value, int64_t activation)
{
    if (!activation || !value) return value;
    if (activation == ACTIVATION_RELU) return holo_tf_one(op, "Relu", value);
    if (is_bound(activation))
        return holo_emit(op->e, "Clip",
                         HOLO_IN(value, holo_tf_like(op, value, bounds[activation].low),
                                 holo_tf_like(op, value, bounds[activation].high)),
                         NULL);
    if (activation == ACTIVATION_TANH) return holo_tf_one(op, "Tanh", value);
    if (activation == ACTIVATION_SIGN) return holo_tf_one(op, "Sign", value);
    return holo_tf_fail(op, "activation %lld is not known", (long long)activation);
}

// Quantized results are cut off as integers, as the format's specification has it; nothing is cut that the type cuts.
static HoloValue *cut(HoloTfOp *op, const HoloTfTensor *t, HoloValue *q, int64_t activation)
{
    int    bits  = holo_dtype_bits(t->dtype);
    bool   plain = holo_dtype_class(t->dtype) == HOLO_CLASS_INT;
    double least = plain ? -ldexp(1, bits - 1) : 0, most = least + ldexp(1, bits) - 1;
    double low = round(bounds[activation].low / t->scaled.first) + t->scaled.first_zero;
    double high =
        isinf(bounds[activation].high) ? most : round(bounds[activation].high / t->scaled.first) + t->scaled.first_zero;
    if (low <= least && high >= most) return q;
    low  = fmin(fmax(low, least), most);
    high = fmin(fmax(high, low), most);
    return holo_emit(op->e, "Clip",
                     HOLO_IN(q, holo_emit_number(op->e, t->dtype, low), holo_emit_number(op->e, t->dtype, high)), NULL);
}

void holo_tf_give_active(HoloTfOp *op, int i, HoloValue *value, int64_t activation)
{
    HoloTfTensor *t = holo_tf_tensor_out(op, i);
    if (!t) return;
    if (holo_tf_is_scaled(t) && t->scaled.count == 1 && is_bound(activation))
        holo_tf_give(op, i, cut(op, t, holo_tf_quantize(op, t, value), activation));
    else
        holo_tf_give_real(op, i, holo_tf_activate(op, value, activation));
}

// ---- what is known

bool holo_tf_ints(HoloTfOp *op, int i, int64_t *out, int room, int *out_count)
{
    HoloValue *value = holo_tf_in(op, i);
    return value && holo_emit_known_ints(op->e, value, out, room, out_count);
}

bool holo_tf_need_ints(HoloTfOp *op, int i, int64_t *out, int room, int *out_count)
{
    if (holo_tf_ints(op, i, out, room, out_count)) return true;
    holo_tf_fail(op, "input %d must be known when the model is compiled", i);
    return false;
}

int holo_tf_rank(HoloTfOp *op, const HoloValue *value)
{
    int rank = holo_emit_rank(value);
    if (rank < 0) holo_tf_fail(op, "the number of dimensions of what it reads is not known");
    return rank;
}

int64_t holo_tf_axis(HoloTfOp *op, int64_t axis, int rank)
{
    if (axis < 0) axis += rank;
    if (axis >= 0 && axis < rank) return axis;
    holo_tf_fail(op, "there is no axis %lld of %d dimensions", (long long)axis, rank);
    return -1;
}

// ---- nodes

HoloValue *holo_tf_one(HoloTfOp *op, const char *name, HoloValue *x)
{
    return x ? holo_emit(op->e, name, HOLO_IN(x), NULL) : NULL;
}

HoloValue *holo_tf_two(HoloTfOp *op, const char *name, HoloValue *a, HoloValue *b)
{
    return a && b ? holo_emit(op->e, name, HOLO_IN(a, b), NULL) : NULL;
}

HoloValue *holo_tf_f32(HoloTfOp *op, double number)
{
    return holo_emit_number(op->e, HOLO_F32, number);
}

HoloValue *holo_tf_like(HoloTfOp *op, const HoloValue *like, double number)
{
    return like ? holo_emit_number(op->e, holo_emit_dtype(like), number) : NULL;
}

HoloValue *holo_tf_zeros(HoloTfOp *op, HoloDtype dtype, const HoloDim *sizes, int rank)
{
    HoloTensor one = {.dtype = (uint8_t)dtype, .rank = 1, .dim = {1}};
    if (op->e->status || !(one.data = holo_arena_take(op->im->import->arena, 16))) return NULL;
    memset(one.data, 0, 16);
    HoloAttr attr = {.name = "value", .kind = HOLO_ATTR_TENSOR, .count = 1, .tensor = &one};
    return holo_emit(op->e, "ConstantOfShape", HOLO_IN(holo_emit_sizes(op->e, sizes, rank)), HOLO_ATTRS(attr));
}

static HoloValue *constant_transpose(HoloTfOp *op, const HoloValue *x, const int64_t *perm, int rank)
{
    const HoloTensor *t   = &x->type;
    HoloTensor        out = *t;
    int64_t           strides[HOLO_MAX_RANK], from[HOLO_MAX_RANK], to[HOLO_MAX_RANK];
    size_t            size = holo_dtype_size((HoloDtype)t->dtype);
    holo_strides(rank, t->dim, strides);
    for (int d = 0; d < rank; d++) {
        out.dim[d] = t->dim[perm[d]];
        from[d]    = strides[perm[d]];
    }
    holo_strides(rank, out.dim, to);
    op->e->status =
        holo_import_take(op->im->import, (HoloString){x->name, strlen(x->name)}, holo_tensor_count(t), size, &out.data);
    if (op->e->status) return NULL;
    holo_move(rank, out.dim, size, out.data, to, t->data, from);
    return holo_emit_constant(op->e, x->name, &out);
}

HoloValue *holo_tf_transpose(HoloTfOp *op, HoloValue *x, const int64_t *perm, int rank)
{
    bool moves = false;
    if (!x || op->e->status) return NULL;
    for (int d = 0; d < rank; d++) moves |= perm[d] != d;
    if (!moves) return x;
    if (x->type.rank >= 0 && x->type.rank != rank)
        return holo_tf_fail(op, "it needs %d dimensions, and there are %d", rank, x->type.rank);
    if (x->is_constant && x->type.data && x->type.dtype != HOLO_STRING) return constant_transpose(op, x, perm, rank);
    return holo_emit_transpose(op->e, x, perm, rank);
}

HoloValue *holo_tf_first(HoloTfOp *op, HoloValue *x)
{
    int     rank = x ? holo_tf_rank(op, x) : -1;
    int64_t perm[HOLO_MAX_RANK];
    if (rank < 3) return rank < 0 ? NULL : holo_tf_fail(op, "it needs an image, and has %d dimensions", rank);
    for (int d = 0; d < rank; d++) perm[d] = d == 0 ? 0 : d == 1 ? rank - 1 : d - 1;
    return holo_tf_transpose(op, x, perm, rank);
}

HoloValue *holo_tf_last(HoloTfOp *op, HoloValue *x)
{
    int     rank = x ? holo_tf_rank(op, x) : -1;
    int64_t perm[HOLO_MAX_RANK];
    for (int d = 0; d < rank; d++) perm[d] = d == 0 ? 0 : d == rank - 1 ? 1 : d + 1;
    return rank < 3 ? NULL : holo_tf_transpose(op, x, perm, rank);
}
