// hologram_text.h - text: tokenizers, chat templates, the choice of the next token, grammars, and language models that
// generate text. The functions are in the compiler's library.
//
// A HoloTokenizer turns text into the numbers that a language model reads, and back. It never changes: all threads may
// share it and use it at once. Text is UTF-8; invalid bytes are read as the replacement character U+FFFD. A HoloSampler
// chooses tokens from the logits of a model. A HoloGrammar says which tokens may come next.
//
// Errors are reported as in hologram.h. Functions that close accept NULL.
#ifndef HOLOGRAM_TEXT_H
#define HOLOGRAM_TEXT_H

#include "hologram.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HoloTokenizer HoloTokenizer;

// Compiles a tokenizer of another format and opens it: `path` is a tokenizer.json of HuggingFace, a tokenizer.model of
// SentencePiece, a vocab.json with merges.txt beside it, a vocab.txt, a GGUF file, or a folder that has one of these.
// The ids are the same as in the library that the format comes from.
HOLO_API HOLO_MUST HoloStatus holo_tokenizer_compile(const char *path, HoloTokenizer **out_tokenizer, HoloError *error);
// Opens a compiled tokenizer in memory, as holo_tokenizer_block gives it. Checks all of it. The bytes are copied.
HOLO_API HOLO_MUST HoloStatus holo_tokenizer_open_memory(const void *block, size_t size, HoloTokenizer **out_tokenizer,
                                                         HoloError *error);
HOLO_API void                 holo_tokenizer_close(HoloTokenizer *tokenizer);
// The compiled form: `*out_size` bytes, which live as long as the tokenizer.
HOLO_API const void *holo_tokenizer_block(const HoloTokenizer *tokenizer, size_t *out_size);

// Options of encoding and decoding. Add them up.
enum {
    HOLO_TEXT_SPECIAL = 1, // encode: add the special tokens that the model expects around a text.
                           // decode: write special tokens, too
};

// Encodes `size` bytes of text. `*out_ids` gets `*out_count` ids, which you free with holo_ids_free.
HOLO_API HOLO_MUST HoloStatus holo_tokenizer_encode(HoloTokenizer *tokenizer, const char *text, size_t size,
                                                    uint32_t flags, uint32_t **out_ids, size_t *out_count,
                                                    HoloError *error);
HOLO_API void                 holo_ids_free(uint32_t *ids);
// Decodes ids. `*out_text` gets the text, with a 0 byte behind its `*out_size` bytes; free it with holo_text_free.
// Unknown ids are skipped.
HOLO_API HOLO_MUST HoloStatus holo_tokenizer_decode(HoloTokenizer *tokenizer, const uint32_t *ids, size_t count,
                                                    uint32_t flags, char **out_text, size_t *out_size,
                                                    HoloError *error);
HOLO_API void                 holo_text_free(char *text);

// Ids are below this number. Some of them may be no token.
HOLO_API uint32_t holo_tokenizer_count(const HoloTokenizer *tokenizer);
// The text of a token as the vocabulary has it (not 0-terminated); its data is NULL if there is no such token. It lives as
// long as the tokenizer.
HOLO_API HoloString holo_tokenizer_token(const HoloTokenizer *tokenizer, uint32_t id);
HOLO_API bool       holo_tokenizer_is_special(const HoloTokenizer *tokenizer, uint32_t id);
// The id of a token by its text. False: there is none.
HOLO_API bool holo_tokenizer_find(const HoloTokenizer *tokenizer, const char *text, size_t size, uint32_t *out_id);

// ---- text that arrives token by token

// Decodes ids one after the other. Text comes out as soon as its characters are complete.
typedef struct HoloTextStream HoloTextStream;

// The tokenizer must outlive the stream. Flags as for holo_tokenizer_decode.
HOLO_API HOLO_MUST HoloStatus holo_text_stream_create(HoloTokenizer *tokenizer, uint32_t flags,
                                                      HoloTextStream **out_stream, HoloError *error);
HOLO_API void                 holo_text_stream_destroy(HoloTextStream *stream);
// Adds a token. `*out_text` is the new text that is now complete, which may be empty. It lives until the next call.
HOLO_API HOLO_MUST HoloStatus holo_text_stream_add(HoloTextStream *stream, uint32_t id, HoloString *out_text,
                                                   HoloError *error);
// Gives the rest at the end: bytes of characters that never became complete.
HOLO_API HOLO_MUST HoloStatus holo_text_stream_end(HoloTextStream *stream, HoloString *out_text, HoloError *error);

