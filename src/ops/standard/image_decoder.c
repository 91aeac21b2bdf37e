// image_decoder.c - ImageDecoder: the bytes of an image file to pixels. A broken file gives an empty image, as the
// standard says; a library that is missing is a failure that names it.
#include "ops/standard/image.h"

#include <string.h>

enum { RED = 0, BLUE = 2, PIXELS_MAX = 1 << 27 };

bool holo_image_begin(HoloImage *image, int64_t width, int64_t height)
{
    void *memory;
    if (width <= 0 || height <= 0) return false;
    if (height > PIXELS_MAX / width) {
        image->status = holo_call_fail(image->call, HOLO_UNSUPPORTED, "an image of %lld x %lld pixels is too large",
                                       (long long)width, (long long)height);
        return false;
    }
    image->width  = width;
    image->height = height;
    if (!holo_image_memory(image, 3, &memory)) return false;
    image->rgb = memory;
    return true;
}

bool holo_image_memory(HoloImage *image, size_t each, void **out)
{
    image->status = holo_call_temp(image->call, (size_t)(image->width * image->height), each, out);
    return image->status == HOLO_OK;
}

// ---- formats

typedef struct Format {
    int              at, count; // where its mark is
    char             mark[9];
    HoloImageDecode *decode;
} Format;

static const Format formats[] = {
    {0, 2, "BM", holo_image_bmp},
    {0, 3, "\xFF\xD8\xFF", holo_image_jpeg},
    {0, 8, "\x89PNG\r\n\x1A\n", holo_image_png},
    {8, 4, "WEBP", holo_image_webp},
    {0, 4, "II*\0", holo_image_tiff},
    {0, 4, "MM\0*", holo_image_tiff},
    {0, 4, "II+\0", holo_image_tiff},
    {0, 4, "MM\0+", holo_image_tiff},
    {4, 4, "jP  ", holo_image_jp2},
    {0, 4, "\xFF\x4F\xFF\x51", holo_image_jp2},
    {0, 2, "P1", holo_image_pnm},
    {0, 2, "P2", holo_image_pnm},
    {0, 2, "P3", holo_image_pnm},
    {0, 2, "P4", holo_image_pnm},
    {0, 2, "P5", holo_image_pnm},
    {0, 2, "P6", holo_image_pnm},
};

static const Format *format_of(const uint8_t *bytes, size_t size)
{
    for (int i = 0; i < HOLO_COUNT(formats); i++) {
        const Format *f = &formats[i];
        if (size >= (size_t)(f->at + f->count) && !memcmp(bytes + f->at, f->mark, (size_t)f->count)) return f;
    }
    return NULL;
}

bool holo_image_is_known(const void *bytes, size_t size)
{
    return format_of(bytes, size) != NULL;
}

static bool decode(HoloImage *image)
{
    const Format *f = format_of(image->bytes, image->size);
    return f && f->decode(image);
}

// ---- the operator

static HoloStatus find_channels(const HoloCall *call, HoloDim *out)
{
    static const char *const names[]    = {"RGB", "BGR", "Grayscale"};
    static const int         channels[] = {3, 3, 1};
    for (int i = 0; i < HOLO_COUNT(names); i++) {
        *out = channels[i];
        if (holo_attr_is(call, "pixel_format", "RGB", names[i])) return HOLO_OK;
    }
    return holo_call_fail(call, HOLO_BAD_MODEL, "pixel_format is not RGB, BGR or Grayscale");
}

static HoloStatus infer(HoloCall *call)
{
    HoloDim dim[3] = {HOLO_DIM_UNKNOWN, HOLO_DIM_UNKNOWN, 0};
    HOLO_TRY(holo_expect_rank(call, 0, 1, 1));
    HOLO_TRY(find_channels(call, &dim[2]));
    return holo_out_type(call, 0, HOLO_U8, 3, dim);
}

// The weights of ITU-R BT.601, in units of 2^-16.
static uint8_t brightness(const uint8_t *rgb)
{
    return (uint8_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloTensor       *y = holo_out(call, 0);
    HoloDim           dim[3];
    if (!y) return HOLO_OK;
    HoloImage image = {.call = call, .bytes = x->data, .size = (size_t)x->dim[0]};
    if (!decode(&image)) {
        HOLO_TRY(image.status);
        image.width = image.height = 0;
    }
    dim[0] = image.height;
    dim[1] = image.width;
    HOLO_TRY(find_channels(call, &dim[2]));
    HOLO_TRY(holo_out_type(call, 0, HOLO_U8, 3, dim));
    HOLO_TRY(holo_out_alloc(call, 0));
    bool     swapped = holo_attr_is(call, "pixel_format", "RGB", "BGR");
    uint8_t *to = y->data, *from = image.rgb;
    for (int64_t i = 0; i < image.width * image.height; i++, from += 3) {
        if (dim[2] == 1) {
            *to++ = brightness(from);
            continue;
        }
        *to++ = from[swapped ? BLUE : RED];
        *to++ = from[1];
        *to++ = from[swapped ? RED : BLUE];
    }
    return HOLO_OK;
}

const HoloOp holo_ops_image_decoder[] = {
    {.name    = "ImageDecoder",
     .domain  = "",
     .since   = 20,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(U8),
     .flags   = HOLO_OP_DYNAMIC,
     .infer   = infer,
     .eval    = eval},
    {0},
};
