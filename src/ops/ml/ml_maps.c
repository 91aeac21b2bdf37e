// ml_maps.c - maps to tensors and back: DictVectorizer, CastMap, ZipMap.
//
// A map is two tensors of one dimension, its keys and its values.
#include "ops/ml/ml.h"
#include "ops/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static HoloStatus expect_map(const HoloCall *call)
{
    if (call->in[0]->kind == HOLO_MAP) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "the input is not a map");
}

// The keys and values of the input. There must be as many keys as values.
static HoloStatus read_map(const HoloCall *call, const HoloTensor **keys, const HoloTensor **values)
{
    const HoloTensor *parts = call->in[0]->data;
    if (!parts || parts[0].rank != 1 || parts[1].rank != 1 || parts[0].dim[0] != parts[1].dim[0])
        return holo_call_fail(call, HOLO_BAD_INPUT, "the input is not a map of as many keys as values");
    *keys   = &parts[0];
    *values = &parts[1];
    return HOLO_OK;
}

// ---- DictVectorizer: the values at the places that a vocabulary gives to their keys

static HoloStatus dict_infer(HoloCall *call)
{
    HoloTensor words;
    HOLO_TRY(expect_map(call));
    HOLO_TRY(holo_ml_labels(call, "int64_vocabulary", "string_vocabulary", &words));
    return holo_out_type(call, 0, (HoloDtype)call->in[0]->dtype, 2, (HoloDim[]){1, words.dim[0]});
}

static HoloStatus dict_eval(HoloCall *call)
{
    const HoloTensor *keys, *values;
    HoloTensor       *out = holo_out(call, 0), words;
    HoloMlDict        dict;
    if (!out) return HOLO_OK;
    HOLO_TRY(read_map(call, &keys, &values));
    HOLO_TRY(holo_ml_labels(call, "int64_vocabulary", "string_vocabulary", &words));
    if ((words.dtype == HOLO_STRING) != (keys->dtype == HOLO_STRING) || values->dtype != out->dtype)
        return holo_call_fail(call, HOLO_BAD_INPUT, "the map's types are not those of the vocabulary and the output");
    HOLO_TRY(holo_ml_dict_init(&dict, call, &words));
    size_t size = holo_dtype_size((HoloDtype)out->dtype);
    memset(out->data, 0, holo_tensor_bytes(out));
    for (int64_t i = 0; out->dtype == HOLO_STRING && i < words.dim[0]; i++)
        ((HoloString *)out->data)[i] = (HoloString){"", 0};
    for (int64_t i = 0; i < keys->dim[0]; i++) {
        int64_t at = holo_ml_dict_find(&dict, keys, i);
        if (at >= 0) memcpy((char *)out->data + (size_t)at * size, (const char *)values->data + (size_t)i * size, size);
    }
    return HOLO_OK;
}

// ---- CastMap: the values in the order of their keys, or at the places that these name

static HoloStatus cast_dtype(const HoloCall *call, HoloDtype *out)
{
    static const struct {
        const char *name;
        HoloDtype   dtype;
    } casts[] = {{"TO_FLOAT", HOLO_F32}, {"TO_STRING", HOLO_STRING}, {"TO_INT64", HOLO_I64}};
    for (int i = 0; i < HOLO_COUNT(casts); i++) {
        *out = casts[i].dtype;
        if (holo_attr_is(call, "cast_to", "TO_FLOAT", casts[i].name)) return HOLO_OK;
    }
    return holo_call_fail(call, HOLO_BAD_MODEL, "cast_to is not one of TO_FLOAT, TO_STRING, TO_INT64");
}

static HoloStatus cast_infer(HoloCall *call)
{
    bool      dense = holo_attr_is(call, "map_form", "DENSE", "DENSE");
    int64_t   room  = holo_attr_int(call, "max_map", 1);
    HoloDtype dtype;
    HOLO_TRY(expect_map(call));
    HOLO_TRY(cast_dtype(call, &dtype));
    if (!dense && (!holo_attr_is(call, "map_form", "DENSE", "SPARSE") || room < 1))
        return holo_call_fail(call, HOLO_BAD_MODEL, "map_form is neither DENSE nor SPARSE with a max_map above 0");
    return holo_out_type(call, 0, dtype, 2, (HoloDim[]){1, dense ? HOLO_DIM_UNKNOWN : room});
}

// out[to] = values[from]. Where the types differ, a number becomes a string or a string a number.
static HoloStatus cast_value(const HoloCall *call, const HoloTensor *values, int64_t from, HoloTensor *out, int64_t to)
{
    char text[64];
    if (values->dtype == HOLO_STRING && out->dtype == HOLO_STRING) {
        ((HoloString *)out->data)[to] = ((const HoloString *)values->data)[from];
    } else if (values->dtype == HOLO_STRING) {
        HoloString s   = ((const HoloString *)values->data)[from];
        char      *end = text;
        if (s.size > 0 && s.size < sizeof text) {
            memcpy(text, s.data, s.size);
            text[s.size] = 0;
            double x     = strtod(text, &end);
            holo_put_f(out, to, x);
        }
        if (end == text || *end)
            return holo_call_fail(call, HOLO_BAD_INPUT, "the value of a key is a string, not a number");
    } else if (out->dtype == HOLO_STRING) {
        int   size = snprintf(text, sizeof text, "%f", holo_get_f(values, from));
        char *copy = call->host->keep(call->host, sizeof text);
        if (!copy) return holo_call_fail(call, HOLO_NO_MEMORY, "no memory for a string");
        memcpy(copy, text, sizeof text);
        ((HoloString *)out->data)[to] = (HoloString){copy, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1};
    } else {
        holo_put_f(out, to, holo_get_f(values, from));
    }
    return HOLO_OK;
}

