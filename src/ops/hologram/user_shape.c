// user_shape.c - runs a user's shape rule on sizes that may be expressions. 64-bit integers are sums, products,
// quotients, minima and maxima of symbols; all other values are plain numbers, or unknown. If a condition is unknown,
// both branches run, and values that differ between them are unknown afterwards.
#include "ops/hologram/user_shape.h"
#include "isa/isa_number.h"
#include "isa/isa_scalar.h"

#include <string.h>

enum { FORKS_MAX = 8, STEPS_MAX = 1 << 16 };

typedef struct Number {
    uint64_t bits; // as a CONST holds it
    HoloDim  dim;  // where it is open: an expression, or HOLO_DIM_UNKNOWN
    bool     is_open;
} Number;

typedef struct State {
    Number *r;
    HoloDim (*entry)[HOLO_MAX_RANK]; // of arrays, by parameter
} State;

typedef struct Fork { // an IF both of whose ways are taken
    State   other;    // before ELSE that in which it begins, behind it that in which the first way ended
    int32_t middle, end;
} Fork;

typedef struct Walk {
    const HoloIsaProgram *rule;
    HoloDims             *dims;
    const HoloShapeArg   *args;
    HoloArena             arena;
    int32_t              *targets;
    State                 now;
    Fork                  fork[FORKS_MAX];
    int                   forks;
    int32_t               at;
    bool                  fits; // memory has not run out
} Walk;

// ---- numbers

static Number open_number(HoloDim dim)
{
    if (!holo_dim_is_symbolic(dim)) return (Number){.bits = (uint64_t)dim};
    return (Number){.dim = dim, .is_open = true};
}

static HoloDim dim_of(const Number *n) // of i64
{
    HoloDim dim = n->is_open ? n->dim : (HoloDim)n->bits;
    return !n->is_open && holo_dim_is_symbolic(dim) ? HOLO_DIM_UNKNOWN : dim;
}

static bool is_at_least_0(const HoloDims *dims, HoloDim d, int depth)
{
    if (!holo_dim_is_symbolic(d)) return d >= 0;
    if (!dims || d == HOLO_DIM_UNKNOWN || depth > 8) return false;
    const HoloDimNode *node = holo_dims_node(dims, holo_dim_entry(d));
    return node->op == HOLO_DIM_SYMBOL ||
           (is_at_least_0(dims, node->a, depth + 1) && is_at_least_0(dims, node->b, depth + 1));
}

// Then quotients towards 0 are rounded down.
static bool are_plain(const HoloDims *dims, HoloDim a, HoloDim b)
{
    return is_at_least_0(dims, a, 0) && is_at_least_0(dims, b, 0);
}

static HoloDim modulo(HoloDims *dims, HoloDim a, HoloDim b)
{
    return holo_dim_sub(dims, a, holo_dim_mul(dims, holo_dim_div(dims, a, b), b));
}

// Whole numbers of 64 bits. What wraps in a run is too large for a size here: the run will find the shape to be
// another.
static HoloDim compute(HoloDims *dims, const HoloIsaInst *inst, HoloDim a, HoloDim b, HoloDim c)
{
    bool    shift = !holo_dim_is_symbolic(b) && b >= 0 && b < 62;
    HoloDim power = shift ? INT64_C(1) << b : 0;
    switch (inst->op) {
    case HOLO_ISA_MOV: return a;
    case HOLO_ISA_ADD: return holo_dim_add(dims, a, b);
    case HOLO_ISA_SUB: return holo_dim_sub(dims, a, b);
    case HOLO_ISA_NEG: return holo_dim_sub(dims, 0, a);
    case HOLO_ISA_MUL: return holo_dim_mul(dims, a, b);
    case HOLO_ISA_MAD: return holo_dim_add(dims, holo_dim_mul(dims, a, b), c);
    case HOLO_ISA_MIN: return holo_dim_min(dims, a, b);
    case HOLO_ISA_MAX: return holo_dim_max(dims, a, b);
    case HOLO_ISA_FLOORDIV: return holo_dim_div(dims, a, b);
    case HOLO_ISA_MOD: return modulo(dims, a, b);
    case HOLO_ISA_DIV: return are_plain(dims, a, b) ? holo_dim_div(dims, a, b) : HOLO_DIM_UNKNOWN;
    case HOLO_ISA_REM: return are_plain(dims, a, b) ? modulo(dims, a, b) : HOLO_DIM_UNKNOWN;
    case HOLO_ISA_SHL: return shift ? holo_dim_mul(dims, a, power) : HOLO_DIM_UNKNOWN;
    case HOLO_ISA_SHR: return shift ? holo_dim_div(dims, a, power) : HOLO_DIM_UNKNOWN;
    case HOLO_ISA_AND: // with ones below: the rest of a quotient by a power of two
        return !holo_dim_is_symbolic(b) && b > 0 && b < INT64_C(1) << 62 && !(b & (b + 1)) ? modulo(dims, a, b + 1)
                                                                                           : HOLO_DIM_UNKNOWN;
    default: return HOLO_DIM_UNKNOWN;
    }
}

