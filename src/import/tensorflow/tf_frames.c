// tf_frames.c - loops and branches made of Enter, Merge, Switch and Exit.
//
// A loop is a frame: its variables come in by Enter, begin a turn at Merge, leave by Exit or go on through Switch, and
// come back by NextIteration. A branch is what lies between Switches of one condition and a Merge.
#include "import/tensorflow/tf_ops.h"

// ---- finding loops

static HoloString frame_name(HoloFlow *tf, const HoloFlowNode *node)
{
    HoloFlowCall c = {.tf = tf, .e = &tf->emit, .scope = NULL, .node = node, .op = node->row};
    return holo_flow_string(&c, "frame_name", "");
}

static HoloFlowFrame *frame_of(HoloFlow *tf, HoloFlowNodes *nodes, HoloString name)
{
    for (HoloFlowFrame *f = nodes->frames; f; f = f->following)
        if (f->name.size == name.size && !memcmp(f->name.data, name.data, name.size)) return f;
    HoloFlowFrame *f = HOLO_NEW(tf->arena, HoloFlowFrame, 1);
    if (!f) return NULL;
    *f            = (HoloFlowFrame){.following = nodes->frames, .name = name};
    nodes->frames = f;
    return f;
}

static const HoloFlowNode *input_node(const HoloFlowNodes *nodes, const HoloFlowNode *node, int i)
{
    return i < node->in_count ? holo_name_map_find(&nodes->names, holo_flow_ref(node->in[i]).node) : NULL;
}

// Forms for references (RefEnter) are the same.
static bool is_op(const HoloFlowNode *node, const char *op)
{
    if (!node) return false;
    bool is_ref = node->op.size > 3 && !memcmp(node->op.data, "Ref", 3);
    return holo_flow_is(is_ref ? (HoloString){node->op.data + 3, node->op.size - 3} : node->op, op);
}

// Merge of an Enter and a NextIteration: a variable of a loop.
static HoloStatus add_var(HoloFlow *tf, HoloFlowNodes *nodes, const HoloFlowNode *merge)
{
    HoloFlowLoopVar var = {.merge = merge};
    for (int i = 0; i < merge->in_count; i++) {
        const HoloFlowNode *in = input_node(nodes, merge, i);
        if (is_op(in, "Enter")) var.enter = in;
        if (is_op(in, "NextIteration")) var.next = in;
    }
    if (!var.enter || !var.next) return HOLO_OK;
    HoloFlowFrame *f = frame_of(tf, nodes, frame_name(tf, var.enter));
    if (!f || !HOLO_GROW(tf->arena, f->var, f->var_count, f->var_room)) return holo_fail_memory(tf->error);
    f->var[f->var_count++] = var;
    return HOLO_OK;
}

static HoloFlowLoopVar *var_of(HoloFlowNodes *nodes, const HoloFlowNode *merge, HoloFlowFrame **out_frame)
{
    for (HoloFlowFrame *f = nodes->frames; f; f = f->following)
        for (int i = 0; i < f->var_count; i++)
            if (f->var[i].merge == merge) {
                *out_frame = f;
                return &f->var[i];
            }
    return NULL;
}

HoloStatus holo_flow_find_frames(HoloFlow *tf, HoloFlowNodes *nodes)
{
    HoloFlowFrame *frame;
    for (int i = 0; i < nodes->count; i++)
        if (is_op(&nodes->node[i], "Merge")) HOLO_TRY(add_var(tf, nodes, &nodes->node[i]));
    if (!nodes->frames) return HOLO_OK;
    for (int i = 0; i < nodes->count; i++) {
        const HoloFlowNode *node = &nodes->node[i], *gate = is_op(node, "Exit") ? input_node(nodes, node, 0) : node;
        if (!is_op(gate, "Switch") || !var_of(nodes, input_node(nodes, gate, 0), &frame)) continue;
        if (is_op(node, "Exit")) var_of(nodes, input_node(nodes, gate, 0), &frame)->exit = node;
        if (is_op(input_node(nodes, gate, 1), "LoopCond")) frame->condition = input_node(nodes, gate, 1);
    }
    return HOLO_OK;
}

// ---- loops

typedef struct Turns {
    HoloFlowScope *scope;
    HoloFlowFrame *frame;
} Turns;

