// graph_control.c - types of nodes with subgraphs: If, Loop, Scan, SequenceMap, FlexAttention. graph_generate.c has
// those of searches (GreedySearch ...).
//
// The inputs of a subgraph are its own, followed by what the node captures, in the node's order. What a loop carries
// must have one type before and after the body: sizes that differ become symbols of their own, ranks that differ become
// unknown.
#include "graph/infer.h"
#include "ops/value.h"

#include <string.h>

static const HoloTensor unknown_type = {.rank = -1};

static const HoloAttr *attr_find(const HoloNode *node, const char *name, int32_t kind)
{
    for (int i = 0; i < node->attr_count; i++)
        if (!strcmp(node->attr[i].name, name) && node->attr[i].kind == kind) return &node->attr[i];
    return NULL;
}

// The subgraph of that name, which must take `own` inputs before the captured ones.
static HoloStatus find_body(const HoloInfer *infer, const HoloNode *node, const char *name, int own, HoloGraph **out)
{
    const HoloAttr *attr = attr_find(node, name, HOLO_ATTR_GRAPH);
    if (!attr)
        return holo_fail(infer->error, HOLO_BAD_MODEL, "node %s (%s): attribute %s is missing", node->name, node->type,
                         name);
    *out = attr->graph;
    if ((*out)->input_count != own + node->capture_count)
        return holo_fail(infer->error, HOLO_BAD_MODEL, "node %s (%s): %s has %d inputs, expected %d", node->name,
                         node->type, name, (*out)->input_count - node->capture_count, own);
    return HOLO_OK;
}

static void set_input(HoloValue *input, const HoloTensor *type)
{
    input->type      = *type;
    input->type.data = NULL;
    input->contents  = NULL;
}

static const HoloTensor *type_of(const HoloValue *value)
{
    return value ? &value->type : &unknown_type;
}

void holo_infer_captures(const HoloNode *node, HoloGraph *body)
{
    for (int i = 0; i < node->capture_count; i++) {
        const HoloValue *value = node->in[node->in_count - node->capture_count + i];
        HoloValue       *input = body->inputs[body->input_count - node->capture_count + i];
        set_input(input, type_of(value));
        input->contents = value ? value->contents : NULL;
    }
}

// The first element of a value, if it is known.
static HoloDim first_of(const HoloValue *value)
{
    return value && value->contents && holo_tensor_count(&value->type) > 0 ? value->contents[0] : HOLO_DIM_UNKNOWN;
}

// The most specific type that fits both.
static HoloTensor merge(const HoloTensor *a, const HoloTensor *b)
{
    HoloTensor t = *a;
    t.data       = NULL;
    if (t.dtype == HOLO_NONE) t.dtype = b->dtype;
    if (a->rank != b->rank || a->kind != b->kind) t.rank = -1;
    for (int i = 0; i < t.rank; i++)
        if (a->dim[i] != b->dim[i]) t.dim[i] = HOLO_DIM_UNKNOWN;
    if (t.rank >= 0 && t.kind == HOLO_SEQUENCE) t.dim[1] = holo_items_both(a->dim[1], b->dim[1]);
    return t;
}

static void set_out(HoloInfer *infer, const HoloNode *node, int i, const HoloTensor *type)
{
    if (i < node->out_count && node->out[i]) holo_infer_set_type(infer, node->out[i], type);
}

static HoloStatus expect_dtype(const HoloInfer *infer, const HoloNode *node, const HoloTensor *a, const HoloTensor *b)
{
    if (a->dtype == b->dtype || a->dtype == HOLO_NONE || b->dtype == HOLO_NONE) return HOLO_OK;
    return holo_fail(infer->error, HOLO_BAD_MODEL, "node %s (%s): a result is %s by one way and %s by another",
                     node->name, node->type, holo_dtype_name(a->dtype), holo_dtype_name(b->dtype));
}

// ---- If

// A branch that fails gives nothing. Where nothing is known about what it would give, the If gives what the other branch
// gives: all of the type, or some sizes.
static HoloTensor merge_branches(const HoloDims *dims, const HoloTensor *const *types, const bool *is_right)
{
    HoloTensor t = merge(types[0], types[1]);
    for (int i = 0; i < 2; i++) {
        const HoloTensor *wrong = types[i], *other = types[!i];
        if (is_right[i]) continue;
        if (wrong->rank < 0) return *other;
        for (int d = 0; d < t.rank; d++)
            if (wrong->dim[d] == HOLO_DIM_UNKNOWN || holo_dim_is_fresh(dims, wrong->dim[d])) t.dim[d] = other->dim[d];
    }
    return t;
}

