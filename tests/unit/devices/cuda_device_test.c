// cuda_device_test.c - the device cuda with a driver without a GPU (tests/cuda/fake_driver.c): what a run asks of the
// driver, transfers that convert, memory of the caller's there, and what goes wrong.
#include "cuda/fake_model.h"

#include <string.h>

// ---- models

static const char layers[] = "graph g(x: f32[3,4]) -> (y) {\n"
                             "    const w: f32[3,2] = {1, 2, 3, 4, 5, 6}\n"
                             "    a = Transpose@13(x) {perm=[1,0]}\n"
                             "    b = MatMul@13(a, w)\n"
                             "    y = Softmax@13(b)\n"
                             "}\n";
static const char moves[]  = "graph g(x: f32[3,4]) -> (y) {\n"
                             "    const w: f32[4,1] = {1, 2, 3, 70000}\n"
                             "    a = Transpose@13(x) {perm=[1,0]}\n"
                             "    y = Concat@13(a, w) {axis=1}\n"
                             "}\n";

static float x_data[12];

static HoloTensor x_tensor(void)
{
    for (int i = 0; i < 12; i++) x_data[i] = (float)i / 3;
    return (HoloTensor){.dtype = HOLO_F32, .rank = 2, .dim = {3, 4}, .data = x_data};
}

static void all_is_given_back(void)
{
    assert_int_equal(fake->held, 0);
    assert_int_equal(fake->modules, 0);
    assert_int_equal(fake->streams, 0);
    assert_int_equal(fake->graphs, 0);
    assert_int_equal(fake->contexts, 0);
    assert_int_equal(fake->depth, 0);
}

// ---- what a run asks for

static void launches(const char *numeric)
{
    HoloModel   *model = fake_model(layers, numeric, "ptx");
    HoloSession *session;
    HoloTensor   x = x_tensor();
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
    EXPECT_OK(holo_session_run(session, &error)); // launches each step
    assert_int_equal(fake->graph_launches, 0);
    int steps = fake->launches;
    assert_in_range(steps, 3, 5);                 // a move, a product, softmax, and what converts
    EXPECT_OK(holo_session_run(session, &error)); // records them
    assert_int_equal(fake->graph_launches, 1);
    HoloFakeDriver before = *fake;
    for (int i = 0; i < 5; i++) EXPECT_OK(holo_session_run(session, &error));
    assert_int_equal(fake->graph_launches - before.graph_launches, 5);
    bool converts = !strcmp(numeric, "f16") || !strcmp(numeric, "bf16"); // what comes in and goes out
    assert_int_equal(fake->launches, before.launches + (converts ? 10 : 0));
    assert_int_equal(fake->takes, before.takes);
    assert_int_equal(fake->copies_in - before.copies_in, 5);
    assert_int_equal(fake->copies_out - before.copies_out, 5);
    assert_int_equal(fake->kernels - before.kernels, 5 * steps);
    holo_session_destroy(session);
    holo_model_close(model);
    all_is_given_back();
}

static void one_launch(void **state)
{
    static const char *const classes[] = {"fused", "exact", "tf32", "f16", "bf16"};
    for (int i = 0; i < HOLO_COUNT(classes); i++) {
        fake_reset(state);
        launches(classes[i]);
    }
}

// The copy engine's maps of both operands are encoded for a launch; only where code for this very kind of GPU is there.
static void maps(void **state)
{
    static const char text[] =
        "graph g(x: f32[12,8]) -> (y) {\n"
        "    const w: f32[8,4] = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, "
        "7, 8, 1, 2, 3, 4, 5, 6, 7, 8}\n"
        "    y = MatMul@13(x, w)\n"
        "}\n";
    static const struct {
        const char *kind;
        int         capability, maps;
    } cases[]      = {{"sm_90", 90, 2}, {"sm_80", 80, 0}, {"sm_89", 89, 0}, {"ptx_89", 89, 0}, {"ptx_89", 120, 0}};
    float data[96] = {0};
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        fake_reset(state);
        fake->capability     = cases[i].capability;
        HoloModel   *model   = fake_model(text, "f16", cases[i].kind);
        HoloTensor   x       = {.dtype = HOLO_F32, .rank = 2, .dim = {12, 8}, .data = data};
        HoloSession *session = NULL;
        EXPECT_OK(holo_session_create(model, NULL, &session, &error));
        EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
        EXPECT_OK(holo_session_run(session, &error));
        assert_int_equal(fake->maps, cases[i].maps);
        holo_session_destroy(session);
        holo_model_close(model);
        all_is_given_back();
    }
}

