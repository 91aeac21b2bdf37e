// state.c - StateRead and StateWrite of domain hologram: what a model keeps from run to run, read and replaced as a whole.
//
// StateRead copies a state as it was when the run began. StateWrite(state, new, before) gives `new`; `before`, the copy, is
// there so that it is read before it is changed. Both are functions of their inputs; that a plan changes the state in place
// is a matter of the plan.
#include "ops/op.h"

#include <string.h>

static HoloStatus read_eval(HoloCall *call)
{
    const HoloTensor *state = call->in[0];
    if (call->out[0] && holo_tensor_bytes(state)) memcpy(call->out[0]->data, state->data, holo_tensor_bytes(state));
    return HOLO_OK;
}

static HoloStatus write_infer(HoloCall *call)
{
    const HoloTensor *state = call->in[0];
    for (int i = 1; i < call->in_count; i++) {
        const HoloTensor *t    = call->in[i];
        bool              same = t && t->dtype == state->dtype && t->rank == state->rank;
        for (int d = 0; same && d < t->rank; d++) same = !holo_dims_differ(t->dim[d], state->dim[d]);
        if (!same)
            return holo_call_fail(call, HOLO_BAD_MODEL, "what is written has another type or size than the state");
    }
    return holo_infer_same(call);
}

static HoloStatus write_eval(HoloCall *call)
{
    const HoloTensor *state = call->in[0], *fresh = call->in[1];
    if (!call->out[0] || !holo_tensor_bytes(state)) return HOLO_OK;
    if (holo_tensor_bytes(fresh) != holo_tensor_bytes(state))
        return holo_call_fail(call, HOLO_BAD_INPUT, "what is written has another size than the state");
    memcpy(call->out[0]->data, fresh->data, holo_tensor_bytes(state));
    return HOLO_OK;
}

#define TYPES (HOLO_TYPES_ALL & ~HOLO_BIT(STRING))

const HoloOp holo_ops_state[] = {
    {.name    = "StateRead",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = TYPES,
     .infer   = holo_infer_same,
     .eval    = read_eval},
    {.name    = "StateWrite",
     .domain  = "hologram",
     .since   = 1,
     .in_min  = 3,
     .in_max  = 3,
     .out_min = 1,
     .out_max = 1,
     .types   = TYPES,
     .flags   = HOLO_OP_UPDATES | HOLO_OP_TYPED,
     .infer   = write_infer,
     .eval    = write_eval},
    {0},
};
