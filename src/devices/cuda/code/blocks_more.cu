// blocks_more.cu - weights in blocks of 5, 6 and 8 bits: see blocks.cuh.
#include "blocks.cuh"

BLOCK_TYPE(q5_0, Q5_0)
BLOCK_TYPE(q5_1, Q5_1)
BLOCK_TYPE(q5_k, Q5_K)
BLOCK_TYPE(q6_k, Q6_K)
BLOCK_TYPE(q8_0, Q8_0)
