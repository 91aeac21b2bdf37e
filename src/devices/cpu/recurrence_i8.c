// recurrence_i8.c - the products of DynamicQuantizeLSTM. Weights have 8 bits with scales and zero points of their own.
// The inputs of all times, and the state of each time, are rounded to 256 steps that cover them.
//
// Sums are exact and scaled once. Weights are panels of gemm_i8, [direction][group][gate]. What gemm_i8 adds to a
// column for zero points is the zero point of A times a number that depends on weights alone: `base`.
#include "devices/cpu/recurrence.h"

#include <math.h>
#include <string.h>

enum { GATES = 4, WIDTH = GATES * HOLO_PANEL }; // of a group

typedef struct Memory { // of a worker; rows follow: as bytes, and as gemm_i8 takes them
    float   out[HOLO_GEMM_ROWS * WIDTH];
    int32_t sums[HOLO_GEMM_ROWS * WIDTH];
    int32_t row[HOLO_GEMM_ROWS], column[WIDTH];
    double  scale[WIDTH];
} Memory;

// ---- shapes

// Is it one number of that type for each direction, or for each direction and sum?
static bool is_line(const HoloRecurrentLayer *l, const HoloTensor *t, int dtype)
{
    return t && t->kind == HOLO_TENSOR && t->dtype == dtype && (t->rank == 1 || t->rank == 2) &&
           t->dim[0] == l->directions && (t->rank == 1 || t->dim[1] == l->sums);
}

static HoloStatus check(const HoloCall *call, HoloRecurrentLayer *l)
{
    const HoloTensor *w = holo_in(call, 1), *r = holo_in(call, 2);
    if (!holo_cpu_kernel_is_8(w, 3, 3) || !holo_cpu_kernel_is_8(r, 3, 3))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "W and R should have 8 bits and three dimensions");
    l->w_tensor   = w;
    l->r_tensor   = r;
    l->directions = r->dim[0];
    l->hidden     = r->dim[1];
    l->sums       = r->dim[2];
    l->w_scale    = holo_in(call, 8);
    l->w_zero     = holo_in(call, 9);
    l->r_scale    = holo_in(call, 10);
    l->r_zero     = holo_in(call, 11);
    if (w->dim[0] != l->directions || w->dim[1] != l->inputs || w->dim[2] != l->sums || l->directions > 2 ||
        l->inputs > HOLO_LSTM_I8_K || l->hidden > HOLO_LSTM_I8_K)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "W or R has other sizes than lstm_i8 takes");
    if (!is_line(l, l->w_scale, HOLO_F32) || !is_line(l, l->r_scale, HOLO_F32) || !is_line(l, l->w_zero, w->dtype) ||
        !is_line(l, l->r_zero, r->dtype))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "scales or zero points are not those of W and R");
    return HOLO_OK;
}

static int64_t packed_size(const HoloRecurrentLayer *l, int64_t k)
{
    return holo_gates_i8_size(l->directions, l->sums, k);
}

static int64_t floats_of(int64_t bytes)
{
    return holo_ceil_div(bytes, sizeof(float));
}

static void share(HoloRecurrentLayer *l, HoloShare *own, HoloShare *s)
{
    if (own) {
        holo_share_take(own, floats_of(sizeof(Memory)), 1, 1, 1);
        holo_share_take(own, l->tile_rows, floats_of(l->inputs + HOLO_I8_ROW(l->inputs)), 1, 1);
    }
    if (!s) return;
    for (int i = 0; i < 2; i++) {
        HoloGateTerms *t = i ? &l->terms_r : &l->terms_w;
        t->zero          = (int32_t *)(void *)holo_share_take(s, l->directions, l->width, 1, 1);
        t->base          = (int32_t *)(void *)holo_share_take(s, l->directions, l->width, 1, 1);
        t->scale         = holo_share_take(s, l->directions, l->width, 1, 1);
    }
    l->panels_w = holo_share_take(s, l->packed_w ? 0 : floats_of(packed_size(l, l->inputs)), 1, 1, 1);
    l->panels_r = holo_share_take(s, l->packed_r ? 0 : floats_of(packed_size(l, l->hidden)), 1, 1, 1);
    l->bytes    = (uint8_t *)holo_share_take(s, l->batch, floats_of(l->hidden), 1, 1);
    l->rows     = (char *)holo_share_take(s, l->directions, l->batch, floats_of(HOLO_I8_ROW(l->hidden)), 1);
    l->row_sums = (int32_t *)(void *)holo_share_take(s, l->directions, l->batch, 1, 1);
}

