// isa_tile_runs.c - integers that are the same in all lanes, or grow by a constant step, and comparisons of these,
// which are true for a range of lanes. All are computed without a loop over lanes.
#include "format/dtype.h"
#include "isa/tile/isa_code.h"

static int64_t extend(int width, bool is_signed, uint64_t bits)
{
    int away = 64 - (8 << width);
    return is_signed ? (int64_t)(bits << away) >> away : (int64_t)bits;
}

// A run that wraps in its type jumps by the range of the type somewhere.
bool holo_isa_ends(HoloIsaTile *t, unsigned at, int64_t *out_first, int64_t *out_last)
{
    const HoloIsaRegister *r         = &t->r[at];
    const HoloIsaSet      *s         = holo_isa_now(t);
    unsigned               type      = t->code->types[at];
    int                    width     = t->code->width[at];
    bool                   is_signed = HOLO_TYPES_INT >> type & 1;
    if (r->tag == HOLO_ISA_EACH) return false;
    if (r->tag == HOLO_ISA_ONE) {
        *out_first = *out_last = extend(width, is_signed, r->base);
        return type != HOLO_U64 || *out_first >= 0;
    }
    int64_t grows = extend(width, true, r->step), all;
    *out_first    = extend(width, is_signed, holo_isa_cut(width, r->base + r->step * (uint64_t)s->lo));
    if (width < 3) { // nothing overflows 64 bits
        *out_last = *out_first + grows * (s->hi - 1 - s->lo);
        return extend(width, is_signed, holo_isa_cut(width, (uint64_t)*out_last)) == *out_last;
    }
    if (!holo_mul(grows, s->hi - 1 - s->lo, &all) || !holo_add(*out_first, all, out_last)) return false;
    return is_signed || (*out_first >= 0 && *out_last >= 0);
}

// ---- integers that are runs

static bool is_run(const HoloIsaTile *t, unsigned r)
{
    return t->r[r].tag != HOLO_ISA_EACH;
}

static bool is_one(const HoloIsaTile *t, unsigned r)
{
    return t->r[r].tag == HOLO_ISA_ONE;
}

static uint64_t by(const HoloIsaTile *t, unsigned r)
{
    return t->r[r].tag == HOLO_ISA_RUN ? t->r[r].step : 0;
}

// a * b, where at least one is the same for all lanes.
static bool product(const HoloIsaTile *t, unsigned a, unsigned b, uint64_t *base, uint64_t *increment)
{
    const HoloIsaRegister *x = &t->r[a], *y = &t->r[b];
    if (!is_run(t, a) || !is_run(t, b) || (!is_one(t, a) && !is_one(t, b))) return false;
    *base      = x->base * y->base;
    *increment = is_one(t, b) ? by(t, a) * y->base : by(t, b) * x->base;
    return true;
}

// Quotient and remainder of a run by one number, if the quotient is the same for all lanes of the set.
static bool division(HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaInst *i = &step->inst;
    int64_t            first, last, divisor, unused;
    if (!is_run(t, i->a) || !is_one(t, i->b) || !holo_isa_ends(t, i->a, &first, &last)) return false;
    if (!holo_isa_ends(t, i->b, &divisor, &unused) || divisor <= 0 || first < 0 || last < 0) return false;
    if (first / divisor != last / divisor) return false;
    uint64_t quotient = (uint64_t)(first / divisor);
    if (i->op == HOLO_ISA_DIV || i->op == HOLO_ISA_FLOORDIV)
        holo_isa_set_run(t, step, quotient, 0);
    else
        holo_isa_set_run(t, step, t->r[i->a].base - quotient * (uint64_t)divisor, by(t, i->a));
    return true;
}

