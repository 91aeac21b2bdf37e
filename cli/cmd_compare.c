// cmd_compare.c - hologram compare: how far two archives, models or sets of tensors are apart.

#include "json.h"
#include "matches.h"
#include "samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Comparison {
    const Cli *cli;
    Side       got, want;
    Tolerance  tolerance;
    CliPorts   ports; // of the side that runs; empty where none does
    CliSamples samples;
    bool       is_seeded;
    Rows       rows;
    bool       differs;
} Comparison;

// ---- showing

// The first node that is too far off, if the next one is, too. A single one may be something else in the plan, because
// a pass merged it with what follows.
static const Row *first_beyond(const Rows *rows, int *out_count)
{
    const Row *first = NULL, *before = NULL;
    *out_count = 0;
    for (int i = 0; i < rows->count; i++) {
        const Row *row = &rows->row[i];
        if (row->is_output) continue;
        bool differs = row_differs(row);
        *out_count += differs;
        if (differs && before && !first) first = before;
        before = differs ? row : NULL;
    }
    return first ? first : before;
}

static void print_nodes_off(const Comparison *c)
{
    int        count;
    const Row *first = first_beyond(&c->rows, &count);
    if (count && !c->differs)
        printf("  %d node%s, though the outputs agree: passes may have replaced %s by later values\n", count,
               count == 1 ? " differs" : "s differ", count == 1 ? "it" : "them");
    else if (first)
        printf("  the first node that is too far off: %s\n", first->name);
}

static const char *limit_text(const Tolerance *t)
{
    return t->is_of_largest ? cli_format("%g of the largest value", t->relative)
                            : cli_format("%g + %g * |expected|", t->absolute, t->relative);
}

static const char *place_text(const Comparison *c, const Distance *d)
{
    if (!d->at.data[0]) return "the same";
    char *text = isnan(d->got) && isnan(d->want) ? cli_format("%s", d->at.data)
                                                 : cli_format("%s: %.9g, expected %.9g", d->at.data, d->got, d->want);
    return c->samples.count > 1 ? cli_format("%s, in %s", text, cli_sample_name(c->samples.path[d->sample])) : text;
}

static void print_row(const Comparison *c, const Row *row, int width)
{
    const Distance *d    = &row->distance;
    const char     *mark = cli_color(stdout, row_differs(row) ? "red" : "green"), *reset = cli_color(stdout, "reset");
    char            top[32] = "-";
    printf("  %s%-*s%s %-18s ", mark, width, row->name, reset, row->type);
    if (row->why || !d->count) {
        printf("%s\n", row->why ? row->why : row->note ? row->note : "no elements");
        return;
    }
    if (d->rows && row->is_output) snprintf(top, sizeof top, "%.2f %%", 100.0 * (double)d->same_rows / (double)d->rows);
    printf("%9.3g %9.3g %9.6f %9s  %s", d->worst, d->relative, distance_cosine(d), top, place_text(c, d));
    if (d->beyond) printf("; %lld of %lld too far off", (long long)d->beyond, (long long)d->count);
    printf("%s%s\n", row->note ? "; " : "", row->note ? row->note : "");
}

static void print_rows(const Comparison *c, bool outputs)
{
    int width = 8, count = 0;
    for (int i = 0; i < c->rows.count; i++) {
        int size = (int)strlen(c->rows.row[i].name);
        if (c->rows.row[i].is_output != outputs) continue;
        if (size > width) width = size < 40 ? size : 40;
        count++;
    }
    if (!count) return;
    printf("  %s%-*s %-18s %9s %9s %9s %9s  %s%s\n", cli_color(stdout, "dim"), width, outputs ? "output" : "node",
           "type", "worst", "relative", "cosine", "top-1", "where", cli_color(stdout, "reset"));
    for (int i = 0; i < c->rows.count; i++)
        if (c->rows.row[i].is_output == outputs) print_row(c, &c->rows.row[i], width);
}

static void print_text(const Comparison *c)
{
    printf("%s%s%s (%s) against %s%s%s (%s)", cli_color(stdout, "bold"), c->got.path, cli_color(stdout, "reset"),
           c->got.what, cli_color(stdout, "bold"), c->want.path, cli_color(stdout, "reset"), c->want.what);
    if (c->ports.port)
        printf(", on %s", c->is_seeded            ? "made-up inputs"
                          : c->samples.count == 1 ? "one sample"
                                                  : cli_format("%d samples", c->samples.count));
    printf("\n");
    print_rows(c, true);
    print_rows(c, false);
    print_nodes_off(c);
    printf("%s%s%s within %s\n", cli_color(stdout, c->differs ? "red" : "green"),
           c->differs ? "they do not agree" : "they agree", cli_color(stdout, "reset"), limit_text(&c->tolerance));
}

