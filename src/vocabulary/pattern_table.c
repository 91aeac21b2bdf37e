// pattern_table.c - tables of regular expressions, and their place in the block. See pattern.h.
//
// A state is the list of places in the program where a backtracking matcher could be, the one it would try first in front.
// The code point that comes next decides about edges, so a match is seen one code point late: its entry says that it ended
// before. Where a place is a match, what is behind it in the list would never be tried.
#include "base/bytes.h"
#include "text/unicode.h"
#include "vocabulary/pattern.h"

#include <string.h>

enum { STATES_MAX = 4000 };

typedef struct State {
    uint32_t *at;
    int       count, before; // before: class of the code point before, where the program looks back
} State;

typedef struct Maker {
    HoloArena             *arena;
    const HoloPatternCode *code;
    uint32_t               columns;
    bool                   looks_back;
    State                 *state; // state[0] is dead
    int                    count, room;
    int                   *slot; // of states by their hash; -1: empty
    uint32_t              *list, *stack;
    uint32_t              *seen, *taken; // by op: the last transition that saw it
    uint32_t               stamp;
} Maker;

// The state of these places; a new one if there is none. -1: out of memory or too many.
static int state_find(Maker *m, const uint32_t *at, int count, int before)
{
    if (!count) return 0;
    uint32_t hash = holo_text_hash(at, (uint64_t)count * sizeof *at) + (uint32_t)before * 0x9E3779B9u;
    for (uint32_t i = hash;; i++) {
        int *slot = &m->slot[i % (STATES_MAX * 2)];
        if (*slot < 0) {
            if (m->count >= STATES_MAX || !HOLO_GROW(m->arena, m->state, m->count, m->room)) return -1;
            State *new_state = &m->state[m->count];
            new_state->at    = HOLO_NEW(m->arena, uint32_t, count);
            if (!new_state->at) return -1;
            memcpy(new_state->at, at, (size_t)count * sizeof *at);
            new_state->count  = count;
            new_state->before = before;
            return *slot      = m->count++;
        }
        const State *s = &m->state[*slot];
        if (s->count == count && s->before == before && !memcmp(s->at, at, (size_t)count * sizeof *at)) return *slot;
    }
}

// Follows one place of a state with the next class known. Appends to the list; true: it is a match.
static bool follow(Maker *m, uint32_t from, int before, uint32_t class, int *count)
{
    int depth         = 0;
    m->stack[depth++] = from;
    while (depth) {
        uint32_t             at = m->stack[--depth];
        const HoloPatternOp *op = &m->code->op[at];
        if (m->seen[at] == m->stamp) continue;
        m->seen[at] = m->stamp;
        if (op->kind == HOLO_OP_MATCH) return true;
        if (op->kind == HOLO_OP_JUMP) m->stack[depth++] = op->x;
        if (op->kind == HOLO_OP_SPLIT) {
            m->stack[depth++] = op->y;
            m->stack[depth++] = op->x;
        }
        if (op->kind == HOLO_OP_EDGE && m->code->has[op->x * m->columns + class]) m->stack[depth++] = at + 1;
        if (op->kind == HOLO_OP_BACK && m->code->has[op->x * m->columns + (uint32_t)before]) m->stack[depth++] = at + 1;
        bool steps = op->kind == HOLO_OP_SET && class + 1 < m->columns && m->code->has[op->x * m->columns + class];
        if (steps && m->taken[at + 1] != m->stamp) {
            m->taken[at + 1]    = m->stamp;
            m->list[(*count)++] = at + 1;
        }
    }
    return false;
}

static int64_t transition(Maker *m, int state, uint32_t class)
{
    State s       = m->state[state];
    int   count   = 0;
    bool  matches = false;
    m->stamp++;
    for (int i = 0; i < s.count && !matches; i++) matches = follow(m, s.at[i], s.before, class, &count);
    int next = state_find(m, m->list, count, m->looks_back ? (int)class : 0);
    return next < 0 ? -1 : next * 2 + matches;
}

static bool maker_init(Maker *m)
{
    size_t count = (size_t)m->code->count + 1;
    m->slot      = HOLO_NEW(m->arena, int, STATES_MAX * 2);
    m->list      = HOLO_NEW(m->arena, uint32_t, count);
    m->stack     = HOLO_NEW(m->arena, uint32_t, 2 * count + 2);
    m->seen      = HOLO_NEW(m->arena, uint32_t, count);
    m->taken     = HOLO_NEW(m->arena, uint32_t, count);
    if (!m->slot || !m->list || !m->stack || !m->seen || !m->taken) return false;
    memset(m->slot, -1, sizeof *m->slot * STATES_MAX * 2);
    m->columns = (uint32_t)m->code->class_count + 1;
    for (int i = 0; i < m->code->count; i++)
        if (m->code->op[i].kind == HOLO_OP_BACK) m->looks_back = true;
    if (!HOLO_GROW(m->arena, m->state, m->count, m->room)) return false;
    m->count = 1; // the dead one
    return true;
}

