// cuda_pick_winograd.c - when a 3x3 convolution is computed by tiles of 2x2 pixels, and in how many parts. Decided when it is
// compiled, for whatever GPU: so all numbers are those of an H200.
#include "devices/cuda/cuda_winograd.h"

enum { PLACES = HOLO_CUDA_WINOGRAD_PLACES, SMS = 132, LEAST = 128, ROUND = 128 };
enum { FILLED = 2 * SMS };                         // blocks of a product that fill the machine
static const int64_t SCRATCH = (int64_t)256 << 20; // bytes of matrices, at most
static const double  MEMORY  = 4.4e6;              // bytes in a microsecond
static const double  LAUNCH = 2, FASTER = 1.25;

static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

// Equal parts, of whole tiles of a product.
int64_t holo_cuda_winograd_part(const HoloCudaWinograd *w)
{
    int64_t most = SCRATCH / (PLACES * 4 * (w->channels + w->filters)) / ROUND * ROUND;
    if (most < ROUND) most = ROUND;
    int64_t part = ceil_div(w->tiles, ceil_div(w->tiles, most));
    return ceil_div(part, ROUND) * ROUND;
}

bool holo_cuda_winograd_pick(const HoloCudaWant *want, const HoloCudaWinograd *w, int64_t tiles, HoloCudaPick *out)
{
    HoloCudaWant own = *want;
    own.type = HOLO_CUDA_F32, own.numeric = HOLO_CUDA_NUMERIC_FUSED;
    own.batch = PLACES, own.align = 16, own.b_constant = true;
    if (tiles < 1 || tiles * w->channels > INT32_MAX || tiles * w->filters > INT32_MAX ||
        w->channels * w->filters > INT32_MAX)
        return false;
    HoloCudaProduct p = {.m     = (int32_t)tiles,
                         .n     = (int32_t)w->filters,
                         .k     = (int32_t)w->channels,
                         .inner = 1,
                         .lda   = (int32_t)w->channels,
                         .ldb   = (int32_t)w->channels,
                         .ldc   = (int32_t)w->filters,
                         .alpha = 1};
    p.a_batch[0]      = tiles * w->channels;
    p.b_batch[0]      = w->filters * w->channels;
    p.c_batch[0]      = tiles * w->filters;
    return holo_cuda_pick_product(&own, &p, out) && out->count == 1 && out->launch[0].kind == HOLO_CUDA_PRODUCT;
}

// As cuda_conv.c computes it otherwise.
static bool plain_pick(const HoloCudaWant *want, const HoloCudaWinograd *w, HoloCudaPick *out)
{
    int64_t rows = w->images * w->out_h * w->out_w, k = 9 * w->channels;
    if (rows > INT32_MAX || k > INT32_MAX) return false;
    HoloCudaProduct p = {.m          = (int32_t)rows,
                         .n          = (int32_t)w->filters,
                         .k          = (int32_t)k,
                         .inner      = 1,
                         .channels   = (int32_t)w->channels,
                         .lda        = (int32_t)w->channels,
                         .ldb        = (int32_t)k,
                         .ldc        = (int32_t)w->filters,
                         .alpha      = 1,
                         .height     = (int32_t)w->height,
                         .width      = (int32_t)w->width,
                         .kernel_h   = 3,
                         .kernel_w   = 3,
                         .out_h      = (int32_t)w->out_h,
                         .out_w      = (int32_t)w->out_w,
                         .stride_h   = 1,
                         .stride_w   = 1,
                         .pad_h      = (int32_t)w->pad_h,
                         .pad_w      = (int32_t)w->pad_w,
                         .dilation_h = 1,
                         .dilation_w = 1};
    return holo_cuda_pick_product(want, &p, out);
}

bool holo_cuda_winograd_costs(const HoloCudaWinograd *w, double *out_so, double *out_plain)
{
    HoloCudaWant want = {.align = 16, .b_constant = true, .cluster = true, .batch = 1, .sms = SMS};
    HoloCudaPick plain, part, last;
    int64_t      each = holo_cuda_winograd_part(w), parts = ceil_div(w->tiles, each);
    if (parts > HOLO_CUDA_WINOGRAD_PARTS || !plain_pick(&want, w, &plain)) return false;
    if (!holo_cuda_winograd_pick(&want, w, w->tiles - (parts - 1) * each, &last)) return false;
    if (parts > 1 && !holo_cuda_winograd_pick(&want, w, each, &part)) return false;
    if ((int64_t)last.launch[0].grid[0] * PLACES < FILLED && parts == 1) return false;
    // what the transforms move: the image once, the result once, the matrices on both sides of the products
    double pixels = (double)w->images * ((double)w->height * (double)w->width * (double)w->channels +
                                         (double)w->out_h * (double)w->out_w * (double)w->filters);
    double moved  = 4 * (pixels + 2.0 * PLACES * (double)w->tiles * (double)(w->channels + w->filters));
    *out_plain    = plain.cost;
    *out_so =
        last.cost + (parts > 1 ? (double)(parts - 1) * part.cost : 0) + 2 * LAUNCH * (double)parts + moved / MEMORY;
    return true;
}

bool holo_cuda_winograd_pays(const HoloCudaWinograd *w)
{
    double so, plain;
    return w->channels >= LEAST && w->filters >= LEAST && holo_cuda_winograd_costs(w, &so, &plain) &&
           so * FASTER <= plain;
}
