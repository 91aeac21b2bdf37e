// regex.c - regular expressions as programs whose states are all followed at once (Thompson): no pattern and no text
// can make it slow. See regex.h; regex_parse.c has the syntax.
#include "ops/regex.h"

#include "ops/regex_parse.h"
#include "ops/utf8.h"

#include <string.h>

enum { PROGRAM_MAX = 20000, WORK_MAX = 1000000 };

typedef enum Code { SET, AT, SPLIT, JUMP, MATCH } Code;

typedef struct Instruction {
    Code code;
    int  a, b; // SET: the set; AT: the place; SPLIT: two ways to continue; JUMP: one
} Instruction;

typedef struct Thread {
    int    pc;
    size_t begin; // where in the text it began
} Thread;

struct HoloRegex {
    HoloRegexTree tree;
    Instruction  *program;
    int           size, work; // work: steps of compiling so far, which are limited
    bool          is_full;
    Thread       *list, *next; // at this code point and the next; those that began first come first
    int          *stack;
    size_t       *seen; // the round in which an instruction was added last
    size_t        round;
};

// ---- compiling

static int emit(HoloRegex *r, Code code, int a, int b)
{
    if (r->size == PROGRAM_MAX) {
        r->is_full = true;
        return 0;
    }
    r->program[r->size] = (Instruction){code, a, b};
    return r->size++;
}

static void compile(HoloRegex *r, const HoloRegexNode *node);

static void compile_or(HoloRegex *r, const HoloRegexNode *node)
{
    int ends = -1; // jumps to the end, linked through their target
    for (const HoloRegexNode *c = node->child; c; c = c->next) {
        int split = c->next ? emit(r, SPLIT, r->size + 1, 0) : -1;
        compile(r, c);
        if (!c->next) break;
        ends                = emit(r, JUMP, ends, 0);
        r->program[split].b = r->size;
    }
    while (ends >= 0 && !r->is_full) {
        int before         = r->program[ends].a;
        r->program[ends].a = r->size;
        ends               = before;
    }
}

static void compile_repeat(HoloRegex *r, const HoloRegexNode *node)
{
    for (int i = 0; i < node->min && !r->is_full; i++) compile(r, node->child);
    if (node->max < 0) {
        int split = emit(r, SPLIT, r->size + 1, 0);
        compile(r, node->child);
        emit(r, JUMP, split, 0);
        r->program[split].b = r->size;
        return;
    }
    int ends = -1;
    for (int i = node->min; i < node->max && !r->is_full; i++) {
        ends = emit(r, SPLIT, r->size + 1, ends);
        compile(r, node->child);
    }
    while (ends >= 0 && !r->is_full) {
        int before         = r->program[ends].b;
        r->program[ends].b = r->size;
        ends               = before;
    }
}

static void compile(HoloRegex *r, const HoloRegexNode *node)
{
    if (++r->work > WORK_MAX) r->is_full = true;
    if (r->is_full) return;
    switch (node->kind) {
    case HOLO_REGEX_SET: emit(r, SET, node->set, 0); break;
    case HOLO_REGEX_AT: emit(r, AT, (int)node->at, 0); break;
    case HOLO_REGEX_OR: compile_or(r, node); break;
    case HOLO_REGEX_REPEAT: compile_repeat(r, node); break;
    case HOLO_REGEX_AND:
        for (const HoloRegexNode *c = node->child; c && !r->is_full; c = c->next) compile(r, c);
        break;
    }
}

HoloStatus holo_regex_create(HoloArena *arena, HoloString pattern, HoloRegex **out, HoloError *error)
{
    HoloRegex *r = HOLO_NEW(arena, HoloRegex, 1);
    if (!r) return holo_fail_memory(error);
    HOLO_TRY(holo_regex_parse(arena, pattern, &r->tree, error));
    r->program = HOLO_NEW(arena, Instruction, PROGRAM_MAX);
    if (!r->program) return holo_fail_memory(error);
    compile(r, r->tree.root);
    emit(r, MATCH, 0, 0);
    if (r->is_full)
        return holo_fail(error, HOLO_UNSUPPORTED, "pattern: it needs more than %d instructions", PROGRAM_MAX);
    r->list  = HOLO_NEW(arena, Thread, r->size);
    r->next  = HOLO_NEW(arena, Thread, r->size);
    r->stack = HOLO_NEW(arena, int, 2 * r->size);
    r->seen  = HOLO_NEW(arena, size_t, r->size);
    if (!r->list || !r->next || !r->stack || !r->seen) return holo_fail_memory(error);
    *out = r;
    return HOLO_OK;
}

