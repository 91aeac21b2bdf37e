// search.c - layers get weights that lose less, or are kept wide, the most sensitive first, until the accuracy is what
// was asked for.
//
// What a layer loses is measured: a plan in which it alone is narrow runs on the samples. That takes a plan a layer, so
// there is a limit of time; layers beyond it count by the error of their weights. How many stay wide is found by
// halving.
#include "quantize/search.h"

#include "base/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// The distance with the layers as they are set.
static HoloStatus measure(HoloLayerSearch *s, HoloDistance *out)
{
    HoloArena  arena = {0};
    HoloGraph *graph;
    HoloModel *model  = NULL;
    HoloStatus status = holo_narrow_make(s->narrow, &arena, &graph, s->error);
    if (!status) status = holo_runs_open(graph, s->options, &model, s->error);
    if (!status) status = holo_baseline_compare(s->baseline, model, s->options, out, s->error);
    holo_model_close(model);
    holo_arena_deinit(&arena);
    s->trials++;
    return status;
}

static double spent(const HoloLayerSearch *s)
{
    return holo_time_now() - s->start;
}

static void progress(const HoloLayerSearch *s, double fraction)
{
    if (s->options->progress) s->options->progress(s->options->context, fraction);
}

// ---- each layer alone

static int by_loss(const void *a, const void *b)
{
    const HoloLayer *x = *(HoloLayer *const *)a, *y = *(HoloLayer *const *)b;
    if (x->loss != y->loss) return x->loss > y->loss ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

// Layers that there was no time for lose as much as others of such weights.
static void losses_guess(HoloLayer **order, int count)
{
    double lost = 0, off = 0;
    for (int i = 0; i < count; i++) {
        if (isnan(order[i]->report.loss)) continue;
        lost += order[i]->report.loss;
        off += order[i]->error * order[i]->error;
    }
    for (int i = 0; i < count; i++) {
        bool measured = !isnan(order[i]->report.loss);
        order[i]->loss =
            measured ? order[i]->report.loss : order[i]->error * order[i]->error * (off > 0 ? lost / off : 1);
    }
}

static HoloStatus losses_measure(HoloLayerSearch *s, HoloLayer **order, int count)
{
    for (int i = 0; i < count; i++) order[i]->is_wide = true;
    for (int i = 0; i < count && spent(s) < s->options->seconds; i++) {
        HoloDistance alone;
        order[i]->is_wide = false;
        HOLO_TRY(measure(s, &alone));
        order[i]->is_wide     = true;
        order[i]->report.loss = s->baseline->score - alone.score;
        progress(s, 0.2 + 0.6 * (i + 1) / count);
    }
    return HOLO_OK;
}

// ---- how many of them

typedef enum Weights { ASKED, SPARE, WIDE } Weights; // what was asked for, better ones, f32

// The first of the order get other weights than the rest. A layer without spare weights is wide in place of spare, and
// as it was asked for in the rest.
static void first_set(HoloLayer **order, int count, int first, Weights of_first, Weights of_rest)
{
    for (int i = 0; i < count; i++) {
        bool    is = i < first, has = order[i]->is_spare || order[i]->spare.kind;
        Weights of = is ? of_first : of_rest;
        if (has && order[i]->is_spare != (of == SPARE)) holo_layer_swap(order[i]);
        order[i]->is_wide = of == WIDE || (is && of == SPARE && !has);
    }
}

static HoloStatus fewest(HoloLayerSearch *s, HoloLayer **order, int count, Weights of_first, Weights of_rest)
{
    int missed = 0, met = count; // with `met` of them so the target is met
    while (met - missed > 1) {
        HoloDistance d;
        int          first = missed + (met - missed) / 2;
        first_set(order, count, first, of_first, of_rest);
        HOLO_TRY(measure(s, &d));
        if (d.score >= s->target) {
            met      = first;
            s->found = d;
        } else
            missed = first;
    }
    first_set(order, count, met, of_first, of_rest);
    return HOLO_OK;
}

static bool is_all_wide(HoloLayer **order, int count)
{
    for (int i = 0; i < count; i++)
        if (!order[i]->is_wide) return false;
    return true;
}

// Spare weights of all layers meet the target, or those that lose most are f32: without any narrow layer it is met. If
// it takes all of them, because the others lose too much, the others may have spare weights.
static HoloStatus choose(HoloLayerSearch *s, HoloLayer **order, int count)
{
    const HoloDistance none      = {.accuracy = 1, .cosine = 1, .score = s->baseline->score, .top1 = NAN};
    bool               has_spare = false;
    for (int i = 0; i < count; i++) {
        has_spare = has_spare || order[i]->spare.kind;
        if (order[i]->spare.kind)
            HOLO_TRY(holo_layer_make_spare(s->narrow->graph, order[i], s->narrow->graph->arena, s->error));
    }
    if (has_spare) {
        first_set(order, count, count, SPARE, ASKED);
        HOLO_TRY(measure(s, &s->found));
        if (s->found.score >= s->target) return fewest(s, order, count, SPARE, ASKED);
    }
    s->found = none;
    HOLO_TRY(fewest(s, order, count, WIDE, ASKED));
    if (!has_spare || !is_all_wide(order, count)) return HOLO_OK;
    s->found = none;
    return fewest(s, order, count, WIDE, SPARE);
}

HoloStatus holo_search(HoloLayerSearch *s)
{
    HoloArena   scratch = {0};
    HoloLayers *layers  = s->layers;
    HoloLayer **order   = HOLO_NEW(&scratch, HoloLayer *, layers->count + 1);
    int         count   = 0;
    if (!order) return holo_fail_memory(s->error);
    for (int i = 0; i < layers->count; i++)
        if (!layers->layers[i].refusal) order[count++] = &layers->layers[i];
    HoloStatus status = measure(s, &s->found);
    s->target         = s->options->judge ? s->baseline->score - s->options->max_drop : s->options->accuracy;
    if (!status && !(s->found.score >= s->target)) {
        // First the layers whose weights lose most, in case there is no time for all.
        losses_guess(order, count);
        qsort(order, (size_t)count, sizeof *order, by_loss);
        status = losses_measure(s, order, count);
        losses_guess(order, count);
        qsort(order, (size_t)count, sizeof *order, by_loss);
        if (!status) status = choose(s, order, count);
    }
    holo_arena_deinit(&scratch);
    return status;
}
