// layer_weights.c - narrow weights: int8 with a scale for each channel, int4 and tables in blocks, f16 and bf16.
#include "quantize/layers.h"

#include "passes/rewrite.h"

#include <math.h>
#include <string.h>

typedef struct Making {
    const HoloGraph *graph;
    HoloArena       *arena;
    HoloLayer       *layer;
    double           off, all; // squares: of the rounding error, and of the weights
} Making;

static bool tensor_take(HoloTensor *t, HoloArena *arena)
{
    return (t->data = holo_arena_take(arena, holo_tensor_bytes(t) + 1)) != NULL;
}

// Weights as rows of channels, each `count` numbers `step` apart.
typedef struct Channels {
    const float *data;
    int64_t      channels, channel, count, step;
} Channels;

static Channels channels_of(const HoloLayer *layer)
{
    const HoloTensor *w = layer->w;
    const float      *x = w->data;
    if (layer->op == HOLO_LAYER_CONV) {
        int64_t k = holo_product(w->rank - 1, w->dim + 1);
        return (Channels){x, w->dim[0], k, k, 1};
    }
    if (layer->is_transposed) return (Channels){x, layer->n, layer->k, layer->k, 1};
    return (Channels){x, layer->n, 1, layer->k, layer->n};
}

enum { SOME = 16 }; // channels at a time: in a matrix they are neighbors

static void scales_make(const Channels *c, int64_t first, int64_t count, float *out)
{
    double most[SOME] = {0};
    for (int64_t i = 0; i < c->count; i++)
        for (int64_t ch = 0; ch < count; ch++) {
            double x = fabs((double)c->data[(first + ch) * c->channel + i * c->step]);
            if (x > most[ch]) most[ch] = x;
        }
    for (int64_t ch = 0; ch < count; ch++)
        out[ch] = most[ch] / 127 >= (double)HOLO_SCALE_LEAST ? (float)(most[ch] / 127) : 1;
}

static void note(Making *m, double is, double was)
{
    m->off += (is - was) * (is - was);
    m->all += was * was;
}

// Filters keep their order; matrices become [k][n].
static bool int8_make(Making *m)
{
    HoloLayer *layer  = m->layer;
    Channels   c      = channels_of(layer);
    bool       conv   = layer->op == HOLO_LAYER_CONV;
    int64_t    across = conv ? c.count : 1, along = conv ? 1 : c.channels;
    layer->q       = conv ? *layer->w : (HoloTensor){.kind = HOLO_TENSOR, .rank = 2, .dim = {layer->k, layer->n}};
    layer->q.dtype = HOLO_I8;
    layer->scale   = (HoloTensor){.dtype = HOLO_F32, .kind = HOLO_TENSOR, .rank = 1, .dim = {c.channels}};
    if (!tensor_take(&layer->q, m->arena) || !tensor_take(&layer->scale, m->arena)) return false;
    float  *scales = layer->scale.data;
    int8_t *out    = layer->q.data;
    for (int64_t first = 0; first < c.channels; first += SOME) {
        int64_t some = c.channels - first < SOME ? c.channels - first : SOME;
        scales_make(&c, first, some, scales + first);
        for (int64_t i = 0; i < c.count; i++)
            for (int64_t ch = first; ch < first + some; ch++) {
                double was = (double)c.data[ch * c.channel + i * c.step], q = rint(was / (double)scales[ch]);
                q                            = q > 127 ? 127 : q < -127 ? -127 : q;
                out[ch * across + i * along] = (int8_t)q;
                note(m, q * (double)scales[ch], was);
            }
    }
    layer->report.bytes_after = holo_tensor_bytes(&layer->q) + holo_tensor_bytes(&layer->scale);
    HoloValue value           = {.type = layer->q, .is_constant = true};
    if (!holo_weights_fit(&value, conv ? 0 : 1, NULL, NULL))
        layer->refusal = layer->report.why = "sums of its products may exceed 32 bits";
    return true;
}

typedef struct Block { // numbers with one scale
    int     bits;
    int64_t size; // numbers that are stored: zeros follow the weights
} Block;

