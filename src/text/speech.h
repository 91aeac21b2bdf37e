// speech.h - speech to text with a model of Whisper's kind: what transcribe.c and speech_rules.c share.
#ifndef HOLO_TEXT_SPEECH_H
#define HOLO_TEXT_SPEECH_H

#include "sound/sound.h"
#include "text/language.h"

// The tokens that say what is going on. Tokens from `times` on are times, 0.02 seconds from one to the next.
typedef struct HoloSpeechTokens {
    uint32_t end, start, first_language, translate, transcribe, no_speech, no_times, times;
} HoloSpeechTokens;

// Finds them in the tokenizer. Fails if the model is none of speech.
HOLO_MUST HoloStatus holo_speech_tokens(const HoloLanguage *l, HoloSpeechTokens *out, HoloError *error);

typedef struct HoloSpeechRules {
    HoloSpeechTokens token;
    const uint32_t  *banned, *begin_banned; // never chosen; not chosen as the first
    size_t           banned_count, begin_banned_count;
    uint32_t         first_most; // the last time that a text may begin at, counted from 0
    bool             has_times;
} HoloSpeechRules;

// The next token behind `said`, what was said so far of this window: the likeliest that the rules allow. Times come in
// pairs, the end of a piece and the beginning of the next, and never go back. Changes the logits. *out_logprob is the
// logarithm of its probability.
uint32_t holo_speech_choose(const HoloSpeechRules *rules, const uint32_t *said, size_t count, float *logits,
                            uint32_t vocabulary, double *out_logprob);

#endif
