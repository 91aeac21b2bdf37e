// testcase.c - one case of ONNX's test suites: model.onnx, and test_data_set_* with input_N.pb and output_N.pb.

#include "testcase.h"
#include "loading.h"

#include "base/system.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Subject { // what is tested: the compiled model, or the reference
    const Cli   *cli;
    const char  *path; // of the model
    HoloSource  *source;
    HoloModel   *model; // NULL: the reference, or not compiled yet
    HoloSession *session;
    HoloPool    *pool;
} Subject;

static void subject_close_model(Subject *s)
{
    if (s->session) holo_session_destroy(s->session);
    if (s->pool) holo_pool_destroy(s->pool);
    if (s->model) holo_model_close(s->model);
    s->session = NULL;
    s->pool    = NULL;
    s->model   = NULL;
}

// ---- inputs

typedef struct DataSet {
    Subject      *subject;
    const char   *folder;
    int           in_count;
    HoloTensors **in;        // by input of the model; NULL: not given
    HoloTensors  *reference; // outputs of the reference
} DataSet;

static bool fail(CaseResult *out, const char *where, const char *reason)
{
    out->verdict = CASE_FAILED;
    snprintf(out->reason, sizeof out->reason, "%s%s%.3500s", where, *where ? ": " : "", reason);
    return false;
}

static bool fail_error(CaseResult *out, const char *where, const HoloError *error, HoloStatus status)
{
    fail(out, where, error->text[0] ? error->text : holo_status_text(status));
    if (status == HOLO_REFUSED) out->verdict = CASE_SKIPPED; // a choice, with its reason, and no mistake
    return false;
}

static const HoloPort *input_port(const DataSet *set, int i)
{
    return holo_source_input(set->subject->source, i);
}

static int input_find(const DataSet *set, const char *name)
{
    for (int i = 0; *name && i < set->in_count; i++)
        if (!strcmp(input_port(set, i)->name, name)) return i;
    return -1;
}

// Which input file number `number` of `files` is for, by order: of the inputs that must be given, where that
// is how many files there are, else of all.
static int input_by_order(const DataSet *set, int number, int files)
{
    int required = 0, seen = 0;
    for (int i = 0; i < set->in_count; i++) required += !input_port(set, i)->optional;
    if (files != required) return number;
    for (int i = 0; i < set->in_count; i++)
        if (!input_port(set, i)->optional && seen++ == number) return i;
    return -1;
}

static bool read_input(DataSet *set, int number, int files, CaseResult *out)
{
    char *path  = cli_format("%s/input_%d.pb", set->folder, number);
    int   index = input_by_order(set, number, files);
    if (index < 0 || index >= set->in_count)
        return fail(out, "", cli_format("input_%d.pb: the model has %d inputs", number, set->in_count));
    HoloError    error = {0};
    HoloTensors *tensors;
    HoloStatus   status = holo_tensors_read(path, &input_port(set, index)->type, &tensors, &error);
    if (status) return fail_error(out, "", &error, status);
    const char *name = "";
    holo_tensors_get(tensors, 0, &name);
    int by_name = input_find(set, name);
    if (by_name >= 0) index = by_name;
    if (set->in[index]) holo_tensors_destroy(set->in[index]);
    set->in[index] = tensors;
    return true;
}

static bool read_inputs(DataSet *set, CaseResult *out)
{
    int files = 0;
    while (!access(cli_format("%s/input_%d.pb", set->folder, files), R_OK)) files++;
    for (int i = 0; i < files; i++)
        if (!read_input(set, i, files, out)) return false;
    return true;
}

static const HoloTensor *input_tensor(const DataSet *set, int i)
{
    return set->in[i] ? holo_tensors_get(set->in[i], 0, NULL) : NULL;
}

// ---- compiling

// Every input that can be a constant is one.
static HoloStatus constants_set(const DataSet *set, HoloCompiler *compiler, HoloError *error)
{
    HoloStatus status = HOLO_OK;
    for (int i = 0; !status && i < set->in_count; i++) {
        const HoloTensor *tensor = input_tensor(set, i);
        const HoloPort   *port   = input_port(set, i);
        if (tensor && tensor->kind == HOLO_TENSOR && port->type.kind == HOLO_TENSOR)
            status = holo_compiler_set_constant(compiler, port->name, tensor, error);
    }
    return status;
}

static HoloStatus compile(const DataSet *set, HoloError *error)
{
    Subject      *s = set->subject;
    HoloCompiler *compiler;
    HoloStatus    status = holo_compiler_create(&compiler);
    if (status) return holo_fail(error, status, "out of memory for a compiler");
    holo_compiler_set_numeric(compiler, cli_numeric());
    holo_compiler_set_verify(compiler, false); // the case itself is the proof
    holo_compiler_set_threads(compiler, 1);
    if (cli_option(s->cli, "target")) status = holo_compiler_set_targets(compiler, cli_option(s->cli, "target"), error);
    holo_compiler_set_symbolic(compiler, cli_option(s->cli, "symbolic"));
    if (!status && cli_option(s->cli, "as-constants")) status = constants_set(set, compiler, error);
    if (!status) status = holo_compile_model(compiler, s->path, &s->model, NULL, error);
    holo_compiler_destroy(compiler);
    return status;
}

