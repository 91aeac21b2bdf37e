// nms.c - NonMaxSuppression: keeps the best of boxes that overlap.
#include "ops/standard/nms.h"
#include "ops/spread.h"

#include <string.h>

enum { BOXES, SCORES, MAX_OUTPUT, IOU_THRESHOLD, SCORE_THRESHOLD };

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *boxes = call->in[BOXES], *scores = call->in[SCORES];
    HOLO_TRY(holo_expect_rank(call, BOXES, 3, 3));
    HOLO_TRY(holo_expect_rank(call, SCORES, 3, 3));
    HOLO_TRY(holo_expect_types(call, SCORES, HOLO_BIT(F32)));
    HOLO_TRY(holo_expect_types(call, MAX_OUTPUT, HOLO_BIT(I64)));
    HOLO_TRY(holo_expect_types(call, IOU_THRESHOLD, HOLO_BIT(F32)));
    HOLO_TRY(holo_expect_types(call, SCORE_THRESHOLD, HOLO_BIT(F32)));
    const HoloDim want[3] = {scores->dim[0], scores->dim[2], 4};
    for (int d = 0; d < 3; d++)
        if (holo_dims_differ(boxes->dim[d], want[d]))
            return holo_call_fail(call, HOLO_BAD_MODEL, "the boxes have size %lld in dimension %d, expected %lld",
                                  (long long)boxes->dim[d], d, (long long)want[d]);
    return holo_out_type(call, 0, HOLO_I64, 2, (HoloDim[]){HOLO_DIM_UNKNOWN, 3});
}

typedef struct Nms {
    const float   *boxes, *scores;
    int64_t        batches, classes, count; // count: of boxes
    int64_t        max;                     // kept of each class
    double         iou, score;
    bool           centered;
    HoloCandidate *candidates; // for each worker
    HoloNmsBox    *kept;       // the same
    int64_t (*out)[3];         // batch, class, box: max of each class
    int64_t *out_count;        // of each class
} Nms;

// One class of one batch. Candidates are sorted only as far as they are looked at.
static void run_class(void *arg, int64_t number, int worker)
{
    const Nms     *n     = arg;
    HoloCandidate *heap  = n->candidates + worker * n->count;
    HoloNmsBox    *boxes = n->kept + worker * n->max;
    int64_t        batch = number / n->classes, left = 0, kept = 0;
    const float   *scores = n->scores + number * n->count;
    for (int64_t i = 0; i < n->count; i++)
        if ((double)scores[i] > n->score) heap[left++] = (HoloCandidate){scores[i], i};
    holo_candidate_heap(heap, left);
    while (left > 0 && kept < n->max) {
        int64_t      index = holo_candidate_take(heap, &left).index;
        const float *at    = n->boxes + (batch * n->count + index) * 4;
        HoloNmsBox   box   = holo_box_make((double[4]){at[0], at[1], at[2], at[3]}, n->centered);
        bool         keep  = true;
        for (int64_t k = 0; keep && k < kept; k++) keep = !(holo_box_overlap(&box, &boxes[k]) > n->iou);
        if (!keep) continue;
        int64_t *out  = n->out[number * n->max + kept];
        boxes[kept++] = box;
        out[0]        = batch;
        out[1]        = number % n->classes;
        out[2]        = index;
    }
    n->out_count[number] = kept;
}

// An optional input of one number.
static HoloStatus read_number(const HoloCall *call, int input, double fallback, double *out)
{
    const HoloTensor *t = holo_in(call, input);
    if (t && holo_tensor_count(t) != 1)
        return holo_call_fail(call, HOLO_BAD_INPUT, "input %d must have one entry", input);
    *out = t ? holo_get_f(t, 0) : fallback;
    return HOLO_OK;
}

static HoloStatus take_memory(const HoloCall *call, Nms *n)
{
    size_t  workers = call->host && call->host->workers > 1 ? (size_t)call->host->workers : 1;
    int64_t classes, total;
    if (!holo_mul(n->batches, n->classes, &classes) || !holo_mul(classes, n->max, &total))
        return holo_call_fail(call, HOLO_NO_MEMORY, "too many boxes");
    HOLO_TRY(holo_call_temp(call, (size_t)n->count, workers * sizeof(HoloCandidate), (void **)&n->candidates));
    HOLO_TRY(holo_call_temp(call, (size_t)n->max, workers * sizeof(HoloNmsBox), (void **)&n->kept));
    HOLO_TRY(holo_call_temp(call, (size_t)classes, sizeof *n->out_count, (void **)&n->out_count));
    return holo_call_temp(call, (size_t)total, sizeof *n->out, (void **)&n->out);
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *scores = call->in[SCORES];
    double            max;
    Nms               n = {.boxes    = call->in[BOXES]->data,
                           .scores   = scores->data,
                           .batches  = scores->dim[0],
                           .classes  = scores->dim[1],
                           .count    = scores->dim[2],
                           .centered = holo_attr_int(call, "center_point_box", 0) != 0};
    HOLO_TRY(read_number(call, MAX_OUTPUT, 0, &max));
    HOLO_TRY(read_number(call, IOU_THRESHOLD, 0, &n.iou));
    HOLO_TRY(read_number(call, SCORE_THRESHOLD, -INFINITY, &n.score));
    n.max = max <= 0 ? 0 : max < (double)n.count ? (int64_t)max : n.count;
    HOLO_TRY(take_memory(call, &n));
    int64_t classes = n.max ? n.batches * n.classes : 0, count = 0;
    holo_spread(call, classes, (double)classes * (double)n.count * 32, run_class, &n);
    for (int64_t i = 0; i < classes; i++) {
        memmove(n.out[count], n.out[i * n.max], (size_t)n.out_count[i] * sizeof *n.out);
        count += n.out_count[i];
    }
    HOLO_TRY(holo_out_type(call, 0, HOLO_I64, 2, (HoloDim[]){count, 3}));
    HOLO_TRY(holo_out_alloc(call, 0));
    if (count) memcpy(call->out[0]->data, n.out, (size_t)count * sizeof *n.out);
    return HOLO_OK;
}

const HoloOp holo_ops_nms[] = {
    {.name    = "NonMaxSuppression",
     .domain  = "",
     .since   = 10,
     .in_min  = 2,
     .in_max  = 5,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(F32),
     .flags   = HOLO_OP_DYNAMIC,
     .infer   = infer,
     .eval    = eval},
    {0},
};
