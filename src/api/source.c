// source.c - a model as its file describes it: opens it, describes it, computes it plainly.
#include "api/source.h"

#include "api/compiler.h"
#include "api/tensors.h"
#include "base/memory.h"
#include "graph/facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- opening

HoloStatus holo_source_import(const HoloImportRequest *request, HoloSource **out, HoloError *error)
{
    *out               = NULL;
    HoloSource *source = holo_realloc(NULL, sizeof *source);
    if (!source) return holo_fail_memory(error);
    *source           = (HoloSource){0};
    HoloStatus status = holo_import_request(&source->arena, request, &source->model, error);
    if (status)
        holo_source_close(source);
    else
        *out = source;
    return status;
}

void holo_source_close(HoloSource *source)
{
    if (!source) return;
    holo_import_close(&source->model);
    holo_arena_deinit(&source->arena);
    holo_free(source);
}

// Makes a port from a value: sizes that are not numbers become -1 and a text.
static HoloStatus port_fill(HoloSource *source, const HoloValue *value, HoloPort *port, HoloError *error)
{
    *port = (HoloPort){
        .name = value->name, .type = value->type, .optional = value->type.kind == HOLO_OPTIONAL || value->fill};
    port->type.data = NULL;
    for (int d = 0; d < value->type.rank; d++) {
        if (!holo_dim_is_symbolic(value->type.dim[d])) continue;
        char text[256];
        holo_dim_print(source->model.graph->dims, value->type.dim[d], text, sizeof text);
        port->type.dim[d] = -1;
        port->symbol[d]   = holo_arena_text(&source->arena, text, strlen(text));
        if (!port->symbol[d]) return holo_fail_memory(error);
    }
    return HOLO_OK;
}

static HoloStatus ports_fill(HoloSource *source, HoloError *error)
{
    const HoloGraph *graph = source->model.graph;
    source->inputs         = HOLO_NEW(&source->arena, HoloPort, graph->input_count + 1);
    source->outputs        = HOLO_NEW(&source->arena, HoloPort, graph->output_count + 1);
    if (!source->inputs || !source->outputs) return holo_fail_memory(error);
    for (int i = 0; i < graph->input_count; i++)
        HOLO_TRY(port_fill(source, graph->inputs[i], &source->inputs[i], error));
    for (int i = 0; i < graph->output_count; i++)
        HOLO_TRY(port_fill(source, graph->outputs[i], &source->outputs[i], error));
    return HOLO_OK;
}

static void meta_add(HoloSource *source, const char *key, const char *value)
{
    if (!value || !*value) return;
    source->meta[source->meta_count].key     = key;
    source->meta[source->meta_count++].value = value;
}

// How many weights the graphs have, and how large they are in memory.
static const char *weights_text(HoloSource *source)
{
    uint64_t bytes = 0;
    int      count = 0;
    for (int k = 0; k < source->model.entry_count; k++) {
        const HoloGraph *graph = source->model.entries[k].graph;
        for (int i = 0; i < graph->value_count; i++) {
            const HoloTensor *type = &graph->values[i]->type;
            if (!graph->values[i]->is_constant || type->rank < 1 || type->kind != HOLO_TENSOR) continue;
            bytes += holo_tensor_bytes(type);
            count++;
        }
    }
    return holo_arena_format(&source->arena, "%d tensor%s, %s", count, count == 1 ? "" : "s",
                             holo_size_text(bytes).text);
}

static HoloStatus meta_fill(HoloSource *source, HoloError *error)
{
    const HoloModelSource *m     = &source->model;
    HoloArena             *arena = &source->arena;
    source->meta                 = holo_arena_take_array(arena, (size_t)m->meta_count + 16, sizeof *source->meta);
    if (!source->meta) return holo_fail_memory(error);
    meta_add(source, "format", m->format);
    for (int i = 0; i < m->meta_count; i++)
        if (!m->meta[i].is_own) meta_add(source, m->meta[i].key, m->meta[i].value);
    meta_add(source, "weights", weights_text(source));
    meta_add(source, "bytes", holo_arena_format(arena, "%" PRIu64, m->bytes));
    meta_add(source, "hash", holo_arena_format(arena, "%016" PRIx64 "%016" PRIx64, m->hash[1], m->hash[0]));
    for (int i = 0; i < m->meta_count; i++)
        if (m->meta[i].is_own) meta_add(source, m->meta[i].key, m->meta[i].value);
    return HOLO_OK;
}

