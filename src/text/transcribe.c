// transcribe.c - writes down speech: a window of the sound after the other, as long as the model hears at once.
//
// Times that the model says cut a window into pieces. The next window begins where the last whole piece ended, so that
// nobody is cut off in the middle of a word (Radford et al., "Robust Speech Recognition", 2022).
#include "text/speech.h"

#include "base/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT = 4, FIRST_MOST = 50, FRAMES_MAX = 1 << 16 };

typedef struct Transcriber {
    HoloLanguage         *l;
    HoloTranscribeOptions o;
    HoloSpokenFn          each;
    void                 *state;
    HoloSpeechRules       rules;
    uint32_t             *begin_banned;
    HoloMelOptions        how;
    HoloMel              *mel;
    int                   frames; // of a window
    float                *features, *logits;
    uint32_t             *token; // the prompt, and what was said
    size_t                prompt, said, room;
    double                logprob; // of what was said, in all
    double                silence; // how likely nobody speaks
    uint32_t              language;
    bool                  is_over; // the caller has enough
    HoloTranscribeResult *result;
    HoloError            *error;
} Transcriber;

static int meta_int(const HoloLanguage *l, const char *key, int otherwise)
{
    const char *text   = holo_model_meta_find(l->model, key);
    long        number = text ? strtol(text, NULL, 10) : 0;
    return number > 0 && number < 1 << 24 ? (int)number : otherwise;
}

int holo_language_rate(const HoloLanguage *l)
{
    bool listens = l->encoder && !strcmp(holo_model_input(l->encoder, l->source)->name, "input_features");
    return listens ? meta_int(l, "sound.rate", 16000) : 0;
}

// ---- opening

static HoloStatus begin_banned_read(Transcriber *t)
{
    const char *text = holo_model_meta_find(t->l->model, "text.begin_banned");
    size_t      room = 1, count = 0;
    for (const char *p = text; p && *p; p++) room += *p == ',';
    t->begin_banned = holo_realloc(NULL, room * sizeof *t->begin_banned);
    if (!t->begin_banned) return holo_fail_memory(t->error);
    while (text && *text && count < room) {
        char         *next;
        unsigned long id = strtoul(text, &next, 10);
        if (next == text) break;
        t->begin_banned[count++] = id < UINT32_MAX ? (uint32_t)id : UINT32_MAX - 1;
        text                     = *next == ',' ? next + 1 : next;
    }
    t->rules.begin_banned       = t->begin_banned;
    t->rules.begin_banned_count = count;
    return HOLO_OK;
}

// The spectrogram that the model takes: its sizes, or what the archive says.
static HoloStatus mel_open(Transcriber *t)
{
    const HoloTensor *type = &holo_model_input(t->l->encoder, t->l->source)->type;
    t->how                 = (HoloMelOptions){.rate   = holo_language_rate(t->l),
                                              .window = meta_int(t->l, "sound.window", 400),
                                              .hop    = meta_int(t->l, "sound.hop", 160),
                                              .mels   = meta_int(t->l, "sound.mels", 80)};
    if (type->rank != 3 || type->dtype != HOLO_F32)
        return holo_fail(t->error, HOLO_UNSUPPORTED, "the encoder's input is not [batch, mels, frames] of f32");
    if (type->dim[1] > 0 && type->dim[1] < 1 << 16) t->how.mels = (int)type->dim[1];
    int64_t frames = (int64_t)meta_int(t->l, "sound.seconds", 30) * t->how.rate / t->how.hop;
    if (type->dim[2] > 0) frames = type->dim[2];
    if (frames < 1 || frames > FRAMES_MAX)
        return holo_fail(t->error, HOLO_UNSUPPORTED, "the encoder reads %lld frames at once, not 1 to %d",
                         (long long)frames, FRAMES_MAX);
    t->frames = (int)frames;
    HOLO_TRY(holo_mel_create(&t->how, &t->mel, t->error));
    size_t size;
    if (!holo_size_mul((size_t)t->frames, (size_t)t->how.mels * sizeof *t->features, &size))
        return holo_fail_memory(t->error);
    t->features = holo_realloc(NULL, size);
    return t->features ? HOLO_OK : holo_fail_memory(t->error);
}

static HoloStatus transcriber_open(Transcriber *t)
{
    HoloLanguage *l = t->l;
    if (!holo_language_rate(l))
        return holo_fail(t->error, HOLO_UNSUPPORTED, "the model does not listen: it has no encoder of input_features");
    HOLO_TRY(holo_speech_tokens(l, &t->rules.token, t->error));
    HOLO_TRY(begin_banned_read(t));
    HOLO_TRY(mel_open(t));
    t->rules.banned       = l->banned;
    t->rules.banned_count = l->banned_count;
    t->rules.first_most   = FIRST_MOST;
    t->room               = (size_t)l->context;
    t->token              = holo_realloc(NULL, (t->room + PROMPT + 1) * sizeof *t->token);
    if (!t->token) return holo_fail_memory(t->error);
    if (t->room < PROMPT + 2)
        return holo_fail(t->error, HOLO_UNSUPPORTED, "the model can write %zu tokens, which is not enough", t->room);
    return HOLO_OK;
}

