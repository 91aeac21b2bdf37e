// pack.c - places blocks greedily by size: the largest first, each at the lowest offset that is free while it lives.
#include "base/pack.h"

#include <stdlib.h>

enum { ALIGN = 64 };

static int by_size(const void *a, const void *b)
{
    const HoloBlock *x = *(HoloBlock *const *)a, *y = *(HoloBlock *const *)b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool meet(const HoloBlock *a, const HoloBlock *b)
{
    return a->from <= b->to && b->from <= a->to;
}

// The lowest free offset for `block` among the blocks placed before, which are sorted by offset.
static uint64_t offset_free(const HoloBlock *block, HoloBlock *const *placed, int count)
{
    uint64_t at = 0;
    for (int i = 0; i < count; i++) {
        const HoloBlock *p = placed[i];
        if (!meet(p, block)) continue;
        if (p->offset >= at && p->offset - at >= block->size) return at;
        uint64_t end = holo_align(p->offset + p->size, ALIGN);
        if (end > at) at = end;
    }
    return at;
}

static void place(HoloBlock *block, HoloBlock **placed, int count)
{
    int i = count;
    for (; i > 0 && placed[i - 1]->offset > block->offset; i--) placed[i] = placed[i - 1];
    placed[i] = block;
}

bool holo_pack(HoloBlock *blocks, int count, uint64_t *out_size)
{
    *out_size         = 0;
    HoloBlock **order = holo_realloc(NULL, 2 * (size_t)(count > 0 ? count : 1) * sizeof *order);
    if (!order) return false;
    HoloBlock **placed = order + count;
    int         used = 0, done = 0;
    bool        ok = true;
    for (int i = 0; i < count; i++) {
        blocks[i].offset = 0;
        if (blocks[i].size) order[used++] = &blocks[i];
    }
    qsort(order, (size_t)used, sizeof *order, by_size);
    for (int i = 0; ok && i < used; i++) {
        HoloBlock *b = order[i];
        ok           = b->size < UINT64_MAX / 4;
        if (!ok) break;
        b->offset = offset_free(b, placed, done);
        place(b, placed, done++);
        ok = b->offset < UINT64_MAX / 4;
        if (b->offset + b->size > *out_size) *out_size = b->offset + b->size;
    }
    holo_free(order);
    return ok;
}
