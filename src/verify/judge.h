// judge.h - a kernel's output against plain evaluation of the same inputs.
#ifndef HOLO_VERIFY_JUDGE_H
#define HOLO_VERIFY_JUDGE_H

#include "verify/products.h"

enum { HOLO_JUDGE_OUTPUTS = 3 };

// All elements of two tensors. `shift`: added to numbers of elements where they are told.
HOLO_MUST HoloStatus holo_judge_compare(HoloProducts *p, const HoloNode *node, const HoloTensor *want,
                                        const HoloTensor *got, int64_t shift, HoloError *error);
// What the call has given against elements that op->at computes exactly, 64 of them.
HOLO_MUST HoloStatus holo_judge_sample(HoloProducts *p, const HoloNode *node, const HoloCall *call);
// Against op->eval, all of it.
HOLO_MUST HoloStatus holo_judge_plain(HoloProducts *p, const HoloNode *node, const HoloCall *call);

// Memory of its own for outputs of the types of others; to be freed in any case.
HOLO_MUST HoloStatus holo_judge_outputs_take(const HoloCall *call, HoloTensor *out, HoloTensor **list);
void                 holo_judge_outputs_free(HoloTensor *out);

#endif
