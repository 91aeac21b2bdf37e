// calibration.c - see calibration.h. A tensor from a file or from the caller is one sample of an input, or several
// samples, which are cut apart.
#include "api/calibration.h"

#include "api/input_sets.h"
#include "base/memory.h"
#include "ops/tensor.h"
#include "ops/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- tensors cut into samples

enum { ROWS = 16 }; // rows of a sample, if the model leaves their number open

typedef struct Cut { // a tensor that holds all samples
    const HoloTensor *all;
    HoloTensor        one; // the type of one sample
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
    return holo_fail(error, HOLO_BAD_INPUT,
                     "%s: the tensor of input %s is %s%s, but the model needs %s%s: give that shape, or several "
                     "samples stacked along the first dimension",
                     path, input->name, holo_dtype_name((HoloDtype)t->dtype), has,
                     holo_dtype_name((HoloDtype)input->type.dtype), want);
}

static bool fits(HoloDim want, int64_t has)
{
    return holo_dim_is_symbolic(want) || want == has;
}

// A tensor has the shape of the input, one more dimension in front for samples, or more rows than the model takes at
// once.
static HoloStatus cut_of(const HoloValue *input, const HoloTensor *t, const char *path, Cut *out, HoloError *error)
{
    const HoloTensor *want   = &input->type;
    int               before = t->rank - want->rank; // 1: the first dimension counts samples
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
    out->count      = t->dim[0] / rows; // rows left over at the end are dropped; this happens only if the size is open
    return HOLO_OK;
}

// Makes room for more pointers in a list. NULL: no memory.
static void *list_grow(HoloArena *arena, void *list, int count, int more, int *room)
{
    if (count + more <= *room) return list;
    *room     = 2 * (count + more);
    void *all = holo_arena_take(arena, (size_t)*room * sizeof(void *));
    if (all && count) memcpy(all, list, (size_t)count * sizeof(void *));
    return all;
}

// Fills in the inputs that a sample leaves out.
static HoloStatus defaults_add(HoloCalibration *c, const HoloGraph *graph, HoloTensor *inputs, HoloError *error)
{
    const HoloTensor **given = HOLO_NEW(&c->arena, const HoloTensor *, graph->input_count + 1);
    if (!given) return holo_fail_memory(error);
    for (int i = 0; i < graph->input_count; i++) given[i] = inputs[i].data ? &inputs[i] : NULL;
    for (int i = 0; i < graph->input_count; i++)
        if (!given[i]) HOLO_TRY(holo_graph_default(graph, given, i, &c->arena, &inputs[i], error));
    return HOLO_OK;
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
            if (!cuts[i].all) continue;
            inputs[i]      = cuts[i].one;
            inputs[i].data = (char *)cuts[i].all->data + (size_t)s * holo_tensor_bytes(&cuts[i].one);
        }
        HOLO_TRY(defaults_add(c, graph, inputs, error));
        all[c->samples.count++] = inputs;
    }
    return HOLO_OK;
}

// ---- numbers

// The index of an element as text: "[0,3,17]".
static void index_text(const HoloTensor *t, int64_t at, char *text, size_t size)
{
    int64_t index[HOLO_MAX_RANK];
    for (int d = t->rank - 1; d >= 0; at /= t->dim[d--]) index[d] = at % t->dim[d];
    int used = snprintf(text, size, "[");
    for (int d = 0; d < t->rank && (size_t)used + 24 < size; d++)
        used += snprintf(text + used, size - (size_t)used, "%s%lld", d ? "," : "", (long long)index[d]);
    snprintf(text + used, size - (size_t)used, "]");
}

// Refuses NaN. Notes infinities, which masks have too, for code that cannot quantize values computed from them.
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
                return holo_fail(error, HOLO_BAD_INPUT, "%s: input %s is NaN at %s: samples must not contain NaN", path,
                                 name, index);
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

// Keeps the files open as long as the samples.
static HoloStatus files_keep(HoloCalibration *c, HoloInputSet *set, HoloError *error)
{
    if (!set->file_count) return HOLO_OK;
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
        if (!set->tensor[i]) continue; // it has a default
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

static HoloStatus files_read(const Reading *reading, const char *path, HoloError *error)
{
    HoloArena       *arena   = &reading->calibration->arena;
    const HoloGraph *graph   = reading->graph;
    HoloInputNames   names   = {.count = graph->input_count,
                                .name  = HOLO_NEW(arena, const char *, graph->input_count + 1),
                                .type  = HOLO_NEW(arena, const HoloTensor *, graph->input_count + 1)};
    bool            *missing = HOLO_NEW(arena, bool, graph->input_count + 1);
    if (!names.name || !names.type || !missing) return holo_fail_memory(error);
    for (int i = 0; i < graph->input_count; i++) {
        names.name[i] = graph->inputs[i]->name;
        names.type[i] = &graph->inputs[i]->type;
        missing[i]    = graph->inputs[i]->fill != 0;
    }
    names.may_miss = missing;
    return holo_input_sets_read(&names, path, "sample", samples_cut, (void *)(uintptr_t)reading, error);
}

// ---- memory

typedef struct Keeper { // a host that copies values into an arena
    HoloHost   host;
    HoloArena *arena;
} Keeper;

static void *keep(const HoloHost *host, size_t size)
{
    return holo_arena_take(((const Keeper *)host)->arena, size);
}

static HoloStatus input_copy(HoloArena *arena, const HoloRunInput *from, HoloRunInput *out, HoloError *error)
{
    Keeper      keeper = {.host = {.keep = keep}, .arena = arena};
    const char *name   = from->name ? holo_arena_text(arena, from->name, strlen(from->name)) : NULL;
    int64_t     count  = from->tensor.kind == HOLO_TENSOR ? holo_tensor_count(&from->tensor) : -1;
    if (from->name && !name) return holo_fail_memory(error);
    if (count < 0 || (count && !from->tensor.data))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "input %s of a sample: only a tensor with its data can be one",
                         name ? name : "");
    *out = (HoloRunInput){.name = name, .index = from->index};
    return holo_value_clone(&keeper.host, &from->tensor, &out->tensor, error);
}

