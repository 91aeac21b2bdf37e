// params.h - parameter blocks of the fast kernels, as they are in an archive: little-endian, 8-byte aligned. A block
// begins with its own size. Later versions only append fields; a reader takes fields that an older, shorter block lacks
// as 0.
#ifndef HOLO_FORMAT_PARAMS_H
#define HOLO_FORMAT_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum HoloKernelId {
    HOLO_KERNEL_EVAL = 0,
#define HOLO_KERNEL(id, name) HOLO_KERNEL_##name = id,
#include "format/kernel_ids.def"
#undef HOLO_KERNEL
} HoloKernelId;

// May the kernel write its output over an input of the same size?
static inline int holo_kernel_is_in_place(uint32_t kernel)
{
    return kernel == HOLO_KERNEL_softmax_f32 || kernel == HOLO_KERNEL_map_f32 || kernel == HOLO_KERNEL_norm_f32;
}

enum { HOLO_PARAMS_BYTES = 256 }; // every block fits into this

// A pointwise program: functions applied element by element to inputs that broadcast to the output. An operand is an
// input, the result of an earlier step, or the step's own number. The last result is the output.
enum { HOLO_MAP_INPUTS = 8, HOLO_MAP_STEPS = 24, HOLO_MAP_NUMBER = 255 };

typedef enum HoloMapOp {
#define HOLO_MAP_OP(id, name, operands) HOLO_MAP_##name = id,
#include "format/map_ops.def"
#undef HOLO_MAP_OP
    HOLO_MAP_OPS, // number of functions
} HoloMapOp;

typedef struct HoloMapStep {
    uint8_t op;
    uint8_t a, b; // input i: i; result of step i: HOLO_MAP_INPUTS + i; HOLO_MAP_NUMBER
    uint8_t zero;
    float   number;
} HoloMapStep;

typedef struct HoloProgram {
    uint32_t    count; // number of steps; 0: the output is input 0
    uint32_t    zero;
    HoloMapStep step[HOLO_MAP_STEPS];
} HoloProgram;

// Weights that a kernel has packed in panels of f32 may be stored in fewer bytes if that loses nothing: all of them are
// numbers of f16 or bf16, or they have at most 16 different numbers. They are widened as they are read. Codes follow a
// book of these 16 numbers. Every 16 codes in a row are two little-endian words: the code of lane l is in bits l / 2 *
// 4 and up of word l % 2. At most one of these flags is in the kernel's parameters.
enum {
    HOLO_WEIGHTS_F16    = 1 << 8,
    HOLO_WEIGHTS_BF16   = 1 << 9,
    HOLO_WEIGHTS_CODES  = 1 << 10,
    HOLO_WEIGHTS_NARROW = HOLO_WEIGHTS_F16 | HOLO_WEIGHTS_BF16 | HOLO_WEIGHTS_CODES,
};

enum { HOLO_BOOK = 16, HOLO_BOOK_BYTES = HOLO_BOOK * 4 }; // numbers of a book

// Do the flags have at most one narrow type, and none if weights are not packed?
static inline bool holo_weights_are_valid(uint32_t flags, uint32_t packed)
{
    uint32_t narrow = flags & HOLO_WEIGHTS_NARROW;
    return !(narrow & (narrow - 1)) && (!narrow || flags & packed);
}

// The size in the narrow type of what takes `size` bytes in f32; -1 stays -1.
static inline int64_t holo_weights_size(int64_t size, uint32_t flags)
{
    if (size < 0) return size;
    return flags & HOLO_WEIGHTS_CODES ? HOLO_BOOK_BYTES + size / 8 : flags & HOLO_WEIGHTS_NARROW ? size / 2 : size;
}

// The byte, of the 8 bytes of a row, that has the code of a lane; and the shift within that byte.
static inline int holo_code_byte(int lane)
{
    return lane % 2 * 4 + lane / 4;
}
static inline int holo_code_shift(int lane)
{
    return lane / 2 % 2 * 4;
}

// Number `at` of panels that are stored in a narrow type; for codes, `at` is the first of a row of 16.
static inline const void *holo_weights_at(const void *panels, int64_t at, uint32_t narrow)
{
    if (narrow & HOLO_WEIGHTS_CODES) return (const char *)panels + HOLO_BOOK_BYTES + at / 2;
    return (const char *)panels + at * (narrow ? 2 : 4);
}

