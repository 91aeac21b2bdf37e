// folder.c - files beside a vocabulary. See folder.h.
#include "vocabulary/folder.h"

#include "import/wire/json.h"

#include <stdlib.h>
#include <string.h>

HoloStatus holo_folder_file(const char *name, const char *beside, HoloMapping *out, HoloError *error)
{
    HoloArena   scratch = {0};
    const char *slash   = strrchr(name, '/');
    *out                = (HoloMapping){0};
    char      *path     = holo_arena_format(&scratch, "%.*s%s", slash ? (int)(slash - name + 1) : 0, name, beside);
    HoloStatus status   = path ? HOLO_OK : holo_fail_memory(error);
    if (path && holo_path_exists(path)) status = holo_file_map(path, out, error);
    holo_arena_deinit(&scratch);
    return status;
}

HoloStatus holo_folder_json(const char *name, const char *beside, json_t **out, HoloError *error)
{
    HoloMapping file;
    *out = NULL;
    HOLO_TRY(holo_folder_file(name, beside, &file, error));
    HoloStatus status = file.data ? holo_json_read(beside, file.data, file.size, out, error) : HOLO_OK;
    holo_file_unmap(&file);
    return status;
}

typedef struct Added {
    long long           id;
    HoloVocabularyAdded token;
} Added;

static int by_id(const void *a, const void *b)
{
    long long x = ((const Added *)a)->id, y = ((const Added *)b)->id;
    return (x > y) - (x < y);
}

// A text that outlives the document.
static bool keep(HoloVocabulary *v, const char *text, size_t size, HoloString *out)
{
    char *copy = holo_arena_text(v->block.arena, text, size);
    *out       = (HoloString){copy, size};
    return copy;
}

static bool decoder_token(HoloVocabulary *v, const json_t *object, HoloVocabularyAdded *out)
{
    static const struct {
        const char *key;
        uint32_t    flag;
    } flags[]             = {{"single_word", HOLO_ADDED_SINGLE_WORD},
                             {"lstrip", HOLO_ADDED_LSTRIP},
                             {"rstrip", HOLO_ADDED_RSTRIP},
                             {"special", HOLO_ADDED_SPECIAL}};
    const json_t *content = json_object_get(object, "content");
    for (int i = 0; i < HOLO_COUNT(flags); i++)
        if (json_is_true(json_object_get(object, flags[i].key))) out->flags |= flags[i].flag;
    out->is_normal = json_is_true(json_object_get(object, "normalized"));
    return !json_is_string(content) || keep(v, json_string_value(content), json_string_length(content), &out->text);
}

static HoloStatus add_sorted(HoloVocabulary *v, Added *added, size_t count, HoloError *error)
{
    if (count) qsort(added, count, sizeof *added, by_id);
    for (size_t i = 0; i < count; i++) HOLO_TRY(holo_vocabulary_add_added(v, added[i].token, error));
    return HOLO_OK;
}

static HoloStatus add_plain(HoloVocabulary *v, const json_t *document, HoloError *error)
{
    const char *text;
    size_t      size, count = 0;
    json_t     *id;
    Added      *added = HOLO_NEW(v->block.arena, Added, json_object_size(document) + 1);
    if (!added) return holo_fail_memory(error);
    json_object_keylen_foreach((json_t *)document, text, size, id)
    {
        added[count].id = (long long)json_integer_value(id);
        if (!keep(v, text, size, &added[count++].token.text)) return holo_fail_memory(error);
    }
    return add_sorted(v, added, count, error);
}

HoloStatus holo_folder_added(HoloVocabulary *v, const char *name, const json_t *config, HoloError *error)
{
    const json_t *list  = json_object_get(config, "added_tokens_decoder");
    json_t       *plain = NULL, *one;
    const char   *id;
    size_t        count = 0;
    Added        *added = HOLO_NEW(v->block.arena, Added, json_object_size(list) + 1);
    if (!added) return holo_fail_memory(error);
    HOLO_TRY(holo_folder_json(name, "added_tokens.json", &plain, error));
    HoloStatus status = add_plain(v, plain, error);
    json_decref(plain);
    json_object_foreach((json_t *)list, id, one)
    {
        added[count].id = strtoll(id, NULL, 10);
        if (!status && !decoder_token(v, one, &added[count++].token)) status = holo_fail_memory(error);
    }
    return status ? status : add_sorted(v, added, count, error);
}
