// tf_ops_image.c - resizing, cropping and choosing boxes in TensorFlow.
#include "import/import_window.h"
#include "import/tensorflow/tf_ops.h"

// ---- resizing

static const char *coordinates(HoloFlowCall *c)
{
    if (holo_flow_bool(c, "align_corners", false)) return "align_corners";
    return holo_flow_bool(c, "half_pixel_centers", false) ? "half_pixel" : "asymmetric";
}

// What says how large the image becomes, in a form that the layout passes know: sizes of all dimensions, or whole
// factors if the batch is open. Else the sizes of two axes.
typedef struct Target {
    HoloValue *scales, *sizes;
    bool       has_axes;
} Target;

static Target target_of(HoloFlowCall *c, const HoloValue *x, HoloValue *sizes)
{
    int64_t known[2], all[4];
    int     count  = 0;
    float  *scales = HOLO_NEW(c->tf->arena, float, 4);
    Target  two    = {.sizes = sizes, .has_axes = true};
    if (c->e->status || !scales || !holo_emit_known_ints(c->e, sizes, known, 2, &count) || count != 2) return two;
    bool is_whole = true, is_known = true;
    for (int i = 0; i < 4; i++) {
        HoloDim in = x->type.dim[i], out = i < 2 ? in : known[i - 2];
        all[i] = out;
        is_known &= !holo_dim_is_symbolic(out);
        is_whole &= i < 2 || (!holo_dim_is_symbolic(in) && in > 0 && out % in == 0);
        scales[i] = i < 2 || !is_whole ? 1.0f : (float)(out / in);
    }
    if (is_known) return (Target){.sizes = holo_emit_ints(c->e, all, 4)};
    HoloTensor t = {.dtype = HOLO_F32, .rank = 1, .dim = {4}, .data = scales};
    return is_whole ? (Target){.scales = holo_emit_constant(c->e, NULL, &t)} : two;
}

static HoloValue *resized(HoloFlowCall *c, HoloValue *x, HoloValue *sizes, const char *mode, const char *how)
{
    static const int64_t axes[2] = {2, 3};
    HoloEmit            *e       = c->e;
    HoloImportWindow     w       = holo_window(2);
    bool                 is_half = !strcmp(how, "half_pixel");
    if (strcmp(mode, "nearest")) x = holo_emit_cast(e, x, HOLO_F32);
    if (holo_flow_rank(c, x) != 4) {
        holo_flow_fail(c, HOLO_BAD_MODEL, "the input should have 4 dimensions");
        return NULL;
    }
    x              = holo_window_open(e, &w, x);
    Target   to    = target_of(c, x, holo_flow_vector(c, sizes));
    HoloAttr axes_ = to.has_axes ? holo_with_ints("axes", axes, 2) : (HoloAttr){0};
    x              = holo_emit(e, "Resize", to.sizes ? HOLO_IN(x, NULL, NULL, to.sizes) : HOLO_IN(x, NULL, to.scales),
                               HOLO_ATTRS(holo_with_text("mode", mode), holo_with_text("coordinate_transformation_mode", how),
                                          holo_with_text("nearest_mode", strcmp(how, "asymmetric") ? "round_prefer_ceil" : "floor"),
                                          holo_with_float("cubic_coeff_a", is_half ? -0.5 : -0.75),
                                          holo_with_int("exclude_outside", !strcmp(mode, "cubic") && is_half), axes_));
    return holo_window_close(e, &w, x);
}

HoloValue *holo_flow_resized(HoloFlowCall *c, HoloValue *x, HoloValue *sizes, bool is_aligned)
{
    return resized(c, x, sizes, "linear", is_aligned ? "align_corners" : "asymmetric");
}

// onnx: the mode.
static void resize(HoloFlowCall *c)
{
    holo_flow_out(c, 0, resized(c, holo_flow_in(c, 0), holo_flow_in(c, 1), c->op->onnx, coordinates(c)));
}

// ---- cropping

typedef struct Crop {
    HoloValue *place;   // where each sample of an axis lies, [boxes, samples], in elements
    HoloValue *outside; // whether it lies outside of the image
} Crop;

