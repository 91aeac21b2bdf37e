// input_sets.c - see input_sets.h.
#include "api/input_sets.h"

#include "api/tensors.h"
#include "base/system.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

typedef struct Reading {
    const HoloInputNames *names;
    const char           *what;
    HoloInputSetFn       *each;
    void                 *context;
    int                   count; // sets so far
    HoloError            *error;
} Reading;

static bool ends_with(const char *name, const char *ending)
{
    size_t size = strlen(name), end = strlen(ending);
    return size > end && !strcmp(name + size - end, ending);
}

// ---- one set

static HoloStatus missing_fail(const Reading *r, const char *path, const char *input, const HoloTensors *tensors)
{
    char        names[400] = "";
    const char *name;
    for (int i = 0; i < holo_tensors_count(tensors) && strlen(names) < 300; i++) {
        holo_tensors_get(tensors, i, &name);
        if (!*name) continue; // a .npy has no name
        strncat(names, *names ? ", " : "", 4);
        strncat(names, name, 60);
    }
    return holo_fail(r->error, HOLO_BAD_INPUT, "%s %s has no tensor for input %s%s%s%s", r->what, path, input,
                     *names ? " (it has: " : "", names, *names ? ")" : "");
}

static HoloStatus set_give(Reading *r, HoloInputSet *set)
{
    r->count++;
    return r->each(r->context, set, r->error);
}

static bool may_miss(const HoloInputNames *names, int i)
{
    return names->may_miss && names->may_miss[i];
}

// The only input that must be given; -1: there are others.
static int only_input(const HoloInputNames *names)
{
    int only = -1;
    for (int i = 0; i < names->count; i++) {
        if (may_miss(names, i)) continue;
        if (only >= 0) return -1;
        only = i;
    }
    return only;
}

static HoloStatus file_take(Reading *r, HoloInputSet *set)
{
    const HoloInputNames *names    = r->names;
    int                   only     = only_input(names);
    bool                  is_plain = ends_with(set->path, ".npy") && only >= 0; // a plain .npy has no names
    HOLO_TRY(holo_tensors_open(set->path, is_plain ? names->type[only] : NULL, &set->files[0], r->error));
    HoloTensors *tensors = set->files[0];
    for (int i = 0; i < names->count; i++) {
        int at = is_plain ? (i == only ? 0 : -1) : holo_tensors_index(tensors, names->name[i]);
        if (at < 0 && may_miss(names, i)) continue;
        if (at < 0) return missing_fail(r, set->path, names->name[i], tensors);
        HoloError  inner  = {0};
        HoloStatus status = holo_tensors_load(tensors, at, &inner); // loads only what is asked for
        if (status) return holo_fail(r->error, status, "%s: %s", set->path, inner.text);
        set->from[i]   = set->path;
        set->tensor[i] = holo_tensors_get(tensors, at, NULL);
    }
    return set_give(r, set);
}

// The path of an input's file in a folder: a / in the name becomes a _.
static void input_path(const char *folder, const char *name, char *out)
{
    int at = snprintf(out, PATH_SIZE, "%s/", folder);
    if (at < 0 || at >= PATH_SIZE) return;
    snprintf(out + at, PATH_SIZE - (size_t)at, "%s.npy", name);
    for (char *c = out + at; *c; c++)
        if (*c == '/') *c = '_';
}

static HoloStatus inputs_take(Reading *r, HoloInputSet *set, HoloArena *arena)
{
    for (int i = 0; i < r->names->count; i++) {
        char *path = HOLO_NEW(arena, char, PATH_SIZE);
        if (!path) return holo_fail_memory(r->error);
        input_path(set->path, r->names->name[i], path);
        if (!holo_path_exists(path) && may_miss(r->names, i)) continue;
        if (!holo_path_exists(path))
            return holo_fail(r->error, HOLO_BAD_INPUT, "%s %s has no tensor for input %s: there is no %s", r->what,
                             set->path, r->names->name[i], path);
        HOLO_TRY(holo_tensors_read(path, r->names->type[i], &set->files[i], r->error));
        set->from[i]   = path;
        set->tensor[i] = holo_tensors_get(set->files[i], 0, NULL);
        if (!set->tensor[i]) return missing_fail(r, path, r->names->name[i], set->files[i]);
    }
    return set_give(r, set);
}

