// isa_tile_together.c - what the lanes of a tile do together: reductions, scans, atomics.
#include "format/dtype.h"
#include "isa/isa_number.h"
#include "isa/isa_scalar.h"
#include "isa/tile/isa_code.h"

#include <string.h>

static uint64_t read_bits(const uint8_t *x, int64_t i, int width)
{
    uint64_t bits = 0;
    memcpy(&bits, x + ((size_t)i << width), (size_t)1 << width);
    return bits;
}

static void write_bits(uint8_t *x, int64_t i, int width, uint64_t bits)
{
    memcpy(x + ((size_t)i << width), &bits, (size_t)1 << width);
}

// ---- all lanes of a block

// f16 and bf16 are rounded at each step, in the order of HoloTiles.reduce.
static uint64_t reduce_small(const HoloIsaStep *step, int64_t n, const uint8_t *x)
{
    HoloIsaOper oper = (HoloIsaOper)step->inst.how;
    HoloDtype   type = (HoloDtype)step->inst.type;
    uint64_t    sum[16];
    int64_t     sums = n < 16 ? n : 16;
    for (int64_t i = 0; i < n; i++) {
        uint64_t a  = read_bits(x, i, step->width);
        sum[i % 16] = i < 16 ? a : holo_isa_combine(oper, type, sum[i % 16], a);
    }
    for (int64_t half = 8; half; half /= 2)
        for (int64_t i = 0; i < half && i + half < sums; i++)
            sum[i] = holo_isa_combine(oper, type, sum[i], sum[i + half]);
    return sum[0];
}

static void reduce(HoloIsaTile *t, const HoloIsaStep *step)
{
    const uint8_t *x    = holo_isa_read_each(t, step->inst.a, 0, 0, t->lanes);
    uint64_t       bits = 0;
    if (step->is_small)
        bits = reduce_small(step, t->lanes, x);
    else
        t->code->tiles->reduce[step->inst.how][holo_isa_tile_type(step->inst.type)](t->lanes, x, &bits);
    holo_isa_set_value(t, step, HOLO_ISA_ONE, bits, 0);
}

static void scan(HoloIsaTile *t, const HoloIsaStep *step)
{
    const uint8_t *x    = holo_isa_read_each(t, step->inst.a, 0, 0, t->lanes);
    uint8_t       *data = holo_isa_begin_each(t, step);
    uint64_t       sum  = read_bits(x, 0, step->width);
    write_bits(data, 0, step->width, sum);
    for (int32_t i = 1; i < t->lanes; i++) {
        sum = holo_isa_combine((HoloIsaOper)step->inst.how, (HoloDtype)step->inst.type, sum,
                               read_bits(x, i, step->width));
        write_bits(data, i, step->width, sum);
    }
    holo_isa_done(t, step, step->width, data);
}

// ---- atomics: lane after lane

static uint64_t changed(const HoloIsaStep *step, uint64_t old, uint64_t c, uint64_t d)
{
    if (step->inst.op == HOLO_ISA_CAS || step->inst.op == HOLO_ISA_CASS) return old == c ? d : old;
    return holo_isa_combine((HoloIsaOper)step->inst.how, (HoloDtype)step->inst.type, old, c);
}

