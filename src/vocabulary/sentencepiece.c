// sentencepiece.c - SentencePiece's tokenizer.model, as HuggingFace's library converts it.
//
// The file says what the pieces are. Marian's source.spm has no ids: those are in vocab.json beside it, for both languages. Which special tokens stand around a text is said by tokenizer_config.json beside it, or
// follows from the kind of the model.
#include "import/wire/protobuf.h"
#include "vocabulary/folder.h"
#include "vocabulary/pieces.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

// ---- the messages

typedef struct ModelMessage {
    uint64_t   has;
    HoloPbMany pieces;
    HoloString trainer, normalizer;
} ModelMessage;
static const HoloPbField model_fields[] = {
    {.number = 1, .kind = HOLO_PB_LIST, .offset = offsetof(ModelMessage, pieces)},
    {.number = 2, .kind = HOLO_PB_BYTES, .offset = offsetof(ModelMessage, trainer)},
    {.number = 3, .kind = HOLO_PB_BYTES, .offset = offsetof(ModelMessage, normalizer)},
    {0},
};

typedef struct PieceMessage {
    uint64_t   has;
    HoloString text;
    float      score;
    int64_t    kind;
} PieceMessage;
static const HoloPbField piece_fields[] = {
    {.number = 1, .kind = HOLO_PB_BYTES, .offset = offsetof(PieceMessage, text)},
    {.number = 2, .kind = HOLO_PB_FLOAT, .offset = offsetof(PieceMessage, score)},
    {.number = 3, .kind = HOLO_PB_INT, .offset = offsetof(PieceMessage, kind)},
    {0},
};

typedef struct TrainerMessage {
    uint64_t has;
    int64_t  model, is_suffix, byte_fallback, bos, eos;
} TrainerMessage;
static const HoloPbField trainer_fields[] = {
    {.number = 3, .kind = HOLO_PB_INT, .offset = offsetof(TrainerMessage, model)},
    {.number = 24, .kind = HOLO_PB_INT, .offset = offsetof(TrainerMessage, is_suffix)},
    {.number = 35, .kind = HOLO_PB_INT, .offset = offsetof(TrainerMessage, byte_fallback)},
    {.number = 41, .kind = HOLO_PB_INT, .offset = offsetof(TrainerMessage, bos)},
    {.number = 42, .kind = HOLO_PB_INT, .offset = offsetof(TrainerMessage, eos)},
    {0},
};
enum { UNIGRAM = 1, BPE = 2 }; // TrainerMessage.model

typedef struct NormalizerMessage {
    uint64_t   has;
    HoloString charsmap;
    int64_t    adds_space, merges_spaces;
} NormalizerMessage;
static const HoloPbField normalizer_fields[] = {
    {.number = 2, .kind = HOLO_PB_BYTES, .offset = offsetof(NormalizerMessage, charsmap)},
    {.number = 3, .kind = HOLO_PB_INT, .offset = offsetof(NormalizerMessage, adds_space)},
    {.number = 4, .kind = HOLO_PB_INT, .offset = offsetof(NormalizerMessage, merges_spaces)},
    {0},
};

// ---- what HuggingFace's classes add

typedef struct TokenizerClass {
    const char *name;       // without Fast
    const char *before;     // NULL: none
    const char *behind[2];  // NULL: none
    bool        is_shifted; // ids are those of fairseq: <s> <pad> </s> <unk>, then the pieces from the third on
    int         extra;      // <extra_id_..> behind the pieces, the highest number first
} TokenizerClass;

static const TokenizerClass classes[] = {
    {"LlamaTokenizer", "<s>", {0}, false, 0},
    {"CodeLlamaTokenizer", "<s>", {0}, false, 0},
    {"GemmaTokenizer", "<bos>", {0}, false, 0},
    {"T5Tokenizer", NULL, {"</s>"}, false, 100},
    {"MT5Tokenizer", NULL, {"</s>"}, false, 0},
    {"PegasusTokenizer", NULL, {"</s>"}, false, 0},
    {"XLMRobertaTokenizer", "<s>", {"</s>"}, true, 0},
    {"AlbertTokenizer", "[CLS]", {"[SEP]"}, false, 0},
    {"DebertaV2Tokenizer", "[CLS]", {"[SEP]"}, false, 0},
    {"BigBirdTokenizer", "[CLS]", {"[SEP]"}, false, 0},
    {"MarianTokenizer", NULL, {"</s>"}, false, 0},
    {"XLNetTokenizer", NULL, {"<sep>", "<cls>"}, false, 0},
};

