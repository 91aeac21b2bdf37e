// attention_padding.h - what ONNX Runtime's attention operators share: masks of padding.
#ifndef HOLO_OPS_MICROSOFT_ATTENTION_PADDING_H
#define HOLO_OPS_MICROSOFT_ATTENTION_PADDING_H

#include "ops/standard/attention.h"

// While inferring: is the mask of one of the forms? Its sizes are compared with those of the call where known.
HOLO_MUST HoloStatus holo_padding_check(const HoloCall *call, int input, HoloDim batch, HoloDim queries, HoloDim keys);
// The bias that input `input` stands for: 0 for keys that count, the attribute mask_filter_value for others.
HOLO_MUST HoloStatus holo_padding_bias(const HoloCall *call, int input, const HoloAttention *a, int64_t past,
                                       HoloBias *out);

#endif