HoloStatus holo_pattern_table(HoloArena *arena, const HoloPatternCode *code, uint32_t **out_table, int *out_count,
                              uint32_t **out_start, HoloError *error)
{
    Maker     m     = {.arena = arena, .code = code};
    uint32_t *table = NULL, first = 0;
    int       room = 0;
    *out_count     = 0;
    if (!maker_init(&m)) return holo_fail_memory(error);
    *out_start = HOLO_NEW(arena, uint32_t, m.columns);
    if (!*out_start) return holo_fail_memory(error);
    for (uint32_t k = 0; k < m.columns; k++) {
        int start = state_find(&m, &first, 1, m.looks_back ? (int)k : 0);
        if (start < 0) return HOLO_OK;
        (*out_start)[k] = (uint32_t)start;
    }
    for (int s = 0; s < m.count; s++) {
        if (s >= room) {
            uint32_t *more = HOLO_NEW(arena, uint32_t, (size_t)(room * 2 + 64) * m.columns);
            if (!more) return holo_fail_memory(error);
            if (table) memcpy(more, table, (size_t)room * m.columns * sizeof *more);
            table = more;
            room  = room * 2 + 64;
        }
        for (uint32_t k = 0; k < m.columns && s; k++) {
            int64_t entry = transition(&m, s, k);
            if (entry < 0) return HOLO_OK; // too many states: the program is run instead
            table[(size_t)s * m.columns + k] = (uint32_t)entry;
        }
    }
    *out_table = table;
    *out_count = m.count;
    return HOLO_OK;
}

// ---- the block

static HoloStatus add_classes(HoloTokenBlock *block, const HoloPatternCode *code, HoloPattern *p, HoloError *error)
{
    uint16_t *first  = HOLO_NEW(block->arena, uint16_t, HOLO_CODES >> 8);
    uint8_t  *second = holo_arena_take(block->arena, HOLO_CODES);
    size_t    pages  = 0;
    if (!first || !second) return holo_fail_memory(error);
    for (size_t i = 0; i < HOLO_CODES >> 8; i++) {
        size_t page = i && !memcmp(code->class_of + i * 256 - 256, code->class_of + i * 256, 256) ? first[i - 1] : 0;
        while (page < pages && memcmp(second + page * 256, code->class_of + i * 256, 256)) page++;
        if (page == pages) memcpy(second + pages++ * 256, code->class_of + i * 256, 256);
        first[i] = (uint16_t)page;
    }
    HOLO_TRY(holo_block_add(block, first, HOLO_CODES >> 8, sizeof *first, &p->first, error));
    return holo_block_add(block, second, pages * 256, 1, &p->second, error);
}

static HoloStatus pattern_keep(HoloTokenBlock *block, const HoloPattern *p, uint32_t *out_index, HoloError *error)
{
    if (!HOLO_GROW(block->arena, block->pattern, block->pattern_count, block->pattern_room))
        return holo_fail_memory(error);
    *out_index                             = (uint32_t)block->pattern_count;
    block->pattern[block->pattern_count++] = *p;
    return HOLO_OK;
}

static HoloStatus compile_in(HoloArena *scratch, HoloTokenBlock *block, HoloString text, HoloPattern *p,
                             HoloError *error)
{
    HoloPatternNode *root  = NULL;
    HoloPatternCode  code  = {0};
    uint32_t        *table = NULL, *start = NULL;
    int              states = 0;
    HOLO_TRY(holo_pattern_parse(scratch, text, &root, error));
    HOLO_TRY(holo_pattern_code(scratch, root, &code, error));
    if (code.is_plain) HOLO_TRY(holo_pattern_table(scratch, &code, &table, &states, &start, error));
    size_t columns = (size_t)code.class_count + 1;
    p->form        = states ? HOLO_PATTERN_TABLE : HOLO_PATTERN_PROGRAM;
    p->class_count = (uint32_t)code.class_count;
    p->state_count = (uint32_t)states;
    p->set_count   = states ? 0 : (uint32_t)code.set_count;
    HOLO_TRY(add_classes(block, &code, p, error));
    if (states) {
        HOLO_TRY(holo_block_add(block, start, columns, sizeof *start, &p->start, error));
        return holo_block_add(block, table, (size_t)states * columns, sizeof *table, &p->table, error);
    }
    HOLO_TRY(holo_block_add(block, code.op, (size_t)code.count, sizeof *code.op, &p->ops, error));
    return holo_block_add(block, code.has, (size_t)code.set_count * columns, 1, &p->sets, error);
}

HoloStatus holo_pattern_compile(HoloTokenBlock *block, HoloString text, uint32_t *out_index, HoloError *error)
{
    HoloArena   scratch = {0};
    HoloPattern p       = {0};
    HoloStatus  status  = compile_in(&scratch, block, text, &p, error);
    holo_arena_deinit(&scratch);
    HOLO_TRY(status);
    return pattern_keep(block, &p, out_index, error);
}

HoloStatus holo_pattern_compile_text(HoloTokenBlock *block, HoloString text, uint32_t *out_index, HoloError *error)
{
    HoloPattern p = {.form = HOLO_PATTERN_TEXT};
    if (!text.size) return holo_pattern_compile(block, text, out_index, error); // it matches everywhere, and nothing
    HOLO_TRY(holo_block_add(block, text.data, text.size, 1, &p.text, error));
    return pattern_keep(block, &p, out_index, error);
}
