// level_shared_quads.c - products of bytes for CPUs that multiply quads of them: included by level_shared.c where a
// level has such CPUs.
#include "kernels/i8/gemm_i8_quads.c"

#include "kernels/i8/gemm_bits_i8_quads.c"
#include "kernels/i8/gemm_blocks_i8_quads.c"
