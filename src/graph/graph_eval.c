// graph_eval.c - the reference interpreter: computes a graph node by node with each operator's `eval`.
//
// A tensor between nodes has a heap block of its own, which is freed after its last use, so memory stays close to what
// is alive. What outlives a call (outputs of the graph, sequences and what they refer to, strings) is in the caller's
// arena.
#include "graph/graph.h"

#include "base/memory.h"
#include "base/stop.h"
#include "graph/spares.h"
#include "ops/value.h"

#include <string.h>

enum {
    DEPTH_MAX = 64,      // subgraphs nested in subgraphs
    SHARE_MIN = 1 << 20, // bytes that runs of a subgraph may share
};

typedef struct Place { // where outputs of a graph are put
    HoloArena *arena;
    HoloLists *lists;  // sequences in it that may grow; NULL: none
    bool       shares; // outputs that are sequences may refer to what is in it, or to what outlives it
} Place;

typedef struct Frame {           // a graph that is being computed
    HoloHost               host; // first: operators get a pointer to it, which is also one to the frame
    HoloArena             *arena;
    bool                   shares;
    HoloArena              temp;
    const HoloEvalOptions *options;
    int                    depth;
    HoloArena              results[2];    // results of the last runs of subgraphs
    int                    turn;          // which of the two the last run used
    size_t                 results_limit; // if one holds more bytes, the next run uses the other
    HoloLists              result_lists;  // sequences in the results of the last run
    HoloBinding            binding;       // numbers of symbolic sizes, if something needs them
    HoloSpares             spares;

    // By value id.
    HoloTensor *tensor;
    bool       *is_there; // the tensor was computed or given
    size_t     *block;    // bytes of the heap block that holds its data; 0: it has none
    bool       *is_output;
    int        *uses;
} Frame;

// Computes the first `out_count` outputs of the graph.
// Numbers for symbols, from the inputs that are given and from those that have a default, such as states.
static HoloStatus sizes_bind(Frame *frame, const HoloGraph *graph, const HoloTensor *const *inputs, HoloArena *scratch,
                             HoloError *error)
{
    const HoloTensor **all = HOLO_NEW(scratch, const HoloTensor *, graph->input_count + 1);
    if (!all) return holo_fail_memory(error);
    for (int i = 0; i < graph->input_count; i++) {
        int id = graph->inputs[i]->id;
        all[i] = inputs[i] || !frame->is_there[id] ? inputs[i] : &frame->tensor[id];
    }
    return holo_graph_bind(graph, all, scratch, &frame->binding, error);
}

static HoloStatus eval_graph(const HoloGraph *graph, const HoloTensor *const *inputs, int out_count,
                             HoloTensor *const *outputs, Place place, const HoloEvalOptions *options, int depth,
                             HoloError *error);

// ---- the host

static void *host_temp(const HoloHost *host, size_t size)
{
    return holo_arena_take(&((Frame *)host)->temp, size);
}

static void *host_keep(const HoloHost *host, size_t size)
{
    return holo_arena_take(((const Frame *)host)->arena, size);
}

// A run of a subgraph counts as one, and as more if it is given much to compute with.
static int64_t turn_cost(int in_count, const HoloTensor *const *in)
{
    enum { ELEMENTS = 4096 };
    int64_t cost = 1;
    for (int i = 0; i < in_count; i++)
        if (in[i] && in[i]->kind == HOLO_TENSOR) cost += holo_tensor_count(in[i]) / ELEMENTS;
    return cost;
}

