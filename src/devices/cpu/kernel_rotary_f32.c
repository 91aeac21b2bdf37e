// kernel_rotary_f32.c - RotaryEmbedding of f32. A task is all heads at some positions, which share their rows of the
// tables.
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"
#include "ops/standard/rotary.h"

enum { TASK_WORK = 1 << 14 }; // numbers that are worth a task

typedef struct Job {
    const HoloCall *call;
    HoloRotarySizes s;
    HoloHeads       view; // of the input and the output
    int64_t         places, tile, tasks;
    bool            is_interleaved;
} Job;

static HoloStatus prepare(const HoloCall *call, void *job, size_t *out_scratch)
{
    Job              *j = job;
    const HoloTensor *x = holo_in(call, 0), *y = holo_out(call, 0);
    (void)out_scratch;
    if (!holo_cpu_kernel_has_params(call, sizeof(HoloRotaryParams)) ||
        !(holo_op_is(call->op, HOLO_ID_RotaryEmbedding) || holo_op_is(call->op, HOLO_ID_MICROSOFT_RotaryEmbedding)))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the parameters are not those of rotary_f32");
    HOLO_TRY(holo_cpu_kernel_expect(call, x, "the input", 3, 4));
    HOLO_TRY(holo_cpu_kernel_expect(call, y, "the output", x->rank, x->rank));
    for (int d = 0; d < x->rank; d++)
        if (x->dim[d] != y->dim[d]) return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the output has another shape");
    HOLO_TRY(holo_rotary_sizes(call, &j->s));
    HOLO_TRY(holo_cpu_kernel_expect(call, j->s.cos, "the table of cosines", 2, 3));
    HOLO_TRY(holo_cpu_kernel_expect(call, j->s.sin, "the table of sines", 2, 3));
    if (!holo_tensor_count(x)) return HOLO_OK;
    j->view   = x->rank == 4 ? holo_heads_outer(x) : holo_heads_inner(x, j->s.heads);
    j->places = j->s.batch * j->s.positions;
    j->tile   = holo_ceil_div(TASK_WORK, j->s.heads * j->s.size);
    j->tasks  = holo_ceil_div(j->places, j->tile);

    j->is_interleaved = holo_attr_int(call, "interleaved", 0) != 0;
    return HOLO_OK;
}

static void work(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Job             *j = arg;
    const HoloRotarySizes *s = &j->s;
    for (int64_t n = i * j->tile, end = holo_least(n + j->tile, j->places); n < end; n++) {
        int64_t batch = n / s->positions, position = n % s->positions, row = 0;
        int64_t at = batch * j->view.batch + position * j->view.step;
        if (holo_rotary_row(j->call, s, batch, position, &row)) return; // run has checked it: it cannot fail
        j->call->host->kernels->rotary_f32(&(HoloRotation){
            .count       = s->heads,
            .step        = j->view.head,
            .half        = s->half,
            .rest        = s->size - 2 * s->half,
            .interleaved = j->is_interleaved,
            .x           = (const float *)j->call->in[0]->data + at,
            .cos         = (const float *)s->cos->data + row * s->half,
            .sin         = (const float *)s->sin->data + row * s->half,
            .out         = (float *)holo_out(j->call, 0)->data + at,
        });
    }
}

static HoloStatus run(HoloCall *call, void *job)
{
    Job    *j = job;
    int64_t row;
    j->call = call;
    for (int64_t n = 0; n < j->places; n++)
        HOLO_TRY(holo_rotary_row(call, &j->s, n / j->s.positions, n % j->s.positions, &row));
    if (j->tasks) call->host->parallel(call->host, j->tasks, work, j);
    return HOLO_OK;
}

const HoloCpuKernel holo_kernel_rotary_f32 = {
    .id       = HOLO_KERNEL_rotary_f32,
    .name     = "rotary_f32",
    .job_size = sizeof(Job),
    .prepare  = prepare,
    .run      = run,
};
