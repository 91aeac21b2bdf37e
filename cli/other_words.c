// other_words.c - what other programs call our commands and options, for the advice in messages.
#include "cli.h"

#include <string.h>

typedef struct Other {
    const char *theirs, *ours;
} Other;

static const Other commands[] = {
    {"analyze", "inspect"},
    {"benchmark", "bench"},
    {"build", "compile"},
    {"check", "verify"},
    {"diff", "compare"},
    {"download", "pull"},
    {"draw", "graph"},
    {"export", "convert"},
    {"infer", "run"},
    {"info", "inspect"},
    {"list", "ops"},
    {"optimize", "compile"},
    {"perf", "bench"},
    {"perf_test", "bench"},
    {"plot", "graph"},
    {"predict", "run"},
    {"profile", "bench --profile FILE.json"},
    {"quantize", "compile --quantize TYPE"},
    {"show", "inspect"},
    {"tune", "compile --tune"},
    {"visualize", "graph"},
};

// Of rows with the same word, the first whose option the command has counts.
static const Other options[] = {
    {"backend", "device NAME"},
    {"backend", "target NAMES"},
    {"batch", "input-shape NAME:DIMS"},
    {"batch-size", "input-shape NAME:DIMS"},
    {"batchsize", "input-shape NAME:DIMS"},
    {"bf16", "numeric bf16"},
    {"calibration-data", "calibrate DIR"},
    {"cores", "threads N"},
    {"cpus", "threads N"},
    {"cuda", "device cuda"},
    {"cuda", "target cuda"},
    {"data", "input NAME=FILE"},
    {"device", "target NAMES"},
    {"dims", "input-shape NAME:DIMS"},
    {"duration", "seconds S"},
    {"ep", "device NAME"},
    {"ep", "target NAMES"},
    {"execution-provider", "device NAME"},
    {"execution-provider", "target NAMES"},
    {"feed", "input NAME=FILE"},
    {"float16", "quantize f16"},
    {"format", "json"},
    {"fp16", "quantize f16"},
    {"gpu", "device cuda"},
    {"gpu", "target cuda"},
    {"half", "quantize f16"},
    {"image", "input NAME=FILE"},
    {"int4", "quantize int4"},
    {"int8", "quantize int8"},
    {"iterations", "times N"},
    {"iterations", "seconds S"},
    {"iters", "times N"},
    {"iters", "seconds S"},
    {"precision", "quantize TYPE"},
    {"provider", "device NAME"},
    {"provider", "target NAMES"},
    {"providers", "device NAME"},
    {"providers", "target NAMES"},
    {"repeat", "times N"},
    {"repeat", "seconds S"},
    {"runs", "times N"},
    {"runs", "seconds S"},
    {"shape", "input-shape NAME:DIMS"},
    {"shapes", "input-shape NAME:DIMS"},
    {"warmup", "seconds S"},
    {"workers", "threads N"},
};

const char *cli_other_command(const char *word)
{
    for (int i = 0; i < CLI_COUNT(commands); i++)
        if (!strcmp(commands[i].theirs, word)) return commands[i].ours;
    return NULL;
}

const char *cli_other_option(const CliCommand *command, const char *word)
{
    for (int i = 0; i < CLI_COUNT(options); i++) {
        const char *ours = options[i].ours;
        if (!strcmp(options[i].theirs, word) &&
            cli_has_option(command, cli_format("%.*s", (int)strcspn(ours, " "), ours)))
            return ours;
    }
    return NULL;
}
