// cmd_inspect.c - hologram inspect: what an archive or a model says about itself.

#include "json.h"
#include "loading.h"
#include "programs.h"
#include "values.h"

#include <string.h>

typedef struct Subject { // an archive or a source, handled alike
    const char   *path;
    HoloModel    *model; // one of the two is NULL
    HoloSource   *source;
    HoloModelInfo info; // of an archive
    int           in_count, out_count, meta_count;
} Subject;

static const HoloPort *input(const Subject *s, int i)
{
    return s->model ? holo_model_input(s->model, i) : holo_source_input(s->source, i);
}

static const HoloPort *output(const Subject *s, int i)
{
    return s->model ? holo_model_output(s->model, i) : holo_source_output(s->source, i);
}

static const char *meta(const Subject *s, int i, const char **key)
{
    return s->model ? holo_model_meta(s->model, i, key) : holo_source_meta(s->source, i, key);
}

static int subject_open(const Cli *cli, Subject *out)
{
    HoloError    error = {0};
    HoloFileKind kind;
    int          result = cli_file_kind(cli, 0, &kind);
    if (result) return result;
    *out              = (Subject){.path = cli->args[0]};
    HoloStatus status = kind == HOLO_FILE_ARCHIVE ? holo_model_open(out->path, &out->model, &error)
                                                  : holo_source_open(out->path, &out->source, &error);
    if (status) return cli_fail_error(out->path, &error, status);
    const HoloModel  *model  = out->model;
    const HoloSource *source = out->source;
    if (model) holo_model_info(model, &out->info);
    out->in_count   = model ? holo_model_input_count(model) : holo_source_input_count(source);
    out->out_count  = model ? holo_model_output_count(model) : holo_source_output_count(source);
    out->meta_count = model ? holo_model_meta_count(model) : holo_source_meta_count(source);
    return CLI_OK;
}

static void subject_close(Subject *s)
{
    if (s->model) holo_model_close(s->model);
    if (s->source) holo_source_close(s->source);
}

// ---- for people

// A name and a text about it; names of models may be long.
static void print_named(const char *name, int width, const char *text, const char *note)
{
    printf("  %s%-*s%s %s%s\n", cli_color(stdout, "cyan"), width, name, cli_color(stdout, "reset"), text, note);
}

static int wider(int width, const char *name)
{
    int size = (int)strlen(name);
    return size > width ? (size < 40 ? size : 40) : width;
}

// The first entry is shown like a model that has no other. Of a source, the entry becomes the one that is asked about.
static int entry_of(const Subject *s, int index, Subject *out)
{
    HoloError  error  = {0};
    HoloStatus status = s->source ? holo_source_choose(s->source, index, &error) : HOLO_OK;
    *out              = (Subject){.path = s->path, .source = s->source};
    if (status) return cli_fail_error(s->path, &error, status);
    if (s->model) {
        const HoloModel *entry = holo_model_entry(s->model, holo_model_entry_name(s->model, index));
        out->model             = (HoloModel *)(uintptr_t)entry; // it is only read
    }
    out->in_count  = s->model ? holo_model_input_count(out->model) : holo_source_input_count(s->source);
    out->out_count = s->model ? holo_model_output_count(out->model) : holo_source_output_count(s->source);
    return CLI_OK;
}

static int entry_count(const Subject *s)
{
    return s->model ? holo_model_entry_count(s->model) : holo_source_entry_count(s->source);
}

static const char *entry_name(const Subject *s, int index)
{
    return s->model ? holo_model_entry_name(s->model, index) : holo_source_entry_name(s->source, index);
}

static void print_ports(const char *title, const Subject *s, const HoloPort *(*port)(const Subject *, int), int count)
{
    int width = 12;
    for (int i = 0; i < count; i++) width = wider(width, port(s, i)->name);
    printf("\n%s%s%s\n", cli_color(stdout, "bold"), title, cli_color(stdout, "reset"));
    for (int i = 0; i < count; i++) {
        const HoloPort *p = port(s, i);
        CliText         type;
        print_named(p->name, width, cli_type(&type, &p->type, p->symbol), p->optional ? "  (optional)" : "");
    }
}

