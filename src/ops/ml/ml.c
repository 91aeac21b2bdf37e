// ml.c - what the operators of ai.onnx.ml share.
#include "ops/ml/ml.h"
#include "base/math/math.h"
#include "ops/order.h"
#include "ops/standard/softmax.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- attributes

HoloStatus holo_ml_list(const HoloCall *call, const char *name, uint64_t types, HoloTensor *out)
{
    const HoloAttr *a = holo_attr_find(call, name);
    *out              = (HoloTensor){.rank = 1};
    if (!a) return HOLO_OK;
    if (a->kind == HOLO_ATTR_TENSOR) {
        int64_t count = a->tensor->kind == HOLO_TENSOR ? holo_tensor_count(a->tensor) : -1;
        if (count < 0 || (count > 0 && !a->tensor->data))
            return holo_call_fail(call, HOLO_BAD_MODEL, "attribute %s has no contents", name);
        *out = (HoloTensor){.dtype = a->tensor->dtype, .rank = 1, .dim = {count}, .data = a->tensor->data};
    } else {
        static const struct {
            int       kind;
            HoloDtype dtype;
        } lists[] = {{HOLO_ATTR_INTS, HOLO_I64}, {HOLO_ATTR_FLOATS, HOLO_F32}, {HOLO_ATTR_STRINGS, HOLO_STRING}};
        for (int i = 0; i < HOLO_COUNT(lists); i++)
            if (a->kind == lists[i].kind)
                *out = (HoloTensor){.dtype = lists[i].dtype, .rank = 1, .dim = {a->count}, .data = (void *)a->ints};
    }
    if (out->dim[0] == 0 && out->dtype != HOLO_NONE) return HOLO_OK;
    if (types >> out->dtype & 1) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "attribute %s is of another type than %s has", name, call->op->name);
}

HoloStatus holo_ml_list_or_tensor(const HoloCall *call, const char *name, HoloTensor *out)
{
    char longer[64];
    HOLO_TRY(holo_ml_list(call, name, HOLO_BIT(F32), out));
    if (out->dim[0] > 0) return HOLO_OK;
    snprintf(longer, sizeof longer, "%s_as_tensor", name);
    return holo_ml_list(call, longer, HOLO_TYPES_FLOAT, out);
}

HoloStatus holo_ml_expect_count(const HoloCall *call, const char *name, const HoloTensor *list, int64_t count)
{
    if (list->dim[0] == count) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "%s has %lld elements, not %lld", name, (long long)list->dim[0],
                          (long long)count);
}

HoloStatus holo_ml_expect_rows(const HoloCall *call)
{
    return holo_expect_rank(call, 0, 1, 2);
}

// ---- scores

static const char *const post_names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};

HoloStatus holo_ml_post_find(const HoloCall *call, HoloMlPost *out)
{
    for (*out = HOLO_ML_NONE; *out < HOLO_ML_POST_COUNT; ++*out)
        if (holo_attr_is(call, "post_transform", "NONE", post_names[*out])) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "post_transform is unknown");
}

double holo_ml_logistic(double x)
{
    double y = 1 / (1 + holo_exp(-fabs(x)));
    return x < 0 ? 1 - y : y;
}

// The inverse of the normal distribution, by the approximation that ONNX's reference has.
static double probit(double p)
{
    double x = 2 * p - 1, rest = (1 - x) * (1 + x);
    if (rest == 0) return 0;
    double a = 0.147, u = 2 / (3.14159265358979323846 * a) + 0.5 * holo_log(rest);
    double root = sqrt(sqrt(u * u - holo_log(rest) / a) - u);
    return 1.41421356 * (x < 0 ? -root : root);
}

// Softmax in which scores of 0 stay near 0.
static void softmax_zero(double *x, int64_t count)
{
    double top = x[0], sum = 0;
    for (int64_t k = 1; k < count; k++) top = fmax(top, x[k]);
    for (int64_t k = 0; k < count; k++) sum += x[k] = fabs(x[k]) > 1e-7 ? holo_exp(x[k] - top) : x[k] * holo_exp(-top);
    for (int64_t k = 0; k < count; k++) x[k] = sum == 0 ? 0.5 : x[k] / sum;
}

