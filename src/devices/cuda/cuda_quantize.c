// cuda_quantize.c - quantized tensors element by element: QuantizeLinear and its relatives, QLinearAdd and QLinearMul, tables.
#include "devices/cuda/code/bytes_params.h"
#include "devices/cuda/cuda_kernel.h"
#include "ops/op_id.h"

#include <stddef.h>

static HoloStatus bad(const HoloCudaMaking *m)
{
    return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its operands do not fit its kernel");
}

// ---- QuantizeLinear, DequantizeLinear, and Cast of floats of 8 bits

// How elements of a type lie in the device's memory; -1: no kernel reads them.
static int type_of(const HoloCudaMaking *m, const HoloTensor *t)
{
    static const struct {
        HoloDtype dtype;
        uint8_t   type;
    } types[] = {
        {HOLO_I8, HOLO_CUDA_S8},         {HOLO_U8, HOLO_CUDA_U8},
        {HOLO_I16, HOLO_CUDA_S16},       {HOLO_U16, HOLO_CUDA_U16},
        {HOLO_F16, HOLO_CUDA_F16},       {HOLO_BF16, HOLO_CUDA_BF16},
        {HOLO_F8E4M3FN, HOLO_CUDA_E4M3}, {HOLO_F8E4M3FNUZ, HOLO_CUDA_E4M3_FNUZ},
        {HOLO_F8E5M2, HOLO_CUDA_E5M2},   {HOLO_F8E5M2FNUZ, HOLO_CUDA_E5M2_FNUZ},
    };
    if (t->dtype == HOLO_F32) return t->data ? HOLO_CUDA_F32 : m->params.store;
    for (int i = 0; i < HOLO_COUNT(types); i++)
        if (types[i].dtype == t->dtype) return types[i].type;
    return -1;
}

// Which scale belongs to which element.
static HoloStatus scales_set(const HoloCudaMaking *m, HoloCudaQuantize *p)
{
    const HoloTensor *x = m->call->in[0], *scale = holo_in(m->call, 1), *zero = holo_in(m->call, 2);
    int64_t           block = holo_attr_int(m->call, "block_size", 0), want;
    int               axis;
    if (!scale || scale->dtype != HOLO_F32 || block < 0) return bad(m);
    int zero_type = zero ? type_of(m, zero) : 0;
    if (zero_type < 0 || (zero && holo_tensor_count(zero) != holo_tensor_count(scale))) return bad(m);
    p->zero_type  = (uint8_t)zero_type;
    p->scale_type = holo_cuda_type(m, 1);
    p->scales = p->size = p->inner = 1;
    if (!block && holo_tensor_count(scale) == 1) return HOLO_OK;
    HOLO_TRY(holo_axis(m->call, x->rank == 1 ? 0 : holo_attr_int(m->call, "axis", 1), x->rank, &axis));
    p->size   = x->dim[axis];
    p->inner  = holo_product(x->rank - axis - 1, x->dim + axis + 1);
    p->block  = block;
    p->scales = block ? (p->size + block - 1) / block : p->size;
    want      = block ? holo_product(axis, x->dim) * p->scales * p->inner : p->scales;
    return holo_tensor_count(scale) == want ? HOLO_OK : bad(m);
}

static HoloStatus elements_add(HoloCudaMaking *m)
{
    const HoloTensor *x = holo_in(m->call, 0), *y = holo_out(m->call, 0);
    bool              is_cast = holo_op_is(m->call->op, HOLO_ID_Cast);
    if (!x || !y || holo_tensor_count(x) != holo_tensor_count(y)) return bad(m);
    int              from = type_of(m, x), to = type_of(m, y);
    HoloCudaQuantize p = {.count     = holo_tensor_count(x),
                          .from_type = (uint8_t)from,
                          .to_type   = (uint8_t)to,
                          .back = is_cast ? from >= HOLO_CUDA_E4M3 : (m->call->op->flags & HOLO_OP_DEQUANTIZES) != 0,
                          .saturates = holo_attr_int(m->call, "saturate", 1) != 0};
    HoloCudaStep    *step;
    bool             is_real = (p.back ? to : from) <= HOLO_CUDA_BF16;
    if (from < 0 || to < 0 || !is_real || (p.back ? from : to) <= HOLO_CUDA_BF16) return bad(m);
    if (!is_cast) HOLO_TRY(scales_set(m, &p));
    HoloCudaShape shape = holo_cuda_threads(p.count);
    HOLO_TRY(holo_cuda_add(m, "quantize", "quantize", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaQuantize, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaQuantize, to), holo_cuda_out(m, 0), 0);
    if (is_cast) return HOLO_OK;
    holo_cuda_place(step, offsetof(HoloCudaQuantize, scale), 1, 0);
    if (holo_in(m->call, 2)) holo_cuda_place(step, offsetof(HoloCudaQuantize, zero), 2, 0);
    return HOLO_OK;
}

