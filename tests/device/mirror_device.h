// mirror_device.h - what tests may ask the device of mirror_device.c.
#ifndef HOLO_TESTS_DEVICE_MIRROR_DEVICE_H
#define HOLO_TESTS_DEVICE_MIRROR_DEVICE_H

#include "devices/device.h"

extern const HoloDevice holo_device_mirror;

typedef struct HoloMirrorSeen { // of all sessions so far
    unsigned launches, in, out;
} HoloMirrorSeen;

HoloMirrorSeen holo_mirror_seen(void);

#endif
