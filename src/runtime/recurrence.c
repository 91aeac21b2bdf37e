// recurrence.c - LSTM, GRU and RNN of f32 with the usual activations and no peepholes.
//
// What the inputs add to the gates is one product for many steps at once. A step then multiplies the state by R,
// whose columns are packed so that all gates of 16 units lie together, and goes on to the new state of these units
// at once. A task does some units of one direction. The state that a step reads is the output of the step before.
// A sequence that is over, or backwards has not begun, keeps its state; what that leaves in Y becomes 0 at last.
#include "runtime/recurrence.h"

#include "format/params.h"

#include <string.h>

enum {
    CHUNK_ROWS  = 288,     // rows of the inputs that are multiplied at once
    TILE_GROUPS = 8,       // of 16 units, in a task of the inputs' product
    TILE_TASKS  = 8,       // as many tasks are made of a step, where they are not too small
    TASK_WORK   = 1 << 17, // multiplications that are worth a task
    GATES_MAX   = 4,
    PRIVATE     = HOLO_GEMM_SCRATCH + HOLO_GEMM_ROWS * GATES_MAX * HOLO_PANEL, // floats of a worker's own
};

typedef struct Layer {
    const HoloHost          *host;
    const HoloRecurrentKind *kind;
    const float             *x, *w, *r, *bias, *h_first, *c_first;           // the last three may be NULL
    const int32_t           *lengths;                                        // NULL: all sequences are whole
    float                   *y, *h_last, *c_last;                            // each may be NULL
    int64_t                  times, batch, inputs, hidden, directions, sums; // sums: of one row, all gates
    int64_t                  groups, width;                                  // of 16 units; floats of a row of gates
    bool                     reverse[2], packed_w, packed_r, has_y;
    // Memory that all workers share:
    float  *biases;                        // [directions][2][width]: of the inputs' part, of the state's
    float  *in;                            // [directions][chunk * batch][width]: what the inputs give
    float  *cells;                         // [directions][batch][groups * 16]
    float  *nothing;                       // [batch][hidden]: zeros
    float  *states;                        // [directions][2][batch][hidden]: of steps by turns, where there is no Y
    float  *resets;                        // [directions][batch][hidden]: the state behind the reset gate
    float  *panels_w, *panels_r;           // where they do not come packed
    int64_t chunk;                         // steps whose inputs are multiplied at once
    int64_t from, to;                      // steps of the chunk in work
    int64_t step;                          // in work
    int     part;                          // of it: which product
    int64_t row_tiles, tile_rows, columns; // of the inputs' product; columns: tiles of them
    int64_t tile_groups, tiles;            // of a step
} Layer;

// ---- shapes

static HoloStatus expect(const HoloCall *call, const HoloTensor *t, const char *what, int rank, const int64_t *dim)
{
    HOLO_TRY(holo_kernel_expect(call, t, what, rank, rank));
    bool same = true;
    for (int d = 0; d < rank; d++) same = same && t->dim[d] == dim[d];
    return same ? HOLO_OK : holo_call_fail(call, HOLO_BAD_ARCHIVE, "%s has other sizes than follow from X and R", what);
}

static HoloStatus operands_check(const HoloCall *call, Layer *l)
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
    if (l->directions != (both ? 2 : 1) || l->hidden < 1 || l->sums / l->kind->gates != l->hidden ||
        l->sums % l->kind->gates)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "R has other sizes than %s takes", l->kind->name);
    HOLO_TRY(expect(call, w, "W", 3, (int64_t[]){l->directions, l->sums, l->inputs}));
    if (holo_out(call, 0)) HOLO_TRY(expect(call, call->out[0], "Y", 4, y));
    if (holo_in(call, 3)) HOLO_TRY(expect(call, call->in[3], "B", 2, (int64_t[]){l->directions, 2 * l->sums}));
    for (int i = 0; i <= l->kind->has_cells; i++) {
        if (holo_in(call, 5 + i)) HOLO_TRY(expect(call, call->in[5 + i], "the first state", 3, state));
        if (holo_out(call, 1 + i)) HOLO_TRY(expect(call, call->out[1 + i], "the last state", 3, state));
    }
    if (holo_in(call, 7) || holo_attr_int(call, "layout", 0))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "%s takes no peepholes and no layout", l->kind->name);
    const HoloTensor *lengths = holo_in(call, 4);
    if (lengths && (lengths->dtype != HOLO_I32 || lengths->rank != 1 || lengths->dim[0] != l->batch))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the lengths are not one i32 for each sequence");
    return HOLO_OK;
}

