// channels_last.h - runs operators for channels first on tensors with channels last: [n, spatial ..., c] is transposed
// to [n, c, spatial ...], and the result is transposed back.
#ifndef HOLO_OPS_CHANNELS_LAST_H
#define HOLO_OPS_CHANNELS_LAST_H

#include "ops/op.h"

typedef HoloStatus HoloCallFn(HoloCall *call);

// `transposed` has a bit for each input with channels last, if it is given. Output 0 has channels last, too.
HOLO_MUST HoloStatus holo_channels_last_infer(HoloCall *call, uint32_t transposed, HoloCallFn *infer);
HOLO_MUST HoloStatus holo_channels_last_eval(HoloCall *call, uint32_t transposed, HoloCallFn *infer, HoloCallFn *eval);

#endif
