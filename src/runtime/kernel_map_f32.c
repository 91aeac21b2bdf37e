// kernel_map_f32.c - pointwise programs over f32 tensors that broadcast together.
//
// The dimensions over which all inputs run on, or all stand still, are taken as one. A task is a range
// of output elements; it goes run by run along the innermost dimension, and through the whole program
// a tile at a time, so that results between steps stay in the first cache.
#include "format/params.h"
#include "kernels/kernels.h"
#include "runtime/kernel.h"

enum {
    TILE      = 512,     // elements that a program of several steps takes at a time
    TASK_WORK = 1 << 15, // elements that are worth a task
};

typedef struct Map {
    const HoloHost      *host;
    const HoloMapParams *params;
    const float         *in[HOLO_MAP_INPUTS];
    float               *out;
    int                  rank; // at least 1
    int64_t              dim[HOLO_MAX_RANK], stride[HOLO_MAP_INPUTS][HOLO_MAX_RANK];
    int64_t              count;
} Map;

// ---- the program

static int operands_of(uint32_t op)
{
    static const uint8_t operands[] = {
#define HOLO_MAP_OP(id, name, operands) [id] = operands,
#include "format/map_ops.def"
#undef HOLO_MAP_OP
    };
    return operands[op];
}

// Marks the inputs that the program reads; false: it is no program.
static bool program_check(const HoloMapParams *p, bool *used)
{
    if (p->count < 1 || p->count > HOLO_MAP_STEPS) return false;
    for (uint32_t i = 0; i < p->count; i++) {
        const HoloMapStep *s = &p->step[i];
        if (s->op >= HOLO_MAP_OPS || s->zero) return false;
        for (int k = 0; k < operands_of(s->op); k++) {
            uint32_t operand = k ? s->b : s->a;
            if (operand < HOLO_MAP_INPUTS)
                used[operand] = true;
            else if (operand != HOLO_MAP_NUMBER && operand >= HOLO_MAP_INPUTS + i)
                return false;
        }
    }
    return true;
}

// ---- shapes

static bool broadcasts(const HoloTensor *t, const HoloTensor *out)
{
    int before = out->rank - t->rank;
    for (int d = 0; d < t->rank; d++)
        if (before < 0 || (t->dim[d] != 1 && t->dim[d] != out->dim[before + d])) return false;
    return before >= 0;
}

// Takes dimension d of the output into the one before it, where every input allows that.
static bool merge(Map *m, int64_t dim, const int64_t *stride)
{
    int last = m->rank - 1;
    if (m->rank == 0) return false;
    for (int i = 0; i < HOLO_MAP_INPUTS; i++)
        if (m->stride[i][last] != stride[i] * dim) return false;
    m->dim[last] *= dim;
    for (int i = 0; i < HOLO_MAP_INPUTS; i++) m->stride[i][last] = stride[i];
    return true;
}

static void shape_init(const HoloCall *call, const bool *used, Map *m)
{
    const HoloTensor *out                                    = call->out[0];
    int64_t           stride[HOLO_MAP_INPUTS][HOLO_MAX_RANK] = {0};
    for (int i = 0; i < HOLO_MAP_INPUTS; i++)
        if (used[i]) holo_strides_broadcast(call->in[i], out->rank, out->dim, stride[i]);
    for (int d = 0; d < out->rank; d++) {
        int64_t at[HOLO_MAP_INPUTS];
        for (int i = 0; i < HOLO_MAP_INPUTS; i++) at[i] = stride[i][d];
        if (out->dim[d] == 1 || merge(m, out->dim[d], at)) continue;
        m->dim[m->rank] = out->dim[d];
        for (int i = 0; i < HOLO_MAP_INPUTS; i++) m->stride[i][m->rank] = at[i];
        m->rank++;
    }
    if (m->rank == 0) m->dim[m->rank++] = 1;
}

