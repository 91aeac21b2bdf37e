// isa_number.c - conversions between the types of numbers.
#include "isa/isa_number.h"
#include "format/dtype.h"

static bool is_float(HoloDtype type)
{
    return HOLO_TYPES_FLOAT >> type & 1;
}

static bool is_signed(HoloDtype type)
{
    return HOLO_TYPES_INT >> type & 1;
}

uint64_t holo_isa_narrow(HoloDtype type, uint64_t bits)
{
    if (type == HOLO_BOOL) return bits != 0;
    int size = (int)holo_dtype_size(type) * 8;
    return size >= 64 ? bits : bits & ((UINT64_C(1) << size) - 1);
}

int64_t holo_isa_to_i64(HoloDtype type, uint64_t bits)
{
    int away = 64 - (int)holo_dtype_size(type) * 8;
    return is_signed(type) ? (int64_t)(bits << away) >> away : (int64_t)bits;
}

// A float of any type as a double: exact.
static double to_double(HoloDtype type, uint64_t bits)
{
    switch (type) {
    case HOLO_F16: return (double)holo_f16_to_f32((uint16_t)bits);
    case HOLO_BF16: return (double)holo_bf16_to_f32((uint16_t)bits);
    case HOLO_F32: return (double)holo_f32_of_bits((uint32_t)bits);
    default: return holo_f64_of_bits(bits);
    }
}

static uint64_t from_double(HoloDtype type, double x)
{
    switch (type) {
    case HOLO_F16: return holo_f64_to_f16(x);
    case HOLO_BF16: return holo_f64_to_bf16(x);
    case HOLO_F32: return holo_bits_of_f32((float)x);
    default: return holo_bits_of_f64(x);
    }
}

static uint64_t integer_of_double(HoloDtype type, double x)
{
    int    bits = (int)holo_dtype_size(type) * 8 - is_signed(type);
    double top  = bits == 64 ? 0x1p64 : (double)(UINT64_C(1) << bits); // the first number that is too large
    if (x != x) return 0;
    if (x >= top) return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    if (is_signed(type)) return holo_isa_narrow(type, x <= -top ? UINT64_C(1) << bits : (uint64_t)(int64_t)x);
    return x <= 0 ? 0 : (uint64_t)x;
}

// A large integer would be rounded twice on its way to f16 and bf16 through double. But f16 ends at 65,504, and bf16
// has 8 bits, so bits beyond the first 32 of an integer only matter as "there is more".
static uint64_t float_of_integer(HoloDtype type, bool is_negative, uint64_t size)
{
    if (type == HOLO_F32) {
        float x = (float)size;
        return holo_bits_of_f32(is_negative ? -x : x);
    }
    if (type != HOLO_F64 && size >> 53) size = (size & ~UINT64_C(0x7FFFFF)) | ((size & 0x7FFFFF) != 0) << 22;
    double x = (double)size;
    return from_double(type, is_negative ? -x : x);
}

uint64_t holo_isa_convert_bits(HoloDtype type, HoloDtype from, uint64_t bits)
{
    if (type == from) return bits;
    if (type == HOLO_BOOL) return is_float(from) ? to_double(from, bits) != 0 : bits != 0;
    if (is_float(from)) {
        double x = to_double(from, bits);
        return is_float(type) ? from_double(type, x) : integer_of_double(type, x);
    }
    int64_t value = from == HOLO_BOOL ? (int64_t)bits : holo_isa_to_i64(from, bits);
    if (!is_float(type)) return holo_isa_narrow(type, (uint64_t)value);
    bool is_negative = is_signed(from) && value < 0;
    return float_of_integer(type, is_negative, is_negative ? -(uint64_t)value : (uint64_t)value);
}
