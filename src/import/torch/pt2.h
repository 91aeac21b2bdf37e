// pt2.h - programs of torch.export: a zip file with a graph in JSON, and weights beside it.
#ifndef HOLO_IMPORT_TORCH_PT2_H
#define HOLO_IMPORT_TORCH_PT2_H

#include "import/torch/torch.h"
#include "import/wire/json.h"

typedef struct HoloPt2Weights { // by name
    const char    *config;      // entry that describes them; NULL: a checkpoint has them
    const char    *folder;
    json_t        *json;
    HoloCheckpoint checkpoint;
    HoloNameMap    tensors; // to HoloCheckpointTensor *
} HoloPt2Weights;

typedef struct HoloPt2 {
    HoloTorch      torch;
    HoloImport    *import;
    json_t        *program;
    HoloPt2Weights weights, constants;
    HoloNameMap    graph_names; // of outputs that were given
} HoloPt2;

typedef struct HoloPt2Scope { // the values of a graph
    HoloPt2    *pt2;
    HoloNameMap names; // to HoloTv *
} HoloPt2Scope;

// ---- pt2_file.c

HOLO_MUST HoloStatus holo_pt2_read(HoloPt2 *p);
// A weight or constant of a name; false: it has none, or it failed.
bool holo_pt2_weight(HoloPt2 *p, const char *name, HoloCheckpointTensor *out);

// ---- pt2_value.c

HoloTv holo_pt2_value(HoloPt2Scope *scope, const json_t *arg); // of an argument
bool   holo_pt2_set(HoloPt2Scope *scope, const char *name, HoloTv value);
// The name of an argument that is a tensor or a number of the run; NULL: it is neither.
const char *holo_pt2_name(const json_t *arg);
HoloDtype   holo_pt2_dtype(int64_t number); // of the format's own numbers
// The type of a tensor by its description.
bool holo_pt2_type(HoloPt2 *p, const json_t *meta, HoloTensor *out);

// ---- pt2_symbols.c

// A size that is an expression, "Mul(Integer(2), Symbol('s0'))" or "2*s0". HOLO_DIM_UNKNOWN: it cannot be told.
HoloDim holo_pt2_dim(HoloDims *dims, const char *text);

// ---- pt2_graph.c

void holo_pt2_nodes(HoloPt2Scope *scope, const json_t *graph);
// Runs a graph on values; *out is a tuple of what it gives.
void holo_pt2_graph(HoloPt2 *p, const json_t *graph, const HoloTv *args, int count, HoloTv *out);
// An operator that takes graphs. False: there is none of that name.
bool holo_pt2_higher(HoloPt2Scope *scope, const char *name, const HoloTv *args, int count, HoloTv *out);

#endif
