// col2im.c - Col2Im: adds the blocks that were cut out of an image back into one.
#include "ops/spread.h"
#include "ops/value.h"
#include "ops/window.h"

#include <string.h>

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
    HoloWindow window;  // transposed: from blocks to image
    HoloTensor x, y;    // complex numbers as pairs of floats
    int        parts;   // of an element: 2 of a complex number
    HoloTensor numbers; // 0, 1, 2 ... as many as there are blocks: read through the window, which block meets a pixel
    int64_t    taps, blocks, pixels, tiles;
    double    *sums; // of floats: of a plane, for each worker
} Col2Im;

static int64_t tile_size(const Col2Im *v, int64_t start)
{
    return v->pixels - start < HOLO_TILE ? v->pixels - start : HOLO_TILE;
}

// Adds one line of blocks, which differ only in the last dimension, under one tap. The tap of the block at `from` meets
// the pixel sum[offset], and each next block's the pixel `stride` further on.
static void add_line(const Col2Im *v, int64_t from, int64_t offset, double *sum)
{
    const HoloWindow *w    = &v->window;
    int               last = w->rank - 1;
    int64_t           s = w->stride[last], i = offset < 0 ? (-offset + s - 1) / s : 0, end = w->in[last];
    double            x[HOLO_TILE];
    if (offset >= w->out[last]) return;
    if ((w->out[last] - 1 - offset) / s + 1 < end) end = (w->out[last] - 1 - offset) / s + 1;
    for (int64_t run; i < end; i += run) {
        run = end - i < HOLO_TILE ? end - i : HOLO_TILE;
        holo_read_f(&v->x, from + i * v->parts, v->parts, run, x);
        for (int64_t j = 0; j < run; j++) sum[offset + (i + j) * s] += x[j];
    }
}

// All blocks under tap t of the plane of x that begins at `from`.
static void add_tap(const Col2Im *v, int64_t from, int64_t t, double *sum)
{
    const HoloWindow *w    = &v->window;
    int               last = w->rank - 1;
    int64_t           tap[HOLO_MAX_SPATIAL];
    for (int d = last; d >= 0; t /= w->kernel[d--]) tap[d] = t % w->kernel[d];
    HoloWalk walk = holo_walk(last, w->in);
    while (holo_walk_next(&walk)) {
        int64_t line   = 0;
        bool    inside = true;
        for (int d = 0; d < last; d++) {
            int64_t o = walk.index[d] * w->stride[d] - w->pad_begin[d] + tap[d] * w->dilation[d];
            inside    = inside && o >= 0 && o < w->out[d];
            line      = line * w->out[d] + o;
        }
        if (inside) add_line(v, from, tap[last] * w->dilation[last] - w->pad_begin[last], sum + line * w->out[last]);
        from += w->in[last] * v->parts;
    }
}

// Sums of floats, and of bools, where one true is enough.
static void add_floats(void *arg, int64_t plane, int worker)
{
    Col2Im    *v   = arg;
    double    *sum = v->sums + worker * v->pixels;
    HoloTensor y   = v->y;
    for (int part = 0; part < v->parts; part++) {
        memset(sum, 0, (size_t)v->pixels * sizeof *sum);
        for (int64_t t = 0; t < v->taps; t++) add_tap(v, (plane * v->taps + t) * v->blocks * v->parts + part, t, sum);
        holo_write_f(&y, plane * v->pixels * v->parts + part, v->parts, v->pixels, sum);
    }
}

// For tap t: the position in x of the element for each pixel from `start` on; -1: there is none.
static void find_places(const Col2Im *v, int64_t plane, int64_t t, int64_t start, int64_t count, int64_t *out)
{
    double block[HOLO_TILE];
    holo_window_read(&v->window, &v->numbers, 0, 1, t, start, count, -1, block);
    for (int64_t j = 0; j < count; j++)
        out[j] = block[j] < 0 ? -1 : (plane * v->taps + t) * v->blocks + (int64_t)block[j];
}

// Sums of integers, exact and wrapped around.
static void add_integers(void *arg, int64_t i, int worker)
{
    (void)worker;
    Col2Im  *v     = arg;
    int64_t  plane = i / v->tiles, start = i % v->tiles * HOLO_TILE, count = tile_size(v, start);
    uint64_t sum[HOLO_TILE] = {0};
    int64_t  place[HOLO_TILE];
    for (int64_t t = 0; t < v->taps; t++) {
        find_places(v, plane, t, start, count, place);
        for (int64_t j = 0; j < count; j++)
            if (place[j] >= 0) sum[j] += (uint64_t)holo_get_i(&v->x, place[j]);
    }
    HoloTensor y = v->y;
    for (int64_t j = 0; j < count; j++) place[j] = (int64_t)sum[j];
    holo_write_i(&y, plane * v->pixels + start, 1, count, place);
}