HoloStatus holo_compiler_add_sample(HoloCompiler *compiler, const HoloRunInput *inputs, int count, HoloError *error)
{
    HOLO_IN(holo_context_account(compiler->context));
    HoloArena      *arena  = &compiler->arena;
    HoloGivenSample sample = {HOLO_NEW(arena, HoloRunInput, count + 1), count};
    if (!sample.inputs) return holo_fail_memory(error);
    for (int i = 0; i < count; i++) HOLO_TRY(input_copy(arena, &inputs[i], &sample.inputs[i], error));
    if (!HOLO_GROW(arena, compiler->samples, compiler->sample_count, compiler->sample_room))
        return holo_fail_memory(error);
    compiler->samples[compiler->sample_count++] = sample;
    return HOLO_OK;
}

// Which input of the graph is meant; -1: none.
static int input_find(const HoloGraph *graph, const HoloRunInput *given)
{
    for (int i = 0; i < graph->input_count; i++)
        if (given->name ? !strcmp(graph->inputs[i]->name, given->name) : given->index == i) return i;
    return -1;
}

static HoloStatus sample_fill(const HoloGraph *graph, const HoloGivenSample *sample, HoloInputSet *set,
                              HoloError *error)
{
    for (int k = 0; k < sample->count; k++) {
        int i = input_find(graph, &sample->inputs[k]);
        if (i < 0 && sample->inputs[k].name)
            return holo_fail(error, HOLO_BAD_INPUT, "%s: the model has no input %s", set->path, sample->inputs[k].name);
        if (i < 0)
            return holo_fail(error, HOLO_BAD_INPUT, "%s: there is no input %d: the model has %d", set->path,
                             sample->inputs[k].index, graph->input_count);
        if (set->tensor[i])
            return holo_fail(error, HOLO_BAD_INPUT, "%s: input %s is given twice", set->path, graph->inputs[i]->name);
        set->tensor[i] = &sample->inputs[k].tensor;
        set->from[i]   = set->path;
    }
    for (int i = 0; i < graph->input_count; i++)
        if (!set->tensor[i] && !graph->inputs[i]->fill)
            return holo_fail(error, HOLO_BAD_INPUT, "%s: input %s is not given", set->path, graph->inputs[i]->name);
    return HOLO_OK;
}

static HoloStatus sample_take(Reading *reading, const HoloGivenSample *sample, int number, HoloError *error)
{
    HoloArena   *arena = &reading->calibration->arena;
    int          count = reading->graph->input_count;
    HoloInputSet set   = {.path   = holo_arena_format(arena, "sample %d", number),
                          .tensor = HOLO_NEW(arena, const HoloTensor *, count + 1),
                          .from   = HOLO_NEW(arena, const char *, count + 1)};
    if (!set.path || !set.tensor || !set.from) return holo_fail_memory(error);
    HOLO_TRY(sample_fill(reading->graph, sample, &set, error));
    return samples_cut(reading, &set, error);
}

// ---- all of them

bool holo_calibration_is_given(const HoloCompiler *compiler)
{
    return compiler->calibration || compiler->sample_count;
}

HoloStatus holo_calibration_read(HoloCalibration *c, const HoloGraph *graph, const HoloCompiler *compiler,
                                 HoloError *error)
{
    Reading reading = {c, graph};
    if (!holo_calibration_is_given(compiler))
        return holo_samples_seeded(graph, HOLO_SEEDED_SAMPLES, &c->arena, &c->samples, error);
    if (compiler->calibration) HOLO_TRY(files_read(&reading, compiler->calibration, error));
    for (int i = 0; i < compiler->sample_count; i++)
        HOLO_TRY(sample_take(&reading, &compiler->samples[i], i + 1, error));
    return HOLO_OK;
}

void holo_calibration_deinit(HoloCalibration *c)
{
    for (int i = 0; i < c->tensor_count; i++) holo_tensors_destroy(c->tensors[i]);
    holo_arena_deinit(&c->arena);
}
