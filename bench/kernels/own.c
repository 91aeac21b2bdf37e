// own.c - Hologram's side: the node of a graph, lowered as any, and its kernel called as a plan calls it.
#include "bench.h"

#include "base/files.h"
#include "devices/cpu/kernel.h"
#include "kernels/kernels.h"
#include "lower/cpu/cpu_target.h"
#include "runtime/pool.h"

#include <stdlib.h>
#include <string.h>

typedef struct Own {
    HoloHost             host; // first: what kernels see
    HoloPool            *pool;
    HoloArena            arena;
    HoloError            error;
    HoloCall             call;
    HoloLowering         lowering;
    const HoloCpuKernel *kernel;
    void                *job;
    HoloTensor           in[2], out;
    const HoloTensor    *inputs[2];
    HoloTensor          *outputs[1];
    void                *packed;
} Own;

static void parallel(const HoloHost *host, int64_t count, void (*work)(void *, int64_t, int), void *arg)
{
    holo_pool_run(((const Own *)(const void *)host)->pool, count, work, arg);
}

static void attr_ints(Own *o, HoloAttr *attr, const char *name, int count, int64_t number)
{
    int64_t *numbers = HOLO_NEW(&o->arena, int64_t, count);
    if (!numbers) fail("no memory");
    for (int i = 0; i < count; i++) numbers[i] = number;
    *attr = (HoloAttr){.name = name, .kind = HOLO_ATTR_INTS, .count = count, .ints = numbers};
}

static HoloNode *node_of(Own *o, const Case *c)
{
    HoloGraph *graph   = holo_graph_create(&o->arena, holo_dims_create(&o->arena), "bench");
    HoloTensor in      = {.dtype = HOLO_F32, .rank = 2, .dim = {c->m, c->k}, .data = (void *)(uintptr_t)c->in};
    HoloTensor weights = {.dtype = HOLO_F32, .rank = 2, .dim = {c->k, c->n}, .data = (void *)(uintptr_t)c->weights};
    if (c->is_conv) {
        in = (HoloTensor){.dtype = HOLO_F32, .rank = 4, .dim = {1, c->height, c->width, c->channels}, .data = in.data};
        weights = (HoloTensor){.dtype = HOLO_F32,
                               .rank  = 4,
                               .dim   = {c->filters, c->channels / c->groups, c->kernel, c->kernel},
                               .data  = weights.data};
    }
    HoloNode *node = graph
                         ? holo_graph_node(graph, "layer", c->is_conv ? "hologram" : "", c->is_conv ? "Conv" : "MatMul",
                                           c->is_conv ? 1 : 13, 2, 1, c->is_conv ? 4 : 0)
                         : NULL;
    if (!node) fail("no memory");
    node->in[0] = holo_graph_input(graph, "in", &in);
    node->in[1] = holo_graph_constant(graph, "weights", &weights);
    holo_node_set_out(node, 0, holo_graph_value(graph, "out"));
    if (c->is_conv) {
        attr_ints(o, &node->attr[0], "strides", 2, c->stride);
        attr_ints(o, &node->attr[1], "dilations", 2, c->dilation);
        attr_ints(o, &node->attr[2], "pads", 4, c->pad);
        node->attr[3] = (HoloAttr){.name = "group", .kind = HOLO_ATTR_INT, .count = 1, .i = c->groups};
    }
    holo_graph_output(graph, node->out[0]);
    if (holo_graph_infer(graph, &o->error)) fail("%s", o->error.text);
    o->in[0]      = in;
    o->in[1]      = weights;
    o->out        = node->out[0]->type;
    o->call       = (HoloCall){.op         = node->op,
                               .node       = node->name,
                               .version    = node->version,
                               .in_count   = 2,
                               .out_count  = 1,
                               .in         = o->inputs,
                               .out        = o->outputs,
                               .attr       = node->attr,
                               .attr_count = node->attr_count,
                               .host       = &o->host,
                               .error      = &o->error};
    o->inputs[0]  = &o->in[0];
    o->inputs[1]  = &o->in[1];
    o->outputs[0] = &o->out;
    return node;
}

static void pack(Own *o)
{
    if (o->lowering.pack_input != 1) return;
    HoloPacking packing = holo_cpu_packing(&o->lowering, &o->in[1]);
    char       *at      = take(packing.bytes + HOLO_PACK_PART);
    o->packed           = at;
    for (int64_t i = 0; i < packing.part_count; i++) at += holo_cpu_pack(&o->lowering, &o->in[1], i, at);
    o->in[1].data = o->packed;
}

static void *own_open(const Case *c, int threads)
{
    Own *o      = take(sizeof *o);
    o->lowering = holo_cpu_choose(node_of(o, c));
    o->kernel   = holo_cpu_kernel_find(o->lowering.kernel);
    if (!o->kernel || holo_pool_create(threads, &o->pool)) fail("%s: no kernel or no threads", c->text);
    o->host             = (HoloHost){.parallel = parallel, .workers = threads, .kernels = holo_kernels(0)};
    o->call.params      = o->lowering.params;
    o->call.params_size = o->lowering.params_size;
    o->out.data         = take((size_t)c->out_count * sizeof(float));
    size_t scratch      = 0;
    pack(o);
    o->job = take(o->kernel->job_size);
    if (holo_cpu_kernel_prepare(o->kernel, &o->call, o->job, &scratch)) fail("%s", o->error.text);
    o->host.scratch_stride = holo_align(scratch, 4096);
    o->host.scratch        = take(o->host.scratch_stride * (size_t)threads);
    return o;
}

static void own_run(void *state)
{
    Own *o = state;
    if (o->kernel->run(&o->call, o->job)) fail("%s", o->error.text);
}

static void own_answer(void *state, float *out)
{
    const Own *o = state;
    memcpy(out, o->out.data, holo_tensor_bytes(&o->out));
}

static void own_close(void *state)
{
    Own *o = state;
    holo_pool_destroy(o->pool);
    holo_arena_deinit(&o->arena);
    free(o->packed), free(o->out.data), free(o->host.scratch), free(o);
}

const Contender own = {
    .name           = "hologram",
    .takes_products = true,
    .takes_convs    = true,
    .open           = own_open,
    .run            = own_run,
    .answer         = own_answer,
    .close          = own_close,
};

const char *own_level(void)
{
    return holo_kernels(0)->level;
}
