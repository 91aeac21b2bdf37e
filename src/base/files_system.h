// files_system.h - what files.c needs from a system: the writer, and the operations that each system does in its own
// way.
#ifndef HOLO_BASE_FILES_SYSTEM_H
#define HOLO_BASE_FILES_SYSTEM_H

#include "base/files.h"

struct HoloFileWriter {
    intptr_t file;     // the system's handle
    char    *memory;   // used instead of a file if there is no path
    size_t   room;     // bytes of `memory`
    uint64_t size;     // bytes written or buffered
    size_t   filled;   // bytes in the buffer, which ends at `size`
    bool     is_named; // `temporary` exists
    char    *path, *temporary;
    char     buffer[1 << 16];
};

// Makes the temporary name for this process and the number `attempt` (files.c).
void holo_writer_name(HoloFileWriter *writer, int attempt);

// Opens a file for the writer that is not visible under its path.
HOLO_MUST HoloStatus holo_writer_begin(HoloFileWriter *writer, HoloError *error);
HOLO_MUST HoloStatus holo_writer_put(HoloFileWriter *writer, uint64_t offset, const char *data, size_t size,
                                     HoloError *error);
// Everything that was written, for reading. The writer may be closed meanwhile.
HOLO_MUST HoloStatus holo_writer_view(const HoloFileWriter *writer, HoloMapping *out, HoloError *error);
// Closes the file: gives it its path and syncs it to the disk, or removes it.
HOLO_MUST HoloStatus holo_writer_end(HoloFileWriter *writer, bool commit, HoloError *error);

#endif
