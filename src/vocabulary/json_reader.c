// json_reader.c - tokenizer.json as a whole, and what its parts share. See json_reader.h.
#include "vocabulary/json_reader.h"

#include "import/wire/json.h"
#include "text/unicode.h"
#include "vocabulary/pattern.h"

#include <stdio.h>
#include <string.h>

HoloStatus holo_tokenizer_json_fail(HoloTokenizerJson *j, const char *format, ...)
{
    char    text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return holo_fail(j->error, HOLO_BAD_MODEL, "%s: %s", j->name, text);
}

HoloStatus holo_tokenizer_json_text(HoloTokenizerJson *j, const json_t *object, const char *key, const char *fallback,
                                    HoloString *out)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_string(value)) return *out = (HoloString){json_string_value(value), json_string_length(value)}, HOLO_OK;
    if ((value && !json_is_null(value)) || !fallback) return holo_tokenizer_json_fail(j, "'%s' should be a text", key);
    *out = (HoloString){fallback, strlen(fallback)};
    return HOLO_OK;
}

bool holo_tokenizer_json_flag(const json_t *object, const char *key, bool fallback)
{
    const json_t *value = json_object_get(object, key);
    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

HoloStatus holo_tokenizer_json_number(HoloTokenizerJson *j, const json_t *object, const char *key, uint32_t fallback,
                                      uint32_t *out)
{
    const json_t *value = json_object_get(object, key);
    *out                = fallback;
    if (!value || json_is_null(value)) return HOLO_OK;
    if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) >= UINT32_MAX)
        return holo_tokenizer_json_fail(j, "'%s' should be a whole number from 0 up", key);
    *out = (uint32_t)json_integer_value(value);
    return HOLO_OK;
}

HoloStatus holo_tokenizer_json_code(HoloTokenizerJson *j, const json_t *object, const char *key, const char *fallback,
                                    uint32_t *out)
{
    HoloString text;
    int        size = 0;
    HOLO_TRY(holo_tokenizer_json_text(j, object, key, fallback, &text));
    if (text.size) *out = holo_code_read((const uint8_t *)text.data, text.size, &size);
    if (!text.size || (size_t)size != text.size)
        return holo_tokenizer_json_fail(j, "'%s' should be one character", key);
    return HOLO_OK;
}

HoloStatus holo_tokenizer_json_pattern(HoloTokenizerJson *j, const json_t *object, uint32_t *out)
{
    const json_t *pattern = json_object_get(object, "pattern"), *text = json_object_get(pattern, "String"),
                 *regex = json_object_get(pattern, "Regex");
    if (json_is_string(pattern)) text = pattern;
    if (json_is_string(regex))
        return holo_pattern_compile(&j->v->block, (HoloString){json_string_value(regex), json_string_length(regex)},
                                    out, j->error);
    if (!json_is_string(text))
        return holo_tokenizer_json_fail(j, "'pattern' should be {\"String\": ...} or {\"Regex\": ...}");
    return holo_pattern_compile_text(&j->v->block, (HoloString){json_string_value(text), json_string_length(text)}, out,
                                     j->error);
}

HoloStatus holo_tokenizer_json_row(HoloTokenizerJson *j, const json_t *object, const char *what,
                                   const HoloTokenizerRow *rows)
{
    HoloString type;
    if (!json_is_object(object)) return holo_tokenizer_json_fail(j, "a %s should be an object", what);
    HOLO_TRY(holo_tokenizer_json_text(j, object, "type", NULL, &type));
    for (int i = 0; rows[i].type; i++)
        if (!strcmp(rows[i].type, type.data)) {
            if (++j->depth > 32) return holo_tokenizer_json_fail(j, "too many sequences inside of each other");
            HoloStatus status = rows[i].read(j, object);
            j->depth--;
            return status;
        }
    char known[400] = "";
    for (int i = 0; rows[i].type; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", rows[i].type);
    return holo_fail(j->error, HOLO_UNSUPPORTED, "%s: it has a %s '%s', which is not known: there are %s", j->name,
                     what, type.data, known);
}

HoloStatus holo_tokenizer_json_each(HoloTokenizerJson *j, const json_t *list, const char *what,
                                    const HoloTokenizerRow *rows)
{
    if (!json_is_array(list)) return holo_tokenizer_json_fail(j, "a sequence of %ss has no list", what);
    for (size_t i = 0; i < json_array_size(list); i++)
        HOLO_TRY(holo_tokenizer_json_row(j, json_array_get(list, i), what, rows));
    return HOLO_OK;
}

// ---- added tokens

static HoloStatus read_added(HoloTokenizerJson *j, const json_t *list)
{
    static const struct {
        const char *key;
        uint32_t    flag;
    } flags[] = {{"single_word", HOLO_ADDED_SINGLE_WORD},
                 {"lstrip", HOLO_ADDED_LSTRIP},
                 {"rstrip", HOLO_ADDED_RSTRIP},
                 {"special", HOLO_ADDED_SPECIAL}};
    if (list && !json_is_null(list) && !json_is_array(list))
        return holo_tokenizer_json_fail(j, "'added_tokens' should be a list");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t       *one   = json_array_get(list, i);
        HoloVocabularyAdded added = {0};
        HOLO_TRY(holo_tokenizer_json_text(j, one, "content", NULL, &added.text));
        for (int k = 0; k < HOLO_COUNT(flags); k++)
            added.flags |= holo_tokenizer_json_flag(one, flags[k].key, false) ? flags[k].flag : 0;
        added.is_normal = holo_tokenizer_json_flag(one, "normalized", !(added.flags & HOLO_ADDED_SPECIAL));
        HOLO_TRY(holo_vocabulary_add_added(j->v, added, j->error));
    }
    return HOLO_OK;
}