// Samples of one axis: between two edges of each box, which are columns of `boxes`.
static Crop crop_axis(HoloFlowCall *c, HoloValue *boxes, int64_t first, int64_t count, HoloDim size)
{
    HoloEmit  *e       = c->e;
    HoloDim    last    = holo_dim_sub(e->graph->dims, size, 1);
    int64_t    zero    = 0;
    float     *numbers = HOLO_NEW(c->tf->arena, float, count);
    HoloTensor t       = {.dtype = HOLO_F32, .rank = 1, .dim = {count}, .data = numbers};
    if (!numbers) {
        holo_flow_fail(c, HOLO_NO_MEMORY, "there is no memory");
        return (Crop){0};
    }
    for (int64_t i = 0; i < count; i++) numbers[i] = count > 1 ? (float)i / (float)(count - 1) : 0.5f;
    HoloValue *step = holo_emit_constant(e, NULL, &t);
    HoloValue *from = holo_emit_slice(e, boxes, 1, first, first + 1, 1),
              *to   = holo_emit_slice(e, boxes, 1, first + 2, first + 3, 1);
    HoloValue *end  = holo_emit_squeeze(e, holo_emit_cast(e, holo_emit_sizes(e, &last, 1), HOLO_F32), &zero, 1);
    HoloValue *way  = holo_emit(e, "Mul", HOLO_IN(holo_emit(e, "Sub", HOLO_IN(to, from), NULL), step), NULL);
    HoloValue *at   = holo_emit(e, "Mul", HOLO_IN(holo_emit(e, "Add", HOLO_IN(from, way), NULL), end), NULL);
    HoloValue *out  = holo_emit(e, "Or",
                                HOLO_IN(holo_emit(e, "Less", HOLO_IN(at, holo_emit_number(e, HOLO_F32, 0)), NULL),
                                        holo_emit(e, "Greater", HOLO_IN(at, end), NULL)),
                                NULL);
    // GridSample has -1 at the first element and 1 at the last one.
    HoloValue *safe = holo_emit(e, "Max", HOLO_IN(end, holo_emit_number(e, HOLO_F32, 1)), NULL);
    at = holo_emit(e, "Mul", HOLO_IN(holo_emit(e, "Div", HOLO_IN(at, safe), NULL), holo_emit_number(e, HOLO_F32, 2)),
                   NULL);
    return (Crop){holo_emit(e, "Sub", HOLO_IN(at, holo_emit_number(e, HOLO_F32, 1)), NULL), out};
}

// [boxes, rows] and [boxes, columns] to a grid of pairs, column first.
static HoloValue *crop_grid(HoloFlowCall *c, HoloValue *rows, HoloValue *columns)
{
    HoloEmit  *e      = c->e;
    int64_t    second = 1, third = 2, last = -1;
    HoloValue *y = holo_emit_unsqueeze(e, rows, &third, 1), *x = holo_emit_unsqueeze(e, columns, &second, 1), *zero,
              *both[2];
    zero    = holo_emit_number(e, HOLO_F32, 0);
    both[0] = holo_emit(e, "Add", HOLO_IN(x, holo_emit(e, "Mul", HOLO_IN(y, zero), NULL)), NULL);
    both[1] = holo_emit(e, "Add", HOLO_IN(y, holo_emit(e, "Mul", HOLO_IN(x, zero), NULL)), NULL);
    for (int i = 0; i < 2; i++) both[i] = holo_emit_unsqueeze(e, both[i], &last, 1);
    return holo_emit(e, "Concat", (HoloEmitIn){2, both}, HOLO_ATTRS(holo_with_int("axis", -1)));
}

static void crop_and_resize(HoloFlowCall *c)
{
    HoloEmit        *e     = c->e;
    HoloValue       *image = holo_emit_cast(e, holo_flow_in(c, 0), HOLO_F32), *boxes = holo_flow_in(c, 1);
    HoloValue       *which = holo_emit_cast(e, holo_flow_in(c, 2), HOLO_I64);
    int64_t          size[2], axes[2] = {2, 3}, other[2] = {1, 3};
    HoloImportWindow w    = holo_window(2);
    bool             near = holo_flow_is(holo_flow_string(c, "method", "bilinear"), "nearest");
    if (holo_flow_known(c, 3, size, 2) != 2 || holo_flow_rank(c, image) != 4 || e->status) return;
    if (size[0] < 1 || size[1] < 1 || size[0] > 1 << 16 || size[1] > 1 << 16) {
        holo_flow_fail(c, HOLO_BAD_MODEL, "the size of a crop must be positive");
        return;
    }
    Crop rows          = crop_axis(c, boxes, 0, size[0], image->type.dim[1]),
         columns       = crop_axis(c, boxes, 1, size[1], image->type.dim[2]);
    HoloValue *grid    = crop_grid(c, rows.place, columns.place);
    HoloValue *x       = holo_window_open(e, &w, holo_emit(e, "Gather", HOLO_IN(image, which), NULL));
    x                  = holo_emit(e, "GridSample", HOLO_IN(x, grid),
                                   HOLO_ATTRS(holo_with_text("mode", near ? "nearest" : "linear"),
                                              holo_with_text("padding_mode", "border"), holo_with_int("align_corners", 1)));
    x                  = holo_window_close(e, &w, x);
    HoloValue *outside = holo_emit(
        e, "Or",
        HOLO_IN(holo_emit_unsqueeze(e, rows.outside, axes, 2), holo_emit_unsqueeze(e, columns.outside, other, 2)),
        NULL);
    HoloValue *filler = holo_emit_number(e, HOLO_F32, holo_flow_float(c, "extrapolation_value", 0));
    holo_flow_out(c, 0, holo_emit(e, "Where", HOLO_IN(outside, filler, x), NULL));
}

