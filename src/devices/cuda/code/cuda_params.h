// cuda_params.h - what each heavy kernel is told: one struct, passed by value. Plain C, for the host and for device code.
//
// cuda_pick.h fills in everything but the addresses of operands; the device fills those in when memory is bound.
#ifndef HOLO_DEVICES_CUDA_CODE_CUDA_PARAMS_H
#define HOLO_DEVICES_CUDA_CODE_CUDA_PARAMS_H

#include <assert.h>
#include <stdint.h>

// Types of elements in device memory. Products are of the first five; the others are read and written element by element. Floats of 8
// bits come last.
enum {
    HOLO_CUDA_F32,
    HOLO_CUDA_F16,
    HOLO_CUDA_BF16,
    HOLO_CUDA_S8,
    HOLO_CUDA_U8,
    HOLO_CUDA_TYPES,
    HOLO_CUDA_S32 = HOLO_CUDA_TYPES,
    HOLO_CUDA_S16,
    HOLO_CUDA_U16,
    HOLO_CUDA_E4M3,
    HOLO_CUDA_E4M3_FNUZ,
    HOLO_CUDA_E5M2,
    HOLO_CUDA_E5M2_FNUZ,
};

// What the end of a product computes from a sum x: x = x * alpha * scale[n] + bias[n], then these two, in this order:
enum {
    HOLO_CUDA_ACT_NONE,
    HOLO_CUDA_ACT_RELU,
    HOLO_CUDA_ACT_CLIP, // to [low, high]; NaN stays NaN
    HOLO_CUDA_ACT_SIGMOID,
    HOLO_CUDA_ACT_SILU, // x * sigmoid(x)
    HOLO_CUDA_ACT_GELU_ERF,
    HOLO_CUDA_ACT_GELU_TANH,
    HOLO_CUDA_ACT_TANH,
    HOLO_CUDA_ACT_HARD_SWISH,
    HOLO_CUDA_ACT_LEAKY, // x < 0 ? x * low : x
    HOLO_CUDA_ACTS,
};
enum {
    HOLO_CUDA_MORE_NONE,
    HOLO_CUDA_MORE_ADD_BEFORE, // act(x + more)
    HOLO_CUDA_MORE_ADD_AFTER,  // act(x) + more
    HOLO_CUDA_MORE_MUL_AFTER,  // act(x) * more
    HOLO_CUDA_MORE_MUL_SILU,   // act(x) * silu(more), and the same with other functions: gates
    HOLO_CUDA_MORE_MUL_GELU_ERF,
    HOLO_CUDA_MORE_MUL_GELU_TANH,
    HOLO_CUDA_MORES,
};

// Words of zeros that all split products of a stream share: the last block of a tile to arrive adds the parts up, and
// leaves its word zero again. One allocation of this many uint32_t for each stream, cleared once.
enum { HOLO_CUDA_COUNTERS = 16384 };

// C = end(A * B), for a batch; or a convolution of an image with channels last, where row m of A is the patch under output
// pixel m, and k runs over [kernel_h][kernel_w][channels].
//
// B is packed (lower/cuda/cuda_pack.h): n rows of ldb elements, k innermost, ldb * size a multiple of 16, zeros after k.
// Strides are in elements. Batch z is (z / inner, z % inner), with a stride for each.
typedef struct HoloCudaProduct {
    const void  *a, *b;
    void        *c;
    const float *bias;     // [n], or NULL
    const float *scale;    // [n], or NULL
    const void  *more;     // a tensor like C, or NULL
    float       *partial;  // workspace, if splits > 1
    uint32_t    *counters; // HOLO_CUDA_COUNTERS zeros, if splits > 1
    int64_t      a_batch[2], b_batch[2], c_batch[2], more_batch[2];
    int32_t      bias_batch[2]; // of bias and scale: for groups of a convolution
    int32_t      m, n, k, inner;
    int32_t      lda, ldb, ldc, ldmore; // from row to row; of an image, lda is from pixel to pixel
    int32_t      splits, k_split;       // k in parts of k_split, a multiple of the tile's
    // the image: height 0 if A is a plain matrix
    int32_t height, width, channels, kernel_h, kernel_w, out_h, out_w;
    int32_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
    float   alpha, low, high;
    uint8_t c_type, more_type, act, more_how;
    uint8_t a_whole; // rows of A (and channels of an image) lie on 16 bytes: copied 16 bytes at a time
    uint8_t c_whole; // the same for C and `more`: stored 4 elements at a time
    uint8_t b_early; // B is constant: it may be read while the kernel before still runs
    uint8_t cluster; // the parts of k are blocks of a cluster (sm_90): no workspace, no counters
    float   unused[2];
} HoloCudaProduct;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaProduct) == 256, "the layout that device code was compiled with");

