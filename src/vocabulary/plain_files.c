// plain_files.c - vocabularies as plain files: vocab.json with merges.txt (GPT-2, RoBERTa, CLIP), and vocab.txt (BERT).
//
// Such files hold tokens alone. What is done before and behind the model is what HuggingFace's classes do.
#include "import/wire/json.h"
#include "vocabulary/folder.h"

#include <string.h>

typedef struct Reader {
    HoloVocabulary v;
    const char    *name;
    const json_t  *config; // tokenizer_config.json, or NULL
    HoloError     *error;
} Reader;

static uint32_t find(const Reader *r, const char *text)
{
    return holo_vocabulary_find(&r->v, (HoloString){text, strlen(text)});
}

// Makes added tokens of those that the vocabulary has.
static HoloStatus add_special(Reader *r, const char *const *texts, int count)
{
    for (int i = 0; i < count; i++) {
        HoloVocabularyAdded added = {.text = {texts[i], strlen(texts[i])}, .flags = HOLO_ADDED_SPECIAL};
        if (!strcmp(texts[i], "<mask>")) added.flags |= HOLO_ADDED_LSTRIP;
        if (find(r, texts[i]) != HOLO_NO_TOKEN) HOLO_TRY(holo_vocabulary_add_added(&r->v, added, r->error));
    }
    return HOLO_OK;
}

static HoloStatus add_around(Reader *r, const char *before, const char *behind)
{
    if (find(r, before) == HOLO_NO_TOKEN || find(r, behind) == HOLO_NO_TOKEN) return HOLO_OK;
    HOLO_TRY(holo_vocabulary_add_around(&r->v, 0, find(r, before), r->error));
    return holo_vocabulary_add_around(&r->v, 1, find(r, behind), r->error);
}

// The next line, without its end. False: there is none.
static bool next_line(HoloString *rest, HoloString *out)
{
    if (!rest->size) return false;
    const char *end = memchr(rest->data, '\n', rest->size);
    *out            = (HoloString){rest->data, end ? (size_t)(end - rest->data) : rest->size};
    rest->data += out->size + (end != NULL);
    rest->size -= out->size + (end != NULL);
    if (out->size && out->data[out->size - 1] == '\r') out->size--;
    return true;
}

static bool config_flag(const Reader *r, const char *key, bool fallback)
{
    const json_t *value = json_object_get(r->config, key);
    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

static const char *json_bool(bool value)
{
    return value ? "true" : "false";
}

// ---- vocab.txt

static HoloStatus read_text(Reader *r, HoloString rest)
{
    static const char *const special[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    HoloTokenizerHeader     *h         = &r->v.block.header;
    HoloString               line;
    bool                     lower = config_flag(r, "do_lower_case", true);
    for (int64_t id = 0; next_line(&rest, &line); id++) HOLO_TRY(holo_vocabulary_add(&r->v, line, id, 0, r->error));
    HOLO_TRY(holo_vocabulary_index(&r->v, r->error));
    h->model      = HOLO_MODEL_WORDPIECE;
    h->word_limit = 100;
    h->unknown    = find(r, "[UNK]");
    if (h->unknown == HOLO_NO_TOKEN)
        return holo_fail(r->error, HOLO_BAD_MODEL, "%s: it has no line [UNK], so it is not a BERT vocabulary", r->name);
    HOLO_TRY(holo_block_add(&r->v.block, "##", 2, 1, &h->prefix, r->error));
    char *steps = holo_arena_format(
        r->v.block.arena,
        "{\"normalizer\": {\"type\": \"BertNormalizer\", \"lowercase\": %s, \"strip_accents\": %s, "
        "\"handle_chinese_chars\": %s}, \"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"}, \"decoder\": {\"type\": "
        "\"WordPiece\", \"prefix\": \"##\", \"cleanup\": true}}",
        json_bool(lower), json_bool(config_flag(r, "strip_accents", lower)),
        json_bool(config_flag(r, "tokenize_chinese_chars", true)));
    if (!steps) return holo_fail_memory(r->error);
    HOLO_TRY(holo_vocabulary_steps(&r->v, steps, r->error));
    HOLO_TRY(add_special(r, special, HOLO_COUNT(special)));
    return add_around(r, "[CLS]", "[SEP]");
}

// ---- vocab.json and merges.txt

static HoloStatus read_tokens(Reader *r, const json_t *document)
{
    const char *text;
    size_t      size;
    json_t     *id;
    json_object_keylen_foreach((json_t *)document, text, size, id)
    {
        if (!json_is_integer(id))
            return holo_fail(r->error, HOLO_BAD_MODEL, "%s: it is neither a tokenizer.json nor a vocab.json", r->name);
        HOLO_TRY(holo_vocabulary_add(&r->v, (HoloString){text, size}, json_integer_value(id), 0, r->error));
    }
    return holo_vocabulary_index(&r->v, r->error);
}

static HoloStatus read_merges(Reader *r, HoloString rest)
{
    HoloString line;
    size_t     count = 0;
    uint32_t   rank  = 0;
    for (size_t i = 0; i < rest.size; i++) count += rest.data[i] == '\n';
    HOLO_TRY(holo_vocabulary_reserve_merges(&r->v, count + 1, r->error));
    while (next_line(&rest, &line)) {
        const char *space = memchr(line.data, ' ', line.size);
        if (!space || (line.size > 8 && !memcmp(line.data, "#version", 8))) continue;
        HoloString left = {line.data, (size_t)(space - line.data)}, right = {space + 1, line.size - left.size - 1};
        HOLO_TRY(holo_vocabulary_merge_texts(&r->v, left, right, rank++, r->error));
    }
    return HOLO_OK;
}

static const char *const clip_steps =
    "{\"normalizer\": {\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"NFC\"}, {\"type\": \"Replace\", \"pattern\": "
    "{\"Regex\": \"\\\\s+\"}, \"content\": \" \"}, {\"type\": \"Lowercase\"}]}, \"pre_tokenizer\": {\"type\": \"Sequence\", "
    "\"pretokenizers\": [{\"type\": \"Split\", \"pattern\": {\"Regex\": "
    "\"'s|'t|'re|'ve|'m|'ll|'d|[\\\\p{L}]+|[\\\\p{N}]|[^\\\\s\\\\p{L}\\\\p{N}]+\"}, \"behavior\": \"Removed\", \"invert\": "
    "true}, {\"type\": \"ByteLevel\", \"add_prefix_space\": false}]}, \"decoder\": {\"type\": \"ByteLevel\"}}";

static HoloStatus read_bpe_steps(Reader *r)
{
    HoloTokenizerHeader *h       = &r->v.block.header;
    bool                 is_clip = find(r, "<|startoftext|>") != HOLO_NO_TOKEN && find(r, "the</w>") != HOLO_NO_TOKEN;
    if (is_clip) {
        HOLO_TRY(holo_block_add(&r->v.block, "</w>", 4, 1, &h->suffix, r->error));
        HOLO_TRY(holo_vocabulary_steps(&r->v, clip_steps, r->error));
        return add_around(r, "<|startoftext|>", "<|endoftext|>");
    }
    char *steps = holo_arena_format(r->v.block.arena,
                                    "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": %s}, "
                                    "\"decoder\": {\"type\": \"ByteLevel\"}}",
                                    json_bool(config_flag(r, "add_prefix_space", false)));
    if (!steps) return holo_fail_memory(r->error);
    HOLO_TRY(holo_vocabulary_steps(&r->v, steps, r->error));
    return add_around(r, "<s>", "</s>"); // RoBERTa; GPT-2 has none
}

