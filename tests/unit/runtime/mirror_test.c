// mirror_test.c - a second device: plans that are cut between the CPU and the device of tests/device/mirror_device.c.
#include "support/archive_edit.h"
#include "support/heap.h"
#include "support/models.h"
#include "support/onnx_writer.h"

#include "archive/archive.h"
#include "device/mirror_device.h"
#include "hologram_compiler.h"
#include "lower/lower.h"
#include "plan/plan.h"
#include "runtime/frame/frame.h"
#include "text/language.h"

#include <math.h>
#include <stdio.h>

extern const HoloTarget holo_target_mirror;

#define RECORDS(file, id, type) ((type *)(void *)edit_section(&(file), HOLO_SECTION_##id)->data)

// ---- a plan of transfers, made by hand

// Softmax three times, one after the other: values x, a, b, y.
static const char *model_three(const char *rows)
{
    OnnxModel   m    = {0};
    const char *path = temp_path("three.onnx");
    onnx_input(&m.graph, "x", HOLO_F32, rows);
    onnx_output(&m.graph, "y", HOLO_F32, rows);
    onnx_node(&m.graph, "Softmax", "x", "a", "axis=1");
    onnx_node(&m.graph, "Softmax", "a", "b", "axis=0");
    onnx_node(&m.graph, "Softmax", "b", "y", "axis=1");
    onnx_save(&m, path);
    return path;
}

static uint32_t text_add(EditFile *file, const char *text)
{
    return (uint32_t)edit_append(file, HOLO_SECTION_STRINGS, text, strlen(text) + 1);
}

static void target_add(EditFile *file, const char *name)
{
    HoloTargetRecord target = {.name = text_add(file, name)};
    edit_append(file, HOLO_SECTION_TARGETS, &target, sizeof target);
}

static HoloValueRecord *value_named(EditFile *file, const char *name)
{
    HoloValueRecord *value = RECORDS(*file, VALUES, HoloValueRecord);
    for (size_t i = 0; i < edit_count(file, HOLO_SECTION_VALUES, sizeof *value); i++)
        if (!strcmp(RECORDS(*file, STRINGS, char) + value[i].name, name)) return &value[i];
    fail_msg("there is no value %s", name);
    return NULL;
}

static void step_move(EditFile *file, int i, int64_t op)
{
    HoloStepRecord *step = RECORDS(*file, STEPS, HoloStepRecord) + i;
    step->target         = 1;
    step->kernel         = 0;
    step->params = step->params_size = 0;
    if (op < 0) return;
    step->op         = (uint32_t)op;
    step->attr_count = 0;
    step->program    = 0;
}

// To the target's memory, to a place of its own there: eval of Softmax, unlike the CPU's kernel, does not write in
// place.
static void value_move(EditFile *file, const char *name, uint64_t at, uint32_t step)
{
    HoloValueRecord *v = value_named(file, name);
    v->storage         = HOLO_STORE_ARENA;
    v->space           = 1;
    v->at              = at;
    v->step_from       = step;
    v->step_to         = step + 1;
}

// The first and the last step become transfers, the one between them runs on the target: y is a softmax of x along axis
// 0.
static HoloModel *cut_by_hand(const char *rows, const char *target, uint8_t **out_bytes, HoloError *error)
{
    EditFile file;
    size_t   size, room = 1 << 20;
    uint8_t *bytes = file_read(archived(model_three(rows), HOLO_FUSED, 1), &size);
    assert_true(edit_open(bytes, size, 1, &file));
    free(bytes);
    assert_int_equal(edit_count(&file, HOLO_SECTION_STEPS, sizeof(HoloStepRecord)), 3);
    edit_add(&file, HOLO_SECTION_TARGETS, HOLO_SECTION_MUST);
    target_add(&file, "cpu");
    target_add(&file, target);
    HoloOpRecord op       = {.domain = text_add(&file, "hologram"), .name = text_add(&file, "Transfer"), .version = 1};
    int64_t      transfer = (int64_t)(edit_append(&file, HOLO_SECTION_OPS, &op, sizeof op) / sizeof op);
    step_move(&file, 0, transfer);
    step_move(&file, 1, -1);
    step_move(&file, 2, transfer);
    value_move(&file, "a", 0, 0);
    value_move(&file, "b", 4096, 1);
    *out_bytes = aligned_alloc(64, room);
    size       = edit_close(&file, *out_bytes, room);
    edit_free(&file);
    HoloModel *model = NULL;
    (void)!holo_model_open_memory(*out_bytes, size, &model, error);
    return model;
}

