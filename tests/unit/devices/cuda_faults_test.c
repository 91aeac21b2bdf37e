// cuda_faults_test.c - each call of the driver fails once, through opening, runs, other sizes, states and closing: there is a status
// with words that say what failed, nothing is kept, and what is asked for again is done, with the same bits as without a failure.
#include "cuda/fake_model.h"

#include "support/watched.h"

#include <string.h>

static const char layers[] = "graph g(x: f32[N,4], i: i64[K]) -> (y, h) {\n"
                             "    const w: f32[4,3] = {1, 2, 3, 4, 5, 6, -1, -2, -3, 0.5, 7, 8}\n"
                             "    a = MatMul@13(x, w)\n"
                             "    b = Hardmax@13(a)\n" // of the CPU, between stretches of the GPU
                             "    c = Transpose@13(b) {perm=[1,0]}\n"
                             "    d = MatMul@13(a, c)\n"
                             "    e = Gather@13(d, i) {axis=0}\n"
                             "    y = Transpose@13(e) {perm=[1,0]}\n"
                             "    h = Transpose@13(d) {perm=[1,0]}\n"
                             "}\n";

static const char caches[] =
    "graph g(x: f32[B,S,4], rows: i64[B] = index, lengths: i64[B] = 0,\n"
    "        keys: f32[slots,context,4] = state[B,S,4], values: f32[slots,context,4] = state[B,S,4]) -> (y, z) {\n"
    "    k = hologram::CacheWrite@1(keys, x, rows, lengths)\n"
    "    v = hologram::CacheWrite@1(values, x, rows, lengths)\n"
    "    y = hologram::CachedAttention@1(x, k, v, rows, lengths) {num_heads=1, scale=1.0}\n"
    "    z = Transpose@13(y) {perm=[0,2,1]}\n"
    "}\n";

enum { NUMBERS = 64 };

// What a scenario does with a model, step by step. A step that failed can be done again.
typedef struct Scene {
    HoloModel   *model;
    HoloSession *session;
    void        *there;
    float        x[NUMBERS], results[16][NUMBERS];
    int          count;     // of results
    bool         has_asked; // for an index that is out of range
} Scene;

typedef HoloStatus SceneStep(Scene *s, HoloError *error);

static HoloStatus start(Scene *s, HoloError *error)
{
    return s->session ? HOLO_OK : holo_session_create(s->model, NULL, &s->session, error);
}

static HoloStatus run_keep(Scene *s, HoloError *error)
{
    HOLO_TRY(holo_session_run(s->session, error));
    float *to = s->results[s->count];
    for (int k = 0; k < 2; k++) {
        HoloTensor y;
        HOLO_TRY(holo_session_output(s->session, k, &y, error));
        size_t size = holo_tensor_bytes(&y);
        assert_true(size <= NUMBERS / 2 * sizeof *to);
        memcpy(to + k * (NUMBERS / 2), y.data, size);
    }
    assert_true(++s->count <= 16);
    return HOLO_OK;
}

static HoloStatus rows_set(Scene *s, int64_t rows, int64_t last, HoloError *error)
{
    static int64_t index[3];
    HoloTensor     x = {.dtype = HOLO_F32, .rank = 2, .dim = {rows, 4}, .data = s->x};
    HoloTensor     i = {.dtype = HOLO_I64, .rank = 1, .dim = {3}, .data = index};
    index[2]         = last;
    HOLO_TRY(holo_session_set_input(s->session, 0, &x, error));
    return holo_session_set_input(s->session, 1, &i, error);
}

static HoloStatus three_run(Scene *s, HoloError *error)
{
    HOLO_TRY(rows_set(s, 3, 1, error));
    return run_keep(s, error);
}

static HoloStatus five_run(Scene *s, HoloError *error)
{
    HOLO_TRY(rows_set(s, 5, 4, error));
    return run_keep(s, error);
}

// A run that ends with an error of its own. If another one hid it, the run after it does not get it.
static HoloStatus index_fails(Scene *s, HoloError *error)
{
    HoloStatus expected = s->has_asked ? HOLO_OK : HOLO_BAD_INPUT;
    HOLO_TRY(rows_set(s, 5, expected ? 7 : 4, error));
    s->has_asked      = true;
    HoloStatus status = holo_session_run(s->session, error);
    return status == expected ? HOLO_OK : status ? status : HOLO_BAD_MODEL;
}

static HoloStatus there_run(Scene *s, HoloError *error)
{
    HoloTensor x = {.dtype = HOLO_F32, .rank = 2, .dim = {5, 4}};
    HOLO_TRY(rows_set(s, 5, 2, error));
    if (!s->there) HOLO_TRY(holo_session_device_take(s->session, sizeof s->x, &s->there, error));
    HOLO_TRY(holo_session_device_copy(s->session, s->there, s->x, sizeof s->x, true, error));
    x.data = s->there;
    HOLO_TRY(holo_session_set_device_input(s->session, 0, &x, error));
    return run_keep(s, error);
}

static HoloStatus sizes_set(Scene *s, HoloError *error)
{
    HOLO_TRY(holo_session_set_size(s->session, "slots", 2, error));
    return holo_session_set_size(s->session, "context", 4, error);
}

