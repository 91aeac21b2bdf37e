// tune.c - measures each kind of node of a graph in all ways in which it can run.
#include "tune/tune.h"

#include "base/memory.h"
#include "devices/cpu/kernel.h"
#include "lower/cpu/cpu_target.h"
#include "passes/rewrite.h"
#include "tune/trial.h"

#include <string.h>

static const double hardly  = 0.97; // part of the default's time: a smaller gain is not worth another archive
static const size_t passing = (size_t)64 << 20;

typedef struct Kind { // nodes that differ only in values
    const HoloNode *first;
    HoloLowering    ways[HOLO_LOWER_WAYS];
    double          seconds[HOLO_LOWER_WAYS];
    int             way_count, chosen, nodes;
} Kind;

typedef struct Tuning {
    const HoloTuneOptions *options;
    HoloArena             *arena;
    HoloTuning            *out;
    Kind                  *kinds;
    int                    count, room;
    uint64_t               constant_bytes; // of the graph and its subgraphs
    HoloError             *error;
} Tuning;

// ---- kinds

static bool same_type(const HoloValue *a, const HoloValue *b)
{
    if (!a || !b) return a == b;
    if (a->is_constant != b->is_constant || a->type.dtype != b->type.dtype || a->type.rank != b->type.rank)
        return false;
    for (int d = 0; d < a->type.rank; d++)
        if (a->type.dim[d] != b->type.dim[d]) return false;
    return true;
}

static bool same_kind(const HoloNode *a, const HoloNode *b)
{
    if (!holo_node_same_op(a, b)) return false;
    for (int i = 0; i < a->in_count; i++)
        if (!same_type(a->in[i], b->in[i])) return false;
    for (int i = 0; i < a->out_count; i++)
        if (!same_type(a->out[i], b->out[i])) return false;
    return true;
}

static Kind *kind_find(const Tuning *t, const HoloNode *node)
{
    for (int i = 0; i < t->count; i++)
        if (same_kind(t->kinds[i].first, node)) return &t->kinds[i];
    return NULL;
}

static HoloStatus kind_add(Tuning *t, const HoloNode *node, const HoloLowering *ways, int way_count)
{
    if (!HOLO_GROW(t->arena, t->kinds, t->count, t->room)) return holo_fail_memory(t->error);
    Kind *k = &t->kinds[t->count++];
    *k      = (Kind){.first = node, .way_count = way_count, .nodes = 1};
    memcpy(k->ways, ways, (size_t)way_count * sizeof *ways);
    return HOLO_OK;
}

static HoloStatus node_see(Tuning *t, const HoloNode *node)
{
    HoloLowering ways[HOLO_LOWER_WAYS];
    int          count = holo_cpu_ways(node, ways);
    if (count < 2) return HOLO_OK;
    if (!holo_trial_can(node)) {
        t->out->open++;
        return HOLO_OK;
    }
    Kind *kind = kind_find(t, node);
    if (!kind) return kind_add(t, node, ways, count);
    kind->nodes++;
    return HOLO_OK;
}

static void node_set(const Tuning *t, HoloLoweredNode *of)
{
    HoloLowering ways[HOLO_LOWER_WAYS];
    int          count = holo_cpu_ways(of->node, ways);
    const Kind  *kind  = count > 1 && holo_trial_can(of->node) ? kind_find(t, of->node) : NULL;
    if (kind && kind->chosen < count) of->lowering = ways[kind->chosen];
}

// Does the CPU run it? Only the CPU is measured.
static bool is_here(const HoloLowered *lowered, int i)
{
    return lowered->nodes[i].node->op && holo_lowered_target(lowered, &lowered->nodes[i]) == &holo_target_cpu;
}

static uint64_t constants_of(const HoloGraph *graph)
{
    uint64_t bytes = 0;
    for (int i = 0; i < graph->value_count; i++)
        if (graph->values[i]->is_constant && graph->values[i]->type.dtype != HOLO_STRING)
            bytes += holo_tensor_bytes(&graph->values[i]->type);
    return bytes;
}

// ---- measuring

static HoloStatus kind_measure(Tuning *t, Kind *kind)
{
    HoloTrial *trial;
    HOLO_TRY(holo_trial_create(kind->first, t->options, &trial, t->error));
    size_t     bytes  = t->constant_bytes < passing ? (size_t)t->constant_bytes : passing;
    HoloStatus status = holo_trial_measure(trial, kind->ways, kind->way_count, bytes, kind->seconds);
    holo_trial_destroy(trial);
    for (int i = 1; i < kind->way_count && !status; i++)
        if (kind->seconds[i] < kind->seconds[kind->chosen] && kind->seconds[i] < hardly * kind->seconds[0])
            kind->chosen = i;
    return status;
}

