// memory.c - memory of a short-lived program: never freed singly, all freed at the end.

#include "cli.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct Block {
    struct Block *next;
    _Alignas(16) char data[];
} Block;

static Block *blocks;

void *cli_take(size_t count, size_t size)
{
    size_t bytes;
    Block *block = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes) && bytes <= SIZE_MAX / 2) block = calloc(1, sizeof *block + bytes);
    if (!block) {
        fprintf(stderr, "hologram: out of memory: cannot allocate %zu times %zu bytes\n", count, size);
        exit(CLI_FAILED);
    }
    block->next = blocks;
    blocks      = block;
    return block->data;
}

void *cli_grow(void *old, size_t old_count, size_t count, size_t size)
{
    void *grown = cli_take(count, size);
    if (old_count) memcpy(grown, old, old_count * size);
    return grown;
}

char *cli_format(const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int   size = vsnprintf(NULL, 0, format, args);
    char *text = cli_take((size_t)(size < 0 ? 0 : size) + 1, 1);
    vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

const char *cli_counted(uint64_t count, const char *noun)
{
    return cli_format("%llu %s%s", (unsigned long long)count, noun, count == 1 ? "" : "s");
}

void cli_free_all(void)
{
    while (blocks) {
        Block *block = blocks;
        blocks       = block->next;
        free(block);
    }
}
