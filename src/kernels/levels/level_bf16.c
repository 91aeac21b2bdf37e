// level_bf16.c - the table of numeric class bf16, for CPUs that can also multiply pairs of bf16. level.c includes it
// after level_vbmi.c.
#include "kernels/f32/gemm_bf16.c"

#define gemm_f32    gemm_bf16
#define TABLE_LEVEL avx512bf16
#include "kernels/levels/level_table.c"
