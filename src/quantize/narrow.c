// narrow.c - puts narrow weights and quantized values into a copy of a graph.
//
// With static int8, QuantizeLinear and DequantizeLinear are inserted at values and before filters, and the pass
// `integers` turns them into operators on integers. Matrix products become MatMulIntegerToFloat at once, with their
// bias. With dynamic scales they follow a DynamicQuantizeLinear, and convolutions become ConvIntegerToFloat. int4 and
// w8 become MatMulNBits, tables become GatherBlockQuantized, centroids become Centroids. For f16 and bf16 only the
// weights change.
#include "quantize/narrow.h"
#include "quantize/parts.h"

#include "passes/rewrite.h"

typedef struct Build {
    const HoloNarrowLayers *narrow;
    HoloGraph              *graph;
    HoloArena               scratch;
    HoloEight               eight;     // for static scales
    HoloEightValue         *quantized; // by id of the values that existed at first
    int                    *uses;
    HoloNode              **reader; // by value id: the last node that reads it
    bool                   *dead;   // by node
    int                     value_count, node_count;
    HoloError              *error;
} Build;

// ---- values in 8 bits

static HoloStatus values_make(Build *b)
{
    for (int i = 0; i < b->value_count; i++) {
        if (!b->eight.is[i]) continue;
        const HoloValue *own = holo_graph_find(b->narrow->graph, b->graph->values[b->eight.like[i]]->name);
        if (!own) return holo_fail(b->error, HOLO_INTERNAL, "value %s has no steps", b->graph->values[i]->name);
        if (!holo_part_static(b->graph, b->graph->values[i], b->narrow->steps[own->id], &b->quantized[i]))
            return holo_fail_memory(b->error);
    }
    return HOLO_OK;
}

// Outputs of the graph that are in 8 bits are given as real numbers.
static void outputs_transpose(Build *b)
{
    for (int i = 0; i < b->graph->output_count; i++) {
        HoloValue *value = b->graph->outputs[i];
        if (value->id >= b->value_count || !b->eight.forced[value->id]) continue;
        HoloValue *real = b->quantized[value->id].real;
        holo_graph_swap_names(b->graph, value, real);
        b->graph->outputs[i] = real;
    }
}

static void readers_turn(Build *b, const HoloLayer *const *layer)
{
    for (int i = 0; i < b->node_count; i++) {
        HoloNode *node = b->graph->nodes[i];
        for (int k = 0; k < node->in_count; k++) {
            const HoloValue *value = node->in[k];
            if (!value || value->id >= b->value_count || !b->eight.is[value->id]) continue;
            bool reads = b->eight.forced[value->id] || b->eight.whole[i] ||
                         (layer[i] && holo_layer_is_integer(layer[i]) && k == 0);
            if (reads) node->in[k] = b->quantized[value->id].real;
        }
    }
}

// ---- layers

static void become(HoloNode *node, HoloOpId id, HoloValue **in, int in_count, HoloAttr *attr, int attr_count)
{
    holo_node_become(node, id, 1);
    node->in         = in;
    node->in_count   = in_count;
    node->attr       = attr;
    node->attr_count = attr_count;
}

// With dynamic scales it is ConvIntegerToFloat, with its bias.
static HoloStatus conv_dynamic(Build *b, HoloNode *node, const HoloLayer *layer)
{
    HoloValue      *x = node->in[0], *bias = node->in_count > 2 ? node->in[2] : NULL;
    HoloValue     **in = HOLO_NEW(b->graph->arena, HoloValue *, 7);
    HoloEightValue *a  = &b->quantized[x->id];
    if (!in || (!a->q && !holo_part_dynamic(b->graph, x, a))) return holo_fail_memory(b->error);
    in[0] = a->q;
    in[1] = holo_part_constant(b->graph, node->in[1], &layer->q);
    in[2] = a->scale;
    in[3] = holo_part_constant(b->graph, node->in[1], &layer->scale);
    in[4] = a->zero;
    in[6] = bias;
    if (!in[1] || !in[3]) return holo_fail_memory(b->error);
    become(node, HOLO_ID_HOLOGRAM_ConvIntegerToFloat, in, bias ? 7 : 5, node->attr, node->attr_count);
    return HOLO_OK;
}

