// onnx_write.c - writes a graph as an ONNX model. See onnx_write.h.
//
// Bodies of Loop, Scan and If are closed graphs here; in ONNX they use the names of the graph around them. So every value
// gets a name that no other one has, and a captured input the name of what it captures. Sizes that are expressions
// become nodes that compute them from the shapes of inputs.
#include "import/onnx/onnx_write.h"

#include "graph/facts.h"
#include "import/onnx/onnx_proto.h"
#include "import/onnx/onnx_write_parts.h"

#include <stdio.h>
#include <string.h>

enum { IR_VERSION = 10, MODEL_GRAPH = 7, GRAPH_INITIALIZER = 5, DEPTH_MAX = 64, SMALL = 1024 };

// ---- versions of operators

static HoloStatus note_version(HoloOnnxPen *w, const HoloNode *node)
{
    int i = 0;
    while (i < w->domain_count && strcmp(w->domain[i].name, node->domain)) i++;
    if (i == w->domain_count) {
        if (i == HOLO_COUNT(w->domain)) return holo_fail(w->error, HOLO_UNSUPPORTED, "the model uses too many domains");
        w->domain[w->domain_count++] = (HoloOnnxDomain){node->domain, node->version};
    }
    if (node->version > w->domain[i].version) w->domain[i].version = node->version;
    return HOLO_OK;
}

// Version 21 is 20 with more types: 4 bits, whole numbers of 16 bits as steps, steps of blocks. Without these 20 is written,
// which more programs can read; ONNX Runtime 1.30 also fails to move steps of i8 in graphs of 21.
static bool needs_21(const HoloNode *node)
{
    if (HOLO_IS(node, GroupNormalization)) return true; // it had another meaning
    if (holo_op_find("", node->type, 20) != holo_op_find("", node->type, node->version)) return true;
    for (int i = 0; i < node->in_count + node->out_count; i++) {
        const HoloValue *value = i < node->in_count ? node->in[i] : node->out[i - node->in_count];
        if (!value) continue;
        HoloDtype dtype   = (HoloDtype)value->type.dtype;
        bool      is_wide = dtype == HOLO_I16 || dtype == HOLO_U16;
        if (dtype && dtype != HOLO_STRING && holo_dtype_bits(dtype) < 8 && dtype != HOLO_BOOL) return true;
        if (is_wide && (HOLO_IS(node, QuantizeLinear) || HOLO_IS(node, DequantizeLinear))) return true;
    }
    return holo_node_attr(node, "block_size") || holo_node_attr(node, "output_dtype");
}

static HoloStatus note_missing(HoloOnnxPen *w, const HoloNode *node)
{
    char name[160];
    snprintf(name, sizeof name, "%.60s%s%.80s", node->domain, *node->domain ? "::" : "", node->type);
    if (strstr(w->missing, name)) return HOLO_OK;
    if (strlen(w->missing) + strlen(name) + 3 < sizeof w->missing) {
        strcat(w->missing, *w->missing ? ", " : "");
        strcat(w->missing, name);
    }
    return HOLO_OK;
}

static HoloStatus survey(HoloOnnxPen *w, const HoloGraph *graph, int depth)
{
    if (depth > DEPTH_MAX) return holo_fail(w->error, HOLO_UNSUPPORTED, "subgraphs are nested too deeply");
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        if (!strcmp(node->domain, "hologram")) HOLO_TRY(note_missing(w, node));
        HOLO_TRY(note_version(w, node));
        w->needs_21 |= !*node->domain && needs_21(node);
        for (int k = 0; k < node->attr_count; k++) {
            const HoloAttr *a = &node->attr[k];
            if (a->kind == HOLO_ATTR_GRAPH) HOLO_TRY(survey(w, a->graph, depth + 1));
            for (int g = 0; a->kind == HOLO_ATTR_GRAPHS && g < a->count; g++)
                HOLO_TRY(survey(w, a->graphs[g], depth + 1));
        }
    }
    return HOLO_OK;
}

