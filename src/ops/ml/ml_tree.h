// ml_tree.h - decision trees in the one form that is evaluated, whatever attributes they came from.
#ifndef HOLO_OPS_ML_ML_TREE_H
#define HOLO_OPS_ML_ML_TREE_H

#include "ops/ml/ml.h"

typedef enum HoloTreeMode { // numbers of TreeEnsemble's nodes_modes
    HOLO_TREE_LEQ,
    HOLO_TREE_LT,
    HOLO_TREE_GTE,
    HOLO_TREE_GT,
    HOLO_TREE_EQ,
    HOLO_TREE_NEQ,
    HOLO_TREE_MEMBER,
    HOLO_TREE_MODE_COUNT
} HoloTreeMode;

// A place in a tree: a node where it is >= 0, else the leaf ~place.
typedef int32_t HoloTreePlace;

typedef struct HoloTreeNode {
    union {
        double split;
        struct {
            int32_t from, size; // of the trees' members
        } set;                  // of HOLO_TREE_MEMBER
    };
    int32_t       feature;
    HoloTreePlace child[2]; // where the comparison is false, true
    uint8_t       mode;     // HoloTreeMode
    bool          missing;  // which child a NaN takes
} HoloTreeNode;

typedef struct HoloTreeVote {
    int64_t target;
    double  weight;
} HoloTreeVote;

typedef struct HoloTrees { // memory is that of holo_call_hold
    HoloTreeNode  *nodes;
    HoloTreePlace *roots;
    HoloTreeVote  *votes;
    int32_t       *leaf_votes; // leaf i has the votes leaf_votes[i] to leaf_votes[i + 1] - 1
    double        *members;    // of all sets
    int32_t        node_count, root_count, vote_count;
    int64_t        targets, features; // how many features a row must have
} HoloTrees;

// Reads and checks the attributes: all places and targets are inside their ranges, and every way from a root ends in a
// leaf. `votes` of the old form is "target" or "class".
HOLO_MUST HoloStatus holo_trees_read_old(const HoloCall *call, const char *votes, int64_t targets, HoloTrees *out);
HOLO_MUST HoloStatus holo_trees_read(const HoloCall *call, int64_t targets, HoloTrees *out); // of TreeEnsemble

#endif
