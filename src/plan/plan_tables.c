// plan_tables.c - the tables that plans share: texts, sizes, operators, attributes, constants.
//
// Each thing is stored once. Numbers are given in the order of first use, so the same graph gives the same file.
#include "base/hash.h"
#include "plan/plan.h"

#include <string.h>

// ---- buffers

HoloStatus holo_buffer_add(HoloPlanBuffer *buffer, const void *data, size_t size, HoloError *error)
{
    if (size > buffer->room - buffer->size) {
        size_t room = buffer->room ? buffer->room * 2 : 1024;
        while (room - buffer->size < size) room *= 2;
        void *grown = holo_realloc(buffer->data, room);
        if (!grown) return holo_fail_memory(error);
        buffer->data = grown;
        buffer->room = room;
    }
    if (size) memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    return HOLO_OK;
}

HoloStatus holo_buffer_align(HoloPlanBuffer *buffer, size_t align, HoloError *error)
{
    static const char zero[64];
    size_t            missing = holo_align(buffer->size, align) - buffer->size;
    return holo_buffer_add(buffer, zero, missing, error);
}

static HoloPlanBuffer *section(HoloPlanner *planner, HoloSectionId id)
{
    return &planner->plan->section[id];
}

// ---- texts: an open-addressed table of offsets into the STRINGS section

struct HoloTextMap {
    uint32_t *slot; // offset + 1; 0: empty
    size_t    room, used;
};

static uint32_t *text_slot(HoloPlanner *planner, const struct HoloTextMap *map, const char *text, size_t size)
{
    size_t      i       = holo_hash_name(text, size) & (map->room - 1);
    const char *strings = (const char *)section(planner, HOLO_SECTION_STRINGS)->data;
    while (map->slot[i] && strcmp(strings + map->slot[i] - 1, text)) i = (i + 1) & (map->room - 1);
    return &map->slot[i];
}

static HoloStatus texts_grow(HoloPlanner *planner)
{
    struct HoloTextMap *map = planner->texts, old = {0};
    if (!map) {
        map = planner->texts = HOLO_NEW(&planner->arena, struct HoloTextMap, 1);
        if (!map) return holo_fail_memory(planner->error);
        HOLO_TRY(holo_buffer_add(section(planner, HOLO_SECTION_STRINGS), "", 1, planner->error));
    } else
        old = *map;
    map->room = old.room ? old.room * 2 : 1024;
    map->slot = HOLO_NEW(&planner->arena, uint32_t, map->room);
    if (!map->slot) return holo_fail_memory(planner->error);
    const char *strings = (const char *)section(planner, HOLO_SECTION_STRINGS)->data;
    for (size_t i = 0; i < old.room; i++)
        if (old.slot[i]) {
            const char *text                             = strings + old.slot[i] - 1;
            *text_slot(planner, map, text, strlen(text)) = old.slot[i];
        }
    return HOLO_OK;
}

HoloStatus holo_planner_text(HoloPlanner *planner, const char *text, uint32_t *out)
{
    if (!planner->texts || planner->texts->used * 2 >= planner->texts->room) HOLO_TRY(texts_grow(planner));
    *out = 0;
    if (!text || !*text) return HOLO_OK;
    size_t          size    = strlen(text);
    uint32_t       *slot    = text_slot(planner, planner->texts, text, size);
    HoloPlanBuffer *strings = section(planner, HOLO_SECTION_STRINGS);
    if (!*slot) {
        if (strings->size + size >= UINT32_MAX)
            return holo_fail(planner->error, HOLO_UNSUPPORTED, "the names take over 4 GiB");
        *slot = (uint32_t)strings->size + 1;
        planner->texts->used++;
        HOLO_TRY(holo_buffer_add(strings, text, size + 1, planner->error));
    }
    *out = *slot - 1;
    return HOLO_OK;
}

// ---- sizes

static HoloStatus dim_add(HoloPlanner *planner, HoloDim d, HoloDim *out);