static HoloStatus infer_if(HoloInfer *infer, HoloNode *node)
{
    static const char *const names[2] = {"else_branch", "then_branch"};
    HoloGraph               *branch[2];
    HoloDim                  condition  = node->in_count ? first_of(node->in[0]) : HOLO_DIM_UNKNOWN;
    bool                     is_decided = !holo_dim_is_symbolic(condition), is_right[2];
    HoloError                why[2]     = {{0}};
    for (int i = 0; i < 2; i++) {
        HOLO_TRY(find_body(infer, node, names[i], 0, &branch[i]));
        if (branch[i]->output_count < node->out_count)
            return holo_fail(infer->error, HOLO_BAD_MODEL, "node %s (If): %s has %d outputs, expected %d", node->name,
                             names[i], branch[i]->output_count, node->out_count);
    }
    // A branch that is never taken may be invalid for the current sizes. It is inferred if the other one is wrong: the
    // node may be planned all the same, as part of a branch that fails when it runs.
    int first = is_decided && condition != 0;
    for (int k = 0; k < 2; k++) {
        int i = k ? !first : first;
        if (is_decided && k && !why[first].status) continue;
        holo_infer_captures(node, branch[i]);
        HOLO_TRY(holo_infer_branch(branch[i], infer->depth + 1, &why[i], infer->error));
    }
    for (int i = 0; i < 2; i++) is_right[i] = !why[i].status;
    if (is_decided ? !is_right[condition != 0] : !is_right[0] && !is_right[1])
        return holo_fail(infer->error, HOLO_BAD_MODEL, "%s", why[is_decided ? condition != 0 : 0].text);
    for (int i = 0; i < node->out_count; i++) {
        const HoloTensor *types[2] = {&branch[0]->outputs[i]->type, &branch[1]->outputs[i]->type};
        HoloTensor        t = is_decided ? *types[condition != 0] : merge_branches(infer->graph->dims, types, is_right);
        if (!is_decided) HOLO_TRY(expect_dtype(infer, node, types[0], types[1]));
        set_out(infer, node, i, &t);
    }
    return HOLO_OK;
}

// ---- what loops carry

typedef struct Carried {
    HoloTensor type;
    bool       is_wide[HOLO_MAX_RANK]; // the size changes from one turn to the next
} Carried;

// Merges the type at the beginning of a turn of the body with the type at its end. True: they were the same.
static bool carry(HoloInfer *infer, Carried *carried, const HoloTensor *after)
{
    HoloTensor before = carried->type, t = merge(&before, after);
    bool       is_sequence = t.kind == HOLO_SEQUENCE;
    bool       same        = t.rank == before.rank && (!is_sequence || t.dim[1] == before.dim[1]);
    for (int i = 0; i < t.rank; i++) {
        if (t.dim[i] != HOLO_DIM_UNKNOWN) continue;
        if (carried->is_wide[i]) {
            t.dim[i] = before.dim[i];
            continue;
        }
        t.dim[i]            = holo_dims_fresh(infer->graph->dims, "u");
        carried->is_wide[i] = true;
        same                = false;
    }
    carried->type = t;
    return same;
}

// Infers the body until the carried types are stable: inputs `from`... of the body against its outputs `out_from`....
// After a few tries, or at once if it is deep inside other loops, the carried values get an unknown rank. That is
// stable, so the work is bounded.
static HoloStatus infer_carrying(HoloInfer *infer, const HoloNode *node, HoloGraph *body, Carried *carried, int count,
                                 int from, int out_from)
{
    enum { TRIES = 4, DEEP = 4 };
    bool is_stable = false;
    for (int turn = infer->depth < DEEP ? 0 : TRIES; !is_stable; turn++) {
        for (int i = 0; i < count; i++) {
            if (turn >= TRIES && carried[i].type.kind == HOLO_TENSOR) carried[i].type.rank = -1;
            if (turn >= TRIES && carried[i].type.kind == HOLO_SEQUENCE) carried[i].type.dim[1] = HOLO_ITEMS_ANY;
            set_input(body->inputs[from + i], &carried[i].type);
        }
        HOLO_TRY(holo_infer_graph(body, infer->depth + 1, infer->error));
        is_stable = true;
        for (int i = 0; i < count; i++) {
            const HoloTensor *after = &body->outputs[out_from + i]->type;
            HOLO_TRY(expect_dtype(infer, node, &carried[i].type, after));
            if (!carry(infer, &carried[i], after) && turn < TRIES) is_stable = false;
        }
    }
    return HOLO_OK;
}

