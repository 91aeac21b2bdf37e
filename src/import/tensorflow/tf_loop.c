// tf_loop.c - loops and branches of TensorFlow, in both of its forms, as Loop and If.
//
// A loop's body is emitted at least twice. The first times are trials: they tell which values the body passes on
// unchanged (these are not carried from turn to turn, so that constants stay constants), which sizes change from turn to
// turn, and what is put into lists that were empty.
#include "import/tensorflow/tf_ops.h"

enum { TRIALS_MAX = 4 };

typedef struct LoopState {
    HoloFlowCall       *c;
    const HoloFlowLoop *loop;
    HoloFlowValue      *var;     // as the loop begins
    bool               *is_same; // by variable: the body passes it on
    HoloTensor         *type;    // of what is carried
    bool                has_changed;
} LoopState;

static bool is_carried(const LoopState *s, int i)
{
    return !s->is_same[i] && s->var[i].value != NULL;
}

// The variables as a body sees them: inputs of its own, or values from outside.
static void body_vars(LoopState *s, HoloEmit *body, HoloFlowValue *in)
{
    for (int i = 0; i < s->loop->count; i++) {
        in[i] = s->var[i];
        if (is_carried(s, i)) in[i].value = holo_emit_input(body, NULL, &s->type[i]);
    }
}

// What is in a list that was empty before the loop: zeros, as many as the list has room for.
static void begin_list(LoopState *s, int i, const HoloTensor *elements)
{
    HoloFlowCall *c     = s->c;
    HoloFlowList *list  = s->var[i].object;
    int64_t       zero  = 0;
    HoloValue    *count = list->count ? holo_flow_vector(c, list->count) : holo_emit_ints(c->e, &zero, 1);
    if (elements->rank < 1) return;
    HoloValue *shape = elements->rank == 1
                           ? count
                           : holo_flow_join(c, count, holo_emit_sizes(c->e, elements->dim + 1, elements->rank - 1));
    s->var[i].value  = holo_flow_filled(c, shape, holo_flow_zero(c, (HoloDtype)elements->dtype));
    if (!s->var[i].value) return;
    s->type[i]     = s->var[i].value->type;
    s->has_changed = true;
}

// Sizes that a turn changes are open.
static void compare(LoopState *s, int i, const HoloFlowValue *in, const HoloFlowValue *out)
{
    HoloTensor *type = &s->type[i];
    if (s->var[i].kind == HOLO_FLOW_LIST && !s->var[i].value) {
        if (out->value) begin_list(s, i, &out->value->type);
        return;
    }
    if (s->is_same[i] || !out->value || !in->value) return;
    if (out->value == in->value) {
        s->is_same[i] = s->has_changed = true;
        return;
    }
    const HoloTensor *now = &out->value->type;
    if (now->rank != type->rank && type->rank >= 0) {
        type->rank     = -1;
        s->has_changed = true;
    }
    for (int k = 0; k < type->rank; k++)
        if (type->dim[k] != now->dim[k] && type->dim[k] != HOLO_DIM_UNKNOWN) {
            type->dim[k]   = HOLO_DIM_UNKNOWN;
            s->has_changed = true;
        }
}

static void trial(LoopState *s, HoloFlowValue *in, HoloFlowValue *out)
{
    HoloEmit body;
    holo_emit_begin_body(&body, s->c->e, "trial");
    body_vars(s, &body, in);
    s->loop->next(s->loop->context, &body, in, out);
    if (!s->c->e->status) s->c->e->status = body.status;
    for (int i = 0; i < s->loop->count && !s->c->e->status; i++) compare(s, i, &in[i], &out[i]);
    holo_emit_end(&body);
}

static HoloValue *as_condition(HoloEmit *e, HoloFlowValue value)
{
    HoloValue *x = holo_emit_cast(e, value.value, HOLO_BOOL);
    return holo_emit_rank(x) > 0 ? holo_emit_reshape(e, x, NULL, 0) : x;
}

static void write_body(LoopState *s, HoloEmit *body, HoloFlowValue *in, HoloFlowValue *out)
{
    HoloTensor    index = {.dtype = HOLO_I64}, flag = {.dtype = HOLO_BOOL};
    HoloFlowValue condition = {0};
    holo_emit_input(body, NULL, &index);
    holo_emit_input(body, NULL, &flag);
    body_vars(s, body, in);
    s->loop->next(s->loop->context, body, in, out);
    s->loop->condition(s->loop->context, body, out, &condition);
    holo_emit_output(body, as_condition(body, condition), NULL);
    for (int i = 0; i < s->loop->count; i++)
        if (is_carried(s, i))
            holo_emit_output(body, holo_emit_cast(body, out[i].value, (HoloDtype)s->type[i].dtype), NULL);
}

