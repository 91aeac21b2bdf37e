// there.h - inputs and outputs that stay in the memory of the model's device.
#ifndef HOLO_RUNTIME_SESSION_THERE_H
#define HOLO_RUNTIME_SESSION_THERE_H

#include "runtime/frame/frame.h"

// Before a run, once sizes are bound. What only transfers read stays where it is; what steps of the host read is brought
// to the host, and the list then has that. Does nothing if no input is on the device.
HOLO_MUST HoloStatus holo_there_inputs(HoloSession *session, const HoloTensor **list, HoloError *error);
// Can output i go from the device straight to the caller's memory there?
bool holo_there_output(const HoloFrame *frame, uint32_t i);
// Brings an output that is on the host to the caller's memory on the device.
HOLO_MUST HoloStatus holo_there_copy(const HoloSession *session, void *to, const void *from, size_t bytes,
                                     HoloError *error);
// Is any input or output of the next run on the device?
bool holo_there_any(const HoloSession *session);
// Is all that the run gives its caller on the device, in the order of a stream of the caller's? Then nobody waits.
bool holo_there_only(const HoloSession *session);

#endif