// The gates of a step's first product, or of its second, which has one.
static int part_gates(const Layer *l, int part)
{
    return part ? 1 : l->kind->gates - l->kind->resets_first;
}

static void cut(Layer *l)
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

// Lays the shared memory out from `at` on; NULL: only counts. False: it does not fit in memory.
static bool share(Layer *l, float *at, size_t *out_floats)
{
    struct {
        float **place;
        int64_t size[4];
    } parts[] = {
        {&l->biases, {l->directions, 2, l->width, 1}},
        {&l->in, {l->directions, l->chunk, l->batch, l->width}},
        {&l->cells, {l->directions, l->batch, l->groups, HOLO_PANEL}},
        {&l->nothing, {l->batch, l->hidden, 1, 1}},
        {&l->states, {l->has_y ? 0 : l->directions, 2, l->batch, l->hidden}},
        {&l->resets, {l->kind->resets_first ? l->directions : 0, l->batch, l->hidden, 1}},
        {&l->panels_w, {l->packed_w ? 0 : l->directions, l->width, l->inputs, 1}},
        {&l->panels_r, {l->packed_r ? 0 : l->directions, l->width, l->hidden, 1}},
    };
    int64_t used = PRIVATE, bytes;
    for (int i = 0; i < HOLO_COUNT(parts); i++) {
        int64_t count = 1;
        for (int d = 0; d < 4; d++)
            if (!holo_mul(count, parts[i].size[d], &count)) return false;
        if (at) *parts[i].place = at + used;
        if (__builtin_add_overflow(used, count, &used)) return false;
    }
    *out_floats = (size_t)used;
    return holo_mul(used, sizeof(float), &bytes);
}

// Where there is nothing to compute, batch is 0.
static HoloStatus layer_init(const HoloCall *call, const HoloRecurrentKind *kind, Layer *l)
{
    const HoloRecurrentParams *params = call->params;
    const uint32_t             known  = HOLO_RECURRENT_PACKED_W | HOLO_RECURRENT_PACKED_R;
    *l                                = (Layer){.host = call->host, .kind = kind};
    if (!holo_kernel_has_params(call, sizeof *params) || params->flags & ~known)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of %s", kind->name);
    HOLO_TRY(operands_check(call, l));
    l->packed_w = params->flags & HOLO_RECURRENT_PACKED_W;
    l->packed_r = params->flags & HOLO_RECURRENT_PACKED_R;
    if (!l->batch || !l->times) {
        l->batch = 0;
        return HOLO_OK;
    }
    l->has_y   = holo_out(call, 0) != NULL;
    l->x       = call->in[0]->data;
    l->w       = call->in[1]->data;
    l->r       = call->in[2]->data;
    l->bias    = holo_in(call, 3) ? call->in[3]->data : NULL;
    l->h_first = holo_in(call, 5) ? call->in[5]->data : NULL;
    l->c_first = holo_in(call, 6) ? call->in[6]->data : NULL;
    l->lengths = holo_in(call, 4) ? call->in[4]->data : NULL;
    l->y       = l->has_y ? call->out[0]->data : NULL;
    l->h_last  = holo_out(call, 1) ? call->out[1]->data : NULL;
    l->c_last  = holo_out(call, 2) ? call->out[2]->data : NULL;
    cut(l);
    return HOLO_OK;
}