static void write_loop(LoopState *s, HoloFlowValue *in, HoloFlowValue *out)
{
    HoloFlowCall *c         = s->c;
    int           count     = 0;
    HoloFlowValue condition = {0};
    HoloValue   **values    = HOLO_NEW(c->tf->arena, HoloValue *, s->loop->count + 2);
    HoloValue   **ends      = HOLO_NEW(c->tf->arena, HoloValue *, s->loop->count + 1);
    HoloEmit      body;
    if (!values || !ends) {
        holo_flow_fail(c, HOLO_NO_MEMORY, "there is no memory");
        return;
    }
    s->loop->condition(s->loop->context, c->e, s->var, &condition);
    values[1] = as_condition(c->e, condition);
    for (int i = 0; i < s->loop->count; i++)
        if (is_carried(s, i)) values[2 + count++] = s->var[i].value;
    holo_emit_begin_body(&body, c->e, "loop");
    write_body(s, &body, in, out);
    HoloEmitBody bodies[] = {{"body", &body}, {0}};
    holo_emit_control(c->e, "Loop", (HoloEmitIn){count + 2, values}, NULL, bodies, ends, count);
    holo_emit_end(&body);
    count = 0;
    for (int i = 0; i < s->loop->count; i++)
        if (is_carried(s, i)) s->var[i].value = ends[count++];
}

void holo_flow_loop(HoloFlowCall *c, const HoloFlowLoop *loop, HoloFlowValue *var)
{
    LoopState      s   = {.c = c, .loop = loop, .var = var, .has_changed = true};
    HoloFlowValue *in  = HOLO_NEW(c->tf->arena, HoloFlowValue, loop->count + 1);
    HoloFlowValue *out = HOLO_NEW(c->tf->arena, HoloFlowValue, loop->count + 1);
    s.is_same          = HOLO_NEW(c->tf->arena, bool, loop->count + 1);
    s.type             = HOLO_NEW(c->tf->arena, HoloTensor, loop->count + 1);
    if (!in || !out || !s.is_same || !s.type) {
        holo_flow_fail(c, HOLO_NO_MEMORY, "there is no memory");
        return;
    }
    for (int i = 0; i < loop->count; i++)
        if (var[i].value) {
            s.type[i]      = var[i].value->type;
            s.type[i].data = NULL;
        }
    for (int i = 0; i < TRIALS_MAX && s.has_changed && !c->e->status; i++) {
        s.has_changed = false;
        trial(&s, in, out);
    }
    if (!c->e->status) write_loop(&s, in, out);
}

// ---- branches

static bool emit_branch(HoloFlowCall *c, const HoloFlowBranch *branch, HoloEmit *body, bool which, HoloFlowValue *out)
{
    branch->branch(branch->context, body, which, out);
    for (int i = 0; i < branch->count && !body->status; i++) {
        if (!out[i].value) {
            if (!c->e->status) holo_flow_fail(c, HOLO_UNSUPPORTED, "a branch gives no tensor");
            return false;
        }
        holo_emit_output(body, out[i].value, NULL);
    }
    return true;
}

void holo_flow_branch(HoloFlowCall *c, HoloValue *condition, const HoloFlowBranch *branch, HoloFlowValue *out)
{
    double     known;
    HoloValue *values[64];
    if (holo_emit_known_number(c->e, condition, &known)) {
        branch->branch(branch->context, c->e, known != 0, out);
        return;
    }
    if (branch->count > HOLO_COUNT(values)) {
        holo_flow_fail(c, HOLO_UNSUPPORTED, "a branch has more than %d outputs", HOLO_COUNT(values));
        return;
    }
    HoloEmit yes, no;
    condition = as_condition(c->e, (HoloFlowValue){HOLO_FLOW_TENSOR, condition, NULL});
    holo_emit_begin_body(&yes, c->e, "then");
    bool right = emit_branch(c, branch, &yes, true, out);
    holo_emit_begin_body(&no, c->e, "else");
    if (right && !yes.status) emit_branch(c, branch, &no, false, out);
    HoloEmitBody bodies[] = {{"then_branch", &yes}, {"else_branch", &no}, {0}};
    holo_emit_control(c->e, "If", HOLO_IN(condition), NULL, bodies, values, branch->count);
    for (int i = 0; i < branch->count; i++) out[i].value = values[i];
    holo_emit_end(&yes);
    holo_emit_end(&no);
}
