// kernel_gru_f32.c - GRU whose candidate is reset after the product (linear_before_reset) of f32: see recurrence.h.
#include "runtime/recurrence.h"

static void step(const HoloKernels *kernels, const HoloCellStep *s)
{
    kernels->gru_step_f32(s);
}

static const HoloRecurrentKind kind = {
    .name = "gru_f32", .gates = 3, .has_cells = false, .bias_apart = true, .step = step};

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

const HoloKernel holo_kernel_gru_f32 = {
    .id          = HOLO_KERNEL_gru_f32,
    .name        = "gru_f32",
    .check       = check,
    .run         = run,
    .packed_size = packed_size,
};