// The element's old bits. `guarded`: other threads may change it, so even the first read is atomic.
static uint64_t change(const HoloIsaStep *step, uint8_t *element, uint64_t c, uint64_t d, bool guarded)
{
    if (!guarded) {
        uint64_t old = read_bits(element, 0, step->width);
        return write_bits(element, 0, step->width, changed(step, old, c, d)), old;
    }
    if (step->width == 2) {
        uint32_t *place = (uint32_t *)(void *)element, was = __atomic_load_n(place, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(place, &was, (uint32_t)changed(step, was, c, d), false, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED)) {
        }
        return was;
    }
    uint64_t *place = (uint64_t *)(void *)element, was = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(place, &was, changed(step, was, c, d), false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
    return was;
}

static bool atomic(HoloIsaTile *t, const HoloIsaStep *step)
{
    const HoloIsaSet *s  = holo_isa_now(t);
    HoloIsaSpan       to = holo_isa_span(t, step);
    bool guarded = t->is_shared_memory && (step->inst.op == HOLO_ISA_ATOM || step->inst.op == HOLO_ISA_CAS), c_one,
         d_one   = true;
    bool           has_d = step->inst.op == HOLO_ISA_CAS || step->inst.op == HOLO_ISA_CASS;
    int            wide;
    const uint8_t *index = holo_isa_indices(t, step, to.count, &wide);
    if (!index) return false;
    const uint8_t *c = holo_isa_read(t, step->inst.c, 1, &c_one),
                  *d = has_d ? holo_isa_read(t, step->inst.d, 2, &d_one) : c;
    uint8_t *data    = step->is_read ? holo_isa_begin_each(t, step) : NULL;
    for (int32_t i = 0; i < s->hi - s->lo; i++) {
        if (s->mask && !s->mask[s->lo + i]) continue;
        uint64_t at = read_bits(index, i, 2 + wide), x = read_bits(c, c_one ? 0 : i, step->width);
        uint64_t old =
            change(step, to.data + (at << step->width), x, read_bits(d, d_one ? 0 : i, step->width), guarded);
        if (data) write_bits(data, s->lo + i, step->width, old);
    }
    if (data) holo_isa_done(t, step, step->width, data);
    return true;
}

bool holo_isa_tile_together(HoloIsaTile *t, const HoloIsaStep *step)
{
    if (step->inst.op != HOLO_ISA_REDUCE && step->inst.op != HOLO_ISA_SCAN) return atomic(t, step);
    if (holo_isa_now(t)->count != t->lanes)
        return holo_isa_tile_fail(t, step, holo_isa_now(t)->lo, "not all lanes of the block get here");
    if (step->inst.op == HOLO_ISA_REDUCE)
        reduce(t, step);
    else
        scan(t, step);
    return true;
}

// ---- positions of lanes

static void put(HoloIsaTile *t, const HoloIsaStep *step, uint64_t (*of)(const HoloIsaTile *, int, int32_t))
{
    uint8_t          *data = holo_isa_begin_each(t, step);
    const HoloIsaSet *s    = holo_isa_now(t);
    for (int32_t i = s->lo; i < s->hi; i++) write_bits(data, i, step->width, of(t, step->inst.how, i));
    holo_isa_done(t, step, step->width, data);
}

// The position of a lane in the launch and in its block, and that of its block. A tile is a block or a part of a line.
static void places(const HoloIsaTile *t, int32_t lane, uint64_t global[3], uint64_t local[3], uint64_t block[3])
{
    const uint32_t *size = t->launch->block;
    if (t->code->is_cooperative) {
        local[0] = (uint64_t)lane % size[0], local[1] = (uint64_t)lane / size[0] % size[1];
        local[2] = (uint64_t)lane / size[0] / size[1];
        for (int i = 0; i < 3; i++) block[i] = t->place[i], global[i] = block[i] * size[i] + local[i];
        return;
    }
    for (int i = 0; i < 3; i++) {
        global[i] = t->place[i] + (i ? 0 : (uint64_t)lane);
        local[i] = global[i] % size[i], block[i] = global[i] / size[i];
    }
}

static uint64_t place_of(const HoloIsaTile *t, int special, int32_t lane)
{
    const uint32_t *size = t->launch->block, *grid = t->launch->grid;
    uint64_t        g[3], l[3], b[3];
    if (special == HOLO_ISA_SPECIAL_GLOBAL_ID && t->code->is_flat && !t->code->is_cooperative)
        return t->first + (uint64_t)lane;
    places(t, lane, g, l, b);
    switch (special) {
    case HOLO_ISA_SPECIAL_LANE_ID: return (l[2] * size[1] + l[1]) * size[0] + l[0];
    case HOLO_ISA_SPECIAL_GLOBAL_ID: return (g[2] * size[1] * grid[1] + g[1]) * size[0] * grid[0] + g[0];
    default: break;
    }
    const uint64_t all[] = {l[0], l[1], l[2], b[0], b[1], b[2], 0, 0, 0, 0, 0, 0, g[0], g[1], g[2]};
    return all[special];
}

// Along x, positions grow by 1 from lane to lane, until a block or a row of it ends.
static bool is_straight(const HoloIsaTile *t, int special)
{
    const uint32_t *size = t->launch->block;
    if (t->code->is_cooperative) return (size[1] == 1 && size[2] == 1) || special == HOLO_ISA_SPECIAL_LANE_ID;
    if (special == HOLO_ISA_SPECIAL_GLOBAL_X || special == HOLO_ISA_SPECIAL_GLOBAL_ID) return true;
    return t->place[0] / size[0] == (t->place[0] + (uint32_t)t->lanes - 1) / size[0];
}

static bool grows_along_x(int special)
{
    return special == HOLO_ISA_SPECIAL_LANE_X || special == HOLO_ISA_SPECIAL_LANE_ID ||
           special == HOLO_ISA_SPECIAL_GLOBAL_X || special == HOLO_ISA_SPECIAL_GLOBAL_ID;
}

bool holo_isa_tile_special(HoloIsaTile *t, const HoloIsaStep *step)
{
    const uint32_t *size = t->launch->block, *grid = t->launch->grid;
    int             special = step->inst.how, axis = special % 3;
    if (special >= HOLO_ISA_SPECIAL_BLOCK_DIM_X && special <= HOLO_ISA_SPECIAL_BLOCK_DIM_Z)
        return holo_isa_set_run(t, step, size[axis], 0), true;
    if (special >= HOLO_ISA_SPECIAL_GRID_DIM_X && special <= HOLO_ISA_SPECIAL_GRID_DIM_Z)
        return holo_isa_set_run(t, step, grid[axis], 0), true;
    if (special >= HOLO_ISA_SPECIAL_GLOBAL_DIM_X && special <= HOLO_ISA_SPECIAL_GLOBAL_DIM_Z)
        return holo_isa_set_run(t, step, (uint64_t)size[axis] * grid[axis], 0), true;
    bool is_block = special >= HOLO_ISA_SPECIAL_BLOCK_X && special <= HOLO_ISA_SPECIAL_BLOCK_Z;
    bool is_same  = !grows_along_x(special) &&
                   (t->code->is_cooperative ? is_block || is_straight(t, special)
                                            : special != HOLO_ISA_SPECIAL_BLOCK_X || is_straight(t, special));
    if (is_same)
        holo_isa_set_run(t, step, place_of(t, special, 0), 0);
    else if (grows_along_x(special) && is_straight(t, special))
        holo_isa_set_run(t, step, place_of(t, special, 0), 1);
    else
        put(t, step, place_of);
    return true;
}
