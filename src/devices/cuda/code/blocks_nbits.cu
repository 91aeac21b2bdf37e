// blocks_nbits.cu - weights of MatMulNBits: see blocks.cuh.
#include "blocks.cuh"

BLOCK_PRODUCTS(nbits_4, NBits<4>)
BLOCK_PRODUCTS(nbits_8, NBits<8>)
