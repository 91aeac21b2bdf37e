// cuda_bytes.c - products of bytes: MatMulInteger, QLinearMatMul, MatMulIntegerToFloat and QGemm, by the tiles of product_s8.cu.
#include "devices/cuda/cuda_bytes.h"

#include "format/params.h"

#include <stddef.h>
#include <string.h>

enum { NO = HOLO_CUDA_NO_INPUT };

const HoloCudaByteOp holo_cuda_byte_ops[] = {
    {HOLO_ID_MatMulInteger, false, 0, 1, NO, 2, NO, 3, NO, NO, NO, NO},
    {HOLO_ID_QLinearMatMul, false, 0, 3, 1, 2, 4, 5, 6, 7, NO, NO},
    {HOLO_ID_MICROSOFT_MatMulIntegerToFloat, false, 0, 1, 2, 4, 3, 5, NO, NO, NO, 6},
    {HOLO_ID_MICROSOFT_QGemm, false, 0, 3, 1, 2, 4, 5, 7, 8, 6, NO},
    {HOLO_ID_ConvInteger, true, 0, 1, NO, 2, NO, 3, NO, NO, NO, NO},
    {HOLO_ID_QLinearConv, true, 0, 3, 1, 2, 4, 5, 6, 7, 8, NO},
    {HOLO_ID_MICROSOFT_QLinearConv, true, 0, 3, 1, 2, 4, 5, 6, 7, 8, NO},
    {HOLO_ID_HOLOGRAM_ConvIntegerToFloat, true, 0, 1, 2, 4, 3, 5, NO, NO, NO, 6},
    {HOLO_ID_HOLOGRAM_MatMulFloat8, false, 0, 1, 2, NO, 3, NO, NO, NO, NO, 4}, // see cuda_float8.c
    {.b = NO},
};

int64_t holo_cuda_byte_channels(int64_t channels, int64_t groups)
{
    return groups == 1 ? (channels + 15) / 16 * 16 : channels;
}

bool holo_cuda_byte_tiles(const HoloTensor *w, int64_t groups)
{
    enum { RANK_MOST = 4, CHANNELS_LEAST = 16 };
    return w->rank <= RANK_MOST && (groups == 1 || w->dim[1] >= CHANNELS_LEAST);
}

// ---- what belongs to all of them

static HoloStatus bad(const HoloCudaMaking *m)
{
    return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its operands are not those of a product of bytes");
}

static bool is_8(const HoloTensor *t)
{
    return t && (t->dtype == HOLO_I8 || t->dtype == HOLO_U8);
}

uint8_t holo_cuda_byte_type(const HoloTensor *t)
{
    return t->dtype == HOLO_I8 ? HOLO_CUDA_S8 : HOLO_CUDA_U8;
}

bool holo_cuda_known_zero(const HoloTensor *zero, int64_t *out)
{
    int64_t count = zero ? holo_tensor_count(zero) : 0;
    *out          = 0;
    if (!zero) return true;
    if (!zero->data || count < 1) return false;
    *out = holo_get_i(zero, 0);
    for (int64_t i = 1; i < count; i++)
        if (holo_get_i(zero, i) != *out) return false;
    return true;
}

HoloStatus holo_cuda_byte_step(const HoloCudaMaking *m, HoloCudaByteStep *out)
{
    const HoloCudaByteOp *op = holo_cuda_byte_ops;
    while (op->b != NO && !holo_op_is(m->call->op, op->id)) op++;
    *out = (HoloCudaByteStep){.op        = op,
                              .a         = holo_in(m->call, op->a),
                              .b         = holo_in(m->call, op->b),
                              .out       = holo_out(m->call, 0),
                              .is_packed = m->params.flags & HOLO_CUDA_FLAG_PACKED};
    if (!is_8(out->a) || !is_8(out->b) || !out->out) return bad(m);
    HoloDtype type = (HoloDtype)out->out->dtype;
    bool fits = op->a_scale == NO ? type == HOLO_I32 : holo_in(m->call, op->y_zero) ? is_8(out->out) : type == HOLO_F32;
    return fits ? HOLO_OK : bad(m);
}

