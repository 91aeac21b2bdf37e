// tflite_landmarks.c - MediaPipe's Landmarks2TransformMatrix: the matrix that cuts a part out of an image, upright.
//
// Two landmarks say how the part is turned, the box around a set of others where it lies and how large it is.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"
#include "import/wire/flexbuffer.h"

#include <math.h>

enum { MARKS_MAX = 1024 };

static HoloValue *add(HoloTfOp *op, HoloValue *a, HoloValue *b)
{
    return holo_tf_two(op, "Add", a, b);
}

static HoloValue *sub(HoloTfOp *op, HoloValue *a, HoloValue *b)
{
    return holo_tf_two(op, "Sub", a, b);
}

static HoloValue *mul(HoloTfOp *op, HoloValue *a, HoloValue *b)
{
    return holo_tf_two(op, "Mul", a, b);
}

static HoloValue *times(HoloTfOp *op, HoloValue *a, double by)
{
    return mul(op, a, holo_tf_f32(op, by));
}

// Number `k` of a landmark.
static HoloValue *number_of(HoloTfOp *op, HoloValue *list, double mark, int64_t k)
{
    return holo_emit(op->e, "Gather", HOLO_IN(list, holo_emit_int(op->e, 3 * (int64_t)mark + k)), NULL);
}

typedef struct Part {
    HoloValue *cos, *sin; // of the angle that turns it upright
    HoloValue *mid[2];    // its middle, as it lies in the image
    HoloValue *size[2];   // its width and height, turned upright
} Part;

// The angle from the left landmark to the right one; `target` is what it becomes.
static void read_angle(HoloTfOp *op, HoloValue *list, Part *out)
{
    double     left = holo_tf_option(op, "left_rotation_idx", 0), right = holo_tf_option(op, "right_rotation_idx", 0);
    double     target = holo_tf_option(op, "target_rotation_radians", 0);
    HoloValue *dx     = sub(op, number_of(op, list, right, 0), number_of(op, list, left, 0)),
              *dy     = sub(op, number_of(op, list, right, 1), number_of(op, list, left, 1));
    HoloValue *zero = holo_tf_f32(op, 0), *one = holo_tf_f32(op, 1);
    HoloValue *length = holo_tf_one(op, "Sqrt", add(op, mul(op, dx, dx), mul(op, dy, dy)));
    HoloValue *is_one = holo_tf_two(op, "Equal", length, zero); // both are at one place: no angle
    if (op->e->status) return;
    length       = holo_emit(op->e, "Where", HOLO_IN(is_one, one, length), NULL);
    HoloValue *c = holo_emit(op->e, "Where", HOLO_IN(is_one, one, holo_tf_two(op, "Div", dx, length)), NULL),
              *s = holo_tf_two(op, "Div", dy, length);
    out->cos     = add(op, times(op, c, cos(target)), times(op, s, sin(target)));
    out->sin     = sub(op, times(op, c, sin(target)), times(op, s, cos(target)));
}

// The box around a set of landmarks, which are turned first.
static void read_box(HoloTfOp *op, HoloValue *list, const int64_t *marks, int count, Part *out)
{
    int64_t    at[MARKS_MAX];
    HoloValue *place[2], *low, *high, *mid[2];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < count; i++) at[i] = 3 * marks[i] + k;
        place[k] = holo_emit(op->e, "Gather", HOLO_IN(list, holo_emit_ints(op->e, at, count)), NULL);
    }
    HoloValue *turned[2] = {sub(op, mul(op, place[0], out->cos), mul(op, place[1], out->sin)),
                            add(op, mul(op, place[0], out->sin), mul(op, place[1], out->cos))};
    for (int k = 0; k < 2 && !op->e->status; k++) {
        low          = holo_emit(op->e, "ReduceMin", HOLO_IN(turned[k]), HOLO_ATTRS(holo_with_int("keepdims", 0)));
        high         = holo_emit(op->e, "ReduceMax", HOLO_IN(turned[k]), HOLO_ATTRS(holo_with_int("keepdims", 0)));
        out->size[k] = sub(op, high, low);
        mid[k]       = times(op, add(op, high, low), 0.5);
    }
    if (op->e->status) return;
    out->mid[0] = add(op, mul(op, mid[0], out->cos), mul(op, mid[1], out->sin));
    out->mid[1] = sub(op, mul(op, mid[1], out->cos), mul(op, mid[0], out->sin));
}

