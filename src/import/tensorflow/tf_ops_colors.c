// tf_ops_colors.c - TensorFlow's operators on the colors of images, and the mean of areas. Channels are last.
#include "import/tensorflow/tf_ops.h"

#include <math.h>

static HoloValue *num(HoloFlowCall *c, double x)
{
    return holo_emit_number(c->e, HOLO_F32, x);
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
    HoloValue *most  = holo_flow_two(c, "Max", holo_flow_two(c, "Max", rgb[0], rgb[1]), rgb[2]),
              *low   = holo_flow_two(c, "Min", holo_flow_two(c, "Min", rgb[0], rgb[1]), rgb[2]);
    HoloValue *range = holo_flow_two(c, "Sub", most, low), *zero = num(c, 0);
    HoloValue *is_gray = holo_flow_two(c, "LessOrEqual", range, zero);
    HoloValue *unit    = holo_flow_two(c, "Div", num(c, 1.0 / 6), where(c, is_gray, num(c, 1), range));
    HoloValue *red     = holo_flow_two(c, "Mul", unit, holo_flow_two(c, "Sub", rgb[1], rgb[2])),
              *green   = holo_flow_two(c, "Add", holo_flow_two(c, "Mul", unit, holo_flow_two(c, "Sub", rgb[2], rgb[0])),
                                       num(c, 2.0 / 6)),
              *blue    = holo_flow_two(c, "Add", holo_flow_two(c, "Mul", unit, holo_flow_two(c, "Sub", rgb[0], rgb[1])),
                                       num(c, 4.0 / 6));
    HoloValue *hue     = where(c, holo_flow_two(c, "Equal", rgb[0], most), red,
                               where(c, holo_flow_two(c, "Equal", rgb[1], most), green, blue));
    hue                = where(c, is_gray, zero, hue);
    hsv[0]             = where(c, holo_flow_two(c, "Less", hue, zero), holo_flow_two(c, "Add", hue, num(c, 1)), hue);
    HoloValue *is_some = holo_flow_two(c, "Greater", most, zero);
    hsv[1]             = where(c, is_some, holo_flow_two(c, "Div", range, where(c, is_some, most, num(c, 1))), zero);
    hsv[2]             = most;
}

// 1 near a hue, 0 far from it: `sign` * (|hue * 6 - at| - away), cut off.
static HoloValue *ramp(HoloFlowCall *c, HoloValue *hue, double at, double sign, double away)
{
    HoloValue *far = holo_emit(
        c->e, "Abs", HOLO_IN(holo_flow_two(c, "Sub", holo_flow_two(c, "Mul", hue, num(c, 6)), num(c, at))), NULL);
    return clip(c, holo_flow_two(c, "Mul", holo_flow_two(c, "Sub", far, num(c, away)), num(c, sign)));
}

