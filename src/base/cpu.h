// cpu.h - what only the system knows about the CPU.
#ifndef HOLO_BASE_CPU_H
#define HOLO_BASE_CPU_H

#include <stdbool.h>
#include <stdint.h>

// How many CPUs the control groups of this process let it keep busy; UINT64_MAX: they set no limit. Linux alone.
uint64_t holo_machine_cpus(void);
bool     holo_cpu_has_dot(void); // an ARM CPU has products of four bytes at once

#endif
