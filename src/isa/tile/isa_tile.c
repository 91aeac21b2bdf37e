// isa_tile.c - runs a program on a tile of lanes: control flow as sets of active lanes.
//
// A set is a range of lanes, or a mask. Conditions on a lane's position give ranges, so the usual guard, i < n, costs
// nothing. A condition that is the same for all lanes makes no new set.
#include "isa/tile/isa_code.h"

#include <string.h>

bool holo_isa_tile_fail(HoloIsaTile *t, const HoloIsaStep *step, int32_t lane, const char *why)
{
    t->why = why, t->at = step->at, t->lane = lane;
    return false;
}

// ---- sets

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t most(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static void set_range(HoloIsaSet *s, int32_t lo, int32_t hi)
{
    *s = (HoloIsaSet){lo, hi > lo ? hi : lo, hi > lo ? hi - lo : 0, NULL};
}

// As a mask, in `buffer`.
static void set_mask(HoloIsaSet *s, uint8_t *buffer)
{
    if (s->mask == buffer) return;
    if (s->mask)
        memcpy(buffer + s->lo, s->mask + s->lo, (size_t)(s->hi - s->lo));
    else
        memset(buffer + s->lo, 1, (size_t)(s->hi - s->lo));
    s->mask = buffer;
}

static void recount(const HoloIsaTile *t, HoloIsaSet *s)
{
    s->count = (int32_t)t->code->tiles->count(s->hi - s->lo, s->mask + s->lo);
    if (s->count == s->hi - s->lo || !s->count) s->mask = NULL;
    if (!s->count) s->hi = s->lo;
}

// s without the lanes of `gone`, which are all in it. If it needs a mask, the mask is in `buffer`.
static void set_less(const HoloIsaTile *t, HoloIsaSet *s, const HoloIsaSet *gone, uint8_t *buffer)
{
    if (!gone->count || !s->count) return;
    if (gone->count == s->count) {
        set_range(s, s->lo, s->lo);
        return;
    }
    if (!s->mask && !gone->mask && (gone->lo == s->lo || gone->hi == s->hi)) {
        if (gone->lo == s->lo)
            set_range(s, gone->hi, s->hi);
        else
            set_range(s, s->lo, gone->lo);
        return;
    }
    set_mask(s, buffer);
    int32_t lo = gone->lo, n = gone->hi - gone->lo;
    if (!gone->mask)
        memset(s->mask + lo, 0, (size_t)n);
    else // both are 0 or 1, and the lanes that leave were in s
        t->code->tiles->op[HOLO_TILE_XOR][HOLO_TILE_U8](n, s->mask + lo, gone->mask + lo, s->mask + lo, s->mask + lo,
                                                        0);
    recount(t, s);
}

// The lanes of `s` where predicate r is true. If it needs a mask, the mask is in `buffer`, which is not that of s.
static HoloIsaSet set_where(HoloIsaTile *t, const HoloIsaSet *s, unsigned r, uint8_t *buffer)
{
    const HoloIsaRegister *p   = &t->r[r];
    HoloIsaSet             out = *s;
    if (p->tag == HOLO_ISA_ONE) {
        if (!p->base) set_range(&out, s->lo, s->lo);
        return out;
    }
    if (p->tag == HOLO_ISA_RUN) {
        int32_t lo = most(s->lo, (int32_t)p->base), hi = least(s->hi, (int32_t)p->step);
        if (lo == s->lo && hi == s->hi) return out;
        set_range(&out, lo, hi);
        if (!s->mask || !out.count) return out;
        memcpy(buffer + lo, s->mask + lo, (size_t)(hi - lo));
        out.mask = buffer;
        recount(t, &out);
        return out;
    }
    int32_t n = s->hi - s->lo;
    if (s->mask)
        t->code->tiles->op[HOLO_TILE_AND][HOLO_TILE_U8](n, p->data + s->lo, s->mask + s->lo, s->mask, buffer + s->lo,
                                                        0);
    else
        memcpy(buffer + s->lo, p->data + s->lo, (size_t)n);
    out.mask = buffer;
    recount(t, &out);
    if (out.count == s->count) return *s;
    return out;
}

// ---- scopes

// Enters a new scope with the set `now`; `next` is its end or else.
static HoloIsaScope *enter(HoloIsaTile *t, HoloIsaSet now, int32_t next, bool is_loop)
{
    HoloIsaScope *s = &t->scope[++t->depth];
    s->now = now, s->next = next, s->is_loop = is_loop;
    if (now.mask) set_mask(&s->now, s->buffer[0]);
    return s;
}

static int32_t do_if(HoloIsaTile *t, const HoloIsaStep *step, int32_t at)
{
    const HoloIsaSet *from   = holo_isa_now(t);
    uint8_t *const   *buffer = t->scope[t->depth + 1].buffer;
    HoloIsaSet        yes = set_where(t, from, step->inst.a, buffer[0]), no = *from;
    if (t->code->steps[step->target].inst.op == HOLO_ISA_ELSE) set_less(t, &no, &yes, buffer[1]);
    HoloIsaScope *s = enter(t, yes, step->target, false);
    s->rest         = no;
    if (no.mask) set_mask(&s->rest, s->buffer[1]);
    return yes.count ? at + 1 : step->target;
}

static int32_t do_else(HoloIsaTile *t, const HoloIsaStep *step, int32_t at)
{
    HoloIsaScope *s = &t->scope[t->depth];
    s->now          = s->rest;
    if (s->now.mask) { // the two buffers are exchanged
        uint8_t *buffer = s->buffer[0];
        s->buffer[0] = s->buffer[1], s->buffer[1] = buffer;
    }
    s->next = step->target;
    return s->now.count ? at + 1 : step->target;
}

static int32_t do_loop(HoloIsaTile *t, const HoloIsaStep *step, int32_t at)
{
    HoloIsaScope *s = enter(t, *holo_isa_now(t), step->target, true);
    s->rest         = s->now;
    if (s->rest.mask) set_mask(&s->rest, s->buffer[1]);
    return at + 1;
}

static bool count_turn(HoloIsaTile *t, const HoloIsaStep *step, const HoloIsaSet *s)
{
    for (int32_t i = s->lo; i < s->hi; i++)
        if ((!s->mask || s->mask[i]) && ++t->turns[i] > t->launch->turns)
            return holo_isa_tile_fail(t, step, i, "loops take too many turns");
    return true;
}

// The next step, or the way out if no lane is left.
static int32_t go_on(HoloIsaTile *t, int32_t at)
{
    return holo_isa_now(t)->count ? at + 1 : t->scope[t->depth].next;
}

// -1: failed.
static int32_t do_end(HoloIsaTile *t, const HoloIsaStep *step, int32_t at)
{
    HoloIsaScope *s = &t->scope[t->depth];
    if (s->is_loop && s->rest.count) {
        if (t->launch->turns && !count_turn(t, step, &s->rest)) return -1;
        if (holo_stop_is_due(t->stop)) return holo_isa_tile_fail(t, step, s->rest.lo, "the run was stopped"), -1;
        s->now = s->rest;
        if (s->now.mask) set_mask(&s->now, s->buffer[0]);
        return step->target + 1;
    }
    t->depth--;
    return go_on(t, at);
}

// The lanes where the condition is true leave all scopes from `from` on; if `for_good`, they leave loops for good.
static int32_t do_leave(HoloIsaTile *t, const HoloIsaStep *step, int32_t at, int from, bool has_condition,
                        bool for_good)
{
    const HoloIsaRegister *p = &t->r[step->inst.a];
    if (has_condition && p->tag == HOLO_ISA_ONE && !p->base) return at + 1;
    HoloIsaSet gone = *holo_isa_now(t);
    if (has_condition) gone = set_where(t, &gone, step->inst.a, t->scratch[0]);
    if (!gone.count) return at + 1;
    if (gone.mask) set_mask(&gone, t->scratch[1]); // it may be the mask of a scope that changes
    for (int i = t->depth; i >= from; i--) {
        HoloIsaScope *s = &t->scope[i];
        set_less(t, &s->now, &gone, s->buffer[0]);
        if (s->is_loop && for_good) set_less(t, &s->rest, &gone, s->buffer[1]);
    }
    return go_on(t, at);
}

static int inner_loop(const HoloIsaTile *t)
{
    int i = t->depth;
    while (!t->scope[i].is_loop) i--;
    return i;
}

static int32_t control(HoloIsaTile *t, const HoloIsaStep *step, int32_t at)
{
    switch (step->inst.op) {
    case HOLO_ISA_IF: return do_if(t, step, at);
    case HOLO_ISA_ELSE: return do_else(t, step, at);
    case HOLO_ISA_END: return do_end(t, step, at);
    case HOLO_ISA_LOOP: return do_loop(t, step, at);
    case HOLO_ISA_BREAK:
    case HOLO_ISA_BREAKIF: return do_leave(t, step, at, inner_loop(t), step->inst.op == HOLO_ISA_BREAKIF, true);
    case HOLO_ISA_NEXT:
    case HOLO_ISA_NEXTIF: return do_leave(t, step, at, inner_loop(t), step->inst.op == HOLO_ISA_NEXTIF, false);
    default: return do_leave(t, step, at, 0, false, true); // EXIT
    }
}

// ---- the main loop

static bool do_step(HoloIsaTile *t, const HoloIsaStep *step, bool *is_stored)
{
    switch (step->inst.op) {
    case HOLO_ISA_CONST: holo_isa_set_run(t, step, step->inst.bits, 0); return true;
    case HOLO_ISA_PARAM: holo_isa_set_run(t, step, t->args[step->inst.a].bits, 0); return true;
    case HOLO_ISA_LENGTH: holo_isa_set_run(t, step, (uint64_t)t->args[step->inst.a].count, 0); return true;
    case HOLO_ISA_SPECIAL: return holo_isa_tile_special(t, step);
    case HOLO_ISA_LD:
    case HOLO_ISA_ST:
    case HOLO_ISA_LDS:
    case HOLO_ISA_STS:
    case HOLO_ISA_LDL:
    case HOLO_ISA_STL: return holo_isa_tile_memory(t, step);
    case HOLO_ISA_REDUCE:
    case HOLO_ISA_SCAN:
    case HOLO_ISA_ATOM:
    case HOLO_ISA_ATOMS:
    case HOLO_ISA_CAS:
    case HOLO_ISA_CASS: return holo_isa_tile_together(t, step);
    case HOLO_ISA_BARRIER: return true; // a block is a tile: all its lanes are here
    default: return holo_isa_tile_value(t, step, is_stored);
    }
}

void holo_isa_tile_begin(HoloIsaTile *t)
{
    bool unused;
    t->depth = 0, t->lanes = 1, t->sum.of = -1;
    set_range(&t->scope[0].now, 0, 1);
    t->scope[0].is_loop = false, t->scope[0].next = t->code->count;
    for (int i = 0; i < t->code->fixed_count; i++) (void)do_step(t, &t->code->fixed[i], &unused);
}

static void tile_begin(HoloIsaTile *t)
{
    const HoloIsaCode *code = t->code;
    t->depth                = 0;
    t->sum.of               = -1;
    set_range(&t->scope[0].now, 0, t->lanes);
    for (int i = 0; i < code->kept_count; i++) {
        HoloIsaRegister *r = &t->r[code->kept[i]];
        r->tag = HOLO_ISA_ONE, r->step = 0;
    }
    if (code->shared_bytes) memset(t->shared, 0, code->shared_bytes);
    if (code->local_bytes) memset(t->local, 0, (size_t)code->local_bytes * (size_t)code->lanes);
    if (t->launch->turns) memset(t->turns, 0, (size_t)t->lanes * sizeof *t->turns);
}

// A step that is not control. Returns how many steps were done; 0: it failed.
static int do_value(HoloIsaTile *t, const HoloIsaStep *step)
{
    bool is_stored = false;
    if (t->sum.of >= 0 && (!step->is_aside || step->inst.dst == t->sum.of) && !step->is_sum) holo_isa_tile_sum_end(t);
    if (step->is_plain) {
        int done = step->chain > 1 ? holo_isa_tile_chain(t, step, &is_stored) : 0;
        if (done) return done + is_stored;
        if (step->is_sum) {
            if (holo_isa_tile_sum(t, step)) return 1;
            if (t->sum.of >= 0) holo_isa_tile_sum_end(t);
        }
        holo_isa_tile_floats(t, step, &is_stored);
        return 1 + is_stored;
    }
    if (step->inst.op == HOLO_ISA_LD) return holo_isa_tile_memory(t, step);
    if (!holo_isa_tile_quick(t, step) && !do_step(t, step, &is_stored)) return 0;
    return 1 + is_stored;
}

bool holo_isa_tile_run(HoloIsaTile *t)
{
    const HoloIsaStep *steps = t->code->steps;
    int32_t            count = t->code->count;
    tile_begin(t);
    for (int32_t at = 0; at < count;) {
        const HoloIsaStep *step = &steps[at];
        if (step->inst.op >= HOLO_ISA_IF && step->inst.op <= HOLO_ISA_EXIT) {
            at = control(t, step, at);
            if (at < 0) return false;
        } else {
            int done = do_value(t, step);
            if (!done) return false;
            at += done;
        }
    }
    return true;
}