// As in the runtime (frame.c), results live until the second next run. If sequences are among them, runs continue in
// one arena until it is large; what a run gives is copied only when it begins with an empty arena.
static HoloStatus host_subgraph(const HoloHost *host, void *graph, int in_count, const HoloTensor *const *in,
                                int out_count, HoloTensor *const *out, HoloError *error)
{
    Frame           *frame = (Frame *)host;
    const HoloGraph *body  = graph;
    if (frame->depth >= DEPTH_MAX)
        return holo_fail(error, HOLO_UNSUPPORTED, "subgraphs are nested more than %d deep", DEPTH_MAX);
    if (body->input_count != in_count || body->output_count < out_count)
        return holo_fail(error, HOLO_BAD_MODEL, "subgraph %s has %d inputs and %d outputs, where %d and %d are used",
                         body->name, body->input_count, body->output_count, in_count, out_count);
    if (frame->options && frame->options->turns && (*frame->options->turns -= turn_cost(in_count, in)) < 0)
        return holo_fail(error, HOLO_NO_MEMORY, "subgraph %s runs more often than is allowed here", body->name);
    bool has_lists = false;
    for (int i = 0; i < out_count; i++) has_lists |= body->outputs[i]->type.kind == HOLO_SEQUENCE;
    bool is_fresh = !has_lists || holo_arena_used(&frame->results[frame->turn]) >= frame->results_limit;
    if (is_fresh) {
        frame->turn = !frame->turn;
        holo_arena_reset(&frame->results[frame->turn], (HoloArenaMark){0});
        frame->result_lists = (HoloLists){0};
    }
    Place place = {&frame->results[frame->turn], is_fresh ? NULL : &frame->result_lists, !is_fresh};
    HOLO_TRY(eval_graph(body, in, out_count, out, place, frame->options, frame->depth + 1, error));
    size_t used = holo_arena_used(place.arena);
    if (is_fresh) frame->results_limit = !has_lists ? 0 : used > SHARE_MIN / 2 ? 2 * used : SHARE_MIN;
    return HOLO_OK;
}

static void host_counts(const HoloHost *host, const void *graph, int *out_inputs, int *out_outputs)
{
    (void)host;
    const HoloGraph *body = graph;
    *out_inputs           = body->input_count;
    *out_outputs          = body->output_count;
}

static const char *host_input(const HoloHost *host, const void *graph, int i, HoloTensor *out_type)
{
    (void)host;
    const HoloValue *value = ((const HoloGraph *)graph)->inputs[i];
    *out_type              = value->type;
    for (int d = 0; d < out_type->rank; d++)
        if (holo_dim_is_symbolic(out_type->dim[d])) out_type->dim[d] = HOLO_DIM_UNKNOWN;
    return value->name;
}

static void host_parallel(const HoloHost *host, int64_t count, void (*work)(void *arg, int64_t i, int worker),
                          void *arg)
{
    const HoloEvalOptions *options = ((const Frame *)host)->options;
    if (options && options->threads)
        options->threads->parallel(options->threads, count, work, arg);
    else
        for (int64_t i = 0; i < count && !holo_stop_is_due(host->stop); i++) work(arg, i, 0);
}

static void frame_init(Frame *frame, Place place, const HoloEvalOptions *options, int depth)
{
    *frame = (Frame){
        .host =
            {
                .temp     = host_temp,
                .keep     = host_keep,
                .subgraph = host_subgraph,
                .counts   = host_counts,
                .input    = host_input,
                .parallel = host_parallel,
                .workers  = options && options->threads ? options->threads->workers : 1,
                .lists    = place.lists,
                .stop     = holo_scope_stop(),
            },
        .arena   = place.arena,
        .shares  = place.shares,
        .options = options,
        .depth   = depth,
    };
}

static void frame_deinit(Frame *frame)
{
    holo_arena_deinit(&frame->temp);
    for (int i = 0; i < HOLO_COUNT(frame->results); i++) holo_arena_deinit(&frame->results[i]);
    holo_spares_deinit(&frame->spares);
}

// ---- one node

static bool is_sized(const HoloTensor *t)
{
    if (t->rank < 0) return false;
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] < 0) return false; // unknown and symbolic sizes are negative numbers
    return true;
}

// Takes memory for a tensor of known sizes: from the arena, or a block if `block` is set. An empty tensor gets a byte,
// since NULL means "not known".
static HoloStatus allocate(Frame *frame, const HoloNode *node, HoloTensor *t, size_t *block, HoloError *error)
{
    int64_t count = holo_tensor_count(t);
    size_t  size;
    if (count < 0 || !holo_size_mul((size_t)count, holo_dtype_size(t->dtype), &size))
        return holo_fail(error, HOLO_NO_MEMORY, "node %s (%s): the output is too large", node->name, node->type);
    int64_t limit = frame->options ? frame->options->element_limit : 0;
    if (limit && count > limit)
        return holo_fail(error, HOLO_NO_MEMORY, "node %s (%s): %lld elements, more than the limit of %lld", node->name,
                         node->type, (long long)count, (long long)limit);
    if (size == 0) size = 1;
    t->data = block ? holo_spares_take(&frame->spares, &size) : holo_arena_take_raw(frame->arena, size);
    if (!t->data)
        return holo_fail(error, HOLO_NO_MEMORY, "node %s (%s): no memory for an output", node->name, node->type);
    if (block) *block = size;
    return HOLO_OK;
}

