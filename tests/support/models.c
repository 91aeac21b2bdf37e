// models.c - see models.h.
#include "support/models.h"

#include "archive/archive.h"
#include "base/system.h"
#include "plan/plan.h"
#include "runtime/model.h"
#include "support/onnx_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- files

static char folder[512];

static void remove_below(const char *path)
{
    HoloFolder list;
    char       below[1024];
    (void)holo_folder_list(path, &list, NULL);
    for (int i = 0; i < list.count; i++) {
        snprintf(below, sizeof below, "%s/%s", path, list.name[i]);
        if (!holo_file_remove(below) && holo_path_is_folder(below))
            remove_below(below); // a link to one has gone by now
    }
    holo_folder_free(&list);
    holo_folder_remove(path);
}

static void folder_remove(void)
{
    remove_below(folder);
}

const char *temp_folder(void)
{
    if (*folder) return folder;
    if (!holo_temporary_folder(folder, sizeof folder)) abort();
    atexit(folder_remove);
    return folder;
}

const char *temp_path(const char *name)
{
    enum { PATHS = 256 };
    static char *paths[PATHS];
    static int   next;
    for (int i = 0; i < next; i++)
        if (!strcmp(paths[i] + strlen(temp_folder()) + 1, name)) return paths[i];
    if (next == PATHS || asprintf(&paths[next], "%s/%s", temp_folder(), name) < 0) abort();
    return paths[next++];
}

int folder_count(const char *path)
{
    HoloFolder list;
    int        count = 0;
    (void)holo_folder_list(path, &list, NULL);
    for (int i = 0; i < list.count; i++) count += list.name[i][0] != '.';
    holo_folder_free(&list);
    return count;
}

void file_write(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file)) fail_msg("%s cannot be written", path);
}

uint8_t *file_read(const char *path, size_t *out_size)
{
    struct stat st;
    FILE       *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &st)) fail_msg("%s cannot be read", path);
    *out_size      = (size_t)st.st_size;
    uint8_t *bytes = aligned_alloc(64, holo_align(*out_size + 1, 64));
    if (!bytes || fread(bytes, 1, *out_size, file) != *out_size) fail_msg("%s cannot be read", path);
    fclose(file);
    return bytes;
}

// ---- models

const char *model_conv(void)
{
    OnnxModel   m    = {0};
    OnnxGraph  *g    = &m.graph;
    const char *path = temp_path("conv.onnx");
    onnx_input(g, "x", HOLO_F32, "1,3,12,12");
    onnx_output(g, "y", HOLO_F32, "1,10");
    onnx_weights(g, "w1", "8,3,3,3", 1, 0.3f);
    onnx_weights(g, "b1", "8", 2, 0.3f);
    onnx_weights(g, "w2", "18,8,3,3", 3, 0.2f);
    onnx_weights(g, "w3", "10,288", 4, 0.2f);
    onnx_weights(g, "b3", "10", 5, 0.5f);
    onnx_node(g, "Conv", "x,w1,b1", "c1", "pads=[1,1,1,1] kernel_shape=[3,3]");
    onnx_node(g, "Relu", "c1", "r1", "");
    onnx_node(g, "MaxPool", "r1", "p1", "kernel_shape=[2,2] strides=[2,2]");
    onnx_node(g, "Conv", "p1,w2", "c2", "kernel_shape=[3,3]");
    onnx_node(g, "Flatten", "c2", "f", "axis=1");
    onnx_node(g, "Gemm", "f,w3,b3", "l", "transB=1");
    onnx_node(g, "Softmax", "l", "y", "axis=1");
    onnx_save(&m, path);
    return path;
}

const char *model_mlp(void)
{
    OnnxModel   m    = {0};
    OnnxGraph  *g    = &m.graph;
    const char *path = temp_path("mlp.onnx");
    onnx_input(g, "x", HOLO_F32, "4,40");
    onnx_output(g, "y", HOLO_F32, "4,7");
    onnx_weights(g, "w1", "40,33", 1, 0.4f);
    onnx_weights(g, "b1", "33", 2, 0.4f);
    onnx_weights(g, "w2", "33,7", 3, 0.4f);
    onnx_weights(g, "b2", "7", 4, 0.4f);
    onnx_node(g, "MatMul", "x,w1", "h", "");
    onnx_node(g, "Add", "h,b1", "a", "");
    onnx_node(g, "Relu", "a", "r", "");
    onnx_node(g, "Gemm", "r,w2,b2", "l", "");
    onnx_node(g, "Tanh", "l", "y", "");
    onnx_save(&m, path);
    return path;
}