// Is it missing, or a number or a line of n of them?
static bool is_line(const HoloTensor *t, HoloDtype dtype, int64_t n)
{
    return !t || (t->dtype == dtype && t->rank <= 1 && (holo_tensor_count(t) == 1 || holo_tensor_count(t) == n));
}

static bool is_many(const HoloTensor *t)
{
    return t && holo_tensor_count(t) > 1;
}

HoloStatus holo_cuda_scaled(const HoloCudaMaking *m, const HoloCudaByteStep *s, int64_t columns, HoloCudaScaled *out)
{
    const HoloCudaByteOp *op      = s->op;
    const HoloTensor     *a_scale = holo_in(m->call, op->a_scale), *a_zero = holo_in(m->call, op->a_zero);
    const HoloTensor     *b_scale = holo_in(m->call, op->b_scale), *b_zero = holo_in(m->call, op->b_zero);
    const HoloTensor     *y_scale = holo_in(m->call, op->y_scale), *y_zero = holo_in(m->call, op->y_zero);
    const HoloTensor     *c = holo_in(m->call, op->c), *bias = holo_in(m->call, op->bias);
    bool ok = is_line(a_zero, (HoloDtype)s->a->dtype, 1) && is_line(b_zero, (HoloDtype)s->b->dtype, columns) &&
              is_line(a_scale, HOLO_F32, 1) && is_line(b_scale, HOLO_F32, columns) && is_line(y_scale, HOLO_F32, 1) &&
              is_line(y_zero, (HoloDtype)s->out->dtype, 1) && is_line(c, HOLO_I32, columns) &&
              is_line(bias, HOLO_F32, columns) && (!bias || holo_tensor_count(bias) == columns);
    if (!ok || (op->a_scale != NO && (!a_scale || !b_scale)) || !y_scale != !y_zero) return bad(m);
    *out = (HoloCudaScaled){.a_type   = holo_cuda_byte_type(s->a),
                            .b_type   = holo_cuda_byte_type(s->b),
                            .y_type   = y_zero ? holo_cuda_byte_type(s->out) : m->params.store,
                            .b_zeros  = is_many(b_zero),
                            .b_scales = is_many(b_scale),
                            .cs       = is_many(c)};
    if (a_scale) out->a_scale_type = holo_cuda_type(m, op->a_scale);
    if (b_scale) out->b_scale_type = holo_cuda_type(m, op->b_scale);
    if (y_scale) out->y_scale_type = holo_cuda_type(m, op->y_scale);
    if (bias) out->bias_type = holo_cuda_type(m, op->bias);
    return HOLO_OK;
}

void holo_cuda_scaled_place(const HoloCudaMaking *m, const HoloCudaByteStep *s, size_t at, HoloCudaStep *step)
{
    const struct {
        size_t at;
        int    input;
    } places[] = {
        {offsetof(HoloCudaScaled, a_zero), s->op->a_zero},
        {offsetof(HoloCudaScaled, b_zero), s->op->b_zero},
        {offsetof(HoloCudaScaled, a_scale), s->op->a_scale},
        {offsetof(HoloCudaScaled, b_scale), s->op->b_scale},
        {offsetof(HoloCudaScaled, y_scale), s->op->y_scale},
        {offsetof(HoloCudaScaled, y_zero), s->op->y_zero},
        {offsetof(HoloCudaScaled, c), s->op->c},
        {offsetof(HoloCudaScaled, bias), s->op->bias},
    };
    for (int i = 0; i < HOLO_COUNT(places); i++)
        if (holo_in(m->call, places[i].input)) holo_cuda_place(step, at + places[i].at, places[i].input, 0);
}

