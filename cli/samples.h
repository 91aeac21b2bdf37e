// samples.h - inputs of many runs: files and folders, each a value for every input.
#ifndef HOLO_CLI_SAMPLES_H
#define HOLO_CLI_SAMPLES_H

#include "loading.h"

typedef struct CliSamples {
    const char **path;
    int          count;
} CliSamples;

// The samples at a path. A file is one, and a folder of files that are called like the inputs (a / in a name is a _
// there). Any other folder has many of these: folders, .npz files, and for a model of one input whatever can be one.
int cli_samples_find(const CliPorts *ports, const char *path, CliSamples *out);
// One CliInput an input. To be closed in any case.
int cli_sample_read(const Cli *cli, const CliPorts *ports, const char *path, CliInput **out_inputs);
// How a sample is called: the last part of its path, without an ending.
char *cli_sample_name(const char *path);
bool  cli_is_folder(const char *path);
// Is it a picture, numbers as text, or another file that the compiler does not take as a sample, by its ending?
bool cli_sample_is_other(const char *path);

#endif
