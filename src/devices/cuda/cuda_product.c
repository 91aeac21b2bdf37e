// cuda_product.c - products: the tiles of cuda_pick.h where they fit, and a plain kernel for any strides elsewhere.
#include "devices/cuda/cuda_product.h"
#include "devices/cuda/cuda_pick.h"

#include <stddef.h>
#include <string.h>

// ---- launches that were picked

static const struct { // where addresses are in the parameters of each kind; 0: it has none
    size_t a, b, c, bias, more, partial, counters;
} places[] = {
    [HOLO_CUDA_PRODUCT]   = {offsetof(HoloCudaProduct, a), offsetof(HoloCudaProduct, b), offsetof(HoloCudaProduct, c),
                             offsetof(HoloCudaProduct, bias), offsetof(HoloCudaProduct, more),
                             offsetof(HoloCudaProduct, partial), offsetof(HoloCudaProduct, counters)},
    [HOLO_CUDA_ROWS]      = {offsetof(HoloCudaRows, a), offsetof(HoloCudaRows, b), offsetof(HoloCudaRows, c),
                             offsetof(HoloCudaRows, bias), offsetof(HoloCudaRows, more), 0, 0},
    [HOLO_CUDA_DEPTHWISE] = {offsetof(HoloCudaDepthwise, a), offsetof(HoloCudaDepthwise, b),
                             offsetof(HoloCudaDepthwise, c), offsetof(HoloCudaDepthwise, bias),
                             offsetof(HoloCudaDepthwise, more), 0, 0},
    [HOLO_CUDA_TILED]     = {offsetof(HoloCudaTiled, p.a), offsetof(HoloCudaTiled, p.b), offsetof(HoloCudaTiled, p.c),
                             offsetof(HoloCudaTiled, p.bias), offsetof(HoloCudaTiled, p.more), 0, 0},
};

static HoloStatus turn_add(HoloCudaMaking *m, const HoloCudaPick *pick)
{
    const HoloCudaLaunch *l = &pick->launch[0];
    HoloCudaShape shape     = {.grid = {l->grid[0], l->grid[1], l->grid[2]}, .block = l->block, .shared = l->shared};
    HoloCudaStep *step;
    HOLO_TRY(holo_cuda_add(m, l->module, l->kernel, &shape, &l->params, l->params_size, &step));
    holo_cuda_place(step, offsetof(HoloCudaTurn, from), pick->turned == 1 ? 0 : 1, 0);
    holo_cuda_place(step, offsetof(HoloCudaTurn, to), HOLO_CUDA_SCRATCH, 0);
    return HOLO_OK;
}

// Bytes before column `first` of something whose elements are of that type.
static uint64_t columns_bytes(const HoloCudaOperands *of, uint8_t type)
{
    return (uint64_t)of->first * (type == HOLO_CUDA_F32 ? 4 : 2);
}

static void operands_place(const HoloCudaMaking *m, const HoloCudaOperands *of, const HoloCudaLaunch *l,
                           HoloCudaStep *step)
{
    holo_cuda_place(step, places[l->kind].a, of->a.operand, of->a.offset);
    holo_cuda_place(step, places[l->kind].b, of->b.operand, of->b.offset);
    if (l->kind == HOLO_CUDA_TILED) {
        holo_cuda_place_map(step, &l->map[0], offsetof(HoloCudaTiled, a_map), of->a.operand, of->a.offset);
        holo_cuda_place_map(step, &l->map[1], offsetof(HoloCudaTiled, b_map), of->b.operand, of->b.offset);
    }
    uint64_t skipped = columns_bytes(of, m->params.store);
    holo_cuda_place(step, places[l->kind].c, holo_cuda_out(m, 0), skipped);
    if (of->bias >= 0) holo_cuda_place(step, places[l->kind].bias, of->bias, columns_bytes(of, HOLO_CUDA_F32));
    if (of->more >= 0) holo_cuda_place(step, places[l->kind].more, of->more, skipped);
}

