// tf_ops_patches.c - operators that look at the surroundings of each pixel, or move pixels: ExtractImagePatches, Dilation2D,
// ImageProjectiveTransform.
#include "import/import_window.h"
#include "import/tensorflow/tf_ops.h"

#include <math.h>

typedef struct Patches {
    int64_t size[2], stride[2], rate[2], out[2];
    int     count; // positions in a window
} Patches;

enum { POSITIONS_MAX = 1024 };

// Reads the window, and pads the image [batch, height, width, channels] so that no window reaches beyond it.
static HoloValue *patches_open(HoloFlowCall *c, Patches *p, const char *rates, HoloValue *x, HoloValue *filler)
{
    int64_t four[4], pads[8] = {0};
    bool    same = holo_flow_is(holo_flow_string(c, "padding", "VALID"), "SAME");
    if (holo_flow_rank(c, x) != 4 || c->e->status) return NULL;
    for (int i = 0; i < 2; i++) {
        HoloDim size = x->type.dim[1 + i];
        p->stride[i] = holo_flow_ints(c, "strides", four, 4) == 4 ? four[1 + i] : 1;
        p->rate[i]   = holo_flow_ints(c, rates, four, 4) == 4 ? four[1 + i] : 1;
        if (holo_dim_is_symbolic(size) || p->stride[i] < 1 || p->rate[i] < 1 || p->size[i] < 1 || p->size[i] > 4096 ||
            p->rate[i] > 4096 || p->stride[i] > 4096) {
            holo_flow_fail(c, HOLO_UNSUPPORTED, "the image must have a known size, and the window positive sizes");
            return NULL;
        }
        int64_t reach = (p->size[i] - 1) * p->rate[i] + 1;
        p->out[i]     = same ? (size + p->stride[i] - 1) / p->stride[i] : (size - reach) / p->stride[i] + 1;
        int64_t more  = (p->out[i] - 1) * p->stride[i] + reach - size;
        if (same && more > 0) {
            pads[1 + i] = more / 2;
            pads[5 + i] = more - more / 2;
        }
        if (!same && size < reach) p->out[i] = 0;
    }
    p->count = (int)(p->size[0] * p->size[1]);
    if (p->count > POSITIONS_MAX || p->out[0] < 1 || p->out[1] < 1) {
        holo_flow_fail(c, HOLO_UNSUPPORTED, "the window is larger than the image, or than %d elements", POSITIONS_MAX);
        return NULL;
    }
    return holo_emit(c->e, "Pad", HOLO_IN(x, holo_emit_ints(c->e, pads, 8), filler), NULL);
}

// The pixels at one position of all windows.
static HoloValue *patches_at(HoloFlowCall *c, const Patches *p, HoloValue *x, int position)
{
    int64_t at[2] = {position / p->size[1], position % p->size[1]};
    for (int i = 0; i < 2; i++) {
        int64_t from = at[i] * p->rate[i];
        x            = holo_emit_slice(c->e, x, 1 + i, from, from + (p->out[i] - 1) * p->stride[i] + 1, p->stride[i]);
    }
    return x;
}

static void extract_patches(HoloFlowCall *c)
{
    Patches    p;
    int64_t    four[4];
    HoloValue *part[POSITIONS_MAX], *x = holo_flow_in(c, 0);
    if (c->e->status) return;
    for (int i = 0; i < 2; i++) p.size[i] = holo_flow_ints(c, "ksizes", four, 4) == 4 ? four[1 + i] : 1;
    x = patches_open(c, &p, "rates", x, holo_flow_zero(c, holo_emit_dtype(x)));
    if (!x) return;
    for (int i = 0; i < p.count; i++) part[i] = patches_at(c, &p, x, i);
    holo_flow_out(c, 0, holo_emit(c->e, "Concat", (HoloEmitIn){p.count, part}, HOLO_ATTRS(holo_with_int("axis", -1))));
}

// The largest sum of a pixel and the filter's number for its position.
static void dilation(HoloFlowCall *c)
{
    HoloEmit  *e = c->e;
    Patches    p;
    HoloValue *x = holo_flow_in(c, 0), *filter = holo_flow_in(c, 1), *most = NULL;
    if (holo_flow_rank(c, filter) != 3 || e->status) return;
    for (int i = 0; i < 2; i++) p.size[i] = filter->type.dim[i];
    x = patches_open(c, &p, "rates", x, holo_emit_number(e, holo_emit_dtype(x), -INFINITY));
    if (!x) return;
    for (int i = 0; i < p.count && !e->status; i++) {
        int64_t    row = i / p.size[1], column = i % p.size[1], axes[2] = {0, 1};
        HoloValue *weight =
            holo_emit_slice(e, holo_emit_slice(e, filter, 0, row, row + 1, 1), 1, column, column + 1, 1);
        HoloValue *sum =
            holo_emit(e, "Add", HOLO_IN(patches_at(c, &p, x, i), holo_emit_squeeze(e, weight, axes, 2)), NULL);
        most = most ? holo_emit(e, "Max", HOLO_IN(most, sum), NULL) : sum;
    }
    holo_flow_out(c, 0, most);
}

// ---- transforms

// Column k of [batch, 8], as [batch, 1, 1].
static HoloValue *entry(HoloFlowCall *c, HoloValue *t, int k)
{
    int64_t last = -1;
    return holo_emit_unsqueeze(c->e, holo_emit_slice(c->e, t, 1, k, k + 1, 1), &last, 1);
}

