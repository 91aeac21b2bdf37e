// cuda_both_test.c - archives with a plan for the CPU and one for a GPU: which of them runs, that weights are stored once,
// and that what the GPU makes of the CPU's form is what its own packing would be. The driver only counts
// (tests/cuda/fake_driver.c).
#include "cuda/fake_model.h"

#include "devices/cuda/cuda_panels.h"
#include "runtime/frame/frame.h"

static void all_is_given_back(void)
{
    assert_int_equal(fake->held + fake->modules + fake->streams + fake->graphs + fake->contexts + fake->depth, 0);
}

// ---- panels as rows

typedef struct Case {
    int64_t     dim[4];
    int         rank;
    bool        is_turned; // a product: the plain weights are [n][k]
    const char *numeric;
    uint32_t    narrow; // of the panels
} Case;

static HoloLowering host_of(const Case *c)
{
    HoloLowering host = {.kernel = HOLO_KERNEL_matmul_f32, .pack_input = 1, .pack_transposed = c->is_turned};
    if (c->rank == 2) {
        host.matmul.flags = HOLO_MATMUL_PACKED_B | c->narrow;
        return host;
    }
    host.kernel          = HOLO_KERNEL_conv_nhwc_f32;
    host.pack_groups     = 1;
    host.conv_nhwc.flags = HOLO_CONV_NHWC_PACKED | c->narrow;
    return host;
}

static HoloLowering device_of(const Case *c)
{
    HoloLowering device = {.kernel = c->rank == 2 ? HOLO_CUDA_STEP_PRODUCT : HOLO_CUDA_STEP_CONV, .pack_input = 1};
    HoloCudaStepParams params = {.size = sizeof params, .flags = HOLO_CUDA_FLAG_PACKED};
    params.layout             = c->rank == 2 ? (c->is_turned ? HOLO_CUDA_LAYOUT_TURNED : 0) : 1;
    if (!strcmp(c->numeric, "tf32")) params.numeric = HOLO_CUDA_NUMERIC_TF32;
    params.store = !strcmp(c->numeric, "f16")    ? HOLO_CUDA_F16
                   : !strcmp(c->numeric, "bf16") ? HOLO_CUDA_BF16
                                                 : HOLO_CUDA_F32;
    holo_cuda_set_params(&device, &params);
    return device;
}

static uint8_t *packed(const HoloTarget *target, const HoloLowering *lowering, const HoloTensor *w, size_t *size)
{
    HoloPacking packing = target->packing(lowering, w);
    uint8_t    *all = malloc(packing.bytes + HOLO_PACK_PART), *at = all;
    for (int64_t i = 0; i < packing.part_count; i++) at += target->pack(lowering, w, i, at);
    *size = packing.bytes;
    assert_int_equal(at - all, packing.bytes);
    return all;
}

static void turns(const Case *c)
{
    HoloTensor w = {.dtype = HOLO_F32, .rank = (int8_t)c->rank};
    memcpy(w.dim, c->dim, sizeof c->dim);
    int64_t count = holo_tensor_count(&w);
    float  *data  = malloc((size_t)count * sizeof *data);
    for (int64_t i = 0; i < count; i++) // what is stored narrow is whole numbers
        data[i] = c->narrow ? (float)(i % 251 - 120) : (float)(i % 1009 - 500) / 333 * (i % 7 ? 1.0F : 70000.0F);
    w.data              = data;
    HoloLowering   host = host_of(c), device = device_of(c);
    HoloCudaPanels p;
    size_t         panel_size, size;
    uint8_t       *panels = packed(&holo_target_cpu, &host, &w, &panel_size);
    uint8_t       *rows = packed(&holo_target_cuda, &device, &w, &size), *made = malloc(size);
    assert_true(holo_cuda_share_weights(&device, &host, &w));
    HoloCudaStepParams params = holo_cuda_params(&device);
    assert_true(holo_cuda_panels(&params, &w, &p));
    assert_int_equal(p.panel_bytes, panel_size);
    assert_int_equal(p.bytes, size);
    size_t  row   = size / (size_t)p.rows;
    int64_t first = p.rows < 16 ? p.rows : 16; // in two parts
    memset(made, 0xAA, size);
    holo_cuda_panels_turn(&p, panels, 0, first, made);
    holo_cuda_panels_turn(&p, panels, first, p.rows - first, made + (size_t)first * row);
    assert_memory_equal(made, rows, size);
    free(panels);
    free(rows);
    free(made);
    free(data);
}

