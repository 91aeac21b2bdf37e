// emit_nodes.c - graphs, constants, nodes and bodies, as importers make them.
#include "import/emit_own.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- graphs

static void begin(HoloEmit *e, HoloImport *import, HoloDims *dims, const char *name)
{
    e->import = import;
    e->graph  = dims ? holo_graph_create(import->arena, dims, name) : NULL;
    if (!e->graph) e->status = holo_fail_memory(import->error);
    e->infer = (HoloInfer){.graph = e->graph, .scratch = &e->scratch, .error = import->error};
}

void holo_emit_begin(HoloEmit *e, HoloImport *import, const char *name)
{
    *e = (HoloEmit){0};
    begin(e, import, holo_dims_create(import->arena), name);
}

void holo_emit_begin_body(HoloEmit *e, HoloEmit *outer, const char *name)
{
    *e = (HoloEmit){.outer = outer, .node = outer->node, .status = outer->status};
    if (outer->status) return;
    begin(e, outer->import, outer->graph->dims, name);
    e->infer.depth = outer->infer.depth + 1;
}

void holo_emit_end(HoloEmit *e)
{
    holo_arena_deinit(&e->scratch);
}

void *holo_emit_fail(HoloEmit *e, HoloStatus status, const char *format, ...)
{
    char    text[512];
    va_list args;
    if (e->status) return NULL;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    e->status = e->node ? holo_fail(e->import->error, status, "node '%.200s': %s", e->node, text)
                        : holo_fail(e->import->error, status, "%s", text);
    return NULL;
}

static void *no_memory(HoloEmit *e)
{
    if (!e->status) e->status = holo_fail_memory(e->import->error);
    return NULL;
}

// Infers what was added.
static void look(HoloEmit *e)
{
    if (!e->status) e->status = holo_infer_added(&e->infer);
}

// ---- inputs, outputs, constants

HoloValue *holo_emit_input(HoloEmit *e, const char *name, const HoloTensor *type)
{
    if (e->status) return NULL;
    HoloValue *value = holo_graph_input(e->graph, name, type);
    if (!value) return no_memory(e);
    for (int i = 0; i < value->type.rank; i++)
        if (value->type.dim[i] == HOLO_DIM_UNKNOWN) value->type.dim[i] = holo_dims_fresh(e->graph->dims, "d");
    look(e);
    return value;
}

// Gives a value a name that another may have.
static void take_name(HoloEmit *e, HoloValue *value, const char *name)
{
    HoloValue *holder = holo_graph_find(e->graph, name);
    if (holder && holder != value) holo_graph_swap_names(e->graph, holder, value);
}

static HoloValue *here(HoloEmit *e, HoloValue *value);

void holo_emit_output(HoloEmit *e, HoloValue *value, const char *name)
{
    bool is_output = false;
    value          = here(e, value);
    if (e->status) return;
    if (!value) {
        holo_emit_fail(e, HOLO_BAD_MODEL, "an output of the graph has no value");
        return;
    }
    for (int i = 0; i < e->graph->output_count; i++) is_output |= e->graph->outputs[i] == value;
    bool is_named = name && strcmp(value->name, name);
    if (is_named && value->producer && !is_output && holo_graph_find(e->graph, name)) {
        take_name(e, value, name);
    } else if (is_named || is_output || !value->producer) {
        HoloNode  *node = holo_graph_op(e->graph, name, HOLO_ID_Identity, HOLO_EMIT_OPSET, 1, 1, 0);
        HoloValue *copy = holo_graph_value(e->graph, name);
        if (!node || !copy) return (void)no_memory(e);
        node->in[0] = value;
        holo_node_set_out(node, 0, copy);
        if (name) take_name(e, copy, name);
        value = copy;
    }
    look(e);
    if (!e->status && !holo_graph_output(e->graph, value)) no_memory(e);
}

HoloValue *holo_emit_constant(HoloEmit *e, const char *name, const HoloTensor *tensor)
{
    if (e->status) return NULL;
    HoloValue *value = holo_graph_constant(e->graph, name ? name : e->node, tensor);
    if (!value) return no_memory(e);
    look(e);
    return value;
}

