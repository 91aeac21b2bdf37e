// conv_nhwc.h - a convolution with channels last, in numbers: what its ways to compute share.
#ifndef HOLO_DEVICES_CPU_CONV_NHWC_H
#define HOLO_DEVICES_CPU_CONV_NHWC_H

#include "devices/cpu/tail.h"
#include "format/small_float.h"
#include "kernels/kernels.h"

enum {
    HOLO_CONV_TASKS = 8,       // as many tasks are made, where they are not too small
    HOLO_CONV_WORK  = 1 << 18, // multiplications that are worth a task
};

typedef struct HoloConvNhwc {
    const HoloHost *host;
    HoloConvShape   shape;
    HoloTail        tail;
    bool            has_finish; // the tail is `finish`
    HoloFinish      finish;
    const float    *x, *w, *bias; // bias NULL: none
    uint32_t        narrow;       // HOLO_WEIGHTS_*: w is of that
    float          *out;
    int64_t         batch, groups;
    int64_t         channels, filters;    // of a group
    int64_t         k, pixels;            // of a filter; of the outputs of all images
    bool            by_tiles, transforms; // see winograd.c; W is still to be transformed for that
    int64_t         tile;                 // pixels of a side of a tile
    bool            by_groups;            // W is packed for groups of few channels
} HoloConvNhwc;

// The finish of the part of the output from element `at` on, in *memory; NULL: none.
static inline const HoloFinish *holo_conv_finish(const HoloConvNhwc *c, int64_t at, HoloFinish *memory)
{
    *memory = c->finish;
    if (memory->more) memory->more += at;
    return c->has_finish ? memory : NULL;
}

// Number i of W as it is stored.
static inline float holo_conv_weight(const HoloConvNhwc *c, int64_t i)
{
    const uint16_t *narrow = (const uint16_t *)(const void *)c->w;
    if (c->narrow & HOLO_WEIGHTS_CODES) {
        const uint8_t *row  = holo_weights_at(c->w, i / HOLO_PANEL * HOLO_PANEL, c->narrow);
        int            lane = (int)(i % HOLO_PANEL);
        return c->w[row[holo_code_byte(lane)] >> holo_code_shift(lane) & 15];
    }
    return c->narrow & HOLO_WEIGHTS_F16    ? holo_f16_decode(narrow[i])
           : c->narrow & HOLO_WEIGHTS_BF16 ? holo_bf16_decode(narrow[i])
                                           : c->w[i];
}

// By a matrix product, any convolution: it takes HOLO_GEMM_SCRATCH floats for each worker.
void holo_conv_dense_run(const HoloConvNhwc *conv);

// By tiles of 4x4 or 2x2 pixels: 3x3 places, strides, dilations and groups of 1.
bool   holo_winograd_fits(const HoloConvNhwc *conv);
size_t holo_winograd_scratch(const HoloConvNhwc *conv); // floats for each worker
void   holo_winograd_run(const HoloConvNhwc *conv);

// By tiles of four pixels of a row, W as it is packed: one group and depth, a stride of 1 along the row, sizes where it pays.
bool   holo_lines_fits(const HoloConvNhwc *conv);
size_t holo_lines_scratch(const HoloConvNhwc *conv); // floats for each worker
void   holo_lines_run(const HoloConvNhwc *conv);

// By bands of rows: few channels, and rows of the output that are not short. `before`: floats of a worker's memory that
// are not for the bands.
bool   holo_band_fits(const HoloConvNhwc *conv);
size_t holo_band_scratch(void); // floats for each worker
void   holo_band_run(const HoloConvNhwc *conv, size_t before);

// Few filters, or few channels, of one group: the images are read where they lie.
bool   holo_conv_few_fits(const HoloConvNhwc *conv);     // filters
bool   holo_conv_runs_fits(const HoloConvNhwc *conv);    // either
size_t holo_conv_runs_scratch(const HoloConvNhwc *conv); // floats for each worker
void   holo_conv_runs_run(const HoloConvNhwc *conv);

// Groups of few filters, in at most two dimensions: what each filter sees is laid side by side.
bool   holo_conv_spread_fits(const HoloConvNhwc *conv);
size_t holo_conv_spread_scratch(const HoloConvNhwc *conv); // floats for each worker
void   holo_conv_spread_run(const HoloConvNhwc *conv);

#endif