// A node that was made for an older version must mean the same in the one that is written.
static HoloStatus check_versions(HoloOnnxPen *w, const HoloGraph *graph)
{
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        for (int k = 0; k < w->domain_count; k++)
            if (!strcmp(w->domain[k].name, node->domain) && w->domain[k].version != node->version &&
                holo_op_find(node->domain, node->type, node->version) !=
                    holo_op_find(node->domain, node->type, w->domain[k].version))
                return holo_fail(
                    w->error, HOLO_UNSUPPORTED,
                    "node '%.200s': %s of version %d has another meaning in version %d, which other nodes need",
                    node->name ? node->name : "", node->type, node->version, w->domain[k].version);
    }
    return HOLO_OK;
}

// ---- graphs

static HoloStatus write_nodes(HoloOnnxPen *w, HoloOnnxScopeOut *s, int depth);

static HoloStatus write_body(HoloOnnxPen *w, const HoloOnnxScopeOut *outer, const HoloNode *node, const HoloGraph *body,
                             int field, int depth)
{
    HoloOnnxScopeOut s = {.graph = body, .outer = outer};
    if (depth > DEPTH_MAX) return holo_fail(w->error, HOLO_UNSUPPORTED, "subgraphs are nested too deeply");
    HOLO_TRY(holo_onnx_name_values(w, &s, node));
    size_t mark = holo_pb_open(&w->out, field);
    holo_pb_put_text(&w->out, 2, body->name && *body->name ? body->name : "body");
    HOLO_TRY(write_nodes(w, &s, depth + 1));
    for (int i = 0; i < body->value_count; i++) {
        const HoloValue *value = body->values[i];
        if (!value->is_constant) continue;
        size_t tensor = holo_pb_open(&w->out, GRAPH_INITIALIZER);
        HOLO_TRY(holo_onnx_put_tensor(w, &value->type, s.name[i]));
        holo_pb_close(&w->out, tensor);
    }
    int own = body->input_count - node->capture_count;
    for (int i = 0; i < own; i++) holo_onnx_put_info(w, 11, s.name[body->inputs[i]->id], &body->inputs[i]->type, false);
    for (int i = 0; i < body->output_count; i++) holo_onnx_put_info(w, 12, s.output[i], &body->outputs[i]->type, false);
    holo_pb_close(&w->out, mark);
    return w->out.failed ? holo_fail_memory(w->error) : HOLO_OK;
}

static HoloStatus write_attr(HoloOnnxPen *w, const HoloOnnxScopeOut *s, const HoloNode *node, const HoloAttr *a,
                             int depth)
{
    size_t mark = holo_pb_open(&w->out, 5);
    holo_pb_put_text(&w->out, 1, a->name);
    if (a->kind == HOLO_ATTR_GRAPH) {
        HOLO_TRY(write_body(w, s, node, a->graph, 6, depth));
        holo_pb_put_int(&w->out, 20, HOLO_ONNX_GRAPH);
    } else if (a->kind == HOLO_ATTR_GRAPHS) {
        for (int i = 0; i < a->count; i++) HOLO_TRY(write_body(w, s, node, a->graphs[i], 11, depth));
        holo_pb_put_int(&w->out, 20, HOLO_ONNX_GRAPHS);
    } else {
        HOLO_TRY(holo_onnx_put_attr(w, a));
    }
    holo_pb_close(&w->out, mark);
    return HOLO_OK;
}

static HoloStatus write_node(HoloOnnxPen *w, const HoloOnnxScopeOut *s, const HoloNode *node, int depth)
{
    size_t mark = holo_pb_open(&w->out, 1);
    int    last = node->in_count - node->capture_count, outs = node->out_count;
    int    least = HOLO_IS(node, Loop) ? 2 : 0; // ONNX wants both, if only as empty names
    while (last > least && !node->in[last - 1]) last--;
    while (outs > 0 && !node->out[outs - 1]) outs--;
    for (int i = 0; i < last; i++) holo_pb_put_text(&w->out, 1, node->in[i] ? s->name[node->in[i]->id] : "");
    for (int i = 0; i < outs; i++) holo_pb_put_text(&w->out, 2, node->out[i] ? s->name[node->out[i]->id] : "");
    if (node->name) {
        const char *name = holo_onnx_node_name(w, node->name);
        if (!name) return holo_fail_memory(w->error);
        holo_pb_put_text(&w->out, 3, name);
    }
    holo_pb_put_text(&w->out, 4, node->type);
    for (int i = 0; i < node->attr_count; i++) HOLO_TRY(write_attr(w, s, node, &node->attr[i], depth));
    if (*node->domain) holo_pb_put_text(&w->out, 7, node->domain);
    holo_pb_close(&w->out, mark);
    return w->out.failed ? holo_fail_memory(w->error) : HOLO_OK;
}

