// kernel_pair_i8.c - QLinearAdd and QLinearMul of 8-bit integers that broadcast: in a run, each operand either advances
// or stays.
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"

#include <math.h>

#include <string.h>

enum {
    PART  = 1 << 15, // elements of a task, about
    SHORT = 256,     // a run up to this length is made longer,
    LONG  = 1024,    // up to this, with copies of the repeated operand
};

typedef struct Pair {
    const HoloHost   *host;
    const HoloTensor *in[2];
    HoloTensor       *out;
    HoloPairI8        pair;
    int64_t           count; // elements of the output
    // The dimensions of the output. Those that both operands step through alike are joined. The last one is a run.
    int     rank;
    int64_t dim[HOLO_MAX_RANK], stride[2][HOLO_MAX_RANK];
    int     repeated;     // the operand whose last `period` numbers repeat; -1: none
    int64_t period, part; // part: elements of a task
    int64_t runs, parts;  // tasks of a run, or runs of a task
    int64_t together, tasks;
} Pair;

static bool broadcasts(const HoloTensor *t, const HoloTensor *out)
{
    if (t->rank > out->rank) return false;
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d] != 1 && t->dim[d] != out->dim[out->rank - t->rank + d]) return false;
    return true;
}

static void dims_join(Pair *p)
{
    int64_t stride[2][HOLO_MAX_RANK];
    for (int i = 0; i < 2; i++) holo_strides_broadcast(p->in[i], p->out->rank, p->out->dim, stride[i]);
    p->rank = 0;
    for (int d = 0; d < p->out->rank; d++) {
        int64_t size = p->out->dim[d];
        int     last = p->rank - 1;
        bool    same = p->rank > 0;
        if (size == 1) continue;
        for (int i = 0; i < 2; i++) same = same && p->stride[i][last] == stride[i][d] * size;
        int at     = same ? last : p->rank++;
        p->dim[at] = same ? p->dim[at] * size : size;
        for (int i = 0; i < 2; i++) p->stride[i][at] = stride[i][d];
    }
    if (!p->rank) p->rank = 1, p->dim[0] = 1, p->stride[0][0] = p->stride[1][0] = 0;
}

// Joins the last two dimensions if one operand repeats a short run while the other goes on.
static void run_lengthen(Pair *p)
{
    int last    = p->rank - 1;
    p->repeated = -1;
    for (int i = 0; i < 2 && p->rank > 1 && p->repeated < 0 && p->dim[last] <= SHORT; i++)
        if (p->stride[i][last] == 1 && !p->stride[i][last - 1] && p->stride[!i][last] == 1 &&
            p->stride[!i][last - 1] == p->dim[last])
            p->repeated = i;
    if (p->repeated < 0) return;
    p->period = p->dim[last];
    p->dim[last - 1] *= p->period;
    p->stride[!p->repeated][last - 1] = 1;
    p->rank--;
}

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Pair *p       = job;
    *p            = (Pair){.host = call->host, .in = {holo_in(call, 0), holo_in(call, 3)}, .out = holo_out(call, 0)};
    *out_scratch  = LONG;
    bool multiply = holo_op_is(call->op, HOLO_ID_MICROSOFT_QLinearMul);
    p->pair       = (HoloPairI8){.multiply = multiply};
    bool ok       = holo_cpu_kernel_has_params(call, sizeof(HoloPairI8Params)) &&
              !((const HoloPairI8Params *)call->params)->flags &&
              (multiply || holo_op_is(call->op, HOLO_ID_MICROSOFT_QLinearAdd)) && p->out &&
              p->out->kind == HOLO_TENSOR && (p->out->dtype == HOLO_U8 || p->out->dtype == HOLO_I8) &&
              p->out->rank >= 0;
    p->count = ok ? holo_tensor_count(p->out) : -1;
    ok       = ok && p->count >= 0 && holo_cpu_kernel_is_line(holo_in(call, 6), HOLO_F32, HOLO_ONE) &&
         (!holo_in(call, 7) || holo_cpu_kernel_is_line(call->in[7], p->out->dtype, HOLO_ONE));
    for (int i = 0; i < 2 && ok; i++) {
        const HoloTensor *t = p->in[i];
        ok = t && t->kind == HOLO_TENSOR && t->dtype == p->out->dtype && t->rank >= 0 && holo_tensor_count(t) >= 0 &&
             broadcasts(t, p->out) && holo_cpu_kernel_is_line(holo_in(call, 3 * i + 1), HOLO_F32, HOLO_ONE) &&
             (!holo_in(call, 3 * i + 2) || holo_cpu_kernel_is_line(call->in[3 * i + 2], t->dtype, HOLO_ONE));
    }
    if (!ok) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of pair_i8");
    if (!p->count) return HOLO_OK;
    dims_join(p);
    run_lengthen(p);
    p->runs     = p->count / p->dim[p->rank - 1];
    p->part     = p->repeated < 0 ? PART : PART / p->period * p->period;
    p->parts    = holo_ceil_div(p->dim[p->rank - 1], p->part);
    p->together = 1 + PART / p->dim[p->rank - 1];
    p->tasks    = holo_ceil_div(p->runs, p->together) * p->parts;

    p->pair.is_signed = p->out->dtype == HOLO_I8;
    p->pair.a_is_one  = !p->stride[0][p->rank - 1] && p->repeated != 0;
    p->pair.b_is_one  = !p->stride[1][p->rank - 1] && p->repeated != 1;
    return HOLO_OK;
}

