// executor_ops.c - single operations on buffers. Pointwise ones are portable programs, built when first asked for, of any
// type that the operation has; the others are the kernels of models.
#include "format/dtype.h"
#include "runtime/executor.h"
#include "runtime/pool.h"

#include <string.h>

// ---- checks

static HoloStatus need(const HoloExecutor *e, const HoloBuffer *b, HoloDtype dtype, int64_t count, HoloError *error)
{
    if (!b || b->executor != e)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer is missing, or of another executor");
    if (b->info.dtype != dtype)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer of %s, where one of %s is needed",
                         holo_dtype_name(b->info.dtype), holo_dtype_name(dtype));
    if (count < 0 || b->info.count < count)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer of %lld elements, where %lld are needed",
                         (long long)b->info.count, (long long)count);
    return HOLO_OK;
}

// ---- programs

typedef enum Kind { UNARY, BINARY, BROADCAST, SCALAR, CLIP, KINDS } Kind;

// What an operation is made of; RELU and GELU have no instruction of their own.
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
    HoloPortable *p = holo_realloc(NULL, sizeof *p);
    if (!p) return holo_fail_memory(error);
    *p                = (HoloPortable){.executor = e};
    HoloStatus status = build(&p->arena, kind, op, type, &p->program, error);
    if (!status) status = holo_portable_ready(e, p, error);
    if (status)
        holo_portable_destroy(p);
    else
        *out = p;
    return status;
}

// The programs that were asked for are kept by a number of kind, operation and type; another of the same place makes room.
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
        return holo_fail(error, HOLO_BAD_ARGUMENT, "an operation of more than 2^31 - 1 elements: cut it");
    launch.block[0] = (uint32_t)n;
    return n ? holo_isa_run(p->code, p->frame, &e->team, &launch, args, error) : HOLO_OK;
}

static HoloIsaArg array(const HoloBuffer *b, int64_t n)
{
    return (HoloIsaArg){.data = b->data, .count = n};
}

static HoloStatus operation_check(HoloOperation op, int operands, HoloError *error)
{
    if ((unsigned)op < sizeof operand_count && operand_count[op] == operands) return HOLO_OK;
    return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no operation %d of %d operand%s", (int)op, operands,
                     operands == 1 ? "" : "s");
}

HoloStatus holo_executor_map(HoloExecutor *executor, HoloOperation op, const HoloBuffer *a, HoloBuffer *out, int64_t n,
                             HoloError *error)
{
    HOLO_TRY(operation_check(op, 1, error));
    if (!a) return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer is missing");
    HOLO_TRY(need(executor, a, a->info.dtype, n, error));
    HOLO_TRY(need(executor, out, a->info.dtype, n, error));
    return run(executor, UNARY, op, a->info.dtype, n, (HoloIsaArg[]){array(a, n), array(out, n)}, error);
}

HoloStatus holo_executor_combine(HoloExecutor *executor, HoloOperation op, const HoloBuffer *a, const HoloBuffer *b,
                                 int64_t inner, int64_t period, HoloBuffer *out, int64_t n, HoloError *error)
{
    HOLO_TRY(operation_check(op, 2, error));
    if (!a) return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer is missing");
    if (inner < 0 || period < 0) return holo_fail(error, HOLO_BAD_ARGUMENT, "inner or period is less than 0");
    HoloDtype type = a->info.dtype;
    HOLO_TRY(need(executor, a, type, n, error));
    HOLO_TRY(need(executor, out, type, n, error));
    HOLO_TRY(need(executor, b, type, period ? period : n, error));
    if (!period)
        return run(executor, BINARY, op, type, n, (HoloIsaArg[]){array(a, n), array(out, n), array(b, n)}, error);
    HoloIsaArg args[] = {array(a, n),
                         array(out, n),
                         array(b, period),
                         {.bits = (uint64_t)(inner ? inner : 1)},
                         {.bits = (uint64_t)period}};
    return run(executor, BROADCAST, op, type, n, args, error);
}

HoloStatus holo_executor_combine_scalar(HoloExecutor *executor, HoloOperation op, const HoloBuffer *a, double x,
                                        HoloBuffer *out, int64_t n, HoloError *error)
{
    HOLO_TRY(operation_check(op, 2, error));
    if (!a) return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer is missing");
    HoloDtype type = a->info.dtype;
    HOLO_TRY(need(executor, a, type, n, error));
    HOLO_TRY(need(executor, out, type, n, error));
    HoloIsaArg args[] = {array(a, n), array(out, n), {.bits = holo_isa_bits_of_float(type, x)}};
    return run(executor, SCALAR, op, type, n, args, error);
}

