// finish.c - looks whether a pointwise program is an addition and bounds, in this order, each there or not.
#include "runtime/finish.h"

// Has input i the output's shape?
static bool is_full(const HoloTail *t, int i)
{
    for (int d = 0; d < t->rank; d++)
        if (t->stride[i][d] != t->stride[0][d]) return false;
    return true;
}

static bool takes_sum(const HoloTail *t, const HoloMapStep *step, int before, HoloFinish *out)
{
    int other = step->a == before ? step->b : step->b == before ? step->a : 0;
    if (step->op != HOLO_MAP_add || out->more || out->has_low || out->has_high) return false;
    if (other < 1 || other >= HOLO_MAP_INPUTS || !is_full(t, other)) return false;
    out->more = t->in[other];
    return out->more != NULL;
}

static bool takes_bound(const HoloMapStep *step, int before, HoloFinish *out)
{
    bool low = step->op == HOLO_MAP_at_least;
    if ((!low && step->op != HOLO_MAP_at_most) || step->a != before || step->b != HOLO_MAP_NUMBER) return false;
    if (out->has_high || (low && out->has_low)) return false;
    *(low ? &out->has_low : &out->has_high) = true;
    *(low ? &out->low : &out->high)         = step->number;
    return true;
}

bool holo_finish_of(const HoloTail *tail, HoloFinish *out)
{
    const HoloProgram *program = tail->program;
    *out                       = (HoloFinish){0};
    for (uint32_t i = 0; i < program->count; i++) {
        const HoloMapStep *step   = &program->step[i];
        int                before = i ? HOLO_MAP_INPUTS + (int)i - 1 : 0;
        if (!takes_sum(tail, step, before, out) && !takes_bound(step, before, out)) return false;
    }
    return program->count > 0;
}
