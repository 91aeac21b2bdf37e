// os_hash.c - XXH3-128 from the xxhash header, compiled for AVX2 where the machine is an x86-64; a number by chance.
#include "base/files.h"
#include "base/hash_wide.h"

#include <stdatomic.h>
#include <string.h>
#if defined __linux__
#include <sys/auxv.h>
#endif

// Here, and not behind the words for AVX2: every machine runs it.
uint64_t holo_hash_seed(void)
{
    static _Atomic uint64_t seed; // threads that come at once find the same
    uint64_t                known = atomic_load(&seed), made = (uint64_t)(uintptr_t)&seed, time;
    if (known) return known;
#if defined __linux__
    const void *random = (const void *)getauxval(AT_RANDOM); // 16 bytes
    if (random) memcpy(&made, random, sizeof made);
#endif
    double now = holo_time_now();
    memcpy(&time, &now, sizeof time);
    made = (made ^ time) * 0x9e3779b97f4a7c15u | 1;
    return atomic_compare_exchange_strong(&seed, &known, made) ? made : known;
}

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
