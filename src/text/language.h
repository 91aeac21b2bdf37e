// language.h - a language model while it reads texts. See hologram_text.h for what it does.
//
// It knows a model by its inputs and outputs alone, through the public API. There are three ways to go on with a text:
// models with caches (cache_rows, cache_lengths) read new tokens only; models with past_key_values get what they gave as
// present; all others read the whole text again.
#ifndef HOLO_TEXT_LANGUAGE_H
#define HOLO_TEXT_LANGUAGE_H

#include "base/base.h"
#include "base/files.h"
#include "hologram_text.h"

typedef enum HoloLanguageWay { HOLO_READS_ALL, HOLO_READS_CACHED, HOLO_READS_PAST } HoloLanguageWay;

typedef struct HoloKeptText { // what was kept of a text, as bytes (language_kept.c)
    const char *bytes;        // NULL: none
    const char *token;        // u32 each
    size_t      count;        // of tokens
    uint32_t    states;
} HoloKeptText;

typedef struct HoloKnownText { // what was read of a text
    uint32_t    *token;
    size_t       count, room;
    HoloKeptText kept; // to be copied into its slot before the next run
    HoloMapping  file; // where it is
} HoloKnownText;

typedef struct HoloPastPair { // an input that gets what an output gave
    int        in, out;
    HoloTensor value; // its memory is the language model's
    size_t     room;
    bool       is_source; // it is kept of the encoder's source: the first run gives it
} HoloPastPair;

typedef struct HoloSourcePair { // an output of the encoder, and the input of the decoder that gets it
    int out, in;
} HoloSourcePair;

struct HoloLanguage {
    const HoloModel *model; // with an encoder: the entry decoder
    HoloSession     *session;
    HoloTokenizer   *tokenizer;
    HoloLanguageWay  way;
    int              ids, mask, rows, lengths, picks, positions, branch; // inputs; -1: there is none
    int              logits;                                             // an output
    int              choices;  // an output: the most likely tokens; -1: there is none
    bool             is_asked; // the next run is to give the choices alone
    const int64_t   *choice;   // that it gave
    HoloPastPair    *past;
    int              past_count;
    HoloKnownText   *text;
    int              text_count;
    int64_t          context; // of a text; 0: no limit
    size_t           restart; // a text that becomes longer than this is read again as a whole; 0: none is
    size_t           whole;   // a prompt that is longer than this is read in one run; 0: none is
    int64_t          room;    // of the caches now
    bool             has_caches;
    bool             is_whole; // it has states that know nothing of single tokens: what was read cannot be cut
    HoloKeptText     prefix;   // of the archive
    int              chunk;
    uint32_t         vocabulary;
    uint32_t        *end;
    size_t           end_count;
    int64_t         *number; // for inputs of a run
    size_t           number_room;
    float           *wide, *copy; // logits as f32, where the model has others; and those of several texts
    size_t           wide_room, copy_room;
    uint32_t        *banned; // tokens that are never chosen
    size_t           banned_count;
    const HoloModel *encoder; // the entry encoder; NULL: there is none (language_source.c)
    HoloSession     *encoder_session;
    int              source, source_mask, seen_mask; // inputs of the encoder, and the mask of the source of the decoder
    HoloSourcePair  *given;
    int              given_count;
    bool             has_source;  // one was read
    int64_t          source_rows; // texts that answer it in the last run
    char            *source_copy; // what the encoder gave, once for each of them
    size_t           source_copy_room;
    int64_t         *ones;
    HoloTensor       seen; // the mask of the source: `ones`
    HoloTokenTree   *tree; // of the tokenizer, for grammars; NULL until it is needed
};

// Runs the tokens behind what is known of `count` texts: `fresh` tokens of each, and gives the logits behind the last
// `wanted` of them. Remembers the tokens. If choices are asked for, it gives these, and logits of NULL.
HOLO_MUST HoloStatus holo_language_run(HoloLanguage *l, const HoloTextRead *reads, int count, size_t fresh,
                                       size_t wanted, const float **out_logits, HoloError *error);

// Does the model say the most likely tokens itself? holo_language_choose then reads as holo_language_read_last does, and gives
// these, `wanted` of them, without bringing the logits to the host.
bool                 holo_language_chooses(const HoloLanguage *l);
HOLO_MUST HoloStatus holo_language_choose(HoloLanguage *l, const HoloTextRead *read, size_t wanted,
                                          const int64_t **out_tokens, HoloError *error);

// If the model has the entries encoder and decoder, finds what they hand over, and continues texts with the decoder.
HOLO_MUST HoloStatus holo_language_source_find(HoloLanguage *l, HoloError *error);
// Has the decoder see the source in each of `rows` rows.
HOLO_MUST HoloStatus holo_language_source_repeat(HoloLanguage *l, int64_t rows, HoloError *error);
bool                 holo_language_source_fills(const HoloLanguage *l, int input); // of the decoder
HOLO_MUST HoloStatus holo_language_set_source_tokens(HoloLanguage *l, const uint32_t *tokens, size_t count,
                                                     HoloError *error);
void                 holo_language_source_close(HoloLanguage *l);

// ---- what was kept, as bytes

// The bytes of a row of state i: of a token, if it is a cache, which is the result; else of the slot; 0 if its sizes are not
// fixed.
bool holo_language_state(const HoloLanguage *l, int i, size_t *out_row);
// What a text with `tokens` tokens has of a state: its slot's first byte, and bytes. The inputs of a run must be set.
typedef struct HoloStatePart {
    size_t at, size, row; // row: as above
    bool   is_cache;
} HoloStatePart;
HOLO_MUST HoloStatus holo_language_state_part(HoloLanguage *l, int i, int text, size_t tokens, HoloStatePart *out,
                                              HoloError *error);
// Checks the bytes. They are borrowed. `is_own`: they are in the model's archive.
HOLO_MUST HoloStatus holo_kept_open(HoloLanguage *l, const void *bytes, size_t size, bool is_own, HoloKeptText *out,
                                    HoloError *error);
uint32_t             holo_kept_token(const HoloKeptText *kept, size_t i);
// The first `count` tokens become what is known of the text.
HOLO_MUST HoloStatus holo_known_set(HoloKnownText *known, const HoloKeptText *kept, size_t count, HoloError *error);
// Copies what is to be copied into the slot of the text. The inputs of the next run must be set.
HOLO_MUST HoloStatus holo_kept_apply(HoloLanguage *l, int text, HoloError *error);
void                 holo_kept_drop(HoloKnownText *known);
HOLO_MUST HoloStatus holo_kept_write(HoloLanguage *l, int text, bool is_own, HoloFileWriter *file, HoloError *error);

// Checks tokens that are to be read; and forgets what is known beyond their common beginning, and as much as has to be run again.
HOLO_MUST HoloStatus holo_language_prepare(HoloLanguage *l, const HoloTextRead *read, size_t wanted, HoloError *error);
// Makes text `to` a copy of the first `count` tokens that are known of text `from`, or of none if the model cannot cut them.
HOLO_MUST HoloStatus holo_language_copy_part(HoloLanguage *l, int from, int to, size_t count, HoloError *error);
// A number of the archive's metadata; `otherwise` if there is none.
double holo_language_number(const HoloLanguage *l, const char *key, double otherwise);
// How many tokens of a text are known and need not be read.
size_t holo_language_cached(const HoloLanguage *l, const HoloTextRead *read, size_t wanted);
// Makes an array of floats at least that long.
HOLO_MUST HoloStatus holo_floats_grow(float **floats, size_t *room, size_t count, HoloError *error);
// The first tokens that two texts have in common.
size_t holo_tokens_common(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count);

#endif