// matmul_f32: out = alpha * A B + beta * C for MatMul, Gemm and FusedMatMul. Inputs are A, B and maybe C, with the
// shapes of the operator. For MatMul of domain hologram, the tail is a program with the product as input 0, followed by
// the operator's inputs from 3 on.
typedef struct HoloMatmulParams {
    uint32_t    size;
    uint32_t    flags; // HOLO_MATMUL_*, HOLO_WEIGHTS_*
    float       alpha, beta;
    HoloProgram tail;
} HoloMatmulParams;

enum {
    HOLO_MATMUL_TRANS_A  = 1, // the last two dimensions of A are exchanged
    HOLO_MATMUL_TRANS_B  = 2,
    HOLO_MATMUL_PACKED_B = 4, // B is stored as panels [stack][ceil(n / 16)][k][16]
};

// Bytes of `count` matrices [k][n] as panels [count][ceil(n / 16)][k][16] of f32; -1: too many.
static inline int64_t holo_panels_size(int64_t count, int64_t k, int64_t n)
{
    int64_t columns = n / 16 + (n % 16 != 0), size;
    bool    over    = __builtin_mul_overflow(count, k, &size);
    over |= __builtin_mul_overflow(size, columns, &size);
    over |= __builtin_mul_overflow(size, 64, &size);
    return over ? -1 : size;
}

// conv_f32: Conv with inputs X, W and maybe B. If auto_pad says so, paddings follow from the sizes, as for the
// operator.
typedef struct HoloConvParams {
    uint32_t size;
    uint32_t flags; // none yet
} HoloConvParams;

// conv_nhwc_f32: Conv of domain hologram, channels last. The tail is a program with the convolution as input 0,
// followed by the operator's inputs from 3 on.
typedef struct HoloConvNhwcParams {
    uint32_t    size;
    uint32_t    flags; // HOLO_CONV_NHWC_*, HOLO_WEIGHTS_*
    HoloProgram tail;
} HoloConvNhwcParams;

enum {
    HOLO_CONV_NHWC_PACKED    = 1,  // W is stored packed
    HOLO_CONV_NHWC_WINOGRAD  = 2,  // W is stored transformed for tiles of 4x4 pixels, and packed
    HOLO_CONV_NHWC_TRANSFORM = 4,  // W is stored packed, and transformed in each run
    HOLO_CONV_NHWC_GROUPS    = 8,  // W is stored packed for groups of few channels, see holo_conv_has_groups
    HOLO_CONV_NHWC_SMALL     = 16, // with WINOGRAD: for tiles of 2x2 pixels
};

// Pixels on a side of a tile, and numbers of a transformed tile.
static inline int64_t holo_winograd_tile(uint32_t flags)
{
    return flags & HOLO_CONV_NHWC_SMALL ? 2 : 4;
}

static inline int64_t holo_winograd_places(int64_t tile)
{
    return (tile + 2) * (tile + 2);
}

// Does each channel have a filter of its own? `filters` and `channels` count those of a group.
static inline bool holo_conv_is_depthwise(int64_t groups, int64_t filters, int64_t channels)
{
    return groups > 1 && filters == 1 && channels == 1;
}

// Are there groups of 2, 4, 8 or 16 channels, each with as many filters? `filters` and `channels` count those of a
// group.
static inline bool holo_conv_has_groups(int64_t groups, int64_t filters, int64_t channels)
{
    return groups > 1 && filters == channels && channels >= 2 && channels <= 16 && !(channels & (channels - 1));
}

// Bytes of W packed for conv_nhwc_f32; -1: too many. Panels are [group][ceil(filters / 16)][place][channel][16]; for
// transformed weights [36][ceil(filters / 16)][channel][16]; for depthwise ones [ceil(groups / 16)][place][16]; for
// groups of few channels [ceil(groups * filters / 16)][place][channel][16]. The first of these may be narrow.
static inline int64_t holo_conv_nhwc_packed(uint32_t flags, int64_t groups, int64_t filters, int64_t channels,
                                            int64_t places)
{
    int64_t k;
    if (flags & HOLO_CONV_NHWC_WINOGRAD)
        return holo_panels_size(holo_winograd_places(holo_winograd_tile(flags)), channels, filters);
    if (holo_conv_is_depthwise(groups, filters, channels)) return holo_panels_size(1, places, groups);
    if (__builtin_mul_overflow(places, channels, &k)) return -1;
    if (flags & HOLO_CONV_NHWC_GROUPS)
        return __builtin_mul_overflow(groups, filters, &filters) ? -1 : holo_panels_size(1, k, filters);
    return holo_weights_size(holo_panels_size(groups, k, filters), flags);
}

