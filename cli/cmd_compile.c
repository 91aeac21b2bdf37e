// cmd_compile.c - hologram compile: a model to an archive, and what was done to it.

#include "kernel_files.h"
#include "language.h"

#include "base/system.h"
#include "image_input.h"
#include "loading.h"
#include "prepared.h"
#include "quantizing.h"
#include "verifying.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// model.onnx becomes model.holo, in the working folder; a folder keeps its whole name, and so does a model of the hub.
static char *default_output(const char *model)
{
    bool is_hub = !strncmp(model, "hf:", 3);
    if (is_hub) model += 3;
    size_t size = is_hub ? strcspn(model, "@") : strlen(model);
    while (size > 1 && model[size - 1] == '/') size--;
    const char *name = holo_path_name(cli_format("%.*s", (int)size, model)), *dot = strrchr(name, '.');
    bool        cuts = dot && dot > name && !is_hub && !holo_path_is_folder(model);
    return cli_format("%.*s.holo", cuts ? (int)(dot - name) : (int)strlen(name), name);
}

static void dump(void *context, const char *pass, const char *text)
{
    (void)context;
    cli_progress_end();
    printf("%s# after %s%s\n%s\n", cli_color(stdout, "dim"), pass, cli_color(stdout, "reset"), text);
}

static void print_memory(FILE *out, const HoloReport *report)
{
    CliText arena, naive;
    if (!report->naive_bytes)
        cli_row(out, "memory", "each session plans it for the sizes it runs with");
    else if (!report->arena_bytes)
        cli_row(out, "memory", "none planned, %s without reuse", cli_bytes(&naive, (double)report->naive_bytes));
    else
        cli_row(out, "memory", "%s per run; %s without reuse, %.1f times as much",
                cli_bytes(&arena, (double)report->arena_bytes), cli_bytes(&naive, (double)report->naive_bytes),
                (double)report->naive_bytes / (double)report->arena_bytes);
}

// How much larger the archive is than the model, what that gained, and what was given up.
static void print_size(FILE *out, const HoloReport *r)
{
    CliText a, b;
    cli_row(out, "size", "%s model, %s archive, %.2f times as large", cli_bytes(&a, (double)r->model_bytes),
            cli_bytes(&b, (double)r->archive_bytes),
            (double)r->archive_bytes / (double)(r->model_bytes ? r->model_bytes : 1));
    if (r->transformed)
        cli_row(out, "", "%u layer%s made faster with %s more: filters stored transformed", r->transformed,
                r->transformed == 1 ? "" : "s", cli_bytes(&a, (double)r->transformed_bytes));
    if (r->not_transformed)
        cli_row(out, "", "%u more layer%s would take %s; without these bytes %s %s%.0f %% more work (see --size fast)",
                r->not_transformed, r->not_transformed == 1 ? "" : "s", cli_bytes(&a, (double)r->not_transformed_bytes),
                r->not_transformed == 1 ? "it does" : "they do", r->size_work < 0.005 ? "less than " : "about ",
                r->size_work < 0.005 ? 1 : 100 * r->size_work);
}

// An archive for devices and for the CPU: what each takes.
static void print_plans(FILE *out, const HoloReport *r)
{
    CliText a, b, c;
    if (!r->device) return;
    cli_row(out, "plans", "for the CPU, numeric class %s; for %s, numeric class %s, %u steps", r->numeric, r->device,
            r->device_numeric, r->device_steps);
    cli_row(out, "", "constants: %s for both; %s for the CPU alone, %s for %s alone",
            cli_bytes(&a, (double)r->shared_bytes), cli_bytes(&b, (double)r->host_bytes),
            cli_bytes(&c, (double)r->device_bytes), r->device);
}

static void json_plans(Json *json, const HoloReport *r)
{
    if (!r->device) return;
    json_text(json, "device", r->device);
    json_text(json, "numeric", r->numeric);
    json_text(json, "device_numeric", r->device_numeric);
    json_int(json, "device_steps", r->device_steps);
    json_int(json, "shared_bytes", (int64_t)r->shared_bytes);
    json_int(json, "host_bytes", (int64_t)r->host_bytes);
    json_int(json, "device_bytes", (int64_t)r->device_bytes);
}

