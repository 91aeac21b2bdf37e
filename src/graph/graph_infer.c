// graph_infer.c - infers the types of all values of a graph by walking over its nodes, and lists operators that do not
// exist here.
#include "graph/facts.h"
#include "graph/infer.h"
#include "ops/value.h"

#include <string.h>

// ---- types of values

void holo_infer_set_type(HoloInfer *infer, HoloValue *value, const HoloTensor *type)
{
    HoloTensor old = value->type, t = *type;
    t.data = NULL;
    if (t.dtype == HOLO_NONE) t.dtype = old.dtype;
    if (t.rank < 0 && t.kind == HOLO_TENSOR && old.kind == HOLO_TENSOR && t.dtype == old.dtype) {
        t.rank = old.rank; // the declared or earlier rank is better than none; its sizes are not kept
        for (int i = 0; i < t.rank; i++) t.dim[i] = HOLO_DIM_UNKNOWN;
    }
    if (t.kind != HOLO_TENSOR && t.rank < 0) { // only the count of a container can be unknown
        t.rank   = 1;
        t.dim[0] = HOLO_DIM_UNKNOWN;
    }
    for (int i = 0; i < t.rank; i++) {
        if (t.dim[i] != HOLO_DIM_UNKNOWN) continue;
        bool again = old.rank == t.rank && holo_dim_is_fresh(infer->graph->dims, old.dim[i]);
        t.dim[i]   = again ? old.dim[i] : holo_dims_fresh(infer->graph->dims, "u");
    }
    value->type = t;
}

static void set_unknown(HoloInfer *infer, const HoloNode *node)
{
    const HoloTensor unknown = {.rank = -1};
    for (int i = 0; i < node->out_count; i++) {
        if (!node->out[i]) continue;
        HoloTensor keep = {.dtype = node->out[i]->type.dtype,
                           .kind  = node->out[i]->type.kind,
                           .inner = node->out[i]->type.inner,
                           .rank  = -1};
        holo_infer_set_type(infer, node->out[i], keep.kind == HOLO_TENSOR ? &unknown : &keep);
    }
}

// ---- what is known about an output although the rank of an input is unknown

static void partial_cast(const HoloNode *node, HoloTensor *out)
{
    int64_t to = holo_node_int(node, "to", HOLO_NONE);
    if (to > HOLO_NONE && to < HOLO_DTYPE_COUNT) out->dtype = (uint8_t)to;
}

static void partial_nonzero(const HoloNode *node, HoloTensor *out)
{
    (void)node;
    *out = (HoloTensor){.dtype = HOLO_I64, .rank = 2, .dim = {HOLO_DIM_UNKNOWN, HOLO_DIM_UNKNOWN}};
}

static void partial_range(const HoloNode *node, HoloTensor *out)
{
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && node->in[i]->type.dtype)
            *out = (HoloTensor){.dtype = node->in[i]->type.dtype, .rank = 1, .dim = {HOLO_DIM_UNKNOWN}};
}

static void partial_reshape(const HoloNode *node, HoloTensor *out)
{
    const HoloValue *shape = node->in_count > 1 ? node->in[1] : NULL;
    if (!shape || shape->type.rank != 1 || !node->in[0] || !node->in[0]->type.dtype) return;
    HoloDim rank = shape->type.dim[0];
    if (rank < 0 || rank > HOLO_MAX_RANK) return; // symbolic sizes are below 0
    *out = (HoloTensor){.dtype = node->in[0]->type.dtype, .rank = (int8_t)rank};
    for (int d = 0; d < rank; d++) {
        HoloDim size = shape->contents ? shape->contents[d] : HOLO_DIM_UNKNOWN;
        out->dim[d]  = size > 0 || holo_dim_is_symbolic(size) ? size : HOLO_DIM_UNKNOWN;
    }
}

// The updates do not change the type of the output.
static void partial_scatter(const HoloNode *node, HoloTensor *out)
{
    if (node->in_count && node->in[0] && node->in[0]->type.kind == HOLO_TENSOR) *out = node->in[0]->type;
    out->data = NULL;
}

