// lang.h - the compiler of kernels: from a source to portable programs.
#ifndef HOLO_LANG_H
#define HOLO_LANG_H

#include "isa/isa.h"
#include "lang/ast.h"

typedef enum HoloKernelLanguage {
    HOLO_LANGUAGE_NONE,
    HOLO_LANGUAGE_PYTHON,
    HOLO_LANGUAGE_C,
    HOLO_LANGUAGE_JSON
} HoloKernelLanguage;
HoloKernelLanguage holo_kernel_language_of(const char *path); // by the end of its name: .py, .c, .json

HOLO_MUST HoloStatus holo_kernel_parse(HoloArena *arena, const HoloKernelSource *source, HoloKernelLanguage language,
                                       HoloAstModule *out, HoloError *error);

typedef struct HoloKernelProgram {   // one program: a kernel of a module, for one of its types
    const char            *name;     // "vector_add", or with a type variable "vector_add_f32"
    const HoloAstFunction *function; // lives as long as the module
    uint8_t                type;     // what the type variable stands for; HOLO_NONE: there is none
    HoloIsaProgram         program;
    const HoloSourcePlace *where; // of each of its instructions, in the source
    // How many lanes to launch: a program of the same scalars that writes one i64 behind them. Count 0: the first whole
    // number among the parameters says it.
    HoloIsaProgram lanes;
} HoloKernelProgram;

enum { HOLO_KERNEL_EXACT = 1 }; // options: a * b + c is rounded twice. Else it is one instruction, rounded once

// All programs of the module, in order. What is in `out` lives as long as the arena.
HOLO_MUST HoloStatus holo_kernel_compile(HoloArena *arena, const HoloAstModule *module, uint32_t options,
                                         HoloKernelProgram **out, int *out_count, HoloError *error);

#endif