static int compare_keys(const void *context, int64_t a, int64_t b)
{
    int64_t x = holo_get_i(context, a), y = holo_get_i(context, b);
    return (x > y) - (x < y);
}

static HoloStatus cast_eval(HoloCall *call)
{
    const HoloTensor *keys, *values;
    HoloTensor       *out   = holo_out(call, 0);
    bool              dense = holo_attr_is(call, "map_form", "DENSE", "DENSE");
    void             *order, *scratch;
    if (!out) return HOLO_OK;
    HOLO_TRY(read_map(call, &keys, &values));
    if (keys->dtype != HOLO_I64) return holo_call_fail(call, HOLO_BAD_INPUT, "the keys are not of type i64");
    int64_t count = keys->dim[0];
    if (dense) out->dim[1] = count;
    HOLO_TRY(holo_out_alloc(call, 0));
    for (int64_t i = 0; i < out->dim[1]; i++) {
        if (out->dtype == HOLO_STRING)
            ((HoloString *)out->data)[i] = (HoloString){"", 0};
        else
            holo_put_i(out, i, 0);
    }
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof(int64_t), &order));
    HOLO_TRY(holo_call_temp(call, (size_t)count, sizeof(int64_t), &scratch));
    int64_t *index = order;
    for (int64_t i = 0; i < count; i++) index[i] = i;
    holo_sort(index, scratch, count, compare_keys, keys);
    for (int64_t i = 0; i < count; i++) {
        int64_t to = dense ? i : holo_get_i(keys, index[i]);
        if (to < 0 || to >= out->dim[1])
            return holo_call_fail(call, HOLO_BAD_INPUT, "key %lld is outside max_map %lld", (long long)to,
                                  (long long)out->dim[1]);
        HOLO_TRY(cast_value(call, values, index[i], out, to));
    }
    return HOLO_OK;
}

// ---- ZipMap: each row of scores as a map from labels to them

static HoloStatus zip_infer(HoloCall *call)
{
    const HoloTensor *x = call->in[0];
    HoloTensor        labels, *out = holo_out(call, 0);
    HOLO_TRY(holo_ml_expect_rows(call));
    HOLO_TRY(holo_ml_labels(call, "classlabels_int64s", "classlabels_strings", &labels));
    if (!holo_dim_is_symbolic(holo_ml_row_size(x)))
        HOLO_TRY(holo_ml_expect_count(call, "the list of labels", &labels, holo_ml_row_size(x)));
    HOLO_TRY(holo_out_type(call, 0, HOLO_F32, 1, (HoloDim[]){holo_ml_row_count(x)}));
    if (out) out->kind = HOLO_SEQUENCE;
    if (out) out->inner = HOLO_MAP;
    return HOLO_OK;
}

static HoloStatus keep(const HoloCall *call, int64_t count, size_t size, void **out)
{
    size_t bytes;
    *out = holo_size_mul((size_t)count, size, &bytes) ? call->host->keep(call->host, bytes ? bytes : 1) : NULL;
    return *out ? HOLO_OK : holo_call_fail(call, HOLO_NO_MEMORY, "no memory for %lld maps", (long long)count);
}

static HoloStatus zip_eval(HoloCall *call)
{
    const HoloTensor *x   = call->in[0];
    HoloTensor       *out = holo_out(call, 0), labels;
    void             *memory, *scores;
    if (!out) return HOLO_OK;
    HOLO_TRY(holo_ml_labels(call, "classlabels_int64s", "classlabels_strings", &labels));
    int64_t rows = holo_ml_row_count(x), size = holo_ml_row_size(x);
    HOLO_TRY(keep(call, rows, 3 * sizeof(HoloTensor), &memory)); // the maps, then keys and values of each
    HOLO_TRY(keep(call, holo_tensor_count(x), sizeof(float), &scores));
    HoloTensor *maps = memory, *parts = maps + rows;
    if (holo_tensor_count(x) > 0) memcpy(scores, x->data, holo_tensor_bytes(x));
    for (int64_t i = 0; i < rows; i++, parts += 2) {
        maps[i]  = (HoloTensor){.dtype = HOLO_F32, .kind = HOLO_MAP, .rank = 1, .dim = {2}, .data = parts};
        parts[0] = labels;
        parts[1] = (HoloTensor){.dtype = HOLO_F32, .rank = 1, .dim = {size}, .data = (float *)scores + i * size};
    }
    out->data = maps;
    return HOLO_OK;
}

#define ROW(text, dtypes, bits, family)                                                                         \
    {                                                                                                           \
        .name = text, .domain = "ai.onnx.ml", .since = 1, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1, \
        .types = dtypes, .flags = bits, .infer = family##_infer, .eval = family##_eval                          \
    }

const HoloOp holo_ops_ml_maps[] = {
    ROW("DictVectorizer", HOLO_ML_NUMBERS | HOLO_BIT(STRING), HOLO_OP_KINDS, dict),
    ROW("CastMap", HOLO_BIT(F32) | HOLO_BIT(STRING), HOLO_OP_KINDS | HOLO_OP_DYNAMIC, cast),
    ROW("ZipMap", HOLO_BIT(F32), 0, zip),
    {0},
};
