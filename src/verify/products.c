// products.c - kernels in the reference: each is judged on its own, by plain evaluation of the same inputs.
//
// What a kernel gives is what flows on, so that the reference and the plan have the same rounding and a
// model that quantises inside cannot blow it up. Plain evaluation of a large product would take minutes:
// of those a seeded sample of elements is computed exactly, in double. Large outputs that are made row by
// row are judged by some slices of rows and written in place, so that memory stays near what the plan needs.
// Recurrences are judged by the first steps of their sequences. Where all is computed once more with other roundings, kernels
// have been judged and only run.
#include "verify/products.h"

#include "base/bits.h"
#include "base/files.h"
#include "lower/lower.h"
#include "ops/contract.h"
#include "runtime/kernel.h"
#include "runtime/pool.h"
#include "verify/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 64, SLICES = 4, SLICE_ELEMENTS = 1 << 15, TURNS_MAX = 1 << 16 };
static const double work_plain = 1e6; // multiplications that are done plainly

static void *host_temp(const HoloHost *host, size_t size)
{
    return holo_arena_take(&((HoloProducts *)(uintptr_t)host)->temp, size); // the host is the first member
}

static void host_parallel(const HoloHost *host, int64_t count, void (*work)(void *, int64_t, int), void *arg)
{
    holo_pool_run(((const HoloProducts *)(const void *)host)->pool, count, work, arg);
}

void holo_products_init(HoloProducts *products, const HoloGraph *graph, const HoloKernels *kernels,
                        const HoloVerifyOptions *options, HoloVerifyResult *result)
{
    *products = (HoloProducts){
        .host    = {.temp = host_temp, .keep = host_temp, .parallel = host_parallel},
        .pool    = options->pool,
        .graph   = graph,
        .options = options,
        .result  = result,
        .random  = {UINT64_C(0x73616D70)},
    };
    holo_products_restart(products);
    products->host.workers = holo_pool_threads(options->pool);
    products->host.kernels = kernels;
}

void holo_products_restart(HoloProducts *products)
{
    products->done  = 0;
    products->turns = TURNS_MAX;
}

void holo_products_deinit(HoloProducts *products)
{
    holo_memory_free(products->host.scratch, products->scratch_size);
    holo_arena_deinit(&products->temp);
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
    p->scratch_size        = stride * (size_t)p->host.workers;
    p->host.scratch        = holo_memory_take(p->scratch_size, 0);
    p->host.scratch_stride = p->host.scratch ? stride : 0;
    return p->host.scratch ? HOLO_OK : holo_fail_memory(error);
}

// ---- judging: by the pool's threads, in parts that depend on the number of elements alone

enum { PARTS = 64, PART_MIN = 1 << 12 };

typedef struct Judge {
    const HoloTensor *want, *got;
    double            bound; // how far an element may be off
    struct JudgePart {
        double  top; // the largest magnitude of `want`
        double  off; // the largest difference,
        int64_t at;  // and where it is
        int64_t bad; // the first element beyond the bound; -1: none
    } part[PARTS];
} Judge;

static double element(const HoloTensor *t, int64_t i)
{
    return t->dtype == HOLO_F32 ? (double)((const float *)t->data)[i] : holo_get_f(t, i);
}

static int part_count(int64_t count)
{
    return count < (int64_t)PARTS * PART_MIN ? (int)(count / PART_MIN + 1) : PARTS;
}

static void part_bounds(int64_t count, int64_t i, int64_t *from, int64_t *to)
{
    int parts = part_count(count);
    *from     = count / parts * i;
    *to       = i == parts - 1 ? count : count / parts * (i + 1);
}

// Magnitudes of floats are in the order of their bits, and what is not finite comes behind all others.
static double largest_f32(const float *x, int64_t count)
{
    const uint32_t infinite = 0x7F800000;
    uint32_t       top      = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = holo_bits_of_f32(x[i]) & 0x7FFFFFFF;
        bits          = bits < infinite ? bits : 0;
        top           = bits > top ? bits : top;
    }
    return (double)holo_f32_of_bits(top);
}

