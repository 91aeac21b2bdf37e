// noise_schedule.h - the steps of a diffusion: from noise to a picture.
//
// Noise is added to a picture x0 as sqrt(a) x0 + sqrt(1 - a) noise, where `a` falls from nearly 1 to nearly 0 with the
// step of training. A schedule goes back from the last of these steps to the first in few steps. Some schedules keep
// x divided by sqrt(a), where the noise has the size sigma: those are called wide.
#ifndef HOLO_IMAGINE_NOISE_SCHEDULE_H
#define HOLO_IMAGINE_NOISE_SCHEDULE_H

#include "base/base.h"

typedef enum HoloPrediction { // what the U-Net gives
    HOLO_PREDICT_NOISE,
    HOLO_PREDICT_VELOCITY, // sqrt(a) noise - sqrt(1 - a) x0
    HOLO_PREDICT_PICTURE,
} HoloPrediction;

typedef struct HoloScheduleOptions {
    const char    *scheduler; // a name of holo_schedule_name
    const char    *spacing;   // "leading", "linspace" or "trailing"; "": the scheduler's own
    const char    *curve;     // of betas: "scaled_linear", "linear", "squaredcos_cap_v2"
    double         beta_start, beta_end;
    int            train_steps, steps, offset;
    bool           alpha_to_one; // behind the last step there is no noise; else as much as at the first of training
    HoloPrediction prediction;
} HoloScheduleOptions;

typedef struct HoloSchedule {
    HoloScheduleOptions       options;
    const struct HoloStepper *stepper;
    double                   *kept;   // a, by step of training
    int64_t                  *time;   // the steps of training, the last first; `steps` of them
    double                   *sigma;  // of each, and behind the last
    float                    *before; // the picture that the step before saw; NULL at the beginning
    size_t                    count;  // elements
} HoloSchedule;

const char *holo_schedule_name(int index); // NULL: there are no more
// The scheduler for a class of Diffusers, "DDIMScheduler"; the first, if there is none.
const char *holo_schedule_of_class(const char *name);

// For pictures of `count` elements. Memory is of the arena.
HOLO_MUST HoloStatus holo_schedule_init(HoloSchedule *s, const HoloScheduleOptions *options, size_t count,
                                        HoloArena *arena, HoloError *error);
// Pure noise of size 1 becomes that of the first step.
void holo_schedule_begin(const HoloSchedule *s, float *x);
// What the U-Net is given for x at a step.
void holo_schedule_input(const HoloSchedule *s, int step, const float *x, float *out);
// One step back: `made` is what the U-Net gave for the input. It is overwritten.
void holo_schedule_step(HoloSchedule *s, int step, float *x, float *made, HoloRandom *random);

#endif
