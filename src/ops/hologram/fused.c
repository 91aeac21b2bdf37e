// fused.c - operators of domain "hologram" that the compiler makes from others: Pointwise, a program over inputs that
// broadcast together; MatMul with a bias; Conv, GroupNormalization and pools with channels last. Those with three
// inputs have a tail, a program with their result as x0 and further inputs as x1, x2 .... All are f32, and results are
// rounded to f32 between steps.
//
// They mean what the operators mean that they replace: there is no second convolution or product here.
#include "format/small_float.h"
#include "ops/channels_last.h"
#include "ops/hologram/program.h"

// ---- programs over inputs

// The operands of a call's program: `first`, and the call's inputs from `from` on.
typedef struct Operands {
    HoloProgram       program;
    uint32_t          used; // a bit for each that is read
    const HoloTensor *in[HOLO_MAP_INPUTS];
} Operands;

static HoloStatus operands_init(const HoloCall *call, const HoloTensor *first, int from, Operands *out)
{
    *out      = (Operands){0};
    int count = 0;
    HOLO_TRY(holo_program_read(call, &out->program));
    holo_program_is_valid(&out->program, &out->used);
    if (first) out->in[count++] = first;
    for (int i = from; i < call->in_count && count < HOLO_MAP_INPUTS; i++) out->in[count++] = call->in[i];
    for (int i = 0; i < HOLO_MAP_INPUTS; i++) {
        if (!(out->used >> i & 1)) continue;
        if (!out->in[i]) return holo_call_fail(call, HOLO_BAD_MODEL, "the program reads x%d, which is missing", i);
        if (out->in[i]->dtype != HOLO_F32)
            return holo_call_fail(call, HOLO_BAD_MODEL, "the program reads x%d, which is not f32", i);
    }
    return HOLO_OK;
}

HoloStatus holo_program_tail_check(const HoloCall *call, int from)
{
    const HoloTensor *out = call->out[0];
    Operands          o;
    if (!out) return holo_call_fail(call, HOLO_BAD_MODEL, "the output is missing");
    HOLO_TRY(operands_init(call, out, from, &o));
    for (int i = 1; i < HOLO_MAP_INPUTS; i++) {
        if (!(o.used >> i & 1)) continue;
        int before = out->rank - o.in[i]->rank;
        for (int d = 0; d < o.in[i]->rank; d++) {
            HoloDim have = o.in[i]->dim[d], want = before < 0 ? 0 : out->dim[before + d];
            if (before < 0 || (have != 1 && holo_dims_differ(have, want)))
                return holo_call_fail(call, HOLO_BAD_MODEL, "x%d does not broadcast to the result", i);
        }
    }
    return HOLO_OK;
}

HoloStatus holo_program_tail_eval(HoloCall *call, int from)
{
    Operands o;
    HOLO_TRY(operands_init(call, call->out[0], from, &o));
    if (o.program.count) holo_program_eval(&o.program, o.in, call->out[0]);
    return HOLO_OK;
}

// The call as a call of another operator, with only its first inputs.
static HoloCall call_as(const HoloCall *call, const char *domain, const char *name, int version, int in_count)
{
    HoloCall other = *call;
    other.op       = holo_op_find(domain, name, version);
    other.version  = version;
    if (other.in_count > in_count) other.in_count = in_count;
    return other;
}

// ---- Pointwise

static HoloStatus pointwise_infer(HoloCall *call)
{
    Operands o;
    HoloDim  dim[HOLO_MAX_RANK];
    int      rank;
    HOLO_TRY(operands_init(call, NULL, 0, &o));
    HOLO_TRY(holo_broadcast(call, 0, call->in_count, &rank, dim));
    return holo_out_type(call, 0, HOLO_F32, rank, dim);
}

static HoloStatus pointwise_eval(HoloCall *call)
{
    Operands o;
    HOLO_TRY(operands_init(call, NULL, 0, &o));
    holo_program_eval(&o.program, o.in, call->out[0]);
    return HOLO_OK;
}

// ---- MatMul: that of com.microsoft.FusedMatMul, with its attributes, and a bias for each column. The weights, input 1,
// may be of f16 or bf16.

