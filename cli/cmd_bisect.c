// cmd_bisect.c - hologram bisect: finds the change of a pass that makes a plan differ from its model.

#include "json.h"
#include "loading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Inputs {
    HoloModel         *model; // NULL: none are given
    CliInput          *inputs;
    const HoloTensor **tensors;
    int                count;
} Inputs;

// ---- what is told

static void print_lines(const char *name, const char *text)
{
    enum { LINES_MAX = 12 };
    int count = 0;
    for (; *text && count < LINES_MAX; count++) {
        size_t size   = strcspn(text, "\n");
        size_t indent = strspn(text, " ");
        cli_row(stdout, count ? "" : name, "%.*s", (int)(size - indent), text + indent);
        text += size + (text[size] == '\n');
    }
    if (*text) cli_row(stdout, "", "...");
}

static void print_pass(const HoloBisection *b, const HoloCulprit *c)
{
    cli_row(stdout, "culprit", "%spass %s%s, its change %d (change %d of %d)", cli_color(stdout, "red"), c->pass,
            cli_color(stdout, "reset"), c->pass_change, c->change, b->change_count);
    cli_row(stdout, "before", "agrees; worst difference %.2g of the largest value", c->before);
    cli_row(stdout, "with it", "%s", c->message);
    print_lines("nodes gone", c->removed);
    print_lines("nodes new", c->added);
}

static void print_culprit(const HoloBisection *b, const HoloCulprit *c)
{
    if (c->kind == HOLO_CULPRIT_PASS) {
        print_pass(b, c);
        return;
    }
    bool is_kernel = c->kind == HOLO_CULPRIT_KERNEL;
    cli_row(stdout, "culprit", "%s%s%s, not a pass", cli_color(stdout, "red"),
            is_kernel ? "a kernel" : "planning, packing or a kernel", cli_color(stdout, "reset"));
    cli_row(stdout, is_kernel ? "it" : "no passes", "%s", c->message);
}

static void print_advice(const HoloBisection *b, const char *model)
{
    char *disable = cli_format("%s", "");
    bool  is_pass = true;
    for (int i = 0; i < b->culprit_count; i++) {
        if (b->culprits[i].pass) disable = cli_format("%s --disable=%s", disable, b->culprits[i].pass);
        is_pass = is_pass && b->culprits[i].pass;
    }
    if (is_pass)
        cli_row(stdout, "what to do", "hologram compile %s%s avoids it; please report it with the lines above", model,
                disable);
    else
        cli_row(stdout, "what to do", "please report it with the lines above; disabling passes does not help");
}

static void print_text(const HoloBisection *b, const char *model, bool is_seeded)
{
    CliText     time;
    const char *verdict = b->why_not         ? "cannot be compared with the model"
                          : b->culprit_count ? "differs from the model"
                                             : "agrees with the model";
    printf("%s%s%s: the plan %s%s%s\n", cli_color(stdout, "bold"), model, cli_color(stdout, "reset"),
           cli_color(stdout, b->culprit_count ? "red" : "green"), verdict, cli_color(stdout, "reset"));
    if (b->why_not) cli_row(stdout, "because", "%s", b->why_not);
    if (b->trials)
        cli_row(stdout, "compared", "%d plan%s, %d changes by passes, on %s inputs, in %s", b->trials,
                b->trials == 1 ? "" : "s", b->change_count, is_seeded ? "seeded" : "the given",
                cli_seconds(&time, b->seconds));
    for (int i = 0; i < b->culprit_count; i++) print_culprit(b, &b->culprits[i]);
    if (b->culprit_count) print_advice(b, model);
    if (!b->culprit_count && !b->why_not)
        cli_row(stdout, "worst", "%.2g (%.2g of the largest value)%s%s, of %llu elements", b->worst_absolute,
                b->worst_relative, b->worst_at ? " at " : "", b->worst_at ? b->worst_at : "",
                (unsigned long long)b->checked);
}

