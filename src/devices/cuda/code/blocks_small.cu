// blocks_small.cu - weights in blocks of 2 and 3 bits: see blocks.cuh.
#include "blocks.cuh"

BLOCK_TYPE(q2_k, Q2_K)
BLOCK_TYPE(q3_k, Q3_K)
BLOCK_TYPE(tq1_0, TQ1_0)
BLOCK_TYPE(tq2_0, TQ2_0)
