// judging.h - for `hologram compile --accuracy COMMAND`: outputs of a plan, written as files and judged by a command.
#ifndef HOLO_CLI_JUDGING_H
#define HOLO_CLI_JUDGING_H

#include "hologram_compiler.h"

// A HoloJudgeFn; the context is the command. Outputs are in a folder of its own, as 0000/NAME.npy for the first sample, with _
// for / in names; its path is the command's last argument. The command prints a number, last if it prints more.
HoloStatus cli_judge(void *command, const HoloOutputs *outputs, double *out_score, HoloError *error);

#endif
