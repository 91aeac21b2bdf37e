// cuda_pool.c - pools of f32 and of bytes: the largest, or the mean, of what a window sees.
#include "devices/cpu/conv_shape.h"
#include "devices/cuda/code/bytes_params.h"
#include "devices/cuda/cuda_kernel.h"
#include "ops/op_id.h"
#include "ops/window.h"

#include <stddef.h>

static const struct {
    HoloOpId id;
    bool     is_mean, is_last;
    bool is_scaled, is_whole; // of bytes with scales, with channels last if an attribute says so; of the whole image
} rows[] = {
    {HOLO_ID_MaxPool, false, false, false, false},
    {HOLO_ID_AveragePool, true, false, false, false},
    {HOLO_ID_HOLOGRAM_MaxPool, false, true, false, false},
    {HOLO_ID_HOLOGRAM_AveragePool, true, true, false, false},
    {HOLO_ID_MICROSOFT_NhwcMaxPool, false, true, false, false},
    {HOLO_ID_MICROSOFT_QLinearAveragePool, true, false, true, false},
    {HOLO_ID_MICROSOFT_QLinearGlobalAveragePool, true, false, true, true},
};

typedef struct Pool {
    HoloCudaPool p;
    bool         is_last, is_scaled, is_whole, is_bytes;
} Pool;

static HoloStatus bad(const HoloCudaMaking *m)
{
    return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its operands do not fit its kernel");
}

static HoloStatus pool_find(const HoloCudaMaking *m, Pool *out)
{
    const HoloTensor *x = holo_in(m->call, 0), *y = holo_out(m->call, 0);
    int               i = 0;
    while (i < HOLO_COUNT(rows) && !holo_op_is(m->call->op, rows[i].id)) i++;
    if (i == HOLO_COUNT(rows) || !x || !y || x->dtype != y->dtype || x->rank < 3 || x->rank > 5 || y->rank != x->rank)
        return bad(m);
    *out          = (Pool){.is_scaled = rows[i].is_scaled, .is_whole = rows[i].is_whole};
    out->is_last  = rows[i].is_scaled ? holo_attr_int(m->call, "channels_last", 0) != 0 : rows[i].is_last;
    out->is_bytes = x->dtype == HOLO_I8 || x->dtype == HOLO_U8;
    if ((!out->is_bytes && (x->dtype != HOLO_F32 || holo_cuda_type(m, 0) != m->params.store)) ||
        out->is_bytes != (rows[i].is_scaled || (out->is_bytes && !rows[i].is_mean)))
        return bad(m);
    out->p = (HoloCudaPool){.count       = holo_tensor_count(y),
                            .channels    = x->dim[out->is_last ? x->rank - 1 : 1],
                            .is_mean     = rows[i].is_mean,
                            .counts_pads = (int32_t)holo_attr_int(m->call, "count_include_pad", 0) != 0,
                            .type        = !out->is_bytes        ? m->params.store
                                           : x->dtype == HOLO_I8 ? HOLO_CUDA_S8
                                                                 : HOLO_CUDA_U8};
    return HOLO_OK;
}

// ---- windows

// One window that is the whole image.
static HoloStatus whole_set(const HoloCudaMaking *m, Pool *pool)
{
    const HoloTensor *x = m->call->in[0];
    for (int d = 0; d < 3; d++) {
        int own           = d - (5 - x->rank);
        pool->p.in[d]     = own >= 0 ? (int32_t)x->dim[own + (pool->is_last ? 1 : 2)] : 1;
        pool->p.out[d]    = 1;
        pool->p.kernel[d] = pool->p.in[d];
        pool->p.stride[d] = pool->p.dilation[d] = 1;
    }
    return pool->p.count == x->dim[0] * pool->p.channels ? HOLO_OK : bad(m);
}