HoloStatus holo_cuda_picked(HoloCudaMaking *m, const HoloCudaPick *pick, const HoloCudaOperands *given)
{
    const HoloCudaLaunch *l  = &pick->launch[pick->count - 1];
    HoloCudaOperands      of = *given;
    if (!pick->count) return HOLO_OK;
    if (pick->turned) HOLO_TRY(turn_add(m, pick));
    HoloCudaShape shape = {
        .grid = {l->grid[0], l->grid[1], l->grid[2]}, .block = l->block, .shared = l->shared, .cluster = l->cluster};
    HoloCudaStep *step;
    HOLO_TRY(holo_cuda_add(m, l->module, l->kernel, &shape, &l->params, l->params_size, &step));
    if (l->kind == HOLO_CUDA_ROWS && pick->count == 1) holo_cuda_join(step, l->params_size);
    if (l->kind == HOLO_CUDA_ROWS && l->gated && step) { // code of older archives has no such kernel
        HoloError none = {0};
        bool      is_early;
        if (holo_cuda_function(m->shared, l->module, l->gated, l->shared, &step->gated, &is_early, &none))
            step->gated = NULL;
        step->gated_blocks = l->gated_blocks;
    }
    if (pick->turned == 1) of.a = (HoloCudaOperand){HOLO_CUDA_SCRATCH, 0};
    if (pick->turned == 2) of.b = (HoloCudaOperand){HOLO_CUDA_SCRATCH, 0};
    operands_place(m, &of, l, step);
    if (places[l->kind].partial) {
        holo_cuda_place(step, places[l->kind].partial, HOLO_CUDA_SCRATCH, of.scratch + pick->partial_at);
        holo_cuda_place(step, places[l->kind].counters, HOLO_CUDA_COUNTS, 0);
    }
    if (of.scratch + pick->workspace > m->scratch) m->scratch = of.scratch + pick->workspace;
    return HOLO_OK;
}

// ---- the sizes of a product

static int64_t size_at(const HoloTensor *t, int from_end)
{
    return t->rank >= from_end ? t->dim[t->rank - from_end] : 1;
}

// The batch as two dimensions. Where all sizes are equal, as one; one B for all rows of A is no batch.
static HoloStatus batch_find(const HoloCudaMaking *m, const HoloTensor *a, const HoloTensor *b, HoloCudaSizes *s)
{
    int64_t a_matrix = s->m * s->k, b_matrix = s->k * s->n, a_all = 1, b_all = 1;
    bool    equal = a->rank == b->rank;
    for (int d = 3; d <= a->rank; d++) a_all *= size_at(a, d);
    for (int d = 3; d <= b->rank; d++) b_all *= size_at(b, d);
    for (int d = 3; d <= a->rank && equal; d++) equal = size_at(a, d) == size_at(b, d);
    s->batch = s->inner = 1;
    if (b_all == 1 && s->a_column == 1) {
        s->m *= a_all;
        return HOLO_OK;
    }
    if (equal || a_all == 1 || b_all == 1) {
        s->batch      = a_all == 1 ? b_all : a_all;
        s->a_batch[0] = a_all == 1 ? 0 : a_matrix;
        s->b_batch[0] = b_all == 1 ? 0 : b_matrix;
        return HOLO_OK;
    }
    if (a->rank > 4 || b->rank > 4)
        return holo_call_fail(m->call, HOLO_UNSUPPORTED,
                              "cuda: a product of more than four dimensions that broadcasts");
    int64_t a1 = size_at(a, 3), a0 = size_at(a, 4), b1 = size_at(b, 3), b0 = size_at(b, 4);
    s->inner      = a1 == 1 ? b1 : a1;
    s->batch      = (a0 == 1 ? b0 : a0) * s->inner;
    s->a_batch[0] = a0 == 1 ? 0 : a_matrix * a1;
    s->a_batch[1] = a1 == 1 ? 0 : a_matrix;
    s->b_batch[0] = b0 == 1 ? 0 : b_matrix * b1;
    s->b_batch[1] = b1 == 1 ? 0 : b_matrix;
    return HOLO_OK;
}

