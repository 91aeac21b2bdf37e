// level.c - the kernels that depend on the numeric class, compiled once for each row of LEVELS, with that level's flags,
// -DHOLO_LEVEL=<name> and -DHOLO_EXACT=<0 or 1>; exports one table, holo_kernels_<level> or holo_kernels_<level>_exact, others
// where some CPUs of the level have more, and nothing else: code of one level can then never be linked into another.
#include "kernels/level.h"
#include "kernels/vec.h"
#include "kernels/vec_bytes.h"
#include "kernels/vec_lanes.h"
#include "kernels/vec_math.h"
#include "kernels/vec_narrow.h"

#include "kernels/gemm_f32.c"

#include "kernels/attention_f32.c"
#include "kernels/depthwise_f32.c"
#include "kernels/depthwise_nhwc_f32.c"
#include "kernels/dots_f32.c"
#include "kernels/gemm_bits_f32.c"
#include "kernels/gemm_bits_i8.c"
#include "kernels/grouped_nhwc_f32.c"
#include "kernels/last_f32.c"
#include "kernels/map_f32.c"
#include "kernels/recurrent_f32.c"
#include "kernels/resize_f32.c"
#include "kernels/rotary_f32.c"
#include "kernels/rows_f32.c"
#include "kernels/runs_nhwc_f32.c"
#include "kernels/softmax_f32.c"
#include "kernels/winograd_f32.c"

#include "kernels/winograd_line_f32.c"

#define TABLE_(level, exact) TABLE_##exact(level)
#define TABLE_0(level)       holo_kernels_##level
#define TABLE_1(level)       holo_kernels_##level##_exact
#define TABLE(level, exact)  TABLE_(level, exact)

#define TABLE_LEVEL HOLO_LEVEL
#include "kernels/level_table.c"

#include LEVEL_MORE
#include LEVEL_MOST
