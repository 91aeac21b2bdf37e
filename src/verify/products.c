// products.c - kernels in the reference: each is judged on its own, by plain evaluation of the same inputs.
//
// The kernel's result is what later nodes read. So the reference and the plan round alike, and a model that quantizes
// inside cannot amplify a difference. Plain evaluation of a large product would take minutes, so a seeded sample of its
// elements is computed exactly, in double. Large outputs that are computed row by row are judged by some slices of rows
// and written in place, so that memory stays close to what the plan needs. Recurrences are judged by the first steps of
// their sequences. When everything is computed again with other roundings, kernels only run: they were judged before.
#include "verify/products.h"

#include "base/files.h"
#include "base/memory.h"
#include "lower/cpu/cpu_target.h"
#include "ops/contract.h"
#include "runtime/pool.h"
#include "verify/judge.h"

#include <math.h>
#include <stdio.h>

enum { SLICES = 4, SLICE_ELEMENTS = 1 << 15, TURNS_MAX = 1 << 16 };
static const double work_plain = 1e6; // most multiplications that are done plainly

static void *host_temp(const HoloHost *host, size_t size)
{
    return holo_arena_take(&((HoloProducts *)(uintptr_t)host)->temp, size); // the host is the first member
}

static void host_parallel(const HoloHost *host, int64_t count, void (*work)(void *, int64_t, int), void *arg)
{
    holo_pool_run(((const HoloProducts *)(const void *)host)->pool, count, work, arg);
}

