// blocks_grid.cu - weights in blocks whose codes are entries of a grid: see blocks.cuh.
#include "blocks.cuh"

BLOCK_TYPE(iq1_s, IQ1_S)
BLOCK_TYPE(iq1_m, IQ1_M)
BLOCK_TYPE(iq2_xxs, IQ2_XXS)
BLOCK_TYPE(iq2_xs, IQ2_XS)
BLOCK_TYPE(iq2_s, IQ2_S)
BLOCK_TYPE(iq3_xxs, IQ3_XXS)
BLOCK_TYPE(iq3_s, IQ3_S)