static void rows_json(Json *json, const Comparison *c, const char *key, bool outputs)
{
    json_open(json, key, '[');
    for (int i = 0; i < c->rows.count; i++) {
        const Row      *row = &c->rows.row[i];
        const Distance *d   = &row->distance;
        if (row->is_output != outputs) continue;
        json_open(json, NULL, '{');
        json_text(json, "name", row->name);
        json_text(json, "type", row->type);
        json_bool(json, "agrees", !row_differs(row));
        json_text(json, "why_not", row->why);
        json_text(json, "note", row->note);
        json_int(json, "elements", d->count);
        json_int(json, "beyond", d->beyond);
        json_number(json, "worst_absolute", d->worst);
        json_number(json, "worst_relative", d->relative);
        json_text(json, "worst_at", d->at.data[0] ? d->at.data : NULL);
        json_text(json, "worst_sample",
                  d->at.data[0] && c->samples.count ? cli_sample_name(c->samples.path[d->sample]) : NULL);
        json_number(json, "got", d->at.data[0] ? d->got : NAN);
        json_number(json, "expected", d->at.data[0] ? d->want : NAN);
        json_number(json, "cosine", d->count ? distance_cosine(d) : NAN);
        json_number(json, "top1", d->rows && outputs ? (double)d->same_rows / (double)d->rows : NAN);
        json_int(json, "top1_rows", d->rows);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void print_json(const Comparison *c)
{
    Json json = {.out = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "a", c->got.path);
    json_text(&json, "b", c->want.path);
    json_bool(&json, "agrees", !c->differs);
    json_int(&json, "samples", c->samples.count);
    json_bool(&json, "seeded", c->is_seeded);
    json_number(&json, "relative", c->tolerance.relative);
    json_number(&json, "absolute", c->tolerance.absolute);
    json_bool(&json, "of_largest", c->tolerance.is_of_largest);
    rows_json(&json, c, "outputs", true);
    if (c->got.wants_nodes) rows_json(&json, c, "nodes", false);
    json_close(&json, '}');
}

// ---- running

static int compare_sample(Comparison *c, const CliInput *inputs, const char *name, int sample)
{
    int result = side_run(&c->got, &c->ports, inputs, name);
    if (!result) result = side_run(&c->want, &c->ports, inputs, name);
    if (!result) rows_add_sample(&c->rows, &c->got, &c->want, &c->tolerance, sample);
    side_clear(&c->got);
    side_clear(&c->want);
    return result;
}

static int run_samples(Comparison *c, const char *path)
{
    int result          = cli_samples_find(&c->ports, path, &c->samples);
    c->got.has_samples  = c->samples.count > 1;
    c->want.has_samples = c->samples.count > 1;
    for (int i = 0; i < c->samples.count && !result; i++) {
        CliInput   *inputs;
        const char *name = cli_sample_name(c->samples.path[i]);
        cli_progress(NULL, name, (double)i / c->samples.count);
        result = cli_sample_read(c->cli, &c->ports, c->samples.path[i], &inputs);
        if (!result) result = compare_sample(c, inputs, name, i);
        cli_inputs_free(inputs, c->ports.count);
    }
    cli_progress_end();
    return result;
}

static int run_once(Comparison *c)
{
    CliInput *inputs = NULL;
    c->is_seeded     = c->ports.count && !cli_option(c->cli, "input");
    if (c->is_seeded && (c->got.kind == SIDE_TENSORS || c->want.kind == SIDE_TENSORS))
        cli_warn("%s has the outputs for certain inputs: give the same ones with --input, instead of made-up ones",
                 c->got.kind == SIDE_TENSORS ? c->got.path : c->want.path);
    c->samples.count = 1;
    c->samples.path  = cli_take(1, sizeof *c->samples.path);
    *c->samples.path = c->is_seeded ? "made up" : "given";
    int result       = cli_inputs_read(c->cli, &c->ports, c->is_seeded, &inputs);
    if (!result) result = compare_sample(c, inputs, NULL, 0);
    cli_inputs_free(inputs, c->ports.count);
    return result;
}

// ---- options

static int read_tolerance(const Cli *cli, Tolerance *out)
{
    const char *text = cli_option(cli, "tolerance");
    char       *end;
    *out = (Tolerance){.relative = 1e-3, .absolute = 1e-7, .is_of_largest = true};
    if (cli_option(cli, "rtol") || cli_option(cli, "atol"))
        *out = (Tolerance){.relative = cli_number("rtol"), .absolute = cli_number("atol")};
    if (!text) return CLI_OK;
    out->relative = strtod(text, &end);
    if (end == text || *end || !(out->relative >= 0) || isinf(out->relative))
        return cli_usage(cli, "--tolerance %s: expected a number that is not negative, for example 1e-4", text);
    if (out->relative == 0) out->absolute = 0;
    return CLI_OK;
}

static int check_sides(const Cli *cli, Comparison *c)
{
    bool runs = c->got.kind != SIDE_TENSORS || c->want.kind != SIDE_TENSORS;
    if (!runs) return cli_options_only(cli, "tolerance rtol atol json quiet", c->got.path, CLI_TENSORS);
    c->ports = c->got.kind != SIDE_TENSORS ? c->got.ports : c->want.ports;
    if (cli_option(cli, "compile") && strcmp(c->got.what, "model, compiled") && strcmp(c->want.what, "model, compiled"))
        return cli_usage(cli, "--compile is for models, but neither %s nor %s is a model", c->got.path, c->want.path);
    if (cli_option(cli, "threads") && c->got.kind != SIDE_COMPILED && c->want.kind != SIDE_COMPILED)
        return cli_usage(cli, "--threads is for compiled models, but neither %s nor %s is compiled: see --compile",
                         c->got.path, c->want.path);
    return CLI_OK;
}

// Do the outputs differ? The answer needs at least one output that was compared, or that only one side has.
static int judge(Comparison *c)
{
    bool any = false;
    for (int i = 0; i < c->rows.count; i++) {
        const Row *row = &c->rows.row[i];
        if (!row->is_output) continue;
        c->differs = c->differs || row_differs(row);
        any        = any || row->is_compared || row->why;
    }
    return any ? CLI_OK
               : cli_fail(NULL, "%s and %s have no outputs that can be compared: all are random, or there are none",
                          c->got.path, c->want.path);
}

static int compare_with(const Cli *cli, HoloPool *pool, Comparison *c)
{
    bool compiles = cli_option(cli, "compile") != NULL;
    int  result   = read_tolerance(cli, &c->tolerance);
    if (!result) result = side_open(cli, 0, compiles, pool, &c->got);
    if (!result) result = side_open(cli, 1, compiles, pool, &c->want);
    if (!result) result = check_sides(cli, c);
    if (result) return result;
    c->got.wants_nodes = c->want.wants_nodes = cli_option(cli, "nodes") != NULL;
    const char *samples                      = cli_option(cli, "samples");
    result                                   = samples ? run_samples(c, samples) : run_once(c);
    return result ? result : judge(c);
}

static int compare(Cli *cli)
{
    HoloError  error  = {0};
    Comparison c      = {.cli = cli};
    HoloPool  *pool   = NULL;
    HoloStatus status = cli_pool(&pool, &error);
    int        result = status ? cli_fail_error(NULL, &error, status) : compare_with(cli, pool, &c);
    if (!result && cli_option(cli, "json"))
        print_json(&c);
    else if (!result && !cli_option(cli, "quiet"))
        print_text(&c);
    side_close(&c.got);
    side_close(&c.want);
    holo_pool_destroy(pool);
    return result ? CLI_USAGE : c.differs ? CLI_FAILED : CLI_OK; // like diff and cmp
}

static const CliOption options[] = {
    CLI_OPTION_INPUT,
    CLI_OPTIONS_IMAGE,
    {"samples", 0, "FILE|DIR", "many inputs: .npz files, or folders of files named after\nthe inputs",
     .without = "input input-shape"},
    CLI_OPTION_SHAPE,
    {"nodes", 0, NULL, "also compare the results of inner nodes, by name"},
    {"tolerance", 0, "R", "how much an output may differ, as a fraction of its\nlargest value (default 1e-3)",
     .without = "rtol atol"},
    {"rtol", 0, "R", "judge each element: it may differ by A + R * |expected|\n(R is 1e-3 if only --atol is given)"},
    {"atol", 0, "A", "the A of --rtol (1e-7 if only --rtol is given)"},
    {"compile", 0, NULL, "compile models in memory and run them, instead of using\nthe reference implementations"},
    {"numeric", 0, "CLASS", "fused (default, fastest) or exact; needs --compile", .with = "compile"},
    CLI_OPTION_THREADS,
    {"json", 0, NULL, "print JSON", .without = "quiet"},
    {"quiet", 'q', NULL, "print nothing; only set the exit status"},
    {0},
};

const CliCommand cli_compare = {
    .name      = "compare",
    .purpose   = "compare the outputs of two archives, models or sets of tensors",
    .arguments = "A B",
    .arg_min   = 2,
    .arg_max   = 2,
    .details =
        "A and B are archives, models, or tensors. Tensors are one file, or a folder of .npy files named\n"
        "after the outputs, as `hologram run -o DIR` or another engine writes them. A model is computed with\n"
        "the reference implementations. Both sides get the same inputs, made up if you give none. B has the\n"
        "expected values. It prints the worst difference and where it is, its size relative to the largest\n"
        "value, the cosine similarity, and in how many rows the largest element is the same. Exit status 0: the outputs\n"
        "agree; 1: they do not; 2: they could not be compared.",
    .examples = "  hologram compare net.holo net.onnx\n"
                "  hologram compare int8.holo f32.holo --samples photos --tolerance 0.05\n"
                "  hologram compare net.holo other_engine --input x=x.npy --rtol 1e-3 --atol 1e-5\n"
                "  hologram compare net.holo net.onnx --nodes --json\n",
    .options  = options,
    .run      = compare,
};
