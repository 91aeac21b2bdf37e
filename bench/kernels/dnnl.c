// dnnl.c - oneDNN: its inner product and its convolution, every operand in the layout that it chooses.
#include "bench.h"

#if __has_include(<dnnl.h>) && __has_include(<dnnl_version.h>)
#include <dnnl_version.h>
#endif

#if defined DNNL_VERSION_MAJOR && DNNL_VERSION_MAJOR == 2
#include <dnnl.h>
#include <dnnl_debug.h>

#include <stdlib.h>
#include <string.h>

typedef struct Dnnl {
    const Case           *c;
    dnnl_engine_t         engine;
    dnnl_stream_t         stream;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t      primitive;
    dnnl_memory_t         in, weights, out;
    dnnl_memory_desc_t    plain_in, plain_weights, plain_out;
} Dnnl;

static void try(dnnl_status_t status)
{
    if (status != dnnl_success) fail("oneDNN: %s", dnnl_status2str(status));
}

static dnnl_memory_desc_t described(int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t d;
    try(dnnl_memory_desc_init_by_tag(&d, rank, dims, dnnl_f32, tag));
    return d;
}

static void product(Dnnl *d, const Case *c)
{
    const dnnl_dims_t         in = {c->m, c->k}, weights = {c->n, c->k}, out = {c->m, c->n};
    dnnl_inner_product_desc_t desc;
    dnnl_memory_desc_t        any = described(2, weights, dnnl_format_tag_any);
    d->plain_in                   = described(2, in, dnnl_ab);
    d->plain_weights              = described(2, weights, dnnl_ba);
    d->plain_out                  = described(2, out, dnnl_ab);
    try(dnnl_inner_product_forward_desc_init(&desc, dnnl_forward_inference, &d->plain_in, &any, NULL, &d->plain_out));
    try(dnnl_primitive_desc_create(&d->desc, &desc, NULL, d->engine, NULL));
}

static void convolution(Dnnl *d, const Case *c)
{
    const dnnl_dims_t in = {1, c->channels, c->height, c->width}, out = {1, c->filters, c->out_height, c->out_width};
    const dnnl_dims_t grouped = {c->groups, c->filters / c->groups, c->channels / c->groups, c->kernel, c->kernel};
    const int64_t    *weights = c->groups > 1 ? grouped : grouped + 1;
    const dnnl_dims_t strides = {c->stride, c->stride}, pads = {c->pad, c->pad};
    const dnnl_dims_t dilates = {c->dilation - 1, c->dilation - 1};
    int               rank    = c->groups > 1 ? 5 : 4;
    dnnl_convolution_desc_t desc;
    dnnl_memory_desc_t any_in = described(4, in, dnnl_format_tag_any), any_out = described(4, out, dnnl_format_tag_any);
    dnnl_memory_desc_t any = described(rank, weights, dnnl_format_tag_any);
    d->plain_in            = described(4, in, dnnl_nhwc);
    d->plain_weights       = described(rank, weights, rank == 5 ? dnnl_goihw : dnnl_oihw);
    d->plain_out           = described(4, out, dnnl_nhwc);
    try(dnnl_dilated_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_auto, &any_in, &any,
                                                   NULL, &any_out, strides, dilates, pads, pads));
    try(dnnl_primitive_desc_create(&d->desc, &desc, NULL, d->engine, NULL));
}

static void move(Dnnl *d, dnnl_memory_t from, dnnl_memory_t to)
{
    const dnnl_memory_desc_t *a, *b;
    dnnl_primitive_desc_t     desc;
    dnnl_primitive_t          reorder;
    try(dnnl_memory_get_memory_desc(from, &a));
    try(dnnl_memory_get_memory_desc(to, &b));
    try(dnnl_reorder_primitive_desc_create(&desc, a, d->engine, b, d->engine, NULL));
    try(dnnl_primitive_create(&reorder, desc));
    try(dnnl_primitive_execute(reorder, d->stream, 2, (dnnl_exec_arg_t[]){{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}));
    try(dnnl_stream_wait(d->stream));
    try(dnnl_primitive_destroy(reorder));
    try(dnnl_primitive_desc_destroy(desc));
}

// Memory in the layout that the primitive wants, filled with `plain` where there is any.
static dnnl_memory_t memory_of(Dnnl *d, dnnl_query_t what, const dnnl_memory_desc_t *plain_desc, const float *plain)
{
    dnnl_memory_t memory, from;
    try(dnnl_memory_create(&memory, dnnl_primitive_desc_query_md(d->desc, what, 0), d->engine, DNNL_MEMORY_ALLOCATE));
    if (!plain) return memory;
    try(dnnl_memory_create(&from, plain_desc, d->engine, (void *)(uintptr_t)plain));
    move(d, from, memory);
    try(dnnl_memory_destroy(from));
    return memory;
}

static void *dnnl_open(const Case *c, int threads)
{
    (void)threads; // OMP_NUM_THREADS says how many
    Dnnl *d = take(sizeof *d);
    d->c    = c;
    try(dnnl_engine_create(&d->engine, dnnl_cpu, 0));
    try(dnnl_stream_create(&d->stream, d->engine, dnnl_stream_default_flags));
    (c->is_conv ? convolution : product)(d, c);
    try(dnnl_primitive_create(&d->primitive, d->desc));
    d->in      = memory_of(d, dnnl_query_src_md, &d->plain_in, c->in);
    d->weights = memory_of(d, dnnl_query_weights_md, &d->plain_weights, c->weights);
    d->out     = memory_of(d, dnnl_query_dst_md, &d->plain_out, NULL);
    return d;
}

static void dnnl_run(void *state)
{
    Dnnl           *d      = state;
    dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, d->in}, {DNNL_ARG_WEIGHTS, d->weights}, {DNNL_ARG_DST, d->out}};
    try(dnnl_primitive_execute(d->primitive, d->stream, HOLO_COUNT(args), args));
    try(dnnl_stream_wait(d->stream));
}

static void dnnl_answer(void *state, float *out)
{
    Dnnl         *d = state;
    dnnl_memory_t plain;
    try(dnnl_memory_create(&plain, &d->plain_out, d->engine, out));
    move(d, d->out, plain);
    try(dnnl_memory_destroy(plain));
}

static void dnnl_close(void *state)
{
    Dnnl *d = state;
    try(dnnl_memory_destroy(d->in));
    try(dnnl_memory_destroy(d->weights));
    try(dnnl_memory_destroy(d->out));
    try(dnnl_primitive_destroy(d->primitive));
    try(dnnl_primitive_desc_destroy(d->desc));
    try(dnnl_stream_destroy(d->stream));
    try(dnnl_engine_destroy(d->engine));
    free(d);
}

const Contender dnnl = {
    .name           = "onednn",
    .takes_products = true,
    .takes_convs    = true,
    .open           = dnnl_open,
    .run            = dnnl_run,
    .answer         = dnnl_answer,
    .close          = dnnl_close,
};
#else
const Contender dnnl = {.name = "onednn", .missing = "no oneDNN 2 when this was built (Debian 12: libdnnl-dev)"};
#endif
