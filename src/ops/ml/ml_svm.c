// ml_svm.c - SVMRegressor and SVMClassifier: support vector machines as LIBSVM and LIBLINEAR make them; and SVMVotes of
// domain "hologram", which is the end of an SVMClassifier whose scores of pairs are computed as a product.
#include "base/math/math.h"
#include "ops/ml/ml.h"

#include <math.h>

typedef enum Kernel { LINEAR, POLY, RBF, SIGMOID, KERNEL_COUNT } Kernel;

enum { TOGETHER = 4 }; // rows from which on products are made for several at once

typedef struct Svm {
    Kernel     kernel;
    double     gamma, coef0, degree;
    int64_t    features, vectors; // 0 vectors: linear, the coefficients are weights of features
    HoloTensor coefficients, support, rho;
    HoloMlPost post;
    double    *x, *values; // a row of features, and the kernel's value of each vector
    HoloCell  *sums;       // of products of several rows and all vectors; NULL: each row by itself
} Svm;

// Finds kernel and lists; `vectors` is how many support vectors there are.
static HoloStatus read_svm(const HoloCall *call, int64_t vectors, Svm *svm)
{
    static const char *const names[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};
    HoloTensor               params;
    void                    *x, *values;
    *svm = (Svm){.vectors = vectors, .features = holo_ml_row_size(call->in[0])};
    while (svm->kernel < KERNEL_COUNT && !holo_attr_is(call, "kernel_type", "LINEAR", names[svm->kernel]))
        svm->kernel++;
    if (svm->kernel == KERNEL_COUNT) return holo_call_fail(call, HOLO_BAD_MODEL, "kernel_type is unknown");
    HOLO_TRY(holo_ml_list(call, "kernel_params", HOLO_BIT(F32), &params));
    HOLO_TRY(holo_ml_list(call, "coefficients", HOLO_BIT(F32), &svm->coefficients));
    HOLO_TRY(holo_ml_list(call, "support_vectors", HOLO_BIT(F32), &svm->support));
    HOLO_TRY(holo_ml_list(call, "rho", HOLO_BIT(F32), &svm->rho));
    HOLO_TRY(holo_ml_post_find(call, &svm->post));
    if (svm->rho.dim[0] == 0) return holo_call_fail(call, HOLO_BAD_MODEL, "rho is missing");
    if (params.dim[0] > 0) {
        HOLO_TRY(holo_ml_expect_count(call, "kernel_params", &params, 3));
        svm->gamma  = holo_get_f(&params, 0);
        svm->coef0  = holo_get_f(&params, 1);
        svm->degree = holo_get_f(&params, 2);
    }
    int64_t needed;
    if (vectors < 0 || !holo_mul(vectors, svm->features, &needed))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld support vectors", (long long)vectors);
    if (vectors > 0) HOLO_TRY(holo_ml_expect_count(call, "support_vectors", &svm->support, needed));
    if (vectors > svm->coefficients.dim[0])
        return holo_call_fail(call, HOLO_BAD_MODEL, "fewer coefficients than support vectors");
    HOLO_TRY(holo_call_temp(call, (size_t)svm->features, sizeof(double), &x));
    HOLO_TRY(holo_call_temp(call, (size_t)vectors, sizeof(double), &values));
    svm->x       = x;
    svm->values  = values;
    int64_t rows = holo_ml_row_count(call->in[0]);
    if (svm->kernel == RBF || vectors == 0 || rows < TOGETHER) return HOLO_OK;
    if (rows > HOLO_ML_ROWS) rows = HOLO_ML_ROWS;
    return holo_call_temp(call, (size_t)vectors, (size_t)rows * sizeof(HoloCell), (void **)&svm->sums);
}

enum { PARTS = 8 }; // of a sum, side by side: none waits for another

