// script_builtin.c - what scripts call that is no code of theirs: operators, numbers, containers, questions about types.
#include "import/torch/script.h"

#include <stdio.h>
#include <string.h>

int holo_script_truth(HoloScript *s, HoloTv v, HoloValue **out_value)
{
    HoloTorch *t = s->t;
    double     known;
    *out_value = NULL;
    switch (v.kind) {
    case HOLO_TORCH_NONE: return 0;
    case HOLO_TORCH_BOOL:
    case HOLO_TORCH_INT: return v.i != 0;
    case HOLO_TORCH_FLOAT: return v.f != 0;
    case HOLO_TORCH_TEXT: return v.s.size != 0;
    case HOLO_TORCH_LIST:
    case HOLO_TORCH_TUPLE:
    case HOLO_TORCH_DICT: return v.list->count != 0;
    case HOLO_TORCH_TENSOR:
    case HOLO_TORCH_NUMBER: break;
    default: return 1;
    }
    HoloValue *value = holo_torch_value(t, &v);
    if (holo_emit_known_number(t->e, value, &known)) return known != 0;
    value      = holo_emit_cast(t->e, value, HOLO_BOOL);
    *out_value = holo_emit_rank(value) == 0 ? value : holo_emit_reshape(t->e, value, NULL, 0);
    return -1;
}

// ---- questions, with answers that do not depend on the arguments' elements

static bool is_none(const HoloTv *v)
{
    return v->kind == HOLO_TORCH_NONE;
}

static HoloTv dtype_of(HoloScript *s, const HoloTv *a)
{
    if (a[0].kind == HOLO_TORCH_QUANTIZED) { // c10's numbers of qint8, quint8 and qint32
        HoloDtype dtype = holo_emit_dtype(holo_torch_quantized(s->t, a).whole);
        return holo_tv_int(dtype == HOLO_I8 ? 12 : dtype == HOLO_U8 ? 13 : 14);
    }
    return holo_tv_int(holo_torch_scalar_type(holo_emit_dtype(holo_torch_value(s->t, a))));
}

static HoloTv is_same(HoloScript *s, const HoloTv *a)
{
    (void)s;
    return holo_tv_bool(is_none(&a[0]) ? is_none(&a[1]) : a[0].kind == a[1].kind && a[0].tensor == a[1].tensor);
}

static HoloTv is_other(HoloScript *s, const HoloTv *a)
{
    HoloTv same = is_same(s, a);
    return holo_tv_bool(!same.i);
}

static HoloTv first_of(HoloScript *s, const HoloTv *a)
{
    (void)s;
    return a[0];
}

static HoloTv no(HoloScript *s, const HoloTv *a)
{
    (void)s, (void)a;
    return holo_tv_bool(false);
}

static HoloTv is_quantized(HoloScript *s, const HoloTv *a)
{
    (void)s;
    return holo_tv_bool(a[0].kind == HOLO_TORCH_QUANTIZED);
}

static HoloTv yes(HoloScript *s, const HoloTv *a)
{
    (void)s, (void)a;
    return holo_tv_bool(true);
}

// A type by its name, as code has it; what is not told apart here is taken to be of it.
static bool is_of(const HoloTv *v, const HoloTv *type)
{
    static const struct {
        const char   *name;
        HoloTorchKind kind;
    } kinds[] = {
        {"str", HOLO_TORCH_TEXT}, {"bool", HOLO_TORCH_BOOL}, {"int", HOLO_TORCH_INT}, {"float", HOLO_TORCH_FLOAT}};
    bool is_other = false;
    for (int i = 0; type->kind == HOLO_TORCH_NAME && i < HOLO_COUNT(kinds); i++) {
        if (v->kind == kinds[i].kind && holo_script_text_is(type->s, kinds[i].name)) return true;
        is_other |= holo_script_text_is(type->s, kinds[i].name) && v->kind != HOLO_TORCH_NUMBER;
    }
    for (int i = 0; holo_tv_is_list(type) && i < type->list->count; i++)
        if (is_of(v, &type->list->item[i])) return true;
    return !is_other && !holo_tv_is_list(type);
}

static HoloTv isinstance(HoloScript *s, const HoloTv *a)
{
    (void)s;
    return holo_tv_bool(is_of(&a[0], &a[1]));
}

static HoloTv nothing(HoloScript *s, const HoloTv *a)
{
    (void)s, (void)a;
    return (HoloTv){0};
}

static HoloTv zero(HoloScript *s, const HoloTv *a)
{
    (void)s, (void)a;
    return holo_tv_int(0);
}

static HoloTv device(HoloScript *s, const HoloTv *a)
{
    (void)s, (void)a;
    return holo_tv_text("cpu");
}

// prim.type: of a device, which is always this one.
static HoloTv type_of(HoloScript *s, const HoloTv *a)
{
    (void)s;
    return a[0].kind == HOLO_TORCH_TEXT ? a[0] : holo_tv_text("cpu");
}

