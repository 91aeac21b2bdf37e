// integers.h - what the files of the pass `integers` share: quantized values, and operators on them.
#ifndef HOLO_PASSES_NARROW_INTEGERS_H
#define HOLO_PASSES_NARROW_INTEGERS_H

#include "passes/build.h"

// A tensor of 8-bit integers with one scale and zero point.
typedef struct HoloScaled {
    HoloValue *q; // NULL: not made yet
    HoloDtype  dtype;
    double     scale, zero;
} HoloScaled;

typedef struct HoloIntegers {
    HoloRewrite rewrite;
    int        *uses; // by id of the values that existed at the start
    int         room;
    HoloError  *error;
    bool        failed; // no memory
    bool        judges; // see HoloChanges
    bool        is_own; // the new node has a meaning of its own, which may be far from the original nodes
} HoloIntegers;

// How a DequantizeLinear reads `value`'s input, or how a QuantizeLinear writes. False: other types, several scales, or
// scales that are not constants.
bool holo_integers_read(const HoloValue *value, HoloScaled *out);
bool holo_integers_made(const HoloNode *quantize, HoloScaled *out);
bool holo_integers_equal(const HoloScaled *a, const HoloScaled *b);

// A node with one output of that dtype and the sizes of `shape`: fill in inputs and attributes. NULL: no memory, which
// is noted.
HoloNode *holo_integers_node(HoloIntegers *s, const HoloNode *from, HoloOpId id, int version, int in_count,
                             const HoloAttr *attr, int attr_count, HoloDtype dtype, const HoloTensor *shape);
// The scale or zero point as a number without dimensions.
HoloValue *holo_integers_scale(HoloIntegers *s, const HoloScaled *q);
HoloValue *holo_integers_zero(HoloIntegers *s, const HoloScaled *q);

// The operator on integers that computes what `node` does, quantized as `y` says; if y is NULL, it gives real numbers.
// NULL: there is none for this node.
HoloValue *holo_integers_product(HoloIntegers *s, HoloNode *node, const HoloScaled *y);
HoloValue *holo_integers_pointwise(HoloIntegers *s, HoloNode *node, const HoloScaled *y);

// The real numbers that `node`, a Cast, makes of the sums of a ConvInteger. NULL: it is something else, or others read
// the sums, too.
HoloValue *holo_integers_conv(HoloIntegers *s, HoloNode *node);

// Merges two quantizations in a row into one.
HOLO_MUST HoloStatus holo_integers_pairs(HoloIntegers *s);
// Turns signed bytes into unsigned ones if one node reads the bytes and one node reads the dequantized number.
HOLO_MUST HoloStatus holo_integers_turn(HoloIntegers *s);

// Does only one node read the value?
bool holo_integers_is_private(const HoloIntegers *s, const HoloValue *value);

// Turns MatMulNBits into that of domain hologram, which rounds its first input. False: it does not fit.
bool holo_integers_nbits(HoloNode *node);

enum { HOLO_WEIGHTS_BLOCK = 32 }; // numbers that are rounded together if scales have no blocks
// Does the same with a product whose other factor is a constant of 4 or 8 bits, dequantized only for it (weights.c).
// `uses` is from holo_graph_uses. The caller must check that nothing quantizes the result.
HOLO_MUST HoloStatus holo_weights_round(HoloGraph *graph, HoloNode *node, const int *uses, bool *out_done,
                                        HoloError *error);

// A product of that type that has at most a bias for each column (blocks_pass.c).
bool holo_product_is_plain(const HoloNode *node, HoloDtype dtype);
// Is it a constant matrix that is too large to be copied (stored.c)?
bool holo_stored_is_large(const HoloValue *value);
// The large constant that a matrix is made from by turning and widening it alone; NULL: there is none. *out_turned: it is
// the other way round.
HoloValue *holo_stored_of(HoloValue *value, bool *out_turned);

// Turns a product with DecodeBlocks of a constant into MatMulBlocks (blocks_pass.c).
HOLO_MUST HoloStatus holo_blocks_product(HoloGraph *graph, HoloNode *node, bool rounds, bool *out_done,
                                         HoloError *error);

#endif
