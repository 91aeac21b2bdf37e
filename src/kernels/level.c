// level.c - compiled once for each row of LEVELS, with that level's flags, -DHOLO_LEVEL=<name> and
// -DHOLO_EXACT=<0 or 1>; exports one table, holo_kernels_<level> or holo_kernels_<level>_exact, a second
// one where some CPUs of the level have more, and nothing else: code of one level can then never be linked into another.
#include "kernels/kernels.h"
#include "kernels/vec.h"
#include "kernels/vec_bytes.h"
#include "kernels/vec_lanes.h"
#include "kernels/vec_math.h"
#include "kernels/vec_narrow.h"

#include "kernels/conv_f32.c"
#include "kernels/gemm_f32.c"
#include "kernels/peer_f32.c"
#include "kernels/quantize_i8.c"

#include "kernels/gemm_i8.c"

#include "kernels/attention_f32.c"
#include "kernels/bytes_i8.c"
#include "kernels/depthwise_i8.c"
#include "kernels/depthwise_nhwc_f32.c"
#include "kernels/dots_f32.c"
#include "kernels/gemm_bits_f32.c"
#include "kernels/gemm_bits_i8.c"
#include "kernels/grid_f32.c"
#include "kernels/grouped_nhwc_f32.c"
#include "kernels/last_f32.c"
#include "kernels/lookup_u8.c"
#include "kernels/map_f32.c"
#include "kernels/narrow_f32.c"
#include "kernels/patch_i8.c"
#include "kernels/pool_f32.c"
#include "kernels/recurrent_f32.c"
#include "kernels/reduce_f32.c"
#include "kernels/resize_f32.c"
#include "kernels/rotary_f32.c"
#include "kernels/rows_f32.c"
#include "kernels/runs_nhwc_f32.c"
#include "kernels/softmax_f32.c"
#include "kernels/transpose_f32.c"
#include "kernels/transpose_u8.c"
#include "kernels/winograd_f32.c"

#include "kernels/winograd_line_f32.c"

#define TEXT_(x)             #x
#define TEXT(x)              TEXT_(x)
#define TABLE_(level, exact) TABLE_##exact(level)
#define TABLE_0(level)       holo_kernels_##level
#define TABLE_1(level)       holo_kernels_##level##_exact
#define TABLE(level, exact)  TABLE_(level, exact)

extern const HoloKernels TABLE(HOLO_LEVEL, HOLO_EXACT);

const HoloKernels TABLE(HOLO_LEVEL, HOLO_EXACT) = {
    .level = TEXT(HOLO_LEVEL),
    .exact = HOLO_EXACT,
#define KERNEL(name, ret, args) .name = name,
#include "kernels/kernels.def"
#undef KERNEL
};

#include LEVEL_EXTRA
#include LEVEL_MORE
