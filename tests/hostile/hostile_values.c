// hostile_values.c - ONNX's operator cases with other values and sizes than their authors meant: a run fails in words, or gives
// an output that is whole, in time, within its memory, and the same in a session that has run before and in one that has
// not.
//
//   hostile_values [--rounds N] [--seed N] [--every N] [--only TEXT] [--fixed] [--show] FOLDER...
//
// A case is a folder of FOLDER with model.onnx and test_data_set_0. Each runs in a process of its own. --every 7: one case in
// seven. --only: cases with this text in their names. --fixed: with the sizes that models fix. --show: every run is told.
#include "hologram_atlas.h"
#include "hologram_compiler.h"

#include "base/base.h"
#include "base/system.h"
#include "ops/tensor.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { INPUTS_MAX = 64, ELEMENTS_MAX = 1 << 16 };
static const double   LIMIT = 0.2, LATE = 2; // seconds: what a run is given, and what is a mistake
static const uint64_t MEMORY = UINT64_C(1) << 30, MEMORY_LATE = UINT64_C(3) << 30;

typedef struct Options {
    int         rounds, every;
    uint64_t    seed;
    const char *only;
    bool        symbolic;
} Options;

// What a case's process leaves for the one that waits for it.
typedef struct Report {
    char what[512]; // what was changed last
    char wrong[512];
    int  runs, good;
} Report;

static Report *report;
static bool    shown; // every run is told

static uint64_t pick(HoloRandom *random, uint64_t count)
{
    return holo_random_next(random) % count;
}

static void wrong(const char *text)
{
    if (!*report->wrong) snprintf(report->wrong, sizeof report->wrong, "%.200s; %.300s", text, report->what);
}

static void note(const char *text)
{
    size_t used = strlen(report->what);
    snprintf(report->what + used, sizeof report->what - used, " %s", text);
}

// ---- values

static const int64_t WHOLE[] = {0,
                                1,
                                -1,
                                2,
                                -2,
                                3,
                                7,
                                300,
                                INT32_MAX,
                                INT32_MIN,
                                INT64_C(1) << 31,
                                -(INT64_C(1) << 31) - 1,
                                INT64_C(1) << 32,
                                -(INT64_C(1) << 32),
                                INT64_C(1) << 53,
                                INT64_C(1) << 61,
                                INT64_C(1) << 62,
                                INT64_MAX,
                                INT64_MAX - 1,
                                INT64_MIN,
                                INT64_MIN + 1};

static const double REAL[] = {0,        -0.0,      1,      -1,      0.5,      1e-310,     1e-42, FLT_MIN, 1e38,
                              -1e38,    1e300,     -1e300, DBL_MAX, -DBL_MAX, 2147483648, -1e10, 1e19,    -1e19,
                              INFINITY, -INFINITY, NAN,    -NAN,    65504,    1e6,        300};

static const HoloString TEXTS[] = {{"", 0},
                                   {"a\0b", 3},
                                   {"\xff\xfe\x80", 3},
                                   {"\xf0\x9f\x98", 3},
                                   {"\xed\xa0\x80", 3},
                                   {"-9223372036854775808", 20},
                                   {"99999999999999999999999", 23},
                                   {"1e999", 5},
                                   {"nan", 3},
                                   {"-inf", 4},
                                   {"0x", 2},
                                   {"   ", 3},
                                   {"((((((a*)*)*)*)*)*b", 19},
                                   {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 64}};

static int64_t clamped(uint8_t dtype, int64_t x)
{
    int bits = (int)holo_dtype_size(dtype) * 8;
    if (bits >= 64) return x;
    int64_t high = INT64_C(1) << (bits - 1);
    return x < -high ? -high : x > 2 * high - 1 ? 2 * high - 1 : x;
}

static void put_bytes(const HoloTensor *t, int64_t i, uint64_t bits)
{
    size_t size = holo_dtype_size(t->dtype);
    for (size_t b = 0; b < size; b++) ((uint8_t *)t->data)[(size_t)i * size + b] = (uint8_t)(bits >> (b % 8 * 8));
}

