// openvino_image.c - layers of pictures and detections: interpolation, sampling, regions, boxes.
#include "import/openvino/openvino.h"

#include <string.h>

static HoloValue *as_i64(HoloIrCall *c, HoloValue *x)
{
    return x ? holo_emit_cast(c->e, x, HOLO_I64) : NULL;
}

// ---- interpolation

typedef struct Resize {
    HoloValue  *x, *sizes, *scales;
    int64_t     axes[2 * HOLO_MAX_RANK];
    int         count;
    const char *mode, *where, *nearest;
    double      cubic;
    bool        antialias;
} Resize;

static HoloValue *resize(HoloIrCall *c, const Resize *r)
{
    HoloValue *scales = r->sizes ? NULL : holo_emit_cast(c->e, r->scales, HOLO_F32);
    return holo_emit(c->e, "Resize", HOLO_IN(r->x, NULL, scales, r->sizes),
                     HOLO_ATTRS(holo_with_text("mode", r->mode),
                                holo_with_text("coordinate_transformation_mode", r->where),
                                holo_with_text("nearest_mode", r->nearest), holo_with_ints("axes", r->axes, r->count),
                                holo_with_int("antialias", r->antialias), holo_with_float("cubic_coeff_a", r->cubic)));
}

static bool no_pads(HoloIrCall *c)
{
    int64_t pads[2 * HOLO_MAX_RANK];
    bool    any = false;
    for (int k = 0; k < 2; k++) {
        int count = holo_ir_ints(c, k ? "pads_end" : "pads_begin", pads);
        for (int i = 0; i < count; i++) any |= pads[i] != 0;
    }
    if (any) holo_emit_fail(c->e, HOLO_UNSUPPORTED, "an Interpolate with padding");
    return !any && !c->e->status;
}

// Version 1: the axes are attributes.
static HoloValue *old_interpolate(HoloIrCall *c)
{
    bool   is_linear = holo_ir_is(c, "mode", "nearest", "linear"), is_cubic = holo_ir_is(c, "mode", "nearest", "cubic");
    bool   corners = holo_ir_bool(c, "align_corners", true);
    Resize r       = {.x       = IN(0),
                      .sizes   = as_i64(c, IN(1)),
                      .mode    = is_linear  ? "linear"
                                 : is_cubic ? "cubic"
                                            : "nearest",
                      .where   = corners     ? "align_corners"
                                 : is_linear ? "half_pixel"
                                             : "asymmetric",
                      .nearest = corners ? "round_prefer_floor" : "floor",
                      .cubic   = -0.75};
    r.count        = holo_ir_ints(c, "axes", r.axes);
    return resize(c, &r);
}

ONE(interpolate)
{
    bool is_new   = c->layer->opset >= 11;
    bool by_sizes = holo_ir_is(c, "shape_calculation_mode", "sizes", "sizes");
    int  axes_at  = is_new ? 2 : 3;
    if (!no_pads(c)) return NULL;
    if (c->layer->opset < 4) return old_interpolate(c);
    Resize r         = {.x         = IN(0),
                        .sizes     = by_sizes ? as_i64(c, IN(1)) : NULL,
                        .scales    = by_sizes ? NULL : IN(is_new ? 1 : 2),
                        .mode      = holo_ir_text(c, "mode", "nearest"),
                        .where     = holo_ir_text(c, "coordinate_transformation_mode", "half_pixel"),
                        .nearest   = holo_ir_text(c, "nearest_mode", "round_prefer_floor"),
                        .cubic     = holo_ir_float(c, "cube_coeff", -0.75),
                        .antialias = holo_ir_bool(c, "antialias", false)};
    bool   is_pillow = strstr(r.mode, "_pillow") != NULL;
    if (is_pillow) r.antialias = true, r.where = "half_pixel", r.cubic = -0.5;
    if (!strncmp(r.mode, "linear", 6) || !strncmp(r.mode, "bilinear", 8)) r.mode = "linear";
    if (!strncmp(r.mode, "bicubic", 7)) r.mode = "cubic";
    if (!strcmp(r.nearest, "simple")) r.nearest = "floor";
    if (!strcmp(r.where, "tf_half_pixel_for_nn")) r.where = "tf_half_pixel_for_nn";
    r.count = MAY(axes_at) ? holo_ir_known(c, axes_at, r.axes) : holo_ir_rank(c, r.x);
    if (!MAY(axes_at))
        for (int i = 0; i < r.count; i++) r.axes[i] = i;
    return c->e->status ? NULL : resize(c, &r);
}

ONE(grid_sample)
{
    const char *mode = holo_ir_text(c, "mode", "bilinear");
    return holo_emit(c->e, "GridSample", HOLO_IN(IN(0), IN(1)),
                     HOLO_ATTRS(holo_with_text("mode", !strcmp(mode, "bilinear")  ? "linear"
                                                       : !strcmp(mode, "bicubic") ? "cubic"
                                                                                  : "nearest"),
                                holo_with_text("padding_mode", holo_ir_text(c, "padding_mode", "zeros")),
                                holo_with_int("align_corners", holo_ir_bool(c, "align_corners", false))));
}