static void rows_of_panels(void **state)
{
    (void)state;
    static const Case cases[] = {
        {{40, 24}, 2, false, "fused", 0},
        {{40, 24}, 2, true, "fused", 0},
        {{1, 1}, 2, false, "fused", 0},
        {{17, 33}, 2, false, "tf32", 0},
        {{33, 17}, 2, true, "f16", 0},
        {{600, 19}, 2, false, "bf16", 0},
        {{70, 50}, 2, true, "f16", HOLO_WEIGHTS_F16},
        {{70, 50}, 2, false, "bf16", HOLO_WEIGHTS_BF16},
        {{19, 300}, 2, false, "fused", HOLO_WEIGHTS_BF16},
        {{20, 3, 3, 3}, 4, false, "fused", 0}, // channels are padded
        {{20, 3, 3, 3}, 4, false, "f16", 0},
        {{17, 8, 3, 3}, 4, false, "tf32", 0},
        {{40, 300, 1, 1}, 4, false, "bf16", HOLO_WEIGHTS_BF16},
    };
    for (int i = 0; i < HOLO_COUNT(cases); i++) turns(&cases[i]);
}

// What the CPU stores otherwise stays the CPU's.
static void not_shared(void **state)
{
    (void)state;
    const Case product = {{40, 24}, 2, false, "fused", 0}, conv = {{16, 16, 3, 3}, 4, false, "fused", 0};
    HoloTensor w      = {.dtype = HOLO_F32, .rank = 2, .dim = {40, 24}},
               f      = {.dtype = HOLO_F32, .rank = 4, .dim = {16, 16, 3, 3}};
    HoloLowering host = host_of(&product), device = device_of(&product);
    host.matmul.flags |= HOLO_WEIGHTS_CODES;
    assert_false(holo_cuda_share_weights(&device, &host, &w));
    host = host_of(&product), host.pack_transposed = true;
    assert_false(holo_cuda_share_weights(&device, &host, &w));
    host = host_of(&conv);
    assert_false(holo_cuda_share_weights(&device, &host, &w));
    device = device_of(&conv);
    assert_true(holo_cuda_share_weights(&device, &host, &f));
    device = device_of(&conv), host.conv_nhwc.flags |= HOLO_CONV_NHWC_WINOGRAD;
    assert_false(holo_cuda_share_weights(&device, &host, &f));
}

// ---- archives

enum { K = 40, N = 24 };

// A product with its bias, and a table of which some rows are taken.
static void graph_text(HoloText *text)
{
    holo_text_add(text, "graph g(x: f32[3,%d], i: i64[2]) -> (y, z) {\n    const w: f32[%d,%d] = {", K, K, N);
    for (int i = 0; i < K * N; i++) holo_text_add(text, "%s%d.%d", i ? ", " : "", i % 19 - 9, i % 10);
    holo_text_add(text, "}\n    const t: f32[64,4] = {");
    for (int i = 0; i < 256; i++) holo_text_add(text, "%s%d", i ? ", " : "", i);
    holo_text_add(text, "}\n    y = MatMul@13(x, w)\n    z = Gather@13(t, i)\n}\n");
}

typedef struct Made { // an archive in the making; devices: with a plan for cuda, too
    HoloArena   arena;
    HoloGraph  *graph[2];
    HoloLowered lowered[2];
    HoloPlan    plan;
} Made;

