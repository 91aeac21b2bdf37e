// programs.h - finds portable programs of archives by name; and the standard library, an archive that is part of the
// runtime.
#ifndef HOLO_RUNTIME_PROGRAMS_H
#define HOLO_RUNTIME_PROGRAMS_H

#include "format/holo.h"
#include "isa/isa.h"

typedef struct HoloStoredProgram { // checked; lives as long as the arena
    const char    *name, *doc;
    HoloIsaProgram program;
    HoloIsaProgram lanes; // computes how many lanes to launch: see HoloProgramRecord; count 0: there is none
    uint32_t       block[3];
} HoloStoredProgram;

// Is it a kernel that can be asked for by name, and not the program of a step?
static inline bool holo_program_is_named(const HoloArchive *archive, size_t index)
{
    return archive->STRINGS_at[archive->PROGRAMS_at[index].name];
}

// HOLO_BAD_ARGUMENT: there is no such program.
HOLO_MUST HoloStatus holo_program_find(const HoloArchive *archive, const char *name, HoloArena *arena,
                                       HoloStoredProgram *out, HoloError *error);
HOLO_MUST HoloStatus holo_program_get(const HoloArchive *archive, size_t index, HoloArena *arena,
                                      HoloStoredProgram *out, HoloError *error);

// The kernels of kernels/stdlib, as the build compiled them: "vector_add_f32" .... They live as long as the arena.
HOLO_MUST HoloStatus holo_stdlib_open(HoloArena *arena, HoloArchive *out, HoloError *error);

#endif
