// col2im.c - Col2Im: adds the blocks that were cut out of an image back into one.
#include "ops/spread.h"
#include "ops/window.h"

enum { X, IMAGE, BLOCK };

// The window from image to blocks; false in *out_known when the shapes are not known yet.
static HoloStatus read_window(const HoloCall *call, int *out_rank, bool *out_known, HoloWindow *out)
{
    HoloDim image[HOLO_MAX_RANK], block[HOLO_MAX_RANK];
    int rank = holo_in_ints(call, IMAGE, image, HOLO_MAX_RANK), same = holo_in_ints(call, BLOCK, block, HOLO_MAX_RANK);
    *out_rank  = rank >= 0 ? rank : same;
    *out_known = rank >= 0 && same >= 0;
    if (!*out_known) return HOLO_OK;
    if (rank != same || rank > HOLO_MAX_SPATIAL)
        return holo_call_fail(call, HOLO_BAD_MODEL, "image_shape has %d entries, block_shape %d", rank, same);
    return holo_window_init(call, rank, image, block, false, out);
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[X];
    HoloWindow        w;
    HoloDim           dim[HOLO_MAX_RANK], taps = 1;
    int               rank;
    bool              known;
    HOLO_TRY(holo_expect_rank(call, X, 3, 3));
    HOLO_TRY(read_window(call, &rank, &known, &w));
    if (rank < 0) return holo_out_unknown(call, 0, (HoloDtype)x->dtype);
    if (rank > HOLO_MAX_SPATIAL) return holo_call_fail(call, HOLO_BAD_MODEL, "an image of %d dimensions", rank);
    for (int d = 0; d < rank; d++) {
        dim[2 + d] = known ? w.in[d] : HOLO_DIM_UNKNOWN;
        taps       = holo_dim_mul(call->dims, taps, known ? w.kernel[d] : HOLO_DIM_UNKNOWN);
    }
    if (!holo_dim_is_symbolic(taps) && !holo_dim_is_symbolic(x->dim[1]) && x->dim[1] % taps)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld rows do not split into blocks of %lld", (long long)x->dim[1],
                              (long long)taps);
    dim[0] = x->dim[0];
    dim[1] = holo_dim_div(call->dims, x->dim[1], taps);
    return holo_out_type(call, 0, (HoloDtype)x->dtype, 2 + rank, dim);
}

typedef struct Col2Im {
    HoloWindow        window; // transposed: from blocks to image
    const HoloTensor *x;
    HoloTensor       *y;
    int64_t           taps, blocks, pixels, tiles;
} Col2Im;

static void run_tile(void *arg, int64_t i, int worker)
{
    (void)worker;
    const Col2Im *v     = arg;
    int64_t       plane = i / v->tiles, start = i % v->tiles * HOLO_TILE;
    int64_t       count          = v->pixels - start < HOLO_TILE ? v->pixels - start : HOLO_TILE;
    double        sum[HOLO_TILE] = {0}, x[HOLO_TILE];
    for (int64_t t = 0; t < v->taps; t++) {
        holo_window_read(&v->window, v->x, (plane * v->taps + t) * v->blocks, 1, t, start, count, 0, x);
        for (int64_t j = 0; j < count; j++) sum[j] += x[j];
    }
    holo_write_f(v->y, plane * v->pixels + start, 1, count, sum);
}

static HoloStatus eval(HoloCall *call)
{
    Col2Im     v = {.x = call->in[X], .y = call->out[0]};
    HoloWindow w;
    int        rank;
    bool       known;
    if (holo_out_is_empty(call)) return HOLO_OK;
    HOLO_TRY(read_window(call, &rank, &known, &w));
    if (!known) return holo_call_fail(call, HOLO_BAD_INPUT, "image_shape or block_shape is not readable");
    v.window            = w;
    v.window.transposed = true;
    for (int d = 0; d < rank; d++) {
        v.window.in[d]  = w.out[d];
        v.window.out[d] = w.in[d];
    }
    v.taps   = holo_window_taps(&w);
    v.blocks = holo_window_outs(&w);
    v.pixels = holo_window_ins(&w);
    v.tiles  = (v.pixels + HOLO_TILE - 1) / HOLO_TILE;
    if (v.blocks != v.x->dim[2])
        return holo_call_fail(call, HOLO_BAD_INPUT, "the input has %lld blocks, but the image has %lld",
                              (long long)v.x->dim[2], (long long)v.blocks);
    int64_t planes = v.y->dim[0] * v.y->dim[1];
    holo_spread(call, planes * v.tiles, (double)planes * (double)v.pixels * (double)v.taps, run_tile, &v);
    return HOLO_OK;
}

const HoloOp holo_ops_col2im[] = {
    {.name    = "Col2Im",
     .domain  = "",
     .since   = 18,
     .in_min  = 3,
     .in_max  = 3,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_NUMBER,
     .infer   = infer,
     .eval    = eval},
    {0},
};
