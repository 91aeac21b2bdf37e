// products.c - large matrix products and convolutions while the reference runs.
//
// Plain evaluation of a large network would take minutes. Its large products are computed by the fast
// kernels instead, and of each a seeded sample of elements is computed exactly, in double, from the
// same inputs: a wrong kernel is found here, everything else is plain.
#include "verify/products.h"

#include "base/files.h"
#include "kernels/kernels.h"
#include "lower/lower.h"
#include "runtime/kernel.h"
#include "runtime/pool.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 64 };
static const double work_plain = 4e6; // multiplications that are done plainly

static void *host_temp(const HoloHost *host, size_t size)
{
    (void)host;
    (void)size;
    return NULL; // kernels take no memory while they run
}

static void host_parallel(const HoloHost *host, int64_t count, void (*work)(void *, int64_t, int), void *arg)
{
    holo_pool_run(((const HoloProducts *)(const void *)host)->pool, count, work, arg);
}

HoloStatus holo_products_init(HoloProducts *products, const HoloGraph *graph, const HoloVerifyOptions *options,
                              HoloVerifyResult *result, HoloError *error)
{
    (void)error;
    *products = (HoloProducts){
        .host = {.temp = host_temp, .keep = host_temp, .parallel = host_parallel},
        .pool = options->pool,
        .graph = graph,
        .options = options,
        .result = result,
        .random = {UINT64_C(0x73616D70)},
    };
    products->host.workers = holo_pool_threads(options->pool);
    products->host.kernels = holo_kernels(1);
    return HOLO_OK;
}

void holo_products_deinit(HoloProducts *products)
{
    holo_memory_free(products->host.scratch, products->scratch_size);
}

// Multiplications of a product: each output element is a sum over the weights of its column, row or
// channel. 0 where the operator has no exact element to compare with.
static double work_of(const HoloCall *call)
{
    if (!call->op->at || call->in_count < 2 || !call->in[0] || !call->in[1] || !call->out[0]) return 0;
    double a = (double)holo_tensor_count(call->in[0]), b = (double)holo_tensor_count(call->in[1]);
    double out = (double)holo_tensor_count(call->out[0]);
    if (call->in[1]->rank >= 3 && !strcmp(call->op->name, "Conv")) return out * b / (double)(call->in[1]->dim[0] + 1);
    return sqrt(a * b * out);
}

static HoloStatus scratch_reserve(HoloProducts *p, size_t scratch, HoloError *error)
{
    size_t stride = holo_align(scratch, 4096);
    if (stride <= p->host.scratch_stride) return HOLO_OK;
    holo_memory_free(p->host.scratch, p->scratch_size);
    p->scratch_size = stride * (size_t)p->host.workers;
    p->host.scratch = holo_memory_take(p->scratch_size);
    p->host.scratch_stride = p->host.scratch ? stride : 0;
    return p->host.scratch ? HOLO_OK : holo_fail_memory(error);
}

// A sum of `terms` products of about `magnitude` each, rounded at each step, is off by no more than this.
static HoloStatus sample_check(HoloProducts *p, const HoloNode *node, const HoloCall *call)
{
    const HoloTensor *out = call->out[0];
    int64_t count = holo_tensor_count(out);
    double top = 0;
    for (int64_t i = 0; i < count; i++) {
        double x = fabs((double)((const float *)out->data)[i]);
        if (isfinite(x) && x > top) top = x;
    }
    for (int i = 0; i < SAMPLES && count; i++) {
        int64_t index = (int64_t)(holo_random_next(&p->random) % (uint64_t)count);
        double want = call->op->at(call, index), got = (double)((const float *)out->data)[index];
        p->result->checked++;
        if (want == got || (isnan(want) && isnan(got)) || fabs(want - got) <= p->options->absolute + p->options->relative * top) continue;
        return holo_fail(call->error, HOLO_VERIFY, "node %s (%s): element %lld is %g by the kernel, but %g when computed exactly",
                         node->name, node->type, (long long)index, got, want);
    }
    return HOLO_OK;
}

static HoloStatus instead(void *context, const HoloNode *node, HoloCall *call)
{
    HoloProducts *p = context;
    if (work_of(call) < work_plain) return HOLO_UNSUPPORTED;
    HoloLowering lowering = holo_lower_choose(node);
    holo_lower_unpack(&lowering);
    const HoloKernel *kernel = lowering.kernel ? holo_kernel_find(lowering.kernel) : NULL;
    if (!kernel) return HOLO_UNSUPPORTED;
    HoloCall fast = *call;
    fast.host = &p->host;
    fast.params = lowering.params;
    fast.params_size = lowering.params_size;
    size_t scratch = 0;
    HOLO_TRY(kernel->check(&fast, &scratch));
    HOLO_TRY(scratch_reserve(p, scratch, call->error));
    HOLO_TRY(kernel->run(&fast));
    return sample_check(p, node, call);
}

static void after(void *context, const HoloNode *node, const HoloCall *call)
{
    HoloProducts *p = context;
    const HoloVerifyOptions *o = p->options;
    (void)call;
    for (int i = 0; o->release && i < node->in_count; i++) {
        const HoloValue *v = node->in[i];
        if (v && v->is_constant && v->type.data) o->release(o->context, v->type.data, holo_tensor_bytes(&v->type));
    }
    p->done++;
    if (o->progress && p->graph->node_count) o->progress(o->context, (double)p->done / (double)p->graph->node_count);
}

HoloEvalOptions holo_products_options(HoloProducts *products)
{
    return (HoloEvalOptions){.instead = instead, .after = after, .context = products};
}
