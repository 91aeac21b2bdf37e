// level.c - the kernels that depend on the numeric class, compiled once for each row of LEVELS, with that level's
// flags, -DHOLO_LEVEL=<name> and -DHOLO_EXACT=<0 or 1>; exports one table, holo_kernels_<level> or
// holo_kernels_<level>_exact, others where some CPUs of the level have more, and nothing else: code of one level can
// then never be linked into another.
#include "kernels/levels/level.h"
#include "kernels/vec/vec.h"
#include "kernels/vec/vec_bytes.h"
#include "kernels/vec/vec_lanes.h"
#include "kernels/vec/vec_math.h"
#include "kernels/vec/vec_narrow.h"

#include "kernels/f32/gemm_f32.c"
#include "kernels/f32/gemm_line_f32.c"

#include "kernels/f32/attention_f32.c"
#include "kernels/f32/depthwise_f32.c"
#include "kernels/f32/depthwise_nhwc_f32.c"
#include "kernels/f32/dots_f32.c"
#include "kernels/f32/gemm_bits_f32.c"
#include "kernels/f32/grouped_nhwc_f32.c"
#include "kernels/f32/last_f32.c"
#include "kernels/f32/map_f32.c"
#include "kernels/f32/recurrent_f32.c"
#include "kernels/f32/resize_f32.c"
#include "kernels/f32/rotary_f32.c"
#include "kernels/f32/rows_f32.c"
#include "kernels/f32/runs_nhwc_f32.c"
#include "kernels/f32/softmax_f32.c"
#include "kernels/f32/winograd_f32.c"
#include "kernels/f32/winograd_line_f32.c"

#define TABLE_(level, exact) TABLE_##exact(level)
#define TABLE_0(level)       holo_kernels_##level
#define TABLE_1(level)       holo_kernels_##level##_exact
#define TABLE(level, exact)  TABLE_(level, exact)

#define TABLE_LEVEL HOLO_LEVEL
#include "kernels/levels/level_table.c"

#include LEVEL_MORE
#include LEVEL_MOST
#include LEVEL_BF16
