// executor.h - inside of an executor.
#ifndef HOLO_RUNTIME_EXECUTOR_H
#define HOLO_RUNTIME_EXECUTOR_H

#include "base/base.h"
#include "isa/isa.h"
#include "kernels/kernels.h"

enum { HOLO_EXECUTOR_CLASSES = 96, HOLO_EXECUTOR_RUN = 48, HOLO_EXECUTOR_MADE = 256 };

struct HoloBuffer {
    HoloExecutor  *executor;
    HoloBufferInfo info;
    uint8_t       *data;
    HoloArena      own; // of a buffer without classes
};

struct HoloPortable {
    HoloExecutor  *executor;
    HoloArena      arena;
    HoloIsaProgram program;
    HoloIsaCode   *code;
    HoloIsaFrame  *frame;
    unsigned       key; // of a single operation
};

struct HoloExecutor {
    HoloPool          *pool; // may be NULL
    HoloIsaTeam        team;
    const HoloKernels *kernels;
    HoloArena          arena;
    uint8_t           *classes;                     // the memory of all classes
    uint8_t            free[HOLO_EXECUTOR_CLASSES]; // a stack: the last is taken first
    int                free_count;
    uint64_t           ids;
    HoloPortable      *made[HOLO_EXECUTOR_MADE]; // programs of single operations, by kind and type; NULL: not yet
    HoloPortable      *loss;                     // NULL: not yet
};

// The program of a checked one, made ready.
HOLO_MUST HoloStatus holo_portable_ready(HoloExecutor *executor, HoloPortable *portable, HoloError *error);

#endif
