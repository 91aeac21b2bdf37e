// ml_tree_read.c - decision trees from attributes: of TreeEnsemble, and of the older TreeEnsembleRegressor
// and TreeEnsembleClassifier.
#include "ops/ml/ml_tree.h"
#include "ops/order.h"

#include <math.h>
#include <stdio.h>

static HoloStatus take(const HoloCall *call, int64_t count, size_t size, void *out_pointer)
{
    void *memory;
    HOLO_TRY(holo_call_temp(call, (size_t)count, size, &memory));
    *(void **)out_pointer = memory;
    return HOLO_OK;
}

static HoloStatus hold(const HoloCall *call, int64_t count, size_t size, void *out_pointer)
{
    void *memory;
    HOLO_TRY(holo_call_hold(call, (size_t)count, size, &memory));
    *(void **)out_pointer = memory;
    return HOLO_OK;
}

// A list of integers, `count` long (-1: of any length).
static HoloStatus read_ints(const HoloCall *call, const char *name, int64_t count, HoloTensor *out)
{
    HOLO_TRY(holo_ml_list(call, name, HOLO_BIT(I64), out));
    if (out->dim[0] > INT32_MAX / 2) return holo_call_fail(call, HOLO_UNSUPPORTED, "%s is too long", name);
    return count < 0 ? HOLO_OK : holo_ml_expect_count(call, name, out, count);
}

// Element i of a list that read_ints has read.
static inline int64_t number_at(const HoloTensor *list, int64_t i)
{
    return ((const int64_t *)list->data)[i];
}

static HoloStatus set_feature(const HoloCall *call, HoloTrees *trees, int64_t i, int64_t feature)
{
    if (feature < 0 || feature >= INT32_MAX)
        return holo_call_fail(call, HOLO_BAD_MODEL, "a tree asks for feature %lld", (long long)feature);
    trees->nodes[i].feature = (int32_t)feature;
    if (trees->features <= feature) trees->features = feature + 1;
    return HOLO_OK;
}

static HoloStatus check_target(const HoloCall *call, int64_t target, int64_t targets)
{
    if (target >= 0 && target < targets) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "a leaf votes for target %lld of %lld", (long long)target,
                          (long long)targets);
}

// ---- ways end

// A way down from a root, of nodes of which some children are still to be entered.
typedef struct Way {
    const HoloTrees *trees;
    uint8_t         *entered; // of each node, how many of its children: 3 where it is done
    int32_t         *node;
    int32_t          length;
} Way;

// Follows every path from `root` that was not followed before. False: a path returns to a node on it.
static bool ways_end(Way *way, int32_t root)
{
    enum { DONE = 3 };
    if (way->entered[root] == DONE) return true;
    way->node[0] = root;
    way->length  = 1;
    while (way->length) {
        int32_t at = way->node[way->length - 1];
        if (way->entered[at] == 2) {
            way->entered[at] = DONE;
            way->length--;
            continue;
        }
        HoloTreePlace next = way->trees->nodes[at].child[way->entered[at]++];
        if (next < 0 || way->entered[next] == DONE) continue;
        if (way->entered[next]) return false;
        way->node[way->length++] = next;
    }
    return true;
}

static HoloStatus check_ends(const HoloCall *call, const HoloTrees *trees)
{
    Way way = {.trees = trees};
    HOLO_TRY(take(call, trees->node_count, 1, &way.entered));
    HOLO_TRY(take(call, trees->node_count, sizeof(int32_t), &way.node));
    for (int32_t i = 0; i < trees->root_count; i++)
        if (trees->roots[i] >= 0 && !ways_end(&way, trees->roots[i]))
            return holo_call_fail(call, HOLO_BAD_MODEL, "tree %d has a cycle", (int)i);
    return HOLO_OK;
}

// ---- the old form: nodes known by the numbers of tree and node, leaves among them

