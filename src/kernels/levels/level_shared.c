// level_shared.c - the kernels that give the same bits in both numeric classes: integers, bytes, extremes, sums in
// double, moves. Compiled once for each level, with that level's flags and -DHOLO_LEVEL=<name>.
#include "format/block_slices.h"
#include "kernels/levels/level.h"
#include "kernels/vec/vec.h"
#include "kernels/vec/vec_bytes.h"
#include "kernels/vec/vec_gather.h"
#include "kernels/vec/vec_halves.h"
#include "kernels/vec/vec_lanes.h"
#include "kernels/vec/vec_narrow.h"

// Their bits depend on the class.
#pragma GCC poison n_mac n_mad v_mad v_mad_half n_quotient n_scale HOLO_EXACT

#include "kernels/f32/patch_f32.c"
#include "kernels/i8/quantize_i8.c"

#include "kernels/i8/gemm_i8.c"

#include "kernels/f32/grid_f32.c"
#include "kernels/f32/narrow_f32.c"
#include "kernels/f32/pool_f32.c"
#include "kernels/f32/reduce_f32.c"
#include "kernels/f32/transpose_f32.c"
#include "kernels/i8/bytes_i8.c"
#include "kernels/i8/depthwise_i8.c"
#include "kernels/i8/gemm_bits_i8.c"

#include "kernels/i8/slices_i8.c"

#include "kernels/i8/gemm_blocks_i8.c"

#include "kernels/i8/lookup_u8.c"
#include "kernels/i8/patch_i8.c"
#include "kernels/i8/transpose_u8.c"

#include LEVEL_OWN
#include LEVEL_QUADS
#include LEVEL_VBMI
