// cmd_run.c - hologram run: runs a model on inputs and shows the answers.

#include "json.h"
#include "language.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 8 }; // elements of an output that are printed

static void print_strings(const HoloTensor *tensor, int64_t count)
{
    const HoloString *strings = tensor->data;
    for (int64_t i = 0; i < count; i++) printf("%s\"%.*s\"", i ? ", " : "", (int)strings[i].size, strings[i].data);
}

static void print_numbers(const HoloTensor *tensor, int64_t count)
{
    double x[SHOWN];
    holo_tensor_numbers(tensor, 0, count, x);
    for (int64_t i = 0; i < count; i++) printf("%s%.6g", i ? ", " : "", x[i]);
}

// The smallest, largest and mean of numbers that are too many to print.
static void print_summary(const HoloTensor *tensor, int64_t count)
{
    double  low = INFINITY, high = -INFINITY, sum = 0;
    int64_t nans = 0;
    for (int64_t start = 0; start < count; start += SHOWN) {
        double  x[SHOWN];
        int64_t n = count - start < SHOWN ? count - start : SHOWN;
        holo_tensor_numbers(tensor, start, n, x);
        for (int64_t i = 0; i < n; i++) {
            nans += isnan(x[i]);
            low  = fmin(low, x[i]);
            high = fmax(high, x[i]);
            sum += x[i];
        }
    }
    printf("  %smin %.6g, max %.6g, mean %.6g%s", cli_color(stdout, "dim"), low, high, sum / (double)count,
           cli_color(stdout, "reset"));
    if (nans) printf("  %s%" PRId64 " NaN%s", cli_color(stdout, "yellow"), nans, cli_color(stdout, "reset"));
}

static void print_output(const char *name, const HoloTensor *tensor)
{
    CliText type;
    int64_t count = tensor->kind == HOLO_TENSOR ? holo_tensor_count(tensor) : 0;
    int64_t shown = count < SHOWN ? count : SHOWN;
    printf("%s%s%s %s", cli_color(stdout, "bold"), name, cli_color(stdout, "reset"), cli_type(&type, tensor, NULL));
    if (tensor->kind == HOLO_SEQUENCE) {
        printf(" of %" PRId64 "\n", tensor->dim[0]);
        const HoloTensor *items = tensor->data;
        for (int64_t i = 0; i < tensor->dim[0]; i++) print_output(cli_format("  %s[%" PRId64 "]", name, i), &items[i]);
        return;
    }
    if (tensor->kind != HOLO_TENSOR) {
        printf("%s\n", tensor->kind == HOLO_OPTIONAL && !tensor->dim[0] ? " (none)" : "");
        return;
    }
    printf(" = ");
    if (tensor->dtype == HOLO_STRING)
        print_strings(tensor, shown);
    else
        print_numbers(tensor, shown);
    if (count > shown) {
        printf(", ...");
        if (tensor->dtype != HOLO_STRING) print_summary(tensor, count);
    }
    putchar('\n');
}

// An output that is not a single tensor becomes several files: NAME.0.npy, NAME.1.npy ...
static int write_output(const char *folder, const char *name, const HoloTensor *tensor)
{
    char *file = cli_format("%s", name);
    for (char *c = file; *c; c++)
        if (*c == '/') *c = '_';
    if (tensor->kind != HOLO_TENSOR) {
        const HoloTensor *items  = tensor->data;
        int64_t           count  = tensor->kind == HOLO_MAP ? 2 : tensor->dim[0];
        int               result = CLI_OK;
        for (int64_t i = 0; !result && i < count; i++)
            result = write_output(folder, cli_format("%s.%" PRId64, file, i), &items[i]);
        return result;
    }
    HoloError  error  = {0};
    HoloStatus status = holo_tensor_write_npy(cli_format("%s/%s.npy", folder, file), tensor, &error);
    return status ? cli_fail_error(NULL, &error, status) : CLI_OK;
}

// What is printed as JSON: one document, begun with the first outputs and closed behind the last.
static void document_open(Json *json, const Cli *cli, const HoloSession *session)
{
    json_open(json, NULL, '{');
    json_text(json, "file", cli->args[0]);
    json_text(json, "device", holo_session_device(session));
    if (cli_option(cli, "times")) json_open(json, "runs", '[');
}

static void document_close(Json *json, const Cli *cli)
{
    if (cli_option(cli, "times")) json_close(json, ']');
    json_close(json, '}');
}

// `json` is NULL where the outputs are printed as text.
static int show_outputs(const Cli *cli, const HoloModel *model, const HoloSession *session, const char *folder,
                        Json *json)
{
    bool quiet = cli_option(cli, "quiet"), is_one_of_many = json && cli_option(cli, "times");
    if (is_one_of_many) json_open(json, NULL, '{');
    if (json) json_open(json, "outputs", '[');
    for (int i = 0; i < holo_model_output_count(model); i++) {
        const HoloPort *port = holo_model_output(model, i);
        HoloTensor      view;
        HoloError       error  = {0};
        HoloStatus      status = holo_session_output(session, i, &view, &error);
        if (status) return cli_fail_error(NULL, &error, status);
        if (json)
            json_value(json, port->name, &view, !quiet);
        else if (!quiet)
            print_output(port->name, &view);
        if (folder && write_output(folder, port->name, &view)) return CLI_FAILED;
    }
    if (json) json_close(json, ']');
    if (is_one_of_many) json_close(json, '}');
    return CLI_OK;
}

