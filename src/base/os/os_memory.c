// os_memory.c - large memory from the system, and waiting.
#include "base/files.h"
#include "base/memory.h"

#if !defined __wasm__ // os_wasm.c
#if defined  _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

void holo_cpu_pause(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

#if defined _WIN32

size_t holo_page_size(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

size_t holo_pages_extent(size_t size)
{
    return holo_align(size ? size : 1, holo_page_size());
}

char *holo_pages_take(size_t extent, uint32_t how)
{
    size_t page  = holo_page_size();
    char  *start = VirtualAlloc(NULL, extent + page, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (start && how & HOLO_MEMORY_READY)
        for (size_t at = 0; at < extent; at += page) ((volatile char *)start)[page + at] = 0;
    return start ? start + page : NULL;
}

void holo_pages_free(char *pages, size_t extent)
{
    (void)extent;
    VirtualFree(pages - holo_page_size(), 0, MEM_RELEASE);
}

#else

enum { LARGE_PAGE = 2 << 20 };

size_t holo_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static char *pages_take(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

// The bytes that are taken for `size`: whole pages; large ones if less than half of the last one would be unused.
size_t holo_pages_extent(size_t size)
{
    bool is_large = size >= LARGE_PAGE && size % LARGE_PAGE >= LARGE_PAGE / 2;
    return holo_align(size ? size : 1, is_large ? LARGE_PAGE : holo_page_size());
}

// Takes more than needed and gives back what lies before and behind the large pages. Keeps the page before the first.
static char *large_pages_take(size_t size)
{
    size_t page = holo_page_size(), room = size + page + LARGE_PAGE;
    char *memory = pages_take(room);
    if (!memory) return NULL;
    size_t skip = holo_align((size_t)memory + page, LARGE_PAGE) - page - (size_t)memory;
    if (skip) munmap(memory, skip);
    if (skip < LARGE_PAGE) munmap(memory + skip + page + size, LARGE_PAGE - skip);
#ifdef MADV_HUGEPAGE
    madvise(memory + skip + page, size, MADV_HUGEPAGE);
#endif
    return memory + skip;
}

char *holo_pages_take(size_t extent, uint32_t how)
{
    char *start = extent >= LARGE_PAGE ? large_pages_take(extent) : pages_take(extent + holo_page_size());
    if (!start) return NULL;
    char *pages = start + holo_page_size();
#ifdef MADV_POPULATE_WRITE
    if (how & HOLO_MEMORY_READY) madvise(pages, extent, MADV_POPULATE_WRITE);
#else
    (void)how;
#endif
    return pages;
}

void holo_pages_free(char *pages, size_t extent)
{
    munmap(pages - holo_page_size(), extent + holo_page_size());
}

#endif
#endif