HoloStatus holo_cuda_sizes(const HoloCudaMaking *m, const HoloTensor *a, const HoloTensor *b, HoloCudaSizes *s)
{
    const HoloCall *call = m->call;
    bool ta = holo_attr_int(call, "transA", 0) && a->rank > 1, tb = holo_attr_int(call, "transB", 0) && b->rank > 1;
    s->k           = a->rank == 1 ? a->dim[0] : size_at(a, ta ? 2 : 1);
    s->m           = a->rank == 1 ? 1 : size_at(a, ta ? 1 : 2);
    s->n           = b->rank == 1 ? 1 : size_at(b, tb ? 2 : 1);
    s->a_row       = ta ? 1 : s->k;
    s->a_column    = ta ? s->m : 1;
    s->b_row       = tb ? 1 : s->n;
    s->b_column    = tb ? s->k : 1;
    s->is_b_turned = tb;
    s->c_row       = s->n;
    HOLO_TRY(batch_find(m, a, b, s));
    if (s->k != (b->rank == 1 ? b->dim[0] : size_at(b, tb ? 1 : 2)) ||
        s->batch * s->m * s->n != holo_tensor_count(call->out[0]))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "its sizes are not those of a product");
    return HOLO_OK;
}

static HoloStatus sizes_find(const HoloCudaMaking *m, HoloCudaSizes *s)
{
    const HoloCall   *call = m->call;
    const HoloTensor *a = holo_in(call, 0), *b = holo_in(call, 1), *c = holo_in(call, 2), *out = holo_out(call, 0);
    bool              packed = m->params.flags & HOLO_CUDA_FLAG_PACKED; // then the type does not matter
    if (!a || !b || !out || a->dtype != HOLO_F32 || (b->dtype != HOLO_F32 && !packed) || out->dtype != HOLO_F32 ||
        a->rank < 1 || b->rank < 1)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "it is no product of f32");
    HOLO_TRY(holo_cuda_sizes(m, a, b, s));
    s->of.bias = c ? 2 : -1;
    s->of.more = m->params.more_how ? 3 : -1;
    if (!c) return HOLO_OK;
    int64_t columns = size_at(c, 1), rows = size_at(c, 2);
    if (c->dtype != HOLO_F32 || c->rank > 2 || (columns != 1 && columns != s->n) || (rows != 1 && rows != s->m))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "its bias does not fit");
    s->bias_stride[0] = rows == 1 ? 0 : columns;
    s->bias_stride[1] = columns == 1 ? 0 : 1;
    s->bias_is_line   = rows == 1 && columns == s->n;
    return HOLO_OK;
}

// ---- a norm along with the product

// x, gain and shift of the norm that makes A, from input `along` on. The product reads x if it normalises.
static HoloStatus norm_find(const HoloCudaMaking *m, HoloCudaSizes *s)
{
    int along = holo_cuda_along(m);
    if (!along || s->batch != 1 || s->a_column != 1 || !holo_cuda_normalises(m, s->m, s->k)) return HOLO_OK;
    const HoloTensor *x = holo_in(m->call, along), *gain = holo_in(m->call, along + 1),
                     *shift = holo_in(m->call, along + 2);
    bool ok = x && x->dtype == HOLO_F32 && !x->data && holo_tensor_count(x) == s->m * s->k && s->is_b_packed && gain;
    ok      = ok && gain->dtype == HOLO_F32 && gain->data && holo_tensor_count(gain) == s->k;
    ok      = ok && (!shift || (shift->dtype == HOLO_F32 && shift->data && holo_tensor_count(shift) == s->k));
    if (!ok) return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its norm is broken");
    s->norm         = along;
    s->of.a.operand = along;
    return HOLO_OK;
}

