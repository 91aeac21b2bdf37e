// keras_model.c - walks over the configuration of a Keras model and emits its layers. See keras.h.
#include "import/keras/keras.h"

#include <stdio.h>

// ---- layers

const HoloKerasLayer *const holo_keras_tables[] = {
    holo_keras_layers_plain, holo_keras_layers_window, holo_keras_layers_rnn,
    holo_keras_layers_time,  holo_keras_layers_more,   NULL,
};

const HoloKerasLayer *holo_keras_layer(const char *name)
{
    for (int t = 0; holo_keras_tables[t]; t++)
        for (const HoloKerasLayer *row = holo_keras_tables[t]; row->name; row++)
            if (!strcmp(row->name, name)) return row;
    return NULL;
}

HoloValue *holo_keras_in(HoloKerasCall *c, int i)
{
    if (i < c->in_count && c->in[i]) return c->in[i];
    return holo_emit_fail(c->e, HOLO_BAD_MODEL, "input %d is missing", i);
}

bool holo_keras_is_model(const char *class_name)
{
    return !strcmp(class_name, "Sequential") || !strcmp(class_name, "Functional") || !strcmp(class_name, "Model");
}

void holo_keras_apply(HoloKerasCall *c, const char *class_name)
{
    const char *colon = strrchr(class_name, '>'); // "Package>Name"
    c->layer          = holo_keras_layer(colon ? colon + 1 : class_name);
    if (!c->layer)
        holo_emit_fail(c->e, HOLO_UNSUPPORTED,
                       "layers of class '%.100s' are not supported; a class of your own has to be made of other layers",
                       class_name);
    else if (!c->e->status) {
        c->out_mask = c->layer->keeps_mask ? c->mask : NULL;
        c->layer->emit(c);
    }
}

// ---- models of layers

typedef struct Ref { // an output of a use of a layer
    int use, tensor;
} Ref;

typedef struct Use {
    int           layer;
    Ref          *in;
    int           in_count, in_room;
    const json_t *extra;
    HoloValue    *out[HOLO_KERAS_OUT_MAX], *mask;
    int           out_count;
    uint8_t       state; // 1: being computed, 2: computed
} Use;

typedef struct Layer {
    const char     *class_name, *name;
    const json_t   *json, *config;
    HoloKerasPlace *place;
    int             first, use_count; // its uses
} Layer;

typedef struct Model {
    HoloKeras            *k;
    const HoloKerasPlace *place;
    Layer                *layer;
    int                   layer_count;
    HoloNameMap           names; // to Layer
    Use                  *use;
    int                   use_count;
} Model;

static HoloStatus bad(const Model *m, const char *what)
{
    return holo_fail(m->k->import->error, HOLO_BAD_MODEL, "the configuration of model '%.100s' is wrong: %s",
                     m->place->name ? m->place->name : "", what);
}

// Keras 3 calls the group of a layer by its class, and counts: conv2d, conv2d_1 ...
static const char *group_name(HoloKeras *k, const char *class_name, int before)
{
    char   text[128];
    size_t n = 0;
    for (const char *p = class_name; *p && n + 3 < sizeof text; p++) {
        bool is_upper = *p >= 'A' && *p <= 'Z', is_digit = *p >= '0' && *p <= '9';
        bool was_lower  = p > class_name && ((p[-1] >= 'a' && p[-1] <= 'z') || (p[-1] >= '0' && p[-1] <= '9'));
        bool next_lower = p[1] >= 'a' && p[1] <= 'z', was_upper = p > class_name && p[-1] >= 'A' && p[-1] <= 'Z';
        if (is_upper && ((was_lower && !(p[-1] >= '0' && p[-1] <= '9' && !next_lower)) || (was_upper && next_lower)))
            text[n++] = '_';
        (void)is_digit;
        text[n++] = (char)(is_upper ? *p - 'A' + 'a' : *p);
    }
    text[n] = 0;
    return before ? holo_arena_format(k->import->arena, "%s_%d", text, before)
                  : holo_arena_format(k->import->arena, "%s", text);
}