static double total(const double *part)
{
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

static double sum_of_products(int64_t n, const double *x, const float *y)
{
    double  part[PARTS] = {0};
    int64_t j           = 0;
    for (; j + PARTS <= n; j += PARTS)
        for (int l = 0; l < PARTS; l++) part[l] += x[j + l] * (double)y[j + l];
    for (int l = 0; j < n; j++, l++) part[l] += x[j] * (double)y[j];
    return total(part);
}

static double sum_of_squares(int64_t n, const double *x, const float *y) // of differences
{
    double  part[PARTS] = {0};
    int64_t j           = 0;
    for (; j + PARTS <= n; j += PARTS)
        for (int l = 0; l < PARTS; l++) {
            double d = x[j + l] - (double)y[j + l];
            part[l] += d * d;
        }
    for (int l = 0; j < n; j++, l++) part[l] += (x[j] - (double)y[j]) * (x[j] - (double)y[j]);
    return total(part);
}

// Applies the kernel's function to a sum.
static double kernel_of(const Svm *svm, Kernel kernel, double sum)
{
    switch (kernel) {
    case POLY: return holo_pow(svm->gamma * sum + svm->coef0, svm->degree);
    case SIGMOID: return holo_tanh(svm->gamma * sum + svm->coef0);
    case RBF: return holo_exp(-svm->gamma * sum);
    default: return sum;
    }
}

// The kernel of svm->x and `features` numbers of a list of f32.
static double kernel_value(const Svm *svm, Kernel kernel, const HoloTensor *list, int64_t start)
{
    const float *y   = list->data;
    double       sum = 0;
    if (svm->features > 0) sum = (kernel == RBF ? sum_of_squares : sum_of_products)(svm->features, svm->x, y + start);
    return kernel_of(svm, kernel, sum);
}

static void read_row(const HoloCall *call, const Svm *svm, int64_t row)
{
    const HoloTensor *in   = call->in[0];
    int64_t           left = holo_ml_row_count(in) - row, at = row % HOLO_ML_ROWS;
    holo_read_f(in, row * svm->features, 1, svm->features, svm->x);
    if (svm->sums && at == 0)
        holo_ml_products(call, in, row, left < HOLO_ML_ROWS ? left : HOLO_ML_ROWS, &svm->support, svm->vectors,
                         svm->sums);
    for (int64_t v = 0; v < svm->vectors; v++)
        svm->values[v] = svm->sums ? kernel_of(svm, svm->kernel, svm->sums[at * svm->vectors + v].f)
                                   : kernel_value(svm, svm->kernel, &svm->support, v * svm->features);
}

// ---- SVMRegressor

static HoloStatus regressor_infer(HoloCall *call)
{
    HOLO_TRY(holo_ml_expect_rows(call));
    return holo_out_type(call, 0, HOLO_F32, 2, (HoloDim[]){holo_ml_row_count(call->in[0]), 1});
}

static HoloStatus regressor_eval(HoloCall *call)
{
    Svm svm;
    if (!holo_out(call, 0)) return HOLO_OK;
    HOLO_TRY(read_svm(call, holo_attr_int(call, "n_supports", 0), &svm));
    HOLO_TRY(holo_ml_expect_count(call, "coefficients", &svm.coefficients, svm.vectors ? svm.vectors : svm.features));
    for (int64_t row = 0; row < holo_ml_row_count(call->in[0]); row++) {
        HOLO_TRY(holo_call_continue(call));
        read_row(call, &svm, row);
        double score = holo_get_f(&svm.rho, 0);
        for (int64_t v = 0; v < svm.vectors; v++) score += holo_get_f(&svm.coefficients, v) * svm.values[v];
        if (svm.vectors == 0) score += kernel_value(&svm, LINEAR, &svm.coefficients, 0);
        if (holo_attr_int(call, "one_class", 0))
            score = score > 0 ? 1 : -1;
        else
            holo_ml_post_apply(svm.post, &score, 1);
        holo_put_f(call->out[0], row, score);
    }
    return HOLO_OK;
}

// ---- SVMClassifier

// The parts of a classifier. A score tells each of the `pairs` of classes apart.
typedef struct Classifier {
    HoloTensor labels, per_class, prob_a, prob_b;
    int64_t    classes, pairs, vectors;
    int64_t    scores; // of a row, before the second of two classes is added
    int64_t    rhos;
    HoloMlPost post;
    bool       both; // one score tells two classes apart
    bool       proba;
    bool       positive; // no coefficient is below 0
} Classifier;

// Memory for a row: scores, scores of pairs, votes, and two matrices of classes for probabilities.
typedef struct Room {
    double *scores, *votes, *r, *q;
} Room;

static HoloStatus read_classifier(const HoloCall *call, Classifier *c)
{
    HoloTensor rho;
    HOLO_TRY(holo_ml_labels(call, "classlabels_ints", "classlabels_strings", &c->labels));
    HOLO_TRY(holo_ml_list(call, "vectors_per_class", HOLO_BIT(I64), &c->per_class));
    HOLO_TRY(holo_ml_list(call, "prob_a", HOLO_BIT(F32), &c->prob_a));
    HOLO_TRY(holo_ml_list(call, "prob_b", HOLO_BIT(F32), &c->prob_b));
    HOLO_TRY(holo_ml_list(call, "rho", HOLO_BIT(F32), &rho));
    c->classes = c->labels.dim[0];
    c->pairs   = c->classes * (c->classes - 1) / 2;
    c->vectors = 0;
    for (int64_t i = 0; i < c->per_class.dim[0]; i++) {
        int64_t count = holo_get_i(&c->per_class, i);
        if (count < 0 || !holo_add(c->vectors, count, &c->vectors))
            return holo_call_fail(call, HOLO_BAD_MODEL, "vectors_per_class has the number %lld", (long long)count);
    }
    c->proba = c->vectors > 0 && c->prob_a.dim[0] > 0;
    if (c->vectors > 0) {
        HOLO_TRY(holo_ml_expect_count(call, "vectors_per_class", &c->per_class, c->classes));
        HOLO_TRY(holo_ml_expect_count(call, "rho", &rho, c->pairs));
    }
    if (c->proba) {
        HOLO_TRY(holo_ml_expect_count(call, "prob_a", &c->prob_a, c->pairs));
        HOLO_TRY(holo_ml_expect_count(call, "prob_b", &c->prob_b, c->pairs));
    }
    HOLO_TRY(holo_ml_post_find(call, &c->post));
    c->rhos     = rho.dim[0];
    c->scores   = c->vectors > 0 && !c->proba ? c->pairs : c->classes;
    c->both     = c->scores == 1 && c->classes == 2 && c->rhos == 1 && c->post != HOLO_ML_PROBIT;
    c->positive = true;
    return HOLO_OK;
}

static HoloStatus room_take(const HoloCall *call, const Classifier *c, Room *room)
{
    void   *memory;
    int64_t k = c->classes, matrix = c->proba ? k * k : 0, places = c->pairs > k ? c->pairs : k + 1;
    HOLO_TRY(holo_call_temp(call, (size_t)(places + k + 2 * matrix + k), sizeof(double), &memory));
    room->scores = memory;
    room->votes  = room->scores + places;
    room->r      = room->votes + k;
    room->q      = room->r + matrix;
    return HOLO_OK;
}

static HoloStatus classifier_infer(HoloCall *call)
{
    Classifier c;
    HOLO_TRY(holo_ml_expect_rows(call));
    HOLO_TRY(read_classifier(call, &c));
    return holo_ml_out_scores(call, &c.labels, c.both ? 2 : c.scores);
}

static double dot(int64_t n, const float *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)x[i] * y[i];
    return sum;
}

