// tflite.c - fuzzes the reader of FlatBuffers by the import of TensorFlow Lite models, and what a compile does first with
// their graphs.
#include "import/import.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HoloArena         arena = {0};
    HoloError         error = {0};
    HoloModelSource   source;
    volatile unsigned sum = 0;
    if (size < 8 || data[4] != 'T' || data[5] != 'F' || data[6] != 'L' || data[7] != '3') return 0;
    HoloStatus status = holo_import_memory(&arena, data, size, &source, &error);
    if (!status) {
        for (int i = 0; i < source.graph->value_count; i++) { // constants are in the file, or in memory
            const HoloValue *value = source.graph->values[i];
            if (!value->is_constant || !value->type.data) continue;
            size_t bytes = holo_tensor_bytes(&value->type), step = 1 + bytes / 65536; // zeros of a sparse one are many
            for (size_t k = 0; k < bytes; k += step) sum += ((const uint8_t *)value->type.data)[k];
        }
        status = holo_graph_sort(source.graph, &error);
        if (!status && holo_graph_verify(source.graph, &error)) abort(); // the importer gives valid graphs
        if (!status) status = holo_graph_infer(source.graph, &error);
        if (!status && holo_graph_verify(source.graph, &error)) abort();
        holo_import_close(&source);
    }
    if (status && !error.text[0]) abort(); // a failure comes with words
    holo_arena_deinit(&arena);
    return 0;
}
