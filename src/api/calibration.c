// calibration.c - see calibration.h. A file has a tensor for each input; a folder many such files, one after the other.
#include "api/calibration.h"

#include "base/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- tensors cut into samples

enum { ROWS = 16 }; // of a sample, where the model leaves open how many

typedef struct Cut { // a tensor of all samples
    const HoloTensor *all;
    HoloTensor        one; // its type in a sample
    int64_t           count;
} Cut;

static void shape_text(const HoloTensor *t, char *text, size_t size)
{
    int at = snprintf(text, size, "[");
    for (int d = 0; d < t->rank && (size_t)at + 24 < size; d++)
        at += holo_dim_is_symbolic(t->dim[d])
                  ? snprintf(text + at, size - (size_t)at, "%s?", d ? "," : "")
                  : snprintf(text + at, size - (size_t)at, "%s%lld", d ? "," : "", (long long)t->dim[d]);
    snprintf(text + at, size - (size_t)at, "]");
}

static HoloStatus shape_fail(const HoloValue *input, const HoloTensor *t, const char *path, HoloError *error)
{
    char want[160], has[160];
    shape_text(&input->type, want, sizeof want);
    shape_text(t, has, sizeof has);
    return holo_fail(
        error, HOLO_BAD_INPUT,
        "%s: the tensor of input %s is %s%s, but the model takes %s%s: give that shape, or several of them "
        "stacked in front",
        path, input->name, holo_dtype_name((HoloDtype)t->dtype), has, holo_dtype_name((HoloDtype)input->type.dtype),
        want);
}

static bool fits(HoloDim want, int64_t has)
{
    return holo_dim_is_symbolic(want) || want == has;
}

// The shape as it is, with a dimension of samples in front, or with more rows than the model takes at once.
static HoloStatus cut_of(const HoloValue *input, const HoloTensor *t, const char *path, Cut *out, HoloError *error)
{
    const HoloTensor *want   = &input->type;
    int               before = t->rank - want->rank; // 1: samples are in front
    if (t->dtype != want->dtype || want->rank < 0 || before < 0 || before > 1 || t->kind != HOLO_TENSOR)
        return shape_fail(input, t, path, error);
    for (int d = before ? 0 : 1; d < want->rank; d++)
        if (!fits(want->dim[d], t->dim[d + before])) return shape_fail(input, t, path, error);
    *out     = (Cut){.all = t, .one = *t, .count = before ? t->dim[0] : 1};
    out->one = *t;
    if (before) {
        out->one.rank = want->rank;
        memmove(out->one.dim, t->dim + 1, (size_t)want->rank * sizeof *t->dim);
        return HOLO_OK;
    }
    if (!want->rank) return HOLO_OK;
    bool    open = holo_dim_is_symbolic(want->dim[0]);
    int64_t rows = open ? (t->dim[0] < ROWS ? t->dim[0] : ROWS) : want->dim[0];
    if (rows < 1 || (!open && t->dim[0] % rows)) return shape_fail(input, t, path, error);
    out->one.dim[0] = rows;
    out->count      = t->dim[0] / rows; // of an open size what is left over is left out
    return HOLO_OK;
}

static HoloStatus tensor_find(const HoloGraph *graph, int index, const HoloTensors *tensors, const char *path,
                              const HoloTensor **out, HoloError *error)
{
    const char *name = graph->inputs[index]->name, *only;
    *out             = holo_tensors_find(tensors, name);
    if (*out) return HOLO_OK;
    *out = holo_tensors_get(tensors, 0, &only);
    if (*out && graph->input_count == 1 && holo_tensors_count(tensors) == 1 && !*only) return HOLO_OK; // a .npy
    char names[400] = "";
    for (int i = 0; i < holo_tensors_count(tensors) && strlen(names) < 300; i++) {
        holo_tensors_get(tensors, i, &only);
        strncat(names, i ? ", " : "", 4);
        strncat(names, only, 60);
    }
    return holo_fail(error, HOLO_BAD_INPUT,
                     "%s has no tensor for input %s (it has: %s): calibration needs one for each input of the model",
                     path, name, *names ? names : "none");
}

