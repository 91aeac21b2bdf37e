// tf_ops_colors.c - TensorFlow's operators on the colors of images, and the mean of areas. Channels are last.
#include "import/tensorflow/tf_ops.h"

#include <math.h>

static HoloValue *num(HoloFlowCall *c, double x)
{
    return holo_emit_number(c->e, HOLO_F32, x);
}

static HoloValue *two(HoloFlowCall *c, const char *op, HoloValue *a, HoloValue *b)
{
    return holo_emit(c->e, op, HOLO_IN(a, b), NULL);
}

static HoloValue *where(HoloFlowCall *c, HoloValue *is, HoloValue *a, HoloValue *b)
{
    return holo_emit(c->e, "Where", HOLO_IN(is, a, b), NULL);
}

static HoloValue *clip(HoloFlowCall *c, HoloValue *x)
{
    return holo_emit(c->e, "Clip", HOLO_IN(x, num(c, 0), num(c, 1)), NULL);
}

// The three channels, [..., 1] each.
static bool cut(HoloFlowCall *c, HoloValue *image, HoloValue **out)
{
    if (c->e->status) return false;
    for (int k = 0; k < 3; k++) out[k] = holo_emit_slice(c->e, image, -1, k, k + 1, 1);
    return !c->e->status;
}

static HoloValue *join(HoloFlowCall *c, HoloValue *const *part)
{
    return holo_emit(c->e, "Concat", (HoloEmitIn){3, part}, HOLO_ATTRS(holo_with_int("axis", -1)));
}

// Red, green, blue to hue, saturation, value, each from 0 to 1.
static void to_hsv(HoloFlowCall *c, HoloValue *const *rgb, HoloValue **hsv)
{
    HoloValue *most  = two(c, "Max", two(c, "Max", rgb[0], rgb[1]), rgb[2]),
              *low   = two(c, "Min", two(c, "Min", rgb[0], rgb[1]), rgb[2]);
    HoloValue *range = two(c, "Sub", most, low), *zero = num(c, 0);
    HoloValue *is_gray = two(c, "LessOrEqual", range, zero);
    HoloValue *unit    = two(c, "Div", num(c, 1.0 / 6), where(c, is_gray, num(c, 1), range));
    HoloValue *red     = two(c, "Mul", unit, two(c, "Sub", rgb[1], rgb[2])),
              *green   = two(c, "Add", two(c, "Mul", unit, two(c, "Sub", rgb[2], rgb[0])), num(c, 2.0 / 6)),
              *blue    = two(c, "Add", two(c, "Mul", unit, two(c, "Sub", rgb[0], rgb[1])), num(c, 4.0 / 6));
    HoloValue *hue = where(c, two(c, "Equal", rgb[0], most), red, where(c, two(c, "Equal", rgb[1], most), green, blue));
    hue            = where(c, is_gray, zero, hue);
    hsv[0]         = where(c, two(c, "Less", hue, zero), two(c, "Add", hue, num(c, 1)), hue);
    HoloValue *is_some = two(c, "Greater", most, zero);
    hsv[1]             = where(c, is_some, two(c, "Div", range, where(c, is_some, most, num(c, 1))), zero);
    hsv[2]             = most;
}

// 1 near a hue, 0 far from it: `sign` * (|hue * 6 - at| - away), cut off.
static HoloValue *ramp(HoloFlowCall *c, HoloValue *hue, double at, double sign, double away)
{
    HoloValue *far = holo_emit(c->e, "Abs", HOLO_IN(two(c, "Sub", two(c, "Mul", hue, num(c, 6)), num(c, at))), NULL);
    return clip(c, two(c, "Mul", two(c, "Sub", far, num(c, away)), num(c, sign)));
}

static HoloValue *to_rgb(HoloFlowCall *c, HoloValue *const *hsv)
{
    HoloValue *part[3] = {ramp(c, hsv[0], 3, 1, 1), ramp(c, hsv[0], 2, -1, 2), ramp(c, hsv[0], 4, -1, 2)};
    HoloValue *white   = two(c, "Sub", num(c, 1), hsv[1]);
    for (int k = 0; k < 3; k++) part[k] = two(c, "Mul", two(c, "Add", white, two(c, "Mul", hsv[1], part[k])), hsv[2]);
    return join(c, part);
}

