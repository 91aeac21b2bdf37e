// sstable.h - a sorted table of keys and values, as LevelDB and TensorFlow's checkpoints (variables.index) store it.
#ifndef HOLO_IMPORT_WIRE_SSTABLE_H
#define HOLO_IMPORT_WIRE_SSTABLE_H

#include "base/base.h"

typedef struct HoloSsTable {
    int         count, room;
    HoloString *key, *value; // in the arena or the bytes
    int         value_room;
} HoloSsTable;

bool                 holo_sstable_is(const void *bytes, size_t size);
HOLO_MUST HoloStatus holo_sstable_read(HoloArena *arena, const void *bytes, size_t size, HoloSsTable *out,
                                       HoloError *error);

// Undoes Google's Snappy compression. The size of the result is limited by that of the bytes.
HOLO_MUST HoloStatus holo_snappy_read(HoloArena *arena, HoloString bytes, HoloString *out, HoloError *error);

#endif
