// archive_check.c - the validator of .holo bytes: nothing in a file is trusted before it is checked.
//
// It checks that every record lies inside its section and refers only to what exists. It does not check that the plan
// makes sense as arithmetic: when sizes are bound, the operators' own infer and the kernels' own checks do that.
//
// Records may not share what they refer to: each entry of a section belongs to one record, or to none. So neither this
// check nor any later use of an archive takes time or memory out of proportion to the file.
#include "base/dim/dim.h"
#include "format/archive_ports.h"

#include <string.h>

// Marks of a value: it is an input; a step has written it; a step has written it or a part of it.
enum { MARK_INPUT = 1, MARK_WRITTEN = 2, MARK_FILLED = 4 };

typedef struct Check {
    HoloArchive *a;
    HoloError   *error;
    HoloArena    arena; // owns:
    uint32_t    *roots; // by value of the current plan: the value that owns its bytes
    uint8_t     *marks;
    bool        *is_held; // by plan: an attribute refers to it
    bool        *is_own;  // by plan: callers run it
    uint32_t     target_count;
    uint32_t     host_count; // so many plans run on the CPU alone, if there are others; 0: there are no others
    // How many entries are taken so far.
    uint64_t bytes, weights, values, steps, operands, attrs;
} Check;

// Takes `count` more of `limit` entries; false: there are not enough left.
static bool take(uint64_t *used, uint64_t count, uint64_t limit)
{
    if (count > limit - *used) return false;
    *used += count;
    return true;
}

#define BAD(c, ...) holo_fail((c)->error, HOLO_BAD_ARCHIVE, __VA_ARGS__)

// Is [first, first + count) inside an array of `limit`?
static bool range_ok(uint64_t first, uint64_t count, uint64_t limit)
{
    return first <= limit && count <= limit - first;
}

static bool text_ok(const Check *c, uint32_t text)
{
    return text < c->a->STRINGS_count; // the section ends with a 0 byte
}

static bool bytes_ok(const Check *c, uint64_t offset, uint64_t count, size_t size, size_t align)
{
    return count <= c->a->BYTES_count / size && range_ok(offset, count * size, c->a->BYTES_count) &&
           offset % align == 0;
}

// ---- records

static bool dim_ok(const Check *c, int64_t d, size_t limit)
{
    return !holo_dim_is_symbolic(d) || (size_t)(uint32_t)d < limit ||
           (d == HOLO_DIM_UNKNOWN && limit == c->a->DIMS_count);
}

static HoloStatus dims_check(const Check *c)
{
    const HoloArchive *a = c->a;
    for (size_t i = 0; i < a->DIMS_count; i++) {
        const HoloDimRecord *d  = &a->DIMS_at[i];
        bool                 ok = d->op >= 0 && d->op < HOLO_DIM_OP_COUNT;
        if (ok && d->op == HOLO_DIM_SYMBOL)
            ok = d->a >= 0 && (uint64_t)d->a < a->SYMBOLS_count && d->b >= 0 && !holo_dim_is_symbolic(d->b);
        else if (ok)
            ok = dim_ok(c, d->a, i) && dim_ok(c, d->b, i);
        if (!ok) return BAD(c, "expression %zu is broken", i);
    }
    for (size_t i = 0; i < a->SYMBOLS_count; i++)
        if (!text_ok(c, a->SYMBOLS_at[i])) return BAD(c, "symbol %zu has no name", i);
    for (size_t i = 0; i < a->SIZES_count; i++)
        if (!dim_ok(c, a->SIZES_at[i], a->DIMS_count)) return BAD(c, "size %zu names no expression", i);
    return HOLO_OK;
}

