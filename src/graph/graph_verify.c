// graph_verify.c - checks every invariant of graph.h. A failure is a mistake of an importer or a pass.
#include "graph/graph.h"

#include <string.h>

enum { DEPTH_MAX = 64 };

static HoloStatus broken(const HoloGraph *graph, HoloError *error, const char *what, const char *name)
{
    return holo_fail(error, HOLO_INTERNAL, "graph %s is not well formed: %s: %s", graph->name, name ? name : "?", what);
}

static bool is_of(const HoloGraph *graph, const HoloValue *value)
{
    return value->id >= 0 && value->id < graph->value_count && graph->values[value->id] == value;
}

static HoloStatus check_type(const HoloGraph *graph, const HoloValue *value, HoloError *error)
{
    const HoloTensor *t = &value->type;
    if (t->dtype >= HOLO_DTYPE_COUNT || t->kind > HOLO_MAP) return broken(graph, error, "no such type", value->name);
    if (t->rank < -1 || t->rank > HOLO_MAX_RANK) return broken(graph, error, "rank out of range", value->name);
    for (int i = 0; i < t->rank; i++) {
        HoloDim d        = t->dim[i];
        bool    is_entry = holo_dim_is_symbolic(d);
        if (is_entry && d != HOLO_DIM_UNKNOWN && (uint32_t)d >= (uint32_t)holo_dims_count(graph->dims))
            return broken(graph, error, "a size that is no expression", value->name);
        if (!is_entry && d < 0) return broken(graph, error, "a negative size", value->name);
        if (is_entry && value->is_constant) return broken(graph, error, "a constant of unknown size", value->name);
    }
    return HOLO_OK;
}

static HoloStatus check_contents(const HoloGraph *graph, const HoloValue *value, HoloError *error)
{
    int64_t count = holo_tensor_count(&value->type);
    if (!value->contents || count < 0) return broken(graph, error, "neither producer nor contents", value->name);
    for (int64_t i = 0; i < count; i++)
        if (value->contents[i] == HOLO_DIM_UNKNOWN)
            return broken(graph, error, "contents that are not known", value->name);
    return HOLO_OK;
}

static HoloStatus check_value(const HoloGraph *graph, const HoloValue *value, int id, HoloError *error)
{
    if (!value || !value->name) return broken(graph, error, "a value without a name", NULL);
    if (value->id != id) return broken(graph, error, "its id is not its place", value->name);
    if (holo_graph_find(graph, value->name) != value)
        return broken(graph, error, "its name is another value's", value->name);
    if (value->is_constant + value->is_input + (value->producer != NULL) > 1)
        return broken(graph, error, "more than one of constant, input and produced", value->name);
    HOLO_TRY(check_type(graph, value, error));
    if (value->is_constant && !value->type.data && holo_tensor_count(&value->type) != 0)
        return broken(graph, error, "a constant without data", value->name);
    if (!value->is_constant && value->type.data) return broken(graph, error, "data, but no constant", value->name);
    if (value->is_constant || value->is_input || value->producer) return HOLO_OK;
    return check_contents(graph, value, error);
}

static HoloStatus verify(const HoloGraph *graph, int depth, HoloError *error);

static HoloStatus check_subgraphs(const HoloGraph *graph, const HoloNode *node, int depth, HoloError *error)
{
    for (int i = 0; i < node->attr_count; i++) {
        const HoloAttr *attr    = &node->attr[i];
        bool            is_list = attr->kind == HOLO_ATTR_GRAPHS;
        if (!attr->name) return broken(graph, error, "an attribute without a name", node->name);
        if (attr->kind != HOLO_ATTR_GRAPH && !is_list) continue;
        for (int k = 0; k < (is_list ? attr->count : 1); k++) {
            const HoloGraph *body = is_list ? attr->graphs[k] : attr->graph;
            if (!body || body->dims != graph->dims)
                return broken(graph, error, "a subgraph with symbols of its own", node->name);
            if (body->input_count < node->capture_count)
                return broken(graph, error, "a subgraph without the captured inputs", node->name);
            HOLO_TRY(verify(body, depth + 1, error));
        }
    }
    return HOLO_OK;
}

// `is_defined`, by value id: the value exists when the node runs.
static HoloStatus check_node(const HoloGraph *graph, const HoloNode *node, bool *is_defined, int depth,
                             HoloError *error)
{
    if (!node->name || !node->type || !node->domain)
        return broken(graph, error, "a node without name, type or domain", NULL);
    if (node->capture_count < 0 || node->capture_count > node->in_count)
        return broken(graph, error, "captures more than it has inputs", node->name);
    if (node->op && strcmp(node->op->name, node->type))
        return broken(graph, error, "another operator's row", node->name);
    if (node->op_id != holo_op_id(node->domain, node->type))
        return broken(graph, error, "another operator's id", node->name);
    for (int i = 0; i < node->in_count; i++) {
        const HoloValue *value = node->in[i];
        if (!value) continue;
        if (!is_of(graph, value)) return broken(graph, error, "an input from another graph", node->name);
        if (!is_defined[value->id]) return broken(graph, error, "runs before its input is there", node->name);
    }
    for (int i = 0; i < node->out_count; i++) {
        const HoloValue *value = node->out[i];
        if (!value) continue;
        if (!is_of(graph, value)) return broken(graph, error, "an output of another graph", node->name);
        if (value->producer != node) return broken(graph, error, "its output names another producer", node->name);
        if (is_defined[value->id]) return broken(graph, error, "produced twice", value->name);
        is_defined[value->id] = true;
    }
    return check_subgraphs(graph, node, depth, error);
}

static HoloStatus check_all(const HoloGraph *graph, bool *is_defined, int depth, HoloError *error)
{
    for (int i = 0; i < graph->value_count; i++) {
        HOLO_TRY(check_value(graph, graph->values[i], i, error));
        is_defined[i] = !graph->values[i]->producer;
    }
    for (int i = 0; i < graph->input_count; i++)
        if (!is_of(graph, graph->inputs[i]) || !graph->inputs[i]->is_input)
            return broken(graph, error, "listed as an input, but is none", graph->inputs[i]->name);
    for (int i = 0; i < graph->node_count; i++) HOLO_TRY(check_node(graph, graph->nodes[i], is_defined, depth, error));
    for (int i = 0; i < graph->output_count; i++)
        if (!is_of(graph, graph->outputs[i]) || !is_defined[graph->outputs[i]->id])
            return broken(graph, error, "an output that nothing gives", graph->outputs[i]->name);
    for (int i = 0; i < graph->value_count; i++)
        if (!is_defined[i]) return broken(graph, error, "its producer is not in the graph", graph->values[i]->name);
    return HOLO_OK;
}

static HoloStatus verify(const HoloGraph *graph, int depth, HoloError *error)
{
    if (depth > DEPTH_MAX)
        return holo_fail(error, HOLO_UNSUPPORTED, "subgraphs are nested more than %d deep", DEPTH_MAX);
    HoloArena  scratch    = {0};
    bool      *is_defined = HOLO_NEW(&scratch, bool, graph->value_count);
    HoloStatus status     = is_defined ? check_all(graph, is_defined, depth, error) : holo_fail_memory(error);
    holo_arena_deinit(&scratch);
    return status;
}

HoloStatus holo_graph_verify(const HoloGraph *graph, HoloError *error)
{
    return verify(graph, 0, error);
}
