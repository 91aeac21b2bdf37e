// cpu.h - what only the system knows about the CPU.
#ifndef HOLO_BASE_CPU_H
#define HOLO_BASE_CPU_H

#include <stdbool.h>

bool holo_cpu_has_dot(void); // an ARM CPU has products of four bytes at once

#endif
