// body.h - subgraphs as control flow runs them.
#ifndef HOLO_OPS_BODY_H
#define HOLO_OPS_BODY_H

#include "ops/value.h"

// A subgraph ready to be run many times: its formal inputs in[0..formal-1], for the caller to point
// to values, are followed by what it captures. result[] is what the last run gave; the next run may read it.
typedef struct HoloBody {
    const HoloCall    *call;
    void              *graph;
    int                formal, in_count, out_count;
    const HoloTensor **in;
    HoloTensor        *result, **out;
} HoloBody;

// Fails where the subgraph has other than `formal` inputs of its own, or fewer than `out_count` outputs.
HOLO_MUST HoloStatus holo_body_init(HoloBody *body, const HoloCall *call, const char *attr, int formal, int out_count);
// The same with as many inputs and outputs as the subgraph has.
HOLO_MUST HoloStatus holo_body_open(HoloBody *body, const HoloCall *call, const char *attr);
HOLO_MUST HoloStatus holo_body_run(HoloBody *body);

// What outputs of control flow are is known from their bodies, which an operator does not see: types
// that the graph has found stay, but no memory is planned for the outputs.
HOLO_MUST HoloStatus holo_infer_control(HoloCall *call);

// Output i is a copy of `value`, as a subgraph gave it.
HOLO_MUST HoloStatus holo_out_result(HoloCall *call, int i, const HoloTensor *value);
// Output i is what the steps gave, joined along a new axis; of size 0 in it where there was none.
HOLO_MUST HoloStatus holo_out_steps(HoloCall *call, int i, const HoloStack *steps, int64_t axis, bool reverse);

#endif
