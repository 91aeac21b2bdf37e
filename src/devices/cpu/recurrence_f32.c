// recurrence_f32.c - the products of recurrent layers with weights of f32.
#include "devices/cpu/recurrence.h"

enum { GATES_MAX = 4 };

static HoloStatus check(const HoloCall *call, HoloRecurrentLayer *l)
{
    l->w_tensor = holo_in(call, 1);
    l->r_tensor = holo_in(call, 2);
    HOLO_TRY(holo_cpu_kernel_expect(call, l->r_tensor, "R", 3, 3));
    l->directions = l->r_tensor->dim[0];
    l->sums       = l->r_tensor->dim[1];
    l->hidden     = l->r_tensor->dim[2];
    return holo_layer_expect(call, l->w_tensor, "W", 3, (int64_t[]){l->directions, l->sums, l->inputs});
}

static int64_t packed_size(const HoloRecurrentLayer *l, int64_t k)
{
    return holo_gates_size(l->kind->gates, l->directions, l->sums, k);
}

static void share(HoloRecurrentLayer *l, HoloShare *own, HoloShare *s)
{
    if (own) holo_share_take(own, HOLO_GEMM_SCRATCH + HOLO_GEMM_ROWS * GATES_MAX * HOLO_PANEL, 1, 1, 1);
    if (!s) return;
    l->panels_w = holo_share_take(s, l->packed_w ? 0 : l->directions, l->width, l->inputs, 1);
    l->panels_r = holo_share_take(s, l->packed_r ? 0 : l->directions, l->width, l->hidden, 1);
}

static void pack(const HoloRecurrentLayer *l, int64_t direction, int64_t group)
{
    int64_t   gates = l->kind->gates, at = (direction * l->groups + group) * gates * HOLO_PANEL;
    HoloGates g = {.gates = (int)gates, .hidden = l->hidden};
    if (!l->packed_w) {
        g.w     = (const float *)l->w + direction * l->sums * l->inputs;
        g.k     = l->inputs;
        g.mixed = 1;
        l->host->kernels->pack_gates_f32(&g, group, (float *)l->panels_w + at * g.k);
    }
    if (!l->packed_r) {
        g.w     = (const float *)l->r + direction * l->sums * l->hidden;
        g.k     = l->hidden;
        g.mixed = holo_layer_gates(l, 0);
        l->host->kernels->pack_gates_f32(&g, group, (float *)l->panels_r + at * g.k);
    }
}

static void nothing(HoloRecurrentLayer *l)
{
    (void)l;
}

static void inputs(const HoloRecurrentLayer *l, const HoloGateBlock *b, float *own)
{
    int64_t gates = l->kind->gates * HOLO_PANEL; // floats of a group
    l->host->kernels->gemm_f32(&(HoloGemm){
        .m        = b->rows,
        .n        = b->groups * gates,
        .k        = l->inputs,
        .a        = holo_layer_x(l, b->direction) + b->row * l->inputs,
        .a_row    = l->inputs,
        .a_column = 1,
        .b        = (const float *)l->w + (b->direction * l->groups + b->group) * gates * l->inputs,
        .b_panel  = l->inputs * HOLO_PANEL,
        .b_step   = HOLO_PANEL,
        .c        = holo_layer_in(l, b),
        .c_row    = l->width,
        .d        = l->biases + b->direction * 2 * l->width + b->group * gates,
        .d_column = 1,
        .alpha    = 1,
        .beta     = 1,
        .scratch  = own,
    });
}

// R of the current part, from one group on.
static const float *r_of(const HoloRecurrentLayer *l, const HoloGateBlock *b)
{
    int64_t first = l->part * holo_layer_gates(l, 0);
    return (const float *)l->r +
           ((b->direction * l->groups + b->group) * l->kind->gates + first) * HOLO_PANEL * l->hidden;
}

static const float *sums(const HoloRecurrentLayer *l, const HoloGateBlock *b, float *own)
{
    int64_t      gates = holo_layer_gates(l, l->part);
    const float *r = r_of(l, b), *state = holo_layer_state(l, b->direction) + b->row * l->hidden;
    float       *out = own + HOLO_GEMM_SCRATCH;
    HoloGates    g   = {.w      = r,
                        .gates  = (int)gates,
                        .hidden = l->hidden,
                        .k      = l->hidden,
                        .groups = b->groups,
                        .group  = l->kind->gates * HOLO_PANEL * l->hidden};
    if (b->rows == 1)
        l->host->kernels->state_gates_f32(&g, state, out);
    else
        l->host->kernels->gemm_f32(&(HoloGemm){
            .m        = b->rows,
            .n        = gates * HOLO_PANEL,
            .k        = l->hidden,
            .a        = state,
            .a_row    = l->hidden,
            .a_column = 1,
            .b        = r,
            .b_panel  = HOLO_PANEL,
            .b_step   = gates * HOLO_PANEL,
            .c        = out,
            .c_row    = gates * HOLO_PANEL,
            .alpha    = 1,
            .scratch  = own,
        });
    return out;
}

const HoloGateProducts holo_gates_f32 = {check, packed_size, share, pack, nothing, nothing, inputs, sums};
