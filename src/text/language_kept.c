// language_kept.c - what a language model has kept of a text, as bytes: saved to a file, loaded from one, and stored in
// the archive for a prefix.
//
// The bytes are a Head, a Part for each state, the tokens, and then the contents of each state. Caches have a row for each
// token; other states have all of their slot. What is loaded is copied into the states before the next run, when they have
// memory. All bytes are checked when they come in, and those of a file must be of the same model.
#include "base/files.h"
#include "base/hash.h"
#include "text/language.h"

#include <string.h>

enum { VERSION = 1 };
static const char magic[] = "HOLOKEPT";

typedef struct Head {
    char     magic[8];
    uint32_t version, states;
    uint64_t model[2]; // identity; 0 in an archive
    uint64_t tokens;
    uint64_t size;    // of everything
    uint64_t hash[2]; // of everything behind the head
} Head;

typedef struct Part {
    uint32_t dtype, is_cache;
    uint64_t bytes; // of a token, or of the slot
} Part;

// ---- states

bool holo_language_state(const HoloLanguage *l, int i, size_t *out_row)
{
    const HoloPort *port     = holo_model_state(l->model, i);
    bool            is_cache = port->type.rank == 3 && port->symbol[1] && !strcmp(port->symbol[1], "context");
    *out_row                 = port->type.rank > 0 ? holo_dtype_size((HoloDtype)port->type.dtype) : 0;
    for (int d = is_cache ? 2 : 1; d < port->type.rank; d++)
        if (port->type.dim[d] < 0 || !holo_size_mul(*out_row, (size_t)port->type.dim[d], out_row)) *out_row = 0;
    return is_cache;
}

HoloStatus holo_language_state_part(HoloLanguage *l, int i, int text, size_t tokens, HoloStatePart *out,
                                    HoloError *error)
{
    HoloTensor t;
    HOLO_TRY(holo_session_state_type(l->session, i, &t, error));
    out->is_cache = holo_language_state(l, i, &out->row);
    size_t slot   = out->is_cache ? (size_t)t.dim[1] * out->row : out->row;
    out->at       = (size_t)text * slot;
    out->size     = out->is_cache ? tokens * out->row : out->row;
    if (text >= t.dim[0] || out->size > slot)
        return holo_fail(error, HOLO_INTERNAL, "state %d has no room for what was kept", i);
    return HOLO_OK;
}

// A number that differs for models that compute differently: what they were made from, and how.
static void identity_of(const HoloLanguage *l, uint64_t out[2])
{
    static const char *const keys[] = {"source.hash", "source.bytes", "numeric", "quantize", "compiler.version"};
    HoloHash                 all[HOLO_COUNT(keys)];
    for (int i = 0; i < HOLO_COUNT(keys); i++) {
        const char *value = holo_model_meta_find(l->model, keys[i]);
        all[i]            = holo_hash(value ? value : "", value ? strlen(value) : 0);
    }
    HoloHash hash = holo_hash(all, sizeof all);
    memcpy(out, hash.word, sizeof hash.word);
}

// ---- reading

// Are they the states of this model, and all bytes there?
static HoloStatus parts_check(HoloLanguage *l, const HoloKeptText *k, size_t size, HoloError *error)
{
    uint64_t need = sizeof(Head) + (uint64_t)k->states * sizeof(Part);
    if (k->states != (uint32_t)holo_model_state_count(l->model))
        return holo_fail(error, HOLO_BAD_INPUT, "it has %u states, and the model %d", k->states,
                         holo_model_state_count(l->model));
    if (k->count > size / sizeof(uint32_t) || need > size) return holo_fail(error, HOLO_BAD_INPUT, "it is cut off");
    need += holo_align(k->count * sizeof(uint32_t), 8);
    for (uint32_t i = 0; i < k->states; i++) {
        Part   part;
        size_t row;
        bool   is_cache = holo_language_state(l, (int)i, &row);
        memcpy(&part, k->bytes + sizeof(Head) + i * sizeof part, sizeof part);
        if (part.dtype != holo_model_state(l->model, (int)i)->type.dtype || part.bytes != row ||
            part.is_cache != is_cache)
            return holo_fail(error, HOLO_BAD_INPUT, "its state %u is not that of the model", i);
        if (is_cache && row && k->count > (size - need) / row) return holo_fail(error, HOLO_BAD_INPUT, "it is cut off");
        need += is_cache ? k->count * row : row;
        if (need > size) return holo_fail(error, HOLO_BAD_INPUT, "it is cut off");
    }
    return need == size ? HOLO_OK : holo_fail(error, HOLO_BAD_INPUT, "it has more bytes than it says");
}

