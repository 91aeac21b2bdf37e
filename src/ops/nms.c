// nms.c - NonMaxSuppression: of boxes that overlap, the best is kept.
#include "ops/op.h"

#include <math.h>
#include <stdlib.h>
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
        if (boxes->dim[d] != want[d] && !holo_dim_is_symbolic(boxes->dim[d]) && !holo_dim_is_symbolic(want[d]))
            return holo_call_fail(call, HOLO_BAD_MODEL, "the boxes have size %lld in dimension %d, expected %lld",
                                  (long long)boxes->dim[d], d, (long long)want[d]);
    return holo_out_type(call, 0, HOLO_I64, 2, (HoloDim[]){HOLO_DIM_UNKNOWN, 3});
}

typedef struct Box { // low and high corner
    double low[2], high[2];
} Box;

static Box read_box(const HoloTensor *boxes, int64_t index, bool centered)
{
    double at[4];
    Box    box;
    holo_read_f(boxes, index * 4, 1, 4, at);
    for (int d = 0; d < 2; d++) {
        double a = centered ? at[d] - at[2 + d] / 2 : at[d], b = centered ? at[d] + at[2 + d] / 2 : at[2 + d];
        box.low[d]  = fmin(a, b);
        box.high[d] = fmax(a, b);
    }
    return box;
}

static double area(const Box *box)
{
    return (box->high[0] - box->low[0]) * (box->high[1] - box->low[1]);
}

// Intersection over union; 0 where a box is empty.
static double overlap(const Box *a, const Box *b)
{
    double common = 1;
    for (int d = 0; d < 2; d++) common *= fmax(0, fmin(a->high[d], b->high[d]) - fmax(a->low[d], b->low[d]));
    double all = area(a) + area(b) - common;
    return common > 0 && all > 0 ? common / all : 0;
}

typedef struct Candidate {
    double  score;
    int64_t index;
} Candidate;

static int compare(const void *a, const void *b) // the better first; of equals, the earlier
{
    const Candidate *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

typedef struct Nms {
    const HoloTensor *boxes, *scores;
    int64_t           batches, classes, count; // count: of boxes
    int64_t           max;                     // kept of each class
    double            iou, score;
    bool              centered;
    Candidate        *candidates;
    Box              *kept;
    int64_t (*out)[3]; // batch, class, box
    int64_t out_count;
} Nms;

static void select_boxes(Nms *n, int64_t batch, int64_t class)
{
    int64_t candidates = 0, kept = 0;
    for (int64_t i = 0; i < n->count; i++) {
        double score = holo_get_f(n->scores, (batch * n->classes + class) * n->count + i);
        if (score > n->score) n->candidates[candidates++] = (Candidate){score, i};
    }
    qsort(n->candidates, (size_t)candidates, sizeof(Candidate), compare);
    for (int64_t i = 0; i < candidates && kept < n->max; i++) {
        Box  box  = read_box(n->boxes, batch * n->count + n->candidates[i].index, n->centered);
        bool keep = true;
        for (int64_t k = 0; keep && k < kept; k++) keep = !(overlap(&box, &n->kept[k]) > n->iou);
        if (!keep) continue;
        n->kept[kept++] = box;
        int64_t *out    = n->out[n->out_count++];
        out[0]          = batch;
        out[1]          = class;
        out[2]          = n->candidates[i].index;
    }
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
    void   *candidates, *kept, *out;
    int64_t total;
    if (!holo_mul(n->batches, n->classes, &total) || !holo_mul(total, n->max, &total))
        return holo_call_fail(call, HOLO_NO_MEMORY, "too many boxes");
    HOLO_TRY(holo_call_temp(call, (size_t)n->count, sizeof(Candidate), &candidates));
    HOLO_TRY(holo_call_temp(call, (size_t)n->max, sizeof(Box), &kept));
    HOLO_TRY(holo_call_temp(call, (size_t)total, sizeof *n->out, &out));
    n->candidates = candidates;
    n->kept       = kept;
    n->out        = out;
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *scores = call->in[SCORES];
    double            max;
    Nms               n = {.boxes    = call->in[BOXES],
                           .scores   = scores,
                           .batches  = scores->dim[0],
                           .classes  = scores->dim[1],
                           .count    = scores->dim[2],
                           .centered = holo_attr_int(call, "center_point_box", 0) != 0};
    HOLO_TRY(read_number(call, MAX_OUTPUT, 0, &max));
    HOLO_TRY(read_number(call, IOU_THRESHOLD, 0, &n.iou));
    HOLO_TRY(read_number(call, SCORE_THRESHOLD, -INFINITY, &n.score));
    n.max = max <= 0 ? 0 : max < (double)n.count ? (int64_t)max : n.count;
    HOLO_TRY(take_memory(call, &n));
    for (int64_t b = 0; b < n.batches; b++)
        for (int64_t c = 0; c < n.classes; c++) select_boxes(&n, b, c);
    HOLO_TRY(holo_out_type(call, 0, HOLO_I64, 2, (HoloDim[]){n.out_count, 3}));
    HOLO_TRY(holo_out_alloc(call, 0));
    if (n.out_count) memcpy(call->out[0]->data, n.out, (size_t)n.out_count * sizeof *n.out);
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
