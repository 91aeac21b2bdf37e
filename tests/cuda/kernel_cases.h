// kernel_cases.h - the graphs of cuda_kernels_test.c: what kernels of GPUs are run on.
#ifndef TESTS_CUDA_KERNEL_CASES_H
#define TESTS_CUDA_KERNEL_CASES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct KernelCase {
    const char *inputs, *body; // `$` is a size
    double      within;        // how far f32 may be off; 0: the same numbers
    int64_t     limit;         // integers of i64 and i32 are indices, from -limit to limit - 1
    int         least, most;   // sizes; most 0: 300
    bool        is_hard;       // NaN, infinities, many equal numbers
    const char *outputs;       // NULL: y
} KernelCase;

static const KernelCase kernel_cases[] = {
    // moves and lookups
    {.inputs = "x: f32[3,$,5]", .body = "y = Transpose@13(x) {perm=[2,0,1]}", .is_hard = true},
    {.inputs = "x: i8[2,$,3,4]", .body = "y = Transpose@13(x) {perm=[3,1,0,2]}"},
    {.inputs = "x: i64[$,7]", .body = "y = Transpose@13(x)"},
    {.inputs = "x: f32[2,$], z: f32[2,3]", .body = "y = Concat@13(x, z, x) {axis=1}", .is_hard = true},
    {.inputs = "x: f32[2,$]", .body = "const p: i64[4] = {1, 2, 0, 3}\n    y = Pad@18(x, p)"},
    {.inputs = "x: f32[$,6], i: i64[3,5]", .body = "y = Gather@13(x, i) {axis=1}", .limit = 6, .is_hard = true},
    {.inputs = "x: f32[9,$], i: i32[17]", .body = "y = Gather@13(x, i)", .limit = 9},
    {.inputs = "x: u8[9,$], i: i32[17]", .body = "y = Gather@13(x, i)", .limit = 9},
    {.inputs = "x: f32[3,8,$], i: i64[2,5,$]", .body = "y = GatherElements@13(x, i) {axis=1}", .limit = 8},
    // along an axis
    {.inputs = "x: f32[2,$,3]", .body = "y = ArgMax@13(x) {axis=1}", .least = 1, .is_hard = true, .most = 4096},
    {.inputs  = "x: f32[5,$]",
     .body    = "y = ArgMin@13(x) {axis=1, select_last_index=1}",
     .least   = 1,
     .is_hard = true,
     .most    = 4096},
    {.inputs = "x: f32[2,$,3]", .body = "const a: i64[] = {1}\n    y = CumSum@14(x, a)", .within = 1e-5},
    {.inputs = "x: f32[2,$]",
     .body   = "const a: i64[] = {-1}\n    y = CumSum@14(x, a) {reverse=1, exclusive=1}",
     .within = 1e-5},
    {.inputs = "x: f32[3,$,2]",
     .body   = "const a: i64[1] = {1}\n    y = ReduceSum@13(x, a)",
     .within = 1e-4,
     .least  = 1},
    {.inputs = "x: f32[3,$]", .body = "y = ReduceMax@13(x) {axes=[1]}", .least = 1, .is_hard = true, .most = 4096},
    {.inputs = "x: f32[3,$]", .body = "y = ReduceMin@13(x) {axes=[1], keepdims=0}", .least = 1},
    {.inputs = "x: f32[3,$]", .body = "y = ReduceMean@13(x) {axes=[1]}", .within = 1e-5, .least = 1},
    {.inputs = "x: f32[3,$]", .body = "y = ReduceL2@13(x) {axes=[1]}", .within = 1e-5, .least = 1},
    {.inputs = "x: f32[3,$]", .body = "y = ReduceLogSumExp@13(x) {axes=[1]}", .within = 1e-5, .least = 1, .most = 4096},
    {.inputs = "x: f32[3,$]", .body = "y = ReduceProd@13(x) {axes=[1]}", .within = 1e-5, .least = 1},
    // rows and windows
    {.inputs = "x: f32[5,$]", .body = "y = Softmax@13(x)", .within = 1e-5, .most = 4096},
    {.inputs = "x: f32[2,$,3]", .body = "y = Softmax@13(x) {axis=1}", .within = 1e-5},
    {.inputs = "x: f32[5,$]", .body = "y = LogSoftmax@13(x)", .within = 1e-5, .most = 4096},
    {.inputs = "x: f32[4,$], s: f32[$], b: f32[$]",
     .body   = "y = LayerNormalization@17(x, s, b)",
     .within = 1e-4,
     .least  = 15,
     .most   = 4096},
    {.inputs = "x: f32[4,$], s: f32[$]",
     .body   = "y = RMSNormalization@23(x, s)",
     .within = 1e-4,
     .least  = 15,
     .most   = 4096},
    {.inputs = "x: f32[2,6,$], s: f32[6], b: f32[6]",
     .body   = "y = GroupNormalization@21(x, s, b) {num_groups=3}",
     .within = 1e-4,
     .least  = 15},
    {.inputs = "x: f32[2,6,$], s: f32[6], b: f32[6]",
     .body   = "y = InstanceNormalization@6(x, s, b)",
     .within = 1e-4,
     .least  = 15},
    {.inputs  = "x: f32[2,3,9,$]",
     .body    = "y = MaxPool@12(x) {kernel_shape=[3,2], strides=[2,1], pads=[1,0,1,1]}",
     .least   = 15,
     .most    = 300,
     .is_hard = true},
    {.inputs = "x: f32[2,3,9,$]",
     .body   = "y = AveragePool@11(x) {kernel_shape=[3,2], pads=[1,0,1,1]}",
     .within = 1e-5,
     .least  = 15,
     .most   = 300},
    {.inputs = "x: f32[1,2,5,$]",
     .body   = "const s: f32[4] = {1, 1, 2, 1.5}\n    y = Resize@13(x, _, s) {mode=\"linear\"}",
     .within = 1e-5,
     .least  = 15,
     .most   = 300},
    {.inputs = "x: f32[1,2,5,$]",
     .body   = "const s: f32[4] = {1, 1, 2, 1.5}\n    y = Resize@13(x, _, s) {mode=\"nearest\"}",
     .least  = 15,
     .most   = 300},
};

typedef struct RefusedCase { // of x: f32[4] and i: i64[2]
    const char *body;
    int64_t     index; // that is out of range
} RefusedCase;

static const RefusedCase refused_cases[] = {
    {"y = Gather@13(x, i)", 4},
    {"y = Gather@13(x, i)", -5},
    {"y = GatherElements@13(x, i)", 4},
    {"y = GatherElements@13(x, i)", INT64_MIN},
};

#endif