// Infers the types of an entry, and makes it the one that is asked about.
static HoloStatus entry_fill(HoloSource *source, int index, HoloError *error)
{
    source->model.graph = source->model.entries[index].graph;
    source->op_count    = 0;
    source->meta_count  = 0;
    HOLO_TRY(holo_graph_infer(source->model.graph, error));
    HOLO_TRY(ports_fill(source, error));
    HOLO_TRY(holo_source_count_ops(source, error));
    return meta_fill(source, error);
}

// Takes over `source`, whatever comes of it.
static HoloStatus opened(HoloStatus status, HoloSource *source, HoloSource **out_source, HoloError *error)
{
    if (!status) status = entry_fill(source, 0, error);
    if (status) holo_source_close(source);
    *out_source = status ? NULL : source;
    return status;
}

HoloStatus holo_source_open(const char *path, HoloSource **out_source, HoloError *error)
{
    HoloSource *source = NULL;
    HoloStatus  status = holo_source_import(&(HoloImportRequest){.path = path}, &source, error);
    return opened(status, source, out_source, error);
}

HoloStatus holo_source_open_with(const HoloCompiler *compiler, const char *path, HoloSource **out_source,
                                 HoloError *error)
{
    HoloSource *source = NULL;
    if (!compiler) return holo_source_open(path, out_source, error);
    HoloStatus status = holo_compiler_import(compiler, path, (HoloString){0}, &source, error);
    return opened(status, source, out_source, error);
}

int holo_source_entry_count(const HoloSource *source)
{
    return source->model.entry_count;
}

const char *holo_source_entry_name(const HoloSource *source, int index)
{
    return index >= 0 && index < source->model.entry_count ? source->model.entries[index].name : NULL;
}

HoloStatus holo_source_choose(HoloSource *source, int index, HoloError *error)
{
    if (index < 0 || index >= source->model.entry_count)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "entry %d does not exist; there are %d", index,
                         source->model.entry_count);
    return entry_fill(source, index, error);
}

int holo_source_input_count(const HoloSource *source)
{
    return holo_graph_given_count(source->model.graph);
}

int holo_source_output_count(const HoloSource *source)
{
    return source->model.graph->output_count;
}

const HoloPort *holo_source_input(const HoloSource *source, int index)
{
    return index >= 0 && index < holo_source_input_count(source) ? &source->inputs[index] : NULL;
}

const HoloPort *holo_source_output(const HoloSource *source, int index)
{
    return index >= 0 && index < holo_source_output_count(source) ? &source->outputs[index] : NULL;
}

int holo_source_meta_count(const HoloSource *source)
{
    return source->meta_count;
}

const char *holo_source_meta(const HoloSource *source, int index, const char **out_key)
{
    if (index < 0 || index >= source->meta_count) return NULL;
    if (out_key) *out_key = source->meta[index].key;
    return source->meta[index].value;
}

// ---- randomness

// The bounds on the values that random operators give. Other operators have none.
static const struct {
    HoloOpId id;
    double   low, high;
} random_bounds[] = {{HOLO_ID_Bernoulli, 0, 1}};

bool holo_source_is_random(const HoloSource *source, int output, double *out_low, double *out_high)
{
    const HoloGraph *graph = source->model.graph;
    if (out_low) *out_low = -INFINITY;
    if (out_high) *out_high = INFINITY;
    if (output < 0 || output >= graph->output_count) return false;
    HoloArena       scratch   = {0};
    const bool     *random    = holo_graph_random_values(graph, HOLO_RANDOM_ANY, &scratch);
    bool            is_random = random && random[graph->outputs[output]->id];
    const HoloNode *producer  = graph->outputs[output]->producer;
    for (int i = 0; is_random && producer && i < HOLO_COUNT(random_bounds); i++)
        if (producer->op_id == random_bounds[i].id) {
            if (out_low) *out_low = random_bounds[i].low;
            if (out_high) *out_high = random_bounds[i].high;
        }
    holo_arena_deinit(&scratch);
    return is_random;
}

