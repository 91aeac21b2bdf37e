// isa_launch.h - what both interpreters check before a launch.
#ifndef HOLO_ISA_LAUNCH_H
#define HOLO_ISA_LAUNCH_H

#include "isa/isa.h"

// Sizes and arguments must fit the program. `is_cooperative` is from holo_isa_is_cooperative.
HOLO_MUST HoloStatus holo_isa_launch_check(const HoloIsaParam *params, int count, const char *name, bool is_cooperative,
                                           const HoloIsaLaunch *launch, const HoloIsaArg *args, HoloError *error);

// The name of the array that a memory instruction accesses.
const char *holo_isa_array_name(const HoloIsaParam *params, const HoloIsaArray *shared, const HoloIsaArray *local,
                                const HoloIsaInst *inst);
// What is wrong with an index: "an index is out of range: a[20], which has 16 elements". `type` is as in a CONST.
enum { HOLO_ISA_OUTSIDE_TEXT = 192 };
const char *holo_isa_outside(const char *array, HoloDtype type, uint64_t index, int64_t count,
                             char text[HOLO_ISA_OUTSIDE_TEXT]);

#endif
