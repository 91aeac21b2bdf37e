// tables.h - the tables of commands and options, for manual pages and shell completion.
#ifndef HOLO_CLI_TABLES_H
#define HOLO_CLI_TABLES_H

#include "cli.h"

extern const CliOption cli_common[]; // options that every command has; ended by a row without a name (options.c)
// The options of a command, followed by those that every command has, without those that it has itself. NULL: no more.
const CliOption *cli_option_at(const CliCommand *command, int index);

// All that the value of an option may be, words with a space between them; NULL: anything.
const char *cli_option_choices(const CliOption *option);
// Is the value of an option a path, alone or after an '='?
bool cli_option_is_file(const CliOption *option);
// A text in one line.
char *cli_one_line(const char *text);

// The manual page of a command, or of the program where that is NULL, as roff on stdout.
void cli_print_man(const CliCommand *command);

#endif
