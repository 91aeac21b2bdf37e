// bench_language.h - how fast a language model reads and writes.
#ifndef HOLO_CLI_BENCH_LANGUAGE_H
#define HOLO_CLI_BENCH_LANGUAGE_H

#include "cli.h"

// For bench with --prompt or --generate. Returns CLI_OK, or another exit status after a message.
int cli_bench_language(const Cli *cli);

#endif
