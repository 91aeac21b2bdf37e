// nms_efficient.c - EfficientNMS_TRT, TensorRT's last operator of detectors: keeps the best boxes of all classes
// together, without those that overlap a better one.
//
// Exporters put it into files for TensorRT, in one of three domains.
#include "base/math/math.h"
#include "ops/standard/attention.h"
#include "ops/standard/nms.h"

#include <string.h>

enum { BOXES, SCORES, ANCHORS };
enum { COUNT, OUT_BOXES, OUT_SCORES, OUT_CLASSES };
enum { LOOKED_AT = 4096 }; // candidates of an image, as TensorRT has it

static int64_t find_max(const HoloCall *call)
{
    return holo_attr_int(call, "max_output_boxes", 100);
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *boxes = call->in[BOXES], *scores = call->in[SCORES], *anchors = holo_in(call, ANCHORS);
    HoloDtype         dtype = (HoloDtype)boxes->dtype;
    HoloDim           batch, count, same;
    int64_t           max = find_max(call);
    HOLO_TRY(holo_expect_rank(call, BOXES, 3, 4));
    HOLO_TRY(holo_expect_rank(call, SCORES, 3, 3));
    HOLO_TRY(holo_expect_rank(call, ANCHORS, 3, 3));
    HOLO_TRY(holo_expect_types(call, SCORES, UINT64_C(1) << dtype));
    HOLO_TRY(holo_expect_types(call, ANCHORS, UINT64_C(1) << dtype));
    HOLO_TRY(holo_agree(call, "images of boxes and scores", boxes->dim[0], scores->dim[0], &batch));
    HOLO_TRY(holo_agree(call, "boxes and scores", boxes->dim[1], scores->dim[1], &count));
    HOLO_TRY(holo_agree(call, "numbers of a box", boxes->dim[boxes->rank - 1], 4, &same));
    if (boxes->rank == 4 && boxes->dim[2] != 1)
        HOLO_TRY(holo_agree(call, "classes of boxes and scores", boxes->dim[2], scores->dim[2], &same));
    if (anchors) {
        HOLO_TRY(holo_agree(call, "boxes and anchors", anchors->dim[1], count, &same));
        HOLO_TRY(holo_agree(call, "numbers of an anchor", anchors->dim[2], 4, &same));
        if (anchors->dim[0] != 1) HOLO_TRY(holo_agree(call, "images of anchors", anchors->dim[0], batch, &same));
    }
    if (max < 1 || max > INT32_MAX)
        return holo_call_fail(call, HOLO_BAD_MODEL, "max_output_boxes is %lld", (long long)max);
    HOLO_TRY(holo_out_type(call, COUNT, HOLO_I32, 2, (HoloDim[]){batch, 1}));
    HOLO_TRY(holo_out_type(call, OUT_BOXES, dtype, 3, (HoloDim[]){batch, max, 4}));
    HOLO_TRY(holo_out_type(call, OUT_SCORES, dtype, 2, (HoloDim[]){batch, max}));
    return holo_out_type(call, OUT_CLASSES, HOLO_I32, 2, (HoloDim[]){batch, max});
}

typedef struct Nms {
    const HoloTensor *boxes, *scores, *anchors;
    int64_t           count, classes, max, background;
    double            iou, score; // score: what a candidate has at least
    bool              centered, agnostic, sigmoid;
} Nms;

// The corners of the box of a candidate.
static void read_corners(const Nms *n, int64_t image, int64_t index, double *out)
{
    int64_t box = index / n->classes, of = n->boxes->rank == 4 ? n->boxes->dim[2] : 1;
    int64_t at = ((image * n->count + box) * of + (of > 1 ? index % n->classes : 0)) * 4;
    double  b[4], a[4];
    holo_read_f(n->boxes, at, 1, 4, b);
    if (n->anchors) {
        holo_read_f(n->anchors, ((n->anchors->dim[0] == 1 ? 0 : image * n->count) + box) * 4, 1, 4, a);
        for (int d = 0; d < 2; d++) {
            b[d]     = n->centered ? b[d] * a[2 + d] + a[d] : b[d] + a[d];
            b[2 + d] = n->centered ? holo_exp(b[2 + d]) * a[2 + d] : b[2 + d] + a[2 + d];
        }
    }
    for (int d = 0; d < 2; d++) {
        out[d]     = n->centered ? b[d] - b[2 + d] / 2 : b[d];
        out[2 + d] = n->centered ? b[d] + b[2 + d] / 2 : b[2 + d];
    }
}