static HoloTv is_list(HoloScript *s, const HoloTv *a)
{
    (void)s;
    return holo_tv_bool(holo_tv_is_list(&a[0]));
}

// A tensor of whole numbers, which an input must then have.
static HoloTv whole(HoloScript *s, const HoloTv *a)
{
    HoloValue *x = holo_torch_value(s->t, &a[0]);
    holo_torch_learn_count(s->t, x);
    return holo_tv_tensor(s->t, holo_emit_cast(s->t->e, x, HOLO_I64));
}

// How often a loop of composed code turns: many turns become a Loop instead of being unrolled.
static HoloTv turns(HoloScript *s, const HoloTv *a)
{
    enum { UNROLLED_MAX = 32 };
    if (a[0].kind != HOLO_TORCH_INT || a[0].i <= UNROLLED_MAX) return a[0];
    return (HoloTv){.kind = HOLO_TORCH_NUMBER, .number = holo_emit_int(s->t->e, a[0].i)};
}

static HoloTv raise(HoloScript *s, const HoloTv *a)
{
    if (!s->t->depth)
        holo_emit_fail(s->t->e, HOLO_BAD_MODEL, "the model refuses such inputs: %.*s",
                       a[0].kind == HOLO_TORCH_TEXT ? (int)(a[0].s.size < 300 ? a[0].s.size : 300) : 0,
                       a[0].kind == HOLO_TORCH_TEXT ? a[0].s.data : "");
    s->is_raised = true;
    return (HoloTv){0};
}

static HoloTv number_of(HoloScript *s, const char *name, HoloTv x, HoloTv y)
{
    HoloTv out = {0}, args[2] = {x, y};
    if (!holo_torch_numbers(s->t, name, args, 2, &out) && !s->t->e->status)
        holo_emit_fail(s->t->e, HOLO_BAD_MODEL, "%s of something that is no number", name);
    return out;
}

// How many turns a range from a[0] to a[1] by a[2] has.
static HoloTv range_length(HoloScript *s, const HoloTv *a)
{
    int64_t step = holo_torch_int(s->t, &a[2], 1);
    if (!step) return holo_emit_fail(s->t->e, HOLO_BAD_MODEL, "a range with a step of 0"), (HoloTv){0};
    HoloTv span = number_of(s, "sub", a[1], a[0]);
    if (step < 0) span = number_of(s, "mul", span, holo_tv_int(-1)), step = -step;
    span = number_of(s, "floordiv", number_of(s, "add", span, holo_tv_int(step - 1)), holo_tv_int(step));
    if (span.kind == HOLO_TORCH_INT && span.i < 0) span.i = 0;
    return span;
}

// The number of turn a[0] of a range that begins at a[1].
static HoloTv derive_index(HoloScript *s, const HoloTv *a)
{
    return number_of(s, "add", a[1], number_of(s, "mul", a[0], a[2]));
}

static HoloTv getattr(HoloScript *s, const HoloTv *a)
{
    if (a[0].kind != HOLO_TORCH_OBJECT || a[1].kind != HOLO_TORCH_TEXT)
        return holo_emit_fail(s->t->e, HOLO_UNSUPPORTED, "getattr of %s", holo_tv_kind(&a[0])), (HoloTv){0};
    const HoloScriptVar *attr = holo_script_attr(s, a[0].object, a[1].s);
    if (attr) return attr->value;
    return (HoloTv){.kind = HOLO_TORCH_METHOD, .self = a[0].object, .method = a[1].s};
}

static HoloTv setattr(HoloScript *s, const HoloTv *a)
{
    HoloScriptVar *attr = a[0].kind == HOLO_TORCH_OBJECT && a[1].kind == HOLO_TORCH_TEXT
                              ? holo_script_attr(s, a[0].object, a[1].s)
                              : NULL;
    if (attr) holo_script_assign(s, attr, a[2]);
    return (HoloTv){0};
}

// Numbers of a tensor that are known now, as a list.
static HoloTv tolist(HoloScript *s, const HoloTv *a)
{
    int64_t    numbers[256];
    int        count;
    HoloValue *x = holo_torch_value(s->t, &a[0]);
    if (!holo_emit_known_ints(s->t->e, x, numbers, 256, &count))
        return holo_emit_fail(s->t->e, HOLO_UNSUPPORTED, "tolist of a tensor that only a run knows"), (HoloTv){0};
    HoloTv out = holo_tv_list(s->t, HOLO_TORCH_LIST, 0, NULL);
    for (int i = 0; i < count && !s->t->e->status; i++) holo_tv_append(s->t, out.list, holo_tv_int(numbers[i]));
    return holo_emit_rank(x) ? out : holo_tv_int(numbers[0]);
}

