// cuda_kernel.h - how steps become launches on a GPU: a row for each kind of step, and what they share.
//
// A step is prepared once for given sizes: its launches are made, with all that follows from sizes. Running it fills in
// addresses and launches. Which target uses which number is in lower/cuda.
#ifndef HOLO_DEVICES_CUDA_CUDA_KERNEL_H
#define HOLO_DEVICES_CUDA_CUDA_KERNEL_H

#include "devices/cuda/code/basic_params.h"
#include "devices/cuda/cuda_pick.h"
#include "devices/cuda/cuda_shared.h"

// The kinds of steps. Numbers are in archives: append only.
typedef enum HoloCudaKernelId {
    HOLO_CUDA_STEP_PROGRAM   = 1, // a portable program for each element
    HOLO_CUDA_STEP_PRODUCT   = 2, // MatMul, Gemm and their relatives
    HOLO_CUDA_STEP_CONV      = 3, // Conv of domain hologram: channels last
    HOLO_CUDA_STEP_MOVE      = 4, // Transpose, Slice, Concat, Split, Expand, Pad ...
    HOLO_CUDA_STEP_GATHER    = 5,
    HOLO_CUDA_STEP_REDUCE    = 6,
    HOLO_CUDA_STEP_ROWS      = 7, // LayerNormalization, RMSNormalization, Softmax, LogSoftmax
    HOLO_CUDA_STEP_POOL      = 8, // of f32 or bytes
    HOLO_CUDA_STEP_ATTENTION = 9,
    HOLO_CUDA_STEP_NORM      = 10, // GroupNormalization, InstanceNormalization, BatchNormalization
    HOLO_CUDA_STEP_TRANSFER  = 11, // Transfer of f32 that lies narrower in the device's memory
    HOLO_CUDA_STEP_EXTREME   = 12, // ArgMax, ArgMin
    HOLO_CUDA_STEP_SCAN      = 13, // CumSum
    HOLO_CUDA_STEP_ELEMENTS  = 14, // GatherElements
    HOLO_CUDA_STEP_RESIZE    = 15,
    HOLO_CUDA_STEP_ROTARY    = 16, // RotaryEmbedding
    HOLO_CUDA_STEP_WRITE     = 17, // CacheWrite
    HOLO_CUDA_STEP_CACHED    = 18, // CachedAttention
    HOLO_CUDA_STEP_TOP       = 19, // TopK
    HOLO_CUDA_STEP_SCATTER   = 20, // ScatterElements, ScatterND
    HOLO_CUDA_STEP_TUPLES    = 21, // GatherND
    HOLO_CUDA_STEP_ONE_HOT   = 22,
    HOLO_CUDA_STEP_RECURRENT = 23, // LSTM, GRU, RNN
    HOLO_CUDA_STEP_BLOCKS    = 24, // MatMulBlocks, MatMulNBits, DecodeBlocks and TakeRows of blocks
    HOLO_CUDA_STEP_BYTES     = 25, // products and convolutions of bytes (cuda_bytes.h)
    HOLO_CUDA_STEP_QUANTIZE  = 26, // QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, Cast of floats of 8 bits
    HOLO_CUDA_STEP_PAIR      = 27, // QLinearAdd, QLinearMul
    HOLO_CUDA_STEP_LOOKUP    = 28, // Lookup, LookupPair

    // Steps that do along the work of steps before them, if rows are few, and those whose work they do: see lower/cuda/cuda_merge.c.
    HOLO_CUDA_STEP_ROWS_LATER   = 29,
    HOLO_CUDA_STEP_ROWS_ALONG   = 30, // a product
    HOLO_CUDA_STEP_ROTARY_LATER = 31,
    HOLO_CUDA_STEP_WRITE_LATER  = 32,
    HOLO_CUDA_STEP_CACHED_ALONG = 33,

    HOLO_CUDA_STEP_FLOAT8   = 34, // MatMulFloat8
    HOLO_CUDA_STEP_WINOGRAD = 35, // Conv of domain hologram by tiles of 2x2 pixels (cuda_winograd.h)
    HOLO_CUDA_STEP_LIMIT
} HoloCudaKernelId;

static inline bool holo_cuda_is_product(uint32_t kernel)
{
    return kernel == HOLO_CUDA_STEP_PRODUCT || kernel == HOLO_CUDA_STEP_ROWS_ALONG;
}

// Are its weights packed as bytes?
static inline bool holo_cuda_is_bytes(uint32_t kernel)
{
    return kernel == HOLO_CUDA_STEP_BYTES || kernel == HOLO_CUDA_STEP_FLOAT8;
}

