// zip.h - the directory of a zip file in memory: where entries lie, and their contents.
//
// Stored entries are borrowed by offset; deflated ones are inflated. Zip64 is read, encryption and
// other methods are refused. Nothing is taken on trust: the stored sizes of all entries together
// cannot exceed the file, so entries that overlap to make a bomb are refused.
#ifndef HOLO_IMPORT_WIRE_ZIP_H
#define HOLO_IMPORT_WIRE_ZIP_H

#include "base/base.h"

typedef struct HoloZipEntry {
    const char *name;   // terminated
    const void *stored; // borrowed from the file, `stored_size` bytes
    size_t      stored_size, size;
    int         method; // 0: stored, 8: deflated
    uint32_t    crc;
} HoloZipEntry;

HOLO_MUST HoloStatus holo_zip_open(HoloArena *arena, const void *bytes, size_t size, HoloZipEntry **out, int *out_count,
                                   HoloError *error);
// The first bytes of the contents, at most `room` of them, are put there; returns how many. 0: there are none, or they
// cannot be read, which holo_zip_read tells.
size_t holo_zip_peek(const HoloZipEntry *entry, void *out, size_t room);
// The contents, checked against the entry's checksum: borrowed when stored, else in the arena.
HOLO_MUST HoloStatus holo_zip_read(HoloArena *arena, const HoloZipEntry *entry, const void **out, HoloError *error);

#endif
