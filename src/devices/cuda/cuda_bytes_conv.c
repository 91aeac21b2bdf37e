// cuda_bytes_conv.c - convolutions of bytes: by the tiles of products with channels last and packed filters, elsewhere by a plain
// kernel. What is outside an image counts as its zero point, so where that is not 0 the image gets a border first.
#include "devices/cpu/conv_shape.h"
#include "devices/cuda/cuda_bytes.h"

#include <stddef.h>
#include <string.h>

typedef struct Conv {
    HoloConvShape shape;                             // its three arrays end with the last dimension
    int64_t       images, channels, filters, groups; // channels: of a group
    int64_t       padded;                            // channels of a group in patches and packed filters
    int64_t       height, width;                     // of the image that patches are taken from
    bool          is_last, has_border;
} Conv;

static int64_t taps(const Conv *c)
{
    return c->shape.kernel[0] * c->shape.kernel[1] * c->shape.kernel[2];
}

static HoloStatus conv_read(const HoloCudaMaking *m, const HoloCudaByteStep *s, Conv *c)
{
    const HoloCall *call = m->call;
    int64_t         zero;
    *c = (Conv){.is_last = holo_attr_int(call, "channels_last", 0) != 0};
    if (s->a->rank < 3 || s->a->rank > 5 || s->b->rank != s->a->rank || s->out->rank != s->a->rank)
        return holo_call_fail(call, HOLO_BAD_ARCHIVE, "it is no convolution of bytes");
    HOLO_TRY(holo_conv_groups(call, s->b, c->is_last, &c->groups));
    HOLO_TRY(holo_conv_shape(call, s->b->dim + 2, c->is_last, false, &c->shape));
    c->images              = s->a->dim[0];
    c->channels            = s->b->dim[1];
    c->filters             = s->b->dim[0];
    c->padded              = holo_cuda_byte_channels(c->channels, c->groups);
    c->height              = c->shape.in[1];
    c->width               = c->shape.in[2];
    const HoloConvShape *z = &c->shape;
    int64_t h = (z->out[1] - 1) * z->stride[1] + (z->kernel[1] - 1) * z->dilation[1] + 1, above = z->pad[1];
    int64_t w = (z->out[2] - 1) * z->stride[2] + (z->kernel[2] - 1) * z->dilation[2] + 1, left = z->pad[2];
    bool    is_inside = !above && !left && h <= c->height && w <= c->width;
    bool    is_zero   = holo_cuda_known_zero(holo_in(call, s->op->a_zero), &zero) && !zero;
    c->has_border     = !is_inside && !is_zero;
    if (c->has_border) {
        c->height = h > c->height + above ? h : c->height + above;
        c->width  = w > c->width + left ? w : c->width + left;
    }
    return HOLO_OK;
}

// ---- by tiles

// The image with a border, and with more channels, in the scratch.
static HoloStatus pad_add(HoloCudaMaking *m, const HoloCudaByteStep *s, const Conv *c, HoloCudaOperands *of)
{
    int64_t         channels = c->padded * c->groups, pieces = (channels + 15) / 16;
    int64_t         pixels = c->images * c->height * c->width;
    HoloCudaBytePad p      = {.count       = pixels * pieces,
                              .height      = (int32_t)c->shape.in[1],
                              .width       = (int32_t)c->shape.in[2],
                              .channels    = (int32_t)(c->channels * c->groups),
                              .to_height   = (int32_t)c->height,
                              .to_width    = (int32_t)c->width,
                              .to_channels = (int32_t)channels,
                              .pieces      = (int32_t)pieces,
                              .top         = c->has_border ? (int32_t)c->shape.pad[1] : 0,
                              .left        = c->has_border ? (int32_t)c->shape.pad[2] : 0};
    HoloCudaShape   shape  = holo_cuda_threads(p.count);
    HoloCudaStep   *step;
    HOLO_TRY(holo_cuda_add(m, "bytes", "bytes_pad", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaBytePad, from), s->op->a, 0);
    holo_cuda_place(step, offsetof(HoloCudaBytePad, to), HOLO_CUDA_SCRATCH, 0);
    if (holo_in(m->call, s->op->a_zero)) holo_cuda_place(step, offsetof(HoloCudaBytePad, zero), s->op->a_zero, 0);
    of->a       = (HoloCudaOperand){HOLO_CUDA_SCRATCH, 0};
    of->scratch = (size_t)(pixels * channels + 255) & ~(size_t)255;
    return HOLO_OK;
}

