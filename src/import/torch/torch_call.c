// torch_call.c - calls of operators: finds the row, puts arguments in their places, and writes results where an operator
// changes its first argument.
#include "import/torch/torch.h"

#include <stdio.h>
#include <string.h>

HoloStatus holo_torch_init(HoloTorch *t, HoloImport *import, HoloEmit *e)
{
    t->e         = e;
    t->import    = import;
    t->arena     = import->arena;
    t->steps_max = 400000 + (int64_t)(import->from->file.size / 16);
    for (int i = 0; holo_torch_tables[i]; i++)
        for (const HoloTorchOp *op = holo_torch_tables[i]; op->name; op++)
            if (!holo_name_map_set(&t->ops, t->arena, (HoloString){op->name, strlen(op->name)}, (void *)op))
                return holo_fail_memory(import->error);
    return HOLO_OK;
}

bool holo_torch_step(HoloTorch *t, int64_t count)
{
    if (t->e->status) return false;
    t->steps += count;
    if (t->steps <= t->steps_max) return true;
    holo_emit_fail(t->e, HOLO_UNSUPPORTED, "the program takes too many steps to unroll");
    return false;
}

// Operators of some spaces are other ones than those of ATen with the same names.
static const char *full_name(const HoloTorchCall *call, char *room, size_t size)
{
    if (strncmp(call->space, "quantized", 9) && strcmp(call->space, "prepacked")) return call->name;
    snprintf(room, size, "%.60s.%.120s", call->space, call->name);
    return room;
}

const HoloTorchOp *holo_torch_find(HoloTorch *t, const char *name)
{
    return holo_name_map_find(&t->ops, (HoloString){name, strlen(name)});
}

// Is `name` one of "self|input"?
static bool is_one_of(const char *word, size_t size, const char *name)
{
    size_t length = strlen(name);
    for (const char *end = word + size; word < end;) {
        const char *bar  = memchr(word, '|', (size_t)(end - word));
        size_t      part = (size_t)((bar ? bar : end) - word);
        if (part == length && !memcmp(word, name, length)) return true;
        word += part + 1;
    }
    return false;
}

// The place of a parameter; -1: there is none of that name.
int holo_torch_place(const char *params, const char *name)
{
    for (int i = 0; *params; i++) {
        size_t size = strcspn(params, " ");
        if (is_one_of(params, size, name)) return i;
        params += size;
        while (*params == ' ') params++;
    }
    return -1;
}

