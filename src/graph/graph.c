// graph.c - building and changing graphs: values, nodes, names, replacement, order.
//
// It does not know what operators mean and does not check its arguments: graph_verify.c does.
#include "graph/graph.h"

#include "base/hash.h"

#include <stdio.h>
#include <string.h>

// ---- names: a hash map from a value's name to the value, open addressing

struct HoloNames {
    HoloValue **slot;
    size_t      room, used; // room: a power of two
};

static size_t name_hash(const char *name)
{
    return (size_t)holo_hash_name(name, strlen(name));
}

static size_t name_slot(const struct HoloNames *names, const char *name)
{
    size_t i = name_hash(name) & (names->room - 1);
    while (names->slot[i] && strcmp(names->slot[i]->name, name) != 0) i = (i + 1) & (names->room - 1);
    return i;
}

static bool names_grow(HoloGraph *graph)
{
    struct HoloNames *names = graph->names;
    struct HoloNames  old   = *names;
    names->room             = old.room ? old.room * 2 : 64;
    names->slot             = HOLO_NEW(graph->arena, HoloValue *, names->room);
    if (!names->slot) {
        *names = old;
        return false;
    }
    for (size_t i = 0; i < old.room; i++)
        if (old.slot[i]) names->slot[name_slot(names, old.slot[i]->name)] = old.slot[i];
    return true;
}

static bool names_add(HoloGraph *graph, HoloValue *value)
{
    struct HoloNames *names = graph->names;
    if ((names->used + 1) * 2 > names->room && !names_grow(graph)) return false;
    names->slot[name_slot(names, value->name)] = value;
    names->used++;
    return true;
}

HoloValue *holo_graph_find(const HoloGraph *graph, const char *name)
{
    const struct HoloNames *names = graph->names;
    return names->room ? names->slot[name_slot(names, name)] : NULL;
}

// The wanted name if it is free; else the name with the first free number from value_count on. So many values of one
// name need no quadratic search.
static const char *free_name(HoloGraph *graph, const char *name)
{
    if (name && *name && !holo_graph_find(graph, name)) return holo_arena_text(graph->arena, name, strlen(name));
    char   buffer[512];
    size_t size = 0;
    for (int i = graph->value_count; i == graph->value_count || holo_graph_find(graph, buffer); i++) {
        if (name && *name)
            snprintf(buffer, sizeof buffer, "%.480s_%d", name, i);
        else
            snprintf(buffer, sizeof buffer, "v%d", i);
        size = strlen(buffer);
    }
    return holo_arena_text(graph->arena, buffer, size);
}

// ---- building

HoloGraph *holo_graph_create(HoloArena *arena, HoloDims *dims, const char *name)
{
    HoloGraph *graph = HOLO_NEW(arena, HoloGraph, 1);
    if (!graph) return NULL;
    graph->arena = arena;
    graph->dims  = dims;
    graph->name  = holo_arena_text(arena, name ? name : "", strlen(name ? name : ""));
    graph->names = HOLO_NEW(arena, struct HoloNames, 1);
    return graph->name && graph->names ? graph : NULL;
}

HoloValue *holo_graph_value(HoloGraph *graph, const char *name)
{
    if (!HOLO_GROW(graph->arena, graph->values, graph->value_count, graph->value_room)) return NULL;
    HoloValue *value = HOLO_NEW(graph->arena, HoloValue, 1);
    if (!value) return NULL;
    value->name = free_name(graph, name);
    if (!value->name || !names_add(graph, value)) return NULL;
    value->type.rank                    = -1;
    value->id                           = graph->value_count;
    graph->values[graph->value_count++] = value;
    return value;
}

HoloValue *holo_graph_constant(HoloGraph *graph, const char *name, const HoloTensor *tensor)
{
    HoloValue *value = holo_graph_value(graph, name);
    if (!value) return NULL;
    value->type        = *tensor;
    value->is_constant = true;
    return value;
}

HoloValue *holo_graph_input(HoloGraph *graph, const char *name, const HoloTensor *type)
{
    if (!HOLO_GROW(graph->arena, graph->inputs, graph->input_count, graph->input_room)) return NULL;
    HoloValue *value = holo_graph_value(graph, name);
    if (!value) return NULL;
    value->type                         = *type;
    value->type.data                    = NULL;
    value->is_input                     = true;
    graph->inputs[graph->input_count++] = value;
    return value;
}

bool holo_graph_output(HoloGraph *graph, HoloValue *value)
{
    if (!HOLO_GROW(graph->arena, graph->outputs, graph->output_count, graph->output_room)) return false;
    graph->outputs[graph->output_count++] = value;
    return true;
}