int64_t holo_recurrent_packed_size(const HoloCall *call, const HoloRecurrentKind *kind, int input)
{
    const HoloRecurrentParams *params = call->params;
    const HoloTensor          *t      = holo_in(call, input);
    uint32_t                   flag   = input == 1 ? HOLO_RECURRENT_PACKED_W : input == 2 ? HOLO_RECURRENT_PACKED_R : 0;
    return params->flags & flag ? holo_gates_size(kind->gates, t->dim[0], t->dim[1], t->dim[2]) : -1;
}

HoloStatus holo_recurrent_check(const HoloCall *call, const HoloRecurrentKind *kind, size_t *out_scratch)
{
    Layer  l;
    size_t floats = 0;
    HOLO_TRY(layer_init(call, kind, &l));
    for (int i = 1; i <= 2; i++)
        if (holo_gates_size(kind->gates, l.directions, l.sums, call->in[i]->dim[2]) < 0)
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "W or R is too large");
    if (l.batch && !share(&l, NULL, &floats)) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the sizes are too large");
    *out_scratch = floats * sizeof(float);
    return HOLO_OK;
}

// ---- before the first step

static void work_pack(void *arg, int64_t i, int worker)
{
    const Layer *l = arg;
    (void)worker;
    int64_t   group = i % l->groups, direction = i / l->groups, gates = l->kind->gates;
    HoloGates g = {.gates = (int)gates, .hidden = l->hidden};
    if (!l->packed_w) {
        g.w     = l->w + direction * l->sums * l->inputs;
        g.k     = l->inputs;
        g.mixed = 1;
        l->host->kernels->pack_gates_f32(&g, group, l->panels_w + i * gates * HOLO_PANEL * g.k);
    }
    if (!l->packed_r) {
        g.w     = l->r + direction * l->sums * l->hidden;
        g.k     = l->hidden;
        g.mixed = part_gates(l, 0);
        l->host->kernels->pack_gates_f32(&g, group, l->panels_r + i * gates * HOLO_PANEL * g.k);
    }
}

// Biases as gates lie: those of W and of R, together where that is the same.
static void biases_make(const Layer *l, int64_t direction)
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

static void start(Layer *l)
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
}

// ---- the inputs' product

// The first of the times that a chunk of steps has, in one direction.
static int64_t first_time(const Layer *l, int64_t direction)
{
    return l->reverse[direction] ? l->times - l->to : l->from;
}

static void work_inputs(void *arg, int64_t i, int worker)
{
    const Layer *l     = arg;
    int64_t      gates = l->kind->gates * HOLO_PANEL; // floats of a group
    int64_t      group = i % l->columns * TILE_GROUPS, row = i / l->columns % l->row_tiles * l->tile_rows;
    int64_t      direction = i / l->columns / l->row_tiles, rows = (l->to - l->from) * l->batch;
    if (row >= rows) return;
    l->host->kernels->gemm_f32(&(HoloGemm){
        .m        = holo_least(rows - row, l->tile_rows),
        .n        = holo_least(l->groups - group, TILE_GROUPS) * gates,
        .k        = l->inputs,
        .a        = l->x + (first_time(l, direction) * l->batch + row) * l->inputs,
        .a_row    = l->inputs,
        .a_column = 1,
        .b        = l->w + (direction * l->groups + group) * gates * l->inputs,
        .b_panel  = l->inputs * HOLO_PANEL,
        .b_step   = HOLO_PANEL,
        .c        = l->in + (direction * l->chunk * l->batch + row) * l->width + group * gates,
        .c_row    = l->width,
        .d        = l->biases + direction * 2 * l->width + group * gates,
        .d_column = 1,
        .alpha    = 1,
        .beta     = 1,
        .scratch  = holo_kernel_scratch(l->host, worker),
    });
}

// ---- a step

// The state [batch][hidden] behind so many steps, at least one.
static float *state_after(const Layer *l, int64_t direction, int64_t steps)
{
    int64_t state = l->batch * l->hidden, time = l->reverse[direction] ? l->times - steps : steps - 1;
    if (!l->y) return l->states + (direction * 2 + steps % 2) * state;
    return l->y + (time * l->directions + direction) * state;
}

