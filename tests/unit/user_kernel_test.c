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

static HoloModel *model_with(const Case *c)
{
    OnnxModel     m    = {0};
    const char   *path = temp_path("own.onnx"), *source = temp_path("own.py");
    char          names[64] = "";
    HoloCompiler *compiler;
    HoloModel    *model;
    for (int i = 0; c->inputs[i]; i++) {
        char name[8];
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
    EXPECT_OK(holo_compiler_add_kernel(compiler, source, &error));
    EXPECT_OK(holo_compile_model(compiler, path, &model, NULL, &error));
    holo_compiler_destroy(compiler);
    return model;
}

static const Case sums = {
    .kernel = "@kernel(operator=\"own::Op\", lanes=n)\n"
              "def sums(a: DeviceArray[f32], b: DeviceArray[f32], c: DeviceArray[f32], d: DeviceArray[f32],\n"
              "         e: DeviceArray[f32], y: DeviceArray[f32], n: i64):\n"
              "    i = get_global_id()\n"
              "    if i < n:\n"
              "        y[i] = a[i] + b[i] * c[i] - d[i] * exp(e[i])\n",
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_allocate_nothing),
        cmocka_unit_test(test_any_number_of_threads_gives_the_same_bits),
    };
    return cmocka_run_group_tests_name("kernels of users", tests, NULL, NULL);
}
