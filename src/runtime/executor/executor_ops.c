// executor_ops.c - single operations on buffers, element by element. They are portable programs, built when first asked
// for, for any type that the operation has. executor_rows.c has operations on whole rows.
#include "format/dtype.h"
#include "runtime/executor/executor.h"

#include <string.h>

// ---- programs

typedef enum Kind { UNARY, BINARY, BROADCAST, SCALAR, CLIP, KINDS } Kind;

// The instruction of an operation; RELU and GELU have none of their own.
static const uint16_t instruction[] = {
    [HOLO_OPERATION_ADD]     = HOLO_ISA_ADD,
    [HOLO_OPERATION_SUB]     = HOLO_ISA_SUB,
    [HOLO_OPERATION_MUL]     = HOLO_ISA_MUL,
    [HOLO_OPERATION_DIV]     = HOLO_ISA_DIV,
    [HOLO_OPERATION_MIN]     = HOLO_ISA_MIN,
    [HOLO_OPERATION_MAX]     = HOLO_ISA_MAX,
    [HOLO_OPERATION_POW]     = HOLO_ISA_POW,
    [HOLO_OPERATION_ABS]     = HOLO_ISA_ABS,
    [HOLO_OPERATION_NEG]     = HOLO_ISA_NEG,
    [HOLO_OPERATION_SQRT]    = HOLO_ISA_SQRT,
    [HOLO_OPERATION_RSQRT]   = HOLO_ISA_RSQRT,
    [HOLO_OPERATION_EXP]     = HOLO_ISA_EXP,
    [HOLO_OPERATION_LOG]     = HOLO_ISA_LOG,
    [HOLO_OPERATION_SIN]     = HOLO_ISA_SIN,
    [HOLO_OPERATION_COS]     = HOLO_ISA_COS,
    [HOLO_OPERATION_SIGMOID] = HOLO_ISA_SIGMOID,
    [HOLO_OPERATION_TANH]    = HOLO_ISA_TANH,
    [HOLO_OPERATION_RELU]    = 0,
    [HOLO_OPERATION_GELU]    = 0,
};

#define X(id, value, operands) [HOLO_OPERATION_##id] = operands,
static const uint8_t operand_count[] = {HOLO_OPERATION_MAP(X)};
#undef X

static int gelu(HoloIsaBuilder *b, HoloDtype type, int x)
{
    int cube = holo_isa_value(b, HOLO_ISA_MUL, type, holo_isa_value(b, HOLO_ISA_MUL, type, x, x, 0), x, 0);
    int sum  = holo_isa_value(b, HOLO_ISA_MAD, type, cube, holo_isa_const_float(b, type, 0.044715), x);
    int t    = holo_isa_value(
           b, HOLO_ISA_TANH, type,
           holo_isa_value(b, HOLO_ISA_MUL, type, sum, holo_isa_const_float(b, type, 0.7978845608028654), 0), 0, 0);
    int half = holo_isa_value(b, HOLO_ISA_MUL, type, x, holo_isa_const_float(b, type, 0.5), 0);
    return holo_isa_value(b, HOLO_ISA_MAD, type, half, t, half);
}

static int value_of(HoloIsaBuilder *b, HoloOperation op, HoloDtype type, int x, int y)
{
    if (op == HOLO_OPERATION_GELU) return gelu(b, type, x);
    if (op == HOLO_OPERATION_RELU) return holo_isa_value(b, HOLO_ISA_MAX, type, x, holo_isa_const_int(b, type, 0), 0);
    return holo_isa_value(b, (HoloIsaOp)instruction[op], type, x, y, 0);
}

