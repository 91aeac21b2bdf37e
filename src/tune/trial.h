// trial.h - one node made ready to run in several ways, on seeded inputs.
#ifndef HOLO_TUNE_TRIAL_H
#define HOLO_TUNE_TRIAL_H

#include "lower/lower.h"
#include "tune/tune.h"

typedef struct HoloTrial HoloTrial;

// Can the node run alone? Its operands are tensors of numbers, of sizes that are known.
bool                 holo_trial_can(const HoloNode *node);
HOLO_MUST HoloStatus holo_trial_create(const HoloNode *node, const HoloTuneOptions *options, HoloTrial **out,
                                       HoloError *error);
void                 holo_trial_destroy(HoloTrial *trial);

// The least time of a run, in seconds, for each way; of all of them in turn. Before each run `passing` bytes go through
// the caches, as those of other steps do, and the inputs that are not constants come back.
HOLO_MUST HoloStatus holo_trial_measure(HoloTrial *trial, const HoloLowering *ways, int count, size_t passing,
                                        double *out_seconds);

#endif
