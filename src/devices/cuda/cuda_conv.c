// cuda_conv.c - convolutions: channels last by the tiles of products or by the kernel for channels by themselves, and by a
// plain kernel for any strides elsewhere.
#include "devices/cpu/conv_shape.h"
#include "devices/cuda/cuda_product.h"
#include "ops/op_id.h"

#include <stddef.h>
#include <string.h>

typedef struct Conv {
    HoloConvShape shape; // its three arrays end with the last dimension
    int64_t       images, channels, filters, groups;
    int64_t       padded; // channels of a group in patches and packed weights
    int64_t       line;   // pixels of a line of the padded image; 0: it is not padded
    int           rank, bias, more;
    bool          is_last, is_packed, is_depthwise;
} Conv;

static int64_t taps(const Conv *c)
{
    return c->shape.kernel[0] * c->shape.kernel[1] * c->shape.kernel[2];
}

static HoloStatus conv_read(HoloCudaMaking *m, Conv *c)
{
    const HoloCall   *call = m->call;
    const HoloTensor *x = holo_in(call, 0), *w = holo_in(call, 1), *b = holo_in(call, 2), *out = holo_out(call, 0);
    c->is_last   = holo_op_is(call->op, HOLO_ID_HOLOGRAM_Conv);
    c->is_packed = m->params.flags & HOLO_CUDA_FLAG_PACKED;
    c->bias      = b ? 2 : -1;
    c->more      = m->params.more_how ? 3 : -1;
    if (!x || !w || !out || x->dtype != HOLO_F32 || w->dtype != HOLO_F32 || x->rank < 3 || x->rank > 5 ||
        w->rank != x->rank)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "it is no convolution of f32");
    if (b && (b->dtype != HOLO_F32 || b->rank != 1 || b->dim[0] != w->dim[0]))
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "its bias does not fit");
    HOLO_TRY(holo_conv_groups(call, w, c->is_last, &c->groups));
    HOLO_TRY(holo_conv_shape(call, w->dim + 2, c->is_last, false, &c->shape));
    c->rank         = x->rank - 2;
    c->images       = x->dim[0];
    c->channels     = w->dim[1] * c->groups;
    c->filters      = w->dim[0];
    c->is_depthwise = holo_conv_is_depthwise(c->groups, c->filters / c->groups, w->dim[1]);
    c->padded       = c->is_packed && !c->is_depthwise
                          ? holo_cuda_padded_channels(w->dim[1], c->groups, taps(c), m->params.store)
                          : w->dim[1];
    if (c->padded != w->dim[1]) {
        int64_t whole =
                    (c->shape.out[2] - 1) * c->shape.stride[2] + (c->shape.kernel[2] - 1) * c->shape.dilation[2] + 1,
                least = c->shape.in[2] + c->shape.pad[2];
        c->line       = whole > least ? whole : least;
    }
    return HOLO_OK;
}

// ---- by tiles

// The same numbers for products and for channels by themselves.
#define GEOMETRY(c)                                                                       \
    .height = (int32_t)(c)->shape.in[1], .width = (int32_t)(c)->shape.in[2],              \
    .kernel_h = (int32_t)(c)->shape.kernel[1], .kernel_w = (int32_t)(c)->shape.kernel[2], \
    .out_h = (int32_t)(c)->shape.out[1], .out_w = (int32_t)(c)->shape.out[2],             \
    .stride_h = (int32_t)(c)->shape.stride[1], .stride_w = (int32_t)(c)->shape.stride[2], \
    .pad_h = (int32_t)(c)->shape.pad[1], .pad_w = (int32_t)(c)->shape.pad[2],             \
    .dilation_h = (int32_t)(c)->shape.dilation[1], .dilation_w = (int32_t)(c)->shape.dilation[2]

static HoloCudaWant want_of(const HoloCudaMaking *m, const Conv *c)
{
    return (HoloCudaWant){.type       = m->params.store,
                          .numeric    = m->params.numeric,
                          .b_constant = true,
                          .align      = 16,
                          .cluster    = holo_cuda_has_clusters(m->shared),
                          .shared     = (uint32_t)m->shared->shared_most,
                          .tiled      = holo_cuda_is_tiled(m),
                          .batch      = (int32_t)c->groups,
                          .sms        = m->shared->multiprocessors};
}

