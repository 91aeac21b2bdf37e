// cuda_rows.c - reductions, softmax and normalization.
#include "devices/cpu/conv_shape.h"
#include "devices/cuda/cuda_kernel.h"
#include "devices/cuda/cuda_pick.h"
#include "ops/op_id.h"
#include "ops/window.h"

#include <stddef.h>
#include <string.h>

static HoloStatus bad(const HoloCudaMaking *m)
{
    return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its operands do not fit its kernel");
}

static bool is_f32(const HoloTensor *t)
{
    return t && t->dtype == HOLO_F32;
}

// ---- reductions

static const struct {
    HoloOpId id;
    int      what;
} folds[] = {
    {HOLO_ID_ReduceSum, HOLO_CUDA_FOLD_SUM},
    {HOLO_ID_ReduceMean, HOLO_CUDA_FOLD_MEAN},
    {HOLO_ID_ReduceMax, HOLO_CUDA_FOLD_MAX},
    {HOLO_ID_ReduceMin, HOLO_CUDA_FOLD_MIN},
    {HOLO_ID_ReduceSumSquare, HOLO_CUDA_FOLD_SQUARES},
    {HOLO_ID_ReduceL1, HOLO_CUDA_FOLD_L1},
    {HOLO_ID_ReduceL2, HOLO_CUDA_FOLD_L2},
    {HOLO_ID_ReduceProd, HOLO_CUDA_FOLD_PRODUCT},
    {HOLO_ID_ReduceLogSum, HOLO_CUDA_FOLD_LOG_SUM},
    {HOLO_ID_ReduceLogSumExp, HOLO_CUDA_FOLD_LOG_SUM_EXP},
    {HOLO_ID_GlobalAveragePool, HOLO_CUDA_FOLD_MEAN},
    {HOLO_ID_GlobalMaxPool, HOLO_CUDA_FOLD_MAX},
};

// Which axes, as one run of neighbours; axes of one element do not matter. False: they are not neighbours.
static HoloStatus axes_find(const HoloCudaMaking *m, int *out_first, int *out_end)
{
    const HoloTensor *x = m->call->in[0];
    bool              known, is[HOLO_MAX_RANK]   = {false};
    int               axes[HOLO_MAX_RANK], count = -1;
    if (holo_op_is(m->call->op, HOLO_ID_GlobalAveragePool) || holo_op_is(m->call->op, HOLO_ID_GlobalMaxPool)) {
        *out_first = 2;
        *out_end   = x->rank;
        return HOLO_OK;
    }
    HOLO_TRY(holo_axes(m->call, "axes", 1, x->rank, axes, &count, &known));
    if (!known) return bad(m);
    for (int d = 0; d < x->rank; d++) is[d] = count <= 0;
    for (int i = 0; i < count; i++) is[axes[i]] = true;
    int first = 0, end = x->rank;
    while (end > 0 && (!is[end - 1] || x->dim[end - 1] == 1)) end--;
    while (first < end && (!is[first] || x->dim[first] == 1)) first++;
    for (int d = first; d < end; d++)
        if (!is[d] && x->dim[d] != 1)
            return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: a reduction along axes that are not neighbors");
    *out_first = first;
    *out_end   = end;
    return HOLO_OK;
}

HoloStatus holo_cuda_reduce(HoloCudaMaking *m)
{
    const HoloTensor *x = holo_in(m->call, 0), *out = holo_out(m->call, 0);
    HoloCudaFold      p = {.outer = 1, .size = 1, .inner = 1, .what = -1, .to_type = m->params.store};
    HoloCudaStep     *step;
    int               first = 0, end = 0;
    if (!is_f32(x) || !is_f32(out)) return bad(m);
    for (int i = 0; i < HOLO_COUNT(folds); i++)
        if (holo_op_is(m->call->op, folds[i].id)) p.what = folds[i].what;
    if (p.what < 0) return bad(m);
    HOLO_TRY(axes_find(m, &first, &end));
    for (int d = 0; d < x->rank; d++) *(d < first ? &p.outer : d < end ? &p.size : &p.inner) *= x->dim[d];
    if (p.outer * p.inner != holo_tensor_count(out)) return bad(m);
    p.from_type         = holo_cuda_type(m, 0);
    bool          rows  = p.inner == 1 && p.size >= 32;
    HoloCudaShape shape = rows ? holo_cuda_blocks(p.outer) : holo_cuda_threads(p.outer * p.inner);
    HOLO_TRY(holo_cuda_add(m, "basic", rows ? "fold_rows" : "fold_columns", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaFold, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaFold, to), holo_cuda_out(m, 0), 0);
    return HOLO_OK;
}

// ---- rows of neighbours