// Chooses the scale with which the largest number becomes the lowest integer, so that all steps are used.
static void block_make(Making *m, const Channels *c, Block block, int64_t ch, int64_t first, uint8_t *out,
                       float *out_scale)
{
    int64_t      count = c->count - first < block.size ? c->count - first : block.size;
    double       top = 0, half = 1 << (block.bits - 1);
    const float *x = c->data + ch * c->channel + first * c->step;
    for (int64_t i = 0; i < count; i++)
        if (fabs((double)x[i * c->step]) > fabs(top)) top = (double)x[i * c->step];
    float scale = fabs(top) / half >= (double)HOLO_SCALE_LEAST ? (float)(top / -half) : 1;
    *out_scale  = scale;
    for (int64_t i = 0; i < block.size; i++) {
        double was = i < count ? (double)x[i * c->step] : 0, q = rint(was / (double)scale);
        q           = q > half - 1 ? half - 1 : q < -half ? -half : q;
        int64_t at  = i * block.bits;
        out[at / 8] = (uint8_t)(out[at / 8] | (unsigned)(q + half) << at % 8);
        note(m, q * (double)scale, was);
    }
}

// In the form of MatMulNBits.
static bool blocks_make(Making *m, int bits)
{
    HoloLayer *layer  = m->layer;
    Channels   c      = channels_of(layer);
    int64_t    blocks = (layer->k + HOLO_LAYER_BLOCK - 1) / HOLO_LAYER_BLOCK, bytes = HOLO_LAYER_BLOCK * bits / 8;
    layer->q     = (HoloTensor){.dtype = HOLO_U8, .kind = HOLO_TENSOR, .rank = 3, .dim = {layer->n, blocks, bytes}};
    layer->scale = (HoloTensor){.dtype = HOLO_F32, .kind = HOLO_TENSOR, .rank = 2, .dim = {layer->n, blocks}};
    if (!tensor_take(&layer->q, m->arena) || !tensor_take(&layer->scale, m->arena)) return false;
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t ch = 0; ch < c.channels; ch++)
            block_make(m, &c, (Block){bits, HOLO_LAYER_BLOCK}, ch, b * HOLO_LAYER_BLOCK,
                       (uint8_t *)layer->q.data + (ch * blocks + b) * bytes,
                       (float *)layer->scale.data + ch * blocks + b);
    layer->report.bytes_after = holo_tensor_bytes(&layer->q) + holo_tensor_bytes(&layer->scale);
    return true;
}

// In the form of MatMulBlocks and DecodeBlocks: rows of the weights of a column, or of a table. alpha goes into them.
static bool typed_make(Making *m, const HoloBlockType *type)
{
    HoloLayer *layer = m->layer;
    Channels   c     = channels_of(layer);
    int64_t    bytes = holo_block_row_bytes(type, layer->k);
    float      part[HOLO_BLOCK_MOST], is[HOLO_BLOCK_MOST], by = layer->op == HOLO_LAYER_GEMM ? layer->alpha : 1;
    layer->scale = (HoloTensor){0};
    layer->q     = (HoloTensor){.dtype = HOLO_U8, .kind = HOLO_TENSOR, .rank = 2, .dim = {layer->n, bytes}};
    if (!tensor_take(&layer->q, m->arena)) return false;
    uint8_t *out = layer->q.data;
    for (int64_t ch = 0; ch < c.channels; ch++)
        for (int64_t i = 0; i < c.count; i += type->count, out += type->bytes) {
            for (int j = 0; j < type->count; j++) part[j] = by * c.data[ch * c.channel + (i + j) * c.step];
            holo_block_encode(type, 1, part, out);
            holo_block_decode(type, 1, out, is);
            for (int j = 0; j < type->count; j++) note(m, (double)is[j], (double)part[j]);
        }
    layer->report.bytes_after = holo_tensor_bytes(&layer->q);
    return true;
}

// Rows of a table; the last block of a row may be shorter.
static bool table_make(Making *m, int bits)
{
    HoloLayer *layer  = m->layer;
    Channels   c      = channels_of(layer);
    int64_t    size   = bits == 8 ? HOLO_TABLE_BLOCK : HOLO_LAYER_BLOCK;
    int64_t    blocks = (layer->k + size - 1) / size, row = layer->k * bits / 8;
    layer->q     = (HoloTensor){.dtype = HOLO_U8, .kind = HOLO_TENSOR, .rank = 2, .dim = {layer->n, row}};
    layer->scale = (HoloTensor){.dtype = HOLO_F32, .kind = HOLO_TENSOR, .rank = 2, .dim = {layer->n, blocks}};
    if (!tensor_take(&layer->q, m->arena) || !tensor_take(&layer->scale, m->arena)) return false;
    for (int64_t ch = 0; ch < layer->n; ch++)
        for (int64_t b = 0; b < blocks; b++) {
            int64_t left = layer->k - b * size;
            block_make(m, &c, (Block){bits, left < size ? left : size}, ch, b * size,
                       (uint8_t *)layer->q.data + ch * row + b * size * bits / 8,
                       (float *)layer->scale.data + ch * blocks + b);
        }
    layer->report.bytes_after = holo_tensor_bytes(&layer->q) + holo_tensor_bytes(&layer->scale);
    return true;
}

