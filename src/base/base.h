// base.h - what every room may use: errors, checked sizes, arenas. It knows nothing about models.
#ifndef HOLO_BASE_H
#define HOLO_BASE_H

#include "hologram.h"

#include <stdarg.h>

// ---- errors

// Records a message (the first wins) and returns `status`. `error` may be NULL.
HOLO_MUST HoloStatus holo_fail(HoloError *error, HoloStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
HOLO_MUST HoloStatus holo_fail_v(HoloError *error, HoloStatus status, const char *format, va_list args);
HOLO_MUST HoloStatus holo_fail_memory(HoloError *error); // HOLO_NO_MEMORY, with a message

#define HOLO_TRY(expression)                           \
    do {                                               \
        HoloStatus holo_try_status_ = (expression);    \
        if (holo_try_status_) return holo_try_status_; \
    } while (0)

#define HOLO_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

// ---- arithmetic on sizes from files: true if the result fits

static inline bool holo_mul(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool holo_add(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}
static inline bool holo_size_mul(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool holo_size_add(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}
static inline size_t holo_align(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}
static inline int64_t holo_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t holo_ceil_div(int64_t a, int64_t b) // a >= 0, b > 0
{
    return a / b + (a % b != 0);
}

// ---- memory

// All heap memory of the library goes through these two functions, which count it against limits (base/memory.h).
void *holo_realloc(void *old, size_t size); // NULL: no memory, and `old` is unchanged; size 0 gives 1 byte
void  holo_free(void *memory);

// An arena: many allocations that are freed together. Set it to zeros first. Memory is zeroed; it is 64-byte aligned
// from 64 bytes on, and 16-byte aligned below.
typedef struct HoloArena {
    struct HoloArenaBlock *block; // newest first
    struct HoloArenaBlock *spare; // emptied blocks, kept for reuse
    size_t                 total; // bytes held from the heap
    size_t                 most;  // that it may hold; 0: no limit
} HoloArena;

typedef struct HoloArenaMark {
    struct HoloArenaBlock *block;
    size_t                 used;
} HoloArenaMark;

void  *holo_arena_take(HoloArena *arena, size_t size);                   // NULL: no memory
void  *holo_arena_take_raw(HoloArena *arena, size_t size);               // the same, not zeroed
char  *holo_arena_text(HoloArena *arena, const char *text, size_t size); // copied, with a 0 at the end; NULL: no memory
char  *holo_arena_format(HoloArena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void   holo_arena_deinit(HoloArena *arena);
size_t holo_arena_used(const HoloArena *arena); // bytes in use
// Gives back everything taken after the mark. Blocks are kept for reuse as long as they are large enough.
HoloArenaMark holo_arena_mark(const HoloArena *arena);
void          holo_arena_reset(HoloArena *arena, HoloArenaMark mark);

#define HOLO_NEW(arena, type, count) ((type *)holo_arena_take_array((arena), (size_t)(count), sizeof(type)))
void *holo_arena_take_array(HoloArena *arena, size_t count, size_t size); // NULL also on overflow

// Makes room for one more element behind the first `count` of a list. A full list moves and doubles. The list is a
// pointer, and `room` is an int beside it; both begin as 0. False: no memory.
#define HOLO_GROW(arena, list, count, room) holo_arena_grow((arena), &(list), (count), &(room), sizeof *(list))
bool holo_arena_grow(HoloArena *arena, void *list, int count, int *room, size_t size); // list: address of a pointer

// ---- a seeded generator of random numbers, the same everywhere

typedef struct HoloRandom {
    uint64_t state;
} HoloRandom;
uint64_t holo_random_next(HoloRandom *random);   // 64 uniform bits
double   holo_random_unit(HoloRandom *random);   // in [0, 1)
double   holo_random_normal(HoloRandom *random); // mean 0, variance 1

#endif