// ---- the bytes of tokens

// The bytes that a token adds in the middle of a text: none if it is special or there is no such token. `*out_bytes` gets
// `*out_size` bytes, which you free with holo_text_free. They may be a part of a character.
HOLO_API HOLO_MUST HoloStatus holo_tokenizer_token_bytes(HoloTokenizer *tokenizer, uint32_t id, char **out_bytes,
                                                         size_t *out_size, HoloError *error);

// ---- stop strings

// Watches text that arrives in pieces for strings that end it.
typedef struct HoloStopper HoloStopper;

// The strings are copied. There may be at most 64 of at most 4096 bytes, none of them empty.
HOLO_API HOLO_MUST HoloStatus holo_stopper_create(const HoloString *strings, size_t count, HoloStopper **out_stopper,
                                                  HoloError *error);
HOLO_API void                 holo_stopper_destroy(HoloStopper *stopper);
// Adds text. `*out_text` is what may be shown now: text that could be the beginning of a stop string is held back. It
// lives until the next call. `*out_stop` is the number of the stop string that was found, or -1. The first complete one
// counts; if several end at the same place, the longest. After it, nothing more is shown until the stopper is reset.
HOLO_API HOLO_MUST HoloStatus holo_stopper_add(HoloStopper *stopper, const char *text, size_t size,
                                               HoloString *out_text, int *out_stop, HoloError *error);
// Gives the text that was held back, at the end of the text, and resets the stopper.
HOLO_API HoloString holo_stopper_end(HoloStopper *stopper);
HOLO_API void       holo_stopper_reset(HoloStopper *stopper);

// ---- choosing the next token

typedef struct HoloTokenBias {
    uint32_t token;
    float    value; // added to the logit
} HoloTokenBias;

// How tokens are chosen. The steps are done in this order: penalties, bias, banned tokens, temperature, top_k, top_p,
// min_p, typical_p. Call holo_sampler_defaults first, then change what you like.
typedef struct HoloSamplerOptions {
    size_t   size;            // of this struct, as holo_sampler_defaults sets it
    uint64_t seed;            // the same seed gives the same tokens, on every machine
    float    temperature;     // 0: always the token with the largest logit, the first of equal ones
    uint32_t top_k;           // this many tokens of the largest logits remain; 0: all
    float    top_p;           // the fewest tokens whose probabilities add up to this remain; 1: all
    float    min_p;           // tokens remain that are this probable, relative to the most probable one; 0: all
    float    typical_p;       // like top_p, in order of how near to the expected information a token is; 1: all
    float repetition_penalty; // of tokens that occurred: a positive logit is divided by it, others multiplied; 1: none
    float presence_penalty;   // subtracted once from tokens that were accepted; 0: none
    float frequency_penalty;  // subtracted as often as they were; 0: none
    uint32_t             penalty_window;  // penalties look at this many of the last tokens; 0: all
    uint32_t             no_repeat_ngram; // no n tokens in a row occur twice; 0: they may
    uint32_t             min_tokens;      // no end token before this many tokens are accepted
    const uint32_t      *end_tokens;
    size_t               end_token_count;
    const HoloTokenBias *bias;
    size_t               bias_count;
    const uint32_t      *banned;
    size_t               banned_count;
    bool                 logprobs; // compute log-probabilities
    uint32_t             best;     // with logprobs: also of this many of the most probable tokens, at most 1000
} HoloSamplerOptions;

typedef struct HoloTokenLogprob {
    uint32_t token;
    float    logprob; // natural logarithm
} HoloTokenLogprob;

typedef struct HoloSampled {
    uint32_t                token;
    float                   logprob; // as the model has it: of the logits as they were given. 0 without `logprobs`
    const HoloTokenLogprob *best;    // the most probable first; they live until the next call
    size_t                  best_count;
} HoloSampled;

// Chooses tokens, and remembers those that were accepted. One thread uses it at a time.
typedef struct HoloSampler HoloSampler;

HOLO_API void holo_sampler_defaults(HoloSamplerOptions *out_options); // temperature 1, and nothing else
// `vocabulary` is the number of logits. Options may be NULL: the defaults. Everything that they point to is copied.
HOLO_API HOLO_MUST HoloStatus holo_sampler_create(const HoloSamplerOptions *options, uint32_t vocabulary,
                                                  HoloSampler **out_sampler, HoloError *error);
