// isa_live.c - finds which registers are read later, and what follows from that: where inactive lanes must keep what a
// register held, which loads need not copy, which results can be computed where they are stored, and which registers
// share memory.
//
// It walks backwards over the program with the set of live registers. What is live at the head of a loop is known only
// after the walk through it, so the walk is repeated until these sets do not change.
#include "isa/isa_scalar.h"
#include "isa/tile/isa_code.h"

#include <string.h>

typedef struct Frame {
    uint64_t *after; // live behind its end
    uint64_t *other; // live where its other lanes are: those of the else, or those that have left the loop
    int32_t   loop;  // the step of the LOOP; -1: an if
} Frame;

typedef struct Walk {
    HoloIsaCode *code;
    HoloArena    arena;
    int          words, depth;
    uint64_t    *live, *dirty; // dirty: live behind the next step that writes memory or branches
    uint64_t   **head;         // by the number of a LOOP
    int32_t     *opened;       // by the number of an END: its IF, ELSE or LOOP
    uint8_t     *has_next;     // by the number of a LOOP
    int32_t     *first, *last; // by register: where it is live
    Frame        frame[HOLO_ISA_MAX_DEPTH];
    bool         changed, is_final;
} Walk;

static bool has(const uint64_t *set, unsigned r)
{
    return set[r / 64] >> r % 64 & 1;
}

static void copy(const Walk *w, uint64_t *to, const uint64_t *from)
{
    memcpy(to, from, (size_t)w->words * sizeof *to);
}

static void join(const Walk *w, uint64_t *to, const uint64_t *from)
{
    for (int i = 0; i < w->words; i++) to[i] |= from[i];
}

// ---- control, backwards

static void enter(Walk *w, int32_t at) // an END
{
    Frame  *f       = &w->frame[w->depth++];
    int32_t opened  = w->opened[at];
    bool    is_loop = w->code->steps[opened].inst.op == HOLO_ISA_LOOP;
    f->loop         = is_loop ? opened : -1;
    copy(w, f->after, w->live);
    copy(w, f->other, w->live);
    if (!is_loop) return;
    if (w->has_next[opened]) join(w, f->other, w->head[opened]);
    copy(w, w->live, w->head[opened]);
}

static void leave(Walk *w, int32_t at) // an IF or a LOOP
{
    Frame *f = &w->frame[--w->depth];
    if (f->loop < 0) {
        join(w, w->live, f->other);
        return;
    }
    if (memcmp(w->head[at], w->live, (size_t)w->words * sizeof *w->live)) w->changed = true;
    join(w, w->head[at], w->live);
    copy(w, w->live, w->head[at]);
    int32_t end = w->code->steps[at].target;
    for (int r = 0; r < w->code->register_count && w->is_final; r++)
        if (has(w->live, (unsigned)r)) {
            if (at < w->first[r]) w->first[r] = at;
            if (end > w->last[r]) w->last[r] = end;
        }
}

static const Frame *loop_of(const Walk *w)
{
    int i = w->depth - 1;
    while (w->frame[i].loop < 0) i--;
    return &w->frame[i];
}

static void control(Walk *w, int32_t at)
{
    Frame *top = w->depth ? &w->frame[w->depth - 1] : NULL;
    switch (w->code->steps[at].inst.op) {
    case HOLO_ISA_END: enter(w, at); break;
    case HOLO_ISA_ELSE:
        copy(w, top->other, w->live);
        copy(w, w->live, top->after);
        break;
    case HOLO_ISA_IF:
    case HOLO_ISA_LOOP: leave(w, at); break;
    case HOLO_ISA_BREAK: copy(w, w->live, loop_of(w)->after); break;
    case HOLO_ISA_BREAKIF: join(w, w->live, loop_of(w)->after); break;
    case HOLO_ISA_NEXT: copy(w, w->live, w->head[loop_of(w)->loop]); break;
    case HOLO_ISA_NEXTIF: join(w, w->live, w->head[loop_of(w)->loop]); break;
    case HOLO_ISA_EXIT: memset(w->live, 0, (size_t)w->words * sizeof *w->live); break;
    default: break;
    }
}

// ---- what is noted of a step, in the last walk

