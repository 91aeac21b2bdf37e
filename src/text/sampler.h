// sampler.h - a sampler while it chooses. See hologram_text.h for what it does.
//
// The same logits give the same token on every machine: probabilities are doubles of base/math, every sum has one order,
// and sums over the whole vocabulary are in lanes of a fixed number.
#ifndef HOLO_TEXT_SAMPLER_H
#define HOLO_TEXT_SAMPLER_H

#include "base/base.h"
#include "hologram_text.h"

enum {
    HOLO_SCORE_LANES    = 16,  // of sums over the vocabulary
    HOLO_SCORE_BLOCK    = 64,  // scores that are summed up together
    HOLO_WEIGHT_NOTHING = -60, // the exponent from which on a weight is 0: e^-60 of 2^32 tokens is no bit of a sum
};

typedef struct HoloTokenCount { // how often a token is among those that penalties look at
    uint32_t token, all, own;   // own: accepted, not of the prompt. all 0: empty, or forgotten
    bool     is_used;           // a search goes on behind it
} HoloTokenCount;

typedef struct HoloTokenCandidate {
    float    score;
    uint32_t token;
    double   weight; // its probability, relative to the most probable token
    double   far;    // for typical_p: how far its information is from the expected one
} HoloTokenCandidate;

struct HoloSampler {
    HoloSamplerOptions  options; // its lists are the sampler's own
    uint32_t            vocabulary;
    uint64_t            stream;
    uint32_t           *history; // the prompt and what was accepted
    size_t              history_count, history_room, prompt_end;
    uint32_t            accepted;
    HoloTokenCount     *count; // a table by hash; a power of two
    size_t              count_slots, count_used;
    float              *score; // logits on their way; up to a whole block, with minus infinity
    double             *block; // the sum of weights of each block of scores
    size_t              block_count;
    HoloTokenCandidate *candidate;
    size_t              candidate_count, candidate_room;
    HoloTokenLogprob   *best;
    bool                is_failed; // out of memory
};

// ---- scores (sampler_scores.c)

// Copies logits; what is not a number is never chosen.
void holo_sampler_take(HoloSampler *s, const float *logits);
// Penalties, bias, banned tokens and the mask.
void holo_sampler_change(HoloSampler *s, const uint64_t *mask);
// Adds a token to the counts, or takes one of them out. False: no memory.
bool holo_sampler_count(HoloSampler *s, size_t place, bool is_new);

// ---- weights of the whole vocabulary (sampler_weights.c)

float holo_scores_top(const HoloSampler *s);
// e^((score - top) * scale) of one block, with an error of about 1e-6.
void holo_weights_block(const float *restrict score, float top, float scale, float *restrict out);
// Fills in s->block. Returns the sum.
double holo_weights_sum(HoloSampler *s, float top, float scale);

// ---- candidates (sampler_select.c)

// Orders candidates: the largest score first, of equals the first token.
static inline bool holo_token_candidate_before(HoloTokenCandidate a, HoloTokenCandidate b)
{
    return a.score > b.score || (a.score == b.score && a.token < b.token);
}
// The `count` best, in order. Sets is_failed if there is no memory.
void holo_candidates_best(HoloSampler *s, size_t count);
// All from this score on, in no order.
void holo_candidates_from(HoloSampler *s, float least);
// Puts the best in order to the front until `enough` of weight is there. Returns how many.
size_t holo_candidates_order(HoloSampler *s, double enough);

#endif
