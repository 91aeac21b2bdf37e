// script_container.c - lists, tuples and dicts of scripts.
//
// They are computed when the model is imported. A list of tensors that grows in a loop of the run is a sequence of ONNX.
#include "import/torch/script.h"

#include <stdio.h>
#include <string.h>

static bool is_container(const HoloTv *v)
{
    return holo_tv_is_list(v) || v->kind == HOLO_TORCH_DICT;
}

bool holo_script_equal(const HoloTv *a, const HoloTv *b)
{
    if (a->kind == HOLO_TORCH_FLOAT && b->kind == HOLO_TORCH_INT) return a->f == (double)b->i;
    if (a->kind == HOLO_TORCH_INT && b->kind == HOLO_TORCH_FLOAT) return a->i == (int64_t)b->f;
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case HOLO_TORCH_NONE: return true;
    case HOLO_TORCH_BOOL:
    case HOLO_TORCH_INT: return a->i == b->i;
    case HOLO_TORCH_FLOAT: return a->f == b->f;
    case HOLO_TORCH_TEXT:
    case HOLO_TORCH_NAME: return a->s.size == b->s.size && !memcmp(a->s.data, b->s.data, a->s.size);
    case HOLO_TORCH_LIST:
    case HOLO_TORCH_TUPLE:
        if (a->list == b->list) return true;
        if (a->list->count != b->list->count || a->list->count > 64 || a->list->sequence || b->list->sequence)
            return false;
        for (int i = 0; i < a->list->count; i++)
            if (is_container(&a->list->item[i]) || !holo_script_equal(&a->list->item[i], &b->list->item[i]))
                return false;
        return true;
    case HOLO_TORCH_DICT: return a->list == b->list;
    default: return a->tensor == b->tensor;
    }
}

bool holo_script_may_change(HoloScript *s, const HoloTorchList *list)
{
    if (list->depth >= s->t->depth) return true;
    holo_emit_fail(s->t->e, HOLO_UNSUPPORTED,
                   "a list changes in a branch or a loop that depends on the data of the run");
    return false;
}

static int64_t place_of(HoloScript *s, const HoloTorchList *list, const HoloTv *index)
{
    int64_t i = holo_torch_int(s->t, index, 0);
    if (i < 0) i += list->count;
    if (!s->t->e->status && (i < 0 || i >= list->count))
        holo_emit_fail(s->t->e, HOLO_BAD_MODEL, "item %lld of a list of %d", (long long)i, list->count);
    return s->t->e->status ? -1 : i;
}

static HoloTv *find_key(HoloTorchList *dict, const HoloTv *key)
{
    for (int i = 0; i + 1 < dict->count; i += 2)
        if (holo_script_equal(&dict->item[i], key)) return &dict->item[i + 1];
    return NULL;
}

// An input that is a dict has a key that was not known: the script is imported again with it.
static HoloTv learn_key(HoloScript *s, const HoloTorchList *dict, HoloString key)
{
    HoloTorch *t    = s->t;
    char      *name = holo_arena_format(t->arena, "%s.%.*s", dict->input, HOLO_IMPORT_ARG(key));
    if (name && HOLO_GROW(t->arena, t->key, t->key_count, t->key_room)) {
        t->key[t->key_count++] = name;
        t->has_learned         = true;
    }
    holo_emit_fail(t->e, HOLO_UNSUPPORTED, "the key %.*s of the input %s", HOLO_IMPORT_ARG(key), dict->input);
    return (HoloTv){0};
}

