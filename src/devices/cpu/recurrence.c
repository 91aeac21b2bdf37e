// recurrence.c - LSTM, GRU and RNN with the default activations and without peepholes. Other files compute the
// products.
//
// One product computes what the inputs add to the gates, for many steps at once. A step then multiplies the state by R,
// whose columns are packed so that all gates of 16 units are together, and computes the new state of these units at
// once. A task does some units of one direction. The state that a step reads is the output of the step before. A
// sequence that has ended, or backwards has not begun, keeps its state; at the end, its places in Y become 0.
#include "devices/cpu/recurrence.h"

#include <string.h>

enum {
    CHUNK_ROWS  = 288,     // rows of the inputs that are multiplied at once
    TILE_GROUPS = 8,       // of 16 units, in a task of the inputs' product
    TILE_TASKS  = 8,       // number of tasks of a step, if they are not too small
    TASK_WORK   = 1 << 17, // multiplications that are worth a task
    GATES_MAX   = 4,
};

// ---- shapes

HoloStatus holo_layer_expect(const HoloCall *call, const HoloTensor *t, const char *what, int rank, const int64_t *dim)
{
    HOLO_TRY(holo_cpu_kernel_expect(call, t, what, rank, rank));
    bool same = true;
    for (int d = 0; d < rank; d++) same = same && t->dim[d] == dim[d];
    return same ? HOLO_OK : holo_call_fail(call, HOLO_BAD_ARCHIVE, "%s has other sizes than follow from X and R", what);
}

static HoloStatus operands_check(const HoloCall *call, HoloRecurrentLayer *l)
{
    const HoloTensor *x = holo_in(call, 0);
    HOLO_TRY(holo_cpu_kernel_expect(call, x, "X", 3, 3));
    l->times  = x->dim[0];
    l->batch  = x->dim[1];
    l->inputs = x->dim[2];
    HOLO_TRY(l->kind->products->check(call, l));
    bool both       = holo_attr_is(call, "direction", "forward", "bidirectional");
    bool backward   = holo_attr_is(call, "direction", "forward", "reverse");
    l->reverse[0]   = backward;
    l->reverse[1]   = true;
    int64_t state[] = {l->directions, l->batch, l->hidden}, y[] = {l->times, l->directions, l->batch, l->hidden};
    if (l->directions != (both ? 2 : 1) || l->hidden < 1 || l->sums / l->kind->gates != l->hidden ||
        l->sums % l->kind->gates)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "R has other sizes than %s takes", l->kind->name);
    if (holo_out(call, 0)) HOLO_TRY(holo_layer_expect(call, call->out[0], "Y", 4, y));
    if (holo_in(call, 3))
        HOLO_TRY(holo_layer_expect(call, call->in[3], "B", 2, (int64_t[]){l->directions, 2 * l->sums}));
    for (int i = 0; i <= l->kind->has_cells; i++) {
        if (holo_in(call, 5 + i)) HOLO_TRY(holo_layer_expect(call, call->in[5 + i], "the first state", 3, state));
        if (holo_out(call, 1 + i)) HOLO_TRY(holo_layer_expect(call, call->out[1 + i], "the last state", 3, state));
    }
    if (holo_in(call, 7) || holo_attr_int(call, "layout", 0))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "%s takes no peepholes and no layout", l->kind->name);
    const HoloTensor *lengths = holo_in(call, 4);
    if (lengths && (lengths->dtype != HOLO_I32 || lengths->rank != 1 || lengths->dim[0] != l->batch))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the lengths are not one i32 for each sequence");
    return HOLO_OK;
}

int holo_layer_gates(const HoloRecurrentLayer *l, int part)
{
    return part ? 1 : l->kind->gates - l->kind->resets_first;
}

