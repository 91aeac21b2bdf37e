// patterns.c - inputs in files, run by a session so that it learns what they give.
//
// One pattern is a .npz with a tensor for each input, or a folder of .npy files that are called like the inputs; of a model of one
// input also a .npy that is called otherwise. A folder may also hold several of these; it is not searched any deeper.
#include "base/files.h"
#include "hologram_compiler.h"
#include "runtime/frame.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Learning {
    HoloSession     *session;
    const HoloModel *model;
    int              count; // patterns that were run
    HoloError       *error;
} Learning;

static bool ends_with(const char *name, const char *ending)
{
    size_t size = strlen(name), end = strlen(ending);
    return size > end && !strcmp(name + size - end, ending);
}

static HoloStatus run(Learning *l, const char *path)
{
    HoloError  why    = {0};
    HoloStatus status = holo_session_run(l->session, &why);
    if (status) return holo_fail(l->error, status, "pattern %s: %s", path, why.text);
    l->count++;
    // Where all is to be kept, only memory can have been lacking.
    const HoloMemo *memo = l->session->memo;
    return memo && memo->limit == SIZE_MAX && memo->lost ? holo_fail_memory(l->error) : HOLO_OK;
}

static HoloStatus input_set(const Learning *l, int index, const HoloTensor *tensor, const char *path)
{
    HoloError   why  = {0};
    const char *name = holo_model_input(l->model, index)->name;
    if (!tensor) return holo_fail(l->error, HOLO_BAD_INPUT, "pattern %s: it has no tensor for input %s", path, name);
    HoloStatus status = holo_session_set_input(l->session, index, tensor, &why);
    return status ? holo_fail(l->error, status, "pattern %s: %s", path, why.text) : HOLO_OK;
}

// ---- one pattern

static HoloStatus file_learn(Learning *l, const char *path)
{
    HoloTensors *tensors;
    int          count = holo_model_input_count(l->model);
    HOLO_TRY(holo_tensors_read(path, NULL, &tensors, l->error));
    bool       is_plain = ends_with(path, ".npy") && count == 1; // has no names
    HoloStatus status   = HOLO_OK;
    for (int i = 0; i < count && !status; i++) {
        const HoloTensor *t = is_plain ? holo_tensors_get(tensors, 0, NULL)
                                       : holo_tensors_find(tensors, holo_model_input(l->model, i)->name);
        status              = input_set(l, i, t, path);
    }
    if (!status) status = run(l, path);
    holo_tensors_destroy(tensors);
    return status;
}

// The file of an input in a folder: a / in its name is a _ there.
static void input_path(const char *folder, const char *name, char *out, size_t size)
{
    int at = snprintf(out, size, "%s/", folder);
    if (at < 0 || (size_t)at >= size) return;
    snprintf(out + at, size - (size_t)at, "%s.npy", name);
    for (char *c = out + at; *c; c++)
        if (*c == '/') *c = '_';
}

static HoloStatus inputs_learn(Learning *l, const char *folder)
{
    int           count   = holo_model_input_count(l->model);
    HoloArena     arena   = {0};
    HoloTensors **tensors = HOLO_NEW(&arena, HoloTensors *, count + 1);
    HoloStatus    status  = tensors ? HOLO_OK : holo_fail_memory(l->error);
    for (int i = 0; i < count && !status; i++) {
        char path[4096];
        input_path(folder, holo_model_input(l->model, i)->name, path, sizeof path);
        status = holo_tensors_read(path, &holo_model_input(l->model, i)->type, &tensors[i], l->error);
        if (!status) status = input_set(l, i, holo_tensors_get(tensors[i], 0, NULL), path);
    }
    if (!status) status = run(l, folder);
    for (int i = 0; i < count && tensors; i++) holo_tensors_destroy(tensors[i]);
    holo_arena_deinit(&arena);
    return status;
}

// ---- folders of them

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static HoloStatus entry_learn(Learning *l, const char *folder, const char *name, bool *has_inputs)
{
    char path[4096], input[4096] = "";
    int  size = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (size < 0 || (size_t)size >= sizeof path)
        return holo_fail(l->error, HOLO_BAD_ARGUMENT, "the path of %s is too long", name);
    if (holo_path_is_folder(path)) return inputs_learn(l, path);
    if (ends_with(name, ".npz")) return file_learn(l, path);
    if (!ends_with(name, ".npy")) return HOLO_OK;
    if (holo_model_input_count(l->model) == 1) {
        input_path(folder, holo_model_input(l->model, 0)->name, input, sizeof input);
        if (strcmp(path, input)) return file_learn(l, path);
    }
    *has_inputs = true;
    return HOLO_OK;
}

static HoloStatus folder_learn(Learning *l, const char *folder)
{
    struct dirent **entries = NULL;
    int             count = scandir(folder, &entries, is_visible, alphasort), before = l->count;
    bool            has_inputs = false;
    if (count < 0) return holo_fail(l->error, HOLO_NO_FILE, "the folder %s cannot be read", folder);
    HoloStatus status = HOLO_OK;
    for (int i = 0; i < count; i++) {
        if (!status) status = entry_learn(l, folder, entries[i]->d_name, &has_inputs);
        free(entries[i]);
    }
    free(entries);
    if (!status && has_inputs) status = inputs_learn(l, folder);
    if (!status && l->count == before)
        return holo_fail(l->error, HOLO_BAD_INPUT,
                         "the folder %s has no pattern: no .npz file, and no .npy file or folder of them", folder);
    return status;
}

HoloStatus holo_session_learn(HoloSession *session, const HoloModel *model, const char *path, int *out_count,
                              HoloError *error)
{
    Learning   l      = {.session = session, .model = model, .error = error};
    HoloStatus status = holo_path_is_folder(path) ? folder_learn(&l, path) : file_learn(&l, path);
    if (out_count) *out_count = l.count;
    return status;
}
