// pt2_model.c - a program of torch.export as a graph: what its signature says of inputs and outputs, and its nodes.
#include "import/torch/pt2.h"

#include <string.h>

typedef struct Kind { // of inputs, by the key in the signature
    const char *key, *name;
} Kind;

static const Kind weights[] = {
    {"parameter", "parameter_name"}, {"buffer", "buffer_name"}, {"tensor_constant", "tensor_constant_name"}};

HoloValue *holo_torch_constant(HoloTorch *t, const char *name, const HoloCheckpointTensor *from)
{
    HoloTensor  tensor = from->tensor;
    HoloString  text   = {name, strlen(name)};
    HoloImport *im     = t->import;
    if (t->e->status) return NULL;
    tensor.data = NULL;
    if (from->count && from->is_dense) {
        t->e->status = holo_import_bytes(im, text, from->tensor.data, from->count, &tensor);
    } else if (from->count) {
        void *copy;
        t->e->status = holo_import_take(im, text, from->count, holo_dtype_size((HoloDtype)tensor.dtype), &copy);
        if (t->e->status) return NULL;
        holo_checkpoint_copy(from, copy);
        t->e->status = holo_import_bytes(im, text, copy, from->count, &tensor);
    }
    return t->e->status ? NULL : holo_emit_constant(t->e, name, &tensor);
}

// Complex numbers are read as pairs.
bool holo_torch_pairs_type(HoloTensor *type)
{
    HoloDtype dtype = (HoloDtype)type->dtype;
    if (holo_dtype_class(dtype) != HOLO_CLASS_COMPLEX || type->rank >= HOLO_MAX_RANK) return false;
    type->dtype             = dtype == HOLO_C128 ? HOLO_F64 : HOLO_F32;
    type->dim[type->rank++] = 2;
    return true;
}

static HoloTv complex_weight(HoloTorch *t, const char *name, const HoloCheckpointTensor *from)
{
    HoloTensor tensor = from->tensor;
    void      *copy   = NULL;
    if (!from->count) return (HoloTv){0};
    t->e->status = holo_import_take(t->import, (HoloString){name, strlen(name)}, from->count,
                                    holo_dtype_size((HoloDtype)tensor.dtype), &copy);
    if (t->e->status || !holo_torch_pairs_type(&tensor)) return (HoloTv){0};
    holo_checkpoint_copy(from, copy);
    tensor.data = copy;
    return holo_tv_of_pairs(t, holo_tv_tensor(t, holo_emit_constant(t->e, name, &tensor)));
}

HoloTv holo_torch_weight(HoloTorch *t, const char *name, const HoloCheckpointTensor *tensor, bool is_buffer)
{
    if (holo_dtype_class((HoloDtype)tensor->tensor.dtype) == HOLO_CLASS_COMPLEX) return complex_weight(t, name, tensor);
    HoloValue *constant = holo_torch_constant(t, name, tensor);
    if (!constant) return (HoloTv){0};
    return is_buffer ? holo_torch_buffer(t, name, constant) : holo_tv_tensor(t, constant);
}

// ---- inputs

static void add_weight(HoloPt2Scope *scope, const char *name, const char *weight, bool is_buffer)
{
    HoloPt2             *p = scope->pt2;
    HoloTorch           *t = &p->torch;
    HoloCheckpointTensor tensor;
    if (!holo_pt2_weight(p, weight, &tensor)) return;
    char  *kept  = holo_arena_text(t->arena, weight, strlen(weight));
    HoloTv value = kept ? holo_torch_weight(t, kept, &tensor, is_buffer) : (HoloTv){0};
    if (!t->e->status) holo_pt2_set(scope, name, value);
}

