// user_kernel.h - what hologram::Kernel runs.
#ifndef HOLO_OPS_HOLOGRAM_USER_KERNEL_H
#define HOLO_OPS_HOLOGRAM_USER_KERNEL_H

#include "ops/op.h"

// The text of the program that a call of hologram::Kernel takes for the types of its inputs; it belongs to the arena.
HOLO_MUST HoloStatus holo_user_kernel_print(const HoloCall *call, HoloArena *arena, const char **out_text);

// Is it a chain of pointwise operators of the model, and no kernel of a user?
bool holo_user_kernel_is_chain(const HoloCall *call);

#endif
