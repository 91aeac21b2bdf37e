// executor.h - the inside of an executor.
#ifndef HOLO_RUNTIME_EXECUTOR_EXECUTOR_H
#define HOLO_RUNTIME_EXECUTOR_EXECUTOR_H

#include "base/memory.h"
#include "devices/device.h"
#include "format/dtype.h"
#include "isa/isa.h"
#include "kernels/kernels.h"

enum { HOLO_EXECUTOR_CLASSES = 96, HOLO_EXECUTOR_RUN = 48, HOLO_EXECUTOR_MADE = 256 };

struct HoloBuffer {
    HoloExecutor  *executor;
    HoloBufferInfo info;
    uint8_t       *data; // in the device's memory
    size_t         own;  // bytes taken for it alone; 0: it lies in classes, or in another buffer
};

struct HoloPortable {
    HoloExecutor  *executor;
    HoloArena      arena;
    HoloIsaProgram program, lanes; // lanes: see holo_isa_lanes
    uint32_t       block[3];       // block that it asks for; 0: any size
    void          *job;            // what the device has prepared
    unsigned       key;            // of a single operation
};

// Kernels of the standard library for single operations.
typedef enum HoloExecutorKernel {
    HOLO_EXECUTOR_SUM,
    HOLO_EXECUTOR_MEAN,
    HOLO_EXECUTOR_MIN,
    HOLO_EXECUTOR_MAX,
    HOLO_EXECUTOR_SOFTMAX,
    HOLO_EXECUTOR_GEMM,
    HOLO_EXECUTOR_KERNELS
} HoloExecutorKernel;

struct HoloExecutor {
    HoloAccount           *account; // of its context
    HoloPool              *pool;    // may be NULL
    HoloIsaTeam            team;
    const HoloDevice      *device;
    void                  *self;    // the device's state
    const HoloKernelTable *kernels; // NULL: the memory is not the host's, and programs do everything
    uint8_t               *classes; // the memory of all classes
    uint8_t                free[HOLO_EXECUTOR_CLASSES]; // a stack: the class freed last is taken first
    int                    free_count;
    uint64_t               ids;
    HoloPortable          *made[HOLO_EXECUTOR_MADE]; // programs of single operations, by kind and type; NULL: not yet
    HoloPortable          *loss[HOLO_DTYPE_COUNT];   // by type; NULL: not made yet
    HoloPortable          *library[HOLO_EXECUTOR_KERNELS][HOLO_DTYPE_COUNT];
    HoloArena              work; // for products: kept from one to the next, see WORK_KEPT
    float                 *work_data;
    int64_t                work_size;
};

// Makes an empty program to fill in and prepare; and ends that: gives it out or, after a failure, destroys it.
HOLO_MUST HoloStatus holo_portable_new(HoloExecutor *executor, HoloPortable **out, HoloError *error);
HOLO_MUST HoloStatus holo_portable_end(HoloPortable *portable, HoloStatus status, HoloPortable **out);
// Prepares a checked program.
HOLO_MUST HoloStatus holo_portable_ready(HoloExecutor *executor, HoloPortable *portable, HoloError *error);
// Launches so many lanes and waits for them.
HOLO_MUST HoloStatus holo_portable_launch(HoloExecutor *executor, HoloPortable *portable, const HoloIsaLaunch *lanes,
                                          const HoloIsaArg *args, HoloError *error);
// Launches as many lanes as the program asks for.
HOLO_MUST HoloStatus holo_portable_run(HoloExecutor *executor, HoloPortable *portable, const HoloIsaArg *args,
                                       int64_t turns, HoloError *error);

// Is it a buffer of this executor, of this type, with at least so many elements?
HOLO_MUST HoloStatus     holo_executor_need(const HoloExecutor *executor, const HoloBuffer *buffer, HoloDtype dtype,
                                            int64_t count, HoloError *error);
static inline HoloIsaArg holo_executor_array(const HoloBuffer *b, int64_t n)
{
    return (HoloIsaArg){.data = b->data, .count = n};
}

#endif
