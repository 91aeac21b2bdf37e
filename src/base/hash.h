// hash.h - XXH3-128, whole or in parts.
#ifndef HOLO_BASE_HASH_H
#define HOLO_BASE_HASH_H

#include "base/base.h"

typedef struct HoloHash {
    uint64_t word[2];
} HoloHash;

HoloHash holo_hash(const void *data, size_t size);
// For tables in memory: another number in each process, so that no file can have names that all fall into one place.
// Nothing that is written or printed may follow from it.
uint64_t           holo_hash_name(const void *data, size_t size);
static inline bool holo_hash_equal(HoloHash a, HoloHash b)
{
    return a.word[0] == b.word[0] && a.word[1] == b.word[1];
}

typedef struct HoloHasher HoloHasher;
HoloHasher               *holo_hasher_create(void); // NULL: no memory
void                      holo_hasher_add(HoloHasher *hasher, const void *data, size_t size);
HoloHash                  holo_hasher_take(HoloHasher *hasher); // and starts again
void                      holo_hasher_destroy(HoloHasher *hasher);

#endif