// A product whose tiles the copy engine of sm_90 brings. A map is what the driver encodes from a HoloCudaMap of cuda_pick.h: of A
// [m][k] or of an image, of B [n][taps][channels]. Here k_split of the product counts lines of 128
// bytes.
typedef struct HoloCudaTiled {
    uint64_t        a_map[16] __attribute__((aligned(64)));
    uint64_t        b_map[16];
    HoloCudaProduct p;
} HoloCudaTiled;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaTiled) == 512, "the layout that device code was compiled with");

// Steps that do not need each other are launched together: a kernel's parameters are HOLO_CUDA_MANY of a struct, each of which
// begins with the blocks that are its own.
enum { HOLO_CUDA_MANY = 3, HOLO_CUDA_ROWS_STAGES = 8 }; // stages: pieces that rows.cu asks for ahead
typedef struct HoloCudaPart {
    uint32_t first, blocks;
} HoloCudaPart;

// C = end(A * B) for few rows (m <= 8), as fast as the weights are read. B as above. Weights in blocks: see blocks_params.h. With a
// norm, A is a matrix whose rows are normalised first.
typedef struct HoloCudaRows {
    HoloCudaPart part;
    const void  *a, *b;
    void        *c;
    const float *bias;
    const void  *more;
    const float *gain, *shift; // of the norm: (x - mean) * scale * gain + shift; shift may be NULL
    int32_t      m, n, k, lda, ldb, ldc, ldmore;
    float        epsilon; // of the norm
    int32_t      share;   // warps that share a row of B: 1, 2, 4 or 8
    float        alpha, low, high;
    uint8_t      c_type, more_type, act, more_how;
    uint8_t      whole;   // rows of A and B lie on 16 bytes
    uint8_t      b_early; // B is constant: it may be read while the kernel before still runs
    uint8_t      kept;    // A is read once, to shared memory
    uint8_t      norm;    // 0: none; else 1 + HOLO_CUDA_ROW_LAYER_NORM or HOLO_CUDA_ROW_RMS_NORM; A is kept then
} HoloCudaRows;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaRows) == 120, "the layout that device code was compiled with");

// A convolution of each channel by itself, channels last: weights [kernel_h][kernel_w][channels] of the data's type.
typedef struct HoloCudaDepthwise {
    const void  *a, *b;
    void        *c;
    const float *bias;
    const void  *more;
    int32_t      batch, height, width, channels, kernel_h, kernel_w, out_h, out_w;
    int32_t      stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
    float        low, high;
    uint8_t      act, more_how, unused[6];
} HoloCudaDepthwise;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaDepthwise) == 112, "the layout that device code was compiled with");