// ---- computing plainly

static HoloStatus inputs_check(const HoloGraph *graph, const HoloTensor *const *inputs, HoloError *error)
{
    for (int i = 0; i < graph->input_count; i++) {
        HoloDtype want = (HoloDtype)graph->inputs[i]->type.dtype;
        if (inputs[i] && want && inputs[i]->dtype != want)
            return holo_fail(error, HOLO_BAD_INPUT, "input %s must be of %s, but is of %s", graph->inputs[i]->name,
                             holo_dtype_name(want), holo_dtype_name((HoloDtype)inputs[i]->dtype));
    }
    return HOLO_OK;
}

typedef struct Watcher {
    const HoloGraph *graph;
    HoloWatchFn      watch;
    void            *context;
} Watcher;

static void node_watch(void *context, const HoloNode *node, const HoloCall *call)
{
    const Watcher *w = context;
    for (int i = 0; i < node->out_count; i++) {
        const HoloValue *v = node->out[i];
        // Nodes of a body are left out: their values belong to another graph.
        if (v && v->id < w->graph->value_count && w->graph->values[v->id] == v)
            w->watch(w->context, node->name, v->name, call->out[i]);
    }
}

HoloStatus holo_source_inputs(const HoloGraph *graph, const HoloTensor *const **inputs, int count, HoloArena *arena,
                              HoloError *error)
{
    if (count != holo_graph_given_count(graph))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "the model has %d inputs, but %d are given",
                         holo_graph_given_count(graph), count);
    const HoloTensor **all = HOLO_NEW(arena, const HoloTensor *, graph->input_count + 1);
    if (!all) return holo_fail_memory(error);
    for (int i = 0; i < count; i++) all[i] = (*inputs)[i];
    *inputs = all;
    return HOLO_OK;
}

HoloStatus holo_reference_run(const HoloSource *source, const HoloTensor *const *inputs, int input_count,
                              HoloTensors **out_outputs, HoloError *error)
{
    return holo_reference_watch(source, inputs, input_count, NULL, NULL, out_outputs, error);
}

HoloStatus holo_reference_watch(const HoloSource *source, const HoloTensor *const *inputs, int input_count,
                                HoloWatchFn watch, void *context, HoloTensors **out_outputs, HoloError *error)
{
    *out_outputs           = NULL;
    const HoloGraph *graph = source->model.graph;
    HOLO_TRY(holo_graph_check_ops(graph, error));
    Watcher         watcher = {graph, watch, context};
    HoloEvalOptions options = {.after = watch ? node_watch : NULL, .context = &watcher};
    HoloTensors    *t;
    HOLO_TRY(holo_tensors_create(&t, error));
    HoloTensor *outputs = HOLO_NEW(&t->arena, HoloTensor, graph->output_count + 1);
    HoloStatus  status  = outputs ? holo_tensors_reserve(t, graph->output_count, error) : holo_fail_memory(error);
    if (!status) status = holo_source_inputs(graph, &inputs, input_count, &t->arena, error);
    if (!status) status = inputs_check(graph, inputs, error);
    if (!status) status = holo_graph_eval(graph, inputs, outputs, &t->arena, &options, error);
    for (int i = 0; !status && i < graph->output_count; i++) {
        const char *name   = graph->outputs[i]->name;
        t->entry[i].tensor = outputs[i];
        t->entry[i].name   = holo_arena_text(&t->arena, name, strlen(name));
        if (!t->entry[i].name) status = holo_fail_memory(error);
    }
    if (status)
        holo_tensors_destroy(t);
    else
        *out_outputs = t;
    return status;
}
