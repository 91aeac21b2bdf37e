// tokenizer_block.h - a compiled tokenizer: one block of tables, the same wherever it lies.
//
// The compiler (src/vocabulary/) writes it, and this room reads it. All places are byte offsets from the beginning of the
// block, all numbers little-endian, every list aligned to 8 bytes. Opening checks every number that is later used as a
// place (tokenizer_check.c); after that nothing is looked at twice.
#ifndef HOLO_TEXT_TOKENIZER_BLOCK_H
#define HOLO_TEXT_TOKENIZER_BLOCK_H

#include <stdint.h>

#define HOLO_TOKENIZER_MAGIC "HOLOTOKS"
enum { HOLO_TOKENIZER_VERSION = 1 };
#define HOLO_NO_TOKEN UINT32_MAX

typedef struct HoloTextSpan { // a list of the block
    uint32_t start, count;    // offset in bytes, number of elements
} HoloTextSpan;

typedef enum HoloTokenModel {
    HOLO_MODEL_BPE,
    HOLO_MODEL_WORDPIECE,
    HOLO_MODEL_UNIGRAM,
    HOLO_MODEL_WORDLEVEL,
    HOLO_MODELS
} HoloTokenModel;

enum {                       // flags of a tokenizer
    HOLO_FUSE_UNK      = 1,  // unknown characters in a row are one token
    HOLO_BYTE_FALLBACK = 2,  // unknown characters become tokens of their bytes
    HOLO_IGNORE_MERGES = 4,  // a word that is a token is that token
    HOLO_BYTE_WORDS    = 8,  // words reach the model as the letters that stand for their bytes
    HOLO_DECODE_JOIN   = 16, // without a decoder: tokens with a space between them
    HOLO_CUT_AT_MARK   = 32, // BPE: no token goes on over the mark of a space, U+2581, so words can be cut there
};

// Flags of a token. IS: there is one of this id. RESPELT: an added one that is decoded as it looks after normalizing, and then
// is not special.
enum { HOLO_TOKEN_IS = 1, HOLO_TOKEN_ADDED = 2, HOLO_TOKEN_SPECIAL = 4, HOLO_TOKEN_RESPELT = 8 };

typedef struct HoloMerge { // an entry of the table of merges; left HOLO_NO_TOKEN: empty
    uint32_t left, right, rank, token;
} HoloMerge;

typedef struct HoloTrieNode {    // double array: the child by byte b of node n is n' = base ^ b, if check of n' is n
    uint32_t base, check, token; // token HOLO_NO_TOKEN: no text ends here
} HoloTrieNode;

enum { HOLO_ADDED_SINGLE_WORD = 1, HOLO_ADDED_LSTRIP = 2, HOLO_ADDED_RSTRIP = 4, HOLO_ADDED_SPECIAL = 8 };
typedef struct HoloAddedToken { // sorted by token
    uint32_t     token, flags;
    HoloTextSpan respelt; // bytes, of RESPELT
} HoloAddedToken;

// ---- steps: what is done to text before the model, and to tokens behind it

typedef struct HoloTextStep {
    uint32_t     kind, flags, number[2];
    HoloTextSpan text, more; // bytes
} HoloTextStep;

typedef enum HoloNormalizerKind {
    HOLO_NORMALIZE_FORM, // number[0]: HoloNormalForm
    HOLO_NORMALIZE_LOWERCASE,
    HOLO_NORMALIZE_ACCENTS,  // flags 1: nonspacing marks alone, after NFD
    HOLO_NORMALIZE_STRIP,    // flags 1: left, 2: right
    HOLO_NORMALIZE_REPLACE,  // number[0]: pattern; text: what comes in its place
    HOLO_NORMALIZE_PREPEND,  // text
    HOLO_NORMALIZE_CHARSMAP, // text: units of the double array; more: what they stand for
    HOLO_NORMALIZE_CLEAN,    // BERT: no control characters, plain spaces
    HOLO_NORMALIZE_CHINESE,  // BERT: spaces around ideographs
    HOLO_NORMALIZE_NMT,
    HOLO_NORMALIZE_BYTES, // bytes as letters
    HOLO_NORMALIZERS,
} HoloNormalizerKind;

typedef enum HoloSplitKind {
    HOLO_SPLIT_PATTERN, // number[0]: pattern, number[1]: HoloSplitBehavior; flags 1: what does not match is the match
    HOLO_SPLIT_WHITE,   // number[1]
    HOLO_SPLIT_PUNCTUATION,
    HOLO_SPLIT_NUMERIC,
    HOLO_SPLIT_WORD,      // words, and signs in a row
    HOLO_SPLIT_CODE,      // number[0]: the code point
    HOLO_SPLIT_METASPACE, // number[0]: the code point for a space; number[1]: HoloPrepend; flags 1: split
    HOLO_SPLIT_PREFIX,    // a space in front
    HOLO_SPLIT_BYTES,     // bytes as letters; flags 1: the model does it
    HOLO_SPLIT_SCRIPTS,
    HOLO_SPLIT_LENGTH, // number[0]: characters of a piece
    HOLO_SPLITS,
} HoloSplitKind;

