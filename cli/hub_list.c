// hub_list.c - the commit of a revision, the files that it has, and which of them are wanted. See hub.h.

#include "hub.h"

#include "base/system.h"

#include <jansson.h>
#include <string.h>

enum { LIST_MAX = 64 << 20, FILES_MAX = 20000 };

// ---- what the cache knows

// The commit that a revision was when it was last asked for; NULL: not known.
static const char *known_commit(const Hub *hub)
{
    const char *why, *path = cli_format("%s/refs/%s", hub->folder, hub->revision);
    if (hub_is_commit(hub->revision)) return hub->revision;
    const char *text = holo_path_exists(path) ? cli_read_text(path, &why) : NULL;
    if (!text) return NULL;
    text = cli_format("%.*s", (int)strcspn(text, " \r\n"), text);
    return hub_is_commit(text) ? text : NULL;
}

// Uses what is there. False: nothing is.
static bool use_cache(Hub *hub)
{
    hub->commit = known_commit(hub);
    if (!hub->commit) return false;
    HoloFolder  folder = {0};
    const char *place  = cli_format("%s/snapshots/%s", hub->folder, hub->commit);
    if (holo_folder_list(place, &folder, NULL)) return false;
    hub->file = cli_take((size_t)folder.count + 1, sizeof *hub->file);
    for (int i = 0; i < folder.count; i++)
        if (!holo_path_is_folder(cli_format("%s/%s", place, folder.name[i])))
            hub->file[hub->count++] = (HubFile){.name = cli_format("%s", folder.name[i]), .size = -1};
    holo_folder_free(&folder);
    return hub->count;
}

// ---- what the hub says

static int bad_list(const Hub *hub, const char *what)
{
    return cli_fail("is HF_ENDPOINT right?", "%s: the hub's answer is not valid: %s", hub->repo, what);
}

// Files with odd names stay in the list, and cannot be chosen.
static void add_file(Hub *hub, const json_t *sibling)
{
    const char   *name = json_string_value(json_object_get(sibling, "rfilename"));
    const json_t *size = json_object_get(sibling, "size");
    if (!name) return;
    bool is_known = json_is_integer(size) && json_integer_value(size) >= 0;
    hub->file[hub->count++] =
        (HubFile){.name = cli_format("%s", name), .size = is_known ? json_integer_value(size) : -1};
}

static int read_list(Hub *hub, const json_t *root)
{
    const char   *commit   = json_string_value(json_object_get(root, "sha"));
    const json_t *siblings = json_object_get(root, "siblings");
    if (!commit || !hub_is_commit(commit)) return bad_list(hub, "it has no commit");
    if (!json_is_array(siblings)) return bad_list(hub, "it has no list of files");
    if (json_array_size(siblings) > FILES_MAX) return bad_list(hub, "it has too many files");
    if (hub_is_commit(hub->revision) && strcmp(hub->revision, commit))
        return bad_list(hub, "it is about another commit");
    hub->commit = cli_format("%s", commit);
    hub->file   = cli_take(json_array_size(siblings) + 1, sizeof *hub->file);
    for (size_t i = 0; i < json_array_size(siblings); i++) add_file(hub, json_array_get(siblings, i));
    return CLI_OK;
}

// So that it is known without the hub the next time.
static void note_commit(const Hub *hub)
{
    const char *known = known_commit(hub);
    if (hub->output || (known && !strcmp(known, hub->commit))) return;
    if (!hub_write_text(cli_format("%s/refs/%s", hub->folder, hub->revision), hub->commit))
        cli_warn("cannot write to the cache %s: set HF_HUB_CACHE to another folder", hub->folder);
}

