// lent.h - a run of a model whose outputs are not copied, for bindings that copy them themselves.
#ifndef HOLO_RUNTIME_LENT_H
#define HOLO_RUNTIME_LENT_H

#include "hologram.h"

// As holo_model_run, but the outputs are views of a session that is lent to the caller until holo_model_lent_back.
HOLO_MUST HoloStatus holo_model_run_lent(const HoloModel *model, const HoloRunInput *inputs, int input_count,
                                         HoloRunOutput *outputs, int output_count, const HoloRunOptions *options,
                                         HoloSession **out_lent, HoloError *error);
void                 holo_model_lent_back(const HoloModel *model, HoloSession *lent);

#endif