static Carried *carried_types(HoloInfer *infer, const HoloNode *node, int from, int count)
{
    Carried *carried = HOLO_NEW(infer->scratch, Carried, count);
    for (int i = 0; i < count && carried; i++) carried[i].type = *type_of(node->in[from + i]);
    return carried;
}

// The type after the loop. A size that changes inside is another size outside, and a value that begins as an optional
// may end as what the optional holds.
static void set_carried_out(HoloInfer *infer, const HoloNode *node, int i, const Carried *carried,
                            const HoloTensor *after)
{
    HoloTensor t = carried->type.kind == after->kind ? carried->type : *after;
    for (int k = 0; k < t.rank; k++)
        if (carried->is_wide[k]) t.dim[k] = HOLO_DIM_UNKNOWN;
    set_out(infer, node, i, &t);
}

// `type` with a dimension of `size` inserted at `axis`.
static HoloTensor stacked(const HoloTensor *type, int64_t axis, HoloDim size)
{
    HoloTensor t = *type;
    if (axis < 0) axis += t.rank + 1;
    if (t.rank < 0 || t.rank == HOLO_MAX_RANK || axis < 0 || axis > t.rank || t.kind != HOLO_TENSOR) {
        t.rank = -1;
        return t;
    }
    memmove(&t.dim[axis + 1], &t.dim[axis], (size_t)(t.rank - axis) * sizeof t.dim[0]);
    t.dim[axis] = size;
    t.rank++;
    return t;
}

// ---- Loop

// Is the condition at the end of a turn known to be true, or the one at its beginning?
static bool never_ends_early(const HoloGraph *body)
{
    const HoloValue *value = body->outputs[0];
    for (int i = 0; i < HOLO_INFER_DEPTH_MAX && value->producer; i++) {
        if (!HOLO_IS(value->producer, Identity) && !HOLO_IS(value->producer, Unsqueeze)) break;
        value = value->producer->in[0];
    }
    return value == body->inputs[1] || first_of(value) == 1;
}

static HoloDim trip_count(HoloInfer *infer, const HoloNode *node, const HoloGraph *body)
{
    int  own    = node->in_count - node->capture_count;
    bool begins = own < 2 || !node->in[1] || first_of(node->in[1]) == 1;
    return begins && own > 0 && never_ends_early(body) ? holo_dim_max(infer->graph->dims, first_of(node->in[0]), 0)
                                                       : HOLO_DIM_UNKNOWN;
}

static HoloStatus infer_loop(HoloInfer *infer, HoloNode *node)
{
    HoloGraph *body;
    int        own = node->in_count - node->capture_count, count = own > 2 ? own - 2 : 0; // M and cond may be left out
    HOLO_TRY(find_body(infer, node, "body", count + 2, &body));
    if (body->output_count < count + 1)
        return holo_fail(infer->error, HOLO_BAD_MODEL, "node %s (Loop): the body has %d outputs, expected at least %d",
                         node->name, body->output_count, count + 1);
    Carried *carried = carried_types(infer, node, 2, count);
    if (!carried) return holo_fail_memory(infer->error);
    set_input(body->inputs[0], &(HoloTensor){.dtype = HOLO_I64});
    set_input(body->inputs[1], &(HoloTensor){.dtype = HOLO_BOOL});
    holo_infer_captures(node, body);
    HOLO_TRY(infer_carrying(infer, node, body, carried, count, 2, 1));
    HoloDim trips = trip_count(infer, node, body);
    for (int i = 0; i < count; i++) set_carried_out(infer, node, i, &carried[i], &body->outputs[i + 1]->type);
    for (int i = count; i < node->out_count && i + 1 < body->output_count; i++) {
        HoloTensor t = stacked(&body->outputs[i + 1]->type, 0, trips);
        set_out(infer, node, i, &t);
    }
    return HOLO_OK;
}

// ---- Scan, of version 9 and later

static int64_t axis_of(const HoloNode *node, const char *name, int i)
{
    const HoloAttr *attr = attr_find(node, name, HOLO_ATTR_INTS);
    return attr && i < attr->count ? attr->ints[i] : 0;
}