static HoloStatus constants_check(Check *c)
{
    const HoloArchive *a = c->a;
    for (size_t i = 0; i < a->CONSTANTS_count; i++) {
        const HoloConstantRecord *k       = &a->CONSTANTS_at[i];
        size_t                    element = holo_dtype_size((HoloDtype)k->dtype), bytes;
        if (!element || !range_ok(k->offset, k->size, a->WEIGHTS_count) || k->offset % HOLO_WEIGHT_ALIGN)
            return BAD(c, "constant %zu lies outside the weights", i);
        if (k->dtype == HOLO_STRING ? k->count > k->size / 8
                                    : !holo_size_mul(k->count, element, &bytes) || (!k->packed && bytes != k->size))
            return BAD(c, "constant %zu has %llu bytes for %llu elements", i, (unsigned long long)k->size,
                       (unsigned long long)k->count);
        if (!take(&c->weights, k->size, a->WEIGHTS_count)) return BAD(c, "constants overlap");
    }
    return HOLO_OK;
}

static HoloStatus ops_check(const Check *c)
{
    const HoloArchive *a = c->a;
    for (size_t i = 0; i < a->OPS_count; i++)
        if (!text_ok(c, a->OPS_at[i].domain) || !text_ok(c, a->OPS_at[i].name) || a->OPS_at[i].version > INT32_MAX)
            return BAD(c, "operator %zu has no name", i);
    for (size_t i = 0; i < a->META_count; i++)
        if (!text_ok(c, a->META_at[i].key) || !text_ok(c, a->META_at[i].value))
            return BAD(c, "metadata %zu is broken", i);
    return HOLO_OK;
}

static HoloStatus notes_check(const Check *c)
{
    for (size_t i = 0; i < c->a->NOTES_count; i++) {
        const HoloNoteRecord *n = &c->a->NOTES_at[i];
        if (!text_ok(c, n->pass) || !text_ok(c, n->place) || !text_ok(c, n->what) || !text_ok(c, n->why))
            return BAD(c, "note %zu is broken", i);
    }
    return HOLO_OK;
}

static HoloStatus programs_check(const Check *c)
{
    for (size_t i = 0; i < c->a->PROGRAMS_count; i++) {
        const HoloProgramRecord *p = &c->a->PROGRAMS_at[i];
        if (!text_ok(c, p->name) || !text_ok(c, p->doc) || !bytes_ok(c, p->program, p->program_size, 1, 8) ||
            !bytes_ok(c, p->lanes, p->lanes_size, 1, 8))
            return BAD(c, "program %zu is broken", i);
    }
    return HOLO_OK;
}

static HoloStatus assets_check(const Check *c)
{
    for (size_t i = 0; i < c->a->ASSETS_count; i++) {
        const HoloAssetRecord *r = &c->a->ASSETS_at[i];
        if (!text_ok(c, r->name) || r->offset % HOLO_WEIGHT_ALIGN ||
            !range_ok(r->offset, r->size, c->a->ASSET_DATA_count))
            return BAD(c, "asset %zu is broken", i);
    }
    return HOLO_OK;
}

// Records do not share bytes, and lie in their order.
static HoloStatus code_check(const Check *c)
{
    const HoloArchive *a  = c->a;
    uint64_t           at = 0;
    for (size_t i = 0; i < a->CODE_count; i++) {
        const HoloCodeRecord *r = &a->CODE_at[i];
        if (!r->target || r->target >= c->target_count || !text_ok(c, r->module) || !text_ok(c, r->kind))
            return BAD(c, "code %zu has no target or no name", i);
        if (r->offset < at || !range_ok(r->offset, r->size, a->CODE_DATA_count) || r->offset % HOLO_WEIGHT_ALIGN)
            return BAD(c, "code %zu lies outside its section", i);
        at = r->offset + r->size;
    }
    return HOLO_OK;
}

// Names differ, and the first is the CPU.
static HoloStatus targets_check(Check *c)
{
    const HoloArchive *a = c->a;
    c->target_count      = a->TARGETS_at ? (uint32_t)a->TARGETS_count : 1;
    if (c->target_count > HOLO_TARGETS_MAX || !c->target_count)
        return BAD(c, "there are %zu targets, but there must be 1 to %d", a->TARGETS_count, HOLO_TARGETS_MAX);
    for (size_t i = 0; i < a->TARGETS_count; i++) {
        if (!text_ok(c, a->TARGETS_at[i].name)) return BAD(c, "target %zu has no name", i);
        const char *name = a->STRINGS_at + a->TARGETS_at[i].name;
        if (!*name || !strcmp(name, "cpu") != (i == 0)) return BAD(c, "target %zu is named '%.40s'", i, name);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(name, a->STRINGS_at + a->TARGETS_at[k].name))
                return BAD(c, "targets %zu and %zu are both named '%.40s'", k, i, name);
    }
    return HOLO_OK;
}