HoloTv holo_script_item(HoloScript *s, HoloTv from, HoloTv index)
{
    HoloTorch *t = s->t;
    from         = holo_script_plain(s, from);
    if (t->e->status) return (HoloTv){0};
    if (from.kind == HOLO_TORCH_DICT) {
        const HoloTv *value = find_key(from.list, &index);
        if (!value && from.list->input && index.kind == HOLO_TORCH_TEXT) return learn_key(s, from.list, index.s);
        return value ? *value : holo_script_never(s, "a key that is not in the dict,", &index);
    }
    if (from.kind == HOLO_TORCH_TENSOR) {
        HoloTv args[3] = {from, holo_tv_int(0), index};
        if (index.kind == HOLO_TORCH_TENSOR || holo_tv_is_list(&index)) {
            HoloTv list   = holo_tv_is_list(&index) ? index : holo_tv_list(t, HOLO_TORCH_LIST, 1, &index),
                   two[2] = {from, list};
            return holo_torch_apply(t, "index", 2, two);
        }
        return holo_torch_apply(t, "select", 3, args);
    }
    if (from.kind == HOLO_TORCH_TEXT) {
        int64_t i = holo_torch_int(t, &index, 0);
        if (i < 0) i += (int64_t)from.s.size;
        if (i < 0 || i >= (int64_t)from.s.size) return holo_script_never(s, "a letter that is not there", &from);
        return (HoloTv){.kind = HOLO_TORCH_TEXT, .s = {from.s.data + i, 1}};
    }
    if (!holo_tv_is_list(&from)) return holo_script_never(s, "an item", &from);
    if (from.list->sequence) {
        HoloValue *at  = holo_torch_scalar(t, &index, HOLO_I64);
        HoloValue *one = holo_emit(t->e, "SequenceAt", HOLO_IN(from.list->sequence, at), NULL);
        return from.list->numbers ? holo_tv_number(t, one) : holo_tv_tensor(t, one);
    }
    if (index.kind == HOLO_TORCH_NUMBER && from.list->count) { // numbers by a number of the run
        HoloValue *all = holo_torch_sizes(t, &from), *at = index.number;
        return holo_tv_number(t, holo_torch_gather(t, all, at, 0));
    }
    int64_t i = place_of(s, from.list, &index);
    return i < 0 ? (HoloTv){0} : from.list->item[i];
}

// ---- lists

// The element type that a value has in a sequence.
static HoloDtype number_or_own_type(HoloTorch *t, const HoloTv *v)
{
    if (v->kind == HOLO_TORCH_FLOAT) return HOLO_F64;
    if (v->kind == HOLO_TORCH_BOOL) return HOLO_BOOL;
    if (v->kind == HOLO_TORCH_INT) return HOLO_I64;
    return holo_torch_dtype_in(holo_torch_value(t, v));
}

static HoloTv append(HoloScript *s, const HoloTv *a, int count)
{
    HoloTorch     *t    = s->t;
    HoloTorchList *list = a[0].list;
    (void)count;
    if (list->sequence) {
        HoloValue *one = list->numbers ? holo_torch_scalar(t, &a[1], list->numbers) : holo_torch_value(t, &a[1]);
        list->sequence = holo_emit(t->e, "SequenceInsert", HOLO_IN(list->sequence, one), NULL);
        return a[0];
    }
    bool is_number = holo_tv_is_number(&a[1]);
    if (s->is_trial && list->depth < t->depth && a[0].kind == HOLO_TORCH_LIST &&
        (a[1].kind == HOLO_TORCH_TENSOR || is_number)) {
        bool is_known  = false;
        list->grows_by = number_or_own_type(t, &a[1]);
        if (is_number) list->numbers = list->grows_by;
        for (int i = 0; i < s->grown_count; i++) is_known |= s->grown[i] == list;
        if (!is_known && HOLO_GROW(t->arena, s->grown, s->grown_count, s->grown_room))
            s->grown[s->grown_count++] = list;
        return a[0];
    }
    if (holo_script_may_change(s, list)) holo_tv_append(t, list, a[1]);
    return a[0];
}

static HoloTv len(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    if (a[0].list->sequence)
        return holo_tv_number(s->t, holo_emit(s->t->e, "SequenceLength", HOLO_IN(a[0].list->sequence), NULL));
    return holo_tv_int(a[0].kind == HOLO_TORCH_DICT ? a[0].list->count / 2 : a[0].list->count);
}

static HoloTv insert(HoloScript *s, const HoloTv *a, int count)
{
    HoloTorchList *list = a[0].list;
    int64_t        at   = holo_torch_int(s->t, &a[1], 0);
    (void)count;
    if (at < 0) at += list->count;
    at = at < 0 ? 0 : at > list->count ? list->count : at;
    if (list->sequence || !holo_script_may_change(s, list) || !holo_tv_append(s->t, list, a[2]))
        return holo_script_never(s, "insert", &a[0]);
    for (int i = list->count - 1; i > at; i--) list->item[i] = list->item[i - 1];
    list->item[at] = a[2];
    return (HoloTv){0};
}