static void add_user_input(HoloPt2Scope *scope, const json_t *graph, const json_t *arg)
{
    HoloPt2    *p    = scope->pt2;
    HoloTorch  *t    = &p->torch;
    const char *name = holo_pt2_name(arg);
    HoloTensor  type;
    if (!name) return; // a number that was given when the model was exported: it is in the nodes already
    if (!json_object_get(arg, "as_tensor")) { // a number
        type             = (HoloTensor){.dtype = json_object_get(arg, "as_sym_float")  ? HOLO_F64
                                                 : json_object_get(arg, "as_sym_bool") ? HOLO_BOOL
                                                                                       : HOLO_I64};
        HoloValue *value = holo_emit_input(t->e, name, &type);
        if (value) holo_pt2_set(scope, name, (HoloTv){.kind = HOLO_TORCH_NUMBER, .number = value});
        return;
    }
    const json_t *meta = json_object_get(json_object_get(graph, "tensor_values"), name);
    if (!holo_pt2_type(p, meta, &type)) {
        holo_emit_fail(t->e, HOLO_UNSUPPORTED, "the input '%.200s' has no type that is supported", name);
        return;
    }
    bool       is_complex = holo_torch_pairs_type(&type);
    HoloValue *value      = holo_emit_input(t->e, name, &type);
    if (!value) return;
    HoloTv v = holo_tv_tensor(t, value);
    holo_pt2_set(scope, name, is_complex ? holo_tv_of_pairs(t, v) : v);
}

static void add_input(HoloPt2Scope *scope, const json_t *graph, const json_t *spec)
{
    const json_t *user = json_object_get(spec, "user_input");
    if (user) {
        add_user_input(scope, graph, json_object_get(user, "arg"));
        return;
    }
    for (int i = 0; i < HOLO_COUNT(weights); i++) {
        const json_t *entry  = json_object_get(spec, weights[i].key);
        const char   *name   = holo_pt2_name(json_object_get(entry, "arg"));
        const char   *weight = json_string_value(json_object_get(entry, weights[i].name));
        if (!entry) continue;
        if (name && weight)
            add_weight(scope, name, weight, i == 1);
        else
            holo_emit_fail(scope->pt2->torch.e, HOLO_BAD_MODEL, "a weight of the program has no name");
        return;
    }
    if (json_object_get(spec, "constant_input") || json_object_get(spec, "token")) return;
    holo_emit_fail(scope->pt2->torch.e, HOLO_UNSUPPORTED, "the program has an input that is an object");
}

// ---- outputs

// A name that no other output has.
static const char *output_name(HoloPt2 *p, const char *name)
{
    HoloArena *arena = p->torch.arena;
    char      *own   = holo_arena_text(arena, name, strlen(name));
    for (int i = 1; own && holo_name_map_find(&p->graph_names, (HoloString){own, strlen(own)}); i++)
        own = holo_arena_format(arena, "%s_%d", name, i);
    if (own && !holo_name_map_set(&p->graph_names, arena, (HoloString){own, strlen(own)}, own)) return NULL;
    return own;
}

static void add_output(HoloPt2Scope *scope, const json_t *spec)
{
    HoloTorch    *t    = &scope->pt2->torch;
    const json_t *user = json_object_get(spec, "user_output"), *loss = json_object_get(spec, "loss_output");
    const json_t *arg  = json_object_get(user ? user : loss, "arg");
    const char   *name = holo_pt2_name(arg);
    if (!arg || json_object_get(arg, "as_none")) return;
    if (!user) return; // of training
    HoloTv value = holo_pt2_value(scope, arg);
    if (value.kind == HOLO_TORCH_NONE || value.kind == HOLO_TORCH_TEXT) return;
    if (value.kind == HOLO_TORCH_COMPLEX) value = holo_tv_pairs(t, &value);
    const char *own = output_name(scope->pt2, name ? name : "output");
    if (own) holo_emit_output(t->e, holo_torch_value(t, &value), own);
}

// What the program computes for a buffer, or for an input, replaces it.
static void add_mutation(HoloPt2Scope *scope, const json_t *signature, const json_t *spec)
{
    HoloTorch    *t      = &scope->pt2->torch;
    const json_t *buffer = json_object_get(spec, "buffer_mutation"),
                 *inputs = json_object_get(signature, "input_specs");
    const char *name     = json_string_value(json_object_get(buffer, "buffer_name"));
    const char *from     = holo_pt2_name(json_object_get(buffer, "arg"));
    for (size_t i = 0; name && from && i < json_array_size(inputs) && !t->e->status; i++) {
        const json_t *entry = json_object_get(json_array_get(inputs, i), "buffer");
        const char   *own   = json_string_value(json_object_get(entry, "buffer_name")),
                   *arg     = holo_pt2_name(json_object_get(entry, "arg"));
        if (!own || !arg || strcmp(own, name)) continue;
        const HoloTv *place = holo_name_map_find(&scope->names, (HoloString){arg, strlen(arg)});
        const HoloTv *value = holo_name_map_find(&scope->names, (HoloString){from, strlen(from)});
        if (place && value && place->kind == HOLO_TORCH_TENSOR)
            holo_torch_write(t, place->tensor, holo_torch_value(t, value));
    }
}

