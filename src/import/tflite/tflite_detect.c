// tflite_detect.c - boxes: suppression of those that overlap, and what the detectors of the vision tools end with.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

#include <math.h>

// The first `count` rows, with zeros behind what is there.
static HoloValue *rows_fill(HoloTfOp *op, HoloValue *x, HoloDim count)
{
    HoloDim sizes[HOLO_MAX_RANK] = {count};
    int     rank                 = x ? x->type.rank : -1;
    if (rank < 1) return NULL;
    for (int d = 1; d < rank; d++) sizes[d] = x->type.dim[d];
    HoloValue *more = holo_tf_zeros(op, holo_emit_dtype(x), sizes, rank);
    x               = more ? holo_emit(op->e, "Concat", HOLO_IN(x, more), HOLO_ATTRS(holo_with_int("axis", 0))) : NULL;
    x               = x ? holo_emit_slice(op->e, x, 0, 0, count, 1) : NULL;
    return x ? holo_emit_reshape(op->e, x, sizes, rank) : NULL;
}

// The numbers of boxes that are left, best first, as a list of i64. `boxes` is [n, 4], `scores` [n].
static HoloValue *suppress(HoloTfOp *op, HoloValue *boxes, HoloValue *scores, HoloValue *most, HoloValue *overlap,
                           HoloValue *least)
{
    int64_t first = 0, both[2] = {0, 1};
    boxes  = boxes ? holo_emit_unsqueeze(op->e, boxes, &first, 1) : NULL;
    scores = scores ? holo_emit_unsqueeze(op->e, scores, both, 2) : NULL;
    if (!boxes || !scores || !most || !overlap || !least) return NULL;
    HoloValue *found = holo_emit(op->e, "NonMaxSuppression", HOLO_IN(boxes, scores, most, overlap, least), NULL);
    return found ? holo_emit(op->e, "Gather", HOLO_IN(found, holo_emit_int(op->e, 2)),
                             HOLO_ATTRS(holo_with_int("axis", 1)))
                 : NULL;
}

static HoloValue *scalar(HoloTfOp *op, HoloValue *x)
{
    return x && x->type.rank > 0 ? holo_emit_reshape(op->e, x, NULL, 0) : x;
}

// How many are in a list, as a number of i32.
static HoloValue *count_of(HoloTfOp *op, HoloValue *list)
{
    return list ? holo_emit_cast(op->e, holo_tf_one(op, "Size", list), HOLO_I32) : NULL;
}

// Boxes, scores, how many at most, overlap, least score; V5 also lowers scores of boxes that overlap, by a sigma.
void holo_tf_nms(HoloTfOp *op)
{
    HoloValue *boxes = holo_tf_in(op, 0), *scores = holo_tf_in(op, 1), *most = scalar(op, holo_tf_i64(op, 2));
    double     sigma = 0;
    int64_t    known;
    int        n;
    bool       v5 = op->row->arg[0] == '5';
    if (v5 && !(holo_tf_in(op, 5) && holo_emit_known_number(op->e, holo_tf_in(op, 5), &sigma)))
        return (void)holo_tf_fail(op, "its sigma must be known when the model is compiled");
    if (!holo_tf_need_ints(op, 2, &known, 1, &n)) return;
    HoloValue *overlap = scalar(op, holo_tf_in(op, 3)), *least = scalar(op, holo_tf_in(op, 4)), *out[2];
    if (sigma > 0 && boxes && scores && most && overlap && least)
        holo_emit_many(op->e, "hologram::SoftSuppression", HOLO_IN(boxes, scores, most, overlap, least),
                       HOLO_ATTRS(holo_with_float("sigma", sigma)), out, 2);
    HoloValue *at = sigma > 0 ? out[0] : suppress(op, boxes, scores, most, overlap, least);
    if (op->e->status || !at) return;
    holo_tf_give(op, 0, rows_fill(op, at, known));
    if (v5) holo_tf_give(op, 1, rows_fill(op, sigma > 0 ? out[1] : holo_tf_two(op, "Gather", scores, at), known));
    holo_tf_give(op, v5 ? 2 : 1, count_of(op, at));
}

// ---- TFLite_Detection_PostProcess: codes of boxes [1, n, 4+], scores [1, n, classes + background], anchors [n, 4]

typedef struct Detect {
    HoloTfOp  *op;
    int64_t    most, per_box, classes, per_class;
    int64_t    rows_per_box; // of the output; regular suppression fills one
    bool       regular;
    double     least, overlap, scale[4]; // of y, x, h, w
    HoloValue *boxes, *scores;           // [n, 4] and [n, classes]
} Detect;

