// vocabulary.h - tokenizers of others, compiled into one block of tables (text/tokenizer_block.h).
//
// A reader of a format fills in a HoloVocabulary: tokens, merges, added tokens, and the steps before and behind the model.
// holo_vocabulary_finish makes the block of it.
#ifndef HOLO_VOCABULARY_VOCABULARY_H
#define HOLO_VOCABULARY_VOCABULARY_H

#include "import/name_map.h"
#include "vocabulary/block.h"

// ---- readers: bytes of a format in, a block out, which lies in the arena

typedef struct HoloVocabularyBytes {
    const void *data;
    size_t      size;
} HoloVocabularyBytes;

// HuggingFace's tokenizer.json. `name` is that of the file, for errors.
HOLO_MUST HoloStatus holo_vocabulary_json(HoloArena *arena, const char *name, const void *bytes, size_t size,
                                          HoloVocabularyBytes *out, HoloError *error);
// SentencePiece's tokenizer.model, and HuggingFace's vocab.json with merges.txt, and vocab.txt. `name` is the path of the file:
// other files beside it count, too.
HOLO_MUST HoloStatus holo_vocabulary_sentencepiece(HoloArena *arena, const char *name, const void *bytes, size_t size,
                                                   HoloVocabularyBytes *out, HoloError *error);
HOLO_MUST HoloStatus holo_vocabulary_vocab_json(HoloArena *arena, const char *name, const void *bytes, size_t size,
                                                HoloVocabularyBytes *out, HoloError *error);
HOLO_MUST HoloStatus holo_vocabulary_vocab_text(HoloArena *arena, const char *name, const void *bytes, size_t size,
                                                HoloVocabularyBytes *out, HoloError *error);
// The vocabulary in a GGUF file.
HOLO_MUST HoloStatus holo_vocabulary_gguf(HoloArena *arena, const char *name, const void *bytes, size_t size,
                                          HoloVocabularyBytes *out, HoloError *error);

// ---- a vocabulary while it is read

// What a token is for. Usually texts are cut into tokens, and those are what ids name. Where ids come from another file, some tokens
// only have a name, and some pieces of texts have none: they stand for the unknown token.
enum { HOLO_ROLE_BOTH, HOLO_ROLE_NAME, HOLO_ROLE_PIECE };

typedef struct HoloVocabularyToken {
    HoloString text; // data NULL: there is no token of this id
    double     score;
    uint8_t    role; // HOLO_ROLE_*
} HoloVocabularyToken;

typedef struct HoloVocabularyAdded {
    HoloString text;
    uint32_t   id, flags; // HOLO_ADDED_...
    bool       is_normal; // looked for after normalizing
} HoloVocabularyAdded;

typedef struct HoloVocabulary { // zero-initialize, with the arena of the block set
    HoloTokenBlock       block; // its header has what is one number
    HoloVocabularyToken *token; // by id
    uint32_t             count, room;
    uint32_t             model_count; // tokens of the model, without gaps
    uint32_t            *slot;        // by text; made by holo_vocabulary_index
    uint32_t             slot_count;
    HoloMerge           *merge;
    uint32_t             merge_slots;
    HoloVocabularyAdded *added;
    int                  added_count, added_room;
    uint32_t             added_last;    // the highest id of an added token
    HoloNameMap          added_by_text; // to where it stands in `added`, plus 1
    uint32_t            *around[2];     // special tokens before and behind a text
    int                  around_count[2], around_room[2];
} HoloVocabulary;

// A token of the model. Two of one id are refused. The text is borrowed: it must live as long as the vocabulary.
HOLO_MUST HoloStatus holo_vocabulary_add(HoloVocabulary *v, HoloString text, int64_t id, double score,
                                         HoloError *error);
// To be called when all tokens of the model are there; then they can be found.
HOLO_MUST HoloStatus holo_vocabulary_index(HoloVocabulary *v, HoloError *error);
uint32_t             holo_vocabulary_find(const HoloVocabulary *v, HoloString text); // HOLO_NO_TOKEN: none
// Room for merges, then each of them; of two for one pair the last counts.
HOLO_MUST HoloStatus holo_vocabulary_reserve_merges(HoloVocabulary *v, size_t count, HoloError *error);
void holo_vocabulary_merge(HoloVocabulary *v, uint32_t left, uint32_t right, uint32_t rank, uint32_t token);
// A merge by its texts, unless its pair is known or one of its tokens is not.
HOLO_MUST HoloStatus holo_vocabulary_merge_texts(HoloVocabulary *v, HoloString left, HoloString right, uint32_t rank,
                                                 HoloError *error);
// An added token; it gets the id of the model's token of the same text, or a new one.
HOLO_MUST HoloStatus holo_vocabulary_add_added(HoloVocabulary *v, HoloVocabularyAdded added, HoloError *error);
// A special token before (0) or behind (1) every text.
HOLO_MUST HoloStatus holo_vocabulary_add_around(HoloVocabulary *v, int which, uint32_t id, HoloError *error);
HOLO_MUST HoloStatus holo_vocabulary_finish(HoloVocabulary *v, HoloVocabularyBytes *out, HoloError *error);

// For vocabularies that have scores and no merges: two tokens whose texts make a third merge to it, and the higher its score
// the sooner.
HOLO_MUST HoloStatus holo_vocabulary_merge_by_score(HoloVocabulary *v, HoloError *error);
// What is done before and behind the model, as tokenizer.json writes it: {"normalizer": ..., "pre_tokenizer": ..., "decoder": ...}
HOLO_MUST HoloStatus holo_vocabulary_steps(HoloVocabulary *v, const char *json, HoloError *error);

// The bytes-as-letters pre-tokenizer, as the formats share it.
HOLO_MUST HoloStatus     holo_vocabulary_split_pattern(HoloVocabulary *v, HoloString regex, HoloSplitBehavior behavior,
                                                       bool invert, HoloError *error);
extern const char *const holo_gpt2_pattern;
// The normalizer that is SentencePiece's map of characters, as it stores it.
HOLO_MUST HoloStatus holo_vocabulary_charsmap(HoloVocabulary *v, const uint8_t *bytes, size_t size, HoloError *error);

#endif
