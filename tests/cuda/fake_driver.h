// fake_driver.h - what the library of fake_driver.c has counted, and how it behaves.
#ifndef TESTS_CUDA_FAKE_DRIVER_H
#define TESTS_CUDA_FAKE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOLO_FAKE_NO_MEMORY = 2 }; // a result of calls

// A call that shall fail does nothing else. Those that give something back do it all the same, as the driver, whose results may be of
// what was launched before.
typedef struct HoloFakeDriver {
    int    version, devices, capability;           // what it says about the machine
    int    module_fails, launch_fails, wait_fails; // results of these calls; 0: they succeed
    int    calls;                                  // all so far
    int    fails_at, fails_with; // the call of that number, counted from 1, has that result; 0: none fails
    bool   fails_on;             // and so have all later ones
    char   failed[40];           // the name of the call that did
    size_t memory_left;          // more bytes at once cannot be taken
    int    contexts, depth, held, modules, streams, graphs; // what there is now
    int    lost; // things that nobody gave back before their context was gone
    int    takes, copies_in, copies_out, copies_within, launches, graph_launches, kernels, waits, maps; // calls so far
    int    clusters;          // launches whose blocks are clusters
    int    computed;          // kernels that ran on the CPU
    bool   is_backwards;      // they do so from the last thread to the first
    const void *stream;       // of the last call
    char        function[64]; // the last kernel that was asked for
} HoloFakeDriver;

// "holo_on_cpu" of a module: runs a kernel of it. See on_cpu/on_cpu.h.
typedef void HoloOnCpuRun(void *kernel, const void *args, const uint32_t *grid, uint32_t threads, bool is_backwards);

typedef HoloFakeDriver *HoloFakeDriverFind(void); // "holo_fake_driver" of the library

#endif
