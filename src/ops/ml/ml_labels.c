// ml_labels.c - elements looked up in lists: LabelEncoder, CategoryMapper, OneHotEncoder.
#include "ops/ml/ml.h"
#include "ops/move.h"

#include <string.h>

#define LABELS (HOLO_BIT(STRING) | HOLO_BIT(I64) | HOLO_BIT(F32) | HOLO_BIT(I32) | HOLO_BIT(I16) | HOLO_BIT(F64))

// keys[i] becomes values[i], anything else the fallback. A list without data counts 0, 1, 2 ...
typedef struct Mapping { // what is prepared
    HoloMlDict dict;     // of the keys
    HoloTensor keys, values;
    HoloString text; // the fallback, of the type of the values
    double     number;
    int64_t    integer;
    HoloTensor tensor; // the fallback as a tensor; no elements: not given
} Mapping;

static bool is_text(const HoloTensor *t)
{
    return t->dtype == HOLO_STRING;
}

// ---- LabelEncoder and CategoryMapper

// The one of several attributes that is given.
static HoloStatus read_one(const HoloCall *call, const char *const *names, int count, HoloTensor *out)
{
    *out = (HoloTensor){.rank = 1};
    for (int i = 0; i < count && out->dim[0] == 0; i++) HOLO_TRY(holo_ml_list(call, names[i], LABELS, out));
    if (out->dim[0] > 0) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "none of %s, %s and so on is given", names[0], names[1]);
}

static HoloStatus read_encoder(const HoloCall *call, Mapping *m)
{
    static const char *const keys[]   = {"keys_strings", "keys_int64s", "keys_floats", "keys_tensor"};
    static const char *const values[] = {"values_strings", "values_int64s", "values_floats", "values_tensor"};
    HOLO_TRY(read_one(call, keys, HOLO_COUNT(keys), &m->keys));
    HOLO_TRY(read_one(call, values, HOLO_COUNT(values), &m->values));
    m->number = holo_attr_float(call, "default_float", -0.0);
    if (!holo_attr_tensor(call, "default_tensor")) return HOLO_OK;
    HOLO_TRY(holo_ml_list(call, "default_tensor", LABELS, &m->tensor));
    if (m->tensor.dtype == m->values.dtype && m->tensor.dim[0] == 1) return HOLO_OK;
    return holo_call_fail(call, HOLO_BAD_MODEL, "default_tensor is not one element of the type of the values");
}

// LabelEncoder-1 has only a list of strings and CategoryMapper two lists; the input's type says in which direction to
// map.
static HoloStatus read_two_ways(const HoloCall *call, const char *strings, const char *ints, Mapping *m)
{
    HoloTensor text, number;
    HOLO_TRY(holo_ml_list(call, strings, HOLO_BIT(STRING), &text));
    number = (HoloTensor){.dtype = HOLO_I64, .rank = 1, .dim = {text.dim[0]}};
    if (ints) HOLO_TRY(holo_ml_list(call, ints, HOLO_BIT(I64), &number));
    if (text.dim[0] == 0) return holo_call_fail(call, HOLO_BAD_MODEL, "%s is missing", strings);
    bool forth = is_text(call->in[0]);
    m->keys    = forth ? text : number;
    m->values  = forth ? number : text;
    return HOLO_OK;
}

static HoloStatus read_mapping(const HoloCall *call, Mapping *m)
{
    *m = (Mapping){.text    = holo_attr_string(call, "default_string", "_Unused"),
                   .integer = holo_attr_int(call, "default_int64", -1)};
    if (call->op->row)
        HOLO_TRY(read_two_ways(call, "cats_strings", "cats_int64s", m));
    else if (call->version < 2)
        HOLO_TRY(read_two_ways(call, "classes_strings", NULL, m));
    else
        HOLO_TRY(read_encoder(call, m));
    if (is_text(&m->keys) != is_text(call->in[0]))
        return holo_call_fail(call, HOLO_BAD_MODEL, "the input is of type %s, the keys are of type %s",
                              holo_dtype_name((HoloDtype)call->in[0]->dtype),
                              holo_dtype_name((HoloDtype)m->keys.dtype));
    return holo_ml_expect_count(call, "the list of values", &m->values, m->keys.dim[0]);
}

static HoloStatus map_infer(HoloCall *call)
{
    Mapping m;
    HOLO_TRY(read_mapping(call, &m));
    return holo_out_shape_like(call, 0, (HoloDtype)m.values.dtype, call->in[0]);
}

static HoloStatus count_up(const HoloCall *call, HoloTensor *list)
{
    if (list->data) return HOLO_OK;
    HOLO_TRY(holo_call_hold(call, (size_t)list->dim[0], sizeof(int64_t), &list->data));
    for (int64_t i = 0; i < list->dim[0]; i++) holo_put_i(list, i, i);
    return HOLO_OK;
}

