// files.h - files: mapped or read whole, and written so that a reader never sees half of one.
#ifndef HOLO_BASE_FILES_H
#define HOLO_BASE_FILES_H

#include "base/base.h"

typedef struct HoloMapping {
    const void *data; // page-aligned when mapped, else 64-byte aligned; readable for `size` bytes
    size_t      size;
    bool        is_mapped; // its pages are those of the file
    bool        is_taken;  // its memory is of holo_memory_take
    bool        is_view;   // of memory that somebody else has
} HoloMapping;

// Maps a file for reading, or reads it where it cannot be mapped.
HOLO_MUST HoloStatus holo_file_map(const char *path, HoloMapping *out, HoloError *error);
void                 holo_file_unmap(HoloMapping *mapping);
// As holo_file_map, in one of the ways below: HUGE reads the file into large pages.
HOLO_MUST HoloStatus holo_file_map_how(const char *path, uint32_t how, HoloMapping *out, HoloError *error);
// The bytes will not be needed soon: their pages may be dropped (they come back from the file).
void holo_file_release(const HoloMapping *mapping, const void *data, size_t size);
// As holo_file_map, but `relative` is taken below `folder` and may not leave it: no absolute path, no
// "..", no link to somewhere else.
HOLO_MUST HoloStatus holo_file_map_below(const char *folder, const char *relative, HoloMapping *out, HoloError *error);

// A file being written under a temporary name beside `path`.
typedef struct HoloFileWriter HoloFileWriter;
HOLO_MUST HoloStatus          holo_file_writer_open(const char *path, HoloFileWriter **out, HoloError *error);
HOLO_MUST HoloStatus          holo_file_write(HoloFileWriter *writer, const void *data, size_t size, HoloError *error);
// Inside of what is written already, many threads may do this at once.
HOLO_MUST HoloStatus holo_file_write_at(HoloFileWriter *writer, uint64_t offset, const void *data, size_t size,
                                        HoloError *error);
// Syncs to the disk and renames to the final path; on failure, or with commit false, removes the temporary file.
HOLO_MUST HoloStatus holo_file_writer_close(HoloFileWriter *writer, bool commit, HoloError *error);
// The bytes written so far, for reading, before the file has its name. More may be written inside of them meanwhile.
HOLO_MUST HoloStatus holo_file_writer_map(HoloFileWriter *writer, HoloMapping *out, HoloError *error);

// The same in memory instead of a file: nothing is left when it is closed but what was taken.
HOLO_MUST HoloStatus holo_file_writer_memory(HoloFileWriter **out, HoloError *error);
// All that was written, which stays when the writer is closed. It is the last that the writer does.
HOLO_MUST HoloStatus holo_file_writer_take(HoloFileWriter *writer, HoloMapping *out, HoloError *error);

// How files and memory are to be had. Both are wishes: a system that cannot leaves them out.
enum {
    HOLO_MEMORY_READY = 1, // all pages at once, instead of each on its first use
    HOLO_MEMORY_HUGE  = 2, // files too in large pages, which takes reading them
};

// Large pieces of zeroed memory straight from the system, page-aligned, and in large pages where it is that much:
// a first run over pages of 4 KB spends a third of its time on making them.
void *holo_memory_take(size_t size, uint32_t how); // NULL: out of memory
void  holo_memory_free(void *memory, size_t size); // NULL is nothing to free

bool        holo_path_is_folder(const char *path);
bool        holo_path_exists(const char *path);
const char *holo_path_name(const char *path); // its last part: what is behind the last slash

double holo_time_now(void); // seconds, monotonic
int    holo_cpu_count(void);
void   holo_cpu_pause(void); // tells the CPU that this thread only waits

#endif
