// isa_binary.c - the bytes of a portable program, which may be anything.
#include "isa_program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloArena      arena = {0};
    HoloIsaProgram program;
    HoloError      error = {0};
    if (!holo_isa_decode(&arena, data, size, &program, &error)) fuzz_program(&arena, &program);
    holo_arena_deinit(&arena);
    return 0;
}