static HoloStatus set_read(Reading *r, const char *path, bool is_folder)
{
    HoloArena    arena  = {0};
    int          room   = r->names->count + 1;
    HoloInputSet set    = {.path       = path,
                           .tensor     = HOLO_NEW(&arena, const HoloTensor *, room),
                           .from       = HOLO_NEW(&arena, const char *, room),
                           .files      = HOLO_NEW(&arena, HoloTensors *, room),
                           .file_count = is_folder ? r->names->count : 1};
    HoloStatus   status = !set.tensor || !set.from || !set.files ? holo_fail_memory(r->error)
                          : is_folder                            ? inputs_take(r, &set, &arena)
                                                                 : file_take(r, &set);
    for (int i = 0; i < set.file_count && set.files; i++) holo_tensors_destroy(set.files[i]);
    holo_arena_deinit(&arena);
    return status;
}

// ---- folders of sets

static HoloStatus entry_read(Reading *r, const char *folder, const char *name, bool *has_inputs)
{
    char path[PATH_SIZE], input[PATH_SIZE] = "";
    int  size = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (size < 0 || (size_t)size >= sizeof path)
        return holo_fail(r->error, HOLO_BAD_ARGUMENT, "the path of %s is too long", name);
    if (holo_path_is_folder(path)) return set_read(r, path, true);
    if (ends_with(name, ".npz")) return set_read(r, path, false);
    if (!ends_with(name, ".npy")) return HOLO_OK;
    if (only_input(r->names) >= 0) {
        input_path(folder, r->names->name[only_input(r->names)], input);
        if (strcmp(path, input)) return set_read(r, path, false);
    }
    *has_inputs = true;
    return HOLO_OK;
}

static HoloStatus folder_read(Reading *r, const char *folder)
{
    HoloFolder entries;
    bool       has_inputs = false;
    HoloStatus status     = holo_folder_list(folder, &entries, r->error);
    for (int i = 0; i < entries.count && !status; i++)
        if (entries.name[i][0] != '.') status = entry_read(r, folder, entries.name[i], &has_inputs);
    holo_folder_free(&entries);
    if (!status && has_inputs) status = set_read(r, folder, true);
    if (!status && !r->count)
        return holo_fail(r->error, HOLO_BAD_INPUT,
                         "the folder %s has no %s: no .npz file, and no .npy file or folder of them", folder, r->what);
    return status;
}

HoloStatus holo_input_sets_read(const HoloInputNames *names, const char *path, const char *what, HoloInputSetFn *each,
                                void *context, HoloError *error)
{
    Reading r = {.names = names, .what = what, .each = each, .context = context, .error = error};
    return holo_path_is_folder(path) ? folder_read(&r, path) : set_read(&r, path, false);
}

bool holo_input_names(const HoloModel *model, HoloArena *arena, HoloInputNames *out)
{
    out->count     = holo_model_input_count(model);
    out->name      = HOLO_NEW(arena, const char *, out->count + 1);
    out->type      = HOLO_NEW(arena, const HoloTensor *, out->count + 1);
    bool *may_miss = HOLO_NEW(arena, bool, out->count + 1);
    if (!out->name || !out->type || !may_miss) return false;
    for (int i = 0; i < out->count; i++) {
        out->name[i] = holo_model_input(model, i)->name;
        out->type[i] = &holo_model_input(model, i)->type;
        may_miss[i]  = holo_model_input(model, i)->optional;
    }
    out->may_miss = may_miss;
    return true;
}