static double largest_any(const HoloTensor *t, int64_t from, int64_t to)
{
    double top = 0;
    for (int64_t i = from; i < to; i++) {
        double x = fabs(element(t, i));
        if (x > top && isfinite(x)) top = x;
    }
    return top;
}

static void part_largest(void *arg, int64_t i, int worker)
{
    Judge  *j = arg;
    int64_t from, to;
    (void)worker;
    part_bounds(holo_tensor_count(j->want), i, &from, &to);
    j->part[i].top = j->want->dtype == HOLO_F32 ? largest_f32((const float *)j->want->data + from, to - from)
                                                : largest_any(j->want, from, to);
}

// The largest magnitude of the elements wanted.
static double largest(HoloProducts *p, Judge *j)
{
    double top   = 0;
    int    parts = part_count(holo_tensor_count(j->want));
    holo_pool_run(p->pool, parts, part_largest, j);
    for (int i = 0; i < parts; i++) top = fmax(top, j->part[i].top);
    return top;
}

static void part_compare(void *arg, int64_t i, int worker)
{
    Judge  *j = arg;
    int64_t from, to;
    (void)worker;
    part_bounds(holo_tensor_count(j->want), i, &from, &to);
    struct JudgePart found = {.bad = -1};
    for (int64_t k = from; k < to; k++) {
        double want = element(j->want, k), got = element(j->got, k);
        if (want == got || (isnan(want) && isnan(got))) continue;
        double off = fabs(want - got);
        if (isnan(off)) off = INFINITY;
        if (off > found.off) found.off = off, found.at = k;
        if (found.bad < 0 && !(off <= j->bound)) found.bad = k;
    }
    j->part[i] = found;
}

// `shift`: added to numbers of elements where they are told.
static HoloStatus found_note(HoloProducts *p, const HoloNode *node, const Judge *j, double top, int64_t shift,
                             HoloError *error)
{
    HoloVerifyResult *r     = p->result;
    int64_t           count = holo_tensor_count(j->want);
    HoloBound         bound = {p->options->relative, p->options->absolute, "the tolerance of verification"};
    r->judged += (uint64_t)count;
    for (int i = 0; i < part_count(count); i++) {
        const struct JudgePart *found = &j->part[i];
        if (found->off > 0) holo_verify_note(r, &bound, found->off, top, "node", node->name, found->at + shift);
        if (found->bad >= 0)
            return holo_fail(error, HOLO_VERIFY,
                             "node %s (%s): element %lld is %g by the kernel, but %g when computed plainly", node->name,
                             node->type, (long long)(found->bad + shift), element(j->got, found->bad),
                             element(j->want, found->bad));
    }
    return HOLO_OK;
}

// `top`: the largest magnitude that the elements are held against.
static HoloStatus compare(HoloProducts *p, const HoloNode *node, Judge *j, double top, int64_t shift, HoloError *error)
{
    j->bound = p->options->absolute + p->options->relative * top;
    holo_pool_run(p->pool, part_count(holo_tensor_count(j->want)), part_compare, j);
    return found_note(p, node, j, top, shift, error);
}

// ---- a sample of exact elements

typedef struct Samples {
    const HoloCall *call;
    int64_t         index[SAMPLES];
    double          want[SAMPLES], got[SAMPLES];
} Samples;

static void sample_one(void *arg, int64_t i, int worker)
{
    Samples *s = arg;
    (void)worker;
    s->want[i] = s->call->op->at(s->call, s->index[i]);
    s->got[i]  = element(s->call->out[0], s->index[i]);
}