static HoloStatus eval_body(Frame *frame, const HoloNode *node, HoloCall *call)
{
    HoloGraph   *body;
    HoloStatus   status  = HOLO_OK;
    HoloArena    scratch = {0};
    HoloTensor   unwanted;
    HoloTensor **out = NULL;
    if (frame->depth >= DEPTH_MAX)
        return holo_call_fail(call, HOLO_UNSUPPORTED, "definitions of operators are nested more than %d deep",
                              DEPTH_MAX);
    status = holo_node_body(&scratch, NULL, node, &body, call->error);
    if (!status && !(out = HOLO_NEW(&scratch, HoloTensor *, body->output_count)))
        status = holo_fail_memory(call->error);
    const HoloTensor **in = status ? NULL : HOLO_NEW(&scratch, const HoloTensor *, body->input_count);
    if (!status && !in) status = holo_fail_memory(call->error);
    if (!status) {
        for (int i = 0; i < body->input_count; i++) in[i] = holo_in(call, i);
        for (int i = 0; i < body->output_count; i++) out[i] = holo_out(call, i) ? call->out[i] : &unwanted;
        status = eval_graph(body, in, body->output_count, out, (Place){.arena = frame->arena}, frame->options,
                            frame->depth + 1, call->error);
    }
    holo_arena_deinit(&scratch);
    return status;
}

// Must the inputs of a call stay in place, because outputs may refer to them?
static bool keeps_inputs(const HoloCall *call)
{
    for (int i = 0; i < call->out_count; i++)
        if (call->out[i] && call->out[i]->kind != HOLO_TENSOR) return true;
    return false;
}

// Moves the tensor of a value from its heap block into the arena.
static HoloStatus settle(Frame *frame, const HoloValue *value, HoloError *error)
{
    HoloTensor *t    = &frame->tensor[value->id];
    size_t      size = holo_tensor_bytes(t);
    void       *data = holo_arena_take_raw(frame->arena, size ? size : 1);
    if (!data) return holo_fail_memory(error);
    if (size) memcpy(data, t->data, size);
    holo_spares_give(&frame->spares, t->data, frame->block[value->id]);
    t->data                 = data;
    frame->block[value->id] = 0;
    return HOLO_OK;
}

static HoloStatus compute(Frame *frame, const HoloNode *node, HoloCall *call)
{
    const HoloEvalOptions *options = frame->options;
    if (options && options->instead) {
        HoloStatus status = options->instead(options->context, node, call);
        if (status != HOLO_UNSUPPORTED) return status;
    }
    if (!call->op->eval) return holo_call_fail(call, HOLO_UNSUPPORTED, "the operator cannot be evaluated");
    return holo_op_eval(call);
}

static HoloStatus no_operator(const HoloNode *node, HoloError *error)
{
    return holo_fail(error, HOLO_UNSUPPORTED, "node %s: there is no operator %s of version %d in domain \"%s\"",
                     node->name, node->type, node->version, node->domain);
}

// What is known about a value before it is computed. The type of what a loop without turns gives has no other source.
static HoloTensor type_before(const Frame *frame, const HoloValue *value)
{
    HoloTensor t = value->type;
    t.data       = NULL;
    for (int d = 0; d < t.rank; d++)
        if (!holo_binding_number(&frame->binding, t.dim[d], &t.dim[d])) t.dim[d] = HOLO_DIM_UNKNOWN;
    return t;
}

// The output takes the block of input i, if nobody else reads that. False: it needs memory of its own.
static bool take_over(Frame *frame, const HoloNode *node, HoloCall *call, int i)
{
    if (i < 0 || !node->in[i] || node->out_count != 1 || !node->out[0]) return false;
    int from = node->in[i]->id, to = node->out[0]->id;
    if (!frame->block[from] || frame->uses[from] != 1 || frame->is_output[to]) return false;
    if (holo_tensor_bytes(call->in[i]) != holo_tensor_bytes(call->out[0])) return false;
    call->out[0]->data = call->in[i]->data;
    frame->block[to]   = frame->block[from];
    frame->block[from] = 0;
    return true;
}

// Which input an operator may write its output over; -1: none.
static int in_place(const Frame *frame, const HoloNode *node, const HoloCall *call)
{
    const HoloEvalOptions *options = frame->options;
    return options && options->in_place && node->out_count == 1 ? options->in_place(options->context, node, call) : -1;
}