static const TokenizerClass *class_find(HoloString name)
{
    if (name.size > 4 && !memcmp(name.data + name.size - 4, "Fast", 4)) name.size -= 4;
    for (int i = 0; i < HOLO_COUNT(classes); i++)
        if (strlen(classes[i].name) == name.size && !memcmp(classes[i].name, name.data, name.size)) return &classes[i];
    return NULL;
}

// ---- reading

typedef struct Reader {
    HoloVocabulary    v;
    const char       *name;
    HoloError        *error;
    HoloPbSource      source;
    ModelMessage      model;
    TrainerMessage    trainer;
    NormalizerMessage normalizer;
    const json_t     *config;    // NULL: none
    json_t           *ids;       // by text, from another file; NULL: pieces are numbered
    const TokenizerClass *class; // NULL: none
    HoloPieceKind *kind;         // by id
    uint32_t       unknown;
} Reader;

static HoloStatus read_messages(Reader *r, HoloString bytes)
{
    r->trainer    = (TrainerMessage){.model = UNIGRAM, .bos = 1, .eos = 2};
    r->normalizer = (NormalizerMessage){.adds_space = 1, .merges_spaces = 1};
    HOLO_TRY(holo_pb_read(&r->source, "ModelProto", bytes, model_fields, &r->model));
    if (holo_pb_has(r->model.has, 2))
        HOLO_TRY(holo_pb_read(&r->source, "TrainerSpec", r->model.trainer, trainer_fields, &r->trainer));
    if (holo_pb_has(r->model.has, 3))
        HOLO_TRY(holo_pb_read(&r->source, "NormalizerSpec", r->model.normalizer, normalizer_fields, &r->normalizer));
    if (r->trainer.model != UNIGRAM && r->trainer.model != BPE)
        return holo_fail(r->error, HOLO_UNSUPPORTED,
                         "%s: it is of model type %lld: only unigram (1) and BPE (2) can be read", r->name,
                         (long long)r->trainer.model);
    if (!r->model.pieces.count) return holo_fail(r->error, HOLO_BAD_MODEL, "%s: it has no pieces", r->name);
    return HOLO_OK;
}

static HoloStatus add_piece(Reader *r, HoloString text, int64_t id, double score, HoloPieceKind kind)
{
    r->kind[id] = kind;
    if (kind == HOLO_PIECE_UNKNOWN) r->unknown = (uint32_t)id;
    return holo_vocabulary_add(&r->v, text, id, score, r->error);
}

// ---- ids of another file

static bool is_text(const char *text, const char *other)
{
    return !strcmp(text, other);
}

// A language that the model is to write: >>fra<<.
static bool is_language(const char *text)
{
    size_t size = strlen(text);
    return size > 4 && !memcmp(text, ">>", 2) && !memcmp(text + size - 2, "<<", 2);
}

static HoloPieceKind kind_of(const char *text)
{
    if (is_text(text, "<unk>")) return HOLO_PIECE_UNKNOWN;
    if (is_text(text, "</s>") || is_text(text, "<pad>")) return HOLO_PIECE_CONTROL;
    return is_language(text) ? HOLO_PIECE_USER : HOLO_PIECE_NORMAL;
}

static HoloStatus read_names(Reader *r)
{
    const char *text;
    json_t     *id;
    size_t      count = json_object_size(r->ids);
    json_object_foreach(r->ids, text, id)
    {
        json_int_t number = json_integer_value(id);
        if (!json_is_integer(id) || number < 0 || (uint64_t)number >= count)
            return holo_fail(r->error, HOLO_BAD_MODEL, "%s: the id of '%.60s' in vocab.json is no number below %zu",
                             r->name, text, count);
        HOLO_TRY(add_piece(r, (HoloString){text, strlen(text)}, number, 0, kind_of(text)));
        r->v.token[number].role = HOLO_ROLE_NAME;
    }
    if (r->unknown == HOLO_NO_TOKEN)
        return holo_fail(r->error, HOLO_BAD_MODEL, "%s: vocab.json has no token <unk>", r->name);
    return holo_vocabulary_index(&r->v, r->error);
}