static bool writes(unsigned op)
{
    return op == HOLO_ISA_ST || op == HOLO_ISA_STS || op == HOLO_ISA_STL || op >= HOLO_ISA_IF;
}

static bool loads(unsigned op)
{
    return op == HOLO_ISA_LD || op == HOLO_ISA_LDS || op == HOLO_ISA_LDL;
}

static void note_result(Walk *w, int32_t at)
{
    HoloIsaStep *s = &w->code->steps[at];
    unsigned     r = s->inst.dst;
    s->is_read     = has(w->live, r);
    s->lend        = loads(s->inst.op) && !has(w->dirty, r);
    s->keep        = HOLO_ISA_NEVER;
    for (int i = w->depth - 1; i >= 0; i--)
        if (has(w->frame[i].other, r)) s->keep = (uint8_t)i;
    if (at < w->first[r]) w->first[r] = at;
    if (at > w->last[r]) w->last[r] = at;
}

static void step(Walk *w, int32_t at)
{
    HoloIsaStep         *s    = &w->code->steps[at];
    const HoloIsaOpInfo *info = holo_isa_op(s->inst.op);
    bool                 does = info->kind[0] != HOLO_ISA_KIND_N;
    if (w->is_final && writes(s->inst.op)) copy(w, w->dirty, w->live);
    control(w, at);
    if (w->is_final && s->inst.op >= HOLO_ISA_IF && s->inst.op <= HOLO_ISA_EXIT) join(w, w->dirty, w->live);
    if (does) {
        if (w->is_final) note_result(w, at);
        w->live[s->inst.dst / 64] &= ~(UINT64_C(1) << s->inst.dst % 64);
        w->dirty[s->inst.dst / 64] &= ~(UINT64_C(1) << s->inst.dst % 64);
    }
    for (int k = 1; k < HOLO_ISA_OPERANDS; k++) {
        if (!holo_isa_is_register(info->kind[k])) continue;
        unsigned r = holo_isa_operand(&s->inst, k);
        w->live[r / 64] |= UINT64_C(1) << r % 64;
        if (w->is_final && at > w->last[r]) w->last[r] = at;
        if (w->is_final && at < w->first[r]) w->first[r] = at;
    }
}

static void walk(Walk *w)
{
    w->depth = 0;
    memset(w->live, 0, (size_t)w->words * sizeof *w->live);
    memset(w->dirty, 0, (size_t)w->words * sizeof *w->dirty);
    for (int32_t i = w->code->count - 1; i >= 0; i--) step(w, i);
}

static void walk_heads(Walk *w)
{
    w->is_final = false;
    for (int32_t i = 0; i < w->code->count; i++)
        if (w->head[i]) memset(w->head[i], 0, (size_t)w->words * sizeof(uint64_t));
    do {
        w->changed = false;
        walk(w);
    } while (w->changed);
}

// ---- conclusions

static bool makes(const HoloIsaInst *inst)
{
    return holo_isa_op(inst->op)->kind[0] != HOLO_ISA_KIND_N;
}

// Pairs of steps where only the second reads what the first writes. If the second only moves it, the first writes to
// the target, and the second does nothing. If the second stores it, this is noted.
static void find_pairs(Walk *w)
{
    w->depth = 0;
    memset(w->live, 0, (size_t)w->words * sizeof *w->live);
    for (int32_t i = w->code->count - 1; i >= 0; i--) {
        HoloIsaStep *before = i ? &w->code->steps[i - 1] : NULL;
        HoloIsaInst *inst   = &w->code->steps[i].inst;
        bool         does   = before && holo_isa_op(before->inst.op)->kind[0] != HOLO_ISA_KIND_N;
        unsigned     r      = does ? before->inst.dst : 0;
        if (before) before->join = false, before->dies = does && (!has(w->live, r) || (inst->dst == r && makes(inst)));
        if (does && !has(w->live, r)) {
            before->join = inst->op == HOLO_ISA_ST && inst->c == r && inst->b != r;
            if (inst->op == HOLO_ISA_MOV && inst->a == r && inst->dst != r) before->inst.dst = inst->a = inst->dst;
        }
        step(w, i);
    }
}

static bool is_nothing(const HoloIsaInst *inst)
{
    return inst->op == HOLO_ISA_MOV && inst->dst == inst->a;
}

