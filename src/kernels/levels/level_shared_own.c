// level_shared_own.c - products of weights in blocks and of few bits as every CPU of a level can do them: included by
// level_shared.c.
#include "kernels/i8/gemm_bits_i8_own.c"
#include "kernels/i8/gemm_blocks_i8_own.c"