HoloValue *holo_emit_ints(HoloEmit *e, const int64_t *numbers, int count)
{
    if (count < 0) return holo_emit_fail(e, HOLO_BAD_MODEL, "a tensor has too few dimensions");
    HoloTensor t    = {.dtype = HOLO_I64, .rank = 1, .dim = {count}};
    int64_t   *data = e->status ? NULL : HOLO_NEW(e->import->arena, int64_t, count + 1);
    if (!data) return no_memory(e);
    if (count) memcpy(data, numbers, (size_t)count * sizeof *data);
    t.data = data;
    return holo_emit_constant(e, NULL, &t);
}

HoloValue *holo_emit_int(HoloEmit *e, int64_t number)
{
    HoloTensor t    = {.dtype = HOLO_I64};
    int64_t   *data = e->status ? NULL : HOLO_NEW(e->import->arena, int64_t, 1);
    if (!data) return no_memory(e);
    *data  = number;
    t.data = data;
    return holo_emit_constant(e, NULL, &t);
}

HoloValue *holo_emit_number(HoloEmit *e, HoloDtype dtype, double number)
{
    HoloTensor t = {.dtype = (uint8_t)dtype};
    t.data       = e->status ? NULL : holo_arena_take(e->import->arena, 16);
    if (!t.data) return no_memory(e);
    if (holo_dtype_class(dtype) == HOLO_CLASS_FLOAT)
        holo_put_f(&t, 0, number);
    else
        holo_put_i(&t, 0, (int64_t)number);
    return holo_emit_constant(e, NULL, &t);
}

HoloValue *holo_emit_contents(HoloEmit *e, const HoloDim *sizes, int count)
{
    bool all_numbers = true;
    for (int i = 0; i < count; i++) all_numbers &= !holo_dim_is_symbolic(sizes[i]);
    if (all_numbers || e->status) return holo_emit_ints(e, sizes, count);
    HoloValue *value    = holo_graph_value(e->graph, e->node);
    HoloDim   *contents = HOLO_NEW(e->import->arena, HoloDim, count);
    if (!value || !contents) return no_memory(e);
    memcpy(contents, sizes, (size_t)count * sizeof *contents);
    value->type     = (HoloTensor){.dtype = HOLO_I64, .rank = 1, .dim = {count}};
    value->contents = contents;
    look(e);
    return value;
}

// ---- values of outer graphs

static bool is_of(const HoloGraph *graph, const HoloValue *value)
{
    return value->id >= 0 && value->id < graph->value_count && graph->values[value->id] == value;
}

// The value as this graph knows it: a constant of an outer graph is one here, too; any other is captured.
static HoloValue *here(HoloEmit *e, HoloValue *value)
{
    if (e->status || !value || is_of(e->graph, value)) return value;
    for (int i = 0; i < e->capture_count; i++)
        if (e->capture[i].outer == value) return e->capture[i].inner;
    if (!e->outer) return holo_emit_fail(e, HOLO_INTERNAL, "value '%.200s' is of another graph", value->name);
    HoloValue *outer = here(e->outer, value); // as the graph around this one knows it
    if (e->outer->status) return e->status = e->outer->status, NULL;
    HoloValue *inner;
    if (outer->is_constant) {
        inner = holo_graph_constant(e->graph, outer->name, &outer->type);
    } else {
        inner = holo_graph_input(e->graph, outer->name, &outer->type);
        if (inner) inner->contents = outer->contents;
    }
    if (!inner || !HOLO_GROW(e->import->arena, e->capture, e->capture_count, e->capture_room)) return no_memory(e);
    e->capture[e->capture_count++] = (HoloEmitCapture){value, inner};
    look(e);
    return inner;
}

// ---- attributes

HoloAttr holo_with_int(const char *name, int64_t i)
{
    return (HoloAttr){.name = name, .kind = HOLO_ATTR_INT, .count = 1, .i = i};
}

HoloAttr holo_with_float(const char *name, double f)
{
    return (HoloAttr){.name = name, .kind = HOLO_ATTR_FLOAT, .count = 1, .f = f};
}

HoloAttr holo_with_text(const char *name, const char *text)
{
    return (HoloAttr){.name = name, .kind = HOLO_ATTR_STRING, .count = 1, .s = {text, strlen(text)}};
}