static HoloCudaProduct product_of(const Conv *c, const HoloCudaScaled *end)
{
    const HoloConvShape *z = &c->shape;
    int64_t              k = c->padded * taps(c), n = c->filters / c->groups, row = holo_cuda_byte_row(k);
    HoloCudaProduct      p = {.m          = (int32_t)(c->images * z->out[1] * z->out[2]),
                              .n          = (int32_t)n,
                              .k          = (int32_t)k,
                              .inner      = 1,
                              .channels   = (int32_t)c->padded,
                              .lda        = (int32_t)(c->padded * c->groups),
                              .ldb        = (int32_t)row,
                              .ldc        = (int32_t)c->filters,
                              .alpha      = 1,
                              .c_type     = end->y_type,
                              .height     = (int32_t)c->height,
                              .width      = (int32_t)c->width,
                              .kernel_h   = (int32_t)z->kernel[1],
                              .kernel_w   = (int32_t)z->kernel[2],
                              .out_h      = (int32_t)z->out[1],
                              .out_w      = (int32_t)z->out[2],
                              .stride_h   = (int32_t)z->stride[1],
                              .stride_w   = (int32_t)z->stride[2],
                              .pad_h      = c->has_border ? 0 : (int32_t)z->pad[1],
                              .pad_w      = c->has_border ? 0 : (int32_t)z->pad[2],
                              .dilation_h = (int32_t)z->dilation[1],
                              .dilation_w = (int32_t)z->dilation[2]};
    p.a_batch[0]           = c->padded;
    p.b_batch[0]           = n * row;
    p.c_batch[0]           = n;
    p.bias_batch[0]        = (int32_t)n;
    if (taps(c) == 1 && z->stride[1] == 1 && z->stride[2] == 1 && !p.pad_h && !p.pad_w && c->height == z->out[1] &&
        c->width == z->out[2])
        p.height = 0; // a plain matrix
    return p;
}

static HoloStatus tiles_add(HoloCudaMaking *m, const HoloCudaByteStep *s, const Conv *c, HoloCudaScaled *end)
{
    HoloCudaOperands of  = {.a = {s->op->a, 0}, .b = {s->op->b, 0}};
    int64_t          row = holo_cuda_byte_row(c->padded * taps(c)), size, pixels;
    if (!holo_mul(c->filters, row, &size) || c->padded * taps(c) > INT32_MAX ||
        !holo_mul(c->images, c->height * c->width, &pixels) || pixels > INT32_MAX ||
        c->images * c->shape.out[1] * c->shape.out[2] > INT32_MAX)
        return holo_call_fail(m->call, HOLO_UNSUPPORTED, "cuda: this convolution of bytes is too large");
    m->job->packed    = size;
    HoloCudaProduct p = product_of(c, end);
    end->count        = (int32_t)(c->channels * taps(c));
    if (c->has_border || c->padded != c->channels) HOLO_TRY(pad_add(m, s, c, &of));
    return holo_cuda_byte_tiles_add(m, s, &p, end, c->groups, &of);
}

// ---- plainly

static HoloStatus plain_add(HoloCudaMaking *m, const HoloCudaByteStep *s, const Conv *c, const HoloCudaScaled *end)
{
    HoloCudaByteWindow p = {.s        = *end,
                            .count    = holo_tensor_count(s->out),
                            .filters  = (int32_t)c->filters,
                            .groups   = (int32_t)c->groups,
                            .channels = (int32_t)c->channels};
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
    holo_cuda_image_strides(c->shape.in, c->channels * c->groups, c->is_last, p.x_stride);
    holo_cuda_image_strides(c->shape.out, c->filters, c->is_last, p.y_stride);
    holo_cuda_image_strides(c->shape.kernel, c->channels, false, p.w_stride);
    HoloCudaShape shape = holo_cuda_threads(p.count);
    HoloCudaStep *step;
    HOLO_TRY(holo_cuda_add(m, "bytes", "bytes_window", &shape, &p, sizeof p, &step));
    holo_cuda_place(step, offsetof(HoloCudaByteWindow, x), s->op->a, 0);
    holo_cuda_place(step, offsetof(HoloCudaByteWindow, w), s->op->b, 0);
    holo_cuda_place(step, offsetof(HoloCudaByteWindow, y), holo_cuda_out(m, 0), 0);
    holo_cuda_scaled_place(m, s, offsetof(HoloCudaByteWindow, s), step);
    return HOLO_OK;
}

HoloStatus holo_cuda_byte_conv(HoloCudaMaking *m, const HoloCudaByteStep *s)
{
    Conv           c;
    HoloCudaScaled end;
    m->job->packed_input = s->op->b;
    if (!holo_tensor_count(s->out)) return HOLO_OK;
    HOLO_TRY(conv_read(m, s, &c));
    HOLO_TRY(holo_cuda_scaled(m, s, c.filters, &end));
    if (!s->is_packed) return plain_add(m, s, &c, &end);
    if (!c.is_last || !holo_cuda_byte_tiles(s->b, c.groups) || m->params.layout != (uint32_t)c.groups)
        return holo_call_fail(m->call, HOLO_BAD_ARCHIVE, "these filters cannot be packed");
    return tiles_add(m, s, &c, &end);
}
