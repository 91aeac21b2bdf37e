// isa_program.h - what is done with any program that was accepted: text and bytes give it back, and both interpreters
// run it on memory of just the sizes they are told. It may have races, so that what they compute is not compared.
#ifndef HOLO_FUZZ_ISA_PROGRAM_H
#define HOLO_FUZZ_ISA_PROGRAM_H

#include "isa/isa.h"

#include <stdlib.h>
#include <string.h>

enum { FUZZ_ELEMENTS = 40 };

static void fuzz_args(const HoloIsaProgram *p, HoloIsaArg *args)
{
    for (int i = 0; i < p->param_count; i++) {
        HoloDtype type = (HoloDtype)p->params[i].type;
        args[i]        = (HoloIsaArg){.bits = holo_isa_bits_of_int(type, 3 + i)};
        if (p->params[i].access == HOLO_ISA_VALUE) continue;
        args[i].count = i % 5 == 4 ? 0 : FUZZ_ELEMENTS - i % 3;
        args[i].data  = malloc((size_t)args[i].count * holo_dtype_size(type) + 1);
        if (!args[i].data) abort();
        memset(args[i].data, 1 + i, (size_t)args[i].count * holo_dtype_size(type));
    }
}

static void fuzz_free(const HoloIsaProgram *p, HoloIsaArg *args)
{
    for (int i = 0; i < p->param_count; i++)
        if (p->params[i].access != HOLO_ISA_VALUE) free(args[i].data);
}

static void fuzz_run(const HoloIsaProgram *p)
{
    HoloIsaLaunch launch = {{2, 1, 1}, {9, 2, 1}, 40};
    HoloIsaArg    args[HOLO_ISA_MAX_PARAMS];
    HoloIsaCode  *code;
    HoloIsaFrame *frame;
    HoloError     error = {0};
    fuzz_args(p, args);
    (void)!holo_isa_reference(p, &launch, args, &error);
    fuzz_free(p, args);
    fuzz_args(p, args);
    if (holo_isa_code_create(p, &code, NULL)) abort();
    if (holo_isa_frame_create(code, 1, &frame, NULL)) abort();
    (void)!holo_isa_run(code, frame, NULL, &launch, args, &error);
    holo_isa_frame_destroy(frame);
    holo_isa_code_destroy(code);
    fuzz_free(p, args);
}

static void fuzz_program(HoloArena *arena, const HoloIsaProgram *p)
{
    HoloIsaProgram again;
    HoloError      error = {0};
    size_t         size, text_size;
    uint8_t       *bytes;
    const char    *text = holo_isa_print(arena, p, &text_size);
    if (!text || holo_isa_parse(arena, text, text_size, &again, &error)) abort();
    if (strcmp(text, holo_isa_print(arena, &again, NULL))) abort();
    if (holo_isa_encode(arena, &again, &bytes, &size, &error) || holo_isa_decode(arena, bytes, size, &again, &error))
        abort();
    if (strcmp(text, holo_isa_print(arena, &again, NULL))) abort();
    fuzz_run(p);
}

#endif
