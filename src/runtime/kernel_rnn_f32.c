// kernel_rnn_f32.c - RNN of f32: see recurrence.h.
#include "runtime/recurrence.h"

static void step(const HoloKernels *kernels, const HoloCellStep *s)
{
    kernels->rnn_step_f32(s);
}

static const HoloRecurrentKind kind = {
    .name = "rnn_f32", .gates = 1, .has_cells = false, .bias_apart = false, .step = step};

static HoloStatus check(const HoloCall *call, size_t *out_scratch)
{
    return holo_recurrent_check(call, &kind, out_scratch);
}

static HoloStatus run(HoloCall *call)
{
    return holo_recurrent_run(call, &kind);
}

static int64_t packed_size(const HoloCall *call, int input)
{
    return holo_recurrent_packed_size(call, &kind, input);
}

const HoloKernel holo_kernel_rnn_f32 = {
    .id          = HOLO_KERNEL_rnn_f32,
    .name        = "rnn_f32",
    .check       = check,
    .run         = run,
    .packed_size = packed_size,
};