// A scope in which the variables of the loop have these values.
static bool turn_scope(Turns *t, HoloEmit *e, const HoloFlowValue *var, HoloFlowScope *out)
{
    *out                  = *t->scope;
    out->outer            = t->scope;
    out->frame            = t->frame;
    HoloStatus     status = holo_flow_scope_init(t->scope->tf, out, t->scope->nodes, e);
    HoloFlowValue *list   = HOLO_NEW(t->scope->tf->arena, HoloFlowValue, t->frame->var_count + 1);
    if (status || !list) {
        if (!e->status) e->status = holo_fail_memory(t->scope->tf->error);
        return false;
    }
    for (int i = 0; i < t->frame->var_count; i++) {
        int merge             = t->frame->var[i].merge->index;
        list[i]               = var[i];
        out->out[merge]       = &list[i];
        out->out_count[merge] = 1;
        out->state[merge]     = 2;
    }
    return true;
}

static void frame_condition(void *context, HoloEmit *e, const HoloFlowValue *var, HoloFlowValue *out)
{
    Turns        *t = context;
    HoloFlowScope scope;
    if (!e->status && turn_scope(t, e, var, &scope)) *out = holo_flow_value(&scope, t->frame->condition->in[0]);
}

static void frame_next(void *context, HoloEmit *e, const HoloFlowValue *var, HoloFlowValue *out)
{
    Turns        *t = context;
    HoloFlowScope scope;
    if (e->status || !turn_scope(t, e, var, &scope)) return;
    for (int i = 0; i < t->frame->var_count; i++) out[i] = holo_flow_value(&scope, t->frame->var[i].next->in[0]);
}

// The whole loop, when the first of its results is wanted.
static void exit_loop(HoloFlowCall *c)
{
    HoloFlowFrame      *frame = NULL;
    const HoloFlowNode *gate  = input_node(c->scope->nodes, c->node, 0);
    HoloFlowLoopVar    *found =
        gate ? var_of((HoloFlowNodes *)c->scope->nodes, input_node(c->scope->nodes, gate, 0), &frame) : NULL;
    if (!found || !frame->condition || !frame->condition->in_count) {
        holo_flow_fail(c, HOLO_BAD_MODEL, "this Exit belongs to no loop");
        return;
    }
    Turns          turns = {c->scope, frame};
    HoloFlowLoop   loop  = {frame->var_count, frame_condition, frame_next, &turns};
    HoloFlowValue *var   = HOLO_NEW(c->tf->arena, HoloFlowValue, frame->var_count + 1);
    if (!var) return;
    for (int i = 0; i < frame->var_count; i++) {
        if (!frame->var[i].next->in_count || !frame->var[i].enter->in_count) {
            holo_flow_fail(c, HOLO_BAD_MODEL, "a variable of the loop has no value");
            return;
        }
        var[i] = holo_flow_value(c->scope, frame->var[i].enter->in[0]);
    }
    if (!c->e->status) holo_flow_loop(c, &loop, var);
    for (int i = 0; i < frame->var_count; i++) {
        const HoloFlowNode *exit = frame->var[i].exit;
        if (!exit) continue;
        if (exit == c->node) {
            holo_flow_out_value(c, 0, var[i]);
            continue;
        }
        c->scope->out[exit->index]       = &var[i];
        c->scope->out_count[exit->index] = 1;
        c->scope->state[exit->index]     = 2;
    }
}

// What comes into the frame is computed around it.
static void enter(HoloFlowCall *c)
{
    HoloFlowScope *s = c->scope;
    if (!c->node->in_count) return;
    while (s->outer && !s->frame) s = s->outer;
    holo_flow_out_value(c, 0, holo_flow_value(s->outer ? s->outer : s, c->node->in[0]));
}

static void pass(HoloFlowCall *c)
{
    if (c->in_count) holo_flow_out_value(c, 0, c->in[0]);
}

// ---- branches

typedef struct Search {
    const HoloFlowNodes *nodes;
    uint8_t             *seen;
    int                  depth;
} Search;

typedef struct Gate {
    const HoloFlowNode *node; // a Switch; NULL: none was found
    bool                which;
} Gate;

static Gate find_gate(Search *s, HoloString ref);

