// quantizing.c - see quantizing.h.
#include "quantizing.h"
#include "judging.h"
#include "prepared.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- choices

static const char *const      kinds[]   = {"f32",  "int8", "int4", "f16",  "bf16", "w8",   "q8_0", "q4_0",
                                           "q4_1", "q5_0", "q5_1", "q4_k", "q5_k", "q6_k", NULL};
static const HoloQuantizeKind kind_of[] = {
    HOLO_QUANTIZE_NONE, HOLO_QUANTIZE_INT8, HOLO_QUANTIZE_INT4, HOLO_QUANTIZE_F16,  HOLO_QUANTIZE_BF16,
    HOLO_QUANTIZE_W8,   HOLO_QUANTIZE_Q8_0, HOLO_QUANTIZE_Q4_0, HOLO_QUANTIZE_Q4_1, HOLO_QUANTIZE_Q5_0,
    HOLO_QUANTIZE_Q5_1, HOLO_QUANTIZE_Q4_K, HOLO_QUANTIZE_Q5_K, HOLO_QUANTIZE_Q6_K};
static const char *const activations[] = {"default", "static", "dynamic", NULL};
static const char *const ranges[]      = {"mse", "minmax", "percentile", "entropy", NULL};

static const char *in_one(const char *const *words)
{
    char *text = cli_format("%s", words[0]);
    for (int i = 1; words[i]; i++) text = cli_format("%s %s", text, words[i]);
    return text;
}

const char *cli_quantize_types(void)
{
    return in_one(kinds + 1);
}

const char *cli_quantize_ranges(void)
{
    return in_one(ranges);
}

// The number of a word in a list from `first` on; *out stays where there is none.
static int read_word(const Cli *cli, const char *option, const char *text, const char *const *words, int first,
                     int *out)
{
    if (!text) return CLI_OK;
    for (int i = first; words[i]; i++)
        if (!strcmp(words[i], text)) {
            *out = i;
            return CLI_OK;
        }
    char *list = cli_format("%s", words[first]);
    for (int i = first + 1; words[i]; i++) list = cli_format("%s%s%s", list, words[i + 1] ? ", " : " or ", words[i]);
    const char *nearest = cli_nearest(text, words + first);
    return nearest ? cli_usage(cli, "--%s %s: did you mean %s? Expected %s", option, text, nearest, list)
                   : cli_usage(cli, "--%s %s: expected %s", option, text, list);
}

static bool read_number(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end;
}

// A number is how much must be right, anything else a command that says how good outputs are.
static int read_accuracy(const Cli *cli, HoloCompiler *compiler)
{
    const char *text = cli_option(cli, "accuracy"), *drop = cli_option(cli, "max-drop");
    HoloError   error = {0};
    double      number, most = 0.01;
    bool        is_number = text && read_number(text, &number);
    if (drop && (!text || is_number))
        return cli_usage(cli, "--max-drop needs a command: --accuracy COMMAND --max-drop %s", drop);
    if (drop && (!read_number(drop, &most) || !(most >= 0)))
        return cli_usage(cli, "--max-drop %s: expected a number that is not negative, for example 0.01", drop);
    if (text && !text[strspn(text, " \t")]) return cli_usage(cli, "--accuracy: expected a number or a command");
    if (text && !is_number) holo_compiler_set_judge(compiler, cli_judge, cli_format("%s", text), most);
    char unit;
    if (text && !is_number && sscanf(text, "%lf %c", &number, &unit) == 2 && unit == '%' && !strchr(text, '%')[1])
        return cli_usage(cli, "--accuracy %s: expected a number from 0 to 1, for example %g, or a command", text,
                         number / 100);
    return is_number && holo_compiler_set_accuracy(compiler, number, &error)
               ? cli_usage(cli, "--accuracy %s: %s", text, error.text)
               : CLI_OK;
}

// "percentile:99.9", or a word alone.
static int read_ranges(const Cli *cli, HoloCompiler *compiler, int *out)
{
    const char *text = cli_option(cli, "ranges"), *colon = text ? strchr(text, ':') : NULL;
    HoloError   error  = {0};
    double      number = 0;
    int result = read_word(cli, "ranges", colon ? cli_format("%.*s", (int)(colon - text), text) : text, ranges, 0, out);
    if (result || !colon) return result;
    if (*out != HOLO_RANGES_PERCENTILE)
        return cli_usage(cli, "--ranges %s: only percentile takes a number, for example percentile:99.9", text);
    if (!read_number(colon + 1, &number)) number = NAN;
    return holo_compiler_set_percentile(compiler, number, &error) ? cli_usage(cli, "--ranges %s: %s", text, error.text)
                                                                  : CLI_OK;
}

// "int8,Gather=f16,/head/*=f32": a type for all layers, and others for those that fit a pattern.
static int read_kinds(const Cli *cli, HoloCompiler *compiler, int *out)
{
    const char *text = cli_option(cli, "quantize");
    bool        has  = false;
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const char *part = cli_format("%.*s", (int)strcspn(at, ","), at), *equals = strrchr(part, '=');
        HoloError   error = {0};
        int         kind  = 0;
        if (!*part) return cli_usage(cli, "--quantize %s: a type is missing beside a comma", text);
        int result =
            read_word(cli, "quantize", equals ? equals + 1 : part, kinds, equals || strchr(text, '=') ? 0 : 1, &kind);
        if (result) return result;
        if (!equals && has) return cli_usage(cli, "--quantize %s: it names two types for all layers", text);
        has = has || !equals;
        if (!equals) *out = kind_of[kind];
        if (equals &&
            holo_compiler_add_quantize(compiler, cli_format("%.*s", (int)(equals - part), part), kind_of[kind], &error))
            return cli_usage(cli, "--quantize %s: %s", text, error.text);
    }
    return CLI_OK;
}

