// blocks_book.cu - weights in blocks of 4 bits whose codes stand for other numbers: see blocks.cuh.
#include "blocks.cuh"

BLOCK_TYPE(iq4_nl, IQ4_NL)
BLOCK_TYPE(iq4_xs, IQ4_XS)
BLOCK_TYPE(mxfp4, MXFP4)