// Names differ. The first entry is plan 0, the others follow in order, and none is a subgraph.
static HoloStatus entries_check(const Check *c)
{
    const HoloArchive *a = c->a;
    if (!a->PLANS_count) return BAD(c, "there is no plan");
    c->is_own[0] = true;
    if (a->ENTRIES_count > HOLO_ENTRIES_MAX || (a->ENTRIES_at && !a->ENTRIES_count))
        return BAD(c, "there are %zu entries, but there must be 1 to %d", a->ENTRIES_count, HOLO_ENTRIES_MAX);
    for (size_t i = 0; i < a->ENTRIES_count; i++) {
        const HoloEntryRecord *e = &a->ENTRIES_at[i];
        if (!text_ok(c, e->name) || e->plan >= a->PLANS_count || c->is_held[e->plan] ||
            (i ? e->plan <= a->ENTRIES_at[i - 1].plan : e->plan))
            return BAD(c, "entry %zu is broken", i);
        const char *name = a->STRINGS_at + e->name;
        for (size_t k = 0; k < i; k++)
            if (!strcmp(name, a->STRINGS_at + a->ENTRIES_at[k].name))
                return BAD(c, "entries %zu and %zu are both named '%.40s'", k, i, name);
        c->is_own[e->plan] = true;
    }
    return HOLO_OK;
}

// There is one for each entry, behind all entries, and none is a subgraph.
static HoloStatus device_plans_check(Check *c)
{
    const HoloArchive *a       = c->a;
    size_t             entries = a->ENTRIES_count ? a->ENTRIES_count : 1;
    uint32_t           before  = a->ENTRIES_count ? a->ENTRIES_at[entries - 1].plan : 0;
    if (!a->DEVICE_PLANS_at) return HOLO_OK;
    if (a->DEVICE_PLANS_count != entries || c->target_count < 2)
        return BAD(c, "there are %zu plans for devices, but %zu entries and %u targets", a->DEVICE_PLANS_count, entries,
                   c->target_count);
    for (size_t i = 0; i < entries; i++) {
        uint32_t plan = a->DEVICE_PLANS_at[i];
        if (plan >= a->PLANS_count || plan <= before || c->is_held[plan])
            return BAD(c, "plan %zu for devices is broken", i);
        c->is_own[plan] = true;
        before          = plan;
    }
    c->host_count = a->DEVICE_PLANS_at[0];
    return HOLO_OK;
}

// How many targets the plan may use.
static uint32_t targets_of(const Check *c, const HoloPlanRecord *p)
{
    return (size_t)(p - c->a->PLANS_at) < c->host_count ? 1 : c->target_count;
}

// A tensor has the elements of a constant; a type has none.
static bool tensor_record_ok(const Check *c, uint64_t at, bool has_elements)
{
    if (!bytes_ok(c, at, 1, sizeof(HoloTensorRecord), 8)) return false;
    const HoloTensorRecord *t = (const void *)(c->a->BYTES_at + at);
    if (t->dtype >= HOLO_DTYPE_COUNT || t->rank < -1 || t->rank > HOLO_MAX_RANK) return false;
    if (t->kind > HOLO_MAP || t->inner > HOLO_MAP || (has_elements && t->kind != HOLO_TENSOR)) return false;
    if (t->constant == HOLO_NO_VALUE && !has_elements) return true;
    HoloTensor type = {.dtype = t->dtype, .rank = t->rank};
    memcpy(type.dim, t->dim, sizeof type.dim);
    int64_t count = holo_tensor_count(&type);
    if (t->constant == HOLO_NO_VALUE) return count == 0;
    if (t->constant >= c->a->CONSTANTS_count || count < 0 || c->a->CONSTANTS_at[t->constant].packed) return false;
    const HoloConstantRecord *k = &c->a->CONSTANTS_at[t->constant];
    return (uint64_t)count == k->count && t->dtype == k->dtype;
}

