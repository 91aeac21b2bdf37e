// pt2_value.c - arguments of a program: unions in JSON, such as {"as_int": 3}.
#include "import/torch/pt2.h"

#include <math.h>
#include <string.h>

// The format's own numbers of element types.
static const struct {
    int       number;
    HoloDtype dtype;
} types[] = {
    {1, HOLO_U8},          {2, HOLO_I8},          {3, HOLO_I16},  {4, HOLO_I32},       {5, HOLO_I64},
    {6, HOLO_F16},         {7, HOLO_F32},         {8, HOLO_F64},  {10, HOLO_C64},      {11, HOLO_C128},
    {12, HOLO_BOOL},       {13, HOLO_BF16},       {28, HOLO_U16}, {29, HOLO_F8E4M3FN}, {30, HOLO_F8E5M2},
    {31, HOLO_F8E4M3FNUZ}, {32, HOLO_F8E5M2FNUZ},
};

HoloDtype holo_pt2_dtype(int64_t number)
{
    for (int i = 0; i < HOLO_COUNT(types); i++)
        if (types[i].number == number) return types[i].dtype;
    return HOLO_NONE;
}

bool holo_pt2_set(HoloPt2Scope *scope, const char *name, HoloTv value)
{
    HoloTorch *t    = &scope->pt2->torch;
    HoloTv    *kept = HOLO_NEW(t->arena, HoloTv, 1);
    if (kept) *kept = value;
    if (kept && holo_name_map_set(&scope->names, t->arena, (HoloString){name, strlen(name)}, kept)) return true;
    holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
    return false;
}

static HoloTv find(HoloPt2Scope *scope, const json_t *name)
{
    const char   *text  = json_string_value(name);
    const HoloTv *value = text ? holo_name_map_find(&scope->names, (HoloString){text, strlen(text)}) : NULL;
    if (value) return *value;
    holo_emit_fail(scope->pt2->torch.e, HOLO_BAD_MODEL, "the value '%.200s' is used before it is made",
                   text ? text : "?");
    return (HoloTv){0};
}

static HoloTv none_of(HoloPt2Scope *scope, const json_t *v)
{
    (void)scope;
    (void)v;
    return (HoloTv){0};
}

static HoloTv tensor_of(HoloPt2Scope *scope, const json_t *v)
{
    return find(scope, json_object_get(v, "name"));
}

static HoloTv int_of(HoloPt2Scope *scope, const json_t *v)
{
    if (!json_is_integer(v)) holo_emit_fail(scope->pt2->torch.e, HOLO_BAD_MODEL, "an argument is no whole number");
    return holo_tv_int(json_integer_value(v));
}

static HoloTv float_of(HoloPt2Scope *scope, const json_t *v)
{
    const char *text = json_string_value(v);
    if (json_is_number(v)) return holo_tv_float(json_number_value(v));
    if (text && !strcmp(text, "Infinity")) return holo_tv_float(INFINITY);
    if (text && !strcmp(text, "-Infinity")) return holo_tv_float(-INFINITY);
    if (!text || strcmp(text, "NaN")) holo_emit_fail(scope->pt2->torch.e, HOLO_BAD_MODEL, "an argument is no number");
    return holo_tv_float(NAN);
}

static HoloTv complex_of(HoloPt2Scope *scope, const json_t *v)
{
    HoloTorch *t  = &scope->pt2->torch;
    HoloTv     re = float_of(scope, json_object_get(v, "real")), im = float_of(scope, json_object_get(v, "imag"));
    return t->e->status ? re : holo_tv_complex(t, re, im);
}

static HoloTv bool_of(HoloPt2Scope *scope, const json_t *v)
{
    (void)scope;
    return holo_tv_bool(json_is_true(v));
}

static HoloTv text_of(HoloPt2Scope *scope, const json_t *v)
{
    const char *text = json_string_value(v);
    char       *kept = holo_arena_text(scope->pt2->torch.arena, text ? text : "", text ? strlen(text) : 0);
    return holo_tv_text(kept ? kept : "");
}

static HoloTv dtype_of(HoloPt2Scope *scope, const json_t *v)
{
    HoloDtype dtype = holo_pt2_dtype(json_integer_value(v));
    (void)scope;
    return holo_tv_int(dtype ? holo_torch_scalar_type(dtype) : 1000 + json_integer_value(v));
}

// {"as_name": "n"} or {"as_int": 3}
static HoloTv symbolic_of(HoloPt2Scope *scope, const json_t *v)
{
    const json_t *name = json_object_get(v, "as_name");
    return name ? find(scope, name) : holo_pt2_value(scope, v);
}

