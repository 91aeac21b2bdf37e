// grammar_mask.c - which tokens of a vocabulary may come next: one walk through the tree of tokens.
//
// For most tokens the top of the stack decides, and many states have the same top. So the walk is made for the top alone,
// where it notes the parts of the tree in which a token leaves it. These are walked again with the whole stack. A branch of
// tokens whose characters all leave the state as it is, such as words in a text in quotes, is not walked: it is allowed.
#include "text/grammar.h"

#include <string.h>

typedef struct Walk {
    HoloGrammar         *g;
    const HoloTokenTree *tree;
    HoloMachineMask     *out;
    bool                 is_top; // the stack goes on below
    uint32_t             state[HOLO_TOKEN_BYTES_MAX + 1];
    bool                 has_left[HOLO_TOKEN_BYTES_MAX + 1]; // the top, on the way to this depth
} Walk;

static void open_add(Walk *w, uint32_t node)
{
    HoloMachineMask *mask = w->out;
    HoloMachine     *m    = &w->g->machine;
    if (mask->open_count == mask->open_room) {
        uint32_t  room = mask->open_room ? mask->open_room * 2 : 64;
        uint32_t *more = holo_realloc(mask->open, room * sizeof *more);
        if (!more) {
            m->is_failed = true;
            return;
        }
        m->bytes += (room - mask->open_room) * sizeof *more;
        mask->open      = more;
        mask->open_room = room;
    }
    mask->open[mask->open_count++] = node;
}

static void allow(Walk *w, const HoloTokenNode *n)
{
    for (uint32_t i = n->first; i < n->own_end; i++) {
        uint32_t id = w->tree->order[i];
        w->out->bit[id / 64] |= UINT64_C(1) << id % 64;
    }
}

static void allow_branch(Walk *w, const HoloTokenNode *n, const HoloTokenSum *sum)
{
    const HoloTokenTree *t     = w->tree;
    size_t               words = (t->count + 63) / 64;
    if (sum->bits) {
        const uint64_t *bits = t->bits + (sum->bits - 1) * words;
        for (size_t i = 0; i < words; i++) w->out->bit[i] |= bits[i];
        return;
    }
    for (uint32_t i = n->first, end = holo_tree_end(t, n); i < end; i++)
        w->out->bit[t->order[i] / 64] |= UINT64_C(1) << t->order[i] % 64;
}

// Nodes `from` to `to`, where w->state has the states above.
static void walk(Walk *w, uint32_t from, uint32_t to)
{
    HoloMachine         *m    = &w->g->machine;
    const HoloTokenNode *node = w->tree->node;
    for (uint32_t i = from; i < to && !m->is_failed;) {
        const HoloTokenNode *n    = &node[i];
        uint32_t             next = holo_machine_step(w->g, w->state[n->depth - 1], n->byte);
        if (holo_machine_is_dead(next)) {
            if (w->has_left[n->depth - 1] && w->is_top) open_add(w, i);
            i = n->behind;
            continue;
        }
        uint32_t now = w->state[n->depth - 1];
        if (n->sum && (next == now || n->byte >= 128) && holo_machine_stays(w->g, now, &w->tree->sum[n->sum - 1])) {
            allow_branch(w, n, &w->tree->sum[n->sum - 1]);
            i = n->behind;
            continue;
        }
        if (n->first < n->own_end) allow(w, n);
        if (n->behind > ++i) { // somebody asks for the state
            w->state[n->depth]    = next;
            w->has_left[n->depth] = w->has_left[n->depth - 1] | m->state[next].can_end;
        }
    }
}

static HoloMachineMask *mask_create(HoloGrammar *g)
{
    HoloMachineMask *mask  = holo_realloc(NULL, sizeof *mask);
    size_t           words = (g->tree->count + 63) / 64;
    uint64_t        *bit   = holo_realloc(NULL, words * sizeof *bit);
    if (!mask || !bit) {
        holo_free(mask);
        holo_free(bit);
        g->machine.is_failed = true;
        return NULL;
    }
    memset(bit, 0, words * sizeof *bit);
    *mask = (HoloMachineMask){.bit = bit};
    g->machine.bytes += words * sizeof *bit;
    return mask;
}

static void mask_drop(HoloMachineMask *mask)
{
    if (!mask) return;
    holo_free(mask->bit);
    holo_free(mask->open);
    holo_free(mask);
}

static HoloMachineMask *walk_all(HoloGrammar *g, uint32_t state, bool is_top)
{
    HoloMachineMask *mask = mask_create(g);
    if (!mask) return NULL;
    Walk w     = {.g = g, .tree = g->tree, .out = mask, .is_top = is_top};
    w.state[0] = state;
    walk(&w, 0, g->tree->node_count);
    if (!g->machine.is_failed) return mask;
    mask_drop(mask);
    return NULL;
}

// The parts that the top left open, with the whole stack.
static void walk_open(HoloGrammar *g, uint32_t state, const HoloMachineMask *top, HoloMachineMask *out)
{
    const HoloTokenTree *tree = g->tree;
    Walk                 w    = {.g = g, .tree = tree, .out = out};
    for (uint32_t i = 0; i < top->open_count && !g->machine.is_failed; i++) {
        const HoloTokenNode *n    = &tree->node[top->open[i]];
        const uint8_t       *text = tree->text + tree->text_at[tree->order[n->first]];
        uint32_t             now  = state;
        for (uint32_t k = 0; k + 1 < n->depth && !holo_machine_is_dead(now); k++)
            now = holo_machine_step(g, now, text[k]);
        if (holo_machine_is_dead(now)) continue;
        w.state[n->depth - 1] = now;
        walk(&w, top->open[i], n->behind);
    }
}

static void mask_finish(HoloGrammar *g, uint32_t state, HoloMachineMask *mask)
{
    for (size_t i = 0; i < g->tree->end_count; i++) {
        uint64_t bit = UINT64_C(1) << g->tree->end[i] % 64, *word = &mask->bit[g->tree->end[i] / 64];
        *word = g->machine.state[state].can_end ? *word | bit : *word & ~bit;
    }
    mask->count = 0;
    for (size_t i = 0; i < (g->tree->count + 63) / 64; i++) mask->count += (uint32_t)__builtin_popcountll(mask->bit[i]);
}

const HoloMachineMask *holo_machine_mask(HoloGrammar *g, uint32_t state)
{
    HoloMachine     *m = &g->machine;
    HoloMachineMask *mask;
    uint32_t         depth, top;
    if (m->state[state].mask) return m->state[state].mask;
    top = holo_machine_top(g, state, &depth);
    if (m->is_failed) return NULL;
    if (top == state || holo_machine_is_dead(top) || depth > HOLO_DEPTH_MAX / 2) {
        mask = walk_all(g, state, false);
    } else {
        if (!m->state[top].local) {
            mask                = walk_all(g, top, true);
            m->state[top].local = mask;
        }
        mask = m->is_failed ? NULL : mask_create(g);
        if (mask) memcpy(mask->bit, m->state[top].local->bit, (g->tree->count + 63) / 64 * sizeof *mask->bit);
        if (mask) walk_open(g, state, m->state[top].local, mask);
    }
    if (m->is_failed) {
        mask_drop(mask);
        return NULL;
    }
    mask_finish(g, state, mask);
    m->state[state].mask = mask;
    return mask;
}
