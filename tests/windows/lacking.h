// lacking.h - what tests use of POSIX and C11 that Windows has not, for builds there: the build includes it in front of
// each.
#ifndef HOLO_TESTS_LACKING_H
#define HOLO_TESTS_LACKING_H

#include <direct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

// Memory that is aligned has its own way to be freed, which free takes for it. See lacking.c.
void *holo_test_aligned(size_t align, size_t size);
void  holo_test_free(void *memory);
int   holo_test_setenv(const char *name, const char *value);
char *holo_test_strsep(char **text, const char *ends);

#define aligned_alloc(align, size)    holo_test_aligned(align, size)
#define posix_memalign(out, align, n) ((*(out) = holo_test_aligned(align, n)) ? 0 : 1)
#define free(memory)                  holo_test_free(memory)
#define setenv(name, value, over)     holo_test_setenv(name, value)
#define unsetenv(name)                holo_test_setenv(name, "")
#define strsep(text, ends)            holo_test_strsep(text, ends)
#define mkdir(path, mode)             _mkdir(path)
#define symlink(path, link)           (-1) // only some users may

#endif
