// check_loop.c - loops. A variable that a loop assigns is a PHI in it. Short loops over constant ranges are unrolled.

#include "lang/check.h"

enum { UNROLL_TURNS = 16, UNROLL_NODES = 256 }; // turns, and nodes of all turns together

// ---- what a loop does, found before entering it

typedef struct Survey {
    HoloCheck *c;
    uint8_t   *assigned; // by variable
    bool       writes;   // memory
    bool       leaves;   // by break, continue or return
    int        nodes;
} Survey;

static void survey_name(Survey *s, const char *name)
{
    HoloCheckVar *v = holo_check_find(s->c, name);
    if (v) s->assigned[v - s->c->var] = 1;
}

static void survey(Survey *s, const HoloAst *list);

static void survey_one(Survey *s, const HoloAst *n)
{
    s->nodes++;
    switch ((HoloAstKind)n->kind) {
    case HOLO_AST_LET:
    case HOLO_AST_FOR: survey_name(s, n->name); break;
    case HOLO_AST_ASSIGN:
        if (n->a->kind == HOLO_AST_VAR)
            survey_name(s, n->a->name);
        else
            s->writes = true;
        break;
    case HOLO_AST_BREAK:
    case HOLO_AST_CONTINUE:
    case HOLO_AST_RETURN: s->leaves = true; break;
    case HOLO_AST_CALL: // of a helper that writes, an atomic, a barrier
    case HOLO_AST_MAP_UNARY:
    case HOLO_AST_MAP_BINARY:
    case HOLO_AST_REDUCE: s->writes = true; break;
    default: break;
    }
    const HoloAst *children[] = {n->a, n->b, n->c, n->d};
    for (int i = 0; i < 4; i++)
        if (children[i]) survey_one(s, children[i]);
    survey(s, n->list);
    survey(s, n->other);
}

static void survey(Survey *s, const HoloAst *list)
{
    for (; list; list = list->next) survey_one(s, list);
}

static HoloStatus look(HoloCheck *c, const HoloAst *at, Survey *out)
{
    *out = (Survey){.c = c, .assigned = HOLO_NEW(c->arena, uint8_t, c->var_count + 1)};
    if (!out->assigned) return holo_fail_memory(c->error);
    survey(out, at->list);
    if (at->kind == HOLO_AST_FOR)
        survey_name(out, at->name);
    else
        survey_one(out, at->a);
    return HOLO_OK;
}

// ---- entering and leaving

static void copy(HoloCheck *c, int phi, int value)
{
    HoloSsa *s = &c->ssa;
    if (s->full) return;
    holo_ssa_add(s,
                 (HoloSsaNode){.kind = HOLO_SSA_COPY, .type = s->node[phi].type, .in = {value, -1, -1}, .owner = phi});
}

// A value that is given to a PHI: another PHI of the loop is kept apart first, for it may be overwritten before it is
// read.
static int apart(HoloCheck *c, int phi, int value)
{
    HoloSsa *s = &c->ssa;
    if (s->full || value == phi || s->node[value].kind != HOLO_SSA_LOOP_PHI ||
        s->node[value].owner != s->node[phi].owner)
        return value;
    return holo_ssa_add(s, (HoloSsaNode){.op    = HOLO_ISA_MOV,
                                         .kind  = HOLO_SSA_PINNED,
                                         .type  = s->node[value].type,
                                         .in    = {value, -1, -1},
                                         .owner = -1,
                                         .epoch = s->epoch});
}

// The counter of a range in the next turn.
static int advance(HoloCheck *c, const HoloCheckLoop *loop)
{
    HoloSsa *s = &c->ssa;
    return s->full ? 0 : holo_ssa_pure(s, HOLO_ISA_ADD, s->node[loop->counter].type, loop->counter, loop->step, -1);
}

