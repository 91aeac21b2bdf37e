// fake_model.h - models for the driver of fake_driver.c, which stands where NVIDIA's would be.
#ifndef TESTS_CUDA_FAKE_MODEL_H
#define TESTS_CUDA_FAKE_MODEL_H

#include "support/models.h"

#include "archive/archive.h"
#include "cuda/fake_driver.h"
#include "lower/cuda/cuda_target.h"
#include "plan/plan.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const HoloTarget holo_target_cuda;

static HoloFakeDriver *fake;

// The library with the driver's name that is loaded first is the one that is found.
static int fake_load(void **state)
{
    char path[512];
    (void)state;
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

// A model of the graph for cuda in that class, with code that the fake driver takes: names of modules. The graph is changed.
// NULL: no step is for cuda.
static inline HoloModel *fake_model_of(HoloGraph *graph, const char *numeric, const char *kind)
{
    static const char *const modules[] = {
        "basic",       "product_f32",  "product_tf32", "product_f16",  "product_bf16", "rows",         "tiled_f16_sm90",
        "norm",        "turn",         "programs",     "cache",        "decode",       "attention_16", "attention_32",
        "top",         "scatter",      "recurrent",    "blocks_small", "blocks_four",  "blocks_book",  "blocks_more",
        "blocks_grid", "blocks_nbits", "product_s8",   "bytes",        "quantize",     "product_f8"};
    HoloTargets     targets = {.list = {&holo_target_cpu, holo_target_cuda.of_class(numeric)}, .count = 2};
    HoloCut         cut;
    HoloLowered     lowered;
    HoloPlan        plan;
    HoloFileWriter *file;
    HoloModel      *model;
    uint64_t        size;
    EXPECT_OK(holo_lower_cut(graph, &targets, &cut, &error));
    EXPECT_OK(holo_lower_graph(graph, &cut, &lowered, &error));
    if (!is_used(&lowered)) {
        holo_lowered_deinit(&lowered);
        return NULL;
    }
    EXPECT_OK(holo_plan_create(graph, &lowered, &plan, &error));
    for (int i = 0; i < HOLO_COUNT(modules); i++) {
        HoloTargetCode code = {modules[i], kind, modules[i], strlen(modules[i]) + 1};
        EXPECT_OK(holo_plan_code(&plan, 1, &code, &error));
    }
    EXPECT_OK(holo_file_writer_open(temp_path("fake.holo"), &file, &error));
    EXPECT_OK(holo_archive_write(&plan, file, NULL, &size, &error));
    EXPECT_OK(holo_file_writer_close(file, true, &error));
    EXPECT_OK(holo_model_open(temp_path("fake.holo"), &model, &error));
    holo_plan_deinit(&plan);
    holo_lowered_deinit(&lowered);
    return model;
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
