// torch_state_test.c - buffers that a program of PyTorch changes are states: the session keeps them from run to run.
#include "support/models.h"

#include <stdio.h>
#include <stdlib.h>

// Runs a model of tests/support/torch_files.py on x = 1, 2 three times: its output must follow what the buffer becomes.
static void keeps(const char *file, double first, double step)
{
    HoloModel   *model;
    HoloSession *session;
    char         path[300];
    float        x[2] = {1, 2};
    snprintf(path, sizeof path, "%s/%s", temp_path("torch"), file);
    EXPECT_OK(holo_compile_model(NULL, path, &model, NULL, &error));
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int run = 0; run < 3; run++) {
        HoloTensor in = {.dtype = HOLO_F32, .rank = 1, .dim = {2}, .data = x};
        HoloTensor out;
        EXPECT_OK(holo_session_set_input(session, 0, &in, &error));
        EXPECT_OK(holo_session_run(session, &error));
        EXPECT_OK(holo_session_output(session, 0, &out, &error));
        assert_float_equal(((const float *)out.data)[0], first + step * run, 1e-6);
    }
    holo_session_destroy(session);
    holo_model_close(model);
}

static void test_states(void **state)
{
    char command[400];
    (void)state;
    snprintf(command, sizeof command, "python3 tests/support/torch_files.py %s", temp_path("torch"));
    assert_int_equal(system(command), 0);
    keeps("state.pt2", 5, 1);
    keeps("inplace.pt2", 5, 1);
    keeps("counter.pt", 6, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