static HoloStatus read_layer(Model *m, const json_t *json, int index)
{
    Layer        *layer  = &m->layer[index];
    const json_t *name   = json_object_get(json, "name");
    int           before = 0;
    layer->json          = json;
    layer->config        = json_object_get(json, "config");
    layer->class_name    = json_string_value(json_object_get(json, "class_name"));
    if (!name) name = json_object_get(layer->config, "name");
    if (!layer->class_name) return bad(m, "a layer has no class");
    layer->name =
        json_is_string(name) ? json_string_value(name) : holo_arena_format(m->k->import->arena, "layer_%d", index);
    layer->place = HOLO_NEW(m->k->import->arena, HoloKerasPlace, 1);
    for (int i = 0; i < index; i++) before += !strcmp(m->layer[i].class_name, layer->class_name);
    if (!layer->name || !layer->place) return holo_fail_memory(m->k->import->error);
    *layer->place = (HoloKerasPlace){m->place, layer->name, group_name(m->k, layer->class_name, before)};
    if (!holo_name_map_set(&m->names, m->k->import->arena, (HoloString){layer->name, strlen(layer->name)}, layer))
        return holo_fail_memory(m->k->import->error);
    return HOLO_OK;
}

static HoloStatus read_layers(Model *m, const json_t *list)
{
    size_t count = json_array_size(list);
    if (count > 20000) return bad(m, "there are too many layers");
    m->layer = HOLO_NEW(m->k->import->arena, Layer, count + 1);
    if (!m->layer) return holo_fail_memory(m->k->import->error);
    for (size_t i = 0; i < count; i++) HOLO_TRY(read_layer(m, json_array_get(list, i), (int)i));
    m->layer_count = (int)count;
    return HOLO_OK;
}

// ---- references between layers

// ["name", use, tensor] of both versions; false: it is none.
static bool read_ref(Model *m, const json_t *json, Ref *out)
{
    const json_t *history = json_object_get(json_object_get(json, "config"), "keras_history");
    if (history) json = history;
    const json_t *name = json_array_get(json, 0);
    if (!json_is_string(name) || !json_is_integer(json_array_get(json, 1))) return false;
    Layer  *layer = holo_name_map_find(&m->names, (HoloString){json_string_value(name), json_string_length(name)});
    int64_t use = json_integer_value(json_array_get(json, 1)), tensor = json_integer_value(json_array_get(json, 2));
    // TensorFlow.js counts the making of a model as its first use.
    if (layer && m->k->is_js && use >= layer->use_count && holo_keras_is_model(layer->class_name))
        use = layer->use_count - 1;
    if (!layer || use < 0 || use >= layer->use_count || tensor < 0 || tensor >= HOLO_KERAS_OUT_MAX) return false;
    *out = (Ref){layer->first + (int)use, (int)tensor};
    return true;
}

// All references in the arguments of a call, in order.
static HoloStatus collect(Model *m, const json_t *json, Use *use, int depth)
{
    Ref ref;
    if (read_ref(m, json, &ref)) {
        if (!HOLO_GROW(m->k->import->arena, use->in, use->in_count, use->in_room))
            return holo_fail_memory(m->k->import->error);
        use->in[use->in_count++] = ref;
        if (json_is_object(json_array_get(json, 3))) use->extra = json_array_get(json, 3);
        return HOLO_OK;
    }
    if (depth > 8) return bad(m, "lists are nested too deeply");
    if (json_is_number(json)) // an operator of Keras 3, such as x * 2
        return holo_fail(
            m->k->import->error, HOLO_UNSUPPORTED,
            "layer '%.100s' is called with a number, which is not supported: use a layer such as Rescaling",
            m->layer[use->layer].name);
    if (json_is_array(json))
        for (size_t i = 0; i < json_array_size(json); i++)
            HOLO_TRY(collect(m, json_array_get(json, i), use, depth + 1));
    return HOLO_OK;
}