static void print_json(const HoloBisection *b, const char *model)
{
    static const char *const kinds[] = {"pass", "kernel", "plan"};
    Json                     json    = {.out = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "model", model);
    json_bool(&json, "agrees", !b->culprit_count && !b->why_not);
    json_text(&json, "why_not", b->why_not);
    json_int(&json, "changes", b->change_count);
    json_int(&json, "trials", b->trials);
    json_int(&json, "checked", (int64_t)b->checked);
    json_number(&json, "worst_absolute", b->worst_absolute);
    json_number(&json, "worst_relative", b->worst_relative);
    json_text(&json, "worst_at", b->worst_at);
    json_number(&json, "seconds", b->seconds);
    json_open(&json, "culprits", '[');
    for (int i = 0; i < b->culprit_count; i++) {
        const HoloCulprit *c = &b->culprits[i];
        json_open(&json, NULL, '{');
        json_text(&json, "kind", kinds[c->kind]);
        json_text(&json, "pass", c->pass);
        json_int(&json, "pass_change", c->pass_change);
        json_int(&json, "change", c->change);
        json_number(&json, "before", c->before);
        json_number(&json, "after", c->after);
        json_text(&json, "message", c->message);
        json_text(&json, "removed", c->removed);
        json_text(&json, "added", c->added);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

// ---- what is given

// Reads files by the names and types of the model's inputs. For these the model is compiled without any pass.
static int inputs_open(const Cli *cli, Inputs *in)
{
    HoloCompiler *compiler;
    HoloError     error = {0};
    if (!cli_option(cli, "input")) return CLI_OK;
    int result = cli_compiler(cli, &compiler);
    if (result) return result;
    HoloStatus status = HOLO_OK;
    holo_compiler_set_verify(compiler, false);
    for (int i = 0; i < holo_pass_count() && !status; i++)
        status = holo_compiler_disable_pass(compiler, holo_pass_name(i, NULL), &error);
    if (!status) status = holo_compile_model(compiler, cli->args[0], &in->model, NULL, &error);
    holo_compiler_destroy(compiler);
    cli_progress_end();
    if (status) return cli_fail_error(cli->args[0], &error, status);
    result      = cli_inputs_open(cli, in->model, true, &in->inputs);
    in->count   = holo_model_input_count(in->model);
    in->tensors = cli_take((size_t)in->count + 1, sizeof *in->tensors);
    for (int i = 0; i < in->count; i++) in->tensors[i] = in->inputs[i].tensor;
    return result;
}

static void inputs_close(Inputs *in)
{
    if (!in->model) return;
    cli_inputs_close(in->inputs, in->model);
    holo_model_close(in->model);
}

static int tolerance_set(const Cli *cli, HoloCompiler *compiler)
{
    const char *text = cli_option(cli, "tolerance");
    if (!text) return CLI_OK;
    char  *end;
    double relative = strtod(text, &end);
    if (end == text || *end || !(relative >= 0) || isinf(relative))
        return cli_usage(cli, "--tolerance %s: expected a number that is not negative, for example 1e-4", text);
    holo_compiler_set_tolerance(compiler, relative, relative / 100);
    return CLI_OK;
}

static int bisect_with(const Cli *cli, const HoloCompiler *compiler, const Inputs *in)
{
    HoloError      error = {0};
    HoloBisection *b;
    HoloStatus     status = holo_bisect(compiler, cli->args[0], in->tensors, in->count, &b, &error);
    cli_progress_end();
    if (status) return cli_fail_error(cli->args[0], &error, status);
    if (cli_option(cli, "json"))
        print_json(b, cli->args[0]);
    else
        print_text(b, cli->args[0], !in->model);
    int result = b->culprit_count || b->why_not ? CLI_FAILED : CLI_OK;
    holo_bisection_destroy(b);
    return result;
}

static int disable(const Cli *cli, HoloCompiler *compiler)
{
    HoloError   error  = {0};
    HoloStatus  status = HOLO_OK;
    const char *pass;
    for (int cursor = 0; !status && (pass = cli_option_next(cli, "disable", &cursor));)
        status = holo_compiler_disable_pass(compiler, pass, &error);
    return status ? cli_usage(cli, "%s", error.text) : CLI_OK;
}

static int bisect(Cli *cli)
{
    HoloFileKind  kind;
    HoloCompiler *compiler;
    Inputs        in     = {0};
    int           result = cli_file_kind(cli, 0, &kind);
    if (result) return result;
    if (kind == HOLO_FILE_ARCHIVE)
        return cli_fail("give the model that it was compiled from", "%s is an archive: its passes have already run",
                        cli->args[0]);
    result = cli_compiler(cli, &compiler);
    if (result) return result;
    result = disable(cli, compiler);
    if (!result) result = tolerance_set(cli, compiler);
    if (!result) result = inputs_open(cli, &in);
    if (!result) result = bisect_with(cli, compiler, &in);
    inputs_close(&in);
    holo_compiler_destroy(compiler);
    return result;
}

static const CliOption options[] = {
    CLI_OPTION_INPUT,
    CLI_OPTIONS_IMAGE,
    CLI_OPTION_SHAPE,
    {"tolerance", 0, "R", "how much an output may differ, as a fraction of its largest\nvalue (default 1e-3)"},
    CLI_OPTION_NUMERIC,
    {"disable", 0, "PASS", "skip a pass; may be given several times", .many = true},
    CLI_OPTION_THREADS,
    {"json", 0, NULL, "print the result as JSON"},
    {0},
};

const CliCommand cli_bisect = {
    .name      = "bisect",
    .purpose   = "find the pass that makes a plan differ from its model",
    .arguments = "MODEL",
    .arg_min   = 1,
    .arg_max   = 1,
    .details   = "Compiles the model and compares its outputs with those of the reference implementations. Inputs\n"
                 "that you do not give are made up. If the outputs differ, it stops the passes after fewer and\n"
                 "fewer changes until it finds the one change that causes the difference. It then prints the pass,\n"
                 "the nodes, and how to avoid it. Exit status 0: the outputs agree; 1: they do not.",
    .examples  = "  hologram bisect net.onnx\n"
                 "  hologram bisect net.onnx --tolerance 1e-5 --input x=photo.npy\n"
                 "  hologram bisect net.onnx --json\n",
    .options   = options,
    .run       = bisect,
};
