// cpu.h - what only the system knows of the CPU.
#ifndef HOLO_BASE_CPU_H
#define HOLO_BASE_CPU_H

#include <stdbool.h>

bool holo_cpu_has_dot(void); // products of four bytes at once, of an ARM CPU

#endif