// ---- before the first step

static void panels_make(const HoloRecurrentLayer *l, const HoloTensor *w, int64_t direction, int64_t group,
                        void *panels)
{
    int64_t        k = w->dim[1], unit = group * HOLO_PANEL, panel = HOLO_I8_PANEL(k);
    const uint8_t *from = (const uint8_t *)w->data + direction * k * l->sums + unit;
    uint8_t       *to   = (uint8_t *)panels + (direction * l->groups + group) * GATES * panel;
    for (int gate = 0; gate < GATES; gate++)
        l->host->kernels->pack_i8(k, holo_least(HOLO_PANEL, l->hidden - unit), from + gate * l->hidden, l->sums, 1,
                                  w->dtype == HOLO_I8, to + gate * panel);
}

static void pack(const HoloRecurrentLayer *l, int64_t direction, int64_t group)
{
    if (!l->packed_w) panels_make(l, l->w_tensor, direction, group, l->panels_w);
    if (!l->packed_r) panels_make(l, l->r_tensor, direction, group, l->panels_r);
}

// For all weights or, if `one` is false, for each column.
static void terms_make(const HoloRecurrentLayer *l, const HoloTensor *w, const HoloTensor *scale,
                       const HoloTensor *zero, const void *panels, HoloGateTerms *out)
{
    int64_t k = w->dim[1], panel = HOLO_I8_PANEL(k), shift = w->dtype == HOLO_I8 ? 128 : 0;
    for (int64_t i = 0; i < l->directions * l->width; i++) {
        int64_t direction = i / l->width, column = i % l->width, gate = column / HOLO_PANEL % GATES;
        int64_t unit = column / WIDTH * HOLO_PANEL + column % HOLO_PANEL, at = direction * l->sums;
        bool    is = unit < l->hidden;
        int32_t sum;
        memcpy(&sum, (const uint8_t *)panels + (i / HOLO_PANEL + 1) * panel - 64 + i % HOLO_PANEL * 4, sizeof sum);
        at += gate * l->hidden + unit;
        int64_t less  = is ? holo_get_i(zero, zero->rank == 1 ? direction : at) + shift : 0;
        out->zero[i]  = (int32_t)-less;
        out->base[i]  = (int32_t)((uint32_t)k * (uint32_t)less - (uint32_t)sum);
        out->scale[i] = is ? ((const float *)scale->data)[scale->rank == 1 ? direction : at] : 0;
    }
}

static HoloQuantum quantum_of(const HoloRecurrentLayer *l, int64_t count, const float *x)
{
    float low = 0, high = 0;
    l->host->kernels->range_f32(count, x, &low, &high);
    HoloQuantum q = {.scale = (high - low) / 255};
    if (q.scale == 0) q.scale = 1;
    float at = nearbyintf(-low / q.scale);
    q.zero   = at > 255 ? 255 : at > 0 ? (int)at : 0;
    return q;
}

// The range of the inputs covers all times up to the end of the longest sequence.
static void start(HoloRecurrentLayer *l)
{
    int64_t longest = l->lengths ? 0 : l->times;
    for (int64_t i = 0; l->lengths && i < l->batch; i++) longest = l->lengths[i] > longest ? l->lengths[i] : longest;
    l->quantum_x = quantum_of(l, longest * l->batch * l->inputs, l->x);
    terms_make(l, l->w_tensor, l->w_scale, l->w_zero, l->w, &l->terms_w);
    terms_make(l, l->r_tensor, l->r_scale, l->r_zero, l->r, &l->terms_r);
    l->terms_w.bias = l->biases;
}

// ---- products

typedef struct Rows { // of A, as gemm_i8 takes them
    const void    *data;
    const int32_t *sums;
    HoloQuantum    quantum;
} Rows;

