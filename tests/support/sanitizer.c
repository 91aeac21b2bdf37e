// sanitizer.c - what the sanitizers are told by every test program: memory that there is none of gives NULL, as it does
// without them, so that the tests see what the library makes of it. And what tests leave out where they watch.
#include "support/watched.h"

#include <stdio.h>
#include <stdlib.h>

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define WATCHED 1
#endif
#elif defined __SANITIZE_ADDRESS__
#define WATCHED 1
#endif
#ifndef WATCHED
#define WATCHED 0
#endif

const char *__asan_default_options(void) __attribute__((visibility("default")));
const char *__tsan_default_options(void) __attribute__((visibility("default")));

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

int watched_step(const char *series, int step)
{
    if (!WATCHED || getenv("HOLO_TEST_ALL")) return 1;
    printf("under sanitizers one in %d of %s\n", step, series);
    return step;
}

bool is_watched(void)
{
    return WATCHED;
}
