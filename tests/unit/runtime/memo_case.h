// memo_case.h - archives with answers in them, and sessions of these.
#ifndef HOLO_TESTS_MEMO_CASE_H
#define HOLO_TESTS_MEMO_CASE_H

#include "support/onnx_writer.h"
#include "support/sections.h"

#include "base/base.h"
#include "base/hash.h"
#include "runtime/frame/frame.h"

#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A folder with a .npy for each input, made from a seed; returns its path.
static inline const char *pattern(const HoloModel *model, const char *name, uint64_t seed, int64_t open)
{
    const char *folder = temp_path(name);
    mkdir(folder, 0777);
    for (int i = 0; i < holo_model_input_count(model); i++) {
        HoloTensor t = made(&holo_model_input(model, i)->type, seed + (uint64_t)i, open);
        char       path[512];
        snprintf(path, sizeof path, "%s/%s.npy", folder, holo_model_input(model, i)->name);
        EXPECT_OK(holo_tensor_write_npy(path, &t, &error));
        free(t.data);
    }
    return folder;
}

// The model at `path` as an archive with the answers to the inputs of seeds 1, 11, 21 ... `open` is what dynamic sizes are
// in the first; they grow by 1.
static inline const char *memorized(const char *path, const char *name, int patterns, int64_t open)
{
    const char   *out = temp_path(name);
    HoloCompiler *compiler;
    HoloReport   *report;
    HoloModel    *model = compiled(path, HOLO_FUSED);
    EXPECT_OK(holo_compiler_create(&compiler));
    for (int i = 0; i < patterns; i++) {
        char folder[64];
        snprintf(folder, sizeof folder, "%s.%d", name, i);
        EXPECT_OK(holo_compiler_add_patterns(compiler, pattern(model, folder, 1 + 10 * (uint64_t)i, open + i), &error));
    }
    holo_model_close(model);
    EXPECT_OK(holo_compile_file(compiler, path, out, &report, &error));
    struct stat st;
    assert_int_equal(stat(out, &st), 0);
    assert_int_equal(report->patterns, patterns);
    assert_int_equal(report->archive_bytes, st.st_size);
    assert_true(report->memo_bytes > 0);
    holo_report_destroy(report);
    holo_compiler_destroy(compiler);
    return out;
}

typedef struct Run {
    HoloModel   *model;
    HoloSession *session;
    HoloTensor   inputs[4];
} Run;

static inline Run begin(HoloModel *model)
{
    Run r = {.model = model};
    EXPECT_OK(holo_session_create(model, NULL, &r.session, &error));
    return r;
}

static inline Run begin_file(const char *path)
{
    HoloModel *model;
    EXPECT_OK(holo_model_open(path, &model, &error));
    EXPECT_OK(holo_model_verify(model, &error));
    return begin(model);
}

static inline void end(Run *r)
{
    for (int i = 0; i < 4; i++) free(r->inputs[i].data);
    holo_session_destroy(r->session);
    holo_model_close(r->model);
}

static inline void inputs_set(Run *r, uint64_t seed, int64_t open)
{
    for (int i = 0; i < holo_model_input_count(r->model); i++) {
        free(r->inputs[i].data);
        r->inputs[i] = made(&holo_model_input(r->model, i)->type, seed + (uint64_t)i, open);
        EXPECT_OK(holo_session_set_input(r->session, i, &r->inputs[i], &error));
    }
}

static inline void expect_counts(const Run *r, uint64_t hits, uint64_t misses)
{
    uint64_t h, m;
    holo_session_memo_counts(r->session, &h, &m);
    assert_int_equal(h, hits);
    assert_int_equal(m, misses);
}

// Runs, and compares every output with what a session without a memo gives: type, shape and bytes.
static inline void run_and_compare(Run *r, const char *model_path)
{
    HoloModel   *plain = compiled(model_path, HOLO_FUSED);
    HoloSession *session;
    EXPECT_OK(holo_session_create(plain, NULL, &session, &error));
    for (int i = 0; i < holo_model_input_count(plain); i++)
        EXPECT_OK(holo_session_set_input(session, i, &r->inputs[i], &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_run(r->session, &error));
    for (int i = 0; i < holo_model_output_count(plain); i++) {
        HoloTensor have, want;
        EXPECT_OK(holo_session_output(r->session, i, &have, &error));
        EXPECT_OK(holo_session_output(session, i, &want, &error));
        assert_int_equal(have.kind, want.kind);
        assert_true(holo_memo_same(&have, &want));
    }
    holo_session_destroy(session);
    holo_model_close(plain);
}

static inline bool is_inside(const HoloModel *model, const void *data)
{
    const uint8_t *at = data, *start = model->archive.MEMO_DATA_at;
    return start && at >= start && at < start + model->archive.MEMO_DATA_count;
}

#endif
