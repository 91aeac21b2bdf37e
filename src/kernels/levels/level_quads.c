// level_quads.c - the tables of what some CPUs of a level have beyond it: included by level.c where there are such.
#define gemm_i8        gemm_i8_quads
#define rows_i8        rows_i8_quads
#define gemm_raw_i8    gemm_raw_i8_quads
#define rows_bits_i8   rows_bits_i8_quads
#define gemm_bits_i8   gemm_bits_i8_quads
#define rows_blocks_i8 rows_blocks_i8_quads
#define gemm_blocks_i8 gemm_blocks_i8_quads
#define depthwise_i8   depthwise_i8_quads

#define TABLE_LEVEL QUADS_LEVEL
#include "kernels/levels/level_table.c"
