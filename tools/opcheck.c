// opcheck.c - runs ONNX's operator tests by plain evaluation of the imported graph.
//
//     opcheck [-v] DIR...      each DIR a case (model.onnx, test_data_set_*) or a folder of cases
//
// Each case runs in a process of its own, so that a crash is one failure. Prints a line for each
// failure (with -v for each case) and, last, how many passed and failed; exits with 1 if any failed.
// Outputs that are random by definition are checked for type and shape alone.
#include "base/files.h"
#include "import/import.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS_MAX = 60, PATH_ROOM = 4096 };
static const double RTOL = 1e-3, ATOL = 1e-7;

typedef struct Tally {
    int  passed, failed;
    bool verbose;
} Tally;

// ---- comparing

static HoloStatus differ(HoloError *error, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static HoloStatus differ(HoloError *error, const char *what, const char *format, ...)
{
    char    text[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return holo_fail(error, HOLO_VERIFY, "%s: %s", what, text);
}

static bool is_close(double got, double want)
{
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
    return got == want || fabs(got - want) <= ATOL + RTOL * fabs(want);
}

static HoloStatus compare_numbers(const HoloTensor *got, const HoloTensor *want, const char *what, HoloError *error)
{
    HoloTensor a = *got, b = *want;
    bool       is_float = holo_dtype_class(a.dtype) == HOLO_CLASS_FLOAT;
    int64_t    count = holo_tensor_count(&a), wrong = 0, first = -1;
    if (holo_dtype_class(a.dtype) == HOLO_CLASS_COMPLEX) { // two numbers an element
        is_float = true;
        a.dtype = b.dtype = a.dtype == HOLO_C64 ? HOLO_F32 : HOLO_F64;
        count *= 2;
    }
    for (int64_t i = 0; i < count; i++) {
        bool same = is_float ? is_close(holo_get_f(&a, i), holo_get_f(&b, i)) : holo_get_i(&a, i) == holo_get_i(&b, i);
        if (!same && first < 0) first = i;
        wrong += !same;
    }
    if (!wrong) return HOLO_OK;
    return differ(error, what, "%lld of %lld elements differ; element %lld is %.9g, expected %.9g", (long long)wrong,
                  (long long)count, (long long)first, holo_get_f(&a, first), holo_get_f(&b, first));
}

static HoloStatus compare_strings(const HoloTensor *got, const HoloTensor *want, const char *what, HoloError *error)
{
    const HoloString *a = got->data, *b = want->data;
    for (int64_t i = 0; i < holo_tensor_count(want); i++)
        if (!holo_string_equal(a[i], b[i]))
            return differ(error, what, "element %lld is '%.*s', expected '%.*s'", (long long)i, (int)a[i].size,
                          a[i].data, (int)b[i].size, b[i].data);
    return HOLO_OK;
}

static void print_shape(const HoloTensor *t, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s[", holo_dtype_name(t->dtype));
    for (int i = 0; i < t->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? "," : "", (long long)t->dim[i]);
    if (used < size) snprintf(text + used, size - used, "]");
}

static HoloStatus compare(const HoloTensor *got, const HoloTensor *want, const char *what, bool is_random,
                          HoloError *error)
{
    char a[400], b[400];
    print_shape(got, a, sizeof a);
    print_shape(want, b, sizeof b);
    if (got->kind != want->kind) return differ(error, what, "kind %d, expected %d", got->kind, want->kind);
    if (want->kind != HOLO_TENSOR) {
        int64_t count = want->kind == HOLO_MAP ? 2 : want->dim[0];
        if (want->kind != HOLO_MAP && got->dim[0] != count) return differ(error, what, "%s, expected %s", a, b);
        for (int64_t i = 0; i < count; i++) {
            char element[200];
            snprintf(element, sizeof element, "%.150s[%lld]", what, (long long)i);
            HOLO_TRY(compare((const HoloTensor *)got->data + i, (const HoloTensor *)want->data + i, element, is_random,
                             error));
        }
        return HOLO_OK;
    }
    bool same = got->rank == want->rank && got->dtype == want->dtype;
    for (int i = 0; same && i < want->rank; i++) same = got->dim[i] == want->dim[i];
    if (!same) return differ(error, what, "%s, expected %s", a, b);
    if (is_random || holo_tensor_count(want) == 0) return HOLO_OK;
    if (!got->data) return differ(error, what, "has no data");
    return want->dtype == HOLO_STRING ? compare_strings(got, want, what, error)
                                      : compare_numbers(got, want, what, error);
}

// ---- one case

static bool has_random(const HoloGraph *graph)
{
    for (int i = 0; i < graph->node_count; i++) {
        const HoloNode *node = graph->nodes[i];
        if (strcmp(node->type, "Dropout") == 0) {
            if (node->in_count > 2 && node->in[2]) return true; // training mode
        } else if (node->op && node->op->flags & HOLO_OP_RANDOM) {
            return true;
        }
        for (int k = 0; k < node->attr_count; k++)
            if (node->attr[k].kind == HOLO_ATTR_GRAPH && has_random(node->attr[k].graph)) return true;
    }
    return false;
}

// Reads DIR/PREFIX_INDEX.pb. *out_found false: there is no such file.
static HoloStatus read_data(HoloArena *arena, const char *set, const char *prefix, int index, const HoloTensor *want,
                            HoloTensor *out, bool *out_found, HoloError *error)
{
    char        path[PATH_ROOM];
    HoloMapping file;
    snprintf(path, sizeof path, "%s/%s_%d.pb", set, prefix, index);
    *out_found = holo_path_exists(path);
    if (!*out_found) return HOLO_OK;
    HOLO_TRY(holo_file_map(path, &file, error));
    return holo_import_pb(arena, file.data, file.size, want, out, NULL, error);
}

static HoloStatus run_set(HoloArena *arena, const HoloGraph *graph, const char *set, HoloError *error)
{
    HoloTensor        *tensor = HOLO_NEW(arena, HoloTensor, graph->input_count);
    const HoloTensor **in     = HOLO_NEW(arena, const HoloTensor *, graph->input_count);
    HoloTensor        *out    = HOLO_NEW(arena, HoloTensor, graph->output_count);
    bool               found;
    if (!tensor || !in || !out) return holo_fail_memory(error);
    for (int i = 0; i < graph->input_count; i++) {
        const HoloValue *value = graph->inputs[i];
        HOLO_TRY(read_data(arena, set, "input", i, &value->type, &tensor[i], &found, error));
        in[i] = &tensor[i];
        if (found) continue;
        if (value->type.kind != HOLO_OPTIONAL)
            return holo_fail(error, HOLO_BAD_INPUT, "there is no data for input %s", value->name);
        tensor[i]        = value->type;
        tensor[i].rank   = 1;
        tensor[i].dim[0] = 0;
    }
    HOLO_TRY(holo_graph_eval(graph, in, out, arena, NULL, error));
    bool is_random = has_random(graph);
    for (int i = 0; i < graph->output_count; i++) {
        HoloTensor want;
        HOLO_TRY(read_data(arena, set, "output", i, &out[i], &want, &found, error));
        if (found) HOLO_TRY(compare(&out[i], &want, graph->outputs[i]->name, is_random, error));
    }
    return HOLO_OK;
}

static HoloStatus run_case(HoloArena *arena, const char *dir, HoloError *error)
{
    char            path[PATH_ROOM];
    HoloModelSource source;
    snprintf(path, sizeof path, "%s/model.onnx", dir);
    HOLO_TRY(holo_import_open(arena, path, &source, error));
    HOLO_TRY(holo_graph_infer(source.graph, error));
    HOLO_TRY(holo_graph_check_ops(source.graph, error));
    for (int set = 0;; set++) {
        snprintf(path, sizeof path, "%s/test_data_set_%d", dir, set);
        if (!holo_path_is_folder(path)) return HOLO_OK;
        HOLO_TRY(run_set(arena, source.graph, path, error));
    }
}

// ---- many cases

static void child(const char *dir, int pipe_write)
{
    HoloArena arena = {0};
    HoloError error = {0};
    alarm(SECONDS_MAX);
    HoloStatus status = run_case(&arena, dir, &error);
    if (status && !error.text[0]) snprintf(error.text, sizeof error.text, "%s", holo_status_text(status));
    size_t size = strlen(error.text);
    if (status && write(pipe_write, error.text, size) != (ssize_t)size) _exit(2);
    holo_arena_deinit(&arena);
    _exit(status != HOLO_OK);
}

static void check_case(const char *dir, Tally *tally)
{
    const char *slash = strrchr(dir, '/'), *name = slash && slash[1] ? slash + 1 : dir;
    char        text[4096] = "";
    int         ends[2], state = 0;
    fflush(stdout);
    if (pipe(ends) != 0) exit(2);
    pid_t pid = fork();
    if (pid < 0) exit(2);
    if (pid == 0) child(dir, ends[1]);
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0;) used += (size_t)got;
    text[used] = 0;
    close(ends[0]);
    waitpid(pid, &state, 0);
    bool failed = state != 0;
    tally->failed += failed;
    tally->passed += !failed;
    if (WIFSIGNALED(state))
        snprintf(text, sizeof text, "killed by signal %d (%s)", WTERMSIG(state), strsignal(WTERMSIG(state)));
    if (failed)
        printf("FAIL %s: %s\n", name, text);
    else if (tally->verbose)
        printf("ok   %s\n", name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void check_folder(const char *dir, Tally *tally)
{
    char   path[PATH_ROOM], **names = NULL;
    size_t count = 0;
    snprintf(path, sizeof path, "%s/model.onnx", dir);
    if (holo_path_exists(path)) {
        check_case(dir, tally);
        return;
    }
    DIR *folder = opendir(dir);
    if (!folder) {
        printf("FAIL %s: not a folder\n", dir);
        tally->failed++;
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        snprintf(path, sizeof path, "%s/%s/model.onnx", dir, entry->d_name);
        if (!holo_path_exists(path)) continue;
        names          = realloc(names, (count + 1) * sizeof *names);
        names[count++] = strdup(entry->d_name);
    }
    closedir(folder);
    if (count) qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        check_case(path, tally);
        free(names[i]);
    }
    free(names);
}

int main(int argc, char **argv)
{
    Tally tally = {0};
    for (int i = 1; i < argc; i++) {
        size_t length = strlen(argv[i]);
        while (length > 1 && argv[i][length - 1] == '/') argv[i][--length] = 0;
        if (strcmp(argv[i], "-v") == 0)
            tally.verbose = true;
        else
            check_folder(argv[i], &tally);
    }
    printf("%d passed, %d failed\n", tally.passed, tally.failed);
    return tally.failed != 0;
}
