// alloc_test.c - memory that runs out, at every place where it is asked for: a status each time, and nothing lost.
//
// The n-th call for memory fails, for n = 1, 2, 3 ... until a whole compile, open, session and run gets through without
// meeting it: for all of them where HOLO_TEST_ALL is set (`make oom`), else beyond the first hundreds for every
// seventh. The address sanitizer, where it is on, sees what would be leaked; maps are counted here.
#include "support/heap.h"
#include "support/models.h"
#include "support/onnx_writer.h"
#include "support/watched.h"

#include "base/base.h"
#include "hologram_atlas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- arenas. They ask for memory in large blocks: where the linker redirects them (--wrap, see the Makefile), every
// single take counts as a call for memory and can fail.

void *__real_holo_arena_take(HoloArena *arena, size_t size) __attribute__((weak));
void *__real_holo_arena_take_array(HoloArena *arena, size_t count, size_t size) __attribute__((weak));
char *__real_holo_arena_text(HoloArena *arena, const char *text, size_t size) __attribute__((weak));
void *__wrap_holo_arena_take(HoloArena *arena, size_t size);
void *__wrap_holo_arena_take_array(HoloArena *arena, size_t count, size_t size);
char *__wrap_holo_arena_text(HoloArena *arena, const char *text, size_t size);

void *__wrap_holo_arena_take(HoloArena *arena, size_t size)
{
    return heap_refuses() ? NULL : __real_holo_arena_take(arena, size);
}

void *__wrap_holo_arena_take_array(HoloArena *arena, size_t count, size_t size)
{
    return heap_refuses() ? NULL : __real_holo_arena_take_array(arena, count, size);
}

char *__wrap_holo_arena_text(HoloArena *arena, const char *text, size_t size)
{
    return heap_refuses() ? NULL : __real_holo_arena_text(arena, text, size);
}

// ---- whole uses of the library

static HoloStatus run_all(const HoloModel *model, HoloPool *pool, const HoloTensor *inputs, HoloError *error)
{
    HoloSession *session;
    HoloStatus   status = holo_session_create(model, pool, &session, error);
    for (int i = 0; !status && i < holo_model_input_count(model); i++)
        status = holo_session_set_input(session, i, &inputs[i], error);
    for (int i = 0; !status && i < 2; i++) status = holo_session_run(session, error);
    HoloTensor view;
    for (int i = 0; !status && i < holo_model_output_count(model); i++)
        status = holo_session_output(session, i, &view, error);
    holo_session_destroy(session);
    return status;
}

typedef struct Job {
    const char *path, *archive, *pattern;
    HoloTensor  inputs[2];
    HoloStatus (*work)(const struct Job *job, HoloError *error);
} Job;

static HoloStatus work_archive(const Job *job, HoloError *error)
{
    HoloModel *model;
    HoloPool  *pool   = NULL;
    HoloStatus status = holo_model_open(job->archive, &model, error);
    if (!status) status = holo_model_verify(model, error);
    if (!status && holo_pool_create(2, &pool)) status = HOLO_NO_MEMORY;
    if (!status) status = run_all(model, pool, job->inputs, error);
    holo_pool_destroy(pool);
    holo_model_close(model);
    return status;
}

static HoloStatus work_compile(const Job *job, HoloError *error)
{
    HoloCompiler *compiler;
    HoloReport   *report = NULL;
    HoloModel    *model  = NULL;
    HoloStatus    status = holo_compiler_create(&compiler);
    if (status) return status;
    holo_compiler_set_threads(compiler, 1);
    status = holo_compiler_add_patterns(compiler, job->pattern, error);
    if (!status) status = holo_compile_file(compiler, job->path, job->archive, &report, error);
    if (!status) status = holo_model_open(job->archive, &model, error);
    if (!status) status = run_all(model, NULL, job->inputs, error);
    holo_model_close(model);
    holo_report_destroy(report);
    holo_compiler_destroy(compiler);
    return status;
}

// Answers that are kept, stored, and found again.
static HoloStatus work_memo(const Job *job, HoloError *error)
{
    HoloModel   *model;
    HoloSession *session = NULL;
    HoloStatus   status  = holo_model_open(job->archive, &model, error);
    if (!status) status = holo_session_create(model, NULL, &session, error);
    if (!status) status = holo_session_set_memo(session, SIZE_MAX, error);
    if (!status) status = holo_session_learn(session, model, job->pattern, NULL, error);
    if (!status) status = holo_session_save_memo(session, job->archive, error);
    holo_session_destroy(session);
    holo_model_close(model);
    if (status) return status;
    status = holo_model_open(job->archive, &model, error);
    if (!status) assert_int_equal(holo_model_memo_count(model), 1);
    if (!status) status = run_all(model, NULL, job->inputs, error);
    holo_model_close(model);
    return status;
}