static HoloStatus join(const HoloCall *call, HoloString *to, HoloString more)
{
    void  *text;
    size_t size;
    if (to->size == 0) *to = more;
    if (to->data == more.data || more.size == 0) return HOLO_OK;
    if (!holo_size_add(to->size, more.size, &size)) return holo_fail_memory(call->error);
    HOLO_TRY(holo_keep(call, size, 1, &text));
    memcpy(text, to->data, to->size);
    memcpy((char *)text + to->size, more.data, more.size);
    *to = (HoloString){text, size};
    return HOLO_OK;
}

// The standard allows strings and does not define their sum: here they are concatenated.
static HoloStatus add_strings(const HoloCall *call, const Col2Im *v, int64_t planes)
{
    const HoloString *x = v->x.data;
    for (int64_t i = 0; i < planes * v->tiles; i++) {
        int64_t     plane = i / v->tiles, start = i % v->tiles * HOLO_TILE, count = tile_size(v, start);
        int64_t     place[HOLO_TILE];
        HoloString *y = (HoloString *)v->y.data + plane * v->pixels + start;
        for (int64_t j = 0; j < count; j++) y[j] = (HoloString){"", 0};
        for (int64_t t = 0; t < v->taps; t++) {
            find_places(v, plane, t, start, count, place);
            for (int64_t j = 0; j < count; j++)
                if (place[j] >= 0) HOLO_TRY(join(call, &y[j], x[place[j]]));
        }
    }
    return HOLO_OK;
}

static HoloStatus numbers_init(const HoloCall *call, int64_t count, HoloTensor *out)
{
    *out = (HoloTensor){.dtype = HOLO_I64, .rank = 1, .dim = {count}};
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof(int64_t), &out->data));
    for (int64_t i = 0; i < count; i++) ((int64_t *)out->data)[i] = i;
    return HOLO_OK;
}

static HoloStatus add_blocks(HoloCall *call, Col2Im *v)
{
    static const uint8_t part_type[HOLO_DTYPE_COUNT] = {[HOLO_C64] = HOLO_F32, [HOLO_C128] = HOLO_F64};
    HoloClass            kind                        = holo_dtype_class((HoloDtype)v->x.dtype);
    int64_t              planes                      = v->y.dim[0] * v->y.dim[1];
    double               work                        = (double)planes * (double)v->pixels * (double)v->taps;
    bool                 is_int                      = kind == HOLO_CLASS_INT || kind == HOLO_CLASS_UINT;
    v->parts                                         = 1;
    if (part_type[v->x.dtype]) {
        v->parts   = 2;
        v->x.dtype = v->y.dtype = part_type[v->x.dtype];
    }
    if (is_int || v->x.dtype == HOLO_STRING) HOLO_TRY(numbers_init(call, v->blocks, &v->numbers));
    if (v->x.dtype == HOLO_STRING) return add_strings(call, v, planes);
    if (is_int) {
        holo_spread(call, planes * v->tiles, work, add_integers, v);
        return HOLO_OK;
    }
    size_t workers = call->host && call->host->workers > 1 ? (size_t)call->host->workers : 1;
    HOLO_TRY(holo_call_temp(call, (size_t)v->pixels, workers * sizeof(double), (void **)&v->sums));
    holo_spread(call, planes, work, add_floats, v);
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    Col2Im     v = {.x = *call->in[X], .y = *call->out[0]};
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
    if (v.blocks != v.x.dim[2])
        return holo_call_fail(call, HOLO_BAD_INPUT, "the input has %lld blocks, but the image has %lld",
                              (long long)v.x.dim[2], (long long)v.blocks);
    return add_blocks(call, &v);
}

const HoloOp holo_ops_col2im[] = {
    {.name    = "Col2Im",
     .domain  = "",
     .since   = 18,
     .in_min  = 3,
     .in_max  = 3,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_TYPES_NUMBER | HOLO_BIT(BOOL) | HOLO_TYPES_COMPLEX | HOLO_BIT(STRING),
     .infer   = infer,
     .eval    = eval},
    {0},
};
