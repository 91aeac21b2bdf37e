// user_kernel_test.c - kernels of users as operators of models: what a run costs, threads, sizes that are symbols.
#include "support/heap.h"
#include "support/models.h"
#include "support/onnx_writer.h"

#include "base/base.h"
#include "runtime/model.h"
#include "runtime/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A model of one node, own::Op, compiled with this kernel. `inputs` and `output` are shapes; inputs are x0, x1 ...
typedef struct Case {
    const char *kernel;
    const char *inputs[8];
    const char *output; // NULL: nothing is said of it
} Case;

static HoloModel *model_of_class(const Case *c, HoloNumeric numeric)
{
    OnnxModel     m    = {0};
    const char   *path = temp_path("own.onnx"), *source = temp_path("own.py");
    char          names[64] = "";
    HoloCompiler *compiler;
    HoloModel    *model;
    for (int i = 0; c->inputs[i]; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", i);
        onnx_input(&m.graph, name, HOLO_F32, c->inputs[i]);
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? "," : "", name);
    }
    onnx_output(&m.graph, "y", HOLO_F32, c->output);
    onnx_node(&m.graph, "own::Op", names, "t", "");
    onnx_node(&m.graph, "Neg", "t", "y", "");
    onnx_opset(&m, "", 17);
    onnx_opset(&m, "own", 1);
    onnx_save(&m, path);
    file_write(source, c->kernel, strlen(c->kernel));
    EXPECT_OK(holo_compiler_create(&compiler));
    holo_compiler_set_numeric(compiler, numeric);
    EXPECT_OK(holo_compiler_add_kernel(compiler, source, &error));
    EXPECT_OK(holo_compile_model(compiler, path, &model, NULL, &error));
    holo_compiler_destroy(compiler);
    return model;
}

static HoloModel *model_with(const Case *c)
{
    return model_of_class(c, HOLO_FUSED);
}

static const Case sums = {
    .kernel = "@kernel(operator=\"own::Op\", lanes=n)\n"
              "def sums(a: DeviceArray[f32], b: DeviceArray[f32], c: DeviceArray[f32], d: DeviceArray[f32],\n"
              "         e: DeviceArray[f32], y: DeviceArray[f32], n: i64):\n"
              "    i = get_global_id()\n"
              "    if i < n:\n"
              "        y[i] = a[n - 1 - i] + b[i] * c[i] - d[i] * exp(e[i])\n",
    .inputs = {"300,700", "300,700", "300,700", "300,700", "300,700"},
    .output = "300,700",
};

// ---- what a run costs

// From the first run on, with any number of threads.
static void test_runs_allocate_nothing(void **state)
{
    (void)state;
    if (!heap_is_counted) skip();
    HoloModel *model = model_with(&sums);
    for (int threads = 1; threads <= 3; threads += 2) {
        HoloPool    *pool;
        HoloSession *session;
        HoloTensor   x[5];
        EXPECT_OK(holo_pool_create(threads, &pool));
        EXPECT_OK(holo_session_create(model, pool, &session, &error));
        for (int i = 0; i < 5; i++) {
            x[i] = made(&holo_model_input(model, i)->type, (uint64_t)i, 1);
            EXPECT_OK(holo_session_set_input(session, i, &x[i], &error));
        }
        for (int run = 0; run < 3; run++) {
            heap_watch();
            HoloStatus status = holo_session_run(session, NULL);
            long       calls  = atomic_load(&heap_calls);
            assert_int_equal(status, HOLO_OK);
            if (calls && (run || threads == 1)) // threads of the pool may still be starting in the first run
                fail_msg("run %d asked for memory or freed it %ld times", run, calls);
        }
        holo_session_destroy(session);
        holo_pool_destroy(pool);
        for (int i = 0; i < 5; i++) free(x[i].data);
    }
    holo_model_close(model);
}

// Each call for memory fails in its turn: a status, and nothing lost.
static void test_memory_that_runs_out(void **state)
{
    (void)state;
    if (!heap_is_counted) skip();
    HoloModel *model = model_with(&sums);
    HoloTensor x     = made(&holo_model_input(model, 0)->type, 1, 1);
    bool       done  = false;
    for (long n = 1; !done; n++) {
        HoloSession *session = NULL;
        HoloError    error   = {0};
        heap_fail(n);
        HoloStatus status = holo_session_create(model, NULL, &session, &error);
        for (int i = 0; !status && i < 5; i++) status = holo_session_set_input(session, i, &x, &error);
        if (!status) status = holo_session_run(session, &error);
        holo_session_destroy(session);
        done = !heap_has_failed;
        heap_fail(0);
        if (status && (done || status != HOLO_NO_MEMORY)) fail_msg("call %ld: %s", n, error.text);
    }
    free(x.data);
    holo_model_close(model);
}

