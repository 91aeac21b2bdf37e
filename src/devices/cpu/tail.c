// tail.c - runs a pointwise program along the innermost dimension, a tile at a time, so that results between steps stay
// in the first cache.
#include "devices/cpu/tail.h"

#include "kernels/kernels.h"
#include "ops/hologram/program.h"

#include <string.h>

// ---- shapes

static bool broadcasts(const HoloTensor *t, const HoloTensor *out)
{
    int before = out->rank - t->rank;
    for (int d = 0; d < t->rank; d++)
        if (before < 0 || (t->dim[d] != 1 && t->dim[d] != out->dim[before + d])) return false;
    return before >= 0;
}

// Joins a dimension of the output with the one before it, if every input allows that.
static bool merge(HoloTail *t, int64_t dim, const int64_t *stride)
{
    int last = t->rank - 1;
    if (t->rank == 0) return false;
    for (int i = 0; i < t->inputs; i++)
        if (t->stride[i][last] != stride[i] * dim) return false;
    t->dim[last] *= dim;
    for (int i = 0; i < t->inputs; i++) t->stride[i][last] = stride[i];
    return true;
}

static void shape_init(const HoloTensor *out, HoloTail *t)
{
    int64_t stride[HOLO_MAP_INPUTS][HOLO_MAX_RANK];
    for (int i = 0; i < t->inputs; i++) {
        memset(stride[i], 0, (size_t)out->rank * sizeof *stride[i]);
        if (t->from[i]) holo_strides_broadcast(t->from[i], out->rank, out->dim, stride[i]);
    }
    for (int d = 0; d < out->rank; d++) {
        int64_t at[HOLO_MAP_INPUTS];
        for (int i = 0; i < t->inputs; i++) at[i] = stride[i][d];
        if (out->dim[d] == 1 || merge(t, out->dim[d], at)) continue;
        t->dim[t->rank] = out->dim[d];
        for (int i = 0; i < t->inputs; i++) t->stride[i][t->rank] = at[i];
        t->rank++;
    }
    if (t->rank == 0) t->dim[t->rank++] = 1;
}

// Short rows are processed in groups if each input is contiguous from row to row, or is one number, or repeats the same
// row. A group has copies of such a row.
static void group_init(HoloTail *t)
{
    int last = t->rank - 1;
    t->group = 1;
    if (t->rank < 2 || t->dim[last] > HOLO_TAIL_TILE / 2) return;
    for (int i = 0; i < t->inputs; i++) {
        if (!t->from[i] || t->stride[i][last - 1] == t->dim[last] * t->stride[i][last]) continue;
        if (t->stride[i][last - 1] != 0) return;
        t->rows |= 1u << i;
    }
    t->group = HOLO_TAIL_TILE / t->dim[last];
}

HoloStatus holo_tail_init(const HoloCall *call, const HoloProgram *program, bool over_output, int first_input,
                          HoloTail *t)
{
    const HoloTensor *out = holo_out(call, 0);
    uint32_t          used;
    *t = (HoloTail){.program = program, .to = out};
    if (!holo_program_is_valid(program, &used))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the pointwise program is not valid");
    HOLO_TRY(holo_cpu_kernel_expect(call, out, "the output", 0, HOLO_MAX_RANK));
    for (int i = 0; i < HOLO_MAP_INPUTS; i++) {
        if (!(used >> i & 1)) continue;
        const HoloTensor *in = over_output && i == 0 ? out : holo_in(call, first_input + i - over_output);
        HOLO_TRY(holo_cpu_kernel_expect(call, in, "an input of the program", 0, HOLO_MAX_RANK));
        if (!broadcasts(in, out))
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "x%d of the program does not broadcast to the output", i);
        t->from[i] = in;
        t->inputs  = i + 1;
    }
    t->count   = holo_tensor_count(out);
    t->columns = out->rank ? out->dim[out->rank - 1] : 1;
    t->group   = 1;
    if (!t->count || !program->count) return HOLO_OK; // there is nothing to do
    shape_init(out, t);
    group_init(t);
    return HOLO_OK;
}

void holo_tail_begin(HoloTail *t)
{
    for (int i = 0; i < t->inputs; i++) t->in[i] = t->from[i] ? t->from[i]->data : NULL;
    t->out = t->to->data;
}

// ---- work

typedef struct Operand {
    const float *data;
    bool         is_one;
} Operand;

// One walk over a range of the output.
typedef struct Walk {
    const HoloTail        *tail;
    const HoloKernelTable *kernels;
    int64_t                index[HOLO_MAX_RANK], at[HOLO_MAP_INPUTS]; // position in the output and in each input
    float                 *between;                                   // results of the steps
    float                 *repeated;                                  // inputs that are the same in all rows of a group
    bool                   is_group;
} Walk;

static Operand operand_at(const Walk *w, const HoloMapStep *step, int operand)
{
    const HoloTail *t = w->tail;
    if (operand == HOLO_MAP_NUMBER) return (Operand){&step->number, true};
    if (operand >= HOLO_MAP_INPUTS) return (Operand){w->between + (operand - HOLO_MAP_INPUTS) * HOLO_TAIL_TILE, false};
    if (w->is_group && t->rows >> operand & 1) return (Operand){w->repeated + operand * HOLO_TAIL_TILE, false};
    return (Operand){t->in[operand] + w->at[operand], t->stride[operand][t->rank - 1] == 0};
}

