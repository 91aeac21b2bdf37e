// kernel_recurrent_f32.c - LSTM, GRU and RNN of f32, one row each: see recurrence.h. Of GRU, that whose candidate is
// reset after the product (linear_before_reset).
#include "runtime/recurrence.h"

#define RECURRENT(id_, gates_, has_cells_, bias_apart_)                                                       \
    static void id_##_step(const HoloKernels *kernels, const HoloCellStep *s)                                 \
    {                                                                                                         \
        kernels->id_##_step_f32(s);                                                                           \
    }                                                                                                         \
    static const HoloRecurrentKind id_ = {#id_ "_f32", gates_, has_cells_, bias_apart_, id_##_step};          \
    static HoloStatus              id_##_check(const HoloCall *call, size_t *out_scratch)                     \
    {                                                                                                         \
        return holo_recurrent_check(call, &id_, out_scratch);                                                 \
    }                                                                                                         \
    static HoloStatus id_##_run(HoloCall *call)                                                               \
    {                                                                                                         \
        return holo_recurrent_run(call, &id_);                                                                \
    }                                                                                                         \
    static int64_t id_##_packed_size(const HoloCall *call, int input)                                         \
    {                                                                                                         \
        return holo_recurrent_packed_size(call, &id_, input);                                                 \
    }                                                                                                         \
    const HoloKernel holo_kernel_##id_##_f32 = {HOLO_KERNEL_##id_##_f32, #id_ "_f32", id_##_check, id_##_run, \
                                                id_##_packed_size};

RECURRENT(lstm, 4, true, false)
RECURRENT(gru, 3, false, true)
RECURRENT(rnn, 1, false, false)
