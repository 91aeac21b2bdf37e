// level_tiles.c - the loops of portable programs, compiled once for each level: exports the table
// holo_kernels_tiles_<level>.
//
// Most loops are plain C, for the compiler to make vectors of (omp simd says that it may: iterations do not depend on
// each other even where results lie over operands).
#include "base/math/math.h"
#include "kernels/tiles/tiles.h"
#include "kernels/vec/vec.h"
#include "kernels/vec/vec_math.h"

#include <math.h>

#define SIMD _Pragma("omp simd")

#include "kernels/tiles/tiles_arith.c"
#include "kernels/tiles/tiles_math.c"
#include "kernels/tiles/tiles_move.c"
#include "kernels/tiles/tiles_products.c"
#include "kernels/tiles/tiles_reduce.c"
#include "kernels/tiles/tiles_transpose.c"

#include "kernels/tiles/tiles_chain.c" // by functions of the others

#define TEXT_(x)      #x
#define TEXT(x)       TEXT_(x)
#define TABLE_(level) holo_kernels_tiles_##level
#define TABLE(level)  TABLE_(level)

extern const HoloTiles TABLE(HOLO_LEVEL);

#define EACH_TYPE(name)                                                                                           \
    {                                                                                                             \
        name##_I8, name##_I16, name##_I32, name##_I64, name##_U8, name##_U16, name##_U32, name##_U64, name##_F32, \
            name##_F64                                                                                            \
    }
#define EACH_INTEGER(name)                                                                                       \
    {                                                                                                            \
        name##_I8, name##_I16, name##_I32, name##_I64, name##_U8, name##_U16, name##_U32, name##_U64, NULL, NULL \
    }
#define EACH_WIDTH(name)                                                                                         \
    {                                                                                                            \
        name##_U8, name##_U16, name##_U32, name##_U64, name##_U8, name##_U16, name##_U32, name##_U64, NULL, NULL \
    }
#define EACH_WRAPPED(name)                                                                                        \
    {                                                                                                             \
        name##_U8, name##_U16, name##_U32, name##_U64, name##_U8, name##_U16, name##_U32, name##_U64, name##_F32, \
            name##_F64                                                                                            \
    }
#define EACH_SIGNED(name)                                                                             \
    {                                                                                                 \
        name##_I8, name##_I16, name##_I32, name##_I64, NULL, NULL, NULL, NULL, name##_F32, name##_F64 \
    }
#define TO_SIGNED(bits)                                                                                   \
    {                                                                                                     \
        cvt_U##bits##_I8, cvt_U##bits##_I16, cvt_U##bits##_I32, cvt_U##bits##_I64, cvt_U##bits##_U8,      \
            cvt_U##bits##_U16, cvt_U##bits##_U32, cvt_U##bits##_U64, cvt_I##bits##_F32, cvt_I##bits##_F64 \
    }
#define EACH_FLOAT(name)                                           \
    {                                                              \
        [HOLO_TILE_F32] = name##_F32, [HOLO_TILE_F64] = name##_F64 \
    }