static HoloStatus samples_add(HoloCalibration *c, const HoloGraph *graph, const Cut *cuts, int count, HoloError *error)
{
    HoloTensor **all = HOLO_NEW(&c->arena, HoloTensor *, c->samples.count + count);
    if (!all) return holo_fail_memory(error);
    if (c->samples.count) memcpy(all, c->samples.inputs, (size_t)c->samples.count * sizeof *all);
    c->samples.inputs = all;
    for (int s = 0; s < count; s++) {
        HoloTensor *inputs = HOLO_NEW(&c->arena, HoloTensor, graph->input_count + 1);
        if (!inputs) return holo_fail_memory(error);
        for (int i = 0; i < graph->input_count; i++) {
            inputs[i]      = cuts[i].one;
            inputs[i].data = (char *)cuts[i].all->data + (size_t)s * holo_tensor_bytes(&cuts[i].one);
        }
        all[c->samples.count++] = inputs;
    }
    return HOLO_OK;
}

static HoloStatus samples_cut(HoloCalibration *c, const HoloGraph *graph, const HoloTensors *tensors, const char *path,
                              HoloError *error)
{
    enum { SAMPLES_MAX = 1 << 16 };
    Cut    *cuts  = HOLO_NEW(&c->arena, Cut, graph->input_count + 1);
    int64_t count = -1;
    if (!cuts) return holo_fail_memory(error);
    for (int i = 0; i < graph->input_count; i++) {
        const HoloTensor *t;
        HOLO_TRY(tensor_find(graph, i, tensors, path, &t, error));
        HOLO_TRY(cut_of(graph->inputs[i], t, path, &cuts[i], error));
        if (count >= 0 && cuts[i].count != count)
            return holo_fail(error, HOLO_BAD_INPUT, "%s: input %s has %lld samples, but input %s has %lld", path,
                             graph->inputs[i]->name, (long long)cuts[i].count, graph->inputs[0]->name,
                             (long long)count);
        count = cuts[i].count;
    }
    if (count < 1 || count > SAMPLES_MAX - c->samples.count)
        return holo_fail(error, HOLO_BAD_INPUT, "%s has %s", path, count < 1 ? "no samples" : "too many samples");
    return samples_add(c, graph, cuts, (int)count, error);
}

// ---- files

static HoloStatus file_read(HoloCalibration *c, const HoloGraph *graph, const char *path, HoloError *error)
{
    HoloTensors **tensors = &c->tensors[c->tensor_count];
    HOLO_TRY(holo_tensors_read(path, NULL, tensors, error));
    c->tensor_count++;
    return samples_cut(c, graph, *tensors, path, error);
}

static int is_sample(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && entry->d_name[0] != '.' && (!strcmp(dot, ".npz") || !strcmp(dot, ".npy"));
}

static HoloStatus folder_read(HoloCalibration *c, const HoloGraph *graph, const char *folder, HoloError *error)
{
    struct dirent **entries = NULL;
    int             count   = scandir(folder, &entries, is_sample, alphasort);
    if (count < 0) return holo_fail(error, HOLO_NO_FILE, "the folder %s cannot be read", folder);
    HoloStatus status = HOLO_OK;
    if (!count)
        status = holo_fail(error, HOLO_BAD_INPUT, "the folder %s has no samples: no .npz file, and no .npy", folder);
    if (!(c->tensors = HOLO_NEW(&c->arena, HoloTensors *, count + 1))) status = holo_fail_memory(error);
    for (int i = 0; i < count; i++) {
        char path[4096];
        int  size = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (!status && (size < 0 || (size_t)size >= sizeof path))
            status = holo_fail(error, HOLO_BAD_ARGUMENT, "the path of %s is too long", entries[i]->d_name);
        if (!status) status = file_read(c, graph, path, error);
        free(entries[i]);
    }
    free(entries);
    return status;
}

HoloStatus holo_calibration_read(HoloCalibration *c, const HoloGraph *graph, const char *path, HoloError *error)
{
    if (!path) return holo_samples_seeded(graph, HOLO_SEEDED_SAMPLES, &c->arena, &c->samples, error);
    if (holo_path_is_folder(path)) return folder_read(c, graph, path, error);
    if (!(c->tensors = HOLO_NEW(&c->arena, HoloTensors *, 1))) return holo_fail_memory(error);
    return file_read(c, graph, path, error);
}

void holo_calibration_deinit(HoloCalibration *c)
{
    for (int i = 0; i < c->tensor_count; i++) holo_tensors_destroy(c->tensors[i]);
    holo_arena_deinit(&c->arena);
}