// A comparison: of what differs by a number.
static Number compare(const Walk *w, const HoloIsaInst *inst, const Number *a, const Number *b)
{
    HoloDim by = inst->type == HOLO_I64 ? holo_dim_sub(w->dims, dim_of(a), dim_of(b)) : HOLO_DIM_UNKNOWN;
    if (holo_dim_is_symbolic(by)) return open_number(HOLO_DIM_UNKNOWN);
    Number out = {0};
    if (!holo_isa_scalar(inst, (uint64_t)by, 0, 0, &out.bits)) return open_number(HOLO_DIM_UNKNOWN);
    return out;
}

static bool is_same(const Number *a, const Number *b)
{
    return a->is_open == b->is_open && (a->is_open ? a->dim == b->dim : a->bits == b->bits);
}

// SEL: one of two.
static Number choose(const Number *p, const Number *a, const Number *b)
{
    if (!p->is_open) return p->bits ? *a : *b;
    return is_same(a, b) ? *a : open_number(HOLO_DIM_UNKNOWN);
}

static uint64_t special(int which) // of the only lane
{
    bool is_size = (which >= HOLO_ISA_SPECIAL_BLOCK_DIM_X && which <= HOLO_ISA_SPECIAL_GRID_DIM_Z) ||
                   (which >= HOLO_ISA_SPECIAL_GLOBAL_DIM_X && which <= HOLO_ISA_SPECIAL_GLOBAL_DIM_Z);
    return is_size;
}

// An instruction on registers; false: it fails.
static bool value(Walk *w, const HoloIsaInst *inst)
{
    const HoloIsaOpInfo *info = holo_isa_op(inst->op);
    Number              *r = w->now.r, *dst = &r[inst->dst], a = {0}, b = {0}, c = {0};
    if (info->kind[1] != HOLO_ISA_KIND_N) a = r[inst->a];
    if (info->kind[2] != HOLO_ISA_KIND_N) b = r[inst->b];
    if (info->kind[3] != HOLO_ISA_KIND_N) c = r[inst->c];
    if (inst->op == HOLO_ISA_SEL)
        *dst = choose(&a, &b, &c);
    else if (inst->op == HOLO_ISA_SET && (a.is_open || b.is_open))
        *dst = compare(w, inst, &a, &b);
    else if (!a.is_open && !b.is_open && !c.is_open)
        return *dst = (Number){0}, holo_isa_scalar(inst, a.bits, b.bits, c.bits, &dst->bits);
    else if (inst->type == HOLO_I64 && inst->op != HOLO_ISA_CVT && inst->op != HOLO_ISA_BITCAST)
        *dst = open_number(compute(w->dims, inst, dim_of(&a), dim_of(&b), dim_of(&c)));
    else
        *dst = open_number(HOLO_DIM_UNKNOWN);
    return true;
}

static bool given(Walk *w, const HoloIsaInst *inst)
{
    const HoloShapeArg *arg = &w->args[inst->a];
    Number             *dst = &w->now.r[inst->dst];
    switch (inst->op) {
    case HOLO_ISA_CONST: *dst = (Number){.bits = inst->bits}; return true;
    case HOLO_ISA_PARAM: *dst = arg->is_open ? open_number(arg->dim[0]) : (Number){.bits = arg->bits}; return true;
    case HOLO_ISA_LENGTH: *dst = (Number){.bits = (uint64_t)arg->count}; return true;
    case HOLO_ISA_SPECIAL: *dst = (Number){.bits = special(inst->how)}; return true;
    default: return value(w, inst);
    }
}

static bool memory(Walk *w, const HoloIsaInst *inst)
{
    const Number *index = &w->now.r[inst->b];
    if ((inst->op != HOLO_ISA_LD && inst->op != HOLO_ISA_ST) || index->is_open) return false;
    int64_t at = holo_isa_to_i64((HoloDtype)w->rule->registers[inst->b], index->bits);
    if (at < 0 || at >= w->args[inst->a].count) return false;
    HoloDim *entry = &w->now.entry[inst->a][at];
    if (inst->op == HOLO_ISA_ST)
        *entry = dim_of(&w->now.r[inst->c]);
    else
        w->now.r[inst->dst] = open_number(*entry == HOLO_SHAPE_PERHAPS ? HOLO_DIM_UNKNOWN : *entry);
    return true;
}

// ---- both ways

static bool state_take(Walk *w, State *s)
{
    if (!s->r) s->r = HOLO_NEW(&w->arena, Number, w->rule->register_count + 1);
    if (!s->entry) s->entry = holo_arena_take_array(&w->arena, (size_t)w->rule->param_count + 1, sizeof *s->entry);
    w->fits = s->r && s->entry;
    return w->fits;
}

