// op_run.h - for unit tests of operators: runs one by name, on a host whose parallel work runs backwards.
#ifndef HOLO_TESTS_OP_RUN_H
#define HOLO_TESTS_OP_RUN_H

#include "ops/op.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static HoloArena test_arena;

static void *test_take(const HoloHost *host, size_t size)
{
    (void)host;
    return holo_arena_take(&test_arena, size);
}

static void test_parallel(const HoloHost *host, int64_t count, void (*work)(void *arg, int64_t i, int worker),
                          void *arg)
{
    for (int64_t i = count - 1; i >= 0; i--) work(arg, i, (int)(i % host->workers));
}

static const HoloHost test_host = {.temp = test_take, .keep = test_take, .parallel = test_parallel, .workers = 3};

typedef struct TestOp {
    const char       *domain, *name;
    int               version;
    const HoloTensor *in[16];
    int               in_count;
    HoloTensor        out[4];
    int               out_count;
    HoloAttr          attr[16];
    int               attr_count;
} TestOp;

static inline HoloStatus test_run(TestOp *op)
{
    HoloError   error = {0};
    HoloTensor *out[4];
    for (int i = 0; i < op->out_count; i++) out[i] = memset(&op->out[i], 0, sizeof op->out[i]);
    HoloCall call = {.op         = holo_op_find(op->domain, op->name, op->version),
                     .node       = "test",
                     .version    = op->version,
                     .in_count   = op->in_count,
                     .out_count  = op->out_count,
                     .in         = op->in,
                     .out        = out,
                     .attr       = op->attr,
                     .attr_count = op->attr_count,
                     .host       = &test_host,
                     .error      = &error};
    assert_non_null(call.op);
    HoloStatus status = holo_op_infer(&call);
    for (int i = 0; i < op->out_count && !status; i++)
        if (holo_tensor_count(&op->out[i]) >= 0)
            op->out[i].data = holo_arena_take(&test_arena, holo_tensor_bytes(&op->out[i]) + 1);
    if (!status) status = holo_op_eval(&call);
    if (status) print_message("%s\n", error.text);
    return status;
}

static inline HoloTensor test_tensor(HoloDtype dtype, int rank, const int64_t *dim)
{
    HoloTensor t = {.dtype = (uint8_t)dtype, .rank = (int8_t)rank};
    for (int i = 0; i < rank; i++) t.dim[i] = dim[i];
    t.data = holo_arena_take(&test_arena, holo_tensor_bytes(&t) + 1);
    return t;
}

// Numbers between -1 and 1 that depend on `seed`.
static inline HoloTensor test_noise(HoloDtype dtype, int rank, const int64_t *dim, uint32_t seed)
{
    HoloTensor t = test_tensor(dtype, rank, dim);
    for (int64_t i = 0; i < holo_tensor_count(&t); i++) {
        seed = seed * 1664525u + 1013904223u;
        holo_put_f(&t, i, (double)(seed >> 8) / (1 << 23) - 1);
    }
    return t;
}

static inline HoloTensor test_number(HoloDtype dtype, int64_t x)
{
    HoloTensor t = test_tensor(dtype, 0, NULL);
    holo_put_i(&t, 0, x);
    return t;
}

static inline void test_assert_close(const HoloTensor *a, int64_t a_at, const HoloTensor *b, int64_t b_at,
                                     int64_t count, double tolerance)
{
    for (int64_t i = 0; i < count; i++) {
        double x = holo_get_f(a, a_at + i), y = holo_get_f(b, b_at + i);
        if (!(x - y < tolerance && y - x < tolerance))
            fail_msg("element %lld is %.9g, expected %.9g", (long long)i, x, y);
    }
}

#define TEST_DIM(...) \
    (const int64_t[]) \
    {                 \
        __VA_ARGS__   \
    }
#define TEST_INT(NAME, VALUE)                                       \
    {                                                               \
        .name = NAME, .kind = HOLO_ATTR_INT, .count = 1, .i = VALUE \
    }
#define TEST_TEXT(NAME, VALUE)                                                               \
    {                                                                                        \
        .name = NAME, .kind = HOLO_ATTR_STRING, .count = 1, .s = { VALUE, sizeof VALUE - 1 } \
    }

#endif