// x and y of the part become x * m[0] + y * m[1] + m[2] of the image; the same for rows.
static void give(HoloTfOp *op, HoloValue *const m[2][3])
{
    HoloValue *part[16], *all;
    int64_t    axis = 0;
    for (int i = 0; i < 16; i++) {
        int row = i / 4, column = i % 4;
        part[i] = row < 2 && column != 2 ? m[row][column > 2 ? 2 : column] : holo_tf_f32(op, row == column);
        part[i] = part[i] ? holo_emit_unsqueeze(op->e, part[i], &axis, 1) : NULL;
    }
    if (op->e->status) return;
    all = holo_emit(op->e, "Concat", (HoloEmitIn){16, part}, HOLO_ATTRS(holo_with_int("axis", 0)));
    holo_tf_give(op, 0, all ? holo_emit_reshape(op->e, all, (HoloDim[]){1, 4, 4}, 3) : NULL);
}

// By pixels: the middle of the result goes to the middle of the part.
static void give_pixels(HoloTfOp *op, const Part *p)
{
    double     w = holo_tf_option(op, "output_width", 0), h = holo_tf_option(op, "output_height", 0);
    HoloValue *sx = times(op, p->size[0], holo_tf_option(op, "scale_x", 0) / w), *m[2][3],
              *sy = times(op, p->size[1], holo_tf_option(op, "scale_y", 0) / h);
    m[0][0]       = mul(op, p->cos, sx);
    m[0][1]       = mul(op, p->sin, sy);
    m[1][0]       = holo_tf_one(op, "Neg", mul(op, p->sin, sx));
    m[1][1]       = mul(op, p->cos, sy);
    for (int k = 0; k < 2; k++)
        m[k][2] = sub(op, p->mid[k], add(op, times(op, m[k][0], w / 2), times(op, m[k][1], h / 2)));
    give(op, m);
}

void holo_tf_landmarks_matrix(HoloTfOp *op)
{
    HoloValue *marks = holo_tf_in(op, 0);
    Part       p     = {0};
    int64_t    subset[MARKS_MAX];
    int count = holo_flex_ints(holo_flat_list_bytes(op->custom), op->custom.count, "subset_idxs", subset, MARKS_MAX);
    static const char *const        sizes[]  = {"output_width", "output_height", "scale_x", "scale_y"},
                             *const places[] = {"left_rotation_idx", "right_rotation_idx"};
    if (!marks) return;
    if (op->version < 2) return (void)holo_tf_fail(op, "version 1 of it, which MediaPipe does not run any more");
    for (int i = 0; i < HOLO_COUNT(sizes); i++)
        if (!(holo_tf_option(op, sizes[i], 0) > 0))
            return (void)holo_tf_fail(op, "its option %s is missing or wrong", sizes[i]);
    for (int i = 0; i < HOLO_COUNT(places); i++)
        if (!(holo_tf_option(op, places[i], 0) >= 0) || holo_tf_option(op, places[i], 0) > 1e6)
            return (void)holo_tf_fail(op, "its option %s is wrong", places[i]);
    for (int i = 0; i < count; i++)
        if (subset[i] < 0 || subset[i] > 1000000) count = 0;
    if (count < 1) return (void)holo_tf_fail(op, "its landmarks are missing or wrong, or more than %d", MARKS_MAX);
    HoloValue *list = holo_emit_reshape(op->e, marks, (HoloDim[]){-1}, 1);
    read_angle(op, list, &p);
    if (!op->e->status) read_box(op, list, subset, count, &p);
    if (!op->e->status) give_pixels(op, &p);
}