// What each PHI of the loop is now; all are read before the first is written.
static void give(HoloCheck *c, const HoloCheckLoop *loop, bool goes_on)
{
    int value[HOLO_CHECK_VARS];
    for (int i = 0; i < loop->count; i++)
        if (loop->phi[i] >= 0) value[i] = apart(c, loop->phi[i], c->var[i].value);
    for (int i = 0; i < loop->count; i++)
        if (loop->phi[i] >= 0) copy(c, loop->phi[i], value[i]);
    if (goes_on && loop->counter >= 0) copy(c, loop->counter, advance(c, loop));
}

static int loop_phi(HoloCheck *c, int owner, int value)
{
    return c->ssa.full ? 0
                       : holo_ssa_add(&c->ssa, (HoloSsaNode){.kind  = HOLO_SSA_LOOP_PHI,
                                                             .type  = (uint8_t)holo_ssa_type(&c->ssa, value),
                                                             .in    = {value, -1, -1},
                                                             .owner = owner});
}

typedef struct Frame {
    HoloCheckLoop loop;
    int           owner, parent, count; // the LOOP, the region around it, variables before it
} Frame;

static HoloStatus enter(HoloCheck *c, const HoloAst *at, const Survey *found, Frame *f)
{
    HoloSsa *s  = &c->ssa;
    *f          = (Frame){.loop   = {.outer = c->loop, .count = c->var_count, .base = c->base, .counter = -1, .step = -1},
                          .parent = s->here,
                          .count  = c->var_count};
    f->loop.phi = HOLO_NEW(c->arena, int, c->var_count + 1);
    if (!f->loop.phi) return holo_fail_memory(c->error);
    if (s->full) return HOLO_OK;
    if (s->region[s->here].depth >= HOLO_CHECK_DEPTH)
        return HOLO_CHECK_FAIL(c, at, "split the kernel", "branches and loops nest deeper than %d", HOLO_CHECK_DEPTH);
    if (found->writes) holo_ssa_writes(s);
    f->owner = holo_ssa_effect(s, HOLO_ISA_LOOP, -1);
    int body = holo_ssa_region(s, f->owner, true);
    if (s->full) return HOLO_OK;
    s->node[f->owner].body = body;
    s->here                = body;
    for (int i = 0; i < c->var_count; i++) {
        HoloCheckVar *v = &c->var[i];
        f->loop.phi[i]  = -1;
        if (!found->assigned[i] || v->kind != HOLO_VAR_NUMBER || v->value < 0) continue;
        f->loop.phi[i] = v->value = loop_phi(c, f->owner, v->value);
    }
    c->loop = &f->loop;
    return HOLO_OK;
}

// The loop goes on only where the condition is true. Homes of variables hold what they held at the start of the turn.
static void go_on_if(HoloCheck *c, const HoloCheckLoop *loop, int condition)
{
    uint64_t bits;
    if (holo_ssa_is_const(&c->ssa, condition, &bits) && bits) return;
    for (int i = 0; i < loop->count; i++)
        if (loop->phi[i] >= 0) copy(c, loop->phi[i], loop->phi[i]);
    if (loop->counter >= 0) copy(c, loop->counter, loop->counter);
    holo_ssa_effect(&c->ssa, HOLO_ISA_BREAKIF, holo_ssa_not(&c->ssa, condition));
}

