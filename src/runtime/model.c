// model.c - opens archives: maps the file, checks it, finds the operators. It does not touch the weights.
#include "runtime/model.h"

#include "base/dim/dim.h"
#include "base/text.h"
#include "devices/device.h"
#include "runtime/sharing.h"

#include <stdio.h>
#include <string.h>

#define TAKE(model, type, count, out)                                    \
    do {                                                                 \
        *(out) = HOLO_NEW(&(model)->arena, type, (count) ? (count) : 1); \
        if (!*(out)) return holo_fail_memory(error);                     \
    } while (0)

// ---- targets, operators, attributes, constants

// The device of each target. Number 0 is the CPU. If some are missing, the plans for the CPU alone can still run.
static HoloStatus devices_find(HoloModel *model, uint32_t count, HoloError *error)
{
    const HoloArchive *a = &model->archive;
    TAKE(model, const HoloDevice *, count, &model->devices);
    model->devices[0]   = holo_devices[0];
    model->device_count = a->DEVICE_PLANS_count ? 1 : count;
    for (uint32_t i = 1; i < count; i++) {
        const char *name = holo_model_text(model, a->TARGETS_at[i].name);
        char        there[200];
        model->devices[i] = holo_device_find(name);
        if (model->devices[i] || a->DEVICE_PLANS_count) continue;
        holo_device_names(there, sizeof there);
        return holo_fail(
            error, HOLO_UNSUPPORTED,
            "the model was compiled for the target '%.40s', which this program does not have: run it with a "
            "program that has it, or compile it again for one of: %s",
            name, there);
    }
    return HOLO_OK;
}

static HoloStatus ops_find(HoloModel *model, HoloError *error)
{
    const HoloArchive *a = &model->archive;
    TAKE(model, const HoloOp *, a->OPS_count, &model->ops);
    for (size_t i = 0; i < a->OPS_count; i++) {
        const HoloOpRecord *r      = &a->OPS_at[i];
        const char         *domain = holo_model_text(model, r->domain), *name = holo_model_text(model, r->name);
        model->ops[i] = holo_op_find(domain, name, (int)r->version);
        if (!model->ops[i] || !model->ops[i]->eval)
            return holo_fail(error, HOLO_UNSUPPORTED, "this runtime has no operator %s%s%s (version %u)", domain,
                             *domain ? "::" : "", name, r->version);
    }
    return HOLO_OK;
}

static HoloStatus strings_load(HoloModel *model, const HoloConstantRecord *k, void **out, HoloError *error)
{
    const uint8_t  *bytes = model->archive.WEIGHTS_at + k->offset;
    const uint64_t *sizes = (const void *)bytes;
    uint64_t        at    = k->count * 8;
    HoloString     *strings;
    TAKE(model, HoloString, k->count, &strings);
    for (uint64_t i = 0; i < k->count; i++) {
        if (sizes[i] > k->size - at) return holo_fail(error, HOLO_BAD_ARCHIVE, "a string constant is broken");
        strings[i] = (HoloString){(const char *)bytes + at, sizes[i]};
        at += sizes[i];
    }
    *out = strings;
    return HOLO_OK;
}

static HoloStatus constants_load(HoloModel *model, HoloError *error)
{
    const HoloArchive *a = &model->archive;
    TAKE(model, void *, a->CONSTANTS_count, &model->constants);
    for (size_t i = 0; i < a->CONSTANTS_count; i++) {
        const HoloConstantRecord *k = &a->CONSTANTS_at[i];
        if (k->dtype == HOLO_STRING)
            HOLO_TRY(strings_load(model, k, &model->constants[i], error));
        else
            model->constants[i] = (void *)(uintptr_t)(a->WEIGHTS_at + k->offset);
    }
    return HOLO_OK;
}

