// rewrite.h - what passes share: replacing values in one walk over a graph, and inlining.
#ifndef HOLO_REWRITE_H
#define HOLO_REWRITE_H

#include "graph/facts.h"
#include "passes/passes.h"

// A walk that replaces values. Replacements apply to a node when holo_rewrite_inputs is called for it, and everywhere
// at holo_rewrite_end.
typedef struct HoloRewrite {
    HoloGraph   *graph;
    HoloArena   *scratch;
    HoloValue  **to;        // by value id: its replacement; NULL: none
    bool        *is_output; // by value id: it is a graph output, or replaces one
    int          room;
    int          changes; // number of changes so far
    HoloChanges *all;     // changes of earlier passes, and the limit
} HoloRewrite;

HOLO_MUST HoloStatus holo_rewrite_begin(HoloRewrite *rewrite, HoloGraph *graph, HoloArena *scratch,
                                        HoloChanges *changes, HoloError *error);
// Does the walk go on with the next node? False: the limit of changes is reached.
bool holo_rewrite_more(const HoloRewrite *rewrite);
// From now on `to` is used instead of `from`. False: this is not possible, because consumers would see another type, or
// because `from` is an output of the graph whose name `to` cannot take. The caller then keeps `from`.
bool holo_rewrite(HoloRewrite *rewrite, HoloValue *from, HoloValue *to);
// A new value that replaces `from`, with its name and type. The caller makes it a constant, or a value that is only its
// contents. NULL: no memory.
HoloValue *holo_rewrite_new(HoloRewrite *rewrite, HoloValue *from);
HoloValue *holo_rewrite_find(const HoloRewrite *rewrite, HoloValue *value); // its current replacement
void       holo_rewrite_inputs(HoloRewrite *rewrite, HoloNode *node);
// Makes the replacements everywhere, removes unused nodes, sorts and renumbers.
HOLO_MUST HoloStatus holo_rewrite_end(HoloRewrite *rewrite, HoloError *error);

// Inserts the nodes of `body` into the graph instead of `node`, which loses its outputs. in[i] is the body's input i;
// NULL: left out.
HOLO_MUST HoloStatus holo_rewrite_inline(HoloRewrite *rewrite, HoloNode *node, const HoloGraph *body,
                                         HoloValue *const *in, HoloError *error);
// The same with the body of the operator of `call`, with its attributes inserted. The body gets the inputs of `node`.
HOLO_MUST HoloStatus holo_rewrite_body(HoloRewrite *rewrite, HoloNode *node, const HoloNode *call, HoloError *error);

// If the node ends a chain of transposes and views: a value up the chain that has the same elements in the same order
// as its output. NULL: there is none, or only views are in between.
HoloValue *holo_rewrite_unmoved(const HoloRewrite *rewrite, HoloNode *node);

// If the node is a view of a Gemm whose rows another view flattened: the value of the same product without flattening.
// `uses` is from holo_graph_uses. NULL: it is something else, or *failed: no memory.
HoloValue *holo_rewrite_rows(HoloRewrite *rewrite, HoloNode *node, const int *uses, bool *failed);

// If a Pad puts zeros around the input of a Conv, makes them pads of the Conv. False: there is no such Pad, or *failed:
// no memory.
bool holo_rewrite_padding(HoloRewrite *rewrite, HoloNode *conv, bool *failed);

// Removes the places of a convolution's constant filters, input `weights`, that lie in the padding for every pixel.
// False: there are none, or *failed: no memory.
bool holo_rewrite_taps(HoloRewrite *rewrite, HoloNode *conv, int weights, bool *failed);

// ---- clusters: nodes that become one node; found from the last of them backwards

typedef struct HoloClusters {
    HoloGraph   *graph;
    HoloArena   *scratch;
    HoloChanges *changes;
    int         *uses;      // by value id
    bool        *is_output; // by value id
    bool        *is_taken;  // by node id: it is in a cluster, but not the last one of it
} HoloClusters;

// Calls `at` for each node that is not taken, the last first. It says whether the node changed. Then removes dead
// nodes.
typedef HoloStatus   HoloClusterAt(HoloClusters *clusters, HoloNode *last, bool *out_done, HoloError *error);
HOLO_MUST HoloStatus holo_clusters(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloClusterAt *at,
                                   HoloError *error);
// Do only these nodes read the value?
bool holo_clusters_inside(const HoloClusters *clusters, HoloNode *const *member, int count, const HoloValue *value);

// Removes what no output of the graph needs. Returns the number of removed nodes; -1: no memory.
int holo_graph_drop_dead(HoloGraph *graph, HoloArena *scratch);

#endif
