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

// The bytes that are taken for `size`: whole pages, and large ones where less than half of the last is left over.
static size_t extent(size_t size)
{
    bool is_large = size >= LARGE_PAGE && size % LARGE_PAGE >= LARGE_PAGE / 2;
    return size ? holo_align(size, is_large ? LARGE_PAGE : (size_t)sysconf(_SC_PAGESIZE)) : 1;
}

// Takes more, and gives back what lies before and behind the large pages.
static void *large_pages_take(size_t size)
{
    size_t room;
    char  *memory = holo_size_add(size, LARGE_PAGE, &room) ? pages_take(room) : NULL;
    if (!memory) return NULL;
    size_t skip = holo_align((size_t)memory, LARGE_PAGE) - (size_t)memory;
    if (skip) munmap(memory, skip);
    if (skip < LARGE_PAGE) munmap(memory + skip + size, LARGE_PAGE - skip);
#ifdef MADV_HUGEPAGE
    madvise(memory + skip, size, MADV_HUGEPAGE);
#endif
    return memory + skip;
}

void *holo_memory_take(size_t size, uint32_t how)
{
    if (size > SIZE_MAX / 2) return NULL;
    size_t taken  = extent(size);
    void  *memory = taken >= LARGE_PAGE ? large_pages_take(taken) : pages_take(taken);
#ifdef MADV_POPULATE_WRITE
    if (memory && how & HOLO_MEMORY_READY) madvise(memory, taken, MADV_POPULATE_WRITE);
#endif
    return memory;
}

void holo_memory_free(void *memory, size_t size)
{
    if (memory) munmap(memory, extent(size));
}