// Parts of k are blocks of a cluster only where the code is that of sm_90: that of other kinds has no clusters, and would leave zeros.
static void clusters(void **state)
{
    static const char text[] = "graph g(x: f32[16,2048], w: f32[2048,16]) -> (y) {\n"
                               "    y = MatMul@13(x, w)\n"
                               "}\n";
    static const struct {
        const char *kind;
        int         capability, clusters;
    } cases[]   = {{"sm_90", 90, 1}, {"ptx", 90, 0}, {"ptx", 100, 0}, {"ptx", 120, 0}, {"sm_80", 80, 0}};
    float *data = calloc(16 * 2048, sizeof *data);
    assert_non_null(data);
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        fake_reset(state);
        fake->capability     = cases[i].capability;
        HoloModel   *model   = fake_model(text, "tf32", cases[i].kind);
        HoloTensor   x       = {.dtype = HOLO_F32, .rank = 2, .dim = {16, 2048}, .data = data};
        HoloTensor   w       = {.dtype = HOLO_F32, .rank = 2, .dim = {2048, 16}, .data = data};
        HoloSession *session = NULL;
        EXPECT_OK(holo_session_create(model, NULL, &session, &error));
        EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
        EXPECT_OK(holo_session_set_input(session, 1, &w, &error));
        EXPECT_OK(holo_session_run(session, &error));
        assert_int_equal(fake->clusters, cases[i].clusters);
        holo_session_destroy(session);
        holo_model_close(model);
        all_is_given_back();
    }
    free(data);
}

// Kernels that read a scale or a bias by the read-only cache are for constants: it may be old where a kernel wrote what it read.
static void read_only(void **state)
{
    static const struct {
        const char *text, *kernel;
    } cases[]            = {{"graph g(x: f32[2,4]) -> (y) {\n"
                                        "    const s: f32[4] = {1, 2, 3, 4}\n"
                                        "    y = LayerNormalization@17(x, s)\n"
                                        "}\n",
                             "norm_plain_f32"},
                            {"graph g(x: f32[2,4], a: f32[4]) -> (y) {\n"
                                        "    s = Exp@13(a)\n"
                                        "    y = LayerNormalization@17(x, s)\n"
                                        "}\n",
                             "centre"}};
    static float data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        fake_reset(state);
        HoloModel   *model   = fake_model(cases[i].text, "fused", "sm_90");
        HoloTensor   x       = {.dtype = HOLO_F32, .rank = 2, .dim = {2, 4}, .data = data};
        HoloTensor   a       = {.dtype = HOLO_F32, .rank = 1, .dim = {4}, .data = data};
        HoloSession *session = NULL;
        EXPECT_OK(holo_session_create(model, NULL, &session, &error));
        EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
        if (i) EXPECT_OK(holo_session_set_input(session, 1, &a, &error));
        EXPECT_OK(holo_session_run(session, &error));
        assert_string_equal(fake->function, cases[i].kernel);
        holo_session_destroy(session);
        holo_model_close(model);
        all_is_given_back();
    }
}

#include "unit/devices/cuda_states_case.h"

// Sessions share weights and code; each has memory and a stream of its own.
static void two_sessions(void **state)
{
    (void)state;
    HoloModel   *model = fake_model(layers, "fused", "ptx");
    HoloSession *one, *two;
    HoloTensor   x = x_tensor();
    EXPECT_OK(holo_session_create(model, NULL, &one, &error));
    int copies = fake->copies_in, modules = fake->modules;
    EXPECT_OK(holo_session_create(model, NULL, &two, &error));
    assert_int_equal(fake->copies_in, copies);
    assert_int_equal(fake->modules, modules);
    EXPECT_OK(holo_session_set_input(two, 0, &x, &error));
    EXPECT_OK(holo_session_run(two, &error));
    holo_session_destroy(one);
    holo_session_destroy(two);
    holo_model_close(model);
    all_is_given_back();
}

// ---- numbers of fewer bits

static void expect_moved(const float *y, const char *numeric)
{
    bool f16 = !strcmp(numeric, "f16");
    for (int r = 0; r < 4; r++) {
        for (int c = 0; c < 3; c++) {
            float want = x_data[c * 4 + r], got = y[r * 4 + c], most = want * (f16 ? 0x1p-11F : 0x1p-8F);
            if (!(got - want <= most && want - got <= most))
                fail_msg("%d, %d: %g, not %g", r, c, (double)got, (double)want);
        }
        if (r < 3) assert_true(y[r * 4 + 3] == (float)(r + 1));
    }
    assert_true(f16 ? y[15] > 1e30F : y[15] > 69000 && y[15] < 71000); // f16 has no 70000
}

