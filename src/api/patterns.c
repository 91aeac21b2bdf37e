// patterns.c - runs a session on inputs from files, so that it learns the answers.
#include "api/input_sets.h"
#include "runtime/frame/frame.h"

typedef struct Learning {
    HoloSession *session;
    int          inputs, count; // inputs of the model; patterns that were run
} Learning;

static HoloStatus pattern_learn(void *context, HoloInputSet *set, HoloError *error)
{
    Learning  *l      = context;
    HoloError  why    = {0};
    HoloStatus status = HOLO_OK;
    for (int i = 0; i < l->inputs && !status; i++)
        if (set->tensor[i]) status = holo_session_set_input(l->session, i, set->tensor[i], &why);
    if (!status) status = holo_session_run(l->session, &why);
    if (status) return holo_fail(error, status, "pattern %s: %s", set->path, why.text);
    l->count++;
    // If everything is to be kept, only memory can be the reason for a failure.
    const HoloMemo *memo = l->session->memo;
    return memo && memo->limit == SIZE_MAX && memo->lost ? holo_fail_memory(error) : HOLO_OK;
}

HoloStatus holo_session_learn(HoloSession *session, const HoloModel *model, const char *path, int *out_count,
                              HoloError *error)
{
    HoloArena      arena  = {0};
    HoloInputNames names  = {0};
    Learning       l      = {.session = session, .inputs = holo_model_input_count(model)};
    HoloStatus     status = holo_input_names(model, &arena, &names)
                                ? holo_input_sets_read(&names, path, "pattern", pattern_learn, &l, error)
                                : holo_fail_memory(error);
    holo_arena_deinit(&arena);
    if (out_count) *out_count = l.count;
    return status;
}
