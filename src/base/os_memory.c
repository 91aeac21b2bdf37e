// os_memory.c - large memory from the system, and waiting.
#include "base/files.h"

#include <sys/mman.h>
#include <unistd.h>

void holo_cpu_pause(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

enum { LARGE_PAGE = 2 << 20 };

static void *pages_take(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

// Takes more, and gives back what lies before and behind the large pages.
static void *large_pages_take(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room, end = holo_align(size, page);
    char  *memory = holo_size_add(end, LARGE_PAGE, &room) ? pages_take(room) : NULL;
    if (!memory) return NULL;
    size_t skip = holo_align((size_t)memory, LARGE_PAGE) - (size_t)memory;
    if (skip) munmap(memory, skip);
    if (skip < LARGE_PAGE) munmap(memory + skip + end, LARGE_PAGE - skip);
#ifdef MADV_HUGEPAGE
    madvise(memory + skip, end, MADV_HUGEPAGE);
#endif
    return memory + skip;
}

void *holo_memory_take(size_t size, uint32_t how)
{
    if (size > SIZE_MAX / 2) return NULL;
    void *memory = size >= LARGE_PAGE ? large_pages_take(size) : pages_take(size ? size : 1);
#ifdef MADV_POPULATE_WRITE
    if (memory && how & HOLO_MEMORY_READY) madvise(memory, size, MADV_POPULATE_WRITE);
#endif
    return memory;
}

void holo_memory_free(void *memory, size_t size)
{
    if (memory) munmap(memory, size ? size : 1);
}
