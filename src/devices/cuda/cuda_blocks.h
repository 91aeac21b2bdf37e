// cuda_blocks.h - weights of few bits on a GPU: which code reads them, and how they lie.
#ifndef HOLO_DEVICES_CUDA_CUDA_BLOCKS_H
#define HOLO_DEVICES_CUDA_CUDA_BLOCKS_H

#include "devices/cuda/code/blocks_params.h"
#include "format/blocks.h"
#include "ops/microsoft/nbits.h"

// Numbers of types: those of format/block_types.c in its order, then these. They are in no archive.
enum { HOLO_CUDA_NBITS_4 = 1000, HOLO_CUDA_NBITS_8 };

// The module of src/devices/cuda/code that has the kernels of a type; NULL: there are none.
const char *holo_cuda_block_module(uint32_t number);
// The number of a type of blocks; -1: it is not in the table.
int holo_cuda_block_number(const HoloBlockType *type);

// Bytes of a panel of 16 columns of MatMulNBits, of 4 or 8 bits: units of codes as of blocks, and no scales. -1: too many.
int64_t holo_cuda_nbits_panel(const HoloNBits *sizes);

// How few rows are multiplied: for `sms` multiprocessors, how many warps share a panel, and how many blocks of threads there are.
void holo_cuda_block_share(int32_t n, int32_t k, int32_t sms, int32_t *out_share, uint64_t *out_grid);

#endif
