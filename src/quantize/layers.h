// layers.h - the products of a graph that can have narrow weights, and these weights.
#ifndef HOLO_QUANTIZE_LAYERS_H
#define HOLO_QUANTIZE_LAYERS_H

#include "format/blocks.h"
#include "quantize/quantize.h"

typedef enum HoloLayerOp { HOLO_LAYER_CONV, HOLO_LAYER_MATMUL, HOLO_LAYER_GEMM, HOLO_LAYER_GATHER } HoloLayerOp;

enum { HOLO_LAYER_BLOCK = 32, HOLO_TABLE_BLOCK = 64 }; // weights with one scale: of 4 bits, and of 8-bit tables
enum { HOLO_LAYER_WIDTH = 8 };                         // numbers that one centroid replaces
#define HOLO_SCALE_LEAST 1e-30f                        // numbers below the smallest step become 0

typedef struct HoloForm { // narrow weights
    HoloQuantizeKind kind;
    HoloTensor       q, scale;
    uint64_t         bytes;
} HoloForm;

typedef struct HoloLayer {
    HoloLayerOp       op;
    HoloQuantizeKind  kind;    // what it becomes
    int               node;    // in the graph's nodes; the same in a copy
    int               input;   // which input is the weights
    const HoloTensor *w;       // the weights, of f32
    const char       *refusal; // why it must stay as it is; NULL: it need not
    bool              is_wide; // it stays as it is, by choice

    // The narrow weights. Matrix products have them as [k][n], whatever the node says; those of 4 bits in the form of
    // MatMulNBits; blocks as rows [n][bytes]; 8-bit and 4-bit tables in the form of GatherBlockQuantized; those of f16 and bf16 as numbers of
    // these types in f32. For centroids, q is their table, and scale the centroids. A bias is that of a Gemm, ready to
    // add.
    HoloTensor q, scale, bias;
    int64_t    k, n;          // of a matrix product; columns and rows of a table
    bool       is_transposed; // of a Gemm, as are the factors of product and bias; and of a table
    float      alpha, beta;
    double     error;    // of the weights or, when measured, of the result: relative root mean square
    double     loss;     // of accuracy, if only this layer is narrow: measured or estimated
    HoloForm   spare;    // what it can be instead of `kind`, with less loss; kind none: nothing
    bool       is_spare; // it is the spare form now, and `spare` is what was asked for

    HoloLayerReport report;
} HoloLayer;

typedef struct HoloLayers {
    bool       is_static, is_mixed; // see HoloQuantizeOptions
    HoloLayer *layers;
    int        count;
} HoloLayers;

// All layers, also those that must stay. The result is in `arena`. The graph must live as long.
HOLO_MUST HoloStatus holo_layers_find(const HoloGraph *graph, const HoloQuantizeOptions *options, HoloArena *arena,
                                      HoloLayers *out, HoloError *error);
// Makes the spare weights of a layer that has none yet.
HOLO_MUST HoloStatus holo_layer_make_spare(const HoloGraph *graph, HoloLayer *layer, HoloArena *arena,
                                           HoloError *error);
// Makes the narrow weights of all layers that can have them.
HOLO_MUST HoloStatus holo_layers_weights(const HoloGraph *graph, HoloLayers *layers, HoloArena *arena,
                                         HoloError *error);

static inline bool holo_layer_is_narrow(const HoloLayer *layer)
{
    return !layer->refusal && !layer->is_wide;
}

// Is it a product of 8-bit integers?
static inline bool holo_layer_is_integer(const HoloLayer *layer)
{
    return layer->kind == HOLO_QUANTIZE_INT8 && layer->op != HOLO_LAYER_GATHER;
}

// Does each run find its scales, unless what it reads has constant ones anyway?
static inline bool holo_layer_is_dynamic(const HoloLayers *layers, const HoloLayer *layer)
{
    return !layers->is_static || (layers->is_mixed && layer->op != HOLO_LAYER_CONV);
}

// The type of blocks that its weights become; NULL: they become something else, or no blocks fit into its rows.
const HoloBlockType *holo_layer_blocks(const HoloLayer *layer);

// Exchanges its two forms.
void holo_layer_swap(HoloLayer *layer);

const char *holo_quantize_name(HoloQuantizeKind kind); // "int8"

#endif