static HoloStatus matmul_infer(HoloCall *call)
{
    HoloCall          product = call_as(call, "com.microsoft", "FusedMatMul", 1, 2);
    const HoloTensor *bias    = holo_in(call, 2);
    const HoloTensor *out     = call->out[0];
    HoloTensor        wide    = *call->in[1];
    const HoloTensor *in[2]   = {call->in[0], &wide};
    if (!out) return holo_call_fail(call, HOLO_BAD_MODEL, "the output is missing");
    HOLO_TRY(holo_expect_types(call, 1, HOLO_BIT(F32) | HOLO_BIT(F16) | HOLO_BIT(BF16)));
    wide.dtype = HOLO_F32;
    product.in = in;
    HOLO_TRY(product.op->infer(&product));
    if (bias && (bias->dtype != HOLO_F32 || bias->rank != 1 || !out->rank ||
                 holo_dims_differ(bias->dim[0], out->dim[out->rank - 1])))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the bias must have an f32 for each column of the product");
    return holo_program_tail_check(call, 3);
}

static void halves_read(const HoloTensor *t, float *out)
{
    const uint16_t *half = t->data;
    for (int64_t i = 0, count = holo_tensor_count(t); i < count; i++)
        out[i] = t->dtype == HOLO_F16 ? holo_f16_decode(half[i]) : holo_bf16_decode(half[i]);
}

static HoloStatus matmul_eval(HoloCall *call)
{
    HoloCall          product = call_as(call, "com.microsoft", "FusedMatMul", 1, 2);
    const HoloTensor *w = call->in[1], *given[2] = {call->in[0], w};
    HoloTensor        wide = *w;
    if (w->dtype != HOLO_F32) {
        wide.dtype = HOLO_F32;
        HOLO_TRY(holo_call_temp(call, (size_t)holo_tensor_count(w), sizeof(float), &wide.data));
        halves_read(w, wide.data);
        given[1] = &wide;
    }
    product.in = given;
    HOLO_TRY(product.op->eval(&product));
    static const HoloProgram add                 = {.count = 1, .step = {{.op = HOLO_MAP_add, .a = 0, .b = 1}}};
    const HoloTensor        *in[HOLO_MAP_INPUTS] = {call->out[0], holo_in(call, 2)};
    if (in[1]) holo_program_eval(&add, in, call->out[0]);
    return holo_program_tail_eval(call, 3);
}

// ---- channels last

// The standard operator that one with channels last replaces. Further inputs belong to the tail.
typedef struct Last {
    const char *name;
    int         version, in_count;
} Last;

static HoloStatus last_infer(HoloCall *call)
{
    const Last *row   = call->op->row;
    HoloCall    first = call_as(call, "", row->name, row->version, row->in_count);
    HOLO_TRY(holo_channels_last_infer(&first, 1, first.op->infer));
    return holo_program_tail_check(call, 3);
}

static HoloStatus last_eval(HoloCall *call)
{
    const Last *row   = call->op->row;
    HoloCall    first = call_as(call, "", row->name, row->version, row->in_count);
    HOLO_TRY(holo_channels_last_eval(&first, 1, first.op->infer, first.op->eval));
    return holo_program_tail_eval(call, 3);
}

#define ROW(title, ins, many, ...)                                                                              \
    .name = title, .domain = "hologram", .since = 1, .in_min = ins, .in_max = many, .out_min = 1, .out_max = 1, \
    .types = HOLO_BIT(F32), __VA_ARGS__
#define LAST(title, version, ins, many)                                                     \
    {                                                                                       \
        ROW(title, ins, many, .infer = last_infer, .eval = last_eval), .row = &(const Last) \
        {                                                                                   \
            title, version, many > 3 ? 3 : many                                             \
        }                                                                                   \
    }

const HoloOp holo_ops_fused[] = {
    {ROW("Pointwise", 1, HOLO_MAP_INPUTS, .flags = HOLO_OP_POINTWISE, .infer = pointwise_infer,
         .eval = pointwise_eval)},
    {ROW("MatMul", 2, 5 + HOLO_MAP_INPUTS, // targets may put three inputs, which are not read, behind those of the tail
         .infer = matmul_infer, .eval = matmul_eval)},
    LAST("Conv", 22, 2, 2 + HOLO_MAP_INPUTS),
    LAST("GroupNormalization", 21, 3, 2 + HOLO_MAP_INPUTS),
    LAST("MaxPool", 22, 1, 1),
    LAST("AveragePool", 22, 1, 1),
    {0},
};
