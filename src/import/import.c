// import.c - opens a model of any format: finds out what it is, who reads it, and which files it is in.
#include "import/importer.h"

#include "base/bytes.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

// ---- what may be a model

bool holo_offer_has_bytes(const HoloOffer *c, size_t offset, const char *bytes)
{
    size_t size = strlen(bytes);
    return !c->is_folder && c->file.size >= offset + size && !memcmp((const char *)c->file.data + offset, bytes, size);
}

bool holo_offer_is_text(const HoloOffer *c)
{
    const uint8_t *bytes = c->file.data;
    size_t         size  = c->is_folder ? 0 : c->file.size;
    for (size_t i = 0; i < size && i < 256; i++)
        if ((bytes[i] < ' ' && !memchr("\t\r\n\f", bytes[i], 4)) || bytes[i] == 127) return false;
    return size && (bytes[0] < 128 || bytes[0] == 0xEF);
}

bool holo_offer_mentions(const HoloOffer *c, const char *text)
{
    enum { FIRST = 64 << 10, LAST = 64 << 10 };
    const char *bytes = c->file.data;
    size_t      size = c->file.size, first = size < FIRST ? size : FIRST, last = size < LAST ? size : LAST;
    if (c->is_folder || !size) return false;
    return holo_bytes_find(bytes, first, text, strlen(text)) ||
           holo_bytes_find(bytes + size - last, last, text, strlen(text));
}

// Where "snapshots/COMMIT" begins in a path of the cache of HuggingFace's hub; NULL: it is not one.
static const char *find_snapshot(const char *path)
{
    enum { WORD = 10, COMMIT = 40 };
    const char *found = NULL, *at = path;
    for (; (at = strstr(at, "snapshots/")); at++) {
        size_t digits = strspn(at + WORD, "0123456789abcdef");
        char   end    = at[WORD + digits];
        if (at > path && at[-1] == '/' && digits == COMMIT && (!end || end == '/')) found = at;
    }
    return found;
}

// Maps a file of a folder, which it cannot lead out of. In a snapshot of the hub's cache files are links to contents
// beside it: there the folder of all snapshots of the model is what it cannot lead out of.
static HoloStatus map_inside(const char *folder, const char *name, HoloMapping *out, HoloError *error)
{
    char        root[4096], inner[4096];
    const char *snapshot = find_snapshot(folder);
    if (!snapshot) return holo_file_map_below(folder, name, out, error);
    size_t size = strlen(snapshot), begin = (size_t)(snapshot - folder) - 1;
    while (size && snapshot[size - 1] == '/') size--;
    int a = snprintf(root, sizeof root, "%.*s", (int)begin, folder);
    int b = snprintf(inner, sizeof inner, "%.*s/%s", (int)size, snapshot, name);
    if (!a || a >= (int)sizeof root || b >= (int)sizeof inner) return holo_file_map_below(folder, name, out, error);
    return holo_file_map_below(root, inner, out, error);
}

bool holo_offer_has_name(const HoloOffer *c, const char *name)
{
    for (int i = 0; i < c->names.count; i++)
        if (!strcmp(c->names.name[i], name)) return true;
    return false;
}

size_t holo_offer_peek(const HoloOffer *c, const char *name, void *out, size_t room)
{
    HoloMapping file;
    bool        is_below = c->is_folder && strchr(name, '/');
    if (!is_below && !holo_offer_has_name(c, name)) return 0;
    if (map_inside(c->path, name, &file, NULL)) return 0;
    size_t size = file.size < room ? file.size : room;
    if (size) memcpy(out, file.data, size);
    holo_file_unmap(&file);
    return size;
}

static HoloStatus offer_open(HoloOffer *c, const char *path, HoloError *error)
{
    *c = (HoloOffer){.path = path, .is_folder = holo_path_is_folder(path)};
    return c->is_folder ? holo_folder_list(path, &c->names, error) : holo_file_map(path, &c->file, error);
}

static void offer_close(HoloOffer *c)
{
    if (c->is_folder)
        holo_folder_free(&c->names);
    else
        holo_file_unmap(&c->file);
}

// ---- the table

static HoloSniff fit_of(const HoloImporter *row, const HoloOffer *c)
{
    if (row->magic) return holo_offer_has_bytes(c, row->magic_at, row->magic) ? HOLO_SNIFF_SURE : HOLO_SNIFF_NONE;
    return row->sniff(c);
}

// The row that is surest; NULL: none fits.
static const HoloImporter *find(const HoloOffer *c)
{
    const HoloImporter *best     = NULL;
    HoloSniff           best_fit = HOLO_SNIFF_NONE;
    for (int t = 0; holo_importer_tables[t]; t++)
        for (const HoloImporter *row = holo_importer_tables[t]; row->name; row++) {
            HoloSniff fit = fit_of(row, c);
            if (fit <= best_fit) continue;
            best     = row;
            best_fit = fit;
        }
    return best;
}

HoloStatus holo_import_find(const char *path, const HoloImporter **out, HoloError *error)
{
    HoloOffer offer;
    *out = NULL;
    HOLO_TRY(offer_open(&offer, path, error));
    *out = find(&offer);
    offer_close(&offer);
    return HOLO_OK;
}

