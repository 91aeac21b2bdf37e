// conv_nhwc.h - the numbers of a convolution with channels last, which all ways to compute it share.
#ifndef HOLO_DEVICES_CPU_CONV_NHWC_H
#define HOLO_DEVICES_CPU_CONV_NHWC_H

#include "devices/cpu/conv_regions.h"
#include "devices/cpu/tail.h"
#include "format/small_float.h"
#include "kernels/kernels.h"

enum {
    HOLO_CONV_TASKS = 8,       // number of tasks, if they are not too small
    HOLO_CONV_WORK  = 1 << 18, // multiplications that are worth a task
};

// ---- how each way cuts the work: by shape alone

typedef struct HoloConvDirect { // a filter for each channel, or for few: tasks are rows of pixels
    int64_t tile_rows, tile_columns, row_tiles, column_tiles;
} HoloConvDirect;

// A region, and how it is cut. Its planes are images, or depths of images.
typedef struct HoloConvRegion {
    HoloConvShape       shape;
    const HoloConvSpan *span[3];
    bool                is_one, is_matrix;    // it has all pixels; each row of the product is a row of the images
    int64_t             planes, lines, width; // of a plane and of a line
    int64_t             tile_lines, tiles;    // of a task; tasks of a plane
} HoloConvRegion;

typedef struct HoloConvDense { // see conv_dense.c
    HoloConvRegions regions;
    HoloConvRegion  first;                                 // of them
    int64_t         tile_columns, column_tiles, row_tiles; // row tiles of all regions
} HoloConvDense;

typedef struct HoloConvWinograd { // see winograd.c
    const float *weights;         // transformed; when running
    int64_t      places;          // of a transformed tile
    int64_t      tiles, columns;  // of all images; of a row
    int64_t      row;             // floats from one transformed tile to the next
    bool         alone;           // each task transforms its own tiles
    int64_t      chunk, block, blocks, slab, slabs;
    int64_t      place, sum_place; // floats from one of the places to the next, of tiles and of sums
    int64_t      first, end;       // tiles of the chunk; when running
} HoloConvWinograd;

typedef struct HoloConvLines {     // see conv_lines.c
    int64_t groups;                // of places
    int64_t tiles, block, blocks;  // of a row and of one phase of the dilation; of a task; tasks of a phase
    int64_t seen;                  // rows of the image that all rows of the output see
    int64_t row, place, sum_place; // floats, see HoloLineTiles
    int64_t runs;                  // of a column of the kernel
    int64_t filters;               // up to whole panels
} HoloConvLines;

typedef struct HoloConvBand { // see conv_band.c
    int64_t phases;           // columns of the image, by turns
    int64_t width;            // of a phase, with padding
    int64_t row;              // floats of a row: all phases
    int64_t rows, bands;      // rows of the output of a task; tasks of an image
    size_t  before;           // floats of a worker's memory that others use
} HoloConvBand;

typedef struct HoloConvRuns { // see conv_runs.c
    bool    is_few;
    int64_t rows, tile; // of the outputs, and of a task
    int64_t line;       // floats of a row of places, as few filters are laid out
} HoloConvRuns;

typedef struct HoloConvSpread {     // see conv_spread.c
    int64_t width, rows;            // filters and rows of the output of a task
    int64_t width_tiles, row_tiles; // row tiles of an image
    int64_t planes, filters, sums;  // floats of a task's memory
} HoloConvSpread;

typedef struct HoloConvNhwc HoloConvNhwc;

// A way to compute. Which one it is follows from the shape.
typedef struct HoloConvWay {
    bool (*fits)(const HoloConvNhwc *conv);
    size_t (*prepare)(HoloConvNhwc *conv); // cuts the work; returns the floats that each worker needs
    void (*run)(HoloConvNhwc *conv);
} HoloConvWay;

struct HoloConvNhwc {
    const HoloHost *host;
    HoloConvShape   shape;
    HoloTail        tail;
    bool            has_finish; // the tail is `finish`
    HoloFinish      finish;
    int             more;         // the input of the tail that the finish adds; 0: none
    const float    *x, *w, *bias; // when running; bias NULL: none
    uint32_t        narrow;       // HOLO_WEIGHTS_*: w is of that
    float          *out;
    int64_t         batch, groups;
    int64_t         channels, filters;    // of a group
    int64_t         k, pixels;            // of a filter; of the outputs of all images
    bool            by_tiles, transforms; // see winograd.c; W is still to be transformed for that
    int64_t         tile;                 // pixels of a side of a tile
    bool            by_groups;            // W is packed for groups of few channels

    const HoloConvWay *way; // NULL: there is nothing to compute
    union {                 // of the way
        HoloConvDirect   direct;
        HoloConvDense    dense;
        HoloConvWinograd winograd;
        HoloConvLines    lines;
        HoloConvBand     band;
        HoloConvRuns     runs;
        HoloConvSpread   spread;
    };
};

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

// By a matrix product, any convolution.
size_t holo_conv_dense_prepare(HoloConvNhwc *conv);
void   holo_conv_dense_run(HoloConvNhwc *conv);

// By tiles of 4x4 or 2x2 pixels: 3x3 places, strides, dilations and groups of 1.
bool   holo_winograd_fits(const HoloConvNhwc *conv);
size_t holo_winograd_prepare(HoloConvNhwc *conv);
void   holo_winograd_run(HoloConvNhwc *conv);

// By tiles of four pixels of a row, W as it is packed: one group and depth, a stride of 1 along the row, sizes where it
// pays.
bool   holo_lines_fits(const HoloConvNhwc *conv);
size_t holo_lines_prepare(HoloConvNhwc *conv);
void   holo_lines_run(HoloConvNhwc *conv);

// By bands of rows: few channels, and rows of the output that are not short.
bool   holo_band_fits(const HoloConvNhwc *conv);
size_t holo_band_prepare(HoloConvNhwc *conv);
void   holo_band_run(HoloConvNhwc *conv);

// Few filters, or few channels, of one group: the images are read where they lie.
bool   holo_conv_few_fits(const HoloConvNhwc *conv);  // filters
bool   holo_conv_runs_fits(const HoloConvNhwc *conv); // either
size_t holo_conv_runs_prepare(HoloConvNhwc *conv);
void   holo_conv_runs_run(HoloConvNhwc *conv);

// Groups of few filters, in at most two dimensions: what each filter sees is laid side by side.
bool   holo_conv_spread_fits(const HoloConvNhwc *conv);
size_t holo_conv_spread_prepare(HoloConvNhwc *conv);
void   holo_conv_spread_run(HoloConvNhwc *conv);

#endif