static HoloValue *counting(HoloFlowCall *c, int64_t count, bool down)
{
    HoloEmit  *e        = c->e;
    HoloDim    sizes[3] = {1, down ? count : 1, down ? 1 : count};
    HoloValue *x =
        holo_emit(e, "Range", HOLO_IN(holo_emit_int(e, 0), holo_emit_int(e, count), holo_emit_int(e, 1)), NULL);
    return holo_emit_cast(e, holo_emit_reshape(e, x, sizes, 3), HOLO_F32);
}

// a x + b y + d
static HoloValue *plane(HoloFlowCall *c, HoloValue *a, HoloValue *x, HoloValue *b, HoloValue *y, HoloValue *d)
{
    HoloEmit  *e   = c->e;
    HoloValue *sum = holo_emit(
        e, "Add", HOLO_IN(holo_emit(e, "Mul", HOLO_IN(a, x), NULL), holo_emit(e, "Mul", HOLO_IN(b, y), NULL)), NULL);
    return holo_emit(e, "Add", HOLO_IN(sum, d), NULL);
}

// Where each output pixel comes from along one side, between -1 and 1, as [batch, height, width, 1].
static HoloValue *source(HoloFlowCall *c, HoloValue *place, int64_t size, bool corners)
{
    HoloEmit *e     = c->e;
    int64_t   last  = -1;
    double    scale = corners ? 2.0 / (double)(size > 1 ? size - 1 : 1) : 2.0 / (double)size,
           shift    = corners ? -1 : 1.0 / (double)size - 1;
    place           = holo_emit(e, "Mul", HOLO_IN(place, holo_emit_number(e, HOLO_F32, scale)), NULL);
    place           = holo_emit(e, "Add", HOLO_IN(place, holo_emit_number(e, HOLO_F32, shift)), NULL);
    return holo_emit_unsqueeze(e, place, &last, 1);
}

// Images, transforms [batch or 1, 8], output sizes; V3 has a number for what is outside.
static void projective(HoloFlowCall *c)
{
    HoloEmit  *e = c->e;
    HoloValue *x = holo_flow_in(c, 0), *t = holo_flow_in(c, 1), *k[8];
    int64_t    size[2];
    HoloString mode = holo_flow_string(c, "fill_mode", "CONSTANT");
    bool       near = holo_flow_is(holo_flow_string(c, "interpolation", "BILINEAR"), "NEAREST"),
         reflects = holo_flow_is(mode, "REFLECT"), border = holo_flow_is(mode, "NEAREST");
    HoloImportWindow w = holo_window(2);
    if (holo_flow_rank(c, x) != 4 || holo_flow_known(c, 2, size, 2) != 2 || e->status) return;
    HoloDim height = x->type.dim[1], width = x->type.dim[2];
    if (holo_dim_is_symbolic(height) || holo_dim_is_symbolic(width) || size[0] < 1 || size[1] < 1 ||
        holo_flow_is(mode, "WRAP")) {
        holo_flow_fail(c, HOLO_UNSUPPORTED, "the image must have a known size, and fill_mode must not be WRAP");
        return;
    }
    for (int i = 0; i < 8; i++) k[i] = entry(c, t, i);
    HoloValue *row = counting(c, size[0], true), *column = counting(c, size[1], false),
              *one   = holo_emit_number(e, HOLO_F32, 1);
    HoloValue *depth = plane(c, k[6], column, k[7], row, one), *at[2];
    for (int i = 0; i < 2; i++) {
        HoloValue *place =
            holo_emit(e, "Div", HOLO_IN(plane(c, k[3 * i], column, k[3 * i + 1], row, k[3 * i + 2]), depth), NULL);
        at[i] = source(c, place, i ? height : width, !reflects);
    }
    HoloValue *grid     = holo_emit(e, "Concat", (HoloEmitIn){2, at}, HOLO_ATTRS(holo_with_int("axis", -1)));
    HoloDim    grids[4] = {x->type.dim[0], size[0], size[1], 2};
    grid                = holo_emit(e, "Expand", HOLO_IN(grid, holo_emit_sizes(e, grids, 4)), NULL);
    HoloValue *fill =
        holo_flow_has(c, 3) ? holo_emit_cast(e, holo_flow_in(c, 3), HOLO_F32) : holo_emit_number(e, HOLO_F32, 0);
    HoloDtype type = holo_emit_dtype(x);
    x              = holo_emit(e, "Sub", HOLO_IN(holo_emit_cast(e, x, HOLO_F32), fill), NULL);
    x              = holo_emit(e, "GridSample", HOLO_IN(holo_window_open(e, &w, x), grid),
                               HOLO_ATTRS(holo_with_text("mode", near ? "nearest" : "linear"),
                                          holo_with_text("padding_mode", reflects ? "reflection"
                                                                         : border ? "border"
                                                                                  : "zeros"),
                                          holo_with_int("align_corners", !reflects)));
    x              = holo_emit(e, "Add", HOLO_IN(holo_window_close(e, &w, x), fill), NULL);
    holo_flow_out(c, 0, holo_emit_cast(e, x, type));
}

// clang-format off
const HoloFlowOp holo_flow_ops_patches[] = {
    {"ExtractImagePatches", extract_patches}, {"Dilation2D", dilation},
    {"ImageProjectiveTransformV2", projective}, {"ImageProjectiveTransformV3", projective},
    {0},
};