// The Switch behind an inner Merge: what is before that lies outside of the inner branch.
static Gate skip_merge(Search *s, const HoloFlowNode *merge)
{
    for (int i = 0; i < merge->in_count; i++) {
        Gate inner = find_gate(s, merge->in[i]);
        if (!inner.node || !inner.node->in_count) continue;
        Gate outer = find_gate(s, inner.node->in[0]);
        if (outer.node) return outer;
    }
    return (Gate){0};
}

// The nearest Switch that a value comes through.
static Gate find_gate(Search *s, HoloString ref)
{
    HoloFlowRef         cut  = holo_flow_ref(ref);
    const HoloFlowNode *node = holo_name_map_find(&s->nodes->names, cut.node);
    Gate                gate = {0};
    if (!node || s->seen[node->index] || s->depth > 2000) return gate;
    if (is_op(node, "Switch")) {
        if (is_op(input_node(s->nodes, node, 1), "LoopCond")) return gate;
        return (Gate){node, cut.index == 1 || holo_flow_is(cut.out, "output_true")};
    }
    s->seen[node->index] = 1;
    s->depth++;
    if (is_op(node, "Merge")) gate = skip_merge(s, node);
    for (int i = 0; i < node->in_count && !gate.node && !is_op(node, "Merge"); i++) gate = find_gate(s, node->in[i]);
    for (int i = 0; i < node->control_count && !gate.node; i++) gate = find_gate(s, node->control[i]);
    s->depth--;
    return gate;
}

typedef struct Merging {
    HoloFlowScope      *scope;
    const HoloFlowNode *node, *gate;
    int                 at[2]; // inputs of the Merge: of the branch that is taken if the condition is false, or true
} Merging;

static void merge_branch(void *context, HoloEmit *e, bool which, HoloFlowValue *out)
{
    Merging      *m     = context;
    HoloFlowScope inner = *m->scope;
    inner.outer         = m->scope;
    inner.frame         = NULL;
    inner.pred          = m->gate;
    inner.branch        = which;
    if (e->status) return;
    if (holo_flow_scope_init(m->scope->tf, &inner, m->scope->nodes, e)) {
        e->status = HOLO_NO_MEMORY;
        return;
    }
    *out = holo_flow_value(&inner, m->node->in[m->at[which]]);
}

static void merge(HoloFlowCall *c)
{
    Merging m = {.scope = c->scope, .node = c->node, .at = {-1, -1}};
    for (int i = 0; i < c->node->in_count && i < 2; i++) {
        Search s    = {.nodes = c->scope->nodes, .seen = HOLO_NEW(c->tf->arena, uint8_t, c->scope->nodes->count + 1)};
        Gate   gate = s.seen ? find_gate(&s, c->node->in[i]) : (Gate){0};
        if (!gate.node) continue;
        m.gate           = gate.node;
        m.at[gate.which] = i;
    }
    if (m.at[0] >= 0 && m.at[1] < 0) m.at[1] = 1 - m.at[0];
    if (m.at[1] >= 0 && m.at[0] < 0) m.at[0] = 1 - m.at[1];
    if (!m.gate || c->node->in_count != 2 || m.gate->in_count < 2) {
        holo_flow_fail(c, HOLO_UNSUPPORTED, "the Switch of this Merge was not found");
        return;
    }
    HoloFlowValue  condition = holo_flow_value(c->scope, m.gate->in[1]), out = {HOLO_FLOW_TENSOR, NULL, NULL};
    HoloFlowBranch branch = {1, merge_branch, &m};
    if (!c->e->status) holo_flow_branch(c, condition.value, &branch, &out);
    holo_flow_out_value(c, 0, out);
    holo_flow_out(c, 1,
                  holo_emit(c->e, "Where",
                            HOLO_IN(condition.value, holo_emit_number(c->e, HOLO_I32, m.at[1]),
                                    holo_emit_number(c->e, HOLO_I32, m.at[0])),
                            NULL));
}

