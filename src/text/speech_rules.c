// speech_rules.c - which token comes next when a model writes down what it hears.
#include "text/speech.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- tokens

static bool find(const HoloLanguage *l, const char *text, uint32_t *out)
{
    return l->tokenizer && holo_tokenizer_find(l->tokenizer, text, strlen(text), out);
}

HoloStatus holo_speech_tokens(const HoloLanguage *l, HoloSpeechTokens *out, HoloError *error)
{
    *out    = (HoloSpeechTokens){0};
    bool is = find(l, "<|endoftext|>", &out->end) && find(l, "<|startoftranscript|>", &out->start) &&
              find(l, "<|translate|>", &out->translate) && find(l, "<|transcribe|>", &out->transcribe) &&
              find(l, "<|notimestamps|>", &out->no_times);
    if (!is)
        return holo_fail(
            error, HOLO_UNSUPPORTED,
            "the model does not write down speech: its tokenizer has no <|startoftranscript|>, or there is "
            "none");
    if (!find(l, "<|nospeech|>", &out->no_speech) && !find(l, "<|nocaptions|>", &out->no_speech))
        out->no_speech = UINT32_MAX;
    out->first_language = out->start + 1;
    out->times          = out->no_times + 1;
    return HOLO_OK;
}

// ---- rules

static void ban(float *logits, uint32_t vocabulary, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && i < vocabulary; i++) logits[i] = -INFINITY;
}

static void ban_list(float *logits, uint32_t vocabulary, const uint32_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++) ban(logits, vocabulary, list[i], list[i] + 1);
}

// Where times may stand.
static void times_ban(const HoloSpeechRules *r, const uint32_t *said, size_t count, float *logits, uint32_t vocabulary)
{
    uint32_t times = r->token.times, last = 0;
    bool     is_time   = count > 0 && said[count - 1] >= times;
    bool     was_time  = count < 2 || said[count - 2] >= times;
    bool     has_times = false;
    for (size_t i = 0; i < count; i++)
        if (said[i] >= times) {
            last      = said[i];
            has_times = true;
        }
    if (is_time && was_time) ban(logits, vocabulary, times, vocabulary); // a piece has begun: now its words
    if (is_time && !was_time) ban(logits, vocabulary, 0, r->token.end);  // it has ended: the next begins, or none
    if (has_times) ban(logits, vocabulary, times, is_time && !was_time ? last : last + 1);
    if (count) return;
    ban(logits, vocabulary, 0, times);
    ban(logits, vocabulary, times + r->first_most + 1, vocabulary);
}

// The logarithm of the sum of exponentials from..to, and the largest of them.
static double sum_of(const float *logits, uint32_t from, uint32_t to, double *out_most)
{
    double most = -INFINITY, sum = 0;
    for (uint32_t i = from; i < to; i++) most = fmax(most, (double)logits[i]);
    for (uint32_t i = from; i < to && most > -INFINITY; i++) sum += exp((double)logits[i] - most);
    *out_most = most;
    return sum > 0 ? most + log(sum) : -INFINITY;
}

uint32_t holo_speech_choose(const HoloSpeechRules *r, const uint32_t *said, size_t count, float *logits,
                            uint32_t vocabulary, double *out_logprob)
{
    const HoloSpeechTokens *t     = &r->token;
    uint32_t                times = t->times < vocabulary ? t->times : vocabulary, best = 0;
    double                  word, time;
    ban_list(logits, vocabulary, r->banned, r->banned_count);
    ban(logits, vocabulary, t->start, t->times); // languages, tasks and the like
    if (!r->has_times) ban(logits, vocabulary, times, vocabulary);
    if (!count) ban_list(logits, vocabulary, r->begin_banned, r->begin_banned_count);
    if (r->has_times) {
        times_ban(r, said, count, logits, vocabulary);
        // If some time is likelier than every word, it is a time.
        double all = sum_of(logits, times, vocabulary, &time);
        (void)sum_of(logits, 0, times, &word);
        if (all > word) ban(logits, vocabulary, 0, times);
    }
    for (uint32_t i = 1; i < vocabulary; i++)
        if (logits[i] > logits[best]) best = i;
    double total = sum_of(logits, 0, vocabulary, &word);
    *out_logprob = total > -INFINITY ? (double)logits[best] - total : 0;
    return total > -INFINITY ? best : t->end; // nothing is left
}
