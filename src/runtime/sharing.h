// sharing.h - what all sessions of a model share on devices other than the CPU, and which of several devices they use.
#ifndef HOLO_RUNTIME_SHARING_H
#define HOLO_RUNTIME_SHARING_H

#include "devices/device.h"
#include "runtime/model.h"

typedef struct HoloSharing HoloSharing;

HoloSharing *holo_sharing_create(void); // NULL: no memory
// After all sessions are gone. Accepts NULL.
void holo_sharing_destroy(HoloSharing *sharing, const HoloModel *model);
// How the device of a target is to be opened for a session. Makes what is shared, the first time. Any thread may call it.
HOLO_MUST HoloStatus holo_sharing_setup(const HoloModel *model, uint32_t target, HoloDeviceSetup *out,
                                        HoloError *error);

// The model whose plan new sessions run: the model itself, or its twin for devices. If nobody has chosen, it is the twin if
// all its devices are here. That is found out once.
HOLO_MUST HoloStatus holo_sharing_choose(const HoloModel *model, const HoloModel **out, HoloError *error);
// The one of the two that answers questions about the plan: the twin if somebody has chosen a device of it.
const HoloModel *holo_sharing_told(const HoloModel *model);
// Which device of its kind a target is, "cuda:1"; the CPU has no number.
void holo_sharing_name(const HoloModel *model, uint32_t target, char *text, size_t room);

#endif
