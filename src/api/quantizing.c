// quantizing.c - see quantizing.h.
#include "api/quantizing.h"

#include "api/calibration.h"

#include <string.h>

// ---- choices

void holo_compiler_set_quantize(HoloCompiler *compiler, HoloQuantizeKind kind)
{
    compiler->quantize = kind;
}

HoloStatus holo_compiler_add_quantize(HoloCompiler *compiler, const char *pattern, HoloQuantizeKind kind,
                                      HoloError *error)
{
    if (kind == HOLO_QUANTIZE_CENTROIDS || !*pattern)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "%s",
                         *pattern ? "centroids can only be used for all layers" : "a pattern of layers is empty");
    if (compiler->quantize_rule_count == HOLO_QUANTIZE_RULES_MAX)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "there are more than %d patterns of layers",
                         HOLO_QUANTIZE_RULES_MAX);
    for (int i = 0; i < compiler->quantize_rule_count; i++)
        if (!strcmp(compiler->quantize_rules[i].pattern, pattern))
            return holo_fail(error, HOLO_BAD_ARGUMENT, "the pattern %s is given twice", pattern);
    HoloQuantizeRule *rule = &compiler->quantize_rules[compiler->quantize_rule_count];
    *rule                  = (HoloQuantizeRule){holo_arena_text(&compiler->arena, pattern, strlen(pattern)), kind};
    if (!rule->pattern) return holo_fail_memory(error);
    compiler->quantize_rule_count++;
    return HOLO_OK;
}

HoloStatus holo_compiler_set_percentile(HoloCompiler *compiler, double percent, HoloError *error)
{
    if (!(percent > 50 && percent <= 100))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "a percentile is a number above 50 and up to 100, for example 99.9");
    compiler->percentile = percent;
    return HOLO_OK;
}

void holo_compiler_set_judge(HoloCompiler *compiler, HoloJudgeFn judge, void *context, double max_drop)
{
    compiler->judge         = judge;
    compiler->judge_context = context;
    compiler->max_drop      = max_drop;
}

void holo_compiler_set_activations(HoloCompiler *compiler, HoloActivations activations, HoloRanges ranges)
{
    compiler->activations = activations;
    compiler->ranges      = ranges;
}

HoloStatus holo_compiler_set_calibration(HoloCompiler *compiler, const char *path, HoloError *error)
{
    compiler->calibration = path ? holo_arena_text(&compiler->arena, path, strlen(path)) : NULL;
    return path && !compiler->calibration ? holo_fail_memory(error) : HOLO_OK;
}

HoloStatus holo_compiler_set_accuracy(HoloCompiler *compiler, double accuracy, HoloError *error)
{
    if (!(accuracy >= 0 && accuracy <= 1))
        return holo_fail(error, HOLO_BAD_ARGUMENT, "an accuracy is a number from 0 to 1, for example 0.99");
    compiler->accuracy = accuracy;
    return HOLO_OK;
}

HoloStatus holo_compiler_set_centroids(HoloCompiler *compiler, int count, HoloError *error)
{
    if (count < 2 || count > 256)
        return holo_fail(error, HOLO_BAD_ARGUMENT, "the number of centroids must be from 2 to 256, for example 16");
    compiler->centroids = count;
    return HOLO_OK;
}

void holo_compiler_set_only_if_faster(HoloCompiler *compiler, bool on)
{
    compiler->only_if_faster = on;
}

// ---- doing it

static void progress(void *context, double fraction)
{
    holo_compiler_progress(context, "quantizing", 0.1 * fraction);
}

static HoloQuantizeKind kind_of(const HoloCompiler *compiler) // of layers that no rule fits
{
    bool is_bf16 = holo_compiler_is_bf16(compiler) && !compiler->quantize;
    return is_bf16 ? HOLO_QUANTIZE_BF16 : compiler->quantize;
}

static HoloStatus quantize_with(const HoloCompiler *compiler, HoloGraph *graph, const HoloPassOptions *passes,
                                HoloPool *pool, const HoloSamples *samples, HoloReportBox *box, HoloGraph **out_graph,
                                HoloError *error)
{
    HoloQuantization    made;
    HoloQuantizeOptions options = {
        .kind       = kind_of(compiler),
        .rules      = compiler->quantize_rules,
        .rule_count = compiler->quantize_rule_count,
        .is_static  = compiler->activations == HOLO_ACTIVATIONS_STATIC ||
                     (compiler->activations == HOLO_ACTIVATIONS_DEFAULT && holo_calibration_is_given(compiler)),
        .is_mixed       = compiler->activations == HOLO_ACTIVATIONS_DEFAULT,
        .ranges         = compiler->ranges,
        .percentile     = compiler->percentile,
        .judge          = compiler->judge,
        .judge_context  = compiler->judge_context,
        .max_drop       = compiler->max_drop,
        .centroids      = compiler->centroids ? compiler->centroids : 16,
        .accuracy       = compiler->accuracy,
        .seconds        = 60,
        .only_if_faster = compiler->only_if_faster,
        .samples        = samples,
        .passes         = passes,
        .pool           = pool,
        .progress       = progress,
        .context        = (void *)(uintptr_t)compiler,
    };
    HOLO_TRY(holo_quantize(graph, &options, &box->arena, &made, error));
    *out_graph                         = made.graph;
    box->report.quantization           = made.report;
    box->report.quantization.is_seeded = !holo_calibration_is_given(compiler);
    return HOLO_OK;
}

bool holo_compiler_quantizes_int8(const HoloCompiler *compiler)
{
    bool has = compiler->quantize == HOLO_QUANTIZE_INT8;
    for (int i = 0; i < compiler->quantize_rule_count; i++)
        has = has || compiler->quantize_rules[i].kind == HOLO_QUANTIZE_INT8;
    return has;
}

bool holo_compiler_quantizes(const HoloCompiler *compiler)
{
    return compiler->quantize || compiler->quantize_rule_count || holo_compiler_is_bf16(compiler);
}

HoloStatus holo_compiler_quantize(const HoloCompiler *compiler, HoloGraph *graph, const HoloPassOptions *passes,
                                  HoloPool *pool, HoloReportBox *box, HoloGraph **out_graph, HoloGraph **out_reference,
                                  HoloError *error)
{
    HoloCalibration calibration = {0};
    if (holo_compiler_quantizes_int8(compiler) && compiler->numeric == HOLO_EXACT)
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "int8 computes with integers, which class exact does not allow: choose class fused, or "
                         "another type");
    if (compiler->quantize == HOLO_QUANTIZE_CENTROIDS && !holo_calibration_is_given(compiler))
        return holo_fail(error, HOLO_BAD_ARGUMENT,
                         "centroids need real inputs: give samples to calibrate with (--calibrate)");
    HoloStatus status = holo_calibration_read(&calibration, graph, compiler, error);
    if (!status) status = quantize_with(compiler, graph, passes, pool, &calibration.samples, box, out_graph, error);
    if (!status && !(*out_reference = holo_graph_copy(*out_graph, graph->arena))) status = holo_fail_memory(error);
    holo_calibration_deinit(&calibration);
    return status;
}
