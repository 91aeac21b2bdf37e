// arena.c - arenas on the heap.
#include "base/guard.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

struct HoloArenaBlock {
    struct HoloArenaBlock *next;
    size_t                 size, used; // counts the bytes that follow, from the first aligned one
    size_t                 total;      // with what lies before them
    char                  *start;
};

enum { BLOCK_MIN = 64 << 10, WIDE = 64, NARROW = 16 };

// Frees a list of blocks. Returns how many bytes they held.
static size_t blocks_free(struct HoloArenaBlock *block)
{
    size_t total = 0;
    while (block) {
        struct HoloArenaBlock *next = block->next;
        total += block->size;
        holo_guard_show(block->start, block->size); // the owner of the memory may use it again
        holo_block_free(block, block->total);
        block = next;
    }
    return total;
}

// A block with room for `size` bytes: an emptied one if it is large enough, else a new one. Emptied blocks that are all
// too small are freed; otherwise an arena whose use grows from time to time would keep a block of every size.
static struct HoloArenaBlock *block_get(HoloArena *arena, size_t size)
{
    for (struct HoloArenaBlock **p = &arena->spare; *p; p = &(*p)->next)
        if ((*p)->size >= size) {
            struct HoloArenaBlock *found = *p;
            *p                           = found->next;
            return found;
        }
    arena->total -= blocks_free(arena->spare);
    arena->spare = NULL;
    size_t room  = size < BLOCK_MIN ? BLOCK_MIN : size, total;
    if (size < BLOCK_MIN && arena->total > room) room = arena->total < (16 << 20) ? arena->total : (16 << 20);
    if (!holo_size_add(room, sizeof(struct HoloArenaBlock) + WIDE, &total)) return holo_memory_refused(SIZE_MAX), NULL;
    if (arena->most && (arena->total > arena->most || room > arena->most - arena->total))
        return holo_memory_refused(room), NULL;
    struct HoloArenaBlock *block = holo_block_take(total);
    if (!block) return NULL;
    block->total    = total;
    uintptr_t start = (uintptr_t)(block + 1);
    block->start    = (char *)(block + 1) + (holo_align(start, WIDE) - start);
    block->size     = room;
    arena->total += room;
    holo_guard_hide(block->start, room);
    return block;
}

void *holo_arena_take_raw(HoloArena *arena, size_t size)
{
    size_t                 align = size >= WIDE ? WIDE : NARROW;
    struct HoloArenaBlock *block = arena->block;
    size_t                 at    = block ? holo_align(block->used + holo_guard_gap(), align) : 0;
    if (!block || at > block->size || size > block->size - at) {
        block = block_get(arena, size);
        if (!block) return NULL;
        block->next  = arena->block;
        arena->block = block;
        at           = 0;
    }
    block->used = at + size;
    holo_guard_show(block->start + at, size);
    return block->start + at;
}

void *holo_arena_take(HoloArena *arena, size_t size)
{
    void *memory = holo_arena_take_raw(arena, size);
    return memory ? memset(memory, 0, size) : NULL;
}

void *holo_arena_take_array(HoloArena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (!holo_size_mul(count, size, &bytes)) return holo_memory_refused(SIZE_MAX), NULL;
    return holo_arena_take(arena, bytes);
}

bool holo_arena_grow(HoloArena *arena, void *list, int count, int *room, size_t size)
{
    void *old, *more;
    if (count < *room) return true;
    if (*room > INT32_MAX / 2) return false;
    int wide = *room ? 2 * *room : 16;
    more     = holo_arena_take_array(arena, (size_t)wide, size);
    if (!more) return false;
    memcpy(&old, list, sizeof old); // the pointer may have any type
    if (count) memcpy(more, old, (size_t)count * size);
    memcpy(list, &more, sizeof more);
    *room = wide;
    return true;
}

char *holo_arena_text(HoloArena *arena, const char *text, size_t size)
{
    char *copy = size < SIZE_MAX ? holo_arena_take(arena, size + 1) : NULL;
    if (copy && size) memcpy(copy, text, size);
    return copy;
}

char *holo_arena_format(HoloArena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int   size = vsnprintf(NULL, 0, format, args);
    char *text = size < 0 ? NULL : holo_arena_take(arena, (size_t)size + 1);
    if (text) vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

void holo_arena_deinit(HoloArena *arena)
{
    blocks_free(arena->block);
    blocks_free(arena->spare);
    *arena = (HoloArena){0};
}

size_t holo_arena_used(const HoloArena *arena)
{
    size_t used = 0;
    for (const struct HoloArenaBlock *block = arena->block; block; block = block->next) used += block->used;
    return used;
}

HoloArenaMark holo_arena_mark(const HoloArena *arena)
{
    return (HoloArenaMark){arena->block, arena->block ? arena->block->used : 0};
}

void holo_arena_reset(HoloArena *arena, HoloArenaMark mark)
{
    while (arena->block != mark.block) {
        struct HoloArenaBlock *block = arena->block;
        arena->block                 = block->next;
        block->next                  = arena->spare;
        arena->spare                 = block;
        holo_guard_hide(block->start, block->size);
    }
    if (!arena->block) return;
    arena->block->used = mark.used;
    holo_guard_hide(arena->block->start + mark.used, arena->block->size - mark.used);
}
