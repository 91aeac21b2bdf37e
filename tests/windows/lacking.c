// lacking.c - see lacking.h. Linked into tests for Windows alone.
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <stdio.h>
#include <string.h>
#undef free

static struct {
    SRWLOCK lock;
    void  **taken; // what is aligned, in any order
    size_t  count, room;
} aligned = {.lock = SRWLOCK_INIT};

void *holo_test_aligned(size_t align, size_t size)
{
    void *memory = _aligned_malloc(size, align);
    AcquireSRWLockExclusive(&aligned.lock);
    if (aligned.count == aligned.room) {
        aligned.room  = aligned.room * 2 + 64;
        aligned.taken = realloc(aligned.taken, aligned.room * sizeof *aligned.taken);
        if (!aligned.taken) abort();
    }
    aligned.taken[aligned.count++] = memory;
    ReleaseSRWLockExclusive(&aligned.lock);
    return memory;
}

static bool is_aligned(const void *memory)
{
    bool is_found = false;
    AcquireSRWLockExclusive(&aligned.lock);
    for (size_t i = aligned.count; i-- > 0 && !is_found;) {
        if (aligned.taken[i] != memory) continue;
        aligned.taken[i] = aligned.taken[--aligned.count];
        is_found         = true;
    }
    ReleaseSRWLockExclusive(&aligned.lock);
    return is_found;
}

void holo_test_free(void *memory)
{
    if (memory && is_aligned(memory))
        _aligned_free(memory);
    else
        free(memory);
}

int holo_test_setenv(const char *name, const char *value)
{
    return _putenv_s(name, value);
}

char *holo_test_strsep(char **text, const char *ends)
{
    char *word = *text;
    if (!word) return NULL;
    char *end = word + strcspn(word, ends);
    *text     = *end ? end + 1 : NULL;
    *end      = 0;
    return word;
}
