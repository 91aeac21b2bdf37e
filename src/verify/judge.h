// judge.h - compares a kernel's output with plain evaluation of the same inputs.
#ifndef HOLO_VERIFY_JUDGE_H
#define HOLO_VERIFY_JUDGE_H

#include "verify/products.h"

enum { HOLO_JUDGE_OUTPUTS = 3 };

// Compares all elements of two tensors. `shift` is added to indices in messages.
HOLO_MUST HoloStatus holo_judge_compare(HoloProducts *p, const HoloNode *node, const HoloTensor *want,
                                        const HoloTensor *got, int64_t shift, HoloError *error);
// Compares the call's result with 64 elements that op->at computes exactly.
HOLO_MUST HoloStatus holo_judge_sample(HoloProducts *p, const HoloNode *node, const HoloCall *call);
// Compares all of it with op->eval.
HOLO_MUST HoloStatus holo_judge_plain(HoloProducts *p, const HoloNode *node, const HoloCall *call);

// Takes memory for outputs of the same types. Free it even after a failure.
HOLO_MUST HoloStatus holo_judge_outputs_take(const HoloCall *call, HoloTensor *out, HoloTensor **list);
void                 holo_judge_outputs_free(HoloTensor *out);

#endif
