// guard.h - red zones: memory that nobody may touch, in builds that watch memory (AddressSanitizer). In other builds
// these functions do nothing.
//
// AddressSanitizer does not watch pieces that are cut from larger memory: allocations of an arena, the values of a
// plan, scratch.
#ifndef HOLO_BASE_GUARD_H
#define HOLO_BASE_GUARD_H

#include <stddef.h>

size_t holo_guard_gap(void); // bytes to leave behind each piece; 0: memory is not watched
void   holo_guard_hide(const void *memory, size_t size);
void   holo_guard_show(const void *memory, size_t size);

#endif