static int tune_changed(const HoloReport *report)
{
    int changed = 0;
    for (int i = 0; i < report->tune_count; i++) changed += report->tunes[i].chosen != 0;
    return changed;
}

static void print_tuned(FILE *out, const HoloReport *report)
{
    CliText a;
    if (!report->tuned) return;
    cli_row(out, "tuned", "%d kinds of step measured, %d changed, in %s%s", report->tune_count, tune_changed(report),
            cli_seconds(&a, report->tune_seconds),
            report->tune_open ? "; steps with dynamic sizes are not measured: fix the sizes with --input-shape" : "");
}

// Each kind of step that was measured, with all its ways; the first is what the rules say.
static void print_tunes(FILE *out, const HoloReport *report)
{
    for (int i = 0; i < report->tune_count; i++) {
        const HoloTuneReport *t = &report->tunes[i];
        fprintf(out, "%s  %s %s, %d step%s\n", i ? "" : "\n", t->op, t->shapes, t->steps, t->steps == 1 ? "" : "s");
        for (int w = 0; w < t->way_count; w++) {
            CliText time;
            fprintf(out, "    %10s  %s%s%s\n", cli_seconds(&time, t->ways[w].seconds), t->ways[w].name,
                    w ? "" : " (the rule)", w == t->chosen ? " <- chosen" : "");
        }
    }
}

static void print_passes(FILE *out, const HoloReport *report)
{
    fprintf(out, "\n  %-12s %6s %8s %10s\n", "pass", "runs", "changes", "time");
    for (int i = 0; i < report->pass_count; i++) {
        const HoloPassReport *pass = &report->passes[i];
        CliText               time;
        fprintf(out, "  %-12s %6d %8d %10s\n", pass->name, pass->runs, pass->changes,
                cli_seconds(&time, pass->seconds));
    }
}

static void print_table(FILE *out, const HoloReport *report, const char *model, const char *archive)
{
    CliText a, b;
    fprintf(out, "%s%s%s -> %s%s%s\n", cli_color(out, "bold"), model, cli_color(out, "reset"), cli_color(out, "bold"),
            archive, cli_color(out, "reset"));
    cli_row(out, "nodes", "%u in the model, %u after the passes (%u computed now); %s, %u of them fast kernels",
            report->nodes_before, report->nodes_after, report->folded, cli_counted(report->steps, "step"),
            report->kernel_steps);
    cli_row(out, "constants", "%u stored; %u equal to another and stored once (%s)", report->constants,
            report->deduplicated, cli_bytes(&a, (double)report->deduplicated_bytes));
    if (report->tables)
        cli_row(out, "tables", "%u replace computation; they take %s of at most %s", report->tables,
                cli_bytes(&a, (double)report->table_bytes), cli_bytes(&b, (double)report->table_budget));
    if (report->patterns)
        cli_row(out, "memo", "%u pattern%s answered without computing, %s", report->patterns,
                report->patterns == 1 ? "" : "s", cli_bytes(&a, (double)report->memo_bytes));
    print_plans(out, report);
    print_memory(out, report);
    print_size(out, report);
    print_tuned(out, report);
    cli_quantize_print(out, &report->quantization);
    cli_verify_print(out, report);
    if (report->verified)
        cli_row(out, "time", "%s, of which %s verifying", cli_seconds(&a, report->seconds),
                cli_seconds(&b, report->verify_seconds));
    else
        cli_row(out, "time", "%s", cli_seconds(&a, report->seconds));
}