static void leave(HoloCheck *c, Frame *f)
{
    HoloSsa *s = &c->ssa;
    int      back[HOLO_CHECK_VARS];
    if (!c->dead) {
        for (int i = 0; i < f->loop.count; i++)
            if (f->loop.phi[i] >= 0) back[i] = apart(c, f->loop.phi[i], c->var[i].value);
        for (int i = 0; i < f->loop.count && !s->full; i++)
            if (f->loop.phi[i] >= 0) s->node[f->loop.phi[i]].in[1] = back[i];
        int next = f->loop.counter >= 0 ? advance(c, &f->loop) : -1;
        if (next >= 0 && !s->full) s->node[f->loop.counter].in[1] = next;
    }
    c->dead = false;
    s->here = f->parent;
    c->loop = f->loop.outer;
    for (int i = 0; i < c->var_count; i++) {
        HoloCheckVar *v   = &c->var[i];
        int           phi = i < f->loop.count ? f->loop.phi[i] : -1;
        if (v->kind != HOLO_VAR_NUMBER) continue;
        if (phi >= 0 && !s->full)
            v->value = holo_ssa_add(
                s,
                (HoloSsaNode){.kind = HOLO_SSA_LOOP_OUT, .type = s->node[phi].type, .in = {phi, -1, -1}, .owner = -1});
        else if (i >= f->count)
            v->value = -1; // the loop may not have had a turn
    }
}

HoloStatus holo_check_leave(HoloCheck *c, const HoloAst *at)
{
    bool is_break = at->kind == HOLO_AST_BREAK;
    if (!c->loop)
        return HOLO_CHECK_FAIL(c, at, "remove it, or write 'return'", "'%s' stands outside of a loop",
                               is_break ? "break" : "continue");
    give(c, c->loop, !is_break);
    holo_ssa_effect(&c->ssa, is_break ? HOLO_ISA_BREAK : HOLO_ISA_NEXT, -1);
    c->dead = true;
    return HOLO_OK;
}

// Variables that had no value before the loop have none behind it.
static void forget(HoloCheck *c, const int *before, int count)
{
    for (int i = 0; i < c->var_count; i++)
        if (c->var[i].kind == HOLO_VAR_NUMBER && (i >= count || before[i] < 0)) c->var[i].value = -1;
}

static HoloStatus values(HoloCheck *c, int **out)
{
    *out = HOLO_NEW(c->arena, int, c->var_count + 1);
    for (int i = 0; *out && i < c->var_count; i++) (*out)[i] = c->var[i].value;
    return *out ? HOLO_OK : holo_fail_memory(c->error);
}

HoloStatus holo_check_while(HoloCheck *c, const HoloAst *at)
{
    Survey found;
    Frame  frame;
    int    condition, *before, count = c->var_count;
    HOLO_TRY(values(c, &before));
    HOLO_TRY(look(c, at, &found));
    HOLO_TRY(enter(c, at, &found, &frame));
    HOLO_TRY(holo_check_condition(c, at->a, &condition));
    go_on_if(c, &frame.loop, condition);
    HOLO_TRY(holo_check_block(c, at->list));
    leave(c, &frame);
    forget(c, before, count);
    return HOLO_OK;
}

// ---- ranges

typedef struct Range {
    uint8_t type;
    int     start, stop, step;
} Range;

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

static HoloStatus range(HoloCheck *c, const HoloAst *at, Range *out)
{
    const HoloAst *place[] = {at->a, at->b, at->c};
    int           *node[]  = {&out->start, &out->stop, &out->step};
    HoloCheckValue v[3], all;
    for (int i = 0; i < 3; i++) {
        HOLO_TRY(holo_check_expression(c, place[i], &v[i]));
        if (!holo_type_is_int(v[i].type))
            return HOLO_CHECK_FAIL(c, place[i], "convert it: i64(x)", "a range is made of whole numbers; this is %s",
                                   holo_check_type_name(v[i].type));
    }
    all = v[0];
    for (int i = 1; i < 3; i++) {
        if (holo_check_is_literal(all) && holo_check_is_literal(v[i]))
            all.integer = magnitude(v[i].integer) > magnitude(all.integer) ? v[i].integer : all.integer;
        else if (holo_check_is_literal(all))
            all = v[i];
        else if (!holo_check_is_literal(v[i]))
            HOLO_TRY(holo_check_join(c, at, all, v[i], &all.type));
    }
    HOLO_TRY(holo_check_settle(c, at, all, &all));
    out->type = all.type;
    for (int i = 0; i < 3; i++) HOLO_TRY(holo_check_coerce(c, place[i], v[i], out->type, node[i]));
    int64_t step;
    if (holo_ssa_int_value(&c->ssa, out->step, &step) && step == 0)
        return HOLO_CHECK_FAIL(c, at->c, NULL, "a step of 0 never ends");
    return HOLO_OK;
}

