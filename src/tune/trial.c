// trial.c - runs one node in several ways and measures the time.
#include "tune/trial.h"

#include "base/files.h"
#include "base/memory.h"
#include "devices/cpu/kernel.h"
#include "lower/cpu/cpu_target.h"
#include "ops/tensor.h"
#include "runtime/pool.h"

#include <string.h>

enum { ROUNDS_MIN = 5, ROUNDS_MAX = 40 };
static const double enough = 0.3; // seconds for a node

typedef struct Memory { // directly from the system
    void  *data;
    size_t size;
} Memory;

typedef struct Way {
    const HoloLowering  *lowering;
    const HoloCpuKernel *kernel; // NULL: eval
    HoloTensor          *packed; // by input; plain ones are those of the trial
    const HoloTensor   **in;
    void                *job;
    size_t               scratch;
} Way;

struct HoloTrial {
    HoloHost               host; // first: what kernels see
    const HoloTuneOptions *options;
    HoloArena              arena, temp; // temp: for a run of eval
    const HoloNode        *node;
    HoloTensor            *in, *out;
    const HoloTensor     **inputs; // NULL entries: left out
    HoloTensor           **outputs;
    Memory                *memories;
    int                    memory_count, memory_room;
    Memory                 passing;
    HoloError             *error;
};

// ---- what kernels see

static HoloTrial *trial_of(const HoloHost *host)
{
    return (HoloTrial *)(uintptr_t)host;
}

static void *host_temp(const HoloHost *host, size_t size)
{
    return holo_arena_take(&trial_of(host)->temp, size);
}

// What kernels have prepared serves all their runs.
static void *host_hold(const HoloHost *host, size_t size)
{
    return holo_arena_take(&trial_of(host)->arena, size);
}

static void host_parallel(const HoloHost *host, int64_t count, void (*work)(void *, int64_t, int), void *arg)
{
    holo_pool_run(trial_of(host)->options->pool, count, work, arg);
}

// ---- operands

static bool is_plain(const HoloValue *v)
{
    if (!v) return true;
    HoloClass class = holo_dtype_class((HoloDtype)v->type.dtype);
    return v->type.kind == HOLO_TENSOR && v->type.rank >= 0 && class != HOLO_CLASS_STRING && v->type.dtype &&
           holo_tensor_count(&v->type) >= 0;
}

bool holo_trial_can(const HoloNode *node)
{
    for (int i = 0; i < node->in_count; i++)
        if (!is_plain(node->in[i]) || (node->in[i] && node->in[i]->is_constant && !node->in[i]->type.data))
            return false;
    for (int i = 0; i < node->out_count; i++)
        if (!is_plain(node->out[i])) return false;
    return true;
}

static HoloStatus take(HoloTrial *t, size_t size, void **out)
{
    if (t->memory_count == t->memory_room) return holo_fail(t->error, HOLO_INTERNAL, "a trial takes too much memory");
    *out = holo_memory_take(size + 1, 0);
    if (!*out) return holo_fail_memory(t->error);
    t->memories[t->memory_count++] = (Memory){*out, size + 1};
    return HOLO_OK;
}

static void fill(HoloTensor *t, HoloRandom *random)
{
    int64_t count   = holo_tensor_count(t);
    HoloClass class = holo_dtype_class((HoloDtype)t->dtype);
    for (int64_t i = 0; i < count; i++) {
        if (t->dtype == HOLO_F32)
            ((float *)t->data)[i] = (float)(2 * holo_random_unit(random) - 1);
        else if (class == HOLO_CLASS_INT || class == HOLO_CLASS_UINT)
            holo_put_i(t, i, (int64_t)(holo_random_next(random) % 100));
        else if (class != HOLO_CLASS_BOOL)
            holo_put_f(t, i, 2 * holo_random_unit(random) - 1);
    }
}

static HoloStatus operands_take(HoloTrial *t)
{
    const HoloNode *node   = t->node;
    HoloRandom      random = {UINT64_C(0x74756E65)};
    for (int i = 0; i < node->in_count; i++) {
        const HoloValue *v = node->in[i];
        if (!v) continue;
        t->in[i]     = v->type;
        t->inputs[i] = &t->in[i];
        if (v->is_constant) continue;
        HOLO_TRY(take(t, holo_tensor_bytes(&v->type), &t->in[i].data));
        fill(&t->in[i], &random);
    }
    for (int i = 0; i < node->out_count; i++) {
        if (!node->out[i]) continue;
        t->out[i]     = node->out[i]->type;
        t->outputs[i] = &t->out[i];
        HOLO_TRY(take(t, holo_tensor_bytes(&t->out[i]), &t->out[i].data));
    }
    return HOLO_OK;
}

HoloStatus holo_trial_create(const HoloNode *node, const HoloTuneOptions *options, HoloTrial **out, HoloError *error)
{
    HoloTrial *t = *out = holo_realloc(NULL, sizeof *t);
    if (!t) return holo_fail_memory(error);
    *t = (HoloTrial){
        .host        = {.temp     = host_temp,
                        .hold     = host_hold,
                        .keep     = host_temp,
                        .parallel = host_parallel,
                        .stop     = holo_scope_stop(),
                        .kernels  = options->kernels},
        .options     = options,
        .node        = node,
        .memory_room = node->in_count + node->out_count + 3 * HOLO_LOWER_WAYS,
        .error       = error,
    };
    t->host.workers = holo_pool_threads(options->pool);
    t->in           = HOLO_NEW(&t->arena, HoloTensor, node->in_count + 1);
    t->inputs       = HOLO_NEW(&t->arena, const HoloTensor *, node->in_count + 1);
    t->out          = HOLO_NEW(&t->arena, HoloTensor, node->out_count + 1);
    t->outputs      = HOLO_NEW(&t->arena, HoloTensor *, node->out_count + 1);
    t->memories     = HOLO_NEW(&t->arena, Memory, t->memory_room);
    HoloStatus status =
        t->in && t->inputs && t->out && t->outputs && t->memories ? operands_take(t) : holo_fail_memory(error);
    if (!status) return HOLO_OK;
    holo_trial_destroy(t);
    *out = NULL;
    return status;
}

