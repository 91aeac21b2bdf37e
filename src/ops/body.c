// body.c - runs subgraphs and collects their results. See body.h.
#include "ops/body.h"

HoloStatus holo_body_init(HoloBody *body, const HoloCall *call, const char *attr, int formal, int out_count)
{
    const HoloAttr *graph = holo_attr_find(call, attr);
    if (!graph || graph->kind != HOLO_ATTR_GRAPH)
        return holo_call_fail(call, HOLO_BAD_MODEL, "attribute %s, a graph, must be given", attr);
    void *in, *result, *out;
    int   inputs, outputs;
    call->host->counts(call->host, graph->graph, &inputs, &outputs);
    if (inputs != formal + call->capture_count || outputs < out_count)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%s has %d inputs and %d outputs, where %d and %d are used", attr,
                              inputs - call->capture_count, outputs, formal, out_count);
    HOLO_TRY(holo_call_temp(call, (size_t)(formal + call->capture_count), sizeof *body->in, &in));
    HOLO_TRY(holo_call_temp(call, (size_t)out_count, sizeof *body->result, &result));
    HOLO_TRY(holo_call_temp(call, (size_t)out_count, sizeof *body->out, &out));
    *body = (HoloBody){call, graph->graph, formal, formal + call->capture_count, out_count, in, result, out};
    for (int i = 0; i < call->capture_count; i++)
        body->in[formal + i] = call->in[call->in_count - call->capture_count + i];
    for (int i = 0; i < out_count; i++) body->out[i] = &body->result[i];
    return HOLO_OK;
}

HoloStatus holo_body_open(HoloBody *body, const HoloCall *call, const char *attr)
{
    const HoloAttr *graph = holo_attr_find(call, attr);
    int             inputs, outputs;
    if (!graph || graph->kind != HOLO_ATTR_GRAPH)
        return holo_call_fail(call, HOLO_BAD_MODEL, "attribute %s, a graph, must be given", attr);
    call->host->counts(call->host, graph->graph, &inputs, &outputs);
    if (inputs < call->capture_count)
        return holo_call_fail(call, HOLO_BAD_MODEL, "%s has no inputs for the values that it captures", attr);
    return holo_body_init(body, call, attr, inputs - call->capture_count, outputs);
}

HoloStatus holo_body_run(HoloBody *body)
{
    const HoloHost *host = body->call->host;
    memset(body->result, 0, (size_t)body->out_count * sizeof *body->result);
    return host->subgraph(host, body->graph, body->in_count, body->in, body->out_count, body->out, body->call->error);
}

HoloStatus holo_infer_control(HoloCall *call)
{
    for (int i = 0; i < call->out_count; i++) {
        HoloTensor *y = call->out[i];
        if (!y) continue;
        if (y->rank > 0)
            y->dim[0] = HOLO_DIM_UNKNOWN;
        else
            y->rank = -1;
    }
    return HOLO_OK;
}

HoloStatus holo_out_result(HoloCall *call, int i, const HoloTensor *value)
{
    HoloTensor *y = holo_out(call, i);
    return y ? holo_value_clone(call->host, value, y, call->error) : HOLO_OK;
}

// The result if there was no step.
static void out_no_steps(HoloTensor *y, int64_t axis)
{
    if (y->dtype == HOLO_NONE) y->dtype = HOLO_F32;
    if (y->rank < 1) y->rank = 1;
    int at = (int)(axis < 0 ? axis + y->rank : axis);
    for (int d = 0; d < y->rank; d++)
        if (d == at || holo_dim_is_symbolic(y->dim[d]) || y->dim[d] < 0) y->dim[d] = 0;
}

HoloStatus holo_out_steps(HoloCall *call, int i, const HoloStack *steps, int64_t axis, bool reverse)
{
    HoloTensor *y = holo_out(call, i);
    if (!y) return HOLO_OK;
    if (steps->count) return holo_stack_join(call, steps, steps->count, axis, reverse, y);
    out_no_steps(y, axis);
    return HOLO_OK;
}
