// kernel_case.h - one call of an operator and of the kernel for it, compared on every table of kernels.
#ifndef HOLO_TESTS_KERNEL_CASE_H
#define HOLO_TESTS_KERNEL_CASE_H

#include "base/base.h"
#include "devices/cpu/kernel.h"
#include "format/params.h"
#include "kernels/kernels.h"
#include "lower/cpu/cpu_target.h"
#include "ops/op.h"
#include "support/bits.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// ---- values

static HoloRandom random_state = {7};

static inline float *floats(
    int64_t count) // random in [-1, 1), at the end of its memory so that ASan sees what goes beyond
{
    float *x = malloc((size_t)(count ? count : 1) * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < count; i++) x[i] = (float)(2 * holo_random_unit(&random_state) - 1);
    return x;
}

// For what a kernel writes: as many numbers at any level are then drawn for what it reads.
static inline float *blank(int64_t count)
{
    float *x = malloc((size_t)(count ? count : 1) * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < count; i++) x[i] = NAN;
    return x;
}

// What all exact tables gave; the next numbers depend on nothing before.
static inline void note_exact(const char *what, const float *x, int64_t count)
{
    static uint64_t noted;
    bits_note_floats(what, x, count);
    random_state = (HoloRandom){++noted};
}

static inline void expect_near(double got, double want, double bound)
{
    if (isnan(want) ? isnan(got) : got == want || fabs(got - want) <= bound) return;
    fail_msg("got %.9g, expected %.9g within %g", got, want, bound);
}

static inline void expect_same(const float *a, const float *b, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) && !(isnan(a[i]) && isnan(b[i])))
            fail_msg("element %lld differs: %a and %a", (long long)i, a[i], b[i]);
}

// ---- whole kernels, as a plan calls them

typedef struct Host {
    HoloHost  host;
    HoloArena arena;
} Host;

static inline void *host_temp(const HoloHost *host, size_t size)
{
    return holo_arena_take(&((Host *)(uintptr_t)host)->arena, size);
}

// As if by threads that take the work in an odd order.
static inline void host_parallel(const HoloHost *host, int64_t count, void (*work)(void *, int64_t, int), void *arg)
{
    for (int64_t i = 0; i < count; i++) work(arg, host->workers == 1 ? i : count - 1 - i, (int)(i % host->workers));
}

static inline Host host_make(const HoloKernelTable *kernels, int workers)
{
    return (Host){
        .host = {
            .temp = host_temp, .keep = host_temp, .parallel = host_parallel, .workers = workers, .kernels = kernels}};
}

enum { IN_MAX = 16 };

typedef struct Case { // one call of an operator and of the kernel for it
    const char *op, *domain;
    int         version, in_count, attr_count;
    HoloTensor  in[IN_MAX], out;
    HoloAttr    attr[8];
    uint32_t    kernel;
    union {
        HoloMatmulParams  matmul;
        HoloConvParams    conv;
        HoloSoftmaxParams softmax;
        uint8_t           any[HOLO_PARAMS_BYTES];
        uint64_t          aligned; // as in an archive
    } params;

} Case;

static inline HoloTensor tensor(int rank, const int64_t *dim)
{
    HoloTensor t = {.dtype = HOLO_F32, .rank = (int8_t)rank};
    for (int d = 0; d < rank; d++) t.dim[d] = dim[d];
    t.data = floats(holo_product(rank, dim));
    return t;
}
#define TENSOR(...) tensor((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

static inline void attr_ints(Case *c, const char *name, int count, const int64_t *ints)
{
    c->attr[c->attr_count++] = (HoloAttr){.name = name, .kind = HOLO_ATTR_INTS, .count = count, .ints = ints};
}

static inline void attr_int(Case *c, const char *name, int64_t i)
{
    c->attr[c->attr_count++] = (HoloAttr){.name = name, .kind = HOLO_ATTR_INT, .count = 1, .i = i};
}

static inline void attr_text(Case *c, const char *name, const char *text)
{
    c->attr[c->attr_count++] =
        (HoloAttr){.name = name, .kind = HOLO_ATTR_STRING, .count = 1, .s = {text, strlen(text)}};
}