// out[i] = op(a[i], ...) for each lane.
static HoloStatus build(HoloArena *arena, Kind kind, HoloOperation op, HoloDtype type, HoloIsaProgram *out,
                        HoloError *error)
{
    HoloIsaBuilder b;
    holo_isa_begin(&b, arena, "operation");
    int a = holo_isa_param(&b, "a", type, HOLO_ISA_IN), y = 0, z = 0;
    int to = holo_isa_param(&b, "out", type, HOLO_ISA_OUT),
        i  = holo_isa_special(&b, HOLO_I64, HOLO_ISA_SPECIAL_GLOBAL_ID);
    int x  = holo_isa_load(&b, HOLO_ISA_LD, a, i);
    if (kind == BINARY) y = holo_isa_load(&b, HOLO_ISA_LD, holo_isa_param(&b, "b", type, HOLO_ISA_IN), i);
    if (kind == BROADCAST) {
        int array  = holo_isa_param(&b, "b", type, HOLO_ISA_IN);
        int inner  = holo_isa_get_param(&b, holo_isa_param(&b, "inner", HOLO_I64, HOLO_ISA_VALUE));
        int period = holo_isa_get_param(&b, holo_isa_param(&b, "period", HOLO_I64, HOLO_ISA_VALUE));
        int row    = holo_isa_value(&b, HOLO_ISA_DIV, HOLO_I64, i, inner, 0);
        y          = holo_isa_load(&b, HOLO_ISA_LD, array, holo_isa_value(&b, HOLO_ISA_REM, HOLO_I64, row, period, 0));
    }
    if (kind == SCALAR || kind == CLIP) y = holo_isa_get_param(&b, holo_isa_param(&b, "x", type, HOLO_ISA_VALUE));
    if (kind == CLIP) {
        z = holo_isa_get_param(&b, holo_isa_param(&b, "y", type, HOLO_ISA_VALUE));
        x = holo_isa_value(&b, HOLO_ISA_MAX, type, x, y, 0);
        x = holo_isa_value(&b, HOLO_ISA_MIN, type, x, z, 0);
    } else {
        x = value_of(&b, op, type, x, y);
    }
    holo_isa_store(&b, HOLO_ISA_ST, to, i, x);
    return holo_isa_finish(&b, out, error);
}

static HoloStatus make(HoloExecutor *e, Kind kind, HoloOperation op, HoloDtype type, HoloPortable **out,
                       HoloError *error)
{
    HoloPortable *p = NULL;
    HOLO_TRY(holo_portable_new(e, &p, error));
    HoloStatus status = build(&p->arena, kind, op, type, &p->program, error);
    if (!status) status = holo_portable_ready(e, p, error);
    return holo_portable_end(p, status, out);
}

// Keeps programs by a number made of kind, operation and type. Another program with the same slot replaces an old one.
static HoloStatus program_of(HoloExecutor *e, Kind kind, HoloOperation op, HoloDtype type, HoloPortable **out,
                             HoloError *error)
{
    unsigned key   = ((unsigned)kind * 64 + (unsigned)op) * HOLO_DTYPE_COUNT + (unsigned)type,
             place = key % HOLO_EXECUTOR_MADE;
    if (e->made[place] && e->made[place]->key == key) {
        *out = e->made[place];
        return HOLO_OK;
    }
    HoloPortable *p = NULL;
    HOLO_TRY(make(e, kind, op, type, &p, error));
    p->key = key;
    holo_portable_destroy(e->made[place]);
    *out = e->made[place] = p;
    return HOLO_OK;
}

static HoloStatus run(HoloExecutor *e, Kind kind, HoloOperation op, HoloDtype type, int64_t n, const HoloIsaArg *args,
                      HoloError *error)
{
    HoloPortable *p = NULL;
    HOLO_TRY(program_of(e, kind, op, type, &p, error));
    HoloIsaLaunch launch = {{1, 1, 1}, {1, 1, 1}, 0};
    if (n > INT32_MAX)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "an operation has at most 2^31 - 1 elements: split it");
    launch.block[0] = (uint32_t)n;
    return n ? holo_portable_launch(e, p, &launch, args, error) : HOLO_OK;
}

static HoloStatus operation_check(HoloOperation op, int operands, HoloError *error)
{
    if ((unsigned)op < sizeof operand_count && operand_count[op] == operands) return HOLO_OK;
    return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no operation %d with %d operand%s", (int)op, operands,
                     operands == 1 ? "" : "s");
}

// Checks that `a` and `out` have one type, which is given out, and n elements.
static HoloStatus pair_check(HoloExecutor *e, const HoloBuffer *a, const HoloBuffer *out, int64_t n,
                             HoloDtype *out_type, HoloError *error)
{
    *out_type = a ? a->info.dtype : HOLO_NONE;
    if (!a) return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer is missing");
    HOLO_TRY(holo_executor_need(e, a, *out_type, n, error));
    return holo_executor_need(e, out, *out_type, n, error);
}

