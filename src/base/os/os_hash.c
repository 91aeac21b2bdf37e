// os_hash.c - XXH3-128 from the xxhash header, compiled for AVX2 where the machine is an x86-64.
#include "base/hash_wide.h"

#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
#define HAS_WIDE 1
#pragma GCC target("avx2")
#define XXH_VECTOR XXH_AVX2
#else
#define HAS_WIDE 0
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>

bool holo_hash_has_wide(void)
{
#if HAS_WIDE
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

HoloHash holo_hash_wide(const void *data, size_t size)
{
    XXH128_hash_t h = XXH3_128bits(data, size);
    return (HoloHash){{h.low64, h.high64}};
}