static void expect_softmax(HoloSession *session, int64_t rows)
{
    float      x[64];
    HoloTensor in = {.dtype = HOLO_F32, .rank = 2, .dim = {rows, 3}, .data = x}, y;
    for (int i = 0; i < 3 * rows; i++) x[i] = (float)(i % 5) / 2;
    EXPECT_OK(holo_session_set_input(session, 0, &in, &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, 0, &y, &error));
    for (int c = 0; c < 3; c++) {
        double sum = 0;
        for (int r = 0; r < rows; r++) sum += exp((double)x[r * 3 + c]);
        for (int r = 0; r < rows; r++)
            assert_true(fabs((double)((float *)y.data)[r * 3 + c] - exp((double)x[r * 3 + c]) / sum) < 1e-6);
    }
}

static void by_hand(void **state)
{
    (void)state;
    uint8_t       *bytes;
    HoloError      why     = {0};
    HoloModel     *model   = cut_by_hand("2,3", "mirror", &bytes, &why);
    HoloSession   *session = NULL;
    HoloMirrorSeen before  = holo_mirror_seen();
    if (!model) fail_msg("%s", why.text);
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int run = 0; run < 3; run++) expect_softmax(session, 2);
    HoloMirrorSeen after = holo_mirror_seen();
    assert_int_equal(after.launches - before.launches, 3);
    assert_int_equal(after.in - before.in, 3);
    assert_int_equal(after.out - before.out, 3);
    holo_session_destroy(session);
    holo_model_close(model);
    free(bytes);
}

// Sizes that change are bound anew, and memory of the device is laid out again.
static void sizes_change(void **state)
{
    (void)state;
    uint8_t     *bytes;
    HoloError    why     = {0};
    HoloModel   *model   = cut_by_hand("n,3", "mirror", &bytes, &why);
    HoloSession *session = NULL;
    if (!model) fail_msg("%s", why.text);
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int64_t rows = 1; rows <= 20; rows += 6) expect_softmax(session, rows), expect_softmax(session, rows);
    expect_softmax(session, 2);
    holo_session_destroy(session);
    holo_model_close(model);
    free(bytes);
}

static void watch(void *context, const char *node, const char *value, const HoloTensor *tensor)
{
    (void)node, (void)value;
    double *sum = context;
    for (int64_t i = 0; i < holo_tensor_count(tensor); i++) *sum += (double)((const float *)tensor->data)[i];
}

// Whoever watches sees what is on the device, too; and profiles name it.
static void watched(void **state)
{
    (void)state;
    uint8_t     *bytes;
    HoloError    why     = {0};
    HoloModel   *model   = cut_by_hand("2,3", "mirror", &bytes, &why);
    HoloSession *session = NULL;
    double       sum     = 0;
    if (!model) fail_msg("%s", why.text);
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    session->watch         = watch;
    session->watch_context = &sum;
    expect_softmax(session, 2);
    assert_true(fabs(sum - (0 + .5 + 1 + 1.5 + 2 + 0 + 3 + 3)) < 1e-5); // of a, b and y
    holo_session_destroy(session);
    holo_model_close(model);
    free(bytes);
}

// ---- plans of the compiler

