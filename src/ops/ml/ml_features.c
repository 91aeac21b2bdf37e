// ml_features.c - tables of features made ready: Scaler, Normalizer, Imputer, Binarizer,
// ArrayFeatureExtractor, FeatureVectorizer.
#include "ops/ml/ml.h"

#include <math.h>
#include <string.h>

// ---- element by element: Binarizer, Scaler, Imputer

static HoloStatus binarizer_eval(HoloCall *call)
{
    const HoloTensor *in  = call->in[0];
    HoloTensor       *out = holo_out(call, 0);
    double            x[HOLO_TILE], threshold = holo_attr_float(call, "threshold", 0);
    for (int64_t k = 0, count = out ? holo_tensor_count(in) : 0; k < count; k += HOLO_TILE) {
        int64_t n = count - k < HOLO_TILE ? count - k : HOLO_TILE;
        holo_read_f(in, k, 1, n, x);
        for (int64_t j = 0; j < n; j++) x[j] = x[j] > threshold;
        holo_write_f(out, k, 1, n, x);
    }
    return HOLO_OK;
}

// A list with a number for each feature, or one for all.
static HoloStatus read_per_feature(const HoloCall *call, const char *name, uint64_t types, HoloTensor *out)
{
    const HoloTensor *x    = call->in[0];
    HoloDim           size = x->rank == 0 ? 1 : holo_ml_row_size(x);
    HOLO_TRY(holo_ml_list(call, name, types, out));
    if (out->dim[0] <= 1 || holo_dim_is_symbolic(size)) return HOLO_OK;
    return holo_ml_expect_count(call, name, out, size);
}

static HoloStatus scaler_infer(HoloCall *call)
{
    HoloTensor list;
    HOLO_TRY(read_per_feature(call, "offset", HOLO_BIT(F32), &list));
    HOLO_TRY(read_per_feature(call, "scale", HOLO_BIT(F32), &list));
    return holo_out_shape_like(call, 0, HOLO_F32, call->in[0]);
}

// A number for each of `size` features, whether the list has one or many.
static HoloStatus spread_features(const HoloCall *call, const HoloTensor *list, int64_t size, double fallback,
                                  double **out)
{
    HOLO_TRY(holo_call_temp(call, (size_t)size, sizeof(double), (void **)out));
    for (int64_t k = 0; k < size; k++)
        (*out)[k] = list->dim[0] == 0 ? fallback : holo_get_f(list, list->dim[0] == 1 ? 0 : k);
    return HOLO_OK;
}

static HoloStatus scaler_eval(HoloCall *call)
{
    const HoloTensor *in  = call->in[0];
    HoloTensor       *out = holo_out(call, 0), offset, scale;
    if (!out) return HOLO_OK;
    HOLO_TRY(read_per_feature(call, "offset", HOLO_BIT(F32), &offset));
    HOLO_TRY(read_per_feature(call, "scale", HOLO_BIT(F32), &scale));
    int64_t size = in->rank == 0 ? 1 : holo_ml_row_size(in);
    double *less, *times, x[HOLO_TILE];
    HOLO_TRY(spread_features(call, &offset, size, 0, &less));
    HOLO_TRY(spread_features(call, &scale, size, 1, &times));
    for (int64_t i = 0, k = 0, n, count = holo_tensor_count(in); i < count; i += n, k = k + n < size ? k + n : 0) {
        n = size - k < HOLO_TILE ? size - k : HOLO_TILE;
        holo_read_f(in, i, 1, n, x);
        for (int64_t j = 0; j < n; j++) x[j] = (x[j] - less[k + j]) * times[k + j];
        holo_write_f(out, i, 1, n, x);
    }
    return HOLO_OK;
}

static bool is_float(const HoloTensor *t)
{
    return holo_dtype_class((HoloDtype)t->dtype) == HOLO_CLASS_FLOAT;
}

static HoloStatus read_imputed(const HoloCall *call, HoloTensor *values)
{
    bool floats = is_float(call->in[0]);
    HOLO_TRY(read_per_feature(call, floats ? "imputed_value_floats" : "imputed_value_int64s",
                              floats ? HOLO_BIT(F32) : HOLO_BIT(I64), values));
    if (values->dim[0] > 0) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "there are no imputed values of the type of the input");
}

static HoloStatus imputer_infer(HoloCall *call)
{
    HoloTensor values;
    HOLO_TRY(read_imputed(call, &values));
    return holo_infer_same(call);
}