static HoloStatus sample_judge(HoloProducts *p, const HoloNode *node, const HoloCall *call)
{
    Samples           s     = {.call = call};
    const HoloTensor *out   = call->out[0];
    Judge             all   = {.want = out, .got = out};
    int64_t           count = holo_tensor_count(out);
    if (!count) return HOLO_OK;
    double top = largest(p, &all);
    for (int i = 0; i < SAMPLES; i++) s.index[i] = (int64_t)(holo_random_next(&p->random) % (uint64_t)count);
    holo_pool_run(p->pool, SAMPLES, sample_one, &s);
    for (int i = 0; i < SAMPLES; i++) {
        HoloTensor want = {.data = &s.want[i], .dtype = HOLO_F64}, got = {.data = &s.got[i], .dtype = HOLO_F64};
        Judge      one = {.want = &want, .got = &got};
        HOLO_TRY(compare(p, node, &one, top, s.index[i], call->error));
    }
    return HOLO_OK;
}

enum { OUTPUTS_MAX = 3 };

// Memory of its own for outputs of the types of others.
static HoloStatus outputs_take(const HoloCall *call, HoloTensor *out, HoloTensor **list)
{
    for (int i = 0; i < call->out_count; i++) {
        if (!call->out[i]) continue;
        out[i]      = *call->out[i];
        out[i].data = holo_memory_take(holo_tensor_bytes(&out[i]) + 1, 0);
        list[i]     = &out[i];
        if (!out[i].data) return holo_fail_memory(call->error);
    }
    return HOLO_OK;
}

static void outputs_free(HoloTensor *out)
{
    for (int i = 0; i < OUTPUTS_MAX; i++)
        if (out[i].data) holo_memory_free(out[i].data, holo_tensor_bytes(&out[i]) + 1);
}

// Evaluates plainly into memory of its own and compares every element.
static HoloStatus plain_judge(HoloProducts *p, const HoloNode *node, const HoloCall *call)
{
    HoloTensor plain[OUTPUTS_MAX] = {{0}}, *list[OUTPUTS_MAX] = {NULL};
    HoloCall   eval   = *call;
    HoloStatus status = outputs_take(call, plain, list);
    eval.out          = list;
    if (!status) status = holo_op_eval(&eval);
    for (int i = 0; i < call->out_count && !status; i++) {
        Judge all = {.want = list[i], .got = call->out[i]};
        if (list[i]) status = compare(p, node, &all, largest(p, &all), 0, call->error);
    }
    outputs_free(plain);
    return status;
}

// ---- recurrences: the first steps of a sequence, as a sequence of their own

// Where states are rounded to few steps, one that falls on the other side moves all that follow: the first is judged.
enum { STEPS = 16, ROUNDED_STEPS = 1, INPUTS_MAX = 12, LENGTHS = 4 };

// `fast` is the call as the kernel sees it, `call` as eval does. Sequences lie along the first axis of x and of the first
// output, and none has a length of its own.
static HoloStatus steps_judge(HoloProducts *p, const HoloNode *node, const HoloCall *fast, const HoloCall *call,
                              const HoloKernel *kernel)
{
    HoloTensor        x = *call->in[0], y = *call->out[0], out[OUTPUTS_MAX] = {{0}}, *list[OUTPUTS_MAX] = {NULL};
    HoloTensor       *types[OUTPUTS_MAX] = {&y};
    const HoloTensor *in[INPUTS_MAX]     = {&x};
    HoloCall          few = *fast, plain = *call;
    int64_t           steps = kernel->id == HOLO_KERNEL_lstm_i8 ? ROUNDED_STEPS : STEPS;
    x.dim[0] = y.dim[0] = x.dim[0] < steps ? x.dim[0] : steps;
    for (int i = 1; i < call->in_count; i++) in[i] = call->in[i];
    for (int i = 1; i < call->out_count; i++) types[i] = call->out[i];
    few.in = plain.in = in;
    few.out           = types;
    HoloStatus status = outputs_take(&few, out, list);
    few.out = plain.out = list;
    size_t scratch      = 0;
    if (!status) status = kernel->check(&few, &scratch);
    if (!status) status = scratch_reserve(p, scratch, call->error);
    if (!status) status = kernel->run(&few);
    if (!status) status = plain_judge(p, node, &plain);
    outputs_free(out);
    return status;
}