static void made_begin(Made *m, const char *numeric)
{
    HoloTargets targets = {.list = {&holo_target_cpu, holo_target_cuda.of_class(numeric)}, .count = 2};
    HoloText    text    = {0};
    HoloCut     cut;
    *m = (Made){0};
    graph_text(&text);
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(holo_graph_parse(&m->arena, text.data, &m->graph[i], &error));
        EXPECT_OK(holo_graph_infer(m->graph[i], &error));
    }
    EXPECT_OK(holo_lower_graph(m->graph[0], NULL, &m->lowered[0], &error));
    EXPECT_OK(holo_lower_cut(m->graph[1], &targets, &cut, &error));
    EXPECT_OK(holo_lower_graph(m->graph[1], &cut, &m->lowered[1], &error));
    holo_lowered_share(&m->lowered[1], &m->lowered[0]);
    holo_text_deinit(&text);
}

// `entries` entries, which are all the same, and as many plans for cuda, or none.
static HoloModel *made_end(Made *m, int entries, bool has_device)
{
    static const char *const modules[] = {"basic",       "product_f32", "product_tf32",
                                          "product_f16", "rows",        "tiled_f16_sm90"};
    static const char *const names[]   = {"", "second"};
    HoloPlanEntry            all[4];
    HoloFileWriter          *file;
    HoloModel               *model;
    uint64_t                 size;
    int                      count = 0;
    for (int t = 0; t <= has_device; t++)
        for (int i = 0; i < entries; i++) all[count++] = (HoloPlanEntry){names[i], m->graph[t], &m->lowered[t], t};
    EXPECT_OK(holo_plan_create_all(all, count, &m->plan, &error));
    for (int i = 0; i < HOLO_COUNT(modules) && has_device; i++) {
        HoloTargetCode code = {modules[i], "ptx", "code", 5};
        EXPECT_OK(holo_plan_code(&m->plan, 1, &code, &error));
    }
    const char *path = temp_path(has_device ? "both.holo" : "plain.holo");
    EXPECT_OK(holo_file_writer_open(path, &file, &error));
    EXPECT_OK(holo_archive_write(&m->plan, file, NULL, &size, &error));
    EXPECT_OK(holo_file_writer_close(file, true, &error));
    EXPECT_OK(holo_model_open(path, &model, &error));
    holo_plan_deinit(&m->plan);
    for (int i = 0; i < 2; i++) holo_lowered_deinit(&m->lowered[i]);
    holo_arena_deinit(&m->arena);
    return model;
}

static HoloModel *made_model(const char *numeric, int entries, bool has_device)
{
    Made m;
    made_begin(&m, numeric);
    return made_end(&m, entries, has_device);
}

// A session on that device, which has run; `y` gets what it found.
static HoloSession *ran(const HoloModel *model, const char *device, float y[3 * N])
{
    static float   x[3 * K];
    static int64_t i[2] = {63, 1};
    HoloTensor     in   = {.dtype = HOLO_F32, .rank = 2, .dim = {3, K}, .data = x};
    HoloTensor     rows = {.dtype = HOLO_I64, .rank = 1, .dim = {2}, .data = i}, out;
    HoloSession   *session;
    for (int k = 0; k < 3 * K; k++) x[k] = (float)k / 7;
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    assert_string_equal(holo_session_device(session), device);
    EXPECT_OK(holo_session_set_input(session, 0, &in, &error));
    EXPECT_OK(holo_session_set_input(session, 1, &rows, &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, 0, &out, &error));
    memcpy(y, out.data, 3 * N * sizeof *y);
    return session;
}

