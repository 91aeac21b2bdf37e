// os_memory.c - large memory from the system, and waiting.
#include "base/files.h"

#include <sys/mman.h>

void holo_cpu_pause(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

void *holo_memory_take(size_t size)
{
    void *memory = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void holo_memory_free(void *memory, size_t size)
{
    if (memory) munmap(memory, size ? size : 1);
}
