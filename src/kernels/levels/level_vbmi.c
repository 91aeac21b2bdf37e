// level_vbmi.c - the table for CPUs that can also permute bytes of two registers. level.c includes it after level_quads.c.
#define lookup_u8   lookup_u8_vbmi
#define TABLE_LEVEL avx512vbmi
#include "kernels/levels/level_table.c"
