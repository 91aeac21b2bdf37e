// cuda_winograd_test.c - 3x3 convolutions by tiles of 2x2 pixels: their kernels, run on the CPU by tests/cuda/on_cpu, against `eval`,
// with sizes that hurt; in how many parts, and when that way is taken. With HOLO_TEST_GPU=1 a GPU runs them.
#include "cuda/fake_model.h"

#include "devices/cuda/cuda_winograd.h"

#include <math.h>

// ---- a target that always takes that way

static int64_t forced_part; // how many tiles at a time

static HoloLowering forced_choose(const HoloNode *node)
{
    HoloLowering     lowering = holo_target_cuda.choose(node);
    HoloCudaWinograd w;
    if (holo_cuda_winograd_fits(node, &lowering, &w)) holo_cuda_winograd_take(&lowering, forced_part);
    return lowering;
}

static HoloTarget forced_target(void)
{
    HoloTarget target = holo_target_cuda;
    target.choose     = forced_choose;
    return target;
}

// ---- graphs

typedef struct Case {
    int         channels, filters, images, height, width;
    int         pads[4]; // top, left, bottom, right
    int         part;
    const char *end; // attributes; NULL: none
    bool        has_bias, has_more, is_hard;
} Case;

static uint32_t seed;

static float random_next(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / (1 << 23) - 1;
}

// Hard: some are NaN.
static void fill(HoloTensor *t, double scale, bool is_hard)
{
    for (int64_t i = 0; i < holo_tensor_count(t); i++) {
        float x               = random_next() * (float)scale;
        ((float *)t->data)[i] = is_hard && seed >> 24 < 2 ? NAN : x;
    }
}

static void case_text(const Case *c, HoloText *out)
{
    int height = c->height + c->pads[0] + c->pads[2] - 2, width = c->width + c->pads[1] + c->pads[3] - 2;
    holo_text_add(out, "graph g(x: f32[%d,%d,%d,%d]", c->images, c->height, c->width, c->channels);
    if (c->has_more) holo_text_add(out, ", r: f32[%d,%d,%d,%d]", c->images, height, width, c->filters);
    holo_text_add(out, ", w: f32[%d,%d,3,3], wb: f32[%d]) -> (y) {\n    y = hologram::Conv@1(x, w, %s%s) {", c->filters,
                  c->channels, c->filters, c->has_bias ? "wb" : "_", c->has_more ? ", r" : "");
    holo_text_add(out, "kernel_shape=[3,3], pads=[%d,%d,%d,%d]%s%s}\n}\n", c->pads[0], c->pads[1], c->pads[2],
                  c->pads[3], c->end ? ", " : "", c->end ? c->end : "");
}

// Inputs whose name begins with w are constants: too large for the text.
static HoloGraph *graph_of(const char *text, int channels, HoloArena *arena)
{
    HoloGraph *graph;
    int        kept = 0;
    EXPECT_OK(holo_graph_parse(arena, text, &graph, &error));
    for (int i = 0; i < graph->input_count; i++) {
        HoloValue *v = graph->inputs[i];
        if (v->name[0] != 'w') {
            graph->inputs[kept++] = v;
            continue;
        }
        v->is_input    = false;
        v->is_constant = true;
        v->type.data   = holo_arena_take(arena, holo_tensor_bytes(&v->type) + 1);
        fill(&v->type, v->type.rank == 1 ? 1 : 1 / sqrt(9.0 * channels), false);
    }
    graph->input_count = kept;
    EXPECT_OK(holo_graph_infer(graph, &error));
    return graph;
}

// ---- running

enum { INPUTS = 2 };

static void expect_close(const HoloTensor *got, const HoloTensor *want, const char *text)
{
    const float *x = got->data, *y = want->data;
    assert_int_equal(holo_tensor_count(got), holo_tensor_count(want));
    for (int64_t i = 0; i < holo_tensor_count(want); i++) {
        double within = 1e-5 * fmax(1, fabs((double)y[i]));
        if (isnan(y[i]) ? isnan(x[i]) : fabs((double)x[i] - (double)y[i]) <= within) continue;
        FAIL_WITH("element %lld is %.9g, not %.9g:\n%s", (long long)i, (double)x[i], (double)y[i], text);
        return;
    }
}