void holo_products_init(HoloProducts *products, const HoloGraph *graph, const HoloLowered *lowered,
                        const HoloKernelTable *kernels, const HoloVerifyOptions *options, HoloVerifyResult *result)
{
    *products = (HoloProducts){
        .host    = {.temp = host_temp, .keep = host_temp, .parallel = host_parallel, .stop = holo_scope_stop()},
        .pool    = options->pool,
        .graph   = graph,
        .lowered = lowered,
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

// The second operand of a product. In quantized operators it is between scales and zero points.
static int operand_of(const HoloCall *call)
{
    return holo_op_is(call->op, HOLO_ID_QLinearMatMul) || holo_op_is(call->op, HOLO_ID_QLinearConv) ? 3 : 1;
}

static bool is_conv(const HoloOp *op)
{
    return holo_op_is(op, HOLO_ID_Conv) || holo_op_is(op, HOLO_ID_HOLOGRAM_Conv) ||
           holo_op_is(op, HOLO_ID_ConvInteger) || holo_op_is(op, HOLO_ID_QLinearConv);
}

// Multiplications of a product: each output element is a sum over the weights of its column, row or channel. 0: the
// operator has no exact element to compare with.
static double work_of(const HoloCall *call)
{
    const HoloTensor *a = holo_in(call, 0), *b = holo_in(call, operand_of(call));
    if (!call->op->at || !a || !b || !call->out[0]) return 0;
    double out = (double)holo_tensor_count(call->out[0]), weights = (double)holo_tensor_count(b);
    if (b->rank >= 3 && is_conv(call->op)) return out * weights / (double)(b->dim[0] + 1);
    return sqrt((double)holo_tensor_count(a) * weights * out);
}

// Takes at least this much scratch for each worker of the host.
static HoloStatus reserve(HoloProducts *p, size_t scratch, HoloError *error)
{
    size_t stride = holo_align(scratch, 4096);
    if (stride <= p->host.scratch_stride) return HOLO_OK;
    holo_memory_free(p->host.scratch, p->scratch_size);
    p->scratch_size        = stride * (size_t)p->host.workers;
    p->host.scratch        = holo_memory_take(p->scratch_size, 0);
    p->host.scratch_stride = p->host.scratch ? stride : 0;
    return p->host.scratch ? HOLO_OK : holo_fail_memory(error);
}

HoloStatus holo_products_prepare(HoloProducts *p, const HoloCpuKernel *kernel, const HoloCall *call, void **out_job)
{
    size_t scratch = 0;
    holo_arena_reset(&p->temp, (HoloArenaMark){0});
    *out_job = holo_arena_take(&p->temp, kernel->job_size);
    if (!*out_job) return holo_fail_memory(call->error);
    HOLO_TRY(holo_cpu_kernel_prepare(kernel, call, *out_job, &scratch));
    return reserve(p, scratch, call->error);
}

// ---- recurrences: the first steps of a sequence, as a sequence of their own

// If states are rounded to few steps, one that rounds the other way changes all that follow. So only the first is
// judged.
enum { STEPS = 16, ROUNDED_STEPS = 1, INPUTS_MAX = 12, LENGTHS = 4 };

// `fast` is the call as the kernel sees it, `call` as eval does. Sequences lie along the first axis of x and of the
// first output, and none has a length of its own.
static HoloStatus steps_judge(HoloProducts *p, const HoloNode *node, const HoloCall *fast, const HoloCall *call,
                              const HoloCpuKernel *kernel)
{
    HoloTensor x = *call->in[0], y = *call->out[0], out[HOLO_JUDGE_OUTPUTS] = {{0}}, *list[HOLO_JUDGE_OUTPUTS] = {NULL};
    HoloTensor       *types[HOLO_JUDGE_OUTPUTS] = {&y};
    const HoloTensor *in[INPUTS_MAX]            = {&x};
    HoloCall          few = *fast, plain = *call;
    int64_t           steps = kernel->id == HOLO_KERNEL_lstm_i8 ? ROUNDED_STEPS : STEPS;
    x.dim[0] = y.dim[0] = x.dim[0] < steps ? x.dim[0] : steps;
    for (int i = 1; i < call->in_count; i++) in[i] = call->in[i];
    for (int i = 1; i < call->out_count; i++) types[i] = call->out[i];
    few.in = plain.in = in;
    few.out           = types;
    HoloStatus status = holo_judge_outputs_take(&few, out, list);
    few.out = plain.out = list;
    void *job           = NULL;
    if (!status) status = holo_products_prepare(p, kernel, &few, &job);
    if (!status) status = kernel->run(&few, job);
    if (!status) status = holo_judge_plain(p, node, &plain);
    holo_judge_outputs_free(out);
    return status;
}

// ---- slices of rows

// Products whose rows are those of their first input; each needs the whole matrix of the other.
static bool is_row_product(const HoloCall *call)
{
    static const struct {
        HoloOpId id;
        int      zero; // the zero point of the first input, one number
    } rows[] = {{HOLO_ID_MatMulInteger, 2}, {HOLO_ID_QLinearMatMul, 2}, {HOLO_ID_MICROSOFT_MatMulIntegerToFloat, 4}};
    const HoloTensor *a = holo_in(call, 0), *out = call->out[0];
    for (int i = 0; i < HOLO_COUNT(rows); i++) {
        if (!holo_op_is(call->op, rows[i].id)) continue;
        const HoloTensor *zero = holo_in(call, rows[i].zero), *b = holo_in(call, operand_of(call));
        if (!a || !b || b->rank < 2 || a->rank < 2 || a->rank != out->rank || b->rank > out->rank) return false;
        if (zero && holo_tensor_count(zero) != 1) return false;
        bool is_one_scale = i == 0 || (call->in[i == 1 ? 1 : 2] && holo_tensor_count(call->in[i == 1 ? 1 : 2]) == 1);
        return is_one_scale;
    }
    return false;
}

// How many of the last axes the operator works over; -1: the output is not computed row by row.
static int row_axes(const HoloCall *call, const HoloLowering *lowering)
{
    if (lowering->kernel == HOLO_KERNEL_softmax_f32) return (int)lowering->softmax.axes;
    if (lowering->kernel == HOLO_KERNEL_norm_f32 && lowering->norm.axes) return (int)lowering->norm.axes;
    if (is_row_product(call)) return 1;
    if (lowering->kernel == HOLO_KERNEL_quantize_i8 && call->out_count == 1) return 0;
    if (lowering->kernel == HOLO_KERNEL_pair_i8) return 0;
    return call->op->flags & HOLO_OP_POINTWISE ? 0 : -1;
}

// The axis along which the rows of a slice lie: all axes behind it are complete, and the operator works over some of
// these. -1: the output is not computed row by row, or it is small.
static int slice_axis(const HoloCall *call, const HoloLowering *lowering)
{
    const HoloTensor *out  = call->out[0];
    int               axes = row_axes(call, lowering);
    if (axes < 0 || holo_dtype_size(out->dtype) > sizeof(double) ||
        holo_tensor_count(out) <= (int64_t)SLICES * SLICE_ELEMENTS)
        return -1;
    for (int axis = 0; axis < out->rank - axes; axis++)
        if (holo_product(out->rank - axis - 1, out->dim + axis + 1) <= SLICE_ELEMENTS) return axis;
    return -1;
}

// Rows of the output: `count` from row `first` on, counted over all axes up to `axis`.
typedef struct Slice {
    int     axis;
    int64_t first, count;
} Slice;

// The part of a tensor, the output or an input that broadcasts to it, that belongs to the slice.
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

// The first slice is at the beginning and the second at the end, where kernels handle special cases.
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

// The matrices that the rows of a slice are multiplied with.
static HoloTensor slice_matrix(const HoloTensor *out, const HoloTensor *b, const Slice *s)
{
    Slice of = *s;
    if (b->rank == 2) return *b;
    if (s->axis == out->rank - 2)
        of = (Slice){.axis = out->rank - 3, .first = s->first / out->dim[s->axis], .count = 1};
    return slice_view(out, b, &of);
}

// The scales or zero points that the slice takes, of one for each index of an axis.
static HoloTensor slice_scales(const HoloCall *call, const HoloTensor *t, const Slice *s)
{
    const HoloTensor *out  = call->out[0];
    int               axis = 0;
    HoloTensor        wide = *t;
    if (t->rank != 1 || t->dim[0] == 1) return *t;
    if (out->rank > 1) axis = (int)holo_attr_int(call, "axis", 1);
    if (axis < 0) axis += out->rank;
    wide.rank = out->rank;
    for (int d = 0; d < out->rank; d++) wide.dim[d] = d == axis ? t->dim[0] : 1;
    HoloTensor view = slice_view(out, &wide, s);
    view.dim[0]     = view.dim[axis];
    view.rank       = 1;
    return view;
}

// Evaluates one slice plainly, into `plain`.
static HoloStatus slice_eval(const HoloCall *call, const Slice *s, void *plain)
{
    HoloTensor        in[HOLO_MAP_INPUTS], out = slice_view(call->out[0], call->out[0], s), *outputs[1] = {&out};
    const HoloTensor *inputs[HOLO_MAP_INPUTS] = {NULL};
    int               matrix                  = is_row_product(call) ? operand_of(call) : -1;
    bool              is_quantizing           = call->op->flags & (HOLO_OP_QUANTIZES | HOLO_OP_DEQUANTIZES);
    for (int i = 0; i < call->in_count; i++) {
        if (!call->in[i]) continue;
        bool is_sliced = i == 0 || (matrix < 0 && !is_quantizing);
        in[i]          = is_sliced ? slice_view(call->out[0], call->in[i], s) : *call->in[i];
        if (i == matrix) in[i] = slice_matrix(call->out[0], call->in[i], s);
        if (i && is_quantizing) in[i] = slice_scales(call, call->in[i], s);
        inputs[i] = &in[i];
    }
    out.data      = plain;
    HoloCall eval = *call;
    eval.in       = inputs;
    eval.out      = outputs;
    return holo_op_eval(&eval);
}

static HoloStatus slice_judge(HoloProducts *p, const HoloNode *node, const HoloCall *call, const Slice *s, void *plain)
{
    HoloTensor got = slice_view(call->out[0], call->out[0], s), want = got;
    size_t     bytes = (size_t)((const char *)got.data - (const char *)call->out[0]->data);
    want.data        = plain;
    return holo_judge_compare(p, node, &want, &got, (int64_t)(bytes / holo_dtype_size(got.dtype)), call->error);
}

// The slices are evaluated before the kernel runs, because it may write over its input.
static HoloStatus run_sliced(HoloProducts *p, const HoloNode *node, HoloCall *fast, const HoloCall *call, int axis,
                             const HoloCpuKernel *kernel, void *job)
{
    size_t each = (size_t)SLICE_ELEMENTS * holo_dtype_size(call->out[0]->dtype), bytes = SLICES * each;
    char  *plain = holo_memory_take(bytes, 0);
    Slice  slice[SLICES];
    if (!plain) return holo_fail_memory(call->error);
    HoloStatus status = HOLO_OK;
    for (int i = 0; i < SLICES && !status; i++) {
        slice[i] = slice_at(p, call->out[0], axis, i);
        status   = slice_eval(call, &slice[i], plain + (size_t)i * each);
    }
    if (!status) status = kernel->run(fast, job);
    for (int i = 0; i < SLICES && !status; i++)
        status = slice_judge(p, node, call, &slice[i], plain + (size_t)i * each);
    holo_memory_free(plain, bytes);
    return status;
}

// ---- instead of eval, and after each node

// Bodies of operators are made while the reference is computed, so no stage has lowered their nodes.
static HoloLowering lowering_of(const HoloProducts *p, const HoloNode *node)
{
    const HoloLoweredNode *of = holo_lowered_find(p->lowered, node);
    return of ? of->lowering : holo_cpu_choose(node);
}

static int in_place(void *context, const HoloNode *node, const HoloCall *call)
{
    HoloLowering lowering = lowering_of(context, node);
    if (!holo_kernel_is_in_place(lowering.kernel) || slice_axis(call, &lowering) < 0) return -1;
    for (int i = 0; i < call->in_count; i++)
        if (call->in[i] && holo_tensor_count(call->in[i]) == holo_tensor_count(call->out[0])) return i;
    return -1;
}

static HoloStatus instead(void *context, const HoloNode *node, HoloCall *call)
{
    HoloProducts *p        = context;
    HoloLowering  lowering = lowering_of(p, node);
    if (!lowering.kernel && call->out_count == 1 && work_of(call) > work_plain)
        return holo_products_narrow(p, node, call);
    holo_cpu_unpack(&lowering);
    const HoloCpuKernel *kernel    = lowering.kernel ? holo_cpu_kernel_find(lowering.kernel) : NULL;
    bool                 has_steps = holo_cpu_is_recurrent(lowering.kernel) && call->in_count <= INPUTS_MAX &&
                     call->out_count <= HOLO_JUDGE_OUTPUTS && !holo_in(call, LENGTHS);
    if (!kernel || !call->out[0] || (call->out_count != 1 && !has_steps)) return HOLO_UNSUPPORTED;
    HoloCall fast    = *call;
    fast.host        = &p->host;
    fast.params      = lowering.params;
    fast.params_size = lowering.params_size;
    void *job        = NULL;
    if (!p->blurs) p->result->nodes++;
    if (has_steps && !p->blurs) HOLO_TRY(steps_judge(p, node, &fast, call, kernel));
    HOLO_TRY(holo_products_prepare(p, kernel, &fast, &job));
    if (has_steps) return kernel->run(&fast, job);
    int axis = slice_axis(call, &lowering);
    if (axis >= 0 && !p->blurs) return run_sliced(p, node, &fast, call, axis, kernel, job);
    HoloStatus status = kernel->run(&fast, job);
    holo_arena_reset(&p->temp, (HoloArenaMark){0});
    if (status || p->blurs) return status;
    return work_of(call) > work_plain ? holo_judge_sample(p, node, call) : holo_judge_plain(p, node, call);
}

static void after(void *context, const HoloNode *node, const HoloCall *call)
{
    HoloProducts            *p = context;
    const HoloVerifyOptions *o = p->options;
    if (p->blurs) holo_blur(p, call);
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