// The parameters of a step in an archive. It begins with its size; later versions only append.
typedef struct HoloCudaStepParams {
    uint32_t size;
    uint32_t flags;         // HOLO_CUDA_FLAG_*
    uint8_t  store;         // how f32 lies in the device's memory: HOLO_CUDA_F32, HOLO_CUDA_F16, HOLO_CUDA_BF16
    uint8_t  numeric;       // HOLO_CUDA_NUMERIC_*
    uint8_t  act, more_how; // of a product: what its kernel does at the end
    uint32_t
        layout; // of packed weights: groups of a convolution, HOLO_CUDA_LAYOUT_TURNED of a product, or a number of a
                // type of blocks (cuda_blocks.h)
    float    alpha, low, high; // of a product
    uint32_t part;             // of a convolution by tiles of pixels: how many tiles are computed at a time
} HoloCudaStepParams;

enum {
    HOLO_CUDA_FLAG_PACKED = 1, // the weights, input 1, are packed (see holo_cuda_packing)
    HOLO_CUDA_FLAG_TAIL   = 2, // a program follows, in place on the output

    // The archive has the packed weights as the CPU reads them: panels of 16 columns or filters, of f32 or of these types.
    HOLO_CUDA_FLAG_PANELS      = 1 << 16,
    HOLO_CUDA_FLAG_PANELS_F16  = 1 << 17,
    HOLO_CUDA_FLAG_PANELS_BF16 = 1 << 18,
};

enum { HOLO_CUDA_LAYOUT_TURNED = 1 }; // the plain weights are [n][k], not [k][n]

// ---- launches

enum { HOLO_CUDA_PLACES = 16, HOLO_CUDA_ARGS = 512 };
enum { HOLO_CUDA_SCRATCH = -1, HOLO_CUDA_COUNTS = -2, HOLO_CUDA_STATUS = -3 }; // what is no operand of the step

typedef struct HoloCudaPlace { // where an address goes
    uint16_t at;               // in the arguments
    int16_t  operand;          // inputs, then outputs; or HOLO_CUDA_SCRATCH ...
    uint64_t offset;           // in bytes
} HoloCudaPlace;

typedef struct HoloCudaMapPlace { // where the map of an operand goes, encoded with its address
    HoloCudaMap   map;
    HoloCudaPlace place;
} HoloCudaMapPlace;

typedef struct HoloCudaStep { // one launch
    HoloCuHandle function;
    bool         is_early;
    bool
        reads_early; // before it waits, it reads what was there before the run: so it is early only where a run is recorded
    uint32_t grid[3], block, shared, cluster;
    uint32_t many; // bytes of its parameters, if it may be launched together with others of its kernel; 0: it may not
    HoloCuHandle
        gated; // the kernel that also computes the step before, a product whose result it reads; NULL: there is none
    uint32_t         gated_blocks;
    int              place_count;
    HoloCudaPlace    place[HOLO_CUDA_PLACES];
    int              map_count;
    HoloCudaMapPlace map[2];
    _Alignas(16) uint8_t args[HOLO_CUDA_ARGS];
    struct HoloCudaStep *next;
} HoloCudaStep;

typedef struct HoloCudaJob {
    HoloCudaStep *first, *last;
    const char   *name;
    int64_t       packed; // bytes of one input in its packed form, in the archive; -1: all are plain
    int           packed_input;
    uint32_t      packed_by; // the kernel of the CPU that it is packed for; 0: the step's own
    bool          is_transfer;
} HoloCudaJob;

// A step that is being prepared.
typedef struct HoloCudaMaking {
    HoloCudaShared    *shared;
    const HoloCall    *call;
    HoloCudaStepParams params;
    HoloCudaJob       *job;
    size_t             scratch; // bytes that launches need
} HoloCudaMaking;

// How a kernel is launched; a grid's sizes must fit the driver's limits.
typedef struct HoloCudaShape {
    uint64_t grid[3];
    uint32_t block, shared, cluster;
} HoloCudaShape;

// Adds a launch of a kernel with these arguments. NULL in *out: there is nothing to compute, since a grid has no blocks.
HOLO_MUST HoloStatus holo_cuda_add(HoloCudaMaking *m, const char *module, const char *kernel,
                                   const HoloCudaShape *shape, const void *args, size_t size, HoloCudaStep **out);