// All inputs have one rank.
static void partial_concat(const HoloNode *node, HoloTensor *out)
{
    for (int i = 0; i < node->in_count && out->rank < 0; i++)
        if (node->in[i] && node->in[i]->type.kind == HOLO_TENSOR && node->in[i]->type.dtype) *out = node->in[i]->type;
    out->data = NULL;
    for (int d = 0; d < out->rank; d++) out->dim[d] = HOLO_DIM_UNKNOWN;
}

// What is open is how many elements the parts have, not their rank.
static void partial_cut(const HoloNode *node, HoloTensor *out)
{
    bool has_sizes = node->in_count > 1 && node->in[1];
    if (!has_sizes || !node->in[0] || !node->in[0]->type.dtype) return;
    *out = (HoloTensor){.dtype = node->in[0]->type.dtype,
                        .kind  = HOLO_SEQUENCE,
                        .inner = HOLO_TENSOR,
                        .rank  = 1,
                        .dim   = {HOLO_DIM_UNKNOWN, holo_items_of(&node->in[0]->type)}};
}

static const struct {
    HoloOpId id;
    void (*infer)(const HoloNode *node, HoloTensor *out); // for output 0; *out is unknown when it is called
} partials[] = {
    {HOLO_ID_Cast, partial_cast},           {HOLO_ID_NonZero, partial_nonzero},
    {HOLO_ID_Range, partial_range},         {HOLO_ID_Reshape, partial_reshape},
    {HOLO_ID_Scatter, partial_scatter},     {HOLO_ID_ScatterElements, partial_scatter},
    {HOLO_ID_ScatterND, partial_scatter},   {HOLO_ID_Concat, partial_concat},
    {HOLO_ID_SplitToSequence, partial_cut},
};

// One value whose rank depends on data must not leave everything behind it without types.
static void set_partial(HoloInfer *infer, const HoloNode *node)
{
    set_unknown(infer, node);
    for (int i = 0; i < HOLO_COUNT(partials); i++) {
        HoloTensor out = {.rank = -1};
        if (node->op_id != partials[i].id || !node->out_count || !node->out[0]) continue;
        partials[i].infer(node, &out);
        if (out.dtype) holo_infer_set_type(infer, node->out[0], &out);
    }
}

// ---- views

static const uint64_t no_elements[2];

HoloTensor holo_infer_view(const HoloInfer *infer, const HoloValue *value)
{
    HoloTensor t = value->type;
    if (!value->is_constant)
        t.data = (void *)infer->data[value->id];
    else if (!t.data)
        t.data = (void *)no_elements;
    return t;
}

// ---- one node

bool holo_infer_is_open(const HoloNode *node)
{
    for (int i = 0; i < node->in_count; i++) {
        const HoloValue *value = node->in[i];
        if (value && (value->type.rank < 0 || value->type.dtype == HOLO_NONE)) return true;
    }
    return false;
}

HoloStatus holo_infer_call(HoloInfer *infer, HoloNode *node, HoloArena *scratch)
{
    int                in = node->in_count, out = node->out_count;
    HoloTensor        *type     = HOLO_NEW(scratch, HoloTensor, in + out);
    const HoloTensor **in_type  = HOLO_NEW(scratch, const HoloTensor *, in);
    HoloTensor       **out_type = HOLO_NEW(scratch, HoloTensor *, out);
    const HoloDim    **contents = HOLO_NEW(scratch, const HoloDim *, in);
    if (!type || !in_type || !out_type || !contents) return holo_fail_memory(infer->error);
    for (int i = 0; i < in; i++) {
        if (!node->in[i]) continue;
        type[i]     = holo_infer_view(infer, node->in[i]);
        in_type[i]  = &type[i];
        contents[i] = node->in[i]->contents;
    }
    for (int i = 0; i < out; i++) {
        type[in + i].rank = -1;
        if (node->out[i]) out_type[i] = &type[in + i];
    }
    HoloCall call = {
        .op            = node->op,
        .node          = node->name,
        .version       = node->version,
        .in_count      = in,
        .out_count     = out,
        .in            = in_type,
        .out           = out_type,
        .attr          = node->attr,
        .attr_count    = node->attr_count,
        .capture_count = node->capture_count,
        .contents      = contents,
        .dims          = infer->graph->dims,
        .error         = infer->error,
    };
    HOLO_TRY(holo_op_infer(&call));
    for (int i = 0; i < out; i++)
        if (node->out[i]) holo_infer_set_type(infer, node->out[i], out_type[i]);
    return holo_contents_infer(infer, node);
}

