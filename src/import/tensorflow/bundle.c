// bundle.c - the variables of a TensorFlow checkpoint. See bundle.h.
//
// Which variable has which key follows from the part of the graph that restores them: AssignVariableOp of an output of
// RestoreV2, in the graph itself (TensorFlow 1) or in a function that is called with the variables (TensorFlow 2).
#include "import/tensorflow/bundle.h"

#include <stdio.h>

HoloStatus holo_flow_bundle_open(HoloFlow *tf, const char *prefix, HoloFlowBundle *out)
{
    HoloFlowBundleProto header = {0};
    HoloMapping        *file;
    char                name[4096];
    *out = (HoloFlowBundle){.tf = tf, .prefix = prefix};
    if (snprintf(name, sizeof name, "%s.index", prefix) >= (int)sizeof name)
        return holo_fail(tf->error, HOLO_BAD_MODEL, "the name of the checkpoint is too long");
    HOLO_TRY(holo_import_map(tf->import, (HoloString){name, strlen(name)}, &file));
    HOLO_TRY(holo_sstable_read(tf->arena, file->data, file->size, &out->table, tf->error));
    for (int i = 0; i < out->table.count; i++) {
        if (!out->table.key[i].size) { // the header
            HoloPbSource source = {(const uint8_t *)out->table.value[i].data, tf->error};
            HOLO_TRY(holo_pb_read(&source, "BundleHeader", out->table.value[i], holo_flow_bundle_fields, &header));
            continue;
        }
        if (!holo_name_map_set(&out->names, tf->arena, out->table.key[i], &out->table.value[i]))
            return holo_fail_memory(tf->error);
    }
    out->shards = header.num_shards ? header.num_shards : 1;
    if (header.endianness) return holo_fail(tf->error, HOLO_UNSUPPORTED, "the variables are big-endian");
    return HOLO_OK;
}

static HoloStatus read_tensor(HoloFlowBundle *b, HoloString key, const HoloString *value, HoloTensor *out)
{
    HoloFlow                *tf     = b->tf;
    HoloFlowBundleEntryProto entry  = {0};
    HoloPbSource             source = {(const uint8_t *)value->data, tf->error};
    HoloPbSource             saved  = tf->source;
    HoloMapping             *file;
    char                     name[4096];
    HOLO_TRY(holo_pb_read(&source, "BundleEntry", *value, holo_flow_bundle_entry_fields, &entry));
    *out              = (HoloTensor){.dtype = (uint8_t)holo_flow_dtype(entry.dtype)};
    tf->source        = source;
    HoloStatus status = holo_flow_read_shape(tf, entry.shape, out);
    tf->source        = saved;
    if (status) return status;
    int64_t count = out->rank < 0 ? -1 : holo_tensor_count(out);
    if (entry.slices.count || !out->dtype || out->dtype == HOLO_STRING || count < 0)
        return holo_fail(tf->error, HOLO_UNSUPPORTED,
                         "variable '%.*s' is cut into slices, or has a type that is not read", HOLO_IMPORT_ARG(key));
    if (!count) return HOLO_OK;
    snprintf(name, sizeof name, "%s.data-%05lld-of-%05lld", b->prefix, (long long)entry.shard_id, (long long)b->shards);
    HOLO_TRY(holo_import_map(tf->import, (HoloString){name, strlen(name)}, &file));
    uint64_t bytes = holo_import_stored((HoloDtype)out->dtype, count);
    if (entry.offset < 0 || (uint64_t)entry.offset > file->size || bytes > file->size - (uint64_t)entry.offset ||
        bytes != (uint64_t)entry.size)
        return holo_fail(tf->error, HOLO_BAD_MODEL, "variable '%.*s' is not in the file '%s'", HOLO_IMPORT_ARG(key),
                         name);
    return holo_import_bytes(tf->import, key, (const char *)file->data + entry.offset, count, out);
}

// ---- which variable has which key

static const HoloFlowNode *follow(const HoloFlowNodes *nodes, HoloString ref, int64_t *index)
{
    for (int i = 0; i < 16; i++) {
        HoloFlowRef         cut  = holo_flow_ref(ref);
        const HoloFlowNode *node = holo_name_map_find(&nodes->names, cut.node);
        if (!node) return NULL;
        *index = cut.index;
        if (!holo_flow_is(node->op, "Identity") || !node->in_count) return node;
        ref = node->in[0];
    }
    return NULL;
}

// The key that output `index` of a RestoreV2 reads.
static HoloStatus restored_key(HoloFlow *tf, const HoloFlowNodes *nodes, const HoloFlowNode *restore, int64_t index,
                               HoloString *out)
{
    int64_t             place;
    const HoloFlowNode *names = restore->in_count > 1 ? follow(nodes, restore->in[1], &place) : NULL;
    HoloFlowCall        c     = {.tf = tf, .e = &tf->emit, .node = names};
    HoloFlowAttrProto   attr;
    HoloTensor          t;
    *out = (HoloString){"", 0};
    if (!names || !holo_flow_is(names->op, "Const") || !holo_flow_attr(&c, "value", &attr)) return HOLO_OK;
    HOLO_TRY(holo_flow_tensor(tf, names->name, attr.tensor, &t));
    if (t.dtype == HOLO_STRING && index < holo_tensor_count(&t)) *out = ((const HoloString *)t.data)[index];
    return HOLO_OK;
}