typedef struct Old {
    HoloTensor tree, node, feature, mode, value, yes, no, missing;
    int64_t    count;
    int64_t   *order; // node indices sorted by tree and node
} Old;

static int compare_pair(int64_t tree_a, int64_t node_a, int64_t tree_b, int64_t node_b)
{
    if (tree_a != tree_b) return tree_a < tree_b ? -1 : 1;
    return (node_a > node_b) - (node_a < node_b);
}

static int compare_nodes(const void *context, int64_t a, int64_t b)
{
    const Old *old = context;
    return compare_pair(number_at(&old->tree, a), number_at(&old->node, a), number_at(&old->tree, b),
                        number_at(&old->node, b));
}

static HoloStatus find_node(const HoloCall *call, const Old *old, int64_t tree, int64_t node, int64_t *out)
{
    int64_t low = 0, high = old->count - 1;
    while (low <= high) {
        int64_t middle = low + (high - low) / 2, i = old->order[middle];
        int     order = compare_pair(number_at(&old->tree, i), number_at(&old->node, i), tree, node);
        *out          = i;
        if (order == 0) return HOLO_OK;
        if (order < 0)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return holo_call_fail(call, HOLO_BAD_MODEL, "tree %lld has no node %lld", (long long)tree, (long long)node);
}

static HoloStatus read_lists(const HoloCall *call, Old *old)
{
    HOLO_TRY(read_ints(call, "nodes_treeids", -1, &old->tree));
    old->count = old->tree.dim[0];
    HOLO_TRY(read_ints(call, "nodes_nodeids", old->count, &old->node));
    HOLO_TRY(read_ints(call, "nodes_featureids", old->count, &old->feature));
    HOLO_TRY(read_ints(call, "nodes_truenodeids", old->count, &old->yes));
    HOLO_TRY(read_ints(call, "nodes_falsenodeids", old->count, &old->no));
    HOLO_TRY(read_ints(call, "nodes_missing_value_tracks_true", -1, &old->missing));
    if (old->missing.dim[0] > 0)
        HOLO_TRY(holo_ml_expect_count(call, "nodes_missing_value_tracks_true", &old->missing, old->count));
    HOLO_TRY(holo_ml_list(call, "nodes_modes", HOLO_BIT(STRING), &old->mode));
    HOLO_TRY(holo_ml_expect_count(call, "nodes_modes", &old->mode, old->count));
    HOLO_TRY(holo_ml_list_or_tensor(call, "nodes_values", &old->value));
    HOLO_TRY(holo_ml_expect_count(call, "nodes_values", &old->value, old->count));

    int64_t *scratch;
    HOLO_TRY(take(call, old->count, sizeof(int64_t), &old->order));
    HOLO_TRY(take(call, old->count, sizeof(int64_t), &scratch));
    for (int64_t i = 0; i < old->count; i++) old->order[i] = i;
    holo_sort(old->order, scratch, old->count, compare_nodes, old);
    for (int64_t i = 1; i < old->count; i++)
        if (compare_nodes(old, old->order[i - 1], old->order[i]) == 0)
            return holo_call_fail(call, HOLO_BAD_MODEL, "node %lld of tree %lld occurs twice",
                                  (long long)number_at(&old->node, old->order[i]),
                                  (long long)number_at(&old->tree, old->order[i]));
    return HOLO_OK;
}

// HOLO_TREE_MODE_COUNT stands for a leaf.
static HoloStatus find_mode(const HoloCall *call, const Old *old, int64_t i, int *out)
{
    static const struct {
        HoloString   name;
        HoloTreeMode mode;
    } modes[] = {
        {{"BRANCH_LEQ", 10}, HOLO_TREE_LEQ}, {{"BRANCH_LT", 9}, HOLO_TREE_LT}, {{"BRANCH_GTE", 10}, HOLO_TREE_GTE},
        {{"BRANCH_GT", 9}, HOLO_TREE_GT},    {{"BRANCH_EQ", 9}, HOLO_TREE_EQ}, {{"BRANCH_NEQ", 10}, HOLO_TREE_NEQ},
        {{"LEAF", 4}, HOLO_TREE_MODE_COUNT},
    };
    HoloString mode = ((const HoloString *)old->mode.data)[i];
    for (int k = 0; k < HOLO_COUNT(modes); k++) {
        if (!holo_string_equal(mode, modes[k].name)) continue;
        *out = modes[k].mode;
        return HOLO_OK;
    }
    return holo_call_fail(call, HOLO_BAD_MODEL, "mode %.*s of a node is unknown",
                          (int)(mode.size < 100 ? mode.size : 100), mode.data);
}

static HoloStatus place_of(const HoloCall *call, const Old *old, int64_t i, HoloTreePlace *out)
{
    int mode;
    HOLO_TRY(find_mode(call, old, i, &mode));
    *out = mode == HOLO_TREE_MODE_COUNT ? ~(int32_t)i : (int32_t)i;
    return HOLO_OK;
}

static HoloStatus read_old_nodes(const HoloCall *call, const Old *old, HoloTrees *trees)
{
    trees->node_count = (int32_t)old->count;
    HOLO_TRY(hold(call, old->count, sizeof(HoloTreeNode), &trees->nodes));
    for (int64_t i = 0; i < old->count; i++) {
        int64_t tree = number_at(&old->tree, i), index = 0;
        int     mode;
        HOLO_TRY(find_mode(call, old, i, &mode));
        if (mode == HOLO_TREE_MODE_COUNT) continue;
        HoloTreeNode *node = &trees->nodes[i];

        node->split   = holo_get_f(&old->value, i);
        node->mode    = (uint8_t)mode;
        node->missing = old->missing.dim[0] > 0 && number_at(&old->missing, i) != 0;
        HOLO_TRY(set_feature(call, trees, i, number_at(&old->feature, i)));
        HOLO_TRY(find_node(call, old, tree, number_at(&old->no, i), &index));
        HOLO_TRY(place_of(call, old, index, &node->child[0]));
        HOLO_TRY(find_node(call, old, tree, number_at(&old->yes, i), &index));
        HOLO_TRY(place_of(call, old, index, &node->child[1]));
    }
    return HOLO_OK;
}

// The root of a tree is the first of its nodes.
static HoloStatus read_old_roots(const HoloCall *call, const Old *old, HoloTrees *trees)
{
    HOLO_TRY(hold(call, old->count, sizeof(HoloTreePlace), &trees->roots));
    for (int64_t k = 0; k < old->count;) {
        int64_t tree = number_at(&old->tree, old->order[k]), first = old->order[k];
        for (; k < old->count && number_at(&old->tree, old->order[k]) == tree; k++)
            if (old->order[k] < first) first = old->order[k];
        HOLO_TRY(place_of(call, old, first, &trees->roots[trees->root_count++]));
    }
    return HOLO_OK;
}

static HoloStatus read_old_votes(const HoloCall *call, const Old *old, const char *prefix, HoloTrees *trees)
{
    HoloTensor               tree, node, target, weight;
    char                     name[4][32];
    static const char *const parts[] = {"treeids", "nodeids", "ids", "weights"};
    for (int i = 0; i < 4; i++) snprintf(name[i], sizeof name[i], "%s_%s", prefix, parts[i]);
    HOLO_TRY(read_ints(call, name[0], -1, &tree));
    int64_t count = tree.dim[0];
    HOLO_TRY(read_ints(call, name[1], count, &node));
    HOLO_TRY(read_ints(call, name[2], count, &target));
    HOLO_TRY(holo_ml_list_or_tensor(call, name[3], &weight));
    HOLO_TRY(holo_ml_expect_count(call, name[3], &weight, count));

    int64_t *leaf;
    HOLO_TRY(take(call, count, sizeof(int64_t), &leaf));
    HOLO_TRY(hold(call, count, sizeof(HoloTreeVote), &trees->votes));
    HOLO_TRY(hold(call, old->count + 2, sizeof(int32_t), &trees->leaf_votes));
    trees->vote_count = (int32_t)count;
    int32_t *from     = trees->leaf_votes + 1; // counts, then where to write; in the end where a leaf's votes end
    for (int64_t i = 0; i < count; i++) {
        HOLO_TRY(find_node(call, old, number_at(&tree, i), number_at(&node, i), &leaf[i]));
        from[leaf[i] + 1]++;
    }
    for (int64_t i = 0; i < old->count; i++) from[i + 1] += from[i];
    for (int64_t i = 0; i < count; i++) {
        HoloTreeVote vote = {number_at(&target, i), holo_get_f(&weight, i)};
        HOLO_TRY(check_target(call, vote.target, trees->targets));
        trees->votes[from[leaf[i]]++] = vote;
    }
    return HOLO_OK;
}

HoloStatus holo_trees_read_old(const HoloCall *call, const char *votes, int64_t targets, HoloTrees *out)
{
    Old old;
    *out = (HoloTrees){.targets = targets};
    HOLO_TRY(read_lists(call, &old));
    HOLO_TRY(read_old_nodes(call, &old, out));
    HOLO_TRY(read_old_roots(call, &old, out));
    HOLO_TRY(read_old_votes(call, &old, votes, out));
    return check_ends(call, out);
}

// ---- TreeEnsemble: nodes and leaves known by their place, a vote a leaf

static HoloStatus read_children(const HoloCall *call, HoloTrees *trees, int which, const char *leaf_name,
                                const char *place_name, int64_t leaves)
{
    HoloTensor is_leaf, place;
    HOLO_TRY(read_ints(call, leaf_name, trees->node_count, &is_leaf));
    HOLO_TRY(read_ints(call, place_name, trees->node_count, &place));
    for (int32_t i = 0; i < trees->node_count; i++) {
        bool    leaf = number_at(&is_leaf, i) != 0;
        int64_t to   = number_at(&place, i);
        if (to < 0 || to >= (leaf ? leaves : trees->node_count))
            return holo_call_fail(call, HOLO_BAD_MODEL, "%s: there is no %s %lld", place_name, leaf ? "leaf" : "node",
                                  (long long)to);
        trees->nodes[i].child[which] = leaf ? ~(int32_t)to : (int32_t)to;
    }
    return HOLO_OK;
}

// Sets are given one after another, in the order of the nodes that use them, each ended by a NaN.
static HoloStatus read_sets(const HoloCall *call, HoloTrees *trees)
{
    HoloTensor members;
    HOLO_TRY(holo_ml_list(call, "membership_values", HOLO_TYPES_FLOAT, &members));
    if (members.dim[0] > INT32_MAX) return holo_call_fail(call, HOLO_UNSUPPORTED, "membership_values is too long");
    int32_t at = 0, count = (int32_t)members.dim[0];
    HOLO_TRY(hold(call, count, sizeof(double), &trees->members));
    if (count) holo_read_f(&members, 0, 1, count, trees->members);
    for (int32_t i = 0; i < trees->node_count; i++) {
        HoloTreeNode *node = &trees->nodes[i];
        if (node->mode != HOLO_TREE_MEMBER) continue;
        if (at == count)
            return holo_call_fail(call, HOLO_BAD_MODEL,
                                  "membership_values has fewer sets than there are nodes for them");
        node->set.from = at;
        while (at < count && !isnan(trees->members[at])) at++;
        node->set.size = at - node->set.from;
        at += at < count; // the NaN
    }
    return HOLO_OK;
}

static HoloStatus read_nodes(const HoloCall *call, HoloTrees *trees)
{
    HoloTensor features, splits, modes, missing;
    HOLO_TRY(read_ints(call, "nodes_featureids", -1, &features));
    int64_t count = features.dim[0];
    HOLO_TRY(holo_ml_list(call, "nodes_splits", HOLO_TYPES_FLOAT, &splits));
    HOLO_TRY(holo_ml_expect_count(call, "nodes_splits", &splits, count));
    HOLO_TRY(holo_ml_list(call, "nodes_modes", HOLO_BIT(U8), &modes));
    HOLO_TRY(holo_ml_expect_count(call, "nodes_modes", &modes, count));
    HOLO_TRY(read_ints(call, "nodes_missing_value_tracks_true", -1, &missing));
    if (missing.dim[0] > 0) HOLO_TRY(holo_ml_expect_count(call, "nodes_missing_value_tracks_true", &missing, count));
    HOLO_TRY(hold(call, count, sizeof(HoloTreeNode), &trees->nodes));
    trees->node_count = (int32_t)count;
    for (int64_t i = 0; i < count; i++) {
        int64_t mode = holo_get_i(&modes, i);
        if (mode >= HOLO_TREE_MODE_COUNT)
            return holo_call_fail(call, HOLO_BAD_MODEL, "nodes_modes has the mode %lld", (long long)mode);
        trees->nodes[i] = (HoloTreeNode){.split   = holo_get_f(&splits, i),
                                         .mode    = (uint8_t)mode,
                                         .missing = missing.dim[0] > 0 && number_at(&missing, i) != 0};
        HOLO_TRY(set_feature(call, trees, i, number_at(&features, i)));
    }
    return read_sets(call, trees);
}

static HoloStatus read_votes(const HoloCall *call, HoloTrees *trees)
{
    HoloTensor targets, weights;
    HOLO_TRY(read_ints(call, "leaf_targetids", -1, &targets));
    int64_t count = targets.dim[0];
    HOLO_TRY(holo_ml_list(call, "leaf_weights", HOLO_TYPES_FLOAT, &weights));
    HOLO_TRY(holo_ml_expect_count(call, "leaf_weights", &weights, count));
    HOLO_TRY(hold(call, count, sizeof(HoloTreeVote), &trees->votes));
    HOLO_TRY(hold(call, count + 1, sizeof(int32_t), &trees->leaf_votes));
    trees->vote_count = (int32_t)count;
    for (int64_t i = 0; i < count; i++) {
        trees->votes[i]          = (HoloTreeVote){number_at(&targets, i), holo_get_f(&weights, i)};
        trees->leaf_votes[i + 1] = (int32_t)i + 1;
        HOLO_TRY(check_target(call, trees->votes[i].target, trees->targets));
    }
    return HOLO_OK;
}

HoloStatus holo_trees_read(const HoloCall *call, int64_t targets, HoloTrees *out)
{
    HoloTensor roots;
    *out = (HoloTrees){.targets = targets};
    HOLO_TRY(read_nodes(call, out));
    HOLO_TRY(read_votes(call, out));
    HOLO_TRY(read_children(call, out, 0, "nodes_falseleafs", "nodes_falsenodeids", out->vote_count));
    HOLO_TRY(read_children(call, out, 1, "nodes_trueleafs", "nodes_truenodeids", out->vote_count));
    HOLO_TRY(read_ints(call, "tree_roots", -1, &roots));
    HOLO_TRY(hold(call, roots.dim[0], sizeof(HoloTreePlace), &out->roots));
    out->root_count = (int32_t)roots.dim[0];
    for (int32_t i = 0; i < out->root_count; i++) {
        int64_t root = number_at(&roots, i);
        if (root < 0 || root >= out->node_count)
            return holo_call_fail(call, HOLO_BAD_MODEL, "tree_roots: there is no node %lld", (long long)root);
        out->roots[i] = (HoloTreePlace)root;
    }
    return check_ends(call, out);
}