static HoloStatus windows_set(const HoloCudaMaking *m, Pool *pool)
{
    const HoloTensor *x    = m->call->in[0];
    bool              ceil = holo_attr_int(m->call, "ceil_mode", 0);
    HoloCudaPool     *p    = &pool->p;
    HoloConvShape     shape;
    HoloWindow        window;
    HOLO_TRY(holo_conv_shape(m->call, NULL, pool->is_last, ceil, &shape));
    HOLO_TRY(holo_window_init(m->call, x->rank - 2, x->dim + (pool->is_last ? 1 : 2), NULL, ceil, &window));
    for (int d = 0; d < 3; d++) {
        p->in[d]       = (int32_t)shape.in[d];
        p->out[d]      = (int32_t)shape.out[d];
        p->kernel[d]   = (int32_t)shape.kernel[d];
        p->stride[d]   = (int32_t)shape.stride[d];
        p->pad[d]      = (int32_t)shape.pad[d];
        p->dilation[d] = (int32_t)shape.dilation[d];
        int own        = d - (5 - x->rank);
        p->pad_end[d]  = own >= 0 ? (int32_t)window.pad_end[own] : 0;
    }
    return HOLO_OK;
}

// ---- launches

static bool is_one(const HoloTensor *t, unsigned dtype)
{
    return t && t->dtype == dtype && holo_tensor_count(t) == 1;
}

static HoloStatus mean_add(HoloCudaMaking *m, const Pool *pool)
{
    enum { X_SCALE = 1, X_ZERO, Y_SCALE, Y_ZERO };
    static const size_t at[] = {[X_SCALE] = offsetof(HoloCudaByteMean, x_scale),
                                [X_ZERO]  = offsetof(HoloCudaByteMean, x_zero),
                                [Y_SCALE] = offsetof(HoloCudaByteMean, y_scale),
                                [Y_ZERO]  = offsetof(HoloCudaByteMean, y_zero)};
    HoloCudaStep       *step;
    for (int i = X_SCALE; i <= Y_ZERO; i++) {
        const HoloTensor *t        = holo_in(m->call, i);
        bool              is_scale = i == X_SCALE || i == Y_SCALE;
        if ((t || is_scale) && !is_one(t, is_scale ? HOLO_F32 : m->call->in[0]->dtype)) return bad(m);
    }
    HoloCudaByteMean p     = {.pool         = pool->p,
                              .x_scale_type = holo_cuda_type(m, X_SCALE),
                              .y_scale_type = holo_cuda_type(m, Y_SCALE),
                              .whole        = pool->is_whole};
    HoloCudaShape    shape = holo_cuda_threads(p.pool.count);
    HOLO_TRY(holo_cuda_add(m, "quantize", "bytes_mean", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaByteMean, pool.from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaByteMean, pool.to), holo_cuda_out(m, 0), 0);
    for (int i = X_SCALE; i <= Y_ZERO; i++)
        if (holo_in(m->call, i)) holo_cuda_place(step, at[i], i, 0);
    return HOLO_OK;
}

HoloStatus holo_cuda_pool(HoloCudaMaking *m)
{
    Pool          pool;
    HoloCudaPool *p = &pool.p;
    HoloCudaStep *step;
    HOLO_TRY(pool_find(m, &pool));
    if (!p->count) return HOLO_OK;
    HOLO_TRY(pool.is_whole ? whole_set(m, &pool) : windows_set(m, &pool));
    holo_cuda_image_strides((int64_t[]){p->in[0], p->in[1], p->in[2]}, p->channels, pool.is_last, p->from_stride);
    holo_cuda_image_strides((int64_t[]){p->out[0], p->out[1], p->out[2]}, p->channels, pool.is_last, p->to_stride);
    if (pool.is_scaled) return mean_add(m, &pool);
    bool by_four = pool.is_last && !pool.is_bytes && p->channels % 4 == 0 && p->kernel[0] == 1 && p->in[0] == 1 &&
                   holo_tensor_count(m->call->in[0]) <= INT32_MAX && p->count <= INT32_MAX;
    HoloCudaShape grid = holo_cuda_threads(by_four ? p->count / 4 : p->count);
    HOLO_TRY(holo_cuda_add(m, "basic", by_four ? "pool_last" : "pool", &grid, p, sizeof *p, &step));
    holo_cuda_place(step, offsetof(HoloCudaPool, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaPool, to), holo_cuda_out(m, 0), 0);
    return HOLO_OK;
}
