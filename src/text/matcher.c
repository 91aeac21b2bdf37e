// matcher.c - plain texts, tables and programs of patterns. See matcher.h.
#include "text/matcher.h"

#include "base/bytes.h"
#include "text/unicode.h"

#include <string.h>

static inline uint32_t class_of(const HoloMatcher *m, uint32_t code)
{
    return m->second[(uint32_t)m->first[code >> 8] << 8 | (code & 255)];
}

// The class of the code point that ends before `at`; columns - 1: there is none.
static uint32_t class_before(const HoloMatcher *m, const uint8_t *text, size_t at)
{
    int    size;
    size_t begin = at;
    if (!at) return m->columns - 1;
    do begin--;
    while (begin && (text[begin] & 0xC0) == 0x80);
    return class_of(m, holo_code_read(text + begin, at - begin, &size));
}

// ---- tables

// The end of the match that begins at `at`; SIZE_MAX: there is none.
static size_t table_match(const HoloMatcher *m, const uint8_t *text, size_t size, size_t at, uint32_t state)
{
    const uint32_t *table   = m->table;
    uint32_t        columns = m->columns;
    const uint8_t  *plain   = m->second + ((uint32_t)m->first[0] << 8);
    size_t          end     = SIZE_MAX;
    while (state) {
        int step       = 1;
        uint32_t class = columns - 1;
        if (at < size)
            class = text[at] < 128 ? plain[text[at]] : class_of(m, holo_code_read(text + at, size - at, &step));
        uint32_t entry = table[state * columns + class];
        if (entry & 1) end = at;
        state = entry >> 1;
        if (at >= size) break;
        at += (size_t)step;
    }
    return end;
}

static bool table_find(const HoloMatcher *m, const uint8_t *text, size_t size, size_t from, size_t *begin, size_t *end)
{
    uint32_t before = class_before(m, text, from);
    for (size_t at = from; at <= size;) {
        size_t found = table_match(m, text, size, at, m->start[before]);
        if (found != SIZE_MAX) {
            *begin = at;
            *end   = found;
            return true;
        }
        if (at == size) break;
        int step;
        before = class_of(m, holo_code_read(text + at, size - at, &step));
        at += (size_t)step;
    }
    return false;
}

// ---- programs: backtracking that tries nothing twice

typedef struct Run {
    const HoloMatcher *m;
    HoloMatching      *matching;
    const uint8_t     *text;
    size_t             size;
    size_t             stack_count;
    int                depth;
} Run;

enum { LOOKS_MAX = 32 }; // looks and atoms inside of each other

static bool push(Run *r, uint32_t op, size_t at)
{
    HoloMatching *g = r->matching;
    if (r->stack_count + 3 > g->stack_room) {
        size_t    room = g->stack_room ? g->stack_room * 2 : 256;
        uint32_t *more = holo_realloc(g->stack, room * sizeof *more);
        if (!more) return g->is_failed = true, false;
        g->stack      = more;
        g->stack_room = room;
    }
    g->stack[r->stack_count++] = op;
    g->stack[r->stack_count++] = (uint32_t)at;
    g->stack[r->stack_count++] = (uint32_t)((uint64_t)at >> 32);
    return true;
}

static bool first_try(Run *r, uint32_t op, size_t at)
{
    size_t    bit  = at * r->m->pattern->ops.count + op;
    uint64_t *word = &r->matching->tried[bit / 64], mask = UINT64_C(1) << bit % 64;
    if (*word & mask) return false;
    HoloMatching *g = r->matching;
    if (g->log_count == g->log_room) {
        size_t  room = g->log_room ? g->log_room * 2 : 256;
        size_t *more = holo_realloc(g->log, room * sizeof *more);
        if (!more) return g->is_failed = true, false;
        g->log      = more;
        g->log_room = room;
    }
    *word |= mask;
    g->log[g->log_count++] = bit;
    return true;
}

// Forgets what was tried since the log had `count` entries.
static void forget(HoloMatching *g, size_t count)
{
    while (g->log_count > count) {
        size_t bit = g->log[--g->log_count];
        g->tried[bit / 64] &= ~(UINT64_C(1) << bit % 64);
    }
}

static size_t program_match(Run *r, uint32_t op, size_t at);

// Goes `count` code points back. False: the text begins before.
static bool step_back(const uint8_t *text, size_t *at, uint32_t count)
{
    for (; count; count--) {
        if (!*at) return false;
        do --*at;
        while (*at && (text[*at] & 0xC0) == 0x80);
    }
    return true;
}

static bool look(Run *r, const HoloPatternOp *op, uint32_t body, size_t at)
{
    size_t from  = at;
    bool   found = op->flags & 2 ? step_back(r->text, &from, op->y) : true;
    if (found) found = program_match(r, body, from) != SIZE_MAX;
    return found != (op->flags & 1);
}

