// match.h - finds small graphs in a graph. Patterns are graph text (docs/graph-text.md) and are matched from the last
// node back.
//
// In a pattern
// - an input without a type is any value; `epsilon: f64[]` is a number: a constant whose elements are all equal; `axes`
// as the second input of a reduction is its axes, whether they are an attribute or an input;
// - a constant is that number, as exactly as the type of the matched value can hold it;
// - a node is one of that operator, of that version or a later one, with at least those attributes. The inputs of Add,
// Mul, Min and Max may be in any order, and Add may be a Sum. Reductions keep their dimensions. A Cast is one from
// floats to floats;
// - a node of the domain `any` is whichever of the patterns of that name matches: see HoloPatterns.other.
// A value inside a match is not used outside of it.
#ifndef HOLO_MATCH_H
#define HOLO_MATCH_H

#include "passes/passes.h"

enum { HOLO_MATCH_NODES = 32, HOLO_MATCH_VALUES = 32, HOLO_MATCH_FRAMES = 16, HOLO_MATCH_CHOICES = 40 };

typedef struct HoloPatterns {
    HoloGraph **other; // what nodes of the domain `any` may be, by the names of these graphs
    int         other_count;
    const int  *uses; // by value id of the current graph: holo_graph_uses
    int         use_count;
} HoloPatterns;

// The state of a match. The pattern and each use of an `any` pattern in it have a frame.
typedef struct HoloMatchFrame {
    const HoloGraph *pattern;
    const HoloNode  *call; // the node of the outer frame that this frame matches
    int              outer;
    HoloValue       *bound[HOLO_MATCH_VALUES]; // by id of the pattern's values
} HoloMatchFrame;

typedef struct HoloMatch {
    const HoloPatterns *patterns;
    HoloNode           *node[HOLO_MATCH_NODES]; // matched nodes; the first is the last one in the graph
    int                 node_count;
    uint32_t            axes;      // axes of the reductions, a bit each
    int                 axes_rank; // rank of what is reduced; 0: there is no reduction
    HoloMatchFrame      frame[HOLO_MATCH_FRAMES];
    int                 frame_count;
    uint8_t             choice[HOLO_MATCH_CHOICES], choice_of[HOLO_MATCH_CHOICES];
    int                 choice_count, choice_next;
} HoloMatch;

// Does output 0 of `node` match the pattern's output? Takes the first match.
bool holo_match(HoloMatch *match, const HoloPatterns *patterns, const HoloGraph *pattern, HoloNode *node);
// The value that the pattern's value of that name matched. NULL: there is no such name, or it was not matched.
HoloValue *holo_match_find(const HoloMatch *match, const char *name);

#endif
