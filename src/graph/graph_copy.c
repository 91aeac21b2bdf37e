// graph_copy.c - copies graphs and parts of them, so that passes can change the copy and not the original.
//
// A copy shares names, attributes and the data of constants.
#include "graph/graph.h"

#include <string.h>

// Subgraphs are copied, too, because each copy has types of its own.
static bool attrs_copy(HoloNode *node, HoloArena *arena)
{
    for (int i = 0; i < node->attr_count; i++) {
        HoloAttr *attr = &node->attr[i];
        if (attr->kind == HOLO_ATTR_GRAPH && !(attr->graph = holo_graph_copy(attr->graph, arena))) return false;
        if (attr->kind != HOLO_ATTR_GRAPHS) continue;
        void **graphs = HOLO_NEW(arena, void *, attr->count);
        if (!graphs) return false;
        for (int g = 0; g < attr->count; g++)
            if (!(graphs[g] = holo_graph_copy(attr->graphs[g], arena))) return false;
        attr->graphs = graphs;
    }
    return true;
}

bool holo_graph_copy_node(const HoloNode *from, HoloGraph *graph, HoloValue **map)
{
    HoloNode *to = holo_graph_node_like(graph, from->name, from);
    if (!to) return false;
    for (int k = 0; k < from->in_count; k++) to->in[k] = from->in[k] ? map[from->in[k]->id] : NULL;
    for (int k = 0; k < from->out_count; k++) {
        if (!from->out[k]) continue;
        HoloValue *value = holo_graph_value(graph, from->out[k]->name);
        if (!value) return false;
        value->type           = from->out[k]->type;
        map[from->out[k]->id] = value;
        holo_node_set_out(to, k, value);
    }
    return attrs_copy(to, graph->arena);
}

HoloValue *holo_graph_copy_value(const HoloValue *from, HoloGraph *graph)
{
    HoloValue *value =
        from->is_input ? holo_graph_input(graph, from->name, &from->type) : holo_graph_value(graph, from->name);
    if (!value) return NULL;
    value->type        = from->type;
    value->contents    = from->contents;
    value->is_constant = from->is_constant;
    value->fill        = from->fill;
    value->is_index    = from->is_index;
    value->is_state    = from->is_state;
    value->least       = from->least;
    return value;
}

HoloGraph *holo_graph_copy(const HoloGraph *from, HoloArena *arena)
{
    HoloGraph  *graph = holo_graph_create(arena, from->dims, from->name);
    HoloValue **map   = HOLO_NEW(arena, HoloValue *, from->value_count + 1);
    if (!graph || !map) return NULL;
    for (int i = 0; i < from->input_count; i++)
        if (!(map[from->inputs[i]->id] = holo_graph_copy_value(from->inputs[i], graph))) return NULL;
    for (int i = 0; i < from->value_count; i++) {
        const HoloValue *value = from->values[i];
        if (!value->producer && !value->is_input && !(map[i] = holo_graph_copy_value(value, graph))) return NULL;
    }
    for (int i = 0; i < from->node_count; i++)
        if (!holo_graph_copy_node(from->nodes[i], graph, map)) return NULL;
    for (int i = 0; i < from->output_count; i++)
        if (!holo_graph_output(graph, map[from->outputs[i]->id])) return NULL;
    return graph;
}
