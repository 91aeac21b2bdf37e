// tflite_control.c - operators with subgraphs. What is called becomes part of the graph; branches and loops become bodies.
#include "import/tflite/tflite.h"
#include "import/tflite/tflite_emit.h"

#include <string.h>

// The values from input `from` on, as a list; resources have none.
static HoloValue **arguments(HoloTfOp *op, int from, int *out_count)
{
    int         count = (int)op->in.count - from;
    HoloValue **in    = HOLO_NEW(op->im->import->arena, HoloValue *, count + 1);
    *out_count        = count;
    for (int i = 0; in && i < count; i++) {
        const HoloTfTensor *t = holo_tf_tensor_in(op, from + i);
        in[i]                 = t && t->dtype != HOLO_NONE ? holo_tf_in(op, from + i) : NULL;
    }
    if (!in && !op->e->status) op->e->status = holo_fail_memory(op->im->import->error);
    return in;
}

static HoloValue **results(HoloTfOp *op, int count)
{
    HoloValue **out = HOLO_NEW(op->im->import->arena, HoloValue *, count + 1);
    if (!out && !op->e->status) op->e->status = holo_fail_memory(op->im->import->error);
    return out;
}

static void call(HoloTfOp *op, int64_t subgraph, bool is_once)
{
    int         count, out_count = (int)op->out.count;
    HoloValue **in = arguments(op, 0, &count), **out = results(op, out_count);
    if (op->e->status) return;
    HoloStatus status = holo_tf_inline(op, subgraph, op->e, in, count, out, out_count, is_once);
    if (!op->e->status) op->e->status = status;
    for (int i = 0; i < out_count && !op->e->status; i++) holo_tf_give(op, i, out[i]);
}

void holo_tf_call(HoloTfOp *op)
{
    call(op, holo_flat_u32(op->options, CALL_SUBGRAPH, 0), false);
}

void holo_tf_call_once(HoloTfOp *op)
{
    call(op, holo_flat_i32(op->options, ONCE_SUBGRAPH, 0), true);
}

void holo_tf_composite(HoloTfOp *op)
{
    call(op, holo_flat_i32(op->options, HLO_COMPOSITE_SUBGRAPH, 0), false);
}

// ---- branches

// Begins a body inside of `e`, which is this subgraph.
static void branch(HoloTfOp *op, HoloEmit *e, HoloEmit *body, int64_t subgraph, int from)
{
    int         count, out_count = (int)op->out.count;
    HoloValue **in = arguments(op, from, &count), **out = results(op, out_count);
    holo_emit_begin_body(body, e, op->e->node);
    if (op->e->status || body->status) return;
    HoloStatus status = holo_tf_inline(op, subgraph, body, in, count, out, out_count, false);
    if (!body->status) body->status = status;
    for (int i = 0; i < out_count; i++) holo_emit_output(body, out[i], NULL);
}

// If on a condition; the results of its two bodies, which are there already.
static void choose(HoloTfOp *op, HoloEmit *e, HoloValue *condition, HoloEmit *yes, HoloEmit *no, HoloValue **out)
{
    HoloEmitBody list[] = {{"then_branch", yes}, {"else_branch", no}, {NULL, NULL}};
    if (!e->status && out) holo_emit_control(e, "If", HOLO_IN(condition), NULL, list, out, (int)op->out.count);
    holo_emit_end(yes);
    holo_emit_end(no);
}

static void give_all(HoloTfOp *op, HoloValue **out)
{
    for (size_t i = 0; i < op->out.count && !op->e->status && out; i++) holo_tf_give(op, (int)i, out[i]);
}

void holo_tf_if(HoloTfOp *op)
{
    HoloValue *condition = holo_tf_in(op, 0);
    if (!condition) return;
    condition = holo_emit_cast(op->e, condition, HOLO_BOOL);
    if (condition && condition->type.rank > 0) condition = holo_emit_reshape(op->e, condition, NULL, 0);
    HoloEmit    bodies[2];
    HoloValue **out = results(op, (int)op->out.count);
    branch(op, op->e, &bodies[0], holo_flat_i32(op->options, IF_THEN, -1), 1);
    branch(op, op->e, &bodies[1], holo_flat_i32(op->options, IF_ELSE, -1), 1);
    choose(op, op->e, condition, &bodies[0], &bodies[1], out);
    give_all(op, out);
}

// ---- loops

typedef struct LoopBody {
    HoloTfOp   *op;
    int64_t     condition, body;
    HoloValue **start; // what it carries
    int         count;
    bool       *is_open; // by carried value: its sizes change
} LoopBody;

static HoloValue *condition_emit(const LoopBody *l, HoloEmit *e, HoloValue *const *in)
{
    HoloValue *out    = NULL;
    HoloStatus status = holo_tf_inline(l->op, l->condition, e, in, l->count, &out, 1, false);
    if (!e->status) e->status = status;
    out = out ? holo_emit_cast(e, out, HOLO_BOOL) : NULL;
    return out && out->type.rank > 0 ? holo_emit_reshape(e, out, NULL, 0) : out;
}