// A run with copies of the operand that it repeats.
static void run_repeated(const Pair *p, const HoloPairI8 *run, uint8_t *copies)
{
    HoloPairI8     pair = *run;
    int64_t        size = LONG / p->period * p->period;
    const uint8_t *from = p->repeated ? run->b : run->a;
    size                = size < run->n ? size : run->n;
    for (int64_t i = 0; i < size; i += p->period) memcpy(copies + i, from, (size_t)holo_least(p->period, size - i));
    for (int64_t i = 0; i < run->n; i += size) {
        pair.n   = holo_least(size, run->n - i);
        pair.a   = p->repeated ? run->a + i : copies;
        pair.b   = p->repeated ? copies : run->b + i;
        pair.out = run->out + i;
        p->host->kernels->pair_i8(&pair);
    }
}

// A task is a part of one run, or some runs.
static void work(void *arg, int64_t i, int worker)
{
    const Pair *p    = arg;
    int64_t     size = p->dim[p->rank - 1], part = i % p->parts * p->part, first = i / p->parts * p->together;
    HoloPairI8  pair = p->pair;
    pair.n           = p->parts == 1 ? size : holo_least(p->part, size - part);
    for (int64_t run = first; run < first + p->together && run < p->runs; run++) {
        int64_t at[2] = {0};
        for (int64_t d = p->rank - 2, rest = run; d >= 0; rest /= p->dim[d--])
            for (int k = 0; k < 2; k++) at[k] += rest % p->dim[d] * p->stride[k][d];
        pair.a   = (const uint8_t *)p->in[0]->data + at[0] + (pair.a_is_one || p->repeated == 0 ? 0 : part);
        pair.b   = (const uint8_t *)p->in[1]->data + at[1] + (pair.b_is_one || p->repeated == 1 ? 0 : part);
        pair.out = (uint8_t *)p->out->data + run * size + part;
        if (p->repeated < 0)
            p->host->kernels->pair_i8(&pair);
        else
            run_repeated(p, &pair, (uint8_t *)holo_cpu_kernel_scratch(p->host, worker));
    }
}

static float number(const HoloCall *call, int input)
{
    return holo_in(call, input) ? (float)holo_get_f(call->in[input], 0) : 0;
}

static HoloStatus run(HoloCall *call, void *job)
{
    Pair       *p    = job;
    HoloPairI8 *pair = &p->pair;
    if (!p->tasks) return HOLO_OK;
    float a = number(call, 1), a_zero = number(call, 2), b = number(call, 4), b_zero = number(call, 5);
    float y = number(call, 6), y_zero = number(call, 7);
    pair->ratio  = a * b / y;
    pair->a_term = pair->multiply ? a_zero : a / y;
    pair->b_term = pair->multiply ? b_zero : b / y;
    pair->shift  = pair->multiply ? y_zero : y_zero - fmaf(a / y, a_zero, b / y * b_zero);
    call->host->parallel(call->host, p->tasks, work, p);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_pair_i8 = {
    .id       = HOLO_KERNEL_pair_i8,
    .name     = "pair_i8",
    .job_size = sizeof(Pair),
    .prepare  = prepare,
    .run      = run,
};