// Runs the program over n elements from the current position.
static void run_program(const Walk *w, int64_t n, float *out)
{
    const HoloProgram *program = w->tail->program;
    for (uint32_t i = 0; i < program->count; i++) {
        const HoloMapStep *s = &program->step[i];
        Operand            a = operand_at(w, s, s->a);
        Operand            b = holo_map_operands(s->op) > 1 ? operand_at(w, s, s->b) : a;
        w->kernels->map_f32(&(HoloMap){
            .op       = s->op,
            .n        = n,
            .a        = a.data,
            .b        = b.data,
            .a_is_one = a.is_one,
            .b_is_one = b.is_one,
            .out      = i + 1 < program->count ? w->between + i * HOLO_TAIL_TILE : out,
        });
    }
}

static void walk_begin(const HoloTail *t, const HoloHost *host, int64_t from, float *scratch, Walk *w)
{
    *w         = (Walk){.tail = t, .kernels = host->kernels, .repeated = scratch};
    w->between = scratch + (t->program->count ? HOLO_MAP_INPUTS * HOLO_TAIL_TILE : 0);
    for (int d = t->rank - 1; d >= 0; from /= t->dim[d--]) {
        w->index[d] = from % t->dim[d];
        for (int i = 0; i < t->inputs; i++) w->at[i] += w->index[d] * t->stride[i][d];
    }
}

// Moves n elements on, which end in the same row or at the end of a row.
static void walk_on(Walk *w, int64_t n)
{
    const HoloTail *t    = w->tail;
    int             last = t->rank - 1;
    int64_t         rows = n / t->dim[last], rest = n % t->dim[last];
    w->index[last] += rest;
    if (last) w->index[last - 1] += rows;
    for (int i = 0; i < t->inputs; i++)
        w->at[i] += rest * t->stride[i][last] + (last ? rows * t->stride[i][last - 1] : 0);
    for (int d = last; d > 0; d--) { // by rows, the dimension before the last may be the first that is full
        if (w->index[d] < t->dim[d]) {
            if (d < last) break;
            continue;
        }
        for (int i = 0; i < t->inputs; i++) w->at[i] += t->stride[i][d - 1] - t->dim[d] * t->stride[i][d];
        w->index[d] = 0;
        w->index[d - 1]++;
    }
}

// Copies the rows that a group shares. They stay valid until an outer dimension advances.
static void rows_repeat(Walk *w, int64_t group)
{
    const HoloTail *t = w->tail;
    int64_t         n = t->dim[t->rank - 1];
    for (int i = 0; i < t->inputs; i++) {
        if (!(t->rows >> i & 1)) continue;
        for (int64_t r = 0; r < group; r++)
            memcpy(w->repeated + i * HOLO_TAIL_TILE + r * n, t->in[i] + w->at[i], (size_t)n * sizeof(float));
    }
}

// Processes whole rows in groups until an outer dimension advances. Returns where it ends.
static int64_t walk_groups(Walk *w, int64_t from, int64_t to)
{
    const HoloTail *t    = w->tail;
    int             last = t->rank - 1;
    int64_t         n = t->dim[last], rows = holo_least(t->dim[last - 1] - w->index[last - 1], (to - from) / n);
    if (rows < 2) return from;
    rows_repeat(w, holo_least(rows, t->group));
    w->is_group = true;
    while (rows > 0) {
        int64_t group = holo_least(rows, t->group);
        run_program(w, group * n, t->out + from);
        from += group * n;
        rows -= group;
        walk_on(w, group * n);
    }
    w->is_group = false;
    return from;
}

void holo_tail_range(const HoloTail *t, const HoloHost *host, int64_t from, int64_t to, float *scratch)
{
    int     last = t->rank - 1;
    int64_t most = t->program->count > 1 ? HOLO_TAIL_TILE : INT64_MAX;
    Walk    w;
    walk_begin(t, host, from, scratch, &w);
    while (from < to) {
        if (t->group > 1 && w.index[last] == 0) {
            int64_t end = walk_groups(&w, from, to);
            bool    any = end > from;
            from        = end;
            if (any) continue;
        }
        int64_t n = holo_least(holo_least(t->dim[last] - w.index[last], to - from), most);
        run_program(&w, n, t->out + from);
        from += n;
        walk_on(&w, n);
    }
}

void holo_tail_run(const HoloTail *t, const HoloHost *host, int64_t row, int64_t rows, int64_t column, int64_t columns,
                   float *scratch)
{
    if (!t->program->count || !columns) return;
    if (columns == t->columns) {
        holo_tail_range(t, host, row * columns, (row + rows) * columns, scratch);
        return;
    }
    for (int64_t r = row; r < row + rows; r++)
        holo_tail_range(t, host, r * t->columns + column, r * t->columns + column + columns, scratch);
}
