// facts.h - answers to questions about nodes and values, for passes, choices of kernels and others.
#ifndef HOLO_FACTS_H
#define HOLO_FACTS_H

#include "graph/graph.h"

// ---- values. A size is known if it is a number or an expression.

bool holo_type_equal(const HoloTensor *a, const HoloTensor *b);  // dtype, kind, rank and sizes, all known
bool holo_shape_equal(const HoloTensor *a, const HoloTensor *b); // rank and sizes
bool holo_tensor_is_finite(const HoloTensor *t);                 // all its elements; they must be there
bool holo_value_is_sized(const HoloValue *value);                // it is a tensor, and all its sizes are known
// A tensor of this type with so many dimensions, of any sizes; and the same with all sizes known. False for NULL.
bool holo_value_is_of(const HoloValue *value, HoloDtype dtype, int rank_min, int rank_max);
bool holo_value_is(const HoloValue *value, HoloDtype dtype, int rank_min, int rank_max);
bool holo_contents_are_numbers(const HoloValue *value); // it is small, and every element is a number

// Do sums of products with 8-bit weights always fit into 32 bits? Each sum has all weights with one index in dimension
// `axis`, minus their zero points (NULL: 0), times other bytes minus theirs, plus a bias (i32, or NULL). What is not a
// constant may have any value.
bool holo_weights_fit(const HoloValue *w, int axis, const HoloValue *zero, const HoloValue *bias);

enum { HOLO_NUMBER_ELEMENTS = 1 << 20 };                     // the largest constant that holo_value_number reads
bool holo_value_number(const HoloValue *value, double *out); // is it a constant whose elements are all equal?

// By value id: which values depend on an operator that is random by definition, also in a subgraph. HOLO_RANDOM_BY_INPUT:
// on one that draws by numbers that it is given, so that a rounding can change what it draws. The others give the same
// numbers here in every run. Arena memory; NULL: none left.
typedef enum HoloRandomKind { HOLO_RANDOM_ANY, HOLO_RANDOM_BY_INPUT } HoloRandomKind;
bool *holo_graph_random_values(const HoloGraph *graph, HoloRandomKind kind, HoloArena *arena);

// ---- nodes

// Does the operator of the node have one of these traits (HOLO_OP_POINTWISE ...)? A node without an operator has none.
static inline bool holo_node_has(const HoloNode *node, uint32_t flags)
{
    return node->op && node->op->flags & flags;
}

const HoloAttr *holo_node_attr(const HoloNode *node, const char *name);                  // NULL: not given
int64_t         holo_node_int(const HoloNode *node, const char *name, int64_t fallback); // the same for whole numbers
double          holo_node_float(const HoloNode *node, const char *name, double fallback);
// Does the node have all inputs, outputs and attributes that its operator needs, and not more than it takes? If the
// operator has a body, the body decides which inputs may be left out. A node whose operator is unknown passes.
HOLO_MUST HoloStatus holo_node_check(const HoloNode *node, HoloError *error);
HoloCall             holo_node_call(const HoloNode *node);       // only for reading attributes
bool                 holo_node_has_graphs(const HoloNode *node); // one of its attributes is a list of subgraphs
const HoloTensor    *holo_node_constant(const HoloNode *node,
                                        int             i); // NULL: not given, or not a constant with elements
// The scale and zero point, one of each, of a QuantizeLinear or DequantizeLinear of f32. False: they are not constants,
// there are several, or they are not usable numbers.
bool holo_node_scale(const HoloNode *node, double *out_scale, double *out_zero);
// Does it only move elements of its first input to output 0, unchanged? And could it do so with elements of that type?
bool holo_node_moves(const HoloNode *node, HoloDtype dtype);
bool holo_slice_takes_all(const HoloNode *slice);               // every element, in order
bool holo_dropout_is_off(const HoloNode *dropout);              // at inference: nothing is dropped
bool holo_node_same_kind(const HoloNode *a, const HoloNode *b); // the same operator; versions may differ
bool holo_node_same_op(const HoloNode *a, const HoloNode *b);   // also the same version and attributes
bool holo_attr_equal(const HoloAttr *a, const HoloAttr *b);     // graphs are never equal

static inline HoloValue *holo_node_in(const HoloNode *node, int i) // NULL: not given
{
    return i < node->in_count ? node->in[i] : NULL;
}

#endif
