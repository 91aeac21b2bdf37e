// infer.h - what the files of inference share: graph_infer.c walks over the nodes, graph_contents.c follows the
// contents of small integer values, graph_control.c enters subgraphs.
#ifndef HOLO_GRAPH_INFER_H
#define HOLO_GRAPH_INFER_H

#include "graph/graph.h"

enum {
    HOLO_CONTENTS_MAX    = 256, // most elements of a value whose contents are followed
    HOLO_INFER_DEPTH_MAX = 64,  // subgraphs nested in subgraphs
};

typedef struct HoloInfer { // a graph that is being inferred
    HoloGraph *graph;
    HoloArena *scratch; // lives until the graph is inferred
    HoloError *error;
    int        depth;
    // By value id. If all elements of a value are numbers, they are in `data` (any dtype). If they are expressions,
    // they are in value->contents; or, inside a chain of float arithmetic, they are quotients: numerators in `above`
    // over one denominator `below` > 1.
    const void    **data;
    const HoloDim **above;
    int64_t        *below;
    int             data_room, above_room, below_room; // of the three lists
    int             value_done, node_done;             // how many of the graph's values and nodes were looked at
} HoloInfer;

// Infers what was added to the graph since the last call: set graph, scratch, error and depth first, all else to zeros.
// A value that is neither an input nor a constant must have its producer by then.
HOLO_MUST HoloStatus holo_infer_added(HoloInfer *infer);

// Infers a graph whose inputs have types.
HOLO_MUST HoloStatus holo_infer_graph(HoloGraph *graph, int depth, HoloError *error);

// The same for a graph that may never run. If a node fails, its outputs are unknown, and *out_why tells of the first such
// node; it is empty when called, and stays so if none fails. A node whose graphs cannot be planned fails all the same.
HOLO_MUST HoloStatus holo_infer_branch(HoloGraph *graph, int depth, HoloError *out_why, HoloError *error);

// Asks the operator of a node for the types of its outputs. It needs the rank and the dtype of every given tensor: a
// node is open if one of them is unknown.
bool                 holo_infer_is_open(const HoloNode *node);
HOLO_MUST HoloStatus holo_infer_call(HoloInfer *infer, HoloNode *node, HoloArena *scratch);

// The type of a value, with its data if known. Constants without elements have a pointer, too.
HoloTensor holo_infer_view(const HoloInfer *infer, const HoloValue *value);

// Sets the initial contents of a constant or an input.
HOLO_MUST HoloStatus holo_contents_begin(HoloInfer *infer, HoloValue *value);
// Finds what is known about the contents of outputs, after their types are inferred.
HOLO_MUST HoloStatus holo_contents_infer(HoloInfer *infer, const HoloNode *node);

// Infers a node that has subgraphs, and the subgraphs.
HOLO_MUST HoloStatus holo_control_infer(HoloInfer *infer, HoloNode *node);
// Fails if the node has a graph among its attributes that its operator does not have.
HOLO_MUST HoloStatus holo_infer_bodies_check(const HoloInfer *infer, const HoloNode *node);
// The same for a node that generates tokens by its subgraphs.
HOLO_MUST HoloStatus holo_search_infer(HoloInfer *infer, HoloNode *node);
// Gives the captured inputs of a subgraph their types. They keep their contents inside, since these do not change from
// one run of the body to the next.
void holo_infer_captures(const HoloNode *node, HoloGraph *body);
// Gives an output of a node its type. UNKNOWN sizes become symbols of their own.
void holo_infer_set_type(HoloInfer *infer, HoloValue *value, const HoloTensor *type);

#endif
