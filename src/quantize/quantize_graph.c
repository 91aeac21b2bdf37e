// quantize_graph.c - makes a model narrow: simplifies, observes, rewrites and measures it. See quantize.h.
#include "quantize/errors.h"
#include "quantize/layer_centroids.h"
#include "quantize/search.h"

#include "base/files.h"
#include "graph/facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Work {
    HoloGraph                 *graph;
    const HoloQuantizeOptions *options;
    HoloArena                 *arena; // for the report
    HoloArena                  scratch;
    HoloLayers                 layers;
    HoloModel                 *wide; // the plan without quantization
    HoloBaseline               baseline;
    HoloNarrowLayers           narrow;
    HoloLayerSearch            search;
    const HoloSamples         *own; // for finding centroids: not the samples that accuracy is measured on
    HoloQuantization          *out;
    HoloError                 *error;
} Work;

static void progress(const Work *w, double fraction)
{
    if (w->options->progress) w->options->progress(w->options->context, fraction);
}

// ---- preparation

static HoloStatus check_plain(const HoloGraph *graph, HoloError *error)
{
    for (int i = 0; i < graph->node_count; i++)
        if (holo_node_has(graph->nodes[i], HOLO_OP_SCALED))
            return holo_fail(error, HOLO_BAD_ARGUMENT,
                             "the model is quantized already (node %s is a %s): compile it without quantizing",
                             graph->nodes[i]->name, graph->nodes[i]->type);
    return HOLO_OK;
}

// Products as plans have them: normalization is in their weights, constants are computed, narrow types are widened.
static HoloStatus simplify(Work *w)
{
    static const char *const left_out[] = {"tables", "weights", "integers", "branches", "stored"};
    HoloPass                 table[64];
    HoloPassOptions          options = *w->options->passes;
    int                      count   = 0;
    for (const HoloPass *pass = options.table ? options.table : holo_passes; pass->name; pass++) {
        bool is_left = pass->stage != HOLO_STAGE_SIMPLE;
        for (int i = 0; i < HOLO_COUNT(left_out); i++) is_left = is_left || !strcmp(pass->name, left_out[i]);
        if (!is_left && count < HOLO_COUNT(table) - 1) table[count++] = *pass;
    }
    table[count]    = (HoloPass){0};
    options.table   = table;
    options.is_wide = true;
    return holo_passes_run(w->graph, &options, w->error);
}

static HoloStatus check_layers(const Work *w)
{
    const char *why = "it has no Conv, MatMul, Gemm or Gather of f32 with constant weights";
    for (int i = 0; i < w->layers.count; i++) {
        if (!w->layers.layers[i].refusal) return HOLO_OK;
        why = w->layers.layers[i].refusal;
    }
    return holo_fail(w->error, HOLO_BAD_ARGUMENT, "nothing in the model can be made %s: %s",
                     holo_quantize_name(w->options->kind), why);
}

// Infinities occur in masks and do no harm. But values that they make infinite or NaN cannot be compared.
static HoloStatus check_finite(const Work *w)
{
    const HoloBaseline *b = &w->baseline;
    for (int64_t i = 0; w->options->samples->infinite && i < (int64_t)b->sample_count * b->output_count; i++) {
        const HoloTensor *t = &b->outputs[i];
        if (!t->data || holo_dtype_class((HoloDtype)t->dtype) != HOLO_CLASS_FLOAT) continue;
        for (int64_t k = 0, n = holo_tensor_count(t); k < n; k++)
            if (!isfinite(holo_get_f(t, k)))
                return holo_fail(w->error, HOLO_BAD_INPUT, "%s, so the outputs are not finite: give other samples",
                                 w->options->samples->infinite);
    }
    return HOLO_OK;
}

static HoloStatus baseline(Work *w)
{
    HoloGraph *copy = holo_graph_copy(w->graph, &w->scratch);
    if (!copy) return holo_fail_memory(w->error);
    HOLO_TRY(holo_runs_open(copy, w->options, &w->wide, w->error));
    HOLO_TRY(holo_baseline_take(w->wide, w->options, &w->scratch, &w->baseline, w->error));
    return check_finite(w);
}

// ---- steps of activations