static HoloStatus tokens_check(const HoloLanguage *l, const HoloKeptText *k, HoloError *error)
{
    if (!k->count || (l->context && k->count > (uint64_t)l->context))
        return holo_fail(error, HOLO_BAD_INPUT, "it is of %llu tokens, and the model reads 1 to %lld",
                         (unsigned long long)k->count, (long long)l->context);
    for (size_t i = 0; i < k->count && l->vocabulary; i++) {
        uint32_t token = holo_kept_token(k, i);
        if (token >= l->vocabulary)
            return holo_fail(error, HOLO_BAD_INPUT, "its token %u is none of the model's, which are below %u", token,
                             l->vocabulary);
    }
    return HOLO_OK;
}

HoloStatus holo_kept_open(HoloLanguage *l, const void *bytes, size_t size, bool is_own, HoloKeptText *out,
                          HoloError *error)
{
    Head     head;
    uint64_t model[2];
    *out = (HoloKeptText){0};
    if (size < sizeof head || memcmp(bytes, magic, sizeof head.magic) != 0)
        return holo_fail(error, HOLO_BAD_INPUT, "this is not a cache that was saved");
    memcpy(&head, bytes, sizeof head);
    if (head.version != VERSION)
        return holo_fail(error, HOLO_BAD_INPUT, "it is of version %u, and this program reads version %d", head.version,
                         VERSION);
    identity_of(l, model);
    if (!is_own && memcmp(model, head.model, sizeof model) != 0)
        return holo_fail(error, HOLO_BAD_INPUT,
                         "it was saved by another model: a cache is of use only to the archive that made it");
    HoloHash hash = {{0}}; // an archive has hashes of its own
    if (!is_own) hash = holo_hash((const char *)bytes + sizeof head, size - sizeof head);
    if (head.size != size || (!is_own && memcmp(hash.word, head.hash, sizeof head.hash) != 0))
        return holo_fail(error, HOLO_BAD_INPUT, "it is damaged: its bytes are not those that were saved");
    if (head.states > (size - sizeof head) / sizeof(Part) || head.tokens > size)
        return holo_fail(error, HOLO_BAD_INPUT, "it is cut off");
    *out              = (HoloKeptText){.bytes = bytes, .states = head.states, .count = (size_t)head.tokens};
    out->token        = out->bytes + sizeof head + head.states * sizeof(Part);
    HoloStatus status = parts_check(l, out, size, error);
    if (!status) status = tokens_check(l, out, error);
    if (status) *out = (HoloKeptText){0};
    return status;
}

uint32_t holo_kept_token(const HoloKeptText *kept, size_t i)
{
    uint32_t token;
    memcpy(&token, kept->token + i * sizeof token, sizeof token);
    return token;
}

HoloStatus holo_kept_apply(HoloLanguage *l, int text, HoloError *error)
{
    HoloKnownText      *k    = &l->text[text];
    const HoloKeptText *kept = &k->kept;
    if (!kept->bytes) return HOLO_OK;
    const char *at = kept->token + holo_align(kept->count * sizeof(uint32_t), 8);
    for (int i = 0; i < holo_model_state_count(l->model) && k->count; i++) {
        HoloStatePart part;
        HOLO_TRY(holo_language_state_part(l, i, text, k->count, &part, error));
        HOLO_TRY(holo_session_state_write(l->session, i, part.at, at, part.size, error));
        at += part.is_cache ? kept->count * part.row : part.row;
    }
    holo_kept_drop(k);
    return HOLO_OK;
}

void holo_kept_drop(HoloKnownText *k)
{
    k->kept = (HoloKeptText){0};
    holo_file_unmap(&k->file);
    k->file = (HoloMapping){0};
}

HoloStatus holo_known_set(HoloKnownText *k, const HoloKeptText *kept, size_t count, HoloError *error)
{
    if (count > k->room) {
        uint32_t *token = holo_realloc(k->token, count * sizeof *token);
        if (!token) return holo_fail_memory(error);
        k->token = token;
        k->room  = count;
    }
    memcpy(k->token, kept->token, count * sizeof *k->token);
    k->count = count;
    k->kept  = *kept;
    return HOLO_OK;
}