static HoloStatus symbol_add(HoloPlanner *planner, int symbol, int64_t *out)
{
    HoloPlanBuffer *symbols = section(planner, HOLO_SECTION_SYMBOLS);
    if (planner->symbol_number[symbol] < 0) {
        planner->symbol_number[symbol] = (int32_t)(symbols->size / sizeof(uint32_t));
        uint32_t name;
        HOLO_TRY(holo_planner_text(planner, holo_dims_symbol_name(planner->dims, symbol), &name));
        HOLO_TRY(holo_buffer_add(symbols, &name, sizeof name, planner->error));
    }
    *out = planner->symbol_number[symbol];
    return HOLO_OK;
}

// Operands come before the expressions that use them, so the recursion is at most as deep as the expression.
static HoloStatus entry_add(HoloPlanner *planner, int entry)
{
    const HoloDimNode *node   = holo_dims_node(planner->dims, entry);
    HoloDimRecord      record = {.op = node->op};
    if (node->op == HOLO_DIM_SYMBOL)
        HOLO_TRY(symbol_add(planner, (int)node->a, &record.a));
    else {
        HOLO_TRY(dim_add(planner, node->a, &record.a));
        HOLO_TRY(dim_add(planner, node->b, &record.b));
    }
    HoloPlanBuffer *dims       = section(planner, HOLO_SECTION_DIMS);
    planner->dim_number[entry] = (int32_t)(dims->size / sizeof record);
    return holo_buffer_add(dims, &record, sizeof record, planner->error);
}

static HoloStatus dim_numbers_grow(HoloPlanner *planner)
{
    int      room   = 2 * holo_dims_count(planner->dims);
    int32_t *number = HOLO_NEW(&planner->arena, int32_t, room);
    if (!number) return holo_fail_memory(planner->error);
    memset(number, 0xFF, (size_t)room * sizeof *number);
    memcpy(number, planner->dim_number, (size_t)planner->dim_room * sizeof *number);
    planner->dim_number = number;
    planner->dim_room   = room;
    return HOLO_OK;
}

static HoloStatus dim_add(HoloPlanner *planner, HoloDim d, HoloDim *out)
{
    *out = d;
    if (!holo_dim_is_symbolic(d) || d == HOLO_DIM_UNKNOWN) return HOLO_OK;
    int entry = holo_dim_entry(d);
    if (entry >= planner->dim_room) HOLO_TRY(dim_numbers_grow(planner));
    if (planner->dim_number[entry] < 0) HOLO_TRY(entry_add(planner, entry));
    *out = holo_dim_of_entry(planner->dim_number[entry]);
    return HOLO_OK;
}

HoloStatus holo_planner_sizes(HoloPlanner *planner, int count, const HoloDim *dim, uint32_t *out_first)
{
    HoloPlanBuffer *sizes = section(planner, HOLO_SECTION_SIZES);
    *out_first            = (uint32_t)(sizes->size / sizeof(int64_t));
    for (int i = 0; i < count; i++) {
        int64_t size;
        HOLO_TRY(dim_add(planner, dim[i], &size));
        HOLO_TRY(holo_buffer_add(sizes, &size, sizeof size, planner->error));
    }
    return HOLO_OK;
}

// ---- operators

HoloStatus holo_planner_op(HoloPlanner *planner, const HoloNode *node, uint32_t *out)
{
    HoloOpRecord record = {.version = (uint32_t)node->version};
    HOLO_TRY(holo_planner_text(planner, node->domain, &record.domain));
    HOLO_TRY(holo_planner_text(planner, node->type, &record.name));
    HoloPlanBuffer     *ops   = section(planner, HOLO_SECTION_OPS);
    const HoloOpRecord *have  = (const void *)ops->data;
    uint32_t            count = (uint32_t)(ops->size / sizeof record);
    for (*out = 0; *out < count; ++*out)
        if (!memcmp(&have[*out], &record, sizeof record)) return HOLO_OK;
    return holo_buffer_add(ops, &record, sizeof record, planner->error);
}

// ---- attributes

