// cuda_product.h - what products and convolutions share.
#ifndef HOLO_DEVICES_CUDA_CUDA_PRODUCT_H
#define HOLO_DEVICES_CUDA_CUDA_PRODUCT_H

#include "devices/cuda/cuda_kernel.h"
#include "devices/cuda/cuda_pick.h"

typedef struct HoloCudaOperand {
    int      operand; // as of HoloCudaPlace
    uint64_t offset;
} HoloCudaOperand;

// Where a product finds its operands. B is [n][k] in its packed form, or as the step has it. C and `more` are input
// and output of the step from column `first` on.
typedef struct HoloCudaOperands {
    HoloCudaOperand a, b;
    int             bias, more; // inputs; -1: none
    int64_t         first;
    size_t          scratch; // bytes of the scratch that are taken
} HoloCudaOperands;

// Adds the launches that were picked. A turn reads input 0 or 1.
HOLO_MUST HoloStatus holo_cuda_picked(HoloCudaMaking *m, const HoloCudaPick *pick, const HoloCudaOperands *of);

// The sizes of a product and where its operands are.
typedef struct HoloCudaSizes {
    HoloCudaOperands of;
    int64_t          m, n, k, batch, inner;
    int64_t          a_row, a_column, b_row, b_column; // strides
    int64_t          a_batch[2], b_batch[2];
    int64_t          c_row;                      // from row to row of C and `more`
    int64_t          bias_stride[2];             // row, column
    bool             bias_is_line, is_b_turned;  // bias: one number for each column; B is [n][k]
    int              norm;                       // input with what the norm of A reads, if the product normalises; or 0
    bool             is_b_packed, is_b_constant; // B is as holo_cuda_packed_row says, of the type that steps store
} HoloCudaSizes;
// Finds the sizes of a product of these two: all but `of`, the bias and how B is packed.
HOLO_MUST HoloStatus holo_cuda_sizes(const HoloCudaMaking *m, const HoloTensor *a, const HoloTensor *b,
                                     HoloCudaSizes *s);
// Adds a product by the tiles that fit, or by a plain kernel.
HOLO_MUST HoloStatus holo_cuda_product_add(HoloCudaMaking *m, const HoloCudaSizes *s);

// Are there kernels of tiled.cuh for this GPU and class?
bool holo_cuda_is_tiled(const HoloCudaMaking *m);
// Refuses what the end of a product cannot be.
HOLO_MUST HoloStatus holo_cuda_end_check(const HoloCudaMaking *m);

#endif
