// files_system.h - what files.c needs of a system: the writer, and the few things that each system does with it in its own way.
#ifndef HOLO_BASE_FILES_SYSTEM_H
#define HOLO_BASE_FILES_SYSTEM_H

#include "base/files.h"

struct HoloFileWriter {
    intptr_t file;     // the system's own
    char    *memory;   // instead of a file, where there is no path
    size_t   room;     // bytes of it
    uint64_t size;     // bytes written or buffered
    size_t   filled;   // of the buffer, which ends at `size`
    bool     is_named; // `temporary` exists
    char    *path, *temporary;
    char     buffer[1 << 16];
};

// Writes the temporary name of this process with the number `attempt` (files.c).
void holo_writer_name(HoloFileWriter *writer, int attempt);

// Opens a file for the writer that nobody sees under its path.
HOLO_MUST HoloStatus holo_writer_begin(HoloFileWriter *writer, HoloError *error);
HOLO_MUST HoloStatus holo_writer_put(HoloFileWriter *writer, uint64_t offset, const char *data, size_t size,
                                     HoloError *error);
// All that was put, for reading; it may be closed meanwhile.
HOLO_MUST HoloStatus holo_writer_view(const HoloFileWriter *writer, HoloMapping *out, HoloError *error);
// Closes the file: under its path, on the disk, or removed.
HOLO_MUST HoloStatus holo_writer_end(HoloFileWriter *writer, bool commit, HoloError *error);

#endif
