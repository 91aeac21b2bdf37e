// dtype.c - the table of element types, single numbers of the small float types, and views of tensors in DLPack's
// layout. ops/tensor.c reads and writes runs of elements.
#include "format/dtype.h"
#include "base/base.h"
#include "format/small_float.h"

#include <string.h>

typedef struct Dtype {
    const char *onnx;
    uint8_t     size, bits, class, dlpack;
} Dtype;

// clang-format off
enum { // DLDataTypeCode
    DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6,
    DL_F8E4M3FN = 10, DL_F8E4M3FNUZ = 11, DL_F8E5M2 = 12, DL_F8E5M2FNUZ = 13, DL_F8E8M0 = 14,
    DL_NONE = 255, // DLPack has no such type, or packs it more tightly
    DL_CPU  = 1,
};

#define DTYPES(X)                                              \
    X(F32, "FLOAT", 32, FLOAT, DL_FLOAT)                       \
    X(U8, "UINT8", 8, UINT, DL_UINT)                           \
    X(I8, "INT8", 8, INT, DL_INT)                              \
    X(U16, "UINT16", 16, UINT, DL_UINT)                        \
    X(I16, "INT16", 16, INT, DL_INT)                           \
    X(I32, "INT32", 32, INT, DL_INT)                           \
    X(I64, "INT64", 64, INT, DL_INT)                           \
    X(STRING, "STRING", 128, STRING, DL_NONE)                  \
    X(BOOL, "BOOL", 8, BOOL, DL_BOOL)                          \
    X(F16, "FLOAT16", 16, FLOAT, DL_FLOAT)                     \
    X(F64, "DOUBLE", 64, FLOAT, DL_FLOAT)                      \
    X(U32, "UINT32", 32, UINT, DL_UINT)                        \
    X(U64, "UINT64", 64, UINT, DL_UINT)                        \
    X(C64, "COMPLEX64", 64, COMPLEX, DL_COMPLEX)               \
    X(C128, "COMPLEX128", 128, COMPLEX, DL_COMPLEX)            \
    X(BF16, "BFLOAT16", 16, FLOAT, DL_BFLOAT)                  \
    X(F8E4M3FN, "FLOAT8E4M3FN", 8, FLOAT, DL_F8E4M3FN)         \
    X(F8E4M3FNUZ, "FLOAT8E4M3FNUZ", 8, FLOAT, DL_F8E4M3FNUZ)   \
    X(F8E5M2, "FLOAT8E5M2", 8, FLOAT, DL_F8E5M2)               \
    X(F8E5M2FNUZ, "FLOAT8E5M2FNUZ", 8, FLOAT, DL_F8E5M2FNUZ)   \
    X(U4, "UINT4", 4, UINT, DL_NONE)                           \
    X(I4, "INT4", 4, INT, DL_NONE)                             \
    X(F4E2M1, "FLOAT4E2M1", 4, FLOAT, DL_NONE)                 \
    X(F8E8M0, "FLOAT8E8M0", 8, FLOAT, DL_F8E8M0)               \
    X(U2, "UINT2", 2, UINT, DL_NONE)                           \
    X(I2, "INT2", 2, INT, DL_NONE)                             \
    X(F6E2M3, "FLOAT6E2M3", 6, FLOAT, DL_NONE)                 \
    X(F6E3M2, "FLOAT6E3M2", 6, FLOAT, DL_NONE)
// clang-format on

enum {
#define X(id, value, text, size) SIZE_##id = size,
    HOLO_DTYPE_MAP(X)
#undef X
};

static const char *const names[HOLO_DTYPE_COUNT] = {[HOLO_NONE] = "?",
#define X(id, value, text, size) [value] = text,
                                                    HOLO_DTYPE_MAP(X)
#undef X
};

static const Dtype dtypes[HOLO_DTYPE_COUNT] = {[HOLO_NONE] = {"UNDEFINED", 0, 0, HOLO_CLASS_NONE, DL_NONE},
#define X(id, onnx, bits, class, dlpack) [HOLO_##id] = {onnx, SIZE_##id, bits, HOLO_CLASS_##class, dlpack},
                                               DTYPES(X)
#undef X
};

static const Dtype *row(HoloDtype dtype)
{
    return &dtypes[(unsigned)dtype < HOLO_DTYPE_COUNT ? dtype : HOLO_NONE];
}

const char *holo_dtype_name(HoloDtype dtype)
{
    return names[(unsigned)dtype < HOLO_DTYPE_COUNT ? dtype : HOLO_NONE];
}

size_t holo_dtype_size(HoloDtype dtype)
{
    return dtype == HOLO_STRING ? sizeof(HoloString) : row(dtype)->size; // pointers are not of one size everywhere
}
HoloClass holo_dtype_class(HoloDtype dtype)
{
    return (HoloClass)row(dtype)->class;
}
int holo_dtype_bits(HoloDtype dtype)
{
    return row(dtype)->bits;
}
int64_t holo_dtype_patterns(HoloDtype dtype)
{
    HoloClass class = holo_dtype_class(dtype);
    int bits        = class == HOLO_CLASS_BOOL ? 1 : holo_dtype_bits(dtype);
    return bits && bits <= 16 && class != HOLO_CLASS_STRING && class != HOLO_CLASS_COMPLEX ? (int64_t)1 << bits : 0;
}

