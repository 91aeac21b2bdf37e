// loss.c - SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss.
//
// The scores are [N, C, D..], the targets [N, D..] name a class each. Both losses are the weighted
// negative of the score of the target class; the first takes log-softmax over the classes before.
#include "ops/op.h"
#include "ops/rows.h"
#include "ops/standard/softmax.h"

typedef enum Reduction { REDUCE_NONE, REDUCE_SUM, REDUCE_MEAN } Reduction;

static HoloStatus find_reduction(const HoloCall *call, Reduction *out)
{
    static const char *const names[] = {"none", "sum", "mean", NULL};
    int                      at;
    HOLO_TRY(holo_attr_choice(call, "reduction", "mean", names, &at));
    *out = (Reduction)at;
    return HOLO_OK;
}

static HoloStatus infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *target = call->in[1], *weight = holo_in(call, 2);
    Reduction         reduction;
    HOLO_TRY(find_reduction(call, &reduction));
    HOLO_TRY(holo_expect_rank(call, 0, 2, HOLO_MAX_RANK));
    HOLO_TRY(holo_expect_rank(call, 1, x->rank - 1, x->rank - 1));
    HOLO_TRY(holo_expect_types(call, 1, HOLO_BIT(I32) | HOLO_BIT(I64)));
    HOLO_TRY(holo_expect_types(call, 2, HOLO_TYPES_FLOAT));
    HOLO_TRY(holo_expect_rank(call, 2, 1, 1));
    for (int i = 0; i < target->rank; i++) {
        HoloDim have = target->dim[i], want = x->dim[i == 0 ? 0 : i + 1];
        if (holo_dims_differ(have, want))
            return holo_call_fail(call, HOLO_BAD_MODEL, "the targets' dimension %d is %lld, that of the scores %lld", i,
                                  (long long)have, (long long)want);
    }
    if (weight && holo_dims_differ(weight->dim[0], x->dim[1]))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld weights for %lld classes", (long long)weight->dim[0],
                              (long long)x->dim[1]);
    HOLO_TRY(holo_out_like(call, 1, x));
    return holo_out_type(call, 0, (HoloDtype)x->dtype, reduction == REDUCE_NONE ? target->rank : 0, target->dim);
}

// Some targets: the classes that they name, and their weights, 0 where they are ignored.
static HoloStatus read_targets(const HoloCall *call, int64_t first, int64_t count, int64_t *class, double *weight)
{
    const HoloAttr   *ignored = holo_attr_find(call, "ignore_index");
    const HoloTensor *weights = holo_in(call, 2);
    int64_t           classes = call->in[0]->dim[1];
    bool              some    = ignored && ignored->kind == HOLO_ATTR_INT;
    holo_read_i(call->in[1], first, 1, count, class);
    for (int64_t k = 0; k < count; k++) {
        weight[k] = 0;
        if (some && class[k] == ignored->i) {
            class[k] = 0;
            continue;
        }
        if (class[k] < 0 || class[k] >= classes)
            return holo_call_fail(call, HOLO_BAD_INPUT, "target %lld is outside the %lld classes", (long long)class[k],
                                  (long long)classes);
        weight[k] = weights ? holo_get_f(weights, class[k]) : 1;
    }
    return HOLO_OK;
}

// The scores of the classes that some rows should have; 0 where there are no classes.
static void read_scores(const HoloTensor *in, HoloRows rows, int64_t first, int64_t count, const int64_t *class,
                        double *out)
{
    int64_t start = holo_row_start(rows, first), place = first % rows.inner;
    for (int64_t k = 0; k < count; k++, start++) {
        int64_t at = start + class[k] * rows.inner;
        if (++place == rows.inner) place = 0, start += (rows.size - 1) * rows.inner; // the next image
        out[k] = !rows.size ? 0 : in->dtype == HOLO_F32 ? (double)((const float *)in->data)[at] : holo_get_f(in, at);
    }
}

// The same after log-softmax, which is kept if it is wanted. `x` has room for a row.
static void read_log_scores(const HoloTensor *in, HoloRows rows, int64_t first, int64_t count, const int64_t *class,
                            double *x, HoloTensor *log_prob, double *out)
{
    for (int64_t k = 0; k < count && rows.size > 0; k++) {
        int64_t start = holo_row_start(rows, first + k);
        holo_read_f(in, start, rows.inner, rows.size, x);
        holo_log_softmax(x, rows.size);
        if (log_prob) holo_write_f(log_prob, start, rows.inner, rows.size, x);
        out[k] = x[class[k]];
    }
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *in  = call->in[0];
    HoloTensor       *out = holo_out(call, 0), *log_prob = holo_out(call, 1);
    HoloRows          rows = holo_rows(in, 1, 2);
    int64_t           all  = holo_row_count(rows), class[HOLO_TILE];
    Reduction         reduction;
    double            loss = 0, total = 0, weight[HOLO_TILE], score[HOLO_TILE] = {0};
    void             *memory;
    HOLO_TRY(find_reduction(call, &reduction));
    HOLO_TRY(holo_call_temp(call, (size_t)rows.size, sizeof(double), &memory));
    for (int64_t row = 0; row < all; row += HOLO_TILE) {
        HOLO_TRY(holo_call_continue(call));
        int64_t count = all - row < HOLO_TILE ? all - row : HOLO_TILE;
        HOLO_TRY(read_targets(call, row, count, class, weight));
        if (call->op->row)
            read_log_scores(in, rows, row, count, class, memory, log_prob, score);
        else
            read_scores(in, rows, row, count, class, score);
        for (int64_t k = 0; k < count; k++) {
            score[k] =
                weight[k] != 0 ? -weight[k] * score[k] : 0; // of no weight: nothing, even if the score is infinite
            loss += score[k];
            total += weight[k];
        }
        if (out && reduction == REDUCE_NONE) holo_write_f(out, row, 1, count, score);
    }
    if (out && reduction != REDUCE_NONE) holo_put_f(out, 0, reduction == REDUCE_MEAN ? loss / total : loss);
    return HOLO_OK;
}

static const bool softmax = true;

#define LOSS(text, outs, how)                                                                             \
    {                                                                                                     \
        .name = text, .domain = "", .since = 12, .in_min = 2, .in_max = 3, .out_min = 1, .out_max = outs, \
        .types = HOLO_TYPES_FLOAT, .infer = infer, .eval = eval, .row = how                               \
    }

const HoloOp holo_ops_loss[] = {
    LOSS("SoftmaxCrossEntropyLoss", 2, &softmax),
    LOSS("NegativeLogLikelihoodLoss", 1, NULL),
    {0},
};