// Pieces get the ids of their names. Those without one are behind all ids.
static HoloStatus read_named_pieces(Reader *r)
{
    HoloPbMany pieces = r->model.pieces;
    HoloString bytes;
    r->kind    = HOLO_NEW(r->v.block.arena, HoloPieceKind, pieces.count + json_object_size(r->ids) + 8);
    r->unknown = HOLO_NO_TOKEN;
    if (!r->kind) return holo_fail_memory(r->error);
    HOLO_TRY(read_names(r));
    while (holo_pb_next_bytes(&pieces, &bytes)) {
        PieceMessage piece = {.kind = HOLO_PIECE_NORMAL};
        HOLO_TRY(holo_pb_read(&r->source, "SentencePiece", bytes, piece_fields, &piece));
        if (isnan(piece.score) || !piece.text.size || piece.kind != HOLO_PIECE_NORMAL) continue;
        uint32_t id = holo_vocabulary_find(&r->v, piece.text);
        if (id == HOLO_NO_TOKEN) {
            id = r->v.count;
            HOLO_TRY(add_piece(r, piece.text, id, 0, HOLO_PIECE_NORMAL));
            r->v.token[id].role = HOLO_ROLE_PIECE;
        } else {
            r->v.token[id].role = HOLO_ROLE_BOTH;
        }
        r->v.token[id].score = (double)piece.score;
    }
    return HOLO_OK;
}

static HoloStatus read_pieces(Reader *r)
{
    static const char *const first[] = {"<s>", "<pad>", "</s>", "<unk>"};
    bool                     shifted = r->class && r->class->is_shifted;
    HoloPbMany               pieces  = r->model.pieces;
    HoloString               bytes;
    int64_t                  id = 0, at = 0;
    r->kind    = HOLO_NEW(r->v.block.arena, HoloPieceKind, pieces.count + 8);
    r->unknown = HOLO_NO_TOKEN;
    if (!r->kind) return holo_fail_memory(r->error);
    for (; shifted && id < HOLO_COUNT(first); id++)
        HOLO_TRY(add_piece(r, (HoloString){first[id], strlen(first[id])}, id, 0,
                           id == 3 ? HOLO_PIECE_UNKNOWN : HOLO_PIECE_CONTROL));
    for (; holo_pb_next_bytes(&pieces, &bytes); at++) {
        PieceMessage piece = {.kind = HOLO_PIECE_NORMAL};
        HOLO_TRY(holo_pb_read(&r->source, "SentencePiece", bytes, piece_fields, &piece));
        if (isnan(piece.score))
            return holo_fail(r->error, HOLO_BAD_MODEL, "%s: piece %lld has no score", r->name, (long long)at);
        if (shifted && at < 3) continue;
        bool is_known = piece.kind > 0 && piece.kind < HOLO_PIECE_KINDS;
        if (!piece.text.data) piece.text = (HoloString){"", 0};
        HOLO_TRY(add_piece(r, piece.text, id++, (double)piece.score,
                           is_known ? (HoloPieceKind)piece.kind : HOLO_PIECE_NORMAL));
    }
    if (shifted) HOLO_TRY(add_piece(r, (HoloString){"<mask>", 6}, id++, 0, HOLO_PIECE_CONTROL));
    return holo_vocabulary_index(&r->v, r->error);
}

static HoloStatus read_steps(Reader *r)
{
    HoloPieceRules rules = {.is_one_word   = r->trainer.model == BPE && !r->normalizer.merges_spaces,
                            .adds_space    = r->normalizer.adds_space,
                            .merges_spaces = r->normalizer.merges_spaces,
                            .is_suffix     = r->trainer.is_suffix,
                            .strips        = r->ids != NULL,
                            .is_first_only = json_is_false(json_object_get(r->config, "legacy"))};
    if (r->normalizer.charsmap.size && !rules.is_one_word)
        HOLO_TRY(holo_vocabulary_charsmap(&r->v, (const uint8_t *)r->normalizer.charsmap.data,
                                          r->normalizer.charsmap.size, r->error));
    return holo_piece_steps(&r->v, &rules, r->error);
}

static HoloStatus add_around(Reader *r, int which, const char *text)
{
    uint32_t id = text ? holo_vocabulary_find(&r->v, (HoloString){text, strlen(text)}) : HOLO_NO_TOKEN;
    return id == HOLO_NO_TOKEN ? HOLO_OK : holo_vocabulary_add_around(&r->v, which, id, r->error);
}

// A special token of the configuration: "<s>" or {"content": "<s>"}; or the fallback.
static const char *config_token(const Reader *r, const char *key, const char *fallback)
{
    const json_t *value = json_object_get(r->config, key);
    if (json_is_object(value)) value = json_object_get(value, "content");
    return json_is_string(value) ? json_string_value(value) : fallback;
}

