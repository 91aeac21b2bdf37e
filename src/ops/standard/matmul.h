// matmul.h - products of stacks of matrices, for MatMul, Gemm and their quantized relatives.
#ifndef HOLO_OPS_STANDARD_MATMUL_H
#define HOLO_OPS_STANDARD_MATMUL_H

#include "ops/contract.h"

// A tensor seen as a stack of matrices: dimension d of the view is dimension axis[d] of the tensor, or a
// 1 that the tensor does not have where axis[d] is -1. A view has at least 2 dimensions.
typedef struct HoloMatrix {
    const HoloTensor *t;
    int               rank;
    int               axis[HOLO_MAX_RANK];
} HoloMatrix;

// NumPy's view of an operand: a vector is a row on the left and a column on the right.
HOLO_MUST HoloStatus holo_matrix_view(const HoloCall *call, int input, bool right, HoloMatrix *out);
void                 holo_matrix_transpose(HoloMatrix *m); // the last two dimensions change places

// What is added to a product of these sizes, where it is given: at most a matrix, and never larger than the product.
HOLO_MUST HoloStatus holo_matmul_addend(const HoloCall *call, int input, int rank, const HoloDim *dim);

// The shape of the product: broadcast stack, rows, columns. A vector has no rows or no columns, and these are left out.
HOLO_MUST HoloStatus holo_matmul_shape(const HoloCall *call, const HoloMatrix *a, const HoloMatrix *b, int *out_rank,
                                       HoloDim *out_dim);

// One number for all, for each line (row of a, column of b), or for each line of each matrix.
typedef struct HoloLines {
    const HoloTensor *t; // NULL: `fallback`
    int64_t           line, batch;
    double            fallback;
} HoloLines;
HOLO_MUST HoloStatus holo_lines_init(const HoloCall *call, int input, int64_t lines, int64_t batch, double fallback,
                                     HoloLines *out);
static inline double holo_lines_at(const HoloLines *l, int64_t batch, int64_t line)
{
    return l->t ? holo_get_f(l->t, batch * l->batch + line * l->line) : l->fallback;
}

typedef struct HoloMatmulSide {
    const HoloTensor *t;
    int64_t           batch_stride[HOLO_MAX_RANK];
    int64_t           line, step; // strides from line to line, and along the sum
    int64_t           size;       // of one matrix
    HoloLines         zero;       // subtracted when read
    double            quantum;    // not 0: the operand is quantized to u8 when read, with this scale
} HoloMatmulSide;

// A product ready to run. The struct that an operator keeps for its `finish` starts with this one and is
// contract.arg.
typedef struct HoloMatmul {
    HoloContract   contract;
    int            batch_rank;
    int64_t        batch_dim[HOLO_MAX_RANK];
    HoloMatmulSide a, b;
} HoloMatmul;

// For eval: prepares the product of two views, to be written to output 0.
HOLO_MUST HoloStatus holo_matmul_init(const HoloCall *call, const HoloMatrix *a, const HoloMatrix *b, HoloMatmul *out);
// eval and at of an operator, whose own `init` fills in what begins with *m.
typedef HoloStatus   HoloMatmulInit(const HoloCall *call, HoloMatmul *m);
HOLO_MUST HoloStatus holo_matmul_eval(HoloCall *call, HoloMatmulInit *init, HoloMatmul *m);
double               holo_matmul_at(const HoloCall *call, HoloMatmulInit *init, HoloMatmul *m, int64_t index);
#define HOLO_MATMUL_TYPES (HOLO_TYPES_FLOAT | HOLO_BIT(I32) | HOLO_BIT(U32) | HOLO_BIT(I64) | HOLO_BIT(U64))
// Where an operand's matrix for `batch` of the output starts.
int64_t holo_matmul_start(const HoloMatmul *m, const HoloMatmulSide *side, int64_t batch);

#endif
