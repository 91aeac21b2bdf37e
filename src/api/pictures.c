// pictures.c - a picture file as a tensor. Two small graphs of operators decode, resize and scale it.
#include "api/tensors.h"
#include "base/files.h"
#include "ops/standard/image.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SIDE = 1 << 16, MAX_PIXELS = 1 << 28 };

bool holo_is_picture(const char *path)
{
    HoloMapping file;
    HoloError   error = {0};
    if (holo_file_map(path, &file, &error)) return false;
    bool is_known = holo_image_is_known(file.data, file.size);
    holo_file_unmap(&file);
    return is_known;
}

// ---- what is asked for

typedef struct Axes { // where the height, width and channels of a type are; -1: it has no dimension for its channel
    int height, width, channels;
} Axes;

static HoloStatus axes_find(const HoloTensor *type, const HoloPictureForm *form, Axes *out, HoloError *error)
{
    int  first    = type->rank == 4;
    bool is_image = type->kind == HOLO_TENSOR && type->rank >= 2 && type->rank <= 4;
    if (is_image && first && type->dim[0] > 1)
        return holo_fail(error, HOLO_BAD_INPUT, "the input needs %lld pictures, but one is given",
                         (long long)type->dim[0]);
    *out             = type->rank == 2          ? (Axes){0, 1, -1}
                       : form->is_channels_last ? (Axes){first, first + 1, first + 2}
                                                : (Axes){first + 1, first + 2, first};
    int64_t channels = !is_image || out->channels < 0 ? 1 : type->dim[out->channels];
    if (!is_image || (channels != 1 && channels != 3))
        return holo_fail(error, HOLO_BAD_INPUT,
                         "a tensor of this shape cannot hold a picture of one or three channels");
    return HOLO_OK;
}

// The sizes of the type. Open ones follow from the picture.
static void sizes_find(const HoloTensor *type, const Axes *axes, int64_t height, int64_t width, int64_t *out)
{
    double h = (double)height, w = (double)width;
    out[0] = type->dim[axes->height];
    out[1] = type->dim[axes->width];
    if (out[0] < 0 && out[1] < 0)
        out[0] = height, out[1] = width;
    else if (out[0] < 0)
        out[0] = (int64_t)fmax(1, round(h * (double)out[1] / w));
    else if (out[1] < 0)
        out[1] = (int64_t)fmax(1, round(w * (double)out[0] / h));
}

// ---- computing

static HoloStatus run(const char *text, const HoloTensor *input, HoloTensor *out, HoloArena *arena, HoloError *error)
{
    HoloGraph *graph;
    HOLO_TRY(holo_graph_parse(arena, text, &graph, error));
    HOLO_TRY(holo_graph_infer(graph, error));
    return holo_graph_eval(graph, &input, out, arena, NULL, error);
}

static HoloStatus decode(const HoloMapping *file, const char *form, HoloTensor *out, HoloArena *arena, HoloError *error)
{
    char       text[256];
    HoloTensor bytes = {.dtype = HOLO_U8, .rank = 1, .dim = {(int64_t)file->size}, .data = (void *)file->data};
    snprintf(text, sizeof text, "graph decode(x: u8[N]) -> (y) {\n y = ImageDecoder@20(x) {pixel_format=\"%s\"}\n}\n",
             form);
    HoloError   own    = {0};
    HoloStatus  status = run(text, &bytes, out, arena, &own);
    const char *node   = strstr(own.text, "(ImageDecoder): "); // which the caller does not have
    if (status)
        return holo_fail(error, status == HOLO_UNSUPPORTED ? HOLO_BAD_INPUT : status, "%s",
                         node ? strchr(node, ':') + 2 : own.text);
    return out->dim[0] && out->dim[1] ? HOLO_OK : holo_fail(error, HOLO_BAD_INPUT, "the picture is damaged");
}

// ---- resizing first, and cutting out the middle

static const char *const resamples[] = {
    [HOLO_RESAMPLE_LINEAR]   = "mode=\"linear\", antialias=1",
    [HOLO_RESAMPLE_NEAREST]  = "mode=\"nearest\", nearest_mode=\"round_prefer_ceil\"",
    [HOLO_RESAMPLE_BILINEAR] = "mode=\"linear\", antialias=1, exclude_outside=1",
    [HOLO_RESAMPLE_BICUBIC]  = "mode=\"cubic\", cubic_coeff_a=-0.5, antialias=1, exclude_outside=1",
};

