// control.c - If, Loop and SequenceMap: the operators that run subgraphs. Scan is in scan.c.
#include "ops/body.h"

// The truth of a tensor of one bool.
static HoloStatus find_truth(const HoloCall *call, const HoloTensor *t, bool *out)
{
    if (t->kind != HOLO_TENSOR || t->dtype != HOLO_BOOL || holo_tensor_count(t) != 1)
        return holo_call_fail(call, HOLO_BAD_INPUT, "the condition is not one bool");
    *out = holo_get_i(t, 0) != 0;
    return HOLO_OK;
}

// ---- If

static HoloStatus eval_if(HoloCall *call)
{
    bool     is_true = false;
    HoloBody body;
    HOLO_TRY(find_truth(call, call->in[0], &is_true));
    HOLO_TRY(holo_body_init(&body, call, is_true ? "then_branch" : "else_branch", 0, call->out_count));
    HOLO_TRY(holo_body_run(&body));
    for (int i = 0; i < call->out_count; i++) HOLO_TRY(holo_out_result(call, i, &body.result[i]));
    return HOLO_OK;
}

// ---- Loop

// The number of trips allowed, and whether the first trip is made.
static HoloStatus find_trips(const HoloCall *call, int64_t *trips, bool *go)
{
    int               given = call->in_count - call->capture_count;
    const HoloTensor *m = given > 0 ? call->in[0] : NULL, *condition = given > 1 ? call->in[1] : NULL;
    *trips = INT64_MAX;
    *go    = true;
    if (m) {
        HOLO_TRY(holo_expect_types(call, 0, HOLO_TYPES_INDEX));
        HOLO_TRY(holo_expect_kind(call, 0, HOLO_TENSOR));
        if (holo_tensor_count(m) != 1) return holo_call_fail(call, HOLO_BAD_INPUT, "the trip count is not one number");
        *trips = holo_get_i(m, 0);
    }
    return condition ? find_truth(call, condition, go) : HOLO_OK;
}

// The body's inputs are the number of the trip, the condition and the state; its outputs, the
// condition, the state and what is collected.
static HoloStatus run_trips(HoloBody *body, int states, HoloTensor *state, HoloStack *collected)
{
    const HoloCall *call = body->call;
    int64_t         trips, trip;
    bool            go;
    HOLO_TRY(find_trips(call, &trips, &go));
    uint8_t    going  = 1;
    HoloTensor number = {.dtype = HOLO_I64, .data = &trip}, condition = {.dtype = HOLO_BOOL, .data = &going};
    body->in[0] = &number;
    body->in[1] = &condition;
    for (int i = 0; i < states; i++) body->in[2 + i] = &state[i];
    for (trip = 0; trip < trips && go; trip++) {
        HOLO_TRY(holo_body_run(body));
        HOLO_TRY(find_truth(call, &body->result[0], &go));
        for (int i = 0; i < states; i++) state[i] = body->result[1 + i];
        for (int i = states; i < call->out_count; i++)
            if (call->out[i]) HOLO_TRY(holo_stack_add(call, &collected[i - states], &body->result[1 + i]));
    }
    return HOLO_OK;
}

static HoloStatus eval_loop(HoloCall *call)
{
    int given  = call->in_count - call->capture_count;
    int states = given > 2 ? given - 2 : 0;
    if (call->out_count < states)
        return holo_call_fail(call, HOLO_BAD_MODEL, "has %d outputs for %d values carried", call->out_count, states);
    HoloBody body;
    void    *state_memory, *stack_memory;
    HOLO_TRY(holo_body_init(&body, call, "body", 2 + states, 1 + call->out_count));
    HOLO_TRY(holo_call_temp(call, (size_t)states, sizeof(HoloTensor), &state_memory));
    HOLO_TRY(holo_call_temp(call, (size_t)(call->out_count - states), sizeof(HoloStack), &stack_memory));
    HoloTensor *state     = state_memory;
    HoloStack  *collected = stack_memory;
    for (int i = 0; i < states; i++) {
        if (!call->in[2 + i]) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", 2 + i);
        state[i] = *call->in[2 + i];
    }
    HOLO_TRY(run_trips(&body, states, state, collected));
    for (int i = 0; i < states; i++) HOLO_TRY(holo_out_result(call, i, &state[i]));
    for (int i = states; i < call->out_count; i++) HOLO_TRY(holo_out_steps(call, i, &collected[i - states], 0, false));
    return HOLO_OK;
}

// ---- SequenceMap

static HoloStatus check_lengths(const HoloCall *call, int inputs)
{
    HOLO_TRY(holo_expect_kind(call, 0, HOLO_SEQUENCE));
    for (int i = 0; i < inputs; i++) {
        const HoloTensor *t = call->in[i];
        if (!t) return holo_call_fail(call, HOLO_BAD_MODEL, "input %d is missing", i);
        if (t->kind == HOLO_SEQUENCE && t->dim[0] != call->in[0]->dim[0])
            return holo_call_fail(call, HOLO_BAD_INPUT, "the sequences have %lld and %lld elements",
                                  (long long)call->in[0]->dim[0], (long long)t->dim[0]);
    }
    return HOLO_OK;
}

// An input that is a tensor is passed to the subgraph for every element.
static HoloStatus map_element(HoloBody *body, int inputs, int64_t k)
{
    for (int i = 0; i < inputs; i++) {
        const HoloTensor *t = body->call->in[i];
        body->in[i]         = t->kind == HOLO_SEQUENCE ? (const HoloTensor *)t->data + k : t;
    }
    return holo_body_run(body);
}

static HoloStatus eval_map(HoloCall *call)
{
    int      inputs = call->in_count - call->capture_count;
    HoloBody body;
    void    *memory;
    HOLO_TRY(check_lengths(call, inputs));
    HOLO_TRY(holo_body_init(&body, call, "body", inputs, call->out_count));
    HOLO_TRY(holo_call_temp(call, (size_t)call->out_count, sizeof(HoloTensor *), &memory));
    HoloTensor **items = memory;
    int64_t      count = call->in[0]->dim[0];
    for (int i = 0; i < call->out_count; i++) {
        HoloDtype dtype = call->out[i] && call->out[i]->dtype ? (HoloDtype)call->out[i]->dtype : HOLO_F32;
        if (call->out[i]) HOLO_TRY(holo_out_list(call, i, HOLO_SEQUENCE, HOLO_TENSOR, dtype, count, &items[i]));
    }
    for (int64_t k = 0; k < count; k++) {
        HOLO_TRY(map_element(&body, inputs, k));
        for (int i = 0; i < call->out_count; i++) {
            if (!call->out[i]) continue;
            HOLO_TRY(holo_value_clone(call->host, &body.result[i], &items[i][k], call->error));
            call->out[i]->dtype = items[i][k].dtype;
            call->out[i]->inner = items[i][k].kind;
        }
    }
    return HOLO_OK;
}

#define CONTROL(NAME, SINCE, INPUTS, EVAL, IN_MAX, TYPES)                                                            \
    {                                                                                                                \
        .name = NAME, .domain = "", .since = SINCE, .in_min = INPUTS, .in_max = IN_MAX, .out_min = 0, .out_max = -1, \
        .types = TYPES, .flags = HOLO_OP_CONTROL, .infer = holo_infer_control, .eval = EVAL                          \
    }

const HoloOp holo_ops_control[] = {
    CONTROL("If", 1, 1, eval_if, 1, HOLO_BIT(BOOL)),
    CONTROL("Loop", 1, 0, eval_loop, -1, 0),
    CONTROL("SequenceMap", 17, 1, eval_map, -1, 0),
    {0},
};
