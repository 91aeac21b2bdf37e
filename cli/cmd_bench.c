// cmd_bench.c - hologram bench: how fast a model opens and runs, and how much memory it takes.
//
// A model is compiled in a separate process, so that only the memory of running is measured.

#include "bench_language.h"
#include "json.h"
#include "loading.h"
#include "profiling.h"

#include "base/system.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Measured {
    double   open, first, min, median, p99; // seconds
    double   device;                        // to make a session where no device was open; 0: not measured
    double   rss, arena;                    // bytes
    double   flops;                         // a run; 0: not counted
    int      threads;
    int64_t  runs;
    bool     has_memo, is_placed; // is_placed: inputs and outputs are in a device's memory
    char     on[48];              // what runs it: "cpu", "cuda:0"
    uint64_t hits, misses;        // of the memo

    const char *advice; // about sizes that nobody gave; NULL: all were given
    CliProfile  profile;
} Measured;

// ---- samples

typedef struct Samples {
    double *seconds;
    size_t  count, room;
} Samples;

static void add(Samples *samples, double seconds)
{
    if (samples->count == samples->room) {
        samples->room    = samples->room ? samples->room * 2 : 1024;
        samples->seconds = cli_grow(samples->seconds, samples->count, samples->room, sizeof *samples->seconds);
    }
    samples->seconds[samples->count++] = seconds;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(Samples *samples, double q)
{
    qsort(samples->seconds, samples->count, sizeof *samples->seconds, by_value);
    return samples->seconds[(size_t)(q * (double)(samples->count - 1) + 0.5)];
}

// ---- measuring

static int measure_open(const char *path, uint32_t flags, Measured *out)
{
    Samples samples = {0};
    double  start   = cli_now();
    while (samples.count < 11 || (samples.count < 1000 && cli_now() - start < 0.5)) {
        HoloModel *model;
        HoloError  error  = {0};
        double     before = cli_now();
        HoloStatus status = holo_model_open_with(path, flags, &model, &error);
        if (status) return cli_fail_error(path, &error, status);
        add(&samples, cli_now() - before);
        holo_model_close(model);
    }
    out->open = quantile(&samples, 0.5);
    return CLI_OK;
}

// From nothing to the first answer: open, make a session, run once.
static int measure_first(const Cli *cli, const char *path, uint32_t flags, HoloPool *pool, const CliInput *inputs,
                         Measured *out)
{
    HoloError    error   = {0};
    HoloModel   *model   = NULL;
    HoloSession *session = NULL;
    int          result  = CLI_OK;
    double       before  = cli_now();
    HoloStatus   status  = holo_model_open_with(path, flags, &model, &error);
    if (!status) status = cli_device_set(cli, model, &error);
    if (!status) status = holo_session_create(model, pool, &session, &error);
    if (!status) result = cli_inputs_set(session, model, inputs);
    if (!status && !result) status = holo_session_run(session, &error);
    out->first = cli_now() - before;
    if (status) result = cli_fail_run(NULL, &error, status, out->advice);
    holo_session_destroy(session);
    holo_model_close(model);
    return result;
}

static int measure_runs(HoloSession *session, const char *name, Measured *out)
{
    Samples samples = {0};
    double  limit = cli_number("seconds"), start = cli_now(), spent = 0;
    while (samples.count < 3 || spent < limit) {
        HoloError  error  = {0};
        double     before = cli_now();
        HoloStatus status = holo_session_run(session, &error);
        double     after  = cli_now();
        if (status) return cli_fail_error(NULL, &error, status);
        add(&samples, after - before);
        spent = after - start;
        cli_progress(NULL, name, spent / limit);
    }
    cli_progress_end();
    out->min    = quantile(&samples, 0);
    out->median = quantile(&samples, 0.5);
    out->p99    = quantile(&samples, 0.99);
    out->runs   = (int64_t)samples.count;
    return CLI_OK;
}

// ---- on a device

static bool is_placed(const Cli *cli)
{
    const char *device = cli_option(cli, "device");
    return device && strcmp(device, "cpu");
}

// The first session of a process starts the driver and the device, which takes a while, whatever the model.
static int measure_device(const HoloModel *model, HoloPool *pool, HoloSession **out_session, Measured *out)
{
    HoloError  error  = {0};
    double     before = cli_now();
    HoloStatus status = holo_session_create(model, pool, out_session, &error);
    out->device       = cli_now() - before;
    return status ? cli_fail_error(NULL, &error, status) : CLI_OK;
}

typedef struct Placed { // memory of a device for an input or an output
    void  *memory;
    size_t size;
} Placed;

static HoloStatus input_place(HoloSession *session, int i, const CliInput *input, Placed *out, HoloError *error)
{
    if (!input->tensor) return HOLO_OK;
    HoloTensor t = *input->tensor;
    if (t.kind != HOLO_TENSOR || t.dtype == HOLO_STRING || !t.data) return HOLO_OK;
    out->size         = holo_tensor_bytes(&t);
    HoloStatus status = holo_session_device_take(session, out->size, &out->memory, error);
    if (!status) status = holo_session_device_copy(session, out->memory, t.data, out->size, true, error);
    t.data = out->memory;
    return status ? status : holo_session_set_device_input(session, i, &t, error);
}

static HoloStatus output_place(HoloSession *session, int i, Placed *out, HoloError *error)
{
    HoloTensor t;
    HoloStatus status = holo_session_output(session, i, &t, error);
    if (status || t.kind != HOLO_TENSOR || t.dtype == HOLO_STRING) return status;
    out->size = holo_tensor_bytes(&t);
    status    = holo_session_device_take(session, out->size, &out->memory, error);
    return status ? status : holo_session_set_device_output(session, i, out->memory, out->size, error);
}

// With --device, runs are measured with inputs and outputs in the memory of the device. The sizes of outputs follow from a
// run.
static int measure_placed(HoloSession *session, const HoloModel *model, const char *path, const CliInput *inputs,
                          Measured *out)
{
    int        ins = holo_model_input_count(model), outs = holo_model_output_count(model);
    HoloError  error  = {0};
    Placed    *placed = cli_grow(NULL, 0, (size_t)(ins + outs) + 1, sizeof *placed);
    HoloStatus status = holo_session_run(session, &error);
    memset(placed, 0, ((size_t)(ins + outs) + 1) * sizeof *placed);
    for (int i = 0; i < ins && !status; i++) status = input_place(session, i, &inputs[i], &placed[i], &error);
    for (int i = 0; i < outs && !status; i++) status = output_place(session, i, &placed[ins + i], &error);
    int result = status ? cli_fail_error(NULL, &error, status) : measure_runs(session, path, out);
    for (int i = 0; i < outs; i++)
        if (holo_session_set_output(session, i, NULL, 0, &error)) result = cli_fail_error(NULL, &error, error.status);
    for (int i = 0; i < ins + outs; i++) holo_session_device_give(session, placed[i].memory, placed[i].size);
    out->is_placed = true;
    return result;
}

static int measure_session(const Cli *cli, const char *path, const HoloModel *model, HoloPool *pool,
                           const CliInput *inputs, Measured *out)
{
    HoloError    error = {0};
    HoloSession *session;
    HoloStatus   status = holo_session_create(model, pool, &session, &error);
    if (status) return cli_fail_error(NULL, &error, status);
    int result = cli_memo(cli, session);
    if (!result) result = cli_inputs_set(session, model, inputs);
    if (!result)
        result = is_placed(cli) ? measure_placed(session, model, path, inputs, out) : measure_runs(session, path, out);
    if (!result && is_placed(cli)) result = cli_inputs_set(session, model, inputs);
    const char *trace = cli_option(cli, "profile");
    if (!result && trace) result = cli_profile(session, path, trace, cli_number("seconds"), &out->profile);
    holo_session_memo_counts(session, &out->hits, &out->misses);
    if (!result) result = cli_memo_save(cli, session);
    out->has_memo     = out->hits || out->misses;
    const char *flops = holo_model_meta_find(model, "flops");
    out->rss          = (double)holo_memory_peak();
    out->arena        = (double)holo_session_memory(session);
    out->flops        = flops ? strtod(flops, NULL) : 0;
    out->threads      = holo_pool_threads(pool);
    snprintf(out->on, sizeof out->on, "%s", holo_session_device(session));
    holo_session_destroy(session);
    return result;
}

static int measure(const Cli *cli, const char *path, Measured *out)
{
    HoloError  error = {0};
    HoloModel *model;
    HoloPool  *pool;
    uint32_t   flags  = cli_open_flags(cli);
    HoloStatus status = holo_model_open_with(path, flags, &model, &error);
    if (!status) status = cli_device_set(cli, model, &error);
    if (status) return cli_fail_error(path, &error, status);
    CliInput *inputs;
    int       result = cli_inputs_open(cli, model, true, &inputs);
    if (!result) {
        CliPorts ports = cli_model_ports(model);
        out->advice    = cli_inputs_advice(&ports, inputs);

        HoloSession *warm = NULL; // keeps the driver and the device open
        status            = cli_pool(&pool, &error);
        result            = status ? cli_fail_error(NULL, &error, status) : measure_open(path, flags, out);
        if (!result && is_placed(cli)) result = measure_device(model, pool, &warm, out);
        if (!result) result = measure_first(cli, path, flags, pool, inputs, out);
        holo_session_destroy(warm);
        if (!result) result = measure_session(cli, path, model, pool, inputs, out);
        if (!status) holo_pool_destroy(pool);
    }
    cli_inputs_close(inputs, model);
    holo_model_close(model);
    return result;
}

// ---- models

static int compile_here(const Cli *cli, const char *model, const char *archive)
{
    HoloCompiler *compiler;
    int           result = cli_compiler(cli, &compiler);
    if (result) return result;
    holo_compiler_set_verify(compiler, false);
    HoloError  error  = {0};
    HoloStatus status = holo_compile_file(compiler, model, archive, NULL, &error);
    cli_progress_end();
    holo_compiler_destroy(compiler);
    return status ? cli_fail_error(model, &error, status) : CLI_OK;
}

typedef struct Apart { // a compile in a separate process
    const Cli  *cli;
    const char *model, *archive;
    int         result;
} Apart;

static void compile_work(void *context, int index, void *result)
{
    (void)index;
    const Apart *apart = context;
    *(int *)result     = compile_here(apart->cli, apart->model, apart->archive);
    fflush(NULL);
}

static void compile_done(void *context, int index, void *result, const HoloEnded *end)
{
    (void)index;
    Apart *apart  = context;
    apart->result = end->how == HOLO_END_RETURNED ? *(int *)result
                    : end->how == HOLO_END_EXITED
                        ? end->code
                        : cli_fail(NULL, "the compiler crashed: %s", holo_crash_name(end->code));
}

// So the memory that compiling takes does not count as the model's.
static int compile_apart(const Cli *cli, const char *model, const char *archive)
{
    Apart    apart = {.cli = cli, .model = model, .archive = archive};
    HoloWork work  = {1, 1, HUGE_VAL, sizeof(int), compile_work, compile_done, &apart};
    if (!holo_work_run(&work)) return cli_fail(NULL, "cannot start a process for the compiler: %s", strerror(errno));
    return apart.result;
}

static int measure_model(const Cli *cli, const char *path, Measured *out)
{
    char archive[CLI_PATH];
    int  file = holo_temporary_file(archive, sizeof archive);
    if (file < 0) return cli_temporary_failed(archive);
    close(file);
    int result = compile_apart(cli, path, archive);
    if (!result) result = measure(cli, archive, out);
    holo_file_remove(archive);
    return result;
}

// ---- showing

static void print_json(const char *path, const Measured *m)
{
    Json json = {.out = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "file", path);
    json_number(&json, "open_us", m->open * 1e6);
    json_number(&json, "first_us", m->first * 1e6);
    if (m->device > 0) json_number(&json, "device_us", m->device * 1e6);
    json_number(&json, "min_us", m->min * 1e6);
    json_number(&json, "median_us", m->median * 1e6);
    json_number(&json, "p99_us", m->p99 * 1e6);
    json_number(&json, "rss_mb", m->rss / 1e6);
    json_number(&json, "arena_mb", m->arena / 1e6);
    if (m->flops > 0 && !m->hits) json_number(&json, "gflops", m->flops / m->min / 1e9);
    json_int(&json, "threads", m->threads);
    json_int(&json, "runs", m->runs);
    json_text(&json, "device", m->on);
    if (m->is_placed) json_bool(&json, "on_device", true);
    if (m->has_memo) {
        json_int(&json, "memo_hits", (int64_t)m->hits);
        json_int(&json, "memo_misses", (int64_t)m->misses);
    }
    json_text(&json, "cpu", holo_cpu_level());
    if (m->profile.runs) cli_profile_json(&json, &m->profile);
    json_close(&json, '}');
}

static void print_table(const char *path, const Measured *m)
{
    CliText a, b, c;
    bool    is_cpu = !strcmp(m->on, "cpu");
    printf("%s%s%s  %d thread%s, %s%s%s\n", cli_color(stdout, "bold"), path, cli_color(stdout, "reset"), m->threads,
           m->threads == 1 ? "" : "s", holo_cpu_level(), is_cpu ? "" : ", on ", is_cpu ? "" : m->on);
    cli_row(stdout, "open", "%s", cli_seconds(&a, m->open));
    cli_row(stdout, "first answer", "%s after the start of opening", cli_seconds(&a, m->first));
    if (m->device > 0)
        cli_row(stdout, "", "before that, the first session of the process took %s: it starts the driver",
                cli_seconds(&a, m->device));
    cli_row(stdout, "a run", "min %s, median %s, p99 %s  (%lld runs)", cli_seconds(&a, m->min),
            cli_seconds(&b, m->median), cli_seconds(&c, m->p99), (long long)m->runs);
    if (m->is_placed) cli_row(stdout, "", "inputs and outputs are in the memory of the device");
    if (m->has_memo)
        cli_row(stdout, "memo", "answered %llu runs; %llu were computed", (unsigned long long)m->hits,
                (unsigned long long)m->misses);
    if (m->flops > 0 && !m->hits) cli_row(stdout, "arithmetic", "%.1f GFLOP/s at best", m->flops / m->min / 1e9);
    cli_row(stdout, "memory", "%s resident at peak, including an arena of %s", cli_bytes(&a, m->rss),
            cli_bytes(&b, m->arena));
    if (m->profile.runs) cli_profile_print(stdout, &m->profile);
    cli_advice(m->advice);
}

static int bench(Cli *cli)
{
    Measured     measured = {0};
    HoloFileKind kind;
    if (cli_option(cli, "prompt") || cli_option(cli, "generate")) return cli_bench_language(cli);
    int         result = cli_file_kind(cli, 0, &kind);
    const char *path   = cli->args[0];
    if (result) return result;
    result = kind == HOLO_FILE_ARCHIVE ? measure(cli, path, &measured) : measure_model(cli, path, &measured);
    if (result) return result;
    if (cli_option(cli, "json"))
        print_json(path, &measured);
    else
        print_table(path, &measured);
    return CLI_OK;
}

static const CliOption options[] = {
    CLI_OPTION_INPUT,
    CLI_OPTIONS_IMAGE,
    CLI_OPTION_SHAPE,
    CLI_OPTION_THREADS,
    CLI_OPTION_DEVICE,
    CLI_OPTION_PREFAULT,
    CLI_OPTION_HUGE,
    CLI_OPTION_MEMO,
    CLI_OPTION_SAVE_MEMO,
    {"seconds", 's', "S", "how long to measure (default 3)"},
    {"profile", 0, "FILE.json",
     "then time each step, for as long again; print tables by\noperator and by step, and write a trace for\nchrome://tracing with one track per thread"},
    {"prompt", 0, "N", "for language models: measure reading a prompt of N tokens"},
    {"generate", 0, "N", "for language models: measure generating N tokens"},
    {"sequences", 0, "N", "generate N texts at once", .with = "generate"},
    CLI_OPTION_MODEL_NUMERIC,
    {"json", 0, NULL, "print JSON: open_us, first_us, min_us, median_us, p99_us,\nrss_mb, arena_mb, threads ..."},
    {0},
};

const CliCommand cli_bench = {
    .name      = "bench",
    .purpose   = "measure how fast a model opens and runs",
    .arguments = "FILE",
    .arg_min   = 1,
    .arg_max   = 1,
    .details   = "FILE is an archive, or a model: another process compiles it first. Inputs that you do not\n"
                 "give are made up from a seed: floats from a normal distribution, integers 1. All times are\n"
                 "wall-clock times. The time to open is the median of many. With --device cuda:N, inputs and\n"
                 "outputs of the measured runs are in the memory of that GPU.",
    .examples  = "  hologram bench resnet50.holo --threads 1\n"
                 "  hologram bench bert.onnx --input-shape input_ids:1,128 --seconds 10 --json\n"
                 "  hologram bench resnet50.holo --profile trace.json\n"
                 "  hologram bench llama.holo --prompt 512 --generate 128\n",
    .options   = options,
    .run       = bench,
};
