// infer.h - what the files of inference share: graph_infer.c walks the nodes, graph_contents.c follows the
// contents of small integer values, graph_control.c enters subgraphs.
#ifndef HOLO_GRAPH_INFER_H
#define HOLO_GRAPH_INFER_H

#include "graph/graph.h"

enum {
    HOLO_CONTENTS_MAX    = 256, // elements of values whose contents are followed
    HOLO_INFER_DEPTH_MAX = 64,  // of subgraphs in subgraphs
};

typedef struct HoloInfer { // one graph being inferred
    HoloGraph *graph;
    HoloArena *scratch; // lives until the graph is done
    HoloError *error;
    int        depth;
    // By value id. A value whose elements are all numbers now has them in `data` (any dtype). A value
    // whose elements are expressions has them in value->contents, or, where they are quotients in a chain
    // of float arithmetic, numerators in `above` over the one denominator `below` > 1.
    const void    **data;
    const HoloDim **above;
    int64_t        *below;
} HoloInfer;

// Infers a graph whose inputs have their types.
HOLO_MUST HoloStatus holo_infer_graph(HoloGraph *graph, int depth, HoloError *error);

// The same for a graph that may never run: where a node fails, and so always will, *out_is_right is false, the message
// is that of the last such node, and what it gives is not known.
HOLO_MUST HoloStatus holo_infer_branch(HoloGraph *graph, int depth, bool *out_is_right, HoloError *error);

// The type of a value with its data where known. Constants without elements get a pointer too.
HoloTensor holo_infer_view(const HoloInfer *infer, const HoloValue *value);

// The contents that a constant or an input begins with.
HOLO_MUST HoloStatus holo_contents_begin(HoloInfer *infer, HoloValue *value);
// Finds what is known of the outputs' contents, after their types are inferred.
HOLO_MUST HoloStatus holo_contents_infer(HoloInfer *infer, const HoloNode *node);

// Infers a node that has subgraphs, and the subgraphs.
HOLO_MUST HoloStatus holo_control_infer(HoloInfer *infer, HoloNode *node);
// The same of a node that generates tokens by its subgraphs.
HOLO_MUST HoloStatus holo_search_infer(HoloInfer *infer, HoloNode *node);
// Gives the inputs of a subgraph that are captured their types. They keep their contents inside: these do not change from
// one run of the body to the next.
void holo_infer_captures(const HoloNode *node, HoloGraph *body);
// Gives the outputs of a node a type. UNKNOWN sizes become symbols of their own.
void holo_infer_set_type(HoloInfer *infer, HoloValue *value, const HoloTensor *type);

#endif
