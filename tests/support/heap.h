// heap.h - the heap of a test program, counted and made to fail.
//
// To be included by the one source file of a program: it defines malloc, calloc, realloc, free, mmap and munmap for
// the whole process and hands on to the real ones. Under the thread sanitizer, which needs these names for itself, and on
// Windows, where a program cannot replace them, it counts nothing: heap_is_counted is false.
#ifndef HOLO_TESTS_HEAP_H
#define HOLO_TESTS_HEAP_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#if defined __has_feature
#define HEAP_CLANG_HAS(x) __has_feature(x)
#else
#define HEAP_CLANG_HAS(x) 0
#endif

#if defined __SANITIZE_THREAD__ || HEAP_CLANG_HAS(thread_sanitizer) || defined _WIN32
enum { heap_is_counted = 0 };
#else
#define HEAP_COUNTS
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { heap_is_counted = 1 };
#endif

// Calls since heap_watch that asked for memory or gave some back, whoever made them.
static atomic_long heap_calls;
// Which call for memory of this thread is to fail, counted down; 0: none. The one that does sets heap_has_failed.
static _Thread_local long heap_fails_in;
static _Thread_local bool heap_has_failed;
// Maps that are there now, beyond those of heap_watch.
static atomic_long heap_maps;

static inline void heap_watch(void)
{
    atomic_store(&heap_calls, 0);
    atomic_store(&heap_maps, 0);
}

// Has the n-th call for memory of this thread from now on fail; 0: none.
static inline void heap_fail(long n)
{
    heap_has_failed = false;
    heap_fails_in   = n;
}

// The heap is in use before a sanitizer is ready: what it passes through is not instrumented.
#define HEAP_PLAIN __attribute__((no_sanitize("address", "undefined")))

// One more call for memory: is it the one to fail?
HEAP_PLAIN static inline bool heap_refuses(void)
{
    atomic_fetch_add_explicit(&heap_calls, 1, memory_order_relaxed);
    if (!heap_fails_in || --heap_fails_in) return false;
    heap_has_failed = true;
    errno           = ENOMEM;
    return true;
}

#ifdef HEAP_COUNTS

#if defined __SANITIZE_ADDRESS__ || HEAP_CLANG_HAS(address_sanitizer)
#define HEAP_REAL(name) __interceptor_##name // so that the sanitizer still sees every block
#else
#define HEAP_REAL(name) __libc_##name
#endif

void *HEAP_REAL(malloc)(size_t size);
void *HEAP_REAL(calloc)(size_t count, size_t size);
void *HEAP_REAL(realloc)(void *old, size_t size);
void  HEAP_REAL(free)(void *memory);

#define HEAP_EXPORT HEAP_PLAIN __attribute__((visibility("default")))

HEAP_EXPORT void *malloc(size_t size)
{
    return heap_refuses() ? NULL : HEAP_REAL(malloc)(size);
}

HEAP_EXPORT void *calloc(size_t count, size_t size)
{
    return heap_refuses() ? NULL : HEAP_REAL(calloc)(count, size);
}

HEAP_EXPORT void *realloc(void *old, size_t size)
{
    return heap_refuses() ? NULL : HEAP_REAL(realloc)(old, size);
}

HEAP_EXPORT void free(void *memory)
{
    if (memory) atomic_fetch_add_explicit(&heap_calls, 1, memory_order_relaxed);
    HEAP_REAL(free)(memory);
}

HEAP_EXPORT void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    if (heap_refuses()) return MAP_FAILED;
    long result = syscall(SYS_mmap, address, size, protection, flags, fd, offset);
    if (result != -1) atomic_fetch_add(&heap_maps, 1);
    return (void *)result;
}

HEAP_EXPORT int munmap(void *address, size_t size)
{
    atomic_fetch_add_explicit(&heap_calls, 1, memory_order_relaxed);
    atomic_fetch_sub(&heap_maps, 1);
    return (int)syscall(SYS_munmap, address, size);
}

#endif
#endif