// ---- threads

static void test_any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    HoloModel *model = model_with(&sums);
    size_t     size, other_size;
    uint8_t   *bytes = answer(model, NULL, 7, 5, &size);
    assert_int_equal(size, 300 * 700 * sizeof(float));
    for (int threads = 2; threads <= 4; threads++) {
        HoloPool *pool;
        EXPECT_OK(holo_pool_create(threads, &pool));
        uint8_t *other = answer(model, pool, 7, 5, &other_size);
        expect_same_bytes(other, other_size, bytes, size);
        free(other);
        holo_pool_destroy(pool);
    }
    free(bytes);
    holo_model_close(model);
}

// ---- shape rules on symbols

// A kernel that writes the number of each element, and this rule for its shape.
#define RULE(arguments, lines)                                     \
    "@kernel(operator=\"own::Op\", lanes=n)\n"                     \
    "def own(a: DeviceArray[f32], y: DeviceArray[f32], n: i64):\n" \
    "    i = get_global_id()\n"                                    \
    "    if i < n:\n"                                              \
    "        y[i] = f32(i) + 0 * f32(len(a))\n"                    \
    "def own_shape(a: DeviceArray[i64], y: DeviceArray[i64]" arguments "):\n" lines

typedef struct ShapeCase {
    const char *rule;
    const char *shape; // as the model shows it
    int64_t     count; // elements for N = 6, M = 5
} ShapeCase;

static const ShapeCase shapes[] = {
    {RULE("", "    y[0] = a[1]\n    y[1] = a[0]\n"), "M,N", 30},
    {RULE("", "    y[0] = a[0] * a[1] + 2 * a[1] - 1\n"), "N*M+2*M-1", 39},
    {RULE("", "    y[0] = (a[0] + 3) // 4\n    y[1] = a[1] * 8\n    y[2] = 3\n"), "(N+3)//4,8*M,3", 240},
    {RULE("", "    y[0] = a[0] // 5 + 1\n    y[1] = a[1] % 4 + a[0] % 5\n"), "N//5+1,N+M-5*(N//5)-4*(M//4)", 4},
    {RULE("", "    y[0] = (a[0] + 3) // 4 * 4\n    y[1] = 2 * a[1] // 3\n"), "4*((N+3)//4),(2*M)//3", 24},
    {RULE("", "    y[0] = max(a[0], a[1])\n    y[1] = min(a[0], a[1])\n"), "max(N,M),min(N,M)", 30},
    {RULE(", a_1: i64", "    y[0] = a_1 + len(a)\n"), "M+2", 7},
    {RULE("", "    p: i64 = 1\n    for d in range(len(a)):\n        p = p * a[d]\n    y[0] = p\n"), "N*M", 30},
    // what is not arithmetic is found when it runs; the rank is known
    {RULE("", "    if a[0] > a[1]:\n        y[0] = a[0]\n    else:\n        y[0] = 2 * a[1]\n    y[1] = 2\n"), "u0,2",
     12},
    {RULE("", "    y[0] = a[0] ^ a[1]\n    y[1] = a[0]\n"), "u0,N", 18},
    // and so is the rank, where that depends on sizes
    {RULE("", "    if a[0] > a[1]:\n        y[0] = 4\n        y[1] = a[1]\n    else:\n        y[0] = 5\n"), "any rank",
     20},
};

static void text_of(const HoloPort *port, char *text, size_t size)
{
    snprintf(text, size, "%s", port->type.rank < 0 ? "any rank" : "");
    for (int d = 0; d < port->type.rank; d++) {
        char number[32];
        snprintf(number, sizeof number, "%lld", (long long)port->type.dim[d]);
        snprintf(text + strlen(text), size - strlen(text), "%s%s", d ? "," : "",
                 port->symbol[d] ? port->symbol[d] : number);
    }
}

// What is planned by expressions is compared with what the rule says of numbers whenever sizes are bound.
static void run_sizes(HoloSession *session, int64_t rows, int64_t columns, HoloTensor *out)
{
    float      data[300] = {0};
    HoloTensor x         = {.dtype = HOLO_F32, .rank = 2, .dim = {rows, columns}, .data = data};
    EXPECT_OK(holo_session_set_input(session, 0, &x, &error));
    EXPECT_OK(holo_session_run(session, &error));
    EXPECT_OK(holo_session_output(session, 0, out, &error));
    for (int64_t k = 0; k < holo_tensor_count(out); k++) assert_true(((float *)out->data)[k] == -(float)k);
}