// A convolution of the CPU beside Softmax and Mul of the device, with weights for both.
static const char *model_mixed(void)
{
    OnnxModel   m    = {0};
    const char *path = temp_path("mixed.onnx");
    onnx_input(&m.graph, "x", HOLO_F32, "n,3,4,4");
    onnx_output(&m.graph, "y", HOLO_F32, "n,5,4,4");
    onnx_output(&m.graph, "s", HOLO_F32, "n,5,4,4");
    onnx_weights(&m.graph, "c", "5,3,3,3", 1, 0.5f);
    onnx_weights(&m.graph, "w", "5,1,4", 2, 1);
    onnx_node(&m.graph, "Conv", "x,c", "a", "pads=[1,1,1,1]");
    onnx_node(&m.graph, "Softmax", "a", "s", "axis=3");
    onnx_node(&m.graph, "Mul", "s,w", "p", "");
    onnx_node(&m.graph, "Softmax", "p", "y", "axis=1");
    onnx_save(&m, path);
    return path;
}

static HoloModel *compiled_for(const char *path, const char *targets)
{
    HoloCompiler *compiler;
    HoloModel    *model = NULL;
    const char   *out   = temp_path(targets);
    EXPECT_OK(holo_compiler_create(&compiler));
    EXPECT_OK(holo_compiler_set_targets(compiler, targets, &error));
    EXPECT_OK(holo_compile_file(compiler, path, out, NULL, &error));
    holo_compiler_destroy(compiler);
    EXPECT_OK(holo_model_open(out, &model, &error));
    return model;
}

static void run_both(HoloSession *const *sessions, int64_t images, unsigned *out_in)
{
    HoloTensor in = made(&(HoloTensor){.dtype = HOLO_F32, .rank = 4, .dim = {images, 3, 4, 4}}, (uint64_t)images, 1),
               y[2];
    unsigned before = holo_mirror_seen().in;
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(holo_session_set_input(sessions[i], 0, &in, &error));
        EXPECT_OK(holo_session_run(sessions[i], &error));
    }
    *out_in = holo_mirror_seen().in - before;
    for (int o = 0; o < 2; o++) {
        for (int i = 0; i < 2; i++) EXPECT_OK(holo_session_output(sessions[i], o, &y[i], &error));
        for (int64_t i = 0; i < holo_tensor_count(&y[0]); i++)
            assert_true(fabs(holo_get_f(&y[0], i) - holo_get_f(&y[1], i)) < 1e-5);
    }
    free(in.data);
}

// The same answers as without it; and weights cross when sizes are bound, not in each run.
static void by_compiler(void **state)
{
    (void)state;
    const char  *path    = model_mixed();
    HoloModel   *model[] = {compiled_for(path, "cpu"), compiled_for(path, "mirror")};
    HoloSession *session[2];
    unsigned     launches = holo_mirror_seen().launches, first, next;
    for (int i = 0; i < 2; i++) EXPECT_OK(holo_session_create(model[i], NULL, &session[i], &error));
    for (int64_t images = 1; images <= 3; images++) {
        run_both(session, images, &first);
        run_both(session, images, &next);
        assert_true(next >= 1 && first == next + 1); // w
    }
    assert_true(holo_mirror_seen().launches >= launches + 6 * 3);
    for (int i = 0; i < 2; i++) holo_session_destroy(session[i]), holo_model_close(model[i]);
}

// ---- a plan for the CPU, and one for the device

static void output_of(HoloSession *session, const HoloTensor *in, HoloTensor *y)
{
    EXPECT_OK(holo_session_set_input(session, 0, in, &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, 0, y, &error));
}