// Adds the kernel for rows, if it can do this. `gain` and `bias` are inputs of f32, or -1. *out_done is false if it cannot. It reads
// them by the read-only cache, which is right for constants alone: kernels before this one may still run when it begins.
static HoloStatus norm_add(HoloCudaMaking *m, const HoloCudaNorm *asked, int gain, int bias, bool *out_done)
{
    HoloCudaWant  want = {.type    = m->params.store,
                          .numeric = m->params.numeric,
                          .align   = 16,
                          .batch   = 1,
                          .sms     = m->shared->multiprocessors};
    HoloCudaPick  pick;
    HoloCudaStep *step;
    bool          known = (gain < 0 || m->call->in[gain]->data) && (bias < 0 || m->call->in[bias]->data);
    *out_done           = known && holo_cuda_pick_norm(&want, asked, &pick);
    if (!*out_done || !pick.count) return HOLO_OK;
    const HoloCudaLaunch *l = &pick.launch[0];
    HoloCudaShape shape     = {.grid = {l->grid[0], l->grid[1], l->grid[2]}, .block = l->block, .shared = l->shared};
    HOLO_TRY(holo_cuda_add(m, l->module, l->kernel, &shape, &l->params, l->params_size, &step));
    holo_cuda_place(step, offsetof(HoloCudaNorm, a), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaNorm, c), holo_cuda_out(m, 0), 0);
    if (gain >= 0) holo_cuda_place(step, offsetof(HoloCudaNorm, gain), gain, 0);
    if (bias >= 0) holo_cuda_place(step, offsetof(HoloCudaNorm, bias), bias, 0);
    return HOLO_OK;
}

static HoloCudaNorm norm_of(const HoloCudaMaking *m, int64_t rows, int64_t width, uint8_t what)
{
    return (HoloCudaNorm){.rows    = (int32_t)rows,
                          .width   = (int32_t)width,
                          .lda     = (int32_t)width,
                          .ldc     = (int32_t)width,
                          .epsilon = (float)holo_attr_float(m->call, "epsilon", 1e-5),
                          .what    = what,
                          .a_type  = m->params.store,
                          .c_type  = m->params.store};
}

// ---- softmax

static HoloStatus softmax(HoloCudaMaking *m)
{
    const HoloTensor *x      = m->call->in[0];
    bool              matrix = m->call->version < 13; // then a row is all axes from `axis` on
    HoloCudaSoft      p      = {.outer = 1, .size = 1, .inner = 1, .type = m->params.store};
    HoloCudaStep     *step;
    int64_t           axis = holo_attr_int(m->call, "axis", matrix ? 1 : -1);
    if (axis < 0) axis += x->rank;
    if (axis < 0 || axis > x->rank || (!matrix && axis == x->rank) || holo_cuda_type(m, 0) != m->params.store)
        return bad(m);
    for (int d = 0; d < x->rank; d++) *(d < axis ? &p.outer : d == axis || matrix ? &p.size : &p.inner) *= x->dim[d];
    if (!p.size) p.outer = 0;
    p.is_log  = holo_op_is(m->call->op, HOLO_ID_LogSoftmax);
    bool done = false;
    if (p.inner == 1 && p.size <= INT32_MAX && p.outer <= INT32_MAX) {
        HoloCudaNorm rows = norm_of(m, p.outer, p.size, p.is_log ? HOLO_CUDA_ROW_LOG_SOFTMAX : HOLO_CUDA_ROW_SOFTMAX);
        HOLO_TRY(norm_add(m, &rows, -1, -1, &done));
    }
    if (done) return HOLO_OK;
    HoloCudaShape shape = holo_cuda_blocks(p.outer * p.inner);
    if (p.size <= 128) shape.block = 32;
    HOLO_TRY(holo_cuda_add(m, "basic", "soft", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaSoft, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaSoft, to), holo_cuda_out(m, 0), 0);
    return HOLO_OK;
}

// ---- normalization

static HoloStatus centre_add(HoloCudaMaking *m, HoloCudaCentre *p, int gain, int bias)
{
    HoloCudaStep *step;
    if (holo_cuda_type(m, 0) != m->params.store) return bad(m);
    p->type             = m->params.store;
    p->epsilon          = (float)holo_attr_float(m->call, "epsilon", 1e-5);
    p->gain_type        = gain >= 0 ? holo_cuda_type(m, gain) : 0;
    p->bias_type        = bias >= 0 ? holo_cuda_type(m, bias) : 0;
    HoloCudaShape shape = holo_cuda_blocks(p->size ? p->groups : 0);
    HOLO_TRY(holo_cuda_add(m, "basic", "centre", &shape, p, sizeof *p, &step));
    holo_cuda_place(step, offsetof(HoloCudaCentre, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaCentre, to), holo_cuda_out(m, 0), 0);
    if (gain >= 0) holo_cuda_place(step, offsetof(HoloCudaCentre, gain), gain, 0);
    if (bias >= 0) holo_cuda_place(step, offsetof(HoloCudaCentre, bias), bias, 0);
    return HOLO_OK;
}