// ---- DynamicQuantizeLinear

static HoloStatus dynamic_add(HoloCudaMaking *m)
{
    const HoloTensor *x        = holo_in(m->call, 0), *out[3];
    const HoloDtype   types[]  = {HOLO_U8, HOLO_F32, HOLO_U8};
    const size_t      places[] = {offsetof(HoloCudaRange, to), offsetof(HoloCudaRange, scale),
                                  offsetof(HoloCudaRange, zero)};
    HoloCudaStep     *step;
    for (int i = 0; i < 3; i++) out[i] = holo_out(m->call, i);
    if (!x || x->dtype != HOLO_F32) return bad(m);
    for (int i = 0; i < 3; i++)
        if (out[i] && (out[i]->dtype != types[i] || holo_tensor_count(out[i]) != (i ? 1 : holo_tensor_count(x))))
            return bad(m);
    HoloCudaRange p = {.count = holo_tensor_count(x), .from_type = holo_cuda_type(m, 0), .scale_type = m->params.store};
    int64_t       parts = (p.count + 1023) / 1024;
    p.parts             = (int32_t)(parts > HOLO_CUDA_RANGES ? HOLO_CUDA_RANGES : parts);
    HoloCudaShape shape = holo_cuda_blocks(p.parts);
    HOLO_TRY(holo_cuda_add(m, "quantize", "range_parts", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaRange, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaRange, ranges), HOLO_CUDA_SCRATCH, 0);
    shape = holo_cuda_threads(p.count ? p.count : 1);
    HOLO_TRY(holo_cuda_add(m, "quantize", "range_quantize", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaRange, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaRange, ranges), HOLO_CUDA_SCRATCH, 0);
    for (int i = 0; i < 3; i++)
        if (out[i]) holo_cuda_place(step, places[i], holo_cuda_out(m, i), 0);
    m->scratch = HOLO_CUDA_RANGES * 2 * sizeof(float);
    return HOLO_OK;
}

HoloStatus holo_cuda_quantize(HoloCudaMaking *m)
{
    return holo_op_is(m->call->op, HOLO_ID_DynamicQuantizeLinear) ? dynamic_add(m) : elements_add(m);
}

// ---- QLinearAdd, QLinearMul

static bool is_one(const HoloTensor *t, unsigned dtype)
{
    return t && t->dtype == dtype && holo_tensor_count(t) == 1;
}

static bool broadcasts(const HoloTensor *t, const HoloTensor *out)
{
    if (!t || t->dtype != out->dtype || t->rank > out->rank) return false;
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d] != 1 && t->dim[d] != out->dim[out->rank - t->rank + d]) return false;
    return true;
}

// Dimensions that both operands step through alike are joined.
static void sizes_join(HoloCudaPair *p, const HoloTensor *y, const int64_t *a, const int64_t *b)
{
    for (int d = 0; d < y->rank; d++) {
        int  last  = p->rank - 1;
        bool joins = last >= 0 && p->a_stride[last] == a[d] * y->dim[d] && p->b_stride[last] == b[d] * y->dim[d];
        if (y->dim[d] == 1) continue;
        int at          = joins ? last : p->rank++;
        p->size[at]     = joins ? p->size[at] * y->dim[d] : y->dim[d];
        p->a_stride[at] = a[d];
        p->b_stride[at] = b[d];
    }
}