static void put_fallback(const Mapping *m, HoloTensor *out, int64_t at)
{
    size_t size = holo_dtype_size((HoloDtype)out->dtype);
    if (m->tensor.dim[0] > 0)
        memcpy((char *)out->data + (size_t)at * size, m->tensor.data, size);
    else if (is_text(out))
        ((HoloString *)out->data)[at] = m->text;
    else if (holo_dtype_class((HoloDtype)out->dtype) == HOLO_CLASS_FLOAT)
        holo_put_f(out, at, m->number);
    else
        holo_put_i(out, at, m->integer);
}

static HoloStatus map_prepare(HoloCall *call, const void **out)
{
    void *memory;
    HOLO_TRY(holo_call_hold(call, 1, sizeof(Mapping), &memory));
    Mapping *m = memory;
    HOLO_TRY(read_mapping(call, m));
    HOLO_TRY(count_up(call, &m->keys));
    HOLO_TRY(count_up(call, &m->values));
    *out = m;
    return holo_ml_dict_init(&m->dict, call, &m->keys);
}

static HoloStatus map_eval(HoloCall *call)
{
    const HoloTensor *in  = call->in[0];
    HoloTensor       *out = holo_out(call, 0);
    const Mapping    *m   = call->prepared;
    if (!out) return HOLO_OK;
    size_t  size = holo_dtype_size((HoloDtype)out->dtype);
    int64_t found[HOLO_TILE];
    for (int64_t i = 0, count = holo_tensor_count(in); i < count; i++) {
        int64_t at = i % HOLO_TILE;
        if (at == 0) holo_ml_dict_find_all(&m->dict, in, i, count - i < HOLO_TILE ? count - i : HOLO_TILE, found);
        if (found[at] < 0)
            put_fallback(m, out, i);
        else
            holo_move_one((char *)out->data + (size_t)i * size, (const char *)m->values.data + (size_t)found[at] * size,
                          size);
    }
    return HOLO_OK;
}

// ---- OneHotEncoder

static HoloStatus hot_infer(HoloCall *call)
{
    const HoloTensor *in = call->in[0];
    HoloTensor        categories;
    HoloDim           dim[HOLO_MAX_RANK + 1];
    HOLO_TRY(holo_ml_labels(call, "cats_int64s", "cats_strings", &categories));
    if (is_text(&categories) != is_text(in))
        return holo_call_fail(call, HOLO_BAD_MODEL, "only one of input and categories is strings");
    for (int i = 0; i < in->rank; i++) dim[i] = in->dim[i];
    dim[in->rank] = categories.dim[0];
    return holo_out_type(call, 0, HOLO_F32, in->rank + 1, dim);
}

static HoloStatus hot_prepare(HoloCall *call, const void **out)
{
    HoloTensor categories;
    void      *dict;
    HOLO_TRY(holo_call_hold(call, 1, sizeof(HoloMlDict), &dict));
    HOLO_TRY(holo_ml_labels(call, "cats_int64s", "cats_strings", &categories));
    *out = dict;
    return holo_ml_dict_init(dict, call, &categories);
}

static HoloStatus hot_eval(HoloCall *call)
{
    const HoloTensor *in   = call->in[0];
    HoloTensor       *out  = holo_out(call, 0);
    const HoloMlDict *dict = call->prepared;
    if (!out) return HOLO_OK;
    float  *y     = out->data;
    int64_t width = dict->keys.dim[0], found[HOLO_TILE];
    bool    zeros = holo_attr_int(call, "zeros", 1) != 0;
    if (holo_tensor_count(out) > 0) memset(y, 0, holo_tensor_bytes(out));
    for (int64_t i = 0, count = holo_tensor_count(in); i < count; i++, y += width) {
        int64_t at = i % HOLO_TILE;
        if (at == 0) holo_ml_dict_find_all(dict, in, i, count - i < HOLO_TILE ? count - i : HOLO_TILE, found);
        if (found[at] < 0 && !zeros)
            return holo_call_fail(call, HOLO_BAD_INPUT, "element %lld is in none of the categories", (long long)i);
        if (found[at] >= 0) y[found[at]] = 1;
    }
    return HOLO_OK;
}

static const bool category_mapper = true;

#define LOOKUP(text, dtypes, family, how)                                                                        \
    {                                                                                                            \
        .name = text, .domain = "ai.onnx.ml", .since = 1, .in_min = 1, .in_max = 1, .out_min = 1, .out_max = 1,  \
        .types = dtypes, .infer = family##_infer, .eval = family##_eval, .prepare = family##_prepare, .row = how \
    }

const HoloOp holo_ops_ml_labels[] = {
    LOOKUP("LabelEncoder", LABELS, map, NULL),
    LOOKUP("CategoryMapper", HOLO_BIT(STRING) | HOLO_BIT(I64), map, &category_mapper),
    LOOKUP("OneHotEncoder", HOLO_ML_NUMBERS | HOLO_BIT(STRING), hot, NULL),
    {0},
};