static HoloStatus refuse_strange(Work *w, HoloValueRange *const *ranges)
{
    const char *infinite = w->options->samples->infinite, *why = "what it reads is not finite on the samples";
    char        text[1200];
    if (infinite) {
        snprintf(text, sizeof text, "%s: %s", why, infinite);
        if (!(why = holo_arena_text(w->arena, text, strlen(text)))) return holo_fail_memory(w->error);
    }
    for (int i = 0; i < w->layers.count; i++) {
        HoloLayer *layer = &w->layers.layers[i];
        if (layer->refusal || !holo_layer_is_integer(layer)) continue;
        const HoloValueRange *range = ranges[w->graph->nodes[layer->node]->in[0]->id];
        if (range && range->strange) layer->refusal = layer->report.why = why;
    }
    return HOLO_OK;
}

static bool has_integers(const HoloLayers *layers, bool is_static)
{
    for (int i = 0; i < layers->count; i++) {
        const HoloLayer *layer = &layers->layers[i];
        if (layer->refusal || !holo_layer_is_integer(layer)) continue;
        if (!is_static || !holo_layer_is_dynamic(layers, layer)) return true;
    }
    return false;
}

// Each run finds the ranges of dynamic activations; the samples only tell whether they are finite.
static HoloStatus calibrate(Work *w)
{
    HoloEight        eight;
    HoloValueRange **ranges;
    if (w->options->kind == HOLO_QUANTIZE_CENTROIDS)
        return holo_centroids_find(w->graph, &w->layers, w->options, w->own, w->graph->arena, w->error);
    w->layers.is_static = w->options->is_static && has_integers(&w->layers, true);
    if (!has_integers(&w->layers, false) || (!w->layers.is_static && !w->options->samples->infinite)) return HOLO_OK;
    HOLO_TRY(holo_eight_find(w->graph, &w->layers, &w->scratch, &eight, w->error));
    HOLO_TRY(holo_runs_observe(w->graph, eight.is, w->options, &w->scratch, &ranges, w->error));
    HoloSteps *steps = HOLO_NEW(&w->scratch, HoloSteps, w->graph->value_count + 1);
    if (!steps) return holo_fail_memory(w->error);
    for (int i = 0; i < w->graph->value_count; i++)
        if (ranges[i]) steps[i] = holo_range_steps(ranges[i], w->options->ranges, w->options->percentile);
    w->narrow.steps = steps;
    return refuse_strange(w, ranges);
}

// ---- the report

static HoloStatus compare_time(Work *w)
{
    HoloArena               arena = {0};
    HoloGraph              *graph;
    HoloModel              *model  = NULL;
    HoloQuantizationReport *r      = &w->out->report;
    HoloStatus              status = holo_narrow_make(&w->narrow, &arena, &graph, w->error);
    if (!status) status = holo_runs_open(graph, w->options, &model, w->error);
    if (!status) status = holo_runs_time(w->wide, model, w->options, &r->before_run, &r->after_run, w->error);
    holo_model_close(model);
    holo_arena_deinit(&arena);
    r->was_kept = !status && !(r->after_run < r->before_run);
    return status;
}

// What was asked for: "int8", or "int8, Gather f16". NULL: no memory.
static const char *kind_name(const Work *w)
{
    const HoloQuantizeOptions *o = w->options;
    char                       text[512];
    int at = snprintf(text, sizeof text, "%s", o->kind || !o->rule_count ? holo_quantize_name(o->kind) : "f32");
    for (int i = 0; i < o->rule_count && (size_t)at + 120 < sizeof text; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, ",%.80s=%s", o->rules[i].pattern,
                       o->rules[i].kind ? holo_quantize_name(o->rules[i].kind) : "f32");
    return holo_arena_text(w->arena, text, strlen(text));
}