static void cut(HoloRecurrentLayer *l)
{
    l->groups      = holo_ceil_div(l->hidden, HOLO_PANEL);
    l->width       = l->groups * l->kind->gates * HOLO_PANEL;
    l->chunk       = holo_least(l->times, holo_ceil_div(CHUNK_ROWS, l->batch));
    int64_t rows   = l->chunk * l->batch;
    l->row_tiles   = holo_ceil_div(rows, HOLO_GEMM_ROWS);
    l->tile_rows   = holo_ceil_div(rows, l->row_tiles);
    l->columns     = holo_ceil_div(l->groups, TILE_GROUPS);
    double  work   = (double)l->batch * (double)l->sums * (double)l->hidden;
    int64_t tiles  = work / TASK_WORK < TILE_TASKS ? (int64_t)(work / TASK_WORK) : TILE_TASKS;
    l->tile_groups = holo_ceil_div(l->groups, tiles < 1 ? 1 : tiles);
    l->tiles       = holo_ceil_div(l->groups, l->tile_groups);
}

float *holo_share_take(HoloShare *share, int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t count, bytes;
    float  *at = share->base ? share->base + share->used : NULL;
    if (!holo_mul(a, b, &count) || !holo_mul(count, c, &count) || !holo_mul(count, d, &count) ||
        __builtin_add_overflow(share->used, count, &share->used) || !holo_mul(share->used, sizeof(float), &bytes)) {
        share->over = true;
        share->used = 0;
    }
    return share->over ? NULL : at;
}

// Lays out the memory from `at` on, where each worker's own memory is; NULL: only counts. False: it does not fit.
static bool share(HoloRecurrentLayer *l, float *at, size_t *out_floats)
{
    HoloShare own = {0}, all = {.base = at};
    l->kind->products->share(l, &own, NULL);
    holo_share_take(&all, own.used, 1, 1, 1);
    l->biases  = holo_share_take(&all, l->directions, 2, l->width, 1);
    l->in      = holo_share_take(&all, l->directions, l->chunk, l->batch, l->width);
    l->cells   = holo_share_take(&all, l->directions, l->batch, l->groups, HOLO_PANEL);
    l->nothing = holo_share_take(&all, l->batch, l->hidden, 1, 1);
    l->states  = holo_share_take(&all, l->has_y ? 0 : l->directions, 2, l->batch, l->hidden);
    l->resets  = holo_share_take(&all, l->kind->resets_first ? l->directions : 0, l->batch, l->hidden, 1);
    l->kind->products->share(l, NULL, &all);
    *out_floats = (size_t)all.used;
    return !all.over && !own.over;
}

// If there is nothing to compute, batch is 0.
static HoloStatus layer_init(const HoloCall *call, const HoloRecurrentKind *kind, HoloRecurrentLayer *l)
{
    const HoloRecurrentParams *params = call->params;
    const uint32_t             known  = HOLO_RECURRENT_PACKED_W | HOLO_RECURRENT_PACKED_R;
    l->host                           = call->host;
    l->kind                           = kind;
    if (!holo_cpu_kernel_has_params(call, sizeof *params) || params->flags & ~known)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of %s", kind->name);
    HOLO_TRY(operands_check(call, l));
    l->packed_w = params->flags & HOLO_RECURRENT_PACKED_W;
    l->packed_r = params->flags & HOLO_RECURRENT_PACKED_R;
    if (!l->batch || !l->times) {
        l->batch = 0;
        return HOLO_OK;
    }
    l->has_y = holo_out(call, 0) != NULL;
    cut(l);
    return HOLO_OK;
}

int64_t holo_recurrent_packed_size(const HoloCall *call, const void *layer, int input)
{
    const HoloRecurrentLayer *l = layer;
    (void)call;
    if (input == 1 && l->packed_w) return l->kind->products->packed_size(l, l->inputs);
    return input == 2 && l->packed_r ? l->kind->products->packed_size(l, l->hidden) : -1;
}

HoloStatus holo_recurrent_prepare(const HoloCall *call, const HoloRecurrentKind *kind, HoloRecurrentLayer *l,
                                  size_t *out_scratch)
{
    size_t floats = 0;
    HOLO_TRY(layer_init(call, kind, l));
    if (kind->products->packed_size(l, l->inputs) < 0 || kind->products->packed_size(l, l->hidden) < 0)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "W or R is too large");
    if (l->batch && !share(l, NULL, &floats)) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the sizes are too large");
    *out_scratch = floats * sizeof(float);
    return HOLO_OK;
}

// ---- before the first step

static void work_pack(void *arg, int64_t i, int worker)
{
    const HoloRecurrentLayer *l = arg;
    (void)worker;
    l->kind->products->pack(l, i / l->groups, i % l->groups);
}