// ---- slices of rows

// How many of the last axes the operator works over; -1: the output is not made row by row.
static int row_axes(const HoloCall *call, const HoloLowering *lowering)
{
    if (lowering->kernel == HOLO_KERNEL_softmax_f32) return (int)lowering->softmax.axes;
    if (lowering->kernel == HOLO_KERNEL_norm_f32 && lowering->norm.axes) return (int)lowering->norm.axes;
    return call->op->flags & HOLO_OP_POINTWISE ? 0 : -1;
}

// Which axis the rows of a slice lie along: all behind it are whole, and those that the operator works over
// are behind it. -1: the output is not made row by row, or it is small.
static int slice_axis(const HoloCall *call, const HoloLowering *lowering)
{
    const HoloTensor *out  = call->out[0];
    int               axes = row_axes(call, lowering);
    if (axes < 0 || out->dtype != HOLO_F32 || holo_tensor_count(out) <= (int64_t)SLICES * SLICE_ELEMENTS) return -1;
    for (int axis = 0; axis < out->rank - axes; axis++)
        if (holo_product(out->rank - axis - 1, out->dim + axis + 1) <= SLICE_ELEMENTS) return axis;
    return -1;
}

// Rows of the output: `count` from row `first` on, counted over all axes up to `axis`, and alike in all before it.
typedef struct Slice {
    int     axis;
    int64_t first, count;
} Slice;

// What of a tensor, the output or an input that broadcasts to it, belongs to the slice.
static HoloTensor slice_view(const HoloTensor *out, const HoloTensor *t, const Slice *s)
{
    HoloTensor view   = *t;
    int        before = out->rank - t->rank; // axes that t does not have
    int64_t    row = s->first, offset = 0;
    for (int axis = s->axis; axis >= before; axis--) {
        int     d = axis - before;
        int64_t c = row % out->dim[axis], size = t->dim[d];
        row /= out->dim[axis];
        if (size != 1) offset += c * holo_product(t->rank - d - 1, t->dim + d + 1);
        view.dim[d] = size != 1 && axis == s->axis ? s->count : 1;
    }
    view.data = (char *)t->data + (size_t)offset * holo_dtype_size(t->dtype);
    return view;
}

// The first slice is at the beginning and the second at the end, where kernels do what they do nowhere else.
static Slice slice_at(HoloProducts *p, const HoloTensor *out, int axis, int number)
{
    int64_t width = holo_product(out->rank - axis - 1, out->dim + axis + 1), size = out->dim[axis];
    int64_t count = SLICE_ELEMENTS / (width ? width : 1), rows = holo_product(axis + 1, out->dim);
    int64_t first = (int64_t)(holo_random_next(&p->random) % (uint64_t)rows);
    if (number < 2) first = number ? rows - 1 : 0;
    if (count > size) count = size;
    if (first % size > size - count) first -= first % size - (size - count);
    return (Slice){.axis = axis, .first = first, .count = count};
}

// Evaluates one slice plainly, into `plain`.
static HoloStatus slice_eval(const HoloCall *call, const Slice *s, float *plain)
{
    HoloTensor        in[HOLO_MAP_INPUTS], out = slice_view(call->out[0], call->out[0], s), *outputs[1] = {&out};
    const HoloTensor *inputs[HOLO_MAP_INPUTS] = {NULL};
    for (int i = 0; i < call->in_count; i++) {
        if (!call->in[i]) continue;
        in[i]     = slice_view(call->out[0], call->in[i], s);
        inputs[i] = &in[i];
    }
    out.data      = plain;
    HoloCall eval = *call;
    eval.in       = inputs;
    eval.out      = outputs;
    return holo_op_eval(&eval);
}

