// dtype.h - the element types, and how their bits are read as numbers.
#ifndef HOLO_FORMAT_DTYPE_H
#define HOLO_FORMAT_DTYPE_H

#include "hologram.h"

typedef enum HoloClass {
    HOLO_CLASS_NONE,
    HOLO_CLASS_FLOAT,   // computed as double
    HOLO_CLASS_INT,     // signed, computed as int64_t
    HOLO_CLASS_UINT,    // unsigned, computed as uint64_t
    HOLO_CLASS_BOOL,    // 0 or 1
    HOLO_CLASS_COMPLEX, // pairs of float or double
    HOLO_CLASS_STRING,  // HoloString
} HoloClass;

HoloClass holo_dtype_class(HoloDtype dtype);
int       holo_dtype_bits(HoloDtype dtype); // 32 for f32, 4 for i4
// How many bit patterns a type of numbers or bool has; 0: more than 65,536.
int64_t     holo_dtype_patterns(HoloDtype dtype);
const char *holo_dtype_onnx(HoloDtype dtype);  // "FLOAT16", as ONNX spells it
HoloDtype   holo_dtype_find(const char *name); // by our name; HOLO_NONE: there is none

// Sets of dtypes, for the operator table.
#define HOLO_BIT(id)     (UINT64_C(1) << HOLO_##id)
#define HOLO_TYPES_F8    (HOLO_BIT(F8E4M3FN) | HOLO_BIT(F8E4M3FNUZ) | HOLO_BIT(F8E5M2) | HOLO_BIT(F8E5M2FNUZ))
#define HOLO_TYPES_FLOAT (HOLO_BIT(F16) | HOLO_BIT(BF16) | HOLO_BIT(F32) | HOLO_BIT(F64))
#define HOLO_TYPES_INT   (HOLO_BIT(I8) | HOLO_BIT(I16) | HOLO_BIT(I32) | HOLO_BIT(I64))
#define HOLO_TYPES_UINT  (HOLO_BIT(U8) | HOLO_BIT(U16) | HOLO_BIT(U32) | HOLO_BIT(U64))
#define HOLO_TYPES_F6    (HOLO_BIT(F6E2M3) | HOLO_BIT(F6E3M2))
#define HOLO_TYPES_NARROW \
    (HOLO_BIT(U4) | HOLO_BIT(I4) | HOLO_BIT(U2) | HOLO_BIT(I2) | HOLO_BIT(F4E2M1) | HOLO_BIT(F8E8M0) | HOLO_TYPES_F6)
#define HOLO_TYPES_NUMBER  (HOLO_TYPES_FLOAT | HOLO_TYPES_INT | HOLO_TYPES_UINT)
#define HOLO_TYPES_COMPLEX (HOLO_BIT(C64) | HOLO_BIT(C128))
#define HOLO_TYPES_ALL     ((UINT64_C(1) << HOLO_DTYPE_COUNT) - 2)

// Single numbers. Encoding rounds to nearest, ties to even. The f8 types saturate or not, as told.
float    holo_f16_to_f32(uint16_t bits);
uint16_t holo_f32_to_f16(float x);
uint16_t holo_f64_to_f16(double x); // rounded once
float    holo_bf16_to_f32(uint16_t bits);
uint16_t holo_f64_to_bf16(double x);
float    holo_f8_to_f32(HoloDtype dtype, uint8_t bits); // the four f8, f8e8m0, f6 and f4
uint8_t  holo_f64_to_f8(HoloDtype dtype, double x, bool saturate);

#endif