// Multiplies rows with one group: [rows][gates][16], `out_row` floats from one row to the next.
static void group_product(const HoloRecurrentLayer *l, const HoloGateBlock *b, int64_t group, const Rows *a, int64_t k,
                          const void *panels, const HoloGateTerms *terms, float *out, int64_t out_row, Memory *m)
{
    const HoloKernelTable *kernels = l->host->kernels;
    int64_t                at = b->direction * l->width + group * WIDTH, panel = HOLO_I8_PANEL(k);
    const float           *bias = terms->bias ? terms->bias + b->direction * 2 * l->width + group * WIDTH : NULL;
    uint32_t               zero = (uint32_t)(a->quantum.zero - 128);
    for (int j = 0; j < WIDTH; j++) {
        m->column[j] = (int32_t)(zero * (uint32_t)terms->base[at + j]);
        m->scale[j]  = (double)a->quantum.scale * (double)terms->scale[at + j];
    }
    kernels->gemm_i8(&(HoloGemmI8){
        .m       = b->rows,
        .n       = WIDTH,
        .quads   = holo_ceil_div(k, 4),
        .a       = a->data,
        .a_row   = HOLO_I8_ROW(k),
        .b       = (const uint8_t *)panels + (b->direction * l->groups + group) * GATES * panel,
        .b_panel = panel,
        .row     = a->sums,
        .zero    = terms->zero + at,
        .column  = m->column,
        .c       = m->sums,
        .c_row   = WIDTH,
    });
    for (int64_t i = 0; i < b->rows; i++)
        kernels->finish_i8(&(HoloFinishI8){.n     = WIDTH,
                                           .sums  = m->sums + i * WIDTH,
                                           .scale = m->scale,
                                           .bias  = bias,
                                           .to    = HOLO_FINISH_F32,
                                           .out   = out + i * out_row});
}

static void inputs(const HoloRecurrentLayer *l, const HoloGateBlock *b, float *own)
{
    Memory  *m     = (Memory *)(void *)own;
    int64_t  k     = l->inputs;
    char    *rows  = (char *)(m + 1);
    uint8_t *bytes = (uint8_t *)rows + l->tile_rows * HOLO_I8_ROW(k);
    Rows     a     = {.data = rows, .sums = m->row, .quantum = l->quantum_x};
    l->host->kernels->quantize_f32(b->rows * k, holo_layer_x(l, b->direction) + b->row * k, a.quantum.scale,
                                   a.quantum.zero, false, bytes);
    l->host->kernels->rows_i8(b->rows, k, bytes, k, false, rows, m->row);
    for (int64_t i = 0; i < b->groups; i++)
        group_product(l, b, b->group + i, &a, k, l->w, &l->terms_w, holo_layer_in(l, b) + i * WIDTH, l->width, m);
}

static void state(HoloRecurrentLayer *l)
{
    const HoloKernelTable *kernels = l->host->kernels;
    for (int64_t d = 0; d < l->directions; d++) {
        const float *x = holo_layer_state(l, d);
        int64_t      n = l->batch * l->hidden, row = HOLO_I8_ROW(l->hidden);
        l->quantum[d] = quantum_of(l, n, x);
        kernels->quantize_f32(n, x, l->quantum[d].scale, l->quantum[d].zero, false, l->bytes);
        kernels->rows_i8(l->batch, l->hidden, l->bytes, l->hidden, false, l->rows + d * l->batch * row,
                         l->row_sums + d * l->batch);
    }
}

static const float *sums(const HoloRecurrentLayer *l, const HoloGateBlock *b, float *own)
{
    Memory *m  = (Memory *)(void *)own;
    int64_t at = b->direction * l->batch + b->row;
    Rows    a  = {
            .data = l->rows + at * HOLO_I8_ROW(l->hidden), .sums = l->row_sums + at, .quantum = l->quantum[b->direction]};
    group_product(l, b, b->group, &a, l->hidden, l->r, &l->terms_r, m->out, WIDTH, m);
    return m->out;
}

const HoloGateProducts holo_gates_i8 = {check, packed_size, share, pack, start, state, inputs, sums};
