// onnx_pair.c - a decoder in two files, as optimum wrote them: one for the beginning of a text, and one that goes on with what the
// last run gave. They become one graph with the input use_cache_branch, as a merged decoder has it.
#include "import/onnx/onnx.h"

#include <stdio.h>

typedef struct DecoderPair {
    HoloImport *import;
    HoloGraph  *first, *later, *whole;
} DecoderPair;

static int input_at(const HoloGraph *graph, const char *name)
{
    for (int i = 0; i < graph->input_count; i++)
        if (!strcmp(graph->inputs[i]->name, name)) return i;
    return -1;
}

static HoloValue *output_of(const HoloGraph *graph, const char *name)
{
    for (int i = 0; i < graph->output_count; i++)
        if (!strcmp(graph->outputs[i]->name, name)) return graph->outputs[i];
    return NULL;
}

// The type of an input that both may have: a size that one of them fixes is open. The mask is as long as the text, which only the
// second can tell from the tokens of a run. What is kept of a text may be empty, so its
// length is not that of anything else.
static HoloTensor input_type(const DecoderPair *p, const char *name)
{
    int        a = input_at(p->first, name), b = input_at(p->later, name);
    HoloTensor t = a >= 0 ? p->first->inputs[a]->type : p->later->inputs[b]->type;
    for (int d = 0; a >= 0 && b >= 0 && d < t.rank; d++) {
        const HoloTensor *other = &p->later->inputs[b]->type;
        if (other->rank == t.rank && holo_dim_is_symbolic(other->dim[d])) t.dim[d] = other->dim[d];
    }
    bool is_past = a < 0 && !strncmp(name, "past_key_values.", 16);
    if (is_past && t.rank == 4 && holo_dim_is_symbolic(t.dim[2]))
        t.dim[2] = holo_dims_symbol(p->whole->dims, strstr(name, ".encoder.") ? "kept_length" : "past_length");
    return t;
}

static HoloStatus inputs_add(DecoderPair *p)
{
    const HoloGraph *from[] = {p->first, p->later};
    for (int g = 0; g < 2; g++)
        for (int i = 0; i < from[g]->input_count; i++) {
            const char *name = from[g]->inputs[i]->name;
            HoloTensor  type = input_type(p, name);
            if (input_at(p->whole, name) >= 0) continue;
            if (!holo_graph_input(p->whole, name, &type)) return holo_fail_memory(p->import->error);
        }
    return HOLO_OK;
}

// The inputs of a branch are those of the whole graph, in its order. Their types come from there.
static HoloStatus branch_close(DecoderPair *p, HoloGraph *branch)
{
    int         count = p->whole->input_count;
    HoloValue **in    = HOLO_NEW(p->import->arena, HoloValue *, count);
    if (!in) return holo_fail_memory(p->import->error);
    for (int i = 0; i < count; i++) {
        const HoloValue *outer = p->whole->inputs[i];
        int              at    = input_at(branch, outer->name);
        in[i]                  = at >= 0 ? branch->inputs[at] : holo_graph_input(branch, outer->name, &outer->type);
        if (!in[i]) return holo_fail_memory(p->import->error);
        in[i]->type = outer->type;
    }
    branch->inputs      = in;
    branch->input_count = branch->input_room = count;
    return HOLO_OK;
}

// The outputs of the branch that goes on are those of the first one, in its order. What it does not give, of the source, is as it was.
static HoloStatus outputs_close(DecoderPair *p)
{
    int         count = p->first->output_count;
    HoloValue **out   = HOLO_NEW(p->import->arena, HoloValue *, count);
    if (!out) return holo_fail_memory(p->import->error);
    for (int i = 0; i < count; i++) {
        const char *name = p->first->outputs[i]->name;
        char        past[256];
        out[i] = output_of(p->later, name);
        if (out[i]) continue;
        snprintf(past, sizeof past, "past_key_values%s", !strncmp(name, "present.", 8) ? name + 7 : "");
        int at = input_at(p->later, past);
        if (at < 0)
            return holo_fail(p->import->error, HOLO_UNSUPPORTED,
                             "decoder_with_past_model.onnx has no output '%s', and no input '%s' that it could be",
                             name, past);
        HoloNode *node = holo_graph_node(p->later, name, "", "Identity", 13, 1, 1, 0);
        out[i]         = node ? holo_graph_value(p->later, name) : NULL;
        if (!out[i]) return holo_fail_memory(p->import->error);
        node->in[0] = p->later->inputs[at];
        holo_node_set_out(node, 0, out[i]);
    }
    p->later->outputs      = out;
    p->later->output_count = p->later->output_room = count;
    return HOLO_OK;
}

static HoloStatus choice_add(DecoderPair *p)
{
    HoloGraph *whole = p->whole;
    int        count = whole->input_count, outs = p->first->output_count; // without the choice
    HoloNode  *node = holo_graph_node(whole, "use_cache_branch", "", "If", 13, 1 + count, outs, 2);
    HoloTensor flag = {.dtype = HOLO_BOOL, .rank = 1, .dim = {1}};
    if (!node || !(node->in[0] = holo_graph_input(whole, "use_cache_branch", &flag)))
        return holo_fail_memory(p->import->error);
    for (int i = 0; i < count; i++) node->in[1 + i] = whole->inputs[i];
    node->capture_count = count;
    node->attr[0]       = (HoloAttr){.name = "then_branch", .kind = HOLO_ATTR_GRAPH, .count = 1, .graph = p->later};
    node->attr[1]       = (HoloAttr){.name = "else_branch", .kind = HOLO_ATTR_GRAPH, .count = 1, .graph = p->first};
    node->op            = holo_op_find("", "If", 13);
    for (int i = 0; i < outs; i++) {
        HoloValue *value = holo_graph_value(whole, p->first->outputs[i]->name);
        if (!value || !holo_graph_output(whole, value)) return holo_fail_memory(p->import->error);
        holo_node_set_out(node, i, value);
    }
    return HOLO_OK;
}

HoloStatus holo_onnx_pair(HoloImport *import, HoloGraph *first, HoloGraph *later, HoloGraph **out)
{
    DecoderPair p = {import, first, later, holo_graph_create(import->arena, first->dims, first->name)};
    if (!p.whole) return holo_fail_memory(import->error);
    HOLO_TRY(inputs_add(&p));
    HOLO_TRY(branch_close(&p, first));
    HOLO_TRY(branch_close(&p, later));
    HOLO_TRY(outputs_close(&p));
    HOLO_TRY(choice_add(&p));
    *out = p.whole;
    return HOLO_OK;
}