// `type` without the dimension `axis`, whose size is given out.
static HoloTensor unstacked(const HoloTensor *type, int64_t axis, HoloDim *out_size)
{
    HoloTensor t = *type;
    *out_size    = HOLO_DIM_UNKNOWN;
    if (axis < 0) axis += t.rank;
    if (t.rank < 0 || axis < 0 || axis >= t.rank || t.kind != HOLO_TENSOR) {
        t.rank = -1;
        return t;
    }
    *out_size = t.dim[axis];
    memmove(&t.dim[axis], &t.dim[axis + 1], (size_t)(t.rank - axis - 1) * sizeof t.dim[0]);
    t.rank--;
    return t;
}

static HoloStatus infer_scan(HoloInfer *infer, HoloNode *node)
{
    const HoloAttr *attr = attr_find(node, "num_scan_inputs", HOLO_ATTR_INT);
    int             own  = node->in_count - node->capture_count;
    HoloGraph      *body;
    HoloDim         turns = HOLO_DIM_UNKNOWN, size;
    if (!attr || attr->i < 0 || attr->i > own)
        return holo_fail(infer->error, HOLO_BAD_MODEL, "node %s (Scan): num_scan_inputs does not fit its %d inputs",
                         node->name, own);
    HOLO_TRY(find_body(infer, node, "body", own, &body));
    int count = own - (int)attr->i;
    if (body->output_count < count)
        return holo_fail(infer->error, HOLO_BAD_MODEL, "node %s (Scan): the body has %d outputs, expected at least %d",
                         node->name, body->output_count, count);
    Carried *carried = carried_types(infer, node, 0, count);
    if (!carried) return holo_fail_memory(infer->error);
    for (int i = count; i < own; i++) {
        HoloTensor t = unstacked(type_of(node->in[i]), axis_of(node, "scan_input_axes", i - count), &size);
        set_input(body->inputs[i], &t);
        if (turns == HOLO_DIM_UNKNOWN || !holo_dim_is_symbolic(size)) turns = size;
    }
    holo_infer_captures(node, body);
    HOLO_TRY(infer_carrying(infer, node, body, carried, count, 0, 0));
    for (int i = 0; i < count; i++) set_carried_out(infer, node, i, &carried[i], &body->outputs[i]->type);
    for (int i = count; i < node->out_count && i < body->output_count; i++) {
        HoloTensor t = stacked(&body->outputs[i]->type, axis_of(node, "scan_output_axes", i - count), turns);
        set_out(infer, node, i, &t);
    }
    return HOLO_OK;
}

// ---- SequenceMap

static HoloStatus infer_sequence_map(HoloInfer *infer, HoloNode *node)
{
    HoloGraph *body;
    int        own = node->in_count - node->capture_count;
    HOLO_TRY(find_body(infer, node, "body", own, &body));
    for (int i = 0; i < own; i++) {
        HoloTensor t = *type_of(node->in[i]);
        if (t.kind == HOLO_SEQUENCE)
            t = t.inner == HOLO_MAP ? (HoloTensor){.dtype = t.dtype, .kind = HOLO_MAP, .rank = 1, .dim = {2}}
                                    : (HoloTensor){.dtype = t.dtype, .rank = -1};
        set_input(body->inputs[i], &t);
    }
    holo_infer_captures(node, body);
    HOLO_TRY(holo_infer_graph(body, infer->depth + 1, infer->error));
    for (int i = 0; i < node->out_count && i < body->output_count; i++) {
        HoloTensor t = {.dtype = body->outputs[i]->type.dtype,
                        .kind  = HOLO_SEQUENCE,
                        .inner = body->outputs[i]->type.kind,
                        .rank  = 1,
                        .dim   = {HOLO_DIM_UNKNOWN, holo_items_of(&body->outputs[i]->type)}};
        set_out(infer, node, i, &t);
    }
    return HOLO_OK;
}

// ---- FlexAttention

// Both subgraphs change the scores of every query with every key, in the type in which softmax is computed.
static HoloTensor scores_type(const HoloNode *node, const HoloTensor *q, const HoloTensor *k)
{
    const HoloAttr *precision = attr_find(node, "softmax_precision", HOLO_ATTR_INT);
    int64_t         dtype     = precision ? precision->i : q->dtype == HOLO_F64 ? HOLO_F64 : HOLO_F32;
    if (dtype <= 0 || dtype >= HOLO_DTYPE_COUNT) return unknown_type;
    return (HoloTensor){.dtype = (uint8_t)dtype, .rank = 4, .dim = {q->dim[0], q->dim[1], q->dim[2], k->dim[2]}};
}

