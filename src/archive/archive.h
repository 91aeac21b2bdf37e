// archive.h - writes a plan as .holo bytes.
#ifndef HOLO_ARCHIVE_H
#define HOLO_ARCHIVE_H

#include "base/files.h"
#include "plan/plan.h"

typedef struct HoloArchiveWriter HoloArchiveWriter;

typedef struct HoloArchiveOptions {
    // Called now and then with the part of the weights that is written, 0 to 1; may be NULL.
    void (*progress)(void *context, double fraction);
    // Called when the bytes of a constant are written and are not read again; may be NULL.
    void (*release)(void *context, const void *data, size_t size);
    // Calls work(arg, i, worker) for each 0 <= i < count, on several threads. NULL: one after the other. The bytes are
    // the same.
    void (*parallel)(void *context, int64_t count, void (*work)(void *arg, int64_t i, int worker), void *arg);
    void *context;
} HoloArchiveOptions;

// Writes the whole file. Weights are written in pieces, so memory does not grow with them. The plan must be complete;
// only values of metadata may change later, within their size: see holo_archive_set_meta.
HOLO_MUST HoloStatus holo_archive_write(const HoloPlan *plan, HoloFileWriter *file, const HoloArchiveOptions *options,
                                        uint64_t *out_size, HoloError *error);

// Overwrites the value of a metadata key in a file that is written already. The value is cut to the old length, or
// padded with zero bytes: for what is known only after the file was read.
HOLO_MUST HoloStatus holo_archive_set_meta(HoloPlan *plan, HoloFileWriter *file, const char *key, const char *value,
                                           HoloError *error);

#endif
