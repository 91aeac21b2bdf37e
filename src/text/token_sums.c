// token_sums.c - what is known of all tokens of a branch of the tree: their characters and, of large branches, their bits.
#include "text/grammar.h"

#include <string.h>

enum { TOKENS_FEW = 8, TOKENS_MANY = 1024 }; // branches that have a sum; and bits of their own

// ---- UTF-8, byte by byte

enum { EDGE, NEED_1, NEED_2, AFTER_E0, AFTER_ED, NEED_3, AFTER_F0, AFTER_F4, BROKEN };

static uint8_t utf8_step(uint8_t state, uint8_t byte)
{
    static const struct {
        uint8_t low, high, next;
    } rows[] = {
        [NEED_1] = {0x80, 0xBF, EDGE},     [NEED_2] = {0x80, 0xBF, NEED_1}, [AFTER_E0] = {0xA0, 0xBF, NEED_1},
        [AFTER_ED] = {0x80, 0x9F, NEED_1}, [NEED_3] = {0x80, 0xBF, NEED_2}, [AFTER_F0] = {0x90, 0xBF, NEED_2},
        [AFTER_F4] = {0x80, 0x8F, NEED_2}, [BROKEN] = {1, 0, BROKEN},
    };
    if (state != EDGE) return byte >= rows[state].low && byte <= rows[state].high ? rows[state].next : BROKEN;
    if (byte < 0x80) return EDGE;
    if (byte < 0xC2 || byte > 0xF4) return BROKEN;
    if (byte < 0xE0) return NEED_1;
    if (byte < 0xF0) return byte == 0xE0 ? AFTER_E0 : byte == 0xED ? AFTER_ED : NEED_2;
    return byte == 0xF0 ? AFTER_F0 : byte == 0xF4 ? AFTER_F4 : NEED_3;
}

// ---- sums

typedef struct OpenBranch { // on the way to the node that is looked at
    uint32_t     node;
    uint8_t      before, after; // of its byte, as UTF-8
    HoloTokenSum sum;
} OpenBranch;

static bool bits_add(HoloTokenTree *t, uint32_t first, uint32_t end, HoloTokenSum *sum)
{
    size_t    words = (t->count + 63) / 64, at = t->bits_count * words;
    uint64_t *more = holo_realloc(t->bits, (at + words) * sizeof *more);
    if (!more) return false;
    t->bits = more;
    memset(more + at, 0, words * sizeof *more);
    for (uint32_t i = first; i < end; i++) more[at + t->order[i] / 64] |= UINT64_C(1) << t->order[i] % 64;
    sum->bits = ++t->bits_count;
    return true;
}

// A branch is complete: what is known of it is kept, and is true of the one that it belongs to.
static bool branch_close(HoloTokenTree *t, OpenBranch *b, OpenBranch *parent)
{
    HoloTokenNode *n   = &t->node[b->node];
    uint32_t       end = holo_tree_end(t, n);
    if (parent) {
        parent->sum.ascii[0] |= b->sum.ascii[0];
        parent->sum.ascii[1] |= b->sum.ascii[1];
        parent->sum.has_wide |= b->sum.has_wide;
        parent->sum.is_odd |= b->sum.is_odd;
    }
    if (b->before != EDGE || b->sum.is_odd || end - n->first < TOKENS_FEW) return true;
    if (end - n->first >= TOKENS_MANY && !bits_add(t, n->first, end, &b->sum)) return false;
    if (t->sum_count == t->sum_room) {
        uint32_t      room = t->sum_room * 2 + 256;
        HoloTokenSum *more = holo_realloc(t->sum, room * sizeof *more);
        if (!more) return false;
        t->sum      = more;
        t->sum_room = room;
    }
    t->sum[t->sum_count++] = b->sum;
    n->sum                 = t->sum_count;
    return true;
}

bool holo_tree_sums(HoloTokenTree *t)
{
    OpenBranch *open  = holo_realloc(NULL, (HOLO_TOKEN_BYTES_MAX + 1) * sizeof *open);
    uint32_t    depth = 0; // of what is open
    bool        ok    = open;
    for (uint32_t i = 0; i <= t->node_count && ok; i++) {
        const HoloTokenNode *n = i < t->node_count ? &t->node[i] : NULL;
        for (; depth && ok && (!n || depth >= n->depth); depth--)
            ok = branch_close(t, &open[depth - 1], depth > 1 ? &open[depth - 2] : NULL);
        if (!n || !ok) continue;
        OpenBranch b = {.node = i, .before = depth ? open[depth - 1].after : EDGE};
        b.after      = utf8_step(b.before, n->byte);
        b.sum.is_odd = b.after == BROKEN;
        if (n->byte < 128)
            b.sum.ascii[n->byte / 64] = UINT64_C(1) << n->byte % 64;
        else
            b.sum.has_wide = true;
        open[depth++] = b;
    }
    holo_free(open);
    return ok;
}
