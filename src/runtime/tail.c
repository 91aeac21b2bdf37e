// tail.c - runs of a pointwise program along the innermost dimension, a tile at a time, so that results
// between steps stay in the first cache.
#include "runtime/tail.h"

#include "kernels/kernels.h"
#include "ops/program.h"

// ---- shapes

static bool broadcasts(const HoloTensor *t, const HoloTensor *out)
{
    int before = out->rank - t->rank;
    for (int d = 0; d < t->rank; d++)
        if (before < 0 || (t->dim[d] != 1 && t->dim[d] != out->dim[before + d])) return false;
    return before >= 0;
}

// Takes a dimension of the output into the one before it, where every input allows that.
static bool merge(HoloTail *t, int64_t dim, const int64_t *stride)
{
    int last = t->rank - 1;
    if (t->rank == 0) return false;
    for (int i = 0; i < HOLO_MAP_INPUTS; i++)
        if (t->stride[i][last] != stride[i] * dim) return false;
    t->dim[last] *= dim;
    for (int i = 0; i < HOLO_MAP_INPUTS; i++) t->stride[i][last] = stride[i];
    return true;
}

static void shape_init(const HoloTensor *const *in, const HoloTensor *out, HoloTail *t)
{
    int64_t stride[HOLO_MAP_INPUTS][HOLO_MAX_RANK] = {{0}};
    for (int i = 0; i < HOLO_MAP_INPUTS; i++)
        if (in[i]) holo_strides_broadcast(in[i], out->rank, out->dim, stride[i]);
    for (int d = 0; d < out->rank; d++) {
        int64_t at[HOLO_MAP_INPUTS];
        for (int i = 0; i < HOLO_MAP_INPUTS; i++) at[i] = stride[i][d];
        if (out->dim[d] == 1 || merge(t, out->dim[d], at)) continue;
        t->dim[t->rank] = out->dim[d];
        for (int i = 0; i < HOLO_MAP_INPUTS; i++) t->stride[i][t->rank] = at[i];
        t->rank++;
    }
    if (t->rank == 0) t->dim[t->rank++] = 1;
}

HoloStatus holo_tail_init(const HoloCall *call, const HoloProgram *program, bool over_output, int first_input,
                          HoloTail *t)
{
    const HoloTensor *out = holo_out(call, 0), *in[HOLO_MAP_INPUTS] = {NULL};
    uint32_t          used;
    *t = (HoloTail){.program = program};
    if (!holo_program_is_valid(program, &used))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the pointwise program is not valid");
    HOLO_TRY(holo_kernel_expect(call, out, "the output", 0, HOLO_MAX_RANK));
    for (int i = 0; i < HOLO_MAP_INPUTS; i++) {
        if (!(used >> i & 1)) continue;
        in[i] = over_output && i == 0 ? out : holo_in(call, first_input + i - over_output);
        HOLO_TRY(holo_kernel_expect(call, in[i], "an input of the program", 0, HOLO_MAX_RANK));
        if (!broadcasts(in[i], out))
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "x%d of the program does not broadcast to the output", i);
        t->in[i] = in[i]->data;
    }
    t->out     = out->data;
    t->count   = holo_tensor_count(out);
    t->columns = out->rank ? out->dim[out->rank - 1] : 1;
    if (t->count) shape_init(in, out, t);
    return HOLO_OK;
}

// ---- work

typedef struct Operand {
    const float *data;
    bool         is_one;
} Operand;

static Operand operand_at(const HoloTail *t, const HoloMapStep *step, int operand, const int64_t *at,
                          const float *between)
{
    if (operand == HOLO_MAP_NUMBER) return (Operand){&step->number, true};
    if (operand >= HOLO_MAP_INPUTS) return (Operand){between + (operand - HOLO_MAP_INPUTS) * HOLO_TAIL_TILE, false};
    return (Operand){t->in[operand] + at[operand], t->stride[operand][t->rank - 1] == 0};
}

// The program over n elements along the innermost dimension, inputs from `at` on.
static void run_program(const HoloTail *t, const HoloKernels *kernels, const int64_t *at, int64_t n, float *out,
                        float *between)
{
    uint32_t count = t->program->count;
    for (uint32_t i = 0; i < count; i++) {
        const HoloMapStep *s = &t->program->step[i];
        Operand            a = operand_at(t, s, s->a, at, between);
        Operand            b = holo_map_operands(s->op) > 1 ? operand_at(t, s, s->b, at, between) : a;
        kernels->map_f32(&(HoloMap){
            .op       = s->op,
            .n        = n,
            .a        = a.data,
            .b        = b.data,
            .a_is_one = a.is_one,
            .b_is_one = b.is_one,
            .out      = i + 1 < count ? between + i * HOLO_TAIL_TILE : out,
        });
    }
}

void holo_tail_range(const HoloTail *t, const HoloHost *host, int64_t from, int64_t to, float *scratch)
{
    int     last = t->rank - 1;
    int64_t most = t->program->count > 1 ? HOLO_TAIL_TILE : INT64_MAX;
    int64_t index[HOLO_MAX_RANK], at[HOLO_MAP_INPUTS] = {0}, rest = from;
    for (int d = last; d >= 0; rest /= t->dim[d--]) {
        index[d] = rest % t->dim[d];
        for (int i = 0; i < HOLO_MAP_INPUTS; i++) at[i] += index[d] * t->stride[i][d];
    }
    while (from < to) {
        int64_t n = holo_least(holo_least(t->dim[last] - index[last], to - from), most);
        run_program(t, host->kernels, at, n, t->out + from, scratch);
        from += n;
        index[last] += n;
        for (int i = 0; i < HOLO_MAP_INPUTS; i++) at[i] += n * t->stride[i][last];
        for (int d = last; d > 0 && index[d] == t->dim[d]; d--) { // the next row
            for (int i = 0; i < HOLO_MAP_INPUTS; i++) at[i] += t->stride[i][d - 1] - t->dim[d] * t->stride[i][d];
            index[d] = 0;
            index[d - 1]++;
        }
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
