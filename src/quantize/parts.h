// parts.h - nodes and values that quantization adds to a graph. All functions give NULL or false only if there is no
// memory.
#ifndef HOLO_QUANTIZE_PARTS_H
#define HOLO_QUANTIZE_PARTS_H

#include "quantize/layers.h"
#include "quantize/ranges.h"

typedef struct HoloEightValue { // a value in 8 bits, and its real numbers
    HoloValue *q, *scale, *zero, *real;
} HoloEightValue;

// Names are derived from that of `near`.
HoloNode *holo_part_node(HoloGraph *graph, const HoloValue *near, HoloOpId id, int version, int in_count, int out_count,
                         int attr_count);
HoloValue *holo_part_out(HoloGraph *graph, HoloNode *node, int i, const HoloValue *like, HoloDtype dtype,
                         bool is_number); // a value with the sizes of `like`, or a number
HoloValue *holo_part_constant(HoloGraph *graph, const HoloValue *near, const HoloTensor *t);

// QuantizeLinear and DequantizeLinear of `value`; and DynamicQuantizeLinear alone.
bool holo_part_static(HoloGraph *graph, HoloValue *value, HoloSteps steps, HoloEightValue *out);
bool holo_part_dynamic(HoloGraph *graph, HoloValue *value, HoloEightValue *out);
bool holo_part_real(HoloGraph *graph, const HoloValue *value, HoloEightValue *out);

// The int8 weights of a layer as real numbers, with their scales along `axis`.
HoloValue *holo_part_weights(HoloGraph *graph, const HoloValue *near, const HoloLayer *layer, int axis);
// Inputs and attributes of MatMulNBits. Its accuracy_level is 4: what it reads may be rounded block by block, too.
enum { HOLO_NBITS_ATTRS = 5 };
bool holo_part_nbits(HoloGraph *graph, HoloValue *x, const HoloValue *near, const HoloLayer *layer, HoloValue *bias,
                     HoloValue *in[6], HoloAttr attr[HOLO_NBITS_ATTRS]);
// Inputs and attributes of MatMulBlocks, which rounds what it reads; the first attributes are those of DecodeBlocks.
enum { HOLO_DECODE_ATTRS = 2, HOLO_BLOCKS_ATTRS = 3 };
bool holo_part_blocks(HoloGraph *graph, HoloValue *x, const HoloValue *near, const HoloLayer *layer, HoloValue *bias,
                      HoloValue *in[3], HoloAttr *attr);
// Inputs and attributes of the GatherBlockQuantized that replaces the Gather `node`.
enum { HOLO_TABLE_INPUTS = 3, HOLO_TABLE_ATTRS = 4 };
bool holo_part_table(HoloGraph *graph, const HoloNode *node, const HoloLayer *layer, HoloValue *in[HOLO_TABLE_INPUTS],
                     HoloAttr attr[HOLO_TABLE_ATTRS]);
// Inputs of Centroids.
bool holo_part_centroids(HoloGraph *graph, HoloValue *x, const HoloValue *near, const HoloLayer *layer, HoloValue *bias,
                         HoloValue *in[4]);

#endif
