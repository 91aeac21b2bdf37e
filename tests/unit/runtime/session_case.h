// session_case.h - a session of a model, for the tests of sessions.
#ifndef HOLO_TESTS_SESSION_CASE_H
#define HOLO_TESTS_SESSION_CASE_H

#include "support/models.h"
#include "support/onnx_writer.h"

#include "base/base.h"
#include "runtime/frame/frame.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A session of a model, for end().
typedef struct Run {
    HoloModel   *model;
    HoloSession *session;
} Run;

static inline Run begin(const char *path)
{
    Run r = {.model = compiled(path, HOLO_FUSED)};
    EXPECT_OK(holo_session_create(r.model, NULL, &r.session, &error));
    return r;
}

static inline void end(Run *r)
{
    holo_session_destroy(r->session);
    holo_model_close(r->model);
}

static inline const HoloTensor *in_type(const Run *r, int i)
{
    return &holo_model_input(r->model, i)->type;
}

static inline HoloTensor output_of(const Run *r, int i)
{
    HoloTensor view;
    EXPECT_OK(holo_session_output(r->session, i, &view, &error));
    return view;
}

static inline void expect_relu(const HoloTensor *y, const HoloTensor *plus_c)
{
    for (int i = 0; i < 6; i++) {
        float x = ((const float *)plus_c->data)[i];
        assert_true(((const float *)y->data)[i] == (x > 0 ? x : 0));
    }
}

// What the tiny model computes before its Relu.
static inline HoloTensor plus_constant(const HoloTensor *x)
{
    HoloRandom random = {1};
    float      c[3];
    HoloTensor t = made(x, 1, 1);
    for (int i = 0; i < 3; i++) c[i] = (float)(2 * holo_random_unit(&random) - 1);
    for (int i = 0; i < 6; i++) ((float *)t.data)[i] = ((const float *)x->data)[i] + c[i % 3];
    return t;
}

#endif