static HoloTv extend(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    if (!holo_tv_is_list(&a[1]) || !holo_script_may_change(s, a[0].list)) return holo_script_never(s, "extend", &a[1]);
    for (int i = 0, n = a[1].list->count; i < n && !s->t->e->status; i++)
        holo_tv_append(s->t, a[0].list, a[1].list->item[i]);
    return (HoloTv){0};
}

static HoloTv copy(HoloScript *s, const HoloTv *a, int count)
{
    HoloTv out = holo_tv_list(s->t, a[0].kind == HOLO_TORCH_TUPLE ? HOLO_TORCH_LIST : a[0].kind, a[0].list->count,
                              a[0].list->item);
    (void)count;
    if (!s->t->e->status) out.list->sequence = a[0].list->sequence;
    return out;
}

// Takes out so many items.
static void take_out(HoloTorchList *list, int at, int many)
{
    for (int i = at; i + many < list->count; i++) list->item[i] = list->item[i + many];
    list->count -= many;
}

// Of a dict by its key, which may be missing if there is a third argument.
static HoloTv pop(HoloScript *s, const HoloTv *a, int count)
{
    HoloTorchList *list = a[0].list;
    HoloTv         last = holo_tv_int(-1), value;
    if (!holo_script_may_change(s, list)) return (HoloTv){0};
    if (a[0].kind == HOLO_TORCH_DICT) {
        const HoloTv *found = count > 1 ? find_key(list, &a[1]) : NULL;
        if (!found)
            return count > 2 ? a[2] : holo_script_never(s, "pop of a key that is not in the dict,", &a[count - 1]);
        value = *found;
        take_out(list, (int)(found - list->item) - 1, 2);
        return value;
    }
    int64_t at = place_of(s, list, count > 1 ? &a[1] : &last);
    if (at < 0) return (HoloTv){0};
    value = list->item[at];
    take_out(list, (int)at, 1);
    return value;
}

static HoloTv clear(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    if (holo_script_may_change(s, a[0].list)) a[0].list->count = 0;
    return (HoloTv){0};
}

static HoloTv reverse(HoloScript *s, const HoloTv *a, int count)
{
    HoloTorchList *list = a[0].list;
    (void)count;
    if (!holo_script_may_change(s, list)) return (HoloTv){0};
    for (int i = 0, k = list->count - 1; i < k; i++, k--) {
        HoloTv item   = list->item[i];
        list->item[i] = list->item[k];
        list->item[k] = item;
    }
    return (HoloTv){0};
}

static HoloTv slice(HoloScript *s, const HoloTv *a, int count)
{
    HoloTorchList *list = a[0].list;
    int64_t        step = count > 3 ? holo_torch_int(s->t, &a[3], 1) : 1, n = list->count;
    int64_t from = count > 1 ? holo_torch_int(s->t, &a[1], 0) : 0, to = count > 2 ? holo_torch_int(s->t, &a[2], n) : n;
    HoloTv  out = holo_tv_list(s->t, a[0].kind, 0, NULL);
    if (list->sequence || !step) return holo_script_never(s, "a slice", &a[0]);
    if (step < 0) { // backwards, from the end if nothing else is said
        bool has_from = count > 1 && !holo_tv_is_none(&a[1]), has_to = count > 2 && !holo_tv_is_none(&a[2]);
        from = !has_from ? n - 1 : from < 0 ? from + n : from < n ? from : n - 1;
        to   = !has_to ? -1 : to < 0 ? (to + n < -1 ? -1 : to + n) : to;
        for (int64_t i = from; i > to && !s->t->e->status; i += step) holo_tv_append(s->t, out.list, list->item[i]);
        return out;
    }
    from = from < 0 ? (from + n < 0 ? 0 : from + n) : from;
    to   = to < 0 ? to + n : to > n ? n : to;
    for (int64_t i = from; i < to && !s->t->e->status; i += step) holo_tv_append(s->t, out.list, list->item[i]);
    return out;
}

