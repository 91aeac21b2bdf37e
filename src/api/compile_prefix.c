// compile_prefix.c - a stage of a compile: the language model reads a prefix, and its cache is stored as the asset
// "prefix" of the archive.
//
// The archive reads the prefix, and is then written again with the cache, while the plan still has its constants. For a
// system prompt, the model reads everything that two conversations with it have in common, including what the chat
// template adds.
#include "api/compiling.h"
#include "archive/archive.h"
#include "runtime/model.h"
#include "text/language.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct Prefix {
    HoloCompile  *c;
    HoloLanguage *language;
    HoloTemplate *chat; // NULL: it is a plain text
    uint32_t     *token;
    size_t        count;
} Prefix;

// ---- tokens

static HoloStatus encode(const Prefix *p, const char *text, size_t size, bool special, uint32_t **out, size_t *count)
{
    HoloTokenizer *tokenizer = holo_language_tokenizer(p->language);
    if (!tokenizer)
        return holo_fail(p->c->error, HOLO_UNSUPPORTED, "the prefix is text, but the model has no tokenizer");
    return holo_tokenizer_encode(tokenizer, text, size, special ? HOLO_TEXT_SPECIAL : 0, out, count, p->c->error);
}

// The prefix without lines at its end, which shells and templates leave out; a copy of `arena`.
static const char *system_prompt(const HoloCompile *c, HoloArena *arena)
{
    HoloString prefix = c->compiler->prefix;
    while (prefix.size && strchr("\r\n", prefix.data[prefix.size - 1])) prefix.size--;
    return holo_arena_text(arena, prefix.data, prefix.size);
}

// The tokens of a conversation that has a system prompt, and this question.
static HoloStatus question(const Prefix *p, const char *system, const char *asked, uint32_t **out, size_t *out_count)
{
    HoloError *error = p->c->error;
    char      *whole = NULL;
    size_t     size;
    json_t *root = json_pack("{s:[{s:s,s:s},{s:s,s:s}],s:b}", "messages", "role", "system", "content", system, "role",
                             "user", "content", asked, "add_generation_prompt", 1);
    char   *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (!text) return holo_fail(error, HOLO_BAD_ARGUMENT, "the prefix cannot be a system prompt: it is not UTF-8");
    HoloStatus status = holo_template_render(p->chat, text, strlen(text), &whole, &size, error);
    free(text);
    if (!status && !strstr(whole, system))
        status = holo_fail(error, HOLO_UNSUPPORTED,
                           "the chat template has no place for a system prompt; the prefix can only be a plain text");
    if (!status) status = encode(p, whole, size, false, out, out_count);
    holo_text_free(whole);
    return status;
}

static HoloStatus tokens_find(Prefix *p)
{
    const HoloString prefix = p->c->compiler->prefix;
    uint32_t        *other  = NULL;
    HoloArena        arena  = {0};
    size_t           count;
    if (!p->chat) return encode(p, prefix.data, prefix.size, true, &p->token, &p->count);
    const char *system = system_prompt(p->c, &arena);
    HoloStatus  status = system ? question(p, system, "a", &p->token, &p->count) : holo_fail_memory(p->c->error);
    if (!status) status = question(p, system, "1", &other, &count);
    if (!status) p->count = holo_tokens_common(p->token, p->count, other, count);
    holo_ids_free(other);
    holo_arena_deinit(&arena);
    return status;
}

// ---- what is kept

static HoloStatus language_open(Prefix *p, const HoloModel *model)
{
    HoloString block;
    HOLO_TRY(holo_language_open(model, p->c->pool, NULL, &p->language, p->c->error));
    if (p->language->way != HOLO_READS_CACHED)
        return holo_fail(p->c->error, HOLO_UNSUPPORTED, "the model has no caches, so it cannot store a prefix");
    if (p->c->compiler->is_prefix_plain || !holo_model_asset(model, "template", &block)) return HOLO_OK;
    return holo_template_open_memory(block.data, block.size, &p->chat, p->c->error);
}

static HoloStatus prefix_read(Prefix *p, const HoloModel *model)
{
    HoloCompile    *c = p->c;
    HoloFileWriter *memory;
    HoloMapping     bytes;
    const float    *logits;
    HOLO_TRY(language_open(p, model));
    HOLO_TRY(tokens_find(p));
    if (!p->count) return holo_fail(c->error, HOLO_BAD_ARGUMENT, "the prefix has no tokens");
    HOLO_TRY(holo_language_read(p->language, 0, p->token, p->count, &logits, c->error));
    HOLO_TRY(holo_file_writer_memory(&memory, c->error));
    HoloStatus status = holo_kept_write(p->language, 0, true, memory, c->error);
    if (!status) status = holo_file_writer_map(memory, &bytes, c->error);
    if (!status) {
        status = holo_plan_asset(&c->plan, "prefix", bytes.data, bytes.size, c->error);
        holo_file_unmap(&bytes);
    }
    HoloStatus closed = holo_file_writer_close(memory, false, NULL);
    return status ? status : closed;
}

HoloStatus holo_compile_prefix(HoloCompile *c)
{
    Prefix          p = {.c = c};
    HoloMapping     mapping;
    HoloModel      *model;
    HoloFileWriter *file;
    if (!c->compiler->prefix.data) return HOLO_OK;
    holo_compiler_progress(c->compiler, "reading the prefix", 0.5);
    HOLO_TRY(holo_file_writer_map(c->file, &mapping, c->error));
    HOLO_TRY(holo_model_open_mapping(&mapping, &model, c->error));
    HoloStatus status = c->twins ? holo_model_set_device(model, holo_target_cpu.name, c->error) : HOLO_OK;
    if (!status) status = prefix_read(&p, model);
    holo_language_close(p.language);
    holo_template_close(p.chat);
    holo_ids_free(p.token);
    holo_model_close(model);
    if (status) return status;
    HOLO_TRY(holo_compile_open(c, &file));
    status            = holo_compile_archive(c, file);
    HoloStatus closed = holo_file_writer_close(status ? file : c->file, false, c->error);
    if (status) return status;
    c->file                      = file;
    c->box->report.prefix_tokens = (uint32_t)p.count;
    return closed;
}