static void build(HoloPt2 *p)
{
    HoloPt2Scope  scope  = {.pt2 = p};
    const json_t *module = json_object_get(p->program, "graph_module"), *graph = json_object_get(module, "graph");
    const json_t *signature = json_object_get(module, "signature"), *in = json_object_get(signature, "input_specs"),
                 *out = json_object_get(signature, "output_specs");
    HoloTorch *t      = &p->torch;
    if (!json_is_array(json_object_get(graph, "nodes")) || !json_is_array(in) || !json_is_array(out))
        holo_emit_fail(t->e, HOLO_BAD_MODEL, "the program has no graph or no signature");
    for (size_t i = 0; i < json_array_size(in) && !t->e->status; i++) add_input(&scope, graph, json_array_get(in, i));
    if (!t->e->status) holo_pt2_nodes(&scope, graph);
    t->e->node = NULL;
    for (size_t i = 0; i < json_array_size(out) && !t->e->status; i++) add_output(&scope, json_array_get(out, i));
    for (size_t i = 0; i < json_array_size(out) && !t->e->status; i++)
        add_mutation(&scope, signature, json_array_get(out, i));
    if (!t->e->status && !t->e->graph->output_count) holo_emit_fail(t->e, HOLO_BAD_MODEL, "the program gives nothing");
}

// ---- facts

static HoloStatus add_facts(HoloPt2 *p)
{
    HoloImport   *im      = p->import;
    const char   *version = json_string_value(json_object_get(p->program, "torch_version")), *name;
    const json_t *schema  = json_object_get(p->program, "schema_version");
    json_t       *ranges  = json_object_get(p->program, "range_constraints"), *range;
    char         *text =
        holo_arena_format(im->arena, "%lld.%lld", (long long)json_integer_value(json_object_get(schema, "major")),
                          (long long)json_integer_value(json_object_get(schema, "minor")));
    char *producer = holo_arena_format(im->arena, "PyTorch %.100s", version ? version : "");
    if (!text || !producer) return holo_fail_memory(im->error);
    if (version) HOLO_TRY(holo_import_fact(im, "producer", producer));
    if (schema) HOLO_TRY(holo_import_fact(im, "schema_version", text));
    json_object_foreach(ranges, name, range)
    {
        const json_t *least = json_object_get(range, "min_val"), *most = json_object_get(range, "max_val");
        char         *key = holo_arena_format(im->arena, "range of %.100s", name);
        text              = json_is_integer(most)
                                ? holo_arena_format(im->arena, "%lld to %lld", (long long)json_integer_value(least),
                                                    (long long)json_integer_value(most))
                                : holo_arena_format(im->arena, "%lld or more", (long long)json_integer_value(least));
        if (!key || !text) return holo_fail_memory(im->error);
        HOLO_TRY(holo_import_fact(im, key, text));
    }
    return HOLO_OK;
}

// ---- the whole

// Twice if the program changes buffers: then they are states.
static HoloStatus import_program(HoloPt2 *p)
{
    bool is_again = true;
    for (int pass = 0; pass < 2 && is_again; pass++) {
        HoloEmit   e;
        HoloTorch *t = &p->torch;
        holo_emit_begin(&e, p->import, "main");
        HoloNameMap    changed = t->changed;
        HoloCheckpoint file    = t->file;
        *t                     = (HoloTorch){.changed = changed, .file = file};
        p->graph_names         = (HoloNameMap){0};
        if (!e.status) e.status = holo_torch_init(t, p->import, &e);
        if (!e.status) build(p);
        is_again              = !e.status && holo_torch_states_end(t);
        p->import->out->graph = e.graph;
        holo_emit_end(&e);
        if (e.status) return e.status;
    }
    return add_facts(p);
}

HoloStatus holo_pt2_open(HoloImport *import)
{
    HoloPt2    p      = {.import = import};
    HoloStatus status = holo_pt2_read(&p);
    if (!status) status = import_program(&p);
    json_decref(p.program);
    json_decref(p.weights.json);
    json_decref(p.constants.json);
    return status;
}