static bool retarget(Walk *w)
{
    HoloIsaCode *code    = w->code;
    HoloIsaInst *insts   = HOLO_NEW(&w->arena, HoloIsaInst, code->count + 1);
    int32_t     *targets = HOLO_NEW(&w->arena, int32_t, code->count + 1);
    if (!insts || !targets) return false;
    for (int i = 0; i < code->count; i++) insts[i] = code->steps[i].inst;
    holo_isa_targets(&(HoloIsaProgram){.code = insts, .count = code->count}, targets);
    memset(w->has_next, 0, (size_t)code->count);
    for (int32_t i = 0; i < code->count; i++) {
        unsigned op           = insts[i].op;
        code->steps[i].target = targets[i];
        if ((op == HOLO_ISA_IF || op == HOLO_ISA_ELSE || op == HOLO_ISA_LOOP) && insts[targets[i]].op == HOLO_ISA_END)
            w->opened[targets[i]] = i;
        if (op == HOLO_ISA_NEXT || op == HOLO_ISA_NEXTIF) w->has_next[targets[targets[i]]] = 1;
    }
    return true;
}

static bool drop_moves(Walk *w)
{
    HoloIsaCode *code = w->code;
    int          kept = 0;
    find_pairs(w);
    for (int i = 0; i < code->count; i++)
        if (!is_nothing(&code->steps[i].inst)) code->steps[kept++] = code->steps[i];
    code->count = kept;
    return retarget(w);
}

typedef struct Slot {
    int32_t  until; // the last step that needs it
    uint32_t place;
    int      bytes;
    uint8_t  make; // of its registers
} Slot;

// How the steps that write a register make it. ELEMENT: whole numbers that come from elements; most others are
// positions, which are runs. Loops over elements wait for memory rather than compute, and gain from long tiles, so
// their vectors count as a quarter.
enum { UNMADE, MADE, ELEMENT, VECTOR };

// Numbers for each lane that are neither lent nor computed where they are stored.
static bool is_vector(const HoloIsaStep *s)
{
    unsigned op = s->inst.op;
    if (s->lend || s->join || op == HOLO_ISA_CONST || (op >= HOLO_ISA_PARAM && op <= HOLO_ISA_LENGTH) ||
        op == HOLO_ISA_SET)
        return false;
    if (s->dies && holo_isa_is_link(s) && holo_isa_is_link(s + 1)) return false; // it stays in CPU registers
    return s->is_float || op == HOLO_ISA_LD || op == HOLO_ISA_LDS || op == HOLO_ISA_LDL || op >= HOLO_ISA_AND;
}

static bool is_of_elements(const HoloIsaStep *s, const uint8_t *elements)
{
    const HoloIsaOpInfo *info = holo_isa_op(s->inst.op);
    if (s->inst.op == HOLO_ISA_LD || s->inst.op == HOLO_ISA_LDS || s->inst.op == HOLO_ISA_LDL) return true;
    for (int k = 1; k < HOLO_ISA_OPERANDS; k++)
        if (holo_isa_is_register(info->kind[k]) && elements[holo_isa_operand(&s->inst, k)]) return true;
    return false;
}

static uint8_t *find_makes(Walk *w)
{
    uint8_t *makes    = HOLO_NEW(&w->arena, uint8_t, w->code->register_count + 1);
    uint8_t *elements = HOLO_NEW(&w->arena, uint8_t, w->code->register_count + 1);
    for (int i = 0; makes && elements && i < w->code->count; i++) {
        const HoloIsaStep *s = &w->code->steps[i];
        uint8_t           *m = &makes[s->inst.dst];
        if (holo_isa_op(s->inst.op)->kind[0] == HOLO_ISA_KIND_N) continue;
        bool is_element = is_of_elements(s, elements);
        elements[s->inst.dst] |= is_element;
        uint8_t make = is_vector(s) ? VECTOR : is_element && !s->is_float && !s->lend && !s->join ? ELEMENT : MADE;
        if (make > *m) *m = make;
    }
    return elements ? makes : NULL;
}