static HoloStatus read_bpe(Reader *r, const json_t *document)
{
    static const char *const special[] = {"<s>",    "<pad>",           "</s>",         "<unk>",
                                          "<mask>", "<|startoftext|>", "<|endoftext|>"};
    HoloMapping              merges;
    HOLO_TRY(read_tokens(r, document));
    r->v.block.header.model   = HOLO_MODEL_BPE;
    r->v.block.header.unknown = find(r, "<unk>") != HOLO_NO_TOKEN ? find(r, "<unk>") : find(r, "<|endoftext|>");
    HOLO_TRY(holo_folder_file(r->name, "merges.txt", &merges, r->error));
    if (!merges.data)
        return holo_fail(r->error, HOLO_NO_FILE, "%s: merges.txt is missing: it must be in the same folder", r->name);
    HoloStatus status = read_merges(r, (HoloString){merges.data, merges.size});
    holo_file_unmap(&merges);
    HOLO_TRY(status);
    HOLO_TRY(add_special(r, special, HOLO_COUNT(special)));
    return read_bpe_steps(r);
}

// ---- both

static HoloStatus finish(Reader *r, HoloStatus status, json_t *config, HoloVocabularyBytes *out)
{
    if (!status) status = holo_folder_added(&r->v, r->name, config, r->error);
    if (!status) status = holo_vocabulary_finish(&r->v, out, r->error);
    json_decref(config);
    return status;
}

HoloStatus holo_vocabulary_vocab_text(HoloArena *arena, const char *name, const void *bytes, size_t size,
                                      HoloVocabularyBytes *out, HoloError *error)
{
    Reader  r = {.v = {.block = {.arena = arena, .header = {.unknown = HOLO_NO_TOKEN}}}, .name = name, .error = error};
    json_t *config;
    HOLO_TRY(holo_folder_json(name, "tokenizer_config.json", &config, error));
    r.config = config;
    return finish(&r, read_text(&r, (HoloString){bytes, size}), config, out);
}

HoloStatus holo_vocabulary_vocab_json(HoloArena *arena, const char *name, const void *bytes, size_t size,
                                      HoloVocabularyBytes *out, HoloError *error)
{
    Reader  r = {.v = {.block = {.arena = arena, .header = {.unknown = HOLO_NO_TOKEN}}}, .name = name, .error = error};
    json_t *config, *document = NULL;
    HOLO_TRY(holo_folder_json(name, "tokenizer_config.json", &config, error));
    r.config          = config;
    HoloStatus status = holo_json_read(name, bytes, size, &document, error);
    if (!status) status = read_bpe(&r, document);
    status = finish(&r, status, config, out);
    json_decref(document);
    return status;
}
