// runs.c - runs plans of graphs on the samples, times them, and shows the values inside.
#include "quantize/runs.h"

#include "base/files.h"
#include "materialize/materialize.h"
#include "quantize/layers.h"

#include <string.h>

HoloStatus holo_runs_open(HoloGraph *graph, const HoloQuantizeOptions *options, HoloModel **out, HoloError *error)
{
    HoloMaterialize m = {.is_exact = options->passes->is_exact,
                         .is_bf16  = options->passes->is_bf16,
                         .pool     = options->pool,
                         .error    = error};
    HOLO_TRY(holo_passes_run(graph, options->passes, error));
    return holo_materialize_model(graph, &m, out);
}

static HoloStatus inputs_set(HoloSession *session, const HoloQuantizeOptions *options, int count, int sample,
                             HoloError *error)
{
    for (int i = 0; i < count; i++)
        HOLO_TRY(holo_session_set_input(session, i, &options->samples->inputs[sample][i], error));
    return HOLO_OK;
}

static HoloStatus sample_run(HoloSession *session, const HoloModel *model, const HoloQuantizeOptions *options,
                             int sample, HoloError *error)
{
    HoloError  why    = {0};
    HoloStatus status = inputs_set(session, options, holo_model_input_count(model), sample, &why);
    if (!status) status = holo_session_run(session, &why);
    if (!status) return HOLO_OK;
    return holo_fail(error, status,
                     "the model does not run on sample %d: %s. Give samples that it takes (--calibrate), or fix the "
                     "shapes of its inputs (--input-shape)",
                     sample, why.text);
}

HoloStatus holo_runs_each(const HoloModel *model, const HoloQuantizeOptions *options, HoloRunsEach *each, void *context,
                          HoloError *error)
{
    HoloSession *session;
    HOLO_TRY(holo_session_create(model, options->pool, &session, error));
    HoloStatus status = HOLO_OK;
    for (int i = 0; i < options->samples->count && !status; i++) {
        status = sample_run(session, model, options, i, error);
        if (!status) status = each(context, i, session, error);
    }
    holo_session_destroy(session);
    return status;
}

// ---- values inside

typedef struct Watching {
    const HoloQuantizeOptions *options;
    const bool                *wanted; // by value id
    int                       *index;  // by value id: the number of its output; -1: none
    int                        count;
    HoloRunsWatch             *each;
    void                      *context;
} Watching;

static HoloStatus watch_each(void *context, int sample, HoloSession *session, HoloError *error)
{
    const Watching *w = context;
    (void)sample;
    for (int i = 0; i < w->count; i++) {
        HoloTensor t;
        if (!w->wanted[i] || w->index[i] < 0) continue;
        HOLO_TRY(holo_session_output(session, w->index[i], &t, error));
        w->each(w->context, i, &t);
    }
    return HOLO_OK;
}

// A copy of the graph that also gives the wanted values.
static HoloStatus watched_graph(const HoloGraph *graph, Watching *w, HoloArena *arena, HoloGraph **out,
                                HoloError *error)
{
    HoloGraph *copy = holo_graph_copy(graph, arena);
    if (!copy) return holo_fail_memory(error);
    for (int i = 0; i < graph->value_count; i++) {
        const HoloValue *value = graph->values[i];
        w->index[i]            = -1;
        if (!w->wanted[i] || value->is_input) continue;
        HoloValue *twin = holo_graph_find(copy, value->name);
        if (!twin) return holo_fail(error, HOLO_INTERNAL, "value %s is not in a copy of its graph", value->name);
        for (int k = 0; k < copy->output_count; k++)
            if (copy->outputs[k] == twin) w->index[i] = k;
        if (w->index[i] >= 0) continue;
        w->index[i] = copy->output_count;
        if (!holo_graph_output(copy, twin)) return holo_fail_memory(error);
    }
    *out = copy;
    return HOLO_OK;
}

static HoloStatus watch_run(const HoloGraph *graph, Watching *w, HoloArena *scratch, HoloError *error)
{
    HoloGraph *copy = NULL;
    HoloModel *model;
    if (!(w->index = HOLO_NEW(scratch, int, graph->value_count + 1))) return holo_fail_memory(error);
    HOLO_TRY(watched_graph(graph, w, scratch, &copy, error));
    HOLO_TRY(holo_runs_open(copy, w->options, &model, error));
    HoloStatus status = holo_runs_each(model, w->options, watch_each, w, error);
    holo_model_close(model);
    return status;
}

HoloStatus holo_runs_watch(const HoloGraph *graph, const bool *wanted, const HoloQuantizeOptions *options,
                           HoloRunsWatch *each, void *context, HoloError *error)
{
    HoloArena scratch = {0};
    Watching  w = {.options = options, .wanted = wanted, .count = graph->value_count, .each = each, .context = context};
    for (int i = 0; i < graph->input_count; i++)
        for (int s = 0; wanted[graph->inputs[i]->id] && s < options->samples->count; s++)
            each(context, graph->inputs[i]->id, &options->samples->inputs[s][i]);
    HoloStatus status = watch_run(graph, &w, &scratch, error);
    holo_arena_deinit(&scratch);
    return status;
}

static void range_each(void *context, int value, const HoloTensor *t)
{
    holo_range_add(((HoloValueRange **)context)[value], t->data, holo_tensor_count(t));
}

HoloStatus holo_runs_observe(const HoloGraph *graph, const bool *wanted, const HoloQuantizeOptions *options,
                             HoloArena *arena, HoloValueRange ***out, HoloError *error)
{
    HoloValueRange **ranges = HOLO_NEW(arena, HoloValueRange *, graph->value_count + 1);
    if (!ranges) return holo_fail_memory(error);
    for (int i = 0; i < graph->value_count; i++)
        if (wanted[i] && !(ranges[i] = HOLO_NEW(arena, HoloValueRange, 1))) return holo_fail_memory(error);
    *out = ranges;
    return holo_runs_watch(graph, wanted, options, range_each, ranges, error);
}

// ---- time

HoloStatus holo_runs_time(const HoloModel *a, const HoloModel *b, const HoloQuantizeOptions *options, double *out_a,
                          double *out_b, HoloError *error)
{
    enum { ROUNDS_MIN = 5, ROUNDS_MAX = 200 };
    static const double enough     = 2; // seconds
    const HoloModel    *model[2]   = {a, b};
    double             *least[2]   = {out_a, out_b};
    HoloSession        *session[2] = {NULL, NULL};
    HoloStatus          status     = HOLO_OK;
    for (int i = 0; i < 2 && !status; i++) {
        status = holo_session_create(model[i], options->pool, &session[i], error);
        if (!status) status = sample_run(session[i], model[i], options, 0, error);
        *least[i] = 1e30;
    }
    double start = holo_time_now();
    for (int round = 0; !status && round < ROUNDS_MAX && (round < ROUNDS_MIN || holo_time_now() - start < enough);
         round++)
        for (int i = 0; i < 2 && !status; i++) {
            double begin = holo_time_now();
            status       = holo_session_run(session[i], error);
            double taken = holo_time_now() - begin;
            if (taken < *least[i]) *least[i] = taken;
        }
    holo_session_destroy(session[0]);
    holo_session_destroy(session[1]);
    return status;
}
