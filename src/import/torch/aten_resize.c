// aten_resize.c - pictures of other sizes, and samples of them by coordinates.
#include "import/torch/aten.h"

typedef struct Way {
    const char *mode, *coordinates, *nearest;
    bool        is_aligned, antialias;
    double      cubic;
} Way;

// The sizes or, better, the factors: PyTorch's coordinates follow the factors where they are given. `factors` is a list,
// or the first of several arguments.
static HoloValue *resize(HoloTorch *t, const HoloTv *a, const HoloTv *factors, int factor_args, const Way *way)
{
    HoloValue *x = V(0), *sizes = NULL, *scales = NULL;
    int        rank = holo_torch_rank(t, x), dims = rank - 2;
    double     list[HOLO_MAX_RANK * 2];
    float      all[HOLO_MAX_RANK];
    HoloTv     joined = *factors;
    HOLO_TORCH_CHECK(t, dims >= 1 && dims <= 3, "a resize of %d dimensions", rank);
    if (!holo_tv_is_list(factors) && factor_args >= dims && !holo_tv_is_none(factors))
        joined = holo_tv_list(t, HOLO_TORCH_LIST, dims, factors);
    bool has_none = !holo_tv_is_list(&joined);
    for (int i = 0; !has_none && i < joined.list->count; i++) has_none |= holo_tv_is_none(&joined.list->item[i]);
    int count = has_none ? 0 : holo_torch_floats(t, &joined, list);
    for (int i = 0; i < rank; i++) all[i] = i < 2 ? 1 : (float)(i - 2 < count ? list[i - 2] : count ? list[0] : 1);
    if (count) {
        HoloTensor f = {.dtype = HOLO_F32, .rank = 1, .dim = {rank}, .data = holo_arena_take(t->arena, sizeof all)};
        if (!f.data) return holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
        for (int i = 0; i < rank; i++) ((float *)f.data)[i] = all[i];
        scales = holo_emit_constant(t->e, NULL, &f);
    } else {
        HoloValue *part[3] = {holo_torch_dim(t, x, 0), holo_torch_dim(t, x, 1), holo_torch_sizes(t, &a[1])};
        sizes              = holo_torch_concat(t, part, 3, 0);
    }
    const char *coordinates = way->is_aligned ? "align_corners" : way->coordinates;
    return holo_emit(
        t->e, "Resize", HOLO_IN(x, NULL, scales, sizes),
        HOLO_ATTRS(holo_with_text("mode", way->mode), holo_with_text("coordinate_transformation_mode", coordinates),
                   holo_with_text("nearest_mode", way->nearest), holo_with_float("cubic_coeff_a", way->cubic),
                   holo_with_int("antialias", way->antialias), holo_with_int("exclude_outside", way->antialias)));
}

// nearest: (x, size, factors) or (x, size, factor, factor, factor)
ONE(nearest)
{
    return resize(t, a, &a[2], 3, &(Way){"nearest", "asymmetric", "floor", false, false, -0.75});
}

ONE(nearest_exact)
{
    return resize(t, a, &a[2], 3, &(Way){"nearest", "half_pixel", "round_prefer_ceil", false, false, -0.75});
}

// the others: (x, size, align_corners, factors) or (x, size, align_corners, factor, factor, factor)
ONE(linear)
{
    return resize(t, a, &a[3], 3,
                  &(Way){"linear", "half_pixel", "floor", holo_torch_bool(t, &a[2], false), false, -0.75});
}

ONE(cubic)
{
    return resize(t, a, &a[3], 3,
                  &(Way){"cubic", "half_pixel", "floor", holo_torch_bool(t, &a[2], false), false, -0.75});
}

ONE(linear_aa)
{
    return resize(t, a, &a[3], 3,
                  &(Way){"linear", "half_pixel", "floor", holo_torch_bool(t, &a[2], false), true, -0.75});
}

ONE(cubic_aa)
{
    return resize(t, a, &a[3], 3, &(Way){"cubic", "half_pixel", "floor", holo_torch_bool(t, &a[2], false), true, -0.5});
}

ONE(grid_sampler)
{
    static const char *const modes[] = {"linear", "nearest", "cubic"}, *const paddings[] = {"zeros", "border",
                                                                                            "reflection"};
    int64_t mode = holo_torch_int(t, &a[2], 0), padding = holo_torch_int(t, &a[3], 0);
    HOLO_TORCH_CHECK(t, mode >= 0 && mode < 3 && padding >= 0 && padding < 3, "grid_sampler in mode %lld",
                     (long long)mode);
    return holo_emit(t->e, "GridSample", HOLO_IN(V(0), V(1)),
                     HOLO_ATTRS(holo_with_text("mode", modes[mode]), holo_with_text("padding_mode", paddings[padding]),
                                holo_with_int("align_corners", holo_torch_bool(t, &a[4], false))));
}

ONE(affine_grid)
{
    return holo_emit(t->e, "AffineGrid", HOLO_IN(V(0), holo_torch_sizes(t, &a[1])),
                     HOLO_ATTRS(holo_with_int("align_corners", holo_torch_bool(t, &a[2], false))));
}

// ---- of torchvision

