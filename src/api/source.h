// source.h - the inside of HoloSource: an imported model.
#ifndef HOLO_API_SOURCE_H
#define HOLO_API_SOURCE_H

#include "hologram_compiler.h"
#include "import/import.h"

struct HoloSource {
    HoloArena       arena;
    HoloModelSource model;
    HoloPort       *inputs, *outputs; // NULL until holo_source_open makes them
    HoloSourceOp   *ops;
    int             op_count, op_room, meta_count;
    struct {
        const char *key, *value;
    } * meta;
};

// Imports a model of any format, from `bytes`, which must stay, or if their data is NULL, from `path`. Types are not
// inferred yet.
HOLO_MUST HoloStatus holo_source_import(const HoloImportRequest *request, HoloSource **out, HoloError *error);

// Counts the operators of the graph.
HOLO_MUST HoloStatus holo_source_count_ops(HoloSource *source, HoloError *error);

// Makes *inputs a list for all inputs of the graph: states, which callers do not give, are left out.
HOLO_MUST HoloStatus holo_source_inputs(const HoloGraph *graph, const HoloTensor *const **inputs, int count,
                                        HoloArena *arena, HoloError *error);

#endif
