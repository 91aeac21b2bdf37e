// cuda_kernels_test.c - kernels of GPUs, run on the CPU by tests/cuda/on_cpu, against the operators' `eval`: a table of graphs with
// sizes and values that hurt, in each class of numbers; and those cases of tests/ops whose nodes all run on a GPU. With HOLO_TEST_GPU=1
// a GPU runs all of them.
#include "cuda/fake_model.h"

#include "cuda/byte_cases.h"
#include "format/small_float.h"
#include "passes/passes.h"
#include "support/op_cases.h"
#include "support/watched.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- comparing

static bool infinity_may_be_nan; // products of f32 by tensor cores, three for each: docs/inside/cuda-kernels.md

// `within`: relative to numbers above 1; 0: the same number.
static bool number_is(double got, double want, double within)
{
    if (isnan(got) && isinf(want)) return infinity_may_be_nan;
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
    return got == want || fabs(got - want) <= within * fmax(1, fabs(want));
}

static bool is_float(const HoloTensor *t)
{
    return holo_dtype_class((HoloDtype)t->dtype) == HOLO_CLASS_FLOAT;
}

static bool element_is(const HoloTensor *got, const HoloTensor *want, int64_t i, double within)
{
    if (is_float(want)) return number_is(holo_get_f(got, i), holo_get_f(want, i), within);
    return holo_get_i(got, i) == holo_get_i(want, i);
}

// The first element that differs; -1: none. -2: they have other types or sizes.
static int64_t difference(const HoloTensor *got, const HoloTensor *want, double within)
{
    if (got->dtype != want->dtype || got->rank != want->rank) return -2;
    for (int d = 0; d < want->rank; d++)
        if (got->dim[d] != want->dim[d]) return -2;
    for (int64_t i = 0; i < holo_tensor_count(want); i++)
        if (!element_is(got, want, i, within)) return i;
    return -1;
}

// ---- running

enum { VALUES = 8 };

typedef struct Run {
    HoloTensor out[VALUES];
    char      *bytes[VALUES];
    int        count;
} Run;

static void run_free(Run *r)
{
    for (int i = 0; i < r->count; i++) free(r->bytes[i]);
    *r = (Run){0};
}

static void run_keep(Run *r, HoloSession *session, int count)
{
    *r = (Run){.count = count};
    for (int i = 0; i < count; i++) {
        EXPECT_OK(holo_session_output(session, i, &r->out[i], &error));
        size_t size = holo_tensor_bytes(&r->out[i]);
        r->bytes[i] = malloc(size + 1);
        if (size) memcpy(r->bytes[i], r->out[i].data, size);
        r->out[i].data = r->bytes[i];
    }
}

// Runs a model twice: step by step, and recorded with threads in the opposite order, which gives the same bits. Returns whether
// every kernel was computed.
static bool run_model(HoloModel *model, const char *text, const char *numeric, const HoloTensor *in, int in_count,
                      int out_count, Run *out)
{
    HoloSession *session;
    HoloError    error   = {0};
    Run          again   = {0};
    int          kernels = fake->kernels - fake->computed;
    if (!model) return false;
    EXPECT_OK(holo_session_create(model, NULL, &session, &error));
    for (int i = 0; i < in_count; i++) EXPECT_OK(holo_session_set_input(session, i, &in[i], &error));
    for (int i = 0; i < 2; i++) {
        fake->is_backwards = i == 1;
        if (holo_session_run(session, &error)) {
            FAIL_WITH("class %s: %s:\n%s", numeric, error.text, text);
            break;
        }
        if (!i) run_keep(out, session, out_count);
        if (!i) continue;
        run_keep(&again, session, out_count);
        for (int k = 0; k < out_count && fake->kernels - fake->computed == kernels; k++)
            if (memcmp(out->bytes[k], again.bytes[k], holo_tensor_bytes(&out->out[k])))
                FAIL_WITH("class %s: other bits in run %d:\n%s", numeric, i, text);
        run_free(&again);
    }
    fake->is_backwards = false;
    holo_session_destroy(session);
    holo_model_close(model);
    return fake->kernels - fake->computed == kernels;
}