// The CPU's plan has the bits of an archive for the CPU alone. The device is the first choice.
static void for_both(void **state)
{
    (void)state;
    const char *path = model_mixed();
    HoloModel  *cpu = compiled_for(path, "cpu"), *mirror = compiled_for(path, "mirror"),
              *both = compiled_for(path, "mirror,cpu");
    HoloSession *session[4];
    HoloTensor   in = made(&(HoloTensor){.dtype = HOLO_F32, .rank = 4, .dim = {2, 3, 4, 4}}, 5, 1), y[4];
    assert_string_equal(holo_model_device(both, 0), "mirror");
    assert_string_equal(holo_model_device(both, 1), "cpu");
    assert_string_equal(holo_model_device(mirror, 0), "mirror");
    assert_null(holo_model_device(mirror, 1));
    EXPECT_OK(holo_session_create(cpu, NULL, &session[0], &error));
    EXPECT_OK(holo_session_create(mirror, NULL, &session[1], &error));
    EXPECT_OK(holo_session_create(both, NULL, &session[2], &error));
    EXPECT_OK(holo_model_set_device(both, "cpu", &error));
    EXPECT_OK(holo_session_create(both, NULL, &session[3], &error));
    assert_string_equal(holo_session_device(session[2]), "mirror:0");
    assert_string_equal(holo_session_device(session[3]), "cpu");
    for (int i = 0; i < 4; i++) output_of(session[i], &in, &y[i]);
    size_t   size     = holo_tensor_bytes(&y[0]);
    unsigned launches = holo_mirror_seen().launches;
    assert_memory_equal(y[0].data, y[3].data, size);
    assert_memory_equal(y[1].data, y[2].data, size);
    output_of(session[3], &in, &y[3]);
    assert_int_equal(holo_mirror_seen().launches, launches); // nothing runs on the device
    // equal constants are stored once: less than two archives
    assert_true(both->archive.WEIGHTS_count < cpu->archive.WEIGHTS_count + mirror->archive.WEIGHTS_count);
    HoloRunInput  input  = {.index = 0, .tensor = in};
    HoloRunOutput output = {.index = 0};
    EXPECT_OK(holo_model_run(both, &input, 1, &output, 1, NULL, &error));
    assert_memory_equal(output.tensor.data, y[0].data, size);
    holo_run_outputs_free(&output, 1);
    EXPECT_OK(holo_model_set_device(both, "mirror", &error));
    EXPECT_OK(holo_model_run(both, &input, 1, &output, 1, NULL, &error));
    assert_memory_equal(output.tensor.data, y[1].data, size);
    assert_true(holo_mirror_seen().launches > launches);
    holo_run_outputs_free(&output, 1);
    for (int i = 0; i < 4; i++) holo_session_destroy(session[i]);
    holo_model_close(cpu), holo_model_close(mirror), holo_model_close(both);
    free(in.data);
}

// The report, and answers that are kept: they are of the plan for the CPU.
static void for_both_told(void **state)
{
    (void)state;
    HoloCompiler *compiler;
    HoloReport   *report;
    HoloModel    *model;
    HoloSession  *session;
    EXPECT_OK(holo_compiler_create(&compiler));
    EXPECT_OK(holo_compiler_set_targets(compiler, "cpu,mirror", &error));
    EXPECT_OK(holo_compile_file(compiler, model_mixed(), temp_path("told.holo"), &report, &error));
    assert_string_equal(report->device, "mirror");
    assert_string_equal(report->numeric, "fused");
    assert_true(report->verified && report->device_verified && report->device_steps > 0 && report->shared_bytes > 0);
    holo_report_destroy(report);
    EXPECT_FAIL(holo_compiler_set_targets(compiler, "cpu,mirror,cpu", &error), HOLO_BAD_ARGUMENT, "cpu is named twice");
    holo_compiler_destroy(compiler);
    EXPECT_OK(holo_model_open(temp_path("told.holo"), &model, &error));
    assert_string_equal(holo_model_meta_find(model, "verify.device"), "passed");
    assert_string_equal(holo_model_meta_find(model, "numeric.device"), "fused");
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_memo(session, 1 << 20, &error));
    EXPECT_FAIL(holo_session_save_memo(session, temp_path("saved.holo"), &error), HOLO_BAD_ARGUMENT,
                "answers of its plan for the CPU");
    holo_session_destroy(session);
    holo_model_close(model);
}

