// programs.c - portable programs of archives.

#include "runtime/programs.h"

#include <string.h>

// Made by tools/stdlib.sh, which says how they are packed.
extern const uint8_t  holo_stdlib_packed[];
extern const uint64_t holo_stdlib_packed_size, holo_stdlib_size;

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

static void unpack(const uint8_t *from, const uint8_t *end, uint8_t *to)
{
    while (from < end) {
        for (int plain = *from++; plain > 0; plain--) *to++ = *from++;
        int count = from[0], back = from[1] | from[2] << 8;
        for (from += 3; count > 0; count--, to++) *to = to[-back];
    }
}

HoloStatus holo_stdlib_open(HoloArena *arena, HoloArchive *out, HoloError *error)
{
    uint8_t *bytes = holo_arena_take(arena, holo_stdlib_size + HOLO_SECTION_ALIGN);
    if (!bytes) return holo_fail_memory(error);
    bytes += -(uintptr_t)bytes % HOLO_SECTION_ALIGN;
    unpack(holo_stdlib_packed, holo_stdlib_packed + holo_stdlib_packed_size, bytes);
    return holo_archive_open(bytes, holo_stdlib_size, out, error);
}
