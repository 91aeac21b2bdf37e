// kernel_lstm_f32.c - LSTM of f32 with the usual activations, no peepholes and whole sequences.
//
// What the inputs add to the gates is one product for many steps at once. A step then goes on from
// these sums with the product of the state and R, which is packed: a task does some columns of all four
// gates of one direction, and with them its part of the new state. The state that a step reads is the
// output of the step before.
#include "format/params.h"
#include "kernels/kernels.h"
#include "runtime/kernel.h"

#include <string.h>

enum { GATES = 4, IN = 0, OUT = 1, FORGET = 2, CELL = 3 };

enum {
    CHUNK_ROWS   = 288,     // rows of the inputs that are multiplied at once: packing W is worth it
    TILE_COLUMNS = 256,     // of W, packed by a task
    TILE_TASKS   = 8,       // as many tasks are made of a step, where they are not too small
    TASK_WORK    = 1 << 17, // multiplications that are worth a task
    PRIVATE      = HOLO_GEMM_SCRATCH + TILE_COLUMNS * HOLO_GEMM_K, // floats of a worker's own
};

typedef struct Lstm {
    const HoloHost *host;
    const float    *x, *w, *r, *bias, *h_first, *c_first;           // the last three may be NULL
    float          *y, *h_last, *c_last;                            // the last two may be NULL
    int64_t         times, batch, inputs, hidden, directions, sums; // sums: of one row, all gates
    bool            reverse[2], packed;
    // Memory that all workers share:
    float  *biases;                  // [directions][sums]: those of W and of R together
    float  *gates;                   // [directions][chunk * batch][sums]
    float  *cells;                   // [directions][batch][hidden]
    float  *nothing;                 // [batch][hidden]: zeros
    float  *panels;                  // [directions][sums / 16][hidden][16]: R, where it does not come packed
    int64_t chunk;                   // steps whose inputs are multiplied at once
    int64_t from, to;                // steps of the chunk in work
    int64_t step;                    // in work
    int64_t row_tiles, column_tiles; // of the inputs' product
    int64_t tile_hidden, tiles;      // of a step
} Lstm;

// ---- shapes

static bool is_shape(const HoloTensor *t, int rank, const int64_t *dim)
{
    bool same = t->rank == rank;
    for (int d = 0; same && d < rank; d++) same = t->dim[d] == dim[d];
    return same;
}

static HoloStatus expect(const HoloCall *call, const HoloTensor *t, const char *what, int rank, const int64_t *dim)
{
    HOLO_TRY(holo_kernel_expect(call, t, what, rank, rank));
    if (!is_shape(t, rank, dim))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "%s has other sizes than a LSTM's", what);
    return HOLO_OK;
}

static HoloStatus operands_check(const HoloCall *call, Lstm *l)
{
    const HoloTensor *x = holo_in(call, 0), *w = holo_in(call, 1), *r = holo_in(call, 2);
    HOLO_TRY(holo_kernel_expect(call, x, "X", 3, 3));
    HOLO_TRY(holo_kernel_expect(call, r, "R", 3, 3));
    l->times        = x->dim[0];
    l->batch        = x->dim[1];
    l->inputs       = x->dim[2];
    l->hidden       = r->dim[2];
    l->directions   = r->dim[0];
    l->sums         = r->dim[1];
    bool both       = holo_attr_is(call, "direction", "forward", "bidirectional");
    bool backward   = holo_attr_is(call, "direction", "forward", "reverse");
    l->reverse[0]   = backward;
    l->reverse[1]   = true;
    int64_t state[] = {l->directions, l->batch, l->hidden}, y[] = {l->times, l->directions, l->batch, l->hidden};
    if (l->directions != (both ? 2 : 1) || l->hidden < 1 || l->hidden % HOLO_PANEL || l->sums / GATES != l->hidden ||
        l->sums % GATES)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "R has other sizes than lstm_f32 takes");
    HOLO_TRY(expect(call, w, "W", 3, (int64_t[]){l->directions, l->sums, l->inputs}));
    HOLO_TRY(expect(call, holo_out(call, 0), "Y", 4, y));
    if (holo_in(call, 3)) HOLO_TRY(expect(call, call->in[3], "B", 2, (int64_t[]){l->directions, 2 * l->sums}));
    for (int i = 5; i <= 6; i++)
        if (holo_in(call, i)) HOLO_TRY(expect(call, call->in[i], "the first state", 3, state));
    for (int i = 1; i <= 2; i++)
        if (holo_out(call, i)) HOLO_TRY(expect(call, call->out[i], "the last state", 3, state));
    if (holo_in(call, 4) || holo_in(call, 7))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "lstm_f32 takes no lengths and no peepholes");
    return HOLO_OK;
}