static bool is_view(const HoloCall *call)
{
    if (!(call->op->flags & HOLO_OP_VIEW) || !call->in_count || !call->in[0] || !call->out[0]) return false;
    return call->in[0]->kind == HOLO_TENSOR && is_sized(call->out[0]);
}

// Infers, allocates and computes. Uses the frame's state of each value, if there is one.
static HoloStatus run_call(Frame *frame, const HoloNode *node, HoloCall *call)
{
    if (call->op->body && !call->op->eval) return eval_body(frame, node, call);
    HOLO_TRY(holo_op_infer(call));
    HOLO_TRY(holo_op_check_sized(call));
    if (frame->tensor && keeps_inputs(call)) {
        for (int i = 0; i < node->in_count; i++) {
            if (!node->in[i] || !frame->block[node->in[i]->id]) continue;
            HOLO_TRY(settle(frame, node->in[i], call->error));
        }
    }
    if (frame->tensor && is_view(call) && take_over(frame, node, call, 0)) return HOLO_OK; // the bytes are there
    if (frame->tensor && take_over(frame, node, call, in_place(frame, node, call))) return compute(frame, node, call);
    for (int i = 0; i < call->out_count; i++) {
        HoloTensor *t = call->out[i];
        if (!t || t->kind != HOLO_TENSOR || !is_sized(t)) continue;
        bool is_block = frame->tensor && !frame->is_output[node->out[i]->id];
        HOLO_TRY(allocate(frame, node, t, is_block ? &frame->block[node->out[i]->id] : NULL, call->error));
    }
    return compute(frame, node, call);
}

static HoloStatus eval_call(Frame *frame, const HoloNode *node, const HoloTensor *const *in, HoloTensor *const *out,
                            HoloError *error)
{
    const HoloOp *op = node->op ? node->op : holo_op_find(node->domain, node->type, node->version);
    if (!op) return no_operator(node, error);
    const HoloTensor unknown = {.rank = -1};
    HoloCall         call    = {
                   .op            = op,
                   .node          = node->name,
                   .version       = node->version,
                   .in_count      = node->in_count,
                   .out_count     = node->out_count,
                   .in            = in,
                   .out           = out,
                   .attr          = node->attr,
                   .attr_count    = node->attr_count,
                   .capture_count = node->capture_count,
                   .host          = &frame->host,
                   .error         = error,
    };
    for (int i = 0; i < node->out_count; i++)
        if (out[i]) *out[i] = op->flags & HOLO_OP_CONTROL && node->out[i] ? type_before(frame, node->out[i]) : unknown;
    HoloArenaMark mark = holo_arena_mark(&frame->temp);
    HOLO_TRY(run_call(frame, node, &call));
    HOLO_TRY(holo_call_continue(&call)); // what it gave may not be whole
    if (frame->options && frame->options->after) frame->options->after(frame->options->context, node, &call);
    holo_arena_reset(&frame->temp, mark);
    return HOLO_OK;
}

HoloStatus holo_node_eval(const HoloNode *node, const HoloTensor *const *in, HoloTensor *const *out, HoloArena *arena,
                          HoloError *error)
{
    Frame frame;
    frame_init(&frame, (Place){.arena = arena}, NULL, 0);
    HoloStatus status = eval_call(&frame, node, in, out, error);
    frame_deinit(&frame);
    return status;
}

// ---- a graph

static void release(Frame *frame, const HoloValue *value)
{
    int id = value->id;
    if (!frame->block[id]) return;
    holo_spares_give(&frame->spares, frame->tensor[id].data, frame->block[id]);
    frame->block[id]    = 0;
    frame->is_there[id] = false;
}

// Fills in the contents of a value that are known as expressions, with the numbers of this run.
static HoloStatus fill_symbolic(Frame *frame, const HoloValue *value, HoloError *error)
{
    HoloTensor *t = &frame->tensor[value->id];
    *t            = value->type;
    int64_t count = holo_tensor_count(t);
    size_t  size  = holo_tensor_bytes(t);
    if (count < 0 || !value->contents)
        return holo_fail(error, HOLO_INTERNAL, "value %s has neither producer nor contents", value->name);
    t->data = holo_arena_take(frame->arena, size ? size : 1);
    if (!t->data) return holo_fail_memory(error);
    for (int64_t i = 0; i < count; i++) {
        int64_t number;
        if (!holo_binding_number(&frame->binding, value->contents[i], &number))
            return holo_fail(error, HOLO_BAD_INPUT, "value %s: element %lld cannot be computed from the input sizes",
                             value->name, (long long)i);
        holo_put_i(t, i, number);
    }
    frame->is_there[value->id] = true;
    return HOLO_OK;
}

