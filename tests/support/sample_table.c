// sample_table.c - what each operator accepts, one line a form: see sample.h. Operators whose answers are random by
// definition, and those that need values which graph text cannot hold, are not here: pairs_test.c lists them.
#include "support/sample.h"

#define FLOAT   HOLO_TYPES_FLOAT
#define INT     HOLO_TYPES_INT
#define UINT    HOLO_TYPES_UINT
#define NUMBER  HOLO_TYPES_NUMBER
#define WIDE    (FLOAT | HOLO_BIT(I32) | HOLO_BIT(I64) | HOLO_BIT(U32) | HOLO_BIT(U64))
#define BOOL    HOLO_BIT(BOOL)
#define F32     HOLO_BIT(F32)
#define F32_F64 (F32 | HOLO_BIT(F64))
#define I64     HOLO_BIT(I64)
#define INDEX   (HOLO_BIT(I32) | HOLO_BIT(I64))
#define STRING  HOLO_BIT(STRING)
#define BYTE    (HOLO_BIT(U8) | HOLO_BIT(I8))
#define U8      HOLO_BIT(U8)
#define NARROW  (HOLO_TYPES_F8 | HOLO_TYPES_NARROW)
#define ANY     (NUMBER | BOOL | STRING | HOLO_TYPES_COMPLEX)
#define ALL     (ANY | NARROW)
#define ML      (F32 | HOLO_BIT(F64) | HOLO_BIT(I64) | HOLO_BIT(I32))

#define PADS "pads=[$spatial(1),$spatial(1)]"

// Of tokens 0 to 3: the next one follows from the last, and all of them are the past.
#define DECODER                                                                                                      \
    "decoder=graph d(input_ids: i32[R,S], position_ids: i32[R,S], attention_mask: i32[R,T], past_0: f32[2,R,1,P,1])" \
    " -> (logits, present_0) { const table: f32[4,4] = {0, 4, 3, 2, 0, 1, 3, 2, 5, 4, 3, -2, 0, 4, 3, 2}\n"          \
    " const axes: i64[3] = {0, 2, 4}\n logits = Gather@13(table, input_ids)\n f = Cast@13(input_ids) {to=1}\n"       \
    " key = Unsqueeze@13(f, axes)\n new = Concat@13(key, key) {axis=0}\n"                                            \
    " present_0 = Concat@13(past_0, new) {axis=3} }"

