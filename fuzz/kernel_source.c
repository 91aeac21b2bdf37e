// kernel_source.c - fuzzes the front ends of the kernel language and all that is behind them, down to the program. The
// first byte chooses the language: '#' C, all others Python, of which it is part.
#include "lang/lang.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloArena          arena  = {0};
    HoloError          error  = {0};
    HoloKernelLanguage how    = size && data[0] == '#' ? HOLO_LANGUAGE_C : HOLO_LANGUAGE_PYTHON;
    HoloKernelSource   source = {"fuzz", (const char *)data, size};
    HoloAstModule      module;
    HoloKernelProgram *kernels;
    int                count;
    HoloStatus         status = holo_kernel_parse(&arena, &source, how, &module, &error);
    if (!status) status = holo_kernel_compile(&arena, &module, 0, &kernels, &count, &error);
    if (status && !error.text[0]) abort();
    // what compiles can be written as JSON, and that compiles to the same
    if (!status) {
        const char *json = holo_ast_to_json(&arena, &module);
        if (json) {
            HoloKernelSource   again = {"json", json, __builtin_strlen(json)};
            HoloKernelProgram *twins;
            int                twin_count;
            if (holo_kernel_parse(&arena, &again, HOLO_LANGUAGE_JSON, &module, &error) ||
                holo_kernel_compile(&arena, &module, 0, &twins, &twin_count, &error) || twin_count != count)
                abort();
            for (int i = 0; i < count; i++)
                if (twins[i].program.count != kernels[i].program.count) abort();
        }
    }
    holo_arena_deinit(&arena);
    return 0;
}