static void json_tunes(Json *json, const HoloReport *report)
{
    if (!report->tuned) return;
    json_number(json, "tune_seconds", report->tune_seconds);
    json_int(json, "tune_changed", tune_changed(report));
    json_int(json, "tune_open", report->tune_open);
    json_open(json, "tunes", '[');
    for (int i = 0; i < report->tune_count; i++) {
        const HoloTuneReport *t = &report->tunes[i];
        json_open(json, NULL, '{');
        json_text(json, "op", t->op);
        json_text(json, "shapes", t->shapes);
        json_int(json, "steps", t->steps);
        json_text(json, "rule", t->ways[0].name);
        json_text(json, "chosen", t->ways[t->chosen].name);
        json_open(json, "ways", '[');
        for (int w = 0; w < t->way_count; w++) {
            json_open(json, NULL, '{');
            json_text(json, "name", t->ways[w].name);
            json_number(json, "seconds", t->ways[w].seconds);
            json_close(json, '}');
        }
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void print_json(const HoloReport *report, const char *model, const char *archive)
{
    Json json = {.out = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "model", model);
    json_text(&json, "archive", archive);
    json_int(&json, "nodes_before", report->nodes_before);
    json_int(&json, "nodes_after", report->nodes_after);
    json_int(&json, "folded", report->folded);
    json_int(&json, "steps", report->steps);
    json_int(&json, "kernel_steps", report->kernel_steps);
    json_int(&json, "constants", report->constants);
    json_int(&json, "deduplicated", report->deduplicated);
    json_int(&json, "deduplicated_bytes", (int64_t)report->deduplicated_bytes);
    json_int(&json, "tables", report->tables);
    json_int(&json, "table_bytes", (int64_t)report->table_bytes);
    json_int(&json, "table_budget", (int64_t)report->table_budget);
    json_int(&json, "patterns", report->patterns);
    json_int(&json, "memo_bytes", (int64_t)report->memo_bytes);
    json_int(&json, "arena_bytes", (int64_t)report->arena_bytes);
    json_int(&json, "naive_bytes", (int64_t)report->naive_bytes);
    json_int(&json, "model_bytes", (int64_t)report->model_bytes);
    json_int(&json, "archive_bytes", (int64_t)report->archive_bytes);
    json_int(&json, "transformed", report->transformed);
    json_int(&json, "transformed_bytes", (int64_t)report->transformed_bytes);
    json_int(&json, "not_transformed", report->not_transformed);
    json_int(&json, "not_transformed_bytes", (int64_t)report->not_transformed_bytes);
    json_number(&json, "size_work", report->size_work);
    json_plans(&json, report);
    cli_verify_json(&json, report);
    json_number(&json, "seconds", report->seconds);
    json_open(&json, "passes", '[');
    for (int i = 0; i < report->pass_count; i++) {
        json_open(&json, NULL, '{');
        json_text(&json, "name", report->passes[i].name);
        json_int(&json, "runs", report->passes[i].runs);
        json_int(&json, "changes", report->passes[i].changes);
        json_number(&json, "seconds", report->passes[i].seconds);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_tunes(&json, report);
    cli_quantize_json(&json, &report->quantization);
    json_close(&json, '}');
}

static int choose_tables(const Cli *cli, HoloCompiler *compiler)
{
    const char *text   = cli_option(cli, "memory-budget");
    uint64_t    budget = 0;
    if (text && !cli_read_bytes(text, &budget)) return cli_usage(cli, "--memory-budget: " CLI_BYTES_WRONG, text);
    if (text && !budget) return cli_usage(cli, "--memory-budget 0 has no room for a table: give --no-tables instead");
    holo_compiler_set_tables(compiler, !cli_option(cli, "no-tables"), budget);
    return CLI_OK;
}

// "0..255" or "1,2,5.5": numbers, to be freed by free(). False: it is neither.
static bool read_values(const char *text, double **out, int64_t *out_count)
{
    enum { RANGE_MAX = 1 << 20 };
    char     *end;
    long long first = strtoll(text, &end, 10);
    *out_count      = 0;
    if (end != text && !strncmp(end, "..", 2)) {
        const char *rest = end + 2;
        long long   last = strtoll(rest, &end, 10);
        if (end == rest || *end || last < first || last - first >= RANGE_MAX) return false;
        *out = cli_take((size_t)(last - first) + 1, sizeof **out);
        for (long long x = first; x <= last; x++) (*out)[(*out_count)++] = (double)x;
        return true;
    }
    *out = cli_take(strlen(text) + 1, sizeof **out);
    for (const char *at = text;; at = end + 1) {
        (*out)[(*out_count)++] = strtod(at, &end);
        if (end == at) return false;
        if (!*end) return true;
        if (*end != ',') return false;
    }
}

static int choose_domains(const Cli *cli, HoloCompiler *compiler)
{
    const char *text, *seen = "";
    for (int cursor = 0; (text = cli_option_next(cli, "domain", &cursor));) {
        const char *equals = strrchr(text, '=');
        double     *values;
        HoloTensor  list  = {.dtype = HOLO_F64, .kind = HOLO_TENSOR, .rank = 1};
        HoloError   error = {0};
        if (!equals || equals == text || !read_values(equals + 1, &values, &list.dim[0]))
            return cli_usage(cli, "--domain %s: expected NAME=0..255 or NAME=1,2,5", text);
        char *name = cli_format("%.*s", (int)(equals - text), text);
        if (cli_has_word(seen, name)) return cli_usage(cli, "--domain is given twice for the input '%s'", name);
        seen              = cli_format("%s %s", seen, name);
        list.data         = values;
        HoloStatus status = holo_compiler_set_domain(compiler, name, &list, &error);
        if (status) return cli_fail_error(NULL, &error, status);
    }
    return CLI_OK;
}

static int choose_kernels(const Cli *cli, HoloCompiler *compiler)
{
    HoloError   error  = {0};
    HoloStatus  status = HOLO_OK;
    const char *path;
    for (int cursor = 0; !status && (path = cli_option_next(cli, "kernel", &cursor));)
        status = holo_compiler_add_kernel(compiler, path, &error);
    return status ? cli_fail_error(NULL, &error, status) : CLI_OK;
}

static int choose_patterns(const Cli *cli, HoloCompiler *compiler)
{
    HoloError   error  = {0};
    HoloStatus  status = HOLO_OK;
    const char *path;
    for (int cursor = 0; !status && (path = cli_option_next(cli, "patterns", &cursor));) {
        int result = cli_prepare(cli, compiler, path, &path);
        if (result) return result;
        status = holo_compiler_add_patterns(compiler, path, &error);
    }
    return status ? cli_fail_error(NULL, &error, status) : CLI_OK;
}

// What language models keep, and of what.
static int choose_language(const Cli *cli, HoloCompiler *compiler)
{
    static const struct {
        const char *name;
        HoloDtype   type;
    } types[]          = {{"f32", HOLO_F32}, {"f16", HOLO_F16}, {"int8", HOLO_I8}};
    HoloError   error  = {0};
    HoloStatus  status = HOLO_OK;
    const char *cache = cli_option(cli, "cache"), *path = cli_option(cli, "prefix");
    HoloDtype   type = HOLO_NONE;
    for (int i = 0; cache && i < CLI_COUNT(types); i++)
        if (!strcmp(types[i].name, cache)) type = types[i].type;
    if (cache && !type) return cli_usage(cli, "--cache is '%s', but must be f32, f16 or int8", cache);
    if (cache) status = holo_compiler_set_cache(compiler, type, &error);
    if (!status && path) {
        size_t size;
        char  *text = cli_read_file(path, &size);
        if (!text) return CLI_FAILED;
        status = holo_compiler_set_prefix(compiler, text, size, cli_option(cli, "prefix-plain") != NULL, &error);
    }
    return status ? cli_fail_error(path, &error, status) : CLI_OK;
}

// The choices that only compile has.
static int choose(const Cli *cli, HoloCompiler *compiler)
{
    HoloError   error  = {0};
    HoloStatus  status = HOLO_OK;
    const char *pass;
    for (int cursor = 0; !status && (pass = cli_option_next(cli, "disable", &cursor));)
        status = holo_compiler_disable_pass(compiler, pass, &error);
    holo_compiler_set_tune(compiler, cli_option(cli, "tune") != NULL);
    if (!status && (pass = cli_option(cli, "dump")))
        status = holo_compiler_set_dump(compiler, pass, dump, NULL, &error);
    return status ? cli_usage(cli, "%s", error.text[0] ? error.text : holo_status_text(status)) : CLI_OK;
}

// The archive says which kernels were not used.
static void warn_kernels(const Cli *cli, const char *archive)
{
    HoloModel *model = NULL;
    HoloNote   note;
    if (!cli_option(cli, "kernel") || holo_model_open(archive, &model, NULL)) return;
    for (int i = 0; holo_model_note(model, i, &note); i++)
        if (!strcmp(note.pass, "kernel")) cli_warn("--kernel: the model has no node %s", note.place);
    holo_model_close(model);
}

static int compile_with(const Cli *cli, const HoloCompiler *compiler)
{
    const char *model = cli->args[0], *given = cli_option(cli, "output");
    const char *archive = given ? given : default_output(cli->typed[0]);
    HoloError   error   = {0};
    HoloReport *report  = NULL;
    HoloStatus  status  = holo_compile_file(compiler, model, archive, &report, &error);
    cli_progress_end();
    if (status) return cli_fail_error(model, &error, status);
    cli_verify_warn(model, report);
    warn_kernels(cli, archive);
    FILE *out = cli_option(cli, "dump") ? stderr : stdout; // the graphs need stdout for themselves
    if (cli_option(cli, "json"))
        print_json(report, model, archive);
    else if (!cli_option(cli, "quiet"))
        print_table(out, report, model, archive);
    if (cli_option(cli, "verbose")) {
        print_passes(out, report);
        print_tunes(out, report);
        cli_quantize_layers(out, &report->quantization);
    }
    holo_report_destroy(report);
    return CLI_OK;
}

static int compile_model(Cli *cli)
{
    HoloFileKind  kind;
    HoloCompiler *compiler;
    int           result = cli_file_kind(cli, 0, &kind);
    if (result) return result;
    if (kind == HOLO_FILE_ARCHIVE)
        return cli_fail("run it: hologram run FILE.holo", "%s is already an archive", cli->args[0]);
    const char *out = cli_option(cli, "output"), *dot = out ? strrchr(out, '.') : NULL;
    if (dot && !strcmp(dot, ".onnx"))
        return cli_fail("name it like this: -o model.holo; hologram convert writes ONNX",
                        "compile writes an archive, not .onnx");
    if (!strcmp(cli->args[0], "/dev/stdin") && !out)
        return cli_usage(cli, "the output file is missing: give -o FILE.holo");
    result = cli_compiler(cli, &compiler);
    if (result) return result;
    result = choose(cli, compiler);
    if (!result) result = cli_verify_choose(cli, compiler);
    if (!result) result = choose_tables(cli, compiler);
    if (!result) result = choose_domains(cli, compiler);
    if (!result) result = choose_kernels(cli, compiler);
    if (!result) result = choose_patterns(cli, compiler);
    if (!result) result = choose_language(cli, compiler);
    if (!result) result = cli_quantize_choose(cli, compiler);
    if (!result) result = cli_images_check(cli);
    if (!result) result = compile_with(cli, compiler);
    cli_prepared_remove();
    holo_compiler_destroy(compiler);
    return result;
}

static int compile(Cli *cli)
{
    return cli_is_kernels(cli->args[0]) ? cli_compile_kernels(cli) : compile_model(cli);
}

static void help_passes(void)
{
    printf("\n%spasses:%s\n", cli_color(stdout, "bold"), cli_color(stdout, "reset"));
    const char *name, *purpose = "";
    for (int i = 0; (name = holo_pass_name(i, &purpose)); i++) printf("  %-12s %s\n", name, purpose ? purpose : "");
}

static const CliOption options[] = {
    {"output", 'o', "FILE",
     "the archive to write; by default it is named after MODEL,\nwith .holo, in the working folder", .writes = true},
    CLI_OPTION_SHAPE,
    CLI_OPTION_NUMERIC,
    CLI_OPTION_TARGET,
    {"size", 0, "SIZE",
     "convolutions run faster if their filters are stored\ntransformed, which takes more space. The archive may become:\nsmall (as large as the model), balanced (default, up to\n1.5 times the model) or fast (as large as speed needs)"},
    CLI_OPTIONS_VERIFY,
    {"cache", 0, "TYPE",
     "for language models: keep keys and values as f32 (default),\nf16 (half the memory) or int8 (about a quarter)"},
    {"prefix", 0, "FILE",
     "for language models: a system prompt that prompts begin\nwith. The archive stores the model's cache of it, so that\nthe model does not read it again"},
    {"prefix-plain", 0, NULL, "the prefix is plain text, such as a document, not a\nsystem prompt", .with = "prefix"},
    {"tune", 0, NULL, "measure the fastest way to run each step on this machine,\nand store the result in the archive"},
    {"no-tables", 0, NULL, "compute instead of using lookup tables; the outputs have\nthe same bits"},
    {"memory-budget", 0, "BYTES", "limit for all tables together, for example 64M\n(default 160M)",
     .without = "no-tables"},
    {"domain", 0, "NAME=VALUES",
     "the values that elements of an input can have, for example\n0..255 or 1,2,5: the compiler turns what depends only on\nsuch inputs into a table",
     .many = true},
    CLI_OPTION_PATTERNS,
    CLI_OPTIONS_QUANTIZE,
    CLI_OPTIONS_IMAGE,
    {"disable", 0, "PASS", "skip a pass; may be given several times", .many = true},
    {"dump", 0, "PASS", "print the graph after this pass, or after: import, quantize,\nplan, lower, all"},
    {"kernel", 0, "FILE",
     "a kernel for an operator that Hologram does not have; the\nfile names it: @kernel(operator=\"domain::Name\"). May be\ngiven several times",
     .many = true},
    {"emit", 0, "FORM", "what to write for kernels: holo, asm (programs as text) or\njson", .files = CLI_KERNELS,
     .choices = "holo asm json"},
    {"threads", 't', "N", "threads to compile with (default 0: one per core)"},
    {"json", 0, NULL, "print the report as JSON", .without = "quiet verbose dump"},
    {"verbose", 'v', NULL,
     "also report what each pass did, what --tune measured, and\nwhat --quantize did to each layer",
     .without = "quiet"},
    {"quiet", 'q', NULL, "print only warnings"},
    {0},
};

const CliCommand cli_compile = {
    .name      = "compile",
    .purpose   = "turn a model into one .holo file",
    .arguments = "MODEL",
    .arg_min   = 1,
    .arg_max   = 1,
    .details   = "Reads a model, computes in advance what does not depend on the inputs, plans the\n"
                 "memory, and writes one file that opens at once. Before it writes, it compares the plan with\n"
                 "the original model, on made-up inputs or on yours. If they differ, it writes nothing.\n"
                 "Kernels (a .py, .c or .json file, or a folder of these) become portable programs.",
    .examples  = "  hologram compile resnet50.onnx\n"
                 "  hologram compile bert.onnx -o bert.holo --input-shape input_ids:1,128\n"
                 "  hologram compile net.onnx --numeric exact --json\n"
                 "  hologram compile net.onnx --verify-with samples --strict\n"
                 "  hologram compile net.onnx --tune --verbose\n"
                 "  hologram compile net.onnx --domain level=0..9\n"
                 "  hologram compile net.onnx --patterns faq.npz --patterns samples\n"
                 "  hologram compile net.onnx --quantize int8 --calibrate samples.npz\n"
                 "  hologram compile net.onnx --dump=fold > folded.txt\n"
                 "  hologram compile kernels/stdlib -o stdlib.holo\n"
                 "  hologram compile my_kernel.py --emit asm\n",
    .options   = options,
    .run       = compile,
    .help      = help_passes,
};