static HoloValue *column(HoloTfOp *op, HoloValue *x, int64_t i)
{
    return x ? holo_emit_slice(op->e, x, -1, i, i + 1, 1) : NULL;
}

// Codes are places and logarithms of sizes, in steps of the scales, from each anchor.
static HoloValue *decode(Detect *d, HoloValue *codes, HoloValue *anchors)
{
    HoloTfOp  *op = d->op;
    HoloValue *edge[4], *half = holo_tf_f32(op, 0.5);
    for (int i = 0; i < 2; i++) {
        HoloValue *place = holo_tf_two(op, "Div", column(op, codes, i), holo_tf_f32(op, d->scale[i])),
                  *size  = holo_tf_two(op, "Div", column(op, codes, 2 + i), holo_tf_f32(op, d->scale[2 + i]));
        HoloValue *at = column(op, anchors, i), *of = column(op, anchors, 2 + i);
        place       = holo_tf_two(op, "Add", holo_tf_two(op, "Mul", place, of), at);
        size        = holo_tf_two(op, "Mul", half, holo_tf_two(op, "Mul", holo_tf_one(op, "Exp", size), of));
        edge[i]     = holo_tf_two(op, "Sub", place, size);
        edge[2 + i] = holo_tf_two(op, "Add", place, size);
    }
    return op->e->status ? NULL
                         : holo_emit(op->e, "Concat", (HoloEmitIn){4, edge}, HOLO_ATTRS(holo_with_int("axis", -1)));
}

static void give(Detect *d, HoloValue *boxes, HoloValue *classes, HoloValue *scores, HoloValue *count)
{
    HoloTfOp *op    = d->op;
    HoloDim   total = d->most * d->rows_per_box;
    boxes           = rows_fill(op, boxes, total);
    classes         = rows_fill(op, classes, total);
    scores          = rows_fill(op, scores, total);
    if (!boxes || !classes || !scores || !count) return;
    holo_tf_give(op, 0, holo_emit_reshape(op->e, boxes, (HoloDim[]){1, total, 4}, 3));
    holo_tf_give(op, 1, holo_emit_reshape(op->e, holo_emit_cast(op->e, classes, HOLO_F32), (HoloDim[]){1, total}, 2));
    holo_tf_give(op, 2, holo_emit_reshape(op->e, scores, (HoloDim[]){1, total}, 2));
    holo_tf_give(op, 3, holo_emit_reshape(op->e, holo_emit_cast(op->e, count, HOLO_F32), (HoloDim[]){1}, 1));
}

// Each box counts with its best class; the best classes of each that is left are given.
static void detect_fast(Detect *d)
{
    HoloTfOp  *op   = d->op;
    int64_t    last = -1, ones[] = {1, 1};
    HoloValue *top[2], *best     = holo_emit(op->e, "ReduceMax", HOLO_IN(d->scores, holo_emit_ints(op->e, &last, 1)),
                                             HOLO_ATTRS(holo_with_int("keepdims", 0)));
    HoloValue *at = suppress(op, d->boxes, best, holo_emit_int(op->e, d->most), holo_tf_f32(op, d->overlap),
                             holo_tf_f32(op, d->least));
    if (!at) return;
    HoloValue *boxes = holo_tf_two(op, "Gather", d->boxes, at), *scores = holo_tf_two(op, "Gather", d->scores, at);
    if (!scores) return;
    holo_emit_many(op->e, "TopK", HOLO_IN(scores, holo_emit_ints(op->e, &d->per_box, 1)),
                   HOLO_ATTRS(holo_with_int("axis", -1)), top, 2);
    if (op->e->status) return;
    if (d->per_box > 1) {
        HoloValue *times = holo_emit_ints(op->e, (int64_t[]){1, d->per_box, 1}, 3);
        boxes            = holo_tf_two(op, "Tile", holo_emit_unsqueeze(op->e, boxes, ones, 1), times);
    }
    boxes            = boxes ? holo_emit_reshape(op->e, boxes, (HoloDim[]){-1, 4}, 2) : NULL;
    HoloValue *count = count_of(op, at);
    give(d, boxes, holo_emit_reshape(op->e, top[1], (HoloDim[]){-1}, 1),
         holo_emit_reshape(op->e, top[0], (HoloDim[]){-1}, 1), count);
}

