// rewrite.h - what passes share: replacing values by others while walking a graph once, and inlining.
#ifndef HOLO_REWRITE_H
#define HOLO_REWRITE_H

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

// The node ends a chain of transposes and views: a value up the chain whose elements, in their order, are those of
// its output. NULL: there is none, or only views lie between.
HoloValue *holo_rewrite_unmoved(const HoloRewrite *rewrite, HoloNode *node);

// The node is a view of a Gemm that has its rows taken together by another view: the value that the same product of
// what they were before gives. `uses` as of holo_graph_uses. NULL: it is something else, or *failed, no memory.
HoloValue *holo_rewrite_rows(HoloRewrite *rewrite, HoloNode *node, const int *uses, bool *failed);

// Makes the zeros that a Pad puts around the input of a Conv pads of the Conv. False: it is something else, or *failed, no
// memory.
bool holo_rewrite_padding(HoloRewrite *rewrite, HoloNode *conv, bool *failed);

// ---- facts about values and nodes

enum { HOLO_NUMBER_ELEMENTS = 1 << 20 }; // the largest constant that holo_value_number looks at
bool            holo_type_equal(const HoloTensor *a, const HoloTensor *b); // dtype, kind, rank and sizes, all known
bool            holo_contents_are_numbers(const HoloValue *value);         // small, and every element is a number now
bool            holo_value_number(const HoloValue *value, double *out);    // a constant, all its elements equal
bool            holo_tensor_is_finite(const HoloTensor *t);                // all of its elements, which are there
const HoloAttr *holo_node_attr(const HoloNode *node, const char *name);    // NULL: not given
bool            holo_node_is(const HoloNode *node, const char *type);      // of ai.onnx
bool            holo_attr_equal(const HoloAttr *a, const HoloAttr *b);     // graphs never are
bool            holo_slice_takes_all(const HoloNode *slice);               // every element, in order
bool            holo_dropout_is_off(const HoloNode *dropout);              // inference: nothing is dropped

// Drops what no output of the graph needs. Returns how many nodes went, or -1: no memory.
int holo_graph_drop_dead(HoloGraph *graph, HoloArena *scratch);

#endif
