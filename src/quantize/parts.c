// parts.c - see parts.h.
#include "quantize/parts.h"

#include "passes/rewrite.h"

#include <string.h>

HoloNode *holo_part_node(HoloGraph *graph, const HoloValue *near, HoloOpId id, int version, int in_count, int out_count,
                         int attr_count)
{
    return holo_graph_op(graph, near->name, id, version, in_count, out_count, attr_count);
}

HoloValue *holo_part_out(HoloGraph *graph, HoloNode *node, int i, const HoloValue *like, HoloDtype dtype,
                         bool is_number)
{
    HoloValue *value = holo_graph_value(graph, like->name);
    if (!value) return NULL;
    value->type       = is_number ? (HoloTensor){.kind = HOLO_TENSOR} : like->type;
    value->type.dtype = (uint8_t)dtype;
    value->type.data  = NULL;
    holo_node_set_out(node, i, value);
    return value;
}

HoloValue *holo_part_constant(HoloGraph *graph, const HoloValue *near, const HoloTensor *t)
{
    return holo_graph_constant(graph, near->name, t);
}

static HoloValue *number_add(HoloGraph *graph, HoloDtype dtype, double x)
{
    HoloTensor t = {.dtype = (uint8_t)dtype, .kind = HOLO_TENSOR};
    t.data       = holo_arena_take(graph->arena, holo_dtype_size(dtype));
    if (!t.data) return NULL;
    holo_put_f(&t, 0, x);
    return holo_graph_constant(graph, "steps", &t);
}

// ---- values in 8 bits

bool holo_part_real(HoloGraph *graph, const HoloValue *value, HoloEightValue *out)
{
    HoloNode *node = holo_part_node(graph, value, HOLO_ID_DequantizeLinear, 13, 3, 1, 0);
    if (!node) return false;
    node->in[0] = out->q;
    node->in[1] = out->scale;
    node->in[2] = out->zero;
    return (out->real = holo_part_out(graph, node, 0, value, HOLO_F32, false)) != NULL;
}

bool holo_part_static(HoloGraph *graph, HoloValue *value, HoloSteps steps, HoloEightValue *out)
{
    out->scale     = number_add(graph, HOLO_F32, (double)steps.scale);
    out->zero      = number_add(graph, HOLO_U8, steps.zero);
    HoloNode *node = holo_part_node(graph, value, HOLO_ID_QuantizeLinear, 13, 3, 1, 0);
    if (!node || !out->scale || !out->zero) return false;
    node->in[0] = value;
    node->in[1] = out->scale;
    node->in[2] = out->zero;
    return (out->q = holo_part_out(graph, node, 0, value, HOLO_U8, false)) && holo_part_real(graph, value, out);
}

bool holo_part_dynamic(HoloGraph *graph, HoloValue *value, HoloEightValue *out)
{
    HoloNode *node = holo_part_node(graph, value, HOLO_ID_DynamicQuantizeLinear, 11, 1, 3, 0);
    if (!node) return false;
    node->in[0] = value;
    out->q      = holo_part_out(graph, node, 0, value, HOLO_U8, false);
    out->scale  = holo_part_out(graph, node, 1, value, HOLO_F32, true);
    out->zero   = holo_part_out(graph, node, 2, value, HOLO_U8, true);
    return out->q && out->scale && out->zero;
}

// ---- weights

HoloValue *holo_part_weights(HoloGraph *graph, const HoloValue *near, const HoloLayer *layer, int axis)
{
    HoloNode  *real  = holo_part_node(graph, near, HOLO_ID_DequantizeLinear, 13, 2, 1, 1);
    HoloValue *q     = holo_part_constant(graph, near, &layer->q);
    HoloValue *scale = holo_part_constant(graph, near, &layer->scale);
    if (!real || !q || !scale) return NULL;
    real->in[0]   = q;
    real->in[1]   = scale;
    real->attr[0] = (HoloAttr){.name = "axis", .kind = HOLO_ATTR_INT, .count = 1, .i = axis};
    return holo_part_out(graph, real, 0, q, HOLO_F32, false);
}

bool holo_part_nbits(HoloGraph *graph, HoloValue *x, const HoloValue *near, const HoloLayer *layer, HoloValue *bias,
                     HoloValue *in[6], HoloAttr attr[HOLO_NBITS_ATTRS])
{
    const int64_t     values[] = {layer->k, layer->n, layer->kind == HOLO_QUANTIZE_W8 ? 8 : 4, HOLO_LAYER_BLOCK, 4};
    const char *const names[]  = {"K", "N", "bits", "block_size", "accuracy_level"};
    for (int i = 0; i < HOLO_NBITS_ATTRS; i++)
        attr[i] = (HoloAttr){.name = names[i], .kind = HOLO_ATTR_INT, .count = 1, .i = values[i]};
    in[0] = x;
    in[1] = holo_part_constant(graph, near, &layer->q);
    in[2] = holo_part_constant(graph, near, &layer->scale);
    in[5] = bias;
    return in[1] && in[2];
}

bool holo_part_blocks(HoloGraph *graph, HoloValue *x, const HoloValue *near, const HoloLayer *layer, HoloValue *bias,
                      HoloValue *in[3], HoloAttr *attr)
{
    const char *type = holo_layer_blocks(layer)->name;
    attr[0]          = (HoloAttr){.name = "type", .kind = HOLO_ATTR_STRING, .count = 1, .s = {type, strlen(type)}};
    attr[1]          = (HoloAttr){.name = "count", .kind = HOLO_ATTR_INT, .count = 1, .i = layer->k};
    if (x) attr[2] = (HoloAttr){.name = "rounds", .kind = HOLO_ATTR_INT, .count = 1, .i = 1};
    in[0] = x;
    in[1] = holo_part_constant(graph, near, &layer->q);
    in[2] = bias;
    return in[1];
}

bool holo_part_table(HoloGraph *graph, const HoloNode *node, const HoloLayer *layer, HoloValue *in[HOLO_TABLE_INPUTS],
                     HoloAttr attr[HOLO_TABLE_ATTRS])
{
    bool              is_8     = layer->kind != HOLO_QUANTIZE_INT4;
    const HoloAttr   *axis     = holo_node_attr(node, "axis");
    const int64_t     values[] = {axis && axis->kind == HOLO_ATTR_INT ? axis->i : 0, 1,
                              is_8 ? HOLO_TABLE_BLOCK : HOLO_LAYER_BLOCK, is_8 ? 8 : 4};
    const char *const names[]  = {"gather_axis", "quantize_axis", "block_size", "bits"};
    for (int i = 0; i < HOLO_TABLE_ATTRS; i++)
        attr[i] = (HoloAttr){.name = names[i], .kind = HOLO_ATTR_INT, .count = 1, .i = values[i]};
    in[0] = holo_part_constant(graph, node->in[0], &layer->q);
    in[1] = node->in[1];
    in[2] = holo_part_constant(graph, node->in[0], &layer->scale);
    return in[0] && in[2];
}

bool holo_part_centroids(HoloGraph *graph, HoloValue *x, const HoloValue *near, const HoloLayer *layer, HoloValue *bias,
                         HoloValue *in[4])
{
    in[0] = x;
    in[1] = holo_part_constant(graph, near, &layer->scale);
    in[2] = holo_part_constant(graph, near, &layer->q);
    in[3] = bias;
    return in[1] && in[2];
}
