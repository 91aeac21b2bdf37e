// isa_tile_memory.c - loads and stores of a tile. If indices are a run, only its ends are checked, and neighboring
// elements are read and written in place. Other indices are checked by a loop, and elements are gathered and scattered.
#include "format/dtype.h"
#include "isa/tile/isa_code.h"

#include <string.h>

HoloIsaSpan holo_isa_span(const HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaCode *code = t->code;
    unsigned           a    = step->inst.a;
    if (step->inst.op == HOLO_ISA_LDS || step->inst.op == HOLO_ISA_STS || step->inst.op == HOLO_ISA_ATOMS ||
        step->inst.op == HOLO_ISA_CASS)
        return (HoloIsaSpan){t->shared + code->shared_at[a], code->shared_count[a]};
    return (HoloIsaSpan){t->args[a].data, t->args[a].count};
}

static bool is_inside(int64_t first, int64_t last, int64_t count)
{
    return first >= 0 && last >= 0 && first < count && last < count;
}

// ---- indices lane by lane

const uint8_t *holo_isa_indices(HoloIsaTile *t, const HoloIsaStep *step, int64_t count, int *out_wide)
{
    const HoloIsaSet *s     = holo_isa_now(t);
    unsigned          type  = t->code->types[step->inst.b];
    int               width = t->code->width[step->inst.b], n = s->hi - s->lo;
    uint64_t          other = 0;
    const uint8_t    *x     = holo_isa_read_each(t, step->inst.b, 0, s->lo, s->hi) + ((size_t)s->lo << width);
    if (s->mask) {
        uint8_t *out = t->scratch[0] + ((size_t)s->lo << width);
        t->code->tiles->sel[width](n, s->mask + s->lo, x, &other, out, 4);
        x = out;
    }
    *out_wide         = width == 3;
    bool    is_signed = HOLO_TYPES_INT >> type & 1;
    int64_t wrong     = t->code->tiles->outside[*out_wide + 2 * is_signed](n, x, count);
    if (wrong == n) return x;
    int32_t lane = s->lo + (int32_t)wrong;
    while (s->mask && !s->mask[lane]) lane++; // an empty array has no element for the others either
    memcpy(&other, x + ((size_t)(lane - s->lo) << width), (size_t)1 << width);
    t->index = other, t->count = count;
    holo_isa_tile_fail(t, step, lane, NULL);
    return NULL;
}

static bool gather(HoloIsaTile *t, const HoloIsaStep *step, HoloIsaSpan from)
{
    const HoloIsaSet *s = holo_isa_now(t);
    int               wide;
    const uint8_t    *index = holo_isa_indices(t, step, from.count, &wide);
    if (!index) return false;
    uint8_t *data = holo_isa_begin_each(t, step), *out = data + ((size_t)s->lo << step->width);
    t->code->tiles->gather[step->width][wide](s->hi - s->lo, from.data, index, out);
    if (step->inst.type == HOLO_BOOL) t->code->tiles->boolean(s->hi - s->lo, out, out);
    holo_isa_done(t, step, step->width, data);
    return true;
}

static bool scatter(HoloIsaTile *t, const HoloIsaStep *step, HoloIsaSpan to)
{
    const HoloIsaSet *s = holo_isa_now(t);
    int               wide;
    bool              one;
    const uint8_t    *index = holo_isa_indices(t, step, to.count, &wide);
    if (!index) return false;
    const uint8_t *values = holo_isa_read(t, step->inst.c, 1, &one);
    t->code->tiles->scatter[step->width][wide](s->hi - s->lo, to.data, index, values, one,
                                               s->mask ? s->mask + s->lo : NULL);
    return true;
}

// ---- one element, and neighboring elements

static void load_one(HoloIsaTile *t, const HoloIsaStep *step, const uint8_t *from)
{
    uint64_t bits = 0;
    memcpy(&bits, from, (size_t)1 << step->width);
    holo_isa_set_value(t, step, HOLO_ISA_ONE, step->inst.type == HOLO_BOOL ? bits != 0 : bits, 0);
}

// `from` is the element of lane 0. If it is lent, the register is the memory itself.
static void load_beside(HoloIsaTile *t, const HoloIsaStep *step, uint8_t *from)
{
    const HoloIsaSet *s    = holo_isa_now(t);
    size_t            at   = (size_t)s->lo << step->width;
    uint8_t          *data = holo_isa_begin_each(t, step), *first = (uint8_t *)((uintptr_t)from + at);
    if (step->inst.type == HOLO_BOOL)
        t->code->tiles->boolean(s->hi - s->lo, first, data + at);
    else if (step->lend && step->keep == HOLO_ISA_NEVER)
        data = from;
    else
        memcpy(data + at, first, (size_t)(s->hi - s->lo) << step->width);
    holo_isa_done(t, step, step->width, data);
}

