// golden.h - the answers of an archive of tests/golden, as text.
#ifndef HOLO_TESTS_GOLDEN_H
#define HOLO_TESTS_GOLDEN_H

#include "support/models.h"

#include "ops/tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GOLDEN_SEED = 3, GOLDEN_OPEN = 3, GOLDEN_PORTS = 4 }; // dynamic sizes are 3

static inline size_t golden_print(const char *name, const HoloTensor *t, char *text, size_t room)
{
    size_t used = (size_t)snprintf(text, room, "%s %s[", name, holo_dtype_name((HoloDtype)t->dtype));
    for (int d = 0; d < t->rank; d++)
        used += (size_t)snprintf(text + used, room - used, "%s%lld", d ? "," : "", (long long)t->dim[d]);
    used += (size_t)snprintf(text + used, room - used, "] =");
    for (int64_t i = 0; i < holo_tensor_count(t); i++)
        used += (size_t)snprintf(text + used, room - used, " %.9g", holo_get_f(t, i));
    return used + (size_t)snprintf(text + used, room - used, "\n");
}

// Runs the session on inputs that follow from the seed; a line for each output.
static inline void golden_answer(const HoloModel *model, HoloSession *session, char *text, size_t room)
{
    HoloTensor inputs[GOLDEN_PORTS], view;
    size_t     used  = 0;
    int        count = holo_model_input_count(model);
    assert_in_range(count, 1, GOLDEN_PORTS);
    for (int i = 0; i < count; i++) {
        inputs[i] = made(&holo_model_input(model, i)->type, GOLDEN_SEED + (uint64_t)i, GOLDEN_OPEN);
        EXPECT_OK(holo_session_set_input(session, i, &inputs[i], &error));
    }
    EXPECT_OK(holo_session_run(session, &error));
    for (int i = 0; i < holo_model_output_count(model); i++) {
        EXPECT_OK(holo_session_output(session, i, &view, &error));
        used += golden_print(holo_model_output(model, i)->name, &view, text + used, room - used);
        assert_true(used < room);
    }
    for (int i = 0; i < count; i++) free(inputs[i].data);
}

#endif