static void put(HoloTensor *t, int64_t i, HoloRandom *random)
{
    char    text[64];
    double  real  = REAL[pick(random, (uint64_t)HOLO_COUNT(REAL))];
    int64_t whole = WHOLE[pick(random, (uint64_t)HOLO_COUNT(WHOLE))];
    if (t->dtype == HOLO_STRING) {
        ((HoloString *)t->data)[i] = TEXTS[pick(random, (uint64_t)HOLO_COUNT(TEXTS))];
        snprintf(text, sizeof text, "[%" PRId64 "]=text", i);
    } else if (t->dtype == HOLO_F32) {
        ((float *)t->data)[i] = fabs(real) > FLT_MAX && isfinite(real) ? copysignf(FLT_MAX, (float)real) : (float)real;
        snprintf(text, sizeof text, "[%" PRId64 "]=%g", i, real);
    } else if (t->dtype == HOLO_F64) {
        ((double *)t->data)[i] = real;
        snprintf(text, sizeof text, "[%" PRId64 "]=%g", i, real);
    } else if (t->dtype == HOLO_F16 || t->dtype == HOLO_BF16 || t->dtype == HOLO_C64 || t->dtype == HOLO_C128) {
        uint64_t bits =
            pick(random, 2) ? holo_random_next(random) : UINT64_C(0x7ff07f807c007bff) >> 16 * pick(random, 4);
        put_bytes(t, i, bits);
        snprintf(text, sizeof text, "[%" PRId64 "]=bits %" PRIx64, i, bits);
    } else { // bytes that are no bool, and halves of bytes of more than four bits, too
        if (holo_dtype_size(t->dtype) == 1 && pick(random, 2)) whole = (int64_t)pick(random, 256);
        put_bytes(t, i, (uint64_t)clamped(t->dtype, whole));
        snprintf(text, sizeof text, "[%" PRId64 "]=%" PRId64, i, whole);
    }
    note(text);
}

// ---- values as wholes

static void value_free(HoloTensor *t)
{
    if (t->kind != HOLO_TENSOR)
        for (int64_t i = 0, count = t->kind == HOLO_MAP ? 2 : t->dim[0]; t->data && i < count; i++)
            value_free((HoloTensor *)t->data + i);
    free(t->data);
    t->data = NULL;
}

static void *take(size_t size)
{
    void *memory = malloc(size ? size : 1);
    if (!memory) exit(3);
    return memory;
}

// A copy in memory of just its size. The texts of strings are those of `from`.
static HoloTensor value_copy(const HoloTensor *from)
{
    HoloTensor t = *from;
    if (t.kind == HOLO_TENSOR) {
        size_t size = holo_tensor_bytes(&t);
        t.data      = take(size);
        if (size) memcpy(t.data, from->data, size);
        return t;
    }
    int64_t count = t.kind == HOLO_MAP ? 2 : t.dim[0];
    t.data        = take((size_t)count * sizeof t);
    for (int64_t i = 0; i < count; i++) ((HoloTensor *)t.data)[i] = value_copy((const HoloTensor *)from->data + i);
    return t;
}

// The tensor in other sizes, with its elements over and over.
static void resize(HoloTensor *t, const int64_t *dim, int rank)
{
    HoloTensor old = *t;
    t->rank        = (int8_t)rank;
    for (int d = 0; d < rank; d++) t->dim[d] = dim[d];
    int64_t count = holo_tensor_count(t), had = holo_tensor_count(&old);
    if (count < 0 || count > ELEMENTS_MAX) {
        *t = old;
        return;
    }
    size_t size = holo_dtype_size(t->dtype);
    t->data     = take((size_t)count * size);
    memset(t->data, 0, (size_t)count * size);
    for (int64_t i = 0; had && i < count; i++)
        memcpy((char *)t->data + (size_t)i * size, (char *)old.data + (size_t)(i % had) * size, size);
    free(old.data);
}

static void change_sizes(HoloTensor *t, const HoloPort *port, HoloRandom *random)
{
    static const int64_t sizes[] = {0, 1, 1, 2, 3, 7, 300};
    int64_t              dim[HOLO_MAX_RANK];
    char                 text[64];
    int                  rank = t->rank;
    for (int d = 0; d < rank; d++) dim[d] = t->dim[d];
    for (int d = 0; d < rank; d++)
        if ((!port || port->type.rank < 0 || port->type.dim[d] < 0) && pick(random, 2))
            dim[d] = sizes[pick(random, (uint64_t)HOLO_COUNT(sizes))];
    if ((!port || port->type.rank < 0) && rank < 6 && !pick(random, 4)) dim[rank++] = 2;
    if ((!port || port->type.rank < 0) && rank > 0 && !pick(random, 4)) rank--;
    resize(t, dim, rank);
    note("sizes");
    for (int d = 0; d < t->rank; d++) snprintf(text, sizeof text, "%" PRId64, t->dim[d]), note(text);
}

static void change_values(HoloTensor *t, HoloRandom *random)
{
    int64_t count = holo_tensor_count(t), puts = pick(random, 3) ? 1 + (int64_t)pick(random, 3) : count;
    if (puts > 64) puts = 64;
    if (t->rank == 1 && (t->dtype == HOLO_I64 || t->dtype == HOLO_I32) && count <= 16 && pick(random, 2)) puts = count;
    for (int64_t i = 0; count && i < puts; i++)
        put(t, puts == count ? i : (int64_t)pick(random, (uint64_t)count), random);
}