static HoloTv joined(HoloScript *s, const HoloTv *a, int count)
{
    HoloTv out = copy(s, a, count);
    if (!holo_tv_is_list(&a[1]) || a[1].list->sequence || a[0].list->sequence)
        return holo_script_never(s, "a sum", &a[1]);
    for (int i = 0, n = a[1].list->count; i < n && !s->t->e->status; i++)
        holo_tv_append(s->t, out.list, a[1].list->item[i]);
    return out;
}

static HoloTv repeated(HoloScript *s, const HoloTv *a, int count)
{
    int64_t times = holo_torch_int(s->t, &a[1], 0);
    HoloTv  out   = holo_tv_list(s->t, a[0].kind, 0, NULL);
    (void)count;
    for (int64_t k = 0; k < times && !s->t->e->status && a[0].list->count; k++)
        for (int i = 0; i < a[0].list->count && !s->t->e->status; i++)
            holo_tv_append(s->t, out.list, a[0].list->item[i]);
    return out;
}

static HoloTv contains(HoloScript *s, const HoloTv *a, int count)
{
    (void)s, (void)count;
    int step = a[0].kind == HOLO_TORCH_DICT ? 2 : 1;
    for (int i = 0; i < a[0].list->count; i += step)
        if (holo_script_equal(&a[0].list->item[i], &a[1])) return holo_tv_bool(true);
    return holo_tv_bool(false);
}

static HoloTv set_item(HoloScript *s, const HoloTv *a, int count)
{
    HoloTorchList *list = a[0].list;
    (void)count;
    if (list->sequence) return holo_script_never(s, "an assignment to an item", &a[0]);
    if (!holo_script_may_change(s, list)) return (HoloTv){0};
    if (a[0].kind == HOLO_TORCH_DICT) {
        HoloTv *value = find_key(list, &a[1]);
        if (value)
            *value = a[2];
        else if (holo_tv_append(s->t, list, a[1]))
            holo_tv_append(s->t, list, a[2]);
        return (HoloTv){0};
    }
    int64_t at = place_of(s, list, &a[1]);
    if (at >= 0) list->item[at] = a[2];
    return (HoloTv){0};
}

static HoloTv item(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    return holo_script_item(s, a[0], a[1]);
}

// A key that is not there has the third argument's value, or None. Of an input that is a dict the key is asked for.
static HoloTv get(HoloScript *s, const HoloTv *a, int count)
{
    bool is_there = a[0].kind != HOLO_TORCH_DICT || find_key(a[0].list, &a[1]);
    if (!is_there && (count > 2 || !a[0].list->input)) return count > 2 ? a[2] : (HoloTv){0};
    return holo_script_item(s, a[0], a[1]);
}

static HoloTv set_default(HoloScript *s, const HoloTv *a, int count)
{
    if (a[0].kind != HOLO_TORCH_DICT) return holo_script_never(s, "setdefault", &a[0]);
    if (!find_key(a[0].list, &a[1])) set_item(s, a, count);
    return holo_script_item(s, a[0], a[1]);
}

static HoloTv update(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    if (a[0].kind != HOLO_TORCH_DICT || a[1].kind != HOLO_TORCH_DICT) return holo_script_never(s, "update", &a[1]);
    for (int i = 0; i + 1 < a[1].list->count && !s->t->e->status; i += 2)
        set_item(s, (HoloTv[]){a[0], a[1].list->item[i], a[1].list->item[i + 1]}, 3);
    return (HoloTv){0};
}

// Lists with numbers that only a run knows: each pair is compared.
static bool equal_numbers(HoloScript *s, const HoloTv *a, const HoloTv *b, HoloTv *out)
{
    bool is_open = false;
    if (!holo_tv_is_list(a) || !holo_tv_is_list(b) || a->list->sequence || b->list->sequence ||
        a->list->count != b->list->count)
        return false;
    for (int i = 0; i < a->list->count; i++) {
        const HoloTv *x = &a->list->item[i], *y = &b->list->item[i];
        if (!holo_tv_is_number(x) || !holo_tv_is_number(y)) return false;
        is_open |= x->kind == HOLO_TORCH_NUMBER || y->kind == HOLO_TORCH_NUMBER;
    }
    *out = holo_tv_bool(true);
    for (int i = 0; is_open && i < a->list->count; i++) {
        HoloTv pair[2] = {a->list->item[i], b->list->item[i]}, one, both[2] = {*out};
        holo_torch_numbers(s->t, "eq", pair, 2, &one);
        both[1] = one;
        holo_torch_numbers(s->t, "__and__", both, 2, out);
    }
    return is_open;
}

