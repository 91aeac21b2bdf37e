// loss.c - SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss.
//
// The scores are [N, C, D..], the targets [N, D..] name a class each. Both losses are the weighted
// negative of the score of the target class; the first takes log-softmax over the classes before.
#include "ops/op.h"
#include "ops/rows.h"
#include "ops/softmax.h"

typedef enum Reduction { REDUCE_NONE, REDUCE_SUM, REDUCE_MEAN, REDUCE_COUNT } Reduction;

static HoloStatus find_reduction(const HoloCall *call, Reduction *out)
{
    static const char *const names[] = {"none", "sum", "mean"};
    for (*out = REDUCE_NONE; *out < REDUCE_COUNT; ++*out)
        if (holo_attr_is(call, "reduction", "mean", names[*out])) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "reduction is not one of none, sum, mean");
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
        if (have != want && !holo_dim_is_symbolic(have) && !holo_dim_is_symbolic(want))
            return holo_call_fail(call, HOLO_BAD_MODEL, "the targets' dimension %d is %lld, that of the scores %lld", i,
                                  (long long)have, (long long)want);
    }
    if (weight && weight->dim[0] != x->dim[1] && !holo_dim_is_symbolic(weight->dim[0]) &&
        !holo_dim_is_symbolic(x->dim[1]))
        return holo_call_fail(call, HOLO_BAD_MODEL, "%lld weights for %lld classes", (long long)weight->dim[0],
                              (long long)x->dim[1]);
    HOLO_TRY(holo_out_like(call, 1, x));
    return holo_out_type(call, 0, (HoloDtype)x->dtype, reduction == REDUCE_NONE ? target->rank : 0, target->dim);
}

// One target: its weight (0 where it is ignored) and the class that it names.
static HoloStatus read_target(const HoloCall *call, int64_t place, int64_t *class, double *weight)
{
    const HoloAttr *ignored = holo_attr_find(call, "ignore_index");
    int64_t         classes = call->in[0]->dim[1];
    *class                  = holo_get_i(call->in[1], place);
    *weight                 = 0;
    if (ignored && ignored->kind == HOLO_ATTR_INT && *class == ignored->i) return HOLO_OK;
    if (*class < 0 || *class >= classes)
        return holo_call_fail(call, HOLO_BAD_INPUT, "target %lld is outside the %lld classes", (long long)*class,
                              (long long)classes);
    *weight = holo_in(call, 2) ? holo_get_f(call->in[2], *class) : 1;
    return HOLO_OK;
}

static HoloStatus eval(HoloCall *call)
{
    const HoloTensor *in  = call->in[0];
    HoloTensor       *out = holo_out(call, 0), *log_prob = holo_out(call, 1);
    bool              softmax = call->op->row != NULL;
    HoloRows          rows    = holo_rows(in, 1, 2);
    Reduction         reduction;
    double            loss = 0, weights = 0;
    void             *memory;
    HOLO_TRY(find_reduction(call, &reduction));
    HOLO_TRY(holo_call_temp(call, (size_t)rows.size, sizeof(double), &memory));
    double *x = memory;
    for (int64_t row = 0; row < holo_row_count(rows); row++) {
        int64_t start = holo_row_start(rows, row), class = 0;
        double  weight = 0;
        HOLO_TRY(read_target(call, row, &class, &weight));
        if (softmax && rows.size > 0) {
            holo_read_f(in, start, rows.inner, rows.size, x);
            holo_log_softmax(x, rows.size);
            if (log_prob) holo_write_f(log_prob, start, rows.inner, rows.size, x);
        }
        double one = 0; // a target of weight 0 counts for nothing, even if its score is infinite
        if (weight != 0) one = -weight * (softmax ? x[class] : holo_get_f(in, start + class * rows.inner));
        if (out && reduction == REDUCE_NONE) holo_put_f(out, row, one);
        loss += one;
        weights += weight;
    }
    if (out && reduction != REDUCE_NONE) holo_put_f(out, 0, reduction == REDUCE_MEAN ? loss / weights : loss);
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
