// layers.c - finds products with constant weights, and says which of them cannot be quantized, and why.
#include "quantize/layers.h"

#include "format/params.h"
#include "passes/rewrite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TABLE_LEAST = 1 << 12 }; // fewest elements of a table of rows

const char *holo_quantize_name(HoloQuantizeKind kind)
{
    static const char *const names[] = {"none", "int8", "int4", "f16",  "bf16", "w8",   "centroids", "q8_0",
                                        "q4_0", "q4_1", "q5_0", "q5_1", "q4_k", "q5_k", "q6_k"};
    return (int)kind < HOLO_COUNT(names) ? names[kind] : "?";
}

const HoloBlockType *holo_layer_blocks(const HoloLayer *layer)
{
    static const char *const shorter[][2] = {{"q4_k", "q5_0"}, {"q5_k", "q5_1"}, {"q6_k", "q8_0"}};
    const HoloBlockType     *type         = holo_block_type_find(holo_quantize_name(layer->kind));
    for (int i = 0; type && layer->k % type->count && i < HOLO_COUNT(shorter); i++)
        if (!strcmp(shorter[i][0], type->name)) type = holo_block_type_find(shorter[i][1]);
    return type && layer->k % type->count == 0 ? type : NULL;
}

void holo_layer_swap(HoloLayer *layer)
{
    HoloForm now              = {layer->kind, layer->q, layer->scale, layer->report.bytes_after};
    layer->kind               = layer->spare.kind;
    layer->q                  = layer->spare.q;
    layer->scale              = layer->spare.scale;
    layer->report.bytes_after = layer->spare.bytes;
    layer->spare              = now;
    layer->is_spare           = !layer->is_spare;
}

static bool is_constant(const HoloValue *value, int rank_min, int rank_max)
{
    return holo_value_is_of(value, HOLO_F32, rank_min, rank_max) && value->is_constant && value->type.data &&
           holo_tensor_count(&value->type) > 0;
}

static double attr_number(const HoloNode *node, const char *name, double fallback)
{
    const HoloAttr *attr = holo_node_attr(node, name);
    if (!attr) return fallback;
    return attr->kind == HOLO_ATTR_INT ? (double)attr->i : attr->kind == HOLO_ATTR_FLOAT ? (double)attr->f : fallback;
}

// ---- what a layer is

static bool conv_is(const HoloNode *node, HoloLayer *layer)
{
    (void)layer;
    if (!is_constant(node->in[1], 3, 5)) return false;
    int rank = node->in[1]->type.rank;
    return holo_value_is_of(node->in[0], HOLO_F32, rank, rank);
}

static bool matmul_is(const HoloNode *node, HoloLayer *layer)
{
    if (!holo_value_is_of(node->in[0], HOLO_F32, 2, HOLO_MAX_RANK) || !is_constant(node->in[1], 2, 2)) return false;
    layer->k = node->in[1]->type.dim[0];
    layer->n = node->in[1]->type.dim[1];
    return true;
}

static bool gemm_is(const HoloNode *node, HoloLayer *layer)
{
    bool transposed      = attr_number(node, "transB", 0) != 0;
    layer->is_transposed = transposed;
    layer->alpha         = (float)attr_number(node, "alpha", 1);
    layer->beta          = (float)attr_number(node, "beta", 1);
    if (!holo_value_is_of(node->in[0], HOLO_F32, 2, 2) || !is_constant(node->in[1], 2, 2) ||
        attr_number(node, "transA", 0) != 0)
        return false;
    layer->k = node->in[1]->type.dim[transposed];
    layer->n = node->in[1]->type.dim[!transposed];
    return true;
}

static bool gather_is(const HoloNode *node, HoloLayer *layer)
{
    if (!is_constant(node->in[0], 2, 2) || holo_tensor_count(&node->in[0]->type) < TABLE_LEAST) return false;
    layer->n             = node->in[0]->type.dim[0];
    layer->k             = node->in[0]->type.dim[1];
    layer->is_transposed = true; // rows are contiguous
    return true;
}

static const struct {
    HoloOpId id;
    bool (*is)(const HoloNode *node, HoloLayer *layer);
    int         input;
    HoloLayerOp op;
} kinds[] = {
    {HOLO_ID_Conv, conv_is, 1, HOLO_LAYER_CONV},
    {HOLO_ID_MatMul, matmul_is, 1, HOLO_LAYER_MATMUL},
    {HOLO_ID_Gemm, gemm_is, 1, HOLO_LAYER_GEMM},
    {HOLO_ID_Gather, gather_is, 0, HOLO_LAYER_GATHER},
};