// A model of which nothing runs on the device is one for the CPU.
static void for_one(void **state)
{
    (void)state;
    OnnxModel   m    = {0};
    const char *path = temp_path("det.onnx");
    onnx_input(&m.graph, "x", HOLO_F32, "2,3,3");
    onnx_output(&m.graph, "y", HOLO_F32, "2");
    onnx_node(&m.graph, "Det", "x", "y", "");
    onnx_save(&m, path);
    HoloModel *model = compiled_for(path, "cpu,mirror");
    assert_string_equal(holo_model_device(model, 0), "cpu");
    assert_null(holo_model_device(model, 1));
    assert_int_equal(model->archive.TARGETS_count + model->archive.DEVICE_PLANS_count, 0);
    holo_model_close(model);
}

// Opens it, and runs the plan that is the first choice.
static HoloStatus open_and_run(const char *path, HoloError *error)
{
    HoloModel   *model;
    HoloSession *session  = NULL;
    float        data[48] = {1};
    HoloTensor   in       = {.dtype = HOLO_F32, .rank = 4, .dim = {1, 3, 4, 4}, .data = data};
    HoloStatus   status   = holo_model_open(path, &model, error);
    if (!status) status = holo_session_create(model, NULL, &session, error);
    if (!status) status = holo_session_set_input(session, 0, &in, error);
    if (!status) status = holo_session_run(session, error);
    holo_session_destroy(session);
    holo_model_close(model);
    return status;
}

static HoloStatus compile_both(const char *path, const char *out, HoloError *error)
{
    HoloCompiler *compiler;
    HoloStatus    status = holo_compiler_create(&compiler);
    if (status) return status;
    holo_compiler_set_threads(compiler, 1);
    status = holo_compiler_set_targets(compiler, "cpu,mirror", error);
    if (!status) status = holo_compile_file(compiler, path, out, NULL, error);
    holo_compiler_destroy(compiler);
    return status;
}

// With any call for memory failing: a status, and nothing is lost.
static void memory_runs_out(void **state)
{
    enum { STEP = 29 };
    (void)state;
    if (!heap_is_counted) skip();
    const char *path = model_mixed(), *out = temp_path("scarce.holo");
    EXPECT_OK(compile_both(path, out, &error));
    for (int is_compile = 0; is_compile < 2; is_compile++)
        for (long n = 1; n; n += is_compile ? STEP : 1) {
            HoloError error = {0};
            heap_watch();
            heap_fail(n);
            HoloStatus status = is_compile ? compile_both(path, out, &error) : open_and_run(out, &error);
            bool       failed = heap_has_failed;
            heap_fail(0);
            assert_int_equal(atomic_load(&heap_maps), 0);
            if (failed ? status && status != HOLO_NO_MEMORY && status != HOLO_NO_FILE : status)
                fail_msg("call %ld for memory: %s (%s)", n, holo_status_text(status), error.text);
            if (!failed) break;
        }
}

// ---- what must fail

// It runs no portable programs.
static void executors(void **state)
{
    (void)state;
    HoloExecutor *e = NULL;
    EXPECT_FAIL(holo_executor_create("mirror", NULL, &e, &error), HOLO_UNSUPPORTED,
                "backend mirror runs no portable programs");
    EXPECT_FAIL(holo_executor_create("toy", NULL, &e, &error), HOLO_UNSUPPORTED,
                "write auto, or one of cpu, cuda, mirror");
    EXPECT_OK(holo_executor_create("auto", NULL, &e, &error));
    assert_string_equal(holo_executor_backend(e), "cpu");
    holo_executor_destroy(e);
}

static void no_such_device(void **state)
{
    (void)state;
    uint8_t  *bytes;
    HoloError why = {0};
    assert_null(cut_by_hand("2,3", "toy", &bytes, &why));
    assert_int_equal(why.status, HOLO_UNSUPPORTED);
    assert_non_null(strstr(why.text, "the target 'toy', which this program does not have"));
    assert_non_null(strstr(why.text, "cpu, cuda, mirror"));
    free(bytes);
}

static void *hold(const HoloHost *host, size_t size)
{
    static char memory[1024];
    (void)host;
    return size <= sizeof memory ? memory : NULL;
}