// The address of an operand, plus `offset` bytes, goes to `at` of the arguments. Accepts a step of NULL.
void holo_cuda_place(HoloCudaStep *step, size_t at, int operand, uint64_t offset);
// The same for a map.
void holo_cuda_place_map(HoloCudaStep *step, const HoloCudaMap *map, size_t at, int operand, uint64_t offset);
// Steps of this kernel that do not need each other may be launched together: see HoloCudaPart. Accepts a step of NULL.
void holo_cuda_join(HoloCudaStep *step, size_t size);
// The number of output i among the operands.
static inline int holo_cuda_out(const HoloCudaMaking *m, int i)
{
    return m->call->in_count + i;
}
// How input i, of f32, lies in the device's memory: a constant as it is in the archive, anything else as steps store it.
static inline uint8_t holo_cuda_type(const HoloCudaMaking *m, int i)
{
    return m->call->in[i]->data ? HOLO_CUDA_F32 : m->params.store;
}
// Bytes of an element of input i, or of an output of the same type.
size_t holo_cuda_element(const HoloCudaMaking *m, int i);
// Launches of plain kernels: a thread for each of `count`, or a block.
HoloCudaShape holo_cuda_threads(int64_t count);
HoloCudaShape holo_cuda_blocks(int64_t count);

// Strides of images [image][channels][size], or with channels last: image, channel, three dimensions.
void holo_cuda_image_strides(const int64_t size[3], int64_t channels, bool is_last, int64_t out[5]);

// The name of the kernel of a portable program, and of the arrays, by number of the parameter, that lie in the narrow type.
enum { HOLO_CUDA_NAME = 48 };
void holo_cuda_program_name(const void *bytes, size_t size, uint8_t store, uint64_t narrow, char out[HOLO_CUDA_NAME]);
// The input that array parameter `name` of a program is: x0, x1 ...; -1: y, the output; -2: neither. `is_tail`: it is that
// of a tail.
int holo_cuda_program_operand(const char *name, bool is_tail);

// ---- the rows

typedef HoloStatus HoloCudaPrepare(HoloCudaMaking *m);
HoloCudaPrepare    holo_cuda_program, holo_cuda_product, holo_cuda_conv, holo_cuda_move, holo_cuda_gather,
    holo_cuda_reduce, holo_cuda_rows, holo_cuda_pool, holo_cuda_attention, holo_cuda_group_norm, holo_cuda_transfer,
    holo_cuda_extreme, holo_cuda_scan, holo_cuda_pick_elements, holo_cuda_resize, holo_cuda_rotary,
    holo_cuda_cache_write, holo_cuda_cached_attention, holo_cuda_top, holo_cuda_scatter, holo_cuda_gather_tuples,
    holo_cuda_one_hot, holo_cuda_recurrent, holo_cuda_few_bits, holo_cuda_bytes, holo_cuda_float8, holo_cuda_quantize,
    holo_cuda_pair, holo_cuda_lookup, holo_cuda_winograd, holo_cuda_rows_later, holo_cuda_rotary_later,
    holo_cuda_cache_write_later;

typedef struct HoloCudaKernel {
    const char        *name;
    HoloCudaPrepare   *prepare;
    const char *const *modules; // that it may launch kernels of; ends with NULL
} HoloCudaKernel;

const HoloCudaKernel *holo_cuda_kernel(uint32_t number); // NULL: there is none

// The program of a step in place on its output: what a product does not do itself.
HOLO_MUST HoloStatus holo_cuda_tail(HoloCudaMaking *m);

// Channels of a filter as its weights are packed: few ones are followed by zeros up to 16 bytes, so that a patch is read in
// whole pieces. Convolutions with groups, and filters of one tap, keep their channels.
int64_t holo_cuda_padded_channels(int64_t channels, int64_t groups, int64_t taps, uint8_t type);

// Bytes of weights [n][k] in rows of whole 16 bytes, of a type of cuda_params.h; and of the elements of a row. -1: too many.
int64_t holo_cuda_packed_row(int64_t k, uint8_t type);
int64_t holo_cuda_packed_size(int64_t n, int64_t k, uint8_t type);
// What a step does along begins at this input (attribute "along"); 0: it does nothing else.
static inline int holo_cuda_along(const HoloCudaMaking *m)
{
    int64_t first = holo_attr_int(m->call, "along", 0);
    return first > 0 && first < m->call->in_count ? (int)first : 0;
}
// Does a product of m rows normalise them, so that the norm before it has nothing to do?
bool holo_cuda_normalises(const HoloCudaMaking *m, int64_t rows, int64_t width);
// Says in the job how input 1 of the step, whose n packed rows have k numbers each, is stored in the archive.
void holo_cuda_packed(HoloCudaMaking *m, int64_t n, int64_t k);

#endif