static HoloStatus first_sizes(const HoloTensor *pixels, const HoloPictureForm *form, int64_t *out, HoloError *error)
{
    int64_t height = pixels->dim[0], width = pixels->dim[1], edge = form->first[0];
    bool    is_upright = height >= width;
    out[0] = edge, out[1] = form->first[1];
    if (edge < 1 || edge > MAX_SIDE || out[1] < 0 || out[1] > MAX_SIDE)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a picture cannot be resized to %lld by %lld", (long long)edge,
                         (long long)out[1]);
    if (!out[1] && is_upright)
        out[0] = edge * height / width, out[1] = edge;
    else if (!out[1])
        out[1] = edge * width / height;
    if (out[0] > MAX_PIXELS / out[1])
        return holo_fail(error, HOLO_BAD_INPUT, "the picture is too narrow: it would be resized to %lld by %lld",
                         (long long)out[0], (long long)out[1]);
    return HOLO_OK;
}

// One side after the other, with whole numbers in between: the width first.
static HoloStatus resize_first(const HoloPictureForm *form, HoloTensor *pixels, HoloArena *arena, HoloError *error)
{
    int64_t     sizes[2];
    HoloTensor  in = *pixels;
    char        text[1024];
    const char *how = resamples[form->resample];
    HOLO_TRY(first_sizes(pixels, form, sizes, error));
    if (sizes[0] == in.dim[0] && sizes[1] == in.dim[1]) return HOLO_OK;
    snprintf(text, sizeof text,
             "graph first(x: u8[H,W,%d]) -> (y) {\n const h: i64[1] = {%lld}\n const w: i64[1] = {%lld}\n"
             " const low: f32[] = {0}\n const high: f32[] = {255}\n f = Cast@13(x) {to=1}\n"
             " a = Resize@19(f, _, _, w) {axes=[1], %s}\n b = Round@11(a)\n c = Clip@13(b, low, high)\n"
             " d = Resize@19(c, _, _, h) {axes=[0], %s}\n e = Round@11(d)\n g = Clip@13(e, low, high)\n"
             " y = Cast@13(g) {to=2}\n}\n",
             (int)in.dim[2], (long long)sizes[0], (long long)sizes[1], how, how);
    return run(text, &in, pixels, arena, error);
}

static int64_t half(int64_t x) // rounded down
{
    return x >= 0 ? x / 2 : -((1 - x) / 2);
}

static HoloStatus cut_middle(const int64_t *sizes, HoloTensor *pixels, HoloArena *arena, HoloError *error)
{
    HoloTensor in  = *pixels;
    int64_t    row = in.dim[2], top = half(in.dim[0] - sizes[0]), left = half(in.dim[1] - sizes[1]);
    if (sizes[0] == in.dim[0] && sizes[1] == in.dim[1]) return HOLO_OK;
    if (sizes[0] < 1 || sizes[1] < 1 || sizes[0] > MAX_PIXELS / sizes[1])
        return holo_fail(error, HOLO_BAD_INPUT, "a picture cannot be cropped to %lld by %lld", (long long)sizes[0],
                         (long long)sizes[1]);
    uint8_t *out = holo_arena_take_array(arena, (size_t)(sizes[0] * sizes[1]), (size_t)row), *at = out;
    if (!out) return holo_fail_memory(error);
    for (int64_t y = top; y < top + sizes[0]; y++)
        for (int64_t x = left; x < left + sizes[1]; x++, at += row)
            if (y >= 0 && y < in.dim[0] && x >= 0 && x < in.dim[1])
                memcpy(at, (const uint8_t *)in.data + (y * in.dim[1] + x) * row, (size_t)row);
    pixels->dim[0] = sizes[0];
    pixels->dim[1] = sizes[1];
    pixels->data   = out;
    return HOLO_OK;
}

static HoloStatus prepare(const HoloTensor *type, const Axes *axes, const HoloPictureForm *form, HoloTensor *pixels,
                          HoloArena *arena, HoloError *error)
{
    if (form->resample < 0 || form->resample >= HOLO_COUNT(resamples))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no such way to resize a picture");
    HOLO_TRY(resize_first(form, pixels, arena, error));
    int64_t sizes[2] = {type->dim[axes->height], type->dim[axes->width]};
    for (int i = 0; i < 2; i++)
        if (sizes[i] < 0) sizes[i] = pixels->dim[i];
    return cut_middle(sizes, pixels, arena, error);
}