static HoloStatus node_inputs(Frame *frame, const HoloNode *node, const HoloTensor **in, HoloError *error)
{
    for (int i = 0; i < node->in_count; i++) {
        const HoloValue *value = node->in[i];
        in[i]                  = NULL;
        if (!value) continue;
        if (!frame->is_there[value->id] && !value->producer && !value->is_input)
            HOLO_TRY(fill_symbolic(frame, value, error));
        // If the caller leaves out an input of a function's body, it stays left out.
        if (frame->is_there[value->id])
            in[i] = &frame->tensor[value->id];
        else if (!value->is_input)
            return holo_fail(error, HOLO_INTERNAL, "node %s runs before its input %s is computed", node->name,
                             value->name);
    }
    return HOLO_OK;
}

static HoloStatus eval_node(Frame *frame, const HoloNode *node, HoloError *error)
{
    HoloArenaMark      mark = holo_arena_mark(&frame->temp);
    const HoloTensor **in   = HOLO_NEW(&frame->temp, const HoloTensor *, node->in_count);
    HoloTensor       **out  = HOLO_NEW(&frame->temp, HoloTensor *, node->out_count);
    if (!in || !out) return holo_fail_memory(error);
    HOLO_TRY(node_inputs(frame, node, in, error));
    for (int i = 0; i < node->out_count; i++)
        if (node->out[i]) out[i] = &frame->tensor[node->out[i]->id];
    HoloScope scope = {.what = "node", .name = node->name};
    holo_scope_enter(&scope);
    HoloStatus status = eval_call(frame, node, in, out, error);
    holo_scope_leave(&scope);
    if (status) return status;
    for (int i = 0; i < node->out_count; i++) {
        HoloValue *value = node->out[i];
        if (!value) continue;
        frame->is_there[value->id] = true;
        if (frame->uses[value->id] == 0) release(frame, value);
    }
    for (int i = 0; i < node->in_count; i++)
        if (node->in[i] && --frame->uses[node->in[i]->id] == 0) release(frame, node->in[i]);
    holo_arena_reset(&frame->temp, mark);
    return HOLO_OK;
}

// Are outputs given out as soon as they are computed?
static bool gives(const Frame *frame)
{
    return frame->options && frame->options->give && !frame->depth;
}

// Gives a value out as often as it is an output.
static HoloStatus give(Frame *frame, const HoloGraph *graph, const HoloValue *value, HoloError *error)
{
    const HoloEvalOptions *options = frame->options;
    for (int i = 0; i < graph->output_count; i++) {
        if (graph->outputs[i] != value) continue;
        HOLO_TRY(options->give(options->give_context, i, &frame->tensor[value->id], error));
        if (--frame->uses[value->id] == 0) release(frame, value);
    }
    return HOLO_OK;
}

static HoloStatus give_rest(Frame *frame, const HoloGraph *graph, HoloError *error)
{
    for (int i = 0; i < graph->output_count; i++) {
        const HoloValue *value = graph->outputs[i];
        if (value->producer) continue;
        if (!frame->is_there[value->id] && !value->is_input && !value->is_constant)
            HOLO_TRY(fill_symbolic(frame, value, error));
        if (!frame->is_there[value->id])
            return holo_fail(error, HOLO_INTERNAL, "output %s was not computed", value->name);
        HOLO_TRY(frame->options->give(frame->options->give_context, i, &frame->tensor[value->id], error));
    }
    return HOLO_OK;
}

// A constant without elements has no data, but operators take NULL for "not known".
static const uint64_t no_elements[2];