HoloAttr holo_with_ints(const char *name, const int64_t *ints, int count)
{
    return (HoloAttr){.name = name, .kind = HOLO_ATTR_INTS, .count = count, .ints = ints};
}

HoloAttr holo_with_floats(const char *name, const float *floats, int count)
{
    return (HoloAttr){.name = name, .kind = HOLO_ATTR_FLOATS, .count = count, .floats = floats};
}

HoloAttr holo_with_texts(const char *name, const HoloString *texts, int count)
{
    return (HoloAttr){.name = name, .kind = HOLO_ATTR_STRINGS, .count = count, .strings = texts};
}

HoloAttr holo_with_tensor(const char *name, const HoloTensor *tensor)
{
    return (HoloAttr){.name = name, .kind = HOLO_ATTR_TENSOR, .count = 1, .tensor = tensor};
}

static void *copy_of(HoloEmit *e, const void *from, size_t size)
{
    void *copy = holo_arena_take(e->import->arena, size + 1);
    if (!copy) return no_memory(e);
    if (size) memcpy(copy, from, size);
    return copy;
}

static HoloAttr attr_copy(HoloEmit *e, HoloAttr a)
{
    size_t count = (size_t)a.count;
    a.name       = copy_of(e, a.name, strlen(a.name));
    switch (a.kind) {
    case HOLO_ATTR_STRING: a.s.data = copy_of(e, a.s.data, a.s.size); break;
    case HOLO_ATTR_TENSOR: a.tensor = copy_of(e, a.tensor, sizeof *a.tensor); break;
    case HOLO_ATTR_INTS: a.ints = copy_of(e, a.ints, count * sizeof *a.ints); break;
    case HOLO_ATTR_STRINGS: a.strings = copy_of(e, a.strings, count * sizeof *a.strings); break;
    case HOLO_ATTR_FLOATS: a.floats = copy_of(e, a.floats, count * sizeof *a.floats); break;
    default: break;
    }
    return a;
}

// ---- nodes

static int attr_count(const HoloAttr *attrs)
{
    int count = 0;
    while (attrs && attrs[count].name) count++;
    return count;
}

// A node with room for `more` inputs and attributes behind those that are given.
static HoloNode *add_node(HoloEmit *e, const char *op, HoloEmitIn in, const HoloAttr *attrs, int more_in,
                          int more_attrs, int out_count)
{
    const char *colons = strstr(op, "::"), *name = colons ? colons + 2 : op, *at = strchr(name, '@');
    int         count = attr_count(attrs), version = at ? atoi(at + 1) : colons ? 1 : HOLO_EMIT_OPSET;
    char       *type   = holo_arena_text(e->import->arena, name, at ? (size_t)(at - name) : strlen(name));
    char       *domain = holo_arena_text(e->import->arena, op, colons ? (size_t)(colons - op) : 0);
    HoloNode   *node   = !type || !domain ? NULL
                                          : holo_graph_node(e->graph, e->node, domain, type, version, in.count + more_in,
                                                            out_count, count + more_attrs);
    if (!node) return no_memory(e);
    for (int i = 0; i < in.count; i++) node->in[i] = in.value[i];
    for (int i = 0; i < count; i++) node->attr[i] = attr_copy(e, attrs[i]);
    return node;
}

static void add_outputs(HoloEmit *e, HoloNode *node, HoloValue **out)
{
    for (int i = 0; i < node->out_count; i++) {
        HoloValue *value = holo_graph_value(e->graph, e->node);
        if (!value) return (void)no_memory(e);
        holo_node_set_out(node, i, value);
        out[i] = value;
    }
    look(e);
}

static HoloEmitIn here_all(HoloEmit *e, HoloEmitIn in)
{
    HoloValue **value = e->status ? NULL : HOLO_NEW(e->import->arena, HoloValue *, in.count + 1);
    if (!value) return no_memory(e), (HoloEmitIn){0};
    for (int i = 0; i < in.count; i++) value[i] = here(e, in.value[i]);
    return (HoloEmitIn){in.count, value};
}