// If the caller leaves out an input, the nodes of the body leave it out, too: otherwise they would wait for its type.
static void leave_out(HoloGraph *body, const HoloValue *input)
{
    for (int i = 0; i < body->node_count; i++)
        for (int k = 0; k < body->nodes[i]->in_count; k++)
            if (body->nodes[i]->in[k] == input) body->nodes[i]->in[k] = NULL;
}

// The types of an operator that others define are those of its body.
static HoloStatus infer_body(HoloInfer *infer, HoloNode *node, HoloArena *scratch)
{
    HoloGraph *body;
    HOLO_TRY(holo_node_body(scratch, infer->graph->dims, node, &body, infer->error));
    for (int i = 0; i < body->input_count; i++) {
        const HoloValue *given = i < node->in_count ? node->in[i] : NULL;
        if (!given) {
            leave_out(body, body->inputs[i]);
            continue;
        }
        body->inputs[i]->type      = holo_infer_view(infer, given);
        body->inputs[i]->type.data = NULL;
        body->inputs[i]->contents  = given->contents;
    }
    HOLO_TRY(holo_infer_graph(body, infer->depth + 1, infer->error));
    for (int i = 0; i < node->out_count && i < body->output_count; i++)
        if (node->out[i]) holo_infer_set_type(infer, node->out[i], &body->outputs[i]->type);
    return HOLO_OK;
}

static HoloStatus infer_node(HoloInfer *infer, HoloNode *node)
{
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i]) node->out[i]->contents = NULL;
    node->op = holo_op_find(node->domain, node->type, node->version);
    HOLO_TRY(holo_node_check(node, infer->error));
    HOLO_TRY(holo_infer_bodies_check(infer, node));
    if (node->op && node->op->flags & HOLO_OP_CONTROL) return holo_control_infer(infer, node);
    if (!node->op || holo_infer_is_open(node)) {
        set_partial(infer, node);
        return HOLO_OK;
    }
    HoloArena  scratch = {0};
    bool       by_body = node->op->body && !node->op->infer;
    HoloStatus status  = by_body ? infer_body(infer, node, &scratch) : holo_infer_call(infer, node, &scratch);
    holo_arena_deinit(&scratch);
    return status;
}

// ---- a graph

// Makes room for the values that were added, and looks at the contents of those that nothing produces.
static HoloStatus begin_values(HoloInfer *infer)
{
    const HoloGraph *graph = infer->graph;
    while (infer->value_done < graph->value_count) {
        int i = infer->value_done;
        if (!HOLO_GROW(infer->scratch, infer->data, i, infer->data_room) ||
            !HOLO_GROW(infer->scratch, infer->above, i, infer->above_room) ||
            !HOLO_GROW(infer->scratch, infer->below, i, infer->below_room))
            return holo_fail_memory(infer->error);
        infer->data[i]  = NULL;
        infer->above[i] = NULL;
        infer->below[i] = 0;
        infer->value_done++;
        if (!graph->values[i]->producer) HOLO_TRY(holo_contents_begin(infer, graph->values[i]));
    }
    return HOLO_OK;
}

static HoloStatus check_depth(const HoloInfer *infer)
{
    if (infer->depth <= HOLO_INFER_DEPTH_MAX) return HOLO_OK;
    return holo_fail(infer->error, HOLO_UNSUPPORTED, "subgraphs are nested more than %d deep", HOLO_INFER_DEPTH_MAX);
}

HoloStatus holo_infer_added(HoloInfer *infer)
{
    HOLO_TRY(check_depth(infer));
    HOLO_TRY(begin_values(infer));
    for (; infer->node_done < infer->graph->node_count; infer->node_done++)
        HOLO_TRY(infer_node(infer, infer->graph->nodes[infer->node_done]));
    return HOLO_OK;
}

// A node that fails ends it. *out_done is the number of nodes before it.
static HoloStatus infer_nodes(HoloGraph *graph, int depth, int *out_done, HoloError *error)
{
    HoloArena  scratch = {0};
    HoloInfer  infer   = {.graph = graph, .scratch = &scratch, .error = error, .depth = depth};
    HoloStatus status  = holo_infer_added(&infer);
    *out_done          = infer.node_done;
    holo_arena_deinit(&scratch);
    return status;
}

