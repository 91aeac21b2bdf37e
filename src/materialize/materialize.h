// materialize.h - computes what depends on a finite set of inputs while compiling, by the plan itself.
//
// It runs after the passes, when it is decided how everything is computed. A part of the graph is planned and run
// through the runtime on all possible inputs, and the results become a table. So a table holds the bits that the plan
// without it gives on this machine.
#ifndef HOLO_MATERIALIZE_MATERIALIZE_H
#define HOLO_MATERIALIZE_MATERIALIZE_H

#include "graph/graph.h"
#include "graph/notes.h"
#include "runtime/model.h"

typedef struct HoloDomain { // the possible values of an input's elements
    const char *name;
    HoloTensor  values; // [count] of the input's type; sorted by their bits as unsigned numbers, without duplicates
} HoloDomain;

typedef struct HoloMaterialize {
    bool              is_exact, is_bf16; // the numeric class, if it is not fused
    HoloPool         *pool;              // NULL: one thread
    const HoloDomain *domains;
    int               domain_count;
    uint64_t          room;   // bytes that tables may still take
    uint32_t          tables; // made so far
    HoloNotes        *notes;  // what was decided, and why; may be NULL
    HoloError        *error;
} HoloMaterialize;

// Work on each row behind a Gather from a constant table is done once, on all rows of the table.
HOLO_MUST HoloStatus holo_materialize_rows(HoloGraph *graph, HoloMaterialize *m);

// What depends on inputs with few possible values, by type or domain, becomes a table.
HOLO_MUST HoloStatus holo_materialize_few(HoloGraph *graph, HoloMaterialize *m);

// The graph, whose types are inferred, as an opened model, in a file without a name.
HOLO_MUST HoloStatus holo_materialize_model(const HoloGraph *graph, const HoloMaterialize *m, HoloModel **out);
// Runs a graph of one input and one output, whose first sizes are open, on blocks of rows of `in`, and fills all of
// `out`.
HOLO_MUST HoloStatus holo_materialize_run(const HoloGraph *graph, const HoloMaterialize *m, const HoloTensor *in,
                                          HoloTensor *out);

#endif