void holo_ml_post_apply(HoloMlPost post, double *scores, int64_t count)
{
    if (count == 0) return;
    if (post == HOLO_ML_SOFTMAX) holo_softmax(scores, count);
    if (post == HOLO_ML_SOFTMAX_ZERO) softmax_zero(scores, count);
    for (int64_t k = 0; k < count; k++) {
        if (post == HOLO_ML_LOGISTIC) scores[k] = holo_ml_logistic(scores[k]);
        if (post == HOLO_ML_PROBIT) scores[k] = probit(scores[k]);
    }
}

HoloStatus holo_ml_out_scores(HoloCall *call, const HoloTensor *labels, HoloDim scores)
{
    HoloDim rows = holo_ml_row_count(call->in[0]);
    HOLO_TRY(holo_out_type(call, 0, (HoloDtype)labels->dtype, 1, &rows));
    return holo_out_type(call, 1, HOLO_F32, 2, (HoloDim[]){rows, scores});
}

int64_t holo_ml_argmax(const double *scores, int64_t count)
{
    int64_t best = 0;
    for (int64_t k = 1; k < count; k++)
        if (scores[k] > scores[best]) best = k;
    return best;
}

// ---- products

typedef struct Products {
    const HoloTensor *x, *weights;
    int64_t           first;
} Products;

static void read_features(const HoloContract *c, int64_t batch, int64_t row, int64_t k, int64_t count, HoloCell *out)
{
    const Products *p = c->arg;
    (void)batch;
    holo_read_f(p->x, (p->first + row) * c->depth + k, 1, count, &out->f);
}

static void read_weights(const HoloContract *c, int64_t batch, int64_t k, int64_t set, int64_t count, HoloCell *out)
{
    const Products *p = c->arg;
    (void)batch;
    holo_read_f(p->weights, set * c->depth + k, c->depth, count, &out->f);
}

static void read_weights_down(const HoloContract *c, int64_t batch, int64_t k, int64_t set, int64_t count,
                              HoloCell *out)
{
    const Products *p = c->arg;
    (void)batch;
    holo_read_f(p->weights, set * c->depth + k, 1, count, &out->f);
}

void holo_ml_products(const HoloCall *call, const HoloTensor *x, int64_t first, int64_t rows, const HoloTensor *weights,
                      int64_t sets, HoloCell *out)
{
    Products     p = {.x = x, .weights = weights, .first = first};
    HoloContract c = {.batch  = 1,
                      .rows   = rows,
                      .cols   = sets,
                      .depth  = holo_ml_row_size(x),
                      .a      = read_features,
                      .b      = read_weights,
                      .b_down = read_weights_down,
                      .arg    = &p,
                      .cells  = out};
    holo_contract(call, &c);
}

// ---- labels

HoloStatus holo_ml_labels(const HoloCall *call, const char *ints, const char *strings, HoloTensor *out)
{
    HOLO_TRY(holo_ml_list(call, strings, HOLO_BIT(STRING), out));
    if (out->dim[0] == 0) HOLO_TRY(holo_ml_list(call, ints, HOLO_BIT(I64), out));
    if (out->dim[0] > 0) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "neither %s nor %s is given", ints, strings);
}

void holo_ml_put_label(HoloTensor *out, int64_t at, const HoloTensor *labels, int64_t label)
{
    bool there = label >= 0 && label < labels->dim[0];
    if (out->dtype == HOLO_STRING)
        ((HoloString *)out->data)[at] = there ? ((const HoloString *)labels->data)[label] : (HoloString){"", 0};
    else
        holo_put_i(out, at, there ? holo_get_i(labels, label) : 0);
}

// ---- dictionaries

static int compare_keys(const void *context, int64_t a, int64_t b)
{
    const HoloMlDict *dict = context;
    if (!dict->key) {
        const HoloString *text = dict->keys.data;
        return holo_string_compare(text[a], text[b]);
    }
    return (dict->key[a] > dict->key[b]) - (dict->key[a] < dict->key[b]);
}

enum { FAR = 16 }; // slots that a key may be behind its own

static size_t slot_of(uint64_t key, int bits)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}