// A pointer of the host is refused, in a launch and in a transfer.
static void host_pointers(void **state)
{
    (void)state;
    const HoloDevice *d      = &holo_device_mirror;
    void             *mirror = NULL;
    EXPECT_OK(d->open(&(HoloDeviceSetup){0}, &mirror, &error));
    float             x[4] = {1, 2, 3, 4}, back[4] = {0};
    char             *memory = d->take(mirror, 100, 0);
    HoloTensor        in = {.dtype = HOLO_F32, .rank = 1, .dim = {4}, .data = memory}, out = in;
    const HoloTensor *ins[]  = {&in};
    HoloTensor       *outs[] = {&out};
    HoloHost          host   = {.hold = hold, .temp = hold};
    HoloError         why    = {0};
    HoloCall          call   = {.op        = holo_op_find("", "Neg", 13),
                                .node      = "n",
                                .version   = 13,
                                .in_count  = 1,
                                .out_count = 1,
                                .in        = ins,
                                .out       = outs,
                                .host      = &host,
                                .error     = &why};
    char             *job    = malloc(d->job_size(0));
    size_t            scratch;
    out.data = memory + 16;
    EXPECT_OK(d->prepare(mirror, 0, &call, job, &scratch));
    EXPECT_OK(d->transfer(mirror, HOLO_TRANSFER_IN, memory, x, sizeof x, &error));
    EXPECT_OK(d->launch(mirror, &call, job));
    EXPECT_OK(d->transfer(mirror, HOLO_TRANSFER_OUT, back, memory + 16, sizeof x, &error));
    x[0] = 7; // what came in was read before
    assert_true(back[0] == 0);
    EXPECT_OK(d->wait(mirror, &error));
    assert_true(back[0] == -1 && back[3] == -4);
    out.data = back;
    assert_int_equal(d->launch(mirror, &call, job), HOLO_INTERNAL);
    assert_non_null(strstr(why.text, "operand 1 is not in the memory of the device"));
    out.data = memory + 16;
    in.data  = x;
    why      = (HoloError){0};
    assert_int_equal(d->launch(mirror, &call, job), HOLO_INTERNAL);
    EXPECT_FAIL(d->transfer(mirror, HOLO_TRANSFER_OUT, memory, back, sizeof x, &error), HOLO_INTERNAL, "mirror");
    assert_int_equal(d->job_size(1), 0);
    d->give(mirror, memory, 100);
    d->close(mirror);
    free(job);
}

// ---- a language model whose cache is there

static const char speech[] =
    "graph g(input_ids: i64[B,S], cache_rows: i64[B] = index, cache_lengths: i64[B] = 0,\n"
    "        picks: i64[P] = index, keys: f32[slots,context,2] = state[B,S,2]) -> (logits, choices) {\n"
    "    const words: f32[5,2] = {1, 0, 0, 1, 1, 1, -1, 0, 0.5, -2}\n"
    "    const back: f32[2,5] = {1, 0, 1, -1, 3, 0, 1, 1, 0, 2}\n"
    "    x = Gather@13(words, input_ids)\n"
    "    all = hologram::CacheWrite@1(keys, x, cache_rows, cache_lengths)\n"
    "    y = hologram::CachedAttention@1(x, all, all, cache_rows, cache_lengths) {num_heads=1, scale=1.0}\n"
    "    z = Gather@13(y, picks) {axis=1}\n"
    "    logits = MatMul@13(z, back)\n"
    "    choices = ArgMax@13(logits) {axis=-1, keepdims=0}\n"
    "}";