HoloStatus holo_executor_clip(HoloExecutor *executor, const HoloBuffer *a, double low, double high, HoloBuffer *out,
                              int64_t n, HoloError *error)
{
    if (!a) return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer is missing");
    HoloDtype type = a->info.dtype;
    HOLO_TRY(need(executor, a, type, n, error));
    HOLO_TRY(need(executor, out, type, n, error));
    HoloIsaArg args[] = {array(a, n),
                         array(out, n),
                         {.bits = holo_isa_bits_of_float(type, low)},
                         {.bits = holo_isa_bits_of_float(type, high)}};
    return run(executor, CLIP, HOLO_OPERATION_MAX, type, n, args, error);
}

// ---- memory

HoloStatus holo_executor_copy(HoloExecutor *executor, const HoloBuffer *a, HoloBuffer *out, int64_t n, HoloError *error)
{
    if (!a) return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer is missing");
    HOLO_TRY(need(executor, a, a->info.dtype, n, error));
    HOLO_TRY(need(executor, out, a->info.dtype, n, error));
    if (n) memmove(out->data, a->data, (size_t)n * holo_dtype_size(a->info.dtype));
    return HOLO_OK;
}

HoloStatus holo_executor_fill(HoloExecutor *executor, double x, HoloBuffer *out, int64_t n, HoloError *error)
{
    if (!out) return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer is missing");
    HOLO_TRY(need(executor, out, out->info.dtype, n, error));
    size_t   size = holo_dtype_size(out->info.dtype);
    uint64_t bits = holo_isa_bits_of_float(out->info.dtype, x);
    for (int64_t i = 0; i < n; i++) memcpy(out->data + (size_t)i * size, &bits, size);
    return HOLO_OK;
}

// ---- kernels of f32

static const float *floats(const HoloBuffer *b)
{
    return (const float *)(const void *)b->data;
}

static float *floats_out(HoloBuffer *b)
{
    return (float *)(void *)b->data;
}

HoloStatus holo_executor_reduce(HoloExecutor *executor, HoloReduction op, const HoloBuffer *a, HoloBuffer *out,
                                int64_t n, HoloError *error)
{
    static const uint32_t ops[] = {[HOLO_REDUCTION_SUM]  = HOLO_REDUCE_SUM,
                                   [HOLO_REDUCTION_MEAN] = HOLO_REDUCE_MEAN,
                                   [HOLO_REDUCTION_MIN]  = HOLO_REDUCE_MIN,
                                   [HOLO_REDUCTION_MAX]  = HOLO_REDUCE_MAX};
    if ((unsigned)op >= sizeof ops / sizeof *ops || n < 1)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no such reduction, or nothing to reduce");
    HOLO_TRY(need(executor, a, HOLO_F32, n, error));
    HOLO_TRY(need(executor, out, HOLO_F32, 1, error));
    float result;
    executor->kernels->reduce_f32(ops[op], 1, n, floats(a), &result);
    floats_out(out)[0] = result;
    return HOLO_OK;
}

static const char loss_text[] =
    "program loss\nin a: f32[]\nin b: f32[]\nout each: f32[]\nvalue kind: i32\n"
    "special.i64 r0, global_id\nld.f32 r1, a[r0]\nld.f32 r2, b[r0]\nparam.i32 r3, kind\nconst.i32 r4, 1\n"
    "const.f32 r12, 1\nset.lt.i32 p5, r3, r4\nif p5\nsub.f32 r6, r1, r2\nmul.f32 r7, r6, r6\nst.f32 each[r0], r7\n"
    "else\nlog.f32 r8, r1\nmul.f32 r9, r8, r2\nset.gt.i32 p10, r3, r4\nif p10\nsub.f32 r11, r12, r1\nlog.f32 r13, r11\n"
    "sub.f32 r14, r12, r2\nmad.f32 r9, r13, r14, r9\nend\nneg.f32 r15, r9\nst.f32 each[r0], r15\nend\n";

