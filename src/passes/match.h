// match.h - finds small graphs in a graph: patterns in graph text (docs/graph-text.md), matched from the last node back.
//
// In a pattern
// - an input without a type stands for any value; `epsilon: f64[]` for a number: a constant all of whose elements are
//   equal; `axes` as the second input of a reduction for its axes, be they an attribute or an input;
// - a constant stands for that number, as exactly as the type of the value that it meets can hold it;
// - a node stands for one of that operator, of that version or a later one, with at least those attributes. The inputs
//   of Add, Mul, Min and Max may be in any order, and Add may be a Sum; reductions keep their dimensions; a Cast is one
//   from floats to floats;
// - a node of the domain `any` stands for whichever of the patterns of that name matches: see HoloPatterns.other.
// A value inside of a match is used nowhere outside of it.
#ifndef HOLO_MATCH_H
#define HOLO_MATCH_H

#include "passes/passes.h"

enum { HOLO_MATCH_NODES = 32, HOLO_MATCH_VALUES = 32, HOLO_MATCH_FRAMES = 16, HOLO_MATCH_CHOICES = 40 };

typedef struct HoloPatterns {
    HoloGraph **other; // what nodes of the domain `any` stand for, by the graphs' names
    int         other_count;
    const int  *uses; // by value id, of the graph as it is: holo_graph_uses
    int         use_count;
} HoloPatterns;

// The state of a match: of the pattern itself and of the `any` patterns in it, each use of one a frame.
typedef struct HoloMatchFrame {
    const HoloGraph *pattern;
    const HoloNode  *call; // the node of the outer frame that it stands for
    int              outer;
    HoloValue       *bound[HOLO_MATCH_VALUES]; // by id of the pattern's values
} HoloMatchFrame;

typedef struct HoloMatch {
    const HoloPatterns *patterns;
    HoloNode           *node[HOLO_MATCH_NODES]; // matched; the first is the last in the graph
    int                 node_count;
    uint32_t            axes;      // of the reductions, a bit each
    int                 axes_rank; // of what is reduced; 0: no reduction was met
    HoloMatchFrame      frame[HOLO_MATCH_FRAMES];
    int                 frame_count;
    uint8_t             choice[HOLO_MATCH_CHOICES], choice_of[HOLO_MATCH_CHOICES];
    int                 choice_count, choice_next;
} HoloMatch;

// Is output 0 of `node` what the pattern's output is? The first match is taken.
bool holo_match(HoloMatch *match, const HoloPatterns *patterns, const HoloGraph *pattern, HoloNode *node);
// What the pattern's value of that name was found to be; NULL: there is no such name, or it was not met.
HoloValue *holo_match_find(const HoloMatch *match, const char *name);

#endif