// ---- tiles

static HoloStatus sums_add(HoloCudaMaking *m, const HoloCudaByteStep *s, const HoloCudaProduct *p, int64_t batch,
                           const HoloCudaOperands *of)
{
    HoloCudaByteSums sums  = {.p = *p, .type = holo_cuda_byte_type(s->a)};
    HoloCudaShape    shape = {.grid = {((uint64_t)p->m + 7) / 8, 1, (uint64_t)batch}, .block = 256};
    HoloCudaStep    *step;
    HOLO_TRY(holo_cuda_add(m, "bytes", "bytes_sums", &shape, &sums, sizeof sums, &step));
    holo_cuda_place(step, offsetof(HoloCudaByteSums, p.a), of->a.operand, of->a.offset);
    holo_cuda_place(step, offsetof(HoloCudaByteSums, to), HOLO_CUDA_SCRATCH, of->scratch);
    return HOLO_OK;
}

static size_t up(size_t bytes)
{
    return (bytes + 255) & ~(size_t)255;
}

HoloStatus holo_cuda_byte_tiles_add(HoloCudaMaking *m, const HoloCudaByteStep *s, const HoloCudaProduct *p,
                                    HoloCudaScaled *end, int64_t batch, const HoloCudaOperands *given)
{
    HoloCudaWant     want = {.type       = holo_cuda_byte_type(s->a),
                             .b_constant = s->is_packed,
                             .align      = 16,
                             .cluster    = holo_cuda_has_clusters(m->shared),
                             .shared     = (uint32_t)m->shared->shared_most,
                             .batch      = (int32_t)batch,
                             .sms        = m->shared->multiprocessors};
    HoloCudaOperands of   = *given;
    HoloCudaPick     pick;
    HoloCudaStep    *step;
    int64_t          zero;
    end->b_shift  = s->b->dtype == HOLO_U8 ? 128 : 0;
    bool has_sums = !holo_cuda_known_zero(holo_in(m->call, s->op->b_zero), &zero) || zero != end->b_shift;
    if (batch > 65535 || !holo_cuda_pick_product(&want, p, &pick))
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: this product of bytes is too large");
    if (!pick.count) return HOLO_OK;
    size_t sums_at = of.scratch;
    if (has_sums) HOLO_TRY(sums_add(m, s, p, batch, &of));
    if (has_sums) of.scratch = up(of.scratch + (size_t)batch * (size_t)p->m * sizeof(int32_t));
    HoloCudaLaunch *l   = &pick.launch[0];
    l->params.bytes.s   = *end;
    HoloCudaShape shape = {
        .grid = {l->grid[0], l->grid[1], l->grid[2]}, .block = l->block, .shared = l->shared, .cluster = l->cluster};
    HOLO_TRY(holo_cuda_add(m, l->module, l->kernel, &shape, &l->params, l->params_size, &step));
    holo_cuda_place(step, offsetof(HoloCudaBytes, p.a), of.a.operand, of.a.offset);
    holo_cuda_place(step, offsetof(HoloCudaBytes, p.b), of.b.operand, of.b.offset);
    holo_cuda_place(step, offsetof(HoloCudaBytes, p.c), holo_cuda_out(m, 0), 0);
    holo_cuda_place(step, offsetof(HoloCudaBytes, p.partial), HOLO_CUDA_SCRATCH, of.scratch);
    holo_cuda_place(step, offsetof(HoloCudaBytes, p.counters), HOLO_CUDA_COUNTS, 0);
    if (has_sums) holo_cuda_place(step, offsetof(HoloCudaBytes, s.row_sums), HOLO_CUDA_SCRATCH, sums_at);
    holo_cuda_scaled_place(m, s, offsetof(HoloCudaBytes, s), step);
    if (of.scratch + pick.workspace > m->scratch) m->scratch = of.scratch + pick.workspace;
    return HOLO_OK;
}

