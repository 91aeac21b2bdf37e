// cuda_bytes.h - products and convolutions of bytes: which input of which operator is what, and what their steps share.
#ifndef HOLO_DEVICES_CUDA_CUDA_BYTES_H
#define HOLO_DEVICES_CUDA_CUDA_BYTES_H

#include "devices/cuda/code/bytes_params.h"
#include "devices/cuda/cuda_product.h"
#include "ops/op_id.h"

enum { HOLO_CUDA_NO_INPUT = INT8_MAX }; // holo_in finds nothing there

typedef struct HoloCudaByteOp { // which input is what
    HoloOpId id;
    bool     is_conv;
    int8_t   a, b, a_scale, a_zero, b_scale, b_zero, y_scale, y_zero;
    int8_t   c, bias; // added to sums, and to real numbers
} HoloCudaByteOp;

// All of them; ends with one without inputs, whose b is HOLO_CUDA_NO_INPUT.
extern const HoloCudaByteOp holo_cuda_byte_ops[];

// The channels of a filter as they are packed: whole 16 bytes, unless there are groups.
int64_t holo_cuda_byte_channels(int64_t channels, int64_t groups);
// Are the products of a convolution with constant filters, channels last, those of tiles? Otherwise its filters stay as they are.
bool holo_cuda_byte_tiles(const HoloTensor *w, int64_t groups);
// Bytes of a packed row of k numbers.
static inline int64_t holo_cuda_byte_row(int64_t k)
{
    return holo_cuda_packed_row(k, HOLO_CUDA_S8) + HOLO_CUDA_BYTES_MORE;
}

// ---- for the files of steps

typedef struct HoloCudaByteStep {
    const HoloCudaByteOp *op;
    const HoloTensor     *a, *b;
    HoloTensor           *out;
    bool                  is_packed;
} HoloCudaByteStep;

// Reads the operands of a step and checks their types.
HOLO_MUST HoloStatus holo_cuda_byte_step(const HoloCudaMaking *m, HoloCudaByteStep *out);
// What becomes of its sums; B has that many columns. Refuses scales, zero points and biases that do not fit.
HOLO_MUST HoloStatus holo_cuda_scaled(const HoloCudaMaking *m, const HoloCudaByteStep *s, int64_t columns,
                                      HoloCudaScaled *out);
// Places its addresses in the arguments of a launch, where it is at `at`.
void holo_cuda_scaled_place(const HoloCudaMaking *m, const HoloCudaByteStep *s, size_t at, HoloCudaStep *step);
// A zero point that is known before the run, and the same for all. False: it is not.
bool holo_cuda_known_zero(const HoloTensor *zero, int64_t *out);
// The type of bytes.
uint8_t holo_cuda_byte_type(const HoloTensor *t);

// Adds a launch that packs an input that is no weight, or is not packed: B, then in the scratch, as `of` says.
HOLO_MUST HoloStatus holo_cuda_byte_pack_add(HoloCudaMaking *m, int input, const HoloCudaSizes *sizes, int64_t row,
                                             int64_t batch, HoloCudaOperands *of);

// Adds the tiles of `p`, behind the sums of A's rows if B has zero points. A and B are where `of` says; `batch` products.
HOLO_MUST HoloStatus holo_cuda_byte_tiles_add(HoloCudaMaking *m, const HoloCudaByteStep *s, const HoloCudaProduct *p,
                                              HoloCudaScaled *end, int64_t batch, const HoloCudaOperands *of);
HOLO_MUST HoloStatus holo_cuda_byte_conv(HoloCudaMaking *m, const HoloCudaByteStep *s);

#endif
