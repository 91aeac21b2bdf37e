// gguf_vocabulary.c - the vocabularies inside of GGUF files. See gguf_vocabulary.h.
//
// The keys tokenizer.ggml.* say which kind it is. Each kind becomes a model that tokenizer.json knows, too: "llama" and "gpt2"
// are byte pair encoding, "bert" is WordPiece, "t5" is Unigram, and "rwkv" is WordPiece over letters that stand for bytes.
#include "vocabulary/gguf_vocabulary.h"

#include "import/wire/gguf.h"
#include "text/tokenizer.h"
#include "vocabulary/pieces.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define KEY "tokenizer.ggml."

typedef struct Reader {
    HoloVocabulary v;
    HoloGguf       gguf;
    const char    *name; // of the file
    HoloError     *error;
    HoloPieceKind *kind; // of each token
    HoloPieceRules rules;
    int64_t        bos, eos, unknown, sep; // -1: none
    bool           has_bos, has_eos;
} Reader;

static HoloStatus fail(Reader *r, const char *why)
{
    return holo_fail(r->error, HOLO_BAD_MODEL, "%s: %s", r->name, why);
}

// ---- tokens

// A text of the file as the model's vocabulary has it; in the arena where it changes. Data NULL: no memory.
typedef HoloString Convert(Reader *r, HoloString text, HoloPieceKind kind);

static HoloString as_it_is(Reader *r, HoloString text, HoloPieceKind kind)
{
    (void)r;
    (void)kind;
    return text;
}

static HoloStatus read_kinds(Reader *r, uint64_t count)
{
    const HoloGgufValue *kinds = holo_gguf_find(&r->gguf, KEY "token_type");
    HoloGgufValue        rest, one;
    r->kind = HOLO_NEW(r->v.block.arena, HoloPieceKind, count + 1);
    if (!r->kind) return holo_fail_memory(r->error);
    for (uint64_t i = 0; i < count; i++) r->kind[i] = HOLO_PIECE_NORMAL;
    if (!kinds) return HOLO_OK;
    rest = *kinds;
    for (uint64_t i = 0; i < count; i++) {
        int64_t kind;
        if (!holo_gguf_next(&rest, &one) || !holo_gguf_int(&one, &kind))
            return fail(r, "'" KEY "token_type' should have a number for each token");
        r->kind[i] = kind > 0 && kind < HOLO_PIECE_KINDS ? (HoloPieceKind)kind : HOLO_PIECE_NORMAL;
    }
    return HOLO_OK;
}

static HoloStatus read_tokens(Reader *r, Convert *convert)
{
    const HoloGgufValue *list = holo_gguf_find(&r->gguf, KEY "tokens"), *all = holo_gguf_find(&r->gguf, KEY "scores");
    HoloGgufValue        tokens, scores                                      = {0}, one;
    if (!list || list->kind != HOLO_GGUF_ARRAY)
        return fail(r, "it has no list '" KEY "tokens': it holds no vocabulary");
    tokens = *list;
    if (all) scores = *all;
    HOLO_TRY(read_kinds(r, tokens.count));
    for (int64_t i = 0; holo_gguf_next(&tokens, &one); i++) {
        HoloString text  = {0};
        double     score = 0;
        if (!holo_gguf_text(&one, &text)) return fail(r, "a token of '" KEY "tokens' is no text");
        if (all && (!holo_gguf_next(&scores, &one) || !holo_gguf_real(&one, &score) || isnan(score)))
            return fail(r, "'" KEY "scores' should have a number for each token");
        text = convert(r, text, r->kind[i]);
        if (!text.data) return holo_fail_memory(r->error);
        HOLO_TRY(holo_vocabulary_add(&r->v, text, i, score, r->error));
    }
    return holo_vocabulary_index(&r->v, r->error);
}

// ---- byte pair encoding with merges