int hub_list(Hub *hub)
{
    HttpRequest request = {.url      = cli_format("%s/api/models/%s/revision/%s?blobs=true", hub->endpoint, hub->repo,
                                                  hub_escape(hub->revision, "")),
                           .body_max = LIST_MAX,
                           .seconds  = hub->seconds};
    HttpReply   reply;
    if (hub->is_offline)
        return use_cache(hub) ? CLI_OK
                              : cli_fail("unset HF_HUB_OFFLINE to download it",
                                         "%s@%s is not in the cache %s, and HF_HUB_OFFLINE is set", hub->repo,
                                         hub->revision, hub->cache);
    int result = hub_ask(hub, &request, true, &reply);
    if (result) return result;
    if (!reply.status && !hub->output && use_cache(hub)) { // nobody answers
        cli_warn("%s: %s: using what the cache has", hub->endpoint, reply.problem);
        hub->is_offline = true;
        return CLI_OK;
    }
    if (reply.problem || reply.status != 200) return hub_fail(hub, hub->repo, &reply);
    json_t *root = json_loadb(reply.body ? reply.body : "", reply.size, JSON_REJECT_DUPLICATES, NULL);
    result       = json_is_object(root) ? read_list(hub, root) : bad_list(hub, "it is not JSON");
    json_decref(root);
    if (!result) note_commit(hub);
    return result;
}

// ---- which files are wanted

// What a compile may need besides weights.
static const char *const wanted[] = {
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "source.spm",
    "chat_template.json",
    "chat_template.jinja",
    "preprocessor_config.json",
    "modules.json",
    "sentence_bert_config.json",
    "?_Pooling/config.json",
    NULL,
};

// Weights, the best form first: all files of the first that the model has.
static const char *const weights[][4] = {
    {"model.safetensors", "model-*.safetensors", "model.safetensors.index.json", NULL},
    {"pytorch_model.bin", "pytorch_model-*.bin", "pytorch_model.bin.index.json", NULL},
};

static bool matches_any(const char *const *patterns, const char *name)
{
    for (; *patterns; patterns++)
        if (hub_matches(*patterns, name)) return true;
    return false;
}

static bool is_taken(const char *const *include, const char *const *exclude, const char *name)
{
    // A compile reads one folder, and how the vectors of tokens become one of the text.
    bool is_below = !*include && strchr(name, '/') && !hub_matches("?_Pooling/config.json", name);
    return !is_below && !matches_any(exclude, name) && (!*include || matches_any(include, name));
}

// Says what else the model has that could be compiled.
static int no_weights(const Hub *hub)
{
    static const char *const others[] = {"*.onnx", "*.gguf", "*.h5", "*.msgpack"};
    for (int k = 0; k < CLI_COUNT(others); k++)
        for (int i = 0; i < hub->count; i++)
            if (hub_matches(others[k], hub->file[i].name))
                return cli_fail(cli_format("hologram pull %s --include '%s'", hub->repo, others[k]),
                                "%s has neither safetensors nor pytorch_model.bin; it has %s", hub->repo,
                                hub->file[i].name);
    return cli_fail(cli_format("see %s/%s/tree/main; --include PATTERN chooses other files", hub->endpoint, hub->repo),
                    "%s has neither safetensors nor pytorch_model.bin", hub->repo);
}

// The row of `weights` that the model has; -1: none.
static int find_form(const Hub *hub, const char *const *include, const char *const *exclude)
{
    for (int form = 0; form < CLI_COUNT(weights); form++)
        for (int i = 0; i < hub->count; i++)
            if (is_taken(include, exclude, hub->file[i].name) && matches_any(weights[form], hub->file[i].name))
                return form;
    return -1;
}

int hub_choose(Hub *hub, const char *const *include, const char *const *exclude)
{
    int count = 0, form = *include ? -1 : find_form(hub, include, exclude);
    if (!*include && form < 0) return no_weights(hub);
    for (int i = 0; i < hub->count; i++) {
        HubFile *file   = &hub->file[i];
        file->is_chosen = is_taken(include, exclude, file->name) &&
                          (*include || matches_any(wanted, file->name) || matches_any(weights[form], file->name));
        if (!file->is_chosen) continue;
        if (!hub_is_safe_path(file->name))
            return cli_fail("--exclude PATTERN leaves it out",
                            "%s: the name of the file '%s' is refused: it leads out of its folder, or has "
                            "odd characters",
                            hub->repo, file->name);
        for (int k = 0; k < i; k++)
            if (hub->file[k].is_chosen && !strcmp(hub->file[k].name, file->name))
                return bad_list(hub, "it names a file twice");
        hub->total += file->size > 0 ? file->size : 0;
        count++;
    }
    return count ? CLI_OK : cli_fail("see its files at the hub", "%s has no file that matches", hub->repo);
}