// All candidates of an image, as a heap. *out_count: how many.
static void find_candidates(const Nms *n, int64_t image, HoloCandidate *heap, int64_t *out_count)
{
    int64_t all = n->count * n->classes, count = 0;
    double  tile[HOLO_TILE];
    for (int64_t k = 0; k < all; k += HOLO_TILE) {
        int64_t part = all - k < HOLO_TILE ? all - k : HOLO_TILE;
        holo_read_f(n->scores, image * all + k, 1, part, tile);
        for (int64_t j = 0; j < part; j++)
            if (tile[j] >= n->score && (k + j) % n->classes != n->background)
                heap[count++] = (HoloCandidate){(float)tile[j], k + j};
    }
    holo_candidate_heap(heap, count);
    *out_count = count;
}

typedef struct Kept {
    HoloNmsBox box;
    int64_t class;
} Kept;

static void write_one(const HoloCall *call, const Nms *n, int64_t at, const double *corners, HoloCandidate c)
{
    HoloTensor *boxes = holo_out(call, OUT_BOXES), *scores = holo_out(call, OUT_SCORES),
               *classes = holo_out(call, OUT_CLASSES);
    if (boxes) holo_write_f(boxes, at * 4, 1, 4, corners);
    if (scores) holo_put_f(scores, at, n->sigmoid ? holo_sigmoid((double)c.score) : (double)c.score);
    if (classes) holo_put_i(classes, at, c.index % n->classes);
}

static void run_image(const HoloCall *call, const Nms *n, int64_t image, HoloCandidate *heap, Kept *list)
{
    int64_t left, kept = 0;
    find_candidates(n, image, heap, &left);
    for (int looked = 0; left > 0 && kept < n->max && looked < LOOKED_AT; looked++) {
        double        corners[4];
        HoloCandidate c = holo_candidate_take(heap, &left);
        read_corners(n, image, c.index, corners);
        Kept one  = {holo_box_make(corners, false), c.index % n->classes};
        bool keep = true;
        for (int64_t k = 0; keep && k < kept; k++)
            if (n->agnostic || list[k].class == one.class) keep = !(holo_box_overlap(&one.box, &list[k].box) >= n->iou);
        if (!keep) continue;
        list[kept] = one;
        write_one(call, n, image * n->max + kept++, corners, c);
    }
    if (holo_out(call, COUNT)) holo_put_i(call->out[COUNT], image, kept);
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *scores = call->in[SCORES];
    Nms               n      = {.boxes      = call->in[BOXES],
                                .scores     = scores,
                                .anchors    = holo_in(call, ANCHORS),
                                .count      = scores->dim[1],
                                .classes    = scores->dim[2],
                                .max        = find_max(call),
                                .background = holo_attr_int(call, "background_class", -1),
                                .iou        = holo_attr_float(call, "iou_threshold", 0.5),
                                .score      = holo_attr_float(call, "score_threshold", 0.25),
                                .centered   = holo_attr_int(call, "box_coding", 0) == 1,
                                .agnostic   = holo_attr_int(call, "class_agnostic", 0) != 0,
                                .sigmoid    = holo_attr_int(call, "score_activation", 0) != 0};
    int64_t           room   = n.max < LOOKED_AT ? n.max : LOOKED_AT;
    void             *heap, *list;
    for (int i = 0; i < call->out_count; i++)
        if (call->out[i] && call->out[i]->data) memset(call->out[i]->data, 0, holo_tensor_bytes(call->out[i]));
    if (n.sigmoid) n.score = n.score > 0 ? holo_log(n.score / (1 - n.score)) : -INFINITY;
    HOLO_TRY(holo_call_temp(call, (size_t)(n.count * n.classes), sizeof(HoloCandidate), &heap));
    HOLO_TRY(holo_call_temp(call, (size_t)room, sizeof(Kept), &list));
    for (int64_t image = 0; image < scores->dim[0]; image++) run_image(call, &n, image, heap, list);
    return HOLO_OK;
}

#define ROW(from)                                                                                                     \
    {                                                                                                                 \
        .name = "EfficientNMS_TRT", .domain = from, .since = 1, .in_min = 2, .in_max = 3, .out_min = 1, .out_max = 4, \
        .types = HOLO_BIT(F32) | HOLO_BIT(F16), .infer = infer, .eval = eval                                          \
    }

const HoloOp holo_ops_nms_efficient[] = {ROW(""), ROW("TRT"), ROW("trt.plugins"), {0}};
