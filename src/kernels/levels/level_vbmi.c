// level_vbmi.c - behind level_quads.c, the table of CPUs that permute bytes of two registers besides.
#define lookup_u8   lookup_u8_vbmi
#define TABLE_LEVEL avx512vbmi
#include "kernels/levels/level_table.c"