enum { VALUE_MAX = 100 }; // bytes of a line of metadata; some models have whole tables there

// How many bytes of a long value are shown: whole characters only.
static int cut(const char *value)
{
    int size = VALUE_MAX;
    while (size && ((unsigned char)value[size] & 0xC0) == 0x80) size--;
    return size;
}

static void print_meta(const Subject *s)
{
    int         width = 12;
    const char *key   = "", *value;
    for (int i = 0; i < s->meta_count; i++) {
        meta(s, i, &key);
        width = wider(width, key);
    }
    if (s->meta_count) printf("\n%smetadata%s\n", cli_color(stdout, "bold"), cli_color(stdout, "reset"));
    for (int i = 0; i < s->meta_count; i++) {
        value = meta(s, i, &key);
        if (!*value || (!strncmp(key, "pass.", 5) && !strcmp(value, "0"))) continue;
        bool is_long = strlen(value) > VALUE_MAX;
        print_named(key, width, is_long ? cli_format("%.*s", cut(value), value) : value,
                    is_long ? " ... (--json)" : "");
    }
}

static void print_ops(const char *title, const HoloSource *source)
{
    int width = 12, count = holo_source_op_count(source), missing = 0, uses = 0;
    for (int i = 0; i < count; i++) {
        const HoloSourceOp *op = holo_source_op(source, i);
        width                  = wider(width, op->name);
        missing += !op->is_supported;
        uses += op->is_supported ? 0 : op->uses;
    }
    if (missing)
        printf("\n%s%d of %d operators %s not supported%s, used %d time%s:\n", cli_color(stdout, "bold"), missing,
               count, missing == 1 ? "is" : "are", cli_color(stdout, "reset"), uses, uses == 1 ? "" : "s");
    for (int i = 0; i < count; i++) {
        const HoloSourceOp *op = holo_source_op(source, i);
        if (!op->is_supported) print_named(op->name, width, cli_format("%d", op->uses), "");
    }
    if (count) printf("\n%s%s%s\n", cli_color(stdout, "bold"), title, cli_color(stdout, "reset"));
    for (int i = 0; i < count; i++) {
        const HoloSourceOp *op = holo_source_op(source, i);
        print_named(op->name, width, cli_format("%d", op->uses), op->is_supported ? "" : "  (not supported)");
    }
}

// "fused", "exact" or "bf16".
static const char *numeric_of(const HoloModel *model, const HoloModelInfo *info)
{
    const char *told = holo_model_meta_find(model, "numeric");
    return info->exact ? "exact" : told && !strcmp(told, "bf16") ? told : "fused";
}

// An archive with a plan for devices and one for the CPU: what is tried first, and the steps of each.
static void print_devices(HoloModel *model)
{
    const char   *numeric = holo_model_meta_find(model, "numeric.device"), *names = "";
    HoloModelInfo device, host;
    int           last = 0;
    while (holo_model_device(model, last)) last++;
    for (int i = 0; i < last - 1; i++)
        names = cli_format("%s%s%s", names, i ? " and " : "", holo_model_device(model, i));
    if (last < 2 || strcmp(holo_model_device(model, last - 1), "cpu")) return;
    if (holo_model_set_device(model, holo_model_device(model, 0), NULL)) return;
    holo_model_info(model, &device);
    if (holo_model_set_device(model, "cpu", NULL)) return;
    holo_model_info(model, &host);
    cli_row(stdout, "runs on", "%s (%u steps, numeric class %s), else cpu (%u steps)", names, device.steps,
            numeric ? numeric : "?", host.steps);
}

