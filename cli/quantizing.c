// quantizing.c - see quantizing.h.
#include "quantizing.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- choices

static const char *const kinds[]       = {"none", "int8", "int4", "f16", "bf16", NULL};
static const char *const activations[] = {"default", "static", "dynamic", NULL};
static const char *const ranges[]      = {"mse", "minmax", NULL};

// The number of a word in a list from `first` on; *out stays where the option is not given.
static int read_word(const Cli *cli, const char *option, const char *const *words, int first, int *out)
{
    const char *text = cli_option(cli, option);
    if (!text) return CLI_OK;
    for (int i = first; words[i]; i++)
        if (!strcmp(words[i], text)) {
            *out = i;
            return CLI_OK;
        }
    char *list = cli_format("%s", words[first]);
    for (int i = first + 1; words[i]; i++) list = cli_format("%s%s%s", list, words[i + 1] ? ", " : " or ", words[i]);
    return cli_usage(cli, "--%s takes %s; '%s' is none of them", option, list, text);
}

static int read_accuracy(const Cli *cli, HoloCompiler *compiler)
{
    const char *text  = cli_option(cli, "accuracy");
    HoloError   error = {0};
    char       *end;
    if (!text) return CLI_OK;
    double accuracy = strtod(text, &end);
    if (end == text || *end) accuracy = NAN;
    return holo_compiler_set_accuracy(compiler, accuracy, &error)
               ? cli_usage(cli, "--accuracy %s: %s", text, error.text)
               : CLI_OK;
}

static int read_centroids(const Cli *cli, HoloCompiler *compiler, int *out_kind)
{
    const char *text  = cli_option(cli, "approx");
    HoloError   error = {0};
    char       *end;
    if (!text) return CLI_OK;
    long count = strtol(text, &end, 10);
    *out_kind  = HOLO_QUANTIZE_CENTROIDS;
    if (end == text || *end || count > INT_MAX || count < 0) count = 0;
    return holo_compiler_set_centroids(compiler, (int)count, &error)
               ? cli_usage(cli, "--approx %s: %s", text, error.text)
               : CLI_OK;
}

int cli_quantize_choose(const Cli *cli, HoloCompiler *compiler)
{
    int       kind = 0, how = 0, range = 0;
    HoloError error  = {0};
    int       result = read_word(cli, "quantize", kinds, 1, &kind);
    if (!result) result = read_centroids(cli, compiler, &kind);
    if (!result) result = read_word(cli, "activations", activations, 1, &how);
    if (!result) result = read_word(cli, "ranges", ranges, 0, &range);
    if (!result) result = read_accuracy(cli, compiler);
    if (result) return result;
    holo_compiler_set_quantize(compiler, (HoloQuantizeKind)kind);
    holo_compiler_set_activations(compiler, (HoloActivations)how, (HoloRanges)range);
    holo_compiler_set_only_if_faster(compiler, cli_option(cli, "only-if-faster") != NULL);
    HoloStatus status = holo_compiler_set_calibration(compiler, cli_option(cli, "calibrate"), &error);
    return status ? cli_fail_error(NULL, &error, status) : CLI_OK;
}

// ---- what came of it

static uint64_t bytes_of(const HoloQuantizationReport *r, bool after)
{
    uint64_t sum = 0;
    for (int i = 0; i < r->layer_count; i++) sum += after ? r->layers[i].bytes_after : r->layers[i].bytes_before;
    return sum;
}