const char *model_dynamic(void)
{
    OnnxModel   m    = {0};
    OnnxGraph  *g    = &m.graph;
    const char *path = temp_path("dynamic.onnx");
    onnx_input(g, "x", HOLO_F32, "N,6");
    onnx_input(g, "z", HOLO_F32, "N,6");
    onnx_output(g, "y", HOLO_F32, "N,3");
    onnx_output(g, "both", HOLO_F32, NULL);
    onnx_weights(g, "w", "6,3", 1, 0.5f);
    onnx_node(g, "Add", "x,z", "s", "");
    onnx_node(g, "MatMul", "s,w", "m", "");
    onnx_node(g, "Relu", "m", "y", "");
    onnx_node(g, "Concat", "x,z", "both", "axis=0");
    onnx_save(&m, path);
    return path;
}

const char *model_loop(int64_t rounds)
{
    OnnxModel   m    = {0};
    OnnxGraph   body = {{0}}, *g = &m.graph;
    const char *path = temp_path("loop.onnx");
    onnx_input(&body, "i", HOLO_I64, "");
    onnx_input(&body, "go", HOLO_BOOL, "");
    onnx_input(&body, "a", HOLO_F32, "8");
    onnx_output(&body, "go_on", HOLO_BOOL, "");
    onnx_output(&body, "b", HOLO_F32, "8");
    onnx_node(&body, "Identity", "go", "go_on", "");
    onnx_node(&body, "Sin", "a", "s", "");
    onnx_node(&body, "Add", "s,x", "b", "");
    onnx_input(g, "x", HOLO_F32, "8");
    onnx_output(g, "y", HOLO_F32, "8");
    onnx_ints(g, "rounds", "", &rounds);
    onnx_node_with(g, "Loop", "rounds,,x", "y", "", "body", &body);
    onnx_save(&m, path);
    return path;
}

const char *model_tiny(void)
{
    OnnxModel   m    = {0};
    OnnxGraph  *g    = &m.graph;
    const char *path = temp_path("tiny.onnx");
    onnx_input(g, "x", HOLO_F32, "2,3");
    onnx_output(g, "y", HOLO_F32, "2,3");
    onnx_weights(g, "c", "3", 1, 1);
    onnx_node(g, "Add", "x,c", "s", "");
    onnx_node(g, "Relu", "s", "y", "");
    onnx_save(&m, path);
    return path;
}

const char *model_data(void)
{
    OnnxModel   m    = {0};
    OnnxGraph  *g    = &m.graph;
    const char *path = temp_path("data.onnx");
    onnx_input(g, "x", HOLO_F32, "6");
    onnx_output(g, "places", HOLO_I64, NULL);
    onnx_output(g, "dense", HOLO_F32, NULL);
    onnx_node(g, "Relu", "x", "r", "");
    onnx_node(g, "NonZero", "r", "places", "");
    onnx_node(g, "Squeeze", "places", "line", "");
    onnx_node(g, "Gather", "x,line", "dense", "");
    onnx_save(&m, path);
    return path;
}

// ---- the whole path

void expect_message(const char *call, HoloStatus status, HoloStatus expected, const char *text, const char *words)
{
    if (status != expected)
        fail_msg("%s: '%s' (%s), expected '%s'", call, holo_status_text(status), text, holo_status_text(expected));
    if (!strstr(text, words)) fail_msg("%s: \"%s\" is not in \"%s\"", call, words, text);
}

static HoloStatus write_model(const HoloPlan *plan, HoloModel **out, HoloError *error)
{
    HoloFileWriter *file;
    HoloMapping     mapping;
    uint64_t        size;
    HOLO_TRY(holo_file_writer_open(temp_path("graph.holo"), &file, error));
    HoloStatus status = holo_archive_write(plan, file, NULL, &size, error);
    if (!status) status = holo_file_writer_map(file, &mapping, error);
    if (!status) status = holo_model_open_mapping(&mapping, out, error);
    HoloStatus closed = holo_file_writer_close(file, false, error);
    return status ? status : closed;
}

HoloStatus model_of(const HoloGraph *graph, HoloNumeric numeric, HoloModel **out, uint32_t *out_kernels,
                    HoloError *error)
{
    HoloLowered lowered;
    HoloStatus  status = holo_lower_graph(graph, NULL, &lowered, error);
    if (!status) status = model_of_lowered(graph, &lowered, numeric, out, out_kernels, error);
    holo_lowered_deinit(&lowered);
    return status;
}

HoloStatus model_of_lowered(const HoloGraph *graph, const HoloLowered *lowered, HoloNumeric numeric, HoloModel **out,
                            uint32_t *out_kernels, HoloError *error)
{
    HoloPlan   plan   = {0};
    HoloStatus status = holo_plan_create(graph, lowered, &plan, error);
    if (numeric == HOLO_EXACT) plan.flags_must |= HOLO_FLAG_EXACT;
    if (!status) status = write_model(&plan, out, error);
    *out_kernels = plan.kernel_steps;
    holo_plan_deinit(&plan);
    return status;
}

