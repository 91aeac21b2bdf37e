// captures.c - what a subgraph captures. Constants move inside, where they can be folded and packed. Captures that no
// subgraph of the node uses are removed.
#include "passes/rewrite.h"

// The subgraphs of a node, one after another. `at` begins as 0. NULL: there are no more.
static HoloGraph *next_body(const HoloNode *node, int *at)
{
    for (; *at < node->attr_count; ++*at)
        if (node->attr[*at].kind == HOLO_ATTR_GRAPH) return node->attr[(*at)++].graph;
    return NULL;
}

// In the body, replaces captured inputs by the constants that they are outside.
static HoloStatus sink(const HoloNode *node, HoloGraph *body, HoloArena *scratch, HoloError *error)
{
    int         count = body->value_count, first = body->input_count - node->capture_count;
    HoloValue **to = HOLO_NEW(scratch, HoloValue *, count);
    if (!to) return holo_fail_memory(error);
    for (int c = 0; c < node->capture_count; c++) {
        const HoloValue *outer = node->in[node->in_count - node->capture_count + c];
        HoloValue       *input = body->inputs[first + c];
        if (!outer || !outer->is_constant) continue;
        HoloValue *constant = holo_graph_constant(body, input->name, &outer->type);
        if (!constant) return holo_fail_memory(error);
        holo_graph_swap_names(body, input, constant);
        constant->contents = outer->contents;
        to[input->id]      = constant;
    }
    holo_graph_replace_all(body, to, count);
    return HOLO_OK;
}

// Adds to is_used which captures the body uses.
static HoloStatus find_used(const HoloNode *node, const HoloGraph *body, bool *is_used, HoloArena *scratch,
                            HoloError *error)
{
    int *uses = holo_graph_uses(body, scratch);
    if (!uses) return holo_fail_memory(error);
    for (int c = 0; c < node->capture_count; c++)
        is_used[c] |= uses[body->inputs[body->input_count - node->capture_count + c]->id] > 0;
    return HOLO_OK;
}

// Of the last `count` values of a list, keeps those that is_used marks. Returns the new length of the list.
static int keep_used(HoloValue **list, int length, const bool *is_used, int count, bool are_inputs)
{
    int kept = length - count;
    for (int c = 0; c < count; c++) {
        HoloValue *value = list[length - count + c];
        if (is_used[c])
            list[kept++] = value;
        else if (are_inputs)
            value->is_input = false; // nothing uses it, so it is removed
    }
    return kept;
}

static HoloStatus captures_of(HoloNode *node, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    bool      *is_used = HOLO_NEW(scratch, bool, node->capture_count);
    HoloGraph *body;
    int        kept = 0;
    if (!is_used) return holo_fail_memory(error);
    for (int at = 0; (body = next_body(node, &at));) {
        HOLO_TRY(sink(node, body, scratch, error));
        HOLO_TRY(find_used(node, body, is_used, scratch, error));
    }
    for (int c = 0; c < node->capture_count; c++) kept += is_used[c];
    if (kept == node->capture_count) return HOLO_OK;
    for (int at = 0; (body = next_body(node, &at));) {
        body->input_count = keep_used(body->inputs, body->input_count, is_used, node->capture_count, true);
        holo_graph_sweep(body, NULL);
    }
    node->in_count = keep_used(node->in, node->in_count, is_used, node->capture_count, false);
    changes->count += node->capture_count - kept;
    node->capture_count = kept;
    return HOLO_OK;
}

HoloStatus holo_pass_captures(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    for (int i = 0; i < graph->node_count && changes->count < changes->limit; i++) {
        HoloNode *node = graph->nodes[i];
        if (node->capture_count && !holo_node_has_graphs(node)) HOLO_TRY(captures_of(node, scratch, changes, error));
    }
    return HOLO_OK;
}
