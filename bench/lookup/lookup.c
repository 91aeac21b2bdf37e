// lookup.c - how long it takes to find what is known: a model that is one table, inputs that came before, the table
// alone; and plans with tables beside the same without.
//
//   lookup MODEL.onnx FOLDER     MODEL: a network with one image as its input, to compare with; files go to FOLDER
//
// Times are the least of many rounds, with all calls that an answer takes: the input is set, the model run, the output
// taken.
#include "lookup.h"
#include "base/base.h"
#include "base/files.h"
#include "runtime/memo/memo.h"
#include "support/onnx_writer.h"

#include <string.h>

enum { INPUTS = 4, ROUNDS = 200 };

static const char *folder;

static void print(const char *what, double seconds, double target)
{
    printf("  %-58s %10.3f us   wanted below %g us%s\n", what, seconds * 1e6, target * 1e6,
           seconds < target ? "" : ": missed");
}

// ---- models

const char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

// f32[256] x, 1 KiB -> f32[256] y: two layers.
static HoloModel *layers_make(void)
{
    OnnxModel  m = {0};
    HoloModel *model;
    onnx_input(&m.graph, "x", HOLO_F32, "1,256");
    onnx_output(&m.graph, "y", HOLO_F32, "1,256");
    onnx_weights(&m.graph, "a", "256,256", 1, 0.1f);
    onnx_weights(&m.graph, "b", "256,256", 2, 0.1f);
    onnx_node(&m.graph, "MatMul", "x,a", "s", "");
    onnx_node(&m.graph, "Tanh", "s", "t", "");
    onnx_node(&m.graph, "MatMul", "t,b", "y", "");
    onnx_save(&m, path_of("layers.onnx"));
    MUST(holo_compile_model(NULL, path_of("layers.onnx"), &model, NULL, &error));
    return model;
}

// u8[1] x -> f32[1,16] y: all that follows from x is one table.
static HoloModel *table_make(void)
{
    OnnxModel m = {0};
    onnx_input(&m.graph, "x", HOLO_U8, "1,1");
    onnx_output(&m.graph, "y", HOLO_F32, "1,16");
    onnx_weights(&m.graph, "a", "1,64", 1, 0.1f);
    onnx_weights(&m.graph, "b", "64,16", 2, 0.5f);
    onnx_node(&m.graph, "Cast", "x", "f", "to=1");
    onnx_node(&m.graph, "MatMul", "f,a", "s", "");
    onnx_node(&m.graph, "Tanh", "s", "t", "");
    onnx_node(&m.graph, "MatMul", "t,b", "u", "");
    onnx_node(&m.graph, "Softmax", "u", "y", "axis=-1");
    onnx_save(&m, path_of("table.onnx"));
    HoloCompiler *compiler;
    HoloModel    *model;
    double        all[256];
    HoloTensor    values = {.dtype = HOLO_F64, .rank = 1, .dim = {256}, .data = all};
    for (int i = 0; i < 256; i++) all[i] = i;
    MUST(holo_compiler_create(&compiler));
    MUST(holo_compiler_set_domain(compiler, "x", &values, &error));
    MUST(holo_compile_model(compiler, path_of("table.onnx"), &model, NULL, &error));
    holo_compiler_destroy(compiler);
    return model;
}

// ---- measuring

void answer(HoloSession *session, const HoloTensor *x)
{
    HoloTensor y;
    MUST(holo_session_set_input(session, 0, x, &error));
    MUST(holo_session_run(session, &error));
    MUST(holo_session_output(session, 0, &y, &error));
}

// Seconds an answer takes, to several inputs in turn.
static double time_of(HoloSession *session, HoloTensors *const *inputs, int calls, int rounds)
{
    double least = 1e9;
    for (int r = 0; r < rounds; r++) {
        double start = holo_time_now();
        for (int i = 0; i < calls; i++) answer(session, holo_tensors_get(inputs[i % INPUTS], 0, NULL));
        double seconds = (holo_time_now() - start) / calls;
        least          = seconds < least ? seconds : least;
    }
    return least;
}

static void inputs_make(const HoloModel *model, HoloTensors **out)
{
    for (int i = 0; i < INPUTS; i++)
        MUST(holo_tensors_seeded(&holo_model_input(model, 0)->type, (uint64_t)i + 1, &out[i], &error));
}

static void table_time(void)
{
    HoloModel   *model = table_make();
    HoloSession *session;
    HoloTensors *inputs[INPUTS];
    inputs_make(model, inputs);
    MUST(holo_session_create(model, NULL, &session, &error));
    HoloModelInfo info;
    holo_model_info(model, &info);
    print(info.steps == 1 ? "a model that is one table" : "a model that should be one table, and is not",
          time_of(session, inputs, 1000, ROUNDS), 1e-6);
    holo_session_destroy(session);
    for (int i = 0; i < INPUTS; i++) holo_tensors_destroy(inputs[i]);
    holo_model_close(model);
}

