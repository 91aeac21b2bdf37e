// os_guard.c - see guard.h; and leaks, see system.h.
#include "base/guard.h"
#include "base/system.h"

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define WATCHED
#endif
#elif defined __SANITIZE_ADDRESS__
#define WATCHED
#endif

#ifdef WATCHED

#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>

size_t holo_guard_gap(void)
{
    return 64;
}

void holo_guard_hide(const void *memory, size_t size)
{
    __asan_poison_memory_region(memory, size);
}

void holo_guard_show(const void *memory, size_t size)
{
    __asan_unpoison_memory_region(memory, size);
}

bool holo_memory_leaks(void)
{
    return __lsan_do_recoverable_leak_check();
}

#else

size_t holo_guard_gap(void)
{
    return 0;
}

void holo_guard_hide(const void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

void holo_guard_show(const void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

bool holo_memory_leaks(void)
{
    return false;
}

#endif