HoloNode *holo_graph_node(HoloGraph *graph, const char *name, const char *domain, const char *type, int version,
                          int in_count, int out_count, int attr_count)
{
    HoloArena *arena = graph->arena;
    if (!HOLO_GROW(arena, graph->nodes, graph->node_count, graph->node_room)) return NULL;
    HoloNode *node = HOLO_NEW(arena, HoloNode, 1);
    if (!node) return NULL;
    *node = (HoloNode){
        .name       = name && *name ? holo_arena_text(arena, name, strlen(name))
                                    : holo_arena_format(arena, "%s_%d", type, graph->node_count),
        .type       = holo_arena_text(arena, type, strlen(type)),
        .domain     = holo_arena_text(arena, domain, strlen(domain)),
        .op_id      = holo_op_id(domain, type),
        .version    = version,
        .in_count   = in_count,
        .out_count  = out_count,
        .attr_count = attr_count,
        .in         = HOLO_NEW(arena, HoloValue *, in_count),
        .out        = HOLO_NEW(arena, HoloValue *, out_count),
        .attr       = HOLO_NEW(arena, HoloAttr, attr_count),
        .id         = graph->node_count,
    };
    if (!node->name || !node->type || !node->domain || !node->in || !node->out || !node->attr) return NULL;
    graph->nodes[graph->node_count++] = node;
    return node;
}

HoloNode *holo_graph_op(HoloGraph *graph, const char *name, HoloOpId id, int version, int in_count, int out_count,
                        int attr_count)
{
    HoloNode *node = holo_graph_node(graph, name, holo_op_id_domain(id), holo_op_id_name(id), version, in_count,
                                     out_count, attr_count);
    if (node) node->op = holo_op_of(id, version);
    return node;
}

HoloNode *holo_graph_node_like(HoloGraph *graph, const char *name, const HoloNode *like)
{
    HoloNode *node = holo_graph_node(graph, name, like->domain, like->type, like->version, like->in_count,
                                     like->out_count, like->attr_count);
    if (!node) return NULL;
    node->op            = like->op;
    node->capture_count = like->capture_count;
    if (like->attr_count) memcpy(node->attr, like->attr, (size_t)like->attr_count * sizeof *like->attr);
    return node;
}

void holo_node_become(HoloNode *node, HoloOpId id, int version)
{
    node->op_id   = id;
    node->domain  = holo_op_id_domain(id);
    node->type    = holo_op_id_name(id);
    node->version = version;
    node->op      = holo_op_of(id, version);
}

void holo_node_set_out(HoloNode *node, int i, HoloValue *value)
{
    node->out[i] = value;
    if (value) value->producer = node;
}

// ---- changing

// The end of the chain that begins at `value`. The chain is shortened on the way, so all calls together are nearly
// linear.
static HoloValue *stand_in(HoloValue *value, HoloValue **to, int count)
{
    HoloValue *end = value;
    while (end && end->id < count && to[end->id]) end = to[end->id];
    while (value && value != end) {
        HoloValue *next = to[value->id];
        to[value->id]   = end;
        value           = next;
    }
    return end;
}

void holo_graph_replace_all(HoloGraph *graph, HoloValue **to, int count)
{
    for (int i = 0; i < graph->node_count; i++) {
        HoloNode *node = graph->nodes[i];
        for (int k = 0; k < node->in_count; k++) node->in[k] = stand_in(node->in[k], to, count);
    }
    for (int i = 0; i < graph->output_count; i++) graph->outputs[i] = stand_in(graph->outputs[i], to, count);
}

void holo_graph_swap_names(HoloGraph *graph, HoloValue *a, HoloValue *b)
{
    HoloValue **slot_a = &graph->names->slot[name_slot(graph->names, a->name)];
    HoloValue **slot_b = &graph->names->slot[name_slot(graph->names, b->name)];
    const char *name   = a->name;
    a->name            = b->name;
    b->name            = name;
    *slot_a            = b;
    *slot_b            = a;
}

void holo_graph_states_last(HoloGraph *graph)
{
    int count = 0;
    for (int i = 0; i < graph->input_count; i++) {
        HoloValue *input = graph->inputs[i];
        if (input->is_state) continue;
        for (int k = i; k > count; k--) graph->inputs[k] = graph->inputs[k - 1];
        graph->inputs[count++] = input;
    }
}

bool holo_graph_has_states(const HoloGraph *graph)
{
    return graph->input_count && graph->inputs[graph->input_count - 1]->is_state;
}

int holo_graph_given_count(const HoloGraph *graph)
{
    int count = graph->input_count;
    while (count && graph->inputs[count - 1]->is_state) count--;
    return count;
}

