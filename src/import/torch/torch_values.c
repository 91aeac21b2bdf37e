// torch_values.c - values of Python, and how emitters read their arguments.
#include "import/torch/torch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

HoloTv holo_tv_int(int64_t i)
{
    return (HoloTv){.kind = HOLO_TORCH_INT, .i = i};
}

HoloTv holo_tv_bool(bool b)
{
    return (HoloTv){.kind = HOLO_TORCH_BOOL, .i = b};
}

HoloTv holo_tv_float(double f)
{
    return (HoloTv){.kind = HOLO_TORCH_FLOAT, .f = f};
}

HoloTv holo_tv_text(const char *text)
{
    return (HoloTv){.kind = HOLO_TORCH_TEXT, .s = {text, strlen(text)}};
}

static void *no_memory(HoloTorch *t)
{
    return holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
}

HoloTv holo_tv_tensor(HoloTorch *t, HoloValue *value)
{
    HoloTorchTensor *tensor = t->e->status ? NULL : HOLO_NEW(t->arena, HoloTorchTensor, 1);
    if (!tensor) {
        no_memory(t);
        return (HoloTv){0};
    }
    *tensor = (HoloTorchTensor){.value = value, .result = -1, .depth = t->depth};
    return (HoloTv){.kind = HOLO_TORCH_TENSOR, .tensor = tensor};
}

HoloTv holo_tv_number(HoloTorch *t, HoloValue *value)
{
    HoloTensor known = holo_emit_known(t->e, value);
    if (!value || t->e->status) return (HoloTv){0};
    if (holo_emit_rank(value) > 0) value = holo_torch_scalar_of(t, value);
    if (known.data && holo_tensor_count(&known) == 1) {
        if (known.dtype == HOLO_BOOL) return holo_tv_bool(holo_get_i(&known, 0));
        if (holo_dtype_class((HoloDtype)known.dtype) == HOLO_CLASS_FLOAT) return holo_tv_float(holo_get_f(&known, 0));
        return holo_tv_int(holo_get_i(&known, 0));
    }
    return (HoloTv){.kind = HOLO_TORCH_NUMBER, .number = value};
}

bool holo_tv_append(HoloTorch *t, HoloTorchList *list, HoloTv item)
{
    if (!holo_torch_step(t, 1)) return false;
    if (!HOLO_GROW(t->arena, list->item, list->count, list->room)) return no_memory(t), false;
    list->item[list->count++] = item;
    return true;
}

HoloTv holo_tv_list(HoloTorch *t, HoloTorchKind kind, int count, const HoloTv *items)
{
    HoloTorchList *list = t->e->status ? NULL : HOLO_NEW(t->arena, HoloTorchList, 1);
    if (!list) {
        no_memory(t);
        return (HoloTv){0};
    }
    list->depth = t->depth;
    for (int i = 0; i < count; i++)
        if (!holo_tv_append(t, list, items[i])) break;
    return (HoloTv){.kind = kind, .list = list};
}

const char *holo_tv_kind(const HoloTv *v)
{
    static const char *const words[] = {"None",
                                        "a bool",
                                        "a whole number",
                                        "a number",
                                        "a text",
                                        "a tensor",
                                        "a number of the run",
                                        "a list",
                                        "a tuple",
                                        "a dict",
                                        "an object",
                                        "a name",
                                        "a method",
                                        "a graph",
                                        "the result of an unknown operator",
                                        "a type",
                                        "complex numbers",
                                        "a quantized tensor"};
    return words[v->kind];
}

bool holo_tv_is_number(const HoloTv *v)
{
    return v->kind == HOLO_TORCH_INT || v->kind == HOLO_TORCH_FLOAT || v->kind == HOLO_TORCH_BOOL ||
           v->kind == HOLO_TORCH_NUMBER;
}

// ---- arguments

static void *wrong(HoloTorch *t, const HoloTv *v, const char *want)
{
    return holo_emit_fail(t->e, HOLO_UNSUPPORTED, "an argument is %s where %s is expected", holo_tv_kind(v), want);
}

HoloValue *holo_torch_value(HoloTorch *t, const HoloTv *v)
{
    if (t->e->status || v->kind == HOLO_TORCH_NONE) return NULL;
    if (v->kind == HOLO_TORCH_TENSOR) return holo_torch_read(t, v->tensor);
    if (v->kind == HOLO_TORCH_NUMBER || v->kind == HOLO_TORCH_UNKNOWN) return v->number;
    if (v->kind == HOLO_TORCH_INT) return holo_emit_int(t->e, v->i);
    if (v->kind == HOLO_TORCH_BOOL) return holo_emit_number(t->e, HOLO_BOOL, (double)v->i);
    if (v->kind == HOLO_TORCH_FLOAT) return holo_emit_number(t->e, HOLO_F32, v->f);
    if (v->kind == HOLO_TORCH_QUANTIZED) return holo_torch_dequantized(t, v);
    return wrong(t, v, "a tensor");
}