// Boxes of each class are suppressed for themselves, and the best of all are given.
static void detect_regular(Detect *d)
{
    HoloTfOp  *op    = d->op;
    int64_t    first = 0, perm[2] = {1, 0}, one = 1;
    HoloValue *found =
        holo_emit(op->e, "NonMaxSuppression",
                  HOLO_IN(holo_emit_unsqueeze(op->e, d->boxes, &first, 1),
                          holo_emit_unsqueeze(op->e, holo_emit_transpose(op->e, d->scores, perm, 2), &first, 1),
                          holo_emit_int(op->e, d->per_class), holo_tf_f32(op, d->overlap), holo_tf_f32(op, d->least)),
                  NULL);
    if (!found) return;
    HoloValue *class =
        holo_emit(op->e, "Gather", HOLO_IN(found, holo_emit_int(op->e, 1)), HOLO_ATTRS(holo_with_int("axis", 1)));
    HoloValue *box =
        holo_emit(op->e, "Gather", HOLO_IN(found, holo_emit_int(op->e, 2)), HOLO_ATTRS(holo_with_int("axis", 1)));
    HoloValue *pair =
        op->e->status
            ? NULL
            : holo_emit(op->e, "Concat",
                        HOLO_IN(holo_emit_unsqueeze(op->e, box, &one, 1), holo_emit_unsqueeze(op->e, class, &one, 1)),
                        HOLO_ATTRS(holo_with_int("axis", 1)));
    HoloValue *score = holo_tf_two(op, "GatherND", d->scores, pair), *top[2];
    HoloValue *count = holo_tf_two(op, "Min", holo_tf_one(op, "Shape", score), holo_emit_ints(op->e, &d->most, 1));
    if (!count) return;
    holo_emit_many(op->e, "TopK", HOLO_IN(score, count), NULL, top, 2);
    if (op->e->status) return;
    give(d, holo_tf_two(op, "Gather", d->boxes, holo_tf_two(op, "Gather", box, top[1])),
         holo_tf_two(op, "Gather", class, top[1]), top[0], count);
}

// -1: it is no such number, which is refused as any other that is below 0.
static int64_t whole_option(const Detect *d, const char *name, double usual)
{
    double x = holo_tf_option(d->op, name, usual);
    return x >= 0 && x <= INT32_MAX ? (int64_t)x : -1;
}

void holo_tf_detection(HoloTfOp *op)
{
    Detect     d     = {.op = op};
    HoloValue *codes = holo_tf_real(op, 0), *scores = holo_tf_real(op, 1), *anchors = holo_tf_real(op, 2);
    if (!codes || !scores || !anchors) return;
    d.most      = whole_option(&d, "max_detections", 0);
    d.per_box   = whole_option(&d, "max_classes_per_detection", 1);
    d.per_class = whole_option(&d, "detections_per_class", 100);
    d.classes   = whole_option(&d, "num_classes", 0);
    d.regular   = holo_tf_option(op, "use_regular_nms", 0) != 0;
    d.least = (double)nextafterf((float)holo_tf_option(op, "nms_score_threshold", 0), -INFINITY); // as much counts, too
    d.overlap      = holo_tf_option(op, "nms_iou_threshold", 0.6);
    d.scale[0]     = holo_tf_option(op, "y_scale", 1);
    d.scale[1]     = holo_tf_option(op, "x_scale", 1);
    d.scale[2]     = holo_tf_option(op, "h_scale", 1);
    d.scale[3]     = holo_tf_option(op, "w_scale", 1);
    d.rows_per_box = d.per_box;
    if (d.per_box > d.classes) d.per_box = d.classes;
    if (d.most < 1 || d.most > 1 << 20 || d.per_box < 1 || d.rows_per_box > 1 << 16 || d.classes < 1 || d.per_class < 1)
        return (void)holo_tf_fail(op, "its options are wrong");
    HoloDim each = scores->type.rank == 3 ? scores->type.dim[2] : 0;
    if (codes->type.rank != 3 || codes->type.dim[0] != 1 || holo_dim_is_symbolic(each) ||
        (each != d.classes && each != d.classes + 1))
        return (void)holo_tf_fail(op, "its boxes or scores have other sizes than its options say");
    int64_t first = 0;
    codes         = holo_emit_squeeze(op->e, codes, &first, 1);
    scores        = holo_emit_squeeze(op->e, scores, &first, 1);
    d.scores      = scores && each > d.classes ? holo_emit_slice(op->e, scores, 1, 1, INT64_MAX, 1) : scores;
    d.boxes       = decode(&d, codes, anchors);
    if (!d.boxes || !d.scores) return;
    if (d.regular)
        detect_regular(&d);
    else
        detect_fast(&d);
}
