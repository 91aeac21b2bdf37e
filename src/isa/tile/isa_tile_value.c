// isa_tile_value.c - instructions that only read registers, for a tile: one number if it is the same for all lanes, a
// run if it grows by a constant step, and otherwise a loop over all lanes.
#include "format/dtype.h"
#include "isa/isa_number.h"
#include "isa/isa_scalar.h"
#include "isa/tile/isa_code.h"

#include <string.h>

// ---- operands

static void make_each(HoloIsaTile *t, const HoloIsaRegister *r, unsigned type, uint8_t *out, int32_t from, int32_t to)
{
    int width = holo_isa_width(type);
    out += (size_t)from << width;
    if (type == HOLO_BOOL && r->tag == HOLO_ISA_RUN) {
        int32_t lo = (int32_t)r->base, hi = (int32_t)r->step;
        memset(out, 0, (size_t)(to - from));
        lo = lo > from ? lo : from, hi = hi < to ? hi : to;
        if (lo < hi) memset(out + (lo - from), 1, (size_t)(hi - lo));
    } else if (r->tag == HOLO_ISA_ONE) {
        t->code->tiles->fill[width](to - from, r->base, out);
    } else if (r->tag == HOLO_ISA_RUN) {
        t->code->tiles->iota[width](to - from, r->base + r->step * (uint64_t)from, r->step, out);
    } else {
        memcpy(out, r->data + ((size_t)from << width), (size_t)(to - from) << width);
    }
}

const uint8_t *holo_isa_read_each(HoloIsaTile *t, unsigned at, int k, int32_t from, int32_t to)
{
    const HoloIsaRegister *r = &t->r[at];
    if (r->tag == HOLO_ISA_EACH) return r->data;
    make_each(t, r, t->code->types[at], t->scratch[k], from, to);
    return t->scratch[k];
}

const uint8_t *holo_isa_read(HoloIsaTile *t, unsigned at, int k, bool *out_is_one)
{
    const HoloIsaRegister *r = &t->r[at];
    const HoloIsaSet      *s = holo_isa_now(t);
    *out_is_one              = r->tag == HOLO_ISA_ONE;
    if (*out_is_one) return (const uint8_t *)&r->base;
    return holo_isa_read_each(t, at, k, s->lo, s->hi) + ((size_t)s->lo << t->code->width[at]);
}

// ---- results

// Makes its vector, in its own slot, for all lanes of the tile.
static void own_each(HoloIsaTile *t, unsigned at)
{
    HoloIsaRegister *r = &t->r[at];
    if (r->tag != HOLO_ISA_EACH || r->data != r->own) make_each(t, r, t->code->types[at], r->own, 0, t->lanes);
    r->tag = HOLO_ISA_EACH, r->data = r->own;
}

uint8_t *holo_isa_begin_each(HoloIsaTile *t, const HoloIsaStep *step)
{
    if (!holo_isa_keeps(t, step)) return t->r[step->inst.dst].own;
    if (holo_isa_now(t)->mask) return t->scratch[3];
    own_each(t, step->inst.dst);
    return t->r[step->inst.dst].own;
}

void holo_isa_done(HoloIsaTile *t, const HoloIsaStep *step, int width, uint8_t *data)
{
    HoloIsaRegister  *r = &t->r[step->inst.dst];
    const HoloIsaSet *s = holo_isa_now(t);
    if (data == t->scratch[3]) {
        size_t at = (size_t)s->lo << width;
        own_each(t, step->inst.dst);
        t->code->tiles->merge[width](s->hi - s->lo, s->mask + s->lo, data + at, false, r->own + at);
        return;
    }
    r->tag = HOLO_ISA_EACH, r->data = data;
}

// A run, or one number, if some lanes keep what they had.
static void keep_run(HoloIsaTile *t, const HoloIsaStep *step, const HoloIsaRegister *value)
{
    unsigned          type  = t->code->types[step->inst.dst];
    const HoloIsaSet *s     = holo_isa_now(t);
    int               width = holo_isa_width(type);
    uint8_t          *data  = holo_isa_begin_each(t, step);
    make_each(t, value, type, data, s->lo, s->hi);
    holo_isa_done(t, step, width, data);
}

