// isa_uniform.c - proves that all lanes of a block reach its barriers, reductions and scans together.
//
// A register is uniform if it has the same value in all lanes of a block wherever it is read. All registers begin as
// uniform. Those that may not be are marked until nothing changes: registers that depend on a lane's position, on
// memory that lanes write, or on marked registers; and registers written where only some lanes may be. Such places are
// the branches of an if, a whole loop that lanes may leave in different turns, and everything behind an exit that some
// lanes take.
#include "isa/form/isa_check.h"

#include <string.h>

enum { TOGETHER, SOME }; // all lanes of the block are there, or maybe only some

typedef struct Places {
    const HoloIsaProgram *p;
    uint8_t              *varies;    // of registers
    uint8_t              *is_some;   // by number of a LOOP: lanes leave it in different turns
    bool                  some_left; // by an exit
    bool                  changed;
    int                   depth;
    int                   at[HOLO_ISA_MAX_DEPTH]; // where the frames begin
    uint8_t               kind[HOLO_ISA_MAX_DEPTH];
} Places;

static void mark(Places *s, uint8_t *flag)
{
    if (!*flag) *flag = 1, s->changed = true;
}

static int here(const Places *s)
{
    if (s->some_left) return SOME;
    for (int i = 0; i < s->depth; i++)
        if (s->kind[i] == SOME || s->is_some[s->at[i]]) return SOME;
    return TOGETHER;
}

static int inner_loop(const Places *s)
{
    int i = s->depth - 1;
    while (i > 0 && s->p->code[s->at[i]].op != HOLO_ISA_LOOP) i--;
    return i;
}

// Some lanes go where others do not: marks the loop from here on, and everything inside it.
static void leave(Places *s, bool varies)
{
    int loop = inner_loop(s);
    for (int i = loop + 1; i < s->depth; i++) varies |= s->kind[i] == SOME;
    if (varies) mark(s, &s->is_some[s->at[loop]]);
}

static bool is_place(int special)
{
    return special <= HOLO_ISA_SPECIAL_LANE_Z ||
           (special >= HOLO_ISA_SPECIAL_GLOBAL_X && special <= HOLO_ISA_SPECIAL_GLOBAL_Z) ||
           special == HOLO_ISA_SPECIAL_GLOBAL_ID || special == HOLO_ISA_SPECIAL_LANE_ID;
}

// May the result of an instruction differ between lanes even if its registers do not?
static bool differs(const HoloIsaProgram *p, const HoloIsaInst *inst)
{
    switch (inst->op) {
    case HOLO_ISA_SPECIAL: return is_place(inst->how);
    case HOLO_ISA_LD: return p->params[inst->a].access != HOLO_ISA_IN;
    case HOLO_ISA_LDS:
    case HOLO_ISA_LDL:
    case HOLO_ISA_SCAN:
    case HOLO_ISA_ATOM:
    case HOLO_ISA_ATOMS:
    case HOLO_ISA_CAS:
    case HOLO_ISA_CASS: return true;
    default: return false;
    }
}

static void value(Places *s, const HoloIsaInst *inst)
{
    const HoloIsaOpInfo *info = holo_isa_op(inst->op);
    if (info->kind[0] == HOLO_ISA_KIND_N) return;
    bool varies = differs(s->p, inst) || here(s) == SOME;
    for (int i = 1; i < HOLO_ISA_OPERANDS; i++)
        if (holo_isa_is_register(info->kind[i]) && inst->op != HOLO_ISA_REDUCE)
            varies |= s->varies[holo_isa_operand(inst, i)];
    if (varies) mark(s, &s->varies[inst->dst]);
}

static void step(Places *s, int at)
{
    const HoloIsaInst *inst = &s->p->code[at];
    value(s, inst);
    switch (inst->op) {
    case HOLO_ISA_IF:
    case HOLO_ISA_LOOP:
        s->kind[s->depth] = inst->op == HOLO_ISA_IF && s->varies[inst->a] ? SOME : TOGETHER;
        s->at[s->depth++] = at;
        break;
    case HOLO_ISA_END: s->depth--; break;
    case HOLO_ISA_BREAK:
    case HOLO_ISA_NEXT: leave(s, false); break;
    case HOLO_ISA_BREAKIF:
    case HOLO_ISA_NEXTIF: leave(s, s->varies[inst->a]); break;
    case HOLO_ISA_EXIT:
        if (here(s) == SOME && !s->some_left) s->some_left = s->changed = true;
        break;
    default: break;
    }
}

static bool needs_all(const HoloIsaInst *inst)
{
    return inst->op == HOLO_ISA_BARRIER || inst->op == HOLO_ISA_REDUCE || inst->op == HOLO_ISA_SCAN;
}

// After nothing changes any more: the first instruction that not all lanes reach; -1: none.
static int first_wrong(Places *s)
{
    s->depth = 0;
    for (int i = 0; i < s->p->count; i++) {
        if (needs_all(&s->p->code[i]) && here(s) == SOME) return i;
        step(s, i);
    }
    return -1;
}

HoloStatus holo_isa_check_uniform(const HoloIsaProgram *program, int *out_at, HoloError *error)
{
    bool any = false;
    for (int i = 0; i < program->count; i++) any |= needs_all(&program->code[i]);
    if (!any) return HOLO_OK;
    HoloArena arena = {0};
    Places   *s     = HOLO_NEW(&arena, Places, 1);
    uint8_t  *flags = HOLO_NEW(&arena, uint8_t, program->register_count + program->count);
    int       wrong = -1;
    if (s && flags) {
        s->p = program, s->varies = flags, s->is_some = flags + program->register_count;
        do {
            s->changed = false, s->depth = 0;
            for (int i = 0; i < program->count; i++) step(s, i);
        } while (s->changed);
        wrong = first_wrong(s);
    }
    HoloStatus status = s && flags ? HOLO_OK : holo_fail_memory(error);
    if (wrong >= 0)
        status = holo_isa_wrong(
            error, program, wrong,
            "maybe only some lanes of a block get here: that must not depend on a lane's position or on memory",
            out_at);
    holo_arena_deinit(&arena);
    return status;
}