// A body of Loop: the number of the turn, the condition, what is carried; gives the condition and what is carried. False:
// the size of something changes from turn to turn, and was not known to do so.
static bool body_emit(LoopBody *l, HoloEmit *body)
{
    HoloTensor  number = {.dtype = HOLO_I64}, truth = {.dtype = HOLO_BOOL};
    HoloValue **in = results(l->op, l->count), **out = results(l->op, l->count);
    bool        same = true;
    holo_emit_begin_body(body, l->op->e, l->op->e->node);
    if (!in || !out || body->status) return true;
    holo_emit_input(body, "turn", &number);
    holo_emit_input(body, "goes_on", &truth);
    for (int i = 0; i < l->count && !body->status; i++) {
        if (!l->start[i]) continue;
        HoloTensor type = l->start[i]->type;
        type.data       = NULL;
        for (int d = 0; l->is_open[i] && d < type.rank; d++) type.dim[d] = HOLO_DIM_UNKNOWN;
        in[i] = holo_emit_input(body, l->start[i]->name, &type);
    }
    HoloStatus status =
        body->status ? body->status : holo_tf_inline(l->op, l->body, body, in, l->count, out, l->count, false);
    if (!body->status) body->status = status;
    holo_emit_output(body, body->status ? NULL : condition_emit(l, body, out), NULL);
    for (int i = 0; i < l->count && !body->status; i++) {
        if (!in[i]) continue;
        bool equal = in[i]->type.rank == out[i]->type.rank;
        for (int d = 0; equal && d < in[i]->type.rank; d++) equal = in[i]->type.dim[d] == out[i]->type.dim[d];
        same          = same && (equal || l->is_open[i]);
        l->is_open[i] = l->is_open[i] || !equal;
        holo_emit_output(body, out[i], NULL);
    }
    return same || body->status;
}

static void loop(HoloTfOp *op, int64_t condition, int64_t body_graph)
{
    LoopBody l = {.op = op, .condition = condition, .body = body_graph};
    HoloEmit body;
    int      given = 0;
    l.start        = arguments(op, 0, &l.count);
    l.is_open      = HOLO_NEW(op->im->import->arena, bool, l.count + 1);
    HoloValue **in = results(op, l.count + 2), **out = results(op, l.count);
    if (op->e->status || !l.is_open) return;
    HoloValue *first = condition_emit(&l, op->e, l.start);
    bool       done  = body_emit(&l, &body);
    if (!done) {
        holo_emit_end(&body);
        body_emit(&l, &body);
    }
    in[0] = NULL;
    in[1] = first;
    for (int i = 0; i < l.count; i++)
        if (l.start[i]) in[2 + given++] = l.start[i];
    HoloEmitBody list[] = {{"body", &body}, {NULL, NULL}};
    if (!op->e->status) holo_emit_control(op->e, "Loop", (HoloEmitIn){2 + given, in}, NULL, list, out, given);
    given = 0;
    for (int i = 0; i < l.count && (size_t)i < op->out.count && !op->e->status; i++)
        if (l.start[i]) holo_tf_give(op, i, out[given++]);
    holo_emit_end(&body);
}

void holo_tf_while(HoloTfOp *op)
{
    loop(op, holo_flat_i32(op->options, WHILE_CONDITION, -1), holo_flat_i32(op->options, WHILE_BODY, -1));
}

// The branches from `first` on, as one If inside of another; the last is for all numbers that name none.
static void cases(HoloTfOp *op, HoloEmit *e, HoloValue *which, HoloFlatList list, size_t first, HoloValue **out)
{
    HoloEmit    bodies[2];
    HoloValue **inner = results(op, (int)op->out.count);
    HoloValue  *is_it = holo_emit(e, "Equal", HOLO_IN(which, holo_emit_int(e, (int64_t)first)), NULL);
    branch(op, e, &bodies[0], holo_flat_list_i32(list, first), 1);
    if (first + 2 >= list.count)
        branch(op, e, &bodies[1], holo_flat_list_i32(list, list.count - 1), 1);
    else {
        holo_emit_begin_body(&bodies[1], e, op->e->node);
        cases(op, &bodies[1], which, list, first + 1, inner);
        for (size_t i = 0; i < op->out.count && inner; i++) holo_emit_output(&bodies[1], inner[i], NULL);
    }
    choose(op, e, is_it, &bodies[0], &bodies[1], out);
}

// One of several branches, by number; numbers that name none mean the last.
void holo_tf_case(HoloTfOp *op)
{
    HoloFlatList list  = holo_flat_list(op->options, HLO_CASE_BRANCHES, 4);
    HoloValue   *which = holo_tf_i64(op, 0), **out = results(op, (int)op->out.count);
    if (!which || !list.count || !out) return;
    if (which->type.rank > 0) which = holo_emit_reshape(op->e, which, NULL, 0);
    if (list.count > HOLO_TF_DEPTH_MAX)
        return (void)holo_tf_fail(op, "it has %zu branches; at most %d are supported", list.count, HOLO_TF_DEPTH_MAX);
    cases(op, op->e, which, list, 0, out);
    give_all(op, out);
}