static HoloTv equal(HoloScript *s, const HoloTv *a, int count)
{
    HoloTv out;
    (void)count;
    return equal_numbers(s, &a[0], &a[1], &out) ? out : holo_tv_bool(holo_script_equal(&a[0], &a[1]));
}

static HoloTv unequal(HoloScript *s, const HoloTv *a, int count)
{
    HoloTv same = equal(s, a, count), out = {0};
    holo_torch_numbers(s->t, "__not__", &same, 1, &out);
    return out;
}

// any(list), all(list)
static HoloTv truth_of(HoloScript *s, const HoloTv *a, bool is_any)
{
    HoloTv out = holo_tv_bool(!is_any);
    for (int i = 0; i < a[0].list->count && !s->t->e->status; i++) {
        HoloTv both[2] = {out, {0}};
        if (!holo_torch_numbers(s->t, "Bool", &a[0].list->item[i], 1, &both[1]) ||
            !holo_torch_numbers(s->t, is_any ? "__or__" : "__and__", both, 2, &out))
            return holo_script_never(s, is_any ? "any" : "all", &a[0].list->item[i]);
    }
    return out;
}

static HoloTv any(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    return truth_of(s, a, true);
}

static HoloTv all(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    return truth_of(s, a, false);
}

// A dict of a dict, or of pairs.
static HoloTv dict(HoloScript *s, const HoloTv *a, int count)
{
    if (a[0].kind == HOLO_TORCH_DICT) return copy(s, a, count);
    HoloTv out = holo_tv_list(s->t, HOLO_TORCH_DICT, 0, NULL);
    for (int i = 0; i < a[0].list->count && !s->t->e->status; i++) {
        const HoloTv *pair = &a[0].list->item[i];
        if (!holo_tv_is_list(pair) || pair->list->count != 2) return holo_script_never(s, "a dict", pair);
        set_item(s, (HoloTv[]){out, pair->list->item[0], pair->list->item[1]}, 3);
    }
    return out;
}

static HoloTv dict_part(HoloScript *s, const HoloTv *a, int offset)
{
    HoloTv out = holo_tv_list(s->t, HOLO_TORCH_LIST, 0, NULL);
    if (a[0].kind != HOLO_TORCH_DICT) return holo_script_never(s, "keys", &a[0]);
    for (int i = offset; i < a[0].list->count && !s->t->e->status; i += 2)
        holo_tv_append(s->t, out.list, a[0].list->item[i]);
    return out;
}

static HoloTv keys(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    return dict_part(s, a, 0);
}

static HoloTv values(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    return dict_part(s, a, 1);
}

static HoloTv items(HoloScript *s, const HoloTv *a, int count)
{
    HoloTv out = holo_tv_list(s->t, HOLO_TORCH_LIST, 0, NULL);
    (void)count;
    if (a[0].kind != HOLO_TORCH_DICT) return holo_script_never(s, "items", &a[0]);
    for (int i = 0; i + 1 < a[0].list->count && !s->t->e->status; i += 2)
        holo_tv_append(s->t, out.list, holo_tv_list(s->t, HOLO_TORCH_TUPLE, 2, &a[0].list->item[i]));
    return out;
}

// The sum, or an extreme, of numbers.
static HoloTv folded(HoloScript *s, const HoloTv *a, const char *op)
{
    HoloTv out = a[0].list->count ? a[0].list->item[0] : holo_tv_int(0);
    for (int i = 1; i < a[0].list->count && !s->t->e->status; i++)
        if (!holo_torch_numbers(s->t, op, (HoloTv[]){out, a[0].list->item[i]}, 2, &out))
            return holo_script_never(s, op, &a[0].list->item[i]);
    return out;
}

static HoloTv sum(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    return folded(s, a, "add");
}

static HoloTv greatest(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    return folded(s, a, "max");
}

static HoloTv least(HoloScript *s, const HoloTv *a, int count)
{
    (void)count;
    return folded(s, a, "min");
}

