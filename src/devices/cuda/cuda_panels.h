// cuda_panels.h - weights that the archive has as the CPU reads them, in panels of 16 columns or filters, as rows for the
// kernels of a GPU.
#ifndef HOLO_DEVICES_CUDA_CUDA_PANELS_H
#define HOLO_DEVICES_CUDA_CUDA_PANELS_H

#include "devices/cuda/cuda_kernel.h"
#include "kernels/kernels.h"

struct HoloCudaPanels {
    int64_t  rows, k, row;   // of the GPU's form: rows of k numbers in room for `row`
    int64_t  depth;          // numbers of a column in the panels
    int64_t  channels, real; // number i of a row is channel i % channels of tap i / channels; `real` are in the panels
    uint32_t type;           // of the panels: HOLO_WEIGHTS_F16, HOLO_WEIGHTS_BF16; 0: f32
    uint8_t  store;          // of the rows: HOLO_CUDA_F32, HOLO_CUDA_F16, HOLO_CUDA_BF16
    bool     is_tf32;        // rows are rounded to tf32
    int64_t  panel_bytes, bytes; // of all panels, and of all rows
};

// The panels of weights of that type, for a step with these parameters, whose flags say that they are panels. False: they
// cannot be.
bool holo_cuda_panels(const HoloCudaStepParams *params, const HoloTensor *w, HoloCudaPanels *out);
// Does a transfer of a constant of `size` bytes turn panels into rows, of that type? Then *out says how.
HOLO_MUST HoloStatus holo_cuda_panels_read(const HoloCall *call, uint8_t store, size_t size, HoloCudaPanels *out,
                                           bool *out_turns);
// Writes `count` rows that begin with row `first`, which is a multiple of 16.
void holo_cuda_panels_turn(const HoloCudaPanels *p, const void *panels, int64_t first, int64_t count, void *out);

#endif
