// branches.c - if the branches of an If give different ranks, everything behind the If moves into the branches.
//
// Exporters write a squeeze as an If: one branch drops a dimension of size 1, the other passes the value on. Behind it
// no rank is known, and everything would have to be found out during the run. In each branch the ranks are known. So
// each branch gets a copy of all nodes that depend on the If, and the compiler can optimize them there. One branch may
// be wrong for what follows; it fails if it is ever taken, as it would have failed before. Nothing is done if both
// branches are wrong, or if nested Ifs would make too many copies.
#include "graph/infer.h"
#include "passes/rewrite.h"

#include <math.h>
#include <string.h>

enum { NODES_MAX = 1 << 13 }; // most nodes of all copies together

static const char *const branch_names[2] = {"then_branch", "else_branch"};

// ---- which Ifs are worth it

typedef struct Sinking { // an If, and what follows it
    HoloGraph  *graph;
    HoloArena  *scratch;
    HoloNode   *node;
    HoloGraph  *branch[2];
    bool       *follows; // by node: it depends on the If
    bool       *is_mine; // by value: it is an output of the If or of a node that follows
    HoloValue **given;   // such values that are outputs of the graph
    HoloValue **taken;   // values from elsewhere that the following nodes use and that are not constants
    int         given_count, taken_count;
} Sinking;

static bool branches_find(Sinking *s)
{
    for (int i = 0; i < 2; i++) {
        const HoloAttr *attr = holo_node_attr(s->node, branch_names[i]);
        if (!attr || attr->kind != HOLO_ATTR_GRAPH) return false;
        s->branch[i] = attr->graph;
        if (s->branch[i]->input_count != s->node->capture_count || s->branch[i]->output_count < s->node->out_count)
            return false;
    }
    return true;
}

static bool has_rank(const HoloValue *value)
{
    return value->type.kind == HOLO_TENSOR && value->type.dtype != HOLO_NONE && value->type.rank >= 0;
}

// Does an output have no rank, although it has one in each branch?
static bool loses_rank(const Sinking *s)
{
    bool loses = false;
    for (int i = 0; i < s->node->out_count; i++) {
        const HoloValue *out = s->node->out[i];
        if (!out || has_rank(out)) continue;
        if (!has_rank(s->branch[0]->outputs[i]) || !has_rank(s->branch[1]->outputs[i])) return false;
        loses = true;
    }
    return loses;
}

// Counts nodes, including those of subgraphs, and the Ifs among them.
static int nodes_count(const HoloNode *node, int *ifs)
{
    int count = 1;
    *ifs += HOLO_IS(node, If);
    for (int i = 0; i < node->attr_count; i++) {
        const HoloGraph *body = node->attr[i].kind == HOLO_ATTR_GRAPH ? node->attr[i].graph : NULL;
        for (int k = 0; body && k < body->node_count; k++) count += nodes_count(body->nodes[k], ifs);
    }
    return count;
}

static void own(Sinking *s, const HoloNode *node)
{
    for (int k = 0; k < node->out_count; k++)
        if (node->out[k]) s->is_mine[node->out[k]->id] = true;
}

// Finds the nodes that depend on the If. False: there are none, or too many.
static bool follow(Sinking *s)
{
    int count = 0, ifs = 0;
    own(s, s->node);
    for (int i = s->node->id + 1; i < s->graph->node_count; i++) {
        const HoloNode *node = s->graph->nodes[i];
        for (int k = 0; k < node->in_count; k++) s->follows[i] |= node->in[k] && s->is_mine[node->in[k]->id];
        if (!s->follows[i]) continue;
        if (holo_node_has_graphs(node)) return false;
        own(s, node);
        count += nodes_count(node, &ifs);
    }
    return count && ldexp(count, ifs + 1) <= NODES_MAX;
}

// Finds the values that come in and go out.
static bool borders_find(Sinking *s)
{
    int   values   = s->graph->value_count;
    bool *is_taken = HOLO_NEW(s->scratch, bool, values);
    s->given       = HOLO_NEW(s->scratch, HoloValue *, s->graph->output_count);
    s->taken       = HOLO_NEW(s->scratch, HoloValue *, values);
    if (!is_taken || !s->given || !s->taken) return false;
    for (int i = 0; i < s->graph->output_count; i++) {
        HoloValue *value = s->graph->outputs[i];
        bool       again = false;
        for (int k = 0; k < i; k++) again |= s->graph->outputs[k] == value;
        if (s->is_mine[value->id] && !again) s->given[s->given_count++] = value;
    }
    for (int i = 0; i < s->graph->node_count; i++) {
        const HoloNode *node = s->graph->nodes[i];
        for (int k = 0; k < node->in_count && s->follows[i]; k++) {
            HoloValue *value = node->in[k];
            if (!value || value->is_constant || s->is_mine[value->id] || is_taken[value->id]) continue;
            is_taken[value->id]        = true;
            s->taken[s->taken_count++] = value;
        }
    }
    return true;
}

// ---- moving