// ---- matrices

HoloStatus holo_cuda_byte_pack_add(HoloCudaMaking *m, int input, const HoloCudaSizes *sizes, int64_t row, int64_t batch,
                                   HoloCudaOperands *of)
{
    HoloCudaBytePack p     = {.from_batch = {sizes->b_batch[0], sizes->b_batch[1]},
                              .k_stride   = sizes->b_row,
                              .n_stride   = sizes->b_column,
                              .inner      = (int32_t)sizes->inner,
                              .n          = (int32_t)sizes->n,
                              .k          = (int32_t)sizes->k,
                              .row        = (int32_t)row,
                              .shift      = m->call->in[input]->dtype == HOLO_U8 ? 128 : 0};
    HoloCudaShape    shape = {.grid = {((uint64_t)sizes->n + 31) / 32, 1, (uint64_t)batch}, .block = 256};
    HoloCudaStep    *step;
    HOLO_TRY(holo_cuda_add(m, "bytes", "bytes_pack", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaBytePack, from), input, 0);
    holo_cuda_place(step, offsetof(HoloCudaBytePack, to), HOLO_CUDA_SCRATCH, 0);
    of->b       = (HoloCudaOperand){HOLO_CUDA_SCRATCH, 0};
    of->scratch = up((size_t)(batch * sizes->n * row));
    return HOLO_OK;
}

static HoloStatus matrices(HoloCudaMaking *m, const HoloCudaByteStep *s)
{
    HoloCudaSizes    z = {0};
    HoloCudaScaled   end;
    HoloCudaOperands of = {.a = {s->op->a, 0}, .b = {s->op->b, 0}};
    HOLO_TRY(holo_cuda_sizes(m, s->a, s->b, &z));
    int64_t row = holo_cuda_byte_row(z.k), b_batch = z.b_batch[0] || z.b_batch[1] ? z.batch : 1, size;
    if (z.a_column != 1 || z.m > INT32_MAX || z.n > INT32_MAX || row > INT32_MAX || z.batch > 65535 ||
        !holo_mul(z.n, row, &size) || !holo_mul(size, b_batch, &size))
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: this product of bytes is too large");
    if (s->is_packed && (z.batch != 1 || s->b->rank > 2)) return bad(m);
    HOLO_TRY(holo_cuda_scaled(m, s, s->b->rank > 2 ? 1 : z.n, &end));
    m->job->packed_input = s->op->b;
    if (s->is_packed) m->job->packed = size;
    if (!holo_tensor_count(s->out)) return HOLO_OK;
    if (!s->is_packed) HOLO_TRY(holo_cuda_byte_pack_add(m, s->op->b, &z, row, b_batch, &of));
    HoloCudaProduct p = {.m      = (int32_t)z.m,
                         .n      = (int32_t)z.n,
                         .k      = (int32_t)z.k,
                         .inner  = (int32_t)z.inner,
                         .lda    = (int32_t)z.k,
                         .ldb    = (int32_t)row,
                         .ldc    = (int32_t)z.n,
                         .alpha  = 1,
                         .c_type = end.y_type};
    memcpy(p.a_batch, z.a_batch, sizeof p.a_batch);
    p.b_batch[1] = b_batch > 1 ? z.n * row : 0;
    p.b_batch[0] = p.b_batch[1] * z.inner;
    p.c_batch[1] = z.m * z.n;
    p.c_batch[0] = z.m * z.n * z.inner;
    end.count    = (int32_t)z.k;
    return holo_cuda_byte_tiles_add(m, s, &p, &end, z.batch, &of);
}

HoloStatus holo_cuda_bytes(HoloCudaMaking *m)
{
    HoloCudaByteStep s;
    HOLO_TRY(holo_cuda_byte_step(m, &s));
    return s.op->is_conv ? holo_cuda_byte_conv(m, &s) : matrices(m, &s);
}
