// cuda_recurrent.c - LSTM, GRU and RNN: a product with the inputs of all times, and a launch for each step in time.
#include "devices/cuda/code/recurrent_params.h"
#include "devices/cuda/cuda_kernel.h"
#include "ops/op_id.h"

#include <stddef.h>

enum { X, W, R, BIAS, LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLES };

typedef struct Layer {
    HoloCudaRecurrent p;                                      // what all steps share
    int64_t           inputs, directions, rows, sums, states; // states: elements of h
    bool              batch_first;
    uint64_t          h_at[2], c_at, kept_at, reset_at; // bytes of the workspace, behind the products with the inputs
} Layer;

static HoloStatus bad(const HoloCudaMaking *m)
{
    return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its operands do not fit its kernel");
}

// An operand of f32 with these sizes; one that may be missing.
static bool is_of(const HoloTensor *t, int rank, const int64_t *size)
{
    if (!t) return true;
    if (t->dtype != HOLO_F32 || t->rank != rank) return false;
    for (int d = 0; d < rank; d++)
        if (t->dim[d] != size[d]) return false;
    return true;
}

static bool sizes_fit(const HoloCudaMaking *m, const Layer *l)
{
    const HoloCall          *call = m->call;
    const HoloCudaRecurrent *p    = &l->p;
    int64_t first = l->batch_first ? p->batch : l->directions, second = l->batch_first ? l->directions : p->batch;
    int64_t w[] = {l->directions, l->sums, l->inputs}, r[] = {l->directions, l->sums, p->hidden};
    int64_t bias[] = {l->directions, 2 * l->sums}, state[] = {first, second, p->hidden};
    int64_t y[]       = {p->times, l->directions, p->batch, p->hidden},
            y_first[] = {p->batch, p->times, l->directions, p->hidden};
    return is_of(call->in[W], 3, w) && is_of(call->in[R], 3, r) && is_of(holo_in(call, BIAS), 2, bias) &&
           !holo_in(call, LENGTHS) && !holo_in(call, PEEPHOLES) && is_of(holo_in(call, INITIAL_H), 3, state) &&
           is_of(holo_in(call, INITIAL_C), 3, state) && is_of(holo_out(call, 0), 4, l->batch_first ? y_first : y) &&
           is_of(holo_out(call, 1), 3, state) && is_of(holo_out(call, 2), 3, state);
}

// The workspace: the products with the inputs, two states h in turns, c, and two more of a GRU that resets before.
static bool workspace_set(HoloCudaMaking *m, Layer *l)
{
    enum { STATES = 5 };
    int64_t from_x, more, all;
    if (!holo_mul(l->rows, l->sums, &from_x) || !holo_mul(from_x, l->directions, &from_x) ||
        !holo_mul(l->states, STATES, &more) || !holo_add(from_x, more, &all) || !holo_mul(all, sizeof(float), &all))
        return false;
    uint64_t at = (uint64_t)from_x * sizeof(float), each = (uint64_t)l->states * sizeof(float);
    l->h_at[0]  = at;
    l->h_at[1]  = at + each;
    l->c_at     = at + 2 * each;
    l->kept_at  = at + 3 * each;
    l->reset_at = at + 4 * each;
    m->scratch  = (size_t)all;
    return true;
}

