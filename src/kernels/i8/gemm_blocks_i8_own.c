// gemm_blocks_i8_own.c - gemm_blocks_i8.c for every CPU of a level.
//
// Where quads take several instructions, fewer forms do: they would make the library a tenth larger. What is missing runs
// by the others, with the same bits.
#define WAY_NAME own
#define WAY_SUFFIX
#define WAY_TARGET
#define WAY_DOTS     DOTS_OWN
#define WAY_FORMS(X) BLOCK_FORMS(X, FEW_ONE, 1, 1) BYTES_WIDE(BLOCK_FORMS(X, FEW_WIDE, 1, BLOCKS_WIDE))
#define WAY_UNIT     (UNIT_HEAD + (BYTES ? 1 : 2) * HOLO_BLOCK_UNIT)
#include "kernels/i8/gemm_blocks_i8_way.c"
