// kernel_files.h - hologram compile of kernels.
#ifndef HOLO_CLI_KERNEL_FILES_H
#define HOLO_CLI_KERNEL_FILES_H

#include "cli.h"

bool cli_is_kernels(const char *path); // a file of kernels, or a folder
int  cli_compile_kernels(const Cli *cli);

#endif
