// materialize.h - what follows from a finite set of inputs is computed while compiling, by the plan itself.
//
// Behind the passes, when it is decided how everything is computed: a part of the graph is planned, run through the runtime
// on all that its inputs can be, and what comes out becomes a table. So a table holds the bits that the plan without it
// gives on this machine.
#ifndef HOLO_MATERIALIZE_MATERIALIZE_H
#define HOLO_MATERIALIZE_MATERIALIZE_H

#include "graph/graph.h"
#include "graph/notes.h"
#include "runtime/model.h"

typedef struct HoloDomain { // what the elements of an input can be
    const char *name;
    HoloTensor  values; // [count] of the input's type, ascending by their bits as unsigned numbers, each once
} HoloDomain;

typedef struct HoloMaterialize {
    bool              is_exact;
    HoloPool         *pool; // NULL: one thread
    const HoloDomain *domains;
    int               domain_count;
    uint64_t          room;   // bytes that tables may still take
    uint32_t          tables; // made so far
    HoloNotes        *notes;  // what was decided, and why; may be NULL
    HoloError        *error;
} HoloMaterialize;

// Work on rows behind a Gather from a constant table is done on all rows of the table.
HOLO_MUST HoloStatus holo_materialize_rows(HoloGraph *graph, HoloMaterialize *m);

// What follows from inputs that can be few things, by their types or their domains, becomes a table.
HOLO_MUST HoloStatus holo_materialize_few(HoloGraph *graph, HoloMaterialize *m);

// The graph, whose types are inferred, as an opened model, in a file that has no name.
HOLO_MUST HoloStatus holo_materialize_model(const HoloGraph *graph, const HoloMaterialize *m, HoloModel **out);
// Runs a graph of one input and one output, whose first sizes are open, on blocks of rows of `in`: all of `out` is filled.
HOLO_MUST HoloStatus holo_materialize_run(const HoloGraph *graph, const HoloMaterialize *m, const HoloTensor *in,
                                          HoloTensor *out);

#endif