ONE(nms)
{
    HoloValue *boxes = V(0), *scores = V(1);
    int64_t    front[] = {0}, both[] = {0, 1}, last[] = {2};
    HoloValue *most  = holo_torch_dim(t, boxes, 0);
    HoloValue *level = holo_torch_unsqueeze(t, holo_torch_scalar(t, &a[2], HOLO_F32), 0);
    HoloValue *kept  = holo_emit(
         t->e, "NonMaxSuppression",
         HOLO_IN(holo_emit_unsqueeze(t->e, boxes, front, 1), holo_emit_unsqueeze(t->e, scores, both, 2), most, level),
         NULL);
    return holo_torch_flat(t, holo_torch_gather(t, kept, holo_emit_ints(t->e, last, 1), 1));
}

ONE(roi_align)
{
    HoloValue *x = V(0), *rois = V(1), *zero = holo_emit_int(t->e, 0);
    int64_t    one = 1, five = 5;
    HoloValue *batch = holo_emit_cast(t->e, holo_torch_gather(t, rois, zero, 1), HOLO_I64);
    HoloValue *boxes = holo_torch_slice(t, rois, 1, holo_emit_ints(t->e, &one, 1), holo_emit_ints(t->e, &five, 1), 1);
    int64_t    ratio = holo_torch_int(t, &a[5], -1);
    return holo_emit(t->e, "RoiAlign", HOLO_IN(x, boxes, batch),
                     HOLO_ATTRS(holo_with_float("spatial_scale", holo_torch_float(t, &a[2], 1)),
                                holo_with_int("output_height", holo_torch_int(t, &a[3], 1)),
                                holo_with_int("output_width", holo_torch_int(t, &a[4], 1)),
                                holo_with_int("sampling_ratio", ratio < 0 ? 0 : ratio), holo_with_text("mode", "avg"),
                                holo_with_text("coordinate_transformation_mode",
                                               holo_torch_bool(t, &a[6], false) ? "half_pixel" : "output_half_pixel")));
}

ANY(roi_pool)
{
    int64_t    shape[2] = {holo_torch_int(t, &a[3], 1), holo_torch_int(t, &a[4], 1)};
    HoloValue *y        = holo_emit(t->e, "MaxRoiPool", HOLO_IN(V(0), V(1)),
                                    HOLO_ATTRS(holo_with_ints("pooled_shape", shape, 2),
                                               holo_with_float("spatial_scale", holo_torch_float(t, &a[2], 1))));
    *out                = holo_tv_list(t, HOLO_TORCH_TUPLE, 2, (HoloTv[]){holo_tv_tensor(t, y), {0}});
}

// input weight offset mask bias, then strides, pads and dilations, each of both dimensions, and groups
ONE(deform_conv)
{
    int64_t number[8];
    for (int i = 0; i < 8; i++) number[i] = holo_torch_int(t, &a[5 + i], i == 2 || i == 3 ? 0 : 1);
    int64_t    pads[4] = {number[2], number[3], number[2], number[3]};
    HoloValue *mask    = holo_torch_bool(t, &a[13], true) ? V(3) : NULL;
    return holo_emit(t->e, "DeformConv", HOLO_IN(V(0), V(1), V(2), V(4), mask),
                     HOLO_ATTRS(holo_with_ints("strides", number, 2), holo_with_ints("pads", pads, 4),
                                holo_with_ints("dilations", number + 4, 2), holo_with_int("group", number[6]),
                                holo_with_int("offset_group", number[7])));
}

#define NEAR  "self|input output_size scales|scales_h|scale_factors scales_w"
#define REST  "self|input output_size align_corners scales|scales_h|scale_factors scales_w"
#define NEAR3 "self|input output_size scales_d|scale_factors scales_h scales_w"
#define REST3 "self|input output_size align_corners scales_d|scale_factors scales_h scales_w"
const HoloTorchOp holo_torch_resizes[] = {
    ROW("upsample_nearest1d", NEAR, nearest),
    ROW("upsample_nearest2d", NEAR, nearest),
    ROW("upsample_nearest3d", NEAR3, nearest),
    ROW("_upsample_nearest_exact1d", NEAR, nearest_exact),
    ROW("_upsample_nearest_exact2d", NEAR, nearest_exact),
    ROW("_upsample_nearest_exact3d", NEAR3, nearest_exact),
    ROW("upsample_linear1d", REST, linear),
    ROW("upsample_bilinear2d", REST, linear),
    ROW("upsample_trilinear3d", REST3, linear),
    ROW("upsample_bicubic2d", REST, cubic),
    ROW("_upsample_bilinear2d_aa", REST, linear_aa),
    ROW("_upsample_bicubic2d_aa", REST, cubic_aa),
    ROW("grid_sampler", "input grid interpolation_mode padding_mode align_corners", grid_sampler),
    ROW("grid_sampler_2d", "input grid interpolation_mode padding_mode align_corners", grid_sampler),
    ROW("grid_sampler_3d", "input grid interpolation_mode padding_mode align_corners", grid_sampler),
    ROW("affine_grid_generator", "theta size align_corners", affine_grid),
    ROW("nms", "dets scores iou_threshold", nms),
    ROW("roi_align", "input rois spatial_scale pooled_height pooled_width sampling_ratio aligned", roi_align),
    {.name = "roi_pool", .params = "input rois spatial_scale pooled_height pooled_width", .any = roi_pool},
    ROW("deform_conv2d",
        "input weight offset mask bias stride_h stride_w pad_h pad_w dilation_h dilation_w groups offset_groups use_mask",
        deform_conv),
    {0},
};
