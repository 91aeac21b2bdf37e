// model_facts.c - answers to questions about an open model: its inputs and outputs, metadata, constants, notes.
#include "runtime/model.h"

#include "runtime/sharing.h"

#include <string.h>

int holo_model_input_count(const HoloModel *model)
{
    return holo_model_given_count(model) - model->state_count;
}

int holo_model_state_count(const HoloModel *model)
{
    return model->state_count;
}

const HoloPort *holo_model_state(const HoloModel *model, int index)
{
    return index >= 0 && index < model->state_count ? &model->inputs[holo_model_input_count(model) + index] : NULL;
}

int holo_model_output_count(const HoloModel *model)
{
    return (int)model->archive.PLANS_at[model->plan].output_count;
}

const HoloPort *holo_model_input(const HoloModel *model, int index)
{
    return index >= 0 && index < holo_model_input_count(model) ? &model->inputs[index] : NULL;
}

const HoloPort *holo_model_output(const HoloModel *model, int index)
{
    return index >= 0 && index < holo_model_output_count(model) ? &model->outputs[index] : NULL;
}

static int port_find(const HoloPort *ports, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(ports[i].name, name)) return i;
    return -1;
}

int holo_model_input_find(const HoloModel *model, const char *name)
{
    return port_find(model->inputs, holo_model_input_count(model), name);
}

int holo_model_output_find(const HoloModel *model, const char *name)
{
    return port_find(model->outputs, holo_model_output_count(model), name);
}

bool holo_model_asset(const HoloModel *model, const char *name, HoloString *out_bytes)
{
    const HoloArchive *a = &model->archive;
    *out_bytes           = (HoloString){0};
    for (size_t i = 0; i < a->ASSETS_count; i++) {
        const HoloAssetRecord *r = &a->ASSETS_at[i];
        if (strcmp(holo_model_text(model, r->name), name) != 0) continue;
        *out_bytes = (HoloString){(const char *)a->ASSET_DATA_at + r->offset, r->size};
        return true;
    }
    return false;
}

int holo_model_meta_count(const HoloModel *model)
{
    return (int)model->archive.META_count;
}

const char *holo_model_meta(const HoloModel *model, int index, const char **out_key)
{
    if (index < 0 || index >= holo_model_meta_count(model)) return NULL;
    const HoloMetaRecord *r = &model->archive.META_at[index];
    if (out_key) *out_key = holo_model_text(model, r->key);
    return holo_model_text(model, r->value);
}

const char *holo_model_meta_find(const HoloModel *model, const char *key)
{
    for (int i = 0; i < holo_model_meta_count(model); i++) {
        const char *have, *value = holo_model_meta(model, i, &have);
        if (!strcmp(have, key)) return value;
    }
    return NULL;
}

void holo_model_info(const HoloModel *model, HoloModelInfo *out_info)
{
    const HoloArchive    *a       = &model->archive;
    size_t                entries = a->ENTRIES_count ? a->ENTRIES_count : 1; // plans without subgraphs
    const HoloModel      *told    = holo_sharing_told(model);
    const HoloPlanRecord *plan    = &a->PLANS_at[told->plan];
    size_t first = told != model ? a->DEVICE_PLANS_at[0] : 0, // plans for the CPU alone come before those for devices
        end      = a->DEVICE_PLANS_count && told == model ? a->DEVICE_PLANS_at[0] : a->PLANS_count;
    *out_info    = (HoloModelInfo){
           .file_bytes     = a->size,
           .constant_bytes = a->WEIGHTS_count,
           .constants      = (uint32_t)a->CONSTANTS_count,
           .plans          = (uint32_t)(end - first),
           .exact          = (a->header->flags_must & HOLO_FLAG_EXACT) != 0,
           .is_static      = end - first <= entries && plan->flags & HOLO_PLAN_STATIC,
           .arena_bytes    = plan->arena_bytes,
           .naive_bytes    = plan->naive_bytes,
    };
    for (size_t i = first; i < end; i++) {
        out_info->steps += a->PLANS_at[i].step_count;
        out_info->values += a->PLANS_at[i].value_count;
    }
}