static HoloStatus conv_narrow(Build *b, HoloNode *node, const HoloLayer *layer)
{
    if (!b->narrow->layers->is_static) return conv_dynamic(b, node, layer);
    HoloValue *w = holo_part_weights(b->graph, node->in[1], layer, 0);
    if (!w) return holo_fail_memory(b->error);
    node->in[1] = w;
    return HOLO_OK;
}

// The node that adds a constant for each column to a product that nothing else reads; NULL: there is none.
static HoloNode *bias_node(const Build *b, const HoloNode *product, int64_t n, HoloTensor *out_bias)
{
    const HoloValue *out = product->out[0];
    HoloNode        *add = out->id < b->value_count && b->uses[out->id] == 1 ? b->reader[out->id] : NULL;
    if (!add || !HOLO_IS(add, Add) || add->in_count != 2 || add->version < 7) return NULL;
    const HoloValue *bias = add->in[add->in[0] == out];
    if (!bias || !bias->is_constant || !bias->type.data || bias->type.dtype != HOLO_F32 || bias->type.rank < 1 ||
        bias->type.rank > out->type.rank || holo_tensor_count(&bias->type) != n ||
        bias->type.dim[bias->type.rank - 1] != n)
        return NULL;
    *out_bias        = bias->type;
    out_bias->rank   = 1;
    out_bias->dim[0] = n;
    return add;
}

// The product takes over the addition.
static HoloStatus bias_take(Build *b, HoloNode *node, const HoloLayer *layer, HoloValue **out)
{
    HoloTensor bias = layer->bias;
    HoloNode  *add  = bias.data ? NULL : bias_node(b, node, layer->n, &bias);
    *out            = NULL;
    if (!bias.data) return HOLO_OK;
    if (!(*out = holo_part_constant(b->graph, node->in[1], &bias))) return holo_fail_memory(b->error);
    if (!add) return HOLO_OK;
    for (int i = 0; i < b->node_count; i++) b->dead[i] = b->dead[i] || b->graph->nodes[i] == add;
    holo_node_set_out(node, 0, add->out[0]);
    add->out[0] = NULL;
    return HOLO_OK;
}

static HoloStatus product_int8(Build *b, HoloNode *node, const HoloLayer *layer)
{
    HoloValue      *x = node->in[0], *bias, **in = HOLO_NEW(b->graph->arena, HoloValue *, 7);
    HoloEightValue *a = &b->quantized[x->id];
    if (!in) return holo_fail_memory(b->error);
    if (!a->q && !holo_part_dynamic(b->graph, x, a)) return holo_fail_memory(b->error);
    HOLO_TRY(bias_take(b, node, layer, &bias));
    in[0] = a->q;
    in[1] = holo_part_constant(b->graph, node->in[1], &layer->q);
    in[2] = a->scale;
    in[3] = holo_part_constant(b->graph, node->in[1], &layer->scale);
    in[4] = a->zero;
    in[6] = bias;
    if (!in[1] || !in[3]) return holo_fail_memory(b->error);
    become(node, HOLO_ID_MICROSOFT_MatMulIntegerToFloat, in, bias ? 7 : 5, NULL, 0);
    return HOLO_OK;
}

static HoloStatus product_blocks(Build *b, HoloNode *node, const HoloLayer *layer)
{
    HoloValue *bias, **in = HOLO_NEW(b->graph->arena, HoloValue *, 6);
    HoloAttr  *attr = HOLO_NEW(b->graph->arena, HoloAttr, HOLO_NBITS_ATTRS);
    if (!in || !attr) return holo_fail_memory(b->error);
    HOLO_TRY(bias_take(b, node, layer, &bias));
    if (!holo_part_nbits(b->graph, node->in[0], node->in[1], layer, bias, in, attr)) return holo_fail_memory(b->error);
    become(node, HOLO_ID_MICROSOFT_MatMulNBits, in, bias ? 6 : 3, attr, HOLO_NBITS_ATTRS);
    return HOLO_OK;
}