static bool strings_ok(Check *c, const HoloAttrRecord *r)
{
    if (!bytes_ok(c, r->value, r->count, sizeof(HoloSpan), 4)) return false;
    const HoloSpan *span = (const void *)(c->a->BYTES_at + r->value);
    for (uint32_t i = 0; i < r->count; i++)
        if (!range_ok(span[i].offset, span[i].size, c->a->BYTES_count) ||
            !take(&c->bytes, span[i].size, c->a->BYTES_count))
            return false;
    return true;
}

// Bytes that belong to this attribute alone.
static bool own_bytes_ok(Check *c, const HoloAttrRecord *r, size_t size, size_t align)
{
    return bytes_ok(c, r->value, r->count, size, align) && take(&c->bytes, r->count * size, c->a->BYTES_count);
}

// A subgraph belongs to one attribute.
static bool graph_ok(const Check *c, uint64_t plan)
{
    if (plan >= c->a->PLANS_count || c->is_held[plan]) return false;
    return c->is_held[plan] = true;
}

static bool attr_ok(Check *c, const HoloAttrRecord *r)
{
    if (!text_ok(c, r->name) || r->count > INT32_MAX) return false;
    switch (r->kind) {
    case 1:
    case 2: return true;                                                        // int, float
    case 3: return own_bytes_ok(c, r, 1, 1);                                    // string
    case 4: return tensor_record_ok(c, r->value, true);                         // tensor
    case 11: return tensor_record_ok(c, r->value, false);                       // type
    case 5: return graph_ok(c, r->value);                                       // graph
    case 6: return own_bytes_ok(c, r, sizeof(int64_t), 8);                      // ints
    case 7: return own_bytes_ok(c, r, sizeof(float), 4);                        // floats
    case 8: return own_bytes_ok(c, r, sizeof(HoloSpan), 4) && strings_ok(c, r); // strings
    }
    return false;
}

// All attributes are checked, because all are loaded, even those that no step has.
static HoloStatus attrs_check(Check *c)
{
    for (size_t i = 0; i < c->a->ATTRS_count; i++)
        if (!attr_ok(c, &c->a->ATTRS_at[i])) return BAD(c, "attribute %zu is broken", i);
    return HOLO_OK;
}

// ---- plans

// The memory of a target other than the CPU holds arena values, whose sizes are known before the run, states, and views
// of both.
static HoloStatus space_check(const Check *c, const HoloPlanRecord *p, uint32_t i)
{
    const HoloArchive     *a       = c->a;
    const HoloValueRecord *v       = &a->VALUES_at[p->value_first + i];
    uint32_t               targets = targets_of(c, p);
    if (targets == 1 && !v->space) return HOLO_OK;
    uint32_t space = holo_store_is_shared(v->storage) ? a->VALUES_at[p->value_first + v->at].space : 0;
    if (v->space >= targets)
        return BAD(c, "value %u of plan %s is in the memory of target %u, but there are %u targets", i,
                   a->STRINGS_at + p->name, v->space, targets);
    if (v->storage != HOLO_STORE_ARENA && !holo_value_is_state(v) && v->space != space)
        return BAD(c, "value %u of plan %s is in the memory of target %u, where it cannot be", i,
                   a->STRINGS_at + p->name, v->space);
    return HOLO_OK;
}

// How many entries of SIZES a value has.
static uint64_t sizes_of(const HoloValueRecord *v)
{
    uint64_t rank  = v->rank > 0 ? (uint64_t)v->rank : 0;
    bool     least = v->storage == HOLO_STORE_INPUT && v->at & HOLO_INPUT_LEAST;
    return rank + (least ? rank : 0) + (v->storage == HOLO_STORE_PART);
}

