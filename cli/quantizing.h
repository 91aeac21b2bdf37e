// quantizing.h - for `hologram compile`: what --quantize and its relatives choose, and what came of it.
#ifndef HOLO_CLI_QUANTIZING_H
#define HOLO_CLI_QUANTIZING_H

#include "json.h"

// Rows for the table of options.
#define CLI_OPTIONS_QUANTIZE                                                                                                                                                                                                                                         \
    {"quantize", 0, "TYPE[,P=TYPE...]",                                                                                                                                                                                                                              \
     "make weights narrower: int8 (activations, too), w8 (int8\nweights alone), int4, f16, bf16, or blocks: q8_0, q6_k,\nq5_k, q4_k, q5_1, q5_0, q4_1, q4_0; P=TYPE gives layers\nwhose operator or name matches the pattern P another type,\nor f32 to leave them", \
     .without = "approx"},                                                                                                                                                                                                                                           \
        {"calibrate", 0, "FILE|DIR",                                                                                                                                                                                                                                 \
         "samples of the inputs, to find scales and to measure\naccuracy: .npz, .npy, pictures, numbers as text, or folders\nof these (default: made up from a seed)",                                                                                               \
         .with = "quantize approx"},                                                                                                                                                                                                                                 \
        {"accuracy", 0, "A|COMMAND",                                                                                                                                                                                                                                 \
         "how much of the outputs must be right on the samples\n(default 0.99); or a command that gets a folder of\noutputs and prints how good they are",                                                                                                           \
         .with = "quantize approx"},                                                                                                                                                                                                                                 \
        {"max-drop", 0, "D", "how much lower the number of the command may be\n(default 0.01)", .with = "accuracy"},                                                                                                                                                 \
        {"activations",                                                                                                                                                                                                                                              \
         0,                                                                                                                                                                                                                                                          \
         "HOW",                                                                                                                                                                                                                                                      \
         "static (scales found on the samples) or dynamic (found in\neach run); default: dynamic, but static for convolutions\nif --calibrate is given",                                                                                                             \
         .choices = "static dynamic",                                                                                                                                                                                                                                \
         .with    = "quantize"},                                                                                                                                                                                                                                        \
        {"ranges", 0, "HOW",                                                                                                                                                                                                                                         \
         "for static activations: mse (default, cuts where errors are\nleast), minmax, percentile[:99.9] or entropy",                                                                                                                                                \
         .with = "quantize"},                                                                                                                                                                                                                                        \
        {"approx", 0, "K",                                                                                                                                                                                                                                           \
         "replace each group of 8 numbers that MatMul and Gemm read\nby the nearest of K typical groups (centroids), found on\nthe --calibrate samples"},                                                                                                            \
    {                                                                                                                                                                                                                                                                \
        "only-if-faster", 0, NULL,                                                                                                                                                                                                                                   \
            "keep the model unchanged if quantizing does not make it\nfaster, measured on this machine",                                                                                                                                                             \
            .with = "quantize approx"                                                                                                                                                                                                                                \
    }

// Returns CLI_OK, or another exit status after a message.
int  cli_quantize_choose(const Cli *cli, HoloCompiler *compiler);
void cli_quantize_print(FILE                         *out,
                        const HoloQuantizationReport *report); // rows of the report; none where nothing was asked
void cli_quantize_layers(FILE *out, const HoloQuantizationReport *report);
// What to complete --quantize and --ranges with, separated by spaces.
const char *cli_quantize_types(void);
const char *cli_quantize_ranges(void);
void        cli_quantize_json(Json *json, const HoloQuantizationReport *report);

#endif