static HoloStatus token_run(Scene *s, int64_t length, HoloError *error)
{
    static int64_t at;
    HoloTensor     x = {.dtype = HOLO_F32, .rank = 3, .dim = {1, 1, 4}, .data = s->x + 4 * length};
    HoloTensor     l = {.dtype = HOLO_I64, .rank = 1, .dim = {1}, .data = &at};
    at               = length;
    HOLO_TRY(holo_session_set_input(s->session, 0, &x, error));
    HOLO_TRY(holo_session_set_input(s->session, 2, &l, error));
    return run_keep(s, error);
}

static HoloStatus token_0(Scene *s, HoloError *error)
{
    return token_run(s, 0, error);
}

static HoloStatus token_1(Scene *s, HoloError *error)
{
    return token_run(s, 1, error);
}

static HoloStatus state_grow(Scene *s, HoloError *error)
{
    return holo_session_set_size(s->session, "context", 9, error);
}

static HoloStatus token_2(Scene *s, HoloError *error)
{
    return token_run(s, 2, error);
}

// What states hold is part of the answer.
static HoloStatus state_keep(Scene *s, HoloError *error)
{
    HOLO_TRY(holo_session_state_copy(s->session, 0, 9 * 16, 0, 3 * 16, error));
    HOLO_TRY(holo_session_state_read(s->session, 0, 9 * 16, s->results[s->count], 3 * 16, error));
    HOLO_TRY(holo_session_state_write(s->session, 1, 0, s->x, 16, error));
    HOLO_TRY(holo_session_state_read(s->session, 1, 0, s->results[s->count] + 12, 3 * 16, error));
    s->count++;
    return HOLO_OK;
}

static SceneStep *const of_layers[] = {start,    three_run,   three_run, three_run, five_run,
                                       five_run, index_fails, five_run,  there_run, five_run};
static SceneStep *const of_caches[] = {start,   sizes_set,  token_0, token_1, token_2,
                                       token_2, state_grow, token_2, token_2, state_keep};
enum { STEPS = 10 };

// ---- failures

static bool shows_failures(void)
{
    return getenv("HOLO_TEST_SHOW") != NULL;
}

static void expect_words(const HoloError *error, int step)
{
    if (shows_failures()) print_message("%-32s step %d: %s\n", fake->failed, step, error->text);
    if (!strstr(error->text, "cuda: ") && !strstr(error->text, "memory"))
        fail_msg("%s, call %d, step %d: \"%s\"", fake->failed, fake->fails_at, step, error->text);
}

static void scene_end(Scene *s)
{
    if (s->there) holo_session_device_give(s->session, s->there, sizeof s->x);
    holo_session_destroy(s->session);
    holo_model_close(s->model);
}

// Returns whether a call failed.
static bool scene_run(HoloModel *model, SceneStep *const steps[STEPS], Scene *s)
{
    bool failed = false;
    *s          = (Scene){.model = model};
    for (int i = 0; i < NUMBERS; i++) s->x[i] = (float)(i % 7) - 3;
    for (int i = 0; i < STEPS; i++) {
        HoloError error = {0};
        int       count = s->count;
        if (!steps[i](s, &error)) continue;
        if (!*fake->failed) fail_msg("step %d: %s", i, error.text);
        expect_words(&error, i);
        if (failed && !fake->fails_on) fail_msg("%s, step %d fails again: %s", fake->failed, i, error.text);
        failed   = true;
        s->count = count;
        if (fake->fails_on) break;
        i--;
    }
    scene_end(s);
    return *fake->failed;
}

static void expect_given_back(void)
{
    int lost = fake->lost + fake->held + fake->modules + fake->streams + fake->graphs;
    assert_int_equal(fake->contexts, 0);
    assert_int_equal(fake->depth, 0);
    if (fake->fails_on || !strcmp(fake->failed, "cuCtxPushCurrent_v2")) return; // they cannot be given back
    if (lost) fail_msg("%d things are kept after a failure of %s, call %d", lost, fake->failed, fake->fails_at);
}

// Every call fails, one after another.
static void scenes_run(const char *text, const char *numeric, SceneStep *const steps[STEPS], int with, bool on)
{
    static Scene want, got;
    int          at = 0, step = watched_step("the calls that fail", 5);
    fake_reset(NULL);
    assert_false(scene_run(fake_model(text, numeric, "ptx"), steps, &want));
    expect_given_back();
    bool failed = true;
    while (failed) {
        HoloModel *model;
        EXPECT_OK(holo_model_open(temp_path("fake.holo"), &model, &error)); // the same
        fake_reset(NULL);
        fake->fails_at   = at += step;
        fake->fails_with = with;
        fake->fails_on   = on;
        failed           = scene_run(model, steps, &got);
        expect_given_back();
        if (on) continue;
        assert_int_equal(got.count, want.count);
        for (int i = 0; i < want.count; i++)
            if (memcmp(got.results[i], want.results[i], sizeof want.results[i]))
                fail_msg("class %s: result %d differs after a failure of %s, call %d", numeric, i, fake->failed, at);
    }
    assert_in_range(at, 100, 2000);
}

static void passing(void **state)
{
    (void)state;
    scenes_run(layers, "fused", of_layers, 700, false);
    scenes_run(caches, "f16", of_caches, HOLO_FAKE_NO_MEMORY, false);
}

// A GPU that is gone: all calls fail from one on.
static void lasting(void **state)
{
    (void)state;
    scenes_run(layers, "bf16", of_layers, 700, true);
    scenes_run(caches, "fused", of_caches, 700, true);
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(passing), TEST(lasting)};
    return cmocka_run_group_tests(tests, fake_load, NULL);
}