// References among the arguments that have names: those that layers take as further inputs.
static HoloStatus collect_named(Model *m, Use *use)
{
    static const char *const known[] = {"value", "key", "initial_state"}, *const refused[] = {"attention_mask", "mask"};
    Ref ref;
    for (int i = 0; i < HOLO_COUNT(known); i++)
        if (use->extra) HOLO_TRY(collect(m, json_object_get(use->extra, known[i]), use, 0));
    for (int i = 0; i < HOLO_COUNT(refused); i++)
        if (use->extra && read_ref(m, json_object_get(use->extra, refused[i]), &ref))
            return holo_fail(m->k->import->error, HOLO_UNSUPPORTED,
                             "layer '%.100s': the argument '%s' is not supported", m->layer[use->layer].name,
                             refused[i]);
    return HOLO_OK;
}

static HoloStatus read_uses(Model *m)
{
    int64_t total = 0;
    for (int i = 0; i < m->layer_count; i++) {
        Layer *layer     = &m->layer[i];
        layer->first     = (int)total;
        layer->use_count = (int)json_array_size(json_object_get(layer->json, "inbound_nodes"));
        if (!layer->use_count) layer->use_count = 1;
        total += layer->use_count;
        if (total > 1000000) return bad(m, "layers are used too often");
    }
    m->use       = HOLO_NEW(m->k->import->arena, Use, total + 1);
    m->use_count = (int)total;
    if (!m->use) return holo_fail_memory(m->k->import->error);
    for (int i = 0; i < m->layer_count; i++) {
        Layer        *layer = &m->layer[i];
        const json_t *nodes = json_object_get(layer->json, "inbound_nodes");
        for (int k = 0; k < layer->use_count; k++) {
            Use          *use  = &m->use[layer->first + k];
            const json_t *node = json_array_get(nodes, (size_t)k), *args = json_object_get(node, "args");
            use->layer = i;
            if (json_is_object(json_object_get(node, "kwargs"))) use->extra = json_object_get(node, "kwargs");
            if (node) HOLO_TRY(collect(m, args ? args : node, use, 0));
            HOLO_TRY(collect_named(m, use));
        }
    }
    return HOLO_OK;
}

// ---- computing

static void emit_use(Model *m, Use *use)
{
    HoloEmit     *e     = &m->k->emit;
    const Layer  *layer = &m->layer[use->layer];
    HoloKerasCall c     = {.k        = m->k,
                           .e        = e,
                           .place    = layer->place,
                           .config   = layer->config,
                           .extra    = use->extra,
                           .in_count = use->in_count};
    const char   *saved = e->node;
    c.in                = HOLO_NEW(m->k->import->arena, HoloValue *, use->in_count + 1);
    if (!c.in) {
        e->status = holo_fail_memory(m->k->import->error);
        return;
    }
    for (int i = 0; i < use->in_count; i++) {
        const Use *from = &m->use[use->in[i].use];
        c.in[i]         = use->in[i].tensor < from->out_count ? from->out[use->in[i].tensor] : NULL;
        if (!c.mask) c.mask = from->mask;
    }
    e->node =
        m->place->outer ? holo_arena_format(m->k->import->arena, "%s/%s", m->place->name, layer->name) : layer->name;
    if (holo_keras_is_model(layer->class_name))
        holo_keras_apply_model(&c, layer->json);
    else
        holo_keras_apply(&c, layer->class_name);
    memcpy(use->out, c.out, sizeof use->out);
    use->out_count = c.out_count;
    use->mask      = c.out_mask;
    use->state     = 2;
    e->node        = saved;
}