// Options of int8 alone, and of static activations alone.
static int check_used(const Cli *cli, int how)
{
    const char *kind = cli_option(cli, "quantize"), *ranges_of = cli_option(cli, "ranges");
    bool        is_static = how == HOLO_ACTIVATIONS_STATIC || (!how && cli_option(cli, "calibrate"));
    if (kind && !strstr(kind, "int8") && (how || ranges_of))
        return cli_usage(cli, "--%s needs --quantize int8: %s does not quantize activations",
                         how ? "activations" : "ranges", kind);
    if (ranges_of && !is_static)
        return cli_usage(cli, "--ranges needs static activations: give --calibrate, or --activations static");
    return CLI_OK;
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
    int       result = read_kinds(cli, compiler, &kind);
    if (!result) result = read_centroids(cli, compiler, &kind);
    if (!result) result = read_word(cli, "activations", cli_option(cli, "activations"), activations, 1, &how);
    if (!result) result = read_ranges(cli, compiler, &range);
    if (!result) result = check_used(cli, how);
    if (!result) result = read_accuracy(cli, compiler);
    if (result) return result;
    if (!how && cli_option(cli, "ranges")) how = HOLO_ACTIVATIONS_STATIC; // of all layers
    holo_compiler_set_quantize(compiler, (HoloQuantizeKind)kind);
    holo_compiler_set_activations(compiler, (HoloActivations)how, (HoloRanges)range);
    holo_compiler_set_only_if_faster(compiler, cli_option(cli, "only-if-faster") != NULL);
    const char *samples;
    result = cli_prepare(cli, compiler, cli_option(cli, "calibrate"), &samples);
    if (result) return result;
    HoloStatus status = holo_compiler_set_calibration(compiler, samples, &error);
    return status ? cli_fail_error(NULL, &error, status) : CLI_OK;
}

// ---- what came of it

static uint64_t bytes_of(const HoloQuantizationReport *r, bool after)
{
    uint64_t sum = 0;
    for (int i = 0; i < r->layer_count; i++) sum += after ? r->layers[i].bytes_after : r->layers[i].bytes_before;
    return sum;
}

// One reason for each kind of layers that are not what was asked for.
static void print_others(FILE *out, const HoloQuantizationReport *r)
{
    for (int i = 0; i < r->layer_count; i++) {
        const HoloLayerReport *a    = &r->layers[i];
        int                    same = 0;
        bool                   seen = !a->why;
        for (int k = 0; k < r->layer_count && !seen; k++) {
            const HoloLayerReport *b     = &r->layers[k];
            bool                   equal = b->why && !strcmp(b->why, a->why) && !strcmp(b->type, a->type);
            seen                         = equal && k < i;
            same += equal;
        }
        bool stays = !strcmp(a->type, "f32");
        if (!seen)
            cli_row(out, stays ? "kept" : "", "%d layer%s%s%s: %s", same, same == 1 ? "" : "s",
                    stays       ? ""
                    : same == 1 ? " is "
                                : " are ",
                    stays ? "" : a->type, a->why);
    }
}

void cli_quantize_print(FILE *out, const HoloQuantizationReport *r)
{
    CliText a, b;
    if (!r->kind) return;
    cli_row(out, strcmp(r->kind, "centroids") ? "quantized" : "approximated",
            "%d of %d layers to %s%s; their weights take %s instead of %s", r->narrow_count, r->layer_count, r->kind,
            !r->integer_count ? ""
            : r->is_static    ? ", static activations"
                              : ", dynamic activations",
            cli_bytes(&a, (double)bytes_of(r, true)), cli_bytes(&b, (double)bytes_of(r, false)));
    if (r->integer_count && !r->is_static && r->is_seeded)
        cli_row(out, "", "without samples, each run computes the scales of activations; see --calibrate");
    if (r->was_kept) cli_row(out, "", "the model is unchanged: quantizing does not make it faster");
    if (r->before_run > 0)
        cli_row(out, "speed", "%s per run instead of %s, %.2f times as fast", cli_seconds(&a, r->after_run),
                cli_seconds(&b, r->before_run), r->before_run / r->after_run);
    const char *asked = isnan(r->score_before) ? cli_format(" (%.9g was asked for)", r->target) : "";
    cli_row(out, "accuracy", "%s%.5f%s%s, cosine %.5f, worst %.2g, on %d %ssample%s", cli_color(out, "green"),
            r->accuracy, cli_color(out, "reset"), asked, r->cosine, r->worst, r->samples,
            r->is_seeded ? "made-up " : "", r->samples == 1 ? "" : "s");
    if (!isnan(r->top1))
        cli_row(out, "", "the largest element is the same in %.2f %% of %lld row%s", 100 * r->top1,
                (long long)r->top1_rows, r->top1_rows == 1 ? "" : "s");
    if (!isnan(r->score_before))
        cli_row(out, "judged", "%.6g instead of %.6g (at most %.6g less was asked for)", r->score_after,
                r->score_before, r->max_drop);
    print_others(out, r);
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
    json_number(json, "worst", r->worst);
    json_number(json, "top1", r->top1);
    json_int(json, "top1_rows", r->top1_rows);
    json_number(json, "score_before", r->score_before);
    json_number(json, "score_after", r->score_after);
    json_number(json, "max_drop", r->max_drop);
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
