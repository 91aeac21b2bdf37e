// sampler_select.c - the candidates of a choice: the best of all scores, without sorting them all.
#include "text/sampler.h"

enum { LANES = HOLO_SCORE_LANES };

static bool reserve(HoloSampler *s, size_t room)
{
    size_t bytes;
    if (room <= s->candidate_room) return true;
    room                     = room + room / 2 + 64;
    HoloTokenCandidate *more = holo_size_mul(room, sizeof *more, &bytes) ? holo_realloc(s->candidate, bytes) : NULL;
    if (!more) return !(s->is_failed = true);
    s->candidate      = more;
    s->candidate_room = room;
    return true;
}

// ---- heaps: the parent of `i` is (i - 1) / 2

typedef bool (*Before)(HoloTokenCandidate a, HoloTokenCandidate b); // a is nearer to the root

static bool is_better(HoloTokenCandidate a, HoloTokenCandidate b)
{
    return holo_token_candidate_before(a, b);
}

static bool is_worse(HoloTokenCandidate a, HoloTokenCandidate b)
{
    return holo_token_candidate_before(b, a);
}

static inline void sink(HoloTokenCandidate *heap, size_t count, size_t at, Before before)
{
    HoloTokenCandidate moved = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && before(heap[child + 1], heap[child])) child++;
        if (!before(heap[child], moved)) break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static void heap_make(HoloTokenCandidate *heap, size_t count, Before before)
{
    for (size_t i = count / 2; i-- > 0;) sink(heap, count, i, before);
}

static inline bool has_above(const float *score, float least) // of a few scores at once
{
    int found = 0;
    for (int k = 0; k < LANES; k++) found |= score[k] >= least;
    return found;
}

void holo_candidates_best(HoloSampler *s, size_t count)
{
    const float         nothing = -__builtin_inff();
    HoloTokenCandidate *heap;
    size_t              have = 0, at = 0, all = s->block_count * HOLO_SCORE_BLOCK;
    s->candidate_count = 0;
    if (!reserve(s, count) || !count) return;
    heap = s->candidate;
    for (; at < all && have < count; at++)
        if (s->score[at] > nothing) heap[have++] = (HoloTokenCandidate){s->score[at], (uint32_t)at, 0, 0};
    heap_make(heap, have, is_worse);
    for (; at < all && at % LANES; at++)
        if (s->score[at] > heap[0].score) {
            heap[0] = (HoloTokenCandidate){s->score[at], (uint32_t)at, 0, 0};
            sink(heap, have, 0, is_worse);
        }
    for (; at < all; at += LANES) {
        if (!has_above(s->score + at, heap[0].score)) continue;
        for (size_t k = at; k < at + LANES; k++)
            if (s->score[k] > heap[0].score) { // of equals the first token is here already
                heap[0] = (HoloTokenCandidate){s->score[k], (uint32_t)k, 0, 0};
                sink(heap, have, 0, is_worse);
            }
    }
    s->candidate_count = have;
    for (size_t left = have; left > 1; left--) { // the worst to the end
        HoloTokenCandidate worst = heap[0];
        heap[0]                  = heap[left - 1];
        heap[left - 1]           = worst;
        sink(heap, left - 1, 0, is_worse);
    }
}

void holo_candidates_from(HoloSampler *s, float least)
{
    const float nothing = -__builtin_inff();
    s->candidate_count  = 0;
    for (size_t at = 0; at < s->block_count * HOLO_SCORE_BLOCK; at += LANES) {
        if (!has_above(s->score + at, least)) continue;
        if (!reserve(s, s->candidate_count + LANES)) return;
        for (size_t k = at; k < at + LANES; k++)
            if (s->score[k] >= least && s->score[k] > nothing)
                s->candidate[s->candidate_count++] = (HoloTokenCandidate){s->score[k], (uint32_t)k, 0, 0};
    }
}

static void reverse(HoloTokenCandidate *list, size_t from, size_t to)
{
    for (; from + 1 < to; from++, to--) {
        HoloTokenCandidate kept = list[from];
        list[from]              = list[to - 1];
        list[to - 1]            = kept;
    }
}

size_t holo_candidates_order(HoloSampler *s, double enough)
{
    HoloTokenCandidate *heap = s->candidate;
    size_t              all = s->candidate_count, left = all;
    double              sum = 0;
    heap_make(heap, left, is_better);
    for (; left && sum < enough; left--) { // the best go to the end, the first of them last
        HoloTokenCandidate best = heap[0];
        heap[0]                 = heap[left - 1];
        sink(heap, left - 1, 0, is_better);
        heap[left - 1] = best;
        sum += best.weight;
    }
    reverse(heap, 0, all);
    return all - left;
}
