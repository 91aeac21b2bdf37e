// json_model.c - the model of tokenizer.json: its vocabulary, its merges, and how it treats what it does not know.
#include "vocabulary/json_reader.h"

#include <string.h>

static HoloStatus read_vocabulary(HoloTokenizerJson *j, const json_t *object)
{
    const json_t *vocabulary = json_object_get(object, "vocab");
    const char   *text;
    size_t        size;
    json_t       *id;
    if (!json_is_object(vocabulary)) return holo_tokenizer_json_fail(j, "the model has no object 'vocab'");
    json_object_keylen_foreach((json_t *)vocabulary, text, size, id)
    {
        if (!json_is_integer(id)) return holo_tokenizer_json_fail(j, "the id of token '%.60s' is no number", text);
        HOLO_TRY(holo_vocabulary_add(j->v, (HoloString){text, size}, json_integer_value(id), 0, j->error));
    }
    return holo_vocabulary_index(j->v, j->error);
}

// The unknown token by its text. `must`: it has to be in the vocabulary.
static HoloStatus read_unknown(HoloTokenizerJson *j, const json_t *object, const char *fallback)
{
    HoloString unknown;
    HOLO_TRY(holo_tokenizer_json_text(j, object, "unk_token", fallback, &unknown));
    j->v->block.header.unknown = unknown.size ? holo_vocabulary_find(j->v, unknown) : HOLO_NO_TOKEN;
    return HOLO_OK;
}

// ---- BPE

static HoloStatus merge_parts(HoloTokenizerJson *j, const json_t *merge, HoloString *left, HoloString *right)
{
    if (json_is_string(merge)) { // "left right"
        const char *text = json_string_value(merge), *space = memchr(text, ' ', json_string_length(merge));
        if (!space) return holo_tokenizer_json_fail(j, "the merge '%.60s' has no space", text);
        *left  = (HoloString){text, (size_t)(space - text)};
        *right = (HoloString){space + 1, json_string_length(merge) - left->size - 1};
        return HOLO_OK;
    }
    const json_t *a = json_array_get(merge, 0), *b = json_array_get(merge, 1);
    if (!json_is_string(a) || !json_is_string(b)) return holo_tokenizer_json_fail(j, "a merge should be two texts");
    *left  = (HoloString){json_string_value(a), json_string_length(a)};
    *right = (HoloString){json_string_value(b), json_string_length(b)};
    return HOLO_OK;
}

static HoloStatus read_merge(HoloTokenizerJson *j, const json_t *merge, size_t prefix, uint32_t rank)
{
    HoloString left, right;
    HOLO_TRY(merge_parts(j, merge, &left, &right));
    size_t skip = right.size < prefix ? right.size : prefix;
    char   small[512], *both = small;
    if (left.size + right.size > sizeof small) both = holo_arena_take_raw(j->v->block.arena, left.size + right.size);
    if (!both) return holo_fail_memory(j->error);
    memcpy(both, left.data, left.size);
    memcpy(both + left.size, right.data + skip, right.size - skip);
    uint32_t a = holo_vocabulary_find(j->v, left), b = holo_vocabulary_find(j->v, right);
    uint32_t token = holo_vocabulary_find(j->v, (HoloString){both, left.size + right.size - skip});
    if (a == HOLO_NO_TOKEN || b == HOLO_NO_TOKEN || token == HOLO_NO_TOKEN)
        return holo_tokenizer_json_fail(j,
                                        "merge %u ('%.40s' and '%.40s') has a token that the vocabulary does not have",
                                        rank, left.data, right.data);
    holo_vocabulary_merge(j->v, a, b, rank, token);
    return HOLO_OK;
}

