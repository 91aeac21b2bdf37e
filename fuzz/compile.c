// compile.c - fuzzes a whole compile: the bytes are a model, which is imported, optimized, quantized perhaps, planned,
// written and verified, and what comes out is opened and run. How it is compiled follows from the bytes.
#include "onnx_mutator.h"

#include "hologram_atlas.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COMPILE_LIMIT = 64 << 20, SESSION_LIMIT = 64 << 20, INPUT_MAX = 1 << 20 };
static const double SECONDS = 0.3; // of a run: a loop may be asked to go on for ever

static uint64_t hash_of(const uint8_t *data, size_t size)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ data[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

static HoloCompiler *choices(uint64_t bits)
{
    HoloCompiler *compiler;
    if (holo_compiler_create(&compiler)) abort();
    holo_compiler_set_memory_limit(compiler, COMPILE_LIMIT);
    holo_compiler_set_threads(compiler, 1);
    holo_compiler_set_numeric(compiler, bits & 1 ? HOLO_EXACT : HOLO_FUSED);
    holo_compiler_set_verify(compiler, bits >> 1 & 1);
    holo_compiler_set_symbolic(compiler, (bits >> 2 & 7) == 0);
    holo_compiler_set_tables(compiler, (bits >> 5 & 7) != 0, 1 << 20);
    if ((bits >> 8 & 7) == 0) holo_compiler_set_quantize(compiler, (HoloQuantizeKind)(bits >> 11 & 3));
    return compiler;
}

// What a run gave can be read whole.
static void outputs_read(const HoloModel *model, const HoloSession *session)
{
    HoloTensor    view;
    HoloContentId id;
    for (int i = 0; i < holo_model_output_count(model); i++) {
        if (holo_session_output(session, i, &view, NULL)) abort();
        if (view.kind == HOLO_TENSOR && holo_content_id(&view, &id, NULL)) abort();
    }
}

// Runs with zeros, where sizes are open with so many.
static void run(const HoloModel *model, HoloSession *session, int64_t open)
{
    HoloError error = {0};
    int       count = holo_model_input_count(model), ready = 0;
    void    **memory = calloc((size_t)count + 1, sizeof *memory);
    for (int i = 0; memory && i < count; i++) {
        HoloTensor t = holo_model_input(model, i)->type;
        for (int d = 0; d < t.rank; d++)
            if (t.dim[d] < 0) t.dim[d] = open;
        bool is_plain = t.rank >= 0 && t.kind == HOLO_TENSOR && t.dtype != HOLO_STRING && holo_tensor_count(&t) >= 0;
        if (!is_plain || holo_tensor_bytes(&t) > INPUT_MAX) break;
        t.data = memory[i] = calloc(holo_tensor_bytes(&t) + 1, 1);
        ready += t.data && !holo_session_set_input(session, i, &t, &error);
    }
    if (memory && ready == count) {
        HoloStatus status = holo_session_run(session, &error);
        if (!status) outputs_read(model, session);
        if (status && !error.text[0]) abort(); // a failure comes with words
    }
    for (int i = 0; memory && i < count; i++) free(memory[i]);
    free(memory);
}

static void model_run(const HoloModel *model)
{
    HoloError    error = {0};
    HoloSession *session;
    if (holo_model_verify(model, &error)) abort(); // what was written is whole
    if (holo_session_create(model, NULL, &session, &error)) return;
    if (!holo_session_set_memory_limit(session, SESSION_LIMIT, &error)) {
        static const int64_t sizes[] = {2, 3, 1, 3};
        if (holo_session_set_time_limit(session, SECONDS, NULL)) abort();
        for (int i = 0; i < 4; i++) run(model, session, sizes[i]);
    }
    holo_session_destroy(session);
}

static int file_of(const uint8_t *data, size_t size)
{
    int fd = memfd_create("model", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char          path[64];
    int           fd       = file_of(data, size);
    HoloCompiler *compiler = choices(hash_of(data, size));
    HoloError     error    = {0};
    HoloModel    *model    = NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    HoloStatus status = holo_compile_model(compiler, path, &model, NULL, &error);
    holo_compiler_destroy(compiler);
    close(fd);
    if (status && !error.text[0]) abort();
    if (status == HOLO_INTERNAL) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    if (!status) model_run(model);
    holo_model_close(model);
    return 0;
}
