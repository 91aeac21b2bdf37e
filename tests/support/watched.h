// watched.h - long series of cases where sanitizers watch, which makes each ten times slower.
#ifndef HOLO_TESTS_WATCHED_H
#define HOLO_TESTS_WATCHED_H

#include <stdbool.h>

// How far apart the cases are that a test takes of a series. It is 1, and under the address sanitizer `step`, which is
// told on standard output; with HOLO_TEST_ALL in the environment it is 1 there, too.
int watched_step(const char *series, int step);
// Whether the address sanitizer watches: then each value of a plan has memory of its own.
bool is_watched(void);

// What a test computes to compare with: sanitizers need not watch it.
#define UNWATCHED __attribute__((no_sanitize("address", "undefined")))

#endif