// True: done.
static bool integer_runs(HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaInst     *i = &step->inst;
    const HoloIsaRegister *a = &t->r[i->a], *b = &t->r[i->b], *c = &t->r[i->c];
    uint64_t               base, increment;
    switch (i->op) {
    case HOLO_ISA_ADD:
        if (!is_run(t, i->a) || !is_run(t, i->b)) return false;
        holo_isa_set_run(t, step, a->base + b->base, by(t, i->a) + by(t, i->b));
        return true;
    case HOLO_ISA_SUB:
        if (!is_run(t, i->a) || !is_run(t, i->b)) return false;
        holo_isa_set_run(t, step, a->base - b->base, by(t, i->a) - by(t, i->b));
        return true;
    case HOLO_ISA_MUL:
        if (!product(t, i->a, i->b, &base, &increment)) return false;
        holo_isa_set_run(t, step, base, increment);
        return true;
    case HOLO_ISA_MAD:
        if (!is_run(t, i->c) || !product(t, i->a, i->b, &base, &increment)) return false;
        holo_isa_set_run(t, step, base + c->base, increment + by(t, i->c));
        return true;
    case HOLO_ISA_NEG:
        if (!is_run(t, i->a)) return false;
        holo_isa_set_run(t, step, -a->base, -by(t, i->a));
        return true;
    case HOLO_ISA_SHL:
        if (!is_run(t, i->a) || !is_one(t, i->b)) return false;
        base = b->base & (uint64_t)((8 << step->width) - 1);
        holo_isa_set_run(t, step, a->base << base, by(t, i->a) << base);
        return true;
    case HOLO_ISA_BOUND:
        if (!is_run(t, i->a) || !is_run(t, i->b) || !is_run(t, i->c)) return false;
        holo_isa_set_run(t, step, a->base * 12288 + b->base * 256 + c->base,
                         by(t, i->a) * 12288 + by(t, i->b) * 256 + by(t, i->c));
        return true;
    case HOLO_ISA_DIV:
    case HOLO_ISA_REM:
    case HOLO_ISA_FLOORDIV:
    case HOLO_ISA_MOD: return division(t, step);
    default: return false;
    }
}

// ---- comparisons of runs: ranges of lanes

typedef __int128 Wide;