// Both run in one process. What the CPU gives has the bits of an archive for the CPU alone.
static void both_run(void **state)
{
    (void)state;
    HoloModel   *plain = made_model("fused", 1, false), *both = made_model("fused", 1, true);
    float        y[3][3 * N];
    HoloSession *on_cpu, *on_cuda, *alone = ran(plain, "cpu", y[0]);
    assert_int_equal(fake->contexts, 0);
    EXPECT_OK(holo_model_set_device(both, "cpu", &error));
    on_cpu = ran(both, "cpu", y[1]);
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_int_equal(fake->contexts + fake->takes + fake->streams, 0); // nobody has asked the driver
    EXPECT_OK(holo_model_set_device(both, "cuda", &error));
    on_cuda = ran(both, "cuda:0", y[2]);
    assert_true(fake->launches >= 2); // the fake computes no products
    holo_session_destroy(on_cuda);
    holo_session_destroy(on_cpu);
    on_cpu = ran(plain, "cpu", y[1]);
    holo_session_destroy(on_cpu);
    holo_session_destroy(alone);
    holo_model_close(plain);
    holo_model_close(both);
    all_is_given_back();
}

// Without a word, the GPU runs it if it is there.
static void first_that_is_there(void **state)
{
    float      y[2][3 * N];
    HoloModel *plain = made_model("f16", 1, false);
    holo_session_destroy(ran(plain, "cpu", y[0]));
    holo_model_close(plain);
    for (int i = 0; i < 4; i++) {
        fake_reset(state);
        if (i == 1) fake->devices = 0;
        if (i == 2) fake->version = 11080;
        if (i == 3) fake->capability = 75;
        HoloModel   *model   = made_model("f16", 1, true);
        HoloSession *session = ran(model, i ? "cpu" : "cuda:0", y[1]);
        if (i) assert_memory_equal(y[0], y[1], sizeof y[0]);
        holo_session_destroy(session);
        holo_model_close(model);
        all_is_given_back();
    }
    // asked for by name, it must be there
    fake->version      = 11080;
    HoloModel   *model = made_model("f16", 1, true);
    HoloSession *session;
    EXPECT_OK(holo_model_set_device(model, "cuda:0", &error));
    EXPECT_FAIL(holo_session_create(model, NULL, &session, &error), HOLO_UNSUPPORTED, "the driver is too old");
    holo_model_close(model);
    // a GPU that is there but has no memory is a failure
    fake_reset(state);
    fake->memory_left = 1000;
    model             = made_model("f16", 1, true);
    EXPECT_FAIL(holo_session_create(model, NULL, &session, &error), HOLO_NO_MEMORY, "out of memory");
    holo_model_close(model);
    all_is_given_back();
}

// What is at an address of the fake: the host's, and a large number.
static const void *there(const void *address)
{
    return (const void *)((uintptr_t)address - (UINT64_C(1) << 62));
}

// The weights of the product and the table are stored once, and the GPU gets the rows that its own packing makes.
static void weights_are_shared(void **state)
{
    static const char *const classes[] = {"fused", "tf32", "f16"};
    (void)state;
    for (int i = 0; i < HOLO_COUNT(classes); i++) {
        HoloModel   *plain = made_model(classes[i], 1, false), *both = made_model(classes[i], 1, true);
        float        y[3 * N];
        HoloSession *session = ran(both, "cuda:0", y);
        Case         c       = {{K, N}, 2, false, classes[i], 0};
        HoloLowering device  = device_of(&c);
        HoloTensor   w       = {.dtype = HOLO_F32, .rank = 2, .dim = {K, N}};
        float        data[K * N];
        size_t       size;
        int          found = 0;
        for (int k = 0; k < K * N; k++) {
            char number[32];
            snprintf(number, sizeof number, "%d.%d", k % 19 - 9, k % 10);
            data[k] = strtof(number, NULL);
        }
        w.data        = data;
        uint8_t *rows = packed(&holo_target_cuda, &device, &w, &size);
        assert_int_equal(both->archive.CONSTANTS_count, plain->archive.CONSTANTS_count);
        assert_int_equal(both->archive.WEIGHTS_count, plain->archive.WEIGHTS_count);
        for (uint32_t v = 0; v < session->frame->plan->value_count; v++)
            if (session->frame->is_held[v]) found += !memcmp(there(session->frame->types[v].data), rows, size);
        assert_int_equal(found, 1);
        free(rows);
        holo_session_destroy(session);
        holo_model_close(plain);
        holo_model_close(both);
        all_is_given_back();
    }
}

