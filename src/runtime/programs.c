// programs.c - portable programs of archives.

#include "runtime/programs.h"

#include <string.h>

// Made by the build: tools/stdlib.sh.
extern const uint8_t  holo_stdlib_bytes[];
extern const uint64_t holo_stdlib_size;

HoloStatus holo_program_get(const HoloArchive *archive, size_t index, HoloArena *arena, HoloStoredProgram *out,
                            HoloError *error)
{
    if (index >= archive->PROGRAMS_count) return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no program %zu", index);
    const HoloProgramRecord *record = &archive->PROGRAMS_at[index];
    *out = (HoloStoredProgram){.name = archive->STRINGS_at + record->name, .doc = archive->STRINGS_at + record->doc};
    memcpy(out->block, record->block, sizeof out->block);
    HOLO_TRY(holo_isa_decode(arena, archive->BYTES_at + record->program, record->program_size, &out->program, error));
    if (!record->lanes_size) return HOLO_OK;
    return holo_isa_decode(arena, archive->BYTES_at + record->lanes, record->lanes_size, &out->lanes, error);
}

HoloStatus holo_program_find(const HoloArchive *archive, const char *name, HoloArena *arena, HoloStoredProgram *out,
                             HoloError *error)
{
    for (size_t i = 0; i < archive->PROGRAMS_count; i++)
        if (holo_program_is_named(archive, i) && !strcmp(archive->STRINGS_at + archive->PROGRAMS_at[i].name, name))
            return holo_program_get(archive, i, arena, out, error);
    return holo_fail(error, HOLO_BAD_ARGUMENT, "there is no program '%.80s'", name);
}

HoloStatus holo_stdlib_open(HoloArchive *out, HoloError *error)
{
    return holo_archive_open(holo_stdlib_bytes, holo_stdlib_size, out, error);
}