static const float *state_before(const Layer *l, int64_t direction, int64_t step)
{
    if (step > 0) return state_after(l, direction, step);
    return l->h_first ? l->h_first + direction * l->batch * l->hidden : l->nothing;
}

// The rows from `row` to below `end` that are all in their sequences at this time, or all not.
static int64_t rows_alike(const Layer *l, int64_t time, int64_t row, int64_t end, bool *out_is_in)
{
    int64_t at = row;
    *out_is_in = !l->lengths || time < l->lengths[row];
    if (!l->lengths) return end - row;
    while (at < end && (time < l->lengths[at]) == *out_is_in) at++;
    return at - row;
}

static int64_t time_of(const Layer *l, int64_t direction)
{
    return l->reverse[direction] ? l->times - 1 - l->step : l->step;
}

// What the sums make of one group of 16 units, some of the batch.
static void units_step(const Layer *l, int64_t direction, int64_t group, int64_t row, int64_t rows, const float *sums)
{
    int64_t gates = l->kind->gates * HOLO_PANEL, gate = l->part * part_gates(l, 0) * HOLO_PANEL;
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
                      .sums_row  = (int64_t)part_gates(l, l->part) * HOLO_PANEL,
                      .bias      = l->biases + (direction * 2 + 1) * l->width + group * gates,
                      .cells     = l->cells + ((direction * l->batch + row) * l->groups + group) * HOLO_PANEL,
                      .cells_row = l->groups * HOLO_PANEL,
                      .before    = state_before(l, direction, l->step) + unit,
                      .y         = to + unit,
                      .row       = l->hidden,
                  });
}

// The state of one group stays as it is.
static void units_keep(const Layer *l, int64_t direction, int64_t group, int64_t row, int64_t rows)
{
    const float *from = state_before(l, direction, l->step);
    float       *to   = state_after(l, direction, l->step + 1);
    int64_t      unit = group * HOLO_PANEL, units = holo_least(HOLO_PANEL, l->hidden - unit);
    for (int64_t i = row; i < row + rows; i++)
        memcpy(to + i * l->hidden + unit, from + i * l->hidden + unit, (size_t)units * sizeof(float));
}

// R of the part in work, from one group on.
static const float *r_of(const Layer *l, int64_t direction, int64_t group)
{
    int64_t first = l->part * part_gates(l, 0);
    return l->r + ((direction * l->groups + group) * l->kind->gates + first) * HOLO_PANEL * l->hidden;
}

// What R is multiplied by.
static const float *state_of(const Layer *l, int64_t direction)
{
    return l->part ? l->resets + direction * l->batch * l->hidden : state_before(l, direction, l->step);
}

// Sums of some groups and some of the batch, [groups][rows][gates of the part][16]; of several rows, one group.
static void group_sums(const Layer *l, int64_t direction, int64_t group, int64_t groups, int64_t row, int64_t rows,
                       float *scratch)
{
    int64_t      gates = part_gates(l, l->part);
    const float *r = r_of(l, direction, group), *state = state_of(l, direction) + row * l->hidden;
    HoloGates    g = {.w      = r,
                      .gates  = (int)gates,
                      .hidden = l->hidden,
                      .k      = l->hidden,
                      .groups = groups,
                      .group  = l->kind->gates * HOLO_PANEL * l->hidden};
    if (rows == 1)
        l->host->kernels->state_gates_f32(&g, state, scratch + HOLO_GEMM_SCRATCH);
    else
        l->host->kernels->gemm_f32(&(HoloGemm){
            .m        = rows,
            .n        = gates * HOLO_PANEL,
            .k        = l->hidden,
            .a        = state,
            .a_row    = l->hidden,
            .a_column = 1,
            .b        = r,
            .b_panel  = HOLO_PANEL,
            .b_step   = gates * HOLO_PANEL,
            .c        = scratch + HOLO_GEMM_SCRATCH,
            .c_row    = gates * HOLO_PANEL,
            .alpha    = 1,
            .scratch  = scratch,
        });
}

