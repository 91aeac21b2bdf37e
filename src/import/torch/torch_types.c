// torch_types.c - element types, and PyTorch's rules for mixing them.
#include "import/torch/torch.h"

// By c10's numbers, which scripts use; .pt2 files have others, which pt2_value.c turns into these.
static const struct {
    int       number;
    HoloDtype dtype;
} types[] = {
    {0, HOLO_U8},          {1, HOLO_I8},    {2, HOLO_I16},     {3, HOLO_I32},       {4, HOLO_I64},
    {5, HOLO_F16},         {6, HOLO_F32},   {7, HOLO_F64},     {9, HOLO_C64},       {10, HOLO_C128},
    {11, HOLO_BOOL},       {15, HOLO_BF16}, {23, HOLO_F8E5M2}, {24, HOLO_F8E4M3FN}, {25, HOLO_F8E5M2FNUZ},
    {26, HOLO_F8E4M3FNUZ}, {27, HOLO_U16},  {28, HOLO_U32},    {29, HOLO_U64},
};

HoloDtype holo_torch_dtype_of(int64_t scalar_type)
{
    for (int i = 0; i < HOLO_COUNT(types); i++)
        if (types[i].number == scalar_type) return types[i].dtype;
    return HOLO_NONE;
}

int64_t holo_torch_scalar_type(HoloDtype dtype)
{
    for (int i = 0; i < HOLO_COUNT(types); i++)
        if (types[i].dtype == dtype) return types[i].number;
    return -1;
}

HoloDtype holo_torch_dtype_in(const HoloValue *value)
{
    HoloDtype dtype = holo_emit_dtype(value);
    return dtype ? dtype : HOLO_F32;
}

bool holo_torch_is_float(HoloDtype dtype)
{
    return holo_dtype_class(dtype) == HOLO_CLASS_FLOAT;
}

bool holo_torch_is_int(HoloDtype dtype)
{
    return holo_dtype_class(dtype) == HOLO_CLASS_INT || holo_dtype_class(dtype) == HOLO_CLASS_UINT;
}

HoloDtype holo_torch_float_of(HoloDtype dtype)
{
    return holo_torch_is_float(dtype) || holo_dtype_class(dtype) == HOLO_CLASS_COMPLEX ? dtype : HOLO_F32;
}

// bool, whole numbers, floats, complex numbers: a higher category wins.
static int category(HoloDtype dtype)
{
    switch (holo_dtype_class(dtype)) {
    case HOLO_CLASS_NONE: return -1;
    case HOLO_CLASS_BOOL: return 0;
    case HOLO_CLASS_INT:
    case HOLO_CLASS_UINT: return 1;
    case HOLO_CLASS_FLOAT: return 2;
    default: return 3;
    }
}

HoloDtype holo_torch_promote(HoloDtype a, HoloDtype b)
{
    if (a == b || !b) return a;
    if (!a) return b;
    if (category(a) != category(b)) return category(a) > category(b) ? a : b;
    int bits_a = holo_dtype_bits(a), bits_b = holo_dtype_bits(b);
    if (category(a) == 2 && bits_a == bits_b) return HOLO_F32; // f16 and bf16
    if (bits_a != bits_b) {
        HoloDtype wide = bits_a > bits_b ? a : b, narrow = bits_a > bits_b ? b : a;
        bool      is_mixed = holo_dtype_class(wide) == HOLO_CLASS_UINT && holo_dtype_class(narrow) == HOLO_CLASS_INT;
        return is_mixed ? HOLO_I64 : wide;
    }
    return bits_a == 8 ? HOLO_I16 : bits_a == 16 ? HOLO_I32 : HOLO_I64; // signed and unsigned
}

// A type of tensors with dimensions, and one of what has none: the latter counts only if its category is higher.
static HoloDtype combine(HoloDtype higher, HoloDtype lower)
{
    if (!higher) return lower;
    if (!lower || category(higher) >= 2) return category(lower) > category(higher) ? lower : higher;
    if (category(higher) == 0 || category(lower) >= 2) return holo_torch_promote(higher, lower);
    return higher;
}

HoloDtype holo_torch_result(HoloTorch *t, const HoloTv *args, int count)
{
    HoloDtype with_dims = HOLO_NONE, without = HOLO_NONE, number = HOLO_NONE;
    for (int i = 0; i < count; i++) {
        const HoloTv *v = &args[i];
        if (v->kind == HOLO_TORCH_TENSOR) {
            const HoloValue *x    = holo_torch_read(t, v->tensor);
            HoloDtype       *side = holo_emit_rank(x) ? &with_dims : &without;
            *side                 = holo_torch_promote(*side, holo_torch_dtype_in(x));
        } else if (v->kind == HOLO_TORCH_NUMBER) {
            HoloDtype dtype = holo_emit_dtype(v->number);
            number          = holo_torch_promote(number, holo_torch_is_float(dtype) ? HOLO_F32 : dtype);
        } else if (holo_tv_is_number(v)) {
            number = holo_torch_promote(number, v->kind == HOLO_TORCH_INT    ? HOLO_I64
                                                : v->kind == HOLO_TORCH_BOOL ? HOLO_BOOL
                                                                             : HOLO_F32);
        }
    }
    HoloDtype result = combine(with_dims, combine(without, number));
    return result ? result : HOLO_F32;
}

HoloValue *holo_torch_real(HoloTorch *t, const HoloTv *v)
{
    HoloValue *x = holo_torch_value(t, v);
    return x ? holo_emit_cast(t->e, x, holo_torch_float_of(holo_torch_dtype_in(x))) : NULL;
}