// clang-format off
const SampleRow sample_rows[] = {

    // ---- element by element
    {FLOAT, "{Acos@22 Acosh@22 Asin@22 Asinh@22 Atan@22 Atanh@22 Cos@22 Cosh@22 Sin@22 Sinh@22 Tan@22 Tanh@13}($x)"},
    {FLOAT, "{Ceil@13 Erf@13 Exp@13 Floor@13 Log@13 Reciprocal@13 Round@22 Sqrt@13}($x)"},
    {FLOAT, "{HardSwish@22 Mish@22 Selu@22 Sigmoid@13 Softplus@22 Softsign@22}($x)"},
    {FLOAT, "{Elu@22 LeakyRelu@16 Swish@24 ThresholdedRelu@22}($x) {alpha=$(0.5|1.0|1.5)}"},
    {F32,   "Celu@12($x) {alpha=$(0.5|2.0)}"},
    {FLOAT, "HardSigmoid@22($x) {alpha=0.25, beta=0.375}"},
    {FLOAT, "Gelu@20($x) {approximate=\"$(none|tanh)\"}"},
    {FLOAT, "{com.microsoft::Gelu@1 com.microsoft::QuickGelu@1}($x)"},
    {FLOAT, "{com.microsoft::FastGelu@1 com.microsoft::BiasGelu@1}($x[...,n], $t[n])"},
    {FLOAT, "com.microsoft::FastGelu@1($x)"},
    {FLOAT, "SwiGLU@28($x, $t[=])"},
    {FLOAT, "com.microsoft::BiasAdd@1($x[b,s,h], $t[h], $t[b,s,h])"},
    {FLOAT, "com.microsoft::BiasSoftmax@1($x[b,s,h>0], $t[b,1,h]) {axis=2, is_inner_broadcast=1}"},
    {FLOAT, "com.microsoft::BiasSplitGelu@1($x[b,s,2*h>0], $t[2*h])"},
    {FLOAT, "{com.microsoft::ComplexMul@1 com.microsoft::ComplexMulConj@1}($x[...,2], $t[=])"},
    {FLOAT, "com.microsoft::GatedAdd@1($x[...,n], $t[...,n], $t[...,1])"},
    {FLOAT, "2=com.microsoft::LinearAttentionGate@1($x[b,s,h], $f32[h], $f32[h], $t[b,s,h])"},
    {F32 | HOLO_BIT(F16) | HOLO_BIT(BF16), "com.microsoft::GatedRMSNorm@1($x[...,2*n>0], $t[n], $t[...,2*n])"},
    {ALL, "com.microsoft::SampleOp@1($x)"},
    {STRING | INDEX | HOLO_BIT(U32) | HOLO_BIT(U64), "com.microsoft::MurmurHash3@1($x) {positive=$(0|1), seed=$(0|7)}"},
    {FLOAT, "{Affine@1 ParametricSoftplus@1 ScaledTanh@1}($x) {alpha=$(0.5|2.0), beta=$(0.25|-1.5)}"},
    {FLOAT, "Scale@1($x) {scale=$(0.5|-2.0)}"},
    {FLOAT, "ImageScaler@1($x[n,2,h,w]) {scale=0.5, bias=[1.5,-0.5]}"},
    {NUMBER, "{Abs@13 Sign@13}($x)"},
    {FLOAT | INT, "{Neg@13 Relu@14}($x)"},
    {NUMBER, "Shrink@9($x) {lambd=1.5, bias=0.5}"},
    {FLOAT | HOLO_TYPES_F8, "{IsNaN@20 IsInf@20}($x)"},
    {F32,   "IsInf@10($x) {detect_negative=$(0|1), detect_positive=$(0|1)}"},
    {BOOL,  "Not@1($x)"},
    {INT | UINT, "BitwiseNot@18($x)"},
    {ALL,   "Identity@25($x)"},
    {NUMBER | BOOL, "Cast@24($x) {to=$(1|2|3|5|6|7|9|10|11|12|13|16)}"},
    {FLOAT, "Cast@24($x) {to=$(17|18|19|20|23), saturate=$(0|1)}"},
    {NARROW | NUMBER, "Cast@24($x) {to=$(1|10|16)}"},
    {NUMBER | BOOL, "Cast@24($x) {to=$(8|21|22)}"},
    {NUMBER | BOOL, "CastLike@24($x, $f32|i8|u16|bool|f64[2])"},
    {HOLO_BIT(I32) | HOLO_BIT(U32), "BitCast@26($x) {to=$(1|6|12)}"}, // of f32 it would make much of the last bit
    {F32, "BitCast@26($x) {to=1}"},
    {NUMBER, "Clip@13($x, $?t[]<0,2>, $?t[]<3,6>)"},
    {FLOAT, "Clip@6($x) {min=-1.0, max=0.5}"},
    {NUMBER, "{Add@14 Sub@14 Mul@14}($x, $t[*])"},
    {NUMBER, "{Sub@14 Mul@14}($t[*], $x)"},
    {NUMBER, "Div@14($x, $t[*]<1,5>)"},
    {FLOAT, "Div@14($t[*], $x)"},
    {F32,   "{Add@6 Mul@6}($x[n,c,h,w], $t[c]) {axis=1, broadcast=1}"},
    {INT | UINT, "Mod@13($x, $t[*]<1,5>) {fmod=$(0|1)}"},
    {FLOAT, "Mod@13($x<-8,8>, $t[*]<1,5>) {fmod=$(0|1)}"}, // the last bit of a large number is much of a remainder
    {FLOAT, "Pow@15($x, $f32|f64|i32|i64[*]<0,3>)"},
    {NUMBER, "{Max@13 Min@13}($x, $t[*])"},
    {NUMBER, "{Max@13 Min@13}($x)"},
    {FLOAT, "{Max@13 Sum@13 Mean@13}($t[*], $x, $t[<])"},
    {NUMBER, "{Equal@19 Greater@13 Less@13 GreaterOrEqual@16 LessOrEqual@16}($x, $t[*])"},
    {STRING | BOOL, "Equal@19($x, $t[*])"},
    {BOOL,  "{And@7 Or@7 Xor@7}($x, $bool[*])"},
    {INT | UINT, "{BitwiseAnd@18 BitwiseOr@18 BitwiseXor@18}($x, $t[*])"},
    {INT | UINT, "BitShift@28($x, $t[*]<0,7>) {direction=\"$(LEFT|RIGHT)\"}"},
    {WIDE, "PRelu@16($x, $t[<])"},
    {BOOL,  "Where@16($x, $f32|i64|string|u8[*], $u[<])"},
    {ANY,   "Where@16($bool[<], $x, $t[*])"},

    // ---- along axes
    {FLOAT, "{Softmax@13 LogSoftmax@13 Hardmax@13}($x[...,n>0]) {axis=$axis}"},
    {FLOAT, "{Softmax@11 LogSoftmax@11 Hardmax@11}($x[m,...>0]) {axis=${0..r-1}}"},
    {WIDE, "{ReduceL1@18 ReduceL2@18 ReduceLogSum@18 ReduceLogSumExp@18 ReduceMean@18 ReduceProd@18 ReduceSum@13"
            " ReduceSumSquare@18}($x[...>0], $i64[#]{$axes}) {keepdims=$(0|1)}"},
    {WIDE | BYTE | BOOL, "{ReduceMax@20 ReduceMin@20}($x[...>0], $i64[#]{$axes}) {keepdims=$(0|1)}"},
    {WIDE, "{ReduceL1@11 ReduceL2@11 ReduceMax@11 ReduceMean@11 ReduceMin@11 ReduceProd@11 ReduceSum@11}"
            "($x[...>0]) {axes=[$axes], keepdims=$(0|1)}"},
    {WIDE, "{ReduceSum@13 ReduceProd@18 ReduceMax@20}($x[...>0]) {keepdims=$(0|1)}"},
    {WIDE, "ReduceMean@18($x[...>0]) {noop_with_empty_axes=1}"},
    {NUMBER, "{ArgMax@13 ArgMin@13}($x[...>0,n>0]) {axis=$axis, keepdims=$(0|1), select_last_index=$(0|1)}"},
    {WIDE, "{CumSum@14 CumProd@26}($x[...,n], $i32|i64[]{$axis}) {exclusive=$(0|1), reverse=$(0|1)}"},
    {NUMBER, "2=TopK@11($x[...,n], $i64[1]<0,da>) {axis=$axis, largest=$(0|1), sorted=1}"},
    {F32_F64, "LpNormalization@22($x[...>0,n>0]) {axis=$axis, p=$(1|2)}"},
    {FLOAT, "MeanVarianceNormalization@13($x[n>0,c>0,h>0,w>0]) {axes=[$axes]}"},
    {FLOAT, "{LayerNormalization@17 RMSNormalization@23}($x[...,n>0], $t[n]) {epsilon=0.001}"},
    {FLOAT, "LayerNormalization@17($x[b>0,...>0,n>0], $t[...,n], $?t[n]) {axis=1}"},
    {FLOAT, "3=LayerNormalization@17($x[b,n>0], $t[n], $t[n]) {axis=-1}"},
    {FLOAT, "{com.microsoft::SimplifiedLayerNormalization@1 SimplifiedLayerNormalization@1}($x[...,n>0], $t[n])"},
    {FLOAT, "com.microsoft::SkipLayerNormalization@1($x[b,s,h>0], $t[b,s,h], $t[h], $?t[h], $?t[h])"},
    {FLOAT, "com.microsoft::SkipSimplifiedLayerNormalization@1($x[b,s,h>0], $t[b,s,h], $t[h], $?t[h])"},
    {FLOAT, "BatchNormalization@15($x[n,c,...], $t[c], $t[c], $t[c], $t[c]<1,2>)"},
    {F32_F64, "3=BatchNormalization@15($x[n>0,c>0,...>0], $t[c], $t[c], $t[c], $t[c]<1,2>) {training_mode=1}"},
    {FLOAT, "InstanceNormalization@22($x[n,c,s>0,...>0], $t[c], $t[c])"},
    {FLOAT, "GroupNormalization@21($x[n,2*c>0,s>0,...>0], $t[2*c], $t[2*c]) {num_groups=2}"},
    {FLOAT, "com.microsoft::GroupNorm@1($x[n,h>0,w>0,2*c>0], $t[2*c], $t[2*c]) {activation=$(0|1), groups=2}"},
    {FLOAT, "com.microsoft::GroupNorm@1($x[n,2*c>0,h>0,w>0], $t[2*c], $t[2*c]) {activation=$(0|1), groups=$(1|2), channels_last=0}"},
    {FLOAT, "2=com.microsoft::SkipGroupNorm@1($x[n,h>0,w>0,2*c>0], $t[2*c], $t[2*c], $t[n,h,w,2*c], $?t[2*c]) {activation=$(0|1), groups=2}"},
    {FLOAT, "2=com.microsoft::SkipGroupNorm@1($x[n,h>0,w>0,2*c>0], $t[2*c], $t[2*c], $t[n,2*c]) {activation=$(0|1), groups=2}"},
    {FLOAT, "LRN@13($x[n,c,h,w]) {size=${1..5}, alpha=0.5, beta=0.75, bias=2.0}"},

    // ---- elements moved
    {ALL, "Transpose@24($x[...,n]) {perm=[$perm]}"},
    {ALL, "Transpose@24($x)"},
    {ALL, "Reshape@24($x[...>0], $i64[#]{$reshape})"},
    {ALL, "Reshape@24($x[...,n], $i64[r]{$dims}) {allowzero=1}"},
    {ALL, "Flatten@24($x[...,n]) {axis=${0..r}}"},
    {ALL, "Squeeze@24($x[1,...])"},
    {ALL, "Squeeze@24($x[...,1,n], $i64[1]{-2})"},
    {ANY, "Squeeze@11($x[1,...]) {axes=[0]}"},
    {ALL, "Unsqueeze@24($x, $i64[1]<-1,r>)"},
    {ANY, "Unsqueeze@11($x) {axes=[0,${2..r+1}]}"},
    {ALL, "com.microsoft::ExpandDims@1($x, $i32[]<-r-1,r>)"},
    {ANY, "Expand@13($x, $i64[#]{$expand})"},
    {ANY, "Tile@13($x, $i64[r]<0,2>)"},
    {ALL, "Concat@13($x[...,n]) {axis=$axis}"},
    {ANY, "Concat@13($t[...,${k=0..3}], $x[...,n], $t[...,2]) {axis=-1}"},
    {ANY, "Concat@4($x[n,...], $t[${k=0..5},...]) {axis=0}"},
    {ANY, "2=Split@18($x[...,n>1]) {axis=-1, num_outputs=2}"},
    {ANY, "3=Split@13($x[n>2,...], $i64[3]{1,${k=0..n-1},${n-k-1}}) {axis=0}"},
    {ANY, "2=Split@11($x[...,2*n]) {axis=${r-1}, split=[${n},${n}]}"},
    {ANY, "Slice@13($x[...,n], $i64[1]<-9,9>, $i64[1]<-9,9>, $i64[1]{$axis}, $i64[1]{$(1|2|-1|-2)})"},
    {ANY, "Slice@13($x[...,m,n], $i64[2]{0,1}, $i64[2]{1000,-1})"},
    {ANY, "Slice@9($x[...,n]) {axes=[$axis], starts=[${-3..3}], ends=[${1..20}]}"},
    {NUMBER | BOOL, "Pad@24($x[m>1,n>1], $i64[4]{${0..1},${0..1},${0..1},${0..1}}) {mode=\"$(constant|reflect|edge|wrap)\"}"},
    {NUMBER | BOOL, "Pad@18($x[...,n>3], $i64[2]<-1,2>, $t[], $i64[1]{-1})"},
    {FLOAT, "Pad@2($x[m,n]) {pads=[0,1,2,0], value=1.5}"},
    {FLOAT, "com.microsoft::Pad@1($x[m>1,n>1], $i64[$(4|1,4)]{${0..1},${0..1},${0..1},${0..1}}, $?t[]) {mode=\"$(constant|reflect|edge)\"}"},
    {FLOAT, "Crop@1($x[n,c,h>2,w>2]) {border=[${0..1},${0..1},${0..1},${0..1}]}"},
    {FLOAT, "Crop@1($x[n,c,h>2,w>2]) {border=[1,${k=0..1},0,0], scale=[${1..h-k},${1..w-1}]}"},
    {ANY, "Gather@13($x[...,n], $i32|i64[k,2]<-da,da-1>) {axis=$axis}"},
    {ANY, "Gather@13($x[...,n], $i64[]<0,da-1>) {axis=$axis}"},
    {INDEX, "Gather@13($f32|string[3,k], $x<-3,2>)"},
    {ANY, "GatherElements@13($x[...>0,n>0], $i64[=]<-da,da-1>) {axis=$axis}"},
    {ANY, "GatherND@13($x[m>0,...], $i64[k,1]<-m,m-1>)"},
    {ANY, "GatherND@13($x[m>0,n>0,...], $i64[m,k,1]<-n,n-1>) {batch_dims=1}"},
    {ANY, "com.microsoft::GatherND@1($x[m>0,...], $i32|i64[k,1]<-m,m-1>)"},
    {NUMBER, "com.microsoft::TorchEmbedding@1($x[m>0,n], $i64[k,2]<0,m-1>, $?i64[]<0,m-1>, $?bool[])"},
    {NUMBER, "{ScatterElements@18 ScatterElements@11}($x[...>0,n>0], $i64[=]<-da,da-1>, $t[=]) {axis=$axis}"},
    {NUMBER, "ScatterElements@18($x[n>0], $i64[k]<-n,n-1>, $t[k]) {reduction=\"$(add|mul|max|min)\"}"},
    {NUMBER, "Scatter@9($x[n>0,m>0], $i64[1,m]<0,n-1>, $t[1,m])"},
    {ANY, "ScatterND@18($x[m>0,...], $i64[1,1]<-m,m-1>, $t[1,...])"},
    {NUMBER, "ScatterND@18($x[m>0,...], $i64[k,1]<-m,m-1>, $t[k,...]) {reduction=\"$(add|mul|max|min)\"}"},
    {ANY, "TensorScatter@24($x[b,h,8,n], $t[b,h,${1..8},n], $i64[b]<0,0>) {axis=2, mode=\"$(linear|circular)\"}"},
    {ANY, "DepthToSpace@13($x[n,4*c,h,w]) {blocksize=2, mode=\"$(DCR|CRD)\"}"},
    {ANY, "SpaceToDepth@13($x[n,c,2*h,2*w]) {blocksize=2}"},
    {NUMBER | BOOL, "{Trilu@14 com.microsoft::Trilu@1}($x[...,m,n], $?i64[]<-3,3>) {upper=$(0|1)}"},
    {ANY, "ReverseSequence@10($x[t>0,b>0,...], $i64[b]<0,t>) {time_axis=0, batch_axis=1}"},
    {ANY, "Compress@11($x[...,n], $bool[da]) {axis=$axis}"},
    {ANY, "Compress@11($x[...>0,n>2], $bool[3])"},
    {NUMBER | BOOL, "CenterCropPad@18($x[m,n,...], $i64[2]<1,9>) {axes=[0,1]}"},
    {NUMBER | BOOL, "EyeLike@22($x[m,n]) {k=${-2..2}}"},
    {ALL, "{Shape@24 Size@24}($x)"},
    {ANY, "Shape@15($x) {start=${-2..1}, end=${1..3}}"},
    {NUMBER | BOOL, "NonZero@13($x[...,n])"},
    {NUMBER | BOOL, "4=Unique@11($x[...,n>0]) {sorted=$(0|1)}"},
    {F32 | I64, "4=Unique@11($x[m>0,n>0]) {axis=$(0|1)}"},
    {ANY, "3=com.microsoft::Unique@1($x[n])"},
    {ALL, "com.microsoft::UnfoldTensor@1($x[m,n>1]) {dim=1, size=${1..n}, step=${1..3}}"},
    {INDEX, "com.microsoft::NGramRepeatBlock@1($x[b,s]<0,3>, $f32|f16[b,4]) {ngram_size=${1..3}}"},
    {I64, "2=com.microsoft::BifurcationDetector@1($x[s]<0,3>, $i64[n]<0,3>, $i64[1]{0}, $?i64[${s+1}]<0,3>) {min_ngram_size=1, max_ngram_size=3}"},
    {F32, "com.microsoft::DynamicTimeWarping@1($x[m,n])"},
    {NUMBER, "OneHot@11($x<-4,9>, $i64[]<1,6>, $f32|i32|bool[2]) {axis=${-1..r}}"},
    {I64, "ConstantOfShape@24($x[2]<0,4>) {value=$(f32[1]{1.5}|i64[1]{3}|bool[1]{1})}"},
    {I64, "ConstantOfShape@9($x[3]<0,4>)"},
    {F32_F64 | INDEX, "Range@11($x[]<-9,9>, $t[]<0,20>, $t[]<1,3>)"},
    {F32_F64 | INDEX, "com.microsoft::Range@1($x[]<-9,9>, $t[]<0,20>, $?t[]<1,3>)"},

    // ---- what tools write for one device each
    {ALL, "DynamicSlice@1($x[m,n>1], $i64[1]{1}, $i64[1]{5}, $i64[1]{1})"},
    {F32,   "com.microsoft::PackedMultiHeadAttention@1($x[3,2*h>0], $t[3,2*h], $t[3,2*h], $?t[6*h], $i32[2,2]{0,2,3,1}, $i32[3]{0,1,3}) {num_heads=2}"},
    {F32,   "2=com.microsoft::MatMulNBitsMlp@1($x[...,m,32], $?t[=], $t[32], $u8[n>0,1,16]<0,255>, $f32[n]<1,2>, $?f32[n], $u8[n,1,16]<0,255>, $f32[n]<1,2>, $?f32[n])"
            " {K=32, N=${n}, activation=\"silu\", bits=4, block_size=32}"},
    {F32,   "4=com.microsoft::MatMulNBitsQkv@1($x[...,m,32], $?t[=], $t[32], $u8[n>0,1,16]<0,255>, $f32[n]<1,2>, $?f32[n], $u8[k>0,1,16]<0,255>, $f32[k]<1,2>, $?f32[k],"
            " $u8[k,1,16]<0,255>, $f32[k]<1,2>, $?f32[k]) {K=32, Nq=${n}, Nkv=${k}, bits=4, block_size=32}"},
    {F32 | HOLO_BIT(F16) | HOLO_BIT(BF16), "com.microsoft::MatMulBlockQuantizedFp8Weight@1($x[...,m,32], $f8e4m3fn[n>0,32], $f32[n,2]<1,2>, $?f32[1]<1,2>, $?t[n]) {block_size=16}"},
    {F32 | HOLO_BIT(F16) | HOLO_BIT(BF16), "com.microsoft::MatMulBlockQuantizedFp4Weight@1($x[...,m,8], $u8[n>0,4]<0,255>, $u8[n,2]<48,64>, $f32[]<1,2>, _, $?t[n]) {block_size=4}"},
    {F32 | HOLO_BIT(F16) | HOLO_BIT(BF16), "com.microsoft::GemmFloat8@1($x[m,k], $t[k,n], $?t[m,n]) {beta=1.0, activation=\"$(NONE|RELU|GELU)\"}"},
    {FLOAT, "com.microsoft::FusedMatMulActivation@1($x[m,k], $t[k,n>0]) {activation=\"Softmax\", activation_axis=-1}"},
    {F32,   "com.microsoft::QuantizeWithOrder@1($x[m>0,64], $f32[]<1,2>) {order_input=1, order_output=$(0|1|2)}"},
    {HOLO_BIT(I8), "com.microsoft::DequantizeWithOrder@1($x[m>0,64], $f32[]<1,2>) {order_input=$(0|1|2), order_output=1, to=$(1|10)}"},
    {HOLO_BIT(I8), "com.microsoft::QOrderedMatMul@1($x[b>0,m>0,k>0], $f32[]<1,2>, $i8[k,n>0], $f32[n]<1,2>, $f32[]<1,2>, $?f32[n]) {order_A=1, order_B=0, order_Y=1}"},
    {HOLO_BIT(I8), "com.microsoft::QOrderedGelu@1($x, $f32[]<1,2>, $f32[]<1,2>)"},
    {HOLO_BIT(I8), "com.microsoft::QOrderedLayerNormalization@1($x[b,s,h>0], $f32[]<1,2>, $f32[h], $?f32[h], $f32[]<1,2>) {axis=-1}"},
    {F32_F64, "com.microsoft::Rfft@1($x[b,m>0,n>0]) {signal_ndim=$(1|2)}"},
    {F32_F64, "com.microsoft::Irfft@1($x[b,m>0,n>1,2]) {signal_ndim=$(1|2)}"},
    {FLOAT, "2={com.microsoft::BiasDropout@1 com.microsoft::BitmaskBiasDropout@1}($x[...,n], $t[n], $?t[=], $?f32[]<0,1>, $?bool[]{0})"},
    {F32,   "4={EfficientNMS_TRT@1 TRT::EfficientNMS_TRT@1 trt.plugins::EfficientNMS_TRT@1}($x[b,n,4], $t[b,n,c>0]<-2,2>) {class_agnostic=$(0|1), iou_threshold=0.5, max_output_boxes=5, score_threshold=0.25}"},
    {FLOAT, "2=com.microsoft::BitmaskDropout@1($x, $?f32[]<0,1>, $?bool[]{0})"},

    // ---- products
    {WIDE, "MatMul@13($x[...,m,k], $t[k,n])"},
    {WIDE, "MatMul@13($x[...,m,k], $t[...,k,n])"},
    {WIDE, "MatMul@13($t[m,k], $x[...,k,n])"},
    {WIDE, "MatMul@13($x[k], $t[k,n])"},
    {WIDE, "MatMul@13($x[...,k], $t[k])"},
    {F32, "Gemm@13($x[m,k], $t[k,n], $t[n]) {alpha=0.5, beta=$(1.0|0.25)}"},
    {WIDE, "Gemm@13($x[k,m], $t[n,k], $?t[m,1]) {transA=1, transB=1}"},
    {F32, "com.microsoft::FusedMatMul@1($x[...,m,k], $t[...,n,k]) {transB=1, alpha=0.5}"},
    {F32, "{com.microsoft::FusedMatMul@1 com.microsoft::TransposeMatMul@1}($x[...,k,m], $t[k,n]) {transA=1}"},
    {FLOAT, "com.microsoft::FusedGemm@1($x[m,k], $t[k,n], $t[n]) {activation=\"$(Relu|Tanh|Sigmoid)\"}"},
    {NUMBER, "Einsum@12($x[i,j], $t[j,k]) {equation=\"ij,jk->$(ik|ki|i|jik)\"}"},
    {NUMBER, "Einsum@12($x[...,i,i]) {equation=\"...ii->...i\"}"},
    {NUMBER, "Einsum@12($x[b,i,j], $t[b,k,j]) {equation=\"bij,bkj->bik\"}"},
    {FLOAT, "Det@22($x[...,n>0,n])"},
    {FLOAT, "com.microsoft::Inverse@1($x[...,n,n])"},
    {F32_F64, "com.microsoft::CDist@1($x[m,k], $t[n,k]) {metric=\"$(euclidean|sqeuclidean)\"}"},
    {HOLO_BIT(I16), "com.microsoft::MatMulInteger16@1($x[m,k], $t[k,n])"},
    {FLOAT, "com.microsoft::MoE@1($x[b,h>0], $t[b,3], $t[3,n>0,h], $?t[3,n], $t[3,h,n], $?t[3,h]) {k=$(1|2), activation_type=\"$(relu|silu|gelu)\"}"},
    {FLOAT, "com.microsoft::QMoE@1($x[b,4], $t[b,3], $u8[3,4,2]<0,255>, $t[3,4]<1,2>, $?t[3,4], $u8[3,4,2]<0,255>, $t[3,4]<1,2>) {k=2, activation_type=\"silu\"}"},
    {FLOAT, "com.microsoft::GemmFastGelu@1($x[m,k], $t[k,n], $?t[n])"},
    {FLOAT, "com.microsoft::MatMulBnb4@1($x[...,m,16], $u8[8*n>0]<0,255>, $t[n]<1,2>) {K=16, N=${n}, block_size=16, quant_type=$(0|1)}"},
    {F32,   "com.microsoft::MatMulFpQ4@1($x[...,m,32], $u8[20*n>0]<0,127>, $i64[2]{32,${n}}) {blk_quant_type=0}"},
    {WIDE & ~(HOLO_BIT(F16) | HOLO_BIT(BF16)), "com.microsoft::SparseToDenseMatMul@1($x[m,k], $t[k,n]) {alpha=$(1.0|2.0)}"},
    {HOLO_BIT(I32), "com.microsoft::WordConvEmbedding@1($x[n,w>1], $f32[f,1,2,c], $f32[f], $f32[7,c])"},

    // ---- windows
    {FLOAT, "Conv@22($x[n,c>0,s>0,...>0], $t[m>0,c,$spatial(3)], $?t[m]) {" PADS ", strides=[$spatial(${1..2})]}"},
    {F32,   "Conv@22($x[n,2*c>0,s>0,...>0], $t[2*m>0,c,$spatial(1)]) {group=2}"},
    {F32,   "Conv@11($x[n,c>0,h>0,w>0], $t[c,1,2,3], $t[c]) {group=${c}, auto_pad=\"$(SAME_UPPER|SAME_LOWER)\", strides=[2,1]}"},
    {F32,   "Conv@11($x[n,c>0,h>4,w>4], $t[m>0,c,2,3]) {dilations=[2,1], pads=[1,0,0,1]}"},
    {F32,   "com.microsoft::FusedConv@1($x[n,c>0,h>0,w>0], $t[m>0,c,3,3], $t[m]) {activation=\"$(Relu|Sigmoid)\", " PADS "}"},
    {FLOAT, "com.microsoft::NhwcConv@1($x[n,h>0,w>0,c>0], $t[m>0,3,3,c], $?t[m]) {" PADS "}"},
    {FLOAT, "com.microsoft::NhwcFusedConv@1($x[n,h>0,w>0,c>0], $t[m>0,c,3,3], $?t[m], $?t[n,h,w,m]) {activation=\"$(Relu|Sigmoid)\", " PADS "}"},
    {FLOAT, "ConvTranspose@22($x[n,c>0,s>0,...>0], $t[c,m>0,$spatial(3)], $?t[m]) {" PADS ", strides=[$spatial(${1..2})]}"},
    {F32,   "ConvTranspose@11($x[n,2*c>0,h>0,w>0], $t[2*c,m>0,2,2]) {group=2, output_padding=[1,0], strides=[2,1]}"},
    {F32,   "DeformConv@22($x[n>0,c>0,h>0,w>0], $t[m>0,c,1,1], $t[n,2,h,w], $?t[m])"},
    {FLOAT, "com.microsoft::ConvTransposeWithDynamicPads@1($x[n,c>0,h>0,w>0]<-99,99>, $t[c,m>0,3,3], $i64[4]{${0..1},1,${0..1},0}, $?t[m]) {strides=[2,1]}"},
    {FLOAT, "com.microsoft::MaxpoolWithMask@1($x[n,c,h>1,w>1], $i32[1,1,h,w]<1,9>) {kernel_shape=[2,2]}"},
    {FLOAT, "{MaxPool@22 AveragePool@22 LpPool@22}($x[n,c,s>0,...>0]) {kernel_shape=[$spatial(${1..s})], strides=[$spatial(${1..2})]}"},
    {FLOAT, "{MaxPool@22 AveragePool@22}($x[n,c,s>0,...>0]) {kernel_shape=[$spatial(3)], " PADS ", ceil_mode=$(0|1)}"},
    {FLOAT, "AveragePool@22($x[n,c,h>0,w>0]) {kernel_shape=[2,3], auto_pad=\"$(SAME_UPPER|SAME_LOWER)\", count_include_pad=$(0|1)}"},
    {FLOAT | BYTE, "2=MaxPool@22($x[n,c,h>1,w>1]) {kernel_shape=[2,2], storage_order=$(0|1)}"},
    {BYTE, "com.microsoft::NhwcMaxPool@1($x[n,h>1,w>1,c]) {kernel_shape=[2,2]}"},
    {FLOAT, "{GlobalAveragePool@22 GlobalMaxPool@22 GlobalLpPool@22}($x[n,c,s>0,...>0])"},
    {FLOAT, "MaxUnpool@22($x[1,1,h>0,w>0], $i64[1,1,h,w]<0,h*w-1>) {kernel_shape=[2,2], strides=[2,2]}"},
    {NUMBER, "Col2Im@18($x[n,4*c,6], $i64![2]{3,4}, $i64![2]{2,2})"},
    {FLOAT, "Resize@19($x[n,c,h>0,w>0], _, _, $i64[4]{${n},${c},${1..9},${1..9}}) {mode=\"$(nearest|linear|cubic)\"}"},
    {FLOAT | BYTE, "Resize@13($x[n,c,h>0,w>0], _, $f32[4]{1,1,$(0.5|1.0|2.0|1.5),$(1.0|3.0)}) {mode=\"$(nearest|linear)\", "
                   "coordinate_transformation_mode=\"$(asymmetric|half_pixel|align_corners)\"}"},
    {FLOAT | BYTE, "Upsample@9($x[n,c,h>0,w>0], $f32[4]{1,1,2,$(1|3)}) {mode=\"$(nearest|linear)\"}"},
    {FLOAT, "GridSample@22($x[n,c,h>0,w>0], $t[n,p,q,2]<-1,1>) {mode=\"$(linear|nearest|cubic)\", padding_mode=\"$(zeros|border|reflection)\","
            " align_corners=$(0|1)}"},
    {FLOAT, "com.microsoft::GridSample@1($x[n,c,h>0,w>0], $t[n,p,q,2]<-1,1>)"},
    {FLOAT, "AffineGrid@20($x[n,2,3], $i64[4]{${n},${1..3},${1..5},${1..5}}) {align_corners=$(0|1)}"},
    {FLOAT, "RoiAlign@22($x[n>0,c,h>0,w>0], $t[k,4]<0,4>, $i64[k]<0,n-1>) {output_height=2, output_width=3, mode=\"$(avg|max)\"}"},
    {FLOAT, "com.microsoft::CropAndResize@1($x[n>0,c,h>0,w>0], $t[k,4]<0,1>, $i32[k]<0,n-1>, $i32[2]{${1..4},3}) {mode=\"$(bilinear|nearest)\"}"},
    {F32,   "MaxRoiPool@22($x[n>0,c,h>0,w>0], $t[2,5]{0,0,0,2,2,0,1,0,3,1}) {pooled_shape=[2,2]}"},
    {F32,   "NonMaxSuppression@11($x[b,n,4], $f32[b,c,n]<0,1>, $i64[]<0,5>, $f32[]<0,1>)"},

    // ---- recurrent
    // of small recurrent weights: large ones make a last bit grow from step to step
    {FLOAT, "2=RNN@22($x[s,b,i], $t[1,h>0,i], $t[1,h,h]<-1,1>, $?t[1,2*h])"},
    {F32,   "2=RNN@22($x[s,b,i], $t[2,h>0,i], $t[2,h,h]) {direction=\"bidirectional\", activations=[\"Relu\",\"Tanh\"]}"},
    {FLOAT, "2=GRU@22($x[s,b,i], $t[1,3*h>0,i], $t[1,3*h,h], $?t[1,6*h], $?i32[b]<0,s>) {linear_before_reset=$(0|1), direction=\"$(forward|reverse)\"}"},
    {FLOAT, "3=LSTM@22($x[s,b,i], $t[1,4*h>0,i], $t[1,4*h,h], $?t[1,8*h], $?i32[b]<0,s>, $?t[1,b,h], $?t[1,b,h])"},
    {F32,   "3=LSTM@22($x[b,s,i], $t[2,4*h>0,i], $t[2,4*h,h]) {layout=1, direction=\"bidirectional\", clip=1.0}"},
    {F32_F64, "3=com.microsoft::AttnLSTM@1($x[s>0,b,i]<-9,9>, $t[1,4*h>0,${i+2}]<-1,1>, $t[1,4*h,h]<-1,1>, $?t[1,8*h]<-1,1>, _, _, _, _, $t[1,h,a]<-1,1>, $t[1,2,a]<-1,1>, $t[1,a]<-1,1>, $t[b,m>0,2]<-9,9>) {hidden_size=${h}}"},
    // of finite cells: a gate that is too small for f32 is 0, and that times inf is NaN; and of small recurrent
    // weights, as of RNN
    {F32,   "3=com.microsoft::DynamicQuantizeLSTM@1($x[s,b,i], $i8[1,i,4*h>0], $i8[1,h,4*h], $?f32[1,8*h], $?i32[b]<0,s>, $?f32[1,b,h], $?f32[1,b,h]<-9,9>, _,"
            " $f32[1]<0,1>, $i8[1], $f32[1]{0.0078125}, $i8[1]) {hidden_size=${h}}"},
    {F32,   "3=com.microsoft::DynamicQuantizeLSTM@1($x[s,b,i], $u8[1,i,4*h>0], $u8[1,h,4*h], _, _, _, _, _, $f32[1,4*h]<0,1>, $u8[1,4*h], $f32[1,4*h]<0,1>,"
            " $u8[1,4*h]) {hidden_size=${h}, direction=\"$(forward|reverse)\"}"},

    // ---- attention
    {FLOAT, "Attention@24($x[b,2,s,h>0], $t[b,2,k>0,h], $t[b,2,k,v>0]) {is_causal=$(0|1)}"},
    {FLOAT, "3=Attention@24($x[b,4,s,h>0], $t[b,2,k,h], $t[b,2,k,h], $?bool[s,${k+2}], $t[b,2,2,h], $t[b,2,2,h])"},
    {FLOAT, "Attention@24($x[b,s,4*h>0], $t[b,k>0,4*h], $t[b,k,4*h]) {q_num_heads=4, kv_num_heads=4, softcap=2.0}"},
    {F32,   "com.microsoft::MultiHeadAttention@1($x[b,s>0,2*h>0], $t[b,k>0,2*h], $t[b,k,2*h]) {num_heads=2}"},
    {FLOAT, "3=com.microsoft::DecoderMaskedMultiHeadAttention@1($x[b,1,2*h>0], $t[b,1,2*h], $t[b,1,2*h], _, _, $t[b,2,4,h], $t[b,2,4,h], $i32[1]<0,3>, _, _,"
            " $?t[6*h]) {num_heads=2, past_present_share_buffer=1}"},
    {F32,   "3=com.microsoft::PagedAttention@1($x[3,4*h>0], $t[3,2*h], $t[3,2*h], $t[3,4,2,h], $t[3,4,2,h], $i32[3]{0,1,3}, $i32[2]{2,1}, $i32[2,1]{2,0})"
            " {num_heads=4, kv_num_heads=2, local_window_size=$(-1|2)}"},
    {F32,   "com.microsoft::PackedAttention@1($x[3,i>0], $t[i,6*h>0], $t[6*h], $i32[2,2]{0,2,3,1}, $i32[3]{0,1,3}) {num_heads=2}"},
    {FLOAT, "4=com.microsoft::RemovePadding@1($x[b>0,s>0,h], $i32[b]<0,s>)"},
    {F32,   "com.microsoft::LongformerAttention@1($x[b,s>0,2*h>0], $t[2*h,6*h], $t[6*h], $t[b,s]<0,0>, $t[2*h,6*h], $t[6*h], $i32[b,s]<0,1>) {num_heads=2, window=${1..3}}"},
    {FLOAT, "com.microsoft::RestorePadding@1($x[3,h], $i32[2,2]{0,2,3,1})"},
    {FLOAT, "com.microsoft::RelativePositionBias@1($x[b>0,h], $i64[1]{5}, $i64[1]{5}) {max_distance=8, is_bidirectional=$(0|1)}"},
    {FLOAT, "com.microsoft::GatedRelativePositionBias@1($x[b,s,2*h>0], $t[2*h], $t[1,2,s,s], $t[h,4], $t[4], $t[1,2,1,1]) {num_heads=2}"},
    {F32,   "2=com.microsoft::DecoderMaskedSelfAttention@1($x[b,1,i>0], $t[i,6*h>0], $t[6*h], _, $t[2,b,2,4,h], _, $i32[1]<0,3>) {num_heads=2, past_present_share_buffer=1}"},
    {F32,   "com.microsoft::Attention@1($x[b,s>0,i>0], $t[i,6*h>0], $t[6*h]) {num_heads=2, unidirectional=$(0|1)}"},
    {F32,   "ai.onnx.preview::FlexAttention@1($x[b,2,s,h>0], $t[b,2,k>0,h], $t[b,2,k,h])"},
    {FLOAT, "RotaryEmbedding@23($x[b,n,s,8], $t[9,4], $t[9,4], $i64[b,s]<0,8>) {interleaved=$(0|1)}"},
    {F32,   "com.microsoft::RotaryEmbedding@1($x[b,n,s,8], $i64[b,s]<0,8>, $t[9,4], $t[9,4])"},
    {FLOAT, "com.microsoft::MRotaryEmbedding@1($x[b,n,s,8], $i64[3,b,s]<0,8>, $t[9,4], $t[9,4]) {mrope_section=[1,2,1], mrope_layout=$(0|1)}"},
    {FLOAT, "2={CausalConvWithState@27 com.microsoft::CausalConvWithState@1}($x[b,c>0,s>0], $t[c,1,3], $?t[c]) {activation=\"$(none|silu)\"}"},

    {F32,   "2=LinearAttention@27($x[b,s,2*h>0], $t[b,s,2*h], $t[b,s,2*v>0]) {q_num_heads=2, kv_num_heads=2, update_rule=\"linear\"}"},
    {F32,   "2=LinearAttention@27($x[b,s,2*h>0], $t[b,s,2*h], $t[b,s,2*v>0], $t[b,2,h,v], $t[b,s,2]<-1,0>, $t[b,s,2]<0,1>) {q_num_heads=2, kv_num_heads=2}"},
    {F32,   "2=com.microsoft::LinearAttention@1($x[b,s,2*h>0], $t[b,s,4*h], $t[b,s,4*v>0], $t[b,4,h,v], $t[b,s,4]<-1,0>, $t[b,s,1]<0,1>) {q_num_heads=2, kv_num_heads=4}"},
    // of finite values: a weight that is too small for f32 is 0 to a kernel, and that times inf is NaN
    {F32,   "3=com.microsoft::GroupQueryAttention@1($x[b>0,s>0,32], $t[b,s,16], $t[b,s,16]<-9,9>, _, _, $i32[b]<s-1,s-1>, $i32[]{${s}}) {num_heads=4, kv_num_heads=2}"},
    {F32,   "3=com.microsoft::SparseAttention@1($x[b>0,4,8], $t[b,4,8], $t[b,4,8]<-9,9>, $t[b,2,4,4], $t[b,2,4,4]<-9,9>, $i32[2,3]{0,1,2,0,1,3}, $i32[2,3]{0,1,-1,0,0,1},"
            " $i32[1]{4}, $i32[b]<4,4>) {num_heads=2, kv_num_heads=2, sparse_block_size=2}"},
    {F32,   "hologram::CacheWrite@1($x[3,9,h], $t[2,4,h], $i64[2]{0,2}, $i64[2]{1,5})"},
    {F32,   "hologram::StateRead@1($x[3,h])"},
    {F32,   "hologram::StateWrite@1($x[3,h], $t[3,h], $t[3,h])"},
    {STRING, "2=hologram::TextNGrams@1($x[3], $i64[2]{0,3}) {widths=[$(1|1,2|3)], separator=\"-\", pad_width=${0..1}}"},
    {STRING, "hologram::TextHash@1($x) {buckets=$(1|7|1000)}"},
    {STRING, "hologram::TextReplace@1($x) {pattern=\"[a-f]+\", with=\"$(|x)\", all=$(0|1)}"},
    {STRING, "3=hologram::TextSplit@1($x[n], $t[]) {by_character=$(0|1), skip_empty=$(0|1)}"},
    {F32,   "2=hologram::SlotTail@1($x[3,n,h], $t[2,s,h], $i64[2]{0,2}, $i64[2]{0,5})"},
    {F32,   "2=hologram::SelectiveScan@1($x[3,c,n], $t[2,s,c], $t[2,s,n], $t[2,s,n], $t[2,s,c], $t[c,n]<-2,0>, $i64[2]{2,1}, $i64[2]{4,0})"},
    {F32,   "hologram::CachedAttention@1($x[2,3,8], $t[3,9,4], $t[3,9,6]<-9,9>, $i64[2]{0,2}, $i64[2]{1,5}, $i64[2,3]{1,1,1,0,1,1}, $f32[4]<0,1>) {num_heads=4, kv_num_heads=2, scale=0.5}"},
    {FLOAT, "hologram::BlockMask@1($x[b,4,h], $i32[2,3]{0,1,2,0,1,3}, $i32[2,3]{0,1,-1,0,0,1}, $i32[]{4}, $i32[b]<4,4>) {num_heads=4, block_size=2}"},
    {INDEX, "2=com.microsoft::EmbedLayerNormalization@1($x[b,s]<0,3>, _, $f32[4,h>0], $f32[s,h], _, $f32[h], $f32[h])"},
    {HOLO_BIT(I32), "2=com.microsoft::QEmbedLayerNormalization@1($x[b,s]<0,3>, $i32[b,s]<0,1>, $u8[4,h>0], $u8[s,h], $u8[2,h], $u8[h], $u8[h], _, $f32[]<1,2>,"
            " $f32[]<1,2>, $f32[]<1,2>, $f32[]<1,2>, $f32[]<1,2>, $u8[], $u8[], $u8[], $u8[], $u8[])"},

    // ---- quantized
    {BYTE,  "com.microsoft::QAttention@1($x[b,s>0,i>0], $t[i,6*h>0], $f32[6*h], $f32[]<1,2>, $f32[]<1,2>, _, $t[], $t[]) {num_heads=2}"},
    {HOLO_BIT(U4) | HOLO_BIT(I4), "com.microsoft::GatherBlockQuantized@1($x[m>0,n>0], $i64[k]<0,m-1>, $f32[m,1]<1,2>) {block_size=512}"},
    {U8,    "com.microsoft::GatherBlockQuantized@1($x[m>0,8], $i64[k]<0,m-1>, $f32[m,1]<1,2>, $?u8[m,1]) {block_size=16}"},
    {F32,   "QuantizeLinear@21($x, $f32[]<1,2>, $u8|i8|i16|u4|i4[])"},
    {FLOAT, "QuantizeLinear@21($x[n,c,...], $t[c]<1,2>, $u8|i8|f8e4m3fn|f8e5m2[c]) {axis=1}"},
    {F32,   "QuantizeLinear@21($x[m,2*n], $f32[m,n]<1,2>) {axis=1, block_size=2, output_dtype=$(2|3|22)}"},
    {F32,   "com.microsoft::QuantizeLinear@1($x, $f32[]<1,2>, $u8|i8|u16[])"},
    {BYTE | HOLO_TYPES_F8 | HOLO_BIT(U4) | HOLO_BIT(I4), "DequantizeLinear@21($x, $f32|f16[]<1,2>, $?t[])"},
    {BYTE,  "DequantizeLinear@13($x[n,c,...], $f32[c]<1,2>, $?t[c]) {axis=1}"},
    {BYTE,  "com.microsoft::DequantizeLinear@1($x, $f32[]<1,2>, $t[])"},
    {F32,   "3=DynamicQuantizeLinear@11($x)"},
    {BYTE,  "com.microsoft::MulInteger@1($x, $?t[], $t[*], $?t[])"},
    {BYTE,  "com.microsoft::ReduceSumInteger@1($x[...>0]) {axes=[$axes], keepdims=$(0|1)}"},
    {BYTE,  "MatMulInteger@10($x[...,m,k], $u8|i8[k,n], $?t[], $u[])"},
    {BYTE,  "ConvInteger@10($x[n,c>0,h>0,w>0], $u8|i8[m>0,c,3,3], $?t[], $u[]) {" PADS "}"},
    {BYTE,  "QLinearMatMul@21($x[...,m,k], $f32[]<1,2>, $t[], $t[k,n], $f32[]<1,2>, $t[], $f32[]<4,9>, $t[])"},
    {U8,    "QLinearConv@10($x[n,c>0,h>0,w>0], $f32[]<1,2>, $t[], $t[m>0,c,3,3], $f32[m]<1,2>, $t[m], $f32[]<9,20>, $t[], $?i32[m]) {" PADS "}"},
    {BYTE,  "com.microsoft::QLinearConv@1($x[n,h>0,w>0,c>0], $f32[]<1,2>, $t[], $u8|i8[m>0,c,3,3], $f32[]<1,2>, $u[], $f32[]<9,20>, $t[], $?i32[m]) {channels_last=1, " PADS "}"},
    {F32,   "com.microsoft::DynamicQuantizeMatMul@1($x[...,m,k], $u8|i8[k,n], $f32[]<1,2>, $u[])"},
    {BYTE,  "com.microsoft::MatMulIntegerToFloat@1($x[...,m,k], $u8|i8[k,n], $f32[]<1,2>, $f32[]<1,2>, $t[])"},
    {HOLO_BIT(F8E4M3FN) | HOLO_BIT(F8E5M2), "hologram::MatMulFloat8@1($x[...,m,k], $f8e4m3fn|f8e5m2[k,n], $f32[]<1,2>, $f32[n]<1,2>, $?f32[n])"},
    {BYTE,  "hologram::ConvIntegerToFloat@1($x[n,c>0,h>0,w>0], $i8[m>0,c,3,3], $f32[]<1,2>, $f32[m]<1,2>, $t[], $i8[], $?f32[m]) {" PADS "}"},
    {BYTE,  "{com.microsoft::QLinearAdd@1 com.microsoft::QLinearMul@1}($x, $f32[]<1,2>, $t[], $t[*], $f32[]<1,2>, $t[], $f32[]<1,9>, $t[])"},
    {BYTE,  "com.microsoft::QLinearSigmoid@1($x, $f32[]<1,2>, $t[], $f32[]<1,2>, $t[])"},
    {BYTE,  "com.microsoft::QLinearLeakyRelu@1($x, $f32[]<1,2>, $t[], $f32[]<1,2>, $t[]) {alpha=0.5}"},
    {BYTE,  "com.microsoft::QLinearSoftmax@1($x[...,n>0], $f32[]<0,1>, $?t[], $f32[]{0.00390625}, $?t[]) {axis=$axis, opset=13}"},
    {BYTE,  "com.microsoft::QLinearSoftmax@1($x[m,...>0], $f32[]<0,1>, $t[], $f32[]{0.0078125}, $t[]) {axis=${0..r-1}, opset=12}"},
    {BYTE,  "com.microsoft::QLinearReduceMean@1($x[...>0], $f32[]<1,2>, $t[], $f32[]<1,2>, $t[]) {axes=[$axes], keepdims=$(0|1)}"},
    {BOOL,  "com.microsoft::QLinearWhere@1($x, $u8[*], $f32[]<1,2>, $u8[], $u8[<], $f32[]<1,2>, $u8[], $f32[]<1,9>, $u8[])"},
    {BYTE,  "com.microsoft::QLinearAveragePool@1($x[n,c,h>1,w>1], $f32[]<1,2>, $t[], $f32[]<1,2>, $t[]) {kernel_shape=[2,2]}"},
    {BYTE,  "com.microsoft::QLinearGlobalAveragePool@1($x[n,c,h>0,w>0], $f32[]<1,2>, $t[], $f32[]<1,2>, $t[]) {channels_last=0}"},
    {BYTE,  "com.microsoft::QLinearConcat@1($f32[]<1,2>, $t[], $x[...,n], $f32[]<1,2>, $t[], $t[...,2], $f32[]<1,2>, $t[]) {axis=-1}"},
    {BYTE,  "com.microsoft::QGemm@1($x[m,k], $f32[]<1,2>, $t[], $t[k,n], $f32[]<1,2>, $t[], $?i32[n])"},
    {F32,   "com.microsoft::MatMulNBits@1($x[...,m,32], $u8[n>0,1,16]<0,255>, $f32[n]<1,2>) {K=32, N=${n}, bits=4, block_size=32}"},

    // ---- what the compiler makes of others. It makes them of finite filters only; and scales that are not finite
    // would meet the mean of a group in one way to compute, and its elements in the other
    {F32,   "hologram::Pointwise@1($x) {program=\"softplus x0\"}"},
    {F32,   "hologram::Pointwise@1($x) {program=\"hard_swish x0\"}"},
    {F32,   "hologram::Pointwise@1($x) {program=\"gelu x0\"}"},
    {F32,   "hologram::Pointwise@1($x) {program=\"gelu_tanh x0\"}"},
    {F32,   "hologram::Pointwise@1($x) {program=\"$(neg|abs|sqrt|exp|sigmoid|tanh|erf) x0\"}"},
    {F32,   "hologram::Pointwise@1($x, $f32[*]) {program=\"$(add|sub|mul|div|max|min|at_least|at_most|leaky) x0 x1\"}"},
    {F32,   "hologram::Pointwise@1($x, $f32[*], $f32[<]) {program=\"add x0 x1; at_least r0 n0; mul r1 x2; sub r2 r0\", numbers=[0.0]}"},
    {F32,   "hologram::MatMulNBits@1($x[...,m,32], $u8[n>0,1,16]<0,255>, $f32[n]<1,2>) {K=32, N=${n}, bits=4, block_size=32}"},
    {F32,   "hologram::MatMul@1($x[...,m,k], $f32[k,n], $?f32[n])"},
    {F32,   "hologram::MatMul@1($x[...,m,k], $f32[...,n,k]) {transB=1, alpha=0.5}"},
    {F32,   "hologram::MatMul@1($x[...,m,k], $f32[k,n], $?f32[n], $f32[m,n]) {program=\"add x0 x1; mul r0 n0\", numbers=[2.0]}"},
    {F32,   "hologram::MatMul@1($x[m,k], $f32[k], _, $f32[m]) {program=\"neg x0; add r0 x1\"}"},
    {F32,   "hologram::Conv@1($x[n,s>0,...>0,c>0], $f32[m>0,c,$spatial(3)]<-2,2>, $?f32[m]) {" PADS ", strides=[$spatial(${1..2})]}"},
    {F32,   "hologram::Conv@1($x[n,h>0,w>0,c>0], $f32[m>0,c,3,3]<-2,2>, $?f32[m], $f32[n,h,w,m]) {" PADS ", program=\"add x0 x1; at_least r0 n0\", numbers=[0.0]}"},
    {F32,   "hologram::Conv@1($x[n,h>0,w>0,c>0], $f32[c,1,3,3]<-2,2>, $?f32[c]) {group=${c}, " PADS ", program=\"sigmoid x0; mul r0 x0\"}"},
    {F32,   "hologram::GroupNormalization@1($x[n,s>0,...>0,2*c>0], $f32[2*c]<-2,2>, $f32[2*c]) {num_groups=2$(|, program=\"sigmoid x0; mul r0 x0\")}"},
    {F32,   "{hologram::MaxPool@1 hologram::AveragePool@1}($x[n,s>0,...>0,c>0]) {kernel_shape=[$spatial(3)], " PADS ", strides=[$spatial(${1..2})]}"},
    {F32,   "{hologram::MaxPool@1 hologram::AveragePool@1}($x[n,h>1,w>2,c>0]) {kernel_shape=[2,3], ceil_mode=$(0|1)}"},
    {F32,   "hologram::DeformColumns@1($x[n,h>0,w>0,2*c], $f32[n,4,h,w]<-2,2>, $f32[n,2,h,w]) {kernel_shape=[1,1], offset_group=2, group=2}"},
    {ALL,   "hologram::Interleave@1($x[n,h>0,w>0,6*c]) {blocks=[2,3], crops=[${0..1},${0..1},0,${0..1}]}"},
    {ALL,   "hologram::Interleave@1($x[n,s>0,4*c]) {blocks=[2], group=2}"},
    {F32,   "hologram::Overlap@1($x[n,h,w>0,12*c>0], $?f32[c]) {kernel_shape=[3,4], strides=[2,$(3|5)], pads=[1,${0..1},-1,0]}"},

    // ---- signal
    {FLOAT, "{DFT@20}($x[b,n>0,2]) {onesided=0}"},
    {F32_F64, "DFT@20($x[b,n>0,1], _, $i64[]{1}) {onesided=1}"},
    {F32_F64, "STFT@17($x[b>0,16,1], $i64[]{${1..4}}, $?t[8]<0,1>, $i64[]{8})"},
    {INDEX, "{BlackmanWindow@17 HammingWindow@17 HannWindow@17}($x[]<0,17>) {periodic=$(0|1)}"},
    {INDEX, "MelWeightMatrix@17($x[]<1,8>, $i64[]{16}, $i64[]{8000}, $f32[]{100}, $f32[]{3000})"},

    // ---- random by a seed
    {FLOAT, "{RandomNormalLike@22 RandomUniformLike@22 Bernoulli@22}($x) {seed=3.0}"},
    {F32,   "Multinomial@22($x[b,n>0]) {sample_size=${0..4}, seed=3.0}"},
    {FLOAT, "2=Dropout@22($x, $?f32[]<0,1>, $?bool[]{$(0|1)}) {seed=3}"},
    {FLOAT, "2=Dropout@10($x)"},
    {FLOAT, "Dropout@6($x) {is_test=1}"},

    // ---- losses and optimizers
    {F32_F64, "2=SoftmaxCrossEntropyLoss@13($x[n>0,c>0,...>0], $i64[n,...]<0,c-1>) {reduction=\"$(mean|sum|none)\"}"},
    {F32_F64, "NegativeLogLikelihoodLoss@22($x[n>0,c>0,...>0], $i64[n,...]<0,c-1>, $?t[c]<1,2>) {reduction=\"$(mean|sum|none)\"}"},
    {F32_F64, "2=ai.onnx.preview.training::Adagrad@1($f32[]<0,1>, $i64[]<0,9>, $x, $t[=], $t[=]<1,2>) {epsilon=0.001}"},
    {F32_F64, "2=ai.onnx.preview.training::Momentum@1($f32[]<0,1>, $i64[]<0,9>, $x, $t[=], $t[=]) {alpha=0.9, beta=0.1, mode=\"standard\", norm_coefficient=0.01}"},
    {F32_F64, "3=ai.onnx.preview.training::Adam@1($f32[]<0,1>, $i64[]<0,9>, $x, $t[=], $t[=], $t[=]<1,2>) {alpha=0.9, beta=0.99}"},

    // ---- sequences and optionals
    {ANY, "SequenceConstruct@11($x, $t[2,3])"},
    {ANY, "SplitToSequence@11($x[...,n>0]) {axis=$axis, keepdims=$(0|1)}"},
    {ANY, "Optional@15($x)"},
    {ANY, "SequenceAt@11($seq[n>0], $i64[]{0})"},
    {ANY, "SequenceLength@11($seq)"},
    {ANY, "SequenceErase@11($seq[n>0])"},
    {ANY, "SequenceInsert@11($seq, $t[2,3], $?i64[]{0})"},
    {ANY, "ConcatFromSequence@11($seq[1]) {axis=0, new_axis=1}"},
    {ANY, "{OptionalGetElement@18 OptionalHasElement@18}($opt)"},
    {ANY, "Optional@15($seq)"},
    {ANY, "{OptionalHasElement@18 OptionalGetElement@18}($x)"},
    {ANY, "SequenceMap@17($seq) {body=graph b(e) -> (o) { o = Identity@16(e) }}"},

    // ---- control flow
    {NUMBER, "If@23($bool[] | $x) {then_branch=graph t(x) -> (y) { y = Abs@13(x) }, else_branch=graph e(x) -> (z) { z = Identity@16(x) }}"},
    {BOOL, "If@23($x[] | $f32[2,3]) {then_branch=graph t(x) -> (y) { y = Abs@13(x) }, else_branch=graph e(x) -> (z) { z = Neg@13(x) }}"},
    {NUMBER, "Loop@23($i64[]<0,4>, $?bool[], $x) {body=graph b(i, c, v) -> (c, w) { w = Add@14(v, v) }}"},
    {NUMBER, "2=Loop@23($i64[]<0,4>, _, $x) {body=graph b(i, c, v) -> (c, w, s) { w = Add@14(v, v)\n s = Sub@14(w, v) }}"},
    {NUMBER, "2=Scan@23($t[...], $x[n,...]) {num_scan_inputs=1, body=graph b(s, e) -> (t, o) { t = Max@13(s, e)\n o = Identity@16(t) }}"},
    {HOLO_BIT(I32), "com.microsoft::GreedySearch@1($x[b,s>0]<0,3>, $i32[1]{${s+3}}, $?i32[]<0,4>, $?f32[]<1,2>) {eos_token_id=3, pad_token_id=0, " DECODER "}"},
    {HOLO_BIT(I32), "com.microsoft::BeamSearch@1($x[b,s>0]<0,3>, $i32[1]{${s+3}}, $?i32[]<0,4>, $i32[]<1,3>, $i32[]{1}) {eos_token_id=3, pad_token_id=0, " DECODER "}"},
    {HOLO_BIT(I32), "com.microsoft::Sampling@1($x[b,s>0]<0,3>, $i32[1]{${s+3}}, $?i32[]<0,4>, _, _, _, _, _, $?i32[]<0,9>) {eos_token_id=3, pad_token_id=0, top_p=0.75, " DECODER "}"},

    // ---- text
    {STRING, "StringConcat@20($x, $string[*])"},
    {STRING, "2=StringSplit@20($x) {delimiter=\" \"}"},
    {STRING, "RegexFullMatch@20($x) {pattern=\"[a-z ]*\"}"},
    {STRING, "StringNormalizer@10($x[n]) {case_change_action=\"$(UPPER|LOWER|NONE)\"}"},
    {STRING, "StringNormalizer@10($x[1,n]) {stopwords=[\"a\"], is_case_sensitive=1}"},
    {STRING, "com.microsoft::Tokenizer@1($x[n]) {mark=$(0|1), mincharnum=${1..2}, pad_value=\"#\", separators=[\" \"]}"},
    {STRING, "com.microsoft::Tokenizer@1($x[m,n]) {mark=$(0|1), mincharnum=1, pad_value=\"\", tokenexp=\"$([a-z]+|.)\"}"},
    {INDEX, "TfIdfVectorizer@9($x[n]) {mode=\"$(TF|IDF|TFIDF)\", min_gram_length=1, max_gram_length=2, max_skip_count=1, ngram_counts=[0,2],"
            " ngram_indexes=[0,1,2], pool_int64s=[1,2,3,4], weights=[1.0,2.0,0.5]}"},

    // ---- ai.onnx.ml
    {ML, "ai.onnx.ml::ArrayFeatureExtractor@1($x[...,n>0], $i64[k>0]<0,n-1>)"},
    {ML, "ai.onnx.ml::Binarizer@1($x) {threshold=0.5}"},
    {I64, "ai.onnx.ml::CategoryMapper@1($x) {cats_int64s=[1,2], cats_strings=[\"a\",\"b\"], default_string=\"?\"}"},
    {STRING, "ai.onnx.ml::CategoryMapper@1($x) {cats_int64s=[1,2], cats_strings=[\"a\",\"b\"], default_int64=-1}"},
    {ML, "ai.onnx.ml::FeatureVectorizer@1($x[m,n], $t[m,2]) {inputdimensions=[${n},2]}"},
    {F32_F64, "ai.onnx.ml::Imputer@1($x[...,n>0]) {imputed_value_floats=[1.5], replaced_value_float=0.0}"},
    {I64, "ai.onnx.ml::LabelEncoder@4($x) {keys_int64s=[1,2,3], values_$(floats=[0.5,1.5,2.5]|int64s=[3,2,1]|strings=[\"x\",\"y\",\"z\"])}"},
    {STRING, "ai.onnx.ml::LabelEncoder@4($x) {keys_strings=[\"a\",\"7\"], values_int64s=[1,7]}"},
    {ML, "ai.onnx.ml::LinearRegressor@1($x[m,3]) {coefficients=[1.0,2.0,3.0,0.5,0.25,-1.0], intercepts=[0.5,1.0], targets=2}"},
    {ML, "2=ai.onnx.ml::LinearClassifier@1($x[m,2]) {coefficients=[1.0,-2.0,0.5,0.25,-1.0,1.0], intercepts=[0.5,1.0,0.0], classlabels_ints=[3,1,2],"
         " post_transform=\"$(NONE|SOFTMAX|LOGISTIC)\"}"},
    {ML, "ai.onnx.ml::Normalizer@1($x[m,n>0]) {norm=\"$(MAX|L1|L2)\"}"},
    {I64, "ai.onnx.ml::OneHotEncoder@1($x) {cats_int64s=[1,2,5], zeros=1}"},
    {ML, "ai.onnx.ml::Scaler@1($x[m,n>0]) {offset=[0.5], scale=[2.0]}"},
    {ML, "ai.onnx.ml::SVMRegressor@1($x[m,2]) {coefficients=[1.0,-0.5], kernel_params=[0.5,0.0,3.0], kernel_type=\"$(RBF|LINEAR|POLY)\", n_supports=2,"
         " rho=[0.25], support_vectors=[1.0,2.0,-1.0,0.5]}"},
    {ML, "2=ai.onnx.ml::SVMClassifier@1($x[m,2]) {classlabels_ints=[0,1], coefficients=[1.0,-0.5], kernel_params=[0.5,0.0,3.0], kernel_type=\"RBF\","
         " rho=[0.25], support_vectors=[1.0,2.0,-1.0,0.5], vectors_per_class=[1,1]}"},
    {ML, "ai.onnx.ml::TreeEnsembleRegressor@3($x[m,n>1]) {n_targets=1, nodes_falsenodeids=[2,0,0], nodes_featureids=[1,0,0], nodes_modes=[\"BRANCH_LEQ\",\"LEAF\",\"LEAF\"],"
         " nodes_nodeids=[0,1,2], nodes_treeids=[0,0,0], nodes_truenodeids=[1,0,0], nodes_values=[0.5,0.0,0.0], target_ids=[0,0], target_nodeids=[1,2],"
         " target_treeids=[0,0], target_weights=[1.5,-2.0]}"},
    {ML, "2=ai.onnx.ml::TreeEnsembleClassifier@3($x[m,n>1]) {classlabels_int64s=[0,1], nodes_falsenodeids=[2,0,0], nodes_featureids=[1,0,0],"
         " nodes_modes=[\"BRANCH_LEQ\",\"LEAF\",\"LEAF\"], nodes_nodeids=[0,1,2], nodes_treeids=[0,0,0], nodes_truenodeids=[1,0,0],"
         " nodes_values=[0.5,0.0,0.0], class_ids=[0,1], class_nodeids=[1,2], class_treeids=[0,0], class_weights=[1.0,1.0]}"},
    {F32_F64, "ai.onnx.ml::TreeEnsemble@5($x[m,n>1]) {aggregate_function=1, leaf_targetids=[0,0], leaf_weights=$dtype[2]{1.5, -2.0}, n_targets=1, nodes_falseleafs=[1], nodes_falsenodeids=[1],"
         " nodes_featureids=[1], nodes_modes=u8[1]{0}, nodes_splits=$dtype[1]{0.5}, nodes_trueleafs=[1], nodes_truenodeids=[0], post_transform=0, tree_roots=[0]}"},
    {F32, "ai.onnx.ml::ZipMap@1($x[m,2]) {classlabels_int64s=[4,7]}"},
    {0},
};