static HoloStatus read_around(Reader *r)
{
    const json_t *add_bos = json_object_get(r->config, "add_bos_token"),
                 *add_eos = json_object_get(r->config, "add_eos_token");
    bool           is_bpe = r->trainer.model == BPE;
    TokenizerClass guess  = {.before = is_bpe && r->trainer.bos >= 0 ? "<s>" : NULL,
                             .behind = {!is_bpe && r->trainer.eos >= 0 ? "</s>" : NULL}};
    TokenizerClass what   = r->class ? *r->class : guess;
    if (json_is_boolean(add_bos))
        what.before = json_is_true(add_bos) ? config_token(r, "bos_token", "<s>") : NULL;
    else if (what.before)
        what.before = config_token(r, "bos_token", what.before);
    if (json_is_boolean(add_eos)) what.behind[0] = json_is_true(add_eos) ? config_token(r, "eos_token", "</s>") : NULL;
    HOLO_TRY(add_around(r, 0, what.before));
    for (int i = 0; i < 2; i++) HOLO_TRY(add_around(r, 1, what.behind[i]));
    return HOLO_OK;
}

static HoloStatus read_special(Reader *r)
{
    const json_t *extra = json_object_get(r->config, "extra_ids");
    int           count = r->class ? r->class->extra : 0;
    if (json_is_integer(extra) && json_integer_value(extra) >= 0 && json_integer_value(extra) < 10000)
        count = (int)json_integer_value(extra);
    for (uint32_t id = 0; id < r->v.model_count; id++)
        HOLO_TRY(holo_piece_add_special(&r->v, id, r->kind[id], 0, r->error));
    for (int i = count; i-- > 0;) {
        char *text = holo_arena_format(r->v.block.arena, "<extra_id_%d>", i);
        if (!text) return holo_fail_memory(r->error);
        HoloVocabularyAdded added = {.text = {text, strlen(text)}, .flags = HOLO_ADDED_SPECIAL};
        HOLO_TRY(holo_vocabulary_add_added(&r->v, added, r->error));
    }
    return holo_folder_added(&r->v, r->name, r->config, r->error);
}

static HoloStatus read_all(Reader *r, HoloString bytes, HoloVocabularyBytes *out)
{
    HoloTokenizerHeader *h    = &r->v.block.header;
    const char          *name = json_string_value(json_object_get(r->config, "tokenizer_class"));
    if (name) r->class = class_find((HoloString){name, strlen(name)});
    HOLO_TRY(read_messages(r, bytes));
    HOLO_TRY(r->ids ? read_named_pieces(r) : read_pieces(r));
    h->model   = r->trainer.model == BPE ? HOLO_MODEL_BPE : HOLO_MODEL_UNIGRAM;
    h->unknown = r->unknown;
    if (r->trainer.byte_fallback) h->flags |= HOLO_BYTE_FALLBACK;
    if (r->trainer.model == BPE) {
        h->flags |= HOLO_FUSE_UNK;
        HOLO_TRY(holo_vocabulary_merge_by_score(&r->v, r->error));
    }
    HOLO_TRY(read_steps(r));
    HOLO_TRY(read_special(r));
    HOLO_TRY(read_around(r));
    return holo_vocabulary_finish(&r->v, out, r->error);
}

// Does the file have its ids in vocab.json?
static bool is_named(const char *name)
{
    static const char end[] = "source.spm";
    size_t            size  = strlen(name);
    return size >= sizeof end - 1 && !strcmp(name + size - (sizeof end - 1), end);
}

static HoloStatus names_check(const Reader *r)
{
    if (!json_is_object(r->ids))
        return holo_fail(r->error, HOLO_NO_FILE, "%s: its ids are in vocab.json, which is not beside it", r->name);
    if (json_is_true(json_object_get(r->config, "separate_vocabs")))
        return holo_fail(
            r->error, HOLO_UNSUPPORTED,
            "%s: the two languages have vocabularies of their own (separate_vocabs), which is not supported", r->name);
    return HOLO_OK;
}

HoloStatus holo_vocabulary_sentencepiece(HoloArena *arena, const char *name, const void *bytes, size_t size,
                                         HoloVocabularyBytes *out, HoloError *error)
{
    Reader  r      = {.v      = {.block = {.arena = arena, .header = {.unknown = HOLO_NO_TOKEN}}},
                      .name   = name,
                      .error  = error,
                      .source = {bytes, error}};
    json_t *config = NULL;
    HOLO_TRY(holo_folder_json(name, "tokenizer_config.json", &config, error));
    r.config          = config;
    HoloStatus status = HOLO_OK;
    if (is_named(name)) status = holo_folder_json(name, "vocab.json", &r.ids, error);
    if (!status && is_named(name)) status = names_check(&r);
    if (!status) status = read_all(&r, (HoloString){bytes, size}, out);
    json_decref(r.ids);
    json_decref(config);
    return status;
}
