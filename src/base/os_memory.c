// os_memory.c - large memory from the system, and waiting.
#include "base/files.h"
#include "base/guard.h"
#include "base/memory.h"

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

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static char *pages_take(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

// The bytes that are taken for `size`: whole pages, and large ones where less than half of the last is left over.
static size_t extent(size_t size)
{
    bool is_large = size >= LARGE_PAGE && size % LARGE_PAGE >= LARGE_PAGE / 2;
    return holo_align(size ? size : 1, is_large ? LARGE_PAGE : page_size());
}

// Takes more, and gives back what lies before and behind the large pages; the page before the first is kept.
static char *large_pages_take(size_t size)
{
    size_t page = page_size(), room = size + page + LARGE_PAGE;
    char  *memory = pages_take(room);
    if (!memory) return NULL;
    size_t skip = holo_align((size_t)memory + page, LARGE_PAGE) - page - (size_t)memory;
    if (skip) munmap(memory, skip);
    if (skip < LARGE_PAGE) munmap(memory + skip + page + size, LARGE_PAGE - skip);
#ifdef MADV_HUGEPAGE
    madvise(memory + skip + page, size, MADV_HUGEPAGE);
#endif
    return memory + skip;
}

// Whose memory it is stands in the page before it.
static HoloAccount **owner_of(void *memory)
{
    return (HoloAccount **)memory - 1;
}

void *holo_memory_take(size_t size, uint32_t how)
{
    if (size > SIZE_MAX / 2) return holo_memory_refused(size), NULL;
    size_t       taken = extent(size), page = page_size();
    HoloAccount *account = holo_account_charge(taken + page);
    if (!account) return NULL;
    char *start = taken >= LARGE_PAGE ? large_pages_take(taken) : pages_take(taken + page);
    if (!start) {
        holo_account_refund(account, taken + page);
        holo_memory_refused(size);
        return NULL;
    }
    *owner_of(start + page) = account;
#ifdef MADV_POPULATE_WRITE
    if (how & HOLO_MEMORY_READY) madvise(start + page, taken, MADV_POPULATE_WRITE);
#endif
    return start + page;
}

void holo_memory_free(void *memory, size_t size)
{
    if (!memory) return;
    size_t       taken   = extent(size) + page_size();
    HoloAccount *account = *owner_of(memory);
    holo_guard_show(memory, extent(size));
    munmap((char *)memory - page_size(), taken);
    holo_account_refund(account, taken);
}
