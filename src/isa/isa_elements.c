// isa_elements.c - see isa_elements.h: the guard for lanes beyond the end, indices as quotients and remainders of the
// lane's number, and the loads.
#include "isa/isa_elements.h"

#include "base/dim/dim.h"

#include <stdio.h>
#include <string.h>

// ---- numbers

int holo_isa_once(HoloIsaBuilder *b, int result)
{
    if (b->status) return result;
    const HoloIsaInst *last = &b->code[b->program.count - 1];
    for (const HoloIsaInst *i = b->code; i < last; i++) {
        if (i->op != last->op || i->type != last->type || i->how != last->how || i->bits != last->bits ||
            i->a != last->a || i->b != last->b || i->c != last->c)
            continue;
        b->program.count--;
        b->program.register_count--;
        return i->dst;
    }
    return result;
}

static int whole(HoloIsaElements *e, HoloIsaOp op, int a, int b, int c)
{
    return holo_isa_once(&e->b, holo_isa_value(&e->b, op, HOLO_I64, a, b, c));
}

static int whole_number(HoloIsaElements *e, int64_t number)
{
    return holo_isa_once(&e->b, holo_isa_const_int(&e->b, HOLO_I64, number));
}

// Size d of the array, as a register.
static int size_of(HoloIsaElements *e, const HoloTensor *t, const char *array, int d)
{
    char name[HOLO_ISA_MAX_NAME];
    int  param = 0, count = e->b.program.param_count;
    if (t->dim[d] >= 0) return whole_number(e, t->dim[d]);
    snprintf(name, sizeof name, "%s_%d", array, d);
    while (param < count && strcmp(e->b.params[param].name, name)) param++;
    if (param == count) param = holo_isa_param(&e->b, name, HOLO_I64, HOLO_ISA_VALUE);
    return holo_isa_once(&e->b, holo_isa_get_param(&e->b, param));
}

// The product of the output's sizes from <= d < to, as a register.
static int extent(HoloIsaElements *e, int from, int to)
{
    const HoloTensor *out   = e->out;
    uint64_t          known = 1; // wraps if there are more elements than possible
    int               all   = -1;
    for (int d = from; d < to; d++) {
        if (out->dim[d] >= 0) {
            known *= (uint64_t)out->dim[d];
            continue;
        }
        int size = size_of(e, out, "y", d);
        all      = all < 0 ? size : whole(e, HOLO_ISA_MUL, all, size, 0);
    }
    if (all >= 0 && known == 1) return all;
    int number = whole_number(e, (int64_t)known);
    return all < 0 ? number : whole(e, HOLO_ISA_MUL, all, number, 0);
}

static bool is_one(const HoloTensor *t, int from, int to)
{
    for (int d = from; d < to; d++)
        if (t->dim[d] != 1) return false;
    return true;
}

// The position of the lane in the output's dimensions from <= d < to, taken as one.
static int place(HoloIsaElements *e, int from, int to)
{
    const HoloTensor *out = e->out;
    int               at  = e->lane;
    if (!is_one(out, to, out->rank)) at = whole(e, HOLO_ISA_DIV, at, extent(e, to, out->rank), 0);
    if (!is_one(out, 0, from)) at = whole(e, HOLO_ISA_REM, at, extent(e, from, to), 0);
    return at;
}

typedef enum Way { // how an input behaves along a dimension of the output
    STILL,
    RUNS,
    MAYBE, // one or the other: it depends on the sizes of the run
} Way;

static Way way_of(HoloDim in, HoloDim out)
{
    if (in == out && in != HOLO_DIM_UNKNOWN) return RUNS;
    return in == 1 ? STILL : MAYBE;
}

// The index of the lane's element in an input. Neighboring dimensions that it has are joined.
static int index_of(HoloIsaElements *e, const HoloTensor *in, const char *name)
{
    const HoloTensor *out   = e->out;
    int               index = -1, skip = in && out ? out->rank - in->rank : -1;
    if (!in || in->rank < 0 || out->rank < 0 || skip < 0) return e->lane;
    for (int d = skip, to; d < out->rank; d = to) {
        Way way = way_of(in->dim[d - skip], out->dim[d]);
        to      = d + 1;
        if (way == STILL) continue;
        while (way == RUNS && to < out->rank && way_of(in->dim[to - skip], out->dim[to]) == RUNS) to++;
        int at   = place(e, d, to);
        int size = way == MAYBE ? size_of(e, in, name, d - skip) : index >= 0 ? extent(e, d, to) : -1;
        if (way == MAYBE) at = whole(e, HOLO_ISA_REM, at, size, 0); // for a size of 1 that is 0
        index = index < 0 ? at : whole(e, HOLO_ISA_MAD, index, size, at);
    }
    return index < 0 ? whole_number(e, 0) : index;
}

// ---- programs

void holo_isa_elements_begin(HoloIsaElements *e)
{
    e->lane = holo_isa_special(&e->b, HOLO_I64, HOLO_ISA_SPECIAL_GLOBAL_ID);
    int n   = holo_isa_length(&e->b, HOLO_I64, e->y);
    holo_isa_control(&e->b, HOLO_ISA_IF, holo_isa_compare(&e->b, HOLO_ISA_COND_LT, HOLO_I64, e->lane, n));
}

int holo_isa_elements_load(HoloIsaElements *e, int param, const HoloTensor *in)
{
    char name[HOLO_ISA_MAX_NAME + 1];
    if (e->b.status) return 0;
    snprintf(name, sizeof name, "%s", e->b.params[param].name);
    return holo_isa_once(&e->b, holo_isa_load(&e->b, HOLO_ISA_LD, param, index_of(e, in, name)));
}

void holo_isa_elements_end(HoloIsaElements *e, int value)
{
    holo_isa_store(&e->b, HOLO_ISA_ST, e->y, e->lane, value);
    holo_isa_control(&e->b, HOLO_ISA_END, 0);
}