static HoloStatus layer_read(HoloCudaMaking *m, Layer *l)
{
    const HoloCall    *call = m->call;
    const HoloTensor  *x = holo_in(call, X), *w = holo_in(call, W), *r = holo_in(call, R);
    HoloCudaRecurrent *p = &l->p;
    if (!x || !w || !r || x->dtype != HOLO_F32 || x->rank != 3 || r->rank != 3) return bad(m);
    bool both        = holo_attr_is(call, "direction", "forward", "bidirectional");
    l->directions    = both ? 2 : 1;
    l->batch_first   = holo_attr_int(call, "layout", 0) != 0;
    l->inputs        = x->dim[2];
    p->kind          = holo_op_is(call->op, HOLO_ID_LSTM)  ? HOLO_CUDA_LSTM
                       : holo_op_is(call->op, HOLO_ID_GRU) ? HOLO_CUDA_GRU
                                                           : HOLO_CUDA_RNN;
    p->gates         = p->kind == HOLO_CUDA_LSTM ? 4 : p->kind == HOLO_CUDA_GRU ? 3 : 1;
    p->hidden        = r->dim[2];
    p->times         = x->dim[l->batch_first];
    p->batch         = x->dim[!l->batch_first];
    p->is_reverse[0] = holo_attr_is(call, "direction", "forward", "reverse");
    p->is_reverse[1] = both;
    p->resets_before = p->kind == HOLO_CUDA_GRU && !holo_attr_int(call, "linear_before_reset", 0);
    if (!holo_mul(p->times, p->batch, &l->rows) || !holo_mul(p->hidden, p->gates, &l->sums) ||
        !holo_mul(l->directions * p->batch, p->hidden, &l->states) || !sizes_fit(m, l) || !workspace_set(m, l))
        return bad(m);
    return HOLO_OK;
}

// Where things lie: a line of x has its number in both layouts.
static void strides_set(const HoloCudaMaking *m, Layer *l)
{
    HoloCudaRecurrent *p     = &l->p;
    bool               first = l->batch_first;
    p->x_stride[0]           = l->rows * l->sums;
    p->x_stride[1]           = first ? l->sums : p->batch * l->sums;
    p->x_stride[2]           = first ? p->times * l->sums : l->sums;
    p->y_stride[0]           = first ? p->hidden : p->batch * p->hidden;
    p->y_stride[1]           = l->directions * (first ? 1 : p->batch) * p->hidden;
    p->y_stride[2]           = first ? p->times * l->directions * p->hidden : p->hidden;
    p->last_stride[0]        = first ? p->hidden : p->batch * p->hidden;
    p->last_stride[1]        = first ? l->directions * p->hidden : p->hidden;
    p->r_type                = holo_cuda_type(m, R);
    p->bias_type             = holo_in(m->call, BIAS) ? holo_cuda_type(m, BIAS) : HOLO_CUDA_F32;
    p->y_type                = m->params.store;
}

// from_x[direction] = X * W[direction] + its bias, for all lines.
static HoloStatus inputs_multiply(HoloCudaMaking *m, const Layer *l, int64_t direction)
{
    HoloCudaPlain p     = {.m           = l->rows,
                           .n           = l->sums,
                           .k           = l->inputs,
                           .inner       = 1,
                           .a_stride    = {l->inputs, 1},
                           .b_stride    = {1, l->inputs},
                           .bias_stride = {0, 1},
                           .c_row       = l->sums,
                           .alpha       = 1,
                           .a_type      = holo_cuda_type(m, X),
                           .b_type      = holo_cuda_type(m, W),
                           .c_type      = HOLO_CUDA_F32,
                           .bias_type   = l->p.bias_type};
    HoloCudaShape shape = {.grid = {(uint64_t)(p.n + 15) / 16, (uint64_t)(p.m + 15) / 16, 1}, .block = 256};
    HoloCudaStep *step;
    uint64_t      bias = p.bias_type == HOLO_CUDA_F32 ? 4 : 2, b = p.b_type == HOLO_CUDA_F32 ? 4 : 2;
    HOLO_TRY(holo_cuda_add(m, "basic", "plain", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaPlain, a), X, 0);
    holo_cuda_place(step, offsetof(HoloCudaPlain, b), W, (uint64_t)(direction * l->sums * l->inputs) * b);
    holo_cuda_place(step, offsetof(HoloCudaPlain, c), HOLO_CUDA_SCRATCH, (uint64_t)(direction * l->rows * l->sums) * 4);
    if (holo_in(m->call, BIAS))
        holo_cuda_place(step, offsetof(HoloCudaPlain, bias), BIAS, (uint64_t)(direction * 2 * l->sums) * bias);
    return HOLO_OK;
}

