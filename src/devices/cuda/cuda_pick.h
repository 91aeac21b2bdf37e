// cuda_pick.h - which kernel computes a product, a convolution, attention or rows of a matrix, and how it is launched.
//
// Decided from shapes and types alone, before the first input: no GPU and no CUDA header is needed.
#ifndef HOLO_DEVICES_CUDA_CUDA_PICK_H
#define HOLO_DEVICES_CUDA_CUDA_PICK_H

#include "devices/cuda/code/cuda_params.h"

#include <stdbool.h>
#include <stddef.h>

// One launch. `params` holds one of the structs of cuda_params.h, whose addresses of operands are NULL until they are bound.
typedef struct HoloCudaLaunch {
    const char *module; // the source that has the kernel: "product_f16", "attention", "rows", ...
    const char *kernel; // an extern "C" name in it
    uint32_t    grid[3], block, shared, cluster;
    uint32_t    params_size;
    union {
        HoloCudaProduct   product;
        HoloCudaRows      rows;
        HoloCudaDepthwise depthwise;
        HoloCudaAttention attention;
        HoloCudaNorm      norm;
        HoloCudaTurn      turn;
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

// How exact: what --numeric says.
enum { HOLO_CUDA_NUMERIC_FUSED, HOLO_CUDA_NUMERIC_EXACT, HOLO_CUDA_NUMERIC_TF32 };

// What is asked for. `type` is A's and B's (f32 is computed as `numeric` says); the params say the rest: all fields but
// addresses, splits, k_split, a_whole, c_whole, whole.
typedef struct HoloCudaWant {
    uint8_t  type, numeric;
    uint8_t  a_first; // an image is [batch][channels][height][width] of a_type, and turned first; channels are padded
    uint8_t  a_type;  // if a_first
    uint8_t  b_plain; // B is [k][n], rows ldb apart, and turned first
    uint32_t align;   // what the addresses of A, C and more are multiples of, in bytes
    int32_t  batch;   // products in the batch
    int32_t  sms;     // multiprocessors: 132 on an H200
} HoloCudaWant;

// Each returns false if no kernel can do it: then nothing was written but zeros.
bool holo_cuda_pick_product(const HoloCudaWant *want, const HoloCudaProduct *asked, HoloCudaPick *out);
bool holo_cuda_pick_rows(const HoloCudaWant *want, const HoloCudaRows *asked, uint32_t weights, HoloCudaPick *out);
bool holo_cuda_pick_depthwise(const HoloCudaWant *want, const HoloCudaDepthwise *asked, HoloCudaPick *out);
bool holo_cuda_pick_attention(const HoloCudaWant *want, const HoloCudaAttention *asked, HoloCudaPick *out);
bool holo_cuda_pick_norm(const HoloCudaWant *want, const HoloCudaNorm *asked, HoloCudaPick *out);
bool holo_cuda_pick_turn(const HoloCudaTurn *asked, int32_t batch, HoloCudaPick *out);

#endif
