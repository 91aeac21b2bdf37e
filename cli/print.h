// print.h - marks in printed text that print.c replaces by terminal codes.
#ifndef HOLO_CLI_PRINT_H
#define HOLO_CLI_PRINT_H

#include "cli.h"

// What stands for a code of terminals in what is printed: of a color, "begin line" or "end line".
const char *cli_mark(const char *name);

#endif