static void cut(Lstm *l)
{
    l->chunk          = holo_least(l->times, holo_ceil_div(CHUNK_ROWS, l->batch));
    l->row_tiles      = holo_ceil_div(l->chunk * l->batch, HOLO_GEMM_ROWS);
    l->column_tiles   = holo_ceil_div(l->sums, TILE_COLUMNS);
    double  work      = (double)l->batch * (double)l->sums * (double)l->hidden;
    int64_t tiles     = work / TASK_WORK < TILE_TASKS ? (int64_t)(work / TASK_WORK) : TILE_TASKS;
    int64_t in_panels = holo_ceil_div(l->hidden / HOLO_PANEL, tiles < 1 ? 1 : tiles);
    l->tile_hidden    = in_panels * HOLO_PANEL;
    l->tiles          = holo_ceil_div(l->hidden, l->tile_hidden);
}

// Lays the shared memory out from `at` on; returns how many floats it takes.
static size_t share(Lstm *l, float *at)
{
    size_t state = (size_t)(l->batch * l->hidden), used = 0;
    struct {
        float **place;
        size_t  count;
    } parts[] = {
        {&l->biases, (size_t)(l->directions * l->sums)},
        {&l->gates, (size_t)(l->directions * l->chunk * l->batch * l->sums)},
        {&l->cells, (size_t)l->directions * state},
        {&l->nothing, state},
        {&l->panels, l->packed ? 0 : (size_t)(l->directions * l->sums * l->hidden)},
    };
    for (int i = 0; i < HOLO_COUNT(parts); i++) {
        if (at) *parts[i].place = at + used;
        used += parts[i].count;
    }
    return used;
}

// Where there is nothing to compute, batch is 0.
static HoloStatus lstm_init(const HoloCall *call, Lstm *l)
{
    const HoloLstmParams *params = call->params;
    *l                           = (Lstm){.host = call->host};
    if (!holo_kernel_has_params(call, sizeof *params) || params->flags & ~(uint32_t)HOLO_LSTM_PACKED_R)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of lstm_f32");
    HOLO_TRY(operands_check(call, l));
    l->packed = params->flags & HOLO_LSTM_PACKED_R;
    if (!l->batch) return HOLO_OK;
    l->x       = call->in[0]->data;
    l->w       = call->in[1]->data;
    l->r       = call->in[2]->data;
    l->bias    = holo_in(call, 3) ? call->in[3]->data : NULL;
    l->h_first = holo_in(call, 5) ? call->in[5]->data : NULL;
    l->c_first = holo_in(call, 6) ? call->in[6]->data : NULL;
    l->y       = call->out[0]->data;
    l->h_last  = holo_out(call, 1) ? call->out[1]->data : NULL;
    l->c_last  = holo_out(call, 2) ? call->out[2]->data : NULL;
    cut(l);
    return HOLO_OK;
}

static int64_t packed_size(const HoloCall *call, int input)
{
    const HoloLstmParams *params = call->params;
    const HoloTensor     *r      = holo_in(call, 2);
    if (input != 2 || !(params->flags & HOLO_LSTM_PACKED_R)) return -1;
    return holo_panels_size(r->dim[0], r->dim[2], r->dim[1]);
}

