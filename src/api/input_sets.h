// input_sets.h - tensors for the inputs of a model, from files: for --patterns, --calibrate and others.
//
// A set is a .npz with a tensor for each input that has no default, or a folder of .npy files named like the inputs (with _ for /). For a
// model of one input it may also be a .npy of any name. A folder may also hold several sets; folders below these are
// not searched.
#ifndef HOLO_API_INPUT_SETS_H
#define HOLO_API_INPUT_SETS_H

#include "base/base.h"
#include "hologram_compiler.h"

typedef struct HoloInputNames {
    int                count;
    const char       **name;
    const HoloTensor **type;
    const bool        *may_miss; // by input: it has a default, so a set need not have it; NULL: none does
} HoloInputNames;

typedef struct HoloInputSet {
    const char        *path;   // of the file or folder
    const HoloTensor **tensor; // by input; NULL: it is left out, and has a default
    const char       **from;   // by input: the file that the tensor comes from
    HoloTensors      **files;  // they own the tensors; whoever keeps a file puts NULL in its place
    int                file_count;
} HoloInputSet;

// Called with each set. The set lives during the call.
typedef HoloStatus HoloInputSetFn(void *context, HoloInputSet *set, HoloError *error);

// Reads all sets at `path`, in the order of file names. Fails if there is none. `what` is the word for a set in
// messages.
HOLO_MUST HoloStatus holo_input_sets_read(const HoloInputNames *names, const char *path, const char *what,
                                          HoloInputSetFn *each, void *context, HoloError *error);

// The names and types of a model's inputs; false: no memory.
bool holo_input_names(const HoloModel *model, HoloArena *arena, HoloInputNames *out);

#endif
