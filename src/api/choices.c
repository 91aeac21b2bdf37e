// choices.c - do the choices of a compile fit each other? A choice that nothing would use is an error.
#include "api/compiling.h"
#include "api/quantizing.h"

#include "base/system.h"

#include <math.h>

static bool has_centroids(const HoloCompiler *c)
{
    return c->quantize == HOLO_QUANTIZE_CENTROIDS;
}

static bool has_percentile(const HoloCompiler *c)
{
    return c->ranges == HOLO_RANGES_PERCENTILE;
}

static bool verifies(const HoloCompiler *c)
{
    return c->verify;
}

static HoloStatus fit(const HoloCompiler *c, const HoloCompiler *defaults, HoloError *error)
{
    const struct {
        bool is_chosen;
        bool (*is_used)(const HoloCompiler *c);
        const char *words;
    } rules[] = {
        {c->calibration || c->sample_count, holo_compiler_quantizes,
         "samples to calibrate with are given, but nothing is quantized"},
        {c->accuracy != defaults->accuracy, holo_compiler_quantizes, "an accuracy is given, but nothing is quantized"},
        {c->judge != NULL, holo_compiler_quantizes, "a judge of accuracy is given, but nothing is quantized"},
        {c->only_if_faster, holo_compiler_quantizes, "only_if_faster is set, but nothing is quantized"},
        {c->activations != defaults->activations, holo_compiler_quantizes_int8,
         "a way to quantize activations is given, but only int8 quantizes them"},
        {c->ranges != defaults->ranges, holo_compiler_quantizes_int8,
         "a way to find ranges is given, but only int8 needs ranges"},
        {c->percentile != defaults->percentile, has_percentile,
         "a percentile is given, but ranges are not found by percentile"},
        {c->centroids != 0, has_centroids, "a number of centroids is given, but nothing is quantized to centroids"},
        {c->strict, verifies, "strict needs verification, but verification is turned off"},
        {c->verify_count != 0, verifies, "inputs to verify with are given, but verification is turned off"},
    };
    for (int i = 0; i < HOLO_COUNT(rules); i++)
        if (rules[i].is_chosen && !rules[i].is_used(c))
            return holo_fail(error, HOLO_BAD_ARGUMENT, "%s", rules[i].words);
    return HOLO_OK;
}

HoloStatus holo_compile_check(const HoloCompile *c)
{
    HoloCompiler defaults;
    holo_compiler_defaults(&defaults);
    HOLO_TRY(fit(c->compiler, &defaults, c->error));
    HOLO_TRY(holo_targets_check(c->compiler, c->error));
    if (isnan(c->compiler->relative) || isnan(c->compiler->absolute))
        return holo_fail(c->error, HOLO_BAD_ARGUMENT, "a tolerance is NaN, but must be a number, for example 1e-3");
    if (c->out_path && !c->bytes.data && holo_path_same(c->path, c->out_path))
        return holo_fail(c->error, HOLO_BAD_ARGUMENT,
                         "the archive would replace the model %s: give it a name of its own", c->path);
    return HOLO_OK;
}
