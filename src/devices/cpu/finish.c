// finish.c - checks whether a pointwise program is an optional addition followed by an optional swish or bounds.
#include "devices/cpu/finish.h"

typedef struct Reading {
    const HoloTail *tail;
    uint32_t        at;     // the next step
    int             before; // operand with the result so far
    HoloFinish     *out;
    int             more; // the input that is added; 0: none
} Reading;

static const HoloMapStep *step_at(const Reading *r, uint32_t ahead, uint32_t op)
{
    const HoloProgram *program = r->tail->program;
    const HoloMapStep *step    = r->at + ahead < program->count ? &program->step[r->at + ahead] : NULL;
    return step && step->op == op ? step : NULL;
}

static void take(Reading *r, uint32_t steps)
{
    r->at += steps;
    r->before = HOLO_MAP_INPUTS + (int)r->at - 1;
}

// Does input i have the output's shape?
static bool is_full(const HoloTail *t, int i)
{
    for (int d = 0; d < t->rank; d++)
        if (t->stride[i][d] != t->stride[0][d]) return false;
    return true;
}

static void read_sum(Reading *r)
{
    const HoloMapStep *step  = step_at(r, 0, HOLO_MAP_add);
    int                other = !step ? 0 : step->a == r->before ? step->b : step->b == r->before ? step->a : 0;
    if (other < 1 || other >= HOLO_MAP_INPUTS || !r->tail->from[other] || !is_full(r->tail, other)) return;
    r->more = other;
    take(r, 1);
}

// sigmoid x; mul x r; or with x times a number in the sigmoid.
static void read_swish(Reading *r)
{
    const HoloMapStep *scale = step_at(r, 0, HOLO_MAP_mul);
    uint32_t           first = scale ? 1 : 0;
    const HoloMapStep *curve = step_at(r, first, HOLO_MAP_sigmoid), *product = step_at(r, first + 1, HOLO_MAP_mul);
    int                within = scale ? HOLO_MAP_INPUTS + (int)r->at : r->before;
    int                result = HOLO_MAP_INPUTS + (int)(r->at + first);
    if (!curve || !product || curve->a != within) return;
    if (scale && (scale->a != r->before || scale->b != HOLO_MAP_NUMBER)) return;
    if (!(product->a == r->before && product->b == result) && !(product->b == r->before && product->a == result))
        return;
    r->out->has_slope = true;
    r->out->slope     = scale ? scale->number : 1;
    take(r, first + 2);
}

static void read_bound(Reading *r, uint32_t op, bool *has, float *bound)
{
    const HoloMapStep *step = step_at(r, 0, op);
    if (!step || step->a != r->before || step->b != HOLO_MAP_NUMBER) return;
    *has   = true;
    *bound = step->number;
    take(r, 1);
}

bool holo_finish_of(const HoloTail *tail, HoloFinish *out, int *out_more)
{
    Reading r = {.tail = tail, .out = out};
    *out      = (HoloFinish){0};
    read_sum(&r);
    read_swish(&r);
    if (!out->has_slope) read_bound(&r, HOLO_MAP_at_least, &out->has_low, &out->low);
    if (!out->has_slope) read_bound(&r, HOLO_MAP_at_most, &out->has_high, &out->high);
    *out_more = r.more;
    return r.at == tail->program->count && r.at > 0;
}