static void test_rules_on_symbols(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {{1, 9}, {16, 16}, {7, 2}, {2, 7}, {15, 1}, {6, 5}};
    for (int i = 0; i < HOLO_COUNT(shapes); i++) {
        const Case   c     = {.kernel = shapes[i].rule, .inputs = {"N,M"}};
        HoloModel   *model = model_with(&c);
        HoloSession *session;
        HoloTensor   y;
        char         text[200];
        text_of(holo_model_output(model, 0), text, sizeof text);
        if (strcmp(text, shapes[i].shape)) fail_msg("rule %d: %s, expected %s", i, text, shapes[i].shape);
        EXPECT_OK(holo_session_create(model, NULL, &session, &error));
        for (int k = 0; k < HOLO_COUNT(sizes); k++) run_sizes(session, sizes[k][0], sizes[k][1], &y);
        assert_int_equal(holo_tensor_count(&y), shapes[i].count);
        holo_session_destroy(session);
        holo_model_close(model);
    }
}

// ---- fusion

#define POINTWISE(lanes, guard, value)                                                  \
    "@kernel(operator=\"own::Op\"" lanes ")\n"                                          \
    "def own(a: DeviceArray[f32], b: DeviceArray[f32], y: DeviceArray[f32], n: i64):\n" \
    "    i = get_global_id()\n"                                                         \
    "    if " guard ":\n"                                                               \
    "        y[i] = " value "\n"

typedef struct FusionCase {
    const char *kernel;
    const char *other; // the shape of the second input; the first has 7,33
    bool        joins;
} FusionCase;

static const FusionCase fusions[] = {
    {POINTWISE(", lanes=n", "i < n", "a[i] * sigmoid(b[i] * 1.5) + max(b[i], 0.5)"), "7,33", true},
    {POINTWISE("", "n > i", "1 / (2 - a[i]) - sqrt(abs(b[i]))"), "7,33", true},
    {POINTWISE("", "i < len(a)", "rsqrt(b[i] * b[i] + 1) - (a[i] + b[i])"), "7,33", true},
    {POINTWISE("", "i < n", "a[i] + b[i]"), "33,7", false},               // by its number, not by its place
    {POINTWISE(", lanes=n // 2", "i < n", "a[i] + b[i]"), "7,33", false}, // only half
    {POINTWISE("", "i < n - 5", "a[i] + b[i]"), "7,33", false},
    {POINTWISE("", "i < n", "a[i] + b[n - 1 - i]"), "7,33", false},
    {POINTWISE("", "i < n", "a[i] + b[i] + f32(i)"), "7,33", false},
    {POINTWISE("", "i < n and a[i] < 0.5", "a[i] + b[i]"), "7,33", false},
};

static int steps_of(HoloModel *model)
{
    return (int)model->archive.PLANS_at[0].step_count;
}

// A pointwise kernel becomes one program with the operator behind it; in class exact it is left as it is written.
static void test_pointwise_kernels_are_fused(void **state)
{
    (void)state;
    for (int i = 0; i < HOLO_COUNT(fusions); i++) {
        const Case c     = {.kernel = fusions[i].kernel, .inputs = {"7,33", fusions[i].other}, .output = "7,33"};
        HoloModel *fused = model_of_class(&c, HOLO_FUSED), *exact = model_of_class(&c, HOLO_EXACT);
        size_t     size, want_size;
        uint8_t   *got = answer(fused, NULL, 3, 1, &size), *want = answer(exact, NULL, 3, 1, &want_size);
        assert_int_equal(steps_of(exact), 2);
        if (steps_of(fused) != (fusions[i].joins ? 1 : 2)) fail_msg("kernel %d: %d steps", i, steps_of(fused));
        assert_int_equal(size, 7 * 33 * sizeof(float));
        assert_int_equal(want_size, size);
        for (int k = 0; k < 7 * 33; k++) {
            float x = ((float *)(void *)got)[k], y = ((float *)(void *)want)[k], d = x - y;
            if (!(d < 1e-5f && d > -1e-5f)) fail_msg("kernel %d, element %d: %g, expected %g", i, k, x, y);
        }
        free(got);
        free(want);
        holo_model_close(fused);
        holo_model_close(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_allocate_nothing),
        cmocka_unit_test(test_memory_that_runs_out),
        cmocka_unit_test(test_any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(test_rules_on_symbols),
        cmocka_unit_test(test_pointwise_kernels_are_fused),
    };
    return cmocka_run_group_tests_name("kernels of users", tests, NULL, NULL);
}