HOLO_API void                 holo_sampler_destroy(HoloSampler *sampler);
// A copy with its state. Copies of different `stream` numbers draw different random numbers. A sampler that was created
// has stream 0.
HOLO_API HOLO_MUST HoloStatus holo_sampler_fork(const HoloSampler *sampler, uint64_t stream, HoloSampler **out_sampler,
                                                HoloError *error);
HOLO_API void                 holo_sampler_reset(HoloSampler *sampler); // forgets all tokens
// Tokens of the prompt: they count only for repetition_penalty and no_repeat_ngram.
HOLO_API HOLO_MUST HoloStatus holo_sampler_accept_prompt(HoloSampler *sampler, const uint32_t *ids, size_t count,
                                                         HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_sampler_accept(HoloSampler *sampler, uint32_t token, HoloError *error);
// Chooses the next token, which you then accept. The choice depends only on the logits, the accepted tokens and the
// seed: a second call chooses the same token. `mask` has a bit for each token that is allowed
// (holo_grammar_state_mask); NULL: all are. HOLO_BAD_INPUT: no token is left.
HOLO_API HOLO_MUST HoloStatus holo_sampler_choose(HoloSampler *sampler, const float *logits, const uint64_t *mask,
                                                  HoloSampled *out_sampled, HoloError *error);

// ---- grammars

typedef enum HoloGrammarSource {
    HOLO_GRAMMAR_GBNF        = 0, // rules as llama.cpp has them
    HOLO_GRAMMAR_REGEX       = 1, // a regular expression, which the whole text must match
    HOLO_GRAMMAR_JSON_SCHEMA = 2, // the text is JSON that fits the schema; properties are in the order of the schema
} HoloGrammarSource;

typedef enum HoloGrammarSpaces { // where JSON may have white space
    HOLO_SPACES_SOME = 0,        // one space behind each comma and colon, or none
    HOLO_SPACES_NONE = 1,
    HOLO_SPACES_ANY  = 2, // everywhere, any number
} HoloGrammarSpaces;

// A grammar: what a text must look like. All threads may share it.
typedef struct HoloGrammar HoloGrammar;

// Compiles a grammar and opens it. An unsupported construct is an error that says where it is.
HOLO_API HOLO_MUST HoloStatus holo_grammar_compile(HoloGrammarSource source, const char *text, size_t size,
                                                   HoloGrammarSpaces spaces, HoloGrammar **out_grammar,
                                                   HoloError *error);
// Opens a compiled grammar in memory, as holo_grammar_block gives it. Checks all of it. The bytes are copied.
HOLO_API HOLO_MUST HoloStatus holo_grammar_open_memory(const void *block, size_t size, HoloGrammar **out_grammar,
                                                       HoloError *error);
HOLO_API void                 holo_grammar_close(HoloGrammar *grammar); // after all of its states are destroyed
// The compiled form: `*out_size` bytes, which live as long as the grammar.
HOLO_API const void *holo_grammar_block(const HoloGrammar *grammar, size_t *out_size);

// The bytes of all tokens, in the order that masks need. It never changes: all grammars may share it.
typedef struct HoloTokenTree HoloTokenTree;

// `ends` are the tokens that end a text. They are allowed exactly where the grammar may end.
HOLO_API HOLO_MUST HoloStatus holo_token_tree_create(HoloTokenizer *tokenizer, const uint32_t *ends, size_t end_count,
                                                     HoloTokenTree **out_tree, HoloError *error);
// The same for a vocabulary without a HoloTokenizer: the bytes of each id. A token without bytes is never allowed.
HOLO_API HOLO_MUST HoloStatus holo_token_tree_create_from(const HoloString *tokens, uint32_t count,
                                                          const uint32_t *ends, size_t end_count,
                                                          HoloTokenTree **out_tree, HoloError *error);
HOLO_API void                 holo_token_tree_destroy(HoloTokenTree *tree);

// The vocabulary whose tokens the states of the grammar accept. Set it before the first state is created. The tree must
// outlive the grammar. A grammar without one accepts only bytes.
HOLO_API HOLO_MUST HoloStatus holo_grammar_set_tokens(HoloGrammar *grammar, const HoloTokenTree *tree,
                                                      HoloError *error);

// The state after a text that matches the grammar so far. One thread uses it at a time.
typedef struct HoloGrammarState HoloGrammarState;

HOLO_API HOLO_MUST HoloStatus holo_grammar_state_create(HoloGrammar *grammar, HoloGrammarState **out_state,
                                                        HoloError *error);
HOLO_API void                 holo_grammar_state_destroy(HoloGrammarState *state);
HOLO_API HOLO_MUST HoloStatus holo_grammar_state_copy(const HoloGrammarState *state, HoloGrammarState **out_state,
                                                      HoloError *error);
HOLO_API void                 holo_grammar_state_reset(HoloGrammarState *state); // to the beginning of the text
// HOLO_BAD_INPUT: the token, or a byte, does not fit. Then the state is as before. `*out_fit` is how many bytes fit.
HOLO_API HOLO_MUST HoloStatus holo_grammar_state_accept(HoloGrammarState *state, uint32_t token, HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_grammar_state_accept_bytes(HoloGrammarState *state, const char *bytes, size_t size,
                                                              size_t *out_fit, HoloError *error);
HOLO_API bool                 holo_grammar_state_is_complete(const HoloGrammarState *state); // the text may end here
// Sets the bit of each token that may come next: bit id % 64 of word id / 64, for all tokens of the tree. `*out_count`
// is how many there are. HOLO_BAD_INPUT: there are none, and the message shows the end of the text so far.
HOLO_API HOLO_MUST HoloStatus holo_grammar_state_mask(HoloGrammarState *state, uint64_t *out_mask, uint32_t *out_count,
                                                      HoloError *error);
// The bytes that must come next, if there is only one way to continue. Returns how many there are, at most `room`.
HOLO_API size_t holo_grammar_state_forced(HoloGrammarState *state, char *out_bytes, size_t room);
// Sets the logits of tokens that are not allowed to minus infinity.
HOLO_API void holo_mask_apply(const uint64_t *mask, uint32_t count, float *logits);

// ---- language models

// A language model: it gives a logit for each token of its vocabulary; the larger it is, the more likely the token
// comes next. It has a session of the model, and keeps what it has read of several texts. One thread uses it at a time.
typedef struct HoloLanguage HoloLanguage;

typedef struct HoloLanguageOptions {
    size_t  size;    // sizeof(HoloLanguageOptions): later versions may add fields
    int     texts;   // how many texts it keeps at once; 0: one
    int64_t context; // the most tokens of a text; 0: as many as the model was made for
    int     chunk;   // tokens of a prompt that are read in one run; 0: 512
} HoloLanguageOptions;

// `model` and `pool` must outlive it; `pool` may be NULL: the calling thread alone. Options may be NULL.
// HOLO_UNSUPPORTED: the model is not a language model, and the message says what it lacks.
HOLO_API HOLO_MUST HoloStatus holo_language_open(const HoloModel *model, HoloPool *pool,
                                                 const HoloLanguageOptions *options, HoloLanguage **out_language,
                                                 HoloError *error);
HOLO_API void                 holo_language_close(HoloLanguage *language);
// The tokenizer of the archive; NULL: it has none.
HOLO_API HoloTokenizer *holo_language_tokenizer(const HoloLanguage *language);
// The number of logits, or 0 before the first run of a model that does not fix it.
HOLO_API uint32_t holo_language_vocabulary(const HoloLanguage *language);
HOLO_API int64_t  holo_language_context(const HoloLanguage *language); // 0: there is no limit
// The tokens that end a text, and how many they are. They live as long as the language model.
HOLO_API const uint32_t *holo_language_ends(const HoloLanguage *language, size_t *out_count);
// The model's own sampling settings. Those that it does not have are as holo_sampler_defaults sets them.
HOLO_API void holo_language_sampler(const HoloLanguage *language, HoloSamplerOptions *out_options);

// Gives the logits after the tokens of text `text` (0: the first). The part that was read before is not computed again.
// The logits live until the next call.
HOLO_API HOLO_MUST HoloStatus holo_language_read(HoloLanguage *language, int text, const uint32_t *tokens, size_t count,
                                                 const float **out_logits, HoloError *error);
// Gives the token with the largest logit, the first of equal ones. On a device, only that token is brought to the host.
HOLO_API HOLO_MUST HoloStatus holo_language_read_choice(HoloLanguage *language, int text, const uint32_t *tokens,
                                                        size_t count, uint32_t *out_token, HoloError *error);
// The same after each of the last `wanted` tokens: `wanted` times holo_language_vocabulary numbers.
HOLO_API HOLO_MUST HoloStatus holo_language_read_last(HoloLanguage *language, int text, const uint32_t *tokens,
                                                      size_t count, size_t wanted, const float **out_logits,
                                                      HoloError *error);

typedef struct HoloTextRead { // one of several texts that are read together
    int             text;     // its number: each once
    const uint32_t *tokens;
    size_t          count;
    const float    *logits; // filled in; they live until the next call
} HoloTextRead;
// Reads several texts at once. Those that are one token longer than before share one run, which reads the weights once.
HOLO_API HOLO_MUST HoloStatus holo_language_read_all(HoloLanguage *language, HoloTextRead *reads, int count,
                                                     HoloError *error);
// Makes text `to` a copy of what was read of text `from`: a common beginning is then not computed twice.
HOLO_API HOLO_MUST HoloStatus holo_language_copy(HoloLanguage *language, int from, int to, HoloError *error);
// Writes the cache of a text to a file, and loads it again, so that the text need not be read again. The file works
// only with the same archive, or with one that was made in the same way from the same model. Any other file, or a
// damaged one, is HOLO_BAD_INPUT. After holo_language_load, holo_language_read computes only what follows the text of
// the file.
HOLO_API HOLO_MUST HoloStatus holo_language_save(HoloLanguage *language, int text, const char *path, HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_language_load(HoloLanguage *language, int text, const char *path, HoloError *error);
// Forgets what was read of a text.
HOLO_API void holo_language_forget(HoloLanguage *language, int text);
// Asks a read in progress to stop. Any thread may call it. The read returns HOLO_CANCELLED.
HOLO_API void holo_language_cancel(HoloLanguage *language);

// Some models have an encoder and a decoder: translators, summarizers, speech to text. The encoder reads a source, and
// the decoder generates the answer.
HOLO_API bool holo_language_has_source(const HoloLanguage *language);
// Reads a source: i64 ids, [1, tokens]; or features of a sound, as the model's entry `encoder` takes them. Forgets the texts
// that answered another: all texts of the language model answer the same source.
HOLO_API HOLO_MUST HoloStatus holo_language_set_source(HoloLanguage *language, const HoloTensor *source,
                                                       HoloError *error);

// ---- generating text

typedef enum HoloEnding {
    HOLO_ENDING_LENGTH  = 0, // max_tokens, or the end of the context
    HOLO_ENDING_END     = 1, // a token that ends the text
    HOLO_ENDING_STOP    = 2, // a stop string
    HOLO_ENDING_ASKED   = 3, // the callback asked for it
    HOLO_ENDING_GRAMMAR = 4, // the grammar allows nothing more
} HoloEnding;

typedef enum HoloBeamStop { // when a beam search has enough answers
    HOLO_BEAMS_LIKELY = 0,  // no text that is left is likely to become better than the worst of them
    HOLO_BEAMS_FIRST  = 1,  // as soon as there are as many as beams
    HOLO_BEAMS_NEVER  = 2,  // no text that is left can become better
} HoloBeamStop;

typedef struct HoloGenerateOptions {
    size_t             size;       // sizeof(HoloGenerateOptions), as holo_generate_defaults sets it
    int                text;       // the number of the text
    uint32_t           max_tokens; // 0: until the model ends the text or the context is full
    HoloSamplerOptions sampler;
    const HoloString  *stops; // strings that end the text; they are not part of it
    size_t             stop_count;
    HoloGrammar       *grammar;   // what the text must look like; NULL: anything
    bool               keep_ends; // go on behind tokens that end the text
    uint32_t lookup; // guess this many tokens from what the text already has, and check them in one run; 0: none
    // Beam search: this many texts grow at once, and the one with the best score is the answer; 0 or 1: none. Tokens are not drawn,
    // and all come at the end. The language model must keep as many texts, and `text` is 0.
    uint32_t     beams;
    float        length_penalty; // scores are divided by the length to this power; 1 unless the model says otherwise
    HoloBeamStop beam_stop;
} HoloGenerateOptions;

typedef struct HoloGenerated {
    uint32_t    token;
    HoloString  text; // what may be shown now: whole characters, and no beginning of a stop string. May be empty
    HoloSampled sampled;
} HoloGenerated;
// Called for each token. The views live during the call. False ends the text.
typedef bool (*HoloGenerateFn)(void *state, const HoloGenerated *generated);

typedef struct HoloGenerateResult {
    size_t     prompt_tokens, cached_tokens; // of the prompt; and how many of them did not have to be read
    size_t     tokens;                       // generated
    HoloEnding finish;
    int        stop; // the number of the stop string; -1: none
    double     prompt_seconds, seconds;
    size_t     guessed, right; // with lookup
} HoloGenerateResult;

// The model's own settings (holo_language_sampler), and no limit.
HOLO_API void holo_generate_defaults(const HoloLanguage *language, HoloGenerateOptions *out_options);
// Continues a prompt, one token after the other. If the model has an encoder, the prompt is the source, and the tokens
// are the answer. Options may be NULL. `out_result` may be NULL.
HOLO_API HOLO_MUST HoloStatus holo_generate(HoloLanguage *language, const uint32_t *prompt, size_t count,
                                            const HoloGenerateOptions *options, HoloGenerateFn each, void *state,
                                            HoloGenerateResult *out_result, HoloError *error);

// An answer does the same step by step, for callers that do something else between steps. It uses the language model
// and everything that the options point to until it is destroyed. One thread uses it at a time.
typedef struct HoloAnswer HoloAnswer;

// `language` must outlive it. Options may be NULL.
HOLO_API HOLO_MUST HoloStatus holo_answer_create(HoloLanguage *language, const uint32_t *prompt, size_t count,
                                                 const HoloGenerateOptions *options, HoloAnswer **out_answer,
                                                 HoloError *error);
HOLO_API void                 holo_answer_destroy(HoloAnswer *answer);
// Runs the model once and gives the new tokens: one, or several with lookup. `*out_done` says whether the text has
// ended; `out_result` may be NULL. After HOLO_CANCELLED you can try the same step again.
HOLO_API HOLO_MUST HoloStatus holo_answer_step(HoloAnswer *answer, HoloGenerateFn each, void *state, bool *out_done,
                                               HoloGenerateResult *out_result, HoloError *error);

// ---- several texts at once

// A batch generates several texts with one model: a step runs the next token of each of them together, for which the weights
// are read once. Texts join and leave between steps. Each gets the tokens that holo_generate gives it alone. What is kept of
// texts that ended serves others that begin alike, and so does what is kept of texts that are generated.
//
// One thread uses a batch at a time, its owner. Callbacks are called by holo_text_batch_step and holo_text_batch_destroy
// alone; they may add texts and cancel some, and must not call these two.
typedef struct HoloTextBatch HoloTextBatch;

typedef struct HoloTextBatchOptions {
    size_t  size;    // sizeof(HoloTextBatchOptions): later versions may add fields
    int     places;  // texts that are generated at once; 0: 8. Others wait for a place
    int     waiting; // how many may wait; 0: any number
    int64_t context; // the most tokens of a text; 0: as many as the model was made for
    size_t
        memory; // bytes that may be kept of all texts; 0: any. All places have the same share, so it limits the context
    int chunk;  // tokens of prompts that a step reads while other texts are generated; 0: 64
} HoloTextBatchOptions;

typedef struct HoloTextEnded { // a text that is not generated any more
    uint64_t           id;
    HoloStatus         status;  // HOLO_OK: `result` says why it ended. HOLO_CANCELLED: somebody asked for it
    const char        *message; // of a failure; else "". It lives during the call
    HoloGenerateResult result;
} HoloTextEnded;
// Called once for each text.
typedef void (*HoloTextEndFn)(void *state, const HoloTextEnded *ended);

// `model` and `pool` must outlive it; `pool` may be NULL: the calling thread alone. Options may be NULL. HOLO_UNSUPPORTED:
// the model does not continue texts, or cannot keep several of them apart; the message says why.
HOLO_API HOLO_MUST HoloStatus holo_text_batch_create(const HoloModel *model, HoloPool *pool,
                                                     const HoloTextBatchOptions *options, HoloTextBatch **out_batch,
                                                     HoloError *error);
// Ends the texts that are left as HOLO_CANCELLED.
HOLO_API void holo_text_batch_destroy(HoloTextBatch *batch);
// The language model of the batch, for its tokenizer, its settings and holo_generate_defaults. Do not read with it, and do not
// close it. holo_language_cancel has a step in progress return HOLO_CANCELLED; the next step goes on.
HOLO_API HoloLanguage *holo_text_batch_language(const HoloTextBatch *batch);
// Adds a text that continues a prompt; the next steps generate it. Options may be NULL; their `text` has no meaning here, and
// what they point to is copied, but for the grammar, which must outlive the text. There is no beam search in a batch.
// `each` is called for each token and `ended` at the end, both with `state`; `ended` may be NULL. HOLO_BUSY: too many texts wait.
HOLO_API HOLO_MUST HoloStatus holo_text_batch_add(HoloTextBatch *batch, const uint32_t *prompt, size_t count,
                                                  const HoloGenerateOptions *options, HoloGenerateFn each,
                                                  HoloTextEndFn ended, void *state, uint64_t *out_id, HoloError *error);
// Ends a text with the next step. False: there is none of that id.
HOLO_API bool holo_text_batch_cancel(HoloTextBatch *batch, uint64_t id);
// One step of all texts: the next token of each that is generated, and a piece of a prompt. `*out_left` is how many texts are
// left. A failure of one text ends that text alone; a failure of the step leaves all of them as they are.
HOLO_API HOLO_MUST HoloStatus holo_text_batch_step(HoloTextBatch *batch, int *out_left, HoloError *error);

typedef struct HoloTextBatchState {
    int      places, waiting, reading, generating; // texts, by what becomes of them
    int64_t  context;                              // the most tokens of a text
    size_t   kept_tokens;                          // of all places
    size_t   bytes;                                // that these take
    uint64_t prompt_tokens, cached_tokens;         // of all prompts so far; and how many did not have to be read
    uint64_t tokens;                               // generated so far
    uint64_t runs,
        rows; // of the model for generated tokens, and the texts in them: rows / runs is the mean size of a batch
} HoloTextBatchState;
HOLO_API void holo_text_batch_state(const HoloTextBatch *batch, HoloTextBatchState *out_state);

// ---- speech to text

// Reads a WAV file: PCM of 8 to 32 bits or floats, any rate, and any number of channels, which are mixed. `rate` is how
// many samples per second you want; 0: as many as the file has. Free the samples with holo_samples_free.
HOLO_API HOLO_MUST HoloStatus holo_sound_read(const char *path, int rate, float **out_samples, size_t *out_count,
                                              HoloError *error);
HOLO_API HOLO_MUST HoloStatus holo_sound_read_memory(const void *bytes, size_t size, int rate, float **out_samples,
                                                     size_t *out_count, HoloError *error);
HOLO_API void                 holo_samples_free(float *samples);

// How many samples per second a speech model needs; 0: it is not a speech model.
HOLO_API int holo_language_rate(const HoloLanguage *language);

typedef struct HoloTranscribeOptions {
    size_t      size;       // sizeof(HoloTranscribeOptions)
    const char *language;   // that is spoken, as a code such as "en"; NULL: the model finds out
    bool        translate;  // write it down in English
    bool        timestamps; // say when each piece is spoken; long sounds are always cut into pieces
} HoloTranscribeOptions;

typedef struct HoloSpoken { // a piece of what is said
    double     begin, end;  // in seconds; without timestamps those of a window
    HoloString text;        // lives during the call
} HoloSpoken;
// Called for each piece. False ends it.
typedef bool (*HoloSpokenFn)(void *state, const HoloSpoken *spoken);

typedef struct HoloTranscribeResult {
    char   language[16]; // its code; "": the model knows one language
    size_t tokens;
    int    windows;
    double sound_seconds, seconds; // of the sound, and that it took
} HoloTranscribeResult;

// Turns the speech in a sound into text, with a Whisper model. The samples are at holo_language_rate. Options and
// `out_result` may be NULL.
HOLO_API HOLO_MUST HoloStatus holo_transcribe(HoloLanguage *language, const float *samples, size_t count,
                                              const HoloTranscribeOptions *options, HoloSpokenFn each, void *state,
                                              HoloTranscribeResult *out_result, HoloError *error);

// ---- vectors and labels

// A HoloReader runs a model on texts, or on pictures, one at a time: for their vectors, which are near to each other for texts
// of similar meaning if the model was trained for that, or for their labels. It has a session of the model. One thread uses
// it at a time.
typedef struct HoloReader HoloReader;

typedef struct HoloReaderOptions {
    size_t  size;       // sizeof(HoloReaderOptions)
    int64_t max_length; // texts are cut to this many tokens; 0: to as many as the model takes
    const char *
        pooling; // how vectors of tokens become one: mean, cls, max, last, mean_sqrt or weighted; several, with commas, are
                 // put behind each other. NULL: as the model says; else mean, or last for a model that generates text
    int normalize; // 1: vectors get length 1; -1: they stay as they are; 0: as the model says
} HoloReaderOptions;

// `model` and `pool` must outlive it; `pool` may be NULL: the calling thread alone. Options may be NULL.
HOLO_API HOLO_MUST HoloStatus holo_reader_create(const HoloModel *model, HoloPool *pool,
                                                 const HoloReaderOptions *options, HoloReader **out_reader,
                                                 HoloError *error);
HOLO_API void                 holo_reader_destroy(HoloReader *reader);
HOLO_API bool holo_reader_sees(const HoloReader *reader); // does the model read pictures, and nothing else?
// Asks a run in progress to stop. Any thread may call it. The call returns HOLO_CANCELLED.
HOLO_API void holo_reader_cancel(HoloReader *reader);

typedef struct HoloEmbedding { // the vector of a text
    const float *vector;       // it lives until the next call with the reader
    size_t       size;
    size_t       tokens;  // of the text
    const char  *pooling; // how it was made; NULL: the model did it
    bool         is_normalized;
} HoloEmbedding;

// HOLO_UNSUPPORTED: the model has no tokenizer or gives no vectors, and the message says which.
HOLO_API HOLO_MUST HoloStatus holo_embed(HoloReader *reader, const char *text, size_t size,
                                         HoloEmbedding *out_embedding, HoloError *error);

typedef enum HoloLabelKind {
    HOLO_LABELS_ONE     = 0, // one label is right: scores are probabilities that add up to 1
    HOLO_LABELS_SEVERAL = 1, // several may be right: each score is a probability
    HOLO_LABELS_NUMBERS = 2, // scores are any numbers, as the model gives them
} HoloLabelKind;

typedef struct HoloLabel {
    HoloString name; // "LABEL_3" if the model has no name for it
    int64_t    id;
    double     score;
    HoloString token; // that it is of, as the vocabulary has it; its data is NULL if the label is of the whole
} HoloLabel;

typedef struct HoloLabels { // what a model says of a text or a picture
    const HoloLabel *
        label; // all labels, the best first; or the best label of each token of the text. They live until the next call
    size_t        count;
    HoloLabelKind kind;
    bool          is_of_tokens;
} HoloLabels;

// HOLO_UNSUPPORTED: the model has no tokenizer or gives no scores, and the message says which.
HOLO_API HOLO_MUST HoloStatus holo_classify(HoloReader *reader, const char *text, size_t size, HoloLabels *out_labels,
                                            HoloError *error);
// The same for the picture in a file, which is prepared as the model says; if it says nothing, the picture is resized to what
// the model reads, with channels as its input has them and numbers from 0 to 1.
HOLO_API HOLO_MUST HoloStatus holo_classify_picture(HoloReader *reader, const char *path, HoloLabels *out_labels,
                                                    HoloError *error);
// The same for a picture that is prepared: the input of the model.
HOLO_API HOLO_MUST HoloStatus holo_classify_tensor(HoloReader *reader, const HoloTensor *picture,
                                                   HoloLabels *out_labels, HoloError *error);

// ---- chat templates

// A HoloTemplate turns a list of messages into the text that a language model was trained on. It is written in the part
// of the Jinja language that chat templates use, and renders as in HuggingFace's library. A template may come from a
// stranger: it reads only the variables that it is given, and its time and memory are limited. It never changes: all
// threads may share it and use it at once.
typedef struct HoloTemplate HoloTemplate;

// Reads a template and compiles it: `path` is a file of template text, or a HuggingFace folder. A folder's template
// comes from chat_template.jinja or tokenizer_config.json, and the special tokens (bos_token, eos_token ...) of the
// latter become variables. `name` chooses one of several templates in a folder, such as "tool_use"; NULL: the default
// one.
HOLO_API HOLO_MUST HoloStatus holo_template_compile(const char *path, const char *name, HoloTemplate **out_template,
                                                    HoloError *error);
// Compiles `size` bytes of template text. `variables` is a JSON object with values that a context may override, of
// `variables_size` bytes; NULL and 0: none.
HOLO_API HOLO_MUST HoloStatus holo_template_compile_text(const char *text, size_t size, const char *variables,
                                                         size_t variables_size, HoloTemplate **out_template,
                                                         HoloError *error);
// Opens a compiled template in memory, as holo_template_block gives it. Checks all of it. The bytes are copied.
HOLO_API HOLO_MUST HoloStatus holo_template_open_memory(const void *block, size_t size, HoloTemplate **out_template,
                                                        HoloError *error);
HOLO_API void                 holo_template_close(HoloTemplate *template_);
// The compiled form: `*out_size` bytes, which live as long as the template.
HOLO_API const void *holo_template_block(const HoloTemplate *template_, size_t *out_size);
// Renders a template. The context is a JSON object with its variables: messages, tools, add_generation_prompt ...
// `*out_text` gets the text, with a 0 byte behind its `*out_size` bytes; free it with holo_text_free.
HOLO_API HOLO_MUST HoloStatus holo_template_render(const HoloTemplate *template_, const char *context,
                                                   size_t context_size, char **out_text, size_t *out_size,
                                                   HoloError *error);

#ifdef __cplusplus
}
#endif

#endif
