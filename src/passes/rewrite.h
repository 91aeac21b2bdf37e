// rewrite.h - what passes share: replacing values by others while walking a graph once, and inlining.
#ifndef HOLO_REWRITE_H
#define HOLO_REWRITE_H

#include "graph/facts.h"
#include "passes/passes.h"

// A walk that replaces values. Replacements take effect on a node when holo_rewrite_inputs is called for
// it, and everywhere at holo_rewrite_end.
typedef struct HoloRewrite {
    HoloGraph   *graph;
    HoloArena   *scratch;
    HoloValue  **to;        // by value id: what stands in for it; NULL: itself
    bool        *is_output; // by value id: a graph output, or standing in for one
    int          room;
    int          changes; // so far
    HoloChanges *all;     // what passes before have changed, and the limit
} HoloRewrite;

HOLO_MUST HoloStatus holo_rewrite_begin(HoloRewrite *rewrite, HoloGraph *graph, HoloArena *scratch,
                                        HoloChanges *changes, HoloError *error);
// Whether the walk goes on with the next node: false when the limit of changes is reached.
bool holo_rewrite_more(const HoloRewrite *rewrite);
// From now on `to` is used in place of `from`. False: not possible, because consumers would see another type,
// or because `from` is an output of the graph whose name `to` cannot take. The caller keeps `from` then.
bool holo_rewrite(HoloRewrite *rewrite, HoloValue *from, HoloValue *to);
// A new value that stands in for `from`, with its name and type: the caller makes it a constant or a value that is
// its contents. NULL: no memory.
HoloValue *holo_rewrite_new(HoloRewrite *rewrite, HoloValue *from);
HoloValue *holo_rewrite_find(const HoloRewrite *rewrite, HoloValue *value); // what stands for it now
void       holo_rewrite_inputs(HoloRewrite *rewrite, HoloNode *node);
// Makes the replacements everywhere, drops nodes without use, sorts and renumbers.
HOLO_MUST HoloStatus holo_rewrite_end(HoloRewrite *rewrite, HoloError *error);

// Puts the nodes of `body` into the graph in place of `node`, which is left without outputs. in[i] stands for the
// body's input i; NULL: left out.
HOLO_MUST HoloStatus holo_rewrite_inline(HoloRewrite *rewrite, HoloNode *node, const HoloGraph *body,
                                         HoloValue *const *in, HoloError *error);
// So with the body of the operator of `call`, its attributes in place, which is given the inputs of `node`.
HOLO_MUST HoloStatus holo_rewrite_body(HoloRewrite *rewrite, HoloNode *node, const HoloNode *call, HoloError *error);

// The node ends a chain of transposes and views: a value up the chain whose elements, in their order, are those of
// its output. NULL: there is none, or only views lie between.
HoloValue *holo_rewrite_unmoved(const HoloRewrite *rewrite, HoloNode *node);

// The node is a view of a Gemm that has its rows taken together by another view: the value that the same product of
// what they were before gives. `uses` as of holo_graph_uses. NULL: it is something else, or *failed, no memory.
HoloValue *holo_rewrite_rows(HoloRewrite *rewrite, HoloNode *node, const int *uses, bool *failed);

// Makes the zeros that a Pad puts around the input of a Conv pads of the Conv. False: it is something else, or *failed, no
// memory.
bool holo_rewrite_padding(HoloRewrite *rewrite, HoloNode *conv, bool *failed);

// Takes the places that lie in the padding for every pixel out of the constant filters of a convolution, which are input
// `weights`. False: there are none, or *failed, no memory.
bool holo_rewrite_taps(HoloRewrite *rewrite, HoloNode *conv, int weights, bool *failed);

// ---- clusters: nodes that become one, found from the last of them backwards

typedef struct HoloClusters {
    HoloGraph   *graph;
    HoloArena   *scratch;
    HoloChanges *changes;
    int         *uses;      // by value id
    bool        *is_output; // by value id
    bool        *is_taken;  // by node id: it is in a cluster, but not the last of it
} HoloClusters;

// Asks `at` of each node, the last first, that is not taken; it says whether something became of it. Drops what is dead then.
typedef HoloStatus   HoloClusterAt(HoloClusters *clusters, HoloNode *last, bool *out_done, HoloError *error);
HOLO_MUST HoloStatus holo_clusters(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloClusterAt *at,
                                   HoloError *error);
// Is the value read by these nodes alone?
bool holo_clusters_inside(const HoloClusters *clusters, HoloNode *const *member, int count, const HoloValue *value);

// Drops what no output of the graph needs. Returns how many nodes went, or -1: no memory.
int holo_graph_drop_dead(HoloGraph *graph, HoloArena *scratch);

#endif