static bool load(HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaSet *s    = holo_isa_now(t);
    HoloIsaSpan       from = holo_isa_span(t, step);
    int64_t           first, last;
    if (!holo_isa_ends(t, step->inst.b, &first, &last) || !is_inside(first, last, from.count))
        return gather(t, step, from);
    if (first == last) return load_one(t, step, from.data + ((size_t)first << step->width)), true;
    if (last - first != s->hi - 1 - s->lo) return gather(t, step, from);
    load_beside(t, step, (uint8_t *)((uintptr_t)from.data + ((uintptr_t)(first - s->lo) << step->width)));
    return true;
}

// The last active lane writes last.
static void store_one(HoloIsaTile *t, const HoloIsaStep *step, uint8_t *to)
{
    const HoloIsaSet *s    = holo_isa_now(t);
    int32_t           lane = s->hi - 1;
    bool              one;
    while (s->mask && !s->mask[lane]) lane--;
    const uint8_t *values = holo_isa_read(t, step->inst.c, 1, &one);
    memcpy(to, one ? values : values + ((size_t)(lane - s->lo) << step->width), (size_t)1 << step->width);
}

static void store_beside(HoloIsaTile *t, const HoloIsaStep *step, uint8_t *to)
{
    const HoloIsaSet      *s = holo_isa_now(t);
    const HoloIsaRegister *c = &t->r[step->inst.c];
    bool                   one;
    int64_t                n = s->hi - s->lo;
    if (c->tag == HOLO_ISA_ONE) {
        t->code->tiles->fill[step->width](n, c->base, to);
        return;
    }
    memmove(to, holo_isa_read(t, step->inst.c, 1, &one), (size_t)n << step->width);
}

static bool store(HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaSet *s  = holo_isa_now(t);
    HoloIsaSpan       to = holo_isa_span(t, step);
    int64_t           first, last;
    if (!holo_isa_ends(t, step->inst.b, &first, &last) || !is_inside(first, last, to.count))
        return scatter(t, step, to);
    uint8_t *place = to.data + ((size_t)first << step->width);
    if (first == last)
        store_one(t, step, place);
    else if (s->mask || last - first != s->hi - 1 - s->lo)
        return scatter(t, step, to);
    else
        store_beside(t, step, place);
    return true;
}

// ---- local arrays: [element][lane], so that an index that is the same for all lanes is a row

static uint8_t *local_row(const HoloIsaTile *t, const HoloIsaStep *step, int64_t index)
{
    size_t lanes = (size_t)t->code->lanes;
    return t->local + (t->code->local_at[step->inst.a] + ((size_t)index << step->width)) * lanes;
}

static int64_t index_at(const uint8_t *index, int wide, int32_t lane)
{
    uint32_t small;
    int64_t  large;
    if (wide) return memcpy(&large, index + (size_t)lane * 8, sizeof large), large;
    return memcpy(&small, index + (size_t)lane * 4, sizeof small), (int64_t)small;
}

static bool local_each(HoloIsaTile *t, const HoloIsaStep *step, int64_t count)
{
    const HoloIsaSet *s    = holo_isa_now(t);
    size_t            size = (size_t)1 << step->width;
    int               wide;
    bool              one = false, is_load = step->inst.op == HOLO_ISA_LDL;
    const uint8_t    *index = holo_isa_indices(t, step, count, &wide);
    if (!index) return false;
    const uint8_t *values = is_load ? NULL : holo_isa_read(t, step->inst.c, 1, &one);
    uint8_t       *data   = is_load ? holo_isa_begin_each(t, step) : NULL;
    for (int32_t i = 0; i < s->hi - s->lo; i++) {
        uint8_t *at = local_row(t, step, index_at(index, wide, i)) + (size_t)(s->lo + i) * size;
        if (is_load)
            memcpy(data + (size_t)(s->lo + i) * size, at, size);
        else if (!s->mask || s->mask[s->lo + i])
            memcpy(at, one ? values : values + (size_t)i * size, size);
    }
    if (is_load) holo_isa_done(t, step, step->width, data);
    return true;
}

static bool local(HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaSet *s     = holo_isa_now(t);
    int64_t           count = t->code->local_count[step->inst.a], first, last;
    if (!holo_isa_ends(t, step->inst.b, &first, &last) || first != last || !is_inside(first, last, count) ||
        (s->mask && step->inst.op == HOLO_ISA_STL))
        return local_each(t, step, count);
    uint8_t *row = local_row(t, step, first);
    if (step->inst.op == HOLO_ISA_LDL)
        load_beside(t, step, row);
    else
        store_beside(t, step, row + ((size_t)s->lo << step->width));
    return true;
}

bool holo_isa_tile_memory(HoloIsaTile *t, const HoloIsaStep *step)
{
    switch (step->inst.op) {
    case HOLO_ISA_LD:
    case HOLO_ISA_LDS: return load(t, step);
    case HOLO_ISA_ST:
    case HOLO_ISA_STS: return store(t, step);
    default: return local(t, step);
    }
}