static HoloStatus note_key(HoloFlowBundle *b, HoloString variable, HoloString key)
{
    HoloString *copy = HOLO_NEW(b->tf->arena, HoloString, 1);
    if (!copy) return holo_fail_memory(b->tf->error);
    *copy = key;
    return holo_name_map_set(&b->keys, b->tf->arena, variable, copy) ? HOLO_OK : holo_fail_memory(b->tf->error);
}

// The variable that argument `name` of a function is: by the node of the graph that calls it.
static const HoloFlowNode *called_with(HoloFlow *tf, const HoloFlowFunction *f, HoloString name)
{
    const HoloFlowNodes *nodes = tf->main.nodes;
    int64_t              place;
    int                  arg = 0;
    while (arg < f->arg_count && (f->arg[arg].size != name.size || memcmp(f->arg[arg].data, name.data, name.size)))
        arg++;
    for (int i = 0; i < nodes->count && arg < f->arg_count; i++) {
        HoloFlowCall      c = {.tf = tf, .e = &tf->emit, .node = &nodes->node[i]};
        HoloFlowCallProto call;
        if (!holo_flow_func(&c, "f", &call) || call.name.size != f->name.size ||
            memcmp(call.name.data, f->name.data, f->name.size))
            continue;
        if (arg < c.node->in_count) return follow(nodes, c.node->in[arg], &place);
    }
    return NULL;
}

static HoloStatus note_assignments(HoloFlowBundle *b, const HoloFlowNodes *nodes, const HoloFlowFunction *f)
{
    for (int i = 0; i < nodes->count; i++) {
        const HoloFlowNode *node  = &nodes->node[i];
        int64_t             index = 0, place;
        HoloString          key;
        if ((!holo_flow_is(node->op, "AssignVariableOp") && !holo_flow_is(node->op, "Assign")) || node->in_count < 2)
            continue;
        const HoloFlowNode *restore = follow(nodes, node->in[1], &index);
        if (!restore || !holo_flow_is(restore->op, "RestoreV2")) continue;
        HOLO_TRY(restored_key(b->tf, nodes, restore, index, &key));
        const HoloFlowNode *variable = follow(nodes, node->in[0], &place);
        if (!variable && f) variable = called_with(b->tf, f, holo_flow_ref(node->in[0]).node);
        if (key.size && variable) HOLO_TRY(note_key(b, variable->name, key));
    }
    return HOLO_OK;
}

// Functions that restore are those that the graph calls.
static HoloStatus note_functions(HoloFlowBundle *b)
{
    HoloFlow            *tf    = b->tf;
    const HoloFlowNodes *nodes = tf->main.nodes;
    HoloNameMap          seen  = {0};
    for (int i = 0; i < nodes->count; i++) {
        HoloFlowCall      c = {.tf = tf, .e = &tf->emit, .node = &nodes->node[i]};
        HoloFlowCallProto call;
        HoloStatus        status;
        if (!holo_flow_func(&c, "f", &call) || holo_name_map_find(&seen, call.name)) continue;
        HoloFlowFunction *f = holo_flow_function(tf, call.name, &status);
        if (status) return status;
        if (!f) continue;
        if (!holo_name_map_set(&seen, tf->arena, call.name, f)) return holo_fail_memory(tf->error);
        HOLO_TRY(note_assignments(b, &f->nodes, f));
    }
    return HOLO_OK;
}

static HoloStatus find_variable(HoloFlow *tf, const HoloFlowNode *node, HoloTensor *out, bool *found)
{
    HoloFlowBundle *b      = tf->format;
    HoloFlowCall    c      = {.tf = tf, .e = &tf->emit, .node = node};
    HoloString      shared = holo_flow_string(&c, "shared_name", ""), *known = holo_name_map_find(&b->keys, node->name);
    const char *object = holo_arena_format(tf->arena, "%.*s/.ATTRIBUTES/VARIABLE_VALUE", (int)shared.size, shared.data);
    HoloString  tries[] = {known ? *known : node->name, node->name, shared, {object, object ? strlen(object) : 0}};
    *found              = false;
    for (int i = 0; i < HOLO_COUNT(tries) && !*found; i++) {
        const HoloString *value = tries[i].size ? holo_name_map_find(&b->names, tries[i]) : NULL;
        if (!value) continue;
        *found = true;
        HOLO_TRY(read_tensor(b, tries[i], value, out));
    }
    return HOLO_OK;
}

HoloStatus holo_flow_bundle_use(HoloFlow *tf, HoloFlowBundle *bundle)
{
    HOLO_TRY(note_assignments(bundle, tf->main.nodes, NULL));
    HOLO_TRY(note_functions(bundle));
    tf->variable = find_variable;
    tf->format   = bundle;
    return HOLO_OK;
}
