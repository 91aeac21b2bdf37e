// answer.h - a text that is generated, for those who read with the model themselves: holo_answer_step, and batches of texts.
#ifndef HOLO_TEXT_ANSWER_H
#define HOLO_TEXT_ANSWER_H

#include "text/language.h"

struct HoloAnswer {
    HoloLanguage       *l;
    HoloGenerateOptions o;
    HoloGenerateFn      each;
    void               *state;
    HoloSampler        *sampler;
    HoloTextStream     *stream;  // NULL: there is no tokenizer
    HoloStopper        *stopper; // NULL: there are no stop strings
    HoloGrammarState   *grammar; // NULL: none
    uint64_t           *mask;
    uint32_t           *token; // the prompt, what was generated, and guesses behind it
    size_t              count, room, guesses;
    uint32_t            first; // the token that the answer must begin with; UINT32_MAX: any
    HoloGenerateResult  result;
    bool                is_begun, is_done;
};

// Copies what the options point to, but for the grammar. The number of logits must be known.
HOLO_MUST HoloStatus holo_answer_settle(HoloAnswer *answer, HoloError *error);
// What has to be read next, and behind how many of its last tokens logits are wanted. The first time it is the prompt.
HOLO_MUST HoloStatus holo_answer_want(HoloAnswer *answer, HoloTextRead *out_read, size_t *out_wanted, HoloError *error);
// Takes the tokens that come of those logits: one, or with guesses several. `began` is when reading began.
HOLO_MUST HoloStatus holo_answer_take(HoloAnswer *answer, const float *logits, double began, HoloError *error);
// Beam search behind a prompt whose logits these are (beams.c). The tokens are freed by holo_free.
HOLO_MUST HoloStatus holo_answer_search(HoloAnswer *answer, const float *logits, HoloTokenLogprob **out_tokens,
                                        size_t *out_count, HoloError *error);

#endif