static HoloValue *to_rgb(HoloFlowCall *c, HoloValue *const *hsv)
{
    HoloValue *part[3] = {ramp(c, hsv[0], 3, 1, 1), ramp(c, hsv[0], 2, -1, 2), ramp(c, hsv[0], 4, -1, 2)};
    HoloValue *white   = holo_flow_two(c, "Sub", num(c, 1), hsv[1]);
    for (int k = 0; k < 3; k++)
        part[k] =
            holo_flow_two(c, "Mul", holo_flow_two(c, "Add", white, holo_flow_two(c, "Mul", hsv[1], part[k])), hsv[2]);
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
        hsv[1] = clip(c, holo_flow_two(c, "Mul", hsv[1], by));
    } else {
        hsv[0] = holo_flow_two(c, "Add", hsv[0], by);
        hsv[0] = holo_flow_two(c, "Sub", hsv[0], holo_emit(c->e, "Floor", HOLO_IN(hsv[0]), NULL));
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
    holo_flow_out(c, 0, holo_flow_two(c, "Add", holo_flow_two(c, "Mul", holo_flow_two(c, "Sub", x, mean), by), mean));
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

static bool has_sizes(HoloFlowCall *c, const HoloValue *x, const int64_t *to)
{
    enum { MOST = 1 << 26 }; // of shares: 8192 pixels to as many
    bool    is_known = x->type.rank == 4;
    int64_t count;
    for (int i = 0; i < 2 && is_known; i++)
        is_known = x->type.dim[1 + i] > 0 && to[i] > 0 && holo_mul(x->type.dim[1 + i], to[i], &count) && count <= MOST;
    if (!is_known) holo_flow_fail(c, HOLO_UNSUPPORTED, "the sizes of the image must be known, and not too large");
    return is_known;
}

// Rows and columns of an image become sums of rows and of columns.
static void give_shared(HoloFlowCall *c, HoloValue *x, HoloValue *rows, HoloValue *columns)
{
    int64_t to_front[] = {0, 3, 1, 2}, back[] = {0, 2, 3, 1}, turn[] = {1, 0};
    x = holo_emit_transpose(c->e, holo_emit_cast(c->e, x, HOLO_F32), to_front, 4);
    x = holo_flow_two(c, "MatMul", holo_flow_two(c, "MatMul", rows, x), holo_emit_transpose(c->e, columns, turn, 2));
    holo_flow_out(c, 0, holo_emit_transpose(c->e, x, back, 4));
}

static void resize_area(HoloFlowCall *c)
{
    HoloValue *x = holo_flow_in(c, 0);
    int64_t    size[2];
    bool       is_aligned = holo_flow_bool(c, "align_corners", false);
    if (c->e->status || holo_flow_known(c, 1, size, 2) != 2 || !has_sizes(c, x, size)) return;
    give_shared(c, x, shares(c, x->type.dim[1], size[0], is_aligned), shares(c, x->type.dim[2], size[1], is_aligned));
}

// ---- ScaleAndTranslate: how tf.image.resize makes smaller images

static double lanczos(double x, double radius)
{
    double pi = 3.14159265358979323846;
    if (x >= radius) return 0;
    return x <= 1e-3 ? 1 : radius * sin(pi * x) * sin(pi * x / radius) / (pi * pi * x * x);
}

static double gaussian(double x, double radius)
{
    return x >= radius ? 0 : exp(-x * x * 9 / (2 * radius * radius));
}

static double box(double x, double radius)
{
    return x < radius ? 1 : x > radius ? 0 : 0.5;
}

static double triangle(double x, double radius)
{
    return x < radius ? 1 - x : 0;
}

static double keys(double x, double radius)
{
    if (x >= radius) return 0;
    return x >= 1 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : (1.5 * x - 2.5) * x * x + 1;
}

static double mitchell(double x, double radius)
{
    if (x >= radius) return 0;
    return x >= 1 ? ((-7.0 / 18 * x + 2) * x - 10.0 / 3) * x + 16.0 / 9 : (7.0 / 6 * x - 2) * x * x + 8.0 / 9;
}

typedef struct Filter {
    const char *name;
    double (*at)(double x, double radius); // x is at least 0
    double radius;
} Filter;

static const Filter filters[] = {
    {"lanczos1", lanczos, 1}, {"lanczos3", lanczos, 3},  {"lanczos5", lanczos, 5}, {"gaussian", gaussian, 1.5},
    {"box", box, 0.5},        {"triangle", triangle, 1}, {"keyscubic", keys, 2},   {"mitchellcubic", mitchell, 2}};

// How much each pixel of an axis counts for each of the new ones, [to, from].
static HoloValue *filtered(HoloFlowCall *c, const Filter *f, int64_t from, int64_t to, double scale, double move)
{
    HoloTensor t    = {.dtype = HOLO_F32, .rank = 2, .dim = {to, from}};
    float     *data = HOLO_NEW(c->tf->arena, float, to *from + 1);
    double     wide = holo_flow_bool(c, "antialias", true) && scale < 1 ? 1 / scale : 1;
    if (!data) return holo_emit_fail(c->e, HOLO_NO_MEMORY, "there is not enough memory");
    for (int64_t i = 0; i < to; i++) {
        double at = ((double)i + 0.5 - move) / scale, sum = 0;
        if (!(at >= 0 && at <= (double)from)) continue; // it shows nothing of the image
        double low  = fmax(ceil(at - f->radius * wide - 0.5), 0),
               high = fmin(floor(at + f->radius * wide - 0.5), (double)from - 1);
        for (int64_t k = (int64_t)low; k <= (int64_t)high; k++) {
            double share       = f->at(fabs((double)k + 0.5 - at) / wide, f->radius);
            data[i * from + k] = (float)share;
            sum += share;
        }
        for (int64_t k = (int64_t)low; k <= (int64_t)high && fabs(sum) > 1e-30; k++) data[i * from + k] /= (float)sum;
    }
    t.data = data;
    return holo_emit_constant(c->e, NULL, &t);
}

static bool known_pair(HoloFlowCall *c, int i, double *out)
{
    HoloTensor t = holo_emit_known(c->e, holo_flow_in(c, i));
    if (!t.data || t.dtype != HOLO_F32 || holo_tensor_count(&t) != 2) {
        if (!c->e->status) holo_flow_fail(c, HOLO_UNSUPPORTED, "input %d is not known before the model runs", i);
        return false;
    }
    for (int k = 0; k < 2; k++) out[k] = (double)((const float *)t.data)[k];
    return true;
}

static void scale_and_translate(HoloFlowCall *c)
{
    HoloValue    *x      = holo_flow_in(c, 0);
    HoloString    kernel = holo_flow_string(c, "kernel_type", "lanczos3");
    const Filter *f      = NULL;
    int64_t       size[2];
    double        scale[2], move[2];
    for (int i = 0; i < HOLO_COUNT(filters); i++)
        if (holo_flow_is(kernel, filters[i].name)) f = &filters[i];
    if (!f) return holo_flow_fail(c, HOLO_UNSUPPORTED, "kernel_type '%.*s'", HOLO_IMPORT_ARG(kernel));
    if (c->e->status || holo_flow_known(c, 1, size, 2) != 2 || !has_sizes(c, x, size)) return;
    if (!known_pair(c, 2, scale) || !known_pair(c, 3, move)) return;
    if (!(scale[0] > 0 && scale[1] > 0)) return holo_flow_fail(c, HOLO_BAD_MODEL, "a scale should be more than 0");
    give_shared(c, x, filtered(c, f, x->type.dim[1], size[0], scale[0], move[0]),
                filtered(c, f, x->type.dim[2], size[1], scale[1], move[1]));
}

// clang-format off
const HoloFlowOp holo_flow_ops_colors[] = {
    {"RGBToHSV", rgb_to_hsv}, {"HSVToRGB", hsv_to_rgb}, {"AdjustHue", adjust}, {"AdjustSaturation", adjust, NULL, 1},
    {"AdjustContrastv2", contrast}, {"ResizeArea", resize_area}, {"ScaleAndTranslate", scale_and_translate},
    {0},
};
