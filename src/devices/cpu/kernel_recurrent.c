// kernel_recurrent.c - the rows for LSTM, GRU and RNN: see recurrence.h. There are two for GRU: one resets the
// candidate after the product (linear_before_reset), the other resets the state before it.
#include "devices/cpu/recurrence.h"

static void lstm_step(const HoloKernelTable *kernels, int part, const HoloCellStep *s)
{
    (void)part;
    kernels->lstm_step_f32(s);
}

static void gru_step(const HoloKernelTable *kernels, int part, const HoloCellStep *s)
{
    (void)part;
    kernels->gru_step_f32(s);
}

static void gru_reset_step(const HoloKernelTable *kernels, int part, const HoloCellStep *s)
{
    (part ? kernels->gru_fresh_f32 : kernels->gru_reset_f32)(s);
}

static void rnn_step(const HoloKernelTable *kernels, int part, const HoloCellStep *s)
{
    (void)part;
    kernels->rnn_step_f32(s);
}

#define RECURRENT(id_, step_, ...)                                                                     \
    static const HoloRecurrentKind id_ = {.name = #id_, .step = step_, __VA_ARGS__};                   \
    static HoloStatus              id_##_prepare(const HoloCall *call, void *job, size_t *out_scratch) \
    {                                                                                                  \
        return holo_recurrent_prepare(call, &id_, job, out_scratch);                                   \
    }                                                                                                  \
    const HoloCpuKernel holo_kernel_##id_ = {                                                          \
        .id          = HOLO_KERNEL_##id_,                                                              \
        .name        = #id_,                                                                           \
        .job_size    = sizeof(HoloRecurrentLayer),                                                     \
        .prepare     = id_##_prepare,                                                                  \
        .run         = holo_recurrent_run,                                                             \
        .packed_size = holo_recurrent_packed_size,                                                     \
    };

RECURRENT(lstm_f32, lstm_step, .products = &holo_gates_f32, .gates = 4, .has_cells = true)
RECURRENT(lstm_i8, lstm_step, .products = &holo_gates_i8, .gates = 4, .has_cells = true)
RECURRENT(gru_f32, gru_step, .products = &holo_gates_f32, .gates = 3, .bias_apart = true)
RECURRENT(gru_reset_f32, gru_reset_step, .products = &holo_gates_f32, .gates = 3, .resets_first = true)
RECURRENT(rnn_f32, rnn_step, .products = &holo_gates_f32, .gates = 1)