const HoloImporter *holo_import_find_memory(const void *bytes, size_t size)
{
    return find(&(HoloOffer){.file = {.data = bytes, .size = size}});
}

const char *holo_importer_name(const HoloImporter *importer)
{
    return importer ? importer->name : NULL;
}

bool holo_importer_is_model(const HoloImporter *importer)
{
    return importer && importer->is_model;
}

HoloFormWords holo_importer_words(const HoloImporter *importer)
{
    HoloFormWords words;
    snprintf(words.text, sizeof words.text, "%s%s%s", importer->words, importer->advice ? ": " : "",
             importer->advice ? importer->advice : "");
    return words;
}

// ---- opening

// The names of all formats that can be read.
static void names_write(char *out, size_t room)
{
    size_t at = 0;
    *out      = 0;
    for (int t = 0; holo_importer_tables[t]; t++)
        for (const HoloImporter *row = holo_importer_tables[t]; row->name; row++) {
            if (!row->open || at >= room) continue;
            at += (size_t)snprintf(out + at, room - at, "%s%s", at ? ", " : "", row->name);
        }
}

static HoloStatus refuse(const HoloImport *import, const HoloImporter *row)
{
    char known[1000];
    if (row && row->is_model)
        return holo_fail(import->error, HOLO_UNSUPPORTED, "this is %s, which cannot be read yet: %s", row->words,
                         row->advice);
    if (row)
        return holo_fail(import->error, HOLO_BAD_MODEL, "this is not a model; it looks like %s",
                         holo_importer_words(row).text);
    names_write(known, sizeof known);
    if (import->from->is_folder)
        return holo_fail(import->error, HOLO_NO_FILE,
                         "the folder '%s' is not a model that can be read, which would be one of these: %s",
                         import->from->path, known);
    return holo_fail(import->error, HOLO_BAD_MODEL,
                     "this is not a model that can be read, or it is damaged. Formats that can be read: %s", known);
}

// The hash of a file, read piece by piece so that not all of it is in memory at once.
static HoloHash hash_file(HoloHasher *hasher, const HoloMapping *file)
{
    enum { PIECE = 16 << 20 };
    for (size_t at = 0; at < file->size; at += PIECE) {
        const char *piece = (const char *)file->data + at;
        size_t      size  = file->size - at < PIECE ? file->size - at : PIECE;
        holo_hasher_add(hasher, piece, size);
        holo_file_release(file, piece, size);
    }
    return holo_hasher_take(hasher);
}

// For a folder: the hash of the hashes of its files.
static HoloStatus hash_files(HoloImport *import)
{
    HoloModelSource *out    = import->out;
    int              count  = import->from->is_folder ? out->file_count : 1;
    HoloHash        *all    = HOLO_NEW(import->arena, HoloHash, count);
    HoloHasher      *hasher = all ? holo_hasher_create() : NULL;
    if (!hasher) return holo_fail_memory(import->error);
    for (int i = 0; i < count; i++)
        all[i] = hash_file(hasher, import->from->is_folder ? out->files[i] : &import->from->file);
    holo_hasher_destroy(hasher);
    HoloHash hash = import->from->is_folder ? holo_hash(all, (size_t)count * sizeof *all) : all[0];
    memcpy(out->hash, hash.word, sizeof out->hash);
    return HOLO_OK;
}

static HoloStatus open_offer(HoloArena *arena, const HoloOffer *offer, const HoloImportRequest *request,
                             HoloModelSource *out, HoloError *error)
{
    HoloImport          import = {.arena      = arena,
                                  .error      = error,
                                  .from       = offer,
                                  .out        = out,
                                  .told       = request->told,
                                  .told_count = request->told_count,
                                  .is_wide    = request->is_wide};
    const HoloImporter *row    = find(offer);
    if (!row || !row->open) return refuse(&import, row);
    out->format = row->name;
    out->bytes += offer->file.size;
    holo_import_limit(&import, out->bytes);
    HOLO_TRY(row->open(&import));
    if (!out->entry_count) HOLO_TRY(holo_import_entry(&import, "", out->graph));
    return hash_files(&import);
}

static HoloStatus open_memory(HoloArena *arena, const HoloImportRequest *request, HoloModelSource *out,
                              HoloError *error)
{
    HoloOffer  offer  = {.file = {.data = request->bytes, .size = request->size}};
    HoloStatus status = open_offer(arena, &offer, request, out, error);
    if (status) holo_import_close(out);
    return status;
}

static HoloStatus keep_file(HoloArena *arena, HoloModelSource *out, HoloMapping *mapping, HoloError *error)
{
    HoloMapping **files = HOLO_NEW(arena, HoloMapping *, out->file_count + 1);
    if (!files) {
        holo_file_unmap(mapping);
        return holo_fail_memory(error);
    }
    if (out->file_count) memcpy(files, out->files, (size_t)out->file_count * sizeof *files);
    files[out->file_count++] = mapping;
    out->files               = files;
    return HOLO_OK;
}

