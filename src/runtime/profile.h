// profile.h - when each step ran, and for how long.
#ifndef HOLO_RUNTIME_PROFILE_H
#define HOLO_RUNTIME_PROFILE_H

#include "base/base.h"

typedef struct HoloProfileEvent {
    const char *name, *op, *kernel; // borrowed from the model
    double      start, end;         // seconds
} HoloProfileEvent;

typedef struct HoloProfile {
    bool              is_on;
    double            origin;
    HoloProfileEvent *events; // heap
    size_t            count, room;
} HoloProfile;

// Memory that runs out drops the event.
void holo_profile_add(HoloProfile *profile, HoloProfileEvent event);
void holo_profile_deinit(HoloProfile *profile);

#endif
