// cuda_pick.h - which kernel computes a product, a convolution, attention or rows of a matrix, and how it is launched.
//
// Decided from shapes and types alone, before the first input: no GPU and no CUDA header is needed.
#ifndef HOLO_DEVICES_CUDA_CUDA_PICK_H
#define HOLO_DEVICES_CUDA_CUDA_PICK_H

#include "devices/cuda/code/bytes_params.h"

#include <stdbool.h>
#include <stddef.h>

// One launch. `params` holds one of the structs of cuda_params.h, whose addresses of operands are NULL until they are bound.
typedef enum HoloCudaKind {
    HOLO_CUDA_PRODUCT,
    HOLO_CUDA_ROWS,
    HOLO_CUDA_DEPTHWISE,
    HOLO_CUDA_ATTENTION,
    HOLO_CUDA_NORM,
    HOLO_CUDA_TURN,
    HOLO_CUDA_TILED,
    HOLO_CUDA_BYTES,
    HOLO_CUDA_FLOAT8,
} HoloCudaKind;

// How the copy engine of sm_90 finds tiles of an operand. The driver encodes it together with an address. The innermost
// dimension is the first.
typedef struct HoloCudaMap {
    uint8_t  type, is_image;     // of elements; an image is [images][lines][columns][channels]
    uint8_t  rank;               // 3, or 4 of an image; 0: there is no map
    uint64_t size[4], stride[3]; // stride: in bytes, of all dimensions but the innermost
    uint32_t box[3];             // of an image: channels, pixels
    uint32_t step[4];            // of an image: from patch to patch
    int32_t  lower[2], upper[2]; // of an image: corners of patches, columns first, from its first and last pixel
} HoloCudaMap;

typedef struct HoloCudaLaunch {
    HoloCudaKind kind;   // which member of params
    const char  *module; // the source that has the kernel: "product_f16", "attention", "rows", ...
    const char  *kernel; // an extern "C" name in it
    uint32_t     grid[3], block, shared, cluster;
    uint32_t     params_size;
    const char
            *gated; // ROWS: the kernel that also computes the step before, whose result `more` is; with so many blocks
    uint32_t gated_blocks;
    HoloCudaMap map[2]; // TILED: of A and B
    union {
        HoloCudaProduct   product;
        HoloCudaTiled     tiled;
        HoloCudaRows      rows;
        HoloCudaDepthwise depthwise;
        HoloCudaAttention attention;
        HoloCudaNorm      norm;
        HoloCudaTurn      turn;
        HoloCudaBytes     bytes;  // its end is not filled in
        HoloCudaFloat8    float8; // nor are its scales
    } params;
} HoloCudaLaunch;

// All launches of a step, in order. If `turned` is not 0, launch 0 is a turn that writes `turned_bytes` of workspace, which
// launch 1 reads in place of its A (1) or its B (2).
typedef struct HoloCudaPick {
    HoloCudaLaunch launch[2];
    int            count;
    int            turned;
    size_t         turned_bytes; // at the start of the workspace
    size_t         partial_at;   // where `partial` of the last launch begins in the workspace
    size_t         workspace;    // bytes, 256-byte aligned
    double         cost;         // an estimate, in microseconds
} HoloCudaPick;

enum { HOLO_CUDA_ROWS_MAX = 8 }; // rows of A that the kernel for few rows can have

// Does the kernel for few rows of A, m x k, bring them to shared memory? Then it can normalise them, too.
// `shared`: see HoloCudaWant.
bool holo_cuda_rows_keep(uint8_t type, uint32_t shared, int64_t m, int64_t k);

// How exact: what --numeric says.
enum { HOLO_CUDA_NUMERIC_FUSED, HOLO_CUDA_NUMERIC_EXACT, HOLO_CUDA_NUMERIC_TF32 };

// What is asked for. `type` is A's and B's (f32 is computed as `numeric` says; of bytes it is A's, and B is signed); the params say the rest: all fields but
// addresses, splits, k_split, a_whole, c_whole, whole.
typedef struct HoloCudaWant {
    uint8_t  type, numeric;
    uint8_t  a_first; // an image is [batch][channels][height][width] of a_type, and turned first; channels are padded
    uint8_t  a_type;  // if a_first
    uint8_t  b_type;  // of floats of 8 bits, whose `type` is A's; 0 for others
    uint8_t  b_plain; // B is [k][n], rows ldb apart, and turned first
    uint8_t  b_constant; // B is a weight: it may be read before the kernels before this one have ended
    uint32_t align;      // what the addresses of A, C and more are multiples of, in bytes
    int32_t  batch;      // products in the batch
    int32_t  sms;        // multiprocessors: 132 on an H200
    uint32_t shared;     // bytes of shared memory that a block may have; 0: as many as on an H200
    uint8_t  cluster;    // kernels know clusters of blocks: the code is that of sm_90
    uint8_t  tiled;      // it runs the kernels of tiled.cuh: it is sm_90, and their code is there
} HoloCudaWant;

// Each returns false if no kernel can do it. A count of 0 is a success: there is nothing to compute. A product of few rows may
// be given to the kernel for rows: look at the launch's kind.
bool holo_cuda_pick_product(const HoloCudaWant *want, const HoloCudaProduct *asked, HoloCudaPick *out);
// The same with the kernel of that name (or NULL: any) and that many parts of k (or 0): for tests and measurements.
bool holo_cuda_pick_product_as(const HoloCudaWant *want, const HoloCudaProduct *asked, const char *kernel,
                               int32_t splits, HoloCudaPick *out);
// The kernels of tiled.cuh alone: replaces what was picked if one is cheaper. `p` has all that the one above fills in.
void holo_cuda_pick_tiled(const HoloCudaWant *want, const HoloCudaProduct *p, const char *kernel, int32_t splits,
                          HoloCudaPick *best);
// The module that has them for a type, or NULL.
const char *holo_cuda_tiled_module(uint8_t type, uint8_t numeric);
bool        holo_cuda_pick_rows(const HoloCudaWant *want, const HoloCudaRows *asked, HoloCudaPick *out);
bool        holo_cuda_pick_depthwise(const HoloCudaWant *want, const HoloCudaDepthwise *asked, HoloCudaPick *out);
bool        holo_cuda_pick_attention(const HoloCudaWant *want, const HoloCudaAttention *asked, HoloCudaPick *out);
bool        holo_cuda_pick_norm(const HoloCudaWant *want, const HoloCudaNorm *asked, HoloCudaPick *out);
bool        holo_cuda_pick_turn(const HoloCudaTurn *asked, int32_t batch, HoloCudaPick *out);

#endif
