// narrow_products.c - products of f16 and bf16 in the reference, by the kernels for f32.
//
// Plain evaluation would take a hundred times as long. Inputs are widened, which loses nothing. The sums, which the
// plain implementation has in double, are rounded once to the narrow type, and a sample of exact elements judges them.
#include "base/files.h"
#include "kernels/kernels.h"
#include "lower/cpu/cpu_target.h"
#include "verify/judge.h"

enum { INPUTS_MAX = 12 };

typedef struct Wide { // the call, with f32 instead of the narrow type
    HoloNode          node;
    HoloValue         value[INPUTS_MAX + 1], *in_values[INPUTS_MAX], *out_values[1];
    HoloTensor        in[INPUTS_MAX], out, *out_list[1];
    const HoloTensor *in_list[INPUTS_MAX];
    void             *memory[INPUTS_MAX + 1];
    size_t            bytes[INPUTS_MAX + 1];
    int               memory_count;
} Wide;

static bool is_narrow(const HoloTensor *t)
{
    return t && t->kind == HOLO_TENSOR && (t->dtype == HOLO_F16 || t->dtype == HOLO_BF16);
}

static void *memory_take(Wide *w, size_t bytes)
{
    void *memory                = holo_memory_take(bytes, 0);
    w->memory[w->memory_count]  = memory;
    w->bytes[w->memory_count++] = bytes;
    return memory;
}

// `t` of f32, with memory of its own.
static bool wide_take(Wide *w, HoloTensor *t)
{
    t->dtype = HOLO_F32;
    t->data  = memory_take(w, holo_tensor_bytes(t) + sizeof(float));
    return t->data;
}

static bool wide_open(Wide *w, const HoloKernelTable *kernels, const HoloNode *node, const HoloCall *call)
{
    w->node          = *node;
    w->node.in       = w->in_values;
    w->node.out      = w->out_values;
    w->out_values[0] = &w->value[INPUTS_MAX];
    w->out_list[0]   = &w->out;
    w->out           = *call->out[0];
    for (int i = 0; i < call->in_count; i++) {
        const HoloTensor *from = call->in[i];
        if (!from) continue;
        w->in[i]        = *from;
        w->in_list[i]   = &w->in[i];
        w->in_values[i] = &w->value[i];
        if (is_narrow(from)) {
            if (!wide_take(w, &w->in[i])) return false;
            (from->dtype == HOLO_F16 ? kernels->widen_f16 : kernels->widen_bf16)(holo_tensor_count(from), from->data,
                                                                                 w->in[i].data);
        }
        w->value[i]      = *node->in[i];
        w->value[i].type = w->in[i];
    }
    if (!wide_take(w, &w->out)) return false;
    w->value[INPUTS_MAX]      = *node->out[0];
    w->value[INPUTS_MAX].type = w->out;
    return true;
}

static HoloStatus wide_run(Wide *w, HoloProducts *p, const HoloCall *call)
{
    HoloLowering lowering = holo_cpu_choose(&w->node);
    holo_cpu_unpack(&lowering);
    const HoloCpuKernel *kernel = lowering.kernel ? holo_cpu_kernel_find(lowering.kernel) : NULL;
    if (!kernel) return HOLO_UNSUPPORTED;
    HoloCall fast    = *call;
    fast.in          = w->in_list;
    fast.out         = w->out_list;
    fast.host        = &p->host;
    fast.params      = lowering.params;
    fast.params_size = lowering.params_size;
    void *job        = NULL;
    HOLO_TRY(holo_products_prepare(p, kernel, &fast, &job));
    return kernel->run(&fast, job);
}

HoloStatus holo_products_narrow(HoloProducts *p, const HoloNode *node, HoloCall *call)
{
    HoloTensor *out = call->out[0];
    if (!is_narrow(out) || !out->data || !call->op->at || call->in_count > INPUTS_MAX) return HOLO_UNSUPPORTED;
    const HoloKernelTable *k      = p->host.kernels;
    Wide                   w      = {.memory_count = 0};
    HoloStatus             status = wide_open(&w, k, node, call) ? HOLO_OK : holo_fail_memory(call->error);
    if (!status) status = wide_run(&w, p, call);
    if (!status)
        (out->dtype == HOLO_F16 ? k->narrow_f16 : k->narrow_bf16)(holo_tensor_count(out), w.out.data, out->data);
    for (int i = 0; i < w.memory_count; i++)
        if (w.memory[i]) holo_memory_free(w.memory[i], w.bytes[i]);
    holo_arena_reset(&p->temp, (HoloArenaMark){0});
    if (status || p->blurs) return status;
    p->result->nodes++;
    return holo_judge_sample(p, node, call);
}