const char *holo_dtype_onnx(HoloDtype dtype)
{
    return row(dtype)->onnx;
}

HoloDtype holo_dtype_find(const char *name)
{
    for (int d = 1; d < HOLO_DTYPE_COUNT; d++)
        if (strcmp(names[d], name) == 0) return (HoloDtype)d;
    return HOLO_NONE;
}

// ---- single numbers

float holo_f16_to_f32(uint16_t bits)
{
    return holo_f16_decode(bits);
}
uint16_t holo_f32_to_f16(float x)
{
    return (uint16_t)holo_small_encode(HOLO_FORMAT_F16, x, false);
}
uint16_t holo_f64_to_f16(double x)
{
    return (uint16_t)holo_small_encode(HOLO_FORMAT_F16, x, false);
}
float holo_bf16_to_f32(uint16_t bits)
{
    return holo_bf16_decode(bits);
}
uint16_t holo_f64_to_bf16(double x)
{
    return (uint16_t)holo_small_encode(HOLO_FORMAT_BF16, x, false);
}

static const HoloSmallFloat *format_f8(HoloDtype dtype)
{
    switch (dtype) {
    case HOLO_F8E4M3FN: return &HOLO_FORMAT_F8E4M3FN;
    case HOLO_F8E4M3FNUZ: return &HOLO_FORMAT_F8E4M3FNUZ;
    case HOLO_F8E5M2: return &HOLO_FORMAT_F8E5M2;
    case HOLO_F8E5M2FNUZ: return &HOLO_FORMAT_F8E5M2FNUZ;
    case HOLO_F6E2M3: return &HOLO_FORMAT_F6E2M3;
    case HOLO_F6E3M2: return &HOLO_FORMAT_F6E3M2;
    default: return &HOLO_FORMAT_F4E2M1;
    }
}

float holo_f8_to_f32(HoloDtype dtype, uint8_t bits)
{
    return dtype == HOLO_F8E8M0 ? holo_f8e8m0_decode(bits) : holo_small_decode(*format_f8(dtype), bits);
}

uint8_t holo_f64_to_f8(HoloDtype dtype, double x, bool saturate)
{
    if (dtype == HOLO_F8E8M0) return holo_f8e8m0_encode(x, saturate);
    return (uint8_t)holo_small_encode(*format_f8(dtype), x, saturate);
}

// ---- views of tensors

int64_t holo_tensor_count(const HoloTensor *t)
{
    if (t->rank < 0 || t->rank > HOLO_MAX_RANK) return -1;
    int64_t count    = 1;
    bool    is_empty = false;
    for (int i = 0; i < t->rank; i++) {
        if (t->dim[i] < 0) return -1;
        is_empty |= t->dim[i] == 0;
        if (t->dim[i] && !holo_mul(count, t->dim[i], &count))
            return -1; // even if another size is 0: no product of sizes overflows
    }
    if (count > INT64_MAX / (int64_t)sizeof(HoloTensor)) return -1;
    return is_empty ? 0 : count;
}

size_t holo_tensor_bytes(const HoloTensor *t)
{
    int64_t count = holo_tensor_count(t);
    if (t->kind == HOLO_MAP) return 2 * sizeof(HoloTensor);
    if (count < 0) return 0;
    return (size_t)count * (t->kind == HOLO_TENSOR ? holo_dtype_size((HoloDtype)t->dtype) : sizeof(HoloTensor));
}

bool holo_tensor_to_dlpack(HoloTensor *t, HoloDlTensor *out)
{
    const Dtype *type = row((HoloDtype)t->dtype);
    if (t->kind != HOLO_TENSOR || type->dlpack == DL_NONE || holo_tensor_count(t) < 0) return false;
    *out = (HoloDlTensor){.data        = t->data,
                          .device_type = DL_CPU,
                          .ndim        = t->rank,
                          .code        = type->dlpack,
                          .bits        = type->bits,
                          .lanes       = 1,
                          .shape       = t->dim};
    return true;
}

static bool is_dense(const HoloDlTensor *dl)
{
    int64_t stride = 1;
    for (int i = dl->ndim - 1; dl->strides && i >= 0; i--) {
        if (dl->shape[i] != 1 && dl->strides[i] != stride) return false;
        stride *= dl->shape[i];
    }
    return true;
}

bool holo_tensor_from_dlpack(const HoloDlTensor *dl, HoloTensor *out)
{
    if (dl->device_type != DL_CPU || dl->lanes != 1 || dl->ndim < 0 || dl->ndim > HOLO_MAX_RANK) return false;
    HoloTensor t = {.kind = HOLO_TENSOR, .rank = (int8_t)dl->ndim};
    for (int d = 1; d < HOLO_DTYPE_COUNT; d++)
        if (dtypes[d].dlpack == dl->code && dtypes[d].bits == dl->bits && dl->code != DL_NONE) t.dtype = (uint8_t)d;
    for (int i = 0; i < dl->ndim; i++) t.dim[i] = dl->shape[i];
    int64_t count = holo_tensor_count(&t);
    if (t.dtype == HOLO_NONE || count < 0 || (count > 0 && !is_dense(dl))) return false;
    t.data = dl->data ? (char *)dl->data + dl->byte_offset : NULL;
    *out   = t;
    return true;
}
