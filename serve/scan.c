// scan.c - finds models in files and folders. See scan.h.
#include "scan.h"

#include "hologram_compiler.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FOUND_MAX = 100000 };

// ---- identity

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t signature_of(const struct stat *s)
{
    uint64_t h = mix(mix(1, (uint64_t)s->st_dev), (uint64_t)s->st_ino);
    h          = mix(mix(h, (uint64_t)s->st_size), (uint64_t)s->st_mtim.tv_sec);
    return mix(h, (uint64_t)s->st_mtim.tv_nsec);
}

// Of a model that is a folder: all files in it.
static uint64_t signature_folder(const char *path)
{
    uint64_t       h   = 7;
    DIR           *dir = opendir(path);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        struct stat s;
        char       *file = take_format("%s/%s", path, entry->d_name);
        if (*entry->d_name != '.' && !stat(file, &s) && S_ISREG(s.st_mode)) h += signature_of(&s); // in any order
        free(file);
    }
    if (dir) closedir(dir);
    return h;
}

// ---- lists

static void found_add(Scan *s, const char *name, size_t name_size, const char *version, const char *path,
                      bool is_archive)
{
    struct stat info;
    if (!name_size || s->count == FOUND_MAX || stat(path, &info)) return;
    if (s->count == s->room) {
        s->room  = s->room * 2 + 16;
        s->found = realloc(s->found, (size_t)s->room * sizeof *s->found);
        if (!s->found) abort();
    }
    s->found[s->count++] = (Found){.name       = take_format("%.*s", (int)name_size, name),
                                   .version    = take_text(version),
                                   .path       = take_text(path),
                                   .signature  = S_ISDIR(info.st_mode) ? signature_folder(path) : signature_of(&info),
                                   .is_archive = is_archive};
}

static void folder_add(Scan *s, const char *path)
{
    if (s->folder_count == s->folder_room) {
        s->folder_room = s->folder_room * 2 + 16;
        s->folder      = realloc(s->folder, (size_t)s->folder_room * sizeof *s->folder);
        if (!s->folder) abort();
    }
    s->folder[s->folder_count++] = take_text(path);
}

// ---- looking

// Files that are being written are not looked at.
static bool is_hidden(const char *name)
{
    static const char *const endings[] = {".tmp", ".part", ".partial", ".swp", "~"};
    size_t                   size      = strlen(name);
    for (int i = 0; i < SERVE_COUNT(endings); i++) {
        size_t n = strlen(endings[i]);
        if (size >= n && !strcmp(name + size - n, endings[i])) return true;
    }
    return *name == '.';
}

static HoloFileKind kind_of(const char *path)
{
    HoloFileKind kind  = HOLO_FILE_OTHER;
    HoloError    error = {0};
    return holo_file_kind(path, &kind, &error) ? HOLO_FILE_OTHER : kind;
}

// Files with these endings are meant to be models: if one is not, that is told instead of passed over.
static bool is_meant(const char *path, const char *name)
{
    static const char *const endings[] = {".holo", ".onnx", ".gguf", ".tflite", ".keras", ".pt2"};
    struct stat              info;
    const char              *dot = strrchr(name, '.');
    for (int i = 0; i < SERVE_COUNT(endings); i++)
        if (dot && dot != name && !strcmp(dot, endings[i])) return !stat(path, &info) && info.st_size;
    return false;
}

