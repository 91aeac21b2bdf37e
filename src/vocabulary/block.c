// block.c - the block of a compiled tokenizer while it is written; double arrays. See block.h.
#include "vocabulary/block.h"

#include <stdlib.h>
#include <string.h>

HoloStatus holo_block_add(HoloTokenBlock *block, const void *data, size_t count, size_t size, HoloTextSpan *out,
                          HoloError *error)
{
    size_t start = holo_align(block->size, 8), bytes, end;
    if (!holo_size_mul(count, size, &bytes) || !holo_size_add(start, bytes, &end) || end > INT32_MAX)
        return holo_fail(error, HOLO_UNSUPPORTED, "the tokenizer is too large: its tables would have more than 2 GiB");
    if (end > block->room) {
        size_t room = block->room ? block->room : 1 << 16;
        while (room < end) room *= 2;
        uint8_t *more = holo_arena_take(block->arena, room);
        if (!more) return holo_fail_memory(error);
        if (block->size) memcpy(more, block->data, block->size);
        block->data = more;
        block->room = room;
    }
    if (data && bytes) memcpy(block->data + start, data, bytes);
    block->size = end;
    *out        = (HoloTextSpan){(uint32_t)(start + sizeof(HoloTokenizerHeader)), (uint32_t)count};
    return HOLO_OK;
}

HoloStatus holo_block_add_step(HoloTokenBlock *block, int which, const HoloTextStep *step, HoloError *error)
{
    if (!HOLO_GROW(block->arena, block->step[which], block->step_count[which], block->step_room[which]))
        return holo_fail_memory(error);
    block->step[which][block->step_count[which]++] = *step;
    return HOLO_OK;
}

HoloStatus holo_block_finish(HoloTokenBlock *block, const void **out_bytes, size_t *out_size, HoloError *error)
{
    HoloTokenizerHeader *h       = &block->header;
    HoloTextSpan        *steps[] = {&h->normalizers, &h->splits, &h->decoders};
    for (int i = 0; i < 3; i++)
        HOLO_TRY(holo_block_add(block, block->step[i], (size_t)block->step_count[i], sizeof *block->step[i], steps[i],
                                error));
    HOLO_TRY(holo_block_add(block, block->pattern, (size_t)block->pattern_count, sizeof *block->pattern, &h->patterns,
                            error));
    size_t   size  = sizeof *h + block->size;
    uint8_t *bytes = holo_arena_take(block->arena, size);
    if (!bytes) return holo_fail_memory(error);
    memcpy(h->magic, HOLO_TOKENIZER_MAGIC, sizeof h->magic);
    h->version        = HOLO_TOKENIZER_VERSION;
    h->size           = (uint32_t)size;
    HoloTextSpan none = {sizeof *h, 0};
    for (HoloTextSpan *s = &h->text; s <= &h->patterns; s++)
        if (!s->start) *s = none;
    memcpy(bytes, h, sizeof *h);
    memcpy(bytes + sizeof *h, block->data, block->size);
    *out_bytes = bytes;
    *out_size  = size;
    return HOLO_OK;
}

// ---- double arrays

typedef struct Range { // entries that share `depth` bytes, and the node of these
    size_t   first, last, depth;
    uint32_t node;
} Range;

typedef struct Builder {
    HoloArena           *arena;
    Range               *stack; // what is still to be placed
    int                  stack_count, stack_room;
    HoloTrieNode        *node;
    uint32_t             count, room; // count: up to the last that is used
    uint32_t             free_from;   // no place before it is free
    const HoloTrieEntry *entry;
    bool                 is_failed;
} Builder;

static int by_text(const void *a, const void *b)
{
    HoloString x = ((const HoloTrieEntry *)a)->text, y = ((const HoloTrieEntry *)b)->text;
    int        c = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
    return c ? c : (x.size > y.size) - (x.size < y.size);
}

static bool reserve(Builder *b, uint32_t place)
{
    if (place < b->room) return true;
    uint32_t room = b->room ? b->room : 1024;
    while (room <= place && room < UINT32_MAX / 4) room *= 2;
    HoloTrieNode *more = room > place ? HOLO_NEW(b->arena, HoloTrieNode, room) : NULL;
    if (!more) return !(b->is_failed = true);
    if (b->room) memcpy(more, b->node, b->room * sizeof *more);
    for (uint32_t i = b->room; i < room; i++) more[i] = (HoloTrieNode){0, HOLO_NO_TOKEN, HOLO_NO_TOKEN};
    b->node = more;
    b->room = room;
    return true;
}

// A base at which all these bytes are free. Bases are multiples of nothing: the children of base lie at base ^ byte.
static uint32_t find_base(Builder *b, const uint8_t *byte, int count)
{
    while (reserve(b, b->free_from) && b->node[b->free_from].check != HOLO_NO_TOKEN) b->free_from++;
    for (uint32_t place = b->free_from; !b->is_failed; place++) {
        uint32_t base = place ^ byte[0];
        int      i    = 0;
        if (!reserve(b, place | 255)) break;
        while (i < count && (base ^ byte[i]) && b->node[base ^ byte[i]].check == HOLO_NO_TOKEN) i++;
        if (i == count) {
            if (place - b->free_from > 4096 && b->free_from + 64 < place)
                b->free_from += 64; // do not look at crowded places forever
            return base;
        }
    }
    return 0;
}

static void stack_push(Builder *b, Range range)
{
    if (HOLO_GROW(b->arena, b->stack, b->stack_count, b->stack_room))
        b->stack[b->stack_count++] = range;
    else
        b->is_failed = true;
}

static void place_children(Builder *b, Range r)
{
    uint8_t byte[256];
    size_t  begin[257];
    int     count = 0;
    for (size_t i = r.first; i < r.last; i++) {
        if (b->entry[i].text.size == r.depth) {
            b->node[r.node].token = b->entry[i].value;
            continue;
        }
        uint8_t c = (uint8_t)b->entry[i].text.data[r.depth];
        if (!count || byte[count - 1] != c) {
            byte[count]    = c;
            begin[count++] = i;
        }
    }
    begin[count] = r.last;
    if (!count) return;
    uint32_t base = find_base(b, byte, count);
    if (b->is_failed) return;
    b->node[r.node].base = base;
    for (int k = 0; k < count; k++) {
        uint32_t child       = base ^ byte[k];
        b->node[child].check = r.node;
        if (child >= b->count) b->count = child + 1;
        stack_push(b, (Range){begin[k], begin[k + 1], r.depth + 1, child});
    }
}

HoloStatus holo_block_add_trie(HoloTokenBlock *block, HoloTrieEntry *entry, size_t count, HoloTextSpan *out,
                               HoloError *error)
{
    HoloArena scratch = {0};
    if (count) qsort(entry, count, sizeof *entry, by_text);
    Builder b   = {.arena = &scratch, .entry = entry, .count = 1, .free_from = 1};
    b.is_failed = !reserve(&b, 256);
    if (!b.is_failed) stack_push(&b, (Range){0, count, 0, 0});
    while (b.stack_count && !b.is_failed) place_children(&b, b.stack[--b.stack_count]);
    HoloStatus status =
        b.is_failed ? holo_fail_memory(error) : holo_block_add(block, b.node, b.count, sizeof *b.node, out, error);
    holo_arena_deinit(&scratch);
    return status;
}
