// blocks_four.cu - weights in blocks of 4 bits: see blocks.cuh.
#include "blocks.cuh"

BLOCK_TYPE(q4_0, Q4_0)
BLOCK_TYPE(q4_1, Q4_1)
BLOCK_TYPE(q4_k, Q4_K)
