// grammar_machine.c - steps of the automaton with a stack: sets of places, each made once. See grammar.h.
#include "text/grammar.h"

#include <stdlib.h>
#include <string.h>

enum {
    BYTES_TIDY = 64 << 20,  // from here on a call begins with forgetting
    BYTES_MOST = 512 << 20, // more is not held during a call
};
#define WORK_MOST UINT64_C(40000000) // visits of places in one call

// ---- lists and tables

// Room for one more element. False: is_failed.
static bool grow(HoloMachine *m, void *list, uint32_t count, uint32_t *room, size_t size)
{
    void **at = list;
    if (count < *room) return true;
    uint32_t more  = *room ? *room * 2 : 64;
    void    *moved = more <= INT32_MAX && m->bytes <= BYTES_MOST ? holo_realloc(*at, more * size) : NULL;
    if (!moved) return !(m->is_failed = true);
    m->bytes += (more - *room) * size;
    *at   = moved;
    *room = more;
    return true;
}
#define GROW(m, list, count, room) grow((m), &(list), (count), &(room), sizeof *(list))

static uint32_t mix(uint32_t a, uint32_t b)
{
    uint64_t x = ((uint64_t)a << 32 | b) * UINT64_C(0x9E3779B97F4A7C15);
    x          = (x ^ x >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    return (uint32_t)(x >> 32);
}

static bool table_make(HoloMachine *m, HoloMachineTable *t, uint32_t slots)
{
    uint32_t *slot = holo_realloc(NULL, slots * sizeof *slot);
    if (!slot) return !(m->is_failed = true);
    memset(slot, 0, slots * sizeof *slot);
    m->bytes += slots * sizeof *slot;
    holo_free(t->slot);
    *t = (HoloMachineTable){slot, slots, 0};
    return true;
}

static void table_put(HoloMachineTable *t, uint32_t hash, uint32_t number)
{
    uint32_t at = hash & (t->slots - 1);
    while (t->slot[at]) at = (at + 1) & (t->slots - 1);
    t->slot[at] = number + 1;
    t->used++;
}

// ---- frames

static uint32_t frame_hash(HoloGrammarFrame f)
{
    return mix(f.back, f.parent);
}

static uint32_t frame_of(HoloMachine *m, uint32_t back, uint32_t parent)
{
    HoloGrammarFrame f    = {back, parent, m->frame[parent].depth + 1};
    uint32_t         hash = frame_hash(f);
    if (f.depth > HOLO_DEPTH_MAX) return m->is_over = true, 0;
    for (uint32_t at = hash & (m->frames.slots - 1); m->frames.slot[at]; at = (at + 1) & (m->frames.slots - 1)) {
        uint32_t known = m->frames.slot[at] - 1;
        if (m->frame[known].back == back && m->frame[known].parent == parent) return known;
    }
    if (!GROW(m, m->frame, m->frame_count, m->frame_room)) return 0;
    m->frame[m->frame_count] = f;
    if (m->frames.used * 2 >= m->frames.slots) {
        if (!table_make(m, &m->frames, m->frames.slots * 2)) return 0;
        for (uint32_t i = 1; i < m->frame_count; i++) table_put(&m->frames, frame_hash(m->frame[i]), i);
    }
    table_put(&m->frames, hash, m->frame_count);
    return m->frame_count++;
}

// ---- states

static int by_place(const void *a, const void *b)
{
    const HoloGrammarPlace *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

static bool states_grow(HoloMachine *m)
{
    if (m->states.used * 2 < m->states.slots) return true;
    if (!table_make(m, &m->states, m->states.slots * 2)) return false;
    for (uint32_t i = 2; i < m->state_count; i++) table_put(&m->states, m->state[i].hash, i);
    return true;
}

// The state of the places in m->result.
static uint32_t state_of_result(HoloMachine *m)
{
    uint32_t count = m->result_count, hash = m->result_ends, number = m->state_count;
    if (m->is_failed) return HOLO_MACHINE_DEAD;
    if (m->is_over) return HOLO_MACHINE_OVER;
    if (!count && !m->result_ends) return HOLO_MACHINE_DEAD;
    if (count > 1) qsort(m->result, count, sizeof *m->result, by_place);
    for (uint32_t i = 0; i < count; i++) hash = mix(hash ^ m->result[i].node, m->result[i].frame);
    for (uint32_t at = hash & (m->states.slots - 1); m->states.slot[at]; at = (at + 1) & (m->states.slots - 1)) {
        uint32_t                known = m->states.slot[at] - 1;
        const HoloMachineState *s     = &m->state[known];
        if (s->hash == hash && s->count == count && s->can_end == m->result_ends &&
            (!count || !memcmp(m->place + s->first, m->result, count * sizeof *m->result)))
            return known;
    }
    uint32_t first = m->place_count;
    for (uint32_t i = 0; i < count; i++) {
        if (!GROW(m, m->place, m->place_count, m->place_room)) return HOLO_MACHINE_DEAD;
        m->place[m->place_count++] = m->result[i];
    }
    if (!states_grow(m) || !GROW(m, m->state, m->state_count, m->state_room)) return HOLO_MACHINE_DEAD;
    m->state[m->state_count++] = (HoloMachineState){
        .first = first, .count = count, .row = HOLO_UNKNOWN_STATE, .hash = hash, .can_end = m->result_ends};
    table_put(&m->states, hash, number);
    return number;
}

// ---- one step

static void result_begin(HoloMachine *m)
{
    uint32_t last = m->seen.slots - 1;
    if (m->seen.used * 8 > m->seen.slots)
        memset(m->seen.slot, 0, m->seen.slots * sizeof *m->seen.slot);
    else // a large table with little in it: clear what follows each of them
        for (uint32_t i = 0; i < m->todo_count; i++)
            for (uint32_t at = mix(m->todo[i].node, m->todo[i].frame) & last; m->seen.slot[at]; at = (at + 1) & last)
                m->seen.slot[at] = 0;
    m->seen.used    = 0;
    m->result_count = m->todo_count = 0;
    m->result_ends = m->is_over = false;
}

// Adds a place to what is still to be followed, unless it was there before. `todo` keeps all of them.
static void visit(HoloMachine *m, uint32_t node, uint32_t frame)
{
    uint32_t hash = mix(node, frame);
    if (m->is_failed || m->is_over) return;
    for (uint32_t at = hash & (m->seen.slots - 1); m->seen.slot[at]; at = (at + 1) & (m->seen.slots - 1)) {
        HoloGrammarPlace known = m->todo[m->seen.slot[at] - 1];
        if (known.node == node && known.frame == frame) return;
    }
    if (m->todo_count >= HOLO_VISITS_MAX) {
        m->is_over = true;
        return;
    }
    if (++m->work > WORK_MOST) m->is_failed = true;
    if (!GROW(m, m->todo, m->todo_count, m->todo_room)) return;
    m->todo[m->todo_count++] = (HoloGrammarPlace){node, frame};
    if (m->seen.used * 2 >= m->seen.slots) {
        if (!table_make(m, &m->seen, m->seen.slots * 2)) return;
        for (uint32_t i = 0; i + 1 < m->todo_count; i++) table_put(&m->seen, mix(m->todo[i].node, m->todo[i].frame), i);
    }
    table_put(&m->seen, hash, m->todo_count - 1);
}

static void result_add(HoloMachine *m, HoloGrammarPlace p)
{
    if (m->result_count >= HOLO_PLACES_MAX)
        m->is_over = true;
    else if (GROW(m, m->result, m->result_count, m->result_room))
        m->result[m->result_count++] = p;
}

// Follows all that takes no byte.
static void follow(HoloGrammar *g)
{
    HoloMachine *m = &g->machine;
    for (uint32_t i = 0; i < m->todo_count && !m->is_failed && !m->is_over; i++) {
        HoloGrammarPlace p = m->todo[i];
        HoloGrammarNode  n = g->node[p.node];
        if (n.kind == HOLO_NODE_SET) {
            result_add(m, p);
        } else if (n.kind == HOLO_NODE_SPLIT) {
            visit(m, n.x, p.frame);
            visit(m, n.y, p.frame);
        } else if (n.kind == HOLO_NODE_CALL) { // a call at the end of a rule needs no frame: so loops need no depth
            bool is_last = g->node[n.y].kind == HOLO_NODE_END;
            visit(m, g->rule[n.x].start, is_last ? p.frame : frame_of(m, n.y, p.frame));
        } else if (p.frame) {
            visit(m, m->frame[p.frame].back, m->frame[p.frame].parent);
        } else {
            m->result_ends = true;
        }
    }
}

static bool row_make(HoloGrammar *g, uint32_t state)
{
    HoloMachine *m       = &g->machine;
    uint32_t     columns = g->header->class_count, need = (m->row_count + 1) * columns;
    while (need > m->row_room)
        if (!GROW(m, m->row, m->row_room, m->row_room)) return false;
    for (uint32_t i = 0; i < columns; i++) m->row[m->row_count * columns + i] = HOLO_UNKNOWN_STATE;
    m->state[state].row = m->row_count++;
    return true;
}

uint32_t holo_machine_step_slow(HoloGrammar *g, uint32_t state, uint32_t class)
{
    HoloMachine *m = &g->machine;
    if (m->is_failed) return HOLO_MACHINE_DEAD;
    if (m->state[state].row == HOLO_UNKNOWN_STATE && !row_make(g, state)) return HOLO_MACHINE_DEAD;
    result_begin(m);
    for (uint32_t i = 0; i < m->state[state].count; i++) {
        HoloGrammarPlace p = m->place[m->state[state].first + i];
        HoloGrammarNode  n = g->node[p.node];
        if (g->set[n.x].word[class / 64] >> class % 64 & 1) visit(m, n.y, p.frame);
    }
    follow(g);
    uint32_t next = state_of_result(m);
    if (m->is_failed) return HOLO_MACHINE_DEAD;
    m->row[(size_t)m->state[state].row * g->header->class_count + class] = next;
    return next;
}

// ---- stacks

static uint32_t common_frame(const HoloMachine *m, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (m->frame[a].depth >= m->frame[b].depth)
            a = m->frame[a].parent;
        else
            b = m->frame[b].parent;
    }
    return a;
}

// A frame of `from` in machine `m`, where `base` is the bottom.
static uint32_t frame_moved(HoloMachine *m, const HoloGrammarFrame *from, uint32_t frame, uint32_t base)
{
    uint32_t back[HOLO_DEPTH_MAX + 1], count = 0, moved = 0;
    for (; frame != base; frame = from[frame].parent) back[count++] = from[frame].back;
    m->work += count;
    if (m->work > WORK_MOST) m->is_failed = true;
    while (count && !m->is_failed) moved = frame_of(m, back[--count], moved);
    return moved;
}

uint32_t holo_machine_top(HoloGrammar *g, uint32_t state, uint32_t *out_depth)
{
    HoloMachine *m     = &g->machine;
    uint32_t     count = m->state[state].count, first = m->state[state].first;
    uint32_t     base = count ? m->place[first].frame : 0;
    for (uint32_t i = 1; i < count && base; i++) base = common_frame(m, base, m->place[first + i].frame);
    *out_depth = m->frame[base].depth;
    if (!base) return state;
    result_begin(m);
    for (uint32_t i = 0; i < count && !m->is_failed; i++) {
        HoloGrammarPlace p = m->place[first + i];
        p.frame            = frame_moved(m, m->frame, p.frame, base);
        result_add(m, p);
    }
    return state_of_result(m);
}

// ---- life

static void mask_free(HoloMachineMask *mask)
{
    if (!mask) return;
    holo_free(mask->bit);
    holo_free(mask->open);
    holo_free(mask);
}

void holo_machine_deinit(HoloMachine *m)
{
    void *all[] = {m->place, m->frame, m->row, m->result, m->todo, m->states.slot, m->frames.slot, m->seen.slot};
    for (uint32_t i = 0; i < m->state_count; i++) {
        mask_free(m->state[i].mask);
        mask_free(m->state[i].local);
    }
    holo_free(m->state);
    for (int i = 0; i < HOLO_COUNT(all); i++) holo_free(all[i]);
    *m = (HoloMachine){0};
}

bool holo_machine_begin(HoloGrammar *g)
{
    HoloMachine *m = &g->machine;
    holo_machine_deinit(m);
    bool ok = table_make(m, &m->states, 256) && table_make(m, &m->frames, 256) && table_make(m, &m->seen, 256) &&
              GROW(m, m->frame, 0, m->frame_room) && GROW(m, m->state, 0, m->state_room);
    if (!ok) return false;
    m->frame[m->frame_count++] = (HoloGrammarFrame){0};
    for (int i = 0; i < 2; i++) m->state[m->state_count++] = (HoloMachineState){.row = HOLO_UNKNOWN_STATE};
    result_begin(m);
    visit(m, g->rule[g->header->root].start, 0);
    follow(g);
    g->start = state_of_result(m);
    return !m->is_failed;
}

// A state of the machine `from` in the new one.
static uint32_t state_moved(HoloMachine *m, const HoloMachine *from, uint32_t state)
{
    const HoloMachineState *s = &from->state[state];
    if (holo_machine_is_dead(state)) return state;
    result_begin(m);
    m->work        = 0;
    m->result_ends = s->can_end;
    for (uint32_t i = 0; i < s->count && !m->is_failed; i++) {
        HoloGrammarPlace p = from->place[s->first + i];
        p.frame            = frame_moved(m, from->frame, p.frame, 0);
        result_add(m, p);
    }
    return state_of_result(m);
}

bool holo_machine_tidy(HoloGrammar *g)
{
    g->machine.work = 0;
    if (g->machine.bytes < BYTES_TIDY && !g->machine.is_failed) return true;
    HoloMachine old   = g->machine;
    uint32_t    start = g->start;
    g->machine        = (HoloMachine){0};
    bool ok           = holo_machine_begin(g);
    for (HoloGrammarState *s = g->states; s && ok; s = s->behind) {
        s->moved = state_moved(&g->machine, &old, s->now);
        ok       = !g->machine.is_failed;
    }
    if (!ok) {
        holo_machine_deinit(&g->machine);
        g->machine = old;
        g->start   = start;
        return false;
    }
    for (HoloGrammarState *s = g->states; s; s = s->behind) s->now = s->moved;
    g->machine.work = 0;
    holo_machine_deinit(&old);
    return true;
}
