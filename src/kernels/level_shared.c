// level_shared.c - the kernels that give the same bits in both numeric classes: integers, bytes, extremes, sums in double, moves.
// Compiled once for each level, with that level's flags and -DHOLO_LEVEL=<name>.
#include "kernels/level.h"
#include "kernels/vec.h"
#include "kernels/vec_bytes.h"
#include "kernels/vec_lanes.h"
#include "kernels/vec_narrow.h"

// Their bits depend on the class.
#pragma GCC poison n_mac n_mad v_mad v_mad_half n_quotient n_scale HOLO_EXACT

#include "kernels/patch_f32.c"
#include "kernels/peer_f32.c"
#include "kernels/quantize_i8.c"

#include "kernels/gemm_i8.c"

#include "kernels/bytes_i8.c"
#include "kernels/depthwise_i8.c"
#include "kernels/grid_f32.c"
#include "kernels/lookup_u8.c"
#include "kernels/narrow_f32.c"
#include "kernels/patch_i8.c"
#include "kernels/pool_f32.c"
#include "kernels/reduce_f32.c"
#include "kernels/transpose_f32.c"
#include "kernels/transpose_u8.c"

#include LEVEL_QUADS
#include LEVEL_VBMI
