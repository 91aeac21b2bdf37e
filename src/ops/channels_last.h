// channels_last.h - operators for channels first, of tensors with channels last: [n, spatial ..., c] is turned into
// [n, c, spatial ...], and the result back.
#ifndef HOLO_OPS_CHANNELS_LAST_H
#define HOLO_OPS_CHANNELS_LAST_H

#include "ops/op.h"

typedef HoloStatus HoloCallFn(HoloCall *call);

// `turned`: a bit for each input that has channels last, where it is given. Output 0 has them last, too.
HOLO_MUST HoloStatus holo_channels_last_infer(HoloCall *call, uint32_t turned, HoloCallFn *infer);
HOLO_MUST HoloStatus holo_channels_last_eval(HoloCall *call, uint32_t turned, HoloCallFn *infer, HoloCallFn *eval);

#endif