static bool layer_of(const HoloNode *node, HoloLayer *layer)
{
    for (int i = 0; i < HOLO_COUNT(kinds); i++) {
        if (node->op_id != kinds[i].id || node->in_count < 2 || !node->in[0] || !node->in[1] || node->out_count != 1 ||
            !holo_value_is_of(node->out[0], HOLO_F32, 0, HOLO_MAX_RANK) || node->in[!kinds[i].input]->is_constant)
            continue;
        layer->op    = kinds[i].op;
        layer->input = kinds[i].input;
        if (!kinds[i].is(node, layer)) return false;
        layer->w = &node->in[layer->input]->type;
        return true;
    }
    return false;
}

// ---- why it must stay

static bool is_finite(const HoloTensor *w, double limit)
{
    const float *data = w->data;
    for (int64_t i = 0, n = holo_tensor_count(w); i < n; i++)
        if (!(fabs((double)data[i]) <= limit)) return false;
    return true;
}

// A bias is a constant for each column, or one for all.
static bool is_bias(const HoloValue *value, int64_t n)
{
    if (!value) return true;
    if (!is_constant(value, 0, HOLO_MAX_RANK)) return false;
    int64_t count = holo_tensor_count(&value->type);
    return count == 1 || (count == n && value->type.dim[value->type.rank - 1] == n);
}

static const char *integer_refusal(const HoloNode *node, const HoloLayer *layer, bool is_static)
{
    const HoloValue *bias = node->in_count > 2 ? node->in[2] : NULL;
    bool             conv = layer->op == HOLO_LAYER_CONV;
    int64_t          k    = conv ? holo_product(layer->w->rank - 1, layer->w->dim + 1) : 0;
    if (layer->op == HOLO_LAYER_GATHER) return NULL;
    if (conv && !is_static && layer->w->dim[1] == 1 && attr_number(node, "group", 1) > 1)
        return "a filter of one channel: with dynamic scales, f32 is as fast";
    if (k > HOLO_CONV_I8_K) return "its filters are too long for products of integers";
    if (!is_bias(bias, conv ? layer->w->dim[0] : layer->n))
        return "its bias is not a constant with one number for each column";
    return NULL;
}

static const char *centroids_refusal(const HoloNode *node, const HoloLayer *layer)
{
    if (layer->op != HOLO_LAYER_MATMUL && layer->op != HOLO_LAYER_GEMM)
        return "only inputs of MatMul and Gemm can be replaced by centroids";
    if (layer->k % HOLO_LAYER_WIDTH) return "its depth is not a multiple of 8";
    return is_bias(node->in_count > 2 ? node->in[2] : NULL, layer->n)
               ? NULL
               : "its bias is not a constant with one number for each column";
}

static const char *refusal_of(const HoloNode *node, const HoloLayer *layer, const HoloQuantizeOptions *options)
{
    const HoloValue *bias = node->in_count > 2 ? node->in[2] : NULL;
    if (layer->kind == HOLO_QUANTIZE_NONE) return "you asked to keep it";
    if (!is_finite(layer->w, layer->kind == HOLO_QUANTIZE_F16 ? 65504.0 : 1e38))
        return "the narrow type cannot hold some of its weights";
    if (layer->kind == HOLO_QUANTIZE_INT8) return integer_refusal(node, layer, options->is_static);
    if (layer->kind == HOLO_QUANTIZE_CENTROIDS) return centroids_refusal(node, layer);
    bool is_typed = layer->kind > HOLO_QUANTIZE_CENTROIDS;
    if (!is_typed && layer->kind != HOLO_QUANTIZE_INT4 && layer->kind != HOLO_QUANTIZE_W8) return NULL;
    if (layer->op == HOLO_LAYER_CONV) return "convolutions have no weights in blocks";
    if (is_typed && !holo_layer_blocks(layer)) return "its rows are not whole blocks of 32 weights";
    if (layer->op == HOLO_LAYER_GATHER)
        return layer->kind == HOLO_QUANTIZE_INT4 && layer->k % 2 ? "its rows have an odd number of columns" : NULL;
    if (!is_bias(bias, layer->n)) return "its bias is not a constant with one number for each column";
    return layer->k < HOLO_LAYER_BLOCK ? "it has fewer rows than a block of weights" : NULL;
}

// ---- what a layer becomes

// * stands for any number of characters, ? for one.
static bool fits(const char *pattern, const char *text)
{
    const char *star = NULL, *from = NULL; // the last star, and what follows the text it covers
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            from = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text    = ++from;
        } else
            return false;
    }
    while (*pattern == '*') pattern++;
    return !*pattern;
}

