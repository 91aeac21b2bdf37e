// checkpoint.h - what torch.save writes: a pickle of Python values, and the bytes of tensors beside it, read in place.
//
// There are two forms: a zip file (data.pkl, and data/0, data/1 ...), and an older one of several pickles with the bytes
// behind them. Nothing is executed (pickle.h), and nothing is taken on trust: a tensor lies inside of its storage, and a
// storage inside of the file.
#ifndef HOLO_IMPORT_WIRE_CHECKPOINT_H
#define HOLO_IMPORT_WIRE_CHECKPOINT_H

#include "import/name_map.h"
#include "import/wire/pickle.h"

typedef struct HoloCheckpoint {
    HoloArena            *arena;
    const char           *file; // its name, for errors
    HoloError            *error;
    const HoloPickleName *more;   // names that its pickles may have besides those of tensors; NULL: none
    const char           *prefix; // of the zip file's entries: "archive/"; NULL: it is the older form
    HoloNameMap           parts;  // of a zip file: its entries by name; of the older form: the storages by key
    const HoloPickle     *root;   // the value that was saved
} HoloCheckpoint;

typedef struct HoloCheckpointTensor {
    const char *name;
    HoloTensor  tensor;                // data: bytes of the file, aligned to anything; those of the first element
    int64_t     count;                 // of elements
    int64_t     stride[HOLO_MAX_RANK]; // in elements
    bool        is_dense;              // elements lie one behind the other, the last dimension fastest
} HoloCheckpointTensor;

typedef struct HoloCheckpointTensors {
    HoloCheckpointTensor *entry;
    int                   count, room;
} HoloCheckpointTensors;

// Reads the values. The bytes must stay; the rest is in the arena.
HOLO_MUST HoloStatus holo_checkpoint_open(HoloArena *arena, const char *file, const void *bytes, size_t size,
                                          HoloCheckpoint *out, HoloError *error);
// All tensors with their names. Those of a checkpoint of training are found behind "state_dict", "model" and the
// like.
HOLO_MUST HoloStatus holo_checkpoint_tensors(HoloCheckpoint *checkpoint, HoloCheckpointTensors *out);
// Takes a "module." off the names, if all of them have it: wrappers of models for training put it there.
void holo_checkpoint_strip(HoloCheckpointTensors *all);
// Copies the elements of a tensor in their order, the last dimension fastest. There is room for all of them.
void holo_checkpoint_copy(const HoloCheckpointTensor *tensor, void *out);

// ---- for other files of PyTorch

// Opens a zip file without reading a value: `more` are names that its pickles may have besides those of tensors.
HOLO_MUST HoloStatus holo_checkpoint_open_zip(HoloArena *arena, const char *file, const void *bytes, size_t size,
                                              const HoloPickleName *more, HoloCheckpoint *out, HoloError *error);
// The contents of an entry, without the prefix: "code/model.py"; *out is NULL if there is no such entry.
HOLO_MUST HoloStatus holo_checkpoint_entry(const HoloCheckpoint *checkpoint, const char *name, const void **out,
                                           size_t *out_size);
// The value of an entry that is a pickle.
HOLO_MUST HoloStatus holo_checkpoint_value(const HoloCheckpoint *checkpoint, const char *name, const HoloPickle **out);
// The function that makes quantized tensors; who lists it among `more` also reads what is special about them.
#define HOLO_CHECKPOINT_QUANTIZED "torch._utils._rebuild_qtensor"
// Is the value a tensor? Quantized ones are not: their elements alone are not what they mean.
bool holo_checkpoint_is_tensor(const HoloPickle *value);
// The tensor that such a value is, with the storages that lie in a folder of the zip file: "data", "constants".
HOLO_MUST HoloStatus holo_checkpoint_tensor(const HoloCheckpoint *checkpoint, const char *folder, const char *name,
                                            const HoloPickle *value, HoloCheckpointTensor *out);

#endif