static size_t stem_size(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

static bool is_number(const char *name)
{
    return *name >= '1' && *name <= '9' && strlen(name) <= 18 && name[strspn(name, "0123456789")] == 0;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return !stat(path, &info) && S_ISDIR(info.st_mode);
}

typedef void (*EachFn)(Scan *s, const char *path, const char *name, const char *model);

static void each_of(Scan *s, const char *folder, const char *model, EachFn each)
{
    struct dirent **list  = NULL;
    int             count = scandir(folder, &list, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char *path = take_format("%s/%s", folder, list[i]->d_name);
        if (!is_hidden(list[i]->d_name)) each(s, path, list[i]->d_name, model);
        free(path);
        free(list[i]);
    }
    free(list);
}

// The model of a version: a file in its folder, or the folder itself.
static void look_in_version(Scan *s, const char *path, const char *name, const char *model)
{
    char        *folder = take_format("%.*s", (int)(strlen(path) - strlen(name) - 1), path);
    HoloFileKind kind   = is_folder(path) ? HOLO_FILE_OTHER : kind_of(path);
    if (kind != HOLO_FILE_OTHER || (!is_folder(path) && is_meant(path, name)))
        found_add(s, model, strlen(model), name_of(folder), path, kind == HOLO_FILE_ARCHIVE);
    free(folder);
}

static void look_for_version(Scan *s, const char *path, const char *name, const char *model)
{
    if (!is_number(name) || !is_folder(path)) return;
    folder_add(s, path);
    if (kind_of(path) == HOLO_FILE_MODEL)
        found_add(s, model, strlen(model), name, path, false);
    else
        each_of(s, path, model, look_in_version);
}

static void look_at(Scan *s, const char *path, const char *name, const char *model)
{
    HoloFileKind kind;
    (void)model;
    if (!is_folder(path)) {
        kind = kind_of(path);
        if (kind != HOLO_FILE_OTHER || is_meant(path, name))
            found_add(s, name, stem_size(name), "1", path, kind == HOLO_FILE_ARCHIVE);
        return;
    }
    folder_add(s, path);
    if (kind_of(path) == HOLO_FILE_MODEL)
        found_add(s, name, strlen(name), "1", path, false);
    else
        each_of(s, path, name, look_for_version);
}

bool scan_is_model(const char *path)
{
    return kind_of(path) != HOLO_FILE_OTHER;
}

bool scan_path(Scan *s, const char *path, char *why, size_t room)
{
    struct stat info;
    size_t      size = strlen(path);
    while (size > 1 && path[size - 1] == '/') size--;
    char *plain = take_format("%.*s", (int)size, path);
    int   count = s->count;
    bool  is    = !stat(plain, &info);
    if (!is)
        snprintf(why, room, "%s: %m", plain);
    else if (S_ISDIR(info.st_mode) && kind_of(plain) != HOLO_FILE_MODEL)
        folder_add(s, plain), each_of(s, plain, NULL, look_at);
    else {
        char *slash = strrchr(plain, '/');
        look_at(s, plain, name_of(plain), NULL);
        is = s->count > count;
        if (!is) snprintf(why, room, "%s: it is neither a model nor a folder", plain);
        if (slash) *slash = 0;
        folder_add(s, slash ? *plain ? plain : "/" : "."); // a file that replaces it appears there
    }
    free(plain);
    return is;
}

static int by_name(const void *a, const void *b)
{
    const Found *x = a, *y = b;
    int          order = strcmp(x->name, y->name);
    if (!order) order = (strlen(x->version) > strlen(y->version)) - (strlen(x->version) < strlen(y->version));
    if (!order) order = strcmp(x->version, y->version);
    if (!order) order = y->is_archive - x->is_archive;
    return order ? order : strcmp(x->path, y->path);
}

static void found_free(Found *f)
{
    free(f->name);
    free(f->version);
    free(f->path);
}

void scan_sort(Scan *s, void (*left_out)(const Found *taken, const Found *other))
{
    int count = 0;
    if (s->count) qsort(s->found, (size_t)s->count, sizeof *s->found, by_name);
    for (int i = 0; i < s->count; i++) {
        Found *last = count ? &s->found[count - 1] : NULL;
        if (!last || strcmp(last->name, s->found[i].name) || strcmp(last->version, s->found[i].version)) {
            s->found[count++] = s->found[i];
            continue;
        }
        if (left_out) left_out(last, &s->found[i]);
        found_free(&s->found[i]);
    }
    s->count = count;
}

void scan_free(Scan *s)
{
    for (int i = 0; i < s->count; i++) found_free(&s->found[i]);
    for (int i = 0; i < s->folder_count; i++) free(s->folder[i]);
    free(s->found);
    free(s->folder);
    *s = (Scan){0};
}