// The last rule that fits counts. `used` is by rule.
static HoloQuantizeKind kind_of(const HoloNode *node, const HoloQuantizeOptions *options, bool *used)
{
    HoloQuantizeKind kind = options->kind;
    for (int i = 0; i < options->rule_count; i++) {
        if (!fits(options->rules[i].pattern, node->type) && !fits(options->rules[i].pattern, node->name)) continue;
        used[i] = true;
        kind    = options->rules[i].kind;
    }
    return kind;
}

static HoloStatus rules_check(const HoloQuantizeOptions *options, const bool *used, const HoloLayers *layers,
                              HoloError *error)
{
    char names[400] = "";
    for (int i = 0; i < layers->count && strlen(names) < 300; i++) {
        strncat(names, i ? ", " : "", 4);
        strncat(names, layers->layers[i].report.name, 60);
    }
    for (int i = 0; i < options->rule_count; i++)
        if (!used[i])
            return holo_fail(
                error, HOLO_BAD_ARGUMENT,
                "no layer fits '%s': it is neither an operator of a layer (Conv, MatMul, Gemm, Gather) nor a "
                "pattern of a layer's name; the layers are: %s",
                options->rules[i].pattern, *names ? names : "none");
    return HOLO_OK;
}

// Another kind that loses less, if the one that was asked for loses too much.
static HoloQuantizeKind spare_of(const HoloNode *node, const HoloLayer *layer, const HoloQuantizeOptions *options)
{
    HoloLayer other = *layer;
    if (layer->kind == HOLO_QUANTIZE_INT8)
        other.kind = layer->op == HOLO_LAYER_CONV ? HOLO_QUANTIZE_F16 : HOLO_QUANTIZE_W8;
    else if (layer->kind == HOLO_QUANTIZE_INT4)
        other.kind = HOLO_QUANTIZE_W8;
    else if (layer->kind > HOLO_QUANTIZE_Q8_0)
        other.kind = HOLO_QUANTIZE_Q8_0;
    else
        return HOLO_QUANTIZE_NONE;
    bool is_same = layer->op == HOLO_LAYER_GATHER && layer->kind == HOLO_QUANTIZE_INT8;
    return is_same || refusal_of(node, &other, options) ? HOLO_QUANTIZE_NONE : other.kind;
}

// ---- all layers

static HoloStatus report_begin(const HoloNode *node, HoloLayer *layer, HoloArena *arena, HoloError *error)
{
    char shape[128];
    int  at = 0;
    for (int d = 0; d < layer->w->rank; d++)
        at += snprintf(shape + at, sizeof shape - (size_t)at, "%s%lld", d ? "x" : "", (long long)layer->w->dim[d]);
    layer->report = (HoloLayerReport){
        .name         = holo_arena_text(arena, node->name, strlen(node->name)),
        .op           = holo_arena_text(arena, node->type, strlen(node->type)),
        .shape        = holo_arena_text(arena, shape, strlen(shape)),
        .bytes_before = holo_tensor_bytes(layer->w),
        .bytes_after  = holo_tensor_bytes(layer->w),
        .error        = NAN,
        .loss         = NAN,
    };
    return layer->report.name && layer->report.op && layer->report.shape ? HOLO_OK : holo_fail_memory(error);
}

HoloStatus holo_layers_find(const HoloGraph *graph, const HoloQuantizeOptions *options, HoloArena *arena,
                            HoloLayers *out, HoloError *error)
{
    bool *used  = HOLO_NEW(arena, bool, options->rule_count + 1);
    *out        = (HoloLayers){.is_static = options->is_static, .is_mixed = options->is_mixed};
    out->layers = HOLO_NEW(arena, HoloLayer, graph->node_count + 1);
    if (!out->layers || !used) return holo_fail_memory(error);
    for (int i = 0; i < graph->node_count; i++) {
        HoloLayer *layer = &out->layers[out->count];
        *layer           = (HoloLayer){.node = i};
        if (!layer_of(graph->nodes[i], layer)) continue;
        layer->kind    = kind_of(graph->nodes[i], options, used);
        layer->refusal = refusal_of(graph->nodes[i], layer, options);
        if (!layer->refusal) layer->spare.kind = spare_of(graph->nodes[i], layer, options);
        HOLO_TRY(report_begin(graph->nodes[i], layer, arena, error));
        layer->report.why = layer->refusal;
        out->count++;
    }
    return rules_check(options, used, out, error);
}
