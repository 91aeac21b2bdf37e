// transposed.h - a transposed convolution as a convolution whose channels are then interleaved, or overlap.
#ifndef HOLO_PASSES_LAYOUT_TRANSPOSED_H
#define HOLO_PASSES_LAYOUT_TRANSPOSED_H

#include "passes/rewrite.h"

// The replacement of a ConvTranspose: hologram::Conv of `w` and `bias` with the attributes `conv`, and
// hologram::Interleave or ::Overlap of its result with the attributes `rest`. Overlap takes the bias of the
// ConvTranspose itself.
typedef struct HoloTransposed {
    HoloOpId   id;
    HoloValue *w, *bias; // bias NULL: none
    HoloAttr   conv[2], rest[4];
    int        rest_count;
    HoloDim    dim[HOLO_MAX_RANK]; // sizes of the convolution's result, with channels last
} HoloTransposed;

// *out_fits false: the weights are not constant, the convolution is dilated, or its sizes do not allow this.
HOLO_MUST HoloStatus holo_transposed(HoloGraph *graph, const HoloNode *node, HoloTransposed *out, bool *out_fits,
                                     HoloError *error);

#endif
