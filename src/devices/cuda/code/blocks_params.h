// blocks_params.h - what the kernels of blocks.cuh are told: weights in blocks of few bits. Plain C, for host and device.
#ifndef HOLO_DEVICES_CUDA_CODE_BLOCKS_PARAMS_H
#define HOLO_DEVICES_CUDA_CODE_BLOCKS_PARAMS_H

#include "cuda_params.h"

enum { HOLO_CUDA_BLOCK_WARPS = 8, HOLO_CUDA_BLOCK_UNIT = 32 }; // warps of a block of threads; elements of k in a unit

// Weights [n][k] as panels of 16 columns (format/blocks.h). Those of MatMulNBits are units of codes alone, as of a type of blocks whose
// codes have 4 or 8 bits; scales and zero points lie beside them, as the operator has them.
typedef struct HoloCudaBlockPanels {
    const void  *b;
    const float *scales; // MatMulNBits: [n][blocks]
    const void  *zeros;  // MatMulNBits: [n][blocks] of f32, or [n][zero_bytes] of packed numbers; NULL: the middle
    int64_t      panel;  // bytes of a panel
    int32_t      n, k;
    int32_t      blocks, zero_bytes;
    uint8_t      block_bits;   // MatMulNBits: a block has 2^block_bits elements
    uint8_t      zeros_packed; // zeros are packed numbers
    uint8_t      unused[6];
} HoloCudaBlockPanels;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaBlockPanels) == 56,
              "the layout that device code was compiled with");

// C = end(A * B) for few rows (m <= 8) of A [m][k]. C and `more` are [m][n].
typedef struct HoloCudaBlockRows {
    HoloCudaPart        part;
    HoloCudaBlockPanels w;
    const void         *a;
    void               *c;
    const float        *bias;
    const void         *more;
    int32_t             m;
    int32_t             share; // warps that share a panel: 1, 2, 4 or 8
    float               low, high;
    uint8_t             a_type, c_type, more_type, act, more_how;
    uint8_t             whole; // k is a multiple of 4
    uint8_t             unused[2];
} HoloCudaBlockRows;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaBlockRows) == 120, "the layout that device code was compiled with");

// All weights as numbers: to [n][row], with zeros after k.
typedef struct HoloCudaBlockDecode {
    HoloCudaBlockPanels w;
    void               *to;
    int64_t             row;    // elements, a multiple of 4
    uint8_t             type;   // of elements
    uint8_t             rounds; // f32 is rounded to tf32
    uint8_t             unused[6];
} HoloCudaBlockDecode;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaBlockDecode) == 80,
              "the layout that device code was compiled with");

// Columns of the weights, which are rows of a table: to[i] = the one of number index[i].
typedef struct HoloCudaBlockTake {
    HoloCudaBlockPanels w;
    const void         *index;
    void               *to;
    uint32_t           *status; // becomes 1 if an index is out of range
    int64_t             indices;
    int32_t             index_bytes;
    uint8_t             type, unused[3];
} HoloCudaBlockTake;
static_assert(sizeof(void *) != 8 || sizeof(HoloCudaBlockTake) == 96, "the layout that device code was compiled with");

#endif
