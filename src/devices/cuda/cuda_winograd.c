// cuda_winograd.c - 3x3 convolutions by tiles of 2x2 pixels: for each part of the tiles a transform, 16 products in one launch,
// and a transform back.
#include "devices/cuda/cuda_winograd.h"

#include "devices/cpu/conv_shape.h"
#include "devices/cuda/cuda_product.h"
#include "ops/op_id.h"

#include <math.h>
#include <stddef.h>

enum { PLACES = HOLO_CUDA_WINOGRAD_PLACES, SIDE = HOLO_CUDA_WINOGRAD_SIDE, LONGEST = 1 << 28 };

// ---- the sizes

static bool is_image(const HoloTensor *t)
{
    if (!t || t->dtype != HOLO_F32 || t->rank != 4) return false;
    for (int d = 0; d < 4; d++)
        if (holo_dim_is_symbolic(t->dim[d]) || t->dim[d] < 1 || t->dim[d] > LONGEST) return false;
    return true;
}

static bool is_one(const HoloConvShape *s)
{
    bool one = true;
    for (int d = 1; d < 3; d++)
        one = one && s->kernel[d] == 3 && s->stride[d] == 1 && s->dilation[d] == 1 && s->pad[d] >= -LONGEST &&
              s->pad[d] <= LONGEST;
    return one;
}

bool holo_cuda_winograd_find(const HoloCall *call, HoloCudaWinograd *out)
{
    const HoloTensor *x = holo_in(call, 0), *w = holo_in(call, 1), *b = holo_in(call, 2), *y = holo_out(call, 0);
    HoloConvShape     s;
    if (!holo_op_is(call->op, HOLO_ID_HOLOGRAM_Conv) || !is_image(x) || !is_image(w) || !is_image(y)) return false;
    if (holo_attr_int(call, "group", 1) != 1 || w->dim[1] != x->dim[3] || w->dim[0] != y->dim[3] ||
        x->dim[0] != y->dim[0] || x->dim[3] % 4 || y->dim[3] % 4)
        return false;
    if (b && (b->dtype != HOLO_F32 || b->rank != 1 || b->dim[0] != w->dim[0])) return false;
    if (holo_conv_shape(call, w->dim + 2, true, false, &s) || !is_one(&s)) return false;
    *out = (HoloCudaWinograd){.images   = x->dim[0],
                              .channels = x->dim[3],
                              .filters  = y->dim[3],
                              .height   = s.in[1],
                              .width    = s.in[2],
                              .out_h    = s.out[1],
                              .out_w    = s.out[2],
                              .pad_h    = s.pad[1],
                              .pad_w    = s.pad[2],
                              .rows     = (s.out[1] + SIDE - 1) / SIDE,
                              .columns  = (s.out[2] + SIDE - 1) / SIDE};
    return holo_mul(out->rows, out->columns, &out->tiles) && holo_mul(out->tiles, out->images, &out->tiles) &&
           out->tiles <= INT32_MAX;
}

// ---- the launches of tiles first .. first + count

// Where the matrices are in the scratch: those of the image, the sums, what split products need.
typedef struct Places {
    uint64_t image, sums, partial;
} Places;

static HoloStatus in_add(HoloCudaMaking *m, const HoloCudaWinograd *w, const Places *at, int64_t first, int64_t count)
{
    HoloCudaWinogradIn p     = {.height   = (int32_t)w->height,
                                .width    = (int32_t)w->width,
                                .channels = (int32_t)w->channels,
                                .rows     = (int32_t)w->rows,
                                .columns  = (int32_t)w->columns,
                                .pad_h    = (int32_t)w->pad_h,
                                .pad_w    = (int32_t)w->pad_w,
                                .first    = (int32_t)first,
                                .tiles    = (int32_t)count};
    HoloCudaShape      shape = holo_cuda_threads(count * (w->channels / 4));
    HoloCudaStep      *step;
    HOLO_TRY(holo_cuda_add(m, "winograd", "winograd_in", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaWinogradIn, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaWinogradIn, to), HOLO_CUDA_SCRATCH, at->image);
    return HOLO_OK;
}