// Values lie as f16 or bf16 in the memory of the device; constants of f32 become so when they are moved.
static void narrow(void **state)
{
    (void)state;
    static const char *const classes[] = {"f16", "bf16"};
    for (int i = 0; i < HOLO_COUNT(classes); i++) {
        HoloModel   *model = fake_model(moves, classes[i], "ptx");
        HoloSession *session;
        HoloTensor   x = x_tensor(), y;
        EXPECT_OK(holo_session_create(model, NULL, &session, &error));
        EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
        for (int run = 0; run < 3; run++) {
            EXPECT_OK(holo_session_run(session, &error));
            EXPECT_OK(holo_session_output(session, 0, &y, &error));
            expect_moved(y.data, classes[i]);
        }
        holo_session_destroy(session);
        holo_model_close(model);
        all_is_given_back();
    }
}

static int watched;

static void watch(void *context, const char *node, const char *value, const HoloTensor *t)
{
    const float *numbers = t->data;
    (void)context, (void)node;
    if (strcmp(value, "a")) return;
    watched++;
    for (int i = 0; i < 12; i++) {
        float less = numbers[i] - x_data[i % 3 * 4 + i / 3];
        assert_true(less < 0.01F && less > -0.01F);
    }
}

// Who watches values sees f32.
static void narrow_is_shown(void **state)
{
    (void)state;
    HoloModel   *model = fake_model(moves, "f16", "ptx");
    HoloSession *session;
    HoloTensor   x = x_tensor();
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
    holo_session_watch(session, watch, NULL);
    watched = 0;
    EXPECT_OK(holo_session_run(session, &error));
    assert_int_equal(watched, 1);
    holo_session_destroy(session);
    holo_model_close(model);
}

// ---- operators that only move elements: as on the CPU

static const char *const moved[] = {
    "y = Transpose@13(x) {perm=[2,0,1]}",
    "y = Slice@13(x, s, e, a, t)",
    "y = Pad@18(x, p, v)",
    "y = Pad@18(x, q)",
    "y = Tile@13(x, r)",
    "y = Expand@13(z, w)",
    "z1 = Transpose@13(x) {perm=[0,2,1]}\n    y = Concat@13(x, z1) {axis=2}",
    "y = DepthToSpace@13(d) {blocksize=2}",
    "y = DepthToSpace@13(d) {blocksize=2, mode=\"CRD\"}",
    "y = SpaceToDepth@13(d) {blocksize=2}",
};