static HoloStatus infer_flex_attention(HoloInfer *infer, HoloNode *node)
{
    static const char *const names[] = {"score_mod", "prob_mod"};
    HoloTensor               scores  = unknown_type;
    if (node->in_count - node->capture_count != 3)
        return holo_fail(infer->error, HOLO_BAD_MODEL, "node %s (%s): has %d inputs, expected 3", node->name,
                         node->type, node->in_count - node->capture_count);
    const HoloTensor *q = type_of(node->in[0]), *k = type_of(node->in[1]);
    if (holo_infer_is_open(node))
        set_out(infer, node, 0, &unknown_type);
    else
        HOLO_TRY(holo_infer_call(infer, node, infer->scratch));
    if (q->rank == 4 && k->rank == 4 && q->dtype != HOLO_NONE) scores = scores_type(node, q, k);
    for (int i = 0; i < HOLO_COUNT(names); i++) {
        HoloGraph *body;
        if (!attr_find(node, names[i], HOLO_ATTR_GRAPH)) continue;
        HOLO_TRY(find_body(infer, node, names[i], 1, &body));
        set_input(body->inputs[0], &scores);
        holo_infer_captures(node, body);
        HOLO_TRY(holo_infer_graph(body, infer->depth + 1, infer->error));
    }
    return HOLO_OK;
}

// ---- any node

// Nothing is known about other nodes, except what their subgraphs capture.
static HoloStatus infer_other(HoloInfer *infer, HoloNode *node)
{
    for (int i = 0; i < node->attr_count; i++) {
        HoloGraph *body = node->attr[i].kind == HOLO_ATTR_GRAPH ? node->attr[i].graph : NULL;
        if (!body) continue;
        for (int k = 0; k < body->input_count - node->capture_count; k++) set_input(body->inputs[k], &unknown_type);
        holo_infer_captures(node, body);
        HOLO_TRY(holo_infer_graph(body, infer->depth + 1, infer->error));
    }
    for (int i = 0; i < node->out_count; i++) set_out(infer, node, i, &unknown_type);
    return HOLO_OK;
}

// ---- the operators with graphs

typedef struct Control {
    HoloOpId id;
    int      since;
    HoloStatus (*infer)(HoloInfer *infer, HoloNode *node);
    const char *bodies[2]; // its graphs; none: it may have any
} Control;

static const Control *control_of(const HoloNode *node)
{
    static const Control rows[] = {
        {HOLO_ID_If, 1, infer_if, {"then_branch", "else_branch"}},
        {HOLO_ID_Loop, 1, infer_loop, {"body"}},
        {HOLO_ID_Scan, 9, infer_scan, {"body"}},
        {HOLO_ID_SequenceMap, 1, infer_sequence_map, {"body"}},
        {HOLO_ID_PREVIEW_FlexAttention, 1, infer_flex_attention, {"score_mod", "prob_mod"}},
        {HOLO_ID_MICROSOFT_GreedySearch, 1, holo_search_infer, {NULL}},
        {HOLO_ID_MICROSOFT_Sampling, 1, holo_search_infer, {NULL}},
        {HOLO_ID_MICROSOFT_BeamSearch, 1, holo_search_infer, {NULL}},
        {HOLO_ID_MICROSOFT_WhisperBeamSearch, 1, holo_search_infer, {NULL}},
    };
    for (int i = 0; i < HOLO_COUNT(rows); i++)
        if (rows[i].id == node->op_id && node->version >= rows[i].since) return &rows[i];
    return NULL;
}

// A graph that the operator does not have, or has twice, would not be inferred, and yet be planned.
HoloStatus holo_infer_bodies_check(const HoloInfer *infer, const HoloNode *node)
{
    bool           is_control = node->op && node->op->flags & HOLO_OP_CONTROL;
    const Control *control    = is_control ? control_of(node) : NULL;
    if (!node->op || (is_control && (!control || !control->bodies[0]))) return HOLO_OK;
    for (int i = 0; i < node->attr_count; i++) {
        const HoloAttr *attr   = &node->attr[i];
        bool            is_own = attr->kind != HOLO_ATTR_GRAPH && attr->kind != HOLO_ATTR_GRAPHS;
        for (int b = 0; control && b < 2 && control->bodies[b]; b++)
            is_own |= attr_find(node, control->bodies[b], HOLO_ATTR_GRAPH) == attr;
        if (!is_own)
            return holo_fail(infer->error, HOLO_BAD_MODEL, "node %s (%s): has no use for a graph '%s'", node->name,
                             node->type, attr->name);
    }
    return HOLO_OK;
}

HoloStatus holo_control_infer(HoloInfer *infer, HoloNode *node)
{
    const Control *control = control_of(node);
    return control ? control->infer(infer, node) : infer_other(infer, node);
}