static HoloStatus tensor_load(HoloModel *model, uint64_t at, HoloAttr *attr, HoloError *error)
{
    const HoloTensorRecord *r = (const void *)(model->archive.BYTES_at + at);
    HoloTensor             *t;
    TAKE(model, HoloTensor, 1, &t);
    *t = (HoloTensor){.dtype = r->dtype, .kind = r->kind, .inner = r->inner, .rank = r->rank};
    memcpy(t->dim, r->dim, sizeof t->dim);
    if (r->constant != HOLO_NO_VALUE) t->data = model->constants[r->constant];
    attr->tensor = t;
    return HOLO_OK;
}

static HoloStatus attr_load(HoloModel *model, const HoloAttrRecord *r, HoloAttr *attr, HoloError *error)
{
    const HoloArchive *a     = &model->archive;
    const uint8_t     *bytes = a->BYTES_at + (r->value <= a->BYTES_count ? r->value : 0);
    *attr = (HoloAttr){.name = holo_model_text(model, r->name), .kind = r->kind, .count = (int32_t)r->count};
    switch (r->kind) {
    case HOLO_ATTR_INT: attr->i = (int64_t)r->value; break;
    case HOLO_ATTR_FLOAT: memcpy(&attr->f, &r->value, sizeof attr->f); break;
    case HOLO_ATTR_STRING: attr->s = (HoloString){(const char *)bytes, r->count}; break;
    case HOLO_ATTR_GRAPH: attr->graph = (void *)(uintptr_t)&a->PLANS_at[r->value]; break;
    case HOLO_ATTR_INTS: attr->ints = (const void *)bytes; break;
    case HOLO_ATTR_FLOATS: attr->floats = (const void *)bytes; break;
    case HOLO_ATTR_TENSOR:
    case HOLO_ATTR_TYPE: return tensor_load(model, r->value, attr, error);
    case HOLO_ATTR_STRINGS: {
        const HoloSpan *span = (const void *)bytes;
        HoloString     *strings;
        TAKE(model, HoloString, r->count, &strings);
        for (uint32_t i = 0; i < r->count; i++)
            strings[i] = (HoloString){(const char *)a->BYTES_at + span[i].offset, span[i].size};
        attr->strings = strings;
        break;
    }
    }
    return HOLO_OK;
}

static HoloStatus attrs_load(HoloModel *model, HoloError *error)
{
    const HoloArchive *a = &model->archive;
    TAKE(model, HoloAttr, a->ATTRS_count, &model->attrs);
    for (size_t i = 0; i < a->ATTRS_count; i++) HOLO_TRY(attr_load(model, &a->ATTRS_at[i], &model->attrs[i], error));
    return HOLO_OK;
}

// ---- inputs and outputs

// How tightly the context of an expression binds. What binds less tightly gets parentheses.
enum { IN_SUM, IN_PRODUCT, IN_QUOTIENT };

static bool needs_brackets(int op, int around)
{
    if (op == HOLO_DIM_ADD || op == HOLO_DIM_DIV) return around != IN_SUM;
    return op == HOLO_DIM_MUL && around == IN_QUOTIENT;
}

static void operation_text(int op, const char *a, const char *b, char *text, size_t size)
{
    bool is_negative = *b == '-';
    switch (op) {
    case HOLO_DIM_ADD: snprintf(text, size, "%s%s%s", a, is_negative ? "" : "+", b); return;
    case HOLO_DIM_MUL: snprintf(text, size, strcmp(a, "-1") ? "%s*%s" : "%.1s%s", a, b); return;
    case HOLO_DIM_DIV: snprintf(text, size, is_negative ? "%s//(%s)" : "%s//%s", a, b); return;
    default: snprintf(text, size, "%s(%s,%s)", op == HOLO_DIM_MIN ? "min" : "max", a, b);
    }
}