static bool run_all(const char *text, const char *numeric, const HoloTensor *in, int in_count, int out_count, Run *out)
{
    return run_model(fake_model(text, numeric, "ptx"), text, numeric, in, in_count, out_count, out);
}

// ---- values

static uint32_t seed;

static uint32_t random_next(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

// Hard ones are few different numbers, so that many are equal, and such as no order likes.
static double number_make(bool is_hard)
{
    static const double hard[] = {NAN, INFINITY, -INFINITY, 0, -0.0, 1, -1, 2.5, 65504, 1e-7, -3};
    if (is_hard && random_next() % 2) return hard[random_next() % HOLO_COUNT(hard)];
    return is_hard ? (double)(random_next() % 7) - 3 : (double)random_next() / (1 << 23) - 1;
}

// Floats are such as the class stores, so that only results are rounded. Integers of i64 and i32 are indices below `limit`.
static void value_fill(HoloTensor *t, const KernelCase *c, const HoloSmallFloat *stored)
{
    for (int64_t i = 0; i < holo_tensor_count(t); i++) {
        double x = number_make(c->is_hard);
        if (t->dtype == HOLO_F32 && stored) x = holo_small_decode(*stored, holo_small_encode(*stored, x, false));
        if (is_float(t))
            holo_put_f(t, i, x);
        else if (c->limit && (t->dtype == HOLO_I64 || t->dtype == HOLO_I32))
            holo_put_i(t, i, (int64_t)(random_next() % (uint32_t)(2 * c->limit)) - c->limit);
        else
            holo_put_i(t, i, (int64_t)random_next() % 251 - (t->dtype == HOLO_U8 || t->dtype == HOLO_BOOL ? 0 : 125));
        if (t->dtype == HOLO_BOOL) ((uint8_t *)t->data)[i] &= 1;
    }
}

// ---- the table

static void expect_same(const char *text, const char *numeric, const Run *run, const HoloTensor *want, double within)
{
    for (int i = 0; i < run->count; i++) {
        int64_t at = difference(&run->out[i], &want[i], is_float(&want[i]) ? within : 0);
        if (at == -2) FAIL_WITH("class %s: output %d has another type or size:\n%s", numeric, i, text);
        if (at >= 0)
            FAIL_WITH("class %s: element %lld of output %d is %.9g, not %.9g:\n%s", numeric, (long long)at, i,
                      is_float(&want[i]) ? holo_get_f(&run->out[i], at) : (double)holo_get_i(&run->out[i], at),
                      is_float(&want[i]) ? holo_get_f(&want[i], at) : (double)holo_get_i(&want[i], at), text);
    }
}

// A GPU adds products of floats of 8 bits with about 13 bits of the largest part of the sum.
static double float8_within(bool is_float8, double within)
{
    return is_real && is_float8 ? fmax(within, 0x1p-9) : within;
}

static void case_run(const KernelCase *c, const char *text, const char *numeric, double within)
{
    const HoloSmallFloat *stored = !strcmp(numeric, "f16")    ? &HOLO_FORMAT_F16
                                   : !strcmp(numeric, "bf16") ? &HOLO_FORMAT_BF16
                                                              : NULL;
    HoloArena             arena  = {0};
    HoloGraph            *graph;
    HoloTensor            in[VALUES], want[VALUES];
    const HoloTensor     *inputs[VALUES];
    Run                   run;
    EXPECT_OK(holo_graph_parse(&arena, text, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    seed = 1;
    for (int i = 0; i < graph->input_count; i++) {
        in[i]      = graph->inputs[i]->type;
        in[i].data = holo_arena_take(&arena, holo_tensor_bytes(&in[i]) + 1);
        inputs[i]  = &in[i];
        value_fill(&in[i], c, stored);
    }
    EXPECT_OK(holo_graph_eval(graph, inputs, want, &arena, NULL, &error));
    int  before = fake->computed;
    bool all    = run_all(text, numeric, in, graph->input_count, graph->output_count, &run);
    bool none   = !is_real && fake->computed == before && holo_tensor_count(&want[0]);
    if (!all || none) FAIL_WITH("class %s: %s:\n%s", numeric, all ? "no kernel ran" : "some kernels did not run", text);
    expect_same(text, numeric, &run, want, float8_within(strstr(text, "MatMulFloat8"), within));
    run_free(&run);
    holo_arena_deinit(&arena);
}

// Bytes of weights, signed or not.
static size_t weights_text(const char *p, char *out, size_t room)
{
    size_t at = 0;
    for (int i = 0, count = atoi(p + 2); i < count && at + 16 < room; i++)
        at +=
            (size_t)snprintf(out + at, room - at, "%s%d", i ? ", " : "", (i * 37 + 11) % 251 - (p[1] == 'W' ? 125 : 0));
    return at;
}

// The graph of a case: `$` in its text is a size, `$W60` are 60 weights.
static void case_text(const KernelCase *c, int size, char *out, size_t room)
{
    char   plain[4000];
    size_t at = 0;
    snprintf(plain, sizeof plain, "graph g(%s) -> (%s) {\n    %s\n}\n", c->inputs, c->outputs ? c->outputs : "y",
             c->body);
    for (const char *p = plain; *p && at + 16 < room; p++) {
        if (*p != '$') {
            out[at++] = *p;
        } else if (p[1] == 'W' || p[1] == 'U') {
            at += weights_text(p, out + at, room - at);
            p += 1 + strspn(p + 2, "0123456789");
        } else {
            at += (size_t)snprintf(out + at, room - at, "%d", size);
        }
    }
    out[at] = 0;
}

static void table_run(const KernelCase *cases, int count)
{
    static const int sizes[] = {0, 1, 15, 16, 17, 300, 4096};
    static const struct {
        const char *name;
        double      within;
    } classes[] = {{"fused", 0}, {"f16", 0x1p-10}, {"bf16", 0x1p-7}};
    int  step = watched_step("the classes of a kernel's case", HOLO_COUNT(classes)), turn = 0;
    char text[4000];
    for (int i = 0; i < count; i++) {
        const KernelCase *c = &cases[i];
        for (int s = 0; s < HOLO_COUNT(sizes); s++) {
            bool is_sized = strchr(c->inputs, '$') || strchr(c->body, '$');
            if (sizes[s] < c->least || sizes[s] > (c->most ? c->most : 300) || (s && !is_sized)) continue;
            case_text(c, is_sized ? sizes[s] : 0, text, sizeof text);
            turn++;
            for (int k = 0; k < HOLO_COUNT(classes); k++)
                if ((turn + k) % step == 0) case_run(c, text, classes[k].name, fmax(c->within, classes[k].within));
        }
    }
}

static void table(void **state)
{
    (void)state;
    table_run(kernel_cases, HOLO_COUNT(kernel_cases));
}

static void bytes(void **state)
{
    (void)state;
    table_run(byte_cases, HOLO_COUNT(byte_cases));
}

static void quantized_run(const QuantizedCase *c, const char *numeric, const HoloSmallFloat *stored, double within)
{
    HoloTargets       targets = {.list = {&holo_target_cpu, holo_target_cuda.of_class(numeric)}, .count = 2};
    HoloPassOptions   options = {.targets = &targets};
    HoloArena         arena   = {0};
    HoloGraph        *graph;
    HoloTensor        in, want[VALUES];
    const HoloTensor *inputs[] = {&in};
    Run               run;
    char              text[8000];
    int               products = 0, float8 = 0;
    case_text(&c->graph, 0, text, sizeof text);
    EXPECT_OK(holo_graph_parse(&arena, text, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    EXPECT_OK(holo_passes_run(graph, &options, &error));
    for (int i = 0; i < graph->node_count; i++) {
        if (!holo_target_cuda.can_run(graph->nodes[i]))
            fail_msg("%s runs on the CPU:\n%s", graph->nodes[i]->name, text);
        products += holo_target_cuda.choose(graph->nodes[i]).kernel == HOLO_CUDA_STEP_BYTES;
        float8 += holo_target_cuda.choose(graph->nodes[i]).kernel == HOLO_CUDA_STEP_FLOAT8;
    }
    assert_int_equal(products, c->products);
    assert_int_equal(float8, c->float8);
    in      = graph->inputs[0]->type;
    in.data = holo_arena_take(&arena, holo_tensor_bytes(&in));
    value_fill(&in, &c->graph, stored);
    EXPECT_OK(holo_graph_eval(graph, inputs, want, &arena, NULL, &error));
    HoloModel *model = fake_model_of(graph, numeric, "ptx");
    if (!run_model(model, text, numeric, &in, 1, 1, &run))
        FAIL_WITH("class %s: some kernels did not run:\n%s", numeric, text);
    expect_same(text, numeric, &run, want, float8_within(float8, fmax(within, c->graph.within)));
    run_free(&run);
    holo_arena_deinit(&arena);
}

// Models that are quantized, as exporters write them, run on a GPU as a whole.
static void quantized(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(quantized_cases); i++) {
        quantized_run(&quantized_cases[i], "fused", NULL, 0);
        quantized_run(&quantized_cases[i], "bf16", &HOLO_FORMAT_BF16, 0x1p-6);
    }
}

// ---- the cases of tests/ops

typedef struct Seen {
    int cases, step; // of so many cases one is run
    int ran, agreed;
} Seen;

// Inputs but the first are inputs, or constants.
static void ops_text(const OpCase *c, bool constants, HoloText *out)
{
    int last = constants ? 1 : c->in_count;
    holo_text_add(out, "graph g(");
    for (int i = 0; i < last; i++) holo_text_add(out, "%s%s: %s", i ? ", " : "", c->in[i].name, c->in[i].type);
    holo_text_add(out, ") -> (");
    for (int i = 0; i < c->out_count; i++) holo_text_add(out, "%s%s", i ? ", " : "", c->out[i].name);
    holo_text_add(out, ") {\n");
    for (int i = last; i < c->in_count; i++)
        holo_text_add(out, "    const %s: %s = %s\n", c->in[i].name, c->in[i].type, c->in[i].text);
    holo_text_add(out, "%s}\n", c->body.data);
}

// Tensors of numbers alone, and nodes that all run on a GPU.
static bool is_for_cuda(const OpCase *c, const HoloGraph *graph)
{
    bool all = c->in_count && c->in_count <= VALUES && c->out_count && c->out_count <= VALUES;
    for (int i = 0; i < c->in_count && all; i++) all = c->in[i].value.kind == HOLO_TENSOR;
    for (int i = 0; i < graph->node_count && all; i++) all = holo_target_cuda.can_run(graph->nodes[i]);
    return all;
}

static void ops_run(OpCase *c, bool constants, Seen *seen)
{
    HoloText   text = {0};
    HoloGraph *graph;
    HoloTensor in[VALUES], want[VALUES];
    Run        run = {0};
    if (c->fails || (constants && c->in_count < 2)) return;
    for (int i = 1; i < c->in_count; i++)
        if (c->in[i].value.kind != HOLO_TENSOR) return;
    ops_text(c, constants, &text);
    if (holo_graph_parse(c->arena, text.data, &graph, NULL) || holo_graph_infer(graph, NULL) ||
        !is_for_cuda(c, graph)) {
        holo_text_deinit(&text);
        return;
    }
    for (int i = 0; i < c->in_count && i < VALUES; i++) in[i] = c->in[i].value;
    for (int i = 0; i < c->out_count; i++) want[i] = c->out[i].value;
    seen->ran++;
    if (run_all(text.data, "fused", in, constants ? 1 : c->in_count, c->out_count, &run) && !c->out[0].is_any) {
        infinity_may_be_nan = is_real && (strstr(text.data, "MatMul") || strstr(text.data, "Gemm"));
        expect_same(text.data, "fused", &run, want, fmax(c->within, is_real ? 1e-5 : 1e-6));
        infinity_may_be_nan = false;
        seen->agreed++;
    }
    run_free(&run);
    holo_text_deinit(&text);
}

static void ops_case(void *context, OpCase *c)
{
    Seen *seen = context;
    if (seen->cases++ % seen->step) return;
    ops_run(c, false, seen);
    ops_run(c, true, seen);
}

static void ops(void **state)
{
    static const char *const files[] = {"attention", "cache",  "contrib", "conv",  "create",
                                        "fused",     "index",  "matmul",  "norm",  "pool",
                                        "recurrent", "reduce", "resize",  "shape", "softmax"};
    Seen                     seen    = {.step = watched_step("the kernels' cases of tests/ops", 7)};
    char                     path[64];
    (void)state;
    for (int i = 0; i < HOLO_COUNT(files); i++) {
        snprintf(path, sizeof path, "tests/ops/%s.txt", files[i]);
        case_file(path, ops_case, &seen);
    }
    print_message("%d graphs of tests/ops run on a GPU, the kernels of %d of them also on the CPU\n", seen.ran,
                  seen.agreed);
    assert_true(seen.agreed > 1500 / seen.step);
}

// ---- indices that are out of range

static void refused(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(refused_cases); i++) {
        const RefusedCase *c = &refused_cases[i];
        char               text[1000];
        float              x[16]   = {0};
        int64_t            index[] = {0, c->index};
        HoloTensor         in[2]   = {{.dtype = HOLO_F32, .rank = 1, .dim = {4}, .data = x},
                                      {.dtype = HOLO_I64, .rank = 1, .dim = {2}, .data = index}};
        HoloSession       *session;
        snprintf(text, sizeof text, "graph g(x: f32[4], i: i64[2]) -> (y) {\n    %s\n}\n", c->body);
        HoloModel *model = fake_model(text, "fused", "ptx");
        EXPECT_OK(holo_session_create(model, NULL, &session, &error));
        for (int k = 0; k < 2; k++) EXPECT_OK(holo_session_set_input(session, k, &in[k], &error));
        EXPECT_FAIL(holo_session_run(session, &error), HOLO_BAD_INPUT, "an index that a lookup got is out of range");
        index[1] = 3;
        EXPECT_OK(holo_session_run(session, &error));
        holo_session_destroy(session);
        holo_model_close(model);
    }
}

// ---- on_cpu itself

static void *sample_find(const char *name)
{
    char        path[512];
    const char *folder = getenv("HOLO_FAKE_DRIVER");
    snprintf(path, sizeof path, "%s/sample.so", folder ? folder : FAKE_DRIVER);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail_msg("%s", dlerror());
    void *found = dlsym(library, name);
    assert_non_null(found);
    return found;
}

// Threads of two blocks of 256 meet as they should.
static void meets(void **state)
{
    enum { THREADS = 256 };
    static uint32_t out[2 * THREADS], sum;
    struct {
        uint32_t *out, *sum;
        uint64_t  rest[62];
    } args                = {out, &sum, {0}};
    const uint32_t grid[] = {2, 1, 1};
    HoloOnCpuRun  *run;
    (void)state;
    *(void **)&run = sample_find("holo_on_cpu");
    for (int backwards = 0; backwards < 2; backwards++) {
        memset(out, sum = 0, sizeof out);
        run(sample_find("sums"), &args, grid, THREADS, backwards);
        for (uint32_t i = 0; i < 2 * THREADS; i++) assert_int_equal(out[i], (i % THREADS + 1) * (i % THREADS + 2) / 2);
        assert_int_equal(sum, 2 * THREADS);
    }
    static const char *const wrong[] = {"leaves", "asks"};
    for (int i = 0; i < HOLO_COUNT(wrong); i++) { // these end the program
        int   status = 0;
        pid_t child  = fork();
        if (!child) {
            if (!freopen("/dev/null", "w", stderr)) _exit(2);
            signal(SIGABRT, SIG_DFL);
            run(sample_find(wrong[i]), &args, grid, THREADS, false);
            _exit(0);
        }
        assert_true(waitpid(child, &status, 0) == child);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) fail_msg("%s ran", wrong[i]);
    }
}

#define TEST(name) cmocka_unit_test_setup(name, fake_reset)

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {TEST(table), TEST(bytes),   TEST(quantized),
                                       TEST(ops),   TEST(refused), TEST(meets)};
    return cmocka_run_group_tests(tests, fake_load, fake_unload);
}