static HoloStatus read_merges(Reader *r)
{
    const HoloGgufValue *list = holo_gguf_find(&r->gguf, KEY "merges");
    HoloGgufValue        rest, one;
    if (!list) { // the tokens are their own ranks
        for (uint32_t i = 0; i < r->v.count; i++) r->v.token[i].score = -(double)i;
        return holo_vocabulary_merge_by_score(&r->v, r->error);
    }
    rest = *list;
    HOLO_TRY(holo_vocabulary_reserve_merges(&r->v, rest.count, r->error));
    for (uint32_t rank = 0; holo_gguf_next(&rest, &one); rank++) {
        HoloString text;
        if (!holo_gguf_text(&one, &text)) return fail(r, "a merge of '" KEY "merges' is no text");
        const char *space = text.size > 1 ? memchr(text.data + 1, ' ', text.size - 1) : NULL;
        if (!space) return fail(r, "a merge of '" KEY "merges' has no space");
        HoloString left = {text.data, (size_t)(space - text.data)}, right = {space + 1, text.size - left.size - 1};
        HOLO_TRY(holo_vocabulary_merge_texts(&r->v, left, right, rank, r->error));
    }
    return HOLO_OK;
}

static HoloStatus read_gpt2(Reader *r)
{
    HoloString name = {"default", 7};
    holo_gguf_find_text(&r->gguf, KEY "pre", &name);
    const HoloGgufPre *pre = holo_gguf_pre(name);
    if (!pre)
        return holo_fail(r->error, HOLO_UNSUPPORTED, "%s: its pre-tokenizer '%.*s' is not known", r->name,
                         (int)holo_least((int64_t)name.size, 60), name.data);
    r->has_bos              = pre->flags & HOLO_GGUF_BOS;
    r->v.block.header.model = HOLO_MODEL_BPE;
    r->v.block.header.flags = pre->flags & HOLO_GGUF_WHOLE ? HOLO_IGNORE_MERGES : 0;
    HOLO_TRY(read_tokens(r, as_it_is));
    HOLO_TRY(read_merges(r));
    for (int i = 0; i < HOLO_GGUF_PATTERNS && pre->pattern[i]; i++) {
        HoloString pattern = {pre->pattern[i], strlen(pre->pattern[i])};
        HOLO_TRY(holo_vocabulary_split_pattern(&r->v, pattern, HOLO_ISOLATED, false, r->error));
    }
    if (!(pre->flags & HOLO_GGUF_RAW))
        return holo_vocabulary_steps(&r->v,
                                     "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, "
                                     "\"use_regex\": false}, \"decoder\": {\"type\": \"ByteLevel\"}}",
                                     r->error);
    r->v.block.header.flags |= HOLO_BYTE_FALLBACK;
    return holo_piece_steps(&r->v, &(HoloPieceRules){.is_one_word = true}, r->error);
}

static HoloStatus read_gemma4(Reader *r)
{
    HOLO_TRY(holo_vocabulary_split_pattern(&r->v, (HoloString){"[^\\n]+|[\\n]+", 12}, HOLO_ISOLATED, false, r->error));
    r->has_bos              = true;
    r->v.block.header.model = HOLO_MODEL_BPE;
    r->v.block.header.flags = HOLO_BYTE_FALLBACK;
    HOLO_TRY(read_tokens(r, as_it_is));
    HOLO_TRY(read_merges(r));
    return holo_piece_steps(&r->v, &(HoloPieceRules){.is_one_word = true}, r->error);
}

// ---- the kinds of SentencePiece

static HoloStatus read_llama(Reader *r)
{
    r->has_bos           = true;
    r->unknown           = r->unknown < 0 ? 0 : r->unknown;
    r->rules.adds_space  = true;
    r->rules.is_one_word = true;
    holo_gguf_find_bool(&r->gguf, KEY "add_space_prefix", &r->rules.adds_space);
    r->v.block.header.model = HOLO_MODEL_BPE;
    r->v.block.header.flags = HOLO_BYTE_FALLBACK | HOLO_FUSE_UNK;
    HOLO_TRY(read_tokens(r, as_it_is));
    HOLO_TRY(holo_vocabulary_merge_by_score(&r->v, r->error));
    return holo_piece_steps(&r->v, &r->rules, r->error);
}

static HoloStatus read_t5(Reader *r)
{
    const HoloGgufValue *map = holo_gguf_find(&r->gguf, KEY "precompiled_charsmap");
    r->has_eos               = true;
    if (r->unknown < 0) r->unknown = 2;
    holo_gguf_find_bool(&r->gguf, KEY "add_space_prefix", &r->rules.adds_space);
    holo_gguf_find_bool(&r->gguf, KEY "remove_extra_whitespaces", &r->rules.merges_spaces);
    r->v.block.header.model = HOLO_MODEL_UNIGRAM;
    HOLO_TRY(read_tokens(r, as_it_is));
    for (uint32_t i = 0; i < r->v.count; i++)
        if (r->kind[i] == HOLO_PIECE_USER) r->v.token[i].score = 0;
    if (map && map->kind == HOLO_GGUF_ARRAY && (map->item == HOLO_GGUF_I8 || map->item == HOLO_GGUF_U8))
        HOLO_TRY(holo_vocabulary_charsmap(&r->v, map->at, map->count, r->error));
    return holo_piece_steps(&r->v, &r->rules, r->error);
}

