// cmd_test.c - hologram test: runs ONNX's test folders, each case in a separate process.

#include "json.h"
#include "loading.h"
#include "testcase.h"

#include "base/system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 5 }; // of folders under a folder of cases

typedef struct Run {
    const Cli   *cli;
    const char **folders;
    int          count, room;
    CaseResult **results; // NULL: not yet
    int          printed, ended;
    int          verdicts[3];
    const char  *known; // the text of --known; NULL
} Run;

// ---- finding cases

static bool is_case(const char *folder)
{
    return holo_path_exists(cli_format("%s/model.onnx", folder));
}

static void add(Run *run, const char *folder)
{
    if (run->count == run->room) {
        run->room    = run->room ? run->room * 2 : 256;
        run->folders = cli_grow(run->folders, (size_t)run->count, (size_t)run->room, sizeof *run->folders);
    }
    run->folders[run->count++] = folder;
}

static void find(Run *run, const char *folder, int depth)
{
    HoloFolder entries = {0};
    if (!holo_path_is_folder(folder)) return;
    if (is_case(folder)) {
        add(run, folder);
        return;
    }
    if (!depth || holo_folder_list(folder, &entries, NULL)) return;
    for (int i = 0; i < entries.count; i++)
        if (entries.name[i][0] != '.') find(run, cli_format("%s/%s", folder, entries.name[i]), depth - 1);
    holo_folder_free(&entries);
}

static int find_all(Run *run)
{
    for (int i = 0; i < run->cli->arg_count; i++) {
        const char *folder = run->cli->args[i];
        size_t      size   = strlen(folder);
        int         before = run->count;
        while (size > 1 && folder[size - 1] == '/') size--;
        if (!holo_path_exists(folder)) return cli_fail(NULL, "%s: %s", folder, strerror(errno));
        find(run, cli_format("%.*s", (int)size, folder), DEPTH);
        if (run->count == before)
            return cli_fail("a case is a folder with model.onnx and test_data_set_*", "%s contains no test case",
                            folder);
    }
    return CLI_OK;
}

// ---- telling

static const char *name_of(const char *folder)
{
    const char *name = holo_path_name(folder);
    return *name ? name : folder;
}

// JSON needs the standard output for itself.
static FILE *words_to(const Cli *cli)
{
    const char *json = cli_option(cli, "json");
    return json && !strcmp(json, "-") ? stderr : stdout;
}

static void print_result(const Run *run, int index)
{
    static const char *const labels[] = {"pass", "FAIL", "skip"}, *const colors[] = {"green", "red", "yellow"};
    const CaseResult *result = run->results[index];
    FILE             *out    = words_to(run->cli);
    if (result->verdict == CASE_PASSED && !cli_option(run->cli, "verbose")) return;
    cli_progress_end();
    fprintf(out, "%s%s%s %s%s", cli_color(out, colors[result->verdict]), labels[result->verdict],
            cli_color(out, "reset"), name_of(run->folders[index]), *result->reason ? ": " : "");
    for (const char *line = result->reason; *line;) { // later lines of a reason are below the first
        size_t size = strcspn(line, "\n");
        fprintf(out, "%s%.*s%s", line == result->reason ? "" : "     ", (int)size, line, line[size] ? "\n" : "");
        line += size + (line[size] != 0);
    }
    if (run->results[index]->verdict == CASE_PASSED) {
        CliText time;
        fprintf(out, "  %s%s%s", cli_color(out, "dim"), cli_seconds(&time, result->seconds), cli_color(out, "reset"));
    }
    fputc('\n', out);
}

// A known failure is reported as skipped, with its known reason. A known failure that passes is a failure, so that the
// list stays true.
static void judge_known(const Run *run, int index, CaseResult *result)
{
    const char *name = name_of(run->folders[index]), *why = NULL;
    for (const char *line = run->known; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        size_t size = strlen(name);
        if (!strncmp(line, name, size) && line[size] == ':') why = line + size + 1;
    }
    if (!why || result->verdict == CASE_SKIPPED) return;
    int length = (int)strcspn(why, "\n");
    if (result->verdict == CASE_FAILED) {
        result->verdict = CASE_SKIPPED;
        snprintf(result->reason, sizeof result->reason, "known:%.*s", length, why);
    } else {
        result->verdict = CASE_FAILED;
        snprintf(result->reason, sizeof result->reason, "passes, but the list of known failures has it:%.*s", length,
                 why);
    }
}

// Results arrive as cases end, and are reported in the order of the cases.
static void done(void *context, int index, const CaseResult *result)
{
    Run *run             = context;
    run->results[index]  = cli_take(1, sizeof *result);
    *run->results[index] = *result;
    judge_known(run, index, run->results[index]);
    run->verdicts[run->results[index]->verdict]++;
    run->ended++;
    while (run->printed < run->count && run->results[run->printed]) print_result(run, run->printed++);
    cli_progress(NULL, name_of(run->folders[index]), (double)run->ended / run->count);
}