// Adds bytes at an aligned offset, *out.
static HoloStatus bytes_add(HoloPlanner *planner, const void *data, size_t size, uint64_t *out)
{
    HoloPlanBuffer *bytes = section(planner, HOLO_SECTION_BYTES);
    HOLO_TRY(holo_buffer_align(bytes, 8, planner->error));
    *out = bytes->size;
    if (bytes->size + size >= UINT32_MAX)
        return holo_fail(planner->error, HOLO_UNSUPPORTED, "the attributes take over 4 GiB");
    return holo_buffer_add(bytes, data, size, planner->error);
}

static HoloStatus tensor_add(HoloPlanner *planner, const HoloTensor *t, uint64_t *out)
{
    HoloTensorRecord record = {
        .dtype = t->dtype, .kind = t->kind, .inner = t->inner, .rank = t->rank, .constant = HOLO_NO_VALUE};
    for (int d = 0; d < t->rank; d++) record.dim[d] = t->dim[d];
    if (t->data) HOLO_TRY(holo_planner_constant(planner, t, NULL, 0, &record.constant));
    return bytes_add(planner, &record, sizeof record, out);
}

static HoloStatus strings_add(HoloPlanner *planner, const HoloString *strings, int count, uint64_t *out)
{
    HoloSpan *spans = HOLO_NEW(&planner->arena, HoloSpan, count + 1);
    if (!spans) return holo_fail_memory(planner->error);
    for (int i = 0; i < count; i++) {
        uint64_t at;
        HOLO_TRY(bytes_add(planner, strings[i].data, strings[i].size, &at));
        spans[i] = (HoloSpan){(uint32_t)at, (uint32_t)strings[i].size};
    }
    return bytes_add(planner, spans, (size_t)count * sizeof *spans, out);
}

static HoloStatus attr_value(HoloPlanner *planner, const HoloAttr *attr, const uint32_t *plans, HoloAttrRecord *record)
{
    switch (attr->kind) {
    case HOLO_ATTR_INT: record->value = (uint64_t)attr->i; return HOLO_OK;
    case HOLO_ATTR_FLOAT: memcpy(&record->value, &attr->f, sizeof attr->f); return HOLO_OK;
    case HOLO_ATTR_GRAPH: record->value = plans[0]; return HOLO_OK;
    case HOLO_ATTR_STRING:
        record->count = (uint32_t)attr->s.size;
        return bytes_add(planner, attr->s.data, attr->s.size, &record->value);
    case HOLO_ATTR_INTS: return bytes_add(planner, attr->ints, (size_t)attr->count * sizeof(int64_t), &record->value);
    case HOLO_ATTR_FLOATS: return bytes_add(planner, attr->floats, (size_t)attr->count * sizeof(float), &record->value);
    case HOLO_ATTR_STRINGS: return strings_add(planner, attr->strings, attr->count, &record->value);
    case HOLO_ATTR_TENSOR:
    case HOLO_ATTR_TYPE: return tensor_add(planner, attr->tensor, &record->value);
    }
    return holo_fail(planner->error, HOLO_UNSUPPORTED,
                     "attribute %s is a list of tensors or graphs, which no operator has", attr->name);
}

HoloStatus holo_planner_attrs(HoloPlanner *planner, const HoloNode *node, const uint32_t *plans, uint32_t *out_first,
                              uint16_t *out_count)
{
    HoloAttrRecord *records = HOLO_NEW(&planner->arena, HoloAttrRecord, node->attr_count + 1);
    if (!records) return holo_fail_memory(planner->error);
    for (int i = 0; i < node->attr_count; i++) {
        const HoloAttr *attr = &node->attr[i];
        records[i]           = (HoloAttrRecord){.kind = (uint16_t)attr->kind, .count = (uint32_t)attr->count};
        HOLO_TRY(holo_planner_text(planner, attr->name, &records[i].name));
        HOLO_TRY(attr_value(planner, attr, plans, &records[i]));
        plans += attr->kind == HOLO_ATTR_GRAPH;
    }
    HoloPlanBuffer *attrs = section(planner, HOLO_SECTION_ATTRS);
    *out_first            = (uint32_t)(attrs->size / sizeof *records);
    *out_count            = (uint16_t)node->attr_count;
    return holo_buffer_add(attrs, records, (size_t)node->attr_count * sizeof *records, planner->error);
}