// softmax(Q * K^T * scale + mask) * V in one kernel. Strides in elements: batch, head, row; the size of a head is innermost.
// FRESH is for K and V of a cache: a mask of i64 for the new keys alone, [batch][queries], where 0 hides; and the window.
enum {
    HOLO_CUDA_MASK_NONE,
    HOLO_CUDA_MASK_F32,
    HOLO_CUDA_MASK_F16,
    HOLO_CUDA_MASK_BF16,
    HOLO_CUDA_MASK_BOOL,
    HOLO_CUDA_MASK_FRESH
};
typedef struct HoloCudaAttention {
    const void    *q, *k, *v;
    void          *out;
    const void    *mask;    // added, or BOOL: 0 bytes hide
    const int32_t *lengths; // keys that count, of each batch; or NULL: all
    float         *partial; // workspace of the decode kernel
    uint32_t      *counters;
    const int64_t *slots; // K and V are a cache: which of its slots each batch has; or NULL
    const int64_t
           *cached; // and how many keys were there before the queries of each batch, which see those and their own
    int64_t q_stride[3], k_stride[3], v_stride[3], out_stride[3];
    int64_t mask_stride[3]; // batch, head, row; 0 where it is broadcast; keys are innermost
    int32_t batch, heads, kv_heads, queries, keys, size, v_size;
    int32_t causal;             // 1: query i sees keys up to i + past; 0: all
    int32_t past;               // keys before the first query, if causal; -1: lengths[batch] - queries
    int32_t splits, keys_split; // of the decode kernel: blocks that share the keys, and the fewest that one has
    float   scale, softcap;     // softcap: 0, or scores become softcap * tanh(score / softcap)
    int32_t slot_count;         // of a cache
    int32_t window;             // of mask FRESH: a query sees so many keys; 0: all
    uint8_t mask_type, whole;
    uint8_t is_single; // of the tiles: one tile of keys and values at a time, where two do not fit into shared memory
    uint8_t early;     // of the decode kernel: old keys are as they were before the run, which is recorded
    // of the decode kernel, for one query: the new key and value are not in the cache yet, and the kernel puts them there
    const void *k_fresh, *v_fresh; // [batch][kv_heads * size]; NULL: all are there
    const void *cos,
        *sin;           // rows of `half` numbers of the type of Q, which turn query and key first; NULL: nothing does
    uint32_t *status;   // becomes HOLO_CUDA_STATUS_CACHE if the new key does not fit
    int32_t   half;     // pairs that are turned: whole pieces of 16 bytes
    int32_t   cos_step; // rows of cos and sin from batch to batch: 0 or 1
    uint8_t   cluster;  // of the decode kernel: blocks that share the keys are a cluster
    uint8_t   unused_too[7];
} HoloCudaAttention;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaAttention) == 320, "the layout that device code was compiled with");
enum { HOLO_CUDA_STATUS_INDEX = 1, HOLO_CUDA_STATUS_CACHE = 2 }; // what kernels write if values do not fit

// Rows of a matrix: layer norm, RMS norm (both of a + more, if there is more, whose sum goes to `sum`), softmax.
enum { HOLO_CUDA_ROW_LAYER_NORM, HOLO_CUDA_ROW_RMS_NORM, HOLO_CUDA_ROW_SOFTMAX, HOLO_CUDA_ROW_LOG_SOFTMAX };
typedef struct HoloCudaNorm {
    const void  *a, *more; // more: NULL, or added first
    void        *c, *sum;  // sum: NULL, or gets a + more
    const float *gain, *bias;
    int32_t      rows, width, lda, ldc;
    float        epsilon, gain_add; // gain_add: 1 where weights are stored less one
    uint8_t      what, whole;       // whole: rows lie on 16 bytes
    uint8_t      a_type, c_type;    // a, more and sum are of a_type
    int32_t      unused;
} HoloCudaNorm;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaNorm) == 80, "the layout that device code was compiled with");

// Moves: [batch][rows][columns] to [batch][columns][to_rows], of other type if asked; rows are padded with zeros.
// It makes images channels-last (rows = channels) and packs B that is no weight.
typedef struct HoloCudaTurn {
    const void *from;
    void       *to;
    int64_t     from_batch[2], to_batch;
    int32_t     inner, rows, columns, from_row, to_rows;
    uint8_t     from_type, to_type, unused[2];
} HoloCudaTurn;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaTurn) == 64, "the layout that device code was compiled with");

#endif