typedef enum HoloSplitBehavior {
    HOLO_REMOVED,
    HOLO_ISOLATED,
    HOLO_MERGED_PREVIOUS,
    HOLO_MERGED_NEXT,
    HOLO_CONTIGUOUS,
    HOLO_BEHAVIORS
} HoloSplitBehavior;

typedef enum HoloPrepend { HOLO_PREPEND_ALWAYS, HOLO_PREPEND_FIRST, HOLO_PREPEND_NEVER, HOLO_PREPENDS } HoloPrepend;

typedef enum HoloDecoderKind {
    HOLO_DECODE_BYTES,     // letters to bytes, all in one
    HOLO_DECODE_METASPACE, // number[0]: the code point; flags 1: the first token loses them
    HOLO_DECODE_WORDPIECE, // text: prefix; flags 1: clean up
    HOLO_DECODE_SUFFIX,    // BPEDecoder; text: the suffix
    HOLO_DECODE_CTC,       // text: pad; more: delimiter; flags 1: clean up
    HOLO_DECODE_REPLACE,   // number[0]: pattern; text
    HOLO_DECODE_FALLBACK,
    HOLO_DECODE_FUSE,
    HOLO_DECODE_STRIP, // text: one character; number: how many at the start, at the end
    HOLO_DECODERS,
} HoloDecoderKind;

// ---- patterns

typedef enum HoloPatternForm {
    HOLO_PATTERN_TEXT,
    HOLO_PATTERN_TABLE,
    HOLO_PATTERN_PROGRAM,
    HOLO_PATTERN_FORMS
} HoloPatternForm;

typedef enum HoloPatternOpKind {
    HOLO_OP_SET,   // one code point of set x
    HOLO_OP_EDGE,  // the next one is in set x, or there is none and the set has the end
    HOLO_OP_BACK,  // the same of the one before
    HOLO_OP_SPLIT, // on at x, or else at y
    HOLO_OP_JUMP,  // on at x
    HOLO_OP_MATCH, // the end: of the pattern, of a look, of an atom
    HOLO_OP_LOOK, // the next op begins a body, up to its MATCH; on at x if it matches here. flags 1: does not; 2: y code points back
    HOLO_OP_ATOM, // the next op begins a body; on at x where its first match ends
    HOLO_OPS,
} HoloPatternOpKind;

typedef struct HoloPatternOp {
    uint32_t kind, flags, x, y;
} HoloPatternOp;

// The classes of code points: page `first[code >> 8]` of `second`, at code & 255. Column class_count is the end of the text.
// A table: entry [state][class] is the next state times 2, plus 1 where a match ends before the code point. State 0 is dead.
// `start` has the first state for each class of the code point before, and for the beginning of the text.
typedef struct HoloPattern {
    uint32_t     form, class_count, state_count, set_count;
    HoloTextSpan text;   // TEXT: the bytes
    HoloTextSpan first;  // uint16_t[0x1100]
    HoloTextSpan second; // uint8_t[pages * 256]
    HoloTextSpan start;  // TABLE: uint32_t[class_count + 1]
    HoloTextSpan table;  // TABLE: uint32_t[state_count * (class_count + 1)]
    HoloTextSpan ops;    // PROGRAM: HoloPatternOp
    HoloTextSpan sets;   // PROGRAM: uint8_t[set_count * (class_count + 1)]
} HoloPattern;

// ---- the block

typedef struct HoloTokenizerHeader {
    char     magic[8];
    uint32_t version, size; // bytes of the block
    uint32_t model, flags;
    uint32_t token_count; // ids are below it
    uint32_t unknown;     // a token, or HOLO_NO_TOKEN
    uint32_t word_limit;  // WordPiece: characters of a word that is not unknown for its length
    uint32_t trie_start; // WordPiece: the node behind the prefix of what continues a word; HOLO_NO_TOKEN: there is none
    double   unknown_score;
    HoloTextSpan text;        // bytes of all tokens
    HoloTextSpan token_at;    // uint32_t[token_count + 1], in text
    HoloTextSpan token_flags; // uint8_t[token_count]
    HoloTextSpan slots; // uint32_t, a power of two: tokens of the model by the hash of their text; HOLO_NO_TOKEN: empty
    HoloTextSpan merges;      // HoloMerge, a power of two: by the hash of the pair
    HoloTextSpan scores;      // double[token_count]
    HoloTextSpan byte_tokens; // uint32_t[256], of BYTE_FALLBACK
    HoloTextSpan trie;        // HoloTrieNode: the model's tokens
    HoloTextSpan added;       // HoloAddedToken
    HoloTextSpan added_trie,
        added_normal_trie; // HoloTrieNode: their texts as they are, and normalized; tokens are indices of `added`
    HoloTextSpan normalizers, splits, decoders; // HoloTextStep
    HoloTextSpan prefix, suffix;                // bytes: BPE's continuing_subword_prefix and end_of_word_suffix
    HoloTextSpan before, behind;                // uint32_t: special tokens around a text
    HoloTextSpan patterns;                      // HoloPattern
} HoloTokenizerHeader;

// The hash of a text and of a pair of tokens, as the tables have them.
uint32_t               holo_text_hash(const void *text, uint64_t size);
static inline uint32_t holo_pair_hash(uint32_t left, uint32_t right)
{
    uint64_t x = ((uint64_t)left << 32 | right) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(x >> 32);
}

#endif