static void print_info(HoloModel *model, const HoloModelInfo *info)
{
    CliText a, b;
    int     entries = holo_model_entry_count(model), inner = (int)info->plans - entries;
    cli_row(stdout, "size", "%s, of which %s constants", cli_bytes(&a, (double)info->file_bytes),
            cli_bytes(&b, (double)info->constant_bytes));
    cli_row(stdout, "plan", "%s, %s, %s%s", cli_counted(info->steps, "step"), cli_counted(info->values, "value"),
            cli_counted(info->constants, "constant"),
            inner > 0 ? cli_format(", %s", cli_counted((uint64_t)inner, "inner plan")) : "");
    if (entries > 1) cli_row(stdout, "entries", "%d, which share the constants", entries);
    print_devices(model);
    if (info->is_static)
        cli_row(stdout, "memory", "%s per run; %s without reuse", cli_bytes(&a, (double)info->arena_bytes),
                cli_bytes(&b, (double)info->naive_bytes));
    else
        cli_row(stdout, "memory", "each session plans it for the sizes it runs with");
    if (holo_model_memo_count(model))
        cli_row(stdout, "memo", "answers to %lld patterns", (long long)holo_model_memo_count(model));
    const char *numeric = numeric_of(model, info);
    cli_row(stdout, "numeric", "%s%s", numeric,
            info->exact                ? ": the same bits on every CPU"
            : !strcmp(numeric, "bf16") ? ": products with weights of bf16, where the CPU has them"
                                       : "");
}

static const char *format_of(const Subject *s)
{
    const char *key = "", *value;
    for (int i = 0; i < s->meta_count; i++) {
        value = meta(s, i, &key);
        if (!strcmp(key, "format")) return value;
    }
    return "other";
}

// A model of another format is shown as it was imported.
static void print_entry(const Subject *e, const char *name, const char *format)
{
    const char *of = *name ? " of entry " : "", *as = strncmp(format, "ONNX", 4) ? ", as ONNX names them" : "";
    print_ports(cli_format("inputs%s%s", of, name), e, input, e->in_count);
    print_ports(cli_format("outputs%s%s", of, name), e, output, e->out_count);
    if (e->source) print_ops(cli_format("operators%s%s%s", of, name, as), e->source);
}

static int print_table(const Subject *s)
{
    printf("%s%s%s  %s\n", cli_color(stdout, "bold"), s->path, cli_color(stdout, "reset"),
           s->model ? "Hologram archive" : cli_format("%s model", format_of(s)));
    if (s->model) print_info(s->model, &s->info);
    if (s->source && entry_count(s) > 1)
        cli_row(stdout, "entries", "%d; compile puts all into one archive, and run --entry NAME runs one",
                entry_count(s));
    for (int i = 0; i < entry_count(s); i++) {
        Subject e;
        int     result = entry_of(s, i, &e);
        if (result) return result;
        print_entry(&e, entry_name(s, i), format_of(s));
    }
    print_meta(s);
    return CLI_OK;
}

static int print_text(const Subject *s, bool values, const HoloStepPrograms *programs)
{
    int result = print_table(s);
    if (values) cli_values_print(s->model);
    if (programs) cli_programs_print(programs);
    return result;
}

// ---- for programs

static void ports_json(Json *json, const char *key, const Subject *s, const HoloPort *(*port)(const Subject *, int),
                       int count)
{
    json_open(json, key, '[');
    for (int i = 0; i < count; i++) json_port(json, port(s, i));
    json_close(json, ']');
}