HoloStatus holo_infer_graph(HoloGraph *graph, int depth, HoloError *error)
{
    int done;
    return infer_nodes(graph, depth, &done, error);
}

// A node that failed before its graphs were inferred: they could not be planned.
static bool is_open_inside(const HoloNode *node)
{
    for (int i = 0; i < node->attr_count; i++) {
        const HoloGraph *body = node->attr[i].kind == HOLO_ATTR_GRAPH ? node->attr[i].graph : NULL;
        for (int k = 0; body && k < body->node_count; k++)
            if (!body->nodes[k]->op) return true;
    }
    return false;
}

HoloStatus holo_infer_branch(HoloGraph *graph, int depth, HoloError *out_why, HoloError *error)
{
    HoloArena  scratch = {0};
    HoloError  now     = {0};
    HoloInfer  infer   = {.graph = graph, .scratch = &scratch, .error = &now, .depth = depth};
    HoloStatus status  = holo_infer_added(&infer);
    while (status == HOLO_BAD_MODEL && infer.node_done < graph->node_count) {
        HoloNode *node = graph->nodes[infer.node_done++];
        if (is_open_inside(node) || holo_infer_bodies_check(&infer, node)) break;
        if (!out_why->status) *out_why = now;
        now = (HoloError){0};
        set_unknown(&infer, node);
        status = holo_infer_added(&infer);
    }
    holo_arena_deinit(&scratch);
    return status ? holo_fail(error, status, "%s", now.text) : HOLO_OK;
}

HoloStatus holo_graph_infer(HoloGraph *graph, HoloError *error)
{
    int done;
    return holo_graph_infer_count(graph, &done, error);
}

HoloStatus holo_graph_infer_count(HoloGraph *graph, int *out_done, HoloError *error)
{
    // An unknown size of an input gets a symbol, so that everything behind it can be expressed with it.
    for (int i = 0; i < graph->input_count; i++) {
        HoloTensor *t = &graph->inputs[i]->type;
        for (int k = 0; k < t->rank; k++)
            if (t->dim[k] == HOLO_DIM_UNKNOWN) t->dim[k] = holo_dims_fresh(graph->dims, "d");
    }
    return infer_nodes(graph, 0, out_done, error);
}

// ---- operators that do not exist here

typedef struct Missing {
    struct Missing *next;
    const HoloNode *first; // the first node of this domain, type and version
    int             count;
    const char     *names[4]; // of the first nodes
} Missing;

static HoloStatus find_missing(const HoloGraph *graph, int depth, HoloArena *scratch, Missing **list, HoloError *error)
{
    if (depth > HOLO_INFER_DEPTH_MAX)
        return holo_fail(error, HOLO_UNSUPPORTED, "subgraphs are nested more than %d deep", HOLO_INFER_DEPTH_MAX);
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        for (int k = 0; k < node->attr_count; k++) {
            const HoloAttr *attr  = &node->attr[k];
            int             count = attr->kind == HOLO_ATTR_GRAPHS ? attr->count : attr->kind == HOLO_ATTR_GRAPH;
            for (int g = 0; g < count; g++) {
                const HoloGraph *body = attr->kind == HOLO_ATTR_GRAPH ? attr->graph : attr->graphs[g];
                HOLO_TRY(find_missing(body, depth + 1, scratch, list, error));
            }
        }
        if (holo_op_find(node->domain, node->type, node->version)) continue;
        Missing **at = list;
        while (*at && (strcmp((*at)->first->type, node->type) || strcmp((*at)->first->domain, node->domain) ||
                       (*at)->first->version != node->version))
            at = &(*at)->next;
        if (!*at && !(*at = HOLO_NEW(scratch, Missing, 1))) return holo_fail_memory(error);
        if ((*at)->count < HOLO_COUNT((*at)->names)) (*at)->names[(*at)->count] = node->name;
        if ((*at)->count++ == 0) (*at)->first = node;
    }
    return HOLO_OK;
}

// Does the operator exist here in another version?
static bool has_other_version(const HoloNode *node)
{
    for (const HoloOp *const *family = holo_op_families; *family; family++)
        for (const HoloOp *op = *family; op->name; op++)
            if (!strcmp(op->name, node->type) && !strcmp(op->domain ? op->domain : "", node->domain)) return true;
    return false;
}