static void facts(void **state)
{
    (void)state;
    HoloModel    *both = made_model("fused", 1, true), *plain = made_model("fused", 1, false);
    HoloModelInfo host, device, alone;
    assert_string_equal(holo_model_device(both, 0), "cuda");
    assert_string_equal(holo_model_device(both, 1), "cpu");
    assert_null(holo_model_device(both, 2));
    assert_null(holo_model_device(both, -1));
    assert_string_equal(holo_model_device(plain, 0), "cpu");
    assert_null(holo_model_device(plain, 1));
    holo_model_info(plain, &alone);
    holo_model_info(both, &host);
    assert_int_equal(host.steps, alone.steps);
    assert_int_equal(host.values, alone.values);
    assert_int_equal(host.plans, 1);
    EXPECT_OK(holo_model_set_device(both, "cuda", &error));
    holo_model_info(both, &device);
    assert_true(device.steps > host.steps); // transfers, too
    EXPECT_OK(holo_model_set_device(both, "cpu", &error));
    EXPECT_FAIL(holo_model_set_device(both, "cpu:1", &error), HOLO_BAD_ARGUMENT, "there is one cpu");
    EXPECT_FAIL(holo_model_set_device(both, "webgpu", &error), HOLO_UNSUPPORTED, "has no steps for webgpu");
    holo_model_close(both);
    holo_model_close(plain);
}

// Each entry has a plan for each of the two, and one choice is for all of them.
static void entries(void **state)
{
    (void)state;
    HoloModel       *model  = made_model("fused", 2, true);
    const HoloModel *second = holo_model_entry(model, "second");
    float            y[2][3 * N];
    assert_non_null(second);
    EXPECT_OK(holo_model_set_device(model, "cpu", &error));
    holo_session_destroy(ran(model, "cpu", y[0]));
    holo_session_destroy(ran(second, "cpu", y[1]));
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    EXPECT_OK(holo_model_set_device(model, "cuda:0", &error));
    holo_session_destroy(ran(second, "cuda:0", y[1]));
    holo_session_destroy(ran(model, "cuda:0", y[1]));
    holo_model_close(model);
    all_is_given_back();
}

// Parameters that do not fit the weights: nothing is brought.
static void broken(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        Made         m;
        HoloSession *session;
        int          changed = 0;
        made_begin(&m, "fused");
        for (int k = 0; k < m.lowered[1].count; k++) {
            HoloLoweredNode   *of     = &m.lowered[1].nodes[k];
            HoloCudaStepParams params = holo_cuda_params(&of->lowering);
            if (!of->target || !(params.flags & HOLO_CUDA_FLAG_PANELS) || (of->shares != NULL) != (i == 0)) continue;
            params.flags |= HOLO_CUDA_FLAG_PANELS_BF16;
            holo_cuda_set_params(&of->lowering, &params);
            changed++;
        }
        assert_int_equal(changed, 1);
        HoloModel *model = made_end(&m, 1, true);
        EXPECT_FAIL(holo_session_create(model, NULL, &session, &error), HOLO_BAD_ARCHIVE,
                    i ? "is not packed as its kernel reads it" : "not packed as it says");
        holo_model_close(model);
        all_is_given_back();
    }
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_of_panels),     TEST(not_shared), TEST(both_run), TEST(first_that_is_there),
        TEST(weights_are_shared), TEST(facts),      TEST(entries),  TEST(broken),
    };
    return cmocka_run_group_tests(tests, fake_load, NULL);
}
