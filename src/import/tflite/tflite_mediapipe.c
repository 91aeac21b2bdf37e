// tflite_mediapipe.c - custom operators of MediaPipe: pools that tell places, and what moves landmarks and images.
//
// Pools have their options as C has them: padding (1 is SAME, 2 VALID), strides and sizes of width and height, and an
// activation. The others have theirs in FlexBuffers.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

#include <string.h>

enum { PADDING, STRIDE_W, STRIDE_H, WIDTH, HEIGHT, ACTIVATION, PARAMS };

// ---- pools

typedef struct Pool {
    int32_t    p[PARAMS];
    int64_t    size[2], stride[2];
    HoloValue *x; // channels last
    HoloDim    dim[4];
} Pool;

static bool pool_read(HoloTfOp *op, Pool *out)
{
    out->x = holo_tf_in(op, 0);
    if (op->custom.count < sizeof out->p) return holo_tf_fail(op, "its options are cut off"), false;
    memcpy(out->p, holo_flat_list_bytes(op->custom), sizeof out->p);
    out->size[0]   = out->p[HEIGHT];
    out->size[1]   = out->p[WIDTH];
    out->stride[0] = out->p[STRIDE_H];
    out->stride[1] = out->p[STRIDE_W];
    for (int d = 0; d < 2; d++)
        if (out->size[d] < 1 || out->size[d] > INT16_MAX || out->stride[d] < 1)
            return holo_tf_fail(op, "its options are wrong"), false;
    if (!out->x || out->x->type.rank != 4) return out->x && (holo_tf_fail(op, "it needs an image"), false);
    memcpy(out->dim, out->x->type.dim, sizeof out->dim);
    for (int d = 1; d < 3; d++)
        if (holo_dim_is_symbolic(out->dim[d])) return holo_tf_fail(op, "the sizes of its image are not known"), false;
    return true;
}

// The numbers 0, 1, 2 ... of i64, along one dimension of four.
static HoloValue *counting(HoloTfOp *op, HoloDim count, int axis)
{
    HoloDim    sizes[4] = {1, 1, 1, 1};
    HoloValue *list     = holo_emit_reshape(op->e, holo_emit_sizes(op->e, &count, 1), NULL, 0);
    list =
        list ? holo_emit(op->e, "Range", HOLO_IN(holo_emit_int(op->e, 0), list, holo_emit_int(op->e, 1)), NULL) : NULL;
    sizes[axis] = count;
    return list ? holo_emit_reshape(op->e, list, sizes, 4) : NULL;
}

static HoloValue *rest_of(HoloTfOp *op, HoloValue *x, int64_t by)
{
    return holo_tf_two(op, "Mod", x, holo_emit_int(op->e, by));
}

static HoloValue *whole_of(HoloTfOp *op, HoloValue *x, int64_t by)
{
    return holo_tf_two(op, "Div", x, holo_emit_int(op->e, by));
}

// The largest of each window, and where in the window it is: its number there and a tenth, as a real number.
void holo_tf_max_pool_places(HoloTfOp *op)
{
    Pool       p;
    HoloValue *out[2];
    int64_t    pads[4] = {0};
    if (!pool_read(op, &p)) return;
    for (int d = 0; d < 2; d++) {
        int64_t in = p.dim[1 + d], count = (in + p.stride[d] - 1) / p.stride[d],
                more = (count - 1) * p.stride[d] + p.size[d] - in;
        if (p.p[PADDING] != 1 || more < 0) more = 0;
        pads[d]     = more / 2;
        pads[2 + d] = more - more / 2;
    }
    HoloValue *image = holo_tf_first(op, p.x);
    if (!image) return;
    holo_emit_many(op->e, "MaxPool", HOLO_IN(image),
                   HOLO_ATTRS(holo_with_ints("kernel_shape", p.size, 2), holo_with_ints("strides", p.stride, 2),
                              holo_with_ints("pads", pads, 4)),
                   out, 2);
    if (op->e->status) return;
    // ONNX tells the place in the whole tensor: from it, the row and the column, and those in the window.
    HoloValue *row = rest_of(op, whole_of(op, out[1], p.dim[2]), p.dim[1]), *column = rest_of(op, out[1], p.dim[2]);
    HoloValue *top = holo_tf_two(
        op, "Sub", holo_tf_two(op, "Mul", counting(op, out[0]->type.dim[2], 2), holo_emit_int(op->e, p.stride[0])),
        holo_emit_int(op->e, pads[0]));
    HoloValue *left = holo_tf_two(
        op, "Sub", holo_tf_two(op, "Mul", counting(op, out[0]->type.dim[3], 3), holo_emit_int(op->e, p.stride[1])),
        holo_emit_int(op->e, pads[1]));
    HoloValue *place = holo_tf_two(op, "Mul", holo_tf_two(op, "Sub", row, top), holo_emit_int(op->e, p.size[1]));
    place            = holo_tf_two(op, "Add", place, holo_tf_two(op, "Sub", column, left));
    place = place ? holo_tf_two(op, "Add", holo_emit_cast(op->e, place, HOLO_F32), holo_tf_f32(op, 0.1)) : NULL;
    holo_tf_give(op, 0, holo_tf_last(op, holo_tf_activate(op, out[0], p.p[ACTIVATION])));
    holo_tf_give(op, 1, holo_tf_last(op, place));
}