static bool take_slots(Walk *w)
{
    HoloIsaCode *code  = w->code;
    Slot        *slots = HOLO_NEW(&w->arena, Slot, code->register_count + 1);
    uint8_t     *makes = find_makes(w);
    int          count = 0;
    uint32_t     warm  = 0;
    if (!slots || !makes) return false;
    for (;;) { // registers in the order in which they begin
        int r = -1, k = 0;
        for (int i = 0; i < code->register_count; i++)
            if (w->last[i] >= 0 && makes[i] && (r < 0 || w->first[i] < w->first[r])) r = i;
        if (r < 0) break;
        int bytes = 1 << code->width[r];
        while (k < count && (slots[k].bytes != bytes || slots[k].make != makes[r] || slots[k].until >= w->first[r]))
            k++;
        if (k == count) {
            slots[count++] = (Slot){0, code->slot_bytes, bytes, makes[r]};
            code->slot_bytes += (uint32_t)bytes;
            code->hot_bytes += makes[r] == VECTOR ? (uint32_t)bytes : 0;
            warm += makes[r] == ELEMENT ? (uint32_t)bytes : 0;
        }
        slots[k].until = w->last[r];
        code->slot[r]  = slots[k].place;
        w->last[r]     = -1;
    }
    code->hot_bytes += warm / 4;
    return true;
}

static bool list_kept(HoloIsaCode *code)
{
    uint8_t *is_kept = HOLO_NEW(&code->arena, uint8_t, code->register_count + 1);
    code->kept       = HOLO_NEW(&code->arena, uint16_t, code->register_count + 1);
    if (!is_kept || !code->kept) return false;
    for (int i = 0; i < code->count; i++)
        if (code->steps[i].keep != HOLO_ISA_NEVER) is_kept[code->steps[i].inst.dst] = 1;
    for (int r = 0; r < code->register_count; r++)
        if (is_kept[r]) code->kept[code->kept_count++] = (uint16_t)r;
    return true;
}

static bool prepare(Walk *w)
{
    HoloIsaCode *code  = w->code;
    size_t       words = (size_t)w->words;
    w->live            = HOLO_NEW(&w->arena, uint64_t, words);
    w->dirty           = HOLO_NEW(&w->arena, uint64_t, words);
    w->head            = HOLO_NEW(&w->arena, uint64_t *, code->count + 1);
    w->opened          = HOLO_NEW(&w->arena, int32_t, code->count + 1);
    w->has_next        = HOLO_NEW(&w->arena, uint8_t, code->count + 1);
    w->first           = HOLO_NEW(&w->arena, int32_t, code->register_count + 1);
    w->last            = HOLO_NEW(&w->arena, int32_t, code->register_count + 1);
    if (!w->live || !w->dirty || !w->head || !w->opened || !w->has_next || !w->first || !w->last) return false;
    for (int i = 0; i < HOLO_ISA_MAX_DEPTH; i++) {
        w->frame[i].after = HOLO_NEW(&w->arena, uint64_t, words);
        w->frame[i].other = HOLO_NEW(&w->arena, uint64_t, words);
        if (!w->frame[i].after || !w->frame[i].other) return false;
    }
    return retarget(w);
}

static bool make_heads(Walk *w)
{
    for (int i = 0; i < w->code->count; i++) {
        w->head[i] = NULL;
        if (w->code->steps[i].inst.op != HOLO_ISA_LOOP) continue;
        w->head[i] = HOLO_NEW(&w->arena, uint64_t, w->words);
        if (!w->head[i]) return false;
    }
    return true;
}

static bool analyze(Walk *w)
{
    if (!prepare(w) || !make_heads(w)) return false;
    walk_heads(w);
    if (!drop_moves(w) || !make_heads(w)) return false;
    walk_heads(w);
    find_pairs(w); // the pairs with stores: there are no moves any more
    for (int r = 0; r < w->code->register_count; r++) w->first[r] = INT32_MAX, w->last[r] = -1;
    w->is_final = true;
    walk(w);
    return take_slots(w) && list_kept(w->code);
}

bool holo_isa_live(HoloIsaCode *code)
{
    Walk *w = holo_realloc(NULL, sizeof *w);
    if (!w) return false;
    *w      = (Walk){.code = code, .words = code->register_count / 64 + 1};
    bool ok = analyze(w);
    holo_arena_deinit(&w->arena);
    holo_free(w);
    return ok;
}
