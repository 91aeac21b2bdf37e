// ml.h - what the operators of ai.onnx.ml share: attributes as tensors, matrices of features, post
// transforms, labels, dictionaries.
#ifndef HOLO_OPS_ML_ML_H
#define HOLO_OPS_ML_ML_H

#include "ops/contract.h"
#include "ops/op.h"

#define HOLO_ML_NUMBERS (HOLO_BIT(F32) | HOLO_BIT(F64) | HOLO_BIT(I64) | HOLO_BIT(I32))

// An attribute that is a list or a tensor, as a tensor of rank 1: INTS are I64, FLOATS F32. One that
// is not given is an empty list. Fails where its dtype is not of the set.
HOLO_MUST HoloStatus holo_ml_list(const HoloCall *call, const char *name, uint64_t types, HoloTensor *out);
// The same of a list `name` or of a tensor `name_as_tensor`.
HOLO_MUST HoloStatus holo_ml_list_or_tensor(const HoloCall *call, const char *name, HoloTensor *out);
// Fails where the list has not `count` elements.
HOLO_MUST HoloStatus holo_ml_expect_count(const HoloCall *call, const char *name, const HoloTensor *list,
                                          int64_t count);

// Input 0 as rows of features: [N, C], or [C] as one row. Checked while inferring.
HOLO_MUST HoloStatus  holo_ml_expect_rows(const HoloCall *call);
static inline HoloDim holo_ml_row_count(const HoloTensor *x)
{
    return x->rank == 1 ? 1 : x->dim[0];
}
static inline HoloDim holo_ml_row_size(const HoloTensor *x)
{
    return x->dim[x->rank - 1];
}

// What is done to the scores of a row at the end.
typedef enum HoloMlPost { // numbers of TreeEnsemble's attribute
    HOLO_ML_NONE,
    HOLO_ML_SOFTMAX,
    HOLO_ML_LOGISTIC,
    HOLO_ML_SOFTMAX_ZERO,
    HOLO_ML_PROBIT,
    HOLO_ML_POST_COUNT
} HoloMlPost;
HOLO_MUST HoloStatus holo_ml_post_find(const HoloCall *call, HoloMlPost *out); // of "post_transform", by name
void                 holo_ml_post_apply(HoloMlPost post, double *scores, int64_t count);
double               holo_ml_logistic(double x);

// The labels of classes: one of two lists, of integers or of strings.
HOLO_MUST HoloStatus holo_ml_labels(const HoloCall *call, const char *ints, const char *strings, HoloTensor *out);
// out[at] = labels[label]; 0 or "" where there is no such label.
void holo_ml_put_label(HoloTensor *out, int64_t at, const HoloTensor *labels, int64_t label);

// Outputs of a classifier of rows: a label and `scores` scores for each.
HOLO_MUST HoloStatus holo_ml_out_scores(HoloCall *call, const HoloTensor *labels, HoloDim scores);

// A row of the operator table: an operator that gives scores to rows of features, by prefix_infer and prefix_eval.
#define HOLO_ML_SCORER(label, prefix, outputs)                                                                     \
    .name = label, .domain = "ai.onnx.ml", .since = 1, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = outputs, \
    .types = HOLO_ML_NUMBERS, .infer = prefix##_infer, .eval = prefix##_eval

// out[r * sets + s] = the sum of products of row first + r of x and of set s of the weights, a list of f32 in which a
// set has a number for each feature. In double.
void holo_ml_products(const HoloCall *call, const HoloTensor *x, int64_t first, int64_t rows, const HoloTensor *weights,
                      int64_t sets, HoloCell *out);
enum { HOLO_ML_ROWS = 64 }; // rows that are worth being multiplied together

int64_t holo_ml_argmax(const double *scores, int64_t count); // the first of the largest

// Finds elements in a list of keys. Of equal keys the last counts; all NaNs are equal.
typedef struct HoloMlDict {
    HoloTensor keys;
    uint64_t  *key;   // of numbers
    int64_t   *order; // indices, sorted by key
    int64_t   *slot;  // of numbers: 1 + the index of a key, or 0, found by the key
    int        bits;  // of the number of slots
} HoloMlDict;
// Its memory is that of holo_call_hold; the keys' elements stay where they are.
HOLO_MUST HoloStatus holo_ml_dict_init(HoloMlDict *dict, const HoloCall *call, const HoloTensor *keys);
// The index of the key equal to t[at], read as the keys' type; -1: none. Both are strings or both numbers.
int64_t holo_ml_dict_find(const HoloMlDict *dict, const HoloTensor *t, int64_t at);
// The same of `count` elements from `start` on, at most HOLO_TILE.
void holo_ml_dict_find_all(const HoloMlDict *dict, const HoloTensor *t, int64_t start, int64_t count, int64_t *out);

#endif