// Outputs that are inputs or constants get a copy: ONNX wants outputs to be made by nodes.
static HoloStatus write_outputs(HoloOnnxPen *w, HoloOnnxScopeOut *s)
{
    s->output = HOLO_NEW(w->arena, const char *, s->graph->output_count + 1);
    if (!s->output) return holo_fail_memory(w->error);
    for (int i = 0; i < s->graph->output_count; i++) {
        const HoloValue *value = s->graph->outputs[i];
        bool             again = !value->producer;
        for (int k = 0; k < i; k++) again |= s->graph->outputs[k] == value;
        s->output[i] = s->name[value->id];
        if (!again) continue;
        s->output[i] = holo_onnx_new_name(w, s->name[value->id]);
        if (!s->output[i]) return holo_fail_memory(w->error);
        holo_onnx_put_node(w, "Identity", &s->name[value->id], 1, s->output[i]);
    }
    return HOLO_OK;
}

static HoloStatus write_nodes(HoloOnnxPen *w, HoloOnnxScopeOut *s, int depth)
{
    for (int i = 0; i < s->graph->value_count; i++) {
        const HoloValue *value = s->graph->values[i];
        if (value->producer || value->is_constant || value->is_input || !value->contents) continue;
        HOLO_TRY(holo_onnx_put_contents(w, s, value));
    }
    for (int i = 0; i < s->graph->node_count; i++) HOLO_TRY(write_node(w, s, s->graph->nodes[i], depth));
    return write_outputs(w, s);
}

// ---- the model

static HoloStatus check_inputs(HoloOnnxPen *w, const HoloGraph *graph)
{
    for (int i = 0; i < graph->input_count; i++)
        if (graph->inputs[i]->is_state || graph->inputs[i]->fill)
            return holo_fail(
                w->error, HOLO_UNSUPPORTED,
                "input '%.200s' is filled if it is left out, or a cache that grows: ONNX has no such inputs",
                graph->inputs[i]->name);
    return HOLO_OK;
}

// Data of constants of the main graph: in the model, or in the file beside it.
static uint64_t data_size(const HoloGraph *graph)
{
    uint64_t total = 0;
    for (int i = 0; i < graph->value_count; i++)
        if (graph->values[i]->is_constant) total += holo_tensor_bytes(&graph->values[i]->type);
    return total;
}

static bool is_large(const HoloValue *value)
{
    HoloDtype dtype = (HoloDtype)value->type.dtype;
    return value->is_constant && dtype != HOLO_STRING && holo_dtype_bits(dtype) >= 8 &&
           holo_tensor_bytes(&value->type) > SMALL;
}

// A constant: all but its data, if it is large. Then its data follows in the file.
static HoloStatus write_heads(HoloOnnxPen *w, const HoloOnnxScopeOut *s, const HoloOnnxOut *out, bool is_outside,
                              HoloPbOut *heads, size_t *ends)
{
    HoloFileWriter *file   = NULL;
    const char     *name   = NULL;
    uint64_t        offset = 0;
    HoloStatus      status = HOLO_OK;
    if (is_outside && (!out->data_file || !(file = out->data_file(out->context, &name, &status))))
        return status ? status
                      : holo_fail(w->error, HOLO_UNSUPPORTED,
                                  "the model is too large for one ONNX file, and no other can be written");
    for (int i = 0; i < s->graph->value_count; i++) {
        const HoloValue *value = s->graph->values[i];
        if (!value->is_constant) {
            ends[i] = heads->size;
            continue;
        }
        HoloPbOut saved = w->out;
        w->out          = (HoloPbOut){.arena = w->arena};
        size_t bytes = holo_tensor_bytes(&value->type), more = is_large(value) && !is_outside ? bytes : 0;
        if (!is_large(value)) {
            status = holo_onnx_put_tensor(w, &value->type, s->name[i]);
        } else {
            holo_onnx_put_tensor_head(w, &value->type, s->name[i]);
            if (is_outside) {
                holo_onnx_put_outside(w, name, offset, bytes);
                status = holo_file_write(file, value->type.data, bytes, w->error);
                offset += bytes;
            } else {
                holo_pb_put_head(&w->out, 9, bytes);
            }
        }
        HoloPbOut made = w->out;
        w->out         = saved;
        if (status || made.failed) return status ? status : holo_fail_memory(w->error);
        holo_pb_put_head(heads, GRAPH_INITIALIZER, made.size + more);
        holo_pb_put_raw(heads, made.data, made.size);
        ends[i] = heads->size;
    }
    return heads->failed ? holo_fail_memory(w->error) : HOLO_OK;
}