// Step by step, and recorded with threads in the opposite order; the same bits each time, and three launches for each part.
static void session_run(HoloModel *model, const HoloGraph *graph, const HoloTensor *in, const HoloTensor *want,
                        int64_t parts, const char *text)
{
    HoloSession *session;
    HoloTensor   got;
    void        *first = NULL;
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int i = 0; i < graph->input_count; i++) EXPECT_OK(holo_session_set_input(session, i, &in[i], &error));
    for (int run = 0; run < 2; run++) {
        int before = fake->kernels, computed = fake->computed;
        fake->is_backwards = run == 1;
        EXPECT_OK(holo_session_run(session, &error));
        EXPECT_OK(holo_session_output(session, 0, &got, &error));
        expect_close(&got, want, text);
        expect_counted(fake->kernels - before == 3 * parts && fake->computed - computed == 3 * parts);
        size_t size = holo_tensor_bytes(&got);
        if (!run) first = memcpy(malloc(size), got.data, size);
        if (run && memcmp(first, got.data, size)) FAIL_WITH("other bits in run %d:\n%s", run, text);
    }
    fake->is_backwards = false;
    free(first);
    holo_session_destroy(session);
}

static void case_run(const Case *c)
{
    HoloTarget        target = forced_target();
    HoloArena         arena  = {0};
    HoloText          text   = {0};
    HoloTensor        in[INPUTS], want;
    const HoloTensor *inputs[INPUTS];
    HoloCudaWinograd  w;
    seed = 1;
    case_text(c, &text);
    HoloGraph *graph = graph_of(text.data, c->channels, &arena);
    for (int i = 0; i < graph->input_count; i++) {
        in[i]      = graph->inputs[i]->type;
        in[i].data = holo_arena_take(&arena, holo_tensor_bytes(&in[i]) + 1);
        inputs[i]  = &in[i];
        fill(&in[i], 1, c->is_hard);
    }
    EXPECT_OK(holo_graph_eval(graph, inputs, &want, &arena, NULL, &error));
    HoloLowering lowering = holo_target_cuda.choose(graph->nodes[0]);
    assert_true(holo_cuda_winograd_fits(graph->nodes[0], &lowering, &w));
    forced_part      = c->part;
    HoloModel *model = fake_model_for(graph, &target, "ptx");
    assert_non_null(model);
    session_run(model, graph, in, &want, (w.tiles + c->part - 1) / c->part, text.data);
    holo_model_close(model);
    holo_text_deinit(&text);
    holo_arena_deinit(&arena);
}

// ---- the cases

// Heights and widths around a tile, with paddings of all kinds, in parts of one tile, some and all.
static void sizes(void **state)
{
    static const int sides[] = {1, 2, 3, 7, 8, 15, 16, 17}, parts[] = {1000, 1, 7, 64};
    static const int pads[][4] = {{1, 1, 1, 1}, {0, 0, 0, 0}, {0, 1, 1, 0}, {1, 0, 2, 1}, {2, 3, 1, 2}};
    int              turn      = 0;
    (void)state;
    for (int h = 0; h < HOLO_COUNT(sides); h++)
        for (int w = 0; w < HOLO_COUNT(sides); w++)
            for (int k = 0; k < 2; k++, turn++) {
                Case c   = {.channels = 8 + turn % 2 * 4, .filters = 4 + turn % 3 * 8, .images = turn % 2 ? 3 : 1};
                c.height = sides[h], c.width = sides[w];
                c.part = parts[turn % HOLO_COUNT(parts)];
                if (c.part == 1 && sides[h] * sides[w] > 64) c.part = 5;
                memcpy(c.pads, pads[k ? 1 + turn % (HOLO_COUNT(pads) - 1) : 0], sizeof c.pads);
                bool is_empty = c.height + c.pads[0] + c.pads[2] < 3 || c.width + c.pads[1] + c.pads[3] < 3;
                if (!is_empty) case_run(&c);
            }
}