static void move_agrees(const char *node, const char *numeric)
{
    char       text[1200];
    HoloArena  arena = {0};
    HoloGraph *graph;
    HoloModel *models[2];
    float      data[128], results[2][512];
    uint32_t   kernels;
    HoloTensor y;
    HoloTensor in[3] = {{.dtype = HOLO_F32, .rank = 3, .dim = {2, 4, 4}, .data = data},
                        {.dtype = HOLO_F32, .rank = 3, .dim = {2, 1, 4}, .data = data},
                        {.dtype = HOLO_F32, .rank = 4, .dim = {2, 8, 2, 4}, .data = data}};
    for (int i = 0; i < 128; i++) data[i] = (float)i;
    snprintf(text, sizeof text,
             "graph g(x: f32[2,4,4], z: f32[2,1,4], d: f32[2,8,2,4]) -> (y) {\n"
             "    const s: i64[2] = {3, 1}\n    const e: i64[2] = {-9, 4}\n    const a: i64[2] = {1, 2}\n"
             "    const t: i64[2] = {-2, 2}\n    const p: i64[6] = {1, 0, 2, 0, 3, 1}\n    const v: f32[] = {7.5}\n"
             "    const q: i64[6] = {0, -1, 1, 0, 1, -2}\n    const r: i64[3] = {2, 1, 3}\n"
             "    const w: i64[4] = {3, 2, 5, 4}\n    %s\n}\n",
             node);
    EXPECT_OK(holo_graph_parse(&arena, text, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    EXPECT_OK(model_of(graph, HOLO_FUSED, &models[0], &kernels, &error));
    models[1]    = fake_model(text, numeric, "ptx");
    size_t bytes = 0;
    for (int i = 0; i < 2; i++) {
        HoloSession *session;
        EXPECT_OK(holo_session_create(models[i], NULL, &session, &error));
        for (int k = 0; k < 3; k++) EXPECT_OK(holo_session_set_input(session, k, &in[k], &error));
        EXPECT_OK(holo_session_run(session, &error));
        EXPECT_OK(holo_session_output(session, 0, &y, &error));
        bytes = holo_tensor_bytes(&y);
        assert_in_range(bytes, 4, sizeof results[0]);
        memcpy(results[i], y.data, bytes);
        holo_session_destroy(session);
        holo_model_close(models[i]);
    }
    if (memcmp(results[0], results[1], bytes)) fail_msg("%s differs in class %s", node, numeric);
    holo_arena_deinit(&arena);
}

static void moves_agree(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(moved); i++) {
        move_agrees(moved[i], "fused");
        move_agrees(moved[i], "f16"); // all of these numbers are numbers of f16
        move_agrees(moved[i], "bf16");
    }
}

// ---- memory of the caller's, there

static void stays(const char *numeric)
{
    HoloModel   *model = fake_model(moves, numeric, "ptx");
    HoloSession *session;
    HoloTensor   x = x_tensor(), there = x;
    void        *in, *out;
    float        y[16];
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_device_take(session, sizeof x_data, &in, &error));
    EXPECT_OK(holo_session_device_take(session, sizeof y, &out, &error));
    EXPECT_OK(holo_session_device_copy(session, in, x.data, sizeof x_data, true, &error));
    there.data = in;
    EXPECT_OK(holo_session_set_device_input(session, 0, &there, &error));
    EXPECT_OK(holo_session_set_device_output(session, 0, out, sizeof y, &error));
    for (int run = 0; run < 3; run++) {
        HoloFakeDriver before = *fake;
        EXPECT_OK(holo_session_run(session, &error));
        assert_int_equal(fake->copies_in, before.copies_in);
        assert_int_equal(fake->copies_out, before.copies_out);
    }
    EXPECT_OK(holo_session_device_copy(session, y, out, sizeof y, false, &error));
    expect_moved(y, strcmp(numeric, "f16") ? "bf16" : "f16");
    // on a stream of the caller's nobody waits
    int            mine;
    HoloFakeDriver before;
    EXPECT_OK(holo_session_set_stream(session, &mine, false, &error));
    before = *fake;
    EXPECT_OK(holo_session_run(session, &error));
    assert_int_equal(fake->waits, before.waits);
    assert_ptr_equal(fake->stream, &mine);
    EXPECT_OK(holo_session_set_stream(session, NULL, true, &error));
    // and back to memory of the host
    EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
    EXPECT_OK(holo_session_set_output(session, 0, y, sizeof y, &error));
    memset(y, 0, sizeof y);
    EXPECT_OK(holo_session_run(session, &error));
    expect_moved(y, strcmp(numeric, "f16") ? "bf16" : "f16");
    EXPECT_FAIL(holo_session_set_device_output(session, 0, out, 4, &error) ? HOLO_OK
                                                                           : holo_session_run(session, &error),
                HOLO_BAD_ARGUMENT, "needs 64 bytes");
    holo_session_device_give(session, in, sizeof x_data);
    holo_session_device_give(session, out, sizeof y);
    holo_session_destroy(session);
    holo_model_close(model);
    all_is_given_back();
}

static void there(void **state)
{
    (void)state;
    stays("fused");
    stays("f16");
}

// A step of the host reads the input: it is brought there.
static void host_reads_it(void **state)
{
    (void)state;
    static const char text[] = "graph g(x: f32[3,4]) -> (y, h) {\n"
                               "    y = Transpose@13(x) {perm=[1,0]}\n"
                               "    h = Hardmax@13(x)\n"
                               "}\n";
    HoloModel        *model  = fake_model(text, "fused", "ptx");
    HoloSession      *session;
    HoloTensor        x = x_tensor(), h;
    void             *in, *out;
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_device_take(session, sizeof x_data, &in, &error));
    EXPECT_OK(holo_session_device_take(session, sizeof x_data, &out, &error));
    EXPECT_OK(holo_session_device_copy(session, in, x.data, sizeof x_data, true, &error));
    x.data = in;
    EXPECT_OK(holo_session_set_device_input(session, 0, &x, &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, 1, &h, &error));
    for (int i = 0; i < 12; i++) assert_true(((float *)h.data)[i] == (i % 4 == 3 ? 1.0F : 0.0F));
    // an output that the host computes goes there at the end
    float y[12];
    EXPECT_OK(holo_session_set_device_output(session, 1, out, sizeof y, &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_device_copy(session, y, out, sizeof y, false, &error));
    for (int i = 0; i < 12; i++) assert_true(y[i] == (i % 4 == 3 ? 1.0F : 0.0F));
    holo_session_device_give(session, in, sizeof x_data);
    holo_session_device_give(session, out, sizeof x_data);
    holo_session_destroy(session);
    holo_model_close(model);
    all_is_given_back();
}

