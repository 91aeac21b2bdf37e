// index_params.h - what the kernels of top.cu and scatter.cu are told: one struct, passed by value. Plain C, for host and device.
#ifndef HOLO_DEVICES_CUDA_CODE_INDEX_PARAMS_H
#define HOLO_DEVICES_CUDA_CODE_INDEX_PARAMS_H

#include "basic_params.h"

// The first k along the middle of [outer][size][inner], in order; of equal elements that with the lower index is first. A block
// takes row after row.
enum { HOLO_CUDA_TOP_KEPT = 2048 }; // so many are put in order in shared memory
typedef struct HoloCudaTop {
    const void *from;
    void       *values;  // NULL: nobody wants them
    int64_t    *indices; // the same
    uint64_t   *keys;    // workspace for `room` elements of each block, if they do not fit into shared memory
    uint32_t   *places;  // the same
    int64_t     rows, inner, size, k;
    int64_t     room;     // a power of 2: what is put in order fits into it
    uint64_t    infinity; // the bits of a float's infinity; 0: elements are integers
    uint8_t     element;  // bytes: 1, 2, 4 or 8
    uint8_t     is_signed, is_largest;
    uint8_t     is_all; // all elements are put in order; otherwise the first k are found before
    uint8_t     unused[4];
} HoloCudaTop;

// y = x, but for places that indices name: y[place] = x[place] `how` all its updates, in their order. x and y are [places][run],
// updates [count][run]. Each place has a list of its updates in the workspace.
enum { HOLO_CUDA_PUT, HOLO_CUDA_PUT_ADD, HOLO_CUDA_PUT_MUL, HOLO_CUDA_PUT_MIN, HOLO_CUDA_PUT_MAX };
typedef struct HoloCudaScatter {
    const void *x, *index, *updates;
    void       *y;
    uint32_t   *status; // becomes 1 if an index is out of range
    int32_t    *head;   // the first update of each place, or -1
    int32_t    *next;   // the one behind each update, or -1
    int64_t     count, places, run;
    int64_t     size[HOLO_CUDA_RANK];   // tuples: the limit of each number; otherwise sizes of the indices
    int64_t     stride[HOLO_CUDA_RANK]; // of x
    int64_t     limit;                  // of an index along `axis`
    int32_t     rank, axis;             // axis -1: indices are tuples of `rank` numbers
    int32_t     index_bytes, element;
    uint8_t     how, is_float, x_type, update_type, y_type, unused[3];
} HoloCudaScatter;

// to[batch][tuple] = from[batch][the place of the tuple], in rows of `run` units of 1 to 16 bytes.
typedef struct HoloCudaTuples {
    const void *from, *index;
    void       *to;
    uint32_t   *status; // becomes 1 if an index is out of range
    int64_t     count, tuples, places, run;
    int64_t     size[HOLO_CUDA_RANK];
    int32_t     depth, index_bytes, unit;
    uint8_t     converts, to_type, unused[2]; // f32 that becomes another type
} HoloCudaTuples;

// to[outer][depth][inner] = index[outer][inner] is the place along depth ? values[1] : values[0]. An index beyond depth is nowhere.
typedef struct HoloCudaOneHot {
    const void *index, *values;
    void       *to;
    int64_t     count, depth, inner;
    int32_t     index_bytes, element;
    uint8_t     is_float, value_type, to_type, unused[5];
} HoloCudaOneHot;

#endif