// Biases in the order of the gates: those of W and of R, added if that gives the same.
static void biases_make(const HoloRecurrentLayer *l, int64_t direction)
{
    int64_t      gates = l->kind->gates;
    float       *in = l->biases + direction * 2 * l->width, *state = in + l->width;
    const float *b = l->bias ? l->bias + direction * 2 * l->sums : NULL;
    for (int64_t i = 0; i < l->width; i++) {
        int64_t gate = i / HOLO_PANEL % gates, unit = i / HOLO_PANEL / gates * HOLO_PANEL + i % HOLO_PANEL;
        bool    is = b && unit < l->hidden, apart = l->kind->bias_apart && gate == gates - 1;
        float   of_w = is ? b[gate * l->hidden + unit] : 0, of_r = is ? b[l->sums + gate * l->hidden + unit] : 0;
        in[i]    = apart ? of_w : of_w + of_r;
        state[i] = apart ? of_r : 0;
    }
}

static void start(HoloRecurrentLayer *l)
{
    int64_t padded = l->groups * HOLO_PANEL;
    memset(l->nothing, 0, (size_t)(l->batch * l->hidden) * sizeof(float));
    memset(l->cells, 0, (size_t)(l->directions * l->batch * padded) * sizeof(float));
    for (int64_t d = 0; d < l->directions; d++) biases_make(l, d);
    for (int64_t i = 0; l->c_first && i < l->directions * l->batch; i++)
        memcpy(l->cells + i * padded, l->c_first + i * l->hidden, (size_t)l->hidden * sizeof(float));
    if (!l->packed_w || !l->packed_r) l->host->parallel(l->host, l->directions * l->groups, work_pack, l);
    if (!l->packed_w) l->w = l->panels_w;
    if (!l->packed_r) l->r = l->panels_r;
    l->kind->products->start(l);
}

// ---- the inputs' product

// The first time of a chunk of steps in one direction.
static int64_t first_time(const HoloRecurrentLayer *l, int64_t direction)
{
    return l->reverse[direction] ? l->times - l->to : l->from;
}

const float *holo_layer_x(const HoloRecurrentLayer *l, int64_t direction)
{
    return l->x + first_time(l, direction) * l->batch * l->inputs;
}

float *holo_layer_in(const HoloRecurrentLayer *l, const HoloGateBlock *b)
{
    int64_t row = b->direction * l->chunk * l->batch + b->row;
    return l->in + row * l->width + b->group * l->kind->gates * HOLO_PANEL;
}

static void work_inputs(void *arg, int64_t i, int worker)
{
    const HoloRecurrentLayer *l    = arg;
    int64_t                   rows = (l->to - l->from) * l->batch;
    HoloGateBlock             b    = {.direction = i / l->columns / l->row_tiles,
                                      .group     = i % l->columns * TILE_GROUPS,
                                      .row       = i / l->columns % l->row_tiles * l->tile_rows};
    if (b.row >= rows) return;
    b.groups = holo_least(l->groups - b.group, TILE_GROUPS);
    b.rows   = holo_least(rows - b.row, l->tile_rows);
    l->kind->products->inputs(l, &b, holo_cpu_kernel_scratch(l->host, worker));
}

// ---- a step

// The state [batch][hidden] after so many steps, at least one.
static float *state_after(const HoloRecurrentLayer *l, int64_t direction, int64_t steps)
{
    int64_t state = l->batch * l->hidden, time = l->reverse[direction] ? l->times - steps : steps - 1;
    if (!l->y) return l->states + (direction * 2 + steps % 2) * state;
    return l->y + (time * l->directions + direction) * state;
}

static const float *state_before(const HoloRecurrentLayer *l, int64_t direction, int64_t step)
{
    if (step > 0) return state_after(l, direction, step);
    return l->h_first ? l->h_first + direction * l->batch * l->hidden : l->nothing;
}

// Neighboring rows from `row` to below `end` that are all inside their sequences at this time, or all outside.
static int64_t rows_alike(const HoloRecurrentLayer *l, int64_t time, int64_t row, int64_t end, bool *out_is_in)
{
    int64_t at = row;
    *out_is_in = !l->lengths || time < l->lengths[row];
    if (!l->lengths) return end - row;
    while (at < end && (time < l->lengths[at]) == *out_is_in) at++;
    return at - row;
}

