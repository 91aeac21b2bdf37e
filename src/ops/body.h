// body.h - subgraphs as control flow runs them.
#ifndef HOLO_OPS_BODY_H
#define HOLO_OPS_BODY_H

#include "ops/value.h"

// A subgraph that is ready to run many times. Its own inputs are in[0..formal-1], which the caller points to values;
// what it captures follows. result[] is what the last run gave, and the next run may read it.
typedef struct HoloBody {
    const HoloCall    *call;
    void              *graph;
    int                formal, in_count, out_count;
    const HoloTensor **in;
    HoloTensor        *result, **out;
} HoloBody;

// Fails if the subgraph does not have `formal` inputs of its own, or has fewer than `out_count` outputs.
HOLO_MUST HoloStatus holo_body_init(HoloBody *body, const HoloCall *call, const char *attr, int formal, int out_count);
// The same with as many inputs and outputs as the subgraph has.
HOLO_MUST HoloStatus holo_body_open(HoloBody *body, const HoloCall *call, const char *attr);
HOLO_MUST HoloStatus holo_body_run(HoloBody *body);

// The types of outputs of control flow follow from the bodies, which an operator does not see. Types that the graph has
// found stay, but no memory is planned for the outputs.
HOLO_MUST HoloStatus holo_infer_control(HoloCall *call);

// Makes output i a copy of `value`, which a subgraph gave.
HOLO_MUST HoloStatus holo_out_result(HoloCall *call, int i, const HoloTensor *value);
// Makes output i of what the steps gave, joined along a new axis; its size is 0 if there were none.
HOLO_MUST HoloStatus holo_out_steps(HoloCall *call, int i, const HoloStack *steps, int64_t axis, bool reverse);

#endif
