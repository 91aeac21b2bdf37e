// calibration.c - see calibration.h. What files have for an input is one sample, or several of them, which are cut apart.
#include "api/calibration.h"

#include "api/input_sets.h"
#include "ops/tensor.h"

#include <math.h>
#include <stdio.h>
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

// A list of pointers with room for some more; NULL: no memory.
static void *list_grow(HoloArena *arena, void *list, int count, int more, int *room)
{
    if (count + more <= *room) return list;
    *room     = 2 * (count + more);
    void *all = holo_arena_take(arena, (size_t)*room * sizeof(void *));
    if (all && count) memcpy(all, list, (size_t)count * sizeof(void *));
    return all;
}

static HoloStatus samples_add(HoloCalibration *c, const HoloGraph *graph, const Cut *cuts, int count, HoloError *error)
{
    HoloTensor **all = list_grow(&c->arena, c->samples.inputs, c->samples.count, count, &c->sample_room);
    if (!all) return holo_fail_memory(error);
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

// ---- numbers

// "[0,3,17]", of an element.
static void index_text(const HoloTensor *t, int64_t at, char *text, size_t size)
{
    int64_t index[HOLO_MAX_RANK];
    for (int d = t->rank - 1; d >= 0; at /= t->dim[d--]) index[d] = at % t->dim[d];
    int used = snprintf(text, size, "[");
    for (int d = 0; d < t->rank && (size_t)used + 24 < size; d++)
        used += snprintf(text + used, size - (size_t)used, "%s%lld", d ? "," : "", (long long)index[d]);
    snprintf(text + used, size - (size_t)used, "]");
}

// No sample is NaN. Infinities are in masks, too: they are noted, for whoever cannot quantize what comes of them.
static HoloStatus numbers_check(HoloCalibration *c, const char *name, const HoloTensor *t, const char *path,
                                HoloError *error)
{
    double x[HOLO_TILE];
    char   index[200], text[1024];
    if (holo_dtype_class((HoloDtype)t->dtype) != HOLO_CLASS_FLOAT) return HOLO_OK;
    for (int64_t at = 0, count = holo_tensor_count(t); at < count; at += HOLO_TILE) {
        int64_t n = count - at < HOLO_TILE ? count - at : HOLO_TILE;
        holo_read_f(t, at, 1, n, x);
        for (int64_t i = 0; i < n; i++) {
            if (isfinite(x[i]) || (isinf(x[i]) && c->samples.infinite)) continue;
            index_text(t, at + i, index, sizeof index);
            if (isnan(x[i]))
                return holo_fail(error, HOLO_BAD_INPUT,
                                 "%s: input %s is NaN at %s: no range can be found on samples with NaN", path, name,
                                 index);
            snprintf(text, sizeof text, "%.500s: input %.300s is %s at %s", path, name, x[i] > 0 ? "inf" : "-inf",
                     index);
            c->samples.infinite = holo_arena_text(&c->arena, text, strlen(text));
            if (!c->samples.infinite) return holo_fail_memory(error);
        }
    }
    return HOLO_OK;
}

// ---- files

typedef struct Reading {
    HoloCalibration *calibration;
    const HoloGraph *graph;
} Reading;

// The files stay open as long as the samples.
static HoloStatus files_keep(HoloCalibration *c, HoloInputSet *set, HoloError *error)
{
    HoloTensors **all = list_grow(&c->arena, c->tensors, c->tensor_count, set->file_count, &c->tensor_room);
    if (!all) return holo_fail_memory(error);
    c->tensors = all;
    for (int i = 0; i < set->file_count; i++) {
        all[c->tensor_count++] = set->files[i];
        set->files[i]          = NULL;
    }
    return HOLO_OK;
}

static HoloStatus samples_cut(void *context, HoloInputSet *set, HoloError *error)
{
    enum { SAMPLES_MAX = 1 << 16 };
    const Reading   *r     = context;
    HoloCalibration *c     = r->calibration;
    const HoloGraph *graph = r->graph;
    Cut             *cuts  = HOLO_NEW(&c->arena, Cut, graph->input_count + 1);
    int64_t          count = -1;
    if (!cuts) return holo_fail_memory(error);
    for (int i = 0; i < graph->input_count; i++) {
        const char *name = graph->inputs[i]->name;
        HOLO_TRY(cut_of(graph->inputs[i], set->tensor[i], set->from[i], &cuts[i], error));
        HOLO_TRY(numbers_check(c, name, set->tensor[i], set->from[i], error));
        if (count >= 0 && cuts[i].count != count)
            return holo_fail(error, HOLO_BAD_INPUT, "%s: input %s has %lld samples, but input %s has %lld", set->path,
                             name, (long long)cuts[i].count, graph->inputs[0]->name, (long long)count);
        count = cuts[i].count;
    }
    if (count < 1 || count > SAMPLES_MAX - c->samples.count)
        return holo_fail(error, HOLO_BAD_INPUT, "%s has %s", set->path, count < 1 ? "no samples" : "too many samples");
    HOLO_TRY(files_keep(c, set, error));
    return samples_add(c, graph, cuts, (int)count, error);
}

HoloStatus holo_calibration_read(HoloCalibration *c, const HoloGraph *graph, const char *path, HoloError *error)
{
    if (!path) return holo_samples_seeded(graph, HOLO_SEEDED_SAMPLES, &c->arena, &c->samples, error);
    HoloInputNames names   = {.count = graph->input_count,
                              .name  = HOLO_NEW(&c->arena, const char *, graph->input_count + 1),
                              .type  = HOLO_NEW(&c->arena, const HoloTensor *, graph->input_count + 1)};
    Reading        reading = {c, graph};
    if (!names.name || !names.type) return holo_fail_memory(error);
    for (int i = 0; i < graph->input_count; i++) {
        names.name[i] = graph->inputs[i]->name;
        names.type[i] = &graph->inputs[i]->type;
    }
    return holo_input_sets_read(&names, path, "sample", samples_cut, &reading, error);
}

void holo_calibration_deinit(HoloCalibration *c)
{
    for (int i = 0; i < c->tensor_count; i++) holo_tensors_destroy(c->tensors[i]);
    holo_arena_deinit(&c->arena);
}