// ---- matching

static bool is_in_ranges(const HoloRegexRange *range, int count, uint32_t code)
{
    for (int i = 0; i < count; i++)
        if (code >= range[i].first && code <= range[i].last) return true;
    return false;
}

static bool is_in_set(const HoloRegex *r, const HoloRegexSet *set, uint32_t code)
{
    const HoloRegexRange *range = r->tree.ranges + set->start;
    bool                  in    = is_in_ranges(range, set->count, code);
    if (!in && set->folded)
        in = is_in_ranges(range, set->count, holo_lower(code)) || is_in_ranges(range, set->count, holo_upper(code));
    return in != set->negated;
}

static bool is_word(HoloString text, size_t at)
{
    if (at >= text.size) return false;
    char c = text.data[at];
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool is_at(HoloRegexPlace place, HoloString text, size_t at)
{
    bool edge = (at > 0 && is_word(text, at - 1)) != is_word(text, at);
    switch (place) {
    case HOLO_REGEX_TEXT_BEGIN: return at == 0;
    case HOLO_REGEX_TEXT_END: return at == text.size;
    case HOLO_REGEX_LINE_BEGIN: return at == 0 || text.data[at - 1] == '\n';
    case HOLO_REGEX_LINE_END: return at == text.size || text.data[at] == '\n';
    case HOLO_REGEX_WORD_EDGE: return edge;
    case HOLO_REGEX_NO_WORD_EDGE: return !edge;
    }
    return false;
}

// Adds an instruction, and all that can be reached from it without a code point, to `list` of `count`. If two threads
// meet, the one that was added first continues.
static int add_thread(HoloRegex *r, Thread *list, int count, Thread start, HoloString text, size_t at)
{
    int depth         = 0;
    r->stack[depth++] = start.pc;
    while (depth > 0) {
        int                pc = r->stack[--depth];
        const Instruction *i  = &r->program[pc];
        if (r->seen[pc] == r->round) continue;
        r->seen[pc] = r->round;
        if (i->code == JUMP)
            r->stack[depth++] = i->a;
        else if (i->code == SPLIT)
            r->stack[depth++] = i->b, r->stack[depth++] = i->a;
        else if (i->code != AT)
            list[count++] = (Thread){pc, start.begin};
        else if (is_at((HoloRegexPlace)i->a, text, at))
            r->stack[depth++] = pc + 1;
    }
    return count;
}

// Of the matches that begin at `from` (or, `anywhere`, behind it), the longest of those that begin first.
static bool search(HoloRegex *r, HoloString text, size_t from, bool anywhere, size_t *begin, size_t *end)
{
    size_t at    = from;
    bool   found = false;
    r->round++;
    int count = add_thread(r, r->list, 0, (Thread){0, at}, text, at);
    for (;;) {
        for (int i = 0; i < count; i++) {
            if (r->program[r->list[i].pc].code != MATCH || (found && r->list[i].begin > *begin)) continue;
            found  = true;
            *begin = r->list[i].begin;
            *end   = at;
        }
        if (at >= text.size || (count == 0 && (found || !anywhere))) return found;
        uint32_t code = holo_utf8_next(text.data, text.size, &at);
        int      next = 0;
        r->round++;
        for (int i = 0; i < count; i++) {
            Thread             t  = r->list[i];
            const Instruction *in = &r->program[t.pc];
            if (in->code == SET && !(found && t.begin > *begin) && is_in_set(r, &r->tree.sets[in->a], code))
                next = add_thread(r, r->next, next, (Thread){t.pc + 1, t.begin}, text, at);
        }
        if (anywhere && !found) next = add_thread(r, r->next, next, (Thread){0, at}, text, at);
        Thread *list = r->list;
        r->list      = r->next;
        r->next      = list;
        count        = next;
    }
}

bool holo_regex_is_match(HoloRegex *r, HoloString text)
{
    size_t begin, end;
    return search(r, text, 0, false, &begin, &end) && end == text.size;
}

bool holo_regex_find(HoloRegex *r, HoloString text, size_t from, size_t *begin, size_t *end)
{
    return search(r, text, from, true, begin, end);
}