// In a loop, and in the branch that is taken, a Switch passes its input on.
static void switch_(HoloFlowCall *c)
{
    HoloFlowScope *s     = c->scope;
    HoloFlowValue  value = {0};
    if (c->node->in_count < 2) return;
    if (is_op(input_node(s->nodes, c->node, 1), "LoopCond")) {
        value = holo_flow_value(s, c->node->in[0]);
    } else {
        HoloString condition = c->node->in[1];
        while (s && !(s->pred && s->pred->in[1].size == condition.size &&
                      !memcmp(s->pred->in[1].data, condition.data, condition.size)))
            s = s->outer;
        if (!s) {
            holo_flow_fail(c, HOLO_UNSUPPORTED, "a Switch without a Merge behind it is not supported");
            return;
        }
        value = holo_flow_value(s->outer, c->node->in[0]);
    }
    holo_flow_out_value(c, 0, value);
    holo_flow_out_value(c, 1, value);
}

// ---- functions

typedef struct Called { // a loop or branch whose parts are functions
    HoloFlowCall     *c;
    HoloFlowCallProto one, other;
    HoloFlowValue    *arg;
    int               arg_count, out_count;
} Called;

static int call_in(Called *k, HoloEmit *e, const HoloFlowCallProto *f, const HoloFlowValue *arg, HoloFlowValue *out,
                   int room)
{
    HoloFlowScope scope = *k->c->scope;
    const char   *saved = e->node;
    scope.e             = e;
    if (e->status) return 0;
    e->node   = k->c->e->node;
    int count = holo_flow_call(&scope, f->name, f->attr, arg, k->arg_count, out, room);
    e->node   = saved;
    return count;
}

static void while_condition(void *context, HoloEmit *e, const HoloFlowValue *var, HoloFlowValue *out)
{
    Called *k = context;
    call_in(k, e, &k->one, var, out, 1);
}

static void while_next(void *context, HoloEmit *e, const HoloFlowValue *var, HoloFlowValue *out)
{
    Called *k = context;
    call_in(k, e, &k->other, var, out, k->arg_count);
}

static void while_(HoloFlowCall *c)
{
    Called         k    = {.c = c, .arg_count = c->in_count};
    HoloFlowValue *var  = HOLO_NEW(c->tf->arena, HoloFlowValue, c->in_count + 1);
    HoloFlowLoop   loop = {c->in_count, while_condition, while_next, &k};
    if (!var || !holo_flow_func(c, "cond", &k.one) || !holo_flow_func(c, "body", &k.other)) {
        if (!c->e->status) holo_flow_fail(c, HOLO_BAD_MODEL, "the loop has no condition or no body");
        return;
    }
    memcpy(var, c->in, (size_t)c->in_count * sizeof *var);
    holo_flow_loop(c, &loop, var);
    for (int i = 0; i < c->in_count; i++) holo_flow_out_value(c, i, var[i]);
}

static void if_branch(void *context, HoloEmit *e, bool which, HoloFlowValue *out)
{
    Called *k = context;
    call_in(k, e, which ? &k->one : &k->other, k->arg, out, k->out_count);
}

static int returns(HoloFlowCall *c, HoloString name)
{
    HoloFlowFunction *f = holo_flow_function(c->tf, name, &c->e->status);
    if (!f && !c->e->status) holo_flow_fail(c, HOLO_BAD_MODEL, "there is no function '%.*s'", HOLO_IMPORT_ARG(name));
    return f ? f->ret_count : 0;
}

static void if_(HoloFlowCall *c)
{
    Called         k      = {.c = c, .arg = c->in + 1, .arg_count = c->in_count - 1};
    HoloFlowBranch branch = {0, if_branch, &k};
    if (!holo_flow_func(c, "then_branch", &k.one) || !holo_flow_func(c, "else_branch", &k.other)) {
        if (!c->e->status) holo_flow_fail(c, HOLO_BAD_MODEL, "a branch is missing");
        return;
    }
    branch.count = k.out_count = returns(c, k.one.name);
    HoloFlowValue *out         = HOLO_NEW(c->tf->arena, HoloFlowValue, branch.count + 1);
    HoloValue     *condition   = holo_flow_in(c, 0);
    if (!out || c->e->status) return;
    holo_flow_branch(c, condition, &branch, out);
    for (int i = 0; i < branch.count; i++) holo_flow_out_value(c, i, out[i]);
}

// One of several functions, by a number: an If in an If. A number that is none of them means the last.
enum { CASES_MAX = 64 };

