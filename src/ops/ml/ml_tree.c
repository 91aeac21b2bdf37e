// ml_tree.c - TreeEnsemble, TreeEnsembleRegressor and TreeEnsembleClassifier.
//
// The standard leaves open what the classifier does with votes for one class of two;
// decide_single says what is done here.
#include "ops/ml/ml_tree.h"
#include "ops/spread.h"

#include <string.h>

typedef enum Aggregate { AVERAGE, SUM, MIN, MAX, AGGREGATE_COUNT } Aggregate; // numbers of TreeEnsemble

// How a classifier's votes are read: whether all are for one class of two, and whether none is negative.
typedef struct Voting {
    bool    single, positive;
    int64_t target;
    int64_t bases;   // base values that there are, where single
    double  base[2]; // those, or 0
} Voting;

typedef struct Ensemble { // what is prepared
    HoloTrees  trees;
    Aggregate  how;
    HoloMlPost post;
    double    *base;   // added to the score of each target; NULL: nothing
    HoloTensor labels; // of a classifier
    Voting     voting;
} Ensemble;

// ---- walking

static bool is_member(const HoloTrees *trees, const HoloTreeNode *node, double x)
{
    for (int32_t k = 0; k < node->set.size; k++)
        if (trees->members[node->set.from + k] == x) return true;
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

enum {
    TOGETHER = 8,
    ROWS     = 16
}; // trees that are walked at once, so that their nodes are waited for at once; rows for
    // which they are, one after the other, while they are in the cache

// The leaves of `count` trees: place[] begins with their roots and ends with their leaves.
static void find_leaves(const HoloTrees *trees, const double *x, int count, HoloTreePlace *place)
{
    for (bool is_done = false; !is_done;) {
        is_done = true;
        for (int i = 0; i < count; i++) {
            if (place[i] < 0) continue;
            const HoloTreeNode *node = &trees->nodes[place[i]];
            place[i]                 = node->child[takes_true(trees, node, x[node->feature])];
            is_done                  = false;
        }
    }
}

// ---- scores of rows

typedef struct Scores { // of one thread: of each of ROWS rows
    double *score;      // of each target
    bool   *voted;      // whether any leaf voted for it
    double *x;          // the features
} Scores;

static void count_vote(Aggregate how, HoloTreeVote vote, double *scores, bool *voted)
{
    double *score  = &scores[vote.target];
    bool    better = how == MIN ? vote.weight < *score : vote.weight > *score;
    if (how == SUM || how == AVERAGE)
        *score += vote.weight;
    else if (!voted[vote.target] || better)
        *score = vote.weight;
    voted[vote.target] = true;
}

// Adds the votes of some trees to the scores of one row.
static void score_trees(const Ensemble *e, int32_t tree, int count, const double *x, double *score, bool *voted)
{
    const HoloTrees *trees = &e->trees;
    HoloTreePlace    place[TOGETHER];
    memcpy(place, trees->roots + tree, (size_t)count * sizeof *place);
    find_leaves(trees, x, count, place);
    for (int i = 0; i < count; i++)
        for (int32_t v = trees->leaf_votes[~place[i]]; v < trees->leaf_votes[~place[i] + 1]; v++)
            count_vote(e->how, trees->votes[v], score, voted);
}

static void score_rows(const Ensemble *e, const HoloTensor *x, int64_t first, int64_t rows, Scores *s)
{
    const HoloTrees *trees    = &e->trees;
    int64_t          features = holo_ml_row_size(x), targets = trees->targets;
    holo_read_f(x, first * features, 1, rows * features, s->x);
    for (int64_t t = 0; t < rows * targets; t++) {
        s->score[t] = 0;
        s->voted[t] = false;
    }
    for (int32_t tree = 0; tree < trees->root_count; tree += TOGETHER) {
        int count = trees->root_count - tree < TOGETHER ? (int)(trees->root_count - tree) : TOGETHER;
        for (int64_t r = 0; r < rows; r++)
            score_trees(e, tree, count, s->x + r * features, s->score + r * targets, s->voted + r * targets);
    }
    for (int64_t t = 0; e->how == AVERAGE && t < rows * targets; t++) s->score[t] /= trees->root_count;
    for (int64_t t = 0; e->base && t < rows * targets; t++) s->score[t] += e->base[t % targets];
}

// ---- rows

typedef struct Job {
    const HoloCall *call;
    const Ensemble *e;
    Scores         *scores; // of each worker
    int64_t         rows;
    // Writes the outputs of a row, of which the scores are.
    void (*finish)(const HoloCall *call, const Ensemble *e, int64_t row, Scores *s);
} Job;

static void run_rows(void *arg, int64_t i, int worker)
{
    const Job *job     = arg;
    Scores    *s       = &job->scores[worker];
    int64_t    targets = job->e->trees.targets, first = i * ROWS;
    int64_t    rows = job->rows - first < ROWS ? job->rows - first : ROWS;
    score_rows(job->e, job->call->in[0], first, rows, s);
    for (int64_t r = 0; r < rows; r++) {
        Scores row = {.score = s->score + r * targets, .voted = s->voted + r * targets};
        job->finish(job->call, job->e, first + r, &row);
    }
}

static HoloStatus run(const HoloCall *call, void (*finish)(const HoloCall *, const Ensemble *, int64_t, Scores *))
{
    const Ensemble *e        = call->prepared;
    int64_t         features = holo_ml_row_size(call->in[0]), rows = holo_ml_row_count(call->in[0]);
    int             workers = call->host->workers > 1 ? call->host->workers : 1;
    size_t          targets = (size_t)e->trees.targets, most = (size_t)(rows < 1 ? 1 : rows < ROWS ? rows : ROWS);
    void           *scores, *score, *voted, *x;
    if (e->trees.features > features)
        return holo_call_fail(call, HOLO_BAD_MODEL, "a tree asks for feature %lld of %lld",
                              (long long)e->trees.features - 1, (long long)features);
    HOLO_TRY(holo_call_temp(call, (size_t)workers, sizeof(Scores), &scores));
    Job job = {.call = call, .e = e, .scores = scores, .rows = rows, .finish = finish};
    for (int w = 0; w < workers; w++) {
        HOLO_TRY(holo_call_temp(call, targets, most * sizeof(double), &score));
        HOLO_TRY(holo_call_temp(call, targets, most * sizeof(bool), &voted));
        HOLO_TRY(holo_call_temp(call, (size_t)features, most * sizeof(double), &x));
        job.scores[w] = (Scores){score, voted, x};
    }
    enum { STEPS = 8 }; // of a walk, about
    holo_spread(call, (rows + ROWS - 1) / ROWS, (double)rows * e->trees.root_count * STEPS, run_rows, &job);
    return HOLO_OK;
}

// ---- preparing

static bool is_old(const HoloCall *call)
{
    return call->op->row != NULL;
}

static HoloStatus ensemble_new(const HoloCall *call, Ensemble **out)
{
    void *memory;
    HOLO_TRY(holo_call_hold(call, 1, sizeof **out, &memory));
    *out = memory;
    return HOLO_OK;
}

// One base value for each target, or none.
static HoloStatus base_read(const HoloCall *call, int64_t count, Ensemble *e)
{
    HoloTensor base;
    void      *memory;
    HOLO_TRY(holo_ml_list_or_tensor(call, "base_values", &base));
    if (base.dim[0] == 0) return HOLO_OK;
    HOLO_TRY(holo_ml_expect_count(call, "base_values", &base, count));
    HOLO_TRY(holo_call_hold(call, (size_t)count, sizeof(double), &memory));
    e->base = memory;
    holo_read_f(&base, 0, 1, count, e->base);
    return HOLO_OK;
}

// Where all votes are for one class of two: one for each class, one in all, or none.
static HoloStatus base_read_single(const HoloCall *call, Voting *voting)
{
    HoloTensor base;
    HOLO_TRY(holo_ml_list_or_tensor(call, "base_values", &base));
    voting->bases = base.dim[0];
    if (voting->bases > 1) HOLO_TRY(holo_ml_expect_count(call, "base_values", &base, HOLO_COUNT(voting->base)));
    if (voting->bases) holo_read_f(&base, 0, 1, voting->bases, voting->base);
    return HOLO_OK;
}

// ---- TreeEnsemble and TreeEnsembleRegressor

static HoloStatus regressor_infer(HoloCall *call)
{
    int64_t targets = holo_attr_int(call, "n_targets", 1);
    HOLO_TRY(holo_ml_expect_rows(call));
    if (targets < 1) return holo_call_fail(call, HOLO_BAD_MODEL, "n_targets is %lld", (long long)targets);
    HoloDtype dtype = is_old(call) ? HOLO_F32 : (HoloDtype)call->in[0]->dtype;
    return holo_out_type(call, 0, dtype, 2, (HoloDim[]){holo_ml_row_count(call->in[0]), targets});
}

// How trees are summed, and what is done to the sums. The old operator gives both by name, the new one by number.
static HoloStatus find_modes(const HoloCall *call, Aggregate *how, HoloMlPost *post)
{
    static const char *const names[] = {"AVERAGE", "SUM", "MIN", "MAX"};
    int64_t                  number  = is_old(call) ? 0 : holo_attr_int(call, "aggregate_function", SUM);
    while (is_old(call) && number < AGGREGATE_COUNT && !holo_attr_is(call, "aggregate_function", "SUM", names[number]))
        number++;
    if (number < 0 || number >= AGGREGATE_COUNT)
        return holo_call_fail(call, HOLO_BAD_MODEL, "aggregate_function is unknown");
    *how = (Aggregate)number;
    if (is_old(call)) return holo_ml_post_find(call, post);
    number = holo_attr_int(call, "post_transform", HOLO_ML_NONE);
    if (number < 0 || number >= HOLO_ML_POST_COUNT)
        return holo_call_fail(call, HOLO_BAD_MODEL, "post_transform is %lld", (long long)number);
    *post = (HoloMlPost)number;
    return HOLO_OK;
}

static HoloStatus regressor_prepare(HoloCall *call, const void **out)
{
    Ensemble *e;
    int64_t   targets = holo_attr_int(call, "n_targets", 1);
    HOLO_TRY(ensemble_new(call, &e));
    HOLO_TRY(find_modes(call, &e->how, &e->post));
    HOLO_TRY(is_old(call) ? holo_trees_read_old(call, "target", targets, &e->trees)
                          : holo_trees_read(call, targets, &e->trees));
    if (is_old(call)) HOLO_TRY(base_read(call, targets, e));
    *out = e;
    return HOLO_OK;
}

static void regressor_finish(const HoloCall *call, const Ensemble *e, int64_t row, Scores *s)
{
    holo_ml_post_apply(e->post, s->score, e->trees.targets);
    holo_write_f(call->out[0], row * e->trees.targets, 1, e->trees.targets, s->score);
}

static HoloStatus regressor_eval(HoloCall *call)
{
    return holo_out(call, 0) ? run(call, regressor_finish) : HOLO_OK;
}

// ---- TreeEnsembleClassifier

static HoloStatus classifier_infer(HoloCall *call)
{
    HoloTensor labels;
    HOLO_TRY(holo_ml_expect_rows(call));
    HOLO_TRY(holo_ml_labels(call, "classlabels_int64s", "classlabels_strings", &labels));
    return holo_ml_out_scores(call, &labels, labels.dim[0]);
}

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

static HoloStatus classifier_prepare(HoloCall *call, const void **out)
{
    Ensemble *e;
    HOLO_TRY(ensemble_new(call, &e));
    HOLO_TRY(holo_ml_labels(call, "classlabels_int64s", "classlabels_strings", &e->labels));
    HOLO_TRY(holo_ml_post_find(call, &e->post));
    HOLO_TRY(holo_trees_read_old(call, "class", e->labels.dim[0], &e->trees));
    e->how    = SUM;
    e->voting = find_voting(&e->trees);
    HOLO_TRY(e->voting.single ? base_read_single(call, &e->voting) : base_read(call, e->labels.dim[0], e));
    *out = e;
    return HOLO_OK;
}

// Makes the final scores of a row whose votes are all for one class of two, and returns the class. A class without
// votes has no score, not even its base value. Where only the first can have one, the other's is the opposite of it: of
// a probability, or of a number of either sign.
static int64_t decide_single(const Voting *voting, HoloMlPost post, Scores *s)
{
    double first  = s->voted[0] ? s->score[0] + voting->base[0] : 0,
           second = s->voted[1] ? s->score[1] + voting->base[1] : 0;
    bool both     = s->voted[1] || voting->bases == 2;
    s->score[0]   = both ? first : voting->positive && post != HOLO_ML_LOGISTIC ? 1 - first : -first;
    s->score[1]   = both ? second : first;
    if (both || post == HOLO_ML_LOGISTIC || post == HOLO_ML_PROBIT) holo_ml_post_apply(post, s->score, 2);
    return (float)(first + second) > (voting->positive ? 0.5F : 0); // of the score as it is given out
}

// Computes the final scores of a row, and returns the class.
static int64_t decide(const Ensemble *e, Scores *s)
{
    int64_t classes = e->labels.dim[0];
    if (e->voting.single) return decide_single(&e->voting, e->post, s);
    for (int64_t k = 0; k < classes; k++) s->score[k] = (float)s->score[k]; // as they are given out
    int64_t best = classes == 1 ? (s->score[0] > 0 ? 0 : -1) : holo_ml_argmax(s->score, classes);
    holo_ml_post_apply(e->post, s->score, classes);
    return best;
}

static void classifier_finish(const HoloCall *call, const Ensemble *e, int64_t row, Scores *s)
{
    HoloTensor *y = holo_out(call, 0), *z = holo_out(call, 1);
    int64_t     classes = e->labels.dim[0], label = decide(e, s);
    if (y) holo_ml_put_label(y, row, &e->labels, label);
    if (z) holo_write_f(z, row * classes, 1, classes, s->score);
}

static HoloStatus classifier_eval(HoloCall *call)
{
    return run(call, classifier_finish);
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
     .eval    = regressor_eval,
     .prepare = regressor_prepare},
    {HOLO_ML_SCORER("TreeEnsembleRegressor", regressor, 1), .prepare = regressor_prepare, .row = &old},
    {HOLO_ML_SCORER("TreeEnsembleClassifier", classifier, 2), .prepare = classifier_prepare},
    {0},
};
