// pointwise_case.h - one operator, run on tensors by its eval.
#ifndef HOLO_TESTS_POINTWISE_CASE_H
#define HOLO_TESTS_POINTWISE_CASE_H

#include "support/op_run.h"

#include <math.h>
#include <stdlib.h>

static inline HoloStatus run(const char *domain, const char *name, int version, int in_count,
                             const HoloTensor *const *in, HoloTensor *out, int attr_count, const HoloAttr *attr)
{
    HoloError   error   = {0};
    HoloTensor *outs[1] = {out};
    HoloCall    call    = {.op         = holo_op_find(domain, name, version),
                           .node       = "test",
                           .version    = version,
                           .in_count   = in_count,
                           .out_count  = 1,
                           .in         = in,
                           .out        = outs,
                           .attr       = attr,
                           .attr_count = attr_count,
                           .host       = &test_host,
                           .error      = &error};
    assert_non_null(call.op);
    *out              = (HoloTensor){0};
    HoloStatus status = holo_op_infer(&call);
    if (!status) out->data = holo_arena_take(&test_arena, holo_tensor_bytes(out) + 1);
    return status ? status : call.op->eval(&call);
}

static inline HoloTensor make(HoloDtype dtype, int rank, const int64_t *dim)
{
    HoloTensor t = {.dtype = (uint8_t)dtype, .rank = (int8_t)rank};
    for (int i = 0; i < rank; i++) t.dim[i] = dim[i];
    t.data = holo_arena_take(&test_arena, holo_tensor_bytes(&t) + 1);
    return t;
}

static inline HoloTensor scalar(HoloDtype dtype, double x)
{
    HoloTensor t = make(dtype, 0, NULL);
    holo_put_f(&t, 0, x);
    return t;
}

static inline int release(void **state)
{
    (void)state;
    holo_arena_deinit(&test_arena);
    return 0;
}

#endif
