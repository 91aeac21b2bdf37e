// errors.c - the error that each layer adds, measured for all layers at once: one plan of the original model has a
// narrow twin beside each layer, which reads the same, and gives the squares of the differences.
#include "quantize/errors.h"

#include "quantize/parts.h"
#include "quantize/runs.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 8 };

typedef struct Twins {
    const HoloNarrowLayers *narrow;
    HoloLayers             *layers;
    HoloGraph              *graph;
    HoloEightValue         *eight; // by id of the values that existed at first
    HoloArena               arena;
    double                 *sums;   // by layer: sum of squared errors; behind these, sum of squares
    int                    *output; // by layer: the first of two outputs; -1: it has none
} Twins;

// ---- nodes

static HoloValue *real_input(Twins *t, HoloValue *x, const HoloLayer *layer)
{
    const HoloNarrowLayers *n = t->narrow;
    HoloEightValue         *e = &t->eight[x->id];
    if (!holo_layer_is_integer(layer)) return x;
    if (e->real) return e->real;
    if (holo_layer_is_dynamic(n->layers, layer))
        return holo_part_dynamic(t->graph, x, e) && holo_part_real(t->graph, x, e) ? e->real : NULL;
    const HoloValue *own = holo_graph_find(n->graph, x->name);
    return own && holo_part_static(t->graph, x, n->steps[own->id], e) ? e->real : NULL;
}

static HoloValue *sum_add(Twins *t, HoloValue *a, HoloValue *b, HoloOpId id)
{
    HoloNode *node = holo_part_node(t->graph, a, id, 14, 2, 1, 0);
    if (!node) return NULL;
    node->in[0] = a;
    node->in[1] = b;
    return holo_part_out(t->graph, node, 0, a, HOLO_F32, false);
}

static HoloValue *squares_add(Twins *t, HoloValue *x)
{
    HoloNode *node = holo_part_node(t->graph, x, HOLO_ID_ReduceSumSquare, 13, 1, 1, 1);
    if (!node) return NULL;
    node->in[0]   = x;
    node->attr[0] = (HoloAttr){.name = "keepdims", .kind = HOLO_ATTR_INT, .count = 1, .i = 0};
    return holo_part_out(t->graph, node, 0, x, HOLO_F32, true);
}

// A copy of the node with another input and other weights.
static HoloValue *same_add(Twins *t, const HoloNode *node, HoloValue *x, HoloValue *w)
{
    HoloNode *twin =
        holo_part_node(t->graph, node->out[0], node->op_id, node->version, node->in_count, 1, node->attr_count);
    if (!twin || !w) return NULL;
    memcpy(twin->in, node->in, (size_t)node->in_count * sizeof *node->in);
    if (node->attr_count) memcpy(twin->attr, node->attr, (size_t)node->attr_count * sizeof *node->attr);
    twin->in[0] = x;
    twin->in[1] = w;
    return holo_part_out(t->graph, twin, 0, node->out[0], HOLO_F32, false);
}

// A product of weights in the order [k][n], and its bias.
static HoloValue *product_add(Twins *t, const HoloNode *node, const HoloLayer *layer, HoloValue *x)
{
    HoloNode  *twin = holo_part_node(t->graph, node->out[0], HOLO_ID_MatMul, 13, 2, 1, 0);
    HoloValue *w    = holo_part_weights(t->graph, node->in[1], layer, 1);
    if (!twin || !w) return NULL;
    twin->in[0]    = x;
    twin->in[1]    = w;
    HoloValue *out = holo_part_out(t->graph, twin, 0, node->out[0], HOLO_F32, false);
    if (!out || !layer->bias.data) return out;
    HoloValue *bias = holo_part_constant(t->graph, node->in[1], &layer->bias);
    return bias ? sum_add(t, out, bias, HOLO_ID_Add) : NULL;
}

static HoloValue *bits_add(Twins *t, const HoloNode *node, const HoloLayer *layer)
{
    HoloValue *bias = layer->bias.data ? holo_part_constant(t->graph, node->in[1], &layer->bias) : NULL;
    HoloNode  *twin =
        holo_part_node(t->graph, node->out[0], HOLO_ID_MICROSOFT_MatMulNBits, 1, bias ? 6 : 3, 1, HOLO_NBITS_ATTRS);
    HoloValue *in[6];
    if (!twin || (layer->bias.data && !bias)) return NULL;
    if (!holo_part_nbits(t->graph, node->in[0], node->in[1], layer, bias, in, twin->attr)) return NULL;
    memcpy(twin->in, in, 3 * sizeof *in);
    if (bias) twin->in[5] = bias;
    return holo_part_out(t->graph, twin, 0, node->out[0], HOLO_F32, false);
}

static HoloValue *typed_add(Twins *t, const HoloNode *node, const HoloLayer *layer)
{
    HoloValue *bias = layer->bias.data ? holo_part_constant(t->graph, node->in[1], &layer->bias) : NULL;
    HoloNode  *twin =
        holo_part_node(t->graph, node->out[0], HOLO_ID_HOLOGRAM_MatMulBlocks, 1, bias ? 3 : 2, 1, HOLO_BLOCKS_ATTRS);
    HoloValue *in[3];
    if (!twin || (layer->bias.data && !bias)) return NULL;
    if (!holo_part_blocks(t->graph, node->in[0], node->in[1], layer, bias, in, twin->attr)) return NULL;
    memcpy(twin->in, in, (bias ? 3 : 2) * sizeof *in);
    return holo_part_out(t->graph, twin, 0, node->out[0], HOLO_F32, false);
}