// Computes a use after all that it needs.
static HoloStatus compute(Model *m, int first)
{
    int *stack = NULL, *next = HOLO_NEW(m->k->import->arena, int, m->use_count + 1), count = 0, room = 0;
    if (!next || !HOLO_GROW(m->k->import->arena, stack, count, room)) return holo_fail_memory(m->k->import->error);
    if (m->use[first].state == 2) return HOLO_OK;
    stack[count++] = first;
    while (count && !m->k->emit.status) {
        Use *use   = &m->use[stack[count - 1]];
        int  need  = -1;
        use->state = 1;
        while (next[stack[count - 1]] < use->in_count && need < 0) {
            int at = use->in[next[stack[count - 1]]++].use;
            if (m->use[at].state == 1) return bad(m, "layers depend on each other in a circle");
            if (m->use[at].state == 0) need = at;
        }
        if (need < 0) {
            emit_use(m, use);
            count--;
            continue;
        }
        if (!HOLO_GROW(m->k->import->arena, stack, count, room)) return holo_fail_memory(m->k->import->error);
        stack[count++] = need;
    }
    return m->k->emit.status;
}

// The inputs or outputs of a model: one reference, or a list of them.
static HoloStatus read_ports(Model *m, const json_t *json, Use *out)
{
    *out = (Use){0};
    HOLO_TRY(collect(m, json, out, 0));
    return out->in_count ? HOLO_OK : bad(m, "it has no inputs or no outputs");
}

// ---- the model's own inputs

static HoloDtype dtype_named(const char *name)
{
    if (!strcmp(name, "string")) return HOLO_STRING;
    if (!strcmp(name, "bool")) return HOLO_BOOL;
    if (!strcmp(name, "int64")) return HOLO_I64;
    if (!strncmp(name, "int", 3)) return HOLO_I32;
    if (!strcmp(name, "uint8")) return HOLO_U8;
    return HOLO_F32;
}

static HoloValue *add_input(Model *m, const Layer *layer, const char *name, const json_t *shape)
{
    HoloEmit     *e = &m->k->emit;
    HoloKerasCall c = {.config = layer ? layer->config : NULL};
    HoloTensor    t = {.dtype = (uint8_t)dtype_named(holo_keras_text(&c, "dtype", "float32")),
                       .rank  = (int8_t)json_array_size(shape)};
    if (json_is_array(json_array_get(shape, 0))) shape = json_array_get(shape, 0);
    if (!json_is_array(shape) || json_array_size(shape) > HOLO_MAX_RANK)
        return holo_emit_fail(e, HOLO_UNSUPPORTED,
                              "input '%.100s' has no shape: save a model that was built, or called once", name);
    t.rank = (int8_t)json_array_size(shape);
    for (int i = 0; i < t.rank; i++) {
        const json_t *size   = json_array_get(shape, (size_t)i);
        const char   *symbol = i ? holo_arena_format(m->k->import->arena, "%s_dim_%d", name, i) : "batch";
        t.dim[i]             = json_is_integer(size) && json_integer_value(size) >= 0
                                   ? json_integer_value(size)
                                   : holo_dims_symbol(e->graph->dims, symbol ? symbol : "batch");
    }
    return holo_emit_input(e, name, &t);
}

static const json_t *input_shape(const json_t *config)
{
    const json_t *shape = json_object_get(config, "batch_input_shape");
    if (!shape) shape = json_object_get(config, "batch_shape");
    return shape ? shape : json_object_get(config, "batchInputShape");
}

// Outputs of the whole model get names: those of their layers, and numbers if a layer has several.
static HoloStatus name_outputs(Model *m, const Use *ports)
{
    for (int i = 0; i < ports->in_count; i++) {
        const Use  *use  = &m->use[ports->in[i].use];
        const char *name = m->layer[use->layer].name;
        int         same = 0;
        for (int k = 0; k < i; k++) same += m->use[ports->in[k].use].layer == use->layer;
        if (same) name = holo_arena_format(m->k->import->arena, "%s_%d", name, same);
        if (ports->in[i].tensor >= use->out_count || !name) return bad(m, "an output does not exist");
        holo_emit_output(&m->k->emit, use->out[ports->in[i].tensor], name);
    }
    return m->k->emit.status;
}