// A score for each pair of classes.
static void score_pairs(const Svm *svm, const Classifier *c, double *scores)
{
    const float *weights = svm->coefficients.data;
    int64_t      pair = 0, from_i = 0;
    for (int64_t i = 0; i < c->classes; i++) {
        int64_t count_i = holo_get_i(&c->per_class, i), from_j = from_i + count_i;
        for (int64_t j = i + 1; j < c->classes; j++, pair++) {
            int64_t count_j = holo_get_i(&c->per_class, j);
            scores[pair]    = holo_get_f(&svm->rho, pair) +
                           dot(count_i, weights + (j - 1) * c->vectors + from_i, svm->values + from_i) +
                           dot(count_j, weights + i * c->vectors + from_j, svm->values + from_j);
            from_j += count_j;
        }
        from_i += count_i;
    }
}

// Votes for the class that each score favors.
static void vote(const Classifier *c, const Room *room)
{
    int64_t pair = 0;
    for (int64_t i = 0; i < c->classes; i++) room->votes[i] = 0;
    for (int64_t i = 0; i < c->classes; i++)
        for (int64_t j = i + 1; j < c->classes; j++, pair++) room->votes[room->scores[pair] > 0 ? i : j]++;
}

// Probabilities of k classes from r[i * k + j], the probability of i when it is i or j: the method of Wu,
// Lin and Weng that LIBSVM uses. `q` has room for k * (k + 1) numbers.
static void couple(int64_t k, const double *r, double *p, double *q)
{
    double *qp = q + k * k;
    for (int64_t t = 0; t < k; t++) {
        p[t]         = 1 / (double)k;
        q[t * k + t] = 0;
        for (int64_t j = 0; j < k; j++) {
            if (j == t) continue;
            q[t * k + t] += r[j * k + t] * r[j * k + t];
            q[t * k + j] = -r[j * k + t] * r[t * k + j];
        }
    }
    for (int64_t round = 0; round < (k > 100 ? k : 100); round++) {
        double pqp = 0, worst = 0;
        for (int64_t t = 0; t < k; t++) {
            qp[t] = 0;
            for (int64_t j = 0; j < k; j++) qp[t] += q[t * k + j] * p[j];
            pqp += p[t] * qp[t];
        }
        for (int64_t t = 0; t < k; t++) worst = fmax(worst, fabs(qp[t] - pqp));
        if (worst < 0.005 / (double)k) return;
        for (int64_t t = 0; t < k; t++) {
            double step = (pqp - qp[t]) / q[t * k + t];
            p[t] += step;
            pqp = (pqp + step * (step * q[t * k + t] + 2 * qp[t])) / (1 + step) / (1 + step);
            for (int64_t j = 0; j < k; j++) {
                qp[j] = (qp[j] + step * q[t * k + j]) / (1 + step);
                p[j] /= 1 + step;
            }
        }
    }
}