static void change(HoloTensor *t, const HoloPort *port, HoloRandom *random)
{
    if (t->kind != HOLO_TENSOR) {
        int64_t count = t->kind == HOLO_MAP ? 2 : t->dim[0];
        for (int64_t i = 0; i < count; i++)
            if (pick(random, 2)) change((HoloTensor *)t->data + i, NULL, random);
        return;
    }
    if (!pick(random, 3)) change_sizes(t, port, random);
    if (pick(random, 4)) change_values(t, random);
}

// ---- runs

typedef struct Case {
    HoloSource  *source;
    HoloModel   *model;
    HoloSession *session;
    int          count; // of inputs of the model
    HoloTensors *kept[INPUTS_MAX];
    HoloTensor   given[INPUTS_MAX]; // by input of the model; dtype 0: none
} Case;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t hash_value(const HoloTensor *t, uint64_t hash)
{
    if (t->kind != HOLO_TENSOR) {
        int64_t count = t->kind == HOLO_MAP ? 2 : holo_tensor_count(t);
        for (int64_t i = 0; i < count; i++) hash = hash_value((const HoloTensor *)t->data + i, hash);
        return hash;
    }
    HoloContentId id;
    uint64_t      word;
    if (holo_content_id(t, &id, NULL)) return wrong("an output cannot be read"), hash;
    memcpy(&word, &id, sizeof word);
    return hash * 31 + word;
}

static HoloStatus run(Case *c, HoloSession *session, const HoloTensor *in, uint64_t *out_hash)
{
    HoloError  error  = {0};
    HoloStatus status = HOLO_OK;
    for (int i = 0; i < c->count && !status; i++)
        if (in[i].dtype) status = holo_session_set_input(session, i, &in[i], &error);
    if (status) return status;
    double begin = now();
    status       = holo_session_run(session, &error);
    if (now() - begin > LATE) wrong("a run does not end in time");
    if (status == HOLO_INTERNAL) wrong("a mistake inside");
    if (status && !*error.text) wrong("a run fails without words");
    *out_hash = 0;
    for (int i = 0; i < holo_model_output_count(c->model) && !status; i++) {
        HoloTensor view;
        if (holo_session_output(session, i, &view, NULL))
            wrong("an output is missing");
        else if (!holo_source_is_random(c->source, i, &(double){0}, &(double){0}))
            *out_hash = hash_value(&view, *out_hash);
    }
    return status;
}

static HoloStatus session_make(Case *c, HoloSession **out)
{
    HoloStatus status = holo_session_create(c->model, NULL, out, NULL);
    if (!status) status = holo_session_set_time_limit(*out, LIMIT, NULL);
    return status;
}

// What memory held before is seen by none: a session that has not run before gives the same.
static void compare_anew(Case *c, const HoloTensor *in, uint64_t hash)
{
    HoloSession *anew;
    uint64_t     other;
    if (session_make(c, &anew)) return;
    HoloStatus status = run(c, anew, in, &other);
    if (!status && other != hash) wrong("another session gives another output");
    if (status && status != HOLO_TIMEOUT && status != HOLO_NO_MEMORY) wrong("another session fails");
    holo_session_destroy(anew);
}

static void round_run(Case *c, HoloRandom *random)
{
    HoloTensor in[INPUTS_MAX] = {{0}};
    uint64_t   hash;
    *report->what = 0;
    for (int i = 0; i < c->count; i++)
        if (c->given[i].dtype) in[i] = value_copy(&c->given[i]);
    for (int i = 0; i < c->count; i++)
        if (in[i].dtype && (c->count == 1 || pick(random, 2))) {
            char text[32];
            snprintf(text, sizeof text, "| input %d:", i);
            note(text);
            change(&in[i], holo_model_input(c->model, i), random);
        }
    HoloStatus status = run(c, c->session, in, &hash);
    report->runs++;
    report->good += !status;
    if (shown) printf("%s:%s\n", holo_status_text(status), report->what);
    if (!status && !pick(random, 3)) compare_anew(c, in, hash);
    for (int i = 0; i < c->count; i++)
        if (in[i].dtype) value_free(&in[i]);
}

// ---- cases

static bool inputs_read(Case *c)
{
    int files = 0, required = 0;
    for (int i = 0; i < holo_source_input_count(c->source); i++) required += !holo_source_input(c->source, i)->optional;
    for (char path[64]; files < INPUTS_MAX; files++) {
        snprintf(path, sizeof path, "test_data_set_0/input_%d.pb", files);
        if (access(path, R_OK)) break;
    }
    for (int i = 0, file = 0; i < holo_source_input_count(c->source) && file < files; i++) {
        const HoloPort *port = holo_source_input(c->source, i);
        char            path[64];
        if (port->optional && files == required) continue;
        snprintf(path, sizeof path, "test_data_set_0/input_%d.pb", file);
        int index = holo_model_input_find(c->model, port->name);
        if (holo_tensors_read(path, &port->type, &c->kept[file++], NULL)) return false;
        if (index >= 0 && index < INPUTS_MAX) c->given[index] = *holo_tensors_get(c->kept[file - 1], 0, NULL);
    }
    return true;
}

