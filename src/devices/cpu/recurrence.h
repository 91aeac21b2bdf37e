// recurrence.h - what LSTM, GRU and RNN share. They differ in the number of gates, the arithmetic of a step, and the
// type of the products with the weights.
#ifndef HOLO_DEVICES_CPU_RECURRENCE_H
#define HOLO_DEVICES_CPU_RECURRENCE_H

#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"

typedef struct HoloRecurrentLayer HoloRecurrentLayer;

// Memory that is laid out piece by piece, in floats. `base` NULL: it is only counted.
typedef struct HoloShare {
    float  *base;
    int64_t used;
    bool    over; // more than is possible
} HoloShare;

// The next piece, of a * b * c * d floats; NULL if there is no base.
float *holo_share_take(HoloShare *share, int64_t a, int64_t b, int64_t c, int64_t d);

// Some groups of 16 units in one direction, and some rows: of the batch, or of a chunk of inputs.
typedef struct HoloGateBlock {
    int64_t direction, group, groups, row, rows;
} HoloGateBlock;

// Products of inputs and states with the weights of all gates.
typedef struct HoloGateProducts {
    // Checks W, R and what belongs to them. Sets the sizes of the layer that follow from R.
    HoloStatus (*check)(const HoloCall *call, HoloRecurrentLayer *l);
    int64_t (*packed_size)(const HoloRecurrentLayer *l, int64_t k);     // bytes of weights; -1: too many
    void (*share)(HoloRecurrentLayer *l, HoloShare *own, HoloShare *s); // memory of each worker's own, and of all
    void (*pack)(const HoloRecurrentLayer *l, int64_t direction, int64_t group); // what does not come packed
    void (*start)(HoloRecurrentLayer *l);                                        // when all is packed
    void (*state)(HoloRecurrentLayer *l);                                        // before each product with a state
    // Computes the inputs' part of the gates into `in`. Rows are those of the current chunk.
    void (*inputs)(const HoloRecurrentLayer *l, const HoloGateBlock *b, float *own);
    // Computes the state's part, [groups][rows][gates of the part][16], in memory of the worker; with several rows, one
    // group.
    const float *(*sums)(const HoloRecurrentLayer *l, const HoloGateBlock *b, float *own);
} HoloGateProducts;

extern const HoloGateProducts holo_gates_f32, holo_gates_i8;

typedef struct HoloRecurrentKind {
    const char             *name; // of the kernel
    const HoloGateProducts *products;
    int                     gates;
    bool                    has_cells;  // beside the state there is a second one, input 6 and output 2
    bool                    bias_apart; // the last gate's bias of R is not added to what the inputs give
    bool resets_first; // a step is two products: that of the last gate takes the state behind the gate before
    void (*step)(const HoloKernelTable *kernels, int part, const HoloCellStep *step); // part: which of the products
} HoloRecurrentKind;

typedef struct HoloQuantum { // 256 steps that cover some numbers and 0
    float scale;
    int   zero;
} HoloQuantum;

typedef struct HoloGateTerms { // of weights of 8 bits, [directions][groups][gates][16]: see recurrence_i8.c
    int32_t *zero, *base;
    float   *scale;
    float   *bias; // [directions][2][width], of which the first are added; NULL: none
} HoloGateTerms;

struct HoloRecurrentLayer {
    const HoloHost          *host;
    const HoloRecurrentKind *kind;
    const HoloTensor        *w_tensor, *r_tensor;
    const float             *x, *bias, *h_first, *c_first;                   // the last three may be NULL
    const void              *w, *r;                                          // packed, once the layer has started
    const int32_t           *lengths;                                        // NULL: all sequences are whole
    float                   *y, *h_last, *c_last;                            // each may be NULL
    int64_t                  times, batch, inputs, hidden, directions, sums; // sums: of one row, all gates
    int64_t                  groups, width;                                  // of 16 units; floats of a row of gates
    bool                     reverse[2], packed_w, packed_r, has_y;
    // Memory that all workers share:
    float  *base;                          // where it begins: the scratch of the first worker; NULL: not laid out yet
    float  *biases;                        // [directions][2][width]: of the inputs' part, of the state's
    float  *in;                            // [directions][chunk * batch][width]: what the inputs give
    float  *cells;                         // [directions][batch][groups * 16]
    float  *nothing;                       // [batch][hidden]: zeros
    float  *states;                        // [directions][2][batch][hidden]: of steps by turns, where there is no Y
    float  *resets;                        // [directions][batch][hidden]: the state behind the reset gate
    void   *panels_w, *panels_r;           // where they do not come packed
    int64_t chunk;                         // steps whose inputs are multiplied at once
    int64_t from, to;                      // steps of the chunk in work
    int64_t step;                          // in work
    int     part;                          // of it: which product
    int64_t row_tiles, tile_rows, columns; // of the inputs' product; columns: tiles of them
    int64_t tile_groups, tiles;            // of a step
    // Of products of 8 bits:
    const HoloTensor *w_scale, *w_zero, *r_scale, *r_zero;
    HoloGateTerms     terms_w, terms_r;
    HoloQuantum       quantum_x, quantum[2]; // of the inputs, and of the state of each direction
    uint8_t          *bytes;                 // [batch][hidden]: a state, rounded
    char             *rows;                  // [directions][batch]: the same, as gemm_i8 takes it
    int32_t          *row_sums;              // [directions][batch]
};

// The gates of a step's first product, or of its second, which has one.
int holo_layer_gates(const HoloRecurrentLayer *l, int part);
// The state [batch][hidden] that R is multiplied by, for the current part and step.
const float *holo_layer_state(const HoloRecurrentLayer *l, int64_t direction);
// The inputs of the current chunk, and where their part of the gates goes; in one direction.
const float *holo_layer_x(const HoloRecurrentLayer *l, int64_t direction);
float       *holo_layer_in(const HoloRecurrentLayer *l, const HoloGateBlock *b);

// Checks that weights have the sizes that follow from X and R.
HOLO_MUST HoloStatus holo_layer_expect(const HoloCall *call, const HoloTensor *t, const char *what, int rank,
                                       const int64_t *dim);

// The functions of a kernel; see devices/cpu/kernel.h.
HOLO_MUST HoloStatus holo_recurrent_prepare(const HoloCall *call, const HoloRecurrentKind *kind, HoloRecurrentLayer *l,
                                            size_t *out_scratch);
HOLO_MUST HoloStatus holo_recurrent_run(HoloCall *call, void *layer);
int64_t              holo_recurrent_packed_size(const HoloCall *call, const void *layer, int input);

#endif