static HoloStatus products_add(HoloCudaMaking *m, const HoloCudaWinograd *w, const Places *at, int64_t count)
{
    HoloCudaWant  want = {.cluster = holo_cuda_has_clusters(m->shared),
                          .shared  = (uint32_t)m->shared->shared_most,
                          .sms     = m->shared->multiprocessors};
    HoloCudaPick  pick;
    HoloCudaStep *step;
    if (!holo_cuda_winograd_pick(&want, w, count, &pick))
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: no kernel can multiply these sizes");
    const HoloCudaLaunch *l     = &pick.launch[0];
    HoloCudaShape         shape = {
                .grid = {l->grid[0], l->grid[1], l->grid[2]}, .block = l->block, .shared = l->shared, .cluster = l->cluster};
    HOLO_TRY(holo_cuda_add(m, l->module, l->kernel, &shape, &l->params, l->params_size, &step));
    holo_cuda_place(step, offsetof(HoloCudaProduct, a), HOLO_CUDA_SCRATCH, at->image);
    holo_cuda_place(step, offsetof(HoloCudaProduct, b), 1, 0);
    holo_cuda_place(step, offsetof(HoloCudaProduct, c), HOLO_CUDA_SCRATCH, at->sums);
    holo_cuda_place(step, offsetof(HoloCudaProduct, partial), HOLO_CUDA_SCRATCH, at->partial + pick.partial_at);
    holo_cuda_place(step, offsetof(HoloCudaProduct, counters), HOLO_CUDA_COUNTS, 0);
    if (at->partial + pick.workspace > m->scratch) m->scratch = at->partial + pick.workspace;
    return HOLO_OK;
}

static HoloStatus out_add(HoloCudaMaking *m, const HoloCudaWinograd *w, const Places *at, int64_t first, int64_t count)
{
    HoloCudaWinogradOut p = {.height   = (int32_t)w->out_h,
                             .width    = (int32_t)w->out_w,
                             .filters  = (int32_t)w->filters,
                             .rows     = (int32_t)w->rows,
                             .columns  = (int32_t)w->columns,
                             .first    = (int32_t)first,
                             .tiles    = (int32_t)count,
                             .low      = m->params.low,
                             .high     = m->params.high,
                             .act      = m->params.act,
                             .more_how = m->params.more_how};
    if (p.act == HOLO_CUDA_ACT_NONE) p.low = -INFINITY; // one way through the end for the three
    if (p.act == HOLO_CUDA_ACT_RELU) p.low = 0;
    if (p.act <= HOLO_CUDA_ACT_RELU) p.high = INFINITY;
    HoloCudaShape shape = holo_cuda_threads(count * (w->filters / 4));
    HoloCudaStep *step;
    HOLO_TRY(holo_cuda_add(m, "winograd", "winograd_out", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaWinogradOut, from), HOLO_CUDA_SCRATCH, at->sums);
    holo_cuda_place(step, offsetof(HoloCudaWinogradOut, to), holo_cuda_out(m, 0), 0);
    if (holo_in(m->call, 2)) holo_cuda_place(step, offsetof(HoloCudaWinogradOut, bias), 2, 0);
    if (p.more_how) holo_cuda_place(step, offsetof(HoloCudaWinogradOut, more), 3, 0);
    return HOLO_OK;
}

HoloStatus holo_cuda_winograd(HoloCudaMaking *m)
{
    HoloCudaWinograd w;
    int64_t          part  = m->params.part;
    bool             is_so = m->params.flags & HOLO_CUDA_FLAG_PACKED && m->params.store == HOLO_CUDA_F32 &&
                 m->params.numeric == HOLO_CUDA_NUMERIC_FUSED;
    if (!is_so || !holo_cuda_winograd_find(m->call, &w) || part < 1 ||
        (w.tiles + part - 1) / part > HOLO_CUDA_WINOGRAD_PARTS)
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "it is no convolution by tiles of 2x2 pixels");
    HOLO_TRY(holo_cuda_end_check(m));
    holo_cuda_packed(m, PLACES * w.filters, w.channels);
    if (part > w.tiles) part = w.tiles;
    if (part * w.channels > INT32_MAX || part * w.filters > INT32_MAX)
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: these sizes are too large");
    int64_t matrix = part * PLACES * (int64_t)sizeof(float); // of one channel, all 16
    Places  at = {.sums = (uint64_t)(matrix * w.channels), .partial = (uint64_t)(matrix * (w.channels + w.filters))};
    for (int64_t first = 0, count; first < w.tiles; first += count) {
        count = w.tiles - first < part ? w.tiles - first : part;
        HOLO_TRY(in_add(m, &w, &at, first, count));
        HOLO_TRY(products_add(m, &w, &at, count));
        HOLO_TRY(out_add(m, &w, &at, first, count));
    }
    return holo_cuda_tail(m);
}