// ---- Functional

static HoloStatus run_functional(Model *m, const json_t *config, HoloKerasCall *call)
{
    Use in, out;
    HOLO_TRY(read_layers(m, json_object_get(config, "layers")));
    HOLO_TRY(read_uses(m));
    HOLO_TRY(read_ports(m, json_object_get(config, "input_layers"), &in));
    HOLO_TRY(read_ports(m, json_object_get(config, "output_layers"), &out));
    for (int i = 0; i < in.in_count; i++) {
        Use         *use   = &m->use[in.in[i].use];
        const Layer *layer = &m->layer[use->layer];
        use->state         = 2;
        use->out[0]    = call ? holo_keras_in(call, i) : add_input(m, layer, layer->name, input_shape(layer->config));
        use->out_count = 1;
        use->mask      = call && !i ? call->mask : NULL;
    }
    for (int i = 0; i < out.in_count && !m->k->emit.status; i++) HOLO_TRY(compute(m, out.in[i].use));
    if (m->k->emit.status) return m->k->emit.status;
    if (!call) return name_outputs(m, &out);
    for (int i = 0; i < out.in_count && i < HOLO_KERAS_OUT_MAX; i++) {
        const Use *use  = &m->use[out.in[i].use];
        call->out[i]    = out.in[i].tensor < use->out_count ? use->out[out.in[i].tensor] : NULL;
        call->out_count = i + 1;
        if (!i) call->out_mask = use->mask;
    }
    return HOLO_OK;
}

// ---- Sequential

static const json_t *layers_of(const json_t *config)
{
    return json_is_array(config) ? config : json_object_get(config, "layers");
}

static HoloValue *first_input(Model *m, const json_t *config)
{
    const Layer  *layer = &m->layer[0];
    const json_t *shape = input_shape(layer->config), *inner = layers_of(layer->config);
    const char   *name = layer->name, *kind = layer->class_name;
    for (int depth = 0; inner && depth < HOLO_KERAS_DEPTH_MAX; depth++) { // the first layer of a model that is one
        const json_t *first = json_array_get(inner, 0), *its = json_object_get(first, "config");
        if (!shape) shape = input_shape(its);
        inner = layers_of(its);
        if (!m->k->is_js || !json_is_string(json_object_get(its, "name"))) continue;
        name = json_string_value(json_object_get(its, "name")); // TensorFlow.js goes by it
        kind = json_string_value(json_object_get(first, "class_name"));
    }
    if (!kind || strcmp(kind, "InputLayer")) name = holo_arena_format(m->k->import->arena, "%s_input", name);
    if (!shape) shape = json_object_get(config, "build_input_shape");
    return add_input(m, shape == input_shape(layer->config) ? layer : NULL, name ? name : "input", shape);
}

static HoloStatus run_sequential(Model *m, const json_t *config, HoloKerasCall *call)
{
    HOLO_TRY(read_layers(m, layers_of(config)));
    if (!m->layer_count) return bad(m, "it has no layers");
    m->use = HOLO_NEW(m->k->import->arena, Use, m->layer_count + 1);
    if (!m->use) return holo_fail_memory(m->k->import->error);
    HoloValue *x = call ? holo_keras_in(call, 0) : first_input(m, config);
    for (int i = 0; i < m->layer_count && !m->k->emit.status; i++) {
        Use *use   = &m->use[i + 1];
        Ref  ref   = {i, 0};
        use->layer = i;
        if (!i) {
            m->use[0].out[0]    = x;
            m->use[0].out_count = 1;
            m->use[0].mask      = call ? call->mask : NULL;
        }
        if (!strcmp(m->layer[i].class_name, "InputLayer")) {
            use->mask      = m->use[i].mask;
            use->out[0]    = m->use[i].out[0];
            use->out_count = 1;
            continue;
        }
        use->in       = &ref;
        use->in_count = 1;
        emit_use(m, use);
        use->in_count = 0;
    }
    Use *last = &m->use[m->layer_count];
    if (m->k->emit.status) return m->k->emit.status;
    if (!last->out_count) return bad(m, "it has no output");
    if (call) {
        call->out[0]    = last->out[0];
        call->out_count = 1;
        call->out_mask  = last->mask;
    } else {
        holo_emit_output(&m->k->emit, last->out[0], m->layer[m->layer_count - 1].name);
    }
    return m->k->emit.status;
}