const HoloTiles TABLE(HOLO_LEVEL) = {
    .level = TEXT(HOLO_LEVEL),
    .op =
        {
            [HOLO_TILE_ABS]      = EACH_SIGNED(abs),
            [HOLO_TILE_NEG]      = EACH_SIGNED(neg),
            [HOLO_TILE_SIGN]     = EACH_SIGNED(sign),
            [HOLO_TILE_FLOOR]    = EACH_FLOAT(floor),
            [HOLO_TILE_CEIL]     = EACH_FLOAT(ceil),
            [HOLO_TILE_ROUND]    = EACH_FLOAT(round),
            [HOLO_TILE_TRUNC]    = EACH_FLOAT(trunc),
            [HOLO_TILE_NOT]      = EACH_WIDTH(not ),
            [HOLO_TILE_POPC]     = EACH_WIDTH(popc),
            [HOLO_TILE_CLZ]      = EACH_WIDTH(clz),
            [HOLO_TILE_SQRT]     = EACH_FLOAT(sqrt),
            [HOLO_TILE_RSQRT]    = EACH_FLOAT(rsqrt),
            [HOLO_TILE_RCP]      = EACH_FLOAT(rcp),
            [HOLO_TILE_EXP]      = EACH_FLOAT(exp),
            [HOLO_TILE_LOG]      = EACH_FLOAT(log),
            [HOLO_TILE_LOG2]     = EACH_FLOAT(log2),
            [HOLO_TILE_LOG10]    = EACH_FLOAT(log10),
            [HOLO_TILE_SIN]      = EACH_FLOAT(sin),
            [HOLO_TILE_COS]      = EACH_FLOAT(cos),
            [HOLO_TILE_TAN]      = EACH_FLOAT(tan),
            [HOLO_TILE_ASIN]     = EACH_FLOAT(asin),
            [HOLO_TILE_ACOS]     = EACH_FLOAT(acos),
            [HOLO_TILE_ATAN]     = EACH_FLOAT(atan),
            [HOLO_TILE_TANH]     = EACH_FLOAT(tanh),
            [HOLO_TILE_SIGMOID]  = EACH_FLOAT(sigmoid),
            [HOLO_TILE_ERF]      = EACH_FLOAT(erf),
            [HOLO_TILE_CLASS]    = EACH_INTEGER(class),
            [HOLO_TILE_MIRROR]   = EACH_INTEGER(mirror),
            [HOLO_TILE_ADD]      = EACH_WRAPPED(add),
            [HOLO_TILE_SUB]      = EACH_WRAPPED(sub),
            [HOLO_TILE_MUL]      = EACH_WRAPPED(mul),
            [HOLO_TILE_DIV]      = EACH_TYPE(div),
            [HOLO_TILE_REM]      = EACH_TYPE(rem),
            [HOLO_TILE_FLOORDIV] = EACH_TYPE(floordiv),
            [HOLO_TILE_MOD]      = EACH_TYPE(mod),
            [HOLO_TILE_MIN]      = EACH_TYPE(min),
            [HOLO_TILE_MAX]      = EACH_TYPE(max),
            [HOLO_TILE_AND]      = EACH_WIDTH(and),
            [HOLO_TILE_OR]       = EACH_WIDTH(or),
            [HOLO_TILE_XOR]      = EACH_WIDTH(xor),
            [HOLO_TILE_SHL]      = EACH_WIDTH(shl),
            [HOLO_TILE_SHR]      = EACH_INTEGER(shr),
            [HOLO_TILE_POW]      = EACH_FLOAT(pow),
            [HOLO_TILE_SET_EQ]   = EACH_WRAPPED(set_eq),
            [HOLO_TILE_SET_NE]   = EACH_WRAPPED(set_ne),
            [HOLO_TILE_SET_LT]   = EACH_TYPE(set_lt),
            [HOLO_TILE_SET_LE]   = EACH_TYPE(set_le),
            [HOLO_TILE_MAD]      = EACH_WRAPPED(mad),
            [HOLO_TILE_FMA]      = EACH_FLOAT(fma),
            [HOLO_TILE_CLIP]     = EACH_TYPE(clip),
            [HOLO_TILE_QUOTIENT] =
                {[HOLO_TILE_I32] = quotient_I32, [HOLO_TILE_F32] = div_F32, [HOLO_TILE_F64] = div_F64},
            [HOLO_TILE_REMAINDER] = {[HOLO_TILE_I32] = remainder_I32},
            [HOLO_TILE_MODULO]    = {[HOLO_TILE_I32] = modulo_I32},
            [HOLO_TILE_SET_INF]   = EACH_FLOAT(set_inf),
        },
    .cvt =
        {
            [HOLO_TILE_I8]  = TO_SIGNED(8),
            [HOLO_TILE_I16] = TO_SIGNED(16),
            [HOLO_TILE_I32] = TO_SIGNED(32),
            [HOLO_TILE_I64] = TO_SIGNED(64),
            [HOLO_TILE_U8]  = EACH_TYPE(cvt_U8),
            [HOLO_TILE_U16] = EACH_TYPE(cvt_U16),
            [HOLO_TILE_U32] = EACH_TYPE(cvt_U32),
            [HOLO_TILE_U64] = EACH_TYPE(cvt_U64),
            [HOLO_TILE_F32] = EACH_TYPE(cvt_F32),
            [HOLO_TILE_F64] = EACH_TYPE(cvt_F64),
        },
    .plain     = {plain_F32, plain_F64},
    .sel       = {sel_U8, sel_U16, sel_U32, sel_U64},
    .gather    = {{gather_U8_32, gather_U8_64},
                  {gather_U16_32, gather_U16_64},
                  {gather_U32_32, gather_U32_64},
                  {gather_U64_32, gather_U64_64}},
    .scatter   = {{scatter_U8_32, scatter_U8_64},
                  {scatter_U16_32, scatter_U16_64},
                  {scatter_U32_32, scatter_U32_64},
                  {scatter_U64_32, scatter_U64_64}},
    .outside   = {outside_U32, outside_U64, outside_I32, outside_I64},
    .merge     = {merge_U8, merge_U16, merge_U32, merge_U64},
    .fill      = {fill_U8, fill_U16, fill_U32, fill_U64},
    .iota      = {iota_U8, iota_U16, iota_U32, iota_U64},
    .transpose = {transpose_U8, transpose_U16, transpose_U32, transpose_U64},
    .zero      = {zero_U8, zero_U16, zero_U32, zero_U64},
    .count     = count,
    .boolean   = boolean,
    .chain     = chain,
    .reduce =
        {
            EACH_WRAPPED(reduce_add),
            EACH_WRAPPED(reduce_mul),
            EACH_TYPE(reduce_min),
            EACH_TYPE(reduce_max),
            EACH_WIDTH(reduce_and),
            EACH_WIDTH(reduce_or),
            EACH_WIDTH(reduce_xor),
        },
    .extreme = extreme,
    .products =
        {
            [HOLO_TILE_U32] = products_U32,
            [HOLO_TILE_U64] = products_U64,
            [HOLO_TILE_F64] = products_F64,
        },
};
