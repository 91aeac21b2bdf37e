// layers.h - the products of a graph that can have narrow weights, and these weights.
#ifndef HOLO_QUANTIZE_LAYERS_H
#define HOLO_QUANTIZE_LAYERS_H

#include "quantize/quantize.h"

typedef enum HoloLayerOp { HOLO_LAYER_CONV, HOLO_LAYER_MATMUL, HOLO_LAYER_GEMM, HOLO_LAYER_GATHER } HoloLayerOp;

enum { HOLO_LAYER_BLOCK = 32, HOLO_TABLE_BLOCK = 64 }; // weights of 4 bits, and of tables of 8, with one scale
enum { HOLO_LAYER_WIDTH = 8 };                         // numbers that are taken for one centroid
#define HOLO_SCALE_LEAST 1e-30f                        // smaller steps are none: what is so small is 0

typedef struct HoloForm { // narrow weights
    HoloQuantizeKind kind;
    HoloTensor       q, scale;
    uint64_t         bytes;
} HoloForm;

typedef struct HoloLayer {
    HoloLayerOp       op;
    HoloQuantizeKind  kind;    // what it is to be
    int               node;    // in the graph's nodes; the same in a copy
    int               input;   // which is the weights
    const HoloTensor *w;       // they, of f32
    const char       *refusal; // why it stays as it is; NULL: it need not
    bool              is_wide; // it stays as it is, by choice

    // The narrow weights. Products of matrices have them as [k][n], whatever the node says; those of 4 bits as MatMulNBits
    // has them, tables of 8 and 4 bits as GatherBlockQuantized, and those of f16 and bf16 are numbers of these types in f32. Of centroids q is their table, and scale they
    // themselves. A bias is that of a Gemm, as it is added.
    HoloTensor q, scale, bias;
    int64_t    k, n;          // of a product of matrices; columns and rows of a table
    bool       is_transposed; // of a Gemm, as are the factors of product and bias; and of a table
    float      alpha, beta;
    double
        error; // of the weights, and when measured of the result: the root of what is off, squared, over what there is
    double   loss;     // of accuracy, when it alone is narrow: measured, or a guess
    HoloForm spare;    // what it can be in place of `kind`, and loses less; of kind none: nothing
    bool     is_spare; // that is what it is, and `spare` what was asked for

    HoloLayerReport report;
} HoloLayer;

typedef struct HoloLayers {
    bool       is_static, is_mixed; // see HoloQuantizeOptions
    HoloLayer *layers;
    int        count;
} HoloLayers;

// All of them, also those that must stay; memory of `arena`. The graph must live as long.
HOLO_MUST HoloStatus holo_layers_find(const HoloGraph *graph, const HoloQuantizeOptions *options, HoloArena *arena,
                                      HoloLayers *out, HoloError *error);
// The spare weights of a layer that has none yet.
HOLO_MUST HoloStatus holo_layer_make_spare(const HoloGraph *graph, HoloLayer *layer, HoloArena *arena,
                                           HoloError *error);
// The narrow weights of all that can have them.
HOLO_MUST HoloStatus holo_layers_weights(const HoloGraph *graph, HoloLayers *layers, HoloArena *arena,
                                         HoloError *error);

static inline bool holo_layer_is_narrow(const HoloLayer *layer)
{
    return !layer->refusal && !layer->is_wide;
}

// Is it a product of integers, of 8 bits?
static inline bool holo_layer_is_integer(const HoloLayer *layer)
{
    return layer->kind == HOLO_QUANTIZE_INT8 && layer->op != HOLO_LAYER_GATHER;
}

// Are its scales those of each run, unless what it reads has constant ones anyway?
static inline bool holo_layer_is_dynamic(const HoloLayers *layers, const HoloLayer *layer)
{
    return !layers->is_static || (layers->is_mixed && layer->op != HOLO_LAYER_CONV);
}

// Makes it the other of both forms.
void holo_layer_swap(HoloLayer *layer);

const char *holo_quantize_name(HoloQuantizeKind kind); // "int8"

#endif