// Hints about operators that tools write for their own use.
static const struct {
    const char *domain, *type, *hint; // type NULL: all of the domain
} hints[] = {
    {"com.microsoft.nchwc", NULL,
     "ONNX Runtime arranged it for one kind of CPU and does not say which: save the model at its level `extended`, or give "
     "the model that it was made of"},
    {"com.ms.internal.nhwc", NULL,
     "ONNX Runtime arranged it for one of its devices: save the model at its level `extended`, or give the model that it "
     "was made of"},
    {"com.microsoft", "EPContext",
     "it holds a program that was compiled for one device: give the model that it was made of"},
    {"com.microsoft", "Snpe", "it holds a model of one device's own format: give the model that it was made of"},
    {"com.microsoft", "QuantizeBFP", "its bytes have a meaning on one accelerator only: export the model without it"},
    {"com.microsoft", "DequantizeBFP", "its bytes have a meaning on one accelerator only: export the model without it"},
    {"ai.onnx.contrib", NULL,
     "it is of ONNX Runtime's extensions, which prepare text, sound and images: do that before the model runs"},
    {"com.microsoft.extensions", NULL,
     "it is of ONNX Runtime's extensions, which prepare text, sound and images: do that before the model runs"},
    {"org.pytorch.aten", NULL, "it is PyTorch's own: export the model by a newer PyTorch, with dynamo=True"},
    {"aten", NULL,
     "it is PyTorch's own: write it in other operators in the model, or, if the file is ONNX, export it by a newer PyTorch"},
    {"prim", NULL, "it is PyTorch's own: export the model by a newer PyTorch, with dynamo=True"},
    {"tensorflow", NULL, "it is TensorFlow's own: write it in other operators in the model"},
    {"keras", NULL,
     "it is a layer of Keras, or a class of your own: make it of other layers, or save the model as a SavedModel "
     "(model.export)"},
    {"TRT", NULL, "it is a plugin of TensorRT: export the model without it"},
    {"trt.plugins", NULL, "it is a plugin of TensorRT: export the model without it"},
};

static const char *hint_for(const HoloNode *node)
{
    for (int i = 0; i < HOLO_COUNT(hints); i++)
        if (!strcmp(node->domain, hints[i].domain) && (!hints[i].type || !strcmp(node->type, hints[i].type)))
            return hints[i].hint;
    return has_other_version(node) ? "other versions of it exist here: convert the model to one that has these" : NULL;
}

HoloStatus holo_graph_check_ops(const HoloGraph *graph, HoloError *error)
{
    HoloArena  scratch = {0};
    HoloText   text    = {0};
    Missing   *list    = NULL;
    HoloStatus status  = find_missing(graph, 0, &scratch, &list, error);
    int        kinds   = 0;
    for (const Missing *m = list; m && !status; m = m->next, kinds++) {
        const HoloNode *node = m->first;
        holo_text_add(&text, "\n  %s%s%s version %d: %d node%s (", node->domain, *node->domain ? "::" : "", node->type,
                      node->version, m->count, m->count == 1 ? "" : "s");
        for (int i = 0; i < m->count && i < HOLO_COUNT(m->names); i++)
            holo_text_add(&text, "%s%.80s", i ? ", " : "", m->names[i]);
        holo_text_add(&text, m->count > HOLO_COUNT(m->names) ? ", ...)" : ")");
        const char *hint = hint_for(node);
        if (hint) holo_text_add(&text, "; %s", hint);
    }
    if (!status && kinds)
        status =
            holo_fail(error, HOLO_UNSUPPORTED,
                      "%d operator%s of this model %s not exist here:%s\n  What to do: export the model with standard "
                      "ONNX operators, add the operator's definition to the model as a function, write a kernel and "
                      "compile with --kernel FILE (docs/kernel-language.md), or write it as a row in src/ops "
                      "(docs/adding-an-operator.md).",
                      kinds, kinds == 1 ? "" : "s", kinds == 1 ? "does" : "do", text.data ? text.data : "");
    holo_text_deinit(&text);
    holo_arena_deinit(&scratch);
    return status;
}