// One model serves all data sets, unless their inputs are part of it.
static HoloStatus prepare(const DataSet *set, HoloError *error)
{
    Subject *s = set->subject;
    if (cli_option(s->cli, "reference") || (s->model && !cli_option(s->cli, "as-constants"))) return HOLO_OK;
    subject_close_model(s);
    HoloStatus status = compile(set, error);
    // Cases run beside each other: one thread each, unless a flag says otherwise.
    bool chosen = cli_option(s->cli, "threads");
    if (!status) status = holo_pool_create_in(NULL, chosen ? (int)cli_number("threads") : 1, NULL, 0, &s->pool, error);
    if (!status) status = holo_session_create(s->model, s->pool, &s->session, error);
    return status;
}

// ---- running

static HoloStatus run_session(DataSet *set, HoloError *error)
{
    const Subject *s      = set->subject;
    HoloStatus     status = HOLO_OK;
    for (int i = 0; !status && i < set->in_count; i++) {
        const HoloTensor *tensor = input_tensor(set, i);
        int               index  = holo_model_input_find(s->model, input_port(set, i)->name); // -1: a constant now
        if (tensor && index >= 0) status = holo_session_set_input(s->session, index, tensor, error);
    }
    return status ? status : holo_session_run(s->session, error);
}

static HoloStatus run_reference(DataSet *set, HoloError *error)
{
    const HoloTensor **inputs = cli_take((size_t)set->in_count + 1, sizeof *inputs);
    for (int i = 0; i < set->in_count; i++) inputs[i] = input_tensor(set, i);
    return holo_reference_run(set->subject->source, inputs, set->in_count, &set->reference, error);
}

static HoloStatus output(const DataSet *set, int index, HoloTensor *out, HoloError *error)
{
    if (set->subject->model) return holo_session_output(set->subject->session, index, out, error);
    *out = *holo_tensors_get(set->reference, index, NULL);
    return HOLO_OK;
}

// ---- outputs

// Other values than expected are right where the operator says that they are random: if inside their bounds.
static bool excused(Subject *s, int index, const HoloTensor *got, CliText *reason)
{
    double low, high;
    return holo_source_is_random(s->source, index, &low, &high) && compare_bounds(got, low, high, reason);
}

static bool check_output(DataSet *set, int index, const char *path, CaseResult *out)
{
    Subject        *s    = set->subject;
    const HoloPort *port = holo_source_output(s->source, index);
    if (!port) return fail(out, "", cli_format("output_%d.pb: the model has no such output", index));
    char        *where = cli_format("output '%s'", port->name);
    HoloError    error = {0};
    HoloTensors *expected;
    HoloTensor   got;
    HoloStatus   status = holo_tensors_read(path, &port->type, &expected, &error);
    if (status) return fail_error(out, where, &error, status);
    status     = output(set, index, &got, &error);
    bool right = true;
    if (status) {
        right = fail_error(out, where, &error, status);
    } else {
        CliText       reason;
        CompareResult result =
            compare_values(&got, holo_tensors_get(expected, 0, NULL), cli_number("rtol"), cli_number("atol"), &reason);
        if (result == COMPARE_OTHER_VALUES && excused(s, index, &got, &reason)) result = COMPARE_SAME;
        if (result != COMPARE_SAME) right = fail(out, where, reason.data);
    }
    holo_tensors_destroy(expected);
    return right;
}

static bool run_set(DataSet *set, CaseResult *out)
{
    if (!read_inputs(set, out)) return false;
    HoloError  error  = {0};
    HoloStatus status = prepare(set, &error);
    if (!status) status = set->subject->model ? run_session(set, &error) : run_reference(set, &error);
    if (status) return fail_error(out, "", &error, status);
    for (int i = 0;; i++) {
        char *path = cli_format("%s/output_%d.pb", set->folder, i);
        if (access(path, R_OK)) return true;
        if (!check_output(set, i, path, out)) return false;
    }
}

static bool run_folder(Subject *s, const char *folder, CaseResult *out)
{
    DataSet set = {.subject = s, .folder = folder, .in_count = holo_source_input_count(s->source)};
    set.in      = cli_take((size_t)set.in_count + 1, sizeof *set.in);
    bool right  = run_set(&set, out);
    for (int i = 0; i < set.in_count; i++)
        if (set.in[i]) holo_tensors_destroy(set.in[i]);
    if (set.reference) holo_tensors_destroy(set.reference);
    out->data_sets++;
    return right;
}

// The number of a folder "test_data_set_10"; -1: it is none.
static long set_number(const char *name)
{
    static const char start[] = "test_data_set_";
    return strncmp(name, start, sizeof start - 1) ? -1 : strtol(name + sizeof start - 1, NULL, 10);
}

static int by_number(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    long        p = set_number(x), q = set_number(y);
    return p != q ? (p > q) - (p < q) : strcmp(x, y);
}

void case_run(const Cli *cli, const char *folder, CaseResult *out)
{
    HoloFolder sets;
    int        first = 0;
    if (!holo_folder_list(folder, &sets, NULL)) qsort(sets.name, (size_t)sets.count, sizeof *sets.name, by_number);
    while (first < sets.count && set_number(sets.name[first]) < 0) first++;
    if (first == sets.count) {
        holo_folder_free(&sets);
        out->verdict = CASE_SKIPPED;
        snprintf(out->reason, sizeof out->reason, "the case has no test_data_set_*");
        return;
    }
    Subject    subject = {.cli = cli, .path = cli_format("%s/model.onnx", folder)};
    HoloError  error   = {0};
    HoloStatus status  = holo_source_open(subject.path, &subject.source, &error);
    bool       right   = status ? fail_error(out, "", &error, status) : true;
    for (int i = first; right && i < sets.count; i++)
        right = run_folder(&subject, cli_format("%s/%s", folder, sets.name[i]), out);
    subject_close_model(&subject);
    holo_source_close(subject.source);
    holo_folder_free(&sets);
}