HoloValue *holo_torch_scalar(HoloTorch *t, const HoloTv *v, HoloDtype dtype)
{
    if (v->kind == HOLO_TORCH_FLOAT) return holo_emit_number(t->e, dtype, v->f);
    if (v->kind == HOLO_TORCH_BOOL) return holo_emit_number(t->e, dtype, (double)v->i);
    if (v->kind == HOLO_TORCH_INT)
        return holo_emit_cast(t->e,
                              dtype == HOLO_I64 ? holo_emit_int(t->e, v->i)
                              : holo_torch_is_float(dtype) || llabs(v->i) < (1LL << 53)
                                  ? holo_emit_number(t->e, dtype, (double)v->i)
                                  : holo_emit_int(t->e, v->i),
                              dtype);
    HoloValue *x = holo_torch_value(t, v);
    return x ? holo_emit_cast(t->e, x, dtype) : NULL;
}

static bool known_number(HoloTorch *t, const HoloTv *v, double *out)
{
    switch (v->kind) {
    case HOLO_TORCH_BOOL:
    case HOLO_TORCH_INT: *out = (double)v->i; return true;
    case HOLO_TORCH_FLOAT: *out = v->f; return true;
    case HOLO_TORCH_NUMBER: return holo_emit_known_number(t->e, v->number, out);
    case HOLO_TORCH_TENSOR: return holo_emit_known_number(t->e, holo_torch_read(t, v->tensor), out);
    default: return false;
    }
}

int64_t holo_torch_int(HoloTorch *t, const HoloTv *v, int64_t fallback)
{
    double number;
    if (t->e->status || holo_tv_is_none(v)) return fallback;
    if (v->kind == HOLO_TORCH_INT || v->kind == HOLO_TORCH_BOOL) return v->i;
    if (known_number(t, v, &number) && number > -9e18 && number < 9e18) return (int64_t)number;
    if (v->kind == HOLO_TORCH_NUMBER || v->kind == HOLO_TORCH_TENSOR)
        holo_emit_fail(t->e, HOLO_UNSUPPORTED,
                       "a number must be known when the model is compiled, and only a run knows it");
    else
        wrong(t, v, "a whole number");
    return fallback;
}

double holo_torch_float(HoloTorch *t, const HoloTv *v, double fallback)
{
    double number;
    if (t->e->status || holo_tv_is_none(v)) return fallback;
    if (known_number(t, v, &number)) return number;
    wrong(t, v, "a number that is known when the model is compiled");
    return fallback;
}

bool holo_torch_bool(HoloTorch *t, const HoloTv *v, bool fallback)
{
    return holo_torch_int(t, v, fallback) != 0;
}

HoloString holo_torch_text(HoloTorch *t, const HoloTv *v, const char *fallback)
{
    HoloString none = {fallback, fallback ? strlen(fallback) : 0};
    if (t->e->status || holo_tv_is_none(v)) return none;
    if (v->kind == HOLO_TORCH_TEXT) return v->s;
    wrong(t, v, "a text");
    return none;
}

bool holo_torch_text_is(HoloTorch *t, const HoloTv *v, const char *fallback, const char *word)
{
    HoloString text = holo_torch_text(t, v, fallback);
    return text.data && text.size == strlen(word) && !memcmp(text.data, word, text.size);
}

HoloDtype holo_torch_dtype(HoloTorch *t, const HoloTv *v, HoloDtype fallback)
{
    if (t->e->status || holo_tv_is_none(v)) return fallback;
    int64_t   number = holo_torch_int(t, v, -1);
    HoloDtype dtype  = holo_torch_dtype_of(number);
    if (!dtype)
        holo_emit_fail(t->e, HOLO_UNSUPPORTED, "the element type %lld of PyTorch is not supported", (long long)number);
    return dtype ? dtype : HOLO_F32;
}

enum { ROOM = HOLO_MAX_RANK * 2 };

