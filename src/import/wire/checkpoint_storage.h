// checkpoint_storage.h - the storages of checkpoints: what the files of checkpoint.h share.
#ifndef HOLO_IMPORT_WIRE_CHECKPOINT_STORAGE_H
#define HOLO_IMPORT_WIRE_CHECKPOINT_STORAGE_H

#include "import/wire/checkpoint.h"

// A row of numbers that tensors are views of.
typedef struct HoloCheckpointStorage {
    HoloString  key;
    HoloDtype   dtype;      // HOLO_NONE: bytes, of which the tensor says what they are
    int64_t     count;      // of elements, or bytes
    int64_t     view_begin; // the part that is meant, in elements
    int64_t     view_count;
    const void *bytes; // NULL: not found yet
    size_t      size;
} HoloCheckpointStorage;

// What a persistent id says of a storage, without its bytes.
HOLO_MUST HoloStatus holo_checkpoint_storage(const HoloCheckpoint *checkpoint, const HoloPickle *id,
                                             HoloCheckpointStorage *out);
size_t               holo_checkpoint_storage_unit(const HoloCheckpointStorage *storage); // bytes of an element
// The names that pickles of tensors have; `what` is a HoloDtype.
extern const HoloPickleName holo_checkpoint_names[];

#endif