static HoloStatus frame_open(Frame *frame, const HoloGraph *graph, const HoloTensor *const *inputs, HoloArena *scratch,
                             HoloError *error)
{
    int n            = graph->value_count;
    frame->tensor    = HOLO_NEW(scratch, HoloTensor, n);
    frame->is_there  = HOLO_NEW(scratch, bool, n);
    frame->block     = HOLO_NEW(scratch, size_t, n);
    frame->is_output = HOLO_NEW(scratch, bool, n);
    frame->uses      = holo_graph_uses(graph, scratch);
    if (!frame->tensor || !frame->is_there || !frame->block || !frame->is_output || !frame->uses)
        return holo_fail_memory(error);
    for (int i = 0; i < n; i++) {
        const HoloValue *value = graph->values[i];
        if (!value->is_constant) continue;
        frame->tensor[i] = value->type;
        if (!value->type.data) frame->tensor[i].data = (void *)no_elements;
        frame->is_there[i] = true;
    }
    for (int i = 0; i < graph->input_count; i++) {
        int id = graph->inputs[i]->id;
        if (!inputs[i] && !graph->inputs[i]->fill) continue;
        if (inputs[i])
            frame->tensor[id] = *inputs[i];
        else
            HOLO_TRY(holo_graph_default(graph, inputs, i, scratch, &frame->tensor[id], error));
        if (!frame->tensor[id].data && holo_tensor_count(&frame->tensor[id]) == 0)
            frame->tensor[id].data = (void *)no_elements;
        frame->is_there[id] = true;
    }
    for (int i = 0; i < graph->output_count && !gives(frame); i++) frame->is_output[graph->outputs[i]->id] = true;
    return HOLO_OK;
}

static HoloStatus take_output(Frame *frame, const HoloValue *value, HoloTensor *out, HoloError *error)
{
    if (!frame->is_there[value->id]) {
        if (value->producer || value->is_input || value->is_constant)
            return holo_fail(error, HOLO_INTERNAL, "output %s was not computed", value->name);
        HOLO_TRY(fill_symbolic(frame, value, error));
    }
    *out = frame->tensor[value->id];
    // Copies what is not in the arena: an input or a constant, and whatever a list or strings may refer to.
    bool is_own = value->producer && out->kind == HOLO_TENSOR && out->dtype != HOLO_STRING;
    if (frame->shares && out->kind == HOLO_SEQUENCE && out->inner == HOLO_TENSOR) return HOLO_OK;
    return is_own ? HOLO_OK : holo_value_clone(&frame->host, out, out, error);
}

// Are there values made of sizes, or loops, which may have to give outputs of a known shape without a turn?
static bool needs_sizes(const HoloGraph *graph, int depth)
{
    for (int i = 0; i < graph->value_count; i++) {
        const HoloValue *value = graph->values[i];
        if (!value->producer && !value->is_constant && !value->is_input) return true;
    }
    for (int i = 0; i < graph->node_count && !depth; i++)
        if (graph->nodes[i]->op && graph->nodes[i]->op->flags & HOLO_OP_CONTROL) return true;
    return false;
}

static HoloStatus eval_graph(const HoloGraph *graph, const HoloTensor *const *inputs, int out_count,
                             HoloTensor *const *outputs, Place place, const HoloEvalOptions *options, int depth,
                             HoloError *error)
{
    Frame     frame;
    HoloArena scratch = {0};
    frame_init(&frame, place, options, depth);
    HoloStatus status = frame_open(&frame, graph, inputs, &scratch, error);
    if (!status && needs_sizes(graph, depth)) status = sizes_bind(&frame, graph, inputs, &scratch, error);
    for (int i = 0; i < graph->node_count && !status; i++) {
        if (options && options->at && !depth) *options->at = graph->nodes[i];
        status = eval_node(&frame, graph->nodes[i], error);
        for (int k = 0; k < graph->nodes[i]->out_count && gives(&frame) && !status; k++)
            if (graph->nodes[i]->out[k]) status = give(&frame, graph, graph->nodes[i]->out[k], error);
    }
    if (gives(&frame) && !status) status = give_rest(&frame, graph, error);
    for (int i = 0; i < out_count && !gives(&frame) && !status; i++)
        status = take_output(&frame, graph->outputs[i], outputs[i], error);
    for (int i = 0; i < graph->value_count && frame.block; i++) release(&frame, graph->values[i]);
    frame_deinit(&frame);
    holo_arena_deinit(&scratch);
    return status;
}

HoloStatus holo_graph_eval(const HoloGraph *graph, const HoloTensor *const *inputs, HoloTensor *outputs,
                           HoloArena *arena, const HoloEvalOptions *options, HoloError *error)
{
    HoloArena    scratch = {0};
    HoloTensor **out     = HOLO_NEW(&scratch, HoloTensor *, graph->output_count);
    if (!out) return holo_fail_memory(error);
    for (int i = 0; i < graph->output_count && outputs; i++) out[i] = &outputs[i];
    HoloStatus status = eval_graph(graph, inputs, graph->output_count, out, (Place){.arena = arena}, options, 0, error);
    holo_arena_deinit(&scratch);
    return status;
}