// What an input is where the caller gives none. States belong to plans that callers run: those of sessions.
static bool default_ok(const HoloValueRecord *v, bool is_own)
{
    const uint64_t known = HOLO_INPUT_FILL | HOLO_INPUT_INDEX | HOLO_INPUT_STATE | HOLO_INPUT_LEAST;
    uint64_t       fill  = v->at & HOLO_INPUT_FILL;
    if (v->at & ~known || !fill || fill > HOLO_FILL_MAX + 1) return false;
    if (holo_value_is_state(v) && (!is_own || v->at & HOLO_INPUT_INDEX || fill != 1)) return false;
    return v->rank >= 0 && v->dtype && v->dtype != HOLO_STRING && v->kind == HOLO_TENSOR;
}

static HoloStatus value_check(const Check *c, const HoloPlanRecord *p, uint32_t i)
{
    const HoloArchive     *a = c->a;
    const HoloValueRecord *v = &a->VALUES_at[p->value_first + i];
    bool ok = text_ok(c, v->name) && v->dtype < HOLO_DTYPE_COUNT && v->kind <= HOLO_MAP && v->inner <= HOLO_MAP &&
              v->rank >= -1 && v->rank <= HOLO_MAX_RANK && v->storage < HOLO_STORE_LIMIT &&
              range_ok(v->size_first, sizes_of(v), a->SIZES_count);
    bool loose = v->storage == HOLO_STORE_INPUT || v->storage == HOLO_STORE_HEAP; // may have no rank or type
    if (ok && !loose) ok = v->rank >= 0 && v->dtype && v->kind == HOLO_TENSOR;
    if (ok && v->storage == HOLO_STORE_CONSTANT)
        ok = v->at < a->CONSTANTS_count && a->CONSTANTS_at[v->at].dtype == v->dtype;
    if (ok && v->storage == HOLO_STORE_INPUT && v->at) ok = default_ok(v, c->is_own[p - a->PLANS_at]);
    // Aliases and parts refer to values that exist before the run, not to values made while running.
    if (ok && holo_store_is_shared(v->storage))
        ok = v->at < i && a->VALUES_at[p->value_first + v->at].storage != HOLO_STORE_HEAP;
    if (ok && v->storage == HOLO_STORE_ARENA) ok = v->step_from <= v->step_to && v->dtype != HOLO_STRING;
    if (ok && v->storage == HOLO_STORE_EXPRESSION)
        ok = v->at < a->SIZES_count && (v->dtype == HOLO_I64 || v->dtype == HOLO_I32);
    return ok ? space_check(c, p, i) : BAD(c, "value %u of plan %s is broken", i, a->STRINGS_at + p->name);
}

// A step does not write an input that is no state, or a constant, and no two steps write the same value. (Binding checks
// that only steps that update a state write it.)
static bool written_ok(const Check *c, const HoloPlanRecord *p, uint32_t v)
{
    const HoloValueRecord *root    = &c->a->VALUES_at[p->value_first + c->roots[v]];
    uint32_t               storage = root->storage;
    if (c->marks[v] & MARK_WRITTEN) return false;
    if (storage != HOLO_STORE_ARENA && storage != HOLO_STORE_HEAP && !(holo_value_is_state(root) && v != c->roots[v]))
        return false;
    c->marks[v] |= MARK_WRITTEN;
    c->marks[c->roots[v]] |= MARK_FILLED;
    return true;
}

// What is read of the plan's own memory was written before: what was there earlier is nobody's business.
static bool is_readable(const Check *c, const HoloPlanRecord *p, uint32_t v)
{
    uint32_t storage = c->a->VALUES_at[p->value_first + c->roots[v]].storage;
    return c->marks[c->roots[v]] & MARK_FILLED || (storage != HOLO_STORE_ARENA && storage != HOLO_STORE_HEAP);
}

static bool is_transfer(const HoloArchive *a, const HoloStepRecord *s)
{
    const HoloOpRecord *op = &a->OPS_at[s->op];
    return !strcmp(a->STRINGS_at + op->domain, "hologram") && !strcmp(a->STRINGS_at + op->name, "Transfer");
}

