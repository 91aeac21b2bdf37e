// ml_linear.c - LinearRegressor and LinearClassifier: scores that are sums of weighted features.
#include "ops/ml/ml.h"

typedef struct Linear {
    int64_t    outputs; // sets of coefficients
    HoloTensor coefficients, intercepts;
    HoloMlPost post;
} Linear;

// How many scores a classifier computes: the number of intercepts or, without intercepts, what the coefficients allow.
static int64_t count_sums(const HoloTensor *coefficients, const HoloTensor *intercepts, int64_t features)
{
    return intercepts->dim[0] > 0 ? intercepts->dim[0] : features > 0 ? coefficients->dim[0] / features : 0;
}

// `outputs` 0: see count_sums. Surplus coefficients are ignored.
static HoloStatus read_linear(const HoloCall *call, int64_t outputs, Linear *out)
{
    int64_t features = holo_ml_row_size(call->in[0]), needed;
    HOLO_TRY(holo_ml_list(call, "coefficients", HOLO_BIT(F32), &out->coefficients));
    HOLO_TRY(holo_ml_list(call, "intercepts", HOLO_BIT(F32), &out->intercepts));
    HOLO_TRY(holo_ml_post_find(call, &out->post));
    out->outputs = outputs > 0 ? outputs : count_sums(&out->coefficients, &out->intercepts, features);
    if (!holo_mul(out->outputs, features, &needed) || needed > out->coefficients.dim[0] || out->outputs == 0)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld coefficients for rows of %lld features",
                              (long long)out->coefficients.dim[0], (long long)features);
    if (out->intercepts.dim[0] > 0) HOLO_TRY(holo_ml_expect_count(call, "intercepts", &out->intercepts, out->outputs));
    return HOLO_OK;
}

// Scores of rows one after the other; of several they are made together.
typedef struct Scores {
    HoloCell *cells;
    double   *row;
} Scores;

// `count`: room for the scores of a row, which may be more than there are sets of coefficients.
static HoloStatus scores_init(const HoloCall *call, const Linear *linear, int64_t count, Scores *s)
{
    int64_t rows = holo_ml_row_count(call->in[0]);
    if (rows > HOLO_ML_ROWS) rows = HOLO_ML_ROWS;
    HOLO_TRY(holo_call_temp(call, (size_t)linear->outputs, (size_t)rows * sizeof(HoloCell), (void **)&s->cells));
    return holo_call_temp(call, (size_t)count, sizeof(double), (void **)&s->row);
}

static void score_row(const HoloCall *call, const Linear *linear, int64_t row, Scores *s)
{
    const HoloTensor *x    = call->in[0];
    int64_t           left = holo_ml_row_count(x) - row, at = row % HOLO_ML_ROWS;
    if (at == 0)
        holo_ml_products(call, x, row, left < HOLO_ML_ROWS ? left : HOLO_ML_ROWS, &linear->coefficients,
                         linear->outputs, s->cells);
    for (int64_t o = 0; o < linear->outputs; o++)
        s->row[o] = (linear->intercepts.dim[0] > 0 ? holo_get_f(&linear->intercepts, o) : 0) +
                    s->cells[at * linear->outputs + o].f;
}

// ---- LinearRegressor

static HoloStatus regressor_infer(HoloCall *call)
{
    int64_t targets = holo_attr_int(call, "targets", 1);
    HOLO_TRY(holo_ml_expect_rows(call));
    if (targets < 1) return holo_call_fail(call, HOLO_BAD_MODEL, "targets is %lld", (long long)targets);
    return holo_out_type(call, 0, HOLO_F32, 2, (HoloDim[]){holo_ml_row_count(call->in[0]), targets});
}

static HoloStatus regressor_eval(HoloCall *call)
{
    Linear linear;
    Scores scores;
    if (!holo_out(call, 0)) return HOLO_OK;
    HOLO_TRY(read_linear(call, holo_attr_int(call, "targets", 1), &linear));
    HOLO_TRY(scores_init(call, &linear, linear.outputs, &scores));
    for (int64_t row = 0; row < holo_ml_row_count(call->in[0]); row++) {
        score_row(call, &linear, row, &scores);
        holo_ml_post_apply(linear.post, scores.row, linear.outputs);
        holo_write_f(call->out[0], row * linear.outputs, 1, linear.outputs, scores.row);
    }
    return HOLO_OK;
}

// ---- LinearClassifier

// A model without labels means 0 and 1, which one score tells apart.
static HoloStatus find_labels(const HoloCall *call, HoloTensor *out)
{
    HoloTensor intercepts;
    HOLO_TRY(holo_ml_list(call, "intercepts", HOLO_BIT(F32), &intercepts));
    *out = (HoloTensor){.dtype = HOLO_I64, .rank = 1};
    if (intercepts.dim[0] == 1 && !holo_attr_find(call, "classlabels_ints") &&
        !holo_attr_find(call, "classlabels_strings"))
        return HOLO_OK;
    return holo_ml_labels(call, "classlabels_ints", "classlabels_strings", out);
}

static HoloStatus classifier_infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloTensor        labels, coefficients, intercepts;
    HOLO_TRY(holo_ml_expect_rows(call));
    HOLO_TRY(find_labels(call, &labels));
    HOLO_TRY(holo_ml_list(call, "coefficients", HOLO_BIT(F32), &coefficients));
    HOLO_TRY(holo_ml_list(call, "intercepts", HOLO_BIT(F32), &intercepts));
    HoloDim size   = holo_ml_row_size(x);
    bool    open   = holo_dim_is_symbolic(size) && intercepts.dim[0] == 0;
    HoloDim scores = open ? HOLO_DIM_UNKNOWN : count_sums(&coefficients, &intercepts, size);
    if (scores == 1 && labels.dim[0] == 2) scores = 2; // one set of coefficients tells two classes apart
    return holo_ml_out_scores(call, &labels, scores);
}

static HoloStatus classifier_eval(HoloCall *call)
{
    HoloTensor *y = holo_out(call, 0), *z = holo_out(call, 1), labels;
    Linear      linear;
    Scores      made;
    HOLO_TRY(find_labels(call, &labels));
    HOLO_TRY(read_linear(call, 0, &linear));
    bool    both  = linear.outputs == 1 && labels.dim[0] == 2;
    int64_t count = both ? 2 : linear.outputs;
    HOLO_TRY(scores_init(call, &linear, count, &made));
    double *scores = made.row;
    for (int64_t row = 0; row < holo_ml_row_count(call->in[0]); row++) {
        score_row(call, &linear, row, &made);
        if (both) {
            scores[1] = scores[0];
            scores[0] = -scores[0];
        }
        int64_t label = holo_ml_argmax(scores, count); // before a transform makes large scores the same
        bool    above = scores[0] > 0;
        holo_ml_post_apply(linear.post, scores, count);
        if (both && linear.post == HOLO_ML_NONE) scores[0] = 1 - scores[1];
        if (count == 1) label = scores[0] >= (linear.post == HOLO_ML_NONE ? 0 : 0.5) ? 0 : -1;
        if (y && labels.dim[0] == 0)
            holo_put_i(y, row, above);
        else if (y)
            holo_ml_put_label(y, row, &labels, label);
        if (z) holo_write_f(z, row * count, 1, count, scores);
    }
    return HOLO_OK;
}

const HoloOp holo_ops_ml_linear[] = {
    {HOLO_ML_SCORER("LinearRegressor", regressor, 1)},
    {HOLO_ML_SCORER("LinearClassifier", classifier, 2)},
    {0},
};
