// hash_wide.h - XXH3-128 of many bytes by vectors of 32 bytes, where the CPU has them. The hash is the same.
#ifndef HOLO_BASE_HASH_WIDE_H
#define HOLO_BASE_HASH_WIDE_H

#include "base/hash.h"

bool     holo_hash_has_wide(void);
HoloHash holo_hash_wide(const void *data, size_t size); // only where holo_hash_has_wide
#endif