static HoloStatus write_file(HoloOnnxPen *w, const HoloGraph *graph, const HoloOnnxOut *out, HoloPbOut *head,
                             const HoloPbOut *heads, const size_t *ends, bool is_outside)
{
    size_t at = 0, data = 0;
    for (int i = 0; i < graph->value_count; i++)
        if (!is_outside && is_large(graph->values[i])) data += holo_tensor_bytes(&graph->values[i]->type);
    holo_pb_put_head(head, MODEL_GRAPH, w->out.size + heads->size + data);
    if (head->failed || w->out.failed) return holo_fail_memory(w->error);
    HOLO_TRY(holo_file_write(out->file, head->data, head->size, w->error));
    HOLO_TRY(holo_file_write(out->file, w->out.data, w->out.size, w->error));
    for (int i = 0; i < graph->value_count; i++) {
        const HoloValue *value = graph->values[i];
        if (ends[i] > at) HOLO_TRY(holo_file_write(out->file, heads->data + at, ends[i] - at, w->error));
        at = ends[i];
        if (!is_outside && is_large(value))
            HOLO_TRY(holo_file_write(out->file, value->type.data, holo_tensor_bytes(&value->type), w->error));
    }
    return HOLO_OK;
}

static void put_header(HoloOnnxPen *w, HoloPbOut *head)
{
    holo_pb_put_int(head, 1, IR_VERSION);
    holo_pb_put_text(head, 2, "hologram");
    holo_pb_put_text(head, 3, holo_version());
    for (int i = 0; i < w->domain_count; i++) {
        size_t mark = holo_pb_open(head, 8);
        holo_pb_put_text(head, 1, w->domain[i].name);
        holo_pb_put_int(head, 2, w->domain[i].version);
        holo_pb_close(head, mark);
    }
}

HoloStatus holo_onnx_write(const HoloGraph *graph, HoloArena *scratch, const HoloOnnxOut *out, HoloError *error)
{
    HoloOnnxPen      w    = {.arena = scratch, .error = error, .out = {.arena = scratch}, .dims = graph->dims};
    HoloOnnxScopeOut s    = {.graph = graph};
    HoloPbOut        head = {.arena = scratch}, heads = {.arena = scratch};
    size_t           most       = out->model_max ? out->model_max : ((size_t)1 << 31) - ((size_t)64 << 20);
    size_t          *ends       = HOLO_NEW(scratch, size_t, graph->value_count + 1);
    bool             is_outside = data_size(graph) > most;
    if (!ends) return holo_fail_memory(error);
    HOLO_TRY(check_inputs(&w, graph));
    HOLO_TRY(survey(&w, graph, 0));
    if (*w.missing)
        return holo_fail(error, HOLO_UNSUPPORTED, "ONNX has no operators for these, which the model needs: %s",
                         w.missing);
    if (!w.domain_count) w.domain[w.domain_count++] = (HoloOnnxDomain){"", 20};
    HOLO_TRY(check_versions(&w, graph));
    for (int i = 0; i < w.domain_count; i++)
        if (!*w.domain[i].name && w.domain[i].version == 21 && !w.needs_21) w.domain[i].version = 20;
    HOLO_TRY(holo_onnx_name_values(&w, &s, NULL));
    put_header(&w, &head);
    holo_pb_put_text(&w.out, 2, graph->name && *graph->name ? graph->name : "model");
    HOLO_TRY(write_nodes(&w, &s, 0));
    for (int i = 0; i < graph->input_count; i++)
        holo_onnx_put_info(&w, 11, s.name[graph->inputs[i]->id], &graph->inputs[i]->type, true);
    for (int i = 0; i < graph->output_count; i++)
        holo_onnx_put_info(&w, 12, s.output[i], &graph->outputs[i]->type, true);
    HOLO_TRY(write_heads(&w, &s, out, is_outside, &heads, ends));
    return write_file(&w, graph, out, &head, &heads, ends, is_outside);
}
