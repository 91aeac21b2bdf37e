// cuda_waiting.c - which steps of a recording become one launch.
#include "devices/cuda/cuda_waiting.h"

#include <string.h>

// The bytes of an operand. False: it has none.
static bool bytes_of(const HoloTensor *t, uint8_t store, uintptr_t *from, uintptr_t *to)
{
    if (!t || !t->data) return false;
    size_t element = t->dtype == HOLO_F32 && store != HOLO_CUDA_F32 ? 2 : holo_dtype_size((HoloDtype)t->dtype);
    *from          = (uintptr_t)t->data;
    *to            = *from + (size_t)holo_tensor_count(t) * element;
    return true;
}

// Does another step that waits write them, or read what this one writes?
static bool is_free(const HoloCudaWaiting *w, uint8_t store, const HoloTensor *t, bool is_out)
{
    uintptr_t from, to;
    if (!bytes_of(t, store, &from, &to)) return true;
    for (int i = 0; i < w->used_count; i++)
        if (from < w->used[i].to && w->used[i].from < to && (is_out || w->used[i].is_out)) return false;
    return true;
}

static bool are_free(const HoloCudaWaiting *w, uint8_t store, const HoloCall *call)
{
    bool ok = true;
    for (int i = 0; i < call->in_count; i++) ok = ok && is_free(w, store, call->in[i], false);
    for (int i = 0; i < call->out_count; i++) ok = ok && is_free(w, store, call->out[i], true);
    return ok;
}

static bool note(HoloCudaWaiting *w, uint8_t store, const HoloTensor *t, bool is_out)
{
    uintptr_t from, to;
    if (!bytes_of(t, store, &from, &to)) return true;
    if (w->used_count == HOLO_COUNT(w->used)) return false;
    w->used[w->used_count].from     = from;
    w->used[w->used_count].to       = to;
    w->used[w->used_count++].is_out = is_out;
    return true;
}

bool holo_cuda_waiting_note(HoloCudaWaiting *w, uint8_t store, const HoloCall *call)
{
    bool ok = true;
    for (int i = 0; i < call->in_count; i++) ok = ok && note(w, store, call->in[i], false);
    for (int i = 0; i < call->out_count; i++) ok = ok && note(w, store, call->out[i], true);
    return ok;
}

// The parameters of another step of the kernel go behind those that are there.
static void append(HoloCudaWaiting *w, const HoloCudaStep *step)
{
    HoloCudaPart part = {w->step.grid[0], step->grid[0]};
    char        *to   = (char *)w->step.args + (size_t)w->count * step->many;
    memcpy(to, step->args, step->many);
    memcpy(to, &part, sizeof part);
    w->step.grid[0] += step->grid[0];
}

// Is `p` the product that multiplies its result with that of `gate`, and are they alike otherwise? Then the gate writes nothing
// that the other one reads, but that result.
static bool is_gated(const HoloCudaRows *p, const HoloCudaRows *gate)
{
    return p->more == gate->c && p->more_type == gate->c_type && p->ldmore == gate->ldc && !gate->more_how &&
           p->a == gate->a && p->m == gate->m && p->n == gate->n && p->k == gate->k && p->lda == gate->lda &&
           p->ldb == gate->ldb && p->share == gate->share && p->kept == gate->kept && p->b_early == gate->b_early &&
           p->whole == gate->whole && p->norm == gate->norm && p->gain == gate->gain && p->shift == gate->shift &&
           memcmp(&p->epsilon, &gate->epsilon, sizeof p->epsilon) == 0;
}

// One launch of both: its parameters are those of the gate and of the other half. Blocks end at different times, so the result must
// not lie where the gate still reads, as where a bias of its own was.
static bool gate_join(HoloCudaWaiting *w, uint8_t store, const HoloCall *call, const HoloCudaStep *step)
{
    HoloCudaRows p, gate;
    if (w->count != 1 || !step->gated || !is_free(w, store, call->out[0], true)) return false;
    memcpy(&gate, w->step.args, sizeof gate);
    memcpy(&p, step->args, sizeof p);
    if (!is_gated(&p, &gate)) return false;
    gate.part = p.part = (HoloCudaPart){0, step->gated_blocks};
    memcpy(w->step.args, &gate, sizeof gate);
    memcpy(w->step.args + sizeof gate, &p, sizeof p);
    w->step.function = step->gated;
    w->step.grid[0]  = step->gated_blocks;
    w->step.gated    = NULL;
    return true;
}

bool holo_cuda_waiting_join(HoloCudaWaiting *w, uint8_t store, const HoloCall *call, const HoloCudaStep *step)
{
    if (!w->count || w->step.function != step->function || w->step.block != step->block ||
        w->step.shared != step->shared)
        return false;
    if (gate_join(w, store, call, step)) return true;
    if (w->count == HOLO_CUDA_MANY || (w->count + 1) * (size_t)step->many > HOLO_CUDA_ARGS || !are_free(w, store, call))
        return false;
    append(w, step);
    return true;
}