// softmax_f32: Softmax or LogSoftmax over the last `axes` dimensions taken together (before opset 13 there may be
// several), except the last `kept` of them.
typedef struct HoloSoftmaxParams {
    uint32_t size;
    uint32_t axes;
    uint32_t kept;
    uint32_t flags; // HOLO_SOFTMAX_*
} HoloSoftmaxParams;

enum {
    HOLO_SOFTMAX_LOG = 1,
};

// map_f32: a program over the operator's inputs, of at least one step.
typedef struct HoloMapParams {
    uint32_t    size;
    uint32_t    zero;
    HoloProgram program;
} HoloMapParams;

// norm_f32: LayerNormalization and similar operators over the last `axes` dimensions or, if `axes` is 0, normalization
// of groups of channels. Inputs are x, scale and maybe bias.
typedef struct HoloNormParams {
    uint32_t size;
    uint32_t flags; // HOLO_NORM_*
    uint32_t axes;
    uint32_t groups; // number of groups of channels; 0: each channel is a group
    float    epsilon;
    uint32_t zero;
} HoloNormParams;

enum {
    HOLO_NORM_CENTRED = 1,
};

// group_norm_f32: GroupNormalization of domain hologram, channels last. The tail is a program with the result as input
// 0, followed by the operator's inputs from 3 on.
typedef struct HoloGroupNormParams {
    uint32_t    size;
    uint32_t    groups;
    float       epsilon;
    uint32_t    flags; // 0
    HoloProgram tail;
} HoloGroupNormParams;

// reduce_f32: reduces `axes` dimensions to one number: those before the last `kept`.
typedef struct HoloReduceParams {
    uint32_t size;
    uint32_t op; // HOLO_REDUCE_*
    uint32_t axes;
    uint32_t kept; // dimensions behind these
} HoloReduceParams;

enum {
    HOLO_REDUCE_SUM     = 0,
    HOLO_REDUCE_MEAN    = 1,
    HOLO_REDUCE_MAX     = 2,
    HOLO_REDUCE_MIN     = 3,
    HOLO_REDUCE_SQUARES = 4, // sum of squares
    HOLO_REDUCE_L1      = 5,
    HOLO_REDUCE_L2      = 6,
    HOLO_REDUCE_PROD    = 7,
    HOLO_REDUCE_OPS     = 8,
};

// pool_f32: MaxPool without indices and AveragePool, also those of domain hologram.
typedef struct HoloPoolParams {
    uint32_t size;
    uint32_t flags; // HOLO_POOL_*
} HoloPoolParams;

enum {
    HOLO_POOL_MAX        = 1,
    HOLO_POOL_COUNT_PADS = 2,       // the mean includes padding
    HOLO_POOL_LAST       = 4,       // channels are the last dimension
    HOLO_POOL_TAPS       = 1 << 24, // most places of a window, of which most lie outside
};

// lstm_f32, gru_f32, gru_reset_f32 and rnn_f32: LSTM, GRU (with and without linear_before_reset) and RNN with the
// default activations, without peepholes, clip or coupled gates. lstm_i8: the same for DynamicQuantizeLSTM.
typedef struct HoloRecurrentParams {
    uint32_t size;
    uint32_t flags; // HOLO_RECURRENT_*
} HoloRecurrentParams;

// Stored in groups of 16 units: W as panels [direction][ceil(hidden / 16)][gate][inputs][16]; R with all gates of a
// group together, [direction][ceil(hidden / 16)][hidden][gate][16]. For gru_reset_f32 the candidate is a panel behind
// the two other gates.
enum { HOLO_RECURRENT_PACKED_R = 1, HOLO_RECURRENT_PACKED_W = 2 };

// Bytes of weights [directions][sums][k] with so many gates in that form; -1: too many.
static inline int64_t holo_gates_size(int gates, int64_t directions, int64_t sums, int64_t k)
{
    int64_t hidden = sums / gates, size;
    bool    over   = __builtin_mul_overflow(hidden / 16 + (hidden % 16 != 0), gates * 64, &size);
    over |= __builtin_mul_overflow(size, directions, &size);
    over |= __builtin_mul_overflow(size, k, &size);
    return over ? -1 : size;
}

// transpose_f32, transpose_u8: Transpose. The permutation is the operator's attribute.
typedef struct HoloTransposeParams {
    uint32_t size;
    uint32_t flags; // none yet
} HoloTransposeParams;

