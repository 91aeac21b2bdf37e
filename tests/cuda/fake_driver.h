// fake_driver.h - what the library of fake_driver.c has counted, and how it behaves.
#ifndef TESTS_CUDA_FAKE_DRIVER_H
#define TESTS_CUDA_FAKE_DRIVER_H

#include <stddef.h>

typedef struct HoloFakeDriver {
    int    version, devices, capability;                    // what it says about the machine
    int    module_fails, launch_fails, wait_fails;          // results of these calls; 0: they succeed
    size_t memory_left;                                     // more bytes at once cannot be taken
    int    contexts, depth, held, modules, streams, graphs; // what there is now
    int    takes, copies_in, copies_out, copies_within, launches, graph_launches, kernels, waits, maps; // calls so far
    const void *stream; // of the last call
} HoloFakeDriver;

typedef HoloFakeDriver *HoloFakeDriverFind(void); // "holo_fake_driver" of the library

#endif
