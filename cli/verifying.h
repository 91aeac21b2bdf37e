// verifying.h - for `hologram compile`: the options --verify-with and similar ones, and what verification found.
#ifndef HOLO_CLI_VERIFYING_H
#define HOLO_CLI_VERIFYING_H

#include "json.h"

// Rows for the table of options.
#define CLI_OPTIONS_VERIFY                                                                                                                              \
    {"no-verify", 0, NULL, "do not compare the plan with the model before writing it",                                                                  \
     .without = "strict verify-with"},                                                                                                                  \
        {"verify-with", 0, "INPUTS",                                                                                                                    \
         "compare on these inputs, not on made-up ones: NAME=FILE,\na .npz, a folder of .npy files, or a folder of these; may be\ngiven several times", \
         .many = true},                                                                                                                                 \
    {                                                                                                                                                   \
        "strict", 0, NULL, "fail and write nothing if the plan cannot be verified"                                                                      \
    }

int cli_verify_choose(const Cli *cli, HoloCompiler *compiler);
// The row of the table, and a line for what differs most.
void cli_verify_print(FILE *out, const HoloReport *report);
void cli_verify_json(Json *json, const HoloReport *report);
// Warns on stderr if verification was asked for and could not be done, or not for all outputs.
void cli_verify_warn(const char *model, const HoloReport *report);

#endif
