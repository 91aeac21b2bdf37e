// rewrite.c - replaces values in one walk over a graph, inlines graphs, and removes dead nodes.
#include "passes/rewrite.h"

#include <math.h>
#include <string.h>

// ---- replacing

HoloStatus holo_rewrite_begin(HoloRewrite *rewrite, HoloGraph *graph, HoloArena *scratch, HoloChanges *changes,
                              HoloError *error)
{
    *rewrite = (HoloRewrite){
        .graph     = graph,
        .scratch   = scratch,
        .to        = HOLO_NEW(scratch, HoloValue *, graph->value_count),
        .is_output = HOLO_NEW(scratch, bool, graph->value_count),
        .room      = graph->value_count,
        .all       = changes,
    };
    if (!rewrite->to || !rewrite->is_output) return holo_fail_memory(error);
    for (int i = 0; i < graph->output_count; i++) rewrite->is_output[graph->outputs[i]->id] = true;
    return HOLO_OK;
}

bool holo_rewrite_more(const HoloRewrite *rewrite)
{
    return rewrite->all->count + rewrite->changes < rewrite->all->limit;
}

// Makes room for values that were added during the walk.
static bool rewrite_grow(HoloRewrite *rewrite)
{
    int need = rewrite->graph->value_count, old = rewrite->room;
    if (need <= old) return true;
    int         room      = need + need / 2;
    HoloValue **to        = HOLO_NEW(rewrite->scratch, HoloValue *, room);
    bool       *is_output = HOLO_NEW(rewrite->scratch, bool, room);
    if (!to || !is_output) return false;
    if (old) memcpy(to, rewrite->to, (size_t)old * sizeof *to);
    if (old) memcpy(is_output, rewrite->is_output, (size_t)old * sizeof *is_output);
    rewrite->to        = to;
    rewrite->is_output = is_output;
    rewrite->room      = room;
    return true;
}

HoloValue *holo_rewrite_find(const HoloRewrite *rewrite, HoloValue *value)
{
    while (value && value->id < rewrite->room && rewrite->to[value->id]) value = rewrite->to[value->id];
    return value;
}

bool holo_rewrite(HoloRewrite *rewrite, HoloValue *from, HoloValue *to)
{
    to = holo_rewrite_find(rewrite, to);
    if (from == to || !rewrite_grow(rewrite)) return false;
    bool is_unknown = from->type.rank < 0 && (from->type.dtype == to->type.dtype || from->type.dtype == HOLO_NONE);
    if (!is_unknown && !holo_type_equal(&from->type, &to->type)) return false;
    if (rewrite->is_output[from->id]) {
        if (to->is_input || rewrite->is_output[to->id]) return false;
        holo_graph_swap_names(rewrite->graph, from, to);
        rewrite->is_output[to->id] = true;
    }
    rewrite->to[from->id] = to;
    rewrite->changes++;
    return true;
}

HoloValue *holo_rewrite_new(HoloRewrite *rewrite, HoloValue *from)
{
    HoloValue *to = holo_graph_value(rewrite->graph, from->name);
    if (!to || !rewrite_grow(rewrite)) return NULL;
    holo_graph_swap_names(rewrite->graph, from, to);
    to->type                   = from->type;
    to->contents               = from->contents;
    rewrite->is_output[to->id] = rewrite->is_output[from->id];
    rewrite->to[from->id]      = to;
    rewrite->changes++;
    return to;
}

void holo_rewrite_inputs(HoloRewrite *rewrite, HoloNode *node)
{
    for (int i = 0; i < node->in_count; i++) node->in[i] = holo_rewrite_find(rewrite, node->in[i]);
}

HoloStatus holo_rewrite_end(HoloRewrite *rewrite, HoloError *error)
{
    rewrite->all->count += rewrite->changes;
    if (!rewrite->changes) return HOLO_OK;
    holo_graph_replace_all(rewrite->graph, rewrite->to, rewrite->room);
    HOLO_TRY(holo_graph_sort(rewrite->graph, error));
    return holo_graph_drop_dead(rewrite->graph, rewrite->scratch) < 0 ? holo_fail_memory(error) : HOLO_OK;
}

// ---- inlining

// Maps the values of the body to values of the graph, by id. Inputs are mapped already.
static HoloStatus inline_values(HoloRewrite *rewrite, const HoloNode *node, const HoloGraph *body, HoloValue **map,
                                HoloError *error)
{
    for (int i = 0; i < body->value_count; i++) {
        const HoloValue *value = body->values[i];
        if (value->is_input) continue;
        char *name = holo_arena_format(rewrite->scratch, "%s/%s", node->name, value->name);
        map[i]     = name ? holo_graph_value(rewrite->graph, name) : NULL;
        if (!map[i]) return holo_fail_memory(error);
        map[i]->type        = value->type;
        map[i]->contents    = value->contents;
        map[i]->is_constant = value->is_constant;
    }
    return HOLO_OK;
}

static HoloStatus inline_nodes(HoloRewrite *rewrite, const HoloNode *node, const HoloGraph *body, HoloValue *const *map,
                               HoloError *error)
{
    for (int i = 0; i < body->node_count; i++) {
        const HoloNode *from = body->nodes[i];
        char           *name = holo_arena_format(rewrite->scratch, "%s/%s", node->name, from->name);
        HoloNode       *to   = name ? holo_graph_node_like(rewrite->graph, name, from) : NULL;
        if (!to) return holo_fail_memory(error);
        for (int k = 0; k < from->in_count; k++) to->in[k] = from->in[k] ? map[from->in[k]->id] : NULL;
        for (int k = 0; k < from->out_count; k++) holo_node_set_out(to, k, from->out[k] ? map[from->out[k]->id] : NULL);
    }
    return HOLO_OK;
}