// Resizes, converts to f32 and scales; then converts to the wanted type and order of axes.
static HoloStatus shape_and_scale(const HoloTensor *pixels, const int64_t *sizes, const HoloPictureForm *form,
                                  const HoloTensor *type, HoloTensor *out, HoloArena *arena, HoloError *error)
{
    bool is_float = holo_dtype_class((HoloDtype)type->dtype) == HOLO_CLASS_FLOAT;
    bool is_moved = type->rank > 2 && !form->is_channels_last;
    int  channels = (int)pixels->dim[2], at = 0;
    char text[2048], scale[128] = "", shift[128] = "";
    for (int c = 0; c < channels; c++) {
        double std = form->std[c];
        snprintf(scale + strlen(scale), sizeof scale - strlen(scale), "%s%.9e", c ? ", " : "",
                 (form->high - form->low) / 255 / std);
        snprintf(shift + strlen(shift), sizeof shift - strlen(shift), "%s%.9e", c ? ", " : "",
                 (form->low - form->mean[c]) / std);
    }
    at              = snprintf(text, sizeof text,
                               "graph shape(x: u8[H,W,%d]) -> (y) {\n const sizes: i64[2] = {%lld, %lld}\n"
                                            " const scale: f32[%d] = {%s}\n const shift: f32[%d] = {%s}\n f = Cast@13(x) {to=1}\n",
                               channels, (long long)sizes[0], (long long)sizes[1], channels, scale, channels, shift);
    bool is_resized = pixels->dim[0] != sizes[0] || pixels->dim[1] != sizes[1];
    at += snprintf(text + at, sizeof text - (size_t)at,
                   is_resized ? " r = Resize@19(f, _, _, sizes) {antialias=1, axes=[0,1], mode=\"linear\"}\n"
                              : " r = Identity@13(f)\n");
    at += snprintf(text + at, sizeof text - (size_t)at, " m = Mul@13(r, scale)\n s = Add@13(m, shift)\n");
    at += snprintf(text + at, sizeof text - (size_t)at, is_float ? " t = Identity@13(s)\n" : " t = Round@11(s)\n");
    at += snprintf(text + at, sizeof text - (size_t)at,
                   is_moved ? " o = Transpose@13(t) {perm=[2,0,1]}\n" : " o = Identity@13(t)\n");
    snprintf(text + at, sizeof text - (size_t)at, " y = Cast@13(o) {to=%d}\n}\n", type->dtype);
    return run(text, pixels, out, arena, error);
}

static HoloStatus picture_read(HoloTensors *t, const HoloTensor *type, const HoloPictureForm *form, int64_t *out_size,
                               HoloError *error)
{
    Axes       axes   = {0};
    HoloTensor pixels = {0}, *out = &t->entry[0].tensor;
    int64_t    sizes[2];
    HOLO_TRY(axes_find(type, form, &axes, error));
    bool is_grey = axes.channels < 0 || type->dim[axes.channels] == 1;
    HOLO_TRY(decode(&t->file, is_grey ? "Grayscale" : form->is_bgr ? "BGR" : "RGB", &pixels, &t->arena, error));
    if (out_size) out_size[0] = pixels.dim[1], out_size[1] = pixels.dim[0];
    if (form->first[0] || form->first[1]) HOLO_TRY(prepare(type, &axes, form, &pixels, &t->arena, error));
    sizes_find(type, &axes, pixels.dim[0], pixels.dim[1], sizes);
    HOLO_TRY(shape_and_scale(&pixels, sizes, form, type, out, &t->arena, error));
    out->rank             = type->rank;
    out->dim[axes.height] = sizes[0];
    out->dim[axes.width]  = sizes[1];
    if (axes.channels >= 0) out->dim[axes.channels] = is_grey ? 1 : 3;
    if (type->rank == 4) out->dim[0] = 1;
    return HOLO_OK;
}

HoloStatus holo_tensors_read_picture(const char *path, const HoloTensor *type, const HoloPictureForm *form,
                                     int64_t out_size[2], HoloTensors **out_tensors, HoloError *error)
{
    *out_tensors = NULL;
    HoloTensors *t;
    HoloError    inner = {0};
    HOLO_TRY(holo_tensors_create(&t, error));
    HoloStatus status = holo_file_map(path, &t->file, error);
    if (!status) status = holo_tensors_reserve(t, 1, error);
    if (!status && (status = picture_read(t, type, form, out_size, &inner)))
        status = holo_fail(error, status, "%s: %s", path, inner.text);
    if (status)
        holo_tensors_destroy(t);
    else
        *out_tensors = t;
    return status;
}