// ---- constants: found by a sample of their bytes, and equal only if all bytes are

struct HoloConstantMap {
    uint32_t *slot; // number + 1; 0: empty
    size_t    room;
};

enum {
    SAMPLE   = 4096,
    LIKE_MAX = 64, // constants of one size and sample that are compared with another; so many are made to take time
};

// Of the texts in front.
static uint64_t texts_key(const HoloTensor *t)
{
    uint64_t          key  = 0, part[3];
    const HoloString *text = t->data;
    for (int64_t i = 0, count = holo_tensor_count(t); i < count && i < SAMPLE / 16; i++) {
        part[0] = key, part[1] = text[i].size;
        part[2] = holo_hash(text[i].data, text[i].size < SAMPLE ? text[i].size : SAMPLE).word[0];
        key     = holo_hash(part, sizeof part).word[0];
    }
    return key;
}

static uint64_t constant_key(const HoloPlanConstant *c)
{
    uint64_t part[8] = {c->tensor.dtype, c->kernel, c->size, (uint64_t)c->input};
    bool     is_own  = c->lowering.pack_form == HOLO_FORM_OWN;
    if (!is_own) part[1] = part[3] = 0;
    size_t bytes = holo_tensor_bytes(&c->tensor), sample = bytes < SAMPLE ? bytes : SAMPLE;
    part[4] = bytes;
    part[5] = is_own ? holo_hash(c->lowering.params, c->lowering.params_size).word[0] : c->lowering.pack_form;
    if (c->tensor.dtype == HOLO_STRING) part[6] = texts_key(&c->tensor);
    if (c->tensor.dtype != HOLO_STRING && bytes) {
        part[6] = holo_hash(c->tensor.data, sample).word[0];
        part[7] = holo_hash((const char *)c->tensor.data + bytes - sample, sample).word[0];
    }
    return holo_hash(part, sizeof part).word[0];
}

// Are they packed alike, by one kernel or for a form that several read?
static bool packed_alike(const HoloPlanConstant *a, const HoloPlanConstant *b)
{
    const HoloLowering *to = &a->lowering, *from = &b->lowering;
    if (to->pack_form != from->pack_form || a->target != b->target || a->size != b->size) return false;
    if (to->pack_form != HOLO_FORM_OWN) return to->pack_type == from->pack_type;
    return a->kernel == b->kernel && a->input == b->input && to->params_size == from->params_size &&
           !memcmp(to->params, from->params, to->params_size);
}

static bool constant_equal(const HoloPlanConstant *a, const HoloPlanConstant *b)
{
    size_t bytes = holo_tensor_bytes(&a->tensor);
    if (a->tensor.dtype != b->tensor.dtype || bytes != holo_tensor_bytes(&b->tensor) || !packed_alike(a, b))
        return false;
    if (a->kernel && (a->tensor.rank != b->tensor.rank || memcmp(a->tensor.dim, b->tensor.dim, sizeof a->tensor.dim)))
        return false;
    if (a->tensor.data == b->tensor.data || !bytes) return true;
    if (a->tensor.dtype != HOLO_STRING) return !memcmp(a->tensor.data, b->tensor.data, bytes);
    for (int64_t i = 0; i < holo_tensor_count(&a->tensor); i++)
        if (!holo_string_equal(((const HoloString *)a->tensor.data)[i], ((const HoloString *)b->tensor.data)[i]))
            return false;
    return true;
}

static uint32_t *constant_slot(const HoloPlan *plan, const struct HoloConstantMap *map, const HoloPlanConstant *c)
{
    size_t i    = constant_key(c) & (map->room - 1);
    int    like = 0;
    for (; map->slot[i]; i = (i + 1) & (map->room - 1)) {
        const HoloPlanConstant *other = &plan->constants[map->slot[i] - 1];
        if (other->tensor.dtype != c->tensor.dtype || other->size != c->size || like > LIKE_MAX) continue;
        if (constant_equal(other, c)) break;
        like++;
    }
    return &map->slot[i];
}