// resize_f32: Resize and Upsample, linear or cubic. The operator's attributes say how.
typedef struct HoloResizeParams {
    uint32_t size;
    uint32_t flags; // none yet
} HoloResizeParams;

// grid_sample_f32: GridSample of images, linear. The operator's attributes say how.
typedef struct HoloGridSampleParams {
    uint32_t size;
    uint32_t flags; // none yet
} HoloGridSampleParams;

// matmul_i8: MatMulInteger, QLinearMatMul, MatMulIntegerToFloat and QGemm. Scales, zero points and biases are inputs of
// the operator. B is packed only if it has two dimensions.
typedef struct HoloMatmulI8Params {
    uint32_t size;
    uint32_t flags; // HOLO_MATMUL_I8_*
} HoloMatmulI8Params;

enum {
    HOLO_MATMUL_I8_PACKED_B = 1, // B is stored as panels of bytes, see gemm_i8 in kernels/kernels.h
    HOLO_MATMUL_I8_FITS     = 2, // no sum of these products exceeds 32 bits
};

// The most products of bytes, minus their zero points, whose sum always fits into 32 bits: the bytes of one factor are
// at most 255, those of the other at most `most`.
static inline int64_t holo_sum_i8_longest(int64_t most)
{
    return INT32_MAX / (255 * most);
}

// The largest magnitude of a byte minus its zero point.
static inline int64_t holo_byte_most(bool is_signed, bool has_zero)
{
    return is_signed && !has_zero ? 128 : 255;
}

// Bytes of a matrix [k][n] of 8-bit integers as panels [ceil(n / 16)], each [ceil(k / 4)][16][4] followed by 16 sums of
// 32 bits; -1: too many.
static inline int64_t holo_panels_i8_size(int64_t k, int64_t n)
{
    int64_t columns = n / 16 + (n % 16 != 0), quads = k / 4 + (k % 4 != 0) + 1, size;
    bool    over = __builtin_mul_overflow(quads, columns, &size);
    over |= __builtin_mul_overflow(size, 64, &size);
    return over ? -1 : size;
}

// lstm_i8 stores both W and R as panels of gemm_i8 (see kernels/kernels.h), [direction][ceil(hidden / 16)][gate]. k is
// at most HOLO_LSTM_I8_K. Bytes of weights [directions][k][sums] in that form; -1: too many.
enum { HOLO_LSTM_I8_K = 1 << 15 };

static inline int64_t holo_gates_i8_size(int64_t directions, int64_t sums, int64_t k)
{
    int64_t hidden = sums / 4, size = holo_panels_i8_size(k, 16);
    bool    over = size < 0 || __builtin_mul_overflow(size, hidden / 16 + (hidden % 16 != 0), &size);
    over |= __builtin_mul_overflow(size, 4 * directions, &size);
    return over ? -1 : size;
}

// matmul_nbits_f32: MatMulNBits of com.microsoft or hologram with A, scales and bias of f32, without g_idx.
typedef struct HoloMatmulNbitsParams {
    uint32_t size;
    uint32_t flags; // HOLO_MATMUL_NBITS_*
    uint32_t bits, block;
    uint64_t k, n; // as the operator has them
} HoloMatmulNbitsParams;

// PACKED: B, scales and zero points are stored as gemm_bits_f32 reads them (see kernels/kernels.h): numbers of up to 4
// bits in 4 bits, others in 8. INT8, for domain hologram: as gemm_bits_i8 reads them, and k is a multiple of 8.
enum { HOLO_MATMUL_NBITS_PACKED = 1, HOLO_MATMUL_NBITS_INT8 = 2 };

// Bytes of B [k][n] in that form; -1: too many. Scales and offsets are panels of f32.
static inline int64_t holo_panels_bits_size(int bits, int64_t k, int64_t n)
{
    int64_t columns = n / 16 + (n % 16 != 0), rows = bits <= 4 ? (k / 8 + (k % 8 != 0)) * 4 : k, size;
    bool    over = __builtin_mul_overflow(columns, rows, &size);
    over |= __builtin_mul_overflow(size, 16, &size);
    return over ? -1 : size;
}

// matmul_blocks: MatMulBlocks of domain hologram. The operator says the type of blocks. The tail is a program with the
// product as input 0.
typedef struct HoloMatmulBlocksParams {
    uint32_t    size;
    uint32_t    flags; // HOLO_MATMUL_BLOCKS_*
    HoloProgram tail;
} HoloMatmulBlocksParams;