static HoloStatus product_typed(Build *b, HoloNode *node, const HoloLayer *layer)
{
    HoloValue *bias, **in = HOLO_NEW(b->graph->arena, HoloValue *, 3);
    HoloAttr  *attr = HOLO_NEW(b->graph->arena, HoloAttr, HOLO_BLOCKS_ATTRS);
    if (!in || !attr) return holo_fail_memory(b->error);
    HOLO_TRY(bias_take(b, node, layer, &bias));
    if (!holo_part_blocks(b->graph, node->in[0], node->in[1], layer, bias, in, attr)) return holo_fail_memory(b->error);
    become(node, HOLO_ID_HOLOGRAM_MatMulBlocks, in, bias ? 3 : 2, attr, HOLO_BLOCKS_ATTRS);
    return HOLO_OK;
}

// Rows of a table are decoded after they are taken.
static HoloStatus table_typed(Build *b, HoloNode *node, const HoloLayer *layer)
{
    HoloNode *decode =
        holo_part_node(b->graph, node->out[0], HOLO_ID_HOLOGRAM_DecodeBlocks, 1, 1, 1, HOLO_DECODE_ATTRS);
    HoloValue *in[3], *out = node->out[0];
    if (!decode || !holo_part_blocks(b->graph, NULL, node->in[0], layer, NULL, in, decode->attr))
        return holo_fail_memory(b->error);
    node->in[0]   = in[1];
    decode->in[0] = holo_part_out(b->graph, node, 0, out, HOLO_U8, false);
    holo_node_set_out(decode, 0, out);
    if (!decode->in[0]) return holo_fail_memory(b->error);
    decode->in[0]->type.dim[out->type.rank - 1] = layer->q.dim[1];
    return HOLO_OK;
}

static HoloStatus product_centroids(Build *b, HoloNode *node, const HoloLayer *layer)
{
    HoloValue *bias, **in = HOLO_NEW(b->graph->arena, HoloValue *, 4);
    if (!in) return holo_fail_memory(b->error);
    HOLO_TRY(bias_take(b, node, layer, &bias));
    if (!holo_part_centroids(b->graph, node->in[0], node->in[1], layer, bias, in)) return holo_fail_memory(b->error);
    become(node, HOLO_ID_HOLOGRAM_Centroids, in, bias ? 4 : 3, NULL, 0);
    return HOLO_OK;
}

static HoloStatus table_blocks(Build *b, HoloNode *node, const HoloLayer *layer)
{
    HoloValue **in   = HOLO_NEW(b->graph->arena, HoloValue *, HOLO_TABLE_INPUTS);
    HoloAttr   *attr = HOLO_NEW(b->graph->arena, HoloAttr, HOLO_TABLE_ATTRS);
    if (!in || !attr || !holo_part_table(b->graph, node, layer, in, attr)) return holo_fail_memory(b->error);
    become(node, HOLO_ID_MICROSOFT_GatherBlockQuantized, in, HOLO_TABLE_INPUTS, attr, HOLO_TABLE_ATTRS);
    return HOLO_OK;
}

// Rows of a table are widened after they are taken.
static HoloStatus weights_narrow(Build *b, HoloNode *node, const HoloLayer *layer)
{
    HoloValue *w = holo_part_constant(b->graph, node->in[layer->input], &layer->q);
    if (!w) return holo_fail_memory(b->error);
    node->in[layer->input] = w;
    if (layer->op != HOLO_LAYER_GATHER) return HOLO_OK;
    HoloNode *cast = holo_part_node(b->graph, node->out[0], HOLO_ID_Cast, 13, 1, 1, 1);
    if (!cast) return holo_fail_memory(b->error);
    HoloValue *out = node->out[0];
    cast->attr[0]  = (HoloAttr){.name = "to", .kind = HOLO_ATTR_INT, .count = 1, .i = 1};
    cast->in[0]    = holo_part_out(b->graph, node, 0, out, (HoloDtype)layer->q.dtype, false);
    holo_node_set_out(cast, 0, out);
    return cast->in[0] ? HOLO_OK : holo_fail_memory(b->error);
}

