// hologram_text.h - text: tokenizers. The functions are in the compiler's library.
//
// A HoloTokenizer turns text into the numbers that a language model reads, and back. It never changes: all threads may
// share it and use it at once. Text is UTF-8; bytes that are not are read as the replacement character U+FFFD.
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
// SentencePiece, a vocab.json with merges.txt beside it, a vocab.txt, a GGUF file, or a folder that has one of these. The
// answers are those of the library that the format comes from, id by id.
HOLO_API HOLO_MUST HoloStatus holo_tokenizer_compile(const char *path, HoloTokenizer **out_tokenizer, HoloError *error);
// Opens a compiled tokenizer in memory, as holo_tokenizer_block gives it. Checks all of it. The bytes are copied.
HOLO_API HOLO_MUST HoloStatus holo_tokenizer_open_memory(const void *block, size_t size, HoloTokenizer **out_tokenizer,
                                                         HoloError *error);
HOLO_API void                 holo_tokenizer_close(HoloTokenizer *tokenizer);
// The compiled form: `*out_size` bytes, which live as long as the tokenizer.
HOLO_API const void *holo_tokenizer_block(const HoloTokenizer *tokenizer, size_t *out_size);

// What encoding and decoding take into account. Add them up.
enum {
    HOLO_TEXT_SPECIAL = 1, // encode: add the special tokens that the model expects around a text.
                           // decode: write special tokens, too
};

// Encodes `size` bytes of text. `*out_ids` gets `*out_count` ids, which you free with holo_ids_free.
HOLO_API HOLO_MUST HoloStatus holo_tokenizer_encode(HoloTokenizer *tokenizer, const char *text, size_t size,
                                                    uint32_t flags, uint32_t **out_ids, size_t *out_count,
                                                    HoloError *error);
HOLO_API void                 holo_ids_free(uint32_t *ids);
// Decodes ids. `*out_text` gets the text, with a 0 byte behind its `*out_size` bytes; free it with holo_text_free. Ids
// that the tokenizer does not have are left out.
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
// Adds a token. `*out_text` is what is now known of the text beyond what was given before: perhaps nothing. It lives until
// the next call.
HOLO_API HOLO_MUST HoloStatus holo_text_stream_add(HoloTextStream *stream, uint32_t id, HoloString *out_text,
                                                   HoloError *error);
// What is left at the end: characters that never became complete.
HOLO_API HOLO_MUST HoloStatus holo_text_stream_end(HoloTextStream *stream, HoloString *out_text, HoloError *error);

#ifdef __cplusplus
}
#endif

#endif
