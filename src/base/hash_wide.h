// hash_wide.h - what hashing takes from the machine: vectors of 32 bytes, where the CPU has them (the hash is the same),
// and chance.
#ifndef HOLO_BASE_HASH_WIDE_H
#define HOLO_BASE_HASH_WIDE_H

#include "base/hash.h"

uint64_t holo_hash_seed(void); // of this process, by chance
bool     holo_hash_has_wide(void);
HoloHash holo_hash_wide(const void *data, size_t size); // only where holo_hash_has_wide
#endif