// Scale and bias have an element for each element of a row.
static HoloStatus layer_norm(HoloCudaMaking *m)
{
    const HoloTensor *x = m->call->in[0], *scale = holo_in(m->call, 1), *bias = holo_in(m->call, 2);
    HoloCudaCentre    p    = {.groups     = 1,
                              .size       = 1,
                              .gains      = 1,
                              .each       = 1,
                              .is_centred = holo_op_is(m->call->op, HOLO_ID_LayerNormalization)};
    int64_t           axis = holo_attr_int(m->call, "axis", -1);
    if (axis < 0) axis += x->rank;
    if (axis < 0 || axis >= x->rank || !is_f32(scale) || (bias && !is_f32(bias))) return bad(m);
    for (int d = 0; d < x->rank; d++) *(d < axis ? &p.groups : &p.size) *= x->dim[d];
    if (holo_tensor_count(scale) != p.size || (bias && holo_tensor_count(bias) != p.size)) return bad(m);
    p.period  = p.size ? p.size : 1;
    bool done = false;
    if (p.size <= INT32_MAX && p.groups <= INT32_MAX && holo_cuda_type(m, 0) == m->params.store) {
        HoloCudaNorm rows =
            norm_of(m, p.groups, p.size, p.is_centred ? HOLO_CUDA_ROW_LAYER_NORM : HOLO_CUDA_ROW_RMS_NORM);
        HOLO_TRY(norm_add(m, &rows, 1, bias ? 2 : -1, &done));
    }
    return done ? HOLO_OK : centre_add(m, &p, 1, bias ? 2 : -1);
}

HoloStatus holo_cuda_rows(HoloCudaMaking *m)
{
    const HoloTensor *x = holo_in(m->call, 0), *out = holo_out(m->call, 0);
    if (!is_f32(x) || !is_f32(out) || holo_tensor_count(x) != holo_tensor_count(out)) return bad(m);
    bool is_soft = holo_op_is(m->call->op, HOLO_ID_Softmax) || holo_op_is(m->call->op, HOLO_ID_LogSoftmax);
    return is_soft ? softmax(m) : layer_norm(m);
}

bool holo_cuda_normalises(const HoloCudaMaking *m, int64_t rows, int64_t width)
{
    return m->params.numeric != HOLO_CUDA_NUMERIC_EXACT &&
           holo_cuda_rows_keep(m->params.store, (uint32_t)m->shared->shared_most, rows, width);
}

HoloStatus holo_cuda_rows_later(HoloCudaMaking *m)
{
    const HoloTensor *x     = holo_in(m->call, 0);
    int64_t           width = x && x->rank > 0 ? x->dim[x->rank - 1] : 0;
    bool              later = width > 0 && holo_cuda_normalises(m, holo_tensor_count(x) / width, width);
    return later ? HOLO_OK : holo_cuda_rows(m);
}

// GroupNormalization, with channels last or not, and InstanceNormalization: one scale and bias for each channel.
HoloStatus holo_cuda_group_norm(HoloCudaMaking *m)
{
    const HoloTensor *x = holo_in(m->call, 0), *scale = holo_in(m->call, 1), *bias = holo_in(m->call, 2);
    bool              is_last = holo_op_is(m->call->op, HOLO_ID_HOLOGRAM_GroupNormalization);
    if (!is_f32(x) || !is_f32(scale) || !is_f32(bias) || x->rank < 3 || !is_f32(holo_out(m->call, 0))) return bad(m);
    int64_t channels = x->dim[is_last ? x->rank - 1 : 1], pixels = 1;
    bool    is_instance = holo_op_is(m->call->op, HOLO_ID_InstanceNormalization);
    int64_t groups      = is_instance ? channels : holo_attr_int(m->call, "num_groups", 0);
    for (int d = is_last ? 1 : 2; d < x->rank - is_last; d++) pixels *= x->dim[d];
    if (groups < 1 || channels % groups || holo_tensor_count(scale) != channels || holo_tensor_count(bias) != channels)
        return bad(m);
    int64_t        own = channels / groups;
    HoloCudaCentre p   = {.groups     = x->dim[0] * groups,
                          .size       = own * pixels,
                          .gains      = groups,
                          .step       = own,
                          .each       = is_last  ? 1
                                        : pixels ? pixels
                                                 : 1,
                          .period     = own,
                          .is_centred = 1};
    if (is_last) p.stride = channels, p.part = own, p.starts = groups;
    HOLO_TRY(centre_add(m, &p, 1, 2));
    return holo_cuda_tail(m);
}
