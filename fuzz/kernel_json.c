// kernel_json.c - fuzzes the reader of the JSON form of kernels, and the compiler behind it.
#include "lang/lang.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloArena          arena  = {0};
    HoloError          error  = {0};
    HoloKernelSource   source = {"fuzz", (const char *)data, size};
    HoloAstModule      module;
    HoloKernelProgram *kernels;
    int                count;
    HoloStatus         status = holo_parse_json(&arena, &source, &module, &error);
    if (!status) status = holo_kernel_compile(&arena, &module, 0, &kernels, &count, &error);
    if (status && !error.text[0]) abort();
    holo_arena_deinit(&arena);
    return 0;
}