HoloStatus holo_language_load(HoloLanguage *l, int text, const char *path, HoloError *error)
{
    HoloMapping  file;
    HoloKeptText kept;
    HoloError    why = {0};
    if (text < 0 || text >= l->text_count)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no text %d: %d can be kept", text, l->text_count);
    if (l->way != HOLO_READS_CACHED)
        return holo_fail(error, HOLO_UNSUPPORTED, "the model has no caches, so none can be loaded");
    HOLO_TRY(holo_file_map(path, &file, error));
    HoloStatus status = holo_kept_open(l, file.data, file.size, false, &kept, &why);
    holo_kept_drop(&l->text[text]);
    if (!status) status = holo_known_set(&l->text[text], &kept, kept.count, &why);
    if (status) {
        holo_file_unmap(&file);
        return holo_fail(error, status, "%s: %s", path, why.text);
    }
    l->text[text].file = file;
    return HOLO_OK;
}

// ---- writing

typedef HoloStatus Add(void *to, const void *data, size_t size);

static HoloStatus part_give(HoloLanguage *l, int i, const HoloStatePart *part, Add *add, void *to, HoloError *error)
{
    _Alignas(16) char bytes[1 << 14]; // a multiple of the size of any element
    for (size_t done = 0, size; done < part->size; done += size) {
        size = part->size - done < sizeof bytes ? part->size - done : sizeof bytes;
        HOLO_TRY(holo_session_state_read(l->session, i, part->at + done, bytes, size, error));
        HOLO_TRY(add(to, bytes, size));
    }
    return HOLO_OK;
}

// Has `add` called with all bytes behind the head, in order.
static HoloStatus contents_give(HoloLanguage *l, int text, Add *add, void *to, HoloError *error)
{
    const HoloKnownText *k      = &l->text[text];
    const uint64_t       none   = 0;
    size_t               tokens = k->count * sizeof *k->token, row;
    int                  states = holo_model_state_count(l->model);
    for (int i = 0; i < states; i++) {
        Part part     = {.dtype = holo_model_state(l->model, i)->type.dtype};
        part.is_cache = holo_language_state(l, i, &row);
        part.bytes    = row;
        HOLO_TRY(add(to, &part, sizeof part));
    }
    HOLO_TRY(add(to, k->token, tokens));
    HOLO_TRY(add(to, &none, holo_align(tokens, 8) - tokens));
    for (int i = 0; i < states; i++) {
        HoloStatePart part;
        HOLO_TRY(holo_language_state_part(l, i, text, k->count, &part, error));
        HOLO_TRY(part_give(l, i, &part, add, to, error));
    }
    return HOLO_OK;
}

typedef struct Saving {
    HoloFileWriter *file;
    HoloHasher     *hasher;
    uint64_t        size;
    HoloError      *error;
} Saving;

static HoloStatus bytes_save(void *to, const void *data, size_t size)
{
    Saving *s = to;
    holo_hasher_add(s->hasher, data, size);
    s->size += size;
    return size ? holo_file_write(s->file, data, size, s->error) : HOLO_OK;
}

HoloStatus holo_kept_write(HoloLanguage *l, int text, bool is_own, HoloFileWriter *file, HoloError *error)
{
    Head       head   = {.version = VERSION, .tokens = l->text[text].count};
    Saving     s      = {.file = file, .hasher = holo_hasher_create(), .size = sizeof head, .error = error};
    HoloStatus status = s.hasher ? holo_file_write(file, &head, sizeof head, error) : holo_fail_memory(error);
    memcpy(head.magic, magic, sizeof head.magic);
    head.states = (uint32_t)holo_model_state_count(l->model);
    if (!is_own) identity_of(l, head.model);
    if (!status) status = contents_give(l, text, bytes_save, &s, error);
    if (!status) {
        HoloHash hash = holo_hasher_take(s.hasher);
        memcpy(head.hash, hash.word, sizeof head.hash);
        head.size = s.size;
        status    = holo_file_write_at(file, 0, &head, sizeof head, error);
    }
    holo_hasher_destroy(s.hasher);
    return status;
}

HoloStatus holo_language_save(HoloLanguage *l, int text, const char *path, HoloError *error)
{
    HoloFileWriter *file;
    if (text < 0 || text >= l->text_count)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no text %d: %d can be kept", text, l->text_count);
    if (l->way != HOLO_READS_CACHED)
        return holo_fail(error, HOLO_UNSUPPORTED, "the model has no caches, so none can be saved");
    if (!l->text[text].count || l->text[text].kept.bytes)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "nothing was read of text %d, so there is nothing to save", text);
    HOLO_TRY(holo_file_writer_open(path, &file, error));
    HoloStatus status = holo_kept_write(l, text, false, file, error);
    HoloStatus closed = holo_file_writer_close(file, !status, error);
    return status ? status : closed;
}