// Prints an expression, which archives keep as nodes, as holo_dim_print does. Nodes may be nested deeply and used many
// times, so at most `left` are printed.
static void dim_text(const HoloModel *model, int64_t d, int around, char *text, size_t size, int *left)
{
    if (!holo_dim_is_symbolic(d)) {
        snprintf(text, size, "%lld", (long long)d);
        return;
    }
    if (d == HOLO_DIM_UNKNOWN || --*left < 0) {
        snprintf(text, size, "?");
        return;
    }
    const HoloDimRecord *r = &model->archive.DIMS_at[(uint32_t)d];
    if (r->op == HOLO_DIM_SYMBOL) {
        char name[100], quoted[2 * sizeof name + 2];
        holo_text_short(holo_model_text(model, model->archive.SYMBOLS_at[r->a]), name, sizeof name);
        holo_dim_print_name(name, quoted, sizeof quoted);
        holo_text_short(quoted, text, size);
        return;
    }
    int  inner = r->op == HOLO_DIM_MUL ? IN_PRODUCT : r->op == HOLO_DIM_DIV ? IN_QUOTIENT : IN_SUM;
    char a[104], b[104], whole[2 * sizeof a + 16], closed[sizeof whole + 2];
    dim_text(model, r->a, inner, a, sizeof a, left);
    dim_text(model, r->b, inner, b, sizeof b, left);
    operation_text(r->op, a, b, whole, sizeof whole);
    snprintf(closed, sizeof closed, needs_brackets(r->op, around) ? "(%s)" : "%s", whole);
    holo_text_short(closed, text, size);
}

void holo_model_dim_text(const HoloModel *model, int64_t size, char *text, size_t room)
{
    const HoloArchive   *a = &model->archive;
    const HoloDimRecord *alone =
        holo_dim_is_symbolic(size) && size != HOLO_DIM_UNKNOWN ? &a->DIMS_at[(uint32_t)size] : NULL;
    int left = 50;
    if (alone && alone->op == HOLO_DIM_SYMBOL) // a name that no expression surrounds is not quoted
        holo_text_short(holo_model_text(model, a->SYMBOLS_at[alone->a]), text, room);
    else
        dim_text(model, size, IN_SUM, text, room, &left);
}

// The text of an entry of DIMS, made once, since many ports may have the same sizes.
static const char *entry_text(HoloModel *model, int64_t size, const char **texts)
{
    const char **have = &texts[size == HOLO_DIM_UNKNOWN ? model->archive.DIMS_count : (uint32_t)size];
    char         text[300];
    if (*have) return *have;
    holo_model_dim_text(model, size, text, sizeof text);
    return *have = holo_arena_text(&model->arena, text, strlen(text));
}

// The only number that may be given for a symbol; -1: there is no such number.
static int64_t only_number(const HoloArchive *a, int64_t size)
{
    if (size == HOLO_DIM_UNKNOWN) return -1;
    const HoloDimRecord *r = &a->DIMS_at[(uint32_t)size];
    return r->op == HOLO_DIM_SYMBOL && r->b > 0 ? r->b : -1;
}

static HoloStatus port_load(HoloModel *model, const HoloPlanRecord *plan, uint32_t operand, const char **texts,
                            HoloPort *port, HoloError *error)
{
    const HoloArchive     *a = &model->archive;
    const HoloValueRecord *v = &a->VALUES_at[plan->value_first + a->OPERANDS_at[operand]];
    port->name               = holo_model_text(model, v->name);
    port->optional           = v->kind == HOLO_OPTIONAL || (v->storage == HOLO_STORE_INPUT && v->at);
    port->type               = (HoloTensor){.dtype = v->dtype, .kind = v->kind, .inner = v->inner, .rank = v->rank};
    for (int d = 0; d < v->rank; d++) {
        int64_t size      = a->SIZES_at[v->size_first + (uint32_t)d];
        port->type.dim[d] = size;
        if (!holo_dim_is_symbolic(size)) continue;
        port->type.dim[d] = only_number(a, size);
        if (port->type.dim[d] >= 0) continue;
        port->symbol[d] = entry_text(model, size, texts);
        if (!port->symbol[d]) return holo_fail_memory(error);
    }
    return HOLO_OK;
}

static bool is_entry(int64_t size)
{
    return holo_dim_is_symbolic(size) && size != HOLO_DIM_UNKNOWN;
}