// The rows of the launch that was picked are normalised first.
static HoloStatus norm_place(const HoloCudaMaking *m, const HoloCudaSizes *s, HoloCudaStep *step)
{
    HoloCudaRows *p = (HoloCudaRows *)(void *)step->args;
    if (!p->kept) return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its norm has no kernel");
    bool is_centred = holo_attr_int(m->call, "centred", 0);
    p->norm         = 1 + (is_centred ? HOLO_CUDA_ROW_LAYER_NORM : HOLO_CUDA_ROW_RMS_NORM);
    p->epsilon      = (float)holo_attr_float(m->call, "epsilon", 1e-5);
    holo_cuda_place(step, offsetof(HoloCudaRows, gain), s->norm + 1, 0);
    if (holo_in(m->call, s->norm + 2)) holo_cuda_place(step, offsetof(HoloCudaRows, shift), s->norm + 2, 0);
    return HOLO_OK;
}

// ---- the launch

static bool fits_32(const HoloCudaSizes *s)
{
    return s->m <= INT32_MAX && s->n <= INT32_MAX && s->k <= INT32_MAX && s->batch <= 65535 && s->inner <= INT32_MAX;
}

static bool tile_pick(const HoloCudaMaking *m, const HoloCudaSizes *s, HoloCudaPick *out)
{
    bool         packed = s->is_b_packed;
    int          bias = s->of.bias, more = s->of.more;
    uint8_t      type = m->params.store, a_type = holo_cuda_type(m, 0), b_type = packed ? type : holo_cuda_type(m, 1);
    HoloCudaWant want = {.type       = type,
                         .numeric    = m->params.numeric,
                         .b_plain    = !packed && !s->is_b_turned,
                         .b_constant = s->is_b_constant,
                         .align      = 16,
                         .cluster    = holo_cuda_has_clusters(m->shared),
                         .shared     = (uint32_t)m->shared->shared_most,
                         .tiled      = holo_cuda_is_tiled(m),
                         .batch      = (int32_t)s->batch,
                         .sms        = m->shared->multiprocessors};
    bool         line = bias < 0 || (s->bias_is_line && holo_cuda_type(m, bias) == HOLO_CUDA_F32);
    if (a_type != type || b_type != type || s->a_column != 1 || !line || !fits_32(s)) return false;
    if (more >= 0 && holo_cuda_type(m, more) != type) return false;
    HoloCudaProduct p = {.m         = (int32_t)s->m,
                         .n         = (int32_t)s->n,
                         .k         = (int32_t)s->k,
                         .inner     = (int32_t)s->inner,
                         .lda       = (int32_t)s->k,
                         .ldb       = (int32_t)(packed           ? holo_cuda_packed_row(s->k, type)
                                                : s->is_b_turned ? s->k
                                                                 : s->n),
                         .ldc       = (int32_t)s->c_row,
                         .ldmore    = (int32_t)s->c_row,
                         .alpha     = m->params.alpha,
                         .low       = m->params.low,
                         .high      = m->params.high,
                         .c_type    = type,
                         .more_type = type,
                         .act       = m->params.act,
                         .more_how  = m->params.more_how};
    memcpy(p.a_batch, s->a_batch, sizeof p.a_batch);
    memcpy(p.b_batch, s->b_batch, sizeof p.b_batch);
    p.c_batch[1] = p.more_batch[1] = s->m * s->c_row;
    p.c_batch[0] = p.more_batch[0] = s->m * s->c_row * s->inner;
    return holo_cuda_pick_product(&want, &p, out);
}