static int64_t time_of(const HoloRecurrentLayer *l, int64_t direction)
{
    return l->reverse[direction] ? l->times - 1 - l->step : l->step;
}

// Computes the state of one group of 16 units from the sums, for some of the batch.
static void units_step(const HoloRecurrentLayer *l, int64_t direction, int64_t group, int64_t row, int64_t rows,
                       const float *sums)
{
    int64_t gates = l->kind->gates * HOLO_PANEL, gate = l->part * holo_layer_gates(l, 0) * HOLO_PANEL;
    int64_t in   = (direction * l->chunk + time_of(l, direction) - first_time(l, direction)) * l->batch + row;
    int64_t unit = row * l->hidden + group * HOLO_PANEL;
    bool    last = l->part == l->kind->resets_first;
    float  *to   = last ? state_after(l, direction, l->step + 1) : l->resets + direction * l->batch * l->hidden;
    l->kind->step(l->host->kernels, l->part,
                  &(HoloCellStep){
                      .rows      = rows,
                      .lanes     = (int)holo_least(HOLO_PANEL, l->hidden - group * HOLO_PANEL),
                      .in        = l->in + in * l->width + group * gates + gate,
                      .in_row    = l->width,
                      .sums      = sums,
                      .sums_row  = (int64_t)holo_layer_gates(l, l->part) * HOLO_PANEL,
                      .bias      = l->biases + (direction * 2 + 1) * l->width + group * gates,
                      .cells     = l->cells + ((direction * l->batch + row) * l->groups + group) * HOLO_PANEL,
                      .cells_row = l->groups * HOLO_PANEL,
                      .before    = state_before(l, direction, l->step) + unit,
                      .y         = to + unit,
                      .row       = l->hidden,
                  });
}

// Keeps the state of one group.
static void units_keep(const HoloRecurrentLayer *l, int64_t direction, int64_t group, int64_t row, int64_t rows)
{
    const float *from = state_before(l, direction, l->step);
    float       *to   = state_after(l, direction, l->step + 1);
    int64_t      unit = group * HOLO_PANEL, units = holo_least(HOLO_PANEL, l->hidden - unit);
    for (int64_t i = row; i < row + rows; i++)
        memcpy(to + i * l->hidden + unit, from + i * l->hidden + unit, (size_t)units * sizeof(float));
}

const float *holo_layer_state(const HoloRecurrentLayer *l, int64_t direction)
{
    return l->part ? l->resets + direction * l->batch * l->hidden : state_before(l, direction, l->step);
}

// From the sums of one group to its state: rows inside their sequences change, others do not.
static void group_finish(const HoloRecurrentLayer *l, int64_t direction, int64_t group, int64_t row, int64_t rows,
                         const float *sums)
{
    int64_t sums_row = (int64_t)holo_layer_gates(l, l->part) * HOLO_PANEL, alike;
    for (int64_t i = 0; i < rows; i += alike) {
        bool is_in;
        alike = rows_alike(l, time_of(l, direction), row + i, row + rows, &is_in);
        if (is_in)
            units_step(l, direction, group, row + i, alike, sums + i * sums_row);
        else if (l->part == l->kind->resets_first)
            units_keep(l, direction, group, row + i, alike);
    }
}

// With few gates and one row, several groups go at once: see state_gates_f32.
static void work_step(void *arg, int64_t i, int worker)
{
    const HoloRecurrentLayer *l         = arg;
    int64_t                   direction = i / l->tiles, first = i % l->tiles * l->tile_groups;
    int64_t                   gates = holo_layer_gates(l, l->part), end = holo_least(l->groups, first + l->tile_groups);
    int64_t                   groups = l->batch == 1 ? GATES_MAX / gates : 1;
    for (int64_t group = first; group < end; group += groups)
        for (int64_t row = 0; row < l->batch; row += HOLO_GEMM_ROWS) {
            HoloGateBlock b    = {.direction = direction,
                                  .group     = group,
                                  .groups    = holo_least(groups, end - group),
                                  .row       = row,
                                  .rows      = holo_least(HOLO_GEMM_ROWS, l->batch - row)};
            const float  *sums = l->kind->products->sums(l, &b, holo_cpu_kernel_scratch(l->host, worker));
            for (int64_t k = 0; k < b.groups; k++)
                group_finish(l, direction, group + k, row, b.rows, sums + k * gates * HOLO_PANEL);
        }
}