static int more(HoloCheck *c, const Range *r, int counter)
{
    HoloSsa *s = &c->ssa;
    int64_t  step;
    int      up = holo_ssa_compare(s, HOLO_ISA_COND_LT, counter, r->stop),
        down    = holo_ssa_compare(s, HOLO_ISA_COND_GT, counter, r->stop);
    if (holo_ssa_int_value(s, r->step, &step)) return step > 0 ? up : down;
    int zero = holo_ssa_int(s, r->type, 0);
    int less = holo_ssa_compare(s, HOLO_ISA_COND_LT, r->step, zero);
    down     = holo_ssa_pure(s, HOLO_ISA_AND, HOLO_BOOL, less, down, -1);
    return holo_ssa_select(s, holo_ssa_compare(s, HOLO_ISA_COND_GT, r->step, zero), up, down);
}

static HoloStatus set_variable(HoloCheck *c, const HoloAst *at, const Range *r, int value)
{
    return holo_check_set(c, at, at->name, HOLO_NONE, (HoloCheckValue){.type = r->type, .node = value});
}

// How many turns a range of constants has; -1: not known, or too many to write out.
static int turns(const HoloCheck *c, const Range *r, const Survey *found)
{
    int64_t start, stop, step, count;
    if (found->leaves || !holo_ssa_int_value(&c->ssa, r->start, &start) ||
        !holo_ssa_int_value(&c->ssa, r->stop, &stop) || !holo_ssa_int_value(&c->ssa, r->step, &step))
        return -1;
    if (r->type == HOLO_U64 || magnitude(start) > INT32_MAX || magnitude(stop) > INT32_MAX ||
        magnitude(step) > INT32_MAX)
        return -1;
    count = step > 0 ? (stop - start + step - 1) / step : (start - stop - step - 1) / -step;
    if (count <= 0) return 0;
    return count <= UNROLL_TURNS && count * found->nodes <= UNROLL_NODES ? (int)count : -1;
}

static HoloStatus write_out(HoloCheck *c, const HoloAst *at, const Range *r, int count)
{
    int64_t start = 0, step = 0;
    int    *before, vars    = c->var_count;
    holo_ssa_int_value(&c->ssa, r->start, &start);
    holo_ssa_int_value(&c->ssa, r->step, &step);
    HOLO_TRY(values(c, &before));
    for (int i = 0; i < count; i++) {
        HOLO_TRY(set_variable(c, at, r, holo_ssa_int(&c->ssa, r->type, start + i * step)));
        HOLO_TRY(holo_check_block(c, at->list));
        forget(c, before, vars);
    }
    return HOLO_OK;
}

HoloStatus holo_check_for(HoloCheck *c, const HoloAst *at)
{
    Survey found;
    Frame  frame;
    Range  r;
    int   *before, vars = c->var_count;
    HOLO_TRY(range(c, at, &r));
    HOLO_TRY(look(c, at, &found));
    int count = turns(c, &r, &found);
    if (count > 0) return write_out(c, at, &r, count);
    HOLO_TRY(values(c, &before));
    HOLO_TRY(enter(c, at, &found, &frame));
    frame.loop.counter = loop_phi(c, frame.owner, r.start);
    frame.loop.step    = r.step;
    go_on_if(c, &frame.loop, more(c, &r, frame.loop.counter));
    HOLO_TRY(set_variable(c, at, &r, frame.loop.counter));
    HOLO_TRY(holo_check_block(c, at->list));
    leave(c, &frame);
    forget(c, before, vars);
    return HOLO_OK;
}