// Puts all keys into slots, behind which FAR + 1 stay empty. Keys that crowd, as only those do that are made for it,
// are left to be searched.
static HoloStatus fill_slots(HoloMlDict *dict, const HoloCall *call)
{
    int64_t count = dict->keys.dim[0], *slot;
    int     bits  = 1;
    while (bits < 62 && INT64_C(1) << bits < 2 * count) bits++;
    HOLO_TRY(holo_call_hold(call, ((size_t)1 << bits) + FAR + 1, sizeof *slot, (void **)&slot));
    for (int64_t i = 0; i < count; i++) {
        int64_t *first = slot + slot_of(dict->key[i], bits), *at = first;
        while (*at && dict->key[*at - 1] != dict->key[i]) at++;
        if (at - first >= FAR) return HOLO_OK;
        *at = i + 1; // of equals, the last
    }
    dict->slot = slot;
    dict->bits = bits;
    return HOLO_OK;
}

HoloStatus holo_ml_dict_init(HoloMlDict *dict, const HoloCall *call, const HoloTensor *keys)
{
    int64_t count = keys->dim[0];
    void   *order, *scratch, *key = NULL;
    *dict = (HoloMlDict){.keys = *keys};
    HOLO_TRY(holo_call_hold(call, (size_t)count, sizeof(int64_t), &order));
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof(int64_t), &scratch));
    if (keys->dtype != HOLO_STRING) HOLO_TRY(holo_call_hold(call, (size_t)count, sizeof(uint64_t), &key));
    dict->order = order;
    dict->key   = key;
    if (key && count > 0) holo_read_keys(keys, 0, 1, count, key);
    for (int64_t i = 0; i < count; i++) dict->order[i] = i;
    holo_sort(dict->order, scratch, count, compare_keys, dict);
    return key ? fill_slots(dict, call) : HOLO_OK;
}

// The keys of elements that are numbers, read as the type of the dictionary's keys.
static void read_keys(const HoloMlDict *dict, const HoloTensor *t, int64_t start, int64_t count, uint64_t *out)
{
    if (t->dtype == dict->keys.dtype) {
        holo_read_keys(t, start, 1, count, out);
        return;
    }
    HoloTensor one = {.dtype = dict->keys.dtype};
    uint64_t   room;
    one.data = &room;
    for (int64_t k = 0; k < count; k++) {
        if (holo_dtype_class((HoloDtype)one.dtype) == HOLO_CLASS_FLOAT)
            holo_put_f(&one, 0, holo_get_f(t, start + k));
        else
            holo_put_i(&one, 0, holo_get_i(t, start + k));
        holo_read_keys(&one, 0, 1, 1, out + k);
    }
}

// A binary search: by `key` for numbers, by `text` for strings.
static int64_t search(const HoloMlDict *dict, uint64_t key, HoloString text)
{
    const HoloString *texts = dict->keys.data;
    int64_t           low = 0, high = dict->keys.dim[0]; // the first key above
    while (low < high) {
        int64_t middle = low + (high - low) / 2, i = dict->order[middle];
        bool    above = dict->key ? dict->key[i] > key : holo_string_compare(texts[i], text) > 0;
        if (above)
            high = middle;
        else
            low = middle + 1;
    }
    if (low == 0) return -1;
    int64_t found = dict->order[low - 1];
    bool    equal = dict->key ? dict->key[found] == key : holo_string_equal(texts[found], text);
    return equal ? found : -1;
}

void holo_ml_dict_find_all(const HoloMlDict *dict, const HoloTensor *t, int64_t start, int64_t count, int64_t *out)
{
    uint64_t keys[HOLO_TILE];
    if (!dict->key) {
        const HoloString *text = (const HoloString *)t->data + start;
        for (int64_t k = 0; k < count; k++) out[k] = search(dict, 0, text[k]);
        return;
    }
    read_keys(dict, t, start, count, keys);
    for (int64_t k = 0; k < count; k++) {
        if (!dict->slot) {
            out[k] = search(dict, keys[k], (HoloString){0});
            continue;
        }
        const int64_t *slot = dict->slot + slot_of(keys[k], dict->bits), *end = slot + FAR;
        while (slot < end && *slot && dict->key[*slot - 1] != keys[k]) slot++;
        out[k] = slot < end ? *slot - 1 : -1;
    }
}

int64_t holo_ml_dict_find(const HoloMlDict *dict, const HoloTensor *t, int64_t at)
{
    int64_t found;
    holo_ml_dict_find_all(dict, t, at, 1, &found);
    return found;
}
