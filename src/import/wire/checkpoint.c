// checkpoint.c - the two forms of files that torch.save writes. See checkpoint.h.
#include "import/wire/checkpoint.h"

#include "format/dtype.h"
#include "import/wire/checkpoint_storage.h"
#include "import/wire/zip.h"

#include <string.h>

// What the older form begins with: a pickle of this number.
static const char magic_number[] = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";

static const char zip_magic[] = "PK\3\4";

enum { PROTOCOL = 1001 };

static HoloString string_of(const char *text)
{
    return (HoloString){text, strlen(text)};
}

// ---- the zip form

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), length = strlen(end);
    return size >= length && !strcmp(text + size - length, end);
}

// What is in front of an entry's own name: up to its first slash, which all entries of such a file share.
static char *prefix_of(HoloArena *arena, const char *name)
{
    const char *slash = strchr(name, '/');
    return holo_arena_text(arena, name, slash ? (size_t)(slash - name) + 1 : 0);
}

HoloStatus holo_checkpoint_open_zip(HoloArena *arena, const char *file, const void *bytes, size_t size,
                                    const HoloPickleName *more, HoloCheckpoint *out, HoloError *error)
{
    HoloZipEntry *entry;
    int           count;
    *out = (HoloCheckpoint){.arena = arena, .file = file, .error = error, .more = more};
    HOLO_TRY(holo_zip_open(arena, bytes, size, &entry, &count, error));
    for (int i = 0; i < count; i++) {
        if (holo_name_map_find(&out->parts, string_of(entry[i].name)))
            return holo_fail(error, HOLO_BAD_MODEL, "%s: the entry '%.200s' is there twice", file, entry[i].name);
        if (!holo_name_map_set(&out->parts, arena, string_of(entry[i].name), &entry[i])) return holo_fail_memory(error);
        if (!out->prefix || ends_with(entry[i].name, "/data.pkl")) out->prefix = prefix_of(arena, entry[i].name);
        if (!out->prefix) return holo_fail_memory(error);
    }
    const void *order;
    size_t      length = 0;
    if (!out->prefix) return holo_fail(error, HOLO_BAD_MODEL, "%s: the zip file is empty", file);
    HOLO_TRY(holo_checkpoint_entry(out, "byteorder", &order, &length));
    if (length == 3 && !memcmp(order, "big", 3))
        return holo_fail(error, HOLO_UNSUPPORTED,
                         "%s: it was written on a machine with big-endian numbers: save it again on another", file);
    return HOLO_OK;
}

HoloStatus holo_checkpoint_entry(const HoloCheckpoint *c, const char *name, const void **out, size_t *out_size)
{
    char *all = holo_arena_format(c->arena, "%s%s", c->prefix, name);
    *out      = NULL;
    *out_size = 0;
    if (!all) return holo_fail_memory(c->error);
    const HoloZipEntry *entry = holo_name_map_find(&c->parts, string_of(all));
    if (!entry) return HOLO_OK;
    *out_size = entry->size;
    if (entry->method) return holo_zip_read(c->arena, entry, out, c->error);
    *out = entry->stored; // its checksum is not compared: PyTorch can be told to leave it out
    return HOLO_OK;
}

HoloStatus holo_checkpoint_value(const HoloCheckpoint *c, const char *name, const HoloPickle **out)
{
    HoloPickleInput input = {.file  = holo_arena_format(c->arena, "%s, entry %s%s", c->file, c->prefix, name),
                             .names = holo_checkpoint_names,
                             .more  = c->more};
    size_t          used;
    if (!input.file) return holo_fail_memory(c->error);
    HOLO_TRY(holo_checkpoint_entry(c, name, &input.bytes, &input.size));
    if (!input.bytes)
        return holo_fail(c->error, HOLO_BAD_MODEL,
                         "%s: the zip file has no entry '%s%s': it is not of PyTorch, or damaged", c->file, c->prefix,
                         name);
    return holo_pickle_read(c->arena, &input, out, &used, c->error);
}

// ---- the older form

typedef struct Old {
    HoloCheckpoint *checkpoint;
    HoloPickleInput rest; // what is still to be read
    int             steps;
} Old;

static HoloStatus next_value(Old *old, const HoloPickle **out)
{
    size_t used = 0;
    HOLO_TRY(holo_pickle_read(old->checkpoint->arena, &old->rest, out, &used, old->checkpoint->error));
    old->rest.bytes = (const char *)old->rest.bytes + used;
    old->rest.size -= used;
    return HOLO_OK;
}

static HoloStatus broken(const HoloCheckpoint *c, const char *what)
{
    return holo_fail(c->error, HOLO_BAD_MODEL, "%s: the checkpoint is broken: %s", c->file, what);
}