static HoloStatus slice_judge(HoloProducts *p, const HoloNode *node, const HoloCall *call, const Slice *s,
                              const float *plain)
{
    HoloTensor got = slice_view(call->out[0], call->out[0], s), want = got;
    int64_t    shift = (const float *)got.data - (const float *)call->out[0]->data;
    want.data        = (void *)plain;
    Judge part       = {.want = &want, .got = &got};
    return compare(p, node, &part, largest(p, &part), shift, call->error);
}

// The slices are evaluated before the kernel runs, which may write over its input.
static HoloStatus run_sliced(HoloProducts *p, const HoloNode *node, HoloCall *fast, const HoloCall *call, int axis,
                             const HoloKernel *kernel)
{
    size_t bytes = (size_t)SLICES * SLICE_ELEMENTS * sizeof(float);
    float *plain = holo_memory_take(bytes, 0);
    Slice  slice[SLICES];
    if (!plain) return holo_fail_memory(call->error);
    HoloStatus status = HOLO_OK;
    for (int i = 0; i < SLICES && !status; i++) {
        slice[i] = slice_at(p, call->out[0], axis, i);
        status   = slice_eval(call, &slice[i], plain + (size_t)i * SLICE_ELEMENTS);
    }
    if (!status) status = kernel->run(fast);
    for (int i = 0; i < SLICES && !status; i++)
        status = slice_judge(p, node, call, &slice[i], plain + (size_t)i * SLICE_ELEMENTS);
    holo_memory_free(plain, bytes);
    return status;
}

// ---- in place of eval, and after each node

static int in_place(void *context, const HoloNode *node, const HoloCall *call)
{
    (void)context;
    HoloLowering lowering = holo_lower_choose(node);
    if (!holo_kernel_is_in_place(lowering.kernel) || slice_axis(call, &lowering) < 0) return -1;
    for (int i = 0; i < call->in_count; i++)
        if (call->in[i] && holo_tensor_count(call->in[i]) == holo_tensor_count(call->out[0])) return i;
    return -1;
}

static HoloStatus instead(void *context, const HoloNode *node, HoloCall *call)
{
    HoloProducts *p        = context;
    HoloLowering  lowering = holo_lower_choose(node);
    holo_lower_unpack(&lowering);
    const HoloKernel *kernel    = lowering.kernel ? holo_kernel_find(lowering.kernel) : NULL;
    bool              has_steps = holo_lower_is_recurrent(lowering.kernel) && call->in_count <= INPUTS_MAX &&
                     call->out_count <= OUTPUTS_MAX && !holo_in(call, LENGTHS);
    if (!kernel || !call->out[0] || (call->out_count != 1 && !has_steps)) return HOLO_UNSUPPORTED;
    HoloCall fast    = *call;
    fast.host        = &p->host;
    fast.params      = lowering.params;
    fast.params_size = lowering.params_size;
    size_t scratch   = 0;
    if (!p->blurs) p->result->nodes++;
    if (has_steps && !p->blurs) HOLO_TRY(steps_judge(p, node, &fast, call, kernel));
    HOLO_TRY(kernel->check(&fast, &scratch));
    HOLO_TRY(scratch_reserve(p, scratch, call->error));
    if (has_steps) return kernel->run(&fast);
    int axis = slice_axis(call, &lowering);
    if (axis >= 0 && !p->blurs) return run_sliced(p, node, &fast, call, axis, kernel);
    HoloStatus status = kernel->run(&fast);
    holo_arena_reset(&p->temp, (HoloArenaMark){0});
    if (status || p->blurs) return status;
    return work_of(call) > work_plain ? sample_judge(p, node, call) : plain_judge(p, node, call);
}