void holo_isa_set_value(HoloIsaTile *t, const HoloIsaStep *step, HoloIsaTag tag, uint64_t base, uint64_t by)
{
    HoloIsaRegister *r = &t->r[step->inst.dst];
    if (holo_isa_keeps(t, step)) {
        keep_run(t, step, &(HoloIsaRegister){.base = base, .step = by, .tag = (uint8_t)tag});
        return;
    }
    r->tag = (uint8_t)tag, r->base = base, r->step = by;
}

void holo_isa_set_run(HoloIsaTile *t, const HoloIsaStep *step, uint64_t base, uint64_t increment)
{
    base = holo_isa_cut(step->width, base), increment = holo_isa_cut(step->width, increment);
    holo_isa_set_value(t, step, increment ? HOLO_ISA_RUN : HOLO_ISA_ONE, base, increment);
}

// ---- loops over lanes

// f16 and bf16 as f32, in scratch k.
static const uint8_t *widened(HoloIsaTile *t, unsigned type, const uint8_t *x, int k, int64_t n)
{
    float *out = (float *)(void *)t->scratch[k];
    (type == HOLO_F16 ? t->code->kernels->widen_f16
                      : t->code->kernels->widen_bf16)(n, (const uint16_t *)(const void *)x, out);
    return t->scratch[k];
}

static void narrowed(HoloIsaTile *t, unsigned type, const uint8_t *x, int64_t n, uint8_t *out)
{
    const float *from = (const float *)(const void *)x;
    (type == HOLO_F16 ? t->code->kernels->narrow_f16 : t->code->kernels->narrow_bf16)(n, from, (uint16_t *)(void *)out);
}

// The loop of a step over n lanes. If the type is small, operands and the result go through scratch 0, 1 and 2.
static void call_tile(HoloIsaTile *t, const HoloIsaStep *step, int64_t n, const uint8_t *x[3], uint8_t *out, int ones)
{
    if (!step->is_small) {
        step->tile(n, x[0], x[1], x[2], out, ones);
        return;
    }
    const uint8_t *wide[3] = {t->scratch[0], t->scratch[0], t->scratch[0]};
    for (int k = 0; k < step->inputs; k++) wide[k] = widened(t, step->inst.type, x[k], k, ones >> k & 1 ? 1 : n);
    if (step->inst.op == HOLO_ISA_SET) {
        step->tile(n, wide[0], wide[1], wide[1], out, ones);
        return;
    }
    step->tile(n, wide[0], wide[1], wide[2], t->scratch[0], ones);
    narrowed(t, step->inst.type, t->scratch[0], n, out);
}

uint8_t *holo_isa_joined(HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaInst *store = &step[1].inst;
    const HoloIsaArg  *arg   = &t->args[store->a];
    const HoloIsaSet  *s     = holo_isa_now(t);
    int64_t            first, last;
    if (!step->join || s->mask || holo_isa_keeps(t, step) || t->r[store->b].tag != HOLO_ISA_RUN) return NULL;
    if (!holo_isa_ends(t, store->b, &first, &last) || last - first != s->hi - 1 - s->lo || first < 0 ||
        last >= arg->count)
        return NULL;
    return (uint8_t *)((uintptr_t)arg->data + ((uintptr_t)(first - s->lo) << step[1].width));
}

static bool check_divisors(HoloIsaTile *t, const HoloIsaStep *step, const uint8_t *x, bool one)
{
    const HoloIsaSet *s = holo_isa_now(t);
    int64_t           n = one ? 1 : s->hi - s->lo, at = t->code->tiles->zero[step->width](n, x);
    while (!one && at < n && s->mask && !s->mask[s->lo + at]) // inactive lanes may divide by anything
        at += 1 + t->code->tiles->zero[step->width](n - at - 1, x + ((size_t)(at + 1) << step->width));
    if (at >= n) return true;
    int32_t lane = s->lo + (one ? 0 : (int32_t)at);
    while (s->mask && !s->mask[lane]) lane++;
    return holo_isa_tile_fail(t, step, lane, "a division by zero");
}

// Divisors of inactive lanes become 1.
static const uint8_t *safe_divisors(HoloIsaTile *t, const HoloIsaStep *step, const uint8_t *x, bool one)
{
    const HoloIsaSet *s    = holo_isa_now(t);
    uint64_t          unit = 1;
    if (one || !s->mask) return x;
    uint8_t *out = t->scratch[2];
    t->code->tiles->sel[step->width](s->hi - s->lo, s->mask + s->lo, x, &unit, out, 4);
    return out;
}

static bool is_division(const HoloIsaStep *step)
{
    return step->inst.op >= HOLO_ISA_DIV && step->inst.op <= HOLO_ISA_MOD && !step->is_float;
}

