// judging.h - for `hologram compile --accuracy COMMAND`: outputs of a plan, written as files and judged by a command.
#ifndef HOLO_CLI_JUDGING_H
#define HOLO_CLI_JUDGING_H

#include "hologram_compiler.h"

// A HoloJudgeFn; the context is the command. Outputs are written to a new folder, as 0000/NAME.npy for the first
// sample, with _ for / in names. The folder is the command's last argument. The command must print a number as its last
// word.
HoloStatus cli_judge(void *command, const HoloOutputs *outputs, double *out_score, HoloError *error);

#endif