static HoloTv graph_of(HoloPt2Scope *scope, const json_t *v)
{
    (void)scope;
    return (HoloTv){.kind = HOLO_TORCH_GRAPH, .graph = json_object_get(v, "graph")};
}

static HoloTv device_of(HoloPt2Scope *scope, const json_t *v)
{
    (void)scope;
    (void)v;
    return holo_tv_text("cpu");
}

typedef HoloTv Read(HoloPt2Scope *scope, const json_t *v);

static const struct {
    const char *key;
    Read       *read;
    bool        is_list;
} kinds[] = {
    {"as_none", none_of, false},
    {"as_tensor", tensor_of, false},
    {"as_tensors", tensor_of, true},
    {"as_int", int_of, false},
    {"as_ints", int_of, true},
    {"as_float", float_of, false},
    {"as_floats", float_of, true},
    {"as_complex", complex_of, false},
    {"as_string", text_of, false},
    {"as_strings", text_of, true},
    {"as_bool", bool_of, false},
    {"as_bools", bool_of, true},
    {"as_scalar_type", dtype_of, false},
    {"as_memory_format", none_of, false},
    {"as_layout", none_of, false},
    {"as_device", device_of, false},
    {"as_sym_int", symbolic_of, false},
    {"as_sym_ints", symbolic_of, true},
    {"as_sym_bool", symbolic_of, false},
    {"as_sym_bools", symbolic_of, true},
    {"as_sym_float", symbolic_of, false},
    {"as_sym_floats", symbolic_of, true},
    {"as_optional_tensor", holo_pt2_value, false},
    {"as_optional_tensors", holo_pt2_value, true},
    {"as_graph", graph_of, false},
    {"as_operator", text_of, false},
};

static HoloTv list_of(HoloPt2Scope *scope, Read *read, const json_t *list)
{
    HoloTorch *t   = &scope->pt2->torch;
    HoloTv     out = holo_tv_list(t, HOLO_TORCH_LIST, 0, NULL);
    for (size_t i = 0; i < json_array_size(list) && !t->e->status; i++)
        holo_tv_append(t, out.list, read(scope, json_array_get(list, i)));
    return out;
}

HoloTv holo_pt2_value(HoloPt2Scope *scope, const json_t *arg)
{
    const char *key = json_is_object(arg) ? json_object_iter_key(json_object_iter((json_t *)arg)) : NULL;
    for (int i = 0; key && i < HOLO_COUNT(kinds); i++) {
        if (strcmp(kinds[i].key, key)) continue;
        const json_t *v = json_object_get(arg, key);
        return kinds[i].is_list ? list_of(scope, kinds[i].read, v) : kinds[i].read(scope, v);
    }
    holo_emit_fail(scope->pt2->torch.e, HOLO_UNSUPPORTED, "an argument of kind '%.100s'", key ? key : "?");
    return (HoloTv){0};
}

const char *holo_pt2_name(const json_t *arg)
{
    static const char *const symbols[] = {"as_sym_int", "as_sym_bool", "as_sym_float"};
    const json_t            *tensor    = json_object_get(arg, "as_tensor");
    if (tensor) return json_string_value(json_object_get(tensor, "name"));
    for (int i = 0; i < HOLO_COUNT(symbols); i++) {
        const json_t *v = json_object_get(arg, symbols[i]);
        if (v) return json_string_value(json_object_get(v, "as_name"));
    }
    return json_string_value(json_object_get(arg, "name"));
}

static HoloDim size_of(HoloPt2 *p, const json_t *size)
{
    const json_t *number = json_object_get(size, "as_int"), *expr = json_object_get(size, "as_expr");
    const char   *text = json_string_value(json_object_get(expr, "expr_str"));
    if (json_is_integer(number)) return json_integer_value(number);
    return text ? holo_pt2_dim(p->torch.e->graph->dims, text) : HOLO_DIM_UNKNOWN;
}

bool holo_pt2_type(HoloPt2 *p, const json_t *meta, HoloTensor *out)
{
    const json_t *sizes = json_object_get(meta, "sizes");
    size_t        rank  = json_array_size(sizes);
    *out = (HoloTensor){.dtype = (uint8_t)holo_pt2_dtype(json_integer_value(json_object_get(meta, "dtype"))),
                        .rank  = (int)rank};
    if (!json_is_array(sizes) || rank > HOLO_MAX_RANK || !out->dtype) return false;
    for (size_t i = 0; i < rank; i++) {
        out->dim[i] = size_of(p, json_array_get(sizes, i));
        if (!holo_dim_is_symbolic(out->dim[i]) && out->dim[i] < 0) return false;
    }
    return true;
}