static inline HoloCall call_init(Case *c, Host *host, const HoloTensor **in, HoloTensor **out, HoloError *error)
{
    for (int i = 0; i < c->in_count; i++) in[i] = c->in[i].dtype ? &c->in[i] : NULL; // no dtype: left out
    out[0] = &c->out;
    return (HoloCall){.op          = holo_op_find(c->domain ? c->domain : "", c->op, c->version),
                      .node        = c->op,
                      .version     = c->version,
                      .in_count    = c->in_count,
                      .out_count   = 1,
                      .in          = in,
                      .out         = out,
                      .attr        = c->attr,
                      .attr_count  = c->attr_count,
                      .params      = &c->params,
                      .params_size = sizeof c->params,
                      .host        = &host->host,
                      .error       = error};
}

// Memory for a kernel's job; free it.
static inline void *kernel_job(const HoloCpuKernel *kernel)
{
    void *job = malloc(kernel->job_size);
    assert_non_null(job);
    return job;
}

// Would the kernel prepare the call?
static inline HoloStatus kernel_check(uint32_t id, const HoloCall *call, size_t *out_scratch)
{
    const HoloCpuKernel *kernel = holo_cpu_kernel_find(id);
    void                *job    = kernel_job(kernel);
    HoloStatus           status = holo_cpu_kernel_prepare(kernel, call, job, out_scratch);
    free(job);
    return status;
}

// Prepares and runs a call; scratch for it is there.
static inline HoloStatus kernel_run(uint32_t id, HoloCall *call)
{
    const HoloCpuKernel *kernel = holo_cpu_kernel_find(id);
    void                *job    = kernel_job(kernel);
    size_t               scratch;
    HoloStatus           status = holo_cpu_kernel_prepare(kernel, call, job, &scratch);
    if (!status) status = kernel->run(call, job);
    free(job);
    return status;
}

// In how many bytes the kernel, which accepts the call, wants an input packed.
static inline int64_t kernel_packed(uint32_t id, const HoloCall *call, int input)
{
    const HoloCpuKernel *kernel = holo_cpu_kernel_find(id);
    void                *job    = kernel_job(kernel);
    size_t               scratch;
    assert_int_equal(holo_cpu_kernel_prepare(kernel, call, job, &scratch), HOLO_OK);
    int64_t size = kernel->packed_size(call, job, input);
    free(job);
    return size;
}

static inline float *run_eval(Case *c)
{
    HoloError         error = {0};
    Host              host  = host_make(NULL, 1);
    const HoloTensor *in[IN_MAX];
    HoloTensor       *out[1];
    HoloCall          call = call_init(c, &host, in, out, &error);
    assert_non_null(call.op);
    if (holo_op_infer(&call)) fail_msg("%s", error.text);
    c->out.data = blank(holo_tensor_count(&c->out));
    if (call.op->eval(&call)) fail_msg("%s", error.text);
    holo_arena_deinit(&host.arena);
    return c->out.data;
}

static inline float *run_kernel(Case *c, const HoloKernelTable *kernels, int workers)
{
    HoloError            error = {0};
    Host                 host  = host_make(kernels, workers);
    const HoloTensor    *in[IN_MAX];
    HoloTensor          *out[1];
    HoloCall             call   = call_init(c, &host, in, out, &error);
    const HoloCpuKernel *kernel = holo_cpu_kernel_find(c->kernel);
    size_t               scratch;
    void                *job = kernel_job(kernel);
    if (holo_cpu_kernel_prepare(kernel, &call, job, &scratch)) fail_msg("%s", error.text);
    host.host.scratch_stride = holo_align(scratch + 1, 64);
    host.host.scratch        = aligned_alloc(64, host.host.scratch_stride * (size_t)workers);
    assert_non_null(host.host.scratch);
    c->out.data = blank(holo_tensor_count(&c->out));
    if (kernel->run(&call, job)) fail_msg("%s", error.text);
    free(job);
    free(host.host.scratch);
    holo_arena_deinit(&host.arena);
    return c->out.data;
}