static HoloStatus work_reference(const Job *job, HoloError *error)
{
    HoloSource  *source;
    HoloTensors *outputs = NULL;
    HoloStatus   status  = holo_source_open(job->path, &source, error);
    if (!status) {
        const HoloTensor *inputs[] = {&job->inputs[0], &job->inputs[1]};
        status = holo_reference_run(source, inputs, holo_source_input_count(source), &outputs, error);
    }
    holo_tensors_destroy(outputs);
    holo_source_close(source);
    return status;
}

static HoloStatus work_listing(const Job *job, HoloError *error)
{
    HoloListing *listing;
    HoloStatus   status = holo_listing_open(NULL, job->path, HOLO_STAGE_IMPORTED, &listing, error);
    holo_listing_close(listing);
    if (!status) status = holo_listing_open(NULL, job->archive, HOLO_STAGE_PLANNED, &listing, error);
    if (!status) holo_listing_close(listing);
    return status;
}

static HoloStatus work_programs(const Job *job, HoloError *error)
{
    HoloModel        *model;
    HoloStepPrograms *programs = NULL;
    HoloStatus        status   = holo_model_open(job->archive, &model, error);
    if (!status) status = holo_step_programs_open(model, &programs, error);
    holo_step_programs_close(programs);
    holo_model_close(model);
    return status;
}

static HoloStatus work_atlas(const Job *job, HoloError *error)
{
    (void)job;
    static const char text[]    = "R+1@(copy@c05 . evaluate@c21 || split@c3)";
    HoloString        strings[] = {{"a", 1}, {"bc", 2}};
    HoloTensor        tensor    = {.dtype = HOLO_STRING, .rank = 1, .dim = {2}, .data = strings};
    HoloSigil        *sigil;
    HoloContentId     id;
    uint8_t           digits[80];
    size_t            count;
    HoloStatus        status = holo_sigil_parse(text, sizeof text - 1, &sigil, NULL, error);
    holo_sigil_destroy(sigil);
    if (!status) status = holo_content_id(&tensor, &id, error);
    if (!status)
        status = holo_base96_from_bytes((const uint8_t *)text, sizeof text, digits, sizeof digits, &count, error);
    return status;
}

static long next_call(long n, int step)
{
    enum { ALL = 300, STEP = 7 };
    return getenv("HOLO_TEST_ALL") ? n + 1 : n < ALL ? n + step : n + STEP * step;
}

// Returns how many calls for memory there are to fail, or a few less.
static long expect_statuses(const Job *job)
{
    static int step;
    int        files = folder_count(temp_folder());
    if (!step) step = watched_step("the calls for memory", 8);
    for (long n = 1;; n = next_call(n, step)) {
        HoloError error = {0};
        heap_watch();
        heap_fail(n);
        HoloStatus status = job->work(job, &error);
        bool       failed = heap_has_failed;
        long       maps   = atomic_load(&heap_maps);
        heap_fail(0);
        if (maps) fail_msg("%s: with call %ld for memory failing, %ld maps stay", job->path, n, maps);
        if (folder_count(temp_folder()) != files)
            fail_msg("%s: with call %ld for memory failing, a file stays", job->path, n);
        if (failed && status && status != HOLO_NO_MEMORY && status != HOLO_NO_FILE)
            fail_msg("%s: with call %ld for memory failing: '%s' (%s)", job->path, n, holo_status_text(status),
                     error.text);
        if (!failed && status) fail_msg("%s: %s", job->path, error.text);
        if (!failed) return n - 1;
    }
}

static void expect_statuses_of(const char *path, int64_t open)
{
    if (!heap_is_counted) skip();
    Job        job   = {.path = path, .archive = archived(path, HOLO_FUSED, 1)};
    HoloModel *model = compiled(path, HOLO_FUSED);
    char       file[512];
    snprintf(file, sizeof file, "patterns of %s", strrchr(path, '/') + 1);
    job.pattern = temp_path(file);
    mkdir(job.pattern, 0777);
    for (int i = 0; i < holo_model_input_count(model); i++) {
        snprintf(file, sizeof file, "%s/%s.npy", job.pattern, holo_model_input(model, i)->name);
        job.inputs[i] = made(&holo_model_input(model, i)->type, 1, open);
        EXPECT_OK(holo_tensor_write_npy(file, &job.inputs[i], &error));
    }
    holo_model_close(model);
    HoloStatus (*const works[])(const Job *, HoloError *) = {work_archive,   work_memo,    work_compile,
                                                             work_reference, work_listing, work_programs};
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        job.work = works[i];
        assert_true(expect_statuses(&job) > 3);
    }
    for (int i = 0; i < 2; i++) free(job.inputs[i].data);
}

