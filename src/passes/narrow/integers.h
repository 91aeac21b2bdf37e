// integers.h - what the files of the pass `integers` share: quantized values, and operators on them.
#ifndef HOLO_PASSES_NARROW_INTEGERS_H
#define HOLO_PASSES_NARROW_INTEGERS_H

#include "passes/build.h"

// A tensor of 8-bit integers with one scale and zero point.
typedef struct HoloScaled {
    HoloValue *q; // NULL: not there yet
    HoloDtype  dtype;
    double     scale, zero;
} HoloScaled;

typedef struct HoloIntegers {
    HoloRewrite rewrite;
    int        *uses; // by value id, of the values there were at the start
    int         room;
    HoloError  *error;
    bool        failed; // no memory
    bool        judges; // see HoloChanges
    bool        is_own; // what was made has a meaning of its own, which may be far from what was written
} HoloIntegers;

// What a DequantizeLinear gives `value` of, or a QuantizeLinear makes of its input; false: other types, or scales of which
// there are several, or that are no constants.
bool holo_integers_read(const HoloValue *value, HoloScaled *out);
bool holo_integers_made(const HoloNode *quantize, HoloScaled *out);
bool holo_integers_equal(const HoloScaled *a, const HoloScaled *b);

// A node with one output of that dtype and the sizes of `shape`; inputs and attributes are to be filled in. NULL: no
// memory, which is noted.
HoloNode *holo_integers_node(HoloIntegers *s, const HoloNode *from, HoloOpId id, int version, int in_count,
                             const HoloAttr *attr, int attr_count, HoloDtype dtype, const HoloTensor *shape);
// The scale or zero point as a number without dimensions.
HoloValue *holo_integers_scale(HoloIntegers *s, const HoloScaled *q);
HoloValue *holo_integers_zero(HoloIntegers *s, const HoloScaled *q);

// The operator on integers that gives what `node` does, quantized as `y` says; with y NULL the real numbers themselves.
// NULL: there is none for this node.
HoloValue *holo_integers_product(HoloIntegers *s, HoloNode *node, const HoloScaled *y);
HoloValue *holo_integers_pointwise(HoloIntegers *s, HoloNode *node, const HoloScaled *y);

// The real numbers that `node`, a Cast, gives of the sums of a ConvInteger; NULL: it is none, or others read them, too.
HoloValue *holo_integers_conv(HoloIntegers *s, HoloNode *node);

// What is quantized twice in a row is quantized once.
HOLO_MUST HoloStatus holo_integers_pairs(HoloIntegers *s);
// Signed bytes become unsigned, where one node reads them and one the number.
HOLO_MUST HoloStatus holo_integers_turn(HoloIntegers *s);

// Does nobody but one node read the value?
bool holo_integers_is_private(const HoloIntegers *s, const HoloValue *value);

// MatMulNBits becomes that of domain hologram, which rounds its first input; false: it does not.
bool holo_integers_nbits(HoloNode *node);

enum { HOLO_WEIGHTS_BLOCK = 32 }; // numbers that are rounded together, where scales have no blocks
// So does a product whose other factor is constants of 4 or 8 bits, dequantized for it alone: of weights.c. `uses` as of
// holo_graph_uses. Nothing quantizes the result: that is for the caller to see.
HOLO_MUST HoloStatus holo_weights_round(HoloGraph *graph, HoloNode *node, const int *uses, bool *out_done,
                                        HoloError *error);

#endif