// From the sums of one group to its state: rows that are in their sequences change, others do not.
static void group_finish(const Layer *l, int64_t direction, int64_t group, int64_t row, int64_t rows, const float *sums)
{
    int64_t sums_row = (int64_t)part_gates(l, l->part) * HOLO_PANEL, alike;
    for (int64_t i = 0; i < rows; i += alike) {
        bool is_in;
        alike = rows_alike(l, time_of(l, direction), row + i, row + rows, &is_in);
        if (is_in)
            units_step(l, direction, group, row + i, alike, sums + i * sums_row);
        else if (l->part == l->kind->resets_first)
            units_keep(l, direction, group, row + i, alike);
    }
}

// Of few gates several groups go at once, where there is one row: see state_gates_f32.
static void work_step(void *arg, int64_t i, int worker)
{
    const Layer *l         = arg;
    int64_t      direction = i / l->tiles, first = i % l->tiles * l->tile_groups, gates = part_gates(l, l->part);
    int64_t      end = holo_least(l->groups, first + l->tile_groups), groups = l->batch == 1 ? GATES_MAX / gates : 1;
    float       *scratch = holo_kernel_scratch(l->host, worker), *sums = scratch + HOLO_GEMM_SCRATCH;
    for (int64_t group = first; group < end; group += groups) {
        int64_t count = holo_least(groups, end - group);
        for (int64_t row = 0; row < l->batch; row += HOLO_GEMM_ROWS) {
            int64_t rows = holo_least(HOLO_GEMM_ROWS, l->batch - row);
            group_sums(l, direction, group, count, row, rows, scratch);
            for (int64_t k = 0; k < count; k++)
                group_finish(l, direction, group + k, row, rows, sums + k * gates * HOLO_PANEL);
        }
    }
}

// ---- all of it

// Y behind the end of a sequence is 0.
static void rests_clear(const Layer *l)
{
    for (int64_t i = 0; l->lengths && l->y && i < l->times * l->directions * l->batch; i++)
        if (i / l->batch / l->directions >= l->lengths[i % l->batch])
            memset(l->y + i * l->hidden, 0, (size_t)l->hidden * sizeof(float));
}

static void finish(const Layer *l)
{
    int64_t state = l->batch * l->hidden;
    for (int64_t d = 0; l->h_last && d < l->directions; d++)
        memcpy(l->h_last + d * state, state_after(l, d, l->times), (size_t)state * sizeof(float));
    for (int64_t i = 0; l->c_last && i < l->directions * l->batch; i++)
        memcpy(l->c_last + i * l->hidden, l->cells + i * l->groups * HOLO_PANEL, (size_t)l->hidden * sizeof(float));
    rests_clear(l);
}

// Of no times at all: the last states are the first ones.
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

static HoloStatus lengths_check(const HoloCall *call, const Layer *l)
{
    for (int64_t i = 0; l->lengths && i < l->batch; i++)
        if (l->lengths[i] < 0 || l->lengths[i] > l->times)
            return holo_call_fail(call, HOLO_BAD_INPUT, "sequence %lld has length %lld, expected 0 to %lld",
                                  (long long)i, (long long)l->lengths[i], (long long)l->times);
    return HOLO_OK;
}

HoloStatus holo_recurrent_run(const HoloCall *call, const HoloRecurrentKind *kind)
{
    const HoloHost *host = call->host;
    Layer           l;
    size_t          floats;
    HOLO_TRY(layer_init(call, kind, &l));
    if (!l.batch) {
        pass_on(call, kind);
        return HOLO_OK;
    }
    HOLO_TRY(lengths_check(call, &l));
    share(&l, holo_kernel_scratch(host, 0), &floats);
    start(&l);
    for (l.from = 0; l.from < l.times; l.from = l.to) {
        l.to = holo_least(l.from + l.chunk, l.times);
        host->parallel(host, l.directions * l.row_tiles * l.columns, work_inputs, &l);
        for (l.step = l.from; l.step < l.to; l.step++)
            for (l.part = 0; l.part <= kind->resets_first; l.part++)
                host->parallel(host, l.directions * l.tiles, work_step, &l);
    }
    finish(&l);
    return HOLO_OK;
}
