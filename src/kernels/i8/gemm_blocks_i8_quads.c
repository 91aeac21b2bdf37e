// gemm_blocks_i8_quads.c - gemm_blocks_i8.c for CPUs that multiply quads of bytes: see gemm_i8_quads.c.
#define WAY_NAME   quads
#define WAY_SUFFIX _quads
#define WAY_TARGET QUADS_TARGET
#define WAY_DOTS   DOTS_QUADS
// The numbers of a unit and the sums of eight rows need many registers.
#define WAY_FORMS(X)                                                                             \
    BLOCK_FORMS(X, FEW_ONE, 1, 1)                                                                \
    QUADS_MANY(BLOCK_FORMS(X, FEW_WIDE, 1, BLOCKS_WIDE) BLOCK_FORMS(X, FEW_ROWS, BLOCKS_FEW, 1)) \
    BYTES_MANY(BLOCK_FORMS(X, FEW_SOME, BLOCKS_SOME, 1))
#define WAY_UNIT (UNIT_HEAD + HOLO_BLOCK_UNIT)
#include "kernels/i8/gemm_blocks_i8_way.c"