HoloStatus holo_cuda_pair(HoloCudaMaking *m)
{
    const HoloTensor   *y    = holo_out(m->call, 0);
    static const size_t at[] = {offsetof(HoloCudaPair, a),       offsetof(HoloCudaPair, a_scale),
                                offsetof(HoloCudaPair, a_zero),  offsetof(HoloCudaPair, b),
                                offsetof(HoloCudaPair, b_scale), offsetof(HoloCudaPair, b_zero),
                                offsetof(HoloCudaPair, y_scale), offsetof(HoloCudaPair, y_zero)};
    int64_t             a[HOLO_MAX_RANK], b[HOLO_MAX_RANK];
    HoloCudaStep       *step;
    if (!y || (y->dtype != HOLO_I8 && y->dtype != HOLO_U8) || y->rank > HOLO_CUDA_RANK ||
        !broadcasts(holo_in(m->call, 0), y) || !broadcasts(holo_in(m->call, 3), y))
        return bad(m);
    for (int i = 1; i < HOLO_COUNT(at); i++) {
        const HoloTensor *t        = holo_in(m->call, i);
        bool              is_scale = i == 1 || i == 4 || i == 6;
        if (i != 3 && (t || is_scale) && !is_one(t, is_scale ? HOLO_F32 : y->dtype)) return bad(m);
    }
    HoloCudaPair p = {.count        = holo_tensor_count(y),
                      .type         = y->dtype == HOLO_I8 ? HOLO_CUDA_S8 : HOLO_CUDA_U8,
                      .multiplies   = holo_op_is(m->call->op, HOLO_ID_MICROSOFT_QLinearMul),
                      .a_scale_type = holo_cuda_type(m, 1),
                      .b_scale_type = holo_cuda_type(m, 4),
                      .y_scale_type = holo_cuda_type(m, 6)};
    holo_strides_broadcast(m->call->in[0], y->rank, y->dim, a);
    holo_strides_broadcast(m->call->in[3], y->rank, y->dim, b);
    sizes_join(&p, y, a, b);
    HoloCudaShape shape = holo_cuda_threads(p.count);
    HOLO_TRY(holo_cuda_add(m, "quantize", "bytes_pair", &shape, &p, sizeof p, &step));
    for (int i = 0; i < HOLO_COUNT(at); i++)
        if (holo_in(m->call, i)) holo_cuda_place(step, at[i], i, 0);
    holo_cuda_place(step, offsetof(HoloCudaPair, to), holo_cuda_out(m, 0), 0);
    return HOLO_OK;
}

// ---- tables

HoloStatus holo_cuda_lookup(HoloCudaMaking *m)
{
    bool              is_pair = holo_op_is(m->call->op, HOLO_ID_HOLOGRAM_LookupPair);
    const HoloTensor *x = holo_in(m->call, 0), *second = is_pair ? holo_in(m->call, 1) : NULL;
    const HoloTensor *table = holo_in(m->call, is_pair ? 2 : 1), *y = holo_out(m->call, 0);
    HoloCudaStep     *step;
    if (!x || !table || !y || is_pair != (second != NULL) || table->dtype != y->dtype) return bad(m);
    int64_t wide = (int64_t)holo_dtype_size((HoloDtype)x->dtype), size = (int64_t)holo_dtype_size((HoloDtype)y->dtype);
    bool    fits = (wide == 1 || (wide == 2 && !is_pair)) && size >= 1 && size <= 8 && !(size & (size - 1)) &&
                holo_tensor_count(x) == holo_tensor_count(y) &&
                holo_tensor_count(table) == (int64_t)1 << 8 * (is_pair ? 2 : wide);
    if (second)
        fits =
            fits && holo_dtype_size((HoloDtype)second->dtype) == 1 && holo_tensor_count(second) == holo_tensor_count(x);
    if (!fits || x->dtype == HOLO_F32) return bad(m);
    HoloCudaLookup p = {
        .count = holo_tensor_count(y), .wide = (int32_t)wide, .element = (int32_t)size, .to_type = m->params.store};
    if (y->dtype == HOLO_F32 && m->params.store != HOLO_CUDA_F32) {
        p.converts = table->data != NULL;
        p.element  = 2;
    }
    HoloCudaShape shape = holo_cuda_threads(p.count);
    HOLO_TRY(holo_cuda_add(m, "quantize", "lookup", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaLookup, from), 0, 0);
    if (second) holo_cuda_place(step, offsetof(HoloCudaLookup, second), 1, 0);
    holo_cuda_place(step, offsetof(HoloCudaLookup, table), is_pair ? 2 : 1, 0);
    holo_cuda_place(step, offsetof(HoloCudaLookup, to), holo_cuda_out(m, 0), 0);
    return HOLO_OK;
}
