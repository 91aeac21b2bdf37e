// text_input.h - texts as inputs: a model with its tokenizer, which is run on one text at a time.
#ifndef HOLO_CLI_TEXT_INPUT_H
#define HOLO_CLI_TEXT_INPUT_H

#include "loading.h"

#include "hologram_text.h"

#define CLI_OPTION_MAX_LENGTH                                                                       \
    {                                                                                               \
        "max-length", 0, "N", "cut texts to this many tokens (default: as many as the model takes)" \
    }

typedef struct CliReader { // zero-initialize; close it in any case
    const char    *path;
    HoloModel     *model;
    HoloPool      *pool;
    HoloSession   *session;
    HoloTokenizer *tokenizer;  // NULL: there is none
    int64_t        max_length; // of a text, in tokens; 0: any
    uint32_t       pad;
    uint32_t      *ids; // of the text that was read last
    int64_t        count;
    int64_t        first, end; // of them without the special tokens around the text
    double        *numbers;    // of the input that is being made
    void         **data;       // of each input
    int64_t        room;       // for tokens
} CliReader;

// Opens the argument `arg`: an archive, or a model, which is compiled in memory.
int  cli_reader_open(const Cli *cli, int arg, CliReader *out);
void cli_reader_close(CliReader *r);
// Fails if the model cannot read texts.
int cli_reader_check(const CliReader *r);
// Runs the model on a text.
int cli_reader_run(CliReader *r, HoloString text);
// What the last run gave: the first output of these names (the last one is NULL) that the model has. False: none of them.
bool cli_reader_output(const CliReader *r, const char *const *names, HoloTensor *out);
// The names of the inputs, or of the outputs, for messages.
const char *cli_port_names(const HoloModel *model, bool inputs);

// The texts that the arguments from `first` on give. One that is - gives each line of the standard input, and so do no
// arguments.
HoloString *cli_texts(const Cli *cli, int first, int *out_count);

#endif
