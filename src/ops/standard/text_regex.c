// text_regex.c - RegexFullMatch: which strings a regular expression matches as a whole.
#include "ops/op.h"
#include "ops/regex.h"

static HoloStatus infer(HoloCall *call)
{
    return holo_out_shape_like(call, 0, HOLO_BOOL, call->in[0]);
}

static HoloStatus eval(HoloCall *call)
{
    const HoloString *text  = call->in[0]->data;
    int64_t           count = holo_tensor_count(call->in[0]);
    HoloArena         arena = {0};
    HoloError         why   = {0};
    HoloRegex        *regex;
    HoloStatus        status = holo_regex_create(&arena, holo_attr_string(call, "pattern", ""), &regex, &why);
    if (status)
        status = holo_call_fail(call, status, "%s", why.text);
    else
        for (int64_t i = 0; i < count; i++) holo_put_i(call->out[0], i, holo_regex_is_match(regex, text[i]));
    holo_arena_deinit(&arena);
    return status;
}

const HoloOp holo_ops_text_regex[] = {
    {.name    = "RegexFullMatch",
     .domain  = "",
     .since   = 20,
     .in_min  = 1,
     .in_max  = 1,
     .out_min = 1,
     .out_max = 1,
     .types   = HOLO_BIT(STRING),
     .infer   = infer,
     .eval    = eval},
    {0},
};