// Puts each element back where it was in its window; the rest is zeros.
void holo_tf_max_unpool(HoloTfOp *op)
{
    Pool       p;
    HoloValue *places = holo_tf_in(op, 1), *grid[4];
    int64_t    pads[2], last = -1;
    if (!pool_read(op, &p) || !places) return;
    if (holo_dim_is_symbolic(p.dim[0]) || holo_dim_is_symbolic(p.dim[3]))
        return (void)holo_tf_fail(op, "the sizes of its image are not known");
    for (int d = 0; d < 2; d++) {
        int64_t more = (p.dim[1 + d] - 1) * p.stride[d] + p.size[d] - p.dim[1 + d] * p.size[d];
        pads[d]      = more > 0 ? more / 2 : 0;
    }
    places           = holo_emit_cast(op->e, places, HOLO_I64);
    HoloValue *in[2] = {whole_of(op, places, p.size[1]), rest_of(op, places, p.size[1])};
    for (int d = 0; d < 4; d++) {
        grid[d] = counting(op, p.dim[d], d);
        if (d == 1 || d == 2) {
            grid[d] = holo_tf_two(op, "Sub", holo_tf_two(op, "Mul", grid[d], holo_emit_int(op->e, p.stride[d - 1])),
                                  holo_emit_int(op->e, pads[d - 1]));
            grid[d] = holo_tf_two(op, "Add", grid[d], in[d - 1]);
            HoloValue *most = holo_emit_int(op->e, p.dim[d] * p.size[d - 1] - 1);
            grid[d] = grid[d] && most ? holo_emit(op->e, "Clip", HOLO_IN(grid[d], holo_emit_int(op->e, 0), most), NULL)
                                      : NULL;
        }
        grid[d] = holo_tf_two(op, "Expand", grid[d], holo_emit_sizes(op->e, p.dim, 4));
        grid[d] = grid[d] ? holo_emit_unsqueeze(op->e, grid[d], &last, 1) : NULL;
        if (!grid[d]) return;
    }
    HoloValue *at = holo_emit(op->e, "Concat", (HoloEmitIn){4, grid}, HOLO_ATTRS(holo_with_int("axis", -1)));
    HoloValue *zeros =
        holo_tf_zeros(op, HOLO_F32, (HoloDim[]){p.dim[0], p.dim[1] * p.size[0], p.dim[2] * p.size[1], p.dim[3]}, 4);
    holo_tf_give(op, 0, holo_tf_scatter(op, zeros, at, p.x, "none"));
}

// ---- images and landmarks that a matrix moves

// Column `i` of row `row` of a 4x4 matrix, as one number.
static HoloValue *entry(HoloTfOp *op, HoloValue *matrix, int64_t row, int64_t i)
{
    HoloValue *list = matrix ? holo_emit_reshape(op->e, matrix, (HoloDim[]){16}, 1) : NULL;
    return list ? holo_emit(op->e, "Gather", HOLO_IN(list, holo_emit_int(op->e, 4 * row + i)), NULL) : NULL;
}

// Where a place comes from: x * m0 + y * m1 + m3 of that row.
static HoloValue *moved_to(HoloTfOp *op, HoloValue *matrix, int64_t row, HoloValue *x, HoloValue *y, HoloValue *shift)
{
    HoloValue *sum = holo_tf_two(op, "Add", holo_tf_two(op, "Mul", x, entry(op, matrix, row, 0)),
                                 holo_tf_two(op, "Mul", y, entry(op, matrix, row, 1)));
    return holo_tf_two(op, "Add", sum, shift);
}

