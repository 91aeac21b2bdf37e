// pack.c - places blocks greedily by size: the largest first, each at the lowest offset that is free while it lives.
//
// Blocks in the order of their first moments are the leaves of a tree, which knows the last moment of those that are
// placed. So what lives together with a block is found without a look at all others. If very many live together, the
// smallest ones share no memory: their places would take too long to find.
#include "base/pack.h"

#include <stdlib.h>

enum { ALIGN = 64, LOOKS_MAX = 1 << 25 };

typedef struct Packing {
    HoloBlock **by_size, **by_from, **met; // met: those placed that live together with a block
    uint64_t   *end;                       // of each node of the tree: 1 + the last moment; 0: none is placed
    int         count, width, met_count;   // width: leaves of the tree
} Packing;

static int by_size(const void *a, const void *b)
{
    const HoloBlock *x = *(HoloBlock *const *)a, *y = *(HoloBlock *const *)b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int by_from(const void *a, const void *b)
{
    const HoloBlock *x = *(HoloBlock *const *)a, *y = *(HoloBlock *const *)b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int by_offset(const void *a, const void *b)
{
    const HoloBlock *x = *(HoloBlock *const *)a, *y = *(HoloBlock *const *)b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

// Finds what is placed among the first `count` leaves and lives at `from` or later. The node has the leaves from
// `first` on.
static void meet(Packing *p, int node, int first, int leaves, int count, uint32_t from)
{
    if (first >= count || p->end[node] <= from) return;
    if (leaves == 1) {
        p->met[p->met_count++] = p->by_from[first];
        return;
    }
    meet(p, 2 * node, first, leaves / 2, count, from);
    meet(p, 2 * node + 1, first + leaves / 2, leaves / 2, count, from);
}

// How many blocks begin at `to` or before.
static int begun(const Packing *p, uint32_t to)
{
    int low = 0, high = p->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (p->by_from[middle]->from <= to)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The lowest offset for `block` that none of those that it meets has.
static uint64_t offset_free(Packing *p, const HoloBlock *block)
{
    uint64_t at = 0;
    qsort(p->met, (size_t)p->met_count, sizeof *p->met, by_offset);
    for (int i = 0; i < p->met_count; i++) {
        const HoloBlock *other = p->met[i];
        if (other->offset >= at && other->offset - at >= block->size) return at;
        uint64_t end = holo_align(other->offset + other->size, ALIGN);
        if (end > at) at = end;
    }
    return at;
}

static void placed(Packing *p, HoloBlock *block)
{
    HoloBlock **leaf = bsearch(&block, p->by_from, (size_t)p->count, sizeof *p->by_from, by_from);
    for (int node = p->width + (int)(leaf - p->by_from); node; node /= 2)
        if (p->end[node] < (uint64_t)block->to + 1) p->end[node] = (uint64_t)block->to + 1;
}

static bool pack(Packing *p, uint64_t *out_size)
{
    int64_t looks = 0;
    qsort(p->by_size, (size_t)p->count, sizeof *p->by_size, by_size);
    qsort(p->by_from, (size_t)p->count, sizeof *p->by_from, by_from);
    for (int i = 0; i < p->count; i++) {
        HoloBlock *b = p->by_size[i];
        if (b->size >= UINT64_MAX / 4) return false;
        p->met_count = 0;
        if (looks < LOOKS_MAX) meet(p, 1, 0, p->width, begun(p, b->to), b->from);
        b->offset = looks < LOOKS_MAX ? offset_free(p, b) : holo_align(*out_size, ALIGN);
        looks += p->met_count;
        placed(p, b);
        if (b->offset >= UINT64_MAX / 4) return false;
        if (b->offset + b->size > *out_size) *out_size = b->offset + b->size;
    }
    return true;
}

bool holo_pack(HoloBlock *blocks, int count, uint64_t *out_size)
{
    Packing p = {.width = 1};
    *out_size = 0;
    for (int i = 0; i < count; i++) p.count += blocks[i].size != 0;
    while (p.width < p.count && p.width < 1 << 29) p.width *= 2;
    size_t lists = 3 * (size_t)p.count * sizeof *p.by_size, tree = 2 * (size_t)p.width * sizeof *p.end;
    p.end = holo_realloc(NULL, tree + lists);
    if (!p.end || p.width < p.count) return holo_free(p.end), false;
    p.by_size = (HoloBlock **)(p.end + 2 * (size_t)p.width);
    p.by_from = p.by_size + p.count;
    p.met     = p.by_from + p.count;
    for (int i = 0; i < 2 * p.width; i++) p.end[i] = 0;
    for (int i = 0, used = 0; i < count; i++) {
        blocks[i].offset = 0;
        if (blocks[i].size) p.by_size[used] = p.by_from[used] = &blocks[i], used++;
    }
    bool ok = pack(&p, out_size);
    holo_free(p.end);
    return ok;
}
