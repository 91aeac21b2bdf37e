// open_sizes_test.c - steps whose sizes are found only while running: kernels run them too, and eval where a kernel
// refuses. Each graph is run with inputs of several sizes, one after the other, and compared with plain evaluation.
#include "support/models.h"

#include "passes/passes.h"
#include "runtime/frame/frame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS_MAX = 4, OUTPUTS_MAX = 4 };

typedef struct Case {
    HoloArena    arena;
    HoloGraph   *graph; // untouched by passes: the reference
    HoloModel   *model;
    HoloSession *session;
    uint32_t     kernels;
} Case;

static void case_begin(Case *c, const char *text, bool with_passes)
{
    HoloGraph *planned;
    *c = (Case){0};
    EXPECT_OK(holo_graph_parse(&c->arena, text, &c->graph, &error));
    EXPECT_OK(holo_graph_infer(c->graph, &error));
    EXPECT_OK(holo_graph_parse(&c->arena, text, &planned, &error));
    EXPECT_OK(holo_graph_infer(planned, &error));
    if (with_passes) EXPECT_OK(holo_passes_run(planned, NULL, &error));
    EXPECT_OK(model_of(planned, HOLO_FUSED, &c->model, &c->kernels, &error));
    EXPECT_OK(holo_session_create(c->model, NULL, &c->session, &error));
}

static void case_end(Case *c)
{
    holo_session_destroy(c->session);
    holo_model_close(c->model);
    holo_arena_deinit(&c->arena);
}

static void expect_close(const HoloTensor *want, const HoloTensor *got)
{
    assert_int_equal(got->dtype, want->dtype);
    assert_int_equal(got->rank, want->rank);
    for (int d = 0; d < want->rank; d++) assert_int_equal(got->dim[d], want->dim[d]);
    for (int64_t i = 0; i < holo_tensor_count(want); i++) {
        double x = holo_get_f(want, i), y = holo_get_f(got, i);
        if (!(fabs(x - y) <= 1e-4 * (1 + fabs(x))) && !(isnan(x) && isnan(y)))
            fail_msg("element %lld is %g, not %g", (long long)i, y, x);
    }
}

// Runs on inputs of this many rows, of which numbers below `least` become 0, twice.
static void case_run(Case *c, int64_t rows, double least)
{
    HoloTensor        inputs[INPUTS_MAX], want[OUTPUTS_MAX], got;
    const HoloTensor *list[INPUTS_MAX];
    for (int i = 0; i < c->graph->input_count; i++) {
        inputs[i] = made(&c->graph->inputs[i]->type, 7 + (uint64_t)(rows + i), rows);
        list[i]   = &inputs[i];
        for (int64_t k = 0; k < holo_tensor_count(&inputs[i]); k++)
            if (inputs[i].dtype == HOLO_F32 && holo_get_f(&inputs[i], k) < least) holo_put_f(&inputs[i], k, 0);
        EXPECT_OK(holo_session_set_input(c->session, i, &inputs[i], &error));
    }
    EXPECT_OK(holo_graph_eval(c->graph, list, want, &c->arena, NULL, &error));
    for (int run = 0; run < 2; run++) {
        EXPECT_OK(holo_session_run(c->session, &error));
        for (int i = 0; i < c->graph->output_count; i++) {
            EXPECT_OK(holo_session_output(c->session, i, &got, &error));
            expect_close(&want[i], &got);
        }
    }
    for (int i = 0; i < c->graph->input_count; i++) free(inputs[i].data);
}

// By which kernel, or eval, the step of an operator ran last.
static const char *ran_by(const Case *c, const char *op)
{
    const HoloFrame *frame = c->session->frames[0];
    for (uint32_t i = 0; i < frame->plan->step_count; i++) {
        const HoloStep *step = &frame->steps[i];
        if (strcmp(frame->calls[i].op->name, op)) continue;
        return step->is_decided ? step->on->device->ran_by(step->job) : "another";
    }
    return "nothing";
}

// ---- rows that are chosen by what they hold

static const char rows_text[] =
    "graph g(x: f32[n,5]) -> (y) {\n"
    "    const axis: i64[1] = {1}\n"
    "    const first: i64[1] = {0}\n"
    "    const w: f32[5,8] = {1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, -4, -5, -6, 1, 0, 1, 2, 0, "
    "1, 3, 2, 1, 1, 1, 0, -1, 2, -2, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3}\n"
    "    const b: f32[8] = {0.5, -0.5, 1, 0, 0, 1, 2, -2}\n"
    "    s = ReduceSum@13(x, axis) {keepdims=0}\n"
    "    p = NonZero@13(s)\n"
    "    q = Squeeze@13(p, first)\n"
    "    r = Gather@13(x, q)\n"
    "    m = MatMul@13(r, w)\n"
    "    a = Add@14(m, b)\n"
    "    z = Relu@14(a)\n"
    "    y = Softmax@13(z) {axis=-1}\n"
    "}\n";