// Elements of the image at whole places that are in it; others give zeros with the weight that they get.
static HoloValue *sample(HoloTfOp *op, HoloValue *flat, HoloValue *x, HoloValue *y, HoloDim width, HoloDim height)
{
    HoloValue *zero = holo_tf_f32(op, 0);
    HoloValue *cx   = x ? holo_emit(op->e, "Clip", HOLO_IN(x, zero, holo_tf_f32(op, (double)width - 1)), NULL) : NULL;
    HoloValue *cy   = y ? holo_emit(op->e, "Clip", HOLO_IN(y, zero, holo_tf_f32(op, (double)height - 1)), NULL) : NULL;
    HoloValue *at   = holo_tf_two(op, "Add", holo_tf_two(op, "Mul", cy, holo_tf_f32(op, (double)width)), cx);
    return at ? holo_tf_two(op, "Gather", flat, holo_emit_cast(op->e, at, HOLO_I64)) : NULL;
}

// Takes an image [1, h, w, c] at places x and y, [rows, columns] each; outside of it there are zeros.
static HoloValue *bilinear(HoloTfOp *op, HoloValue *image, HoloValue *x, HoloValue *y)
{
    HoloDim    h = image->type.dim[1], w = image->type.dim[2], c = image->type.dim[3];
    int64_t    last = -1;
    HoloValue *zero = holo_tf_f32(op, 0), *one = holo_tf_f32(op, 1),
              *flat = holo_emit_reshape(op->e, image, (HoloDim[]){-1, c}, 2);
    HoloValue *x0 = holo_tf_one(op, "Floor", x), *y0 = holo_tf_one(op, "Floor", y);
    HoloValue *right = holo_tf_two(op, "Sub", x, x0), *lower = holo_tf_two(op, "Sub", y, y0),
              *y1 = holo_tf_two(op, "Add", y0, one), *x1 = holo_tf_two(op, "Add", x0, one);
    if (!right || !lower || !flat || !x1 || !y1) return NULL;
    HoloValue *inside = holo_tf_two(op, "And",
                                    holo_tf_two(op, "And", holo_tf_two(op, "GreaterOrEqual", x, zero),
                                                holo_tf_two(op, "LessOrEqual", x, holo_tf_f32(op, (double)w - 1))),
                                    holo_tf_two(op, "And", holo_tf_two(op, "GreaterOrEqual", y, zero),
                                                holo_tf_two(op, "LessOrEqual", y, holo_tf_f32(op, (double)h - 1))));
    right             = holo_emit_unsqueeze(op->e, right, &last, 1);
    lower             = holo_emit_unsqueeze(op->e, lower, &last, 1);
    HoloValue *rows[2], *ys[2] = {y0, y1};
    for (int k = 0; k < 2; k++) {
        HoloValue *a = sample(op, flat, x0, ys[k], w, h), *b = sample(op, flat, x1, ys[k], w, h);
        rows[k] = holo_tf_two(op, "Add", a, holo_tf_two(op, "Mul", right, holo_tf_two(op, "Sub", b, a)));
    }
    HoloValue *y_all =
        holo_tf_two(op, "Add", rows[0], holo_tf_two(op, "Mul", lower, holo_tf_two(op, "Sub", rows[1], rows[0])));
    inside = inside ? holo_emit_unsqueeze(op->e, inside, &last, 1) : NULL;
    return y_all && inside ? holo_emit(op->e, "Where", HOLO_IN(inside, y_all, zero), NULL) : NULL;
}

static bool is_known_image(HoloTfOp *op, const HoloValue *image)
{
    bool ok = image && image->type.rank == 4 && image->type.dim[0] == 1;
    for (int d = 1; ok && d < 4; d++) ok = !holo_dim_is_symbolic(image->type.dim[d]);
    if (!ok && image) holo_tf_fail(op, "it needs one image of known sizes");
    return ok;
}