static void transcriber_close(Transcriber *t)
{
    holo_mel_destroy(t->mel);
    holo_free(t->features);
    holo_free(t->logits);
    holo_free(t->token);
    holo_free(t->begin_banned);
}

// ---- the prompt

// Reads `count` tokens and gives the logits behind the last `wanted`, which may be changed.
static HoloStatus read_tokens(Transcriber *t, size_t count, size_t wanted, float **out)
{
    const float *logits;
    HOLO_TRY(holo_language_read_last(t->l, 0, t->token, count, wanted, &logits, t->error));
    float *own = holo_realloc(t->logits, wanted * t->l->vocabulary * sizeof *own);
    if (!own) return holo_fail_memory(t->error);
    memcpy(own, logits, wanted * t->l->vocabulary * sizeof *own);
    t->logits = *out = own;
    return HOLO_OK;
}

// Models for English alone have no word for the language.
static bool is_multilingual(const Transcriber *t)
{
    const char *text = holo_model_meta_find(t->l->model, "speech.multilingual");
    return !text || strcmp(text, "0") != 0;
}

static HoloStatus language_named(Transcriber *t)
{
    char name[32];
    snprintf(name, sizeof name, "<|%.20s|>", t->o.language);
    if (holo_tokenizer_find(t->l->tokenizer, name, strlen(name), &t->language) &&
        t->language >= t->rules.token.first_language && t->language < t->rules.token.translate)
        return HOLO_OK;
    return holo_fail(t->error, HOLO_BAD_ARGUMENT,
                     "the model does not know the language '%.20s': give a code such as en, de or fr", t->o.language);
}

// The likeliest language of the window.
static HoloStatus language_heard(Transcriber *t)
{
    const HoloSpeechTokens *k = &t->rules.token;
    float                  *logits;
    t->token[0] = k->start;
    HOLO_TRY(read_tokens(t, 1, 1, &logits));
    t->language = k->first_language;
    for (uint32_t i = k->first_language; i < k->translate && i < t->l->vocabulary; i++)
        if (logits[i] > logits[t->language]) t->language = i;
    return HOLO_OK;
}

static void language_tell(Transcriber *t)
{
    HoloString text = holo_tokenizer_token(t->l->tokenizer, t->language);
    if (text.size > 4 && text.size < sizeof t->result->language + 4)
        snprintf(t->result->language, sizeof t->result->language, "%.*s", (int)text.size - 4, text.data + 2);
}

static HoloStatus prompt_make(Transcriber *t)
{
    const HoloSpeechTokens *k = &t->rules.token;
    if (is_multilingual(t) && !t->language) {
        HOLO_TRY(t->o.language ? language_named(t) : language_heard(t));
        language_tell(t);
    }
    t->prompt             = 0;
    t->token[t->prompt++] = k->start;
    if (t->language) {
        t->token[t->prompt++] = t->language;
        t->token[t->prompt++] = t->o.translate ? k->translate : k->transcribe;
    }
    if (!t->rules.has_times) t->token[t->prompt++] = k->no_times;
    return HOLO_OK;
}

// ---- a window

// How likely it is that nobody speaks, by the logits behind the first token.
static double silence_of(const Transcriber *t, const float *logits)
{
    double most = -INFINITY, sum = 0;
    if (t->rules.token.no_speech >= t->l->vocabulary) return 0;
    for (uint32_t i = 0; i < t->l->vocabulary; i++) most = fmax(most, (double)logits[i]);
    for (uint32_t i = 0; i < t->l->vocabulary; i++) sum += exp((double)logits[i] - most);
    return exp((double)logits[t->rules.token.no_speech] - most) / sum;
}

// Writes down what is said in the window that the encoder has read.
static HoloStatus window_read(Transcriber *t)
{
    size_t most = t->room / 2 < t->room - t->prompt ? t->room / 2 : t->room - t->prompt;
    float *logits;
    double logprob;
    t->said    = 0;
    t->logprob = 0;
    HOLO_TRY(read_tokens(t, t->prompt, t->prompt, &logits));
    t->silence = silence_of(t, logits);
    logits += (t->prompt - 1) * t->l->vocabulary;
    for (;;) {
        uint32_t *said = t->token + t->prompt;
        uint32_t  next = holo_speech_choose(&t->rules, said, t->said, logits, t->l->vocabulary, &logprob);
        t->logprob += logprob;
        t->result->tokens++;
        if (next == t->rules.token.end || t->said == most) return HOLO_OK;
        said[t->said++] = next;
        if (t->said == most) return HOLO_OK;
        HOLO_TRY(read_tokens(t, t->prompt + t->said, 1, &logits));
    }
}

