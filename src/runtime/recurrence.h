// recurrence.h - LSTM, GRU and RNN of f32 as one: what differs is the number of gates and a step's arithmetic.
#ifndef HOLO_RUNTIME_RECURRENCE_H
#define HOLO_RUNTIME_RECURRENCE_H

#include "kernels/kernels.h"
#include "runtime/kernel.h"

typedef struct HoloRecurrentKind {
    const char *name; // of the kernel
    int         gates;
    bool        has_cells;    // beside the state there is a second one, input 6 and output 2
    bool        bias_apart;   // the last gate's bias of R is not added to what the inputs give
    bool        resets_first; // a step is two products: that of the last gate takes the state behind the gate before
    void (*step)(const HoloKernels *kernels, int part, const HoloCellStep *step); // part: which of the products
} HoloRecurrentKind;

// The functions of a kernel; see runtime/kernel.h.
HOLO_MUST HoloStatus holo_recurrent_check(const HoloCall *call, const HoloRecurrentKind *kind, size_t *out_scratch);
HOLO_MUST HoloStatus holo_recurrent_run(const HoloCall *call, const HoloRecurrentKind *kind);
int64_t              holo_recurrent_packed_size(const HoloCall *call, const HoloRecurrentKind *kind, int input);

#endif