// Rounds to the narrow type. Tables of rows are stored in it; other weights stay f32, and packing narrows them again.
static bool narrow_make(Making *m, HoloDtype dtype)
{
    HoloLayer   *layer  = m->layer;
    HoloTensor   narrow = *layer->w;
    int64_t      count  = holo_tensor_count(layer->w);
    const float *from   = layer->w->data;
    narrow.dtype        = (uint8_t)dtype;
    layer->q            = layer->op == HOLO_LAYER_GATHER ? narrow : *layer->w;
    if (!tensor_take(&layer->q, m->arena)) return false;
    for (int64_t i = 0; i < count; i++) {
        uint16_t bits;
        narrow.data = &bits;
        holo_put_f(&narrow, 0, (double)from[i]);
        double is = holo_get_f(&narrow, 0);
        holo_put_f(&layer->q, i, is);
        note(m, is, (double)from[i]);
    }
    layer->report.bytes_after = (uint64_t)count * 2;
    return true;
}

// The bias of a Gemm, times beta. alpha goes into the scales, if there are any.
static bool gemm_finish(Making *m)
{
    HoloLayer       *layer = m->layer;
    const HoloNode  *node  = m->graph->nodes[layer->node];
    const HoloValue *bias  = node->in_count > 2 ? node->in[2] : NULL;
    for (int64_t i = 0, n = layer->scale.data ? holo_tensor_count(&layer->scale) : 0; i < n; i++)
        ((float *)layer->scale.data)[i] *= layer->alpha;
    if (!bias) return true;
    layer->bias = (HoloTensor){.dtype = HOLO_F32, .kind = HOLO_TENSOR, .rank = 1, .dim = {layer->n}};
    if (!tensor_take(&layer->bias, m->arena)) return false;
    bool one = holo_tensor_count(&bias->type) == 1;
    for (int64_t i = 0; i < layer->n; i++)
        ((float *)layer->bias.data)[i] = layer->beta * ((const float *)bias->type.data)[one ? 0 : i];
    return true;
}

// For the kind that the layer has now.
static bool form_make(Making *m)
{
    HoloLayer           *layer    = m->layer;
    bool                 is_table = layer->op == HOLO_LAYER_GATHER, done = true;
    const HoloBlockType *type = holo_layer_blocks(layer);
    m->off = m->all = 0;
    if (type) return typed_make(m, type) && (layer->op != HOLO_LAYER_GEMM || gemm_finish(m));
    switch (layer->kind) {
    case HOLO_QUANTIZE_INT8: done = is_table ? table_make(m, 8) : int8_make(m); break;
    case HOLO_QUANTIZE_INT4: done = is_table ? table_make(m, 4) : blocks_make(m, 4); break;
    case HOLO_QUANTIZE_W8: done = is_table ? table_make(m, 8) : blocks_make(m, 8); break;
    case HOLO_QUANTIZE_F16: return narrow_make(m, HOLO_F16);
    case HOLO_QUANTIZE_BF16: return narrow_make(m, HOLO_BF16);
    case HOLO_QUANTIZE_CENTROIDS: break; // their tables come when samples have run
    default: return true;
    }
    return done && (layer->op != HOLO_LAYER_GEMM || gemm_finish(m));
}

HoloStatus holo_layers_weights(const HoloGraph *graph, HoloLayers *layers, HoloArena *arena, HoloError *error)
{
    for (int i = 0; i < layers->count; i++) {
        HoloLayer *layer = &layers->layers[i];
        Making     m     = {.graph = graph, .arena = arena, .layer = layer};
        if (layer->refusal) continue;
        if (!form_make(&m)) return holo_fail_memory(error);
        if (layer->refusal && layer->spare.kind) { // only the spare weights are possible
            layer->refusal = NULL;
            layer->kind    = layer->spare.kind;
            layer->spare   = (HoloForm){0};
            if (!form_make(&m)) return holo_fail_memory(error);
        }
        layer->error = m.all > 0 ? sqrt(m.off / m.all) : 0;
    }
    return HOLO_OK;
}

HoloStatus holo_layer_make_spare(const HoloGraph *graph, HoloLayer *layer, HoloArena *arena, HoloError *error)
{
    Making m = {.graph = graph, .arena = arena, .layer = layer};
    if (layer->is_spare || layer->spare.q.data) return HOLO_OK;
    holo_layer_swap(layer);
    bool done = form_make(&m);
    holo_layer_swap(layer);
    return done ? HOLO_OK : holo_fail_memory(error);
}