// A branch followed by a copy of the following nodes. NULL: no memory.
static HoloGraph *branch_extend(const Sinking *s, int which)
{
    HoloGraph  *body = holo_graph_copy(s->branch[which], s->graph->arena);
    HoloValue **map  = HOLO_NEW(s->scratch, HoloValue *, s->graph->value_count);
    if (!body || !map) return NULL;
    for (int i = 0; i < s->node->out_count; i++)
        if (s->node->out[i]) map[s->node->out[i]->id] = body->outputs[i];
    for (int i = 0; i < s->taken_count; i++)
        if (!(map[s->taken[i]->id] = holo_graph_input(body, s->taken[i]->name, &s->taken[i]->type))) return NULL;
    for (int i = 0; i < s->graph->node_count; i++) {
        const HoloNode *node = s->graph->nodes[i];
        for (int k = 0; k < node->in_count && s->follows[i]; k++) {
            const HoloValue *value = node->in[k];
            if (value && !map[value->id] && !(map[value->id] = holo_graph_copy_value(value, body))) return NULL;
        }
        if (s->follows[i] && !holo_graph_copy_node(node, body, map)) return NULL;
    }
    body->output_count = 0;
    for (int i = 0; i < s->given_count; i++)
        if (!holo_graph_output(body, map[s->given[i]->id])) return NULL;
    return body;
}

// The inputs get the types and contents of the captured values.
static HoloStatus branch_infer(const HoloNode *node, HoloGraph *body, bool *out_is_right, HoloError *error)
{
    HoloError why = {0};
    for (int i = 0; i < body->input_count; i++) {
        const HoloValue *value     = node->in[i + 1];
        body->inputs[i]->type      = value ? value->type : (HoloTensor){.rank = -1};
        body->inputs[i]->type.data = NULL;
        body->inputs[i]->contents  = value ? value->contents : NULL;
    }
    HOLO_TRY(holo_infer_branch(body, 1, &why, error));
    *out_is_right = !why.status;
    return HOLO_OK;
}

// The If that replaces all of that. It has no outputs yet.
static HoloNode *if_create(const Sinking *s)
{
    const HoloNode *old     = s->node;
    int             old_in  = old->in_count;
    HoloGraph      *body[2] = {branch_extend(s, 0), branch_extend(s, 1)};
    if (!body[0] || !body[1]) return NULL;
    HoloNode *node = holo_graph_op(s->graph, old->name, HOLO_ID_If, old->version, old_in + s->taken_count,
                                   s->given_count, HOLO_COUNT(body));
    if (!node) return NULL;
    node->op            = old->op;
    node->capture_count = old->capture_count + s->taken_count;
    memcpy(node->in, old->in, (size_t)old_in * sizeof *node->in);
    if (s->taken_count) memcpy(node->in + old_in, s->taken, (size_t)s->taken_count * sizeof *node->in);
    for (int i = 0; i < HOLO_COUNT(body); i++)
        node->attr[i] = (HoloAttr){.name = branch_names[i], .kind = HOLO_ATTR_GRAPH, .count = 1, .graph = body[i]};
    return node;
}

// The new node produces the values of the old nodes.
static void nodes_replace(const Sinking *s, HoloNode *node, bool *dead)
{
    for (int i = 0; i < s->graph->node_count - 1; i++) {
        HoloNode *old = s->graph->nodes[i];
        dead[i]       = old == s->node || s->follows[i];
        for (int k = 0; k < old->out_count && dead[i]; k++) old->out[k] = NULL;
    }
    for (int i = 0; i < s->given_count; i++) holo_node_set_out(node, i, s->given[i]);
}

static HoloStatus sink(Sinking *s, HoloChanges *changes, HoloError *error)
{
    if (!borders_find(s)) return holo_fail_memory(error);
    HoloNode *node = if_create(s);
    bool     *dead = HOLO_NEW(s->scratch, bool, s->graph->node_count), is_then_right, is_else_right;
    if (!node || !dead) return holo_fail_memory(error);
    HOLO_TRY(branch_infer(node, node->attr[0].graph, &is_then_right, error));
    HOLO_TRY(branch_infer(node, node->attr[1].graph, &is_else_right, error));
    if (is_then_right || is_else_right)
        nodes_replace(s, node, dead);
    else
        dead[s->graph->node_count - 1] = true; // the new node
    changes->count += is_then_right || is_else_right;
    holo_graph_sweep(s->graph, dead);
    return HOLO_OK;
}

HoloStatus holo_pass_branches(HoloGraph *graph, HoloArena *scratch, HoloChanges *changes, HoloError *error)
{
    holo_graph_number(graph);
    for (int i = 0; i < graph->node_count && changes->count < changes->limit; i++) {
        Sinking s = {.graph = graph, .scratch = scratch, .node = graph->nodes[i]};
        if (!HOLO_IS(s.node, If) || s.node->in_count != s.node->capture_count + 1) continue;
        if (!branches_find(&s) || !loses_rank(&s)) continue;
        s.follows = HOLO_NEW(scratch, bool, graph->node_count);
        s.is_mine = HOLO_NEW(scratch, bool, graph->value_count);
        if (!s.follows || !s.is_mine) return holo_fail_memory(error);
        int before = changes->count;
        if (follow(&s)) HOLO_TRY(sink(&s, changes, error));
        if (changes->count > before) return HOLO_OK; // the next round takes the next If
    }
    return HOLO_OK;
}
