// isa_random.h - random programs that are valid and have no races, and arguments for them: for tests of interpreters
// against each other.
#ifndef HOLO_TESTS_ISA_RANDOM_H
#define HOLO_TESTS_ISA_RANDOM_H

#include "isa/isa.h"

typedef struct IsaCase {
    HoloIsaProgram program;
    HoloIsaLaunch  launch;
    HoloIsaArg     args[HOLO_ISA_MAX_PARAMS];
} IsaCase;

// The case of a seed; everything is in the arena. Some cases fail while they run, in every way to run them. False: the
// program was refused, which is a mistake.
bool isa_random(HoloArena *arena, uint64_t seed, IsaCase *out_case, HoloError *error);

// A copy of the arguments, with memory of its own.
bool isa_copy_args(HoloArena *arena, const IsaCase *of, HoloIsaArg *out_args);
// The first parameter whose arrays differ; -1: none. A NaN is any NaN.
int isa_compare_args(const IsaCase *of, const HoloIsaArg *a, const HoloIsaArg *b, int64_t *out_index);

#endif