static bool by_tile(HoloIsaTile *t, const HoloIsaStep *step, bool *out_is_stored)
{
    const HoloIsaSet *s     = holo_isa_now(t);
    const unsigned    in[3] = {step->swaps ? step->inst.b : step->inst.a, step->swaps ? step->inst.a : step->inst.b,
                            step->inst.c};
    const uint8_t *x[3] = {0};
    int            ones = 0, width = step->inst.op == HOLO_ISA_SET ? 0 : step->width;
    for (int k = 0; k < step->inputs; k++) {
        bool one;
        x[k] = holo_isa_read(t, in[k], k, &one);
        ones |= one << k;
    }
    for (int k = step->inputs; k < 3; k++) x[k] = x[0];
    if (is_division(step)) {
        if (!check_divisors(t, step, x[1], ones & 2)) return false;
        x[1] = safe_divisors(t, step, x[1], ones & 2);
    }
    if (ones == (1 << step->inputs) - 1) {
        uint64_t out = 0;
        call_tile(t, step, 1, x, (uint8_t *)&out, 0);
        holo_isa_set_value(t, step, HOLO_ISA_ONE, out, 0);
        return true;
    }
    uint8_t *place = holo_isa_joined(t, step), *data = place ? place : holo_isa_begin_each(t, step);
    call_tile(t, step, s->hi - s->lo, x, (uint8_t *)((uintptr_t)data + ((uintptr_t)s->lo << width)), ones);
    *out_is_stored = place != NULL;
    if (!place) holo_isa_done(t, step, width, data);
    return true;
}

// As by_tile, without what only integers and small floats need.
void holo_isa_tile_floats(HoloIsaTile *t, const HoloIsaStep *step, bool *out_is_stored)
{
    const HoloIsaSet *s     = holo_isa_now(t);
    const unsigned    in[3] = {step->inst.a, step->inst.b, step->inst.c};
    const uint8_t    *x[3];
    size_t            at   = (size_t)s->lo << step->width;
    int               ones = 0;
    for (int k = 0; k < step->inputs; k++) {
        const HoloIsaRegister *r      = &t->r[in[k]];
        bool                   is_one = r->tag == HOLO_ISA_ONE; // floats are never runs
        x[k]                          = is_one ? (const uint8_t *)&r->base : (const uint8_t *)((uintptr_t)r->data + at);
        ones |= is_one << k;
    }
    for (int k = step->inputs; k < 3; k++) x[k] = x[0];
    if (ones == (1 << step->inputs) - 1) {
        uint64_t out = 0;
        step->tile(1, x[0], x[1], x[2], &out, 0);
        holo_isa_set_value(t, step, HOLO_ISA_ONE, out, 0);
        return;
    }
    uint8_t *place = step->join ? holo_isa_joined(t, step) : NULL, *data = place ? place : holo_isa_begin_each(t, step);
    step->tile(s->hi - s->lo, x[0], x[1], x[2], (uint8_t *)((uintptr_t)data + at), ones);
    *out_is_stored = place != NULL;
    if (!place) holo_isa_done(t, step, step->width, data);
}

// ---- moves and conversions

static bool move(HoloIsaTile *t, const HoloIsaStep *step, unsigned from)
{
    const HoloIsaRegister *r       = &t->r[from];
    const HoloIsaSet      *s       = holo_isa_now(t);
    bool                   is_same = from == step->inst.dst;
    if (is_same && (r->tag != HOLO_ISA_EACH || r->data == r->own)) return true;
    if (r->tag != HOLO_ISA_EACH) return holo_isa_set_value(t, step, (HoloIsaTag)r->tag, r->base, r->step), true;
    uint8_t *data = holo_isa_begin_each(t, step); // also one in an array, which may change from here on
    if (data != r->data) make_each(t, r, step->inst.type, data, s->lo, s->hi);
    holo_isa_done(t, step, step->width, data);
    return true;
}