static HoloStatus run_model(HoloKeras *k, const json_t *json, const HoloKerasPlace *place, HoloKerasCall *call)
{
    Model         m          = {.k = k, .place = place};
    const json_t *config     = json_object_get(json, "config");
    const char   *class_name = json_string_value(json_object_get(json, "class_name"));
    int           depth      = 0;
    for (const HoloKerasPlace *p = place; p; p = p->outer) depth++;
    if (depth > HOLO_KERAS_DEPTH_MAX) return bad(&m, "models are nested too deeply");
    if (class_name && !strcmp(class_name, "Sequential")) return run_sequential(&m, config, call);
    if (json_object_get(config, "layers") && json_object_get(config, "output_layers"))
        return run_functional(&m, config, call);
    return holo_fail(k->import->error, HOLO_UNSUPPORTED,
                     "model '%.100s' is a class of its own ('%.100s'), whose code is not in the file: save it as a "
                     "SavedModel (model.export), or build it from layers (Sequential, Functional)",
                     place->name ? place->name : "", class_name ? class_name : "?");
}

void holo_keras_apply_model(HoloKerasCall *c, const json_t *model)
{
    HoloStatus status = c->e->status ? c->e->status : run_model(c->k, model, c->place, c);
    if (status && !c->e->status) c->e->status = status;
}

// ---- all that is missing, at once

// Each layer that is not supported becomes a node of a domain of its own: inspect and the compiler list all of them. The
// value of the first is returned; NULL: there is none.
static HoloValue *emit_missing(HoloEmit *e, const json_t *json, int depth)
{
    const json_t *config = json_object_get(json, "config"),
                 *list   = json_is_array(config) ? config : json_object_get(config, "layers");
    HoloValue *first     = NULL, *value;
    for (size_t i = 0; i < json_array_size(list) && depth < HOLO_KERAS_DEPTH_MAX; i++) {
        const json_t *layer = json_array_get(list, i), *own = json_object_get(layer, "config");
        const char   *name = json_string_value(json_object_get(layer, "class_name")),
                   *colon  = name ? strrchr(name, '>') : NULL;
        char op[160];
        if (!name) continue;
        if (holo_keras_is_model(name)) {
            value = emit_missing(e, layer, depth + 1);
        } else {
            if (holo_keras_layer(colon ? colon + 1 : name) || !strcmp(name, "InputLayer")) continue;
            snprintf(op, sizeof op, "keras::%.120s", name);
            e->node = json_string_value(json_object_get(own, "name"));
            value   = holo_emit(e, op, (HoloEmitIn){0, NULL}, NULL);
            e->node = NULL;
        }
        if (!first) first = value;
    }
    return first;
}

HoloStatus holo_keras_build(HoloKeras *k, const json_t *model)
{
    const json_t  *config = json_object_get(model, "config"), *name = json_object_get(config, "name");
    HoloKerasPlace place = {.name = json_is_string(name) ? json_string_value(name) : NULL};
    holo_emit_begin(&k->emit, k->import, place.name ? place.name : "keras");
    HoloValue *missing = emit_missing(&k->emit, model, 0);
    HoloStatus status  = k->emit.status;
    if (!status && missing) holo_emit_output(&k->emit, missing, "output");
    if (!status && !missing) status = run_model(k, model, &place, NULL);
    k->import->out->graph = k->emit.graph;
    holo_emit_end(&k->emit);
    return status ? status : k->emit.status;
}
