// executor_rows.c - single operations on whole rows: reductions, losses, softmax, products. For f32 they run the
// kernels of models, for other types those of the standard library.
#include "devices/cpu/kernel.h"
#include "runtime/executor/executor.h"
#include "runtime/pool.h"

#include <stdio.h>
#include <string.h>

HoloStatus holo_executor_need(const HoloExecutor *e, const HoloBuffer *b, HoloDtype dtype, int64_t count,
                              HoloError *error)
{
    if (!b || b->executor != e)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer is missing, or belongs to another executor");
    if (b->info.dtype != dtype)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer is of %s, but must be of %s",
                         holo_dtype_name(b->info.dtype), holo_dtype_name(dtype));
    if (count < 0 || b->info.count < count)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer has %lld elements, but needs %lld",
                         (long long)b->info.count, (long long)count);
    return HOLO_OK;
}

static const float *floats(const HoloBuffer *b)
{
    return (const float *)(const void *)b->data;
}

static float *floats_out(HoloBuffer *b)
{
    return (float *)(void *)b->data;
}

// ---- the standard library

static const struct {
    const char *name, *what;
} kernels[HOLO_EXECUTOR_KERNELS] = {
    [HOLO_EXECUTOR_SUM]     = {"vector_sum", "sum"},
    [HOLO_EXECUTOR_MEAN]    = {"reduction_mean", "mean"},
    [HOLO_EXECUTOR_MIN]     = {"reduction_min", "minimum"},
    [HOLO_EXECUTOR_MAX]     = {"reduction_max", "maximum"},
    [HOLO_EXECUTOR_SOFTMAX] = {"activation_softmax", "softmax"},
    [HOLO_EXECUTOR_GEMM]    = {"matrix_gemm", "product"},
};

static HoloStatus run_kernel(HoloExecutor *e, HoloExecutorKernel kernel, HoloDtype type, const HoloIsaArg *args,
                             HoloError *error)
{
    HoloPortable **p = &e->library[kernel][type];
    char           name[64];
    HoloError      problem = {0};
    snprintf(name, sizeof name, "%s_%s", kernels[kernel].name, holo_dtype_name(type));
    HoloStatus status = *p ? HOLO_OK : holo_portable_find(e, NULL, name, p, &problem);
    if (status == HOLO_BAD_ARGUMENT)
        return holo_fail(error, status, "there is no %s for %s", kernels[kernel].what, holo_dtype_name(type));
    if (status) return holo_fail(error, status, "%s", problem.text);
    return holo_portable_run(e, *p, args, 0, error);
}

static HoloIsaArg number(int64_t n)
{
    return (HoloIsaArg){.bits = (uint64_t)n};
}

// ---- reductions

HoloStatus holo_executor_reduce(HoloExecutor *executor, HoloReduction op, const HoloBuffer *a, HoloBuffer *out,
                                int64_t n, HoloError *error)
{
    HOLO_IN(executor->account);
    static const struct {
        uint32_t           of_f32;
        HoloExecutorKernel kernel;
    } rows[] = {[HOLO_REDUCTION_SUM]  = {HOLO_REDUCE_SUM, HOLO_EXECUTOR_SUM},
                [HOLO_REDUCTION_MEAN] = {HOLO_REDUCE_MEAN, HOLO_EXECUTOR_MEAN},
                [HOLO_REDUCTION_MIN]  = {HOLO_REDUCE_MIN, HOLO_EXECUTOR_MIN},
                [HOLO_REDUCTION_MAX]  = {HOLO_REDUCE_MAX, HOLO_EXECUTOR_MAX}};
    if ((unsigned)op >= sizeof rows / sizeof *rows || n < 1 || !a)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no such reduction, or there are no elements");
    HoloDtype type = a->info.dtype;
    HOLO_TRY(holo_executor_need(executor, a, type, n, error));
    HOLO_TRY(holo_executor_need(executor, out, type, 1, error));
    if (type == HOLO_F32 && executor->kernels) {
        float result;
        executor->kernels->reduce_f32(rows[op].of_f32, 1, n, floats(a), &result);
        floats_out(out)[0] = result;
        return HOLO_OK;
    }
    HoloIsaArg args[] = {holo_executor_array(a, n), holo_executor_array(out, 1), number(1), number(n)};
    if (op == HOLO_REDUCTION_SUM) args[2] = number(n); // one row: there is no argument for the number of rows
    return run_kernel(executor, rows[op].kernel, type, args, error);
}

// ---- losses