static void rgb_to_hsv(HoloFlowCall *c)
{
    HoloValue *rgb[3], *hsv[3];
    if (!cut(c, holo_flow_in(c, 0), rgb)) return;
    to_hsv(c, rgb, hsv);
    holo_flow_out(c, 0, join(c, hsv));
}

static void hsv_to_rgb(HoloFlowCall *c)
{
    HoloValue *hsv[3];
    if (cut(c, holo_flow_in(c, 0), hsv)) holo_flow_out(c, 0, to_rgb(c, hsv));
}

// number: the hue moves (0), or the saturation is scaled (1), by input 1.
static void adjust(HoloFlowCall *c)
{
    HoloValue *rgb[3], *hsv[3], *by = holo_flow_in(c, 1);
    if (!cut(c, holo_flow_in(c, 0), rgb)) return;
    to_hsv(c, rgb, hsv);
    if (c->op->number) {
        hsv[1] = clip(c, two(c, "Mul", hsv[1], by));
    } else {
        hsv[0] = two(c, "Add", hsv[0], by);
        hsv[0] = two(c, "Sub", hsv[0], holo_emit(c->e, "Floor", HOLO_IN(hsv[0]), NULL));
    }
    holo_flow_out(c, 0, to_rgb(c, hsv));
}

// Away from the mean of each channel.
static void contrast(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0), *by = holo_flow_in(c, 1);
    int64_t    axes[2] = {-3, -2};
    if (c->e->status) return;
    HoloValue *mean = holo_emit(c->e, "ReduceMean", HOLO_IN(x, holo_emit_ints(c->e, axes, 2)), NULL);
    holo_flow_out(c, 0, two(c, "Add", two(c, "Mul", two(c, "Sub", x, mean), by), mean));
}

// ---- ResizeArea: each pixel is the mean of the area that it covers

// How much each pixel of the old image counts for each of the new one, [to, from].
static HoloValue *shares(HoloFlowCall *c, int64_t from, int64_t to, bool is_aligned)
{
    HoloTensor t     = {.dtype = HOLO_F32, .rank = 2, .dim = {to, from}};
    float     *data  = HOLO_NEW(c->tf->arena, float, to *from + 1);
    double     scale = is_aligned && to > 1 ? (double)(from - 1) / (double)(to - 1) : (double)from / (double)to;
    if (!data) return holo_emit_fail(c->e, HOLO_NO_MEMORY, "there is not enough memory");
    for (int64_t i = 0; i < to; i++) {
        double low = (double)i * scale, high = (double)(i + 1) * scale;
        for (int64_t k = (int64_t)floor(low); k < (int64_t)ceil(high); k++) {
            double part = fmin(high, (double)k + 1) - fmax(low, (double)k);
            data[i * from + (k < from ? k : from - 1)] += (float)(part / scale);
        }
    }
    t.data = data;
    return holo_emit_constant(c->e, NULL, &t);
}

static void resize_area(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0);
    int64_t    size[2], to_front[] = {0, 3, 1, 2}, back[] = {0, 2, 3, 1}, turn[] = {1, 0};
    bool       is_aligned = holo_flow_bool(c, "align_corners", false);
    if (c->e->status || holo_flow_known(c, 1, size, 2) != 2) return;
    if (x->type.rank != 4 || holo_dim_is_symbolic(x->type.dim[1]) || holo_dim_is_symbolic(x->type.dim[2]) ||
        size[0] < 1 || size[1] < 1 || size[0] > 65536 || size[1] > 65536)
        return holo_flow_fail(c, HOLO_UNSUPPORTED, "the sizes of the image must be known");
    HoloDim    h = x->type.dim[1], w = x->type.dim[2];
    HoloValue *rows = shares(c, h, size[0], is_aligned), *columns = shares(c, w, size[1], is_aligned);
    x = holo_emit_transpose(c->e, holo_emit_cast(c->e, x, HOLO_F32), to_front, 4);
    x = two(c, "MatMul", two(c, "MatMul", rows, x), holo_emit_transpose(c->e, columns, turn, 2));
    holo_flow_out(c, 0, holo_emit_transpose(c->e, x, back, 4));
}

// clang-format off
const HoloFlowOp holo_flow_ops_colors[] = {
    {"RGBToHSV", rgb_to_hsv}, {"HSVToRGB", hsv_to_rgb}, {"AdjustHue", adjust}, {"AdjustSaturation", adjust, NULL, 1},
    {"AdjustContrastv2", contrast}, {"ResizeArea", resize_area},
    {0},
};