// Every table against eval; and the same bits by 1 and 3 workers, and of all exact tables. Frees the inputs.
static inline void check_case(Case *c)
{
    memcpy(&c->params, &(uint32_t){sizeof c->params}, sizeof(uint32_t));
    float                 *want = run_eval(c), *exact = NULL;
    int64_t                count = holo_tensor_count(&c->out);
    const HoloKernelTable *kernels;
    for (int t = 0; (kernels = holo_kernels_at(t)); t++) {
        float *one = run_kernel(c, kernels, 1), *three = run_kernel(c, kernels, 3);
        if (c->out.dtype != HOLO_F32) assert_memory_equal(one, want, holo_tensor_bytes(&c->out)); // integers: exactly
        for (int64_t i = 0; c->out.dtype == HOLO_F32 && i < count; i++)
            expect_near((double)one[i], (double)want[i], 2e-5 + 1e-5 * fabs((double)want[i]));
        if (c->out.dtype != HOLO_F32) assert_memory_equal(one, three, holo_tensor_bytes(&c->out));
        if (c->out.dtype == HOLO_F32) expect_same(one, three, count);
        if (c->out.dtype == HOLO_F32 && kernels->exact && exact) expect_same(one, exact, count);
        free(three);
        if (kernels->exact && !exact)
            exact = one;
        else
            free(one);
    }
    if (c->out.dtype == HOLO_F32) note_exact(c->op, exact, count);
    if (c->out.dtype != HOLO_F32) bits_note(c->op, want, holo_tensor_bytes(&c->out)); // that of every table
    free(want), free(exact);
    for (int i = 0; i < c->in_count; i++) free(c->in[i].data);
}

// What the compiler chooses. Inputs of one element, and on request the weights, input 1, are constants.
static inline HoloLowering case_lowering(Case *c, bool has_constant_weights)
{
    HoloValue         value[IN_MAX] = {0}, out = {0}, *in[IN_MAX], *outs[] = {&out};
    HoloError         error = {0};
    Host              host  = host_make(NULL, 1);
    const HoloTensor *tensors[IN_MAX];
    HoloTensor       *results[1];
    HoloCall          call = call_init(c, &host, tensors, results, &error);
    assert_non_null(call.op);
    if (holo_op_infer(&call)) fail_msg("%s", error.text);
    for (int i = 0; i < c->in_count; i++) {
        value[i].type = c->in[i];
        value[i].is_constant =
            i > 0 && c->in[i].dtype && (holo_tensor_count(&c->in[i]) <= 1 || (i == 1 && has_constant_weights));
        in[i] = c->in[i].dtype ? &value[i] : NULL;
    }
    out.type      = c->out;
    HoloNode node = {.op         = call.op,
                     .name       = "n",
                     .type       = c->op,
                     .domain     = c->domain ? c->domain : "",
                     .op_id      = holo_op_id(c->domain ? c->domain : "", c->op),
                     .version    = c->version,
                     .in_count   = c->in_count,
                     .out_count  = 1,
                     .in         = in,
                     .out        = outs,
                     .attr       = c->attr,
                     .attr_count = c->attr_count};
    return holo_cpu_choose(&node);
}

// The packed form of weights, all parts of it; the caller's to free. Each part goes through memory of the size that
// parts are promised to have, so that ASan sees one that is larger.
static inline void *packed_weights(const HoloLowering *lowering, const HoloTensor *plain)
{
    HoloPacking packing = holo_cpu_packing(lowering, plain);
    char       *all = malloc(packing.bytes), *part = malloc(HOLO_PACK_PART);
    size_t      at = 0;
    assert_true(all && part);
    for (int64_t i = 0; i < packing.part_count; i++) {
        size_t size = holo_cpu_pack(lowering, plain, i, part);
        assert_true(size <= HOLO_PACK_PART && at + size <= packing.bytes);
        memcpy(all + at, part, size);
        at += size;
    }
    assert_int_equal(at, packing.bytes);
    free(part);
    return all;
}

// The kernel and parameters that the compiler chooses; then as check_case.
static inline void check_lowered(Case *c, uint32_t kernel)
{
    HoloLowering lowering = case_lowering(c, false);
    assert_int_equal(lowering.kernel, kernel);
    c->kernel = lowering.kernel;
    memcpy(&c->params, lowering.params, sizeof lowering.params);
    check_case(c);
}