static void no_device(void **state)
{
    (void)state;
    HoloModel   *model = compiled(model_tiny(), HOLO_FUSED);
    HoloSession *session;
    HoloTensor   x = {.dtype = HOLO_F32, .rank = 2, .dim = {2, 3}, .data = x_data};
    void        *memory;
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_FAIL(holo_session_device_take(session, 8, &memory, &error), HOLO_BAD_ARGUMENT, "for the CPU alone");
    EXPECT_FAIL(holo_session_set_device_input(session, 0, &x, &error), HOLO_BAD_ARGUMENT, "for the CPU alone");
    EXPECT_FAIL(holo_session_set_stream(session, NULL, false, &error), HOLO_BAD_ARGUMENT, "for the CPU alone");
    holo_session_destroy(session);
    holo_model_close(model);
}

// ---- what goes wrong

static void refused(const char *kind, HoloStatus expected, const char *words)
{
    HoloModel   *model = fake_model(layers, "fused", kind);
    HoloSession *session;
    EXPECT_FAIL(holo_session_create(model, NULL, &session, &error), expected, words);
    holo_model_close(model);
    all_is_given_back();
}

static void wrong(void **state)
{
    fake->version = 11080;
    refused("ptx", HOLO_UNSUPPORTED, "the driver is too old: it is for CUDA 11.8, and CUDA 12.0 is needed");
    fake_reset(state);
    fake->devices = 0;
    refused("ptx", HOLO_UNSUPPORTED, "there is no GPU");
    fake_reset(state);
    fake->capability = 80;
    refused("sm_90", HOLO_UNSUPPORTED, "the archive has code for sm_90, but Fake GPU is sm_80");
    fake_reset(state);
    fake->capability = 80;
    refused("ptx_89", HOLO_UNSUPPORTED, "the archive has code for ptx_89, but Fake GPU is sm_80");
    fake_reset(state);
    fake->capability = 75;
    refused("ptx", HOLO_UNSUPPORTED, "Fake GPU is sm_75, and there is code for sm_80 and later ones alone");
    fake_reset(state);
    fake->memory_left = 1000;
    refused("ptx", HOLO_NO_MEMORY, "out of memory");
    fake_reset(state);
    fake->module_fails = 222; // PTX of a later version than the driver knows
    refused("ptx", HOLO_UNSUPPORTED, "the driver is too old for the code of this archive");
    fake_reset(state);
    HoloModel   *model = fake_model(layers, "fused", "ptx");
    HoloSession *session;
    EXPECT_OK(holo_model_set_device(model, "cuda:1", &error));
    EXPECT_FAIL(holo_session_create(model, NULL, &session, &error), HOLO_BAD_ARGUMENT,
                "there is no device cuda:1: this machine has 1");
    holo_model_close(model);
    all_is_given_back();
}

// A run that fails leaves a session that can be destroyed, and the next run is a run like any other.
static void run_fails(void **state)
{
    (void)state;
    HoloModel   *model = fake_model(layers, "fused", "ptx");
    HoloSession *session;
    HoloTensor   x = x_tensor();
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
    fake->launch_fails = 700;
    EXPECT_FAIL(holo_session_run(session, &error), HOLO_INTERNAL, "kernel move");
    fake->launch_fails = 0;
    fake->wait_fails   = 700;
    EXPECT_FAIL(holo_session_run(session, &error), HOLO_INTERNAL, "running");
    fake->wait_fails = 0;
    EXPECT_OK(holo_session_run(session, &error));
    holo_session_cancel(session);
    EXPECT_FAIL(holo_session_run(session, &error), HOLO_CANCELLED, "cancelled");
    EXPECT_OK(holo_session_run(session, &error));
    holo_session_destroy(session);
    holo_model_close(model);
    all_is_given_back();
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_launch),  TEST(maps),   TEST(two_sessions),  TEST(narrow),    TEST(narrow_is_shown),
        TEST(moves_agree), TEST(there),  TEST(host_reads_it), TEST(no_device), TEST(wrong),
        TEST(run_fails),   TEST(states), TEST(left),          TEST(clusters),  TEST(read_only),
    };
    return cmocka_run_group_tests(tests, fake_load, NULL);
}