// The model computing, with what it has computed kept, and with that in its archive.
static void memo_time(HoloModel *model, const char *what, int calls, double target, double times_faster)
{
    HoloSession *session;
    HoloModel   *stored;
    HoloTensors *inputs[INPUTS];
    char         line[128];
    inputs_make(model, inputs);
    MUST(holo_session_create(model, NULL, &session, &error));
    double computed = time_of(session, inputs, INPUTS, ROUNDS / 2);
    printf("  %-58s %10.3f us\n", what, computed * 1e6);
    MUST(holo_session_set_memo(session, 64 << 20, &error));
    double learnt = time_of(session, inputs, calls, ROUNDS);
    snprintf(line, sizeof line, "  known to the session, %.0f times faster", computed / learnt);
    print(line, learnt, target);
    MUST(holo_session_save_memo(session, path_of("memo.holo"), &error));
    holo_session_destroy(session);
    MUST(holo_model_open(path_of("memo.holo"), &stored, &error));
    MUST(holo_session_create(stored, NULL, &session, &error));
    double known = time_of(session, inputs, calls, ROUNDS);
    snprintf(line, sizeof line, "  known to the archive, %.0f times faster%s", computed / known,
             computed / known < times_faster ? " (wanted: 100)" : "");
    print(line, known, target);
    uint64_t misses;
    holo_session_memo_counts(session, NULL, &misses);
    if (misses) printf("  %d runs were not answered by the archive: missed\n", (int)misses);
    holo_session_destroy(session);
    for (int i = 0; i < INPUTS; i++) holo_tensors_destroy(inputs[i]);
    holo_model_close(stored);
    holo_model_close(model);
}

// From the hash of the inputs to the entry, in an archive of many.
static void lookup_time(void)
{
    enum { ENTRIES = 100000, CALLS = 1 << 16 };
    HoloModel   *model = layers_make(), *stored;
    HoloSession *session;
    float        x[256] = {0};
    HoloTensor   input  = {.dtype = HOLO_F32, .rank = 2, .dim = {1, 256}, .data = x};
    HoloRandom   random = {1};
    double       least  = 1e9;
    size_t       found  = 0;
    MUST(holo_session_create(model, NULL, &session, &error));
    MUST(holo_session_set_memo(session, SIZE_MAX, &error));
    for (int i = 0; i < ENTRIES; i++) {
        x[i % 256] = (float)i;
        answer(session, &input);
    }
    MUST(holo_session_save_memo(session, path_of("many.holo"), &error));
    holo_session_destroy(session);
    MUST(holo_model_open(path_of("many.holo"), &stored, &error));
    const HoloArchive *a    = &stored->archive;
    HoloHash          *keys = calloc(CALLS, sizeof *keys);
    if (!keys) exit(1);
    for (int i = 0; i < CALLS; i++)
        memcpy(&keys[i], a->MEMO_ENTRIES_at[holo_random_next(&random) % ENTRIES].key, sizeof *keys);
    for (int r = 0; r < 20; r++) {
        double start = holo_time_now();
        for (int i = 0, next = 0; i < CALLS; i++) { // each begins when the one before has found its entry
            const HoloMemoRecord *entry = holo_memo_lookup(a, keys[next]);
            next                        = i + 1 - CALLS * (i + 1 == CALLS) + (entry ? (int)entry->reserved : 0);
            found += entry != NULL;
        }
        double seconds = (holo_time_now() - start) / CALLS;
        least          = seconds < least ? seconds : least;
    }
    if (found != 20 * (size_t)CALLS) printf("  keys are not found: missed\n");
    print("the lookup alone, by hash, among 100,000 entries", least, 100e-9);
    free(keys);
    holo_model_close(stored);
    holo_model_close(model);
    remove(path_of("many.holo"));
}

int main(int argc, char **argv)
{
    HoloModel *image;
    if (argc != 3) return fputs("usage: lookup MODEL.onnx FOLDER\n", stderr), 2;
    folder = argv[2];
    printf("lookup: one thread, %s\n", holo_cpu_level());
    table_time();
    memo_time(layers_make(), "two layers on an input of 1 KiB, computed", 1000, 1e-6, 0);
    HoloCompiler *compiler;
    MUST(holo_compiler_create(&compiler));
    holo_compiler_set_verify(compiler, false);
    MUST(holo_compile_model(compiler, argv[1], &image, NULL, &error));
    holo_compiler_destroy(compiler);
    memo_time(image, "the network on an image, computed", 2 * INPUTS, 100e-6, 100);
    lookup_time();
    tables_time();
    return 0;
}
