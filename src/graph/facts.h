// facts.h - what passes, choices of kernels and others ask about nodes and values.
#ifndef HOLO_FACTS_H
#define HOLO_FACTS_H

#include "graph/graph.h"

// ---- values. A size is known if it is a number or an expression.

bool holo_type_equal(const HoloTensor *a, const HoloTensor *b);  // dtype, kind, rank and sizes, all known
bool holo_shape_equal(const HoloTensor *a, const HoloTensor *b); // rank and sizes
bool holo_tensor_is_finite(const HoloTensor *t);                 // all of its elements, which are there
bool holo_value_is_sized(const HoloValue *value);                // a tensor, all its sizes known
// A tensor of this type and of so many dimensions, of any sizes; and one all of whose sizes are known. NULL is none.
bool holo_value_is_of(const HoloValue *value, HoloDtype dtype, int rank_min, int rank_max);
bool holo_value_is(const HoloValue *value, HoloDtype dtype, int rank_min, int rank_max);
bool holo_contents_are_numbers(const HoloValue *value); // small, and every element is a number now

// Sums of weights of 8 bits, less their zero points (NULL: 0), times other bytes less theirs, and a bias (i32, or NULL): do all stay
// within 32 bits? One sum is of all weights with one index in dimension `axis`. What is no constant may be anything.
bool holo_weights_fit(const HoloValue *w, int axis, const HoloValue *zero, const HoloValue *bias);

enum { HOLO_NUMBER_ELEMENTS = 1 << 20 };                     // the largest constant that holo_value_number looks at
bool holo_value_number(const HoloValue *value, double *out); // a constant, all its elements equal

// By value id: which values depend on an operator that is random by definition, in a subgraph, too. Arena memory; NULL: none
// left.
bool *holo_graph_random_values(const HoloGraph *graph, HoloArena *arena);

// ---- nodes

// Has the operator of the node one of these traits, HOLO_OP_POINTWISE ... ? A node without an operator has none.
static inline bool holo_node_has(const HoloNode *node, uint32_t flags)
{
    return node->op && node->op->flags & flags;
}

const HoloAttr *holo_node_attr(const HoloNode *node, const char *name);                  // NULL: not given
int64_t         holo_node_int(const HoloNode *node, const char *name, int64_t fallback); // the same, of that kind
double          holo_node_float(const HoloNode *node, const char *name, double fallback);
// Has the node what its operator cannot do without, and not more than it takes? Inputs that are left out go by the body of an
// operator that has one. Where nobody knows the operator, anything will do.
HOLO_MUST HoloStatus holo_node_check(const HoloNode *node, HoloError *error);
HoloCall             holo_node_call(const HoloNode *node);       // for attributes alone
bool                 holo_node_has_graphs(const HoloNode *node); // a list of subgraphs among its attributes
const HoloTensor    *holo_node_constant(const HoloNode *node,
                                        int             i); // an input; NULL: not given, or no constant with elements
// The scale and zero point, one of each, by which a QuantizeLinear or DequantizeLinear of f32 does it. False: they are no
// constants, several, or such that nothing can be computed with them.
bool holo_node_scale(const HoloNode *node, double *out_scale, double *out_zero);
// Gives it elements of its first input alone, as they are, and in output 0 alone? And could it if they were of that type?
bool holo_node_moves(const HoloNode *node, HoloDtype dtype);
bool holo_slice_takes_all(const HoloNode *slice);               // every element, in order
bool holo_dropout_is_off(const HoloNode *dropout);              // inference: nothing is dropped
bool holo_node_same_kind(const HoloNode *a, const HoloNode *b); // of one operator, in versions that may differ
bool holo_node_same_op(const HoloNode *a, const HoloNode *b);   // and version, and equal attributes; inputs may differ
bool holo_attr_equal(const HoloAttr *a, const HoloAttr *b);     // graphs never are

static inline HoloValue *holo_node_in(const HoloNode *node, int i) // NULL: not given
{
    return i < node->in_count ? node->in[i] : NULL;
}

#endif
