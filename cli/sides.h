// sides.h - for `hologram compare`: two that give values by name, an archive, a model or files of tensors.
#ifndef HOLO_CLI_SIDES_H
#define HOLO_CLI_SIDES_H

#include "loading.h"

typedef enum SideKind {
    SIDE_COMPILED, // an archive, or a model that was compiled in memory
    SIDE_PLAIN,    // a model that is computed plainly, operator by operator
    SIDE_TENSORS,  // a folder of .npy files, or a file of tensors
} SideKind;

typedef struct SideValue {
    const char *name;
    HoloTensor  tensor;
    bool        is_output;
    bool        is_copy;   // the data is the side's own
    bool        is_random; // by definition
} SideValue;

typedef struct Side {
    SideKind      kind;
    const char   *path, *what; // "archive", "model, by the reference implementations" ...
    HoloModel    *model;
    HoloSession  *session;
    HoloSource   *source;
    CliPorts      ports;       // of one that runs
    bool          wants_nodes; // all values, not outputs alone
    bool          has_samples; // there are several
    SideValue    *values;
    int           count, room;
    HoloTensors **owners; // of values that are not copies
    int           owner_count;
} Side;

// Opens the argument `arg`. If `compiles`, a model is compiled; otherwise it is computed plainly.
int side_open(const Cli *cli, int arg, bool compiles, HoloPool *pool, Side *out);
// Computes the values for these inputs; `ports` has their names. A folder of tensors gives those of the sample with that
// name, if it has samples.
int  side_run(Side *side, const CliPorts *ports, const CliInput *inputs, const char *sample);
void side_clear(Side *side); // of values
void side_close(Side *side);

#endif