// Where the output is empty, count is 0 and no shape is filled in.
static HoloStatus map_init(const HoloCall *call, Map *m)
{
    const HoloTensor    *out                   = holo_out(call, 0);
    const HoloMapParams *params                = call->params;
    bool                 used[HOLO_MAP_INPUTS] = {false};
    *m                                         = (Map){.host = call->host, .params = params};
    if (!holo_kernel_has_params(call, sizeof *params) || !program_check(params, used))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of map_f32");
    HOLO_TRY(holo_kernel_expect(call, out, "the output", 0, HOLO_MAX_RANK));
    for (int i = 0; i < HOLO_MAP_INPUTS; i++) {
        if (!used[i]) continue;
        HOLO_TRY(holo_kernel_expect(call, holo_in(call, i), "an input", 0, HOLO_MAX_RANK));
        if (!broadcasts(call->in[i], out))
            return holo_call_fail(call, HOLO_BAD_ARCHIVE, "input %d does not broadcast to the output", i);
        m->in[i] = call->in[i]->data;
    }
    m->out   = out->data;
    m->count = holo_tensor_count(out);
    if (m->count) shape_init(call, used, m);
    return HOLO_OK;
}

static HoloStatus check(const HoloCall *call, size_t *out_scratch)
{
    Map m;
    HOLO_TRY(map_init(call, &m));
    *out_scratch = (m.params->count - 1) * TILE * sizeof(float);
    return HOLO_OK;
}

// ---- work

typedef struct Operand {
    const float *data;
    bool         is_one;
} Operand;

static Operand operand_at(const Map *m, const HoloMapStep *step, int operand, const int64_t *at, const float *between)
{
    if (operand == HOLO_MAP_NUMBER) return (Operand){&step->number, true};
    if (operand >= HOLO_MAP_INPUTS) return (Operand){between + (operand - HOLO_MAP_INPUTS) * TILE, false};
    return (Operand){m->in[operand] + at[operand], m->stride[operand][m->rank - 1] == 0};
}

// The program over n elements along the innermost dimension, inputs from `at` on.
static void run_program(const Map *m, const int64_t *at, int64_t n, float *out, float *between)
{
    for (uint32_t i = 0; i < m->params->count; i++) {
        const HoloMapStep *s = &m->params->step[i];
        Operand            a = operand_at(m, s, s->a, at, between);
        Operand            b = operands_of(s->op) > 1 ? operand_at(m, s, s->b, at, between) : a;
        m->host->kernels->map_f32(&(HoloMap){
            .op       = s->op,
            .n        = n,
            .a        = a.data,
            .b        = b.data,
            .a_is_one = a.is_one,
            .b_is_one = b.is_one,
            .out      = i + 1 < m->params->count ? between + i * TILE : out,
        });
    }
}

static void work(void *arg, int64_t task, int worker)
{
    const Map *m    = arg;
    int        last = m->rank - 1;
    int64_t    from = task * TASK_WORK, to               = holo_least(from + TASK_WORK, m->count);
    int64_t    index[HOLO_MAX_RANK], at[HOLO_MAP_INPUTS] = {0};
    float     *between = m->params->count > 1 ? holo_kernel_scratch(m->host, worker) : NULL;
    int64_t    most    = m->params->count > 1 ? TILE : INT64_MAX;
    int64_t    rest    = from;
    for (int d = last; d >= 0; rest /= m->dim[d--]) {
        index[d] = rest % m->dim[d];
        for (int i = 0; i < HOLO_MAP_INPUTS; i++) at[i] += index[d] * m->stride[i][d];
    }
    while (from < to) {
        int64_t n = holo_least(holo_least(m->dim[last] - index[last], to - from), most);
        run_program(m, at, n, m->out + from, between);
        from += n;
        index[last] += n;
        for (int i = 0; i < HOLO_MAP_INPUTS; i++) at[i] += n * m->stride[i][last];
        for (int d = last; d > 0 && index[d] == m->dim[d]; d--) { // the next row
            for (int i = 0; i < HOLO_MAP_INPUTS; i++) at[i] += m->stride[i][d - 1] - m->dim[d] * m->stride[i][d];
            index[d] = 0;
            index[d - 1]++;
        }
    }
}

static HoloStatus run(HoloCall *call)
{
    Map m;
    HOLO_TRY(map_init(call, &m));
    if (m.count) call->host->parallel(call->host, holo_ceil_div(m.count, TASK_WORK), work, &m);
    return HOLO_OK;
}

const HoloKernel holo_kernel_map_f32 = {
    .id    = HOLO_KERNEL_map_f32,
    .name  = "map_f32",
    .check = check,
    .run   = run,
};
