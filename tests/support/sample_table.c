// sample_table.c - what each operator accepts, one line a form: see sample.h. Operators whose answers are random by
// definition, and those that need values which no graph text can hold, are not here: pairs_test.c lists them.
#include "support/sample.h"

#define FLOAT   HOLO_TYPES_FLOAT
#define INT     HOLO_TYPES_INT
#define UINT    HOLO_TYPES_UINT
#define NUMBER  HOLO_TYPES_NUMBER
#define WIDE    (FLOAT | HOLO_BIT(I32) | HOLO_BIT(I64) | HOLO_BIT(U32) | HOLO_BIT(U64))
#define BOOL    HOLO_BIT(BOOL)
#define F32     HOLO_BIT(F32)
#define I64     HOLO_BIT(I64)
#define STRING  HOLO_BIT(STRING)
#define BYTE    (HOLO_BIT(U8) | HOLO_BIT(I8))
#define NARROW  (HOLO_TYPES_F8 | HOLO_TYPES_NARROW)
#define ANY     (NUMBER | BOOL | STRING | HOLO_TYPES_COMPLEX)
#define ALL     (ANY | NARROW)
#define ML      (F32 | HOLO_BIT(F64) | HOLO_BIT(I64) | HOLO_BIT(I32))

// clang-format off
const SampleRow sample_rows[] = {
    // ---- element by element
    {FLOAT, "{Acos@22 Acosh@22 Asin@22 Asinh@22 Atan@22 Atanh@22 Cos@22 Cosh@22 Sin@22 Sinh@22 Tan@22 Tanh@13}($x)"},
    {FLOAT, "{Ceil@13 Erf@13 Exp@13 Floor@13 Log@13 Reciprocal@13 Round@22 Sqrt@13}($x)"},
    {FLOAT, "{HardSwish@22 Mish@22 Selu@22 Sigmoid@13 Softplus@22 Softsign@22}($x)"},
    {FLOAT, "{Celu@12 Elu@22 LeakyRelu@16 Swish@24 ThresholdedRelu@22}($x) {alpha=$(0.5|1.0|1.5)}"},
    {FLOAT, "HardSigmoid@22($x) {alpha=0.25, beta=0.375}"},
    {FLOAT, "Gelu@20($x) {approximate=\"$(none|tanh)\"}"},
    {FLOAT, "{com.microsoft::Gelu@1 com.microsoft::QuickGelu@1}($x)"},
    {FLOAT, "com.microsoft::FastGelu@1($x[...,n], $?t[n])"},
    {FLOAT, "com.microsoft::BiasGelu@1($x[...,n], $t[n])"},
    {NUMBER, "{Abs@13 Sign@13}($x)"},
    {FLOAT | INT, "{Neg@13 Relu@14}($x)"},
    {NUMBER, "Shrink@9($x) {lambd=1.5, bias=0.5}"},
    {FLOAT | HOLO_TYPES_F8, "{IsNaN@20 IsInf@20}($x)"},
    {FLOAT, "IsInf@10($x) {detect_negative=$(0|1), detect_positive=$(0|1)}"},
    {BOOL, "Not@1($x)"},
    {INT | UINT, "BitwiseNot@18($x)"},
    {ALL, "Identity@23($x)"},
    {NUMBER | BOOL, "Cast@24($x) {to=$(1|2|3|5|6|7|9|10|11|12|13|16)}"},
    {FLOAT, "Cast@24($x) {to=$(17|18|19|20|23), saturate=$(0|1)}"},
    {NARROW | NUMBER, "Cast@24($x) {to=$(1|10|16|21|22)}"},
    {NUMBER | BOOL, "CastLike@24($x, $f32|i8|u16|bool|f64[2])"},
    {HOLO_BIT(F32) | HOLO_BIT(I32) | HOLO_BIT(U32), "BitCast@26($x) {to=$(1|6|12)}"},
    {NUMBER, "{Clip@13}($x, $?t[]<0,2>, $?t[]<3,6>)"},
    {FLOAT, "Clip@6($x) {min=-1.0, max=0.5}"},
    {NUMBER, "{Add@14 Sub@14 Mul@14}($x, $t[*])"},
    {NUMBER, "{Sub@14 Mul@14}($t[*], $x)"},
    {NUMBER, "Div@14($x, $t[*]<1,5>)"},
    {FLOAT, "Div@14($t[*], $x)"},
    {F32, "{Add@6 Mul@6}($x[n,c,h,w], $t[c]) {axis=1, broadcast=1}"},
    {INT | UINT, "Mod@13($x, $t[*]<1,5>)"},
    {NUMBER, "Mod@13($x, $t[*]<1,5>) {fmod=1}"},
    {FLOAT, "Pow@15($x, $f32|f64|i32|i64[*]<0,3>)"},
    {NUMBER, "{Max@13 Min@13}($x, $t[*])"},
    {NUMBER, "{Max@13 Min@13}($x)"},
    {FLOAT, "{Max@13 Sum@13 Mean@13}($t[*], $x, $t[<])"},
    {NUMBER, "{Equal@19 Greater@13 Less@13 GreaterOrEqual@16 LessOrEqual@16}($x, $t[*])"},
    {STRING | BOOL, "Equal@19($x, $t[*])"},
    {BOOL, "{And@7 Or@7 Xor@7}($x, $bool[*])"},
    {INT | UINT, "{BitwiseAnd@18 BitwiseOr@18 BitwiseXor@18}($x, $t[*])"},
    {UINT, "BitShift@11($x, $t[*]<0,7>) {direction=\"$(LEFT|RIGHT)\"}"},
    {NUMBER, "PRelu@16($x, $t[<])"},
    {BOOL, "Where@16($x, $f32|i64|string[=], $(_dummy)"},
    {0},
};
