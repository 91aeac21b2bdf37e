// import_use.h - what fuzzers of importers do with a model that was read: its constants are read, and a compile's first
// steps are taken with its graph.
#ifndef HOLO_FUZZ_IMPORT_USE_H
#define HOLO_FUZZ_IMPORT_USE_H

#include "import/import.h"

#include <stdlib.h>

// Constants are in the file, or in memory. Of a large one, which may be a few bytes of a file, some bytes are read.
static void read_constants(const HoloGraph *graph)
{
    volatile unsigned sum = 0;
    for (int i = 0; i < graph->value_count; i++) {
        const HoloValue *value = graph->values[i];
        if (!value->is_constant || !value->type.data || value->type.dtype == HOLO_STRING) continue;
        size_t bytes = holo_tensor_bytes(&value->type), step = 1 + bytes / 65536;
        for (size_t k = 0; k < bytes; k += step) sum += ((const uint8_t *)value->type.data)[k];
    }
}

// `status` is that of the import. Gives the model and the arena back.
static void import_use(HoloStatus status, HoloModelSource *source, HoloArena *arena, HoloError *error)
{
    if (!status) {
        read_constants(source->graph);
        status = holo_graph_sort(source->graph, error);
        if (!status && holo_graph_verify(source->graph, error)) abort(); // the importer gives valid graphs
        if (!status) status = holo_graph_infer(source->graph, error);
        if (!status && holo_graph_verify(source->graph, error)) abort();
        holo_import_close(source);
    }
    if (status && !error->text[0]) abort(); // a failure comes with words
    holo_arena_deinit(arena);
}

// Imports a file that is in memory.
static inline int import_memory(const uint8_t *data, size_t size)
{
    HoloArena       arena = {0};
    HoloError       error = {0};
    HoloModelSource source;
    HoloStatus      status = holo_import_memory(&arena, data, size, &source, &error);
    import_use(status, &source, &arena, &error);
    return 0;
}

#endif
