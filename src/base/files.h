// files.h - files: mapped or read completely, and written so that a reader never sees half of one.
#ifndef HOLO_BASE_FILES_H
#define HOLO_BASE_FILES_H

#include "base/base.h"

typedef struct HoloMapping {
    const void *data; // page-aligned if mapped, else 64-byte aligned; `size` bytes are readable
    size_t      size;
    bool        is_mapped; // its pages are those of the file
    bool        is_taken;  // its memory comes from holo_memory_take
    bool        is_view;   // it is memory of somebody else
} HoloMapping;

// Maps a file for reading, or reads it if it cannot be mapped.
HOLO_MUST HoloStatus holo_file_map(const char *path, HoloMapping *out, HoloError *error);
void                 holo_file_unmap(HoloMapping *mapping);
// As holo_file_map, with flags from below: HUGE reads the file into large pages.
HOLO_MUST HoloStatus holo_file_map_how(const char *path, uint32_t how, HoloMapping *out, HoloError *error);
// Says that the bytes will not be needed soon: their pages may be dropped (they come back from the file).
void holo_file_release(const HoloMapping *mapping, const void *data, size_t size);
// As holo_file_map, but `relative` must stay below `folder`: no absolute path, no "..", no link to somewhere else.
HOLO_MUST HoloStatus holo_file_map_below(const char *folder, const char *relative, HoloMapping *out, HoloError *error);

// A file that is being written, under a temporary name beside `path`.
typedef struct HoloFileWriter HoloFileWriter;
HOLO_MUST HoloStatus          holo_file_writer_open(const char *path, HoloFileWriter **out, HoloError *error);
HOLO_MUST HoloStatus          holo_file_write(HoloFileWriter *writer, const void *data, size_t size, HoloError *error);
// Many threads may call this at once for bytes that are written already.
HOLO_MUST HoloStatus holo_file_write_at(HoloFileWriter *writer, uint64_t offset, const void *data, size_t size,
                                        HoloError *error);
// Syncs to the disk and renames to the final path. After a failure, or if commit is false, removes the temporary file.
HOLO_MUST HoloStatus holo_file_writer_close(HoloFileWriter *writer, bool commit, HoloError *error);
// The bytes written so far, for reading, before the file has its name. Bytes among them may be overwritten meanwhile.
HOLO_MUST HoloStatus holo_file_writer_map(HoloFileWriter *writer, HoloMapping *out, HoloError *error);

// Writes to memory instead of a file. When it is closed, only what was taken is left.
HOLO_MUST HoloStatus holo_file_writer_memory(HoloFileWriter **out, HoloError *error);
// Takes everything that was written. It stays when the writer is closed, which must be the next call.
HOLO_MUST HoloStatus holo_file_writer_take(HoloFileWriter *writer, HoloMapping *out, HoloError *error);

// How to get files and memory. These are wishes: a system that cannot fulfil them ignores them.
enum {
    HOLO_MEMORY_READY = 1, // all pages at once, instead of each at its first use
    HOLO_MEMORY_HUGE  = 2, // large pages, also for files, which are then read
};

// Large blocks of zeroed memory directly from the system, page-aligned, and in large pages if the size is large enough:
// a first run over pages of 4 KB spends a third of its time on getting them.
void *holo_memory_take(size_t size, uint32_t how); // NULL: no memory
void  holo_memory_free(void *memory, size_t size); // accepts NULL

bool        holo_path_is_folder(const char *path);
bool        holo_path_exists(const char *path);
const char *holo_path_name(const char *path); // its last part, behind the last slash

double holo_time_now(void);  // seconds, monotonic
int    holo_cpu_count(void); // that this process may keep busy: at least 1
void   holo_cpu_pause(void); // tells the CPU that this thread is only waiting

#endif