static bool product_pick(const HoloCudaMaking *m, const Conv *c, HoloCudaPick *out)
{
    HoloCudaWant want = want_of(m, c);
    int64_t      own = c->padded, n = c->filters / c->groups, rows = c->images * c->shape.out[1] * c->shape.out[2];
    int64_t      k = own * taps(c), row = holo_cuda_packed_row(k, m->params.store);
    if (rows > INT32_MAX || k > INT32_MAX || c->groups > 65535 || c->line > INT32_MAX) return false;
    HoloCudaProduct p = {.m         = (int32_t)rows,
                         .n         = (int32_t)n,
                         .k         = (int32_t)k,
                         .inner     = 1,
                         .channels  = (int32_t)own,
                         .lda       = (int32_t)(own * c->groups),
                         .ldb       = (int32_t)row,
                         .ldc       = (int32_t)c->filters,
                         .ldmore    = (int32_t)c->filters,
                         .alpha     = 1,
                         .low       = m->params.low,
                         .high      = m->params.high,
                         .c_type    = m->params.store,
                         .more_type = m->params.store,
                         .act       = m->params.act,
                         .more_how  = m->params.more_how,
                         GEOMETRY(c)};
    p.a_batch[0]      = own;
    p.b_batch[0]      = n * row;
    p.c_batch[0]      = n;
    p.more_batch[0]   = n;
    p.bias_batch[0]   = (int32_t)n;
    bool is_dense =
        taps(c) == 1 && c->shape.stride[1] == 1 && c->shape.stride[2] == 1 && !c->shape.pad[1] && !c->shape.pad[2];
    if (is_dense && c->shape.in[1] == c->shape.out[1] && c->shape.in[2] == c->shape.out[2])
        p.height = 0; // a plain matrix
    if (c->line) {    // nothing is left or right of a line; neighbouring taps are one, of more channels
        bool joins = c->shape.dilation[2] == 1;
        p.width    = (int32_t)c->line;
        p.pad_w    = 0;
        p.channels = joins ? p.channels * p.kernel_w : p.channels;
        p.kernel_w = joins ? 1 : p.kernel_w;
    }
    return holo_cuda_pick_product(&want, &p, out);
}

static bool depthwise_pick(const HoloCudaMaking *m, const Conv *c, HoloCudaPick *out)
{
    HoloCudaWant want = want_of(m, c);
    if (c->images > INT32_MAX || c->channels > INT32_MAX) return false;
    HoloCudaDepthwise p = {.batch    = (int32_t)c->images,
                           .channels = (int32_t)c->channels,
                           .low      = m->params.low,
                           .high     = m->params.high,
                           .act      = m->params.act,
                           .more_how = m->params.more_how,
                           GEOMETRY(c)};
    want.batch          = 1;
    return holo_cuda_pick_depthwise(&want, &p, out);
}

// Images of up to two dimensions, channels last, packed weights; a bias of f32 and more of the type of the image.
static bool tile_pick(const HoloCudaMaking *m, const Conv *c, HoloCudaPick *out)
{
    bool fits = c->is_last && c->is_packed && c->rank <= 2 && holo_cuda_type(m, 0) == m->params.store;
    if (!fits || (c->bias >= 0 && holo_cuda_type(m, c->bias) != HOLO_CUDA_F32)) return false;
    if (c->is_depthwise && c->bias >= 0 && !m->call->in[c->bias]->data)
        return false; // it is read by the read-only cache
    if (c->more >= 0 && holo_cuda_type(m, c->more) != m->params.store) return false;
    return c->is_depthwise ? depthwise_pick(m, c, out) : product_pick(m, c, out);
}

// ---- plainly

static void weights_set(const HoloCudaMaking *m, const Conv *c, int64_t *out)
{
    int64_t own = c->padded;
    holo_cuda_image_strides(c->shape.kernel, own, c->is_packed && !c->is_depthwise, out);
    if (c->is_packed && !c->is_depthwise) out[0] = holo_cuda_packed_row(own * taps(c), m->params.store);
    if (!c->is_packed || !c->is_depthwise) return;
    out[0] = 1; // [taps][channels]
    for (int d = 0; d < 3; d++) out[2 + d] *= c->channels;
}

