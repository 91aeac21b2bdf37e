// isa_launch.h - what both interpreters ask of a launch before they begin.
#ifndef HOLO_ISA_LAUNCH_H
#define HOLO_ISA_LAUNCH_H

#include "isa/isa.h"

// Sizes and arguments that fit the program; `is_cooperative` as holo_isa_is_cooperative says.
HOLO_MUST HoloStatus holo_isa_launch_check(const HoloIsaParam *params, int count, const char *name, bool is_cooperative,
                                           const HoloIsaLaunch *launch, const HoloIsaArg *args, HoloError *error);

#endif
