// image.h - an image being decoded, and who decodes which format.
#ifndef HOLO_OPS_STANDARD_IMAGE_H
#define HOLO_OPS_STANDARD_IMAGE_H

#include "ops/op.h"

typedef struct HoloImage {
    const HoloCall *call;
    const uint8_t  *bytes; // the file
    size_t          size;
    int64_t         width, height;
    uint8_t        *rgb;    // [height][width][3], when decoded
    HoloStatus      status; // what failed that is not the image's fault
} HoloImage;

// True: image->rgb is there. False: the file is broken or, where image->status says so, something else failed.
typedef bool HoloImageDecode(HoloImage *image);

HoloImageDecode holo_image_bmp, holo_image_pnm;                                                    // image_plain.c
HoloImageDecode holo_image_jpeg, holo_image_png, holo_image_webp, holo_image_tiff, holo_image_jp2; // image_library.c

bool holo_image_is_known(const void *bytes, size_t size); // by its first bytes, one of these formats

// Sets the size and takes memory for the pixels, or for `each` bytes a pixel to *out where that is not NULL. False
// where the size is no size (the file is broken) or too large (a failure).
bool holo_image_begin(HoloImage *image, int64_t width, int64_t height);
bool holo_image_memory(HoloImage *image, size_t each, void **out);

#endif
