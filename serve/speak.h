// speak.h - jobs of language models: texts that are continued token by token, and other work that takes a model for itself.
//
// A language model continues several texts at once. Its queue runs in steps: each step admits texts that wait, if there are
// places, and gives each text its next token. What was generated goes to the network's thread piece by piece.
#ifndef HOLO_SERVE_SPEAK_H
#define HOLO_SERVE_SPEAK_H

#include "model.h"

#include "hologram_text.h"

typedef struct Talk Talk;

typedef struct TalkBest { // one of the most probable tokens
    char    *bytes;
    size_t   size;
    float    logprob;
    uint32_t token;
} TalkBest;

typedef struct TalkPiece { // what one token added
    Talk     *talk;
    uint32_t  token; // UINT32_MAX: no token, but text that was held back
    char     *text;  // whole characters, and no part of a stop string
    size_t    size;
    TalkBest  own; // with logprobs: its bytes
    TalkBest *best;
    size_t    best_count;
} TalkPiece;

struct Talk {
    Job       job; // first
    Model    *model;
    Exchange *exchange; // held
    Timer     timer;
    bool      is_given_up;
    void     *state; // of the protocol

    // What is asked for. Set before it starts; everything is freed with it.
    char              *prompt; // text; or `context`, from which the chat template makes it; or `ids`
    size_t             prompt_size;
    char              *context;
    bool               is_raw; // the prompt has its special tokens already
    uint32_t          *ids;    // allocated by malloc
    size_t             id_count;
    HoloSamplerOptions sampler;    // fields that `changes` names replace those of the model
    uint32_t           changes;    // TALK_...
    uint32_t           max_tokens; // 0: until the end
    HoloString        *stops;      // allocated; their texts, too
    size_t             stop_count;
    HoloTokenBias     *bias;
    size_t             bias_count;
    char              *grammar; // text; NULL: none
    HoloGrammarSource  grammar_source;
    bool               keep_ends;
    bool               is_too_long;           // its prompt is longer than the model's context
    bool (*alone)(Talk *t, HoloError *error); // other work: true if it is done, else `error`. NULL: a text

    // What came of it.
    HoloGenerateResult result;
    double             first_time; // when its first token came
    HoloGrammar       *compiled;
    HoloAnswer        *answer; // of a model that continues one text at a time
    uint64_t           id;     // in the batch of the others
    uint64_t           runs, rows;
    Talk              *next;

    void (*piece)(Talk *t, const TalkPiece *piece); // on the network's thread; may be NULL
    void (*done)(Talk *t);                          // it has ended: job.status says how. Answer, but do not free it
    void (*fail)(Talk *t, int status, const char *text);
    void (*end)(Talk *t); // frees `state`
};

enum { // what of `sampler` was asked for
    TALK_TEMPERATURE = 1,
    TALK_TOP_P       = 2,
    TALK_TOP_K       = 4,
    TALK_MIN_P       = 8,
    TALK_PRESENCE    = 16,
    TALK_FREQUENCY   = 32,
    TALK_REPETITION  = 64,
};

Talk *talk_create(Exchange *e, Model *model); // takes over one hold of the model
void  talk_start(Talk *t);                    // from then on it belongs to the schedule
void  talk_free(Talk *t);
void  talk_cancel(Talk *t);

void speaker_interrupt(Model *m); // ends a step that is in progress: somebody is cancelled

// For `alone`, on a worker: the language model, opened if it is not yet.
HoloLanguage *talk_language(Talk *t, HoloError *error);

#endif