// The state before the first step is the caller's; later ones are in the workspace.
static void state_set(const HoloCudaMaking *m, Layer *l, bool is_first)
{
    const HoloTensor *h = holo_in(m->call, INITIAL_H), *c = holo_in(m->call, INITIAL_C);
    l->p.from_stride[0] = is_first ? l->p.last_stride[0] : l->p.batch * l->p.hidden;
    l->p.from_stride[1] = is_first ? l->p.last_stride[1] : l->p.hidden;
    l->p.h_type         = is_first && h ? holo_cuda_type(m, INITIAL_H) : HOLO_CUDA_F32;
    l->p.c_type         = is_first && c ? holo_cuda_type(m, INITIAL_C) : HOLO_CUDA_F32;
}

static void state_place(const HoloCudaMaking *m, const Layer *l, HoloCudaStep *step)
{
    int64_t time  = l->p.time;
    bool    has_h = holo_in(m->call, INITIAL_H), has_c = holo_in(m->call, INITIAL_C);
    size_t  h = offsetof(HoloCudaRecurrent, h_from), c = offsetof(HoloCudaRecurrent, c_from);
    if (time)
        holo_cuda_place(step, h, HOLO_CUDA_SCRATCH, l->h_at[time & 1]);
    else if (has_h)
        holo_cuda_place(step, h, INITIAL_H, 0);
    if (time)
        holo_cuda_place(step, c, HOLO_CUDA_SCRATCH, l->c_at);
    else if (has_c)
        holo_cuda_place(step, c, INITIAL_C, 0);
}

static HoloStatus step_add(HoloCudaMaking *m, Layer *l, const char *kernel)
{
    enum { WARPS = 8 };
    const HoloCall *call  = m->call;
    HoloCudaShape   shape = {
          .grid  = {(uint64_t)(l->p.hidden + WARPS - 1) / WARPS, (uint64_t)l->p.batch, (uint64_t)l->directions},
          .block = 256};
    HoloCudaStep *step;
    bool          is_last = l->p.time == l->p.times - 1;
    HOLO_TRY(holo_cuda_add(m, "recurrent", kernel, &shape, &l->p, sizeof l->p, &step));
    holo_cuda_place(step, offsetof(HoloCudaRecurrent, from_x), HOLO_CUDA_SCRATCH, 0);
    holo_cuda_place(step, offsetof(HoloCudaRecurrent, r), R, 0);
    if (holo_in(call, BIAS)) holo_cuda_place(step, offsetof(HoloCudaRecurrent, bias), BIAS, 0);
    state_place(m, l, step);
    holo_cuda_place(step, offsetof(HoloCudaRecurrent, h_to), HOLO_CUDA_SCRATCH, l->h_at[!(l->p.time & 1)]);
    holo_cuda_place(step, offsetof(HoloCudaRecurrent, c_to), HOLO_CUDA_SCRATCH, l->c_at);
    holo_cuda_place(step, offsetof(HoloCudaRecurrent, kept), HOLO_CUDA_SCRATCH, l->kept_at);
    holo_cuda_place(step, offsetof(HoloCudaRecurrent, reset), HOLO_CUDA_SCRATCH, l->reset_at);
    if (holo_out(call, 0)) holo_cuda_place(step, offsetof(HoloCudaRecurrent, y), holo_cuda_out(m, 0), 0);
    if (is_last && holo_out(call, 1)) holo_cuda_place(step, offsetof(HoloCudaRecurrent, y_h), holo_cuda_out(m, 1), 0);
    if (is_last && holo_out(call, 2)) holo_cuda_place(step, offsetof(HoloCudaRecurrent, y_c), holo_cuda_out(m, 2), 0);
    return HOLO_OK;
}

HoloStatus holo_cuda_recurrent(HoloCudaMaking *m)
{
    Layer l = {0};
    HOLO_TRY(layer_read(m, &l));
    if (!l.states) return HOLO_OK;
    if (!l.p.times) return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: sequences without elements");
    strides_set(m, &l);
    for (int64_t d = 0; d < l.directions; d++) HOLO_TRY(inputs_multiply(m, &l, d));
    for (l.p.time = 0; l.p.time < l.p.times; l.p.time++) {
        state_set(m, &l, !l.p.time);
        if (l.p.resets_before) HOLO_TRY(step_add(m, &l, "recurrent_reset"));
        HOLO_TRY(step_add(m, &l, "recurrent"));
    }
    return HOLO_OK;
}