// `both`: with a plan for the CPU alone, too.
static HoloModel *speech_model(const HoloTargets *targets, bool both)
{
    HoloArena       arena = {0};
    HoloGraph      *graph, *plain;
    HoloCut         cut;
    HoloLowered     lowered, host;
    HoloPlan        plan;
    HoloFileWriter *file;
    HoloModel      *model;
    uint64_t        size;
    EXPECT_OK(holo_graph_parse(&arena, speech, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    EXPECT_OK(holo_lower_cut(graph, targets, &cut, &error));
    EXPECT_OK(holo_lower_graph(graph, &cut, &lowered, &error));
    EXPECT_OK(holo_graph_parse(&arena, speech, &plain, &error));
    EXPECT_OK(holo_graph_infer(plain, &error));
    EXPECT_OK(holo_lower_graph(plain, NULL, &host, &error));
    HoloPlanEntry entries[] = {{"", plain, &host, false}, {"", graph, &lowered, true}};
    if (both)
        EXPECT_OK(holo_plan_create_all(entries, 2, &plan, &error));
    else
        EXPECT_OK(holo_plan_create(graph, &lowered, &plan, &error));
    EXPECT_OK(holo_file_writer_open(temp_path("speech.holo"), &file, &error));
    EXPECT_OK(holo_archive_write(&plan, file, NULL, &size, &error));
    EXPECT_OK(holo_file_writer_close(file, true, &error));
    EXPECT_OK(holo_model_open(temp_path("speech.holo"), &model, &error));
    holo_plan_deinit(&plan);
    holo_lowered_deinit(&lowered);
    holo_lowered_deinit(&host);
    holo_arena_deinit(&arena);
    return model;
}

// What it says is the same as on the CPU: logits, choices, a text that was saved, loaded, and copied.
static void speaks_with(HoloModel *const model[2])
{
    enum { LENGTH = 9, WORDS = 5 };
    static const uint32_t tokens[LENGTH] = {1, 2, 3, 4, 0, 1, 1, 2, 4};
    HoloLanguage         *language[2];
    const float          *logits[2];
    uint32_t              choice[2];
    HoloLanguageOptions   options = {.size = sizeof options, .texts = 2};
    for (int i = 0; i < 2; i++) EXPECT_OK(holo_language_open(model[i], NULL, &options, &language[i], &error));
    unsigned out = holo_mirror_seen().out;
    for (size_t count = 1; count <= LENGTH; count++)
        for (int i = 0; i < 2; i++)
            EXPECT_OK(holo_language_read_choice(language[i], 0, tokens, count, &choice[i], &error));
    assert_int_equal(holo_mirror_seen().out - out, LENGTH); // the choices alone
    assert_int_equal(choice[0], choice[1]);
    EXPECT_OK(holo_language_save(language[1], 0, temp_path("speech.kept"), &error));
    EXPECT_OK(holo_language_copy(language[1], 0, 1, &error));
    holo_language_forget(language[1], 0);
    EXPECT_OK(holo_language_load(language[1], 0, temp_path("speech.kept"), &error));
    for (int text = 0; text < 2; text++) {
        HoloTextRead read = {.text = text, .tokens = tokens, .count = LENGTH};
        assert_int_equal(holo_language_cached(language[1], &read, 1), LENGTH - 1);
        EXPECT_OK(holo_language_read(language[0], 0, tokens, LENGTH, &logits[0], &error));
        EXPECT_OK(holo_language_read(language[1], text, tokens, LENGTH, &logits[1], &error));
        for (int i = 0; i < WORDS; i++) assert_true(fabsf(logits[0][i] - logits[1][i]) < 1e-5f);
    }
    for (int i = 0; i < 2; i++) holo_language_close(language[i]), holo_model_close(model[i]);
}

static void speaks(void **state)
{
    (void)state;
    const HoloTargets targets  = {.list = {&holo_target_cpu, &holo_target_mirror}, .count = 2};
    HoloModel        *alone[2] = {speech_model(&holo_targets_cpu, false), speech_model(&targets, false)};
    speaks_with(alone);
    HoloModel *both[2] = {speech_model(&targets, true), speech_model(&targets, true)};
    EXPECT_OK(holo_model_set_device(both[0], "cpu", &error));
    speaks_with(both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),       cmocka_unit_test(by_compiler),     cmocka_unit_test(sizes_change),
        cmocka_unit_test(watched),       cmocka_unit_test(no_such_device),  cmocka_unit_test(host_pointers),
        cmocka_unit_test(executors),     cmocka_unit_test(speaks),          cmocka_unit_test(for_both),
        cmocka_unit_test(for_both_told), cmocka_unit_test(memory_runs_out), cmocka_unit_test(for_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