HoloStatus holo_executor_map(HoloExecutor *executor, HoloOperation op, const HoloBuffer *a, HoloBuffer *out, int64_t n,
                             HoloError *error)
{
    HOLO_IN(executor->account);
    HoloDtype type;
    HOLO_TRY(operation_check(op, 1, error));
    HOLO_TRY(pair_check(executor, a, out, n, &type, error));
    return run(executor, UNARY, op, type, n, (HoloIsaArg[]){holo_executor_array(a, n), holo_executor_array(out, n)},
               error);
}

HoloStatus holo_executor_combine(HoloExecutor *executor, HoloOperation op, const HoloBuffer *a, const HoloBuffer *b,
                                 int64_t inner, int64_t period, HoloBuffer *out, int64_t n, HoloError *error)
{
    HOLO_IN(executor->account);
    HoloDtype type;
    HOLO_TRY(operation_check(op, 2, error));
    if (inner < 0 || period < 0) return holo_fail(error, HOLO_BAD_ARGUMENT, "inner or period is less than 0");
    HOLO_TRY(pair_check(executor, a, out, n, &type, error));
    HOLO_TRY(holo_executor_need(executor, b, type, period ? period : n, error));
    if (!period)
        return run(executor, BINARY, op, type, n,
                   (HoloIsaArg[]){holo_executor_array(a, n), holo_executor_array(out, n), holo_executor_array(b, n)},
                   error);
    HoloIsaArg args[] = {holo_executor_array(a, n),
                         holo_executor_array(out, n),
                         holo_executor_array(b, period),
                         {.bits = (uint64_t)(inner ? inner : 1)},
                         {.bits = (uint64_t)period}};
    return run(executor, BROADCAST, op, type, n, args, error);
}

HoloStatus holo_executor_combine_scalar(HoloExecutor *executor, HoloOperation op, const HoloBuffer *a, double x,
                                        HoloBuffer *out, int64_t n, HoloError *error)
{
    HOLO_IN(executor->account);
    HoloDtype type;
    HOLO_TRY(operation_check(op, 2, error));
    HOLO_TRY(pair_check(executor, a, out, n, &type, error));
    HoloIsaArg args[] = {
        holo_executor_array(a, n), holo_executor_array(out, n), {.bits = holo_isa_bits_of_float(type, x)}};
    return run(executor, SCALAR, op, type, n, args, error);
}

HoloStatus holo_executor_clip(HoloExecutor *executor, const HoloBuffer *a, double low, double high, HoloBuffer *out,
                              int64_t n, HoloError *error)
{
    HOLO_IN(executor->account);
    HoloDtype type;
    HOLO_TRY(pair_check(executor, a, out, n, &type, error));
    HoloIsaArg args[] = {holo_executor_array(a, n),
                         holo_executor_array(out, n),
                         {.bits = holo_isa_bits_of_float(type, low)},
                         {.bits = holo_isa_bits_of_float(type, high)}};
    return run(executor, CLIP, HOLO_OPERATION_MAX, type, n, args, error);
}

// ---- memory

HoloStatus holo_executor_copy(HoloExecutor *executor, const HoloBuffer *a, HoloBuffer *out, int64_t n, HoloError *error)
{
    HOLO_IN(executor->account);
    HoloDtype type;
    HOLO_TRY(pair_check(executor, a, out, n, &type, error));
    HOLO_TRY(executor->device->transfer(executor->self, HOLO_TRANSFER_WITHIN, out->data, a->data,
                                        (size_t)n * holo_dtype_size(type), error));
    return executor->device->wait(executor->self, error);
}

HoloStatus holo_executor_fill(HoloExecutor *executor, double x, HoloBuffer *out, int64_t n, HoloError *error)
{
    HOLO_IN(executor->account);
    if (!out) return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer is missing");
    HOLO_TRY(holo_executor_need(executor, out, out->info.dtype, n, error));
    uint8_t  pattern[4096];
    size_t   size = holo_dtype_size(out->info.dtype), all = (size_t)n * size;
    uint64_t bits = holo_isa_bits_of_float(out->info.dtype, x);
    for (size_t i = 0; i < sizeof pattern; i += size) memcpy(pattern + i, &bits, size);
    for (size_t at = 0, part; at < all; at += part) {
        part = all - at < sizeof pattern ? all - at : sizeof pattern;
        HOLO_TRY(executor->device->transfer(executor->self, HOLO_TRANSFER_IN, out->data + at, pattern, part, error));
    }
    return HOLO_OK;
}