static const struct {
    const char *name;
    int         count; // of arguments, at least
    HoloTv (*answer)(HoloScript *s, const HoloTv *a);
} questions[] = {
    {"dtype", 1, dtype_of},
    {"__is__", 2, is_same},
    {"__isnot__", 2, is_other},
    {"unchecked_unwrap_optional", 1, first_of},
    {"_unwrap_optional", 1, first_of},
    {"unchecked_cast", 1, first_of},
    {"data", 1, first_of},
    {"is_cuda", 0, no},
    {"is_cpu", 0, yes},
    {"is_quantized", 0, is_quantized},
    {"is_mkldnn", 0, no},
    {"is_sparse", 0, no},
    {"is_meta", 0, no},
    {"is_nested", 0, no},
    {"requires_grad", 0, no},
    {"is_leaf", 0, no},
    {"is_grad_enabled", 0, no},
    {"is_autocast_enabled", 0, no},
    {"is_autocast_cpu_enabled", 0, no},
    {"is_scripting", 0, yes},
    {"is_tracing", 0, no},
    {"is_xpu", 0, no},
    {"_get_tracing_state", 0, nothing},
    {"has_torch_function", 0, no},
    {"warn", 0, nothing},
    {"device", 0, device},
    {"layout", 0, zero},
    {"RaiseException", 0, raise},
    {"__range_length", 3, range_length},
    {"__derive_index", 3, derive_index},
    {"getattr", 2, getattr},
    {"setattr", 3, setattr},
    {"isinstance", 2, isinstance},
    {"tolist", 1, tolist},
    {"BroadcastingList", 1, first_of},
    {"get_device", 0, zero},
    {"type", 1, type_of},
    {"_is_list", 1, is_list},
    {"_turns", 1, turns},
    {"_whole", 1, whole},
    {"_nested_tensor_from_mask_left_aligned", 2, yes}, // else only the tokens that are left out would differ
    {"Print", 0, nothing},
    {"print", 0, nothing},
    {"manual_seed", 0, nothing},
    {"is_contiguous", 0, yes},
    {"is_signed", 0, yes},
    {"profile", 0, nothing},
    {"grad", 0, nothing},
    {"names", 0, nothing},
};

// ---- names

// "torch.add" and "ops.aten.add" are "add" of "aten"; "ops.torchvision.nms" is "nms" of "torchvision".
static const char *split(const char *name, char *space, size_t room)
{
    static const char *const aten[] = {"torch.nn.functional.", "torch.", "ops.prim.", "ops.aten.", "prim.", "math."};
    snprintf(space, room, "aten");
    for (int i = 0; i < HOLO_COUNT(aten); i++)
        if (!strncmp(name, aten[i], strlen(aten[i]))) return name + strlen(aten[i]);
    if (strncmp(name, "ops.", 4)) return name;
    const char *point = strchr(name + 4, '.');
    if (!point) return name;
    snprintf(space, room, "%.*s", (int)(point - name - 4 < 100 ? point - name - 4 : 100), name + 4);
    return point + 1;
}

// int(x), float(x), bool(x) of a tensor give numbers.
static const char *conversion(const char *whole, const char *name)
{
    static const char *const words[][2] = {{"int", "Int"}, {"float", "Float"}, {"bool", "Bool"}};
    for (int i = 0; i < 3; i++)
        if (!strcmp(whole, words[i][0])) return words[i][1];
    return name;
}

static bool has_names(const char *const *names, int count)
{
    for (int i = 0; names && i < count; i++)
        if (names[i]) return true;
    return false;
}

static bool has_unknown(const HoloTv *args, int count)
{
    for (int i = 0; i < count; i++)
        if (args[i].kind == HOLO_TORCH_UNKNOWN) return true;
    return false;
}

HoloTv holo_script_builtin(HoloScript *s, const HoloScriptFrame *frame, const char *whole, const HoloTv *args,
                           const char *const *names, int count, int line)
{
    HoloTorch  *t = s->t;
    char        space[128];
    HoloTv      out  = {0};
    const char *name = split(whole, space, sizeof space);
    if (t->e->status) return out;
    bool is_aten = !strcmp(space, "aten"), unknown = has_unknown(args, count);
    name = conversion(whole, name);
    if (strchr(name, '.')) {
        holo_script_fail(s, frame, line, "%s is not supported", whole);
        return out;
    }
    for (int i = 0; is_aten && !unknown && i < HOLO_COUNT(questions); i++)
        if (!strcmp(questions[i].name, name) && count >= questions[i].count) return questions[i].answer(s, args);
    bool is_named = has_names(names, count);
    if (is_aten && !is_named && !unknown && holo_torch_numbers(t, name, args, count, &out)) return out;
    if (is_aten && !unknown && holo_script_container(s, name, args, count, &out)) return out;
    if (!strcmp(name, "floordiv")) name = "floor_divide";
    if (!strcmp(name, "__not__")) name = "logical_not";
    holo_torch_call(t, &(HoloTorchCall){.space = space, .name = name, .args = args, .names = names, .count = count},
                    &out);
    return out;
}
