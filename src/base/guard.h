// guard.h - red zones: memory that nobody may touch, in builds that watch it (AddressSanitizer). Elsewhere there are none,
// and these do nothing.
//
// What is cut from larger pieces is watched by nobody otherwise: allocations of an arena, the values of a plan, scratch.
#ifndef HOLO_BASE_GUARD_H
#define HOLO_BASE_GUARD_H

#include <stddef.h>

size_t holo_guard_gap(void); // bytes to leave behind each piece; 0: memory is not watched
void   holo_guard_hide(const void *memory, size_t size);
void   holo_guard_show(const void *memory, size_t size);

#endif
