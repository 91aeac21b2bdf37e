// ml_tree.c - TreeEnsemble, TreeEnsembleRegressor and TreeEnsembleClassifier.
//
// The standard leaves open what the classifier does with votes for one class of two; here it is what
// ONNX Runtime does.
#include "ops/ml_tree.h"

typedef enum Aggregate { AVERAGE, SUM, MIN, MAX, AGGREGATE_COUNT } Aggregate; // numbers of TreeEnsemble

// ---- walking

static bool is_member(const HoloTrees *trees, const HoloTreeNode *node, double x)
{
    for (int32_t k = 0; k < node->set_size; k++)
        if (holo_get_f(&trees->members, node->set_from + k) == x) return true;
    return false;
}

static bool takes_true(const HoloTrees *trees, const HoloTreeNode *node, double x)
{
    if (x != x) return node->missing;
    switch (node->mode) {
    case HOLO_TREE_LEQ: return x <= node->split;
    case HOLO_TREE_LT: return x < node->split;
    case HOLO_TREE_GTE: return x >= node->split;
    case HOLO_TREE_GT: return x > node->split;
    case HOLO_TREE_EQ: return x == node->split;
    case HOLO_TREE_NEQ: return x != node->split;
    default: return is_member(trees, node, x);
    }
}

static HoloStatus find_leaf(const HoloCall *call, const HoloTrees *trees, int32_t tree, const double *x, int32_t *leaf)
{
    HoloTreePlace place = trees->roots[tree];
    for (int32_t steps = 0; place >= 0; steps++) {
        if (steps > trees->node_count) return holo_call_fail(call, HOLO_BAD_MODEL, "tree %d has a cycle", (int)tree);
        const HoloTreeNode *node = &trees->nodes[place];
        place                    = node->child[takes_true(trees, node, x[node->feature])];
    }
    *leaf = ~place;
    return HOLO_OK;
}

// ---- scores of a row

typedef struct Scores {
    double *score; // of each target
    bool   *voted; // whether any leaf voted for it
    double *x;     // the features
    int64_t features;
} Scores;

static HoloStatus scores_init(const HoloCall *call, const HoloTrees *trees, Scores *out)
{
    void *score, *voted, *x;
    out->features = holo_ml_row_size(call->in[0]);
    HOLO_TRY(holo_call_temp(call, (size_t)trees->targets + 1, sizeof(double), &score)); // one more: the second of two
    HOLO_TRY(holo_call_temp(call, (size_t)trees->targets + 1, sizeof(bool), &voted));
    HOLO_TRY(holo_call_temp(call, (size_t)out->features, sizeof(double), &x));
    out->score = score;
    out->voted = voted;
    out->x     = x;
    return HOLO_OK;
}

static void count_vote(Aggregate how, HoloTreeVote vote, Scores *s)
{
    double *score  = &s->score[vote.target];
    bool    better = how == MIN ? vote.weight < *score : vote.weight > *score;
    if (how == SUM || how == AVERAGE)
        *score += vote.weight;
    else if (!s->voted[vote.target] || better)
        *score = vote.weight;
    s->voted[vote.target] = true;
}

static HoloStatus score_row(const HoloCall *call, const HoloTrees *trees, Aggregate how, int64_t row, Scores *s)
{
    holo_read_f(call->in[0], row * s->features, 1, s->features, s->x);
    for (int64_t t = 0; t < trees->targets; t++) {
        s->score[t] = 0;
        s->voted[t] = false;
    }
    for (int32_t tree = 0; tree < trees->root_count; tree++) {
        int32_t leaf = 0;
        HOLO_TRY(find_leaf(call, trees, tree, s->x, &leaf));
        for (int32_t v = trees->leaf_votes[leaf]; v < trees->leaf_votes[leaf + 1]; v++)
            count_vote(how, trees->votes[v], s);
    }
    for (int64_t t = 0; how == AVERAGE && t < trees->targets; t++) s->score[t] /= trees->root_count;
    return HOLO_OK;
}

// ---- TreeEnsemble and TreeEnsembleRegressor

static bool is_old(const HoloCall *call)
{
    return call->op->row != NULL;
}

static HoloStatus regressor_infer(HoloCall *call)
{
    int64_t targets = holo_attr_int(call, "n_targets", 1);
    HOLO_TRY(holo_ml_expect_rows(call));
    if (targets < 1) return holo_call_fail(call, HOLO_BAD_MODEL, "n_targets is %lld", (long long)targets);
    HoloDtype dtype = is_old(call) ? HOLO_F32 : (HoloDtype)call->in[0]->dtype;
    return holo_out_type(call, 0, dtype, 2, (HoloDim[]){holo_ml_row_count(call->in[0]), targets});
}

// By name in the old form, by number in the new.
static HoloStatus find_modes(const HoloCall *call, Aggregate *how, HoloMlPost *post)
{
    static const char *const names[] = {"AVERAGE", "SUM", "MIN", "MAX"};
    int64_t                  number  = is_old(call) ? 0 : holo_attr_int(call, "aggregate_function", SUM);
    while (is_old(call) && number < AGGREGATE_COUNT && !holo_attr_is(call, "aggregate_function", "SUM", names[number]))
        number++;
    if (number < 0 || number >= AGGREGATE_COUNT)
        return holo_call_fail(call, HOLO_BAD_MODEL, "aggregate_function is not one that there is");
    *how = (Aggregate)number;
    if (is_old(call)) return holo_ml_post_find(call, post);
    number = holo_attr_int(call, "post_transform", HOLO_ML_NONE);
    if (number < 0 || number >= HOLO_ML_POST_COUNT)
        return holo_call_fail(call, HOLO_BAD_MODEL, "post_transform is %lld", (long long)number);
    *post = (HoloMlPost)number;
    return HOLO_OK;
}