// ---- pieces

// Gives the text of tokens from..to to the caller.
static HoloStatus piece_give(Transcriber *t, size_t from, size_t to, double begin, double end)
{
    uint32_t *words = t->token + t->prompt + from;
    size_t    count = 0, size;
    char     *text;
    uint32_t *kept = holo_realloc(NULL, (to - from) * sizeof *kept + 1);
    if (!kept) return holo_fail_memory(t->error);
    for (size_t i = 0; i < to - from; i++)
        if (words[i] < t->rules.token.end) kept[count++] = words[i];
    HoloStatus status = holo_tokenizer_decode(t->l->tokenizer, kept, count, 0, &text, &size, t->error);
    holo_free(kept);
    if (status) return status;
    HoloSpoken spoken = {.begin = begin, .end = end, .text = {text, size}};
    if (size && !t->is_over) t->is_over = !t->each(t->state, &spoken);
    holo_text_free(text);
    return HOLO_OK;
}

static double seconds_of(const Transcriber *t, uint32_t time)
{
    return (double)(time - t->rules.token.times) * 2 * t->how.hop / t->how.rate;
}

// Gives the pieces of a window that begins at `start` and has `length` seconds of sound. *out_used: how many of them are
// done.
static HoloStatus pieces_give(Transcriber *t, double start, double length, double *out_used)
{
    const uint32_t *said  = t->token + t->prompt;
    uint32_t        times = t->rules.token.times;
    size_t          count = t->said, from = 0;
    bool            ends = count > 1 && said[count - 1] >= times && said[count - 2] < times; // in the middle of nothing
    *out_used            = length;
    for (size_t i = 1; i <= count; i++) {
        bool is_cut = i < count ? said[i] >= times && said[i - 1] >= times : ends && from > 0;
        if (!is_cut || said[from] < times) continue;
        double end = seconds_of(t, said[i - 1]);
        HOLO_TRY(piece_give(t, from, i, start + seconds_of(t, said[from]), start + end));
        if (!ends) *out_used = end;
        from = i;
    }
    if (from) return HOLO_OK; // what is behind the last whole piece comes again with the next window
    double end = count && said[count - 1] > times ? seconds_of(t, said[count - 1]) : length;
    return piece_give(t, 0, count, start, start + (end < length ? end : length));
}

// Nobody speaks, and what was written is not likely either.
static bool is_silent(const Transcriber *t)
{
    return t->silence > 0.6 && t->logprob / (double)(t->said + 1) < -1;
}

static HoloStatus window_give(Transcriber *t, double start, double length, double *out_used)
{
    *out_used = length;
    if (is_silent(t)) return HOLO_OK;
    HOLO_TRY(pieces_give(t, start, length, out_used));
    if (*out_used < 0.1) *out_used = length; // it must go on
    return HOLO_OK;
}

static HoloStatus window_run(Transcriber *t, const float *samples, size_t count)
{
    HoloTensor features = {.dtype = HOLO_F32, .rank = 3, .dim = {1, t->how.mels, t->frames}, .data = t->features};
    HOLO_TRY(holo_mel_run(t->mel, samples, count, t->frames, t->features, t->error));
    HOLO_TRY(holo_language_set_source(t->l, &features, t->error));
    HOLO_TRY(prompt_make(t));
    t->result->windows++;
    return window_read(t);
}

static HoloStatus sound_run(Transcriber *t, const float *samples, size_t count)
{
    size_t window      = (size_t)t->frames * (size_t)t->how.hop;
    t->rules.has_times = t->o.timestamps || count > window;
    for (size_t at = 0; at < count && !t->is_over;) {
        size_t part = count - at < window ? count - at : window;
        double used;
        HOLO_TRY(window_run(t, samples + at, part));
        HOLO_TRY(window_give(t, (double)at / t->how.rate, (double)part / t->how.rate, &used));
        size_t step = (size_t)(used * t->how.rate + 0.5);
        at += step < part ? step : part;
    }
    return HOLO_OK;
}

HoloStatus holo_transcribe(HoloLanguage *language, const float *samples, size_t count,
                           const HoloTranscribeOptions *options, HoloSpokenFn each, void *state,
                           HoloTranscribeResult *out_result, HoloError *error)
{
    HoloTranscribeResult result = {0};
    double               start  = holo_time_now();
    Transcriber          t      = {.l = language, .each = each, .state = state, .result = &result, .error = error};
    if (options) memcpy(&t.o, options, options->size < sizeof t.o ? options->size : sizeof t.o);
    HoloStatus status = transcriber_open(&t);
    if (!status) {
        result.sound_seconds = (double)count / t.how.rate;
        status               = sound_run(&t, samples, count);
    }
    transcriber_close(&t);
    result.seconds = holo_time_now() - start;
    if (out_result) *out_result = result;
    return status;
}
