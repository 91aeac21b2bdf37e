// input_sets.h - tensors for the inputs of a model, from files: of --patterns, of --calibrate, and of whoever else reads some.
//
// A set is a .npz with a tensor for each input, or a folder of .npy files that are called like the inputs (with _ for /); of a
// model of one input also a .npy that is called otherwise. A folder may also hold several of these; it is not searched any
// deeper.
#ifndef HOLO_API_INPUT_SETS_H
#define HOLO_API_INPUT_SETS_H

#include "base/base.h"
#include "hologram_compiler.h"

typedef struct HoloInputNames {
    int                count;
    const char       **name;
    const HoloTensor **type;
} HoloInputNames;

typedef struct HoloInputSet {
    const char        *path;   // of the file or folder
    const HoloTensor **tensor; // by input
    const char       **from;   // by input: the file that it is in
    HoloTensors      **files;  // that own the tensors; whoever keeps one puts NULL in its place
    int                file_count;
} HoloInputSet;

// Called with each set, which lives for the call.
typedef HoloStatus HoloInputSetFn(void *context, HoloInputSet *set, HoloError *error);

// Reads all sets at `path`, the names of files in order; fails where there is none. `what` is what a set is in messages.
HOLO_MUST HoloStatus holo_input_sets_read(const HoloInputNames *names, const char *path, const char *what,
                                          HoloInputSetFn *each, void *context, HoloError *error);

// The names and types of a model's inputs; false: no memory.
bool holo_input_names(const HoloModel *model, HoloArena *arena, HoloInputNames *out);

#endif
