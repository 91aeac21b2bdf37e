// trial.h - one node prepared to run in several ways, on seeded inputs.
#ifndef HOLO_TUNE_TRIAL_H
#define HOLO_TUNE_TRIAL_H

#include "lower/lower.h"
#include "tune/tune.h"

typedef struct HoloTrial HoloTrial;

// Can the node run alone? Its operands must be tensors of numbers with known sizes.
bool                 holo_trial_can(const HoloNode *node);
HOLO_MUST HoloStatus holo_trial_create(const HoloNode *node, const HoloTuneOptions *options, HoloTrial **out,
                                       HoloError *error);
void                 holo_trial_destroy(HoloTrial *trial);

// Measures the shortest time of a run, in seconds, for each way; the ways take turns. Before each run, `passing` bytes
// go through the caches, as those of other steps do, and then the inputs that are not constants come back.
HOLO_MUST HoloStatus holo_trial_measure(HoloTrial *trial, const HoloLowering *ways, int count, size_t passing,
                                        double *out_seconds);

#endif