HoloStatus holo_executor_loss(HoloExecutor *executor, HoloLoss op, const HoloBuffer *a, const HoloBuffer *b,
                              HoloBuffer *out, int64_t n, HoloError *error)
{
    if ((unsigned)op > HOLO_LOSS_BINARY_CROSS_ENTROPY || n < 1)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no such loss, or nothing to judge");
    HOLO_TRY(need(executor, a, HOLO_F32, n, error));
    HOLO_TRY(need(executor, b, HOLO_F32, n, error));
    HOLO_TRY(need(executor, out, HOLO_F32, 1, error));
    HoloPortable *p    = NULL;
    HoloBuffer   *each = NULL;
    if (!executor->loss) HOLO_TRY(holo_portable_create(executor, loss_text, strlen(loss_text), &executor->loss, error));
    p                 = executor->loss;
    HoloStatus status = holo_buffer_create(executor, HOLO_F32, n, &each, error);
    if (!status) {
        HoloIsaArg    args[] = {array(a, n), array(b, n), array(each, n), {.bits = (uint64_t)op}};
        HoloIsaLaunch launch = {{1, 1, 1}, {(uint32_t)n, 1, 1}, 0};
        status = n > INT32_MAX ? holo_fail(error, HOLO_BAD_ARGUMENT, "a loss of more than 2^31 - 1 elements")
                               : holo_isa_run(p->code, p->frame, &executor->team, &launch, args, error);
    }
    HoloReduction joined = op == HOLO_LOSS_CROSS_ENTROPY ? HOLO_REDUCTION_SUM : HOLO_REDUCTION_MEAN;
    if (!status) status = holo_executor_reduce(executor, joined, each, out, n, error);
    holo_buffer_destroy(each);
    return status;
}

HoloStatus holo_executor_softmax(HoloExecutor *executor, const HoloBuffer *a, HoloBuffer *out, int64_t rows,
                                 int64_t columns, HoloError *error)
{
    int64_t n;
    if (rows < 0 || columns < 1 || !holo_mul(rows, columns, &n))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "rows and columns are no sizes");
    HOLO_TRY(need(executor, a, HOLO_F32, n, error));
    HOLO_TRY(need(executor, out, HOLO_F32, n, error));
    if (rows) executor->kernels->softmax_f32(rows, columns, floats(a), floats_out(out));
    return HOLO_OK;
}

typedef struct Product {
    HoloExecutor *executor;
    HoloGemm      gemm; // of all rows
    float        *scratch;
} Product;

// Some rows of it: the same elements, whoever computes them.
static void product_rows(void *arg, int64_t i, int worker)
{
    const Product *p    = arg;
    HoloGemm       g    = p->gemm;
    int64_t        from = i * HOLO_GEMM_ROWS;
    g.m                 = p->gemm.m - from < HOLO_GEMM_ROWS ? p->gemm.m - from : HOLO_GEMM_ROWS;
    g.a += from * g.a_row, g.c += from * g.c_row;
    g.scratch = p->scratch + (size_t)worker * HOLO_GEMM_SCRATCH;
    p->executor->kernels->gemm_f32(&g);
}

HoloStatus holo_executor_gemm(HoloExecutor *executor, const HoloBuffer *a, const HoloBuffer *b, HoloBuffer *out,
                              int64_t m, int64_t n, int64_t k, HoloError *error)
{
    int64_t mk, kn, mn, panels;
    if (m < 0 || n < 0 || k < 1 || !holo_mul(m, k, &mk) || !holo_mul(k, n, &kn) || !holo_mul(m, n, &mn) ||
        n > INT64_MAX - 16 || !holo_mul((n + 15) / 16 * 16, k, &panels))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "m, n and k are no sizes");
    HOLO_TRY(need(executor, a, HOLO_F32, mk, error));
    HOLO_TRY(need(executor, b, HOLO_F32, kn, error));
    HOLO_TRY(need(executor, out, HOLO_F32, mn, error));
    if (out == a || out == b)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a product cannot be made in the place of a factor");
    if (!mn) return HOLO_OK;
    HoloArena arena  = {0};
    float    *packed = HOLO_NEW(&arena, float, panels);
    Product   p      = {.executor = executor,
                        .scratch  = HOLO_NEW(&arena, float, (size_t)executor->team.threads *HOLO_GEMM_SCRATCH)};
    if (packed && p.scratch) {
        executor->kernels->pack_f32(k, n, floats(b), n, 1, packed);
        p.gemm = (HoloGemm){.m        = m,
                            .n        = n,
                            .k        = k,
                            .a        = floats(a),
                            .a_row    = k,
                            .a_column = 1,
                            .b        = packed,
                            .b_panel  = 16 * k,
                            .b_step   = 16,
                            .c        = floats_out(out),
                            .c_row    = n,
                            .alpha    = 1};
        holo_pool_run(executor->pool, (m + HOLO_GEMM_ROWS - 1) / HOLO_GEMM_ROWS, product_rows, &p);
    }
    bool ok = packed && p.scratch;
    holo_arena_deinit(&arena);
    return ok ? HOLO_OK : holo_fail_memory(error);
}

HoloStatus holo_executor_matvec(HoloExecutor *executor, const HoloBuffer *a, const HoloBuffer *x, HoloBuffer *out,
                                int64_t m, int64_t n, HoloError *error)
{
    return holo_executor_gemm(executor, a, x, out, m, 1, n, error);
}
