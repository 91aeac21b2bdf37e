// profile.h - when each step ran, and how long it took.
#ifndef HOLO_RUNTIME_PROFILE_PROFILE_H
#define HOLO_RUNTIME_PROFILE_PROFILE_H

#include "base/base.h"
#include "hologram.h"

typedef struct HoloProfileEvent {
    const char *name, *op, *kernel; // borrowed from the model
    double      start, end;         // seconds
    int         worker;             // 0: the thread of the run
} HoloProfileEvent;

// A step with the sizes that it ran with. Its texts are in the profile's arena.
typedef struct HoloProfileStep {
    HoloProfiledStep told;
    const void      *frame;
    uint32_t         step;
} HoloProfileStep;

typedef struct HoloProfileSpan { // from the start of a worker's first task to the end of its last; start 0: it had none
    double start, end;
} HoloProfileSpan;

enum { HOLO_PROFILE_EVENTS = 1 << 20 }; // most events that are kept; times of steps are still summed beyond that

typedef struct HoloProfile {
    bool              is_on;
    double            origin;
    HoloProfileEvent *events; // heap
    size_t            count, room;
    HoloProfileStep  *steps; // heap
    size_t            step_count, step_room, step_next;
    HoloArena         arena;
    HoloProfileSpan  *spans; // for the current step, one for each thread, in the arena; NULL: not wanted
    int               span_count;
} HoloProfile;

// If there is no memory, the event is dropped.
void holo_profile_add(HoloProfile *profile, HoloProfileEvent event);
void holo_profile_deinit(HoloProfile *profile);

struct HoloFrame;
// Called before and after step i of a frame in a profiled session. The first returns when the step began.
double holo_profile_begin(struct HoloFrame *frame);
void   holo_profile_end(struct HoloFrame *frame, uint32_t i, double start);

#endif