// A transfer copies between the host's memory and that of its target. The operands of any other step are all in the
// memory of its target.
static HoloStatus target_check(const Check *c, const HoloPlanRecord *p, uint32_t i)
{
    const HoloArchive    *a       = c->a;
    const HoloStepRecord *s       = &a->STEPS_at[p->step_first + i];
    const uint32_t       *operand = &a->OPERANDS_at[s->operand_first];
    const char           *plan    = a->STRINGS_at + p->name;
    uint32_t              targets = targets_of(c, p);
    if (s->target >= targets)
        return BAD(c, "step %u of plan %s runs on target %u, but there are %u targets", i, plan, s->target, targets);
    if (targets == 1) return HOLO_OK; // every value is in the host's memory
    if (is_transfer(a, s)) {
        bool is_pair =
            s->in_count == 1 && s->out_count == 1 && operand[0] != HOLO_NO_VALUE && operand[1] != HOLO_NO_VALUE;
        const HoloValueRecord *from = is_pair ? &a->VALUES_at[p->value_first + operand[0]] : NULL,
                              *to   = is_pair ? &a->VALUES_at[p->value_first + operand[1]] : NULL;
        if (!is_pair || (from->space && to->space) || from->space + to->space != s->target)
            return BAD(c, "step %u of plan %s does not copy between the host's memory and that of its target", i, plan);
        return HOLO_OK;
    }
    for (uint32_t k = 0; k < (uint32_t)s->in_count + s->out_count; k++)
        if (operand[k] != HOLO_NO_VALUE && a->VALUES_at[p->value_first + operand[k]].space != s->target)
            return BAD(c, "step %u of plan %s runs on target %u, but value %u is not in its memory", i, plan, s->target,
                       operand[k]);
    return HOLO_OK;
}

static HoloStatus step_check(Check *c, const HoloPlanRecord *p, uint32_t i, uint32_t plan)
{
    const HoloArchive    *a        = c->a;
    const HoloStepRecord *s        = &a->STEPS_at[p->step_first + i];
    uint32_t              operands = (uint32_t)s->in_count + s->out_count, written = 0;
    bool ok = s->op < a->OPS_count && text_ok(c, s->name) && range_ok(s->operand_first, operands, a->OPERANDS_count) &&
              range_ok(s->attr_first, s->attr_count, a->ATTRS_count) && s->capture_count <= s->in_count &&
              bytes_ok(c, s->params, s->params_size, 1, 8) && s->program <= a->PROGRAMS_count &&
              take(&c->operands, operands, a->OPERANDS_count) && take(&c->attrs, s->attr_count, a->ATTRS_count) &&
              take(&c->bytes, s->params_size, a->BYTES_count);
    for (uint32_t k = 0; ok && k < operands; k++) {
        uint32_t v = a->OPERANDS_at[s->operand_first + k];
        if (v == HOLO_NO_VALUE) continue;
        ok = v < p->value_count;
        if (ok && k < s->in_count && !is_readable(c, p, v))
            return BAD(c, "step %u of plan %s reads value %u before it is written", i, a->STRINGS_at + p->name, v);
        if (ok && k >= s->in_count) ok = written_ok(c, p, v), written++;
    }
    ok = ok && written;
    for (uint32_t k = 0; ok && k < s->attr_count; k++) {
        const HoloAttrRecord *r = &a->ATTRS_at[s->attr_first + k];
        // A subgraph comes later, so no plan contains itself. Plans for the CPU alone hold no others.
        ok = r->kind != 5 || (r->value > plan && (plan >= c->host_count || r->value < c->host_count));
    }
    return ok ? target_check(c, p, i) : BAD(c, "step %u of plan %s is broken", i, a->STRINGS_at + p->name);
}