// ---- the report

static const char *way_name(Tuning *t, const HoloLowering *way)
{
    const HoloCpuKernel *kernel = way->kernel ? holo_cpu_kernel_find(way->kernel) : NULL;
    const char          *more   = way->pack_input >= 0 ? ", packed" : "";
    if (way->kernel == HOLO_KERNEL_conv_nhwc_f32 && way->conv_nhwc.flags & HOLO_CONV_NHWC_WINOGRAD) more = ", tiles";
    if (way->kernel == HOLO_KERNEL_conv_nhwc_f32 && way->conv_nhwc.flags & HOLO_CONV_NHWC_SMALL) more = ", small tiles";
    if (way->kernel == HOLO_KERNEL_conv_nhwc_f32 && way->conv_nhwc.flags & HOLO_CONV_NHWC_TRANSFORM)
        more = ", tiles, filters transformed in each run";
    if (way->kernel == HOLO_KERNEL_conv_nhwc_f32 && way->conv_nhwc.flags & HOLO_CONV_NHWC_GROUPS) more = ", groups";
    return holo_arena_format(t->arena, "%s%s", kernel ? kernel->name : "eval", more);
}

static void type_add(HoloText *text, const char *before, const HoloValue *v)
{
    if (!v) return;
    holo_text_add(text, "%s%s[", before, holo_dtype_name((HoloDtype)v->type.dtype));
    for (int d = 0; d < v->type.rank; d++) holo_text_add(text, d ? ",%lld" : "%lld", (long long)v->type.dim[d]);
    holo_text_add(text, "]");
}

static const char *shapes_text(Tuning *t, const HoloNode *node)
{
    HoloText text = {0};
    for (int i = 0; i < node->in_count && i < 2; i++) type_add(&text, i ? ", " : "", node->in[i]);
    for (int i = 0; i < node->out_count && i < 1; i++) type_add(&text, " -> ", node->out[i]);
    char *copy = text.failed || !text.data ? NULL : holo_arena_text(t->arena, text.data, text.size);
    holo_text_deinit(&text);
    return copy;
}

static HoloStatus report(Tuning *t)
{
    t->out->reports = HOLO_NEW(t->arena, HoloTuneReport, t->count + 1);
    if (!t->out->reports) return holo_fail_memory(t->error);
    for (int i = 0; i < t->count; i++) {
        const Kind  *k    = &t->kinds[i];
        HoloTuneWay *ways = HOLO_NEW(t->arena, HoloTuneWay, k->way_count);
        const char  *text = shapes_text(t, k->first);
        const char  *op   = holo_arena_text(t->arena, k->first->type, strlen(k->first->type));
        if (!ways || !text || !op) return holo_fail_memory(t->error);
        for (int w = 0; w < k->way_count; w++) {
            ways[w] = (HoloTuneWay){way_name(t, &k->ways[w]), k->seconds[w]};
            if (!ways[w].name) return holo_fail_memory(t->error);
        }
        t->out->reports[t->out->count++] = (HoloTuneReport){op, text, k->nodes, k->way_count, k->chosen, ways};
    }
    return HOLO_OK;
}

HoloStatus holo_tune(const HoloGraph *graph, HoloLowered *lowered, const HoloTuneOptions *options, HoloArena *arena,
                     HoloTuning *out, HoloError *error)
{
    *out     = (HoloTuning){0};
    Tuning t = {.options = options, .arena = arena, .out = out, .constant_bytes = constants_of(graph), .error = error};
    for (int i = 0; i < lowered->count; i++)
        if (is_here(lowered, i)) HOLO_TRY(node_see(&t, lowered->nodes[i].node));
    for (int i = 0; i < t.count; i++) {
        HOLO_TRY(holo_scope_continue(error));
        HOLO_TRY(kind_measure(&t, &t.kinds[i]));
        if (options->progress) options->progress(options->context, (double)(i + 1) / t.count);
    }
    for (int i = 0; i < lowered->count; i++)
        if (is_here(lowered, i)) node_set(&t, &lowered->nodes[i]);
    return report(&t);
}