void holo_graph_number(HoloGraph *graph)
{
    for (int i = 0; i < graph->node_count; i++) graph->nodes[i]->id = i;
}

static void mark_used(HoloGraph *graph)
{
    enum { DROPPED = -1, KEPT = 0 };
    for (int i = 0; i < graph->value_count; i++) graph->values[i]->id = DROPPED;
    for (int i = 0; i < graph->input_count; i++) graph->inputs[i]->id = KEPT;
    for (int i = 0; i < graph->output_count; i++) graph->outputs[i]->id = KEPT;
    for (int i = 0; i < graph->node_count; i++) {
        HoloNode *node = graph->nodes[i];
        for (int k = 0; k < node->in_count; k++)
            if (node->in[k]) node->in[k]->id = KEPT;
        for (int k = 0; k < node->out_count; k++)
            if (node->out[k]) node->out[k]->id = KEPT;
    }
}

void holo_graph_sweep(HoloGraph *graph, const bool *dead_nodes)
{
    int kept = 0;
    for (int i = 0; i < graph->node_count; i++)
        if (!dead_nodes || !dead_nodes[i]) graph->nodes[kept++] = graph->nodes[i];
    graph->node_count = kept;
    holo_graph_number(graph);
    mark_used(graph);
    struct HoloNames *names = graph->names;
    if (names->room) memset(names->slot, 0, names->room * sizeof *names->slot);
    kept = 0;
    for (int i = 0; i < graph->value_count; i++) {
        HoloValue *value = graph->values[i];
        if (value->id < 0) continue;
        value->id                                  = kept;
        graph->values[kept++]                      = value;
        names->slot[name_slot(names, value->name)] = value;
    }
    graph->value_count = kept;
    names->used        = (size_t)kept;
}

int *holo_graph_uses(const HoloGraph *graph, HoloArena *scratch)
{
    int *uses = HOLO_NEW(scratch, int, graph->value_count);
    if (!uses) return NULL;
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        for (int k = 0; k < node->in_count; k++)
            if (node->in[k]) uses[node->in[k]->id]++;
    }
    for (int i = 0; i < graph->output_count; i++) uses[graph->outputs[i]->id]++;
    return uses;
}

// ---- order

// Goes depth first along the producers, with a stack of its own. A graph that is sorted already keeps its order, and a
// node that was added at the end moves just before its first user.
typedef struct Sorter {
    HoloNode **stack, **sorted;
    int       *next_input; // by node id: the next input to visit; -1: not visited; in_count: done
    int        depth, sorted_count;
} Sorter;

static HoloStatus sort_from(Sorter *s, HoloNode *root, HoloError *error)
{
    s->stack[s->depth++]    = root;
    s->next_input[root->id] = 0;
    while (s->depth) {
        HoloNode *node = s->stack[s->depth - 1];
        int       k    = s->next_input[node->id];
        if (k == node->in_count) {
            s->next_input[node->id]++; // past the end: it is in the result
            s->sorted[s->sorted_count++] = node;
            s->depth--;
            continue;
        }
        s->next_input[node->id]++;
        HoloNode *producer = node->in[k] ? node->in[k]->producer : NULL;
        if (!producer || s->next_input[producer->id] > producer->in_count) continue;
        if (s->next_input[producer->id] >= 0)
            return holo_fail(error, HOLO_BAD_MODEL, "node %s (%s) needs its own result: the graph has a cycle",
                             producer->name, producer->type);
        s->stack[s->depth++]        = producer;
        s->next_input[producer->id] = 0;
    }
    return HOLO_OK;
}

HoloStatus holo_graph_sort(HoloGraph *graph, HoloError *error)
{
    HoloArena  scratch = {0};
    int        n       = graph->node_count;
    HoloStatus status  = HOLO_OK;
    Sorter     s       = {
                  .stack      = HOLO_NEW(&scratch, HoloNode *, n),
                  .sorted     = HOLO_NEW(&scratch, HoloNode *, n),
                  .next_input = HOLO_NEW(&scratch, int, n),
    };
    if (!s.stack || !s.sorted || !s.next_input) {
        holo_arena_deinit(&scratch);
        return holo_fail_memory(error);
    }
    holo_graph_number(graph);
    for (int i = 0; i < n; i++) s.next_input[i] = -1;
    for (int i = 0; i < n && !status; i++)
        if (s.next_input[i] < 0) status = sort_from(&s, graph->nodes[i], error);
    if (!status && n) memcpy(graph->nodes, s.sorted, (size_t)n * sizeof *s.sorted);
    holo_graph_number(graph);
    holo_arena_deinit(&scratch);
    return status;
}
