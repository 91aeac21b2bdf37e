// quantizing.h - for `hologram compile`: what --quantize and its relatives choose, and what came of it.
#ifndef HOLO_CLI_QUANTIZING_H
#define HOLO_CLI_QUANTIZING_H

#include "json.h"

// Rows for the table of options.
#define CLI_OPTIONS_QUANTIZE                                                                                                                                         \
    {"quantize", 0, "TYPE[,P=TYPE...]",                                                                                                                              \
     "make weights narrower: int8 (activations, too), int4, f16,\nbf16 or w8; layers whose operator or name fits the pattern\nP may have another type, or stay f32", \
     .without = "approx"},                                                                                                                                           \
        {"calibrate", 0, "FILE.npz|DIR",                                                                                                                             \
         "samples of the inputs, to find scales and measure\naccuracy with; else some are made up from a seed",                                                      \
         .with = "quantize approx"},                                                                                                                                 \
        {"accuracy", 0, "A|COMMAND",                                                                                                                                 \
         "how much of the outputs must be right on the samples,\nas 0.995; else 0.99. Or a command that prints how good\nthose in a folder are",                     \
         .with = "quantize approx"},                                                                                                                                 \
        {"max-drop", 0, "D", "how much less the command may print; else 0.01", .with = "accuracy"},                                                                  \
        {"activations", 0, "HOW",                                                                                                                                    \
         "static (scales found on the samples) or dynamic (in each\nrun); else dynamic, and with --calibrate static where\nconvolutions are",                        \
         .with = "quantize"},                                                                                                                                        \
        {"ranges", 0, "HOW",                                                                                                                                         \
         "of static activations: mse (cut where errors are least),\nminmax, percentile[:99.9] or entropy; else mse",                                                 \
         .with = "quantize"},                                                                                                                                        \
        {"approx", 0, "K",                                                                                                                                           \
         "take each 8 numbers that MatMul and Gemm read for the nearest\nof K centroids, found on --calibrate: an approximation"},                                   \
    {                                                                                                                                                                \
        "only-if-faster", 0, NULL, "leave the model as it is where quantizing makes it no\nfaster: measured here",                                                   \
            .with = "quantize approx"                                                                                                                                \
    }

// Returns CLI_OK, or another exit status after a message.
int  cli_quantize_choose(const Cli *cli, HoloCompiler *compiler);
void cli_quantize_print(FILE                         *out,
                        const HoloQuantizationReport *report); // rows of the report; none where nothing was asked
void cli_quantize_layers(FILE *out, const HoloQuantizationReport *report);
void cli_quantize_json(Json *json, const HoloQuantizationReport *report);

#endif