static void ops_json(Json *json, const HoloSource *source)
{
    json_open(json, "operators", '[');
    for (int i = 0; i < holo_source_op_count(source); i++) {
        const HoloSourceOp *op = holo_source_op(source, i);
        json_open(json, NULL, '{');
        json_text(json, "name", op->name);
        json_int(json, "uses", op->uses);
        json_bool(json, "supported", op->is_supported);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void info_json(Json *json, const HoloModel *model, const HoloModelInfo *info)
{
    json_int(json, "file_bytes", (int64_t)info->file_bytes);
    json_int(json, "constant_bytes", (int64_t)info->constant_bytes);
    json_int(json, "table_bytes", (int64_t)info->table_bytes);
    json_int(json, "arena_bytes", (int64_t)info->arena_bytes);
    json_int(json, "naive_bytes", (int64_t)info->naive_bytes);
    json_int(json, "steps", info->steps);
    json_int(json, "values", info->values);
    json_int(json, "constants", info->constants);
    json_int(json, "plans", info->plans);
    json_int(json, "memo", holo_model_memo_count(model));
    json_text(json, "numeric", numeric_of(model, info));
    json_bool(json, "static", info->is_static);
    json_open(json, "devices", '[');
    for (int i = 0; holo_model_device(model, i); i++) json_text(json, NULL, holo_model_device(model, i));
    json_close(json, ']');
}

static int entries_json(Json *json, const Subject *s)
{
    int result = CLI_OK;
    json_open(json, "entries", '[');
    for (int i = 0; i < entry_count(s) && !result; i++) {
        Subject e;
        if ((result = entry_of(s, i, &e))) break;
        json_open(json, NULL, '{');
        json_text(json, "name", entry_name(s, i));
        ports_json(json, "inputs", &e, input, e.in_count);
        ports_json(json, "outputs", &e, output, e.out_count);
        if (e.source) ops_json(json, e.source);
        json_close(json, '}');
    }
    json_close(json, ']');
    return result;
}

static int print_json(const Subject *s, bool values, const HoloStepPrograms *programs)
{
    Json json = {.out = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "file", s->path);
    json_text(&json, "kind", s->model ? "archive" : "model");
    if (s->model) info_json(&json, s->model, &s->info);
    ports_json(&json, "inputs", s, input, s->in_count);
    ports_json(&json, "outputs", s, output, s->out_count);
    if (s->source) ops_json(&json, s->source);
    int result = entries_json(&json, s);
    json_open(&json, "metadata", '{');
    for (int i = 0; i < s->meta_count; i++) {
        const char *key = "", *value = meta(s, i, &key);
        json_text(&json, key, value);
    }
    json_close(&json, '}');
    if (values) cli_values_json(&json, s->model);
    if (programs) cli_programs_json(&json, programs);
    json_close(&json, '}');
    return result;
}

static int inspect(Cli *cli)
{
    HoloError         error = {0};
    Subject           subject;
    bool              values   = cli_option(cli, "values") != NULL;
    HoloStepPrograms *programs = NULL;
    int               result   = subject_open(cli, &subject);
    if (result) return result;
    HoloStatus status =
        cli_option(cli, "programs") ? holo_step_programs_open(subject.model, &programs, &error) : HOLO_OK;
    if (status) {
        subject_close(&subject);
        return cli_fail_error(cli->args[0], &error, status);
    }
    result = cli_option(cli, "json") ? print_json(&subject, values, programs) : print_text(&subject, values, programs);
    holo_step_programs_close(programs);
    subject_close(&subject);
    return result;
}

static const CliOption options[] = {
    {"values", 0, NULL, "list all constants: size, number of distinct values, and\nhow often each is used",
     .files = CLI_ARCHIVES},
    {"programs", 0, NULL, "print the portable programs: those of pointwise steps, and\nyour own kernels",
     .files = CLI_ARCHIVES},
    {"json", 0, NULL, "print JSON"},
    {0},
};

const CliCommand cli_inspect = {
    .name      = "inspect",
    .purpose   = "show the inputs, outputs, operators, sizes and metadata of a file",
    .arguments = "FILE",
    .arg_min   = 1,
    .arg_max   = 1,
    .details   = "FILE is an archive or a model.",
    .examples  = "  hologram inspect model.holo\n"
                 "  hologram inspect model.onnx --json\n"
                 "  hologram inspect model.holo --values\n"
                 "  hologram inspect model.holo --programs\n",
    .options   = options,
    .run       = inspect,
};