static void pairs_to_probabilities(const Classifier *c, double *scores, double *r, double *q)
{
    int64_t k = c->classes, pair = 0;
    for (int64_t i = 0; i < k; i++) {
        for (int64_t j = i + 1; j < k; j++, pair++) {
            double x     = scores[pair] * holo_get_f(&c->prob_a, pair) + holo_get_f(&c->prob_b, pair);
            double p     = fmin(fmax(1 - holo_ml_logistic(x), 1e-7), 1 - 1e-7);
            r[i * k + j] = p;
            r[j * k + i] = 1 - p;
        }
    }
    couple(k, r, scores, q);
}

static void put_label(const Classifier *c, const double *weights, HoloTensor *y, int64_t row)
{
    int64_t best = holo_ml_argmax(weights, c->vectors > 0 ? c->classes : c->scores);
    if (c->rhos == 1 && c->classes != 2 && c->labels.dtype == HOLO_I64) {
        holo_put_i(y, row, weights[best] > 0); // one class: in it or not
        return;
    }
    if (c->rhos == 1 && c->classes == 2 && !c->proba && c->positive && weights[best] >= 0.5) best = 1;
    holo_ml_put_label(y, row, &c->labels, best);
}

// Computes the outputs from the scores of a row: scores of pairs if there are vectors, scores of classes otherwise.
static void answer(HoloCall *call, const Classifier *c, const Room *room, int64_t row)
{
    HoloTensor *y = holo_out(call, 0), *z = holo_out(call, 1);
    double     *scores = room->scores;
    if (c->vectors > 0) vote(c, room);
    if (c->proba) pairs_to_probabilities(c, scores, room->r, room->q);
    if (y) put_label(c, c->vectors > 0 ? room->votes : scores, y, row);
    if (c->both) {
        scores[1] = scores[0];
        scores[0] = -scores[0];
    }
    int64_t count = c->both ? 2 : c->scores;
    holo_ml_post_apply(c->post, scores, count);
    if (z) holo_write_f(z, row * count, 1, count, scores);
}