static bool ports_ok(Check *c, const HoloPlanRecord *p, uint32_t first, uint32_t count, bool inputs)
{
    if (!range_ok(first, count, c->a->OPERANDS_count) || count > INT32_MAX ||
        !take(&c->operands, count, c->a->OPERANDS_count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = c->a->OPERANDS_at[first + i];
        if (v >= p->value_count) return false;
        if (!inputs && c->a->VALUES_at[p->value_first + v].space) return false;
        if (!inputs) continue;
        if (c->a->VALUES_at[p->value_first + v].storage != HOLO_STORE_INPUT || c->marks[v] & MARK_INPUT) return false;
        c->marks[v] |= MARK_INPUT;
    }
    return true;
}

// A value that the caller gives must be an input.
static bool inputs_ok(const Check *c, const HoloPlanRecord *p)
{
    for (uint32_t i = 0; i < p->value_count; i++)
        if (c->a->VALUES_at[p->value_first + i].storage == HOLO_STORE_INPUT && !(c->marks[i] & MARK_INPUT))
            return false;
    return true;
}

// States come behind all other inputs. Neither a memo, which belongs to plan 0, nor runs in parts can do with them.
static bool states_ok(const Check *c, const HoloPlanRecord *p)
{
    const HoloArchive *a     = c->a;
    bool               state = false;
    for (uint32_t i = 0; i < p->input_count; i++) {
        bool is_state = holo_value_is_state(&a->VALUES_at[p->value_first + a->OPERANDS_at[p->input_first + i]]);
        if (state && !is_state) return false;
        state = is_state;
    }
    return !state || (!(p->flags & HOLO_PLAN_SEPARATE) && (p != a->PLANS_at || !a->MEMO_SLOTS_at));
}

static HoloStatus plan_check(Check *c, uint32_t plan)
{
    const HoloArchive    *a = c->a;
    const HoloPlanRecord *p = &a->PLANS_at[plan];
    if (!text_ok(c, p->name) || !range_ok(p->value_first, p->value_count, a->VALUES_count) ||
        !range_ok(p->step_first, p->step_count, a->STEPS_count))
        return BAD(c, "plan %u lies outside its section", plan);
    if (!take(&c->values, p->value_count, a->VALUES_count) || !take(&c->steps, p->step_count, a->STEPS_count) ||
        p->value_count > INT32_MAX)
        return BAD(c, "plan %u overlaps another", plan);
    if (p->value_count) memset(c->marks, 0, p->value_count);
    for (uint32_t i = 0; i < p->value_count; i++) {
        HOLO_TRY(value_check(c, p, i));
        const HoloValueRecord *v = &a->VALUES_at[p->value_first + i];
        c->roots[i]              = holo_store_is_shared(v->storage) ? c->roots[v->at] : i;
    }
    if (!ports_ok(c, p, p->input_first, p->input_count, true) ||
        !ports_ok(c, p, p->output_first, p->output_count, false) || !inputs_ok(c, p) || !states_ok(c, p))
        return BAD(c, "the inputs or outputs of plan %u are broken", plan);
    for (uint32_t i = 0; i < p->step_count; i++) HOLO_TRY(step_check(c, p, i, plan));
    for (uint32_t i = 0; i < p->output_count; i++)
        if (!is_readable(c, p, a->OPERANDS_at[p->output_first + i]))
            return BAD(c, "no step writes output %u of plan %u", i, plan);
    return HOLO_OK;
}

// ---- the memo

// An output of the memo must match the plan: others rely on its type and its fixed sizes.
static bool memo_output_ok(const Check *c, const HoloMemoTensor *t, uint32_t output)
{
    const HoloArchive     *a = c->a;
    const HoloPlanRecord  *p = &a->PLANS_at[0];
    const HoloValueRecord *v = &a->VALUES_at[p->value_first + a->OPERANDS_at[p->output_first + output]];
    if (v->kind != HOLO_TENSOR || (v->dtype && v->dtype != t->dtype) || (v->rank >= 0 && v->rank != t->rank))
        return false;
    for (int d = 0; d < v->rank; d++) {
        int64_t size = a->SIZES_at[v->size_first + (uint32_t)d];
        if (!holo_dim_is_symbolic(size) && size != t->dim[d]) return false;
    }
    return true;
}

static bool memo_tensor_ok(const Check *c, const HoloMemoTensor *t)
{
    int64_t bytes = (int64_t)holo_dtype_size((HoloDtype)t->dtype);
    if (!bytes || t->dtype == HOLO_STRING || t->rank > HOLO_MAX_RANK) return false;
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d] < 0 || !holo_mul(bytes, t->dim[d], &bytes)) return false;
    return (uint64_t)bytes == t->size && t->offset % HOLO_WEIGHT_ALIGN == 0 &&
           range_ok(t->offset, t->size, c->a->MEMO_DATA_count);
}

