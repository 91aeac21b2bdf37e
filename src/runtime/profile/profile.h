// profile.h - when each step ran, and for how long.
#ifndef HOLO_RUNTIME_PROFILE_PROFILE_H
#define HOLO_RUNTIME_PROFILE_PROFILE_H

#include "base/base.h"
#include "hologram.h"

typedef struct HoloProfileEvent {
    const char *name, *op, *kernel; // borrowed from the model
    double      start, end;         // seconds
    int         worker;             // 0: the thread of the run
} HoloProfileEvent;

// A step with the sizes that it ran with; the texts lie in the profile's arena.
typedef struct HoloProfileStep {
    HoloProfiledStep told;
    const void      *frame;
    uint32_t         step;
} HoloProfileStep;

typedef struct HoloProfileSpan { // from the first task of a worker to the end of its last; start 0: it had none
    double start, end;
} HoloProfileSpan;

enum { HOLO_PROFILE_EVENTS = 1 << 20 }; // kept at most; times of steps are summed up all the same

typedef struct HoloProfile {
    bool              is_on;
    double            origin;
    HoloProfileEvent *events; // heap
    size_t            count, room;
    HoloProfileStep  *steps; // heap
    size_t            step_count, step_room, step_next;
    HoloArena         arena;
    HoloProfileSpan  *spans; // of the present step: one for each thread, in the arena; NULL: none is asked for
    int               span_count;
} HoloProfile;

// Memory that runs out drops the event.
void holo_profile_add(HoloProfile *profile, HoloProfileEvent event);
void holo_profile_deinit(HoloProfile *profile);

struct HoloFrame;
// Before and behind step i of a frame, in a session that is profiled; returns when it began.
double holo_profile_begin(struct HoloFrame *frame);
void   holo_profile_end(struct HoloFrame *frame, uint32_t i, double start);

#endif