static HoloStatus report(Work *w, double start)
{
    HoloQuantizationReport *r      = &w->out->report;
    HoloLayerReport        *layers = HOLO_NEW(w->arena, HoloLayerReport, w->layers.count + 1);
    if (!layers) return holo_fail_memory(w->error);
    for (int i = 0; i < w->layers.count; i++) {
        HoloLayer *layer = &w->layers.layers[i];
        bool       is    = holo_layer_is_narrow(layer) && !r->was_kept;
        layers[i]        = layer->report;
        layers[i].type   = is ? holo_quantize_name(layer->kind) : "f32";
        r->narrow_count += is;
        r->integer_count += is && holo_layer_is_integer(layer);
        if (is && layer->is_spare) layers[i].why = "the requested accuracy needs it";
        if (is) continue;
        layers[i].bytes_after = layers[i].bytes_before;
        if (!layers[i].why)
            layers[i].why = layer->is_wide ? "the requested accuracy needs it" : "the plan would not be faster";
    }
    r->layers       = layers;
    r->layer_count  = w->layers.count;
    r->is_static    = w->layers.is_static;
    r->samples      = w->options->samples->count;
    r->target       = w->options->accuracy;
    r->accuracy     = r->was_kept ? 1 : w->search.found.accuracy;
    r->cosine       = r->was_kept ? 1 : w->search.found.cosine;
    r->worst        = r->was_kept ? 0 : w->search.found.worst;
    r->top1         = w->search.found.top1;
    r->top1_rows    = w->search.found.rows;
    r->trials       = w->search.trials;
    bool judged     = w->options->judge;
    r->score_before = judged ? w->baseline.score : NAN;
    r->score_after  = !judged ? NAN : r->was_kept ? w->baseline.score : w->search.found.score;
    r->max_drop     = judged ? w->options->max_drop : NAN;
    r->seconds      = holo_time_now() - start;
    return HOLO_OK;
}

static HoloStatus quantize(Work *w)
{
    double start = holo_time_now();
    HOLO_TRY(check_plain(w->graph, w->error));
    HOLO_TRY(simplify(w));
    HOLO_TRY(holo_layers_find(w->graph, w->options, w->arena, &w->layers, w->error));
    HOLO_TRY(check_layers(w));
    HOLO_TRY(holo_layers_weights(w->graph, &w->layers, w->graph->arena, w->error));
    HOLO_TRY(baseline(w));
    progress(w, 0.05);
    w->narrow = (HoloNarrowLayers){.graph = w->graph, .layers = &w->layers};
    HOLO_TRY(calibrate(w));
    HOLO_TRY(check_layers(w));
    HOLO_TRY(holo_errors_measure(&w->narrow, &w->layers, w->options, w->error));
    progress(w, 0.15);
    w->search = (HoloLayerSearch){.narrow   = &w->narrow,
                                  .layers   = &w->layers,
                                  .baseline = &w->baseline,
                                  .options  = w->options,
                                  .start    = holo_time_now(),
                                  .error    = w->error};
    HOLO_TRY(holo_search(&w->search));
    w->out->report = (HoloQuantizationReport){.kind = kind_name(w)};
    if (!w->out->report.kind) return holo_fail_memory(w->error);
    if (w->options->only_if_faster) HOLO_TRY(compare_time(w));
    HOLO_TRY(report(w, start));
    w->out->graph = w->graph;
    return w->out->report.was_kept ? HOLO_OK : holo_narrow_make(&w->narrow, w->graph->arena, &w->out->graph, w->error);
}

// Centroids fit the samples that they are found on better than others, so every other sample is kept for measuring.
static HoloStatus samples_part(Work *w, HoloQuantizeOptions *options, HoloSamples part[2])
{
    const HoloSamples *all = options->samples;
    if (options->kind != HOLO_QUANTIZE_CENTROIDS) return HOLO_OK;
    if (all->count < 2)
        return holo_fail(w->error, HOLO_BAD_ARGUMENT,
                         "centroids are found on some samples and measured on others: give two or more");
    for (int i = 0; i < 2; i++)
        if (!(part[i].inputs = HOLO_NEW(&w->scratch, HoloTensor *, all->count))) return holo_fail_memory(w->error);
    for (int i = 0; i < 2; i++) part[i].infinite = all->infinite;
    for (int i = 0; i < all->count; i++) part[i % 2].inputs[part[i % 2].count++] = all->inputs[i];
    w->own           = &part[0];
    options->samples = &part[1];
    return HOLO_OK;
}

HoloStatus holo_quantize(HoloGraph *graph, const HoloQuantizeOptions *options, HoloArena *arena, HoloQuantization *out,
                         HoloError *error)
{
    HoloQuantizeOptions own     = *options;
    HoloSamples         part[2] = {{0}};
    Work                w       = {.graph = graph, .options = &own, .arena = arena, .out = out, .error = error};
    HoloStatus          status  = samples_part(&w, &own, part);
    if (!status) status = quantize(&w);
    holo_model_close(w.wide);
    holo_arena_deinit(&w.scratch);
    return status;
}
