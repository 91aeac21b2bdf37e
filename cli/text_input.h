// text_input.h - a model that reads texts, and the texts that a command is given.
#ifndef HOLO_CLI_TEXT_INPUT_H
#define HOLO_CLI_TEXT_INPUT_H

#include "loading.h"

#include "hologram_text.h"

#define CLI_OPTION_MAX_LENGTH                                                                       \
    {                                                                                               \
        "max-length", 0, "N", "cut texts to this many tokens (default: as many as the model takes)" \
    }

typedef struct CliReader { // zero-initialize; close it in any case
    const char *path;
    HoloModel  *model;
    HoloPool   *pool;
    HoloReader *reader;
} CliReader;

// Opens the argument `arg`: an archive, or a model, which is compiled in memory. The options get --max-length.
int  cli_reader_open(const Cli *cli, int arg, HoloReaderOptions *options, CliReader *out);
void cli_reader_close(CliReader *r);
// Says what failed. What was asked for wrongly is a mistake in the command.
int cli_reader_fail(const CliReader *r, const HoloError *error, HoloStatus status);

// The texts that the arguments from `first` on give. One that is - gives each line of the standard input, and so do no
// arguments.
HoloString *cli_texts(const Cli *cli, int first, int *out_count);

#endif