static bool select(HoloIsaTile *t, const HoloIsaStep *step, bool *out_is_stored)
{
    const HoloIsaInst *i = &step->inst;
    const HoloIsaSet  *s = holo_isa_now(t);
    bool               unused, b_one, c_one;
    if (t->r[i->a].tag == HOLO_ISA_ONE) return move(t, step, t->r[i->a].base ? i->b : i->c);
    const uint8_t *a = holo_isa_read(t, i->a, 0, &unused), *b = holo_isa_read(t, i->b, 1, &b_one);
    const uint8_t *c     = holo_isa_read(t, i->c, 2, &c_one);
    uint8_t       *place = holo_isa_joined(t, step), *data = place ? place : holo_isa_begin_each(t, step);
    uint8_t       *out = (uint8_t *)((uintptr_t)data + ((uintptr_t)s->lo << step->width));
    t->code->tiles->sel[step->width](s->hi - s->lo, a, b, c, out, b_one << 1 | c_one << 2);
    *out_is_stored = place != NULL;
    if (!place) holo_isa_done(t, step, step->width, data);
    return true;
}

// One element after the other, for pairs of types that have no loop.
static void convert_plainly(unsigned to, unsigned from, int64_t n, const uint8_t *x, uint8_t *out)
{
    size_t x_size = holo_dtype_size((HoloDtype)from), out_size = holo_dtype_size((HoloDtype)to);
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        memcpy(&bits, x + (size_t)i * x_size, x_size);
        bits = holo_isa_convert_bits((HoloDtype)to, (HoloDtype)from, bits);
        memcpy(out + (size_t)i * out_size, &bits, out_size);
    }
}

static bool is_small(unsigned type)
{
    return type == HOLO_F16 || type == HOLO_BF16;
}

// f32 holds the number exactly, so rounding it further rounds only once.
static bool is_exact_in_f32(unsigned type)
{
    return holo_dtype_size((HoloDtype)type) <= 2 || type == HOLO_F32;
}

static void convert(HoloIsaTile *t, unsigned to, unsigned from, int64_t n, const uint8_t *x, uint8_t *out)
{
    const HoloTiles *tiles = t->code->tiles;
    uint64_t         zero  = 0;
    if (is_small(from)) x = widened(t, from, x, 1, n), from = HOLO_F32;
    int to_tile = holo_isa_tile_type(to), from_tile = holo_isa_tile_type(from);
    if (is_small(to)) {
        if (!is_exact_in_f32(from)) {
            convert_plainly(to, from, n, x, out);
            return;
        }
        if (from != HOLO_F32) tiles->cvt[HOLO_TILE_F32][from_tile](n, x, x, x, t->scratch[2], 0), x = t->scratch[2];
        narrowed(t, to, x, n, out);
    } else if (to == HOLO_BOOL) {
        tiles->op[HOLO_TILE_SET_NE][from_tile](n, x, &zero, x, out, 2);
    } else {
        tiles->cvt[to_tile][from_tile](n, x, x, x, out, 0);
    }
}

// Every NaN gets the same bits.
static void bitcast(unsigned from, int64_t n, const uint8_t *x, uint8_t *out)
{
    static const struct {
        unsigned type;
        uint64_t infinity, nan;
    } rows[] = {
        {HOLO_F16, 0x7c00, 0x7e00},
        {HOLO_BF16, 0x7f80, 0x7fc0},
        {HOLO_F32, 0x7f800000, 0x7fc00000},
        {HOLO_F64, UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000000)},
    };
    size_t size = holo_dtype_size((HoloDtype)from);
    memmove(out, x, (size_t)n * size);
    for (int k = 0; k < HOLO_COUNT(rows); k++) {
        if (rows[k].type != from) continue;
        uint64_t sign = UINT64_C(1) << (8 * size - 1);
        for (int64_t i = 0; i < n; i++) {
            uint64_t bits = 0;
            memcpy(&bits, out + (size_t)i * size, size);
            if ((bits & (sign - 1)) > rows[k].infinity) memcpy(out + (size_t)i * size, &rows[k].nan, size);
        }
    }
}

static bool change_type(HoloIsaTile *t, const HoloIsaStep *step, bool *out_is_stored)
{
    const HoloIsaSet *s  = holo_isa_now(t);
    unsigned          to = step->inst.type, from = step->inst.how;
    bool              one, is_cast               = step->inst.op == HOLO_ISA_BITCAST;
    if (to == from && !is_cast) return move(t, step, step->inst.a);
    const uint8_t *x = holo_isa_read(t, step->inst.a, 0, &one);
    if (one) {
        uint64_t out = 0;
        if (is_cast)
            bitcast(from, 1, x, (uint8_t *)&out);
        else
            out = holo_isa_convert_bits((HoloDtype)to, (HoloDtype)from, t->r[step->inst.a].base);
        holo_isa_set_value(t, step, HOLO_ISA_ONE, out, 0);
        return true;
    }
    uint8_t *place = holo_isa_joined(t, step), *data = place ? place : holo_isa_begin_each(t, step);
    uint8_t *out = (uint8_t *)((uintptr_t)data + ((uintptr_t)s->lo << step->width));
    if (is_cast)
        bitcast(from, s->hi - s->lo, x, out);
    else
        convert(t, to, from, s->hi - s->lo, x, out);
    *out_is_stored = place != NULL;
    if (!place) holo_isa_done(t, step, step->width, data);
    return true;
}