// ---- WordPiece

// The file marks words' beginnings, and the model what continues them.
static HoloString bert_token(Reader *r, HoloString text, HoloPieceKind kind)
{
    static const char mark[] = "\xE2\x96\x81";
    if (kind != HOLO_PIECE_NORMAL || !text.size) return text;
    if (text.size >= 3 && !memcmp(text.data, mark, 3)) return (HoloString){text.data + 3, text.size - 3};
    char *copy = holo_arena_take(r->v.block.arena, text.size + 2);
    if (!copy) return (HoloString){0};
    memcpy(copy, "##", 2);
    memcpy(copy + 2, text.data, text.size);
    return (HoloString){copy, text.size + 2};
}

static HoloStatus read_bert(Reader *r)
{
    bool lower = true, accents;
    holo_gguf_find_bool(&r->gguf, "tokenizer.ggml.normalizer.lowercase", &lower);
    accents = lower;
    holo_gguf_find_bool(&r->gguf, "tokenizer.ggml.normalizer.strip_accents", &accents);
    r->has_bos = r->has_eos = true;
    if (r->bos < 0) r->bos = 101;
    if (r->sep < 0) r->sep = 102;
    if (r->unknown < 0) r->unknown = 100;
    r->eos                       = r->sep;
    r->v.block.header.model      = HOLO_MODEL_WORDPIECE;
    r->v.block.header.word_limit = UINT32_MAX;
    HOLO_TRY(holo_block_add(&r->v.block, "##", 2, 1, &r->v.block.header.prefix, r->error));
    HOLO_TRY(read_tokens(r, bert_token));
    char *steps = holo_arena_format(r->v.block.arena,
                                    "{\"normalizer\": {\"type\": \"BertNormalizer\", \"lowercase\": %s, "
                                    "\"strip_accents\": %s}, \"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"}, "
                                    "\"decoder\": {\"type\": \"WordPiece\", \"prefix\": \"##\", \"cleanup\": true}}",
                                    lower ? "true" : "false", accents ? "true" : "false");
    return steps ? holo_vocabulary_steps(&r->v, steps, r->error) : holo_fail_memory(r->error);
}

// ---- RWKV: the longest token that fits, byte by byte

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 0;
}

// Takes escapes such as \n and \xE2 off, and writes each byte as its letter.
static HoloString rwkv_token(Reader *r, HoloString text, HoloPieceKind kind)
{
    static const char letters[] = "tnr", codes[] = "\t\n\r";
    uint8_t          *out  = holo_arena_take(r->v.block.arena, text.size * 2 + 1);
    size_t            size = 0;
    (void)kind;
    for (size_t i = 0; out && i < text.size; i++) {
        uint8_t byte = (uint8_t)text.data[i];
        if (byte == '\\' && i + 1 < text.size) {
            const char *found = memchr(letters, text.data[++i], sizeof letters - 1);
            byte              = (uint8_t)(found ? codes[found - letters] : text.data[i]);
            if (text.data[i] == 'x' && i + 2 < text.size) {
                byte = (uint8_t)(hex_digit(text.data[i + 1]) << 4 | hex_digit(text.data[i + 2]));
                i += 2;
            }
        }
        size += (size_t)holo_code_write(holo_byte_letters[byte], out + size);
    }
    return (HoloString){(const char *)out, size};
}

static HoloStatus read_rwkv(Reader *r)
{
    r->v.block.header.model      = HOLO_MODEL_WORDPIECE;
    r->v.block.header.word_limit = UINT32_MAX;
    HOLO_TRY(read_tokens(r, rwkv_token));
    return holo_vocabulary_steps(&r->v,
                                 "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, "
                                 "\"use_regex\": false}, \"decoder\": {\"type\": \"ByteLevel\"}}",
                                 r->error);
}

// ---- all

static const struct {
    const char *model;
    HoloStatus (*read)(Reader *r);
} models[] = {{"llama", read_llama}, {"gpt2", read_gpt2}, {"bert", read_bert},
              {"t5", read_t5},       {"rwkv", read_rwkv}, {"gemma4", read_gemma4}};