// For each element; T stands for the type.
static const char loss_text[] =
    "program loss\nin a: T[]\nin b: T[]\nout each: T[]\nvalue kind: i32\n"
    "special.i64 r0, global_id\nld.T r1, a[r0]\nld.T r2, b[r0]\nparam.i32 r3, kind\nconst.i32 r4, 1\n"
    "const.T r12, 1\nset.lt.i32 p5, r3, r4\nif p5\nsub.T r6, r1, r2\nmul.T r7, r6, r6\nst.T each[r0], r7\n"
    "else\nlog.T r8, r1\nmul.T r9, r8, r2\nset.gt.i32 p10, r3, r4\nif p10\nsub.T r11, r12, r1\nlog.T r13, r11\n"
    "sub.T r14, r12, r2\nmad.T r9, r13, r14, r9\nend\nneg.T r15, r9\nst.T each[r0], r15\nend\n";

static HoloStatus loss_program(HoloExecutor *e, HoloDtype type, HoloError *error)
{
    char        text[2 * sizeof loss_text];
    const char *name = holo_dtype_name(type);
    size_t      used = 0;
    if (e->loss[type]) return HOLO_OK;
    if (!(HOLO_TYPES_FLOAT >> type & 1)) return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no loss for %s", name);
    for (const char *at = loss_text; *at; at++) {
        bool is_type = *at == 'T';
        memcpy(text + used, is_type ? name : at, is_type ? strlen(name) : 1);
        used += is_type ? strlen(name) : 1;
    }
    return holo_portable_create(e, text, used, &e->loss[type], error);
}

HoloStatus holo_executor_loss(HoloExecutor *executor, HoloLoss op, const HoloBuffer *a, const HoloBuffer *b,
                              HoloBuffer *out, int64_t n, HoloError *error)
{
    HOLO_IN(executor->account);
    if ((unsigned)op > HOLO_LOSS_BINARY_CROSS_ENTROPY || n < 1 || !a)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no such loss, or there are no elements");
    HoloDtype type = a->info.dtype;
    HOLO_TRY(holo_executor_need(executor, a, type, n, error));
    HOLO_TRY(holo_executor_need(executor, b, type, n, error));
    HOLO_TRY(holo_executor_need(executor, out, type, 1, error));
    if (n > INT32_MAX) return holo_fail(error, HOLO_BAD_ARGUMENT, "a loss has at most 2^31 - 1 elements");
    HOLO_TRY(loss_program(executor, type, error));
    HoloPortable *p    = executor->loss[type];
    HoloBuffer   *each = NULL;
    HOLO_TRY(holo_buffer_create(executor, type, n, &each, error));
    HoloIsaArg    args[] = {holo_executor_array(a, n), holo_executor_array(b, n), holo_executor_array(each, n),
                            number(op)};
    HoloIsaLaunch launch = {{1, 1, 1}, {(uint32_t)n, 1, 1}, 0};
    HoloReduction joined = op == HOLO_LOSS_CROSS_ENTROPY ? HOLO_REDUCTION_SUM : HOLO_REDUCTION_MEAN;
    HoloStatus    status = holo_portable_launch(executor, p, &launch, args, error);
    if (!status) status = holo_executor_reduce(executor, joined, each, out, n, error);
    holo_buffer_destroy(each);
    return status;
}

// ---- softmax

enum { SOFTMAX_TASK = 1 << 14 }; // least elements of a task

typedef struct Softmax {
    const HoloKernelTable *kernels;
    int64_t                rows, columns, each; // each: rows of a task
    const float           *from;
    float                 *to;
} Softmax;

static void softmax_rows(void *arg, int64_t i, int worker)
{
    const Softmax *s    = arg;
    int64_t        from = i * s->each, count = s->rows - from < s->each ? s->rows - from : s->each;
    (void)worker;
    s->kernels->softmax_f32(count, s->columns, s->from + from * s->columns, s->to + from * s->columns);
}

HoloStatus holo_executor_softmax(HoloExecutor *executor, const HoloBuffer *a, HoloBuffer *out, int64_t rows,
                                 int64_t columns, HoloError *error)
{
    HOLO_IN(executor->account);
    int64_t n;
    if (rows < 0 || columns < 1 || !holo_mul(rows, columns, &n) || !a)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "the numbers of rows and columns are not valid, or a buffer is missing");
    HoloDtype type = a->info.dtype;
    HOLO_TRY(holo_executor_need(executor, a, type, n, error));
    HOLO_TRY(holo_executor_need(executor, out, type, n, error));
    if (type != HOLO_F32 || !executor->kernels) {
        HoloIsaArg args[] = {holo_executor_array(a, n), holo_executor_array(out, n), number(rows), number(columns)};
        return run_kernel(executor, HOLO_EXECUTOR_SOFTMAX, type, args, error);
    }
    Softmax s = {executor->kernels, rows, columns, (SOFTMAX_TASK + columns - 1) / columns, floats(a), floats_out(out)};
    holo_pool_run(executor->pool, (rows + s.each - 1) / s.each, softmax_rows, &s);
    return HOLO_OK;
}

