// tokenizer.h - a tokenizer that is open: views of its block, and what encoding and decoding need.
#ifndef HOLO_TEXT_TOKENIZER_H
#define HOLO_TEXT_TOKENIZER_H

#include "hologram_text.h"
#include "text/matcher.h"
#include "text/tokenizer_block.h"
#include "text/unicode.h"

#include <stdatomic.h>

typedef struct HoloTrie {
    const HoloTrieNode *node;
    uint32_t            count;
} HoloTrie;

typedef struct HoloTextWork HoloTextWork;

struct HoloTokenizer {
    const uint8_t             *block;
    uint8_t                   *owned; // the block, where it is this tokenizer's
    const HoloTokenizerHeader *header;
    const uint8_t             *text, *token_flags;
    const uint32_t            *token_at, *slots, *byte_tokens;
    const HoloMerge           *merges;
    const double              *scores;
    HoloTrie                   trie, added_trie, added_normal_trie;
    const HoloAddedToken      *added;
    const HoloTextStep        *normalizers, *splits, *decoders;
    HoloMatcher               *matcher;              // of each pattern
    bool                       added_begins[2][256]; // bytes that an added token begins with, in each trie
    HoloTextWork              *work; // kept from call to call for whoever comes first; others make their own
    atomic_flag                is_busy;
};

// Checks a block and makes views of it. The block must stay where it is, aligned to 8 bytes.
HOLO_MUST HoloStatus holo_tokenizer_view(const void *block, size_t size, HoloTokenizer *out, HoloError *error);

static inline const void *holo_text_span(const HoloTokenizer *t, HoloTextSpan span)
{
    return t->block + span.start;
}
static inline HoloString holo_token(const HoloTokenizer *t, uint32_t id)
{
    return (HoloString){(const char *)t->text + t->token_at[id], t->token_at[id + 1] - t->token_at[id]};
}
// A token of the model; HOLO_NO_TOKEN: none has this text.
uint32_t holo_model_find(const HoloTokenizer *t, const void *text, size_t size);

// The node that a byte leads to; 0: none (nothing leads to the root).
static inline uint32_t holo_trie_step(const HoloTrie *trie, uint32_t node, uint8_t byte)
{
    uint32_t next = trie->node[node].base ^ byte;
    return next < trie->count && trie->node[next].check == node ? next : 0;
}

// ---- the letters that stand for bytes

extern const uint16_t holo_byte_letters[256];          // below 0x180, and not below 33
int                   holo_letter_byte(uint32_t code); // -1: none

// ---- a piece of text on its way to the model

typedef struct HoloPiece {
    size_t   start, size; // in the text of its list
    uint32_t token;       // HOLO_NO_TOKEN: text
    bool     is_first;    // it begins where the text that was given does
} HoloPiece;

typedef struct HoloPieces { // zero-initialize
    HoloPiece *piece;
    size_t     count, room;
    bool       is_failed;
} HoloPieces;
void holo_pieces_add(HoloPieces *pieces, size_t start, size_t size, uint32_t token, bool is_first);
void holo_pieces_deinit(HoloPieces *pieces);

typedef struct HoloIds { // zero-initialize
    uint32_t *id;
    size_t    count, room;
    bool      is_failed;
} HoloIds;
bool               holo_ids_reserve(HoloIds *ids, size_t more);
static inline void holo_ids_add(HoloIds *ids, uint32_t id)
{
    if (ids->count < ids->room || holo_ids_reserve(ids, 1)) ids->id[ids->count++] = id;
}

typedef struct HoloSymbol { // of a word in BPE
    uint32_t token;
    int32_t  before, behind; // -1: none
} HoloSymbol;
typedef struct HoloMergeable { // a pair that could merge
    uint32_t rank, token, left, right, place;
} HoloMergeable;
typedef struct HoloBest { // the best way to a place, of Unigram
    double   score;
    uint32_t from, token;
} HoloBest;

enum { HOLO_CACHE_SLOTS = 1 << 13, HOLO_CACHE_KEY = 24, HOLO_CACHE_IDS = 7 };
typedef struct HoloCached { // a word and its tokens
    uint8_t  key[HOLO_CACHE_KEY];
    uint8_t  size, count; // size 0: empty
    uint32_t id[HOLO_CACHE_IDS];
} HoloCached;

struct HoloTextWork { // the memory of one encoding or decoding at a time
    HoloGrowing    given, clean, text[2], letters, word_letters;
    size_t         room; // bytes that steps may still add
    HoloPieces     outer, inner, pieces[2];
    HoloMatching   matching;
    HoloSymbol    *symbol;
    size_t         symbol_room;
    HoloMergeable *heap;
    size_t         heap_room, heap_count;
    HoloBest      *best;
    size_t         best_room;
    HoloCached    *cache;
    HoloIds        word;
    HoloStatus     status; // of a word that has no tokens
};
// The tokenizer's own, or new; NULL: out of memory.
HoloTextWork *holo_work_take(HoloTokenizer *t);
void          holo_work_give(HoloTokenizer *t, HoloTextWork *work);
void          holo_work_destroy(HoloTextWork *work);
// Whether something ran out of memory: what is left of it is not used again.
bool holo_work_is_spoilt(const HoloTextWork *work);
// What went wrong with work that is spoilt.
HOLO_MUST HoloStatus holo_work_fail(const HoloTextWork *work, HoloError *error);

// Steps may make a text longer, one behind another. So that a few of them do not fill the memory, all together may add
// this many times the bytes of the text, and a little.
enum { HOLO_TEXT_GROWTH = 256, HOLO_TEXT_ROOM = 1 << 20 };
void holo_work_allow(HoloTextWork *work, size_t text_bytes); // at the beginning of a text
// A step makes `out` of so many bytes; then it has made it.
void holo_work_begin(HoloTextWork *work, HoloGrowing *out, size_t from);
void holo_work_end(HoloTextWork *work, const HoloGrowing *out, size_t from);

// ---- the parts of encoding

typedef struct HoloView { // text on its way
    const uint8_t *text;
    size_t         size;
    int            buffer; // of work->text; -1: it lies elsewhere
} HoloView;
// The buffer that a step writes to, emptied; then the view of what it wrote.
HoloGrowing *holo_view_begin(HoloTextWork *work, const HoloView *view);
void         holo_view_end(HoloTextWork *work, HoloView *view);

// Normalizes a view. *out_cut: something was cut off in front, so that it no longer begins where the text does.
void holo_normalize(const HoloTokenizer *t, HoloTextWork *work, HoloView *view, bool *out_cut);
// Finds added tokens, appends pieces between and of them.
void holo_added_find(const HoloTokenizer *t, bool normal, const uint8_t *text, size_t size, bool is_first,
                     HoloPieces *out);
// Cuts a view into words. Returns which of work->pieces has them.
int holo_words_split(const HoloTokenizer *t, HoloTextWork *work, HoloView *view, bool is_first);
// The tokens of one word, appended.
void holo_model_encode(const HoloTokenizer *t, HoloTextWork *work, const uint8_t *word, size_t size, HoloIds *out);
void holo_bpe_encode(const HoloTokenizer *t, HoloTextWork *work, const uint8_t *word, size_t size, HoloIds *out);
void holo_unigram_encode(const HoloTokenizer *t, HoloTextWork *work, const uint8_t *word, size_t size, HoloIds *out);

// SentencePiece's map of characters: what the beginning of `text` becomes; false: it stays.
bool holo_charsmap_find(const HoloTokenizer *t, const HoloTextStep *step, const uint8_t *text, size_t size,
                        HoloString *out);

#endif