// Finds what steps, outputs and views of the model's own plan read, and how often sizes and expressions use each entry
// of DIMS.
static void uses_find(const HoloArchive *a, const HoloPlanRecord *plan, bool *is_read, uint32_t *uses)
{
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const HoloStepRecord *s = &a->STEPS_at[plan->step_first + i];
        for (uint32_t k = 0; k < s->in_count; k++) {
            uint32_t value = a->OPERANDS_at[s->operand_first + k];
            if (value != HOLO_NO_VALUE) is_read[value] = true;
        }
    }
    for (uint32_t i = 0; i < plan->output_count; i++) is_read[a->OPERANDS_at[plan->output_first + i]] = true;
    for (uint32_t i = 0; i < plan->value_count; i++) {
        const HoloValueRecord *v = &a->VALUES_at[plan->value_first + i];
        if (holo_store_is_shared(v->storage)) is_read[v->at] = true;
    }
    for (size_t i = 0; a->DIMS_count && i < a->SIZES_count; i++)
        if (is_entry(a->SIZES_at[i])) uses[(uint32_t)a->SIZES_at[i]]++;
    for (size_t i = 0; i < a->DIMS_count; i++) {
        const HoloDimRecord *r = &a->DIMS_at[i];
        if (r->op == HOLO_DIM_SYMBOL) continue;
        if (is_entry(r->a)) uses[(uint32_t)r->a]++;
        if (is_entry(r->b)) uses[(uint32_t)r->b]++;
    }
}

static HoloStatus free_inputs_find(HoloModel *model, const HoloPlanRecord *plan, HoloError *error)
{
    const HoloArchive *a       = &model->archive;
    HoloArena          scratch = {0};
    bool              *is_read = HOLO_NEW(&scratch, bool, plan->value_count + 1);
    uint32_t          *uses    = HOLO_NEW(&scratch, uint32_t, a->DIMS_count + 1);
    HoloStatus         status  = is_read && uses ? HOLO_OK : holo_fail_memory(error);
    if (!status) uses_find(a, plan, is_read, uses);
    for (uint32_t i = 0; !status && i < plan->input_count; i++) {
        uint32_t               value = a->OPERANDS_at[plan->input_first + i];
        const HoloValueRecord *v     = &a->VALUES_at[plan->value_first + value];
        model->inputs[i].any_shape   = !is_read[value];
        for (int d = 0; d < v->rank; d++) {
            int64_t size = a->SIZES_at[v->size_first + (uint32_t)d];
            if (is_entry(size) && uses[(uint32_t)size] > 1) model->inputs[i].any_shape = false;
        }
    }
    holo_arena_deinit(&scratch);
    return status;
}

static HoloStatus ports_load(HoloModel *model, HoloError *error)
{
    const HoloPlanRecord *plan = &model->archive.PLANS_at[model->plan];
    const char          **texts;
    TAKE(model, const char *, model->archive.DIMS_count + 1, &texts);
    TAKE(model, HoloPort, plan->input_count, &model->inputs);
    TAKE(model, HoloPort, plan->output_count, &model->outputs);
    for (uint32_t i = 0; i < plan->input_count; i++) {
        HOLO_TRY(port_load(model, plan, plan->input_first + i, texts, &model->inputs[i], error));
        uint32_t value = model->archive.OPERANDS_at[plan->input_first + i];
        model->state_count += holo_value_is_state(&model->archive.VALUES_at[plan->value_first + value]);
    }
    for (uint32_t i = 0; i < plan->output_count; i++)
        HOLO_TRY(port_load(model, plan, plan->output_first + i, texts, &model->outputs[i], error));
    return free_inputs_find(model, plan, error);
}

// ---- entries

// A model that shares everything but its plan, and so its inputs and outputs. What it takes for these is the other's.
static HoloStatus entry_load(HoloModel *model, uint32_t plan, const char *name, HoloModel *out, HoloError *error)
{
    *out          = *model;
    out->mapping  = (HoloMapping){0};
    out->arena    = (HoloArena){0};
    out->is_entry = true;
    out->plan     = plan;
    out->name     = name;
    out->entries = out->twin = NULL;
    out->state_count         = 0;
    out->runner              = holo_runner_create();
    if (!out->runner) return holo_fail_memory(error);
    out->archive.MEMO_SLOTS_at    = NULL; // a memo belongs to the first entry
    out->archive.MEMO_SLOTS_count = out->archive.MEMO_ENTRIES_count = out->archive.MEMO_TENSORS_count = 0;
    return ports_load(out, error);
}