static HoloStatus compile(const char *path, bool symbolic, HoloModel **out)
{
    HoloCompiler *compiler;
    HoloStatus    status = holo_compiler_create(&compiler);
    if (status) return status;
    holo_compiler_set_verify(compiler, false);
    holo_compiler_set_threads(compiler, 1);
    holo_compiler_set_symbolic(compiler, symbolic);
    status = holo_compile_model(compiler, path, out, NULL, NULL);
    holo_compiler_destroy(compiler);
    return status;
}

// Returns false where the case itself does not compile: other tests say so.
static bool case_run(const Options *options, uint64_t seed)
{
    Case       c      = {0};
    HoloRandom random = {seed};
    holo_memory_set_limit(MEMORY);
    if (holo_source_open("model.onnx", &c.source, NULL)) return false;
    if (compile("model.onnx", options->symbolic, &c.model) && compile("model.onnx", false, &c.model)) return false;
    c.count = holo_model_input_count(c.model);
    if (c.count > INPUTS_MAX || !inputs_read(&c)) return false;
    if (session_make(&c, &c.session)) return false;
    for (int i = 0; i < options->rounds; i++) round_run(&c, &random);
    holo_session_destroy(c.session);
    holo_model_close(c.model);
    holo_source_close(c.source);
    for (int i = 0; i < INPUTS_MAX; i++)
        if (c.kept[i]) holo_tensors_destroy(c.kept[i]);
    return true;
}

typedef struct Total {
    int cases, left_out, runs, good, wrong;
} Total;

static void case_judge(const char *name, int status, const struct rusage *used, Total *total)
{
    total->cases++;
    total->runs += report->runs;
    total->good += report->good;
    bool left_out = WIFEXITED(status) && WEXITSTATUS(status) == 2;
    total->left_out += left_out;
    if (!left_out && status) {
        snprintf(report->wrong, sizeof report->wrong, "%s %d;%.400s", WIFSIGNALED(status) ? "signal" : "exit",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), report->what);
    } else if ((uint64_t)used->ru_maxrss * 1024 > MEMORY_LATE) {
        wrong("it needs more memory than it may");
    }
    if (!*report->wrong) return;
    total->wrong++;
    printf("%s: %s\n", name, report->wrong);
    fflush(stdout);
}

static void case_fork(const char *folder, const char *name, const Options *options, Total *total)
{
    uint64_t seed = options->seed;
    for (const char *p = name; *p; p++) seed = seed * 33 + (uint8_t)*p;
    *report   = (Report){0};
    pid_t pid = fork();
    if (!pid) {
        alarm(600);
        setvbuf(stdout, NULL, _IOLBF, 0);
        exit(!chdir(folder) && !chdir(name) && case_run(options, seed) ? 0 : 2);
    }
    int           status;
    struct rusage used;
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid) exit(3);
    case_judge(name, status, &used, total);
}

static void folder_run(const char *folder, const Options *options, Total *total)
{
    HoloFolder list;
    if (holo_folder_list(folder, &list, NULL)) return;
    for (int i = 0; i < list.count; i++)
        if (i % options->every == (int)(options->seed % (uint64_t)options->every) &&
            strstr(list.name[i], options->only))
            case_fork(folder, list.name[i], options, total);
    holo_folder_free(&list);
}

int main(int count, char **word)
{
    Options options = {.rounds = 20, .every = 1, .seed = 1, .only = "", .symbolic = true};
    Total   total   = {0};
    report          = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED) return 3;
    for (int i = 1; i < count; i++) {
        const char *next = i + 1 < count ? word[i + 1] : "";
        if (!strcmp(word[i], "--fixed"))
            options.symbolic = false;
        else if (!strcmp(word[i], "--show"))
            shown = true;
        else if (!strcmp(word[i], "--rounds"))
            options.rounds = atoi(next), i++;
        else if (!strcmp(word[i], "--every"))
            options.every = atoi(next) > 1 ? atoi(next) : 1, i++;
        else if (!strcmp(word[i], "--seed"))
            options.seed = strtoull(next, NULL, 10), i++;
        else if (!strcmp(word[i], "--only"))
            options.only = next, i++;
        else
            folder_run(word[i], &options, &total);
    }
    printf("%d cases with hostile values: %d runs, %d of them to the end; %d cases left out, %d wrong\n", total.cases,
           total.runs, total.good, total.left_out, total.wrong);
    return total.wrong != 0;
}