// cat and stack of a sequence
static HoloTv join_sequence(HoloScript *s, const HoloTv *a, int count, int new_axis)
{
    int64_t axis = count > 1 ? holo_torch_int(s->t, &a[1], 0) : 0;
    return holo_tv_tensor(s->t,
                          holo_emit(s->t->e, "ConcatFromSequence", HOLO_IN(a[0].list->sequence),
                                    HOLO_ATTRS(holo_with_int("axis", axis), holo_with_int("new_axis", new_axis))));
}

static HoloTv cat(HoloScript *s, const HoloTv *a, int count)
{
    return join_sequence(s, a, count, 0);
}

static HoloTv stack(HoloScript *s, const HoloTv *a, int count)
{
    return join_sequence(s, a, count, 1);
}

static const HoloScriptRow on_lists[] = {
    {"append", 2, append},
    {"len", 1, len},
    {"insert", 3, insert},
    {"extend", 2, extend},
    {"pop", 1, pop},
    {"clear", 1, clear},
    {"copy", 1, copy},
    {"list", 1, copy},
    {"dict", 1, dict},
    {"any", 1, any},
    {"all", 1, all},
    {"reverse", 1, reverse},
    {"slice", 2, slice},
    {"add", 2, joined},
    {"add_", 2, extend},
    {"mul", 2, repeated},
    {"__contains__", 2, contains},
    {"_set_item", 3, set_item},
    {"__setitem__", 3, set_item},
    {"__getitem__", 2, item},
    {"get", 2, get},
    {"setdefault", 3, set_default},
    {"update", 2, update},
    {"Delete", 2, pop},
    {"select", 2, item},
    {"TupleIndex", 2, item},
    {"eq", 2, equal},
    {"ne", 2, unequal},
    {"keys", 1, keys},
    {"values", 1, values},
    {"items", 1, items},
    {"sum", 1, sum},
    {"max", 1, greatest},
    {"min", 1, least},
};
// tensor(list) of numbers: of whole ones i64, of others f32
static HoloTv tensor(HoloScript *s, const HoloTv *a, int count)
{
    HoloTv    joined_all = join_sequence(s, a, 1, 1);
    HoloDtype dtype      = a[0].list->numbers == HOLO_F64 ? HOLO_F32 : a[0].list->numbers;
    dtype                = count > 1 ? holo_torch_dtype(s->t, &a[1], dtype) : dtype;
    return holo_tv_tensor(s->t, holo_emit_cast(s->t->e, holo_torch_value(s->t, &joined_all), dtype));
}

static const HoloScriptRow on_sequences[] = {
    {"cat", 1, cat}, {"stack", 1, stack}, {"tensor", 1, tensor}, {"as_tensor", 1, tensor}};

bool holo_script_container(HoloScript *s, const char *name, const HoloTv *args, int count, HoloTv *out)
{
    if (!count) {
        bool is_list = !strcmp(name, "list"), is_dict = !strcmp(name, "dict");
        if (is_list || is_dict) *out = holo_tv_list(s->t, is_list ? HOLO_TORCH_LIST : HOLO_TORCH_DICT, 0, NULL);
        return is_list || is_dict;
    }
    if (args[0].kind == HOLO_TORCH_TEXT || !strcmp(name, "str")) return holo_script_words(s, name, args, count, out);
    if (count == 2 && (args[0].kind == HOLO_TORCH_NONE || args[1].kind == HOLO_TORCH_NONE) &&
        (!strcmp(name, "eq") || !strcmp(name, "ne"))) {
        *out = holo_tv_bool((args[0].kind == args[1].kind) == (name[0] == 'e'));
        return true;
    }
    HoloTv first = holo_script_plain(s, args[0]);
    if (!is_container(&first)) return false;
    if (first.list->sequence && holo_script_row(s, on_sequences, HOLO_COUNT(on_sequences), name, args, count, out))
        return true;
    if (args[0].kind == HOLO_TORCH_OBJECT) {
        HoloTv *all = HOLO_NEW(s->t->arena, HoloTv, count);
        if (!all) return false;
        memcpy(all, args, (size_t)count * sizeof *all);
        all[0] = first;
        args   = all;
    }
    return holo_script_row(s, on_lists, HOLO_COUNT(on_lists), name, args, count, out) ||
           holo_script_order(s, name, args, count, out);
}
