// kernel_args.h - arguments of kernels from the command line.
#ifndef HOLO_CLI_KERNEL_ARGS_H
#define HOLO_CLI_KERNEL_ARGS_H

#include "cli.h"

typedef struct CliKernelArg {
    HoloTensor   tensor;
    HoloTensors *file; // owns its data, or NULL: the program does
} CliKernelArg;

// The element type of an array that --arg gives for a parameter with the kernel's type variable; HOLO_NONE: there is
// none.
int cli_kernel_type(const Cli *cli, const HoloKernels *kernels, const char *function, HoloDtype *out);
// One for each parameter. With a `size`, missing arguments are made up: whole numbers named n get it, others 1, and
// arrays have as many elements as the product. Without it, they are an error.
int                      cli_kernel_args(const Cli *cli, const HoloKernelInfo *info, int64_t size, CliKernelArg **out);
void                     cli_kernel_args_free(const HoloKernelInfo *info, CliKernelArg *args);
const HoloTensor *const *cli_kernel_tensors(const HoloKernelInfo *info, const CliKernelArg *args);

#endif