// ---- the whole layer

// Sets Y behind the end of a sequence to 0.
static void rests_clear(const HoloRecurrentLayer *l)
{
    for (int64_t i = 0; l->lengths && l->y && i < l->times * l->directions * l->batch; i++)
        if (i / l->batch / l->directions >= l->lengths[i % l->batch])
            memset(l->y + i * l->hidden, 0, (size_t)l->hidden * sizeof(float));
}

static void finish(const HoloRecurrentLayer *l)
{
    int64_t state = l->batch * l->hidden;
    for (int64_t d = 0; l->h_last && d < l->directions; d++)
        memcpy(l->h_last + d * state, state_after(l, d, l->times), (size_t)state * sizeof(float));
    for (int64_t i = 0; l->c_last && i < l->directions * l->batch; i++)
        memcpy(l->c_last + i * l->hidden, l->cells + i * l->groups * HOLO_PANEL, (size_t)l->hidden * sizeof(float));
    rests_clear(l);
}

// Without any times, the last states are the first ones.
static void pass_on(const HoloCall *call, const HoloRecurrentKind *kind)
{
    for (int i = 0; i <= kind->has_cells; i++) {
        const HoloTensor *first = holo_in(call, 5 + i);
        HoloTensor       *last  = holo_out(call, 1 + i);
        if (!last || !holo_tensor_bytes(last)) continue;
        if (first)
            memcpy(last->data, first->data, holo_tensor_bytes(last));
        else
            memset(last->data, 0, holo_tensor_bytes(last));
    }
}

static HoloStatus lengths_check(const HoloCall *call, const HoloRecurrentLayer *l)
{
    for (int64_t i = 0; l->lengths && i < l->batch; i++)
        if (l->lengths[i] < 0 || l->lengths[i] > l->times)
            return holo_call_fail(call, HOLO_BAD_INPUT, "sequence %lld has length %lld, expected 0 to %lld",
                                  (long long)i, (long long)l->lengths[i], (long long)l->times);
    return HOLO_OK;
}

// Finds where the data are in this run, and the memory, which may have moved.
static void data_find(const HoloCall *call, HoloRecurrentLayer *l)
{
    float *base = holo_cpu_kernel_scratch(call->host, 0);
    size_t floats;
    l->x       = call->in[0]->data;
    l->w       = l->w_tensor->data;
    l->r       = l->r_tensor->data;
    l->bias    = holo_in(call, 3) ? call->in[3]->data : NULL;
    l->h_first = holo_in(call, 5) ? call->in[5]->data : NULL;
    l->c_first = holo_in(call, 6) ? call->in[6]->data : NULL;
    l->lengths = holo_in(call, 4) ? call->in[4]->data : NULL;
    l->y       = l->has_y ? call->out[0]->data : NULL;
    l->h_last  = holo_out(call, 1) ? call->out[1]->data : NULL;
    l->c_last  = holo_out(call, 2) ? call->out[2]->data : NULL;
    if (base != l->base) share(l, base, &floats);
    l->base = base;
}

HoloStatus holo_recurrent_run(HoloCall *call, void *layer)
{
    HoloRecurrentLayer      *l    = layer;
    const HoloRecurrentKind *kind = l->kind;
    const HoloHost          *host = call->host;
    if (!l->batch) {
        pass_on(call, kind);
        return HOLO_OK;
    }
    data_find(call, l);
    HOLO_TRY(lengths_check(call, l));
    start(l);
    for (l->from = 0; l->from < l->times; l->from = l->to) {
        l->to = holo_least(l->from + l->chunk, l->times);
        host->parallel(host, l->directions * l->row_tiles * l->columns, work_inputs, l);
        for (l->step = l->from; l->step < l->to; l->step++)
            for (l->part = 0; l->part <= kind->resets_first; l->part++) {
                kind->products->state(l);
                host->parallel(host, l->directions * l->tiles, work_step, l);
            }
    }
    finish(l);
    return HOLO_OK;
}