// The weights of a case in two packings give the same bits, the second on three workers. Frees what the case holds of
// both operands.
static inline void expect_packings_agree(Case *c, const HoloLowering *first, const HoloLowering *second)
{
    const HoloLowering *forms[2] = {first, second};
    HoloTensor          plain    = c->in[1];
    float              *out[2];
    for (int i = 0; i < 2; i++) {
        char *packed = packed_weights(forms[i], &plain);
        c->kernel    = forms[i]->kernel;
        memcpy(&c->params, forms[i]->params, sizeof forms[i]->params);
        memcpy(&c->params, &(uint32_t){sizeof c->params}, sizeof(uint32_t));
        c->in[1].data = packed;
        out[i]        = run_kernel(c, holo_kernels(0), 1 + 2 * i);
        free(packed);
    }
    expect_same(out[0], out[1], holo_tensor_count(&c->out));
    free(out[0]), free(out[1]), free(plain.data), free(c->in[0].data);
}

// Flags that an archive may not give to a matrix product.
static inline void expect_matmul_refuses(int count, const uint32_t *flags)
{
    Case c  = {.op = "MatMul", .version = 13, .in_count = 2};
    c.in[0] = TENSOR(2, 8);
    c.in[1] = TENSOR(8, 4);
    free(run_eval(&c));
    for (int i = 0; i < count; i++) {
        Host              host  = host_make(holo_kernels(0), 1);
        HoloError         error = {0};
        const HoloTensor *in[IN_MAX];
        HoloTensor       *out[1];
        size_t            scratch;
        c.params.matmul = (HoloMatmulParams){.size = sizeof c.params, .flags = flags[i], .alpha = 1, .beta = 1};
        HoloCall call   = call_init(&c, &host, in, out, &error);
        assert_int_equal(kernel_check(HOLO_KERNEL_matmul_f32, &call, &scratch), HOLO_BAD_ARCHIVE);
    }
    free(c.in[0].data), free(c.in[1].data);
}

// ---- products and recurrences

// The product with weights [k][n] of f32, and with what `narrow` makes of their panels: the same bits. The weights are
// freed.
typedef void      *Narrowing(uint32_t type, const float *panels, int64_t count, float book[HOLO_BOOK]);
static inline void expect_same_product(const HoloKernelTable *kernels, int64_t m, int64_t n, int64_t k, float *weights,
                                       uint32_t type, Narrowing *narrow)
{
    int64_t  panels = (n + 15) / 16 * 16;
    float   *a = floats(m * k), *b = floats(panels * k), *d = floats(n), *more = floats(m * n);
    float   *want = blank(m * n), *got = blank(m * n), book[HOLO_BOOK];
    float   *scratch = aligned_alloc(64, HOLO_GEMM_SCRATCH * sizeof *scratch);
    HoloGemm g       = {.m        = m,
                        .n        = n,
                        .k        = k,
                        .a        = a,
                        .a_row    = k,
                        .a_column = 1,
                        .b        = b,
                        .b_panel  = 16 * k,
                        .b_step   = 16,
                        .c        = want,
                        .c_row    = n,
                        .d        = d,
                        .d_column = 1,
                        .alpha    = 0.5f,
                        .beta     = 1,
                        .finish   = &(HoloFinish){.has_low = true, .low = -1, .more = more},
                        .scratch  = scratch};
    kernels->pack_f32(k, n, weights, n, 1, b);
    void *narrowed = narrow(type, b, panels * k, book);
    kernels->gemm_f32(&g);
    g.b      = narrowed;
    g.b_type = type;
    g.b_book = book;
    g.c      = got;
    kernels->gemm_f32(&g);
    expect_same(got, want, m * n);
    free(a), free(weights), free(b), free(d), free(more), free(want), free(got), free(scratch), free(narrowed);
}

// The lengths of sequences: whole ones, empty ones and such between.
static inline HoloTensor lengths(int64_t times, int64_t batch)
{
    int32_t *data = malloc((size_t)batch * sizeof *data);
    assert_non_null(data);
    for (int64_t i = 0; i < batch; i++) data[i] = (int32_t)(i % 3 == 0 ? times / 2 : i % 3 == 1 ? times : 0);
    return (HoloTensor){.dtype = HOLO_I32, .rank = 1, .dim = {batch}, .data = data};
}

#endif