static HoloStatus plain_add(HoloCudaMaking *m, const Conv *c)
{
    HoloCudaWindow p = {.count    = c->images * c->filters * c->shape.out[0] * c->shape.out[1] * c->shape.out[2],
                        .filters  = (int32_t)c->filters,
                        .groups   = (int32_t)c->groups,
                        .channels = (int32_t)(c->channels / c->groups),
                        .low      = m->params.low,
                        .high     = m->params.high,
                        .x_type   = holo_cuda_type(m, 0),
                        .w_type   = c->is_packed ? m->params.store : holo_cuda_type(m, 1),
                        .y_type   = m->params.store,
                        .act      = m->params.act,
                        .more_how = m->params.more_how};
    if (c->filters > INT32_MAX || c->channels > INT32_MAX)
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: too many channels");
    for (int d = 0; d < 3; d++) {
        p.in[d]       = (int32_t)c->shape.in[d];
        p.out[d]      = (int32_t)c->shape.out[d];
        p.kernel[d]   = (int32_t)c->shape.kernel[d];
        p.stride[d]   = (int32_t)c->shape.stride[d];
        p.pad[d]      = (int32_t)c->shape.pad[d];
        p.dilation[d] = (int32_t)c->shape.dilation[d];
    }
    holo_cuda_image_strides(c->shape.in, c->channels, c->is_last, p.x_stride);
    holo_cuda_image_strides(c->shape.out, c->filters, c->is_last, p.y_stride);
    memcpy(p.more_stride, p.y_stride, sizeof p.more_stride);
    weights_set(m, c, p.w_stride);
    if (c->bias >= 0) p.bias_type = holo_cuda_type(m, c->bias);
    if (c->more >= 0) p.more_type = holo_cuda_type(m, c->more);
    HoloCudaShape shape = holo_cuda_threads(p.count);
    HoloCudaStep *step;
    HOLO_TRY(holo_cuda_add(m, "basic", "window", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaWindow, x), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaWindow, w), 1, 0);
    holo_cuda_place(step, offsetof(HoloCudaWindow, y), holo_cuda_out(m, 0), 0);
    if (c->bias >= 0) holo_cuda_place(step, offsetof(HoloCudaWindow, bias), c->bias, 0);
    if (c->more >= 0) holo_cuda_place(step, offsetof(HoloCudaWindow, more), c->more, 0);
    return HOLO_OK;
}

// Adds the launches that were picked, behind one that pads channels, and lines with them, if they are few.
static HoloStatus tiles_add(HoloCudaMaking *m, const Conv *c, const HoloCudaPick *pick)
{
    HoloCudaPadded   p  = {.pixels   = c->images * c->shape.in[0] * c->shape.in[1] * c->line,
                           .channels = (int32_t)c->channels,
                           .element  = m->params.store == HOLO_CUDA_F32 ? 4 : 2,
                           .width    = (int32_t)c->shape.in[2],
                           .to_width = (int32_t)c->line,
                           .left     = (int32_t)c->shape.pad[2]};
    HoloCudaOperands of = {.b = {1, 0}, .bias = c->bias, .more = c->more};
    HoloCudaStep    *step;
    if (!c->line) return holo_cuda_picked(m, pick, &of);
    HoloCudaShape shape = holo_cuda_threads(p.pixels);
    HOLO_TRY(holo_cuda_add(m, "basic", "pad_channels", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaPadded, from), 0, 0);
    holo_cuda_place(step, offsetof(HoloCudaPadded, to), HOLO_CUDA_SCRATCH, pick->workspace);
    of.a = (HoloCudaOperand){HOLO_CUDA_SCRATCH, pick->workspace};
    HOLO_TRY(holo_cuda_picked(m, pick, &of));
    size_t need = pick->workspace + (size_t)p.pixels * 16;
    if (need > m->scratch) m->scratch = need;
    return HOLO_OK;
}

HoloStatus holo_cuda_conv(HoloCudaMaking *m)
{
    Conv         c    = {0};
    HoloCudaPick pick = {0};
    if (!holo_tensor_count(m->call->out[0])) return HOLO_OK;
    HOLO_TRY(conv_read(m, &c));
    HOLO_TRY(holo_cuda_end_check(m));
    int64_t rows = c.is_depthwise ? 1 : c.filters, k = c.is_depthwise ? taps(&c) * c.channels : taps(&c) * c.padded;
    if (c.is_packed) holo_cuda_packed(m, rows, k);
    if (tile_pick(m, &c, &pick))
        HOLO_TRY(tiles_add(m, &c, &pick));
    else
        HOLO_TRY(plain_add(m, &c));
    return holo_cuda_tail(m);
}
