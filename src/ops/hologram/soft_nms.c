// soft_nms.c - SoftSuppression: boxes in the order of their scores. A box that overlaps one that was taken loses a part of
// its score, exp(-overlap^2 / (2 sigma)), and waits for its turn again; from the threshold of overlap on it is dropped.
// Boxes [n, 4] and scores [n] give the numbers of the boxes and their scores, as NonMaxSuppressionV5 of TensorFlow.
#include "ops/op.h"
#include "ops/standard/nms.h"

#include <math.h>

enum { BOXES, SCORES, MOST, OVERLAP, LEAST };

static HoloStatus infer(HoloCall *call)
{
    HoloDim open = HOLO_DIM_UNKNOWN;
    HOLO_TRY(holo_expect_types(call, SCORES, HOLO_BIT(F32)));
    HOLO_TRY(holo_expect_rank(call, SCORES, 1, 1));
    HOLO_TRY(holo_expect_shape(call, BOXES, 2, (HoloDim[]){call->in[SCORES]->dim[0], 4}));
    HOLO_TRY(holo_expect_types(call, MOST, HOLO_BIT(I64)));
    for (int i = MOST; i <= LEAST; i++) {
        HOLO_TRY(holo_expect_one(call, i));
        if (i > MOST) HOLO_TRY(holo_expect_types(call, i, HOLO_BIT(F32)));
    }
    if (!(holo_attr_float(call, "sigma", 0) > 0))
        return holo_call_fail(call, HOLO_BAD_MODEL, "its sigma must be more than 0");
    HOLO_TRY(holo_out_type(call, 0, HOLO_I64, 1, &open));
    return holo_out_type(call, 1, HOLO_F32, 1, &open);
}

typedef struct Soft {
    const float   *boxes;
    HoloCandidate *heap;
    int64_t       *begin; // by box: those taken before were looked at already
    HoloCandidate *taken;
    int64_t        left, taken_count;
    double         overlap, least, scale;
} Soft;

static HoloNmsBox box_at(const Soft *s, int64_t i)
{
    const float *at = s->boxes + 4 * i;
    return holo_box_make((double[4]){(double)at[0], (double)at[1], (double)at[2], (double)at[3]}, false);
}

// The score that is left of the first candidate; one that is dropped has none, which is less than any threshold.
static float faded(const Soft *s)
{
    HoloCandidate first = s->heap[0];
    HoloNmsBox    box   = box_at(s, first.index);
    for (int64_t k = s->taken_count - 1; k >= s->begin[first.index]; k--) {
        HoloNmsBox other = box_at(s, s->taken[k].index);
        double     share = holo_box_overlap(&box, &other);
        if (share >= s->overlap) return -INFINITY;
        first.score = (float)((double)first.score * exp(s->scale * share * share));
        if ((double)first.score <= s->least) return -INFINITY;
    }
    return first.score;
}

static void choose(Soft *s, int64_t most)
{
    while (s->left > 0 && s->taken_count < most) {
        HoloCandidate first = s->heap[0];
        float         score = faded(s);
        if (score == first.score) s->taken[s->taken_count++] = first;
        if (score == first.score || !((double)score > s->least)) {
            holo_candidate_take(s->heap, &s->left);
            continue;
        }
        s->begin[first.index] = s->taken_count;
        s->heap[0].score      = score;
        holo_candidate_sink(s->heap, s->left, 0);
    }
}

static HoloStatus eval(HoloCall *call)
{
    const float *scores = call->in[SCORES]->data;
    int64_t      count = holo_tensor_count(call->in[SCORES]), most = holo_get_i(call->in[MOST], 0);
    Soft         s = {.boxes   = call->in[BOXES]->data,
                      .overlap = holo_get_f(call->in[OVERLAP], 0),
                      .least   = holo_get_f(call->in[LEAST], 0),
                      .scale   = -0.5 / holo_attr_float(call, "sigma", 1)};
    HOLO_TRY(holo_call_temp(call, (size_t)count + 1, sizeof *s.heap, (void **)&s.heap));
    HOLO_TRY(holo_call_temp(call, (size_t)count + 1, sizeof *s.taken, (void **)&s.taken));
    HOLO_TRY(holo_call_temp(call, (size_t)count + 1, sizeof *s.begin, (void **)&s.begin));
    for (int64_t i = 0; i < count; i++) {
        s.begin[i] = 0;
        if ((double)scores[i] > s.least) s.heap[s.left++] = (HoloCandidate){scores[i], i};
    }
    holo_candidate_heap(s.heap, s.left);
    choose(&s, most);
    for (int k = 0; k < 2; k++) {
        HoloTensor *y = holo_out(call, k);
        if (!y) continue;
        y->dim[0] = s.taken_count;
        HOLO_TRY(holo_out_alloc(call, k));
        for (int64_t i = 0; i < s.taken_count; i++)
            if (k)
                holo_put_f(y, i, (double)s.taken[i].score);
            else
                holo_put_i(y, i, s.taken[i].index);
    }
    return HOLO_OK;
}

const HoloOp holo_ops_soft_nms[] = {
    {.name    = "SoftSuppression",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 5,
     .in_max  = 5,
     .out_min = 1,
     .out_max = 2,
     .types   = HOLO_BIT(F32),
     .flags   = HOLO_OP_DYNAMIC,
     .infer   = infer,
     .eval    = eval},
    {0},
};
