// cuda_waiting.h - steps of a recording that are launched together, once it is known that the next one cannot join them.
#ifndef HOLO_DEVICES_CUDA_CUDA_WAITING_H
#define HOLO_DEVICES_CUDA_CUDA_WAITING_H

#include "devices/cuda/cuda_kernel.h"

typedef struct HoloCudaWaiting {
    int             count;
    HoloCudaStep    step; // all of them
    const char     *name;
    const HoloCall *call; // of the last
    struct {
        uintptr_t from, to;
        bool      is_out;
    } used[64]; // bytes that they read and write
    int used_count;
} HoloCudaWaiting;

// Makes one launch of those that wait and of a step, whose addresses are filled in: if they run the same kernel and do not need
// each other; or if the one that waits is a product that the step is the gate's other half of. False: they stay as they are.
bool holo_cuda_waiting_join(HoloCudaWaiting *w, uint8_t store, const HoloCall *call, const HoloCudaStep *step);
// Remembers which bytes a step uses that waits now. `store`: how f32 lies in memory. False: there is no room to.
bool holo_cuda_waiting_note(HoloCudaWaiting *w, uint8_t store, const HoloCall *call);

#endif