enum {
    HOLO_MATMUL_BLOCKS_APART  = 1, // no longer: panels with all scales behind all units
    HOLO_MATMUL_BLOCKS_PACKED = 2, // weights are panels: see format/blocks.h
};

// take_rows: TakeRows of domain hologram. A packed table is that of a product whose columns are the rows: panels of matmul_blocks, or of
// matmul_f32 with HOLO_MATMUL_TRANS_B.
typedef struct HoloTakeRowsParams {
    uint32_t size;
    uint32_t flags; // HOLO_TAKE_ROWS_*, HOLO_WEIGHTS_F16, HOLO_WEIGHTS_BF16
} HoloTakeRowsParams;

enum { HOLO_TAKE_ROWS_PACKED = 1 };

// The kernel whose packed constants a kernel reads: its own, but take_rows reads those of products.
static inline uint32_t holo_kernel_packer(uint32_t kernel, bool is_blocks)
{
    if (kernel != HOLO_KERNEL_take_rows) return kernel;
    return is_blocks ? HOLO_KERNEL_matmul_blocks : HOLO_KERNEL_matmul_f32;
}

// lookup: Lookup and LookupPair of domain hologram.
typedef struct HoloLookupParams {
    uint32_t size;
    uint32_t flags; // none yet
} HoloLookupParams;

// quantize_i8: QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear between f32 and 8 bits.
typedef struct HoloQuantizeI8Params {
    uint32_t size;
    uint32_t flags; // none yet
} HoloQuantizeI8Params;

// conv_i8: ConvInteger and QLinearConv.
typedef struct HoloConvI8Params {
    uint32_t size;
    uint32_t flags; // none yet
} HoloConvI8Params;

// conv_nhwc_i8, with the same parameters: QLinearConv of com.microsoft with channels last. Filters are packed as panels
// of bytes for each group (see gemm_i8 in kernels/kernels.h), with k in the order [place][channel]. If each channel has
// one filter, they are panels of floats [ceil(channels / 16)][place][16].
static inline bool holo_conv_i8_is_depthwise(int rank, int64_t groups, int64_t filters, int64_t channels)
{
    return rank <= 4 && groups > 1 && filters == 1 && channels == 1;
}

enum {
    HOLO_CONV_I8_PLACES = 128,     // most places of a filter: eval runs larger ones
    HOLO_CONV_I8_LAST   = 1 << 12, // the same, with channels last
    HOLO_CONV_I8_K      = 1 << 17, // most numbers of a filter
    HOLO_CONV_I8_LAST_K = 32764, // the same with channels last: its panel is half a part of an archive's packed weights
};

// Bytes of the packed filters; each group has `filters`; -1: too many.
static inline int64_t holo_conv_i8_size(bool depthwise, int64_t groups, int64_t filters, int64_t places, int64_t k)
{
    int64_t size = depthwise ? places * 64 : holo_panels_i8_size(k, filters);
    int64_t many = depthwise ? groups / 16 + (groups % 16 != 0) : groups;
    return size < 0 || __builtin_mul_overflow(size, many, &size) ? -1 : size;
}

enum { HOLO_POOL_TAPS_I8 = 1 << 14 };

// pool_i8: NhwcMaxPool, QLinearAveragePool and QLinearGlobalAveragePool with channels last. Windows have at most
// HOLO_POOL_TAPS_I8 places.
typedef struct HoloPoolI8Params {
    uint32_t size;
    uint32_t flags; // none yet
} HoloPoolI8Params;

// pair_i8: QLinearAdd and QLinearMul.
typedef struct HoloPairI8Params {
    uint32_t size;
    uint32_t flags; // none yet
} HoloPairI8Params;

// cast_f32: Cast of i32, f16 and bf16 to f32, and of f32 to f16 and bf16.
typedef struct HoloCastParams {
    uint32_t size;
    uint32_t flags; // none yet
} HoloCastParams;

// attention_f32: Attention. The operator says the heads, scale, soft cap, windows and how the heads are laid out.
typedef struct HoloAttentionParams {
    uint32_t size;
    uint32_t flags; // none yet
} HoloAttentionParams;

// rotary_f32: RotaryEmbedding of ONNX and of com.microsoft. Tables and positions are inputs of the operator.
typedef struct HoloRotaryParams {
    uint32_t size;
    uint32_t flags; // none yet
} HoloRotaryParams;

enum { HOLO_ATTENTION_SIZE = 1024 }; // longest vector: eval runs longer ones

#endif