// ---- products

typedef struct Product {
    HoloExecutor *executor;
    HoloGemm      gemm; // for all rows
    float        *scratch;
} Product;

// Computes some rows. Each element is computed in the same way, whoever does it.
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

enum { WORK_KEPT = 8 << 20 }; // floats

// Memory for a product. Unless it is too large, it is kept: pages that the last product touched cost the next one
// nothing.
static float *work_take(HoloExecutor *e, int64_t floats)
{
    if (floats > e->work_size) {
        holo_arena_deinit(&e->work);
        e->work_data = HOLO_NEW(&e->work, float, floats);
        e->work_size = e->work_data ? floats : 0;
    }
    return e->work_data;
}

static void work_give(HoloExecutor *e)
{
    if (e->work_size <= WORK_KEPT) return;
    holo_arena_deinit(&e->work);
    e->work_data = NULL;
    e->work_size = 0;
}

static HoloStatus product_f32(HoloExecutor *executor, const HoloBuffer *a, const HoloBuffer *b, HoloBuffer *out,
                              int64_t m, int64_t n, int64_t k, HoloError *error)
{
    int64_t scratch = (int64_t)executor->team.threads * HOLO_GEMM_SCRATCH;
    int64_t panels  = holo_ceil_div(n, HOLO_PANEL) * HOLO_PANEL * k;
    float  *work    = panels <= INT64_MAX / 8 ? work_take(executor, scratch + panels) : NULL;
    if (!work) return holo_fail_memory(error);
    float  *packed = work + scratch;
    Product p      = {executor,
                      {.m        = m,
                       .n        = n,
                       .k        = k,
                       .a        = floats(a),
                       .a_row    = k,
                       .a_column = 1,
                       .b        = packed,
                       .b_panel  = HOLO_PANEL * k,
                       .b_step   = HOLO_PANEL,
                       .c        = floats_out(out),
                       .c_row    = n,
                       .alpha    = 1},
                      work};
    executor->kernels->pack_f32(k, n, floats(b), n, 1, packed);
    holo_pool_run(executor->pool, holo_ceil_div(m, HOLO_GEMM_ROWS), product_rows, &p);
    work_give(executor);
    return HOLO_OK;
}

HoloStatus holo_executor_gemm(HoloExecutor *executor, const HoloBuffer *a, const HoloBuffer *b, HoloBuffer *out,
                              int64_t m, int64_t n, int64_t k, HoloError *error)
{
    HOLO_IN(executor->account);
    int64_t mk, kn, mn, panels;
    if (m < 0 || n < 0 || k < 1 || !holo_mul(m, k, &mk) || !holo_mul(k, n, &kn) || !holo_mul(m, n, &mn) ||
        n > INT64_MAX - 16 || !holo_mul((n + 15) / 16 * 16, k, &panels))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "m, n and k are not valid sizes");
    if (!a) return holo_fail(error, HOLO_BAD_ARGUMENT, "a buffer is missing");
    HoloDtype type = a->info.dtype;
    HOLO_TRY(holo_executor_need(executor, a, type, mk, error));
    HOLO_TRY(holo_executor_need(executor, b, type, kn, error));
    HOLO_TRY(holo_executor_need(executor, out, type, mn, error));
    if (out == a || out == b)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "the output of a product cannot be one of its inputs");
    if (!mn) return HOLO_OK;
    if (type == HOLO_F32 && executor->kernels) return product_f32(executor, a, b, out, m, n, k, error);
    HoloIsaArg args[] = {holo_executor_array(a, mk),
                         holo_executor_array(b, kn),
                         holo_executor_array(out, mn),
                         number(m),
                         number(n),
                         number(k),
                         number(k),
                         number(n),
                         number(n)};
    return run_kernel(executor, HOLO_EXECUTOR_GEMM, type, args, error);
}

HoloStatus holo_executor_matvec(HoloExecutor *executor, const HoloBuffer *a, const HoloBuffer *x, HoloBuffer *out,
                                int64_t m, int64_t n, HoloError *error)
{
    HOLO_IN(executor->account);
    return holo_executor_gemm(executor, a, x, out, m, 1, n, error);
}