static void test_atlas(void **state)
{
    (void)state;
    if (!heap_is_counted) skip();
    assert_true(expect_statuses(&(Job){.path = "atlas", .work = work_atlas}) > 5);
}

static void test_static_model(void **state)
{
    (void)state;
    expect_statuses_of(model_conv(), 1);
}

static void test_symbolic_sizes(void **state)
{
    (void)state;
    expect_statuses_of(model_dynamic(), 3);
}

static void test_loop(void **state)
{
    (void)state;
    expect_statuses_of(model_loop(3), 1);
}

static void test_sizes_from_values(void **state)
{
    (void)state;
    expect_statuses_of(model_data(), 1);
}

// A model of many parts: a function of the model's own, external data, strings, sequences, optional inputs left out.
static const char *model_parts(void)
{
    OnnxModel   m       = {0};
    OnnxGraph  *g       = &m.graph;
    const char *path    = temp_path("parts.onnx");
    float       data[6] = {1, 2, 3, 4, 5, 6};
    file_write(temp_path("parts.bin"), data, sizeof data);
    onnx_input(g, "x", HOLO_F32, "2,3");
    onnx_output(g, "y", HOLO_F32, "2,3");
    onnx_output(g, "n", HOLO_I64, "");
    onnx_external(g, "w", HOLO_F32, "2,3", "parts.bin", "0", "24");
    onnx_node(g, "Clip", "x,,w0", "c", "");
    onnx_constant(g, "w0", HOLO_F32, "", data, 4);
    onnx_node(g, "own::Twice", "c", "t", "");
    onnx_node(g, "Add", "t,w", "y", "");
    onnx_node(g, "SequenceConstruct", "t,y", "s", "");
    onnx_node(g, "SequenceLength", "s", "n", "");
    Pb function = {0}, opset = {0}, node = {0};
    pb_text(&function, 1, "Twice");
    pb_text(&function, 4, "a");
    pb_text(&function, 5, "b");
    pb_text(&node, 1, "a");
    pb_text(&node, 1, "a");
    pb_text(&node, 2, "b");
    pb_text(&node, 4, "Add");
    pb_message(&function, 7, &node);
    pb_text(&opset, 1, "");
    pb_int(&opset, 2, 17);
    pb_message(&function, 9, &opset);
    pb_text(&function, 10, "own");
    pb_message(&m.rest, 25, &function);
    onnx_opset(&m, "", 17);
    onnx_opset(&m, "own", 1);
    onnx_metadata(&m, "key", "value");
    onnx_save(&m, path);
    return path;
}

static void test_many_parts(void **state)
{
    (void)state;
    expect_statuses_of(model_parts(), 1);
}

static void test_values_from_files(void **state)
{
    (void)state;
    if (!heap_is_counted) skip();
    const char  *path = temp_path("x.npy");
    HoloTensors *tensors;
    EXPECT_OK(holo_tensors_seeded(&(HoloTensor){.dtype = HOLO_F32, .rank = 2, .dim = {3, 4}}, 1, &tensors, &error));
    EXPECT_OK(holo_tensor_write_npy(path, holo_tensors_get(tensors, 0, NULL), &error));
    holo_tensors_destroy(tensors);
    for (long n = 1;; n++) {
        HoloError error = {0};
        heap_watch();
        heap_fail(n);
        HoloStatus status = holo_tensors_read(path, NULL, &tensors, &error);
        if (!status) status = holo_tensor_write_npy(path, holo_tensors_get(tensors, 0, NULL), &error);
        holo_tensors_destroy(tensors);
        long maps   = atomic_load(&heap_maps);
        bool failed = heap_has_failed;
        heap_fail(0);
        assert_int_equal(maps, 0);
        if (!failed) {
            assert_int_equal(status, HOLO_OK);
            break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atlas),
        cmocka_unit_test(test_static_model),
        cmocka_unit_test(test_symbolic_sizes),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_sizes_from_values),
        cmocka_unit_test(test_many_parts),
        cmocka_unit_test(test_values_from_files),
    };
    return cmocka_run_group_tests_name("memory that runs out", tests, NULL, NULL);
}