// ---- boxes

// Indices of the boxes that stay, [n] of i64.
static HoloValue *keep_boxes(HoloFlowCall *c, HoloValue *iou, HoloValue *least)
{
    HoloEmit  *e     = c->e;
    HoloValue *boxes = holo_flow_in(c, 0), *scores = holo_flow_in(c, 1),
              *most = holo_flow_vector(c, holo_flow_in(c, 2));
    int64_t axes[2] = {0, 1}, zero = 0, column = 1;
    boxes           = holo_emit_unsqueeze(e, boxes, &zero, 1);
    scores          = holo_emit_unsqueeze(e, scores, axes, 2);
    HoloValue *rows = holo_emit(e, "NonMaxSuppression", HOLO_IN(boxes, scores, most, iou, least), NULL);
    rows            = holo_emit_slice(e, rows, 1, 2, 3, 1);
    return holo_emit_squeeze(e, rows, &column, 1);
}

static HoloValue *threshold(HoloFlowCall *c, int input, const char *attr, double fallback)
{
    if (input < c->in_count) return holo_emit_cast(c->e, holo_flow_in(c, input), HOLO_F32);
    return holo_emit_number(c->e, HOLO_F32, attr ? holo_flow_float(c, attr, fallback) : fallback);
}

// Fills a list with zeros up to the largest number of boxes.
static HoloValue *fill_up(HoloFlowCall *c, HoloValue *x, HoloValue *count)
{
    HoloEmit  *e    = c->e;
    int64_t    zero = 0;
    HoloValue *more = holo_emit(e, "Sub", HOLO_IN(holo_flow_vector(c, holo_flow_in(c, 2)), count), NULL);
    return holo_emit(e, "Pad", HOLO_IN(x, holo_flow_join(c, holo_emit_ints(e, &zero, 1), more)), NULL);
}

// number: the version.
static void nms(HoloFlowCall *c)
{
    HoloEmit  *e       = c->e;
    int        version = c->op->number;
    int64_t    zero    = 0;
    double     sigma   = 0;
    HoloValue *iou     = version == 1 ? threshold(c, 99, "iou_threshold", 0.5) : threshold(c, 3, NULL, 0.5);
    HoloValue *least = threshold(c, version >= 3 ? 4 : 99, NULL, -3.4e38), *out[2] = {NULL};
    if (version == 5 && !holo_emit_known_number(e, holo_flow_in(c, 5), &sigma)) {
        holo_flow_fail(c, HOLO_UNSUPPORTED, "soft_nms_sigma must be known when the model is compiled");
        return;
    }
    if (sigma > 0)
        holo_emit_many(
            e, "hologram::SoftSuppression",
            HOLO_IN(holo_flow_in(c, 0), holo_flow_in(c, 1), holo_flow_vector(c, holo_flow_in(c, 2)), iou, least),
            HOLO_ATTRS(holo_with_float("sigma", sigma)), out, 2);
    HoloValue *keep  = sigma > 0 ? out[0] : keep_boxes(c, iou, least);
    HoloValue *count = holo_emit_shape(e, keep), *scores = out[1];
    if (version == 5 && !scores) scores = holo_emit(e, "Gather", HOLO_IN(holo_flow_in(c, 1), keep), NULL);
    if (version >= 4 && holo_flow_bool(c, "pad_to_max_output_size", false)) {
        keep = fill_up(c, keep, count);
        if (scores) scores = fill_up(c, scores, count);
    }
    holo_flow_out(c, 0, holo_emit_cast(e, keep, HOLO_I32));
    if (version == 5) holo_flow_out(c, 1, scores);
    if (version >= 4) holo_flow_out(c, version - 3, holo_emit_cast(e, holo_emit_squeeze(e, count, &zero, 1), HOLO_I32));
}

// clang-format off
const HoloFlowOp holo_flow_ops_image[] = {
    {"ResizeBilinear", resize, "linear"}, {"ResizeNearestNeighbor", resize, "nearest"}, {"ResizeBicubic", resize, "cubic"},
    {"CropAndResize", crop_and_resize},
    {"NonMaxSuppression", nms, NULL, 1}, {"NonMaxSuppressionV2", nms, NULL, 2}, {"NonMaxSuppressionV3", nms, NULL, 3},
    {"NonMaxSuppressionV4", nms, NULL, 4, "selected_indices valid_outputs"},
    {"NonMaxSuppressionV5", nms, NULL, 5, "selected_indices selected_scores valid_outputs"},
    {0},
};
