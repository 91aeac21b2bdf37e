// fake_model.h - models for the driver of fake_driver.c, which stands where NVIDIA's would be. With HOLO_TEST_GPU=1 NVIDIA's runs them,
// by the code that `make cuda` made, and nothing is counted.
#ifndef TESTS_CUDA_FAKE_MODEL_H
#define TESTS_CUDA_FAKE_MODEL_H

#include "support/models.h"

#include "archive/archive.h"
#include "cuda/fake_driver.h"
#include "devices/cuda/cuda_kernel.h"
#include "lower/cuda/cuda_target.h"
#include "plan/plan.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const HoloTarget holo_target_cuda;

static HoloFakeDriver *fake;
static bool            is_real;
static int             real_failures;

// A result that is wrong. On a GPU, which is seldom at hand, all are told, and the end fails.
#define FAIL_WITH(...)                       \
    do {                                     \
        if (!is_real) fail_msg(__VA_ARGS__); \
        print_error(__VA_ARGS__);            \
        print_error("\n");                   \
        real_failures++;                     \
    } while (0)

// What only the fake driver can tell.
static inline void expect_counted(bool is)
{
    if (!is_real) assert_true(is);
}

// A device that is open stays so: else each model would open it again, which takes a tenth of a second.
static void real_load(void)
{
    static HoloFakeDriver none;
    int (*init)(unsigned), (*device_get)(int *, int), (*context_retain)(void **, int), device;
    void *context, *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) fail_msg("%s", dlerror());
    *(void **)&init           = dlsym(library, "cuInit");
    *(void **)&device_get     = dlsym(library, "cuDeviceGet");
    *(void **)&context_retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    assert_true(init && device_get && context_retain);
    assert_true(!init(0) && !device_get(&device, 0) && !context_retain(&context, device));
    is_real = true;
    fake    = &none;
}

// The library with the driver's name that is loaded first is the one that is found.
static int fake_load(void **state)
{
    char path[512];
    (void)state;
    if (getenv("HOLO_TEST_GPU")) {
        real_load();
        return 0;
    }
    const char *folder = getenv("HOLO_FAKE_DRIVER");
    snprintf(path, sizeof path, "%s/libcuda.so.1", folder ? folder : FAKE_DRIVER);
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library) fail_msg("%s", dlerror());
    HoloFakeDriverFind *find;
    *(void **)&find = dlsym(library, "holo_fake_driver");
    assert_non_null(find);
    fake = find();
    return 0;
}

static inline int fake_unload(void **state)
{
    (void)state;
    if (real_failures) print_error("%d results of a GPU are wrong\n", real_failures);
    return real_failures ? -1 : 0;
}

static int fake_reset(void **state)
{
    (void)state;
    *fake = (HoloFakeDriver){.version = 13000, .devices = 1, .capability = 90, .memory_left = (size_t)1 << 40};
    return 0;
}

static inline bool is_used(const HoloLowered *lowered)
{
    for (int i = 0; i < lowered->count; i++)
        if (!strcmp(holo_lowered_target(lowered, &lowered->nodes[i])->name, "cuda")) return true;
    return false;
}

// Code that the fake driver takes: names of the modules that the steps for cuda may use, and no others.
static inline int fake_code(const HoloLowered *lowered, const char *kind, HoloTargetCode *out)
{
    int count = 0;
    for (int i = 0; i < lowered->count; i++) {
        const HoloCudaKernel *kernel = holo_cuda_kernel(lowered->nodes[i].lowering.kernel);
        if (!kernel || strcmp(holo_lowered_target(lowered, &lowered->nodes[i])->name, "cuda")) continue;
        for (const char *const *m = kernel->modules; *m; m++) {
            int at = 0;
            if (!strncmp(*m, "tiled_", 6) && strcmp(*m, "tiled_f16_sm90") != 0)
                continue; // product_plain.cu has no such tiles
            while (at < count && strcmp(out[at].module, *m)) at++;
            if (at < count) continue;
            assert_in_range(count, 0, HOLO_TARGET_CODES - 1);
            out[count++] = (HoloTargetCode){*m, kind, *m, strlen(*m) + 1};
        }
    }
    return count;
}

// A model of the graph for a target of that device, with code of that kind. The graph is changed. NULL: no step is for cuda.
static inline HoloModel *fake_model_for(HoloGraph *graph, const HoloTarget *target, const char *kind)
{
    HoloTargets        targets = {.list = {&holo_target_cpu, target}, .count = 2};
    HoloArena          arena   = {0};
    HoloCut            cut;
    HoloLowered        lowered;
    const HoloLowered *all[] = {&lowered};
    HoloTargetUse      use   = {.lowered = all, .count = 1, .kind = "", .arena = &arena};
    HoloTargetCode     code[HOLO_TARGET_CODES];
    HoloPlan           plan;
    HoloFileWriter    *file;
    HoloModel         *model;
    uint64_t           size;
    int                count;
    EXPECT_OK(holo_lower_cut(graph, &targets, &cut, &error));
    EXPECT_OK(holo_lower_graph(graph, &cut, &lowered, &error));
    if (!is_used(&lowered)) {
        holo_lowered_deinit(&lowered);
        return NULL;
    }
    EXPECT_OK(holo_plan_create(graph, &lowered, &plan, &error));
    if (is_real)
        EXPECT_OK(holo_target_cuda.code(&use, code, &count, &error));
    else
        count = fake_code(&lowered, kind, code);
    for (int i = 0; i < count; i++) EXPECT_OK(holo_plan_code(&plan, 1, &code[i], &error));
    EXPECT_OK(holo_file_writer_open(temp_path("fake.holo"), &file, &error));
    EXPECT_OK(holo_archive_write(&plan, file, NULL, &size, &error));
    EXPECT_OK(holo_file_writer_close(file, true, &error));
    EXPECT_OK(holo_model_open(temp_path("fake.holo"), &model, &error));
    holo_plan_deinit(&plan);
    holo_lowered_deinit(&lowered);
    holo_arena_deinit(&arena);
    return model;
}

// The same for cuda in a class.
static inline HoloModel *fake_model_of(HoloGraph *graph, const char *numeric, const char *kind)
{
    return fake_model_for(graph, holo_target_cuda.of_class(numeric), kind);
}

// The same of a graph as text.
static inline HoloModel *fake_model(const char *text, const char *numeric, const char *kind)
{
    HoloArena  arena = {0};
    HoloGraph *graph;
    EXPECT_OK(holo_graph_parse(&arena, text, &graph, &error));
    EXPECT_OK(holo_graph_infer(graph, &error));
    HoloModel *model = fake_model_of(graph, numeric, kind);
    holo_arena_deinit(&arena);
    return model;
}

#endif