void holo_emit_many(HoloEmit *e, const char *op, HoloEmitIn in, const HoloAttr *attrs, HoloValue **out, int out_count)
{
    for (int i = 0; i < out_count; i++) out[i] = NULL;
    in = here_all(e, in);
    if (e->status) return;
    HoloNode *node = add_node(e, op, in, attrs, 0, 0, out_count);
    if (node && !e->status) add_outputs(e, node, out);
}

HoloValue *holo_emit(HoloEmit *e, const char *op, HoloEmitIn in, const HoloAttr *attrs)
{
    HoloValue *out;
    holo_emit_many(e, op, in, attrs, &out, 1);
    return out;
}

// ---- nodes with bodies

// What all bodies capture, each value once.
static HoloValue **join_captures(HoloEmit *e, const HoloEmitBody *bodies, int *out_count)
{
    HoloValue **list  = NULL;
    int         count = 0, room = 0;
    for (const HoloEmitBody *b = bodies; b->body; b++)
        for (int i = 0; i < b->body->capture_count; i++) {
            HoloValue *outer = b->body->capture[i].inner->is_input ? here(e, b->body->capture[i].outer) : NULL;
            bool       known = !outer;
            for (int k = 0; k < count; k++) known |= list[k] == outer;
            if (known) continue;
            if (!HOLO_GROW(e->import->arena, list, count, room)) return no_memory(e);
            list[count++] = outer;
        }
    *out_count = count;
    return list;
}

static HoloValue *captured(HoloEmit *e, HoloEmit *body, HoloValue *outer)
{
    for (int i = 0; i < body->capture_count; i++)
        if (body->capture[i].inner->is_input && here(e, body->capture[i].outer) == outer) return body->capture[i].inner;
    return NULL;
}

static bool is_captured(const HoloEmit *body, const HoloValue *input)
{
    for (int i = 0; i < body->capture_count; i++)
        if (body->capture[i].inner == input) return true;
    return false;
}

// Orders the inputs of a body: its own, then what the node captures, in the node's order.
static void close_body(HoloEmit *e, HoloEmit *body, HoloValue *const *captures, int count)
{
    HoloGraph  *graph = body->graph;
    HoloValue **last  = HOLO_NEW(e->import->arena, HoloValue *, count + 1);
    int         own   = 0;
    if (!last) return (void)no_memory(e);
    for (int i = 0; i < count; i++) {
        last[i] = captured(e, body, captures[i]);
        if (!last[i]) last[i] = holo_graph_input(graph, captures[i]->name, &captures[i]->type);
        if (!last[i]) return (void)no_memory(e);
    }
    for (int i = 0; i < graph->input_count; i++) {
        bool is_last = is_captured(body, graph->inputs[i]);
        for (int k = 0; k < count; k++) is_last |= last[k] == graph->inputs[i];
        if (!is_last) graph->inputs[own++] = graph->inputs[i];
    }
    for (int i = 0; i < count; i++) graph->inputs[own + i] = last[i];
}

void holo_emit_control(HoloEmit *e, const char *op, HoloEmitIn in, const HoloAttr *attrs, const HoloEmitBody *bodies,
                       HoloValue **out, int out_count)
{
    int body_count = 0, capture_count = 0, given = attr_count(attrs);
    for (int i = 0; i < out_count; i++) out[i] = NULL;
    for (; bodies[body_count].body; body_count++)
        if (!e->status) e->status = bodies[body_count].body->status;
    in                   = here_all(e, in);
    HoloValue **captures = e->status ? NULL : join_captures(e, bodies, &capture_count);
    for (int i = 0; i < body_count && !e->status; i++) close_body(e, bodies[i].body, captures, capture_count);
    HoloNode *node = e->status ? NULL : add_node(e, op, in, attrs, capture_count, body_count, out_count);
    if (!node || e->status) return;
    for (int i = 0; i < capture_count; i++) node->in[in.count + i] = captures[i];
    for (int i = 0; i < body_count; i++)
        node->attr[given + i] =
            (HoloAttr){.name = bodies[i].attr, .kind = HOLO_ATTR_GRAPH, .count = 1, .graph = bodies[i].body->graph};
    node->capture_count = capture_count;
    add_outputs(e, node, out);
}