HoloModel *compiled(const char *path, HoloNumeric numeric)
{
    HoloCompiler *compiler;
    HoloModel    *model;
    EXPECT_OK(holo_compiler_create(&compiler));
    holo_compiler_set_numeric(compiler, numeric);
    EXPECT_OK(holo_compile_model(compiler, path, &model, NULL, &error));
    holo_compiler_destroy(compiler);
    return model;
}

const char *archived(const char *path, HoloNumeric numeric, int threads)
{
    HoloCompiler *compiler;
    char          name[128];
    snprintf(name, sizeof name, "%s.%d.%d.holo", strrchr(path, '/') + 1, (int)numeric, threads);
    const char *out = temp_path(name);
    EXPECT_OK(holo_compiler_create(&compiler));
    holo_compiler_set_numeric(compiler, numeric);
    holo_compiler_set_threads(compiler, threads);
    EXPECT_OK(holo_compile_file(compiler, path, out, NULL, &error));
    holo_compiler_destroy(compiler);
    return out;
}

const char *text_archive(const char *name, const char *const *texts, int count, uint32_t *out_deduplicated)
{
    enum { ENTRIES_MAX = 2 };
    HoloArena       arena = {0};
    HoloLowered     lowered[ENTRIES_MAX];
    HoloPlanEntry   entries[ENTRIES_MAX];
    HoloPlan        plan;
    HoloFileWriter *file;
    uint64_t        size;
    const char     *path = temp_path(name);
    assert_true(count <= ENTRIES_MAX);
    for (int i = 0; i < count; i++) {
        HoloGraph *graph;
        EXPECT_OK(holo_graph_parse(&arena, texts[i], &graph, &error));
        EXPECT_OK(holo_graph_infer(graph, &error));
        EXPECT_OK(holo_lower_graph(graph, NULL, &lowered[i], &error));
        entries[i] = (HoloPlanEntry){i ? "second" : "", graph, &lowered[i], false};
    }
    EXPECT_OK(holo_plan_create_all(entries, count, &plan, &error));
    if (out_deduplicated) *out_deduplicated = plan.deduplicated;
    EXPECT_OK(holo_file_writer_open(path, &file, &error));
    EXPECT_OK(holo_archive_write(&plan, file, NULL, &size, &error));
    EXPECT_OK(holo_file_writer_close(file, true, &error));
    holo_plan_deinit(&plan);
    for (int i = 0; i < count; i++) holo_lowered_deinit(&lowered[i]);
    holo_arena_deinit(&arena);
    return path;
}

HoloTensor made(const HoloTensor *type, uint64_t seed, int64_t open)
{
    HoloTensor t      = *type;
    HoloRandom random = {seed};
    for (int d = 0; d < t.rank; d++)
        if (t.dim[d] < 0) t.dim[d] = open;
    t.data = calloc(1, holo_tensor_bytes(&t) + 1);
    if (!t.data) abort();
    for (int64_t i = 0, count = holo_tensor_count(&t); t.dtype == HOLO_F32 && i < count; i++)
        ((float *)t.data)[i] = (float)(2 * holo_random_unit(&random) - 1);
    if (t.dtype != HOLO_F32) memset(t.data, 1, holo_tensor_bytes(&t));
    return t;
}

static void outputs_join(const HoloModel *model, const HoloSession *session, uint8_t **bytes, size_t *size)
{
    *bytes = NULL;
    *size  = 0;
    for (int i = 0; i < holo_model_output_count(model); i++) {
        HoloTensor view;
        EXPECT_OK(holo_session_output(session, i, &view, &error));
        size_t more = holo_tensor_bytes(&view);
        *bytes      = realloc(*bytes, *size + more + 1);
        if (!*bytes) abort();
        if (more) memcpy(*bytes + *size, view.data, more);
        *size += more;
    }
}

uint8_t *answer(const HoloModel *model, HoloPool *pool, uint64_t seed, int64_t open, size_t *out_size)
{
    HoloTensor   inputs[8];
    HoloSession *session;
    uint8_t     *bytes;
    int          count = holo_model_input_count(model);
    EXPECT_OK(holo_session_create(model, pool, &session, &error));
    for (int i = 0; i < count; i++) {
        inputs[i] = made(&holo_model_input(model, i)->type, seed + (uint64_t)i, open);
        EXPECT_OK(holo_session_set_input(session, i, &inputs[i], &error));
    }
    EXPECT_OK(holo_session_run(session, &error));
    outputs_join(model, session, &bytes, out_size);
    holo_session_destroy(session);
    for (int i = 0; i < count; i++) free(inputs[i].data);
    return bytes;
}

void expect_same_bytes(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    if (a_size != b_size) fail_msg("%zu bytes, expected %zu", a_size, b_size);
    for (size_t i = 0; i < a_size; i++)
        if (a[i] != b[i]) fail_msg("byte %zu of %zu is %02x, expected %02x", i, a_size, a[i], b[i]);
}