// One op at one place. Returns what comes next at *at; HOLO_NO_TOKEN: this way is closed.
static uint32_t program_step(Run *r, uint32_t here, size_t *at)
{
    const HoloMatcher   *m    = r->m;
    const HoloPatternOp *op   = &m->ops[here];
    int                  step = 0;
    uint32_t class            = m->columns - 1;
    switch (op->kind) {
    case HOLO_OP_SET:
    case HOLO_OP_EDGE:
        if (*at < r->size) class = class_of(m, holo_code_read(r->text + *at, r->size - *at, &step));
        if (!m->sets[op->x * m->columns + class] || (op->kind == HOLO_OP_SET && !step)) return HOLO_NO_TOKEN;
        if (op->kind == HOLO_OP_SET) *at += (size_t)step;
        return here + 1;
    case HOLO_OP_BACK: return m->sets[op->x * m->columns + class_before(m, r->text, *at)] ? here + 1 : HOLO_NO_TOKEN;
    case HOLO_OP_SPLIT: return push(r, op->y, *at) ? op->x : HOLO_NO_TOKEN;
    case HOLO_OP_JUMP: return op->x;
    case HOLO_OP_LOOK: return look(r, op, here + 1, *at) ? op->x : HOLO_NO_TOKEN;
    case HOLO_OP_ATOM: *at = program_match(r, here + 1, *at); return *at == SIZE_MAX ? HOLO_NO_TOKEN : op->x;
    default: return HOLO_NO_TOKEN;
    }
}

// The end of the first match of the body that begins with `op`; SIZE_MAX: there is none. What was tried within a body and did
// not lead to its end never will; so a body that matched forgets what it tried, and one that did not keeps it.
static size_t program_match(Run *r, uint32_t op, size_t at)
{
    size_t bottom = r->stack_count, end = SIZE_MAX, tried = r->matching->log_count;
    if (r->depth >= LOOKS_MAX) return SIZE_MAX;
    r->depth++;
    bool open = push(r, op, at);
    while (open && r->stack_count > bottom && end == SIZE_MAX && !r->matching->is_failed) {
        const uint32_t *top = r->matching->stack + (r->stack_count -= 3);
        uint32_t        now = top[0];
        at                  = (size_t)((uint64_t)top[2] << 32 | top[1]);
        while (now != HOLO_NO_TOKEN && end == SIZE_MAX && first_try(r, now, at)) {
            if (r->m->ops[now].kind == HOLO_OP_MATCH)
                end = at;
            else
                now = program_step(r, now, &at);
        }
    }
    if (end != SIZE_MAX) forget(r->matching, tried);
    r->stack_count = bottom;
    r->depth--;
    return end;
}

static bool program_find(const HoloMatcher *m, HoloMatching *g, const uint8_t *text, size_t size, size_t from,
                         size_t *begin, size_t *end)
{
    size_t bits, words;
    Run    r = {.m = m, .matching = g, .text = text, .size = size};
    if (!holo_size_mul(size + 1, m->pattern->ops.count, &bits)) return g->is_failed = true, false;
    words = bits / 64 + 1;
    if (words > g->tried_room) {
        uint64_t *more = holo_realloc(g->tried, words * sizeof *more);
        if (!more) return g->is_failed = true, false;
        memset(more + g->tried_room, 0, (words - g->tried_room) * sizeof *more);
        g->tried      = more;
        g->tried_room = words;
    }
    *end = SIZE_MAX;
    for (size_t at = from; at <= size && *end == SIZE_MAX && !g->is_failed; at++) {
        if (at < size && (text[at] & 0xC0) == 0x80) continue;
        *begin = at;
        *end   = program_match(&r, 0, at);
    }
    forget(g, 0);
    return *end != SIZE_MAX;
}

// ---- all

bool holo_matcher_find(const HoloMatcher *m, HoloMatching *matching, const uint8_t *text, size_t size, size_t from,
                       size_t *out_begin, size_t *out_end)
{
    if (m->pattern->form == HOLO_PATTERN_TABLE) return table_find(m, text, size, from, out_begin, out_end);
    if (m->pattern->form == HOLO_PATTERN_PROGRAM)
        return program_find(m, matching, text, size, from, out_begin, out_end);
    const uint8_t *found = holo_bytes_find(text + from, size - from, m->text, m->pattern->text.count);
    if (!found) return false;
    *out_begin = (size_t)(found - text);
    *out_end   = *out_begin + m->pattern->text.count;
    return true;
}

void holo_matching_deinit(HoloMatching *matching)
{
    holo_free(matching->tried);
    holo_free(matching->stack);
    holo_free(matching->log);
    *matching = (HoloMatching){0};
}