// ---- post-processors: the special tokens around a text

static HoloStatus special_id(HoloTokenizerJson *j, const json_t *id, int which)
{
    if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) >= j->v->count)
        return holo_tokenizer_json_fail(j, "the post-processor adds a token that the vocabulary does not have");
    return holo_vocabulary_add_around(j->v, which, (uint32_t)json_integer_value(id), j->error);
}

static HoloStatus read_template(HoloTokenizerJson *j, const json_t *object)
{
    const json_t *list = json_object_get(object, "single"), *specials = json_object_get(object, "special_tokens");
    int           which = 0, before = j->v->around_count[0];
    if (!json_is_array(list))
        return holo_tokenizer_json_fail(j, "the template of the post-processor has no list 'single'");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *special = json_object_get(json_array_get(list, i), "SpecialToken");
        if (json_object_get(json_array_get(list, i), "Sequence")) {
            if (which++)
                return holo_fail(j->error, HOLO_UNSUPPORTED, "%s: the template of the post-processor has a text twice",
                                 j->name);
            continue;
        }
        const char   *id  = json_string_value(json_object_get(special, "id"));
        const json_t *ids = id ? json_object_get(json_object_get(specials, id), "ids") : NULL;
        if (!json_is_array(ids))
            return holo_tokenizer_json_fail(j, "the template of the post-processor has a token without ids");
        for (size_t k = 0; k < json_array_size(ids); k++) HOLO_TRY(special_id(j, json_array_get(ids, k), which));
    }
    // A second template stands around what the first made: its tokens come before those that are there.
    uint32_t *all = j->v->around[0];
    for (int added = j->v->around_count[0] - before, i = 0; before && i < added; i++) {
        uint32_t one = all[before + i];
        memmove(all + i + 1, all + i, (size_t)before * sizeof *all);
        all[i] = one;
    }
    return HOLO_OK;
}

static HoloStatus read_pair(HoloTokenizerJson *j, const json_t *object)
{
    const json_t *cls = json_object_get(object, "cls"), *sep = json_object_get(object, "sep");
    HOLO_TRY(special_id(j, json_array_get(cls, 1), 0));
    return special_id(j, json_array_get(sep, 1), 1);
}

static HoloStatus read_nothing(HoloTokenizerJson *j, const json_t *object)
{
    (void)j;
    (void)object;
    return HOLO_OK; // it changes offsets alone
}

static HoloStatus read_processors(HoloTokenizerJson *j, const json_t *object);

static const HoloTokenizerRow processors[] = {
    {"TemplateProcessing", read_template}, {"BertProcessing", read_pair}, {"RobertaProcessing", read_pair},
    {"ByteLevel", read_nothing},           {"Sequence", read_processors}, {NULL, NULL},
};

static HoloStatus read_processors(HoloTokenizerJson *j, const json_t *object)
{
    return holo_tokenizer_json_each(j, json_object_get(object, "processors"), "post-processor", processors);
}

// ---- the document

static HoloStatus read_document(HoloTokenizerJson *j, const json_t *document)
{
    const json_t *processor = json_object_get(document, "post_processor");
    HOLO_TRY(holo_tokenizer_json_model(j, json_object_get(document, "model")));
    HOLO_TRY(holo_tokenizer_json_normalizer(j, json_object_get(document, "normalizer")));
    HOLO_TRY(holo_tokenizer_json_splits(j, json_object_get(document, "pre_tokenizer")));
    HOLO_TRY(holo_tokenizer_json_decoder(j, json_object_get(document, "decoder")));
    HOLO_TRY(read_added(j, json_object_get(document, "added_tokens")));
    if (processor && !json_is_null(processor))
        HOLO_TRY(holo_tokenizer_json_row(j, processor, "post-processor", processors));
    return HOLO_OK;
}

HoloStatus holo_vocabulary_steps(HoloVocabulary *v, const char *json, HoloError *error)
{
    HoloTokenizerJson j        = {.v = v, .name = "the vocabulary", .error = error};
    json_t           *document = NULL;
    HOLO_TRY(holo_json_read(j.name, json, strlen(json), &document, error));
    HoloStatus status = holo_tokenizer_json_normalizer(&j, json_object_get(document, "normalizer"));
    if (!status) status = holo_tokenizer_json_splits(&j, json_object_get(document, "pre_tokenizer"));
    if (!status) status = holo_tokenizer_json_decoder(&j, json_object_get(document, "decoder"));
    json_decref(document);
    return status;
}

HoloStatus holo_vocabulary_json(HoloArena *arena, const char *name, const void *bytes, size_t size,
                                HoloVocabularyBytes *out, HoloError *error)
{
    HoloVocabulary    v        = {.block = {.arena = arena, .header = {.unknown = HOLO_NO_TOKEN}}};
    HoloTokenizerJson j        = {.v = &v, .name = name, .error = error};
    json_t           *document = NULL;
    HOLO_TRY(holo_json_read(name, bytes, size, &document, error));
    HoloStatus status = read_document(&j, document);
    if (!status) status = holo_vocabulary_finish(&v, out, error);
    json_decref(document);
    return status;
}