// Parameters that change nothing here: where memory is, and how it is laid out.
static bool is_ignored(const char *name)
{
    static const char *const names[] = {
        "layout",        "device",    "pin_memory", "memory_format", "non_blocking", "copy",        "cudnn_enable",
        "cudnn_enabled", "generator", "implicit",   "requires_grad", "is_coalesced", "check_errors"};
    for (int i = 0; i < HOLO_COUNT(names); i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

static bool bind(HoloTorch *t, const HoloTorchOp *op, const HoloTorchCall *call, HoloTv *args)
{
    for (int i = 0; i < call->count; i++) {
        const char *name  = call->names ? call->names[i] : NULL;
        int         place = name && *name ? holo_torch_place(op->params, name) : i;
        if (place < 0 && is_ignored(name)) continue;
        if (place < 0) {
            holo_emit_fail(t->e, HOLO_UNSUPPORTED, "%s::%s: its argument '%s' is not supported", call->space,
                           call->name, name);
            return false;
        }
        if (place < HOLO_TORCH_PARAMS) args[place] = call->args[i];
    }
    return true;
}

// ---- unknown operators

static bool is_unknown(const HoloTv *v)
{
    if (v->kind == HOLO_TORCH_UNKNOWN) return true;
    for (int i = 0; holo_tv_is_list(v) && i < v->list->count; i++)
        if (v->list->item[i].kind == HOLO_TORCH_UNKNOWN) return true;
    return false;
}

static const HoloTv *find_unknown(const HoloTorchCall *call)
{
    for (int i = 0; i < call->count; i++)
        if (is_unknown(&call->args[i])) return &call->args[i];
    return NULL;
}

static void add_unknown(HoloTorch *t, const HoloTorchCall *call, HoloTv *out)
{
    char       name[300];
    HoloValue *in[HOLO_TORCH_PARAMS], *result;
    int        count = 0;
    for (int i = 0; i < call->count && count < HOLO_TORCH_PARAMS; i++)
        if (call->args[i].kind == HOLO_TORCH_TENSOR) in[count++] = holo_torch_value(t, &call->args[i]);
    snprintf(name, sizeof name, "%.100s::%.180s", call->space, call->name);
    result = holo_emit(t->e, name, (HoloEmitIn){count, in}, NULL);
    t->unknown_count++;
    *out = (HoloTv){.kind = HOLO_TORCH_UNKNOWN, .number = result};
}

// All results that are expected are unknown.
static void spread_unknown(HoloTorch *t, const HoloTorchCall *call, HoloTv *out)
{
    HoloTv one = *out;
    if (call->results < 2) return;
    *out = holo_tv_list(t, HOLO_TORCH_TUPLE, 0, NULL);
    for (int i = 0; i < call->results && !t->e->status; i++) holo_tv_append(t, out->list, one);
}

// ---- calls

static void emit_row(HoloTorch *t, const HoloTorchOp *op, const HoloTv *args, HoloTv *out)
{
    if (op->one)
        *out = holo_tv_tensor(t, op->one(t, args));
    else
        op->any(t, args, out);
}

void holo_torch_row(HoloTorch *t, const HoloTorchOp *op, const HoloTv *args, HoloTv *out)
{
    emit_row(t, op, args, out);
    if (op->flags & HOLO_TORCH_VIEW) *out = holo_torch_view(t, op, args, *out);
}

// add_, and __iadd__ which is the same: the operator, and then the result is written to the first argument.
static const HoloTorchOp *find_writer(HoloTorch *t, const char *name)
{
    char   plain[128];
    size_t size = strlen(name);
    if (size < 2 || size >= sizeof plain) return NULL;
    if (size > 5 && !strncmp(name, "__i", 3) && !strcmp(name + size - 2, "__")) {
        snprintf(plain, sizeof plain, "%.*s", (int)(size - 5), name + 3);
    } else if (name[size - 1] == '_' && name[size - 2] != '_') {
        snprintf(plain, sizeof plain, "%.*s", (int)(size - 1), name);
    } else {
        return NULL;
    }
    const HoloTorchOp *op = holo_torch_find(t, plain);
    return op && !(op->flags & HOLO_TORCH_FIRST) ? op : NULL;
}

static void write_result(HoloTorch *t, const HoloTv *args, HoloTv *out)
{
    if (!t->e->status && args[0].kind == HOLO_TORCH_COMPLEX) {
        holo_torch_complex_write(t, &args[0], out);
        *out = args[0];
    }
    if (!t->e->status && args[0].kind == HOLO_TORCH_QUANTIZED && out->kind == HOLO_TORCH_QUANTIZED)
        args[0].list->item[0] = out->list->item[0]; // who else has it sees it, too
    if (t->e->status || args[0].kind != HOLO_TORCH_TENSOR || out->kind != HOLO_TORCH_TENSOR) return;
    HoloValue *before = holo_torch_read(t, args[0].tensor);
    HoloValue *value  = holo_emit_cast(t->e, holo_torch_read(t, out->tensor), holo_emit_dtype(before));
    holo_torch_write(t, args[0].tensor, value);
    *out = args[0];
}

// Operators that leave tokens where they are give a nested tensor of a nested one; the others cannot take one.
static void keep_nested(HoloTorch *t, const HoloTorchOp *op, const HoloTv *args, HoloTv *out)
{
    static const char names[] = " _transformer_encoder_layer_fwd layer_norm linear dropout relu gelu size dim "
                                "to_padded_tensor ";
    size_t            size    = strlen(op->name);
    const char       *at      = names;
    if (t->e->status || args[0].kind != HOLO_TORCH_TENSOR || !args[0].tensor->inside) return;
    while ((at = strstr(at, op->name)) && !(at[-1] == ' ' && at[size] == ' ')) at++;
    if (!at)
        holo_emit_fail(t->e, HOLO_UNSUPPORTED, "%s of a nested tensor", op->name);
    else if (out->kind == HOLO_TORCH_TENSOR && strcmp(op->name, "to_padded_tensor"))
        out->tensor->inside = args[0].tensor->inside;
}

void holo_torch_call(HoloTorch *t, const HoloTorchCall *call, HoloTv *out)
{
    *out = (HoloTv){0};
    if (!holo_torch_step(t, 1 + call->count)) return;
    char               room[200];
    const char        *name = full_name(call, room, sizeof room);
    const HoloTorchOp *op = holo_torch_find(t, name), *writer = op ? NULL : find_writer(t, name);
    const HoloTv      *unknown     = find_unknown(call);
    bool               is_composed = !op && !writer && holo_torch_is_composed(name);
    if (!op) op = writer;
    if (!op && !is_composed) {
        add_unknown(t, call, out);
        spread_unknown(t, call, out);
        return;
    }
    if (unknown) {
        *out = *unknown;
        if (holo_tv_is_list(out))
            for (int i = 0; i < unknown->list->count; i++)
                if (is_unknown(&unknown->list->item[i])) *out = unknown->list->item[i];
        spread_unknown(t, call, out);
        return;
    }
    if (is_composed) {
        holo_torch_composed(t, call, out);
        return;
    }
    HoloTv *args = HOLO_NEW(t->arena, HoloTv, HOLO_TORCH_PARAMS);
    if (!args) {
        holo_emit_fail(t->e, HOLO_NO_MEMORY, "there is not enough memory");
        return;
    }
    if (!bind(t, op, call, args)) return;
    if (!holo_torch_complex(t, op, args, out) && !holo_torch_on_quantized(t, op, args, out)) {
        if (writer)
            emit_row(t, op, args, out);
        else
            holo_torch_row(t, op, args, out);
    }
    if (writer) write_result(t, args, out);
    keep_nested(t, op, args, out);
}

HoloTv holo_torch_apply(HoloTorch *t, const char *name, int count, const HoloTv *args)
{
    HoloTv out;
    holo_torch_call(t, &(HoloTorchCall){.space = "aten", .name = name, .args = args, .count = count}, &out);
    return out;
}