static HoloStatus read_bpe(HoloTokenizerJson *j, const json_t *object)
{
    HoloTokenBlock *block  = &j->v->block;
    const json_t   *merges = json_object_get(object, "merges"), *dropout = json_object_get(object, "dropout");
    HoloString      prefix, suffix;
    block->header.model = HOLO_MODEL_BPE;
    if (json_is_number(dropout) && json_number_value(dropout) != 0)
        return holo_fail(j->error, HOLO_REFUSED,
                         "%s: the model drops merges at random (dropout): that is for training; set it to null",
                         j->name);
    HOLO_TRY(read_vocabulary(j, object));
    HOLO_TRY(read_unknown(j, object, ""));
    HOLO_TRY(holo_tokenizer_json_text(j, object, "continuing_subword_prefix", "", &prefix));
    HOLO_TRY(holo_tokenizer_json_text(j, object, "end_of_word_suffix", "", &suffix));
    HOLO_TRY(holo_block_add(block, prefix.data, prefix.size, 1, &block->header.prefix, j->error));
    HOLO_TRY(holo_block_add(block, suffix.data, suffix.size, 1, &block->header.suffix, j->error));
    if (holo_tokenizer_json_flag(object, "fuse_unk", false)) block->header.flags |= HOLO_FUSE_UNK;
    if (holo_tokenizer_json_flag(object, "byte_fallback", false)) block->header.flags |= HOLO_BYTE_FALLBACK;
    if (holo_tokenizer_json_flag(object, "ignore_merges", false)) block->header.flags |= HOLO_IGNORE_MERGES;
    if (!json_is_array(merges)) return holo_tokenizer_json_fail(j, "the model has no list 'merges'");
    HOLO_TRY(holo_vocabulary_reserve_merges(j->v, json_array_size(merges), j->error));
    for (size_t i = 0; i < json_array_size(merges); i++)
        HOLO_TRY(read_merge(j, json_array_get(merges, i), prefix.size, (uint32_t)i));
    return HOLO_OK;
}

// ---- the others

static HoloStatus read_wordpiece(HoloTokenizerJson *j, const json_t *object)
{
    HoloTokenBlock *block = &j->v->block;
    HoloString      prefix;
    block->header.model = HOLO_MODEL_WORDPIECE;
    HOLO_TRY(read_vocabulary(j, object));
    HOLO_TRY(read_unknown(j, object, "[UNK]"));
    HOLO_TRY(holo_tokenizer_json_number(j, object, "max_input_chars_per_word", 100, &block->header.word_limit));
    HOLO_TRY(holo_tokenizer_json_text(j, object, "continuing_subword_prefix", "##", &prefix));
    return holo_block_add(block, prefix.data, prefix.size, 1, &block->header.prefix, j->error);
}

static HoloStatus read_wordlevel(HoloTokenizerJson *j, const json_t *object)
{
    j->v->block.header.model = HOLO_MODEL_WORDLEVEL;
    HOLO_TRY(read_vocabulary(j, object));
    return read_unknown(j, object, "<unk>");
}

static HoloStatus read_unigram(HoloTokenizerJson *j, const json_t *object)
{
    HoloTokenBlock *block      = &j->v->block;
    const json_t   *vocabulary = json_object_get(object, "vocab");
    block->header.model        = HOLO_MODEL_UNIGRAM;
    if (!json_is_array(vocabulary)) return holo_tokenizer_json_fail(j, "the model has no list 'vocab'");
    for (size_t i = 0; i < json_array_size(vocabulary); i++) {
        const json_t *one = json_array_get(vocabulary, i), *text = json_array_get(one, 0),
                     *score = json_array_get(one, 1);
        if (!json_is_string(text) || !json_is_number(score))
            return holo_tokenizer_json_fail(j, "token %zu should be a text and a score", i);
        HoloString piece = {json_string_value(text), json_string_length(text)};
        HOLO_TRY(holo_vocabulary_add(j->v, piece, (int64_t)i, json_number_value(score), j->error));
    }
    HOLO_TRY(holo_vocabulary_index(j->v, j->error));
    HOLO_TRY(holo_tokenizer_json_number(j, object, "unk_id", HOLO_NO_TOKEN, &block->header.unknown));
    if (block->header.unknown != HOLO_NO_TOKEN && block->header.unknown >= j->v->count)
        return holo_tokenizer_json_fail(j, "unk_id is no token of the vocabulary");
    if (holo_tokenizer_json_flag(object, "byte_fallback", false)) block->header.flags |= HOLO_BYTE_FALLBACK;
    return HOLO_OK;
}

static const HoloTokenizerRow models[] = {
    {"BPE", read_bpe}, {"WordPiece", read_wordpiece}, {"Unigram", read_unigram}, {"WordLevel", read_wordlevel},
    {NULL, NULL},
};

HoloStatus holo_tokenizer_json_model(HoloTokenizerJson *j, const json_t *object)
{
    if (!json_is_object(object))
        return holo_tokenizer_json_fail(j, "it has no object 'model': it is no tokenizer.json");
    if (json_object_get(object, "type")) return holo_tokenizer_json_row(j, object, "model", models);
    // Old files do not say which model it is.
    if (json_object_get(object, "merges")) return read_bpe(j, object);
    if (json_is_array(json_object_get(object, "vocab"))) return read_unigram(j, object);
    if (json_object_get(object, "max_input_chars_per_word")) return read_wordpiece(j, object);
    return read_wordlevel(j, object);
}