// The first entry is the model itself.
static HoloStatus entries_load(HoloModel *model, HoloError *error)
{
    const HoloArchive *a = &model->archive;
    model->name          = a->ENTRIES_count ? holo_model_text(model, a->ENTRIES_at[0].name) : "";
    if (a->ENTRIES_count < 2) return HOLO_OK;
    TAKE(model, HoloModel, a->ENTRIES_count - 1, &model->entries);
    for (size_t i = 1; i < a->ENTRIES_count; i++) {
        const HoloEntryRecord *record = &a->ENTRIES_at[i];
        model->entry_count++;
        HOLO_TRY(entry_load(model, record->plan, holo_model_text(model, record->name), &model->entries[i - 1], error));
    }
    return HOLO_OK;
}

// The second plans of the entries, if this program has all devices that they may use.
static HoloStatus twins_load(HoloModel *model, uint32_t device_count, HoloError *error)
{
    const HoloArchive *a = &model->archive;
    HoloModel         *twins;
    bool               is_here = a->DEVICE_PLANS_count;
    for (uint32_t i = 1; i < device_count; i++) is_here = is_here && model->devices[i];
    if (!is_here) return HOLO_OK;
    TAKE(model, HoloModel, a->DEVICE_PLANS_count, &twins);
    for (size_t i = 0; i < a->DEVICE_PLANS_count; i++) {
        HoloModel *entry = i ? &model->entries[i - 1] : model;
        HOLO_TRY(entry_load(model, a->DEVICE_PLANS_at[i], entry->name, entry->twin = &twins[i], error));
        twins[i].device_count = device_count;
    }
    return HOLO_OK;
}

int holo_model_entry_count(const HoloModel *model)
{
    return model->is_entry ? 1 : 1 + (int)model->entry_count;
}

const char *holo_model_entry_name(const HoloModel *model, int index)
{
    if (index < 0 || index >= holo_model_entry_count(model)) return NULL;
    return index ? model->entries[index - 1].name : model->name;
}

const HoloModel *holo_model_entry(const HoloModel *model, const char *name)
{
    for (int i = 0; i < holo_model_entry_count(model); i++)
        if (!strcmp(holo_model_entry_name(model, i), name)) return i ? &model->entries[i - 1] : model;
    return NULL;
}

// ---- opening

static HoloStatus load(HoloModel *model, const void *bytes, size_t size, HoloError *error)
{
    HOLO_TRY(holo_archive_open(bytes, size, &model->archive, error));
    bool is_exact  = model->archive.header->flags_must & HOLO_FLAG_EXACT;
    bool is_bf16   = model->archive.header->flags_may & HOLO_FLAG_BF16;
    model->kernels = is_bf16 && !is_exact ? holo_kernels_bf16() : holo_kernels(is_exact);
    if (is_exact && !model->kernels->exact)
        return holo_fail(error, HOLO_UNSUPPORTED, "this runtime has no kernels of numeric class exact");
    uint32_t device_count = model->archive.TARGETS_count ? (uint32_t)model->archive.TARGETS_count : 1;
    HOLO_TRY(devices_find(model, device_count, error));
    HOLO_TRY(ops_find(model, error));
    HOLO_TRY(constants_load(model, error));
    HOLO_TRY(attrs_load(model, error));
    HOLO_TRY(ports_load(model, error));
    HOLO_TRY(entries_load(model, error));
    return twins_load(model, device_count, error);
}

static HoloStatus model_create(HoloContext *context, HoloModel **out, HoloError *error)
{
    *out = holo_realloc(NULL, sizeof **out);
    if (!*out) return holo_fail_memory(error);
    memset(*out, 0, sizeof **out);
    (*out)->account = holo_context_account(context);
    (*out)->runner  = holo_runner_create();
    (*out)->sharing = holo_sharing_create();
    if ((*out)->runner && (*out)->sharing) return HOLO_OK;
    holo_runner_destroy((*out)->runner);
    holo_sharing_destroy((*out)->sharing, *out);
    holo_free(*out);
    return holo_fail_memory(error);
}