static HoloStatus constants_grow(HoloPlanner *planner)
{
    HoloPlan         *plan      = planner->plan;
    uint32_t          room      = plan->constant_room ? plan->constant_room * 2 : 256;
    HoloPlanConstant *constants = holo_realloc(plan->constants, room * sizeof *constants);
    if (!constants) return holo_fail_memory(planner->error);
    plan->constants             = constants;
    plan->constant_room         = room;
    struct HoloConstantMap *map = planner->constants;
    if (!map) map = planner->constants = HOLO_NEW(&planner->arena, struct HoloConstantMap, 1);
    if (!map) return holo_fail_memory(planner->error);
    map->room = (size_t)room * 2;
    map->slot = HOLO_NEW(&planner->arena, uint32_t, map->room);
    if (!map->slot) return holo_fail_memory(planner->error);
    for (uint32_t i = 0; i < plan->constant_count; i++) {
        size_t at = constant_key(&constants[i]) & (map->room - 1);
        while (map->slot[at]) at = (at + 1) & (map->room - 1);
        map->slot[at] = i + 1;
    }
    return HOLO_OK;
}

static uint64_t stored_size(const HoloTensor *t)
{
    if (t->dtype != HOLO_STRING) return holo_tensor_bytes(t);
    uint64_t size = 0;
    for (int64_t i = 0; i < holo_tensor_count(t); i++) size += 8 + ((const HoloString *)t->data)[i].size;
    return size;
}

HoloStatus holo_planner_constant(HoloPlanner *planner, const HoloTensor *tensor, const HoloLoweredNode *of, int input,
                                 uint32_t *out)
{
    HoloPlan *plan = planner->plan;
    if (plan->constant_count == plan->constant_room) HOLO_TRY(constants_grow(planner));
    HoloPlanConstant c = {.tensor = *tensor};
    if (of) {
        const HoloLowering *by = of->shares ? &of->shares->lowering : &of->lowering;
        c.target               = of->shares ? &holo_target_cpu : holo_lowered_target(planner->lowered, of);
        c.kernel               = holo_kernel_packer(by->kernel, tensor->dtype == HOLO_U8);
        c.lowering             = *by;
        c.input                = of->shares ? by->pack_input : input;
        c.lowering.pack_input  = c.input;
    }
    c.size         = of ? c.target->packing(&c.lowering, tensor).bytes : stored_size(tensor);
    uint32_t *slot = constant_slot(plan, planner->constants, &c);
    if (*slot) {
        plan->deduplicated++;
        plan->deduplicated_bytes += c.size;
    } else {
        plan->constants[plan->constant_count] = c;
        *slot                                 = ++plan->constant_count;
    }
    *out = *slot - 1;
    plan->constants[*out].users |= planner->is_device ? HOLO_USER_DEVICE : HOLO_USER_ENTRY;
    return HOLO_OK;
}

// ---- programs

// How many earlier programs are compared: layers repeat, and there are few different programs.
enum { PROGRAMS_BACK = 64 };

HoloStatus holo_planner_program(HoloPlanner *planner, const HoloLoweredNode *of, uint32_t *out)
{
    const HoloTarget     *target   = holo_lowered_target(planner->lowered, of);
    const HoloPlanBuffer *programs = section(planner, HOLO_SECTION_PROGRAMS),
                         *bytes    = section(planner, HOLO_SECTION_BYTES);
    const HoloProgramRecord *list  = (const void *)programs->data;
    uint32_t                 count = (uint32_t)(programs->size / sizeof *list);
    HoloBytes                made;
    *out = 0;
    if (!target->program) return HOLO_OK;
    HOLO_TRY(target->program(of->node, &of->lowering, &planner->arena, &made, planner->error));
    if (!made.size) return HOLO_OK;
    for (uint32_t i = count; i && count - i < PROGRAMS_BACK; i--) {
        const HoloProgramRecord *r = &list[i - 1];
        if (r->program_size != made.size || memcmp(bytes->data + r->program, made.data, made.size)) continue;
        *out = i;
        return HOLO_OK;
    }
    *out = count + 1;
    return holo_plan_program(planner->plan,
                             &(HoloPlanProgram){.name = "", .doc = "", .program = made.data, .program_size = made.size},
                             planner->error);
}