static HoloStatus regressor_eval(HoloCall *call)
{
    HoloTensor *out = holo_out(call, 0), base = {.rank = 1};
    HoloTrees   trees;
    Scores      s;
    Aggregate   how     = SUM;
    HoloMlPost  post    = HOLO_ML_NONE;
    int64_t     targets = holo_attr_int(call, "n_targets", 1);
    if (!out) return HOLO_OK;
    HOLO_TRY(find_modes(call, &how, &post));
    HOLO_TRY(is_old(call) ? holo_trees_read_old(call, "target", targets, &trees)
                          : holo_trees_read(call, targets, &trees));
    if (is_old(call)) HOLO_TRY(holo_ml_list_or_tensor(call, "base_values", &base));
    if (base.dim[0] > 0) HOLO_TRY(holo_ml_expect_count(call, "base_values", &base, targets));
    HOLO_TRY(scores_init(call, &trees, &s));
    for (int64_t row = 0; row < holo_ml_row_count(call->in[0]); row++) {
        HOLO_TRY(score_row(call, &trees, how, row, &s));
        for (int64_t t = 0; base.dim[0] > 0 && t < targets; t++) s.score[t] += holo_get_f(&base, t);
        holo_ml_post_apply(post, s.score, targets);
        holo_write_f(out, row * targets, 1, targets, s.score);
    }
    return HOLO_OK;
}

// ---- TreeEnsembleClassifier

static HoloStatus classifier_infer(HoloCall *call)
{
    HoloTensor labels;
    HOLO_TRY(holo_ml_expect_rows(call));
    HOLO_TRY(holo_ml_labels(call, "classlabels_int64s", "classlabels_strings", &labels));
    HoloDim rows = holo_ml_row_count(call->in[0]);
    HOLO_TRY(holo_out_type(call, 0, (HoloDtype)labels.dtype, 1, &rows));
    return holo_out_type(call, 1, HOLO_F32, 2, (HoloDim[]){rows, labels.dim[0]});
}

// How votes are read: whether all are for one class of two, and whether none is negative.
typedef struct Voting {
    bool    single, positive;
    int64_t target;
} Voting;

static Voting find_voting(const HoloTrees *trees)
{
    Voting voting = {.single = trees->targets == 2 && trees->vote_count > 0, .positive = true};
    for (int32_t v = 0; v < trees->vote_count; v++) {
        voting.single   = voting.single && trees->votes[v].target == trees->votes[0].target;
        voting.positive = voting.positive && trees->votes[v].weight >= 0;
    }
    if (voting.single) voting.target = trees->votes[0].target;
    return voting;
}

// Makes the final scores of a row, and returns the class.
static int64_t decide(const Voting *voting, HoloMlPost post, double *score, int64_t classes)
{
    if (!voting->single) {
        int64_t best = classes == 1 ? (score[0] > 0 ? 0 : -1) : holo_ml_argmax(score, classes);
        holo_ml_post_apply(post, score, classes);
        return best;
    }
    double one = score[voting->target];
    score[1]   = one;
    if (voting->positive) { // a probability
        score[0] = 1 - one;
        return one > 0.5;
    }
    score[0] = -one;
    holo_ml_post_apply(post, score, 2);
    return one > 0;
}

static HoloStatus classifier_eval(HoloCall *call)
{
    HoloTensor *y = holo_out(call, 0), *z = holo_out(call, 1), labels, base;
    HoloTrees   trees;
    Scores      s;
    HoloMlPost  post;
    HOLO_TRY(holo_ml_labels(call, "classlabels_int64s", "classlabels_strings", &labels));
    HOLO_TRY(holo_ml_post_find(call, &post));
    HOLO_TRY(holo_ml_list_or_tensor(call, "base_values", &base));
    int64_t classes = labels.dim[0];
    HOLO_TRY(holo_trees_read_old(call, "class", classes, &trees));
    HOLO_TRY(scores_init(call, &trees, &s));
    Voting voting   = find_voting(&trees);
    bool   one_base = voting.single && base.dim[0] == 1;
    if (base.dim[0] > 0 && !one_base) HOLO_TRY(holo_ml_expect_count(call, "base_values", &base, classes));
    for (int64_t row = 0; row < holo_ml_row_count(call->in[0]); row++) {
        HOLO_TRY(score_row(call, &trees, SUM, row, &s));
        for (int64_t t = 0; base.dim[0] > 0 && t < classes; t++) s.score[t] += holo_get_f(&base, one_base ? 0 : t);
        int64_t label = decide(&voting, post, s.score, classes);
        if (y) holo_ml_put_label(y, row, &labels, label);
        if (z) holo_write_f(z, row * classes, 1, classes, s.score);
    }
    return HOLO_OK;
}

static const bool old = true;

const HoloOp holo_ops_ml_tree[] = {
    {.name    = "TreeEnsemble",
     .domain  = "ai.onnx.ml",
     .since   = 5,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(F16) | HOLO_BIT(F32) | HOLO_BIT(F64),
     .infer   = regressor_infer,
     .eval    = regressor_eval},
    {.name    = "TreeEnsembleRegressor",
     .domain  = "ai.onnx.ml",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_ML_NUMBERS,
     .infer   = regressor_infer,
     .eval    = regressor_eval,
     .row     = &old},
    {.name    = "TreeEnsembleClassifier",
     .domain  = "ai.onnx.ml",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 2,
     .types   = HOLO_ML_NUMBERS,
     .infer   = classifier_infer,
     .eval    = classifier_eval},
    {0},
};