static HoloStatus open_path(HoloArena *arena, const HoloImportRequest *request, HoloModelSource *out, HoloError *error)
{
    HoloOffer    offer;
    HoloMapping *file = HOLO_NEW(arena, HoloMapping, 1);
    if (!file) return holo_fail_memory(error);
    HOLO_TRY(offer_open(&offer, request->path, error));
    *file             = offer.file;
    HoloStatus status = offer.is_folder ? HOLO_OK : keep_file(arena, out, file, error);
    if (!status) status = open_offer(arena, &offer, request, out, error);
    if (status) holo_import_close(out);
    if (offer.is_folder) holo_folder_free(&offer.names);
    return status;
}

HoloStatus holo_import_request(HoloArena *arena, const HoloImportRequest *request, HoloModelSource *out,
                               HoloError *error)
{
    *out = (HoloModelSource){0};
    return request->path ? open_path(arena, request, out, error) : open_memory(arena, request, out, error);
}

HoloStatus holo_import_open(HoloArena *arena, const char *path, HoloModelSource *out, HoloError *error)
{
    return holo_import_request(arena, &(HoloImportRequest){.path = path}, out, error);
}

HoloStatus holo_import_memory(HoloArena *arena, const void *bytes, size_t size, HoloModelSource *out, HoloError *error)
{
    return holo_import_request(arena, &(HoloImportRequest){.bytes = bytes, .size = size}, out, error);
}

void holo_import_close(HoloModelSource *source)
{
    for (int i = 0; i < source->file_count; i++) holo_file_unmap(source->files[i]);
    *source = (HoloModelSource){0};
}

// ---- files and metadata

// The folder that has the model, or that is the model; "." if its path has no slash.
static char *folder_of(HoloImport *import)
{
    const char *path = import->from->path;
    size_t      size = (size_t)(holo_path_name(path) - path);
    if (import->from->is_folder) return holo_arena_text(import->arena, path, strlen(path));
    return size ? holo_arena_text(import->arena, path, size > 1 ? size - 1 : 1)
                : holo_arena_text(import->arena, ".", 1);
}

HoloStatus holo_import_map(HoloImport *import, HoloString name, HoloMapping **out)
{
    *out = holo_name_map_find(&import->files, name);
    if (*out) return HOLO_OK;
    if (!import->out || !import->from->path)
        return holo_fail(import->error, HOLO_BAD_MODEL, "cannot find the file '%.*s': the model has no folder",
                         HOLO_IMPORT_ARG(name));
    if (memchr(name.data, 0, name.size))
        return holo_fail(import->error, HOLO_BAD_MODEL, "the file name '%.*s' contains a zero byte",
                         HOLO_IMPORT_ARG(name));
    char        *folder = folder_of(import), *path = holo_import_text(import, name);
    HoloMapping *file = HOLO_NEW(import->arena, HoloMapping, 1);
    if (!folder || !path || !file) return holo_fail_memory(import->error);
    HOLO_TRY(map_inside(folder, path, file, import->error));
    HOLO_TRY(keep_file(import->arena, import->out, file, import->error));
    static const char pointer[] = "version https://git-lfs";
    if (file->size >= sizeof pointer - 1 && !memcmp(file->data, pointer, sizeof pointer - 1))
        return holo_fail(import->error, HOLO_BAD_MODEL,
                         "%s is a Git LFS pointer: the file itself was not downloaded (git lfs pull)", path);
    if (!holo_name_map_set(&import->files, import->arena, (HoloString){path, name.size}, file))
        return holo_fail_memory(import->error);
    import->out->bytes += file->size;
    holo_import_limit(import, import->out->bytes);
    *out = file;
    return HOLO_OK;
}

char *holo_import_text(HoloImport *import, HoloString text)
{
    return holo_arena_text(import->arena, text.size ? text.data : "", text.size);
}

static HoloStatus meta_add(HoloImport *import, const char *key, const char *value, bool is_own)
{
    HoloModelSource *out  = import->out;
    HoloModelMeta    meta = {holo_arena_text(import->arena, key, strlen(key)),
                             holo_arena_text(import->arena, value, strlen(value)), is_own};
    if (!meta.key || !meta.value || !HOLO_GROW(import->arena, out->meta, out->meta_count, out->meta_room))
        return holo_fail_memory(import->error);
    out->meta[out->meta_count++] = meta;
    return HOLO_OK;
}

HoloStatus holo_import_entry(HoloImport *import, const char *name, HoloGraph *graph)
{
    HoloModelSource *out   = import->out;
    HoloModelEntry   entry = {holo_arena_text(import->arena, name, strlen(name)), graph};
    if (!entry.name || !HOLO_GROW(import->arena, out->entries, out->entry_count, out->entry_room))
        return holo_fail_memory(import->error);
    if (!out->entry_count) out->graph = graph;
    out->entries[out->entry_count++] = entry;
    return HOLO_OK;
}

HoloStatus holo_import_fact(HoloImport *import, const char *key, const char *value)
{
    return *value ? meta_add(import, key, value, false) : HOLO_OK;
}

HoloStatus holo_import_own(HoloImport *import, const char *key, const char *value)
{
    return meta_add(import, key, value, true);
}
