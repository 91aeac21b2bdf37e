// kernel_cast_f32.c - Cast of 32-bit integers to f32, which is how sums of products of bytes become real.
#include "format/params.h"
#include "kernels/kernels.h"
#include "runtime/kernel.h"

enum { PART = 1 << 15 }; // elements of a task

typedef struct Cast {
    const HoloHost *host;
    const int32_t  *x;
    float          *y;
    int64_t         count;
} Cast;

static HoloStatus cast_init(const HoloCall *call, Cast *c)
{
    const HoloCastParams *params = call->params;
    const HoloTensor     *x = holo_in(call, 0), *y = holo_out(call, 0);
    if (!holo_kernel_has_params(call, sizeof *params) || params->flags || !x || !y || x->kind != HOLO_TENSOR ||
        x->dtype != HOLO_I32 || y->dtype != HOLO_F32 || holo_tensor_count(x) < 0 ||
        holo_tensor_count(x) != holo_tensor_count(y))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "the operands are not those of cast_f32");
    *c = (Cast){.host = call->host, .x = x->data, .y = y->data, .count = holo_tensor_count(x)};
    return HOLO_OK;
}

static HoloStatus check(const HoloCall *call, size_t *out_scratch)
{
    Cast c;
    *out_scratch = 0;
    return cast_init(call, &c);
}

static void work(void *arg, int64_t i, int worker)
{
    const Cast *c = arg;
    (void)worker;
    c->host->kernels->float_i32(holo_least(PART, c->count - i * PART), c->x + i * PART, c->y + i * PART);
}

static HoloStatus run(HoloCall *call)
{
    Cast c;
    HOLO_TRY(cast_init(call, &c));
    call->host->parallel(call->host, holo_ceil_div(c.count, PART), work, &c);
    return HOLO_OK;
}

const HoloKernel holo_kernel_cast_f32 = {
    .id    = HOLO_KERNEL_cast_f32,
    .name  = "cast_f32",
    .check = check,
    .run   = run,
};