static HoloStatus imputer_eval(HoloCall *call)
{
    const HoloTensor *in           = call->in[0];
    HoloTensor       *out          = holo_out(call, 0), values;
    double            replaced     = holo_attr_float(call, "replaced_value_float", 0);
    int64_t           replaced_int = holo_attr_int(call, "replaced_value_int64", 0);
    if (!out) return HOLO_OK;
    HOLO_TRY(read_imputed(call, &values));
    int64_t count = holo_tensor_count(in), size = in->rank == 0 ? 1 : holo_ml_row_size(in);
    if (count > 0) memcpy(out->data, in->data, holo_tensor_bytes(in));
    for (int64_t i = 0, k = 0; i < count && !is_float(in); i++, k = k + 1 < size ? k + 1 : 0)
        if (holo_get_i(in, i) == replaced_int) holo_put_i(out, i, holo_get_i(&values, values.dim[0] == 1 ? 0 : k));
    double *by, x[HOLO_TILE];
    if (!is_float(in)) return HOLO_OK;
    HOLO_TRY(spread_features(call, &values, size, 0, &by));
    for (int64_t i = 0, k = 0, n; i < count; i += n, k = k + n < size ? k + n : 0) {
        n = size - k < HOLO_TILE ? size - k : HOLO_TILE;
        holo_read_f(in, i, 1, n, x);
        for (int64_t j = 0; j < n; j++)
            if (x[j] == replaced || (isnan(x[j]) && isnan(replaced))) holo_put_f(out, i + j, by[k + j]);
    }
    return HOLO_OK;
}

// ---- Normalizer

static const char *const norms[] = {"MAX", "L1", "L2", NULL};

static HoloStatus normalizer_infer(HoloCall *call)
{
    HOLO_TRY(holo_ml_expect_rows(call));
    HOLO_TRY(holo_attr_choice(call, "norm", "MAX", norms, NULL));
    return holo_out_shape_like(call, 0, HOLO_F32, call->in[0]);
}

enum { PARTS = 8 }; // of a sum, side by side: none waits for another

static double max_of(int64_t n, const double *x)
{
    double top = 0;
    for (int64_t k = 0; k < n; k++) top = fabs(x[k]) > top ? fabs(x[k]) : top; // no NaN is
    return top;
}

static double sum_of(int64_t n, const double *x, bool squares)
{
    double  part[PARTS] = {0};
    int64_t k           = 0;
    for (; k + PARTS <= n; k += PARTS)
        for (int l = 0; l < PARTS; l++) part[l] += squares ? x[k + l] * x[k + l] : fabs(x[k + l]);
    for (int l = 0; k < n; k++, l++) part[l] += squares ? x[k] * x[k] : fabs(x[k]);
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

static HoloStatus normalizer_eval(HoloCall *call)
{
    const HoloTensor *in  = call->in[0];
    HoloTensor       *out = holo_out(call, 0);
    bool              max = holo_attr_is(call, "norm", "MAX", "MAX"), l2 = holo_attr_is(call, "norm", "MAX", "L2");
    int64_t           size = holo_ml_row_size(in);
    void             *memory;
    if (!out) return HOLO_OK;
    HOLO_TRY(holo_call_temp(call, (size_t)size, sizeof(double), &memory));
    double *x = memory;
    for (int64_t row = 0; row < holo_ml_row_count(in); row++) {
        holo_read_f(in, row * size, 1, size, x);
        double norm = max ? max_of(size, x) : l2 ? sqrt(sum_of(size, x, true)) : sum_of(size, x, false);
        for (int64_t k = 0; k < size && norm != 0; k++) x[k] /= norm;
        holo_write_f(out, row * size, 1, size, x);
    }
    return HOLO_OK;
}

// ---- ArrayFeatureExtractor: columns chosen by their numbers

static HoloStatus extractor_infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *y = call->in[1];
    HoloDim           dim[HOLO_MAX_RANK] = {1}, count = 1;
    HOLO_TRY(holo_expect_rank(call, 0, 1, HOLO_MAX_RANK));
    HOLO_TRY(holo_expect_types(call, 1, HOLO_BIT(I64)));
    for (int i = 0; i < y->rank; i++) count = holo_dim_mul(call->dims, count, y->dim[i]);
    int rank = x->rank == 1 ? 2 : x->rank; // a vector gives a matrix of one row
    for (int i = 0; i < x->rank - 1; i++) dim[i] = x->dim[i];
    dim[rank - 1] = count;
    return holo_out_type(call, 0, (HoloDtype)x->dtype, rank, dim);
}

static HoloStatus extractor_eval(HoloCall *call)
{
    const HoloTensor *x = call->in[0], *y = call->in[1];
    HoloTensor       *out = holo_out(call, 0);
    int64_t size = holo_ml_row_size(x), rows = holo_product(x->rank - 1, x->dim), count = holo_tensor_count(y);
    size_t  bytes = holo_dtype_size((HoloDtype)x->dtype);
    if (!out) return HOLO_OK;
    for (int64_t k = 0; k < count; k++) {
        int64_t at = holo_get_i(y, k);
        if (at < 0 || at >= size)
            return holo_call_fail(call, HOLO_BAD_INPUT, "index %lld is outside the %lld features", (long long)at,
                                  (long long)size);
        if (rows > 0)
            holo_move(1, &rows, bytes, (char *)out->data + (size_t)k * bytes, &count,
                      (const char *)x->data + (size_t)at * bytes, &size);
    }
    return HOLO_OK;
}