// ---- regions

// data boxes numbers-in-the-batch
ONE(roi_align)
{
    bool is_old = holo_ir_is(c, "aligned_mode", "asymmetric", "asymmetric");
    return holo_emit(
        c->e, "RoiAlign", HOLO_IN(IN(0), IN(1), as_i64(c, IN(2))),
        HOLO_ATTRS(holo_with_text("mode", holo_ir_text(c, "mode", "avg")),
                   holo_with_int("output_height", holo_ir_int(c, "pooled_h", 1)),
                   holo_with_int("output_width", holo_ir_int(c, "pooled_w", 1)),
                   holo_with_int("sampling_ratio", holo_ir_int(c, "sampling_ratio", 0)),
                   holo_with_float("spatial_scale", holo_ir_float(c, "spatial_scale", 1)),
                   holo_with_text("coordinate_transformation_mode", is_old ? "output_half_pixel" : "half_pixel")));
}

ONE(roi_pooling)
{
    int64_t shape[2] = {holo_ir_int(c, "pooled_h", holo_ir_int(c, "output_size", 1)), holo_ir_int(c, "pooled_w", 1)};
    if (!holo_ir_is(c, "method", "max", "max"))
        return holo_emit_fail(c->e, HOLO_UNSUPPORTED, "ROIPooling by '%.40s'", holo_ir_text(c, "method", ""));
    return holo_emit(c->e, "MaxRoiPool", HOLO_IN(IN(0), IN(1)),
                     HOLO_ATTRS(holo_with_ints("pooled_shape", shape, 2),
                                holo_with_float("spatial_scale", holo_ir_float(c, "spatial_scale", 1))));
}

// ---- boxes

static HoloValue *scalar_in(HoloIrCall *c, int i, HoloDtype type)
{
    HoloValue *x   = MAY(i);
    int64_t    one = 1;
    return x ? holo_emit_reshape(c->e, holo_emit_cast(c->e, x, type), &one, 1) : NULL;
}

static HoloValue *column(HoloIrCall *c, HoloValue *x, int64_t i)
{
    return holo_emit_slice(c->e, x, 1, i, i + 1, 1);
}

// boxes scores most iou score sigma: the boxes that are kept, their scores, how many
MANY(non_max)
{
    int64_t    zero = 0, all = -1;
    HoloDtype  type   = holo_ir_type_attr(c, "output_type", HOLO_I64);
    HoloValue *scores = IN(1), *sigma = MAY(5), *most = scalar_in(c, 2, HOLO_I64);
    double     soft = 0;
    if (sigma && (!holo_emit_known_number(c->e, sigma, &soft) || soft != 0))
        return (void)holo_emit_fail(c->e, HOLO_UNSUPPORTED, "a NonMaxSuppression whose scores fade (soft_nms_sigma)");
    if (!most) most = holo_emit_ints(c->e, &zero, 1);
    HoloValue *kept = holo_emit(
        c->e, "NonMaxSuppression", HOLO_IN(IN(0), scores, most, scalar_in(c, 3, HOLO_F32), scalar_in(c, 4, HOLO_F32)),
        HOLO_ATTRS(holo_with_int("center_point_box", holo_ir_is(c, "box_encoding", "corner", "center"))));
    // [n, 3]: the batch, the class, the box; scores are [batch, classes, boxes]
    HoloValue *found = holo_emit_reshape(c->e, OP2("GatherND", scores, kept), &all, 1), *count = OP1("Size", found);
    if (holo_ir_bool(c, "sort_result_descending", true)) {
        HoloValue *y[2];
        holo_emit_many(c->e, "TopK", HOLO_IN(found, holo_emit_reshape(c->e, count, (int64_t[]){1}, 1)), NULL, y, 2);
        found = y[0];
        kept  = OP2("Gather", kept, y[1]);
    }
    c->layer->out[0] = holo_emit_cast(c->e, kept, type);
    if (c->layer->out_count < 2) return;
    HoloDtype  real    = holo_emit_dtype(scores);
    HoloValue *part[3] = {holo_emit_cast(c->e, column(c, kept, 0), real),
                          holo_emit_cast(c->e, column(c, kept, 1), real),
                          holo_emit_unsqueeze(c->e, found, (int64_t[]){1}, 1)};
    c->layer->out[1]   = holo_emit(c->e, "Concat", (HoloEmitIn){3, part}, HOLO_ATTRS(holo_with_int("axis", 1)));
    c->layer->out[2]   = holo_emit_cast(c->e, holo_emit_reshape(c->e, count, (int64_t[]){1}, 1), type);
}

const HoloIrOp holo_ir_images[] = {
    {"Interpolate", interpolate, NULL, NULL},   {"GridSample", grid_sample, NULL, NULL},
    {"ROIAlign", roi_align, NULL, NULL},        {"ROIPooling", roi_pooling, NULL, NULL},
    {"NonMaxSuppression", NULL, non_max, NULL}, {0},
};
