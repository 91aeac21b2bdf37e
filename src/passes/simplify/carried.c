// carried.c - a value that a Loop or a Scan carries from turn to turn without changing it becomes a captured value. It
// is then not copied in every turn. If it is a constant, such as the weights that loops of TensorFlow carry, it can be
// folded and packed.
#include "passes/rewrite.h"

#include <string.h>

// The state of a node with a body. State i is input in + i of the node, input inner + i of the body, output result + i
// of the body, and output i of the node.
typedef struct State {
    HoloGraph *body;
    int        count, in, inner, result;
} State;

static bool find_state(const HoloNode *node, State *out)
{
    const HoloAttr *body = holo_node_attr(node, "body"), *scanned = holo_node_attr(node, "num_scan_inputs");
    int             own = node->in_count - node->capture_count;
    if (!body || body->kind != HOLO_ATTR_GRAPH) return false;
    if (HOLO_IS(node, Loop))
        *out = (State){.body = body->graph, .count = own - 2, .in = 2, .inner = 2, .result = 1};
    else if (HOLO_IS(node, Scan) && node->version >= 9 && scanned && scanned->kind == HOLO_ATTR_INT &&
             scanned->i >= 0 && scanned->i <= own)
        *out = (State){.body = body->graph, .count = own - (int)scanned->i};
    else
        return false;
    return out->count > 0 && node->out_count >= out->count && out->body->output_count >= out->result + out->count &&
           out->body->input_count == own + node->capture_count;
}

// Moves the value at `at` to the end of a list.
static void move_last(HoloValue **list, int count, int at)
{
    HoloValue *value = list[at];
    memmove(&list[at], &list[at + 1], (size_t)(count - at - 1) * sizeof *list);
    list[count - 1] = value;
}

static void drop(HoloValue **list, int *count, int at)
{
    move_last(list, *count, at);
    --*count;
}

// Does the body give state i as it got it, and does nobody use the node's output for it?
static bool is_unchanged(HoloRewrite *rewrite, const int *uses, const HoloNode *node, const State *state, int i)
{
    HoloValue *outer = node->in[state->in + i], *given = node->out[i];
    return outer && state->body->outputs[state->result + i] == state->body->inputs[state->inner + i] &&
           (!given || !uses[given->id] || holo_rewrite(rewrite, given, outer));
}

static void capture(HoloNode *node, State *state, int i)
{
    move_last(node->in, node->in_count, state->in + i);
    move_last(state->body->inputs, state->body->input_count, state->inner + i);
    drop(node->out, &node->out_count, i);
    drop(state->body->outputs, &state->body->output_count, state->result + i);
    node->capture_count++;
    state->count--;
}

HoloStatus holo_pass_carried(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    HoloRewrite rewrite;
    State       state;
    int        *uses = holo_graph_uses(graph, scratch);
    if (!uses) return holo_fail_memory(error);
    HOLO_TRY(holo_rewrite_begin(&rewrite, graph, scratch, changes, error));
    for (int n = 0; n < graph->node_count && holo_rewrite_more(&rewrite); n++) {
        HoloNode *node = graph->nodes[n];
        holo_rewrite_inputs(&rewrite, node);
        if (!find_state(node, &state)) continue;
        for (int i = state.count - 1; i >= 0; i--) {
            if (!is_unchanged(&rewrite, uses, node, &state, i)) continue;
            capture(node, &state, i);
            rewrite.changes++;
        }
    }
    return holo_rewrite_end(&rewrite, error);
}