// ---- FeatureVectorizer: tables side by side, each cut or filled with zeros to its given width

static HoloStatus read_widths(const HoloCall *call, HoloTensor *out)
{
    HOLO_TRY(holo_ml_list(call, "inputdimensions", HOLO_BIT(I64), out));
    return out->dim[0] > 0 ? holo_ml_expect_count(call, "inputdimensions", out, call->in_count) : HOLO_OK;
}

// The product of all dimensions but the first. A tensor with one dimension is one row.
static HoloDim row_size(const HoloCall *call, const HoloTensor *x)
{
    HoloDim size = x->rank == 1 ? x->dim[0] : 1;
    for (int d = 1; d < x->rank; d++) size = holo_dim_mul(call->dims, size, x->dim[d]);
    return size;
}

static HoloDim width_of(const HoloCall *call, const HoloTensor *widths, int i)
{
    return widths->dim[0] > 0 ? holo_get_i(widths, i) : row_size(call, call->in[i]);
}

static HoloStatus vectorizer_infer(HoloCall *call)
{
    HoloTensor widths;
    HoloDim    rows = 1, total = 0;
    HOLO_TRY(read_widths(call, &widths));
    for (int i = 0; i < call->in_count; i++) {
        if (!call->in[i]) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", i);
        HOLO_TRY(holo_expect_types(call, i, HOLO_ML_NUMBERS));
        HOLO_TRY(holo_expect_rank(call, i, 1, HOLO_MAX_RANK));
        HoloDim width = width_of(call, &widths, i), count = holo_ml_row_count(call->in[i]);
        if (!holo_dim_is_symbolic(width) && width < 0)
            return holo_call_fail(call, HOLO_BAD_MODEL, "inputdimensions has the size %lld", (long long)width);
        if (i > 0 && holo_dims_differ(count, rows))
            return holo_call_fail(call, HOLO_BAD_MODEL, "input %d has %lld rows, not %lld", i, (long long)count,
                                  (long long)rows);
        if (i == 0 || holo_dim_is_symbolic(rows)) rows = count;
        total = holo_dim_add(call->dims, total, width);
    }
    return holo_out_type(call, 0, HOLO_F32, 2, (HoloDim[]){rows, total});
}

static HoloStatus vectorizer_eval(HoloCall *call)
{
    HoloTensor *out  = holo_out(call, 0), widths;
    int64_t     from = 0;
    if (!out) return HOLO_OK;
    HOLO_TRY(read_widths(call, &widths));
    if (holo_tensor_count(out) > 0) memset(out->data, 0, holo_tensor_bytes(out));
    for (int i = 0; i < call->in_count; i++) {
        int64_t width = width_of(call, &widths, i), size = row_size(call, call->in[i]);
        int64_t used = size < width ? size : width;
        double  x[HOLO_TILE];
        for (int64_t row = 0; row < out->dim[0]; row++) {
            for (int64_t k = 0; k < used; k += HOLO_TILE) {
                int64_t n = used - k < HOLO_TILE ? used - k : HOLO_TILE;
                holo_read_f(call->in[i], row * size + k, 1, n, x);
                holo_write_f(out, row * out->dim[1] + from + k, 1, n, x);
            }
        }
        from += width;
    }
    return HOLO_OK;
}

#define ROW(text, ins, dtypes, how_infer, how_eval)                                                                 \
    {                                                                                                               \
        .name = text, .domain = "ai.onnx.ml", .since = 1, .in_min = ins > 0 ? ins : 1, .in_max = ins, .out_min = 1, \
        .out_max = 1, .types = dtypes, .infer = how_infer, .eval = how_eval                                         \
    }

const HoloOp holo_ops_ml_features[] = {
    ROW("Binarizer", 1, HOLO_ML_NUMBERS, holo_infer_same, binarizer_eval),
    ROW("Scaler", 1, HOLO_ML_NUMBERS, scaler_infer, scaler_eval),
    ROW("Imputer", 1, HOLO_ML_NUMBERS, imputer_infer, imputer_eval),
    ROW("Normalizer", 1, HOLO_ML_NUMBERS, normalizer_infer, normalizer_eval),
    ROW("ArrayFeatureExtractor", 2, HOLO_ML_NUMBERS | HOLO_BIT(STRING), extractor_infer, extractor_eval),
    ROW("FeatureVectorizer", -1, HOLO_ML_NUMBERS, vectorizer_infer, vectorizer_eval),
    {0},
};
