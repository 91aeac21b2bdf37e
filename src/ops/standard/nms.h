// nms.h - boxes that overlap, and candidates in the order of their scores.
#ifndef HOLO_OPS_STANDARD_NMS_H
#define HOLO_OPS_STANDARD_NMS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct HoloNmsBox { // low and high corner
    double low[2], high[2], area;
} HoloNmsBox;

// Given by two corners, or by the middle and the size.
static inline HoloNmsBox holo_box_make(const double *at, bool centered)
{
    HoloNmsBox box;
    for (int d = 0; d < 2; d++) {
        double size = at[2 + d], a = centered ? at[d] - size / 2 : at[d];
        double b    = centered ? at[d] + size / 2 : size;
        box.low[d]  = fmin(a, b);
        box.high[d] = fmax(a, b);
    }
    box.area = (box.high[0] - box.low[0]) * (box.high[1] - box.low[1]);
    return box;
}

// Intersection over union; 0 where a box is empty.
static inline double holo_box_overlap(const HoloNmsBox *a, const HoloNmsBox *b)
{
    double common = 1;
    for (int d = 0; d < 2; d++) {
        double high = a->high[d] < b->high[d] ? a->high[d] : b->high[d];
        double low  = a->low[d] > b->low[d] ? a->low[d] : b->low[d];
        if (!(high > low)) return 0;
        common *= high - low;
    }
    double all = a->area + b->area - common;
    return common > 0 && all > 0 ? common / all : 0;
}

typedef struct HoloCandidate {
    float   score;
    int64_t index;
} HoloCandidate;

static inline bool holo_candidate_before(const HoloCandidate *a, const HoloCandidate *b) // of equals, the earlier
{
    return a->score != b->score ? a->score > b->score : a->index < b->index;
}

// A heap with the first candidate at its root: moves the candidate at `at` down to its place.
static inline void holo_candidate_sink(HoloCandidate *heap, int64_t count, int64_t at)
{
    HoloCandidate moved = heap[at];
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && holo_candidate_before(&heap[child + 1], &heap[child])) child++;
        if (!holo_candidate_before(&heap[child], &moved)) break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static inline void holo_candidate_heap(HoloCandidate *heap, int64_t count)
{
    for (int64_t i = count / 2; i-- > 0;) holo_candidate_sink(heap, count, i);
}

// Removes the first of `*count` candidates.
static inline HoloCandidate holo_candidate_take(HoloCandidate *heap, int64_t *count)
{
    HoloCandidate first = heap[0];
    heap[0]             = heap[--*count];
    holo_candidate_sink(heap, *count, 0);
    return first;
}

#endif