// The image as a matrix sees it. Since version 2, places are those of the middles of pixels.
void holo_tf_transform_bilinear(HoloTfOp *op)
{
    HoloValue *image = holo_tf_in(op, 0), *matrix = holo_tf_in(op, 1);
    int64_t    height = (int64_t)holo_tf_option(op, "output_height", 0),
            width = (int64_t)holo_tf_option(op, "output_width", 0), zero = 0, axis = 1;
    if (!is_known_image(op, image) || !matrix) return;
    if (height < 1 || width < 1 || height > INT16_MAX || width > INT16_MAX)
        return (void)holo_tf_fail(op, "its options are wrong");
    HoloValue *y =
        holo_emit_cast(op->e, holo_emit_reshape(op->e, counting(op, height, 0), (HoloDim[]){height}, 1), HOLO_F32);
    HoloValue *x =
        holo_emit_cast(op->e, holo_emit_reshape(op->e, counting(op, width, 0), (HoloDim[]){1, width}, 2), HOLO_F32);
    y = y ? holo_emit_unsqueeze(op->e, y, &axis, 1) : NULL;
    HoloValue *place[2];
    for (int k = 0; k < 2; k++) {
        HoloValue *shift = entry(op, matrix, k, 3);
        if (op->version > 1) {
            HoloValue *both =
                holo_tf_two(op, "Mul", holo_tf_two(op, "Add", entry(op, matrix, k, 0), entry(op, matrix, k, 1)),
                            holo_tf_f32(op, 0.5));
            shift = holo_tf_two(op, "Add", shift, holo_tf_two(op, "Sub", both, holo_tf_f32(op, 0.5)));
        }
        place[k] = moved_to(op, matrix, k, x, y, shift);
    }
    if (!place[0] || !place[1]) return;
    HoloValue *out = bilinear(op, image, place[0], place[1]);
    holo_tf_give(op, 0, out ? holo_emit_unsqueeze(op->e, out, &zero, 1) : NULL);
}

// Places x, y of landmarks, which have 2 or 3 numbers each, go through a matrix. Version 2 has no options: how many there are
// is the last size.
void holo_tf_transform_landmarks(HoloTfOp *op)
{
    HoloValue *marks = holo_tf_in(op, 0), *matrix = holo_tf_in(op, 1), *part[3];
    double     scale = op->version > 1 ? 1 : holo_tf_option(op, "scale", 1);
    if (!marks || !matrix) return;
    HoloDim last = marks->type.rank > 0 ? marks->type.dim[marks->type.rank - 1] : 3;
    int64_t each = (int64_t)holo_tf_option(op, "dimensions", last == 2 ? 2 : 3);
    if (each < 2 || each > 3) return (void)holo_tf_fail(op, "landmarks of %lld numbers", (long long)each);
    HoloValue *list = holo_emit_reshape(op->e, marks, (HoloDim[]){-1, each}, 2);
    for (int k = 0; list && k < each; k++) part[k] = holo_emit_slice(op->e, list, 1, k, k + 1, 1);
    if (!list) return;
    HoloValue *x = part[0], *y = part[1];
    for (int k = 0; k < 2; k++)
        part[k] =
            moved_to(op, matrix, k, x, y, holo_tf_two(op, "Mul", entry(op, matrix, k, 3), holo_tf_f32(op, scale)));
    if (op->e->status) return;
    list = holo_emit(op->e, "Concat", (HoloEmitIn){(int)each, part}, HOLO_ATTRS(holo_with_int("axis", 1)));
    holo_tf_give(op, 0, list ? holo_emit_reshape(op->e, list, marks->type.dim, marks->type.rank) : NULL);
}

// An image at places (x, y) that another input has, [1, rows, columns, 2].
void holo_tf_resampler(HoloTfOp *op)
{
    HoloValue *image = holo_tf_in(op, 0), *warp = holo_tf_in(op, 1), *place[2];
    int64_t    zero = 0;
    if (!is_known_image(op, image) || !is_known_image(op, warp)) return;
    for (int k = 0; k < 2; k++) {
        place[k] =
            holo_emit(op->e, "Gather", HOLO_IN(warp, holo_emit_int(op->e, k)), HOLO_ATTRS(holo_with_int("axis", 3)));
        place[k] = place[k] ? holo_emit_squeeze(op->e, place[k], &zero, 1) : NULL;
    }
    if (!place[0] || !place[1]) return;
    HoloValue *out = bilinear(op, image, place[0], place[1]);
    holo_tf_give(op, 0, out ? holo_emit_unsqueeze(op->e, out, &zero, 1) : NULL);
}