static HoloStatus finish(HoloModel *model, HoloStatus status, const char *path, HoloModel **out_model,
                         const HoloError *error)
{
    if (!status && holo_is_told(HOLO_LOG_INFO))
        holo_tell(HOLO_LOG_INFO, "opened %s: %zu steps, %s, kernels for %s%s", path, model->archive.STEPS_count,
                  holo_size_text(model->archive.size).text, holo_cpu_level(),
                  model->mapping.data && !model->mapping.is_mapped ? "; read, not mapped" : "");
    if (status) holo_model_close(model);
    *out_model = status ? NULL : model;
    return holo_tell_failure(status, path, error);
}

HoloStatus holo_model_open_in(HoloContext *context, const char *path, uint32_t flags, HoloModel **out_model,
                              HoloError *error)
{
    HOLO_IN(holo_context_account(context));
    *out_model = NULL;
    HoloModel *model;
    if (flags & ~(HOLO_OPEN_PREFAULT | HOLO_OPEN_HUGE))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "unknown flags for opening a model: 0x%x", flags);
    HOLO_TRY(model_create(context, &model, error));
    model->memory_how |= flags & HOLO_OPEN_PREFAULT ? HOLO_MEMORY_READY : 0;
    model->memory_how |= flags & HOLO_OPEN_HUGE ? HOLO_MEMORY_HUGE : 0;
    HoloStatus status = holo_file_map_how(path, model->memory_how, &model->mapping, error);
    if (!status) status = load(model, model->mapping.data, model->mapping.size, error);
    return finish(model, status, path, out_model, error);
}

HoloStatus holo_model_open_with(const char *path, uint32_t flags, HoloModel **out_model, HoloError *error)
{
    return holo_model_open_in(NULL, path, flags, out_model, error);
}

HoloStatus holo_model_open(const char *path, HoloModel **out_model, HoloError *error)
{
    return holo_model_open_with(path, 0, out_model, error);
}

HoloStatus holo_model_open_mapping(const HoloMapping *mapping, HoloModel **out_model, HoloError *error)
{
    *out_model = NULL;
    HoloModel *model;
    HoloStatus status = model_create(NULL, &model, error);
    if (status) {
        HoloMapping taken = *mapping;
        holo_file_unmap(&taken);
        return status;
    }
    model->mapping = *mapping;
    return finish(model, load(model, mapping->data, mapping->size, error), "a model", out_model, error);
}

HoloStatus holo_model_open_memory_in(HoloContext *context, const void *bytes, size_t size, HoloModel **out_model,
                                     HoloError *error)
{
    HOLO_IN(holo_context_account(context));
    *out_model = NULL;
    HoloModel *model;
    HOLO_TRY(model_create(context, &model, error));
    return finish(model, load(model, bytes, size, error), "a model in memory", out_model, error);
}

HoloStatus holo_model_open_memory(const void *bytes, size_t size, HoloModel **out_model, HoloError *error)
{
    return holo_model_open_memory_in(NULL, bytes, size, out_model, error);
}

// Gives back what a model that shares the rest has by itself. Accepts NULL.
static void entry_unload(HoloModel *entry)
{
    if (!entry) return;
    entry_unload(entry->twin);
    holo_runner_destroy(entry->runner);
    holo_arena_deinit(&entry->arena);
}

void holo_model_close(HoloModel *model)
{
    if (!model || model->is_entry) return;
    for (uint32_t i = 0; i < model->entry_count; i++) entry_unload(&model->entries[i]);
    entry_unload(model->twin);
    holo_runner_destroy(model->runner);
    holo_sharing_destroy(model->sharing, model);
    holo_arena_deinit(&model->arena);
    if (model->mapping.data) holo_file_unmap(&model->mapping);
    holo_free(model);
}

HoloStatus holo_model_verify(const HoloModel *model, HoloError *error)
{
    return holo_archive_verify(&model->archive, error);
}