static HoloStatus plain_add(HoloCudaMaking *m, const HoloCudaSizes *s)
{
    const HoloCudaOperands *of     = &s->of;
    bool                    packed = s->is_b_packed;
    int64_t                 row    = packed ? holo_cuda_packed_row(s->k, m->params.store) : 0;
    HoloCudaPlain           p      = {.m           = s->m,
                                      .n           = s->n,
                                      .k           = s->k,
                                      .inner       = s->inner,
                                      .a_stride    = {s->a_row, s->a_column},
                                      .b_stride    = {packed ? 1 : s->b_row, packed ? row : s->b_column},
                                      .bias_stride = {s->bias_stride[0], s->bias_stride[1]},
                                      .more_stride = {s->c_row, 1},
                                      .c_row       = s->c_row,
                                      .c_batch     = s->m * s->c_row,
                                      .more_batch  = s->m * s->c_row,
                                      .a_batch     = {s->a_batch[0], s->a_batch[1]},
                                      .b_batch     = {s->b_batch[0], s->b_batch[1]},
                                      .alpha       = m->params.alpha,
                                      .low         = m->params.low,
                                      .high        = m->params.high,
                                      .a_type      = holo_cuda_type(m, 0),
                                      .b_type      = packed ? m->params.store : holo_cuda_type(m, 1),
                                      .c_type      = m->params.store,
                                      .act         = m->params.act,
                                      .more_how    = m->params.more_how};
    if (of->bias >= 0) p.bias_type = holo_cuda_type(m, of->bias);
    if (of->more >= 0) p.more_type = holo_cuda_type(m, of->more);
    HoloCudaShape shape = {.grid  = {(uint64_t)(s->n + 15) / 16, (uint64_t)(s->m + 15) / 16, (uint64_t)s->batch},
                           .block = 256};
    HoloCudaStep *step;
    HOLO_TRY(holo_cuda_add(m, "basic", "plain", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaPlain, a), of->a.operand, of->a.offset);
    holo_cuda_place(step, offsetof(HoloCudaPlain, b), of->b.operand, of->b.offset);
    holo_cuda_place(step, offsetof(HoloCudaPlain, c), holo_cuda_out(m, 0), columns_bytes(of, p.c_type));
    if (of->bias >= 0) holo_cuda_place(step, offsetof(HoloCudaPlain, bias), of->bias, columns_bytes(of, p.bias_type));
    if (of->more >= 0) holo_cuda_place(step, offsetof(HoloCudaPlain, more), of->more, columns_bytes(of, p.more_type));
    return HOLO_OK;
}

bool holo_cuda_is_tiled(const HoloCudaMaking *m)
{
    const char *module = holo_cuda_tiled_module(m->params.store, m->params.numeric);
    return module && m->shared->capability == 90 && holo_cuda_has(m->shared, module);
}

static HoloStatus end_check(const HoloCudaMaking *m)
{
    const HoloTensor *more = holo_in(m->call, 3), *out = m->call->out[0];
    bool              ok = m->params.act < HOLO_CUDA_ACTS && m->params.more_how < HOLO_CUDA_MORES;
    if (ok && m->params.more_how)
        ok = more && more->dtype == HOLO_F32 && holo_tensor_count(more) == holo_tensor_count(out);
    return ok ? HOLO_OK : holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "the end of its product is broken");
}

HoloStatus holo_cuda_end_check(const HoloCudaMaking *m)
{
    return end_check(m);
}

HoloStatus holo_cuda_product_add(HoloCudaMaking *m, const HoloCudaSizes *s)
{
    HoloCudaPick pick = {0};
    bool         is   = tile_pick(m, s, &pick);
    if (!s->norm || (is && !pick.count)) return is ? holo_cuda_picked(m, &pick, &s->of) : plain_add(m, s);
    if (!is || pick.launch[0].kind != HOLO_CUDA_ROWS)
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "its norm has no kernel");
    HOLO_TRY(holo_cuda_picked(m, &pick, &s->of));
    return m->job->last ? norm_place(m, s, m->job->last) : HOLO_OK;
}

HoloStatus holo_cuda_product(HoloCudaMaking *m)
{
    HoloCudaSizes s = {.of = {.b = {1, 0}}};
    s.is_b_packed = s.is_b_constant = m->params.flags & HOLO_CUDA_FLAG_PACKED;
    HOLO_TRY(sizes_find(m, &s));
    HOLO_TRY(end_check(m));
    if (s.is_b_packed && (s.batch != 1 || m->call->in[1]->rank > 2))
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "only one matrix of weights can be packed");
    if (s.is_b_packed) holo_cuda_packed(m, s.n, s.k);
    HOLO_TRY(norm_find(m, &s));
    HOLO_TRY(holo_cuda_product_add(m, &s));
    return holo_cuda_tail(m);
}