// Notes the storages that are in a value, by key. The tree has less than a billion places; a hostile one with shared
// parts could have more ways to them.
static HoloStatus note_storages(Old *old, const HoloPickle *value)
{
    enum { STEPS_MAX = 1 << 24 };
    HoloCheckpoint *c = old->checkpoint;
    if (old->steps++ == STEPS_MAX) return broken(c, "its values are too many");
    for (int i = 0; i < value->count; i++)
        if (value->item[i]->count || value->item[i]->state) HOLO_TRY(note_storages(old, value->item[i]));
    if (value->state) HOLO_TRY(note_storages(old, value->state));
    if (value->kind != HOLO_PICKLE_PERSISTENT) return HOLO_OK;
    HoloCheckpointStorage *storage = HOLO_NEW(c->arena, HoloCheckpointStorage, 1), *other;
    if (!storage) return holo_fail_memory(c->error);
    HOLO_TRY(holo_checkpoint_storage(c, value, storage));
    other = holo_name_map_find(&c->parts, storage->key);
    if (other && (other->dtype != storage->dtype || other->count != storage->count))
        return broken(c, "a storage has two types or sizes");
    if (other) return HOLO_OK;
    return holo_name_map_set(&c->parts, c->arena, storage->key, storage) ? HOLO_OK : holo_fail_memory(c->error);
}

// Each storage has its number of elements, and then its bytes, in the order of the list of keys.
static HoloStatus place_storages(Old *old, const HoloPickle *keys)
{
    HoloCheckpoint *c = old->checkpoint;
    if (keys->kind != HOLO_PICKLE_LIST) return broken(c, "its storages have no list");
    for (int i = 0; i < keys->count; i++) {
        HoloCheckpointStorage *storage =
            keys->item[i]->kind == HOLO_PICKLE_TEXT ? holo_name_map_find(&c->parts, keys->item[i]->text) : NULL;
        int64_t count;
        size_t  bytes;
        if (!storage || storage->bytes) return broken(c, "its list of storages names one that no tensor has, or twice");
        if (old->rest.size < sizeof count) return broken(c, "it is cut off");
        memcpy(&count, old->rest.bytes, sizeof count);
        old->rest.bytes = (const char *)old->rest.bytes + sizeof count;
        old->rest.size -= sizeof count;
        if (count != storage->count) return broken(c, "a storage has two sizes");
        if (!holo_size_mul((size_t)count, holo_checkpoint_storage_unit(storage), &bytes) || bytes > old->rest.size)
            return broken(c, "a storage is cut off");
        storage->bytes  = old->rest.bytes;
        storage->size   = bytes;
        old->rest.bytes = (const char *)old->rest.bytes + bytes;
        old->rest.size -= bytes;
    }
    return HOLO_OK;
}

static bool is_magic(const HoloPickle *value)
{
    size_t size = sizeof magic_number - 1;
    return value->kind == HOLO_PICKLE_LONG && value->text.size >= size && !memcmp(value->text.data, magic_number, size);
}

static HoloStatus open_old(HoloCheckpoint *c, const void *bytes, size_t size)
{
    Old               old = {c, {c->file, bytes, size, holo_checkpoint_names, c->more}, 0};
    const HoloPickle *value;
    HOLO_TRY(next_value(&old, &value));
    if (!is_magic(value))
        return holo_fail(c->error, HOLO_UNSUPPORTED,
                         "%s: this is a pickle, but not a checkpoint of PyTorch: save it with torch.save", c->file);
    HOLO_TRY(next_value(&old, &value));
    if (value->kind != HOLO_PICKLE_INT || value->integer != PROTOCOL)
        return broken(c, "its protocol is not the one that torch.save writes");
    HOLO_TRY(next_value(&old, &value));
    const HoloPickle *little = holo_pickle_find(value, "little_endian");
    if (little && little->kind == HOLO_PICKLE_BOOL && !little->integer)
        return holo_fail(c->error, HOLO_UNSUPPORTED,
                         "%s: it was written on a machine with big-endian numbers: save it again on another", c->file);
    HOLO_TRY(next_value(&old, &c->root));
    HOLO_TRY(note_storages(&old, c->root));
    HOLO_TRY(next_value(&old, &value));
    return place_storages(&old, value);
}

// ---- both

HoloStatus holo_checkpoint_open(HoloArena *arena, const char *file, const void *bytes, size_t size, HoloCheckpoint *out,
                                HoloError *error)
{
    if (size >= 4 && !memcmp(bytes, zip_magic, 4)) {
        HOLO_TRY(holo_checkpoint_open_zip(arena, file, bytes, size, NULL, out, error));
        return holo_checkpoint_value(out, "data.pkl", &out->root);
    }
    *out = (HoloCheckpoint){.arena = arena, .file = file, .error = error};
    return open_old(out, bytes, size);
}
