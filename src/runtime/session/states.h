// states.h - states: tensors that a session keeps from run to run.
#ifndef HOLO_RUNTIME_STATES_H
#define HOLO_RUNTIME_STATES_H

#include "hologram.h"

// Sets a state to the memory that the session has for it. That grows where sizes ask for more, and keeps its contents.
HOLO_MUST HoloStatus holo_state_set(HoloSession *session, int index, HoloError *error);
// Gives their memory back, while devices are still open.
void holo_states_deinit(HoloSession *session);

#endif
