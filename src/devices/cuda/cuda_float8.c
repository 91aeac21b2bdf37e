// cuda_float8.c - products of floats of 8 bits: MatMulFloat8, by the tiles of product_f8.cu.
#include "devices/cuda/cuda_bytes.h"

#include <stddef.h>
#include <string.h>

enum { A, B, A_SCALE, B_SCALE, BIAS };

static HoloStatus bad(const HoloCudaMaking *m)
{
    return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its operands are not those of a product of floats of 8 bits");
}

static bool is_f8(const HoloTensor *t)
{
    return t && (t->dtype == HOLO_F8E4M3FN || t->dtype == HOLO_F8E5M2);
}

static uint8_t type_of(const HoloTensor *t)
{
    return t->dtype == HOLO_F8E4M3FN ? HOLO_CUDA_E4M3 : HOLO_CUDA_E5M2;
}

// Is it of f32, with one number or `many`?
static bool is_scale(const HoloTensor *t, int64_t many)
{
    return t && t->dtype == HOLO_F32 && (holo_tensor_count(t) == 1 || holo_tensor_count(t) == many);
}

static HoloStatus operands_check(const HoloCudaMaking *m, const HoloCudaSizes *z)
{
    const HoloTensor *bias = holo_in(m->call, BIAS), *out = holo_out(m->call, 0);
    bool              ok = is_scale(holo_in(m->call, A_SCALE), z->m) && is_scale(holo_in(m->call, B_SCALE), z->n);
    if (bias) ok = ok && bias->data && is_scale(bias, z->n) && holo_tensor_count(bias) == z->n;
    return ok && out->dtype == HOLO_F32 && z->batch == 1 && z->a_column == 1 ? HOLO_OK : bad(m);
}

static HoloCudaProduct product_of(const HoloCudaMaking *m, const HoloCudaSizes *z, int64_t row)
{
    return (HoloCudaProduct){.m      = (int32_t)z->m,
                             .n      = (int32_t)z->n,
                             .k      = (int32_t)z->k,
                             .inner  = 1,
                             .lda    = (int32_t)z->k,
                             .ldb    = (int32_t)row,
                             .ldc    = (int32_t)z->n,
                             .alpha  = 1,
                             .c_type = m->params.store};
}

static HoloStatus launch_add(HoloCudaMaking *m, const HoloCudaPick *pick, const HoloCudaOperands *of)
{
    const HoloTensor *a_scale = m->call->in[A_SCALE], *b_scale = m->call->in[B_SCALE];
    HoloCudaLaunch    l = pick->launch[0];
    HoloCudaFloat8   *p = &l.params.float8;
    HoloCudaStep     *step;
    HoloCudaShape     shape = {
            .grid = {l.grid[0], l.grid[1], l.grid[2]}, .block = l.block, .shared = l.shared, .cluster = l.cluster};
    p->a_scales     = holo_tensor_count(a_scale) > 1;
    p->b_scales     = holo_tensor_count(b_scale) > 1;
    p->a_scale_type = holo_cuda_type(m, A_SCALE);
    p->b_scale_type = holo_cuda_type(m, B_SCALE);
    HOLO_TRY(holo_cuda_add(m, l.module, l.kernel, &shape, &l.params, l.params_size, &step));
    holo_cuda_place(step, offsetof(HoloCudaFloat8, p.a), A, 0);
    holo_cuda_place(step, offsetof(HoloCudaFloat8, p.b), of->b.operand, of->b.offset);
    holo_cuda_place(step, offsetof(HoloCudaFloat8, p.c), holo_cuda_out(m, 0), 0);
    holo_cuda_place(step, offsetof(HoloCudaFloat8, a_scale), A_SCALE, 0);
    holo_cuda_place(step, offsetof(HoloCudaFloat8, b_scale), B_SCALE, 0);
    if (holo_in(m->call, BIAS)) holo_cuda_place(step, offsetof(HoloCudaFloat8, p.bias), BIAS, 0);
    holo_cuda_place(step, offsetof(HoloCudaFloat8, p.partial), HOLO_CUDA_SCRATCH, of->scratch);
    holo_cuda_place(step, offsetof(HoloCudaFloat8, p.counters), HOLO_CUDA_COUNTS, 0);
    if (of->scratch + pick->workspace > m->scratch) m->scratch = of->scratch + pick->workspace;
    return HOLO_OK;
}

HoloStatus holo_cuda_float8(HoloCudaMaking *m)
{
    const HoloTensor *a = holo_in(m->call, A), *b = holo_in(m->call, B);
    HoloCudaSizes     z = {0};
    HoloCudaPick      pick;
    HoloCudaOperands  of        = {.b = {B, 0}};
    bool              is_packed = m->params.flags & HOLO_CUDA_FLAG_PACKED;
    int64_t           size;
    if (!is_f8(a) || !is_f8(b) || a->rank < 1 || b->rank != 2 || !holo_out(m->call, 0)) return bad(m);
    HOLO_TRY(holo_cuda_sizes(m, a, b, &z));
    HOLO_TRY(operands_check(m, &z));
    int64_t row = holo_cuda_byte_row(z.k);
    if (z.m > INT32_MAX || z.n > INT32_MAX || row > INT32_MAX || !holo_mul(z.n, row, &size))
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: this product of floats of 8 bits is too large");
    m->job->packed_input = B;
    if (is_packed) m->job->packed = size;
    if (!holo_tensor_count(holo_out(m->call, 0))) return HOLO_OK;
    if (!is_packed) HOLO_TRY(holo_cuda_byte_pack_add(m, B, &z, row, 1, &of));
    HoloCudaProduct p    = product_of(m, &z, row);
    HoloCudaWant    want = {.type       = type_of(a),
                            .b_type     = type_of(b),
                            .b_constant = is_packed,
                            .align      = 16,
                            .cluster    = m->shared->capability >= 90,
                            .batch      = 1,
                            .sms        = m->shared->multiprocessors};
    if (!holo_cuda_pick_product(&want, &p, &pick))
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: this product of floats of 8 bits is too large");
    return pick.count ? launch_add(m, &pick, &of) : HOLO_OK;
}