static bool name_has(const Reader *r, const char *key, const char *part)
{
    HoloString name;
    size_t     size = strlen(part);
    if (!holo_gguf_find_text(&r->gguf, key, &name)) return false;
    for (size_t i = 0; i + size <= name.size; i++) {
        size_t k = 0;
        while (k < size && tolower((unsigned char)name.data[i + k]) == part[k]) k++;
        if (k == size) return true;
    }
    return false;
}

// Spaces that special tokens of some models take in, which files do not say.
static uint32_t strips(const Reader *r, HoloString text)
{
    bool is_plain = false;
    if (name_has(r, "general.name", "phi-3") || name_has(r, "general.name", "phi3")) {
        static const char *const plain[] = {"<unk>", "<s>", "<|endoftext|>"};
        for (int i = 0; i < HOLO_COUNT(plain); i++)
            is_plain |= text.size == strlen(plain[i]) && !memcmp(text.data, plain[i], text.size);
        return is_plain ? 0 : HOLO_ADDED_RSTRIP;
    }
    bool takes_mask = name_has(r, KEY "pre", "jina-v2") || name_has(r, "general.architecture", "nomic-bert-moe") ||
                      name_has(r, "general.architecture", "jina-bert-v3");
    return takes_mask && text.size == 6 && !memcmp(text.data, "<mask>", 6) ? HOLO_ADDED_LSTRIP : 0;
}

static HoloStatus read_special(Reader *r)
{
    static const struct {
        const char *key;
        int         which;
    } around[] = {{KEY "add_bos_token", 0}, {KEY "add_eos_token", 1}};
    for (uint32_t i = 0; i < r->v.model_count; i++)
        HOLO_TRY(holo_piece_add_special(&r->v, i, r->kind[i], strips(r, r->v.token[i].text), r->error));
    holo_gguf_find_bool(&r->gguf, around[0].key, &r->has_bos);
    holo_gguf_find_bool(&r->gguf, around[1].key, &r->has_eos);
    if (r->has_bos && r->bos >= 0 && r->bos < r->v.count)
        HOLO_TRY(holo_vocabulary_add_around(&r->v, 0, (uint32_t)r->bos, r->error));
    if (r->has_eos && r->eos >= 0 && r->eos < r->v.count)
        HOLO_TRY(holo_vocabulary_add_around(&r->v, 1, (uint32_t)r->eos, r->error));
    if (r->unknown >= 0 && r->unknown < r->v.count) r->v.block.header.unknown = (uint32_t)r->unknown;
    return HOLO_OK;
}

static HoloStatus read_all(Reader *r, HoloVocabularyBytes *out)
{
    HoloString model = {0};
    r->bos = r->eos = r->unknown = r->sep = -1;
    if (!holo_gguf_find_text(&r->gguf, KEY "model", &model))
        return fail(r, "it has no key '" KEY "model': it holds no vocabulary");
    holo_gguf_find_int(&r->gguf, KEY "bos_token_id", &r->bos);
    holo_gguf_find_int(&r->gguf, KEY "eos_token_id", &r->eos);
    holo_gguf_find_int(&r->gguf, KEY "unknown_token_id", &r->unknown);
    holo_gguf_find_int(&r->gguf, KEY "seperator_token_id", &r->sep); // as the format spells it
    for (int i = 0; i < HOLO_COUNT(models); i++) {
        if (strlen(models[i].model) != model.size || memcmp(models[i].model, model.data, model.size)) continue;
        HOLO_TRY(models[i].read(r));
        HOLO_TRY(read_special(r));
        return holo_vocabulary_finish(&r->v, out, r->error);
    }
    return holo_fail(
        r->error, HOLO_UNSUPPORTED,
        "%s: its vocabulary is of the kind '%.*s', which is not known: there are llama, gpt2, bert, t5, rwkv "
        "and gemma4",
        r->name, (int)holo_least((int64_t)model.size, 60), model.data);
}

HoloStatus holo_vocabulary_gguf(HoloArena *arena, const char *name, const void *bytes, size_t size,
                                HoloVocabularyBytes *out, HoloError *error)
{
    Reader r = {.v = {.block = {.arena = arena, .header = {.unknown = HOLO_NO_TOKEN}}}, .name = name, .error = error};
    HOLO_TRY(holo_gguf_read(arena, name, bytes, size, &r.gguf, error));
    return read_all(&r, out);
}
