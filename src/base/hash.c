// hash.c - XXH3-128 from the xxhash header, compiled into this object alone.
#include "base/hash.h"
#include "base/hash_wide.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static HoloHash hash_of(XXH128_hash_t h)
{
    return (HoloHash){{h.low64, h.high64}};
}

HoloHash holo_hash(const void *data, size_t size)
{
    return size > XXH3_MIDSIZE_MAX && holo_hash_has_wide() ? holo_hash_wide(data, size)
                                                           : hash_of(XXH3_128bits(data, size));
}

uint64_t holo_hash_name(const void *data, size_t size)
{
    return XXH3_64bits_withSeed(data, size, holo_hash_seed());
}

struct HoloHasher {
    XXH3_state_t *state;
};

HoloHasher *holo_hasher_create(void)
{
    HoloHasher *hasher = holo_realloc(NULL, sizeof *hasher);
    if (!hasher) return NULL;
    hasher->state = XXH3_createState();
    if (!hasher->state) {
        holo_free(hasher);
        return NULL;
    }
    XXH3_128bits_reset(hasher->state);
    return hasher;
}

void holo_hasher_add(HoloHasher *hasher, const void *data, size_t size)
{
    XXH3_128bits_update(hasher->state, data, size);
}

HoloHash holo_hasher_take(HoloHasher *hasher)
{
    HoloHash h = hash_of(XXH3_128bits_digest(hasher->state));
    XXH3_128bits_reset(hasher->state);
    return h;
}

void holo_hasher_destroy(HoloHasher *hasher)
{
    if (!hasher) return;
    XXH3_freeState(hasher->state);
    holo_free(hasher);
}
