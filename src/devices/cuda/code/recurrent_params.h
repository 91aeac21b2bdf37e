// recurrent_params.h - what the kernels of recurrent.cu are told: one struct, passed by value. Plain C, for host and device.
#ifndef HOLO_DEVICES_CUDA_CODE_RECURRENT_PARAMS_H
#define HOLO_DEVICES_CUDA_CODE_RECURRENT_PARAMS_H

#include "cuda_params.h"

// One step in time of LSTM, GRU or RNN, in all directions. A warp has one unit of one sequence. Strides are in elements.
enum { HOLO_CUDA_RNN, HOLO_CUDA_GRU, HOLO_CUDA_LSTM };
typedef struct HoloCudaRecurrent {
    const float *from_x;          // W * x and its bias: [directions], then lines of [gates * hidden]
    const void  *r, *bias;        // [directions][gates * hidden][hidden]; [directions][2][gates * hidden], or NULL
    const void  *h_from, *c_from; // the state before; NULL: zeros
    float       *h_to, *c_to;     // and after: [directions][batch][hidden]
    float       *kept;            // GRU that resets before its product: the update gate, like h_to
    float       *reset;           // and the state behind the reset gate
    void        *y, *y_h, *y_c;   // NULL: nobody wants them, or it is not the last step
    int64_t      times, time, batch, hidden;
    int64_t      from_stride[2];                            // of h_from and c_from: direction, batch
    int64_t      x_stride[3];                               // of from_x: direction, time, batch
    int64_t      y_stride[3];                               // direction, time, batch
    int64_t      last_stride[2];                            // of y_h and y_c: direction, batch
    uint8_t      kind, gates, is_reverse[2];                // of each direction
    uint8_t      r_type, bias_type, h_type, c_type, y_type; // h_type, c_type: of the state before
    uint8_t      resets_before, unused[6];
} HoloCudaRecurrent;

#endif