// The numbers of channels and filters that it is made for, and what a product would do at its end.
static void ends(void **state)
{
    static const Case cases[] = {
        {128, 128, 1, 7, 8, {1, 1, 1, 1}, 5, NULL, true, false, false},
        {132, 136, 3, 3, 2, {1, 1, 1, 1}, 100, "program=\"at_least x0 n0\", numbers=[0.0]", true, false, false},
        {160,
         128,
         1,
         4,
         5,
         {0, 1, 1, 0},
         4,
         "program=\"at_least x0 n0; at_most r0 n1\", numbers=[-0.5,0.25]",
         false,
         false,
         true},
        {12, 8, 3, 5, 7, {1, 1, 1, 1}, 9, "program=\"add x0 x1\"", true, true, false},
        {8, 20, 1, 9, 4, {1, 1, 1, 1}, 3, "program=\"add x0 x1; at_least r0 n0\", numbers=[0.0]", true, true, true},
        {8, 8, 2, 6, 6, {0, 0, 0, 0}, 50, "program=\"at_least x0 n0; add r0 x1\", numbers=[0.0]", false, true, false},
        {16, 4, 1, 8, 3, {1, 1, 1, 1}, 6, "program=\"sigmoid x0; mul x0 r0; mul r1 x1\"", true, true, false},
        {8, 12, 1, 5, 5, {1, 1, 1, 1}, 50, "program=\"leaky x0 n0\", numbers=[0.1]", true, false, true},
        {8, 12, 3, 15, 17, {1, 1, 1, 1}, 50, NULL, false, false, true},
    };
    (void)state;
    for (int i = 0; i < HOLO_COUNT(cases); i++) case_run(&cases[i]);
}

// ---- broken archives

// Parameters and operands that are not those of such a step give an error.
static void refused(void **state)
{
    const Case good     = {8, 8, 1, 6, 6, {1, 1, 1, 1}, 0, NULL, true, false, false},
               many     = {4, 4, 1, 200, 200, {1, 1, 1, 1}, 1, NULL, true, false, false};
    const Case *cases[] = {&good, &many};
    HoloTarget  target  = forced_target();
    (void)state;
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        HoloArena    arena = {0};
        HoloText     text  = {0};
        HoloSession *session;
        case_text(cases[i], &text);
        HoloGraph *graph = graph_of(text.data, cases[i]->channels, &arena);
        forced_part      = cases[i]->part;
        HoloModel *model = fake_model_for(graph, &target, "ptx");
        EXPECT_FAIL(holo_session_create(model, NULL, &session, &error), HOLO_BAD_ARCHIVE,
                    "it is no convolution by tiles of 2x2 pixels");
        holo_model_close(model);
        holo_text_deinit(&text);
        holo_arena_deinit(&arena);
    }
}

// ---- the weights