void holo_trial_destroy(HoloTrial *t)
{
    if (!t) return;
    for (int i = 0; i < t->memory_count; i++) holo_memory_free(t->memories[i].data, t->memories[i].size);
    holo_arena_deinit(&t->temp);
    holo_arena_deinit(&t->arena);
    holo_free(t);
}

// ---- ways

static HoloCall call_of(HoloTrial *t, const Way *way)
{
    const HoloNode *node = t->node;
    return (HoloCall){
        .op          = node->op,
        .node        = node->name,
        .version     = node->version,
        .in_count    = node->in_count,
        .out_count   = node->out_count,
        .in          = way->in,
        .out         = t->outputs,
        .attr        = node->attr,
        .attr_count  = node->attr_count,
        .params      = way->lowering->params,
        .params_size = way->lowering->params_size,
        .host        = &t->host,
        .error       = t->error,
    };
}

static HoloStatus input_pack(HoloTrial *t, Way *way, int input)
{
    const HoloTensor *plain   = t->inputs[input];
    HoloPacking       packing = holo_cpu_packing(way->lowering, plain);
    void             *packed;
    HOLO_TRY(take(t, packing.bytes + HOLO_PACK_PART, &packed));
    way->packed[input]      = *plain;
    way->packed[input].data = packed;
    way->in[input]          = &way->packed[input];
    char *at                = packed;
    for (int64_t i = 0; i < packing.part_count; i++) at += holo_cpu_pack(way->lowering, plain, i, at);
    return HOLO_OK;
}

static HoloStatus way_init(HoloTrial *t, const HoloLowering *lowering, Way *way)
{
    int inputs = t->node->in_count;
    *way       = (Way){
              .lowering = lowering,
              .kernel   = lowering->kernel ? holo_cpu_kernel_find(lowering->kernel) : NULL,
              .packed   = HOLO_NEW(&t->arena, HoloTensor, inputs + 1),
              .in       = HOLO_NEW(&t->arena, const HoloTensor *, inputs + 1),
    };
    if (!way->packed || !way->in) return holo_fail_memory(t->error);
    memcpy(way->in, t->inputs, (size_t)inputs * sizeof *way->in);
    if (!way->kernel) return HOLO_OK;
    if (lowering->pack_input >= 0) HOLO_TRY(input_pack(t, way, lowering->pack_input));
    if (lowering->pack_also > 0) HOLO_TRY(input_pack(t, way, lowering->pack_also));
    HoloCall call = call_of(t, way);
    way->job      = holo_arena_take(&t->arena, way->kernel->job_size);
    if (!way->job) return holo_fail_memory(t->error);
    return holo_cpu_kernel_prepare(way->kernel, &call, way->job, &way->scratch);
}

static HoloStatus scratch_take(HoloTrial *t, const Way *ways, int count)
{
    size_t most = 0;
    void  *memory;
    for (int i = 0; i < count; i++)
        if (ways[i].scratch > most) most = ways[i].scratch;
    t->host.scratch_stride = holo_align(most, 4096);
    HOLO_TRY(take(t, t->host.scratch_stride * (size_t)t->host.workers, &memory));
    t->host.scratch = memory;
    return HOLO_OK;
}

// ---- time

static void nothing(void *arg, int64_t i, int worker)
{
    (void)arg, (void)i, (void)worker;
}

static void touch(const void *data, size_t size)
{
    for (size_t i = 0; i < size; i += 64) (void)((const volatile char *)data)[i];
}

// Brings caches and threads into the state that the step finds in a run of the whole model.
static void surroundings(const HoloTrial *t)
{
    touch(t->passing.data, t->passing.size);
    for (int i = 0; i < t->node->in_count; i++)
        if (t->inputs[i] && !t->node->in[i]->is_constant) touch(t->in[i].data, holo_tensor_bytes(&t->in[i]));
    holo_pool_run(t->options->pool, t->host.workers, nothing, NULL);
}

static HoloStatus time_of(HoloTrial *t, const Way *way, double *best)
{
    HoloCall call = call_of(t, way);
    surroundings(t);
    double     start  = holo_time_now();
    HoloStatus status = way->kernel ? way->kernel->run(&call, way->job) : holo_op_eval(&call);
    double     spent  = holo_time_now() - start;
    holo_arena_reset(&t->temp, (HoloArenaMark){0});
    if (spent < *best) *best = spent;
    return status;
}

HoloStatus holo_trial_measure(HoloTrial *t, const HoloLowering *lowerings, int count, size_t passing,
                              double *out_seconds)
{
    Way ways[HOLO_LOWER_WAYS];
    t->passing.size = passing;
    HOLO_TRY(take(t, passing, &t->passing.data));
    memset(t->passing.data, 1, passing); // makes the pages exist
    for (int i = 0; i < count; i++) {
        HOLO_TRY(way_init(t, &lowerings[i], &ways[i]));
        out_seconds[i] = 1e9;
    }
    HOLO_TRY(scratch_take(t, ways, count));
    double start = holo_time_now();
    for (int round = 0; round < ROUNDS_MAX && (round < ROUNDS_MIN || holo_time_now() - start < enough); round++)
        for (int i = 0; i < count; i++) HOLO_TRY(time_of(t, &ways[i], &out_seconds[i]));
    return HOLO_OK;
}