// a * 12288 + b * 256 + c, where some are not runs.
static bool address(HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaSet *s          = holo_isa_now(t);
    const uint64_t    class_size = 12288, page = 256;
    HoloTile         *mad = t->code->tiles->op[HOLO_TILE_MAD][holo_isa_tile_type(step->inst.type)];
    int64_t           n   = s->hi - s->lo;
    bool              a_one, b_one, c_one;
    const uint8_t    *b = holo_isa_read(t, step->inst.b, 1, &b_one), *c = holo_isa_read(t, step->inst.c, 2, &c_one);
    const uint8_t    *a    = holo_isa_read(t, step->inst.a, 0, &a_one);
    uint8_t          *data = holo_isa_begin_each(t, step);
    if (b_one && c_one) c = holo_isa_read_each(t, step->inst.c, 2, 0, t->lanes), c_one = false; // at least one vector
    mad(n, b, &page, c, t->scratch[1], b_one | 2 | c_one << 2);
    mad(n, a, &class_size, t->scratch[1], data + ((size_t)s->lo << step->width), a_one | 2);
    holo_isa_done(t, step, step->width, data);
    return true;
}

static bool not_predicate(HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaSet *s   = holo_isa_now(t);
    const uint8_t     one = 1;
    bool              unused;
    const uint8_t    *a    = holo_isa_read(t, step->inst.a, 0, &unused);
    uint8_t          *data = holo_isa_begin_each(t, step);
    t->code->tiles->op[HOLO_TILE_XOR][HOLO_TILE_U8](s->hi - s->lo, a, &one, a, data + s->lo, 2);
    holo_isa_done(t, step, 0, data);
    return true;
}

// One lane after the other, for what is too rare for a loop of its own.
static bool by_lane(HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaSet *s     = holo_isa_now(t);
    size_t            size  = (size_t)1 << step->width;
    bool              a_one = true, b_one = true;
    uint64_t          a = 0, b = 0, result = 0;
    const uint8_t    *x = holo_isa_read(t, step->inst.a, 0, &a_one), *y = x;
    if (step->inputs > 1) y = holo_isa_read(t, step->inst.b, 1, &b_one);
    uint8_t *data = a_one && b_one ? NULL : holo_isa_begin_each(t, step);
    for (int32_t i = s->lo; i < (data ? s->hi : s->lo + 1); i++) {
        memcpy(&a, x, size);
        if (step->inputs > 1) memcpy(&b, y, size);
        (void)holo_isa_scalar(&step->inst, a, b, 0, &result);
        if (data) memcpy(data + (size_t)i * size, &result, size);
        x += a_one ? 0 : size;
        y += b_one ? 0 : size;
    }
    if (data)
        holo_isa_done(t, step, step->width, data);
    else
        holo_isa_set_value(t, step, HOLO_ISA_ONE, result, 0);
    return true;
}

bool holo_isa_tile_value(HoloIsaTile *t, const HoloIsaStep *step, bool *out_is_stored)
{
    if (!step->is_float && holo_isa_tile_runs(t, step)) return true;
    switch (step->inst.op) {
    case HOLO_ISA_MOV: return move(t, step, step->inst.a);
    case HOLO_ISA_SEL: return select(t, step, out_is_stored);
    case HOLO_ISA_CVT:
    case HOLO_ISA_BITCAST: return change_type(t, step, out_is_stored);
    case HOLO_ISA_BOUND: return address(t, step);
    case HOLO_ISA_LABEL:
    case HOLO_ISA_UNITY:
    case HOLO_ISA_DEGREE:
    case HOLO_ISA_NEIGHBOUR: return by_lane(t, step);
    case HOLO_ISA_NOT:
        if (step->inst.type == HOLO_BOOL) return not_predicate(t, step);
        return by_tile(t, step, out_is_stored);
    default: return by_tile(t, step, out_is_stored);
    }
}