typedef struct Cases {
    Called            k;
    HoloFlowCallProto branch[CASES_MAX];
    int               at, count;
} Cases;

static void case_at(Cases *s, HoloFlowCall *c, HoloFlowValue *out);

static void case_branch(void *context, HoloEmit *e, bool which, HoloFlowValue *out)
{
    Cases        *s     = context;
    HoloFlowCall  inner = *s->k.c;
    HoloFlowScope scope = *inner.scope;
    if (which || s->at + 1 == s->count) {
        call_in(&s->k, e, &s->branch[s->at], s->k.arg, out, s->k.out_count);
        return;
    }
    scope.e     = e;
    inner.e     = e;
    inner.scope = &scope;
    s->at++;
    case_at(s, &inner, out);
    s->at--;
}

static void case_at(Cases *s, HoloFlowCall *c, HoloFlowValue *out)
{
    HoloFlowBranch branch = {s->k.out_count, case_branch, s};
    HoloValue     *number = holo_emit_cast(c->e, holo_flow_in(c, 0), HOLO_I64);
    if (s->at + 1 == s->count)
        case_branch(s, c->e, true, out);
    else
        holo_flow_branch(c, holo_flow_two(c, "Equal", number, holo_emit_int(c->e, s->at)), &branch, out);
}

static void case_(HoloFlowCall *c)
{
    Cases *s = HOLO_NEW(c->tf->arena, Cases, 1);
    if (!s) return holo_flow_fail(c, HOLO_NO_MEMORY, "there is no memory");
    s->k     = (Called){.c = c, .arg = c->in + 1, .arg_count = c->in_count - 1};
    s->count = holo_flow_funcs(c, "branches", s->branch, CASES_MAX);
    if (c->e->status) return;
    if (s->count < 1 || s->count > CASES_MAX || !c->in_count)
        return holo_flow_fail(c, HOLO_UNSUPPORTED, "it should have 1 to %d branches", CASES_MAX);
    s->k.out_count     = returns(c, s->branch[0].name);
    HoloFlowValue *out = HOLO_NEW(c->tf->arena, HoloFlowValue, s->k.out_count + 1);
    if (!out || c->e->status) return;
    case_at(s, c, out);
    for (int i = 0; i < s->k.out_count; i++) holo_flow_out_value(c, i, out[i]);
}

static void call(HoloFlowCall *c)
{
    Called k = {.c = c, .arg_count = c->in_count};
    if (!holo_flow_func(c, "f", &k.one)) {
        if (!c->e->status) holo_flow_fail(c, HOLO_BAD_MODEL, "it does not say what it calls");
        return;
    }
    int            count = returns(c, k.one.name);
    HoloFlowValue *out   = HOLO_NEW(c->tf->arena, HoloFlowValue, count + 1);
    if (!out || c->e->status) return;
    call_in(&k, c->e, &k.one, c->in, out, count);
    for (int i = 0; i < count; i++) holo_flow_out_value(c, i, out[i]);
}

// clang-format off
const HoloFlowOp holo_flow_ops_control[] = {
    {"Enter", enter, .flags = HOLO_FLOW_LAZY}, {"RefEnter", enter, .flags = HOLO_FLOW_LAZY},
    {"Exit", exit_loop, .flags = HOLO_FLOW_LAZY}, {"RefExit", exit_loop, .flags = HOLO_FLOW_LAZY},
    {"Merge", merge, .outs = "output value_index", .flags = HOLO_FLOW_LAZY}, {"RefMerge", merge, .outs = "output value_index", .flags = HOLO_FLOW_LAZY},
    {"Switch", switch_, .outs = "output_false output_true", .flags = HOLO_FLOW_LAZY},
    {"RefSwitch", switch_, .outs = "output_false output_true", .flags = HOLO_FLOW_LAZY},
    {"NextIteration", pass}, {"RefNextIteration", pass}, {"LoopCond", pass},
    {"While", while_}, {"StatelessWhile", while_}, {"If", if_}, {"StatelessIf", if_},
    {"Case", case_}, {"StatelessCase", case_},
    {"PartitionedCall", call}, {"StatefulPartitionedCall", call}, {"TPUPartitionedCall", call},
    {0},
};