// A filter with a single number: its transform is that number at the places that G gives it.
static void weights(void **state)
{
    static const double g[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
    enum { FILTERS = 3000, CHANNELS = 8 }; // of several parts
    HoloTensor w    = {.dtype = HOLO_F32, .rank = 4, .dim = {FILTERS, CHANNELS, 3, 3}};
    float     *data = calloc((size_t)holo_tensor_count(&w), sizeof *data);
    (void)state;
    w.data = data;
    for (int f = 0; f < FILTERS; f++)
        for (int c = 0; c < CHANNELS; c++) data[(f * CHANNELS + c) * 9 + (f + c) % 9] = (float)(f * 8 + c);
    HoloLowering       lowering = {.kernel = HOLO_CUDA_STEP_CONV, .pack_input = 1};
    HoloCudaStepParams params   = {.size = sizeof params, .flags = HOLO_CUDA_FLAG_PACKED, .layout = 1};
    holo_cuda_set_params(&lowering, &params);
    holo_cuda_winograd_take(&lowering, 7);
    HoloPacking packing = holo_target_cuda.packing(&lowering, &w);
    assert_int_equal(packing.bytes, sizeof(float) * 16 * FILTERS * CHANNELS);
    assert_true(packing.part_count > 1);
    char *all = malloc(packing.bytes), *at = all, *part = malloc(HOLO_PACK_PART);
    for (int64_t i = 0; i < packing.part_count; i++) {
        size_t size = holo_target_cuda.pack(&lowering, &w, i, part);
        assert_true(size <= HOLO_PACK_PART && size <= packing.bytes - (size_t)(at - all));
        memcpy(at, part, size);
        at += size;
    }
    assert_int_equal(at - all, packing.bytes);
    for (int p = 0; p < 16; p++)
        for (int f = 0; f < FILTERS; f++)
            for (int c = 0; c < CHANNELS; c++) {
                int   tap  = (f + c) % 9;
                float want = (float)(g[p / 4][tap / 3] * g[p % 4][tap % 3] * (f * 8 + c));
                float got  = ((const float *)(void *)all)[(p * FILTERS + f) * CHANNELS + c];
                assert_true(got <= want && got >= want);
            }
    free(part), free(all), free(data);
}

// Weights that the CPU reads plain are stored once, and the convolution is the usual one; those that it transforms, for each.
static void shares(void **state)
{
    HoloTensor         w      = {.dtype = HOLO_F32, .rank = 4, .dim = {16, 16, 3, 3}};
    HoloLowering       host   = {.kernel = HOLO_KERNEL_conv_nhwc_f32, .pack_input = 1, .pack_groups = 1};
    HoloLowering       device = {.kernel = HOLO_CUDA_STEP_CONV, .pack_input = 1}, plain;
    HoloCudaStepParams params = {.size = sizeof params, .flags = HOLO_CUDA_FLAG_PACKED, .layout = 1};
    (void)state;
    holo_cuda_set_params(&device, &params);
    plain = device;
    holo_cuda_winograd_take(&device, 7);
    host.conv_nhwc.flags = HOLO_CONV_NHWC_PACKED | HOLO_CONV_NHWC_WINOGRAD;
    assert_false(holo_cuda_share_weights(&device, &host, &w));
    assert_int_equal(device.kernel, HOLO_CUDA_STEP_WINOGRAD);
    assert_int_equal(holo_cuda_params(&device).part, 7);
    host.conv_nhwc.flags = HOLO_CONV_NHWC_PACKED;
    assert_true(holo_cuda_share_weights(&device, &host, &w));
    assert_true(holo_cuda_share_weights(&plain, &host, &w));
    assert_int_equal(device.kernel, HOLO_CUDA_STEP_CONV);
    assert_memory_equal(device.params, plain.params, sizeof params);
    holo_cuda_winograd_take(&plain, 7); // what several nodes read is not packed
    holo_target_cuda.unpack(&plain);
    assert_int_equal(plain.kernel, HOLO_CUDA_STEP_CONV);
    assert_int_equal(holo_cuda_params(&plain).part, 0);
}

// ---- when, and in how many parts

static HoloCudaWinograd winograd_of(int64_t images, int64_t side, int64_t channels, int64_t filters)
{
    HoloCudaWinograd w = {.images = images, .channels = channels, .filters = filters};
    w.height = w.width = w.out_h = w.out_w = side;
    w.pad_h = w.pad_w = 1;
    w.rows = w.columns = (side + 1) / 2;
    w.tiles            = images * w.rows * w.columns;
    return w;
}

// Parts cover all tiles, fit into the scratch, and their products cover the matrices.
static void parts_cover(void **state)
{
    static const int64_t sides[] = {1, 7, 28, 57, 224, 512}, widths[] = {4, 128, 132, 512, 2048};
    HoloCudaWant         want = {.cluster = 1, .sms = 132, .shared = 99 * 1024};
    (void)state;
    for (int i = 0; i < HOLO_COUNT(sides); i++)
        for (int k = 0; k < HOLO_COUNT(widths); k++)
            for (int64_t images = 1; images <= 33; images += 32) {
                HoloCudaWinograd w    = winograd_of(images, sides[i], widths[k], widths[HOLO_COUNT(widths) - 1 - k]);
                int64_t          part = holo_cuda_winograd_part(&w), parts = (w.tiles + part - 1) / part;
                HoloCudaPick     pick;
                int              m, n;
                assert_true(part > 0 && part * (w.channels + w.filters) * 64 <= INT64_C(256) << 20);
                assert_true((parts - 1) * part < w.tiles);
                int64_t tiles = w.tiles < part ? w.tiles : part;
                assert_true(holo_cuda_winograd_pick(&want, &w, tiles, &pick));
                const HoloCudaLaunch *l = &pick.launch[0];
                assert_int_equal(sscanf(strrchr(l->kernel, '_'), "_%dx%d", &m, &n), 2);
                assert_int_equal(l->grid[0], (tiles + m - 1) / m * ((w.filters + n - 1) / n));
                assert_int_equal(l->grid[2], 16);
                assert_string_equal(l->module, "product_f32");
                assert_int_equal(l->params.product.a_batch[0], tiles * w.channels);
                assert_int_equal(l->params.product.c_batch[0], tiles * w.filters);
            }
}

static void pays(void **state)
{
    static const struct {
        int64_t images, side, channels, filters;
        bool    is;
    } cases[] = {{32, 56, 256, 256, true},  {32, 28, 512, 512, true},  {1, 28, 512, 512, true},
                 {2, 32, 640, 640, true},   {32, 28, 128, 128, false}, {1, 7, 512, 512, false},
                 {32, 56, 64, 1024, false}, {32, 56, 1024, 124, false}};
    (void)state;
    for (int i = 0; i < HOLO_COUNT(cases); i++) {
        HoloCudaWinograd w  = winograd_of(cases[i].images, cases[i].side, cases[i].channels, cases[i].filters);
        double           so = 0, plain = 0;
        if (holo_cuda_winograd_pays(&w) != cases[i].is) fail_msg("case %d", i);
        bool knows = holo_cuda_winograd_costs(&w, &so, &plain);
        assert_true(!cases[i].is || (knows && so * 1.25 <= plain));
    }
}

// The kernel that a class takes for a convolution of that text.
static uint32_t chosen(const char *numeric, const char *sizes, const char *weights, const char *attributes)
{
    HoloArena arena = {0};
    HoloText  text  = {0};
    holo_text_add(&text, "graph g(x: f32[%s], w: f32[%s]) -> (y) {\n    y = hologram::Conv@1(x, w) {%s}\n}\n", sizes,
                  weights, attributes);
    HoloGraph   *graph  = graph_of(text.data, 1, &arena);
    HoloLowering choice = holo_target_cuda.of_class(numeric)->choose(graph->nodes[0]);
    holo_text_deinit(&text);
    holo_arena_deinit(&arena);
    return choice.kernel;
}

// Only sizes that are known, class fused, no strides, dilations or groups.
static void choices(void **state)
{
    static const char large[] = "8,56,56,256", all[] = "256,256,3,3", pads[] = "pads=[1,1,1,1]";
    static const struct {
        const char *numeric, *sizes, *weights, *attributes;
    } others[] = {
        {"exact", large, all, pads},
        {"tf32", large, all, pads},
        {"f16", large, all, pads},
        {"bf16", large, all, pads},
        {"fused", "N,56,56,256", all, pads},
        {"fused", "8,H,56,256", all, pads},
        {"fused", large, all, "pads=[1,1,1,1], strides=[2,2]"},
        {"fused", large, all, "pads=[2,2,2,2], dilations=[2,2]"},
        {"fused", large, "256,64,3,3", "pads=[1,1,1,1], group=4"},
        {"fused", large, "256,256,1,3", "pads=[0,1,0,1]"},
        {"fused", "8,56,56,254", "256,254,3,3", pads},
    };
    (void)state;
    assert_int_equal(chosen("fused", large, all, pads), HOLO_CUDA_STEP_WINOGRAD);
    for (int i = 0; i < HOLO_COUNT(others); i++)
        if (chosen(others[i].numeric, others[i].sizes, others[i].weights, others[i].attributes) != HOLO_CUDA_STEP_CONV)
            fail_msg("case %d", i);
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {TEST(sizes),  TEST(ends),        TEST(refused), TEST(weights),
                                       TEST(shares), TEST(parts_cover), TEST(pays),    TEST(choices)};
    return cmocka_run_group_tests_name("cuda_winograd", tests, fake_load, fake_unload);
}