static HoloStatus layer_narrow(Build *b, HoloNode *node, const HoloLayer *layer)
{
    bool is_table = layer->op == HOLO_LAYER_GATHER;
    if (holo_layer_blocks(layer)) return (is_table ? table_typed : product_typed)(b, node, layer);
    switch (layer->kind) {
    case HOLO_QUANTIZE_INT8:
        return is_table                       ? table_blocks(b, node, layer)
               : layer->op == HOLO_LAYER_CONV ? conv_narrow(b, node, layer)
                                              : product_int8(b, node, layer);
    case HOLO_QUANTIZE_INT4:
    case HOLO_QUANTIZE_W8: return is_table ? table_blocks(b, node, layer) : product_blocks(b, node, layer);
    case HOLO_QUANTIZE_F16:
    case HOLO_QUANTIZE_BF16: return weights_narrow(b, node, layer);
    case HOLO_QUANTIZE_CENTROIDS: return product_centroids(b, node, layer);
    default: break;
    }
    return HOLO_OK;
}

// ---- the whole graph

static HoloStatus build_begin(Build *b)
{
    HoloGraph *graph = b->graph;
    b->value_count   = graph->value_count;
    b->node_count    = graph->node_count;
    b->quantized     = HOLO_NEW(&b->scratch, HoloEightValue, graph->value_count + 1);
    b->uses          = holo_graph_uses(graph, &b->scratch);
    b->reader        = HOLO_NEW(&b->scratch, HoloNode *, graph->value_count + 1);
    if (!b->quantized || !b->uses || !b->reader) return holo_fail_memory(b->error);
    for (int i = 0; i < graph->node_count; i++)
        for (int k = 0; k < graph->nodes[i]->in_count; k++)
            if (graph->nodes[i]->in[k]) b->reader[graph->nodes[i]->in[k]->id] = graph->nodes[i];
    return HOLO_OK;
}

static HoloStatus layers_narrow(Build *b, const HoloLayer *const *layer)
{
    for (int i = 0; i < b->node_count; i++)
        if (layer[i]) HOLO_TRY(layer_narrow(b, b->graph->nodes[i], layer[i]));
    return HOLO_OK;
}

// Static scales: first values, which products then find.
static HoloStatus eight_make(Build *b, const HoloLayer *const *layer)
{
    HOLO_TRY(holo_eight_find(b->graph, b->narrow->layers, &b->scratch, &b->eight, b->error));
    HOLO_TRY(values_make(b));
    HOLO_TRY(layers_narrow(b, layer));
    readers_turn(b, layer);
    outputs_transpose(b);
    return HOLO_OK;
}

static HoloStatus graph_narrow(Build *b)
{
    const HoloLayers *layers = b->narrow->layers;
    HOLO_TRY(build_begin(b));
    const HoloLayer **layer = HOLO_NEW(&b->scratch, const HoloLayer *, b->node_count + 1);
    if (!layer) return holo_fail_memory(b->error);
    for (int i = 0; i < layers->count; i++)
        if (holo_layer_is_narrow(&layers->layers[i])) layer[layers->layers[i].node] = &layers->layers[i];
    b->dead = HOLO_NEW(&b->scratch, bool, 8 * (b->node_count + b->value_count) + 8);
    if (!b->dead) return holo_fail_memory(b->error);
    HOLO_TRY(layers->is_static ? eight_make(b, layer) : layers_narrow(b, layer));
    holo_graph_sweep(b->graph, b->dead);
    if (holo_graph_drop_dead(b->graph, &b->scratch) < 0) return holo_fail_memory(b->error);
    HOLO_TRY(holo_graph_sort(b->graph, b->error));
    HOLO_TRY(holo_graph_infer(b->graph, b->error));
    return holo_graph_verify(b->graph, b->error);
}

HoloStatus holo_narrow_make(const HoloNarrowLayers *narrow, HoloArena *arena, HoloGraph **out, HoloError *error)
{
    Build b = {.narrow = narrow, .graph = holo_graph_copy(narrow->graph, arena), .error = error};
    *out    = b.graph;
    if (!b.graph) return holo_fail_memory(error);
    HoloStatus status = graph_narrow(&b);
    holo_arena_deinit(&b.scratch);
    return status;
}