static HoloStatus check(const HoloCall *call, size_t *out_scratch)
{
    Lstm l;
    HOLO_TRY(lstm_init(call, &l));
    if (l.packed && packed_size(call, 2) < 0) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "packed R is too large");
    *out_scratch = l.batch ? (PRIVATE + share(&l, NULL)) * sizeof(float) : 0;
    return HOLO_OK;
}

// ---- the inputs' product

// The first of the times that a chunk of steps has, in one direction.
static int64_t first_time(const Lstm *l, int64_t direction)
{
    return l->reverse[direction] ? l->times - l->to : l->from;
}

static void work_inputs(void *arg, int64_t i, int worker)
{
    const Lstm *l         = arg;
    int64_t     column    = i % l->column_tiles * TILE_COLUMNS;
    int64_t     row       = i / l->column_tiles % l->row_tiles * HOLO_GEMM_ROWS;
    int64_t     direction = i / l->column_tiles / l->row_tiles, rows = (l->to - l->from) * l->batch, k = 0;
    float      *scratch = holo_kernel_scratch(l->host, worker), *panels = scratch + HOLO_GEMM_SCRATCH;
    if (row >= rows) return;
    HoloGemm g = {
        .m        = holo_least(rows - row, HOLO_GEMM_ROWS),
        .n        = holo_least(l->sums - column, TILE_COLUMNS),
        .a        = l->x + (first_time(l, direction) * l->batch + row) * l->inputs,
        .a_row    = l->inputs,
        .a_column = 1,
        .b        = panels,
        .b_step   = HOLO_PANEL,
        .c        = l->gates + (direction * l->chunk * l->batch + row) * l->sums + column,
        .c_row    = l->sums,
        .d        = l->biases + direction * l->sums + column,
        .d_column = 1,
        .alpha    = 1,
        .beta     = 1,
        .scratch  = scratch,
    };
    const float *w = l->w + (direction * l->sums + column) * l->inputs;
    do { // once even where there are no inputs
        g.k       = holo_least(l->inputs - k, HOLO_GEMM_K);
        g.b_panel = g.k * HOLO_PANEL;
        g.resume  = k > 0;
        g.pause   = k + g.k < l->inputs;
        l->host->kernels->pack_f32(g.k, g.n, w + k, 1, l->inputs, panels);
        l->host->kernels->gemm_f32(&g);
        k += HOLO_GEMM_K;
        g.a += HOLO_GEMM_K;
    } while (k < l->inputs);
}

// ---- a step

static void map(const Lstm *l, HoloMapOp op, int64_t n, const float *a, const float *b, float *out)
{
    l->host->kernels->map_f32(&(HoloMap){.op = op, .n = n, .a = a, .b = b, .out = out});
}

// The new cells and state of one sequence, `n` of them, from the sums of its gates.
static void step_finish(const Lstm *l, int64_t n, float *gates, float *cells, float *y)
{
    float *in = gates + IN * l->hidden, *out = gates + OUT * l->hidden, *forget = gates + FORGET * l->hidden;
    float *cell = gates + CELL * l->hidden;
    map(l, HOLO_MAP_sigmoid, n, in, in, in);
    map(l, HOLO_MAP_sigmoid, n, out, out, out);
    map(l, HOLO_MAP_sigmoid, n, forget, forget, forget);
    map(l, HOLO_MAP_tanh, n, cell, cell, cell);
    map(l, HOLO_MAP_mul, n, in, cell, in);
    map(l, HOLO_MAP_mul, n, forget, cells, forget);
    map(l, HOLO_MAP_add, n, forget, in, cells);
    map(l, HOLO_MAP_tanh, n, cells, cells, cell);
    map(l, HOLO_MAP_mul, n, out, cell, y);
}

// The state [batch][hidden] that a step starts from.
static const float *state_before(const Lstm *l, int64_t direction, int64_t time)
{
    int64_t state = l->batch * l->hidden;
    if (l->step > 0) return l->y + ((time + (l->reverse[direction] ? 1 : -1)) * l->directions + direction) * state;
    return l->h_first ? l->h_first + direction * state : l->nothing;
}

