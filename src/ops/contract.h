// contract.h - the sum of products behind MatMul, Gemm, Einsum, every convolution and MatMulNBits.
//
//     out[batch][row][col] = finish(sum over k of a[batch][row][k] * b[batch][k][col])
//
// An operator says how rows of a and b are read as wide numbers. The loop over tiles, the order of the sums and the
// threads are here. Sums run over k from 0 upwards, in double or in wrapping 64-bit integers, and are rounded once,
// when they are written.
#ifndef HOLO_OPS_CONTRACT_H
#define HOLO_OPS_CONTRACT_H

#include "ops/op.h"

#include <math.h>

typedef union HoloCell { // a wide number: `f` unless HoloContract.integer
    double   f;
    uint64_t u;
    int64_t  i;
} HoloCell;

enum { HOLO_CONTRACT_ROWS = 32, HOLO_CONTRACT_COLS = 128, HOLO_CONTRACT_DEPTH = 32 }; // of a tile

typedef struct HoloContract HoloContract;
struct HoloContract {
    int64_t batch, rows, cols, depth;
    bool    integer;

    // out[p] = a[batch][row][k + p] and out[j] = b[batch][k][col + j], for at most a tile's length.
    void (*a)(const HoloContract *c, int64_t batch, int64_t row, int64_t k, int64_t count, HoloCell *out);
    void (*b)(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count, HoloCell *out);
    // out[p] = b[batch][k + p][col], for products with few columns. NULL: `b` is called instead.
    void (*b_down)(const HoloContract *c, int64_t batch, int64_t k, int64_t col, int64_t count, HoloCell *out);
    // Turns finished sums of one row into results: bias, scale, activation. NULL: the sums are the results.
    void (*finish)(const HoloContract *c, int64_t batch, int64_t row, int64_t col, int64_t count, HoloCell *sums);
    const void       *arg; // for the functions above
    const HoloTensor *x;   // for holo_contract_rows: what its `a` reads

    HoloTensor *out;   // dense [batch][rows][cols]; or
    HoloCell   *cells; // if `out` is NULL: the same in wide numbers
};

void   holo_contract(const HoloCall *call, const HoloContract *c);
double holo_contract_at(const HoloContract *c, int64_t index); // one element of it, not rounded

// Input 0, [..., depth], times one matrix [depth][cols] that `b` reads in its operator's own way: gives the type of
// output 0 and, when evaluating, the product.
HOLO_MUST HoloStatus holo_contract_infer(HoloCall *call, HoloDim depth, HoloDim cols);
HoloContract         holo_contract_rows(const HoloCall *call, int64_t depth, int64_t cols, const void *arg);

// A sum of products of quantized numbers with step `scale`, in steps of `y_scale`. It is computed in float: if scales
// are multiples of each other, ties are common, and only this way do they round alike.
static inline double holo_requantize(double sum, double scale, double y_scale)
{
    return rintf((float)sum * ((float)scale / (float)y_scale));
}

// Elements as cells: integers if `integer`, else doubles.
static inline void holo_cells_read(const HoloTensor *t, bool integer, int64_t start, int64_t stride, int64_t count,
                                   HoloCell *out)
{
    if (integer)
        holo_read_i(t, start, stride, count, &out->i);
    else
        holo_read_f(t, start, stride, count, &out->f);
}

static inline void holo_cells_write(HoloTensor *t, bool integer, int64_t start, int64_t count, const HoloCell *x)
{
    if (integer)
        holo_write_i(t, start, 1, count, &x->i);
    else
        holo_write_f(t, start, 1, count, &x->f);
}

// Must values of this dtype be computed as integers?
static inline bool holo_dtype_is_integer(int dtype)
{
    HoloClass class = holo_dtype_class((HoloDtype)dtype);
    return class == HOLO_CLASS_INT || class == HOLO_CLASS_UINT;
}

#endif
