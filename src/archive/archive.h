// archive.h - a plan to .holo bytes.
#ifndef HOLO_ARCHIVE_H
#define HOLO_ARCHIVE_H

#include "base/files.h"
#include "plan/plan.h"

typedef struct HoloArchiveWriter HoloArchiveWriter;

typedef struct HoloArchiveOptions {
    // Called now and then with how much of the weights is written, 0 to 1; may be NULL.
    void (*progress)(void *context, double fraction);
    // Called when the bytes of a constant have been written and will not be read again; may be NULL.
    void (*release)(void *context, const void *data, size_t size);
    // Calls work(arg, i, worker) for each 0 <= i < count, on several threads. NULL: one after the other. It changes no byte.
    void (*parallel)(void *context, int64_t count, void (*work)(void *arg, int64_t i, int worker), void *arg);
    void *context;
} HoloArchiveOptions;

// Writes the whole file, weights in pieces: memory does not grow with them. The plan is complete but
// for metadata, for which there may come more of the same size: see holo_archive_set_meta.
HOLO_MUST HoloStatus holo_archive_write(const HoloPlan *plan, HoloFileWriter *file, const HoloArchiveOptions *options,
                                        uint64_t *out_size, HoloError *error);

// Writes the value of a metadata key again, in a file already written, cut to the length that it had
// and padded with zero bytes: for what is known only after the file has been read.
HOLO_MUST HoloStatus holo_archive_set_meta(HoloPlan *plan, HoloFileWriter *file, const char *key, const char *value,
                                           HoloError *error);

#endif