static void state_copy(const Walk *w, State *to, const State *from)
{
    memcpy(to->r, from->r, ((size_t)w->rule->register_count + 1) * sizeof *to->r);
    memcpy(to->entry, from->entry, ((size_t)w->rule->param_count + 1) * sizeof *to->entry);
}

static bool is_no_size(HoloDim entry)
{
    return entry == HOLO_SHAPE_NONE || entry == HOLO_SHAPE_PERHAPS;
}

static void state_merge(const Walk *w, State *to, const State *other)
{
    for (int i = 0; i < w->rule->register_count; i++)
        if (!is_same(&to->r[i], &other->r[i])) to->r[i] = open_number(HOLO_DIM_UNKNOWN);
    for (int i = 0; i < w->rule->param_count; i++)
        for (int d = 0; d < HOLO_MAX_RANK; d++) {
            HoloDim *a = &to->entry[i][d], b = other->entry[i][d];
            if (*a != b) *a = is_no_size(*a) || is_no_size(b) ? HOLO_SHAPE_PERHAPS : HOLO_DIM_UNKNOWN;
        }
}

static bool fork_begin(Walk *w)
{
    if (w->forks == FORKS_MAX) return false;
    Fork   *f  = &w->fork[w->forks++];
    int32_t to = w->targets[w->at];
    f->middle  = w->rule->code[to].op == HOLO_ISA_ELSE ? to : -1;
    f->end     = f->middle >= 0 ? w->targets[to] : to;
    if (!state_take(w, &f->other)) return false;
    state_copy(w, &f->other, &w->now);
    return true;
}

static void fork_turn(Walk *w, Fork *f)
{
    State first = w->now;
    w->now      = f->other;
    f->other    = first;
}

// ---- control

static bool leave(Walk *w, int32_t to) // to behind, or to, the end of a loop
{
    if (w->forks && to > w->fork[w->forks - 1].end) return false; // only one of two ways would leave
    w->at = to;
    return true;
}

static bool control(Walk *w, const HoloIsaInst *inst)
{
    bool          has_p = holo_isa_op(inst->op)->kind[1] == HOLO_ISA_KIND_P;
    const Number *p     = &w->now.r[inst->a];
    int32_t       to    = w->targets[w->at];
    Fork         *f     = w->forks ? &w->fork[w->forks - 1] : NULL;
    bool          known = !has_p || !p->is_open, taken = !has_p || p->bits;
    switch (inst->op) {
    case HOLO_ISA_IF:
        if (!known && !fork_begin(w)) return false;
        w->at = !known || taken ? w->at + 1 : to + 1;
        return true;
    case HOLO_ISA_ELSE:
        if (f && f->middle == w->at)
            fork_turn(w, f), w->at++;
        else
            w->at = to + 1;
        return true;
    case HOLO_ISA_END:
        if (f && f->end == w->at) {
            state_merge(w, &w->now, &f->other);
            w->forks--;
        } else {
            w->at = to; // of a loop: its begin
        }
        return w->at++, true;
    case HOLO_ISA_LOOP: return w->at++, true;
    case HOLO_ISA_EXIT: return leave(w, w->rule->count);
    default: // BREAK and NEXT, and those with a condition
        if (!known) return false;
        if (!taken) return w->at++, true;
        return leave(w, inst->op == HOLO_ISA_BREAK || inst->op == HOLO_ISA_BREAKIF ? to + 1 : to);
    }
}

static bool walk(Walk *w)
{
    for (int steps = 0; w->at < w->rule->count; steps++) {
        const HoloIsaInst *inst = &w->rule->code[w->at];
        if (steps == STEPS_MAX) return false;
        if (inst->op >= HOLO_ISA_IF && inst->op <= HOLO_ISA_EXIT) {
            if (!control(w, inst)) return false;
            continue;
        }
        if (inst->op >= HOLO_ISA_BARRIER && inst->op <= HOLO_ISA_CASS) return false;
        if (!(holo_isa_op(inst->op)->kind[2] == HOLO_ISA_KIND_X ? memory(w, inst) : given(w, inst))) return false;
        w->at++;
    }
    return true;
}

bool holo_shape_follow(const HoloIsaProgram *rule, HoloDims *dims, HoloShapeArg *args, bool *out_fits)
{
    Walk w    = {.rule = rule, .dims = dims, .args = args, .fits = true};
    w.targets = HOLO_NEW(&w.arena, int32_t, rule->count + 1);
    bool ok   = state_take(&w, &w.now) && w.targets;
    w.fits    = ok;
    if (ok) {
        holo_isa_targets(rule, w.targets);
        for (int i = 0; i < rule->param_count; i++) memcpy(w.now.entry[i], args[i].dim, sizeof args[i].dim);
        ok = walk(&w);
    }
    for (int i = 0; ok && i < rule->param_count; i++) memcpy(args[i].dim, w.now.entry[i], sizeof args[i].dim);
    *out_fits = w.fits;
    holo_arena_deinit(&w.arena);
    return ok;
}