double holo_rounding_of(HoloDtype dtype)
{
    static const double rounding[] = {
        [HOLO_F16] = 0x1p-11, [HOLO_BF16] = 0x1p-8, [HOLO_F32] = 0x1p-24, [HOLO_F64] = 0x1p-53};
    return dtype < HOLO_COUNT(rounding) ? rounding[dtype] : 0;
}

typedef struct Blur {
    HoloTensor *t;
    double      by;
    bool        is_sum; // of products: what is near zero may be the difference of large numbers
    uint64_t    seed;
} Blur;

enum { BLUR_PART = 1 << 15 };

static double mean_size(const HoloTensor *t, int64_t first, int64_t end)
{
    double sum = 0;
    for (int64_t k = first; k < end; k++) {
        double x = fabs(holo_get_f(t, k));
        sum += isfinite(x) ? x : 0;
    }
    return sum / (double)(end - first);
}

static void blur_part(void *arg, int64_t part, int worker)
{
    (void)worker;
    const Blur *b      = arg;
    HoloRandom  random = {b->seed ^ (uint64_t)part << 24};
    int64_t     first = part * BLUR_PART, end = holo_least(first + BLUR_PART, holo_tensor_count(b->t));
    float      *x    = b->t->dtype == HOLO_F32 ? b->t->data : NULL;
    double      mean = b->is_sum ? mean_size(b->t, first, end) : 0;
    for (int64_t k = first; k < end; k++) {
        double off = b->by * (holo_random_unit(&random) * 2 - 1), y = x ? (double)x[k] : holo_get_f(b->t, k);
        if (y != rint(y)) y += off * (fabs(y) + mean);
        if (x)
            x[k] = (float)y;
        else
            holo_put_f(b->t, k, y);
    }
}

// What is cast to a wider type is what it was.
static bool is_computed(const HoloCall *call)
{
    if (call->op->flags & HOLO_OP_MOVES) return false;
    if (strcmp(call->op->name, "Cast") || *call->op->domain || !call->in[0] || !call->out[0]) return true;
    HoloDtype from = (HoloDtype)call->in[0]->dtype, to = (HoloDtype)call->out[0]->dtype;
    return holo_rounding_of(from) < holo_rounding_of(to);
}

// Puts elements that were computed off by up to four roundings of their type, and of the size that their kind has on average
// where they are sums, at random. What is only moved stays, and whole numbers do: they may be sizes, of which a Range has one
// element more, and Ceil gives the next, when they are not.
static void blur(HoloProducts *p, const HoloCall *call)
{
    for (int i = 0; i < call->out_count && is_computed(call); i++) {
        HoloTensor *t     = call->out[i];
        double      by    = t ? 4 * holo_rounding_of((HoloDtype)t->dtype) : 0;
        Blur        b     = {t, by, call->op->at, holo_random_next(&p->random)};
        int64_t     count = b.by > 0 && t->kind == HOLO_TENSOR && t->data ? holo_tensor_count(t) : 0;
        p->host.parallel(&p->host, holo_ceil_div(count, BLUR_PART), blur_part, &b);
    }
}

static void after(void *context, const HoloNode *node, const HoloCall *call)
{
    HoloProducts            *p = context;
    const HoloVerifyOptions *o = p->options;
    if (p->blurs) blur(p, call);
    for (int i = 0; o->release && i < node->in_count; i++) {
        const HoloValue *v = node->in[i];
        if (v && v->is_constant && v->type.data) o->release(o->context, v->type.data, holo_tensor_bytes(&v->type));
    }
    p->done++;
    if (o->progress && p->graph->node_count) o->progress(o->context, (double)p->done / (double)p->graph->node_count);
}

HoloEvalOptions holo_products_options(HoloProducts *products)
{
    return (HoloEvalOptions){.instead  = instead,
                             .in_place = in_place,
                             .after    = after,
                             .context  = products,
                             .threads  = &products->host,
                             .turns    = &products->turns};
}