// Gives `value`, which has lost its producer, an Identity of `from` as its producer.
static HoloStatus add_identity(HoloRewrite *rewrite, HoloValue *value, HoloValue *from, HoloError *error)
{
    HoloNode *node = holo_graph_op(rewrite->graph, value->name, HOLO_ID_Identity, 14, 1, 1, 0);
    if (!node) return holo_fail_memory(error);
    node->in[0] = from;
    holo_node_set_out(node, 0, value);
    return HOLO_OK;
}

HoloStatus holo_rewrite_inline(HoloRewrite *rewrite, HoloNode *node, const HoloGraph *body, HoloValue *const *in,
                               HoloError *error)
{
    HoloValue **map = HOLO_NEW(rewrite->scratch, HoloValue *, body->value_count);
    if (!map) return holo_fail_memory(error);
    for (int i = 0; i < body->input_count; i++) map[body->inputs[i]->id] = in[i];
    HOLO_TRY(inline_values(rewrite, node, body, map, error));
    HOLO_TRY(inline_nodes(rewrite, node, body, map, error));
    rewrite->changes++;
    for (int i = 0; i < node->out_count && i < body->output_count; i++) {
        HoloValue *value = node->out[i], *result = map[body->outputs[i]->id];
        if (!value) continue;
        if (!result)
            return holo_fail(error, HOLO_BAD_MODEL, "node %s (%s): an output is an input that is left out", node->name,
                             node->type);
        node->out[i]    = NULL;
        value->producer = NULL;
        if (result->type.rank < 0 && result->producer) result->type = value->type; // the body's types are not inferred
        if (!holo_rewrite(rewrite, value, result)) HOLO_TRY(add_identity(rewrite, value, result, error));
    }
    return HOLO_OK;
}

HoloStatus holo_rewrite_body(HoloRewrite *rewrite, HoloNode *node, const HoloNode *call, HoloError *error)
{
    HoloGraph *body;
    HOLO_TRY(holo_node_body(rewrite->graph->arena, rewrite->graph->dims, call, &body, error));
    HoloValue **in = HOLO_NEW(rewrite->scratch, HoloValue *, body->input_count);
    if (!in) return holo_fail_memory(error);
    for (int k = 0; k < body->input_count && k < node->in_count; k++) in[k] = node->in[k];
    return holo_rewrite_inline(rewrite, node, body, in, error);
}

// ---- dead nodes

// Such a node is needed, whether or not anybody reads what it gives.
static bool changes_state(const HoloNode *node)
{
    return node->op && node->op->flags & HOLO_OP_UPDATES && node->in_count && node->in[0] && node->in[0]->is_state;
}

int holo_graph_drop_dead(HoloGraph *graph, HoloArena *scratch)
{
    int  *uses = holo_graph_uses(graph, scratch), dropped = 0;
    bool *dead = HOLO_NEW(scratch, bool, graph->node_count);
    if (!uses || !dead) return -1;
    for (int i = graph->node_count - 1; i >= 0; i--) {
        HoloNode *node = graph->nodes[i];
        dead[i]        = !changes_state(node);
        for (int k = 0; k < node->out_count; k++)
            if (node->out[k] && uses[node->out[k]->id]) dead[i] = false;
        for (int k = 0; k < node->in_count && dead[i]; k++)
            if (node->in[k]) uses[node->in[k]->id]--;
        dropped += dead[i];
        for (int k = node->op ? node->op->out_min : node->out_count; k < node->out_count && !dead[i]; k++)
            if (node->out[k] && !uses[node->out[k]->id]) node->out[k] = NULL; // an optional output that nobody uses
    }
    holo_graph_sweep(graph, dead);
    return dropped;
}

// ---- clusters

bool holo_clusters_inside(const HoloClusters *clusters, HoloNode *const *member, int count, const HoloValue *value)
{
    int reads = 0;
    for (int m = 0; m < count; m++)
        for (int i = 0; i < member[m]->in_count; i++) reads += member[m]->in[i] == value;
    return !clusters->is_output[value->id] && reads == clusters->uses[value->id];
}

HoloStatus holo_clusters(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloClusterAt *at,
                         HoloError *error)
{
    HoloClusters c = {
        .graph     = graph,
        .scratch   = scratch,
        .changes   = changes,
        .uses      = holo_graph_uses(graph, scratch),
        .is_output = HOLO_NEW(scratch, bool, graph->value_count),
        .is_taken  = HOLO_NEW(scratch, bool, graph->node_count),
    };
    if (!c.uses || !c.is_output || !c.is_taken) return holo_fail_memory(error);
    holo_graph_number(graph);
    for (int i = 0; i < graph->output_count; i++) c.is_output[graph->outputs[i]->id] = true;
    int before = changes->count;
    for (int i = graph->node_count - 1; i >= 0 && changes->count < changes->limit; i--) {
        bool done;
        if (c.is_taken[i]) continue;
        HOLO_TRY(at(&c, graph->nodes[i], &done, error));
        changes->count += done;
    }
    return changes->count != before && holo_graph_drop_dead(graph, scratch) < 0 ? holo_fail_memory(error) : HOLO_OK;
}