static HoloStatus memo_check(const Check *c)
{
    const HoloArchive    *a     = c->a;
    const HoloPlanRecord *p     = &a->PLANS_at[0];
    uint64_t              width = (uint64_t)p->input_count + p->output_count, tensors = 0;
    int there = (a->MEMO_SLOTS_at != NULL) + (a->MEMO_ENTRIES_at != NULL) + (a->MEMO_TENSORS_at != NULL) +
                (a->MEMO_DATA_at != NULL);
    if (!there) return HOLO_OK;
    if (there != 4 || a->MEMO_SLOTS_count & (a->MEMO_SLOTS_count - 1)) return BAD(c, "the memo is incomplete");
    for (size_t i = 0; i < a->MEMO_SLOTS_count; i++)
        if (a->MEMO_SLOTS_at[i] > a->MEMO_ENTRIES_count) return BAD(c, "slot %zu of the memo names no entry", i);
    for (size_t i = 0; i < a->MEMO_TENSORS_count; i++)
        if (!memo_tensor_ok(c, &a->MEMO_TENSORS_at[i])) return BAD(c, "tensor %zu of the memo is broken", i);
    for (size_t i = 0; i < a->MEMO_ENTRIES_count; i++) {
        uint64_t first = a->MEMO_ENTRIES_at[i].tensor_first;
        if (!range_ok(first, width, a->MEMO_TENSORS_count) || !take(&tensors, width, a->MEMO_TENSORS_count))
            return BAD(c, "entry %zu of the memo is broken", i);
        for (uint32_t k = 0; k < p->output_count; k++)
            if (!memo_output_ok(c, &a->MEMO_TENSORS_at[first + p->input_count + k], k))
                return BAD(c, "output %u of entry %zu of the memo does not match the model", k, i);
    }
    return HOLO_OK;
}

// ---- all of them

static HoloStatus records_check(Check *c)
{
    const HoloArchive *a = c->a;
    c->roots             = HOLO_NEW(&c->arena, uint32_t, a->VALUES_count + 1);
    c->marks             = HOLO_NEW(&c->arena, uint8_t, a->VALUES_count + 1);
    c->is_held           = HOLO_NEW(&c->arena, bool, a->PLANS_count + 1);
    c->is_own            = HOLO_NEW(&c->arena, bool, a->PLANS_count + 1);
    if (!c->roots || !c->marks || !c->is_held || !c->is_own) return holo_fail_memory(c->error);
    HOLO_TRY(dims_check(c));
    HOLO_TRY(constants_check(c));
    HOLO_TRY(ops_check(c));
    HOLO_TRY(attrs_check(c));
    HOLO_TRY(notes_check(c));
    HOLO_TRY(programs_check(c));
    HOLO_TRY(assets_check(c));
    HOLO_TRY(targets_check(c));
    HOLO_TRY(code_check(c));
    HOLO_TRY(entries_check(c));
    HOLO_TRY(device_plans_check(c));
    for (uint32_t i = 0; i < a->PLANS_count; i++) HOLO_TRY(plan_check(c, i));
    HOLO_TRY(holo_archive_check_ports(a, c->error));
    return memo_check(c);
}

HoloStatus holo_archive_open(const void *bytes, size_t size, HoloArchive *out, HoloError *error)
{
    Check c = {.a = out, .error = error};
    HOLO_TRY(holo_archive_open_sections(bytes, size, out, error));
    HoloStatus status = records_check(&c);
    holo_arena_deinit(&c.arena);
    return status;
}