static HoloStatus classifier_eval(HoloCall *call)
{
    Classifier c;
    Svm        svm;
    Room       room;
    HOLO_TRY(read_classifier(call, &c));
    HOLO_TRY(read_svm(call, c.vectors, &svm));
    int64_t k = c.classes, needed = 0;
    if (!holo_mul(c.vectors > 0 ? k - 1 : k, c.vectors > 0 ? c.vectors : svm.features, &needed) ||
        svm.coefficients.dim[0] < needed)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld coefficients for %lld classes",
                              (long long)svm.coefficients.dim[0], (long long)k);
    for (int64_t i = 0; i < svm.coefficients.dim[0]; i++)
        c.positive = c.positive && holo_get_f(&svm.coefficients, i) >= 0;
    HOLO_TRY(room_take(call, &c, &room));
    for (int64_t row = 0; row < holo_ml_row_count(call->in[0]); row++) {
        HOLO_TRY(holo_call_continue(call));
        read_row(call, &svm, row);
        if (c.vectors > 0) score_pairs(&svm, &c, room.scores);
        for (int64_t i = 0; i < k && c.vectors == 0; i++)
            room.scores[i] = holo_get_f(&svm.rho, 0) + kernel_value(&svm, LINEAR, &svm.coefficients, i * svm.features);
        answer(call, &c, &room, row);
    }
    return HOLO_OK;
}

// ---- SVMVotes: input 0 is the scores of pairs, [rows, pairs]; attributes are those of the SVMClassifier, and
// `positive`

static HoloStatus votes_infer(HoloCall *call)
{
    Classifier c;
    HOLO_TRY(holo_expect_rank(call, 0, 2, 2));
    HOLO_TRY(read_classifier(call, &c));
    HoloDim pairs = call->in[0]->dim[1];
    if (c.vectors < 1 || holo_dims_differ(pairs, c.pairs))
        return holo_call_fail(call, HOLO_BAD_MODEL, "there are no scores of %lld pairs", (long long)c.pairs);
    return holo_ml_out_scores(call, &c.labels, c.both ? 2 : c.scores);
}

static HoloStatus votes_eval(HoloCall *call)
{
    Classifier c;
    Room       room;
    HOLO_TRY(read_classifier(call, &c));
    c.positive = holo_attr_int(call, "positive", 0) != 0;
    if (call->in[0]->dim[1] != c.pairs) return holo_call_fail(call, HOLO_BAD_INPUT, "the pairs differ");
    HOLO_TRY(room_take(call, &c, &room));
    for (int64_t row = 0; row < call->in[0]->dim[0]; row++) {
        HOLO_TRY(holo_call_continue(call));
        holo_read_f(call->in[0], row * c.pairs, 1, c.pairs, room.scores);
        answer(call, &c, &room, row);
    }
    return HOLO_OK;
}

const HoloOp holo_ops_ml_svm[] = {
    {HOLO_ML_SCORER("SVMRegressor", regressor, 1)},
    {HOLO_ML_SCORER("SVMClassifier", classifier, 2)},
    {.name    = "SVMVotes",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 2,
     .types   = HOLO_BIT(F32),
     .infer   = votes_infer,
     .eval    = votes_eval},
    {0},
};