static int times_read(const Cli *cli, double *out)
{
    *out = 1;
    return cli_read_whole(cli, "times", 1, 1e9, out);
}

// Runs the model so many times. With --times, the outputs of each run go to a folder of its own.
static int run_times(const Cli *cli, const HoloModel *model, HoloSession *session, const char *advice)
{
    const char *folder = cli_option(cli, "output");
    Json        json = {.out = stdout}, *document = cli_option(cli, "json") ? &json : NULL;
    double      times;
    int         result = times_read(cli, &times);
    for (long i = 1; !result && i <= (long)times; i++) {
        HoloError   error  = {0};
        HoloStatus  status = holo_session_run(session, &error);
        const char *own    = folder && cli_option(cli, "times") ? cli_format("%s/%ld", folder, i) : folder;
        if (status) return cli_fail_run(NULL, &error, status, advice);
        result = cli_make_folder(own);
        if (!result && document && i == 1) document_open(document, cli, session);
        if (!result) result = show_outputs(cli, model, session, own, document);
    }
    if (!result && document) document_close(document, cli);
    return result;
}

static int run_session(const Cli *cli, const HoloModel *model, HoloSession *session, const CliInput *inputs)
{
    const char *profile = cli_option(cli, "profile");
    int         result  = cli_memo(cli, session);
    if (!result) result = cli_inputs_set(session, model, inputs);
    if (result) return result;
    HoloError error = {0};
    CliPorts  ports = cli_model_ports(model);
    holo_session_profile(session, profile);
    result = run_times(cli, model, session, cli_inputs_advice(&ports, inputs));
    if (result) return result;
    HoloStatus status = profile ? holo_session_profile_write(session, profile, &error) : HOLO_OK;
    return status ? cli_fail_error(NULL, &error, status) : cli_memo_save(cli, session);
}

static int run_model(const Cli *cli, const HoloModel *model)
{
    HoloError    error   = {0};
    HoloPool    *pool    = NULL;
    HoloSession *session = NULL;
    CliInput    *inputs;
    int          result = cli_inputs_open(cli, model, false, &inputs);
    if (!result) {
        HoloStatus status = cli_pool(&pool, &error);
        if (!status) status = holo_session_create(model, pool, &session, &error);
        if (!status && cli_option(cli, "verbose")) fprintf(stderr, "runs on %s\n", holo_session_device(session));
        result = status ? cli_fail_error(NULL, &error, status) : run_session(cli, model, session, inputs);
    }
    holo_session_destroy(session);
    holo_pool_destroy(pool);
    cli_inputs_close(inputs, model);
    return result;
}

static int run(Cli *cli)
{
    HoloModel       *model;
    const HoloModel *entry;
    double           times;
    int              result = times_read(cli, &times);
    if (!result) result = cli_make_folder(cli_option(cli, "output"));
    if (!result) result = cli_model_open(cli, 0, &model);
    if (result) return result;
    result = cli_entry_find(cli, model, &entry);
    if (!result && !holo_model_output_count(entry))
        result = cli_fail(cli_format("if it holds kernels: hologram kernel list %s", cli->args[0]), "%s has no outputs",
                          cli->args[0]);
    else if (!result)
        result = run_model(cli, entry);
    holo_model_close(model);
    return result;
}

static const CliOption options[] = {
    CLI_OPTION_INPUT,
    CLI_OPTION_ENTRY,
    CLI_OPTIONS_IMAGE,
    {"output", 'o', "DIR", "write each output to DIR/NAME.npy (/ in a name becomes\n_)"},
    CLI_OPTION_SHAPE,
    {"times", 0, "N", "run N times, for models that keep state from run to run;\noutputs of run K go to DIR/K"},
    CLI_OPTION_THREADS,
    CLI_OPTION_DEVICE,
    CLI_OPTION_ARCHIVE_PREFAULT,
    CLI_OPTION_ARCHIVE_HUGE,
    CLI_OPTION_MEMO,
    CLI_OPTION_SAVE_MEMO,
    CLI_OPTION_MODEL_NUMERIC,
    {"profile", 0, "FILE.json", "time each step and write a trace for\nchrome://tracing", .writes = true},
    {"verbose", 'v', NULL, "also say which device runs it"},
    {"quiet", 'q', NULL, "do not print the outputs; with --json, leave out\ntheir elements"},
    {"json", 0, NULL, "print the outputs as JSON, with all their elements"},
    {0},
};

const CliCommand cli_run = {
    .name      = "run",
    .purpose   = "run a .holo file or a model on inputs",
    .arguments = "FILE",
    .arg_min   = 1,
    .arg_max   = 1,
    .details   = "FILE is an archive, or a model that is compiled in memory first (without the comparison that\n"
                 "`hologram compile` makes). The inputs set the dynamic sizes of the model. For random inputs they\n"
                 "come from --input-shape or from another input, or are 1. Pictures are resized to fit the input,\n"
                 "and a line reports how. FILE may be - for the standard input.",
    .examples  = "  hologram run digits.holo --input image=seven.npy\n"
                 "  hologram run bert.holo -i input_ids=ids.npy -i attention_mask=mask.npy -o answers\n"
                 "  hologram run resnet50.holo -i photo.jpg --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225\n"
                 "  hologram run net.onnx --input random --profile trace.json\n"
                 "  hologram run net.holo -i x.npy --memo 64M --save-memo net.holo\n",
    .options   = options,
    .run       = run,
};