static void work_step(void *arg, int64_t i, int worker)
{
    const Lstm *l         = arg;
    int64_t     direction = i / l->tiles, at = i % l->tiles * l->tile_hidden;
    int64_t     n = holo_least(l->hidden - at, l->tile_hidden), state = l->batch * l->hidden;
    int64_t     time  = l->reverse[direction] ? l->times - 1 - l->step : l->step;
    int64_t     row   = (direction * l->chunk + time - first_time(l, direction)) * l->batch;
    float      *gates = l->gates + row * l->sums + at, *cells = l->cells + direction * state + at;
    float      *y = l->y + (time * l->directions + direction) * state + at;
    HoloGemm    g = {
           .m        = l->batch,
           .n        = n,
           .k        = l->hidden,
           .a        = state_before(l, direction, time),
           .a_row    = l->hidden,
           .a_column = 1,
           .b_panel  = l->hidden * HOLO_PANEL,
           .b_step   = HOLO_PANEL,
           .c_row    = l->sums,
           .alpha    = 1,
           .resume   = true, // the sums of the inputs are there
           .scratch  = holo_kernel_scratch(l->host, worker),
    };
    for (int gate = 0; gate < GATES; gate++) {
        g.b = (l->packed ? l->r : l->panels) + (direction * l->sums + gate * l->hidden + at) * l->hidden;
        g.c = gates + gate * l->hidden;
        l->host->kernels->gemm_f32(&g);
    }
    for (int64_t b = 0; b < l->batch; b++)
        step_finish(l, n, gates + b * l->sums, cells + b * l->hidden, y + b * l->hidden);
}

// ---- all of it

static void start(Lstm *l)
{
    int64_t state = l->batch * l->hidden;
    memset(l->nothing, 0, (size_t)state * sizeof(float));
    for (int64_t i = 0; i < l->directions * l->sums; i++) {
        const float *b = l->bias ? l->bias + i / l->sums * 2 * l->sums + i % l->sums : NULL;
        l->biases[i]   = b ? b[0] + b[l->sums] : 0;
    }
    for (int64_t i = 0; i < l->directions * state; i++) l->cells[i] = l->c_first ? l->c_first[i] : 0;
    for (int64_t d = 0; d < l->directions && !l->packed; d++)
        l->host->kernels->pack_f32(l->hidden, l->sums, l->r + d * l->sums * l->hidden, 1, l->hidden,
                                   l->panels + d * l->sums * l->hidden);
}

static void finish(const Lstm *l)
{
    int64_t state = l->batch * l->hidden;
    for (int64_t d = 0; l->h_last && d < l->directions; d++) {
        int64_t      after = l->reverse[d] ? -1 : l->times; // the time that would come next
        const float *h     = state_before(l, d, after);
        memcpy(l->h_last + d * state, h, (size_t)state * sizeof(float));
    }
    if (l->c_last) memcpy(l->c_last, l->cells, (size_t)(l->directions * state) * sizeof(float));
}

static HoloStatus run(HoloCall *call)
{
    const HoloHost *host = call->host;
    Lstm            l;
    HOLO_TRY(lstm_init(call, &l));
    if (!l.batch) return HOLO_OK;
    share(&l, holo_kernel_scratch(host, 0) + PRIVATE);
    start(&l);
    for (l.from = 0; l.from < l.times; l.from = l.to) {
        l.to = holo_least(l.from + l.chunk, l.times);
        host->parallel(host, l.directions * l.row_tiles * l.column_tiles, work_inputs, &l);
        for (l.step = l.from; l.step < l.to; l.step++) host->parallel(host, l.directions * l.tiles, work_step, &l);
    }
    l.step = l.times;
    finish(&l);
    return HOLO_OK;
}

const HoloKernel holo_kernel_lstm_f32 = {
    .id          = HOLO_KERNEL_lstm_f32,
    .name        = "lstm_f32",
    .check       = check,
    .run         = run,
    .packed_size = packed_size,
};