int holo_torch_ints(HoloTorch *t, const HoloTv *v, int64_t *out)
{
    int count = 0;
    if (t->e->status || holo_tv_is_none(v)) return 0;
    if (v->kind == HOLO_TORCH_TENSOR) {
        if (!holo_emit_known_ints(t->e, holo_torch_read(t, v->tensor), out, ROOM, &count))
            wrong(t, v, "a list of known numbers");
        return count;
    }
    if (!holo_tv_is_list(v)) {
        out[0] = holo_torch_int(t, v, 0);
        return 1;
    }
    if (v->list->count > ROOM) {
        holo_emit_fail(t->e, HOLO_UNSUPPORTED, "a list of %d numbers is too long", v->list->count);
        return 0;
    }
    for (; count < v->list->count; count++) out[count] = holo_torch_int(t, &v->list->item[count], 0);
    return count;
}

int holo_torch_floats(HoloTorch *t, const HoloTv *v, double *out)
{
    if (t->e->status || holo_tv_is_none(v)) return 0;
    if (!holo_tv_is_list(v)) {
        out[0] = holo_torch_float(t, v, 0);
        return 1;
    }
    int count = v->list->count > ROOM ? 0 : v->list->count;
    for (int i = 0; i < count; i++) out[i] = holo_torch_float(t, &v->list->item[i], 0);
    return count;
}

HoloValue *holo_torch_size1(HoloTorch *t, const HoloTv *v)
{
    int64_t one = 1;
    if (v->kind == HOLO_TORCH_INT || v->kind == HOLO_TORCH_BOOL) return holo_emit_ints(t->e, &v->i, 1);
    HoloValue *x = holo_torch_scalar(t, v, HOLO_I64);
    if (!x) return t->e->status ? NULL : wrong(t, v, "a whole number");
    return holo_emit_rank(x) == 1 ? x : holo_emit_reshape(t->e, x, &one, 1);
}

HoloValue *holo_torch_sizes(HoloTorch *t, const HoloTv *v)
{
    int64_t known[ROOM];
    bool    is_known = true;
    if (t->e->status) return NULL;
    if (v->kind == HOLO_TORCH_TENSOR) return holo_torch_scalar(t, v, HOLO_I64);
    if (!holo_tv_is_list(v)) return holo_torch_size1(t, v);
    int count = v->list->count;
    if (count > ROOM) return holo_emit_fail(t->e, HOLO_UNSUPPORTED, "a list of %d sizes is too long", count);
    for (int i = 0; i < count; i++) {
        is_known &= v->list->item[i].kind == HOLO_TORCH_INT;
        known[i] = v->list->item[i].i;
    }
    if (is_known) return holo_emit_ints(t->e, known, count);
    HoloValue *part[ROOM];
    for (int i = 0; i < count; i++) part[i] = holo_torch_size1(t, &v->list->item[i]);
    return holo_torch_concat(t, part, count, 0);
}

HoloValue **holo_torch_values(HoloTorch *t, const HoloTv *v, int *out_count)
{
    *out_count = 0;
    if (t->e->status) return NULL;
    if (!holo_tv_is_list(v)) return wrong(t, v, "a list of tensors");
    HoloValue **values = HOLO_NEW(t->arena, HoloValue *, v->list->count + 1);
    if (!values) return no_memory(t);
    for (int i = 0; i < v->list->count; i++) values[i] = holo_torch_value(t, &v->list->item[i]);
    *out_count = v->list->count;
    return values;
}

int holo_torch_rank(HoloTorch *t, const HoloValue *x)
{
    if (t->e->status) return 0;
    int rank = holo_emit_rank(x);
    if (rank < 0)
        holo_emit_fail(
            t->e, HOLO_UNSUPPORTED,
            "how many dimensions a tensor has is not known: trace the model (torch.jit.trace), or export it by "
            "torch.export");
    return rank < 0 ? 0 : rank;
}

int holo_torch_axis(HoloTorch *t, const HoloTv *v, int64_t fallback, int rank)
{
    int64_t axis = holo_torch_int(t, v, fallback), room = rank ? rank : 1;
    if (t->e->status) return 0;
    if (axis < -room || axis >= room) {
        holo_emit_fail(t->e, HOLO_BAD_MODEL, "dimension %lld of a tensor of %d", (long long)axis, rank);
        return 0;
    }
    return (int)(axis < 0 ? axis + room : axis);
}

int holo_torch_axes(HoloTorch *t, const HoloTv *v, int rank, int64_t *out)
{
    int64_t given[ROOM];
    bool    is_in[HOLO_MAX_RANK + 1] = {false};
    int     count = holo_torch_ints(t, v, given), used = 0;
    if (!count)
        for (int i = 0; i < rank; i++) is_in[i] = true;
    for (int i = 0; i < count; i++) {
        HoloTv axis                               = holo_tv_int(given[i]);
        is_in[holo_torch_axis(t, &axis, 0, rank)] = true;
    }
    for (int i = 0; i < rank; i++)
        if (is_in[i]) out[used++] = i;
    return used;
}