static void print_json(const Run *run, FILE *file)
{
    static const char *const words[] = {"passed", "failed", "skipped"};
    Json                     json    = {.out = file};
    json_open(&json, NULL, '{');
    for (int i = 0; i < 3; i++) json_int(&json, words[i], run->verdicts[i]);
    json_open(&json, "cases", '[');
    for (int i = 0; i < run->count; i++) {
        const CaseResult *result = run->results[i];
        json_open(&json, NULL, '{');
        json_text(&json, "name", name_of(run->folders[i]));
        json_text(&json, "folder", run->folders[i]);
        json_text(&json, "result", words[result->verdict]);
        json_text(&json, "reason", *result->reason ? result->reason : NULL);
        json_int(&json, "data_sets", result->data_sets);
        json_number(&json, "seconds", result->seconds);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

static int write_json(const Run *run, const char *path)
{
    CliFile file;
    if (!strcmp(path, "-")) return print_json(run, stdout), CLI_OK;
    if (cli_file_begin(path, &file)) return CLI_FAILED;
    print_json(run, file.stream);
    return cli_file_end(&file);
}

static void work(void *context, int index, CaseResult *out)
{
    Run *run = context;
    case_run(run->cli, run->folders[index], out);
}

static int read_known(Run *run, const char *path)
{
    const char *why;
    const char *text = cli_read_text(path, &why);
    if (!text) return cli_fail(NULL, "%s: %s", path, why);
    run->known = text;
    int number = 1;
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n', number++)
        if (*line != '\n' && *line != '#' && !memchr(line, ':', strcspn(line, "\n")))
            return cli_fail(NULL, "%s:%d: expected `case: reason`", path, number);
    return CLI_OK;
}

static int test(Cli *cli)
{
    Run run    = {.cli = cli};
    int result = find_all(&run);
    if (!result && cli_option(cli, "known")) result = read_known(&run, cli_option(cli, "known"));
    if (result) return result;
    run.results  = cli_take((size_t)run.count, sizeof *run.results);
    int  at_once = (int)cli_number("jobs");
    Jobs jobs    = {run.count, at_once ? at_once : holo_cpu_count(), cli_number("timeout"), work, done, &run};
    if (jobs.at_once > run.count) jobs.at_once = run.count;
    result = jobs_run(&jobs);
    cli_progress_end();
    if (!result && cli_option(cli, "json")) result = write_json(&run, cli_option(cli, "json"));
    fprintf(words_to(cli), "%d passed, %d failed, %d skipped\n", run.verdicts[CASE_PASSED], run.verdicts[CASE_FAILED],
            run.verdicts[CASE_SKIPPED]);
    return result || run.verdicts[CASE_FAILED] ? CLI_FAILED : CLI_OK;
}

static const CliOption options[] = {
    {"rtol", 0, "R", "relative tolerance (default 1e-3)"},
    {"atol", 0, "A", "absolute tolerance (default 1e-7)"},
    {"jobs", 'j', "N", "how many cases run at once (default 0: one per core)"},
    {"timeout", 0, "S", "a case fails if it takes more than S seconds (default 60)"},
    {"threads", 't', "N", "threads per case (default 1)"},
    CLI_OPTION_NUMERIC,
    CLI_OPTION_TARGET,
    {"as-constants", 0, NULL, "turn the inputs of each case into constants, so that the compiler computes the result"},
    {"symbolic", 0, NULL, "make all input sizes dynamic, even those that the model fixes"},
    {"reference", 0, NULL, "test the reference implementation, without compiling",
     .without = "as-constants symbolic numeric threads target"},
    {"known", 0, "FILE", "skip the known failures that FILE lists, one `case: reason` per line"},
    {"json", 0, "FILE", "list every case in FILE; - is the standard output", .writes = true},
    {"verbose", 'v', NULL, "also print cases that pass"},
    {0},
};

const CliCommand cli_test = {
    .name      = "test",
    .purpose   = "run ONNX test folders and check the outputs",
    .arguments = "DIR...",
    .arg_min   = 1,
    .arg_max   = -1,
    .details   = "DIR is a case (a folder with model.onnx and test_data_set_*), or a folder of cases. Types and\n"
                 "shapes must be as expected, and values within atol + rtol * |expected|. For bf16, rtol is at\n"
                 "least 2^-6, as in ONNX's own runner, unless it is 0. Values that are random by definition must\n"
                 "stay within their bounds. A case that crashes fails. The last line is `N passed, N failed,\n"
                 "N skipped`. The exit status is 0 only if nothing failed.",
    .examples  = "  hologram test onnx/backend/test/data/node\n"
                 "  hologram test bert/ --atol 1e-4\n"
                 "  hologram test node/test_conv* -v --json result.json\n",
    .options   = options,
    .run       = test,
};