// Does the value have the type of the constant? Then *t gets its shape. (If it does not fit, binding refuses it.)
static bool shape_take(const HoloArchive *a, const HoloValueRecord *v, HoloTensor *t)
{
    HoloTensor shaped = *t;
    shaped.rank       = v->rank;
    for (int d = 0; d < v->rank; d++) shaped.dim[d] = a->SIZES_at[v->size_first + (uint32_t)d];
    if (v->rank < 0 || v->dtype != t->dtype || holo_tensor_count(&shaped) != t->dim[0]) return false;
    *t = shaped;
    return true;
}

// Names the constant after the first value of a plan that it is, and gives it that shape. (Records that belong to no
// plan are not checked.)
static bool constant_name(const HoloModel *model, const HoloPlanRecord *plan, uint64_t index, HoloConstant *out)
{
    for (uint32_t i = 0; i < plan->value_count; i++) {
        const HoloValueRecord *v = &model->archive.VALUES_at[plan->value_first + i];
        if (v->storage != HOLO_STORE_CONSTANT || v->at != index) continue;
        out->name = holo_model_text(model, v->name);
        if (out->is_packed || shape_take(&model->archive, v, &out->tensor)) return true;
    }
    return false;
}

static uint32_t constant_uses(const HoloArchive *a, uint64_t index)
{
    uint32_t uses = 0;
    for (size_t i = 0; i < a->VALUES_count; i++)
        uses += a->VALUES_at[i].storage == HOLO_STORE_CONSTANT && a->VALUES_at[i].at == index;
    return uses;
}

bool holo_model_constant(const HoloModel *model, int index, HoloConstant *out_constant)
{
    const HoloArchive *a = &model->archive;
    if (index < 0 || (size_t)index >= a->CONSTANTS_count) return false;
    const HoloConstantRecord *k = &a->CONSTANTS_at[index];
    HoloTensor                t = {.dtype = (uint8_t)k->dtype, .rank = 1, .dim = {(int64_t)k->count}};
    t.data                      = model->constants[index];
    if (k->packed) {
        t.dtype  = HOLO_U8;
        t.dim[0] = (int64_t)k->size;
        t.data   = (void *)(uintptr_t)(a->WEIGHTS_at + k->offset);
    }
    *out_constant = (HoloConstant){
        .name      = "",
        .tensor    = t,
        .is_packed = k->packed != 0,
        .is_coded  = k->packed && k->dtype == HOLO_F32 && k->size >= HOLO_BOOK_BYTES && k->size / 2 < k->count,
        .dtype     = (uint8_t)k->dtype,
        .count     = k->count,
        .bytes     = k->size,
        .uses      = constant_uses(a, (uint64_t)index),
    };
    for (size_t i = 0; i < a->PLANS_count; i++)
        if (constant_name(model, &a->PLANS_at[i], (uint64_t)index, out_constant)) break;
    return true;
}

// ---- notes

int holo_model_note_count(const HoloModel *model)
{
    return (int)model->archive.NOTES_count;
}

bool holo_model_note(const HoloModel *model, int index, HoloNote *out_note)
{
    const HoloArchive *a = &model->archive;
    if (index < 0 || (size_t)index >= a->NOTES_count) return false;
    const HoloNoteRecord *n = &a->NOTES_at[index];
    *out_note               = (HoloNote){
                      .pass    = a->STRINGS_at + n->pass,
                      .place   = a->STRINGS_at + n->place,
                      .what    = a->STRINGS_at + n->what,
                      .why     = a->STRINGS_at + n->why,
                      .verdict = n->verdict,
                      .count   = n->count,
                      .bytes   = n->bytes,
    };
    return true;
}

const char *holo_verdict_text(uint32_t verdict)
{
    switch (verdict) {
#define X(id, value, text) \
    case value: return text;
        HOLO_VERDICT_MAP(X)
#undef X
    }
    return "not made";
}