void cli_quantize_print(FILE *out, const HoloQuantizationReport *r)
{
    CliText a, b;
    if (!r->kind) return;
    cli_row(out, strcmp(r->kind, "centroids") ? "quantised" : "approximated",
            "%d of %d layers to %s%s; their weights take %s instead of %s", r->narrow_count, r->layer_count, r->kind,
            strcmp(r->kind, "int8") ? ""
            : r->is_static          ? ", static activations"
                                    : ", dynamic activations",
            cli_bytes(&a, (double)bytes_of(r, true)), cli_bytes(&b, (double)bytes_of(r, false)));
    if (r->was_kept) cli_row(out, "", "the model stays as it is: quantised it is not faster");
    if (r->before_run > 0)
        cli_row(out, "speed", "%s a run instead of %s, %.2f times as fast", cli_seconds(&a, r->after_run),
                cli_seconds(&b, r->before_run), r->before_run / r->after_run);
    cli_row(out, "accuracy", "%s%.5f%s (%.5g was asked for), cosine %.5f, on %d %ssample%s", cli_color(out, "green"),
            r->accuracy, cli_color(out, "reset"), r->target, r->cosine, r->samples, r->is_seeded ? "made-up " : "",
            r->samples == 1 ? "" : "s");
    if (!isnan(r->top1))
        cli_row(out, "", "the largest element is the same in %.2f %% of %lld rows", 100 * r->top1,
                (long long)r->top1_rows);
    // One reason for each kind of layers that stay.
    for (int i = 0; i < r->layer_count; i++) {
        int  same = 0;
        bool seen = !r->layers[i].why;
        for (int k = 0; k < r->layer_count && !seen; k++) {
            bool equal = r->layers[k].why && !strcmp(r->layers[k].why, r->layers[i].why);
            seen       = equal && k < i;
            same += equal;
        }
        if (!seen) cli_row(out, "kept", "%d layer%s: %s", same, same == 1 ? "" : "s", r->layers[i].why);
    }
}

void cli_quantize_layers(FILE *out, const HoloQuantizationReport *r)
{
    if (!r->kind) return;
    fprintf(out, "\n  %-6s %-9s %-18s %9s %9s %10s %10s  %s\n", "type", "operator", "weights", "error", "loss",
            "before", "after", "layer");
    for (int i = 0; i < r->layer_count; i++) {
        const HoloLayerReport *l = &r->layers[i];
        CliText                a, b;
        char                   error[24] = "-", loss[24] = "-";
        if (!isnan(l->error)) snprintf(error, sizeof error, "%.2e", l->error);
        if (!isnan(l->loss)) snprintf(loss, sizeof loss, "%.2e", l->loss);
        fprintf(out, "  %-6s %-9s %-18s %9s %9s %10s %10s  %s%s%s\n", l->type, l->op, l->shape, error, loss,
                cli_bytes(&a, (double)l->bytes_before), cli_bytes(&b, (double)l->bytes_after), l->name,
                l->why ? ": " : "", l->why ? l->why : "");
    }
}

void cli_quantize_json(Json *json, const HoloQuantizationReport *r)
{
    if (!r->kind) return;
    json_open(json, "quantization", '{');
    json_text(json, "kind", r->kind);
    json_bool(json, "static", r->is_static);
    json_bool(json, "kept", r->was_kept);
    json_int(json, "narrow_layers", r->narrow_count);
    json_int(json, "bytes_before", (int64_t)bytes_of(r, false));
    json_int(json, "bytes_after", (int64_t)bytes_of(r, true));
    json_int(json, "samples", r->samples);
    json_bool(json, "seeded", r->is_seeded);
    json_number(json, "target", r->target);
    json_number(json, "accuracy", r->accuracy);
    json_number(json, "cosine", r->cosine);
    json_number(json, "top1", r->top1);
    json_int(json, "top1_rows", r->top1_rows);
    json_int(json, "trials", r->trials);
    json_number(json, "seconds", r->seconds);
    json_number(json, "before_run", r->before_run > 0 ? r->before_run : NAN);
    json_number(json, "after_run", r->after_run > 0 ? r->after_run : NAN);
    json_open(json, "layers", '[');
    for (int i = 0; i < r->layer_count; i++) {
        const HoloLayerReport *l = &r->layers[i];
        json_open(json, NULL, '{');
        json_text(json, "name", l->name);
        json_text(json, "op", l->op);
        json_text(json, "weights", l->shape);
        json_text(json, "type", l->type);
        json_text(json, "why", l->why);
        json_number(json, "error", l->error);
        json_number(json, "loss", l->loss);
        json_int(json, "bytes_before", (int64_t)l->bytes_before);
        json_int(json, "bytes_after", (int64_t)l->bytes_after);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}