static Wide floor_of(Wide a, Wide b) // of a / b, b > 0
{
    if (b == 1) return a;
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

// The lanes where grows * lane < limit (or <=): all below, or all from *out_from on.
static void where_less(Wide grows, Wide limit, bool or_equal, Wide *out_lo, Wide *out_hi)
{
    if (grows > 0) {
        *out_lo = INT32_MIN;
        *out_hi = or_equal ? floor_of(limit, grows) + 1 : -floor_of(-limit, grows);
    } else {
        *out_lo = or_equal ? -floor_of(limit, -grows) : floor_of(-limit, -grows) + 1;
        *out_hi = INT32_MAX;
    }
}

static int32_t clip(Wide lane, int32_t lanes)
{
    return lane < 0 ? 0 : lane > lanes ? lanes : (int32_t)lane;
}

static bool compare_runs(HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaInst *i = &step->inst;
    const HoloIsaSet  *s = holo_isa_now(t);
    unsigned           a = step->swaps ? i->b : i->a, b = step->swaps ? i->a : i->b;
    int64_t            a_first, a_last, b_first, b_last;
    if (step->is_float || !is_run(t, a) || !is_run(t, b)) return false;
    if (!holo_isa_ends(t, a, &a_first, &a_last) || !holo_isa_ends(t, b, &b_first, &b_last)) return false;
    // The difference at lane s->lo + l is a_first - b_first + grows * l.
    int64_t a_by = extend(step->width, true, by(t, a)), b_by = extend(step->width, true, by(t, b));
    Wide    grows = (Wide)a_by - b_by, limit = (Wide)b_first - a_first, lo, hi;
    bool    is_equal = i->how == HOLO_ISA_COND_EQ || i->how == HOLO_ISA_COND_NE;
    bool    or_equal = i->how == HOLO_ISA_COND_LE || i->how == HOLO_ISA_COND_GE;
    if (grows == 0) {
        bool is_true = is_equal ? (limit == 0) == (i->how == HOLO_ISA_COND_EQ) : or_equal ? limit >= 0 : limit > 0;
        holo_isa_set_value(t, step, HOLO_ISA_ONE, is_true, 0);
        return true;
    }
    if (is_equal) {
        bool is_there = limit % grows == 0 && limit / grows >= 0 && limit / grows < s->hi - s->lo;
        if (i->how == HOLO_ISA_COND_NE && is_there) return false; // not a range
        lo = is_there ? limit / grows : 0, hi = is_there ? lo + 1 : i->how == HOLO_ISA_COND_NE ? INT32_MAX : 0;
    } else {
        where_less(grows, limit, or_equal, &lo, &hi);
    }
    int32_t from = clip(lo + s->lo, t->lanes), to = clip(hi + s->lo, t->lanes);
    holo_isa_set_value(t, step, HOLO_ISA_RUN, (uint64_t)from, (uint64_t)(to > from ? to : from));
    return true;
}

// ---- predicates

static bool predicates(HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaRegister *a = &t->r[step->inst.a], *b = &t->r[step->inst.b];
    const HoloIsaSet      *s = holo_isa_now(t);
    if (step->inst.op == HOLO_ISA_AND && a->tag == HOLO_ISA_RUN && b->tag == HOLO_ISA_RUN) {
        uint64_t lo = a->base > b->base ? a->base : b->base, hi = a->step < b->step ? a->step : b->step;
        holo_isa_set_value(t, step, HOLO_ISA_RUN, lo, hi > lo ? hi : lo);
        return true;
    }
    if (step->inst.op == HOLO_ISA_NOT && a->tag == HOLO_ISA_ONE)
        return holo_isa_set_value(t, step, HOLO_ISA_ONE, !a->base, 0), true;
    if (step->inst.op != HOLO_ISA_NOT || a->tag != HOLO_ISA_RUN) return false;
    bool from_start = (int64_t)a->base <= s->lo, to_end = (int64_t)a->step >= s->hi;
    if (!from_start && !to_end) return false;
    holo_isa_set_value(t, step, HOLO_ISA_RUN, from_start ? a->step : 0, from_start ? (uint64_t)t->lanes : a->base);
    return true;
}

// ---- conversions between integers

static bool convert_runs(HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaRegister *a    = &t->r[step->inst.a];
    unsigned               from = step->inst.how;
    int64_t                first, last;
    if (a->tag != HOLO_ISA_RUN || from == HOLO_BOOL || step->inst.type == HOLO_BOOL || HOLO_TYPES_FLOAT >> from & 1)
        return false;
    int width = holo_isa_width(from);
    if (step->width <= width) return holo_isa_set_run(t, step, a->base, a->step), true;
    if (!holo_isa_ends(t, step->inst.a, &first, &last)) return false; // it wraps somewhere
    int64_t grows = extend(width, true, a->step);
    holo_isa_set_run(t, step, (uint64_t)first - (uint64_t)grows * (uint64_t)holo_isa_now(t)->lo, (uint64_t)grows);
    return true;
}

// ---- counters and addresses: what loops compute in every turn

static bool compare_ones(const HoloIsaStep *step, const HoloIsaRegister *a, const HoloIsaRegister *b)
{
    int64_t x = extend(step->width, step->is_signed, a->base), y = extend(step->width, step->is_signed, b->base);
    bool    is_less = step->is_signed ? x < y : (uint64_t)x < (uint64_t)y, is_equal = x == y;
    switch (step->inst.how) {
    case HOLO_ISA_COND_EQ: return is_equal;
    case HOLO_ISA_COND_NE: return !is_equal;
    case HOLO_ISA_COND_LT: return is_less;
    case HOLO_ISA_COND_LE: return is_less || is_equal;
    case HOLO_ISA_COND_GT: return !is_less && !is_equal;
    default: return !is_less;
    }
}

bool holo_isa_tile_quick(HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaInst     *i = &step->inst;
    const HoloIsaRegister *a = &t->r[i->a], *b = &t->r[i->b], *c = &t->r[i->c];
    HoloIsaRegister       *r = &t->r[i->dst];
    uint64_t               base, grows;
    if (step->is_float || i->op < HOLO_ISA_ADD || i->op > HOLO_ISA_SET || a->tag == HOLO_ISA_EACH ||
        b->tag == HOLO_ISA_EACH)
        return false;
    if (step->keep != HOLO_ISA_NEVER && t->scope[step->keep].now.count != holo_isa_now(t)->count) return false;
    switch (i->op) {
    case HOLO_ISA_ADD: base = a->base + b->base, grows = a->step + b->step; break;
    case HOLO_ISA_SUB: base = a->base - b->base, grows = a->step - b->step; break;
    case HOLO_ISA_MUL:
    case HOLO_ISA_MAD:
        if (a->step && b->step) return false;
        base = a->base * b->base, grows = a->step * b->base + b->step * a->base;
        if (i->op == HOLO_ISA_MUL) break;
        if (c->tag == HOLO_ISA_EACH) return false;
        base += c->base, grows += c->step;
        break;
    case HOLO_ISA_SET:
        if (a->step || b->step) return false;
        base = compare_ones(step, a, b), grows = 0;
        break;
    default: return false;
    }
    r->base = holo_isa_cut(step->width, base), r->step = holo_isa_cut(step->width, grows);
    r->tag = r->step ? HOLO_ISA_RUN : HOLO_ISA_ONE;
    return true;
}

bool holo_isa_tile_runs(HoloIsaTile *t, const HoloIsaStep *step)
{
    if (step->inst.op == HOLO_ISA_SET) return compare_runs(t, step);
    if (step->inst.op == HOLO_ISA_CVT) return convert_runs(t, step);
    return step->inst.type == HOLO_BOOL ? predicates(t, step) : integer_runs(t, step);
}