static void test_rows(void **state)
{
    (void)state;
    static const int64_t rows[] = {4, 1, 33, 200, 7};
    for (int with_passes = 0; with_passes < 2; with_passes++) {
        Case c;
        case_begin(&c, rows_text, with_passes);
        assert_true(c.kernels >= 3);
        for (int i = 0; i < HOLO_COUNT(rows); i++) {
            case_run(&c, rows[i], 0.8);
            assert_string_equal(ran_by(&c, "MatMul"), "matmul_f32");
            assert_string_equal(ran_by(&c, "Softmax"), "softmax_f32");
        }
        case_run(&c, 5, 2); // no row at all
        case_end(&c);
    }
}

// ---- images whose number and size only the run finds out

static const char images_text[] = "graph g(x: f32[n,2,6,7], z: f32[n]) -> (y, v) {\n"
                                  "    const w: f32[4,2,3,3] = {1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, -4, -5, -6, -7, "
                                  "-8, -9, 1, 1, 1, 2, 2, 2, 3, 3, 3, 0, 1, 0, 1, 0, 1, 0, 1, 0, 5, 4, 3, 2, 1, 0, -1, "
                                  "-2, -3, 1, -1, 1, -1, 1, -1, 1, -1, 1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 1, 2, 4, 2, "
                                  "1, 2, 1}\n"
                                  "    const starts: i64[2] = {0, 0}\n"
                                  "    const axes: i64[2] = {2, 3}\n"
                                  "    const first: i64[1] = {0}\n"
                                  "    p = NonZero@13(z)\n"
                                  "    q = Squeeze@13(p, first)\n"
                                  "    r = Gather@13(x, q)\n"
                                  "    k = Shape@13(q)\n"
                                  "    t = Concat@13(k, k) {axis=0}\n"
                                  "    i = Slice@13(r, starts, t, axes)\n"
                                  "    c = Conv@11(i, w) {pads=[1,1,1,1]}\n"
                                  "    y = Relu@14(c)\n"
                                  "    v = MaxPool@12(y) {kernel_shape=[2,2], pads=[1,1,1,1]}\n"
                                  "}\n";

static void test_images(void **state)
{
    (void)state;
    static const int64_t rows[] = {3, 20, 1, 9};
    for (int with_passes = 0; with_passes < 2; with_passes++) {
        Case c;
        case_begin(&c, images_text, with_passes);
        assert_true(c.kernels >= 2);
        for (int i = 0; i < HOLO_COUNT(rows); i++) case_run(&c, rows[i], -2);
        assert_string_equal(ran_by(&c, "Conv"), with_passes ? "conv_nhwc_f32" : "conv_f32");
        case_end(&c);
    }
}

// ---- where a kernel refuses

// Takes the parameters of an operator's step away: its kernel refuses to run without.
static void spoil(Case *c, const char *op)
{
    HoloFrame *frame = c->session->frames[0];
    for (uint32_t i = 0; i < frame->plan->step_count; i++)
        if (!strcmp(frame->calls[i].op->name, op)) frame->calls[i].params_size = 0;
}

// Eval steps in where all inputs are plain, and cannot where weights are packed.
static void test_refused(void **state)
{
    (void)state;
    Case c;
    case_begin(&c, rows_text, false);
    case_run(&c, 9, 0.5);
    assert_string_equal(ran_by(&c, "Softmax"), "softmax_f32");
    spoil(&c, "Softmax");
    case_run(&c, 9, 0.5);
    assert_string_equal(ran_by(&c, "Softmax"), "eval");
    spoil(&c, "MatMul");
    HoloTensor x = made(&c.graph->inputs[0]->type, 1, 9);
    EXPECT_OK(holo_session_set_input(c.session, 0, &x, &error));
    EXPECT_FAIL(holo_session_run(c.session, &error), HOLO_BAD_ARCHIVE, "parameters");
    free(x.data);
    case_end(&c);
}

// ---- scratch that moves

// The product in the body needs more scratch than all before it; that behind the loop uses what there is then.
static const char scratch_text[] = "graph g(x: f32[2,2], a: f32[k,k]) -> (y) {\n"
                                   "    const go: bool[] = {1}\n"
                                   "    const n: i64[] = {3}\n"
                                   "    m = MatMul@13(a, a)\n"
                                   "    v = Loop@16(n, go, x | a) {body=graph b(i: i64[], c: bool[], s: f32[2,2], a: "
                                   "f32[k,k]) -> (c2, t) {\n"
                                   "        const half: f32[] = {0.125}\n"
                                   "        const all: f32[2,2] = {0, 0, 0, 0}\n"
                                   "        c2 = Identity@16(c)\n"
                                   "        p = MatMul@13(a, a)\n"
                                   "        q = ReduceMean@13(p)\n"
                                   "        r = Add@14(all, q)\n"
                                   "        u = MatMul@13(s, r)\n"
                                   "        t = Mul@14(u, half)\n"
                                   "    }}\n"
                                   "    y = MatMul@13(m, m)\n"
                                   "}\n";

static void test_scratch(void **state)
{
    (void)state;
    Case c;
    case_begin(&c, scratch_text, false);
    case_run(&c, 3, -2);
    case_run(&c, 70, -2);
    case_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