static HoloValue *centroids_add(Twins *t, const HoloNode *node, const HoloLayer *layer)
{
    HoloValue *bias = layer->bias.data ? holo_part_constant(t->graph, node->in[1], &layer->bias) : NULL;
    HoloNode  *twin = holo_part_node(t->graph, node->out[0], HOLO_ID_HOLOGRAM_Centroids, 1, bias ? 4 : 3, 1, 0);
    HoloValue *in[4];
    if (!twin || (layer->bias.data && !bias)) return NULL;
    if (!holo_part_centroids(t->graph, node->in[0], node->in[1], layer, bias, in)) return NULL;
    memcpy(twin->in, in, (bias ? 4 : 3) * sizeof *in);
    return holo_part_out(t->graph, twin, 0, node->out[0], HOLO_F32, false);
}

static HoloValue *twin_add(Twins *t, const HoloNode *node, const HoloLayer *layer)
{
    HoloValue *x = real_input(t, node->in[0], layer);
    if (!x) return NULL;
    if (holo_layer_blocks(layer)) return typed_add(t, node, layer);
    switch (layer->kind) {
    case HOLO_QUANTIZE_INT8:
        return layer->op == HOLO_LAYER_CONV ? same_add(t, node, x, holo_part_weights(t->graph, node->in[1], layer, 0))
                                            : product_add(t, node, layer, x);
    case HOLO_QUANTIZE_INT4:
    case HOLO_QUANTIZE_W8: return bits_add(t, node, layer);
    case HOLO_QUANTIZE_F16:
    case HOLO_QUANTIZE_BF16: return same_add(t, node, x, holo_part_constant(t->graph, node->in[1], &layer->q));
    case HOLO_QUANTIZE_CENTROIDS: return centroids_add(t, node, layer);
    default: break;
    }
    return NULL;
}

static bool layer_add(Twins *t, int i)
{
    const HoloLayer *layer = &t->layers->layers[i];
    const HoloNode  *node  = t->graph->nodes[layer->node];
    HoloValue       *twin  = twin_add(t, node, layer);
    HoloValue       *off   = twin ? sum_add(t, twin, node->out[0], HOLO_ID_Sub) : NULL;
    HoloValue       *wrong = off ? squares_add(t, off) : NULL, *all = wrong ? squares_add(t, node->out[0]) : NULL;
    t->output[i] = t->graph->output_count;
    return all && holo_graph_output(t->graph, wrong) && holo_graph_output(t->graph, all);
}

// ---- running

static HoloStatus sums_each(void *context, int sample, HoloSession *session, HoloError *error)
{
    const Twins *t = context;
    (void)sample;
    for (int i = 0; i < t->layers->count; i++)
        for (int k = 0; k < 2 && t->output[i] >= 0; k++) {
            HoloTensor sum;
            HOLO_TRY(holo_session_output(session, t->output[i] + k, &sum, error));
            t->sums[2 * i + k] += holo_get_f(&sum, 0);
        }
    return HOLO_OK;
}

static HoloStatus twins_run(Twins *t, const HoloQuantizeOptions *options, HoloError *error)
{
    HoloModel *model;
    HOLO_TRY(holo_graph_sort(t->graph, error));
    HOLO_TRY(holo_graph_infer(t->graph, error));
    HOLO_TRY(holo_runs_open(t->graph, options, &model, error));
    HoloStatus status = holo_runs_each(model, options, sums_each, t, error);
    holo_model_close(model);
    return status;
}

static HoloStatus measure(Twins *t, const HoloQuantizeOptions *options, HoloError *error)
{
    t->graph  = holo_graph_copy(t->narrow->graph, &t->arena);
    t->eight  = HOLO_NEW(&t->arena, HoloEightValue, t->narrow->graph->value_count + 1);
    t->sums   = HOLO_NEW(&t->arena, double, 2 * t->layers->count + 2);
    t->output = HOLO_NEW(&t->arena, int, t->layers->count + 1);
    if (!t->graph || !t->eight || !t->sums || !t->output) return holo_fail_memory(error);
    for (int i = 0; i < t->layers->count; i++) {
        const HoloLayer *layer = &t->layers->layers[i];
        t->output[i]           = -1;
        if (layer->refusal || layer->op == HOLO_LAYER_GATHER) continue;
        if (!layer_add(t, i)) return holo_fail_memory(error);
    }
    HOLO_TRY(twins_run(t, options, error));
    for (int i = 0; i < t->layers->count; i++) {
        HoloLayer *layer = &t->layers->layers[i];
        if (layer->refusal) continue;
        if (t->output[i] >= 0) layer->error = t->sums[2 * i] > 0 ? sqrt(t->sums[2 * i] / t->sums[2 * i + 1]) : 0;
        layer->report.error = layer->error;
    }
    return HOLO_OK;
}

HoloStatus holo_errors_measure(const HoloNarrowLayers *narrow, HoloLayers *layers, const HoloQuantizeOptions *options,
                               HoloError *error)
{
    Twins               t    = {.narrow = narrow, .layers = layers};
    HoloSamples         some = *options->samples;
    HoloQuantizeOptions own  = *options;
    if (some.count > SAMPLES) some.count = SAMPLES;
    own.samples       = &some;
    HoloStatus status = measure(&t, &own, error);
    holo_arena_deinit(&t.arena);
    return status;
}
